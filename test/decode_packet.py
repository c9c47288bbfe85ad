#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second decoder of the classic profile, written from docs/wire_format.md alone.

    decode_packet.py [--schema FILE] [--ground FILE] PACKET...   print one session as text
    decode_packet.py --check DIRECTORY    compare every golden packet with the text beside it
    decode_packet.py --flip DIRECTORY     a self check: no packet with one bit changed may agree

The text is the one that test/golden/README.md defines. Schema and ground are the schema.txt and
ground.txt beside the packets unless they are named. Files called *_ack.bin are acknowledgements.
It exits with 1 when anything is refused or differs, with 2 when it cannot start.
"""

import argparse
import dataclasses
import math
import pathlib
import re
import struct
import sys
from fractions import Fraction

PACKET_BYTES_MAX = 1200
ACK_BYTES = 12
WINDOW = 64
VERSION = 1
PROBE, PACKET_LAST, HELLO_PROBE, HELLO_PACKET = 0, 64, 126, 127
ASSOCIATION_BITS = 2
NAME_BITS_SHORT = 43
WORD32 = 1 << 32
STEPS_TOLERANCE = 1e-3
WORD64 = 1 << 64
TICK_US_MIN, TICK_US_MAX = 1_000, 10_000_000
LAYERS_MAX = 8


class Refused(Exception):
    """The packet is as if it had never come."""


class SchemaError(Exception):
    """The schema or the ground cannot be read."""


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


# Whole numbers ----------------------------------------------------------------------------------


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


CODES = {"varint": read_varint, "two_bit": read_two_bit, "gamma": read_gamma, "rice": read_rice}
WHOLE_NUMBERS = {"bool": 15, "enum": 15, "range": 2, "varint": 3, "two_bit": 4, "gamma": 5,
                 "rice": 6}


def read_behind_default(bits, has_default, default, read):
    """A value behind its default bit, if it has one."""
    if not has_default:
        return read()
    if bits.read(1):
        return default
    value = read()
    require(value != default, "a default value written out")
    return value


# Codings: read() a value, say it as text(), give the words() and initial_words() of a fingerprint -


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

    def read(self, packet):
        return read_behind_default(packet.bits, self.has_default, self.initial,
                                   lambda: self.read_value(packet.bits))

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


class Fixed:
    def __init__(self, ladder):
        self.ladder = ladder
        self.initial = ladder.initial

    def read(self, packet):
        return self.ladder.read(packet.bits)

    def text(self, value):
        return str(value)

    def words(self):
        return [7, *self.ladder.words()]

    def initial_words(self):
        return [self.initial]


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


class Angle:
    def __init__(self, bits, turn, has_default, initial):
        self.level_bits, self.has_default = bits, has_default
        level = math.floor(math.fmod(initial, turn) / turn * 2.0**bits + 0.5)
        self.initial = level % (1 << bits)

    def read(self, packet):
        return read_behind_default(packet.bits, self.has_default, self.initial,
                                   lambda: packet.bits.read(self.level_bits))

    def text(self, value):
        return str(value)

    def words(self):
        return [9, self.level_bits, self.has_default]

    def initial_words(self):
        return [self.initial]


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
        return [14, self.level_bits, self.shift, self.tolerance]

    def initial_words(self):
        return [0, 0, 0]


# Schema: its grammar, and what decides the wire. Whether a ladder is a sensible one is not asked. -

NAME = r"[A-Za-z_][A-Za-z0-9_]{0,30}"
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
RANGE_PATTERN = re.compile(f"({NUMBER})\\.\\.({NUMBER})")
NUMBER_PATTERN = re.compile(NUMBER)
PROPERTY_PATTERN = re.compile(f"({NAME})[ \t]*:(.*)")
CLASS_PATTERN = re.compile(f"class[ \t]+({NAME})")
MASK_PATTERN = re.compile("0x[0-9a-fA-F]{1,8}")
COMPONENTS = ("x", "y", "z", "xy", "xz", "yz", "xyz")

NUMBERS = {*WHOLE_NUMBERS, "fixed", "angle"}
CODINGS = {*NUMBERS, "vec3", "quaternion", "string", "bytes", "entity", "position"}
OPTIONS = {
    "step": {"fixed", "vec3", "position"},
    "z": {"vec3"},
    "turn": {"angle"},
    "k": {"rice"},
    "arithmetic": {"enum", "range"},
    "ground": {"position"},
    "default": NUMBERS | {"vec3"},
    "initial": NUMBERS | {"vec3"},
    "distance": CODINGS - {"position"},
    "significant": NUMBERS - {"bool", "enum"} | {"vec3", "position"},
    "weight": CODINGS,
    "once": CODINGS - {"entity"},
    "owner": CODINGS - {"position"},
    "audience": CODINGS - {"position"},
}
OPTIONS_ALONE = {"arithmetic", "once", "owner"}
RANGES_LEFT_OUT = {"bool": "0..1", "varint": "0..9007199254740992"}
RANGE_32_BITS = "0..4294967295"


@dataclasses.dataclass
class Property:
    name: str
    coding: object
    is_once: bool

    def fingerprint_words(self):
        mark = [16] if self.is_once and not isinstance(self.coding, Position) else []
        return self.coding.words() + self.coding.initial_words() + mark


@dataclasses.dataclass
class Class:
    name: str
    properties: list

    def place(self):
        return next(p for p in self.properties if isinstance(p.coding, Position))

    def rest(self):
        return [p for p in self.properties if not isinstance(p.coding, Position)]


def expect(condition, complaint):
    if not condition:
        raise SchemaError(complaint)


def number_text(word):
    expect(NUMBER_PATTERN.fullmatch(word), f"'{word}' is not a number")
    return word


def whole(word):
    number = Fraction(number_text(word))
    expect(number.denominator == 1, f"'{word}' is not whole")
    return int(number)


def range_texts(word):
    found = RANGE_PATTERN.fullmatch(word)
    expect(found, f"'{word}' is not a range")
    expect(Fraction(found[1]) <= Fraction(found[2]), f"'{word}': the lower end comes first")
    return found[1], found[2]


def take_word(words, what):
    expect(words, f"expected {what}, found the end of the line")
    return words.pop(0)


def take_option(words, coding):
    """The next option and what stands behind it."""
    option = words.pop(0)
    expect(coding in OPTIONS.get(option, ()), f"'{option}' is no option of {coding}")
    if option in OPTIONS_ALONE:
        return option, True
    word = take_word(words, f"something behind {option}")
    if option == "audience":
        expect(MASK_PATTERN.fullmatch(word), f"'{word}' is not a mask")
    elif option == "z":
        range_texts(word)
    else:
        number_text(word)
    return option, word


def parse_options(words, coding):
    options = {}
    while words:
        option, value = take_option(words, coding)
        expect(option not in options, f"{option} stands here twice")
        options[option] = value
        if option == "default" and coding == "vec3":
            options["components"] = take_word(words, "components")
            expect(options["components"] in COMPONENTS, "components are some of x, y, z")
    expect(not {"default", "initial"} <= options.keys(), "initial beside default")
    expect(not {"owner", "audience"} <= options.keys(), "audience beside owner")
    expect("step" in options or coding not in ("fixed", "vec3"), f"{coding} needs a step")
    return options


def initial_text(options):
    return options.get("default", options.get("initial"))


def make_whole(coding, argument, options):
    if coding == "enum":
        expect(whole(argument) >= 2, "an enum has two alternatives or more")
        lo, hi = 0, whole(argument) - 1
    else:
        lo, hi = map(whole, range_texts(argument or RANGES_LEFT_OUT.get(coding, RANGE_32_BITS)))
    given = initial_text(options)
    initial = min(max(0, lo), hi) if given is None else whole(given)
    expect(lo <= initial <= hi, f"an initial value of {initial} is out of range")
    k = whole(options.get("k", "0"))
    expect(0 <= k <= 31, f"a k of {k} is out of range")
    return Whole(coding, lo, hi, k, "default" in options, "arithmetic" in options, initial)


def is_whole_steps(steps):
    return abs(steps - math.floor(steps + 0.5)) <= STEPS_TOLERANCE


def make_ladder(range_word, options, has_default, is_clamped):
    lo, hi = (float(end) + 0.0 for end in range_texts(range_word))  # -0 becomes 0
    step = float(options["step"])
    expect(step > 0 and 1 <= math.floor((hi - lo) / step + 0.5) < WORD32
           and is_whole_steps((hi - lo) / step), "a ladder is a whole number of steps")
    expect(not lo <= 0 <= hi or is_whole_steps(-lo / step), "0 is one of the levels")
    given = initial_text(options)
    expect(given is None or is_clamped or lo <= float(given) <= hi,
           f"an initial value of {given} is out of range")
    return Ladder(lo, hi, step, has_default, float(given or "0"))


def make_fixed(argument, options):
    return Fixed(make_ladder(argument, options, "default" in options, False))


def make_vec3(argument, options):
    ranges = {"x": argument, "y": argument, "z": options.get("z", argument)}
    with_default = options.get("components", "")
    return Vec3([make_ladder(ranges[axis], options, axis in with_default, axis not in with_default)
                 for axis in "xyz"])


def bits_of(argument, left_out, least, most):
    bits = whole(argument or left_out)
    expect(least <= bits <= most, f"{bits} bits are out of range")
    return bits


def make_angle(argument, options):
    turn = float(options.get("turn", "360"))
    expect(turn > 0, "a turn is above 0")
    return Angle(bits_of(argument, "8", 1, 32), turn, "default" in options,
                 float(initial_text(options) or "0"))


def make_position(argument, options):
    step = whole(options.get("step", "16"))
    expect(step > 0 and step & (step - 1) == 0, "the step of a position is a power of two")
    shift = width(step) - 1
    tolerance = whole(options.get("ground", "0"))
    expect("ground" not in options or tolerance > 0, "the tolerance of a ground is above 0")
    return Position(bits_of(argument, "16", 1, 32 - shift), shift, tolerance)


def make_text(coding, argument):
    expect(1 <= whole(argument) <= 1000, f"a length of {argument} is out of range")
    return Text(coding, whole(argument))


def make_coding(coding, argument, options):
    if coding in WHOLE_NUMBERS:
        return make_whole(coding, argument, options)
    if coding in ("string", "bytes"):
        return make_text(coding, argument)
    if coding == "fixed":
        return make_fixed(argument, options)
    if coding == "vec3":
        return make_vec3(argument, options)
    if coding == "angle":
        return make_angle(argument, options)
    if coding == "quaternion":
        return Quaternion(bits_of(argument, "10", 8, 16))
    if coding == "position":
        return make_position(argument, options)
    return Reference()


def parse_property(text):
    words = text.split()
    coding = take_word(words, "a coding")
    expect(coding in CODINGS, f"'{coding}' is no coding")
    argument = None
    if coding not in ("bool", "entity") and words and words[0] not in OPTIONS:
        argument = words.pop(0)
    expect(argument or coding not in ("enum", "range", "fixed", "vec3", "string", "bytes"),
           f"{coding} needs a word behind it")
    options = parse_options(words, coding)
    return make_coding(coding, argument, options), "once" in options


def parse_line(line, classes):
    found = PROPERTY_PATTERN.fullmatch(line)
    if not found:
        found = CLASS_PATTERN.fullmatch(line)
        expect(found, "neither a class nor a property")
        expect(found[1] not in [c.name for c in classes], f"a second class {found[1]}")
        classes.append(Class(found[1], []))
        return
    expect(classes, "a property before the first class")
    properties = classes[-1].properties
    expect(found[1] not in [p.name for p in properties], f"a second property {found[1]}")
    properties.append(Property(found[1], *parse_property(found[2])))


def parse_schema(text):
    classes = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.split("#")[0].strip(" \t\r")
        if not line:
            continue
        try:
            parse_line(line, classes)
        except SchemaError as error:
            raise SchemaError(f"schema, line {number}: {error}") from error
    expect(1 <= len(classes) <= 256, "a schema has 1..256 classes")
    for a_class in classes:
        positions = [p for p in a_class.properties if isinstance(p.coding, Position)]
        expect(len(positions) == 1, f"class {a_class.name}: exactly one property is a position")
        expect(len(a_class.properties) <= 64, f"class {a_class.name}: at most 64 properties")
    return classes


# Fingerprint ------------------------------------------------------------------------------------


def mix(b):
    b = (b ^ (b >> 30)) * 0xBF58476D1CE4E5B9 % WORD64
    b = (b ^ (b >> 27)) * 0x94D049BB133111EB % WORD64
    return b ^ (b >> 31)


def absorb(state, word):
    return mix(((state ^ (word % WORD64)) + 0x9E3779B97F4A7C15) % WORD64)


def fingerprint_words(classes):
    words = []
    for a_class in classes:
        words += [1, len(a_class.properties)]
        for a_property in a_class.properties:
            words += a_property.fingerprint_words()
    return [int(word) for word in words]


def fingerprint_of(classes):
    words = fingerprint_words(classes)
    state = absorb(0, 0x3120616D65686373)
    for word in words:
        state = absorb(state, word)
    return absorb(absorb(state, 0), 8 * len(words))


# Ground -----------------------------------------------------------------------------------------


class Ground:
    def __init__(self, text):
        self.areas = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if words:
                self.areas.append(self.parse_area(words, number))

    @staticmethod
    def parse_area(words, number):
        numbers = [whole(word) for word in words]
        heights = numbers[4:]
        expect(len(numbers) >= 4 and len(heights) <= LAYERS_MAX and
               all(a < b for a, b in zip(heights, heights[1:])),
               f"ground, line {number}: four ends and at most 8 ascending heights")
        return numbers[:4], heights

    def layers(self, x, y):
        for (x_from, x_to, y_from, y_to), heights in self.areas:
            if x_from <= x < x_to and y_from <= y < y_to:
                return heights
        return []


# Packets ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Hello:
    version: int
    slots: int
    tick_us: int
    session: int
    fingerprint: int

    def slot_bits(self):
        return max(8, width(self.slots - 1))

    def text(self):
        return (f"hello version={self.version} slots={self.slots} tick_us={self.tick_us} "
                f"session={self.session} fingerprint=0x{self.fingerprint:016x}")


@dataclasses.dataclass(frozen=True)
class Entity:
    name: int
    of_class: Class


@dataclasses.dataclass(frozen=True)
class Slot:
    number: int = 0
    """Of the association, all 32 bits."""
    entity: Entity = None

    def distance(self, association):
        return (association - self.number) % (1 << ASSOCIATION_BITS)

    def next_number(self):
        return (self.number + 1) % WORD32


class Packet:
    """Reads one packet against what its receiver knows, and changes nothing there."""

    def __init__(self, receiver, data):
        require(len(data) <= PACKET_BYTES_MAX, f"{len(data)} bytes")
        self.receiver, self.ground = receiver, receiver.ground
        self.bits = Bits(data)
        self.lines = []
        self.own_eye = self.eye = None
        self.changes = {}
        self.read_header()
        self.read_content()
        self.read_padding()

    def read_header(self):
        read = self.bits.read
        self.number, code, self.tick, self.wait = read(32), read(7), read(11), read(5)
        self.has_eye, self.leaves, self.enters = read(1), read(6), read(6)
        require(code <= PACKET_LAST or code >= HELLO_PROBE, f"horizon code {code}")
        self.is_probe = code in (PROBE, HELLO_PROBE)
        self.has_hello = code in (HELLO_PROBE, HELLO_PACKET)
        self.check_number()
        self.hello = self.read_hello() if self.has_hello else self.receiver.hello
        self.horizon = self.hello.session if self.has_hello else (self.number - code) % WORD32
        self.lines.insert(0, self.header_text())
        self.check_order()

    def header_text(self):
        return (f"header number={self.number} horizon={self.horizon} tick={self.tick} "
                f"wait={self.wait} probe={self.is_probe:d} hello={self.has_hello:d} "
                f"eye={self.has_eye} leaves={self.leaves} enters={self.enters}")

    def check_number(self):
        newest = self.receiver.newest
        if newest is None:
            require(self.has_hello, "no hello yet: dropped")
        elif not (self.is_probe and self.number == newest):
            require(ahead(self.number, newest), f"number {self.number} is old: dropped")

    def read_hello(self):
        read = self.bits.read
        version = read(8)
        require(version == VERSION, f"version {version}")
        hello = Hello(version, read(16), read(32), read(32), read(64))
        require(hello.slots >= 2, f"{hello.slots} slots")
        require(TICK_US_MIN <= hello.tick_us <= TICK_US_MAX, f"ticks of {hello.tick_us} us")
        require(1 <= (self.number - hello.session) % WORD32 <= WINDOW,
                f"number {self.number} in session {hello.session}")
        schema_has = self.receiver.fingerprint
        require(hello.fingerprint == schema_has, f"fingerprint 0x{hello.fingerprint:016x} in the "
                f"hello, the schema has 0x{schema_has:016x}")
        require(self.receiver.hello in (None, hello), "another hello than the first one")
        self.lines.append(hello.text())
        return hello

    def check_order(self):
        newest, last = self.receiver.newest, self.receiver.horizon
        if newest is None:
            newest = last = self.hello.session
        if self.is_probe:
            require((self.number - newest) % WORD32 <= WINDOW, "a probe too far ahead")
            return
        require(not ahead(self.horizon, newest), f"horizon {self.horizon} ahead of the newest")
        require(not ahead(last, self.horizon), f"horizon {self.horizon} behind the last one, {last}")

    def read_content(self):
        if self.is_probe:
            require(not (self.has_eye or self.leaves or self.enters), "a probe with content")
            return
        self.read_eye()
        self.touched, self.left, self.entered = set(), set(), {}
        self.read_group(self.read_leave, lambda left: left > 0, self.leaves)
        self.read_group(self.read_enter, lambda left: left > 0, self.enters)
        self.read_group(self.read_update, lambda _left: self.bits.left() >= 8, 0)
        self.leave_displaced()

    def read_eye(self):
        if self.has_eye:
            self.own_eye = tuple(signed(self.bits.read(32), 32) for _ in range(3))
            self.lines.append("eye x={} y={} z={}".format(*self.own_eye))
        self.eye = self.own_eye or self.receiver.eye_at(self.horizon)

    def read_padding(self):
        count = self.bits.left()
        require(count < 8, f"{count} bits behind the end")
        require(self.bits.read(count) == 0, "padding that is not zero")
        self.lines.append(f"padding bits={count}")

    # Records

    def read_group(self, read_record, goes_on, count):
        self.slot_before = -1
        while goes_on(count):
            read_record(self.bits.at)
            count -= 1

    def read_slot(self):
        """Slot and association, and what the receiver has there."""
        slot = self.bits.read(self.hello.slot_bits())
        require(slot < self.hello.slots, f"slot {slot} of {self.hello.slots}")
        association = self.bits.read(ASSOCIATION_BITS)
        return slot, association, self.receiver.slots.get(slot, Slot())

    def read_who(self):
        slot, association, state = self.read_slot()
        require(slot > self.slot_before, f"slot {slot} behind slot {self.slot_before}")
        require(slot not in self.touched, f"slot {slot} twice")
        self.slot_before = slot
        self.touched.add(slot)
        return slot, association, state

    def read_leave(self, start):
        slot, association, state = self.read_who()
        self.left.add(slot)
        distance = state.distance(association)
        if distance == 0 and state.number != 0:
            self.changes[slot] = Slot(state.number)
        else:
            require(distance == 1 and state.entity is None, f"slot {slot}: an impossible leave")
            self.changes[slot] = Slot(state.next_number())
        self.lines.append(f"leave slot={slot} association={association} "
                          f"bits={self.bits.at - start}")

    def read_enter(self, start):
        slot, association, state = self.read_who()
        entity = self.read_entity()
        require(entity.name not in self.entered, f"name {entity.name} enters twice")
        self.entered[entity.name] = slot
        self.changes[slot] = self.slot_entered(slot, state, association, entity)
        jump, is_full = self.read_time()
        told = self.read_position(entity.of_class, is_full) | self.read_rest(entity.of_class)
        self.check_complete(entity.of_class, told)
        self.lines.append(
            f"enter slot={slot} association={association} class={entity.of_class.name} "
            f"name={entity.name} jump={jump} bits={self.bits.at - start} : "
            + self.told_text(entity.of_class, told))

    def read_entity(self):
        index = self.bits.read(8)
        require(index < len(self.receiver.classes), f"class {index}")
        is_long = self.bits.read(1)
        name = self.bits.read(64 if is_long else NAME_BITS_SHORT)
        require(not is_long or name >> NAME_BITS_SHORT, "a long name that need not be")
        return Entity(name, self.receiver.classes[index])

    @staticmethod
    def slot_entered(slot, state, association, entity):
        distance = state.distance(association)
        if distance == 1 and state.entity is None:
            return Slot(state.next_number(), entity)
        require(distance == 0 and state.entity is not None and state.entity.name == entity.name
                and state.entity.of_class is entity.of_class, f"slot {slot}: an impossible enter")
        return Slot(state.number, entity)

    @staticmethod
    def check_complete(of_class, told):
        for a_property in of_class.rest():
            if a_property.name in told:
                require(told[a_property.name] != a_property.coding.initial,
                        f"an enter that tells the initial value of {a_property.name}")

    def read_update(self, start):
        slot, association, state = self.read_who()
        require(state.distance(association) == 0 and state.entity is not None,
                f"slot {slot}: an impossible update")
        of_class = state.entity.of_class
        jump, is_full = self.read_time()
        has_position = self.bits.read(1)
        require(has_position or not (jump or is_full), "a jump or full without a position")
        told = self.read_position(of_class, is_full) if has_position else {}
        told |= self.read_rest(of_class)
        require(told, "an update that tells nothing")
        self.lines.append(
            f"update slot={slot} association={association} class={of_class.name} jump={jump} "
            f"bits={self.bits.at - start} : " + self.told_text(of_class, told))

    def read_time(self):
        if not self.bits.read(1):
            return 0, 0
        jump, is_full = self.bits.read(1), self.bits.read(1)
        require(jump or is_full, "time bits that say nothing")
        return jump, is_full

    def read_position(self, of_class, is_full):
        place = of_class.place()
        return {place.name: place.coding.read(self, is_full)}

    def read_rest(self, of_class):
        if not self.bits.read(1):
            return {}
        present = [a_property for a_property in of_class.rest() if self.bits.read(1)]
        require(present, "a rest of which nothing is told")
        return {a_property.name: a_property.coding.read(self) for a_property in present}

    @staticmethod
    def told_text(of_class, told):
        return " ".join(f"{a_property.name}={a_property.coding.text(told[a_property.name])}"
                        for a_property in of_class.properties if a_property.name in told)

    def leave_displaced(self):
        """Slots that showed the name of an enter elsewhere have been left."""
        for slot, state in self.receiver.slots.items():
            if state.entity is None or self.entered.get(state.entity.name, slot) == slot:
                continue
            require(slot in self.left or slot not in self.touched,
                    f"slot {slot} shows a name that enters elsewhere")
            self.changes[slot] = Slot(state.number)


class Receiver:
    """What a receiver keeps of one session, as far as reading depends on it."""

    def __init__(self, classes, ground):
        self.classes, self.ground = classes, ground
        self.fingerprint = fingerprint_of(classes)
        self.hello = self.newest = self.horizon = None
        self.applied = 0
        self.eyes = []
        self.slots = {}

    def eye_at(self, horizon):
        """The eye of the newest applied packet up to a horizon that carried one."""
        known = [eye for number, eye in self.eyes if not ahead(number, horizon)]
        return known[-1] if known else None

    def apply(self, packet):
        if self.hello is None:
            self.hello = packet.hello
            self.newest = self.horizon = packet.hello.session
        self.applied <<= (packet.number - self.newest) % WORD32
        self.newest = packet.number
        if not packet.is_probe:
            self.apply_content(packet)
        self.applied %= WORD64

    def apply_content(self, packet):
        self.applied |= 1
        self.horizon = packet.horizon
        settled = [kept for kept in self.eyes if not ahead(kept[0], self.horizon)]
        self.eyes = self.eyes[max(0, len(settled) - 1):]
        if packet.own_eye:
            self.eyes.append((packet.number, packet.own_eye))
        self.slots.update(packet.changes)

    def acknowledgement(self):
        return struct.pack("<IQ", self.newest, self.applied)


def joined(lines):
    return "".join(line + "\n" for line in lines)


def packet_text(receiver, data):
    return joined(Packet(receiver, data).lines)


def ack_text(_receiver, data):
    require(len(data) == ACK_BYTES, f"an acknowledgement of {len(data)} bytes")
    return "ack newest={} applied=0x{:016x}\n".format(*struct.unpack("<IQ", data))


# Golden files -----------------------------------------------------------------------------------


def is_refused(path):
    return "_refused_" in path.stem


def is_ack(path):
    return path.stem.endswith("_ack")


def read_schema(schema_path, ground_path):
    classes = parse_schema(schema_path.read_text("utf-8"))
    needs_ground = any(a_class.place().coding.tolerance for a_class in classes)
    return classes, Ground(ground_path.read_text("utf-8") if needs_ground else "")


def sessions_of(directory):
    """The packets of each session in their order; its acknowledgement comes last."""
    sessions = {}
    for path in sorted(directory.glob("*.bin"), key=lambda path: (is_ack(path), path.name)):
        sessions.setdefault(path.stem.split("_")[0], []).append(path)
    expect(sessions, f"{directory}: no packets")
    for path in directory.glob("*_*.txt"):
        expect(path.with_suffix(".bin").exists(), f"{path}: no packet beside it")
    return sessions.values()


def difference(expected, found):
    """The first line that differs, both ways."""
    expected, found = expected.split("\n"), found.split("\n")
    for number in range(max(len(expected), len(found))):
        sides = [side[number] if number < len(side) else "(nothing)" for side in (expected, found)]
        if sides[0] != sides[1]:
            return f"line {number + 1}\n  expected {sides[0]}\n  decoded  {sides[1]}"
    return "nothing"


def check_refused(receiver, path):
    """A packet that must be refused at this place; what is wrong with it, or None."""
    if path.with_suffix(".txt").read_text("utf-8") != "refused\n":
        return "its text is not that of a refused one"
    try:
        Packet(receiver, path.read_bytes())
    except Refused:
        return None
    return "not refused"


def check_file(receiver, path):
    """Decodes one golden file into the receiver; what is wrong with it, or None."""
    data = path.read_bytes()
    expected = path.with_suffix(".txt").read_text("utf-8")
    try:
        if is_ack(path):
            found = ack_text(receiver, data)
        else:
            packet = Packet(receiver, data)
            found = joined(packet.lines)
            receiver.apply(packet)
    except Refused as refused:
        return f"refused: {refused}"
    if found != expected:
        return f"differs in {difference(expected, found)}"
    if is_ack(path) and data != receiver.acknowledgement():
        return f"not what the receiver acknowledges: {receiver.acknowledgement().hex(' ')}"
    return None


def check(directory, schema):
    agreed, disagreed = 0, 0
    for session in sessions_of(directory):
        receiver = Receiver(*schema)
        for path in session:
            complaint = (check_refused if is_refused(path) else check_file)(receiver, path)
            if complaint:
                print(f"{path.name}: {complaint}")
                disagreed += 1
            else:
                agreed += 1
    print(f"{agreed} packets agree, {disagreed} do not; "
          f"fingerprint 0x{fingerprint_of(schema[0]):016x}")
    return disagreed == 0


def mutants(data):
    """A name and the bytes of every packet that one flipped bit or a wrong size makes."""
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield f"with bit {bit} flipped", bytes(flipped)
    yield "without its last byte", data[:-1]
    yield "with a zero byte behind it", data + b"\0"


def flip_file(receiver, path, counts):
    """Counts what becomes of the mutants of one golden file."""
    data = path.read_bytes()
    expected = path.with_suffix(".txt").read_text("utf-8")
    read = ack_text if is_ack(path) else packet_text
    for name, mutant in mutants(data):
        try:
            outcome = "unnoticed" if read(receiver, mutant) == expected else "different"
        except Refused:
            outcome = "refused"
        counts[outcome] += 1
        if outcome == "unnoticed":
            print(f"{path.name} {name} reads the same")
    if not is_ack(path):
        receiver.apply(Packet(receiver, data))


def flip(directory, schema):
    counts = {"refused": 0, "different": 0, "unnoticed": 0}
    for session in sessions_of(directory):
        receiver = Receiver(*schema)
        for path in filter(lambda path: not is_refused(path), session):
            flip_file(receiver, path, counts)
    print(f"{sum(counts.values())} changed packets: {counts['refused']} refused, "
          f"{counts['different']} read differently, {counts['unnoticed']} unnoticed")
    return counts["unnoticed"] == 0


def print_session(paths, schema):
    receiver = Receiver(*schema)
    for path in paths:
        data = path.read_bytes()
        if is_ack(path):
            print(ack_text(receiver, data), end="")
        else:
            packet = Packet(receiver, data)
            print(joined(packet.lines), end="")
            receiver.apply(packet)
    return True


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="compare a directory's packets")
    parser.add_argument("--flip", action="store_true", help="flip each bit of them")
    parser.add_argument("--schema", type=pathlib.Path)
    parser.add_argument("--ground", type=pathlib.Path)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def run(arguments):
    first = arguments.paths[0]
    by_directory = arguments.check or arguments.flip
    directory = first if by_directory else first.parent
    schema = read_schema(arguments.schema or directory / "schema.txt",
                         arguments.ground or directory / "ground.txt")
    if not by_directory:
        return print_session(arguments.paths, schema)
    good = check(directory, schema) if arguments.check else True
    return good and (flip(directory, schema) if arguments.flip else True)


def main():
    try:
        return 0 if run(parse_arguments()) else 1
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 1
    except (SchemaError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
