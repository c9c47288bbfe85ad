// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots against a model that is as plain as the rules: one list of members in slot order, one queue
// of free slots, everything found by searching. Whole tables are compared after every step.

#include "support/slots_scene.h"
#include "support/test_support.h"

#include "vision/select.h"

#include <string.h>

enum {
    SLOTS = 24,
    STEPS = 100000,
    WALKERS = 60, // entities that come and go
};

typedef struct model_slot {
    ph_slot_state state;
    ph_entity_index entity;
    uint64_t spawn_order;
    uint32_t entered;
} model_slot;

typedef struct model {
    model_slot slots[SLOTS];
    int queue[SLOTS]; // free slots, the next one first
    int queue_count;
    int enters[SLOTS];
    int enter_count;
    bool is_left[SLOTS]; // by the last step
    uint64_t waits;
} model;

static void model_make(model* m)
{
    *m = (model){0};
    for (int slot = 0; slot < SLOTS; ++slot) {
        m->slots[slot].entity = PH_ENTITY_NONE;
    }
    for (int slot = 1; slot < SLOTS; ++slot) {
        m->queue[m->queue_count++] = slot;
    }
}

static void model_leave(model* m, int slot)
{
    m->slots[slot] = (model_slot){.state = PH_SLOT_RESTING, .entity = PH_ENTITY_NONE};
    m->is_left[slot] = true;
}

static void model_enter(model* m, const slots_scene* s, int slot, ph_entity_index entity)
{
    m->slots[slot] = (model_slot){PH_SLOT_SHOWN, entity, s->spawn_order[entity], s->tick};
    m->enters[m->enter_count++] = slot;
}

static void model_free(model* m, int slot)
{
    m->slots[slot].state = PH_SLOT_FREE;
    if (slot != 0) {
        m->queue[m->queue_count++] = slot;
    }
}

static int model_count(const model* m, ph_slot_state state)
{
    int count = 0;
    for (int slot = 1; slot < SLOTS; ++slot) {
        count += m->slots[slot].state == state;
    }
    return count;
}

// The rank of this member among the answers (nearest first), or -1.
static int rank_of(const model_slot* member, const ph_seen* seen, int seen_count)
{
    for (int i = 0; i < seen_count; ++i) {
        if (seen[i].entity == member->entity && seen[i].spawn_order == member->spawn_order) {
            return i;
        }
    }
    return -1;
}

static bool is_member(const model* m, const ph_seen* seen)
{
    for (int slot = 0; slot < SLOTS; ++slot) {
        if (m->slots[slot].state == PH_SLOT_SHOWN && rank_of(&m->slots[slot], seen, 1) == 0) {
            return true;
        }
    }
    return false;
}

static void model_own(model* m, const slots_scene* s)
{
    ph_entity_index own = s->eye.own;
    if (own != PH_ENTITY_NONE && s->spawn_order[own] == UINT64_MAX) {
        own = PH_ENTITY_NONE;
    }
    model_slot* slot = &m->slots[0];
    const bool is_same =
        slot->entity == own && own != PH_ENTITY_NONE && slot->spawn_order == s->spawn_order[own];
    if (slot->state == PH_SLOT_SHOWN && !is_same) {
        model_leave(m, 0);
    }
    if (own != PH_ENTITY_NONE && slot->state == PH_SLOT_FREE) {
        model_enter(m, s, 0, own);
    }
    m->waits += own != PH_ENTITY_NONE && slot->state == PH_SLOT_RESTING;
}

static bool has_to_leave(const model_slot* member, const slots_scene* s, int rank)
{
    if (member->entity == s->eye.own || member->spawn_order != s->spawn_order[member->entity]) {
        return true;
    }
    if (rank >= 0) {
        return false;
    }
    const bool is_young = (uint32_t)(s->tick - member->entered) < (uint32_t)s->stay_ticks;
    const ph_eye* eye = &s->eye;
    const bool is_far = (s->flags[member->entity] & PH_SEEN_ALWAYS) == 0 &&
                        ph_distance2(s->x_mm[member->entity], s->y_mm[member->entity], eye->x_mm,
                                     eye->y_mm) > (uint64_t)(4 * eye->radius_mm * eye->radius_mm);
    return !is_young || is_far || !ph_eye_may_see(&s->eye, &s->crowd, member->entity);
}

