// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server did in the last second: a line for people, figures for others. Neither addresses of
// clients nor anything of keys is ever in it.

#ifndef PH_APP_SERVE_LOG_H
#define PH_APP_SERVE_LOG_H

#include "serve_front.h"
#include "serve_writer.h"

#include "kit/pace.h"

// Everything there is to tell at one moment.
typedef struct serve_report {
    serve_counts counts;
    uint64_t ticks;
    uint64_t missed;
    uint64_t cpu_us; // of the process
    uint64_t now_us;
    double worst_late_ms; // tick of the last second
    double rtt_ms;        // mean of those clients of which it is known
    double loss;          // mean, 0..1
    double oldest_due_ms; // the longest that any client has waited for something
    uint64_t log_dropped; // lines of the log that got lost
    uint64_t audit_dropped;
} serve_report;

serve_report serve_report_make(const serve_front* front, ph_pace* pace, const ph_world* world);

// The difference between two moments, as a line.
void serve_log_line(serve_writer* log, const serve_report* before, const serve_report* now);

// Under overload, what it means.
void serve_log_overload(serve_writer* log, const serve_report* before, const serve_report* now);

// The whole run.
void serve_log_end(serve_writer* log, const serve_report* first, const serve_report* last);

#endif
