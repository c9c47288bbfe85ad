// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What no server of this kind can do without: the same datagrams, made before, by sendmmsg alone to
// the same sockets; and the sealing of as many bytes alone.

#ifndef PH_BENCH_NET_YARDSTICKS_H
#define PH_BENCH_NET_YARDSTICKS_H

#include <pinhole/net/socket.h>

typedef struct net_yardsticks net_yardsticks;

// So many peers, and the size of a datagram to each. @return NULL when there is no memory, or no
// socket.
net_yardsticks* net_yardsticks_make(const ph_address* peers, int count, size_t datagram_bytes);
void net_yardsticks_destroy(net_yardsticks* yardsticks); // NULL is allowed

// One datagram to each client. @return ns of processor time for each.
double net_yardsticks_send(net_yardsticks* yardsticks);
double net_yardsticks_seal(net_yardsticks* yardsticks);

#endif
