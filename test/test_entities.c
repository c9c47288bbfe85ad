// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The arrays by themselves; what a world makes of them is tested with the world.

#include "support/test_support.h"

#include "entities/entities.h"

enum { CAPACITY = 3 };

static ph_entities setup(void)
{
    ph_entities entities;
    assert_int_equal(ph_entities_create(&entities, &(ph_allocator){0}, CAPACITY), PH_OK);
    entities.stride_rule = ph_stride_rule_make(50000);
    return entities;
}

// An entity that has walked 50 mm in a tick of 50 ms.
static ph_entity_index add_walker(ph_entities* entities, uint64_t name)
{
    const ph_entity_index index =
        ph_entities_add(entities, &(ph_newcomer){.key = name, .seen_by = 1});
    ph_entities_note_displacements(entities, 0.05f);
    ph_entities_move(entities, index, &(ph_move){.position_mm = {0, 50, 0}});
    ph_entities_note_displacements(entities, 0.05f);
    return index;
}

static void an_entity_shown_again_has_no_velocity(void** state)
{
    (void)state;
    ph_entities entities = setup();
    const ph_entity_index index = add_walker(&entities, 1);
    const float* velocity = entities.whereabouts[index].velocity_mm_s;
    assert_true(velocity[1] > 999.0f && velocity[1] < 1001.0f);
    ph_entities_set_visibility(&entities, index, 3, 0);
    assert_true(velocity[0] == 0.0f && velocity[1] == 0.0f && velocity[2] == 0.0f);
    ph_entities_destroy(&entities);
}

static void no_record_is_a_part_of_two_cache_lines(void** state)
{
    (void)state;
    ph_entities entities = setup();
    const ph_entity_index index = add_walker(&entities, 1);
    for (int capacity = CAPACITY; capacity < 40; ++capacity) {
        assert_int_equal(ph_entities_reserve(&entities, capacity), PH_OK);
        assert_int_equal((uintptr_t)entities.whereabouts % sizeof(ph_whereabouts), 0);
        assert_int_equal(entities.whereabouts[index].position_mm[1], 50);
    }
    ph_entities_destroy(&entities);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_shown_again_has_no_velocity),
        cmocka_unit_test(no_record_is_a_part_of_two_cache_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
