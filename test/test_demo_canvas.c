// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The picture made of characters: what is drawn where, and what of it is written.

#include "test_support.h"

#include "demo_canvas.h"
#include "demo_map.h"

#include <math.h>
#include <string.h>

static const demo_rect WHOLE = {.x = 0, .y = 0, .width = 10, .height = 4};

static const demo_cell* cell_of(const demo_canvas* canvas, int x, int y)
{
    return &canvas->cells[y * canvas->width + x];
}

static const char* written(demo_canvas* canvas, demo_colours colours)
{
    static char text[100000];
    size_t size;
    const char* bytes = demo_canvas_write(canvas, colours, &size);
    assert_true(size < sizeof text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

static void only_what_differs_is_written(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_text(&canvas, 2, 1, DEMO_STYLE_PLAIN, "one two");
    assert_non_null(strstr(written(&canvas, DEMO_COLOURS_NONE), "one two"));
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_text(&canvas, 2, 1, DEMO_STYLE_PLAIN, "one tzo");
    assert_string_equal(written(&canvas, DEMO_COLOURS_NONE),
                        "\033[?2026h\033[2;8H\033[0mz\033[0m\033[?2026l");
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_text(&canvas, 2, 1, DEMO_STYLE_PLAIN, "one tzo");
    assert_string_equal(written(&canvas, DEMO_COLOURS_NONE), "\033[?2026h\033[0m\033[?2026l");
    demo_canvas_forget(&canvas);
    assert_non_null(strstr(written(&canvas, DEMO_COLOURS_NONE), "one tzo"));
    demo_canvas_destroy(&canvas);
}

static void another_size_is_written_whole(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    written(&canvas, DEMO_COLOURS_NONE);
    assert_true(demo_canvas_begin(&canvas, 12, 3));
    assert_non_null(strstr(written(&canvas, DEMO_COLOURS_NONE), "\033[3;1H            "));
    demo_canvas_destroy(&canvas);
}

static void what_lies_outside_is_left_out(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_text(&canvas, 7, 0, DEMO_STYLE_PLAIN, "abcdef");
    demo_canvas_text(&canvas, -2, 3, DEMO_STYLE_PLAIN, "abcdef");
    demo_canvas_text(&canvas, 0, 4, DEMO_STYLE_PLAIN, "abcdef");
    demo_canvas_text_right(&canvas, 4, 8, 1, DEMO_STYLE_PLAIN, "abcdef");
    assert_int_equal(cell_of(&canvas, 9, 0)->character, 'c');
    assert_int_equal(cell_of(&canvas, 0, 1)->character, ' ');
    assert_int_equal(cell_of(&canvas, 4, 1)->character, 'c');
    assert_int_equal(cell_of(&canvas, 7, 1)->character, 'f');
    assert_int_equal(cell_of(&canvas, 3, 1)->character, ' ');
    assert_int_equal(cell_of(&canvas, 0, 3)->character, 'c');
    const demo_rect part = {.x = 2, .y = 1, .width = 3, .height = 2};
    for (int at = -3; at < 20; ++at) {
        demo_canvas_dot(&canvas, &part, at, 3, DEMO_STYLE_TRUTH);
    }
    assert_int_equal(cell_of(&canvas, 1, 1)->character, ' ');
    assert_int_equal(cell_of(&canvas, 5, 1)->character, 'd');
    assert_int_equal(cell_of(&canvas, 2, 1)->character, 0x2800 + 0xC0);
    demo_canvas_destroy(&canvas);
}

static void dots_share_a_cell_and_the_later_style_wins(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_dot(&canvas, &WHOLE, 0, 0, DEMO_STYLE_ERROR_2);
    demo_canvas_dot(&canvas, &WHOLE, 1, 3, DEMO_STYLE_TRUTH);
    assert_int_equal(cell_of(&canvas, 0, 0)->character, 0x2800 + 0x01 + 0x80);
    assert_int_equal(cell_of(&canvas, 0, 0)->style, DEMO_STYLE_ERROR_2);
    const int from[2] = {2, 0};
    const int to[2] = {2, 15};
    demo_canvas_line(&canvas, &WHOLE, from, to, DEMO_STYLE_TRUTH);
    assert_int_equal(cell_of(&canvas, 1, 0)->character, 0x2800 + 0x46); // neither end
    assert_int_equal(cell_of(&canvas, 1, 2)->character, 0x2800 + 0x47);
    assert_int_equal(cell_of(&canvas, 1, 3)->character, 0x2800 + 0x07);
    demo_canvas_destroy(&canvas);
}

// What a person names a file may be no UTF-8, and hold sequences for the terminal.
static void texts_of_others_do_no_harm(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_text(&canvas, 0, 0, DEMO_STYLE_PLAIN, "a\033[2Jb\xff\xc3");
    demo_canvas_text(&canvas, 0, 1, DEMO_STYLE_PLAIN,
                     "\xc2\x9b"
                     "2J\x7f");
    const char* text = written(&canvas, DEMO_COLOURS_NONE);
    assert_non_null(strstr(text, "a?[2Jb"));
    assert_non_null(strstr(text, "?2J?"));
    assert_null(strstr(text, "\033[2J"));
    assert_int_equal(demo_canvas_length("·—ü"), 3);
    demo_canvas_destroy(&canvas);
}

static void colours_are_as_the_terminal_has_them(void** state)
{
    (void)state;
    static const struct {
        demo_colours colours;
        const char* style;
    } ROWS[] = {
        {DEMO_COLOURS_NONE, "\033[0;1mx"},
        {DEMO_COLOURS_16, "\033[0;1;33mx"},
        {DEMO_COLOURS_256, "\033[0;1;38;5;166mx"},
        {DEMO_COLOURS_RGB, "\033[0;1;38;2;217;95;2mx"},
    };
    demo_canvas canvas = {0};
    for (int i = 0; i < 4; ++i) {
        assert_true(demo_canvas_begin(&canvas, 10, 4));
        demo_canvas_forget(&canvas);
        demo_canvas_put(&canvas, 3, 2, DEMO_STYLE_CLASSIC, 'x');
        assert_non_null(strstr(written(&canvas, ROWS[i].colours), ROWS[i].style));
    }
    demo_canvas_destroy(&canvas);
}

// Every cell with a place, a style and a long character: it must fit.
static void the_worst_picture_fits(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 500, 200));
    for (int i = 0; i < 500 * 200; ++i) {
        demo_canvas_put(&canvas, i % 500, i / 500,
                        i % 2 == 0 ? DEMO_STYLE_CLASSIC : DEMO_STYLE_PINHOLE, 0x1F600);
    }
    size_t size;
    demo_canvas_write(&canvas, DEMO_COLOURS_RGB, &size);
    assert_true(size <= canvas.capacity);
    demo_canvas_destroy(&canvas);
}

