// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Options of a command. Runs once per program.

#include "options.h"

#include "suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The row for "--name" or "--name=value"; *value is what stands behind the sign, or NULL.
static const app_option* find(const app_option* table, const char* argument, const char** value)
{
    const char* equals = strchr(argument, '=');
    const size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    *value = equals != NULL ? equals + 1 : NULL;
    for (const app_option* row = table; row->name != NULL; ++row) {
        if (strlen(row->name) == length && strncmp(row->name, argument, length) == 0) {
            return row;
        }
    }
    return NULL;
}

static app_parse complain_unknown(const app_option* table, const char* command,
                                  const char* argument)
{
    const char* what = argument[0] == '-' ? "option" : "argument";
    fprintf(stderr, "%s: there is no %s '%s'.\n", command, what, argument);
    app_suggestion best = app_suggestion_make(argument);
    for (const app_option* row = table; row->name != NULL; ++row) {
        app_suggestion_consider(&best, row->name);
    }
    app_suggestion_consider(&best, "--help");
    if (best.candidate != NULL) {
        fprintf(stderr, "Did you mean '%s'? ", best.candidate);
    }
    fprintf(stderr, "'%s --help' explains the options.\n", command);
    return APP_PARSE_WRONG;
}

static app_parse set_number(const app_option* row, const char* command, const char* value)
{
    char* end = NULL;
    errno = 0;
    const long number = value != NULL ? strtol(value, &end, 10) : 0;
    const bool is_number = value != NULL && end != value && *end == '\0' && errno == 0;
    if (!is_number || number < row->lo || number > row->hi) {
        fprintf(stderr, "%s: %s takes a whole number from %d to %d, as in '%s %d'.\n", command,
                row->name, row->lo, row->hi, row->name, *row->number);
        return APP_PARSE_WRONG;
    }
    *row->number = (int)number;
    return APP_PARSE_OK;
}

static app_parse set_switch(const app_option* row, const char* command, const char* value)
{
    if (value != NULL) {
        fprintf(stderr, "%s: %s takes no value; write '%s' alone.\n", command, row->name,
                row->name);
        return APP_PARSE_WRONG;
    }
    *row->is_set = true;
    return APP_PARSE_OK;
}

app_parse app_options_parse(const app_option* table, const char* command, int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return APP_PARSE_HELP;
        }
        const char* value = NULL;
        const app_option* row = find(table, argv[i], &value);
        if (row == NULL) {
            return complain_unknown(table, command, argv[i]);
        }
        if (row->number != NULL && value == NULL && i + 1 < argc) {
            i += 1;
            value = argv[i];
        }
        const app_parse parsed =
            row->number != NULL ? set_number(row, command, value) : set_switch(row, command, value);
        if (parsed != APP_PARSE_OK) {
            return parsed;
        }
    }
    return APP_PARSE_OK;
}

void app_options_print(const app_option* table)
{
    for (const app_option* row = table; row->name != NULL; ++row) {
        char left[32];
        snprintf(left, sizeof left, "%s%s", row->name, row->number != NULL ? " N" : "");
        printf("  %-14s %s", left, row->summary);
        if (row->number != NULL) {
            printf(" (%d..%d, default %d)", row->lo, row->hi, *row->number);
        }
        printf("\n");
    }
    printf("  %-14s %s\n", "--help", "this text");
}
