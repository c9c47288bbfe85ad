// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a host answers to the payloads of the admission, from a client that writes them by hand.

#include "support/host_stage.h"

#include "net/host_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAW_TEXT_MAX = 8192, CLIENT = 0 };

// ---- a client of which nothing is known but its payloads

typedef struct raw_client {
    ph_socket* socket;
    ph_socket_batch outbox;
    ph_net_client* net;
    int counts[6]; // of payloads, by kind
    int views;     // other payloads
    ph_admission welcome;
    uint8_t code; // of a refusal
    char sentence[PH_REFUSAL_TEXT_MAX + 1];
    char text[RAW_TEXT_MAX]; // of the schema, from pieces
    size_t text_size;
    size_t piece_most; // bytes of the largest
} raw_client;

static void begin(const host_stage* s, raw_client* c)
{
    uint8_t token[PH_TOKEN_SIZE];
    *c = (raw_client){0};
    const ph_socket_def socket_def = ph_socket_def_default();
    ph_net_client_def net_def = ph_net_client_def_default();
    net_def.sink = (ph_net_sink){ph_socket_batch_add, &c->outbox};
    assert_int_equal(ph_socket_open(&socket_def, &c->socket), PH_OK);
    assert_int_equal(ph_net_client_create(&net_def, &c->net), PH_OK);
    ph_socket_batch_begin(&c->outbox, c->socket);
    host_stage_token(s, 1, token);
    ph_net_client_connect(c->net, token, sizeof token, ph_socket_now_us());
    ph_socket_batch_flush(&c->outbox);
}

static void finish(raw_client* c)
{
    ph_net_client_disconnect(c->net);
    ph_socket_batch_flush(&c->outbox);
    ph_net_client_destroy(c->net);
    ph_socket_close(c->socket);
}

static void hear_admission(raw_client* c, const uint8_t* bytes, size_t size)
{
    ph_admission it;
    assert_true(ph_admission_read(bytes, size, &it));
    ++c->counts[it.kind];
    if (it.kind == PH_ADMISSION_WELCOME) {
        c->welcome = it;
    } else if (it.kind == PH_ADMISSION_REFUSAL) {
        c->code = it.code;
        memcpy(c->sentence, it.bytes, it.size);
        c->sentence[it.size] = '\0';
    } else if (it.kind == PH_ADMISSION_PIECE && it.offset == c->text_size) {
        assert_true(c->text_size + it.size < RAW_TEXT_MAX);
        memcpy(c->text + it.offset, it.bytes, it.size);
        c->text_size += it.size;
        c->piece_most = it.size > c->piece_most ? it.size : c->piece_most;
    }
}

static void hear(raw_client* c)
{
    const uint64_t now_us = ph_socket_now_us();
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    ph_net_client_advance(c->net, now_us);
    const int count = ph_socket_receive(c->socket, datagrams, PH_SOCKET_BATCH_MAX);
    for (int i = 0; i < count; ++i) {
        ph_net_payload payload;
        ph_net_client_receive(c->net, &datagrams[i].peer, datagrams[i].bytes, datagrams[i].size,
                              &payload);
        if (payload.size > 0 && ph_admission_is(payload.bytes, payload.size)) {
            hear_admission(c, payload.bytes, payload.size);
        } else if (payload.size > 0) {
            ++c->views;
        }
    }
    ph_net_client_tick(c->net, now_us);
    ph_socket_batch_flush(&c->outbox);
}

static void turn(host_stage* s, raw_client* c)
{
    host_stage_tick(s);
    hear(c);
}

static void say_bytes(raw_client* c, const void* bytes, size_t size)
{
    assert_true(ph_net_client_send(c->net, bytes, size));
    ph_socket_batch_flush(&c->outbox);
}

static void say(raw_client* c, const ph_admission* admission)
{
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    say_bytes(c, bytes, ph_admission_write(admission, bytes));
}

static ph_admission join_of(const host_stage* s)
{
    return (ph_admission){
        .kind = PH_ADMISSION_JOIN,
        .version = PH_ADMISSION_VERSION,
        .slots = 65535,
        .fingerprint = ph_schema_fingerprint(s->schema),
        .wire_versions = 1u << PH_WIRE_VERSION_CLASSIC | 1u << PH_WIRE_VERSION_PINHOLE,
    };
}

static void connect_raw(host_stage* s, raw_client* c)
{
    begin(s, c);
    for (int i = 0;
         i < STAGE_TICKS_MAX && (s->connected == 0 || ph_net_client_index(c->net) != CLIENT); ++i) {
        turn(s, c);
    }
    assert_int_equal(ph_net_client_index(c->net), CLIENT);
}

