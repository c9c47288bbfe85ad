// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole sim --page`: what one viewer sees through classic and through pinhole, side by side, as a page
// that stands alone. The viewer is the first of the run. Each way is played once more with it alone, which
// changes nothing for it, and captured as a feed (docs/wire_feed.md); then it is asked which budget classic
// would need to be as right as pinhole.

#ifndef PH_APP_SIM_PAGE_H
#define PH_APP_SIM_PAGE_H

#include "sim_options.h"

// A page is no larger than this, in bytes.
#define SIM_PAGE_SIZE_MAX 16000000

typedef struct sim_page {
    const sim_options* options;
    const ph_sim_material* material;
    ph_pool* pool;
    FILE* file;
    // Called now and then with the share of the work that is done, 0..1.
    void (*progress)(void* context, double done);
    void* context;
} sim_page;

// @return False with *fault filled.
bool sim_page_write(const sim_page* page, ph_fault* fault);

#endif
