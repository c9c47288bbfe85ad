// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clients that go on at another host: hosts that die, freeze, are quiet or are emptied, on links that lose. The stage
// keeps the books of messages, inputs and entities; here are the moves.

#include "support/move_stage.h"

#include <string.h>

enum { PLAYERS = MOVE_PEERS };

static void expect_all_at(const move_stage* s, int host)
{
    for (int i = 0; i < s->player_count; ++i) {
        const ph_address server = ph_peer_server(s->players[i].peer);
        assert_int_equal(ph_peer_get_state(s->players[i].peer), PH_PEER_STATE_JOINED);
        assert_true(ph_address_is_equal(&server, &s->hosts[host].address));
    }
    assert_int_equal(move_stage_count(s, host), s->player_count);
}

static void expect_whole_view(const move_stage* s)
{
    for (int i = 0; i < s->player_count; ++i) {
        const move_player* p = &s->players[i];
        assert_int_equal(ph_client_entity_count(ph_peer_view(p->peer)), MOVE_KEYS);
        // None has left or entered again.
        assert_int_equal(p->counts[PH_PEER_ENTERED], MOVE_KEYS);
        assert_int_equal(p->counts[PH_PEER_LEFT], 0);
        assert_int_equal(p->counts[PH_PEER_DISCONNECTED], 0);
        assert_int_equal(p->counts[PH_PEER_CONNECTED], 1);
    }
}

static uint32_t most_interrupted_ms(const move_stage* s)
{
    uint32_t most = 0;
    for (int i = 0; i < s->player_count; ++i) {
        const uint32_t ms = ph_peer_get_stats(s->players[i].peer).interrupted_ms;
        most = ms > most ? ms : most;
    }
    return most;
}

// ---- a host dies

static void a_host_that_dies_is_not_noticed(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        move_stage* s = move_stage_setup(seed, PLAYERS);
        move_stage_connect_all(s, 0);
        move_stage_run(s, 2000 + (int)seed * 35);
        move_stage_kill(s, 0);
        move_stage_run(s, 2500);
        expect_all_at(s, 1);
        assert_true(most_interrupted_ms(s) < 2000);
        for (int i = 0; i < PLAYERS; ++i) {
            assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 1);
            assert_true(s->players[i].was_continued);
            assert_non_null(strstr(s->players[i].text, "10.0.0.2:40000 goes on"));
        }
        move_stage_run(s, 4000);
        move_stage_settle(s);
        expect_whole_view(s);
        move_stage_teardown(s);
    }
}

// Back and forth: the dead one is started anew, and the next dies.
static void hosts_may_die_in_turns(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(7, 4);
    move_stage_connect_all(s, 0);
    for (int round = 0; round < 6; ++round) {
        const int host = round % 2;
        move_stage_run(s, 3000);
        move_stage_kill(s, host);
        move_stage_run(s, 2500);
        expect_all_at(s, 1 - host);
        move_stage_open_host(s, host);
    }
    move_stage_run(s, 3000);
    move_stage_settle(s);
    expect_whole_view(s);
    move_stage_teardown(s);
}

