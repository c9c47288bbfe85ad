// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clients and servers that do not find each other, do not go together, or lose each other: a real ph_host and real
// ph_peers on simulated time.

#include "first_hour.h"

#include <stdio.h>
#include <string.h>

enum { END_MAX_S = 60, SPLIT_MS = 3000 };

// ---- what both ends say

static void say_end(const hour_stage* s, int player)
{
    static const char* const ends[] = {
        [PH_PEER_REFUSED] = "refused",
        [PH_PEER_DISCONNECTED] = "disconnected",
    };
    const hour_player* it = &s->players[player];
    if (it->waiting[0] != '\0') {
        hour_say("waiting", it->waiting);
    }
    if (it->end != 0) {
        hour_say(ends[it->end], it->text);
    }
    if (it->unsent[0] != '\0') {
        hour_say("unsent", it->unsent);
    }
    if (it->error.text[0] != '\0') {
        hour_say("client error", it->error.text);
    }
}

static void say_server(const hour_stage* s)
{
    if (s->reason[0] != '\0') {
        hour_say("server", s->reason);
    }
    if (s->error.text[0] != '\0') {
        hour_say("server error", s->error.text);
    }
}

// One player tries with a good token until its connection has ended.
static void try_once(const hour_def* def)
{
    hour_stage* s = hour_open(def);
    hour_connect_good(s, 0, 1);
    hour_await_end(s, 0, END_MAX_S);
    hour_play(s, SPLIT_MS);
    say_end(s, 0);
    say_server(s);
    hour_close(s);
}

// ---- schemas

static void differ(const char* server, const char* client)
{
    try_once(&(hour_def){.server_schema = server, .client_schema = client});
}

#define PLACE "    place: position\n"
#define HULL "    hull: range 0..100\n"
#define SHIP "class ship\n" PLACE HULL

static void schema_more(void)
{
    differ(SHIP, SHIP "    shield: bool\n");
}

static void schema_less(void)
{
    differ(SHIP "    shield: bool\n", SHIP);
}

static void schema_range(void)
{
    differ("class ship\n" PLACE "    hull: range 0..200\n", SHIP);
}

static void schema_coding(void)
{
    differ("class ship\n" PLACE "    hull: fixed 0..100 step 0.5\n", SHIP);
}

static void schema_step(void)
{
    differ("class ship\n    place: position 16 step 16\n" HULL,
           "class ship\n    place: position 16 step 32\n" HULL);
}

static void schema_name(void)
{
    differ(SHIP "    shield: bool\n", SHIP "    armour: range 0..3\n");
}

static void schema_order(void)
{
    differ("class ship\n" PLACE "    shield: bool\n    armour: range 0..3\n",
           "class ship\n" PLACE "    armour: range 0..3\n    shield: bool\n");
}

static void schema_other_class(void)
{
    differ(SHIP, "class rock\n" PLACE "    mass: varint\n");
}

static void schema_no_class(void)
{
    differ(SHIP "class npc\n" PLACE "    mood: enum 4\n", SHIP);
}

// ---- what else has to be the same

static void profile_other(void)
{
    hour_stage* s = hour_open(&(hour_def){.profile = PH_PROFILE_CLASSIC});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    hour_say("works", "the client learns the profile from the server");
    hour_close(s);
}

static void slots(void)
{
    try_once(&(hour_def){.visible_max = 400, .slot_max = 512});
}

#define ON_GROUND "class ship\n    place: position ground 500\n"

static void ground_at_client(void)
{
    try_once(&(hour_def){
        .server_schema = ON_GROUND, .client_schema = ON_GROUND, .has_client_ground = true});
}

static void ground_at_server(void)
{
    try_once(&(hour_def){
        .server_schema = ON_GROUND, .client_schema = ON_GROUND, .has_server_ground = true});
}

static void world_too_fast(void)
{
    hour_stage* s = hour_open(&(hour_def){.world_tick_factor = 2});
    hour_connect_good(s, 0, 1);
    hour_play(s, 20000);
    say_server(s);
    hour_close(s);
}

// ---- tokens

static void try_token(const hour_def* def, ph_token_def token)
{
    hour_stage* s = hour_open(def);
    hour_connect(s, 0, &token);
    hour_await_end(s, 0, END_MAX_S);
    hour_play(s, SPLIT_MS);
    say_end(s, 0);
    say_server(s);
    hour_close(s);
}

static ph_token_def usual_token(void)
{
    return hour_token_def(NULL, 1);
}

static void token_foreign_key(void)
{
    ph_token_def token = usual_token();
    token.private_key[0] ^= 1;
    try_token(&(hour_def){0}, token);
}

static void token_old(void)
{
    ph_token_def token = usual_token();
    token.create_s = HOUR_UNIX_S - 600;
    token.lifetime_s = 30;
    try_token(&(hour_def){0}, token);
}

static void token_before_start(void)
{
    ph_token_def token = usual_token();
    token.create_s = HOUR_UNIX_S - 10;
    token.lifetime_s = 300;
    try_token(&(hour_def){0}, token);
}

