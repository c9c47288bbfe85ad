// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random sessions of the pinhole profile: a server that keeps the rules of enters and leaves, hears
// of its client late, and whose packets get lost; and an attacker who forges packets in between.
// After each packet that counts the client has what it was told, and its baselines are those worked
// out from the very first packet (pinhole_scene.h does that); a forged one has left no trace.

#include "support/pinhole_scene.h"

#include "client/client_state.h"

#include <pinhole/stats.h>

#include <string.h>

enum { SESSIONS = 12, PACKETS = 150, SLOTS = 12, NAMES = 1000 };

// What the server knows of a slot. From ENTERING on the client may have it; only an applied leave
// that the server has heard of makes the slot free.
typedef enum slot_state { FREE, ENTERING, ENTERED, LEAVING } slot_state;

typedef struct server_slot {
    slot_state state;
    uint32_t association;
    uint64_t name;
    uint8_t class_index;
    int32_t place_mm[3];
} server_slot;

typedef struct sent_packet {
    uint32_t number;
    bool is_applied;
    client_packet packet;
} sent_packet;

// Larger than a stack should have to bear.
static struct {
    pinhole_scene scene;
    server_slot slots[SLOTS];
    sent_packet sent[PACKETS + 1];
    int sent_count;
    int known_count; // of these: their fate is known
    uint64_t next_name;
    uint32_t tick;
    int32_t eye_mm[3];
    bool is_eye_known;
    test_rng rng;
} server;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)test_rng_below(&server.rng, limit);
}

// ---- hearing of the client

static void hear_record(const ph_record* record)
{
    server_slot* slot = &server.slots[record->slot];
    if (record->association != slot->association) {
        return;
    }
    if (record->kind == PH_RECORD_LEAVE) {
        slot->state = FREE;
    } else if (record->kind == PH_RECORD_ENTER && slot->state == ENTERING) {
        slot->state = ENTERED;
    }
}

// The fate of some more packets becomes known, never of one that the client has not heard of.
static void hear(void)
{
    const uint32_t newest = server.scene.base.client->session.arrivals.receipt.newest;
    for (uint32_t count = below(4); count > 0 && server.known_count < server.sent_count; --count) {
        const sent_packet* sent = &server.sent[server.known_count];
        if ((int32_t)(newest - sent->number) < 0) {
            return;
        }
        for (int i = 0; sent->is_applied && i < sent->packet.count; ++i) {
            hear_record(&sent->packet.records[i].record);
        }
        if (sent->is_applied && sent->packet.header.has_eye) {
            memcpy(server.eye_mm, sent->packet.eye_mm, sizeof server.eye_mm);
            server.is_eye_known = true;
        }
        ++server.known_count;
    }
}

static int horizon(void)
{
    return server.known_count == 0
               ? 0
               : (int)(server.sent[server.known_count - 1].number - SCENE_SESSION);
}

// ---- writing

static void move(server_slot* slot)
{
    for (int axis = 0; axis < 3; ++axis) {
        slot->place_mm[axis] += (int32_t)below(4000) - 1500;
    }
}

static void tell_place(client_record* it, const client_packet* packet, const server_slot* slot)
{
    client_record_place(it, packet, slot->place_mm[0], slot->place_mm[1], slot->place_mm[2]);
}

// An entity whose enter is known to have come, and which is not about to leave.
static int find_target(void)
{
    const int slot = (int)below(SLOTS);
    return server.slots[slot].state == ENTERED ? slot : -1;
}

static void tell_others(client_record* it, const client_packet* packet)
{
    static const char* const names[] = {"", "ann"};
    if (below(3) == 0) {
        client_record_health(it, packet, (int)below(100));
    }
    if (below(4) == 0) {
        const int target = find_target();
        if (target >= 0) {
            client_record_target(it, packet, target, server.slots[target].association);
        }
    }
    if (below(6) == 0) {
        client_record_text(it, packet, WALKER_NAME,
                           it->record.kind == PH_RECORD_ENTER ? "newcomer" : names[below(2)]);
    }
}

static void add_leave(client_packet* packet, int index)
{
    server.slots[index].state = LEAVING;
    client_packet_leave(packet, index, server.slots[index].association);
}

static void add_enter(client_packet* packet, int index)
{
    server_slot* slot = &server.slots[index];
    if (slot->state == FREE) {
        *slot = (server_slot){.state = ENTERING,
                              .association = slot->association + 1,
                              .name = server.next_name++,
                              .class_index = (uint8_t)below(2),
                              .place_mm = {(int32_t)below(100000), -(int32_t)below(100000), 5000}};
    }
    move(slot);
    client_record* it =
        client_packet_enter(packet, index, slot->association, slot->class_index, slot->name);
    tell_place(it, packet, slot);
    for (int axis = 0; axis < 3 && below(2) == 0; ++axis) {
        it->record.velocity[axis] = (int16_t)((int)below(400) - 200);
    }
    if (slot->class_index == SCENE_WALKER) {
        tell_others(it, packet);
    }
}

static void add_update(client_packet* packet, int index)
{
    server_slot* slot = &server.slots[index];
    client_record* it = client_packet_update(packet, index, slot->association);
    it->record.class_index = slot->class_index;
    if (slot->class_index == SCENE_WALKER) {
        tell_others(it, packet);
    }
    if (it->record.properties == 0 || below(4) != 0) {
        move(slot);
        tell_place(it, packet, slot);
        it->record.is_jump = below(10) == 0;
    }
}

