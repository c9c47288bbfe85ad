// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Players of a world on several machines, with everything in it but the machines: sims, front-ends with hosts, peers. See
// players_stage.h for what is judged all the time.

#include "players_stage.h"

#include "bus/bus_wire.h"

#include <string.h>

static const memory_bus_def USUAL = {.seed = 5, .delay_min_us = 500, .delay_max_us = 3000};

static ph_bus_front_stats stats_of(const players_stage* s, int front)
{
    return ph_bus_front_get_stats(s->fronts[front].front);
}

static int joined(const players_stage* s)
{
    int count = 0;
    for (int i = 0; i < CAST_PEERS; ++i) {
        count += ph_peer_get_state(s->players[i].peer) == PH_PEER_STATE_JOINED;
    }
    return count;
}

static void expect_no_refusal(const players_stage* s, int front)
{
    const ph_bus_front_stats stats = stats_of(s, front);
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        if (i != PH_BUS_REFUSAL_UNASKED) { // answers to questions asked twice
            assert_int_equal(stats.refused[i], 0);
        }
    }
}

static void players_are_attached_and_see_their_surroundings(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    assert_int_equal(stats_of(s, 0).players, CAST_PEERS);
    assert_int_equal(stats_of(s, 0).attaching, 0);
    assert_true(ph_bus_front_is_complete(s->fronts[0].front));
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].attached, 1);
        assert_true(s->players[i].counts[PH_PEER_ENTERED] >= 30);
        const ph_viewer_id viewer = ph_host_viewer(s->fronts[0].host, i);
        assert_true(viewer.index1 != 0);
    }
    assert_int_equal(stats_of(s, 1).subscriptions, 0); // nobody is there
    expect_no_refusal(s, 0);
    players_stage_teardown(s);
}

static void messages_and_inputs_arrive_once_and_in_order(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    s->posts = true;
    players_stage_run(s, 10000);
    players_stage_settle(s);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_true(s->players[i].posted > 50 && s->players[i].told > 40);
    }
    const ph_bus_front_stats stats = stats_of(s, 0);
    assert_true(stats.confirmed_messages > 200);
    assert_true(stats.told_messages > 160);
    expect_no_refusal(s, 0);
    players_stage_teardown(s);
}

// From sim to sim, all the time, while they talk.
static void players_go_with_their_entity_from_sim_to_sim(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    s->posts = true;
    s->walks = true;
    players_stage_run(s, 40000);
    players_stage_settle(s);
    assert_true(ph_bus_sim_get_stats(s->sims[0].sim).given > 20);
    assert_int_equal(joined(s), CAST_PEERS);
    expect_no_refusal(s, 0);
    players_stage_teardown(s);
}

// Far away, all of them: the cells around them come with them.
static void cells_follow_the_players(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    const int cells = stats_of(s, 0).cells;
    s->walks = true;
    s->wander_mm = 1500; // 30 m/s
    players_stage_run(s, 40000);
    s->wander_mm = 0;
    players_stage_run(s, 5000);
    assert_true(s->east_mm > 1000000);
    assert_in_range(stats_of(s, 0).cells, cells / 2, cells * 2);
    assert_true(ph_bus_front_is_complete(s->fronts[0].front));
    assert_int_equal(stats_of(s, 0).entities, ph_world_entity_count(s->sims[1].world));
    assert_int_equal(joined(s), CAST_PEERS);
    players_stage_teardown(s);
}

// Messages between machines are lost and doubled, too.
static void a_bad_bus_changes_nothing_of_that(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        players_stage* s = players_stage_setup(&(memory_bus_def){.seed = seed});
        players_stage_join(s, 0);
        memory_bus_change(
            s->bus, &(memory_bus_def){.delay_max_us = 20000, .loss = 0.03, .duplication = 0.03});
        s->posts = true;
        s->walks = seed % 2 == 0;
        players_stage_run(s, 15000);
        memory_bus_change(s->bus, &USUAL);
        players_stage_settle(s);
        assert_int_equal(joined(s), CAST_PEERS);
        assert_true(stats_of(s, 0).resent > 0);
        players_stage_teardown(s);
    }
}

