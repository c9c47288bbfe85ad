// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a front says to the director and gets from it (docs/distributed.md): twice a second where its viewers are and
// how full it is; and spare tokens for players that have none, whose spares have become useless, or that are to go.
// Without a client_capacity nothing is said: the game gives spares itself.

#include "bus/front_state.h"

#include <math.h>
#include <string.h>

#define WISH_AGAIN_US 2000000
// A client that has come says how many spares it has; so long it has time for that.
#define WISH_FIRST_US 1000000

// A player that another front-end has, and that is still here: it was not let in there, or has not heard that it was.
#define SEND_ON_US 2000000

// A director forgets a front-end after two seconds: then it gives no more spares for it.
#define SILENT_US 2500000

// All players within some five seconds: the director and the clients have other work, too.
enum { WISHES_PER_TICK = 8, WISHES_SHARE = 100, SPARES = 2 };

// ---- tokens

void front_token_release(ph_bus_front* front, front_player* player)
{
    if (player->token == NULL) {
        return;
    }
    volatile uint8_t* bytes = player->token; // it holds keys
    for (int i = 0; i < PH_TOKEN_SIZE; ++i) {
        bytes[i] = 0;
    }
    ph_release(&front->allocator, player->token, PH_TOKEN_SIZE);
    player->token = NULL;
}

static void wish(ph_bus_front* front, front_player* player)
{
    bus_wish message = {
        .client_id = player->client_id,
        .key = player->key,
        .is_spare = true,
        .token_count = front->is_emptying ? 1 : SPARES,
        .number = ++front->wish_count,
    };
    memcpy(message.not_front, front->name, sizeof message.not_front);
    memcpy(message.reply_to, front->name, sizeof message.reply_to);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "wish", front->world_name);
    bus_writer_clear(&front->writer);
    bus_write_wish(&front->writer, &message);
    front_publish(front, subject);
    player->wish_number = message.number;
    player->wish_us = front->now_us;
}

static bool is_stranded(const ph_bus_front* front, const front_player* player)
{
    return player->state == PLAYER_OVER && front->now_us - player->since_us >= SEND_ON_US &&
           !ph_host_is_giving_spare(front->def.host, player->client);
}

static bool may_wish(const ph_bus_front* front, const front_player* player)
{
    return front->def.client_capacity > 0 &&
           (player->state == PLAYER_ATTACHED || is_stranded(front, player)) &&
           front->now_us - player->wish_us >= WISH_AGAIN_US;
}

static void keep_token(ph_bus_front* front, front_player* player, const uint8_t* token)
{
    front_token_release(front, player);
    player->token = ph_allocate(&front->allocator, PH_TOKEN_SIZE);
    if (player->token != NULL) {
        memcpy(player->token, token, PH_TOKEN_SIZE);
    }
}

// The first one in place of those that it has, the others behind it: a client uses them in this order, in which their
// generations grow, so the sim takes each for newer than those before.
static void give_spares(ph_bus_front* front, front_player* player, const bus_grant* grant)
{
    ph_host* host = front->def.host;
    const ph_result result =
        player->wants_spare
            ? ph_host_renew_spares(host, player->client, grant->tokens, PH_TOKEN_SIZE)
            : ph_host_give_spare(host, player->client, grant->tokens, PH_TOKEN_SIZE);
    if (result != PH_OK) {
        return;
    }
    player->wants_spare = false;
    if (grant->token_count > 1) {
        keep_token(front, player, grant->tokens + PH_TOKEN_SIZE);
    }
}

static void give_next(ph_bus_front* front, front_player* player)
{
    ph_host* host = front->def.host;
    if (player->token != NULL && !front->is_emptying && player->state == PLAYER_ATTACHED &&
        !ph_host_is_giving_spare(host, player->client)) {
        (void)ph_host_give_spare(host, player->client, player->token, PH_TOKEN_SIZE);
        front_token_release(front, player);
    }
}

void front_take_grant(ph_bus_front* front, const ph_bus_message* message)
{
    bus_grant grant;
    ph_bus_refusal refusal;
    if (!bus_read_grant(&grant, message->bytes, message->size, &refusal)) {
        front_refuse(front, refusal);
        return;
    }
    front_player* player = front_find_player(front, grant.client_id);
    if (player == NULL || player->wish_number == 0 || player->wish_number != grant.number) {
        front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        return;
    }
    player->wish_number = 0;
    const bool stays = player->state == PLAYER_ATTACHED;
    if (grant.token_count == 0 || (!stays && player->state != PLAYER_OVER)) {
        return;
    }
    if (!stays) {
        (void)ph_host_send_on(front->def.host, player->client, grant.tokens, PH_TOKEN_SIZE);
    } else if (front->is_emptying) {
        keep_token(front, player, grant.tokens);
    } else {
        give_spares(front, player, &grant);
    }
}

// ---- emptying

