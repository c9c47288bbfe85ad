// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a sender expects its client to show, and why an entity is told of when it is: through
// ph_viewer_explain(), with packets that arrive or get lost as the test wants.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/small_world.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <string.h>

// A tick, and a send after each.
#define TICK_US 100000

// Positions are rounded, and shown in the middle of their steps; velocities are rounded with them.
#define ROUNDING_MM 12.0
#define GUESSING_MM 50.0

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
    ph_entity_id id;
    int32_t x_mm;
} fixture;

static fixture shared; // too large for a stack

static void add_viewer(fixture* x, ph_scheduler scheduler)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 100000;
    def.scheduler = scheduler;
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
}

// An entity stands 8 m away, and the client has it.
static fixture* setup_with(ph_scheduler scheduler)
{
    fixture* x = &shared;
    small_world_setup(&x->f, 64);
    add_viewer(x, scheduler);
    x->x_mm = 8000;
    x->id = small_world_spawn_at(&x->f, 1, x->x_mm, 0);
    inbox_step(&x->box, TICK_US);
    inbox_ack_all(&x->box);
    return x;
}

static fixture* setup(void)
{
    return setup_with(ph_scheduler_error());
}

static void teardown(fixture* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

static void move(fixture* x, int32_t way_mm)
{
    x->x_mm += way_mm;
    assert_int_equal(ph_world_move(x->f.world, x->id, x->x_mm, 0, 0), PH_OK);
}

static ph_explanation why(const fixture* x)
{
    ph_explanation answer;
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, x->id, &answer), PH_OK);
    return answer;
}

// Walks for some ticks, each of which is told and acknowledged.
static void walk(fixture* x, int ticks, int32_t way_mm)
{
    for (int i = 0; i < ticks; ++i) {
        move(x, way_mm);
        inbox_step(&x->box, TICK_US);
        inbox_ack_all(&x->box);
    }
}

// Stands for a while, about which there is nothing to tell.
static void rest(fixture* x)
{
    for (int i = 0; i < 20; ++i) {
        inbox_step(&x->box, TICK_US);
    }
}

static void an_entity_that_keeps_its_velocity_is_shown_right(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 10, 200);
    move(x, 200);
    ph_world_tick(x->f.world);
    assert_true(why(x).error_mm < GUESSING_MM);
    teardown(x);
}

// 200 mm a tick, one tick and half a round trip (none here, so the least that is assumed).
static void an_entity_that_stops_is_shown_too_far(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 10, 200);
    move(x, 0);
    ph_world_tick(x->f.world);
    const ph_explanation answer = why(x);
    assert_true(answer.error_mm > 200.0 - GUESSING_MM);
    assert_true(fabs(answer.error_mrad - 1000.0 * answer.error_mm / answer.range_mm) < 1e-6);
    assert_true(answer.growth_mrad_s > 0.0);
    teardown(x);
}

// Its place has not changed since it was told, but the client would carry it on.
static void a_stop_is_sent_once(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 10, 200);
    inbox_step(&x->box, TICK_US);
    assert_int_equal(inbox_only(&x->box)->count, 1);
    inbox_ack_all(&x->box);
    for (int i = 0; i < 20; ++i) {
        inbox_step(&x->box, TICK_US);
        assert_int_equal(x->box.count, 0);
        assert_true(why(x).error_mm < ROUNDING_MM);
    }
    teardown(x);
}

// Until it is known to stand: what tells so may get lost.
static void a_stop_is_sent_again_after_a_loss(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 10, 200);
    inbox_step(&x->box, TICK_US);
    inbox_lose_all(&x->box);
    ph_world_tick(x->f.world);
    assert_true(why(x).error_mm > 200.0 - GUESSING_MM);
    inbox_step(&x->box, TICK_US);
    inbox_ack_all(&x->box);
    ph_world_tick(x->f.world);
    assert_true(why(x).error_mm < ROUNDING_MM);
    teardown(x);
}

static void an_entity_that_sets_out_is_shown_behind(void** state)
{
    (void)state;
    fixture* x = setup();
    move(x, 500);
    ph_world_tick(x->f.world);
    assert_true(why(x).error_mm > 500.0 - ROUNDING_MM);
    teardown(x);
}

