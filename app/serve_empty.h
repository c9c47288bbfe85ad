// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole serve` sends its players to another server, and then ends: SIGUSR1, with --spare.

#ifndef PH_APP_SERVE_EMPTY_H
#define PH_APP_SERVE_EMPTY_H

#include "serve_keys.h"

typedef struct serve_empty_def {
    ph_host* host;
    serve_keys* keys; // those that tokens are made with
    ph_address to;
    serve_writer* log;
} serve_empty_def;

typedef struct serve_empty serve_empty;

// From now on clients are sent on. The key is in memory for secrets until it ends. @return NULL with *fault filled.
serve_empty* serve_empty_begin(const serve_empty_def* def, ph_fault* fault);
void serve_empty_end(serve_empty* empty); // before the host is closed; NULL is allowed

// Whether all have gone, or it takes too long. Says so in the log, once.
bool serve_empty_is_done(serve_empty* empty);

#endif
