// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which steps of a recording are jumps. 10 ticks a second: 10,000 mm a tick are 100 m/s.

#include "kit/jump_marks.h"

#include "kit/recording_csv.h"
#include "support/test_support.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 4000 };

// One entity at these places of x; an absent one is -1. The rows that are jumps, as a mask.
static unsigned marks_of(const int* x_mm, int count)
{
    char text[TEXT_MAX];
    int length = snprintf(text, sizeof text, "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n");
    for (int tick = 0; tick < count; ++tick) {
        if (x_mm[tick] >= 0) {
            length += snprintf(text + length, sizeof text - (size_t)length, "%d,1,%d,0,0,0\n", tick,
                               x_mm[tick]);
        }
    }
    ph_fault fault;
    ph_recording* recording =
        ph_recording_parse(text, (size_t)length, &(ph_recording_def){0}, &fault);
    assert_non_null(recording);
    assert_false(recording->has_marks);
    unsigned marks = 0;
    for (int tick = 0; tick < count; ++tick) {
        const int row = ph_recording_row(recording, 0, tick);
        marks |= row >= 0 && recording->is_jump[row] ? 1u << tick : 0u;
    }
    ph_recording_destroy(recording);
    return marks;
}

#define MARKS_OF(...)                                                                              \
    marks_of((const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static void a_step_that_stands_alone_is_a_jump(void** state)
{
    (void)state;
    assert_int_equal(MARKS_OF(0, 100, 200, 20300, 20400), 1u << 3);
    assert_int_equal(MARKS_OF(0, 100, 200, 10200, 10300), 0); // 100 m/s
    assert_int_equal(MARKS_OF(0, 100, 200, 10201, 10301), 1u << 3);
    assert_int_equal(MARKS_OF(0, 30000, 0, 30000), 1u << 1 | 1u << 2 | 1u << 3);
}

static void a_fast_one_among_others_is_motion(void** state)
{
    (void)state;
    assert_int_equal(MARKS_OF(0, 200000, 400000, 600000), 0);
    assert_int_equal(MARKS_OF(0, 0, 200000, 400000, 400000), 0); // starts and stops at once
    assert_int_equal(MARKS_OF(0, 200000, 400000, 900000, 1100000, 1300000), 1u << 3);
    assert_int_equal(MARKS_OF(0, 200000, 400000, 799000, 999000, 1199000), 0); // half of it is
}

static void what_was_absent_has_no_step(void** state)
{
    (void)state;
    assert_int_equal(MARKS_OF(0, 100, -1, 90000, 90100), 0);
    assert_int_equal(MARKS_OF(0, 100, -1, 90000, 190000, -1), 1u << 4);
}

// Also of a recording without its extra columns.
static void a_file_may_say_what_is_a_jump(void** state)
{
    (void)state;
    static const char TEXT[] = "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,teleport,hat\n"
                               "0,1,0,0,0,0,,3\n1,1,10,0,0,0,1,3\n2,1,90000,0,0,0,0,3\n";
    for (int is_pose_only = 0; is_pose_only < 2; ++is_pose_only) {
        ph_fault fault;
        const ph_recording_def def = {.is_pose_only = is_pose_only != 0};
        ph_recording* recording = ph_recording_parse(TEXT, sizeof TEXT - 1, &def, &fault);
        assert_non_null(recording);
        assert_true(recording->has_marks);
        assert_int_equal(recording->column_count, 1 - is_pose_only);
        assert_false(recording->is_jump[0]);
        assert_true(recording->is_jump[1]);
        assert_false(recording->is_jump[2]);
        ph_recording_destroy(recording);
    }
}

static void a_mark_is_0_or_1(void** state)
{
    (void)state;
    static const char TEXT[] = "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,teleport\n"
                               "0,1,0,0,0,0,2\n";
    ph_fault fault;
    assert_null(ph_recording_parse(TEXT, sizeof TEXT - 1, &(ph_recording_def){0}, &fault));
    assert_string_equal(fault.message, "teleport: expected 0 or 1, found '2'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_stands_alone_is_a_jump),
        cmocka_unit_test(a_fast_one_among_others_is_motion),
        cmocka_unit_test(what_was_absent_has_no_step),
        cmocka_unit_test(a_file_may_say_what_is_a_jump),
        cmocka_unit_test(a_mark_is_0_or_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