// The member past wanted that is furthest from the eye, or 0.
static int furthest_past(const model* m, const slots_scene* s, const ph_seen* seen, int seen_count)
{
    int furthest = 0;
    ph_seen worst = {0};
    for (int slot = 1; slot < SLOTS; ++slot) {
        const model_slot* member = &m->slots[slot];
        const int rank = rank_of(member, seen, seen_count);
        if (member->state != PH_SLOT_SHOWN || (rank >= 0 && rank < s->eye.wanted)) {
            continue;
        }
        const ph_entity_index entity = member->entity;
        ph_seen here = {.spawn_order = member->spawn_order};
        if ((s->flags[entity] & PH_SEEN_ALWAYS) == 0) {
            here.distance2 =
                ph_distance2(s->x_mm[entity], s->y_mm[entity], s->eye.x_mm, s->eye.y_mm);
        }
        if (furthest == 0 || ph_seen_is_nearer(&worst, &here)) {
            furthest = slot;
            worst = here;
        }
    }
    return furthest;
}

static int model_admit(model* m, const slots_scene* s, const ph_seen* seen, int seen_count)
{
    // Answers are ranked with the always visible first; entities that enter are ranked by distance
    // alone.
    ph_seen sorted[SCENE_CROWD];
    const int near_count = seen_count < s->eye.wanted ? seen_count : s->eye.wanted;
    memcpy(sorted, seen, (size_t)near_count * sizeof(*seen));
    ph_sort_nearest(sorted, near_count);
    const uint64_t radius2 = (uint64_t)(s->eye.radius_mm * s->eye.radius_mm);
    int waiting_count = 0;
    for (int i = 0; i < near_count; ++i) {
        if (is_member(m, &sorted[i]) || sorted[i].distance2 > radius2) {
            continue;
        }
        if (m->queue_count == 0) {
            ++waiting_count;
            continue;
        }
        model_enter(m, s, m->queue[0], sorted[i].entity);
        memmove(m->queue, m->queue + 1, (size_t)--m->queue_count * sizeof(m->queue[0]));
    }
    return waiting_count;
}

static void model_refresh(model* m, const slots_scene* s)
{
    ph_seen seen[SCENE_CROWD];
    const int seen_count = scene_look(s, seen);
    m->enter_count = 0;
    memset(m->is_left, 0, sizeof(m->is_left));
    model_own(m, s);
    for (int slot = 1; slot < SLOTS; ++slot) {
        const model_slot* member = &m->slots[slot];
        if (member->state == PH_SLOT_SHOWN &&
            has_to_leave(member, s, rank_of(member, seen, seen_count))) {
            model_leave(m, slot);
        }
    }
    const int waiting_count = model_admit(m, s, seen, seen_count);
    m->waits += (uint64_t)waiting_count;
    while (waiting_count > model_count(m, PH_SLOT_RESTING)) {
        const int slot = furthest_past(m, s, seen, seen_count);
        if (slot == 0) {
            break;
        }
        model_leave(m, slot);
    }
}

static void assert_equals_model(const slots_scene* s, const model* m)
{
    int leave_count = 0;
    for (int slot = 0; slot < SLOTS; ++slot) {
        assert_int_equal(ph_slots_state(s->slots, slot), m->slots[slot].state);
        assert_int_equal(s->sight.entities[slot], m->slots[slot].entity);
        if (m->is_left[slot]) {
            assert_in_range(leave_count, 0, s->sight.leave_count - 1);
            assert_int_equal(s->sight.leaves[leave_count++], slot);
        }
    }
    assert_int_equal(s->sight.leave_count, leave_count);
    assert_int_equal(s->sight.enter_count, m->enter_count);
    for (int i = 0; i < m->enter_count; ++i) {
        assert_int_equal(s->sight.enters[i], m->enters[i]);
    }
    assert_int_equal(s->sight.visible_count, model_count(m, PH_SLOT_SHOWN));
    assert_int_equal(ph_slots_waits(s->slots), m->waits);
}

// ---- the random life of a scene

static bool blinks(void* context, uint32_t viewer, ph_entity_index entity)
{
    const uint32_t* tick = context;
    (void)viewer;
    return (*tick / 16 + entity) % 5 != 0;
}

static void move(slots_scene* s, test_rng* rng, ph_entity_index entity)
{
    // Steps of a few metres, on a coarse raster so that ties are common; at times a jump.
    const bool is_jump = test_rng_below(rng, 8) == 0;
    const int32_t span = is_jump ? 30 : 4;
    const int32_t x = (int32_t)test_rng_below(rng, 2 * (uint64_t)span + 1) - span;
    const int32_t y = (int32_t)test_rng_below(rng, 2 * (uint64_t)span + 1) - span;
    const uint32_t from_x = is_jump ? (uint32_t)s->eye.x_mm : (uint32_t)s->x_mm[entity];
    const uint32_t from_y = is_jump ? (uint32_t)s->eye.y_mm : (uint32_t)s->y_mm[entity];
    s->x_mm[entity] = (int32_t)(from_x + (uint32_t)(x * 4 * METRE));
    s->y_mm[entity] = (int32_t)(from_y + (uint32_t)(y * 4 * METRE));
}

