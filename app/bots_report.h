// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What became of a swarm, for people and as JSON, and whether all was well.

#ifndef PH_APP_BOTS_REPORT_H
#define PH_APP_BOTS_REPORT_H

#include "bots_swarm.h"

// Of the good bots, but for what says otherwise.
typedef struct bots_report {
    int bots;       // all of them
    int good;       // those that are judged
    int connected;  // at the end
    int never;      // those that never were
    double seconds; // that the world moved
    double kbps_mean;
    double kbps_min; // of any bot, over its whole connection
    double kbps_max;
    double rtt_ms;
    double loss;       // 0..1
    double shown_mean; // entities in view at the end
    double join_ms;    // from the first request to the connection, mean
    uint64_t refused;  // datagrams that were not understood
    uint64_t overruns; // as the bots counted, with a second's tolerance
    uint64_t strangers;
    uint64_t chat_posted;   // messages
    uint64_t chat_returned; // by the server
    uint64_t chat_wrong;
    uint64_t inputs;
    uint64_t inputs_processed; // as the server says
    ph_spread_summary error_mm;
    ph_spread_summary error_mrad;
    bool is_compared; // there was a truth, and it stood still for us
    int converged;
    double converge_s; // of the last one that did
    truth_figures server;
} bots_report;

bots_report bots_report_make(const bots_swarm* swarm, double seconds);

void bots_report_print(const bots_report* report);
void bots_report_print_json(const bots_report* report);

// Says on standard error what was not well. @return Whether all was.
bool bots_report_judge(const bots_report* report, const bots_swarm* swarm);

#endif
