// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The payloads of the admission (docs/wire_admission.md), written and read. They begin with a byte that
// no section of messages begins with, so either end tells them apart at once.
//
//   join     client to server   what it can read and hold, and its schema's fingerprint
//   welcome  server to client   what there will be, and the server's fingerprint
//   ask      client to server   the schema's text from this byte on, when the fingerprints differ
//   piece    server to client   so much of it
//   refusal  either way         why it does not work, in a sentence
//
// A few times per connection.

#ifndef PINHOLE_NET_ADMISSION_WIRE_H
#define PINHOLE_NET_ADMISSION_WIRE_H

#include <pinhole/ground.h>
#include <pinhole/net/admission.h>
#include <pinhole/schema.h>

enum {
    PH_ADMISSION_MARK = 0xF0,
    PH_ADMISSION_VERSION = 1,
    PH_ADMISSION_PIECE_MAX = 1000,
    PH_ADMISSION_SIZE_MAX = 2 + 4 + PH_ADMISSION_PIECE_MAX,
    PH_ADMISSION_SCHEMA_MAX = 1 << 24, // bytes of a schema's text
};

typedef enum ph_admission_kind {
    PH_ADMISSION_JOIN = 1,
    PH_ADMISSION_WELCOME,
    PH_ADMISSION_ASK,
    PH_ADMISSION_PIECE,
    PH_ADMISSION_REFUSAL,
} ph_admission_kind;

typedef struct ph_admission {
    ph_admission_kind kind;
    // Join, welcome. When version is not PH_ADMISSION_VERSION, nothing else is known.
    uint8_t version;
    bool has_ground;
    uint16_t slots; // join: at most; welcome: as many
    uint64_t fingerprint;
    uint32_t wire_versions; // join: bit v says that it reads version v
    uint8_t wire_version;   // welcome
    uint32_t tick_us;       // welcome
    uint32_t schema_size;   // welcome: bytes of the schema's text
    uint32_t offset;        // ask, piece
    uint8_t code;           // refusal: a ph_refusal, or one of a later version
    const uint8_t* bytes;   // piece: 1..PH_ADMISSION_PIECE_MAX; refusal: 0..PH_REFUSAL_TEXT_MAX
    size_t size;
} ph_admission;

static inline bool ph_admission_is(const uint8_t* bytes, size_t size)
{
    return size > 0 && bytes[0] == PH_ADMISSION_MARK;
}

// @return Bytes.
size_t ph_admission_write(const ph_admission* admission, uint8_t bytes[PH_ADMISSION_SIZE_MAX]);

// bytes of the result point into the payload. @return False, and {0}, for what no end of ours writes.
bool ph_admission_read(const uint8_t* bytes, size_t size, ph_admission* admission);

// Whether a sentence may be shown and logged: UTF-8 without control characters.
bool ph_admission_is_sentence(const uint8_t* bytes, size_t size);

// What of a welcome the client that sent this join cannot read or hold, as a sentence for both ends.
// @return PH_REFUSAL_NONE: they go together, but for the schema.
ph_refusal ph_admission_find_misfit(const ph_admission* join, const ph_admission* welcome,
                                    char text[PH_REFUSAL_TEXT_MAX + 1]);

// The same for other schemas of which no more is known.
void ph_admission_print_fingerprints(uint64_t server, uint64_t client,
                                     char text[PH_REFUSAL_TEXT_MAX + 1]);

// Whether altitudes depend on this ground: there is one, and a class uses it. Then both ends need it.
bool ph_admission_uses_ground(const ph_schema* schema, const ph_ground* ground);

// The reason that a code stands for; GAME for one that is not known.
ph_refusal ph_admission_refusal(uint8_t code);

// Makes a sentence fit for the wire: of valid UTF-8, cut off behind a whole character, without control
// characters. @return Its size.
size_t ph_admission_sentence(const char* text, uint8_t bytes[PH_REFUSAL_TEXT_MAX]);

#endif
