// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The commands of the pinhole program: `pinhole NAME ...`. A new command is one function and one
// row of the table in command.c. Benchmarks use the same rows for `pinhole bench NAME ...`.

#ifndef PH_APP_COMMAND_H
#define PH_APP_COMMAND_H

#include <stdio.h>

// What the program returns to the shell.
enum {
    APP_EXIT_OK = 0,
    APP_EXIT_FAILURE = 1, // asked rightly, went wrong
    APP_EXIT_USAGE = 2,   // asked wrongly: the message says what to do
};

typedef struct app_command {
    const char* name;
    const char* summary; // one line for lists
    // argv[0] is the name. Understands --help. Returns an APP_EXIT value.
    int (*run)(int argc, char** argv);
} app_command;

// Tables end with a row whose name is NULL.
extern const app_command app_commands[];

// NULL when there is none of that name.
const app_command* app_command_find(const app_command* table, const char* name);

void app_command_print_list(const app_command* table, FILE* file);

// Says on standard error that `what` has no such name, which one may have been meant, and which
// command lists them all. Returns APP_EXIT_USAGE.
int app_command_complain(const app_command* table, const char* what, const char* name,
                         const char* lister);

// What clients show at a budget.
int sim_command(int argc, char** argv);

// Lives in bench/, which links into the program.
int bench_command(int argc, char** argv);

#endif
