// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What things cost, as measured on one machine: what `pinhole plan` reckons with.

#ifndef PH_APP_PLAN_FIGURES_H
#define PH_APP_PLAN_FIGURES_H

#include "kit/fault.h"

typedef struct plan_figures {
    const char* machine; // what kind, and when
    // `pinhole bench bus`
    double sim_ns;       // a record at the sim that publishes it
    double front_ns;     // and at a front-end that puts it into its world
    double server_ns;    // and at NATS, for each machine that it goes to
    double record_bytes; // on the bus
    // `pinhole bench load`
    double us_per_viewer_tick[2]; // classic, pinhole; vision and sending
    double bytes_per_viewer[2];
    // `pinhole bench net`
    double net_us_per_datagram; // sealing and the socket
} plan_figures;

plan_figures plan_figures_usual(void);

// Takes what a file of `pinhole bench bus --json`, `bench load --json` or several of them one after the other says.
// @return False with *fault filled: it has none of these figures.
bool plan_figures_read(plan_figures* figures, const char* path, ph_fault* fault);

#endif
