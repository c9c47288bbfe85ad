// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some times per second.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "serve_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAITING_MAX = 64 };

static void unblock(int number)
{
    const int is_on = 1;
    fcntl(number, F_SETFL, O_NONBLOCK);
    fcntl(number, F_SETFD, FD_CLOEXEC);
    setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
}

static bool listen_at(int number, int port, int* got)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t size = sizeof address;
    const int is_on = 1;
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &is_on, sizeof is_on);
    if (bind(number, (struct sockaddr*)&address, sizeof address) != 0 ||
        listen(number, WAITING_MAX) != 0 ||
        getsockname(number, (struct sockaddr*)&address, &size) != 0) {
        return false;
    }
    *got = ntohs(address.sin_port);
    return true;
}

int serve_port_open(int port, int* got)
{
    const int number = socket(AF_INET, SOCK_STREAM, 0);
    if (number < 0) {
        return -1;
    }
    unblock(number);
    if (!listen_at(number, port, got)) {
        const int reason = errno;
        close(number);
        errno = reason;
        return -1;
    }
    return number;
}

bool serve_port_complain(int port, const char* option, ph_fault* fault)
{
    if (errno == EADDRINUSE) {
        return ph_fault_set(fault, 0, 0,
                            "another program listens on port %d of 127.0.0.1; %s takes another "
                            "port, or 0 for any that is free",
                            port, option);
    }
    return ph_fault_set(fault, 0, 0, "cannot listen on port %d of 127.0.0.1: %s", port,
                        strerror(errno));
}

int serve_port_accept(int listening)
{
    const int number = accept(listening, NULL, NULL);
    if (number >= 0) {
        unblock(number);
    }
    return number;
}
