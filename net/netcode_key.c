// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The private key from a file: once per program, and when keys change.

#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include <pinhole/net/netcode_token.h>

#include "base/check.h"
#include "net/netcode_insecure.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum {
    DIGITS = 2 * PH_NETCODE_KEY_SIZE,
    TEXT_MAX = DIGITS + 2,
    PIPE_WAIT_MS = 5000,
};

static ph_result fail_system(ph_error* error, const char* path)
{
    return ph_error_set(error, PH_ERROR_SYSTEM, "ph_key_read_file", NULL,
                        "%.120s cannot be read: %s", path, strerror(errno));
}

// ---- the file. Each reads up to capacity bytes, to its end; *size is how many.

#if defined(_WIN32)

static ph_result read_file(const char* path, char* text, size_t capacity, size_t* size,
                           ph_error* error)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return fail_system(error, path);
    }
    *size = fread(text, 1, capacity, file);
    const bool is_read = ferror(file) == 0;
    fclose(file);
    return is_read ? PH_OK : fail_system(error, path);
}

#else

// Below the folder where systemd puts what LoadCredential= names.
static bool is_credential(const char* path)
{
    const char* folder = getenv("CREDENTIALS_DIRECTORY");
    const size_t length = folder != NULL ? strlen(folder) : 0;
    return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/' &&
           strstr(path + length, "/..") == NULL;
}

static ph_result check_file(const char* path, int file, ph_error* error)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return fail_system(error, path);
    }
    if (S_ISFIFO(about.st_mode)) {
        return PH_OK;
    }
    if (!S_ISREG(about.st_mode)) {
        return ph_error_set(error, PH_ERROR_ARGUMENT, "ph_key_read_file", NULL,
                            "%.120s is no key: it must be a file or a pipe", path);
    }
    const unsigned too_wide = is_credential(path) ? 0037u : 0077u;
    if ((about.st_mode & too_wide) != 0) {
        return ph_error_set(error, PH_ERROR_ARGUMENT, "ph_key_read_file", NULL,
                            "%.120s has mode %04o, others could read or change it: 'chmod 600' it, "
                            "or make a new key",
                            path, (unsigned)(about.st_mode & 07777));
    }
    return PH_OK;
}

// @return False with errno.
static bool read_all(int file, char* text, size_t capacity, size_t* size)
{
    while (*size < capacity) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        if (poll(&wait, 1, PIPE_WAIT_MS) == 0) {
            errno = ETIMEDOUT;
            return false;
        }
        const ssize_t more = read(file, text + *size, capacity - *size);
        if (more < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        if (more == 0) {
            break;
        }
        *size += more > 0 ? (size_t)more : 0;
    }
    return true;
}

static ph_result read_file(const char* path, char* text, size_t capacity, size_t* size,
                           ph_error* error)
{
    // Without O_NONBLOCK, opening a pipe that has no writer would never end.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) {
        return fail_system(error, path);
    }
    ph_result result = check_file(path, file, error);
    if (result == PH_OK && !read_all(file, text, capacity, size)) {
        result = fail_system(error, path);
    }
    close(file);
    return result;
}

#endif

// ---- the key

static ph_result read_key(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_error* error)
{
    char text[TEXT_MAX + 2] = {0}; // one more than there may be, and an end
    size_t size = 0;
    const ph_result result = read_file(path, text, TEXT_MAX + 1, &size, error);
    const bool is_key = size >= DIGITS && size <= TEXT_MAX && ph_key_parse(text, key) == PH_OK;
    sodium_memzero(text, sizeof text);
    if (result != PH_OK) {
        return result;
    }
    if (!is_key) {
        return ph_error_set(error, PH_ERROR_TEXT, "ph_key_read_file", NULL,
                            "%.120s is no key: it must hold %d hexadecimal digits, as made by "
                            "'pinhole token --make-key FILE'",
                            path, DIGITS);
    }
    if (ph_insecure_is_zero(key)) {
        return ph_error_set(error, PH_ERROR_TEXT, "ph_key_read_file", NULL,
                            "%.120s is all zeros, which everybody can guess; 'pinhole token "
                            "--make-key FILE' makes a key",
                            path);
    }
    return PH_OK;
}

ph_result ph_key_read_file(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_error* error)
{
    const ph_result result = read_key(path, key, error);
    if (result != PH_OK) {
        sodium_memzero(key, PH_NETCODE_KEY_SIZE);
    }
    return result;
}
