// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client's end goes on with another server: by the state of the one before in orderly moves, and by the last state
// that was safe when that one has died. Links lose, doubled and refused things are counted; every message arrives
// exactly once and in order, both ways, and no input goes back.

#include "support/message_pair.h"

#include "message/bulk.h"
#include "tools/tools.h"

#include <string.h>

enum { CLIENT, SERVER, STATE_MAX = 16384, MESSAGES = 300, LOG_MAX = 1024, BLOCK_BYTES = 20000 };

// What outlives every server: the game's, or a sim's.
typedef struct sim {
    uint32_t processed;       // messages of the client
    uint32_t sent;            // messages to the client, all in this order
    uint32_t given;           // so many of them to the present server
    uint32_t sent_at_state;   // so many of them were given when the state was taken
    uint32_t input;           // the newest that had its effect
    uint8_t state[STATE_MAX]; // of the last safe moment
    size_t state_size;
} sim;

typedef struct play {
    ph_messages* ends[2];
    ph_messages_def def;
    test_rng rng;
    test_memory memory;
    uint64_t now_us;
    sim sim;
    uint32_t posted;   // by the client
    uint32_t received; // by the client
    uint32_t input;
    int moves;
} play;

static size_t size_of_message(uint32_t number)
{
    return 4 + number * 37 % 300;
}

static void fill(uint32_t number, uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    message_pair_fill(bytes, size_of_message(number), number);
}

static bool is_message(uint32_t number, const uint8_t* bytes, size_t size)
{
    uint8_t expected[PH_MESSAGE_SIZE_MAX];
    fill(number, expected);
    return size == size_of_message(number) && memcmp(bytes, expected, size) == 0;
}

static void setup(play* p, uint64_t seed, bool holds_acks)
{
    *p = (play){.now_us = 1000000, .rng = {.state = seed}};
    p->def = ph_messages_def_default();
    p->def.bits_per_second = 0;
    p->def.block_size_max = BLOCK_BYTES;
    p->def.allocator = test_memory_allocator(&p->memory);
    assert_int_equal(ph_messages_create(&p->def, &p->ends[CLIENT]), PH_OK);
    p->def.holds_acks = holds_acks;
    assert_int_equal(ph_messages_create(&p->def, &p->ends[SERVER]), PH_OK);
}

static void teardown(play* p)
{
    ph_messages_destroy(p->ends[CLIENT]);
    ph_messages_destroy(p->ends[SERVER]);
    test_memory_assert_clean(&p->memory);
}

static void save(play* p)
{
    p->sim.state_size = ph_messages_export(p->ends[SERVER], p->sim.state, STATE_MAX);
    assert_true(p->sim.state_size <= STATE_MAX);
    p->sim.sent_at_state = p->sim.given;
}

// What the server does with what has come: the sim has it, then its state is safe, then it is confirmed.
static void serve(play* p)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    ph_messages* server = p->ends[SERVER];
    for (size_t size; (size = ph_messages_receive(server, bytes)) > 0;) {
        if (ph_messages_received_count(server) <= p->sim.processed) {
            continue; // known
        }
        assert_true(is_message(p->sim.processed, bytes, size));
        ++p->sim.processed;
        assert_int_equal(ph_messages_received_count(server), p->sim.processed);
    }
    const ph_input input = ph_messages_newest_input(server);
    assert_true(input.number >= p->sim.input);
    if (input.number > 0) {
        assert_int_equal(input.bytes[0], (uint8_t)input.number);
    }
    p->sim.input = input.number;
    assert_int_equal(ph_messages_set_processed_input(server, input.number), PH_OK);
}

static void take_at_client(play* p)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(p->ends[CLIENT], bytes)) > 0; ++p->received) {
        assert_true(is_message(p->received, bytes, size));
    }
}

