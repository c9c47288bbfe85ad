# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What a receiver keeps of one session, in both profiles: "What the receiver does" in
docs/wire_format.md."""

import dataclasses
import struct

from decoder.fields import WORD32, WORD64, ahead, width
from decoder.fingerprint import fingerprint_of
from decoder.learned import Learned
from decoder.schema_text import Class

ASSOCIATION_BITS = 2


@dataclasses.dataclass(frozen=True)
class Hello:
    version: int
    slots: int
    tick_us: int
    session: int
    fingerprint: int
    precision: int = None
    """The pinhole profile's; None in classic."""

    def slot_bits(self):
        return max(8, width(self.slots - 1))

    def text(self):
        said = (f"hello version={self.version} slots={self.slots} tick_us={self.tick_us} "
                f"session={self.session} fingerprint=0x{self.fingerprint:016x}")
        return said if self.precision is None else f"{said} precision={self.precision}"


@dataclasses.dataclass(frozen=True)
class Entity:
    name: int
    of_class: Class


@dataclasses.dataclass(frozen=True)
class Slot:
    number: int = 0
    """Of the association, all 32 bits."""
    entity: Entity = None
    values: dict = dataclasses.field(default_factory=dict)
    """Of the entity that it shows, by the names of the properties."""

    def distance(self, association):
        return (association - self.number) % (1 << ASSOCIATION_BITS)

    def next_number(self):
        return (self.number + 1) % WORD32

    def text(self, slot):
        of_class = self.entity.of_class
        return (f"slot={slot} association={self.number} class={of_class.name} "
                f"name={self.entity.name} : {of_class.told_text(self.values)}")


class Receiver:
    """As far as reading depends on it, and the values that it shows."""

    SLOTS_MAX = 1024
    """What it can hold."""

    def __init__(self, classes, ground):
        self.classes, self.ground = classes, ground
        self.learned = Learned()
        for words in classes.model_lines:
            self.learned.take_line(words, classes)
        self.fingerprint = self.learned.fingerprint(fingerprint_of(classes))
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

    def shown_text(self):
        """A line for each slot that shows an entity."""
        return "".join(state.text(slot) + "\n" for slot, state in sorted(self.slots.items())
                       if state.entity is not None)
