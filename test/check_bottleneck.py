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
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/pinhole").resolve())
BOTS = 8
BUDGET_KBPS = 26
LINK_KBPS = 100  # for all of them, in place of 208
SECONDS = 18
JUDGED_S = 5  # the last ones
SOURCE = ["scene:wander", "--profile", "classic"]

# Set once we have mounts of our own: `ip netns` mounts things that would outlive us.
OWN_MOUNTS = "PINHOLE_BOTTLENECK_MOUNTS"

SERVER, CLIENTS = (f"pinhole{os.getpid()}{end}" for end in "ab")


class Missing(Exception):
    pass


def need(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(command)}`: {done.stderr.strip()}")


def make_mounts():
    """Starts this script once more, with mounts of its own that end with it."""
    if os.geteuid() != 0:
        raise Missing("not root")
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(tool) is None:
            raise Missing(f"there is no {tool} (package {package})")
    if OWN_MOUNTS not in os.environ:
        need("unshare", "--mount", "true")
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, OWN_MOUNTS: "1"})


def make_network():
    for name in (SERVER, CLIENTS):
        need("ip", "netns", "add", name)
    need("ip", "link", "add", "pinhole0", "netns", SERVER, "type", "veth", "peer", "name", "pinhole1", "netns", CLIENTS)
    for name, device, address in ((SERVER, "pinhole0", "10.77.0.1/24"), (CLIENTS, "pinhole1", "10.77.0.2/24")):
        need("ip", "-n", name, "addr", "add", address, "dev", device)
        need("ip", "-n", name, "link", "set", device, "up")
        need("ip", "-n", name, "link", "set", "lo", "up")
        need("ip", "netns", "exec", name, "true")
    need("tc", "-n", SERVER, "qdisc", "add", "dev", "pinhole0", "root", "tbf", "rate", f"{LINK_KBPS}kbit", "burst", "4000",
         "latency", "400ms")


def remove_network():
    for name in (SERVER, CLIENTS):
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def play(folder):
    """Returns (figures of the bots, log of the server)."""
    key, log = f"{folder}/key", pathlib.Path(folder) / "log"
    subprocess.run([PROGRAM, "token", "--make-key", key], check=True)
    with log.open("w") as out:
        server = subprocess.Popen(["ip", "netns", "exec", SERVER, PROGRAM, "serve", *SOURCE, "--entities", "150", "--key", key,
                                   "--kbps", str(BUDGET_KBPS), "--listen", "10.77.0.1:0"], stdout=out, stderr=out)
    try:
        address = None
        while address is None and server.poll() is None:
            time.sleep(0.05)
            address = re.search(r"^listening on (\S+)$", log.read_text(), re.MULTILINE)
        if address is None:
            raise RuntimeError(log.read_text())
        done = subprocess.run(["ip", "netns", "exec", CLIENTS, PROGRAM, "bots", "--source", *SOURCE, "--key", key, "--server",
                               address[1], "--bots", str(BOTS), "--seconds", str(SECONDS), "--json"],
                              capture_output=True, text=True, timeout=120)
        text = log.read_text()
        if done.returncode != 0:
            raise RuntimeError(f"bots exit with {done.returncode}: {done.stderr}{done.stdout}\n{text}")
        return json.loads(done.stdout), text
    finally:
        server.terminate()
        server.wait()


def judge(figures, log):
    """Yields what is wrong."""
    lines = [line for line in log.splitlines() if line.startswith(f"clients {BOTS} ")][-JUDGED_S - 1:-1]
    sent, allowed = ([float(re.search(rf"out \d+/s {pattern} kbit/s", line)[1]) for line in lines]
                     for pattern in (r"([\d.]+) of [\d.]+", r"[\d.]+ of ([\d.]+)"))
    mean_sent = sum(sent) / len(sent)
    if mean_sent * BOTS > 1.25 * LINK_KBPS:
        yield f"at the end {mean_sent:.1f} kbit/s go to each, and the link carries {LINK_KBPS / BOTS:.1f}"
    if mean_sent * BOTS < 0.4 * LINK_KBPS:
        yield f"at the end only {mean_sent:.1f} kbit/s go to each, of {LINK_KBPS / BOTS:.1f}"
    if min(allowed) >= BUDGET_KBPS:
        yield f"the controller never noticed: it allows {allowed} kbit/s"
    answers, rtt_ms, loss_pct = ([float(re.search(pattern, line)[1]) for line in lines]
                                 for pattern in (r"in (\d+)/s", r"rtt (\d+) ms", r"loss ([\d.]+) %"))
    if min(answers) < 2 * BOTS or max(rtt_ms) > 1000 or loss_pct[-1] > 10:
        yield f"news do not arrive: {answers} answers a second, round trips of {rtt_ms} ms, {loss_pct} % lost"
    if figures["connected"] != BOTS or figures["refused"] != 0 or figures["shown"] < 20:
        yield f"the views are not alive: {figures}"


def check():
    try:
        make_network()
        with tempfile.TemporaryDirectory() as folder:
            figures, log = play(folder)
    finally:
        remove_network()
    complaints = list(judge(figures, log))
    print("\n".join(complaints) if complaints else "bottleneck: ok")
    if complaints:
        print(log)
    return 1 if complaints else 0


def main():
    try:
        make_mounts()
        return check()
    except Missing as missing:
        print(f"skipped: {missing}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
