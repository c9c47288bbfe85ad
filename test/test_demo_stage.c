// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the demo plays, on a clock of the test: ticks at their time, pause, single steps, a change of the
// scene, the loop, and that viewers of its worlds see what those of the simulator see.

#include "test_support.h"

#include "demo_stage.h"

#include "kit/observers.h"
#include "kit/sim_session.h"

#include <string.h>

typedef struct fixture {
    uint64_t real_us;
    demo_stage* stage;
} fixture;

static uint64_t real_of(void* context)
{
    return ((const fixture*)context)->real_us;
}

static void set_up(fixture* f, const char* source, int entities)
{
    ph_fault fault = {0};
    f->real_us = 77000000;
    demo_stage_def def = demo_stage_def_default();
    def.source = source;
    def.entities = entities;
    def.seed = 7;
    def.real_us = real_of;
    def.real_context = f;
    f->stage = demo_stage_create(&def, &fault);
    if (f->stage == NULL) {
        fail_msg("%s", fault.message);
    }
}

static void tear_down(fixture* f)
{
    demo_stage_destroy(f->stage);
}

static void play_tick(fixture* f)
{
    ph_fault fault = {0};
    assert_true(demo_stage_is_due(f->stage));
    assert_true(demo_stage_put(f->stage, &fault));
    demo_stage_tick(f->stage);
}

// Real time goes on; all ticks that become due are played. @return How many.
static int go_on(fixture* f, uint64_t duration_us)
{
    int ticks = 0;
    const uint64_t end_us = f->real_us + duration_us;
    for (;; ++ticks) {
        const uint64_t wait_us = demo_stage_wait_us(f->stage, demo_stage_due_us(f->stage));
        if (wait_us > end_us - f->real_us) {
            f->real_us = end_us;
            return ticks;
        }
        f->real_us += wait_us;
        play_tick(f);
    }
}

// ---- the clock

static void ticks_come_at_their_time(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    const uint64_t start_us = demo_stage_now_us(f.stage);
    assert_int_equal(go_on(&f, 1000000), 11); // the first one at once; 10 a second
    assert_int_equal(demo_stage_tick_us(f.stage), start_us + 1000000);
    assert_int_equal(demo_stage_now_us(f.stage), start_us + 1000000);
    f.real_us += 30000;
    assert_int_equal(demo_stage_now_us(f.stage), start_us + 1030000);
    assert_int_equal(demo_stage_wait_us(f.stage, start_us + 1100000), 70000);
    tear_down(&f);
}

static void the_clock_waits_for_a_tick_that_is_due(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    play_tick(&f);
    const uint64_t due_us = demo_stage_due_us(f.stage);
    f.real_us += 130000; // 30 ms late
    assert_int_equal(demo_stage_now_us(f.stage), due_us);
    play_tick(&f);
    assert_int_equal(demo_stage_tick_us(f.stage), due_us);
    assert_int_equal(demo_stage_now_us(f.stage), due_us + 30000); // and catches up
    assert_int_equal(f.stage->lost_us, 0);
    f.real_us += 5000000; // stood still for seconds: no hurry afterwards
    play_tick(&f);
    assert_int_equal(demo_stage_now_us(f.stage), due_us + 100000);
    assert_false(demo_stage_is_due(f.stage));
    assert_int_equal(f.stage->lost_us, 4930000);
    tear_down(&f);
}

static void nothing_happens_while_it_is_paused(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 250000);
    const uint64_t now_us = demo_stage_now_us(f.stage);
    demo_stage_set_paused(f.stage, true);
    assert_int_equal(go_on(&f, 60000000), 0);
    assert_int_equal(demo_stage_now_us(f.stage), now_us);
    assert_true(demo_stage_wait_us(f.stage, demo_stage_due_us(f.stage)) == UINT64_MAX);
    demo_stage_set_paused(f.stage, false);
    assert_int_equal(demo_stage_now_us(f.stage), now_us);
    assert_int_equal(go_on(&f, 250000), 3);
    assert_int_equal(demo_stage_now_us(f.stage), now_us + 250000);
    tear_down(&f);
}

