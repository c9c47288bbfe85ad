// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One end of a connection: its life, messages, input, figures. message_compose.c has what the next section says,
// message_arrival.c what one of the other end means, bulk.c blocks and unreliable messages; message_state.h says
// what is kept.

#include "base/allocator.h"
#include "base/check.h"
#include "message/bulk.h"

#include <limits.h>
#include <string.h>

#define COOKIE 0x4D41494Cu
#define FRAGMENTS_MIN 32
#define FRAGMENTS_MAX 1024
#define MESSAGE_OVERHEAD_BYTES_MAX 1000
#define MAX_WAIT_MS_MAX 60000
// So that the largest one fits, with its 16 bytes.
#define UNRELIABLE_BYTES_MIN 1024
#define UNRELIABLE_BYTES_MAX 65536
// Of 65,536 numbers, so that ahead and behind can be told apart.
#define INPUT_AHEAD_MAX 32767

ph_messages_def ph_messages_def_default(void)
{
    return (ph_messages_def){
        .bits_per_second = 13000,
        .share_percent = 25,
        .section_max = 384,
        .overhead_bytes = 48,
        .max_wait_ms = 100,
        .send_queue_fragments = 64,
        .receive_queue_fragments = 64,
        .block_share_percent = 25,
        .unreliable_max_wait_ms = 250,
        .unreliable_queue_bytes = 2048,
        .cookie = COOKIE,
    };
}

// ---- life

static void check_queue(ph_check* check, const char* field, int fragments)
{
    if (check->result == PH_OK && (fragments < FRAGMENTS_MIN || fragments > FRAGMENTS_MAX ||
                                   (fragments & (fragments - 1)) != 0)) {
        char is[PH_COUNT_TEXT_SIZE];
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, field,
                    "is %s; it must be a power of two in 32..1,024", ph_count_text(fragments, is));
    }
}

static void check_messages_def(ph_check* check, const ph_messages_def* def)
{
    ph_check_range(check, "ph_messages_def.bits_per_second", def->bits_per_second, 0, PH_NO_END);
    ph_check_range(check, "ph_messages_def.share_percent", def->share_percent, 1, 100);
    ph_check_range(check, "ph_messages_def.section_max", def->section_max, PH_MESSAGES_SECTION_MIN,
                   PH_PAYLOAD_MAX);
    ph_check_range(check, "ph_messages_def.overhead_bytes", def->overhead_bytes, 0,
                   MESSAGE_OVERHEAD_BYTES_MAX);
    ph_check_range(check, "ph_messages_def.max_wait_ms", def->max_wait_ms, 0, MAX_WAIT_MS_MAX);
    check_queue(check, "ph_messages_def.send_queue_fragments", def->send_queue_fragments);
    check_queue(check, "ph_messages_def.receive_queue_fragments", def->receive_queue_fragments);
    ph_check_range(check, "ph_messages_def.block_share_percent", def->block_share_percent, 1, 100);
    ph_check_range(check, "ph_messages_def.block_size_max", def->block_size_max, 0,
                   PH_BLOCK_SIZE_MAX);
    ph_check_range(check, "ph_messages_def.unreliable_max_wait_ms", def->unreliable_max_wait_ms, 1,
                   MAX_WAIT_MS_MAX);
    ph_check_range(check, "ph_messages_def.unreliable_queue_bytes", def->unreliable_queue_bytes,
                   UNRELIABLE_BYTES_MIN, UNRELIABLE_BYTES_MAX);
}

static ph_check messages_call(const ph_messages* messages, const char* function)
{
    return ph_check_begin(messages->def.on_error, messages->def.on_error_context, function);
}

// Whole words, so that the bulk behind it is aligned.
static size_t fragments_bytes(const ph_messages_def* def)
{
    const size_t out = sizeof(ph_message_sent) + PH_MESSAGE_FRAGMENT_SIZE;
    const size_t in = sizeof(ph_message_arrived) + PH_MESSAGE_FRAGMENT_SIZE;
    return sizeof(ph_messages) + (size_t)def->send_queue_fragments * out +
           (size_t)def->receive_queue_fragments * in;
}

static size_t bytes_of(const ph_messages_def* def)
{
    return fragments_bytes(def) + (ph_bulk_bytes(def) + 7) / 8 * 8;
}

static void lay_out_channel(ph_messages* messages)
{
    const ph_messages_def* def = &messages->def;
    messages->outbox.capacity = def->send_queue_fragments;
    messages->outbox.sent = (ph_message_sent*)(messages + 1);
    messages->inbox.capacity = def->receive_queue_fragments;
    messages->inbox.arrived =
        (ph_message_arrived*)(messages->outbox.sent + def->send_queue_fragments);
    uint8_t* bytes = (uint8_t*)(messages->inbox.arrived + def->receive_queue_fragments);
    messages->outbox.bytes = (uint8_t(*)[PH_MESSAGE_FRAGMENT_SIZE])bytes;
    messages->inbox.bytes = messages->outbox.bytes + def->send_queue_fragments;
}

