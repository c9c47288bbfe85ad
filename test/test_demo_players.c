// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The demo's players: real sockets on loopback, on a clock of the test that goes as fast as it is asked to.

#include "test_support.h"

#include "demo_players.h"
#include "demo_summary.h"

#include <math.h>
#include <string.h>

enum { SLICE_US = 1000 };

typedef struct fixture {
    uint64_t real_us;
    demo_stage* stage;
    demo_players* players;
} fixture;

static uint64_t real_of(void* context)
{
    return ((const fixture*)context)->real_us;
}

static void set_up(fixture* f, double loss)
{
    ph_fault fault = {0};
    f->real_us = 55000000;
    demo_stage_def stage = demo_stage_def_default();
    stage.entities = 40;
    stage.real_us = real_of;
    stage.real_context = f;
    f->stage = demo_stage_create(&stage, &fault);
    assert_non_null(f->stage);
    const demo_players_def def = {
        .stage = f->stage,
        .count = 2,
        .kbps = 13.0,
        .loss = loss,
        .rtt_ms = 100.0,
        .jitter_ms = 20.0,
        .seed = 1,
    };
    f->players = demo_players_create(&def, &fault);
    if (f->players == NULL) {
        fail_msg("%s", fault.message);
    }
}

static void tear_down(fixture* f)
{
    assert_int_equal(demo_players_over_budget(f->players), 0);
    assert_int_equal(demo_players_refused(f->players), 0);
    demo_players_destroy(f->players);
    demo_stage_destroy(f->stage);
}

static void go_on(fixture* f, double seconds)
{
    ph_fault fault = {0};
    for (int i = 0; i < (int)(seconds * 1e6 / SLICE_US); ++i) {
        f->real_us += SLICE_US;
        demo_players_serve(f->players);
        if (demo_stage_is_due(f->stage)) {
            assert_true(demo_stage_put(f->stage, &fault));
            assert_true(demo_players_attend(f->players, &fault));
            demo_stage_tick(f->stage);
            demo_players_send(f->players);
        }
    }
}

static demo_figures total(const fixture* f, ph_way way)
{
    return demo_players_total(f->players, way);
}

// ---- what they show

static double simulated_mrad(const demo_scene* scene, ph_way way, double seconds)
{
    ph_fault fault = {0};
    ph_sim_result result;
    ph_sim_def def = scene->defs[way];
    def.viewers = 2;
    def.seconds = seconds;
    def.skips_standstill = true;
    ph_pool* pool = ph_pool_create(1);
    assert_true(
        ph_sim_run(&def, scene->material.recording, scene->material.schema, pool, &result, &fault));
    ph_pool_destroy(pool);
    return result.figures.error_mrad.mean;
}

// Not the same bytes: the envelope of a secure connection is not that of the simulator, and connecting
// takes a while. But the same world, network and budget.
static void they_show_about_what_the_simulator_shows(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.01);
    go_on(&f, 20.0);
    assert_int_equal(demo_players_connected(f.players), 4);
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const demo_figures figures = total(&f, (ph_way)way);
        const double simulated = simulated_mrad(f.stage->scene, (ph_way)way, 20.0);
        assert_true(figures.error_mrad > 0.9 * simulated && figures.error_mrad < 1.15 * simulated);
        assert_true(figures.wire_kbps > 1.0 && figures.wire_kbps * figures.seconds <= 13.0 * 21.0);
        assert_true(figures.rtt_ms > 100.0 && figures.rtt_ms < 145.0);
        assert_true(figures.lost_pct > 0.0 && figures.lost_pct < 6.0);
        assert_true(figures.shown > 20);
    }
    assert_true(total(&f, PH_WAY_PINHOLE).error_mrad < total(&f, PH_WAY_CLASSIC).error_mrad);
    tear_down(&f);
}

static void recent_figures_are_of_whole_seconds(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.01);
    assert_true(demo_players_recent(f.players, PH_WAY_PINHOLE).seconds == 0.0);
    go_on(&f, 3.5);
    const demo_figures early = demo_players_recent(f.players, PH_WAY_PINHOLE);
    assert_true(early.seconds == 2.0 || early.seconds == 3.0);
    go_on(&f, 6.0);
    const demo_figures later = demo_players_recent(f.players, PH_WAY_PINHOLE);
    assert_true(later.seconds == 5.0);
    assert_true(later.error_mrad > 0.0 && later.wire_kbps > 0.0);
    tear_down(&f);
}

// ---- controls

static void a_pause_of_minutes_is_nothing_to_them(void** state)
{
    (void)state;
    fixture one;
    fixture other;
    set_up(&one, 0.01);
    set_up(&other, 0.01);
    go_on(&one, 3.0);
    go_on(&other, 3.0);
    demo_stage_set_paused(one.stage, true);
    go_on(&one, 120.0);
    demo_stage_set_paused(one.stage, false);
    go_on(&one, 5.0);
    go_on(&other, 5.0);
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const demo_figures paused = total(&one, (ph_way)way);
        const demo_figures whole = total(&other, (ph_way)way);
        assert_true(paused.error_mm == whole.error_mm);
        assert_true(paused.wire_kbps == whole.wire_kbps);
    }
    assert_int_equal(demo_players_connected(one.players), 4);
    tear_down(&one);
    tear_down(&other);
}

