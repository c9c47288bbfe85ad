#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What docs/operating.md promises of pinhole serve and pinhole token: each check is an attack or an accident. Run by make test.

    test/check_operating.py [PROGRAM] [CHECK ...]      (default build/pinhole, all checks)

Logs that nobody reads, ports that are held open, files that others can read, keys that change. How fast anything is, is not
asked; where something could hang, a generous limit says that it does.
"""

import contextlib
import errno
import fcntl
import os
import pathlib
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request

import check_serve
from check_serve import TIMEOUT_S, Server, bots, end, expect, expect_well, make_key, server

PIPE_SIZE = 4096


def serve_command(*arguments):
    return [check_serve.PROGRAM, "serve", "scene:town", *arguments]


def free_port():
    """For a server whose log cannot be read. Another program could take it before the server does: hardly ever."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def metrics_of(port):
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_S) as answer:
                text = answer.read().decode()
            return dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def await_metric(port, name, least):
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if float(metrics_of(port).get(name, 0)) >= least:
            return True
        time.sleep(0.1)
    return False


class BlindServer:
    """A server whose standard output goes somewhere that does not tell: ports and key are given."""

    def __init__(self, key, output):
        self.key = key
        port, self.metrics, truth = free_port(), free_port(), free_port()
        self.address, self.truth = f"127.0.0.1:{port}", str(truth)
        command = serve_command("--listen", self.address, "--metrics", str(self.metrics), "--truth", self.truth, "--key", key)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)

    def is_ready(self):
        metrics_of(self.metrics)
        return self

    def ends(self, name):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(TIMEOUT_S)
            expect(status == 0, f"{name}: the server exits with {status}")
        except subprocess.TimeoutExpired:
            expect(False, f"{name}: SIGTERM does not end the server")


# ---- the log -------------------------------------------------------------------------------------


def fill(pipe):
    """By a file description of our own: O_NONBLOCK on that of the server would hide what is tested."""
    own = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(own, b"x")
    os.close(own)


def drain(pipe, pattern):
    """Reads until the pattern is there or a minute is over."""
    deadline, text = time.monotonic() + TIMEOUT_S, ""
    while time.monotonic() < deadline and not re.search(pattern, text):
        if select.select([pipe], [], [], 0.1)[0]:
            text += os.read(pipe, PIPE_SIZE).decode(errors="replace")
    return text


def check_unread_log(folder):
    """A pipe of 4 KB that nobody reads: clients connect and stay, what is lost is counted and told, SIGTERM ends the server."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    fill(writer)
    one = BlindServer(make_key(folder, "unread.key"), writer)
    try:
        try:
            expect_well("unread log", bots(one.is_ready(), "--bots", "4", "--seconds", "3"))
            # A line a second; there is memory for some 20 of them.
            expect(await_metric(one.metrics, "pinhole_log_lines_dropped_total", 1), "unread log: no line is said to be dropped")
            text = drain(reader, r"(?m)^[1-9]\d* lines dropped because nobody reads the log$")
            expect("lines dropped because nobody reads the log" in text, f"unread log: who reads it again is not told:\n{text[-2000:]}")
            expect("listening on " in text, "unread log: the first lines are not there")
        except (OSError, subprocess.TimeoutExpired) as error:
            expect(False, f"unread log: the server does not answer: {error}")
        fill(writer)
        one.ends("unread log")
    finally:
        end(one.process)
        os.close(reader)
        os.close(writer)


def check_lost_log(folder):
    """A full disk, a pipe whose reader has gone, no standard output at all: lines are counted as dropped, clients notice nothing."""
    key = make_key(folder, "lost.key")
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full:
        for name, output in (("full disk", full), ("no reader", writer)):
            one = BlindServer(key, output)
            try:
                expect_well(f"lost log, {name}", bots(one.is_ready(), "--bots", "4", "--seconds", "1"))
                expect(await_metric(one.metrics, "pinhole_log_lines_dropped_total", 3), f"lost log, {name}: no line is said to be dropped")
                one.ends(f"lost log, {name}")
            finally:
                end(one.process)
    os.close(writer)


CHECKS = {
    "unread_log": check_unread_log,
    "lost_log": check_lost_log,
}


def main():
    names = sys.argv[1:]
    if names and names[0] not in CHECKS:
        check_serve.PROGRAM = str(pathlib.Path(names.pop(0)).resolve())
    return check_serve.run_checks("operating", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main())
