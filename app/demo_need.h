// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// "To be as right as this, classic needs 51 kbit/s": found beside the demo by runs of the simulator (kit/need.h), on a
// thread of low priority. Pages ask again and again for what they show; what no page has asked for lately is given up,
// and what was found is kept.
//
//     demo_need_ask(need, &question);                        several times a second
//     if (demo_need_answer(need, &question, &version, &found)) { ... there is more than at that version ... }

#ifndef PH_APP_DEMO_NEED_H
#define PH_APP_DEMO_NEED_H

#include "demo_page_session.h"

#include "kit/need.h"

enum { DEMO_NEED_KEY_MAX = DEMO_SOURCE_MAX + 160, DEMO_NEED_KEPT = 32 };

// All that the answer depends on.
typedef struct demo_need_question {
    char key[DEMO_NEED_KEY_MAX]; // equal questions have equal keys
    char source[DEMO_SOURCE_MAX];
    int entities;
    double rate_hz;
    uint64_t seed;
    demo_page_controls controls;
    ph_sim_def sims[PH_WAY_COUNT];
} demo_need_question;

// What a page with these controls asks of this scene.
void demo_need_question_make(demo_need_question* question, const demo_stage* stage,
                             const demo_page_controls* controls);

typedef struct demo_need demo_need;

// Of the truth that each run plays. Fewer, and the answer comes sooner.
#define DEMO_NEED_SECONDS 30.0

// Starts the thread. @return NULL when there is no memory, or no thread.
demo_need* demo_need_create(double run_seconds);

// Cancels what runs, and waits for the thread. NULL is allowed.
void demo_need_destroy(demo_need* need);

// All of these from one thread; now_us is real time.
void demo_need_ask(demo_need* need, const demo_need_question* question, uint64_t now_us);

// @return Whether there is an answer, or more of it, than at *version (0 at first), which is then that of *found.
bool demo_need_answer(demo_need* need, const demo_need_question* question, uint64_t* version,
                      ph_need* found);

#endif
