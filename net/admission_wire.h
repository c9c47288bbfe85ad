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
// and those by which a client goes on at another server:
//
//   spare    server to client   a part of a token for another server
//   have     client to server   which parts have come, and how many spares there are
//   probe    client to server   are you there? After silence
//   answer   server to client   yes
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
    PH_ADMISSION_PART_MAX = 256,       // bytes of a spare token
    PH_ADMISSION_PARTS = 8,
    PH_ADMISSION_SPARE_MAX = PH_ADMISSION_PARTS * PH_ADMISSION_PART_MAX,
};

typedef enum ph_admission_kind {
    PH_ADMISSION_JOIN = 1,
    PH_ADMISSION_WELCOME,
    PH_ADMISSION_ASK,
    PH_ADMISSION_PIECE,
    PH_ADMISSION_REFUSAL,
    PH_ADMISSION_SPARE,
    PH_ADMISSION_HAVE,
    PH_ADMISSION_PROBE,
    PH_ADMISSION_ANSWER,
} ph_admission_kind;

typedef struct ph_admission {
    ph_admission_kind kind;
    // Join, welcome. When version is not PH_ADMISSION_VERSION, nothing else is known.
    uint8_t version;
    bool has_ground;
    bool continues; // join: messages of a connection before this one; welcome: so does the server
    uint16_t slots; // join: at most; welcome: as many
    uint64_t fingerprint;
    uint32_t wire_versions; // join: bit v says that it reads version v
    uint8_t wire_version;   // welcome
    uint32_t tick_us;       // welcome
    uint32_t schema_size;   // welcome: bytes of the schema's text
    uint32_t offset;        // ask, piece, spare
    uint8_t number;         // spare: which, 1 or more; have: the newest, 0: none
    bool asks_move;         // spare: use it at once
    bool renews;            // spare: those before it are of no use any more
    uint16_t spare_size;    // spare: bytes of all of it, without the zeros at its end
    uint8_t parts;          // have: bit i says that part i of it has come
    uint8_t held;           // have: spares that can be used
    uint8_t code;           // refusal: a ph_refusal, or one of a later version
    // Piece: 1..PH_ADMISSION_PIECE_MAX; refusal: 0..PH_REFUSAL_TEXT_MAX; spare: a part.
    const uint8_t* bytes;
    size_t size;
} ph_admission;

static inline bool ph_admission_is(const uint8_t* bytes, size_t size)
{
    return size > 0 && bytes[0] == PH_ADMISSION_MARK;
}

// Bytes of the part of a spare at this offset.
static inline size_t ph_admission_part_size(size_t spare_size, size_t offset)
{
    const size_t left = spare_size - offset;
    return left < PH_ADMISSION_PART_MAX ? left : PH_ADMISSION_PART_MAX;
}

// All parts of a spare of this size, as bits.
static inline uint8_t ph_admission_all_parts(size_t spare_size)
{
    const size_t count = (spare_size + PH_ADMISSION_PART_MAX - 1) / PH_ADMISSION_PART_MAX;
    return (uint8_t)((1u << count) - 1u);
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
