// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Writes JSON, one value after the other; commas, escapes and line breaks come by themselves.
//
//     ph_json json = ph_json_make(stdout);
//     ph_json_open(&json, NULL);                    {
//     ph_json_number(&json, "join_s", 1.5);          "join_s": 1.5,
//     ph_json_open(&json, "bits_by");                "bits_by": {
//     ph_json_integer(&json, "header", 68);           "header": 68}
//     ph_json_close(&json);
//     ph_json_close(&json);                         }
//
// Inside an object every value has a key, elsewhere none (NULL). Errors of the file are for the
// caller to ask it for, at the end. Instead of a file, any function may take the text.

#ifndef PINHOLE_KIT_JSON_H
#define PINHOLE_KIT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PH_JSON_DEPTH_MAX 31

// Takes text as it comes, some bytes at a time.
typedef void ph_json_sink(void* context, const char* text, size_t size);

// Plain data; the file is the caller's.
typedef struct ph_json {
    ph_json_sink* sink;
    void* context;
    int depth;      // objects and lists that are open
    uint32_t lists; // bit d: what was opened at depth d is a list
    bool is_first;  // nothing was written yet into what was opened last
} ph_json;

ph_json ph_json_make(FILE* file);
ph_json ph_json_make_into(ph_json_sink* sink, void* context);

// Objects and lists; each is closed in turn. The outermost one ends with a line break.
void ph_json_open(ph_json* json, const char* key);
void ph_json_open_list(ph_json* json, const char* key);
void ph_json_close(ph_json* json);

// Ten digits that count; what is no number, or infinite, is null.
void ph_json_number(ph_json* json, const char* key, double value);
// As many digits as the value has, for sums that must come out: whole numbers of 1/256 and such.
void ph_json_exact(ph_json* json, const char* key, double value);
void ph_json_integer(ph_json* json, const char* key, int64_t value);
void ph_json_bool(ph_json* json, const char* key, bool value);

void ph_json_null(ph_json* json, const char* key);

// text is UTF-8.
void ph_json_text(ph_json* json, const char* key, const char* text);

#endif
