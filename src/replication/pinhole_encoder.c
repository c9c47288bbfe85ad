// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The encoder of the pinhole profile: costs in parts of a bit. An update is worked out when it is
// added, to a symbol buffer that is written when the packet is finished; a slot has one item in
// flight for all that a packet says of it, because baselines move on by whole records.
//
//   packet  | header | leaves | spread | enters | flag [record] flag flag [record] ... |
//
// Every slot that the client is known to have costs a flag, sent or not, by how urgent it is and
// how many are sent: the header states a density for that. So the encoder adds up what all flags
// cost at the present density, and counts the sent ones by urgency: another density may be chosen
// at any time. All costs are those of the packet as it would be written now: while no slot is sent
// there may be no flags at all, and the first one that is sent brings those of all.
//
// Begun for every packet, with a look at every slot up to the last one that is entered; a few additions per
// record.

#include "base/bitset.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "packet/pinhole_records.h"
#include "replication/encoder.h"

#include <string.h>

#define HELLO_PRECISION_BITS 16
// About what an enter takes.
#define NEARLY_FULL_BITS 80

// ---- the header

// Ticks are counted from one that both ends know. There is no window that a position could be
// outside of: it is enough that a new eye is in flight.
static void fill_pinhole_header(const ph_encoder* encoder, ph_header* header)
{
    const ph_sender* sender = encoder->sender;
    if (header->has_hello) {
        header->hello.version =
            (uint8_t)(sender->is_universal ? PH_UNIVERSAL_VERSION : PH_PINHOLE_VERSION);
    }
    if (header->is_probe) {
        return;
    }
    const uint32_t tick = encoder->context->store->tick;
    const uint32_t since = tick - sender->applied_tick;
    const bool is_near =
        !header->has_hello && sender->has_applied_tick && since < PH_PINHOLE_TICK_WHOLE;
    header->tick = (uint16_t)(is_near ? since : PH_PINHOLE_TICK_WHOLE);
    header->whole_tick = is_near ? 0 : tick;
    const bool is_eye_in_flight = (int32_t)(sender->eye_sequence - sender->horizon) > 0;
    header->has_eye = !sender->has_eye || (!is_eye_in_flight && ph_encoder_needs_eye(encoder));
}

// What stands before the updates, beside the records of leaves and enters: for so many more of them.
static int head_bits_with(ph_encoder* encoder, int leaves, int enters)
{
    ph_header* header = &encoder->header;
    header->leave_count = encoder->counts[PH_RECORD_LEAVE] + leaves;
    header->enter_count = encoder->counts[PH_RECORD_ENTER] + enters;
    return ph_pinhole_header_bits(header) + ph_pinhole_step_bits(&encoder->pinhole.frame) +
           ph_pinhole_spread_bits(&encoder->pinhole.frame, header->enter_count);
}

// ---- what the packet costs

// All of it, in whole bits, with what may be lost at the end.
static int64_t packet_bits(const ph_pinhole_packet* pinhole, int head_bits)
{
    const uint64_t cost256 = (uint64_t)(pinhole->flags256 + pinhole->records256);
    return head_bits + (int64_t)((cost256 + PH_COST_PER_BIT - 1) / PH_COST_PER_BIT) +
           PH_PINHOLE_SLACK_BITS;
}

// The density that makes the flags cheapest, and what they cost at that.
static void choose_density(ph_encoder* encoder)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    const ph_told_costs* costs = &encoder->context->store->told_costs;
    pinhole->frame.density = ph_pinhole_best_density(&pinhole->flags, costs);
    pinhole->flags256 = ph_told_sums_cost256(&pinhole->flags, costs, pinhole->frame.density);
}

// An update is sent, or is not after all: the flag of its slot turns. Where there were no flags,
// from now on there are, at the density that suits it; they stay until another density is chosen.
static void turn_flag(ph_encoder* encoder, int slot, bool is_told)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    const int urgency = encoder->urgencies[slot];
    PH_ASSERT(slot < encoder->sender->replicas.baselines.entered_end && urgency < PH_URGENCIES);
    pinhole->flags.told[urgency] += is_told ? 1 : -1;
    if (PH_UNLIKELY(is_told && pinhole->frame.density == PH_DENSITY_NONE)) {
        choose_density(encoder);
        return;
    }
    const ph_told_costs* costs = &encoder->context->store->told_costs;
    const int turned256 = costs->turned256[urgency][pinhole->frame.density];
    pinhole->flags256 += is_told ? turned256 : -turned256;
}

