// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which steps of a recording are jumps, when it does not say so itself. Found with hindsight, and so by
// another rule than the library's, which knows nothing of the step to come:
//
//   a step over 100 m/s which differs from the one before it and from the one behind it, in space, by
//   more than half its length. What there is not, at the beginning and the end of a stay, it differs from.

#ifndef PINHOLE_KIT_JUMP_MARKS_H
#define PINHOLE_KIT_JUMP_MARKS_H

#include "kit/recording.h"

// Fills recording->is_jump; rate, positions and spans are there.
void ph_jump_marks_find(ph_recording* recording);

#endif
