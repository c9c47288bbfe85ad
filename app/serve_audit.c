// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per client that comes, and once when it goes.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_audit.h"

#include "serve_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Enough for all clients of the largest server to go at once.
enum { CAPACITY = 1 << 20, TIME_MAX = 40 };

struct serve_audit {
    const char* path;
    bool has_addresses;
    serve_writer* writer;
};

// ---- the file

// @return -1 with *fault filled.
static int open_file(const char* path, ph_fault* fault)
{
    struct stat about;
    // O_NONBLOCK: a pipe without a reader is refused here, and not waited for.
    const int file = open(
        path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
    if (file < 0) {
        ph_fault_set(fault, 0, 0, "%s cannot be written: %s", path,
                     errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        return -1;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        ph_fault_set(fault, 0, 0, "%s is no file", path);
    } else if ((about.st_mode & 0077) != 0) {
        ph_fault_set(fault, 0, 0, "%s has mode %04o, others could read it: 'chmod 600' it", path,
                     (unsigned)(about.st_mode & 07777));
    } else {
        return file;
    }
    close(file);
    return -1;
}

serve_audit* serve_audit_open(const char* path, bool has_addresses, ph_fault* fault)
{
    const int file = open_file(path, fault);
    if (file < 0) {
        return NULL;
    }
    serve_audit* audit = calloc(1, sizeof *audit);
    serve_writer* writer =
        audit != NULL ? serve_writer_create(file, true, CAPACITY, "audit log") : NULL;
    if (writer == NULL) {
        close(file);
        free(audit);
        ph_fault_set_memory(fault);
        return NULL;
    }
    *audit = (serve_audit){path, has_addresses, writer};
    return audit;
}

void serve_audit_close(serve_audit* audit)
{
    if (audit != NULL) {
        serve_writer_destroy(audit->writer);
        free(audit);
    }
}

bool serve_audit_reopen(serve_audit* audit, ph_fault* fault)
{
    const int file = audit != NULL ? open_file(audit->path, fault) : -1;
    if (file >= 0) {
        serve_writer_set_file(audit->writer, file);
    }
    return audit == NULL || file >= 0;
}

// ---- lines

static const char* print_time(char text[TIME_MAX])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t size = strftime(text, TIME_MAX, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + size, TIME_MAX - size, ".%03dZ", (int)(now.tv_nsec / 1000000));
    return text;
}

void serve_audit_came(serve_audit* audit, uint64_t client_id, const ph_address* address)
{
    char time[TIME_MAX];
    char from[PH_ADDRESS_TEXT_MAX];
    if (audit == NULL) {
        return;
    }
    const bool is_told = audit->has_addresses && address != NULL;
    serve_writer_add(audit->writer, "%s came client=%llu%s%s", print_time(time),
                     (unsigned long long)client_id, is_told ? " address=" : "",
                     is_told ? ph_address_print(address, from) : "");
}

void serve_audit_went(serve_audit* audit, uint64_t client_id, const char* why)
{
    char time[TIME_MAX];
    if (audit != NULL) {
        serve_writer_add(audit->writer, "%s went client=%llu why=%s", print_time(time),
                         (unsigned long long)client_id, why);
    }
}

uint64_t serve_audit_dropped(const serve_audit* audit)
{
    return audit != NULL ? serve_writer_dropped(audit->writer) : 0;
}
