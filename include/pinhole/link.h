// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A simulated network: one direction of a connection, in memory. Datagrams go in and come out later, in
// another order, twice, or never. For tests, for examples, and for a game that wants to know how it plays
// over a bad line: it stands where the socket stands.
//
//     ph_link* down;
//     const ph_link_def def = {.seed = 1, .delay_us = 50000, .jitter_us = 10000, .loss = 0.05};
//     if (ph_link_create(&def, &down) != PH_OK) { ... }
//
//     ph_link_send(down, now_us, bytes, size);                                  // where a server sends
//     while ((size = ph_link_receive(down, now_us, bytes, sizeof bytes)) > 0) { // where a client receives
//         ph_client_receive(client, now_us, bytes, size);
//     }
//
//     ph_link_destroy(down);
//
// A connection needs two links, one for each direction, with one seed and two keys. Several links may share
// a bottleneck, as the devices of a household share its line.
//
// What happens to a datagram depends on the seed, the key and how many were sent before it, and on nothing
// else. So two runs that send as many datagrams meet the same network, whatever the datagrams hold and
// whenever they are sent.
//
// Time is the caller's, in microseconds from any start, below 2^63. A link has no clock and no thread. Links
// share nothing but a bottleneck: each link, or all links of one bottleneck, may be used by one thread at a
// time.

#ifndef PINHOLE_LINK_H
#define PINHOLE_LINK_H

#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The largest datagram, bytes: the largest payload of UDP over IPv4.
#define PH_LINK_DATAGRAM_MAX 65507

/// The narrowest place of a network: datagrams wait in a queue and leave one after the other at a fixed rate;
/// a datagram that finds no room in the queue is dropped. A plain struct of the caller, which outlives the
/// links it stands in. The caller may read all of it at any time, and change the first three fields between
/// two sends.
///
///     ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 1000, .overhead_bytes = 48};
///     const ph_link_def def = {.delay_us = 40000, .bottleneck = &narrow};
typedef struct ph_bottleneck {
    /// 0 or more. 0: everything passes at once.
    int bits_per_second;
    /// Bytes that may be in the queue, 0 or more. An empty queue takes a datagram of any size.
    int queue_bytes;
    /// What each datagram takes beside its payload, bytes, 0 or more.
    int overhead_bytes;
    /// When the queue will be empty. Starts as 0; written by links.
    uint64_t free_us;
    /// Datagrams that have passed, and that were dropped. Start as 0; written by links.
    uint64_t passed;
    uint64_t dropped;
} ph_bottleneck;

/// How long a datagram that is sent now waits until those before it have left, microseconds.
PH_API uint64_t ph_bottleneck_wait_us(const ph_bottleneck* bottleneck, uint64_t now_us);

/// How to build a link. Zero-initialised, it is a perfect network: everything arrives, once and at once.
typedef struct ph_link_def {
    /// Which network. Any number; the same one gives the same network.
    uint64_t seed;
    /// Which link and direction of that network: any number that is not the same for two links.
    uint64_t key;
    /// How long every datagram takes, microseconds: half of a round trip.
    uint32_t delay_us;
    /// How much longer it may take, microseconds: evenly between 0 and this. Datagrams overtake each other
    /// when it is more than the time between them.
    uint32_t jitter_us;
    /// How probably a datagram is lost, 0..1. Each by itself: losses do not come in bursts.
    double loss;
    /// How probably a datagram that is not lost arrives twice, 0..1. Each copy has its own jitter.
    double duplication;
    /// Stands before all of that. NULL: there is none. Not copied: it outlives the link.
    ph_bottleneck* bottleneck;
    /// Zero-initialised means malloc and free. Copied; its context outlives the link.
    ph_allocator allocator;
    /// Told what was wrong with a failing call, see pinhole/error.h. NULL: nothing is told.
    ph_error_fn* on_error;
    void* on_error_context;
} ph_link_def;

/// One direction of a simulated network. Opaque.
typedef struct ph_link ph_link;

/// Creates a link with nothing on its way.
/// @return PH_OK, PH_ERROR_ARGUMENT (a probability is not 0..1, or a field of the bottleneck is negative), or
/// PH_ERROR_MEMORY; *link is NULL unless PH_OK.
PH_API ph_result ph_link_create(const ph_link_def* def, ph_link** link);

/// Destroys a link and what is on its way. NULL is allowed.
PH_API void ph_link_destroy(ph_link* link);

/// Sends one datagram of 1..PH_LINK_DATAGRAM_MAX bytes. They are copied. A datagram that is lost was sent
/// all the same: the result does not tell. Memory grows with the most that has been on its way at a time,
/// and is used again.
/// @return PH_OK; PH_ERROR_ARGUMENT (no bytes, or too many) or PH_ERROR_MEMORY, with the link and its
/// bottleneck as they were.
PH_API ph_result ph_link_send(ph_link* link, uint64_t now_us, const void* bytes, size_t size);

/// Takes out the next datagram that has arrived by now: the earliest first, and of equal times the one that
/// was sent first. A capacity below its size is misuse (without assertions the rest is cut off, as a socket
/// does it); one of PH_LINK_DATAGRAM_MAX always fits.
/// @return Its size, or 0 when nothing has arrived.
PH_API size_t ph_link_receive(ph_link* link, uint64_t now_us, void* bytes, size_t capacity);

/// When the next datagram arrives, which may have been before now; UINT64_MAX when none is on its way.
PH_API uint64_t ph_link_next_us(const ph_link* link);

/// Changes the network from now on; what is on its way stays as it is. Seed, key and allocator stay,
/// whatever the def says. Each property is drawn by itself: with another loss the same datagrams have the
/// same jitter, and what a lower loss takes, a higher one takes, too.
/// @return PH_OK, or PH_ERROR_ARGUMENT as ph_link_create(), with the link as it was.
PH_API ph_result ph_link_change(ph_link* link, const ph_link_def* def);

/// Since the link was created; named as in pinhole/stats.h. Sent and duplicated datagrams together are the
/// lost ones, the received ones and those on their way.
typedef struct ph_link_stats {
    /// Lost ones included; and the bytes of these.
    uint64_t sent_datagrams;
    uint64_t sent_bytes;
    /// Those included that the bottleneck dropped.
    uint64_t lost_datagrams;
    /// Second copies.
    uint64_t duplicated_datagrams;
    /// Taken out, second copies included.
    uint64_t received_datagrams;
} ph_link_stats;

/// What a link has done so far.
PH_API ph_link_stats ph_link_get_stats(const ph_link* link);

#ifdef __cplusplus
}
#endif

#endif
