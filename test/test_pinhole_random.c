// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets of the pinhole profile over random schemas and baselines: they cost what was promised and
// come back, both ends go on with the same baselines, and what is accepted is what a sender writes.

#include "packet/pinhole_records.h"

#include "support/pinhole_pair.h"

#include <string.h>

enum { SCHEMAS = 150, PACKETS = 24, MUTATIONS = 12 };

typedef struct fixture {
    pinhole_pair pair;
    pinhole_end sender;
    pinhole_end client;
    pinhole_packet sent;
    pinhole_packet read;
    uint8_t bytes[PINHOLE_BYTES_MAX];
    uint8_t again[PINHOLE_BYTES_MAX];
} fixture;

static void setup(fixture* f, test_rng* rng)
{
    pinhole_pair_setup(&f->pair, rng);
    memset(&f->sender, 0, sizeof f->sender);
    memset(&f->client, 0, sizeof f->client);
}

// References come back with two bits of their association.
static void assert_same_value(const ph_layout* layout, int property, const ph_record* sent,
                              const ph_record* read)
{
    const ph_property* described = &layout->described->properties[property];
    uint32_t expected[PH_VALUE_WORDS_MAX];
    memcpy(expected, sent->words + layout->word[property],
           (size_t)described->words * sizeof expected[0]);
    if (described->def.coding == PH_CODING_ENTITY) {
        expected[1] &= 3;
    }
    assert_memory_equal(read->words + layout->word[property], expected,
                        (size_t)described->words * sizeof expected[0]);
    if (described->is_text) {
        const ph_text a = ph_layout_text(layout, sent->texts, property);
        const ph_text b = ph_layout_text(layout, read->texts, property);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.bytes, b.bytes, (size_t)described->def.max_length + 1);
    }
}

static void assert_same_record(const fixture* f, const ph_pinhole_record* sent,
                               const ph_pinhole_record* read)
{
    assert_int_equal(read->record.slot, sent->record.slot);
    if (sent->record.kind != PH_RECORD_UPDATE) {
        assert_int_equal(read->record.association, sent->record.association & 3);
    }
    if (sent->record.kind == PH_RECORD_LEAVE) {
        return;
    }
    const ph_layout* layout = &f->pair.layouts.layouts[sent->record.class_index];
    assert_int_equal(read->record.class_index, sent->record.class_index);
    assert_true(read->record.properties == sent->record.properties);
    assert_true(read->record.is_jump == sent->record.is_jump);
    assert_true(read->record.key == sent->record.key);
    assert_int_equal(read->coarse, sent->coarse);
    assert_memory_equal(read->record.spin, sent->record.spin, sizeof sent->record.spin);
    if (sent->record.kind == PH_RECORD_UPDATE &&
        (sent->record.properties & layout->orientation) != 0) {
        assert_int_equal(read->rotation_coarse, sent->rotation_coarse);
    }
    assert_memory_equal(read->record.velocity, sent->record.velocity, sizeof sent->record.velocity);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if ((sent->record.properties >> i & 1) != 0) {
            assert_same_value(layout, i, &sent->record, &read->record);
        } else {
            const uint32_t word = read->record.words[layout->word[i]];
            const uint32_t initial = layout->described->properties[i].initial[0];
            const bool is_enter = sent->record.kind == PH_RECORD_ENTER;
            assert_true(word == 0xABABABAB || (is_enter && word == initial));
        }
    }
}

static void what_is_written_costs_its_price_and_comes_back(void** state)
{
    (void)state;
    test_rng rng = {.state = 1234};
    static fixture f;
    for (int i = 0; i < SCHEMAS; ++i) {
        setup(&f, &rng);
        for (int k = 0; k < PACKETS; ++k) {
            pinhole_pair_next(&f.pair, &rng);
            pinhole_pair_fill(&f.pair, &f.sender, &f.sent, &rng);
            uint64_t cost256;
            const size_t size = pinhole_pair_write(&f.pair, &f.sender, &f.sent, f.bytes, &cost256);
            const uint64_t most_bits =
                (cost256 + PH_COST_PER_BIT - 1) / PH_COST_PER_BIT + PH_PINHOLE_SLACK_BITS;
            assert_true(size > 0 && size <= (most_bits + 7) / 8);
            assert_int_equal(pinhole_pair_read(&f.pair, &f.client, f.bytes, size, &f.read), PH_OK);
            assert_int_equal(f.read.count, f.sent.count);
            for (int r = 0; r < f.sent.count; ++r) {
                assert_same_record(&f, &f.sent.coded[r], &f.read.coded[r]);
            }
            pinhole_pair_take(&f.pair, &f.sender, &f.sent);
            pinhole_pair_take(&f.pair, &f.client, &f.read);
            assert_true(pinhole_pair_digest(&f.pair, &f.sender) ==
                        pinhole_pair_digest(&f.pair, &f.client));
        }
        pinhole_pair_teardown(&f.pair);
    }
}

