#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Recomputes the figures of `pinhole sim` from what every client showed and the recording alone.

    pinhole sim RECORDING --rate 16 --viewers 4 --dump DUMP --json > RESULT.json
    test/recompute.py RECORDING DUMP --rate 16 --viewers 4 --json RESULT.json

Follows the words of kit/meter.h and kit/truth_history.h, plainly: it sorts, and looks back through the last
second again and again. Shares no code with the program. Without --json it prints the figures. With
it, every figure must agree, and the exit code says whether: 0 yes, 1 no, 2 the files make no sense.

--bias MM moves everything that is shown along x: the figures must then disagree. `stale_ms` is not
recomputed: a dump holds positions, headings and rotations only.

RECORDING  tick,entity,x_mm,y_mm,z_mm,heading_deg,...   plain or gzip, `# rate N` on top if it likes;
           a column `teleport` says what is a jump, else that is found as kit/jump_marks.h has it
           qx,qy,qz,qw or pitch_deg,roll_deg say how things are turned, see docs/measuring.md
DUMP       time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg   plain or gzip, rows in any order, with qx,qy,qz,qw behind;
           time_ms = 1000 x tick / rate; viewer and entity as in the recording; heading may be empty
"""

import argparse
import collections
import csv
import gzip
import json
import math
import sys

QUATERNION = ("qx", "qy", "qz", "qw")
SPREADS = ("error_mm", "error_mrad", "heading_deg", "rotation_deg")
NUMBERS = ("join_s", "missing_pct", "ghost_pct", "jolts_per_min")

# How far figures may be apart: relative, plus absolute. The program tells percentiles to 0.1 % and
# everything else to ten digits. A shown position that lies exactly between two tenths of a
# millimetre may be rounded differently: that moves a mean by less than a millionth.
TOLERANCES = {
    "mean": (1e-6, 1e-6),
    "p50": (1.01e-3, 1e-3),
    "p95": (1.01e-3, 1e-3),
    "p99": (1.01e-3, 1e-3),
    "join_s": (1e-6, 1e-6),
    "missing_pct": (1e-6, 1e-6),
    "ghost_pct": (1e-6, 1e-6),
    "jolts_per_min": (1e-4, 1e-6),
}


class Nonsense(Exception):
    """A file that cannot be what it is said to be."""


# ---- files ---------------------------------------------------------------------------------------

# mm or tenths; hundredths of a degree or None; whether it is marked as a jump, or None
Place = collections.namedtuple("Place", "x y z heading mark rotation", defaults=(None, None))


def open_text(path):
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", newline="") if is_packed else open(path, newline="")


def read_rate(path):
    """What `# rate N` in the first lines says; None without it."""
    with open_text(path) as file:
        for line in file:
            if not line.startswith("#"):
                return None
            words = line[1:].split()
            if len(words) >= 2 and words[0] == "rate":
                return float(words[1])
    return None


def hundredths(text):
    return round(float(text) * 100) % 36000 if text else None


def product(a, b):
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by + ay * bw + az * bx - ax * bz,
            aw * bz + az * bw + ax * by - ay * bx, aw * bw - ax * bx - ay * by - az * bz)


def unit(q):
    length = math.sqrt(sum(part**2 for part in q))
    return tuple(part / length for part in q) if length > 1e-9 else (0.0, 0.0, 0.0, 1.0)


def turned_of(row):
    """A unit quaternion from either form of columns; None without any."""
    if all(name in row for name in QUATERNION):
        return unit([float(row[name] or 0) for name in QUATERNION])
    if "pitch_deg" in row and "roll_deg" in row:
        yaw, pitch, roll = (math.radians(float(row[name] or 0)) / 2 for name in ("heading_deg", "pitch_deg", "roll_deg"))
        q = product((0, 0, math.sin(yaw), math.cos(yaw)), (0, -math.sin(pitch), 0, math.cos(pitch)))
        return product(q, (-math.sin(roll), 0, 0, math.cos(roll)))
    return None


def heading_of(q):
    x, y, z, w = q
    return math.degrees(math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z)))


def angle_between(a, b):
    x, y, z, w = product((-a[0], -a[1], -a[2], a[3]), b)
    return math.degrees(2 * math.atan2(math.sqrt(x * x + y * y + z * z), abs(w)))


def read_recording(path, rate, seconds):
    """{tick: {entity: Place in mm}}"""
    ticks = {}
    first = None
    with open_text(path) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            tick = int(row["tick"])
            first = tick if first is None else first
            if seconds and tick - first >= math.floor(seconds * rate + 0.5):
                break
            turned = turned_of(row)
            heading = heading_of(turned) if all(name in row for name in QUATERNION) else row["heading_deg"]
            ticks.setdefault(tick, {})[int(row["entity"])] = Place(
                int(row["x_mm"]), int(row["y_mm"]), int(row["z_mm"]), hundredths(str(heading)),
                row["teleport"] == "1" if "teleport" in row else None, turned)
    if not ticks:
        raise Nonsense(f"{path} holds no rows")
    return ticks


def tick_of(time_ms, rate):
    tick = round(float(time_ms) * rate / 1000)
    if abs(1000 * tick / rate - float(time_ms)) > 0.00051:
        raise Nonsense(f"no frame of {rate} a second is at {time_ms} ms")
    return tick


def read_dump(path, rate, bias_mm):
    """{viewer: {tick: {entity: Place in tenths of a mm}}}"""
    shown = {}
    with open_text(path) as file:
        for row in csv.DictReader(file):
            viewer, entity = int(row["viewer"]), int(row["entity"])
            frame = shown.setdefault(viewer, {}).setdefault(tick_of(row["time_ms"], rate), {})
            if entity in frame:
                raise Nonsense(f"{path}: viewer {viewer} shows {entity} twice at {row['time_ms']} ms")
            if entity == viewer:
                raise Nonsense(f"{path}: viewer {viewer} shows itself at {row['time_ms']} ms")
            frame[entity] = Place(round((float(row["x_mm"]) + bias_mm) * 10), round(float(row["y_mm"]) * 10),
                                  round(float(row["z_mm"]) * 10), hundredths(row["heading_deg"]),
                                  rotation=unit([float(row[name]) for name in QUATERNION]) if row.get("qw") else None)
    return shown


# ---- the truth -----------------------------------------------------------------------------------


def between(start, end, unit=1):
    """The shorter way from one coordinate to another: the world wraps at 2^32 mm; unit says how many make a mm."""
    half = unit << 31
    return (end - start + half) % (2 * half) - half


def square(step):
    return sum(mm**2 for mm in step)


def planar2(a, b):
    return between(a.x, b.x) ** 2 + between(a.y, b.y) ** 2


def distance(a, b):
    return math.sqrt(planar2(a, b) + between(a.z, b.z) ** 2)


class Truth:
    def __init__(self, ticks, rate):
        self.ticks = ticks
        self.rate = rate
        self.second = math.ceil(rate)  # ticks that make up a second
        self.paths = collections.defaultdict(dict)  # entity -> {tick: Place}, ascending
        for tick in sorted(ticks):
            for entity, place in ticks[tick].items():
                self.paths[entity][tick] = place
        self.stays = {}  # (entity, tick) -> first tick of the stay
        for entity, path in self.paths.items():
            for tick in path:
                self.stays[entity, tick] = self.stays.get((entity, tick - 1), tick)
        self.motions = {}

    def viewers(self, count):
        """Present for 10 s, moving 10 m: those with the longest path, then the first, then the lowest id."""
        found = []
        for entity, path in self.paths.items():
            length = sum(distance(path[tick - 1], place) for tick, place in path.items() if tick - 1 in path)
            if len(path) >= 10 * self.rate and length >= 10000:
                found.append((-length, min(path), entity))
        return [entity for _, _, entity in sorted(found)[:count]]

    def is_jump(self, entity, tick):
        path = self.paths[entity]
        if tick not in path:
            return False
        if tick - 1 not in path:
            return tick != min(path)
        if path[tick].mark is not None:
            return path[tick].mark
        step = self.step(entity, tick)
        return (square(step) > (100000 / self.rate) ** 2 and
                all(self.is_other(step, self.step(entity, at)) for at in (tick - 1, tick + 1)))

    def step(self, entity, tick):
        """From the tick before; None when it is absent at one of the two."""
        path = self.paths[entity]
        if tick not in path or tick - 1 not in path:
            return None
        return tuple(between(a, b) for a, b in zip(path[tick - 1][:3], path[tick][:3]))

    @staticmethod
    def is_other(step, beside):
        return beside is None or 4 * square(tuple(a - b for a, b in zip(step, beside))) > square(step)

    def motion(self, entity, tick):
        """(has jumped, longest step, way) of the last second; cached, as many viewers ask for it."""
        key = entity, tick
        if key not in self.motions:
            path = self.paths[entity]
            steps = range(tick - self.second + 1, tick + 1)
            has_jumped = any(self.is_jump(entity, at) for at in steps)
            first = self.stays[key]
            longest = max((distance(path[at - 1], path[at]) for at in steps if at > first), default=0.0)
            start, end = path[max(first, tick - self.second)], path[tick]
            way = tuple(between(a, b) for a, b in zip(start[:3], end[:3]))
            self.motions[key] = has_jumped, longest, way
        return self.motions[key]


# ---- one viewer ----------------------------------------------------------------------------------


class Counts:
    """What is summed over all viewers."""

    def __init__(self):
        self.spreads = {name: [] for name in SPREADS}
        self.shown = self.ghosts = self.must = self.missing = self.jolts = 0
        self.join_ticks = []


class Viewer:
    def __init__(self, truth, viewer, options, counts):
        self.truth, self.viewer, self.counts = truth, viewer, counts
        self.second = truth.second
        self.core_mm = 9 * options.radius * 1000 / 10
        self.near_mm = 12 * options.radius * 1000 / 10
        self.core_rank = options.slots * 9 // 10

    def watch(self, frames):
        """frames: {tick: {entity: Place}}, of this viewer's client."""
        path = self.truth.paths[self.viewer]
        start = min(path)
        join_ticks, has_joined = None, False
        for tick in path:
            if tick - 1 not in path:
                self.stay, self.streaks, self.former, self.nears = tick, {}, {}, []
            shown = frames.get(tick, {})
            self.look_around(tick)
            self.judge_shown(tick, shown)
            asked = self.judge_missing(tick, shown)
            if not has_joined:
                join_ticks = tick - start
                has_joined = 100 * sum(entity in shown for entity in asked) >= 95 * len(asked)
            self.former = shown
        self.counts.join_ticks.append(join_ticks)

    def look_around(self, tick):
        """Which entities are near and which are in the core: for how many frames in a row, up to this one."""
        eye = self.truth.paths[self.viewer][tick]
        ranked = sorted((planar2(eye, place), self.truth.stays[entity, tick], entity)
                        for entity, place in self.truth.ticks[tick].items() if entity != self.viewer)
        core = [entity for far2, _, entity in ranked[:self.core_rank] if far2 <= self.core_mm**2]
        self.streaks = {entity: self.streaks.get(entity, 0) + 1 for entity in core}
        self.nears = self.nears[-self.second:] + [{entity for far2, _, entity in ranked if far2 <= self.near_mm**2}]

    def judge_missing(self, tick, shown):
        """Returns the entities that joining asks for."""
        must = [entity for entity, ticks in self.streaks.items() if ticks > self.second]
        self.counts.must += len(must)
        self.counts.missing += sum(entity not in shown for entity in must)
        since_start = tick - self.stay + 1
        return [entity for entity, ticks in self.streaks.items() if ticks > self.second or ticks == since_start]

    def judge_shown(self, tick, shown):
        self.counts.shown += len(shown)
        for entity, place in shown.items():
            if entity not in self.truth.paths:
                raise Nonsense(f"viewer {self.viewer} shows {entity}, which is not in the recording")
            is_old = len(self.nears) == self.second + 1
            self.counts.ghosts += is_old and not any(entity in near for near in self.nears)
            if entity in self.truth.ticks[tick]:
                self.judge_present(tick, entity, place)

    def judge_present(self, tick, entity, place):
        eye, true = self.truth.paths[self.viewer][tick], self.truth.paths[entity][tick]
        error = math.sqrt(sum((between(10 * b, a, 10) / 10) ** 2 for a, b in zip(place[:3], true[:3])))
        self.counts.spreads["error_mm"].append(error)
        self.counts.spreads["error_mrad"].append(min(1000 * error / max(distance(eye, true), 1000), 1000))
        if place.heading is not None and planar2(eye, true) <= 50000**2:
            turn = (place.heading - true.heading) % 36000
            self.counts.spreads["heading_deg"].append(min(turn, 36000 - turn) / 100)
        if place.rotation is not None and true.rotation is not None:
            self.counts.spreads["rotation_deg"].append(angle_between(place.rotation, true.rotation))
        if entity in self.former:
            self.counts.jolts += self.is_jolt(tick, entity, self.former[entity], place)

    def is_jolt(self, tick, entity, before, place):
        has_jumped, longest, way = self.truth.motion(entity, tick)
        if has_jumped:
            return False
        moved = [between(b, a, 10) / 10 for a, b in zip(place[:3], before[:3])]
        if math.sqrt(sum(m**2 for m in moved)) > 3 * longest + 50:
            return True
        length = math.sqrt(sum(w**2 for w in way))
        return length > 0 and sum(m * w for m, w in zip(moved, way)) / length < -50


