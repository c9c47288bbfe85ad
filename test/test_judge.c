// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The judge has the figures that a meter has which is given the same by hand, and takes no frame that is none.

#include "kit/judge.h"

#include "support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT = 40,
    TICKS = 45,
    RATE = 10,
    FRAME_MAX = 17 + 18 * COUNT,
    VIEWER = 7,
    LATE_FIRST = 11
};

// Ids with gaps: entity i of the truth has this one.
static uint32_t id_of(int i)
{
    return (uint32_t)(1000 + 3 * i);
}

typedef struct moment {
    bool present[COUNT];
    int32_t place_mm[3][COUNT];
    float heading_deg[COUNT];
} moment;

// The first entities are there later than the others, so that numbers by appearance would be other numbers.
static void make_moment(moment* now, int tick)
{
    for (int i = 0; i < COUNT; ++i) {
        now->present[i] = i >= LATE_FIRST || tick > 5;
        now->place_mm[0][i] = 2000 * (i % 8) + 130 * tick;
        now->place_mm[1][i] = -9000 * (i / 8) - 70 * tick * (i % 3);
        now->place_mm[2][i] = 10 * tick;
        now->heading_deg[i] = (float)((36 * i + tick) % 360) + 0.25f;
    }
}

static ph_pose make_pose(const moment* now, int i, int tick)
{
    ph_pose pose = {.has_heading = true};
    for (int axis = 0; axis < 3; ++axis) {
        pose.position_mm[axis] = now->place_mm[axis][i] + 3.25 * ((i + tick + axis) % 50);
    }
    pose.heading_deg = now->heading_deg[i] + (double)(tick % 9);
    return pose;
}

static bool is_shown(int i, int tick)
{
    return (i + tick) % 11 != 0;
}

static uint8_t* put(uint8_t* at, uint64_t value, int size)
{
    for (int i = 0; i < size; ++i) {
        *at++ = (uint8_t)(value >> (8 * i));
    }
    return at;
}

static size_t write_frame(const moment* now, int tick, uint8_t* bytes)
{
    uint32_t count = 0;
    for (int i = 0; i < COUNT; ++i) {
        count += now->present[i];
    }
    uint8_t* at = put(bytes, 2, 1);
    at = put(at, (uint64_t)tick * 100000, 8);
    at = put(at, (uint64_t)tick, 4);
    at = put(at, count, 4);
    for (int i = 0; i < COUNT; ++i) {
        if (now->present[i]) {
            at = put(at, id_of(i), 4);
            for (int axis = 0; axis < 3; ++axis) {
                at = put(at, (uint32_t)now->place_mm[axis][i], 4);
            }
            at = put(at, (uint64_t)lrintf(now->heading_deg[i] * 100.0f), 2);
        }
    }
    return (size_t)(at - bytes);
}

static ph_judge* make_judge(void)
{
    uint32_t ids[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        ids[i] = id_of(i);
    }
    const ph_judge_def def = {
        .rate_hz = RATE,
        .viewer = id_of(VIEWER + LATE_FIRST),
        .radius_mm = 30000,
        .slots = 20,
        .way_count = 2,
        .ids = ids,
        .id_count = COUNT,
        .capacity = COUNT + 5,
    };
    ph_judge* judge = ph_judge_create(&def);
    assert_non_null(judge);
    return judge;
}

static void play_judge(ph_judge* judge)
{
    moment now;
    uint8_t bytes[FRAME_MAX];
    for (int tick = 0; tick < TICKS; ++tick) {
        make_moment(&now, tick);
        assert_true(ph_judge_take_truth(judge, bytes, write_frame(&now, tick, bytes)));
        for (int i = 0; i < COUNT; ++i) {
            const ph_pose pose = make_pose(&now, i, tick);
            if (is_shown(i, tick)) {
                ph_judge_show(judge, id_of(i), &pose);
            }
        }
        ph_judge_show(judge, 5, &(ph_pose){0}); // the truth has never told of it
        ph_judge_show(judge, (UINT64_C(1) << 32) + 1000, &(ph_pose){0}); // nor of this
        ph_judge_measure(judge, 1);
        ph_judge_measure(judge, 1); // counts nothing twice
        if (tick == TICKS / 2) {
            ph_judge_clear(judge, 1);
        }
    }
}

static void show_by_hand(ph_meter* meter, const moment* now, int tick)
{
    ph_shown shown[COUNT];
    int count = 0;
    for (int i = 0; i < COUNT; ++i) {
        if (!is_shown(i, tick) || i == VIEWER + LATE_FIRST) {
            continue;
        }
        const ph_pose pose = make_pose(now, i, tick);
        shown[count] =
            (ph_shown){.entity = i, .has_heading = true, .heading_deg = pose.heading_deg};
        memcpy(shown[count++].position_mm, pose.position_mm, sizeof pose.position_mm);
    }
    ph_meter_frame(meter, shown, count);
}

