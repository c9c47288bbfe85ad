// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: memory, items, one record, all of them, rounding.
//
//   packet  | header | leaves | enters | updates, each kind in slot order | padding | reserved |
//
// The costs are those that the encoders have counted: they are asked for them record by record.

#include "replication/trace.h"

#include "base/allocator.h"

// ---- memory

void ph_tracer_destroy(ph_sender* sender)
{
    ph_tracer* tracer = sender->tracer;
    sender->tracer = NULL;
    if (tracer != NULL) {
        ph_release_array(&sender->allocator, tracer->keys, (size_t)tracer->slot_count,
                         sizeof *tracer->keys);
        ph_release(&sender->allocator, tracer, sizeof *tracer);
    }
}

static ph_tracer* create_tracer(const ph_allocator* allocator, int slot_count)
{
    ph_tracer* tracer = ph_allocate_zeroed(allocator, sizeof *tracer);
    if (tracer == NULL) {
        return NULL;
    }
    tracer->slot_count = slot_count;
    tracer->keys = ph_allocate_zeroed(allocator, (size_t)slot_count * sizeof *tracer->keys);
    if (tracer->keys == NULL) {
        ph_release(allocator, tracer, sizeof *tracer);
        return NULL;
    }
    return tracer;
}

ph_result ph_tracer_set(const ph_send_context* context, ph_trace_fn* trace, void* trace_context)
{
    ph_sender* sender = context->sender;
    if (trace == NULL) {
        ph_tracer_destroy(sender);
        return PH_OK;
    }
    if (sender->tracer == NULL) {
        sender->tracer = create_tracer(&sender->allocator, sender->replicas.slot_count);
    }
    ph_tracer* tracer = sender->tracer;
    if (tracer == NULL) {
        return PH_ERROR_MEMORY;
    }
    tracer->trace = trace;
    tracer->context = trace_context;
    for (int slot = 0; slot < tracer->slot_count; ++slot) {
        const ph_entity_index entity = context->entities[slot];
        tracer->keys[slot] =
            entity != PH_ENTITY_NONE ? context->store->entities.key[entity] : tracer->keys[slot];
    }
    return PH_OK;
}

// ---- items

static void add_item(ph_tracer* tracer, const ph_trace_item* item)
{
    if (item->bits256 == 0) {
        return;
    }
    if (tracer->count < PH_TRACE_ITEMS_MAX) {
        tracer->items[tracer->count++] = *item;
        return;
    }
    int last = tracer->count - 1;
    while (last > 0 && tracer->items[last].reason != item->reason) {
        --last;
    }
    tracer->items[last].bits256 += item->bits256;
}

// Bits that belong to no entity.
static void add_common(ph_tracer* tracer, ph_reason reason, uint64_t bits256)
{
    add_item(tracer, &(ph_trace_item){.bits256 = (uint32_t)bits256,
                                      .slot = -1,
                                      .class_index = -1,
                                      .property = -1,
                                      .reason = (uint8_t)reason});
}

// ---- one record

// The entity of a leave is no longer there to be asked.
static uint64_t key_of(const ph_encoder* encoder, const ph_packet_record* chosen)
{
    uint64_t* key = &encoder->sender->tracer->keys[chosen->slot];
    const ph_entity_index entity = encoder->context->entities[chosen->slot];
    if (chosen->kind != PH_RECORD_LEAVE && entity != PH_ENTITY_NONE) {
        *key = encoder->context->store->entities.key[entity];
    }
    return *key;
}

// What was sent before and lost; slot and mask of an update only if nothing else is sent.
static bool is_resent(const ph_packet_record* chosen, int property)
{
    if (chosen->kind != PH_RECORD_UPDATE) {
        return chosen->is_repeat;
    }
    return property >= 0 ? (chosen->lost >> property & 1) != 0 : chosen->lost == chosen->properties;
}

static ph_reason reason_of(const ph_packet_record* chosen, ph_reason of_update)
{
    switch ((ph_record_kind)chosen->kind) {
    case PH_RECORD_LEAVE:
        return PH_REASON_LEAVE;
    case PH_RECORD_ENTER:
        return PH_REASON_ENTER;
    default:
        return of_update;
    }
}

// The first that costs anything is the first of the record.
static void add_of_record(ph_tracer* tracer, ph_trace_item* item)
{
    add_item(tracer, item);
    item->is_first = item->is_first && item->bits256 == 0;
}

