# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Packets of the pinhole profile: docs/wire_pinhole.md."""

import collections
import dataclasses

from decoder.baseline import (MASK_HEADING, MASK_JUMP, MASK_OTHERS, MASK_POSITION, POSITION_GROWTH,
                              Enter, Known, Leave, Update, log8, stretched)
from decoder.coded_values import (allowed_coarse, reach, read_entered_heading, read_heading,
                                  read_other, read_place, read_place_beside, read_position)
from decoder.fields import WORD32, WORD64, ahead, read_gamma, require, signed, width
from decoder.packet import HELLO_PACKET, Packet
from decoder.range_coder import make_coder, raw_bits
from decoder.session import ASSOCIATION_BITS, Entity, Receiver

RECORDS_MAX = 126
TICK_WHOLE = 2047
DISTANCE_MIN_MM = 1000
URGENCY_MAX = 15
FLAGS_FOLLOW = 3
MASKS = {
    # by whether the class has a heading, and others
    (False, False): ("MASK_PLACE", (1, 9)),
    (True, False): ("MASK_HEADING", (1, 2, 3, 9, 11)),
    (False, True): ("MASK_OTHERS", (1, 4, 5, 9, 13)),
    (True, True): ("MASK_ALL", (1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15)),
}


@dataclasses.dataclass(frozen=True)
class Before:
    """The leave or enter before one of the same kind; of an enter also what it told."""
    slot: int
    association: int
    entity: Entity = None
    place: tuple = None
    velocity: tuple = None
    level: int = None  # of its heading


Spread = collections.namedtuple("Spread", "place velocity name")


def entered_level(of_class, told):
    heading = of_class.heading()
    if heading is None:
        return None
    return told.get(heading.name, heading.coding.initial)


