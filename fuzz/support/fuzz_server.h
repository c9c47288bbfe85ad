// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A server for fuzz targets, made of bytes: it writes packets that suit a client, because it looks
// into it, in either profile; or, if it is careless, packets that no server writes.

#ifndef PINHOLE_FUZZ_SERVER_H
#define PINHOLE_FUZZ_SERVER_H

#include "support/fuzz_source.h"

#include "client/client_state.h"

enum { FUZZ_SLOTS = 12, FUZZ_WORDS_MAX = 16, FUZZ_TEXTS_MAX = 32, FUZZ_SESSION = 77 };

extern const ph_ground fuzz_ground;

// Where the positions of a packet with this header are read around.
ph_known_eye fuzz_eye_of(const ph_client* client, const ph_header* header);
ph_frame fuzz_frame_of(const ph_client* client, const ph_header* header);

// ---- parts of packets

// Number, horizon, hello and eye; the tick is classic.
ph_header fuzz_make_header(const ph_client* client, fuzz_source* from);

typedef struct fuzz_record {
    ph_record record;
    uint32_t words[FUZZ_WORDS_MAX];
    uint8_t texts[FUZZ_TEXTS_MAX];
} fuzz_record;

// What a server could say of the slot, as far as it is this kind; its blocks are the record's own.
void fuzz_make_record(const ph_client* client, ph_record_kind kind, int slot, fuzz_source* from,
                      fuzz_record* made);

// What each slot is told: nothing, or one of the kinds of records.
typedef struct fuzz_plan {
    uint8_t kind1[FUZZ_SLOTS]; // ph_record_kind + 1
} fuzz_plan;

// Fills the counts of the header.
fuzz_plan fuzz_make_plan(const ph_client* client, ph_header* header, fuzz_source* from);

// ---- packets. @return The size.

size_t fuzz_write_classic(const ph_client* client, fuzz_source* from, bool is_careless,
                          uint8_t bytes[PH_PAYLOAD_MAX]);
size_t fuzz_write_pinhole(ph_client* client, fuzz_source* from, uint8_t bytes[PH_PAYLOAD_MAX]);
size_t fuzz_write_probe(const ph_client* client, fuzz_source* from, uint8_t bytes[PH_PAYLOAD_MAX]);

// What the client has just taken, written again; frame as it was before: must be the same bytes.
void fuzz_check_classic(const ph_client* client, const ph_frame* frame, const uint8_t* bytes,
                        size_t size);
void fuzz_check_pinhole(const ph_client* client, const ph_frame* frame, const ph_header* header,
                        const uint8_t* bytes, size_t size);

#endif
