// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "bulk_pair.h"

#include <stdlib.h>

enum { START_US = 1000000, PACKET_SIZE = 40 };

void bulk_pair_setup(bulk_pair* pair, const ph_messages_def* def, const ph_link_def* link,
                     uint32_t tick_us)
{
    *pair = (bulk_pair){.now_us = START_US};
    ph_messages_def made = ph_messages_def_default();
    made.bits_per_second = 0;
    made.block_size_max = 8 << 20;
    made = def != NULL ? *def : made;
    for (int i = 0; i < 2; ++i) {
        made.allocator = test_memory_allocator(&pair->memory[i]);
        assert_int_equal(ph_messages_create(&made, &pair->ends[i]), PH_OK);
        ph_link_def one_way = *link;
        one_way.key = (uint64_t)i;
        pair->links[i] = test_link_create(&one_way);
        pair->tick_us[i] = tick_us;
        pair->next_us[i] = START_US + (uint64_t)i * 1000;
    }
}

void bulk_pair_teardown(bulk_pair* pair)
{
    for (int i = 0; i < 2; ++i) {
        ph_link_destroy(pair->links[i]);
        ph_messages_destroy(pair->ends[i]);
        test_memory_assert_clean(&pair->memory[i]);
    }
}

static void receive(bulk_pair* pair, int at)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(pair->links[1 - at], pair->now_us, bytes, sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(ph_messages_unpack(pair->ends[at], pair->now_us, bytes, size, &rest),
                         PH_OK);
        assert_true(rest.size == 0 || rest.size == PACKET_SIZE);
    }
}

static void pack(bulk_pair* pair, int from, size_t packet_size, size_t planned)
{
    static const uint8_t packet[PACKET_SIZE];
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size =
        ph_messages_pack(pair->ends[from], packet_size > 0 ? packet : NULL, packet_size, bytes);
    assert_int_equal(size, planned + packet_size);
    pair->sent_bytes[from] += size;
    ++pair->datagrams[from];
    ph_link_send(pair->links[from], pair->now_us, bytes, size);
}

void bulk_pair_step(bulk_pair* pair)
{
    const int at = pair->next_us[1] < pair->next_us[0];
    pair->now_us = pair->next_us[at];
    pair->next_us[at] += pair->tick_us[at];
    receive(pair, at);
    pack(pair, at, PACKET_SIZE, ph_messages_plan(pair->ends[at], pair->now_us));
    size_t size;
    while ((size = ph_messages_plan_block(pair->ends[at], pair->now_us, INT64_MAX, 0)) > 0) {
        pack(pair, at, 0, size);
    }
    size = ph_messages_plan_alone(pair->ends[at], pair->now_us);
    if (size > 0) {
        pack(pair, at, 0, size);
    }
}

void bulk_pair_fill(uint8_t* bytes, size_t size, uint32_t tag)
{
    test_rng rng = {.state = tag};
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)test_rng_next(&rng);
    }
}

uint32_t bulk_pair_send(bulk_pair* pair, int from, uint32_t tag, size_t size)
{
    uint8_t* bytes = malloc(size);
    uint32_t id = 0;
    bulk_pair_fill(bytes, size, tag);
    assert_int_equal(ph_messages_send_block(pair->ends[from], tag, bytes, size, &id), PH_OK);
    free(bytes);
    return id;
}

uint32_t bulk_pair_receive(bulk_pair* pair, int at)
{
    ph_block block;
    if (!ph_messages_receive_block(pair->ends[at], &block)) {
        return 0;
    }
    uint8_t* expected = malloc(block.size);
    bulk_pair_fill(expected, block.size, block.tag);
    assert_memory_equal(block.bytes, expected, block.size);
    free(expected);
    return block.tag;
}
