// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The private keys of a server: where they come from, and how they change while it runs. After it has handed them
// to the host, the program keeps no copy.

#ifndef PH_APP_SERVE_KEYS_H
#define PH_APP_SERVE_KEYS_H

#include "key_file.h"
#include "serve_writer.h"

#include <pinhole/net/host.h>

// In memory for secrets, for a moment only.
typedef struct serve_key_pair {
    uint8_t key[PH_NETCODE_KEY_SIZE];
    uint8_t second[PH_NETCODE_KEY_SIZE];
    bool has_second;
} serve_key_pair;

typedef struct serve_keys {
    const char* path;        // NULL: a key for development is made
    const char* second_path; // NULL: none; a file that is not there means none at the moment
    bool is_none;            // all zero: no key, and no tokens either
    char made_path[256];     // "": the key was given
} serve_keys;

// Reads the keys, or makes one. @return NULL with *fault filled.
serve_key_pair* serve_keys_open(serve_keys* keys, ph_fault* fault);
void serve_key_pair_destroy(serve_key_pair* pair); // NULL is allowed

// Reads the files again and gives them to the host. When anything is wrong with them, the keys stay as they are.
// Says in the log what became of it.
void serve_keys_reread(const serve_keys* keys, ph_host* host, serve_writer* log);

// Removes a key for development.
void serve_keys_close(serve_keys* keys);

#endif
