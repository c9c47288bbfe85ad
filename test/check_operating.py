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


# ---- the port for metrics ------------------------------------------------------------------------


def connect(port):
    one = socket.create_connection(("127.0.0.1", int(port)), TIMEOUT_S)
    one.settimeout(TIMEOUT_S)
    return one


def is_closed(one):
    """Whether the other side ends the connection, sooner or later; what it says until then is thrown away."""
    try:
        while one.recv(65536):
            pass
        return True
    except socket.timeout:
        return False
    except OSError:
        return True


def ask(port, request):
    """Returns (status, head, body) of what is answered to some bytes."""
    with connect(port) as one:
        one.sendall(request.encode())
        answer = b""
        with contextlib.suppress(OSError):
            while more := one.recv(65536):
                answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d+) ", head)
    return int(status[1]) if status else 0, head.decode(), body.decode()


def check_metrics_port(folder):
    """No upgrade, no other method, no name of others; HEAD has no body; 200 connections that say nothing keep no scraper away."""
    with server("metrics port", folder, "scene:town", key=make_key(folder, "metrics.key")) as one:
        port = one.metrics_url.split("/")[2].split(":")[1]
        host = f"Host: 127.0.0.1:{port}\r\n"
        upgrade = "Connection: Upgrade, HTTP2-Settings\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        for name, request, wanted in (
            ("GET", f"GET /metrics HTTP/1.1\r\n{host}\r\n", 200),
            ("WebSocket", f"GET /metrics HTTP/1.1\r\n{host}{upgrade}Origin: http://evil.example\r\nUpgrade: websocket\r\n\r\n", 400),
            ("h2c", f"GET /metrics HTTP/1.1\r\n{host}{upgrade}HTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: h2c\r\n\r\n", 200),
            ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
            ("HEAD", f"HEAD /metrics HTTP/1.1\r\n{host}\r\n", 200),
            ("POST", f"POST /metrics HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\nhello", 405),
            ("PUT", f"PUT /metrics HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n", 405),
            ("DELETE", f"DELETE /metrics HTTP/1.1\r\n{host}\r\n", 405),
            ("rebinding", f"GET /metrics HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n", 403),
            ("another port", "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 421),
            ("no Host", "GET /metrics HTTP/1.1\r\n\r\n", 400),
            ("another page", f"GET / HTTP/1.1\r\n{host}\r\n", 404),
            ("too long", f"GET /metrics HTTP/1.1\r\n{host}X: {'x' * 9000}\r\n\r\n", 431),
        ):
            status, head, body = ask(port, request)
            expect(status == wanted, f"metrics port, {name}: answered with {status}, not {wanted}:\n{head}")
            expect((body == "") == (name == "HEAD"), f"metrics port, {name}: a body of {len(body)} bytes")
            expect(("pinhole_ticks_total" in body) == (wanted == 200 and name != "HEAD"), f"metrics port, {name}: {body[:200]!r}")
            length = re.search(r"Content-Length: (\d+)", head)
            expect(length and (name == "HEAD" or int(length[1]) == len(body)), f"metrics port, {name}: its length is wrong:\n{head}")
            expect(wanted != 405 or "\r\nAllow: GET, HEAD" in head, f"metrics port, {name}: no Allow:\n{head}")
        idle = [connect(port) for _ in range(200)]
        for i, each in enumerate(idle):
            with contextlib.suppress(OSError):
                each.sendall(f"GET /metrics HTTP/1.1\r\n{upgrade}Upgrade: websocket\r\n".encode()[:10 + i])
        expect("pinhole_ticks_total" in one.metrics(), "metrics port: idle connections keep others from reading")
        expect(all(map(is_closed, idle)), "metrics port: idle connections are kept for ever")
        for each in idle:
            each.close()


# ---- the port of the truth -----------------------------------------------------------------------


def memory_kb(process):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def truth_question(kind, body=b""):
    return (1 + len(body)).to_bytes(4, "little") + bytes([kind]) + body


def check_truth_port(folder):
    """Who asks and never reads costs a few MB and is closed; listeners that say nothing keep no bots away."""
    with server("truth port", folder, "scene:town", key=make_key(folder, "truth.key")) as one:
        expect_well("truth port", bots(one, "--bots", "2", "--seconds", "1"))
        before_kb = memory_kb(one.process)
        flood = connect(one.truth)
        flood.setblocking(False)
        questions, sent, quiet = truth_question(18) * 4096, 0, 0
        deadline = time.monotonic() + TIMEOUT_S
        # Until nothing is taken any more, or far more than a server should keep.
        while sent < 64 << 20 and quiet < 50 and time.monotonic() < deadline:
            try:
                sent, quiet = sent + flood.send(questions), 0
            except BlockingIOError:
                quiet += 1
                time.sleep(0.02)
            except OSError:
                break
        grown_kb = memory_kb(one.process) - before_kb
        expect(sent < 64 << 20 and grown_kb < 24 << 10, f"truth port: {sent} bytes of questions were taken, memory grew by {grown_kb} kB")
        silent = [connect(one.truth) for _ in range(16)]
        expect_well("truth port, silent listeners", bots(one, "--bots", "2", "--seconds", "2"))
        long = connect(one.truth)
        long.sendall((1000).to_bytes(4, "little") + bytes(500))
        expect(is_closed(long), "truth port: a question of 1000 bytes is waited for")
        flood.settimeout(TIMEOUT_S)
        gone = select.poll()
        gone.register(flood, select.POLLHUP | select.POLLERR)
        expect(gone.poll(TIMEOUT_S * 1000), "truth port: who never reads is kept for ever")
        for each in (flood, long, *silent):
            each.close()


CHECKS = {
    "unread_log": check_unread_log,
    "lost_log": check_lost_log,
    "metrics_port": check_metrics_port,
    "truth_port": check_truth_port,
}


def main():
    names = sys.argv[1:]
    if names and names[0] not in CHECKS:
        check_serve.PROGRAM = str(pathlib.Path(names.pop(0)).resolve())
    return check_serve.run_checks("operating", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main())
