#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The examples between two machines: servers in one network namespace, clients in another, and 5 % of all datagrams lost on
the way. Run by make test.

    test/check_game.py [FOLDER OF PROGRAMS [CASE...]]      (default build/release, all cases)

- by_address: the game, by address; servers in C and in C++, each with clients of both. The server ends and comes back.
- by_token: the game with a key and tokens; a token that was used is refused, and so is what is no key.
- shipped: examples/server.c and examples/client.c.
- misfit: a client of another game is refused, and says what differs.

Needs root, iproute2, nftables, and a kernel that allows namespaces and veth; where one of them is missing it says
"skipped: why", and tools/test counts it as that. No figure of time is judged, only what was seen in the end.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import network_pair

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
PINHOLE = ROOT / "build/pinhole"
CODE_LINES_MAX = 120
LOSS_PERCENT = 5
PLAY_S = 28  # how long a client plays; it joins within 2 s, and is shown all within 4 s of that
FIRST_SERVER_S = 12  # then it ends, and another one takes its place; so much more with each try
STAY_S = PLAY_S - FIRST_SERVER_S
TRIES = 3  # until all players are in before that: a machine with other work may take longer
TIMEOUT_S = 90
# stdbuf, which lets us read lines as they come, is loaded before the programs; with AddressSanitizer that must be allowed.
FOR_STDBUF = {"ASAN_OPTIONS": "verify_asan_link_order=0"}


