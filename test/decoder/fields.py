# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Fields of bits, numbers modulo 2^n, and the codes of whole numbers: "Bits and bytes" and the
codes below "Values" in docs/wire_format.md."""

WORD32 = 1 << 32
WORD64 = 1 << 64


class Refused(Exception):
    """The packet is as if it had never come."""


def require(condition, complaint):
    if not condition:
        raise Refused(complaint)


def width(number):
    """How many bits a number takes without leading zeros."""
    return number.bit_length()


def ahead(a, b):
    return 1 <= (a - b) % WORD32 <= (1 << 31) - 1


def signed(number, bits):
    """A number modulo 2^bits as a signed one."""
    number %= 1 << bits
    return number - (1 << bits) if number >> (bits - 1) else number


class Bits:
    """A row of bits, the lowest of each byte first."""

    def __init__(self, data):
        self.number = int.from_bytes(data, "little")
        self.size = 8 * len(data)
        self.at = 0

    def left(self):
        return self.size - self.at

    def read(self, count):
        require(count <= self.left(), f"ends within a field of {count} bits at bit {self.at}")
        field = self.number >> self.at & ((1 << count) - 1)
        self.at += count
        return field


def read_varint(bits, _k):
    code = 0
    for group in range(10):
        low = bits.read(7)
        more = bits.read(1)
        code |= low << (7 * group)
        if not more:
            require(low != 0 or group == 0, "varint: a last group of 0")
            require(group < 9 or low <= 1, "varint: more than 64 bits")
            return code
    raise Refused("varint: more than ten groups")


def read_two_bit(bits, _k):
    k = bits.read(2)
    code = bits.read(8 * (k + 1))
    require(k == 0 or code >> (8 * k), "two_bit: more bytes than it needs")
    return code


def read_gamma(bits, _k):
    zeros = 0
    while not bits.read(1):
        zeros += 1
        require(zeros <= 32, "gamma: more than 32 zeros")
    code = ((1 << zeros) | bits.read(zeros)) - 1
    require(code < WORD32, "gamma: a code above 32 bits")
    return code


def read_rice(bits, k):
    ones = 0
    while ones < 16 and bits.read(1):
        ones += 1
    if ones < 16:
        code = ones << k | bits.read(k)
        require(code < WORD32, "rice: a code above 32 bits")
        return code
    code = bits.read(32)
    require(code >> k >= 16, "rice: an escape that need not be")
    return code


def unzigzag(code):
    return -(code + 1) // 2 if code % 2 else code // 2


def varint_bits(code, _k):
    return 8 * max(1, (width(code) + 6) // 7)


def two_bit_bits(code, _k):
    return 2 + 8 * max(1, (width(code) + 7) // 8)


def gamma_bits(code, _k):
    return 2 * width(code + 1) - 1


def rice_bits(code, k):
    return (code >> k) + 1 + k if code >> k < 16 else 48


def zigzag(value):
    return -2 * value - 1 if value < 0 else 2 * value


CODES = {"varint": read_varint, "two_bit": read_two_bit, "gamma": read_gamma, "rice": read_rice}
CODE_BITS = {"varint": varint_bits, "two_bit": two_bit_bits, "gamma": gamma_bits,
             "rice": rice_bits}


def read_behind_default(bits, has_default, default, read):
    """A value behind its default bit, if it has one."""
    if not has_default:
        return read()
    if bits.read(1):
        return default
    value = read()
    require(value != default, "a default value written out")
    return value
