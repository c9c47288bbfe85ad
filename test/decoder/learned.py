# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Models that a schema brings along: "Models of a schema" in docs/wire_pinhole.md."""

from itertools import accumulate, count
from math import ceil, log2

from decoder.fields import WORD64
from decoder.fingerprint import digest
from decoder.schema_text import expect
from decoder.tables import PARTS, Tables

CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WEIGHTS = (2147483648, 1805811301, 1518500250, 1276901417)
NUMBER_SYMBOLS = 34
KINDS = {"told": 2, "number": NUMBER_SYMBOLS}


class Learned:
    """codes by (family, model) and by (property, kind); a property counts among those of all classes."""

    def __init__(self):
        self.families, self.properties = {}, {}

    def take_line(self, words, classes):
        expect(len(words) > 2, "a model without codes")
        if "." in words[0]:
            self.take_property(words, classes)
            return
        family, first, *rows = words
        for model, codes in zip(count(int(first)), rows):
            expect((family, model) not in self.families, f"a second model {family} {model}")
            self.families[family, model] = codes

    def take_property(self, words, classes):
        class_name, name = words[0].split(".")
        named = [(c.name, p.name) for c in classes for p in c.properties]
        expect((class_name, name) in named, f"no property {words[0]}")
        place = named.index((class_name, name))
        rows = words[2:]
        expect(words[1] in KINDS and len(rows) == (2 if words[1] == "told" else 1), "told or number")
        for behind, codes in enumerate(rows):
            kind = 2 if words[1] == "number" else behind
            expect((place, kind) not in self.properties, f"a second model of {words[0]}")
            self.properties[place, kind] = codes

    def fingerprint(self, of_classes):
        """What a fingerprint of classes becomes."""
        models = [digest(17, [*family.encode("ascii"), model, *trimmed(codes)])
                  for (family, model), codes in self.families.items()]
        models += [digest(18, [*place, *trimmed(codes)])
                   for place, codes in self.properties.items()]
        return digest(of_classes, [sum(models) % WORD64]) if models else of_classes

    def tables(self, tables):
        """The tables, with these in place of some of them."""
        tuned = Tables("")
        tuned.read = tables.read
        tuned.models = {family: list(rows) for family, rows in tables.models.items()}
        tuned.costs = {family: list(rows) for family, rows in tables.costs.items()}
        for (family, model), text in self.families.items():
            expect(model < len(tuned.models.get(family, [])), f"no model {family} {model}")
            row = row_of(codes_of(text, len(tuned.models[family][model]) - 1))
            tuned.models[family][model] = row
            if family in tuned.costs:
                tuned.costs[family][model] = costs_of(row)
        tuned.models["OWN"] = {
            place: row_of(codes_of(codes, KINDS["number" if place[1] == 2 else "told"]))
            for place, codes in self.properties.items()}
        tuned.costs["OWN"] = {place: costs_of(row) for place, row in tuned.models["OWN"].items()}
        return tuned


def codes_of(text, symbols):
    expect(1 <= len(text) <= symbols, f"a model of {symbols} symbols: '{text}'")
    codes = [CHARACTERS.find(character) for character in text]
    expect(min(codes) >= 0, f"'{text}' is no model")
    return codes + [codes[-1]] * (symbols - len(codes))


def trimmed(text):
    """The codes, without those at the end that repeat the one before."""
    while len(text) > 1 and text[-1] == text[-2]:
        text = text[:-1]
    return [CHARACTERS.find(character) for character in text]


def row_of(codes):
    sums = [0, *accumulate(WEIGHTS[code % 4] >> code // 4 for code in codes)]
    spread = PARTS - len(codes)
    return [i + (part * spread + sums[-1] // 2) // sums[-1] for i, part in enumerate(sums)]


def costs_of(row):
    return [ceil(256 * (15 - log2(b - a)) - 1e-9) for a, b in zip(row, row[1:])]
