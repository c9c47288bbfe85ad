// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The clocks of programs that live in real time, and secrets from the system.

#ifndef PH_APP_WALL_H
#define PH_APP_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Never jumps, and is the same in all processes of a machine. Counted from anywhere.
uint64_t app_wall_us(void);
uint64_t app_wall_ns(void);

// Time of day, in Unix seconds: for tokens only.
uint64_t app_wall_unix_s(void);

// Processor time of this process, all threads.
uint64_t app_wall_cpu_us(void);

void app_wall_sleep(uint64_t duration_us);

// Fills bytes that nobody can guess; at most 256. @return False when the system has none.
bool app_wall_random(void* bytes, size_t size);

#endif
