// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A ph_peer and a ph_host on loopback: what is shown, messages and input, every way in which the two do not go
// together, ends, memory. test_peer_time.c has what depends on the time.

#include "support/host_stage.h"

#include "client/client_state.h"
#include "net/host_state.h"
#include "net/netcode_server_state.h"
#include "net/peer_state.h"

#include <pinhole/net/peer.h>

#include <stdio.h>
#include <string.h>

// ---- one peer, and what it was told

typedef struct player {
    ph_peer* peer;
    test_memory memory;
    ph_schema* schema;
    ph_error error;
    int counts[PH_PEER_DISCONNECTED + 1]; // of events
    ph_peer_event_kind first;             // of all events
    ph_refusal refusal;
    ph_net_client_state end;
    char text[PH_ERROR_TEXT_SIZE]; // of the end
    char message[PH_MESSAGE_SIZE_MAX + 1];
} player;

static ph_peer_def def_of(player* p, const char* schema)
{
    *p = (player){0};
    assert_int_equal(ph_schema_parse(schema, strlen(schema), NULL, &p->schema, NULL), PH_OK);
    ph_peer_def def = ph_peer_def_default();
    def.schema = p->schema;
    def.allocator = test_memory_allocator(&p->memory);
    def.on_error = ph_error_keep;
    def.on_error_context = &p->error;
    return def;
}

static void connect_player(const host_stage* s, player* p, uint64_t id)
{
    uint8_t token[PH_TOKEN_SIZE];
    host_stage_token(s, id, token);
    assert_int_equal(ph_peer_connect(p->peer, token, sizeof token), PH_OK);
    assert_int_equal(ph_peer_get_state(p->peer), PH_PEER_STATE_CONNECTING);
}

static void begin_with(const host_stage* s, player* p, const ph_peer_def* def)
{
    assert_int_equal(ph_peer_open(def, &p->peer), PH_OK);
    connect_player(s, p, 1);
}

static void begin(const host_stage* s, player* p)
{
    const ph_peer_def def = def_of(p, STAGE_SCHEMA);
    begin_with(s, p, &def);
}

static void finish(player* p)
{
    ph_peer_close(p->peer);
    ph_schema_destroy(p->schema);
    test_memory_assert_clean(&p->memory);
}

static void take_events(player* p)
{
    for (ph_peer_event event; ph_peer_next_event(p->peer, &event);) {
        ++p->counts[event.kind];
        p->first = p->first == 0 ? event.kind : p->first;
        if (event.kind == PH_PEER_REFUSED || event.kind == PH_PEER_DISCONNECTED) {
            p->refusal = event.refusal;
            p->end = event.end;
            snprintf(p->text, sizeof p->text, "%s", event.text);
        } else {
            assert_string_equal(event.text, "");
        }
        if (event.kind == PH_PEER_MESSAGE) {
            memcpy(p->message, event.bytes, event.size);
            p->message[event.size] = '\0';
        }
    }
}

static void play(player* p)
{
    ph_peer_tick(p->peer);
    take_events(p);
}

static int ends_of(const player* p)
{
    return p->counts[PH_PEER_REFUSED] + p->counts[PH_PEER_DISCONNECTED];
}

static void play_both(host_stage* s, player* p, int ticks)
{
    for (int i = 0; i < ticks; ++i) {
        host_stage_tick(s);
        play(p);
    }
}

static void await_all(host_stage* s, player* p)
{
    for (int i = 0; i < STAGE_TICKS_MAX && p->counts[PH_PEER_ENTERED] < STAGE_ENTITIES; ++i) {
        play_both(s, p, 1);
    }
    assert_int_equal(p->counts[PH_PEER_ENTERED], STAGE_ENTITIES);
}

// Until the peer's connection and the host's have ended.
static void await_end(host_stage* s, player* p)
{
    for (int i = 0; i < STAGE_TICKS_MAX && (ends_of(p) == 0 || s->ended == 0); ++i) {
        play_both(s, p, 1);
    }
    assert_int_equal(ends_of(p), 1);
    assert_int_equal(s->ended, 1);
    assert_int_equal(ph_peer_get_state(p->peer), PH_PEER_STATE_IDLE);
}

