// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the page's server says of itself at the end.

#include "demo_web.h"

#include <inttypes.h>
#include <stdio.h>

void demo_web_print_counts(const demo_web_counts* counts, char* text, size_t size)
{
    snprintf(text, size,
             "pages: %" PRIu64 " opened, %" PRIu64 " commands, %" PRIu64
             " requests; refused: %" PRIu64 " requests, %" PRIu64 " hosts, %" PRIu64
             " origins, %" PRIu64 " passwords, %" PRIu64 " pages, %" PRIu64 " messages, %" PRIu64
             " acks; %" PRIu64 " slow readers dropped",
             counts->opened, counts->commands, counts->requests, counts->refused_requests,
             counts->refused_hosts, counts->refused_origins, counts->refused_passwords,
             counts->refused_pages, counts->refused_messages, counts->refused_acks,
             counts->dropped_readers);
}
