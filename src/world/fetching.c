// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/fetching.h"

#include "world/expectation.h"

#include <stddef.h>

// Most of what the items of a usual datagram take of the ring. Beyond its end is something else, or nothing.
enum { FLIGHT_BYTES = 12 * PH_CACHE_LINE };

// Where in the sender begins what stands behind the ring of packets.
#define BEHIND_PACKETS offsetof(ph_sender, expectation)
_Static_assert(offsetof(ph_sender, flight) < BEHIND_PACKETS &&
                   BEHIND_PACKETS < offsetof(ph_sender, times),
               "the flight, then what a send and an answer look at, then figures");

static void fetch_head(const ph_sender* sender)
{
    const size_t packets = offsetof(ph_sender, flight) + offsetof(ph_flight, packets);
    ph_prefetch_bytes(sender, packets + PH_CACHE_LINE);
}

static void fetch_rest(const ph_sender* sender)
{
    const size_t end = offsetof(ph_sender, times);
    ph_prefetch_bytes((const uint8_t*)sender + BEHIND_PACKETS,
                      end - BEHIND_PACKETS + PH_CACHE_LINE);
}

void ph_sender_fetch(const ph_sender* sender)
{
    fetch_head(sender);
    fetch_rest(sender);
}

void ph_world_fetch(const ph_world* world, ph_viewer_id viewer, int turns_before)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return;
    }
    const ph_viewer* sent_to = &world->viewers.viewers[index];
    switch (turns_before) {
    case PH_FETCH_TURNS:
        ph_prefetch_bytes(sent_to, sizeof *sent_to);
        ph_prefetch(&world->viewers.eyes[index]);
        break;
    case 2:
        fetch_head(sent_to->sender);
        ph_slots_prefetch_head(sent_to->slots);
        break;
    case 1:
        fetch_rest(sent_to->sender);
        break;
    default:
        break;
    }
}

void ph_world_follow(ph_world* world, ph_viewer_id viewer, ph_viewer_id next)
{
    uint32_t index;
    uint32_t next_index;
    if (ph_world_try_viewer(world, viewer, &index)) {
        const bool is_there = ph_world_try_viewer(world, next, &next_index);
        world->viewers.viewers[index].sender->follower = is_there ? next_index : PH_NOBODY_FOLLOWS;
    }
}

// ---- while another one is sent to

ph_foresight ph_foresight_make(const ph_world* world, uint32_t next)
{
    // It may have been removed since.
    if (next >= (uint32_t)world->viewers.ids.used_count ||
        world->viewers.viewers[next].slots == NULL) {
        return (ph_foresight){0};
    }
    const ph_viewer* viewer = &world->viewers.viewers[next];
    const ph_sender* sender = viewer->sender;
    const int entered_end = sender->baselines.entered_end;
    const int slot_count = sender->knowledge.slot_count;
    return (ph_foresight){
        .sender = sender,
        .slots = ph_slots_swept(viewer->slots),
        .knowledge = ph_knowledge_swept(&sender->knowledge),
        .baselines = {(const uint8_t*)sender->baselines.slots,
                      (size_t)entered_end * sizeof(ph_baseline)},
        .expectation = ph_expectation_swept(sender->expectation, slot_count, world->class_count,
                                            ph_sender_is_coded(sender) ? entered_end : slot_count),
    };
}

// Last of all those who will probably be visited first, and where what is told of them will be remembered.
void ph_foresight_finish(ph_foresight* foresight)
{
    const ph_sender* sender = foresight->sender;
    if (sender == NULL) {
        return;
    }
    while ((foresight->slots.left_bytes | foresight->knowledge.left_bytes |
            foresight->baselines.left_bytes | foresight->expectation.left_bytes) != 0) {
        ph_foresight_go_on(foresight);
    }
    if (sender->first_slot != PH_SLOT_NOBODY) {
        ph_sender_fetch_slot(sender, sender->first_slot);
    }
    for (int i = 0; i < sender->likely_count; ++i) {
        ph_sender_fetch_slot(sender, sender->likely[i]);
    }
    const ph_flight* flight = &sender->flight;
    ph_prefetch_bytes(flight->units + flight->head, FLIGHT_BYTES);
}
