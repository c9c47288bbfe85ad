// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a section of the other end says: once per datagram and end. It is read and judged as a whole before
// anything of it counts.

#include "message/bulk.h"
#include "tools/tools.h"

#include <string.h>

// ---- input

// The number with these low bits nearest to the given one.
static int64_t extend_message_number(uint16_t low, uint32_t near_number)
{
    return (int64_t)near_number + (int16_t)(uint16_t)(low - (uint16_t)near_number);
}

static bool is_same_input(const ph_messages* messages, const ph_message_section* section)
{
    return messages->their_size == section->input_size &&
           memcmp(messages->their_bytes, section->input_bytes, section->input_size) == 0;
}

// Without its bytes it is a question about one that we have said to have.
static ph_messages_refusal judge_input(const ph_messages* messages,
                                       const ph_message_section* section)
{
    const int64_t number = extend_message_number(section->input_number, messages->their_number);
    if (number < 1 || number > UINT32_MAX) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    if (!section->has_blob) {
        return number > messages->their_number ? PH_MESSAGES_REFUSAL_ACK
                                               : PH_MESSAGES_REFUSAL_COUNT;
    }
    return number == messages->their_number && !is_same_input(messages, section)
               ? PH_MESSAGES_REFUSAL_CONTRARY
               : PH_MESSAGES_REFUSAL_COUNT;
}

static void take_input(ph_messages* messages, const ph_message_section* section)
{
    const int64_t number = extend_message_number(section->input_number, messages->their_number);
    messages->input_acks_owed = PH_MESSAGE_INPUT_ACK_REPEATS;
    if (number > messages->their_number) {
        messages->their_number = (uint32_t)number;
        messages->their_size = section->input_size;
        memcpy(messages->their_bytes, section->input_bytes, section->input_size);
    }
}

// ---- what the other end says of our input

static bool is_input_ack_possible(const ph_messages* messages, const ph_message_section* section)
{
    const int64_t received = extend_message_number(section->input_received, messages->input_number);
    const int64_t lag = (uint16_t)(section->input_received - section->input_processed);
    return received >= 1 && received <= messages->input_number &&
           (lag <= received || lag == PH_MESSAGE_LAG_UNKNOWN);
}

static void take_input_ack(ph_messages* messages, const ph_message_section* section)
{
    const int64_t received = extend_message_number(section->input_received, messages->input_number);
    const int64_t lag = (uint16_t)(section->input_received - section->input_processed);
    if (received > messages->input_delivered) {
        messages->input_delivered = (uint32_t)received;
    }
    if (received == messages->input_number) {
        messages->is_input_unknown = false;
    }
    if (lag != PH_MESSAGE_LAG_UNKNOWN && received - lag > messages->input_processed) {
        messages->input_processed = (uint32_t)(received - lag);
    }
}

// ---- the whole

static ph_messages_refusal judge_arrival(const ph_messages* messages,
                                         const ph_message_section* section)
{
    if (section->has_ack &&
        !ph_message_outbox_is_possible(&messages->outbox, section->ack_next, section->ack_mask)) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    if (section->has_input_ack && !is_input_ack_possible(messages, section)) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    const ph_messages_refusal input =
        section->has_input ? judge_input(messages, section) : PH_MESSAGES_REFUSAL_COUNT;
    return input != PH_MESSAGES_REFUSAL_COUNT ? input
                                              : ph_message_inbox_judge(&messages->inbox, section);
}

static void take_fragments(ph_messages* messages, const ph_message_section* section)
{
    for (int i = 0; i < section->fragment_count; ++i) {
        const ph_message_storing stored =
            ph_message_inbox_store(&messages->inbox, &section->fragments[i]);
        messages->stats.duplicate_fragments += stored == PH_MESSAGE_DOUBLED;
        messages->stats.dropped_fragments += stored == PH_MESSAGE_WITHOUT_ROOM;
    }
    messages->acks_owed =
        section->fragment_count > 0 ? PH_MESSAGE_ACK_REPEATS : messages->acks_owed;
}

