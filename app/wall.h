// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clocks beside that of ph_socket_now_us(), by which programs live; and secrets from the system.

#ifndef PH_APP_WALL_H
#define PH_APP_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// To measure by: never jumps, counted from anywhere.
uint64_t app_wall_ns(void);

// Time of day, in Unix seconds: for tokens only.
uint64_t app_wall_unix_s(void);

// Processor time of this process, all threads.
uint64_t app_wall_cpu_us(void);

// Fills bytes that cannot be guessed; at most 256. @return False when the system has none.
bool app_wall_random(void* bytes, size_t size);

#endif