static void a_step_is_one_tick(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 250000);
    demo_stage_step(f.stage); // not paused: nothing to step
    assert_int_equal(go_on(&f, 200000), 2);
    demo_stage_set_paused(f.stage, true);
    for (int i = 0; i < 3; ++i) {
        const uint64_t due_us = demo_stage_due_us(f.stage);
        demo_stage_step(f.stage);
        assert_int_equal(go_on(&f, 1000000), 1);
        assert_int_equal(demo_stage_tick_us(f.stage), due_us);
        assert_int_equal(demo_stage_now_us(f.stage), due_us);
        assert_int_equal(go_on(&f, 1000000), 0);
    }
    tear_down(&f);
}

// ---- another scene

static void a_change_begins_anew_and_the_clock_goes_on(void** state)
{
    (void)state;
    ph_fault fault = {0};
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 1050000);
    const demo_scene* old = f.stage->scene;
    const uint64_t now_us = demo_stage_now_us(f.stage);
    assert_true(demo_stage_change(f.stage, "scene:wander", 30, &fault));
    assert_ptr_equal(f.stage->leaving, old); // its viewers can still be removed
    assert_int_equal(ph_world_entity_count(old->ways[PH_WAY_PINHOLE]->world), 20);
    assert_int_equal(f.stage->scene->number, old->number + 1);
    assert_int_equal(demo_stage_now_us(f.stage), now_us);
    play_tick(&f);
    assert_null(f.stage->leaving);
    assert_int_equal(demo_stage_tick_us(f.stage), now_us);
    assert_int_equal(f.stage->scene->material.recording->entity_count, 30);
    assert_true(demo_stage_change(f.stage, NULL, 40, &fault));
    assert_true(demo_stage_change(f.stage, "scene:race", -1, &fault)); // twice before a tick
    play_tick(&f);
    assert_string_equal(f.stage->scene->source, "scene:race");
    assert_int_equal(f.stage->scene->material.recording->entity_count, 40);
    assert_int_equal(f.stage->scene->number, 4);
    tear_down(&f);
}

static void what_cannot_be_opened_leaves_the_old_one(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 300000);
    const demo_scene* old = f.stage->scene;
    const char* const sources[] = {"scene:nowhere", "no/such/file.csv", "scene:still"};
    for (int i = 0; i < 3; ++i) {
        ph_fault fault = {0};
        assert_false(demo_stage_change(f.stage, sources[i], 0, &fault));
        assert_non_null(strstr(fault.message, sources[i]));
        assert_ptr_equal(f.stage->scene, old);
        assert_null(f.stage->leaving);
    }
    assert_int_equal(go_on(&f, 300000), 3);
    tear_down(&f);
}

static void a_paused_demo_shows_the_first_tick_of_another_scene(void** state)
{
    (void)state;
    ph_fault fault = {0};
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 300000);
    demo_stage_set_paused(f.stage, true);
    assert_true(demo_stage_change(f.stage, "scene:crowd", 20, &fault));
    assert_int_equal(go_on(&f, 1000000), 1);
    tear_down(&f);
}

// ---- the truth

static void all_worlds_have_the_same_truth(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 20);
    go_on(&f, 3000000);
    const demo_scene* scene = f.stage->scene;
    for (int way = 1; way < PH_WAY_COUNT; ++way) {
        const ph_source* one = scene->ways[0]->source;
        const ph_source* other = scene->ways[way]->source;
        assert_int_equal(ph_world_tick_count(scene->ways[way]->world), 31);
        assert_int_equal(scene->defs[way].seed, 7);
        assert_memory_equal(one->x_mm, other->x_mm, 20 * sizeof *one->x_mm);
        assert_memory_equal(one->y_mm, other->y_mm, 20 * sizeof *one->y_mm);
    }
    for (int e = 0; e < 20; ++e) {
        assert_in_range(scene->ways[0]->source->x_mm[e] - scene->bounds_mm[0], 0,
                        scene->bounds_mm[2] - scene->bounds_mm[0]);
    }
    tear_down(&f);
}

static void after_the_last_tick_comes_the_first(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "test/recordings/lap.csv", 0);
    const ph_sim_stage* way = f.stage->scene->ways[PH_WAY_PINHOLE];
    const int ticks = way->recording->tick_count;
    int32_t first_mm[2] = {0}; // the third is not there yet
    for (int tick = 0; tick <= 2 * ticks; ++tick) {
        f.real_us += demo_stage_wait_us(f.stage, demo_stage_due_us(f.stage));
        play_tick(&f);
        assert_int_equal(way->source->tick, tick % ticks);
        assert_int_equal(way->history->tick, tick);
        if (tick == 0) {
            memcpy(first_mm, way->source->x_mm, sizeof first_mm);
        }
    }
    assert_memory_equal(first_mm, way->source->x_mm, sizeof first_mm);
    tear_down(&f);
}

