// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole bots` is asked for.

#ifndef PH_APP_BOTS_OPTIONS_H
#define PH_APP_BOTS_OPTIONS_H

#include "bus_options.h"

#include <pinhole/net/address.h>
#include <pinhole/packet.h>

typedef struct bots_options {
    const char* server_text;
    bool is_insecure_dev; // no key
    const char* key_path;
    const char* source;     // without the truth: what the server hosts
    const char* spare_text; // NULL: none
    const char* profile_text;
    const char* truth_text; // NULL: none
    double rate_hz;
    int count;
    int first_id;
    int mute; // of the count
    int flood;
    int vanish;
    int seconds;
    int converge_s;
    int silence_ms; // of --watch
    int seed;
    double ramp; // per second; 0: all at once
    double rtt_ms;
    double jitter_ms;
    double loss_pct;
    double chat_hz;
    int entities;       // with --director: of a scene, as the sims have it
    double loop_s;      // the same
    double radius_m;    // of the views, as the front-ends have it
    bus_options bus;    // servers NULL: no director
    bool is_controlled; // by `pinhole cluster`
    bool is_roaming;
    bool is_json;
    bool is_watching;
    // What became of the words.
    int truth_port; // -1: none
    ph_address server;
    ph_address spare;
    ph_profile profile;
} bots_options;

// Reads and checks the options, prints the help when it is asked for.
// @return True to go on; else *status is the APP_EXIT value to return.
bool bots_options_parse(int argc, char** argv, bots_options* options, int* status);

#endif
