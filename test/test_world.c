// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Entities and their state: what is put comes back quantised, what changed is marked, what is gone
// is gone, and no lack of memory leaves a trace. What viewers see is in test_world_vision.c.

#include "support/test_support.h"
#include "support/small_world.h"

#include "entities/entities.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// ---- life

static void a_spawned_entity_is_found_by_its_name(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_spawn stone = {.class_index = 1, .key = 42, .position_mm = {5, 6, 7}};
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f.world, &stone, &id), PH_OK);
    assert_true(ph_world_is_alive(f.world, id));
    assert_true(test_is_same(ph_world_find(f.world, 42), id));
    assert_true(test_is_none(ph_world_find(f.world, 43)));
    uint64_t name = 0;
    int class_index = 0;
    assert_int_equal(ph_world_identify(f.world, id, &name, &class_index), PH_OK);
    assert_int_equal(name, 42);
    assert_int_equal(class_index, 1);
    assert_int_equal(ph_world_identify(f.world, id, NULL, NULL), PH_OK);
    int32_t position_mm[3];
    assert_int_equal(
        ph_world_get_property(f.world, id, 0, PH_FIELD_I32X3, position_mm, sizeof position_mm),
        PH_OK);
    assert_int_equal(position_mm[0], 5);
    assert_int_equal(position_mm[2], 7);
    assert_int_equal(ph_world_entity_count(f.world), 1);
    small_world_teardown(&f);
}

static void a_taken_name_and_an_unknown_class_are_refused(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id first = small_world_spawn(&f, 7);
    ph_entity_id id = first;
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 7}, &id), PH_ERROR_TAKEN);
    assert_true(test_is_none(id));
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.class_index = 2}, &id),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.class_index = -1}, &id),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_entity_count(f.world), 1);
    assert_int_equal(ph_world_despawn(f.world, first), PH_OK);
    small_world_spawn(&f, 7);
    small_world_teardown(&f);
}

static void every_call_recognises_a_stale_id(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    assert_int_equal(ph_world_despawn(f.world, id), PH_OK);
    const ph_entity_id other = small_world_spawn(&f, 2); // has the same index
    assert_int_equal(other.index1, id.index1);
    person state_of = test_entity;
    uint8_t health = 5;
    assert_false(ph_world_is_alive(f.world, id));
    assert_int_equal(ph_world_despawn(f.world, id), PH_ERROR_STALE);
    assert_int_equal(ph_world_identify(f.world, id, NULL, NULL), PH_ERROR_STALE);
    assert_int_equal(ph_world_set_struct(f.world, id, &test_entity), PH_ERROR_STALE);
    assert_int_equal(ph_world_get_struct(f.world, id, &state_of), PH_ERROR_STALE);
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_U8, &health, 1),
                     PH_ERROR_STALE);
    assert_int_equal(ph_world_get_property(f.world, id, HEALTH, PH_FIELD_U8, &health, 1),
                     PH_ERROR_STALE);
    assert_int_equal(ph_world_move(f.world, id, 1, 2, 3), PH_ERROR_STALE);
    assert_int_equal(ph_world_set_visibility(f.world, id, 1, false, false), PH_ERROR_STALE);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    assert_int_equal(ph_world_mileage(f.world, id), 0);
    assert_int_equal(ph_world_changed_properties(f.world, other), 0);
    assert_int_equal(ph_world_despawn(f.world, (ph_entity_id){0}), PH_ERROR_STALE);
    small_world_teardown(&f);
}

static void a_new_entity_has_initial_values_whatever_had_its_row(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id first = small_world_spawn(&f, 1);
    assert_int_equal(ph_world_set_struct(f.world, first, &test_entity), PH_OK);
    assert_int_equal(ph_world_despawn(f.world, first), PH_OK);
    const ph_entity_id second = small_world_spawn(&f, 2);
    person shown;
    memset(&shown, 0xAA, sizeof shown);
    assert_int_equal(ph_world_get_struct(f.world, second, &shown), PH_OK);
    assert_int_equal(shown.position_mm[0], 0);
    assert_int_equal(shown.health, 100);
    assert_string_equal(shown.name, "");
    assert_int_equal(shown.badge.length, 0);
    assert_true(test_is_none(shown.target));
    assert_int_equal(shown.money, 0);
    assert_int_equal(ph_world_changed_properties(f.world, second), 0);
    assert_int_equal(ph_world_mileage(f.world, second), 0);
    small_world_teardown(&f);
}

// ---- state

