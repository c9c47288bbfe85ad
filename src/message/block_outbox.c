// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks that are sent or wait for that: block.h has the drawing. Once per datagram with pieces or acks; what is due is
// searched in the window, 1,024 pieces, once per tick and ack.

#include "message/block.h"

#include "base/allocator.h"

#include <string.h>

enum {
    BLOCK_WINDOW_FIRST = 256, // pieces: 16 kB
    BLOCK_WINDOW_LEAST = 32,
    BLOCK_WINDOW_STEP = 16,
    BLOCK_LOSS_SHARE = 10, // more than one in so many is much
    BLOCK_HOPELESS = 4,    // sent so often, nothing seems to come through
    // While the other end has no room for the block, a piece waits this long, doubled each time it was sent.
    BLOCK_HELD_UP_US = 25000,
    BLOCK_HELD_UP_DOUBLINGS = 7, // 3.2 s
    BLOCK_ROUND_LEAST_US = 300000,
    BLOCK_ROUND_TRIPS = 2, // and so many round trips, then a round is over in any case
};

// ---- the outbox: coming and going

static void release_item(const ph_allocator* allocator, const ph_block_item* item)
{
    if (item->is_copy) {
        ph_release(allocator, (void*)(uintptr_t)item->bytes, item->size);
    }
}

// The first of the queue, if there is one, is to be sent.
static void begin_block(ph_block_outbox* outbox)
{
    outbox->is_begun = false;
    outbox->is_held_up = false;
    outbox->is_cancelled = false;
    outbox->may_be_over = false;
    outbox->cancel_count = 0;
    outbox->oldest = 0;
    outbox->unsent = 0;
    outbox->acked_bytes = 0;
    outbox->piece_count = outbox->count > 0 ? ph_block_piece_count(outbox->queue[0].size) : 0;
    outbox->scan.is_valid = false;
}

static void end_block(ph_block_outbox* outbox, const ph_allocator* allocator, int place,
                      ph_block_outcome outcome, uint32_t accepted_max)
{
    const ph_block_item item = outbox->queue[place];
    outbox->ends[(outbox->first_end + outbox->end_count) % PH_BLOCKS_QUEUED_MAX] =
        (ph_block_end){.outcome = outcome,
                       .id = item.id,
                       .tag = item.tag,
                       .size = item.size,
                       .accepted_max = accepted_max};
    if (outbox->end_count < PH_BLOCKS_QUEUED_MAX) {
        ++outbox->end_count;
    } else {
        outbox->first_end = (outbox->first_end + 1) % PH_BLOCKS_QUEUED_MAX;
    }
    release_item(allocator, &item);
    --outbox->count;
    memmove(&outbox->queue[place], &outbox->queue[place + 1],
            (size_t)(outbox->count - place) * sizeof item);
    if (place == 0) {
        begin_block(outbox);
    }
}

static bool has_block_begun(const ph_block_outbox* outbox)
{
    return outbox->count > 0 && (outbox->unsent > 0 || outbox->may_be_over);
}

void ph_block_outbox_begin_again(ph_block_outbox* outbox)
{
    if (!has_block_begun(outbox)) {
        return;
    }
    const bool is_cancelled = outbox->is_cancelled;
    const bool may_be_over =
        outbox->may_be_over || is_cancelled || outbox->unsent == outbox->piece_count;
    begin_block(outbox);
    outbox->is_cancelled = is_cancelled;
    outbox->may_be_over = may_be_over;
    outbox->rtt.proven_us = 0;
}

ph_result ph_block_outbox_post(ph_block_outbox* outbox, const ph_allocator* allocator,
                               const ph_block_item* item)
{
    if (outbox->count == PH_BLOCKS_QUEUED_MAX) {
        return PH_ERROR_FULL;
    }
    if (outbox->sent == NULL) {
        outbox->sent = ph_allocate_zeroed(allocator, PH_BLOCK_WINDOW * sizeof *outbox->sent);
        if (outbox->sent == NULL) {
            return PH_ERROR_MEMORY;
        }
        outbox->congestion.window = BLOCK_WINDOW_FIRST;
    }
    ph_block_item queued = *item;
    if (item->is_copy) {
        uint8_t* copy = ph_allocate(allocator, item->size);
        if (copy == NULL) {
            return PH_ERROR_MEMORY;
        }
        memcpy(copy, item->bytes, item->size);
        queued.bytes = copy;
    }
    queued.id = ++outbox->last_id;
    outbox->queue[outbox->count++] = queued;
    if (outbox->count == 1) {
        begin_block(outbox);
    }
    return PH_OK;
}

