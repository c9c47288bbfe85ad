// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "mail_pair.h"

#include <string.h>

void mail_pair_setup(mail_pair* pair, const ph_mail_def* def)
{
    *pair = (mail_pair){.now_us = 1000000};
    ph_mail_def made = ph_mail_def_default();
    made.bits_per_second = 0;
    made = def != NULL ? *def : made;
    made.allocator = test_memory_allocator(&pair->memory);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_mail_create(&made, &pair->ends[i]), PH_OK);
    }
}

void mail_pair_teardown(mail_pair* pair)
{
    assert_int_equal(pair->memory.allocate_count, 2);
    ph_mail_destroy(pair->ends[0]);
    ph_mail_destroy(pair->ends[1]);
    test_memory_assert_clean(&pair->memory);
}

size_t mail_pair_carry(mail_pair* pair, int from, bool arrives)
{
    uint8_t bytes[PH_MAIL_DATAGRAM_MAX];
    const size_t size = ph_mail_write(pair->ends[from], pair->now_us, PH_MAIL_DATAGRAM_MAX, bytes);
    if (arrives) {
        size_t used;
        assert_int_equal(ph_mail_read(pair->ends[1 - from], pair->now_us, bytes, size, &used),
                         PH_OK);
        assert_int_equal(used, size);
    }
    return size;
}

void mail_pair_exchange(mail_pair* pair, int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        mail_pair_carry(pair, 0, true);
        mail_pair_carry(pair, 1, true);
        pair->now_us += 50000;
    }
}

void mail_pair_fill(uint8_t* bytes, size_t size, uint32_t number)
{
    test_rng rng = {.state = number};
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)test_rng_next(&rng);
    }
}

ph_result mail_pair_post(mail_pair* pair, int from, size_t size, uint32_t number)
{
    uint8_t bytes[PH_MAIL_MESSAGE_MAX];
    mail_pair_fill(bytes, size, number);
    return ph_mail_post(pair->ends[from], bytes, size);
}

void mail_pair_expect(mail_pair* pair, int at, size_t size, uint32_t number)
{
    uint8_t expected[PH_MAIL_MESSAGE_MAX];
    uint8_t bytes[PH_MAIL_MESSAGE_MAX];
    mail_pair_fill(expected, size, number);
    assert_int_equal(ph_mail_take(pair->ends[at], bytes), size);
    assert_memory_equal(bytes, expected, size);
}

void mail_pair_expect_nothing(mail_pair* pair, int at)
{
    uint8_t bytes[PH_MAIL_MESSAGE_MAX];
    assert_int_equal(ph_mail_take(pair->ends[at], bytes), 0);
}
