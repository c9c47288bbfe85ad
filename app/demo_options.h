// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The options of `pinhole demo`.

#ifndef PH_APP_DEMO_OPTIONS_H
#define PH_APP_DEMO_OPTIONS_H

#include <stdbool.h>

#define DEMO_COMMAND "pinhole demo"
// Where there is no terminal.
#define DEMO_SECONDS_USUAL 20.0
enum { DEMO_PORT_USUAL = 7777 };

typedef struct demo_options {
    const char* source;
    double rate_hz; // 0: as the source says
    int entities;   // 0: as many as the scene likes
    int players;    // of each way
    double kbps;
    double loss_percent;
    int rtt_ms;
    int jitter_ms;
    int seed;
    double seconds;        // 0: until it is stopped; without a terminal DEMO_SECONDS_USUAL
    const char* listen;    // NULL: 127.0.0.1
    const char* port_text; // NULL: DEMO_PORT_USUAL, or any other if that is taken
    int port;
    const char* password; // NULL: none
    bool is_pageless;
} demo_options;

// @return Whether to go on; if not, *status is what the program returns.
bool demo_options_parse(int argc, char** argv, demo_options* options, int* status);

#endif
