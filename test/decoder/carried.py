# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What is told from where its carrier takes it: "Carried" in docs/wire_pinhole.md."""

import dataclasses

from decoder.baseline import (POSITION_GROWTH, log8, moved_by, normal, size_of, stretched, time_us, ways)
from decoder.fields import WORD32, require
from decoder.rotation import TURNED_GROWTH, chart, product, rotation_of, turned_by

ONE = 1 << 30
NO_TURN = 0, 0, 0, ONE
REACH_MM = 1 << 20
MODEL_MIDDLE, MODEL_MAX = 6, 11


@dataclasses.dataclass(frozen=True)
class Carried:
    """What is expected; place and rotation are None when the packet has not told the carrier's place."""

    model: int
    size: int
    place: tuple = None
    rotation: tuple = None
    rotation_size: int = None


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def turned_vector(rotation, v):
    q, w = rotation[:3], rotation[3]
    t = tuple(2 * p + (1 << 21) >> 22 for p in cross(q, v))
    return tuple(a + (w * b + c + (1 << 37) >> 38) for a, b, c in zip(v, t, cross(q, t)))


def taken_along(turn, before, now, place):
    return moved_by(now, turned_vector(turn, ways(before, place)))


def is_near(a, b):
    return all(abs(step) < REACH_MM for step in ways(a, b))


def orientation_of(baseline):
    orientation = baseline.of_class.orientation()
    return rotation_of(baseline.values[orientation.name], orientation.coding.level_bits)


def back(rotation):
    return -rotation[0], -rotation[1], -rotation[2], rotation[3]


def carrier_of(packet, baseline):
    """Slot and baseline of what can carry it, or None."""
    reference = baseline.of_class.carrier()
    known = baseline.values[reference.name] if reference else None
    carrier = packet.known.slots.get(known[0]) if known else None
    if (carrier is None or carrier.of_class.orientation() is None
            or carrier.newest().tick != baseline.newest().tick
            or not is_near(carrier.newest().place, baseline.newest().place)):
        return None
    return known[0], carrier


def turn_of(carrier, told):
    """How an update has turned its slot."""
    orientation = carrier.of_class.orientation()
    if orientation.name not in told:
        return NO_TURN
    now = rotation_of(told[orientation.name], orientation.coding.level_bits)
    return product(now, back(orientation_of(carrier)))


def size_before(baseline, carrier):
    """How far off it would have been one step before; None when that is not known."""
    if len(baseline.samples) < 2 or len(carrier.samples) < 2:
        return None
    (new, old), (to, of) = baseline.samples, carrier.samples
    if old.tick != of.tick or not is_near(of.place, old.place):
        return None
    turn = turned_by(NO_TURN, carrier.turning.spin, (new.tick - old.tick) % WORD32)
    off = ways(taken_along(turn, of.place, to.place, old.place), new.place)
    coding = baseline.of_class.place().coding
    coarse = coding.coarse_of(new.place)
    shift = coding.finest + coarse
    total = sum(size_of(abs(step) + (1 << shift) // 2 >> shift) for step in off)
    size = normal((total + 1) // 3, time_us(old.tick, new.tick, baseline.tick_us), POSITION_GROWTH)
    return size + 8 * coarse


def model_of(own, size):
    better = own - size
    bits = (better + 4) // 8 if better >= 0 else -((-better + 4) // 8)
    return max(1, min(MODEL_MAX, MODEL_MIDDLE + bits))


def rotation_size(packet, baseline, carrier):
    own, of = baseline.turning, carrier.turning
    size = min(own.turned, own.kept)
    if own.mark_tick == of.mark_tick and own.spin[2] == of.spin[2]:
        bits, between = baseline.of_class.orientation().coding.level_bits, own.spin[2]
        before = product(back(turned_by(NO_TURN, own.spin, between)), orientation_of(baseline))
        levels = own.mark
        off = zip(levels[1:], chart(turned_by(before, of.spin, between), levels[0], bits))
        size = normal(log8((2 * sum(abs(a - b) for a, b in off) + 3) // 3), between * baseline.tick_us,
                      TURNED_GROWTH)
    return stretched(size, time_us(own.tick, packet.tick, baseline.tick_us), TURNED_GROWTH)


def carried_forecast(packet, baseline, slot, carrier):
    size = size_before(baseline, carrier)
    model = 0 if size is None else model_of(baseline.plane, size)
    size = stretched(baseline.plane if size is None else size, baseline.since_sample_us(packet.tick),
                     POSITION_GROWTH)
    told = packet.told_updates.get(slot, {})
    place_name = carrier.of_class.place().name
    if place_name not in told:
        return Carried(model, size)
    turn = turn_of(carrier, told)
    place = taken_along(turn, carrier.newest().place, told[place_name], baseline.newest().place)
    if not baseline.of_class.orientation():
        return Carried(model, size, place)
    return Carried(model, size, place, product(turn, orientation_of(baseline)),
                   rotation_size(packet, baseline, carrier))


def read_carried(packet, baseline):
    """What is expected when it is carried, or None."""
    found = carrier_of(packet, baseline)
    if found is None:
        return None
    forecast = carried_forecast(packet, baseline, *found)
    if not packet.coder.flag("CARRIED", forecast.model):
        return None
    require(forecast.place is not None, "carried by what the packet has told nothing of")
    return forecast