void ph_block_outbox_destroy(ph_block_outbox* outbox, const ph_allocator* allocator)
{
    for (int i = 0; i < outbox->count; ++i) {
        release_item(allocator, &outbox->queue[i]);
    }
    if (outbox->sent != NULL) {
        ph_release(allocator, outbox->sent, PH_BLOCK_WINDOW * sizeof *outbox->sent);
    }
}

bool ph_block_outbox_cancel(ph_block_outbox* outbox, const ph_allocator* allocator, uint32_t id,
                            uint64_t* cancelled)
{
    for (int i = 0; i < outbox->count; ++i) {
        if (outbox->queue[i].id != id) {
            continue;
        }
        if (i > 0 || !has_block_begun(outbox)) {
            end_block(outbox, allocator, i, PH_BLOCK_CANCELLED, 0);
            ++*cancelled;
        } else if (!outbox->is_cancelled) {
            outbox->is_cancelled = true;
            outbox->scan.is_valid = false;
            ++*cancelled;
        }
        return true;
    }
    return false;
}

bool ph_block_outbox_try_end(ph_block_outbox* outbox, ph_block_end* end)
{
    *end = (ph_block_end){0};
    if (outbox->end_count == 0) {
        return false;
    }
    *end = outbox->ends[outbox->first_end];
    outbox->first_end = (outbox->first_end + 1) % PH_BLOCKS_QUEUED_MAX;
    --outbox->end_count;
    return true;
}

// ---- what is due

static ph_block_sent_piece* sent_piece(const ph_block_outbox* outbox, uint32_t piece)
{
    return &outbox->sent[piece % PH_BLOCK_WINDOW];
}

static bool is_put_off(const ph_block_outbox* outbox, const ph_block_sent_piece* sent,
                       uint64_t now_us)
{
    const int doublings =
        sent->send_count < BLOCK_HELD_UP_DOUBLINGS ? sent->send_count : BLOCK_HELD_UP_DOUBLINGS;
    return outbox->is_held_up && now_us < sent->sent_us + ((uint64_t)BLOCK_HELD_UP_US << doublings);
}

static bool is_piece_lost(const ph_block_outbox* outbox, uint32_t piece, uint64_t now_us)
{
    const ph_block_sent_piece* sent = sent_piece(outbox, piece);
    return !sent->is_delivered && !is_put_off(outbox, sent, now_us) &&
           ph_message_rtt_is_lost(&outbox->rtt, now_us, sent->sent_us, sent->send_count);
}

static void scan_window(ph_block_outbox* outbox, uint64_t now_us)
{
    ph_block_scan* scan = &outbox->scan;
    if (scan->is_valid && scan->now_us == now_us) {
        return;
    }
    *scan = (ph_block_scan){.now_us = now_us, .from = outbox->unsent, .is_valid = true};
    for (uint32_t piece = outbox->unsent; piece-- > outbox->oldest;) {
        const bool is_lost = is_piece_lost(outbox, piece, now_us);
        scan->from = is_lost ? piece : scan->from;
        scan->in_flight += !is_lost && !sent_piece(outbox, piece)->is_delivered;
    }
}

// The window's next one from this piece on. @return piece_count, or the end of the window: none.
static uint32_t next_due(const ph_block_outbox* outbox, uint32_t from, uint64_t now_us)
{
    while (from < outbox->unsent && !is_piece_lost(outbox, from, now_us)) {
        ++from;
    }
    return from;
}

static uint32_t window_end(const ph_block_outbox* outbox)
{
    const uint32_t end = outbox->oldest + PH_BLOCK_WINDOW;
    return end < outbox->piece_count ? end : outbox->piece_count;
}

// ---- composing

// @return Bits that one more piece would take.
static int64_t bits_to_add(const ph_block_pieces* pieces, uint32_t piece, uint32_t size)
{
    const ph_block_run* last = pieces->run_count > 0 ? &pieces->runs[pieces->run_count - 1] : NULL;
    const bool is_new_run = last == NULL || last->piece + last->count != piece;
    return 8 * (int64_t)size + (is_new_run ? ph_block_run_bits() : 0) +
           (size < PH_BLOCK_PIECE_SIZE ? ph_block_short_bits() : 0);
}

static void add_piece(ph_block_pieces* pieces, uint32_t piece, uint32_t size, const uint8_t* bytes)
{
    ph_block_run* last = pieces->run_count > 0 ? &pieces->runs[pieces->run_count - 1] : NULL;
    if (last != NULL && last->piece + last->count == piece) {
        ++last->count;
        last->last_size = (uint8_t)size;
        return;
    }
    pieces->runs[pieces->run_count++] =
        (ph_block_run){.piece = piece, .count = 1, .last_size = (uint8_t)size, .bytes = bytes};
}

