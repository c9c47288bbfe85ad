// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The judge of pinhole soak can fail: it notices a millionth of a bit too much, a value that never was, and an
// entity that is hidden. And a scenario can be written, read and shortened.

#include "test_support.h"

#include "soak/soak_stage.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 11, TAMPER_STEP = 20 };

static soak_stage* stage_of(const soak_scenario* scenario, soak_result* result)
{
    soak_stage* stage = malloc(sizeof *stage);
    assert_non_null(stage);
    *result = (soak_result){0};
    assert_true(soak_stage_open(stage, scenario, false, result));
    return stage;
}

static void end(soak_stage* stage)
{
    soak_stage_close(stage);
    free(stage);
}

// ---- the budget

static bool is_over(uint64_t waited_us)
{
    const soak_scenario scenario = {.seed = SEED};
    soak_result result;
    soak_stage* stage = stage_of(&scenario, &result);
    soak_player* player = &stage->players[0];
    soak_meter_begin(&player->meter, 1000, 1000, stage->now_us);
    soak_meter_pass(stage, player, 125);
    assert_false(result.is_violated);
    stage->now_us += waited_us;
    soak_meter_pass(stage, player, 1);
    const bool is_violated = result.is_violated && result.promise == SOAK_PROMISE_BUDGET;
    end(stage);
    return is_violated;
}

static void a_thousandth_of_a_bit_is_over_budget(void** state)
{
    (void)state;
    assert_false(is_over(8000));
    assert_true(is_over(7999));
}

// ---- values and visibility

typedef void tamper_fn(soak_entity* entity);

static void leave_alone(soak_entity* entity)
{
    (void)entity;
}

static void change_past(soak_entity* entity)
{
    for (int p = 0; p < SOAK_PROPERTIES_MAX; ++p) {
        if (entity->past_count[p] > 0) {
            entity->past[p][(entity->past_count[p] - 1) % SOAK_HISTORY].hash ^= 2;
        }
    }
}

static void hide(soak_entity* entity)
{
    if (entity->life_count > 0) {
        entity->life[(entity->life_count - 1) % SOAK_HISTORY].is_never = true;
    }
}

// What the judge finds when the model is told something else than the world.
static soak_promise found_with(tamper_fn* tamper)
{
    soak_scenario scenario;
    soak_result result;
    assert_true(soak_scenario_make(&scenario, SEED));
    soak_stage* stage = stage_of(&scenario, &result);
    const soak_event* event = scenario.events;
    for (int step = 0; step < 60 && !result.is_violated; ++step) {
        const soak_event* first = event;
        while (event < scenario.events + scenario.event_count && event->step <= step) {
            ++event;
        }
        soak_stage_step(stage, first, event);
        for (int i = 0; step >= TAMPER_STEP && i < SOAK_ENTITIES_MAX; ++i) {
            tamper(&stage->entities[i]);
        }
    }
    const soak_promise found = (soak_promise)result.promise;
    end(stage);
    soak_scenario_free(&scenario);
    return found;
}

static void a_value_that_never_was_is_noticed(void** state)
{
    (void)state;
    assert_int_equal(found_with(leave_alone), SOAK_PROMISE_NONE);
    assert_int_equal(found_with(change_past), SOAK_PROMISE_PHANTOM);
}

static void an_entity_that_is_hidden_is_noticed(void** state)
{
    (void)state;
    assert_int_equal(found_with(hide), SOAK_PROMISE_LEAK);
}

// ---- scenarios

static void the_same_seed_gives_the_same_payloads(void** state)
{
    (void)state;
    soak_result results[3];
    for (int i = 0; i < 3; ++i) {
        soak_scenario scenario;
        assert_true(soak_scenario_make(&scenario, i < 2 ? SEED : SEED + 1));
        soak_run(&scenario, &results[i]);
        assert_false(results[i].is_violated);
        soak_scenario_free(&scenario);
    }
    assert_true(results[0].judged_packets > 100);
    assert_true(results[0].digest == results[1].digest);
    assert_true(results[0].digest != results[2].digest);
}

static void a_scenario_is_read_as_it_was_written(void** state)
{
    (void)state;
    soak_scenario written;
    soak_scenario read;
    int line = 0;
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_true(soak_scenario_make(&written, SEED));
    soak_scenario_write(&written, file);
    rewind(file);
    assert_true(soak_scenario_read(&read, file, &line));
    assert_true(read.seed == written.seed);
    assert_int_equal(read.step_count, written.step_count);
    assert_int_equal(read.event_count, written.event_count);
    for (int i = 0; i < read.event_count; ++i) {
        assert_int_equal(read.events[i].step, written.events[i].step);
        assert_int_equal(read.events[i].kind, written.events[i].kind);
        assert_int_equal(read.events[i].target, written.events[i].target);
        assert_true(read.events[i].draw == written.events[i].draw);
    }
    fclose(file);
    soak_scenario_free(&written);
    soak_scenario_free(&read);
}

typedef struct needed {
    uint64_t draws[3];
} needed;

static bool has_all(void* context, const soak_scenario* scenario)
{
    const needed* wanted = context;
    int count = 0;
    for (int i = 0; i < scenario->event_count; ++i) {
        for (int n = 0; n < 3; ++n) {
            count += scenario->events[i].draw == wanted->draws[n];
        }
    }
    return count == 3;
}

static void only_what_is_needed_stays(void** state)
{
    (void)state;
    soak_scenario scenario;
    assert_true(soak_scenario_make(&scenario, SEED));
    const int count = scenario.event_count;
    needed wanted = {{scenario.events[0].draw, scenario.events[count / 3].draw,
                      scenario.events[count - 1].draw}};
    const int tries = soak_shrink(&scenario, has_all, &wanted, 2000);
    assert_int_equal(scenario.event_count, 3);
    assert_true(has_all(&wanted, &scenario));
    assert_in_range(tries, 3, 300);
    soak_scenario_free(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousandth_of_a_bit_is_over_budget),
        cmocka_unit_test(a_value_that_never_was_is_noticed),
        cmocka_unit_test(an_entity_that_is_hidden_is_noticed),
        cmocka_unit_test(the_same_seed_gives_the_same_payloads),
        cmocka_unit_test(a_scenario_is_read_as_it_was_written),
        cmocka_unit_test(only_what_is_needed_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