static void without_a_spare_it_ends_as_ever(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(1, 2);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    move_stage_kill(s, 0);
    move_stage_run(s, 4000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(ph_peer_get_stats(s->players[0].peer).probes, 0);
    move_stage_run(s, 2000);
    assert_int_equal(s->players[0].counts[PH_PEER_DISCONNECTED], 1);
    assert_string_equal(s->players[0].text, "nothing has come from 10.0.0.1:40000 for 5 s");
    move_stage_teardown(s);
}

// The first spare is for a host that is dead as well.
static void the_next_spare_is_tried(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(3, 2);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    for (int i = 0; i < 2; ++i) {
        uint8_t token[PH_TOKEN_SIZE];
        move_stage_token(s, 2, i, true, token); // there is none
        assert_int_equal(ph_peer_add_spare(s->players[i].peer, token, sizeof token), PH_OK);
        move_stage_token(s, 1, i, true, token);
        assert_int_equal(ph_peer_add_spare(s->players[i].peer, token, sizeof token), PH_OK);
        assert_int_equal(ph_peer_spare_count(s->players[i].peer), 2);
    }
    move_stage_run(s, 1000);
    assert_int_equal(ph_host_spare_count(s->hosts[0].host, s->players[0].sim.client), 2);
    move_stage_kill(s, 0);
    move_stage_run(s, 4000);
    expect_all_at(s, 1);
    assert_int_equal(ph_peer_get_stats(s->players[0].peer).failed_moves, 1);
    move_stage_settle(s);
    move_stage_teardown(s);
}

// A host that has heard that others have died gives new ones in place of all.
static void renewed_spares_take_the_place_of_all(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(3, 1);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    ph_host* host = s->hosts[0].host;
    ph_peer* peer = s->players[0].peer;
    const int client = s->players[0].sim.client;
    uint8_t token[PH_TOKEN_SIZE];
    move_stage_token(s, 2, 0, true, token);
    assert_int_equal(ph_peer_add_spare(peer, token, sizeof token), PH_OK);
    move_stage_token(s, 1, 0, true, token);
    assert_int_equal(ph_host_renew_spares(host, client, token, sizeof token), PH_OK);
    assert_true(ph_host_is_giving_spare(host, client));
    move_stage_run(s, 1000);
    assert_false(ph_host_is_giving_spare(host, client));
    assert_int_equal(ph_peer_spare_count(peer), 1);
    move_stage_kill(s, 0);
    move_stage_run(s, 2500);
    expect_all_at(s, 1);
    assert_int_equal(ph_peer_get_stats(peer).failed_moves, 0);
    move_stage_settle(s);
    move_stage_teardown(s);
}

static void when_all_spares_fail_the_end_says_why(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(3, 1);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 2000);
    move_stage_kill(s, 1);
    move_stage_kill(s, 0);
    move_stage_run(s, 12000);
    assert_int_equal(s->players[0].counts[PH_PEER_DISCONNECTED], 1);
    assert_string_equal(s->players[0].text, "nothing has come from 10.0.0.1:40000 for 5 s");
    assert_int_equal(ph_peer_spare_count(s->players[0].peer), 0);
    move_stage_teardown(s);
}

// A server that hands nothing over: the view goes on all the same, messages begin anew, and the game is told.
static void messages_begin_anew_where_nothing_was_handed_over(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(5, 2);
    s->is_anew = true;
    move_stage_connect_all(s, 0);
    move_stage_run(s, 3000);
    move_stage_kill(s, 0);
    move_stage_run(s, 2500);
    expect_all_at(s, 1);
    assert_false(s->players[0].was_continued);
    assert_true(s->players[0].peer->input_number < 150);
    const uint32_t received = s->players[0].received;
    move_stage_run(s, 3000);
    assert_true(s->players[0].received > received);
    assert_true(ph_peer_processed_input(s->players[0].peer) > 0);
    expect_whole_view(s);
    move_stage_teardown(s);
}

// Their numbers begin anew at the other host: none may seem to be an old one.
static void unreliable_messages_go_on(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(5, 1);
    s->loss_percent = 0;
    move_stage_connect_all(s, 0);
    for (int host = 0; host < 2; ++host) {
        for (int i = 0; i < 20 - 19 * host; ++i) {
            ph_messages* messages = ph_host_messages(s->hosts[host].host, s->players[0].sim.client);
            assert_int_equal(
                ph_messages_send_unreliable(messages, PH_UNRELIABLE_NEWEST, 3, "boom", 4), PH_OK);
            move_stage_run(s, 200);
        }
        assert_int_equal(s->players[0].counts[PH_PEER_UNRELIABLE], 20 + host);
        if (host == 0) {
            move_stage_kill(s, 0);
            move_stage_run(s, 2500);
        }
    }
    move_stage_teardown(s);
}

// ---- suspicion