// Until so many of that kind have come.
static void await_kind(host_stage* s, raw_client* c, ph_admission_kind kind, int count)
{
    for (int i = 0; i < STAGE_TICKS_MAX && c->counts[kind] < count; ++i) {
        turn(s, c);
    }
    assert_true(c->counts[kind] >= count);
}

static void await_end(host_stage* s, raw_client* c)
{
    for (int i = 0; i < STAGE_TICKS_MAX && s->ended == 0; ++i) {
        turn(s, c);
    }
    assert_int_equal(s->ended, 1);
    for (int i = 0; i < 3; ++i) {
        turn(s, c);
    }
    assert_int_equal(ph_net_client_get_state(c->net), PH_NET_CLIENT_DISCONNECTED);
}

// ---- what goes together

static void join_is_answered_by_a_welcome(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.viewer.visible_max = 300;
    connect_raw(&s, &c);
    const ph_admission join = join_of(&s);
    say(&c, &join);
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 1);
    assert_int_equal(c.welcome.slots, 600);
    assert_int_equal(c.welcome.tick_us, STAGE_TICK_US);
    assert_int_equal(c.welcome.wire_version, PH_WIRE_VERSION_PINHOLE);
    assert_true(c.welcome.fingerprint == ph_schema_fingerprint(s.schema));
    assert_int_equal(c.welcome.schema_size, ph_schema_print_wire(s.schema, NULL, 0));
    assert_false(c.welcome.has_ground);
    say(&c, &join); // the welcome may have been lost
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 2);
    assert_true(c.views > 0);
    finish(&c);
    host_stage_close(&s);
}

static void join_before_the_admission_is_kept(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_CLASSIC, NULL);
    s.is_closed = true;
    connect_raw(&s, &c);
    const ph_admission join = join_of(&s);
    say(&c, &join);
    for (int i = 0; i < 5; ++i) {
        turn(&s, &c);
    }
    assert_int_equal(c.counts[PH_ADMISSION_WELCOME], 0);
    assert_int_equal(ph_host_admit(s.host, CLIENT, &s.viewer, NULL), PH_OK);
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 1);
    assert_int_equal(c.welcome.wire_version, PH_WIRE_VERSION_CLASSIC);
    finish(&c);
    host_stage_close(&s);
}

// ---- what does not

// A client with this join gets no view, but the sentence, and is disconnected; the server says the same.
static void refuse_join(host_stage* s, const ph_admission* join, ph_refusal reason,
                        const char* sentence)
{
    raw_client c;
    s->is_closed = true;
    connect_raw(s, &c);
    say(&c, join);
    turn(s, &c);
    assert_int_equal(ph_host_admit(s->host, CLIENT, &s->viewer, NULL), PH_OK);
    await_end(s, &c);
    assert_int_equal(c.code, reason);
    assert_string_equal(c.sentence, sentence);
    assert_string_equal(s->reason, sentence);
    assert_int_equal(c.counts[PH_ADMISSION_REFUSAL], 3);
    assert_int_equal(c.views, 0);
    const ph_host_stats stats = ph_host_get_stats(s->host);
    assert_int_equal(stats.refused_clients[reason], 1);
    assert_int_equal(stats.over_budget_datagrams, 0);
    assert_int_equal(stats.refused_payloads, 0);
    finish(&c);
    host_stage_close(s);
}

static void too_few_slots_are_refused(void** state)
{
    (void)state;
    host_stage s;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.viewer.visible_max = 400;
    ph_admission join = join_of(&s);
    join.slots = 512;
    refuse_join(
        &s, &join, PH_REFUSAL_SLOTS,
        "slots: server's view has 800, client can hold 512; raise slot_max of ph_peer_def, or "
        "lower visible_max of the server's ph_viewer_def");
}

static void client_that_cannot_read_the_profile_is_refused(void** state)
{
    (void)state;
    host_stage s;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    ph_admission join = join_of(&s);
    join.wire_versions = 1u << PH_WIRE_VERSION_CLASSIC;
    refuse_join(
        &s, &join, PH_REFUSAL_WIRE,
        "packets: server writes the pinhole profile (wire version 6), client cannot read it");
}

static void another_version_of_the_admission_is_refused(void** state)
{
    (void)state;
    host_stage s;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    ph_admission join = join_of(&s);
    join.version = 9;
    refuse_join(&s, &join, PH_REFUSAL_VERSION, "admission: server version 1, client version 9");
}

