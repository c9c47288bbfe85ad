// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ten times a second; some 10 ns for each cell, some 10 bytes for each that has changed.

#include "demo_canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_BYTES = 48, // of one cell at most: a place, a style, a character
    FRAME_BYTES = 64,
    BRAILLE = 0x2800,
    BRAILLE_LAST = 0x28FF,
    HEAVY_LINE = 0x2501,
    HEAVY_HALF = 0x2578,
    LINE_DOTS_MAX = 2000,
};

// ---- styles

typedef struct look {
    uint32_t rgb;
    uint8_t of_16; // 30..37, 90..97; 39: as the terminal has it
    bool is_bold;
    bool is_faint;
} look;

// Colours of the profiles are those of the plots and of the page.
static const look LOOKS[DEMO_STYLE_COUNT] = {
    [DEMO_STYLE_PLAIN] = {0, 39, false, false},
    [DEMO_STYLE_BOLD] = {0, 39, true, false},
    [DEMO_STYLE_FAINT] = {0x8a8a8a, 39, false, true},
    [DEMO_STYLE_FRAME] = {0x5f5f5f, 90, false, true},
    [DEMO_STYLE_TITLE] = {0, 39, true, false},
    [DEMO_STYLE_CLASSIC] = {0xd95f02, 33, true, false},
    [DEMO_STYLE_PINHOLE] = {0x1b9e77, 32, true, false},
    [DEMO_STYLE_WARNING] = {0xd7191c, 31, true, false},
    [DEMO_STYLE_TRUTH] = {0x767676, 90, false, true},
    [DEMO_STYLE_SELF] = {0, 39, true, false},
    [DEMO_STYLE_ERROR_0] = {0x2fbf5f, 32, false, false},
    [DEMO_STYLE_ERROR_1] = {0x9acd32, 92, false, false},
    [DEMO_STYLE_ERROR_2] = {0xe6b800, 93, false, false},
    [DEMO_STYLE_ERROR_3] = {0xf07818, 33, false, false},
    [DEMO_STYLE_ERROR_4] = {0xf02020, 31, true, false},
};

// The nearest colour of the cube of 6 x 6 x 6, or of the greys.
static int colour_of_256(uint32_t rgb)
{
    static const int LEVELS[6] = {0, 95, 135, 175, 215, 255};
    int index[3];
    for (int i = 0; i < 3; ++i) {
        const int value = (int)(rgb >> (16 - 8 * i) & 255);
        index[i] = 0;
        for (int level = 1; level < 6; ++level) {
            if (abs(LEVELS[level] - value) < abs(LEVELS[index[i]] - value)) {
                index[i] = level;
            }
        }
    }
    const int red = (int)(rgb >> 16 & 255);
    const bool is_grey = red == (int)(rgb >> 8 & 255) && red == (int)(rgb & 255);
    return is_grey && red >= 8 && red < 248 ? 232 + (red - 8 + 5) / 10
                                            : 16 + 36 * index[0] + 6 * index[1] + index[2];
}

static void add(demo_canvas* canvas, const char* text)
{
    const size_t length = strlen(text);
    memcpy(canvas->bytes + canvas->size, text, length);
    canvas->size += length;
}

static void add_style(demo_canvas* canvas, demo_style style, demo_colours colours)
{
    const look* to = &LOOKS[style];
    char text[CELL_BYTES];
    add(canvas, to->is_bold ? "\033[0;1" : "\033[0");
    // A grey is faint by itself; as the plain colour it must be told.
    const bool has_colour = colours > DEMO_COLOURS_NONE && to->of_16 != 39;
    if (to->is_faint && (colours < DEMO_COLOURS_256 && !has_colour)) {
        add(canvas, ";2");
    }
    if (to->rgb != 0 && colours == DEMO_COLOURS_RGB) {
        snprintf(text, sizeof text, ";38;2;%u;%u;%u", to->rgb >> 16 & 255, to->rgb >> 8 & 255,
                 to->rgb & 255);
        add(canvas, text);
    } else if (to->rgb != 0 && colours == DEMO_COLOURS_256) {
        snprintf(text, sizeof text, ";38;5;%d", colour_of_256(to->rgb));
        add(canvas, text);
    } else if (has_colour && colours == DEMO_COLOURS_16) {
        snprintf(text, sizeof text, ";%d", to->of_16);
        add(canvas, text);
    }
    add(canvas, "m");
}