static uint64_t count_alarms(const move_stage* s)
{
    uint64_t alarms = 0;
    for (int i = 0; i < s->player_count; ++i) {
        const ph_peer_stats stats = ph_peer_get_stats(s->players[i].peer);
        alarms += stats.false_alarms + stats.moves;
    }
    return alarms;
}

// A host that has nothing to say is asked, and answers. Twenty minutes of one client; that one in an hour is allowed keeps
// the test from failing by chance.
static void a_quiet_host_is_not_suspected(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(11, PLAYERS);
    s->is_still = true;
    move_stage_connect_all(s, 0);
    s->posts = false;
    move_stage_run(s, 1200 * 1000 / PLAYERS);
    assert_true(count_alarms(s) <= 1);
    const ph_host_stats stats = ph_host_get_stats(s->hosts[0].host);
    assert_true(stats.acked_probes > 1000);
    assert_int_equal(stats.over_budget_datagrams, 0);
    assert_int_equal(stats.refused_payloads, 0);
    assert_true(ph_peer_get_stats(s->players[0].peer).silent_ms < 500);
    move_stage_teardown(s);
}

static void a_busy_host_is_hardly_asked(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(12, PLAYERS);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 100 * 1000);
    assert_int_equal(count_alarms(s), 0);
    assert_true(ph_host_get_stats(s->hosts[0].host).acked_probes < 200);
    move_stage_settle(s);
    expect_whole_view(s);
    move_stage_teardown(s);
}

// Its answers to probes are no talk: they would bring more probes, which a thin link could not answer beside the view.
static void a_host_that_falls_quiet_is_asked_seldom(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(12, PLAYERS);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 4000);
    s->is_still = true;
    s->posts = false;
    move_stage_run(s, 2000);
    const uint64_t before = ph_host_get_stats(s->hosts[0].host).acked_probes;
    move_stage_run(s, 50 * 1000);
    const uint64_t probes = ph_host_get_stats(s->hosts[0].host).acked_probes - before;
    assert_in_range(probes, 50 * PLAYERS, 50 * 4 * PLAYERS); // 3.6 a second
    move_stage_teardown(s);
}

// Of one that speaks all the time a silence says much: it is not asked once alone first. On the stage's clock, whose
// link takes 80 ms there and back: 0.94 s if it were.
static void a_busy_host_is_suspected_at_once(void** state)
{
    (void)state;
    uint32_t sum_ms = 0;
    move_stage* s = move_stage_setup(3, PLAYERS);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 4000);
    move_stage_kill(s, 0);
    move_stage_run(s, 4000);
    expect_all_at(s, 1);
    for (int i = 0; i < PLAYERS; ++i) {
        sum_ms += ph_peer_get_stats(s->players[i].peer).interrupted_ms;
    }
    assert_in_range(sum_ms / PLAYERS, 500, 870);
    move_stage_teardown(s);
}

// The player's own network is away for a moment: both hosts are silent, and the old one speaks first.
static void a_false_alarm_does_no_harm(void** state)
{
    (void)state;
    uint32_t false_alarms = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        move_stage* s = move_stage_setup(seed, 2);
        move_stage_connect_all(s, 0);
        move_stage_run(s, 3000);
        s->players[0].is_cut_off = true;
        move_stage_run(s, 900);
        s->players[0].is_cut_off = false;
        move_stage_run(s, 4000);
        const ph_peer_stats stats = ph_peer_get_stats(s->players[0].peer);
        assert_int_equal(stats.false_alarms + stats.moves, 1);
        assert_int_equal(stats.moves, s->players[0].counts[PH_PEER_MOVED]);
        false_alarms += stats.false_alarms;
        assert_int_equal(s->players[1].counts[PH_PEER_MOVED], 0);
        assert_int_equal(move_stage_count(s, 0) + move_stage_count(s, 1), 2);
        assert_true(ph_peer_spare_count(s->players[0].peer) > 0); // another one
        move_stage_settle(s);
        expect_whole_view(s);
        move_stage_teardown(s);
    }
    assert_true(false_alarms > 0);
}