static int flat(const void* context, int64_t x_mm, int64_t y_mm, int64_t* heights_mm)
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = 0;
    return 1;
}

static void client_without_the_ground_is_refused(void** state)
{
    (void)state;
    host_stage s;
    const ph_ground ground = {.layers = flat};
    host_stage_open(&s, "class ship\n place: position ground 500\n", PH_PROFILE_PINHOLE, &ground);
    const ph_admission join = join_of(&s);
    refuse_join(
        &s, &join, PH_REFUSAL_GROUND,
        "ground: server has one, client has none; ph_world_def.ground and ph_peer_def.ground must "
        "be the same");
}

// No class uses it.
static void ground_that_is_not_used_does_not_matter(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    const ph_ground ground = {.layers = flat};
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, &ground);
    connect_raw(&s, &c);
    const ph_admission join = join_of(&s);
    say(&c, &join);
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 1);
    finish(&c);
    host_stage_close(&s);
}

// ---- another schema

// Connected and welcomed, with another schema and no view.
static void differ(host_stage* s, raw_client* c)
{
    s->is_closed = true;
    connect_raw(s, c);
    ph_admission join = join_of(s);
    ++join.fingerprint;
    say(c, &join);
    turn(s, c);
    assert_int_equal(ph_host_admit(s->host, CLIENT, &s->viewer, NULL), PH_OK);
    await_kind(s, c, PH_ADMISSION_WELCOME, 1);
}

static void fetch_text(host_stage* s, raw_client* c)
{
    for (int i = 0; i < 2 * STAGE_TICKS_MAX && c->text_size < c->welcome.schema_size; ++i) {
        say(c, &(ph_admission){.kind = PH_ADMISSION_ASK, .offset = (uint32_t)c->text_size});
        turn(s, c);
    }
    assert_int_equal(c->text_size, c->welcome.schema_size);
}

// A schema whose text takes several pieces.
static char* long_schema(void)
{
    char* text = calloc(1, RAW_TEXT_MAX);
    assert_non_null(text);
    strcpy(text, "class ship\n place: position\n");
    for (int i = 0; i < 60; ++i) {
        sprintf(text + strlen(text), " a_property_with_a_long_name_%d: range 0..1000\n", i);
    }
    return text;
}

static void other_schema_is_told_piece_by_piece(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    char* schema = long_schema();
    host_stage_open(&s, schema, PH_PROFILE_PINHOLE, NULL);
    s.viewer.bits_per_second = 0;
    differ(&s, &c);
    fetch_text(&s, &c);
    char wire[RAW_TEXT_MAX];
    ph_schema_print_wire(s.schema, wire, sizeof wire);
    assert_string_equal(c.text, wire);
    assert_int_equal(c.piece_most, PH_ADMISSION_PIECE_MAX);
    assert_int_equal(c.views, 0);
    // The client says what differs, and leaves.
    static const char sentence[] = "server: class ship has property shield, client: not";
    say(&c, &(ph_admission){.kind = PH_ADMISSION_REFUSAL,
                            .code = PH_REFUSAL_SCHEMA,
                            .bytes = (const uint8_t*)sentence,
                            .size = sizeof sentence - 1});
    ph_net_client_disconnect(c.net);
    ph_socket_batch_flush(&c.outbox);
    await_end(&s, &c);
    assert_int_equal(s.end, PH_NET_END_CLIENT);
    assert_string_equal(s.reason, sentence);
    assert_int_equal(ph_host_get_stats(s.host).refused_clients[PH_REFUSAL_SCHEMA], 1);
    assert_int_equal(ph_host_get_stats(s.host).refused_payloads, 0);
    finish(&c);
    free(schema);
    host_stage_close(&s);
}

// However often it asks.
static void pieces_are_paid_from_the_budget(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.viewer.bits_per_second = 2000;
    differ(&s, &c);
    const uint64_t start_us = ph_socket_now_us();
    for (int i = 0; i < 200; ++i) {
        say(&c, &(ph_admission){.kind = PH_ADMISSION_ASK});
        turn(&s, &c);
        s.host->admissions.by_client[CLIENT].newest_us = ph_socket_now_us(); // as if it got on
    }
    const double seconds = (double)(ph_socket_now_us() - start_us) * 1e-6;
    const ph_host_stats stats = ph_host_get_stats(s.host);
    assert_int_equal(stats.over_budget_datagrams, 0);
    assert_true(c.counts[PH_ADMISSION_PIECE] > 0);
    assert_true((double)stats.sent_wire_bytes * 8 <= 2000 * (seconds + 3.0));
    finish(&c);
    host_stage_close(&s);
}

