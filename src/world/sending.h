// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One send to one viewer.

#ifndef PH_WORLD_SENDING_H
#define PH_WORLD_SENDING_H

#include "world/world_state.h"

typedef struct ph_occasion {
    uint64_t now_us;
    ph_deliver* deliver;
    void* context;
} ph_occasion;

// As many datagrams as are due and can be paid for. Allocates nothing; different viewers may be
// served by different threads.
void ph_sending_run(ph_world* world, uint32_t viewer, const ph_occasion* occasion);

#endif