// Whether the packet fits with such a head. Another density may make the room that is missing.
static bool fits_with(ph_encoder* encoder, int head_bits)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    if (pinhole->symbols.is_full) {
        return false;
    }
    if (PH_LIKELY(packet_bits(pinhole, head_bits) <= encoder->limit_bits)) {
        return true;
    }
    const int64_t flags_before256 = pinhole->flags256;
    const int density_before = pinhole->frame.density;
    choose_density(encoder);
    if (packet_bits(pinhole, head_bits) <= encoder->limit_bits) {
        return true;
    }
    pinhole->flags256 = flags_before256;
    pinhole->frame.density = density_before;
    return false;
}

// ---- beginning

static void begin_pinhole(ph_encoder* encoder)
{
    ph_sender* sender = encoder->sender;
    ph_baselines* baselines = &sender->replicas.baselines;
    const ph_store* store = encoder->context->store;
    const size_t slot_count = (size_t)sender->replicas.slot_count;
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    pinhole->frame = (ph_pinhole_frame){
        .frame = encoder->frame,
        .packings = store->class_info.packings,
        .key_base = baselines->key_base,
        .tick = store->tick,
        .tick_us = store->tick_us,
        .growths = store->growths,
        .density = sender->density,
        .step = sender->step,
        .precision = sender->precision,
        .is_universal = sender->is_universal,
        .counts = sender->counts,
    };
    pinhole->head_bits = (int)encoder->bits + ph_pinhole_step_bits(&pinhole->frame);
    pinhole->records256 = 0;
    pinhole->forecast_slot = -1;
    pinhole->step_slot = -1;
    pinhole->symbols = ph_symbol_buffer_make(pinhole->tokens, PH_PINHOLE_TOKENS_MAX);
    memset(encoder->coarse, 0, slot_count);
    while (baselines->entered_end > 0 && !baselines->slots[baselines->entered_end - 1].is_entered) {
        --baselines->entered_end; // it has left since
    }
    int counts[PH_URGENCIES + 1]; // the last: of slots that have none
    ph_pinhole_urgencies(&pinhole->frame, baselines->slots, baselines->entered_end,
                         encoder->urgencies, counts);
    ph_told_sums_begin(&pinhole->flags, &store->told_costs, counts);
    pinhole->flags256 = pinhole->flags.silent256[pinhole->frame.density];
    // What suited the last packet may be too dear when the budget was lowered since: then no slot is sent,
    // to begin with.
    if (packet_bits(pinhole, pinhole->head_bits) >= encoder->limit_bits) {
        choose_density(encoder);
    }
    encoder->bits = packet_bits(pinhole, pinhole->head_bits);
}

// ---- building updates

static const ph_forecast* forecast_of(ph_encoder* encoder, int slot)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    if (pinhole->forecast_slot != slot) {
        ph_pinhole_forecast(&pinhole->frame, &encoder->sender->replicas.baselines.slots[slot],
                            &pinhole->forecast);
        pinhole->forecast_slot = slot;
    }
    return &pinhole->forecast;
}

int ph_encoder_coarse(ph_encoder* encoder)
{
    const ph_place* at = &encoder->builder.at;
    if (encoder->context->store->entities.whereabouts[at->entity].jumps != at->replica->jumps) {
        return 0;
    }
    return forecast_of(encoder, at->slot)->coarse;
}

int ph_encoder_fit(ph_encoder* encoder)
{
    return forecast_of(encoder, encoder->builder.at.slot)->fit;
}

// As coarse as was chosen, or in its step where that would be too coarse; a jump always in its step.
// @return Whether it was rounded.
static bool round_position(ph_encoder* encoder, const ph_record_request* request,
                           ph_pinhole_record* made)
{
    const ph_layout* layout = encoder->builder.at.layout;
    uint32_t* words = made->record.words + layout->position_word;
    const uint32_t x = words[0];
    const uint32_t y = words[1];
    const uint32_t z = words[2];
    int coarse = made->record.is_jump ? layout->finer : request->coarse;
    if (!ph_pinhole_round(&encoder->pinhole.frame, layout, coarse, words)) {
        coarse = layout->finer;
        (void)ph_pinhole_round(&encoder->pinhole.frame, layout, coarse, words);
    }
    made->coarse = (uint8_t)coarse;
    return words[0] != x || words[1] != y || words[2] != z;
}

