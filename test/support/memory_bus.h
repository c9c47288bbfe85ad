// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A transport in memory (pinhole/bus/transport.h) on a virtual clock, for tests of whole clusters on one thread. The
// same seed and the same calls give the same run.
//
//     memory_bus* bus = memory_bus_create(&(memory_bus_def){.seed = 1, .delay_max_us = 5000, .loss = 0.01});
//     int sim = memory_bus_add(bus);                       // an endpoint: one process
//     ph_bus_transport transport = memory_bus_transport(bus, sim);
//     ... publish, subscribe, read, swap ...
//     memory_bus_advance(bus, 50000);                      // time passes, and what is due arrives
//
// Messages of one endpoint come to another one in order, over all subjects. The second copy of a message that comes twice is late
// and keeps no order. As with ph_nats, an endpoint gets nothing of what it publishes itself, and a message that
// matches two of its subscriptions comes twice.
//
// Answers about records keep no order among each other. Functions fail the test when memory runs out.

#ifndef PINHOLE_TEST_MEMORY_BUS_H
#define PINHOLE_TEST_MEMORY_BUS_H

#include <pinhole/bus/transport.h>

typedef struct memory_bus memory_bus;

/// How the network behaves. {0}: everything arrives with the next advance, once.
typedef struct memory_bus_def {
    uint64_t seed;
    /// How long a message is under way.
    uint64_t delay_min_us;
    uint64_t delay_max_us;
    /// Probabilities, for each message and subscription: that it is lost, that it comes twice.
    double loss;
    double duplication;
    /// How long the answer to read() and swap() takes.
    uint64_t answer_min_us;
    uint64_t answer_max_us;
    /// A read gives the record as it was up to this long ago.
    uint64_t stale_us;
    /// How long a read or swap without an answer takes to become PH_BUS_UNKNOWN. 0 means 2 s.
    uint64_t timeout_us;
    /// How long an endpoint may take to notice that it is cut off; drawn by seed for each cut. Until then publish()
    /// returns true for what is lost, and is_connected() is true. 0: at once.
    uint64_t notice_max_us;
    /// Keeps all published bytes: memory_bus_log().
    bool has_log;
} memory_bus_def;

/// The clock starts at 1 s.
memory_bus* memory_bus_create(const memory_bus_def* def);
void memory_bus_destroy(memory_bus* bus);
/// Changes the behaviour for what is published and asked from now on; the seed is not used.
void memory_bus_change(memory_bus* bus, const memory_bus_def* def);

uint64_t memory_bus_now_us(const memory_bus* bus);
/// Time passes; what is due arrives in the order of its time.
void memory_bus_advance(memory_bus* bus, uint64_t elapsed_us);
/// When the next thing happens, or UINT64_MAX.
uint64_t memory_bus_next_us(const memory_bus* bus);

/// @return The new endpoint, 0 and up.
int memory_bus_add(memory_bus* bus);
/// Valid until the endpoint is killed.
ph_bus_transport memory_bus_transport(memory_bus* bus, int endpoint);

/// The endpoint has no connection from now on: what is under way to it is lost, what is under way from it arrives up
/// to a moment drawn by seed. Publishing returns false as soon as the endpoint has noticed (notice_max_us); then
/// lost_count() rises, too. Subscriptions stay for when it joins again.
void memory_bus_cut(memory_bus* bus, int endpoint);
/// It is connected again.
void memory_bus_join(memory_bus* bus, int endpoint);

/// What comes to the endpoint waits; next() and next_answer() return false.
void memory_bus_freeze(memory_bus* bus, int endpoint);
void memory_bus_thaw(memory_bus* bus, int endpoint);

/// The endpoint is gone: what is under way from it arrives up to a moment drawn by seed, and of what it has asked of
/// the records, each swap happens or not. Its transport must not be used any more.
void memory_bus_kill(memory_bus* bus, int endpoint);

/// While records are unavailable, reads and swaps are answered by PH_BUS_UNKNOWN, and by seed a swap happens, at some
/// time within twice the timeout, or not.
void memory_bus_set_records_available(memory_bus* bus, bool are_available);

/// A record as it is now, without delay: what a test judges by. @return Its revision, 0: there is none.
uint64_t memory_bus_get_record(const memory_bus* bus, const char* key, const uint8_t** bytes,
                               size_t* size);

typedef struct memory_bus_entry {
    uint64_t time_us;
    int endpoint;
    char subject[PH_BUS_SUBJECT_MAX];
    uint8_t* bytes;
    size_t size;
} memory_bus_entry;

/// Everything published since the start, also what was lost. Valid until the next publish.
const memory_bus_entry* memory_bus_log(const memory_bus* bus, int* count);
/// A digest of the log for one subject or pattern (">": all), to compare two runs.
uint64_t memory_bus_log_digest(const memory_bus* bus, const char* pattern);

/// Since the start.
typedef struct memory_bus_stats {
    uint64_t published;
    uint64_t delivered; ///< to inboxes, copies included
    uint64_t lost;      ///< deliveries lost by chance, cut or kill
    uint64_t duplicated;
    uint64_t swaps_done;
    uint64_t swaps_refused;
    uint64_t unknowns;
} memory_bus_stats;

memory_bus_stats memory_bus_get_stats(const memory_bus* bus);

/// Whether a subject matches a pattern with '*' and '>', by the rules of NATS.
bool memory_bus_matches(const char* pattern, const char* subject);

#endif
