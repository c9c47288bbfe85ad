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
#define TICK_PERIOD (UINT32_C(1) << PH_TICK_BITS)

// An ack may get lost, and the next one leaves with the next packet: where that is a second away, it
// is sent once more, after REACK_US. Packets that came sooner than RARE_US after the one before them
// are followed by others soon enough.
#define REACK_US 50000u
#define RARE_US 300000u

// ---- which packets came

static ph_arrival* arrival_at(ph_arrivals* arrivals, uint32_t sequence)
{
    return &arrivals->ring[sequence % PH_FLIGHT_MAX];
}

// Neither ahead of the newest nor further back than the ring.
static bool is_in_ring(const ph_arrivals* arrivals, uint32_t sequence)
{
    return arrivals->receipt.newest - sequence < PH_FLIGHT_MAX;
}

void ph_arrivals_init(ph_arrivals* arrivals, uint32_t session)
{
    memset(arrivals, 0, sizeof *arrivals);
    arrivals->receipt = ph_receipt_make(session);
}

ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon)
{
    for (uint32_t sequence = horizon; is_in_ring(arrivals, sequence); --sequence) {
        const ph_arrival* arrival = &arrivals->ring[sequence % PH_FLIGHT_MAX];
        if (arrival->eye.is_known) {
            return arrival->eye;
        }
    }
    return arrivals->older_eye;
}

uint64_t ph_arrivals_classic_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                                  uint16_t low_bits)
{
    if (!arrivals->last.is_applied) {
        return low_bits;
    }
    const uint64_t since_us = now_us > arrivals->last.time_us ? now_us - arrivals->last.time_us : 0;
    const uint64_t passed = since_us / tick_us;
    // Half a period back and half a period on, if that is not before the last one.
    const uint64_t earliest =
        arrivals->last.tick + (passed > TICK_PERIOD / 2 ? passed - TICK_PERIOD / 2 : 0);
    return earliest + ((low_bits - earliest) & (TICK_PERIOD - 1));
}

// @return False when nothing was applied at or before the horizon.
static bool try_tick_at(const ph_arrivals* arrivals, uint32_t horizon, uint64_t* tick)
{
    for (uint32_t sequence = horizon; is_in_ring(arrivals, sequence); --sequence) {
        const ph_arrival* arrival = &arrivals->ring[sequence % PH_FLIGHT_MAX];
        if (arrival->is_applied) {
            *tick = arrival->tick;
            return true;
        }
    }
    *tick = arrivals->older_tick;
    return arrivals->has_older_tick;
}

bool ph_arrivals_try_pinhole_tick(const ph_arrivals* arrivals, const ph_header* header,
                                  uint64_t* tick)
{
    uint64_t base = 0;
    const bool has_base = try_tick_at(arrivals, header->horizon, &base);
    const bool is_whole = header->tick == PH_PINHOLE_TICK_WHOLE;
    if (!has_base && !is_whole) {
        return false;
    }
    const uint32_t low = is_whole ? header->whole_tick : (uint32_t)base + header->tick;
    const bool is_needless = has_base && is_whole && low - (uint32_t)base < PH_PINHOLE_TICK_WHOLE;
    const ph_arrival* last = &arrivals->last;
    const uint32_t passed = low - (uint32_t)last->tick;
    *tick = last->is_applied ? last->tick + passed : low;
    return !is_needless && !(last->is_applied && passed > (uint32_t)INT32_MAX);
}

void ph_arrivals_add(ph_arrivals* arrivals, uint32_t sequence, const ph_arrival* arrival)
{
    const uint32_t newest = arrivals->receipt.newest;
    PH_ASSERT(sequence - newest - 1 < PH_FLIGHT_MAX);

    for (uint32_t next = newest + 1; next != sequence + 1; ++next) {
        ph_arrival* oldest = arrival_at(arrivals, next);
        if (oldest->eye.is_known) {
            arrivals->older_eye = oldest->eye;
        }
        if (oldest->is_applied) {
            arrivals->older_tick = oldest->tick;
            arrivals->has_older_tick = true;
        }
        *oldest = (ph_arrival){0};
    }
    const bool is_first = arrivals->sequence_count == 0;
    ph_arrival* noted = arrival_at(arrivals, sequence);
    *noted = *arrival;
    noted->is_rare = is_first || arrival->time_us >= arrivals->heard_us + RARE_US;
    arrivals->heard_us = arrival->time_us;
    arrivals->sequence_count += sequence - newest;
    ph_receipt_note(&arrivals->receipt, sequence, arrival->is_applied);
    if (arrival->is_applied) {
        arrivals->last = *arrival;
    }
}

