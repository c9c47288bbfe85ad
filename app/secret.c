// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program, and when keys change.

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // MADV_WIPEONFORK
#endif

#include "secret.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

static size_t whole_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void* app_secret_create(size_t size)
{
    const size_t whole = whole_pages(size);
    void* secret = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (secret == MAP_FAILED) {
        return NULL;
    }
    // Each is a help where there is it; none is a reason not to run.
    (void)mlock(secret, whole);
#if defined(MADV_DONTDUMP)
    (void)madvise(secret, whole, MADV_DONTDUMP);
#endif
#if defined(MADV_WIPEONFORK)
    (void)madvise(secret, whole, MADV_WIPEONFORK);
#endif
    return secret;
}

void app_secret_destroy(void* secret, size_t size)
{
    if (secret != NULL) {
        app_secret_wipe(secret, size);
        munmap(secret, whole_pages(size));
    }
}

// The compiler may leave out a memset of bytes that are not read any more.
void app_secret_wipe(void* bytes, size_t size)
{
    volatile uint8_t* at = bytes;
    for (size_t i = 0; i < size; ++i) {
        at[i] = 0;
    }
}

void app_secret_protect_process(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
#if defined(MCL_ONFAULT)
    // With a limit, memory that is wanted later would be refused.
    struct rlimit locked;
    if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur == RLIM_INFINITY) {
        (void)mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    }
#endif
}
