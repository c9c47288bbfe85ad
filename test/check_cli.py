#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Runs the pinhole program as a person would: help, mistakes, figures. Run by make test.

    test/check_cli.py [PROGRAM]      (default build/pinhole)

Asks whether the answers are there and well formed; how fast anything is, is not asked.
"""

import gzip
import json
import lzma
import math
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build/pinhole")

# The figures of `pinhole bench bits`, named once and for all.
BITS_KEYS = [
    "write_ns", "read_ns", "unchecked_write_ns", "unchecked_read_ns", "textbook_write_ns", "textbook_read_ns",
    "memcpy_ns", "symbol_encode_ns", "symbol_decode_ns", "symbol_64_encode_ns", "symbol_64_decode_ns",
    *(f"{coding}_{way}_ns" for coding in ("range", "enum", "varint", "two_bit", "gamma", "rice")
      for way in ("write", "read")),
]
BITS_RATIOS = [
    "write_per_unchecked", "read_per_unchecked", "textbook_per_write", "textbook_per_read",
    "symbol_encode_per_unchecked_write", "symbol_decode_per_unchecked_read",
]
VISION_KEYS = [
    "upkeep_ns", "plain_sort_ns", "plain_record_sort_ns",
    *(f"{what}_{crowd}_us" for crowd in ("250", "1000", "10000", "hot_spot") for what in ("query", "sweep", "brute_force")),
    "query_wider_1000_us", "query_radius_250m_us", "query_instance_us",
    "groups_instance_us", "groups_1000_us", "groups_hot_spot_us",
    "upkeep_10k_entities_ns", "upkeep_1m_entities_ns", "query_10k_entities_us", "query_1m_entities_us",
    "query_1k_viewers_us", "query_40k_viewers_us",
]
VISION_RATIOS = [
    "upkeep_per_plain_sort", "query_per_sweep_1000", "brute_force_per_query_1000", "query_1m_per_10k_entities",
    "query_40k_per_1k_viewers",
]

HELP_COLUMNS = 100
OPTION = re.compile(r"  --[a-z-]+( \S+)?")

complaints = []


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def expect(condition, sentence):
    if not condition:
        complaints.append(sentence)


def check_help():
    for arguments in (("--help",), ("help",), ("bench",), ("bench", "--help"), ("help", "bench"),
                      ("bench", "bits", "--help"), ("help", "bench", "bits"),
                      ("bench", "vision", "--help"), ("demo", "--help"), ("help", "demo"),
                      ("serve", "--help"), ("bots", "--help"), ("token", "--help"),
                      ("sim-server", "--help"), ("director", "--help"), ("cluster", "--help"), ("plan", "--help"),
                      ("bench", "net", "--help"), ("sim", "--help"), ("bench", "load", "--help"),
                      ("bench", "quality", "--help"), ("convert", "--help"),
                      ("judge", "--help"), ("bench", "record", "--help"), ("bench", "cubes", "--help")):
        status, output, errors = run(*arguments)
        name = " ".join(("pinhole", *arguments))
        expect(status == 0 and not errors, f"`{name}`: exit {status}, says {errors!r} on standard error")
        expect("example: pinhole " in output, f"`{name}` gives no example")
        for line in output.splitlines():
            expect(len(line) <= HELP_COLUMNS, f"`{name}` prints a line of {len(line)} columns: {line!r}")
            # The summary of an option begins in one column, and what values it takes stands on one line.
            if line.startswith("  --"):
                expect(OPTION.fullmatch(line[:22].rstrip() if len(line) > 23 and line[22] == " " != line[23] else line),
                       f"`{name}` begins the summary of an option in another column: {line!r}")
            expect(line.count(", default ") <= line.count(")"), f"`{name}` breaks a line within a range: {line!r}")
    expect("bits" in run("bench")[1], "`pinhole bench` does not list the bench bits")
    status, output, errors = run()
    expect(status == 2 and not output and "commands:" in errors and "example: pinhole sim scene:town" in errors,
           f"`pinhole` without a command: exit {status}, prints {output!r}, says {errors!r}")
    status, output, _ = run("--version")
    expect(status == 0 and output.startswith("pinhole ") and output.count(".") == 2, f"--version says {output!r}")


def check_mistakes():
    for arguments, hint in (
        (("bensh",), "Did you mean 'bench'?"),
        (("xyzzy",), "'pinhole --help' lists them."),
        (("help", "bensh"), "Did you mean 'bench'?"),
        (("--jsno",), "'pinhole --help' lists them."),
        (("bench", "bit"), "Did you mean 'bits'?"),
        (("bench", "bits", "--jsno"), "Did you mean '--json'?"),
        (("bench", "bits", "--json=1"), "takes no value"),
        (("bench", "bits", "--rounds"), "takes a whole number from 1 to 1000"),
        (("bench", "bits", "--rounds", "0"), "takes a whole number from 1 to 1000"),
        (("bench", "bits", "--rounds=9x"), "takes a whole number from 1 to 1000"),
        (("bench", "bits", "more"), "there is no argument 'more'"),
        (("demo", "scene:wonder"), "there is no scene 'wonder'. Did you mean 'wander'?"),
        (("demo", "--loss", "91"), "takes a number from 0 to 90"),
        (("demo", "--players", "5", "--entities", "3"), "--entities must be more than --players"),
        (("demo", "crowd.csv", "--entities", "3"), "--entities is for scenes"),
        (("demo", "--port", "70000"), "--port takes a port from 0 to 65535"),
        (("sim", "scene:town", "--profile=eyes"), "takes classic|pinhole|snapshot"),
        (("sim", "scene:town", "--profile", "pin"), "takes classic|pinhole|snapshot"),
        (("sim", "scene:town", "--profile", "classic|pinhole"), "takes classic|pinhole|snapshot"),
        (("plan", "--viewers", "0"), "as in '--viewers 1'"),
        (("convert", "a.csv"), "say what to read and what to write"),
        (("judge", "a.csv"), "say what is true and what was shown"),
        (("serve",), "say what to host"),
        (("serve", "scene:town", "--listen", "localhost:1"), "--listen takes an address in numbers"),
        (("serve", "scene:town", "--hz", "often"), "--hz takes sends per second"),
        (("serve", "scene:town", "--second-key", "k"), "--second-key stands beside --key"),
        (("serve", "scene:town", "--audit-addresses"), "--audit-addresses stands beside --audit"),
        (("bots",), "say the server's key"),
        (("bots", "--key", "k"), "say where the truth is"),
        (("bots", "--key", "k", "--truth", "65536"), "--truth takes the port"),
        (("bots", "--key", "k", "--truth", "1x"), "--truth takes the port"),
        (("bots", "--key", "k", "--truth", "1", "--bots", "2", "--mute", "3"), "are more than --bots"),
        (("token",), "say --key, --server, --client and --out"),
        (("serve", "scene:town", "--insecure-dev", "--key", "k"), "--insecure-dev stands in place of --key"),
        (("serve", "scene:town", "--insecure-dev", "--listen", "192.0.2.1:40000"), "--insecure-dev takes addresses of loopback"),
        (("token", "--key", "k", "--server", "nowhere", "--client", "1", "--out", "t"), "'nowhere' is no address in numbers with a port"),
    ):
        status, output, errors = run(*arguments)
        name = " ".join(("pinhole", *arguments))
        expect(status == 2, f"`{name}`: exit {status} instead of 2")
        expect(not output, f"`{name}` prints {output!r} on standard output")
        expect(hint in errors, f"`{name}` does not say {hint!r}, but {errors!r}")


def check_key_files():
    """A key is made for its owner alone and never over another file; what is no key is refused."""
    with tempfile.TemporaryDirectory() as folder:
        key, token = pathlib.Path(folder, "key"), pathlib.Path(folder, "token")
        make = ("token", "--key", str(key), "--server", "127.0.0.1:40000", "--client", "7", "--out", str(token))
        umask = os.umask(0)
        status, _, errors = run("token", "--make-key", str(key))
        os.umask(umask)
        expect(status == 0, f"`pinhole token --make-key`: exit {status}, {errors}")
        expect(key.stat().st_mode & 0o777 == 0o600, f"a key is made with mode {key.stat().st_mode & 0o777:o}")
        digits = key.read_text()
        expect(re.fullmatch(r"[0-9a-f]{64}\n", digits) is not None, "a key is not 64 digits and the end of the line")
        expect(run("token", "--make-key", str(key))[0] == 1 and key.read_text() == digits, "a key is written over another one")
        expect(run(*make)[0] == 0 and token.stat().st_size == 2048, "`pinhole token` makes no token of 2,048 bytes")
        for text in (digits.strip() + "0", digits.strip() + " x", digits[1:], "g" + digits[1:], digits + digits, ""):
            key.write_text(text)
            status, _, errors = run(*make)
            expect(status == 1 and "is no key" in errors, f"`pinhole token` with a key file of {text!r}: exit {status}, {errors!r}")
        key.write_text(digits.upper().strip() + "\r\n")
        expect(run(*make)[0] == 0, "`pinhole token` refuses a key in capitals and with the line end of Windows")


def check_taken_ports():
    """A port that another program has: which one, and what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for option in ("--metrics", "--truth"):
            status, _, errors = run("serve", "scene:wander", "--listen", "127.0.0.1:0", option, str(port), "--seconds", "1")
            expect(status == 1 and f"another program listens on port {port} of 127.0.0.1; {option} takes another port" in errors,
                   f"`pinhole serve {option}` with a port that is taken: exit {status}, {errors!r}")


