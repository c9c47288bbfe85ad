// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where a viewer looks from, and when its turn comes: what becomes of an eye, which viewers are
// refreshed in turn and which out of turn.

#include "support/test_support.h"
#include "support/small_world.h"

#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

// ---- eyes

static void the_eye_stays_where_its_entity_died(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id own = small_world_spawn_at(&f, 1, 1000000, 0);
    const ph_entity_id neighbour = small_world_spawn_at(&f, 2, 1001000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, own, 10);
    ph_world_tick(f.world);
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, 0, 0, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_despawn(f.world, own), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    assert_int_equal(small_world_sight(&f, viewer).entities[0], PH_ENTITY_NONE);
    // The entity that gets the index of the dead one is not taken for it.
    const ph_entity_id heir = small_world_spawn_at(&f, 3, 1002000, 0);
    assert_int_equal(heir.index1, own.index1);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, heir));
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, 5000000, 0, 0), PH_OK);
    for (int tick = 0; tick < 20; ++tick) {
        ph_world_tick(f.world);
    }
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 0);
    small_world_teardown(&f);
}

// Far from where the last tick saw it: the tick must not find the eye there.
static ph_viewer_id move_and_die(small_world* f, ph_entity_id* neighbour)
{
    const ph_entity_id own = small_world_spawn_at(f, 1, 0, 0);
    *neighbour = small_world_spawn_at(f, 2, 50000000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(f, own, 10);
    ph_world_tick(f->world);
    assert_int_equal(ph_world_move(f->world, own, 50001000, 0, 0), PH_OK);
    assert_int_equal(ph_world_despawn(f->world, own), PH_OK);
    return viewer;
}

static void the_eye_is_where_its_entity_died_between_two_ticks(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_entity_id neighbour;
    const ph_viewer_id viewer = move_and_die(&f, &neighbour);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    assert_int_equal(small_world_sight(&f, viewer).entities[0], PH_ENTITY_NONE);
    // The heir of the index goes its own way.
    small_world_spawn_at(&f, 3, 0, 0);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    small_world_teardown(&f);
}

static void an_eye_that_was_moved_does_not_go_back_to_the_dead(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_entity_id neighbour;
    const ph_viewer_id viewer = move_and_die(&f, &neighbour);
    const ph_entity_id elsewhere = small_world_spawn_at(&f, 4, -90000000, 0);
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, -90000000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, elsewhere));
    assert_false(small_world_sees(&f, viewer, neighbour));
    small_world_teardown(&f);
}

static void a_spectator_begins_where_its_last_entity_died(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_entity_id neighbour;
    const ph_viewer_id viewer = move_and_die(&f, &neighbour);
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, (ph_entity_id){0}), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    small_world_teardown(&f);
}

static void a_viewer_can_change_its_entity(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id first = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id second = small_world_spawn_at(&f, 2, 1000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, first, 10);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, second));
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, second), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, first));
    small_world_free_left(&f, viewer);
    ph_world_tick(f.world);
    assert_int_equal(small_world_slot(&f, viewer, second), 0);
    // Without one it is a spectator where the last one stands now.
    assert_int_equal(ph_world_move(f.world, second, 1000000, 0, 0), PH_OK);
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, (ph_entity_id){0}), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, second));
    assert_int_equal(ph_world_despawn(f.world, first), PH_OK);
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, first), PH_ERROR_STALE);
    small_world_teardown(&f);
}

// ---- turns

// One step before a viewer's radius, and behind it.
enum { INSIDE_MM = 249000, OUTSIDE_MM = 251000 };

