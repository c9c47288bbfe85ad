// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How deep a bucket at the link must be: worked out from the schema alone, without asking the sender
// that it is to judge.

#ifndef PINHOLE_KIT_BUDGET_H
#define PINHOLE_KIT_BUDGET_H

#include <pinhole/schema.h>

#include <stdint.h>

// What the smallest datagram with the dearest enter of the schema may cost on the wire, in bits: no
// less than it does, and not much more.
int64_t ph_budget_dearest_bits(const ph_schema* schema, int overhead_bytes);

// Depth of the bucket that a budget asks for: so many seconds of the rate, but never less than one
// datagram with the dearest enter, which else could never be sent.
typedef struct ph_budget_def {
    int64_t bits_per_second;
    double burst_s;
    int overhead_bytes;
} ph_budget_def;
int64_t ph_budget_depth_bits(const ph_budget_def* def, const ph_schema* schema);

// The burst alone, in whole bits.
int64_t ph_budget_burst_bits(const ph_budget_def* def);

#endif
