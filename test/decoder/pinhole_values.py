# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Values of the pinhole profile: "Values" in docs/wire_pinhole.md. All functions take the packet
that is being read: its coder, its eye, its ground, its tick."""

from math import isqrt

from decoder.baseline import (HEADING_GROWTH, POSITION_GROWTH, level_of_way, shorter_way, size_of,
                              stretched, truncated, way_in, ways)
from decoder.carried import read_carried
from decoder.codings import Angle, Fixed, Reference, Text, Whole
from decoder.fields import require, signed, width

COARSE_MAX = 7
HALF_SECOND_US = 500_000
LAYER_EXPECTED, LAYER_OTHER, LAYER_NONE = 0, 1, 2
HEADING_INITIAL, HEADING_NEAR, HEADING_ANY = 0, 1, 2
ENTERED_TURNED = 20
ENTERED_PRECISION, ENTERED_PRECISION_MAX = 32, 32768
MOTION_RESTING, MOTION_BESIDE, MOTION_AHEAD = 0, 1, 2
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


def read_place_around(packet, coding, coarse, centre, readers):
    """Around a place; readers give the steps of x, of y knowing those of x, and of z."""
    read_x, read_y, read_z = readers
    shift, steps = coding.shift + coarse, read_x()
    x = coordinate(centre[0], shift, steps)
    y = coordinate(centre[1], shift, read_y(steps))
    if coding.tolerance:
        z = read_altitude(packet, (x, y), centre[2], coding, read_z)
    else:
        z = coordinate(centre[2], shift, read_z())
    return x, y, z


def read_place(packet, coding):
    """The position of the first enter or of a jump, around the eye."""
    require(packet.eye is not None, "a position without an eye")

    def read_steps(family):
        return packet.coder.signed(packet.coder.length(family, 0))

    return read_place_around(packet, coding, 0, packet.eye,
                             (lambda: read_steps("ENTER_X"), lambda _: read_steps("ENTER_Y"),
                              lambda: read_steps("ENTER_Z")))


def read_place_beside(packet, coding, is_next):
    """The position of another enter, around that of the one before, and how coarse it is."""
    require(packet.eye is not None, "a position without an eye")
    before, coarse = packet.before, 0
    if packet.spread.coarse:
        coarse = packet.coder.symbol("BESIDE_COARSE", before.coarse)
        require(coarse <= packet.spread.coarse, "an enter coarser than the spread says")
    spread = max(1, packet.spread.place - coarse) if packet.spread.place else 0
    centre = before.place
    is_level = before.is_flat or centre[2] == packet.eye[2] >> coding.shift << coding.shift

    def read_steps(family, model):
        return packet.coder.signed(packet.coder.length(family, model))

    def read_x():
        return read_steps("BESIDE_X", 1 + spread if spread else 0 if is_next else 1)

    def read_y(x_steps):
        if not spread:
            return read_steps("BESIDE_Y", min(16, width(abs(x_steps))))
        return read_steps("BESIDE_Y", 17 + 5 * (spread - 1) + min(4, abs(x_steps) >> max(0, spread - 2)))

    place = read_place_around(packet, coding, coarse, centre,
                              (read_x, read_y, lambda: read_steps("BESIDE_Z", int(is_level))))
    told = packet.hello.precision
    precision = max(told, min(ENTERED_PRECISION * told, ENTERED_PRECISION_MAX))
    require(not coarse or is_fine(precision, coding.shift, coarse, reach(packet.eye, place)),
            "an enter that is too coarse")
    return place, coarse


# Position of an update ------------------------------------------------------------------------


def reach(a, b):
    return max(abs(step) for step in ways(a, b))


def is_fine(precision, shift, coarse, distance):
    return 7 * 2**(shift + coarse) * 1024000 <= 8 * distance * precision


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
    while coarse < COARSE_MAX and is_fine(packet.hello.precision, shift, coarse + 1, distance):
        coarse += 1
    return coarse and coarse + baseline.of_class.place().coding.finer()


def read_step(packet, baseline, size):
    """How often the finest step is doubled, up to the step."""
    finer = baseline.of_class.place().coding.finer()
    if not finer:
        return 0
    fit = min(finer, max(packet.step, (size - 24) // 8))
    told = packet.coder.symbol("STEP", fit + (0 if baseline.is_active() else 8))
    require(told <= finer, f"a step {told} above the class's")
    return told


def read_position(packet, baseline):
    """A position, how coarse it is, and what is expected when it is carried (or None)."""
    coder, coding = packet.coder, baseline.of_class.place().coding
    expected, passed_us = baseline.predicted(packet.tick), baseline.since_sample_us(packet.tick)
    plane = stretched(baseline.plane, passed_us, POSITION_GROWTH)
    rising = stretched(baseline.z, passed_us, POSITION_GROWTH)
    own, carried = plane, read_carried(packet, baseline)
    if carried:
        expected, plane, rising = carried.place, carried.size, carried.size
    allowed = allowed_coarse(packet, baseline)
    is_coarse = allowed and coder.flag("COARSE", 0)
    coarse = allowed if is_coarse else read_step(packet, baseline, own)
    shift, motion = coding.finest + coarse, "MOVING" if baseline.is_moving() else "RESTING"

    size = plane - 8 * coarse
    steps = coder.residual("X_" + motion, size)
    x = coordinate(expected[0], shift, steps)
    size = truncated(3 * size + size_of(abs(steps)), 4)
    y = coordinate(expected[1], shift, coder.residual("Y_" + motion, size))

    family = "Z_MOVING" if baseline.is_rising() else "Z_RESTING"
    size = rising - 8 * coding.finer()
    if coding.tolerance:
        z = read_altitude(packet, (x, y), expected[2], coding,
                          lambda: coder.residual(family, size))
    else:
        z = coordinate(expected[2], shift, coder.residual(family, rising - 8 * coarse))
    require(not is_coarse or is_fine(packet.hello.precision, coding.finest, coarse,
                                        reach(packet.eye, (x, y, z))), "a position that is too coarse")
    return (x, y, z), coarse, carried


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
        turn = packet.coder.residual("HEADING_TURNED", baseline.turned)
        return turned_by(baseline.guess(told, mask), turn, bits)
    turn = packet.coder.residual("HEADING_KEPT", by_kept)
    return turned_by(baseline.values[heading.name], turn, bits)


def is_near(guess, level, bits):
    eighth = 1 << (bits - 3) if bits >= 3 else 0
    return guess is not None and -eighth <= shorter_way(guess, level, bits) < eighth


def read_entered_heading(packet, of_class, velocity):
    """The level of an enter by itself."""
    coding = of_class.heading().coding
    bits, shift = coding.level_bits, of_class.place().coding.shift
    wx, wy = (signed(4 * v << shift, 32) for v in velocity[:2])
    guess = level_of_way(wx, wy, shift, bits)
    kind = packet.coder.symbol("ENTER_HEADING", int(guess is not None))
    if kind == HEADING_INITIAL:
        return coding.initial
    if kind == HEADING_ANY:
        level = packet.bits.read(bits)
    else:
        require(guess is not None, "near to a heading that there is not")
        level = turned_by(guess, packet.coder.residual("HEADING_TURNED", ENTERED_TURNED), bits)
    require(is_near(guess, level, bits) == (kind == HEADING_NEAR), "a heading in the wrong form")
    require(level != coding.initial, "an enter that tells the initial heading")
    return level


def read_heading_beside(packet, of_class):
    """The level of an enter that is told from one of its class."""
    turn = packet.coder.signed(packet.coder.length("BESIDE_HEADING", packet.spread.heading))
    return turned_by(packet.before.level, turn, of_class.heading().coding.level_bits)


# Velocity -------------------------------------------------------------------------------------


def read_entered_velocity(packet):
    """Of an enter by itself."""
    if not packet.coder.flag("ENTER_MOVING", 0):
        return 0, 0, 0
    velocity = tuple(packet.coder.signed(packet.coder.length("ENTER_VELOCITY", axis))
                     for axis in range(3))
    require(any(velocity), "a velocity of 0")
    return velocity


def expected_velocity(packet, of_class, level):
    velocity = packet.before.velocity
    if packet.spread.motion == MOTION_RESTING:
        return 0, 0, 0
    if packet.spread.motion == MOTION_BESIDE or of_class.heading() is None:
        return velocity
    bits = of_class.heading().coding.level_bits
    direction = level << (16 - bits) if bits < 16 else level >> (bits - 16)
    x, y, z = velocity
    return *way_in(direction, isqrt(x * x + y * y)), z


def read_velocity_beside(packet, of_class, level):
    spread = packet.spread.velocity
    state = (1 if spread == 0 else 3 if spread == 1 else 5) + any(packet.before.velocity)
    if not packet.coder.flag("ENTER_MOVING", state):
        return 0, 0, 0
    expected = expected_velocity(packet, of_class, level)
    plane = 2 + spread if spread else 0
    models = plane, plane, 1 if expected[2] == 0 else 2
    velocity = tuple(part + packet.coder.signed(packet.coder.length("BESIDE_VELOCITY", model))
                     for part, model in zip(expected, models))
    require(any(velocity), "a velocity of 0")
    require(all(abs(part) < 1 << 15 for part in velocity), "a velocity that is too large")
    return velocity


# Others of an enter ---------------------------------------------------------------------------


def is_compared(coding):
    return not isinstance(coding, (Text, Reference))


def differing_from(others, beside, values):
    """The names of those that are not as beside; of texts and references, not initial."""
    return {other.name for other in others
            if values[other.name] != (beside[other.name] if is_compared(other.coding)
                                      else other.coding.initial)}


def read_others_beside(packet, of_class):
    """All values but position and heading of an enter that is told from one of its class."""
    before, others = packet.before, of_class.others()
    if not others:
        return {}

    def history_of(names):
        return 0 if not before.is_beside else 2 if before.differing & names else 1

    expected = {other.name: before.values[other.name] if is_compared(other.coding)
                else other.coding.initial for other in others}
    if packet.coder.flag("BESIDE_OTHERS", history_of({other.name for other in others})):
        return expected
    values = {other.name: read_value_beside(packet, other.coding, expected[other.name],
                                            history_of({other.name})) for other in others}
    require(differing_from(others, before.values, values), "others of which none differs")
    return values


def read_value_beside(packet, coding, expected, history):
    is_number = isinstance(coding, (Whole, Fixed, Angle))
    has_two = is_number and not isinstance(coding, Angle) and coding.top == 1
    is_enum = isinstance(coding, Whole) and coding.coding == "enum"
    if is_number and not has_two and not is_enum:
        return read_number(packet, coding, expected, "BESIDE_NUMBER", history)
    if packet.coder.flag("BESIDE_SAME", history):
        return expected
    if has_two:
        return coding.value_of(coding.level_of(expected) ^ 1)
    value = coding.read(packet)
    require(value != expected, "a value that is the same")
    return value


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
    place = packet.receiver.number_of[id(a_property)], 2
    has_own = packet.hello.version == 6 and place in packet.receiver.tables.models["OWN"]
    return read_number(packet, coding, known, *(("OWN", place) if has_own else ("NUMBER",)))


def read_number(packet, coding, known, family, history=None):
    coder, known = packet.coder, coding.level_of(known)
    model = sum(width(coding.top) > bits for bits in (4, 8, 16))
    if family == "OWN":
        model = history
    elif history is not None:
        model = 3 * model + history
    symbol = coder.symbol(family, model)
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
    is_absolute = takes_less_absolute(coder.number_costs(family, model), coding, level, difference)
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
