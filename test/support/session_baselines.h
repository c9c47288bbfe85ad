// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether both ends of a session take the same for known: of every packet of the pinhole profile,
// the digest of the sender's baselines when it was written, and the client's when it was applied. A
// session looks by itself; classic knows no baselines.

#ifndef PINHOLE_SESSION_BASELINES_H
#define PINHOLE_SESSION_BASELINES_H

#include <stdbool.h>
#include <stdint.h>

enum { BASELINES_REMEMBERED = 128 }; // packets; twice as many as may be unresolved

// {0} at the start of a session.
typedef struct session_baselines {
    uint64_t digests[BASELINES_REMEMBERED]; // by number of the packet
    uint64_t sent_count;                    // without probes
    uint64_t applied_count;
    uint64_t compared_count;
} session_baselines;

struct test_session;

// A datagram leaves the world; a client has got one.
void session_note_baselines(struct test_session* session, int viewer);
void session_check_baselines(struct test_session* session, int viewer);

#endif