// ---- what is shown

static void show_all(ph_profile profile, int visible_max, int slots)
{
    host_stage s;
    player p;
    host_stage_open(&s, NULL, profile, NULL);
    s.viewer.visible_max = visible_max;
    begin(&s, &p);
    await_all(&s, &p);
    assert_int_equal(p.first, PH_PEER_CONNECTED);
    assert_int_equal(p.counts[PH_PEER_CONNECTED], 1);
    assert_int_equal(ph_peer_get_state(p.peer), PH_PEER_STATE_JOINED);
    ph_pose pose;
    assert_int_equal(ph_peer_get_pose(p.peer, ph_peer_find(p.peer, 8), &pose), PH_OK);
    assert_true(pose.position_mm[0] > 6980 && pose.position_mm[0] < 7020);
    assert_int_equal(ph_peer_get_pose(p.peer, (ph_entity_id){0}, &pose), PH_ERROR_STALE);
    const ph_peer_stats stats = ph_peer_get_stats(p.peer);
    assert_int_equal(stats.slot_count, slots);
    assert_int_equal(stats.tick_us, STAGE_TICK_US);
    assert_int_equal(stats.entity_count, STAGE_ENTITIES);
    assert_int_equal(stats.refused_payloads, 0);
    assert_int_equal(stats.unsent_datagrams, 0);
    assert_true(stats.received_datagrams > 0 && stats.sent_datagrams > 0);
    // All that came was of use, also what came before the welcome; and the host knows it.
    assert_int_equal(ph_client_get_stats(ph_peer_view(p.peer)).refused_datagrams[0], 0);
    const ph_host_stats host = ph_host_get_stats(s.host);
    assert_int_equal(host.refused_payloads, 0);
    assert_int_equal(host.over_budget_datagrams, 0);
    finish(&p);
    host_stage_tick(&s);
    host_stage_tick(&s);
    assert_int_equal(s.ended, 1);
    assert_int_equal(s.end, PH_NET_END_CLIENT);
    assert_string_equal(s.reason, "");
    host_stage_close(&s);
}

static void peer_sees_everything(void** state)
{
    (void)state;
    show_all(PH_PROFILE_PINHOLE, 250, 500);
}

// It was told neither.
static void peer_learns_profile_and_slots(void** state)
{
    (void)state;
    show_all(PH_PROFILE_CLASSIC, 400, 800);
}

static void entities_change_and_leave(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    await_all(&s, &p);
    const uint8_t hull = 77;
    assert_int_equal(ph_world_set_property(s.world, s.entities[3], 1, PH_FIELD_U8, &hull, 1),
                     PH_OK);
    assert_int_equal(ph_world_despawn(s.world, s.entities[5]), PH_OK);
    for (int i = 0;
         i < STAGE_TICKS_MAX && (p.counts[PH_PEER_UPDATED] == 0 || p.counts[PH_PEER_LEFT] == 0);
         ++i) {
        play_both(&s, &p, 1);
    }
    uint8_t seen = 0;
    assert_int_equal(ph_client_get_property(ph_peer_view(p.peer), ph_peer_find(p.peer, 4), 1,
                                            PH_FIELD_U8, &seen, 1),
                     PH_OK);
    assert_int_equal(seen, 77);
    assert_int_equal(p.counts[PH_PEER_LEFT], 1);
    finish(&p);
    host_stage_close(&s);
}

