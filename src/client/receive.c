// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One datagram, from its bytes to what the client knows. Everything is read and checked first, on
// the side; only then does it count, as a whole. A few times a second.
//
// A refused datagram leaves no trace but a count, its number included. So whoever can only guess
// (there is no authentication here, that is the transport's) cannot make us miss real packets by
// numbers that are not theirs yet; and the real packet of that number is still welcome. The promise
// of an ack is kept: it speaks only of numbers up to the newest, and those are never applied later.
// A server whose packets we refuse for ever is not stuck either: when too many go unanswered it
// sends probes, whose numbers count, and all it has sent is resolved as lost.

#include "client/client_state.h"

#define SECOND_US UINT64_C(1000000)

// ---- counting

static void count_datagram(ph_client* client, uint64_t now_us, size_t size)
{
    const uint64_t second = now_us / SECOND_US;
    ph_rate* rate = &client->rate;
    if (second != rate->second) {
        rate->last_bytes = second == rate->second + 1 ? rate->bytes : 0;
        rate->second = second;
        rate->bytes = 0;
    }
    rate->bytes += size;
    ++client->counts.datagrams;
    client->counts.bytes += size;
}

static ph_result refuse(ph_client* client, ph_refusal reason)
{
    ++client->counts.refused[reason];
    switch (reason) {
    case PH_REFUSAL_OLD:
    case PH_REFUSAL_EARLY:
        return PH_ERROR_STALE;
    case PH_REFUSAL_HELLO:
        return PH_ERROR_SCHEMA;
    default:
        return PH_ERROR_VALUE;
    }
}

// Why a reader failed.
static ph_result refuse_reader(ph_client* client, const ph_bit_reader* reader)
{
    const bool is_short = ph_bit_reader_result(reader) == PH_ERROR_END;
    return refuse(client, is_short ? PH_REFUSAL_SIZE : PH_REFUSAL_RECORD);
}

// ---- the header

// A session begins with the first hello that suits us and says the same in every later one.
static bool is_hello_ours(const ph_client* client, const ph_hello* hello)
{
    const ph_hello* first = &client->session.hello;
    if (hello->version != PH_CLASSIC_VERSION ||
        hello->fingerprint != ph_schema_fingerprint(client->def.schema) ||
        hello->slot_count > client->def.slot_capacity) {
        return false;
    }
    return !client->session.has_begun ||
           (hello->session == first->session && hello->tick_us == first->tick_us &&
            hello->slot_count == first->slot_count);
}

static ph_session make_session(const ph_hello* hello)
{
    return (ph_session){
        .has_begun = true,
        .hello = *hello,
        .slot_bits = ph_classic_slot_bits(hello->slot_count),
        .horizon = hello->session,
        .receipt = ph_receipt_make(hello->session),
        .arrivals = ph_arrivals_make(hello->session),
    };
}

// Whether the number is news, and stands where this server can be.
static ph_news judge(const ph_session* session, const ph_header* header)
{
    const ph_news news = ph_receipt_judge(&session->receipt, header->number, header->horizon);
    const bool is_behind = header->horizon - session->horizon > INT32_MAX;
    return news == PH_NEWS_NEW && is_behind ? PH_NEWS_IMPOSSIBLE : news;
}

// ---- what counts

// The first datagram that counts makes the session ours.
static void begin(ph_client* client, const ph_session* session)
{
    if (!client->session.has_begun) {
        client->session = *session;
        ph_mirror_begin(&client->mirror, session->hello.slot_count);
    }
}

static void note(ph_session* session, uint32_t number, const ph_arrival* arrival)
{
    ph_receipt_note(&session->receipt, number, arrival->is_applied);
    ph_arrivals_note(&session->arrivals, number, arrival);
}

static void leave(ph_client* client, int slot)
{
    ph_events_leave(&client->events, &client->mirror, slot);
    ph_mirror_leave(&client->mirror, slot);
    ++client->counts.leaves;
}

static void apply_leave(ph_client* client, const ph_record* record)
{
    if (record->association != client->mirror.association[record->slot]) {
        ph_mirror_skip(&client->mirror, record->slot);
    } else if (ph_bitset_test(&client->mirror.is_entered, record->slot)) {
        leave(client, record->slot);
    }
}

static void apply_enter(ph_client* client, const ph_record* record)
{
    const int known = ph_mirror_find(&client->mirror, record->name);
    if (known >= 0 && known != record->slot) {
        leave(client, known); // surely left by the server; its leave got lost or comes later
    }
    const bool is_again = known == record->slot;
    const uint64_t properties = ph_mirror_enter(&client->mirror, record);
    if (is_again) {
        ph_events_update(&client->events, record->slot, properties);
        ++client->counts.updates;
    } else {
        ph_events_enter(&client->events, record->slot, properties);
        ph_display_enter(&client->display, record->slot);
        ++client->counts.enters;
    }
    ph_display_told(&client->display, &client->mirror, record, properties);
}

static void apply_update(ph_client* client, const ph_record* record)
{
    ph_mirror_update(&client->mirror, record);
    ph_events_update(&client->events, record->slot, record->properties);
    ph_display_told(&client->display, &client->mirror, record, record->properties);
    ++client->counts.updates;
}

