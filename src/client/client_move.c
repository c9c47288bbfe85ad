// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client goes on with another server. What the one before has shown stays in view, extrapolated by that one's clock,
// until the new one shows it as well: then it is the same entity, by its key and class, with the same id, the same
// pointer of the game, and shown on from where it is. What the new one does not show leaves.
//
//   client ── former ── former of that          each with entities, events, display
//   slots │ what is left of the slots before    in this order for ph_client_entity_at()
//
// A former view is released when nothing is left in it and its events were fetched. Once per move; per entity some
// hundred nanoseconds when it enters.

#include "client/client_state.h"

#include "base/allocator.h"
#include "base/check.h"

// The new view is complete when no enter has come for so long, or after so long in any case: where players come and go
// there is always another one.
#define SETTLE_QUIET_US 500000u
#define SETTLE_MAX_US 5000000u

// ---- where is it?

int ph_client_locate(const ph_client* client, ph_entity_id entity, const ph_client** owner)
{
    for (const ph_client* at = client; at != NULL; at = at->former) {
        const int slot = ph_client_entities_slot_of(&at->entities, entity);
        if (slot >= 0) {
            *owner = at;
            return slot;
        }
    }
    *owner = NULL;
    return -1;
}

int ph_client_locate_key(const ph_client* client, uint64_t key, const ph_client** owner)
{
    for (const ph_client* at = client; at != NULL; at = at->former) {
        const int slot = ph_client_entities_find(&at->entities, key);
        if (slot >= 0) {
            *owner = at;
            return slot;
        }
    }
    *owner = NULL;
    return -1;
}

// ---- moving

// Above all that were given so far.
static uint32_t next_id_base(const ph_client_entities* entities)
{
    uint32_t most = 0;
    for (int slot = 0; slot < entities->slot_count; ++slot) {
        most = entities->association[slot] > most ? entities->association[slot] : most;
    }
    return entities->id_base + most;
}

static bool is_over(const ph_client* former)
{
    return former->entities.entered_count == 0 && ph_events_is_empty(&former->events);
}

void ph_client_release_former(ph_client* client)
{
    for (ph_client** at = &client->former; *at != NULL;) {
        ph_client* former = *at;
        if (is_over(former)) {
            *at = former->former;
            former->former = NULL;
            ph_client_destroy(former);
        } else {
            at = &former->former;
        }
    }
}

static void begin_anew(ph_client* client, const ph_client* fresh)
{
    ph_decoded_packet_destroy(&client->decoded);
    ph_client_baselines_destroy(&client->baselines);
    client->def = fresh->def;
    client->session = (ph_session){0};
    client->candidate = (ph_session){0};
    client->entities = fresh->entities;
    client->events = fresh->events;
    client->decoded = fresh->decoded;
    client->baselines = fresh->baselines;
    client->display = fresh->display;
    client->reorder = fresh->reorder;
    client->succession = (ph_succession){0};
}

// @return NULL: no memory.
static ph_client* make_fresh(const ph_client* client, const ph_client_def* def)
{
    ph_client* fresh = ph_allocate_zeroed(&def->allocator, sizeof *fresh);
    if (fresh == NULL) {
        return NULL;
    }
    fresh->def = *def;
    if (ph_client_create_parts(fresh, &client->layouts) != PH_OK ||
        ph_client_entities_keep_ids(&fresh->entities, next_id_base(&client->entities)) != PH_OK) {
        ph_client_destroy(fresh);
        return NULL;
    }
    return fresh;
}

ph_result ph_client_move(ph_client* client, ph_profile profile, int slot_capacity)
{
    ph_check check = ph_check_begin(client->def.on_error, client->def.on_error_context, __func__);
    ph_check_range(&check, "profile", profile, 0, PH_PROFILE_COUNT - 1);
    ph_check_range(&check, "slot_capacity", slot_capacity, 2, UINT16_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_client_def def = client->def;
    def.profile = profile;
    def.slot_capacity = slot_capacity;
    ph_client* former = make_fresh(client, &def);
    if (former == NULL) {
        return ph_fail_memory(&check);
    }
    const ph_client fresh = *former;
    former->def = client->def;
    former->entities = client->entities;
    former->events = client->events;
    former->display = client->display;
    former->decoded = (ph_decoded_packet){0};
    former->baselines = (ph_client_baselines){0};
    former->former = client->former;
    begin_anew(client, &fresh);
    client->former = former;
    ph_client_release_former(client);
    return PH_OK;
}

// ---- taking over

static void forget(ph_client* owner, int slot)
{
    ph_events_leave(&owner->events, &owner->entities, slot);
    ph_client_entities_leave(&owner->entities, slot);
}

bool ph_client_inherit(ph_client* client, int slot)
{
    ph_client_entities* entities = &client->entities;
    const ph_client* found;
    const int from = ph_client_locate_key(client->former, entities->key[slot], &found);
    if (from < 0) {
        return false;
    }
    ph_client* owner = (ph_client*)(uintptr_t)found; // one of ours
    if (owner->entities.class_index[from] != entities->class_index[slot]) {
        forget(owner, from);
        ++client->counts.applied_leaves;
        return false;
    }
    const uint64_t differ = ph_client_entities_compare(entities, slot, &owner->entities, from);
    ph_client_entities_rename(entities, slot, ph_client_entities_id(&owner->entities, from),
                              owner->entities.user[from]);
    ph_display_inherit(&client->display, entities, slot, &owner->display, from);
    ph_events_inherit(&client->events, slot, &owner->events, from, differ);
    ph_client_entities_leave(&owner->entities, from);
    return true;
}

// ---- what the new server does not show

void ph_client_note_packet(ph_client* client, uint64_t now_us, bool has_enters)
{
    ph_succession* succession = &client->succession;
    if (!succession->has_begun) {
        *succession = (ph_succession){.has_begun = true, .first_us = now_us, .enter_us = now_us};
    } else if (has_enters) {
        succession->enter_us = now_us;
    }
}

static void leave_all(ph_client* client, ph_client* former)
{
    const ph_bitset* entered = &former->entities.is_entered;
    for (int slot = ph_bitset_next(entered, 0); slot < former->entities.slot_count;
         slot = ph_bitset_next(entered, slot + 1)) {
        forget(former, slot);
        ++client->counts.applied_leaves;
    }
}

void ph_client_settle(ph_client* client, uint64_t now_us)
{
    const ph_succession* succession = &client->succession;
    if (client->former == NULL || !succession->has_begun) {
        return;
    }
    if (now_us >= succession->first_us + SETTLE_MAX_US ||
        now_us >= succession->enter_us + SETTLE_QUIET_US) {
        for (ph_client* at = client->former; at != NULL; at = at->former) {
            leave_all(client, at);
        }
    }
    ph_client_release_former(client);
}
