// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the next section says, and how much of the budget it takes: once per datagram and end. message_section.h
// has the bits, bulk.c what goes beside them.

#include "message/bulk.h"
#include "tools/tools.h"

#include <string.h>

// Composing changes nothing, so that asking how much room it would take and
// writing it come to the same. What goes first: acks, as they are few bytes and the
// other end waits for them; input, as it is old with the next one; then fragments, the oldest first,
// none past one that does not fit, as long as the share pays for them.

// Acks alone are hardly worth a datagram.
#define REST_WAITS 10

typedef struct composed_section {
    ph_message_section section;
    int64_t bits;       // so far
    int64_t room_bits;  // at most
    int64_t share_bits; // that fragments may still take
    int64_t paid_bits;  // from the share
} composed_section;

// Nothing to say, whatever the time is and however much room there is. So it is for most datagrams of
// most connections, and then there is nothing to compose.
static bool is_idle(const ph_messages* messages)
{
    return messages->acks_owed == 0 && messages->input_acks_owed == 0 && !messages->has_bulk &&
           messages->input_processed == messages->input_number &&
           ph_message_outbox_count(&messages->outbox) == 0;
}

// ---- composing

static bool try_take(composed_section* d, int64_t bits)
{
    if (d->bits + bits > d->room_bits) {
        return false;
    }
    d->bits += bits;
    return true;
}

static void add_ack(const ph_messages* messages, composed_section* d)
{
    const bool is_held = messages->def.holds_acks;
    const uint32_t mask = is_held ? 0 : messages->inbox.early >> 1;
    if (messages->acks_owed > 0 && try_take(d, ph_message_ack_bits(mask))) {
        d->section.has_ack = true;
        d->section.ack_next = is_held ? messages->inbox.confirmed : messages->inbox.next;
        d->section.ack_mask = mask;
    }
}

static void add_input_ack(const ph_messages* messages, composed_section* d)
{
    const uint32_t lag_all = messages->their_number - messages->their_processed;
    const uint32_t lag = lag_all < PH_MESSAGE_LAG_UNKNOWN ? lag_all : PH_MESSAGE_LAG_UNKNOWN;
    if (messages->input_acks_owed > 0 && try_take(d, ph_message_input_ack_bits(lag == 0))) {
        d->section.has_input_ack = true;
        d->section.input_received = (uint16_t)messages->their_number;
        d->section.input_processed = (uint16_t)(messages->their_number - lag);
    }
}

// Until it is known to have arrived with its bytes, and until it is known to be processed as a question.
static void add_input(const ph_messages* messages, composed_section* d)
{
    const bool has_blob =
        messages->input_delivered != messages->input_number || messages->is_input_unknown;
    if (messages->input_processed != messages->input_number &&
        try_take(d, ph_message_input_bits(has_blob, messages->input_size))) {
        d->section.has_input = true;
        d->section.has_blob = has_blob;
        d->section.input_number = (uint16_t)messages->input_number;
        d->section.input_size = has_blob ? messages->input_size : 0;
        d->section.input_bytes = messages->input_bytes;
    }
}

// The share pays for the whole bytes by which fragments make a section longer.
static bool try_add_fragment(composed_section* d, const ph_message_fragment* fragment,
                             int64_t bare_bits)
{
    ph_message_section* section = &d->section;
    const int count = section->fragment_count;
    const int step =
        count == 0 ? 0 : (uint16_t)(fragment->sequence - section->fragments[count - 1].sequence);
    const int64_t bits = ph_message_fragment_bits(fragment, step);
    const int64_t paid_bits =
        ph_message_whole_bytes(d->bits + bits) - ph_message_whole_bytes(bare_bits);
    if (paid_bits > d->share_bits || !try_take(d, bits)) {
        return false;
    }
    d->paid_bits = paid_bits;
    section->fragments[section->fragment_count++] = *fragment;
    return true;
}

