// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A ph_host and some ph_peers on simulated time and a network in memory, from the first request to the view.

#ifndef PH_TEST_PEER_STAGE_H
#define PH_TEST_PEER_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include "net/host_state.h"
#include "net/peer_state.h"

#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/peer.h>
#include <pinhole/pinhole.h>

enum {
    PEER_STAGE_PEERS = 3,
    PEER_STAGE_QUEUE = 1024,
    PEER_STAGE_TICK_US = 50000,
    PEER_STAGE_ERRORS = 16,
};

typedef struct peer_stage peer_stage;

typedef struct peer_stage_datagram {
    ph_address from;
    ph_address to;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} peer_stage_datagram;

typedef struct peer_stage_player {
    peer_stage* stage;
    ph_address address;
    ph_peer* peer;
    bool is_frozen;                                              // it is not ticked
    char waiting[PH_ERROR_TEXT_SIZE];                            // the text of its PH_PEER_WAITING
    ph_error error;                                              // the newest
    int counts[PH_PEER_DISCONNECTED + 8];                        // of events
    void (*on_event)(void* context, const ph_peer_event* event); // if not NULL: is told each
    void* context;
    ph_peer_event end;                              // the last REFUSED or DISCONNECTED
    char text[PH_ERROR_TEXT_SIZE];                  // of it
    peer_stage_datagram taken[PH_SOCKET_BATCH_MAX]; // lent to the peer until it receives again
} peer_stage_player;

struct peer_stage {
    uint64_t now_us;
    uint64_t unix_s; // at now_us 0
    ph_net_simulation simulation;
    ph_schema* schema;
    ph_world* world;
    ph_host_def def; // change it and open the host anew
    ph_host* host;
    test_memory memory;   // of the host
    ph_viewer_def viewer; // of each client that is admitted
    ph_messages_def messages;
    bool is_closed;    // no client is admitted
    bool forgets_send; // the game never calls ph_host_send(), or
    bool forgets_tick; // never ph_world_tick()
    bool is_dead;      // the host is not ticked, and nothing reaches it
    int connected;
    int ended;
    ph_net_event last; // the newest event
    ph_error errors[PEER_STAGE_ERRORS];
    int error_count;
    peer_stage_player players[PEER_STAGE_PEERS];
    peer_stage_datagram up[PEER_STAGE_QUEUE];
    int up_count;
    peer_stage_datagram down[PEER_STAGE_QUEUE];
    int down_count;
    peer_stage_datagram taken[PH_SOCKET_BATCH_MAX]; // lent to the host until it receives again
    int sent_down;                                  // datagrams that the host has sent
};

// A host at 10.0.0.1:40000 with a key, players at 10.0.0.2:50000 and following ports. One at a time: it is too large
// for a stack.
peer_stage* peer_stage_setup(void);
void peer_stage_teardown(peer_stage* s);

// Opens the host anew with s->def. @return As ph_host_open().
ph_result peer_stage_open_host(peer_stage* s);
// The same, insecure.
void peer_stage_open_insecure(peer_stage* s);

// A token for the host, to be changed by the test.
ph_token_def peer_stage_token_def(const peer_stage* s, uint64_t client_id);
void peer_stage_connect_with(peer_stage* s, int player, const ph_token_def* def);
void peer_stage_connect(peer_stage* s, int player, uint64_t client_id);

// A tick of everything.
void peer_stage_tick(peer_stage* s);
void peer_stage_run(peer_stage* s, int duration_ms);

#endif