static void carry(play* p, int from, int loss_percent)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size = ph_messages_write_section(p->ends[from], p->now_us, PH_PAYLOAD_MAX, bytes);
    if ((int)(test_rng_next(&p->rng) % 100) < loss_percent) {
        return;
    }
    size_t used;
    assert_int_equal(ph_messages_read_section(p->ends[1 - from], p->now_us, bytes, size, &used),
                     PH_OK);
}

// In order, as many as there is room for; the rest later.
static void give(play* p)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    for (; p->sim.given < p->sim.sent; ++p->sim.given) {
        fill(p->sim.given, bytes);
        if (ph_messages_send(p->ends[SERVER], bytes, size_of_message(p->sim.given)) != PH_OK) {
            return;
        }
    }
}

static void post(play* p)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    if (p->posted < MESSAGES) {
        fill(p->posted, bytes);
        p->posted += ph_messages_send(p->ends[CLIENT], bytes, size_of_message(p->posted)) == PH_OK;
    }
    p->sim.sent += p->sim.sent < MESSAGES;
    give(p);
    bytes[0] = (uint8_t)(p->input + 1);
    p->input += ph_messages_set_input(p->ends[CLIENT], p->input + 1, bytes, 1) == PH_OK;
}

// The old server ends here, and another one goes on from what is safe.
static void move(play* p)
{
    ph_messages_destroy(p->ends[SERVER]);
    assert_int_equal(ph_messages_create(&p->def, &p->ends[SERVER]), PH_OK);
    assert_int_equal(ph_messages_import(p->ends[SERVER], p->sim.state, p->sim.state_size), PH_OK);
    p->sim.given = p->sim.sent_at_state;
    give(p);
    ph_messages_continue(p->ends[CLIENT]);
    ++p->moves;
}

static void settle(play* p)
{
    for (int i = 0; i < 2000 && (p->sim.processed < p->posted || p->received < p->sim.sent ||
                                 !ph_messages_is_all_acked(p->ends[CLIENT]) ||
                                 ph_messages_processed_input(p->ends[CLIENT]) < p->input);
         ++i) {
        carry(p, CLIENT, 0);
        serve(p);
        save(p);
        if (p->def.holds_acks) {
            ph_messages_confirm(p->ends[SERVER], p->sim.processed);
        }
        give(p);
        carry(p, SERVER, 0);
        take_at_client(p);
        p->now_us += 100000;
    }
    assert_int_equal(p->sim.processed, p->posted);
    assert_int_equal(p->received, p->sim.sent);
    assert_true(ph_messages_is_all_acked(p->ends[CLIENT]));
    assert_int_equal(p->sim.input, p->input);
    assert_int_equal(ph_messages_processed_input(p->ends[CLIENT]), p->input);
}

// ---- orderly: the state is taken at the last moment

static void orderly_moves_keep_every_message_and_input(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        play p;
        setup(&p, seed, false);
        for (int round = 0; round < 400; ++round) {
            post(&p);
            carry(&p, CLIENT, 20);
            if (test_rng_next(&p.rng) % 3 == 0) {
                serve(&p);
            }
            carry(&p, SERVER, 20);
            take_at_client(&p);
            p.now_us += 30000;
            if (test_rng_next(&p.rng) % 25 == 0) {
                save(&p);
                move(&p);
            }
        }
        assert_true(p.moves > 3);
        settle(&p);
        teardown(&p);
    }
}

// What is in flight does not wait for the time after which it counts as lost.
static void what_is_in_flight_goes_again_at_once(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    post(&p);
    save(&p);
    carry(&p, CLIENT, 100);
    carry(&p, SERVER, 100);
    move(&p);
    carry(&p, CLIENT, 0);
    carry(&p, SERVER, 0);
    serve(&p);
    take_at_client(&p);
    assert_int_equal(p.sim.processed, 1);
    assert_int_equal(p.received, 1);
    teardown(&p);
}

// ---- not orderly: a server dies, and what it had not made safe is lost with it

