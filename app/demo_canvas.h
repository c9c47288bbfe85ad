// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A picture made of characters, for a terminal: cells with a character and a style each, Braille dots for
// what needs a finer grain. It is written with ANSI sequences, and only where it differs from the picture
// before.
//
//   a cell has 2 x 4 dots, which are square as cells are twice as high as wide

#ifndef PH_APP_DEMO_CANVAS_H
#define PH_APP_DEMO_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum demo_style {
    DEMO_STYLE_PLAIN = 0,
    DEMO_STYLE_BOLD,
    DEMO_STYLE_FAINT,
    DEMO_STYLE_FRAME,
    DEMO_STYLE_TITLE, // of the whole picture
    DEMO_STYLE_CLASSIC,
    DEMO_STYLE_PINHOLE,
    DEMO_STYLE_WARNING,
    DEMO_STYLE_TRUTH,
    DEMO_STYLE_SELF,
    DEMO_STYLE_ERROR_0, // what is right, to
    DEMO_STYLE_ERROR_1,
    DEMO_STYLE_ERROR_2,
    DEMO_STYLE_ERROR_3,
    DEMO_STYLE_ERROR_4, // what is wrong
    DEMO_STYLE_COUNT,
} demo_style;

typedef enum demo_colours {
    DEMO_COLOURS_NONE = 0, // bold and faint only
    DEMO_COLOURS_16,
    DEMO_COLOURS_256,
    DEMO_COLOURS_RGB,
} demo_colours;

typedef struct demo_cell {
    uint32_t character; // Unicode; 0 only in a picture that is not on the screen
    uint8_t style;
} demo_cell;

typedef struct demo_rect {
    int x;
    int y;
    int width;
    int height;
} demo_rect;

// {0} may be destroyed. Read-only outside.
typedef struct demo_canvas {
    int width;
    int height;
    demo_cell* cells;  // by row
    demo_cell* before; // what the terminal shows
    char* bytes;       // room for a whole picture
    size_t size;
    size_t capacity;
} demo_canvas;

void demo_canvas_destroy(demo_canvas* canvas);

// An empty picture of this size; when that is another one than before, the terminal is taken to show
// nothing that is known. @return False when there is no memory, with everything as before.
bool demo_canvas_begin(demo_canvas* canvas, int width, int height);

// The terminal may show anything: the next picture is written whole.
void demo_canvas_forget(demo_canvas* canvas);

// What lies outside is left out, here and below.
void demo_canvas_put(demo_canvas* canvas, int x, int y, demo_style style, uint32_t character);

// UTF-8, each character one cell wide. @return Where it ends.
int demo_canvas_text(demo_canvas* canvas, int x, int y, demo_style style, const char* text);

// The same with its end at this place; what would stand before `from` is cut off.
void demo_canvas_text_right(demo_canvas* canvas, int from, int end, int y, demo_style style,
                            const char* text);

// The first of these texts, up to a NULL, that takes no more cells than this; else the last one.
const char* demo_canvas_fitting(const char* const* texts, int room);

// How many cells a text takes.
int demo_canvas_length(const char* text);

// One dot, counted from the top left corner of the rectangle in dots; left out outside of it. A later dot
// gives its style to the whole cell if that stands behind the present one's in the enum.
void demo_canvas_dot(demo_canvas* canvas, const demo_rect* within, int x, int y, demo_style style);

// A line of dots from one place to another, with neither end of it.
void demo_canvas_line(demo_canvas* canvas, const demo_rect* within, const int from[2],
                      const int to[2], demo_style style);

// A bar: share of the width, 0..1.
void demo_canvas_bar(demo_canvas* canvas, int x, int y, int width, double share, demo_style style);

// The bytes that make the terminal show this picture. Valid until the next call.
const char* demo_canvas_write(demo_canvas* canvas, demo_colours colours, size_t* size);

#endif