static void trace_record(ph_encoder* encoder, const ph_packet_record* chosen)
{
    ph_tracer* tracer = encoder->sender->tracer;
    ph_record_bits of = {0};
    encoder->table->record_bits(encoder, chosen, &of);
    ph_trace_item item = {
        .key = key_of(encoder, chosen),
        .bits256 = of.slot_bits,
        .slot = chosen->slot,
        .class_index = (int16_t)encoder->sender->replicas.class_index[chosen->slot],
        .property = -1,
        .reason = (uint8_t)reason_of(chosen, PH_REASON_SLOT),
        .is_resent = is_resent(chosen, -1),
        .is_first = true,
    };
    add_of_record(tracer, &item);
    item.reason = (uint8_t)reason_of(chosen, PH_REASON_MASK);
    item.bits256 = of.mask_bits;
    add_of_record(tracer, &item);
    item.reason = (uint8_t)reason_of(chosen, PH_REASON_PROPERTY);
    // Enters also say what is at its initial value: that has a price, too.
    for (int property = 0; property < PH_PROPERTIES_MAX; ++property) {
        item.property = (int16_t)property;
        item.bits256 = of.property_bits[property];
        item.is_resent = is_resent(chosen, property);
        add_of_record(tracer, &item);
    }
}

// ---- all of them

// Leaves or enters, in slot order.
static void trace_kind(ph_encoder* encoder, ph_record_kind kind)
{
    int left = encoder->counts[kind];
    for (int slot = 0; left > 0; ++slot) {
        const int place = encoder->by_slot[slot];
        if (place > 0 && encoder->chosen[place - 1].kind == kind) {
            trace_record(encoder, &encoder->chosen[place - 1]);
            --left;
        }
    }
}

// In the pinhole profile slots that are not told cost something, too: all of them between two records
// are one item.
static void trace_updates(ph_encoder* encoder)
{
    ph_tracer* tracer = encoder->sender->tracer;
    uint64_t untold256 = 0;
    for (int slot = 0; slot < encoder->sender->replicas.slot_count; ++slot) {
        const int place = encoder->by_slot[slot];
        if (place > 0 && encoder->chosen[place - 1].kind == PH_RECORD_UPDATE) {
            add_common(tracer, PH_REASON_SLOT, untold256);
            trace_record(encoder, &encoder->chosen[place - 1]);
            untold256 = 0;
        } else {
            untold256 += encoder->table->untold256(encoder, slot);
        }
    }
    add_common(tracer, PH_REASON_SLOT, untold256);
}

// ---- rounding

// The ledger was balanced: some parts of a bit less for some reasons, and what is left is padding.
static void balance_items(ph_tracer* tracer, const ph_ledger* ledger)
{
    uint64_t sums[PH_REASON_COUNT] = {0};
    for (int i = 0; i < tracer->count; ++i) {
        sums[tracer->items[i].reason] += tracer->items[i].bits256;
    }
    for (int i = tracer->count - 1; i >= 0; --i) {
        ph_trace_item* item = &tracer->items[i];
        uint64_t* sum = &sums[item->reason];
        const uint64_t wanted = ledger->bits256[item->reason];
        const uint64_t excess = *sum > wanted ? *sum - wanted : 0;
        const uint32_t part = excess < item->bits256 ? (uint32_t)excess : item->bits256;
        item->bits256 -= part;
        *sum -= part;
    }
    add_common(tracer, PH_REASON_PADDING, ledger->bits256[PH_REASON_PADDING]);
}

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
static bool is_trace_exact(const ph_tracer* tracer, const ph_ledger* ledger, int added_bytes)
{
    int64_t sums[PH_REASON_COUNT] = {0};
    for (int i = 0; i < tracer->count; ++i) {
        sums[tracer->items[i].reason] += tracer->items[i].bits256;
    }
    bool is_exact = sums[PH_REASON_RESERVED] == 8 * PH_COST_PER_BIT * (int64_t)added_bytes;
    for (int reason = 0; reason < PH_REASON_RESERVED; ++reason) {
        is_exact = is_exact && sums[reason] == (int64_t)ledger->bits256[reason];
    }
    return is_exact;
}
#endif

void ph_trace_packet(ph_encoder* encoder, size_t size, int added_bytes)
{
    const ph_sender* sender = encoder->sender;
    ph_tracer* tracer = sender->tracer;
    const ph_ledger* ledger = &encoder->ledger;
    tracer->count = 0;
    add_common(tracer, PH_REASON_HEADER, ledger->bits256[PH_REASON_HEADER]);
    add_common(tracer, PH_REASON_HELLO, ledger->bits256[PH_REASON_HELLO]);
    add_common(tracer, PH_REASON_EYE, ledger->bits256[PH_REASON_EYE]);
    if (!encoder->header.is_probe) {
        trace_kind(encoder, PH_RECORD_LEAVE);
        trace_kind(encoder, PH_RECORD_ENTER);
        trace_updates(encoder);
    }
    balance_items(tracer, ledger);
    add_common(tracer, PH_REASON_RESERVED, 8 * PH_COST_PER_BIT * (uint64_t)added_bytes);
    PH_ASSERT(is_trace_exact(tracer, ledger, added_bytes));
    const ph_packet_trace trace = {
        .viewer = encoder->context->viewer,
        .now_us = sender->now_us,
        .sequence = encoder->header.sequence,
        .payload_bytes = (int)size + added_bytes,
        .overhead_bytes = sender->overhead_bytes,
        .is_probe = encoder->header.is_probe,
        .items = tracer->items,
        .item_count = tracer->count,
    };
    tracer->trace(tracer->context, &trace);
}
