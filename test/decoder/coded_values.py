# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Values of the pinhole profile: "Values" in docs/wire_pinhole.md. All functions take the packet
that is being read: its coder, its eye, its ground, its tick."""

from decoder.baseline import (HEADING_GROWTH, POSITION_GROWTH, level_of_way, shorter_way, size_of,
                              stretched, truncated, ways)
from decoder.codings import Angle, Fixed, Whole
from decoder.fields import require, signed, width

COARSE_MAX = 7
HALF_SECOND_US = 500_000
LAYER_EXPECTED, LAYER_OTHER, LAYER_NONE = 0, 1, 2
HEADING_INITIAL, HEADING_NEAR = 0, 1
ENTERED_TURNED = 20
NUMBER_ABSOLUTE = 33


# Coordinates ----------------------------------------------------------------------------------


def coordinate(expected, shift, steps):
    """A coordinate so many steps from the one nearest to what is expected."""
    require(-(1 << (31 - shift)) <= steps < 1 << (31 - shift), f"{steps} steps")
    half = (1 << shift) // 2
    return signed((expected + half >> shift) + steps << shift, 32)


def read_altitude(packet, place, expected, coding, read_steps):
    """z with a ground, above the place x, y."""
    layers = packet.ground.layers(*place)
    nearest = min(layers, key=lambda height: (abs(height - expected), height), default=None)
    kind = packet.coder.symbol("LAYER", 0) if layers else LAYER_NONE
    if kind == LAYER_EXPECTED:
        return nearest
    if kind == LAYER_OTHER:
        require(len(layers) > 1, "another layer where there is one")
        return [h for h in layers if h != nearest][packet.coder.uniform(len(layers) - 1)]
    z = coordinate(expected, coding.shift, read_steps())
    require(all(abs(height - z) > coding.tolerance for height in layers),
            "an altitude within the tolerance of a layer")
    return z


def read_place(packet, coding):
    """The position of an enter or of a jump, around the eye."""
    coder, eye = packet.coder, packet.eye
    require(eye is not None, "a position without an eye")

    def read_steps(family):
        return coder.signed(coder.length(family, 0))

    x = coordinate(eye[0], coding.shift, read_steps("ENTER_X"))
    y = coordinate(eye[1], coding.shift, read_steps("ENTER_Y"))
    if coding.tolerance:
        z = read_altitude(packet, (x, y), eye[2], coding, lambda: read_steps("ENTER_Z"))
    else:
        z = coordinate(eye[2], coding.shift, read_steps("ENTER_Z"))
    return x, y, z


# Position of an update ------------------------------------------------------------------------


def reach(a, b):
    return max(abs(step) for step in ways(a, b))


def is_fine(packet, shift, coarse, distance):
    return 7 * 2**(shift + coarse) * 1024000 <= 8 * distance * packet.hello.precision


def allowed_coarse(packet, baseline):
    """How coarse a position may be."""
    if packet.hello.precision == 0:
        return 0
    shift = baseline.of_class.place().coding.shift
    distance = reach(packet.eye, baseline.predicted(packet.tick))
    passed_us = baseline.since_sample_us(packet.tick)
    if passed_us < HALF_SECOND_US:
        distance = distance * passed_us // HALF_SECOND_US
    coarse = 0
    while coarse < COARSE_MAX and is_fine(packet, shift, coarse + 1, distance):
        coarse += 1
    return coarse


def read_position(packet, baseline):
    """A position, and how coarse it is."""
    coder, coding = packet.coder, baseline.of_class.place().coding
    expected, passed_us = baseline.predicted(packet.tick), baseline.since_sample_us(packet.tick)
    allowed = allowed_coarse(packet, baseline)
    coarse = allowed if allowed and coder.flag("COARSE", 0) else 0
    shift, motion = coding.shift + coarse, "MOVING" if baseline.is_moving() else "RESTING"

    size = stretched(baseline.plane, passed_us, POSITION_GROWTH) - 8 * coarse
    steps = coder.surprise("X_" + motion, size)
    x = coordinate(expected[0], shift, steps)
    size = truncated(3 * size + size_of(abs(steps)), 4)
    y = coordinate(expected[1], shift, coder.surprise("Y_" + motion, size))

    family = "Z_MOVING" if baseline.is_rising() else "Z_RESTING"
    size = stretched(baseline.z, passed_us, POSITION_GROWTH)
    if coding.tolerance:
        z = read_altitude(packet, (x, y), expected[2], coding,
                          lambda: coder.surprise(family, size))
    else:
        z = coordinate(expected[2], shift, coder.surprise(family, size - 8 * coarse))
    require(not coarse or is_fine(packet, coding.shift, coarse, reach(packet.eye, (x, y, z))),
            "a position that is too coarse")
    return (x, y, z), coarse


# Heading --------------------------------------------------------------------------------------


def turned_by(level, turn, bits):
    turned = (level + turn) % (1 << bits)
    require(shorter_way(level, turned, bits) == turn, f"a turn of {turn}")
    return turned


def read_heading(packet, baseline, told, mask):
    heading = baseline.of_class.heading()
    if heading.is_once:
        return heading.coding.read(packet)
    bits = heading.coding.level_bits
    by_kept = stretched(baseline.kept, baseline.since_heading_us(packet.tick), HEADING_GROWTH)
    if baseline.turned < by_kept:
        turn = packet.coder.surprise("HEADING_TURNED", baseline.turned)
        return turned_by(baseline.guess(told, mask), turn, bits)
    turn = packet.coder.surprise("HEADING_KEPT", by_kept)
    return turned_by(baseline.values[heading.name], turn, bits)


def is_near(guess, level, bits):
    eighth = 1 << (bits - 3) if bits >= 3 else 0
    return guess is not None and -eighth <= shorter_way(guess, level, bits) < eighth


def read_entered_heading(packet, of_class, velocity):
    """The level, or None when it is initial."""
    coding = of_class.heading().coding
    bits, shift = coding.level_bits, of_class.place().coding.shift
    wx, wy = (signed(v << shift, 32) for v in velocity[:2])
    guess = level_of_way(wx, wy, shift, bits)
    kind = packet.coder.symbol("ENTER_HEADING", int(guess is not None))
    if kind == HEADING_INITIAL:
        return None
    if kind == HEADING_NEAR:
        require(guess is not None, "near to a direction that there is not")
        level = turned_by(guess, packet.coder.surprise("HEADING_TURNED", ENTERED_TURNED), bits)
    else:
        level = packet.bits.read(bits)
    require(is_near(guess, level, bits) == (kind == HEADING_NEAR), "a heading in the wrong form")
    require(level != coding.initial, "an enter that tells the initial heading")
    return level


# Numbers --------------------------------------------------------------------------------------


def read_other(packet, a_property, known):
    """A value of an update that is neither position nor heading."""
    coding = a_property.coding
    is_number = isinstance(coding, (Whole, Fixed, Angle))
    if not is_number or a_property.is_once:
        return coding.read(packet)
    if coding.top == 1 and not isinstance(coding, Angle):
        return coding.value_of(coding.level_of(known) ^ 1 ^ packet.coder.flag("SAME", 0))
    if isinstance(coding, Whole) and coding.coding == "enum":
        return coding.read(packet)
    return read_number(packet, coding, known)


def read_number(packet, coding, known):
    coder, known = packet.coder, coding.level_of(known)
    model = sum(width(coding.top) > bits for bits in (4, 8, 16))
    symbol = coder.symbol("NUMBER", model)
    if symbol == NUMBER_ABSOLUTE:
        level = coding.level_of(coding.read(packet))
    else:
        level = known + coder.signed(coder.below(symbol))
    bits = None
    if isinstance(coding, Angle):
        bits = coding.level_bits
        if symbol != NUMBER_ABSOLUTE:
            level = turned_by(known, level - known, bits)
    require(0 <= level <= coding.top, f"a level of {level} above {coding.top}")
    difference = level - known if bits is None else shorter_way(known, level, bits)
    is_absolute = takes_less_absolute(coder.number_costs(model), coding, level, difference)
    require(is_absolute == (symbol == NUMBER_ABSOLUTE), "a number in the dearer form")
    return coding.value_of(level)


def takes_less_absolute(costs, coding, level, difference):
    bits = width(abs(difference))
    if bits > 32:
        return True
    if isinstance(coding, Whole) and coding.is_arithmetic:
        plain = log256(coding.top + 1)
    else:
        plain = 256 * coding.plain_bits(coding.value_of(level))
    return costs[NUMBER_ABSOLUTE] + plain < costs[bits] + 256 * bits


def log256(v):
    """256 * log2(v), rounded to nearest."""
    digits = width(v) - 1
    m = v << 31 >> digits
    for _ in range(9):
        m = m * m >> 31
        digits *= 2
        if m >= 1 << 32:
            m >>= 1
            digits += 1
    return (digits + 1) // 2
