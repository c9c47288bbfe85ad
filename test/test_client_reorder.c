// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets that overtake each other: held back for a moment where that happens, and nowhere else; and whatever comes,
// packets are applied in the order in which they were sent, and no ack says otherwise.

#include "support/client_scene.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <string.h>

enum { WALKER = 10, MS = 1000, FIRST = 2 };

static client_scene scene;

static int setup(void** state)
{
    (void)state;
    client_scene_setup(&scene);
    client_scene_begin(&scene); // packet 1
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    client_scene_teardown(&scene);
    return 0;
}

// ---- packets: the health of the walker is the number of the packet

static client_packet packet_of(int number)
{
    client_packet packet = client_packet_after(&scene, number, 1);
    client_record_health(client_packet_update(&packet, 0, 1), &packet, number);
    client_packet_write(&packet);
    return packet;
}

static ph_result give(int number, uint64_t passed_us)
{
    const client_packet packet = packet_of(number);
    scene.now_us += passed_us;
    const ph_result result =
        ph_client_receive(scene.client, scene.now_us, packet.bytes, packet.size);
    assert_true(ph_client_validate(scene.client));
    return result;
}

static int health(void)
{
    return client_scene_walker(&scene, WALKER).health;
}

static ph_ack ack_now(void)
{
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack ack;
    assert_int_equal(ph_client_write_ack(scene.client, scene.now_us, bytes), PH_ACK_SIZE);
    assert_true(ph_ack_read(bytes, sizeof bytes, &ack));
    assert_true(ph_client_validate(scene.client));
    return ack;
}

static int newest(void)
{
    return (int)(scene.client->session.arrivals.receipt.newest - SCENE_SESSION);
}

// 2 is overtaken by 3, by 5 ms. It is too late for it; from now on the client waits.
static void teach(void)
{
    assert_int_equal(give(3, 10 * MS), PH_OK);
    assert_int_equal(health(), 3);
    assert_int_equal(give(2, 5 * MS), PH_ERROR_STALE);
    assert_int_equal(health(), 3);
}

// ---- when packets are held back

static void nothing_waits_where_nothing_is_reordered(void** state)
{
    (void)state;
    assert_int_equal(give(2, 10 * MS), PH_OK);
    assert_int_equal(give(4, 10 * MS), PH_OK); // 3 is lost
    assert_int_equal(health(), 4);
    assert_int_equal(give(8, 10 * MS), PH_OK);
    assert_int_equal(health(), 8);
    assert_int_equal(give(8, 10 * MS), PH_ERROR_STALE); // twice is not late
    assert_int_equal(give(10, 10 * MS), PH_OK);
    assert_int_equal(health(), 10);
}

static void overtaker_waits_for_the_one_before_it(void** state)
{
    (void)state;
    teach();
    assert_int_equal(give(5, 10 * MS), PH_OK);
    assert_int_equal(health(), 3);
    assert_int_equal(ack_now().newest, SCENE_SESSION + 3); // 5 is not named before it is applied
    assert_int_equal(give(4, 4 * MS), PH_OK);
    assert_int_equal(health(), 5);
    const ph_ack ack = ack_now();
    assert_int_equal(ack.newest, SCENE_SESSION + 5);
    assert_int_equal(ack.applied & 0xF, 7); // 5, 4, 3; and 2 never
    assert_int_equal(ph_client_get_stats(scene.client).refused_datagrams[PH_CLIENT_REFUSAL_OLD], 1);
}

static void what_never_comes_is_waited_for_as_long_as_others_were_late(void** state)
{
    (void)state;
    teach();
    assert_int_equal(give(5, 10 * MS), PH_OK);
    assert_int_equal(ph_client_ack_due_us(scene.client), scene.now_us - 15 * MS); // of 3, still
    ack_now();
    assert_int_equal(ph_client_ack_due_us(scene.client), scene.now_us + 5 * MS);
    scene.now_us += 5 * MS - 1;
    ph_client_advance(scene.client, scene.now_us);
    assert_int_equal(health(), 3);
    scene.now_us += 1;
    ph_client_advance(scene.client, scene.now_us);
    assert_int_equal(health(), 5);
    assert_int_equal(give(4, 1 * MS), PH_ERROR_STALE);
    assert_int_equal(scene.client->reorder.wait_us, 6 * MS); // this one would have needed more
}

static void wait_is_never_longer_than_thirty_milliseconds(void** state)
{
    (void)state;
    assert_int_equal(give(3, 10 * MS), PH_OK);
    assert_int_equal(give(2, 4000 * MS), PH_ERROR_STALE);
    assert_int_equal(give(5, 10 * MS), PH_OK);
    assert_int_equal(health(), 3);
    scene.now_us += 30 * MS;
    ph_client_advance(scene.client, scene.now_us);
    assert_int_equal(health(), 5);
}

