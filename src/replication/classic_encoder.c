// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The encoder of the classic profile: whole bits. A record is written and counted when it is added,
// to bytes of its own, so that what it costs is known by doing it; finishing the packet puts them
// together:
//
//   kept    | record | record | record | ...     in the order in which they were added
//   packet  | header | leaves | enters | updates, each kind in slot order | padding |
//
// If a slot is added to, its whole update is written once more, but the flight gets a second item. Once
// per record that is tried.

#include "base/bitset.h"
#include "replication/encoder.h"

_Static_assert(PH_CLASSIC_KEPT_BYTES <= UINT16_MAX, "every kept byte has a number");

// ---- the header

static void fill_classic_header(const ph_encoder* encoder, ph_header* header)
{
    header->hello.version = header->has_hello ? PH_CLASSIC_VERSION : 0;
    header->tick = (uint16_t)(encoder->context->store->tick & ((1u << PH_TICK_BITS) - 1));
    header->has_eye = !header->is_probe && ph_encoder_needs_eye(encoder);
}

static void begin_classic(ph_encoder* encoder)
{
    encoder->classic.kept_count = 0;
}

// ---- adding

// A record, written behind the last one, goes into flight. whole_bits: of all that the packet says of the
// slot. @return False, with nothing done, when it does not fit.
static bool keep(ph_encoder* encoder, const ph_record_request* request, ph_packet_record* before,
                 const ph_record* record, int whole_bits)
{
    ph_classic_packet* classic = &encoder->classic;
    ph_sender* sender = encoder->sender;
    const int64_t bits =
        encoder->bits + whole_bits - (before != NULL ? before->cost256 / PH_COST_PER_BIT : 0);
    ph_flight_item item;
    ph_record_builder_item(&encoder->builder, record, false, &item);
    uint16_t place;
    if (bits > encoder->limit_bits || !ph_flight_try_add(&sender->flight, &item, &place)) {
        return false;
    }
    encoder->bits = bits;
    sender->replicas.mileage_mm[request->slot] += item.mileage_mm;
    ph_encoder_note(encoder, &(ph_addition){.request = request,
                                            .record = record,
                                            .before = before,
                                            .item = &item,
                                            .place = place,
                                            .cost256 = (uint32_t)whole_bits * PH_COST_PER_BIT,
                                            .kept = (uint16_t)classic->kept_count});
    ph_replicas_sent(&sender->replicas, &item, place, record->words);
    classic->kept_count += (whole_bits + 7) / 8;
    return true;
}

