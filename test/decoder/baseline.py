# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What both ends know of a slot, and what it leads one to expect: "What both ends know" in
docs/wire_pinhole.md."""

import dataclasses

from decoder.fields import WORD32, signed, width
from decoder.rotation import Turning

SIZE_MAX = 255
QUARTER_SECOND_US = 250_000
EIGHTH_SECOND_US = 125_000
EXTRAPOLATION_MAX_US = 4_000_000
POSITION_GROWTH, HEADING_GROWTH = 7, 3
EIGHTHS = (280, 305, 332, 363, 395, 431, 470)
TURNS = (131072, 77376, 40884, 20753, 10417, 5213, 2607, 1304, 652, 326, 163, 81, 41, 20)
MASK_POSITION, MASK_HEADING, MASK_OTHERS, MASK_JUMP = 1, 2, 4, 8


def truncated(a, b):
    """a / b, rounded towards 0."""
    return abs(a) // b if a >= 0 else -(abs(a) // b)


def way(a, b):
    return signed(b - a, 32)


def ways(a, b):
    return tuple(way(*pair) for pair in zip(a, b))


def moved_by(place, steps):
    return tuple(signed(c + s, 32) for c, s in zip(place, steps))


# Sizes ----------------------------------------------------------------------------------------


def log8(v):
    if v < 2:
        return 0
    w = width(v) - 1
    m = v * 256 >> w
    return 8 * w + sum(eighth <= m for eighth in EIGHTHS)


def size_of(n):
    return min(SIZE_MAX, log8(2 * n + 1))


def growth(time_us, g):
    return truncated((log8(min(time_us, EXTRAPOLATION_MAX_US)) - log8(QUARTER_SECOND_US)) * g, 4)


def normal(size, time_us, g):
    return 0 if size == 0 else min(max(size - growth(time_us, g), 0), SIZE_MAX)


def stretched(size, time_us, g):
    return size + growth(time_us, g)


def faded(old, now):
    return (2 * old + now + 1) // 3


def time_us(a, b, tick_us):
    """From tick a to tick b."""
    ticks = (b - a) % WORD32
    return 0 if ticks > (1 << 31) - 1 else ticks * tick_us


def velocity_ticks(tick_us):
    return max(1, (EIGHTH_SECOND_US + tick_us // 2) // tick_us)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What orientations need of the above, at a length of ticks."""

    tick_us: int
    log8 = staticmethod(log8)
    size_of = staticmethod(size_of)
    normal = staticmethod(normal)
    stretched = staticmethod(stretched)
    faded = staticmethod(faded)
    truncated = staticmethod(truncated)

    def time_us(self, a, b):
        return time_us(a, b, self.tick_us)

    def ticks_ahead(self, a, b):
        return min(self.time_us(a, b), EXTRAPOLATION_MAX_US) // self.tick_us


# Directions -----------------------------------------------------------------------------------


