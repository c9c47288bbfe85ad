// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few dozen values per run of a program: speed does not matter here. Values of the two outer
// levels stand on lines of their own, deeper ones side by side.

#include "kit/json.h"

#include <pinhole/base.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINE_DEPTH = 2, NUMBER_SIZE = 40 };

static void write_to_file(void* context, const char* text, size_t size)
{
    fwrite(text, 1, size, context);
}

ph_json ph_json_make(FILE* file)
{
    return ph_json_make_into(write_to_file, file);
}

ph_json ph_json_make_into(ph_json_sink* sink, void* context)
{
    return (ph_json){.sink = sink, .context = context, .is_first = true};
}

static void put(const ph_json* json, const char* text)
{
    json->sink(json->context, text, strlen(text));
}

static bool is_list(const ph_json* json)
{
    return json->depth > 0 && (json->lists >> (json->depth - 1) & 1u) != 0;
}

static void write_text(const ph_json* json, const char* text)
{
    char escaped[NUMBER_SIZE];
    put(json, "\"");
    for (const char* c = text; *c != '\0'; ++c) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            json->sink(json->context, "\\", 1);
        }
        if (byte < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)byte);
            put(json, escaped);
        } else {
            json->sink(json->context, c, 1);
        }
    }
    put(json, "\"");
}

// All that stands before a value.
static void begin_value(ph_json* json, const char* key)
{
    PH_ASSERT((key != NULL) == (json->depth > 0 && !is_list(json)));

    const bool is_line = json->depth > 0 && json->depth <= LINE_DEPTH;
    if (!json->is_first) {
        put(json, is_line ? "," : ", ");
    }
    if (is_line) {
        put(json, json->depth == 1 ? "\n " : "\n  ");
    }
    if (key != NULL) {
        write_text(json, key);
        put(json, ": ");
    }
    json->is_first = false;
}

static void open_one(ph_json* json, const char* key, bool opens_list)
{
    PH_ASSERT(json->depth < PH_JSON_DEPTH_MAX);

    begin_value(json, key);
    put(json, opens_list ? "[" : "{");
    const uint32_t bit = (uint32_t)1 << json->depth;
    json->lists = opens_list ? json->lists | bit : json->lists & ~bit;
    ++json->depth;
    json->is_first = true;
}

void ph_json_open(ph_json* json, const char* key)
{
    open_one(json, key, false);
}

void ph_json_open_list(ph_json* json, const char* key)
{
    open_one(json, key, true);
}

void ph_json_close(ph_json* json)
{
    PH_ASSERT(json->depth > 0);

    put(json, is_list(json) ? "]" : "}");
    --json->depth;
    json->is_first = false;
    if (json->depth == 0) {
        put(json, "\n");
    }
}

static void write_number(ph_json* json, const char* key, double value, int digits)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%.*g", digits, value);
    begin_value(json, key);
    put(json, isfinite(value) ? text : "null");
}

void ph_json_number(ph_json* json, const char* key, double value)
{
    write_number(json, key, value, 10);
}

// 17 digits tell any double from its neighbours.
void ph_json_exact(ph_json* json, const char* key, double value)
{
    write_number(json, key, value, 17);
}

void ph_json_integer(ph_json* json, const char* key, int64_t value)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%" PRId64, value);
    begin_value(json, key);
    put(json, text);
}

void ph_json_bool(ph_json* json, const char* key, bool value)
{
    begin_value(json, key);
    put(json, value ? "true" : "false");
}

void ph_json_null(ph_json* json, const char* key)
{
    begin_value(json, key);
    put(json, "null");
}

void ph_json_text(ph_json* json, const char* key, const char* text)
{
    begin_value(json, key);
    write_text(json, text);
}
