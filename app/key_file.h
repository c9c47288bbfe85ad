// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The private key of backend and servers in a file: 64 hexadecimal digits. Never printed anywhere.

#ifndef PH_APP_KEY_FILE_H
#define PH_APP_KEY_FILE_H

#include <pinhole/net/netcode_common.h>

// Names the protocol of `pinhole serve`, so that tokens for other games are refused.
#define APP_PROTOCOL_ID UINT64_C(0x70696e686f6c6531)

// @return False when it said on standard error what is wrong, after the name of the command.
bool app_key_read(const char* command, const char* path, uint8_t key[PH_NETCODE_KEY_SIZE]);

// Makes a new key, writes it into a file that only its owner may read, which must not exist yet.
// @return As above.
bool app_key_make(const char* command, const char* path, uint8_t key[PH_NETCODE_KEY_SIZE]);

// Overwrites it in a way that no compiler leaves out.
void app_key_wipe(uint8_t key[PH_NETCODE_KEY_SIZE]);

#endif