// Bills say the same as the sum.
static void a_bill_adds_up_to_the_cost(void** state)
{
    (void)state;
    test_rng rng = {.state = 77};
    static fixture f;
    for (int i = 0; i < SCHEMAS / 4; ++i) {
        setup(&f, &rng);
        for (int k = 0; k < PACKETS; ++k) {
            pinhole_pair_next(&f.pair, &rng);
            pinhole_pair_fill(&f.pair, &f.sender, &f.sent, &rng);
            for (int r = 0; r < f.sent.count; ++r) {
                ph_record_bits stats = {0};
                const uint32_t cost256 =
                    ph_pinhole_cost256(&f.pair.frame, &f.sent.coded[r], &stats);
                uint64_t total = (uint64_t)stats.slot_bits + stats.mask_bits;
                for (int p = 0; p < PH_PROPERTIES_MAX; ++p) {
                    total += stats.property_bits[p];
                }
                assert_true(total == cost256);
            }
            pinhole_pair_take(&f.pair, &f.sender, &f.sent);
        }
        pinhole_pair_teardown(&f.pair);
    }
}

static void check_mutated(fixture* f, size_t size, test_rng* rng)
{
    memcpy(f->again, f->bytes, size);
    const int flips = 1 + (int)test_rng_below(rng, 3);
    for (int i = 0; i < flips; ++i) {
        f->again[test_rng_below(rng, size)] ^= (uint8_t)(1u << test_rng_below(rng, 8));
    }
    if (pinhole_pair_read(&f->pair, &f->client, f->again, size, &f->read) != PH_OK) {
        return;
    }
    static uint8_t rewritten[PINHOLE_BYTES_MAX];
    uint64_t cost256;
    assert_int_equal(pinhole_pair_write(&f->pair, &f->client, &f->read, rewritten, &cost256), size);
    assert_memory_equal(rewritten, f->again, size);
}

static void what_is_accepted_is_what_a_sender_writes(void** state)
{
    (void)state;
    test_rng rng = {.state = 4321};
    static fixture f;
    for (int i = 0; i < SCHEMAS; ++i) {
        setup(&f, &rng);
        for (int k = 0; k < PACKETS; ++k) {
            pinhole_pair_next(&f.pair, &rng);
            pinhole_pair_fill(&f.pair, &f.sender, &f.sent, &rng);
            uint64_t cost256;
            const size_t size = pinhole_pair_write(&f.pair, &f.sender, &f.sent, f.bytes, &cost256);
            for (int m = 0; m < MUTATIONS; ++m) {
                check_mutated(&f, size, &rng);
            }
            pinhole_pair_take(&f.pair, &f.sender, &f.sent);
            pinhole_pair_take(&f.pair, &f.client, &f.sent);
        }
        pinhole_pair_teardown(&f.pair);
    }
}

// Packets get lost; both ends take in the same ones, in order.
static void both_ends_agree_whatever_is_lost(void** state)
{
    (void)state;
    test_rng rng = {.state = 5150};
    static fixture f;
    for (int i = 0; i < SCHEMAS / 3; ++i) {
        setup(&f, &rng);
        for (int k = 0; k < 2 * PACKETS; ++k) {
            pinhole_pair_next(&f.pair, &rng);
            pinhole_pair_fill(&f.pair, &f.sender, &f.sent, &rng);
            uint64_t cost256;
            const size_t size = pinhole_pair_write(&f.pair, &f.sender, &f.sent, f.bytes, &cost256);
            if (test_rng_below(&rng, 3) == 0) {
                continue;
            }
            assert_int_equal(pinhole_pair_read(&f.pair, &f.client, f.bytes, size, &f.read), PH_OK);
            pinhole_pair_take(&f.pair, &f.client, &f.read);
            pinhole_pair_take(&f.pair, &f.sender, &f.sent);
            assert_true(pinhole_pair_digest(&f.pair, &f.sender) ==
                        pinhole_pair_digest(&f.pair, &f.client));
        }
        pinhole_pair_teardown(&f.pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_costs_its_price_and_comes_back),
        cmocka_unit_test(a_bill_adds_up_to_the_cost),
        cmocka_unit_test(what_is_accepted_is_what_a_sender_writes),
        cmocka_unit_test(both_ends_agree_whatever_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