def check_suggestions():
    """Only what is within a third of the letters is worth asking for."""
    for word, meant in (("sin", "sim"), ("bnch", "bench"), ("dumb", None), ("same", None), ("batch", None)):
        errors = run(word)[2]
        expect(f"Did you mean '{meant}'?" in errors if meant else "Did you mean" not in errors,
               f"`pinhole {word}` says {errors!r}")


def check_bench_bits():
    status, output, errors = run("bench", "bits", "--rounds", "1")
    expect(status == 0, f"`pinhole bench bits`: exit {status}, {errors}")
    expect("write / unchecked" in output and "each" in output and " ns " in output, "`pinhole bench bits` prints no table")


def check_bench_json(name, wanted_keys, wanted_ratios):
    status, output, errors = run("bench", name, "--json", "--rounds=1")
    expect(status == 0, f"`pinhole bench {name} --json`: exit {status}, {errors}")
    try:
        figures = json.loads(output)
    except ValueError as error:
        expect(False, f"`pinhole bench {name} --json` is no JSON: {error}")
        return
    places = ((figures, wanted_keys, ""), (figures.get("spread", {}), wanted_keys, "spread."),
              (figures.get("ratio", {}), wanted_ratios, "ratio."))
    for found, keys, place in places:
        for key in keys:
            value = found.get(key)
            is_figure = isinstance(value, (int, float)) and math.isfinite(value) and value > 0
            expect(is_figure, f"`pinhole bench {name} --json`: {place}{key} is {value!r}")
    expect(figures.get("bench") == name and figures.get("rounds") == 1, "bench and rounds are not as asked")


