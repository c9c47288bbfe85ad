# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The range coder of the pinhole profile and the numbers made of its symbols: "Range coder" in
docs/wire_pinhole.md."""

from bisect import bisect_right

from decoder.fields import WORD64, Bits, read_gamma, require, width
from decoder.tables import PARTS

PARTS_BITS = 15
WINDOW_BYTES = 8
UNIFORM_BITS_MAX = 16


class Symbols:
    """Symbols from the front of a packet."""

    def __init__(self, data):
        self.data = data
        self.code = self.window(0, WINDOW_BYTES)
        self.range = WORD64 - 1
        self.next = WINDOW_BYTES

    def window(self, start, count):
        """Bytes as a number, the first one the highest; those behind the end count as 0."""
        return int.from_bytes(self.data[start:start + count].ljust(count, b"\0"), "big")

    def narrow(self, offset, size):
        self.code -= offset
        self.range = size
        if self.range < 1 << 32:
            self.code = self.code << 32 | self.window(self.next, 4)
            self.range <<= 32
            self.next += 4
            require(self.next - WINDOW_BYTES < len(self.data), "symbols behind the end")

    def read(self, model):
        if len(model) == 2:
            return 0
        part = self.range >> PARTS_BITS
        require(self.code < part * PARTS, "a code that no symbol has")
        symbol = bisect_right(model, self.code // part) - 1
        self.narrow(part * model[symbol], part * (model[symbol + 1] - model[symbol]))
        return symbol

    def even(self, count):
        if count == 1:
            return 0
        part = self.range // count
        value = self.code // part
        require(value < count, "a code that no value has")
        self.narrow(part * value, part)
        return value

    def front_bits(self):
        """How many bits the symbols took; refused when they are not the fewest."""
        if self.range == WORD64 - 1:
            return 0
        window = self.window(self.next - WINDOW_BYTES, WINDOW_BYTES)
        low = (window - self.code) % WORD64
        k = width(self.range) - 1
        skip = -low % (1 << k)
        if skip > self.range - (1 << k):
            k -= 1
            skip = -low % (1 << k)
        require(window >> k == (low + skip) % WORD64 >> k, "symbols that do not end where they may")
        return 8 * (self.next - WINDOW_BYTES) + 64 - k


class Coder:
    """Symbols and raw bits of one packet, and the numbers made of them. Version 2."""

    def __init__(self, data, raw, tables):
        self.data, self.raw, self.tables = data, raw, tables
        self.symbols = Symbols(data)

    def coded(self, family, model):
        symbol = self.symbols.read(self.tables.models[family][model])
        self.tables.read.add((family, model, symbol))
        return symbol

    def symbol(self, family, model):
        return self.coded(family, model)

    def flag(self, family, model):
        return self.symbol(family, model)

    def told(self, model):
        return self.coded("TOLD", model)

    def uniform(self, count):
        low_bits = max(0, width(count - 1) - UNIFORM_BITS_MAX)
        high = self.symbols.even(((count - 1) >> low_bits) + 1)
        value = high << low_bits | self.raw.read(low_bits)
        require(value < count, f"{value} of {count} values")
        return value

    def below(self, bits):
        """A number of so many bits."""
        return bits if bits < 2 else 1 << (bits - 1) | self.raw.read(bits - 1)

    def length(self, family, model):
        return self.below(self.symbol(family, model))

    def signed(self, magnitude):
        return -magnitude if magnitude and self.raw.read(1) else magnitude

    def residual(self, family, size):
        scale = 0 if size <= 0 else min(size // 4, 45)
        low_bits = 0 if scale <= 13 else (scale - 12) // 2
        high = self.residual_high(family, scale - 2 * low_bits)
        return self.signed(high << low_bits | self.raw.read(low_bits))

    def residual_high(self, family, model):
        symbol = self.symbol(family, model)
        return symbol if symbol < 16 else self.below(symbol - 11)

    def number_costs(self, family, model):
        return self.tables.costs[family][model]

    def check_end(self):
        """The bits of symbols, raw bits and spare ones, which are 0."""
        front, size = self.symbols.front_bits(), 8 * len(self.data)
        spare = size - front - self.raw.at
        require(0 <= spare <= 7, f"{spare} bits between symbols and raw bits")
        written = int.from_bytes(self.data, "big") >> self.raw.at
        require(written % (1 << spare) == 0, "spare bits that are not zero")
        return front, self.raw.at, spare


class UniversalCoder(Coder):
    """Version 3: raw codes instead of models, but for told or not."""

    def symbol(self, family, model):
        count = len(self.tables.models[family][model]) - 1
        if count == 2:
            return self.raw.read(1)
        symbol = read_gamma(self.raw, 0)
        require(symbol < count, f"symbol {symbol} of {count}")
        return symbol

    def residual_high(self, family, model):
        low_bits = model // 2
        return read_gamma(self.raw, 0) << low_bits | self.raw.read(low_bits)

    def number_costs(self, family, model):
        count = len(self.tables.models[family][model]) - 1
        return [256 * (2 * width(symbol + 1) - 1) for symbol in range(count)]


def make_coder(version, data, raw, tables):
    return (UniversalCoder if version == 7 else Coder)(data, raw, tables)


def raw_bits(data):
    """The raw bits of a packet: from its back."""
    return Bits(data[::-1])
