// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What every command of a world on several machines is asked for: where NATS is, how to get in, which world, and under
// which name.

#ifndef PH_APP_BUS_OPTIONS_H
#define PH_APP_BUS_OPTIONS_H

#include "options.h"

enum { BUS_OPTIONS_ROWS = 12 };

typedef struct bus_options {
    const char* servers; // NULL: none
    const char* world;
    const char* name; // NULL: one by the kind and number of the process
    const char* user;
    const char*
        password_path; // secrets come by files: a command line can be read by all users of the machine
    const char* token_path;
    const char* credentials_path;
    const char* ca_path;
    const char* certificate_path;
    const char* key_path;
    int replicas;
    bool is_open_network;
    // What became of the words.
    char made_name[32];
} bus_options;

bus_options bus_options_default(void);

// Appends its rows to a table: `servers` is the name of the option that says where NATS is, "--bus" or "--director".
// @return How many, at most BUS_OPTIONS_ROWS.
int bus_options_rows(bus_options* options, const char* servers, app_option* rows);

// Checks and fills in the name. kind: "sim", "front", ... Says on standard error what is wrong, as `command`.
bool bus_options_check(bus_options* options, const char* command, const char* kind);

// For commands that were built without libnats. @return False.
bool bus_options_complain_missing(const char* command);

#endif
