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

import second_reader
from second_reader import Refused

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "admission" / "payloads.txt"
SCHEMA_MAX = 1 << 24


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
    flags = fields.within(1, 0, 3)
    slots = fields.within(2, 2, 65535)
    return f"ground {flags & 1} continues {flags >> 1} slots {slots} fingerprint {fields.take(8):016x}"


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


def read_spare(fields):
    number = fields.within(1, 1, 255)
    flags = fields.within(1, 0, 3)
    size = fields.within(2, 1, 2048)
    offset = fields.within(2, 0, size - 1)
    part = fields.data
    if offset % 256 or len(part) != min(256, size - offset):
        raise Refused("no part of a spare")
    return f"spare {number} move {flags & 1} renews {flags >> 1} size {size} offset {offset} bytes {part.hex()}"


def read_have(fields):
    number, parts, held = fields.take(1), fields.take(1), fields.take(1)
    fields.end()
    if number == 0 and parts != 0:
        raise Refused("parts of nothing")
    return f"have {number} parts {parts:02x} held {held}"


def read_probe(fields):
    fields.end()
    return "probe"


def read_answer(fields):
    fields.end()
    return "answer"


KINDS = {
    1: read_join,
    2: read_welcome,
    3: read_ask,
    4: read_piece,
    5: read_refusal,
    6: read_spare,
    7: read_have,
    8: read_probe,
    9: read_answer,
}


def read(data):
    """What a payload says, as text."""
    fields = Numbers(data)
    if fields.take(1) != 0xF0:
        raise Refused("does not belong to the admission")
    kind = fields.take(1)
    if kind not in KINDS:
        raise Refused(f"kind {kind}")
    return KINDS[kind](fields)


if __name__ == "__main__":
    sys.exit(second_reader.main(sys.argv[1:], __doc__, "admission", GOLDEN, read))
