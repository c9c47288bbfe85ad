// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two worlds with the same history, compared slot by slot at every tick: one of them also holds
// entities, and viewers, that the others may know nothing of; or one finds its viewers' visions by
// grid, the other by groups. No client may be able to tell.

#include "support/test_support.h"
#include "support/small_world.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

enum { ENTITY_COUNT = 120, HIDDEN_COUNT = 80, VIEWER_COUNT = 12, SPY_COUNT = 4 };

// Names from here on are hidden by the game's callback.
#define SECRET_NAME 1000

// The masks: common things are seen by 1 or 2, viewers see 1, 2 or both, secrets are seen by 4.
#define SECRET_MASK 4u

typedef struct one_world {
    small_world f;
    ph_entity_id entities[ENTITY_COUNT];
    ph_viewer_id viewers[VIEWER_COUNT];
    ph_entity_id hidden[HIDDEN_COUNT];
    ph_viewer_id spies[SPY_COUNT];
    bool has_secrets;
} one_world;

static bool is_no_secret(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    const one_world* w = context;
    uint64_t name;
    assert_int_equal(ph_world_identify(w->f.world, entity, &name, NULL), PH_OK);
    return name < SECRET_NAME || viewer.index1 > VIEWER_COUNT;
}

typedef struct plan {
    ph_vision_kind kind;
    int refresh_ticks;
    bool has_callback; // secrets are kept by the callback as well as by masks and flags
    bool has_secrets;
} plan;

static void setup(one_world* w, plan p)
{
    *w = (one_world){.has_secrets = p.has_secrets};
    small_world_setup(&w->f, 16);
    w->f.def.vision.kind = p.kind;
    w->f.def.vision.refresh_ticks = p.refresh_ticks;
    w->f.def.vision.stay_ticks = 3;
    w->f.def.may_see = p.has_callback ? is_no_secret : NULL;
    w->f.def.may_see_context = w;
    small_world_again(&w->f);
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        ph_viewer_def def = ph_viewer_def_default();
        def.sees = (uint32_t)(1 + v % 3);
        def.visible_max = v % 2 == 0 ? 8 : 30;
        def.radius_mm = v % 4 == 3 ? 60000 : 250000;
        assert_int_equal(ph_world_add_viewer(w->f.world, &def, &w->viewers[v]), PH_OK);
    }
    for (int v = 0; v < SPY_COUNT && p.has_secrets; ++v) {
        ph_viewer_def def = ph_viewer_def_default();
        def.sees = v % 2 == 0 ? UINT32_MAX : 3; // some are of a class with ordinary viewers
        def.visible_max = 8;
        assert_int_equal(ph_world_add_viewer(w->f.world, &def, &w->spies[v]), PH_OK);
    }
}

static int draw(test_rng* rng, int limit)
{
    return (int)test_rng_below(rng, (uint64_t)limit);
}

// On a coarse raster: many stand on the same spot or at the same distance, so ties are common.
static ph_spawn draw_spawn(test_rng* rng, uint64_t name, int32_t spread_mm)
{
    const int32_t cell_mm = 4000;
    ph_spawn spawn = {.key = name};
    spawn.seen_by = (uint32_t)draw(rng, 4);
    spawn.is_always_visible = draw(rng, 30) == 0;
    spawn.position_mm[0] = draw(rng, spread_mm / cell_mm) * cell_mm;
    spawn.position_mm[1] = draw(rng, spread_mm / cell_mm) * cell_mm;
    return spawn;
}

// One common event, the same in both worlds for the same numbers.
static void common_event(one_world* w, test_rng rng)
{
    ph_world* world = w->f.world;
    const int i = draw(&rng, ENTITY_COUNT);
    const ph_spawn spawn = draw_spawn(&rng, (uint64_t)i, 400000);
    const ph_viewer_id viewer = w->viewers[draw(&rng, VIEWER_COUNT)];
    const int choice = draw(&rng, 100);
    if (!ph_world_is_alive(world, w->entities[i])) {
        assert_int_equal(ph_world_spawn(world, &spawn, &w->entities[i]), PH_OK);
    } else if (choice < 70) {
        ph_world_move(world, w->entities[i], spawn.position_mm[0], spawn.position_mm[1], 0);
    } else if (choice < 80) {
        ph_world_despawn(world, w->entities[i]);
    } else if (choice < 85) {
        ph_world_set_visibility(world, w->entities[i], spawn.seen_by, spawn.is_always_visible,
                                draw(&rng, 4) == 0);
    } else if (choice < 90) {
        ph_viewer_set_eye(world, viewer, spawn.position_mm[0], spawn.position_mm[1], 0);
    } else if (choice < 94) {
        ph_viewer_set_entity(world, viewer,
                             draw(&rng, 3) == 0 ? (ph_entity_id){0} : w->entities[i]);
    } else if (choice < 96) {
        ph_viewer_set_sees(world, viewer, (uint32_t)(1 + draw(&rng, 3)));
    } else {
        ph_viewer_free_slot(world, viewer, draw(&rng, 20));
    }
}

