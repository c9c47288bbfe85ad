// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A session that the reference implementation of netcode 1.02 had with itself, read from
// test/data/netcode/ (its README says what the lines are).
//
//     transcript* it = transcript_load("server_full");
//     for (int i = 0; i < it->line_count; ++i) { ... it->lines[i] ... }
//     transcript_unload(it);

#ifndef PINHOLE_TEST_NETCODE_TRANSCRIPT_H
#define PINHOLE_TEST_NETCODE_TRANSCRIPT_H

#include <pinhole/net/netcode.h>

typedef enum transcript_kind {
    TRANSCRIPT_DATAGRAM,
    TRANSCRIPT_SEND,
    TRANSCRIPT_GOT,
    TRANSCRIPT_STATE,
    TRANSCRIPT_END,
} transcript_kind;

typedef struct transcript_line {
    transcript_kind kind;
    bool is_up;           // from client to server; of datagrams, sends and gots
    uint64_t time_ms;     // of datagrams and states; of a send, that of the datagram behind it
    ph_address from;      // of datagrams
    ph_address to;        //
    const uint8_t* bytes; // of datagrams and sends
    size_t size;          // the same, and of gots
    uint64_t sequence;    // of gots
    int old_state;        // of states
    int new_state;        // of states, and the end
} transcript_line;

typedef struct transcript {
    const char* name;
    uint64_t protocol_id;
    uint64_t client_id;
    uint8_t private_key[PH_NETCODE_KEY_SIZE];
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
    uint8_t token_bytes[PH_TOKEN_SIZE];
    ph_token token; // what our reader makes of it
    ph_address client;
    ph_address server; // the one that answers
    transcript_line* lines;
    int line_count;
    uint8_t* pool; // of the lines' bytes
    size_t pool_size;
} transcript;

// Fails the test when the file is not there, or a line is none of the above.
transcript* transcript_load(const char* name);
void transcript_unload(transcript* it);

// Whether a line is a datagram between the client and one of the token's servers.
bool transcript_is_of_client(const transcript* it, const transcript_line* line);

// How many lines are of a kind, and of one direction.
int transcript_count(const transcript* it, transcript_kind kind, bool is_up);

// The next line of a kind and direction at or after *at, which then is behind it. NULL at the end.
const transcript_line* transcript_next(const transcript* it, transcript_kind kind, bool is_up,
                                       int* at);

#endif