static void what_was_put_comes_back_as_clients_see_it(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn(&f, 9);
    const ph_entity_id id = small_world_spawn(&f, 1);
    person put = test_entity;
    put.target = other;
    put.heading_deg = 91.0f;
    put.velocity[0] = 1.2f;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    person shown = {.unbound = 1234};
    assert_int_equal(ph_world_get_struct(f.world, id, &shown), PH_OK);
    assert_int_equal(shown.position_mm[0], 1000 - 1000 % 16);
    assert_int_equal(shown.position_mm[1], -2000); // 125 steps
    assert_int_equal(shown.position_mm[2], 300 - 300 % 16);
    assert_true(fabsf(shown.heading_deg - 91.0f) <= 360.0f / 256 / 2);
    assert_int_equal(shown.health, 77);
    assert_string_equal(shown.name, "Ada");
    assert_true(test_is_same(shown.target, other));
    assert_int_equal(shown.badge.length, 3);
    assert_memory_equal(shown.badge.bytes, put.badge.bytes, 3);
    assert_true(shown.velocity[0] == 1.0f && shown.velocity[1] == -2.5f);
    assert_int_equal(shown.money, -123456789012);
    assert_int_equal(shown.unbound, 1234);
    small_world_teardown(&f);
}

static void only_real_changes_set_a_bit(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    person put = test_entity;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    // The target is still none.
    assert_int_equal(ph_world_changed_properties(f.world, id), (BIT(MOOD) - 1) & ~BIT(TARGET));
    ph_world_tick(f.world);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);

    put.heading_deg += 0.3f; // less than half a part
    put.velocity[2] += 0.2f;
    put.unbound = 5;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    put.velocity[2] = 0.5f;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(VELOCITY));
    put.health = 78;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    put.health = 77; // there and back is still a change: the bit says "look", not "differs"
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(VELOCITY) | BIT(HEALTH));
    small_world_teardown(&f);
}

static void each_kind_of_content_is_compared(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn(&f, 2);
    const ph_entity_id id = small_world_spawn(&f, 1);
    person put = test_entity;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    ph_world_tick(f.world);
    strcpy(put.name, "Adb"); // same length
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(NAME));
    strcpy(put.name, "Ad");
    put.badge.bytes[7] = 9; // beyond its length
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(NAME));
    put.badge.length = 8;
    put.target = other;
    put.money += INT64_C(1) << 33; // the low word stays
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id),
                     BIT(NAME) | BIT(BADGE) | BIT(TARGET) | BIT(MONEY));
    person shown;
    assert_int_equal(ph_world_get_struct(f.world, id, &shown), PH_OK);
    assert_string_equal(shown.name, "Ad");
    assert_int_equal(shown.badge.bytes[7], 9);
    assert_int_equal(shown.money, put.money);
    small_world_teardown(&f);
}

static void single_properties_are_set_and_read(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    const float vector[3] = {0};
    const uint32_t mood = 4;
    const int32_t place_mm[3] = {160, 320, 480};
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_U32, &(uint32_t){12}, 4),
                     PH_OK);
    assert_int_equal(ph_world_set_property(f.world, id, MOOD, PH_FIELD_U32, &mood, 4), PH_OK);
    assert_int_equal(ph_world_set_property(f.world, id, POSITION, PH_FIELD_I32X3, place_mm, 12),
                     PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id),
                     BIT(HEALTH) | BIT(MOOD) | BIT(POSITION));
    uint8_t small = 0;
    assert_int_equal(ph_world_get_property(f.world, id, MOOD, PH_FIELD_U8, &small, 1), PH_OK);
    assert_int_equal(small, 4);
    int32_t back_mm[3];
    assert_int_equal(ph_world_get_property(f.world, id, POSITION, PH_FIELD_I32X3, back_mm, 12),
                     PH_OK);
    assert_memory_equal(back_mm, place_mm, 12);
    // Not this property, not this type, not this size.
    assert_int_equal(ph_world_set_property(f.world, id, PERSON_COUNT, PH_FIELD_U8, &small, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, -1, PH_FIELD_U8, &small, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_F32X3, vector, 12),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_TEXT, "12", 2),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, NAME, PH_FIELD_U8, &small, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_U8, &small, 2),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, HEALTH, PH_FIELD_NONE, &small, 0),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_get_property(f.world, id, HEALTH, PH_FIELD_COUNT, &small, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, MOOD, PH_FIELD_U32, &(uint32_t){5}, 4),
                     PH_ERROR_VALUE);
    assert_int_equal(ph_world_get_property(f.world, id, PERSON_COUNT, PH_FIELD_U8, &small, 1),
                     PH_ERROR_ARGUMENT);
    small_world_teardown(&f);
}

