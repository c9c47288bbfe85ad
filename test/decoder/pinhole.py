# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Packets of the pinhole profile: docs/wire_pinhole.md."""

import collections
import dataclasses

from decoder.rotation import read_entered_orientation, read_orientation
from decoder.baseline import (MASK_HEADING, MASK_JUMP, MASK_OTHERS, MASK_POSITION, POSITION_GROWTH,
                              Enter, Known, Leave, Update, log8, stretched)
from decoder.pinhole_values import (COARSE_MAX, MOTION_AHEAD, allowed_coarse, differing_from, reach,
                                  read_entered_heading, read_entered_velocity, read_heading,
                                  read_heading_beside, read_other, read_others_beside, read_place,
                                  read_place_beside, read_position, read_velocity_beside)
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
    # by whether the class has a heading or an orientation, and others
    (False, False): ("MASK_PLACE", (1, 9)),
    (True, False): ("MASK_HEADING", (1, 2, 3, 9, 11)),
    (False, True): ("MASK_OTHERS", (1, 4, 5, 9, 13)),
    (True, True): ("MASK_ALL", (1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15)),
}


@dataclasses.dataclass(frozen=True)
class Before:
    """The leave or enter before one of the same kind; of an enter also what it told, and what it
    had in common with the one before itself."""
    slot: int
    association: int
    is_next: bool
    entity: Entity = None
    place: tuple = None
    velocity: tuple = None
    level: int = None  # of its heading
    values: dict = None  # of the others
    coarse: int = 0
    is_flat: bool = False
    is_beside: bool = False
    rotation: int = 0  # the symbol that told its orientation
    spin: tuple = (0, 0, 0)
    differing: frozenset = frozenset()


Spread = collections.namedtuple("Spread", "coarse place velocity heading name motion")