static void add_fragments(const ph_messages* messages, uint64_t now_us, composed_section* d)
{
    const int64_t bare_bits = d->bits;
    ph_message_fragment fragment;
    uint16_t from = messages->outbox.oldest;
    while (ph_message_outbox_try_due(&messages->outbox, from, now_us, &fragment) &&
           try_add_fragment(d, &fragment, bare_bits)) {
        from = (uint16_t)(fragment.sequence + 1);
    }
}

// In a datagram of its own it pays for everything, so that is taken off.
static void pay_alone(const ph_messages* messages, composed_section* d)
{
    const int64_t overhead_bits = 8 * (int64_t)messages->def.overhead_bytes;
    const int64_t have_bits = d->share_bits;
    while (d->section.fragment_count > 0 &&
           overhead_bits + ph_message_whole_bytes(d->bits) > have_bits) {
        const int last = --d->section.fragment_count;
        const ph_message_fragment* fragments = d->section.fragments;
        const int step =
            last == 0 ? 0 : (uint16_t)(fragments[last].sequence - fragments[last - 1].sequence);
        d->bits -= ph_message_fragment_bits(&fragments[last], step);
    }
    d->paid_bits = overhead_bits + ph_message_whole_bytes(d->bits);
}

static size_t largest(const ph_messages* messages, size_t room)
{
    const size_t most = (size_t)messages->def.section_max;
    return room < most ? room : most;
}

// is_alone: for a datagram without a packet.
static void compose(ph_messages* messages, uint64_t now_us, size_t room, bool is_alone,
                    composed_section* d)
{
    *d = (composed_section){
        .bits = PH_MESSAGE_FLAG_BITS,
        .room_bits = 8 * (int64_t)largest(messages, room),
    };
    ph_token_bucket_fill(&messages->share, now_us);
    d->share_bits = ph_token_bucket_bits(&messages->share);
    add_ack(messages, d);
    add_input_ack(messages, d);
    add_input(messages, d);
    add_fragments(messages, now_us, d);
    if (is_alone) {
        pay_alone(messages, d);
    }
}

// Whatever of blocks and unreliable messages fits behind it and is paid for. Only while has_bulk. Blocks that go
// without a packet have datagrams of their own.
static void compose_bulk(ph_messages* messages, uint64_t now_us, size_t room, bool is_alone,
                         const composed_section* d, ph_bulk_composed* b)
{
    const size_t most = is_alone ? room : largest(messages, room);
    ph_token_bucket_fill(&messages->bulk->block_share, now_us);
    const ph_bulk_room left = {
        .bits = 8 * (int64_t)most - ph_message_whole_bytes(d->bits),
        .message_bits = d->share_bits - d->paid_bits,
        .block_bits = ph_token_bucket_bits(&messages->bulk->block_share),
        .has_messages = true,
        .has_blocks = !is_alone,
    };
    ph_bulk_compose(messages, now_us, &left, b);
}

static bool has_messages(const composed_section* d)
{
    return d->section.fragment_count > 0;
}

static bool says_nothing(const composed_section* d)
{
    return d->bits == PH_MESSAGE_FLAG_BITS;
}

static size_t size_of(const composed_section* d)
{
    return (size_t)(ph_message_whole_bytes(d->bits) / 8);
}

// ---- what is wanted

// From the first call that asks; times begin at 1, as 0 says that nothing waits.
static void note_waiting(uint64_t* since_us, bool is_waiting, uint64_t now_us)
{
    if (!is_waiting) {
        *since_us = 0;
    } else if (*since_us == 0) {
        *since_us = now_us > 0 ? now_us : 1;
    }
}

static bool has_waited(uint64_t since_us, uint64_t now_us, int max_wait_ms)
{
    return since_us != 0 && now_us >= since_us &&
           now_us - since_us >= (uint64_t)max_wait_ms * PH_MESSAGE_US_PER_MS;
}

static void note_composed(ph_messages* messages, uint64_t now_us, const composed_section* d)
{
    ph_message_fragment due;
    const bool is_due =
        ph_message_outbox_try_due(&messages->outbox, messages->outbox.oldest, now_us, &due);
    note_waiting(&messages->messages_wait_us, is_due, now_us);
    note_waiting(&messages->rest_waits_us, !says_nothing(d), now_us);
}

