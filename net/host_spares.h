// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clients that go on at another host: spare tokens on their way to them, answers to their probes, and the orderly
// emptying of a host. A client without any of that costs nothing but its place in a table.
//
// What comes is taken on any thread, for one client by one at a time; parts are sent on any thread; the rest is on the
// thread of the tick.

#ifndef PINHOLE_NET_HOST_SPARES_H
#define PINHOLE_NET_HOST_SPARES_H

#include "net/admission_wire.h"
#include "net/host_send_batch.h"

#include <pinhole/net/host.h>

#include <stdatomic.h>

typedef struct ph_host_spare {
    uint8_t* token; // under way, PH_TOKEN_SIZE bytes; NULL: none is
    uint16_t size;  // of it, without the zeros at its end
    uint8_t number; // of the newest; 0: there was none
    uint8_t parts;  // that the client has
    uint8_t held;   // as the client says
    bool asks_move;
    bool renews;
    bool is_probed;
    uint64_t given_us;
    uint64_t asked_us; // when it was last asked to move; 0: never
    uint64_t sent_us[PH_ADMISSION_PARTS];
    uint64_t rested_us; // from then on the next part is saved for
} ph_host_spare;

// {0} may be destroyed.
typedef struct ph_host_spares {
    ph_host_spare* by_client;
    int32_t* probed; // clients that wait for an answer; each stands there once
    atomic_int probed_count;
    int capacity;
    ph_host_give_spare_fn* give; // NULL: the host is not emptied
    void* give_context;
    uint64_t given;
    uint64_t taken;
    uint64_t answered;
    ph_allocator allocator;
} ph_host_spares;

ph_result ph_host_spares_create(ph_host_spares* spares, int capacity,
                                const ph_allocator* allocator);
void ph_host_spares_destroy(ph_host_spares* spares);

// A have or a probe of an admitted client. @return False for what no client of ours sends.
bool ph_host_spares_take(const ph_host* host, int client, const ph_admission* admission);

// To all that have asked since the last time, at once: a client that gets none believes that the host is dead.
void ph_host_spares_answer(ph_host* host);

// Parts that are due, as far as the budget pays for them. @return Whether the view may have what is left: a view that
// takes all of a thin budget in each turn would leave none for a part, for ever.
bool ph_host_spares_send(ph_host* host, int client, uint64_t now_us, ph_host_send_batch* batch);

// Releases what has arrived, and asks clients to go while the host is emptied.
void ph_host_spares_tick(ph_host* host, uint64_t now_us);

// The client has gone.
void ph_host_spares_end(ph_host_spares* spares, int client);

#endif
