// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Truncated absolute coordinates: the published example, the promise for every shift and width, and
// what happens at the edge of the window and of the world.

#include "pinhole/coordinate.h"

#include "support/test_support.h"

static uint32_t round_down(const ph_coordinate* coding, uint32_t full)
{
    return full - full % (uint32_t)(UINT64_C(1) << coding->shift);
}

// Steps from the viewer to the entity, both rounded down, the short way round the world.
static int64_t steps_between(const ph_coordinate* coding, uint32_t viewer, uint32_t entity)
{
    const int64_t world = INT64_C(1) << (32 - coding->shift);
    int64_t steps = (int64_t)(entity >> coding->shift) - (int64_t)(viewer >> coding->shift);
    steps = steps >= world / 2 ? steps - world : steps;
    return steps < -world / 2 ? steps + world : steps;
}

static uint32_t send(const ph_coordinate* coding, uint32_t viewer, uint32_t entity)
{
    return ph_coordinate_restore(coding, viewer, ph_coordinate_shorten(coding, entity));
}

// A legal coding, each about as often as any other.
static ph_coordinate random_coding(test_rng* rng)
{
    const int shift = (int)test_rng_below(rng, 32);
    return (ph_coordinate){shift, 1 + (int)test_rng_below(rng, (uint64_t)(32 - shift))};
}

static void published_example(void** state)
{
    (void)state;
    const ph_coordinate coding = ph_coordinate_default();
    const uint32_t viewer = 0x2C0000;
    const uint32_t entities[3] = {0x2E0000, 0x260000, 0x320000};
    const uint32_t shorts[3] = {0xE000, 0x6000, 0x2000};
    const uint32_t short_deltas[3] = {0x2000, 0xA000, 0x6000};
    const uint32_t full_deltas[3] = {0x00020000, 0xFFFA0000, 0x00060000};

    const uint32_t short_viewer = ph_coordinate_shorten(&coding, viewer);
    assert_int_equal(short_viewer, 0xC000);
    for (int i = 0; i < 3; ++i) {
        const uint32_t shortened = ph_coordinate_shorten(&coding, entities[i]);
        assert_int_equal(shortened, shorts[i]);
        assert_int_equal((shortened - short_viewer) & 0xFFFF, short_deltas[i]);
        const uint32_t restored = ph_coordinate_restore(&coding, viewer, shortened);
        assert_int_equal(restored - viewer, full_deltas[i]);
        assert_int_equal(restored, entities[i]);
    }
}

static void classic_is_16_mm_in_a_window_of_1048_m(void** state)
{
    (void)state;
    const ph_coordinate coding = ph_coordinate_default();
    assert_int_equal(coding.shift, 4);
    assert_int_equal(coding.width, 16);
    assert_int_equal(send(&coding, 5000000, 5000015), 5000000);
    assert_true(ph_coordinate_is_in_window(&coding, 5000000, 5000000 + 524287));
    assert_false(ph_coordinate_is_in_window(&coding, 5000000, 5000000 + 524288));
    assert_true(ph_coordinate_is_in_window(&coding, 5000000, 5000000 - 524288));
    assert_false(ph_coordinate_is_in_window(&coding, 5000000, 5000000 - 524289));
}

// For all shifts and widths: nearer than half the window, less the step that rounding may take, is
// right to within a step. The viewer is anywhere, so the wrap is crossed by itself.
static void nearer_than_half_the_window_is_restored_to_a_step(void** state)
{
    (void)state;
    test_rng rng = {.state = 5001};
    for (int round = 0; round < 200000; ++round) {
        const ph_coordinate coding = random_coding(&rng);
        const uint32_t step = UINT32_C(1) << coding.shift;
        const uint64_t half = (UINT64_C(1) << (coding.shift + coding.width)) / 2;
        const uint64_t reach = half > step ? half - step : 0;
        const uint32_t viewer = (uint32_t)test_rng_next(&rng);
        const uint32_t away = (uint32_t)test_rng_below(&rng, reach + 1);
        const uint32_t entity = round % 2 == 0 ? viewer + away : viewer - away;
        assert_true(entity - send(&coding, viewer, entity) < step);
    }
}

static void both_sides_of_the_wrap_are_neighbours(void** state)
{
    (void)state;
    const ph_coordinate coding = ph_coordinate_default();
    for (uint32_t viewer = UINT32_C(0) - 100; viewer != 100; ++viewer) {
        for (uint32_t entity = UINT32_C(0) - 4000; entity != 4000; entity += 40) {
            assert_int_equal(send(&coding, viewer, entity), round_down(&coding, entity));
        }
    }
    // The wrap of signed coordinates lies elsewhere.
    const uint32_t lowest = (uint32_t)INT32_MIN;
    assert_int_equal(send(&coding, (uint32_t)INT32_MAX, lowest + 32), lowest + 32);
}