static void take_section(ph_messages* messages, uint64_t now_us, const ph_message_section* section)
{
    if (section->has_ack) {
        messages->stats.acked_messages += (uint64_t)ph_message_outbox_take_ack(
            &messages->outbox, now_us, section->ack_next, section->ack_mask);
    }
    if (section->has_input_ack) {
        take_input_ack(messages, section);
    }
    if (section->has_input) {
        take_input(messages, section);
    }
    take_fragments(messages, section);
}

static ph_result refuse_section(ph_messages* messages, ph_messages_refusal refusal)
{
    ++messages->stats.refused_sections[refusal];
    return PH_ERROR_VALUE;
}

static ph_result read_section(ph_messages* messages, uint64_t now_us, const void* bytes,
                              size_t size, size_t* used)
{
    ph_message_section section;
    ph_message_storage storage;
    *used = 0;
    const size_t section_size = ph_message_section_read(bytes, size, &section, &storage);
    const ph_messages_refusal refusal =
        section_size > 0 ? judge_arrival(messages, &section) : PH_MESSAGES_REFUSAL_MALFORMED;
    if (refusal != PH_MESSAGES_REFUSAL_COUNT) {
        return refuse_section(messages, refusal);
    }
    take_section(messages, now_us, &section);
    ++messages->sections_read;
    *used = section_size;
    return PH_OK;
}

// A bulk section and the section of messages behind it: both, or nothing of them.
static ph_result read_bulk_section(ph_messages* messages, uint64_t now_us, const uint8_t* bytes,
                                   size_t size, size_t* used)
{
    ph_bulk_section bulk;
    ph_bulk_storage storage;
    *used = 0;
    const size_t bulk_size = ph_bulk_section_read(bytes, size, &bulk, &storage);
    if (bulk_size == 0) {
        return refuse_section(messages, PH_MESSAGES_REFUSAL_MALFORMED);
    }
    const ph_messages_refusal refusal = ph_bulk_judge(messages, &bulk);
    if (refusal != PH_MESSAGES_REFUSAL_COUNT) {
        return refuse_section(messages, refusal);
    }
    // No other one behind it: that would not be read as a section of messages.
    const ph_result result =
        read_section(messages, now_us, bytes + bulk_size, size - bulk_size, used);
    if (result == PH_OK) {
        ph_bulk_take(messages, now_us, &bulk);
        *used += bulk_size;
    }
    return result;
}

size_t ph_messages_section_size(const void* bytes, size_t size)
{
    ph_bulk_section bulk;
    ph_bulk_storage bulk_storage;
    ph_message_section section;
    ph_message_storage storage;
    size_t bulk_size = 0;
    if (size > 0 && ph_bulk_section_is(*(const uint8_t*)bytes)) {
        bulk_size = ph_bulk_section_read(bytes, size, &bulk, &bulk_storage);
        if (bulk_size == 0) {
            return 0;
        }
    }
    const size_t section_size = ph_message_section_read((const uint8_t*)bytes + bulk_size,
                                                        size - bulk_size, &section, &storage);
    return section_size > 0 ? bulk_size + section_size : 0;
}

ph_result ph_messages_read_section(ph_messages* messages, uint64_t now_us, const void* bytes,
                                   size_t size, size_t* used)
{
    const uint8_t first = size > 0 ? *(const uint8_t*)bytes : 1;
    if (first == 0) {
        ++messages->sections_read; // it says nothing, as most do
        *used = PH_MESSAGES_EMPTY_SIZE;
        return PH_OK;
    }
    return ph_bulk_section_is(first) ? read_bulk_section(messages, now_us, bytes, size, used)
                                     : read_section(messages, now_us, bytes, size, used);
}

ph_result ph_messages_unpack(ph_messages* messages, uint64_t now_us, const void* bytes, size_t size,
                             ph_messages_rest* rest)
{
    size_t used;
    *rest = (ph_messages_rest){0};
    const ph_result result = ph_messages_read_section(messages, now_us, bytes, size, &used);
    if (result == PH_OK && used < size) {
        *rest = (ph_messages_rest){.bytes = (const uint8_t*)bytes + used, .size = size - used};
    }
    return result;
}
