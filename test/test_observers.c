// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which entities are chosen as viewers: made-up recordings at one tick a second.

#include "test_support.h"

#include "kit/observers.h"
#include "kit/recording_csv.h"

#include <stdio.h>
#include <string.h>

// An entity that walks along x, or along z.
typedef struct walker {
    int id;
    int first_tick;
    int tick_count;
    int step_mm;
    bool is_climber;
    int away_tick; // this one tick it is absent, counted from its first; 0: never
    int start_mm;  // where it begins
} walker;

static char text[65536];

static ph_recording* record(const walker* walkers, int count)
{
    char* at = text + sprintf(text, "# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n");
    for (int tick = 0; tick < 60; ++tick) {
        for (int i = 0; i < count; ++i) {
            const walker* one = &walkers[i];
            const int age = tick - one->first_tick;
            if (age < 0 || age >= one->tick_count || (age > 0 && age == one->away_tick)) {
                continue;
            }
            const int way_mm = (int)((unsigned)one->start_mm + (unsigned)(age * one->step_mm));
            at += sprintf(at, "%d,%d,%d,0,%d,0\n", tick, one->id, one->is_climber ? 0 : way_mm,
                          one->is_climber ? way_mm : 0);
        }
    }
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(text, strlen(text), &def, &fault);
    if (made == NULL) {
        fail_msg("%d:%d: %s", fault.line, fault.column, fault.message);
    }
    return made;
}

// The ids of the chosen, up to max of them.
static void assert_chosen(const walker* walkers, int count, int max, const char* expected)
{
    ph_recording* made = record(walkers, count);
    int entities[16] = {0};
    const int chosen = ph_observers_choose(made, max, entities);
    char said[100] = "";
    for (int i = 0; i < chosen; ++i) {
        snprintf(said + strlen(said), sizeof said - strlen(said), "%u ", made->id[entities[i]]);
    }
    assert_string_equal(said, expected);
    ph_recording_destroy(made);
}

static void the_longest_paths_go_first(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 20, 1000, false, 0, 0},
                              {2, 0, 20, -3000, false, 0, 0},
                              {3, 0, 40, 1000, false, 0, 0}};
    assert_chosen(walkers, 3, 16, "2 3 1 ");
    assert_chosen(walkers, 3, 2, "2 3 ");
    assert_chosen(walkers, 3, 0, "");
}

static void the_edge_of_the_world_is_a_step_like_any_other(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 20, 1000, false, 0, INT32_MAX - 5000},
                              {2, 0, 20, 1100, false, 0, 0},
                              {3, 0, 20, 200, true, 0, INT32_MAX - 500}};
    assert_chosen(walkers, 3, 16, "2 1 ");
}

static void the_way_up_counts(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 20, 1000, false, 0, 0}, {2, 0, 20, 2000, true, 0, 0}};
    assert_chosen(walkers, 2, 16, "2 1 ");
}

static void less_than_ten_seconds_are_too_short(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 10, 2000, false, 0, 0}, {2, 0, 9, 9000, false, 0, 0}};
    assert_chosen(walkers, 2, 16, "1 ");
}

static void less_than_ten_metres_are_no_way(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 11, 1000, false, 0, 0}, {2, 0, 11, 999, false, 0, 0}};
    assert_chosen(walkers, 2, 16, "1 ");
}

static void of_equal_ways_the_first_to_appear_goes_first_then_the_lower_id(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 5, 20, 1000, false, 0, 0},
                              {2, 3, 20, 1000, true, 0, 0},
                              {3, 3, 20, -1000, false, 0, 0}};
    assert_chosen(walkers, 3, 16, "2 3 1 ");
}

static void the_way_while_absent_does_not_count_but_all_times_do(void** state)
{
    (void)state;
    const walker walkers[] = {{1, 0, 21, 1000, false, 0, 0},
                              {2, 0, 21, 1050, false, 10, 0},
                              {3, 0, 11, 3000, false, 5, 0},
                              {4, 0, 10, 3000, false, 5, 0}};
    // 20,000; 18 steps of 1,050; 8 steps of 3,000; present for 9 s only.
    assert_chosen(walkers, 4, 16, "3 1 2 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_paths_go_first),
        cmocka_unit_test(the_edge_of_the_world_is_a_step_like_any_other),
        cmocka_unit_test(the_way_up_counts),
        cmocka_unit_test(less_than_ten_seconds_are_too_short),
        cmocka_unit_test(less_than_ten_metres_are_no_way),
        cmocka_unit_test(of_equal_ways_the_first_to_appear_goes_first_then_the_lower_id),
        cmocka_unit_test(the_way_while_absent_does_not_count_but_all_times_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
