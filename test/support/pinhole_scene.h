// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client of the pinhole profile, and packets written by hand for it. Packets and records are those
// of client_scene.h; here they are written as differences. The scene remembers all that the client
// has applied, and works the baselines of each packet out anew from that, from the very first one:
// slow, and nothing like the way the client goes.
//
//   client_packet packet = pinhole_packet_make(scene, 1);        // with a hello and an eye
//   client_packet_enter(&packet, 3, 1, SCENE_WALKER, 17);
//   assert_int_equal(pinhole_scene_send(scene, &packet), PH_OK);

#ifndef PINHOLE_SCENE_H
#define PINHOLE_SCENE_H

#include "client_scene.h"

#include "packet/baseline.h"
#include "packet/pinhole_records.h"

#include <pinhole/stats.h>

enum { PINHOLE_PACKETS_MAX = 400, PINHOLE_CLASSES = 2, PINHOLE_STRIDE = 128 };

// All baselines at one horizon.
typedef struct pinhole_baselines {
    ph_baseline slots[SCENE_SLOTS];
    uint8_t known[SCENE_SLOTS][PINHOLE_STRIDE];
    uint64_t key_base;
    uint32_t tick; // of the newest packet applied
    bool has_tick;
} pinhole_baselines;

// Large: best static.
typedef struct pinhole_scene {
    client_scene base;
    ph_packing packings[PINHOLE_CLASSES];
    uint16_t precision; // of the hello
    client_packet applied[PINHOLE_PACKETS_MAX];
    int applied_count;
} pinhole_scene;

void pinhole_scene_setup(pinhole_scene* scene);
// With a session: walkers 10 and 11 in slots 0 and 1, association 1, health 100; packet 1 and its
// events are over. The next one may have horizon 1.
void pinhole_scene_setup_begun(pinhole_scene* scene);
void pinhole_scene_teardown(pinhole_scene* scene);

// As client_packet_make() and client_packet_after(). The tick is the number, unless whole_tick is set
// to something else.
client_packet pinhole_packet_make(const pinhole_scene* scene, int number);
client_packet pinhole_packet_after(const pinhole_scene* scene, int number, int horizon);
client_packet pinhole_packet_probe(const pinhole_scene* scene, int number);

// One position of the walker in slot 0.
client_packet pinhole_packet_place(const pinhole_scene* scene, int number, int horizon,
                                   int32_t x_mm);

pinhole_baselines pinhole_scene_baselines(const pinhole_scene* scene, uint32_t horizon);
// As ph_client_baseline_digest() should have it.
uint64_t pinhole_scene_digest(const pinhole_scene* scene, uint32_t horizon);
ph_pinhole_frame pinhole_scene_frame(const pinhole_scene* scene, const client_packet* packet,
                                     const pinhole_baselines* baselines);

// Writes bytes and size. The tick field is worked out unless the packet is a probe; the counts are
// set.
void pinhole_packet_write(const pinhole_scene* scene, client_packet* packet);

// Writes the packet and lets the client receive it; if it is applied, the client's baselines must be
// those of its horizon.
ph_result pinhole_scene_send(pinhole_scene* scene, client_packet* packet);

// Sends what must be applied.
void pinhole_scene_apply(pinhole_scene* scene, client_packet* packet);

// Sends what must be refused for this reason, and compares the client before and after.
void pinhole_scene_refuse(pinhole_scene* scene, client_packet* packet, ph_client_refusal reason);

// Where the walker of this name is.
int32_t pinhole_scene_x_mm(const pinhole_scene* scene, uint64_t name);

#endif
