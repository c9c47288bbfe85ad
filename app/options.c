// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Options of a command. Runs once per program.

#include "options.h"

#include "command.h"
#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Help is at most so wide; summaries begin in one column, also that of a name which takes a line of its own.
enum { HELP_COLUMNS = 100, HELP_NAME = 20, HELP_INDENT = HELP_NAME + 3 };
#define UNBREAKABLE '\x1f' // a blank at which no line ends

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

// The row of the argument, if there is one that was not given yet.
static const app_option* find_argument(const app_option* table, const char* argument, int given)
{
    if (argument[0] == '-') {
        return NULL;
    }
    for (const app_option* row = table; row->name != NULL; ++row) {
        if (row->name[0] != '-' && given-- == 0) {
            return row;
        }
    }
    return NULL;
}

static bool takes_value(const app_option* row)
{
    return row->is_set == NULL;
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

// The default need not be a legal value: of what must be given it is 0.
static double example_number(const app_option* row)
{
    const double usual = row->number != NULL ? *row->number : *row->decimal;
    return usual >= row->lo && usual <= row->hi ? usual : row->lo;
}

static app_parse set_number(const app_option* row, const char* command, const char* value)
{
    char* end = NULL;
    errno = 0;
    const long number = value != NULL ? strtol(value, &end, 10) : 0;
    const bool is_number = value != NULL && end != value && *end == '\0' && errno == 0;
    if (!is_number || number < row->lo || number > row->hi) {
        fprintf(stderr, "%s: %s takes a whole number from %d to %d, as in '%s %d'.\n", command,
                row->name, row->lo, row->hi, row->name, (int)example_number(row));
        return APP_PARSE_WRONG;
    }
    *row->number = (int)number;
    return APP_PARSE_OK;
}

static app_parse set_decimal(const app_option* row, const char* command, const char* value)
{
    char* end = NULL;
    const double number = value != NULL ? strtod(value, &end) : 0.0;
    const bool is_number = value != NULL && end != value && *end == '\0' && isfinite(number);
    if (!is_number || number < row->lo || number > row->hi) {
        fprintf(stderr, "%s: %s takes a number from %d to %d, as in '%s %g'.\n", command, row->name,
                row->lo, row->hi, row->name, example_number(row));
        return APP_PARSE_WRONG;
    }
    *row->decimal = number;
    return APP_PARSE_OK;
}

static bool is_choice(const char* choices, const char* value)
{
    const size_t length = strlen(value);
    for (const char* word = choices; word != NULL; word = strchr(word, '|')) {
        word += *word == '|' ? 1 : 0;
        if (length > 0 && strchr(value, '|') == NULL && strncmp(word, value, length) == 0 &&
            (word[length] == '|' || word[length] == '\0')) {
            return true;
        }
    }
    return false;
}

// A word that it takes: the one it has, or the first one.
static void copy_example(const app_option* row, char example[32])
{
    const char* text = *row->text != NULL ? *row->text : row->choices;
    snprintf(example, 32, "%.*s", (int)strcspn(text, "|"), text);
}

static app_parse set_text(const app_option* row, const char* command, const char* value)
{
    if (row->choices != NULL && (value == NULL || !is_choice(row->choices, value))) {
        char example[32];
        copy_example(row, example);
        fprintf(stderr, "%s: %s takes %s, as in '%s %s'.\n", command, row->name, row->choices,
                row->name, example);
        return APP_PARSE_WRONG;
    }
    if (value == NULL || value[0] == '\0') {
        fprintf(stderr, "%s: %s takes a value, as in '%s %s'.\n", command, row->name, row->name,
                row->value);
        return APP_PARSE_WRONG;
    }
    *row->text = value;
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

static app_parse set(const app_option* row, const char* command, const char* value)
{
    if (row->number != NULL) {
        return set_number(row, command, value);
    }
    if (row->decimal != NULL) {
        return set_decimal(row, command, value);
    }
    return row->text != NULL ? set_text(row, command, value) : set_switch(row, command, value);
}

app_parse app_options_parse(const app_option* table, const char* command, int argc, char** argv)
{
    int arguments = 0;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return APP_PARSE_HELP;
        }
        const char* value = NULL;
        const app_option* row = find_argument(table, argv[i], arguments);
        if (row != NULL) {
            value = argv[i];
            ++arguments;
        } else {
            row = find(table, argv[i], &value);
        }
        if (row == NULL) {
            return complain_unknown(table, command, argv[i]);
        }
        if (row->bare != NULL && value == NULL &&
            (i + 1 == argc || !is_choice(row->choices, argv[i + 1]))) {
            value = row->bare;
        }
        if (takes_value(row) && value == NULL && i + 1 < argc) {
            i += 1;
            value = argv[i];
        }
        const app_parse parsed = set(row, command, value);
        if (parsed != APP_PARSE_OK) {
            return parsed;
        }
    }
    return APP_PARSE_OK;
}

