// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sims that die, freeze and are cut off, records that are away, messages that are lost and late, by many seeds on a
// virtual clock: at every tick no entity has two owners, and some seconds later everything is as the script says.
//
// Built a second time with PH_BUS_UNFENCED, as test_bus_chaos_unfenced: then it must find something wrong.

#include "support/bus_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum fault { KILL, FREEZE, CUT, RECORDS, FAULT_COUNT } fault;

static const char* const FAULT_NAMES[FAULT_COUNT] = {"kill", "freeze", "cut", "records"};

static int any_sim(bus_stage* stage)
{
    for (;;) {
        const int sim = (int)test_rng_below(&stage->rng, STAGE_SIMS);
        if (stage->sims[sim].sim != NULL) {
            return sim;
        }
    }
}

static void do_fault(bus_stage* stage, fault what, int sim)
{
    const int ms = 50 * (int)test_rng_below(&stage->rng, 60);
    switch (what) {
    case KILL:
        bus_stage_kill(stage, sim);
        bus_stage_run(stage, 2000 + ms);
        bus_stage_start(stage, sim);
        break;
    case FREEZE:
        bus_stage_freeze(stage, sim);
        bus_stage_run(stage, ms > 1500 ? 3000 : ms);
        bus_stage_thaw(stage, sim);
        break;
    case CUT:
        memory_bus_cut(stage->bus, stage->sims[sim].endpoint);
        bus_stage_run(stage, ms);
        memory_bus_join(stage->bus, stage->sims[sim].endpoint);
        break;
    default:
        memory_bus_set_records_available(stage->bus, false);
        bus_stage_run(stage, ms);
        memory_bus_set_records_available(stage->bus, true);
        break;
    }
}

// @return Whether something was wrong; told on standard error.
static bool run_seed(uint64_t seed)
{
    const bool is_lossy = seed % 2 == 1;
    const bus_stage_def def = {
        .seed = seed,
        .layout = (int)(seed / 2 % 3),
        .is_lossy = is_lossy,
        .bus = {.delay_max_us = seed % 5 * 12500,
                .loss = is_lossy ? 0.02 : 0,
                .answer_max_us = 10000,
                .stale_us = 50000,
                .timeout_us = 1000000,
                .notice_max_us = seed % 3 * 1500000},
    };
    bus_stage stage;
    char faults[128] = "";
    bus_stage_setup(&stage, &def);
    bus_stage_run_until_covered(&stage);
    stage.is_talking = true;
    for (int i = 0; i < 3 && stage.wrong[0] == '\0'; ++i) {
        bus_stage_run(&stage, 500 + 50 * (int)test_rng_below(&stage.rng, 20));
        bus_stage_run_until_covered(&stage);
        const fault what = (fault)test_rng_below(&stage.rng, FAULT_COUNT);
        snprintf(faults + strlen(faults), sizeof faults - strlen(faults), " %s", FAULT_NAMES[what]);
        do_fault(&stage, what, any_sim(&stage));
        bus_stage_settle(&stage);
    }
    const bool is_wrong = stage.wrong[0] != '\0';
    if (is_wrong) {
        fprintf(stderr, "seed %d (layout %d,%s): %s\n", (int)seed, def.layout, faults, stage.wrong);
    }
    bus_stage_teardown(&stage);
    return is_wrong;
}

// PH_TEST_ROUNDS seeds from PH_TEST_SEED on; 40 from 1. @return How many went wrong.
static int run_seeds(int usual_count)
{
    const char* rounds = getenv("PH_TEST_ROUNDS");
    const char* first = getenv("PH_TEST_SEED");
    const int count = rounds != NULL ? atoi(rounds) : usual_count;
    const int from = first != NULL ? atoi(first) : 1;
    int wrong_count = 0;
    for (int seed = from; seed < from + count; ++seed) {
        wrong_count += run_seed((uint64_t)seed);
    }
    print_message("%d of %d seeds went wrong\n", wrong_count, count);
    return wrong_count;
}

#if defined(PH_BUS_UNFENCED)
static void without_fencing_something_goes_wrong(void** state)
{
    (void)state;
    assert_true(run_seeds(24) > 0);
}
#else
static void whatever_dies_there_is_one_owner_and_nothing_is_lost(void** state)
{
    (void)state;
    assert_int_equal(run_seeds(40), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(PH_BUS_UNFENCED)
        cmocka_unit_test(without_fencing_something_goes_wrong),
#else
        cmocka_unit_test(whatever_dies_there_is_one_owner_and_nothing_is_lost),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
