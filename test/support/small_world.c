// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/small_world.h"

#include "support/test_support.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>

static const ph_property_def person_properties[PERSON_COUNT] = {
    [POSITION] = {.name = "position",
                  .coding = PH_CODING_POSITION,
                  .field = PH_FIELD_I32X3,
                  .offset = offsetof(person, position_mm)},
    [HEADING] = {.name = "heading",
                 .coding = PH_CODING_ANGLE,
                 .field = PH_FIELD_F32,
                 .offset = offsetof(person, heading_deg)},
    [HEALTH] = {.name = "health",
                .coding = PH_CODING_RANGE,
                .hi = 100,
                .default_value = 100,
                .field = PH_FIELD_U8,
                .offset = offsetof(person, health)},
    [NAME] = {.name = "name",
              .coding = PH_CODING_STRING,
              .max_length = 15,
              .field = PH_FIELD_TEXT,
              .offset = offsetof(person, name)},
    [TARGET] = {.name = "target",
                .coding = PH_CODING_ENTITY,
                .field = PH_FIELD_ENTITY,
                .offset = offsetof(person, target)},
    [BADGE] = {.name = "badge",
               .coding = PH_CODING_BYTES,
               .max_length = 8,
               .field = PH_FIELD_BYTES,
               .offset = offsetof(person, badge)},
    [VELOCITY] = {.name = "velocity",
                  .coding = PH_CODING_VEC3,
                  .lo = -10,
                  .hi = 10,
                  .step = 0.5,
                  .field = PH_FIELD_F32X3,
                  .offset = offsetof(person, velocity)},
    [MONEY] = {.name = "money",
               .coding = PH_CODING_VARINT,
               .lo = -1e12,
               .hi = 1e12,
               .field = PH_FIELD_I64,
               .offset = offsetof(person, money)},
    [MOOD] = {.name = "mood", .coding = PH_CODING_ENUM, .count = 5},
};

static const ph_property_def stone_properties[] = {
    {.name = "position", .coding = PH_CODING_POSITION, .step = 1, .bits = 20},
};

static const ph_class_def classes[] = {
    {.name = "person",
     .properties = person_properties,
     .property_count = PERSON_COUNT,
     .struct_size = sizeof(person)},
    {.name = "stone", .properties = stone_properties, .property_count = 1},
};

const person test_entity = {
    .position_mm = {1000, -2000, 300},
    .heading_deg = 90.0f,
    .health = 77,
    .name = "Ada",
    .badge = {3, {1, 0, 255}},
    .velocity = {1.0f, -2.5f, 0.0f},
    .money = -123456789012,
};

void small_world_setup(small_world* f, int entity_capacity)
{
    *f = (small_world){0};
    assert_int_equal(ph_schema_create(classes, 2, NULL, &f->schema, NULL), PH_OK);
    f->def = ph_world_def_default();
    f->def.profile = PH_PROFILE_CLASSIC; // inboxes read it
    f->def.schema = f->schema;
    f->def.entity_capacity = entity_capacity;
    f->def.viewer_capacity = 1;
    f->def.allocator = test_memory_allocator(&f->memory);
    small_world_again(f);
}

void small_world_again(small_world* f)
{
    ph_world_destroy(f->world);
    assert_int_equal(ph_world_create(&f->def, &f->world), PH_OK);
    assert_true(ph_world_validate(f->world));
}

void small_world_teardown(small_world* f)
{
    assert_true(ph_world_validate(f->world));
    ph_world_destroy(f->world);
    test_memory_assert_clean(&f->memory);
    ph_schema_destroy(f->schema);
}

ph_entity_id small_world_spawn(small_world* f, uint64_t name)
{
    const ph_spawn new_person = {.key = name};
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f->world, &new_person, &id), PH_OK);
    return id;
}

ph_entity_id small_world_spawn_at(small_world* f, uint64_t name, int32_t x_mm, int32_t y_mm)
{
    ph_entity_id id;
    const ph_spawn new_person = {.key = name, .position_mm = {x_mm, y_mm, 0}};
    assert_int_equal(ph_world_spawn(f->world, &new_person, &id), PH_OK);
    return id;
}

ph_viewer_id small_world_add_viewer(small_world* f, ph_entity_id own, int visible_max)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = own;
    def.visible_max = visible_max;
    ph_viewer_id id;
    assert_int_equal(ph_world_add_viewer(f->world, &def, &id), PH_OK);
    return id;
}

ph_vision small_world_sight(const small_world* f, ph_viewer_id viewer)
{
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(f->world, viewer, &sight), PH_OK);
    return sight;
}

int small_world_slot(const small_world* f, ph_viewer_id viewer, ph_entity_id entity)
{
    const ph_vision sight = small_world_sight(f, viewer);
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        if (test_is_same(ph_world_entity_at(f->world, sight.entities[slot]), entity)) {
            return slot;
        }
    }
    return -1;
}

bool small_world_sees(const small_world* f, ph_viewer_id viewer, ph_entity_id entity)
{
    return small_world_slot(f, viewer, entity) > 0;
}

void small_world_free_left(small_world* f, ph_viewer_id viewer)
{
    const ph_vision sight = small_world_sight(f, viewer);
    for (int i = 0; i < sight.leave_count; ++i) {
        assert_int_equal(ph_viewer_free_slot(f->world, viewer, sight.leaves[i]), PH_OK);
    }
}

bool test_is_same(ph_entity_id a, ph_entity_id b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

bool test_is_none(ph_entity_id id)
{
    return test_is_same(id, (ph_entity_id){0});
}
