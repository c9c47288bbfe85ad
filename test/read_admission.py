#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second reader of the admission's payloads, made from docs/wire_admission.md alone. Standard library only.

    test/read_admission.py --check [FILE]    every payload of the golden file says what stands behind it
    test/read_admission.py --flip [FILE]     every single changed bit is noticed: refused, or another meaning
    test/read_admission.py HEX ...           prints what payloads say
"""

import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "admission" / "payloads.txt"
SCHEMA_MAX = 1 << 24


class Refused(Exception):
    pass


class Numbers:
    """Whole bytes, the lowest first."""

    def __init__(self, data):
        self.data = data

    def take(self, count):
        if len(self.data) < count:
            raise Refused("cut off")
        taken, self.data = self.data[:count], self.data[count:]
        return int.from_bytes(taken, "little")

    def within(self, count, low, high):
        number = self.take(count)
        if not low <= number <= high:
            raise Refused(f"{number} is not {low}..{high}")
        return number

    def end(self):
        if self.data:
            raise Refused("too long")


def read_common(fields):
    ground = fields.within(1, 0, 1)
    slots = fields.within(2, 2, 65535)
    return f"ground {ground} slots {slots} fingerprint {fields.take(8):016x}"


def read_join(fields):
    version = fields.within(1, 1, 255)
    if version != 1:
        return f"join version {version}"
    common = read_common(fields)
    versions = fields.take(4)
    if versions == 0 or versions & 1:
        raise Refused("wire versions")
    fields.end()
    return f"join version 1 {common} reads {versions:08x}"


def read_welcome(fields):
    version = fields.within(1, 1, 255)
    if version != 1:
        return f"welcome version {version}"
    common = read_common(fields)
    wire = fields.within(1, 1, 31)
    tick = fields.within(4, 1000, 10000000)
    schema = fields.within(4, 1, SCHEMA_MAX)
    fields.end()
    return f"welcome version 1 {common} wire {wire} tick {tick} schema {schema}"


def read_ask(fields):
    offset = fields.within(4, 0, SCHEMA_MAX - 1)
    fields.end()
    return f"ask {offset}"


def read_piece(fields):
    offset = fields.within(4, 0, SCHEMA_MAX - 1)
    text = fields.data
    if not 1 <= len(text) <= 1000 or any(byte != 0x0A and not 0x20 <= byte <= 0x7E for byte in text):
        raise Refused("no text of a schema")
    return f"piece {offset} bytes {text.hex()}"


def read_refusal(fields):
    code = fields.within(1, 1, 255)
    sentence = fields.data
    if len(sentence) > 255:
        raise Refused("too long")
    try:
        characters = sentence.decode("utf-8")
    except UnicodeDecodeError as reason:
        raise Refused("no UTF-8") from reason
    if any(ord(c) <= 0x1F or 0x7F <= ord(c) <= 0x9F for c in characters):
        raise Refused("a control character")
    return f"refusal {code} bytes {sentence.hex() or '-'}"


KINDS = {1: read_join, 2: read_welcome, 3: read_ask, 4: read_piece, 5: read_refusal}


def read(data):
    """What a payload says, as text."""
    fields = Numbers(data)
    if fields.take(1) != 0xF0:
        raise Refused("does not belong to the admission")
    kind = fields.take(1)
    if kind not in KINDS:
        raise Refused(f"kind {kind}")
    return KINDS[kind](fields)


def golden(path):
    for line in path.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            data, text = line.split(" = ", 1)
            yield bytes.fromhex(data), text


def check(path):
    count = 0
    for data, text in golden(path):
        said = read(data)
        if said != text:
            print(f"{data.hex()}\n  should say: {text}\n  says:       {said}")
            return 1
        count += 1
    print(f"admission: {count} payloads say what they should")
    return 0 if count else 1


def flip(path):
    count = 0
    for data, text in golden(path):
        for bit in range(8 * len(data)):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            try:
                said = read(bytes(changed))
            except Refused:
                said = "refused"
            if said == text:
                print(f"{data.hex()}: bit {bit} may change unnoticed")
                return 1
            count += 1
    print(f"admission: {count} changed bits noticed")
    return 0 if count else 1


def main(arguments):
    if arguments[:1] in (["--check"], ["--flip"]):
        path = pathlib.Path(arguments[1]) if len(arguments) > 1 else GOLDEN
        return (check if arguments[0] == "--check" else flip)(path)
    if not arguments:
        print(__doc__)
        return 2
    for text in arguments:
        try:
            print(read(bytes.fromhex(text)))
        except Refused as reason:
            print(f"refused: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