# ---- figures -------------------------------------------------------------------------------------


def summary_of(values):
    values = sorted(values)
    if not values:
        return dict.fromkeys(("mean", "p50", "p95", "p99"), 0.0)
    ranks = {f"p{percent}": values[(len(values) * percent + 99) // 100 - 1] for percent in (50, 95, 99)}
    return {"mean": math.fsum(values) / len(values), **ranks}


def share(part, whole):
    return part / whole if whole else 0.0


def figures_of(counts, rate):
    minutes = len(counts.spreads["error_mm"]) / rate / 60
    return {
        **{name: summary_of(values) for name, values in counts.spreads.items()},
        "join_s": share(sum(counts.join_ticks), rate * len(counts.join_ticks)),
        "missing_pct": 100 * share(counts.missing, counts.must),
        "ghost_pct": 100 * share(counts.ghosts, counts.shown),
        "jolts_per_min": share(counts.jolts, minutes),
    }


def recompute(options):
    rate = options.rate or read_rate(options.recording)
    if not rate:
        raise Nonsense(f"{options.recording} does not say its rate: give --rate")
    truth = Truth(read_recording(options.recording, rate, options.seconds), rate)
    shown = read_dump(options.dump, rate, options.bias)
    viewers = truth.viewers(options.viewers)
    strangers = sorted(set(shown) - set(viewers))
    if strangers:
        raise Nonsense(f"{options.dump} holds viewer {strangers[0]}; the rule chooses {viewers}")
    counts = Counts()
    for viewer in viewers:
        Viewer(truth, viewer, options, counts).watch(shown.get(viewer, {}))
    return figures_of(counts, rate)


# ---- comparison ----------------------------------------------------------------------------------


def flatten(figures):
    for name in SPREADS:
        for part in ("mean", "p50", "p95", "p99"):
            yield f"{name}.{part}", TOLERANCES[part], figures[name][part]
    for name in NUMBERS:
        yield name, TOLERANCES[name], figures[name]


def compare(found, told):
    """Prints one line per figure. Returns whether all agree."""
    told = {name: value for name, _, value in flatten(told)}
    all_agree = True
    print(f"{'figure':<18} {'recomputed':>16} {'told':>16} {'apart':>12} {'allowed':>12}")
    for name, (relative, absolute), value in flatten(found):
        apart, allowed = abs(value - told[name]), relative * abs(value) + absolute
        agrees = apart <= allowed
        all_agree = all_agree and agrees
        print(f"{name:<18} {value:>16.6f} {told[name]:>16.6f} {apart:>12.3g} {allowed:>12.3g}{'' if agrees else '  DIFFERS'}")
    return all_agree


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording")
    parser.add_argument("dump")
    parser.add_argument("--rate", type=float, help="ticks per second; default: as the recording says")
    parser.add_argument("--seconds", type=float, default=0.0, help="length; default: all")
    parser.add_argument("--viewers", type=int, default=16)
    parser.add_argument("--radius", type=float, default=250.0, help="in m")
    parser.add_argument("--slots", type=int, default=250)
    parser.add_argument("--bias", type=float, default=0.0, help="adds so many mm to every shown x")
    parser.add_argument("--json", metavar="FILE", help="what pinhole sim told")
    parser.add_argument("--profile", help="of a comparison: which of its results")
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        found = recompute(options)
        if not options.json:
            print(json.dumps(found, indent=1))
            return 0
        with open(options.json) as file:
            told = json.load(file)
        return 0 if compare(found, told[options.profile] if options.profile else told) else 1
    except (Nonsense, OSError, KeyError, ValueError, TypeError) as fault:
        print(f"recompute: {type(fault).__name__}: {fault}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