class Program:
    """A process whose output is kept, and that ends with its block."""

    def __init__(self, where, words, **environment):
        self.log = tempfile.NamedTemporaryFile("r")
        with open(self.log.name, "wb") as out:
            self.process = subprocess.Popen([*where, "stdbuf", "-oL", *map(str, words)], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, env={**os.environ, **FOR_STDBUF, **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def output(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def wait(self):
        return self.process.wait(TIMEOUT_S)

    def await_that(self, is_so):
        deadline = time.monotonic() + TIMEOUT_S
        while not is_so() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)


def start_game(pair, program, address, seconds, **environment):
    """Comes back when it is open: tokens made before that are refused."""
    server = Program(pair.at_server, [PROGRAMS / program, address, seconds], **environment)
    server.await_that(lambda: "the game is open" in server.output())
    return server


def way_m(output):
    """How far the player came in one stay, in m from east to west. Its first seconds do not count: it is put to its place."""
    stays = [stay.partition(" has ended the connection")[0] for stay in output.split("we are in the game")[1:]]
    stays = [[int(n) for n in re.findall(r" at (-?\d+), -?\d+ m: \d+ hit points", stay)] for stay in stays]
    return max((max(xs[3:]) - min(xs[3:]) for xs in stays if len(xs) > 3), default=0)


def judge_player(name, player, others, joins):
    """What a player should have seen and has not."""
    status, output = player.wait(), player.output()
    wanted = {"ends well": status == 0,
              f"joins {joins} times": output.count("we are in the game") == joins,
              "hears itself": f"{name}: hello" in output,
              "hears those that come later": all(f"{other}: hello" in output for other in others),
              "sees itself by name": f"{name} is in view" in output,
              "sees others by name": all(f"{other} is in view" in output for other in others),
              "walks by input": way_m(output) >= 8,
              "is told of the end": joins == 1 or " has ended the connection" in output}
    missing = [f"{name} {sentence}: not so" for sentence, is_so in wanted.items() if not is_so]
    return [*missing, output] if missing else []


def play(pair, server, address, kinds, targets=None, **environment):
    """Three players, one after the other, at a server that ends once unless there are tokens."""
    for tries in range(1, TRIES + 1):
        complaints = play_once(pair, server, address, kinds, targets, FIRST_SERVER_S * tries, **environment)
        if complaints is not None:
            return complaints
    return [f"all players are in before {FIRST_SERVER_S * TRIES} s have passed: not so"]


def play_once(pair, server, address, kinds, targets, first_s, **environment):
    """Returns complaints; None: the first server had ended before all players were in."""
    names = ["Ann", "Bob", "Cat"]
    joins = 1 if targets else 2
    with start_game(pair, server, address, TIMEOUT_S if targets else first_s, **environment) as first:
        players = []
        try:
            for i, kind in enumerate(kinds):
                target = targets[i]() if targets else address
                players.append(Program(pair.at_clients, [PROGRAMS / kind, target, names[i], first_s + STAY_S]))
                players[i].await_that(lambda i=i: "we are in the game" in players[i].output() or first.process.poll() is not None)
            if first.process.poll() is not None:
                return None
            if not targets:
                first.wait()
                players.append(start_game(pair, server, address, TIMEOUT_S))
            complaints = [complaint for i in range(len(kinds))
                          for complaint in judge_player(names[i], players[i], names[i + 1:len(kinds)], joins)]
            return complaints + [first.output()] if complaints else []
        finally:
            for player in players:
                player.__exit__()


def check_by_address(pair):
    address = network_pair.SERVER_ADDRESS
    with concurrent.futures.ThreadPoolExecutor() as pool:
        in_c = pool.submit(play, pair, "example_game_server", f"{address}:40001",
                           ["example_game_client", "example_game_cpp_client", "example_game_client"])
        in_cpp = pool.submit(play, pair, "example_game_cpp_server", f"{address}:40002",
                             ["example_game_cpp_client", "example_game_client", "example_game_cpp_client"])
        return in_c.result() + in_cpp.result()


def check_by_token(pair):
    address = f"{network_pair.SERVER_ADDRESS}:40003"
    with tempfile.TemporaryDirectory() as folder:
        key = pathlib.Path(folder) / "key"
        subprocess.run([PINHOLE, "token", "--make-key", key], check=True)

        def token(player, server=address):
            path = f"{folder}/{player}.token"
            subprocess.run([PINHOLE, "token", "--key", key, "--server", server, "--client", str(player), "--out", path],
                           check=True)
            return path

        environment = {"GAME_KEY": key.read_text().strip()}
        complaints = play(pair, "example_game_server", address, ["example_game_client", "example_game_cpp_client"],
                          [lambda: token(1), lambda: token(2)], **environment)
        return complaints + used_token(pair, token, environment) + wrong_keys(pair, address)


def used_token(pair, token, environment):
    """The second client with a token is not let in, and is told why."""
    address = f"{network_pair.SERVER_ADDRESS}:40006"
    with start_game(pair, "example_game_cpp_server", address, TIMEOUT_S, **environment):
        path = token(3, address)
        with Program(pair.at_clients, [PROGRAMS / "example_game_client", path, "Ann", PLAY_S]) as first:
            first.await_that(lambda: "we are in the game" in first.output())
        with Program(pair.at_clients, [PROGRAMS / "example_game_client", path, "Bob", PLAY_S]) as second:
            second.await_that(lambda: "used before" in second.output())
            is_right = "used before" in second.output() and "in the game" not in second.output()
            return [] if is_right else [f"a token that was used lets nobody in: not so\n{second.output()}"]


def wrong_keys(pair, address):
    """A server that was given something else than a key must not become one that lets everybody in."""
    complaints = []
    for server in ("example_game_server", "example_game_cpp_server"):
        for key in ("", "nonsense"):
            with Program(pair.at_server, [PROGRAMS / server, address, 1], GAME_KEY=key) as program:
                if program.wait() == 0 or "private_key" not in program.output():
                    complaints.append(f"{server} refuses the key '{key}': not so\n{program.output()}")
    return complaints


def check_shipped(pair):
    address = f"{network_pair.SERVER_ADDRESS}:40004"
    with Program(pair.at_server, [PROGRAMS / "example_server", address, 10]) as server, \
         Program(pair.at_clients, [PROGRAMS / "example_client", address]) as client:
        wanted = {"the client ends well": client.wait() == 0,
                  "the server ends well": server.wait() == 0,
                  "the client sees all": "100 dancers in view" in client.output(),
                  "the client is welcome": "the server says: welcome" in client.output(),
                  "the server hears the client": "says: hello" in server.output()}
        missing = [sentence for sentence, is_so in wanted.items() if not is_so]
        return [*missing, server.output(), client.output()] if missing else []


def check_misfit(pair):
    address = f"{network_pair.SERVER_ADDRESS}:40005"
    with start_game(pair, "example_game_server", address, TIMEOUT_S), \
         Program(pair.at_clients, [PROGRAMS / "example_client", address]) as client:
        is_right = client.wait() != 0 and re.search(r"server: .*client: ", client.output()) is not None
        return [] if is_right else [f"a client of another game is told what differs: not so\n{client.output()}"]


CASES = {
    "by_address": check_by_address,
    "by_token": check_by_token,
    "shipped": check_shipped,
    "misfit": check_misfit,
}


def long_sources():
    """Servers and clients that have grown beyond what a newcomer reads at once."""
    for source in [*ROOT.glob("examples/game/*.c"), *ROOT.glob("examples/game_cpp/*.cpp")]:
        lines = [line for line in source.read_text().splitlines() if line.strip() and not line.strip().startswith("//")]
        if len(lines) > CODE_LINES_MAX:
            yield f"{source.relative_to(ROOT)} has {len(lines)} lines of code, at most {CODE_LINES_MAX}"


def check(names):
    complaints = list(long_sources())
    with network_pair.Pair() as pair, concurrent.futures.ThreadPoolExecutor() as pool:
        pair.lose(LOSS_PERCENT)
        for result in [pool.submit(CASES[name], pair) for name in names]:
            complaints += result.result()
        lost = pair.lost_counts()
    if min(lost) == 0:
        complaints.append(f"datagrams get lost both ways: not so, {lost}")
    print("\n".join(complaints) or f"game: ok; datagrams lost on the way to servers and to clients: {lost}")
    return 1 if complaints else 0


def main():
    try:
        network_pair.make_mounts(("nft", "nftables"))
        return check(sys.argv[2:] or list(CASES))
    except network_pair.Missing as missing:
        print(f"skipped: {missing}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
