// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The login of a game whose world is on several machines: it asks a director (docs/distributed.md) for the tokens of a
// player, by place and load of the front-ends. Who a player is, and which entity is its own, the game knows.
//
//     ph_bus_login_create(&def, &login);
//     ph_bus_login_wish(login, &(ph_bus_wish){.client_id = 77, .key = 4711, .spare_count = 2}, clock_us());
//     ...
//     for (ph_bus_grant grant; ph_bus_login_next(login, clock_us(), &grant);) {
//         // to the player: the first for ph_peer_connect(), the others for ph_peer_add_spare()
//     }
//
// A wish is repeated until it is answered. One thread uses a login. No call waits for the network.

#ifndef PINHOLE_BUS_BUS_LOGIN_H
#define PINHOLE_BUS_BUS_LOGIN_H

#include <pinhole/bus/refusal.h>
#include <pinhole/bus/region.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A player gets one token and up to so many spares, each for another front-end.
#define PH_BUS_SPARES_MAX 3

/// How to make one. Start from ph_bus_login_def_default() and change what you need.
typedef struct ph_bus_login_def {
    /// Outlives the login, which takes all that comes by it.
    ph_bus_transport transport;
    /// As in ph_bus_sim_def; the name is this machine's own. Copied.
    const char* world_name;
    const char* name;
    /// How many wishes may wait at a time, 1..65,536. Default 1,024.
    int capacity;
    /// How long a wish may go unanswered, in ms, 500..600,000. Default 5,000.
    int answer_ms;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_bus_login_def_default(). Do not touch.
    uint32_t cookie;
} ph_bus_login_def;

typedef struct ph_bus_login ph_bus_login;

/// The defaults named above; transport and names are still to be set.
PH_API ph_bus_login_def ph_bus_login_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_MEMORY; *login is NULL unless PH_OK.
PH_API ph_result ph_bus_login_create(const ph_bus_login_def* def, ph_bus_login** login);
/// Wishes that wait are not answered any more. NULL is allowed.
PH_API void ph_bus_login_destroy(ph_bus_login* login);

/// What a player is to get tokens for.
typedef struct ph_bus_wish {
    uint64_t client_id; ///< as in ph_token_def
    uint64_t key;       ///< of its entity
    int spare_count;    ///< 0..PH_BUS_SPARES_MAX; 2 are what front-ends keep up
    /// The player goes on with the session that it has, as by a spare. False: it begins anew.
    bool is_spare;
} ph_bus_wish;

/// Asks for tokens. A wish of the same client that waits is replaced. Time as in bus_sim.h.
/// @return PH_OK; PH_ERROR_ARGUMENT (spare_count); PH_ERROR_FULL: def.capacity wishes wait.
PH_API ph_result ph_bus_login_wish(ph_bus_login* login, const ph_bus_wish* wish, uint64_t now_us);

/// The answer to a wish.
typedef struct ph_bus_grant {
    uint64_t client_id;
    /// The token and its spares, fewer than asked for where there are fewer front-ends. 0: none now, and text says why.
    int token_count;
    /// PH_TOKEN_SIZE bytes each, for the player alone. Valid until the next call.
    const uint8_t* tokens;
    /// Why there are none, for people; "" when there are. Valid until the next call.
    const char* text;
} ph_bus_grant;

/// The next answer that has come, or the end of a wish that no director has answered for answer_ms. Call it some
/// times a second until it is false. @return False when there is none.
PH_API bool ph_bus_login_next(ph_bus_login* login, uint64_t now_us, ph_bus_grant* grant);

/// Since it was created; those with "now" are of this moment.
typedef struct ph_bus_login_stats {
    int waiting;          ///< now: wishes
    uint64_t wishes;      ///< that were made
    uint64_t granted;     ///< answers with tokens
    uint64_t denied;      ///< answers without
    uint64_t unanswered;  ///< wishes
    uint64_t refused[16]; ///< malformed messages, by ph_bus_refusal; answers to nothing that waits
} ph_bus_login_stats;

/// What a login has done so far.
PH_API ph_bus_login_stats ph_bus_login_get_stats(const ph_bus_login* login);

#ifdef __cplusplus
}
#endif

#endif
