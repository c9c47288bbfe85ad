// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// At the start, and at every SIGHUP.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_keys.h"

#include "secret.h"
#include "wall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void serve_key_pair_destroy(serve_key_pair* pair)
{
    app_secret_destroy(pair, sizeof *pair);
}

// ---- a key for development

// Under a name that no other file has: nothing is ever removed that was not made here.
static bool make_key(serve_keys* keys, serve_key_pair* pair, ph_fault* fault)
{
    const char* set = getenv("TMPDIR");
    const char* folder = set != NULL && set[0] != '\0' ? set : "/tmp";
    uint32_t number = 0;
    char path[sizeof keys->made_path];
    app_wall_random(&number, sizeof number);
    const int length = snprintf(path, sizeof path, "%s/pinhole-development-%ld-%08lx.key", folder,
                                (long)getpid(), (unsigned long)number);
    if (length < 0 || (size_t)length >= sizeof path) {
        return ph_fault_set(fault, 0, 0,
                            "TMPDIR has %zu letters, and with the name of a key for development it "
                            "may have %zu in all; set another TMPDIR, or say --key FILE",
                            strlen(folder), sizeof path - 1);
    }
    if (!app_key_make(path, pair->key, fault)) {
        return false;
    }
    memcpy(keys->made_path, path, sizeof path);
    return true;
}

void serve_keys_close(serve_keys* keys)
{
    if (keys->made_path[0] != '\0') {
        unlink(keys->made_path);
        keys->made_path[0] = '\0';
    }
}

// ---- keys in files

static bool read_second(const serve_keys* keys, serve_key_pair* pair, ph_fault* fault)
{
    struct stat about;
    if (keys->second_path == NULL || (stat(keys->second_path, &about) != 0 && errno == ENOENT)) {
        return true;
    }
    pair->has_second = app_key_read(keys->second_path, pair->second, fault);
    return pair->has_second;
}

static bool read_keys(const serve_keys* keys, serve_key_pair* pair, ph_fault* fault)
{
    return app_key_read(keys->path, pair->key, fault) && read_second(keys, pair, fault);
}

serve_key_pair* serve_keys_open(serve_keys* keys, ph_fault* fault)
{
    serve_key_pair* pair = app_secret_create(sizeof *pair);
    if (pair == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (keys->is_none) {
        return pair; // zeros
    }
    if (!(keys->path != NULL ? read_keys(keys, pair, fault) : make_key(keys, pair, fault))) {
        serve_key_pair_destroy(pair);
        return NULL;
    }
    return pair;
}

// A pipe would have to be waited for, and the clients with it.
static bool is_readable_again(const char* path, ph_fault* fault)
{
    struct stat about;
    return path == NULL || stat(path, &about) != 0 || S_ISREG(about.st_mode) ||
           ph_fault_set(fault, 0, 0, "%s is no file, and cannot be read again", path);
}

void serve_keys_reread(const serve_keys* keys, ph_host* host, serve_writer* log)
{
    ph_fault fault = {0};
    serve_key_pair* pair = app_secret_create(sizeof *pair);
    if (pair == NULL) {
        ph_fault_set_memory(&fault);
    } else if (is_readable_again(keys->path, &fault) &&
               is_readable_again(keys->second_path, &fault) && read_keys(keys, pair, &fault)) {
        ph_host_set_keys(host, pair->key, pair->has_second ? pair->second : NULL);
        serve_writer_add(log, "keys: read again; tokens of %s are taken",
                         pair->has_second ? "both keys" : "one key");
        serve_key_pair_destroy(pair);
        return;
    }
    serve_writer_add(log, "keys: kept as they were: %s", fault.message);
    serve_key_pair_destroy(pair);
}