static void the_first_text_that_fits_is_taken(void** state)
{
    (void)state;
    static const char* const TEXTS[] = {"long text", "text", "t", NULL};
    assert_string_equal(demo_canvas_fitting(TEXTS, 9), "long text");
    assert_string_equal(demo_canvas_fitting(TEXTS, 8), "text");
    assert_string_equal(demo_canvas_fitting(TEXTS, 3), "t");
    assert_string_equal(demo_canvas_fitting(TEXTS, 0), "t");
}

static void a_bar_is_as_long_as_its_share(void** state)
{
    (void)state;
    demo_canvas canvas = {0};
    assert_true(demo_canvas_begin(&canvas, 10, 4));
    demo_canvas_bar(&canvas, 0, 0, 8, 0.5, DEMO_STYLE_CLASSIC);
    demo_canvas_bar(&canvas, 0, 1, 8, 7.0, DEMO_STYLE_CLASSIC);
    demo_canvas_bar(&canvas, 0, 2, 8, (double)NAN, DEMO_STYLE_CLASSIC);
    assert_int_equal(cell_of(&canvas, 3, 0)->character, 0x2501);
    assert_int_equal(cell_of(&canvas, 4, 0)->character, ' ');
    assert_int_equal(cell_of(&canvas, 7, 1)->character, 0x2501);
    assert_int_equal(cell_of(&canvas, 8, 1)->character, ' ');
    assert_int_equal(cell_of(&canvas, 0, 2)->character, ' ');
    demo_canvas_destroy(&canvas);
}

static void scales_are_round(void** state)
{
    (void)state;
    assert_true(fabs(demo_map_scale_mm(1000.0, 24) - 20000.0) < 1e-6);
    assert_true(fabs(demo_map_scale_mm(2500.0, 24) - 50000.0) < 1e-6);
    assert_true(fabs(demo_map_scale_mm(4200.0, 24) - 100000.0) < 1e-6);
    assert_true(fabs(demo_map_scale_mm(10.0, 24) - 200.0) < 1e-6);
    assert_int_equal(demo_map_error_style(0.0), DEMO_STYLE_ERROR_0);
    assert_int_equal(demo_map_error_style(3.0), DEMO_STYLE_ERROR_2);
    assert_int_equal(demo_map_error_style(1000.0), DEMO_STYLE_ERROR_4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_differs_is_written),
        cmocka_unit_test(another_size_is_written_whole),
        cmocka_unit_test(what_lies_outside_is_left_out),
        cmocka_unit_test(dots_share_a_cell_and_the_later_style_wins),
        cmocka_unit_test(texts_of_others_do_no_harm),
        cmocka_unit_test(colours_are_as_the_terminal_has_them),
        cmocka_unit_test(the_worst_picture_fits),
        cmocka_unit_test(the_first_text_that_fits_is_taken),
        cmocka_unit_test(a_bar_is_as_long_as_its_share),
        cmocka_unit_test(scales_are_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
