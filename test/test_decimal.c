// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Real numbers as text: shortest, without loss, whatever the locale.

#include "schema/scanner.h"

#include "support/test_support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void prints_the_shortest_form(void** state)
{
    (void)state;
    static const struct {
        double value;
        const char* text;
    } rows[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-3, "-3"},
        {0.1, "0.1"},
        {1.0 / 3.0, "0.3333333333333333"},
        {(double)0.1f, "0.10000000149011612"},
        {123.456, "123.456"},
        {0.00001, "0.00001"},
        {0.000001, "1e-6"},
        {1.5e-7, "1.5e-7"},
        {9007199254740992.0, "9007199254740992"},
        {-9007199254740993.0, "-9007199254740992"},
        {1e20, "100000000000000000000"},
        {1e21, "1e21"},
        {123456789012345678901.0, "123456789012345680000"},
        {DBL_MAX, "1.7976931348623157e308"},
        {-DBL_MAX, "-1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
        {-1.2345678901234567e-5, "-0.000012345678901234568"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_string_equal(ph_decimal_print(rows[i].value).text, rows[i].text);
    }
}

static void reads_as_far_as_the_number_goes(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        size_t used;
        double value;
    } rows[] = {
        {"0", 1, 0},           {"0..3", 1, 0},     {"1.5..2", 3, 1.5}, {"-12.25", 6, -12.25},
        {"1e3", 3, 1000},      {"1E+3x", 4, 1000}, {"25e-1", 5, 2.5},  {"1e", 1, 1},
        {"1e+", 1, 1},         {"007", 3, 7},      {"1.", 1, 1},       {"2.e5", 1, 2},
        {"0e99999999", 10, 0}, {"1e-99999", 8, 0}, {"12,5", 2, 12},    {"0.000", 5, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        double value = -1;
        assert_int_equal(ph_decimal_read(rows[i].text, strlen(rows[i].text), &value), rows[i].used);
        assert_true(value == rows[i].value);
    }
}

static void refuses_what_is_no_number(void** state)
{
    (void)state;
    static const char* const rows[] = {
        "",
        "-",
        ".5",
        "+1",
        "e5",
        "nan",
        "inf",
        "0x",
        "1e400",
        "-1e999999999999",
        "--1",
        "1234567890123456789012345678901234567890123456789012345678901", // 61 digits
        "0.123456789012345678901234567890123456789012345678901234567890",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        double value = 42;
        const size_t used = ph_decimal_read(rows[i], strlen(rows[i]), &value);
        assert_int_equal(used, strcmp(rows[i], "0x") == 0 ? 1 : 0);
    }
}

static void stops_at_the_given_length(void** state)
{
    (void)state;
    double value = 0;
    assert_int_equal(ph_decimal_read("12345", 2, &value), 2);
    assert_true(value == 12);
    assert_int_equal(ph_decimal_read("1.5", 2, &value), 1);
    assert_int_equal(ph_decimal_read("1e5", 2, &value), 1);
    assert_int_equal(ph_decimal_read("-5", 1, &value), 0);
}

static void every_double_comes_back(void** state)
{
    (void)state;
    test_rng rng = {.state = 77};
    for (int i = 0; i < 20000; ++i) {
        const uint64_t bits = test_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        const ph_decimal text = ph_decimal_print(value);
        double back = 0;
        assert_int_equal(ph_decimal_read(text.text, strlen(text.text), &back), strlen(text.text));
        assert_true(back == value);
    }
}

// A locale with a decimal comma, where the system has one; the digits must not care.
static void no_locale_changes_a_number(void** state)
{
    (void)state;
    const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (setlocale(LC_ALL, names[i]) == NULL) {
            continue;
        }
        assert_string_equal(ph_decimal_print(-1234.5).text, "-1234.5");
        double value = 0;
        assert_int_equal(ph_decimal_read("0.25", 4, &value), 4);
        assert_true(value == 0.25);
    }
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_the_shortest_form),
        cmocka_unit_test(reads_as_far_as_the_number_goes),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(stops_at_the_given_length),
        cmocka_unit_test(every_double_comes_back),
        cmocka_unit_test(no_locale_changes_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
