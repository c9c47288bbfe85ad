#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""`pinhole tune` as a person uses it: it learns, tells, writes a schema that `sim` takes; and says what is wrong."""

import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path("build/pinhole").resolve()


def run(folder, *words, code=0):
    done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"pinhole {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"'{part}' is missing in:\n{text}")


def write_game(path, entities, ticks, extra=lambda tick, entity: "5,calm"):
    lines = ["# rate 10", "tick,entity,x_mm,y_mm,z_mm,heading_deg,flat,mood"]
    lines += [f"{t},{e},{t * 150},{e * 1000 + t * 7 % 300},0,{t * 9 % 360},{extra(t, e)}"
              for t in range(ticks) for e in range(entities)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def it_learns(folder):
    play = ("scene:town", "--seconds", "24", "--viewers", "4")
    told = run(folder, "tune", *play, "-o", "town.schema", "--page", "town.html")
    expect(told, "what each property needs", "varint", "arithmetic", "bits of an update", "town.schema:")
    page = (folder / "town.html").read_text("utf-8")
    expect(page, "<svg", "Error over budget", "</html>")
    sims = [json.loads(run(folder, "sim", *play, "--json", *more))["bits_per_update"]
            for more in ((), ("--schema", "town.schema"), ("--tables", "town.schema"))]
    if not (sims[1] < 0.98 * sims[0] and sims[2] < 0.98 * sims[0]):
        sys.exit(f"bits per update: {sims}")
    again = run(folder, "tune", *play, "--threads", "1", "-o", "again.schema")
    expect(again, "again.schema:")
    if (folder / "again.schema").read_bytes() != (folder / "town.schema").read_bytes():
        sys.exit("another schema with another number of threads")


def it_applies_advice(folder):
    """Steps and bits as advised, learned anew; what that is worth and what can be seen of it, as sim finds it."""
    play = ("scene:race", "--seconds", "16", "--viewers", "4", "--rotation", "heading")
    plain = run(folder, "tune", *play, "-o", "plain.schema")
    told = run(folder, "tune", *play, "--apply", "advice", "-o", "advised.schema")
    expect(plain, "what else would help", "steps of 32 mm instead of 16", "6 bits instead of 8", "% of the payload")
    expect(told, "applied", "steps of 32 mm instead of 16", "6 bits instead of 8", "what the advice is worth")
    texts = [(folder / name).read_text("ascii") for name in ("plain.schema", "advised.schema")]
    expect(texts[0], "position: position 16 step 16", "heading: angle 8 ")
    expect(texts[1], "position: position 16 step 32", "heading: angle 6 ")
    rows = dict(re.findall(r"^  (\S.*?)  +([\d.]+ +[\d.]+) +[+-]", told.split("what the advice is worth")[1], re.MULTILINE))
    without, given = map(float, rows["bits per update"].split())
    if not given < 0.95 * without:
        sys.exit(f"bits per update with the advice {given}, without it {without}")
    expect(rows, "mean error, mrad", "mean error, mm", "heading, degrees", "other values late, ms")
    sims = [json.loads(run(folder, "sim", *play, "--json", "--schema", name))["bits_per_update"]
            for name in ("plain.schema", "advised.schema")]
    if not sims[1] < 0.95 * sims[0]:
        sys.exit(f"sim has {sims} bits per update without the advice and with it")
    run(folder, "tune", *play, "--schema", "advised.schema", "--apply", "advice", "-o", "twice.schema")
    # With 4 bits it would show up to 98 m, and it is told within 50 m.
    expect((folder / "twice.schema").read_text("ascii"), "heading: angle 6 ")
    run(folder, "tune", *play, "--apply", "all", "-o", "x", code=2)
    # What is told finer where there are bits is told coarser where there are none.
    (folder / "fine.schema").write_text(texts[0].replace("position 16 step 16", "position 16 step 16 finest 2"), "ascii")
    told = run(folder, "tune", *play, "--schema", "fine.schema", "-o", "x")
    if "`position`" in told or "6 bits instead of 8" not in told:
        sys.exit(f"steps are advised that the bits choose:\n{told}")


def it_advises_what_leaves_something(folder):
    """`significant` is in the field's unit, given once, and only where most differences stay significant."""
    rng = random.Random(3)
    lines = ["# rate 10", "tick,entity,x_mm,y_mm,z_mm,heading_deg,firing,gear,heat,turret"]
    heat = [300] * 6
    for t in range(400):
        for e in range(6):
            step = rng.choice((-2, -1, 1, 2)) if rng.random() < 0.97 else rng.randrange(600) - heat[e]
            heat[e] = max(0, min(600, heat[e] + step))
            lines.append(f"{t},{e},{t * 150},{e * 1000 + t * 7 % 300},0,{t * 9 % 360},{rng.randrange(2)},{rng.randrange(4)},"
                         f"{heat[e] / 10},{(t * 13 + e * 50) % 900}")
    (folder / "tank").write_text("\n".join(lines) + "\n", encoding="ascii")
    play = ("tank", "--viewers", "2")
    told = run(folder, "tune", *play, "--apply", "advice", "-o", "tank.schema")
    expect(told, "changes are by 0.3 or less: `significant 0.4`", "`turret` goes on as it did")
    text = (folder / "tank.schema").read_text("ascii")
    expect(text, "step 0.1 distance 100 significant 0.4\n")
    if told.count("significant 0.4") != 1 or re.search(r"(firing|gear):.*significant|`(firing|gear)`", text + told):
        sys.exit(f"advice is given twice, or for what has two or four values:\n{told}\n{text}")
    # What says so already, or is smooth, or shows wherever it is told.
    for entry, radius, advised in (("", 0.5, True), (" significant 0.2", 1.5, False), (" smooth", 0.9, False)):
        (folder / "own.schema").write_text(
            f"class tank radius {radius}\n p: position\n heading: angle 8 distance 50\n"
            f" heat: fixed 0..100 step 0.1{entry}\n turret: range 0..2047 smooth\n", encoding="ascii")
        told = run(folder, "tune", *play, "--schema", "own.schema", "-o", "x").partition("what else would help")[2]
        beyond = re.findall(r"beyond (\d+) m", told)
        if ("`heat`" in told) != advised or beyond != {0.5: ["25"], 0.9: ["44"], 1.5: []}[radius]:
            sys.exit(f"advice with '{entry}', radius {radius}:\n{told}")
        if "goes on as it did" in told:
            sys.exit(f"what is smooth is to become smooth:\n{told}")


def it_learns_from_several(folder):
    """Of one game: the schema holds what is in any of them; what is wrong with one of them is said with its name."""
    write_game(folder / "calm", 3, 200, lambda tick, entity: f"{tick * 7 % 100},calm")
    write_game(folder / "fight", 3, 200, lambda tick, entity: f"{tick * 7 % 900},{'calm' if tick % 20 else 'angry'}")
    expect(run(folder, "tune", "calm", "fight", "-o", "both.schema"), "flat: levels 0..896")
    expect((folder / "both.schema").read_text("ascii"), "mood: enum 2", "flat: rice 0..")
    write_game(folder / "brief", 3, 50)
    expect(run(folder, "tune", "calm", "brief", "-o", "new.schema", code=1), "brief: ", "too short")
    (folder / "narrow").write_text("class thing\n p: position\n flat: range 0..99\n", encoding="ascii")
    expect(run(folder, "tune", "calm", "fight", "--schema", "narrow", "-o", "new.schema", code=1),
           "fight:", "105 is outside of 0..99")
    write_game(folder / "wordy", 3, 200, lambda tick, entity: f"w{tick % 3},calm")
    expect(run(folder, "tune", "calm", "wordy", "-o", "new.schema", code=1), "words in one recording and numbers")
    # What fails leaves no file behind, and what is learned from is no place to write to.
    if (folder / "new.schema").exists():
        sys.exit("a schema without anything is left behind by what failed")
    before = (folder / "calm").read_bytes()
    expect(run(folder, "tune", "fight", "calm", "-o", "calm", code=1), "calm is the recording")
    expect(run(folder, "tune", "fight", "calm", "--page", "calm", "-o", "new.schema", code=1), "calm is the recording")
    if (folder / "calm").read_bytes() != before or (folder / "new.schema").exists():
        sys.exit("a recording was written to, or a schema is left behind")
    # Models to begin with count also where the schema is derived.
    run(folder, "tune", "calm", "--tables", "both.schema", "-o", "with.schema")
    run(folder, "tune", "calm", "-o", "without.schema")
    if (folder / "with.schema").read_bytes() == (folder / "without.schema").read_bytes():
        sys.exit("--tables changes nothing")


def it_reads_what_is_left(folder):
    """A recording cut off or with a flipped bit is learned from as far as it can be read; each says what is missing."""
    write_game(folder / "whole.csv", 6, 400)
    run(folder, "convert", "whole.csv", "whole.phrec")
    whole = (folder / "whole.phrec").read_bytes()
    for name, content, hint in (("cut", whole[:len(whole) * 3 // 4], "it breaks off behind tick"),
                                ("flipped", whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 16]) +
                                 whole[len(whole) // 2 + 1:], "damaged"),
                                ("stump", whole[:30], "no part of a recording can be read")):
        (folder / name).write_bytes(content)
        done = subprocess.run([PROGRAM, "tune", name, "-o", "left.schema"], cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode != (1 if name == "stump" else 0) or hint not in done.stderr:
            sys.exit(f"pinhole tune of a recording that is {name}: {done.returncode}, says {done.stderr!r}")
        if name != "stump":
            expect(done.stdout, "flat: constant", "left.schema: ")
    text = (folder / "whole.csv").read_text("ascii")
    (folder / "cut.csv").write_text(text[:text.rindex("\n", 0, -1) - 9], encoding="ascii")
    lines = text.count("\n") - 1
    expect(run(folder, "tune", "cut.csv", "-o", "x", code=1), f"cut.csv:{lines}")


def it_says_what_is_wrong(folder):
    for name, text in (("empty", ""), ("head", "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n")):
        (folder / name).write_text(text, encoding="ascii")
        expect(run(folder, "tune", name, "-o", "x", code=1), "there is no")
    write_game(folder / "one", 1, 200)
    expect(run(folder, "tune", "one", "-o", "x"), "one entity only", "nothing is left to test on")
    # What is learned from is not tested on: here nothing happens in the last two fifths, and gain is told of these alone.
    lines = ["# rate 10", "tick,entity,x_mm,y_mm,z_mm,heading_deg"]
    lines += [f"{t},{e},{min(t, 100) * 150},{e * 1000},0,{min(t, 100) * 9 % 360}" for t in range(200) for e in range(8)]
    (folder / "stops").write_text("\n".join(lines) + "\n", encoding="ascii")
    expect(run(folder, "tune", "stops", "-o", "x"), "nothing is left to test on")
    write_game(folder / "brief", 3, 50)
    expect(run(folder, "tune", "brief", "-o", "x", code=1), "too short")
    write_game(folder / "few", 3, 200, lambda tick, entity: f"5,word{tick % 9}")
    expect(run(folder, "tune", "few", "-o", "x"), "flat: constant", "mood: ", "a choice", "small recording")
    (folder / "narrow").write_text("class thing\n p: position\n flat: range 0..3\n", encoding="ascii")
    expect(run(folder, "tune", "few", "--schema", "narrow", "-o", "x", code=1),
           "few:3", "5 is outside of 0..3")
    expect(run(folder, "tune", "few", "--tables", "few", "-o", "x", code=1), "few:")
    it_reads_what_is_left(folder)
    expect(run(folder, "tune", "few", code=2), "-o")
    expect(run(folder, "tune", code=2), "which recording")
    expect(run(folder, "tune", "few", "-o", "no/where", code=1), "cannot be written")
    expect(run(folder, "tune", "--help"), "usage: pinhole tune", "3.25 to 25000")
    for kbps in ("0.5", "3", "25001", "nan"):
        expect(run(folder, "tune", "few", "--kbps", kbps, "-o", "x", code=2), "--kbps")


def write_mall(path, ticks=240, columns="class,speed,goods"):
    """People who walk and carts that roll: two classes, each with a property of its own."""
    lines = ["# rate 10", f"tick,entity,x_mm,y_mm,z_mm,heading_deg,{columns}"]
    for t in range(ticks):
        lines += [f"{t},{e},{t * 120},{e * 1500 + round(300 * math.sin(t / 2 + e))},0,{t * 9 % 360},person,{t * (e + 1) % 50},"
                  for e in range(8)]
        lines += [f"{t},{e},{round(9000 * math.cos(t / 12 + e))},{round(9000 * math.sin(t / 12 + e)) + 4000},0,0,cart,,"
                  f"{(t // 9 + e) % 8}" for e in range(20, 30)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def it_learns_classes(folder):
    """Of a game of several classes each has its own properties, models and motion, as text and as bytes alike."""
    write_mall(folder / "mall.csv")
    run(folder, "convert", "mall.csv", "mall.phrec")
    play = ("--viewers", "4")
    told = run(folder, "tune", "mall.csv", *play, "-o", "mall.schema", "--page", "mall.html")
    expect(told, "person.speed: levels 0..4", "cart.goods: levels 0..7", "how classes move", "  cart: bend 1.00", "on average, with 26 kbit/s",
           "cart.position", "person.heading", "predicted best as it ")
    expect((folder / "mall.html").read_text("utf-8"), "person.speed", "cart.goods", "differences from the last value", "How classes move", "0.55, now 1.00",
           "on average over the budgets tried: -")
    text = (folder / "mall.schema").read_text("ascii")
    expect(text, "class person", "class cart bend 1", "model person.speed told", "model cart.goods told")
    if "heading" in text[text.index("class cart"):text.index("class person")]:
        sys.exit(f"carts have a heading, which is always 0:\n{text}")
    run(folder, "tune", "mall.phrec", *play, "-o", "bytes.schema")
    if (folder / "bytes.schema").read_text("ascii") != text:
        sys.exit("another schema of the same recording as bytes")
    sims = [json.loads(run(folder, "sim", "mall.phrec", *play, "--json", *more))
            for more in ((), ("--schema", "mall.schema"), ("--tables", "mall.schema"))]
    bits = [sim["bits_per_update"] for sim in sims]
    if not (bits[1] < 0.98 * bits[0] and bits[2] < 0.98 * bits[0] and all(sim["converged"] for sim in sims)):
        sys.exit(f"bits per update: {bits}")
    if not (sims[1]["bits_by"]["cart.goods"] > 0 and sims[1]["error_mrad"]["mean"] < sims[0]["error_mrad"]["mean"]):
        sys.exit(f"{sims[1]['bits_by']}, {sims[0]['error_mrad']} before, {sims[1]['error_mrad']} after")
    # Learned for another budget: what is sent without a limit is sent at once.
    told = run(folder, "tune", "mall.phrec", *play, "--kbps", "0", "--hz", "10", "-o", "free.schema")
    expect(told, "without a limit of bits, the whole time")
    free = [json.loads(run(folder, "sim", "mall.phrec", *play, "--json", "--kbps", "0", "--hz", "10", "--tables", name))
            ["bits_per_update"] for name in ("mall.schema", "free.schema")]
    if not free[1] < 0.97 * free[0]:
        sys.exit(f"without a limit of bits, learned at 13 kbit/s and without one: {free}")
    expect(run(folder, "tune", "mall.csv", *play, "--kbps", "40", "-o", "x"), "at 40 kbit/s, the whole time")
    # A schema of the game's own, in another order, with what the recording has not; advice names the class.
    (folder / "game.schema").write_text("class tree\n p: position\nclass person\n p: position\n speed: range 0..63\n"
                                        " heading: angle 8\n"
                                        "class cart\n at: position\n goods: range 0..63\n tag: range 0..9\n",
                                        encoding="ascii")
    told = run(folder, "tune", "mall.phrec", *play, "--schema", "game.schema", "--apply", "advice", "-o", "own.schema")
    expect(told, "cart.tag: the recording has no values for it", "applied\n  1. `person.")
    own = (folder / "own.schema").read_text("ascii")
    expect(own, "class tree\n", "model cart.goods told")
    if "heading: angle 6" not in own[own.index("class person"):own.index("class cart")]:
        sys.exit(f"advice changed nothing:\n{own}")
    run(folder, "sim", "mall.phrec", *play, "--schema", "own.schema", "--compare", "--json")
    # One bad cell takes the classes from all: that is said, once, and where.
    text = (folder / "mall.csv").read_text("ascii")
    for cell, words in (("", "class is empty here"), ("a cart", "class cannot be named 'a cart' here")):
        (folder / "hole.csv").write_text(text.replace(",person,", f",{cell},", 1), encoding="ascii")
        for command in (("tune", "hole.csv", *play, "-o", "x"), ("sim", "hole.csv", *play, "--json"),
                        ("convert", "hole.csv", "hole.phrec")):
            said = subprocess.run([PROGRAM, *command], cwd=folder, capture_output=True, text=True, check=True).stderr
            if said.count("hole.csv:3: " + words) != 1 or said.count("\n") != 1:
                sys.exit(f"pinhole {' '.join(command)} of a class '{cell}' says {said!r}")
    # One class takes all of them; some take none of these.
    (folder / "one.schema").write_text("class thing\n p: position\n goods: range 0..63\n", encoding="ascii")
    expect(run(folder, "tune", "mall.phrec", *play, "--schema", "one.schema", "-o", "x"), "goods: levels 0..7")
    (folder / "less.schema").write_text("class cart\n p: position\nclass tree\n p: position\n", encoding="ascii")
    expect(run(folder, "tune", "mall.phrec", "--schema", "less.schema", "-o", "x", code=1),
           "mall.phrec: some of its entities are of class person, which the schema has not")
    write_mall(folder / "odd.csv", columns="kind,speed,goods")
    expect(run(folder, "tune", "odd.csv", "--schema", "game.schema", "-o", "x", code=1),
           "odd.csv: the schema has 3 classes, and nothing says of which one an entity is")
    expect(run(folder, "sim", "mall.csv", "--compare", "snapshot", code=1), "snapshots know one class, and there are 2")


def it_takes_all_that_can_be_read(folder):
    """Cut anywhere or with a bit flipped anywhere: learned from as far as it goes, or refused in words; no crash."""
    write_game(folder / "whole.csv", 4, 130)
    run(folder, "convert", "whole.csv", "whole.phrec")
    whole = (folder / "whole.phrec").read_bytes()
    text = (folder / "whole.csv").read_bytes()
    rng = random.Random(7)
    tried = [(content[:at], name) for name, content in (("bytes", whole), ("text", text))
             for at in (0, 1, len(content) - 1, *(rng.randrange(len(content)) for _ in range(6)))]
    for name, content in (("bytes", whole), ("text", text)):
        for at in (0, len(content) - 1, *(rng.randrange(len(content)) for _ in range(6))):
            tried.append((content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1:], name))
    outcomes = set()
    for content, name in tried:
        (folder / "bad").write_bytes(content)
        done = subprocess.run([PROGRAM, "tune", "bad", "--viewers", "1", "-o", "bad.schema"], cwd=folder,
                              capture_output=True, check=False)
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (0, 1) or (done.returncode == 1 and "bad" not in said) or \
                (done.returncode == 0) != (folder / "bad.schema").exists():
            sys.exit(f"pinhole tune of {name} that are bad: {done.returncode}, says {said!r}")
        outcomes.add(done.returncode)
        (folder / "bad.schema").unlink(missing_ok=True)
    if outcomes != {0, 1}:
        sys.exit("all that was tried came to the same")


def models_of(text):
    """The two arrays of a C file of tables, by family."""
    arrays = []
    for part in text.split("PH_PINHOLE_ENTRIES] = {")[1:]:
        families = part.split("};")[0].split("// ")[1:]
        arrays.append({family.split()[0]: [int(n) for n in re.findall(r"\d+", family.split("\n", 1)[1])]
                       for family in families})
    return arrays


def it_mixes(folder):
    """Models for several games: the same bytes with any number of threads, as C and as a schema that sim takes."""
    play = ("tune", "--mixture", "scene:town", "scene:race", "--seconds", "14", "--viewers", "3")
    told = run(folder, *play, "-o", "mixture.c")
    run(folder, *play, "--threads", "1", "-o", "again.c")
    text = (folder / "mixture.c").read_text("ascii")
    if (folder / "again.c").read_text("ascii") != text:
        sys.exit("another mixture with another number of threads")
    cumulative, costs = models_of(text)
    library = (ROOT / "src/schema/model_tables.c").read_text("ascii")
    if [line for line in library.splitlines() if line[:1] != " "] != [line for line in text.splitlines() if line[:1] != " "]:
        sys.exit("src/schema/model_tables.c has what this command does not write")
    shipped, shipped_costs = models_of(library)
    if {name: len(row) for name, row in cumulative.items()} != {name: len(row) for name, row in shipped.items()}:
        sys.exit("the mixture has other families than the tables of the library")
    for tables, priced in ((cumulative, costs), (shipped, shipped_costs)):
        for name, row in tables.items():
            for at, part in enumerate(row[1:]):
                share, cost = part - row[at], priced[name][at]
                is_end = row[at] == 32768
                if cost != (0 if is_end else math.ceil(256 * (15 - math.log2(share)) - 1e-9)) or (is_end and part != 0):
                    sys.exit(f"{name}, entry {at}: {row[at]} to {part} costs {cost}")
    rows = [[float(n) for n in line.split()[-4:]] for line in told.splitlines() if line.startswith("scene:")]
    if len(rows) != 2 or not all(0 < own and -1 <= mixture < others and mixture < curves
                                 for own, mixture, others, curves in rows):
        sys.exit(f"a mixture that is no better than what lacks the game, or its own models than the mixture:\n{told}")
    run(folder, *play, "-o", "mixture.schema")
    sim = ("sim", "scene:town", "--seconds", "14", "--viewers", "3", "--json", "--tables", "mixture.schema")
    if json.loads(run(folder, *sim))["converged"] is not True:
        sys.exit("clients with the models of a mixture do not converge")
    expect(run(folder, *play, "--page", "x", "-o", "x", code=2), "--mixture has no part in")
    expect(run(folder, "tune", "--mixture", "scene:still", "-o", "x", code=1), "scene:still")
    expect(run(folder, *play, "-o", "no/where.c", code=1), "cannot be written")


with tempfile.TemporaryDirectory() as place:
    it_learns(pathlib.Path(place))
    it_says_what_is_wrong(pathlib.Path(place))
    it_learns_from_several(pathlib.Path(place))
    it_applies_advice(pathlib.Path(place))
    it_advises_what_leaves_something(pathlib.Path(place))
    it_learns_classes(pathlib.Path(place))
    it_takes_all_that_can_be_read(pathlib.Path(place))
    it_mixes(pathlib.Path(place))
print("8 passed, 0 failed")
