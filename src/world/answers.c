// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Acknowledgements of many viewers, one behind the other. What one looks at is in no cache, and is
// found from pointer to pointer: a viewer, its sender, the oldest packet, its items, the dossiers of
// those. So each is fetched a turn before the next, while others are taken. Nothing here decides
// anything.

#include "world/sender.h"
#include "world/world_state.h"

#include "base/prefetch.h"

// Looked at in one go; of more items only the first dossiers are fetched.
enum { GROUP = 64, ITEMS_MAX = 48 };

// The oldest packet; and of all slots what was told and of which class, which lie in a row.
static void fetch_packet(const ph_sender* sender)
{
    const ph_knowledge* knowledge = &sender->knowledge;
    ph_prefetch_bytes(ph_flight_oldest(&sender->flight), 2 * sizeof(ph_flight_packet));
    ph_prefetch_bytes(knowledge->told, 2 * (size_t)knowledge->slot_count);
}

static void fetch_dossiers(const ph_sender* sender)
{
    const ph_flight_packet* packet = ph_flight_oldest(&sender->flight);
    ph_flight_walk walk = ph_flight_walk_make(&sender->flight, packet);
    const int count = packet->item_count < ITEMS_MAX ? packet->item_count : ITEMS_MAX;
    for (int i = 0; i < count; ++i) {
        ph_sender_fetch_slot(sender, ph_flight_walk_slot(&walk));
        ph_flight_walk_on(&walk);
    }
}

enum { STEPS = 5 };

static void fetch(const ph_viewer* viewer, int step)
{
    if (viewer == NULL) {
        return;
    }
    if (step == 0) {
        ph_prefetch(viewer);
        return;
    }
    const ph_sender* sender = viewer->sender;
    if (step == 1) {
        ph_sender_fetch(sender);
    } else if (sender->flight.count == 0) {
        return;
    } else if (step == 2) {
        fetch_packet(sender);
    } else if (step == 3) {
        ph_flight_prefetch_oldest(&sender->flight);
    } else {
        fetch_dossiers(sender);
    }
}

static void take_group(ph_world* world, uint64_t now_us, ph_answer* answers, int count)
{
    const ph_viewer* viewers[GROUP];
    for (int i = 0; i < count; ++i) {
        uint32_t index;
        viewers[i] = ph_world_try_viewer(world, answers[i].viewer, &index)
                         ? &world->viewers.viewers[index]
                         : NULL;
    }
    for (int i = -STEPS; i < count; ++i) {
        for (int step = 0; step < STEPS; ++step) {
            const int ahead = i + STEPS - step;
            if (ahead >= 0 && ahead < count) {
                fetch(viewers[ahead], step);
            }
        }
        if (i >= 0) {
            ph_answer* answer = &answers[i];
            answer->result =
                ph_world_acknowledge(world, answer->viewer, now_us, answer->bytes, answer->size);
        }
    }
}

void ph_world_acknowledge_all(ph_world* world, uint64_t now_us, ph_answer* answers, int count)
{
    for (int first = 0; first < count; first += GROUP) {
        const int left = count - first;
        take_group(world, now_us, answers + first, left < GROUP ? left : GROUP);
    }
}