static void players_go_on_when_their_front_dies(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    s->posts = true;
    players_stage_run(s, 5000);
    players_stage_kill(s, 0);
    players_stage_run(s, 8000);
    assert_int_equal(joined(s), CAST_PEERS);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 1);
        assert_true(s->players[i].was_continued);
    }
    // And once more, by a spare of the front-end that they came to.
    players_stage_kill(s, 1);
    players_stage_run(s, 8000);
    players_stage_settle(s);
    assert_int_equal(joined(s), CAST_PEERS);
    assert_int_equal(stats_of(s, 2).players, CAST_PEERS);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 2);
        assert_true(s->players[i].posted > 100);
    }
    players_stage_teardown(s);
}

// The client has come by the spare of the higher generation: the other one of its login would be refused.
static void spares_left_from_the_login_are_replaced(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    uint8_t spares[CAST_PEERS][2][PH_TOKEN_SIZE];
    players_stage_join(s, 0);
    for (int i = 0; i < CAST_PEERS; ++i) {
        ph_peer_disconnect(s->players[i].peer);
    }
    players_stage_run(s, 1000);
    for (int i = 0; i < CAST_PEERS; ++i) {
        players_stage_connect(s, i, 0);
        players_stage_token(s, 2, i, true, spares[i][1]);
        players_stage_token(s, 1, i, true, spares[i][0]); // tried first
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(
                ph_peer_add_spare(s->players[i].peer, spares[i][k], sizeof spares[i][k]), PH_OK);
        }
    }
    players_stage_run(s, 5000);
    players_stage_kill(s, 0);
    players_stage_run(s, 6000);
    assert_int_equal(stats_of(s, 1).players, CAST_PEERS);
    players_stage_kill(s, 1);
    players_stage_run(s, 6000);
    assert_int_equal(stats_of(s, 2).players, CAST_PEERS);
    assert_int_equal(joined(s), CAST_PEERS);
    assert_int_equal(stats_of(s, 2).refused_players, 0);
    players_stage_teardown(s);
}

// The sim takes a token for newer than those that were used before it: so the first that was given is the first to go.
static void spares_are_used_in_the_order_of_their_generations(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->grants = false;
    players_stage_join(s, 0);
    for (int front = 1; front <= 2; ++front) {
        for (int i = 0; i < CAST_PEERS; ++i) {
            uint8_t token[PH_TOKEN_SIZE];
            players_stage_token(s, front, i, true, token);
            assert_int_equal(ph_peer_add_spare(s->players[i].peer, token, sizeof token), PH_OK);
        }
        players_stage_run(s, 1000);
    }
    for (int front = 0; front < 2; ++front) {
        players_stage_kill(s, front);
        players_stage_run(s, 4000);
        assert_int_equal(joined(s), CAST_PEERS);
        assert_int_equal(stats_of(s, front + 1).players, CAST_PEERS);
        assert_int_equal(stats_of(s, front + 1).refused_players, 0);
    }
    players_stage_teardown(s);
}

// Two front-ends hold a player's spares, and its own one renews them when one of the two has gone.
static void spares_for_two_fronts_are_held_and_renewed(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    players_stage_run(s, 5000);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(ph_peer_spare_count(s->players[i].peer), 2);
    }
    players_stage_kill(s, 1);
    players_stage_run(s, 8000);
    for (int i = 0; i < CAST_PEERS; ++i) {
        const ph_peer_spares* spares = &s->players[i].peer->spares;
        assert_int_equal(ph_peer_spare_count(s->players[i].peer), 1);
        const int next = ph_peer_spares_next(s->players[i].peer);
        assert_true(ph_address_is_equal(&spares->all[next].server, &s->fronts[2].address));
    }
    players_stage_teardown(s);
}

