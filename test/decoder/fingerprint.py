# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The fingerprint of a schema: that section of docs/wire_format.md."""

from decoder.fields import WORD64


def mix(b):
    b = (b ^ (b >> 30)) * 0xBF58476D1CE4E5B9 % WORD64
    b = (b ^ (b >> 27)) * 0x94D049BB133111EB % WORD64
    return b ^ (b >> 31)


def absorb(state, word):
    return mix(((state ^ (word % WORD64)) + 0x9E3779B97F4A7C15) % WORD64)


def fingerprint_words(classes):
    words = []
    for a_class in classes:
        words += [1, len(a_class.properties)]
        for a_property in a_class.properties:
            words += a_property.fingerprint_words(a_property is a_class.first_angle())
    return [int(word) for word in words]


def fingerprint_of(classes):
    return digest(0x3120616D65686373, fingerprint_words(classes))


def digest(seed, words):
    state = absorb(0, seed)
    for word in words:
        state = absorb(state, word)
    return absorb(absorb(state, 0), 8 * len(words))
