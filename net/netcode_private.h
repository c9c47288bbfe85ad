// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The two things that a server seals for itself and gets back through the client: the private part
// of a connect token, made by the backend, and the challenge, made by the server. Once or twice per
// connection each, and once per request of an attacker who has read this far.

#ifndef PINHOLE_NET_NETCODE_PRIVATE_H
#define PINHOLE_NET_NETCODE_PRIVATE_H

#include <pinhole/net/netcode_token.h>

enum {
    PH_CHALLENGE_SIZE = 300,
    PH_CHALLENGE_DATA_SIZE = 8 + PH_CHALLENGE_SIZE, // its sequence number before it
};

// What the private part says. Holds keys: wipe it.
typedef struct ph_token_private {
    uint64_t client_id;
    int32_t timeout_s;
    int address_count;
    ph_address addresses[PH_TOKEN_ADDRESSES_MAX];
    uint8_t client_to_server_key[PH_NETCODE_KEY_SIZE];
    uint8_t server_to_client_key[PH_NETCODE_KEY_SIZE];
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
    bool is_dated;    // tokens of other makers are not
    uint64_t made_us; // when it was made, in Unix microseconds
} ph_token_private;

// What it is sealed with: part of it stands in clear beside it, and is checked by the tag.
typedef struct ph_token_seal {
    uint64_t protocol_id;
    uint64_t expire_s;
    const uint8_t* nonce; // PH_TOKEN_NONCE_SIZE
    const uint8_t* key;   // of backend and servers
} ph_token_seal;

void ph_token_private_seal(const ph_token_private* token, const ph_token_seal* seal,
                           uint8_t sealed[PH_TOKEN_PRIVATE_SIZE]);

// @return PH_NET_REFUSAL_NONE; TOKEN_SEAL or TOKEN_DATA with *token all zero.
ph_net_refusal ph_token_private_open(const uint8_t sealed[PH_TOKEN_PRIVATE_SIZE],
                                     const ph_token_seal* seal, ph_token_private* token);

// Proof that its bearer receives at the address from which it asked.
typedef struct ph_challenge {
    uint64_t sequence; // never used twice with a key
    uint64_t client_id;
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
} ph_challenge;

// Writes the data of a challenge packet: sequence number and sealed token.
void ph_challenge_seal(const ph_challenge* challenge, const uint8_t key[PH_NETCODE_KEY_SIZE],
                       uint8_t data[PH_CHALLENGE_DATA_SIZE]);

// Reads the data of a response. @return false when the server has not made it.
bool ph_challenge_open(const uint8_t data[PH_CHALLENGE_DATA_SIZE],
                       const uint8_t key[PH_NETCODE_KEY_SIZE], ph_challenge* challenge);

// Four zero bytes, then the number. Of every packet and challenge.
enum { PH_NETCODE_SEQUENCE_NONCE_SIZE = 12 };
void ph_netcode_nonce(uint64_t sequence, uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE]);

#endif
