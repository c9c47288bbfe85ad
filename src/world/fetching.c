// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A hint, for whoever sends to many viewers one after the other: what a send looks at is in no cache, and is
// found from pointer to pointer, so each is fetched a turn before the next. Nothing here decides anything.
// Once per send and step.

#include "world/sender.h"
#include "world/world_state.h"

#include "base/prefetch.h"

#include <stddef.h>

// What the items of a usual datagram take of the ring. Beyond its end there is something else, or nothing.
enum { FLIGHT_BYTES = 18 * PH_CACHE_LINE };

void ph_sender_fetch(const ph_sender* sender)
{
    const size_t packets = offsetof(ph_sender, flight) + offsetof(ph_flight, packets);
    const size_t rest = offsetof(ph_sender, expectation);
    const size_t behind = offsetof(ph_sender, times);
    ph_prefetch_bytes(sender, packets + PH_CACHE_LINE);
    ph_prefetch_bytes((const uint8_t*)sender + rest, behind - rest + PH_CACHE_LINE);
}

// Of those who will probably be visited first; and where what is told of them will be remembered.
static void fetch_visits(const ph_sender* sender)
{
    for (int i = 0; i < sender->likely_count; ++i) {
        ph_sender_fetch_slot(sender, sender->likely[i]);
    }
    const ph_flight* flight = &sender->flight;
    ph_prefetch_bytes(flight->units + flight->head, FLIGHT_BYTES);
}

void ph_world_fetch(const ph_world* world, ph_viewer_id viewer, int turns_before)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return;
    }
    const ph_viewer* sent_to = &world->viewers.viewers[index];
    if (turns_before >= 3) {
        ph_prefetch_bytes(sent_to, sizeof *sent_to);
        ph_prefetch(&world->viewers.eyes[index]);
    } else if (turns_before == 2) {
        ph_sender_fetch(sent_to->sender);
        ph_slots_prefetch_head(sent_to->slots);
    } else {
        ph_slots_prefetch(sent_to->slots);
        ph_knowledge_prefetch(&sent_to->sender->knowledge);
        fetch_visits(sent_to->sender);
    }
}
