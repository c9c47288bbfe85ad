// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Why messages between machines are refused (docs/distributed.md). Sims and front-ends count them by these reasons:
// `refused` of their stats.

#ifndef PINHOLE_BUS_REFUSAL_H
#define PINHOLE_BUS_REFUSAL_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// The names are for metrics and never change.
#define PH_BUS_REFUSALS(X)                                                                         \
    X(SIZE, "size")       /* too short, too long, or bytes are left over */                        \
    X(VERSION, "version") /* another version of the protocol */                                    \
    X(KIND, "kind")       /* a kind that there is not, or that does not come here */               \
    X(FIELD, "field")     /* a value out of its range */                                           \
    X(END, "end")         /* an item is cut off */                                                 \
    X(SUBJECT, "subject") /* what it says is not what its subject says */                          \
    X(BATCH, "batch")     /* the import has refused its entities */                                \
    X(UNASKED, "unasked") /* an answer to nothing that was asked */

/// Why a message was refused; the reasons stand above.
typedef enum ph_bus_refusal {
#define PH_BUS_REFUSAL_VALUE(name, text) PH_BUS_REFUSAL_##name,
    PH_BUS_REFUSALS(PH_BUS_REFUSAL_VALUE)
#undef PH_BUS_REFUSAL_VALUE
        PH_BUS_REFUSAL_COUNT
} ph_bus_refusal;

/// A short lower-case name ("field"), never NULL. Static storage.
PH_API const char* ph_bus_refusal_name(ph_bus_refusal refusal);

#ifdef __cplusplus
}
#endif

#endif
