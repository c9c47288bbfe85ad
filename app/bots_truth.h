// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The truth as a server tells it (truth_wire.h): where every entity is, and what clients should
// know while the world stands still.

#ifndef PH_APP_BOTS_TRUTH_H
#define PH_APP_BOTS_TRUTH_H

#include "truth_wire.h"

#include "kit/fault.h"

// What the server said first.
typedef struct truth_hello {
    ph_profile profile;
    uint32_t tick_us;
    int64_t bits_per_second; // 0: no limit
    int64_t depth_bits;
    char source[256];
    ph_schema* schema;
} truth_hello;

// Where every entity is at one tick, by key ascending.
typedef struct truth_moment {
    uint64_t due_us; // by ph_socket_now_us()
    bool is_standing;
    int count;
    uint64_t* key;
    int32_t (*place_mm)[3];
    int capacity;
} truth_moment;

// What the server counted, at the end.
typedef struct truth_figures {
    bool is_known;
    uint64_t missed;
    uint64_t put_off;
    uint64_t overruns;
    uint64_t datagrams;
    uint64_t wire_bytes;
} truth_figures;

// What one client should have in view. Borrowed for the call.
typedef struct truth_sight {
    uint64_t client_id;
    bool is_connected;
    int32_t eye_mm[3];
    truth_reader keys; // 8 bytes each
    int count;
} truth_sight;

typedef void truth_on_sight(void* context, const truth_sight* sight);

// Read-only outside.
typedef struct bots_truth {
    int number; // of the socket; -1: it is over
    bool is_greeted;
    truth_hello hello;
    truth_moment now;
    truth_moment before;
    truth_moment former;
    uint64_t tick_count; // moments that came
    // While the world stands: by key ascending, where values of an entity begin.
    bool has_state;
    int state_count;
    uint64_t* state_key;
    int* state_class;
    int* state_first;
    uint64_t* state_values;
    truth_figures figures;
    truth_on_sight* on_sight;
    void* context;
    truth_bytes in;
    truth_bytes out;
} bots_truth;

// Connects to a port of 127.0.0.1 and waits for the hello. @return NULL with *fault filled.
bots_truth* bots_truth_open(int port, ph_fault* fault);
void bots_truth_close(bots_truth* truth); // NULL is allowed

// Once it is over: connects again, as bots_truth_open(). The world must have the same schema; what was known
// of its state is forgotten. @return False when there is no such server yet.
bool bots_truth_reopen(bots_truth* truth, int port);

// The world has moved: what was said of its state is no longer true.
void bots_truth_forget_state(bots_truth* truth);

// Takes what came, sends what waits. Never blocks. @return False when the server has gone.
bool bots_truth_serve(bots_truth* truth);

// Asks. Answers come with a later serve.
void bots_truth_ask(bots_truth* truth, truth_kind kind);
void bots_truth_ask_sight(bots_truth* truth, uint64_t client_id);

// Where an entity is in a moment, or NULL.
const int32_t* truth_moment_find(const truth_moment* moment, uint64_t key);

// Where it is now that time has gone on: it moves as it did in the last tick. @return False when it
// does not exist.
bool bots_truth_place(const bots_truth* truth, uint64_t key, uint64_t now_us, double place_mm[3]);

// Index of an entity in the state, or -1.
int bots_truth_find_state(const bots_truth* truth, uint64_t key);

#endif
