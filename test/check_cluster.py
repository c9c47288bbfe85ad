#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A world on several machines, all of them on this one: pinhole cluster, sim-server, serve --bus, director, bots. Run by make test.

    test/check_cluster.py [PROGRAM] [CHECK ...]      (default build/pinhole, all checks)

Each starts its own nats-servers on free ports. How fast anything is, is not asked. Without nats-server, or in a build without
libnats, what needs them is left out, and says so.
"""

import ctypes
import json
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request

from nats_credentials import USER, Account, Key

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build/pinhole")
TIMEOUT_S = 60
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

complaints = []


def die_with_us():
    """In a child: nothing that this script has started outlives it, however it ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def expect(condition, sentence):
    if not condition:
        complaints.append(sentence)
    return condition


def run(*arguments, timeout_s=TIMEOUT_S):
    done = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s,
                          preexec_fn=die_with_us)
    return done.returncode, done.stdout, done.stderr


def why_not():
    """Why there is nothing to run here, or None."""
    if "built without libnats" in run("director", "--bus", "nats://127.0.0.1:1", "--key", "none")[2]:
        return "the program was built without libnats"
    return None if shutil.which("nats-server") else "there is no nats-server on this machine (Debian: nats-server)"


# ---- the demonstration


def figures_of(status, output, errors, name):
    try:
        return json.loads(output)
    except ValueError:
        expect(False, f"{name}: exit {status}, prints {output[-500:]!r}, says {errors[-500:]!r}")
        return {}


def check_faults():
    """A sim and a front-end killed, one frozen, one emptied in order, no director, no leader of the records: everything is the truth after each."""
    faults = ["kill-sim", "kill-front", "freeze-front", "empty-front", "kill-director", "kill-leader"]
    status, output, errors = run("cluster", "--chaos", "--bots", "30", "--faults", ",".join(faults), "--json", timeout_s=300)
    figures = figures_of(status, output, errors, "faults")
    outcomes = figures.get("outcomes", [])
    expect(status == 0 and figures.get("whole") and [one["fault"] for one in outcomes] == faults,
           f"faults: exit {status}, says {errors[-500:]!r}, found {outcomes}")
    for one in outcomes:
        expect(one["good"] and one["equal"] == 30, f"faults: {one}")
        if one["fault"].endswith("-front"):
            expect(one["moved"] >= one["players"] > 0, f"faults: players did not move: {one}")
        expect(one["echo_before_mean_ms"] > 0, f"faults: no message came back before: {one}")
    expect(figures.get("messages", 0) > 0, f"faults: no message was sent: {figures}")


