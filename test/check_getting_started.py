#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""docs/getting_started.md: follows it as a reader would. After each step both programs are built by the commands that stand
there and run together, and after the last one the files are those of examples/game. Run by make test.

    test/check_getting_started.py                 only compares the files of the last step with examples/game
    test/check_getting_started.py --prefix FOLDER    all of it, with the library that is installed there
    test/check_getting_started.py --build FOLDER     all of it, with the libraries of a build, such as build/release

A block of code belongs to the file that is named above it. It consists of parts with blank lines between them. A part
takes the place of the one that has the same name; a new part goes above the next part of the block that the file has,
otherwise above the last function.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/getting_started.md"
EXAMPLE = ROOT / "examples/game"
FILES = ["game.h", "server.c", "client.c"]
PKG_CONFIG = "$(pkg-config --cflags --libs pinhole-net)"
WARNINGS = "-std=c17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Werror"
SERVER_S, CLIENT_S = 14, 9
TIMEOUT_S = 60
PORT = 40310


def name_of(part):
    """What a part declares: the reader looks for it under this name."""
    code = re.sub(r"^//.*\n", "", part, flags=re.MULTILINE)
    for pattern in (r"\A(#\w+ ?\S*)", r"\Aenum \{ (\w+)", r"\Atypedef struct (\w+)", r"\A[\w* ]*?\b(\w+)\(", r"\A[\w* ]*?\b(\w+)[;\[]"):
        found = re.match(pattern, code)
        if found:
            return found[1]
    raise SystemExit(f"check_getting_started.py: what does this declare?\n{part}")


def is_function(part):
    return re.search(r"^\{$", part, re.MULTILINE) is not None


def put(parts, block):
    """Puts the parts of a block into those of a file."""
    known = [name_of(part) for part in parts]
    waiting = []
    for part in block:
        if name_of(part) not in known:
            waiting.append(part)
            continue
        at = known.index(name_of(part))
        parts[at:at + 1] = [*waiting, part]
        known = [name_of(part) for part in parts]
        waiting = []
    last = max((i for i, part in enumerate(parts) if is_function(part)), default=len(parts))
    parts[last:last] = waiting


def follow(text):
    """Yields (heading, {file: text}, build commands, whether it has tokens) after each step with code."""
    files = {name: [] for name in FILES}
    commands = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^`([\w.]+)`\n\n```c\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        for name, code in blocks:
            put(files[name], code.strip("\n").split("\n\n"))
        for command in re.findall(r"^cc (\w+)\.c .*$", section, re.MULTILINE):
            commands[command] = re.search(rf"^cc {command}\.c .*$", section, re.MULTILINE)[0]
        if blocks:
            yield (section.splitlines()[0], {name: "\n\n".join(parts) + "\n" for name, parts in files.items()}, dict(commands),
                   "GAME_KEY" in section)


def compare(last):
    """Yields what differs from the examples."""
    for name, text in last.items():
        example = re.sub(r"\A(//[^\n]*\n|\n)*", "", (EXAMPLE / name).read_text())
        if text != example:
            lines, others = text.splitlines(), example.splitlines()
            at = next((i for i, (a, b) in enumerate(zip(lines, others)) if a != b), min(len(lines), len(others)))
            yield (f"{name} of the last step is not examples/game/{name}: line {at + 1} is\n    {''.join(lines[at:at + 1])}\n"
                   f"and should be\n    {''.join(others[at:at + 1])}")


def shell(command, folder, environment):
    return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)


def build(folder, files, commands, flags, environment):
    """Returns what went wrong."""
    for name, text in files.items():
        (folder / name).write_text(text)
    for command in commands.values():
        command = command.replace("cc ", f"cc {WARNINGS} ", 1).replace(PKG_CONFIG, flags)
        done = shell(command, folder, environment)
        if done.returncode != 0:
            return f"{command}\n{done.stdout}"
    return ""


def play(folder, port, has_tokens, environment):
    """Server and client of one step. Returns what went wrong."""
    address = f"127.0.0.1:{port}"
    environment = {**environment, "GAME_KEY": "0123456789abcdef" * 4} if has_tokens else environment
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(["stdbuf", "-oL", folder / "server", address, str(SERVER_S)], env=environment, stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=log)
    try:
        target = address
        if has_tokens:
            key = folder / "server.key"
            key.touch(mode=0o600)
            key.write_text(environment["GAME_KEY"])
            # A token that is older than the server is refused.
            shell("until grep -q 'the game is open' server.log; do sleep 0.05; done", folder, environment)
            made = shell(f"pinhole token --key server.key --server {address} --client 1 --out ann.token", folder, environment)
            if made.returncode != 0:
                return made.stdout
            target = "ann.token"
        client = shell(f"./client {target} Ann {CLIENT_S}", folder, environment)
    finally:
        server.kill()
        server.wait()
    return "" if client.returncode == 0 else f"{client.stdout}---\n{(folder / 'server.log').read_text()}"


def run(steps, flags, environment):
    """Builds and runs all steps, as many at once as there are. Yields what went wrong."""
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = []
        for number, (heading, files, commands, has_tokens) in enumerate(steps):
            folder = pathlib.Path(place) / str(number)
            folder.mkdir()
            fault = build(folder, files, commands, flags, environment)
            if fault:
                yield f"{heading}: does not build\n{fault}"
            elif len(commands) == 2:
                waiting.append((heading, pool.submit(play, folder, PORT + number, has_tokens, environment)))
        for heading, result in waiting:
            if result.result():
                yield f"{heading}: the client has not seen what it should\n{result.result()}"


def main():
    steps = list(follow(DOCUMENT.read_text()))
    faults = list(compare(steps[-1][1]))
    how, folder = (sys.argv[1], pathlib.Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else ("", ROOT)
    if how == "--prefix":
        libraries = next(folder.rglob("pinhole-net.pc")).parent.parent
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(libraries),
                       "PKG_CONFIG_PATH": f"{libraries}/pkgconfig"}
        faults += run(steps, PKG_CONFIG, environment)
    elif how == "--build":
        flags = f"-I{ROOT}/include {folder}/libpinhole-net.a {folder}/libpinhole.a -lsodium -pthread"
        faults += run(steps, flags, {**os.environ, "PATH": f"{ROOT}/build:{os.environ['PATH']}"})
    print("\n".join(faults) or f"getting started: ok, {len(steps)} steps")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
