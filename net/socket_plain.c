// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One datagram with each call, for systems that are not Linux. (Compiles there, too, with
// PH_SOCKET_PLAIN, in place of socket_linux.c.)

#include "net/socket_system.h"

#if !PH_SOCKET_HAS_BATCHES

#include <errno.h>

void ph_socket_prepare(ph_socket* socket)
{
    (void)socket;
}

// No reason to stop reading: Windows says on a receive that an earlier send met a closed port.
static bool is_passing(void)
{
#if defined(_WIN32)
    const int error = WSAGetLastError();
    return error == WSAECONNRESET || error == WSAENETRESET;
#else
    return errno == EINTR || errno == ECONNREFUSED;
#endif
}

static long receive_one(ph_socket* socket, int i)
{
    ph_sockaddr_size size = (ph_sockaddr_size)sizeof socket->from[i];
    atomic_fetch_add_explicit(&socket->receive_calls, 1, memory_order_relaxed);
    return (long)recvfrom(socket->number, (void*)socket->bytes[i], PH_SOCKET_ROOM, 0,
                          (struct sockaddr*)&socket->from[i], &size);
}

// Windows cuts a datagram that is too large, and calls that an error.
static bool is_cut(void)
{
#if defined(_WIN32)
    return WSAGetLastError() == WSAEMSGSIZE;
#else
    return false;
#endif
}

int ph_socket_receive_batch(ph_socket* socket, ph_datagram* datagrams, int max)
{
    int count = 0;
    while (count < max) {
        long size = receive_one(socket, count);
        if (size < 0 && is_cut()) {
            size = PH_SOCKET_ROOM;
        }
        if (size < 0 && is_passing()) {
            continue;
        }
        if (size < 0) {
            break;
        }
        datagrams[count].bytes = socket->bytes[count];
        datagrams[count].size = (size_t)size;
        datagrams[count].local = (ph_address){0}; // not known here
        ++count;
    }
    return count;
}

int ph_socket_send_batch(ph_socket* socket, const ph_datagram* datagrams, int count)
{
    int sent = 0;
    for (int i = 0; i < count; ++i) {
        struct sockaddr_storage peer = {0};
        const ph_sockaddr_size size = ph_sockaddr_put(socket, &datagrams[i].peer, &peer);
        if (size > 0) {
            atomic_fetch_add_explicit(&socket->send_calls, 1, memory_order_relaxed);
            const long taken =
                (long)sendto(socket->number, (const void*)datagrams[i].bytes,
                             (ph_sockaddr_size)datagrams[i].size, 0, (struct sockaddr*)&peer, size);
            if (taken == (long)datagrams[i].size) {
                ++sent;
            } else {
                ph_socket_note_unsent(socket, ph_socket_system_error());
            }
        } else {
            ph_socket_note_unsent(socket, PH_SOCKET_OTHER_KIND);
        }
    }
    return sent;
}

#else

typedef int ph_socket_plain_is_empty;

#endif
