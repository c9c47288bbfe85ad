// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few dozen values per run of a program: speed does not matter here. Values of the two outer
// levels stand on lines of their own, deeper ones side by side.

#include "kit/json.h"

#include <pinhole/base.h>

#include <inttypes.h>
#include <math.h>

enum { LINE_DEPTH = 2 };

ph_json ph_json_make(FILE* file)
{
    return (ph_json){.file = file, .is_first = true};
}

static bool is_list(const ph_json* json)
{
    return json->depth > 0 && (json->lists >> (json->depth - 1) & 1u) != 0;
}

static void write_text(FILE* file, const char* text)
{
    fputc('"', file);
    for (const char* c = text; *c != '\0'; ++c) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            fprintf(file, "\\%c", byte);
        } else if (byte < 0x20) {
            fprintf(file, "\\u%04x", (unsigned)byte);
        } else {
            fputc(byte, file);
        }
    }
    fputc('"', file);
}

// All that stands before a value.
static void begin_value(ph_json* json, const char* key)
{
    PH_ASSERT((key != NULL) == (json->depth > 0 && !is_list(json)));

    const bool is_line = json->depth > 0 && json->depth <= LINE_DEPTH;
    if (!json->is_first) {
        fputs(is_line ? "," : ", ", json->file);
    }
    if (is_line) {
        fprintf(json->file, "\n%*s", json->depth, "");
    }
    if (key != NULL) {
        write_text(json->file, key);
        fputs(": ", json->file);
    }
    json->is_first = false;
}

static void open_one(ph_json* json, const char* key, bool opens_list)
{
    PH_ASSERT(json->depth < PH_JSON_DEPTH_MAX);

    begin_value(json, key);
    fputc(opens_list ? '[' : '{', json->file);
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

    fputc(is_list(json) ? ']' : '}', json->file);
    --json->depth;
    json->is_first = false;
    if (json->depth == 0) {
        fputc('\n', json->file);
    }
}

static void write_number(ph_json* json, const char* key, double value, int digits)
{
    begin_value(json, key);
    if (isfinite(value)) {
        fprintf(json->file, "%.*g", digits, value);
    } else {
        fputs("null", json->file);
    }
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
    begin_value(json, key);
    fprintf(json->file, "%" PRId64, value);
}

void ph_json_bool(ph_json* json, const char* key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->file);
}

void ph_json_text(ph_json* json, const char* key, const char* text)
{
    begin_value(json, key);
    write_text(json->file, text);
}
