// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Leaves and enters of one pinhole packet: each is coded relative to the one before it, in slot
// order, so what one costs depends on its neighbours; and the spread of all enters of the packet.
//
//   leave | leave | ...        enter 3 <- enter 7 <- enter 12 <- ...
//
// A few hundred nanoseconds for each leave and enter, which are few. A spread is looked for when a
// packet is nearly full, and before it is written.

#include "packet/pinhole_records.h"
#include "replication/encoder.h"

#include <string.h>

// With fewer enters a spread is not worth its bits.
#define SPREAD_WORTH 4
// How far back what one costs depends on others: its neighbour, and what that was coded relative to.
#define NEIGHBOUR_REACH 2

// ---- one record

// An entity that came into view just now may have been hidden a tick ago, if the game filters what is
// seen, or if this viewer was given more to see: then where it comes from is not the viewer's.
static bool is_velocity_public(const ph_send_context* context, int slot)
{
    const ph_store* store = context->store;
    return ph_slots_entered(context->slots, slot) != store->tick ||
           (!store->has_filter && store->tick - context->sender->widened_tick > 1);
}

// Of one that only some viewers are told, this one may not have been told what it was before.
static bool is_orientation_public(const ph_layout* layout)
{
    const ph_class* described = layout->described;
    return described->properties[layout->orientation_property].def.audience == PH_AUDIENCE_ALL;
}

// How an entity turns goes back to an orientation of some ticks ago: the viewer may know of that one if it saw the
// entity then, or could have. What is not told of the orientation says nothing of this either.
static void find_spin(const ph_send_context* context, const ph_place* at, ph_record* record)
{
    const ph_store* store = context->store;
    const ph_table* table = &store->tables[at->class_index];
    const uint32_t row = store->entities.whereabouts[at->entity].row;
    uint32_t from_tick;
    if ((record->properties & at->layout->orientation) == 0 || !is_orientation_public(at->layout)) {
        return;
    }
    const uint32_t* from = ph_table_turned_from(table, row, store->tick, &from_tick);
    if (from == NULL || store->tick - from_tick - 1 > INT32_MAX) {
        return; // none is known, or it is not earlier
    }
    const bool was_seen = from_tick - ph_slots_entered(context->slots, at->slot) <= INT32_MAX;
    const bool was_public =
        !store->has_filter && from_tick - context->sender->widened_tick - 1 <= INT32_MAX;
    if (was_seen || was_public) {
        const uint32_t* to = ph_table_value(table, at->layout->orientation_property, row);
        ph_turning_spin(at->layout, store->tick_us, from, to, store->tick - from_tick,
                        record->spin);
    }
}

// As it is sent, but for what it is coded relative to.
static void build_enter_or_leave(ph_encoder* encoder, const ph_record_request* request,
                                 ph_pinhole_record* made)
{
    const ph_pinhole_frame* frame = &encoder->pinhole.frame;
    const ph_send_context* context = encoder->context;
    *made = (ph_pinhole_record){0};
    ph_record_builder_build(&encoder->builder, request, &made->record);
    if (request->kind != PH_RECORD_ENTER) {
        return;
    }
    const ph_place* at = &encoder->builder.at;
    const int32_t* displacement_mm =
        &context->store->entities.displacement_mm[3 * (size_t)at->entity];
    if (is_velocity_public(context, at->slot) && displacement_mm[0] != PH_NO_DISPLACEMENT) {
        ph_baseline_velocity(at->layout, frame->tick_us, displacement_mm, 1, made->record.velocity);
    }
    // Of a crowd no spin: it takes as much as a place, and is seen only when all are there.
    if (frame->spread.coarse == 0) {
        find_spin(context, at, &made->record);
    }
    made->rotation_coarse =
        (uint8_t)ph_pinhole_round_orientation(at->layout, &made->record, request->rotation_coarse);
    // What is sent once is sent exactly.
    if ((frame->spread.coarse | at->layout->finer) != 0 &&
        (at->layout->once & at->layout->position) == 0) {
        uint32_t* words = made->record.words + at->layout->position_word;
        made->coarse = (uint8_t)ph_pinhole_round_enter(frame, at->layout, words);
    }
}

// ---- from one to the next

// Leaves or enters in slot order, as places among the chosen ones.
typedef struct slot_order {
    uint16_t places[PH_PINHOLE_COUNT_MAX + 1];
    int count;
} slot_order;

// @return At which place of the order.
static int insert_in_order(const ph_encoder* encoder, slot_order* order, int place)
{
    const ph_packet_record* chosen = encoder->chosen;
    int at = order->count++;
    for (; at > 0 && chosen[order->places[at - 1]].slot > chosen[place].slot; --at) {
        order->places[at] = order->places[at - 1];
    }
    order->places[at] = (uint16_t)place;
    return at;
}

static slot_order order_of(const ph_encoder* encoder, ph_record_kind kind)
{
    slot_order order = {.count = 0};
    for (int i = 0; i < encoder->count; ++i) {
        if (encoder->chosen[i].kind == kind) {
            insert_in_order(encoder, &order, i);
        }
    }
    return order;
}

// From one record to the next.
typedef struct enter_walk {
    ph_pinhole_record made;
    ph_pinhole_neighbour before;
    bool is_begun;
} enter_walk;

static void walk_to(ph_encoder* encoder, enter_walk* walk, const ph_packet_record* chosen)
{
    const ph_record_request request = ph_packet_record_request(chosen);
    build_enter_or_leave(encoder, &request, &walk->made);
    walk->made.before = walk->is_begun ? &walk->before : NULL;
}

