// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The state of one end of a connection, as it comes from another process: read, written again and compared. What was
// accepted must work: sections are written, and messages taken out, whatever the state says.

#include "support/fuzz_source.h"

#include <pinhole/message.h>
#include <pinhole/packet.h>

#include <stdlib.h>
#include <string.h>

enum { STATE_MAX = 1 << 16, SECTIONS = 20 };

static void use(ph_messages* messages)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    for (int i = 0; i < SECTIONS; ++i) {
        ph_messages_plan(messages, 1000000 + (uint64_t)i * 50000);
        fuzz_demand(ph_messages_pack(messages, NULL, 0, bytes) <= PH_PAYLOAD_MAX);
        fuzz_demand(ph_messages_receive(messages, message) <= PH_MESSAGE_SIZE_MAX);
        ph_messages_send(messages, message, 1 + (size_t)i * 50);
        ph_messages_confirm(messages, ph_messages_received_count(messages));
    }
    ph_messages_continue(messages);
    ph_messages_plan(messages, 3000000);
    ph_messages_pack(messages, NULL, 0, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static uint8_t again[STATE_MAX];
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 0;
    def.holds_acks = size % 2 == 1;
    ph_messages* messages;
    fuzz_demand(ph_messages_create(&def, &messages) == PH_OK);
    if (ph_messages_import(messages, data, size) == PH_OK) {
        fuzz_demand(ph_messages_export(messages, again, sizeof again) == size);
        fuzz_demand(memcmp(again, data, size) == 0);
        use(messages);
    } else {
        fuzz_demand(ph_messages_export(messages, again, sizeof again) < 64); // as it was
    }
    ph_messages_destroy(messages);
    return 0;
}
