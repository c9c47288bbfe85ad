// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A million random operations on a world, and on a model of it that is too simple to be wrong: a
// plain array, searched from the beginning, with the quantised values written down one by one.

#include "support/test_support.h"
#include "support/small_world.h"

#include "entities/entities.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>

#include <math.h>
#include <string.h>

enum { MODEL_MAX = 150, NAME_COUNT = 220, VIEWER_COUNT = 3 };

typedef struct model_entity {
    bool is_alive;
    ph_entity_id id; // stays when it is gone: a stale id
    uint64_t name;
    int class_index;
    int32_t position_mm[3];
    uint32_t mileage_mm;
    uint64_t changes;
    // Quantised, as they go on the wire.
    int heading;
    int health;
    char text[16];
    ph_entity_id target;
    int velocity[3];
    int64_t money;
    int mood;
} model_entity;

typedef struct model {
    small_world f;
    test_rng rng;
    model_entity entities[MODEL_MAX];
    ph_viewer_id viewers[VIEWER_COUNT];
    uint32_t ticks;
    int live_count;
} model;

static int draw(model* m, int limit)
{
    return (int)test_rng_below(&m->rng, (uint64_t)limit);
}

static model_entity* find_name(model* m, uint64_t name)
{
    for (int i = 0; i < MODEL_MAX; ++i) {
        if (m->entities[i].is_alive && m->entities[i].name == name) {
            return &m->entities[i];
        }
    }
    return NULL;
}

static bool is_alive(const model* m, ph_entity_id id)
{
    for (int i = 0; i < MODEL_MAX; ++i) {
        if (m->entities[i].is_alive && test_is_same(m->entities[i].id, id)) {
            return true;
        }
    }
    return false;
}

// Any entry, living or not.
static model_entity* any(model* m)
{
    return &m->entities[draw(m, MODEL_MAX)];
}

// ---- what the world should make of it

static uint32_t length_of_way(const int32_t from_mm[3], const int32_t to_mm[3])
{
    uint64_t square = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t way = (int32_t)((uint32_t)to_mm[axis] - (uint32_t)from_mm[axis]);
        square += (uint64_t)(way * way);
    }
    const double length = floor(sqrt((double)square) + 0.5);
    return length < PH_MILEAGE_MOVE_MAX ? (uint32_t)length : PH_MILEAGE_MOVE_MAX;
}

static void model_move(model_entity* e, const int32_t to_mm[3])
{
    const int32_t step_mm = e->class_index == STONE ? 1 : 16;
    e->mileage_mm += length_of_way(e->position_mm, to_mm);
    for (int axis = 0; axis < 3; ++axis) {
        const double before = floor((double)e->position_mm[axis] / step_mm);
        const double after = floor((double)to_mm[axis] / step_mm);
        e->changes |= before != after ? BIT(POSITION) : 0;
        e->position_mm[axis] = to_mm[axis];
    }
}

static void model_number(model_entity* e, int property, int* kept, int value)
{
    e->changes |= *kept != value ? BIT(property) : 0;
    *kept = value;
}

static void model_text(model_entity* e, const char* text)
{
    e->changes |= strcmp(e->text, text) != 0 ? BIT(NAME) : 0;
    strcpy(e->text, text);
}

static void model_target(model* m, model_entity* e, ph_entity_id target)
{
    const ph_entity_id before = is_alive(m, e->target) ? e->target : (ph_entity_id){0};
    const ph_entity_id after = is_alive(m, target) ? target : (ph_entity_id){0};
    e->changes |= test_is_same(before, after) ? 0 : BIT(TARGET);
    e->target = after;
}

static int angle_level(float angle_deg)
{
    return (int)floor((double)angle_deg * 256.0 / 360.0 + 0.5) & 255;
}

// ---- comparing

