// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sections of messages under fire. The first byte chooses: one section as bytes, which is read, written
// again and compared; or two living ends, between which things happen by the input: posts, inputs, lost
// and late sections, some with a few bits turned. A refused section changes nothing but its count. As long
// as no forged one was believed, everything arrives in order.

#include "support/fuzz_source.h"

#include "message/message_state.h"
#include "tools/tools.h"

#include <string.h>

enum { STEPS_MAX = 400, HELD_MAX = 4, ROUNDS_MAX = 400 };

// ---- one section

static void read_and_write_again(const uint8_t* bytes, size_t size)
{
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

static void arrive(session* it, int at, const section_bytes* section, bool is_forged)
{
    static ph_messages
        before; // the part that decides; bytes of fragments are compared by their effect
    ph_messages* messages = it->ends[at];
    size_t used;
    before = *messages;
    const ph_result result =
        ph_messages_read_section(messages, it->now_us, section->bytes, section->size, &used);
    if (result != PH_OK) {
        fuzz_demand(is_forged || it->is_forgery_believed);
        before.stats = messages->stats;
        fuzz_demand(memcmp(&before, messages, sizeof before) == 0);
        return;
    }
    it->is_forgery_believed = it->is_forgery_believed || is_forged;
    take_messages(it, at);
}

static section_bytes write(session* it, int from)
{
    section_bytes made;
    made.size = ph_messages_write_section(it->ends[from], it->now_us, PH_PAYLOAD_MAX, made.bytes);
    fuzz_demand(made.size >= 1 && made.size <= (size_t)it->ends[from]->def.section_max);
    return made;
}

static void forge(session* it, int from, fuzz_source* input)
{
    section_bytes forged = write(it, from);
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
        it->held[from][it->held_count[from]++] = write(it, from);
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
    switch (fuzz_take(input, 8)) {
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
        }
        it->now_us += 3000000;
    }
    for (int from = 0; from < 2; ++from) {
        fuzz_demand(it->taken[from] == it->posted[from]);
        fuzz_demand(ph_messages_is_all_acked(it->ends[from]));
    }
}

static void run_session(fuzz_source* input)
{
    static session it;
    it = (session){.now_us = 1000000};
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 0;
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