static void refreshes_are_spread_and_a_new_viewer_does_not_wait(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    f.def.vision.refresh_ticks = 4;
    small_world_again(&f);
    const ph_entity_id other = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id newcomer = small_world_spawn_at(&f, 2, OUTSIDE_MM, 0);
    ph_viewer_id viewers[8];
    for (int v = 0; v < 8; ++v) {
        viewers[v] = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    }
    ph_world_tick(f.world);
    assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, 8);
    for (int v = 0; v < 8; ++v) {
        assert_true(small_world_sees(&f, viewers[v], other));
        assert_int_equal(small_world_sight(&f, viewers[v]).enter_count, 1);
    }
    // From now on a quarter of them in each tick, and all of them within four.
    assert_int_equal(ph_world_move(f.world, newcomer, INSIDE_MM, 0, 0), PH_OK);
    for (int tick = 1; tick <= 4; ++tick) {
        ph_world_tick(f.world);
        assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, 8 + 2 * tick);
        int enter_count = 0, seeing_count = 0;
        for (int v = 0; v < 8; ++v) {
            enter_count += small_world_sight(&f, viewers[v]).enter_count;
            seeing_count += small_world_sees(&f, viewers[v], newcomer);
        }
        assert_int_equal(enter_count, 2); // those of this tick only
        assert_int_equal(seeing_count, 2 * tick);
    }
    small_world_teardown(&f);
}

static void a_viewer_with_another_entity_does_not_wait_for_its_turn(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    f.def.vision.refresh_ticks = 100;
    small_world_again(&f);
    const ph_entity_id first = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id second = small_world_spawn_at(&f, 2, 50000000, 0);
    const ph_entity_id neighbour = small_world_spawn_at(&f, 3, 50000000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, first, 10);
    ph_world_tick(f.world);
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, second), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    assert_int_equal(small_world_slot(&f, viewer, first), -1);
    small_world_teardown(&f);
}

static void what_is_gone_or_hidden_leaves_out_of_turn(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    f.def.vision.refresh_ticks = 100;
    small_world_again(&f);
    const ph_entity_id own = small_world_spawn_at(&f, 9, 0, 0);
    const ph_entity_id mortal = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id shy = small_world_spawn_at(&f, 2, 0, 0);
    const ph_entity_id secret = small_world_spawn_at(&f, 3, 0, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, own, 10);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 3);
    assert_int_equal(ph_world_despawn(f.world, mortal), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 2);
    assert_int_equal(ph_world_set_visibility(f.world, shy, 1, false, true), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 1);
    ph_viewer_def def = ph_viewer_def_default();
    assert_int_equal(ph_world_set_visibility(f.world, secret, 1u << 31, false, false), PH_OK);
    ph_world_tick(f.world); // this viewer sees all masks
    assert_true(small_world_sees(&f, viewer, secret));
    assert_int_equal(ph_viewer_set_sees(f.world, viewer, def.sees >> 1), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 0);
    // A viewer always sees its own entity, whichever viewers may see that.
    const uint64_t refreshes = ph_world_get_stats(f.world).vision.refreshes;
    assert_int_equal(ph_world_set_visibility(f.world, own, 1, false, true), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, refreshes);
    assert_int_equal(small_world_slot(&f, viewer, own), 0);
    small_world_teardown(&f);
}

// Where all viewers wait for a turn that never comes.
static ph_viewer_id setup_waiting(small_world* f, ph_entity_id* own)
{
    small_world_setup(f, 16);
    f->def.vision.refresh_ticks = 1 << 30;
    small_world_again(f);
    *own = small_world_spawn_at(f, 1, 0, 0);
    const ph_viewer_id viewer = small_world_add_viewer(f, *own, 10);
    ph_world_tick(f->world);
    return viewer;
}