static void token_other_protocol(void)
{
    try_token(&(hour_def){.protocol_id = 7}, usual_token());
}

static void token_other_server(void)
{
    try_token(&(hour_def){.has_other_public = true}, usual_token());
}

static void token_twice(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    const ph_token_def token = hour_token_def(s, 1);
    uint8_t bytes[PH_TOKEN_SIZE];
    hour_must(ph_token_write(&token, bytes) == PH_OK, "no token");
    hour_must(ph_peer_connect(s->players[0].peer, bytes, sizeof bytes) == PH_OK, "no connect");
    hour_await_view(s, 0);
    ph_peer_disconnect(s->players[0].peer);
    hour_play(s, SPLIT_MS);
    s->players[0].end = 0;
    hour_must(ph_peer_connect(s->players[0].peer, bytes, sizeof bytes) == PH_OK, "no connect");
    hour_await_end(s, 0, END_MAX_S);
    say_end(s, 0);
    hour_close(s);
}

// The second player has copied the token of the first, which plays.
static void token_copied(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    const ph_token_def token = hour_token_def(s, 1);
    uint8_t bytes[PH_TOKEN_SIZE];
    hour_must(ph_token_write(&token, bytes) == PH_OK, "no token");
    hour_must(ph_peer_connect(s->players[0].peer, bytes, sizeof bytes) == PH_OK, "no connect");
    hour_await_view(s, 0);
    hour_must(ph_peer_connect(s->players[1].peer, bytes, sizeof bytes) == PH_OK, "no connect");
    hour_await_end(s, 1, END_MAX_S);
    hour_must(s->players[0].end == 0, "who copies a token ends the connection of its owner");
    say_end(s, 1);
    hour_close(s);
}

static void refuse_token(const uint8_t* bytes, size_t size)
{
    hour_stage* s = hour_open(&(hour_def){0});
    const ph_result result = ph_peer_connect(s->players[0].peer, bytes, size);
    hour_say_result(result, &s->players[0].error);
    hour_close(s);
}

static void token_cut(void)
{
    const ph_token_def token = usual_token();
    uint8_t bytes[PH_TOKEN_SIZE];
    hour_must(ph_token_write(&token, bytes) == PH_OK, "no token");
    refuse_token(bytes, 1000);
}

static void token_none(void)
{
    uint8_t bytes[PH_TOKEN_SIZE];
    memset(bytes, 'x', sizeof bytes);
    refuse_token(bytes, sizeof bytes);
}

// ---- development without tokens

static void connect_to(hour_stage* s)
{
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address host = hour_host_address();
    hour_must(ph_peer_connect_to(s->players[0].peer, ph_address_print(&host, address)) == PH_OK,
              "the peer does not begin to connect");
}

static void dev_client_secure_server(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    connect_to(s);
    hour_await_end(s, 0, END_MAX_S);
    say_end(s, 0);
    say_server(s);
    hour_close(s);
}

static void dev_server_token(void)
{
    try_once(&(hour_def){.is_insecure_dev = true});
}

static void dev_is_told(void)
{
    hour_stage* s = hour_open(&(hour_def){.is_insecure_dev = true});
    connect_to(s);
    hour_await_view(s, 0);
    hour_say("works", "entities are in view");
    s->error = (ph_error){0};
    hour_play(s, 61000);
    say_server(s);
    hour_close(s);
}

// ---- two players, or too many

// The second one comes with the id of the first after so long without a word of the first.
static void same_id(int silence_ms)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    s->players[0].is_frozen = silence_ms > 0;
    hour_play(s, silence_ms > 0 ? silence_ms : 1000);
    hour_connect_good(s, 1, 1);
    hour_play(s, 30000);
    hour_say(s->players[1].counts[PH_PEER_ENTERED] > 0 ? "second is in" : "second is out",
             s->players[1].text);
    say_server(s);
    hour_close(s);
}

static void same_id_alive(void)
{
    same_id(0);
}

static void same_id_ghost(void)
{
    same_id(3000);
}

static void server_full(void)
{
    hour_stage* s = hour_open(&(hour_def){.capacity = 1});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    hour_connect_good(s, 1, 2);
    hour_await_end(s, 1, END_MAX_S);
    say_end(s, 1);
    say_server(s);
    hour_close(s);
}

// ---- servers that are not there, and that do not want

static void server_absent(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    s->is_dead = true;
    hour_connect_good(s, 0, 1);
    hour_await_end(s, 0, END_MAX_S);
    say_end(s, 0);
    hour_close(s);
}

static void no_network(void)
{
    try_once(&(hour_def){.has_no_network = true});
}

static void never_admitted(void)
{
    try_once(&(hour_def){.never_admits = true});
}

static void game_refuses(void)
{
    try_once(&(hour_def){.refusal = "banned until Monday"});
}

