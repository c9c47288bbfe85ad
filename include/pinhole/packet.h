// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends of a connection must agree on: profiles and sizes. Every bit of a packet is described
// in docs/wire_format.md and docs/wire_pinhole.md.

#ifndef PINHOLE_PACKET_H
#define PINHOLE_PACKET_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of an ack.
#define PH_ACK_SIZE 13

/// Packets that may be in flight, sent and not acked. Beyond that only probes go out.
#define PH_FLIGHT_MAX 64

/// How packets are written and records chosen. Both ends must use the same one.
typedef enum ph_profile {
    /// Fixed-width slots, presence flags, truncated coordinates; no prediction, no entropy coding.
    PH_PROFILE_CLASSIC = 0,
    /// Differences to what the client is known to have, entropy coded.
    PH_PROFILE_PINHOLE,
    PH_PROFILE_COUNT
} ph_profile;

/// In which version of the wire the packets of each profile are written, as their hello says.
#define PH_WIRE_VERSION_CLASSIC 1
#define PH_WIRE_VERSION_PINHOLE 6

#ifdef __cplusplus
}
#endif

#endif
