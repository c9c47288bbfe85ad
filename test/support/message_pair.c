// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "message_pair.h"
#include "tools/tools.h"

#include <string.h>

void message_pair_setup(message_pair* pair, const ph_messages_def* def)
{
    *pair = (message_pair){.now_us = 1000000};
    ph_messages_def made = ph_messages_def_default();
    made.bits_per_second = 0;
    made = def != NULL ? *def : made;
    made.allocator = test_memory_allocator(&pair->memory);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_messages_create(&made, &pair->ends[i]), PH_OK);
    }
}

void message_pair_teardown(message_pair* pair)
{
    assert_int_equal(pair->memory.allocate_count, 2);
    ph_messages_destroy(pair->ends[0]);
    ph_messages_destroy(pair->ends[1]);
    test_memory_assert_clean(&pair->memory);
}

size_t message_pair_carry(message_pair* pair, int from, bool arrives)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size =
        ph_messages_write_section(pair->ends[from], pair->now_us, PH_PAYLOAD_MAX, bytes);
    if (arrives) {
        size_t used;
        assert_int_equal(
            ph_messages_read_section(pair->ends[1 - from], pair->now_us, bytes, size, &used),
            PH_OK);
        assert_int_equal(used, size);
    }
    return size;
}

void message_pair_exchange(message_pair* pair, int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        message_pair_carry(pair, 0, true);
        message_pair_carry(pair, 1, true);
        pair->now_us += 50000;
    }
}

void message_pair_fill(uint8_t* bytes, size_t size, uint32_t number)
{
    test_rng rng = {.state = number};
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)test_rng_next(&rng);
    }
}

ph_result message_pair_post(message_pair* pair, int from, size_t size, uint32_t number)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    message_pair_fill(bytes, size, number);
    return ph_messages_send(pair->ends[from], bytes, size);
}

void message_pair_expect(message_pair* pair, int at, size_t size, uint32_t number)
{
    uint8_t expected[PH_MESSAGE_SIZE_MAX];
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    message_pair_fill(expected, size, number);
    assert_int_equal(ph_messages_receive(pair->ends[at], bytes), size);
    assert_memory_equal(bytes, expected, size);
}

void message_pair_expect_nothing(message_pair* pair, int at)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    assert_int_equal(ph_messages_receive(pair->ends[at], bytes), 0);
}
