// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks and unreliable messages between a ph_host and a ph_peer, in simulated time: both ways, with their events,
// and within the budget at the socket.

#include "support/peer_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KB = 1024, CLIENT = 0 };

typedef struct heard {
    uint32_t tags[8];
    int block_count;
    size_t size;  // of the last block
    uint32_t sum; // of its bytes
    ph_block_progress progress[2];
    int progress_count[2];
    ph_block_end end;
    char text[PH_ERROR_TEXT_SIZE];
    int unreliable_count;
    int channel;
    size_t unreliable_size;
} heard;

static uint32_t sum_of(const uint8_t* bytes, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; ++i) {
        sum = sum * 31 + bytes[i];
    }
    return sum;
}

static void hear(void* context, const ph_peer_event* event)
{
    heard* it = context;
    switch (event->kind) {
    case PH_PEER_BLOCK:
        it->tags[it->block_count++ % 8] = event->tag;
        it->size = event->size;
        it->sum = sum_of(event->bytes, event->size);
        break;
    case PH_PEER_BLOCK_PROGRESS:
        assert_true(event->progress.done > 0 && event->progress.done <= event->progress.size);
        assert_int_equal(event->progress.tag, event->tag);
        it->progress[event->is_ours] = event->progress;
        ++it->progress_count[event->is_ours];
        break;
    case PH_PEER_BLOCK_SENT:
    case PH_PEER_BLOCK_UNSENT:
        it->end = event->block;
        snprintf(it->text, sizeof it->text, "%s", event->text);
        break;
    case PH_PEER_UNRELIABLE:
        ++it->unreliable_count;
        it->channel = event->channel;
        it->unreliable_size = event->size;
        break;
    default:
        break;
    }
}

static peer_stage* setup(heard* it)
{
    peer_stage* s = peer_stage_setup();
    memset(it, 0, sizeof *it);
    s->players[0].on_event = hear;
    s->players[0].context = it;
    s->viewer.bits_per_second = 0;
    s->messages.block_size_max = 1 << 20;
    return s;
}

static void join(peer_stage* s)
{
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 1000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
}

static uint8_t* make(size_t size, uint64_t seed)
{
    uint8_t* bytes = malloc(size);
    test_rng rng = {.state = seed};
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)test_rng_next(&rng);
    }
    return bytes;
}

// @return Ticks until it has come.
static int send_down(peer_stage* s, heard* it, uint32_t tag, size_t size)
{
    uint8_t* bytes = make(size, tag);
    const int before = it->block_count;
    assert_int_equal(
        ph_messages_send_block(ph_host_messages(s->host, CLIENT), tag, bytes, size, NULL), PH_OK);
    int ticks = 0;
    for (; it->block_count == before; ++ticks) {
        assert_true(ticks < 20000);
        peer_stage_tick(s);
    }
    assert_int_equal(it->tags[before % 8], tag);
    assert_int_equal(it->size, size);
    assert_int_equal(it->sum, sum_of(bytes, size));
    free(bytes);
    return ticks;
}

static void a_block_comes_down_in_a_second(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    join(s);
    const int ticks = send_down(s, &it, 9, 256 * KB);
    print_message("256 KB without a limit: %d ticks of 50 ms\n", ticks);
    assert_true(ticks < 20);
    assert_true(it.progress_count[0] >= 1 && it.progress_count[0] <= 10);
    assert_int_equal(it.progress[0].tag, 9);
    assert_int_equal(it.progress[0].size, 256 * KB);
    send_down(s, &it, 10, 1);
    peer_stage_run(s, 500);
    ph_block_end end;
    assert_true(ph_messages_next_block_end(ph_host_messages(s->host, CLIENT), &end));
    assert_int_equal(end.outcome, PH_BLOCK_SENT);
    assert_int_equal(end.tag, 9);
    peer_stage_teardown(s);
}

