// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Options of a command as a table: parsed, checked and explained from the same rows.

#ifndef PH_APP_OPTIONS_H
#define PH_APP_OPTIONS_H

#include "kit/fault.h"

#include <stdbool.h>

// One option: a switch (is_set), a whole number in lo..hi (number), any number in lo..hi (decimal), or a word (text):
// one of those in choices, or any; without a default it is NULL. A row whose name has no dashes is an argument; one
// without a summary is another like the one before, and not listed.
typedef struct app_option {
    const char* name;    // with its dashes
    const char* summary; // "": not listed
    bool* is_set;
    int* number;
    double* decimal;
    const char** text; // points into argv afterwards
    int lo;
    int hi;
    const char* value;   // what stands for a text in the help: "FILE"
    const char* choices; // "now|delayed"; NULL: any text
    const char* bare;    // what a text with choices is when its name stands alone; NULL: it may not
} app_option;

typedef enum app_parse {
    APP_PARSE_OK = 0,
    APP_PARSE_HELP,  // --help was given: print the help and return APP_EXIT_OK
    APP_PARSE_WRONG, // the reason is on standard error: return APP_EXIT_USAGE
} app_parse;

// Reads argv[1..argc), `--name N` and `--name=N` alike. The table ends with a row whose name is
// NULL; `command` ("pinhole bench bits") is named in messages. What an option is set to beforehand
// is its default; an argument that is not given stays as it is.
app_parse app_options_parse(const app_option* table, const char* command, int argc, char** argv);

// What a command says of itself.
typedef struct app_usage {
    const char* command; // as above
    void (*print_help)(const app_option* table);
} app_usage;

// The same, and the help where it is asked for. @return Whether to go on; if not, *status is what the
// program returns: a command that goes on and then finds something wrong says so, and returns it as
// well.
bool app_options_read(const app_usage* usage, const app_option* table, int argc, char** argv,
                      int* status);

// Reads a port, 0..65535. @return False when it is none.
bool app_option_port(const char* text, int* port);

// One line per option and argument, --help included.
void app_options_print(const app_option* table);

// Says on standard error what is wrong with a file or whatever else `where` names, and at which line. Always returns
// false, so that a step of a command can end with it.
bool app_complain(const char* command, const char* where, const ph_fault* fault);

#endif
