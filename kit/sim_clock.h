// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the sending side costs, and how long a run takes. No figure but CPU time may depend on it.

#ifndef PINHOLE_KIT_SIM_CLOCK_H
#define PINHOLE_KIT_SIM_CLOCK_H

#include <stdint.h>

// CPU time of the calling thread so far, in ns; on the wall where the system does not count it.
uint64_t ph_sim_clock_ns(void);

// Time on the wall, in seconds from anywhere.
double ph_sim_clock_wall_s(void);

#endif
