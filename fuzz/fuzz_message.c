// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sections of messages under fire. The first byte chooses: one section as bytes, which is read, written again and
// compared; or two living ends, between which things happen by the input: posts, inputs, lost and late sections, some
// with a few bits turned, and so blocks and unreliable messages. A refused section changes nothing but its count. As
// long as no forged one was believed, everything arrives in order, blocks are intact or refused or cancelled, and no
// unreliable message comes twice or is older than one before it.

#include "support/fuzz_source.h"

#include "message/bulk.h"
#include "tools/tools.h"

#include <string.h>

enum { STEPS_MAX = 400, HELD_MAX = 4, ROUNDS_MAX = 400, BLOCK_MAX = 6000, EFFECTS = 1024 };

// ---- one section

static void read_bulk_and_write_again(const uint8_t* bytes, size_t size)
{
    ph_bulk_section section;
    ph_bulk_storage storage;
    const size_t used = ph_bulk_section_read(bytes, size, &section, &storage);
    if (used == 0) {
        return;
    }
    uint8_t again[2 * PH_PAYLOAD_MAX + 256];
    fuzz_demand(used <= size);
    fuzz_demand(ph_bulk_section_write(&section, again, sizeof again) == used);
    fuzz_demand(memcmp(again, bytes, used) == 0);
}

static void read_and_write_again(const uint8_t* bytes, size_t size)
{
    if (size > 0 && ph_bulk_section_is(bytes[0])) {
        read_bulk_and_write_again(bytes, size);
        return;
    }
    ph_message_section section;
    ph_message_storage storage;
    const size_t used = ph_message_section_read(bytes, size, &section, &storage);
    if (used == 0) {
        return;
    }
    uint8_t again[PH_MESSAGE_WINDOW * (PH_MESSAGE_FRAGMENT_SIZE + 4) + PH_INPUT_SIZE_MAX + 32];
    fuzz_demand(used <= size);
    fuzz_demand(ph_message_section_write(&section, again, sizeof again) == used);
    fuzz_demand(memcmp(again, bytes, used) == 0);
}

// ---- two ends

typedef struct section_bytes {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} section_bytes;

typedef struct session {
    ph_messages* ends[2];
    uint32_t posted[2];
    uint32_t taken[2]; // of what this end posted
    uint32_t inputs[2];
    uint32_t blocks[2];                         // that this end has sent; also their tags
    uint32_t block_came[2];                     // the last tag of the other end
    uint16_t effects[2];                        // unreliable messages that this end has sent
    uint16_t newest[2][PH_UNRELIABLE_CHANNELS]; // of the other end, counted from 1
    bool has_come[2][EFFECTS];
    section_bytes held[2][HELD_MAX]; // that this end has written
    int held_count[2];
    uint64_t now_us;
    bool is_forgery_believed;
} session;

static size_t message_of(uint32_t number, uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    const size_t size = 1 + number * 37 % 400;
    memset(bytes, (int)(number & 255), size);
    return size;
}

static void take_messages(session* it, int at)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    uint8_t expected[PH_MESSAGE_SIZE_MAX];
    size_t size;
    while ((size = ph_messages_receive(it->ends[at], bytes)) > 0) {
        fuzz_demand(size <= PH_MESSAGE_SIZE_MAX);
        if (!it->is_forgery_believed) {
            fuzz_demand(it->taken[1 - at] < it->posted[1 - at]);
            fuzz_demand(size == message_of(it->taken[1 - at]++, expected));
            fuzz_demand(memcmp(bytes, expected, size) == 0);
        }
    }
}

static size_t block_size_of(uint32_t tag)
{
    return 1 + tag * 911 % (BLOCK_MAX + 500); // some are refused
}

static void take_blocks(session* it, int at)
{
    for (ph_block block; ph_messages_receive_block(it->ends[at], &block);) {
        fuzz_demand(block.size <= BLOCK_MAX);
        if (it->is_forgery_believed) {
            continue;
        }
        fuzz_demand(block.tag > it->block_came[at] && block.tag <= it->blocks[1 - at]);
        it->block_came[at] = block.tag;
        fuzz_demand(block.size == block_size_of(block.tag));
        for (size_t i = 0; i < block.size; ++i) {
            fuzz_demand(block.bytes[i] == (uint8_t)(block.tag * 7 + i / 50));
        }
    }
}

