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


EVERYWHERE = -(1 << 31)
OWN = 33


class BatchBits(second_reader.Bits):
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


class BatchBytes:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise Refused("too short")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def shortest(self, size, least):
        number = self.number(size)
        if size != max(least, (number.bit_length() + 7) // 8):
            raise Refused("a byte too many")
        return number

    def signed(self):
        return int.from_bytes(self.take(4), "little", signed=True)

    def end(self):
        if self.at != len(self.data):
            raise Refused("something is left")


def channels_of(seen_by, flags):
    if flags & 2 or seen_by == 0:
        return [OWN]
    return [0] if seen_by == 0xFFFFFFFF else [1 + bit for bit in range(32) if seen_by >> bit & 1]


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


def read_values(data, names, mask):
    """Bits up to the next whole byte."""
    bits = BatchBits(data.data[data.at:])
    said = "".join(read_value(bits, name) for i, name in enumerate(names) if mask >> i & 1)
    if bits.field(-bits.at % 8):
        raise Refused("padding that is not 0")
    data.take(bits.at // 8)
    return said


def read_place(data, header):
    place = [data.signed() for _ in range(3)]
    if header["area"] and any(not lo <= at <= hi for at, (lo, hi) in zip(place, header["area"])):
        raise Refused("outside of the area")
    return " at {} {} {}".format(*place)


def read_record(data, header, last_key):
    head = data.number(2)
    kind = head & 3
    has_position, has_values = head >> 2 & 1, head >> 3 & 1
    if head >> 12 or head >> 9 & 7 > 4 or (kind == 2) != bool(has_position or has_values):
        raise Refused("a head that cannot be")
    key = data.shortest((head >> 4 & 7) + 1, 1)
    incarnation = data.shortest((head >> 7 & 3) + 1, 1)
    epoch = data.shortest(head >> 9 & 7, 0)
    said = f"; {('removed', 'left', 'changed', 'state')[kind]} {key} incarnation {incarnation} epoch {epoch}"
    if header["whole"] and (kind != 3 or not header["first"] <= key <= header["last"] or key <= last_key):
        raise Refused("out of place in a whole export")
    if kind == 1 and not header["cell"]:
        raise Refused("left without a cell")
    if kind < 2:
        return said, key
    number = data.number(1)
    if number >= len(CLASSES):
        raise Refused("no such class")
    names = CLASSES[number]
    said += f" class {number}"
    every = (1 << len(names)) - 1 & ~(1 << POSITION)
    if kind == 3:
        seen_by, flags = data.number(4), data.number(1)
        said += f" seen {seen_by:08x} flags {flags}"
        if flags > 3:
            raise Refused("flags")
        if header["cell"] and (header["channel"] not in channels_of(seen_by, flags) or
                               (flags & 1) != (header["cell"] == (EVERYWHERE, EVERYWHERE))):
            raise Refused("not of this cell and channel")
        return said + read_place(data, header) + read_values(data, names, every), key
    if has_position:
        said += read_place(data, header)
    if has_values:
        mask = data.number((len(names) + 7) // 8)
        if not mask or mask & ~every:
            raise Refused("a mask that cannot be")
        said += read_values(data, names, mask)
    return said, key


def read_cell(data, header):
    x, y, side, channel = data.signed(), data.signed(), data.signed(), data.number(1)
    if not 16000 <= side <= 16000000 or channel > OWN:
        raise Refused("no such cell")
    header["cell"], header["channel"] = (x, y), channel
    if (x, y) != (EVERYWHERE, EVERYWHERE):
        least, greatest = -(1 << 31) // side, ((1 << 31) - 1) // side
        if not (least <= x <= greatest and least <= y <= greatest):
            raise Refused("no positions in it")
        header["area"] = [(at * side, at * side + side - 1) for at in (x, y)]
    return f" cell {x} {y} of {side} channel {channel}"


def read(raw):
    """What a batch says, as text."""
    if not 20 <= len(raw) <= BATCH_BYTES_MAX:
        raise Refused("size")
    data = BatchBytes(raw)
    version, flags, records, owner, stamp, fingerprint = struct.unpack("<BBHIIQ", data.take(20))
    if version != 2 or flags > 7 or flags & 6 == 6:
        raise Refused("format")
    header = {"whole": flags & 1, "area": None, "cell": None}
    if fingerprint != FINGERPRINT:
        raise Refused("another schema")
    said = (f"{'whole' if flags & 1 else 'changes'} owner {owner} stamp {stamp} fingerprint {fingerprint:016x} "
            f"records {records}")
    if flags & 4:
        said += read_cell(data, header)
    if flags & 1:
        header["first"], header["last"] = data.number(8), data.number(8)
        if header["first"] > header["last"]:
            raise Refused("keys")
        said += f" keys {header['first']}..{header['last']}"
    if flags & 2:
        x0, x1, y0, y1 = (data.signed() for _ in range(4))
        if x0 > x1 or y0 > y1:
            raise Refused("area")
        header["area"] = [(x0, x1), (y0, y1)]
        said += f" x {x0}..{x1} y {y0}..{y1}"
    key = -1
    for _ in range(records):
        record, key = read_record(data, header, key)
        said += record
    data.end()
    return said


if __name__ == "__main__":
    sys.exit(second_reader.main(sys.argv[1:], __doc__, "exports", GOLDEN, read))
