#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Runs pinhole soak: its seeds, its scenarios, its mistakes. Run by make test.

    test/check_soak.py [PROGRAM [SEEDS [JOBS]]]      (default build/pinhole, 1..800, 2)

The seeds are fixed, so the result is the same every time: some 60 s of one core in the release build. The scenarios of test/soak
are what earlier findings were shortened to: none may show anything any more.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

complaints = []


def run(*arguments):
    return subprocess.run([program, "soak", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def expect(condition, complaint):
    if not condition:
        complaints.append(complaint)


def figures(*arguments):
    done = run(*arguments, "--json")
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        complaints.append(f"{' '.join(arguments)}: no JSON\n{done.stdout[:2000]}{done.stderr[:2000]}")
        return done.returncode, {}


def check_mistakes():
    done = run("--help")
    expect(done.returncode == 0 and "example: pinhole soak" in done.stdout, "--help has no example")
    for wrong in (["--seeds", "9..1"], ["--seeds", "x"], ["--seed", "-1"], ["--jobs", "0"], ["--hours", "many"]):
        done = run(*wrong)
        expect(done.returncode == 2 and done.stderr, f"{' '.join(wrong)} is not refused")
    with tempfile.NamedTemporaryFile("w", suffix=".scenario") as file:
        file.write("pinhole soak scenario 1\nseed 1\nsteps 3\n0 fly 3 00\n")
        file.flush()
        done = run("--scenario", file.name)
        expect(done.returncode == 1 and "line 4" in done.stderr, "a wrong scenario is not refused by its line")


def check_same():
    first = figures("--seeds", "21..26", "--jobs", "1")[1]
    second = figures("--seeds", "21..26", "--jobs", "3")[1]
    for name in ("digest", "judged_packets", "judged_values", "sent_datagrams", "simulated_s"):
        expect(first.get(name) == second.get(name), f"{name} is another one in a second run of the same seeds")


def check_scenarios():
    paths = sorted((ROOT / "test/soak").glob("*.scenario"))
    expect(len(paths) >= 4, "test/soak has no scenarios")
    for path in paths:
        done = run("--scenario", str(path))
        expect(done.returncode == 0 and "no violation" in done.stdout, f"{path.name}:\n{done.stdout}{done.stderr}")


def check_seeds(seeds, jobs):
    code, sum_ = figures("--seeds", seeds, "--jobs", jobs)
    print(json.dumps(sum_, indent=1))
    expect(code == 0 and sum_.get("is_violated") is False, "a promise is broken")
    first, last = map(int, seeds.split(".."))
    for name, least in (("judged_packets", 1000), ("judged_values", 5000), ("twin_payloads", 100), ("equal_clients", 40),
                        ("failed_allocations", 20), ("sent_messages", 100),
                        ("sent_blocks", 30), ("sent_unreliable", 100)):
        wanted = least * (last - first + 1) // 20
        expect(sum_.get(name, 0) >= wanted, f"{name} is {sum_.get(name)}; that is too few to say anything ({wanted})")


program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/pinhole")
check_mistakes()
check_same()
check_scenarios()
check_seeds(sys.argv[2] if len(sys.argv) > 2 else "1..800", sys.argv[3] if len(sys.argv) > 3 else "2")
for complaint in complaints:
    print(f"check_soak: {complaint}")
sys.exit(1 if complaints else 0)