static void smallest_budget_still_tells_the_schema(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.viewer.bits_per_second = 1000;
    differ(&s, &c);
    for (int i = 0; i < 3 * STAGE_TICKS_MAX && c.counts[PH_ADMISSION_PIECE] < 2; ++i) {
        say(&c, &(ph_admission){.kind = PH_ADMISSION_ASK, .offset = (uint32_t)c.text_size});
        turn(&s, &c);
        s.host->admissions.by_client[CLIENT].newest_us = ph_socket_now_us();
    }
    assert_true(c.counts[PH_ADMISSION_PIECE] >= 2);
    assert_true(c.piece_most >= 32);
    finish(&c);
    host_stage_close(&s);
}

// Moves the beginning of the present state, or the last progress, into the past.
static void age(host_stage* s, uint64_t since_us, uint64_t newest_us)
{
    ph_host_admission* it = &s->host->admissions.by_client[CLIENT];
    it->since_us -= since_us;
    it->newest_us -= newest_us;
}

static void client_that_never_asks_is_refused(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    differ(&s, &c);
    age(&s, 0, 1900000);
    host_stage_tick(&s);
    assert_int_equal(s.host->admissions.by_client[CLIENT].state, PH_HOST_ADMISSION_DIFFERS);
    age(&s, 0, 100000);
    await_end(&s, &c);
    assert_int_equal(s.end, PH_NET_END_SERVER);
    assert_int_equal(c.code, PH_REFUSAL_SCHEMA);
    assert_memory_equal(c.sentence, "the schemas differ: server's fingerprint is ", 44);
    assert_string_equal(s.reason, c.sentence);
    finish(&c);
    host_stage_close(&s);
}

// The same byte again and again is no progress, and progress does not help for ever.
static void client_that_only_asks_is_refused(void** state)
{
    (void)state;
    for (int gets_on = 0; gets_on < 2; ++gets_on) {
        host_stage s;
        raw_client c;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        differ(&s, &c);
        age(&s, gets_on ? 10000000 : 0, gets_on ? 0 : 2000000);
        say(&c, &(ph_admission){.kind = PH_ADMISSION_ASK, .offset = (uint32_t)gets_on});
        host_stage_tick(&s);
        assert_int_equal(s.host->admissions.by_client[CLIENT].state, PH_HOST_ADMISSION_REFUSED);
        await_end(&s, &c);
        assert_int_equal(c.code, PH_REFUSAL_SCHEMA);
        finish(&c);
        host_stage_close(&s);
    }
}

// It has said why, but not goodbye.
static void client_that_gives_up_and_stays_is_disconnected(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    connect_raw(&s, &c);
    const ph_admission join = join_of(&s);
    say(&c, &join);
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 1);
    say_bytes(&c, "\xF0\x05\x07no memory", 12);
    turn(&s, &c);
    const int views = c.views;
    for (int i = 0; i < 10; ++i) {
        turn(&s, &c);
    }
    assert_int_equal(c.views, views);
    say_bytes(&c, "\xF0\x05\x01\x20other", 9); // the first one counts
    age(&s, 0, 2000000);
    await_end(&s, &c);
    assert_string_equal(s.reason, "no memory");
    assert_int_equal(ph_host_get_stats(s.host).refused_clients[PH_REFUSAL_MEMORY], 1);
    finish(&c);
    host_stage_close(&s);
}

// ---- nonsense

static void nonsense_is_counted(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.is_closed = true;
    connect_raw(&s, &c);
    say_bytes(&c, "\xF0", 1);
    say_bytes(&c, "\xF0\x02\x01", 3);              // a welcome, cut off
    say_bytes(&c, "\xF0\x04\x00\x00\x00\x00x", 7); // a piece from a client
    say_bytes(&c, "\xF0\x03\x00\x00\x00\x00", 6);  // an ask without a join
    turn(&s, &c);
    assert_int_equal(ph_host_admit(s.host, CLIENT, &s.viewer, NULL), PH_OK);
    assert_int_equal(ph_host_get_stats(s.host).refused_payloads, 4);
    const ph_admission join = join_of(&s);
    say(&c, &join);
    say_bytes(&c, "\xF0\x03\x00\x00\x00\x00", 6); // an ask with the same schema
    say_bytes(&c, "\xF0\x05\x01\n", 4);
    say_bytes(&c, "\xF0\x06", 2);
    await_kind(&s, &c, PH_ADMISSION_WELCOME, 1);
    assert_int_equal(ph_host_get_stats(s.host).refused_payloads, 7);
    assert_int_equal(ph_host_client_count(s.host), 1);
    finish(&c);
    host_stage_tick(&s);
    host_stage_tick(&s);
    assert_int_equal(s.ended, 1);
    assert_string_equal(s.reason, "");
    assert_int_equal(ph_host_get_stats(s.host).refused_payloads, 7);
    host_stage_close(&s);
}

