#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The README's hello world is examples/hello.c, short enough to be read, and its output is what that program
prints, and so does the one in C++; no link in the documents leads nowhere.
Usage: check_readme.py FOLDER [--write]  (FOLDER holds example_hello; --write puts code and output into the README)."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
EXAMPLE = ROOT / "examples/hello.c"
LINES_MAX = 84


def body_of(example):
    """The code without its SPDX lines and opening comment: what a reader wants to see."""
    return re.sub(r"\A(//[^\n]*\n|\n)*", "", example.read_text())


def blocks(text):
    """(code block, output block) of the section Hello, world."""
    return re.search(r"## Hello, world.*?```c\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)


def dead_links():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            if not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: there is no {target}"


def main():
    code = body_of(EXAMPLE)
    program = pathlib.Path(sys.argv[1]).resolve() / f"example_{EXAMPLE.stem}"
    output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    text = README.read_text()
    found = blocks(text)
    if not found:
        print("README.md: the section 'Hello, world' has no code block followed by an output block")
        return 1
    in_cpp = program.with_name(f"{program.name}_cpp")
    cpp_output = subprocess.run([in_cpp], capture_output=True, text=True, check=True).stdout if in_cpp.exists() else output
    if "--write" in sys.argv:
        text = text[:found.start(1)] + code + text[found.end(1):found.start(2)] + output + text[found.end(2):]
        README.write_text(text)
        return 0
    faults = list(dead_links())
    if EXAMPLE.read_text().count("\n") > LINES_MAX:
        faults.append(f"{EXAMPLE.relative_to(ROOT)}: more than {LINES_MAX} lines")
    if found[1] != code:
        faults.append(f"README.md: the code of 'Hello, world' is not {EXAMPLE.relative_to(ROOT)} (--write mends it)")
    if found[2] != output:
        faults.append("README.md: the output of 'Hello, world' is not what the example prints (--write mends it)")
    if cpp_output != output:
        faults.append("examples/hello_cpp.cpp prints something else than examples/hello.c")
    print("\n".join(faults) or "README.md and the links of all documents are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
