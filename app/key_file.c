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
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGITS = 2 * PH_NETCODE_KEY_SIZE,
    TEXT_MAX = DIGITS + 2,
    PIPE_WAIT_MS = 5000,
    NAME_TRIES = 16,
};

void app_key_wipe(uint8_t key[PH_NETCODE_KEY_SIZE])
{
    app_secret_wipe(key, PH_NETCODE_KEY_SIZE);
}

// ---- what a file may be

// Below the folder where systemd puts what LoadCredential= names.
static bool is_credential(const char* path)
{
    const char* folder = getenv("CREDENTIALS_DIRECTORY");
    const size_t length = folder != NULL ? strlen(folder) : 0;
    return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/' &&
           strstr(path + length, "/..") == NULL;
}

static bool check_file(const char* path, int file, ph_fault* fault)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return ph_fault_set(fault, 0, 0, "%s cannot be read: %s", path, strerror(errno));
    }
    if (S_ISFIFO(about.st_mode)) {
        return true;
    }
    if (!S_ISREG(about.st_mode)) {
        return ph_fault_set(fault, 0, 0, "%s is no key: it must be a file or a pipe", path);
    }
    const unsigned too_wide = is_credential(path) ? 0037u : 0077u;
    if ((about.st_mode & too_wide) != 0) {
        return ph_fault_set(fault, 0, 0,
                            "%s has mode %04o, others could read or change it: 'chmod 600' it, or "
                            "make a new key",
                            path, (unsigned)(about.st_mode & 07777));
    }
    return true;
}

// ---- reading

// Up to capacity bytes, to the end of the file. @return How many; -1 with errno.
static ssize_t read_all(int file, char* text, size_t capacity)
{
    size_t size = 0;
    while (size < capacity) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        if (poll(&wait, 1, PIPE_WAIT_MS) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        const ssize_t more = read(file, text + size, capacity - size);
        if (more < 0 && errno != EINTR && errno != EAGAIN) {
            return -1;
        }
        if (more == 0) {
            break;
        }
        size += more > 0 ? (size_t)more : 0;
    }
    return (ssize_t)size;
}

static bool read_key(const char* path, int file, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault)
{
    static const uint8_t ZERO[PH_NETCODE_KEY_SIZE];
    char text[TEXT_MAX + 2] = {0}; // one more than there may be, and an end
    const ssize_t size = read_all(file, text, TEXT_MAX + 1);
    const bool is_key = size >= DIGITS && size <= TEXT_MAX && ph_key_parse(text, key) == PH_OK;
    app_secret_wipe(text, sizeof text);
    if (size < 0) {
        return ph_fault_set(fault, 0, 0, "%s cannot be read: %s", path, strerror(errno));
    }
    if (!is_key) {
        return ph_fault_set(fault, 0, 0,
                            "%s is no key: it must hold %d hexadecimal digits, as made by 'pinhole "
                            "token --make-key FILE'",
                            path, DIGITS);
    }
    if (memcmp(key, ZERO, sizeof ZERO) == 0) {
        return ph_fault_set(fault, 0, 0,
                            "%s is all zeros, which everybody can guess; 'pinhole token --make-key "
                            "FILE' makes a key",
                            path);
    }
    return true;
}

bool app_key_read(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault)
{
    // Without O_NONBLOCK, opening a pipe that has no writer would never end.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) {
        return ph_fault_set(fault, 0, 0, "%s cannot be read: %s", path, strerror(errno));
    }
    const bool is_key = check_file(path, file, fault) && read_key(path, file, key, fault);
    if (!is_key) {
        app_key_wipe(key);
    }
    close(file);
    return is_key;
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