static bool is_wanted(const server_slot* slot, ph_record_kind kind)
{
    switch (kind) {
    case PH_RECORD_LEAVE:
        return slot->state == LEAVING || (slot->state != FREE && below(30) == 0);
    case PH_RECORD_ENTER:
        return slot->state == ENTERING || (slot->state == FREE && below(8) == 0);
    default:
        return slot->state == ENTERED;
    }
}

static void add_records(client_packet* packet)
{
    static void (*const add[])(client_packet*, int) = {add_leave, add_enter, add_update};
    uint32_t mentioned = 0;
    for (int kind = PH_RECORD_LEAVE; kind <= PH_RECORD_UPDATE; ++kind) {
        for (int i = 0; i < SLOTS; ++i) {
            const bool is_told = (mentioned >> i & 1) != 0;
            if (!is_told && is_wanted(&server.slots[i], (ph_record_kind)kind) && below(2) == 0) {
                add[kind](packet, i);
                mentioned |= UINT32_C(1) << i;
            }
        }
    }
}

static client_packet start_packet(int number)
{
    const bool is_answered = server.known_count > 0;
    client_packet packet = is_answered ? pinhole_packet_after(&server.scene, number, horizon())
                                       : pinhole_packet_make(&server.scene, number);
    packet.header.has_eye = !server.is_eye_known || below(8) == 0;
    packet.header.density = (uint8_t)below(PH_DENSITIES);
    packet.header.whole_tick = server.tick;
    memcpy(packet.eye_mm, server.eye_mm, sizeof packet.eye_mm);
    for (int axis = 0; packet.header.has_eye && axis < 3; ++axis) {
        packet.eye_mm[axis] = (int32_t)below(50000);
    }
    return packet;
}

// ---- what the client has of it

static void check_record(const client_record* it)
{
    const ph_record* record = &it->record;
    const ph_client_entities* entities = &server.scene.base.client->entities;
    if (record->kind == PH_RECORD_LEAVE) {
        assert_false(ph_bitset_test(&entities->is_entered, record->slot));
        return;
    }
    assert_true(ph_bitset_test(&entities->is_entered, record->slot));
    assert_int_equal(entities->association[record->slot], record->association);
    const ph_layout* layout = &server.scene.base.layouts.layouts[record->class_index];
    for (int p = 0; p < layout->described->def.property_count; ++p) {
        if ((record->properties >> p & 1) != 0) {
            assert_memory_equal(ph_client_entities_words(entities, record->slot) + layout->word[p],
                                it->words + layout->word[p],
                                (size_t)layout->described->properties[p].words * sizeof(uint32_t));
        }
    }
}

// Names are looked at last: by then the baselines have moved on to the newest horizon there is.
static void forge(int number)
{
    const uint32_t newest = server.scene.base.client->session.arrivals.receipt.newest;
    client_packet packet = pinhole_packet_after(&server.scene, number, 0);
    packet.header.horizon = newest;
    packet.header.has_eye = true;
    packet.header.whole_tick = server.tick + 1;
    client_packet_enter(&packet, 14, 1, SCENE_WALKER, NAMES);
    client_packet_enter(&packet, 15, 1, SCENE_WALKER, NAMES);
    pinhole_scene_refuse(&server.scene, &packet, PH_CLIENT_REFUSAL_RECORD);
}

static void step(int number)
{
    const int loss_pct = 30;
    server.tick += below(20) == 0 ? below(5000) : below(6);
    if (server.sent_count > 0 && server.scene.applied_count > 0) {
        hear();
    }
    if (server.scene.applied_count > 0 && below(3) == 0) {
        forge(number);
    }
    sent_packet* sent = &server.sent[server.sent_count];
    sent->packet = start_packet(number);
    add_records(&sent->packet);
    sent->number = SCENE_SESSION + (uint32_t)number;
    sent->is_applied = (int)below(100) >= loss_pct;
    ++server.sent_count;
    if (sent->is_applied) {
        assert_int_equal(pinhole_scene_send(&server.scene, &sent->packet), PH_OK);
        for (int i = 0; i < sent->packet.count; ++i) {
            check_record(&sent->packet.records[i]);
        }
    }
}

static void run(uint64_t seed)
{
    server.rng = (test_rng){.state = seed};
    server.sent_count = 0;
    server.known_count = 0;
    server.next_name = 1;
    server.tick = below(UINT32_MAX);
    server.is_eye_known = false;
    memset(server.slots, 0, sizeof server.slots);
    pinhole_scene_setup(&server.scene);
    server.scene.precision = (uint16_t)(below(2) * 1024);
    for (int i = 1; i <= PACKETS; ++i) {
        // At most 64 without an answer.
        while (server.sent_count - server.known_count >= PH_FLIGHT_MAX - 1) {
            const int before = server.known_count;
            hear();
            if (server.known_count == before && server.scene.applied_count == 0) {
                break;
            }
        }
        step(i);
    }
    assert_in_range(server.scene.applied_count, PACKETS / 2, PACKETS);
    assert_in_range(ph_client_get_stats(server.scene.base.client).applied_updates, PACKETS,
                    INT32_MAX);
    pinhole_scene_teardown(&server.scene);
}

static void losses_and_forgeries_never_part_the_baselines(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SESSIONS; ++seed) {
        run(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_forgeries_never_part_the_baselines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
