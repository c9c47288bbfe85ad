// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What each event does, to players and to the whole; soak_entities.c has what it does to entities.

#include "soak/soak_stage.h"

#include "kit/random.h"

#include <string.h>

// ---- players

static void change_own(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int index = ph_random_below(rng, stage->params.public_count);
    // The owner would know what a hidden one is like.
    const bool is_none = ph_rng_below(rng, 4) == 0 || stage->entities[index].class_index < 0 ||
                         stage->entities[index].is_disturbed;
    const ph_entity_id id = is_none ? (ph_entity_id){0} : stage->entities[index].id;
    soak_check(stage, ph_viewer_set_entity(stage->world, player->viewer, id),
               stage->server_memory.failures, "another own entity");
    if (player->own >= 0 && stage->entities[player->own].class_index >= 0 &&
        stage->entities[player->own].incarnation == player->own_incarnation) {
        memcpy(player->eye_mm, stage->entities[player->own].mm, sizeof player->eye_mm);
    }
    memcpy(player->left_eye_mm, player->eye_mm, sizeof player->eye_mm);
    player->own = is_none ? -1 : index;
    player->own_incarnation = stage->entities[index].incarnation;
}

static void move_eye(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    int64_t mm[3];
    soak_draw_place(stage, rng, mm);
    const bool has_own = player->own >= 0 && stage->entities[player->own].class_index >= 0 &&
                         stage->entities[player->own].incarnation == player->own_incarnation;
    const ph_result result = ph_viewer_set_eye(stage->world, player->viewer, mm[0], mm[1], mm[2]);
    if (result != (has_own ? PH_ERROR_ARGUMENT : PH_OK)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "an eye is set: %s", ph_result_text(result));
    }
    if (!has_own) {
        memcpy(player->eye_mm, mm, sizeof player->eye_mm);
    }
}

static void change_budget(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int rate = ph_rng_below(rng, 8) == 0
                         ? 0
                         : 2000 + ph_random_below(rng, ph_rng_below(rng, 2) == 0 ? 20000 : 200000);
    const int burst = ph_rng_below(rng, 2) == 0 ? 0 : ph_random_below(rng, 40000);
    const uint64_t failures = stage->server_memory.failures;
    const ph_result result = ph_viewer_set_budget(stage->world, player->viewer, rate, burst);
    soak_check(stage, result, failures, "another budget");
    if (result == PH_OK) {
        player->def.bits_per_second = rate;
        player->def.burst_bits = burst;
        soak_unsettle(player, stage->now_us); // the bound is another one
        soak_meter_change(&player->meter, rate, soak_meter_depth(stage, player, rate, burst),
                          stage->now_us);
    }
}

static void reserve(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int most = ph_viewer_reserve_max(stage->world, player->viewer);
    const int each = ph_random_below(rng, (most < 60 ? most : 60) + 1);
    const int next = ph_random_below(rng, most - each + 1);
    const ph_result result = ph_viewer_reserve(stage->world, player->viewer, each, next);
    soak_check(stage, result, stage->server_memory.failures, "a reserve");
    player->reserve_each = each;
    player->reserve_next = next;
    if (each + next > player->reserve_peak) {
        player->reserve_peak = each + next;
        soak_unsettle(player, stage->now_us);
        soak_meter_change(
            &player->meter, player->def.bits_per_second,
            soak_meter_depth(stage, player, player->def.bits_per_second, player->def.burst_bits),
            stage->now_us);
    }
    const int bytes = 1 + ph_random_below(rng, 300);
    if (ph_rng_below(rng, 2) == 0 &&
        ph_viewer_spend(stage->world, player->viewer, stage->now_us, bytes) == PH_OK) {
        soak_meter_pass(stage, player, (size_t)(bytes + player->def.overhead_bytes));
    }
}