// The sim is told now and then; between two of these moments anything may be lost, but nothing was acked.
static void one_death(play* p)
{
    post(p);
    carry(p, CLIENT, 20);
    carry(p, SERVER, 20);
    take_at_client(p);
    p->now_us += 30000;
    if (test_rng_next(&p->rng) % 4 == 0) {
        serve(p);
        save(p);
        const bool is_answer_lost = test_rng_next(&p->rng) % 3 == 0;
        if (!is_answer_lost) {
            assert_int_equal(ph_messages_confirm(p->ends[SERVER], p->sim.processed), PH_OK);
        }
    }
    if (test_rng_next(&p->rng) % 30 == 0) {
        move(p);
    }
}

static void a_server_that_dies_loses_and_doubles_nothing(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        play p;
        setup(&p, seed, true);
        save(&p);
        for (int round = 0; round < 600; ++round) {
            one_death(&p);
        }
        assert_true(p.moves > 3);
        settle(&p);
        teardown(&p);
    }
}

static void held_acks_wait_for_the_game(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, true);
    post(&p);
    carry(&p, CLIENT, 0);
    carry(&p, SERVER, 0);
    assert_false(ph_messages_is_all_acked(p.ends[CLIENT]));
    serve(&p);
    carry(&p, SERVER, 0);
    assert_false(ph_messages_is_all_acked(p.ends[CLIENT]));
    assert_int_equal(ph_messages_confirm(p.ends[SERVER], 2), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_confirm(p.ends[SERVER], 1), PH_OK);
    assert_int_equal(ph_messages_confirm(p.ends[SERVER], 1), PH_OK);
    assert_int_equal(ph_messages_confirm(p.ends[SERVER], 0), PH_ERROR_ARGUMENT);
    carry(&p, SERVER, 0);
    assert_true(ph_messages_is_all_acked(p.ends[CLIENT]));
    teardown(&p);
}

// A hostile end does not wait for acks: no more than a window of messages is handed out unconfirmed.
static void a_game_that_never_confirms_gets_a_window_of_messages(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, true);
    uint8_t bytes[PH_MESSAGE_SIZE_MAX] = {7};
    int count = 0;
    for (int i = 0; i < 60; ++i) {
        ph_messages_send(p.ends[CLIENT], bytes, 1);
        // It believes that everything has come.
        p.ends[CLIENT]->outbox.oldest = p.ends[CLIENT]->outbox.unsent;
        carry(&p, CLIENT, 0);
        count += ph_messages_receive(p.ends[SERVER], bytes) > 0;
        p.now_us += 10000;
    }
    assert_int_equal(count, PH_MESSAGE_WINDOW);
    teardown(&p);
}

// ---- blocks and unreliable messages

static void carry_blocks(play* p, int from)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_messages_rest rest;
    while (ph_messages_plan_block(p->ends[from], p->now_us, INT64_MAX, 0) > 0) {
        const size_t size = ph_messages_pack(p->ends[from], NULL, 0, bytes);
        assert_int_equal(ph_messages_unpack(p->ends[1 - from], p->now_us, bytes, size, &rest),
                         PH_OK);
    }
    p->now_us += 50000;
}

static void post_block(play* p, int from, uint32_t tag, size_t size)
{
    static uint8_t bytes[BLOCK_BYTES];
    memset(bytes, (int)tag, size);
    assert_int_equal(ph_messages_send_block(p->ends[from], tag, bytes, size, NULL), PH_OK);
}