static void take_effects(session* it, int at)
{
    for (ph_unreliable message; ph_messages_receive_unreliable(it->ends[at], &message);) {
        uint16_t number;
        fuzz_demand(message.channel >= 0 && message.channel < PH_UNRELIABLE_CHANNELS);
        if (it->is_forgery_believed) {
            continue;
        }
        fuzz_demand(message.size >= sizeof number);
        memcpy(&number, message.bytes, sizeof number);
        fuzz_demand(number > 0 && number <= it->effects[1 - at]);
        if (message.kind == PH_UNRELIABLE_NEWEST) {
            fuzz_demand(number > it->newest[at][message.channel]);
            it->newest[at][message.channel] = number;
        } else {
            fuzz_demand(!it->has_come[at][number]);
            it->has_come[at][number] = true;
        }
    }
}

static void arrive(session* it, int at, const section_bytes* section, bool is_forged)
{
    static ph_messages
        before; // the part that decides; bytes of fragments are compared by their effect
    static ph_bulk bulk_before;
    ph_messages* messages = it->ends[at];
    size_t used;
    before = *messages;
    bulk_before = *messages->bulk;
    const ph_result result =
        ph_messages_read_section(messages, it->now_us, section->bytes, section->size, &used);
    if (result != PH_OK) {
        fuzz_demand(is_forged || it->is_forgery_believed);
        before.stats = messages->stats;
        fuzz_demand(memcmp(&before, messages, sizeof before) == 0);
        fuzz_demand(memcmp(&bulk_before, messages->bulk, sizeof bulk_before) == 0);
        return;
    }
    it->is_forgery_believed = it->is_forgery_believed || is_forged;
    take_messages(it, at);
    take_blocks(it, at);
    take_effects(it, at);
}

static section_bytes write(session* it, int from)
{
    section_bytes made;
    made.size = ph_messages_write_section(it->ends[from], it->now_us, PH_PAYLOAD_MAX, made.bytes);
    fuzz_demand(made.size >= 1 && made.size <= (size_t)it->ends[from]->def.section_max);
    return made;
}

// A datagram of blocks alone, or nothing.
static bool write_blocks(session* it, int from, section_bytes* made)
{
    const size_t size = ph_messages_plan_block(it->ends[from], it->now_us, INT64_MAX, 0);
    if (size == 0) {
        return false;
    }
    made->size = ph_messages_pack(it->ends[from], NULL, 0, made->bytes);
    fuzz_demand(made->size == size && size <= PH_PAYLOAD_MAX);
    return true;
}

static void forge(session* it, int from, fuzz_source* input)
{
    section_bytes forged;
    if (!write_blocks(it, from, &forged)) {
        forged = write(it, from);
    }
    if (fuzz_take(input, 4) == 0) {
        forged.size = 1 + fuzz_take(input, 40);
        for (size_t i = 0; i < forged.size; ++i) {
            forged.bytes[i] = (uint8_t)fuzz_take(input, 256);
        }
    }
    const size_t place = fuzz_take(input, 256) % forged.size;
    forged.bytes[place] ^= (uint8_t)(1u << fuzz_take(input, 8));
    arrive(it, 1 - from, &forged, true);
}

static void hold_back(session* it, int from)
{
    if (it->held_count[from] < HELD_MAX) {
        section_bytes* held = &it->held[from][it->held_count[from]++];
        if (!write_blocks(it, from, held)) {
            *held = write(it, from);
        }
    }
}

static void send_block(session* it, int from)
{
    uint8_t bytes[BLOCK_MAX + 500];
    const uint32_t tag = it->blocks[from] + 1;
    const size_t size = block_size_of(tag);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(tag * 7 + i / 50);
    }
    it->blocks[from] += ph_messages_send_block(it->ends[from], tag, bytes, size, NULL) == PH_OK;
}

