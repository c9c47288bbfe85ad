// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client's life: creation and memory, how a session begins, which datagrams are refused and why,
// acknowledgements, stats.

#include "support/client_scene.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

#include <string.h>

static int setup(void** state)
{
    static client_scene scene;
    client_scene_setup(&scene);
    *state = &scene;
    return 0;
}

static int setup_session(void** state)
{
    setup(state);
    client_scene_begin(*state);
    return 0;
}

static int teardown(void** state)
{
    client_scene_teardown(*state);
    return 0;
}

// ---- creation

static void creation_fails_cleanly_whichever_allocation_fails(void** state)
{
    (void)state;
    ph_schema* schema = client_scene_schema();
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        ph_client_def def = ph_client_def_default();
        def.schema = schema;
        def.allocator = test_memory_allocator(&memory);
        ph_client* client = (ph_client*)&memory;
        const ph_result result = ph_client_create(&def, &client);
        if (result == PH_OK) {
            assert_in_range(n, 10, 40);
            assert_true(ph_client_validate(client));
            ph_client_destroy(client);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(client);
        test_memory_assert_clean(&memory);
    }
    ph_schema_destroy(schema);
}

static void senseless_defs_are_refused(void** state)
{
    client_scene* scene = *state;
    ph_client* client = NULL;
    const int capacities[] = {INT32_MIN, -1, 0, 1, 65536};
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; ++i) {
        ph_client_def def = ph_client_def_default();
        def.schema = scene->schema;
        def.slot_capacity = capacities[i];
        assert_int_equal(ph_client_create(&def, &client), PH_ERROR_ARGUMENT);
    }
    ph_client_def def = ph_client_def_default();
    assert_int_equal(ph_client_create(&def, &client), PH_ERROR_ARGUMENT);
    def.schema = scene->schema;
    def.profile = PH_PROFILE_COUNT;
    assert_int_equal(ph_client_create(&def, &client), PH_ERROR_ARGUMENT);
    assert_null(client);
    ph_client_destroy(NULL);
}

static void a_new_client_knows_nothing(void** state)
{
    client_scene* scene = *state;
    uint8_t ack[PH_ACK_SIZE];
    ph_event event;
    assert_int_equal(ph_client_write_ack(scene->client, scene->now_us, ack), 0);
    assert_false(ph_client_poll(scene->client, &event));
    assert_int_equal(ph_client_slot_count(scene->client), 0);
    assert_int_equal(ph_client_entity_count(scene->client), 0);
    assert_int_equal(ph_client_entity_at(scene->client, 0).index1, 0);
    assert_int_equal(ph_client_find(scene->client, 10).index1, 0);
    assert_true(ph_client_get_stats(scene->client).tick_us == 0);
}

// ---- hello

static void a_hello_begins_the_session(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_make(scene, 1);
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    assert_int_equal(ph_client_slot_count(scene->client), SCENE_SLOTS);
    assert_int_equal(ph_client_entity_count(scene->client), 1);
    const ph_client_stats stats = ph_client_get_stats(scene->client);
    assert_int_equal(stats.tick_us, SCENE_TICK_US);
    assert_int_equal(stats.newest_sequence, SCENE_SESSION + 1);
}

static void packets_before_a_hello_are_dropped(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_EARLY);
    client_packet probe = client_packet_probe(scene, 2);
    client_scene_refuse(scene, &probe, PH_CLIENT_REFUSAL_EARLY);
}

