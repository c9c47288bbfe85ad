#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A server and its bots in two network namespaces, with a link between them that carries less than the budgets. Run by make test.

    test/check_bottleneck.py [PROGRAM]      (default build/pinhole)

A real interface (veth) with a real queue (tbf): the rate controller must find out what it carries, and the views stay alive.
Needs root, iproute2, and a kernel that allows namespaces, veth and tbf; where one of them is missing it says
"skipped: why", and tools/test counts it as that.
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import network_pair

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/pinhole").resolve())
BOTS = 8
BUDGET_KBPS = 26
LINK_KBPS = 100  # for all of them, in place of 208
SECONDS = 18
SECONDS_MAX = 72
SETTLED_S = 10  # the controller has found out by then what the link carries
JUDGED_S = 5  # the last ones in which the machine let the server tick
SOURCE = ["scene:wander", "--profile", "classic"]


def play(pair, folder, seconds):
    """Returns (figures of the bots, log of the server)."""
    key, log = f"{folder}/key", pathlib.Path(folder) / "log"
    subprocess.run([PROGRAM, "token", "--make-key", key], check=True)
    with log.open("w") as out:
        server = subprocess.Popen([*pair.at_server, PROGRAM, "serve", *SOURCE, "--entities", "150", "--key", key,
                                   "--kbps", str(BUDGET_KBPS), "--listen", f"{network_pair.SERVER_ADDRESS}:0"],
                                  stdout=out, stderr=out)
    try:
        address = None
        while address is None and server.poll() is None:
            time.sleep(0.05)
            address = re.search(r"^listening on (\S+)$", log.read_text(), re.MULTILINE)
        if address is None:
            raise RuntimeError(log.read_text())
        done = subprocess.run([*pair.at_clients, PROGRAM, "bots", "--source", *SOURCE, "--key", key, "--server",
                               address[1], "--bots", str(BOTS), "--seconds", str(seconds), "--json"],
                              capture_output=True, text=True, timeout=seconds + 100)
        text = log.read_text()
        if done.returncode != 0:
            raise RuntimeError(f"bots exit with {done.returncode}: {done.stderr}{done.stdout}\n{text}")
        return json.loads(done.stdout), text
    finally:
        server.terminate()
        server.wait()


def judged_lines(log):
    """Seconds in which all were there and no tick was missed. Eight clients are no work for a server: when it misses ticks, the
    machine did something else, and what it measured meanwhile is not what the link carries."""
    lines = [line for line in log.splitlines() if line.startswith(f"clients {BOTS} ")][SETTLED_S:-1]
    return [line for line in lines if " missed 0 " in line][-JUDGED_S:]


def judge(figures, lines):
    """Yields what is wrong."""
    def each(pattern):
        return [float(re.search(pattern, line)[1]) for line in lines]

    sent, allowed = each(r"out \d+/s ([\d.]+) of"), each(r"out \d+/s [\d.]+ of ([\d.]+) kbit/s")
    mean_sent = statistics.mean(sent)
    if mean_sent * BOTS > 1.25 * LINK_KBPS:
        yield f"at the end {mean_sent:.1f} kbit/s go to each, and the link carries {LINK_KBPS / BOTS:.1f}"
    if mean_sent * BOTS < 0.4 * LINK_KBPS:
        yield f"at the end only {mean_sent:.1f} kbit/s go to each, of {LINK_KBPS / BOTS:.1f}"
    if min(allowed) >= BUDGET_KBPS:
        yield f"the controller never noticed: it allows {allowed} kbit/s"
    answers, rtt_ms, loss_pct = each(r"in (\d+)/s"), each(r"rtt (\d+) ms"), each(r"loss ([\d.]+) %")
    if statistics.median(answers) < 2 * BOTS or statistics.median(rtt_ms) > 1000 or statistics.median(loss_pct) > 10:
        yield f"news do not arrive: {answers} answers a second, round trips of {rtt_ms} ms, {loss_pct} % lost"
    if figures["connected"] != BOTS or figures["refused"] != 0 or figures["shown"] < 20:
        yield f"the views are not alive: {figures}"


def play_judged():
    """Returns (what is wrong, the server's log), of a play that is long enough for the machine."""
    seconds = SECONDS
    while True:
        with network_pair.Pair() as pair, tempfile.TemporaryDirectory() as folder:
            network_pair.need("tc", "-n", pair.server, "qdisc", "add", "dev", "pinhole0", "root", "tbf", "rate",
                              f"{LINK_KBPS}kbit", "burst", "4000", "latency", "400ms")
            figures, log = play(pair, folder, seconds)
        lines = judged_lines(log)
        if len(lines) == JUDGED_S:
            return list(judge(figures, lines)), log
        seconds *= 2
        if seconds > SECONDS_MAX:
            raise network_pair.Missing(f"the machine does not let a server tick for {JUDGED_S} of {SECONDS_MAX} seconds")


def goes_wrong():
    complaints, log = play_judged()
    print("\n".join([*complaints, log]) if complaints else "bottleneck: ok", flush=True)
    return bool(complaints)


def check():
    """Eight controllers on a real clock, and a machine with other work: a play may go wrong by chance. Two more must be right then."""
    return int(goes_wrong() and (goes_wrong() or goes_wrong()))


def main():
    try:
        network_pair.make_mounts(("tc", "iproute2"))
        return check()
    except network_pair.Missing as missing:
        print(f"skipped: {missing}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
