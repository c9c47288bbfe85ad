#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Plants damage in copies of the golden files and asks whether decode_packet.py --check sees it; and asks the decoder for
the fingerprint of a schema with smooth properties, which no golden file has."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from decoder.fingerprint import fingerprint_of
from decoder.schema_text import parse_schema

TEST = pathlib.Path(__file__).parent
AGREED, DISAGREED, CANNOT_START = 0, 1, 2


def flip_bit(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def replace(path, old, new):
    text = path.read_text("utf-8")
    if old not in text:
        raise ValueError(f"{path.name} has no '{old}'")
    path.write_text(text.replace(old, new, 1), "utf-8")


def change_parts(path, family, first, second):
    """The first model of a family: so many parts more for its first symbol and its second."""
    lines = path.read_text("utf-8").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"family {family} ")) + 1
    parts = [int(word) for word in lines[at].split()]
    parts[0] += first
    parts[1] += second
    lines[at] = " ".join(map(str, parts))
    path.write_text("\n".join(lines), "utf-8")


def drop(directory, stem):
    for suffix in (".bin", ".txt"):
        (directory / f"{stem}{suffix}").unlink()


# Of which profile, what is done to the copy, what decode_packet.py must answer.
CASES = {
    "nothing is changed, classic": (".", lambda at: None, AGREED),
    "nothing is changed, pinhole": ("pinhole", lambda at: None, AGREED),
    "a bit of a classic packet": (
        ".", lambda at: flip_bit(at / "narrow_04_positions.bin", 90), DISAGREED),
    "a symbol": ("pinhole", lambda at: flip_bit(at / "main_05_motion.bin", 20), DISAGREED),
    "a raw bit": ("pinhole", lambda at: flip_bit(at / "main_10_values.bin", 500), DISAGREED),
    "a universal code": (
        "pinhole", lambda at: flip_bit(at / "universal_09_coarse.bin", 60), DISAGREED),
    "one part of a model": (
        "pinhole", lambda at: change_parts(at / "tables.txt", "ENTER_X", -1, 1), DISAGREED),
    "a part too many": (
        "pinhole", lambda at: change_parts(at / "tables.txt", "TOLD", 0, 1), CANNOT_START),
    "a told value": (
        "pinhole", lambda at: replace(at / "main_10_values.txt", "mood=3", "mood=2"), DISAGREED),
    "a baseline": (
        "pinhole", lambda at: replace(at / "main_07_after_loss.txt", "sizes=25,0", "sizes=26,0"),
        DISAGREED),
    "a shown value": (
        "pinhole", lambda at: replace(at / "wide_shown.txt", "999/1", "999/2"), DISAGREED),
    "a packet is lost": ("pinhole", lambda at: drop(at, "main_04_more_enters"), DISAGREED),
    "a text without its packet": (
        "pinhole", lambda at: (at / "main_04_more_enters.bin").unlink(), CANNOT_START),
    "the schema": (
        "pinhole", lambda at: replace(at / "schema.txt", "angle 8", "angle 9"), DISAGREED),
    "the ground": (
        "pinhole", lambda at: replace(at / "ground.txt", "-200 4800", "-216 4800"), DISAGREED),
}


def run_case(folder, plant):
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "golden"
        shutil.copytree(TEST / "golden" / folder, copy)
        plant(copy)
        return subprocess.run([sys.executable, TEST / "decode_packet.py", "--check", copy],
                              capture_output=True, text=True, check=False)


# As in test_fingerprint.c: the heading is b.
SMOOTH = """class c
p: position
a: angle smooth
b: angle
r: range 0..9 smooth
q: quaternion smooth
v: vec3 -1..1 step 0.5 smooth
"""
SMOOTH_FINGERPRINT = 0xC13F1D3D9F8E1DD0


def is_smooth_read():
    classes = parse_schema(SMOOTH)
    return fingerprint_of(classes) == SMOOTH_FINGERPRINT and classes[0].heading().name == "b"


def main():
    failed = 0
    if not is_smooth_read():
        print("a schema with smooth properties: not its fingerprint, or not its heading")
        failed += 1
    for name, (folder, plant, expected) in CASES.items():
        answer = run_case(folder, plant)
        if answer.returncode != expected:
            print(f"{name}: {answer.returncode}, expected {expected}")
            print(answer.stdout + answer.stderr)
            failed += 1
    print(f"{len(CASES) + 1 - failed} of {len(CASES) + 1} cases as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
