// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server can have written. Each kind of record has one function that says whether it could
// have. A few times per record.

#include "client/draft_rules.h"

// ---- rows

void ph_draft_begin(ph_draft* draft)
{
    draft->count = 0;
    ph_bitset_clear_all(&draft->is_mentioned);
}

ph_record* ph_draft_open(ph_draft* draft, ph_record_kind kind)
{
    if (draft->count == draft->capacity) {
        return NULL;
    }
    const size_t row = (size_t)draft->count;
    ph_record* record = &draft->records[row];
    *record = (ph_record){
        .kind = (uint8_t)kind,
        .words = draft->words + row * (size_t)draft->layouts->word_count_max,
        .texts = draft->texts != NULL ? draft->texts + row * draft->layouts->text_bytes_max : NULL,
    };
    return record;
}

void ph_draft_close(ph_draft* draft)
{
    ph_bitset_set(&draft->is_mentioned, draft->records[draft->count].slot);
    ++draft->count;
}

// ---- who

bool ph_draft_is_slot_new(const ph_draft* draft, const ph_draft_source* source, int kind_first,
                          int slot)
{
    if (slot >= source->slot_count || ph_bitset_test(&draft->is_mentioned, slot)) {
        return false;
    }
    return draft->count == kind_first || draft->records[draft->count - 1].slot < slot;
}

// The entity that the slot shows; if it shows nobody, the last one, to be heard of again because
// the server does not know yet that we know; or the next one, which we never saw.
static bool is_leave_possible(const ph_mirror* mirror, const ph_record* record)
{
    const uint32_t steps = ph_mirror_steps(mirror, record->slot, record->association);
    if (steps == 0) {
        return mirror->association[record->slot] != 0;
    }
    return steps == 1 && !ph_bitset_test(&mirror->is_entered, record->slot);
}

// The entity that the slot shows, once more as a whole; or the next one in an empty slot.
static bool is_enter_possible(const ph_mirror* mirror, const ph_record* record)
{
    const int slot = record->slot;
    const uint32_t steps = ph_mirror_steps(mirror, slot, record->association);
    if (!ph_bitset_test(&mirror->is_entered, slot)) {
        return steps == 1;
    }
    return steps == 0 && mirror->name[slot] == record->name &&
           mirror->class_index[slot] == record->class_index;
}

static bool is_update_possible(const ph_mirror* mirror, const ph_record* record)
{
    return ph_bitset_test(&mirror->is_entered, record->slot) &&
           ph_mirror_steps(mirror, record->slot, record->association) == 0;
}

bool ph_draft_try_extend_who(const ph_draft_source* source, ph_record* record)
{
    const ph_mirror* mirror = source->mirror;
    const bool is_possible = record->kind == PH_RECORD_LEAVE   ? is_leave_possible(mirror, record)
                             : record->kind == PH_RECORD_ENTER ? is_enter_possible(mirror, record)
                                                               : is_update_possible(mirror, record);
    record->association = mirror->association[record->slot] +
                          ph_mirror_steps(mirror, record->slot, record->association);
    return is_possible;
}

// ---- what

// Makes references whole. A server refers only to those whose enter it knows to have arrived: so
// each names an entity that was in view before this packet.
static bool try_extend_references(const ph_draft_source* source, const ph_record* record)
{
    const ph_mirror* mirror = source->mirror;
    const ph_layout* layout = &source->frame.layouts->layouts[record->class_index];
    const uint64_t told = record->properties & layout->references;
    for (uint64_t left = told; left != 0; left &= left - 1) {
        uint32_t* words = record->words + layout->word[ph_word_lowest_bit(left)];
        if (words[0] == 0) {
            continue;
        }
        const int target = (int)(words[0] - 1);
        if (target >= source->slot_count || !ph_bitset_test(&mirror->is_entered, target) ||
            ph_mirror_steps(mirror, target, words[1]) != 0) {
            return false;
        }
        words[1] = mirror->association[target];
    }
    return true;
}

bool ph_draft_try_extend_what(const ph_draft_source* source, ph_record* record)
{
    const ph_layout* layout = &source->frame.layouts->layouts[record->class_index];
    // A position around an eye that nobody told.
    if ((record->properties & layout->position) != 0 && !source->is_eye_known) {
        return false;
    }
    return try_extend_references(source, record);
}

// ---- the whole packet

static bool is_left(const ph_draft* draft, int slot)
{
    for (int i = 0; i < draft->enter_first; ++i) {
        if (draft->records[i].slot == slot) {
            return true;
        }
    }
    return false;
}

static bool is_entered_before(const ph_draft* draft, int record, uint64_t name)
{
    for (int i = draft->enter_first; i < record; ++i) {
        if (draft->records[i].name == name) {
            return true;
        }
    }
    return false;
}

// Names are those of a server's entities: none is in two slots. One that we have in another slot
// has left that, whether we heard of it or not; but then the packet tells nothing else of it.
bool ph_draft_are_names_possible(const ph_draft* draft, const ph_mirror* mirror)
{
    for (int i = draft->enter_first; i < draft->update_first; ++i) {
        const ph_record* record = &draft->records[i];
        if (is_entered_before(draft, i, record->name)) {
            return false;
        }
        const int known = ph_mirror_find(mirror, record->name);
        if (known >= 0 && known != record->slot && ph_bitset_test(&draft->is_mentioned, known) &&
            !is_left(draft, known)) {
            return false;
        }
    }
    return true;
}