static void another_server_is_refused(void** state)
{
    client_scene* scene = *state;
    const client_packet good = client_packet_make(scene, 1);
    client_packet packet = good;
    packet.header.hello.fingerprint ^= 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    packet.header.hello.version = PH_CLASSIC_VERSION + 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    packet.header.hello.slot_count = SCENE_SLOTS + 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static void a_hello_that_says_something_else_is_refused(void** state)
{
    client_scene* scene = *state;
    const client_packet good = client_packet_make(scene, 2);
    client_packet packet = good;
    packet.header.hello.session -= 1;
    packet.header.horizon -= 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    packet.header.hello.tick_us += 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    packet.header.hello.slot_count -= 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = good;
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static void a_hello_with_broken_records_begins_nothing(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_make(scene, 1);
    client_packet_enter(&packet, 0, 2, SCENE_WALKER, 10);
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    assert_int_equal(ph_client_slot_count(scene->client), 0);
}

// ---- numbers

static void old_and_doubled_packets_are_dropped(void** state)
{
    client_scene* scene = *state;
    client_packet third = client_packet_after(scene, 3, 1);
    assert_int_equal(client_scene_send(scene, &third), PH_OK);
    client_scene_refuse(scene, &third, PH_CLIENT_REFUSAL_OLD);
    client_packet second = client_packet_after(scene, 2, 1);
    client_record_health(client_packet_update(&second, 0, 1), &second, 7);
    client_scene_refuse(scene, &second, PH_CLIENT_REFUSAL_OLD);
    client_packet first = client_packet_make(scene, 1);
    client_scene_refuse(scene, &first, PH_CLIENT_REFUSAL_OLD);
}

static void impossible_numbers_are_refused(void** state)
{
    client_scene* scene = *state;
    client_packet unheard = client_packet_after(scene, 4, 2); // 2 was never heard of
    client_scene_refuse(scene, &unheard, PH_CLIENT_REFUSAL_SEQUENCE);
    client_packet far_probe = client_packet_probe(scene, 66);
    client_scene_refuse(scene, &far_probe, PH_CLIENT_REFUSAL_SEQUENCE);
}

static void a_horizon_does_not_go_back(void** state)
{
    client_scene* scene = *state;
    client_packet second = client_packet_after(scene, 2, 1);
    assert_int_equal(client_scene_send(scene, &second), PH_OK);
    client_packet back = client_packet_after(scene, 3, 0);
    client_scene_refuse(scene, &back, PH_CLIENT_REFUSAL_SEQUENCE);
    client_packet hello = client_packet_make(scene, 3);
    client_scene_refuse(scene, &hello, PH_CLIENT_REFUSAL_SEQUENCE);
}

static void numbers_wrap(void** state)
{
    client_scene* scene = *state;
    for (uint32_t i = 1; i <= 5; ++i) {
        client_packet packet = client_packet_make(scene, 1);
        packet.header.hello.session = UINT32_MAX - 2;
        packet.header.horizon = UINT32_MAX - 2;
        packet.header.sequence = UINT32_MAX - 2 + i;
        client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
        assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    }
    assert_int_equal(ph_client_get_stats(scene->client).newest_sequence, 2);
}

// ---- probes

static void a_probe_is_heard_of_and_never_applied(void** state)
{
    client_scene* scene = *state;
    client_packet probe = client_packet_probe(scene, 3);
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack ack;
    assert_int_equal(ph_client_write_ack(scene->client, scene->now_us, bytes), PH_ACK_SIZE);
    assert_true(ph_ack_read(bytes, sizeof bytes, &ack));
    assert_int_equal(ack.newest, SCENE_SESSION + 3);
    assert_int_equal(ack.applied, 1 << 2);
    client_packet late = client_packet_after(scene, 3, 1);
    client_scene_refuse(scene, &late, PH_CLIENT_REFUSAL_OLD);
}

static void a_probe_may_be_repeated(void** state)
{
    client_scene* scene = *state;
    client_packet probe = client_packet_probe(scene, 3);
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    const uint64_t digest = ph_client_digest(scene->client);
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    assert_int_equal(ph_client_digest(scene->client), digest);
    assert_int_equal(ph_client_get_stats(scene->client).received_probes, 2);
    client_packet old = client_packet_probe(scene, 2);
    client_scene_refuse(scene, &old, PH_CLIENT_REFUSAL_OLD);
}

static void a_probe_with_a_hello_begins_the_session(void** state)
{
    client_scene* scene = *state;
    client_packet probe = client_packet_make(scene, 64);
    probe.header.is_probe = true;
    probe.header.has_eye = false;
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    assert_int_equal(ph_client_slot_count(scene->client), SCENE_SLOTS);
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack ack;
    assert_int_equal(ph_client_write_ack(scene->client, scene->now_us, bytes), PH_ACK_SIZE);
    assert_true(ph_ack_read(bytes, sizeof bytes, &ack));
    assert_int_equal(ack.newest, SCENE_SESSION + 64);
    assert_int_equal(ack.applied, 0);
}

// Sent before the server heard of us, and in flight for long: its horizon is not asked for.
static void a_probe_with_a_hello_may_come_late(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    client_packet probe = client_packet_make(scene, 3);
    probe.header.is_probe = true;
    probe.header.has_eye = false;
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    assert_int_equal(scene->client->session.arrivals.receipt.newest, SCENE_SESSION + 3);
}

static void a_reserved_horizon_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_packet_write(&packet);
    packet.bytes[4] = (uint8_t)((packet.bytes[4] & 0x80) | 65);
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
}

// Whatever comes behind its version, and if nothing does.
static void a_shorter_hello_of_another_version_is_another_server(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_make(scene, 1);
    client_packet_write(&packet);
    packet.bytes[PH_HEADER_BITS / 8] = 0x20; // version 2, from the middle of this byte on
    packet.bytes[PH_HEADER_BITS / 8 + 1] &= 0xF0;
    packet.size = PH_HEADER_BITS / 8 + 2;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_HELLO);
}