ph_result ph_messages_create(const ph_messages_def* def, ph_messages** messages)
{
    *messages = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_made(&check, def->cookie == COOKIE, "ph_messages_def");
    check_messages_def(&check, def);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_messages* made = ph_allocate_zeroed(&def->allocator, bytes_of(def));
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    made->def = *def;
    made->size_bytes = bytes_of(def);
    lay_out_channel(made);
    ph_bulk_init(made, (ph_bulk*)(void*)((uint8_t*)made + fragments_bytes(def)));
    const ph_message_share share = ph_message_share_of(def, def->share_percent);
    made->share = ph_token_bucket_make(share.bits_per_second, share.depth_bits, 0);
    made->promise.room = PH_MESSAGES_EMPTY_SIZE;
    *messages = made;
    return PH_OK;
}

void ph_messages_destroy(ph_messages* messages)
{
    if (messages != NULL) {
        ph_bulk_destroy(messages);
        const ph_allocator allocator = messages->def.allocator;
        ph_release(&allocator, messages, messages->size_bytes);
    }
}

void ph_messages_set_budget(ph_messages* messages, int bits_per_second)
{
    PH_ASSERT(bits_per_second >= 0);

    bits_per_second = bits_per_second > 0 ? bits_per_second : 0;
    messages->def.bits_per_second = bits_per_second;
    const ph_message_share share = ph_message_share_of(&messages->def, messages->def.share_percent);
    ph_token_bucket_fill(&messages->share,
                         messages->promise.now_us); // what has passed counts as before
    ph_token_bucket_change(&messages->share, share.bits_per_second, share.depth_bits);
    ph_bulk_set_budget(messages, messages->promise.now_us);
}

// ---- messages

ph_result ph_messages_send(ph_messages* messages, const void* bytes, size_t size)
{
    if (size < 1 || size > PH_MESSAGE_SIZE_MAX) {
        ph_check check = messages_call(messages, __func__);
        ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 1,
                       PH_MESSAGE_SIZE_MAX);
        return check.result;
    }
    if (!ph_message_outbox_post(&messages->outbox, bytes, size)) {
        return PH_ERROR_FULL;
    }
    ++messages->stats.sent_messages;
    return PH_OK;
}

size_t ph_messages_receive(ph_messages* messages, uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    const size_t size = ph_message_inbox_take(&messages->inbox, bytes);
    if (size > 0) {
        ++messages->stats.received_messages;
        if (!messages->def.holds_acks) {
            ph_message_inbox_confirm(&messages->inbox, 1);
        }
    }
    return size;
}

bool ph_messages_is_all_acked(const ph_messages* messages)
{
    return ph_message_outbox_count(&messages->outbox) == 0;
}

// ---- input

ph_result ph_messages_set_input(ph_messages* messages, uint32_t number, const void* bytes,
                                size_t size)
{
    const int room = messages->def.section_max - PH_MESSAGES_BESIDE_INPUT;
    ph_check check = messages_call(messages, __func__);
    ph_check_range(&check, "number", number, (int64_t)messages->input_number + 1,
                   (int64_t)messages->input_delivered + INPUT_AHEAD_MAX);
    ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 0,
                   room < PH_INPUT_SIZE_MAX ? room : PH_INPUT_SIZE_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    messages->input_number = number;
    messages->input_size = (uint8_t)size;
    if (size > 0) {
        memcpy(messages->input_bytes, bytes, size);
    }
    return PH_OK;
}

ph_input ph_messages_newest_input(const ph_messages* messages)
{
    return (ph_input){
        .number = messages->their_number,
        .size = messages->their_size,
        .bytes = messages->their_bytes,
    };
}

ph_result ph_messages_set_processed_input(ph_messages* messages, uint32_t number)
{
    if (number > messages->their_number || number < messages->their_processed) {
        ph_check check = messages_call(messages, __func__);
        ph_check_range(&check, "number", number, messages->their_processed, messages->their_number);
        return check.result;
    }
    if (number > messages->their_processed) {
        messages->their_processed = number;
        messages->input_acks_owed = PH_MESSAGE_INPUT_ACK_REPEATS;
    }
    return PH_OK;
}

uint32_t ph_messages_processed_input(const ph_messages* messages)
{
    return messages->input_processed;
}

// ---- figures

const char* ph_messages_refusal_name(ph_messages_refusal refusal)
{
    static const char* const NAMES[] = {
        [PH_MESSAGES_REFUSAL_MALFORMED] = "malformed",
        [PH_MESSAGES_REFUSAL_ACK] = "impossible_ack",
        [PH_MESSAGES_REFUSAL_WINDOW] = "beyond_window",
        [PH_MESSAGES_REFUSAL_CONTRARY] = "contrary",
    };
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == PH_MESSAGES_REFUSAL_COUNT, "a name for each");
    return (unsigned)refusal < PH_MESSAGES_REFUSAL_COUNT ? NAMES[refusal] : "unknown";
}

ph_messages_stats ph_messages_get_stats(const ph_messages* messages)
{
    ph_messages_stats stats = messages->stats;
    stats.received_sections = messages->sections_read;
    stats.queued_fragment_count = ph_message_outbox_count(&messages->outbox);
    stats.queued_fragment_capacity = messages->outbox.capacity;
    stats.queued_block_count = messages->bulk->outbox.count;
    stats.rtt_ms = messages->outbox.rtt.rtt_us / 1000.0;
    return stats;
}
