// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks and unreliable messages of a player, both ways, and the model of them: which block has which bytes follows
// from its tag, what became of it is noted, and so is which unreliable message was the newest.

#include "soak/soak_stage.h"

#include "kit/random.h"

#include <stdlib.h>
#include <string.h>

enum { EFFECT_ROOM = 200, QUEUED_MAX = 3, TALK_STEPS = 40 };

static ph_rng rng_of(const soak_player* player, int direction, uint64_t number)
{
    return ph_random_part(number, 0x100000u + (uint64_t)(2 * player->index + direction) +
                                      64 * (uint64_t)player->generation);
}

static void fill_block(const soak_player* player, int direction, uint32_t tag, uint8_t* bytes,
                       size_t size)
{
    ph_rng rng = rng_of(player, direction, tag);
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t word = ph_rng_next(&rng);
        memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
    }
}

static bool is_left(const soak_bulk* bulk, uint32_t tag)
{
    return (bulk->fates[tag] & (SOAK_BLOCK_CAME | SOAK_BLOCK_MAY_MISS)) == 0;
}

int64_t soak_bulk_left_bytes(const soak_player* player)
{
    int64_t left = 0;
    for (int direction = 0; direction < 2; ++direction) {
        const soak_bulk* bulk = &player->bulk[direction];
        for (uint32_t tag = 1; tag <= bulk->posted; ++tag) {
            left += is_left(bulk, tag) ? bulk->sizes[tag] : 0;
        }
    }
    return left;
}

// ---- sending

// What a few seconds of its share carry, so that calms end; some are larger than the other end accepts.
static uint32_t draw_size(const soak_player* player, int direction, ph_rng* rng)
{
    if (ph_rng_below(rng, 12) == 0) {
        return SOAK_BLOCK_MAX + 1 + (uint32_t)ph_rng_below(rng, 100000);
    }
    const uint32_t share =
        direction == 1 ? SOAK_BLOCK_MAX : (uint32_t)player->def.bits_per_second / 16;
    const uint32_t most = share < SOAK_BLOCK_MAX ? share : SOAK_BLOCK_MAX;
    return 1 + (uint32_t)ph_rng_below(rng, ph_rng_below(rng, 2) == 0 ? most : 200);
}

static void send_block(soak_stage* stage, soak_player* player, int direction, ph_messages* messages,
                       ph_rng* rng)
{
    soak_bulk* bulk = &player->bulk[direction];
    const uint32_t tag = bulk->posted + 1;
    const uint32_t size = draw_size(player, direction, rng);
    if (tag >= SOAK_BLOCKS_MAX ||
        ph_messages_get_stats(messages).queued_block_count >= QUEUED_MAX) {
        return;
    }
    uint8_t* bytes = malloc(size);
    if (bytes == NULL) {
        return;
    }
    fill_block(player, direction, tag, bytes, size);
    const soak_memory* memory = direction == 1 ? &stage->client_memory : &stage->server_memory;
    const uint64_t failures = memory->failures;
    uint32_t id = 0;
    const ph_result result = ph_messages_send_block(messages, tag, bytes, size, &id);
    free(bytes);
    if (result == PH_OK) {
        bulk->posted = tag;
        bulk->sizes[tag] = size;
        bulk->fates[tag] = size > SOAK_BLOCK_MAX ? SOAK_BLOCK_MAY_MISS : 0;
        stage->up_blocks += direction == 1;
    }
    if ((result == PH_OK && id != tag) || (result != PH_OK && memory->failures == failures)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "a block is sent: %s", ph_result_text(result));
    }
}

static void cancel_block(soak_player* player, int direction, ph_messages* messages, ph_rng* rng)
{
    soak_bulk* bulk = &player->bulk[direction];
    const uint32_t tag = bulk->posted - (uint32_t)ph_rng_below(rng, QUEUED_MAX);
    if (tag >= 1 && tag <= bulk->posted && ph_messages_cancel_block(messages, tag) == PH_OK) {
        bulk->fates[tag] |= SOAK_BLOCK_MAY_MISS;
    }
}

static void send_effects(soak_player* player, int direction, ph_messages* messages, ph_rng* rng)
{
    soak_bulk* bulk = &player->bulk[direction];
    const int count = 1 + ph_random_below(rng, 3);
    for (int i = 0; i < count && bulk->effects < SOAK_EFFECTS_MAX - 1; ++i) {
        uint8_t bytes[EFFECT_ROOM] = {0};
        const uint16_t number = (uint16_t)(bulk->effects + 1);
        const ph_unreliable_kind kind = (ph_unreliable_kind)ph_rng_below(rng, 2);
        const int channel = ph_random_below(rng, 4);
        memcpy(bytes, &number, sizeof number);
        if (ph_messages_send_unreliable(messages, kind, channel, bytes,
                                        2 + ph_rng_below(rng, EFFECT_ROOM - 2)) == PH_OK) {
            bulk->effects = number;
        }
    }
}

