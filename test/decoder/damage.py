# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Whether damage to golden packets, or to the tables that they are read by, is noticed."""

import collections
import contextlib
import itertools

from decoder.fields import Refused
from decoder.golden import (ack_text, apply_text, check_session, is_ack, is_refused, read_text,
                            sessions_of, text_of)

BITS_APART = 5
DEAR = 1 << 16

# One bit of a packet --------------------------------------------------------------------------


def mutants(data):
    """A name and the bytes of every packet that one flipped bit or a wrong size makes."""
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield f"with bit {bit} flipped", bytes(flipped)
    yield "without its last byte", data[:-1]
    yield "with a zero byte behind it", data + b"\0"


def outcomes_of(receiver, path):
    """What becomes of the mutants of one golden file, in their order."""
    expected, read = text_of(path), ack_text if is_ack(path) else read_text
    for name, mutant in mutants(path.read_bytes()):
        try:
            outcome = "unnoticed" if read(receiver, mutant) == expected else "different"
        except Refused:
            outcome = "refused"
        if outcome == "unnoticed":
            print(f"{path.name} {name} reads the same")
        yield outcome


def verdicts_of(directory):
    """By packets, where the library has left them: which changed bits are refused."""
    path = directory / "verdicts.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return dict(line.split() for line in lines)


def is_judged_alike(outcomes, verdicts):
    ours = ["0" if outcome == "refused" else "1" for outcome in outcomes]
    return "".join(ours[:-2:BITS_APART]) == verdicts


def flip(directory, wire):
    counts, unlike = collections.Counter(), 0
    verdicts = verdicts_of(directory)
    for paths in sessions_of(directory).values():
        receiver = wire.receiver()
        for path in itertools.filterfalse(is_refused, paths):
            outcomes = list(outcomes_of(receiver, path))
            counts.update(outcomes)
            if is_ack(path):
                continue
            apply_text(receiver, path.read_bytes())
            if verdicts and not is_judged_alike(outcomes, verdicts.get(path.stem)):
                print(f"{path.name}: other changed bits are refused than verdicts.txt has")
                unlike += 1
    print(f"{counts.total()} changed packets: {counts['refused']} refused, "
          f"{counts['different']} read differently, {counts['unnoticed']} unnoticed")
    return counts["unnoticed"] == unlike == 0


# One entry of the tables ----------------------------------------------------------------------


def is_agreed(wire, name, paths):
    return all(complaint is None for _, complaint in check_session(wire, name, paths))


@contextlib.contextmanager
def changed(row, index, by):
    row[index] += by
    yield
    row[index] -= by


def damages(tables, family, number, symbol):
    """Rows of the tables, where in them, and by how much: half of what the symbol has goes to the
    one next to it, or nearly all if that makes no difference to the few bits of a packet; and a
    number's other form becomes the cheaper one."""
    model = tables.models[family][number]
    parts = model[symbol + 1] - model[symbol]
    is_last = symbol + 2 == len(model)
    if parts > 1:
        yield [(model, symbol, by) if is_last else (model, symbol + 1, -by)
               for by in (parts // 2, parts - 1)]
    if family in tables.costs:
        costs = tables.costs[family][number]
        last = len(costs) - 1
        yield [(costs, last, DEAR if symbol == last else -costs[last] - DEAR)]


def is_damage_noticed(wire, name, paths, way):
    with changed(*way):
        return not is_agreed(wire, name, paths)


def damage_session(wire, name, paths, counts):
    """Damages every symbol that the session is read by, each on its own."""
    wire.tables.read.clear()
    is_agreed(wire, name, paths)
    for place in sorted(wire.tables.read):
        for ways in damages(wire.tables, *place):
            is_noticed = any(is_damage_noticed(wire, name, paths, way) for way in ways)
            outcome = "noticed" if is_noticed else "unnoticed"
            counts[outcome] += 1
            if outcome == "unnoticed":
                print("{}: damage to family {}, model {}, symbol {} is not noticed".format(
                    name, *place))


def damage(directory, wire):
    counts = collections.Counter()
    for name, paths in sessions_of(directory).items():
        damage_session(wire, name, paths, counts)
    print(f"{counts.total()} changed tables: {counts['noticed']} noticed, "
          f"{counts['unnoticed']} unnoticed")
    return counts["noticed"] > 0 and counts["unnoticed"] == 0