static void entity_stands_still_while_the_viewer_moves(void** state)
{
    (void)state;
    test_rng rng = {.state = 5002};
    for (int round = 0; round < 300; ++round) {
        const ph_coordinate coding = round < 100 ? ph_coordinate_default() : random_coding(&rng);
        const uint32_t entity = (uint32_t)test_rng_next(&rng);
        uint32_t viewer = entity - (uint32_t)test_rng_below(&rng, 2000);
        for (int move = 0; move < 1000; ++move) {
            if (ph_coordinate_is_in_window(&coding, viewer, entity)) {
                assert_int_equal(send(&coding, viewer, entity), round_down(&coding, entity));
            }
            viewer += move < 500 ? 1 : (uint32_t)test_rng_below(&rng, 1000);
        }
    }
}

// By counting steps, not by the formula that the library uses.
static void outside_of_the_window_is_detected_exactly(void** state)
{
    (void)state;
    test_rng rng = {.state = 5003};
    for (int round = 0; round < 200000; ++round) {
        const ph_coordinate coding = random_coding(&rng);
        const uint32_t viewer = (uint32_t)test_rng_next(&rng);
        uint32_t entity = (uint32_t)test_rng_next(&rng);
        const uint64_t half = (UINT64_C(1) << (coding.shift + coding.width)) / 2;
        const int64_t half_steps = INT64_C(1) << (coding.width - 1);
        if (round % 4 != 0) {
            // At the edge: within two steps of it.
            const uint64_t span = UINT64_C(4) << coding.shift;
            const uint32_t around = (uint32_t)(test_rng_below(&rng, span) - span / 2);
            entity = viewer + around + (uint32_t)(round % 4 == 1 ? half : 0 - half);
        }
        const int64_t steps = steps_between(&coding, viewer, entity);
        const bool is_inside = steps >= -half_steps && steps < half_steps;
        assert_int_equal(ph_coordinate_is_in_window(&coding, viewer, entity), is_inside);
    }
}

static void widest_window_is_the_whole_world(void** state)
{
    (void)state;
    test_rng rng = {.state = 5004};
    for (int shift = 0; shift <= 31; ++shift) {
        const ph_coordinate coding = {shift, 32 - shift};
        for (int round = 0; round < 200; ++round) {
            const uint32_t viewer = (uint32_t)test_rng_next(&rng);
            const uint32_t entity = (uint32_t)test_rng_next(&rng);
            assert_true(ph_coordinate_is_in_window(&coding, viewer, entity));
            assert_int_equal(send(&coding, viewer, entity), round_down(&coding, entity));
        }
    }
}

static void shortened_fits_the_width(void** state)
{
    (void)state;
    for (int shift = 0; shift <= 31; ++shift) {
        for (int width = 1; width <= 32 - shift; ++width) {
            const ph_coordinate coding = {shift, width};
            const uint32_t greatest = (uint32_t)((UINT64_C(1) << width) - 1);
            assert_int_equal(ph_coordinate_shorten(&coding, UINT32_MAX), greatest);
        }
    }
}

static ph_result check(int shift, int width)
{
    const ph_coordinate coding = {shift, width};
    return ph_coordinate_check(&coding);
}

static void declarations_are_checked(void** state)
{
    (void)state;
    assert_int_equal(check(0, 1), PH_OK);
    assert_int_equal(check(0, 32), PH_OK);
    assert_int_equal(check(31, 1), PH_OK);
    assert_int_equal(check(-1, 16), PH_ERROR_WIDTH);
    assert_int_equal(check(32, 1), PH_ERROR_WIDTH);
    assert_int_equal(check(4, 0), PH_ERROR_WIDTH);
    assert_int_equal(check(0, 33), PH_ERROR_WIDTH);
    assert_int_equal(check(17, 16), PH_ERROR_WIDTH);
    assert_int_equal(check(INT32_MAX, INT32_MAX), PH_ERROR_WIDTH);
    assert_int_equal(check(INT32_MIN, INT32_MIN), PH_ERROR_WIDTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_example),
        cmocka_unit_test(classic_is_16_mm_in_a_window_of_1048_m),
        cmocka_unit_test(nearer_than_half_the_window_is_restored_to_a_step),
        cmocka_unit_test(both_sides_of_the_wrap_are_neighbours),
        cmocka_unit_test(entity_stands_still_while_the_viewer_moves),
        cmocka_unit_test(outside_of_the_window_is_detected_exactly),
        cmocka_unit_test(widest_window_is_the_whole_world),
        cmocka_unit_test(shortened_fits_the_width),
        cmocka_unit_test(declarations_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
