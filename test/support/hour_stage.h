// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A ph_host and two ph_peers on simulated time and a simulated network, for test/first_hour.c: what do the two ends
// say to their users when they do not go together? Without cmocka: what should work and does not ends the program.

#ifndef PINHOLE_HOUR_STAGE_H
#define PINHOLE_HOUR_STAGE_H

#include "net/net_tools.h"
#include "net/peer_state.h"

#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/peer.h>
#include <pinhole/pinhole.h>

enum { HOUR_PLAYERS = 2, HOUR_QUEUE_MAX = 512, HOUR_TICK_US = 50000, HOUR_FRAME_US = 10000 };

// The time of day at which every stage begins, in Unix seconds.
#define HOUR_UNIX_S 1700000000u

#define HOUR_SCHEMA "class ship\n    place: position\n    hull: range 0..100\n"

typedef struct hour_datagram {
    ph_address peer; // of the host: the player
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} hour_datagram;

// What was handed out stays valid until more is asked for.
typedef struct hour_queue {
    hour_datagram items[HOUR_QUEUE_MAX];
    int first;
    int count;
} hour_queue;

struct hour_stage;

typedef struct hour_player {
    struct hour_stage* stage;
    ph_address address;
    ph_peer* peer;
    ph_error error; // the newest of on_error
    hour_queue down;
    bool is_frozen; // the program stands still
    int counts[PH_PEER_DISCONNECTED + 1];
    ph_peer_event_kind end;
    char text[PH_ERROR_TEXT_SIZE];    // of the end
    char unsent[PH_ERROR_TEXT_SIZE];  // of PH_PEER_UNSENT
    char waiting[PH_ERROR_TEXT_SIZE]; // of PH_PEER_WAITING
    char block[PH_ERROR_TEXT_SIZE];   // of PH_PEER_BLOCK_UNSENT
} hour_player;

// What is not as usual. {0} is a stage where all goes well.
typedef struct hour_def {
    const char* server_schema; // NULL: HOUR_SCHEMA
    const char* client_schema;
    ph_profile profile;
    int slot_max;    // of the client; 0: as usual
    int visible_max; // of the server's views; 0: as usual
    bool has_server_ground;
    bool has_client_ground;
    int capacity;          // of the server; 0: 8
    uint64_t protocol_id;  // of the server; tokens have 0
    bool has_other_public; // the server believes to be reached under another address
    bool is_insecure_dev;  // in place of a key
    bool never_admits;     // the game forgets ph_host_admit()
    const char* refusal;   // the game refuses everybody with these words
    int block_size_max;    // that the server accepts; 0: none
    int world_tick_factor; // so many ticks of the world for each that is due; 0: 1
    bool has_no_network;   // the client's system sends nothing
} hour_def;

typedef struct hour_stage {
    hour_def def;
    uint64_t now_us;
    ph_net_simulation simulation;
    ph_schema* server_schema;
    ph_schema* client_schema;
    ph_world* world;
    ph_host* host;
    bool is_dead; // the server was killed
    uint64_t tick_due_us;
    hour_queue up;
    hour_player players[HOUR_PLAYERS];
    ph_error error; // the newest of the host's on_error
    int ended;
    char reason[PH_ERROR_TEXT_SIZE]; // of the last connection that has ended, as the server sees it
} hour_stage;

// Ends the program when something is not so that a case needs.
void hour_must(bool is_so, const char* what);

hour_stage* hour_open(const hour_def* def);
void hour_close(hour_stage* s);

// The host's address, and the key of its tokens.
ph_address hour_host_address(void);
extern const uint8_t hour_key[PH_NETCODE_KEY_SIZE];

// A token that is good for this host now (NULL: when it opens); change it and write it.
ph_token_def hour_token_def(const hour_stage* s, uint64_t client_id);

// Connects a player with such a token.
void hour_connect(hour_stage* s, int player, const ph_token_def* token);
void hour_connect_good(hour_stage* s, int player, uint64_t client_id);

// Simulated time goes by.
void hour_play(hour_stage* s, int duration_ms);

// Until the player's connection has ended. @return Whether it has, within so many seconds.
bool hour_await_end(hour_stage* s, int player, int seconds_max);

// Until the player is shown something; it must be.
void hour_await_view(hour_stage* s, int player);

#endif
