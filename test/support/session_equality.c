// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a client shows what its viewer sees. Written from the public promises alone, but for
// coordinates finer than the wire's, which decide about distances.

#include "test_session.h"

#include "world/world_state.h"

#include <pinhole/viewer.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SURE_STEPS = 12 }; // once equal, so many more

bool session_is_for(const ph_property_def* def, const session_viewer* viewer, int slot)
{
    switch (def->audience) {
    case PH_AUDIENCE_OWNER:
        return slot == 0;
    case PH_AUDIENCE_MASK:
        return (def->audience_mask & viewer->def.audience) != 0;
    default:
        return true;
    }
}

// In the plane, across the edge of the world too.
static bool is_within(const test_session* session, const session_viewer* viewer,
                      ph_entity_index entity, double distance_m)
{
    if (distance_m == 0.0) {
        return true;
    }
    const ph_eye* eye = &session->world->viewers.eyes[viewer->id.index1 - 1];
    const ph_entities* entities = &session->world->store.entities;
    const int64_t dx = (int32_t)((uint32_t)entities->x_mm[entity] - (uint32_t)eye->x_mm);
    const int64_t dy = (int32_t)((uint32_t)entities->y_mm[entity] - (uint32_t)eye->y_mm);
    // Whole millimetres, rounded up; nothing is 2^32 of them away.
    const double limit_mm = ceil(distance_m * 1000.0);
    return limit_mm >= 0x1p32 ||
           (uint64_t)(dx * dx) + (uint64_t)(dy * dy) <= (uint64_t)limit_mm * (uint64_t)limit_mm;
}

// By entity: whether the sight that is being looked at shows it.
static bool is_seen[SESSION_PLACES_MAX];

static void note_seen(const ph_vision* sight)
{
    memset(is_seen, 0, sizeof is_seen);
    for (int slot = 0; slot < sight->slot_count; ++slot) {
        if (sight->entities[slot] != PH_ENTITY_NONE) {
            is_seen[sight->entities[slot]] = true;
        }
    }
}

// A reference to an unseen entity names none.
static uint64_t expected_value(const test_session* session, ph_entity_id id,
                               const ph_property_def* def, int property)
{
    const uint64_t value = session_world_value(session->world, id, def, property);
    if (def->coding == PH_CODING_ENTITY && value != SESSION_NO_ENTITY) {
        ph_entity_id target;
        assert_int_equal(ph_world_get_property(session->world, id, property, PH_FIELD_ENTITY,
                                               &target, sizeof target),
                         PH_OK);
        return is_seen[target.index1 - 1] ? value : SESSION_NO_ENTITY;
    }
    return value;
}

static bool is_entity_equal(const test_session* session, const session_viewer* viewer,
                            const ph_vision* sight, int slot, char why[200])
{
    const ph_entity_index index = sight->entities[slot];
    const session_entity* entity = session_find(session, ph_world_entity_at(session->world, index));
    const ph_entity_id shown = ph_client_entity_at(viewer->client, slot);
    for (int p = 0; p < session_property_count(session, entity->class_index); ++p) {
        const ph_property_def* def = session_property(session, entity->class_index, p);
        const bool is_for = session_is_for(def, viewer, slot);
        if (is_for &&
            ((entity->once_changed >> p & 1) != 0 ||
             (def->when != PH_SEND_ONCE && !is_within(session, viewer, index, def->distance_m)))) {
            continue;
        }
        const uint64_t wanted = is_for ? expected_value(session, entity->id, def, p)
                                       : session->initial[entity->class_index][p];
        const uint64_t has = session_client_value(viewer->client, shown, def, p);
        if (has != wanted) {
            snprintf(
                why, 200,
                "slot %d, name %llu: %s differs (coding %d, distance %g m, significant %g, %s)",
                slot, (unsigned long long)entity->name, def->name, (int)def->coding,
                def->distance_m, def->significant, is_for ? "for it" : "not for it");
            return false;
        }
    }
    return true;
}

static bool is_shown(const test_session* session, const session_viewer* viewer,
                     const ph_vision* sight, int slot, char why[200])
{
    const bool is_there = sight->entities[slot] != PH_ENTITY_NONE;
    const ph_entity_id shown = ph_client_entity_at(viewer->client, slot);
    if (is_there != (shown.index1 != 0)) {
        snprintf(why, 200, "slot %d: %s", slot, is_there ? "missing" : "left, but shown");
        return false;
    }
    if (!is_there) {
        return true;
    }
    uint64_t name;
    uint64_t shown_name;
    int class_index;
    int shown_class;
    const ph_entity_id id = ph_world_entity_at(session->world, sight->entities[slot]);
    if (!ph_world_is_alive(session->world, id)) {
        return true; // gone since the tick: the next one says what becomes of the slot
    }
    assert_int_equal(ph_world_identify(session->world, id, &name, &class_index), PH_OK);
    assert_int_equal(ph_client_identify(viewer->client, shown, &shown_name, &shown_class), PH_OK);
    if (name != shown_name || class_index != shown_class) {
        snprintf(why, 200, "slot %d: name %llu, shown %llu", slot, (unsigned long long)name,
                 (unsigned long long)shown_name);
        return false;
    }
    return is_entity_equal(session, viewer, sight, slot, why);
}

bool session_is_slot_equal(const test_session* session, int viewer, int slot)
{
    const session_viewer* seer = &session->viewers[viewer];
    char why[200];
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(session->world, seer->id, &sight), PH_OK);
    note_seen(&sight);
    return is_shown(session, seer, &sight, slot, why);
}

bool session_is_equal(const test_session* session, int viewer, char why[200])
{
    char scratch[200];
    const session_viewer* seer = &session->viewers[viewer];
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(session->world, seer->id, &sight), PH_OK);
    note_seen(&sight);
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        if (!is_shown(session, seer, &sight, slot, why != NULL ? why : scratch)) {
            return false;
        }
    }
    return true;
}

static int find_unequal(const test_session* session, char why[200])
{
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL && !session->viewers[i].is_mute &&
            !session_is_equal(session, i, why)) {
            return i;
        }
    }
    return -1;
}

// Looking costs more than a step: not before so many steps.
static int next_look(const test_session* session, int steps)
{
    return session->def.is_wide && steps > 64 ? steps + steps / 16 : steps - steps % 4 + 4;
}

int session_settle(test_session* session, int steps_max)
{
    char why[200] = "";
    int unequal = 0;
    int steps = 0;
    int sure = 0;
    int look = 4;
    while (sure < SURE_STEPS) {
        session_step(session);
        ++steps;
        if (sure == 0 && steps < look) {
            continue;
        }
        look = next_look(session, steps);
        unequal = find_unequal(session, why);
        sure = unequal < 0 ? sure + 1 : 0;
        if (unequal >= 0 && steps >= steps_max) {
            fail_msg("%s: viewer %d is not equal after %d steps: %s", session_label(session),
                     unequal, steps, why);
        }
    }
    return steps;
}

int session_settle_wide(test_session* session)
{
    const double steps = 200.0 + session->wide.settle_s * 1e6 / session->tick_us;
    return session_settle(session, steps < 1e9 ? (int)steps : 1000000000);
}