static int64_t compose_cancel(const ph_block_outbox* outbox, uint64_t now_us, int64_t room_bits,
                              ph_block_pieces* pieces)
{
    if (room_bits < PH_BLOCK_CANCEL_BITS ||
        (outbox->cancel_count > 0 &&
         !ph_message_rtt_is_lost(&outbox->rtt, now_us, outbox->cancelled_us,
                                 outbox->cancel_count))) {
        return 0;
    }
    pieces->is_cancelled = true;
    return PH_BLOCK_CANCEL_BITS;
}

int64_t ph_block_outbox_compose(ph_block_outbox* outbox, uint64_t now_us, int64_t room_bits,
                                ph_block_pieces* pieces)
{
    pieces->number = outbox->number;
    pieces->is_cancelled = false;
    pieces->run_count = 0;
    if (outbox->count == 0) {
        return 0;
    }
    if (outbox->is_cancelled) {
        return compose_cancel(outbox, now_us, room_bits, pieces);
    }
    scan_window(outbox, now_us);
    const ph_block_item* item = &outbox->queue[0];
    pieces->has_begin = !outbox->is_begun;
    pieces->tag = item->tag;
    pieces->size = item->size;
    int64_t bits = ph_block_head_bits(pieces->has_begin);
    int left = outbox->congestion.window - outbox->scan.in_flight;
    left = left < PH_BULK_PIECES_MAX ? left : PH_BULK_PIECES_MAX;
    const uint32_t end = window_end(outbox);
    for (uint32_t piece = next_due(outbox, outbox->scan.from, now_us); piece < end && left > 0;
         piece = next_due(outbox, piece + 1, now_us), --left) {
        const uint32_t size = ph_block_piece_size(item->size, piece);
        const int64_t more_bits = bits_to_add(pieces, piece, size);
        if (bits + more_bits > room_bits) {
            break;
        }
        bits += more_bits;
        add_piece(pieces, piece, size, item->bytes + (size_t)piece * PH_BLOCK_PIECE_SIZE);
    }
    return pieces->run_count > 0 ? bits : 0;
}

bool ph_block_outbox_is_last(const ph_block_outbox* outbox, const ph_block_pieces* pieces)
{
    if (pieces->is_cancelled || pieces->run_count == 0) {
        return true;
    }
    const ph_block_run* last = &pieces->runs[pieces->run_count - 1];
    return next_due(outbox, last->piece + last->count, outbox->scan.now_us) >= window_end(outbox);
}

static void note_lost(ph_block_congestion* congestion, int send_count)
{
    ++congestion->resent;
    if (send_count >= BLOCK_HOPELESS) {
        congestion->window = BLOCK_WINDOW_LEAST;
        congestion->has_lost = true;
    }
}

int ph_block_outbox_note_sent(ph_block_outbox* outbox, uint64_t now_us,
                              const ph_block_pieces* pieces)
{
    int resent = 0;
    if (pieces->is_cancelled) {
        outbox->cancelled_us = now_us;
        outbox->cancel_count = (uint8_t)(outbox->cancel_count + (outbox->cancel_count < UINT8_MAX));
        return 0;
    }
    for (int i = 0; i < pieces->run_count; ++i) {
        const ph_block_run* run = &pieces->runs[i];
        for (uint32_t piece = run->piece; piece < run->piece + run->count; ++piece) {
            ph_block_sent_piece* sent = sent_piece(outbox, piece);
            if (piece >= outbox->unsent) {
                *sent = (ph_block_sent_piece){0};
                outbox->unsent = piece + 1;
            } else {
                ++resent;
                note_lost(&outbox->congestion, sent->send_count);
            }
            sent->sent_us = now_us;
            sent->send_count = (uint8_t)(sent->send_count + (sent->send_count < UINT8_MAX));
            ++outbox->scan.in_flight;
            outbox->scan.from = piece + 1;
        }
    }
    return resent;
}

// ---- acks

// The last piece that it names, or next - 1.
static int64_t last_named(const ph_block_ack* ack)
{
    if (ack->map_size == 0) {
        return (int64_t)ack->next - 1;
    }
    int bit = 7;
    while ((ack->map[ack->map_size - 1] >> bit & 1) == 0) {
        --bit;
    }
    return (int64_t)ack->next + 1 + 8 * (ack->map_size - 1) + bit;
}

bool ph_block_outbox_is_possible(const ph_block_outbox* outbox, const ph_block_ack* ack)
{
    const int ahead = ph_blocks_ahead(ack->number, outbox->number);
    if (ahead < 0 && !outbox->was_one_before) {
        return false;
    }
    if (ahead < 0) {
        return true;
    }
    if (ahead == 0) {
        return ack->is_refused ? outbox->was_one_before
                               : last_named(ack) < (int64_t)outbox->unsent &&
                                     (ack->next == 0 || ack->next < outbox->piece_count);
    }
    if (ahead > 1 || !has_block_begun(outbox)) {
        return false;
    }
    const bool may_be_over =
        outbox->unsent == outbox->piece_count || outbox->cancel_count > 0 || outbox->may_be_over;
    return ack->is_refused || (may_be_over && ack->next == 0 && ack->map_size == 0);
}

