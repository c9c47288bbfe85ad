// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What goes over one viewer's wire, measured at the link: a token bucket of its own, exact to the
// millionth of a bit, says whether the sender kept to the budget and what it left unused.
//
// Tokens are wasted when they run over the brim of the bucket while something was still due after
// the last send, and when they are left at the end while something is due.

#ifndef PINHOLE_KIT_SIM_WIRE_H
#define PINHOLE_KIT_SIM_WIRE_H

#include "kit/sim_result.h"

typedef struct ph_sim_wire_def {
    int64_t bits_per_second; // 0: no limit
    int64_t depth_bits;
    int overhead_bytes;
    double rate_hz; // ticks per second
    uint64_t now_us;
} ph_sim_wire_def;

// Read-only outside.
typedef struct ph_sim_wire {
    ph_sim_wire_def def;
    int64_t level_parts; // millionths of a bit
    int64_t left_parts;  // after the last send
    uint64_t filled_us;
    bool is_counted;   // in this tick
    bool is_due;       // something was, after the last send
    uint64_t* seconds; // bytes by tick modulo second_ticks: those of the last second
    int second_ticks;  // as many as make up a second, rounded up
    int tick;
    uint64_t second_bytes; // their sum
    // What is counted goes here.
    ph_sim_traffic* traffic;
} ph_sim_wire;

// A full bucket. @return False when there is no memory; *wire is {0} then.
bool ph_sim_wire_create(ph_sim_wire* wire, const ph_sim_wire_def* def, ph_sim_traffic* traffic);
void ph_sim_wire_destroy(ph_sim_wire* wire); // {0} is allowed

// Every tick, before the sends.
void ph_sim_wire_tick(ph_sim_wire* wire, uint64_t now_us, bool is_counted);

// One datagram leaves.
void ph_sim_wire_send(ph_sim_wire* wire, size_t payload_bytes);

// After the datagrams of a send: whether something is still due.
void ph_sim_wire_end_send(ph_sim_wire* wire, bool is_due);

// At the end. What came in since the last send is not held against the sender.
void ph_sim_wire_finish(ph_sim_wire* wire);

#endif
