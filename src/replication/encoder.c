// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the encoders of both profiles share: records are built here and noted in the replicas, packets begin
// and end, and every bit of a packet is counted by what it was for. A packet's ledger is filled record
// by record, in 1/256 bit; when the packet's size is known it is balanced and goes into the sender's.
//
// Once per packet and per record.

#include "replication/encoder.h"
#include "replication/trace.h"

#include "base/bitset.h"
#include "base/compiler.h"

void ph_encoder_init(ph_encoder* encoder, const ph_send_context* context, ph_sender* sender,
                     const int32_t eye_mm[3])
{
    const ph_store* store = context->store;
    PH_ASSERT(store->class_info.layouts.text_bytes_max <= PH_RECORD_BUILDER_TEXT_BYTES);

    encoder->table = sender->is_pinhole ? &ph_pinhole_encoder : &ph_classic_encoder;
    encoder->context = context;
    encoder->sender = sender;
    encoder->builder.context = context;
    encoder->builder.at.slot = -1;
    encoder->frame = (ph_frame){
        .layouts = &store->class_info.layouts,
        .ground = &store->ground,
        .slot_bits = ph_slot_bits(sender->replicas.slot_count),
    };
    for (int axis = 0; axis < 3; ++axis) {
        encoder->eye_mm[axis] = eye_mm[axis];
    }
    encoder->is_open = false;
    encoder->count = 0;
    encoder->enters256 = 0;
    encoder->others256 = 0;
}

// ---- beginning

bool ph_encoder_needs_eye(const ph_encoder* encoder)
{
    const ph_sender* sender = encoder->sender;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t away_mm = ph_difference_mm(encoder->eye_mm[axis], sender->eye_mm[axis]);
        if (away_mm > sender->eye_margin_mm || away_mm < -(int64_t)sender->eye_margin_mm) {
            return true;
        }
    }
    return !sender->has_eye;
}

static void make_header(ph_encoder* encoder, uint32_t sequence, bool is_probe)
{
    const ph_sender* sender = encoder->sender;
    const ph_store* store = encoder->context->store;
    const uint64_t waited = (sender->now_us - sender->newest_ack_us) / PH_WAIT_UNIT_US;
    ph_header* header = &encoder->header;
    *header = (ph_header){
        .sequence = sequence,
        .horizon = sender->has_ack ? sender->horizon : sender->session,
        .wait = (uint8_t)(sender->has_ack && waited < PH_WAIT_UNKNOWN ? waited : PH_WAIT_UNKNOWN),
        .has_hello = !sender->has_ack,
        .is_probe = is_probe,
    };
    if (is_probe && sender->has_ack) {
        header->horizon = sequence;
    }
    if (header->has_hello) {
        header->hello = (ph_hello){
            .fingerprint = ph_schema_fingerprint(store->schema),
            .session = sender->session,
            .tick_us = store->tick_us,
            .slot_count = (uint16_t)sender->replicas.slot_count,
            .precision = (uint16_t)sender->precision,
        };
    }
    encoder->table->fill_header(encoder, header);
    for (int axis = 0; header->has_eye && axis < 3; ++axis) {
        header->eye_mm[axis] = encoder->eye_mm[axis];
    }
}

static int64_t payable_bytes(const ph_sender* sender)
{
    const int64_t bytes = ph_token_bucket_bits(&sender->bucket) / 8 - ph_sender_overhead(sender);
    const int room_bytes = ph_sender_room(sender);
    return bytes < room_bytes ? bytes : room_bytes;
}

static bool begin_flight(ph_encoder* encoder)
{
    ph_flight* flight = &encoder->sender->flight;
    const ph_flight_stamp stamp = {
        .sent_us = encoder->sender->now_us,
        .sequence = encoder->header.sequence,
        .tick = encoder->context->store->tick,
    };
    return ph_flight_has_place(flight) &&
           ph_flight_begin(flight, &stamp, encoder->header.has_eye ? encoder->eye_mm : NULL);
}

static void clear_records(ph_encoder* encoder)
{
    const size_t slot_count = (size_t)encoder->sender->replicas.slot_count;
    memset(encoder->counts, 0, sizeof encoder->counts);
    encoder->count = 0;
    memset(encoder->by_slot, 0, slot_count * sizeof encoder->by_slot[0]);
    encoder->ledger = (ph_ledger){0};
}