// The same of an orientation.
static bool round_orientation(const ph_layout* layout, const ph_record_request* request,
                              ph_pinhole_record* made)
{
    const uint32_t* words = made->record.words + layout->word[layout->orientation_property];
    const uint32_t before[2] = {words[0], words[1]};
    made->rotation_coarse =
        (uint8_t)ph_pinhole_round_orientation(layout, &made->record, request->rotation_coarse);
    return words[0] != before[0] || words[1] != before[1];
}

// The update of a slot, or NULL.
static inline const ph_packet_record* update_of(const ph_encoder* encoder, int slot)
{
    const unsigned place = encoder->by_slot[slot];
    if (place == 0 || encoder->chosen[place - 1].kind != PH_RECORD_UPDATE) {
        return NULL;
    }
    return &encoder->chosen[place - 1];
}

// ---- carriers

// What the packet tells of a carrier, when it tells its place, and nothing of it is rounded to more than its step or may
// follow: then it is as it is now, but for that.
static const ph_carrier_step* step_of(ph_encoder* encoder, int slot)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    if (pinhole->step_slot == slot) {
        return &pinhole->step;
    }
    const ph_packet_record* told = update_of(encoder, slot);
    if (told == NULL || told->rotation_coarse != 0) {
        return NULL;
    }
    ph_place at;
    uint32_t words[PH_RECORD_WORDS_MAX];
    ph_send_context_place(encoder->context, slot, &at);
    if (told->coarse > at.layout->finer) {
        return NULL;
    }
    const uint64_t motion = at.layout->position | at.layout->orientation;
    const ph_record record = {.kind = PH_RECORD_UPDATE,
                              .class_index = (uint8_t)at.class_index,
                              .properties = told->properties & motion,
                              .words = words};
    if ((encoder->sender->replicas.dirty[slot] & motion & ~told->properties) != 0) {
        return NULL;
    }
    ph_diff_fill(encoder->context, &at, record.properties, words, NULL);
    if (told->coarse != 0) {
        (void)ph_pinhole_round(&pinhole->frame, at.layout, told->coarse,
                               words + at.layout->position_word);
    }
    if (!ph_carrier_step_make(&pinhole->frame, at.replica->known, &record, &pinhole->step)) {
        return NULL;
    }
    pinhole->step_slot = slot;
    encoder->chosen[told - encoder->chosen].is_carrying = true;
    return &pinhole->step;
}

// What carries the slot of an update, for all that both ends know. Only what is told before it can say where to.
static const ph_pinhole_carrier* carrier_of(ph_encoder* encoder, const ph_pinhole_record* made)
{
    const ph_replicas* replicas = &encoder->sender->replicas;
    ph_pinhole_carrier* carrier = &encoder->pinhole.carrier;
    const ph_pinhole_frame* frame = &encoder->pinhole.frame;
    const int slot = ph_pinhole_carrier_slot(frame, made->baseline, made->known);
    if (slot < 0 || slot >= replicas->slot_count) {
        return NULL;
    }
    carrier->baseline = &replicas->baselines.slots[slot];
    if (!ph_pinhole_can_carry(frame, made->baseline, carrier->baseline)) {
        return NULL;
    }
    carrier->known = ph_replicas_at(replicas, slot)->known;
    carrier->step = slot < made->record.slot ? step_of(encoder, slot) : NULL;
    return carrier;
}

int ph_encoder_carrier(const ph_encoder* encoder, int slot)
{
    const ph_replicas* replicas = &encoder->sender->replicas;
    const ph_baseline* baseline = &replicas->baselines.slots[slot];
    if (!baseline->is_entered) {
        return -1;
    }
    const int carrier = ph_pinhole_carrier_slot(&encoder->pinhole.frame, baseline,
                                                ph_replicas_at(replicas, slot)->known);
    return carrier < slot && (carrier < 0 || encoder->by_slot[carrier] == 0) ? carrier : -1;
}

// The cheaper one, to be carried or not.
static void choose_carried(ph_encoder* encoder, ph_pinhole_record* made)
{
    made->carrier = carrier_of(encoder, made);
    made->is_carried = false;
    if (made->carrier == NULL || made->carrier->step == NULL || made->record.is_jump) {
        return;
    }
    const uint32_t own256 = ph_pinhole_cost256(&encoder->pinhole.frame, made, NULL);
    made->is_carried = true;
    made->is_carried = ph_pinhole_cost256(&encoder->pinhole.frame, made, NULL) < own256;
}

