// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// TCP on 127.0.0.1 and nowhere else, never blocking: for metrics and for the truth.

#ifndef PH_APP_SERVE_PORT_H
#define PH_APP_SERVE_PORT_H

#include "kit/fault.h"

// Listens there. port 0: any that is free; *got is the one. @return The socket, or -1 with errno.
int serve_port_open(int port, int* got);

// Why that failed, by errno, and what the option takes. @return False.
bool serve_port_complain(int port, const char* option, ph_fault* fault);

// @return The next connection that waits, or -1.
int serve_port_accept(int listening);

#endif
