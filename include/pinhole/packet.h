// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends of a link have in common: profiles, sizes, and the ledger of what bits were for.
// Every bit of a packet is described in docs/wire_format.md and docs/wire_pinhole.md.

#ifndef PINHOLE_PACKET_H
#define PINHOLE_PACKET_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The most that one datagram carries, in bytes; lower headers and a secure envelope not counted.
#define PH_PAYLOAD_MAX 1200

/// Bytes of an acknowledgement.
#define PH_ACK_SIZE 13

/// Packets that may be on their way without an answer. Beyond that only probes go out.
#define PH_FLIGHT_MAX 64

/// How packets are written and records chosen. Both ends must use the same one.
typedef enum ph_profile {
    /// Fixed-width slots, presence flags, truncated coordinates; no prediction, no entropy coding.
    PH_PROFILE_CLASSIC = 0,
    /// Differences to what the client is known to have, entropy coded.
    PH_PROFILE_PINHOLE,
    PH_PROFILE_COUNT
} ph_profile;

/// What a bit of payload was for.
typedef enum ph_reason {
    PH_REASON_HEADER = 0,
    /// Session, schema and tick length, in every packet until the first acknowledgement.
    PH_REASON_HELLO,
    /// Full coordinates of the eye that positions are decoded against.
    PH_REASON_EYE,
    PH_REASON_LEAVE,
    /// Everything about a newcomer: slot, class, name, values.
    PH_REASON_ENTER,
    /// Updates: which entity.
    PH_REASON_SLOT,
    /// Updates: which of its properties.
    PH_REASON_MASK,
    /// Updates: their values.
    PH_REASON_PROPERTY,
    PH_REASON_PADDING,
    /// What the caller adds by itself: see ph_world_reserve() and ph_world_spend().
    PH_REASON_RESERVED,
    PH_REASON_COUNT
} ph_reason;

/// A short lower-case name ("header"), never NULL. Static storage.
PH_API const char* ph_reason_name(ph_reason reason);

/// Where the payload went. In 1/256 bit, because coded symbols cost fractions of a bit.
typedef struct ph_ledger {
    /// By reason; together exactly 2048 times the payload bytes.
    uint64_t bits256[PH_REASON_COUNT];
    /// Of these: what was said again because a packet was lost.
    uint64_t repeat_bits256;
} ph_ledger;

#ifdef __cplusplus
}
#endif

#endif
