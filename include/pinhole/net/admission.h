// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Why a client and a server do not go together. Between the secure connection and the view stands the
// admission (docs/wire_admission.md): a ph_peer tells its ph_host what it can read and hold, the host
// tells what there will be, and where the two disagree, both learn it in a sentence.

#ifndef PINHOLE_NET_ADMISSION_H
#define PINHOLE_NET_ADMISSION_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The longest sentence that goes over the wire, in bytes, without the zero at its end.
#define PH_REFUSAL_TEXT_MAX 255

// Why one end refuses the other. Numbers are those of the wire; the names are for metrics and never change.
#define PH_REFUSALS(X)                                                                             \
    X(NONE, "none")             /* it does not */                                                  \
    X(GAME, "game")             /* the game said so: ph_host_refuse() */                           \
    X(SCHEMA, "schema")         /* the schemas write different bits */                             \
    X(WIRE, "wire")             /* the client cannot read packets of this profile or version */    \
    X(SLOTS, "slots")           /* the view has more slots than the client can hold */             \
    X(GROUND, "ground")         /* one end has a ground, the other has none */                     \
    X(VERSION, "version")       /* another version of the admission */                             \
    X(MEMORY, "memory")         /* the client has no memory for the view */                        \
    X(TAKEN_OVER, "taken_over") /* the same client id has connected anew */

/// Why one end refuses the other; the reasons stand above. NONE (0): it does not.
typedef enum ph_refusal {
#define PH_REFUSAL_VALUE(name, text) PH_REFUSAL_##name,
    PH_REFUSALS(PH_REFUSAL_VALUE)
#undef PH_REFUSAL_VALUE
        PH_REFUSAL_COUNT
} ph_refusal;

/// A short lower-case name ("schema"), never NULL. Static storage.
PH_API const char* ph_refusal_name(ph_refusal refusal);

#ifdef __cplusplus
}
#endif

#endif
