// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the reference implementation of netcode 1.02 said to itself (test/data/netcode/), replayed: our
// packets are its packets, our client follows its server, our server takes its client. Sequence numbers
// are each side's own, so sizes are compared without them.

#include "netcode_stage.h"
#include "netcode_transcript.h"

#include "net/net_tools.h"
#include "net/netcode_bytes.h"
#include "net/netcode_packet.h"
#include "net/netcode_private.h"

#include <string.h>

// What each file has, so that a reader that skips something is noticed.
typedef struct expected_counts {
    const char* name;
    int datagrams_up;
    int datagrams_down; // to our client
    int payloads_up;
    int payloads_got_down;
    int states;
} expected_counts;

static const expected_counts FILES[] = {
    {"ipv4_client_leaves", 191, 182, 150, 150, 4}, {"ipv6_server_stops", 181, 192, 150, 150, 4},
    {"idle_keep_alives", 160, 156, 0, 0, 4},       {"server_full", 1, 1, 0, 0, 2},
    {"first_server_dead", 206, 153, 150, 149, 5},
};

enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

static void for_each(void (*test)(const transcript* it))
{
    for (int i = 0; i < FILE_COUNT; ++i) {
        transcript* it = transcript_load(FILES[i].name);
        test(it);
        transcript_unload(it);
    }
}

// ---- packets

static void the_files_are_whole(void** state)
{
    (void)state;
    for (int i = 0; i < FILE_COUNT; ++i) {
        transcript* it = transcript_load(FILES[i].name);
        int down = 0;
        for (int j = 0; j < it->line_count; ++j) {
            down += transcript_is_of_client(it, &it->lines[j]) && !it->lines[j].is_up;
        }
        assert_int_equal(transcript_count(it, TRANSCRIPT_DATAGRAM, true), FILES[i].datagrams_up);
        assert_int_equal(down, FILES[i].datagrams_down);
        assert_int_equal(transcript_count(it, TRANSCRIPT_SEND, true), FILES[i].payloads_up);
        assert_int_equal(transcript_count(it, TRANSCRIPT_SEND, false), FILES[i].payloads_up);
        assert_int_equal(transcript_count(it, TRANSCRIPT_GOT, false), FILES[i].payloads_got_down);
        assert_int_equal(transcript_count(it, TRANSCRIPT_STATE, false), FILES[i].states);
        transcript_unload(it);
    }
}

static ph_netcode_lock lock_of(const transcript* it, bool is_up)
{
    return (ph_netcode_lock){
        .protocol_id = it->protocol_id,
        .key =
            is_up ? it->token.secrets.client_to_server_key : it->token.secrets.server_to_client_key,
    };
}

// A copy, opened in place.
typedef struct opened_packet {
    ph_netcode_type type;
    uint64_t sequence;
    size_t data_size;
    uint8_t data[PH_NETCODE_PAYLOAD_MAX];
} opened_packet;

static opened_packet open_datagram(const transcript* it, bool is_up, const uint8_t* bytes,
                                   size_t size, ph_netcode_replay* replay)
{
    opened_packet packet = {.type = PH_NETCODE_REQUEST, .data_size = size};
    if (bytes[0] == PH_NETCODE_REQUEST) {
        assert_int_equal(size, PH_NETCODE_REQUEST_SIZE);
        return packet;
    }
    uint8_t copy[PH_NETCODE_DATAGRAM_MAX];
    assert_in_range(size, 18, sizeof copy);
    memcpy(copy, bytes, size);
    const ph_netcode_lock lock = lock_of(it, is_up);
    ph_netcode_opened opened;
    assert_int_equal(ph_netcode_open(&lock, replay, copy, size, &opened), PH_NET_REFUSAL_NONE);
    packet.type = opened.type;
    packet.sequence = opened.sequence;
    packet.data_size = opened.data_size;
    memcpy(packet.data, opened.data, opened.data_size);
    return packet;
}

