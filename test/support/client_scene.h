// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client, and packets written by hand for it, as a server would or as none would: record by
// record, in the order in which they are added.
//
//   client_packet packet = client_packet_make(scene, 1);       // with a hello
//   client_packet_enter(&packet, 3, 1, SCENE_WALKER, 17);      // slot 3, association 1, name 17
//   assert_int_equal(client_scene_send(scene, &packet), PH_OK);

#ifndef PINHOLE_CLIENT_SCENE_H
#define PINHOLE_CLIENT_SCENE_H

#include "test_memory.h"
#include "test_support.h"

#include "packet/classic_records.h"
#include "packet/header.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>

enum {
    SCENE_SESSION = 1000, // numbers of packets count from here in these tests: 1 is 1001
    SCENE_SLOTS = 16,
    SCENE_TICK_US = 100000,
    SCENE_RECORDS_MAX = 64,
    SCENE_WORDS_MAX = 16,
    SCENE_TEXTS_MAX = 64,
};

// The classes of the schema, and the properties of a walker.
enum { SCENE_WALKER = 0, SCENE_STONE = 1 };
enum {
    WALKER_POSITION = 0,
    WALKER_HEADING,
    WALKER_HEALTH,
    WALKER_TARGET,
    WALKER_NAME,
    WALKER_BADGE,
    WALKER_SECRET, // in no struct
    WALKER_PROPERTY_COUNT
};

typedef struct walker {
    int32_t position_mm[3];
    double heading_deg;
    uint8_t health; // 0..100, at first 100
    ph_entity_id target;
    char name[13];
    struct {
        uint16_t length;
        uint8_t bytes[6];
    } badge;
    uint32_t unbound;
} walker;

typedef struct client_scene {
    ph_schema* schema;
    ph_layouts layouts; // of the server
    ph_client* client;
    ph_ground
        ground; // one layer at 5000 mm where x is not negative, and one at 9000 where y is not
    test_memory memory;
    uint64_t now_us; // 100 ms more with every datagram
    int slot_count;
} client_scene;

void client_scene_setup(client_scene* scene);
void client_scene_setup_with(client_scene* scene, int slot_count, int slot_capacity);
void client_scene_setup_profile(client_scene* scene, ph_profile profile, int slot_count,
                                int slot_capacity);
void client_scene_teardown(client_scene* scene);
ph_schema* client_scene_schema(void);

typedef struct client_record {
    ph_record record; // its blocks are those below, once it is written
    uint32_t words[SCENE_WORDS_MAX];
    uint8_t texts[SCENE_TEXTS_MAX];
    uint8_t coarse; // of a position, pinhole profile only
} client_record;

typedef struct client_packet {
    const ph_layouts* layouts;
    const ph_ground* ground;
    ph_header header;
    int32_t eye_mm[3]; // around which positions are written
    int slot_bits;
    client_record records[SCENE_RECORDS_MAX];
    int count;
    uint8_t bytes[PH_PAYLOAD_MAX + 100];
    size_t size;
} client_packet;

// The packet number SCENE_SESSION + number, with a hello and an eye at (0, 0, 0).
client_packet client_packet_make(const client_scene* scene, int number);
// The same without a hello and eye; the horizon is SCENE_SESSION + horizon.
client_packet client_packet_after(const client_scene* scene, int number, int horizon);
// A probe without a hello.
client_packet client_packet_probe(const client_scene* scene, int number);

void client_packet_leave(client_packet* packet, int slot, uint32_t association);
// At (0, 0, 0), everything else initial. The record may be changed as long as the packet lives.
client_record* client_packet_enter(client_packet* packet, int slot, uint32_t association,
                                   int class_index, uint64_t name);
// Of a walker; tells nothing yet.
client_record* client_packet_update(client_packet* packet, int slot, uint32_t association);

void client_record_place(client_record* it, const client_packet* packet, int32_t x_mm, int32_t y_mm,
                         int32_t z_mm);
// Walkers only. The target in slot -1 is none.
void client_record_health(client_record* it, const client_packet* packet, int health);
void client_record_target(client_record* it, const client_packet* packet, int slot,
                          uint32_t association);
void client_record_text(client_record* it, const client_packet* packet, int property,
                        const char* text);

// Writes bytes and size; the counts of the header are set unless they are already.
void client_packet_write(client_packet* packet);

// Writes the packet and lets the client receive it.
ph_result client_scene_send(client_scene* scene, client_packet* packet);

// Lets the client receive these bytes.
ph_result client_scene_receive(client_scene* scene, const void* bytes, size_t size);

// Sends what must be refused for this reason, and compares the client before and after.
void client_scene_refuse(client_scene* scene, client_packet* packet, ph_client_refusal reason);

// Session begun: walkers 10 and 11 in slots 0 and 1, association 1, health 100; packet 1 and its
// events are over. The next one may have horizon 1.
void client_scene_begin(client_scene* scene);

// A walker by its name, as the client has it; it must be in view.
walker client_scene_walker(const client_scene* scene, uint64_t name);

#endif