static void an_entity_that_walks_into_view_waits_for_a_turn(void** state)
{
    (void)state;
    small_world f;
    ph_entity_id own;
    const ph_viewer_id viewer = setup_waiting(&f, &own);
    const ph_entity_id walker = small_world_spawn_at(&f, 2, OUTSIDE_MM, 0);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_move(f.world, walker, INSIDE_MM, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_false(small_world_sees(&f, viewer, walker));
    small_world_teardown(&f);
}

static void an_entity_that_appears_in_view_is_seen_at_once(void** state)
{
    (void)state;
    small_world f;
    ph_entity_id own;
    const ph_viewer_id viewer = setup_waiting(&f, &own);
    const ph_entity_id spawned = small_world_spawn_at(&f, 2, 1000, 0);
    const ph_entity_id far = small_world_spawn_at(&f, 3, 50000000, 0);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, spawned));
    assert_false(small_world_sees(&f, viewer, far));
    assert_int_equal(ph_world_move(f.world, far, 2000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, far));
    // And an entity that jumps away is gone at once, but for those that have just come.
    for (int tick = 0; tick < f.def.vision.stay_ticks; ++tick) {
        ph_world_tick(f.world);
    }
    assert_int_equal(ph_world_move(f.world, far, 50000000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_false(small_world_sees(&f, viewer, far));
    assert_int_equal(ph_world_set_visibility(f.world, spawned, 1, false, true), PH_OK);
    ph_world_tick(f.world);
    assert_false(small_world_sees(&f, viewer, spawned));
    assert_int_equal(ph_world_set_visibility(f.world, spawned, 1, false, false), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, spawned));
    const ph_spawn beacon = {.key = 9, .position_mm = {50000000, 0, 0}, .is_always_visible = true};
    ph_entity_id seen_always;
    assert_int_equal(ph_world_spawn(f.world, &beacon, &seen_always), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, seen_always));
    small_world_teardown(&f);
}

static void an_eye_that_leaps_looks_around_at_once(void** state)
{
    (void)state;
    small_world f;
    ph_entity_id own;
    const ph_viewer_id viewer = setup_waiting(&f, &own);
    const ph_viewer_id spectator = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    const ph_entity_id neighbour = small_world_spawn_at(&f, 2, 50000000, 0);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_move(f.world, own, 50001000, 0, 0), PH_OK);
    assert_int_equal(ph_viewer_set_eye(f.world, spectator, 50001000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, neighbour));
    assert_true(small_world_sees(&f, spectator, neighbour));
    // A step is no leap.
    const uint64_t refreshes = ph_world_get_stats(f.world).vision.refreshes;
    assert_int_equal(ph_world_move(f.world, own, 50002000, 0, 0), PH_OK);
    assert_int_equal(ph_viewer_set_eye(f.world, spectator, 50002000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, refreshes);
    small_world_teardown(&f);
}

