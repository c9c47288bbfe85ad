// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A connection goes on at another server: the state of one end as bytes, and back. Once per move, or once per tick
// where a front-end keeps a copy elsewhere. Numbers are little-endian:
//
//   | 1 u8 | in: messages u64, first fragment u16, fragments | out: end u16, first fragment u16, fragments
//          | their input: number u32, processed u32, size u8, bytes
//          | our input: number u32, received u32, processed u32, size u8, bytes | blocks: out u16, in u16 |
//
//   fragments   count u16 │ { sequence less the first u16 │ left u8 │ size u8 │ bytes }
//
// Incoming are those that have come and whose messages the game has not taken. Outgoing are all up to the end that are
// not known to have arrived; those that are missing have, and their numbers are spent.

#include "base/check.h"
#include "message/bulk.h"

#include <limits.h>
#include <string.h>

#define MOVE_VERSION 1
#define MOVE_LEFT_MAX 15

// ---- writing

// Counts on when there is no room, as snprintf() does.
typedef struct move_writer {
    uint8_t* bytes;
    size_t capacity;
    size_t size;
} move_writer;

static void move_put_bytes(move_writer* out, const void* bytes, size_t size)
{
    if (out->size + size <= out->capacity && size > 0) {
        memcpy(out->bytes + out->size, bytes, size);
    }
    out->size += size;
}