// One move is told and lost: the client still shows the sample before.
static void a_lost_sample_is_expected_no_more(void** state)
{
    (void)state;
    fixture* x = setup();
    rest(x);
    move(x, 500);
    inbox_step(&x->box, TICK_US);
    ph_world_tick(x->f.world);
    const double told_mm = why(x).error_mm;
    inbox_lose_all(&x->box);
    const double lost_mm = why(x).error_mm;
    assert_true(lost_mm > 500.0 - ROUNDING_MM && lost_mm < 500.0 + ROUNDING_MM);
    assert_true(fabs(told_mm - lost_mm) > 100.0);
    teardown(x);
}

// The older of two is lost, the newer still in flight: the motion is that from the known sample, of
// two seconds ago, to the newer one. So it is shown too slow, but not where the known sample was.
static void a_loss_leaves_what_is_still_in_flight(void** state)
{
    (void)state;
    fixture* x = setup();
    rest(x);
    move(x, 300);
    inbox_step(&x->box, TICK_US);
    const uint32_t first = inbox_newest(&x->box);
    move(x, 300);
    inbox_step(&x->box, TICK_US);
    assert_int_equal(inbox_ack(&x->box, first, 2), PH_OK); // but for the enter before
    move(x, 300);
    ph_world_tick(x->f.world);
    const double error_mm = why(x).error_mm;
    assert_true(error_mm > 300.0 && error_mm < 600.0);
    teardown(x);
}

static void a_jump_ends_the_motion(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 5, 200);
    move(x, 60000);
    inbox_step(&x->box, TICK_US);
    inbox_ack_all(&x->box);
    ph_world_tick(x->f.world);
    assert_true(why(x).error_mm < ROUNDING_MM);
    teardown(x);
}

static void a_turn_is_an_error_until_it_is_told(void** state)
{
    (void)state;
    fixture* x = setup();
    const float degrees = 90.0f;
    assert_int_equal(
        ph_world_set_property(x->f.world, x->id, HEADING, PH_FIELD_F32, &degrees, sizeof degrees),
        PH_OK);
    ph_world_tick(x->f.world);
    assert_true(fabs(why(x).heading_rad - PH_TURN_RADIANS / 4.0) < 0.05);
    inbox_send(&x->box, TICK_US);
    assert_true(why(x).heading_rad == 0.0);
    inbox_lose_all(&x->box);
    assert_true(fabs(why(x).heading_rad - PH_TURN_RADIANS / 4.0) < 0.05);
    teardown(x);
}

// Where it came from is unknown until the next tick, not 2,147 km away.
static void an_entity_shown_to_more_is_where_it_was(void** state)
{
    (void)state;
    fixture* x = setup();
    assert_int_equal(ph_world_set_visibility(x->f.world, x->id, 1, false, false), PH_OK);
    for (int i = 0; i < 5; ++i) {
        inbox_step(&x->box, TICK_US);
    }
    const ph_explanation before = why(x);
    assert_int_equal(ph_world_set_visibility(x->f.world, x->id, 3, false, false), PH_OK);
    const ph_explanation after = why(x);
    assert_int_equal(after.state, PH_EXPLAIN_ENTERED);
    assert_true(after.error_mm == before.error_mm && after.growth_mrad_s == before.growth_mrad_s);
    teardown(x);
}

// ---- why

static void why_knows_what_was_told_and_when(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id newcomer = small_world_spawn_at(&x->f, 2, 20000, 0);
    const ph_entity_id hidden = small_world_spawn_at(&x->f, 3, 200000000, 0);
    ph_world_tick(x->f.world);
    ph_explanation answer;
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, newcomer, &answer), PH_OK);
    assert_int_equal(answer.state, PH_EXPLAIN_NEWCOMER);
    assert_true(answer.since_sent_ms == -1.0 && answer.priority > 0.0 &&
                answer.distance_mm == 20000.0);
    inbox_send(&x->box, TICK_US);
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, newcomer, &answer), PH_OK);
    assert_int_equal(answer.state, PH_EXPLAIN_ENTERING);
    assert_true(answer.since_sent_ms == 0.0);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, TICK_US);
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, newcomer, &answer), PH_OK);
    assert_int_equal(answer.state, PH_EXPLAIN_ENTERED);
    assert_true(answer.since_sent_ms == 100.0 && answer.priority == 0.0 && answer.dirty == 0);
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, hidden, &answer), PH_OK);
    assert_int_equal(answer.state, PH_EXPLAIN_UNSEEN);
    teardown(x);
}