// An update as a difference to the baseline. @return Which of its values were rounded.
static uint64_t build_update(ph_encoder* encoder, const ph_record_request* request,
                             ph_pinhole_record* made)
{
    const ph_layout* layout = encoder->builder.at.layout;
    ph_record_builder_build(&encoder->builder, request, &made->record);
    made->baseline = &encoder->sender->replicas.baselines.slots[request->slot];
    made->known = encoder->builder.at.replica->known;
    made->forecast = NULL;
    made->before = NULL;
    made->coarse = 0;
    made->rotation_coarse = 0;
    uint64_t rounded = 0;
    if ((request->properties & layout->position) != 0) {
        made->forecast = forecast_of(encoder, request->slot);
        if ((request->coarse | layout->finer) != 0 && round_position(encoder, request, made)) {
            rounded |= layout->position;
        }
    }
    if ((request->properties & layout->orientation) != 0 && request->rotation_coarse != 0 &&
        round_orientation(layout, request, made)) {
        rounded |= layout->orientation;
    }
    made->carrier = NULL;
    made->is_carried = false;
    if (PH_UNLIKELY(layout->has_carrier) && (request->properties & layout->position) != 0) {
        choose_carried(encoder, made);
    }
    return rounded;
}

// ---- adding

// The new item of a slot says everything that the one before in the same packet did. If it is of the
// same properties it takes its place.
static uint16_t replace_item(ph_encoder* encoder, ph_flight_item* item)
{
    ph_flight* flight = &encoder->sender->flight;
    const uint16_t place = encoder->builder.at.replica->newest_item;
    const ph_flight_item before = ph_flight_read(flight, place);
    if (before.properties == item->properties) {
        ph_flight_add_mileage(flight, place, item->mileage_mm);
        item->values = before.values;
        return place;
    }
    item->score = before.score;
    item->mileage_mm += before.mileage_mm;
    ph_flight_withdraw(flight, place);
    return ph_flight_add(flight, item);
}

// What is rounded to its step at most counts as sent. @return What of it counts as different.
static uint64_t note_rounded(ph_encoder* encoder, const ph_addition* addition, uint64_t rounded)
{
    const ph_layout* layout = encoder->builder.at.layout;
    const bool is_rounded = (rounded & layout->position) != 0 && addition->coarse <= layout->finer;
    const bool is_jump = addition->record->kind == PH_RECORD_UPDATE && addition->record->is_jump;
    encoder->sender->replicas.rounded[addition->request->slot] =
        (uint8_t)(!is_rounded ? 0
                  : is_jump   ? PH_ROUNDED_JUMP
                              : PH_ROUNDED);
    return is_rounded ? rounded & ~layout->position : rounded;
}

// A record whose cost is counted goes into flight; of the addition the item is yet to come. rounded: what
// still differs. @return False, with nothing done, when the flight or the packet is too small.
static bool try_note(ph_encoder* encoder, ph_addition* addition, int head_bits, uint64_t rounded)
{
    ph_sender* sender = encoder->sender;
    ph_replicas* replicas = &sender->replicas;
    const int slot = addition->request->slot;
    ph_flight_item item;
    ph_record_builder_item(&encoder->builder, addition->record, true, &item);
    const uint32_t found = ph_flight_find(&sender->flight, item.value_bytes);
    if (found == PH_FLIGHT_NO_ROOM || !fits_with(encoder, head_bits)) {
        return false;
    }
    encoder->bits = packet_bits(&encoder->pinhole, head_bits);
    replicas->mileage_mm[slot] += item.mileage_mm;
    if (addition->before == NULL) {
        ph_flight_put(&sender->flight, found, &item);
        addition->place = (uint16_t)found;
    } else {
        addition->place = replace_item(encoder, &item);
    }
    encoder->coarse[slot] =
        (uint8_t)(addition->coarse | addition->rotation_coarse << PH_COARSE_ROTATION_SHIFT);
    addition->item = &item;
    ph_encoder_note(encoder, addition);
    ph_replicas_sent(replicas, &item, addition->place, addition->record->words);
    if ((addition->record->properties & encoder->builder.at.layout->position) != 0) {
        rounded = note_rounded(encoder, addition, rounded);
    }
    if (rounded != 0) {
        // The clock goes on for what else differs.
        if (replicas->dirty[slot] == 0) {
            replicas->waiting_ms[slot] = 0;
        }
        replicas->dirty[slot] |= rounded;
    }
    return true;
}