bool app_options_read(const app_usage* usage, const app_option* table, int argc, char** argv,
                      int* status)
{
    const app_parse parsed = app_options_parse(table, usage->command, argc, argv);
    if (parsed == APP_PARSE_HELP) {
        usage->print_help(table);
    }
    *status = parsed == APP_PARSE_HELP ? APP_EXIT_OK : APP_EXIT_USAGE;
    return parsed == APP_PARSE_OK;
}

bool app_option_port(const char* text, int* port)
{
    char* end = NULL;
    const long number = strtol(text, &end, 10);
    *port = (int)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= 65535;
}

static const char* placeholder(const app_option* row)
{
    if (!takes_value(row) || row->name[0] != '-') {
        return "";
    }
    if (row->bare != NULL) {
        return "[WORD]";
    }
    return row->value != NULL ? row->value : "N";
}

static void describe_range(const app_option* row, char* text, size_t capacity)
{
    const double usual = row->number != NULL ? *row->number : *row->decimal;
    const int length = snprintf(text, capacity, " (%d..%d", row->lo, row->hi);
    char* rest = text + length;
    if (usual >= row->lo && usual <= row->hi) {
        snprintf(rest, capacity - (size_t)length, ", default %.9g)", usual);
    } else {
        snprintf(rest, capacity - (size_t)length, ")");
    }
}

// What follows the summary: range, choices, default. It stands on one line.
static void describe_values(const app_option* row, char* text, size_t capacity)
{
    text[0] = '\0';
    if (row->number != NULL || row->decimal != NULL) {
        describe_range(row, text, capacity);
    } else if (row->bare != NULL) {
        snprintf(text, capacity, " (%s, alone %s)", row->choices, row->bare);
    } else if (row->choices != NULL && *row->text == NULL) {
        snprintf(text, capacity, " (%s)", row->choices);
    } else if (row->choices != NULL) {
        snprintf(text, capacity, " (%s, default %s)", row->choices, *row->text);
    }
    for (char* c = text; *c != '\0'; ++c) {
        *c = *c == ' ' && c != text ? UNBREAKABLE : *c;
    }
}

// How much of the text goes on a line: it breaks at the last space that leaves the line in its
// width. A word that is longer than a line is not broken.
static size_t line_length(const char* text, size_t width)
{
    size_t length = strlen(text);
    while (length > width) {
        size_t space = length;
        do {
            --space;
        } while (space > 0 && text[space] != ' ');
        if (space == 0) {
            break;
        }
        length = space;
    }
    return length;
}

static void print_line(const char* text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        putchar(text[i] == UNBREAKABLE ? ' ' : text[i]);
    }
    putchar('\n');
}

static void print_row(const app_option* row)
{
    char left[40];
    const char* value = placeholder(row);
    snprintf(left, sizeof left, "%s%s%s", row->name, value[0] != '\0' ? " " : "", value);
    char values[256];
    describe_values(row, values, sizeof values);
    char text[512];
    snprintf(text, sizeof text, "%s%s", row->summary, values);

    printf("  %-*s", HELP_NAME, left);
    if (strlen(left) > HELP_NAME) {
        printf("\n%*s", HELP_INDENT - 1, "");
    }
    putchar(' ');
    const char* rest = text;
    size_t length = line_length(rest, HELP_COLUMNS - HELP_INDENT);
    print_line(rest, length);
    for (rest += length; *rest != '\0'; rest += length) {
        ++rest; // the space
        printf("%*s", HELP_INDENT, "");
        length = line_length(rest, HELP_COLUMNS - HELP_INDENT);
        print_line(rest, length);
    }
}

void app_options_print(const app_option* table)
{
    for (const app_option* row = table; row->name != NULL; ++row) {
        if (row->summary[0] != '\0') {
            print_row(row);
        }
    }
    printf("  %-*s %s\n", HELP_NAME, "--help", "this text");
}

// ---- what went wrong

bool app_complain(const char* command, const char* where, const ph_fault* fault)
{
    fprintf(stderr, "%s: %s", command, where);
    if (fault->line > 0) {
        fprintf(stderr, ":%d", fault->line);
    }
    if (fault->line > 0 && fault->column > 0) {
        fprintf(stderr, ":%d", fault->column);
    }
    fprintf(stderr, ": %s.\n", fault->message);
    return false;
}
