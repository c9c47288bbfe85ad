// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One datagram, from its bytes to what the client has: header, session, decode, apply. Everything is
// read and checked first, on the side; only then does it take effect, as a whole. A few times a
// second; apply runs a few dozen times per packet.
//
// A refused datagram leaves no trace but a count, its sequence included. So an attacker that can only
// guess (authentication is the transport's) cannot make us miss real packets by sequences that the
// server has not used yet; the real packet of that sequence is still applied. The promise of an ack is
// kept: it is about sequences up to the newest, and those are never applied later. A server whose
// packets are all refused is not stuck either: when too many are not acked it sends probes, whose
// sequences count, and all it has in flight is resolved as lost.

#include "client/client_state.h"

#include <string.h>

#define SECOND_US UINT64_C(1000000)

// ---- apply: the records of a decoded packet take effect; they cannot fail any more

static void leave_slot(ph_client* client, int slot)
{
    ph_events_leave(&client->events, &client->entities, slot);
    ph_client_entities_leave(&client->entities, slot);
    ++client->counts.applied_leaves;
}

static void apply_leave(ph_client* client, const ph_record* record)
{
    if (record->association != client->entities.association[record->slot]) {
        ph_client_entities_skip(&client->entities, record->slot);
    } else if (ph_bitset_test(&client->entities.is_entered, record->slot)) {
        leave_slot(client, record->slot);
    }
}

static void apply_enter(ph_client* client, const ph_record* record)
{
    const int known = ph_client_entities_find(&client->entities, record->key);
    if (known >= 0 && known != record->slot) {
        leave_slot(client, known); // the server has left it; that record got lost or comes later
    }
    const bool is_again = known == record->slot;
    const uint64_t properties = ph_client_entities_enter(&client->entities, record);
    if (is_again) {
        ph_events_update(&client->events, record->slot, properties);
        ++client->counts.applied_updates;
    } else {
        ph_events_enter(&client->events, record->slot, properties);
        ph_display_enter(&client->display, record->slot);
        ++client->counts.applied_enters;
    }
    ph_display_update(&client->display, &client->entities, record, properties);
    if (!is_again && client->former != NULL) {
        ph_client_inherit(client, record->slot);
    }
}

static void apply_update(ph_client* client, const ph_record* record)
{
    ph_client_entities_update(&client->entities, record);
    ph_events_update(&client->events, record->slot, record->properties);
    ph_display_update(&client->display, &client->entities, record, record->properties);
    ++client->counts.applied_updates;
}

static int64_t server_us_of(uint64_t tick, uint32_t tick_us)
{
    const uint64_t most_us = (uint64_t)PH_TIME_US_MAX;
    return (int64_t)(tick <= most_us / tick_us ? tick * tick_us : most_us);
}

static ph_known_eye carried_eye(const ph_header* header)
{
    return (ph_known_eye){
        .mm = {header->eye_mm[0], header->eye_mm[1], header->eye_mm[2]},
        .is_known = header->has_eye,
    };
}

// The clock learns first, because what is shown depends on it; not from a packet that was overtaken: the
// server does not hear of acks that were, so it would take one way for longer than the other. Leaves
// before enters: they make room for keys.
static void apply_packet(ph_client* client, const ph_header* header, uint64_t now_us, uint64_t tick)
{
    ph_session* session = &client->session;
    const ph_arrival arrival = {
        .time_us = now_us,
        .tick = tick,
        .eye = carried_eye(header),
        .is_heard = true,
        .is_applied = true,
    };
    const double rtt_us =
        ph_arrivals_rtt_us(&session->arrivals, now_us, header->horizon, header->wait);
    const int64_t server_us = server_us_of(tick, session->hello.tick_us);
    if (!ph_reorder_is_overtaken(&client->reorder, header->sequence, now_us)) {
        ph_clock_add(&client->display.clock, now_us, (double)server_us, rtt_us);
    }
    ph_display_begin_packet(&client->display, server_us);
    ph_arrivals_add(&session->arrivals, header->sequence, &arrival);
    session->horizon = header->horizon;
    const ph_decoded_packet* decoded = &client->decoded;
    for (int i = 0; i < decoded->enter_first; ++i) {
        apply_leave(client, &decoded->records[i]);
    }
    for (int i = decoded->enter_first; i < decoded->update_first; ++i) {
        apply_enter(client, &decoded->records[i]);
    }
    for (int i = decoded->update_first; i < decoded->count; ++i) {
        apply_update(client, &decoded->records[i]);
    }
    if (client->former != NULL) {
        ph_client_note_packet(client, now_us, decoded->enter_first < decoded->update_first);
    }
    client->counts.newest_sequence = header->sequence;
    ++client->counts.applied_packets;
}

