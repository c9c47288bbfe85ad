// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include "kit/csv.h"

#include <string.h>

static ph_csv csv_of(const char* text)
{
    return ph_csv_make(text, strlen(text));
}

static ph_csv_cell cell_of(const char* text)
{
    return (ph_csv_cell){.text = text, .length = (int)strlen(text), .column = 1};
}

static void assert_cell(ph_csv* csv, const char* text, int column)
{
    ph_csv_cell cell;
    assert_true(ph_csv_next_cell(csv, &cell));
    assert_true(ph_csv_cell_is(&cell, text));
    assert_int_equal(cell.column, column);
}

static void assert_end_of_line(ph_csv* csv)
{
    ph_csv_cell cell;
    assert_false(ph_csv_next_cell(csv, &cell));
    assert_false(ph_csv_next_cell(csv, &cell));
}

static void cells_of_a_line_have_columns(void** state)
{
    (void)state;
    ph_csv csv = csv_of("one,,three\n");
    assert_true(ph_csv_next_line(&csv));
    assert_cell(&csv, "one", 1);
    assert_cell(&csv, "", 5);
    assert_cell(&csv, "three", 6);
    assert_end_of_line(&csv);
    assert_int_equal(ph_csv_end_column(&csv), 11);
    assert_false(ph_csv_next_line(&csv));
}

static void a_comma_at_the_end_is_followed_by_an_empty_cell(void** state)
{
    (void)state;
    ph_csv csv = csv_of("a,");
    assert_true(ph_csv_next_line(&csv));
    assert_cell(&csv, "a", 1);
    assert_cell(&csv, "", 3);
    assert_end_of_line(&csv);
}

static void blank_lines_are_counted_and_skipped(void** state)
{
    (void)state;
    ph_csv csv = csv_of("\n \t\na\n\r\n\nb");
    assert_true(ph_csv_next_line(&csv));
    assert_int_equal(csv.line, 3);
    assert_true(ph_csv_next_line(&csv));
    assert_int_equal(csv.line, 6);
    assert_cell(&csv, "b", 1);
    assert_false(ph_csv_next_line(&csv));
}

static void lines_may_end_as_on_windows(void** state)
{
    (void)state;
    ph_csv csv = csv_of("a,b\r\nc\r\n");
    assert_true(ph_csv_next_line(&csv));
    assert_cell(&csv, "a", 1);
    assert_cell(&csv, "b", 3);
    assert_end_of_line(&csv);
    assert_true(ph_csv_next_line(&csv));
    assert_cell(&csv, "c", 1);
    assert_end_of_line(&csv);
}

static void a_byte_order_mark_is_skipped(void** state)
{
    (void)state;
    ph_csv csv = csv_of("\xEF\xBB\xBF"
                        "tick,x");
    assert_true(ph_csv_next_line(&csv));
    assert_cell(&csv, "tick", 1);
}

static void an_empty_text_has_no_line(void** state)
{
    (void)state;
    ph_csv csv = ph_csv_make(NULL, 0);
    assert_false(ph_csv_next_line(&csv));
}

// ---- numbers

static void assert_number(const char* text, int64_t digits, int decimals, double value)
{
    const ph_csv_cell cell = cell_of(text);
    ph_csv_cell_number number;
    assert_true(ph_csv_cell_read_number(&cell, &number));
    assert_int_equal(number.digits, digits);
    assert_int_equal(number.decimals, decimals);
    assert_true(ph_cell_number_value(number) == value);
}

static void numbers_are_read_exactly(void** state)
{
    (void)state;
    assert_number("0", 0, 0, 0.0);
    assert_number("-17", -17, 0, -17.0);
    assert_number("-0.0", 0, 1, 0.0);
    assert_number("359.9", 3599, 1, 359.9);
    assert_number("0.30", 30, 2, 0.3);
    assert_number("999999999999999", 999999999999999, 0, 999999999999999.0);
    assert_number("-0.00000000000001", -1, 14, -1e-14);
}

static void decimals_beyond_what_a_double_holds_are_dropped(void** state)
{
    (void)state;
    assert_number("0.30000000000000004", 30000000000000, 14, 0.3);
}

static void what_is_no_number_is_refused(void** state)
{
    (void)state;
    const char* const wrong[] = {"",
                                 "-",
                                 ".",
                                 "-.",
                                 ".5",
                                 "5.",
                                 "-5.",
                                 "+5",
                                 "1e5",
                                 "1.2.3",
                                 " 1",
                                 "1 ",
                                 "0x1",
                                 "1-",
                                 "nan",
                                 "--1",
                                 "1000000000000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        const ph_csv_cell cell = cell_of(wrong[i]);
        ph_csv_cell_number number = {.digits = 77};
        assert_false(ph_csv_cell_read_number(&cell, &number));
        assert_int_equal(number.digits, 77);
    }
}

static void a_quoted_cell_is_short_and_printable(void** state)
{
    (void)state;
    const ph_csv_cell odd = {.text = "a\0\x7F\xC3z", .length = 5};
    assert_string_equal(ph_csv_cell_quote(&odd).text, "a???z");
    const ph_csv_cell longer = cell_of("abcdefghijklmnopqrstuvwxyz");
    assert_string_equal(ph_csv_cell_quote(&longer).text, "abcdefghijklmnopqrstuvwx...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_a_line_have_columns),
        cmocka_unit_test(a_comma_at_the_end_is_followed_by_an_empty_cell),
        cmocka_unit_test(blank_lines_are_counted_and_skipped),
        cmocka_unit_test(lines_may_end_as_on_windows),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(an_empty_text_has_no_line),
        cmocka_unit_test(numbers_are_read_exactly),
        cmocka_unit_test(decimals_beyond_what_a_double_holds_are_dropped),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(a_quoted_cell_is_short_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
