// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bitset against an array of bool, at sizes around the word's edge.

#include "support/test_support.h"

#include "base/bitset.h"

#include <string.h>

enum { BIT_COUNT_MAX = 200, WORD_COUNT_MAX = 4 };

static const int SIZES[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 200};
enum { SIZE_COUNT = sizeof(SIZES) / sizeof(SIZES[0]) };

static int model_count(const bool* model, int bit_count)
{
    int count = 0;
    for (int i = 0; i < bit_count; ++i) {
        count += model[i];
    }
    return count;
}

static int model_next(const bool* model, int bit_count, int from)
{
    int i = from;
    while (i < bit_count && !model[i]) {
        ++i;
    }
    return i < bit_count ? i : bit_count;
}

static void words_are_counted_up(void** state)
{
    (void)state;
    assert_int_equal(ph_bitset_word_count(0), 0);
    assert_int_equal(ph_bitset_word_count(1), 1);
    assert_int_equal(ph_bitset_word_count(64), 1);
    assert_int_equal(ph_bitset_word_count(65), 2);
    assert_int_equal(ph_bitset_word_count(INT32_MAX), 1 << 25);
}

static void words_are_searched_and_counted(void** state)
{
    (void)state;
    for (int bit = 0; bit < 64; ++bit) {
        assert_int_equal(ph_word_lowest_bit(UINT64_MAX << bit), bit);
        assert_int_equal(ph_word_count_bits(UINT64_MAX << bit), 64 - bit);
    }
    assert_int_equal(ph_word_count_bits(0), 0);
}

static void making_clears_what_it_covers_and_no_more(void** state)
{
    (void)state;
    for (int k = 0; k < SIZE_COUNT; ++k) {
        uint64_t words[WORD_COUNT_MAX + 1];
        memset(words, 0xFF, sizeof(words));
        ph_bitset set = ph_bitset_make(words, SIZES[k]);
        assert_int_equal(ph_bitset_count(&set), 0);
        assert_int_equal(ph_bitset_next(&set, 0), SIZES[k]);
        assert_true(words[ph_bitset_word_count(SIZES[k])] == UINT64_MAX);
        assert_true(ph_bitset_validate(&set));
    }
}

static void bit_zero_is_lowest_in_word_zero(void** state)
{
    (void)state;
    uint64_t words[2];
    ph_bitset set = ph_bitset_make(words, 128);
    ph_bitset_set(&set, 0);
    ph_bitset_set(&set, 5);
    ph_bitset_set(&set, 127);
    assert_true(words[0] == 0x21);
    assert_true(words[1] == UINT64_C(1) << 63);
}

static void a_full_row_is_walked_bit_by_bit(void** state)
{
    (void)state;
    for (int k = 0; k < SIZE_COUNT; ++k) {
        uint64_t words[WORD_COUNT_MAX];
        // At the end of the array, so that ASan sees a read past the last word.
        int unused_count = WORD_COUNT_MAX - ph_bitset_word_count(SIZES[k]);
        ph_bitset set = ph_bitset_make(words + unused_count, SIZES[k]);
        for (int i = 0; i < SIZES[k]; ++i) {
            ph_bitset_set(&set, i);
        }
        assert_true(ph_bitset_validate(&set));
        assert_int_equal(ph_bitset_count(&set), SIZES[k]);
        int expected = 0;
        for (int i = ph_bitset_next(&set, 0); i < set.bit_count; i = ph_bitset_next(&set, i + 1)) {
            assert_int_equal(i, expected++);
        }
        assert_int_equal(expected, SIZES[k]);
        assert_int_equal(ph_bitset_next(&set, INT32_MAX), SIZES[k]);
    }
}

static void validate_sees_spare_bits(void** state)
{
    (void)state;
    uint64_t words[2];
    ph_bitset set = ph_bitset_make(words, 65);
    words[1] = 1;
    assert_true(ph_bitset_validate(&set));
    words[1] = 2;
    assert_false(ph_bitset_validate(&set));
}

static void random_changes_agree_with_an_array_of_bool(void** state)
{
    (void)state;
    test_rng rng = {.state = 3};
    for (int k = 1; k < SIZE_COUNT; ++k) {
        int bit_count = SIZES[k];
        bool model[BIT_COUNT_MAX] = {false};
        uint64_t words[WORD_COUNT_MAX];
        ph_bitset set = ph_bitset_make(words, bit_count);
        for (int step = 0; step < 5000; ++step) {
            int bit = (int)test_rng_below(&rng, (uint64_t)bit_count);
            bool wanted = test_rng_below(&rng, 8) == 0; // thin, so that whole words are empty
            if (wanted) {
                ph_bitset_set(&set, bit);
            } else {
                ph_bitset_clear(&set, bit);
            }
            model[bit] = wanted;
            int probe = (int)test_rng_below(&rng, (uint64_t)bit_count);
            assert_int_equal(ph_bitset_test(&set, probe), model[probe]);
            assert_int_equal(ph_bitset_next(&set, probe), model_next(model, bit_count, probe));
            assert_int_equal(ph_bitset_count(&set), model_count(model, bit_count));
            assert_true(ph_bitset_validate(&set));
        }
        ph_bitset_clear_all(&set);
        assert_int_equal(ph_bitset_count(&set), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted_up),
        cmocka_unit_test(words_are_searched_and_counted),
        cmocka_unit_test(making_clears_what_it_covers_and_no_more),
        cmocka_unit_test(bit_zero_is_lowest_in_word_zero),
        cmocka_unit_test(a_full_row_is_walked_bit_by_bit),
        cmocka_unit_test(validate_sees_spare_bits),
        cmocka_unit_test(random_changes_agree_with_an_array_of_bool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