static void a_block_under_way_begins_again(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    post_block(&p, CLIENT, 1, 100);
    carry_blocks(&p, CLIENT);
    carry_blocks(&p, SERVER);
    ph_block block;
    assert_true(ph_messages_receive_block(p.ends[SERVER], &block));
    assert_false(ph_messages_receive_block(p.ends[SERVER], &block));
    post_block(&p, CLIENT, 2, BLOCK_BYTES);
    carry_blocks(&p, CLIENT); // some of it
    carry_blocks(&p, SERVER);
    assert_false(ph_messages_receive_block(p.ends[SERVER], &block));
    save(&p);
    move(&p);
    for (int i = 0; i < 50; ++i) {
        carry_blocks(&p, CLIENT);
        carry_blocks(&p, SERVER);
    }
    assert_true(ph_messages_receive_block(p.ends[SERVER], &block));
    assert_int_equal(block.tag, 2);
    assert_int_equal(block.size, BLOCK_BYTES);
    carry_blocks(&p, SERVER);
    assert_int_equal(ph_messages_get_stats(p.ends[CLIENT]).acked_blocks, 2);
    teardown(&p);
}

// All of it had come, and the sim has it; only the client does not know.
static void a_block_that_has_come_does_not_come_again(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    post_block(&p, CLIENT, 1, 1000);
    carry_blocks(&p, CLIENT);
    ph_block block;
    assert_true(ph_messages_receive_block(p.ends[SERVER], &block));
    save(&p);
    move(&p);
    carry_blocks(&p, CLIENT);
    assert_false(ph_messages_receive_block(p.ends[SERVER], &block));
    carry_blocks(&p, SERVER);
    assert_int_equal(ph_messages_get_stats(p.ends[CLIENT]).acked_blocks, 1);
    post_block(&p, CLIENT, 2, 500);
    carry_blocks(&p, CLIENT);
    assert_true(ph_messages_receive_block(p.ends[SERVER], &block));
    assert_int_equal(block.tag, 2);
    teardown(&p);
}

static void a_servers_block_is_sent_again_by_its_game(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    post_block(&p, SERVER, 9, BLOCK_BYTES);
    carry_blocks(&p, SERVER);
    save(&p);
    move(&p);
    ph_block block;
    assert_false(ph_messages_receive_block(p.ends[CLIENT], &block));
    post_block(&p, SERVER, 10, 3000); // another one under the same number
    for (int i = 0; i < 5; ++i) {
        carry_blocks(&p, SERVER);
        carry_blocks(&p, CLIENT);
    }
    assert_true(ph_messages_receive_block(p.ends[CLIENT], &block));
    assert_int_equal(block.tag, 10);
    assert_int_equal(block.size, 3000);
    assert_int_equal(block.bytes[2999], 10);
    teardown(&p);
}

static void a_cancelled_block_stays_cancelled(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    uint32_t id;
    const uint8_t bytes[2000] = {0};
    assert_int_equal(ph_messages_send_block(p.ends[CLIENT], 1, bytes, sizeof bytes, &id), PH_OK);
    carry_blocks(&p, CLIENT);
    assert_int_equal(ph_messages_cancel_block(p.ends[CLIENT], id), PH_OK);
    save(&p);
    move(&p);
    for (int i = 0; i < 5; ++i) {
        carry_blocks(&p, CLIENT);
        carry_blocks(&p, SERVER);
    }
    ph_block_end end;
    assert_true(ph_messages_next_block_end(p.ends[CLIENT], &end));
    assert_int_equal(end.outcome, PH_BLOCK_CANCELLED);
    ph_block block;
    (void)ph_messages_receive_block(p.ends[SERVER], &block);
    post_block(&p, CLIENT, 3, 100);
    for (int i = 0; i < 5; ++i) {
        carry_blocks(&p, CLIENT);
        carry_blocks(&p, SERVER);
        while (ph_messages_receive_block(p.ends[SERVER], &block)) {
        }
    }
    assert_int_equal(ph_messages_get_stats(p.ends[CLIENT]).acked_blocks, 1);
    teardown(&p);
}

