// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The time of day. For what must be told apart within a second, of tokens and of the start of a server; all other
// time is told by the caller.

#ifndef PINHOLE_NET_WALL_CLOCK_H
#define PINHOLE_NET_WALL_CLOCK_H

#include <stdint.h>

// Unix microseconds by the system's clock, which may jump. (socket.c)
uint64_t ph_wall_now_us(void);

#endif
