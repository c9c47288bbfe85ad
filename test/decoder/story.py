# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Sessions as test/test_second_decoder.c tells them, line by line: the schema, every datagram that
came and whether the library applied it, and what its client shows at the end.

    profile pinhole          or classic; a session begins
    schema LINE              so many
    packet 1 HEX             0: refused, or dropped
    shown LINE               as Receiver.shown_text() has it
    end
"""

from decoder.classic import ClassicReceiver
from decoder.pinhole import PinholeReceiver
from decoder.fields import WORD32, Refused
from decoder.golden import apply_text, difference
from decoder.schema_text import expect, parse_schema


class Squares:
    """The ground of random sessions: squares of 8 m with nothing, one, two or eight layers."""

    def layers(self, x, y):
        square = ((x % WORD32 >> 13) * 7 + (y % WORD32 >> 13)) % WORD32
        return [-1500 + square % 97 + 3100 * i for i in range((0, 1, 2, 8)[square % 4])]


class Story:
    """One session; None as long as nothing is wrong with it, then what."""

    def __init__(self, profile, tables):
        self.profile, self.tables = profile, tables
        self.schema, self.shown = [], []
        self.receiver = None
        self.packet_count = 0
        self.complaint = None

    def make_receiver(self):
        classes = parse_schema("".join(line + "\n" for line in self.schema))
        if self.profile == "classic":
            return ClassicReceiver(classes, Squares())
        return PinholeReceiver(classes, Squares(), self.tables)

    def take_packet(self, said):
        verdict, data = said.split()
        self.receiver = self.receiver or self.make_receiver()
        self.packet_count += 1
        try:
            apply_text(self.receiver, bytes.fromhex(data))
            found, reason = "1", "applied"
        except Refused as refused:
            found, reason = "0", f"refused: {refused}"
        if found != verdict and self.complaint is None:
            self.complaint = f"packet {self.packet_count}: {reason}, the library says {verdict}"

    def finish(self):
        expected, found = "".join(line + "\n" for line in self.shown), self.receiver.shown_text()
        if self.complaint is None and expected != found:
            self.complaint = f"what is shown differs in {difference(expected, found)}"
        return self.complaint


def follow(lines, tables):
    """Reads stories to their end; whether all were understood as the library does."""
    story, packets, stories, bad = None, 0, 0, 0
    for line in lines:
        word, _, said = line.rstrip("\n").partition(" ")
        if word == "profile":
            story = Story(said, tables)
        elif word == "schema":
            story.schema.append(said)
        elif word == "packet":
            story.take_packet(said)
        elif word == "shown":
            story.shown.append(said)
        else:
            expect(word == "end", f"'{word}' is no word of a story")
            complaint = story.finish()
            if complaint:
                print(f"{story.profile}, session {stories}: {complaint}")
            stories, packets, bad = stories + 1, packets + story.packet_count, bad + bool(complaint)
            story = None
    print(f"{packets} packets of {stories} sessions, {bad} sessions are read differently")
    return stories > 0 and bad == 0 and story is None
