# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The text form of a schema: its grammar, and what decides the wire. docs/schema.md.

Whether a ladder is a sensible one is not asked.
"""

import dataclasses
import math
import re
from fractions import Fraction

from decoder.codings import (WHOLE_NUMBERS, Angle, Fixed, Ladder, Position, Quaternion, Reference,
                             Text, Vec3, Whole)
from decoder.fields import WORD32, width


class SchemaError(Exception):
    """The schema or the ground cannot be read."""


NAME = r"[A-Za-z_][A-Za-z0-9_]{0,30}"
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
RANGE_PATTERN = re.compile(f"({NUMBER})\\.\\.({NUMBER})")
NUMBER_PATTERN = re.compile(NUMBER)
PROPERTY_PATTERN = re.compile(f"({NAME})[ \t]*:(.*)")
# Behind its name how it moves and how large it is, each at most once, which is nothing of the wire.
CLASS_PATTERN = re.compile(
    f"class[ \t]+({NAME})(?:[ \t]+(?:bend|radius)[ \t]+{NUMBER}|[ \t]+leg[ \t]+[0-9]+){{0,3}}")
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
    "finest": {"position"},
    "ground": {"position"},
    "orientation": {"quaternion"},
    "heading": {"angle"},
    "carrier": {"entity"},
    "default": NUMBERS | {"vec3"},
    "initial": NUMBERS | {"vec3"},
    "distance": CODINGS - {"position"},
    "significant": NUMBERS - {"bool", "enum"} | {"vec3", "position"},
    "smooth": NUMBERS - {"bool", "enum"} | {"vec3", "quaternion"},
    "weight": CODINGS,
    "once": CODINGS - {"entity"},
    "owner": CODINGS - {"position"},
    "audience": CODINGS - {"position"},
}
OPTIONS_ALONE = {"arithmetic", "once", "owner", "orientation", "heading", "carrier", "smooth"}
RANGES_LEFT_OUT = {"bool": "0..1", "varint": "0..9007199254740992"}
RANGE_32_BITS = "0..4294967295"
STEPS_TOLERANCE = 1e-3


@dataclasses.dataclass
class Property:
    name: str
    coding: object
    is_once: bool
    motion: str = None
    """orientation, heading, carrier or smooth, where it is marked."""

    def fingerprint_words(self, is_first_angle):
        mark = [16] if self.is_once and not isinstance(self.coding, Position) else []
        if self.motion == "orientation":
            mark += [32]
        elif self.motion == "heading" and not is_first_angle:
            mark += [33]
        elif self.motion == "carrier":
            mark += [34]
        elif self.motion == "smooth":
            mark += [35]
        return self.coding.words() + self.coding.initial_words() + mark


@dataclasses.dataclass
class Class:
    name: str
    properties: list

    def place(self):
        return next(p for p in self.properties if isinstance(p.coding, Position))

    def rest(self):
        return [p for p in self.properties if not isinstance(p.coding, Position)]

    def heading(self):
        """The angle that is marked, or the first that is not smooth; None when there is none, or an orientation."""
        if self.orientation():
            return None
        marked = next((p for p in self.properties if p.motion == "heading"), None)
        return marked or self.first_angle()

    def first_angle(self):
        return next((p for p in self.properties if isinstance(p.coding, Angle) and p.motion != "smooth"), None)

    def orientation(self):
        return next((p for p in self.properties if p.motion == "orientation"), None)

    def carrier(self):
        return next((p for p in self.properties if p.motion == "carrier"), None)

    def facing(self):
        return self.orientation() or self.heading()

    def others(self):
        return [p for p in self.rest() if p is not self.facing()]

    def told_text(self, told):
        return " ".join(f"{p.name}={p.coding.text(told[p.name])}"
                        for p in self.properties if p.name in told)


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
    expect(not {"orientation", "once"} <= options.keys(), "an orientation that is sent once")
    expect("smooth" not in options or not {"orientation", "heading", "once"} & options.keys(),
           "smooth beside orientation, heading or once")
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
    finest = whole(options.get("finest", str(step)))
    expect(finest > 0 and finest & (finest - 1) == 0 and finest <= step <= 128 * finest,
           "the finest step of a position is its step, halved up to seven times")
    expect("once" not in options or finest == step, "what is sent once has one step")
    return Position(bits_of(argument, "16", 1, 32 - shift), shift, tolerance, width(finest) - 1)


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
    motion = next((word for word in ("orientation", "heading", "carrier", "smooth") if word in options), None)
    return make_coding(coding, argument, options), "once" in options, motion


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


class Classes(list):
    """The classes of a schema; lines are what it says of models, as words."""

    def __init__(self):
        super().__init__()
        self.model_lines = []


def parse_schema(text):
    classes = Classes()
    for number, line in enumerate(text.split("\n"), 1):
        line = line.split("#")[0].strip(" \t\r")
        if not line:
            continue
        if re.fullmatch(r"model\s+[^:\s].*", line):
            classes.model_lines.append(line.split()[1:])
            continue
        try:
            parse_line(line, classes)
        except SchemaError as error:
            raise SchemaError(f"schema, line {number}: {error}") from error
    expect(1 <= len(classes) <= 256, "a schema has 1..256 classes")
    for a_class in classes:
        positions = [p for p in a_class.properties if isinstance(p.coding, Position)]
        expect(len(positions) == 1, f"class {a_class.name}: exactly one property is a position")
        marks = [p.motion for p in a_class.properties]
        expect(marks.count("orientation") + marks.count("heading") <= 1,
               f"class {a_class.name}: one orientation or heading")
        expect(marks.count("carrier") <= 1, f"class {a_class.name}: one carrier")
        expect(len(a_class.properties) <= 64, f"class {a_class.name}: at most 64 properties")
    return classes