// ---- as in the simulator

// In the town many go indoors, some for minutes.
static void the_steadiest_observer_is_there_the_most(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 80);
    const demo_scene* scene = f.stage->scene;
    const ph_recording* recording = scene->material.recording;
    int first_row;
    int fewer = 0;
    const int most = ph_recording_rows(recording, scene->steadiest, &first_row);
    for (int i = 0; i < scene->observer_count; ++i) {
        const int rows = ph_recording_rows(recording, scene->observers[i], &first_row);
        assert_true(rows <= most);
        fewer += rows < most ? 1 : 0;
    }
    assert_true(fewer > 0);
    tear_down(&f);
}

enum { SECONDS = 12 };

static void simulate(const demo_scene* scene, ph_way way, ph_sim_result* result)
{
    ph_fault fault = {0};
    ph_sim_def def = scene->defs[way];
    def.viewers = 2;
    def.seconds = SECONDS;
    def.skips_standstill = true;
    ph_pool* pool = ph_pool_create(1);
    assert_true(
        ph_sim_run(&def, scene->material.recording, scene->material.schema, pool, result, &fault));
    ph_pool_destroy(pool);
}

// Sessions of the simulator on the demo's worlds measure what they measure on its own.
static void viewers_see_what_those_of_the_simulator_see(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "scene:town", 30);
    const demo_scene* scene = f.stage->scene;
    ph_sim_session* sessions[PH_WAY_COUNT][2];
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        for (int i = 0; i < 2; ++i) {
            sessions[way][i] = ph_sim_session_create(scene->ways[way], scene->observers[i], true);
            assert_non_null(sessions[way][i]);
        }
    }
    for (int tick = 0; tick < SECONDS * 10; ++tick) {
        ph_fault fault = {0};
        f.real_us += demo_stage_wait_us(f.stage, demo_stage_due_us(f.stage));
        assert_true(demo_stage_put(f.stage, &fault));
        for (int i = 0; i < 2 * PH_WAY_COUNT; ++i) {
            assert_true(ph_sim_session_attend(sessions[i / 2][i % 2], &fault));
        }
        demo_stage_tick(f.stage);
        for (int i = 0; i < 2 * PH_WAY_COUNT; ++i) {
            ph_sim_session_step(sessions[i / 2][i % 2]);
        }
    }
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_result result;
        simulate(scene, (ph_way)way, &result);
        ph_figures total;
        assert_int_equal(ph_figures_create(&total, 10.0, NULL), PH_OK);
        uint64_t wire_bytes = 0;
        for (int i = 0; i < 2; ++i) {
            ph_sim_session_finish(sessions[way][i]);
            ph_figures_merge(&total, ph_sim_session_figures(sessions[way][i]));
            wire_bytes += ph_sim_session_traffic(sessions[way][i])->wire_bytes;
            ph_sim_session_destroy(sessions[way][i]);
        }
        const ph_figures_summary figures = ph_figures_summarise(&total);
        assert_memory_equal(&figures, &result.figures, sizeof figures);
        assert_true(figures.error_mm.mean > 0.0);
        assert_int_equal(wire_bytes, result.traffic.wire_bytes);
        ph_figures_destroy(&total);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_come_at_their_time),
        cmocka_unit_test(the_clock_waits_for_a_tick_that_is_due),
        cmocka_unit_test(nothing_happens_while_it_is_paused),
        cmocka_unit_test(a_step_is_one_tick),
        cmocka_unit_test(a_change_begins_anew_and_the_clock_goes_on),
        cmocka_unit_test(what_cannot_be_opened_leaves_the_old_one),
        cmocka_unit_test(a_paused_demo_shows_the_first_tick_of_another_scene),
        cmocka_unit_test(all_worlds_have_the_same_truth),
        cmocka_unit_test(after_the_last_tick_comes_the_first),
        cmocka_unit_test(the_steadiest_observer_is_there_the_most),
        cmocka_unit_test(viewers_see_what_those_of_the_simulator_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
