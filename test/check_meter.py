#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The meter and recompute.py must arrive at the same figures on a made-up play; then faults are
planted into what recompute.py reads, and each must be found in the figure it belongs to. Run by make test.

    test/check_meter.py [PROGRAM]      (default build/debug/test_meter_play)
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build/debug/test_meter_play")
RECOMPUTE = str(ROOT / "test/recompute.py")

AGREES, DIFFERS, MAKES_NO_SENSE = 0, 1, 2
faults = []


class Play:
    def __init__(self, folder):
        self.folder = folder
        self.recording, self.dump, self.result = (folder / n for n in ("recording.csv", "dump.csv", "result.json"))
        told = json.loads(self.result.read_text())
        self.options = {name: told[name] for name in ("viewers", "radius", "slots")}

    def changed(self, change):
        """A dump whose rows went through change(number, fields); None leaves the row out."""
        head, *rows = self.dump.read_text().splitlines()
        kept = (change(number, row.split(",")) for number, row in enumerate(rows))
        path = self.folder / "changed.csv"
        path.write_text("\n".join([head, *(",".join(row) for row in kept if row)]) + "\n")
        return path

    def recompute(self, dump=None, recording=None, **more):
        command = [sys.executable, RECOMPUTE, str(recording or self.recording), str(dump or self.dump),
                   "--json", str(self.result)]
        for name, value in {**self.options, **more}.items():
            command += [f"--{name}", str(value)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def expect(self, what, code, differing=(), **changes):
        """Exit code, and the figures that must be among those that differ."""
        found, output = self.recompute(**changes)
        marked = {line.split()[0] for line in output.splitlines() if line.endswith("DIFFERS")}
        is_right = found == code and marked >= set(differing)
        print(f"{'ok  ' if is_right else 'FAIL'} {what}: exit code {found}, {len(marked)} figures differ")
        if not is_right:
            print(output)
            faults.append(what)


def packed(path):
    copy = path.with_suffix(".csv.gz")
    copy.write_bytes(gzip.compress(path.read_bytes()))
    return copy


def without_every_50th(number, row):
    return None if number % 50 == 0 else row


def turned_by_a_degree(_, row):
    return row[:6] + [f"{float(row[6]) + 1:.2f}" if row[6] else ""]


def shaken(number, row):
    return row[:5] + [f"{float(row[5]) + 300 * (number % 2):.1f}", row[6]]


def with_a_stranger(number, row):
    return [row[0], "99999", *row[2:]] if number == 7 else row


def shown_twice(number, row):
    return row[:2] + (["107"] if row[1] != "107" else ["100"]) + row[3:]


def check(play):
    play.expect("figures agree", AGREES)
    play.expect("packed files are the same", AGREES, dump=packed(play.dump), recording=packed(play.recording))
    play.expect("a bias of 10 mm", DIFFERS, ["error_mm.mean", "error_mrad.mean"], bias=10)
    play.expect("a bias of 1 mm", DIFFERS, ["error_mm.mean"], bias=1)
    play.expect("rows that are missing", DIFFERS, ["missing_pct"], dump=play.changed(without_every_50th))
    play.expect("headings off by 1 degree", DIFFERS, ["heading_deg.mean"], dump=play.changed(turned_by_a_degree))
    play.expect("positions that jump about", DIFFERS, ["jolts_per_min"], dump=play.changed(shaken))
    play.expect("another radius", DIFFERS, ["missing_pct", "ghost_pct"], radius=90)
    play.expect("other slots", DIFFERS, ["missing_pct"], slots=30)
    play.expect("fewer viewers", MAKES_NO_SENSE, viewers=3)
    play.expect("a viewer that the rule does not choose", MAKES_NO_SENSE, dump=play.changed(with_a_stranger))
    play.expect("an entity shown twice in a frame", MAKES_NO_SENSE, dump=play.changed(shown_twice))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        check(Play(pathlib.Path(folder)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
