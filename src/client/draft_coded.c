// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reading the records of a pinhole packet: leaves, enters, then a word about each slot that is
// entered in the baselines, which are those of the stated horizon. Each is checked against what the
// client knows before it (draft_rules.h). Once per packet.

#include "client/draft_rules.h"
#include "wire/coded_neighbour.h"
#include "wire/coded_told.h"

static bool has_failed(const ph_entropy_reader* reader)
{
    return ph_entropy_reader_result(reader) != PH_OK;
}

static void fail(ph_entropy_reader* reader)
{
    ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE); // unless it has failed already
}

// ---- one record

// Who is entered where both ends know is only updated.
static bool is_enter_needed(const ph_coded_source* from, const ph_record* record)
{
    return record->kind != PH_RECORD_ENTER ||
           !from->horizon->slots[record->slot].baseline.is_entered;
}

static bool try_read_who(const ph_draft* draft, const ph_coded_source* from, int kind_first,
                         ph_entropy_reader* reader, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    ph_coded_read_who(&from->frame, reader, coded);
    return !has_failed(reader) &&
           ph_draft_is_slot_new(draft, &from->source, kind_first, record->slot) &&
           is_enter_needed(from, record) && ph_draft_try_extend_who(&from->source, record);
}

static bool try_read_what(const ph_coded_source* from, ph_entropy_reader* reader,
                          ph_coded_record* coded)
{
    ph_coded_read(&from->frame, reader, coded);
    return !has_failed(reader) && ph_draft_try_extend_what(&from->source, &coded->record);
}

// A leave or an enter; the next one is told from it.
static void read_change(ph_draft* draft, const ph_coded_source* from, ph_record_kind kind,
                        ph_coded_neighbour* before, ph_entropy_reader* reader)
{
    const int kind_first = kind == PH_RECORD_ENTER ? draft->enter_first : 0;
    ph_record* record = ph_draft_open(draft, kind);
    if (record == NULL) {
        fail(reader);
        return;
    }
    const bool is_first = draft->count == kind_first;
    ph_coded_record coded = {.record = *record, .before = is_first ? NULL : before};
    if (!try_read_who(draft, from, kind_first, reader, &coded) ||
        (kind == PH_RECORD_ENTER && !try_read_what(from, reader, &coded))) {
        fail(reader);
        return;
    }
    *record = coded.record;
    *before = ph_coded_neighbour_of(&from->frame, &coded);
    ph_draft_close(draft);
}

// The baseline may be that of somebody who has left since, or of whom a newer packet says that
// another one is there: then the server has nothing to tell of it until it knows that we know.
static bool is_baseline_ours(const ph_coded_source* from, int slot)
{
    const ph_mirror* mirror = from->source.mirror;
    return ph_bitset_test(&mirror->is_entered, slot) &&
           from->horizon->slots[slot].association == mirror->association[slot];
}

static void read_update(ph_draft* draft, const ph_coded_source* from, int slot,
                        ph_entropy_reader* reader)
{
    ph_record* record = ph_draft_open(draft, PH_RECORD_UPDATE);
    if (record == NULL || ph_bitset_test(&draft->is_mentioned, slot) ||
        !is_baseline_ours(from, slot)) {
        fail(reader);
        return;
    }
    const ph_horizon* horizon = from->horizon;
    ph_coded_record coded = {
        .record = *record,
        .baseline = &horizon->slots[slot].baseline,
        .known = ph_horizon_known(horizon, slot),
    };
    coded.record.slot = (uint16_t)slot;
    coded.record.association = horizon->slots[slot].association;
    coded.record.class_index = horizon->slots[slot].baseline.class_index;
    if (!try_read_what(from, reader, &coded)) {
        fail(reader);
        return;
    }
    *record = coded.record;
    ph_draft_close(draft);
}

// ---- the whole packet

static void read_updates(ph_draft* draft, const ph_coded_source* from, ph_entropy_reader* reader)
{
    for (int slot = 0; slot < from->source.slot_count && !has_failed(reader); ++slot) {
        const ph_baseline* baseline = &from->horizon->slots[slot].baseline;
        if (!baseline->is_entered) {
            continue;
        }
        const int urgency = ph_coded_urgency(&from->frame, baseline);
        if (ph_coded_read_told(&from->frame, reader, urgency)) {
            read_update(draft, from, slot, reader);
        }
    }
}

void ph_draft_read_coded(ph_draft* draft, const ph_coded_source* from, ph_entropy_reader* reader)
{
    const ph_header* header = from->source.header;
    ph_draft_begin(draft);
    ph_coded_neighbour before;
    for (int i = 0; i < header->leave_count && !has_failed(reader); ++i) {
        read_change(draft, from, PH_RECORD_LEAVE, &before, reader);
    }
    draft->enter_first = draft->count;
    ph_coded_source with = *from; // the spread of the enters
    ph_coded_read_spread(&with.frame, reader, header->enter_count);
    draft->spread = with.frame.spread;
    for (int i = 0; i < header->enter_count && !has_failed(reader); ++i) {
        read_change(draft, &with, PH_RECORD_ENTER, &before, reader);
    }
    draft->update_first = draft->count;
    read_updates(draft, from, reader);
    if (ph_entropy_reader_finish(reader) == PH_OK &&
        !ph_draft_are_names_possible(draft, from->source.mirror)) {
        fail(reader);
    }
}
