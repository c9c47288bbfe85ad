#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The README's hello world is examples/hello.c, short enough to be read, and its output is what that program
prints, and so does the one in C++; no link in the documents leads nowhere; files and functions that
docs/architecture.md names exist, where it says, and it names every file of src/, net/ and kit/; no line of a document
but the CHANGELOG is longer than 120 characters. What the README says traffic costs, and how
profiles compare, is what pinhole sim measures now.
Usage: check_readme.py FOLDER [--write]  (FOLDER holds example_hello; --write puts code and output into the README).
Traffic is measured where FOLDER/../pinhole is there, as after a release build."""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
EXAMPLE = ROOT / "examples/hello.c"
ARCHITECTURE = ROOT / "docs/architecture.md"
LINES_MAX = 89
COLUMNS_MAX = 120
CODE_FOLDERS = ["include", "src", "net", "bus", "kit", "app", "web", "bench", "examples", "test", "fuzz"]
NAMED_FOLDERS = ["src", "net", "kit"]


def body_of(example):
    """The code without its SPDX lines and opening comment: what a reader wants to see."""
    return re.sub(r"\A(//[^\n]*\n|\n)*", "", example.read_text())


def blocks(text):
    """(code block, output block) of the section Hello, world."""
    return re.search(r"## Hello, world.*?```c\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)


def documents():
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def dead_links():
    for document in documents():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            if not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: there is no {target}"


def long_lines():
    for document in documents():
        if document.name == "CHANGELOG.md":
            continue
        for number, line in enumerate(document.read_text().splitlines(), 1):
            if len(line) > COLUMNS_MAX:
                yield f"{document.relative_to(ROOT)}:{number}: {len(line)} characters, at most {COLUMNS_MAX}"


def misplaced(sources):
    """Functions that are not in the file that docs/architecture.md gives: `name()` (`file`), or | `file` | `name()`."""
    text = ARCHITECTURE.read_text()
    pairs = [match.groups() for match in re.finditer(r"`(\w+)\(\)`\s+\(`([\w/]+\.[ch])`\)", text)]
    pairs += [(match[2], match[1]) for match in re.finditer(r"\| `([\w/]+\.[ch])` \| `(\w+)\(\)`", text)]
    for name, file in pairs:
        code = "".join(path.read_text() for path in sources if str(path).endswith("/" + file))
        if not re.search(rf"^\w[^;=]*\b{name}\(", code, re.MULTILINE):
            yield f"{ARCHITECTURE.relative_to(ROOT)}: {name}() is not in {file}"


def wrong_names():
    """What docs/architecture.md names in backquotes and the tree does not have, and files it leaves out."""
    sources = [path for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*.[ch]")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text(errors="replace") for path in sources)))
    paths = ["/" + str(path.relative_to(ROOT)) for path in sources]
    stems = {path.stem for path in sources}
    named = set()
    for number, line in enumerate(ARCHITECTURE.read_text().splitlines(), 1):
        for name in re.findall(r"`([^`]+)`", line):
            place = f"{ARCHITECTURE.relative_to(ROOT)}:{number}"
            named.add(name.split("/")[-1])
            if re.fullmatch(r"[\w./*-]+\.[ch]", name) and not any(fnmatch.fnmatch(path, "*/" + name) for path in paths):
                yield f"{place}: there is no file {name}"
            if line.startswith(f"| `{name}`") and re.fullmatch(r"[a-z_]+", name) and name not in stems:
                yield f"{place}: there is no file {name}"
            if re.fullmatch(r"\w+\(\)", name) and name[:-2] not in words:
                yield f"{place}: there is no function {name}"
    yield from misplaced(sources)
    for path in sources:
        if path.relative_to(ROOT).parts[0] in NAMED_FOLDERS and not {path.name, path.stem} & named:
            yield f"{ARCHITECTURE.relative_to(ROOT)}: does not name {path.relative_to(ROOT)}"


# The rows of the README's table of traffic, and how each was measured.
TRAFFIC = [["--profile", "classic", "--kbps", "0", "--hz", "10"],
           ["--profile", "snapshot", "--kbps", "0"],
           []]
TRAFFIC_ROW = r"^\|[^|]*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) mm \| ([\d.]+) \| \$([\d,]+) to \$([\d,]+) \|$"
MONTH_S = 30 * 86400
PLAYERS = 1000
DOLLARS_PER_GB = (0.01, 0.09)


def is_rounded(shown, found):
    """Whether a text is a figure, rounded to its digits; amounts of money to two."""
    if "." in shown:
        return abs(float(shown) - found) <= 0.5 * 10 ** -len(shown.split(".")[1]) + 1e-9
    digits = shown.replace(",", "")
    unit = 10 ** max(0, len(digits) - 2) if len(digits) > 3 or digits.endswith("0") else 1
    return abs(int(digits) - found) <= 0.5 * unit + 1e-9


def wrong_traffic(program):
    """Rows of the table that are not what the simulator measures, and amounts that do not follow from it."""
    rows = re.findall(TRAFFIC_ROW, README.read_text(), re.MULTILINE)
    if len(rows) != len(TRAFFIC):
        yield f"README.md: {len(rows)} rows of traffic, not {len(TRAFFIC)}"
        return
    for row, options in zip(rows, TRAFFIC):
        done = subprocess.run([program, "sim", "scene:wander", "--viewers", "32", "--json", *options], capture_output=True,
                              text=True, check=True)
        found = json.loads(done.stdout)
        terabytes = found["wire_kbps_mean"] * 1000 / 8 * MONTH_S * PLAYERS / 1e12
        wanted = [found["wire_kbps_mean"], found["wire_kbps_max_1s"], found["error_mm"]["mean"], terabytes,
                  *(terabytes * 1000 * dollars for dollars in DOLLARS_PER_GB)]
        for shown, figure in zip(row, wanted):
            if not is_rounded(shown, figure):
                yield f"README.md: traffic {' '.join(options) or 'of pinhole'}: {shown}, measured {figure:.3f}"


def wrong_comparison(program):
    """The row of the README's comparison that needs no recording."""
    row = re.search(r"^\| `scene:town`[^|]*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", README.read_text(), re.MULTILINE)
    if not row:
        yield "README.md: no row of scene:town"
        return
    for shown, profile in zip(row.groups(), ("classic", "snapshot", "pinhole")):
        done = subprocess.run([program, "sim", "scene:town", "--profile", profile, "--json"], capture_output=True, text=True,
                              check=True)
        figure = json.loads(done.stdout)["error_mrad"]["mean"]
        if not is_rounded(shown, figure):
            yield f"README.md: scene:town, {profile}: {shown}, measured {figure:.3f}"


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
    faults = [*dead_links(), *wrong_names(), *long_lines()]
    simulator = program.parent.parent / "pinhole"
    if simulator.exists() and program.parent.name == "release":
        faults += [*wrong_traffic(simulator), *wrong_comparison(simulator)]
    if EXAMPLE.read_text().count("\n") > LINES_MAX:
        faults.append(f"{EXAMPLE.relative_to(ROOT)}: more than {LINES_MAX} lines")
    if found[1] != code:
        faults.append(f"README.md: the code of 'Hello, world' is not {EXAMPLE.relative_to(ROOT)} (--write mends it)")
    if found[2] != output:
        faults.append("README.md: the output of 'Hello, world' is not what the example prints (--write mends it)")
    if cpp_output != output:
        faults.append("examples/hello_cpp.cpp prints something else than examples/hello.c")
    print("\n".join(faults) or "README.md, docs/architecture.md, links and lines of all documents are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