// ---- memory

void demo_canvas_destroy(demo_canvas* canvas)
{
    free(canvas->cells);
    free(canvas->before);
    free(canvas->bytes);
    *canvas = (demo_canvas){0};
}

static bool resize(demo_canvas* canvas, int width, int height)
{
    const size_t count = (size_t)width * (size_t)height;
    demo_canvas made = {
        .width = width,
        .height = height,
        .cells = calloc(count, sizeof *made.cells),
        .before = calloc(count, sizeof *made.before),
        .capacity = count * CELL_BYTES + FRAME_BYTES,
    };
    made.bytes = malloc(made.capacity);
    if (made.cells == NULL || made.before == NULL || made.bytes == NULL) {
        demo_canvas_destroy(&made);
        return false;
    }
    demo_canvas_destroy(canvas);
    *canvas = made;
    return true;
}

bool demo_canvas_begin(demo_canvas* canvas, int width, int height)
{
    if ((width != canvas->width || height != canvas->height) && !resize(canvas, width, height)) {
        return false;
    }
    for (int i = 0; i < width * height; ++i) {
        canvas->cells[i] = (demo_cell){.character = ' ', .style = DEMO_STYLE_PLAIN};
    }
    return true;
}

void demo_canvas_forget(demo_canvas* canvas)
{
    for (int i = 0; i < canvas->width * canvas->height; ++i) {
        canvas->before[i] = (demo_cell){0};
    }
}

// ---- drawing

static demo_cell* cell_at(demo_canvas* canvas, int x, int y)
{
    const bool is_inside = x >= 0 && y >= 0 && x < canvas->width && y < canvas->height;
    return is_inside ? &canvas->cells[y * canvas->width + x] : NULL;
}

void demo_canvas_put(demo_canvas* canvas, int x, int y, demo_style style, uint32_t character)
{
    demo_cell* cell = cell_at(canvas, x, y);
    if (cell != NULL) {
        *cell = (demo_cell){.character = character, .style = (uint8_t)style};
    }
}

// The next character of UTF-8 that is ours, and so well-formed; what a user typed may not be.
static const char* next_character(const char* text, uint32_t* character)
{
    const unsigned char first = (unsigned char)*text++;
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    *character = more == 3 ? first & 7 : more == 2 ? first & 15 : more == 1 ? first & 31 : first;
    while (more-- > 0 && ((unsigned char)*text & 0xC0) == 0x80) {
        *character = *character << 6 | ((unsigned char)*text++ & 63);
    }
    const bool is_control = *character < 32 || (*character >= 127 && *character < 160);
    *character = is_control ? '?' : *character;
    return text;
}

int demo_canvas_text(demo_canvas* canvas, int x, int y, demo_style style, const char* text)
{
    while (*text != '\0') {
        uint32_t character;
        text = next_character(text, &character);
        demo_canvas_put(canvas, x++, y, style, character);
    }
    return x;
}

int demo_canvas_length(const char* text)
{
    int length = 0;
    for (uint32_t character; *text != '\0'; ++length) {
        text = next_character(text, &character);
    }
    return length;
}

void demo_canvas_text_right(demo_canvas* canvas, int from, int end, int y, demo_style style,
                            const char* text)
{
    int x = end - demo_canvas_length(text);
    for (uint32_t character; *text != '\0'; ++x) {
        text = next_character(text, &character);
        if (x >= from) {
            demo_canvas_put(canvas, x, y, style, character);
        }
    }
}

const char* demo_canvas_fitting(const char* const* texts, int room)
{
    while (texts[1] != NULL && demo_canvas_length(texts[0]) > room) {
        ++texts;
    }
    return texts[0];
}

