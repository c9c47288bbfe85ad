// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One golden packet taken apart, step by step, as docs/wire_pinhole.md tells it: by the range coder
// and the formulas alone, without the code that reads records.

#ifndef PINHOLE_GOLDEN_APART_H
#define PINHOLE_GOLDEN_APART_H

#include "golden_pinhole.h"
#include "golden_text.h"

/// The packet that is the last of the session: two leaves, then an update of slot 0, a walker with a
/// position on the ground. One line for each thing read.
void golden_print_apart(golden_lines* lines, const golden_pinhole* golden, const uint8_t* bytes,
                        size_t size);

#endif
