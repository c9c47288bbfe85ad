// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Room for the records of one packet, and reading those of a classic one; each is checked against
// what the client knows before it (draft_rules.h). Once per packet.

#include "client/draft.h"

#include "base/allocator.h"
#include "client/draft_rules.h"

// No classic record is shorter than a leave.
#define RECORD_BITS_MIN (PH_CLASSIC_SLOT_BITS_MIN + PH_CLASSIC_ASSOCIATION_BITS)
#define RECORDS_MAX (8 * PH_PAYLOAD_MAX / RECORD_BITS_MIN)

// ---- creation

ph_result ph_draft_create(ph_draft* draft, const ph_layouts* layouts, const ph_allocator* allocator,
                          ph_profile profile, int slot_capacity)
{
    const bool is_limited = profile == PH_PROFILE_CLASSIC && slot_capacity > RECORDS_MAX;
    const int capacity = is_limited ? RECORDS_MAX : slot_capacity;
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

// Who, before what: the class of an update is that of the slot's entity.
static bool try_read_who(const ph_draft* draft, const ph_draft_source* source, int kind_first,
                         ph_bit_reader* reader, ph_record* record)
{
    ph_classic_read_slot(&source->frame, reader, record);
    if (ph_bit_reader_result(reader) != PH_OK ||
        !ph_draft_is_slot_new(draft, source, kind_first, record->slot)) {
        return false;
    }
    if (record->kind == PH_RECORD_UPDATE) {
        record->class_index = source->mirror->class_index[record->slot];
    } else if (record->kind == PH_RECORD_ENTER) {
        ph_classic_read_name(&source->frame, reader, record);
    }
    return ph_bit_reader_result(reader) == PH_OK && ph_draft_try_extend_who(source, record);
}

static bool try_read_what(const ph_draft_source* source, ph_bit_reader* reader, ph_record* record)
{
    ph_classic_read_body(&source->frame, reader, record);
    return ph_bit_reader_result(reader) == PH_OK && ph_draft_try_extend_what(source, record);
}

static void read_record(ph_draft* draft, const ph_draft_source* source, ph_record_kind kind,
                        int kind_first, ph_bit_reader* reader)
{
    ph_record* record = ph_draft_open(draft, kind);
    if (record == NULL || !try_read_who(draft, source, kind_first, reader, record) ||
        (kind != PH_RECORD_LEAVE && !try_read_what(source, reader, record))) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE); // unless it has failed already
        return;
    }
    ph_draft_close(draft);
}

// ---- the whole packet

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
    ph_draft_begin(draft);
    for (int i = 0; i < header->leave_count && ph_bit_reader_result(reader) == PH_OK; ++i) {
        read_record(draft, source, PH_RECORD_LEAVE, 0, reader);
    }
    draft->enter_first = draft->count;
    for (int i = 0; i < header->enter_count && ph_bit_reader_result(reader) == PH_OK; ++i) {
        read_record(draft, source, PH_RECORD_ENTER, draft->enter_first, reader);
    }
    draft->update_first = draft->count;
    read_updates(draft, source, reader);
    if (ph_bit_reader_finish(reader) == PH_OK &&
        !ph_draft_are_names_possible(draft, source->mirror)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}