static void texts_are_set_and_read_within_their_size(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    char name[16];
    assert_int_equal(ph_world_set_property(f.world, id, NAME, PH_FIELD_TEXT, "Grace Hopper", 5),
                     PH_OK);
    assert_int_equal(ph_world_get_property(f.world, id, NAME, PH_FIELD_TEXT, name, 6), PH_OK);
    assert_string_equal(name, "Grace");
    assert_int_equal(ph_world_get_property(f.world, id, NAME, PH_FIELD_TEXT, name, 5),
                     PH_ERROR_TOO_LONG);
    assert_int_equal(ph_world_set_property(f.world, id, NAME, PH_FIELD_TEXT, "Bo\0xx", 5), PH_OK);
    assert_int_equal(ph_world_get_property(f.world, id, NAME, PH_FIELD_TEXT, name, 16), PH_OK);
    assert_string_equal(name, "Bo");
    assert_int_equal(
        ph_world_set_property(f.world, id, NAME, PH_FIELD_TEXT, "1234567890123456", 16),
        PH_ERROR_TOO_LONG);
    assert_int_equal(ph_world_set_property(f.world, id, NAME, PH_FIELD_TEXT, "\xFF", 1),
                     PH_ERROR_TEXT);
    assert_int_equal(ph_world_set_property(f.world, id, NAME, PH_FIELD_TEXT, "", 0), PH_OK);
    assert_int_equal(ph_world_get_property(f.world, id, NAME, PH_FIELD_TEXT, name, 1), PH_OK);
    assert_string_equal(name, "");
    struct {
        uint16_t length;
        uint8_t bytes[10];
    } bytes = {4, {9, 8, 7, 6}};
    assert_int_equal(ph_world_set_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, 5),
                     PH_ERROR_TOO_LONG);
    assert_int_equal(ph_world_set_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_set_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, 6), PH_OK);
    bytes.length = 9;
    assert_int_equal(
        ph_world_set_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, sizeof bytes),
        PH_ERROR_TOO_LONG);
    assert_int_equal(ph_world_get_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, 5),
                     PH_ERROR_TOO_LONG);
    memset(&bytes, 0, sizeof bytes);
    assert_int_equal(ph_world_get_property(f.world, id, BADGE, PH_FIELD_BYTES, &bytes, 6), PH_OK);
    assert_int_equal(bytes.length, 4);
    assert_int_equal(bytes.bytes[3], 6);
    small_world_teardown(&f);
}

static void a_reference_to_an_entity_that_is_gone_reads_as_none(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn(&f, 2);
    const ph_entity_id id = small_world_spawn(&f, 1);
    person put = test_entity;
    put.target = other;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_int_equal(ph_world_despawn(f.world, other), PH_OK);
    ph_world_tick(f.world);
    const ph_entity_id heir = small_world_spawn(&f, 3);
    assert_int_equal(heir.index1, other.index1);
    person shown;
    ph_entity_id read = heir;
    assert_int_equal(ph_world_get_struct(f.world, id, &shown), PH_OK);
    assert_true(test_is_none(shown.target));
    assert_int_equal(
        ph_world_get_property(f.world, id, TARGET, PH_FIELD_ENTITY, &read, sizeof read), PH_OK);
    assert_true(test_is_none(read));

    // Put back as it was read, or as it was put: it names no entity as before, so nothing changes.
    assert_int_equal(ph_world_set_struct(f.world, id, &shown), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    assert_int_equal(
        ph_world_set_property(f.world, id, TARGET, PH_FIELD_ENTITY, &other, sizeof other), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    assert_int_equal(
        ph_world_set_property(f.world, id, TARGET, PH_FIELD_ENTITY, &heir, sizeof heir), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(TARGET));

    // An id that no entity ever had never comes to name one.
    put.target = (ph_entity_id){.index1 = 3, .generation = 1};
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    assert_true(test_is_same(small_world_spawn(&f, 4), put.target));
    assert_int_equal(ph_world_get_struct(f.world, id, &shown), PH_OK);
    assert_true(test_is_none(shown.target));
    small_world_teardown(&f);
}

// ---- motion

static void a_move_below_a_step_sets_no_bit_but_counts(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    assert_int_equal(ph_world_move(f.world, id, 15, 15, 15), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), 0);
    assert_int_equal(ph_world_mileage(f.world, id), 26); // 25.98
    assert_int_equal(ph_world_move(f.world, id, 15, 15, 16), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(POSITION));
    assert_int_equal(ph_world_mileage(f.world, id), 27);
    ph_world_tick(f.world);
    // The exact millimetres are kept: from 15, one more is the next step.
    assert_int_equal(ph_world_move(f.world, id, 16, 15, 16), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(POSITION));
    ph_world_tick(f.world);
    // A jump by the whole window of the wire leaves the 16 bits that are sent as they were.
    assert_int_equal(ph_world_move(f.world, id, 16 + (1 << 20), 15, 16), PH_OK);
    assert_int_equal(ph_world_changed_properties(f.world, id), BIT(POSITION));
    small_world_teardown(&f);
}

static void mileage_counts_the_way_not_the_distance(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(ph_world_move(f.world, id, i % 2 == 0 ? 300 : 0, i % 2 == 0 ? 400 : 0, 0),
                         PH_OK);
    }
    assert_int_equal(ph_world_mileage(f.world, id), 5000);
    // Across the edge of the world it is a step, not a journey.
    assert_int_equal(ph_world_move(f.world, id, INT32_MAX, 0, 0), PH_OK);
    const uint32_t before_mm = ph_world_mileage(f.world, id);
    assert_int_equal(before_mm, 5000 + PH_MILEAGE_MOVE_MAX);
    assert_int_equal(ph_world_move(f.world, id, INT32_MIN, 0, 0), PH_OK);
    assert_int_equal(ph_world_mileage(f.world, id) - before_mm, 1);
    small_world_teardown(&f);
}

