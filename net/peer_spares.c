// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tokens for other servers: those that the game has given, and those that come from the server in parts. They are
// secrets: wiped when they were used, are too old, or the connection has ended. A few times per connection.

#include "net/peer_state.h"

#include "base/check.h"

#include <sodium.h>
#include <string.h>

enum {
    SECOND_US = 1000000,
    HAVES = 3, // how often the server is told that the number of spares has changed
    HAVE_EVERY_US = 200000,
};

_Static_assert(PH_ADMISSION_SPARE_MAX == PH_TOKEN_SIZE, "a token, in parts");

// ---- those that are there

static bool is_good(const ph_peer* peer, const ph_peer_spare* spare)
{
    return spare->is_there && peer->now_us < spare->until_us;
}

int ph_peer_spare_count(const ph_peer* peer)
{
    int count = 0;
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        count += is_good(peer, &peer->spares.all[i]);
    }
    return count;
}

// In the order in which they were given: a sim takes each that is used for newer than those that were used before.
int ph_peer_spares_next(const ph_peer* peer)
{
    int next = -1;
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        const ph_peer_spare* spare = &peer->spares.all[i];
        if (is_good(peer, spare) && (next < 0 || spare->order < peer->spares.all[next].order)) {
            next = i;
        }
    }
    return next;
}

void ph_peer_spares_drop(ph_peer* peer, int spare)
{
    sodium_memzero(&peer->spares.all[spare], sizeof peer->spares.all[spare]);
    peer->spares.haves_due = HAVES;
}

void ph_peer_spares_drop_before(ph_peer* peer, uint32_t order)
{
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        if (peer->spares.all[i].is_there && peer->spares.all[i].order < order) {
            ph_peer_spares_drop(peer, i);
        }
    }
}

// This is where it is now: the server before may have given more than one.
void ph_peer_spares_drop_for(ph_peer* peer, const ph_address* server)
{
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        if (peer->spares.all[i].is_there &&
            ph_address_is_equal(&peer->spares.all[i].server, server)) {
            ph_peer_spares_drop(peer, i);
        }
    }
}

void ph_peer_spares_reset(ph_peer* peer)
{
    sodium_memzero(&peer->spares, sizeof peer->spares);
}

// Where the next one goes: in place of one for the same server, where there is none, or in place of the oldest.
static int place_for(const ph_peer* peer, const ph_address* server)
{
    const ph_peer_spare* all = peer->spares.all;
    int place = 0;
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        if (all[i].is_there && ph_address_is_equal(&all[i].server, server)) {
            return i;
        }
        if (all[place].is_there && (!all[i].is_there || all[i].order < all[place].order)) {
            place = i;
        }
    }
    return place;
}

static int keep(ph_peer* peer, const ph_token* read, const void* token)
{
    const int place = place_for(peer, &read->addresses[0]);
    ph_peer_spare* spare = &peer->spares.all[place];
    const uint64_t life_s = read->expire_s - read->create_s;
    const uint64_t life_us =
        life_s < UINT64_MAX / SECOND_US / 2 ? life_s * SECOND_US : UINT64_MAX / 2;
    spare->is_there = true;
    spare->order = ++peer->spares.given;
    spare->until_us = peer->now_us + life_us;
    spare->server = read->addresses[0];
    memcpy(spare->token, token, PH_TOKEN_SIZE);
    peer->spares.haves_due = HAVES;
    return place;
}

ph_result ph_peer_add_spare(ph_peer* peer, const void* token, size_t size)
{
    if (peer->state == PH_PEER_STATE_IDLE) {
        return ph_peer_fail_idle(peer, __func__);
    }
    const ph_check call = ph_check_begin(peer->def.on_error, peer->def.on_error_context, __func__);
    ph_token read;
    ph_result result = PH_OK;
    const ph_token_fault fault = ph_token_read(token, size, &read);
    if (fault != PH_TOKEN_GOOD) {
        result = ph_fail(&call, PH_ERROR_ARGUMENT, "token", "is of no use: %s",
                         ph_token_fault_text(fault));
    } else if (read.protocol_id != peer->link->protocol_id) {
        result = ph_fail(&call, PH_ERROR_ARGUMENT, "token",
                         "is of protocol %llu, and the present server of %llu; it must be for "
                         "another server of the same game",
                         (unsigned long long)read.protocol_id,
                         (unsigned long long)peer->link->protocol_id);
    } else {
        keep(peer, &read, token);
    }
    ph_token_wipe(&read);
    return result;
}

// ---- those that come

// All parts are there. @return False when they are no token for a server of this game.
static bool finish(ph_peer* peer, const ph_admission* last)
{
    ph_token read;
    const bool is_token =
        ph_token_read(peer->spares.coming.token, PH_TOKEN_SIZE, &read) == PH_TOKEN_GOOD &&
        read.protocol_id == peer->link->protocol_id;
    if (is_token) {
        const int place = keep(peer, &read, peer->spares.coming.token);
        peer->move.wanted = last->asks_move ? place : peer->move.wanted;
        if (last->renews) {
            ph_peer_spares_drop_before(peer, peer->spares.all[place].order);
        }
    }
    ph_token_wipe(&read);
    sodium_memzero(peer->spares.coming.token, sizeof peer->spares.coming.token);
    return is_token;
}

bool ph_peer_spares_take(ph_peer* peer, const ph_admission* spare)
{
    ph_peer_coming* coming = &peer->spares.coming;
    if (!peer->def.accepts_spares || peer->state != PH_PEER_STATE_JOINED) {
        return peer->state != PH_PEER_STATE_JOINED; // too early is no fault: it comes again
    }
    if (coming->number != spare->number) {
        sodium_memzero(coming, sizeof *coming);
        coming->number = spare->number;
        coming->size = spare->spare_size;
    }
    if (coming->size != spare->spare_size) {
        return false;
    }
    const uint8_t all = ph_admission_all_parts(coming->size);
    const uint8_t part = (uint8_t)(1u << spare->offset / PH_ADMISSION_PART_MAX);
    peer->spares.haves_due = peer->spares.haves_due > 0 ? peer->spares.haves_due : 1;
    peer->spares.have_us = 0; // at once
    if (coming->parts == all || (coming->parts & part) != 0) {
        return true; // came twice
    }
    memcpy(coming->token + spare->offset, spare->bytes, spare->size);
    coming->parts |= part;
    return coming->parts != all || finish(peer, spare);
}

// ---- time

static void forget_old(ph_peer* peer)
{
    for (int i = 0; i < PH_PEER_SPARES_MAX; ++i) {
        if (peer->spares.all[i].is_there && !is_good(peer, &peer->spares.all[i])) {
            ph_peer_spares_drop(peer, i);
        }
    }
}

void ph_peer_spares_tick(ph_peer* peer)
{
    ph_peer_spares* spares = &peer->spares;
    forget_old(peer);
    if (spares->haves_due == 0 ||
        (spares->have_us != 0 && peer->now_us < spares->have_us + HAVE_EVERY_US)) {
        return;
    }
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    const ph_admission have = {
        .kind = PH_ADMISSION_HAVE,
        .number = spares->coming.number,
        .parts = spares->coming.parts,
        .held = (uint8_t)ph_peer_spare_count(peer),
    };
    ph_peer_say(peer, bytes, ph_admission_write(&have, bytes));
    spares->have_us = peer->now_us;
    --spares->haves_due;
}
