# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What second readers of golden bytes have in common: the lines of a golden file, and the two questions that are asked of
each. The readers themselves share nothing with the library, and are made from the documents alone. Standard library only.
"""

import pathlib


class Refused(Exception):
    """No end of ours writes this."""


class Bits:
    """Fields of a datagram, the lowest bit first. Fails where there are none left."""

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


def golden(path):
    """Lines "hex = what it says"; # begins a comment."""
    for line in path.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            data, text = line.split(" = ", 1)
            yield bytes.fromhex(data), text


def check(subject, path, read):
    """Every line says what stands behind it."""
    count = 0
    for data, text in golden(path):
        said = read(data)
        if said != text:
            print(f"{data.hex()}\n  should say: {text}\n  says:       {said}")
            return 1
        count += 1
    print(f"{subject}: {count} lines say what they should")
    return 0 if count else 1


def flip(subject, path, read):
    """Every single changed bit is noticed: refused, or another meaning."""
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
    print(f"{subject}: {count} changed bits noticed")
    return 0 if count else 1


def main(arguments, manual, subject, path, read):
    """The command line of a reader. read(bytes) gives what they say as text, or raises Refused."""
    if arguments[:1] in (["--check"], ["--flip"]):
        asked = check if arguments[0] == "--check" else flip
        return asked(subject, pathlib.Path(arguments[1]) if len(arguments) > 1 else path, read)
    if not arguments:
        print(manual)
        return 2
    for text in arguments:
        try:
            print(read(bytes.fromhex(text)))
        except Refused as reason:
            print(f"refused: {reason}")
    return 0