static void send_message(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int direction = ph_random_below(rng, 2);
    ph_messages* messages =
        direction == 1 ? player->messages : ph_host_messages(stage->host, player->host_client);
    const int count = 1 + ph_random_below(rng, 4);
    for (int i = 0; messages != NULL && i < count; ++i) {
        uint8_t bytes[PH_MESSAGE_SIZE_MAX];
        const size_t size =
            soak_message_fill(player, direction, player->messages_sent[direction], bytes);
        if (ph_messages_send(messages, bytes, size) == PH_OK) {
            ++player->messages_sent[direction];
        }
    }
    soak_bulk_send(stage, player, rng);
}

// Acks that are not true. What the client then sees is its own fault.
static void lie(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int count = 1 + ph_random_below(rng, 20);
    player->is_liar = true;
    for (int i = 0; i < count && player->newest_ack_size > 0; ++i) {
        uint8_t ack[PH_ACK_SIZE];
        memcpy(ack, player->newest_ack, sizeof ack);
        const int flips = 1 + ph_random_below(rng, 12);
        for (int f = 0; f < flips; ++f) {
            ack[ph_random_below(rng, PH_ACK_SIZE)] ^= (uint8_t)(1 << ph_random_below(rng, 8));
        }
        ph_viewer_receive_ack(stage->world, player->viewer, stage->now_us, ack, sizeof ack);
    }
}

// Bytes that no client of ours sends: nothing may come of them.
static void flood(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int count = 1 + ph_random_below(rng, 40);
    for (int i = 0; i < count; ++i) {
        uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
        size_t size = 1 + (size_t)ph_rng_below(rng, ph_rng_below(rng, 4) == 0 ? 1200 : 60);
        size += player->is_direct && size == PH_ACK_SIZE;
        for (size_t b = 0; b < size; ++b) {
            bytes[b] = (uint8_t)ph_rng_next(rng);
        }
        uint8_t room[PH_NETCODE_DATAGRAM_MAX + 4] = {0};
        memcpy(room, bytes, size);
        ph_link_send(player->up, stage->now_us, room, size + 4);
        if (!player->is_direct) {
            ph_link_send(player->down, stage->now_us, room, size + 4);
        }
    }
}

static void hint(soak_stage* stage, const soak_player* player, ph_rng* rng)
{
    const int index = ph_random_below(rng, stage->params.public_count);
    const double weight = ph_rng_below(rng, 4) == 0 ? 0.0 : ph_random_between(rng, 0, 50);
    if (stage->entities[index].class_index >= 0) {
        soak_check(
            stage,
            ph_viewer_set_hint(stage->world, player->viewer, stage->entities[index].id, weight),
            stage->server_memory.failures - 1, "a hint");
    }
}

static void change_network(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    player->network.delay_us = (uint32_t)ph_rng_below(rng, 200000);
    player->network.jitter_us = ph_rng_below(rng, 2) == 0 ? 0 : (uint32_t)ph_rng_below(rng, 300000);
    player->network.loss = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.6);
    player->network.duplication = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.5);
    soak_unsettle(player, stage->now_us);
    soak_player_set_network(stage, player);
}

static void apply_to_viewer(soak_stage* stage, const soak_event* event, soak_player* player,
                            ph_rng* rng)
{
    switch (event->kind) {
    case SOAK_LIE:
        lie(stage, player, rng);
        return;
    case SOAK_OWN:
        change_own(stage, player, rng);
        return;
    case SOAK_EYE:
        move_eye(stage, player, rng);
        return;
    case SOAK_SEES:
        player->def.sees = player->is_secret ? soak_secret_sees(stage)
                                             : (uint32_t)ph_rng_below(rng, SOAK_PUBLIC_MASK + 1);
        soak_check(stage, ph_viewer_set_sees(stage->world, player->viewer, player->def.sees),
                   stage->server_memory.failures, "what a viewer sees");
        return;
    case SOAK_HINT:
        hint(stage, player, rng);
        return;
    case SOAK_BUDGET:
    case SOAK_RESERVE:
        if (player->is_direct) {
            (event->kind == SOAK_BUDGET ? change_budget : reserve)(stage, player, rng);
        }
        return;
    case SOAK_MESSAGE:
        if (!player->is_direct) {
            send_message(stage, player, rng);
        }
        return;
    case SOAK_KICK:
        if (!player->is_direct) {
            ph_host_disconnect(stage->host, player->host_client);
        }
        return;
    default:
        return;
    }
}

