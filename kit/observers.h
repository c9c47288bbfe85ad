// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whose eyes a measurement looks through.

#ifndef PINHOLE_KIT_OBSERVERS_H
#define PINHOLE_KIT_OBSERVERS_H

#include "kit/recording.h"

enum { PH_OBSERVER_SECONDS_MIN = 10 };

// Of the entities that are present for 10 s or more, all spans together, and move 10 m or more, those
// with the longest path; of equal ones the one that appears first, then the one with the lower id. A
// path is the sum of all steps from tick to tick, in space; what happens while it is absent is none.
// Writes at most max of them, the longest path first.
// @return How many, -1 when there is no memory.
int ph_observers_choose(const ph_recording* recording, int max, int* entities);

#endif
