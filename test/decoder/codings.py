# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Values: each coding can read() one, say it as text(), give the words() and initial_words() of a
fingerprint. "Values" in docs/wire_format.md.

The numbers among them (Whole, Fixed, Angle) are also levels, 0..top, of which the pinhole profile
may tell the difference, when that takes less than the plain_bits() of the value.
"""

import dataclasses
import math
import struct

from decoder.fields import (CODE_BITS, CODES, WORD32, Refused, read_behind_default, require,
                            signed, unzigzag, width, zigzag)

WHOLE_NUMBERS = {"bool": 15, "enum": 15, "range": 2, "varint": 3, "two_bit": 4, "gamma": 5,
                 "rice": 6}


@dataclasses.dataclass
class Whole:
    """bool, enum, range, varint, two_bit, gamma, rice."""

    coding: str
    lo: int
    hi: int
    k: int
    has_default: bool
    is_arithmetic: bool
    initial: int

    def __post_init__(self):
        self.top = self.hi - self.lo

    def level_of(self, value):
        return value - self.lo

    def value_of(self, level):
        return self.lo + level

    def read(self, packet):
        if self.is_arithmetic and packet.HAS_ARITHMETIC:
            return self.lo + packet.coder.uniform(self.top + 1)
        return read_behind_default(packet.bits, self.has_default, self.initial,
                                   lambda: self.read_value(packet.bits))

    def plain_bits(self, value):
        if self.has_default and value == self.initial:
            return 1
        if self.coding not in CODES:
            return self.has_default + width(self.top)
        code = zigzag(value) if self.lo < 0 else value
        return self.has_default + CODE_BITS[self.coding](code, self.k)

    def read_value(self, bits):
        if self.coding in CODES:
            code = CODES[self.coding](bits, self.k)
            value = unzigzag(code) if self.lo < 0 else code
        else:
            value = self.lo + bits.read(width(self.hi - self.lo))
        require(self.lo <= value <= self.hi, f"{self.coding}: {value} is out of range")
        return value

    def text(self, value):
        return str(value)

    def words(self):
        return [WHOLE_NUMBERS[self.coding], self.lo, self.hi, self.k, self.has_default,
                self.is_arithmetic]

    def initial_words(self):
        code = self.initial - self.lo
        if self.hi - self.lo < WORD32:
            return [code]
        return [code % WORD32, code // WORD32]


class Ladder:
    """The levels of a fixed or of a component of a vec3."""

    def __init__(self, lo, hi, step, has_default, initial):
        self.lo, self.hi, self.has_default = lo, hi, has_default
        self.top = math.floor((hi - lo) / step + 0.5)
        self.initial = self.level(initial)

    def level(self, value):
        if value <= self.lo:
            return 0
        if value >= self.hi:
            return self.top
        return math.floor((value - self.lo) / ((self.hi - self.lo) / self.top) + 0.5)

    def read(self, bits):
        return read_behind_default(bits, self.has_default, self.initial,
                                   lambda: self.read_level(bits))

    def read_level(self, bits):
        level = bits.read(width(self.top))
        require(level <= self.top, f"a level of {level} above {self.top}")
        return level

    def words(self):
        return [double_bits(self.lo), double_bits(self.hi), self.top, self.has_default]


def double_bits(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


class Levels:
    """Numbers whose values are levels already."""

    def level_of(self, value):
        return value

    def value_of(self, level):
        return level

    def plain_bits(self, value):
        return 1 if self.has_default and value == self.initial else (
            self.has_default + width(self.top))

    def text(self, value):
        return str(value)

    def initial_words(self):
        return [self.initial]


class Fixed(Levels):
    def __init__(self, ladder):
        self.ladder = ladder
        self.initial, self.top, self.has_default = ladder.initial, ladder.top, ladder.has_default

    def read(self, packet):
        return self.ladder.read(packet.bits)

    def words(self):
        return [7, *self.ladder.words()]


class Vec3:
    def __init__(self, ladders):
        self.ladders = ladders
        self.initial = tuple(ladder.initial for ladder in ladders)

    def read(self, packet):
        return tuple(ladder.read(packet.bits) for ladder in self.ladders)

    def text(self, value):
        return ",".join(map(str, value))

    def words(self):
        return [8] + [word for ladder in self.ladders for word in ladder.words()]

    def initial_words(self):
        return list(self.initial)


class Angle(Levels):
    def __init__(self, bits, turn, has_default, initial):
        self.level_bits, self.has_default, self.top = bits, has_default, (1 << bits) - 1
        level = math.floor(math.fmod(initial, turn) / turn * 2.0**bits + 0.5)
        self.initial = level % (1 << bits)

    def read(self, packet):
        return read_behind_default(packet.bits, self.has_default, self.initial,
                                   lambda: packet.bits.read(self.level_bits))

    def words(self):
        return [9, self.level_bits, self.has_default]


class Quaternion:
    initial = (3, 0, 0, 0)

    def __init__(self, bits):
        self.level_bits = bits
        self.largest_level = (1 << (bits - 1)) - 1

    def read(self, packet):
        left_out = packet.bits.read(2)
        levels = [packet.bits.read(self.level_bits) - self.largest_level for _ in range(3)]
        require(max(levels) <= self.largest_level, "quaternion: a field of all ones")
        reach = [2 * abs(level) - 1 if level else 0 for level in levels]
        squares = sum(a * a for a in reach) + max(reach) ** 2
        require(squares <= 8 * self.largest_level**2, "quaternion: no rotation rounds to it")
        return (left_out, *levels)

    def text(self, value):
        return ",".join(map(str, value))

    def words(self):
        return [10, self.level_bits]

    def initial_words(self):
        written = self.initial[0]
        for place, level in enumerate(self.initial[1:]):
            written |= (level + self.largest_level) << (2 + place * self.level_bits)
        return [written % WORD32, written // WORD32]


class Text:
    """string and bytes."""

    initial = b""

    def __init__(self, coding, length_max):
        self.is_string = coding == "string"
        self.length_max = length_max

    def read(self, packet):
        length = packet.bits.read(width(self.length_max))
        require(length <= self.length_max, f"{length} bytes where {self.length_max} are the most")
        value = bytes(packet.bits.read(8) for _ in range(length))
        if self.is_string:
            self.check_string(value)
        return value

    @staticmethod
    def check_string(value):
        require(0 not in value, "string: a zero byte")
        try:
            value.decode("utf-8", "strict")
        except UnicodeDecodeError as error:
            raise Refused("string: not UTF-8") from error

    def text(self, value):
        return value.hex()

    def words(self):
        return [11 if self.is_string else 12, self.length_max]

    def initial_words(self):
        return [0]


class Reference:
    """entity: None or (slot, association)."""

    initial = None

    def read(self, packet):
        if not packet.bits.read(1):
            return None
        slot, association, state = packet.read_slot()
        require(state.distance(association) == 0 and state.entity is not None,
                f"a reference to slot {slot}, which does not show that")
        return slot, association

    def text(self, value):
        return "none" if value is None else f"{value[0]}/{value[1]}"

    def words(self):
        return [13]

    def initial_words(self):
        return [0, 0]


@dataclasses.dataclass
class Position:
    level_bits: int
    shift: int
    tolerance: int
    """Of the ground; 0 when there is none."""
    finest: int
    """The shift of its finest step."""

    def finer(self):
        return self.shift - self.finest

    def coarse_of(self, place):
        """How often the finest step was doubled, as far as a place shows it."""
        coarse = 0
        while coarse < self.finer() and all(c % (2 << self.finest + coarse) == 0 for c in place[:2]):
            coarse += 1
        return coarse

    def read(self, packet, is_full):
        require(packet.eye is not None, "a position without an eye")
        count = 2 if self.tolerance else 3
        eye = packet.eye[:count]
        read = self.read_full if is_full else self.read_shortened
        place = [read(packet.bits, coordinate) for coordinate in eye]
        if is_full:
            require(any(self.is_far(c, e) for c, e in zip(place, eye)),
                    "a position in full that need not be")
        if self.tolerance:
            place.append(self.read_altitude(packet, place))
        return tuple(place)

    def read_shortened(self, bits, eye):
        delta = signed(bits.read(self.level_bits) - (eye >> self.shift), self.level_bits)
        return signed(((eye >> self.shift) + delta) << self.shift, 32)

    def read_full(self, bits, _eye):
        return signed(bits.read(32 - self.shift) << self.shift, 32)

    def is_far(self, coordinate, eye):
        steps = signed((coordinate >> self.shift) - (eye >> self.shift), 32 - self.shift)
        half = 1 << (self.level_bits - 1)
        return not -half <= steps < half

    def read_altitude(self, packet, place):
        layers = packet.ground.layers(*place)
        index = packet.bits.read(width(len(layers)))
        require(index <= len(layers), f"layer {index} of {len(layers)}")
        if index < len(layers):
            return layers[index]
        steps = packet.bits.read(32 - self.shift) - (1 << (31 - self.shift))
        altitude = steps << self.shift
        require(all(abs(layer - altitude) > self.tolerance for layer in layers),
                "an escaped altitude within the tolerance of a layer")
        return altitude

    def text(self, value):
        return ",".join(map(str, value))

    def words(self):
        told = [36, self.finest] if self.finer() else []
        return [14, self.level_bits, self.shift, self.tolerance] + told

    def initial_words(self):
        return [0, 0, 0]
