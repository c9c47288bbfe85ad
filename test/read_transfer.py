#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second reader of exports, made from docs/wire_transfer.md and docs/codings.md alone. Standard library only.

    test/read_transfer.py --check [FILE]    every batch of the golden file says what stands behind it
    test/read_transfer.py --flip [FILE]     every single changed bit is noticed: refused, or another meaning
    test/read_transfer.py HEX ...           prints what batches say

It knows the schema of the golden file, and no other.
"""

import pathlib
import struct
import sys

import second_reader
from second_reader import Refused

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "transfer" / "batches.txt"
BATCH_BYTES_MAX = 1048576
FINGERPRINT = 0xBDD82D0D378E33C8
POSITION = 0
CLASSES = [["position", "health", "leader", "name"], ["position"]]
NAME_BYTES_MAX = 12


class BatchBits(second_reader.Bits):
    def signed(self):
        number = self.field(32)
        return number - (1 << 32) if number >> 31 else number

    def varint(self, width):
        number = 0
        for place in range(10):
            byte = self.field(8)
            number |= (byte & 127) << 7 * place
            if byte < 128:
                if place > 0 and byte == 0:
                    raise Refused("overlong")
                break
        else:
            raise Refused("more than ten bytes")
        if number >> width:
            raise Refused("too large")
        return number

    def end(self):
        left = self.size - self.at
        if left >= 8 or self.field(left):
            raise Refused("something is left")


def read_value(bits, name):
    if name == "health":
        health = bits.field(7)
        if health > 100:
            raise Refused("health above 100")
        return f" health {health}"
    if name == "leader":
        return f" leader {bits.varint(64)} incarnation {bits.varint(32)}" if bits.field(1) else " leader none"
    length = bits.field(4)
    if length > NAME_BYTES_MAX:
        raise Refused("a name of more than 12 bytes")
    data = bytes(bits.field(8) for _ in range(length))
    if 0 in data:
        raise Refused("a zero byte in a name")
    try:
        return f" name '{data.decode('utf-8')}'"
    except UnicodeDecodeError as reason:
        raise Refused("a name that is not UTF-8") from reason


def read_record(bits, header, last_key):
    kind = bits.field(2)
    if kind > 2:
        raise Refused("no such kind")
    key, incarnation, epoch = bits.varint(64), bits.varint(32), bits.varint(32)
    said = f"; {('removed', 'changed', 'state')[kind]} {key} incarnation {incarnation} epoch {epoch}"
    if header["whole"] and (kind != 2 or not header["first"] <= key <= header["last"] or key <= last_key):
        raise Refused("out of place in a whole export")
    if kind == 0:
        return said, key
    number = bits.field(1)
    names = CLASSES[number]
    said += f" class {number}"
    mask, has_position = (1 << len(names)) - 1 & ~(1 << POSITION), 1
    if kind == 2:
        said += f" seen {bits.field(32):08x} flags {bits.field(2)}"
    else:
        mask, has_position = bits.field(len(names)), bits.field(1)
        if mask >> POSITION & 1 or not (mask or has_position):
            raise Refused("a mask that cannot be")
    if has_position:
        place = [bits.signed() for _ in range(3)]
        if header["area"] and any(not lo <= at <= hi for at, (lo, hi) in zip(place, header["area"])):
            raise Refused("outside of the area")
        said += " at {} {} {}".format(*place)
    return said + "".join(read_value(bits, name) for i, name in enumerate(names) if mask >> i & 1), key


def read(data):
    """What a batch says, as text."""
    if not 20 <= len(data) <= BATCH_BYTES_MAX:
        raise Refused("size")
    version, flags, records, owner, tick, fingerprint = struct.unpack("<BBHIIQ", data[:20])
    if version != 1 or flags > 3:
        raise Refused("format")
    header = {"whole": flags & 1, "area": None}
    rest = data[20:]
    need = 16 * (flags & 1) + 16 * (flags >> 1)
    if len(rest) < need:
        raise Refused("size")
    if fingerprint != FINGERPRINT:
        raise Refused("another schema")
    said = (f"{'whole' if flags & 1 else 'changes'} owner {owner} tick {tick} fingerprint {fingerprint:016x} "
            f"records {records}")
    if flags & 1:
        header["first"], header["last"] = struct.unpack("<QQ", rest[:16])
        if header["first"] > header["last"]:
            raise Refused("keys")
        said += f" keys {header['first']}..{header['last']}"
    if flags & 2:
        x0, x1, y0, y1 = struct.unpack("<iiii", rest[need - 16:need])
        if x0 > x1 or y0 > y1:
            raise Refused("area")
        header["area"] = [(x0, x1), (y0, y1)]
        said += f" x {x0}..{x1} y {y0}..{y1}"
    bits = BatchBits(rest[need:])
    key = -1
    for _ in range(records):
        record, key = read_record(bits, header, key)
        said += record
    bits.end()
    return said


if __name__ == "__main__":
    sys.exit(second_reader.main(sys.argv[1:], __doc__, "exports", GOLDEN, read))