// A viewer that may not see an entity, or is too far away, is not refreshed because of it.
static void no_viewer_is_refreshed_for_an_entity_it_may_not_see(void** state)
{
    (void)state;
    small_world f;
    ph_entity_id own;
    const ph_viewer_id viewer = setup_waiting(&f, &own);
    const ph_viewer_def def = ph_viewer_def_default();
    assert_int_equal(ph_viewer_set_sees(f.world, viewer, def.sees >> 1), PH_OK);
    const ph_entity_id jumper = small_world_spawn_at(&f, 2, 50000000, 0);
    ph_world_tick(f.world);
    const uint64_t refreshes = ph_world_get_stats(f.world).vision.refreshes;
    ph_entity_id secret;
    const ph_spawn spawn = {.key = 3, .seen_by = ~(def.sees >> 1)};
    assert_int_equal(ph_world_spawn(f.world, &spawn, &secret), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_move(f.world, secret, 50000000, 0, 0), PH_OK);
    assert_int_equal(ph_world_move(f.world, jumper, -50000000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_move(f.world, secret, 0, 0, 0), PH_OK);
    const ph_entity_id mortal = small_world_spawn_at(&f, 4, 0, 0);
    assert_int_equal(ph_world_despawn(f.world, mortal), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, refreshes);
    assert_int_equal(f.world->store.entities.arrived_count, 0);
    small_world_teardown(&f);
}

enum { CROWD = 60, VIEWERS = 4 };

// Which viewers still show an entity that is gone or hidden, asked of the world alone.
static bool shows_vanished(const small_world* f, ph_viewer_id viewer, uint32_t sees)
{
    const ph_vision sight = small_world_sight(f, viewer);
    const ph_entities* entities = &f->world->store.entities;
    for (int slot = 1; slot < sight.slot_count; ++slot) {
        const ph_entity_index index = sight.entities[slot];
        if (index != PH_ENTITY_NONE && (test_is_none(ph_world_entity_at(f->world, index)) ||
                                        (entities->flags[index] & PH_SEEN_NEVER) != 0 ||
                                        (entities->seen_by[index] & sees) == 0)) {
            return true;
        }
    }
    return false;
}

typedef struct crowd_member {
    ph_entity_id id;
    uint32_t seen_by;
    bool is_hidden;
    bool has_appeared; // since the last tick, for viewers that may see it now
} crowd_member;

// Whether an entity has appeared within reach of this viewer, which does not show it yet; or beyond
// the reach of one that does.
static bool sees_appearance(const small_world* f, ph_viewer_id viewer, uint32_t sees,
                            const crowd_member* crowd)
{
    const ph_view* view = &f->world->viewers.viewers[viewer.index1 - 1].view;
    for (uint64_t i = 0; i < CROWD; ++i) {
        if (!crowd[i].has_appeared || !ph_world_is_alive(f->world, crowd[i].id)) {
            continue;
        }
        const bool may_see = !crowd[i].is_hidden && (crowd[i].seen_by & sees) != 0;
        if (small_world_sees(f, viewer, crowd[i].id) ? i * i > view->wide.distance2
                                                     : may_see && i * i < view->enter.distance2) {
            return true;
        }
    }
    return false;
}

// Spawns where there is no entity; else hides, shows, or kills.
static void change_one(small_world* f, crowd_member* crowd, test_rng* rng)
{
    const uint64_t i = test_rng_below(rng, CROWD);
    const uint64_t choice = test_rng_below(rng, 8);
    crowd_member* member = &crowd[i];
    if (!ph_world_is_alive(f->world, member->id)) {
        const ph_entity_id id = small_world_spawn_at(f, i, (int32_t)i, 0);
        *member = (crowd_member){.id = id, .seen_by = UINT32_MAX, .has_appeared = true};
    } else if (choice < 2) {
        assert_int_equal(ph_world_despawn(f->world, member->id), PH_OK);
    } else {
        const uint32_t seen_by = (uint32_t)choice;
        const bool is_hidden = choice == 2;
        assert_int_equal(ph_world_set_visibility(f->world, member->id, seen_by, false, is_hidden),
                         PH_OK);
        member->has_appeared |=
            (seen_by & ~member->seen_by) != 0 || (member->is_hidden && !is_hidden);
        member->seen_by = seen_by;
        member->is_hidden = is_hidden;
    }
}

// Between two ticks no entity changes, or few do, or more than there are slots, or than there is
// room to write down; it is never the turn of a viewer that knows of nothing.
static void
exactly_viewers_that_show_the_vanished_or_miss_the_new_are_refreshed_out_of_turn(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 1);
    f.def.vision.refresh_ticks = 1 << 30;
    small_world_again(&f);
    test_rng rng = {.state = 77};
    crowd_member crowd[CROWD] = {{{0}, 0, false, false}};
    ph_viewer_id viewers[VIEWERS];
    for (int v = 0; v < VIEWERS; ++v) {
        viewers[v] = small_world_add_viewer(&f, (ph_entity_id){0}, v % 2 == 0 ? 5 : CROWD);
        assert_int_equal(ph_viewer_set_sees(f.world, viewers[v], 1u << v), PH_OK);
    }
    ph_world_tick(f.world);
    int shown_count = 0;
    for (int tick = 0; tick < 3000; ++tick) {
        for (uint64_t n = test_rng_below(&rng, tick % 8 == 0 ? 400 : 12); n > 0; --n) {
            change_one(&f, crowd, &rng);
        }
        uint64_t expected = ph_world_get_stats(f.world).vision.refreshes;
        for (int v = 0; v < VIEWERS; ++v) {
            const bool is_urgent = tick % 10 == v; // else they would come to see nothing
            if (is_urgent) {
                assert_int_equal(ph_viewer_set_sees(f.world, viewers[v], 1u << v), PH_OK);
            }
            expected += is_urgent || shows_vanished(&f, viewers[v], 1u << v) ||
                        sees_appearance(&f, viewers[v], 1u << v, crowd);
        }
        ph_world_tick(f.world);
        for (int i = 0; i < CROWD; ++i) {
            crowd[i].has_appeared = false;
        }
        assert_int_equal(ph_world_get_stats(f.world).vision.refreshes, expected);
        for (int v = 0; v < VIEWERS; ++v) {
            shown_count += small_world_sight(&f, viewers[v]).visible_count;
            small_world_free_left(&f, viewers[v]);
        }
    }
    assert_true(shown_count > 3000);
    small_world_teardown(&f);
}