static void note_idle(ph_messages* messages)
{
    messages->messages_wait_us = 0;
    messages->rest_waits_us = 0;
}

static size_t promise(ph_messages* messages, uint64_t now_us, size_t room)
{
    messages->promise = (ph_message_promise){.room = room, .now_us = now_us};
    messages->is_block_promised = false;
    return room;
}

// Beside the section of messages; 0 for nothing.
static size_t plan_bulk(ph_messages* messages, uint64_t now_us, bool is_alone,
                        const composed_section* d)
{
    if (!messages->has_bulk) {
        return 0;
    }
    ph_bulk_composed b;
    ph_bulk_pass_time(messages, now_us);
    compose_bulk(messages, now_us, PH_PAYLOAD_MAX, is_alone, d, &b);
    return ph_bulk_size(&b);
}

size_t ph_messages_plan(ph_messages* messages, uint64_t now_us)
{
    if (is_idle(messages)) {
        note_idle(messages);
        return promise(messages, now_us, PH_MESSAGES_EMPTY_SIZE);
    }
    composed_section d;
    compose(messages, now_us, PH_PAYLOAD_MAX, false, &d);
    note_composed(messages, now_us, &d);
    const size_t bulk_size = plan_bulk(messages, now_us, false, &d);
    return promise(messages, now_us, size_of(&d) + bulk_size);
}

size_t ph_messages_plan_alone(ph_messages* messages, uint64_t now_us)
{
    if (is_idle(messages)) {
        note_idle(messages);
        return 0;
    }
    composed_section d;
    compose(messages, now_us, PH_PAYLOAD_MAX, true, &d);
    note_composed(messages, now_us, &d);
    const size_t bulk_size = plan_bulk(messages, now_us, true, &d);
    const int max_wait_ms = messages->def.max_wait_ms;
    const bool is_time =
        (has_messages(&d) && has_waited(messages->messages_wait_us, now_us, max_wait_ms)) ||
        has_waited(messages->rest_waits_us, now_us, REST_WAITS * max_wait_ms) ||
        (bulk_size > 0 && messages->bulk->is_unreliable_urgent);
    if (!is_time || (says_nothing(&d) && bulk_size == 0) || d.paid_bits > d.share_bits) {
        return 0;
    }
    return promise(messages, now_us, size_of(&d) + bulk_size);
}

// ---- writing

static void note_written(ph_messages* messages, uint64_t now_us, const composed_section* d,
                         size_t size)
{
    for (int i = 0; i < d->section.fragment_count; ++i) {
        const uint16_t sequence = d->section.fragments[i].sequence;
        const bool is_first = (int16_t)(uint16_t)(sequence - messages->outbox.unsent) >= 0;
        ++messages->stats.sent_fragments;
        messages->stats.resent_fragments += !is_first;
        ph_message_outbox_note_sent(&messages->outbox, sequence, now_us);
    }
    messages->acks_owed -= d->section.has_ack;
    messages->input_acks_owed -= d->section.has_input_ack;
    messages->rest_waits_us = says_nothing(d) ? messages->rest_waits_us : 0;
    if (d->section.fragment_count > 0) {
        messages->messages_wait_us = 0;
    }
    ++messages->stats.sent_sections;
    messages->stats.sent_bytes += size;
    const int64_t have_bits = ph_token_bucket_bits(&messages->share);
    ph_token_bucket_spend(&messages->share, d->paid_bits < have_bits ? d->paid_bits : have_bits);
}

static size_t write_composed(ph_messages* messages, uint64_t now_us, const composed_section* d,
                             uint8_t* bytes)
{
    const size_t size = ph_message_section_write(&d->section, bytes, size_of(d));
    PH_ASSERT(size == size_of(d));
    note_written(messages, now_us, d, size);
    return size;
}