// The present record is what the next is coded relative to. Its words stay while the next is built,
// and so do those of the one before, which it was coded relative to.
static void walk_on(ph_encoder* encoder, enter_walk* walk)
{
    const ph_pinhole_frame* frame = &encoder->pinhole.frame;
    ph_record* record = &walk->made.record;
    if (record->kind == PH_RECORD_ENTER) {
        uint32_t(*kept)[PH_RECORD_WORDS_MAX] = encoder->pinhole.neighbour_words;
        uint32_t* words = walk->is_begun && walk->before.words == kept[0] ? kept[1] : kept[0];
        const ph_layout* layout = &frame->frame.layouts->layouts[record->class_index];
        memcpy(words, record->words, (size_t)layout->word_count * sizeof(uint32_t));
        record->words = words;
    }
    walk->before = ph_pinhole_neighbour_of(frame, &walk->made);
    walk->is_begun = true;
}

// ---- costs

// What those from first to end - 1 cost; steps, if it is not NULL, has those from each to the next.
static int64_t stretch256(ph_encoder* encoder, const slot_order* order, int first, int end,
                          ph_pinhole_steps* steps)
{
    const ph_pinhole_frame* frame = &encoder->pinhole.frame;
    enter_walk walk = {.is_begun = false};
    int64_t cost256 = 0;
    for (int i = first > NEIGHBOUR_REACH ? first - NEIGHBOUR_REACH : 0; i < end && i < order->count;
         ++i) {
        const ph_pinhole_neighbour before = walk.before;
        walk_to(encoder, &walk, &encoder->chosen[order->places[i]]);
        cost256 += i >= first ? ph_pinhole_cost256(frame, &walk.made, NULL) : 0;
        walk_on(encoder, &walk);
        if (steps != NULL && i > 0) {
            ph_pinhole_steps_add(steps, frame, &before, &walk.before);
        }
    }
    return cost256;
}

uint32_t ph_enter_coder_join(ph_encoder* encoder, const ph_record_request* request,
                             ph_pinhole_record* made)
{
    const slot_order former = order_of(encoder, request->kind);
    slot_order joined = former;
    // Behind the chosen ones, as if it were one of them.
    encoder->chosen[encoder->count] =
        (ph_packet_record){.slot = (uint16_t)request->slot,
                           .kind = (uint8_t)request->kind,
                           .rotation_coarse = (uint8_t)request->rotation_coarse,
                           .properties = request->properties};
    const int at = insert_in_order(encoder, &joined, encoder->count);
    const uint32_t cost256 = (uint32_t)stretch256(encoder, &joined, at, at + 1, NULL);
    encoder->pinhole.records256 += cost256;
    // And what those behind it cost more than without it.
    if (at < former.count) {
        encoder->pinhole.records256 +=
            stretch256(encoder, &joined, at + 1, at + 1 + NEIGHBOUR_REACH, NULL) -
            stretch256(encoder, &former, at, at + NEIGHBOUR_REACH, NULL);
    }
    build_enter_or_leave(encoder, request, made);
    return cost256;
}

void ph_enter_coder_settle(ph_encoder* encoder)
{
    if (encoder->counts[PH_RECORD_ENTER] < SPREAD_WORTH) {
        return;
    }
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    const slot_order entering = order_of(encoder, PH_RECORD_ENTER);
    const ph_pinhole_spread former = pinhole->frame.spread;
    const int former_bits = ph_pinhole_spread_bits(&pinhole->frame, entering.count);
    ph_pinhole_steps steps = {0};
    const int64_t former256 = stretch256(encoder, &entering, 0, entering.count, &steps);
    pinhole->frame.spread = ph_pinhole_steps_spread(&steps);
    pinhole->frame.spread.coarse = former.coarse;
    const int bits = ph_pinhole_spread_bits(&pinhole->frame, entering.count);
    const int64_t now256 = stretch256(encoder, &entering, 0, entering.count, NULL);
    if (now256 + PH_COST_PER_BIT * bits >= former256 + PH_COST_PER_BIT * former_bits) {
        pinhole->frame.spread = former;
        return;
    }
    pinhole->records256 += now256 - former256;
}

// ---- writing

void ph_enter_coder_bits(ph_encoder* encoder, const ph_packet_record* chosen, ph_record_bits* of)
{
    const slot_order order = order_of(encoder, (ph_record_kind)chosen->kind);
    enter_walk walk = {.is_begun = false};
    for (int i = 0; i < order.count; ++i) {
        const ph_packet_record* at = &encoder->chosen[order.places[i]];
        walk_to(encoder, &walk, at);
        if (at == chosen) {
            ph_pinhole_cost256(&encoder->pinhole.frame, &walk.made, of);
            return;
        }
        walk_on(encoder, &walk);
    }
}

void ph_enter_coder_write(ph_encoder* encoder, ph_record_kind kind, ph_entropy_writer* writer)
{
    const slot_order order = order_of(encoder, kind);
    enter_walk walk = {.is_begun = false};
    for (int i = 0; i < order.count; ++i) {
        ph_packet_record* chosen = &encoder->chosen[order.places[i]];
        walk_to(encoder, &walk, chosen);
        chosen->cost256 = ph_pinhole_write(&encoder->pinhole.frame, writer, &walk.made);
        walk_on(encoder, &walk);
    }
}
