// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads the records of one packet and checks them against what the client knows before it. Each
// kind of record has one function that says whether a server could have written it. Once per
// packet.

#include "client/draft.h"

#include "base/allocator.h"

// No record is shorter than a leave.
#define RECORD_BITS_MIN (PH_CLASSIC_SLOT_BITS_MIN + PH_CLASSIC_ASSOCIATION_BITS)
#define RECORDS_MAX (8 * PH_PAYLOAD_MAX / RECORD_BITS_MIN)

// ---- creation

ph_result ph_draft_create(ph_draft* draft, const ph_layouts* layouts, const ph_allocator* allocator,
                          int slot_capacity)
{
    const int capacity = slot_capacity < RECORDS_MAX ? slot_capacity : RECORDS_MAX;
    const size_t count = (size_t)capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(slot_capacity);
    *draft = (ph_draft){.layouts = layouts,
                        .capacity = capacity,
                        .slot_capacity = slot_capacity,
                        .allocator = *allocator};
    draft->records = ph_allocate_array(allocator, count, sizeof(ph_record));
    draft->words =
        ph_allocate_array(allocator, count, (size_t)layouts->word_count_max * sizeof(uint32_t));
    draft->slot_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    bool is_complete = draft->records != NULL && draft->words != NULL && draft->slot_words != NULL;
    if (layouts->text_bytes_max > 0) {
        draft->texts = ph_allocate_array(allocator, count, layouts->text_bytes_max);
        is_complete = is_complete && draft->texts != NULL;
    }
    if (!is_complete) {
        ph_draft_destroy(draft);
        return PH_ERROR_MEMORY;
    }
    draft->is_mentioned = ph_bitset_make(draft->slot_words, slot_capacity);
    return PH_OK;
}

void ph_draft_destroy(ph_draft* draft)
{
    const ph_allocator* allocator = &draft->allocator;
    const ph_layouts* layouts = draft->layouts;
    const size_t count = (size_t)draft->capacity;
    if (count > 0) {
        ph_release_array(allocator, draft->texts, count, layouts->text_bytes_max);
        ph_release_array(allocator, draft->slot_words,
                         (size_t)ph_bitset_word_count(draft->slot_capacity), sizeof(uint64_t));
        ph_release_array(allocator, draft->words, count,
                         (size_t)layouts->word_count_max * sizeof(uint32_t));
        ph_release_array(allocator, draft->records, count, sizeof(ph_record));
    }
    *draft = (ph_draft){0};
}

// ---- one record

// Slots ascend within a kind, and none is in a packet twice.
static bool is_slot_new(const ph_draft* draft, const ph_draft_source* source, int kind_first,
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

// Who, before what: the class of an update is that of the slot's entity.
static bool try_read_who(ph_draft* draft, const ph_draft_source* source, int kind_first,
                         ph_bit_reader* reader)
{
    const ph_mirror* mirror = source->mirror;
    ph_record* record = &draft->records[draft->count];
    ph_classic_read_slot(&source->frame, reader, record);
    if (ph_bit_reader_result(reader) != PH_OK ||
        !is_slot_new(draft, source, kind_first, record->slot)) {
        return false;
    }
    const int slot = record->slot;
    bool is_possible;
    if (record->kind == PH_RECORD_LEAVE) {
        is_possible = is_leave_possible(mirror, record);
    } else if (record->kind == PH_RECORD_UPDATE) {
        is_possible = is_update_possible(mirror, record);
        record->class_index = mirror->class_index[slot];
    } else {
        ph_classic_read_name(&source->frame, reader, record);
        is_possible = ph_bit_reader_result(reader) == PH_OK && is_enter_possible(mirror, record);
    }
    record->association =
        mirror->association[slot] + ph_mirror_steps(mirror, slot, record->association);
    return is_possible;
}

static bool try_read_what(ph_draft* draft, const ph_draft_source* source, ph_bit_reader* reader)
{
    ph_record* record = &draft->records[draft->count];
    const size_t row = (size_t)draft->count;
    record->words = draft->words + row * (size_t)draft->layouts->word_count_max;
    record->texts =
        draft->texts != NULL ? draft->texts + row * draft->layouts->text_bytes_max : NULL;
    ph_classic_read_body(&source->frame, reader, record);
    if (ph_bit_reader_result(reader) != PH_OK) {
        return false;
    }
    const ph_layout* layout = &draft->layouts->layouts[record->class_index];
    // A position around an eye that nobody told.
    if ((record->properties & layout->position) != 0 && !source->is_eye_known) {
        return false;
    }
    return try_extend_references(source, record);
}

static void read_record(ph_draft* draft, const ph_draft_source* source, ph_record_kind kind,
                        int kind_first, ph_bit_reader* reader)
{
    if (draft->count == draft->capacity) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return;
    }
    draft->records[draft->count] = (ph_record){.kind = (uint8_t)kind};
    if (!try_read_who(draft, source, kind_first, reader) ||
        (kind != PH_RECORD_LEAVE && !try_read_what(draft, source, reader))) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE); // unless it has failed already
        return;
    }
    ph_bitset_set(&draft->is_mentioned, draft->records[draft->count].slot);
    ++draft->count;
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
static bool are_names_possible(const ph_draft* draft, const ph_mirror* mirror)
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

static void read_updates(ph_draft* draft, const ph_draft_source* source, ph_bit_reader* reader)
{
    // Less than a byte is padding; an update is never that short.
    while (ph_bit_reader_left_bits(reader) >= 8) {
        read_record(draft, source, PH_RECORD_UPDATE, draft->update_first, reader);
    }
}

void ph_draft_read(ph_draft* draft, const ph_draft_source* source, ph_bit_reader* reader)
{
    const ph_header* header = source->header;
    draft->count = 0;
    ph_bitset_clear_all(&draft->is_mentioned);
    for (int i = 0; i < header->leave_count && ph_bit_reader_result(reader) == PH_OK; ++i) {
        read_record(draft, source, PH_RECORD_LEAVE, 0, reader);
    }
    draft->enter_first = draft->count;
    for (int i = 0; i < header->enter_count && ph_bit_reader_result(reader) == PH_OK; ++i) {
        read_record(draft, source, PH_RECORD_ENTER, draft->enter_first, reader);
    }
    draft->update_first = draft->count;
    read_updates(draft, source, reader);
    if (ph_bit_reader_finish(reader) == PH_OK && !are_names_possible(draft, source->mirror)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}
