#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What goes wrong in the first hour with Pinhole, each provoked for real, and whether the user is told so that a stranger
understands it: which field, class or option, both values, what to do. Run by make test.

    test/check_first_hour.py BUILD [CASE ...]    BUILD/first_hour and BUILD/pinhole (default build/debug)
    test/check_first_hour.py BUILD --list        every case with its sentence
    test/check_first_hour.py BUILD --write       docs/first_hour.md anew

Two players and a server on simulated time, single calls and real sockets are in test/first_hour*.c; the program is run as a
person would. test/first_hour_cases.py is the table. The last line is "N passed, N failed".
"""

import contextlib
import gzip
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import textwrap

from first_hour_cases import CLI, GROUPS, LIBRARY, NOTES

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/first_hour.md"
CASES_MIN = 40
COLUMNS = 116
SENTENCE_MAX = 330
TIMEOUT_S = 60

HEAD = """\
# Messages and what to do

What the library and the program say when something does not go together, and what to do then. Each of these was
provoked by `test/check_first_hour.py`, which wrote this page and fails when it is no longer true (`--write` makes it
anew).

Where to look: `on_error` of every def (`ph_error_print` will do), `text` of `PH_PEER_REFUSED`, `PH_PEER_DISCONNECTED`
and `PH_PEER_UNSENT` at the client, `reason` of `PH_NET_DISCONNECTED` at the server. When nothing is said and nothing is
shown: [I see nothing](serving.md#i-see-nothing-look-here). The short list for a client that is not let in:
[it does not connect](serving.md#it-does-not-connect). Other questions: [faq.md](faq.md).
"""


# ---- provoking


def steady(sentence):
    """Without what differs from machine to machine: the port that was free, whether there is a name server."""
    sentence = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:40000", sentence)
    return sentence.replace("no name server answers; try again later", "there is no host of that name")


def ask_library(build, name):
    """What first_hour prints of a case, {who: sentence}, and why it failed; each has a process of its own, so that one that
    crashes does not take others along."""
    patience = {"RES_OPTIONS": "timeout:1 attempts:1"}  # of the resolver, where no name server answers
    done = subprocess.run([build / "first_hour", name], env={**os.environ, **patience}, capture_output=True, text=True,
                          errors="replace", timeout=TIMEOUT_S)
    said = {}
    for line in done.stdout.splitlines():
        _, who, sentence = line.split("\t")
        said[who] = steady(sentence)
    return said, [f"exit status {done.returncode}: {done.stderr}"] if done.returncode != 0 else []


def recording(edit=None, head="# rate 16\n", names="tick,entity,x_mm,y_mm,z_mm,heading_deg", heading=lambda tick: 45.0):
    """Two entities that walk for 15 s."""
    rows = [f"{tick},{entity},{tick * 80 + entity * 1000},{entity * 500},0,{heading(tick)}"
            for tick in range(240) for entity in (1, 2)]
    if edit is not None:
        rows[4] = edit
    return f"{head}{names}\n" + "\n".join(rows) + "\n"


FILES = {
    "walk.csv": recording(),
    "no_rate.csv": recording(head=""),
    "turned.csv": recording(heading=lambda tick: 360.0 if tick % 2 else -90),
    "word.csv": recording(edit="2,1,abc,0,0,45"),
    "cut.csv": recording(edit="2,1,5"),
    "unsorted.csv": recording(edit="0,1,5,5,5,45"),
    "other_names.csv": recording(names="tick,id,x,y,z,turn"),
    "empty.csv": "",
    "damaged.csv.gz": b"\x1f\x8b\x08 no gzip",
    "cut.csv.gz": gzip.compress(recording().encode(), compresslevel=0, mtime=0)[:900],
    "noise.csv": bytes(range(256)) * 8,
    "wrong.schema": "class ship\n    place: position\n    hull: rnage 0..100\n",
    "short.key": "abc\n",
    "good.key": "0123456789abcdef" * 4 + "\n",
    "open.key": "0123456789abcdef" * 4 + "\n",
}


@contextlib.contextmanager
def taken_ports():
    """A UDP and a TCP port of 127.0.0.1 that another program has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        udp.bind(("127.0.0.1", 0))
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        yield {"UDP": udp.getsockname()[1], "TCP": tcp.getsockname()[1]}


def lay_out(folder):
    for name, text in FILES.items():
        path = pathlib.Path(folder, name)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o644 if name == "open.key" else 0o600)


def ask_program(build, case, folder, ports):
    """(exit status, what it says). Ports that differ from run to run are printed as 40000 and 9100."""
    words = [re.sub(r"\b(UDP|TCP)\b", lambda kind: str(ports[kind[1]]), word) for word in case["command"].split()]
    done = subprocess.run([build / "pinhole", *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S)
    said = " ".join((done.stderr if done.returncode != 0 else done.stdout).split("\n")).strip()
    for kind, shown in (("UDP", "40000"), ("TCP", "9100")):
        said = said.replace(str(ports[kind]), shown)
    return done.returncode, said


# ---- judging


def faults_of_sentence(sentence, words):
    """What a stranger would stumble over."""
    missing = [word for word in words if word not in sentence]
    if missing:
        yield f"does not say {missing}"
    if len(sentence) > SENTENCE_MAX:
        yield f"is longer than {SENTENCE_MAX} characters"
    if re.search(r"PH_ERROR_|\(null\)|0x[0-9a-f]{6}|%[sd]", sentence):
        yield "speaks of the source"


def judge_library(case, said):
    """said: {who: sentence}. Each sentence that the case names must be there with its words, and no other."""
    if "skipped" in said:
        return []
    faults = [f"{who} says nothing" for who in case["says"] if who not in said]
    faults += [f"{who} was not expected: {said[who]!r}" for who in said if who not in case["says"]]
    for who in set(case["says"]) & set(said):
        faults += [f"{who}: {said[who]!r} {fault}" for fault in faults_of_sentence(said[who], case["says"][who])]
    return faults


def judge_program(case, status, said):
    faults = [] if status == case["status"] else [f"exit status {status} instead of {case['status']}"]
    if case["status"] != 0:
        faults += [f"{said!r} {fault}" for fault in faults_of_sentence(said, case["words"])]
    else:
        faults += [f"does not print {word!r}" for word in case["words"] if word not in said]
    return faults


def run_cases(build, chosen):
    """Yields (case, its sentence, faults)."""
    for case in LIBRARY:
        if case["name"] in chosen:
            said, trouble = ask_library(build, case["name"])
            yield case, said.get(next(iter(case["says"])), ""), trouble + judge_library(case, said)
    with tempfile.TemporaryDirectory() as folder, taken_ports() as ports:
        lay_out(folder)
        for case in CLI:
            if case["name"] in chosen:
                status, text = ask_program(build, case, folder, ports)
                yield case, text if case["status"] != 0 else "", judge_program(case, status, text)


# ---- the document


def entry(case, sentence):
    """A paragraph of the document."""
    command = f" (`pinhole {case['command'].replace('UDP', '40000').replace('TCP', '9100')}`)" if "command" in case else ""
    answer = "works" if case["works"] else f"`{sentence.removesuffix('.')}`"
    text = f"- **{case['what']}**{command}: {answer}. {case['todo']}"
    return "\n".join(textwrap.wrap(text.strip(), COLUMNS, subsequent_indent="  ", break_long_words=False,
                                   break_on_hyphens=False))


def document(results):
    text = HEAD
    for group, title in GROUPS.items():
        text += f"\n## {title}\n\n"
        if group in NOTES:
            text += textwrap.fill(NOTES[group], COLUMNS) + "\n\n"
        text += "\n".join(entry(case, sentence) for case, sentence, _ in results if case["group"] == group) + "\n"
    return text


def main():
    arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
    build = pathlib.Path(arguments[0] if arguments else "build/debug").resolve()
    every = [case["name"] for case in [*LIBRARY, *CLI]]
    chosen = arguments[1:] or every
    unknown = [name for name in chosen if name not in every]
    if unknown or len(set(every)) != len(every) or len(every) < CASES_MIN:
        print(f"there is no case {unknown[0]}" if unknown else f"{len(every)} cases, {len(set(every))} names")
        return 2
    results = list(run_cases(build, chosen))
    failed = 0
    for case, sentence, faults in sorted(results, key=lambda result: len(result[2]) > 0):
        failed += 1 if faults else 0
        print(f"{'FAIL' if faults else 'ok':<4} {case['name']}: {sentence or 'works'}")
        for fault in faults:
            print(f"     {fault}")
    if "--write" in sys.argv:
        DOCUMENT.write_text(document(results))
    elif chosen == every and "--list" not in sys.argv:
        # What cannot be provoked here has no sentence to compare.
        is_whole = all(sentence or case["works"] or faults for case, sentence, faults in results)
        is_stale = not DOCUMENT.exists() or (is_whole and DOCUMENT.read_text() != document(results))
        failed += 1 if is_stale else 0
        print(f"{'FAIL' if is_stale else 'ok':<4} docs/first_hour.md"
              f"{' is stale: test/check_first_hour.py BUILD --write' if is_stale else ' has these sentences'}")
        results.append(None)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
