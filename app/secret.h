// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Keeping keys where they belong: in memory of this process, and nowhere else.

#ifndef PH_APP_SECRET_H
#define PH_APP_SECRET_H

#include <stdbool.h>
#include <stddef.h>

// Memory for secrets, all zero: locked, so that it is never written to swap, as far as the system lets us; not in core
// dumps, not in child processes; on pages of its own. @return NULL without memory.
void* app_secret_create(size_t size);

// Overwrites it and gives it back. NULL is allowed.
void app_secret_destroy(void* secret, size_t size);

// Overwrites bytes in a way that no compiler leaves out.
void app_secret_wipe(void* bytes, size_t size);

// For a process that has keys, at its start: no core dumps, and no other process of the same user may attach to
// it or read its memory. Where RLIMIT_MEMLOCK is unlimited, all of its memory is locked, with the keys of
// connections, too.
void app_secret_protect_process(void);

#endif