class PinholePacket(Packet):
    VERSIONS = (6, 7)
    HAS_ARITHMETIC = True

    def __init__(self, receiver, data):
        super().__init__(receiver, data)
        self.bits = raw_bits(data)
        self.records = []
        self.told_updates = {}
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
        self.read_stated_step()
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

    def read_stated_step(self):
        self.step = 0
        if any(of_class.place().coding.finer() for of_class in self.receiver.classes):
            self.step = self.bits.read(3)
            self.lines.append(f"step {self.step}")

    def read_spread(self):
        """How far entities that enter together are apart."""
        self.spread = Spread(0, 0, 0, 0, 0, 0)
        if self.enters < 2:
            return
        coarse = read_gamma(self.bits, 0) if self.hello.precision else 0
        require(coarse <= COARSE_MAX, f"enters as coarse as {coarse}")
        self.spread = Spread(coarse, 0, 0, 0, 0, 0)
        if self.bits.read(1):
            stated = [self.bits.read(bits) for bits in (4, 4, 4, 5, 2)]
            require(any(stated), "a spread of nothing")
            require(stated[-1] <= MOTION_AHEAD, "a motion that there is not")
            self.spread = Spread(coarse, *stated)
        self.lines.append("spread coarse={} place={} velocity={} heading={} name={} motion={}".format(
            *self.spread))

    def read_record_slot(self, is_enter):
        start = self.bits.at
        if self.before is None:
            slot = self.bits.read(self.hello.slot_bits())
        else:
            gap = self.coder.length("SLOT", 2 * is_enter + self.before.is_next)
            slot = self.slot_before + 1 + gap
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
        start, slot, association, state = self.read_record_slot(0)
        self.leave(slot, state, association)
        self.before = Before(slot, association, self.is_next(slot))
        self.records.append(Leave(slot))
        self.lines.append(f"leave slot={slot} association={association} "
                          f"raw={self.bits.at - start}")

    def read_enter(self):
        start, slot, association, state = self.read_record_slot(1)
        require(slot not in self.known.slots, f"slot {slot} is entered at the horizon")
        of_class = self.receiver.classes[self.coder.uniform(len(self.receiver.classes))]
        entity = Entity(self.read_name(), of_class)
        number = self.number_of_enter(slot, state, association, entity)
        place, coarse = self.read_entered_place(slot, of_class)
        jump = self.coder.flag("ENTER_JUMP", 0)
        level, velocity, values, turned = self.read_entered_values(of_class)
        rotation, spin = turned[1:]
        told = {of_class.place().name: place} | self.told_of(of_class, level, values | self.named(of_class, turned))
        values |= self.named(of_class, turned)
        self.enter(slot, number, entity, told)
        first_coarse = self.spread.coarse if self.before is None else coarse
        self.before = self.before_of(Before(slot, association, self.is_next(slot), entity, place,
                                            velocity, level, values, first_coarse, rotation=rotation,
                                            spin=spin))
        self.records.append(Enter(slot, number, entity, self.changes[slot].values, velocity, spin))
        self.lines.append(
            f"enter slot={slot} association={association} class={of_class.name} "
            f"name={entity.name} jump={jump} coarse={coarse} "
            f"velocity={','.join(map(str, velocity))} "
            f"{self.rotation_text(of_class, rotation, spin)}"
            f"raw={self.bits.at - start} : {of_class.told_text(told)}")

    def before_of(self, entered):
        """With what it has in common with the one before."""
        if self.before is None:
            return entered
        is_beside = self.is_beside(entered.entity.of_class)
        return dataclasses.replace(
            entered, is_flat=entered.place[2] == self.before.place[2], is_beside=is_beside,
            differing=frozenset(differing_from(entered.entity.of_class.others(), self.before.values,
                                               entered.values) if is_beside else ()))

    @staticmethod
    def told_of(of_class, level, values):
        """What is not initial."""
        heading = of_class.heading()
        told = {heading.name: level} if heading and level != heading.coding.initial else {}
        others = of_class.others() + ([of_class.orientation()] if of_class.orientation() else [])
        return told | {other.name: values[other.name] for other in others
                       if values[other.name] != other.coding.initial}

    @staticmethod
    def named(of_class, turned):
        return {of_class.orientation().name: turned[0]} if of_class.orientation() else {}

    @staticmethod
    def rotation_text(of_class, rotation, spin):
        return f"rotation={rotation} spin={','.join(map(str, spin))} " if of_class.orientation() else ""

    def read_entered_place(self, slot, of_class):
        if self.before is None:
            return read_place(self, of_class.place().coding), 0
        return read_place_beside(self, of_class.place().coding, self.is_next(slot))

    def is_beside(self, of_class):
        return self.before is not None and self.before.entity.of_class is of_class

    def read_name(self):
        if self.before is not None:
            return self.read_name_beside(self.before.entity.name)
        base = self.known.key_base
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

    def read_entered_values(self, of_class):
        """The level of the heading, the velocity, the others, the orientation with its symbol and spin."""
        level, turned = None, (None, 0, (0, 0, 0))
        if self.is_beside(of_class):
            if of_class.heading():
                level = read_heading_beside(self, of_class)
            if of_class.orientation():
                turned = read_entered_orientation(self, of_class, True)
            velocity = read_velocity_beside(self, of_class, level)
            return level, velocity, read_others_beside(self, of_class), turned
        velocity = read_entered_velocity(self)
        if of_class.heading():
            level = read_entered_heading(self, of_class, velocity)
        if of_class.orientation():
            turned = read_entered_orientation(self, of_class, False)
        return level, velocity, self.read_entered_others(of_class.others()), turned

    def read_entered_others(self, others):
        values = {other.name: other.coding.initial for other in others}
        if others and self.coder.flag("ENTER_OTHERS", 0):
            present = [other for other in others if self.bits.read(1)]
            require(present, "others of which none is told")
            for other in present:
                values[other.name] = other.coding.read(self)
                require(values[other.name] != other.coding.initial, "an initial value that is told")
        return values

    # Updates

    def read_known(self, slot, baseline):
        urgency = self.urgency(baseline)
        self.lines.append(f"{baseline.text(slot, self.tick)} "
                          f"coarse={allowed_coarse(self, baseline)} urgency={urgency}")
        if self.density and self.coder.told(16 * (self.density - 1) + urgency):
            self.read_update(slot, baseline)

    def urgency(self, baseline):
        newest, shift = baseline.newest(), baseline.of_class.place().coding.finest
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
        told, coarse, turned, is_carried = self.read_told(baseline, mask, others)
        self.update(slot, state, told)
        self.told_updates[slot] = told
        self.records.append(Update(slot, mask, told))
        self.lines.append(
            f"update slot={slot} association={baseline.number % 4} class={of_class.name} "
            f"jump={int(mask & MASK_JUMP != 0)} coarse={coarse} "
            f"{'' if turned is None else f'rotation={turned} '}{'carried=1 ' if is_carried else ''}raw={self.bits.at - start} : "
            + of_class.told_text(told))

    def read_mask(self, baseline):
        of_class = baseline.of_class
        family, masks = MASKS[of_class.facing() is not None, bool(of_class.others())]
        kinds = ((MASK_OTHERS, 3), (MASK_HEADING, 2), (MASK_POSITION, 1))
        kind = next((kind for bit, kind in kinds if baseline.mask & bit), 0)
        return masks[self.coder.symbol(family, 2 * kind + baseline.is_active())]

    def read_flagged_others(self, others):
        told = []
        for other in others:
            place = self.receiver.number_of[id(other)], 1 if told else 0
            if self.coder.symbol("OWN", place):
                told.append(other)
        require(told, "a record of others without any")
        return told

    def has_own_flags(self, others):
        own = self.receiver.tables.models["OWN"]
        return self.hello.version == 6 and all((self.receiver.number_of[id(other)], behind) in own
                                                 for other in others for behind in (0, 1))

    def read_which_others(self, others):
        count = len(others)
        if self.has_own_flags(others):
            return self.read_flagged_others(others)
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
        of_class, told, coarse, turned, carried = baseline.of_class, {}, 0, None, None
        place, heading, orientation = of_class.place(), of_class.heading(), of_class.orientation()
        if mask & MASK_JUMP:
            told[place.name] = read_place(self, place.coding)
        elif mask & MASK_POSITION:
            told[place.name], coarse, carried = read_position(self, baseline)
        if mask & MASK_HEADING and orientation:
            told[orientation.name], turned = read_orientation(self, baseline, baseline.sizes_at(),
                                                                carried)
        elif mask & MASK_HEADING:
            told[heading.name] = read_heading(self, baseline, told, mask)
        for other in others:
            told[other.name] = read_other(self, other, baseline.values[other.name])
        return told, coarse, turned, carried is not None


class PinholeReceiver(Receiver):
    """Keeps what it applied until a later packet states a horizon that reaches it."""

    PACKET = PinholePacket

    def __init__(self, classes, ground, tables):
        super().__init__(classes, ground)
        self.tables = self.learned.tables(tables)
        self.number_of = {id(p): i for i, p in enumerate(p for c in classes for p in c.properties)}
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
