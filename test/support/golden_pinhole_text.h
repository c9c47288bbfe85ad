// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a golden packet of the pinhole profile says, as lines, and its tables; the formats are those
// of test/golden/pinhole/README.md and docs/wire_pinhole.md.

#ifndef PINHOLE_GOLDEN_PINHOLE_TEXT_H
#define PINHOLE_GOLDEN_PINHOLE_TEXT_H

#include "golden_pinhole.h"
#include "golden_text.h"

#include "client/client_entities.h"

/// The moment is that of the packet's horizon, as the end has it that printed content is of.
void golden_print_pinhole(golden_lines* lines, golden_pinhole* golden, const golden_moment* moment,
                          const golden_content* content);

/// A line for the entity that a slot of a client shows, with the newest told of every property.
void golden_print_slot(golden_lines* lines, const ph_client_entities* entities, int slot);

/// All of these lines.
void golden_print_shown(golden_lines* lines, const ph_client* client);

/// Writes all tables as text. @return Its length; it fits.
size_t golden_print_tables(char* text, size_t capacity);

#endif
