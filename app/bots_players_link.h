// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The network of one ph_peer: a socket of its own, and between them a simulated link in each direction. The peer may
// be connected to two servers at once; what comes from either passes the same link.

#ifndef PH_APP_BOTS_PLAYERS_LINK_H
#define PH_APP_BOTS_PLAYERS_LINK_H

#include <pinhole/link.h>
#include <pinhole/net/peer.h>

typedef struct bots_players_link bots_players_link;

// Takes the place of the peer's own sockets. def NULL: the network as it is. key: another one for each peer. Outlives
// the peer. @return NULL when there is no memory, or no socket.
bots_players_link* bots_players_link_create(ph_peer* peer, const ph_link_def* def, uint64_t key);
void bots_players_link_destroy(bots_players_link* link); // NULL is allowed

// Sends what has come through the link by now. Before and after each tick of the peer.
void bots_players_link_tick(bots_players_link* link);

// Carries on both ways without the peer. @return Whether something is there for the peer.
bool bots_players_link_advance(bots_players_link* link, uint64_t now_us);

// Of its socket, for waiting on many; and that it has something.
int bots_players_link_handle(const bots_players_link* link);
void bots_players_link_note(bots_players_link* link);

#endif
