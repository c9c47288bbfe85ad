// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Acknowledgements under fire: a live world with one viewer, its client behind a link that loses and
// holds back, and an attacker who forges. The input is a list of things that happen. After each the
// world is sound; a refused acknowledgement has changed nothing but its count. As long as no forged
// one was believed, the client is never sent anything that it must refuse, its own acknowledgements
// are always taken, and in the end it shows what the world has.

#include "support/fuzz_source.h"

#include "replication/sender.h"
#include "world/world_state.h"

#include "packet/header.h"
#include "tools/tools.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 14, VISIBLE = 10, SLOTS = 20, STEPS_MAX = 200, HELD_MAX = 4, ROUNDS_MAX = 400 };

static const char declarations[] = "class walker\n"
                                   "place: position\n"
                                   "health: range 0..100\n"
                                   "target: entity\n"
                                   "label: string 8\n";
enum { PLACE = 0, HEALTH, TARGET, LABEL };

// ---- a session

typedef struct datagram {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} datagram;

typedef struct session {
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_entity_id entities[ENTITIES];
    uint64_t next_name;
    uint64_t now_us;
    uint32_t weather; // what becomes of the datagrams of a send: two bits each
    datagram held[HELD_MAX];
    int held_count;
    uint8_t old_ack[PH_ACK_SIZE];
    bool is_forgery_believed;
} session;

static ph_sender* sender_of(const session* it)
{
    uint32_t index;
    fuzz_demand(ph_world_try_viewer(it->world, it->viewer, &index));
    return it->world->viewers.viewers[index].sender;
}

static void spawn(session* it, int index, int32_t x_mm)
{
    const ph_spawn spawned = {.key = it->next_name++, .position_mm = {x_mm, 0, 0}};
    fuzz_demand(ph_world_spawn(it->world, &spawned, &it->entities[index]) == PH_OK);
}

static void open_session(session* it, ph_profile profile, uint32_t number)
{
    static ph_schema* schema = NULL;
    if (schema == NULL) {
        fuzz_demand(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) ==
                    PH_OK);
    }
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    world_def.profile = profile;
    world_def.entity_capacity = ENTITIES;
    world_def.viewer_capacity = 1;
    fuzz_demand(ph_world_create(&world_def, &it->world) == PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        spawn(it, i, i * 1000);
    }
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.entity = it->entities[0];
    viewer_def.visible_max = VISIBLE;
    viewer_def.slot_count = SLOTS;
    viewer_def.bits_per_second = 64000; // the ring of packets in flight grows with it
    viewer_def.session = number;
    fuzz_demand(ph_world_add_viewer(it->world, &viewer_def, &it->viewer) == PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = schema;
    client_def.profile = profile;
    client_def.slot_capacity = SLOTS;
    fuzz_demand(ph_client_create(&client_def, &it->client) == PH_OK);
}

// ---- to the client

static void arrive(session* it, const void* bytes, size_t size)
{
    const ph_result result = ph_client_receive(it->client, it->now_us, bytes, size);
    fuzz_demand(ph_client_validate(it->client));
    fuzz_demand(it->is_forgery_believed || result == PH_OK || result == PH_ERROR_STALE);
}

static void release(session* it, int index)
{
    const datagram late = it->held[index];
    it->held[index] = it->held[--it->held_count];
    arrive(it, late.bytes, late.size);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    session* it = context;
    const uint32_t fate = it->weather & 3;
    it->weather >>= 2;
    if (fate == 1) {
        return;
    }
    if (fate == 2 && it->held_count < HELD_MAX) {
        datagram* held = &it->held[it->held_count++];
        memcpy(held->bytes, bytes, size);
        held->size = size;
        return;
    }
    arrive(it, bytes, size);
    if (fate == 3) {
        arrive(it, bytes, size);
    }
}

static void tick_and_send(session* it, uint32_t weather)
{
    it->now_us += 100000;
    it->weather = weather;
    ph_world_tick(it->world);
    fuzz_demand(ph_viewer_send(it->world, it->viewer, it->now_us, deliver, it) == PH_OK);
    fuzz_demand(sender_of(it)->flight.count <= PH_FLIGHT_MAX);
}

// ---- to the world

// The sender but for the counts of acknowledgements, as bytes.
typedef struct picture {
    uint8_t bytes[1 << 20];
    size_t size;
} picture;

static void take_picture(const session* it, picture* made)
{
    const ph_sender* sender = sender_of(it);
    const size_t ring_bytes = sender->flight.capacity * sizeof(uint32_t);
    made->size = sender->size_bytes + ring_bytes;
    fuzz_demand(made->size <= sizeof made->bytes);
    memcpy(made->bytes, sender, sender->size_bytes);
    memcpy(made->bytes + sender->size_bytes, sender->flight.units, ring_bytes);
    const size_t counts = offsetof(ph_sender, stats) + offsetof(ph_viewer_stats, new_acks);
    const size_t counts_end = offsetof(ph_sender, stats) + offsetof(ph_viewer_stats, sent_kbps);
    memset(made->bytes + counts, 0, counts_end - counts);
}

