// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A host, its world, and players around it, on a clock and a network that are numbers and queues. All that
// passes between them is judged on its way; fuzz_host.c says what happens.

#ifndef PINHOLE_FUZZ_HOST_SCENE_H
#define PINHOLE_FUZZ_HOST_SCENE_H

#include "support/fuzz_source.h"

#include "net/net_tools.h"

#include <pinhole/net/netcode.h>
#include <pinhole/pinhole.h>

enum {
    HOST_PLAYERS = 4,  // more than fit
    HOST_CAPACITY = 3, // clients of the host
    HOST_ENTITIES = 12,
    HOST_QUEUE = 96, // datagrams that wait, in each direction; what is too much is lost
    HOST_KEPT = 16,  // datagrams that a listener has kept, to replay them
    HOST_ROOM = PH_NETCODE_DATAGRAM_MAX + 8,
    HOST_TICK_US = 50000,
    HOST_SLOTS = 10,
    HOST_KEY_BYTE = 0x33, // of the private key, all of them
    HOST_PROTOCOL = 0x77,
};

typedef struct host_datagram {
    int player; // where it comes from, or goes to; HOST_PLAYERS: a stranger
    size_t size;
    uint8_t bytes[HOST_ROOM];
} host_datagram;

typedef struct host_queue {
    host_datagram datagrams[HOST_QUEUE];
    int count;
} host_queue;

typedef struct host_player {
    struct host_scene* scene;
    int index;
    ph_net_client* net;
    ph_client* client;
    ph_messages* messages;
    bool is_honest; // has sent nothing but what the library gave it
    int tokens_made;
    uint8_t token[PH_TOKEN_SIZE]; // the last one
    uint32_t input_number;
    uint32_t messages_sent; // each says its number, and the host sends it back
    uint32_t messages_returned;
} host_player;

// What an address has sent, and what came of it before it was connected.
typedef struct host_account {
    uint64_t bytes_from;   // at the host
    uint64_t answer_bytes; // denied and challenge
    bool has_responded;    // a response arrived
} host_account;

// What the host said about a client.
typedef struct host_client {
    bool is_connected; // by the events
    bool is_admitted;
    int player;
    uint64_t admitted_us;
    int bits_per_second;
    int burst_bits;
    uint64_t wire_bits; // since it was admitted, what ends it left out
} host_client;

typedef struct host_memory {
    uint64_t live_blocks;
    int fail_in; // the allocation that fails, counted down; 0: none
} host_memory;

typedef struct host_scene {
    uint64_t now_us;
    uint64_t unix_s;
    host_memory memory;
    ph_net_simulation simulation;
    ph_profile profile;
    ph_schema* schema;
    ph_world* world;
    ph_host* host;
    ph_entity_id entities[HOST_ENTITIES];
    host_player players[HOST_PLAYERS];
    host_account accounts[HOST_PLAYERS + 1]; // by player, and the stranger's
    host_client clients[HOST_CAPACITY];
    host_queue up;
    host_queue down;
    host_datagram kept[HOST_KEPT];
    int kept_count;
    // Handed to the host by the last receive, each in a block of its own.
    uint8_t* handed[PH_SOCKET_BATCH_MAX];
    int handed_count;
    uint64_t received_count;
    uint64_t sent_count;
    uint64_t refused_count; // that the simulated system would not take
    int refusals_left;      // datagrams that it will not take
    int admit_mode;         // what becomes of the next client
    int admit_fail_in;      // and the allocation of its admission that fails
    bool is_stopped;
} host_scene;

// There is one at a time, and it is too large for a stack.
host_scene* host_scene_open(fuzz_source* input);
// Everything ends: all that came has gone, and nothing is left in memory.
void host_scene_close(host_scene* it);

// What must be true at any time.
void host_scene_judge(host_scene* it);
// The same of all tables: slow, so not after every step.
void host_scene_validate(const host_scene* it);

// The host's turn: each part by itself, or all of it in order.
void host_scene_receive(host_scene* it);
void host_scene_take_events(host_scene* it, int most);
void host_scene_cycle(host_scene* it);

// The players' turn: they take what came, answer, and keep alive.
void host_scene_pump(host_scene* it);

// A player begins anew, with another token; variant 0 is a good one.
void host_player_connect(host_player* player, uint32_t variant);
void host_player_use_token(host_player* player);
void host_player_end(host_player* player);

// Where the host is.
ph_address host_scene_address(void);

// A datagram on its way to the host, whoever made it.
void host_scene_put_up(host_scene* it, int player, const void* bytes, size_t size);

#endif
