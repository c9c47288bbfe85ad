// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a world is divided between simulation servers, and what the token of a player says of it.
//
// The plane is divided into square cells, and rectangles of cells are regions. Every machine of a world has the same
// map of regions. A region has one owner at any time, and an epoch: how many owners it has had.

#ifndef PINHOLE_BUS_REGION_H
#define PINHOLE_BUS_REGION_H

#include <pinhole/bus/transport.h>
#include <pinhole/net/netcode_token.h>
#include <pinhole/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Regions are numbered 0..PH_REGION_MAX by the game, in any order.
#define PH_REGION_MAX 65534
/// No region: a place that none covers.
#define PH_REGION_NONE 65535

/// Names of worlds and machines: 1..31 of A-Z, a-z, 0-9, '-' and '_'.
#define PH_BUS_NAME_SIZE 32

/// A rectangle of cells, its ends included.
typedef struct ph_region {
    int number; ///< 0..PH_REGION_MAX; several rectangles of one number are one region
    ph_cell from;
    ph_cell to;
} ph_region;

/// The region of a cell: the first of the map that covers it. @return Its number, or PH_REGION_NONE.
PH_API int ph_region_at(const ph_region* map, int count, ph_cell cell);

/// Who owns entities of a region, as in ph_ownership: 0 is left to entities that were spawned and not yet filed.
#define PH_REGION_OWNER(number) ((uint32_t)(number) + 1)

// ---- players

/// What the user data of a player's token say to the front-ends (docs/distributed.md).
typedef struct ph_ticket {
    /// Counted by what gives tokens, higher for each token of a player: microseconds of the clock will do. The token
    /// with the higher one wins.
    uint64_t generation;
    /// The key of the player's entity.
    uint64_t key;
    /// Where the entity was when the token was made; a hint. PH_REGION_NONE: not known.
    int region;
    /// The player goes on from another front-end: what was under way is handed over. False: it begins anew.
    bool is_spare;
} ph_ticket;

/// Fills the user data of a token; all of them.
PH_API void ph_ticket_write(const ph_ticket* ticket, uint8_t user_data[PH_TOKEN_USER_DATA_SIZE]);
/// @return False when the user data are none of this kind.
PH_API bool ph_ticket_read(ph_ticket* ticket, const uint8_t user_data[PH_TOKEN_USER_DATA_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
