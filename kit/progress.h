// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A bar on the terminal for long work, with the time left:
//
//   sim 26 kbit/s  [#########---------------]  38 %  12 s left
//
//     ph_progress progress = ph_progress_make("sim", ph_progress_is_wanted());
//     ph_progress_show(&progress, stderr, done, total, seconds_since_start);
//     ph_progress_end(&progress, stderr);
//
// Time comes in as an argument. Cheap enough to be called after every piece of work: it writes ten
// times a second at most.

#ifndef PINHOLE_KIT_PROGRESS_H
#define PINHOLE_KIT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PH_PROGRESS_LINE_MAX = 128 };

typedef struct ph_progress {
    const char* label; // borrowed; cut after 32 bytes
    bool is_wanted;
    bool is_shown;  // there is a line to wipe away
    double shown_s; // when it was written last
} ph_progress;

// Nothing is ever written when is_wanted is false.
ph_progress ph_progress_make(const char* label, bool is_wanted);

// True when standard error is a terminal.
bool ph_progress_is_wanted(void);

// done of total pieces are finished, now_s seconds after the start. Writes when something is to be
// seen: not in the first half second, then ten times a second at most.
void ph_progress_show(ph_progress* progress, FILE* file, double done, double total, double now_s);

// Wipes the line away.
void ph_progress_end(ph_progress* progress, FILE* file);

// The line itself, without control characters. size is PH_PROGRESS_LINE_MAX at least.
// @return Its length.
size_t ph_progress_format(char* line, size_t size, const char* label, double share, double now_s);

#endif
