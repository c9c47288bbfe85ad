// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program, and when keys change.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "key_file.h"

#include "secret.h"
#include "wall.h"

#include <pinhole/net/netcode_token.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGITS = 2 * PH_NETCODE_KEY_SIZE,
    NAME_TRIES = 16,
};

void app_key_wipe(uint8_t key[PH_NETCODE_KEY_SIZE])
{
    app_secret_wipe(key, PH_NETCODE_KEY_SIZE);
}

// ---- reading

bool app_key_read(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault)
{
    ph_error error;
    if (ph_key_read_file(path, key, &error) == PH_OK) {
        return true;
    }
    const char* said = strchr(error.text, ' '); // behind the function
    return ph_fault_set(fault, 0, 0, "%s", said != NULL ? said + 1 : error.text);
}

// ---- writing

static bool write_all(int file, const void* bytes, size_t size)
{
    const char* at = bytes;
    while (size > 0) {
        const ssize_t some = write(file, at, size);
        if (some <= 0 && !(some < 0 && errno == EINTR)) {
            return false;
        }
        at += some > 0 ? some : 0;
        size -= some > 0 ? (size_t)some : 0;
    }
    return true;
}

// A new file, which is removed again when it cannot be written as a whole. @return False with errno.
static bool write_new(const char* path, const void* bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    const bool is_written = write_all(file, bytes, size);
    const int reason = errno;
    const bool is_closed = close(file) == 0;
    if (!is_written || !is_closed) {
        unlink(path);
        errno = is_written ? errno : reason;
    }
    return is_written && is_closed;
}

bool app_key_make(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault)
{
    char text[DIGITS + 2];
    if (!app_wall_random(key, PH_NETCODE_KEY_SIZE)) {
        return ph_fault_set(fault, 0, 0, "the system has no randomness to make a key of");
    }
    for (int i = 0; i < PH_NETCODE_KEY_SIZE; ++i) {
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    }
    text[DIGITS] = '\n';
    const bool is_written = write_new(path, text, DIGITS + 1);
    app_secret_wipe(text, sizeof text);
    return is_written ||
           (errno == EEXIST
                ? ph_fault_set(fault, 0, 0,
                               "%s exists already, and a key is never written over another file",
                               path)
                : ph_fault_set(fault, 0, 0, "%s cannot be written: %s", path, strerror(errno)));
}

// /dev/stdout is a link that stands for something else in each process: it must not be replaced.
static bool check_target(const char* path, ph_fault* fault)
{
    struct stat about;
    if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 ||
        (lstat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode))) {
        return ph_fault_set(fault, 0, 0, "%s is no file; - is standard output", path);
    }
    return true;
}

bool app_secret_file_write(const char* path, const void* bytes, size_t size, ph_fault* fault)
{
    char beside[PATH_MAX];
    if (!check_target(path, fault)) {
        return false;
    }
    for (int i = 0; i < NAME_TRIES; ++i) {
        uint32_t number = 0;
        app_wall_random(&number, sizeof number);
        const int length = snprintf(beside, sizeof beside, "%s.%08lx", path, (unsigned long)number);
        if (length < 0 || (size_t)length >= sizeof beside) {
            errno = ENAMETOOLONG;
            break;
        }
        if (write_new(beside, bytes, size)) {
            if (rename(beside, path) == 0) {
                return true;
            }
            const int reason = errno;
            unlink(beside);
            errno = reason;
            break;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return ph_fault_set(fault, 0, 0, "%s cannot be written: %s", path, strerror(errno));
}