// Before the section of messages. @return Bytes, 0 for nothing.
static size_t write_bulk(ph_messages* messages, uint64_t now_us, const ph_bulk_composed* b,
                         uint8_t* bytes)
{
    if (b->bits == 0) {
        return 0;
    }
    const size_t size = ph_bulk_section_write(&b->section, bytes, ph_bulk_size(b));
    PH_ASSERT(size == ph_bulk_size(b));
    messages->stats.sent_bytes += size;
    ph_bulk_note_written(messages, now_us, b);
    return size;
}

// Both, in a datagram with a packet, or for messages alone.
static size_t write_both(ph_messages* messages, uint64_t now_us, size_t room, bool is_alone,
                         uint8_t* bytes)
{
    composed_section d;
    compose(messages, now_us, room, is_alone, &d);
    if (!messages->has_bulk) {
        return write_composed(messages, now_us, &d, bytes);
    }
    ph_bulk_composed b;
    compose_bulk(messages, now_us, room, is_alone, &d, &b);
    d.paid_bits += b.message_bits;
    const size_t bulk_size = write_bulk(messages, now_us, &b, bytes);
    return bulk_size + write_composed(messages, now_us, &d, bytes + bulk_size);
}

size_t ph_messages_write_section(ph_messages* messages, uint64_t now_us, size_t room,
                                 uint8_t* bytes)
{
    PH_ASSERT(room >= PH_MESSAGES_EMPTY_SIZE);

    if (messages->has_bulk) {
        ph_bulk_pass_time(messages, now_us);
    }
    return write_both(messages, now_us, room, false, bytes);
}

// All four flags of the section are zero, and so is what fills its byte.
static size_t write_empty(ph_messages* messages, uint8_t* bytes)
{
    bytes[0] = 0;
    ++messages->stats.sent_sections;
    messages->stats.sent_bytes += PH_MESSAGES_EMPTY_SIZE;
    return PH_MESSAGES_EMPTY_SIZE;
}

// What is spare is paid first: it would be lost.
static size_t write_blocks(ph_messages* messages, uint64_t now_us, size_t room, uint8_t* bytes)
{
    ph_bulk_composed b;
    const ph_bulk_room left = {
        .bits = 8 * (int64_t)(room - PH_MESSAGES_EMPTY_SIZE),
        .block_bits = INT64_MAX,
        .has_blocks = true,
    };
    ph_bulk_compose(messages, now_us, &left, &b);
    const int64_t whole_bits = 8 * (int64_t)(messages->def.overhead_bytes + PH_MESSAGES_EMPTY_SIZE +
                                             (int)ph_bulk_size(&b));
    const int64_t spare_bits = messages->bulk->spare_bits;
    b.block_bits = whole_bits > spare_bits ? whole_bits - spare_bits : 0;
    const size_t size = write_bulk(messages, now_us, &b, bytes);
    return size + write_empty(messages, bytes + size);
}

// The promised section. One that stands alone pays for its datagram, even when it says nothing.
static size_t write_promised(ph_messages* messages, size_t packet_size, uint8_t* bytes)
{
    if (packet_size > 0 && is_idle(messages)) {
        return write_empty(messages, bytes);
    }
    const ph_message_promise promised = messages->promise;
    const size_t room_left = PH_PAYLOAD_MAX - packet_size;
    const size_t room = promised.room < room_left ? promised.room : room_left;
    if (messages->is_block_promised && packet_size == 0) {
        return write_blocks(messages, promised.now_us, room, bytes);
    }
    return write_both(messages, promised.now_us, room, packet_size == 0, bytes);
}

size_t ph_messages_pack(ph_messages* messages, const void* packet, size_t size,
                        uint8_t bytes[PH_PAYLOAD_MAX])
{
    PH_ASSERT(size < PH_PAYLOAD_MAX && (packet != NULL || size == 0));

    const size_t section_size = write_promised(messages, size, bytes);
    if (size > 0) {
        memcpy(bytes + section_size, packet, size);
    }
    messages->promise.room = PH_MESSAGES_EMPTY_SIZE;
    messages->is_block_promised = false;
    return section_size + size;
}
