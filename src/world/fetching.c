// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A hint, for whoever sends to many viewers one after the other: what a send looks at is in no cache, and is
// found from pointer to pointer, so each is fetched a turn before the next; and no more in a turn than a
// processor fetches at a time, because what is beyond that is dropped (an EPYC: some twenty lines). Nothing
// here decides anything. Some times per send.

#include "world/sender.h"
#include "world/world_state.h"

#include "base/prefetch.h"

#include <stddef.h>

// Most of what the items of a usual datagram take of the ring. Beyond its end is something else, or nothing.
enum { FLIGHT_BYTES = 12 * PH_CACHE_LINE };

// Where in the sender begins what stands behind the ring of packets.
#define BEHIND_PACKETS offsetof(ph_sender, expectation)

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

// Of those who will probably be visited first; and where what is told of them will be remembered.
static void fetch_visits(const ph_sender* sender)
{
    for (int i = 0; i < sender->likely_count; ++i) {
        ph_sender_fetch_slot(sender, sender->likely[i]);
    }
    const ph_flight* flight = &sender->flight;
    ph_prefetch_bytes(flight->units + flight->head, FLIGHT_BYTES);
}

// The last turns but one are for what is swept, a part of it in each.
enum { LANE_TURNS = 4, FIRST_LANE_TURN = 1 + LANE_TURNS };
_Static_assert(FIRST_LANE_TURN + 4 == PH_FETCH_TURNS, "each has its turn");

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
    case PH_FETCH_TURNS - 1:
        fetch_head(sent_to->sender);
        ph_slots_prefetch_head(sent_to->slots);
        break;
    case PH_FETCH_TURNS - 2:
        fetch_rest(sent_to->sender);
        break;
    case PH_FETCH_TURNS - 3:
        ph_slots_prefetch(sent_to->slots);
        break;
    case 1:
        fetch_visits(sent_to->sender);
        break;
    default:
        if (1 < turns_before && turns_before <= FIRST_LANE_TURN) {
            ph_knowledge_prefetch_part(&sent_to->sender->knowledge, FIRST_LANE_TURN - turns_before,
                                       LANE_TURNS);
        }
        break;
    }
}