static bool add_pinhole_enter_or_leave(ph_encoder* encoder, const ph_record_request* request)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    if (encoder->limit_bits - encoder->bits < NEARLY_FULL_BITS) {
        ph_enter_coder_settle(encoder);
    }
    const bool is_enter = request->kind == PH_RECORD_ENTER;
    const int head_bits = head_bits_with(encoder, is_enter ? 0 : 1, is_enter ? 1 : 0);
    const int64_t records_before256 = pinhole->records256;
    ph_pinhole_record made;
    const uint32_t cost256 = ph_enter_coder_join(encoder, request, &made);
    const ph_layout* layout = encoder->builder.at.layout;
    const int coarse =
        is_enter && made.coarse + layout->finer != 0 ? made.coarse + layout->finer : 0;
    ph_addition addition = {.request = request,
                            .record = &made.record,
                            .cost256 = cost256,
                            .coarse = (uint8_t)coarse,
                            .rotation_coarse = made.rotation_coarse};
    const uint64_t rounded = (coarse != 0 ? layout->position : 0) |
                             (made.rotation_coarse != 0 ? layout->orientation : 0);
    const bool is_added = try_note(encoder, &addition, head_bits, rounded);
    if (!is_added) {
        pinhole->records256 = records_before256;
    }
    pinhole->head_bits = head_bits_with(encoder, 0, 0);
    return is_added;
}

static bool add_pinhole_update(ph_encoder* encoder, const ph_record_request* request,
                               ph_packet_record* before)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    const ph_layout* layout = encoder->builder.at.layout;
    ph_record_request whole = *request;
    if (before != NULL && before->is_carrying) {
        return false; // others are told from how it went
    }
    if (before != NULL) {
        whole.properties |= before->properties;
        whole.has_words = false;
        whole.coarse =
            (request->properties & layout->position) != 0 ? request->coarse : before->coarse;
        whole.rotation_coarse = (request->properties & layout->orientation) != 0
                                    ? request->rotation_coarse
                                    : before->rotation_coarse;
    }
    ph_pinhole_record made;
    const uint64_t rounded = build_update(encoder, &whole, &made);
    uint32_t* tokens = pinhole->symbols.next;
    const uint32_t cost256 = ph_pinhole_buffer(&pinhole->frame, layout, &made, &pinhole->symbols);
    const int64_t more256 = before != NULL ? (int64_t)cost256 - before->cost256 : cost256;
    pinhole->records256 += more256;
    if (before == NULL) {
        turn_flag(encoder, whole.slot, true);
    }
    ph_addition addition = {.request = &whole,
                            .record = &made.record,
                            .before = before,
                            .cost256 = cost256,
                            .kept = (uint16_t)(tokens - pinhole->tokens),
                            .coarse = made.coarse,
                            .rotation_coarse = made.rotation_coarse};
    if (try_note(encoder, &addition, pinhole->head_bits, rounded)) {
        return true;
    }
    pinhole->records256 -= more256;
    if (before == NULL) {
        turn_flag(encoder, whole.slot, false);
    }
    ph_symbol_buffer_rewind(&pinhole->symbols, tokens);
    return false;
}

// ---- finishing

// All slots that the client has, in their order, with what is sent of them. @return What masks cost.
static uint64_t write_flags(const ph_encoder* encoder, ph_entropy_writer* writer)
{
    const uint8_t* urgencies = encoder->urgencies;
    const ph_model_set* models = ph_pinhole_models(&encoder->pinhole.frame);
    const int density = encoder->pinhole.frame.density;
    const int entered_end = encoder->sender->replicas.baselines.entered_end;
    ph_symbol_buffer_costs costs = {0};
    ph_symbol_player player;
    ph_symbol_player_begin(&player, models, writer);
    for (int slot = 0; slot < entered_end; ++slot) {
        const int urgency = urgencies[slot];
        if (urgency == PH_URGENCY_NONE) {
            continue;
        }
        const ph_packet_record* chosen = update_of(encoder, slot);
        if (chosen == NULL) {
            ph_symbol_player_put(&player, ph_pinhole_flag_entry(density, urgency, false));
            continue;
        }
        ph_symbol_player_put(&player, ph_pinhole_flag_entry(density, urgency, true));
        costs.properties256 = ph_encoder_property_bits256(encoder, slot);
        ph_symbol_player_play(&player, &encoder->pinhole.tokens[chosen->kept], &costs);
    }
    ph_symbol_player_end(&player);
    return costs.others256[0];
}

