#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Programs and libraries of the release build are hardened (cmake/compile.cmake). Run by make test.

    test/check_hardened.py TREE PROGRAM LIBRARY...     (paths of the program and the libraries below TREE, or elsewhere)

Read from the files themselves by readelf: position-independent, all of the relocations read-only before the program starts, no stack
that can be executed, functions with a stack protector and calls that FORTIFY checks. What leaves no trace there is looked for among
the flags of every compilation: stack clash protection, control flow protection.
"""

import pathlib
import re
import subprocess
import sys

TRACELESS = ["-fstack-clash-protection", "-fcf-protection=full"]


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def faults_of(path, is_program):
    header, segments, dynamic, symbols = (readelf(option, path) for option in ("-h", "-l", "-d", "--dyn-syms"))
    if not re.search(r"Type:\s+DYN", header) or is_program and not re.search(r"FLAGS_1.*\bPIE\b", dynamic):
        yield "not position-independent"
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic):
        yield "relocations can be written (no full RELRO)"
    stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}([RWE ]+?)\s+0x", segments)
    if not stack or "E" in stack[1]:
        yield "the stack can be executed"
    if "__stack_chk_fail" not in symbols:
        yield "no stack protector"
    if not re.search(r"__(?:mem|str|v?sn?printf|f?printf)\w*_chk", symbols):
        yield "no calls checked by FORTIFY"


def traceless_faults(tree):
    """Compilers that do not know a flag build without it: then it is not missed."""
    cache = (tree / "CMakeCache.txt").read_text()
    lines = [line for line in (tree / "build.ninja").read_text().splitlines() if re.match(r"  FLAGS = .*-std=", line)]
    if not lines:
        yield "build.ninja names no flags"
    for flag in TRACELESS:
        known = re.search(rf"PINHOLE_HAS{re.sub(r'[^A-Za-z0-9]', '_', flag)}:INTERNAL=(\w*)", cache)
        if not known or known[1] == "1" and not all(flag in line.split() for line in lines):
            yield f"not everything is compiled with {flag}"


def main():
    tree, program, *libraries = map(pathlib.Path, sys.argv[1:])
    faults = [f"{tree}: {fault}" for fault in traceless_faults(tree)]
    for path in (program, *libraries):
        faults += [f"{path}: {fault}" for fault in faults_of(path, path == program)]
    print("\n".join(faults) or f"hardened: {1 + len(libraries)} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