static void assert_person(const model* m, const model_entity* e)
{
    person shown;
    assert_int_equal(ph_world_get_struct(m->f.world, e->id, &shown), PH_OK);
    for (int axis = 0; axis < 3; ++axis) {
        const double steps = floor((double)e->position_mm[axis] / 16.0);
        assert_true((double)shown.position_mm[axis] == steps * 16.0);
        assert_true((double)shown.velocity[axis] == e->velocity[axis] * 0.5);
    }
    assert_int_equal(angle_level(shown.heading_deg), e->heading);
    assert_int_equal(shown.health, e->health);
    assert_string_equal(shown.name, e->text);
    assert_true(test_is_same(shown.target, is_alive(m, e->target) ? e->target : (ph_entity_id){0}));
    assert_int_equal(shown.money, e->money);
    int32_t mood;
    assert_int_equal(ph_world_get_property(m->f.world, e->id, MOOD, PH_FIELD_I32, &mood, 4), PH_OK);
    assert_int_equal(mood, e->mood);
}

static void assert_entity(const model* m, const model_entity* e)
{
    const ph_world* world = m->f.world;
    assert_int_equal(ph_world_is_alive(world, e->id), e->is_alive);
    if (!e->is_alive) {
        assert_int_equal(ph_world_changed_properties(world, e->id), 0);
        return;
    }
    uint64_t name;
    int class_index;
    assert_int_equal(ph_world_identify(world, e->id, &name, &class_index), PH_OK);
    assert_int_equal(name, e->name);
    assert_int_equal(class_index, e->class_index);
    assert_true(test_is_same(ph_world_find(world, name), e->id));
    assert_int_equal(ph_world_changed_properties(world, e->id), e->changes);
    assert_int_equal(ph_world_mileage(world, e->id), e->mileage_mm);
    if (class_index == STONE) {
        int32_t position_mm[3];
        assert_int_equal(ph_world_get_property(world, e->id, 0, PH_FIELD_I32X3, position_mm, 12),
                         PH_OK);
        assert_memory_equal(position_mm, e->position_mm, 12);
    } else {
        assert_person(m, e);
    }
}

// A sight names the living, or those that went since the last tick, never twice.
static void assert_sights(const model* m)
{
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        ph_vision sight;
        assert_int_equal(ph_viewer_get_vision(m->f.world, m->viewers[v], &sight), PH_OK);
        int count = 0;
        for (int slot = 1; slot < sight.slot_count; ++slot) {
            count += sight.entities[slot] != PH_ENTITY_NONE;
            for (int other = 0; other < slot; ++other) {
                assert_true(sight.entities[slot] == PH_ENTITY_NONE ||
                            sight.entities[slot] != sight.entities[other]);
            }
        }
        assert_int_equal(count, sight.visible_count);
    }
}

static void assert_all(const model* m)
{
    assert_true(ph_world_validate(m->f.world));
    assert_int_equal(ph_world_entity_count(m->f.world), m->live_count);
    assert_int_equal(ph_world_tick_count(m->f.world), m->ticks);
    for (int i = 0; i < MODEL_MAX; ++i) {
        assert_entity(m, &m->entities[i]);
    }
    assert_sights(m);
}

// ---- operations

// Most near each other, some far away, some on the edge of the world.
static void draw_place(model* m, int64_t place_mm[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t near_mm = draw(m, 600000) - 300000;
        const int kind = draw(m, 20);
        place_mm[axis] = kind == 0   ? (int32_t)(uint32_t)test_rng_next(&m->rng)
                         : kind == 1 ? (int32_t)((uint32_t)INT32_MIN + (uint32_t)near_mm)
                                     : near_mm;
    }
}

static void spawn(model* m)
{
    model_entity* e = any(m);
    if (e->is_alive) {
        return;
    }
    ph_spawn new_one = {0};
    new_one.class_index = draw(m, 4) == 0 ? STONE : 0;
    new_one.key = (uint64_t)draw(m, NAME_COUNT);
    new_one.seen_by = (uint32_t)draw(m, 4);
    new_one.is_always_visible = draw(m, 50) == 0;
    new_one.is_never_visible = draw(m, 20) == 0;
    draw_place(m, new_one.position_mm);
    const bool is_taken = find_name(m, new_one.key) != NULL;
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(m->f.world, &new_one, &id), is_taken ? PH_ERROR_TAKEN : PH_OK);
    if (is_taken) {
        return;
    }
    *e = (model_entity){.is_alive = true,
                        .id = id,
                        .name = new_one.key,
                        .class_index = new_one.class_index,
                        .health = 100,
                        .position_mm = {(int32_t)new_one.position_mm[0],
                                        (int32_t)new_one.position_mm[1],
                                        (int32_t)new_one.position_mm[2]}};
    ++m->live_count;
}