// ---- one datagram

typedef struct datagram {
    uint64_t now_us;
    ph_header header;
    ph_bit_reader classic;
    ph_entropy_reader coded; // pinhole profile
    ph_bit_reader* raw;      // of the profile's reader: where the header and the result are
    bool is_pinhole;
} datagram;

static void count_bytes(ph_client* client, uint64_t now_us, size_t size)
{
    const uint64_t second = now_us / SECOND_US;
    ph_receive_rate* rate = &client->rate;
    if (second != rate->second) {
        rate->last_bytes = second == rate->second + 1 ? rate->bytes : 0;
        rate->second = second;
        rate->bytes = 0;
    }
    rate->bytes += size;
    ++client->counts.received_datagrams;
    client->counts.received_bytes += size;
}

static ph_result refuse(ph_client* client, ph_client_refusal reason)
{
    ++client->counts.refused_datagrams[reason];
    switch (reason) {
    case PH_CLIENT_REFUSAL_OLD:
    case PH_CLIENT_REFUSAL_EARLY:
        return PH_ERROR_STALE;
    case PH_CLIENT_REFUSAL_HELLO:
        return PH_ERROR_SCHEMA;
    default:
        return PH_ERROR_VALUE;
    }
}

static ph_result refuse_bytes(ph_client* client, const datagram* in)
{
    const bool is_short = ph_bit_reader_result(in->raw) == PH_ERROR_END;
    return refuse(client, is_short ? PH_CLIENT_REFUSAL_SIZE : PH_CLIENT_REFUSAL_RECORD);
}

// A session begins with the first hello that suits us; every later one must say the same.
static bool is_hello_ours(const ph_client* client, const ph_hello* hello)
{
    const ph_hello* first = &client->session.hello;
    const bool is_version_ours = client->def.profile == PH_PROFILE_PINHOLE
                                     ? ph_pinhole_is_version(hello->version)
                                     : hello->version == PH_CLASSIC_VERSION;
    if (!is_version_ours || hello->fingerprint != ph_schema_fingerprint(client->def.schema) ||
        hello->slot_count > client->def.slot_capacity) {
        return false;
    }
    return !client->session.has_begun ||
           (hello->version == first->version && hello->session == first->session &&
            hello->tick_us == first->tick_us && hello->slot_count == first->slot_count &&
            hello->precision == first->precision);
}

static void init_session(ph_session* session, const ph_hello* hello)
{
    session->has_begun = true;
    session->hello = *hello;
    session->slot_bits = ph_slot_bits(hello->slot_count);
    session->horizon = hello->session;
    ph_arrivals_init(&session->arrivals, hello->session);
}

// The first datagram that is not refused makes the session ours.
static void begin_session(ph_client* client, const ph_session* session)
{
    if (client->session.has_begun) {
        return;
    }
    const uint32_t tick_us = session->hello.tick_us;
    client->session = *session;
    ph_client_entities_begin(&client->entities, session->hello.slot_count);
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        client->baselines.rules.tick_us = tick_us;
        ph_display_begin_pinhole(&client->display,
                                 (int64_t)ph_baseline_velocity_ticks(tick_us) * tick_us);
    }
}

static void take_first_held(ph_client* client);

// A probe says how far the server is; its sequence counts, and is never applied. The server repeats it
// until it is acked.
static ph_result receive_probe(ph_client* client, const ph_session* session, datagram* in)
{
    if (in->is_pinhole) {
        ph_entropy_reader_finish(&in->coded);
    } else if (ph_bit_reader_left_bits(in->raw) >= 8) {
        ph_bit_reader_fail(in->raw, PH_ERROR_END); // longer than a probe is
    } else {
        ph_bit_reader_finish(in->raw);
    }
    if (ph_bit_reader_result(in->raw) != PH_OK) {
        return refuse_bytes(client, in);
    }
    begin_session(client, session);
    while (client->reorder.count > 0 &&
           !ph_sequence_is_ahead(client->reorder.held[0].sequence, in->header.sequence)) {
        take_first_held(client); // what the probe passes over is applied now or never
    }
    ph_arrivals* arrivals = &client->session.arrivals;
    if (in->header.sequence == arrivals->receipt.newest) {
        ph_arrivals_add_again(arrivals);
    } else {
        const ph_arrival arrival = {.time_us = in->now_us, .is_heard = true};
        ph_arrivals_add(arrivals, in->header.sequence, &arrival);
    }
    ++client->counts.received_probes;
    return PH_OK;
}

