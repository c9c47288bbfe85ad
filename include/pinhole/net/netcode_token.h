// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Connect tokens of the netcode 1.02 standard: what a backend gives to a player (over HTTPS, after
// the player has logged in), and the only way into a server. A token names the player, the servers,
// the time until which it is good, and the two keys of the connection; the same once more sealed
// with a key that only backend and servers have. Made once per connection.
//
//     ph_token_def def = ph_token_def_default();
//     def.client_id = player;
//     def.create_s = (uint64_t)time(NULL);
//     def.addresses[0] = server;
//     def.address_count = 1;
//     memcpy(def.private_key, key, sizeof def.private_key);
//     uint8_t token[PH_TOKEN_SIZE];
//     ph_token_write(&def, token);                  // to the player, as bytes
//
// No object and no memory; from any thread.

#ifndef PINHOLE_NET_NETCODE_TOKEN_H
#define PINHOLE_NET_NETCODE_TOKEN_H

#include <pinhole/error.h>
#include <pinhole/net/netcode_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of a connect token.
#define PH_TOKEN_SIZE 2048

/// Bytes of its sealed part.
#define PH_TOKEN_PRIVATE_SIZE 1024

#define PH_TOKEN_NONCE_SIZE 24
#define PH_TOKEN_USER_DATA_SIZE 256
#define PH_TOKEN_ADDRESSES_MAX 32

/// What of a token must never be guessed nor used for a second one.
typedef struct ph_token_secrets {
    uint8_t nonce[PH_TOKEN_NONCE_SIZE];
    uint8_t client_to_server_key[PH_NETCODE_KEY_SIZE];
    uint8_t server_to_client_key[PH_NETCODE_KEY_SIZE];
} ph_token_secrets;

/// What a token says. Start from ph_token_def_default() and change what you need.
typedef struct ph_token_def {
    /// Names the game and its version; servers refuse tokens of another. Default 0.
    uint64_t protocol_id;

    /// Names the player. A server lets one in once at a time.
    uint64_t client_id;

    /// The time now, in Unix seconds; 0 and milliseconds are refused. It is written into the sealed part, too, to the
    /// microsecond as long as the system's clock shows the same second: a server refuses tokens that are older than
    /// its start.
    uint64_t create_s;

    /// How long a client may begin to connect with it, in seconds, 1 or more. Default 30. What is
    /// valid for long can be stolen for long.
    uint32_t lifetime_s;

    /// The connection ends after this time without a packet, in seconds; negative is never, for
    /// development only; 0 is refused. Default 10.
    int32_t timeout_s;

    /// The servers to try, in this order: 1..32.
    ph_address addresses[PH_TOKEN_ADDRESSES_MAX];
    int address_count;

    /// Of backend and servers. All zero is refused.
    uint8_t private_key[PH_NETCODE_KEY_SIZE];

    /// For a server with is_insecure_dev: the key is all zero, and every program could have made the token. Default
    /// false.
    bool is_insecure_dev;

    /// What the backend wants to tell the server about the player. The client cannot read it.
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];

    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;

    /// Set by ph_token_def_default(). Do not touch.
    uint32_t cookie;
} ph_token_def;

/// The defaults named above; everything else is zero and still to be set.
PH_API ph_token_def ph_token_def_default(void);

/// Makes a token. The def holds the private key: wipe it when it is no longer needed.
/// @return PH_OK, or PH_ERROR_ARGUMENT (a field of the def) with token all zero.
PH_API ph_result ph_token_write(const ph_token_def* def, uint8_t token[PH_TOKEN_SIZE]);

/// Reads the key of backend and servers as `pinhole token --make-key` writes it: 64 hexadecimal digits; blanks and
/// line ends may follow. text may be NULL. @return PH_OK, or PH_ERROR_TEXT with key all zero, which nothing takes as
/// a key.
PH_API ph_result ph_key_parse(const char* text, uint8_t key[PH_NETCODE_KEY_SIZE]);

/// Reads the private key of backend and servers from a file of 64 hexadecimal digits, as `pinhole token --make-key
/// FILE` makes it. On POSIX systems it must be a regular file that only its owner may read or write (below
/// $CREDENTIALS_DIRECTORY, where systemd puts credentials, its group may read it), or a pipe, for which it waits a
/// few seconds at most. All zero is refused. Wipe the key when it is no longer needed: sodium_memzero().
/// @return PH_OK; PH_ERROR_TEXT (no key), PH_ERROR_ARGUMENT (others may read it, or it is no file), PH_ERROR_SYSTEM
/// (it cannot be read), with key all zero and *error, which may be NULL, filled.
PH_API ph_result ph_key_read_file(const char* path, uint8_t key[PH_NETCODE_KEY_SIZE],
                                  ph_error* error);

/// Why a client will not use a token.
typedef enum ph_token_fault {
    PH_TOKEN_GOOD = 0,
    PH_TOKEN_FAULT_SIZE,          ///< not 2048 bytes
    PH_TOKEN_FAULT_VERSION,       ///< of another version of the standard
    PH_TOKEN_FAULT_TIME,          ///< made later than it expires
    PH_TOKEN_FAULT_ADDRESS_COUNT, ///< not 1..32
    PH_TOKEN_FAULT_ADDRESS_KIND,  ///< neither IPv4 nor IPv6
    PH_TOKEN_FAULT_COUNT
} ph_token_fault;

/// A few words on a fault, never NULL. Static storage.
PH_API const char* ph_token_fault_text(ph_token_fault fault);

/// What a client can read of a token.
typedef struct ph_token {
    uint64_t protocol_id;
    uint64_t create_s; ///< Unix seconds
    uint64_t expire_s;
    int32_t timeout_s; ///< negative is never
    int address_count; ///< 1..32
    ph_address addresses[PH_TOKEN_ADDRESSES_MAX];
    ph_token_secrets secrets;
    uint8_t sealed[PH_TOKEN_PRIVATE_SIZE]; ///< what the request carries to the server
} ph_token;

/// Reads a token. It holds keys: wipe it with ph_token_wipe.
/// @return PH_TOKEN_GOOD, or a fault with *token all zero.
PH_API ph_token_fault ph_token_read(const void* bytes, size_t size, ph_token* token);

/// Overwrites a token, in a way that no compiler leaves out.
PH_API void ph_token_wipe(ph_token* token);

#ifdef __cplusplus
}
#endif

#endif