static void despawn(model* m)
{
    model_entity* e = any(m);
    assert_int_equal(ph_world_despawn(m->f.world, e->id), e->is_alive ? PH_OK : PH_ERROR_STALE);
    m->live_count -= e->is_alive;
    e->is_alive = false;
}

static void move(model* m, bool is_far)
{
    model_entity* e = any(m);
    int64_t drawn_mm[3];
    draw_place(m, drawn_mm);
    int32_t to_mm[3] = {(int32_t)drawn_mm[0], (int32_t)drawn_mm[1], (int32_t)drawn_mm[2]};
    for (int axis = 0; axis < 3 && !is_far; ++axis) {
        const int way_mm = draw(m, 4) == 0 ? draw(m, 7) - 3 : draw(m, 4001) - 2000;
        to_mm[axis] = (int32_t)((uint32_t)e->position_mm[axis] + (uint32_t)way_mm);
    }
    const ph_result result = ph_world_move(m->f.world, e->id, to_mm[0], to_mm[1], to_mm[2]);
    assert_int_equal(result, e->is_alive ? PH_OK : PH_ERROR_STALE);
    if (e->is_alive) {
        model_move(e, to_mm);
    }
}

static void put(model* m)
{
    static const char* const texts[] = {"", "a", "b", "Ada", "Adb", "fifteen letters", "\xC3\xA4"};
    model_entity* e = any(m);
    if (!e->is_alive || e->class_index == STONE) {
        return;
    }
    const int heading = draw(m, 3) == 0 ? draw(m, 256) : e->heading;
    person state = {.heading_deg = (float)heading * 360.0f / 256.0f + 0.3f};
    state.health = (uint8_t)draw(m, 102); // 101 becomes 100
    state.target = draw(m, 2) == 0 ? any(m)->id : e->target;
    state.money = e->money + draw(m, 3) - 1;
    memcpy(state.position_mm, e->position_mm, sizeof state.position_mm);
    const int axis_moved = draw(m, 3);
    state.position_mm[axis_moved] ^= draw(m, 32);
    strcpy(state.name, draw(m, 2) == 0 ? texts[draw(m, 7)] : e->text);
    int velocity[3];
    for (int axis = 0; axis < 3; ++axis) {
        velocity[axis] = draw(m, 8) == 0 ? draw(m, 41) - 20 : e->velocity[axis];
        state.velocity[axis] = (float)velocity[axis] * 0.5f + 0.1f;
    }
    const ph_result result = ph_world_set_struct(m->f.world, e->id, &state);
    assert_int_equal(result, PH_OK);
    model_move(e, state.position_mm);
    model_number(e, HEADING, &e->heading, heading);
    model_number(e, HEALTH, &e->health, state.health > 100 ? 100 : state.health);
    model_text(e, state.name);
    model_target(m, e, state.target);
    for (int axis = 0; axis < 3; ++axis) {
        model_number(e, VELOCITY, &e->velocity[axis], velocity[axis]);
    }
    e->changes |= e->money != state.money ? BIT(MONEY) : 0;
    e->money = state.money;
}

