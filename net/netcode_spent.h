// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The spent-tokens file: which tokens have let a client in, so that a server knows it after a restart. It is read
// when the server is created, written anew without what has expired when it starts, and grows by a record for
// each connection. A record is written before the connection is made.
//
//   header, 32:  | "PH spent" 8 | version 4 | dropped 4 | since 8 | check 8 |
//   record, 32:  | tag of the token 16 | expires, Unix seconds 8 | check 8 |
//
// since: dated tokens made before this time (Unix microseconds) may be missing. dropped: the latest expiry (Unix
// seconds) of all records that were ever left out as expired: if the clock was wrong then, unknown tokens that expire
// no later may be among them, and are refused. Little-endian. A check is the
// digest of the 24 bytes before it: records that are damaged or cut off are left out, and it is said; the file
// is then as good as a new one for tokens of before.

#ifndef PINHOLE_NET_NETCODE_SPENT_H
#define PINHOLE_NET_NETCODE_SPENT_H

#include "net/netcode_bytes.h"

enum { PH_SPENT_RECORD_SIZE = 32, PH_SPENT_VERSION = 1 };

typedef struct ph_spent_record {
    uint8_t tag[PH_NETCODE_TAG_SIZE];
    uint64_t expire_s;
} ph_spent_record;

// ---- bytes

typedef enum ph_spent_kind {
    PH_SPENT_GOOD = 0,
    PH_SPENT_NEW,     // no bytes
    PH_SPENT_STRANGE, // no spent-tokens file
    PH_SPENT_LATER,   // of another version
} ph_spent_kind;

// Reads a file's bytes, which outlive it.
typedef struct ph_spent_reader {
    const uint8_t* at;
    const uint8_t* end;
    uint64_t since_us;
    uint32_t dropped_s;
    int damaged_count; // records, the header and a piece at the end included
} ph_spent_reader;

ph_spent_kind ph_spent_reader_begin(ph_spent_reader* reader, const void* bytes, size_t size);

// The next record that is whole. @return false when there is none.
bool ph_spent_reader_next(ph_spent_reader* reader, ph_spent_record* record);

void ph_spent_put_header(uint8_t bytes[PH_SPENT_RECORD_SIZE], uint64_t since_us,
                         uint32_t dropped_s);
void ph_spent_put_record(uint8_t bytes[PH_SPENT_RECORD_SIZE], const ph_spent_record* record);

// ---- the file

// {0} is none and may be closed. Fields are read-only outside netcode_spent.c, but for is_failing.
typedef struct ph_spent_file {
    char* path; // NULL: none
    size_t path_size;
    int number;            // of the open file
    uint64_t record_count; // behind the header
    bool is_failing;       // the last write failed, and that was said
    ph_allocator allocator;
} ph_spent_file;

// Opens the file, or makes an empty one that only its owner can read, and keeps other servers from it. *bytes is
// what it holds: give it back by ph_spent_file_release().
// @return PH_OK; PH_ERROR_TAKEN: a server has it; PH_ERROR_SYSTEM, with errno; PH_ERROR_FULL: too large to be
// one; PH_ERROR_MEMORY. Unless PH_OK there is nothing to close.
ph_result ph_spent_file_open(ph_spent_file* file, const char* path, const ph_allocator* allocator,
                             uint8_t** bytes, size_t* size);
void ph_spent_file_release(const ph_spent_file* file, uint8_t* bytes, size_t size);
void ph_spent_file_close(ph_spent_file* file); // leaves {0}

// Adds a record. @return false when it could not be written, with errno; the next one is tried at the same place.
bool ph_spent_file_add(ph_spent_file* file, const ph_spent_record* record);

// Gives the next record that is still wanted. @return false when there is none.
typedef bool ph_spent_next_fn(void* context, ph_spent_record* record);

// Writes it anew under another name, and then puts it in the place of the old one, which stays after a failure.
// @return false then, with errno.
bool ph_spent_file_rewrite(ph_spent_file* file, uint64_t since_us, uint32_t dropped_s,
                           ph_spent_next_fn* next, void* context);

#endif