static void a_probe_that_goes_on_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet probe = client_packet_probe(scene, 3);
    client_packet_write(&probe);
    probe.bytes[probe.size++] = 0;
    client_scene_refuse(scene, &probe, PH_CLIENT_REFUSAL_SIZE);
    probe.size -= 1;
    probe.bytes[probe.size - 1] |= 0x80;
    client_scene_refuse(scene, &probe, PH_CLIENT_REFUSAL_RECORD);
}

// A server that believes something else than we do: nothing of it is applied, and yet it gets on.
static void refused_packets_do_not_wedge_the_session(void** state)
{
    client_scene* scene = *state;
    for (int i = 2; i <= 65; ++i) {
        client_packet packet = client_packet_after(scene, i, 1);
        client_record_health(client_packet_update(&packet, 5, 1), &packet, 50);
        client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    }
    client_packet probe = client_packet_probe(scene, 65);
    assert_int_equal(client_scene_send(scene, &probe), PH_OK);
    client_packet next = client_packet_after(scene, 66, 65);
    client_record_health(client_packet_update(&next, 0, 1), &next, 50);
    assert_int_equal(client_scene_send(scene, &next), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).health, 50);
}

// ---- bytes

static void every_shorter_packet_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_packet_leave(&packet, 1, 1);
    client_record* it = client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12);
    client_record_text(it, &packet, WALKER_NAME, "Ann");
    client_record_place(client_packet_update(&packet, 0, 1), &packet, 160, 320, 480);
    client_packet_write(&packet);
    const size_t whole = packet.size;
    // Without its last update it would be another packet that is whole; in between it is none.
    client_packet without = client_packet_after(scene, 2, 1);
    client_packet_leave(&without, 1, 1);
    it = client_packet_enter(&without, 2, 1, SCENE_WALKER, 12);
    client_record_text(it, &without, WALKER_NAME, "Ann");
    client_packet_write(&without);
    for (packet.size = 1; packet.size < whole; ++packet.size) {
        if (packet.size != without.size) {
            client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_SIZE);
        }
    }
    assert_int_equal(client_scene_receive(scene, packet.bytes, 0), PH_ERROR_VALUE);
    assert_int_equal(client_scene_receive(scene, packet.bytes, whole), PH_OK);
}

