// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Five packets of a server that never hears from us, in every sequence of up to seven deliveries:
// all orders, losses and doublings. Whatever comes, the client shows what the newest packet says
// that came before all newer ones, its acknowledgement tells exactly what it applied, and the
// events, taken together, tell of the same entities.

#include "support/client_scene.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <string.h>

enum { PACKETS = 5, DELIVERIES = 7, ANN = 20, BOB = 21, SLOTS = 8 };

// Which entity is where, with which health, after each packet; 0: not in view. Ann goes away with
// the third packet and comes back at once, into another slot; Bob does so with the fifth.
typedef struct estimates {
    int ann_slot;
    int ann_health;
    int bob_slot;
    int bob_health;
} estimates;

static const estimates expected[PACKETS + 1] = {
    {0}, {1, 11, 2, 12}, {1, 21, 2, 22}, {3, 31, 2, 32}, {3, 41, 2, 42}, {3, 51, 4, 52},
};

// Until they are acknowledged enters are whole, and leaves are said again.
static client_packet packet_of(const client_scene* scene, int number)
{
    const estimates* is = &expected[number];
    client_packet packet = client_packet_make(scene, number);
    if (number >= 3) {
        client_packet_leave(&packet, 1, 1);
    }
    if (number >= 5) {
        client_packet_leave(&packet, 2, 1);
    }
    const bool is_ann_first = is->ann_slot < is->bob_slot;
    for (int i = 0; i < 2; ++i) {
        const bool is_ann = (i == 0) == is_ann_first;
        client_record* it = client_packet_enter(&packet, is_ann ? is->ann_slot : is->bob_slot, 1,
                                                SCENE_WALKER, is_ann ? ANN : BOB);
        client_record_health(it, &packet, is_ann ? is->ann_health : is->bob_health);
    }
    client_packet_write(&packet);
    return packet;
}

static int slot_of(const ph_client* client, uint64_t name)
{
    return (int)ph_client_find(client, name).index1 - 1;
}

static int health_of(const ph_client* client, uint64_t name)
{
    uint8_t health = 0;
    const ph_entity_id id = ph_client_find(client, name);
    assert_int_equal(ph_client_get_property(client, id, WALKER_HEALTH, PH_FIELD_U8, &health, 1),
                     PH_OK);
    return health;
}

// What a game knows that only listens to events.
static void listen(ph_client* client, bool is_known[SLOTS])
{
    ph_event event;
    while (ph_client_poll(client, &event)) {
        const uint32_t slot = event.entity.index1 - 1;
        assert_int_equal(is_known[slot], event.kind != PH_EVENT_ENTER);
        is_known[slot] = event.kind != PH_EVENT_LEAVE;
    }
    for (int i = 0; i < SLOTS; ++i) {
        assert_int_equal(is_known[i], ph_client_entity_at(client, i).index1 != 0);
    }
}

static void check(ph_client* client, int newest, uint64_t applied)
{
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack ack;
    assert_int_equal(ph_client_write_ack(client, 0, bytes), PH_ACK_SIZE);
    assert_true(ph_ack_read(bytes, sizeof bytes, &ack));
    assert_int_equal(ack.newest, SCENE_SESSION + newest);
    assert_int_equal(ack.applied, applied);
    assert_int_equal(ph_client_entity_count(client), 2);
    assert_int_equal(slot_of(client, ANN), expected[newest].ann_slot);
    assert_int_equal(slot_of(client, BOB), expected[newest].bob_slot);
    assert_int_equal(health_of(client, ANN), expected[newest].ann_health);
    assert_int_equal(health_of(client, BOB), expected[newest].bob_health);
}

// A sequence is a number whose digits in base PACKETS + 1 are the packets, the first one lowest. The
// game listens after some deliveries, which depends on the sequence, too.
static void run(ph_client* client, const client_packet* packets, int sequence)
{
    bool is_known[SLOTS] = {false};
    int newest = 0;
    uint64_t applied = 0;
    for (int rest = sequence, i = 0; rest > 0; rest /= PACKETS + 1, ++i) {
        const int number = rest % (PACKETS + 1);
        const client_packet* packet = &packets[number];
        const ph_result result = ph_client_receive(client, 0, packet->bytes, packet->size);
        assert_int_equal(result, number > newest ? PH_OK : PH_ERROR_STALE);
        if (number > newest) {
            applied = applied << (number - newest) | 1;
            newest = number;
        }
        check(client, newest, applied);
        if ((sequence * 7 + i) % 3 == 0) {
            listen(client, is_known);
        }
    }
    listen(client, is_known);
    assert_true(ph_client_validate(client));
}

static bool has_zero(int sequence)
{
    while (sequence > 0 && sequence % (PACKETS + 1) != 0) {
        sequence /= PACKETS + 1;
    }
    return sequence > 0;
}

static void every_order_loss_and_doubling_shows_the_newest(void** state)
{
    (void)state;
    client_scene scene;
    client_scene_setup_with(&scene, SLOTS, SLOTS);
    static client_packet packets[PACKETS + 1];
    for (int i = 1; i <= PACKETS; ++i) {
        packets[i] = packet_of(&scene, i);
    }
    ph_client_def def = ph_client_def_default();
    def.schema = scene.schema;
    def.profile = PH_PROFILE_CLASSIC;
    def.slot_capacity = SLOTS;
    int sequences = 1;
    for (int i = 0; i < DELIVERIES; ++i) {
        sequences *= PACKETS + 1;
    }
    int run_count = 0;
    for (int sequence = 1; sequence < sequences; ++sequence) {
        if (has_zero(sequence)) {
            continue;
        }
        ph_client* client;
        assert_int_equal(ph_client_create(&def, &client), PH_OK);
        run(client, packets, sequence);
        ph_client_destroy(client);
        ++run_count;
    }
    assert_int_equal(run_count, 97655); // 5 + 5^2 + ... + 5^7
    client_scene_teardown(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_loss_and_doubling_shows_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
