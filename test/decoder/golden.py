# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Sessions of golden packets: whether all agree with the texts beside them. test/golden/README.md
and test/golden/pinhole/README.md say what the files are."""

import struct

from decoder.classic import ClassicReceiver
from decoder.pinhole import PinholeReceiver
from decoder.fields import Refused, require
from decoder.ground import Ground
from decoder.schema_text import expect, parse_schema
from decoder.tables import Tables

ACK_BYTES = 13


def is_refused(path):
    return "_refused_" in path.stem


def is_ack(path):
    return path.stem.endswith("_ack")


def text_of(path):
    return path.with_suffix(".txt").read_text("utf-8")


class Format:
    """What both ends have: a schema, a ground, and in the pinhole profile the tables."""

    def __init__(self, directory, schema_path=None, ground_path=None, tables_path=None):
        self.classes = parse_schema((schema_path or directory / "schema.txt").read_text("utf-8"))
        needs_ground = any(a_class.place().coding.tolerance for a_class in self.classes)
        ground_path = ground_path or directory / "ground.txt"
        self.ground = Ground(ground_path.read_text("utf-8") if needs_ground else "")
        tables_path = tables_path or directory / "tables.txt"
        self.tables = Tables(tables_path.read_text("utf-8")) if tables_path.exists() else None

    def receiver(self):
        if self.tables is None:
            return ClassicReceiver(self.classes, self.ground)
        return PinholeReceiver(self.classes, self.ground, self.tables)


def sessions_of(directory):
    """The packets of each session in their order; its acknowledgement comes last."""
    sessions = {}
    for path in sorted(directory.glob("*.bin"), key=lambda path: (is_ack(path), path.name)):
        sessions.setdefault(path.stem.split("_")[0], []).append(path)
    expect(sessions, f"{directory}: no packets")
    for path in directory.glob("*_*.txt"):
        expect(path.with_suffix(".bin").exists() or path.stem.endswith("_shown"),
               f"{path}: no packet beside it")
    return sessions


# What a packet says ---------------------------------------------------------------------------


def read_text(receiver, data):
    return "".join(line + "\n" for line in receiver.PACKET(receiver, data).lines)


def apply_text(receiver, data):
    packet = receiver.PACKET(receiver, data)
    receiver.apply(packet)
    return "".join(line + "\n" for line in packet.lines)


def ack_text(_receiver, data):
    require(len(data) == ACK_BYTES, f"an acknowledgement of {len(data)} bytes")
    return "ack newest={} applied=0x{:016x} lag={}\n".format(*struct.unpack("<IQB", data))


# Agreement ------------------------------------------------------------------------------------


def difference(expected, found):
    """The first line that differs, both ways."""
    expected, found = expected.split("\n"), found.split("\n")
    for number in range(max(len(expected), len(found))):
        sides = [side[number] if number < len(side) else "(nothing)" for side in (expected, found)]
        if sides[0] != sides[1]:
            return f"line {number + 1}\n  expected {sides[0]}\n  decoded  {sides[1]}"
    return "nothing"


def check_refused(receiver, path):
    """A packet that must be refused at this place; what is wrong with it, or None."""
    if text_of(path) != "refused\n":
        return "its text is not that of a refused one"
    try:
        receiver.PACKET(receiver, path.read_bytes())
    except Refused:
        return None
    return "not refused"


def check_file(receiver, path):
    """Decodes one golden file into the receiver; what is wrong with it, or None."""
    if is_refused(path):
        return check_refused(receiver, path)
    data, expected = path.read_bytes(), text_of(path)
    try:
        found = (ack_text if is_ack(path) else apply_text)(receiver, data)
    except Refused as refused:
        return f"refused: {refused}"
    if found != expected:
        return f"differs in {difference(expected, found)}"
    # The lag alone is the clock's.
    if is_ack(path) and data[:-1] != receiver.acknowledgement():
        return f"not what the receiver acknowledges: {receiver.acknowledgement().hex(' ')}"
    return None


def check_session(wire, name, paths):
    """All files of a session, and what is shown at its end; names and complaints."""
    receiver = wire.receiver()
    for path in paths:
        yield path.name, check_file(receiver, path)
    shown = paths[0].with_name(f"{name}_shown.txt")
    if shown.exists():
        expected, found = shown.read_text("utf-8"), receiver.shown_text()
        yield shown.name, None if expected == found else f"differs in {difference(expected, found)}"


def check(directory, wire):
    agreed, disagreed = 0, 0
    for name, paths in sessions_of(directory).items():
        for file_name, complaint in check_session(wire, name, paths):
            agreed, disagreed = agreed + (complaint is None), disagreed + (complaint is not None)
            if complaint:
                print(f"{file_name}: {complaint}")
    print(f"{agreed} files agree, {disagreed} do not; "
          f"fingerprint 0x{wire.receiver().fingerprint:016x}")
    return disagreed == 0
