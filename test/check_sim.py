#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Runs `pinhole sim` as a person would, on a small recording made here and on scenes. Run by make test.

    test/check_sim.py [PROGRAM]      (default build/pinhole)

Asks whether everything is told, whether the promises hold (no overrun, every bit accounted for,
clients that end up equal to the world, the same result with any number of threads), and whether
recompute.py arrives at the same figures from the dump. How good the figures are is not asked.
"""

import base64
import gzip
import json
import math
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build/pinhole")
RECOMPUTE = str(ROOT / "test/recompute.py")

# The figures, named once and for all.
NUMBERS = [
    "wire_kbps_mean", "wire_kbps_max_1s", "overruns", "budget_used_pct", "updates_per_s", "bits_per_update", "join_s",
    "missing_pct", "ghost_pct", "jolts_per_min", "converge_s", "cpu_us_per_viewer_tick",
]
SPREADS = ["error_mm", "error_mrad", "heading_deg", "rotation_deg", "stale_ms"]
PARTS = ["mean", "p50", "p95", "p99"]
REASONS = ["header", "slot", "mask", "enter", "leave", "padding"]
ASKED = [
    "source", "profile", "schedule", "coding", "precision", "show", "properties", "rate", "seconds", "viewers", "kbps", "burst", "overhead", "hz",
    "radius", "slots", "rtt", "jitter", "loss", "drift", "bottleneck", "controlled", "seed", "schema",
]
BEST_SCHEDULE = "error"
RATE = 10
SECONDS = 14

complaints = []


def run(*arguments):
    done = subprocess.run([PROGRAM, "sim", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(condition, sentence):
    print(f"{'ok  ' if condition else 'FAIL'} {sentence}")
    if not condition:
        complaints.append(sentence)


def result_of(*arguments):
    code, output, errors = run(*arguments, "--json")
    expect(code == 0 and errors == "", f"{' '.join(map(str, arguments))} runs, and says nothing beside its result {errors}")
    return json.loads(output)


# ---- a recording of our own ----------------------------------------------------------------------


def write_recording(path):
    """Walkers in circles; some come late, one goes away for two seconds, one leaps across the place."""
    chance = random.Random(2024)
    walkers = [(chance.uniform(2000, 40000), chance.uniform(0, 7), chance.uniform(800, 3000)) for _ in range(40)]
    with open(path, "w") as file:
        file.write(f"# rate {RATE}\ntick,entity,x_mm,y_mm,z_mm,heading_deg,kind,health\n")
        for tick in range(100, 100 + RATE * SECONDS):
            for entity, (radius, start, speed) in enumerate(walkers, 1):
                is_away = entity % 9 == 0 and tick < 130 or entity == 1 and 170 <= tick < 190
                if is_away:
                    continue
                turn = start + speed * (tick - 100) / RATE / radius
                leap = 60000 if entity == 5 and tick > 150 else 0
                heading = math.degrees(turn + math.pi / 2) % 360
                kind = "wolf" if entity % 2 else "sheep"
                health = "" if entity % 7 == 0 else 100 - (tick // 8 + entity) % 50
                file.write(f"{tick},{entity},{round(radius * math.cos(turn)) + leap},{round(radius * math.sin(turn))},"
                           f"{entity * 10},{min(round(heading, 1), 359.9)},{kind},{health}\n")


# ---- one result ----------------------------------------------------------------------------------


def check_complete(what, result):
    absent = [key for key in NUMBERS + SPREADS + ASKED + ["bits_by", "converged", "payload_bytes"] if key not in result]
    expect(not absent, f"{what}: every figure is told {absent}")
    expect(all(math.isfinite(result[key]) and result[key] >= 0 for key in NUMBERS), f"{what}: figures are numbers")
    for spread in SPREADS:
        parts = [result[spread][part] for part in PARTS]
        expect(all(map(math.isfinite, parts)) and parts[1] <= parts[2] <= parts[3], f"{what}: {spread} is in order")


def check_promises(what, result):
    expect(result["overruns"] == 0, f"{what}: no overruns")
    expect(result["converged"] is True, f"{what}: clients end up equal to the world")
    expect(result["budget_used_pct"] >= 95, f"{what}: the budget is used where something is due")
    expect(all(reason in result["bits_by"] for reason in REASONS), f"{what}: bits by reason")
    expect(sum(result["bits_by"].values()) == 8 * result["payload_bytes"], f"{what}: every bit is accounted for")
    expect(result["wire_kbps_mean"] > 0 and result["error_mm"]["mean"] > 0, f"{what}: something was sent and shown")


def timeless(result):
    return {key: value for key, value in result.items() if key != "cpu_us_per_viewer_tick"}


def check_recording(recording, folder):
    dump, told = folder / "dump.csv", folder / "told.json"
    result = result_of(recording, "--viewers", 4, "--threads", 1, "--dump", dump)
    told.write_text(json.dumps(result))
    check_complete("recording", result)
    check_promises("recording", result)
    expect(result["viewers"] == 4 and result["rate"] == RATE and result["seconds"] == SECONDS, "recording: as it says")
    expect({"position", "heading", "kind", "health"} <= set(result["bits_by"]), "recording: bits of each property")
    expect("health: range" in result["schema"], "recording: the derived schema is told")

    two_dump = folder / "two.csv"
    two = result_of(recording, "--viewers", 4, "--threads", 2, "--dump", two_dump)
    expect(timeless(two) == timeless(result), "recording: two threads, the same result")
    expect(two_dump.read_bytes() == dump.read_bytes(), "recording: two threads, the same dump")

    for bias, code in ((0, 0), (10, 1)):
        done = subprocess.run([sys.executable, RECOMPUTE, recording, dump, "--viewers", "4", "--json", told, "--bias",
                               str(bias)], capture_output=True, text=True)
        expect(done.returncode == code, f"recording: recomputed with a bias of {bias} mm: exit code {code}")
        if done.returncode != code:
            print(done.stdout, done.stderr)


def check_variants(recording, folder):
    pose = result_of(recording, "--viewers", 2, "--properties", "pose")
    expect("health" not in pose["bits_by"] and pose["stale_ms"]["p99"] == 0, "pose only: no other property")
    free = result_of(recording, "--viewers", 2, "--kbps", 0, "--loss", 0)
    tight = result_of(recording, "--viewers", 2, "--kbps", 4, "--loss", 20, "--seed", 5)
    check_promises("no limit", free)
    check_promises("4 kbit/s, a fifth lost", tight)
    expect(free["error_mrad"]["mean"] < tight["error_mrad"]["mean"], "more budget, less error")
    late = result_of(recording, "--viewers", 2, "--show", "delayed")
    expect(late["error_mm"]["mean"] > pose["error_mm"]["mean"], "shown late, further from the present")
    schema = folder / "own.schema"
    schema.write_text("class beast\n    position: position 16 step 16\n    heading: angle 8\n    health: range 0..200\n")
    own = result_of(recording, "--viewers", 2, "--schema", schema)
    expect("class beast" in own["schema"] and "kind" not in own["bits_by"], "a schema of one's own")
    check_promises("scene", result_of("scene:town", "--seconds", 11, "--viewers", 3))


def check_film_rate(recording, folder):
    """A rate with decimals, as of film: recomputed as any other."""
    film, dump, told = folder / "film.csv", folder / "film_dump.csv", folder / "film.json"
    film.write_text(recording.read_text().replace(f"# rate {RATE}\n", "# rate 9.99\n", 1))
    result = result_of(film, "--viewers", 3, "--dump", dump)
    told.write_text(json.dumps(result))
    check_promises("film", result)
    expect(result["rate"] == 9.99 and result["seconds"] > SECONDS, "film: the rate has decimals")
    done = subprocess.run([sys.executable, RECOMPUTE, film, dump, "--viewers", "3", "--json", told], capture_output=True,
                          text=True)
    expect(done.returncode == 0, f"film: recomputed {done.stdout if done.returncode else ''}")
    asked = result_of(recording, "--rate", 9.99, "--viewers", 3)
    expect(timeless(asked) == {**timeless(result), "source": asked["source"]}, "film: --rate says the same")


def check_edge(folder):
    """Two entities that walk across the edge of the world, side by side: to them it is a step like any other."""
    recording, dump, told = folder / "edge.csv", folder / "edge_dump.csv", folder / "edge.json"
    rows = [f"# rate {RATE}", "tick,entity,x_mm,y_mm,z_mm,heading_deg,health"]
    for tick in range(RATE * SECONDS):
        for entity in (1, 2):
            x = (2**31 - 10000 + 150 * tick + 3000 * entity + 2**31) % 2**32 - 2**31
            rows.append(f"{tick},{entity},{x},{1000 * entity},0,0,{tick // 20}")
    recording.write_text("\n".join(rows) + "\n")
    result = result_of(recording, "--dump", dump)
    told.write_text(json.dumps(result))
    check_promises("edge of the world", result)
    expect(result["viewers"] == 2 and result["error_mm"]["p99"] < 2000, "edge of the world: no error of kilometres")
    expect(result["jolts_per_min"] == 0, "edge of the world: no jolt")
    done = subprocess.run([sys.executable, RECOMPUTE, recording, dump, "--json", told], capture_output=True, text=True)
    expect(done.returncode == 0, f"edge of the world: recomputed {done.stdout if done.returncode else ''}")


def check_drift():
    """An ack that is due a microsecond after the client's clock shows it would be written for ever: a run of these clocks did."""
    def bound_memory():
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    words = ["scene:wander", "--seconds", "40", "--viewers", "4", "--drift", "2"]
    try:
        code = subprocess.run([PROGRAM, "sim", *words, "--json"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              preexec_fn=bound_memory).returncode
    except subprocess.TimeoutExpired:
        code = None
    expect(code == 0, f"{' '.join(words)} comes to an end")


def check_notes(recording):
    """A burst that cannot be had is said to be none."""
    for burst, word in ((0, "one datagram"), (0.18, "between two sends")):
        code, output, errors = run(recording, "--viewers", 2, "--burst", burst, "--hz", 5, "--json")
        expect(code == 0 and word in errors, f"--burst {burst} says {word!r}: {errors.strip()!r}")
        expect(json.loads(output)["overruns"] == 0, f"--burst {burst}: no overruns")


def check_several(recording, folder):
    plot = folder / "curve.svg"
    sweep = result_of(recording, "--viewers", 2, "--sweep", "4,13", "--plot", plot)
    expect([one["kbps"] for one in sweep] == [4, 13], "a sweep is a list of results")
    expect(xml.etree.ElementTree.parse(plot).getroot().tag.endswith("svg"), "the plot is an SVG")
    three = result_of(recording, "--viewers", 2, "--seconds", 12, "--compare", "all", "--sweep", "4,13", "--plot", plot)
    names = ["classic", "snapshot", "pinhole"]
    expect([list(one) for one in three] == [[*names, "ratio"]] * 2, "--compare all: three profiles and the ratio")
    means = [three[0][name]["error_mrad"]["mean"] for name in (*names, "ratio")]
    expect(abs(means[2] / means[0] - means[3]) < 1e-6, "the ratio of three is the last over the first")
    check_curves(plot.read_text(), three)


def check_curves(svg, sweep):
    """Every point of the plot is a figure of the sweep, in its profile's colour, with its unit."""
    for name, colour in (("classic", "#d95f02"), ("snapshot", "#7570b3"), ("pinhole", "#1b9e77")):
        for one in sweep:
            told = f"<title>{name}: {as_length(one[name]['error_mm']['mean'])} at {one[name]['kbps']:g} kbit/s</title>"
            expect(told in svg, f"the plot has {told}")
        expect(f'fill="{colour}">{name}</text>' in svg, f"the plot: {name} is {colour}")
    for label in ("position error, lower is better", "budget on the wire, kbit/s"):
        expect(f">{label}</text>" in svg, f"the plot's axis: {label}")
    expect(re.search(r'text-anchor="end"[^>]*>\d+ (mm|m|km)</text>', svg), "the plot's ticks have units")


def as_length(mm):
    mm = float(f"{mm:.4g}")
    return f"{mm / 1000:.4g} m" if mm >= 1000 else f"{mm:.4g} mm"


def check_comparison(recording):
    for names, asked in ((("classic", "pinhole"), ()),
                         (("classic", "asked"), ("--profile", "classic", "--schedule", "buckets"))):
        both = result_of(recording, "--viewers", 2, "--compare", *asked)
        expect(set(both) == {*names, "ratio"}, f"a comparison has {names[0]}, {names[1]} and the ratio")
        for name in names:
            check_complete(name, both[name])
            check_promises(name, both[name])
        means = [both[name]["error_mrad"]["mean"] for name in (*names, "ratio")]
        expect(abs(means[1] / means[0] - means[2]) < 1e-6, "the ratio is the second over the first")
    expect(both["asked"]["schedule"] == "buckets" and both["classic"]["schedule"] == "score", "schedules are compared")


def check_snapshots(recording, folder):
    """The third way: the same figures, the same promises, and a dump that can be recomputed."""
    dump, told = folder / "snapshot.csv", folder / "snapshot.json"
    result = result_of(recording, "--viewers", 4, "--profile", "snapshot", "--threads", 1, "--dump", dump)
    told.write_text(json.dumps(result))
    check_complete("snapshot", result)
    check_promises("snapshot", result)
    expect(result["profile"] == "snapshot" and parts_of(result) == ("none", "snapshot", "fixed", "auto"),
           "snapshot: it says what it is")
    expect({"position", "heading", "kind", "health"} <= set(result["bits_by"]), "snapshot: bits of each property")
    two = result_of(recording, "--viewers", 4, "--profile", "snapshot", "--threads", 2)
    expect(timeless(two) == timeless(result), "snapshot: two threads, the same result")
    done = subprocess.run([sys.executable, RECOMPUTE, recording, dump, "--viewers", "4", "--json", told],
                          capture_output=True, text=True)
    expect(done.returncode == 0, f"snapshot: recomputed {done.stdout if done.returncode else ''}")
    late = result_of(recording, "--viewers", 2, "--profile", "snapshot", "--show", "delayed")
    expect(late["error_mm"]["mean"] > result["error_mm"]["mean"], "snapshot: shown late, further from the present")
    tight = result_of(recording, "--viewers", 2, "--profile", "snapshot", "--kbps", 2, "--loss", 20)
    check_promises("snapshot: 2 kbit/s, a fifth lost", tight)
    for names, asked in ((("snapshot", "pinhole"), ("--compare", "snapshot")),
                         (("snapshot", "classic"), ("--compare=snapshot", "--profile", "classic")),
                         (("classic", "snapshot"), ("--compare", "classic", "--profile", "snapshot")),
                         (("classic", "pinhole"), ("--compare", "classic"))):
        both = result_of(recording, "--viewers", 2, "--seconds", 12, *asked)
        expect(list(both) == [*names, "ratio"], f"{' '.join(asked)}: {names[0]}, {names[1]} and the ratio")
    alone = result_of(recording, "--compare", "--viewers", 2, "--seconds", 12)
    expect(all(timeless(alone[name]) == timeless(both[name]) for name in names), "--compare alone is --compare classic")


# What a run says of its parts: schedule, coding, precision, hz.
def parts_of(result):
    return tuple(result[part] for part in ("schedule", "coding", "precision", "hz"))


def check_parts(recording):
    usual = parts_of(result_of(recording, "--viewers", 1))
    expect(usual == (BEST_SCHEDULE, "model", "distance", "auto"), f"pinhole is usual, with its parts {usual}")
    classic = parts_of(result_of(recording, "--viewers", 1, "--profile", "classic"))
    expect(classic == ("score", "plain", "fixed", 5), f"classic has its parts {classic}")
    for asked, parts in (
        (("--coding", "plain"), (BEST_SCHEDULE, "plain", "fixed", "auto")),
        (("--coding", "delta", "--hz", 4), (BEST_SCHEDULE, "delta", "distance", 4)),
        (("--precision", "fixed", "--schedule", "buckets"), ("buckets", "model", "fixed", "auto")),
        (("--profile", "classic", "--coding", "model"), ("score", "model", "fixed", 5)),
        (("--profile", "classic", "--hz", "auto"), ("score", "plain", "fixed", "auto")),
    ):
        result = result_of(recording, "--viewers", 2, "--kbps", 6, *asked)
        expect(parts_of(result) == parts, f"parts {parts}")
        check_promises(" ".join(map(str, asked)), result)


def check_ablation(recording):
    rows = result_of(recording, "--viewers", 1, "--seconds", 11, "--ablate")
    names = [row["name"] for row in rows]
    expect(names[0] == "classic" and names[-1] == "pinhole" and len(set(names)) == len(names), f"ablation: {names}")
    words = {word for name in names[1:-1] for word in name.replace(",", "").split()}
    expect({"scheduler", "pacing", "prediction", "precision", "models", "+", "-"} == words, "ablation: every part")
    expect(all(row["overruns"] == 0 and row["converged"] for row in rows), "ablation: the promises hold in every row")
    code, output, _ = run(recording, "--viewers", 1, "--seconds", 11, "--ablate")
    expect(code == 0 and all(f"\n{name} " in output for name in names), "ablation: a table with every row")


# ---- texts ---------------------------------------------------------------------------------------


def check_texts(recording):
    code, output, _ = run("--help")
    expect(code == 0 and all(key in output for key in NUMBERS + SPREADS + ["bits_by", "converged"]),
           "--help explains every figure")
    code, output, errors = run(recording, "--viewers", 2, "--seconds", 12)
    keys = NUMBERS + [f"{spread}.{part}" for spread in SPREADS for part in PARTS]
    expect(code == 0 and all(key in output for key in keys) and "derived schema" in output, "the table has every figure")
    expect(errors == "", "no progress bar without a terminal")


def check_mistakes(recording, folder):
    rateless = folder / "rateless.csv"
    rateless.write_text("".join(recording.read_text().splitlines(keepends=True)[1:]))
    broken = folder / "broken.csv"
    broken.write_text(recording.read_text().replace("\n101,3,", "\n101,x,", 1))
    for arguments, exit_code, words in (
        ((), 2, ["which recording"]),
        ((rateless,), 1, ["missing rate", "--rate 16"]),
        ((broken,), 1, [f"{broken}:"]),
        ((folder / "nowhere.csv",), 1, ["cannot open"]),
        (("scene:toun",), 1, ["'town'", "asteroids"]),
        ((recording, "--kbps", "0.5"), 2, ["--kbps 13"]),
        ((recording, "--kbps", "nan"), 2, ["--kbps"]),
        ((recording, "--hz", "often"), 2, ["--hz 5"]),
        ((recording, "--show", "later"), 2, ["now|delayed"]),
        ((recording, "--schedule", "luck"), 2, ["score|buckets", "--schedule score"]),
        ((recording, "--coding", "plain", "--precision", "distance"), 2, ["--coding delta"]),
        ((recording, "--compare", "--profile", "classic"), 2, ["--schedule buckets"]),
        ((recording, "--compare", "snapshot", "--profile", "snapshot"), 2, ["leave --profile out"]),
        ((recording, "--compare=pinhole"), 2, ["classic|snapshot|all", "--compare classic"]),
        ((recording, "--compare", "all", "--profile", "classic"), 2, ["leave"]),
        ((recording, "--profile", "snapshot", "--hz", "5"), 2, ["no parts", "leave"]),
        ((recording, "--profile", "snapshot", "--bottleneck", "5"), 2, ["--uncontrolled"]),
        ((recording, "--ablate", "--hz", "5"), 2, ["leave"]),
        ((recording, "--sweep", "4,,8"), 2, ["--sweep 4,8"]),
        ((recording, "--plot", folder / "a.svg"), 2, ["--sweep"]),
        ((recording, "--dump", folder / "a.csv", "--sweep", "4,8"), 2, ["leave"]),
        ((recording, "--dump", folder / "no" / "a.csv"), 1, ["folder"]),
        ((recording, "--page", folder / "no" / "a.html"), 1, ["folder"]),
        ((recording, "--page", folder / "a.html", "--sweep", "4,8"), 2, ["one budget", "leave"]),
        ((recording, "--sweep", "4,8", "--plot", folder / "no" / "a.svg"), 1, ["folder"]),
        ((recording, "--rate", "0.5"), 1, ["1 to 1000 ticks per second"]),
        (("scene:wander", "--rate", "0.5"), 1, ["1 to 1000 ticks per second"]),
        ((recording, "--viewers"), 2, ["--viewers takes"]),
        ((recording, "--viwers", 2), 2, ["'--viewers'"]),
        ((recording, recording), 2, ["there is no argument"]),
        ((recording, "--schema", recording), 1, [f"{recording}:"]),
        ((recording, "--seconds", 5), 1, ["10 s are the least"]),
        (("scene:still",), 1, ["there is no viewer", "scene:wander"]),
    ):
        code, output, errors = run(*arguments)
        said = code == exit_code and output == "" and all(word in errors for word in words)
        expect(said, f"mistake {' '.join(map(str, arguments[1:] or arguments))}: {errors.strip()}")


# ---- a page, read back by docs/wire_feed.md ---------------------------------------------------------


def read_feed(html):
    """Frames of the feed that a page has inside, as (kind, body)."""
    packed = [text for text in re.findall(r"[A-Za-z0-9+/]{1000,}={0,2}", html) if text.startswith("H4sI")]
    expect(len(packed) == 1, "the page has one feed inside")
    feed = gzip.decompress(base64.b64decode(packed[0]))
    frames, at = [], 0
    while at < len(feed):
        size, = struct.unpack_from("<I", feed, at)
        frames.append((feed[at + 4], feed[at + 5:at + 4 + size]))
        at += 4 + size
    expect(at == len(feed), "the feed ends with its last frame")
    return frames


def check_times(frames):
    """Datagrams and traces in the order of their times, those of a tick before its truth."""
    times = [struct.unpack_from("<Q", body, 0 if kind == 2 else 1)[0] for kind, body in frames if kind in (2, 3, 4)]
    expect(times == sorted(times), "frames are in the order of their times")


def check_traces(frames, ways):
    """Every bit of every datagram has its item."""
    sums = [0] * len(ways)
    for kind, body in frames:
        if kind == 4:
            way, _, _, payload, overhead, count = struct.unpack_from("<BQIHHH", body)
            items = [struct.unpack_from("<BBHIIB", body, 19 + 13 * i) for i in range(count)]
            exact = sum(item[4] for item in items) == 2048 * payload and len(body) == 19 + 13 * count and overhead == 48
            if not exact:
                return expect(False, f"the items of a datagram of {ways[way]} sum to its payload")
            sums[way] += payload
    expect(all(sums), f"every way was sent something: {sums}")
    return sums


def check_page(recording, folder):
    page = folder / "page.html"
    arguments = (recording, "--viewers", 1, "--seconds", 12, "--compare", "all", "--page", page)
    code, output, errors = run(*arguments, "--json")
    if "built without the page" in errors:
        expect(code == 1 and "WebAssembly" in errors, f"--page says why there is none: {errors}")
        return
    expect(code == 0 and re.search(r"page.html has \d+\.\d MB", errors), f"--page says how large it is: {errors}")
    result = json.loads(output)
    html = page.read_text()
    expect(not re.search(r"""(src|href)=["']?(https?:)?//""", html), "the page loads nothing from elsewhere")
    frames = read_feed(html)
    kinds = [kind for kind, _ in frames]
    scene = json.loads(frames[0][1])
    ways = [way["name"] for way in scene["ways"]]
    expect(kinds[0] == 1 and ways == ["classic", "pinhole", "snapshot"], f"the scene is first, with all ways: {ways}")
    expect(scene["schema"] == result["pinhole"]["schema"] and scene["controls"]["kbps"] == 13, "the scene is that of the run")
    expect(scene["source"] == scene["controls"]["source"] == recording.name, f"folders stay at home: {scene['source']}")
    expect(kinds.count(2) == 12 * RATE, "every tick of the truth is in it")
    check_times(frames)
    sums = check_traces(frames, ways)
    wire = [result[way]["wire_kbps_mean"] * 12 * 1000 / 8 for way in ways]
    counts = [sum(1 for kind, body in frames if kind == 4 and body[0] == way) for way in range(3)]
    expect(all(abs(sums[i] + 48 * counts[i] - wire[i]) < 1 for i in range(3)), "what was sent is what the run counted")
    need = json.loads(frames[kinds.index(7)][1])
    expect(need["is_done"] and need["kbps"] == 13, "which budget is needed was asked to the end")
    for way in need["ways"]:
        expect(len(way["curve"]) > 8 and all(a < b for (a, _), (b, _) in zip(way["curve"], way["curve"][1:])), f"the curve of {way['name']}")
        found = way["needs_kbps"] is None or any(point[0] == way["needs_kbps"] for point in way["curve"])
        expect(found and (way["needs_kbps"] is None) == ("beyond_kbps" in way), f"what {way['name']} needs is on its curve")
    check_page_of_two(recording, page)


def check_page_of_two(recording, page):
    """Classic and pinhole stand side by side whatever is run; a page that cannot be written says so."""
    code, output, _ = run(recording, "--viewers", 1, "--seconds", 12, "--profile", "classic", "--kbps", 0, "--page", page)
    frames = read_feed(page.read_text())
    ways = [way["name"] for way in json.loads(frames[0][1])["ways"]]
    expect(code == 0 and "page.html has" in output and ways == ["classic", "pinhole"], f"classic beside pinhole: {ways}")
    expect(all(kind != 7 for kind, _ in frames), "without a budget none is asked for")
    if pathlib.Path("/dev/full").exists():
        code, output, errors = run(recording, "--viewers", 1, "--seconds", 12, "--page", "/dev/full", "--kbps", 0)
        expect(code == 1 and "disk" in errors and pathlib.Path("/dev/full").exists(), f"a full disk is said so: {errors}")


def main():
    global PROGRAM
    PROGRAM = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recording = folder / "recording.csv"
        write_recording(recording)
        check_recording(recording, folder)
        check_variants(recording, folder)
        check_edge(folder)
        check_film_rate(recording, folder)
        check_drift()
        check_notes(recording)
        check_several(recording, folder)
        check_comparison(recording)
        check_parts(recording)
        check_snapshots(recording, folder)
        check_ablation(recording)
        check_texts(recording)
        check_mistakes(recording, folder)
        check_page(recording, folder)
    print(f"sim: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
