// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks and unreliable messages of one end. bulk.h says what is where.

#include "message/bulk.h"

#include "base/allocator.h"
#include "base/check.h"

#include <limits.h>
#include <string.h>

// So many sections say which pieces have come, as acks of fragments are repeated.
#define BLOCK_ACK_REPEATS 3
#define BLOCK_ACK_LEAST_US 10000
// An unreliable message wants a datagram of its own after this part of its wait.
#define UNRELIABLE_OWN_SHARE 4

// ---- life

// Of one queue: whole words, as its records are.
static size_t queue_bytes(const ph_messages_def* def)
{
    return ((size_t)def->unreliable_queue_bytes + 7) / 8 * 8;
}

size_t ph_bulk_bytes(const ph_messages_def* def)
{
    return sizeof(ph_bulk) + 2 * queue_bytes(def);
}

void ph_bulk_init(ph_messages* messages, ph_bulk* bulk)
{
    const ph_messages_def* def = &messages->def;
    messages->bulk = bulk;
    bulk->inbox.size_max = def->block_size_max;
    bulk->to_send.bytes = (uint8_t*)(bulk + 1);
    bulk->to_send.capacity = def->unreliable_queue_bytes;
    bulk->to_receive.bytes = bulk->to_send.bytes + queue_bytes(def);
    bulk->to_receive.capacity = def->unreliable_queue_bytes;
    const ph_message_share share = ph_message_share_of(def, def->block_share_percent);
    bulk->block_share = ph_token_bucket_make(share.bits_per_second, share.depth_bits, 0);
}

void ph_bulk_destroy(ph_messages* messages)
{
    ph_block_outbox_destroy(&messages->bulk->outbox, &messages->def.allocator);
    ph_block_inbox_destroy(&messages->bulk->inbox, &messages->def.allocator);
}

void ph_bulk_set_budget(ph_messages* messages, uint64_t now_us)
{
    const ph_messages_def* def = &messages->def;
    const ph_message_share share = ph_message_share_of(def, def->block_share_percent);
    ph_token_bucket* bucket = &messages->bulk->block_share;
    ph_token_bucket_fill(bucket, now_us); // what has passed counts as before
    ph_token_bucket_change(bucket, share.bits_per_second, share.depth_bits);
}

static void note_bulk(ph_messages* messages)
{
    ph_bulk* bulk = messages->bulk;
    bulk->blocks_wait_us = bulk->outbox.count > 0 ? bulk->blocks_wait_us : 0;
    messages->has_bulk =
        bulk->outbox.count > 0 || bulk->block_acks_owed > 0 || bulk->to_send.used > 0;
}

bool ph_messages_has_bulk(const ph_messages* messages)
{
    return messages->has_bulk;
}

// ---- blocks, for the game

static ph_result post_block(ph_messages* messages, const char* function, ph_block_item item,
                            size_t size, uint32_t* id)
{
    ph_check check =
        ph_check_begin(messages->def.on_error, messages->def.on_error_context, function);
    ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 1, PH_BLOCK_SIZE_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    item.size = (uint32_t)size;
    const ph_result result =
        ph_block_outbox_post(&messages->bulk->outbox, &messages->def.allocator, &item);
    if (result == PH_ERROR_MEMORY) {
        return ph_fail_memory(&check);
    }
    if (result == PH_OK) {
        ++messages->stats.sent_blocks;
        messages->has_bulk = true;
        if (id != NULL) {
            *id = messages->bulk->outbox.last_id;
        }
    }
    return result;
}

ph_result ph_messages_send_block(ph_messages* messages, uint32_t tag, const void* bytes,
                                 size_t size, uint32_t* id)
{
    const ph_block_item item = {.bytes = bytes, .tag = tag, .is_copy = true};
    return post_block(messages, __func__, item, size, id);
}

ph_result ph_messages_lend_block(ph_messages* messages, uint32_t tag, const void* bytes,
                                 size_t size, uint32_t* id)
{
    return post_block(messages, __func__, (ph_block_item){.bytes = bytes, .tag = tag}, size, id);
}

