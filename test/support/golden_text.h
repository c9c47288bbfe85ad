// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a golden packet says, as lines; the format is that of test/golden/README.md.

#ifndef PINHOLE_GOLDEN_TEXT_H
#define PINHOLE_GOLDEN_TEXT_H

#include "golden_session.h"

typedef struct golden_lines {
    char text[GOLDEN_LINES];
    int length;
} golden_lines;

/// From what the script says; size is that of the packet.
void golden_print_packet(golden_lines* lines, const golden_session* golden, size_t size);

/// From the bytes. Only the classes of the slots come from the script.
void golden_print_bytes(golden_lines* lines, const golden_session* golden, const uint8_t* bytes,
                        size_t size);

#endif