static void a_packet_that_goes_on_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_record_place(client_packet_update(&packet, 0, 1), &packet, 160, 320, 480);
    client_packet_write(&packet);
    const size_t whole = packet.size;
    packet.bytes[packet.size++] = 0; // with the padding: slot 0 once more
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    packet.size = PH_PAYLOAD_MAX + 1;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_SIZE);
    packet.size = whole;
    packet.bytes[whole - 1] |= 0x80; // padding
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
}

// ---- stats

static void stats_count_what_happened(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 4, 1);
    client_packet_leave(&packet, 1, 1);
    client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12);
    client_record_health(client_packet_update(&packet, 0, 1), &packet, 50);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    const ph_client_stats stats = ph_client_get_stats(scene->client);
    assert_int_equal(stats.received_datagrams, 2);
    assert_int_equal(stats.applied_packets, 2);
    assert_int_equal(stats.applied_enters, 3);
    assert_int_equal(stats.applied_leaves, 1);
    assert_int_equal(stats.applied_updates, 1);
    assert_int_equal(stats.newest_sequence, SCENE_SESSION + 4);
    assert_true(stats.loss == 0.5); // 2 and 3
}

static void the_round_trip_and_the_tick_are_known(void** state)
{
    client_scene* scene = *state;
    assert_true(ph_client_get_stats(scene->client).rtt_ms == 0.0);
    // 100 ms after packet 1, with our answer, which lay there for 32..40 ms.
    uint8_t ack[PH_ACK_SIZE];
    assert_int_equal(ph_client_write_ack(scene->client, scene->now_us, ack), PH_ACK_SIZE);
    client_packet packet = client_packet_after(scene, 2, 1);
    packet.header.wait = 4;
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    assert_true(ph_client_get_stats(scene->client).rtt_ms == 64.0);
    assert_int_equal(ph_client_get_stats(scene->client).newest_tick, 2);
    // Silence for longer than the bits of the tick last.
    scene->now_us += 5 * (uint64_t)SCENE_TICK_US * (1 << PH_TICK_BITS);
    client_packet late = client_packet_after(scene, 3, 2);
    assert_int_equal(client_scene_send(scene, &late), PH_OK);
    assert_int_equal(ph_client_get_stats(scene->client).newest_tick, 3 + 5 * (1 << PH_TICK_BITS));
}

// The session's number was so long ago that the numbers have come round.
static void after_4_billion_packets_all_is_well(void** state)
{
    client_scene* scene = *state;
    const uint32_t ages[] = {UINT32_C(1) << 31, UINT32_MAX};
    for (int i = 0; i < 2; ++i) {
        ph_session* session = &scene->client->session;
        session->hello.session = session->arrivals.receipt.newest - ages[i];
        session->arrivals.sequence_count = ages[i];
        session->arrivals.receipt.applied = UINT64_MAX;
        client_packet packet = client_packet_after(scene, 2 + i, 1 + i);
        assert_int_equal(client_scene_send(scene, &packet), PH_OK); // validates
        assert_true(ph_client_get_stats(scene->client).loss == 0.0);
    }
    // A reference that was made before its slot's numbers came round is a stale one, and sound.
    client_packet packet = client_packet_after(scene, 4, 3);
    client_record_target(client_packet_update(&packet, 0, 1), &packet, 1, 1);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    ph_client* client = scene->client;
    assert_true(ph_client_get_stats(client).loss == 0.0);
    const ph_layout* layout = ph_client_entities_layout(&client->entities, 0);
    ph_client_entities_words(&client->entities, 0)[layout->word[WALKER_TARGET] + 1] = UINT32_MAX;
    assert_true(ph_client_validate(client));
}

