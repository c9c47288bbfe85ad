// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Options of a command as a table: parsed, checked and explained from the same rows.

#ifndef PH_APP_OPTIONS_H
#define PH_APP_OPTIONS_H

#include <stdbool.h>

// One option: a switch (is_set) or a whole number in lo..hi (number).
typedef struct app_option {
    const char* name; // with its dashes
    const char* summary;
    bool* is_set;
    int* number;
    int lo;
    int hi;
} app_option;

typedef enum app_parse {
    APP_PARSE_OK = 0,
    APP_PARSE_HELP,  // --help was given: print the help and return APP_EXIT_OK
    APP_PARSE_WRONG, // the reason is on standard error: return APP_EXIT_USAGE
} app_parse;

// Reads argv[1..argc), `--name N` and `--name=N` alike. The table ends with a row whose name is
// NULL; `command` ("pinhole bench bits") is named in messages.
app_parse app_options_parse(const app_option* table, const char* command, int argc, char** argv);

// One line per option, --help included.
void app_options_print(const app_option* table);

#endif