void soak_bulk_send(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int direction = ph_random_below(rng, 2);
    ph_messages* messages =
        direction == 1 ? player->messages : ph_host_messages(stage->host, player->host_client);
    if (messages == NULL) {
        return;
    }
    switch (ph_rng_below(rng, 6)) {
    case 0:
    case 1:
        send_block(stage, player, direction, messages, rng);
        break;
    case 2:
        cancel_block(player, direction, messages, rng);
        break;
    default:
        player->bulk[direction].talks_until = stage->step + 1 + ph_random_below(rng, TALK_STEPS);
        break;
    }
}

// Some at each step, so that those of one channel overtake each other on the way.
void soak_bulk_talk(soak_stage* stage, soak_player* player)
{
    for (int direction = 0; direction < 2; ++direction) {
        if (stage->step >= player->bulk[direction].talks_until || stage->is_calm ||
            !player->is_there || !player->is_admitted) {
            continue;
        }
        ph_messages* messages =
            direction == 1 ? player->messages : ph_host_messages(stage->host, player->host_client);
        ph_rng rng = rng_of(player, direction, UINT64_C(0x10000) + (uint64_t)stage->step);
        if (messages != NULL) {
            send_effects(player, direction, messages, &rng);
        }
    }
}

// ---- what comes

static bool is_intact(const soak_player* player, int direction, const ph_block* block)
{
    uint8_t* wanted = malloc(block->size);
    if (wanted == NULL) {
        return true;
    }
    fill_block(player, direction, block->tag, wanted, block->size);
    const bool is_same = memcmp(wanted, block->bytes, block->size) == 0;
    free(wanted);
    return is_same;
}

static void take_block(soak_stage* stage, soak_player* player, int direction, const ph_block* block)
{
    soak_bulk* bulk = &player->bulk[direction];
    const uint32_t tag = block->tag;
    if (tag <= bulk->newest_block || tag > bulk->posted || block->size != bulk->sizes[tag] ||
        block->size > SOAK_BLOCK_MAX || !is_intact(player, direction, block)) {
        soak_fail(stage, SOAK_PROMISE_MESSAGES,
                  "player %d: block %u is not the one that was sent, or out of order",
                  player->index, tag);
        return;
    }
    for (uint32_t before = bulk->newest_block + 1; before < tag; ++before) {
        if (is_left(bulk, before) && !stage->params.is_failing) {
            soak_fail(stage, SOAK_PROMISE_MESSAGES, "player %d: block %u came before block %u",
                      player->index, tag, before);
            return;
        }
    }
    bulk->newest_block = tag;
    bulk->fates[tag] |= SOAK_BLOCK_CAME;
    ++stage->result->sent_blocks;
}

static void take_effect(soak_stage* stage, soak_player* player, int direction,
                        const ph_unreliable* message)
{
    soak_bulk* bulk = &player->bulk[direction];
    uint16_t number = 0;
    if (message->size >= sizeof number) {
        memcpy(&number, message->bytes, sizeof number);
    }
    bool is_right = number >= 1 && number <= bulk->effects && message->channel < 4;
    if (is_right && message->kind == PH_UNRELIABLE_NEWEST) {
        is_right = number > bulk->newest_effect[message->channel];
        bulk->newest_effect[message->channel] = number;
    } else if (is_right) {
        is_right = !bulk->has_come[number];
        bulk->has_come[number] = true;
    }
    if (!is_right) {
        soak_fail(stage, SOAK_PROMISE_MESSAGES,
                  "player %d: unreliable message %u came twice, or behind a newer one",
                  player->index, number);
    }
    ++stage->result->sent_unreliable;
}

// How blocks that this end has sent have ended.
static void take_ends(soak_stage* stage, soak_player* player, ph_messages* messages, int direction)
{
    soak_bulk* bulk = &player->bulk[direction];
    for (ph_block_end end; ph_messages_next_block_end(messages, &end);) {
        const uint8_t fate = bulk->fates[end.tag % SOAK_BLOCKS_MAX];
        const bool is_true = end.outcome == PH_BLOCK_SENT ? (fate & SOAK_BLOCK_CAME) != 0
                             : end.outcome == PH_BLOCK_CANCELLED
                                 ? (fate & SOAK_BLOCK_MAY_MISS) != 0
                                 : (fate & SOAK_BLOCK_CAME) == 0 &&
                                       (end.size > SOAK_BLOCK_MAX || stage->params.is_failing);
        if (!is_true || end.tag == 0 || end.tag > bulk->posted || end.id != end.tag) {
            soak_fail(stage, SOAK_PROMISE_MESSAGES, "player %d: block %u has not ended so (%d)",
                      player->index, end.tag, (int)end.outcome);
            return;
        }
        if (end.outcome == PH_BLOCK_REFUSED) {
            bulk->fates[end.tag] |= SOAK_BLOCK_MAY_MISS;
        }
    }
}

void soak_bulk_take(soak_stage* stage, soak_player* player, ph_messages* messages, int direction)
{
    for (ph_block block; !stage->is_over && ph_messages_receive_block(messages, &block);) {
        take_block(stage, player, direction, &block);
    }
    for (ph_unreliable message;
         !stage->is_over && ph_messages_receive_unreliable(messages, &message);) {
        take_effect(stage, player, direction, &message);
    }
    take_ends(stage, player, messages, 1 - direction);
}
