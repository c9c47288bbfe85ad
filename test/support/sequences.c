// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Depth first, without recursion.

#include "sequences.h"

void for_sequences(sequence_test* test, int count, int length, int variant)
{
    int sequence[SEQUENCE_MAX] = {0};
    int uses[SEQUENCE_MAX + 1] = {0};
    int at = 0;
    test(sequence, 0, variant);
    for (;;) {
        // The next one at this place, or back.
        --uses[sequence[at]];
        do {
            ++sequence[at];
        } while (sequence[at] <= count && uses[sequence[at]] == 2);
        if (sequence[at] > count) {
            sequence[at] = 0;
            if (--at < 0) {
                return;
            }
            continue;
        }
        ++uses[sequence[at]];
        test(sequence, at + 1, variant);
        if (at + 1 < length) {
            sequence[++at] = 0;
        }
    }
}
