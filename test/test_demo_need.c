// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sweep beside the demo. Time is the test's, and none of it asks how long anything takes: where the thread has to
// get somewhere, the test asks until it is there.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "test_support.h"

#include "demo_need.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define STEP_US UINT64_C(100000)

typedef struct fixture {
    demo_stage* stage;
    demo_need* need;
    uint64_t now_us;
} fixture;

static fixture create(double run_seconds)
{
    ph_fault fault = {0};
    demo_stage_def def = demo_stage_def_default();
    def.source = "scene:wander";
    def.entities = 10;
    fixture f = {.now_us = 1000000};
    f.stage = demo_stage_create(&def, &fault);
    f.need = demo_need_create(run_seconds);
    assert_non_null(f.stage);
    assert_non_null(f.need);
    return f;
}

static void destroy(fixture* f)
{
    demo_need_destroy(f->need);
    demo_stage_destroy(f->stage);
}

static demo_need_question make(const fixture* f, double kbps)
{
    const demo_page_controls controls = {
        .kbps = kbps, .loss_percent = 5, .rtt_ms = 100, .jitter_ms = 20, .scheduler = ""};
    demo_need_question question;
    demo_need_question_make(&question, f->stage, &controls);
    return question;
}

static void nap(void)
{
    const struct timespec some = {.tv_nsec = 2000000};
    nanosleep(&some, NULL);
}

// Asks as a page does, until the answer is so far: done, or begun.
static ph_need await(fixture* f, const demo_need_question* question, bool is_done)
{
    uint64_t version = 0;
    ph_need found = {0};
    bool is_there = false;
    while (!is_there) {
        f->now_us += STEP_US;
        demo_need_ask(f->need, question, f->now_us);
        is_there = demo_need_answer(f->need, question, &version, &found) &&
                   (found.is_done || (!is_done && found.progress > 0.0));
        nap();
    }
    return found;
}

static void an_answer_comes_in_parts_and_is_kept(void** state)
{
    (void)state;
    fixture f = create(5.0);
    const demo_need_question question = make(&f, 8);
    uint64_t version = 0;
    ph_need found;
    assert_false(demo_need_answer(f.need, &question, &version, &found));
    demo_need_ask(f.need, &question, f.now_us);
    assert_true(demo_need_answer(f.need, &question, &version, &found)); // that nothing is known yet
    assert_true(!found.is_done && found.progress == 0.0 && isnan(found.error_mrad));
    assert_float_equal(found.kbps, 8.0, 0.0);
    found = await(&f, &question, true);
    assert_true(found.is_done);
    assert_float_equal(found.kbps, 8.0, 0.0);
    assert_true(isfinite(found.error_mrad));
    assert_true(found.ways[PH_WAY_CLASSIC].is_asked);
    assert_true(found.ways[PH_WAY_CLASSIC].point_count > 5);
    assert_false(found.ways[PH_WAY_SNAPSHOT].is_asked);
    version = 0;
    assert_true(demo_need_answer(f.need, &question, &version, &found));
    assert_true(found.is_done);
    assert_true(version > 3); // it came in parts
    assert_false(demo_need_answer(f.need, &question, &version, &found));
    destroy(&f);
}

static void what_is_not_asked_for_any_more_is_given_up_for_the_next(void** state)
{
    (void)state;
    fixture f = create(60.0);
    const demo_need_question first = make(&f, 8);
    const demo_need_question second = make(&f, 9);
    assert_string_not_equal(first.key, second.key);
    await(&f, &first, false);
    const ph_need found = await(&f, &second, false); // or it would wait for the first one's end
    assert_float_equal(found.kbps, 9.0, 0.0);
    uint64_t version = 0;
    ph_need rest;
    assert_true(demo_need_answer(f.need, &first, &version, &rest));
    assert_false(rest.is_done);
    destroy(&f);
}

static void a_demo_may_end_while_it_runs(void** state)
{
    (void)state;
    fixture f = create(5.0);
    const demo_need_question question = make(&f, 8);
    await(&f, &question, false);
    destroy(&f);
}

static void more_questions_than_are_kept_push_out_the_oldest(void** state)
{
    (void)state;
    fixture f = create(5.0);
    const demo_need_question first = make(&f, 8);
    await(&f, &first, true);
    for (int i = 0; i < 2 * DEMO_NEED_KEPT; ++i) {
        const demo_need_question other = make(&f, 20 + i);
        demo_need_ask(f.need, &other, ++f.now_us);
    }
    uint64_t version = 0;
    ph_need found;
    assert_false(demo_need_answer(f.need, &first, &version, &found));
    destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_in_parts_and_is_kept),
        cmocka_unit_test(what_is_not_asked_for_any_more_is_given_up_for_the_next),
        cmocka_unit_test(a_demo_may_end_while_it_runs),
        cmocka_unit_test(more_questions_than_are_kept_push_out_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
