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

#include "client/apply.h"
#include "client/client_state.h"
#include "wire/coded_header.h"

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

// Bytes of either profile.
typedef struct input {
    ph_bit_reader classic;
    ph_entropy_reader coded;
    bool is_coded;
} input;

static input open_input(const ph_client* client, const void* bytes, size_t size)
{
    input opened = {.is_coded = client->def.profile == PH_PROFILE_PINHOLE};
    if (opened.is_coded) {
        ph_entropy_reader_init(&opened.coded, bytes, size);
    } else {
        opened.classic = ph_bit_reader_make(bytes, size);
    }
    return opened;
}

// Where its header and its result are.
static ph_bit_reader* raw_of(input* bytes)
{
    return bytes->is_coded ? &bytes->coded.raw : &bytes->classic;
}

// Why a reader failed.
static ph_result refuse_input(ph_client* client, input* bytes)
{
    const bool is_short = ph_bit_reader_result(raw_of(bytes)) == PH_ERROR_END;
    return refuse(client, is_short ? PH_REFUSAL_SIZE : PH_REFUSAL_RECORD);
}

// ---- the header

// A session begins with the first hello that suits us and says the same in every later one.
static bool is_hello_ours(const ph_client* client, const ph_hello* hello)
{
    const ph_hello* first = &client->session.hello;
    const bool is_coded = client->def.profile == PH_PROFILE_PINHOLE;
    const bool is_version_ours =
        is_coded ? ph_coded_is_version(hello->version) : hello->version == PH_CLASSIC_VERSION;
    if (!is_version_ours || hello->fingerprint != ph_schema_fingerprint(client->def.schema) ||
        hello->slot_count > client->def.slot_capacity) {
        return false;
    }
    return !client->session.has_begun ||
           (hello->version == first->version && hello->session == first->session &&
            hello->tick_us == first->tick_us && hello->slot_count == first->slot_count &&
            hello->precision == first->precision);
}

static ph_session make_session(const ph_hello* hello)
{
    return (ph_session){
        .has_begun = true,
        .hello = *hello,
        .slot_bits = ph_classic_slot_bits(hello->slot_count),
        .horizon = hello->session,
        .arrivals = ph_arrivals_make(hello->session),
    };
}

// Whether the number is news, and stands where this server can be.
static ph_news judge(const ph_session* session, const ph_header* header)
{
    // Of a probe no horizon is asked for: it may have been sent long ago.
    const uint32_t horizon = header->is_probe ? header->number : header->horizon;
    const ph_news news = ph_receipt_judge(&session->arrivals.receipt, header->number, horizon);
    const bool is_behind = ph_number_is_ahead(session->horizon, horizon);
    return news == PH_NEWS_NEW && is_behind ? PH_NEWS_IMPOSSIBLE : news;
}

// ---- what counts

// The first datagram that counts makes the session ours.
static void begin(ph_client* client, const ph_session* session)
{
    if (client->session.has_begun) {
        return;
    }
    const uint32_t tick_us = session->hello.tick_us;
    client->session = *session;
    ph_mirror_begin(&client->mirror, session->hello.slot_count);
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        ph_horizon_begin(&client->horizon, tick_us);
        ph_display_begin_coded(&client->display,
                               (int64_t)ph_baseline_velocity_ticks(tick_us) * tick_us);
    }
}

static ph_known_eye carried_eye(const ph_header* header)
{
    return (ph_known_eye){
        .mm = {header->eye_mm[0], header->eye_mm[1], header->eye_mm[2]},
        .is_known = header->has_eye,
    };
}

static int64_t server_us_of(uint64_t tick, uint32_t tick_us)
{
    const uint64_t most_us = (uint64_t)PH_MOMENT_US_MAX;
    return (int64_t)(tick <= most_us / tick_us ? tick * tick_us : most_us);
}

// The draft was read and is right. The clock learns first, because what is shown hangs on it.
static void apply(ph_client* client, const ph_header* header, uint64_t now_us, uint64_t tick)
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
        ph_arrivals_measure(&session->arrivals, now_us, header->horizon, header->wait);
    const int64_t server_us = server_us_of(tick, session->hello.tick_us);
    ph_display_begin_packet(&client->display, now_us, server_us, rtt_us);
    ph_arrivals_note(&session->arrivals, header->number, &arrival);
    session->horizon = header->horizon;
    ph_client_apply(client);
    client->counts.newest_number = header->number;
    ++client->counts.applied;
}

// ---- the kinds of datagrams

static ph_result finish_probe(input* bytes)
{
    if (bytes->is_coded) {
        return ph_entropy_reader_finish(&bytes->coded);
    }
    if (ph_bit_reader_left_bits(&bytes->classic) >= 8) {
        ph_bit_reader_fail(&bytes->classic, PH_ERROR_END); // longer than it is
    }
    return ph_bit_reader_finish(&bytes->classic);
}

// A probe tells how far the server is; that number is heard of, and will never be applied. It is
// repeated until it is answered.
static ph_result take_probe(ph_client* client, const ph_session* session, const ph_header* header,
                            uint64_t now_us, input* bytes)
{
    if (finish_probe(bytes) != PH_OK) {
        return refuse_input(client, bytes);
    }
    begin(client, session);
    ph_arrivals* arrivals = &client->session.arrivals;
    if (header->number == arrivals->receipt.newest) {
        ph_arrivals_note_again(arrivals);
    } else {
        const ph_arrival arrival = {.time_us = now_us, .is_heard = true};
        ph_arrivals_note(arrivals, header->number, &arrival);
    }
    ++client->counts.probes;
    return PH_OK;
}