ph_result ph_messages_cancel_block(ph_messages* messages, uint32_t id)
{
    const bool is_there = ph_block_outbox_cancel(&messages->bulk->outbox, &messages->def.allocator,
                                                 id, &messages->stats.cancelled_blocks);
    note_bulk(messages);
    return is_there ? PH_OK : PH_ERROR_STALE;
}

bool ph_messages_next_block_end(ph_messages* messages, ph_block_end* end)
{
    return ph_block_outbox_try_end(&messages->bulk->outbox, end);
}

bool ph_messages_sending_block(const ph_messages* messages, ph_block_progress* progress)
{
    const ph_block_outbox* outbox = &messages->bulk->outbox;
    *progress = (ph_block_progress){0};
    if (outbox->count == 0) {
        return false;
    }
    *progress = (ph_block_progress){
        .tag = outbox->queue[0].tag,
        .done = outbox->acked_bytes,
        .size = outbox->queue[0].size,
    };
    return true;
}

bool ph_messages_receiving_block(const ph_messages* messages, ph_block_progress* progress)
{
    const ph_block_inbox* inbox = &messages->bulk->inbox;
    *progress = (ph_block_progress){0};
    if (!inbox->is_begun) {
        return false;
    }
    *progress =
        (ph_block_progress){.tag = inbox->tag, .done = inbox->come_bytes, .size = inbox->size};
    return true;
}

bool ph_messages_receive_block(ph_messages* messages, ph_block* block)
{
    const bool is_there =
        ph_block_inbox_take(&messages->bulk->inbox, &messages->def.allocator, block);
    messages->stats.received_blocks += is_there;
    return is_there;
}

// ---- unreliable messages, for the game

// The newest one of this channel that waits. @return The end of the queue: none does.
static int find_waiting(const ph_unreliable_queue* queue, int channel)
{
    int at = 0;
    for (; at < queue->used; at = ph_unreliable_next(queue, at)) {
        const ph_unreliable_record* record = ph_unreliable_at(queue, at);
        if (record->is_newest && record->channel == channel) {
            break;
        }
    }
    return at;
}

// A newer one replaces the one that waits, if there is room for it then.
static bool try_queue(ph_messages* messages, const ph_bulk_message* message)
{
    ph_unreliable_queue* queue = &messages->bulk->to_send;
    const int at = message->is_newest ? find_waiting(queue, message->channel) : queue->used;
    if (at < queue->used) {
        const int replaced_bytes = ph_unreliable_next(queue, at) - at;
        if (ph_unreliable_need(message->size) > queue->capacity - queue->used + replaced_bytes) {
            return false;
        }
        ph_unreliable_remove(queue, at);
        ++messages->stats.dropped_unreliable;
    }
    return ph_unreliable_push(queue, message);
}

ph_result ph_messages_send_unreliable(ph_messages* messages, ph_unreliable_kind kind, int channel,
                                      const void* bytes, size_t size)
{
    ph_check check =
        ph_check_begin(messages->def.on_error, messages->def.on_error_context, __func__);
    ph_check_range(&check, "kind", (int64_t)kind, PH_UNRELIABLE_ONCE, PH_UNRELIABLE_NEWEST);
    ph_check_range(&check, "channel", channel, 0, PH_UNRELIABLE_CHANNELS - 1);
    ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 1,
                   PH_UNRELIABLE_SIZE_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    const ph_bulk_message message = {
        .is_newest = kind == PH_UNRELIABLE_NEWEST,
        .channel = (uint8_t)channel,
        .size = (uint16_t)size,
        .bytes = bytes,
    };
    if (!try_queue(messages, &message)) {
        return PH_ERROR_FULL;
    }
    messages->has_bulk = true;
    return PH_OK;
}

static void drop_handed_out(ph_bulk* bulk)
{
    if (bulk->handed_out > 0) {
        ph_unreliable_remove(&bulk->to_receive, 0);
        bulk->handed_out = 0;
    }
}