// Its request is the one that our client makes of the token.
static void request_is_ours(const transcript* it, const transcript_line* line)
{
    netcode_stage* x = stage_setup(1);
    ph_net_client_connect(x->clients[0], it->token_bytes, PH_TOKEN_SIZE, x->now_us);
    assert_int_equal(x->queue_count, 1);
    assert_int_equal(line->size, x->queue[0].size);
    assert_memory_equal(line->bytes, x->queue[0].bytes, line->size);
    x->queue_count = 0;
    stage_teardown(x);
}

static void seal_again(const transcript* it, const transcript_line* line,
                       const opened_packet* packet)
{
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    const ph_netcode_lock lock = lock_of(it, line->is_up);
    const size_t size = ph_netcode_seal(&lock, packet->type, packet->sequence, packet->data,
                                        packet->data_size, datagram);
    assert_int_equal(size, line->size);
    assert_memory_equal(datagram, line->bytes, size);
}

static void open_all(const transcript* it)
{
    ph_netcode_replay replays[2] = {0};
    uint8_t challenge[PH_CHALLENGE_DATA_SIZE] = {0};
    int sent_at[2] = {0};
    for (int i = 0; i < it->line_count; ++i) {
        const transcript_line* line = &it->lines[i];
        if (!transcript_is_of_client(it, line)) {
            continue;
        }
        const opened_packet packet =
            open_datagram(it, line->is_up, line->bytes, line->size, &replays[line->is_up]);
        if (packet.type == PH_NETCODE_REQUEST) {
            request_is_ours(it, line);
            continue;
        }
        seal_again(it, line, &packet);
        if (packet.type == PH_NETCODE_CHALLENGE) {
            memcpy(challenge, packet.data, sizeof challenge);
        } else if (packet.type == PH_NETCODE_RESPONSE) {
            assert_memory_equal(packet.data, challenge, sizeof challenge);
        } else if (packet.type == PH_NETCODE_PAYLOAD) {
            const transcript_line* sent =
                transcript_next(it, TRANSCRIPT_SEND, line->is_up, &sent_at[line->is_up]);
            assert_non_null(sent);
            assert_int_equal(packet.data_size, sent->size);
            assert_memory_equal(packet.data, sent->bytes, sent->size);
        }
    }
    assert_null(transcript_next(it, TRANSCRIPT_SEND, true, &sent_at[true]));
    assert_null(transcript_next(it, TRANSCRIPT_SEND, false, &sent_at[false]));
}

static void every_datagram_opens_and_is_sealed_alike(void** state)
{
    (void)state;
    for_each(open_all);
}

static void open_private(const transcript* it)
{
    const ph_token_seal seal = {
        .protocol_id = it->protocol_id,
        .expire_s = it->token.expire_s,
        .nonce = it->token.secrets.nonce,
        .key = it->private_key,
    };
    ph_token_private token;
    assert_int_equal(ph_token_private_open(it->token.sealed, &seal, &token), PH_NET_REFUSAL_NONE);
    assert_int_equal(token.client_id, it->client_id);
    assert_memory_equal(token.user_data, it->user_data, sizeof it->user_data);
    assert_int_equal(token.timeout_s, it->token.timeout_s);
    assert_int_equal(token.address_count, it->token.address_count);
    assert_memory_equal(token.addresses, it->token.addresses, sizeof token.addresses);
    assert_memory_equal(token.client_to_server_key, it->token.secrets.client_to_server_key, 32);
    assert_memory_equal(token.server_to_client_key, it->token.secrets.server_to_client_key, 32);
    uint8_t sealed[PH_TOKEN_PRIVATE_SIZE];
    ph_token_private_seal(&token, &seal, sealed);
    assert_memory_equal(sealed, it->token.sealed, sizeof sealed);
}

static void tokens_open_and_are_sealed_alike(void** state)
{
    (void)state;
    for_each(open_private);
}

// ---- our client, its server

enum {
    TICKS_PER_SECOND = 60, // of the reference's run
    TICK_LONGEST_MS = 17,
    RESEND_MS = 100,
    SENT_MAX = 512,
};

typedef struct sent_packet {
    uint64_t time_ms;
    ph_address to;
    opened_packet packet;
} sent_packet;