bool ph_encoder_begin(ph_encoder* encoder)
{
    const ph_sender* sender = encoder->sender;
    PH_ASSERT(!encoder->is_open);

    make_header(encoder, sender->newest + 1, false);
    for (int axis = 0; axis < 3; ++axis) {
        encoder->frame.eye_mm[axis] =
            encoder->header.has_eye ? encoder->eye_mm[axis] : sender->eye_mm[axis];
    }
    clear_records(encoder);
    encoder->limit_bits = 8 * payable_bytes(sender);
    encoder->bits = encoder->table->header_bits(&encoder->header);
    if (encoder->bits >= encoder->limit_bits) {
        return false;
    }
    encoder->table->begin(encoder);
    if (encoder->bits >= encoder->limit_bits || !begin_flight(encoder)) {
        return false;
    }
    encoder->is_open = true;
    return true;
}

void ph_encoder_cancel(ph_encoder* encoder)
{
    PH_ASSERT(encoder->is_open && encoder->count == 0);

    ph_flight_cancel(&encoder->sender->flight);
    encoder->is_open = false;
}

// ---- building records

const ph_place* ph_record_builder_move(ph_record_builder* builder, int slot)
{
    ph_send_context_place(builder->context, slot, &builder->at);
    return &builder->at;
}

void ph_record_builder_build(ph_record_builder* builder, const ph_record_request* request,
                             ph_record* record)
{
    const ph_send_context* context = builder->context;
    const ph_place* at = &builder->at;
    if (at->slot != request->slot) {
        ph_record_builder_move(builder, request->slot);
    }
    *record = (ph_record){
        .properties = request->properties,
        .association = at->replica->association,
        .slot = (uint16_t)at->slot,
        .kind = (uint8_t)request->kind,
        .class_index = (uint8_t)at->class_index,
        .words = builder->words,
        .texts = builder->texts,
    };
    if (request->kind == PH_RECORD_LEAVE) {
        return;
    }
    // A jump: the entity was somewhere else just now.
    const ph_entities* entities = &context->store->entities;
    const uint16_t jumps = entities->whereabouts[at->entity].jumps;
    if (request->kind == PH_RECORD_ENTER) {
        const ph_sender* sender = context->sender;
        record->key = entities->key[at->entity];
        record->is_jump = ph_replicas_has_jumped(&sender->replicas, at->slot, jumps);
    } else {
        record->is_jump =
            (request->properties & at->layout->position) != 0 && jumps != at->replica->jumps;
    }
    const uint64_t missing =
        request->has_words ? request->properties & at->layout->texts : request->properties;
    if (missing != 0) {
        ph_diff_fill(context, at, missing, builder->words, builder->texts);
    }
}

void ph_record_builder_item(const ph_record_builder* builder, const ph_record* record,
                            bool has_baselines, ph_flight_item* item)
{
    const ph_place* at = &builder->at;
    item->properties = 0;
    item->values = NULL;
    item->score = 0.0f;
    item->mileage_mm = 0;
    item->slot = record->slot;
    item->kind = record->kind;
    item->older = at->replica->newest_item;
    item->value_bytes = 0;
    item->is_jump = false;
    item->jumps = 0;
    if (record->kind == PH_RECORD_LEAVE) {
        return;
    }
    const ph_layout* layout = at->layout;
    const ph_replicas* replicas = &builder->context->sender->replicas;
    const ph_whereabouts* where = &builder->context->store->entities.whereabouts[at->entity];
    const bool has_extra = has_baselines && record->kind == PH_RECORD_ENTER;
    // What is sent once is never compared later.
    const uint64_t kept_once = has_baselines ? layout->position : 0;
    item->properties = record->properties & ~(layout->once & ~kept_once);
    item->value_bytes = (uint16_t)(ph_packing_size(at->packing, item->properties) +
                                   (has_extra ? ph_enter_extra_bytes(at->packing) : 0));
    item->is_jump = record->is_jump;
    item->score = replicas->score[at->slot];
    item->jumps = where->jumps;
    if ((item->properties & layout->position) != 0) {
        item->mileage_mm = where->mileage_mm - replicas->mileage_mm[at->slot];
    }
}

// ---- adding

bool ph_encoder_is_full(const ph_encoder* encoder)
{
    return encoder->limit_bits - encoder->bits < encoder->sender->least_update_bits;
}

bool ph_encoder_has_place(const ph_encoder* encoder, ph_record_kind kind)
{
    return encoder->count < PH_ENCODER_RECORDS_MAX &&
           (kind == PH_RECORD_UPDATE || encoder->counts[kind] < encoder->table->kind_count_max);
}

