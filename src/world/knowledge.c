// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Transitions of one slot. Run for what enters and leaves a view, and for every record sent and
// every record whose fate is learned; a few dozen instructions each.

#include "world/knowledge.h"

#include "base/prefetch.h"

#include <string.h>

// One array of 8 bytes, five of 4, three of 1.
#define SWEPT_BYTES_PER_SLOT ((size_t)(8 + 5 * 4 + 3 * 1))

static size_t rounded_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

// Whole cache lines: most visits then touch but the first.
static size_t dossier_stride(size_t known_stride)
{
    return rounded_up(sizeof(ph_dossier) + known_stride, PH_CACHE_LINE);
}

size_t ph_knowledge_bytes(int slot_count, size_t known_stride)
{
    const size_t per_slot = SWEPT_BYTES_PER_SLOT + dossier_stride(known_stride);
    return PH_CACHE_LINE + rounded_up((size_t)slot_count * per_slot, 8);
}

static void* carve(uint8_t** rest, int count, size_t element_size)
{
    void* part = *rest;
    *rest += (size_t)count * element_size;
    return part;
}

// Where the first whole cache line begins.
static uint8_t* next_line(uint8_t* bytes)
{
    return bytes + (PH_CACHE_LINE - (uintptr_t)bytes % PH_CACHE_LINE) % PH_CACHE_LINE;
}

// Widest first: everything is aligned whatever the count.
void ph_knowledge_init(ph_knowledge* knowledge, void* block, int slot_count, size_t known_stride)
{
    uint8_t* rest = next_line(block);
    *knowledge =
        (ph_knowledge){.slot_count = slot_count, .dossier_stride = dossier_stride(known_stride)};
    knowledge->dossiers = carve(&rest, slot_count, knowledge->dossier_stride);
    knowledge->touched = carve(&rest, slot_count, sizeof(uint64_t));
    knowledge->score = carve(&rest, slot_count, sizeof(float));
    knowledge->weight = carve(&rest, slot_count, sizeof(float));
    knowledge->wake_mm2 = carve(&rest, slot_count, sizeof(float));
    knowledge->mileage_mm = carve(&rest, slot_count, sizeof(uint32_t));
    knowledge->waiting_ms = carve(&rest, slot_count, sizeof(uint32_t));
    knowledge->told = carve(&rest, slot_count, 1);
    knowledge->class_index = carve(&rest, slot_count, 1);
    knowledge->points = carve(&rest, slot_count, 1);
    for (int slot = 0; slot < slot_count; ++slot) {
        ph_knowledge_at(knowledge, slot)->association = 1;
        knowledge->weight[slot] = 1.0f;
    }
}

ph_stretch ph_knowledge_swept(const ph_knowledge* knowledge)
{
    const size_t bytes = (size_t)knowledge->slot_count * SWEPT_BYTES_PER_SLOT;
    return (ph_stretch){(const uint8_t*)knowledge->touched, bytes};
}

// ---- what vision says

void ph_knowledge_enter(ph_knowledge* knowledge, int slot, int class_index, uint64_t all)
{
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    PH_ASSERT(knowledge->told[slot] == PH_TOLD_NOTHING && dossier->in_flight == 0);

    knowledge->touched[slot] = all;
    dossier->beyond = 0;
    dossier->repeats = 0;
    knowledge->score[slot] = 0.0f;
    knowledge->weight[slot] = 1.0f;
    knowledge->wake_mm2[slot] = 0.0f;
    knowledge->mileage_mm[slot] = 0;
    dossier->stir = 0;
    knowledge->waiting_ms[slot] = 0;
    knowledge->class_index[slot] = (uint8_t)class_index;
    knowledge->points[slot] = 0;
    ++knowledge->newcomer_count;
}

void ph_knowledge_leave(ph_knowledge* knowledge, int slot)
{
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    PH_ASSERT(!ph_knowledge_is_leaving(knowledge, slot));

    const bool was_entered = knowledge->told[slot] == PH_TOLD_ENTERED;
    knowledge->newcomer_count -= knowledge->told[slot] == PH_TOLD_NOTHING;
    knowledge->told[slot] = was_entered ? PH_TOLD_LEAVING : PH_TOLD_LEAVING_UNSURE;
    knowledge->touched[slot] = 1;
    dossier->beyond = 0;
    dossier->repeats = 0;
    knowledge->waiting_ms[slot] = 0;
    ++knowledge->leaving_count;
    if (was_entered) {
        knowledge->are_references_stale = true;
    }
}

void ph_knowledge_free(ph_knowledge* knowledge, int slot, bool is_known)
{
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    PH_ASSERT(ph_knowledge_is_leaving(knowledge, slot) && dossier->in_flight == 0);

    knowledge->told[slot] = PH_TOLD_NOTHING;
    knowledge->touched[slot] = 0;
    dossier->repeats = 0;
    dossier->association += is_known;
    --knowledge->leaving_count;
}

// ---- what is sent, and what becomes of it

bool ph_knowledge_has_jumped(const ph_knowledge* knowledge, const ph_flight* flight, int slot,
                             uint16_t jumps)
{
    const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    uint32_t place = dossier->newest_item;
    for (int i = 0; i < dossier->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(flight, place);
        if (item.kind != PH_RECORD_ENTER) {
            return false; // of the entity that was here before
        }
        if (item.jumps != jumps) {
            return true;
        }
        place = item.older;
    }
    return false;
}

