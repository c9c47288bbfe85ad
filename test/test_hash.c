// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The hash: the same numbers for ever, however the bytes arrive, and well scattered.

#include "support/test_support.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void* bytes, size_t size, uint64_t seed)
{
    ph_hash hash = ph_hash_make(seed);
    ph_hash_add(&hash, bytes, size);
    return ph_hash_value(&hash);
}

static int compare_u64(const void* a, const void* b)
{
    uint64_t left = *(const uint64_t*)a;
    uint64_t right = *(const uint64_t*)b;
    return (left > right) - (left < right);
}

static void assert_all_different(uint64_t* hashes, size_t count)
{
    qsort(hashes, count, sizeof(hashes[0]), compare_u64);
    for (size_t i = 1; i < count; ++i) {
        assert_true(hashes[i - 1] != hashes[i]);
    }
}

// Stored fingerprints rest on these: when they change, old recordings no longer match.
static void the_numbers_never_change(void** state)
{
    (void)state;
    assert_true(ph_hash_mix(0) == 0);
    // The published first number of splitmix64 for the seed 1234567.
    assert_true(ph_hash_mix(UINT64_C(1234567) + UINT64_C(0x9E3779B97F4A7C15)) ==
                UINT64_C(6457827717110365317));
    assert_true(ph_hash_key(1, 2) == UINT64_C(0x685873DC5799652A));
    assert_true(hash_of("", 0, 0) == UINT64_C(0x238275BC38FCBE91));
    assert_true(hash_of("pinhole", 7, 0) == UINT64_C(0x6CDE093450F54D54));
    assert_true(hash_of("a pinhole camera", 16, 1) == UINT64_C(0xA9E9D27ECB863D73));
}

// An independent form of the same digest: collects all bytes first, then goes over whole words.
static uint64_t slow_hash(const uint8_t* bytes, size_t size, uint64_t seed)
{
    const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t value = ph_hash_mix(seed + step);
    for (size_t start = 0; start + 8 <= size; start += 8) {
        uint64_t word = 0;
        for (size_t i = 8; i > 0; --i) {
            word = word * 256 + bytes[start + i - 1];
        }
        value = ph_hash_mix((value ^ word) + step);
    }
    uint64_t rest = 0;
    for (size_t i = size % 8; i > 0; --i) {
        rest = rest * 256 + bytes[size / 8 * 8 + i - 1];
    }
    value = ph_hash_mix((value ^ rest) + step);
    return ph_hash_mix((value ^ size) + step);
}

static void cuts_and_alignment_make_no_difference(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    for (int round = 0; round < 5000; ++round) {
        uint8_t room[128];
        size_t size = test_rng_below(&rng, 100);
        uint8_t* bytes = room + test_rng_below(&rng, 16);
        for (size_t i = 0; i < size; ++i) {
            bytes[i] = (uint8_t)test_rng_next(&rng);
        }
        uint64_t seed = test_rng_next(&rng);
        ph_hash hash = ph_hash_make(seed);
        size_t done = 0;
        while (done < size) {
            size_t piece = test_rng_below(&rng, size - done + 1);
            ph_hash_add(&hash, bytes + done, piece);
            done += piece;
        }
        assert_true(ph_hash_value(&hash) == slow_hash(bytes, size, seed));
        assert_true(ph_hash_value(&hash) == hash_of(bytes, size, seed));
    }
}

static void a_word_is_eight_bytes_lowest_first(void** state)
{
    (void)state;
    const uint8_t bytes[] = {8, 7, 6, 5, 4, 3, 2, 1};
    for (size_t lead = 0; lead < 9; ++lead) {
        ph_hash by_word = ph_hash_make(1);
        ph_hash by_byte = ph_hash_make(1);
        ph_hash_add(&by_word, "123456789", lead);
        ph_hash_add(&by_byte, "123456789", lead);
        ph_hash_add_u64(&by_word, UINT64_C(0x0102030405060708));
        ph_hash_add(&by_byte, bytes, sizeof(bytes));
        assert_memory_equal(&by_word, &by_byte, sizeof(by_word));
    }
}

static void reading_the_value_disturbs_nothing(void** state)
{
    (void)state;
    ph_hash hash = ph_hash_make(0);
    ph_hash_add(&hash, NULL, 0);
    assert_true(ph_hash_value(&hash) == hash_of("", 0, 0));
    ph_hash_add(&hash, "pin", 3);
    assert_true(ph_hash_value(&hash) == hash_of("pin", 3, 0));
    ph_hash_add(&hash, "hole", 4);
    assert_true(ph_hash_value(&hash) == hash_of("pinhole", 7, 0));
}

enum { SHORT_COUNT = 1 + 256 + 65536 + 64 };

// The empty message, all of one and of two bytes, and zeros of any length.
static void short_messages_do_not_collide(void** state)
{
    (void)state;
    static uint64_t hashes[SHORT_COUNT];
    size_t count = 0;
    hashes[count++] = hash_of("", 0, 0);
    for (unsigned i = 0; i < 256; ++i) {
        uint8_t one = (uint8_t)i;
        hashes[count++] = hash_of(&one, 1, 0);
        for (unsigned k = 0; k < 256; ++k) {
            const uint8_t two[] = {(uint8_t)i, (uint8_t)k};
            hashes[count++] = hash_of(two, 2, 0);
        }
    }
    const uint8_t zeros[66] = {0};
    for (size_t size = 3; size <= 66; ++size) {
        hashes[count++] = hash_of(zeros, size, 0);
    }
    assert_int_equal(count, SHORT_COUNT);
    assert_all_different(hashes, count);
}

