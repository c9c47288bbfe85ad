// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server and the programs that check it exchange over loopback: which world it is, where
// every entity is at every tick, and, while the world stands still, all that a client should know.
//
//   | size of the rest, 4 bytes | kind, 1 byte | body |       all numbers little-endian
//
// server: HELLO at once, TICK at every tick, STATE, SIGHT and FIGURES when they are asked for.
// other side: STAND, GO, and the questions; HERE at once and every few ticks, so that it keeps its place
// before those that say nothing.

#ifndef PH_APP_TRUTH_WIRE_H
#define PH_APP_TRUTH_WIRE_H

#include <pinhole/client.h>
#include <pinhole/world.h>

typedef enum truth_kind {
    // version, profile, tick_us, bits_per_second, depth of the bucket in bits, source, schema
    TRUTH_HELLO = 1,
    // tick, time in us (of ph_socket_now_us), whether it stands, count; by key ascending: key, x, y, z
    TRUTH_TICK,
    // count; each: key, class, count of properties, what truth_value_... says of each
    TRUTH_STATE,
    // client id, whether it is connected, its eye x, y, z, keys of all that it should have in view
    TRUTH_SIGHT,
    // ticks missed, turns put off, overruns, datagrams, bytes on the wire
    TRUTH_FIGURES,
    TRUTH_STAND = 16,
    TRUTH_GO,
    TRUTH_WANT_STATE,
    TRUTH_WANT_SIGHT, // client id
    TRUTH_WANT_FIGURES,
    TRUTH_HERE, // still listening; has no answer
} truth_kind;

enum { TRUTH_VERSION = 2, TRUTH_MESSAGE_MAX = 64 << 20 };

// ---- writing: bytes that grow

// {0} is empty. is_short: there was no memory; nothing is written from then on.
typedef struct truth_bytes {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
    bool is_short;
} truth_bytes;

void truth_bytes_destroy(truth_bytes* out);
void truth_bytes_drop(truth_bytes* out, size_t size); // from the front
void truth_put(truth_bytes* out, uint64_t number, int bytes);
void truth_put_raw(truth_bytes* out, const void* bytes, size_t size);
void truth_put_text(truth_bytes* out, const char* text);

// @return What truth_end wants to know.
size_t truth_begin(truth_bytes* out, truth_kind kind);
void truth_end(truth_bytes* out, size_t start);

// ---- reading: fails stickily

typedef struct truth_reader {
    const uint8_t* at;
    size_t left;
    bool has_failed;
} truth_reader;

uint64_t truth_take(truth_reader* in, int bytes);
int32_t truth_take_i32(truth_reader* in);
// Into text, ended by a zero byte; fails when it does not fit.
void truth_take_text(truth_reader* in, char* text, size_t capacity);

// The first whole message of some bytes. @return Its size with head, 0 when it is not complete;
// SIZE_MAX for nonsense.
size_t truth_next(const truth_bytes* in, truth_kind* kind, truth_reader* body);

// ---- values that both ends can compare

// A number for the value of one property at either end, the same if and only if (but for an accident
// in 2^64) the levels are. References: the key of the target plus one, 0 for none.
uint64_t truth_value_of_world(const ph_world* world, ph_entity_id entity, int property,
                              const ph_property_def* def);
uint64_t truth_value_of_client(const ph_client* client, ph_entity_id entity, int property,
                               const ph_property_def* def);

#endif
