// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The page of `pinhole cluster` (web/cluster.html), on 127.0.0.1 alone: every page that is open is told the same. It can
// look and do nothing. Who may open it is decided in demo_gate.h.
//
// Pages are never waited for: one that reads slowly is told less often, and always the newest.

#ifndef PH_APP_CLUSTER_WEB_H
#define PH_APP_CLUSTER_WEB_H

#include "kit/fault.h"

#include <stddef.h>

typedef struct cluster_web cluster_web;

// port 0: any that is free. @return NULL with *fault filled.
cluster_web* cluster_web_open(int port, ph_fault* fault);
void cluster_web_close(cluster_web* web); // NULL is allowed

// "http://127.0.0.1:7777". Lives as long as the server.
const char* cluster_web_url(const cluster_web* web);

// Pages that are open.
int cluster_web_count(const cluster_web* web);

// What all of them are told next, as JSON; copied. Without memory they are told nothing.
void cluster_web_tell(cluster_web* web, const void* text, size_t size);

// Serves what there is, without waiting. Some dozen times a second.
void cluster_web_serve(cluster_web* web);

#endif