// What the slot's items on their way have told of; a newer enter tells everything.
static uint64_t told_by_newer(const ph_knowledge* knowledge, const ph_flight* flight, int slot)
{
    const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    uint64_t properties = 0;
    uint32_t place = dossier->newest_item;
    for (int i = 0; i < dossier->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(flight, place);
        properties |= item.kind == PH_RECORD_ENTER ? UINT64_MAX : item.properties;
        place = item.older;
    }
    return properties;
}

// The path up to a lost position is part of the path up to the next one; without a next one it is
// still to be told of.
static void give_back_mileage(ph_knowledge* knowledge, ph_flight* flight, uint64_t position,
                              const ph_flight_item* lost)
{
    const int slot = lost->slot;
    const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    int next = -1;
    uint32_t place = dossier->newest_item;
    for (int i = 0; i < dossier->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(flight, place);
        next = (item.properties & position) != 0 ? (int)place : next;
        place = item.older;
    }
    if (next >= 0) {
        ph_flight_add_mileage(flight, (uint16_t)next, lost->mileage_mm);
    } else {
        knowledge->mileage_mm[slot] -= lost->mileage_mm;
    }
}

bool ph_knowledge_note_lost(ph_knowledge* knowledge, ph_flight* flight, const ph_layout* layout,
                            const ph_flight_item* item)
{
    const int slot = item->slot;
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    --dossier->in_flight;
    if (knowledge->told[slot] == PH_TOLD_LEFT) {
        return dossier->in_flight == 0;
    }
    if (ph_knowledge_is_leaving(knowledge, slot)) {
        if (item->kind == PH_RECORD_LEAVE && dossier->in_flight == 0) {
            knowledge->touched[slot] = 1;
            dossier->repeats = UINT64_MAX;
        }
        return ph_knowledge_is_gone(knowledge, slot);
    }
    const uint64_t newer = told_by_newer(knowledge, flight, slot);
    const uint64_t said =
        item->kind == PH_RECORD_ENTER ? layout->all & ~layout->once : item->properties;
    knowledge->touched[slot] |= said & ~newer;
    dossier->repeats |= item->properties & ~newer;
    if ((item->properties & layout->position) != 0) {
        give_back_mileage(knowledge, flight, layout->position, item);
    }
    if (knowledge->told[slot] == PH_TOLD_ENTER && dossier->in_flight == 0) {
        // Everything is to be told again, also by a class of which everything is sent once.
        knowledge->told[slot] = PH_TOLD_NOTHING;
        knowledge->touched[slot] = layout->all;
        dossier->repeats = layout->all;
        ++knowledge->newcomer_count;
    }
    return false;
}

const uint8_t* ph_knowledge_newest(const ph_knowledge* knowledge, const ph_flight* flight,
                                   const ph_packing* packing, int slot, int property)
{
    const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    PH_ASSERT(packing->size[property] > 0);

    const uint64_t bit = UINT64_C(1) << property;
    uint32_t place = dossier->newest_item;
    for (int i = 0; i < dossier->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(flight, place);
        if ((item.properties & bit) != 0) {
            return ph_packing_within(packing, item.properties, bit, item.values);
        }
        if (item.kind == PH_RECORD_ENTER) {
            return packing->initial + packing->offset[property];
        }
        place = item.older;
    }
    return ph_knowledge_known(knowledge, slot) + packing->offset[property];
}

// ---- soundness

static bool is_list_sound(const ph_knowledge* knowledge, const ph_flight* flight, int slot)
{
    const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    uint32_t place = dossier->newest_item;
    bool may_leave = ph_knowledge_is_leaving(knowledge, slot) && knowledge->touched[slot] == 0;
    for (int i = 0; i < dossier->in_flight; ++i) {
        if (place >= flight->capacity) {
            return false;
        }
        const ph_flight_item item = ph_flight_read(flight, place);
        if (item.slot != slot || (item.kind == PH_RECORD_LEAVE && !may_leave)) {
            return false;
        }
        may_leave = may_leave && item.kind == PH_RECORD_LEAVE; // nothing follows a leave but others
        place = item.older;
    }
    return true;
}

bool ph_knowledge_validate(const ph_knowledge* knowledge, const ph_flight* flight)
{
    int leaving_count = 0;
    int item_count = 0;
    for (int slot = 0; slot < knowledge->slot_count; ++slot) {
        const ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
        const int told = knowledge->told[slot];
        leaving_count += ph_knowledge_is_leaving(knowledge, slot);
        item_count += dossier->in_flight;
        if (told > PH_TOLD_LEFT || dossier->in_flight > PH_IN_FLIGHT_MAX ||
            (told == PH_TOLD_NOTHING && dossier->in_flight != 0) ||
            (told == PH_TOLD_ENTER && dossier->in_flight == 0) || dossier->association == 0 ||
            !is_list_sound(knowledge, flight, slot)) {
            return false;
        }
    }
    for (int i = 0; i < flight->count; ++i) {
        item_count -= flight->packets[(flight->first + i) % PH_FLIGHT_MAX].item_count;
    }
    return leaving_count == knowledge->leaving_count && item_count == 0;
}