// What was resolved before stays: one that says otherwise must not have been believed.
static void check_fates(const ph_sender* sender, uint32_t horizon, uint64_t fates,
                        const void* bytes)
{
    ph_ack ack;
    fuzz_demand(ph_ack_read(bytes, PH_ACK_SIZE, &ack));
    const uint32_t news = sender->horizon - horizon;
    fuzz_demand(news >= 1 && news <= PH_FLIGHT_MAX && sender->horizon == ack.newest);
    fuzz_demand(sender->acked == ack.applied);
    fuzz_demand(news == 64 || ((ack.applied >> news ^ fates) & UINT64_MAX >> news) == 0);
}

static ph_result acknowledge(session* it, const void* bytes, size_t size)
{
    static picture before;
    static picture after;
    take_picture(it, &before);
    const ph_viewer_stats counts = sender_of(it)->stats;
    const uint32_t horizon = sender_of(it)->horizon;
    const uint64_t fates = sender_of(it)->acked;
    const ph_result result = ph_viewer_receive_ack(it->world, it->viewer, it->now_us, bytes, size);
    const ph_viewer_stats* now = &sender_of(it)->stats;
    if (now->new_acks == counts.new_acks) {
        take_picture(it, &after);
        fuzz_demand(after.size == before.size &&
                    memcmp(after.bytes, before.bytes, after.size) == 0);
    } else {
        check_fates(sender_of(it), horizon, fates, bytes);
        fuzz_demand(ph_world_validate(it->world));
    }
    fuzz_demand((result == PH_OK) ==
                (now->new_acks + now->old_acks == counts.new_acks + counts.old_acks + 1));
    return result;
}

static void acknowledge_honestly(session* it)
{
    uint8_t bytes[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(it->client, it->now_us, bytes);
    if (size > 0) {
        fuzz_demand(acknowledge(it, bytes, size) == PH_OK || it->is_forgery_believed);
    }
}

// Anything that is not the client's own, or not its latest. One that happens to be true is none.
static void forge(session* it, const uint8_t* bytes, size_t size)
{
    uint8_t honest[PH_ACK_SIZE];
    const bool is_true = ph_client_write_ack(it->client, it->now_us, honest) == size &&
                         size == PH_ACK_SIZE && memcmp(honest, bytes, size) == 0;
    const uint64_t believed = sender_of(it)->stats.new_acks;
    acknowledge(it, bytes, size);
    if (!is_true && sender_of(it)->stats.new_acks != believed) {
        it->is_forgery_believed = true;
    }
}

static void forge_anything(session* it, fuzz_source* from)
{
    uint8_t bytes[16];
    const size_t size = fuzz_take(from, 4) != 0 ? PH_ACK_SIZE : fuzz_take(from, sizeof bytes + 1);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)fuzz_take(from, 256);
    }
    forge(it, bytes, size);
}

// Of a number that the sender knows, or almost.
static void forge_likely(session* it, fuzz_source* from)
{
    ph_ack ack = {.newest = sender_of(it)->newest + 2 - fuzz_take(from, 80)};
    for (int i = 0; i < 8; ++i) {
        ack.applied |= (uint64_t)fuzz_take(from, 256) << (8 * i);
    }
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&ack, bytes);
    forge(it, bytes, sizeof bytes);
}

static void forge_flipped(session* it, fuzz_source* from)
{
    uint8_t bytes[PH_ACK_SIZE];
    if (ph_client_write_ack(it->client, it->now_us, bytes) == 0) {
        return;
    }
    const uint32_t bit = fuzz_take(from, 8 * PH_ACK_SIZE);
    bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    forge(it, bytes, sizeof bytes);
}

// An honest one again, much later. It was taken then: it tells nothing new.
static void replay_old(session* it, fuzz_source* from)
{
    if (fuzz_take(from, 2) == 0) {
        if (ph_client_write_ack(it->client, it->now_us, it->old_ack) > 0) {
            acknowledge_honestly(it);
        }
    } else {
        forge(it, it->old_ack, sizeof it->old_ack);
    }
}

// ---- the game

