// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The private key of backend and servers in a file: 64 hexadecimal digits. Never printed anywhere. And how files
// with secrets are written: readable for their owner only, whatever was there before.

#ifndef PH_APP_KEY_FILE_H
#define PH_APP_KEY_FILE_H

#include "kit/fault.h"

#include <pinhole/net/netcode_common.h>

// The protocol of `pinhole serve`, `bots` and `token`: that of a ph_host_def as its default has it, so that
// `pinhole token` makes tokens for a game's own host, too.
#define APP_PROTOCOL_ID UINT64_C(0)

// Reads a key. The file must be a regular one or a pipe, as by '--key <(command)'. Of a regular one, group and
// others may have no rights; only below $CREDENTIALS_DIRECTORY the group may read it, as systemd may show it.
// A key of zeros is refused. Of a pipe that nothing is written to, it does not wait for more than a few seconds.
// @return False with *fault filled: what is wrong with which file, and what to do.
bool app_key_read(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault);

// Makes a new key, writes it into a file that only its owner may read, which must not exist yet.
// @return As above.
bool app_key_make(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE], ph_fault* fault);

// Writes a file that only its owner may read. Whatever was there, also a symbolic link, is replaced at once and
// as a whole, never written through; what is no file, as a device or a folder, is refused. @return As above.
bool app_secret_file_write(const char* path, const void* bytes, size_t size, ph_fault* fault);

// Overwrites it in a way that no compiler leaves out.
void app_key_wipe(uint8_t key[PH_NETCODE_KEY_SIZE]);

#endif
