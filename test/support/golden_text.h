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

// ---- for other texts of the same kind

void golden_print(golden_lines* lines, const char* format, ...);

/// The eye of a header, if it has one.
void golden_print_eye(golden_lines* lines, const ph_header* header);

/// Behind the colon: what the record tells, in the order of the class, and the end of the line.
void golden_print_values(golden_lines* lines, const ph_layout* layout, const ph_record* record);

#endif