static void set(model* m)
{
    model_entity* e = any(m);
    const bool is_person = e->is_alive && e->class_index == 0;
    ph_world* world = m->f.world;
    const ph_result expected = is_person ? PH_OK : e->is_alive ? PH_ERROR_ARGUMENT : PH_ERROR_STALE;
    const int value = draw(m, 5);
    const ph_entity_id target = any(m)->id;
    const char text[] = {(char)('a' + value), '\0'};
    model_entity ignored;
    model_entity* changed = is_person ? e : &ignored;
    ignored = *e;
    switch (draw(m, 4)) {
    case 0:
        assert_int_equal(ph_world_set_property(world, e->id, MOOD, PH_FIELD_I32, &value, 4),
                         expected);
        model_number(changed, MOOD, &changed->mood, value);
        return;
    case 1:
        assert_int_equal(ph_world_set_property(world, e->id, HEALTH, PH_FIELD_I32, &value, 4),
                         expected);
        model_number(changed, HEALTH, &changed->health, value);
        return;
    case 2:
        assert_int_equal(ph_world_set_property(world, e->id, NAME, PH_FIELD_TEXT, text, 1),
                         expected);
        model_text(changed, text);
        return;
    default:
        assert_int_equal(
            ph_world_set_property(world, e->id, TARGET, PH_FIELD_ENTITY, &target, sizeof target),
            expected);
        model_target(m, changed, target);
        return;
    }
}

static void change_visibility(model* m)
{
    model_entity* e = any(m);
    const uint32_t seen_by = (uint32_t)draw(m, 4);
    const bool is_always_visible = draw(m, 50) == 0;
    const bool is_never_visible = draw(m, 20) == 0;
    const ph_result result =
        ph_world_set_visibility(m->f.world, e->id, seen_by, is_always_visible, is_never_visible);
    assert_int_equal(result, e->is_alive ? PH_OK : PH_ERROR_STALE);
}

static void tick(model* m)
{
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        ph_vision sight;
        assert_int_equal(ph_viewer_get_vision(m->f.world, m->viewers[v], &sight), PH_OK);
        for (int i = 0; i < sight.leave_count; ++i) {
            assert_int_equal(ph_viewer_free_slot(m->f.world, m->viewers[v], sight.leaves[i]),
                             PH_OK);
        }
    }
    if (draw(m, 10) == 0) {
        const ph_entity_id own = any(m)->id;
        assert_int_equal(ph_viewer_set_entity(m->f.world, m->viewers[draw(m, 2)], own),
                         is_alive(m, own) || own.index1 == 0 ? PH_OK : PH_ERROR_STALE);
    }
    const int allocate_count = m->f.memory.allocate_count;
    ph_world_tick(m->f.world);
    assert_int_equal(m->f.memory.allocate_count, allocate_count);
    ++m->ticks;
    for (int i = 0; i < MODEL_MAX; ++i) {
        m->entities[i].changes = 0;
    }
}

static void step(model* m)
{
    const int choice = draw(m, 100);
    if (choice < 30) {
        move(m, false);
    } else if (choice < 35) {
        move(m, true);
    } else if (choice < 60) {
        put(m);
    } else if (choice < 78) {
        set(m);
    } else if (choice < 88) {
        spawn(m);
    } else if (choice < 95) {
        despawn(m);
    } else if (choice < 98) {
        change_visibility(m);
    } else {
        tick(m);
    }
}

static void run(ph_vision_kind kind, uint64_t seed, int operation_count)
{
    model m = {.rng = {.state = seed}};
    small_world_setup(&m.f, 4);
    m.f.def.vision.kind = kind;
    m.f.def.vision.refresh_ticks = 2;
    small_world_again(&m.f);
    for (int v = 0; v < VIEWER_COUNT; ++v) {
        ph_viewer_def def = ph_viewer_def_default();
        def.visible_max = 20;
        def.sees = (uint32_t)v + 1;
        assert_int_equal(ph_world_add_viewer(m.f.world, &def, &m.viewers[v]), PH_OK);
    }
    for (int i = 0; i < operation_count; ++i) {
        step(&m);
        if (i % 20 == 0) {
            assert_entity(&m, any(&m));
        }
        if (i % 4000 == 0) {
            assert_all(&m);
        }
    }
    assert_all(&m);
    small_world_teardown(&m.f);
}

static void half_a_million_operations_with_a_grid(void** state)
{
    (void)state;
    run(PH_VISION_GRID, 2024, 500000);
}

static void half_a_million_operations_with_groups(void** state)
{
    (void)state;
    run(PH_VISION_GROUPS, 2025, 500000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_million_operations_with_a_grid),
        cmocka_unit_test(half_a_million_operations_with_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