static bool add_classic_enter_or_leave(ph_encoder* encoder, const ph_record_request* request)
{
    ph_classic_packet* classic = &encoder->classic;
    ph_record record;
    ph_record_builder_build(&encoder->builder, request, &record);
    ph_bit_writer writer =
        ph_bit_writer_make(classic->kept + classic->kept_count, PH_CLASSIC_RECORD_BYTES);
    ph_classic_write_record(&encoder->frame, &record, &writer);
    ph_bit_writer_finish(&writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    return keep(encoder, request, NULL, &record, (int)ph_bit_writer_size_bits(&writer));
}

// What the bits of an update were for. What was lost before and is sent again counts as repeat; slot and
// mask only if nothing else is sent. unit: a bit in 1/256, or what takes it back, modulo 2^64.
static void count_update(ph_encoder* encoder, const ph_packet_record* chosen,
                         const ph_record_bits* of, uint64_t unit)
{
    uint64_t* property_bits256 = ph_encoder_property_bits256(encoder, chosen->slot);
    const uint64_t slot256 = of->slot_bits * unit;
    const uint64_t mask256 = of->mask_bits * unit;
    uint64_t values256 = 0;
    uint64_t repeated256 = chosen->lost == chosen->properties ? slot256 + mask256 : 0;
    for (uint64_t left = chosen->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t cost256 = of->property_bits[property] * unit;
        values256 += cost256;
        property_bits256[property] += cost256;
        repeated256 += (chosen->lost >> property & 1) != 0 ? cost256 : 0;
    }
    encoder->ledger.bits256[PH_REASON_SLOT] += slot256;
    encoder->ledger.bits256[PH_REASON_MASK] += mask256;
    encoder->ledger.bits256[PH_REASON_PROPERTY] += values256;
    encoder->ledger.resent_bits256 += repeated256;
}

// An update that was counted is not sent, or not in that form.
static void take_back_classic(ph_encoder* encoder, const ph_packet_record* chosen)
{
    const ph_record_request request = ph_packet_record_request(chosen);
    ph_record record;
    ph_record_bits of = {0};
    ph_record_builder_build(&encoder->builder, &request, &record);
    ph_classic_record_bits(&encoder->frame, &record, &of);
    count_update(encoder, chosen, &of, -(uint64_t)PH_COST_PER_BIT);
}

static bool add_classic_update(ph_encoder* encoder, const ph_record_request* request,
                               ph_packet_record* before)
{
    ph_classic_packet* classic = &encoder->classic;
    const ph_layout* layout = encoder->builder.at.layout;
    ph_record_request whole = *request;
    ph_packet_record was = {0};
    if (before != NULL) {
        was = *before;
        whole.properties |= was.properties;
        whole.has_words = false;
    }
    // The last few that are tried in a packet mostly do not fit.
    const int least_bits = ph_classic_least_bits(&encoder->frame, layout, whole.properties);
    if (encoder->bits + least_bits - was.cost256 / PH_COST_PER_BIT > encoder->limit_bits ||
        classic->kept_count > PH_CLASSIC_KEPT_BYTES - PH_CLASSIC_RECORD_BYTES) {
        return false;
    }
    ph_record record;
    ph_record_bits of;
    ph_record_builder_build(&encoder->builder, &whole, &record);
    const int bits =
        ph_classic_write_update(&encoder->frame, &record, classic->kept + classic->kept_count, &of);
    // The flight has what is new alone.
    record.properties = request->properties;
    if (!keep(encoder, request, before, &record, bits)) {
        return false;
    }
    if (before != NULL) {
        take_back_classic(encoder, &was);
    } else {
        before = &encoder->chosen[encoder->count - 1];
    }
    count_update(encoder, before, &of, PH_COST_PER_BIT);
    return true;
}

// ---- finishing

static size_t finish_classic(ph_encoder* encoder)
{
    ph_classic_packet* classic = &encoder->classic;
    ph_bit_writer header_writer = ph_bit_writer_make(encoder->bytes, PH_PAYLOAD_MAX);
    ph_header_write(&encoder->header, &header_writer);
    ph_bit_writer writer = header_writer; // copied, so that it stays in registers
    for (int kind = 0; kind < 3; ++kind) {
        int left = encoder->counts[kind];
        for (int slot = 0; left > 0; ++slot) {
            const int place = encoder->by_slot[slot];
            if (place == 0 || encoder->chosen[place - 1].kind != kind) {
                continue;
            }
            const ph_packet_record* chosen = &encoder->chosen[place - 1];
            ph_classic_write_kept(classic->kept + chosen->kept,
                                  (int)(chosen->cost256 / PH_COST_PER_BIT), &writer);
            --left;
        }
    }
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    PH_ASSERT(encoder->header.is_probe ||
              (int64_t)ph_bit_writer_size_bits(&writer) == encoder->bits);
    header_writer = writer;
    return ph_bit_writer_finish(&header_writer);
}

// ---- traces

static void classic_record_bits(ph_encoder* encoder, const ph_packet_record* chosen,
                                ph_record_bits* of)
{
    const ph_record_request request = ph_packet_record_request(chosen);
    ph_record record;
    if (chosen->kind == PH_RECORD_LEAVE) {
        of->slot_bits = chosen->cost256;
        return;
    }
    ph_record_builder_build(&encoder->builder, &request, &record);
    ph_classic_record_bits(&encoder->frame, &record, of);
    for (size_t i = 0; i < sizeof of->parts / sizeof of->parts[0]; ++i) {
        of->parts[i] *= PH_COST_PER_BIT;
    }
}

static uint32_t classic_untold256(const ph_encoder* encoder, int slot)
{
    (void)encoder;
    (void)slot;
    return 0;
}

const ph_encoder_table ph_classic_encoder = {
    .kind_count_max = PH_HEADER_COUNT_MAX,
    .hello_bits = PH_HELLO_BITS,
    .header_bits = ph_header_bits,
    .fill_header = fill_classic_header,
    .begin = begin_classic,
    .enter_or_leave = add_classic_enter_or_leave,
    .update = add_classic_update,
    .finish = finish_classic,
    .take_back = take_back_classic,
    .record_bits = classic_record_bits,
    .untold256 = classic_untold256,
};