static void the_budget_can_be_changed(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.01);
    go_on(&f, 8.0);
    const double before = demo_players_recent(f.players, PH_WAY_CLASSIC).wire_kbps;
    demo_players_set_kbps(f.players, 2.0);
    go_on(&f, 10.0);
    const double after = demo_players_recent(f.players, PH_WAY_CLASSIC).wire_kbps;
    assert_true(before > 3.5);
    assert_true(after > 1.0 && after < 2.5);
    tear_down(&f);
}

static void the_loss_can_be_changed(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.0);
    go_on(&f, 6.0);
    assert_true(total(&f, PH_WAY_PINHOLE).lost_pct == 0.0);
    demo_players_set_loss(f.players, 0.5);
    go_on(&f, 10.0);
    const double lost_pct = demo_players_recent(f.players, PH_WAY_PINHOLE).lost_pct;
    assert_true(lost_pct > 25.0 && lost_pct < 75.0);
    tear_down(&f);
}

// Nothing arrives for longer than a connection waits: it ends, and is made again.
static void a_lost_connection_comes_back(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.0);
    go_on(&f, 2.0);
    assert_int_equal(demo_players_connected(f.players), 4);
    demo_players_set_loss(f.players, 1.0);
    go_on(&f, 15.0);
    assert_int_equal(demo_players_connected(f.players), 0);
    assert_int_equal(demo_players_screen(f.players, PH_WAY_PINHOLE, 0)->shown_count, 0);
    demo_players_set_loss(f.players, 0.0);
    go_on(&f, 15.0);
    assert_int_equal(demo_players_connected(f.players), 4);
    assert_true(demo_players_screen(f.players, PH_WAY_PINHOLE, 0)->shown_count > 10);
    assert_true(total(&f, PH_WAY_PINHOLE).missing_pct > 10.0);
    go_on(&f, 6.0);
    assert_true(demo_players_recent(f.players, PH_WAY_PINHOLE).missing_pct == 0.0);
    tear_down(&f);
}

static void another_scene_has_other_players(void** state)
{
    (void)state;
    fixture f;
    ph_fault fault = {0};
    set_up(&f, 0.01);
    go_on(&f, 4.0);
    assert_true(demo_stage_change(f.stage, "scene:race", 0, &fault));
    go_on(&f, 0.2);
    assert_true(total(&f, PH_WAY_PINHOLE).seconds == 0.0); // they connect anew
    go_on(&f, 4.0);
    assert_int_equal(demo_players_connected(f.players), 4);
    assert_int_equal(demo_players_entity(f.players, 0), f.stage->scene->observers[0]);
    assert_ptr_equal(demo_players_screen(f.players, PH_WAY_PINHOLE, 0)->stage,
                     f.stage->scene->ways[PH_WAY_PINHOLE]);
    assert_true(total(&f, PH_WAY_PINHOLE).error_mm > 0.0);
    tear_down(&f);
}

// ---- in words

static void the_sentence_says_what_was_measured(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0.01);
    char text[DEMO_SENTENCE_MAX];
    demo_figures figures[DEMO_PLAYER_WAYS] = {{0}};
    demo_summary_sentence(f.players, figures, false, text);
    assert_string_equal(text, "The players connect ...");
    figures[PH_WAY_CLASSIC] = (demo_figures){.seconds = 1.0, .error_mrad = 3.8, .shown = 72};
    figures[PH_WAY_PINHOLE] = (demo_figures){.seconds = 1.0, .error_mrad = 1.0, .shown = 72};
    demo_summary_sentence(f.players, figures, false, text);
    assert_string_equal(text,
                        "At 13 kbit/s Pinhole shows the same 72 players 3.8 times more precisely.");
    figures[PH_WAY_PINHOLE].error_mrad = 3.7;
    figures[PH_WAY_CLASSIC].missing_pct = 20.0;
    demo_summary_sentence(f.players, figures, false, text);
    assert_string_equal(text, "At 13 kbit/s Pinhole shows the same 72 players as precisely as "
                              "classic, and misses 0 % instead of 20 %.");
    figures[PH_WAY_PINHOLE].error_mrad = 7.6;
    demo_summary_sentence(f.players, figures, true, text);
    assert_string_equal(text, "Same 13 kbit/s: Pinhole shows it 2.0 times less precisely.");
    tear_down(&f);
}

static void a_broken_promise_is_told_and_returned(void** state)
{
    (void)state;
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_true(demo_summary_judge(0, 0, file));
    assert_false(demo_summary_judge(1, 0, file));
    assert_false(demo_summary_judge(0, 2, file));
    char text[400] = {0};
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    assert_non_null(strstr(text, "No datagram was over the budget, none was refused."));
    assert_non_null(strstr(text, "0 datagrams were over the budget, 2 were refused."));
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_show_about_what_the_simulator_shows),
        cmocka_unit_test(recent_figures_are_of_whole_seconds),
        cmocka_unit_test(a_pause_of_minutes_is_nothing_to_them),
        cmocka_unit_test(the_budget_can_be_changed),
        cmocka_unit_test(the_loss_can_be_changed),
        cmocka_unit_test(a_lost_connection_comes_back),
        cmocka_unit_test(another_scene_has_other_players),
        cmocka_unit_test(the_sentence_says_what_was_measured),
        cmocka_unit_test(a_broken_promise_is_told_and_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