static void apply_to_player(soak_stage* stage, const soak_event* event, ph_rng* rng)
{
    soak_player* player = &stage->players[event->target];
    if (event->kind == SOAK_JOIN) {
        soak_player_join(stage, player, event->draw);
        return;
    }
    if (!player->is_there) {
        return;
    }
    switch (event->kind) {
    case SOAK_LEAVE:
        if (player->net != NULL) {
            ph_net_client_disconnect(player->net);
        }
        soak_player_end(stage, player);
        return;
    case SOAK_VANISH:
        soak_player_end(stage, player);
        return;
    case SOAK_STALL:
        player->stalled_until = stage->step + 1 + ph_random_below(rng, 30);
        soak_unsettle(player, stage->now_us + 31 * (uint64_t)stage->params.tick_us);
        return;
    case SOAK_LEAP:
        player->clock_us += (int64_t)ph_rng_below(rng, 20000000);
        return;
    case SOAK_FLOOD:
        flood(stage, player, rng);
        return;
    case SOAK_NETWORK:
        change_network(stage, player, rng);
        return;
    case SOAK_PARTITION:
        player->parted_until = stage->step + 1 + ph_random_below(rng, 60);
        soak_player_set_network(stage, player);
        return;
    default:
        if (player->is_admitted) {
            apply_to_viewer(stage, event, player, rng);
        }
        return;
    }
}

// ---- the whole

void soak_event_apply(soak_stage* stage, const soak_event* event)
{
    ph_rng rng = ph_rng_make(event->draw);
    ph_rng_next(&rng); // the first bits say when it happens
    if (event->kind == SOAK_SPAWN) {
        soak_spawn(stage, event->target, &rng);
    } else if (event->kind == SOAK_WHISPER) {
        soak_whisper(stage, event->target, &rng);
    } else if (event->kind < SOAK_JOIN) {
        if (stage->entities[event->target].class_index >= 0) {
            soak_apply_to_entity(stage, event, &rng);
        }
    } else if (event->kind <= SOAK_MESSAGE) {
        apply_to_player(stage, event, &rng);
    } else if (event->kind == SOAK_JUMP) {
        stage->now_us +=
            ph_rng_below(&rng, 4) == 0 ? ph_rng_below(&rng, 30000000) : ph_rng_below(&rng, 900000);
        for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
            soak_unsettle(&stage->players[i], stage->now_us); // there was no send in between
        }
    } else if (event->kind == SOAK_DAY) {
        stage->day_offset_s += (int64_t)ph_rng_below(&rng, 7200) - 3600;
    } else if (event->kind == SOAK_FAIL && stage->params.is_failing) {
        soak_memory* memory =
            ph_rng_below(&rng, 3) == 0 ? &stage->client_memory : &stage->server_memory;
        memory->fail_in = 1 + ph_random_below(&rng, 12);
    }
}

// The game's own "no", players' coming and going, and clocks belong before the tick.
bool soak_event_is_late(const soak_event* event)
{
    switch (event->kind) {
    case SOAK_SET:
    case SOAK_WALK:
    case SOAK_TELEPORT:
    case SOAK_DESPAWN:
    case SOAK_SPAWN:
    case SOAK_VISIBILITY:
    case SOAK_WHISPER:
    case SOAK_SEES:
    case SOAK_OWN:
    case SOAK_EYE:
        return (event->draw & 3) == 0;
    default:
        return false;
    }
}

void soak_make_empty(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        if (stage->players[i].net != NULL) {
            ph_net_client_disconnect(stage->players[i].net);
        }
        if (!stage->players[i].is_direct && stage->players[i].host_client >= 0) {
            ph_host_disconnect(stage->host, stage->players[i].host_client);
        }
        soak_player_end(stage, &stage->players[i]);
    }
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        if (stage->entities[i].class_index >= 0) {
            soak_despawn(stage, i);
        }
    }
}
