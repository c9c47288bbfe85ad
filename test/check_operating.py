#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""What docs/operating.md promises of pinhole serve and pinhole token: each check is an attack or an accident. Run by make test.

    test/check_operating.py [PROGRAM] [CHECK ...]      (default build/pinhole, all checks)

Logs that nobody reads, ports that are held open, files that others can read, keys that change. How fast anything is, is not
asked; where something could hang, a generous limit says that it does.
"""

import contextlib
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


# ---- keys and tokens -----------------------------------------------------------------------------


def token(*arguments, **options):
    return subprocess.run([check_serve.PROGRAM, "token", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=TIMEOUT_S, **options)


def make_token(key, out, **options):
    return token("--key", key, "--server", "127.0.0.1:40000", "--client", "7", "--out", out, **options)


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def check_token_file(folder):
    """A token over a file that all may read, or over a link: a new file for its owner, and nothing is written through the link."""
    folder = pathlib.Path(folder)
    key = make_key(folder, "token.key")
    old, target, link = folder / "old.token", folder / "target", folder / "link.token"
    old.write_text("old")
    target.write_text("precious")
    link.symlink_to(target)
    for path in (old, target):
        path.chmod(0o666)
    for path in (old, link):
        done = make_token(key, path)
        expect(done.returncode == 0, f"token file: {done.stderr}")
        expect(mode_of(path) == 0o600 and path.is_file() and not path.is_symlink() and path.stat().st_size == 2048,
               f"token file: {path.name} has mode {mode_of(path):o}")
    expect(target.read_text() == "precious" and mode_of(target) == 0o666, "token file: it was written through a link")
    for path in ("/dev/null", "/dev/stdout", folder):
        kind = stat.S_IFMT(os.lstat(path).st_mode)
        done = make_token(key, path)
        expect(done.returncode == 1 and "is no file" in done.stderr and stat.S_IFMT(os.lstat(path).st_mode) == kind,
               f"token file: onto {path}: exit {done.returncode}, {done.stderr!r}")
    kept = pathlib.Path(key).read_bytes()
    done = make_token(key, key)
    expect(done.returncode == 2 and "names the key" in done.stderr and pathlib.Path(key).read_bytes() == kept,
           f"token file: onto the key: exit {done.returncode}, {done.stderr!r}")
    expect(make_token(key, folder / "nowhere" / "token").returncode == 1, "token file: into a folder that is not there")
    left = sorted(path.name for path in folder.glob("*.token*"))
    expect(left == ["link.token", "old.token"], f"token file: it leaves {left}")


def key_says(command, path, **options):
    """What serve or token say of a key; "" when they take it."""
    if command == "token":
        done = make_token(path, "-", **options)
    else:
        done = subprocess.run(serve_command("--key", str(path), "--listen", "127.0.0.1:0", "--seconds", "1", "--quiet"), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, **options)
    return "" if done.returncode == 0 else done.stderr


def check_key_file(folder):
    """Keys that others can read, keys of zeros and things that are no files are refused, and the sentence says what to do."""
    folder = pathlib.Path(folder)
    good = pathlib.Path(make_key(folder, "good.key"))
    zero, wide, fifo = folder / "zero.key", folder / "wide.key", folder / "fifo.key"
    zero.touch(0o600)
    zero.write_text("0" * 64 + "\n")
    wide.write_text(good.read_text())
    os.mkfifo(fifo, 0o600)
    for command in ("serve", "token"):
        expect(key_says(command, good) == "", f"key file, {command}: a good key is refused")
        for mode in (0o666, 0o644, 0o640, 0o604, 0o620):
            wide.chmod(mode)
            said = key_says(command, wide)
            expect("chmod 600" in said, f"key file, {command}: mode {mode:o} gives {said!r}")
        for mode in (0o600, 0o400):
            wide.chmod(mode)
            expect(key_says(command, wide) == "", f"key file, {command}: mode {mode:o} is refused")
        expect("all zeros" in key_says(command, zero), f"key file, {command}: zeros are taken for a key")
        expect("must be a file or a pipe" in key_says(command, "/dev/zero"), f"key file, {command}: a device is taken")
        # As systemd shows what LoadCredential= names; and only there.
        credentials = {**os.environ, "CREDENTIALS_DIRECTORY": str(folder)}
        wide.chmod(0o440)
        expect(key_says(command, wide, env=credentials) == "", f"key file, {command}: a credential is refused")
        expect("chmod 600" in key_says(command, wide), f"key file, {command}: mode 440 is taken anywhere")
        wide.chmod(0o444)
        expect("chmod 600" in key_says(command, wide, env=credentials), f"key file, {command}: a credential for all is taken")
    reader, writer = os.pipe()
    os.write(writer, good.read_bytes())
    os.close(writer)
    expect(key_says("token", f"/dev/fd/{reader}", pass_fds=[reader]) == "", "key file: a key from a pipe is refused")
    os.close(reader)
    expect("cannot be read" in key_says("token", fifo), "key file: a pipe that nothing comes from is waited for")


def check_hangup(folder):
    """SIGHUP, as when the terminal goes: a server with a key for development ends, and the key goes with it."""
    one = Server(folder, "scene:town")
    try:
        command = one.await_line(r"^  pinhole (token .*)$").split()
        key = pathlib.Path(command[command.index("--key") + 1])
        expect(key.exists(), "hangup: there is no key")
        text = one.stop("hangup", signal.SIGHUP)
        expect("stopping: " in text, "hangup: it does not stop in order")
        expect(not key.exists(), "hangup: the key for development survives")
    finally:
        end(one.process)


def check_long_folder(folder):
    """A TMPDIR that is too long for the name of a key: a clear error, and no file with a cut name is removed."""
    deep = pathlib.Path(folder)
    while len(str(deep)) < 223:
        deep /= "d" * min(100, 223 - len(str(deep)))
    for length in (226, 236, 240, 250):
        tmp = deep.parent / (deep.name + "x" * (length - len(str(deep))))
        tmp.mkdir(parents=True)
        # What a path of 255 letters leaves of the name; of the shorter ones, before the process id, which is not known here.
        cut = pathlib.Path((str(tmp) + "/pinhole-development-")[:255])
        cut.write_text("precious")
        done = subprocess.run(serve_command("--listen", "127.0.0.1:0", "--seconds", "1"), env={**os.environ, "TMPDIR": str(tmp)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        expect(done.returncode == 1 and "TMPDIR has" in done.stderr, f"long folder, {length}: exit {done.returncode}, {done.stderr!r}")
        expect(cut.exists() and cut.read_text() == "precious", f"long folder, {length}: {cut.name!r} was removed")


def check_no_dump(folder):
    """A process with keys: no core dump, no other process of the same user reads its memory, and the key is not in it."""
    with server("no dump", folder, "scene:town", key=make_key(folder, "dump.key")) as one:
        limits = pathlib.Path(f"/proc/{one.process.pid}/limits").read_text()
        expect(re.search(r"Max core file size +0 +0 ", limits), f"no dump: {limits}")
        if os.geteuid() == 0:
            one.metric("pinhole_ticks_total", 1)
            count = count_in_memory(one.process.pid, bytes.fromhex(one.key_text))
            expect(count == 1, f"no dump: {count} copies of the key; the host has one")
            expect(count_in_memory(one.process.pid, one.key_text.encode()) == 0, "no dump: its digits are still in memory")
        else:
            print("skipped: the memory of a process that is not dumpable is looked at by root alone")
    if os.geteuid() != 0:
        return
    # As another user, so that the system does not let everything pass: that process against one of the same user.
    user = 65534
    place = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o777)
    program = place / "pinhole"
    program.write_bytes(pathlib.Path(check_serve.PROGRAM).read_bytes())
    program.chmod(0o755)
    try:
        one = subprocess.Popen([str(program), "serve", "scene:town", "--listen", "127.0.0.1:0"], user=user, group=user, extra_groups=[],
                               env={**os.environ, "TMPDIR": str(place)}, cwd="/", stdout=subprocess.PIPE, text=True)
    except PermissionError as error:
        print(f"skipped: another user may run nothing here: {error}")
        program.unlink()
        place.rmdir()
        return
    try:
        one.stdout.readline()
        looked = subprocess.run(["head", "-c", "0", f"/proc/{one.pid}/mem"], user=user, group=user, extra_groups=[], cwd="/",
                                capture_output=True, text=True)
        expect("denied" in looked.stderr, f"no dump: another process of the same user may read it: {looked.stderr!r}")
        expect(os.stat(f"/proc/{one.pid}/mem").st_uid == 0, "no dump: its memory belongs to its user")
    finally:
        one.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(TIMEOUT_S)
        end(one)
        for path in place.iterdir():
            path.unlink()
        place.rmdir()


def count_in_memory(process_id, wanted):
    """How often these bytes are in what a process may write to."""
    count = 0
    with open(f"/proc/{process_id}/mem", "rb") as memory:
        for line in pathlib.Path(f"/proc/{process_id}/maps").read_text().splitlines():
            place, rights = line.split()[:2]
            first, last = (int(number, 16) for number in place.split("-"))
            if rights.startswith("rw") and last - first <= 1 << 30:
                with contextlib.suppress(OSError):
                    memory.seek(first)
                    count += memory.read(last - first).count(wanted)
    return count


# ---- keys that change, the audit log -------------------------------------------------------------


def gets_in(of, key):
    return bots(of, "--bots", "1", "--seconds", "1", "--converge", "0", "--first-id", str(time.monotonic_ns() % 1000000), key=str(key))[0] == 0


def hang_up(one, sentence, count):
    """SIGHUP, and the count-th time the log says this."""
    one.process.send_signal(signal.SIGHUP)
    one.await_line(rf"(?s)((?:.*?^{sentence}$){{{count}}})")


def check_key_change(folder):
    """Old key, both, new key alone, while clients play; a broken file changes nothing."""
    folder = pathlib.Path(folder)
    old, new = (pathlib.Path(make_key(folder, name)) for name in ("old.key", "new.key"))
    current, following = folder / "current.key", folder / "following.key"
    current.touch(0o600)
    current.write_text(old.read_text())
    with server("key change", folder, "scene:town", "--second-key", str(following), key=str(current)) as one:
        player = subprocess.Popen(check_serve.bots_command(one, "--bots", "2", "--seconds", "12", key=str(old)), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        try:
            expect(gets_in(one, old) and not gets_in(one, new), "key change: at the start it is not the old key alone")
            following.touch(0o600)
            following.write_text(new.read_text())
            hang_up(one, "keys: read again; tokens of both keys are taken", 1)
            expect(gets_in(one, old) and gets_in(one, new), "key change: not both keys are taken")
            for text, mode in (("nonsense", 0o600), ("0" * 64, 0o600), (old.read_text(), 0o644)):
                current.write_text(text)
                current.chmod(mode)
                one.process.send_signal(signal.SIGHUP)
            one.await_line(r"^(keys: kept as they were: .*)$")
            expect(gets_in(one, old) and gets_in(one, new), "key change: a broken file takes keys away")
            following.rename(current)
            hang_up(one, "keys: read again; tokens of one key are taken", 1)
            expect(gets_in(one, new) and not gets_in(one, old), "key change: the retired key is not retired")
            output, errors = player.communicate(timeout=300)
            expect(player.returncode == 0, f"key change: who played all the time noticed it: {errors!r}")
        finally:
            end(player)


def audit_lines(path):
    return re.findall(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (came|went) client=(\d+)(?: why=(\w+))?(?: address=(\S+))?$", path.read_text(),
                      re.MULTILINE)


def check_audit(folder):
    """Each client that comes and goes, and why; no address unless asked for; a file for its owner; rotated by SIGHUP."""
    folder = pathlib.Path(folder)
    path, rotated = folder / "audit.log", folder / "audit.log.1"
    key = make_key(folder, "audit.key")
    with server("audit", folder, "scene:town", "--audit", str(path), key=key) as one:
        expect_well("audit", bots(one, "--bots", "2", "--seconds", "1", "--first-id", "70"))
        vanishing = subprocess.Popen(check_serve.bots_command(one, "--bots", "1", "--seconds", "600", "--first-id", "80"),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        one.metric("pinhole_clients_connected_total", 3)
        end(vanishing)
        one.metric("pinhole_clients_ended_total{reason=\"timed_out\"}", 1)
        path.rename(rotated)
        hang_up(one, "keys: read again; tokens of one key are taken", 1)
        stays = subprocess.Popen(check_serve.bots_command(one, "--bots", "1", "--seconds", "600", "--first-id", "90"), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        one.metric("pinhole_clients_connected_total", 4)
    stays.wait(TIMEOUT_S)
    first, second = audit_lines(rotated), audit_lines(path)
    expect(len(first) == 6 and all(not line[3] for line in first + second), f"audit: {rotated.read_text()}")
    for client, why in (("70", "disconnected"), ("71", "disconnected"), ("80", "timed_out")):
        expect([line for line in first if line[1] == client] == [("came", client, "", ""), ("went", client, why, "")],
               f"audit: of client {client}: {first}")
    expect(second == [("came", "90", "", ""), ("went", "90", "server_stops", "")], f"audit: after SIGHUP: {path.read_text()}")
    expect(mode_of(path) == 0o600 == mode_of(rotated), "audit: others can read it")
    with server("audit", folder, "scene:town", "--audit", str(path), "--audit-addresses", key=key) as one:
        expect_well("audit", bots(one, "--bots", "1", "--seconds", "1", "--first-id", "100"))
    found = [line for line in audit_lines(path) if line[0] == "came" and line[1] == "100"]
    expect(len(found) == 1 and found[0][3].startswith("127.0.0.1:"), f"audit: addresses were asked for: {path.read_text()}")
    expect(second == audit_lines(path)[:2], "audit: what was there is gone")
    path.chmod(0o644)
    link = folder / "link.log"
    link.symlink_to(rotated)
    for bad, sentence in ((path, "chmod 600"), (link, "symbolic link"), (pathlib.Path("/dev/null"), "is no file")):
        done = subprocess.run(serve_command("--audit", str(bad), "--seconds", "1"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        expect(done.returncode == 1 and sentence in done.stderr, f"audit, {bad}: exit {done.returncode}, {done.stderr!r}")


CHECKS = {
    "unread_log": check_unread_log,
    "lost_log": check_lost_log,
    "metrics_port": check_metrics_port,
    "truth_port": check_truth_port,
    "token_file": check_token_file,
    "key_file": check_key_file,
    "hangup": check_hangup,
    "long_folder": check_long_folder,
    "no_dump": check_no_dump,
    "key_change": check_key_change,
    "audit": check_audit,
}


def main():
    # Below nohup it is ignored, and would be by servers that are started here.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    names = sys.argv[1:]
    if names and names[0] not in CHECKS:
        check_serve.PROGRAM = str(pathlib.Path(names.pop(0)).resolve())
    return check_serve.run_checks("operating", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main())
