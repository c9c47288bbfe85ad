// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Offers the truth to programs that check clients (`pinhole bots`), over TCP on 127.0.0.1 and
// nowhere else. It tells everything to every connection, and lets it stop the world: never for
// players.

#ifndef PH_APP_SERVE_TRUTH_H
#define PH_APP_SERVE_TRUTH_H

#include "serve_front.h"
#include "serve_options.h"

#include "kit/pace.h"

typedef struct serve_truth serve_truth;

typedef struct serve_truth_def {
    int port; // 0: any that is free
    serve_stage* stage;
    const serve_front* front;
    const serve_options* options;
    const ph_pace* pace;
} serve_truth_def;

// @return NULL with *fault filled. All that the def names outlives it.
serve_truth* serve_truth_open(const serve_truth_def* def, ph_fault* fault);
void serve_truth_close(serve_truth* truth); // NULL is allowed, here and below

int serve_truth_port(const serve_truth* truth);

// Lets in, answers, sends what waits. Never blocks. Some times per second.
void serve_truth_serve(serve_truth* truth);

// After the world's tick, which was due then.
void serve_truth_tell(serve_truth* truth, uint64_t due_us);

#endif
