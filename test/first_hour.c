// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Provokes what goes wrong in the first hour with the library, and prints what the user is told: a line for each
// sentence, "case<TAB>who<TAB>sentence". test/check_first_hour.py runs it and judges the sentences.
//
//     first_hour            all cases
//     first_hour NAME...    some of them

#include "first_hour.h"

#include <stdio.h>
#include <string.h>

static const char* running;

void hour_say(const char* who, const char* sentence)
{
    printf("%s\t%s\t%s\n", running, who, sentence);
}

void hour_say_result(ph_result result, const ph_error* error)
{
    if (error->text[0] == '\0') {
        hour_say("bare result", ph_result_text(result));
    } else if (error->line == 0) {
        hour_say("result", error->text);
    } else {
        char text[PH_ERROR_TEXT_SIZE + 32];
        snprintf(text, sizeof text, "%d:%d: %s", error->line, error->column, error->text);
        hour_say("result", text);
    }
}

static bool is_chosen(const char* name, int argc, char** argv)
{
    bool is_named = argc <= 1;
    for (int i = 1; i < argc; ++i) {
        is_named = is_named || strcmp(argv[i], name) == 0;
    }
    return is_named;
}

static int run_all(const hour_case* cases, int argc, char** argv)
{
    int count = 0;
    for (; cases->name != NULL; ++cases) {
        if (is_chosen(cases->name, argc, argv)) {
            running = cases->name;
            cases->run();
            fflush(stdout);
            ++count;
        }
    }
    return count;
}

int main(int argc, char** argv)
{
    const int count = run_all(hour_connection_cases, argc, argv) +
                      run_all(hour_message_cases, argc, argv) +
                      run_all(hour_call_cases, argc, argv);
    if (count == 0) {
        fputs("first_hour: there is no such case\n", stderr);
    }
    return count > 0 ? 0 : 1;
}