// A packet is decoded against what the client has before it: its entities, the eye and, in the pinhole
// profile, the baselines at the horizon that the packet states.
static ph_decode_source source_of(const ph_client* client, const ph_session* session,
                                  const ph_header* header, uint64_t tick)
{
    const ph_known_eye eye = header->has_eye ? carried_eye(header)
                                             : ph_arrivals_eye(&session->arrivals, header->horizon);
    return (ph_decode_source){
        .header = header,
        .entities = &client->entities,
        .baselines = &client->baselines,
        .frame = {.frame = {.layouts = &client->layouts,
                            .ground = &client->def.ground,
                            .slot_bits = session->slot_bits,
                            .eye_mm = {eye.mm[0], eye.mm[1], eye.mm[2]}},
                  .packings = client->baselines.packings,
                  .key_base = client->baselines.key_base,
                  .tick = (uint32_t)tick,
                  .tick_us = session->hello.tick_us,
                  .density = header->density,
                  .precision = session->hello.precision,
                  .is_universal = session->hello.version == PH_UNIVERSAL_VERSION},
        .slot_count = session->hello.slot_count,
        .is_eye_known = eye.is_known,
    };
}

static ph_result receive_classic(ph_client* client, const ph_session* session, datagram* in)
{
    const ph_header* header = &in->header;
    const uint64_t tick = ph_arrivals_classic_tick(&session->arrivals, in->now_us,
                                                   session->hello.tick_us, header->tick);
    const ph_decode_source source = source_of(client, session, header, tick);
    if (!ph_decode_classic(&client->decoded, &source, &in->classic)) {
        return refuse_bytes(client, in);
    }
    begin_session(client, session);
    apply_packet(client, header, in->now_us, tick);
    return PH_OK;
}

static ph_result receive_pinhole(ph_client* client, const ph_session* session, datagram* in)
{
    const ph_header* header = &in->header;
    uint64_t tick;
    if (!ph_arrivals_try_pinhole_tick(&session->arrivals, header, &tick)) {
        return refuse(client, PH_CLIENT_REFUSAL_SEQUENCE);
    }
    ph_client_baselines* baselines = &client->baselines;
    ph_client_baselines_advance(baselines, header->horizon);
    const ph_decode_source source = source_of(client, session, header, tick);
    const ph_decoded_packet* decoded = &client->decoded;
    if (!ph_decode_pinhole(&client->decoded, &source, &in->coded) ||
        !ph_client_baselines_has_room(baselines, decoded->records, decoded->count)) {
        ph_client_baselines_roll_back(baselines);
        return refuse_bytes(client, in);
    }
    begin_session(client, session);
    ph_client_baselines_commit(baselines);
    ph_client_baselines_add(baselines, header->sequence, (uint32_t)tick, decoded->records,
                            decoded->count);
    apply_packet(client, header, in->now_us, tick);
    return PH_OK;
}

// Whether the sequence is new, and can be this server's; or the newest probe again.
static ph_news judge_sequence(const ph_session* session, const ph_header* header)
{
    const ph_receipt* receipt = &session->arrivals.receipt;
    if (header->is_probe && header->sequence == receipt->newest) {
        return PH_NEWS_NEW;
    }
    // A probe has no horizon: it may have been sent long ago.
    const uint32_t horizon = header->is_probe ? header->sequence : header->horizon;
    const ph_news news = ph_receipt_judge(receipt, header->sequence, horizon);
    const bool is_behind = ph_sequence_is_ahead(session->horizon, horizon);
    return news == PH_NEWS_NEW && is_behind ? PH_NEWS_IMPOSSIBLE : news;
}

