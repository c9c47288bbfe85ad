// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a tick is told (docs/wire_recording.md): the writer gives values, the reader gets them, by the same functions. A value
// is told as what it differs by from the best of three guesses: as it was, as it moved, as its motion changed. Which is
// best, and how far it errs, the last values say. Once per entity and tick.

#ifndef PH_JOURNAL_JOURNAL_CODING_H
#define PH_JOURNAL_JOURNAL_CODING_H

#include "journal/journal_state.h"

uint64_t ph_journal_code_small(ph_journal_state* state, ph_journal_coder* coder,
                               ph_journal_small what, uint64_t value);

// Mask and flags, of a newcomer or where they changed.
void ph_journal_code_sight(ph_journal_state* state, ph_journal_coder* coder,
                           ph_journal_entity* entity);

// All values of a newcomer, which stand in the state, or get there.
// @return False where a reader meets a value that cannot be.
bool ph_journal_code_newcomer(ph_journal_state* state, ph_journal_coder* coder, int place);

// What changes of an entity: entity->changed and entity->move say what. Afterwards the values are in the state. A
// reader's change is filled in, too.
// @return False where a reader meets a value that cannot be.
bool ph_journal_code_change(ph_journal_state* state, ph_journal_coder* coder, int place,
                            ph_journal_change* change);

#endif