// Losses, one after the other: what is waited for in vain eight times is waited for no more.
static void losses_end_the_waiting(void** state)
{
    (void)state;
    teach();
    int waited = 0;
    for (int number = 5; number <= 29; number += 2) {
        assert_int_equal(give(number, 10 * MS), PH_OK);
        waited += health() != number;
        scene.now_us += 10 * MS;
        ph_client_advance(scene.client, scene.now_us);
        assert_int_equal(health(), number);
    }
    assert_int_equal(waited, 8);
}

// What is not held by a client that is told so is dropped, as if it were lost.
static void client_may_be_told_not_to_wait(void** state)
{
    (void)state;
    client_scene_teardown(&scene);
    client_scene_setup(&scene);
    ph_client_def def = scene.client->def;
    ph_client_destroy(scene.client);
    def.reorder_wait_ms = 0;
    assert_int_equal(ph_client_create(&def, &scene.client), PH_OK);
    client_scene_begin(&scene);
    teach();
    assert_int_equal(give(5, 10 * MS), PH_OK);
    assert_int_equal(health(), 5);
    assert_int_equal(give(4, 0), PH_ERROR_STALE);
    def.reorder_wait_ms = 101;
    ph_client* refused;
    assert_int_equal(ph_client_create(&def, &refused), PH_ERROR_ARGUMENT);
}

static void no_more_than_four_are_held(void** state)
{
    (void)state;
    teach();
    for (int number = 5; number <= 8; ++number) {
        assert_int_equal(give(number, 0), PH_OK);
    }
    assert_int_equal(health(), 3);
    assert_int_equal(give(9, 0), PH_OK);
    assert_int_equal(health(), 9);
    assert_int_equal(ack_now().applied & 0xFF, 0x5F); // 9 to 5, and 3
}

// Four are held and a fifth comes, behind them all: it is judged by what they say, not by what was known before them.
// A horizon behind that of the last applied packet is refused.
static void packet_that_finds_no_room_is_judged_behind_those_that_were_held(void** state)
{
    (void)state;
    teach();
    for (int number = 5; number <= 8; ++number) {
        client_packet packet = client_packet_after(&scene, number, 3);
        client_record_health(client_packet_update(&packet, 0, 1), &packet, number);
        client_packet_write(&packet);
        assert_int_equal(ph_client_receive(scene.client, scene.now_us, packet.bytes, packet.size),
                         PH_OK);
    }
    assert_int_equal(health(), 3);
    give(9, 0); // with the horizon 1
    assert_int_equal(health(), 8);
    assert_int_equal(ack_now().newest, SCENE_SESSION + 8);
    const ph_client_stats stats = ph_client_get_stats(scene.client);
    assert_int_equal(stats.refused_datagrams[PH_CLIENT_REFUSAL_SEQUENCE], 1);
}

// One more gap, and nothing is held any more.
static void teach_and_lose_seven(void)
{
    teach();
    for (int number = 5; number <= 17; number += 2) {
        assert_int_equal(give(number, 10 * MS), PH_OK);
        scene.now_us += 10 * MS;
        ph_client_advance(scene.client, scene.now_us);
    }
    assert_int_equal(health(), 17);
    assert_int_equal(scene.client->reorder.trust, 1);
}

// When waiting has ended, what is held behind a second gap is applied: else the next packet would pass over it.
static void end_of_the_waiting_drops_nothing_that_is_held(void** state)
{
    (void)state;
    teach_and_lose_seven();
    assert_int_equal(give(19, 10 * MS), PH_OK);
    assert_int_equal(give(21, 2 * MS), PH_OK);
    assert_int_equal(health(), 17);
    scene.now_us += 3 * MS;
    ph_client_advance(scene.client, scene.now_us); // the time of 19 is up
    assert_int_equal(health(), 21);
    assert_int_equal(give(23, 0), PH_OK);
    assert_int_equal(health(), 23);
    assert_int_equal(ack_now().applied & 0x7F, 0x55); // 23, 21, 19, 17
}

// The same when it ends because there is no room: the one that comes does not wait either.
static void packet_that_ends_the_waiting_does_not_wait(void** state)
{
    (void)state;
    teach_and_lose_seven();
    for (int number = 19; number <= 22; ++number) {
        assert_int_equal(give(number, 0), PH_OK);
    }
    assert_int_equal(health(), 17);
    assert_int_equal(give(24, 0), PH_OK);
    assert_int_equal(health(), 24);
    assert_int_equal(ack_now().applied & 0xFF, 0xBD); // 24, 22 to 19, 17
}