static void play(session* it, fuzz_source* from)
{
    const int index = (int)fuzz_take(from, ENTITIES);
    const ph_entity_id id = it->entities[index];
    switch (fuzz_take(from, 5)) {
    case 0: {
        const int32_t reach_mm = INT32_C(1) << fuzz_take(from, 24);
        const int32_t x_mm = (int32_t)fuzz_take(from, 256) * (reach_mm / 128);
        ph_world_move(it->world, id, x_mm, (int32_t)fuzz_take(from, 256) * 100, 0);
        break;
    }
    case 1: {
        const uint8_t health = (uint8_t)fuzz_take(from, 101);
        ph_world_set_property(it->world, id, HEALTH, PH_FIELD_U8, &health, sizeof health);
        break;
    }
    case 2: {
        const ph_entity_id target = it->entities[fuzz_take(from, ENTITIES)];
        ph_world_set_property(it->world, id, TARGET, PH_FIELD_ENTITY, &target, sizeof target);
        break;
    }
    case 3: {
        const char letters[2] = {(char)('a' + fuzz_take(from, 26)),
                                 (char)('a' + fuzz_take(from, 26))};
        ph_world_set_property(it->world, id, LABEL, PH_FIELD_TEXT, letters, fuzz_take(from, 3));
        break;
    }
    default:
        if (index > 0) {
            fuzz_demand(ph_world_despawn(it->world, id) == PH_OK);
            spawn(it, index, (int32_t)fuzz_take(from, 256) * 1000);
        }
        break;
    }
}

// ---- the end: everything arrives, and the client shows what the world has

static bool is_equal(const session* it, ph_entity_id shown)
{
    uint64_t name;
    fuzz_demand(ph_client_identify(it->client, shown, &name, NULL) == PH_OK);
    const ph_entity_id id = ph_world_find(it->world, name);
    int32_t shown_mm[3];
    int32_t place_mm[3];
    uint8_t shown_health = 0;
    uint8_t health = 0;
    char shown_label[9] = "";
    char label[9] = "";
    return ph_world_get_property(it->world, id, PLACE, PH_FIELD_I32X3, place_mm, 12) == PH_OK &&
           ph_world_get_property(it->world, id, HEALTH, PH_FIELD_U8, &health, 1) == PH_OK &&
           ph_world_get_property(it->world, id, LABEL, PH_FIELD_TEXT, label, sizeof label) ==
               PH_OK &&
           ph_client_get_property(it->client, shown, PLACE, PH_FIELD_I32X3, shown_mm, 12) ==
               PH_OK &&
           ph_client_get_property(it->client, shown, HEALTH, PH_FIELD_U8, &shown_health, 1) ==
               PH_OK &&
           ph_client_get_property(it->client, shown, LABEL, PH_FIELD_TEXT, shown_label, 9) ==
               PH_OK &&
           memcmp(shown_mm, place_mm, 12) == 0 && shown_health == health &&
           strcmp(shown_label, label) == 0;
}

static bool is_settled(const session* it)
{
    ph_vision sight;
    fuzz_demand(ph_viewer_get_vision(it->world, it->viewer, &sight) == PH_OK);
    int count = 0;
    for (int i = 0; i < ph_client_slot_count(it->client); ++i) {
        const ph_entity_id shown = ph_client_entity_at(it->client, i);
        if (shown.index1 == 0) {
            continue;
        }
        ++count;
        if (!is_equal(it, shown)) {
            return false;
        }
    }
    return count == sight.visible_count + 1; // and its own
}

static void settle(session* it)
{
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        tick_and_send(it, 0);
        acknowledge_honestly(it);
        if (round > 20 && is_settled(it)) {
            return;
        }
    }
    abort();
}

// ---- what happens

static void step(session* it, fuzz_source* from)
{
    switch (fuzz_take(from, 12)) {
    case 0:
    case 1:
    case 2:
        tick_and_send(it, fuzz_take(from, 256) | fuzz_take(from, 256) << 8);
        break;
    case 3:
    case 4:
        acknowledge_honestly(it);
        break;
    case 5:
        if (it->held_count > 0) {
            release(it, (int)fuzz_take(from, (uint32_t)it->held_count));
        }
        break;
    case 6:
        forge_anything(it, from);
        break;
    case 7:
        forge_likely(it, from);
        break;
    case 8:
        forge_flipped(it, from);
        break;
    case 9:
        replay_old(it, from);
        break;
    default:
        play(it, from);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_source from = {.bytes = data, .left = size};
    static session it;
    it = (session){.now_us = 1000000};
    const uint32_t kind = fuzz_take(&from, 4);
    open_session(&it, (kind & 2) == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE,
                 (kind & 1) == 0 ? 5 : UINT32_MAX - 5);
    for (int i = 0; i < STEPS_MAX && from.left > 0; ++i) {
        step(&it, &from);
    }
    if (!it.is_forgery_believed) {
        settle(&it);
    }
    ph_client_destroy(it.client);
    ph_world_destroy(it.world);
    return 0;
}