// Slot 0 is the player's own; a spectator has none, and before the view is there, there is none.
static void peer_knows_its_own_entity(void** state)
{
    (void)state;
    for (int has_own = 0; has_own < 2; ++has_own) {
        host_stage s;
        player p;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        s.viewer.entity = has_own ? s.entities[2] : (ph_entity_id){0};
        begin(&s, &p);
        uint8_t nothing;
        assert_int_equal(ph_peer_own(p.peer).index1, 0);
        assert_int_equal(ph_peer_get_struct(p.peer, s.entities[2], &nothing), PH_ERROR_STALE);
        assert_int_equal(ph_peer_get_shown_struct(p.peer, s.entities[2], &nothing), PH_ERROR_STALE);
        await_all(&s, &p);
        uint64_t key = 0;
        const ph_result found =
            ph_client_identify(ph_peer_view(p.peer), ph_peer_own(p.peer), &key, NULL);
        assert_int_equal(found, has_own ? PH_OK : PH_ERROR_STALE);
        assert_int_equal(key, has_own ? 3 : 0);
        finish(&p);
        host_stage_close(&s);
    }
}

static void messages_and_input_go_both_ways(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    assert_int_equal(ph_peer_send(p.peer, "hello", 5), PH_OK); // before it is connected
    const uint8_t input = 42;
    assert_int_equal(ph_peer_set_input(p.peer, &input, 1), 1);
    await_all(&s, &p);
    assert_int_equal(ph_peer_set_input(p.peer, &input, 1), 2);
    assert_int_equal(ph_messages_send(ph_host_messages(s.host, 0), "welcome", 7), PH_OK);
    for (int i = 0; i < STAGE_TICKS_MAX &&
                    (p.counts[PH_PEER_MESSAGE] == 0 || ph_peer_processed_input(p.peer) < 2);
         ++i) {
        play_both(&s, &p, 1);
    }
    assert_string_equal(s.text, "hello");
    assert_int_equal(s.input, 42);
    assert_string_equal(p.message, "welcome");
    assert_int_equal(ph_peer_processed_input(p.peer), 2);
    finish(&p);
    host_stage_close(&s);
}

