# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The static models of the pinhole profile: "Tables" in docs/wire_pinhole.md."""

from itertools import accumulate

from decoder.schema_text import expect

PARTS = 32768


class Tables:
    """models[family][m] is the row c of a model; costs[family][m] what its symbols cost; read holds
    every (family, m, symbol) that was."""

    def __init__(self, text):
        self.models, self.costs, self.read = {}, {}, set()
        lines = [line.split("#")[0].split() for line in text.splitlines()]
        lines = iter([words for words in lines if words])
        for words in lines:
            kind, family, *sizes = words
            expect(kind in ("family", "costs"), f"tables: '{kind}' is neither family nor costs")
            model_count, symbol_count = map(int, sizes)
            rows = [[int(word) for word in next(lines)] for _ in range(model_count)]
            expect(all(len(row) == symbol_count for row in rows),
                   f"tables: a row of {family} without {symbol_count} numbers")
            if kind == "costs":
                self.costs[family] = rows
            else:
                self.models[family] = [self.model(family, row) for row in rows]

    @staticmethod
    def model(family, parts):
        expect(min(parts) > 0 and sum(parts) == PARTS, f"tables: the parts of a {family}")
        return [0, *accumulate(parts)]
