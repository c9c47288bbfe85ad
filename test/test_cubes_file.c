// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings of cubes: every number comes as it is in the file; what is no such recording is refused with its place.
// What is packed by xz is in test/check_cli.py.

#include "kit/cubes_file.h"

#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 2, NUMBERS = 8 };

static const int32_t PLAIN[NUMBERS] = {3, 255, 255, 255, 0, 0, 102, 0};

typedef struct fixture {
    uint8_t* bytes;
    size_t size;
} fixture;

static void put(fixture* f, int frame, int cube, const int32_t numbers[NUMBERS])
{
    uint8_t* at = f->bytes + ((size_t)frame * PH_CUBES + (size_t)cube) * PH_CUBES_RECORD_BYTES;
    for (int i = 0; i < NUMBERS; ++i) {
        const uint32_t bits = (uint32_t)numbers[i];
        for (int b = 0; b < 4; ++b) {
            at[4 * i + b] = (uint8_t)(bits >> 8 * b);
        }
    }
}

static fixture make_frames(void)
{
    fixture f = {.size = FRAMES * PH_CUBES_FRAME_BYTES};
    f.bytes = malloc(f.size);
    assert_non_null(f.bytes);
    for (int i = 0; i < FRAMES * PH_CUBES; ++i) {
        put(&f, i / PH_CUBES, i % PH_CUBES, PLAIN);
    }
    return f;
}

static void assert_refused(const fixture* f, size_t size, const char* expected)
{
    ph_cubes_file file;
    ph_fault fault = {0};
    assert_false(ph_cubes_file_parse(f->bytes, size, &file, &fault));
    assert_null(file.cubes);
    assert_non_null(strstr(fault.message, expected));
}

static void has_every_number_of_a_record(void** state)
{
    (void)state;
    fixture f = make_frames();
    put(&f, 1, 900, (const int32_t[]){1, 100, 300, 400, -16383, 16383, 8191, 1});
    ph_cubes_file file;
    ph_fault fault = {0};
    assert_true(ph_cubes_file_parse(f.bytes, f.size, &file, &fault));
    assert_int_equal(file.frame_count, FRAMES);
    const ph_cube* last = &file.cubes[FRAMES * PH_CUBES - 1];
    assert_int_equal(last->largest, 1);
    assert_int_equal(last->is_interacting, 1);
    const int16_t rest[3] = {100, 300, 400};
    const int16_t place[3] = {-16383, 16383, 8191};
    assert_memory_equal(last->rest, rest, sizeof rest);
    assert_memory_equal(last->place, place, sizeof place);
    ph_cubes_file_unload(&file);
    free(f.bytes);
}

static void refuses_what_is_no_whole_number_of_frames(void** state)
{
    (void)state;
    const fixture f = make_frames();
    assert_refused(&f, 0, "0 whole frames");
    assert_refused(&f, f.size - 1,
                   "1 whole frames of 28832 bytes and 28831 bytes more: it is cut off");
    free(f.bytes);
}

static void refuses_each_number_that_is_out_of_range(void** state)
{
    (void)state;
    static const struct {
        int number;
        int32_t value;
        const char* expected;
    } CASES[] = {
        {0, 4, "frame 1, cube 17: largest is 4; it must be 0..3"},
        {1, 512, "a is 512; it must be 0..511"},
        {2, -1, "b is -1"},
        {3, INT32_MIN, "c is -2147483648"},
        {4, 16384, "x is 16384; it must be -16383..16383"},
        {5, -16384, "y is -16384"},
        {6, -1, "z is -1; it must be 0..8191"},
        {7, 2, "interacting is 2; it must be 0..1"},
    };
    fixture f = make_frames();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        int32_t numbers[NUMBERS];
        memcpy(numbers, PLAIN, sizeof numbers);
        numbers[CASES[i].number] = CASES[i].value;
        put(&f, 1, 17, numbers);
        assert_refused(&f, f.size, CASES[i].expected);
    }
    free(f.bytes);
}

// Three components as large as they can be leave nothing for one that is larger.
static void refuses_what_is_no_rotation(void** state)
{
    (void)state;
    fixture f = make_frames();
    put(&f, 0, 3, (const int32_t[]){2, 511, 0, 511, 0, 0, 102, 0});
    assert_refused(&f, f.size, "frame 0, cube 3: a, b and c are 511, 0, 511: no rotation");
    free(f.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_number_of_a_record),
        cmocka_unit_test(refuses_what_is_no_whole_number_of_frames),
        cmocka_unit_test(refuses_each_number_that_is_out_of_range),
        cmocka_unit_test(refuses_what_is_no_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