bool ph_encoder_add(ph_encoder* encoder, const ph_record_request* request)
{
    PH_ASSERT(encoder->builder.at.slot == request->slot);

    const int place = encoder->by_slot[request->slot];
    ph_packet_record* before = place > 0 ? &encoder->chosen[place - 1] : NULL;
    PH_ASSERT(before == NULL ||
              (request->kind == PH_RECORD_UPDATE && before->kind == PH_RECORD_UPDATE));
    if (before == NULL && !ph_encoder_has_place(encoder, request->kind)) {
        return false;
    }
    return request->kind == PH_RECORD_UPDATE ? encoder->table->update(encoder, request, before)
                                             : encoder->table->enter_or_leave(encoder, request);
}

static void note_chosen(ph_encoder* encoder, const ph_addition* addition)
{
    const ph_record_request* request = addition->request;
    const uint64_t lost = encoder->builder.at.replica->lost;
    ph_packet_record* chosen = addition->before;
    if (chosen == NULL) {
        chosen = &encoder->chosen[encoder->count++];
        *chosen = (ph_packet_record){
            .slot = (uint16_t)request->slot,
            .kind = (uint8_t)request->kind,
            .is_repeat = lost != 0,
        };
        ++encoder->counts[request->kind];
        encoder->by_slot[request->slot] = (uint16_t)encoder->count;
    }
    chosen->properties |= request->properties;
    chosen->lost |= lost & request->properties;
    chosen->is_significant |= request->is_significant;
    chosen->cost256 = addition->cost256;
    chosen->kept = addition->kept;
    chosen->coarse = addition->coarse;
    chosen->rotation_coarse = addition->rotation_coarse;
}

void ph_encoder_note(ph_encoder* encoder, const ph_addition* addition)
{
    const ph_place* at = &encoder->builder.at;
    const ph_record* record = addition->record;
    const ph_flight_item* item = addition->item;
    note_chosen(encoder, addition);
    if (record->kind != PH_RECORD_LEAVE) {
        ph_packing_store_all(at->packing, at->layout, item->properties, record->words,
                             item->values);
    }
    if (record->kind == PH_RECORD_ENTER && encoder->table->has_baselines) {
        ph_enter_extra_store(item, at->packing, record);
    }
}

ph_record_request ph_packet_record_request(const ph_packet_record* chosen)
{
    return (ph_record_request){
        .slot = chosen->slot,
        .kind = (ph_record_kind)chosen->kind,
        .properties = chosen->properties,
        .coarse = chosen->coarse,
        .rotation_coarse = chosen->rotation_coarse,
    };
}

// ---- bit statistics

uint64_t* ph_encoder_property_bits256(const ph_encoder* encoder, int slot)
{
    const int class_index = encoder->sender->replicas.class_index[slot];
    return encoder->sender->property_bits256 +
           encoder->context->store->class_info.first_property[class_index];
}

// All records, but for what the bits of updates were for.
static void count_records(ph_encoder* encoder)
{
    ph_viewer_stats* stats = &encoder->sender->stats;
    stats->sent_leaves += (uint64_t)encoder->counts[PH_RECORD_LEAVE];
    stats->sent_enters += (uint64_t)encoder->counts[PH_RECORD_ENTER];
    stats->sent_updates += (uint64_t)encoder->counts[PH_RECORD_UPDATE];
    for (int i = 0; i < encoder->count; ++i) {
        const ph_packet_record* chosen = &encoder->chosen[i];
        if (chosen->kind == PH_RECORD_UPDATE) {
            stats->sent_significant_updates += chosen->is_significant;
            continue;
        }
        const bool is_enter = chosen->kind == PH_RECORD_ENTER;
        encoder->ledger.bits256[is_enter ? PH_REASON_ENTER : PH_REASON_LEAVE] += chosen->cost256;
        encoder->ledger.resent_bits256 += chosen->is_repeat ? chosen->cost256 : 0;
    }
}

static void count_header(ph_encoder* encoder)
{
    const ph_header* header = &encoder->header;
    const int hello_bits = header->has_hello ? encoder->table->hello_bits : 0;
    const int eye_bits = header->has_eye ? PH_EYE_BITS : 0;
    const int rest_bits = encoder->table->header_bits(header) - hello_bits - eye_bits;
    uint64_t* bits256 = encoder->ledger.bits256;
    bits256[PH_REASON_HEADER] += (uint64_t)rest_bits * PH_COST_PER_BIT;
    bits256[PH_REASON_HELLO] += (uint64_t)hello_bits * PH_COST_PER_BIT;
    bits256[PH_REASON_EYE] += (uint64_t)eye_bits * PH_COST_PER_BIT;
}