def children_of(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def check_end():
    """However the command ends, nothing that it has started is left: by SIGINT, and by kill -9."""
    for number in (signal.SIGINT, signal.SIGKILL):
        one = subprocess.Popen([PROGRAM, "cluster", "--bots", "5"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, preexec_fn=die_with_us)
        try:
            for line in one.stdout:
                if line.startswith("players: 5 of 5 connected"):
                    break
            children = children_of(one.pid)
            expect(len(children) == 12, f"end: {len(children)} processes of 12")
            one.send_signal(number)
            one.wait(timeout=TIMEOUT_S)
            deadline = time.monotonic() + TIMEOUT_S
            while not all(map(is_gone, children)) and time.monotonic() < deadline:
                time.sleep(0.05)
            left = [pid for pid in children if not is_gone(pid)]
            expect(not left, f"end: after signal {number} {len(left)} processes are left")
        finally:
            one.kill()
            one.wait()


class Screen:
    """`pinhole cluster` at a terminal: what it has drawn, without colours and places."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen([PROGRAM, "cluster", *arguments], stdin=slave, stdout=slave, stderr=slave,
                                        env={**os.environ, "TERM": "xterm"}, preexec_fn=die_with_us)
        os.close(slave)
        self.text = ""

    def read(self):
        try:
            if select.select([self.master], [], [], 0.1)[0]:
                drawn = os.read(self.master, 65536).decode(errors="replace")
                self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", drawn)
        except OSError:
            pass  # it has ended

    def await_text(self, pattern):
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            self.read()
            if re.search(pattern, self.text):
                return
        expect(False, f"keys: {pattern!r} is not shown: {self.text[-800:]!r}")

    def press(self, keys, pattern):
        os.write(self.master, keys)
        self.await_text(pattern)

    def end(self, keys):
        os.write(self.master, keys)
        deadline = time.monotonic() + TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        self.process.kill()
        return self.process.wait()


def check_keys():
    """At a terminal: keys choose a part, kill, freeze and empty it, and it says what became of that and of the players."""
    screen = Screen("--bots", "5", "--no-page")
    screen.await_text("bots are in")
    screen.press(b"8k", "front-1: killed -9")
    screen.press(b"", "front-1: (.* players moved|no player had to move)")
    screen.press(b"9f", "front-2: frozen for 3 s")
    screen.press(b"1e", "nats-1 has nothing to give away")
    screen.press(b"4e", "sim-a: stopped in order")
    children = children_of(screen.process.pid)
    status = screen.end(b"q")
    expect(status == 0 and len(children) > 8 and all(map(is_gone, children)), f"keys: exit {status}, of {len(children)} parts some are left")


def check_killed():
    """A check that is killed with -9 leaves no nats-server and nothing else behind."""
    one = subprocess.Popen([sys.executable, __file__, PROGRAM, "parts"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, preexec_fn=die_with_us)
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while len(children_of(one.pid)) < 7 and one.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        children = children_of(one.pid)
        expect(len(children) >= 7, f"killed: {len(children)} processes of 7")
        one.kill()
        one.wait()
        while not all(map(is_gone, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        expect(all(map(is_gone, children)), "killed: something is left")
    finally:
        one.kill()
        one.wait()


# ---- the parts by themselves


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Part:
    """A process with a log."""

    def __init__(self, folder, name, *command):
        self.log = pathlib.Path(folder) / f"{name}.log"
        with self.log.open("w") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                            preexec_fn=die_with_us)

    def await_line(self, pattern):
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(pattern, self.log.read_text(), re.MULTILINE)
            if found:
                return found[1] if found.groups() else found[0]
            time.sleep(0.05)
        expect(False, f"{self.log.name}: no line is {pattern!r}: {self.log.read_text()[-800:]!r}")
        return ""

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def metrics_of(url):
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        return dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", answer.read().decode(), re.MULTILINE))


def await_sum(urls, name, wanted, at_least=False):
    """Until the figure of all of them together is that."""
    deadline = time.monotonic() + TIMEOUT_S
    found = []
    while time.monotonic() < deadline:
        found = [float(metrics_of(url).get(name, 0)) for url in urls]
        if sum(found) == wanted or (at_least and sum(found) > wanted):
            return
        time.sleep(0.1)
    expect(False, f"{name} is {found} and not {wanted} together")


def check_parts():
    """One of each, by hand, with a password at NATS: bots play, metrics tell of it, SIGTERM and SIGUSR1 end in order."""
    with tempfile.TemporaryDirectory() as folder:
        port, parts = free_port(), []
        conf, password, key, schema = (pathlib.Path(folder) / name
                                       for name in ("nats.conf", "password", "server.key", "own.schema"))
        conf.write_text(f'listen: 127.0.0.1:{port}\njetstream {{ store_dir: "{folder}/js" }}\n'
                        'authorization { user: game, password: "a secret" }\n')
        password.write_text("a secret\n")
        subprocess.run([PROGRAM, "token", "--make-key", str(key)], check=True)
        bus = ["--bus", f"nats://127.0.0.1:{port}", "--world", "test", "--bus-user", "game", "--bus-password", str(password)]

        def start(name, *command):
            parts.append(Part(folder, name, *command))
            return parts[-1]

        try:
            start("nats", "nats-server", "-c", str(conf)).await_line("Server is ready")
            wrong = run("director", *bus[:4], "--key", str(key), "--seconds", "1")
            expect(wrong[0] == 1 and wrong[2].count("\n") == 1, f"parts: without a password: {wrong}")
            schema.write_text("class one\n    place: position\n\nclass two\n    place: position\n    lives: range 0..3\n")
            start("own", PROGRAM, "serve", "--schema", str(schema), "--rate", "20", *bus, "--world", "own", "--key", str(key),
                  "--listen", "127.0.0.1:0").await_line("own.schema: 0 entities, 20 ticks")
            parts[-1].await_line("listening on")
            sims = [start(name, PROGRAM, "sim-server", "scene:town", *bus, "--name", name, "--cell", "64", "--metrics", "0")
                    for name in ("sim-a", "sim-b")]
            sims[0].await_line("region 0 is (ours)|2 standby|1 standby")
            fronts = [start(name, PROGRAM, "serve", "scene:town", *bus, "--name", name, "--cell", "64", "--key", str(key),
                            "--listen", "127.0.0.1:0", "--metrics", "0") for name in ("front-1", "front-2")]
            start("director", PROGRAM, "director", *bus, "--key", str(key)).await_line("fronts 2")
            bots = start("bots", PROGRAM, "bots", "--director", *bus[1:], "--source", "scene:town", "--bots", "8",
                         "--seconds", "600", "--chat", "2", "--loss", "2", "--rtt", "40", "--json")
            urls = [one.await_line(r"metrics on (\S+)") for one in (*sims, *fronts)]
            figure = "pinhole_sim_players"
            await_sum(urls[:2], figure, 8)
            await_sum(urls[2:], "pinhole_front_players", 8)
            found = [metrics_of(url) for url in urls[:2]]
            expect(sum(float(one.get("pinhole_sim_regions_owned", 0)) for one in found) == 1,
                   f"parts: of two sims {[one.get('pinhole_sim_regions_owned') for one in found]} own the region")
            await_sum(urls[:2], "pinhole_sim_messages_total", 16, at_least=True)
            fronts[0].process.send_signal(signal.SIGUSR1)
            owner = sims[0] if float(found[0]["pinhole_sim_regions_owned"]) else sims[1]
            owner.process.terminate()
            expect(fronts[0].process.wait(TIMEOUT_S) == 0 and owner.process.wait(TIMEOUT_S) == 0, "parts: one did not end in order")
            expect("0 regions were left without" in owner.log.read_text(), f"parts: {owner.log.read_text()[-300:]!r}")
            await_sum([urls[3]], "pinhole_front_players", 8)
            heir = urls[1 if owner is sims[0] else 0]
            await_sum([heir], figure, 8)
            bots.process.terminate()
            status = bots.process.wait(TIMEOUT_S)  # 1 as well when a busy machine has interrupted them for long
            figures = figures_of(status, bots.log.read_text(), "", "parts")
            expect(figures.get("connected") == 8 and figures.get("messages_returned", 0) > 0 and
                   [figures.get(name) for name in ("ended", "discontinued", "messages_wrong", "inputs_backward")] == [0, 0, 0, 0],
                   f"parts: bots exit with {status}, found {figures}")
        finally:
            for one in parts:
                one.end()


def make_certificates(folder):
    """A CA, and a certificate by it for the server and one for clients; and another CA. PEM files, each with its .key."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")
    pathlib.Path(folder, "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", f"{name}.pem")


def check_secure():
    """TLS with certificates of both sides, and a token: in with all of them, not in without any one; nothing of it is logged."""
    if shutil.which("openssl") is None:
        print("skipped: secure: there is no openssl on this machine (Debian: openssl)")
        return
    with tempfile.TemporaryDirectory() as folder:
        make_certificates(folder)
        port = free_port()
        conf, token, wrong, key = (pathlib.Path(folder) / name for name in ("nats.conf", "token", "wrong", "server.token_key"))
        conf.write_text(f'listen: 127.0.0.1:{port}\njetstream {{ store_dir: "{folder}/js" }}\nauthorization {{ token: "a-secret-token" }}\n'
                        f'tls {{ cert_file: "{folder}/server.pem", key_file: "{folder}/server.key", ca_file: "{folder}/ca.pem", '
                        'verify: true }\n')
        token.write_text("a-secret-token\n")
        wrong.write_text("another-token\n")
        subprocess.run([PROGRAM, "token", "--make-key", str(key)], check=True)
        right = {"--bus-ca": f"{folder}/ca.pem", "--bus-cert": f"{folder}/client.pem", "--bus-key": f"{folder}/client.key",
                 "--bus-token": str(token)}
        nats = Part(folder, "nats", "nats-server", "-c", str(conf))
        try:
            nats.await_line("Server is ready")

            def director(options):
                words = [word for pair in options.items() for word in pair]
                return Part(folder, "director", PROGRAM, "director", "--bus", f"nats://127.0.0.1:{port}", "--key", str(key),
                            "--metrics", "0", *words)

            one = director(right)
            url = one.await_line(r"metrics on (\S+)")
            one.await_line("fronts 0")
            figures = metrics_of(url) if url else {}
            expect(float(figures.get("pinhole_nats_published_total", -1)) >= 0 and "pinhole_director_fronts" in figures,
                   f"secure: the director's metrics are {sorted(figures)}")
            expect("secret" not in one.log.read_text(), "secure: the token is in the log")
            one.end()
            for name, changed in (("another CA", {"--bus-ca": f"{folder}/other.pem"}), ("another token", {"--bus-token": str(wrong)}),
                                  ("no certificate", {"--bus-cert": None, "--bus-key": None}), ("no token", {"--bus-token": None}),
                                  ("no TLS", {"--bus-ca": None, "--bus-cert": None, "--bus-key": None})):
                one = director({option: value for option, value in {**right, **changed}.items() if value is not None})
                status = one.process.wait(TIMEOUT_S)
                expect(status == 1 and one.log.read_text().count("\n") >= 1, f"secure: with {name} it exits with {status}")
                one.end()
        finally:
            nats.end()


def check_credentials():
    """A credentials file: in with it, and the records work; not in with that of another account, another key, none, or no file."""
    if shutil.which("openssl") is None:
        print("skipped: credentials: there is no openssl on this machine (Debian: openssl)")
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
        port = free_port()
        conf, key = (pathlib.Path(folder) / name for name in ("nats.conf", "server.token_key"))
        account = Account(folder)
        conf.write_text(f'listen: 127.0.0.1:{port}\njetstream {{ store_dir: "{folder}/js" }}\n{account.settings}')
        subprocess.run([PROGRAM, "token", "--make-key", str(key)], check=True)
        right = account.write_user("game.creds")
        wrong = (("of another account", Account(elsewhere).write_user("game.creds"), "refused"),
                 ("with another key", account.write_user("mixed.creds", Key(folder, "stranger", USER)), "refused"),
                 ("none", None, "refused"),
                 ("no file", pathlib.Path(folder, "nowhere.creds"), "nowhere.creds"),
                 ("a file without any", conf, "nats.conf"))
        nats = Part(folder, "nats", "nats-server", "-c", str(conf))
        try:
            nats.await_line("Server is ready")
            bus = ["--bus", f"nats://127.0.0.1:{port}"]
            sim = Part(folder, "sim", PROGRAM, "sim-server", "scene:town", *bus, "--cell", "64", "--bus-creds", str(right))
            sim.await_line("region 0 is ours")
            sim.end()
            for name, path, hint in wrong:
                creds = ["--bus-creds", str(path)] if path else []
                status, _, errors = run("director", *bus, "--key", str(key), "--seconds", "1", *creds)
                expect(status == 1 and errors.count("\n") == 1 and hint in errors,
                       f"credentials: {name}: exit {status}, says {errors!r}")
        finally:
            nats.end()


# ---- options


def check_options():
    """What is asked wrongly is said in a sentence that names what to do."""
    for arguments, hint in (
        (("sim-server",), "say what to play"),
        (("sim-server", "scene:town"), "say where NATS is"),
        (("sim-server", "scene:town", "--bus", "127.0.0.1"), "begins with nats://"),
        (("sim-server", "scene:town", "--bus", "nats://127.0.0.1:1", "--want", "1"), "the map has no region 1"),
        (("sim-server", "scene:town", "--bus", "nats://127.0.0.1:1", "--regions", "0: 5..1, 0..1"), "a region is a number and the cells"),
        (("sim-server", "scene:town", "--bus", "nats://127.0.0.1:1", "--regions", "0: 0..5, 0..5; 1: 5..9, 5..9"), "share a cell"),
        (("sim-server", "scene:town", "--bus", "nats://127.0.0.1:1", "--verify", "400"), "less than half of --suspect"),
        (("director", "--bus", "nats://127.0.0.1:1"), "say the key of the front-ends"),
        (("director", "--bus", "nats://127.0.0.1:1", "--name", "a b", "--key", "k"), "--world and --name take"),
        (("serve", "scene:town", "--bus", "nats://127.0.0.1:1"), "--bus stands beside --key"),
        (("serve", "scene:town", "--bus", "nats://127.0.0.1:1", "--key", "k", "--truth", "0"), "--bus goes without --truth"),
        (("serve", "--bus", "nats://127.0.0.1:1", "--key", "k"), "the schema of your game beside --bus"),
        (("bots", "--director", "nats://127.0.0.1:1"), "say what the sims play"),
        (("bots", "--director", "nats://127.0.0.1:1", "--source", "scene:town", "--key", "k"), "--director goes without --key"),
        (("cluster", "--chaos", "--faults", "kill-moon"), "there is no fault 'kill-moon'"),
        (("cluster", "--faults", "kill-sim"), "--faults stands beside --chaos"),
        (("cluster", "--port", "x"), "--port takes a port"),
        (("plan",), "say how many players"),
    ):
        status, output, errors = run(*arguments)
        expect(status == 2 and not output and hint in errors, f"`pinhole {' '.join(arguments)}`: exit {status}, says {errors!r}")
    status, _, errors = run("sim-server", "scene:town", "--bus", "nats://192.0.2.1:4222")
    expect(status == 1 and errors.count("\n") == 1, f"another machine without credentials: exit {status}, says {errors!r}")
    status, _, errors = run("director", "--bus", f"nats://127.0.0.1:{free_port()}", "--key", os.devnull)
    expect(status == 1, f"a key that is none: exit {status}, says {errors!r}")


def check_plan():
    """The calculator: more players want more machines, and a hot spot that does not fit is said to."""
    answers = [json.loads(run("plan", "--viewers", str(count), "--json")[1]) for count in (10000, 1000000)]
    expect(answers[0]["machines"] < answers[1]["machines"] and answers[1]["fronts"] >= 50, f"plan: {answers}")
    hot = run("plan", "--viewers", "1000000", "--hot-spot", "100000")
    expect(hot[0] == 0 and "It does not fit" in hot[1], f"plan: {hot}")
    expect("e+0" not in hot[1] and "1,000,000 players" in hot[1] and max(map(len, hot[1].splitlines())) <= 100,
           f"plan: figures or lines that are hard to read: {hot[1]}")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write('{"bench": "bus", "fronts": 4, "sim_ns": 880, "front_ns": 200, "server_ns": 400, "record_bytes": 30}')
        file.flush()
        own = json.loads(run("plan", "--viewers", "1000000", "--figures", file.name, "--json")[1])
        expect(own["figures"] == file.name and own["sim_cores"] > answers[1]["sim_cores"], f"plan: {own}")
    status, _, errors = run("plan", "--viewers", "1", "--figures", os.devnull)
    expect(status == 1 and "no figures" in errors, f"plan: exit {status}, says {errors!r}")


CHECKS = {
    "options": check_options,
    "plan": check_plan,
    "parts": check_parts,
    "secure": check_secure,
    "credentials": check_credentials,
    "faults": check_faults,
    "end": check_end,
    "keys": check_keys,
    "killed": check_killed,
}
NEEDS_NATS = ("parts", "secure", "credentials", "faults", "end", "keys", "killed", "options")


def main():
    global PROGRAM
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in CHECKS:
        PROGRAM = str(pathlib.Path(arguments.pop(0)).resolve())
    missing = why_not()
    for name in arguments or CHECKS:
        if missing and name in NEEDS_NATS:
            print(f"skipped: {name}: {missing}")
            continue
        start = time.monotonic()
        CHECKS[name]()
        print(f"{name} took {time.monotonic() - start:.0f} s", flush=True)
    for one in complaints:
        print(one)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