typedef struct replay {
    const transcript* it;
    netcode_stage* x;
    ph_net_client* client;
    int delivered;      // lines of the transcript: datagrams that have arrived
    int seen;           // lines whose states and sends were looked at
    int expected_state; // of the reference, by now
    int got_at;         // the next payload that must arrive
    int got_sent_at;    // and its bytes
    sent_packet sent[SENT_MAX];
    int sent_count;
} replay;

static replay the_replay;

static uint64_t tick_ms(int tick)
{
    return ((uint64_t)tick * 1000 + TICKS_PER_SECOND / 2) / TICKS_PER_SECOND;
}

// The payload must be the next one that the reference's client got.
static void judge_payload(replay* r, const ph_net_payload* payload)
{
    const transcript_line* got = transcript_next(r->it, TRANSCRIPT_GOT, false, &r->got_at);
    const transcript_line* sent = transcript_next(r->it, TRANSCRIPT_SEND, false, &r->got_sent_at);
    assert_non_null(got);
    assert_int_equal(payload->sequence, got->sequence);
    assert_int_equal(payload->size, got->size);
    assert_memory_equal(payload->bytes, sent->bytes, sent->size);
}

// What the server sent before this time arrives now.
static void deliver_before(replay* r, uint64_t time_ms)
{
    for (; r->delivered < r->it->line_count; ++r->delivered) {
        const transcript_line* line = &r->it->lines[r->delivered];
        if (!transcript_is_of_client(r->it, line) || line->is_up) {
            continue;
        }
        if (line->time_ms >= time_ms) {
            return;
        }
        uint8_t copy[PH_NETCODE_DATAGRAM_MAX];
        memcpy(copy, line->bytes, line->size);
        ph_net_payload payload;
        const bool was_over = ph_net_client_get_state(r->client) <= PH_NET_CLIENT_DISCONNECTED;
        const ph_net_refusal refusal =
            ph_net_client_receive(r->client, &line->from, copy, line->size, &payload);
        assert_int_equal(refusal, was_over ? PH_NET_REFUSAL_STOPPED : PH_NET_REFUSAL_NONE);
        if (payload.size > 0) {
            judge_payload(r, &payload);
        }
    }
}

static bool is_goodbye(const transcript_line* line)
{
    return line->kind == TRANSCRIPT_DATAGRAM && line->is_up &&
           (line->bytes[0] & 15) == PH_NETCODE_DISCONNECT;
}

// What the reference's application did until this time.
static void act_until(replay* r, uint64_t time_ms)
{
    for (; r->seen < r->it->line_count; ++r->seen) {
        const transcript_line* line = &r->it->lines[r->seen];
        const bool has_time = line->kind != TRANSCRIPT_GOT && line->kind != TRANSCRIPT_END;
        if (has_time && line->time_ms > time_ms) {
            return;
        }
        if (line->kind == TRANSCRIPT_STATE) {
            assert_int_equal(line->old_state, r->expected_state);
            r->expected_state = line->new_state;
            if (line->old_state == PH_NET_CLIENT_DISCONNECTED) {
                ph_net_client_connect(r->client, r->it->token_bytes, PH_TOKEN_SIZE, r->x->now_us);
            }
        } else if (line->kind == TRANSCRIPT_SEND && line->is_up) {
            assert_true(ph_net_client_send(r->client, line->bytes, line->size));
        } else if (is_goodbye(line)) {
            ph_net_client_disconnect(r->client); // nothing from the second on
        }
    }
}

static void note_sent(replay* r, uint64_t time_ms)
{
    for (int i = 0; i < r->x->queue_count; ++i) {
        const stage_datagram* datagram = &r->x->queue[i];
        assert_true(r->sent_count < SENT_MAX);
        sent_packet* sent = &r->sent[r->sent_count++];
        sent->time_ms = time_ms;
        sent->to = datagram->to;
        sent->packet = open_datagram(r->it, true, datagram->bytes, datagram->size, NULL);
    }
    r->x->queue_count = 0;
}

