// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams for the client of plain snapshots, one after another: a byte says how long each is. A refused
// one changes nothing; what an accepted one makes of the entities can be read and shown, and written as a
// snapshot it reads as the same again.

#include "support/fuzz_source.h"

#include "kit/snapshot_client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, PROPERTIES = 4, PAYLOAD_MAX = 100, TICK_US = 50000 };

static const char DECLARATIONS[] = "class thing\n"
                                   "place: position\n"
                                   "heading: angle 8\n"
                                   "health: range 0..100\n"
                                   "label: string 8\n"
                                   "speed: fixed -5..5 step 0.01\n";

static uint64_t digest(const ph_snapshot_client* client, const ph_snapshot_layout* layout)
{
    const ph_snapshot* newest = ph_snapshot_client_newest(client);
    uint64_t sum = 1;
    for (int slot = 0; newest != NULL && slot < layout->slot_count; ++slot) {
        const uint8_t* block = ph_snapshot_block(newest, layout, slot);
        sum = 31 * sum + newest->is_there[slot];
        for (int i = 0; newest->is_there[slot] && i < layout->stride; ++i) {
            sum = 31 * sum + block[i];
        }
    }
    return newest != NULL ? 31 * sum + newest->sequence : 0;
}

// Every entity has a pose and values that the schema allows.
static void look(ph_snapshot_client* client, uint64_t now_us)
{
    const ph_snapshot* newest = ph_snapshot_client_newest(client);
    int count = 0;
    ph_snapshot_client_advance(client, now_us);
    for (int slot = 0; slot < SLOTS; ++slot) {
        if (!newest->is_there[slot]) {
            continue;
        }
        ++count;
        const ph_entity_id entity = ph_snapshot_client_find(client, newest->keys[slot]);
        ph_pose pose;
        int64_t health = -1;
        double speed = 9.0;
        char label[9];
        fuzz_demand(entity.index1 == (uint32_t)slot + 1);
        fuzz_demand(ph_snapshot_client_get_pose(client, entity, &pose) == PH_OK);
        fuzz_demand(isfinite(pose.position_mm[0]) && isfinite(pose.heading_deg));
        fuzz_demand(ph_snapshot_client_get_property(client, entity, 2, PH_FIELD_I64, &health,
                                                    sizeof health) == PH_OK);
        fuzz_demand(health >= 0 && health <= 100);
        fuzz_demand(ph_snapshot_client_get_property(client, entity, 3, PH_FIELD_TEXT, label,
                                                    sizeof label) == PH_OK);
        fuzz_demand(ph_snapshot_client_get_property(client, entity, 4, PH_FIELD_F64, &speed,
                                                    sizeof speed) == PH_OK);
        fuzz_demand(speed >= -5.001 && speed <= 5.001);
    }
    fuzz_demand(count == newest->entity_count);
}

// All of it as newcomers.
static void write_again(const ph_snapshot_client* client, const ph_snapshot_layout* layout)
{
    static uint8_t bytes[1 << 16];
    const ph_snapshot* newest = ph_snapshot_client_newest(client);
    uint16_t newcomers[SLOTS];
    ph_snapshot copies[2];
    fuzz_demand(ph_snapshot_create(&copies[0], layout) && ph_snapshot_create(&copies[1], layout));
    ph_snapshot_copy(&copies[0], newest, layout);
    ph_snapshot_writing writing = {.layout = layout,
                                   .newcomers = newcomers,
                                   .limit_bits = 8 * sizeof bytes,
                                   .bytes = bytes,
                                   .capacity = sizeof bytes};
    for (int slot = 0; slot < SLOTS; ++slot) {
        if (newest->is_there[slot]) {
            newcomers[writing.newcomer_count++] = (uint16_t)slot;
        }
    }
    ph_snapshot_clear(&copies[0], layout);
    ph_sim_counts counts;
    const size_t size = ph_snapshot_write(&writing, &copies[0], &counts);
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    fuzz_demand(size > 0 && ph_snapshot_read_head(&reader).back == 0);
    fuzz_demand(ph_snapshot_read(&reader, layout, NULL, &copies[1]) == PH_OK);
    fuzz_demand(ph_snapshot_is_same(&copies[1], newest, layout));
    ph_snapshot_destroy(&copies[0]);
    ph_snapshot_destroy(&copies[1]);
}

static void take(ph_snapshot_client* client, const ph_snapshot_layout* layout, uint64_t now_us,
                 fuzz_source* from)
{
    const size_t wanted = fuzz_take(from, 256);
    const size_t size = wanted < from->left ? wanted : from->left;
    uint8_t* exact = malloc(size > 0 ? size : 1); // of its own size, so that a step too far is seen
    memcpy(exact, from->bytes, size);
    from->bytes += size;
    from->left -= size;
    const uint64_t before = digest(client, layout);
    const ph_result result = ph_snapshot_client_receive(client, now_us, exact, size);
    free(exact);
    fuzz_demand(result == PH_OK || digest(client, layout) == before);
    if (ph_snapshot_client_newest(client) != NULL) {
        uint8_t ack[PH_SNAPSHOT_ACK_SIZE];
        look(client, now_us);
        write_again(client, layout);
        fuzz_demand(ph_snapshot_client_write_ack(client, now_us, ack) == PH_SNAPSHOT_ACK_SIZE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_schema* schema = NULL;
    fuzz_demand(ph_schema_parse(DECLARATIONS, sizeof DECLARATIONS - 1, NULL, &schema, NULL) ==
                PH_OK);
    const ph_ground none = {0};
    const ph_way_terms terms = {.slot_count = SLOTS, .payload_max = PAYLOAD_MAX};
    ph_snapshot_layout layout;
    fuzz_demand(ph_snapshot_layout_make(&layout, schema, &none, &terms));
    const ph_snapshot_client_def def = {.layout = &layout, .tick_us = TICK_US};
    ph_snapshot_client* client = ph_snapshot_client_create(&def);
    fuzz_demand(client != NULL);
    fuzz_source from = {.bytes = data, .left = size};
    for (uint64_t now_us = 1000000; from.left > 0; now_us += TICK_US) {
        take(client, &layout, now_us, &from);
    }
    ph_snapshot_client_destroy(client);
    ph_schema_destroy(schema);
    return 0;
}