static void play_by_hand(ph_figures_summary* whole, ph_figures_summary* half)
{
    ph_truth_history* history;
    ph_meter* meter;
    ph_meter* half_meter;
    assert_int_equal(ph_truth_history_create(
                         &(ph_truth_history_def){.entity_count = COUNT, .rate_hz = RATE}, &history),
                     PH_OK);
    const ph_meter_def def = {
        .history = history, .viewer = VIEWER + LATE_FIRST, .radius_mm = 30000, .slots = 20};
    assert_int_equal(ph_meter_create(&def, &meter), PH_OK);
    assert_int_equal(ph_meter_create(&def, &half_meter), PH_OK);
    moment now[2];
    for (int tick = 0; tick < TICKS; ++tick) {
        moment* m = &now[tick % 2];
        make_moment(m, tick);
        const ph_truth_moment truth = {.present = m->present,
                                       .x_mm = m->place_mm[0],
                                       .y_mm = m->place_mm[1],
                                       .z_mm = m->place_mm[2],
                                       .heading_deg = m->heading_deg};
        ph_truth_history_step(history, &truth);
        show_by_hand(meter, m, tick);
        show_by_hand(half_meter, m, tick);
        if (tick == TICKS / 2) {
            ph_meter_clear(half_meter);
        }
    }
    *whole = ph_figures_summarise(ph_meter_figures(meter));
    *half = ph_figures_summarise(ph_meter_figures(half_meter));
    ph_meter_destroy(half_meter);
    ph_meter_destroy(meter);
    ph_truth_history_destroy(history);
}

static void has_the_figures_of_a_meter_to_the_last_bit(void** state)
{
    (void)state;
    ph_judge* judge = make_judge();
    play_judge(judge);
    ph_figures_summary whole;
    ph_figures_summary half;
    play_by_hand(&whole, &half);
    const ph_figures_summary found = ph_judge_whole(judge, 1);
    const ph_figures_summary found_half = ph_judge_second(judge, 1);
    assert_memory_equal(&found, &whole, sizeof found);
    assert_memory_equal(&found_half, &half, sizeof found_half);
    assert_true(whole.error_mm.p95 > 0.0 && whole.heading_deg.mean > 0.0 &&
                whole.missing_pct > 0.0 && half.error_mm.mean != whole.error_mm.mean);
    const ph_figures_summary other = ph_judge_whole(judge, 0);
    assert_true(other.error_mm.mean == 0.0);
    ph_judge_destroy(judge);
}

static void takes_no_frame_that_is_none(void** state)
{
    (void)state;
    ph_judge* judge = make_judge();
    moment now;
    uint8_t bytes[FRAME_MAX + 1];
    make_moment(&now, 9);
    const size_t size = write_frame(&now, 9, bytes);
    assert_false(ph_judge_take_truth(judge, bytes, size - 1));
    assert_false(ph_judge_take_truth(judge, bytes, size + 1));
    assert_false(ph_judge_take_truth(judge, bytes, 5));
    bytes[0] = 3;
    assert_false(ph_judge_take_truth(judge, bytes, size));
    bytes[0] = 2;
    put(bytes + 17 + 18, id_of(0), 4); // the same id twice
    assert_false(ph_judge_take_truth(judge, bytes, size));
    write_frame(&now, 9, bytes);
    put(bytes + 17 + 16, 36000, 2);
    assert_false(ph_judge_take_truth(judge, bytes, size));
    put(bytes + 17 + 16, 65535, 2); // none: fine
    assert_true(ph_judge_take_truth(judge, bytes, size));
    ph_judge_show(judge, id_of(0), &(ph_pose){.has_heading = true});
    ph_judge_measure(judge, 0);
    assert_true(ph_judge_whole(judge, 0).heading_deg.mean == 0.0); // is not counted
    ph_judge_destroy(judge);
}

static void refuses_what_no_feed_has(void** state)
{
    (void)state;
    const ph_judge_def fine = {
        .rate_hz = 10, .radius_mm = 1, .slots = 1, .way_count = 1, .capacity = 1};
    ph_judge* judge = ph_judge_create(&fine);
    assert_non_null(judge);
    ph_judge_destroy(judge);
    ph_judge_def wrong[6] = {fine, fine, fine, fine, fine, fine};
    wrong[0].rate_hz = NAN;
    wrong[1].radius_mm = 0;
    wrong[2].slots = 0;
    wrong[3].way_count = 9;
    wrong[4].capacity = 0;
    wrong[5].id_count = 1;
    for (int i = 0; i < 6; ++i) {
        assert_null(ph_judge_create(&wrong[i]));
    }
    ph_judge_destroy(NULL);
}

// More entities than there is room for: the first ones are counted, the others are not.
static void counts_as_many_as_it_has_room_for(void** state)
{
    (void)state;
    const ph_judge_def def = {.rate_hz = RATE,
                              .viewer = id_of(0),
                              .radius_mm = 1000000,
                              .slots = 60,
                              .way_count = 1,
                              .capacity = 3};
    ph_judge* judge = ph_judge_create(&def);
    moment now;
    uint8_t bytes[FRAME_MAX];
    make_moment(&now, 20);
    assert_true(ph_judge_take_truth(judge, bytes, write_frame(&now, 20, bytes)));
    for (int i = 0; i < COUNT; ++i) {
        const ph_pose pose = {.position_mm = {now.place_mm[0][i] + 1000.0 * i, now.place_mm[1][i],
                                              now.place_mm[2][i]}};
        ph_judge_show(judge, id_of(i), &pose);
    }
    ph_judge_measure(judge, 0);
    assert_true(ph_judge_whole(judge, 0).error_mm.mean == 1500.0); // of entities 1 and 2
    assert_int_equal(ph_judge_second_samples(judge, 0), 2);
    ph_judge_clear(judge, 0);
    assert_int_equal(ph_judge_second_samples(judge, 0), 0);
    ph_judge_destroy(judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_figures_of_a_meter_to_the_last_bit),
        cmocka_unit_test(takes_no_frame_that_is_none),
        cmocka_unit_test(refuses_what_no_feed_has),
        cmocka_unit_test(counts_as_many_as_it_has_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