bool ph_messages_receive_unreliable(ph_messages* messages, ph_unreliable* message)
{
    ph_bulk* bulk = messages->bulk;
    *message = (ph_unreliable){0};
    drop_handed_out(bulk);
    if (bulk->to_receive.used == 0) {
        return false;
    }
    const ph_unreliable_record* record = ph_unreliable_at(&bulk->to_receive, 0);
    bulk->handed_out = ph_unreliable_next(&bulk->to_receive, 0);
    ++messages->stats.received_unreliable;
    *message = (ph_unreliable){
        .kind = record->is_newest ? PH_UNRELIABLE_NEWEST : PH_UNRELIABLE_ONCE,
        .channel = record->channel,
        .size = record->size,
        .bytes = ph_unreliable_bytes(record),
    };
    return true;
}

// ---- what goes

void ph_bulk_pass_time(ph_messages* messages, uint64_t now_us)
{
    ph_bulk* bulk = messages->bulk;
    ph_unreliable_queue* queue = &bulk->to_send;
    const uint64_t most_us = (uint64_t)messages->def.unreliable_max_wait_ms * PH_MESSAGE_US_PER_MS;
    bulk->is_unreliable_urgent = false;
    for (int at = 0; at < queue->used;) {
        ph_unreliable_record* record = ph_unreliable_at(queue, at);
        record->since_us = record->since_us != 0 ? record->since_us : now_us > 0 ? now_us : 1;
        const uint64_t waited_us = now_us > record->since_us ? now_us - record->since_us : 0;
        if (waited_us > most_us) {
            ph_unreliable_remove(queue, at);
            ++messages->stats.dropped_unreliable;
            continue;
        }
        bulk->is_unreliable_urgent =
            bulk->is_unreliable_urgent || waited_us >= most_us / UNRELIABLE_OWN_SHARE;
        at = ph_unreliable_next(queue, at);
    }
    note_bulk(messages);
}

size_t ph_bulk_size(const ph_bulk_composed* b)
{
    return (size_t)(ph_message_whole_bytes(b->bits) / 8);
}

// By how many bits of whole bytes the section grows.
static int64_t growth(const ph_bulk_composed* b, int64_t bits)
{
    const int64_t before = b->bits > 0 ? b->bits : PH_BULK_FLAG_BITS;
    return ph_message_whole_bytes(before + bits) - ph_message_whole_bytes(b->bits);
}

static void grow(ph_bulk_composed* b, int64_t bits)
{
    b->bits = (b->bits > 0 ? b->bits : PH_BULK_FLAG_BITS) + bits;
}

// What is left of the room for another part.
static int64_t room_left(const ph_bulk_composed* b, int64_t room_bits)
{
    return room_bits - (b->bits > 0 ? b->bits : PH_BULK_FLAG_BITS);
}

static void add_block_ack(const ph_bulk* bulk, const ph_bulk_room* room, ph_bulk_composed* b)
{
    const int64_t bits =
        bulk->block_acks_owed > 0
            ? ph_block_inbox_compose_ack(&bulk->inbox, room_left(b, room->bits), &b->section.ack)
            : 0;
    if (bits > 0) {
        b->section.has_ack = true;
        grow(b, bits);
    }
}

// One that does not fit waits; a shorter one behind it may go. Numbered are those that go: what is dropped before that
// takes no number. There is one newest of a channel at most.
static void add_unreliable(const ph_bulk* bulk, const ph_bulk_room* room, ph_bulk_composed* b)
{
    const ph_unreliable_queue* queue = &bulk->to_send;
    ph_bulk_section* section = &b->section;
    uint16_t once_sequence = bulk->once_sequence;
    for (int at = 0; at < queue->used && section->message_count < PH_BULK_UNRELIABLE_MAX;
         at = ph_unreliable_next(queue, at)) {
        const ph_unreliable_record* record = ph_unreliable_at(queue, at);
        const int64_t bits = ph_bulk_message_bits(record->size);
        const int64_t paid_bits = growth(b, bits);
        if (bits > room_left(b, room->bits) || b->message_bits + paid_bits > room->message_bits) {
            continue;
        }
        b->offsets[section->message_count] = at;
        section->messages[section->message_count++] = (ph_bulk_message){
            .is_newest = record->is_newest,
            .channel = record->channel,
            .sequence =
                record->is_newest ? bulk->newest_sequence[record->channel] : once_sequence++,
            .size = record->size,
            .bytes = ph_unreliable_bytes(record),
        };
        b->message_bits += paid_bits;
        grow(b, bits);
    }
}