def check_convert():
    """Text into bytes and back; sim plays both alike; a file that is cut off says so."""
    yard = pathlib.Path(__file__).parent / "recordings" / "yard.csv"
    with tempfile.TemporaryDirectory() as folder:
        there, back, packed, cut = (str(pathlib.Path(folder) / name)
                                    for name in ("yard.phrec", "yard.csv", "yard.csv.gz", "cut.phrec"))
        status, output, errors = run("convert", "--rate", "10", str(yard), there)
        expect(status == 0 and "3 entities" in output, f"`pinhole convert` of text: exit {status}, {output!r}, {errors!r}")
        for path in (back, packed):
            status, _, errors = run("convert", there, path)
            expect(status == 0 and not errors, f"`pinhole convert` to {path}: exit {status}, {errors!r}")
        with gzip.open(packed) as file:
            expect(file.read() == pathlib.Path(back).read_bytes(), "`pinhole convert` packs another text than it writes plainly")
        before = pathlib.Path(there).read_bytes()
        status, _, errors = run("convert", there, there)
        expect(status == 2 and "Say another file" in errors and pathlib.Path(there).read_bytes() == before,
               f"`pinhole convert` of a file into itself: exit {status}, {errors!r}")
        rateless = pathlib.Path(folder) / "rateless.csv"
        rateless.write_text("tick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,1,1,1,1\n")
        status, _, errors = run("convert", str(rateless), there)
        expect(status == 1 and "--rate 16" in errors, f"`pinhole convert` without a rate: exit {status}, {errors!r}")
        scene = str(pathlib.Path(folder) / "race.csv.gz")
        whole = str(pathlib.Path(folder) / "race.phrec")
        run("convert", "scene:race", "--seconds", "12", scene)
        run("convert", scene, whole)
        figures = [run("sim", source, "--viewers", "1", "--json")[1].splitlines() for source in (scene, whole)]
        kept = [[line for line in lines if '"cpu' not in line and '"source"' not in line] for lines in figures]
        expect(len(kept[0]) > 10 and kept[0] == kept[1], "`pinhole sim` finds other figures in a converted recording")
        content = pathlib.Path(whole).read_bytes()
        pathlib.Path(cut).write_bytes(content[:len(content) * 2 // 3])
        status, _, errors = run("convert", cut, back)
        expect(status == 0 and "it breaks off behind tick" in errors, f"a recording cut off: exit {status}, {errors!r}")
        pathlib.Path(cut).write_bytes(content[:20])
        status, _, errors = run("sim", cut)
        expect(status == 1 and "no part of a recording can be read" in errors, f"a stump: exit {status}, {errors!r}")


def check_judge():
    """Of the simulator's own dump the figures are those of the simulator; what is wrong is said with its line."""
    with tempfile.TemporaryDirectory() as folder:
        truth, shown = (str(pathlib.Path(folder) / name) for name in ("race.phrec", "shown.csv"))
        run("convert", "scene:race", "--seconds", "15", truth)
        simulated = json.loads(run("sim", truth, "--viewers", "3", "--json", "--dump", shown)[1])
        status, output, errors = run("judge", truth, shown, "--json")
        expect(status == 0, f"`pinhole judge`: exit {status}, {errors!r}")
        judged = json.loads(output) if status == 0 else {}
        for key in ("error_mm", "error_mrad", "heading_deg", "rotation_deg", "join_s", "missing_pct", "ghost_pct", "jolts_per_min"):
            expect(judged.get(key) == simulated[key], f"{key}: sim {simulated[key]!r}, judge {judged.get(key)!r}")
        expect("stale_ms" in simulated and "stale_ms" not in judged, "`pinhole judge` has a stale_ms, of which a dump says nothing")
        rows = pathlib.Path(shown).read_text().splitlines()
        for rows_made, hint in ((rows[1:], ":1: the first line must be"), (rows[:5] + [rows[4]], ":6: this entity has a row"),
                                (rows[:3] + ["0.000,1,99999,1,1,1,"], ":4:9: entity: expected an entity of the truth"),
                                (rows[:3] + ["7.000,1,2,1,1,1,"], ":4:1: time_ms: expected the time of a tick"),
                                (rows[:1] + rows[:0:-1], "rows are sorted by time"),
                                (rows[:1], "there is no row")):
            pathlib.Path(shown).write_text("\n".join(rows_made) + "\n")
            status, _, errors = run("judge", truth, shown)
            expect(status == 1 and hint in errors, f"`pinhole judge` of a bad dump says {errors!r}, not {hint!r}")


def cubes_levels(quaternion):
    """As the challenge writes it: index of the largest component, the other three in 512 levels."""
    largest = max(range(4), key=lambda i: abs(quaternion[i]))
    sign = -1 if quaternion[largest] < 0 else 1
    rest = (sign * part for i, part in enumerate(quaternion) if i != largest)
    return [largest] + [min(511, max(0, round((part / math.sqrt(0.5) + 1) * 255.5))) for part in rest]


def cubes_frame(frame):
    """901 cubes: a player on a circle, 40 that turn round it, one on an edge of what a level can say, others at rest."""
    numbers = []
    for i in range(901):
        at_rest = [3, 256, 256, 256, 30 * (i % 30), 30 * (i // 30), 102, 0]
        if i <= 40:
            angle = 0.02 * frame + 0.15 * i
            half = [math.sin(0.3 * i) * math.sin(angle / 2), math.cos(0.3 * i) * math.sin(angle / 2), 0, math.cos(angle / 2)]
            place = [int(900 * math.cos(angle)), int(900 * math.sin(angle)), 300 + frame]
            at_rest = cubes_levels(half) + place + [1]
        elif i == 41:
            at_rest[:4] = ([3, 511, 256, 256], [0, 256, 256, 511], [0, 511, 255, 256], [2, 255, 511, 256])[frame // 6 % 4]
        numbers += at_rest
    return struct.pack(f"<{len(numbers)}i", *numbers)


def check_cubes():
    """Whatever rotations there are, all of it arrives exactly; packed and plain are one; what is no recording is refused."""
    with tempfile.TemporaryDirectory() as folder:
        plain, packed, learned = (str(pathlib.Path(folder) / name) for name in ("cubes.bin", "cubes.bin.xz", "tuned.c"))
        content = b"".join(cubes_frame(frame) for frame in range(60))
        pathlib.Path(plain).write_bytes(content)
        with lzma.open(packed, "wb") as file:
            file.write(content)
        found = []
        for path in (plain, packed):
            status, output, errors = run("bench", "cubes", path, "--json")
            expect(status == 0, f"`pinhole bench cubes`: exit {status}, {errors!r}")
            found.append(json.loads(output) if status == 0 else {})
        second = found[0].get("second_half", {})
        expect(found[0].get("lossless") is True, "`pinhole bench cubes`: frames did not arrive as they are")
        expect(second.get("frames") == 30 and found[0]["first_half"]["frames"] == 24, "`pinhole bench cubes`: other frames count")
        expect(abs(sum(second["bytes_by"].values()) - found[0]["bytes_per_packet"]) < 0.1, "bytes_by is not all there is")
        expect(found[0]["bytes_per_packet"] == found[1].get("bytes_per_packet"), "packed cubes take other bytes than plain ones")
        status, output, errors = run("bench", "cubes", plain, "--learn", learned)
        expect(status == 0 and "CUBES_TUNED" in pathlib.Path(learned).read_text(), f"--learn: exit {status}, {errors!r}")
        pathlib.Path(folder, "cut.xz").write_bytes(pathlib.Path(packed).read_bytes()[:-100])
        pathlib.Path(folder, "cut.bin").write_bytes(content[:-100])
        pathlib.Path(folder, "short.bin").write_bytes(content[:28832 * 5])
        damaged = bytearray(pathlib.Path(packed).read_bytes())
        damaged[len(damaged) // 2] ^= 16
        pathlib.Path(folder, "damaged.xz").write_bytes(damaged)
        for name, hint in (("cut.xz", "it is cut off"), ("cut.bin", "59 whole frames of 28832 bytes and 28732 bytes more"),
                           ("short.bin", "it has 5 frames"), ("damaged.xz", "damaged"), ("none.bin", "cannot be opened")):
            status, _, errors = run("bench", "cubes", str(pathlib.Path(folder) / name))
            expect(status == 1 and hint in errors, f"`pinhole bench cubes` of a bad file says {errors!r}, not {hint!r}")
        status, _, errors = run("bench", "cubes")
        expect(status == 2 and "which recording?" in errors, f"`pinhole bench cubes` without a file says {errors!r}")


QUALITY_KEYS = ("wire_kbps_mean", "wire_kbps_max_1s", "overruns", "budget_used_pct", "updates_per_s", "bits_per_update",
                "error_mm", "error_mrad", "heading_deg", "stale_ms", "join_s", "missing_pct", "ghost_pct", "jolts_per_min")
QUALITY_NOT_ABOVE = ("missing_pct", "ghost_pct", "heading_deg", "stale_ms")


def mean_of(figures, key):
    return figures[key]["mean"] if isinstance(figures[key], dict) else figures[key]


def compare_quality(source, simulated):
    """One source of `pinhole bench quality` beside `pinhole sim --compare all --sweep` of it."""
    for budget, wanted in zip(source["budgets"], simulated, strict=True):
        for system in ("classic", "snapshot", "pinhole"):
            name, found, sim = f"{source['source']} {budget['kbps']} {system}", budget[system], wanted[system]
            expect(budget["kbps"] == sim["kbps"], f"{name}: sim has it at {sim['kbps']}")
            for key in QUALITY_KEYS:
                expect(found[key] == sim[key], f"{name}: {key} is {found[key]!r}, of sim {sim[key]!r}")
            if system == "classic":
                continue
            ratio = sim["error_mrad"]["mean"] / wanted["classic"]["error_mrad"]["mean"]
            expect(math.isclose(found["ratio"], ratio, rel_tol=1e-8), f"{name}: ratio {found['ratio']}, not {ratio}")
            above = [key for key in QUALITY_NOT_ABOVE if mean_of(sim, key) > mean_of(wanted["classic"], key)]
            expect(found["above_classic"] == above, f"{name}: above classic {found['above_classic']}, not {above}")


def check_quality():
    """The figures of the suite are those of sim, with any number of threads; its page needs nothing else."""
    play = ("--seconds", "12", "--viewers", "3")
    suite = ("bench", "quality", "--scenes", "town,race", "--budgets", "4,13", *play)
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "quality.html"
        status, output, errors = run(*suite, "--json", "--page", str(page))
        expect(status == 0, f"`pinhole bench quality`: exit {status}, {errors!r}")
        if status != 0:
            return
        expect(run(*suite, "--json", "--threads", "1")[1] == output, "`pinhole bench quality`: other figures the second time")
        found = json.loads(output)
        expect([source["source"] for source in found["sources"]] == ["scene:town", "scene:race"], "not the scenes asked for")
        for source in found["sources"]:
            sim = run("sim", source["source"], "--compare", "all", "--sweep", "4,13", "--json", *play)[1]
            compare_quality(source, json.loads(sim))
        for index, budget in enumerate(found["mean_ratio"]):
            for system in ("snapshot", "pinhole"):
                mean = math.prod(source["budgets"][index][system]["ratio"] for source in found["sources"]) ** 0.5
                expect(math.isclose(budget[system], mean, rel_tol=1e-8), f"mean ratio of {system}: {budget[system]}, not {mean}")
        text = page.read_text("utf-8")
        expect(text.count("<svg") == 2 and text.rstrip().endswith("</html>"), "the page of `pinhole bench quality` is not whole")
        expect("http" not in text.replace("http://www.w3.org/2000/svg", ""), "the page of `pinhole bench quality` needs a network")
        expect(f"{found['mean_ratio'][1]['pinhole']:.3f}" in text, "the page lacks the mean ratio at 13 kbit/s")
        race = str(pathlib.Path(folder) / "laps.csv.gz")
        run("convert", "scene:race", "--seconds", "12", race)
        status, output, errors = run("bench", "quality", race, "--scenes", "none", "--budgets", "13", "--viewers", "1")
        expect(status == 0 and "laps " in output and "geometric" not in output, f"a recording: exit {status}, {output!r}, {errors!r}")
        rateless = pathlib.Path(folder) / "rateless.csv"
        rateless.write_text("tick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,1,1,1,1\n")
        for words, wanted, hint in ((("--scenes", "none"), 2, "takes a recording"), (("--scenes", "towm"), 2, "'town'"),
                                    (("--scenes", "still"), 2, "nothing moves"), (("--budgets", "13,4"), 2, "each above"),
                                    (("--budgets", "13,"), 2, "each above"), ((race, "--rates", "1,2"), 2, "one number for each"),
                                    ((str(rateless),), 1, "--rates 16"), (("--page", "no/where.html"), 1, "Does its folder exist")):
            status, _, errors = run("bench", "quality", *words)
            expect(status == wanted and hint in errors, f"`pinhole bench quality {' '.join(words)}`: exit {status}, {errors!r}")


def check_full_disk():
    """What cannot be printed must not look like a success."""
    if not pathlib.Path("/dev/full").exists():
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 1, f"`pinhole --help` to a full disk: exit {done.returncode} instead of 1")
    expect("cannot write" in done.stderr, f"`pinhole --help` to a full disk says {done.stderr!r}")


def main():
    global PROGRAM
    PROGRAM = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    if not pathlib.Path(PROGRAM).exists():
        print(f"{PROGRAM} does not exist: run make first")
        return 1
    check_help()
    check_mistakes()
    check_key_files()
    check_taken_ports()
    check_suggestions()
    check_bench_bits()
    check_bench_json("bits", BITS_KEYS, BITS_RATIOS)
    check_bench_json("vision", VISION_KEYS, VISION_RATIOS)
    check_convert()
    check_judge()
    check_cubes()
    check_quality()
    check_full_disk()
    for sentence in complaints:
        print(sentence)
    print("command line: ok" if not complaints else f"command line: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
