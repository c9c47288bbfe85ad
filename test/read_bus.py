#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second reader of the messages between machines, made from docs/distributed.md alone. Standard library only.

    test/read_bus.py --check [FILE]    every message of the golden files says what stands behind it
    test/read_bus.py --flip [FILE]     every single changed bit is noticed: refused, or another meaning
    test/read_bus.py HEX ...           prints what messages say

Without a FILE, both golden files: messages, and records and tickets, which a FILE named records.txt has.
"""

import pathlib
import sys

import second_reader
from second_reader import Refused

FOLDER = pathlib.Path(__file__).resolve().parent / "golden" / "bus"
MESSAGE_MAX = 1048576
NO_REGION = 65535
NAME_CHARACTERS = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
EVERY_CELL = (-(2**31) + 1, -(2**31) + 1)


class Fields:
    """What is left of a message. Whole bytes, the lowest first."""

    def __init__(self, data):
        self.data = data

    def raw(self, count):
        if len(self.data) < count:
            raise Refused("cut off")
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def number(self, width, low=0, high=None):
        value = int.from_bytes(self.raw(width), "little")
        if value < low or high is not None and value > high:
            raise Refused(f"{value} is not {low}..{high}")
        return value

    def signed(self):
        return int.from_bytes(self.raw(4), "little", signed=True)

    def bool(self):
        return self.number(1, 0, 1)

    def region(self):
        return self.number(2, 0, NO_REGION - 1)

    def epoch(self):
        return self.number(4, 1)

    def place(self):
        return f"{self.signed()} {self.signed()} {self.signed()}"

    def name(self, or_none=False):
        name = self.raw(self.number(1, 0 if or_none else 1, 31))
        if not set(name) <= NAME_CHARACTERS:
            raise Refused("no name")
        return name.decode("ascii") or "-"

    def sized(self, width, low=0, high=None):
        return shown(self.raw(self.number(width, low, high)))

    def text(self, high):
        text = self.raw(self.number(1, 0, high))
        try:
            characters = text.decode("utf-8")
        except UnicodeDecodeError as reason:
            raise Refused("no UTF-8") from reason
        if any(ord(c) <= 0x1F or 0x7F <= ord(c) <= 0x9F for c in characters):
            raise Refused("a control character")
        return shown(text)

    def messages(self, count):
        return ",".join(self.sized(2, 1, 1024) for _ in range(count)) or "-"

    def end(self):
        if self.data:
            raise Refused("bytes are left over")


def shown(data):
    return data.hex() or "-"


# ---- messages


def read_cell(fields):
    region, epoch = fields.region(), fields.epoch()
    x, y, channel = fields.signed(), fields.signed(), fields.number(1, 0, 33)
    flags, part, sequence = fields.number(1, 0, 3), fields.number(2), fields.number(8)
    batch = fields.raw(len(fields.data))
    if not flags & 1:
        if flags or part:
            raise Refused("a part of no snapshot")
        if batch and sequence == 0:
            raise Refused("changes count from 1")
    return (f"cell region {region} epoch {epoch} cell {x} {y} channel {channel} snapshot {flags & 1} part {part} "
            f"last {flags >> 1} sequence {sequence} batch {shown(batch)}")


def read_snapshot(fields):
    cell = fields.signed(), fields.signed()
    channel, region = fields.number(1), fields.number(2)
    if 33 < channel < 255:
        raise Refused("no channel")
    if cell == EVERY_CELL and region == NO_REGION:
        raise Refused("every cell of no region")
    return f"snapshot cell {cell[0]} {cell[1]} channel {channel} region {region} reply {fields.name()}"


def read_beat(fields):
    region, epoch, role, has_all = fields.region(), fields.number(4), fields.number(1, 0, 2), fields.bool()
    if role != 1 and (epoch == 0 or has_all):
        raise Refused("only of a standby")
    stamp, entities, players = fields.number(4), fields.number(4), fields.number(4)
    return (f"beat region {region} epoch {epoch} role {role} all {has_all} stamp {stamp} entities {entities} "
            f"players {players} sim {fields.name()}")


def read_offer(fields):
    origin, epoch, target = fields.region(), fields.epoch(), fields.region()
    key, count, has_session, batch = fields.number(8), fields.number(4, 1), fields.bool(), fields.sized(4, 1)
    if origin == target:
        raise Refused("to itself")
    if count == 2**32 - 1:
        raise Refused("behind which no owner comes")
    said = f"offer from {origin} epoch {epoch} to {target} key {key} count {count} batch {batch}"
    if has_session:
        session_key, session = read_session(fields)
        if session_key != key:
            raise Refused("the session of another")
        said += f" session {session}"
    return said


def read_accept(fields):
    origin, target = fields.region(), fields.region()
    if origin == target:
        raise Refused("to itself")
    return f"accept from {origin} to {target} key {fields.number(8)} count {fields.number(4, 1)}"


def read_find(fields):
    return f"find key {fields.number(8)} reply {fields.name()}"


def read_found(fields):
    return f"found key {fields.number(8)} region {fields.region()} epoch {fields.epoch()} place {fields.place()}"


def read_mirrored(fields):
    return (f"mirrored region {fields.region()} epoch {fields.number(4)} sequence {fields.number(8)} "
            f"all {fields.bool()} sim {fields.name()}")


def read_address(fields):
    kind = fields.number(1, 1, 2)
    address = fields.raw(4 if kind == 1 else 16)
    if kind == 2 and address[:12] == bytes(10) + b"\xff\xff":
        raise Refused("an IPv4 address as IPv6")
    return f"{address.hex()} port {fields.number(2)}"


def read_front_report(fields):
    return (f"front {fields.name()} address {read_address(fields)} clients {fields.number(4)} "
            f"capacity {fields.number(4)} started {fields.number(8)} emptying {fields.bool()} "
            f"centre {fields.signed()} {fields.signed()} spread {fields.number(4)}")


def read_wish(fields):
    return (f"wish {fields.number(4)} client {fields.number(8)} key {fields.number(8)} spare {fields.bool()} "
            f"tokens {fields.number(1, 1, 4)} not {fields.name(or_none=True)} reply {fields.name()}")


def read_grant(fields):
    number, client, count, text = fields.number(4), fields.number(8), fields.number(1, 0, 4), fields.text(127)
    return f"grant {number} client {client} tokens {count} text {text} bytes {shown(fields.raw(2048 * count))}"


# ---- messages made of items


def read_session(fields):
    client, generation, key, front = fields.number(8), fields.number(8), fields.number(8), fields.name(or_none=True)
    sees, audience = fields.number(4), fields.number(4)
    received, newest, told, state = fields.number(8), fields.number(4), fields.number(8), fields.sized(4)
    count = fields.number(2)
    if told + count >= 2**64:
        raise Refused("numbers too high")
    return key, (f"client {client} generation {generation} key {key} front {front} sees {sees:08x} "
                 f"audience {audience:08x} received {received} input {newest} told {told} state {state} "
                 f"queue {fields.messages(count)}")


def read_attach(fields):
    return f" anew {fields.bool()}"


def read_data(fields):
    told, count = fields.number(8), fields.number(2)
    first = fields.number(8, 1)
    if first + count > 2**64:
        raise Refused("numbers too high")
    messages, newest = fields.messages(count), fields.number(4)
    input_bytes = fields.sized(1) if newest else "-"
    return (f" told {told} first {first} messages {messages} input {newest} bytes {input_bytes} "
            f"state {fields.sized(4)}")


def read_nothing(_):
    return ""


def read_attached(fields):
    return (f" region {fields.region()} sees {fields.number(4):08x} audience {fields.number(4):08x} "
            f"place {fields.place()} received {fields.number(8)} told {fields.number(8)} state {fields.sized(4)}")


def read_refused(fields):
    return f" text {fields.text(255)}"


def read_confirm(fields):
    return f" received {fields.number(8)} input {fields.number(4)}"


def read_tell(fields):
    return f" number {fields.number(8, 1)} message {fields.messages(1)}"


def read_moved(fields):
    return f" region {fields.region()}"


def read_own(fields):
    return f" place {fields.place()} batch {fields.sized(4)}"


def read_entity(fields):
    return f" batch {fields.sized(4, 1)}"


ITEMS = {
    "up": {1: ("attach", read_attach), 2: ("data", read_data), 3: ("detach", read_nothing)},
    "down": {
        16: ("attached", read_attached),
        17: ("refused", read_refused),
        18: ("confirm", read_confirm),
        19: ("tell", read_tell),
        20: ("moved", read_moved),
        21: ("own", read_own),
    },
    "mirror": {32: ("session", None), 33: ("ended", read_nothing), 34: ("entity", read_entity)},
}


def read_item(fields, message):
    kind = fields.number(1)
    if kind not in ITEMS[message]:
        raise Refused(f"item {kind}")
    name, read_rest = ITEMS[message][kind]
    if name == "session":
        return f"session {read_session(fields)[1]}"
    whose = f"client {fields.number(8)} generation {fields.number(8)} key {fields.number(8)}"
    return f"{name} {whose}{read_rest(fields)}"


def read_items(fields, message, head):
    count = head["count"]
    said = [f"{message} region {head['region']}{head['more']} name {fields.name()}"]
    said += [read_item(fields, message) for _ in range(count)]
    return "; ".join(said)


def read_up(fields):
    return read_items(fields, "up", {"count": fields.number(2), "region": fields.region(), "more": ""})


def read_down(fields):
    return read_items(fields, "down", {"count": fields.number(2), "region": fields.region(),
                                       "more": f" epoch {fields.epoch()}"})


def read_mirror(fields):
    head = {"count": fields.number(2), "region": fields.region()}
    epoch, sequence, flags = fields.epoch(), fields.number(8, 1), fields.number(1, 0, 3)
    if flags == 2:
        raise Refused("the last part of nothing")
    head["more"] = f" epoch {epoch} sequence {sequence} all {flags & 1} last {flags >> 1}"
    return read_items(fields, "mirror", head)


KINDS = [None, read_cell, read_snapshot, read_beat, read_offer, read_accept, read_find, read_found, read_up, read_down,
         read_mirror, read_mirrored, read_front_report, read_wish, read_grant]


def read(data):
    """What a message says, as text."""
    if len(data) > MESSAGE_MAX:
        raise Refused("too long")
    fields = Fields(data)
    fields.number(1, 1, 1)
    said = KINDS[fields.number(1, 1, len(KINDS) - 1)](fields)
    fields.end()
    return said


# ---- records and tickets


def read_record(data):
    fields = Fields(data)
    if data[:1] == b"P":
        return read_ticket(fields)
    fields.number(1, 1, 1)
    said = f"record epoch {fields.epoch()} sim {fields.name(or_none=True)}"
    fields.end()
    return said


def read_ticket(fields):
    if len(fields.data) != 256 or fields.raw(4) != bytes.fromhex("50485401"):
        raise Refused("no ticket")
    said = (f"ticket generation {fields.number(8)} key {fields.number(8)} region {fields.number(2)} "
            f"spare {fields.bool()}")
    if any(fields.data):
        raise Refused("no zeros behind it")
    return said


def main(arguments):
    if arguments[:1] not in (["--check"], ["--flip"]):
        return second_reader.main(arguments, __doc__, "bus", None, read)
    asked = second_reader.check if arguments[0] == "--check" else second_reader.flip
    files = [pathlib.Path(name) for name in arguments[1:]] or [FOLDER / "messages.txt", FOLDER / "records.txt"]
    failed = [file for file in files
              if asked(f"bus, {file.stem}", file, read_record if file.name == "records.txt" else read) != 0]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
