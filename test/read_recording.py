#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second reader of recordings, made from docs/wire_recording.md and docs/wire_pinhole.md alone. Standard library only.

    test/read_recording.py --check     reads test/golden/recording/walk.phrec and compares it with walk.csv beside it
    test/read_recording.py --flip      notices every changed bit of it
    test/read_recording.py FILE        prints FILE as text; schemas as `pinhole convert` makes them
"""

import pathlib
import sys
import zlib

from decoder.range_coder import Symbols, raw_bits

GOLDEN = pathlib.Path(__file__).parent / "golden" / "recording"
MARK = bytes.fromhex("89500A52")
HEAD, KEY, NEXT, END = range(4)
HEADER_BYTES = 32
PARTS = 32768
SIZE_SYMBOLS = 23
LIST_TEXTS = 4096
LIST_BYTES = 262144
ERROR_MAX = 1 << 24


class Refused(Exception):
    pass


def require(condition, complaint):
    if not condition:
        raise Refused(complaint)


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


# ---- models that learn


class Model:
    def __init__(self, count):
        self.c = [PARTS * i // count for i in range(count + 1)]
        self.seen = 0

    def learn(self, symbol):
        count = len(self.c) - 1
        rate = 3 + sum(self.seen >= bound for bound in (16, 32, 64, 128))
        for i in range(1, count):
            target = i if i <= symbol else PARTS - count + i
            self.c[i] += (target - self.c[i]) >> rate  # floor, also of negative numbers
        self.seen = min(self.seen + 1, 256)


class Body:
    def __init__(self, data):
        self.data = data
        self.symbols = Symbols(data)
        self.bits = raw_bits(data)

    def symbol(self, model):
        symbol = self.symbols.read(model.c)
        model.learn(symbol)
        return symbol

    def even(self, count):
        return self.symbols.even(count)

    def raw(self, count):
        low = self.bits.read(min(count, 32)) if count > 0 else 0
        return low | (self.bits.read(count - 32) << 32 if count > 32 else 0)

    def size(self, model):
        symbol = self.symbol(model)
        if symbol < 4:
            return symbol
        if symbol < SIZE_SYMBOLS - 1:
            octave = symbol // 2
            return ((2 + symbol % 2) << (octave - 1)) + self.raw(octave - 1)
        octave = self.raw(6)
        return (1 << octave) + self.raw(octave)

    def check_end(self):
        spare = 8 * len(self.data) - self.symbols.front_bits() - self.bits.at
        require(0 <= spare <= 7, "bits between symbols and raw bits")
        require((int.from_bytes(self.data, "big") >> self.bits.at) % (1 << spare) == 0, "spare bits")


# ---- schemas, as far as `pinhole convert` makes them


class Channel:
    def __init__(self, modulus):
        self.modulus = modulus
        self.reset()

    def reset(self):
        self.first = Model(SIZE_SYMBOLS)
        self.errors = [Model(SIZE_SYMBOLS) for _ in range(16)]
        self.before = 0


class Property:
    def __init__(self, words):
        self.name, self.coding = words[0].rstrip(":"), words[1]
        self.longest = int(words[2]) if self.coding == "string" else 0
        self.low, self.step = 0.0, 1.0
        moduli = []
        if self.coding == "position":
            moduli = [1 << 32] * 3
        elif self.coding in ("range", "fixed"):
            low, high = words[2].split("..")
            self.low = float(low)
            if self.coding == "fixed":
                self.step = float(words[words.index("step") + 1])
            moduli = [round((float(high) - self.low) / self.step) + 1]
        else:
            require(self.coding == "string", f"coding {self.coding}")
        self.channels = [Channel(modulus) for modulus in moduli]


class Class:
    def __init__(self):
        self.properties = []

    def reset(self):
        self.moves = [Model(3) for _ in range(9)]
        self.any = [Model(2) for _ in range(4)]
        self.changed = [[Model(2) for _ in range(4)] for _ in self.properties]
        for declared in self.properties:
            for channel in declared.channels:
                channel.reset()


def read_schema(text):
    classes = []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "class":
            classes.append(Class())
        else:
            classes[-1].properties.append(Property(words))
    return classes


# ---- entities


def centred(value, modulus):
    return (value + modulus // 2) % modulus - modulus // 2


class Series:
    def __init__(self, value):
        self.value, self.step, self.change = value, 0, 0
        self.errors = [0, 0, 0]

    def guesses(self, modulus):
        return [0, centred(self.step, modulus), centred(self.step + self.change, modulus)]

    def move(self, value, modulus):
        step = centred(value - self.value, modulus)
        for i, guess in enumerate(self.guesses(modulus)):
            error = min(abs(centred(step - guess, modulus)), ERROR_MAX)
            self.errors[i] += 4 * error - self.errors[i] // 4
        self.change = centred(step - self.step, modulus)
        self.step, self.value = step, value


class Entity:
    def __init__(self, key, kind):
        self.key, self.kind = key, kind
        self.values = [None] * len(kind.properties)  # a text, or series by channel
        self.moves, self.anys, self.changed = [0, 0], [0, 0], [set(), set()]
        self.has_jumped = self.is_told = False


class State:
    def __init__(self, classes):
        self.classes = classes
        self.clear()

    def clear(self):
        names = ("SKIPPED", "GONE", "SHOWN", "NEWCOMERS", "KEY", "LENGTH", "SIGHT", "NEW")
        self.models = {name: Model(SIZE_SYMBOLS) for name in names}
        self.places, self.free, self.texts, self.last_key = [], [], [], 0
        for kind in self.classes:
            kind.reset()

    def difference(self, body, model, modulus):
        size = body.size(model)
        found = -size if size > 0 and body.raw(1) else size
        require(centred(found, modulus) == found, "a difference that is not centred")
        return found

    def text(self, body, longest):
        index = body.even(len(self.texts) + 1)
        if index < len(self.texts):
            return self.texts[index]
        length = body.size(self.models["LENGTH"])
        require(length <= longest, "a text that is too long")
        text = bytes(body.raw(8) for _ in range(length))
        total = sum(len(known) + 2 for known in self.texts)
        if len(self.texts) < LIST_TEXTS and total + len(text) + 2 <= LIST_BYTES:
            self.texts.append(text)
        return text

    def place(self, body):
        require(self.places, "no places")
        place = body.even(len(self.places))
        require(self.places[place] is not None, "an empty place")
        return place

    def sight(self, body):
        if body.size(self.models["SIGHT"]) != 0:
            body.raw(2)
            body.raw(32)

    def newcomer(self, body):
        coded = body.size(self.models["KEY"])
        step = -(coded + 1) // 2 if coded % 2 else coded // 2
        self.last_key = (self.last_key + step) % (1 << 64)
        kind = self.classes[body.even(len(self.classes))]
        entity = Entity(self.last_key, kind)
        require(all(other is None or other.key != entity.key for other in self.places), "a key that is taken")
        news = body.size(self.models["NEW"])
        require(news <= 3, "news")
        entity.has_jumped, entity.is_told = news >= 2, True
        if self.free:
            self.places[self.free.pop()] = entity
        else:
            self.places.append(entity)
        self.sight(body)
        for i, declared in enumerate(kind.properties):
            if declared.coding == "string":
                entity.values[i] = self.text(body, declared.longest)
                continue
            entity.values[i] = []
            for channel in declared.channels:
                step = self.difference(body, channel.first, channel.modulus)
                channel.before = (channel.before + step) % channel.modulus
                entity.values[i].append(Series(channel.before))

    def value(self, body, entity, i):
        declared = entity.kind.properties[i]
        if declared.coding == "string":
            entity.values[i] = self.text(body, declared.longest)
            return
        for channel, series in zip(declared.channels, entity.values[i]):
            best = min(range(3), key=lambda guess: series.errors[guess])
            guess = series.guesses(channel.modulus)[best]
            model = channel.errors[min(series.errors[best].bit_length(), 15)]
            step = guess + self.difference(body, model, channel.modulus)
            series.move((series.value + step) % channel.modulus, channel.modulus)

    def rest(self, entity, i):
        declared = entity.kind.properties[i]
        if declared.coding != "string":
            for channel, series in zip(declared.channels, entity.values[i]):
                series.move(series.value, channel.modulus)

    def changes(self, body, entity):
        kind = entity.kind
        position = next(i for i, declared in enumerate(kind.properties) if declared.coding == "position")
        move = body.symbol(kind.moves[3 * entity.moves[0] + entity.moves[1]])
        if move:
            self.value(body, entity, position)
        elif any(entity.moves):
            self.rest(entity, position)
        others = [i for i in range(len(kind.properties)) if i != position]
        changed = set()
        if others:
            if body.symbol(kind.any[2 * entity.anys[0] + entity.anys[1]]):
                for i in others:
                    before, last = i in entity.changed[0], i in entity.changed[1]
                    if body.symbol(kind.changed[i][2 * last + before]):
                        changed.add(i)
            for i in others:
                if i in changed:
                    self.value(body, entity, i)
                elif i in entity.changed[0] or i in entity.changed[1]:
                    self.rest(entity, i)
        entity.has_jumped = move == 2
        entity.moves = [entity.moves[1], move]
        entity.anys = [entity.anys[1], int(bool(changed))]
        entity.changed = [entity.changed[1], changed]

    def tick(self, body):
        skipped = body.size(self.models["SKIPPED"])
        for _ in range(body.size(self.models["GONE"])):
            place = self.place(body)
            self.places[place] = None
            self.free.append(place)
        for _ in range(body.size(self.models["SHOWN"])):
            self.place(body)
            self.sight(body)
        for _ in range(body.size(self.models["NEWCOMERS"])):
            self.newcomer(body)
        for entity in self.places:
            if entity is not None and not entity.is_told:
                self.changes(body, entity)
        for entity in self.places:
            if entity is not None:
                entity.is_told = False
        return skipped


# ---- files


def read_parts(data):
    at, sequence = 0, 0
    while at < len(data):
        head = data[at:at + HEADER_BYTES]
        require(len(head) == HEADER_BYTES and head[:4] == MARK, "no mark")
        require(number(head, 28, 4) == zlib.crc32(head[:28]), "checksum of the header")
        require(head[4] == 1 and head[5] <= END and head[6:8] == b"\0\0", "version or kind")
        size = number(head, 8, 4)
        body = data[at + HEADER_BYTES:at + HEADER_BYTES + size]
        require(len(body) == size and number(head, 24, 4) == zlib.crc32(body), "checksum of the body")
        require(number(head, 12, 4) == sequence, "sequence")
        yield head[5], number(head, 16, 4), number(head, 20, 4), body
        at, sequence = at + HEADER_BYTES + size, sequence + 1


def decimals(step):
    text = f"{step:.9f}".rstrip("0")
    return len(text) - text.index(".") - 1


def cell(declared, value):
    if value is None:
        return ""
    if declared.coding == "string":
        return value.decode()
    places = decimals(declared.step) if declared.coding == "fixed" else 0
    shown = f"{declared.low + declared.step * value[0].value:.{places}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown


def row(tick, entity, names):
    cells = {declared.name: cell(declared, value) for declared, value in zip(entity.kind.properties, entity.values)
             if declared.coding != "position"}
    position = next(value for declared, value in zip(entity.kind.properties, entity.values)
                    if declared.coding == "position")
    places = [str(centred(series.value, 1 << 32)) for series in position]
    return ",".join([str(tick), str(entity.key), *places, cells["heading_deg"], str(int(entity.has_jumped)),
                     *(cells.get(name, "") for name in names)])


def read_recording(data):
    """Lines of text, without the names."""
    state, names, lines, kinds = None, [], [], []
    for kind, first, end, body in read_parts(data):
        kinds.append(kind)
        if kind in (HEAD, END):
            require(number(body, 24, 4) == len(body) - 28, "length of the schema")
            if state is None:
                state = State(read_schema(body[28:].decode()))
                for declared in (p for c in state.classes for p in c.properties):
                    if declared.coding != "position" and declared.name != "heading_deg" and declared.name not in names:
                        names.append(declared.name)
            continue
        if kind == KEY:
            state.clear()
        coded, tick = Body(body), first
        while tick < end:
            tick += state.tick(coded)
            entities = sorted((e for e in state.places if e is not None), key=lambda e: e.key)
            lines += [row(tick, entity, names) for entity in entities]
            tick += 1
        coded.check_end()
    require(kinds[0] == HEAD and kinds[-1] == END and KEY in kinds and NEXT in kinds, "parts")
    return names, lines


def is_golden(data):
    names, lines = read_recording(data)
    wanted = (GOLDEN / "walk.csv").read_text().splitlines()
    own = wanted[1].split(",")[7:]
    order = [names.index(name) for name in own]
    for i, line in enumerate(lines):
        cells = line.split(",")
        lines[i] = ",".join(cells[:7] + [cells[7 + at] for at in order])
    return lines == wanted[2:]


def main():
    mode = sys.argv[1] if len(sys.argv) == 2 else "--help"
    data = (GOLDEN / "walk.phrec").read_bytes()
    if mode == "--check":
        good = is_golden(data)
        print("recording: ok" if good else "recording: another one than the text says")
        return 0 if good else 1
    if mode == "--flip":
        missed = 0
        for bit in range(8 * len(data)):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            try:
                for _ in read_parts(bytes(changed)):
                    pass
                missed += 1
            except Refused:
                pass
        print(f"recording: {8 * len(data)} bits changed, {missed} not noticed")
        return 1 if missed else 0
    if mode.startswith("-"):
        print(__doc__)
        return 2
    print("\n".join(read_recording(pathlib.Path(mode).read_bytes())[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
