// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How deep the bucket at the link is: by rate and burst alone, and by the dearest datagram when that
// is more. Worlds of all kinds of schemas ask for no more.

#include "test_support.h"

#include "kit/budget.h"
#include "support/random_schema.h"

#include <pinhole/viewer.h>
#include <pinhole/stats.h>

#include <string.h>

static ph_schema* small_schema(void)
{
    static const char TEXT[] = "class a\n    place: position\n    health: range 0..100\n";
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(TEXT, strlen(TEXT), NULL, &schema, NULL), PH_OK);
    return schema;
}

static void a_second_of_the_rate_is_that_many_bits(void** state)
{
    (void)state;
    ph_schema* schema = small_schema();
    const ph_budget_def second = {.bits_per_second = 13000, .burst_s = 1.0, .overhead_bytes = 48};
    const ph_budget_def longer = {.bits_per_second = 13000, .burst_s = 2.5, .overhead_bytes = 48};
    assert_int_equal(ph_budget_depth_bits(&second, schema), 13000);
    assert_int_equal(ph_budget_depth_bits(&longer, schema), 32500);
    ph_schema_destroy(schema);
}

static void less_than_one_datagram_is_raised_to_it(void** state)
{
    (void)state;
    ph_schema* schema = small_schema();
    const ph_budget_def none = {.bits_per_second = 13000, .burst_s = 0.0, .overhead_bytes = 48};
    const int64_t depth_bits = ph_budget_depth_bits(&none, schema);
    assert_int_equal(depth_bits, ph_budget_dearest_bits(schema, 48));
    assert_in_range(depth_bits, 8 * 48 + 100, 1800);
    assert_int_equal(ph_budget_dearest_bits(schema, 50) - depth_bits, 16);
    ph_schema_destroy(schema);
}

// What the world takes as its least depth, by its own reckoning.
static int64_t least_of_world(const ph_schema* schema, ph_profile profile)
{
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    world_def.profile = profile;
    ph_world* world;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000;
    def.burst_bits = 1;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(world, &def, &viewer), PH_OK);
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(world, viewer, &stats), PH_OK);
    ph_world_destroy(world);
    return stats.token_bits;
}

// More would hide overruns of a sender that saves up too much.
static void it_is_no_less_than_a_world_needs_and_not_much_more(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        test_rng rng = {.state = seed};
        static random_schema tables;
        random_schema_fill(&tables, &rng);
        ph_schema* schema;
        assert_int_equal(ph_schema_create(tables.classes, tables.class_count, NULL, &schema, NULL),
                         PH_OK);
        const int64_t found = ph_budget_dearest_bits(schema, 48);
        for (int profile = PH_PROFILE_CLASSIC; profile <= PH_PROFILE_PINHOLE; ++profile) {
            const int64_t needed = least_of_world(schema, (ph_profile)profile);
            if (found < needed || found > needed + needed / 2 + 700) {
                fail_msg("seed %d, profile %d: %d bits, and the world needs %d", (int)seed, profile,
                         (int)found, (int)needed);
            }
        }
        ph_schema_destroy(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_of_the_rate_is_that_many_bits),
        cmocka_unit_test(less_than_one_datagram_is_raised_to_it),
        cmocka_unit_test(it_is_no_less_than_a_world_needs_and_not_much_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