// Another connection of the player was attached elsewhere and came to nothing, while its client has stayed.
static void a_player_that_was_not_let_in_elsewhere_is_sent_on(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->grants = false;
    players_stage_join(s, 0);
    uint8_t token[PH_TOKEN_SIZE];
    players_stage_token(s, 1, 0, true, token);
    ph_peer* other = s->players[1].peer;
    ph_peer_disconnect(other);
    players_stage_run(s, 1000);
    assert_int_equal(ph_peer_connect(other, token, sizeof token), PH_OK);
    players_stage_run(s, 1000);
    ph_peer_disconnect(other);
    s->grants = true;
    players_stage_run(s, 8000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(s->players[0].counts[PH_PEER_MOVED], 1);
    assert_int_equal(s->players[0].counts[PH_PEER_DISCONNECTED], 0);
    assert_int_equal(stats_of(s, 0).players, CAST_PEERS - 2);
    assert_int_equal(stats_of(s, 1).players + stats_of(s, 2).players, 1);
    players_stage_teardown(s);
}

static uint32_t interruptions_when_a_front_dies(bool is_prompt)
{
    players_stage* s = players_stage_setup(&USUAL);
    uint32_t sum_ms = 0;
    s->is_prompt = is_prompt;
    players_stage_join(s, 0);
    s->posts = true;
    players_stage_run(s, 3000);
    players_stage_kill(s, 0);
    players_stage_run(s, 5000);
    players_stage_settle(s);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 1);
        sum_ms += ph_peer_get_stats(s->players[i].peer).interrupted_ms;
    }
    players_stage_teardown(s);
    return sum_ms;
}

// From the connection on it is a tick of the front-end, where it were one of the sim, of its standby, and of the sim again.
static void an_attach_waits_for_no_tick_of_the_sims(void** state)
{
    (void)state;
    const uint32_t prompt_ms = interruptions_when_a_front_dies(true);
    assert_true(prompt_ms + CAST_PEERS * 2 * CAST_TICK_US / 1000 <=
                interruptions_when_a_front_dies(false));
}

static void a_front_is_emptied_in_order(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 1);
    s->posts = true;
    players_stage_run(s, 3000);
    ph_bus_front_empty(s->fronts[1].front);
    players_stage_run(s, 10000);
    assert_int_equal(ph_host_client_count(s->fronts[1].host), 0);
    assert_int_equal(stats_of(s, 0).players, CAST_PEERS);
    players_stage_settle(s);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].counts[PH_PEER_MOVED], 1);
        assert_true(s->players[i].was_continued);
        assert_int_equal(s->players[i].counts[PH_PEER_REFUSED], 0);
        assert_int_equal(s->players[i].counts[PH_PEER_DISCONNECTED], 0);
    }
    players_stage_teardown(s);
}

static void an_older_generation_is_refused(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->grants = false;
    uint8_t old[PH_TOKEN_SIZE];
    players_stage_token(s, 1, 0, false, old);
    players_stage_join(s, 0);
    // Another one has stolen the older token of the first player.
    ph_peer* thief = s->players[1].peer;
    ph_peer_disconnect(thief);
    players_stage_run(s, 500);
    assert_int_equal(ph_peer_connect(thief, old, sizeof old), PH_OK);
    players_stage_run(s, 3000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(ph_peer_get_state(thief), PH_PEER_STATE_IDLE);
    assert_int_equal(s->players[1].counts[PH_PEER_REFUSED], 1);
    assert_int_equal(stats_of(s, 1).refused_players, 1);
    assert_int_equal(stats_of(s, 0).players, CAST_PEERS - 1);
    players_stage_teardown(s);
}

static void a_player_that_leaves_is_detached_and_its_cells_are_left(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    for (int i = 0; i < CAST_PEERS; ++i) {
        ph_peer_disconnect(s->players[i].peer);
    }
    players_stage_run(s, 6000);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(s->players[i].detached, 1);
    }
    assert_int_equal(stats_of(s, 0).players, 0);
    assert_int_equal(stats_of(s, 0).subscriptions, 0);
    assert_int_equal(stats_of(s, 0).entities, 0);
    // And come again, anew.
    for (int i = 0; i < CAST_PEERS; ++i) {
        s->players[i].posted = 0;
        s->players[i].told = 0;
        s->players[i].received = 0;
    }
    players_stage_join(s, 0);
    s->posts = true;
    players_stage_run(s, 3000);
    players_stage_settle(s);
    players_stage_teardown(s);
}

