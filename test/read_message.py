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
from second_reader import Bits, Refused

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "message" / "sections.txt"
WINDOW = 32
FRAGMENT_BYTES = 64
PIECE_BYTES = 64
PIECES_MAX = 18
MAP_BYTES_MAX = 128
BLOCK_BYTES_MAX = 1 << 30
UNRELIABLE_BYTES_MAX = 1000
UNRELIABLE_MAX = 32


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


def read_run(bits):
    first = bits.field(24)
    count = bits.field(5) + 1
    if count > PIECES_MAX:
        raise Refused("more pieces than a payload holds")
    last = PIECE_BYTES
    if bits.field(1):
        last = bits.field(6) + 1
        if last == PIECE_BYTES:
            raise Refused("a short piece that is not short")
    return (first, count, last, bits.data((count - 1) * PIECE_BYTES + last))


def read_pieces(bits):
    number = bits.field(16)
    if bits.field(1):
        return [f"block {number} cancelled"]
    said = [f"block {number}"]
    if bits.field(1):
        tag = bits.field(32)
        said.append(f"begins, tag {tag}, size {bits.field(30) + 1}")
    runs = [read_run(bits)]
    while bits.field(1):
        runs.append(read_run(bits))
    for one, other in zip(runs, runs[1:]):
        if other[0] <= one[0] + one[1] or one[2] != PIECE_BYTES:
            raise Refused("runs that touch, go back, or stand behind a short piece")
    if sum(len(run[3]) for run in runs) > 1200:
        raise Refused("more pieces than a payload holds")
    return said + [f"pieces {first} count {count} bytes {data.hex()}" for first, count, _, data in runs]


def read_block_ack(bits):
    number = bits.field(16)
    if bits.field(1):
        accepted = bits.field(31)
        if accepted > BLOCK_BYTES_MAX:
            raise Refused("accepts more than there may be")
        return f"block ack {number} refused accepts {accepted}"
    following = bits.field(24)
    size = bits.field(8)
    if size > MAP_BYTES_MAX:
        raise Refused("a map beyond the window")
    seen = bits.data(size)
    if seen and seen[-1] == 0:
        raise Refused("a map that is longer than what it says")
    return f"block ack {number} next {following} map {seen.hex() or '-'}"


def read_unreliable(bits):
    said = []
    while True:
        kind = "newest" if bits.field(1) else "once"
        channel = bits.field(4)
        sequence = bits.field(16)
        size = bits.field(10) + 1
        if size > UNRELIABLE_BYTES_MAX or len(said) == UNRELIABLE_MAX:
            raise Refused("too large, or too many")
        said.append(f"unreliable {kind} {sequence} channel {channel} bytes {bits.data(size).hex()}")
        if not bits.field(1):
            return said


def end_section(bits):
    if bits.field(-bits.at % 8) != 0:
        raise Refused("padding that is not zero")


def read_bulk(bits):
    """Blocks and unreliable messages, which stand before a section of messages."""
    bits.field(4)
    has_pieces, has_ack, has_unreliable, spare = (bits.field(1) for _ in range(4))
    if spare:
        raise Refused("a first byte from 80 on")
    said = []
    if has_pieces:
        said += read_pieces(bits)
    if has_ack:
        said.append(read_block_ack(bits))
    if has_unreliable:
        said += read_unreliable(bits)
    end_section(bits)
    return said


def read(data):
    """What a section says, as text; and the bytes that it takes, unless it takes all."""
    bits = Bits(data)
    said = read_bulk(bits) if data and data[0] != 0 and data[0] % 16 == 0 else []
    is_behind = bool(said)
    has_ack, has_input, has_answer, has_fragments = (bits.field(1) for _ in range(4))
    begun = len(said)
    if has_ack:
        said.append(read_ack(bits))
    if has_input:
        said.append(read_input(bits))
    if has_answer:
        said.append(read_answer(bits))
    if has_fragments:
        said += read_fragments(bits)
    end_section(bits)
    if is_behind and len(said) == begun:
        said.append("nothing")
    used = bits.at // 8
    return ("; ".join(said) or "nothing") + (f" ({used} of {len(data)} bytes)" if used != len(data) else "")


if __name__ == "__main__":
    sys.exit(second_reader.main(sys.argv[1:], __doc__, "messages", GOLDEN, read))
