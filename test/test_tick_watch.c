// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a world is ticked as often as it says, in simulated time; and what a host says of it.

#include "support/host_stage.h"

#include "net/host_state.h"
#include "net/tick_watch.h"

#include <string.h>

typedef struct run {
    ph_tick_watch watch;
    uint64_t now_us;
    uint32_t tick;
    int told;
    uint64_t mean_us; // the newest that was told
} run;

static const run fresh = {.now_us = 77000000, .tick = 4294967290u}; // the count wraps on the way

// Ticks for so many ms, every so many us, in a world that says tick_us.
static void tick_for(run* r, int duration_ms, uint64_t every_us, uint32_t tick_us)
{
    for (uint64_t left_us = (uint64_t)duration_ms * 1000; left_us >= every_us;
         left_us -= every_us) {
        r->now_us += every_us;
        ++r->tick;
        const uint64_t mean_us = ph_tick_watch_note(&r->watch, r->now_us, r->tick, tick_us);
        r->told += mean_us > 0;
        r->mean_us = mean_us > 0 ? mean_us : r->mean_us;
    }
}

static void right_rate_is_no_fault(void** state)
{
    (void)state;
    static const uint64_t every_us[] = {100000, 119000, 81000};
    for (int i = 0; i < 3; ++i) {
        run r = fresh;
        tick_for(&r, 30000, every_us[i], 100000);
        assert_int_equal(r.told, 0);
    }
}

static void wrong_rate_is_told_once(void** state)
{
    (void)state;
    static const uint64_t every_us[] = {125000, 75000, 50000, 300000};
    for (int i = 0; i < 4; ++i) {
        run r = fresh;
        tick_for(&r, 4500, every_us[i], 100000);
        assert_int_equal(r.told, 0); // too early to say
        tick_for(&r, 30000, every_us[i], 100000);
        assert_int_equal(r.told, 1);
        assert_int_equal(r.mean_us, every_us[i]);
    }
}

// However it begins: only the mean of a whole stretch counts.
static void few_late_ticks_are_no_fault(void** state)
{
    (void)state;
    run r = fresh;
    for (int i = 0; i < 10; ++i) {
        tick_for(&r, 4500, 100000, 100000);
        tick_for(&r, 800, 400000, 100000);
    }
    assert_int_equal(r.told, 0);
}

static void program_that_stood_still_is_no_fault(void** state)
{
    (void)state;
    run r = fresh;
    for (int i = 0; i < 10; ++i) {
        tick_for(&r, 4000, 100000, 100000);
        r.now_us += 20000000;
    }
    assert_int_equal(r.told, 0);
    tick_for(&r, 11000, 50000, 100000); // but this is
    assert_int_equal(r.told, 1);
}

// A loop that counts its time by ticks makes up for those that it has missed, all at once.
static void catching_up_after_a_stall_is_no_fault(void** state)
{
    (void)state;
    for (int stall_ms = 500; stall_ms <= 20000; stall_ms += 500) {
        run r = fresh;
        tick_for(&r, 7000, 100000, 100000);
        r.now_us += (uint64_t)stall_ms * 1000;
        tick_for(&r, stall_ms / 100, 1000, 100000); // as many as were missed, 1 ms each
        tick_for(&r, 30000, 100000, 100000);
        assert_int_equal(r.told, 0);
    }
}

// A host may tick while its game waits for players.
static void world_that_stands_still_is_no_fault(void** state)
{
    (void)state;
    run r = fresh;
    for (int i = 0; i < 300; ++i) {
        r.now_us += 100000;
        assert_int_equal(ph_tick_watch_note(&r.watch, r.now_us, r.tick, 100000), 0);
    }
}

static void slow_worlds_are_watched_for_longer(void** state)
{
    (void)state;
    run r = fresh;
    tick_for(&r, 190000, 10000000, 10000000);
    assert_int_equal(r.told, 0);
    tick_for(&r, 500000, 5000000, 10000000);
    assert_int_equal(r.told, 1);
}

// The host asks it at each tick, and tells its on_error.
static void host_tells_of_a_wrong_rate(void** state)
{
    (void)state;
    host_stage s;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    host_stage_tick(&s);
    assert_int_equal(s.error_count, 0);
    // As if 100 ticks had taken ten seconds, where they say 10 ms each.
    s.host->tick_watch.start_us = ph_socket_now_us() - 10000000;
    s.host->tick_watch.start_tick = ph_world_tick_count(s.world) - 100;
    s.host->tick_watch.last_us = ph_socket_now_us();
    s.host->tick_watch.off = 1; // nor was the stretch before better
    ph_host_tick(s.host);
    assert_int_equal(s.error_count, 1);
    assert_string_equal(s.error.field, "ph_world_def.tick_us");
    assert_memory_equal(s.error.text,
                        "ph_world_def.tick_us is 10,000, but the world is ticked every ", 62);
    assert_non_null(strstr(s.error.text, " us: clients show its entities where they are not; "));
    host_stage_close(&s);
}

static void host_takes_the_length_of_the_world(void** state)
{
    (void)state;
    host_stage s;
    host_stage_open(&s, NULL, PH_PROFILE_PINHOLE, NULL);
    ph_error error = {0};
    ph_host_def def = ph_host_def_default();
    ph_host* host = NULL;
    def.world = s.world;
    def.private_key[0] = 1;
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    assert_int_equal(ph_host_open(&def, &host), PH_OK);
    assert_int_equal(host->def.tick_us, STAGE_TICK_US);
    ph_host_close(host);
    def.tick_us = 20000;
    assert_int_equal(ph_host_open(&def, &host), PH_ERROR_ARGUMENT);
    assert_null(host);
    assert_string_equal(error.text,
                        "ph_host_def.tick_us is 20,000, but that of its world is 10,000; "
                        "it must be the same, or 0");
    def.world = NULL;
    assert_int_equal(ph_host_open(&def, &host), PH_ERROR_ARGUMENT);
    assert_string_equal(error.text, "ph_host_def.world is NULL; it must be a world");
    host_stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_rate_is_no_fault),
        cmocka_unit_test(wrong_rate_is_told_once),
        cmocka_unit_test(few_late_ticks_are_no_fault),
        cmocka_unit_test(program_that_stood_still_is_no_fault),
        cmocka_unit_test(catching_up_after_a_stall_is_no_fault),
        cmocka_unit_test(world_that_stands_still_is_no_fault),
        cmocka_unit_test(slow_worlds_are_watched_for_longer),
        cmocka_unit_test(host_tells_of_a_wrong_rate),
        cmocka_unit_test(host_takes_the_length_of_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