// One that was frozen and comes back: its players have gone, and it learns that.
static void a_frozen_host_loses_its_players_and_nothing_else(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(2, PLAYERS);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 2000);
    s->hosts[0].is_frozen = true;
    move_stage_run(s, 3000);
    expect_all_at(s, 1);
    s->hosts[0].is_frozen = false;
    move_stage_run(s, 6000);
    expect_all_at(s, 1);
    assert_int_equal(move_stage_count(s, 0), 0);
    move_stage_settle(s);
    expect_whole_view(s);
    move_stage_teardown(s);
}

// The program stood still for longer than its server waits: a spare brings it back.
static void a_frozen_player_comes_back(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(2, 2);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 2000);
    s->players[0].is_frozen = true;
    move_stage_run(s, 8000);
    s->players[0].is_frozen = false;
    move_stage_run(s, 3000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(s->players[0].counts[PH_PEER_MOVED], 1);
    move_stage_settle(s);
    expect_whole_view(s);
    move_stage_teardown(s);
}

// ---- emptying

static void an_emptied_host_is_not_missed(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        move_stage* s = move_stage_setup(seed, PLAYERS);
        move_stage_connect_all(s, 0);
        move_stage_run(s, 2000);
        move_stage_empty(s, 0, 1);
        move_stage_run(s, 5000);
        assert_int_equal(move_stage_count(s, 0), 0);
        expect_all_at(s, 1);
        assert_true(most_interrupted_ms(s) <= 300);
        ph_host_stop(s->hosts[0].host);
        move_stage_kill(s, 0);
        for (int i = 0; i < PLAYERS; ++i) {
            assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 1);
            assert_string_equal(s->players[i].text,
                                "10.0.0.1:40000 has sent us on to 10.0.0.2:40000");
        }
        move_stage_run(s, 3000);
        move_stage_settle(s);
        expect_whole_view(s);
        move_stage_teardown(s);
    }
}

// The other one is dead when the first tokens are given; then there is a third.
static void who_did_not_get_away_is_sent_again(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 3);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    move_stage_kill(s, 1);
    move_stage_open_host(s, 2);
    move_stage_empty(s, 0, 1);
    move_stage_run(s, 2000);
    assert_int_equal(move_stage_count(s, 0), 3);
    move_stage_empty(s, 0, 2);
    move_stage_run(s, 9000);
    assert_int_equal(move_stage_count(s, 0), 0);
    expect_all_at(s, 2);
    move_stage_settle(s);
    expect_whole_view(s);
    move_stage_teardown(s);
}

// On a thin link a token takes longer than the host waits before it asks again: it must not begin anew for ever.
static void a_slow_token_arrives(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 2);
    s->gives_spares = false;
    s->posts = false;
    move_stage_connect_all(s, 0);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_host_set_budget(s->hosts[0].host, s->players[i].sim.client, 2600, 0),
                         PH_OK);
    }
    move_stage_empty(s, 0, 1);
    move_stage_run(s, 3000);
    assert_int_equal(move_stage_count(s, 0), 2);
    move_stage_run(s, 9000);
    expect_all_at(s, 1);
    move_stage_teardown(s);
}

// Asked again while it was on its way, it does not go twice.
static void two_spares_for_one_server_are_one_move(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    s->loss_percent = 0;
    move_stage_empty(s, 0, 1);
    move_stage_run(s, 300); // it has the first one
    assert_true(s->players[0].peer->move.is_under_way);
    s->hosts[0].host->spares.by_client[s->players[0].sim.client].asked_us = 1; // long ago
    s->hosts[1].is_frozen = true;
    move_stage_run(s, 500);
    s->hosts[1].is_frozen = false;
    move_stage_run(s, 8000);
    expect_all_at(s, 1);
    const ph_peer_stats stats = ph_peer_get_stats(s->players[0].peer);
    assert_int_equal(stats.moves, 1);
    assert_int_equal(stats.failed_moves, 0);
    assert_int_equal(ph_peer_spare_count(s->players[0].peer), 0);
    move_stage_teardown(s);
}