static void open_datagram(const ph_client* client, const void* bytes, size_t size, datagram* in)
{
    in->is_pinhole = client->def.profile == PH_PROFILE_PINHOLE;
    if (in->is_pinhole) {
        in->raw = &in->coded.raw;
        ph_entropy_reader_init(&in->coded, bytes, size);
        ph_pinhole_header_read(in->raw, client->session.arrivals.receipt.newest, &in->header);
    } else {
        in->raw = &in->classic;
        in->classic = ph_bit_reader_make(bytes, size);
        ph_header_read(in->raw, &in->header);
    }
}

// ---- packets out of order

// A new packet: whether it is put aside, because one before it may still come. When there is no room,
// the oldest of all has its turn, be it this one. If that makes it this one's turn, too, it is put aside
// all the same: ph_client_receive() takes it at once, and judges it behind those that were applied.
static bool is_held_back(ph_client* client, const datagram* in, const void* bytes, size_t size)
{
    const uint32_t sequence = in->header.sequence;
    const uint32_t newest = client->session.arrivals.receipt.newest;
    ph_reorder* reorder = &client->reorder;
    const ph_held_packet* newer = ph_reorder_newer(reorder, sequence);
    if (newer != NULL) {
        ph_reorder_learn_late(reorder, in->now_us - newer->came_us);
    }
    if (reorder->trust == 0 || !client->session.has_begun || sequence == newest + 1) {
        return false;
    }
    if (reorder->count == PH_REORDER_MAX) {
        if (newer == &reorder->held[0]) {
            return false;
        }
        take_first_held(client);
        ph_client_release_held(client, 0);
    }
    ph_reorder_hold(reorder, sequence, in->now_us, bytes, size);
    return true;
}

// can_wait: the packet may be held back; else it is the turn of one that was.
static ph_result take_datagram(ph_client* client, uint64_t now_us, const void* bytes, size_t size,
                               bool can_wait)
{
    datagram in = {.now_us = now_us};
    open_datagram(client, bytes, size, &in);
    if (ph_bit_reader_result(in.raw) != PH_OK) {
        return refuse_bytes(client, &in);
    }
    const ph_header* header = &in.header;
    if (header->has_hello && !is_hello_ours(client, &header->hello)) {
        return refuse(client, PH_CLIENT_REFUSAL_HELLO);
    }
    if (!client->session.has_begun) {
        if (!header->has_hello) {
            return refuse(client, PH_CLIENT_REFUSAL_EARLY);
        }
        init_session(&client->candidate, &header->hello);
    }
    const ph_session* session = client->session.has_begun ? &client->session : &client->candidate;
    const ph_news news = judge_sequence(session, header);
    if (news == PH_NEWS_OLD) {
        uint64_t late_us;
        if (ph_arrivals_is_late(&session->arrivals, header->sequence, now_us, &late_us)) {
            ph_reorder_learn_late(&client->reorder, late_us);
        }
        return refuse(client, PH_CLIENT_REFUSAL_OLD);
    }
    if (news != PH_NEWS_NEW) {
        return refuse(client, PH_CLIENT_REFUSAL_SEQUENCE);
    }
    if (header->is_probe) {
        return receive_probe(client, session, &in);
    }
    if (can_wait && is_held_back(client, &in, bytes, size)) {
        return PH_OK;
    }
    return in.is_pinhole ? receive_pinhole(client, session, &in)
                         : receive_classic(client, session, &in);
}

static void take_first_held(ph_client* client)
{
    ph_reorder* reorder = &client->reorder;
    const ph_held_packet* held = &reorder->held[0];
    const bool is_gap =
        ph_sequence_is_ahead(held->sequence, client->session.arrivals.receipt.newest + 1);
    take_datagram(client, held->came_us, held->bytes, held->size, false);
    ph_reorder_remove_first(reorder, is_gap);
}

void ph_client_release_held(ph_client* client, uint64_t now_us)
{
    while (ph_reorder_is_next(&client->reorder, client->session.arrivals.receipt.newest, now_us)) {
        take_first_held(client);
    }
}

ph_result ph_client_receive(ph_client* client, uint64_t now_us, const void* bytes, size_t size)
{
    const uint64_t then_us = ph_clock_clamp_us(now_us);
    count_bytes(client, then_us, size);
    if (size > PH_PAYLOAD_MAX) {
        return refuse(client, PH_CLIENT_REFUSAL_SIZE);
    }
    const ph_result result = take_datagram(client, then_us, bytes, size, true);
    ph_client_release_held(client, 0);
    return result;
}
