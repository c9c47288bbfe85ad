# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Orientations: how they turn, in whole numbers, and how the pinhole profile tells them. "Rotations" and
"Orientation" in docs/wire_pinhole.md."""

import dataclasses
from math import isqrt

from decoder.fields import WORD32, require, width

ONE = 1 << 30
GREATEST = 759250125
TURNED_ONE = 700114967507363239
TURNS = (137438953472, 81134951838, 42869480287, 21761217566, 10922836750, 5466743129, 2734038620,
         1367102738, 683561799, 341782203, 170891265, 85445653, 42722829, 21361415, 10680707, 5340354,
         2670177, 1335088, 667544, 333772, 166886, 83443, 41722, 20861, 10430, 5215, 2608, 1304, 652,
         326, 163)
COARSE_MAX = 7
INITIAL = 3, 0, 0, 0
NO_SPIN = (0, 0, 0), 0, 1
NEW_KEPT, NEW_SPINNING = 24, 20
KEPT_GROWTH, TURNED_GROWTH = 4, 6
MARK_US = 100_000


# Whole numbers --------------------------------------------------------------------------------


def nearest(a, b):
    """a / b, the half away from 0."""
    return (abs(a) + b // 2) // b * (1 if a >= 0 else -1)


def part(value):
    """From 2^-60 to 2^-30."""
    return value + (1 << 29) >> 30


def angle_of(x, y):
    by = 60 - width(max(x, y))
    x, y, angle = x << by, y << by, 0
    for i, step in enumerate(TURNS):
        turn = 1 if y >= 0 else -1
        x, y = x + turn * (y >> i), y - turn * (x >> i)
        angle += turn * step
    return max(0, angle + 128 >> 8)


def direction_at(angle):
    """Cosine and sine."""
    is_behind = 1 << 30 < angle < 3 << 30
    left = (angle + (1 << 31) * is_behind) % WORD32
    left = (left - WORD32 if left >= 1 << 31 else left) << 8
    x, y = TURNED_ONE, 0
    for i, step in enumerate(TURNS):
        turn = 1 if left >= 0 else -1
        x, y = x - turn * (y >> i), y + turn * (x >> i)
        left -= turn * step
    return (part(-x), part(-y)) if is_behind else (part(x), part(y))


# Rotations ------------------------------------------------------------------------------------


def top_of(bits):
    return (1 << (bits - 1)) - 1


def rotation_of(levels, bits):
    left_out, *rest = levels
    parts = [nearest(level * GREATEST, top_of(bits)) for level in rest]
    parts.insert(left_out, isqrt((1 << 60) - sum(p * p for p in parts)))
    return tuple(parts)


def product(a, b):
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (part(aw * bx + ax * bw + ay * bz - az * by), part(aw * by - ax * bz + ay * bw + az * bx),
            part(aw * bz + ax * by - ay * bx + az * bw), part(aw * bw - ax * bx - ay * by - az * bz))


def spin_of(turned, between):
    """The axis, half of the angle, the ticks."""
    sign = -1 if turned[3] < 0 else 1
    length = isqrt(sum(p * p for p in turned[:3]))
    if length == 0:
        return (0, 0, 0), 0, between
    axis = tuple(nearest(sign * p << 30, length) for p in turned[:3])
    return axis, angle_of(sign * turned[3], length), between


def spin_between(a, b, between):
    return spin_of(product(b, (-a[0], -a[1], -a[2], a[3])), between)


def turned_by(rotation, spin, ahead):
    axis, half, between = spin
    if half == 0 or ahead == 0:
        return rotation
    cosine, sine = direction_at((half * ahead + between // 2) // between % WORD32)
    return product((*(part(a * sine) for a in axis), cosine), rotation)


def order_of(rotation):
    return sorted(range(4), key=lambda i: (-abs(rotation[i]), i))


def chart(rotation, left_out, bits):
    sign = -1 if rotation[left_out] < 0 else 1
    return [nearest(sign * rotation[i] * top_of(bits), GREATEST) for i in range(4) if i != left_out]


def is_rotation(levels, bits):
    rest, top = levels[1:], top_of(bits)
    reach = [2 * abs(level) - 1 if level else 0 for level in rest]
    return max(map(abs, rest)) <= top and sum(a * a for a in reach) + max(reach) ** 2 <= 8 * top * top


def coarse_of(levels):
    return next(c for c in range(COARSE_MAX, -1, -1) if all(level % (1 << c) == 0 for level in levels[1:]))


# What both ends know --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Turning:
    """How the orientation of a slot turned."""

    spin: tuple
    mark: tuple
    mark_tick: int
    tick: int
    kept: int
    turned: int

    @staticmethod
    def entered(levels, spin, bits, tick, ticks, sizes):
        turned = spin_of(rotation_of((3, *spin), bits), ticks)
        kept = turning = NEW_KEPT
        if turned[1]:
            kept, turning = max(NEW_KEPT, sizes.size_of(sum(map(abs, spin)))), NEW_SPINNING
        return Turning(turned, levels, tick, tick, kept, turning)

    def rotation_at(self, levels, bits, tick, sizes):
        return turned_by(rotation_of(levels, bits), self.spin, sizes.ticks_ahead(self.tick, tick))

    def updated(self, known, levels, bits, tick, is_jump, sizes):
        def residual(rotation):
            off = zip(levels[1:], chart(rotation, levels[0], bits))
            return sizes.log8((2 * sum(abs(a - b) for a, b in off) + 3) // 3)

        passed = sizes.time_us(self.tick, tick)
        kept = sizes.normal(residual(rotation_of(known, bits)), passed, KEPT_GROWTH)
        turned = sizes.normal(residual(self.rotation_at(known, bits, tick, sizes)), passed, TURNED_GROWTH)
        changes = {"kept": sizes.faded(self.kept, kept), "turned": sizes.faded(self.turned, turned),
                   "tick": tick}
        if is_jump or sizes.time_us(self.mark_tick, tick) >= MARK_US:
            spin = NO_SPIN if is_jump else spin_between(
                rotation_of(self.mark, bits), rotation_of(levels, bits), (tick - self.mark_tick) % WORD32)
            changes |= {"spin": spin, "mark": levels, "mark_tick": tick}
        return dataclasses.replace(self, **changes)

    def forecast(self, known, bits, tick, sizes):
        """The rotation expected, whether it kept turning, and the size of its residuals."""
        passed = sizes.time_us(self.tick, tick)
        kept = sizes.stretched(self.kept, passed, KEPT_GROWTH)
        turned = sizes.stretched(self.turned, passed, TURNED_GROWTH)
        if turned < kept:
            return self.rotation_at(known, bits, tick, sizes), True, turned
        return rotation_of(known, bits), False, kept

    def text(self):
        axis, half, between = self.spin
        return (f" turning={self.kept},{self.turned} spin={','.join(map(str, axis))},{half},{between} "
                f"mark={self.mark_tick},{','.join(map(str, self.mark))} turned_tick={self.tick}")


# Reading --------------------------------------------------------------------------------------


def checked(levels, bits):
    require(is_rotation(levels, bits), "levels that no rotation has")
    return tuple(levels)


def read_largest(packet, rotation, bits, size, sizes):
    order = order_of(rotation)
    behind = (abs(rotation[order[0]]) - abs(rotation[order[1]])) * top_of(bits) // GREATEST
    more = sizes.size_of(behind) - size
    return order[packet.coder.symbol("ROTATION_LARGEST", 0 if more < 0 else 1 if more < 8 else 2 if more < 24 else 3)]


def read_orientation(packet, baseline, sizes, carried=None):
    """Of an update: the levels, and how coarse they are. carried: what is expected of one that is."""
    orientation = baseline.of_class.orientation()
    bits, known = orientation.coding.level_bits, baseline.values[orientation.name]
    rotation, is_turned, size = baseline.turning.forecast(known, bits, packet.tick, sizes)
    if carried:
        rotation, is_turned, size = carried.rotation, True, carried.rotation_size
    coarse = packet.coder.symbol("ROTATION_COARSE", coarse_of(known))
    left_out = read_largest(packet, rotation, bits, size, sizes)
    step, size, told, levels = 1 << coarse, size - 8 * coarse, 0, []
    for i, expected in enumerate(chart(rotation, left_out, bits)):
        family = "ROTATION_NEXT" if i else "ROTATION_TURNED" if is_turned else "ROTATION_KEPT"
        steps = packet.coder.residual(family, sizes.truncated((4 - i) * size + told, 4))
        told += sizes.size_of(abs(steps))
        levels.append(((expected + step // 2 >> coarse) + steps) * step)
    return checked((left_out, *levels), bits), coarse


def read_entered_orientation(packet, of_class, is_beside):
    """The levels, the symbol that told them, the spin."""
    bits = of_class.orientation().coding.level_bits
    before = packet.before
    expected = before.values[of_class.orientation().name] if is_beside else INITIAL
    symbol = packet.coder.symbol("ENTER_ROTATION", 1 + before.rotation if is_beside else 0)
    levels = expected
    if symbol:
        levels = read_plain(packet, bits, symbol - 1)
        require(levels != expected, "an orientation that is the one expected")
    model = 0 if not is_beside else 2 if any(before.spin) else 1
    spin = 0, 0, 0
    if packet.coder.flag("ENTER_SPINNING", model):
        spin = tuple(packet.coder.signed(packet.coder.length("ENTER_SPIN", 0)) for _ in range(3))
        require(any(spin), "a spin of 0")
        checked((3, *spin), bits)
    return levels, symbol, spin


def read_plain(packet, bits, coarse):
    top = top_of(bits - coarse)
    left_out = packet.bits.read(2)
    rest = [packet.bits.read(bits - coarse) - top for _ in range(3)]
    require(max(rest) <= top, "a field of all ones")
    return checked((left_out, *(level << coarse for level in rest)), bits)
