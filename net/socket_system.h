// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a socket consists of, and the calls that systems spell differently. socket.c opens and
// counts; socket_linux.c and socket_plain.c hold the same three functions, and the system decides
// which of the files is empty.

#ifndef PINHOLE_NET_SOCKET_SYSTEM_H
#define PINHOLE_NET_SOCKET_SYSTEM_H

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // recvmmsg and sendmmsg
#endif

#include "net/net_tools.h"

#include <pinhole/net/socket.h>

#include <stdatomic.h>

#if defined(_WIN32)
#include <winsock2.h>
#include <ws2tcpip.h>
typedef int ph_sockaddr_size;
typedef SOCKET ph_socket_number;
#else
#include <netinet/in.h>
#include <sys/socket.h>
typedef socklen_t ph_sockaddr_size;
typedef int ph_socket_number;
#endif

#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)
#define PH_SOCKET_HAS_BATCHES 1
#else
#define PH_SOCKET_HAS_BATCHES 0
#endif

// One byte more than any datagram: a larger one is recognised instead of cut.
enum { PH_SOCKET_ROOM = PH_NETCODE_DATAGRAM_MAX + 1 };

#if PH_SOCKET_HAS_BATCHES
// What goes beside a datagram: which of our addresses it came to, or leaves from.
typedef struct ph_socket_control {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
} ph_socket_control;
_Static_assert(sizeof(struct in_pktinfo) <= sizeof(struct in6_pktinfo), "either fits");
#endif

struct ph_socket {
    ph_socket_number number;
    ph_address local;
    bool
        knows_local; // bound to all addresses, and the system says to which of them each datagram came
    ph_allocator allocator;
    const ph_net_simulation* simulation; // NULL: the system
    atomic_uint_fast64_t received;
    atomic_uint_fast64_t sent;
    atomic_uint_fast64_t unsent;
    atomic_uint_fast64_t receive_calls;
    atomic_uint_fast64_t send_calls;
    atomic_int
        unsent_error; // of the system, for the newest that was not sent; 0: none, -1: PH_SOCKET_OTHER_KIND
    struct sockaddr_storage from[PH_SOCKET_BATCH_MAX];
#if PH_SOCKET_HAS_BATCHES
    // Where the system puts what comes: the same places every time.
    struct mmsghdr messages[PH_SOCKET_BATCH_MAX];
    struct iovec parts[PH_SOCKET_BATCH_MAX];
    ph_socket_control controls[PH_SOCKET_BATCH_MAX];
#endif
    uint8_t bytes[PH_SOCKET_BATCH_MAX][PH_SOCKET_ROOM];
};

// An address of another kind than the socket's: the system was not asked.
enum { PH_SOCKET_OTHER_KIND = -1 };

// The newest datagram was not sent for this reason.
static inline void ph_socket_note_unsent(ph_socket* socket, int error)
{
    atomic_store_explicit(&socket->unsent_error, error, memory_order_relaxed);
}

// As the system writes addresses; for a socket of IPv6 also those of IPv4. @return The size, 0 when
// this socket cannot reach it.
ph_sockaddr_size ph_sockaddr_put(const ph_socket* socket, const ph_address* address,
                                 struct sockaddr_storage* storage);

// Around the use of the system's network calls; nested calls are allowed. Only Windows needs it.
bool ph_socket_start_system(void);
void ph_socket_stop_system(void);

// What the last call of this thread that failed was refused for.
int ph_socket_system_error(void);

// {0} for anything but IPv4 and IPv6.
ph_address ph_sockaddr_take(const struct sockaddr_storage* storage);

// The three that differ. Prepare: once, when it is open. Receive: fills size, bytes and local of at most max
// datagrams, and from of the socket. Send: how many the system took.
void ph_socket_prepare(ph_socket* socket);
int ph_socket_receive_batch(ph_socket* socket, ph_datagram* datagrams, int max);
int ph_socket_send_batch(ph_socket* socket, const ph_datagram* datagrams, int count);

#endif