static void why_refuses_what_is_gone(void** state)
{
    (void)state;
    fixture* x = setup();
    ph_explanation answer;
    assert_int_equal(ph_viewer_explain(x->f.world, (ph_viewer_id){0}, x->id, &answer),
                     PH_ERROR_STALE);
    assert_int_equal(ph_world_despawn(x->f.world, x->id), PH_OK);
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, x->id, &answer), PH_ERROR_STALE);
    assert_int_equal(answer.state, PH_EXPLAIN_UNSEEN);
    teardown(x);
}

// The hint, and the scheduler's own score, which asking leaves alone; nothing of errors.
static void why_answers_for_every_scheduler(void** state)
{
    (void)state;
    fixture* x = setup_with(ph_scheduler_score());
    assert_int_equal(ph_viewer_set_hint(x->f.world, x->viewer, x->id, 4.0), PH_OK);
    move(x, 500);
    ph_world_tick(x->f.world);
    const ph_explanation first = why(x);
    const ph_explanation second = why(x);
    assert_true(first.weight == 4.0 && first.mileage_mm == 500.0);
    assert_true(first.priority > 0.0 && first.priority == second.priority);
    assert_true(first.score == second.score);
    assert_true(first.range_mm == 0.0 && first.error_mm == 0.0);
    teardown(x);
}

static void the_larger_error_has_the_higher_priority(void** state)
{
    (void)state;
    fixture* x = setup();
    move(x, 100);
    ph_world_tick(x->f.world);
    const double small = why(x).priority;
    move(x, 900);
    ph_world_tick(x->f.world);
    assert_true(why(x).priority > small);
    teardown(x);
}

// ---- memory

static void expecting_allocates_nothing(void** state)
{
    (void)state;
    fixture* x = setup();
    walk(x, 5, 100);
    const int before = x->f.memory.allocate_count;
    for (int i = 0; i < 50; ++i) {
        move(x, 100 + i);
        inbox_step(&x->box, TICK_US);
        if (i % 3 == 0) {
            inbox_lose_all(&x->box);
        } else {
            inbox_ack_all(&x->box);
        }
    }
    assert_int_equal(x->f.memory.allocate_count, before);
    teardown(x);
}

static void a_viewer_that_finds_no_memory_leaves_nothing(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_viewer_def def = ph_viewer_def_default();
    def.visible_max = 600; // too many for the stack of a send
    def.scheduler = ph_scheduler_error();
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        ph_viewer_id viewer;
        f.memory.fail_at = f.memory.allocate_count + n;
        result = ph_world_add_viewer(f.world, &def, &viewer);
        assert_true(result == PH_OK || result == PH_ERROR_MEMORY);
    }
    small_world_teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_that_keeps_its_velocity_is_shown_right),
        cmocka_unit_test(an_entity_that_stops_is_shown_too_far),
        cmocka_unit_test(a_stop_is_sent_once),
        cmocka_unit_test(a_stop_is_sent_again_after_a_loss),
        cmocka_unit_test(an_entity_that_sets_out_is_shown_behind),
        cmocka_unit_test(a_lost_sample_is_expected_no_more),
        cmocka_unit_test(a_loss_leaves_what_is_still_in_flight),
        cmocka_unit_test(a_jump_ends_the_motion),
        cmocka_unit_test(a_turn_is_an_error_until_it_is_told),
        cmocka_unit_test(an_entity_shown_to_more_is_where_it_was),
        cmocka_unit_test(why_knows_what_was_told_and_when),
        cmocka_unit_test(why_refuses_what_is_gone),
        cmocka_unit_test(why_answers_for_every_scheduler),
        cmocka_unit_test(the_larger_error_has_the_higher_priority),
        cmocka_unit_test(expecting_allocates_nothing),
        cmocka_unit_test(a_viewer_that_finds_no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
