# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What the packets of both profiles have in common: the order of their numbers, the hello, and
which records are possible. "What the receiver does" in docs/wire_format.md."""

from decoder.fields import WORD32, ahead, require, signed
from decoder.session import ASSOCIATION_BITS, Hello, Slot

PACKET_BYTES_MAX = 1200
WINDOW = 64
PROBE, PACKET_LAST, HELLO_PROBE, HELLO_PACKET = 0, 64, 126, 127
TICK_US_MIN, TICK_US_MAX = 1_000, 10_000_000


class Packet:
    """Reads one packet against what its receiver knows, and changes nothing there.

    A profile makes `bits`, reads the header, and calls these in the order of its page.
    """

    VERSIONS = ()
    HAS_ARITHMETIC = None

    def __init__(self, receiver, data):
        require(1 <= len(data) <= PACKET_BYTES_MAX, f"{len(data)} bytes")
        self.receiver, self.ground = receiver, receiver.ground
        self.lines = []
        self.own_eye = self.eye = None
        self.changes = {}
        self.touched, self.left, self.entered = set(), set(), {}
        self.slot_before = -1

    # Header

    def take_code(self, code):
        require(code <= PACKET_LAST or code >= HELLO_PROBE, f"horizon code {code}")
        self.is_probe = code in (PROBE, HELLO_PROBE)
        self.has_hello = code in (HELLO_PROBE, HELLO_PACKET)
        require(self.has_hello or self.receiver.hello is not None, "no hello yet: dropped")

    def check_number(self):
        newest = self.receiver.newest
        if newest is not None and not (self.is_probe and self.number == newest):
            require(ahead(self.number, newest), f"number {self.number} is old: dropped")

    def read_hello(self):
        read = self.bits.read
        version = read(8)
        require(version in self.VERSIONS, f"version {version}")
        return Hello(version, read(16), read(32), read(32), read(64))

    def check_hello(self):
        hello, schema_has = self.hello, self.receiver.fingerprint
        require(2 <= hello.slots <= self.receiver.SLOTS_MAX, f"{hello.slots} slots")
        require(TICK_US_MIN <= hello.tick_us <= TICK_US_MAX, f"ticks of {hello.tick_us} us")
        require(1 <= (self.number - hello.session) % WORD32 <= WINDOW,
                f"number {self.number} in session {hello.session}")
        require(hello.fingerprint == schema_has, f"fingerprint 0x{hello.fingerprint:016x} in the "
                f"hello, the schema has 0x{schema_has:016x}")
        require(self.receiver.hello in (None, hello), "another hello than the first one")

    def check_order(self):
        newest, last = self.receiver.newest, self.receiver.horizon
        if newest is None:
            newest = last = self.hello.session
        if self.is_probe:
            require((self.number - newest) % WORD32 <= WINDOW, "a probe too far ahead")
            return
        require(not ahead(self.horizon, newest), f"horizon {self.horizon} ahead of the newest")
        require(not ahead(last, self.horizon), f"horizon {self.horizon} behind the last, {last}")

    def read_eye(self):
        if self.has_eye:
            self.own_eye = tuple(signed(self.bits.read(32), 32) for _ in range(3))
            self.lines.append("eye x={} y={} z={}".format(*self.own_eye))
        self.eye = self.own_eye or self.receiver.eye_at(self.horizon)

    # Records

    def state_of(self, slot):
        """What the receiver has there."""
        require(slot < self.hello.slots, f"slot {slot} of {self.hello.slots}")
        return self.receiver.slots.get(slot, Slot())

    def read_slot(self):
        """Slot and association of a field, and what the receiver has there."""
        slot = self.bits.read(self.hello.slot_bits())
        return slot, self.bits.read(ASSOCIATION_BITS), self.state_of(slot)

    def touch(self, slot):
        require(slot > self.slot_before, f"slot {slot} behind slot {self.slot_before}")
        require(slot not in self.touched, f"slot {slot} twice")
        self.slot_before = slot
        self.touched.add(slot)

    def leave(self, slot, state, association):
        self.left.add(slot)
        distance = state.distance(association)
        if distance == 0 and state.number != 0:
            self.changes[slot] = Slot(state.number)
            return
        require(distance == 1 and state.entity is None, f"slot {slot}: an impossible leave")
        self.changes[slot] = Slot(state.next_number())

    def number_of_enter(self, slot, state, association, entity):
        require(entity.name not in self.entered, f"name {entity.name} enters twice")
        self.entered[entity.name] = slot
        distance = state.distance(association)
        if distance == 1 and state.entity is None:
            return state.next_number()
        require(distance == 0 and state.entity is not None and state.entity.name == entity.name
                and state.entity.of_class is entity.of_class, f"slot {slot}: an impossible enter")
        return state.number

    def enter(self, slot, number, entity, told):
        """A complete state: what is absent has its initial value."""
        values = {}
        for a_property in entity.of_class.properties:
            if a_property.name not in told:
                values[a_property.name] = a_property.coding.initial
                continue
            values[a_property.name] = told[a_property.name]
            require(a_property is entity.of_class.place()
                    or told[a_property.name] != a_property.coding.initial,
                    f"an enter that tells the initial value of {a_property.name}")
        self.changes[slot] = Slot(number, entity, values)

    def update(self, slot, state, told):
        self.changes[slot] = Slot(state.number, state.entity, state.values | told)

    def leave_displaced(self):
        """Slots that showed the name of an enter elsewhere have been left."""
        for slot, state in self.receiver.slots.items():
            if state.entity is None or self.entered.get(state.entity.name, slot) == slot:
                continue
            require(slot in self.left or slot not in self.touched,
                    f"slot {slot} shows a name that enters elsewhere")
            self.changes[slot] = Slot(state.number)
