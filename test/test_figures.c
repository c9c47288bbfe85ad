// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Figures of several viewers together.

#include "kit/figures.h"

#include "support/test_memory.h"
#include "support/test_support.h"

#include <math.h>
#include <string.h>

static ph_figures make_figures(void)
{
    ph_figures figures;
    assert_int_equal(ph_figures_create(&figures, 10, NULL), PH_OK);
    return figures;
}

static void without_viewers_all_is_zero(void** state)
{
    (void)state;
    ph_figures figures = make_figures();
    const ph_figures_summary summary = ph_figures_summarise(&figures);
    const ph_figures_summary nothing = {0};
    assert_memory_equal(&summary, &nothing, sizeof summary);
    ph_figures_destroy(&figures);
}

static void fill(ph_figures* figures, int scale)
{
    const uint64_t times = (uint64_t)scale;
    ph_spread_add(&figures->error_mm, 100.0 * scale);
    ph_spread_add(&figures->error_mrad, 10.0 * scale);
    ph_spread_add(&figures->heading_deg, 1.0 * scale);
    ph_spread_add(&figures->stale_ms, 50.0 * scale);
    figures->shown_count = 10 * times;
    figures->ghost_count = times;
    figures->must_count = 4 * times;
    figures->missing_count = 3;
    figures->jolt_count = times;
    figures->join_ticks = 20 * times;
    figures->join_count = 1;
}

// Samples are pooled, so a viewer that shows more weighs more; only joining is a mean of viewers.
//   missing 3 + 3 of 4 + 12, ghosts 1 + 3 of 10 + 30, joining (2 s + 6 s) / 2,
//   4 jolts in two samples of a tenth of a second: 20 a second, 1,200 a minute
static void viewers_are_pooled(void** state)
{
    (void)state;
    ph_figures total = make_figures();
    ph_figures viewers[2] = {make_figures(), make_figures()};
    fill(&viewers[0], 1);
    fill(&viewers[1], 3);
    for (int i = 0; i < 2; ++i) {
        ph_figures_merge(&total, &viewers[i]);
        ph_figures_destroy(&viewers[i]);
    }
    const ph_figures_summary summary = ph_figures_summarise(&total);
    assert_true(summary.error_mm.mean == 200.0);
    assert_true(summary.error_mrad.mean == 20.0);
    assert_true(summary.heading_deg.mean == 2.0);
    assert_true(summary.stale_ms.mean == 100.0);
    assert_true(fabs(summary.missing_pct - 37.5) < 1e-9);
    assert_true(fabs(summary.ghost_pct - 10.0) < 1e-9);
    assert_true(fabs(summary.join_s - 4.0) < 1e-9);
    assert_true(fabs(summary.jolts_per_min - 1200.0) < 1e-9);
    ph_figures_destroy(&total);
}

static void every_figure_is_written_by_its_name(void** state)
{
    (void)state;
    const ph_figures_summary summary = {
        .error_mm = {1, 2, 3, 4},
        .error_mrad = {5, 6, 7, 8},
        .heading_deg = {9, 10, 11, 12},
        .stale_ms = {13, 14, 15, 16},
        .join_s = 17,
        .missing_pct = 18,
        .ghost_pct = 19,
        .jolts_per_min = 20,
    };
    FILE* file = tmpfile();
    assert_non_null(file);
    ph_json json = ph_json_make(file);
    ph_json_open(&json, NULL);
    ph_figures_write(&summary, &json);
    ph_json_close(&json);
    char text[1000] = {0};
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "\"error_mm\": {"));
    assert_non_null(strstr(text, "\"mean\": 5,"));
    assert_non_null(strstr(text, "\"p50\": 10,"));
    assert_non_null(strstr(text, "\"p95\": 15,"));
    assert_non_null(strstr(text, "\"p99\": 8}"));
    assert_non_null(strstr(text, "\"join_s\": 17,"));
    assert_non_null(strstr(text, "\"missing_pct\": 18,"));
    assert_non_null(strstr(text, "\"ghost_pct\": 19,"));
    assert_non_null(strstr(text, "\"jolts_per_min\": 20}"));
}

static void without_memory_there_are_no_figures(void** state)
{
    (void)state;
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_allocator allocator = test_memory_allocator(&memory);
        ph_figures figures;
        result = ph_figures_create(&figures, 10, &allocator);
        ph_figures_destroy(&figures);
        test_memory_assert_clean(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_viewers_all_is_zero),
        cmocka_unit_test(viewers_are_pooled),
        cmocka_unit_test(every_figure_is_written_by_its_name),
        cmocka_unit_test(without_memory_there_are_no_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