static ph_draft_source source_of(const ph_client* client, const ph_session* session,
                                 const ph_header* header)
{
    const ph_known_eye eye = header->has_eye ? carried_eye(header)
                                             : ph_arrivals_eye(&session->arrivals, header->horizon);
    return (ph_draft_source){
        .header = header,
        .mirror = &client->mirror,
        .frame = {.layouts = &client->layouts,
                  .ground = &client->def.ground,
                  .slot_bits = session->slot_bits,
                  .eye_mm = {eye.mm[0], eye.mm[1], eye.mm[2]}},
        .slot_count = session->hello.slot_count,
        .is_eye_known = eye.is_known,
    };
}

static ph_result take_classic(ph_client* client, const ph_session* session, const ph_header* header,
                              uint64_t now_us, input* bytes)
{
    const ph_draft_source source = source_of(client, session, header);
    ph_draft_read(&client->draft, &source, &bytes->classic);
    if (ph_bit_reader_result(&bytes->classic) != PH_OK) {
        return refuse_input(client, bytes);
    }
    begin(client, session);
    const uint64_t tick =
        ph_arrivals_tick(&session->arrivals, now_us, session->hello.tick_us, header->tick);
    apply(client, header, now_us, tick);
    return PH_OK;
}

// Against the baselines of the horizon that the packet states.
static void read_coded(ph_client* client, const ph_session* session, const ph_header* header,
                       uint32_t tick, ph_entropy_reader* reader)
{
    const ph_draft_source source = source_of(client, session, header);
    const ph_coded_source from = {
        .source = source,
        .frame = {.frame = source.frame,
                  .packings = client->horizon.packings,
                  .name_base = client->horizon.name_base,
                  .tick = tick,
                  .tick_us = session->hello.tick_us,
                  .density = header->density,
                  .precision = session->hello.precision,
                  .is_universal = session->hello.version == PH_UNIVERSAL_VERSION},
        .horizon = &client->horizon,
    };
    ph_draft_read_coded(&client->draft, &from, reader);
}

static ph_result take_coded(ph_client* client, const ph_session* session, const ph_header* header,
                            uint64_t now_us, input* bytes)
{
    uint64_t tick;
    if (!ph_arrivals_try_coded_tick(&session->arrivals, header, &tick)) {
        return refuse(client, PH_REFUSAL_NUMBER);
    }
    ph_horizon* horizon = &client->horizon;
    const ph_draft* draft = &client->draft;
    ph_horizon_move(horizon, header->horizon);
    read_coded(client, session, header, (uint32_t)tick, &bytes->coded);
    if (ph_entropy_reader_result(&bytes->coded) != PH_OK ||
        !ph_horizon_has_room(horizon, draft->records, draft->count)) {
        ph_horizon_restore(horizon);
        return refuse_input(client, bytes);
    }
    begin(client, session);
    ph_horizon_settle(horizon);
    ph_horizon_note(horizon, header->number, (uint32_t)tick, draft->records, draft->count);
    apply(client, header, now_us, tick);
    return PH_OK;
}

// Behind the header, which suits the session.
static ph_result take(ph_client* client, const ph_session* session, const ph_header* header,
                      uint64_t now_us, input* bytes)
{
    const bool is_known_probe =
        header->is_probe && header->number == session->arrivals.receipt.newest;
    const ph_news news = is_known_probe ? PH_NEWS_NEW : judge(session, header);
    if (news != PH_NEWS_NEW) {
        return refuse(client, news == PH_NEWS_OLD ? PH_REFUSAL_OLD : PH_REFUSAL_NUMBER);
    }
    if (header->is_probe) {
        return take_probe(client, session, header, now_us, bytes);
    }
    return bytes->is_coded ? take_coded(client, session, header, now_us, bytes)
                           : take_classic(client, session, header, now_us, bytes);
}

// A coded number is short: the rest follows from the newest that we have heard of.
static void read_header(const ph_client* client, input* bytes, ph_header* header)
{
    if (bytes->is_coded) {
        ph_coded_header_read(&bytes->coded.raw, client->session.arrivals.receipt.newest, header);
    } else {
        ph_header_read(&bytes->classic, header);
    }
}

ph_result ph_client_receive(ph_client* client, uint64_t now_us, const void* bytes, size_t size)
{
    now_us = ph_client_clamp_us(now_us);
    count_datagram(client, now_us, size);
    if (size > PH_PAYLOAD_MAX) {
        return refuse(client, PH_REFUSAL_SIZE);
    }
    input in = open_input(client, bytes, size);
    ph_header header;
    read_header(client, &in, &header);
    if (ph_bit_reader_result(raw_of(&in)) != PH_OK) {
        return refuse_input(client, &in);
    }
    if (header.has_hello && !is_hello_ours(client, &header.hello)) {
        return refuse(client, PH_REFUSAL_HELLO);
    }
    if (client->session.has_begun) {
        return take(client, &client->session, &header, now_us, &in);
    }
    if (!header.has_hello) {
        return refuse(client, PH_REFUSAL_EARLY);
    }
    const ph_session session = make_session(&header.hello);
    return take(client, &session, &header, now_us, &in);
}