// Visibilities are set so often that there is no room to write them all down, and then there is.
static void an_entity_hidden_last_leaves_however_many_came_before(void** state)
{
    (void)state;
    for (int set_count = 0; set_count < 6; ++set_count) {
        small_world f;
        small_world_setup(&f, 2);
        f.def.vision.refresh_ticks = 1 << 30;
        small_world_again(&f);
        const ph_entity_id often = small_world_spawn_at(&f, 1, 0, 0);
        const ph_entity_id once = small_world_spawn_at(&f, 2, 0, 0);
        const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
        ph_world_tick(f.world);
        for (int i = 0; i < set_count; ++i) {
            assert_int_equal(ph_world_set_visibility(f.world, often, 1, false, false), PH_OK);
        }
        assert_int_equal(ph_world_set_visibility(f.world, once, 0, false, false), PH_OK);
        if (set_count % 2 == 1) {
            small_world_spawn_at(&f, 3, 0, 0); // the world grows
        }
        ph_world_tick(f.world);
        assert_true(small_world_sees(&f, viewer, often));
        assert_false(small_world_sees(&f, viewer, once));
        assert_int_equal(f.world->store.entities.visibility_changed_count, 0);
        assert_false(f.world->store.entities.have_more_visibility_changed);
        small_world_teardown(&f);
    }
}

static void an_index_in_a_sight_never_names_another_entity(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn_at(&f, 1, 0, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    ph_world_tick(f.world);
    const int slot = small_world_slot(&f, viewer, other);
    assert_int_equal(ph_world_despawn(f.world, other), PH_OK);
    const ph_entity_id heir = small_world_spawn_at(&f, 2, 0, 0);
    assert_true(ph_world_validate(f.world));
    assert_int_not_equal(heir.index1, other.index1);
    const ph_vision sight = small_world_sight(&f, viewer);
    assert_true(test_is_none(ph_world_entity_at(f.world, sight.entities[slot])));
    ph_world_tick(f.world);
    // Rested, the index is given out again.
    assert_int_equal(small_world_spawn_at(&f, 3, 0, 0).index1, other.index1);
    assert_true(test_is_none(ph_world_entity_at(f.world, PH_ENTITY_NONE)));
    assert_true(test_is_none(ph_world_entity_at(f.world, 12345)));
    small_world_teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_eye_stays_where_its_entity_died),
        cmocka_unit_test(the_eye_is_where_its_entity_died_between_two_ticks),
        cmocka_unit_test(an_eye_that_was_moved_does_not_go_back_to_the_dead),
        cmocka_unit_test(a_spectator_begins_where_its_last_entity_died),
        cmocka_unit_test(a_viewer_can_change_its_entity),
        cmocka_unit_test(refreshes_are_spread_and_a_new_viewer_does_not_wait),
        cmocka_unit_test(a_viewer_with_another_entity_does_not_wait_for_its_turn),
        cmocka_unit_test(what_is_gone_or_hidden_leaves_out_of_turn),
        cmocka_unit_test(an_entity_that_walks_into_view_waits_for_a_turn),
        cmocka_unit_test(an_entity_that_appears_in_view_is_seen_at_once),
        cmocka_unit_test(an_eye_that_leaps_looks_around_at_once),
        cmocka_unit_test(no_viewer_is_refreshed_for_an_entity_it_may_not_see),
        cmocka_unit_test(
            exactly_viewers_that_show_the_vanished_or_miss_the_new_are_refreshed_out_of_turn),
        cmocka_unit_test(an_entity_hidden_last_leaves_however_many_came_before),
        cmocka_unit_test(an_index_in_a_sight_never_names_another_entity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