static bool give(void* context, int client, uint8_t token[PH_TOKEN_SIZE])
{
    ph_bus_front* front = context;
    const int place1 =
        client >= 0 && client < front->client_capacity ? front->player_of_client[client] : 0;
    if (place1 == 0) {
        return false;
    }
    front_player* player = &front->players[place1 - 1];
    if (player->token == NULL) {
        if (may_wish(front, player)) {
            wish(front, player);
        }
        return false;
    }
    memcpy(token, player->token, PH_TOKEN_SIZE);
    front_token_release(front, player);
    return true;
}

void ph_bus_front_empty(ph_bus_front* front)
{
    if (front->def.host != NULL && !front->is_emptying) {
        front->is_emptying = true;
        ph_host_empty(front->def.host, give, front);
    }
}

// ---- other front-ends

// A front-end refuses tokens that were made before it was opened, and one that is gone takes none: all players get
// others in their place.
static void renew_spares(ph_bus_front* front)
{
    for (int i = 0; i < front->player_count; ++i) {
        front->players[i].wants_spare = true;
    }
}

void front_take_report(ph_bus_front* front, const ph_bus_message* message)
{
    bus_front_report report;
    ph_bus_refusal refusal;
    if (!bus_read_front_report(&report, message->bytes, message->size, &refusal)) {
        front_refuse(front, refusal);
        return;
    }
    if (strcmp(report.front, front->name) == 0) {
        return;
    }
    int at = 0;
    while (at < front->other_count && strcmp(front->others[at].name, report.front) != 0) {
        ++at;
    }
    if (at == FRONT_OTHERS_MAX) {
        return;
    }
    front_other* other = &front->others[at];
    if (at == front->other_count) {
        ++front->other_count;
        memcpy(other->name, report.front, sizeof other->name);
    } else if (other->started_us != report.started_us) {
        renew_spares(front);
    }
    other->started_us = report.started_us;
    other->heard_us = front->now_us;
}

static void forget_silent(ph_bus_front* front)
{
    for (int i = front->other_count - 1; i >= 0; --i) {
        if (front->now_us - front->others[i].heard_us > SILENT_US) {
            front->others[i] = front->others[--front->other_count];
            renew_spares(front);
        }
    }
}

// ---- a tick

static void wish_all(ph_bus_front* front)
{
    int left = WISHES_PER_TICK + front->player_count / WISHES_SHARE;
    for (int i = 0; i < front->player_count && left > 0; ++i) {
        front_player* player = &front->players[i];
        const bool is_first = player->wish_us == 0 && !front->is_emptying;
        if (!may_wish(front, player) ||
            (is_first && front->now_us - player->since_us < WISH_FIRST_US)) {
            continue;
        }
        const bool needs_one =
            player->state == PLAYER_OVER ||
            (front->is_emptying ? player->token == NULL
                                : player->wants_spare ||
                                      ph_host_spare_count(front->def.host, player->client) == 0);
        if (needs_one) {
            wish(front, player);
            --left;
        }
    }
}

// The middle of the viewers, and their mean distance from it.
static void find_middle(const ph_bus_front* front, bus_front_report* report)
{
    double sum[2] = {0.0, 0.0};
    int count = 0;
    for (int i = 0; i < front->player_count; ++i) {
        const front_player* player = &front->players[i];
        if (player->state == PLAYER_ATTACHED) {
            sum[0] += (double)player->place_mm[0];
            sum[1] += (double)player->place_mm[1];
            ++count;
        }
    }
    if (count == 0) {
        return;
    }
    double distance = 0.0;
    for (int i = 0; i < front->player_count; ++i) {
        const front_player* player = &front->players[i];
        if (player->state == PLAYER_ATTACHED) {
            distance += hypot((double)player->place_mm[0] - sum[0] / count,
                              (double)player->place_mm[1] - sum[1] / count);
        }
    }
    report->centre_mm[0] = (int32_t)(sum[0] / count);
    report->centre_mm[1] = (int32_t)(sum[1] / count);
    report->spread_mm = (uint32_t)(distance / count);
}

static void send_report(ph_bus_front* front)
{
    bus_front_report report = {
        .address = ph_host_public_address(front->def.host),
        .clients = (uint32_t)ph_host_client_count(front->def.host),
        .capacity = (uint32_t)front->def.client_capacity,
        .started_us = front->def.started_us,
        .is_emptying = front->is_emptying,
    };
    memcpy(report.front, front->name, sizeof report.front);
    find_middle(front, &report);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "fronts", front->world_name);
    bus_writer_clear(&front->writer);
    bus_write_front_report(&front->writer, &report);
    front_publish(front, subject);
}

void front_spares_tick(ph_bus_front* front)
{
    if (front->def.host == NULL || front->def.client_capacity == 0) {
        return;
    }
    forget_silent(front);
    for (int i = 0; i < front->player_count; ++i) {
        give_next(front, &front->players[i]);
    }
    wish_all(front);
    if (front->report_us == 0 || front->now_us - front->report_us >= FRONT_REPORT_US) {
        front->report_us = front->now_us;
        send_report(front);
    }
}
