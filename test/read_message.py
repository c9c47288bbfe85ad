#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second reader of message sections, made from docs/wire_message.md alone. Standard library only.

    test/read_message.py --check [FILE]    every section of the golden file says what stands behind it
    test/read_message.py --flip [FILE]     every single changed bit is noticed: refused, or another meaning
    test/read_message.py HEX ...           prints what sections say

What depends on the connection (which numbers are possible) is not judged here.
"""

import pathlib
import sys

import second_reader
from second_reader import Refused

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "message" / "sections.txt"
WINDOW = 32
FRAGMENT_BYTES = 64


class Bits:
    def __init__(self, data):
        self.value = int.from_bytes(data, "little")
        self.size = 8 * len(data)
        self.at = 0

    def field(self, width):
        if self.at + width > self.size:
            raise Refused("cut off")
        number = self.value >> self.at & (1 << width) - 1
        self.at += width
        return number

    def data(self, count):
        return bytes(self.field(8) for _ in range(count))


def read_ack(bits):
    following = bits.field(16)
    if not bits.field(1):
        return f"ack {following}"
    mask = bits.field(31)
    if mask == 0:
        raise Refused("a mask that says nothing")
    return f"ack {following} mask {mask:08x}"


def read_input(bits):
    number = bits.field(16)
    if not bits.field(1):
        return f"input {number} asks"
    return f"input {number} blob {bits.data(bits.field(8)).hex() or '-'}"


def read_answer(bits):
    received = bits.field(16)
    if bits.field(1):
        return f"answer {received} all"
    processed = bits.field(16)
    if processed == received:
        raise Refused("all, at length")
    return f"answer {received} processed {processed}"


def read_fragment(bits, number):
    left = bits.field(4)
    size = FRAGMENT_BYTES if left else bits.field(6) + 1
    return (number, left, bits.data(size))


def read_fragments(bits):
    first = number = bits.field(16)
    fragments = [read_fragment(bits, number)]
    while bits.field(1):
        step = bits.field(5) + 2 if bits.field(1) else 1
        if step >= WINDOW or number + step - first >= WINDOW:
            raise Refused("beyond the window")
        number += step
        fragments.append(read_fragment(bits, number))
    for one, other in zip(fragments, fragments[1:]):
        if one[0] + 1 == other[0] and one[1] > 0 and other[1] != one[1] - 1:
            raise Refused("fragments that do not count down")
    return [f"fragment {number % 65536} left {left} bytes {data.hex()}" for number, left, data in fragments]


def read(data):
    """What a section says, as text; and the bytes that it takes, unless it takes all."""
    bits = Bits(data)
    has_ack, has_input, has_answer, has_fragments = (bits.field(1) for _ in range(4))
    said = []
    if has_ack:
        said.append(read_ack(bits))
    if has_input:
        said.append(read_input(bits))
    if has_answer:
        said.append(read_answer(bits))
    if has_fragments:
        said += read_fragments(bits)
    if bits.field(-bits.at % 8) != 0:
        raise Refused("padding that is not zero")
    used = bits.at // 8
    return ("; ".join(said) or "nothing") + (f" ({used} of {len(data)} bytes)" if used != len(data) else "")


if __name__ == "__main__":
    sys.exit(second_reader.main(sys.argv[1:], __doc__, "messages", GOLDEN, read))