static void unreliable_messages_go_on_at_once(void** state)
{
    (void)state;
    play p;
    setup(&p, 1, false);
    const uint8_t effect[4] = {1, 2, 3, 4};
    ph_unreliable came;
    for (int round = 0; round < 2; ++round) {
        for (int from = 0; from < 2; ++from) {
            for (int i = 0; i < 40; ++i) {
                const ph_unreliable_kind kind =
                    i % 2 == 0 ? PH_UNRELIABLE_NEWEST : PH_UNRELIABLE_ONCE;
                assert_int_equal(
                    ph_messages_send_unreliable(p.ends[from], kind, 3, effect, sizeof effect),
                    PH_OK);
                carry(&p, from, 0);
                assert_true(ph_messages_receive_unreliable(p.ends[1 - from], &came));
                assert_false(ph_messages_receive_unreliable(p.ends[1 - from], &came));
                p.now_us += 10000;
            }
        }
        save(&p);
        move(&p);
    }
    teardown(&p);
}

// ---- bytes

static void a_state_comes_out_as_it_went_in(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        play p;
        setup(&p, seed, false);
        for (int round = 0; round < 30; ++round) {
            post(&p);
            carry(&p, CLIENT, 30);
            carry(&p, SERVER, 30);
            p.now_us += 30000;
        }
        save(&p);
        move(&p);
        uint8_t again[STATE_MAX];
        // What was posted since the state was taken is in it, too: here nothing was.
        assert_int_equal(ph_messages_export(p.ends[SERVER], again, sizeof again), p.sim.state_size);
        assert_memory_equal(again, p.sim.state, p.sim.state_size);
        assert_int_equal(ph_messages_export(p.ends[SERVER], NULL, 0), p.sim.state_size);
        teardown(&p);
    }
}

static void a_state_that_is_none_is_refused(void** state)
{
    (void)state;
    play p;
    setup(&p, 5, false);
    for (int round = 0; round < 10; ++round) {
        post(&p);
        carry(&p, CLIENT, 30);
        carry(&p, SERVER, 30);
    }
    save(&p);
    ph_messages* fresh;
    assert_int_equal(ph_messages_create(&p.def, &fresh), PH_OK);
    for (size_t size = 0; size < p.sim.state_size; ++size) {
        assert_int_equal(ph_messages_import(fresh, p.sim.state, size), PH_ERROR_VALUE);
    }
    p.sim.state[0] = 2;
    assert_int_equal(ph_messages_import(fresh, p.sim.state, p.sim.state_size), PH_ERROR_VALUE);
    p.sim.state[0] = 1;
    assert_int_equal(ph_messages_import(fresh, p.sim.state, p.sim.state_size), PH_OK);
    assert_int_equal(ph_messages_import(fresh, p.sim.state, p.sim.state_size), PH_ERROR_ARGUMENT);
    ph_messages_destroy(fresh);
    ph_messages_def small = p.def;
    small.send_queue_fragments = 32;
    small.receive_queue_fragments = 32;
    for (int i = 0; i < 60; ++i) {
        ph_messages_send(p.ends[SERVER], "x", 1);
    }
    save(&p);
    assert_int_equal(ph_messages_create(&small, &fresh), PH_OK);
    assert_int_equal(ph_messages_import(fresh, p.sim.state, p.sim.state_size), PH_ERROR_FULL);
    ph_messages_destroy(fresh);
    teardown(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orderly_moves_keep_every_message_and_input),
        cmocka_unit_test(what_is_in_flight_goes_again_at_once),
        cmocka_unit_test(a_server_that_dies_loses_and_doubles_nothing),
        cmocka_unit_test(held_acks_wait_for_the_game),
        cmocka_unit_test(a_game_that_never_confirms_gets_a_window_of_messages),
        cmocka_unit_test(a_block_under_way_begins_again),
        cmocka_unit_test(a_block_that_has_come_does_not_come_again),
        cmocka_unit_test(a_servers_block_is_sent_again_by_its_game),
        cmocka_unit_test(a_cancelled_block_stays_cancelled),
        cmocka_unit_test(unreliable_messages_go_on_at_once),
        cmocka_unit_test(a_state_comes_out_as_it_went_in),
        cmocka_unit_test(a_state_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