void ph_arrivals_add_again(ph_arrivals* arrivals)
{
    ph_arrival* newest = arrival_at(arrivals, arrivals->receipt.newest);
    newest->is_probed_again = newest->is_acked;
    newest->is_reacked = false;
}

static uint8_t lag_of(const ph_arrival* arrival, uint64_t now_us)
{
    const uint64_t lag_us = now_us > arrival->acked_us ? now_us - arrival->acked_us : 0;
    const uint64_t lag_ms = (lag_us + 500) / 1000;
    return (uint8_t)(lag_ms < PH_ACK_LAG_UNKNOWN ? lag_ms : PH_ACK_LAG_UNKNOWN);
}

uint8_t ph_arrivals_ack(ph_arrivals* arrivals, uint64_t now_us)
{
    ph_arrival* newest = arrival_at(arrivals, arrivals->receipt.newest);
    if (!newest->is_heard) {
        return 0;
    }
    newest->is_reacked = newest->is_acked;
    if (!newest->is_acked) {
        newest->acked_us = now_us;
        newest->is_acked = true;
    }
    return lag_of(newest, now_us);
}

uint64_t ph_arrivals_ack_due_us(const ph_arrivals* arrivals)
{
    const ph_arrival* newest = &arrivals->ring[arrivals->receipt.newest % PH_FLIGHT_MAX];
    if (!newest->is_heard || newest->is_reacked) {
        return UINT64_MAX;
    }
    if (!newest->is_acked || newest->is_probed_again) {
        return newest->time_us;
    }
    return newest->is_rare ? newest->acked_us + REACK_US : UINT64_MAX;
}

double ph_arrivals_rtt_us(const ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon,
                          uint8_t wait)
{
    const ph_arrival* acked = &arrivals->ring[horizon % PH_FLIGHT_MAX];
    if (wait == PH_WAIT_UNKNOWN || !is_in_ring(arrivals, horizon) || !acked->is_acked ||
        acked->is_probed_again || now_us < acked->acked_us) {
        return PH_CLOCK_NO_RTT;
    }
    // The wait is cut to whole units: on average half of one was lost.
    const double waited_us = (wait + 0.5) * PH_WAIT_UNIT_US;
    const double rtt_us = (double)(now_us - acked->acked_us) - waited_us;
    return rtt_us > 1.0 ? rtt_us : 1.0;
}

bool ph_arrivals_validate(const ph_arrivals* arrivals)
{
    for (int i = 0; i < PH_FLIGHT_MAX; ++i) {
        const ph_arrival* arrival = &arrivals->ring[i];
        if ((arrival->is_applied && !arrival->is_heard) ||
            (arrival->is_acked && !arrival->is_heard) ||
            (arrival->is_probed_again && !arrival->is_acked) ||
            (arrival->is_reacked && !arrival->is_acked) ||
            (arrival->is_rare && !arrival->is_heard) ||
            (arrival->eye.is_known && !arrival->is_applied)) {
            return false;
        }
    }
    return true;
}

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

// The clock learns first, because what is shown depends on it. Leaves before enters: they make room
// for keys.
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
    ph_display_begin_packet(&client->display, now_us, server_us, rtt_us);
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

ph_result ph_client_receive(ph_client* client, uint64_t now_us, const void* bytes, size_t size)
{
    datagram in = {.now_us = ph_clock_clamp_us(now_us)};
    count_bytes(client, in.now_us, size);
    if (size > PH_PAYLOAD_MAX) {
        return refuse(client, PH_CLIENT_REFUSAL_SIZE);
    }
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
    if (news != PH_NEWS_NEW) {
        return refuse(client,
                      news == PH_NEWS_OLD ? PH_CLIENT_REFUSAL_OLD : PH_CLIENT_REFUSAL_SEQUENCE);
    }
    if (header->is_probe) {
        return receive_probe(client, session, &in);
    }
    return in.is_pinhole ? receive_pinhole(client, session, &in)
                         : receive_classic(client, session, &in);
}
