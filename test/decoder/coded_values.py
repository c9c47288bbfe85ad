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
HEADING_INITIAL, HEADING_NEAR, HEADING_ANY, HEADING_BESIDE = 0, 1, 2, 3
ENTERED_TURNED, ENTERED_BESIDE = 20, 28
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


def read_place_around(packet, coding, centre, readers):
    """Around a place; readers give the steps of x, of y knowing those of x, and of z."""
    read_x, read_y, read_z = readers
    steps = read_x()
    x = coordinate(centre[0], coding.shift, steps)
    y = coordinate(centre[1], coding.shift, read_y(steps))
    if coding.tolerance:
        z = read_altitude(packet, (x, y), centre[2], coding, read_z)
    else:
        z = coordinate(centre[2], coding.shift, read_z())
    return x, y, z


def read_place(packet, coding):
    """The position of the first enter or of a jump, around the eye."""
    require(packet.eye is not None, "a position without an eye")

    def read_steps(family):
        return packet.coder.signed(packet.coder.length(family, 0))

    return read_place_around(packet, coding, packet.eye,
                             (lambda: read_steps("ENTER_X"), lambda _: read_steps("ENTER_Y"),
                              lambda: read_steps("ENTER_Z")))


def read_place_beside(packet, coding, is_next):
    """The position of another enter, around that of the one before."""
    require(packet.eye is not None, "a position without an eye")
    spread, centre = packet.spread.place, packet.before.place
    is_level = centre[2] == packet.eye[2] >> coding.shift << coding.shift

    def read_steps(family, model):
        return packet.coder.signed(packet.coder.length(family, model))

    def read_x():
        return read_steps("BESIDE_X", 1 + spread if spread else 0 if is_next else 1)

    def read_y(x_steps):
        return (read_steps("BESIDE_X", 1 + spread) if spread
                else read_steps("BESIDE_Y", min(16, width(abs(x_steps)))))

    return read_place_around(packet, coding, centre,
                             (read_x, read_y, lambda: read_steps("BESIDE_Z", int(is_level))))


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


def form_of(level, guess, beside, bits):
    """The symbol that a heading of an enter takes."""
    if is_near(guess, level, bits):
        return HEADING_NEAR
    return HEADING_BESIDE if is_near(beside, level, bits) else HEADING_ANY


def read_entered_heading(packet, of_class, velocity):
    """The level, or None when it is initial."""
    coding, before = of_class.heading().coding, packet.before
    bits, shift = coding.level_bits, of_class.place().coding.shift
    wx, wy = (signed(4 * v << shift, 32) for v in velocity[:2])
    guess = level_of_way(wx, wy, shift, bits)
    is_beside = before is not None and before.entity.of_class is of_class
    beside = before.level if is_beside else None
    family = "BESIDE_HEADING" if is_beside else "ENTER_HEADING"
    kind = packet.coder.symbol(family, int(guess is not None))
    if kind == HEADING_INITIAL:
        return None
    if kind == HEADING_ANY:
        level = packet.bits.read(bits)
    else:
        start, size = ((guess, ENTERED_TURNED) if kind == HEADING_NEAR
                       else (beside, ENTERED_BESIDE))
        require(start is not None, "near to a heading that there is not")
        level = turned_by(start, packet.coder.surprise("HEADING_TURNED", size), bits)
    require(form_of(level, guess, beside, bits) == kind, "a heading in the wrong form")
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
