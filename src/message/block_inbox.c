// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The block that comes: block.h says what is kept. Once per datagram with pieces, and a copy of its bytes.

#include "message/block.h"

#include "base/allocator.h"

#include <string.h>

static bool has_come(const ph_block_inbox* inbox, uint32_t piece)
{
    return piece < inbox->next ||
           (piece < inbox->end &&
            (inbox->early[piece % PH_BLOCK_WINDOW / 8] >> piece % 8 & 1) != 0);
}

static void drop_block(ph_block_inbox* inbox, const ph_allocator* allocator)
{
    if (inbox->bytes != NULL) {
        ph_release(allocator, inbox->bytes, inbox->size);
    }
    inbox->bytes = NULL;
    inbox->is_begun = false;
    inbox->is_whole = false;
    inbox->is_handed_out = false;
}

void ph_block_inbox_destroy(ph_block_inbox* inbox, const ph_allocator* allocator)
{
    drop_block(inbox, allocator);
}

static void forget_pieces(ph_block_inbox* inbox)
{
    inbox->next = 0;
    inbox->end = 0;
    inbox->come_bytes = 0;
    memset(inbox->early, 0, sizeof inbox->early);
}

void ph_block_inbox_begin_again(ph_block_inbox* inbox, const ph_allocator* allocator)
{
    if (inbox->is_begun) {
        drop_block(inbox, allocator);
        forget_pieces(inbox);
    }
}

// ---- judging

static ph_messages_refusal judge_run(const ph_block_inbox* inbox, uint32_t size,
                                     const ph_block_run* run)
{
    const uint32_t next = inbox->is_begun ? inbox->next : 0;
    const uint32_t end = run->piece + run->count;
    if (end > ph_block_piece_count(size) || run->last_size != ph_block_piece_size(size, end - 1)) {
        return PH_MESSAGES_REFUSAL_CONTRARY;
    }
    if (end > next + PH_BLOCK_WINDOW) {
        return PH_MESSAGES_REFUSAL_WINDOW;
    }
    for (uint32_t i = 0; inbox->is_begun && i < run->count; ++i) {
        const size_t at = (size_t)(run->piece + i) * PH_BLOCK_PIECE_SIZE;
        if (has_come(inbox, run->piece + i) &&
            memcmp(inbox->bytes + at, run->bytes + (size_t)i * PH_BLOCK_PIECE_SIZE,
                   ph_block_piece_size(size, run->piece + i)) != 0) {
            return PH_MESSAGES_REFUSAL_CONTRARY;
        }
    }
    return PH_MESSAGES_REFUSAL_COUNT;
}

ph_messages_refusal ph_block_inbox_judge(const ph_block_inbox* inbox, const ph_block_pieces* pieces)
{
    const int ahead = ph_blocks_ahead(pieces->number, inbox->number);
    if (ahead != 0) {
        return ahead > 0 ? PH_MESSAGES_REFUSAL_WINDOW : PH_MESSAGES_REFUSAL_COUNT;
    }
    if (inbox->is_begun && pieces->has_begin &&
        (pieces->tag != inbox->tag || pieces->size != inbox->size)) {
        return PH_MESSAGES_REFUSAL_CONTRARY;
    }
    if (!inbox->is_begun && !pieces->has_begin) {
        return PH_MESSAGES_REFUSAL_COUNT; // nothing is known about it yet
    }
    ph_messages_refusal refusal = PH_MESSAGES_REFUSAL_COUNT;
    for (int i = 0; i < pieces->run_count && refusal == PH_MESSAGES_REFUSAL_COUNT; ++i) {
        refusal = judge_run(inbox, inbox->is_begun ? inbox->size : pieces->size, &pieces->runs[i]);
    }
    return refusal;
}

// ---- storing

static void expect_next(ph_block_inbox* inbox, bool was_refused)
{
    ++inbox->number;
    inbox->was_refused = was_refused;
    forget_pieces(inbox);
}

