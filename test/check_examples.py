#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""examples/server.c and examples/client.c talk to each other over loopback, and the client to pinhole serve,
which has another schema. Run by make test.

    test/check_examples.py [FOLDER OF PROGRAMS]      (default build/release)
"""

import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
PINHOLE = ROOT / "build/pinhole"
SECONDS = 3
TIMEOUT_S = 30


def check_misfit(folder):
    """A client with another schema at pinhole serve: both say what differs. Returns what is not so."""
    folder = pathlib.Path(folder)
    key, token, audit = folder / "server.key", folder / "misfit.token", folder / "audit.log"
    subprocess.run([PINHOLE, "token", "--make-key", key], check=True)
    server = subprocess.Popen([PINHOLE, "serve", "scene:wander", "--key", key, "--listen", "127.0.0.1:0", "--audit", audit],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        address = None
        while address is None:
            head = server.stdout.readline()
            address = re.search(r"127\.0\.0\.1:\d+", head)
            if head == "":
                return ["serve says where it listens"]
        subprocess.run([PINHOLE, "token", "--key", key, "--server", address[0], "--client", "7", "--out", token], check=True)
        client = subprocess.run([PROGRAMS / "example_client", token], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        deadline = time.monotonic() + TIMEOUT_S
        while "went" not in audit.read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        server.terminate()
        log = server.communicate(timeout=TIMEOUT_S)[0]
    finally:
        server.kill()
    print(client.stdout, log, sep="---\n")
    wanted = {"the misfit is told what differs": "server" in client.stdout and "class" in client.stdout,
              "the misfit ends with a failure": client.returncode != 0,
              "the server's log says what differs": "a client was refused: " in log and "class" in log,
              "the audit says refused": "why=refused" in audit.read_text()}
    return [name for name, is_so in wanted.items() if not is_so]


def check_insecure():
    """Server and client without tokens, and bots at pinhole serve --insecure-dev. Returns what is not so."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([PROGRAMS / "example_server", f"127.0.0.1:{port}", str(SECONDS)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    client = subprocess.run([PROGRAMS / "example_client", f"localhost:{port}"], stdout=subprocess.PIPE, text=True,
                            timeout=TIMEOUT_S)
    warned = server.communicate(timeout=TIMEOUT_S)[1]
    serve = subprocess.Popen([PINHOLE, "serve", "scene:wander", "--insecure-dev", "--listen", "0.0.0.0:0"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        head = ""
        while "clients need no token" not in head:
            line = serve.stdout.readline()
            if line == "":
                return ["serve --insecure-dev says that clients need no token"]
            head += line
        address = re.search(r'"(127\.0\.0\.1:\d+)"', head)[1]
        bots = subprocess.run([PINHOLE, "bots", "--insecure-dev", "--server", address, "--source", "scene:wander", "--bots", "4",
                               "--seconds", "1"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        serve.terminate()
        serve.communicate(timeout=TIMEOUT_S)
    finally:
        serve.kill()
    print(client.stdout, warned, head, bots.stdout, sep="---\n")
    wanted = {"a client comes in by its server's name": "100 dancers in view" in client.stdout and client.returncode == 0,
              "the server says that it is insecure": "ph_host_def.is_insecure_dev is set" in warned,
              "and so does pinhole serve": "ph_host_def.is_insecure_dev is set" in head,
              "bots come in without a key": bots.returncode == 0}
    return [name for name, is_so in wanted.items() if not is_so]


def main():
    with tempfile.TemporaryDirectory() as folder:
        token = pathlib.Path(folder) / "client.token"
        server = subprocess.Popen([PROGRAMS / "example_server", token, str(SECONDS)], stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + TIMEOUT_S
        while (not token.exists() or token.stat().st_size < 2048) and time.monotonic() < deadline:
            time.sleep(0.02)
        is_private = token.stat().st_mode & 0o077 == 0
        client = subprocess.run([PROGRAMS / "example_client", token], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        heard = server.communicate(timeout=TIMEOUT_S)[0]
    print(heard, client.stdout, sep="---\n")
    wanted = {"the server hears the client": "player 0 says: hello" in heard,
              "only its owner can read the token": is_private,
              "the server ends well": server.returncode == 0,
              "the client is welcome": "the server says: welcome" in client.stdout,
              "the client sees all": "100 dancers in view" in client.stdout,
              "the client is told the end": " has ended the connection\n" in client.stdout,
              "input is processed": "up to number 0\n" not in client.stdout,
              "the client ends well": client.returncode == 0}
    missing = [name for name, is_so in wanted.items() if not is_so]
    with tempfile.TemporaryDirectory() as folder:
        missing += check_misfit(folder)
    missing += check_insecure()
    print(f"not so: {missing}" if missing else "examples: ok")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