// The share pays for whole bytes, of which the section may have begun one.
static void add_pieces(ph_bulk* bulk, uint64_t now_us, const ph_bulk_room* room,
                       ph_bulk_composed* b)
{
    const int64_t begun_bits = ph_message_whole_bytes(b->bits);
    const int64_t paid_for = room->block_bits < INT64_MAX - begun_bits
                                 ? begun_bits + room->block_bits / 8 * 8
                                 : INT64_MAX;
    const int64_t most_bits = room->bits < paid_for ? room->bits : paid_for;
    const int64_t bits =
        ph_block_outbox_compose(&bulk->outbox, now_us, room_left(b, most_bits), &b->section.pieces);
    if (bits > 0) {
        b->block_bits = growth(b, bits);
        b->section.has_pieces = true;
        grow(b, bits);
    }
}

void ph_bulk_compose(ph_messages* messages, uint64_t now_us, const ph_bulk_room* room,
                     ph_bulk_composed* b)
{
    ph_bulk_section_clear(&b->section);
    b->bits = 0;
    b->message_bits = 0;
    b->block_bits = 0;
    if (room->has_blocks) {
        add_block_ack(messages->bulk, room, b);
    }
    if (room->has_messages) {
        add_unreliable(messages->bulk, room, b);
    }
    if (room->has_blocks) {
        add_pieces(messages->bulk, now_us, room, b);
    }
}

void ph_bulk_note_written(ph_messages* messages, uint64_t now_us, const ph_bulk_composed* b)
{
    ph_bulk* bulk = messages->bulk;
    ph_messages_stats* stats = &messages->stats;
    for (int i = b->section.message_count - 1; i >= 0; --i) {
        const ph_bulk_message* message = &b->section.messages[i];
        ++*(message->is_newest ? &bulk->newest_sequence[message->channel] : &bulk->once_sequence);
        ph_unreliable_remove(&bulk->to_send, b->offsets[i]);
        ++stats->sent_unreliable;
    }
    if (b->section.has_ack) {
        --bulk->block_acks_owed;
        bulk->block_ack_us = now_us;
    }
    if (b->section.has_pieces) {
        stats->sent_pieces += (uint64_t)ph_block_count_pieces(&b->section.pieces);
        stats->resent_pieces +=
            (uint64_t)ph_block_outbox_note_sent(&bulk->outbox, now_us, &b->section.pieces);
        bulk->blocks_wait_us = 0;
    }
    const int64_t have_bits = ph_token_bucket_bits(&bulk->block_share);
    ph_token_bucket_spend(&bulk->block_share,
                          b->block_bits < have_bits ? b->block_bits : have_bits);
    note_bulk(messages);
}

// ---- a datagram of blocks alone

// A share that saves up little sends what three quarters of it pay for: waiting until it is full would waste what comes
// between two ticks.
static int64_t worth_bits(const ph_messages* messages)
{
    const int64_t most_bits = 8 * (int64_t)(PH_PAYLOAD_MAX + messages->def.overhead_bytes);
    const int64_t depth_bits = messages->bulk->block_share.depth_bits * 3 / 4;
    return depth_bits < most_bits ? depth_bits : most_bits;
}

static bool is_block_worth(ph_messages* messages, uint64_t now_us, int64_t have_bits,
                           const ph_bulk_composed* b)
{
    ph_bulk* bulk = messages->bulk;
    const bool is_fresh_ack = b->section.has_ack && bulk->block_acks_owed == BLOCK_ACK_REPEATS &&
                              now_us >= bulk->block_ack_us + BLOCK_ACK_LEAST_US;
    if (is_fresh_ack || !b->section.has_pieces) {
        return is_fresh_ack;
    }
    if (bulk->blocks_wait_us == 0) {
        bulk->blocks_wait_us = now_us > 0 ? now_us : 1;
    }
    const uint64_t waited_us = now_us > bulk->blocks_wait_us ? now_us - bulk->blocks_wait_us : 0;
    return have_bits >= worth_bits(messages) ||
           (waited_us >= (uint64_t)messages->def.max_wait_ms * PH_MESSAGE_US_PER_MS &&
            ph_block_outbox_is_last(&bulk->outbox, &b->section.pieces));
}

