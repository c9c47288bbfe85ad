// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All orders, losses and doublings of a few things.

#ifndef PINHOLE_SEQUENCES_H
#define PINHOLE_SEQUENCES_H

enum { SEQUENCE_MAX = 5 };

typedef void sequence_test(const int* sequence, int length, int variant);

// Calls for every sequence of up to `length` of the numbers 1..count, each at most twice; the empty
// one, too. Both are at most SEQUENCE_MAX.
void for_sequences(sequence_test* test, int count, int length, int variant);

#endif