static void note_piece_delivered(ph_block_outbox* outbox, uint32_t piece, uint64_t* latest_us)
{
    ph_block_sent_piece* sent = sent_piece(outbox, piece);
    if (sent->is_delivered) {
        return;
    }
    // Of one that went out twice it is not known which arrived.
    if (sent->send_count == 1 && sent->sent_us > *latest_us) {
        *latest_us = sent->sent_us;
    }
    sent->is_delivered = true;
    outbox->acked_bytes += ph_block_piece_size(outbox->queue[0].size, piece);
    ++outbox->congestion.acked;
}

// A round trip is over when something is acked that was sent after its beginning. Of pieces that went twice that is not
// known; so it ends by time, too.
static bool is_round_over(const ph_block_outbox* outbox, uint64_t now_us, uint64_t latest_us)
{
    const uint64_t round_us = outbox->congestion.round_us;
    const uint64_t most_us =
        BLOCK_ROUND_LEAST_US + BLOCK_ROUND_TRIPS * (uint64_t)outbox->rtt.rtt_us;
    return latest_us >= round_us || now_us >= round_us + most_us;
}

static void adapt_window(ph_block_outbox* outbox, uint64_t now_us, uint64_t latest_us)
{
    ph_block_congestion* congestion = &outbox->congestion;
    if (congestion->acked == 0 || !is_round_over(outbox, now_us, latest_us)) {
        return; // the round trip is under way
    }
    const int all = congestion->acked + congestion->resent;
    if (congestion->resent * BLOCK_LOSS_SHARE > all) {
        congestion->window /= 2;
        congestion->has_lost = true;
    } else {
        congestion->window += congestion->has_lost ? BLOCK_WINDOW_STEP : congestion->acked;
    }
    if (congestion->window < BLOCK_WINDOW_LEAST) {
        congestion->window = BLOCK_WINDOW_LEAST;
    } else if (congestion->window > PH_BLOCK_WINDOW) {
        congestion->window = PH_BLOCK_WINDOW;
    }
    congestion->acked = 0;
    congestion->resent = 0;
    congestion->round_us = now_us;
}

static void take_progress(ph_block_outbox* outbox, uint64_t now_us, const ph_block_ack* ack)
{
    uint64_t latest_us = 0;
    for (uint32_t piece = outbox->oldest; piece < ack->next; ++piece) {
        note_piece_delivered(outbox, piece, &latest_us);
    }
    for (int i = 0; i < 8 * ack->map_size; ++i) {
        const uint32_t piece = ack->next + 1 + (uint32_t)i;
        if ((ack->map[i / 8] >> i % 8 & 1) != 0 && piece >= outbox->oldest) {
            note_piece_delivered(outbox, piece, &latest_us);
        }
    }
    while (outbox->oldest < outbox->unsent && sent_piece(outbox, outbox->oldest)->is_delivered) {
        ++outbox->oldest;
    }
    outbox->is_begun = outbox->is_begun || ack->next > 0 || ack->map_size > 0;
    outbox->is_held_up = !outbox->is_begun;
    outbox->scan.is_valid = false;
    ph_message_rtt_note(&outbox->rtt, now_us, latest_us);
    adapt_window(outbox, now_us, latest_us);
}

bool ph_block_outbox_take_ack(ph_block_outbox* outbox, const ph_allocator* allocator,
                              uint64_t now_us, const ph_block_ack* ack)
{
    PH_ASSERT(ph_block_outbox_is_possible(outbox, ack));

    const int ahead = ph_blocks_ahead(ack->number, outbox->number);
    if (ahead < 0 || !has_block_begun(outbox)) {
        return false;
    }
    if (ahead == 0) {
        if (!ack->is_refused) {
            take_progress(outbox, now_us, ack);
        }
        return false;
    }
    const ph_block_outcome outcome = outbox->is_cancelled ? PH_BLOCK_CANCELLED
                                     : ack->is_refused    ? PH_BLOCK_REFUSED
                                                          : PH_BLOCK_SENT;
    if (outcome == PH_BLOCK_SENT) { // all of it, for the round trip and the window
        take_progress(outbox, now_us, &(ph_block_ack){.next = outbox->piece_count});
    }
    ++outbox->number;
    outbox->was_one_before = true;
    end_block(outbox, allocator, 0, outcome, outcome == PH_BLOCK_REFUSED ? ack->accepted_max : 0);
    return true;
}