static void a_player_that_is_disconnected_does_not_come_back(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 2);
    move_stage_connect_all(s, 0);
    move_stage_run(s, 2000);
    assert_true(ph_peer_spare_count(s->players[0].peer) > 0);
    ph_host_disconnect(s->hosts[0].host, s->players[0].sim.client);
    move_stage_run(s, 1000);
    assert_int_equal(s->players[0].counts[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(ph_peer_spare_count(s->players[0].peer), 0);
    move_stage_run(s, 2000);
    assert_int_equal(move_stage_count(s, 1), 0);
    move_stage_teardown(s);
}

// ---- what goes wrong

static void wrong_spares_are_refused(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->gives_spares = false;
    ph_peer* peer = s->players[0].peer;
    uint8_t token[PH_TOKEN_SIZE];
    move_stage_token(s, 1, 0, true, token);
    assert_int_equal(ph_peer_add_spare(peer, token, sizeof token), PH_ERROR_STALE);
    move_stage_connect_all(s, 0);
    ph_host* host = s->hosts[0].host;
    const int client = s->players[0].sim.client;
    assert_int_equal(ph_peer_add_spare(peer, token, 100), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_give_spare(host, client, token, 100), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_give_spare(host, 7, token, sizeof token), PH_ERROR_STALE);
    assert_int_equal(ph_host_give_spare(host, -1, token, sizeof token), PH_ERROR_STALE);
    token[13] ^= 1; // of the protocol
    assert_int_equal(ph_peer_add_spare(peer, token, sizeof token), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_give_spare(host, client, token, sizeof token), PH_ERROR_ARGUMENT);
    // The same by a host that does not look.
    ph_host_spare* under_way = &host->spares.by_client[client];
    token[13] ^= 1;
    assert_int_equal(ph_host_give_spare(host, client, token, sizeof token), PH_OK);
    under_way->token[13] ^= 1;
    under_way->asks_move = true;
    move_stage_run(s, 1000);
    assert_int_equal(ph_peer_spare_count(peer), 0);
    assert_int_equal(ph_peer_get_stats(peer).refused_payloads, 1);
    assert_int_equal(ph_peer_get_stats(peer).failed_moves, 0);
    assert_int_equal(s->players[0].counts[PH_PEER_MOVED], 0);
    move_stage_teardown(s);
}

static void a_peer_may_refuse_spares_of_its_server(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->players[0].peer->def.accepts_spares = false;
    move_stage_connect_all(s, 0);
    move_stage_run(s, 15000);
    assert_int_equal(ph_peer_spare_count(s->players[0].peer), 0);
    assert_true(ph_host_get_stats(s->hosts[0].host).taken_spares == 0);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    move_stage_teardown(s);
}

// A token that is too old is forgotten; one for the same server takes the place of the one before; there are four.
static void spares_are_few_and_fresh(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    ph_peer* peer = s->players[0].peer;
    uint8_t token[PH_TOKEN_SIZE];
    for (int i = 0; i < 3; ++i) {
        move_stage_token(s, 1, 0, true, token);
        assert_int_equal(ph_peer_add_spare(peer, token, sizeof token), PH_OK);
        assert_int_equal(ph_peer_spare_count(peer), 1);
    }
    const ph_address kept = s->hosts[1].address;
    for (int i = 0; i < 8; ++i) {
        s->hosts[1].address.port = (uint16_t)(41000 + i);
        move_stage_token(s, 1, 0, true, token);
        assert_int_equal(ph_peer_add_spare(peer, token, sizeof token), PH_OK);
    }
    s->hosts[1].address = kept;
    assert_int_equal(ph_peer_spare_count(peer), PH_PEER_SPARES_MAX);
    s->now_us += UINT64_C(3601) * 1000000 / MOVE_TICK_US * MOVE_TICK_US;
    peer->link->spoke_us = s->now_us;
    peer->link->heard_us = s->now_us;
    ph_peer_tick(peer);
    assert_int_equal(ph_peer_spare_count(peer), 0);
    move_stage_teardown(s);
}

// Tokens are secrets: none is left in what is given back, nor in the peer once it was used.
static void tokens_are_wiped(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    uint8_t token[PH_TOKEN_SIZE];
    move_stage_token(s, 1, 0, true, token);
    const uint8_t* secret = token + 200; // of the sealed part
    test_memory_watch(&s->memory, secret, 64);
    assert_int_equal(
        ph_host_give_spare(s->hosts[0].host, s->players[0].sim.client, token, sizeof token), PH_OK);
    move_stage_run(s, 1500);
    assert_int_equal(ph_host_spare_count(s->hosts[0].host, s->players[0].sim.client), 1);
    assert_int_equal(test_memory_count(&s->memory, secret, 64), 0);
    assert_int_equal(s->memory.revealed_count, 0);
    ph_peer* peer = s->players[0].peer;
    assert_int_equal(ph_peer_spare_count(peer), 1);
    move_stage_kill(s, 0);
    move_stage_run(s, 2500);
    expect_all_at(s, 1);
    static const ph_peer_spares none;
    assert_memory_equal(peer->spares.all, none.all, sizeof none.all);
    assert_memory_equal(&peer->spares.coming, &none.coming, sizeof none.coming);
    move_stage_teardown(s);
}

// A player that begins anew must not get the messages of one before: the host says so.
static void messages_are_imported_for_spares_alone(void** state)
{
    (void)state;
    move_stage* s = move_stage_setup(4, 1);
    s->gives_spares = false;
    move_stage_connect_all(s, 0);
    uint8_t token[PH_TOKEN_SIZE];
    move_stage_token(s, 1, 0, true, token); // the game takes it for a spare
    memset(s->players[0].is_known, 0, sizeof s->players[0].is_known);
    assert_int_equal(ph_peer_connect(s->players[0].peer, token, sizeof token), PH_OK);
    move_stage_run(s, 2000);
    assert_int_equal(s->players[0].counts[PH_PEER_REFUSED], 1);
    assert_non_null(
        strstr(s->players[0].text, "ph_messages_import() is for clients that come by a"));
    move_stage_teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_dies_is_not_noticed),
        cmocka_unit_test(hosts_may_die_in_turns),
        cmocka_unit_test(without_a_spare_it_ends_as_ever),
        cmocka_unit_test(the_next_spare_is_tried),
        cmocka_unit_test(renewed_spares_take_the_place_of_all),
        cmocka_unit_test(when_all_spares_fail_the_end_says_why),
        cmocka_unit_test(messages_begin_anew_where_nothing_was_handed_over),
        cmocka_unit_test(unreliable_messages_go_on),
        cmocka_unit_test(a_quiet_host_is_not_suspected),
        cmocka_unit_test(a_busy_host_is_hardly_asked),
        cmocka_unit_test(a_host_that_falls_quiet_is_asked_seldom),
        cmocka_unit_test(a_busy_host_is_suspected_at_once),
        cmocka_unit_test(a_false_alarm_does_no_harm),
        cmocka_unit_test(a_frozen_host_loses_its_players_and_nothing_else),
        cmocka_unit_test(a_frozen_player_comes_back),
        cmocka_unit_test(an_emptied_host_is_not_missed),
        cmocka_unit_test(who_did_not_get_away_is_sent_again),
        cmocka_unit_test(a_slow_token_arrives),
        cmocka_unit_test(two_spares_for_one_server_are_one_move),
        cmocka_unit_test(a_player_that_is_disconnected_does_not_come_back),
        cmocka_unit_test(wrong_spares_are_refused),
        cmocka_unit_test(a_peer_may_refuse_spares_of_its_server),
        cmocka_unit_test(spares_are_few_and_fresh),
        cmocka_unit_test(tokens_are_wiped),
        cmocka_unit_test(messages_are_imported_for_spares_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
