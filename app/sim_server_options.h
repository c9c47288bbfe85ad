// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole sim-server` is asked for.

#ifndef PH_APP_SIM_SERVER_OPTIONS_H
#define PH_APP_SIM_SERVER_OPTIONS_H

#include "bus_options.h"
#include "cluster_regions.h"

typedef struct sim_server_options {
    const char* source;
    const char* schema_path;
    const char* regions_text;
    const char* want_text;
    const char* start_text;
    const char* metrics_text; // NULL: none
    bus_options bus;
    double rate_hz;
    double loop_s;
    int entities;
    int seed;
    int cell_m;
    int seconds; // 0: until a signal
    int suspect_ms;
    int verify_ms;
    int claim_later_ms;
    int players;
    bool is_quiet;
    bool is_controlled; // by `pinhole cluster`
    // What became of the words.
    bool has_metrics;
    int metrics_port;
    uint64_t start_us;
    cluster_regions regions;
    int wanted[CLUSTER_REGIONS_MAX];
    int wanted_count;
} sim_server_options;

// Reads and checks the options, prints the help when it is asked for.
// @return True to go on; else *status is the APP_EXIT value to return.
bool sim_server_options_parse(int argc, char** argv, sim_server_options* options, int* status);

#endif