class CodedPacket(Packet):
    VERSIONS = (2, 3)
    HAS_ARITHMETIC = True

    def __init__(self, receiver, data):
        super().__init__(receiver, data)
        self.bits = raw_bits(data)
        self.records = []
        self.read_header()
        self.coder = make_coder(self.hello.version, data, self.bits, receiver.tables)
        if not self.is_probe:
            self.read_content()
        self.lines.append("end symbols={} raw={} spare={}".format(*self.coder.check_end()))

    # Header

    def read_header(self):
        read = self.bits.read
        number, code, self.tick_field, self.wait = read(16), read(7), read(11), read(5)
        self.has_eye, self.density = read(1), read(4)
        self.leaves, self.enters = read_gamma(self.bits, 0), read_gamma(self.bits, 0)
        require(max(self.leaves, self.enters) <= RECORDS_MAX, "too many records")
        self.take_code(code)
        self.hello = self.read_hello() if self.has_hello else self.receiver.hello
        self.number = self.whole_number(number)
        self.check_number()
        self.horizon = self.hello.session if self.has_hello else (self.number - code) % WORD32
        if self.has_hello:
            self.check_hello()
        self.check_order()
        self.read_rest_of_header(code)

    def read_hello(self):
        return dataclasses.replace(super().read_hello(), precision=self.bits.read(16))

    def whole_number(self, field):
        near = self.hello.session if self.has_hello else self.receiver.newest
        return (near + signed(field - near, 16)) % WORD32

    def read_rest_of_header(self, code):
        if self.is_probe:
            require(not (self.has_eye or self.density or self.leaves or self.enters
                         or self.tick_field), "a probe with content")
        else:
            require(code != HELLO_PACKET or self.tick_field == TICK_WHOLE, "a hello without a tick")
            self.known = self.receiver.known_at(self.horizon)
            self.tick = self.read_tick()
        self.lines.append(self.header_text())
        if self.has_hello:
            self.lines.append(self.hello.text())
        self.read_eye()

    def read_tick(self):
        base, last = self.known.tick, self.receiver.last_tick
        if self.tick_field == TICK_WHOLE:
            tick = self.bits.read(32)
            require(base is None or (tick - base) % WORD32 >= TICK_WHOLE, "a whole tick so near")
        else:
            require(base is not None, "a tick that builds on none")
            tick = (base + self.tick_field) % WORD32
        require(last is None or (tick - last) % WORD32 < 1 << 31, f"tick {tick} goes back")
        return tick

    def header_text(self):
        whole = "" if self.is_probe else f" whole={self.tick}"
        return (f"header number={self.number} horizon={self.horizon} tick={self.tick_field} "
                f"wait={self.wait} probe={self.is_probe:d} hello={self.has_hello:d} "
                f"eye={self.has_eye} density={self.density} leaves={self.leaves} "
                f"enters={self.enters}{whole}")

    # Leaves and enters

    def read_content(self):
        self.before = None
        for _ in range(self.leaves):
            self.read_leave()
        self.slot_before, self.before = -1, None
        self.read_spread()
        for _ in range(self.enters):
            self.read_enter()
        self.slot_before = -1
        for slot, baseline in sorted(self.known.slots.items()):
            self.read_known(slot, baseline)
        self.leave_displaced()

    def read_spread(self):
        """How far those who enter together are apart."""
        self.spread = Spread(0, 0, 0)
        if self.enters < 2:
            return
        if self.bits.read(1):
            self.spread = Spread(self.bits.read(4), self.bits.read(4), self.bits.read(5))
            require(any(self.spread), "a spread of nothing")
        self.lines.append("spread place={} velocity={} name={}".format(*self.spread))

    def read_who(self, is_enter):
        start = self.bits.at
        has_before = self.before is not None
        slot = self.slot_before + 1 + self.coder.length("SLOT", 2 * is_enter + has_before)
        state = self.state_of(slot)
        self.touch(slot)
        return start, slot, self.read_association(slot), state

    def is_next(self, slot):
        return self.before is not None and slot == self.before.slot + 1

    def read_association(self, slot):
        if not self.is_next(slot):
            return self.bits.read(ASSOCIATION_BITS)
        if self.coder.flag("ASSOCIATION", 0):
            return self.before.association
        association = self.bits.read(ASSOCIATION_BITS)
        require(association != self.before.association, "an association that is that of the one before")
        return association

    def read_leave(self):
        start, slot, association, state = self.read_who(0)
        self.leave(slot, state, association)
        self.before = Before(slot, association)
        self.records.append(Leave(slot))
        self.lines.append(f"leave slot={slot} association={association} "
                          f"raw={self.bits.at - start}")

    def read_enter(self):
        start, slot, association, state = self.read_who(1)
        require(slot not in self.known.slots, f"slot {slot} is entered at the horizon")
        of_class = self.receiver.classes[self.coder.uniform(len(self.receiver.classes))]
        entity = Entity(self.read_name(), of_class)
        number = self.number_of_enter(slot, state, association, entity)
        place = self.read_entered_place(slot, of_class)
        told = {of_class.place().name: place}
        jump = self.coder.flag("ENTER_JUMP", 0)
        velocity = self.read_velocity(slot)
        told |= self.read_entered_values(of_class, velocity)
        self.enter(slot, number, entity, told)
        self.before = Before(slot, association, entity, place, velocity, entered_level(of_class, told))
        self.records.append(Enter(slot, number, entity, self.changes[slot].values, velocity))
        self.lines.append(
            f"enter slot={slot} association={association} class={of_class.name} "
            f"name={entity.name} jump={jump} velocity={','.join(map(str, velocity))} "
            f"raw={self.bits.at - start} : {of_class.told_text(told)}")

    def read_entered_place(self, slot, of_class):
        if self.before is None:
            return read_place(self, of_class.place().coding)
        return read_place_beside(self, of_class.place().coding, self.is_next(slot))

    def read_name(self):
        if self.before is not None:
            return self.read_name_beside(self.before.entity.name)
        base = self.known.name_base
        if base < WORD64 - 1 and self.coder.flag("NAME", 0):
            name = base + 1 + self.coder.length("NAME_ABOVE", 0)
            require(name < WORD64, "a name above 64 bits")
            return name
        if base < WORD32 - 1:
            return self.coder.uniform(base + 1)
        name = self.bits.read(width(base))
        require(name <= base, "a name above the base")
        return name

    def read_name_beside(self, beside):
        by_spread = 1 + self.spread.name if self.spread.name else None
        if beside < WORD64 - 1 and self.coder.flag("NAME", 1):
            name = beside + 1 + self.coder.length("NAME_BESIDE", by_spread or 1)
        else:
            name = beside - self.coder.length("NAME_BESIDE", by_spread or 0)
        require(0 <= name < WORD64, f"a name of {name}")
        return name

    def read_velocity(self, slot):
        before = self.before
        model = 0 if before is None else 1 if not any(before.velocity) else 2
        if not self.coder.flag("ENTER_MOVING", model):
            return 0, 0, 0
        if self.is_next(slot) or before is not None and self.spread.velocity:
            velocity = self.read_velocity_beside(before.velocity if self.is_next(slot) else (0, 0, 0))
        else:
            velocity = tuple(self.coder.signed(self.coder.length("ENTER_VELOCITY", axis))
                             for axis in range(3))
        require(any(velocity), "a velocity of 0")
        require(all(abs(part) < 1 << 15 for part in velocity), "a velocity that is too large")
        return velocity

    def read_velocity_beside(self, beside):
        plane = 2 + self.spread.velocity if self.spread.velocity else 0
        models = plane, plane, 1 if beside[2] == 0 else 2
        return tuple(part + self.coder.signed(self.coder.length("BESIDE_VELOCITY", model))
                     for part, model in zip(beside, models))

    def read_entered_values(self, of_class, velocity):
        told, heading, others = {}, of_class.heading(), of_class.others()
        if heading:
            level = read_entered_heading(self, of_class, velocity)
            if level is not None:
                told[heading.name] = level
        if others and self.coder.flag("ENTER_OTHERS", 0):
            present = [other for other in others if self.bits.read(1)]
            require(present, "others of which none is told")
            for other in present:
                told[other.name] = other.coding.read(self)
        return told

    # Updates

    def read_known(self, slot, baseline):
        urgency = self.urgency(baseline)
        self.lines.append(f"{baseline.text(slot, self.tick)} "
                          f"coarse={allowed_coarse(self, baseline)} urgency={urgency}")
        if self.density and self.coder.told(16 * (self.density - 1) + urgency):
            self.read_update(slot, baseline)

    def urgency(self, baseline):
        newest, shift = baseline.newest(), baseline.of_class.place().coding.shift
        distance = max(DISTANCE_MIN_MM, reach(self.eye, newest.place))
        size = stretched(baseline.plane, baseline.since_sample_us(self.tick), POSITION_GROWTH)
        size += 8 * (shift + 15) - log8(distance)
        urgency = 0 if size <= 0 else min(URGENCY_MAX, size // 8)
        return max(4, urgency) if baseline.is_active() else urgency // 4

    def read_update(self, slot, baseline):
        state, start, of_class = self.state_of(slot), self.bits.at, baseline.of_class
        require(state.entity is not None and state.number == baseline.number,
                f"slot {slot}: an impossible update")
        self.touch(slot)
        mask = self.read_mask(baseline)
        others = self.read_which_others(of_class.others()) if mask & MASK_OTHERS else []
        told, coarse = self.read_told(baseline, mask, others)
        self.update(slot, state, told)
        self.records.append(Update(slot, mask, told))
        self.lines.append(
            f"update slot={slot} association={baseline.number % 4} class={of_class.name} "
            f"jump={int(mask & MASK_JUMP != 0)} coarse={coarse} raw={self.bits.at - start} : "
            + of_class.told_text(told))

    def read_mask(self, baseline):
        of_class = baseline.of_class
        family, masks = MASKS[of_class.heading() is not None, bool(of_class.others())]
        kinds = ((MASK_OTHERS, 3), (MASK_HEADING, 2), (MASK_POSITION, 1))
        kind = next((kind for bit, kind in kinds if baseline.mask & bit), 0)
        return masks[self.coder.symbol(family, 2 * kind + baseline.is_active())]

    def read_which_others(self, others):
        count = len(others)
        told = 1
        if count in (2, 3):
            told = 1 + self.coder.symbol(f"OTHERS_{count}", 0)
        elif count > 3:
            told = 1 + self.coder.symbol("OTHERS_MANY", 0)
            if told == 1 + FLAGS_FOLLOW:
                flagged = [other for other in others if self.bits.read(1)]
                require(len(flagged) > FLAGS_FOLLOW, "flags where few are told")
                return flagged
        return self.read_named_others(others, told)

    def read_named_others(self, others, told):
        named, first = [], 0
        for left in range(told, 0, -1):
            first += self.coder.uniform(len(others) - first - (left - 1))
            named.append(others[first])
            first += 1
        return named

    def read_told(self, baseline, mask, others):
        of_class, told, coarse = baseline.of_class, {}, 0
        place, heading = of_class.place(), of_class.heading()
        if mask & MASK_JUMP:
            told[place.name] = read_place(self, place.coding)
        elif mask & MASK_POSITION:
            told[place.name], coarse = read_position(self, baseline)
        if mask & MASK_HEADING:
            told[heading.name] = read_heading(self, baseline, told, mask)
        for other in others:
            told[other.name] = read_other(self, other, baseline.values[other.name])
        return told, coarse


class CodedReceiver(Receiver):
    """Keeps what it applied until a later packet states a horizon that reaches it."""

    PACKET = CodedPacket

    def __init__(self, classes, ground, tables):
        super().__init__(classes, ground)
        self.tables = tables
        self.known, self.last_tick = Known(), None
        self.pending = []

    def known_at(self, horizon):
        known = self.known
        for packet in self.pending:
            if ahead(packet.number, horizon):
                break
            known = known.after(packet.records, packet.tick, packet.hello.tick_us)
        return known

    def apply_content(self, packet):
        super().apply_content(packet)
        self.known = packet.known
        self.pending = [kept for kept in self.pending if ahead(kept.number, packet.horizon)]
        self.pending.append(packet)
        self.last_tick = packet.tick