// Leaves first: they make room for names.
static void apply_records(ph_client* client)
{
    const ph_draft* draft = &client->draft;
    for (int i = 0; i < draft->enter_first; ++i) {
        apply_leave(client, &draft->records[i]);
    }
    for (int i = draft->enter_first; i < draft->update_first; ++i) {
        apply_enter(client, &draft->records[i]);
    }
    for (int i = draft->update_first; i < draft->count; ++i) {
        apply_update(client, &draft->records[i]);
    }
}

// ---- the two kinds of datagrams

// A probe tells how far the server is; that number is heard of, and will never be applied. It is
// repeated until it is answered.
static ph_result take_probe(ph_client* client, const ph_session* session, const ph_header* header,
                            uint64_t now_us, ph_bit_reader* reader)
{
    if (ph_bit_reader_left_bits(reader) >= 8) {
        return refuse(client, PH_REFUSAL_SIZE);
    }
    if (ph_bit_reader_finish(reader) != PH_OK) {
        return refuse(client, PH_REFUSAL_RECORD);
    }
    begin(client, session);
    if (header->number != client->session.receipt.newest) {
        const ph_arrival arrival = {.time_us = now_us, .is_heard = true};
        note(&client->session, header->number, &arrival);
    }
    ++client->counts.probes;
    return PH_OK;
}

static ph_known_eye carried_eye(const ph_header* header)
{
    return (ph_known_eye){
        .mm = {header->eye_mm[0], header->eye_mm[1], header->eye_mm[2]},
        .is_known = header->has_eye,
    };
}

static void read_records(ph_client* client, const ph_session* session, const ph_header* header,
                         ph_bit_reader* reader)
{
    const ph_known_eye eye = header->has_eye ? carried_eye(header)
                                             : ph_arrivals_eye(&session->arrivals, header->horizon);
    const ph_draft_source source = {
        .header = header,
        .mirror = &client->mirror,
        .frame = {.layouts = &client->layouts,
                  .ground = &client->def.ground,
                  .slot_bits = session->slot_bits,
                  .eye_mm = {eye.mm[0], eye.mm[1], eye.mm[2]}},
        .slot_count = session->hello.slot_count,
        .is_eye_known = eye.is_known,
    };
    ph_draft_read(&client->draft, &source, reader);
}

static ph_result take_packet(ph_client* client, const ph_session* session, const ph_header* header,
                             uint64_t now_us, ph_bit_reader* reader)
{
    read_records(client, session, header, reader);
    if (ph_bit_reader_result(reader) != PH_OK) {
        return refuse_reader(client, reader);
    }
    begin(client, session);
    ph_session* ours = &client->session;
    const ph_arrival arrival = {
        .time_us = now_us,
        .tick = ph_arrivals_tick(&ours->arrivals, now_us, ours->hello.tick_us, header->tick),
        .eye = carried_eye(header),
        .is_heard = true,
        .is_applied = true,
    };
    const double rtt_us =
        ph_arrivals_measure(&ours->arrivals, now_us, header->horizon, header->wait);
    const int64_t server_us = (int64_t)arrival.tick * ours->hello.tick_us;
    ph_display_begin_packet(&client->display, now_us, server_us, rtt_us);
    note(ours, header->number, &arrival);
    ours->horizon = header->horizon;
    apply_records(client);
    client->counts.newest_number = header->number;
    ++client->counts.applied;
    return PH_OK;
}

// Behind the header, which suits the session.
static ph_result take(ph_client* client, const ph_session* session, const ph_header* header,
                      uint64_t now_us, ph_bit_reader* reader)
{
    const bool is_known_probe = header->is_probe && header->number == session->receipt.newest;
    const ph_news news = is_known_probe ? PH_NEWS_NEW : judge(session, header);
    if (news != PH_NEWS_NEW) {
        return refuse(client, news == PH_NEWS_OLD ? PH_REFUSAL_OLD : PH_REFUSAL_NUMBER);
    }
    return header->is_probe ? take_probe(client, session, header, now_us, reader)
                            : take_packet(client, session, header, now_us, reader);
}

ph_result ph_client_receive(ph_client* client, uint64_t now_us, const void* bytes, size_t size)
{
    count_datagram(client, now_us, size);
    if (size > PH_PAYLOAD_MAX) {
        return refuse(client, PH_REFUSAL_SIZE);
    }
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header header;
    ph_header_read(&reader, &header);
    if (ph_bit_reader_result(&reader) != PH_OK) {
        return refuse_reader(client, &reader);
    }
    if (header.has_hello && !is_hello_ours(client, &header.hello)) {
        return refuse(client, PH_REFUSAL_HELLO);
    }
    if (client->session.has_begun) {
        return take(client, &client->session, &header, now_us, &reader);
    }
    if (!header.has_hello) {
        return refuse(client, PH_REFUSAL_EARLY);
    }
    const ph_session session = make_session(&header.hello);
    return take(client, &session, &header, now_us, &reader);
}