// What of an update was sent before, and lost; flag and mask only if nothing else is sent.
static uint64_t repeated256(const ph_encoder* encoder, const ph_packet_record* chosen)
{
    const ph_pinhole_packet* pinhole = &encoder->pinhole;
    ph_record_bits of = {0};
    ph_symbol_buffer_add_stats(&pinhole->tokens[chosen->kept], &of);
    uint64_t cost256 = 0;
    for (uint64_t left = chosen->lost; left != 0; left &= left - 1) {
        cost256 += of.property_bits[ph_word_lowest_bit(left)];
    }
    if (chosen->lost == chosen->properties) {
        const int urgency = encoder->urgencies[chosen->slot];
        cost256 += of.mask_bits + ph_pinhole_flag_cost256(ph_pinhole_models(&pinhole->frame),
                                                          pinhole->frame.density, urgency, true);
    }
    return cost256;
}

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
// Whether the costs are those of what is written and of nothing that did not fit. Enters are coded
// relative to each other, and how is settled last: so records are compared where there are none.
static bool is_cost_exact(const ph_encoder* encoder, uint64_t updates256)
{
    const ph_pinhole_packet* pinhole = &encoder->pinhole;
    const ph_baselines* baselines = &encoder->sender->replicas.baselines;
    int64_t flags256 = 0;
    for (int slot = 0; slot < baselines->entered_end; ++slot) {
        const int urgency = encoder->urgencies[slot];
        const bool is_told = update_of(encoder, slot) != NULL;
        flags256 += urgency != PH_URGENCY_NONE
                        ? ph_pinhole_flag_cost256(ph_pinhole_models(&pinhole->frame),
                                                  pinhole->frame.density, urgency, is_told)
                        : 0;
    }
    return flags256 == pinhole->flags256 && (encoder->count > encoder->counts[PH_RECORD_UPDATE] ||
                                             pinhole->records256 == (int64_t)updates256);
}
#endif

// What the updates cost beside their flags, all together.
static uint64_t sum_updates(ph_encoder* encoder)
{
    uint64_t updates256 = 0;
    for (int i = 0; i < encoder->count; ++i) {
        const ph_packet_record* chosen = &encoder->chosen[i];
        if (chosen->kind == PH_RECORD_UPDATE) {
            updates256 += chosen->cost256;
            encoder->ledger.resent_bits256 +=
                PH_UNLIKELY(chosen->lost != 0) ? repeated256(encoder, chosen) : 0;
        }
    }
    return updates256;
}

// Whether an entity is of the half that counts.
static bool is_counted(const ph_encoder* encoder, int slot)
{
    const int half = encoder->sender->counts->half;
    const ph_entity_index entity = encoder->context->entities[slot];
    if (half == 0 || entity == PH_ENTITY_NONE) {
        return half == 0;
    }
    const uint64_t mixed = ph_hash_mix(encoder->context->store->entities.key[entity]);
    return (int)(mixed & 1) + 1 == half;
}

// Flags and updates of a packet whose flags are written; models are learned from them. Enters are counted
// where they are written.
static void count_symbols(const ph_encoder* encoder)
{
    const ph_pinhole_packet* pinhole = &encoder->pinhole;
    ph_pinhole_counts* counts = encoder->sender->counts;
    for (int slot = 0; slot < encoder->sender->replicas.baselines.entered_end; ++slot) {
        if (encoder->urgencies[slot] == PH_URGENCY_NONE || !is_counted(encoder, slot)) {
            continue;
        }
        const ph_packet_record* chosen = update_of(encoder, slot);
        ++counts->seen[ph_pinhole_flag_entry(pinhole->frame.density, encoder->urgencies[slot],
                                             chosen != NULL)];
        if (chosen != NULL) {
            ++counts->updates;
            ph_symbol_buffer_count(&pinhole->tokens[chosen->kept], counts);
        }
    }
}