size_t ph_messages_plan_block(ph_messages* messages, uint64_t now_us, int64_t left_bits,
                              int64_t spare_bits)
{
    if (!messages->has_bulk) {
        return 0;
    }
    ph_bulk* bulk = messages->bulk;
    if (bulk->outbox.count == 0 && bulk->block_acks_owed == 0) {
        return 0;
    }
    ph_token_bucket_fill(&bulk->block_share, now_us);
    const int64_t share_bits = ph_token_bucket_bits(&bulk->block_share);
    const int64_t own_bits =
        spare_bits < INT64_MAX - share_bits ? share_bits + spare_bits : INT64_MAX;
    const int64_t have_bits = left_bits < own_bits ? left_bits : own_bits;
    const int64_t around_bits =
        8 * (int64_t)(messages->def.overhead_bytes + PH_MESSAGES_EMPTY_SIZE);
    const int64_t most_bits = 8 * (int64_t)(PH_PAYLOAD_MAX - PH_MESSAGES_EMPTY_SIZE);
    int64_t room_bits = (have_bits - around_bits) / 8 * 8;
    room_bits = room_bits < most_bits ? room_bits : most_bits;
    if (room_bits <= PH_BULK_FLAG_BITS) {
        return 0;
    }
    ph_bulk_composed b;
    const ph_bulk_room room = {.bits = room_bits, .block_bits = INT64_MAX, .has_blocks = true};
    ph_bulk_compose(messages, now_us, &room, &b);
    if (b.bits == 0 || !is_block_worth(messages, now_us, have_bits, &b)) {
        return 0;
    }
    bulk->spare_bits = spare_bits;
    messages->is_block_promised = true;
    messages->promise = (ph_message_promise){
        .room = ph_bulk_size(&b) + PH_MESSAGES_EMPTY_SIZE,
        .now_us = now_us,
    };
    return messages->promise.room;
}

// ---- what comes

ph_messages_refusal ph_bulk_judge(const ph_messages* messages, const ph_bulk_section* section)
{
    const ph_bulk* bulk = messages->bulk;
    if (section->has_ack && !ph_block_outbox_is_possible(&bulk->outbox, &section->ack)) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    return section->has_pieces ? ph_block_inbox_judge(&bulk->inbox, &section->pieces)
                               : PH_MESSAGES_REFUSAL_COUNT;
}

static void take_block_ack(ph_messages* messages, uint64_t now_us, const ph_block_ack* ack)
{
    ph_block_outbox* outbox = &messages->bulk->outbox;
    if (!ph_block_outbox_take_ack(outbox, &messages->def.allocator, now_us, ack)) {
        return;
    }
    const int newest = (outbox->first_end + outbox->end_count - 1) % PH_BLOCKS_QUEUED_MAX;
    messages->stats.acked_blocks += outbox->ends[newest].outcome == PH_BLOCK_SENT;
    messages->stats.refused_blocks += outbox->ends[newest].outcome == PH_BLOCK_REFUSED;
}

static void take_unreliable(ph_messages* messages, const ph_bulk_message* message)
{
    ph_bulk* bulk = messages->bulk;
    if (!ph_unreliable_note(&bulk->seen, message)) {
        ++messages->stats.late_unreliable;
    } else if (!ph_unreliable_push(&bulk->to_receive, message)) {
        ++messages->stats.crowded_unreliable;
    }
}

void ph_bulk_take(ph_messages* messages, uint64_t now_us, const ph_bulk_section* section)
{
    ph_bulk* bulk = messages->bulk;
    if (section->has_ack) {
        take_block_ack(messages, now_us, &section->ack);
    }
    if (section->has_pieces) {
        const ph_block_storing stored =
            ph_block_inbox_store(&bulk->inbox, &messages->def.allocator, &section->pieces);
        messages->stats.duplicate_pieces += (uint64_t)stored.duplicates;
        messages->stats.dropped_pieces += (uint64_t)stored.dropped;
        bulk->block_acks_owed = BLOCK_ACK_REPEATS;
    }
    drop_handed_out(bulk);
    for (int i = 0; i < section->message_count; ++i) {
        take_unreliable(messages, &section->messages[i]);
    }
    note_bulk(messages);
}
