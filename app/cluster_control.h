// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How `pinhole cluster` speaks to the parts of its demonstration, beside the protocol of the library: plain lines, on
// loopback only. A game needs none of it.
//
//     control.<world>   "go START", "stand TICK START"    repeated, so that a part that was away or is new hears it:
//                       the world plays from this start (Unix time, us) on; or plays up to this tick and stands there
//     report.<world>    "sim-a kind=sim pid=17 tick=120 ..."    each part, twice a second, what it is and does
//     players.<world>   a front-end, twice a second: its name, a line break, and of each player the key of its entity and
//                       its generation, 8 bytes each
//     owned.<world>     a sim, while the world stands: its name, a line break, and the keys that it owns, 8 bytes each

#ifndef PH_APP_CLUSTER_CONTROL_H
#define PH_APP_CLUSTER_CONTROL_H

#include "cluster_bus.h"
#include "cluster_truth.h"

typedef struct cluster_control {
    const char* world;
    uint64_t start_us;
    bool is_standing; // at stand_tick, or on the way there
    uint64_t stand_tick;
} cluster_control;

enum { CLUSTER_REPORT_MAX = 1024 };

void cluster_control_subject(char* subject, const char* root, const char* world);

// Takes a line of control. @return False when the message is none.
bool cluster_control_take(cluster_control* control, const ph_bus_message* message);

// Says it to all parts.
void cluster_control_say(const cluster_control* control, cluster_bus* bus);

// The tick to play now, and whether the world stands there.
uint64_t cluster_control_tick(const cluster_control* control, const cluster_truth* truth,
                              bool* stands);

// Now by the wall clock, in us of Unix time.
uint64_t cluster_control_unix_us(void);

// When the next tick begins, by ph_socket_now_us(): at start + k ticks and so much of a tick later.
uint64_t cluster_control_next_us(uint64_t start_us, uint32_t tick_us, double late);

// A word of a report, "players" of "sim-a kind=sim players=3". @return false, and "", when it is not there.
bool cluster_report_word(const char* report, const char* name, char* word, size_t capacity);
double cluster_report_number(const char* report, const char* name); // 0 when it is not there

#endif