// A game gives more while it loads a map, and takes it back: each budget is kept, and used.
static void another_budget_while_a_map_loads(void** state)
{
    (void)state;
    static const int budgets[] = {256000, 0, 64000};
    heard it;
    peer_stage* s = setup(&it);
    s->viewer.bits_per_second = 13000;
    join(s);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(ph_host_set_budget(s->host, CLIENT, budgets[i], 0), PH_OK);
        assert_int_equal(ph_host_bits_per_second(s->host, CLIENT), budgets[i]);
        const int ticks = send_down(s, &it, (uint32_t)i, 64 * KB);
        print_message("64 KB at %d bit/s: %d ticks of 50 ms\n", budgets[i], ticks);
        // At 13 kbit/s it would take more than 40 s.
        assert_true(ticks < (budgets[i] == 64000 ? 20 * 20 : 4 * 20));
    }
    assert_int_equal(ph_host_set_budget(s->host, CLIENT, 13000, 0), PH_OK);
    peer_stage_run(s, 1000);
    const uint64_t before = ph_host_get_stats(s->host).sent_wire_bytes;
    uint8_t* bytes = make(64 * KB, 5);
    ph_messages* messages = ph_host_messages(s->host, CLIENT);
    assert_int_equal(ph_messages_send_block(messages, 5, bytes, 64 * KB, NULL), PH_OK);
    peer_stage_run(s, 10000);
    const uint64_t sent = ph_host_get_stats(s->host).sent_wire_bytes - before;
    assert_true(sent * 8 <= 13000 * 11 && sent * 8 >= 13000 * 9);
    assert_int_equal(ph_host_get_stats(s->host).over_budget_datagrams, 0);
    free(bytes);
    // What is wrong leaves everything as it was.
    assert_int_equal(ph_host_set_budget(s->host, CLIENT, -1, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_set_budget(s->host, CLIENT, 13000, -1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_bits_per_second(s->host, CLIENT), 13000);
    assert_int_equal(ph_host_set_budget(s->host, CLIENT + 1, 13000, 0), PH_ERROR_STALE);
    assert_int_equal(ph_host_set_budget(s->host, -1, 13000, 0), PH_ERROR_STALE);
    peer_stage_teardown(s);
}

// Within a budget, nothing goes over it at the socket, and blocks use what the view leaves.
static void a_block_stays_within_the_budget(void** state)
{
    (void)state;
    static const int rates[] = {13000, 64000};
    for (int i = 0; i < 2; ++i) {
        heard it;
        peer_stage* s = setup(&it);
        s->viewer.bits_per_second = rates[i];
        s->def.is_rate_fixed = true;
        assert_int_equal(peer_stage_open_host(s), PH_OK);
        join(s);
        const size_t size = (size_t)rates[i]; // eight seconds, if everything were for it
        const uint64_t before = ph_host_get_stats(s->host).sent_wire_bytes;
        const int ticks = send_down(s, &it, 3, size);
        const ph_host_stats stats = ph_host_get_stats(s->host);
        const double seconds = ticks * (PEER_STAGE_TICK_US * 1e-6);
        print_message("%zu bytes at %d bit/s: %.1f s\n", size, rates[i], seconds);
        assert_int_equal(stats.over_budget_datagrams, 0);
        assert_true(seconds < 13.0);
        assert_true(8.0 * (double)(stats.sent_wire_bytes - before) < rates[i] * (seconds + 1.1));
        peer_stage_teardown(s);
    }
}

static void a_block_goes_up(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    s->viewer.bits_per_second = 13000; // of the server, for its acks
    join(s);
    uint8_t* bytes = make(200 * KB, 4);
    uint32_t id;
    assert_int_equal(ph_peer_send_block(s->players[0].peer, 4, bytes, 200 * KB, &id), PH_OK);
    ph_block block = {0};
    int ticks = 0;
    while (!ph_messages_receive_block(ph_host_messages(s->host, CLIENT), &block)) {
        assert_true(++ticks < 100);
        peer_stage_tick(s);
    }
    print_message("200 KB up, with acks within 13 kbit/s: %d ticks of 50 ms\n", ticks);
    assert_int_equal(block.tag, 4);
    assert_int_equal(block.size, 200 * KB);
    assert_memory_equal(block.bytes, bytes, block.size);
    assert_false(ph_messages_receive_block(ph_host_messages(s->host, CLIENT), &block));
    peer_stage_run(s, 2000);
    assert_int_equal(s->players[0].counts[PH_PEER_BLOCK_SENT], 1);
    assert_int_equal(it.end.id, id);
    assert_true(it.progress_count[1] > 0);
    assert_int_equal(ph_host_get_stats(s->host).over_budget_datagrams, 0);
    free(bytes);
    peer_stage_teardown(s);
}

static void refuse(bool accepts_some, const char* text)
{
    heard it;
    peer_stage* s = setup(&it);
    s->messages.block_size_max = accepts_some ? 1000 : 0;
    join(s);
    uint8_t bytes[1001] = {0};
    assert_int_equal(ph_peer_send_block(s->players[0].peer, 8, bytes, sizeof bytes, NULL), PH_OK);
    peer_stage_run(s, 2000);
    assert_int_equal(s->players[0].counts[PH_PEER_BLOCK_UNSENT], 1);
    assert_int_equal(it.end.tag, 8);
    assert_string_equal(it.text, text);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    peer_stage_teardown(s);
}

static void a_refused_block_is_explained(void** state)
{
    (void)state;
    refuse(false, "the server accepts no blocks");
    refuse(true, "the block has 1,001 bytes; the server accepts 1,000 at most");
}

static void a_block_can_be_cancelled(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    join(s);
    uint8_t* bytes = make(900 * KB, 1);
    uint32_t id;
    assert_int_equal(ph_peer_cancel_block(s->players[0].peer, 1), PH_ERROR_STALE);
    assert_int_equal(ph_peer_send_block(s->players[0].peer, 1, bytes, 900 * KB, &id), PH_OK);
    peer_stage_run(s, 200);
    assert_int_equal(ph_peer_cancel_block(s->players[0].peer, id), PH_OK);
    peer_stage_run(s, 2000);
    assert_int_equal(it.end.outcome, PH_BLOCK_CANCELLED);
    assert_string_equal(it.text, "this program has cancelled the block");
    ph_block_progress progress;
    assert_false(ph_messages_receiving_block(ph_host_messages(s->host, CLIENT), &progress));
    free(bytes);
    peer_stage_teardown(s);
}

// The connection ends in the middle: the peer says why, nothing leaks, and the next connection begins anew.
static void a_block_is_cut_off(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    join(s);
    uint8_t* bytes = make(900 * KB, 1);
    assert_int_equal(
        ph_messages_lend_block(ph_host_messages(s->host, CLIENT), 1, bytes, 900 * KB, NULL), PH_OK);
    assert_int_equal(ph_peer_send_block(s->players[0].peer, 2, bytes, 900 * KB, NULL), PH_OK);
    peer_stage_run(s, 200);
    ph_host_disconnect(s->host, CLIENT);
    peer_stage_run(s, 1000);
    assert_int_equal(s->players[0].counts[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(it.block_count, 0);
    assert_int_equal(ph_peer_send_block(s->players[0].peer, 2, bytes, 10, NULL), PH_ERROR_STALE);
    assert_int_equal(ph_peer_send_unreliable(s->players[0].peer, PH_UNRELIABLE_ONCE, 0, bytes, 10),
                     PH_ERROR_STALE);
    join(s);
    send_down(s, &it, 5, 20 * KB);
    free(bytes);
    peer_stage_teardown(s);
}

static void unreliable_messages_go_both_ways(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    s->viewer.bits_per_second = 13000;
    join(s);
    uint8_t bytes[PH_UNRELIABLE_SIZE_MAX] = {7};
    // The largest, too, and from the client with the next tick.
    assert_int_equal(
        ph_peer_send_unreliable(s->players[0].peer, PH_UNRELIABLE_NEWEST, 3, bytes, sizeof bytes),
        PH_OK);
    peer_stage_tick(s);
    peer_stage_tick(s);
    ph_unreliable message;
    ph_messages* messages = ph_host_messages(s->host, CLIENT);
    assert_true(ph_messages_receive_unreliable(messages, &message));
    assert_int_equal(message.size, sizeof bytes);
    assert_int_equal(message.channel, 3);
    assert_int_equal(message.kind, PH_UNRELIABLE_NEWEST);
    assert_int_equal(ph_messages_send_unreliable(messages, PH_UNRELIABLE_ONCE, 11, bytes, 300),
                     PH_OK);
    peer_stage_run(s, 400);
    assert_int_equal(it.unreliable_count, 1);
    assert_int_equal(it.channel, 11);
    assert_int_equal(it.unreliable_size, 300);
    assert_int_equal(ph_host_get_stats(s->host).over_budget_datagrams, 0);
    peer_stage_teardown(s);
}

static void the_def_of_messages_is_looked_at(void** state)
{
    (void)state;
    heard it;
    peer_stage* s = setup(&it);
    s->is_closed = true;
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 1000);
    ph_messages_def wrong = ph_messages_def_default();
    wrong.block_share_percent = 101;
    assert_int_equal(ph_host_admit(s->host, CLIENT, &s->viewer, &wrong), PH_ERROR_ARGUMENT);
    wrong = (ph_messages_def){0};
    assert_int_equal(ph_host_admit(s->host, CLIENT, &s->viewer, &wrong), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_admit(s->host, CLIENT, &s->viewer, NULL), PH_OK);
    ph_peer_def def = ph_peer_def_default();
    def.schema = s->schema;
    def.block_size_max = -1;
    ph_peer* peer;
    assert_int_equal(ph_peer_open(&def, &peer), PH_ERROR_ARGUMENT);
    peer_stage_teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_comes_down_in_a_second),
        cmocka_unit_test(a_block_stays_within_the_budget),
        cmocka_unit_test(a_block_goes_up),
        cmocka_unit_test(a_refused_block_is_explained),
        cmocka_unit_test(a_block_can_be_cancelled),
        cmocka_unit_test(another_budget_while_a_map_loads),
        cmocka_unit_test(a_block_is_cut_off),
        cmocka_unit_test(unreliable_messages_go_both_ways),
        cmocka_unit_test(the_def_of_messages_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
