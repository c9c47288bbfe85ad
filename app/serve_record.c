// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The thread wakes five times a second. A disk that is slow makes it wait, and no tick: the ring fills, and
// ticks for which there is no room are left out and counted.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_record.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAKE_NS 200000000L
#define SECOND_NS 1000000000L

struct serve_record {
    pthread_t thread;
    pthread_mutex_t lock; // of is_ending
    pthread_cond_t is_changed;
    bool is_ending;
    const char* path;
    serve_writer* log;
    ph_recorder* recorder;
    FILE* file;
    bool has_failed; // and it was said
};

// ---- the thread

static bool put(void* context, const void* bytes, size_t size)
{
    serve_record* record = context;
    // Flushed, so that a server that is killed leaves whole parts behind.
    const bool is_put = fwrite(bytes, 1, size, record->file) == size && fflush(record->file) == 0;
    if (!is_put && !record->has_failed) {
        record->has_failed = true;
        serve_writer_add(record->log, "--record: %s cannot be written: %s", record->path,
                         strerror(errno));
    }
    return is_put;
}

static bool wait_for_end(serve_record* record)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAKE_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&record->lock);
    if (!record->is_ending) {
        pthread_cond_timedwait(&record->is_changed, &record->lock, &until);
    }
    const bool is_ending = record->is_ending;
    pthread_mutex_unlock(&record->lock);
    return is_ending;
}

static void* drain(void* context)
{
    serve_record* record = context;
    while (!wait_for_end(record)) {
        (void)ph_recorder_drain(record->recorder, put, record); // counts what is lost
    }
    (void)ph_recorder_finish(record->recorder, put, record);
    return NULL;
}

// ---- opening and closing

// Signals are for the thread that ticks.
static bool start(serve_record* record)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(&record->thread, NULL, drain, record) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void release(serve_record* record)
{
    ph_recorder_destroy(record->recorder);
    if (record->file != NULL) {
        fclose(record->file);
    }
    pthread_cond_destroy(&record->is_changed);
    pthread_mutex_destroy(&record->lock);
    free(record);
}

serve_record* serve_record_open(const char* path, const ph_world* world, serve_writer* log,
                                ph_fault* fault)
{
    serve_record* record = calloc(1, sizeof *record);
    if (record == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    ph_recorder_def def = ph_recorder_def_default();
    def.world = world;
    record->path = path;
    record->log = log;
    pthread_mutex_init(&record->lock, NULL);
    pthread_cond_init(&record->is_changed, NULL);
    record->file = fopen(path, "wb");
    if (record->file == NULL) {
        ph_fault_set(fault, 0, 0, "%s cannot be written: %s", path, strerror(errno));
    } else if (ph_recorder_create(&def, &record->recorder) != PH_OK || !start(record)) {
        ph_fault_set_memory(fault);
    } else {
        return record;
    }
    release(record);
    return NULL;
}

ph_recorder* serve_record_recorder(const serve_record* record)
{
    return record != NULL ? record->recorder : NULL;
}

void serve_record_close(serve_record* record)
{
    if (record == NULL) {
        return;
    }
    pthread_mutex_lock(&record->lock);
    record->is_ending = true;
    pthread_cond_signal(&record->is_changed);
    pthread_mutex_unlock(&record->lock);
    pthread_join(record->thread, NULL);
    const ph_recorder_stats stats = ph_recorder_get_stats(record->recorder);
    serve_writer_add(record->log, "recorded %llu ticks in %.2f MB; %llu ticks are missing",
                     (unsigned long long)(stats.ticks - stats.lost_ticks),
                     (double)stats.bytes / 1e6,
                     (unsigned long long)(stats.dropped_ticks + stats.lost_ticks));
    release(record);
}