// Whether a packet leaves by the clock, not because something happened.
static bool is_by_clock(ph_netcode_type type)
{
    return type == PH_NETCODE_REQUEST || type == PH_NETCODE_RESPONSE ||
           type == PH_NETCODE_KEEP_ALIVE;
}

// Never silent for longer than the standard says; never sooner than it says without a reason.
static void judge_times(const replay* r)
{
    const uint64_t timeout_ms = (uint64_t)r->it->token.timeout_s * 1000;
    uint64_t turned_ms = r->sent[0].time_ms;
    for (int i = 1; i < r->sent_count; ++i) {
        const sent_packet* before = &r->sent[i - 1];
        const sent_packet* sent = &r->sent[i];
        const uint64_t gap_ms = sent->time_ms - before->time_ms;
        assert_true(gap_ms <= RESEND_MS + TICK_LONGEST_MS);
        if (is_by_clock(sent->packet.type) && sent->packet.type == before->packet.type &&
            ph_address_is_equal(&sent->to, &before->to)) {
            assert_true(gap_ms >= RESEND_MS - 1);
        }
        if (!ph_address_is_equal(&sent->to, &before->to)) { // to the next server
            assert_in_range(sent->time_ms - turned_ms, timeout_ms, timeout_ms + TICK_LONGEST_MS);
            turned_ms = sent->time_ms;
        }
    }
}

// The same types with data of the same sizes to the same servers, in the same order. How often a packet is
// repeated by the clock depends on its phase. A keep-alive of the reference's client says 0 of 0 clients,
// ours what the server told it; no server reads it.
static void judge_sent(const replay* r)
{
    int ours = 0;
    sent_packet last = {0};
    for (int i = 0; i < r->it->line_count; ++i) {
        const transcript_line* line = &r->it->lines[i];
        if (line->kind != TRANSCRIPT_DATAGRAM || !line->is_up) {
            continue;
        }
        const opened_packet expected = open_datagram(r->it, true, line->bytes, line->size, NULL);
        if (is_by_clock(expected.type) && last.packet.type == expected.type &&
            ph_address_is_equal(&last.to, &line->to)) {
            continue;
        }
        assert_true(ours < r->sent_count);
        last = r->sent[ours++];
        assert_int_equal(last.packet.type, expected.type);
        assert_int_equal(last.packet.data_size, expected.data_size);
        assert_true(ph_address_is_equal(&last.to, &line->to));
        if (expected.type == PH_NETCODE_PAYLOAD) {
            assert_memory_equal(last.packet.data, expected.data, expected.data_size);
        }
        while (is_by_clock(last.packet.type) && ours < r->sent_count &&
               r->sent[ours].packet.type == last.packet.type &&
               ph_address_is_equal(&r->sent[ours].to, &last.to)) {
            ++ours;
        }
    }
    assert_int_equal(ours, r->sent_count);
}

// The client leaves its first server by the clock: a tick sooner than the reference, whose time must be
// more than the timeout, not just as much. Both are in the same state then.
static void replay_client(const transcript* it)
{
    replay* r = &the_replay;
    netcode_stage* x = stage_setup(1);
    *r = (replay){.it = it, .x = x, .client = x->clients[0]};
    const uint64_t start_us = x->now_us;
    const uint64_t end_ms = it->lines[it->line_count - 2].time_ms + RESEND_MS;
    for (int tick = 0; tick_ms(tick) < end_ms; ++tick) {
        const uint64_t time_ms = tick_ms(tick);
        x->now_us = start_us + (uint64_t)tick * 1000000 / TICKS_PER_SECOND;
        ph_net_client_advance(r->client, x->now_us);
        deliver_before(r, time_ms);
        ph_net_client_tick(r->client, x->now_us);
        act_until(r, time_ms);
        assert_int_equal(ph_net_client_get_state(r->client), r->expected_state);
        note_sent(r, time_ms);
    }
    assert_int_equal(r->seen, it->line_count);
    assert_null(transcript_next(it, TRANSCRIPT_GOT, false, &r->got_at));
    judge_times(r);
    judge_sent(r);
    stage_teardown(x);
}