static void send_effect(session* it, int from, fuzz_source* input)
{
    uint8_t bytes[PH_UNRELIABLE_SIZE_MAX] = {0};
    const uint16_t number = (uint16_t)(it->effects[from] + 1);
    const ph_unreliable_kind kind = (ph_unreliable_kind)fuzz_take(input, 2);
    const int channel = (int)fuzz_take(input, PH_UNRELIABLE_CHANNELS);
    memcpy(bytes, &number, sizeof number);
    if (number < EFFECTS && ph_messages_send_unreliable(it->ends[from], kind, channel, bytes,
                                                        2 + fuzz_take(input, 250)) == PH_OK) {
        it->effects[from] = number;
    }
}

static void carry_blocks(session* it, int from)
{
    section_bytes made;
    while (write_blocks(it, from, &made)) {
        arrive(it, 1 - from, &made, false);
    }
}

static void release(session* it, int from, uint32_t which)
{
    if (it->held_count[from] > 0) {
        const int place = (int)which % it->held_count[from];
        arrive(it, 1 - from, &it->held[from][place], false);
    }
}

static void step(session* it, fuzz_source* input)
{
    const int from = (int)fuzz_take(input, 2);
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    switch (fuzz_take(input, 13)) {
    case 0: {
        const size_t size = message_of(it->posted[from], message);
        it->posted[from] += ph_messages_send(it->ends[from], message, size) == PH_OK;
        break;
    }
    case 1:
        message[0] = (uint8_t)it->inputs[from];
        it->inputs[from] += 1 + fuzz_take(input, 60); // a section is never 32,768 of them late
        ph_messages_set_input(it->ends[from], it->inputs[from], message, fuzz_take(input, 2));
        break;
    case 2:
        ph_messages_set_processed_input(it->ends[from],
                                        ph_messages_newest_input(it->ends[from]).number);
        break;
    case 3:
        write(it, from); // lost
        break;
    case 4:
        hold_back(it, from);
        break;
    case 5:
        release(it, from, fuzz_take(input, HELD_MAX));
        break;
    case 6:
        forge(it, from, input);
        break;
    case 8:
        send_block(it, from);
        break;
    case 9:
        ph_messages_cancel_block(it->ends[from],
                                 it->blocks[from] - fuzz_take(input, PH_BLOCKS_QUEUED_MAX));
        break;
    case 10:
        send_effect(it, from, input);
        break;
    case 11:
        carry_blocks(it, from);
        break;
    case 12: {
        section_bytes lost;
        write_blocks(it, from, &lost);
        break;
    }
    default: {
        const section_bytes made = write(it, from);
        arrive(it, 1 - from, &made, false);
        it->now_us += fuzz_take(input, 256) * 1000;
        break;
    }
    }
}

static void settle(session* it)
{
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        for (int from = 0; from < 2; ++from) {
            const section_bytes made = write(it, from);
            arrive(it, 1 - from, &made, false);
            carry_blocks(it, from);
        }
        it->now_us += 3000000;
    }
    for (int from = 0; from < 2; ++from) {
        fuzz_demand(it->taken[from] == it->posted[from]);
        fuzz_demand(ph_messages_is_all_acked(it->ends[from]));
        const ph_messages_stats stats = ph_messages_get_stats(it->ends[from]);
        fuzz_demand(!ph_messages_has_bulk(it->ends[from]));
        fuzz_demand(stats.sent_blocks ==
                    stats.acked_blocks + stats.refused_blocks + stats.cancelled_blocks);
        fuzz_demand(ph_messages_get_stats(it->ends[1 - from]).received_blocks >=
                    stats.acked_blocks);
    }
}

static void run_session(fuzz_source* input)
{
    static session it;
    it = (session){.now_us = 1000000};
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 0;
    def.block_size_max = BLOCK_MAX;
    for (int i = 0; i < 2; ++i) {
        fuzz_demand(ph_messages_create(&def, &it.ends[i]) == PH_OK);
    }
    for (int i = 0; i < STEPS_MAX && input->left > 0; ++i) {
        step(&it, input);
    }
    if (!it.is_forgery_believed) {
        settle(&it);
    }
    for (int i = 0; i < 2; ++i) {
        ph_messages_destroy(it.ends[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_source input = {.bytes = data, .left = size};
    if (fuzz_take(&input, 2) == 0) {
        read_and_write_again(input.bytes, input.left);
    } else {
        run_session(&input);
    }
    return 0;
}