static void game_refuses_oddly(void)
{
    char words[2 * PH_REFUSAL_TEXT_MAX];
    int length = snprintf(words, sizeof words, "banned\nadmin: all is well");
    while (length < PH_REFUSAL_TEXT_MAX + 20) {
        length += snprintf(words + length, sizeof words - (size_t)length, " and so on");
    }
    try_once(&(hour_def){.refusal = words});
}

// ---- the end of a connection that stood

static void stall(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    s->players[0].is_frozen = true;
    hour_play(s, 10500);
    s->players[0].is_frozen = false;
    hour_play(s, 100);
    say_end(s, 0);
    say_server(s);
    hour_close(s);
}

static void server_killed(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    s->is_dead = true;
    hour_await_end(s, 0, END_MAX_S);
    say_end(s, 0);
    hour_close(s);
}

static void server_stops(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    ph_host_stop(s->host);
    hour_await_end(s, 0, END_MAX_S);
    say_end(s, 0);
    hour_close(s);
}

static void client_leaves(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    ph_peer_disconnect(s->players[0].peer);
    hour_play(s, SPLIT_MS);
    say_end(s, 0);
    hour_close(s);
}

static void admitted_twice(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    const ph_viewer_def viewer = ph_viewer_def_default();
    const ph_result result = ph_host_admit(s->host, ph_host_client_at(s->host, 0), &viewer, NULL);
    hour_say_result(result, &s->error);
    hour_close(s);
}

// ---- spares

static void say_spare(uint64_t protocol_id, bool is_connected)
{
    hour_stage* s = hour_open(&(hour_def){0});
    if (is_connected) {
        hour_connect_good(s, 0, 1);
        hour_await_view(s, 0);
        s->players[0].peer->link->protocol_id = 7; // as if its token had been of that one
    }
    ph_token_def def = hour_token_def(s, 1);
    def.protocol_id = protocol_id;
    uint8_t token[PH_TOKEN_SIZE];
    hour_must(ph_token_write(&def, token) == PH_OK, "a token");
    hour_say_result(ph_peer_add_spare(s->players[0].peer, token, sizeof token),
                    &s->players[0].error);
    hour_close(s);
}

static void spare_before_connect(void)
{
    say_spare(0, false);
}

static void spare_of_another_game(void)
{
    say_spare(8, true);
}

static void spare_is_no_token(void)
{
    static const uint8_t nothing[PH_TOKEN_SIZE];
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    hour_say_result(
        ph_host_give_spare(s->host, ph_host_client_at(s->host, 0), nothing, sizeof nothing),
        &s->error);
    hour_close(s);
}

static void suspect_in_seconds(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    ph_error error = {0};
    ph_peer_def def = s->players[0].peer->def;
    def.suspect_ms = 1;
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    ph_peer* peer;
    hour_say_result(ph_peer_open(&def, &peer), &error);
    hour_close(s);
}

static void import_too_late(void)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    uint8_t state[4096];
    ph_messages* messages = ph_host_messages(s->host, ph_host_client_at(s->host, 0));
    const size_t size = ph_messages_export(messages, state, sizeof state);
    hour_say_result(ph_messages_import(messages, state, size), &s->error);
    hour_close(s);
}

const hour_case hour_connection_cases[] = {
    {"schema_more", schema_more},
    {"schema_less", schema_less},
    {"schema_range", schema_range},
    {"schema_coding", schema_coding},
    {"schema_step", schema_step},
    {"schema_name", schema_name},
    {"schema_order", schema_order},
    {"schema_other_class", schema_other_class},
    {"schema_no_class", schema_no_class},
    {"profile_other", profile_other},
    {"slots", slots},
    {"ground_at_client", ground_at_client},
    {"ground_at_server", ground_at_server},
    {"world_too_fast", world_too_fast},
    {"token_foreign_key", token_foreign_key},
    {"token_old", token_old},
    {"token_before_start", token_before_start},
    {"token_other_protocol", token_other_protocol},
    {"token_other_server", token_other_server},
    {"token_twice", token_twice},
    {"token_copied", token_copied},
    {"token_cut", token_cut},
    {"token_none", token_none},
    {"dev_client_secure_server", dev_client_secure_server},
    {"dev_server_token", dev_server_token},
    {"dev_is_told", dev_is_told},
    {"same_id_alive", same_id_alive},
    {"same_id_ghost", same_id_ghost},
    {"server_full", server_full},
    {"server_absent", server_absent},
    {"no_network", no_network},
    {"never_admitted", never_admitted},
    {"game_refuses", game_refuses},
    {"game_refuses_oddly", game_refuses_oddly},
    {"stall", stall},
    {"server_killed", server_killed},
    {"server_stops", server_stops},
    {"client_leaves", client_leaves},
    {"admitted_twice", admitted_twice},
    {"spare_before_connect", spare_before_connect},
    {"spare_of_another_game", spare_of_another_game},
    {"spare_is_no_token", spare_is_no_token},
    {"suspect_in_seconds", suspect_in_seconds},
    {"import_too_late", import_too_late},
    {NULL, NULL},
};