static void our_client_follows_its_server(void** state)
{
    (void)state;
    for_each(replay_client);
}

// ---- our server, its client

// A server of ours where the reference's was.
static netcode_stage* setup_server(const transcript* it)
{
    netcode_stage* x = stage_setup(1);
    x->server_def.protocol_id = it->protocol_id;
    x->server_def.addresses[0] = it->server;
    memcpy(x->server_def.private_key, it->private_key, sizeof it->private_key);
    x->server_port.address = it->server;
    x->ports[0].address = it->client;
    stage_remake_server(x);
    return x;
}

// The only slot goes to another client.
static void fill_server(netcode_stage* x, const transcript* it)
{
    ph_token_def def = stage_token_def(x, it->client_id + 1);
    def.protocol_id = it->protocol_id;
    def.addresses[0] = it->server;
    memcpy(def.private_key, it->private_key, sizeof def.private_key);
    stage_connect_with(x, 1, &def);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    stage_expect_event(x, PH_NET_CONNECTED);
}

// The first datagram of a type that the reference's client sent to the server that answers.
static const transcript_line* first_up(const transcript* it, ph_netcode_type type)
{
    int at = 0;
    const transcript_line* line;
    while ((line = transcript_next(it, TRANSCRIPT_DATAGRAM, true, &at)) != NULL) {
        if ((line->bytes[0] & 15) == type && ph_address_is_equal(&line->to, &it->server)) {
            break;
        }
    }
    return line;
}

static const transcript_line* first_down(const transcript* it)
{
    int at = 0;
    const transcript_line* line;
    do {
        line = transcript_next(it, TRANSCRIPT_DATAGRAM, false, &at);
        assert_non_null(line);
    } while (!transcript_is_of_client(it, line));
    return line;
}

static bool is_full(const transcript* it)
{
    return strcmp(it->name, "server_full") == 0;
}

// The answer has the form of the reference's: type, size, the half of the numbers that it takes.
static void answer_request(const transcript* it)
{
    netcode_stage* x = setup_server(it);
    if (is_full(it)) {
        fill_server(x, it);
    }
    const transcript_line* request = first_up(it, PH_NETCODE_REQUEST);
    assert_int_equal(stage_hand_to_server(x, &request->from, request->bytes, request->size),
                     is_full(it) ? PH_NET_REFUSAL_FULL : PH_NET_REFUSAL_NONE);
    assert_int_equal(x->queue_count, 1);
    assert_true(ph_address_is_equal(&x->queue[0].to, &it->client));
    const transcript_line* expected = first_down(it);
    assert_int_equal(x->queue[0].size, expected->size);
    const opened_packet ours = open_datagram(it, false, x->queue[0].bytes, x->queue[0].size, NULL);
    const opened_packet theirs = open_datagram(it, false, expected->bytes, expected->size, NULL);
    assert_int_equal(ours.type, theirs.type);
    assert_int_equal(ours.data_size, theirs.data_size);
    assert_true(ours.sequence >= UINT64_C(1) << 63 && theirs.sequence >= UINT64_C(1) << 63);
    // The reference's response belongs to the reference's challenge: it opens, and is none of ours.
    const transcript_line* response = first_up(it, PH_NETCODE_RESPONSE);
    if (response != NULL) {
        assert_int_equal(stage_hand_to_server(x, &response->from, response->bytes, response->size),
                         PH_NET_REFUSAL_CHALLENGE);
    }
    x->queue_count = 0;
    stage_teardown(x);
}

static void our_server_answers_its_request(void** state)
{
    (void)state;
    for_each(answer_request);
}

// Our client connects with the reference's token, as far as it comes.
static void connect_ours(netcode_stage* x, const transcript* it)
{
    ph_net_client_connect(x->clients[0], it->token_bytes, PH_TOKEN_SIZE, x->now_us);
    stage_deliver(x);
    for (int step = 0; stage_state(x, 0) == PH_NET_CLIENT_SENDING_REQUEST; ++step) {
        assert_true(step < 600);
        stage_step(x);
    }
    if (is_full(it)) {
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DENIED);
        return;
    }
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    const ph_net_event event = stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(event.client_id, it->client_id);
    assert_memory_equal(event.user_data, it->user_data, sizeof it->user_data);
}