def direction(x, y):
    """In 1/65536 of a turn."""
    is_behind = x < 0
    if is_behind:
        x, y = -x, -y
    scale = 1 << (32 - width(max(x, abs(y))))
    x, y, angle = x * scale, y * scale, 0
    for i, step in enumerate(TURNS):
        turn = 1 if y >= 0 else -1
        x, y = x + turn * truncated(y, 1 << i), y - turn * truncated(x, 1 << i)
        angle += turn * step
    return ((angle + 8 + 1048576) // 16 + 32768 * is_behind) % 65536


def way_in(of_direction, length):
    """So far in a direction: x and y."""
    is_behind = 16384 < of_direction < 49152
    left = signed(of_direction - 32768 * is_behind, 16) * 16
    x, y = length * 39797, 0
    for i, step in enumerate(TURNS):
        turn = 1 if left >= 0 else -1
        x, y = x - turn * truncated(y, 1 << i), y + turn * truncated(x, 1 << i)
        left -= turn * step
    return tuple(truncated(part + (32768 if part >= 0 else -32768), 65536) * (-1 if is_behind else 1)
                 for part in (x, y))


def level_of_direction(of_direction, bits):
    if bits >= 16:
        return of_direction << (bits - 16)
    return (of_direction + (1 << (15 - bits)) >> (16 - bits)) % (1 << bits)


def shorter_way(a, b, bits):
    return signed(b - a, bits)


def level_of_way(wx, wy, shift, bits):
    """The level of a way's direction, None when it is too short to have one."""
    if abs(wx) + abs(wy) < 12 << shift:
        return None
    return level_of_direction(direction(wx, wy), bits)


# Baselines ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Sample:
    tick: int
    place: tuple

    def text(self):
        return f"sample={self.tick},{','.join(map(str, self.place))}"


@dataclasses.dataclass(frozen=True)
class Enter:
    """What an enter tells."""

    slot: int
    number: int
    entity: object
    values: dict
    velocity: tuple
    spin: tuple = (0, 0, 0)


@dataclasses.dataclass(frozen=True)
class Update:
    """What an update tells, and which kinds of it: the sum of the MASK_ above."""

    slot: int
    mask: int
    told: dict


@dataclasses.dataclass(frozen=True)
class Leave:
    slot: int


@dataclasses.dataclass(frozen=True)
class Baseline:
    of_class: object
    number: int
    """Of the association."""
    values: dict
    samples: tuple
    mask: int
    plane: int
    z: int
    kept: int
    turned: int
    heading_tick: int
    tick_us: int
    turning: Turning = None
    """Of a class with an orientation."""

    @staticmethod
    def entered(record, tick, tick_us):
        of_class = record.entity.of_class
        place, shift = record.values[of_class.place().name], of_class.place().coding.shift
        finer = of_class.place().coding.finer()
        samples = (Sample(tick, place),)
        vx, vy, vz = record.velocity
        if any(record.velocity):
            back = moved_by(place, (-v << shift for v in record.velocity))
            samples += (Sample((tick - velocity_ticks(tick_us)) % WORD32, back),)
        return Baseline(of_class, record.number, record.values, samples, 0,
                        max(12, size_of((abs(vx) + abs(vy)) // 4)) + 8 * finer,
                        size_of(abs(vz) // 2) + 8 * finer, 24, 20,
                        tick, tick_us, entered_turning(record, tick, tick_us))

    def sizes_at(self):
        return Sizes(self.tick_us)

    def newest(self):
        return self.samples[0]

    def since_sample_us(self, tick):
        return time_us(self.newest().tick, tick, self.tick_us)

    def since_heading_us(self, tick):
        return time_us(self.heading_tick, tick, self.tick_us)

    def motion(self):
        """The way from the older sample to the newest."""
        if len(self.samples) < 2:
            return 0, 0, 0
        return ways(self.samples[1].place, self.samples[0].place)

    def is_moving(self):
        return any(self.motion()[:2])

    def is_rising(self):
        return self.motion()[2] != 0

    def is_active(self):
        return any(self.motion())

    def predicted(self, tick):
        newest, ahead_us = self.newest(), self.since_sample_us(tick)
        if len(self.samples) < 2 or self.samples[1].tick == newest.tick or ahead_us == 0:
            return newest.place
        ticks = min(ahead_us, EXTRAPOLATION_MAX_US) // self.tick_us
        between = (newest.tick - self.samples[1].tick) % WORD32
        moved = [carried(step, ticks, between) for step in self.motion()]
        if self.of_class.place().coding.tolerance:
            moved[2] = 0
        return moved_by(newest.place, moved)

    def guess(self, told, mask):
        """The level of the heading if it follows the motion of this record."""
        place, heading = self.of_class.place(), self.of_class.heading()
        wx, wy, _ = self.motion()
        if mask & MASK_POSITION and not mask & MASK_JUMP:
            wx, wy, _ = ways(self.newest().place, told[place.name])
        level = level_of_way(wx, wy, place.coding.shift, heading.coding.level_bits)
        return self.values[heading.name] if level is None else level

    def updated(self, record, tick):
        changes = {"mask": record.mask, "values": self.values | record.told}
        changes |= self.heading_changes(record, tick)
        changes |= self.orientation_changes(record, tick)
        if record.mask & MASK_POSITION:
            changes |= self.position_changes(record, tick)
        return dataclasses.replace(self, **changes)

    def heading_changes(self, record, tick):
        heading = self.of_class.heading()
        if not record.mask & MASK_HEADING or not heading or heading.is_once:
            return {}
        level, bits = record.told[heading.name], heading.coding.level_bits
        guess = self.guess(record.told, record.mask)
        kept = size_of(abs(shorter_way(self.values[heading.name], level, bits)))
        turned = size_of(abs(shorter_way(guess, level, bits)))
        kept = normal(kept, self.since_heading_us(tick), HEADING_GROWTH)
        return {"kept": faded(self.kept, kept), "turned": faded(self.turned, turned),
                "heading_tick": tick}

    def orientation_changes(self, record, tick):
        orientation = self.of_class.orientation()
        if not record.mask & MASK_HEADING or not orientation:
            return {}
        return {"turning": self.turning.updated(
            self.values[orientation.name], record.told[orientation.name], orientation.coding.level_bits,
            tick, bool(record.mask & MASK_JUMP), self.sizes_at())}

    def position_changes(self, record, tick):
        sample = Sample(tick, record.told[self.of_class.place().name])
        if record.mask & MASK_JUMP:
            return {"samples": (sample,)}
        x, y, z = self.residuals(sample)
        older = self.samples[1:] if self.newest().tick == tick else self.samples[:1]
        return {"samples": (sample, *older), "plane": faded(self.plane, (x + y + 1) // 2),
                "z": faded(self.z, z)}

    def residuals(self, sample):
        coding = self.of_class.place().coding
        coarse = coding.coarse_of(sample.place)
        shift = coding.finest + coarse
        half = (1 << shift) // 2
        passed_us = self.since_sample_us(sample.tick)
        for step in ways(self.predicted(sample.tick), sample.place):
            size = normal(size_of(abs(step) + half >> shift), passed_us, POSITION_GROWTH)
            yield min(255, size + 8 * coarse)

    def text(self, slot, tick):
        samples = " ".join(sample.text() for sample in self.samples)
        return (f"baseline slot={slot} class={self.of_class.name} mask={self.mask} "
                f"sizes={self.plane},{self.z},{self.kept},{self.turned} "
                f"heading_tick={self.heading_tick} {samples} "
                f"predicted={','.join(map(str, self.predicted(tick)))}"
                f"{self.turning.text() if self.turning else ''}")


def entered_turning(record, tick, tick_us):
    orientation = record.entity.of_class.orientation()
    if not orientation:
        return None
    return Turning.entered(record.values[orientation.name], record.spin, orientation.coding.level_bits, tick,
                           velocity_ticks(tick_us), Sizes(tick_us))


def carried(step, ticks, between):
    product = step * ticks
    moved = (abs(product) + between // 2) // between
    return moved if product >= 0 else -moved


# The baselines of all slots at a horizon ------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Known:
    """What applied packets up to a horizon have made of all slots."""

    slots: dict = dataclasses.field(default_factory=dict)
    key_base: int = 0
    tick: int = None
    """Of the newest of those packets."""

    def after(self, records, tick, tick_us):
        slots, key_base = dict(self.slots), self.key_base
        for record in records:
            if isinstance(record, Leave):
                slots.pop(record.slot, None)
            elif isinstance(record, Enter):
                slots[record.slot] = Baseline.entered(record, tick, tick_us)
                key_base = max(key_base, record.entity.name)
            else:
                slots[record.slot] = slots[record.slot].updated(record, tick)
        return Known(slots, key_base, tick)