static void change_entity(slots_scene* s, test_rng* rng)
{
    const ph_entity_index entity = (ph_entity_index)test_rng_below(rng, WALKERS);
    if (s->spawn_order[entity] == UINT64_MAX) {
        scene_spawn(s, entity, 0);
        move(s, rng, entity);
        return;
    }
    // For half of the time people only walk.
    if (s->tick / 512 % 2 == 0) {
        s->flags[entity] = 0;
        move(s, rng, entity);
        return;
    }
    switch (test_rng_below(rng, 12)) {
    case 0:
        scene_despawn(s, entity);
        break;
    case 1: // dies, and its index is given away within the tick
        scene_despawn(s, entity);
        scene_spawn(s, entity, s->eye.x_mm);
        break;
    case 2:
        s->seen_by[entity] = (uint32_t)test_rng_below(rng, 8) % 5;
        break;
    case 3:
        s->flags[entity] = (uint8_t)(test_rng_below(rng, 4) == 0 ? 1 + test_rng_below(rng, 2) : 0);
        break;
    default:
        move(s, rng, entity);
    }
}

static void change_eye(slots_scene* s, test_rng* rng)
{
    switch (test_rng_below(rng, 200)) {
    case 0: // teleport, at times onto the edge of the world
        s->eye.x_mm = test_rng_below(rng, 2) == 0 ? INT32_MAX : (int32_t)test_rng_next(rng);
        s->eye.y_mm = test_rng_below(rng, 2) == 0 ? INT32_MIN : (int32_t)test_rng_next(rng);
        for (ph_entity_index i = 0; i < WALKERS; i += 2) {
            s->x_mm[i] = s->eye.x_mm;
            s->y_mm[i] = s->eye.y_mm;
        }
        break;
    case 1:
        s->eye.own = (ph_entity_index)test_rng_below(rng, WALKERS);
        break;
    case 2:
        s->eye.own = PH_ENTITY_NONE;
        break;
    case 3:
        s->eye.sees = 1 + (uint32_t)test_rng_below(rng, 3);
        break;
    case 4:
        s->eye.callback = s->eye.callback == NULL ? blinks : NULL;
        s->eye.context = &s->tick;
        break;
    case 5:
        s->eye.wanted = 1 + (int)test_rng_below(rng, SLOTS - 1);
        break;
    case 6:
        s->eye.radius_mm = (int64_t)test_rng_below(rng, 2 * SCENE_RADIUS);
        break;
    case 7:
        s->stay_ticks = (int)test_rng_below(rng, 12);
        break;
    default:
        break;
    }
}

static void free_some(slots_scene* s, model* m, test_rng* rng)
{
    const uint64_t patience = s->tick / 1000 % 2 == 0 ? 3 : 12;
    for (int slot = 0; slot < SLOTS; ++slot) {
        if (ph_slots_state(s->slots, slot) == PH_SLOT_RESTING &&
            test_rng_below(rng, patience) == 0) {
            ph_slots_free(s->slots, slot);
            model_free(m, slot);
        }
    }
}

static void a_hundred_thousand_random_steps_equal_the_model(void** state)
{
    (void)state;
    test_rng rng = {.state = 20260101};
    slots_scene s;
    model m;
    scene_setup(&s, SLOTS, SLOTS / 2);
    model_make(&m);
    s.tick = UINT32_MAX - STEPS / 2; // wraps half way
    for (int step = 0; step < STEPS; ++step) {
        for (uint64_t i = test_rng_below(&rng, 40); i > 0; --i) {
            change_entity(&s, &rng);
        }
        change_eye(&s, &rng);
        model_refresh(&m, &s);
        scene_refresh(&s);
        assert_equals_model(&s, &m);
        free_some(&s, &m, &rng);
        assert_true(ph_slots_validate(s.slots));
    }
    // The life was full: many events, and slots ran out at times.
    assert_true(s.event_count > STEPS / 2);
    assert_true(m.waits > STEPS / 10);
    assert_true(s.calm_count > STEPS / 10);
    scene_teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_random_steps_equal_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