// Once the response has been made for our challenge, all else that the reference's client said is taken.
static void take_packets(const transcript* it)
{
    if (is_full(it)) {
        return;
    }
    netcode_stage* x = setup_server(it);
    connect_ours(x, it);
    int sent_at = 0;
    int got_at = 0;
    bool has_left = false;
    for (int i = 0; i < it->line_count && !has_left; ++i) {
        const transcript_line* line = &it->lines[i];
        if (line->kind != TRANSCRIPT_DATAGRAM || !line->is_up ||
            (line->bytes[0] & 15) < PH_NETCODE_KEEP_ALIVE) {
            continue;
        }
        x->last = (ph_net_payload){0};
        assert_int_equal(stage_hand_to_server(x, &line->from, line->bytes, line->size),
                         PH_NET_REFUSAL_NONE);
        has_left = is_goodbye(line);
        if ((line->bytes[0] & 15) == PH_NETCODE_PAYLOAD) {
            const transcript_line* sent = transcript_next(it, TRANSCRIPT_SEND, true, &sent_at);
            const transcript_line* got = transcript_next(it, TRANSCRIPT_GOT, true, &got_at);
            assert_int_equal(x->last.size, sent->size);
            assert_memory_equal(x->last_bytes, sent->bytes, sent->size);
            // The last one was still in flight when the reference's client left.
            assert_true(got == NULL || x->last.sequence == got->sequence);
        }
    }
    assert_int_equal(x->server_payloads, transcript_count(it, TRANSCRIPT_SEND, true));
    if (has_left) {
        assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_CLIENT);
    }
    stage_expect_no_event(x);
    x->queue_count = 0;
    stage_teardown(x);
}

static void our_server_takes_its_clients_packets(void** state)
{
    (void)state;
    for_each(take_packets);
}

// ---- our server, our client, its token

static void say_all(netcode_stage* x, const transcript* it)
{
    int payload_count = 0;
    for (int i = 0; i < it->line_count; ++i) {
        const transcript_line* line = &it->lines[i];
        if (line->kind != TRANSCRIPT_SEND) {
            continue;
        }
        if (line->is_up) {
            assert_true(ph_net_client_send(x->clients[0], line->bytes, line->size));
        } else {
            assert_true(ph_net_server_send(x->server, 0, line->bytes, line->size));
        }
        stage_deliver(x);
        assert_int_equal(x->server_payloads + x->client_payloads, ++payload_count);
        assert_int_equal(x->last.size, line->size);
        assert_memory_equal(x->last_bytes, line->bytes, line->size);
        stage_step(x);
    }
    assert_int_equal(x->server_payloads, transcript_count(it, TRANSCRIPT_SEND, true));
}

static void connect_both(const transcript* it)
{
    netcode_stage* x = setup_server(it);
    if (is_full(it)) {
        fill_server(x, it);
    }
    connect_ours(x, it);
    if (!is_full(it)) {
        say_all(x, it);
        stage_run(x, 15000);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
        const bool server_stops = strcmp(it->name, "ipv6_server_stops") == 0;
        if (server_stops) {
            ph_net_server_stop(x->server);
        } else {
            ph_net_client_disconnect(x->clients[0]);
        }
        stage_deliver(x);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);
        assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end,
                         server_stops ? PH_NET_END_SERVER : PH_NET_END_CLIENT);
    }
    stage_expect_no_event(x);
    stage_teardown(x);
}

static void our_two_sides_connect_with_its_token(void** state)
{
    (void)state;
    for_each(connect_both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_are_whole),
        cmocka_unit_test(every_datagram_opens_and_is_sealed_alike),
        cmocka_unit_test(tokens_open_and_are_sealed_alike),
        cmocka_unit_test(our_client_follows_its_server),
        cmocka_unit_test(our_server_answers_its_request),
        cmocka_unit_test(our_server_takes_its_clients_packets),
        cmocka_unit_test(our_two_sides_connect_with_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