static void ask_beyond_the_text_is_refused(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    differ(&s, &c);
    say(&c, &(ph_admission){.kind = PH_ADMISSION_ASK, .offset = c.welcome.schema_size});
    for (int i = 0; i < 3; ++i) {
        turn(&s, &c);
    }
    assert_int_equal(c.counts[PH_ADMISSION_PIECE], 0);
    assert_int_equal(ph_host_get_stats(s.host).refused_payloads, 1);
    finish(&c);
    host_stage_close(&s);
}

// ---- what the game refuses

static void game_refuses_with_a_sentence(void** state)
{
    (void)state;
    for (int is_admitted = 0; is_admitted < 2; ++is_admitted) {
        host_stage s;
        raw_client c;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        s.is_closed = !is_admitted;
        connect_raw(&s, &c);
        turn(&s, &c);
        ph_host_refuse(s.host, CLIENT, "banned\nuntil Monday");
        const int views = c.views;
        await_end(&s, &c);
        assert_true(c.views <= views + 1); // one may have been on its way
        assert_int_equal(s.end, PH_NET_END_SERVER);
        assert_int_equal(c.code, PH_REFUSAL_GAME);
        assert_string_equal(c.sentence, "banned?until Monday");
        assert_string_equal(s.reason, "banned?until Monday");
        assert_int_equal(c.counts[PH_ADMISSION_REFUSAL], 3);
        assert_int_equal(ph_host_get_stats(s.host).over_budget_datagrams, 0);
        ph_host_refuse(s.host, CLIENT, "nobody there");
        ph_host_refuse(s.host, -1, "nobody there");
        ph_host_refuse(s.host, 1000, "nobody there");
        finish(&c);
        host_stage_close(&s);
    }
}

// Its place goes to another client, which knows nothing of it.
static void next_client_begins_anew(void** state)
{
    (void)state;
    host_stage s;
    raw_client c;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    differ(&s, &c);
    say_bytes(&c, "\xF0\x05\x02why", 6);
    finish(&c);
    for (int i = 0; i < STAGE_TICKS_MAX && s.ended == 0; ++i) {
        host_stage_tick(&s);
    }
    assert_string_equal(s.reason, "why");
    s.connected = 0;
    s.is_closed = false;
    connect_raw(&s, &c);
    for (int i = 0; i < STAGE_TICKS_MAX && c.views == 0; ++i) {
        turn(&s, &c);
    }
    assert_true(c.views > 0);
    assert_int_equal(c.counts[PH_ADMISSION_WELCOME], 0);
    finish(&c);
    host_stage_tick(&s);
    host_stage_tick(&s);
    assert_int_equal(s.ended, 2);
    assert_string_equal(s.reason, "");
    host_stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_is_answered_by_a_welcome),
        cmocka_unit_test(join_before_the_admission_is_kept),
        cmocka_unit_test(too_few_slots_are_refused),
        cmocka_unit_test(client_that_cannot_read_the_profile_is_refused),
        cmocka_unit_test(another_version_of_the_admission_is_refused),
        cmocka_unit_test(client_without_the_ground_is_refused),
        cmocka_unit_test(ground_that_is_not_used_does_not_matter),
        cmocka_unit_test(other_schema_is_told_piece_by_piece),
        cmocka_unit_test(pieces_are_paid_from_the_budget),
        cmocka_unit_test(smallest_budget_still_tells_the_schema),
        cmocka_unit_test(client_that_never_asks_is_refused),
        cmocka_unit_test(client_that_only_asks_is_refused),
        cmocka_unit_test(client_that_gives_up_and_stays_is_disconnected),
        cmocka_unit_test(nonsense_is_counted),
        cmocka_unit_test(ask_beyond_the_text_is_refused),
        cmocka_unit_test(game_refuses_with_a_sentence),
        cmocka_unit_test(next_client_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