static void mileage_wraps(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id id = small_world_spawn(&f, 1);
    for (int i = 0; i < 4096; ++i) {
        assert_int_equal(ph_world_move(f.world, id, i % 2 == 0 ? INT32_MIN : 0, 0, 0), PH_OK);
    }
    assert_int_equal(ph_world_mileage(f.world, id), 0);
    assert_int_equal(ph_world_move(f.world, id, 7, 0, 0), PH_OK);
    assert_int_equal(ph_world_mileage(f.world, id), 7);
    small_world_teardown(&f);
}

// Against long arithmetic, over all lengths.
static void a_way_is_measured_to_the_nearest_millimetre(void** state)
{
    (void)state;
    test_rng rng = {.state = 2024};
    for (int i = 0; i < 200000; ++i) {
        const int bits = 1 + (int)test_rng_below(&rng, 21);
        int32_t from_mm[3], to_mm[3];
        uint64_t square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const uint32_t way = (uint32_t)test_rng_below(&rng, UINT64_C(1) << bits);
            from_mm[axis] = (int32_t)(uint32_t)test_rng_next(&rng);
            to_mm[axis] = (int32_t)((uint32_t)from_mm[axis] + (i % 2 == 0 ? way : 0u - way));
            square += (uint64_t)way * way;
        }
        const uint64_t length = ph_distance_mm(from_mm, to_mm);
        if (length == PH_MILEAGE_MOVE_MAX) {
            assert_true(4 * square >= (2 * length - 1) * (2 * length - 1));
        } else {
            // (length - 1/2)^2 < square < (length + 1/2)^2, in quarters
            assert_true(length == 0 || (2 * length - 1) * (2 * length - 1) < 4 * square);
            assert_true(4 * square < (2 * length + 1) * (2 * length + 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spawned_entity_is_found_by_its_name),
        cmocka_unit_test(a_taken_name_and_an_unknown_class_are_refused),
        cmocka_unit_test(every_call_recognises_a_stale_id),
        cmocka_unit_test(a_new_entity_has_initial_values_whatever_had_its_row),
        cmocka_unit_test(what_was_put_comes_back_as_clients_see_it),
        cmocka_unit_test(only_real_changes_set_a_bit),
        cmocka_unit_test(each_kind_of_content_is_compared),
        cmocka_unit_test(single_properties_are_set_and_read),
        cmocka_unit_test(texts_are_set_and_read_within_their_size),
        cmocka_unit_test(a_reference_to_an_entity_that_is_gone_reads_as_none),
        cmocka_unit_test(a_move_below_a_step_sets_no_bit_but_counts),
        cmocka_unit_test(mileage_counts_the_way_not_the_distance),
        cmocka_unit_test(mileage_wraps),
        cmocka_unit_test(a_way_is_measured_to_the_nearest_millimetre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