static void move_put(move_writer* out, uint64_t value, int size)
{
    uint8_t bytes[8];
    for (int i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    move_put_bytes(out, bytes, (size_t)size);
}

typedef struct move_fragment {
    uint16_t step; // behind the first
    uint8_t left;
    uint8_t size;
    const uint8_t* bytes;
} move_fragment;

static void move_put_fragment(move_writer* out, const move_fragment* fragment)
{
    move_put(out, fragment->step, 2);
    move_put(out, fragment->left, 1);
    move_put(out, fragment->size, 1);
    move_put_bytes(out, fragment->bytes, fragment->size);
}

static bool has_fragment_come(const ph_message_inbox* inbox, uint16_t step)
{
    const int place = step - (uint16_t)(inbox->next - inbox->taken);
    return place < 0 || (place < PH_MESSAGE_WINDOW && (inbox->early >> place & 1) != 0);
}

static void put_inbox(move_writer* out, const ph_message_inbox* inbox)
{
    const int end = (uint16_t)(inbox->next - inbox->taken) + PH_MESSAGE_WINDOW;
    int count = 0;
    for (int step = 0; step < end; ++step) {
        count += has_fragment_come(inbox, (uint16_t)step);
    }
    move_put(out, inbox->taken, 2);
    move_put(out, (uint64_t)count, 2);
    for (int step = 0; step < end; ++step) {
        const int place = (uint16_t)(inbox->taken + step) & (inbox->capacity - 1);
        if (has_fragment_come(inbox, (uint16_t)step)) {
            move_put_fragment(out,
                              &(move_fragment){(uint16_t)step, inbox->arrived[place].left,
                                               inbox->arrived[place].size, inbox->bytes[place]});
        }
    }
}

static void put_outbox(move_writer* out, const ph_message_outbox* outbox)
{
    const int end = ph_message_outbox_count(outbox);
    int count = 0;
    for (int step = 0; step < end; ++step) {
        count += !outbox->sent[(outbox->oldest + step) & (outbox->capacity - 1)].is_delivered;
    }
    move_put(out, outbox->end, 2);
    move_put(out, outbox->oldest, 2);
    move_put(out, (uint64_t)count, 2);
    for (int step = 0; step < end; ++step) {
        const int place = (outbox->oldest + step) & (outbox->capacity - 1);
        const ph_message_sent* sent = &outbox->sent[place];
        if (!sent->is_delivered) {
            move_put_fragment(out, &(move_fragment){(uint16_t)step, sent->left, sent->size,
                                                    outbox->bytes[place]});
        }
    }
}

size_t ph_messages_export(const ph_messages* messages, void* bytes, size_t capacity)
{
    move_writer out = {.bytes = bytes, .capacity = capacity};
    move_put(&out, MOVE_VERSION, 1);
    move_put(&out, messages->stats.received_messages, 8);
    put_inbox(&out, &messages->inbox);
    put_outbox(&out, &messages->outbox);
    move_put(&out, messages->their_number, 4);
    move_put(&out, messages->their_processed, 4);
    move_put(&out, messages->their_size, 1);
    move_put_bytes(&out, messages->their_bytes, messages->their_size);
    move_put(&out, messages->input_number, 4);
    move_put(&out, messages->input_delivered, 4);
    move_put(&out, messages->input_processed, 4);
    move_put(&out, messages->input_size, 1);
    move_put_bytes(&out, messages->input_bytes, messages->input_size);
    move_put(&out, messages->bulk->outbox.number, 2);
    move_put(&out, messages->bulk->inbox.number, 2);
    return out.size;
}

// ---- reading

typedef struct move_reader {
    const uint8_t* at;
    size_t left;
    bool has_failed;
} move_reader;

static const uint8_t* move_take_bytes(move_reader* in, size_t size)
{
    static const uint8_t none[UINT8_MAX] = {0};
    if (in->has_failed || size > in->left) {
        in->has_failed = true;
        return none;
    }
    const uint8_t* at = in->at;
    in->at += size;
    in->left -= size;
    return at;
}

static uint64_t move_take(move_reader* in, int size)
{
    const uint8_t* bytes = move_take_bytes(in, (size_t)size);
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static move_fragment move_take_fragment(move_reader* in)
{
    move_fragment fragment = {
        .step = (uint16_t)move_take(in, 2),
        .left = (uint8_t)move_take(in, 1),
        .size = (uint8_t)move_take(in, 1),
    };
    fragment.bytes = move_take_bytes(in, fragment.size);
    const bool is_size_right =
        fragment.left > 0 ? fragment.size == PH_MESSAGE_FRAGMENT_SIZE
                          : fragment.size >= 1 && fragment.size <= PH_MESSAGE_FRAGMENT_SIZE;
    in->has_failed = in->has_failed || fragment.left > MOVE_LEFT_MAX || !is_size_right;
    return fragment;
}

// The fragments of one direction: ascending, and those of one message count down.
typedef struct move_queue {
    uint16_t first;
    int count;
    int end;           // behind the last step
    int gap;           // the first step that is missing
    int beyond;        // how many are behind the window
    move_reader start; // at the first fragment
} move_queue;

static move_queue move_take_queue(move_reader* in)
{
    move_queue queue = {.first = (uint16_t)move_take(in, 2), .count = (int)move_take(in, 2)};
    queue.start = *in;
    move_fragment before = {0};
    for (int i = 0; i < queue.count && !in->has_failed; ++i) {
        const move_fragment fragment = move_take_fragment(in);
        const bool follows = i > 0 && fragment.step == before.step + 1;
        in->has_failed = in->has_failed || (i > 0 && fragment.step <= before.step) ||
                         (follows && before.left > 0 && fragment.left != before.left - 1);
        queue.gap += fragment.step == queue.gap;
        queue.end = fragment.step + 1;
        queue.beyond += fragment.step >= PH_MESSAGE_WINDOW;
        before = fragment;
    }
    return queue;
}

typedef struct move_input {
    uint32_t number;
    uint32_t delivered; // of ours
    uint32_t processed;
    uint8_t size;
    const uint8_t* bytes;
} move_input;

static move_input move_take_input(move_reader* in, bool is_ours)
{
    move_input input = {.number = (uint32_t)move_take(in, 4)};
    input.delivered = is_ours ? (uint32_t)move_take(in, 4) : input.number;
    input.processed = (uint32_t)move_take(in, 4);
    input.size = (uint8_t)move_take(in, 1);
    input.bytes = move_take_bytes(in, input.size);
    in->has_failed = in->has_failed || input.delivered > input.number ||
                     input.processed > input.delivered || (input.number == 0 && input.size > 0);
    return input;
}

typedef struct moved_state {
    uint64_t received;
    move_queue in;
    move_queue out;
    uint16_t out_end;
    move_input theirs;
    move_input ours;
    uint16_t block_out;
    uint16_t block_in;
} moved_state;

// Of what has come, the first that is missing is next, and what is ahead of that lies in the window. Of what goes, the
// first is not known to have arrived, and what is missing lies in the window.
static bool are_queues_sound(const moved_state* state)
{
    const int out_count = (uint16_t)(state->out_end - state->out.first);
    const int beyond = out_count > PH_MESSAGE_WINDOW ? out_count - PH_MESSAGE_WINDOW : 0;
    return state->in.end - state->in.gap <= PH_MESSAGE_WINDOW && state->out.end <= out_count &&
           (out_count == 0 || state->out.gap > 0) && state->out.beyond == beyond;
}

static bool read_moved_state(const void* bytes, size_t size, moved_state* state)
{
    move_reader in = {.at = bytes, .left = size};
    const bool is_version_ours = move_take(&in, 1) == MOVE_VERSION;
    state->received = move_take(&in, 8);
    state->in = move_take_queue(&in);
    state->out_end = (uint16_t)move_take(&in, 2);
    state->out = move_take_queue(&in);
    state->theirs = move_take_input(&in, false);
    state->ours = move_take_input(&in, true);
    state->block_out = (uint16_t)move_take(&in, 2);
    state->block_in = (uint16_t)move_take(&in, 2);
    return is_version_ours && !in.has_failed && in.left == 0 && are_queues_sound(state);
}

static void import_inbox(ph_message_inbox* inbox, const move_queue* queue)
{
    inbox->taken = queue->first;
    inbox->confirmed = queue->first;
    inbox->next = (uint16_t)(queue->first + queue->gap);
    move_reader in = queue->start;
    for (int i = 0; i < queue->count; ++i) {
        const move_fragment fragment = move_take_fragment(&in);
        const int place = (uint16_t)(queue->first + fragment.step) & (inbox->capacity - 1);
        inbox->arrived[place] = (ph_message_arrived){.left = fragment.left, .size = fragment.size};
        memcpy(inbox->bytes[place], fragment.bytes, fragment.size);
        if (fragment.step > queue->gap) {
            inbox->early |= UINT32_C(1) << (fragment.step - queue->gap);
        }
    }
}

// Each of them may have been sent, and acked by an answer that never came.
static void import_outbox(ph_message_outbox* outbox, const move_queue* queue, uint16_t end)
{
    outbox->oldest = queue->first;
    outbox->end = end;
    outbox->unsent = end;
    outbox->is_imported = true;
    for (uint16_t sequence = outbox->oldest; sequence != outbox->end; ++sequence) {
        outbox->sent[sequence & (outbox->capacity - 1)] = (ph_message_sent){.is_delivered = true};
    }
    move_reader in = queue->start;
    for (int i = 0; i < queue->count; ++i) {
        const move_fragment fragment = move_take_fragment(&in);
        const int place = (uint16_t)(queue->first + fragment.step) & (outbox->capacity - 1);
        outbox->sent[place] = (ph_message_sent){.left = fragment.left, .size = fragment.size};
        memcpy(outbox->bytes[place], fragment.bytes, fragment.size);
    }
}

static void import_state(ph_messages* messages, const moved_state* state)
{
    messages->is_continued = true;
    messages->stats.received_messages = state->received;
    import_inbox(&messages->inbox, &state->in);
    import_outbox(&messages->outbox, &state->out, state->out_end);
    messages->their_number = state->theirs.number;
    messages->their_processed = state->theirs.processed;
    messages->their_size = state->theirs.size;
    memcpy(messages->their_bytes, state->theirs.bytes, state->theirs.size);
    messages->input_number = state->ours.number;
    messages->input_delivered = state->ours.delivered;
    messages->input_processed = state->ours.processed;
    messages->input_size = state->ours.size;
    memcpy(messages->input_bytes, state->ours.bytes, state->ours.size);
    messages->bulk->outbox.number = state->block_out;
    messages->bulk->outbox.was_one_before = state->block_out != 0;
    messages->bulk->inbox.number = state->block_in;
}

static bool is_new(const ph_messages* messages)
{
    const ph_messages_stats* stats = &messages->stats;
    return !messages->is_continued && messages->sections_read == 0 && stats->sent_sections == 0 &&
           messages->outbox.end == 0 && messages->input_number == 0 &&
           messages->bulk->outbox.last_id == 0;
}

ph_result ph_messages_import(ph_messages* messages, const void* bytes, size_t size)
{
    const ph_check call =
        ph_check_begin(messages->def.on_error, messages->def.on_error_context, __func__);
    if (!is_new(messages)) {
        return ph_fail(&call, PH_ERROR_ARGUMENT, "messages",
                       "has sent or received something; it must be new: import right after "
                       "ph_host_admit() or ph_messages_create()");
    }
    moved_state state;
    if (!read_moved_state(bytes, size, &state)) {
        return ph_fail(&call, PH_ERROR_VALUE, "bytes",
                       "is nothing that ph_messages_export() has written");
    }
    const int out_count = (uint16_t)(state.out_end - state.out.first);
    if (state.in.end > messages->inbox.capacity || out_count > messages->outbox.capacity) {
        return ph_fail(&call, PH_ERROR_FULL, "bytes",
                       "has %d fragments that have come and %d that go; the queues of this def "
                       "hold %d and %d",
                       state.in.end, out_count, messages->inbox.capacity,
                       messages->outbox.capacity);
    }
    import_state(messages, &state);
    return PH_OK;
}

bool ph_messages_is_continued(const ph_messages* messages)
{
    return messages->is_continued;
}

// ---- the client's end

void ph_messages_continue(ph_messages* messages)
{
    ph_bulk* bulk = messages->bulk;
    ph_message_outbox_send_again(&messages->outbox);
    ph_block_outbox_begin_again(&bulk->outbox);
    ph_block_inbox_begin_again(&bulk->inbox, &messages->def.allocator);
    messages->is_input_unknown = messages->input_processed != messages->input_number;
    // What these would say is about numbers that the other end may not have sent yet.
    messages->input_acks_owed = 0;
    bulk->block_acks_owed = 0;
    bulk->once_sequence = 0;
    memset(bulk->newest_sequence, 0, sizeof bulk->newest_sequence);
    bulk->seen = (ph_unreliable_seen){0};
}

// ---- held acks

ph_result ph_messages_confirm(ph_messages* messages, uint64_t count)
{
    const uint64_t all = messages->stats.received_messages;
    const uint64_t open = (uint64_t)messages->inbox.unconfirmed_count;
    if (count > all || count + open < all) {
        ph_check check =
            ph_check_begin(messages->def.on_error, messages->def.on_error_context, __func__);
        ph_check_range(&check, "count", count > INT64_MAX ? INT64_MAX : (int64_t)count,
                       (int64_t)(all - open), (int64_t)all);
        return check.result;
    }
    const int more = (int)(count + open - all);
    if (more > 0) {
        ph_message_inbox_confirm(&messages->inbox, more);
        messages->acks_owed = PH_MESSAGE_ACK_REPEATS;
    }
    return PH_OK;
}

uint64_t ph_messages_received_count(const ph_messages* messages)
{
    return messages->stats.received_messages;
}
