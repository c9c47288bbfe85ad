// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "packet/header.h"

#include "support/test_support.h"

#include <string.h>

static void golden_bytes(void** state)
{
    (void)state;
    const ph_ack ack = {
        .newest = 0x11223344, .applied = UINT64_C(0x8877665544332211), .lag_ms = 0x99};
    const uint8_t expected[PH_ACK_SIZE] = {0x44, 0x33, 0x22, 0x11, 0x11, 0x22, 0x33,
                                           0x44, 0x55, 0x66, 0x77, 0x88, 0x99};
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&ack, bytes);
    assert_memory_equal(bytes, expected, sizeof expected);

    ph_ack read = {0};
    assert_true(ph_ack_read(bytes, sizeof bytes, &read));
    assert_int_equal(read.newest, 0x11223344);
    assert_true(read.applied == ack.applied);
    assert_int_equal(read.lag_ms, 0x99);
}

static void another_size_is_no_ack(void** state)
{
    (void)state;
    const uint8_t bytes[PH_ACK_SIZE + 1] = {1, 2, 3};
    const size_t sizes[] = {0, 1, PH_ACK_SIZE - 1, PH_ACK_SIZE + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        ph_ack ack = {.newest = 7, .applied = 9};
        assert_false(ph_ack_read(bytes, sizes[i], &ack));
        assert_int_equal(ack.newest, 7);
        assert_int_equal(ack.applied, 9);
    }
    ph_ack ack;
    assert_false(ph_ack_read(NULL, 0, &ack));
}

static void a_session_begins_with_nothing_applied(void** state)
{
    (void)state;
    const ph_receipt receipt = ph_receipt_make(500);
    const ph_ack ack = receipt;
    assert_int_equal(ack.newest, 500);
    assert_true(ack.applied == 0);
    assert_int_equal(ph_receipt_judge(&receipt, 500, 500), PH_NEWS_OLD);
    assert_int_equal(ph_receipt_judge(&receipt, 501, 500), PH_NEWS_NEW);
}

static void numbers_up_to_the_newest_are_old(void** state)
{
    (void)state;
    const ph_receipt receipt = {.newest = 1000};
    assert_int_equal(ph_receipt_judge(&receipt, 1000, 990), PH_NEWS_OLD);
    assert_int_equal(ph_receipt_judge(&receipt, 999, 990), PH_NEWS_OLD);
    assert_int_equal(ph_receipt_judge(&receipt, 1000 + UINT32_C(0x80000000), 990), PH_NEWS_OLD);
    // Whatever its horizon: it is dropped unread.
    assert_int_equal(ph_receipt_judge(&receipt, 1000, 5000), PH_NEWS_OLD);
    assert_int_equal(ph_receipt_judge(&receipt, 1001, 990), PH_NEWS_NEW);
}

static void a_horizon_that_no_sender_can_have_sent_is_impossible(void** state)
{
    (void)state;
    const ph_receipt receipt = {.newest = 1000};
    assert_int_equal(ph_receipt_judge(&receipt, 1002, 1000), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 1002, 1001), PH_NEWS_IMPOSSIBLE);
    assert_int_equal(ph_receipt_judge(&receipt, 1002, 1003), PH_NEWS_IMPOSSIBLE);
}

static void at_most_64_packets_are_in_flight(void** state)
{
    (void)state;
    const ph_receipt receipt = {.newest = 1000};
    assert_int_equal(ph_receipt_judge(&receipt, 1064, 1000), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 1065, 1000), PH_NEWS_IMPOSSIBLE);
    assert_int_equal(ph_receipt_judge(&receipt, 1001, 1001 - 64), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 1001, 1001 - 65), PH_NEWS_IMPOSSIBLE);
}

// Its horizon is its own number, because it does not tell one.
static void a_probe_is_at_most_64_ahead(void** state)
{
    (void)state;
    const ph_receipt receipt = {.newest = 1000};
    assert_int_equal(ph_receipt_judge(&receipt, 1000, 1000), PH_NEWS_OLD);
    assert_int_equal(ph_receipt_judge(&receipt, 1001, 1001), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 1064, 1064), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 1065, 1065), PH_NEWS_IMPOSSIBLE);
}

static void numbers_wrap(void** state)
{
    (void)state;
    ph_receipt receipt = {.newest = UINT32_MAX - 1, .applied = 1};
    assert_int_equal(ph_receipt_judge(&receipt, 2, UINT32_MAX - 3), PH_NEWS_NEW);
    assert_int_equal(ph_receipt_judge(&receipt, 2, 1), PH_NEWS_IMPOSSIBLE);
    ph_receipt_note(&receipt, 2, true);
    assert_int_equal(receipt.newest, 2);
    assert_true(receipt.applied == (1 | 1 << 4));
    assert_int_equal(ph_receipt_judge(&receipt, UINT32_MAX, UINT32_MAX - 3), PH_NEWS_OLD);
}

static void an_ack_has_a_bit_for_each_of_64_packets(void** state)
{
    (void)state;
    ph_receipt receipt = ph_receipt_make(0);
    ph_receipt_note(&receipt, 1, true);
    ph_receipt_note(&receipt, 2, false);
    ph_receipt_note(&receipt, 3, true);
    assert_true(receipt.applied == 5);
    // 4 to 63 were never heard of
    ph_receipt_note(&receipt, 64, true);
    assert_true(receipt.applied == (UINT64_C(5) << 61 | 1));
    ph_receipt_note(&receipt, 65, true);
    assert_true(receipt.applied == (UINT64_C(1) << 62 | 3));
    // Exactly as far as a jump can be, and nothing is left of what was before.
    ph_receipt_note(&receipt, 65 + 64, true);
    assert_true(receipt.applied == 1);
    ph_receipt_note(&receipt, 65 + 64 + 63, false);
    assert_true(receipt.applied == UINT64_C(1) << 63);
}

// Against a list of all numbers.
static void remembers_what_was_applied(void** state)
{
    (void)state;
    test_rng rng = {.state = 64};
    enum { COUNT = 3000 };
    static bool is_applied[COUNT];
    ph_receipt receipt = ph_receipt_make(0);
    uint32_t newest = 0;
    while (newest + 64 < COUNT) {
        newest += 1 + (uint32_t)test_rng_below(&rng, 3) * (uint32_t)test_rng_below(&rng, 30);
        is_applied[newest] = test_rng_below(&rng, 3) != 0;
        ph_receipt_note(&receipt, newest, is_applied[newest]);
        const ph_ack ack = receipt;
        assert_int_equal(ack.newest, newest);
        for (uint32_t i = 0; i < 64 && i <= newest; ++i) {
            assert_int_equal(ack.applied >> i & 1, is_applied[newest - i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(another_size_is_no_ack),
        cmocka_unit_test(a_session_begins_with_nothing_applied),
        cmocka_unit_test(numbers_up_to_the_newest_are_old),
        cmocka_unit_test(a_horizon_that_no_sender_can_have_sent_is_impossible),
        cmocka_unit_test(at_most_64_packets_are_in_flight),
        cmocka_unit_test(a_probe_is_at_most_64_ahead),
        cmocka_unit_test(numbers_wrap),
        cmocka_unit_test(an_ack_has_a_bit_for_each_of_64_packets),
        cmocka_unit_test(remembers_what_was_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
