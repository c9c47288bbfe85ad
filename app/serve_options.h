// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole serve` is asked for.

#ifndef PH_APP_SERVE_OPTIONS_H
#define PH_APP_SERVE_OPTIONS_H

#include "bus_options.h"

#include <pinhole/net/address.h>
#include <pinhole/packet.h>

typedef struct serve_options {
    const char* source;
    const char* schema_path; // NULL: derived
    bool is_schema_alone;    // there is no source, which is named as the schema then
    const char* listen_text;
    const char* public_text;     // NULL: as listen
    const char* key_path;        // NULL: a development key
    const char* second_key_path; // NULL: none
    const char* audit_path;      // NULL: none
    const char* record_path;     // NULL: none
    const char* spent_path;      // NULL: no spent-tokens file
    const char* spare_text;      // NULL: players cannot be sent on
    int requests_per_second;
    int pending; // 0: as usual
    int pending_per_client;
    int pending_per_prefix;
    const char* profile_text;
    const char* hz_text;
    double rate_hz; // 0: as the source says
    int entities;   // of scenes; 0: as usual
    int clients;
    int threads;              // 0: all cores
    const char* metrics_text; // NULL: none
    const char* truth_text;
    int seed;
    int seconds; // 0: until a signal
    double loop_s;
    double kbps;
    double radius_m; // 0: as usual for the source
    double vision_hz;
    int slots;
    bus_options bus; // servers NULL: this server has its world to itself
    int cell_m;
    bool is_controlled; // by `pinhole cluster`
    bool has_metrics;
    bool has_truth;
    bool is_quiet;
    bool has_audit_addresses;
    bool is_rate_fixed;
    bool is_insecure_dev;
    // What became of the words.
    int metrics_port;
    int truth_port;
    ph_address listen;
    ph_address public_address; // port 0: that of listen
    ph_address spare;          // where players go when it is emptied
    ph_profile profile;
    double hz; // sends per second, or PH_SENDS_AUTO
} serve_options;

// Reads and checks the options, prints the help when it is asked for.
// @return True to go on; else *status is the APP_EXIT value to return.
bool serve_options_parse(int argc, char** argv, serve_options* options, int* status);

#endif