// What the others may not know of: by mask, by flag, or by the callback alone.
static void secret_event(one_world* w, test_rng* rng)
{
    ph_world* world = w->f.world;
    const int i = draw(rng, HIDDEN_COUNT);
    ph_spawn spawn = draw_spawn(rng, (uint64_t)(SECRET_NAME + i), 400000);
    spawn.is_never_visible = i % 3 == 1;
    spawn.seen_by = i % 3 == 2 && w->f.def.may_see != NULL ? UINT32_MAX : SECRET_MASK;
    if (!ph_world_is_alive(world, w->hidden[i])) {
        assert_int_equal(ph_world_spawn(world, &spawn, &w->hidden[i]), PH_OK);
    } else if (draw(rng, 4) != 0) {
        ph_world_move(world, w->hidden[i], spawn.position_mm[0], spawn.position_mm[1], 0);
    } else {
        ph_world_despawn(world, w->hidden[i]);
    }
    if (draw(rng, 10) == 0) {
        ph_viewer_set_entity(world, w->spies[draw(rng, SPY_COUNT)], w->hidden[i]);
    }
}

static uint64_t name_at(const one_world* w, ph_entity_index index)
{
    uint64_t name = UINT64_MAX;
    if (index != PH_ENTITY_NONE) {
        const ph_entity_id id = ph_world_entity_at(w->f.world, index);
        assert_int_equal(ph_world_identify(w->f.world, id, &name, NULL), PH_OK);
    }
    return name;
}

static void assert_same_sights(const one_world* a, const one_world* b)
{
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        const ph_vision one = small_world_sight(&a->f, a->viewers[v]);
        const ph_vision other = small_world_sight(&b->f, b->viewers[v]);
        assert_int_equal(one.visible_count, other.visible_count);
        for (int slot = 0; slot < one.slot_count; ++slot) {
            assert_int_equal(name_at(a, one.entities[slot]), name_at(b, other.entities[slot]));
        }
        assert_int_equal(one.enter_count, other.enter_count);
        assert_memory_equal(one.enters, other.enters, (size_t)one.enter_count * sizeof(uint16_t));
        assert_int_equal(one.leave_count, other.leave_count);
        assert_memory_equal(one.leaves, other.leaves, (size_t)one.leave_count * sizeof(uint16_t));
    }
}

// Every slot that rests; the others refuse.
static void free_all(one_world* w)
{
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        const int slot_count = small_world_sight(&w->f, w->viewers[v]).slot_count;
        for (int slot = 0; slot < slot_count; ++slot) {
            ph_viewer_free_slot(w->f.world, w->viewers[v], slot);
        }
    }
}

// @return How many enters there were, to see that something happened.
static uint64_t live_twice(plan first, plan second, uint64_t seed)
{
    one_world a, b;
    setup(&a, first);
    setup(&b, second);
    test_rng rng = {.state = seed};
    test_rng secret_rng = {.state = ~seed};
    for (int tick = 0; tick < 300; ++tick) {
        for (int i = 0; i < 40; ++i) {
            const test_rng event = {.state = test_rng_next(&rng)};
            common_event(&a, event);
            common_event(&b, event);
            if (a.has_secrets) {
                secret_event(&a, &secret_rng);
            }
        }
        ph_world_tick(a.f.world);
        ph_world_tick(b.f.world);
        assert_same_sights(&a, &b);
        if (tick % 3 == 0) {
            free_all(&a);
            free_all(&b);
        }
    }
    const uint64_t enters = ph_world_get_stats(b.f.world).vision.enters;
    small_world_teardown(&a.f);
    small_world_teardown(&b.f);
    return enters;
}

static void assert_secrets_are_kept(ph_vision_kind kind)
{
    for (int variant = 0; variant < 4; ++variant) {
        plan p = {.kind = kind,
                  .refresh_ticks = variant % 2 == 0 ? 1 : 3,
                  .has_callback = variant / 2 != 0,
                  .has_secrets = true};
        plan without = p;
        without.has_secrets = false;
        assert_true(live_twice(p, without, (uint64_t)(100 + variant)) > 5000);
    }
}

static void with_a_grid_nothing_tells_of_hidden_entities(void** state)
{
    (void)state;
    assert_secrets_are_kept(PH_VISION_GRID);
}

static void with_groups_nothing_tells_of_hidden_entities(void** state)
{
    (void)state;
    assert_secrets_are_kept(PH_VISION_GROUPS);
}

static void grid_and_groups_give_the_same_sights(void** state)
{
    (void)state;
    for (int variant = 0; variant < 4; ++variant) {
        const plan grid = {.kind = PH_VISION_GRID,
                           .refresh_ticks = variant % 2 == 0 ? 1 : 3,
                           .has_callback = variant / 2 != 0};
        plan groups = grid;
        groups.kind = PH_VISION_GROUPS;
        assert_true(live_twice(grid, groups, (uint64_t)(200 + variant)) > 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_grid_nothing_tells_of_hidden_entities),
        cmocka_unit_test(with_groups_nothing_tells_of_hidden_entities),
        cmocka_unit_test(grid_and_groups_give_the_same_sights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