// @return False when it cannot begin now, or was refused.
static bool try_begin(ph_block_inbox* inbox, const ph_allocator* allocator,
                      const ph_block_pieces* pieces)
{
    if (inbox->is_whole || !pieces->has_begin) {
        return false; // comes again
    }
    uint8_t* bytes =
        (int64_t)pieces->size <= inbox->size_max ? ph_allocate(allocator, pieces->size) : NULL;
    if (bytes == NULL) {
        expect_next(inbox, true);
        return false;
    }
    inbox->bytes = bytes;
    inbox->size = pieces->size;
    inbox->tag = pieces->tag;
    inbox->is_begun = true;
    inbox->was_refused = false;
    return true;
}

static int store_run(ph_block_inbox* inbox, const ph_block_run* run)
{
    int duplicates = 0;
    for (uint32_t i = 0; i < run->count; ++i) {
        const uint32_t piece = run->piece + i;
        const uint32_t size = ph_block_piece_size(inbox->size, piece);
        if (has_come(inbox, piece)) {
            ++duplicates;
            continue;
        }
        memcpy(inbox->bytes + (size_t)piece * PH_BLOCK_PIECE_SIZE,
               run->bytes + (size_t)i * PH_BLOCK_PIECE_SIZE, size);
        inbox->early[piece % PH_BLOCK_WINDOW / 8] |= (uint8_t)(1u << piece % 8);
        inbox->come_bytes += size;
        inbox->end = piece >= inbox->end ? piece + 1 : inbox->end;
    }
    while (inbox->next < inbox->end && has_come(inbox, inbox->next)) {
        inbox->early[inbox->next % PH_BLOCK_WINDOW / 8] &= (uint8_t) ~(1u << inbox->next % 8);
        ++inbox->next;
    }
    return duplicates;
}

ph_block_storing ph_block_inbox_store(ph_block_inbox* inbox, const ph_allocator* allocator,
                                      const ph_block_pieces* pieces)
{
    const int count = ph_block_count_pieces(pieces);
    if (pieces->number != inbox->number) {
        return (ph_block_storing){.duplicates = count};
    }
    if (pieces->is_cancelled) {
        if (inbox->is_begun) {
            drop_block(inbox, allocator);
        }
        expect_next(inbox, false);
        return (ph_block_storing){0};
    }
    if (!inbox->is_begun && !try_begin(inbox, allocator, pieces)) {
        return (ph_block_storing){.dropped = count};
    }
    ph_block_storing stored = {0};
    for (int i = 0; i < pieces->run_count; ++i) {
        stored.duplicates += store_run(inbox, &pieces->runs[i]);
    }
    if (inbox->come_bytes == inbox->size) {
        inbox->is_begun = false;
        inbox->is_whole = true;
        expect_next(inbox, false);
    }
    return stored;
}

// ---- what is said and handed out

int64_t ph_block_inbox_compose_ack(const ph_block_inbox* inbox, int64_t room_bits,
                                   ph_block_ack* ack)
{
    *ack = (ph_block_ack){
        .number = inbox->number,
        .is_refused = inbox->was_refused,
        .accepted_max = inbox->was_refused ? (uint32_t)inbox->size_max : 0,
        .next = inbox->next,
    };
    const int64_t bare_bits = ph_block_ack_bits(ack);
    if (bare_bits > room_bits) {
        return 0;
    }
    const int64_t room = (room_bits - bare_bits) / 8;
    const int most = room < PH_BLOCK_MAP_SIZE ? (int)room : PH_BLOCK_MAP_SIZE;
    for (uint32_t piece = inbox->next + 1; piece < inbox->end; ++piece) {
        const uint32_t bit = piece - inbox->next - 1;
        if (has_come(inbox, piece) && bit < 8 * (uint32_t)most) {
            ack->map[bit / 8] |= (uint8_t)(1u << bit % 8);
            ack->map_size = (int)(bit / 8) + 1;
        }
    }
    return ph_block_ack_bits(ack);
}

bool ph_block_inbox_take(ph_block_inbox* inbox, const ph_allocator* allocator, ph_block* block)
{
    *block = (ph_block){0};
    if (inbox->is_handed_out) {
        drop_block(inbox, allocator);
    }
    if (!inbox->is_whole) {
        return false;
    }
    inbox->is_handed_out = true;
    *block = (ph_block){.tag = inbox->tag, .size = inbox->size, .bytes = inbox->bytes};
    return true;
}
