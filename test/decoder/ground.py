# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The ground of the golden packets, as test/golden/README.md has it."""

from decoder.schema_text import expect, whole

LAYERS_MAX = 8


class Ground:
    def __init__(self, text):
        self.areas = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if words:
                self.areas.append(self.parse_area(words, number))

    @staticmethod
    def parse_area(words, number):
        numbers = [whole(word) for word in words]
        heights = numbers[4:]
        expect(len(numbers) >= 4 and len(heights) <= LAYERS_MAX and
               all(a < b for a, b in zip(heights, heights[1:])),
               f"ground, line {number}: four ends and at most 8 ascending heights")
        return numbers[:4], heights

    def layers(self, x, y):
        for (x_from, x_to, y_from, y_to), heights in self.areas:
            if x_from <= x < x_to and y_from <= y < y_to:
                return heights
        return []
