// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The table of commands, and how a name is looked up in such a table.

#include "command.h"

#include "convert_command.h"
#include "judge_command.h"
#include "plan_command.h"
#include "suggest.h"
#include "tune_command.h"

#if defined(PH_APP_NET)
#include "bots_command.h"
#include "cluster_command.h"
#include "demo_command.h"
#include "director_command.h"
#include "serve_command.h"
#include "sim_server_command.h"
#include "soak_command.h"
#include "token_command.h"
#endif

#include <stdio.h>
#include <string.h>

const app_command app_commands[] = {
    {"sim", "what clients show at a budget, on a recording or a scene", sim_command},
    {"convert", "recordings from text into bytes, and back", convert_command},
    {"judge", "how well clients of any program showed a recording", judge_command},
#if defined(PH_APP_NET)
    {"demo", "one world through classic and pinhole, live, side by side", demo_command},
    {"serve", "host a world for real clients over UDP", serve_command},
    {"bots", "many real clients that check what a server tells them", bots_command},
    {"soak", "a whole deployment on simulated time, judged after every step", soak_command},
    {"sim-server", "simulate regions of a world on several machines", sim_server_command},
    {"director", "tokens for players, by place and load of the front-ends", director_command},
    {"cluster", "a world on several machines, all of it here, and what kills do to it",
     cluster_command},
    {"token", "a connect token, which lets one client into a server", token_command},
#endif
    {"tune", "a schema learned from recordings of the game", tune_command},
    {"plan", "machines, cores, memory and traffic for so many players", plan_command},
    {"bench", "measure speed on this machine", bench_command},
    {0},
};

const app_command* app_command_find(const app_command* table, const char* name)
{
    for (const app_command* row = table; row->name != NULL; ++row) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

void app_command_print_list(const app_command* table, FILE* file)
{
    for (const app_command* row = table; row->name != NULL; ++row) {
        fprintf(file, "  %-10s %s\n", row->name, row->summary);
    }
}

int app_command_complain(const app_command* table, const char* what, const char* name,
                         const char* lister)
{
    fprintf(stderr, "pinhole: there is no %s '%s'.\n", what, name);
    app_suggestion best = app_suggestion_make(name);
    for (const app_command* row = table; row->name != NULL; ++row) {
        app_suggestion_consider(&best, row->name);
    }
    if (best.candidate != NULL) {
        fprintf(stderr, "Did you mean '%s'? ", best.candidate);
    }
    fprintf(stderr, "'%s' lists them.\n", lister);
    return APP_EXIT_USAGE;
}