static size_t finish_pinhole(ph_encoder* encoder)
{
    ph_pinhole_packet* pinhole = &encoder->pinhole;
    ph_header* header = &encoder->header;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, encoder->bytes, PH_PAYLOAD_MAX);
    if (header->is_probe) {
        ph_pinhole_header_write(header, &writer.raw);
        return ph_entropy_writer_finish(&writer);
    }
    const int enter_count = encoder->counts[PH_RECORD_ENTER];
    if (enter_count > 0) {
        ph_enter_coder_settle(encoder);
    }
    choose_density(encoder);
    header->density = (uint8_t)pinhole->frame.density;
    encoder->sender->density = pinhole->frame.density;
    ph_pinhole_header_write(header, &writer.raw);
    ph_pinhole_write_step(&pinhole->frame, &writer);
    encoder->ledger.bits256[PH_REASON_HEADER] +=
        (uint64_t)ph_pinhole_step_bits(&pinhole->frame) * PH_COST_PER_BIT;
    if (encoder->counts[PH_RECORD_LEAVE] > 0) {
        ph_enter_coder_write(encoder, PH_RECORD_LEAVE, &writer);
    }
    if (enter_count > 0) {
        ph_pinhole_write_spread(&pinhole->frame, &writer, enter_count);
        ph_enter_coder_write(encoder, PH_RECORD_ENTER, &writer);
    }
    const uint64_t updates256 = sum_updates(encoder);
    PH_ASSERT(is_cost_exact(encoder, updates256));
    const bool has_flags = pinhole->frame.density != PH_DENSITY_NONE;
    const uint64_t masks256 = has_flags ? write_flags(encoder, &writer) : 0;
    if (PH_UNLIKELY(has_flags && encoder->sender->counts != NULL)) {
        count_symbols(encoder);
    }
    uint64_t* bits256 = encoder->ledger.bits256;
    bits256[PH_REASON_SLOT] += (uint64_t)pinhole->flags256; // those of slots that are not told, too
    bits256[PH_REASON_MASK] += masks256;
    bits256[PH_REASON_PROPERTY] += updates256 - masks256;
    PH_ASSERT(ph_entropy_writer_result(&writer) == PH_OK);
    return ph_entropy_writer_finish(&writer);
}

static void take_back_pinhole(ph_encoder* encoder, const ph_packet_record* chosen)
{
    uint64_t* property_bits256 = ph_encoder_property_bits256(encoder, chosen->slot);
    ph_record_bits of = {0};
    ph_symbol_buffer_add_stats(&encoder->pinhole.tokens[chosen->kept], &of);
    for (uint64_t left = chosen->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        property_bits256[property] -= of.property_bits[property];
    }
}

// ---- traces

static void pinhole_record_bits(ph_encoder* encoder, const ph_packet_record* chosen,
                                ph_record_bits* of)
{
    const ph_pinhole_packet* pinhole = &encoder->pinhole;
    if (chosen->kind == PH_RECORD_UPDATE) {
        const int urgency = encoder->urgencies[chosen->slot];
        ph_symbol_buffer_add_stats(&pinhole->tokens[chosen->kept], of);
        of->slot_bits = ph_pinhole_flag_cost256(ph_pinhole_models(&pinhole->frame),
                                                pinhole->frame.density, urgency, true);
    } else if (chosen->kind == PH_RECORD_ENTER) {
        ph_enter_coder_bits(encoder, chosen, of);
    } else {
        of->slot_bits = chosen->cost256;
    }
}

static uint32_t pinhole_untold256(const ph_encoder* encoder, int slot)
{
    const int density = encoder->pinhole.frame.density;
    const bool has_flag = density != PH_DENSITY_NONE &&
                          slot < encoder->sender->replicas.baselines.entered_end &&
                          encoder->urgencies[slot] != PH_URGENCY_NONE;
    return has_flag ? ph_pinhole_flag_cost256(ph_pinhole_models(&encoder->pinhole.frame), density,
                                              encoder->urgencies[slot], false)
                    : 0;
}

const ph_encoder_table ph_pinhole_encoder = {
    .kind_count_max = PH_PINHOLE_COUNT_MAX,
    .hello_bits = PH_HELLO_BITS + HELLO_PRECISION_BITS,
    .has_baselines = true,
    .header_bits = ph_pinhole_header_bits,
    .fill_header = fill_pinhole_header,
    .begin = begin_pinhole,
    .enter_or_leave = add_pinhole_enter_or_leave,
    .update = add_pinhole_update,
    .finish = finish_pinhole,
    .take_back = take_back_pinhole,
    .record_bits = pinhole_record_bits,
    .untold256 = pinhole_untold256,
};