// Entities that only their own player sees come to that player's front alone.
static void a_hidden_own_entity_comes_to_its_player_alone(void** state)
{
    (void)state;
    players_stage* s = &(players_stage){0};
    s = players_stage_setup(&USUAL);
    s->is_own_only = true;
    // The regions were filled before: hide them now.
    for (int k = 0; k < CAST_SIMS; ++k) {
        for (int i = 0; i < CAST_PEERS; ++i) {
            const ph_entity_id one = ph_world_find(s->sims[k].world, s->players[i].key);
            if (one.index1 != 0 && ph_bus_sim_owns(s->sims[k].sim, one)) {
                ph_world_set_visibility(s->sims[k].world, one, 0, false, false);
            }
        }
    }
    players_stage_connect(s, 0, 0);
    players_stage_connect(s, 1, 0);
    players_stage_connect(s, 2, 1);
    players_stage_run(s, 5000);
    assert_int_equal(joined(s), 3);
    for (int i = 0; i < 3; ++i) {
        ph_world* world = s->fronts[i / 2].world;
        ph_world* other = s->fronts[1 - i / 2].world;
        assert_true(ph_world_find(world, s->players[i].key).index1 != 0);
        assert_true(ph_world_find(other, s->players[i].key).index1 == 0);
    }
    assert_true(ph_world_find(s->fronts[0].world, s->players[3].key).index1 == 0);
    s->walks = true;
    players_stage_run(s, 20000);
    for (int i = 0; i < 3; ++i) {
        assert_true(ph_world_find(s->fronts[i / 2].world, s->players[i].key).index1 != 0);
    }
    ph_peer_disconnect(s->players[2].peer);
    players_stage_run(s, 5000);
    assert_int_equal(stats_of(s, 1).entities, 0);
    players_stage_teardown(s);
}

static void a_player_without_a_world_is_refused_after_a_while(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->players[0].key = 999999; // there is no such entity
    players_stage_connect(s, 0, 0);
    players_stage_run(s, 5000);
    assert_int_equal(stats_of(s, 0).attaching, 1);
    players_stage_run(s, 8000);
    assert_int_equal(stats_of(s, 0).attaching, 0);
    assert_int_equal(stats_of(s, 0).refused_players, 1);
    assert_int_equal(s->players[0].counts[PH_PEER_REFUSED], 1);
    assert_non_null(strstr(s->fronts[0].error.text, "for the entity 999999"));
    players_stage_teardown(s);
}

static void the_game_may_send_a_player_away(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->grants = false;
    players_stage_join(s, 0);
    for (int i = 0; i < CAST_SIMS; ++i) {
        ph_bus_sim_refuse(s->sims[i].sim, 1, "banned until Monday");
    }
    players_stage_run(s, 3000);
    assert_int_equal(
        s->players[0].counts[PH_PEER_REFUSED] + s->players[0].counts[PH_PEER_DISCONNECTED], 1);
    assert_non_null(strstr(s->players[0].text, "banned until Monday"));
    assert_int_equal(joined(s), CAST_PEERS - 1);
    players_stage_teardown(s);
}

static void a_warm_tick_with_players_allocates_nothing(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    players_stage_join(s, 0);
    s->posts = true;
    s->walks = true;
    players_stage_run(s, 40000);
    const int before = s->memory.allocate_count;
    players_stage_run(s, 15000);
    assert_int_equal(s->memory.allocate_count, before);
    players_stage_teardown(s);
}

// ---- lies

static void lie(const ph_bus_transport* liar, uint32_t epoch, bus_item item)
{
    bus_items head = {.kind = BUS_DOWN, .region = 1, .epoch = epoch, .name = "liar"};
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_items_begin(&writer, &head);
    assert_true(bus_items_add(&writer, &item));
    assert_true(bus_items_end(&writer, 1));
    liar->publish(liar->context, "to.w.front-0", writer.bytes, writer.size);
    bus_writer_destroy(&writer);
}

