// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The world of a server as a recording: the tick copies what changed, a thread of its own codes and writes it.

#ifndef PH_APP_SERVE_RECORD_H
#define PH_APP_SERVE_RECORD_H

#include "serve_writer.h"

#include "kit/fault.h"

#include <pinhole/recorder.h>

typedef struct serve_record serve_record;

// The world outlives it, and so does log, which is told what cannot be written. What the path names is
// replaced. @return NULL with *fault filled.
serve_record* serve_record_open(const char* path, const ph_world* world, serve_writer* log,
                                ph_fault* fault);

// For ph_host_def.recorder. NULL is allowed, here and below.
ph_recorder* serve_record_recorder(const serve_record* record);

// Writes what is left, and tells how much it was. After the host that records into it is gone.
void serve_record_close(serve_record* record);

#endif
