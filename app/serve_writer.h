// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Lines for a log, by a thread of their own: the thread that ticks never waits for the reader of a pipe, a
// terminal that was stopped or a disk. It puts a line into memory; what does not fit there is dropped and
// counted. Not by O_NONBLOCK: that would be set for every process that shares the pipe or terminal.

#ifndef PH_APP_SERVE_WRITER_H
#define PH_APP_SERVE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is longer is cut. Not above PIPE_BUF (512 by POSIX, 4096 by Linux): a line of this size is never
// mixed with those of others in a pipe.
enum { SERVE_LINE_MAX = 1024 };

typedef struct serve_writer serve_writer;

// file: open for writing; closed at the end when owns_file. capacity: bytes of lines that may wait. what:
// the name in sentences about dropped lines, as "log". @return NULL without memory or without a thread;
// the file is still the caller's then.
serve_writer* serve_writer_create(int file, bool owns_file, size_t capacity, const char* what);

// Waits until all is written, and at most a second: a reader that does not read keeps no program from
// ending. NULL is allowed, here and below.
void serve_writer_destroy(serve_writer* writer);

// Adds a line; format without a newline at its end. Never waits. Once or a few times per second, or per
// client that comes and goes.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void serve_writer_add(serve_writer* writer, const char* format, ...);

// Lines that were lost since the start: the ones before them were not read, or they could not be written.
uint64_t serve_writer_dropped(serve_writer* writer);

// Lines added from now on go to another file (a log that was rotated), and those that still wait, too. The
// one so far is closed when the thread is done with it.
void serve_writer_set_file(serve_writer* writer, int file);

#endif
