#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second decoder, written from docs/wire_format.md and docs/wire_pinhole.md alone.

    decode_packet.py [--schema FILE] [--ground FILE] [--tables FILE] PACKET...
                                          print one session as text
    decode_packet.py --check DIRECTORY    compare every golden packet with the text beside it
    decode_packet.py --flip DIRECTORY     a self check: no packet with one bit changed may agree
    decode_packet.py --damage DIRECTORY   another: nor may an entry of the tables that is used
    decode_packet.py --follow DIRECTORY   whole sessions from standard input, see decoder/story.py;
                                          the tables are in the directory

The texts are those that test/golden/README.md and test/golden/pinhole/README.md define. Schema,
ground and tables are the schema.txt, ground.txt and tables.txt beside the packets unless they are
named; with tables the packets are of the pinhole profile. Files called *_ack.bin are
acknowledgements. It exits with 1 when anything is refused or differs, with 2 when it cannot start.
"""

import argparse
import pathlib
import sys

from decoder.damage import damage, flip
from decoder.fields import Refused
from decoder.golden import Format, ack_text, apply_text, check, is_ack
from decoder.schema_text import SchemaError
from decoder.story import follow


def print_session(paths, wire):
    receiver = wire.receiver()
    for path in paths:
        print((ack_text if is_ack(path) else apply_text)(receiver, path.read_bytes()), end="")
    return True


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="compare a directory's packets")
    parser.add_argument("--flip", action="store_true", help="flip each bit of them")
    parser.add_argument("--damage", action="store_true", help="change entries of the tables")
    parser.add_argument("--follow", action="store_true", help="read sessions from standard input")
    parser.add_argument("--schema", type=pathlib.Path)
    parser.add_argument("--ground", type=pathlib.Path)
    parser.add_argument("--tables", type=pathlib.Path)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def run(arguments):
    acts = {check: arguments.check, flip: arguments.flip, damage: arguments.damage}
    asked = [act for act, is_asked in acts.items() if is_asked]
    first = arguments.paths[0]
    directory = first if asked or arguments.follow else first.parent
    wire = Format(directory, arguments.schema, arguments.ground, arguments.tables)
    if arguments.follow:
        return follow(sys.stdin, wire.tables)
    if not asked:
        return print_session(arguments.paths, wire)
    return all([act(directory, wire) for act in asked])


def main():
    try:
        return 0 if run(parse_arguments()) else 1
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 1
    except (SchemaError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
