// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The hot bytes of one viewer, as words: what vision compares of its 250 candidates at every tick
// (24 bytes each), which entity a slot shows and what of it was dirty (12 bytes, every tick and
// every send), and what a send ranks by (36 bytes).
//
//   | candidates | entities, dirty | distances, weights, scores, mileage, waiting, ... |
//   |<---------- every tick -------->|
//                |<------------------------- every send ----------------------------->|

#include "load_yardsticks.h"

#include "base/allocator.h"
#include "timer.h"
#include "unchecked_bits.h"

#include <pinhole/viewer.h>

#include <string.h>

#define SLOTS 256
#define CANDIDATE_WORDS (LOAD_VISIBLE * 24 / 8)
#define TICK_WORDS (SLOTS * 12 / 8)
#define SEND_WORDS (SLOTS * 36 / 8)
#define HOT_WORDS (CANDIDATE_WORDS + TICK_WORDS + SEND_WORDS)

#define FIELD_BITS_MAX 16
#define STEP_MM 200
#define TURN_TICKS 10
#define PERIOD (LOAD_TICKS_PER_SECOND / LOAD_SENDS_PER_SECOND)

static void look(naive_front_end* naive, const load_session* scene, int i)
{
    naive_viewer* viewer = &naive->viewers[i];
    ph_vision sight;
    ph_viewer_get_vision(scene->world, scene->clients[i].viewer, &sight);
    naive->entities[i].position_mm[0] = (int32_t)scene->walkers[i].x_mm;
    naive->entities[i].position_mm[1] = (int32_t)scene->walkers[i].y_mm;
    viewer->own = i;
    viewer->pair_count = 0;
    for (int slot = 1; slot < sight.slot_count && viewer->pair_count < NAIVE_VISIBLE; ++slot) {
        const ph_entity_id id = ph_world_entity_at(scene->world, sight.entities[slot]);
        uint64_t name;
        if (ph_world_identify(scene->world, id, &name, NULL) == PH_OK) {
            viewer->pairs[viewer->pair_count++] = (naive_pair){.entity = (int)name - 1};
        }
    }
}

bool load_yardsticks_make(load_yardsticks* yardsticks, const load_session* scene,
                          int fields_per_send)
{
    const ph_allocator memory = {0};
    const size_t count = (size_t)scene->viewer_count;
    *yardsticks = (load_yardsticks){
        .naive =
            {
                .entities = ph_allocate_array(&memory, count, sizeof(naive_state)),
                .entity_count = scene->viewer_count,
                .viewers = ph_allocate_array(&memory, count, sizeof(naive_viewer)),
                .viewer_count = scene->viewer_count,
            },
        .hot = ph_allocate_array(&memory, count, HOT_WORDS * sizeof(uint64_t)),
        .viewer_count = scene->viewer_count,
        .fields_per_send = fields_per_send,
    };
    if (yardsticks->naive.entities == NULL || yardsticks->naive.viewers == NULL ||
        yardsticks->hot == NULL) {
        load_yardsticks_destroy(yardsticks);
        return false;
    }
    memset(yardsticks->naive.entities, 0, count * sizeof(naive_state));
    memset(yardsticks->hot, 1, count * HOT_WORDS * sizeof(uint64_t));
    for (int i = 0; i < scene->viewer_count; ++i) {
        look(&yardsticks->naive, scene, i);
    }
    return true;
}

void load_yardsticks_destroy(load_yardsticks* yardsticks)
{
    const ph_allocator memory = {0};
    const size_t count = (size_t)yardsticks->viewer_count;
    ph_release_array(&memory, yardsticks->naive.entities, count, sizeof(naive_state));
    ph_release_array(&memory, yardsticks->naive.viewers, count, sizeof(naive_viewer));
    ph_release_array(&memory, yardsticks->hot, count, HOT_WORDS * sizeof(uint64_t));
    *yardsticks = (load_yardsticks){0};
}

// All in step, so that entities in view stay there; a tenth of them turns.
void load_yardsticks_move(load_yardsticks* yardsticks)
{
    ++yardsticks->tick;
    for (int i = 0; i < yardsticks->viewer_count; ++i) {
        naive_state* state = &yardsticks->naive.entities[i];
        state->position_mm[0] += STEP_MM;
        if ((yardsticks->tick + (uint32_t)i) % TURN_TICKS == 0) {
            ++state->values[0];
        }
    }
}

static bool is_turn(const load_yardsticks* yardsticks, int viewer)
{
    return (yardsticks->tick + (uint32_t)viewer) % PERIOD == 0;
}

void load_yardsticks_naive(load_yardsticks* yardsticks)
{
    const uint32_t limit_bits =
        LOAD_BITS_PER_SECOND / LOAD_SENDS_PER_SECOND - 8 * LOAD_OVERHEAD_BYTES;
    for (int i = 0; i < yardsticks->viewer_count; ++i) {
        if (is_turn(yardsticks, i)) {
            yardsticks->checksum += naive_send(&yardsticks->naive, i, limit_bits);
            bench_use(yardsticks->naive.packet, sizeof yardsticks->naive.packet);
        }
    }
}

// ---- the bound

static uint64_t sweep(uint64_t* words, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        words[i] += 1;
        sum += words[i];
    }
    return sum;
}

// As many as fit into a packet of any size; symbols count as several fields, which take no room.
#define PACKET_FIELDS 512

static size_t write_packet(const uint64_t* words, int count)
{
    uint8_t packet[PACKET_FIELDS * sizeof(uint32_t) + UNCHECKED_SPARE_BYTES];
    unchecked_writer writer = {.next = packet};
    for (int i = 0; i < count; ++i) {
        const uint32_t width = 1 + (uint32_t)i % FIELD_BITS_MAX;
        unchecked_write(&writer, (uint32_t)words[i] & ((1u << width) - 1), width);
    }
    bench_use(packet, sizeof packet);
    return unchecked_finish(&writer, packet);
}

static size_t write_fields(const uint64_t* words, int count)
{
    _Static_assert(PACKET_FIELDS <= HOT_WORDS, "a word for each field");
    size_t size = 0;
    for (; count > PACKET_FIELDS; count -= PACKET_FIELDS) {
        size += write_packet(words, PACKET_FIELDS);
    }
    return size + write_packet(words, count);
}

void load_yardsticks_bound(load_yardsticks* yardsticks)
{
    for (int i = 0; i < yardsticks->viewer_count; ++i) {
        uint64_t* hot = yardsticks->hot + (size_t)i * HOT_WORDS;
        yardsticks->checksum += sweep(hot, CANDIDATE_WORDS + TICK_WORDS);
        if (is_turn(yardsticks, i)) {
            yardsticks->checksum += sweep(hot + CANDIDATE_WORDS, TICK_WORDS + SEND_WORDS);
            yardsticks->checksum += write_fields(hot, yardsticks->fields_per_send);
        }
    }
}