// Bits of a cell's dots, by row and column.
static const uint8_t DOTS[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

void demo_canvas_dot(demo_canvas* canvas, const demo_rect* within, int x, int y, demo_style style)
{
    if (x < 0 || y < 0 || x >= 2 * within->width || y >= 4 * within->height) {
        return;
    }
    demo_cell* cell = cell_at(canvas, within->x + x / 2, within->y + y / 4);
    if (cell == NULL) {
        return;
    }
    const bool has_dots = cell->character >= BRAILLE && cell->character <= BRAILLE_LAST;
    if (!has_dots) {
        *cell = (demo_cell){.character = BRAILLE, .style = (uint8_t)style};
    }
    cell->character |= DOTS[y % 4][x % 2];
    cell->style = style > cell->style ? (uint8_t)style : cell->style;
}

void demo_canvas_line(demo_canvas* canvas, const demo_rect* within, const int from[2],
                      const int to[2], demo_style style)
{
    const int x = to[0] - from[0];
    const int y = to[1] - from[1];
    const int steps = abs(x) > abs(y) ? abs(x) : abs(y);
    for (int i = 1; i < steps && i < LINE_DOTS_MAX; ++i) {
        demo_canvas_dot(canvas, within, from[0] + x * i / steps, from[1] + y * i / steps, style);
    }
}

void demo_canvas_bar(demo_canvas* canvas, int x, int y, int width, double share, demo_style style)
{
    const double held = share > 1.0 ? 1.0 : share > 0.0 ? share : 0.0; // of NaN 0
    const int halves = (int)(held * 2.0 * width + 0.5);
    for (int i = 0; 2 * i < halves && i < width; ++i) {
        demo_canvas_put(canvas, x + i, y, style, halves - 2 * i >= 2 ? HEAVY_LINE : HEAVY_HALF);
    }
}

// ---- writing

static void add_character(demo_canvas* canvas, uint32_t character)
{
    char text[5] = {0};
    if (character < 0x80) {
        text[0] = (char)character;
    } else if (character < 0x800) {
        text[0] = (char)(0xC0 | character >> 6);
        text[1] = (char)(0x80 | (character & 63));
    } else if (character < 0x10000) {
        text[0] = (char)(0xE0 | character >> 12);
        text[1] = (char)(0x80 | (character >> 6 & 63));
        text[2] = (char)(0x80 | (character & 63));
    } else {
        text[0] = (char)(0xF0 | (character >> 18 & 7));
        text[1] = (char)(0x80 | (character >> 12 & 63));
        text[2] = (char)(0x80 | (character >> 6 & 63));
        text[3] = (char)(0x80 | (character & 63));
    }
    add(canvas, text);
}

static bool is_same(const demo_cell* a, const demo_cell* b)
{
    return a->character == b->character && a->style == b->style;
}

const char* demo_canvas_write(demo_canvas* canvas, demo_colours colours, size_t* size)
{
    canvas->size = 0;
    int style = -1;
    add(canvas, "\033[?2026h"); // as one picture, where terminals know that
    for (int y = 0; y < canvas->height; ++y) {
        bool is_there = false; // the cursor
        for (int x = 0; x < canvas->width; ++x) {
            const demo_cell* cell = &canvas->cells[y * canvas->width + x];
            demo_cell* before = &canvas->before[y * canvas->width + x];
            if (is_same(cell, before)) {
                is_there = false;
                continue;
            }
            if (!is_there) {
                char place[32];
                snprintf(place, sizeof place, "\033[%d;%dH", y + 1, x + 1);
                add(canvas, place);
            }
            if (cell->style != style) {
                add_style(canvas, (demo_style)cell->style, colours);
                style = cell->style;
            }
            add_character(canvas, cell->character);
            *before = *cell;
            is_there = true;
        }
    }
    add(canvas, "\033[0m\033[?2026l");
    *size = canvas->size;
    return canvas->bytes;
}
