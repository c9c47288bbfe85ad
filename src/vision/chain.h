// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Newcomers in an order in which neighbours follow each other: they get slots that follow each other,
// and a packet tells each of them from the one before. Runs when somebody enters; a crowd of 250, at
// the start of a viewer, takes some ten microseconds.

#ifndef PH_VISION_CHAIN_H
#define PH_VISION_CHAIN_H

#include "vision/crowd.h"

// About as many as a packet tells of at once.
#define PH_CHAIN_LENGTH 64

// Those seen are sorted, nearest first; positions are by entity. The nearest are told first, so only
// those may change places who are about as far away as each other, within the same power of two, and
// no more than PH_CHAIN_LENGTH of them: behind each one comes the nearest to it of those that are
// left.
void ph_chain_neighbours(ph_seen* seen, int count, const int32_t* x_mm, const int32_t* y_mm);

#endif
