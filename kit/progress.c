// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Called after every piece of work, which may be thousands a second; draws seldom.

// isatty() and fileno() are of POSIX.
#define _POSIX_C_SOURCE 200809L

#include "kit/progress.h"

#include <pinhole/base.h>

#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 24, LABEL_MAX = 32, TIME_MAX = 40 };

#define FIRST_S 0.5
#define INTERVAL_S 0.1
// Before this the rest is a guess that jumps about.
#define GUESS_AFTER_S 1.0
#define GUESS_AFTER_SHARE 0.01

ph_progress ph_progress_make(const char* label, bool is_wanted)
{
    return (ph_progress){.label = label, .is_wanted = is_wanted};
}

bool ph_progress_is_wanted(void)
{
    return isatty(fileno(stderr)) == 1;
}

// "12 s left", "3 min 05 s left", "2 h 07 min left"; nothing as long as it cannot be known.
static void format_time_left(char* text, double share, double now_s)
{
    text[0] = '\0';
    if (share < GUESS_AFTER_SHARE || now_s < GUESS_AFTER_S) {
        return;
    }
    const double left_s = now_s * (1.0 - share) / share;
    // More than a year is no answer.
    if (!(left_s < 3e7)) {
        return;
    }
    const int seconds = (int)(left_s + 0.5);
    if (seconds < 60) {
        snprintf(text, TIME_MAX, "  %d s left", seconds);
    } else if (seconds < 3600) {
        snprintf(text, TIME_MAX, "  %d min %02d s left", seconds / 60, seconds % 60);
    } else {
        snprintf(text, TIME_MAX, "  %d h %02d min left", seconds / 3600, seconds / 60 % 60);
    }
}

size_t ph_progress_format(char* line, size_t size, const char* label, double share, double now_s)
{
    PH_ASSERT(size >= PH_PROGRESS_LINE_MAX);
    const double held_share = share > 0.0 ? (share < 1.0 ? share : 1.0) : 0.0;
    char bar[BAR_WIDTH + 1];
    const int full = (int)(held_share * BAR_WIDTH);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '-', (size_t)(BAR_WIDTH - full));
    bar[BAR_WIDTH] = '\0';
    char time_left[TIME_MAX];
    format_time_left(time_left, held_share, now_s);
    const int length = snprintf(line, size, "%.*s  [%s] %3d %%%s", LABEL_MAX, label, bar,
                                (int)(held_share * 100.0), time_left);
    return (size_t)length;
}

void ph_progress_show(ph_progress* progress, FILE* file, double done, double total, double now_s)
{
    const double next_s = progress->is_shown ? progress->shown_s + INTERVAL_S : FIRST_S;
    if (!progress->is_wanted || now_s < next_s || !(total > 0.0)) {
        return;
    }
    char line[PH_PROGRESS_LINE_MAX];
    ph_progress_format(line, sizeof line, progress->label, done / total, now_s);
    // To the start of the line, and away with what the last one had behind it.
    fprintf(file, "\r%s\x1b[K", line);
    fflush(file);
    progress->is_shown = true;
    progress->shown_s = now_s;
}

void ph_progress_end(ph_progress* progress, FILE* file)
{
    if (progress->is_shown) {
        fputs("\r\x1b[K", file);
        fflush(file);
    }
    progress->is_shown = false;
}
