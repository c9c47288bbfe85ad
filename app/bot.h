// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One real client: a socket of its own, a secure connection, a Pinhole client behind it, and between
// them and the network a simulated link. Some of them behave badly on purpose. Bots share nothing
// that changes, so different ones may be used on different threads.

#ifndef PH_APP_BOT_H
#define PH_APP_BOT_H

#include "bots_truth.h"
#include "net/wire_meter.h"

#include <pinhole/link.h>
#include <pinhole/message.h>
#include <pinhole/net/netcode_client.h>
#include <pinhole/net/socket.h>

typedef enum bot_behaviour {
    BOT_GOOD = 0,
    BOT_MUTE,   // never acknowledges
    BOT_FLOOD,  // sends nonsense as fast as a good link allows
    BOT_VANISH, // goes away after a while without a word
} bot_behaviour;

// What all bots have in common.
typedef struct bot_terms {
    const ph_schema* schema;
    ph_profile profile;
    ph_ground ground;
    ph_address server;
    uint8_t key[PH_NETCODE_KEY_SIZE];
    bool is_insecure_dev;    // the key is all zero
    int64_t bits_per_second; // that the server keeps to; 0: no limit, or unknown
    int64_t depth_bits;
    ph_link_def link; // delay_us, jitter_us, loss and seed
    bool has_link;
    int slot_capacity;
    double chat_hz;  // messages per second and bot; the server sends them back
    bool is_roaming; // input moves the eye in a circle around the origin
} bot_terms;

typedef struct bot_error {
    uint64_t samples;
    double sum_mm;
    double sum_mrad;
} bot_error;

// What was found to differ while the world stood still.
typedef struct bot_difference {
    enum {
        BOT_NOT_ASKED = 0,
        BOT_UNKNOWN_TO_SERVER,
        BOT_OTHER_COUNT, // of entities in view
        BOT_MISSES,      // an entity
        BOT_OTHER_VALUE,
    } kind;
    uint64_t key; // of the entity
    int property;
    int expected; // entities in view
    int found;
} bot_difference;

// Read-only outside.
typedef struct bot {
    const bot_terms* terms;
    uint64_t client_id;
    bot_behaviour behaviour;
    ph_socket* socket;
    ph_net_client* net;
    ph_client* client;
    ph_messages* messages;
    uint32_t chat_posted;   // messages so far; each says its number
    uint32_t chat_returned; // in order
    uint64_t chat_wrong;    // that came in another order, or with other words
    uint32_t input_number;
    int32_t eye_mm[3]; // of the last input
    bool is_silent;    // says nothing more: the end is near
    ph_link* down;     // NULL: the network as it is
    ph_link* up;
    uint64_t started_us; // 0: not yet
    uint64_t now_us;     // of the call that is under way
    uint64_t next_us;    // when it wants a tick
    uint64_t ticked_us;
    uint64_t connected_us; // 0: never
    uint64_t converged_us; // 0: not since the world stands
    uint64_t heard_us;     // the newest datagram of use
    uint64_t flooded_us;
    uint64_t misread;    // datagrams that did not open, or whose messages made no sense
    bool is_gone;        // vanished
    ph_wire_meter meter; // what arrives, with a second's worth of tolerance, and the longest stall
    uint64_t overruns;   // of the connections before this one
    uint64_t stalled_us; // longest time in which nothing was taken from its socket
    bot_error error;     // of what is shown
    bot_difference difference;
    uint64_t strangers; // entities shown that the truth has not got
} bot;

// @return NULL when there is no memory, or no socket to be had.
bot* bot_create(const bot_terms* terms, uint64_t client_id, bot_behaviour behaviour);
void bot_destroy(bot* of); // NULL is allowed; disconnects

// Begins to connect, with a new token.
bool bot_start(bot* of, uint64_t now_us);

// The same, after a connection that is over or of no use: it ends, and all that was known with it.
// @return False, with everything as before, when there is no memory.
bool bot_begin_anew(bot* of, uint64_t now_us);

// Takes what its socket has. When that has something.
void bot_receive(bot* of, uint64_t now_us);

// Nothing was taken from any socket for so long, because this program did not run: what was sent in
// that time comes all at once, and is not over the budget.
void bot_note_stall(bot* of, uint64_t stalled_us);

// Takes what its links bring by now, keeps alive. When next_us has come.
void bot_tick(bot* of, uint64_t now_us);

bool bot_is_connected(const bot* of);

// Another network from now on, as ph_link_change(); for one that has links.
void bot_change_link(bot* of, const ph_link_def* link);

// No further messages and input.
void bot_fall_silent(bot* of);

// Whether all its messages have come back.
bool bot_is_answered(const bot* of);

// Datagrams that were refused though the server meant them: 0, or something is wrong.
uint64_t bot_refused(const bot* of);

#endif