// What was read in one go has one time; nothing is known of how late it is, and nothing has to wait.
static void datagrams_read_in_one_go_are_put_in_order(void** state)
{
    (void)state;
    assert_int_equal(give(3, 10 * MS), PH_OK);
    assert_int_equal(give(2, 0), PH_ERROR_STALE);
    for (int from = 4; from < 40; from += 3) {
        assert_int_equal(give(from + 2, 10 * MS), PH_OK);
        assert_int_equal(give(from, 0), PH_OK);
        assert_int_equal(give(from + 1, 0), PH_OK);
        assert_int_equal(health(), from + 2);
    }
    assert_int_equal(give(44, 10 * MS), PH_OK); // 43 is lost
    assert_int_equal(ack_now().newest, SCENE_SESSION + 44);
    assert_int_equal(health(), 44);
}

// ---- what ends the waiting

static void probe_ends_the_waiting(void** state)
{
    (void)state;
    teach();
    assert_int_equal(give(5, 10 * MS), PH_OK);
    client_packet probe = client_packet_probe(&scene, 6);
    client_packet_write(&probe);
    assert_int_equal(ph_client_receive(scene.client, scene.now_us, probe.bytes, probe.size), PH_OK);
    assert_int_equal(health(), 5);
    assert_int_equal(ack_now().applied & 0xF, 0xA); // 6 was a probe, 4 is lost
}

static void forged_packet_that_is_held_does_not_keep_out_the_real_one(void** state)
{
    (void)state;
    teach();
    client_packet forged = packet_of(5);
    memset(forged.bytes + forged.size, 0xFF, 3);
    assert_int_equal(ph_client_receive(scene.client, scene.now_us, forged.bytes, forged.size + 3),
                     PH_OK);
    assert_int_equal(health(), 3);
    assert_int_equal(give(5, 0), PH_OK);
    assert_int_equal(ack_now().newest, SCENE_SESSION + 3); // waits again, as 4 is missing
    scene.now_us += 30 * MS;
    assert_int_equal(ack_now().newest, SCENE_SESSION + 5);
    assert_int_equal(health(), 5);
    assert_int_equal(ph_client_get_stats(scene.client).applied_packets, 3);
}

static void same_packet_twice_is_applied_once(void** state)
{
    (void)state;
    teach();
    assert_int_equal(give(5, 10 * MS), PH_OK);
    assert_int_equal(give(5, 0), PH_OK); // one of them may be forged: held, too
    assert_int_equal(health(), 3);
    assert_int_equal(give(4, 0), PH_OK);
    assert_int_equal(health(), 5);
    const ph_client_stats stats = ph_client_get_stats(scene.client);
    assert_int_equal(stats.applied_packets, 4);
    assert_int_equal(stats.refused_datagrams[PH_CLIENT_REFUSAL_OLD], 2);
}

// ---- whatever comes

// Packets come in any order, twice or never, and are acked at any time: what an ack says of a packet is never taken
// back, and what is shown is the newest that it names as applied.
static void no_ack_is_ever_taken_back(void** state)
{
    (void)state;
    enum { ROUNDS = 300, PACKETS = 60 };
    test_rng rng = {.state = 909};
    int held_count = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        setup(NULL);
        int fate[PACKETS + 8] = {0}; // 1: applied, -1: never
        int number = FIRST;
        for (int i = 0; i < PACKETS; ++i) {
            const int back = (int)test_rng_below(&rng, 4);
            const int given = number - back < FIRST ? FIRST : number - back;
            give(given, test_rng_below(&rng, 9) * MS);
            number += (int)test_rng_below(&rng, 3) != 0;
            held_count += scene.client->reorder.count;
            if (test_rng_below(&rng, 2) != 0) {
                continue;
            }
            const ph_ack ack = ack_now();
            assert_int_equal(health() == 100 ? 1 : health(), newest());
            for (int k = newest(); k >= FIRST && k > newest() - 64; --k) {
                const int now = ack.applied >> (newest() - k) & 1 ? 1 : -1;
                assert_true(fate[k] == 0 || fate[k] == now);
                fate[k] = now;
            }
        }
        teardown(NULL);
    }
    assert_true(held_count > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_waits_where_nothing_is_reordered, setup, teardown),
        cmocka_unit_test_setup_teardown(overtaker_waits_for_the_one_before_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_never_comes_is_waited_for_as_long_as_others_were_late,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(wait_is_never_longer_than_thirty_milliseconds, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(losses_end_the_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(client_may_be_told_not_to_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_than_four_are_held, setup, teardown),
        cmocka_unit_test_setup_teardown(
            packet_that_finds_no_room_is_judged_behind_those_that_were_held, setup, teardown),
        cmocka_unit_test_setup_teardown(end_of_the_waiting_drops_nothing_that_is_held, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(packet_that_ends_the_waiting_does_not_wait, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(datagrams_read_in_one_go_are_put_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(probe_ends_the_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_packet_that_is_held_does_not_keep_out_the_real_one,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(same_packet_twice_is_applied_once, setup, teardown),
        cmocka_unit_test(no_ack_is_ever_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
