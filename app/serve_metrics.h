// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Figures of a server for Prometheus: GET /metrics over HTTP on 127.0.0.1 and nowhere else. Served
// from the thread of the tick, a little at a time; the text is made once a second.

#ifndef PH_APP_SERVE_METRICS_H
#define PH_APP_SERVE_METRICS_H

#include "serve_log.h"

typedef struct serve_metrics serve_metrics;

// port 0: any that is free. @return NULL with *fault filled: it is taken.
serve_metrics* serve_metrics_open(int port, ph_fault* fault);
void serve_metrics_close(serve_metrics* metrics); // NULL is allowed, here and below

int serve_metrics_port(const serve_metrics* metrics);

// What there is to tell from now on.
void serve_metrics_set(serve_metrics* metrics, const serve_report* now);

// The same as text, for commands with other figures; and more of it, behind what was set. What does not fit is left out.
void serve_metrics_set_text(serve_metrics* metrics, const char* text);
void serve_metrics_add_text(serve_metrics* metrics, const char* text);

// Lets in, answers. Never blocks. Some times per second.
void serve_metrics_serve(serve_metrics* metrics);

// The text alone, at most capacity bytes with the zero byte at its end. @return Its length.
size_t serve_metrics_print(const serve_report* now, char* text, size_t capacity);

#endif