// Whatever a packet may change, the digest sees it.
static void the_digest_leaves_nothing_out(void** state)
{
    client_scene* scene = *state;
    ph_client* client = scene->client;
    ph_display* display = &client->display;
    ph_track* track = &display->tracks[0];
    uint8_t* const bytes[] = {
        (uint8_t*)&display->clock.deviation_us,
        (uint8_t*)&display->clock.rtt_us,
        (uint8_t*)&display->clock.since_us,
        (uint8_t*)&display->clock.drift,
        (uint8_t*)&display->clock.variance[2],
        (uint8_t*)&display->clock.excess[1],
        (uint8_t*)&display->clock.strays,
        (uint8_t*)&display->packet_us,
        (uint8_t*)&display->advanced_us,
        (uint8_t*)&track->shown_mm[2],
        (uint8_t*)&track->unseen_jumps,
        (uint8_t*)&track->heading.time_us,
        (uint8_t*)&track->heading.seconds[1],
        (uint8_t*)&track->heading.shown,
        (uint8_t*)&track->heading.count,
        (uint8_t*)&client->session.arrivals.sequence_count,
        (uint8_t*)&client->session.arrivals.last.acked_us,
    };
    const uint64_t digest = ph_client_digest(client);
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; ++i) {
        *bytes[i] ^= 1;
        assert_true(ph_client_digest(client) != digest);
        *bytes[i] ^= 1;
    }
    bool* const flags[] = {&display->clock.has_begun, &display->clock.is_measured,
                           &display->has_advanced, &track->is_shown, &track->heading.is_shown};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) {
        *flags[i] = !*flags[i];
        assert_true(ph_client_digest(client) != digest);
        *flags[i] = !*flags[i];
    }
    assert_true(ph_client_digest(client) == digest);
}

static void kbps_is_that_of_the_last_full_second(void** state)
{
    client_scene* scene = *state;
    const uint8_t junk[125] = {0};
    const uint64_t start_us = 50 * UINT64_C(1000000);
    for (int i = 0; i < 10; ++i) {
        ph_client_receive(scene->client, start_us + (uint64_t)i * 100000, junk, sizeof junk);
    }
    ph_client_receive(scene->client, start_us + 1000000, junk, sizeof junk);
    assert_true(ph_client_get_stats(scene->client).received_kbps == 10.0);
    ph_client_receive(scene->client, start_us + 2000000, junk, sizeof junk);
    assert_true(ph_client_get_stats(scene->client).received_kbps == 1.0);
    ph_client_receive(scene->client, start_us + 9000000, junk, sizeof junk);
    assert_true(ph_client_get_stats(scene->client).received_kbps == 0.0);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define BEGUN(test) cmocka_unit_test_setup_teardown(test, setup_session, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_fails_cleanly_whichever_allocation_fails),
        FRESH(senseless_defs_are_refused),
        FRESH(a_new_client_knows_nothing),
        FRESH(a_hello_begins_the_session),
        FRESH(packets_before_a_hello_are_dropped),
        FRESH(another_server_is_refused),
        BEGUN(a_hello_that_says_something_else_is_refused),
        FRESH(a_hello_with_broken_records_begins_nothing),
        BEGUN(old_and_doubled_packets_are_dropped),
        BEGUN(impossible_numbers_are_refused),
        BEGUN(a_horizon_does_not_go_back),
        FRESH(numbers_wrap),
        BEGUN(a_probe_is_heard_of_and_never_applied),
        BEGUN(a_probe_may_be_repeated),
        FRESH(a_probe_with_a_hello_begins_the_session),
        BEGUN(a_probe_with_a_hello_may_come_late),
        BEGUN(a_reserved_horizon_is_refused),
        FRESH(a_shorter_hello_of_another_version_is_another_server),
        BEGUN(a_probe_that_goes_on_is_refused),
        BEGUN(refused_packets_do_not_wedge_the_session),
        BEGUN(every_shorter_packet_is_refused),
        BEGUN(a_packet_that_goes_on_is_refused),
        BEGUN(stats_count_what_happened),
        BEGUN(the_round_trip_and_the_tick_are_known),
        BEGUN(after_4_billion_packets_all_is_well),
        BEGUN(the_digest_leaves_nothing_out),
        FRESH(kbps_is_that_of_the_last_full_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
