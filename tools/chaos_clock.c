// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A time of day that can be stepped, for tools/chaos: loaded before the C library (LD_PRELOAD), it adds the
// seconds in the file CHAOS_CLOCK (8 bytes, little-endian, signed) to CLOCK_REALTIME, time() and
// gettimeofday(). CLOCK_MONOTONIC is left alone, as a system leaves it when its clock is set.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t* step_s;
static int (*real_clock_gettime)(clockid_t, struct timespec*);

__attribute__((constructor)) static void begin(void)
{
    const char* path = getenv("CHAOS_CLOCK");
    const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void* found = mmap(NULL, sizeof *step_s, PROT_READ, MAP_SHARED, file, 0);
        step_s = found != MAP_FAILED ? found : NULL;
        close(file);
    }
}

int clock_gettime(clockid_t clock, struct timespec* now)
{
    if (real_clock_gettime == NULL) {
        // Through a union: C does not turn a pointer to data into one to a function.
        union {
            void* found;
            int (*function)(clockid_t, struct timespec*);
        } both = {.found = dlsym(RTLD_NEXT, "clock_gettime")};
        real_clock_gettime = both.function;
    }
    const int result = real_clock_gettime(clock, now);
    if (result == 0 && step_s != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += (time_t)*step_s;
    }
    return result;
}

time_t time(time_t* out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval* restrict out, void* restrict zone)
{
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
