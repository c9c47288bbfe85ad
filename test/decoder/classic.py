# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Packets of the classic profile: docs/wire_format.md."""

from decoder.fields import WORD32, Bits, require
from decoder.packet import Packet
from decoder.session import Entity, Receiver

NAME_BITS_SHORT = 43


class ClassicPacket(Packet):
    VERSIONS = (1,)
    HAS_ARITHMETIC = False

    def __init__(self, receiver, data):
        super().__init__(receiver, data)
        self.bits = Bits(data)
        self.read_header()
        self.read_content()
        self.read_padding()

    def read_header(self):
        read = self.bits.read
        self.number, code, self.tick, self.wait = read(32), read(7), read(11), read(5)
        self.has_eye, self.leaves, self.enters = read(1), read(6), read(6)
        self.take_code(code)
        self.check_number()
        self.hello = self.read_hello() if self.has_hello else self.receiver.hello
        self.horizon = self.hello.session if self.has_hello else (self.number - code) % WORD32
        self.lines.append(self.header_text())
        if self.has_hello:
            self.check_hello()
            self.lines.append(self.hello.text())
        self.check_order()

    def header_text(self):
        return (f"header number={self.number} horizon={self.horizon} tick={self.tick} "
                f"wait={self.wait} probe={self.is_probe:d} hello={self.has_hello:d} "
                f"eye={self.has_eye} leaves={self.leaves} enters={self.enters}")

    def read_content(self):
        if self.is_probe:
            require(not (self.has_eye or self.leaves or self.enters), "a probe with content")
            return
        self.read_eye()
        self.read_group(self.read_leave, lambda left: left > 0, self.leaves)
        self.read_group(self.read_enter, lambda left: left > 0, self.enters)
        self.read_group(self.read_update, lambda _left: self.bits.left() >= 8, 0)
        self.leave_displaced()

    def read_padding(self):
        count = self.bits.left()
        require(count < 8, f"{count} bits behind the end")
        require(self.bits.read(count) == 0, "padding that is not zero")
        self.lines.append(f"padding bits={count}")

    # Records

    def read_group(self, read_record, goes_on, count):
        self.slot_before = -1
        while goes_on(count):
            read_record(self.bits.at)
            count -= 1

    def read_record_slot(self):
        slot, association, state = self.read_slot()
        self.touch(slot)
        return slot, association, state

    def read_leave(self, start):
        slot, association, state = self.read_record_slot()
        self.leave(slot, state, association)
        self.lines.append(f"leave slot={slot} association={association} "
                          f"bits={self.bits.at - start}")

    def read_enter(self, start):
        slot, association, state = self.read_record_slot()
        entity = self.read_entity()
        number = self.number_of_enter(slot, state, association, entity)
        jump, is_full = self.read_time()
        told = self.read_position(entity.of_class, is_full) | self.read_rest(entity.of_class)
        self.enter(slot, number, entity, told)
        self.lines.append(
            f"enter slot={slot} association={association} class={entity.of_class.name} "
            f"name={entity.name} jump={jump} bits={self.bits.at - start} : "
            + entity.of_class.told_text(told))

    def read_entity(self):
        index = self.bits.read(8)
        require(index < len(self.receiver.classes), f"class {index}")
        is_long = self.bits.read(1)
        name = self.bits.read(64 if is_long else NAME_BITS_SHORT)
        require(not is_long or name >> NAME_BITS_SHORT, "a long name that need not be")
        return Entity(name, self.receiver.classes[index])

    def read_update(self, start):
        slot, association, state = self.read_record_slot()
        require(state.distance(association) == 0 and state.entity is not None,
                f"slot {slot}: an impossible update")
        of_class = state.entity.of_class
        jump, is_full = self.read_time()
        has_position = self.bits.read(1)
        require(has_position or not (jump or is_full), "a jump or full without a position")
        told = self.read_position(of_class, is_full) if has_position else {}
        told |= self.read_rest(of_class)
        require(told, "an update that tells nothing")
        self.update(slot, state, told)
        self.lines.append(
            f"update slot={slot} association={association} class={of_class.name} jump={jump} "
            f"bits={self.bits.at - start} : " + of_class.told_text(told))

    def read_time(self):
        if not self.bits.read(1):
            return 0, 0
        jump, is_full = self.bits.read(1), self.bits.read(1)
        require(jump or is_full, "time bits that say nothing")
        return jump, is_full

    def read_position(self, of_class, is_full):
        place = of_class.place()
        return {place.name: place.coding.read(self, is_full)}

    def read_rest(self, of_class):
        if not self.bits.read(1):
            return {}
        present = [a_property for a_property in of_class.rest() if self.bits.read(1)]
        require(present, "a rest of which nothing is told")
        return {a_property.name: a_property.coding.read(self) for a_property in present}


class ClassicReceiver(Receiver):
    PACKET = ClassicPacket