// Costs of symbols are rounded up, so all of them together may be some parts of a bit more than the
// packet. That is taken back where it does no harm to the bits of single properties.
static void balance(ph_ledger* ledger, size_t size)
{
    static const ph_reason REASONS[] = {PH_REASON_SLOT, PH_REASON_ENTER, PH_REASON_MASK,
                                        PH_REASON_LEAVE, PH_REASON_HEADER};
    uint64_t sum256 = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum256 += ledger->bits256[reason];
    }
    const uint64_t all256 = (uint64_t)size * 8 * PH_COST_PER_BIT;
    if (sum256 <= all256) {
        ledger->bits256[PH_REASON_PADDING] = all256 - sum256;
        return;
    }
    uint64_t excess256 = sum256 - all256;
    for (size_t i = 0; i < sizeof REASONS / sizeof REASONS[0]; ++i) {
        uint64_t* cost256 = &ledger->bits256[REASONS[i]];
        const uint64_t part256 = excess256 < *cost256 ? excess256 : *cost256;
        *cost256 -= part256;
        excess256 -= part256;
    }
    PH_ASSERT(excess256 == 0);
}

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
static bool is_ledger_exact(const ph_sender* sender)
{
    uint64_t sum256 = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum256 += sender->stats.ledger.bits256[reason];
    }
    return sum256 == sender->stats.sent_payload_bytes * 8 * PH_COST_PER_BIT;
}
#endif

// The packet leaves, with so many bytes.
static void pay(ph_encoder* encoder, size_t size)
{
    ph_sender* sender = encoder->sender;
    ph_ledger* sum = &sender->stats.ledger;
    count_header(encoder);
    balance(&encoder->ledger, size);
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum->bits256[reason] += encoder->ledger.bits256[reason];
    }
    sum->resent_bits256 += encoder->ledger.resent_bits256;
    const int added_bytes = sender->reserved_bytes + sender->reserved_next_bytes;
    sum->bits256[PH_REASON_RESERVED] += 8 * PH_COST_PER_BIT * (uint64_t)added_bytes;
    sender->reserved_next_bytes = 0;
    ph_sender_pay(sender, (int)size + added_bytes);
    sender->sent_us = sender->now_us;
    PH_ASSERT(is_ledger_exact(sender));
    if (PH_UNLIKELY(sender->tracer != NULL)) {
        ph_trace_packet(encoder, size, added_bytes);
    }
}

// ---- finishing

// It goes nowhere, and is not paid for. Its sequence stays taken and its records in flight: the client
// never acks it, as if the network had lost it, and what it said is sent again.
static void withhold(ph_encoder* encoder)
{
    ++encoder->sender->stats.withheld_datagrams;
    for (int i = 0; i < encoder->count; ++i) {
        if (encoder->chosen[i].kind == PH_RECORD_UPDATE) {
            encoder->table->take_back(encoder, &encoder->chosen[i]);
        }
    }
}

size_t ph_encoder_finish(ph_encoder* encoder)
{
    ph_sender* sender = encoder->sender;
    ph_header* header = &encoder->header;
    PH_ASSERT(encoder->is_open && encoder->count > 0);

    ph_flight_commit(&sender->flight);
    ++sender->newest;
    ++sender->packet_count;
    header->leave_count = encoder->counts[PH_RECORD_LEAVE];
    header->enter_count = encoder->counts[PH_RECORD_ENTER];
    sender->eye_sequence = header->has_eye ? header->sequence : sender->eye_sequence;
    const size_t size = encoder->table->finish(encoder);
    encoder->is_open = false;
    // Whatever was counted before: the promise is kept here.
    if (PH_UNLIKELY(size == 0 || (int64_t)size > payable_bytes(sender))) {
        withhold(encoder);
        return 0;
    }
    count_records(encoder);
    pay(encoder, size);
    const uint64_t* bits256 = encoder->ledger.bits256;
    encoder->enters256 += (int64_t)bits256[PH_REASON_ENTER];
    encoder->others256 += (int64_t)(bits256[PH_REASON_LEAVE] + bits256[PH_REASON_SLOT] +
                                    bits256[PH_REASON_MASK] + bits256[PH_REASON_PROPERTY]);
    return size;
}

size_t ph_encoder_probe(ph_encoder* encoder)
{
    ph_sender* sender = encoder->sender;
    PH_ASSERT(!encoder->is_open);

    make_header(encoder, sender->newest, true);
    if ((encoder->table->header_bits(&encoder->header) + 7) / 8 > payable_bytes(sender)) {
        return 0;
    }
    clear_records(encoder);
    const size_t size = encoder->table->finish(encoder);
    pay(encoder, size);
    ++sender->stats.sent_probes;
    return size;
}
