// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bar says how far it is and how long it takes; without a terminal it says nothing.

#include "support/test_support.h"

#include "kit/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void assert_line(double share, double now_s, const char* expected)
{
    char line[PH_PROGRESS_LINE_MAX];
    const size_t length = ph_progress_format(line, sizeof line, "sim", share, now_s);
    assert_string_equal(line, expected);
    assert_int_equal(length, strlen(expected));
}

static void the_line_has_a_bar_a_share_and_the_time_left(void** state)
{
    (void)state;
    assert_line(0.5, 12.0, "sim  [############------------]  50 %  12 s left");
    assert_line(0.25, 61.7, "sim  [######------------------]  25 %  3 min 05 s left");
    assert_line(0.1, 845.0, "sim  [##----------------------]  10 %  2 h 06 min left");
    assert_line(1.0, 30.0, "sim  [########################] 100 %  0 s left");
}

static void no_time_is_guessed_too_early(void** state)
{
    (void)state;
    assert_line(0.0, 5.0, "sim  [------------------------]   0 %");
    assert_line(0.004, 5.0, "sim  [------------------------]   0 %");
    assert_line(0.5, 0.7, "sim  [############------------]  50 %");
}

static void odd_shares_and_long_labels_keep_the_line_in_shape(void** state)
{
    (void)state;
    assert_line(-1.0, 5.0, "sim  [------------------------]   0 %");
    assert_line((double)NAN, 5.0, "sim  [------------------------]   0 %");
    assert_line(7.0, 5.0, "sim  [########################] 100 %  0 s left");
    assert_line(0.5, 1e300, "sim  [############------------]  50 %");
    char label[1000];
    memset(label, 'x', sizeof label);
    label[sizeof label - 1] = '\0';
    char line[PH_PROGRESS_LINE_MAX];
    const size_t length = ph_progress_format(line, sizeof line, label, 0.01, 20000.0);
    assert_true(length < sizeof line && strlen(line) == length);
}

static long written_bytes(FILE* file)
{
    fflush(file);
    return ftell(file);
}

static void nothing_is_written_when_it_is_not_wanted(void** state)
{
    (void)state;
    FILE* file = tmpfile();
    ph_progress progress = ph_progress_make("sim", false);
    ph_progress_show(&progress, file, 5.0, 10.0, 10.0);
    ph_progress_end(&progress, file);
    assert_int_equal(written_bytes(file), 0);
    fclose(file);
}

static void it_writes_ten_times_a_second_at_most_and_cleans_up(void** state)
{
    (void)state;
    FILE* file = tmpfile();
    ph_progress progress = ph_progress_make("sim", true);
    ph_progress_show(&progress, file, 1.0, 100.0, 0.4);
    ph_progress_end(&progress, file);
    assert_int_equal(written_bytes(file), 0);
    for (int i = 0; i < 10000; ++i) {
        ph_progress_show(&progress, file, i, 10000.0, i * 0.0001 + 1.0);
    }
    ph_progress_end(&progress, file);
    const long size = written_bytes(file);
    char text[4096] = {0};
    rewind(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), size);
    int lines = 0;
    for (long i = 0; i < size; ++i) {
        lines += text[i] == '\r';
    }
    assert_in_range(lines, 10, 12);
    assert_string_equal(text + size - 4, "\r\x1b[K");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_has_a_bar_a_share_and_the_time_left),
        cmocka_unit_test(no_time_is_guessed_too_early),
        cmocka_unit_test(odd_shares_and_long_labels_keep_the_line_in_shape),
        cmocka_unit_test(nothing_is_written_when_it_is_not_wanted),
        cmocka_unit_test(it_writes_ten_times_a_second_at_most_and_cleans_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
