// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two blocks of text: one is filled, the other one is being written. When the thread is done with its
// block, the two change places. So lines are lost at the end of a block only, and what was lost there is
// told at that place.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { END_WAIT_S = 1 };

typedef struct block {
    char* text; // whole lines
    size_t size;
    uint64_t dropped; // lines that did not fit behind the last one
} block;

struct serve_writer {
    pthread_t thread;
    pthread_mutex_t lock; // of all that follows, but for what is said to be the thread's
    pthread_cond_t is_changed;
    const char* what;
    size_t capacity;
    block filling;
    int file;
    bool owns_file;
    uint64_t dropped; // in all
    bool is_writing;  // the thread has a block
    bool is_ending;
    // The thread's.
    block writing;
    int writing_file;
    uint64_t failed; // lines that could not be written, not told yet
    int reason;      // errno of the last one
    bool is_torn;    // the last thing written was a part of a line
};

// ---- the thread

// @return False with errno when not all of it was written.
static bool write_all(serve_writer* writer, const char* text, size_t size)
{
    const int file = writer->writing_file;
    size_t done = 0;
    while (done < size) {
        const ssize_t some = write(file, text + done, size - done);
        if (some > 0) {
            done += (size_t)some;
        } else if (some < 0 && errno == EAGAIN) { // another process made it non-blocking
            struct pollfd wait = {.fd = file, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (some == 0 || errno != EINTR) {
            writer->is_torn = writer->is_torn || done > 0;
            return false;
        }
    }
    return true;
}

static bool write_line(serve_writer* writer, const char* text, size_t size)
{
    if (writer->is_torn && !write_all(writer, "\n", 1)) {
        return false;
    }
    writer->is_torn = false;
    return write_all(writer, text, size);
}

static bool write_sentence(serve_writer* writer, uint64_t dropped, const char* reason)
{
    char line[SERVE_LINE_MAX];
    const int size = snprintf(line, sizeof line, "%llu lines dropped because %s\n",
                              (unsigned long long)dropped, reason);
    return write_line(writer, line, (size_t)size);
}

static bool tell_failed(serve_writer* writer)
{
    char reason[SERVE_LINE_MAX / 2];
    if (writer->failed > 0) {
        snprintf(reason, sizeof reason, "the %s could not be written: %s", writer->what,
                 strerror(writer->reason));
        if (!write_sentence(writer, writer->failed, reason)) {
            return false;
        }
        writer->failed = 0;
    }
    return true;
}

static bool tell_dropped(serve_writer* writer, uint64_t dropped)
{
    char reason[SERVE_LINE_MAX / 2];
    snprintf(reason, sizeof reason, "nobody reads the %s", writer->what);
    return tell_failed(writer) && write_sentence(writer, dropped, reason);
}

// @return How many lines were lost for good, that were not counted yet.
static uint64_t write_block(serve_writer* writer)
{
    const block* from = &writer->writing;
    uint64_t lost = 0;
    for (size_t at = 0; at < from->size;) {
        const char* line = from->text + at;
        const size_t size = (size_t)((char*)memchr(line, '\n', from->size - at) - line) + 1;
        if (!tell_failed(writer) || !write_line(writer, line, size)) {
            writer->reason = errno;
            ++writer->failed;
            ++lost;
        }
        at += size;
    }
    if (from->dropped > 0 && !tell_dropped(writer, from->dropped)) {
        writer->reason = errno;
        writer->failed += from->dropped; // counted when they were dropped
    }
    return lost;
}

static bool has_work(const serve_writer* writer)
{
    return writer->filling.size > 0 || writer->filling.dropped > 0 ||
           writer->file != writer->writing_file;
}

// @return The file that is not written to any more, or -1.
static int take_block(serve_writer* writer)
{
    const int before = writer->writing_file;
    const block taken = writer->filling;
    writer->filling = writer->writing;
    writer->filling.size = 0;
    writer->filling.dropped = 0;
    writer->writing = taken;
    writer->writing_file = writer->file;
    writer->is_writing = true;
    return before != writer->file && writer->owns_file ? before : -1;
}

static void close_file(int file)
{
    if (file >= 0) {
        close(file);
    }
}

static void* work(void* context)
{
    serve_writer* writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (!has_work(writer) && !writer->is_ending) {
            pthread_cond_wait(&writer->is_changed, &writer->lock);
        }
        if (!has_work(writer)) {
            break;
        }
        const int before = take_block(writer);
        pthread_mutex_unlock(&writer->lock);
        close_file(before);
        const uint64_t lost = write_block(writer);
        pthread_mutex_lock(&writer->lock);
        writer->dropped += lost;
        writer->is_writing = false;
        pthread_cond_broadcast(&writer->is_changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

// ---- beginning and end

static void init_lock(serve_writer* writer)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->is_changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

// Signals are for the thread that ticks.
static bool start_thread(serve_writer* writer)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(&writer->thread, NULL, work, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void release(serve_writer* writer)
{
    pthread_cond_destroy(&writer->is_changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer->filling.text);
    free(writer->writing.text);
    if (writer->owns_file) {
        close_file(writer->file);
    }
    free(writer);
}

serve_writer* serve_writer_create(int file, bool owns_file, size_t capacity, const char* what)
{
    serve_writer* writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return NULL;
    }
    init_lock(writer);
    writer->what = what;
    writer->file = file;
    writer->writing_file = file;
    writer->capacity = capacity;
    writer->filling.text = malloc(capacity);
    writer->writing.text = malloc(capacity);
    if (writer->filling.text == NULL || writer->writing.text == NULL || !start_thread(writer)) {
        release(writer); // the file is still the caller's
        return NULL;
    }
    pthread_mutex_lock(&writer->lock);
    writer->owns_file = owns_file;
    pthread_mutex_unlock(&writer->lock);
    return writer;
}

void serve_writer_destroy(serve_writer* writer)
{
    if (writer == NULL) {
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += END_WAIT_S;
    pthread_mutex_lock(&writer->lock);
    writer->is_ending = true;
    pthread_cond_broadcast(&writer->is_changed);
    int result = 0;
    while ((writer->is_writing || has_work(writer)) && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&writer->is_changed, &writer->lock, &until);
    }
    const bool is_over = !writer->is_writing && !has_work(writer);
    pthread_mutex_unlock(&writer->lock);
    if (is_over) {
        pthread_join(writer->thread, NULL);
        release(writer);
    } else {
        pthread_detach(writer->thread); // ends with the process, and uses all of it until then
    }
}

// ---- lines

void serve_writer_add(serve_writer* writer, const char* format, ...)
{
    char line[SERVE_LINE_MAX];
    if (writer == NULL) {
        return;
    }
    va_list values;
    va_start(values, format);
    const int wanted = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    size_t size = wanted > 0 ? (size_t)wanted : 0;
    size = size < sizeof line - 2 ? size : sizeof line - 2;
    line[size++] = '\n';
    pthread_mutex_lock(&writer->lock);
    block* to = &writer->filling;
    if (to->dropped > 0 || size > writer->capacity - to->size) {
        ++to->dropped;
        ++writer->dropped;
    } else {
        memcpy(to->text + to->size, line, size);
        to->size += size;
    }
    pthread_cond_broadcast(&writer->is_changed);
    pthread_mutex_unlock(&writer->lock);
}

uint64_t serve_writer_dropped(serve_writer* writer)
{
    if (writer == NULL) {
        return 0;
    }
    pthread_mutex_lock(&writer->lock);
    const uint64_t dropped = writer->dropped;
    pthread_mutex_unlock(&writer->lock);
    return dropped;
}

void serve_writer_set_file(serve_writer* writer, int file)
{
    pthread_mutex_lock(&writer->lock);
    const bool is_unused = writer->file != writer->writing_file; // set, and set again at once
    const int before = is_unused && writer->owns_file ? writer->file : -1;
    writer->file = file;
    pthread_cond_broadcast(&writer->is_changed);
    pthread_mutex_unlock(&writer->lock);
    close_file(before);
}