// What cannot be true is refused and counted, and changes nothing of the promises.
static void lies_about_players_are_refused(void** state)
{
    (void)state;
    players_stage* s = players_stage_setup(&USUAL);
    s->grants = false;
    players_stage_join(s, 0);
    const ph_bus_transport liar = memory_bus_transport(s->bus, memory_bus_add(s->bus));
    s->posts = true;
    players_stage_run(s, 1000);
    const uint8_t garbage[5] = {1, 2, 3, 4, 5};
    for (int i = 0; i < 20; ++i) {
        const bus_item whose = {
            .client_id = 1, .generation = s->players[0].generation, .key = s->players[0].key};
        bus_item item = whose;
        item.kind = BUS_ITEM_CONFIRM; // more than was ever sent
        item.received = UINT64_MAX;
        lie(&liar, 1, item);
        item.received = 0;
        item.input = UINT32_MAX;
        lie(&liar, 1, item);
        item.client_id = 77; // whom nobody knows
        lie(&liar, 1, item);
        item = whose;
        item.key = 5; // not its entity
        item.kind = BUS_ITEM_MOVED;
        lie(&liar, 1, item);
        item = whose;
        item.kind = BUS_ITEM_TELL; // with a hole before it
        item.first = 1000000;
        item.bytes = garbage;
        item.size = sizeof garbage;
        lie(&liar, 1, item);
        item.kind = BUS_ITEM_OWN;
        lie(&liar, 1, item);
        item = whose;
        item.kind = BUS_ITEM_REFUSED; // of a generation before
        item.generation = 0;
        lie(&liar, 1, item);
        liar.publish(liar.context, "to.w.front-0", garbage, sizeof garbage);
        players_stage_run(s, 100);
    }
    const ph_bus_front_stats stats = stats_of(s, 0);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_FIELD], 40);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_UNASKED], 40);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_BATCH], 20);
    players_stage_settle(s);
    assert_int_equal(joined(s), CAST_PEERS);
    players_stage_teardown(s);
}

// True messages to a front with some bits flipped, and random ones: nothing breaks, whatever becomes of the players.
static void malformed_messages_to_a_front_break_nothing(void** state)
{
    (void)state;
    memory_bus_def bus = USUAL;
    bus.has_log = true;
    players_stage* s = players_stage_setup(&bus);
    players_stage_join(s, 0);
    const ph_bus_transport liar = memory_bus_transport(s->bus, memory_bus_add(s->bus));
    int count;
    memory_bus_log(s->bus, &count);
    const int true_count = count;
    static uint8_t bytes[1 << 16];
    for (int i = 0; i < 6000; ++i) {
        const memory_bus_entry* one =
            &memory_bus_log(s->bus, &count)[test_rng_below(&s->rng, (uint64_t)true_count)];
        if (strcmp(one->subject, "to.w.front-0") != 0 || one->size > sizeof bytes) {
            continue;
        }
        const size_t size = one->size - (i % 3 == 0 ? (size_t)test_rng_below(&s->rng, 9) : 0);
        memcpy(bytes, one->bytes, one->size);
        for (int k = 1 + (int)test_rng_below(&s->rng, 3); k > 0; --k) {
            uint8_t* at = &bytes[test_rng_below(&s->rng, one->size)];
            *at = (uint8_t)(*at ^ 1u << test_rng_below(&s->rng, 8));
        }
        liar.publish(liar.context, "to.w.front-0", bytes, size);
        if (i % 100 == 0) {
            players_stage_run(s, 50);
        }
    }
    players_stage_run(s, 3000);
    const ph_bus_front_stats stats = stats_of(s, 0);
    uint64_t refused = 0;
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        refused += stats.refused[i];
    }
    assert_true(refused > 50);
    players_stage_teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(players_are_attached_and_see_their_surroundings),
        cmocka_unit_test(messages_and_inputs_arrive_once_and_in_order),
        cmocka_unit_test(players_go_with_their_entity_from_sim_to_sim),
        cmocka_unit_test(cells_follow_the_players),
        cmocka_unit_test(a_bad_bus_changes_nothing_of_that),
        cmocka_unit_test(players_go_on_when_their_front_dies),
        cmocka_unit_test(spares_left_from_the_login_are_replaced),
        cmocka_unit_test(spares_are_used_in_the_order_of_their_generations),
        cmocka_unit_test(spares_for_two_fronts_are_held_and_renewed),
        cmocka_unit_test(a_player_that_was_not_let_in_elsewhere_is_sent_on),
        cmocka_unit_test(an_attach_waits_for_no_tick_of_the_sims),
        cmocka_unit_test(a_front_is_emptied_in_order),
        cmocka_unit_test(an_older_generation_is_refused),
        cmocka_unit_test(a_player_that_leaves_is_detached_and_its_cells_are_left),
        cmocka_unit_test(a_hidden_own_entity_comes_to_its_player_alone),
        cmocka_unit_test(a_player_without_a_world_is_refused_after_a_while),
        cmocka_unit_test(the_game_may_send_a_player_away),
        cmocka_unit_test(a_warm_tick_with_players_allocates_nothing),
        cmocka_unit_test(lies_about_players_are_refused),
        cmocka_unit_test(malformed_messages_to_a_front_break_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