// Two words, each with few bits set: where weak digests cancel out.
static void words_do_not_cancel_out(void** state)
{
    (void)state;
    static uint64_t hashes[65 * 65];
    size_t count = 0;
    for (unsigned i = 0; i <= 64; ++i) {
        for (unsigned k = 0; k <= 64; ++k) {
            ph_hash hash = ph_hash_make(0);
            ph_hash_add_u64(&hash, i < 64 ? UINT64_C(1) << i : 0);
            ph_hash_add_u64(&hash, k < 64 ? UINT64_C(1) << k : 0);
            hashes[count++] = ph_hash_value(&hash);
        }
    }
    assert_all_different(hashes, count);
}

static void seeds_give_unrelated_digests(void** state)
{
    (void)state;
    static uint64_t hashes[10000];
    for (uint64_t i = 0; i < 10000; ++i) {
        hashes[i] = hash_of("pinhole", 7, i);
    }
    assert_all_different(hashes, 10000);
}

enum { AVALANCHE_ROUNDS = 4096 };

typedef uint64_t hash_function(uint64_t bits);

static uint64_t key_hash(uint64_t bits)
{
    return ph_hash_key(bits, 12345);
}

static uint64_t seed_hash(uint64_t bits)
{
    return ph_hash_key(12345, bits);
}

static uint64_t digest_hash(uint64_t bits)
{
    ph_hash hash = ph_hash_make(0);
    ph_hash_add_u64(&hash, bits);
    return ph_hash_value(&hash);
}

// Each input bit flips each output bit half of the time. One standard deviation is 0.8 %; the
// worst of 4096 honest coins stays within five of them.
static void assert_avalanche(hash_function* function)
{
    test_rng rng = {.state = 9};
    for (unsigned bit = 0; bit < 64; ++bit) {
        int flips[64] = {0};
        for (int round = 0; round < AVALANCHE_ROUNDS; ++round) {
            uint64_t bits = test_rng_next(&rng);
            uint64_t changed = function(bits) ^ function(bits ^ UINT64_C(1) << bit);
            for (unsigned i = 0; i < 64; ++i) {
                flips[i] += (int)(changed >> i & 1);
            }
        }
        for (unsigned i = 0; i < 64; ++i) {
            assert_in_range(flips[i], AVALANCHE_ROUNDS * 45 / 100, AVALANCHE_ROUNDS * 55 / 100);
        }
    }
}

static void one_bit_changes_half_of_the_bits(void** state)
{
    (void)state;
    assert_avalanche(ph_hash_mix);
    assert_avalanche(key_hash);
    assert_avalanche(seed_hash);
    assert_avalanche(digest_hash);
}

enum { BUCKET_COUNT = 1024, KEYS_PER_BUCKET = 16 };

// Keys as games give them: numbers in a row, with any stride. The low bits choose the bucket.
// Evenly at random, a bucket with more than 48 of 16 expected keys comes once in 10^10.
static void keys_in_a_row_spread_over_buckets(void** state)
{
    (void)state;
    for (unsigned shift = 0; shift < 50; ++shift) {
        int counts[BUCKET_COUNT] = {0};
        int empty_count = BUCKET_COUNT;
        for (uint64_t i = 0; i < BUCKET_COUNT * KEYS_PER_BUCKET; ++i) {
            uint64_t bucket = ph_hash_key(i << shift, 77) % BUCKET_COUNT;
            empty_count -= counts[bucket]++ == 0;
            assert_true(counts[bucket] <= 3 * KEYS_PER_BUCKET);
        }
        assert_in_range(empty_count, 0, 2);
    }
}

// Keys chosen to meet in one bucket under one seed are spread again under another.
static void a_new_seed_parts_colliding_keys(void** state)
{
    (void)state;
    uint64_t key = 0;
    int still_together = 0;
    for (int found = 0; found < 2000; ++key) {
        if (ph_hash_key(key, 1) % BUCKET_COUNT == 0) {
            ++found;
            still_together += ph_hash_key(key, 2) % BUCKET_COUNT == 0;
        }
    }
    assert_in_range(still_together, 0, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_never_change),
        cmocka_unit_test(cuts_and_alignment_make_no_difference),
        cmocka_unit_test(a_word_is_eight_bytes_lowest_first),
        cmocka_unit_test(reading_the_value_disturbs_nothing),
        cmocka_unit_test(short_messages_do_not_collide),
        cmocka_unit_test(words_do_not_cancel_out),
        cmocka_unit_test(seeds_give_unrelated_digests),
        cmocka_unit_test(one_bit_changes_half_of_the_bits),
        cmocka_unit_test(keys_in_a_row_spread_over_buckets),
        cmocka_unit_test(a_new_seed_parts_colliding_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
