// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server can have written to a client that knows what ours knows, whatever the profile. A
// record is opened, read in steps with a question behind each, and closed; for the files that fill
// a draft.

#ifndef PH_CLIENT_DRAFT_RULES_H
#define PH_CLIENT_DRAFT_RULES_H

#include "client/draft.h"

// Empty again.
void ph_draft_begin(ph_draft* draft);

// The next record, with its kind and a row of its own. @return NULL when there is no room.
ph_record* ph_draft_open(ph_draft* draft, ph_record_kind kind);
// It is read and counts.
void ph_draft_close(ph_draft* draft);

// Slots ascend within a kind, which begins at this record, and none is in a packet twice.
bool ph_draft_is_slot_new(const ph_draft* draft, const ph_draft_source* source, int kind_first,
                          int slot);

// Whether the slot's entity can be told this; of an enter class and name are read, too. The
// association is made whole.
bool ph_draft_try_extend_who(const ph_draft_source* source, ph_record* record);

// Whether positions have an eye to be read around, and references name somebody. These are made
// whole.
bool ph_draft_try_extend_what(const ph_draft_source* source, ph_record* record);

// All records are read: whether every name is in one slot only.
bool ph_draft_are_names_possible(const ph_draft* draft, const ph_mirror* mirror);

#endif