static void message_that_cannot_be_sent_is_explained(void** state)
{
    (void)state;
    static const uint8_t large[PH_MESSAGE_SIZE_MAX + 1];
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    const ph_peer_def def = def_of(&p, STAGE_SCHEMA);
    assert_int_equal(ph_peer_open(&def, &p.peer), PH_OK);
    assert_int_equal(ph_peer_send(p.peer, "hello", 5), PH_ERROR_STALE);
    assert_string_equal(p.error.text,
                        "ph_peer_send: there is no connection; ph_peer_connect() must "
                        "come first, and the connection must not have ended");
    connect_player(&s, &p, 1);
    assert_int_equal(ph_peer_send(p.peer, large, sizeof large), PH_ERROR_ARGUMENT);
    assert_string_equal(p.error.text,
                        "ph_peer_send: size is 1,025; it must be 1..1,024 bytes: send "
                        "more as several messages or as a block");
    assert_int_equal(ph_peer_send(p.peer, large, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_peer_send(p.peer, large, sizeof large - 1), PH_OK);
    finish(&p);
    host_stage_close(&s);
}

// ---- what does not go together

// Both ends get the same sentence, and no view.
static void disagree(host_stage* s, const ph_peer_def* def, player* p, ph_refusal reason,
                     const char* sentence)
{
    begin_with(s, p, def);
    await_end(s, p);
    assert_string_equal(p->text, sentence);
    assert_int_equal(p->refusal, reason);
    assert_int_equal(p->counts[PH_PEER_REFUSED], 1);
    assert_int_equal(p->counts[PH_PEER_CONNECTED], 0);
    assert_int_equal(p->counts[PH_PEER_ENTERED], 0);
    assert_string_equal(s->reason, sentence);
    const ph_host_stats stats = ph_host_get_stats(s->host);
    assert_int_equal(stats.refused_clients[reason], 1);
    assert_int_equal(stats.refused_payloads, 0);
    assert_int_equal(stats.over_budget_datagrams, 0);
    finish(p);
    host_stage_close(s);
}

static void another_schema_is_explained_to_both(void** state)
{
    (void)state;
    static const struct {
        const char* client;
        const char* sentence;
    } cases[] = {
        {"class ship\n place: position\n hull: range 0..50\n",
         "class ship, property hull: server range 0..100, client range 0..50"},
        {"class ship\n place: position\n", "server: class ship has property hull, client: not"},
        {STAGE_SCHEMA " shield: bool\n", "client: class ship has property shield, server: not"},
        {STAGE_SCHEMA "class npc\n place: position\n",
         "client: the schema has class npc, server: not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        host_stage s;
        player p;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        const ph_peer_def def = def_of(&p, cases[i].client);
        disagree(&s, &def, &p, PH_REFUSAL_SCHEMA, cases[i].sentence);
    }
}

static void long_schema_is_explained_within_a_small_budget(void** state)
{
    (void)state;
    static char schema[8192];
    strcpy(schema, "class ship\n place: position\n");
    for (int i = 0; i < 40; ++i) {
        sprintf(schema + strlen(schema), " property_%d: range 0..1000\n", i);
    }
    host_stage s;
    player p;
    host_stage_open(&s, schema, PH_PROFILE_PINHOLE, NULL);
    strcat(schema, " one_more: bool\n");
    const ph_peer_def def = def_of(&p, schema);
    disagree(&s, &def, &p, PH_REFUSAL_SCHEMA,
             "client: class ship has property one_more, server: not");
}

static void too_few_slots_are_explained_to_both(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.viewer.visible_max = 400;
    ph_peer_def def = def_of(&p, STAGE_SCHEMA);
    def.slot_max = 512;
    disagree(&s, &def, &p, PH_REFUSAL_SLOTS,
             "slots: server's view has 800, client can hold 512; raise slot_max of ph_peer_def, or "
             "lower visible_max of the server's ph_viewer_def");
}

static int flat(const void* context, int64_t x_mm, int64_t y_mm, int64_t* heights_mm)
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = 0;
    return 1;
}

static void ground_at_one_end_is_explained_to_both(void** state)
{
    (void)state;
    static const char schema[] = "class ship\n place: position ground 500\n";
    host_stage s;
    player p;
    host_stage_open(&s, schema, PH_PROFILE_PINHOLE, NULL);
    ph_peer_def def = def_of(&p, schema);
    def.ground.layers = flat;
    disagree(
        &s, &def, &p, PH_REFUSAL_GROUND,
        "ground: server has none, client has one; ph_world_def.ground and ph_peer_def.ground must "
        "be the same");
}

static void game_says_why(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    s.refusal = "banned until Monday";
    const ph_peer_def def = def_of(&p, STAGE_SCHEMA);
    disagree(&s, &def, &p, PH_REFUSAL_GAME, "banned until Monday");
}

static void game_says_why_later(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    await_all(&s, &p);
    ph_host_refuse(s.host, 0, "kicked");
    await_end(&s, &p);
    assert_int_equal(p.counts[PH_PEER_REFUSED], 1);
    assert_string_equal(p.text, "kicked");
    ph_pose pose; // what was in view can still be shown
    assert_int_equal(ph_peer_get_pose(p.peer, ph_peer_find(p.peer, 1), &pose), PH_OK);
    assert_int_equal(ph_peer_send(p.peer, "x", 1), PH_ERROR_STALE);
    assert_int_equal(ph_peer_set_input(p.peer, "x", 1), 0);
    finish(&p);
    host_stage_close(&s);
}

// ---- ends

static void server_that_stops_ends_the_connection(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    await_all(&s, &p);
    ph_host_stop(s.host);
    await_end(&s, &p);
    assert_int_equal(p.counts[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(p.end, PH_NET_CLIENT_DISCONNECTED);
    const ph_address address = ph_host_public_address(s.host);
    char name[PH_ADDRESS_TEXT_MAX];
    char expected[PH_ERROR_TEXT_SIZE];
    snprintf(expected, sizeof expected, "%s has ended the connection",
             ph_address_print(&address, name));
    assert_string_equal(p.text, expected);
    finish(&p);
    host_stage_close(&s);
}

static void peer_connects_again(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    await_all(&s, &p);
    ph_peer_disconnect(p.peer);
    ph_peer_disconnect(p.peer); // nothing more
    await_end(&s, &p);
    assert_int_equal(p.counts[PH_PEER_DISCONNECTED], 1);
    assert_string_equal(p.text, "this program has ended the connection");
    memset(p.counts, 0, sizeof p.counts);
    p.first = 0;
    connect_player(&s, &p, 1);
    assert_null(ph_peer_view(p.peer));
    await_all(&s, &p);
    assert_int_equal(p.first, PH_PEER_CONNECTED);
    assert_int_equal(ph_peer_set_input(p.peer, "x", 1), 1); // counted anew
    finish(&p);
    host_stage_close(&s);
}

// The player's program has crashed: its ghost is silent, and the player comes back with a new token.
static void player_takes_over_from_its_ghost(void** state)
{
    (void)state;
    host_stage s;
    player ghost;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &ghost);
    await_all(&s, &ghost);
    host_stage_tick(&s);
    const uint64_t silent_us = 2000000;
    s.host->server->slots.slots[0].received_us -= silent_us; // as if it had been
    begin(&s, &p);
    await_all(&s, &p);
    assert_int_equal(s.ended, 1);
    assert_int_equal(s.end, PH_NET_END_TAKEN_OVER);
    assert_string_equal(s.reason, "taken over: the same client id has connected anew");
    assert_int_equal(ph_host_get_stats(s.host).refused_clients[PH_REFUSAL_TAKEN_OVER], 1);
    assert_int_equal(ph_host_client_count(s.host), 1);
    finish(&p);
    finish(&ghost);
    host_stage_close(&s);
}

// How long overtakers wait is the game's to say; it is asked for when the view is made.
static void view_waits_for_late_packets_as_long_as_the_def_says(void** state)
{
    (void)state;
    static const int WAITS_MS[] = {0, 30, 70, 100};
    assert_int_equal(ph_peer_def_default().reorder_wait_ms,
                     ph_client_def_default().reorder_wait_ms);
    for (size_t i = 0; i < sizeof WAITS_MS / sizeof WAITS_MS[0]; ++i) {
        host_stage s;
        player p;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        ph_peer_def def = def_of(&p, STAGE_SCHEMA);
        def.reorder_wait_ms = WAITS_MS[i];
        begin_with(&s, &p, &def);
        await_all(&s, &p);
        assert_int_equal(ph_peer_view(p.peer)->reorder.most_us, 1000 * WAITS_MS[i]);
        finish(&p);
        host_stage_close(&s);
    }
}

// ---- what is wrong with calls

static void wrong_tokens_and_defs_are_explained(void** state)
{
    (void)state;
    player p;
    uint8_t token[PH_TOKEN_SIZE] = {0};
    ph_peer_def def = def_of(&p, STAGE_SCHEMA);
    assert_int_equal(ph_peer_open(&def, &p.peer), PH_OK);
    assert_int_equal(ph_peer_connect(p.peer, token, 17), PH_ERROR_ARGUMENT);
    assert_non_null(strstr(p.error.text, "token is of no use: "));
    assert_int_equal(ph_peer_connect(p.peer, token, sizeof token), PH_ERROR_ARGUMENT);
    ph_peer_event event;
    ph_peer_tick(p.peer);
    assert_false(ph_peer_next_event(p.peer, &event)); // the result has said it
    assert_int_equal(ph_peer_send(p.peer, "x", 1), PH_ERROR_STALE);
    assert_int_equal(ph_peer_processed_input(p.peer), 0);
    assert_true(ph_peer_find(p.peer, 1).index1 == 0);
    ph_peer_close(p.peer);
    def.schema = NULL;
    assert_int_equal(ph_peer_open(&def, &p.peer), PH_ERROR_ARGUMENT);
    assert_string_equal(p.error.text, "ph_peer_def.schema is NULL; it must be a schema");
    def.schema = p.schema;
    def.slot_max = 1;
    assert_int_equal(ph_peer_open(&def, &p.peer), PH_ERROR_ARGUMENT);
    assert_string_equal(p.error.text, "ph_peer_def.slot_max is 1; it must be 2..65,535");
    def.slot_max = 2;
    def.reorder_wait_ms = 101;
    assert_int_equal(ph_peer_open(&def, &p.peer), PH_ERROR_ARGUMENT);
    assert_string_equal(p.error.text, "ph_peer_def.reorder_wait_ms is 101; it must be 0..100");
    const ph_peer_def bare = {0};
    assert_int_equal(ph_peer_open(&bare, &p.peer), PH_ERROR_ARGUMENT);
    ph_peer_close(NULL);
    ph_schema_destroy(p.schema);
    test_memory_assert_clean(&p.memory);
}

// ---- memory

static void warm_tick_takes_no_memory(void** state)
{
    (void)state;
    host_stage s;
    player p;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    begin(&s, &p);
    await_all(&s, &p);
    const int taken = p.memory.allocate_count;
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(ph_world_move(s.world, s.entities[i], 500 * i, 100, 0), PH_OK);
        ph_peer_set_input(p.peer, &i, 1);
        ph_peer_send(p.peer, "again", 5);
        play_both(&s, &p, 1);
    }
    assert_int_equal(p.memory.allocate_count, taken);
    finish(&p);
    host_stage_close(&s);
}

// Every allocation fails once: when it opens, when it connects, when it is welcomed.
static void missing_memory_is_explained_to_both(void** state)
{
    (void)state;
    bool was_refused = false;
    bool is_done = false;
    for (int fails_at = 1; fails_at < 60 && !is_done; ++fails_at) {
        host_stage s;
        player p;
        host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
        const ph_peer_def def = def_of(&p, STAGE_SCHEMA);
        p.memory.fail_at = fails_at;
        uint8_t token[PH_TOKEN_SIZE];
        host_stage_token(&s, 1, token);
        const ph_result opened = ph_peer_open(&def, &p.peer);
        const ph_result connected =
            opened == PH_OK ? ph_peer_connect(p.peer, token, sizeof token) : opened;
        if (connected != PH_OK) {
            assert_int_equal(connected, PH_ERROR_MEMORY);
        } else {
            for (int i = 0; i < STAGE_TICKS_MAX && ends_of(&p) == 0 &&
                            p.counts[PH_PEER_ENTERED] < STAGE_ENTITIES;
                 ++i) {
                play_both(&s, &p, 1);
            }
            is_done = p.counts[PH_PEER_ENTERED] == STAGE_ENTITIES;
            if (!is_done) {
                was_refused = true;
                await_end(&s, &p);
                assert_int_equal(p.refusal, PH_REFUSAL_MEMORY);
                assert_string_equal(p.text, "client has no memory for 500 slots");
                assert_string_equal(s.reason, p.text);
            }
        }
        finish(&p);
        host_stage_close(&s);
    }
    assert_true(was_refused && is_done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_sees_everything),
        cmocka_unit_test(peer_learns_profile_and_slots),
        cmocka_unit_test(entities_change_and_leave),
        cmocka_unit_test(peer_knows_its_own_entity),
        cmocka_unit_test(messages_and_input_go_both_ways),
        cmocka_unit_test(message_that_cannot_be_sent_is_explained),
        cmocka_unit_test(another_schema_is_explained_to_both),
        cmocka_unit_test(long_schema_is_explained_within_a_small_budget),
        cmocka_unit_test(too_few_slots_are_explained_to_both),
        cmocka_unit_test(ground_at_one_end_is_explained_to_both),
        cmocka_unit_test(game_says_why),
        cmocka_unit_test(game_says_why_later),
        cmocka_unit_test(server_that_stops_ends_the_connection),
        cmocka_unit_test(peer_connects_again),
        cmocka_unit_test(player_takes_over_from_its_ghost),
        cmocka_unit_test(view_waits_for_late_packets_as_long_as_the_def_says),
        cmocka_unit_test(wrong_tokens_and_defs_are_explained),
        cmocka_unit_test(warm_tick_takes_no_memory),
        cmocka_unit_test(missing_memory_is_explained_to_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
