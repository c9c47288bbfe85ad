// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A netcode server and some clients in memory: datagrams wait in one queue until they are delivered,
// lost or changed by the test. Time is a number.
//
//     netcode_stage* x = stage_setup(4);
//     stage_connect(x, 0);                 // client 0 begins, with a token for player 1000
//     stage_run(x, 300);                   // 300 ms in steps of 10
//     assert_int_equal(ph_net_client_get_state(x->clients[0]), PH_NET_CLIENT_CONNECTED);
//     stage_teardown(x);

#ifndef PINHOLE_TEST_NETCODE_STAGE_H
#define PINHOLE_TEST_NETCODE_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include <pinhole/net/netcode.h>

enum {
    STAGE_CLIENTS = 8,
    STAGE_QUEUE = 1024,
    STAGE_DATAGRAM_MAX = 1500,
};

#define STAGE_PROTOCOL UINT64_C(0x1122334455667788)
#define STAGE_UNIX_S UINT64_C(1700000000)
#define STAGE_FIRST_ID UINT64_C(1000) // of client 0's player

typedef struct stage_datagram {
    ph_address from;
    ph_address to;
    size_t size;
    uint8_t bytes[STAGE_DATAGRAM_MAX];
} stage_datagram;

typedef struct netcode_stage netcode_stage;

// Sees a datagram before it is delivered, and may change it. @return Whether it arrives.
typedef bool stage_filter(netcode_stage* stage, stage_datagram* datagram);

// Where a client's datagrams come from.
typedef struct stage_port {
    netcode_stage* stage;
    ph_address address;
} stage_port;

struct netcode_stage {
    test_memory memory;
    test_rng rng; // also where the server's keys come from
    uint64_t now_us;
    uint64_t unix_s;
    ph_net_server_def server_def;
    ph_net_server* server;
    stage_port server_port;
    ph_net_client* clients[STAGE_CLIENTS];
    stage_port ports[STAGE_CLIENTS];
    stage_filter* filter; // NULL: everything arrives
    void* context;        // of the filter
    // What the clients and the server have got, newest last.
    int server_payloads;
    int client_payloads;
    ph_net_payload last; // its bytes are in last_bytes
    uint8_t last_bytes[PH_NETCODE_PAYLOAD_MAX];
    ph_net_refusal last_refusal; // of either side
    stage_datagram queue[STAGE_QUEUE];
    int queue_count;
};

// A server with so many slots at 10.0.0.1:40000, started; clients at 10.0.0.2:50000 and following
// ports. There is but one stage at a time: it is too large for a stack.
netcode_stage* stage_setup(int client_capacity);
// The same with more to say about the server: change x->server_def and make it anew.
void stage_remake_server(netcode_stage* x);
// Validates the server, looks for leaks.
void stage_teardown(netcode_stage* x);

// A token that the stage's server takes, for one second (tests that need longer change it).
ph_token_def stage_token_def(const netcode_stage* x, uint64_t client_id);

// Client begins to connect with the token of this def.
void stage_connect_with(netcode_stage* x, int client, const ph_token_def* def);
void stage_connect(netcode_stage* x, int client);

// Connects and fails the test unless it works.
void stage_join(netcode_stage* x, int client);

// Hands out what is in the queue, and what that brings about, until it is empty.
void stage_deliver(netcode_stage* x);

// One step of 10 ms: ticks, then all that is in flight arrives.
void stage_step(netcode_stage* x);
void stage_run(netcode_stage* x, int duration_ms);

ph_net_client_state stage_state(const netcode_stage* x, int client);
uint64_t stage_refused(const netcode_stage* x, ph_net_refusal refusal);

// Hands a datagram to the server as if it came from there. @return What it said.
ph_net_refusal stage_hand_to_server(netcode_stage* x, const ph_address* from, const void* bytes,
                                    size_t size);
ph_net_refusal stage_hand_to_client(netcode_stage* x, int client, const void* bytes, size_t size);

// The next event must be this one.
ph_net_event stage_expect_event(netcode_stage* x, ph_net_event_kind kind);
void stage_expect_no_event(netcode_stage* x);

ph_address stage_address(const char* text);

#endif
