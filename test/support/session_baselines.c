// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per datagram; a digest looks at every slot.

#include "session_baselines.h"

#include "test_session.h"

#include "client/client_state.h"
#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/stats.h>

enum { MANY_SLOTS = 1000 };

static const ph_sender* sender_of(const test_session* session, int viewer)
{
    return session->world->viewers.viewers[session->viewers[viewer].id.index1 - 1].sender;
}

static uint64_t digest_of(const ph_world* world, const ph_sender* sender)
{
    const ph_baseline_rules rules = {
        .layouts = &world->store.class_info.layouts,
        .packings = world->store.class_info.packings,
        .tick_us = world->def.tick_us,
    };
    ph_hash hash = ph_hash_make(0);
    for (int slot = 0; slot < sender->replicas.slot_count; ++slot) {
        ph_hash_add_u64(&hash,
                        ph_baseline_digest(&sender->replicas.baselines.slots[slot],
                                           ph_replicas_at(&sender->replicas, slot)->known, &rules));
    }
    return ph_hash_value(&hash);
}

// Thousands of slots are looked at now and then only.
static bool is_looked_at(const test_session* session, int viewer, uint32_t number)
{
    return session->viewers[viewer].def.slot_count <= MANY_SLOTS || number % 16 == 0;
}

void session_note_baselines(test_session* session, int viewer)
{
    const ph_sender* sender = sender_of(session, viewer);
    session_baselines* seen = &session->viewers[viewer].baselines;
    if (sender->is_pinhole && sender->packet_count != seen->sent_count) { // no probe
        seen->sent_count = sender->packet_count;
        if (is_looked_at(session, viewer, sender->newest)) {
            seen->digests[sender->newest % BASELINES_REMEMBERED] =
                digest_of(session->world, sender);
        }
    }
}

void session_check_baselines(test_session* session, int viewer)
{
    const ph_client* client = session->viewers[viewer].client;
    session_baselines* seen = &session->viewers[viewer].baselines;
    const ph_client_stats stats = ph_client_get_stats(client);
    if (session->def.profile != PH_PROFILE_PINHOLE ||
        stats.applied_packets == seen->applied_count) {
        return;
    }
    seen->applied_count = stats.applied_packets;
    if (!is_looked_at(session, viewer, stats.newest_sequence)) {
        return;
    }
    ++seen->compared_count;
    if (ph_client_baseline_digest(client) !=
        seen->digests[stats.newest_sequence % BASELINES_REMEMBERED]) {
        fail_msg("%s: viewer %d has other baselines for packet %u", session_label(session), viewer,
                 (unsigned)stats.newest_sequence);
    }
}
