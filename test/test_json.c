// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// JSON to the last byte.

#include "kit/json.h"

#include "support/test_support.h"

#include <math.h>
#include <string.h>

static void assert_written(FILE* file, const char* expected)
{
    char text[1000] = {0};
    rewind(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    assert_true(size < sizeof text - 1);
    assert_string_equal(text, expected);
    fclose(file);
}

static FILE* open_file(void)
{
    FILE* file = tmpfile();
    assert_non_null(file);
    return file;
}

static void an_object_has_keys_and_commas(void** state)
{
    (void)state;
    FILE* file = open_file();
    ph_json json = ph_json_make(file);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "least", INT64_MIN);
    ph_json_bool(&json, "converged", true);
    ph_json_open(&json, "pinhole");
    ph_json_open(&json, "error_mm");
    ph_json_number(&json, "mean", 0.1);
    ph_json_number(&json, "p50", 12345678.25);
    ph_json_close(&json);
    ph_json_close(&json);
    ph_json_close(&json);
    assert_written(file, "{\n"
                         " \"least\": -9223372036854775808,\n"
                         " \"converged\": true,\n"
                         " \"pinhole\": {\n"
                         "  \"error_mm\": {\"mean\": 0.1, \"p50\": 12345678.25}}}\n");
}

static void a_list_has_no_keys(void** state)
{
    (void)state;
    FILE* file = open_file();
    ph_json json = ph_json_make(file);
    ph_json_open_list(&json, NULL);
    ph_json_open(&json, NULL);
    ph_json_close(&json);
    ph_json_open_list(&json, NULL);
    ph_json_bool(&json, NULL, false);
    ph_json_close(&json);
    ph_json_close(&json);
    assert_written(file, "[\n {},\n [\n  false]]\n");
}

static void what_is_no_number_is_null(void** state)
{
    (void)state;
    FILE* file = open_file();
    ph_json json = ph_json_make(file);
    ph_json_open_list(&json, NULL);
    ph_json_number(&json, NULL, (double)NAN);
    ph_json_number(&json, NULL, (double)INFINITY);
    ph_json_number(&json, NULL, -0.5);
    ph_json_close(&json);
    assert_written(file, "[\n null,\n null,\n -0.5]\n");
}

// What is counted in 1/256 adds up, however much of it there is.
static void exact_numbers_lose_nothing(void** state)
{
    (void)state;
    FILE* file = open_file();
    ph_json json = ph_json_make(file);
    ph_json_open_list(&json, NULL);
    ph_json_exact(&json, NULL, 12345678901.00390625);
    ph_json_exact(&json, NULL, 68.0);
    ph_json_close(&json);
    double first = 0.0;
    rewind(file);
    assert_int_equal(fscanf(file, "[ %lf", &first), 1);
    assert_true(first == 12345678901.00390625);
    fclose(file);
}

static void text_is_escaped(void** state)
{
    (void)state;
    FILE* file = open_file();
    ph_json json = ph_json_make(file);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "a\"b", "C:\\new\n\x01 \xC3\xBC");
    ph_json_close(&json);
    assert_written(file, "{\n \"a\\\"b\": \"C:\\\\new\\u000a\\u0001 \xC3\xBC\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_has_keys_and_commas),
        cmocka_unit_test(a_list_has_no_keys),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(exact_numbers_lose_nothing),
        cmocka_unit_test(text_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
