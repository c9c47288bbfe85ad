// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records over random schemas, values and eyes: what is written costs what was promised, comes back
// as it went, and nothing else comes back.

#include "packet/classic_records.h"

#include "support/random_record.h"

#include <string.h>

enum { SCHEMAS = 120, RECORDS = 60, BYTES_MAX = PH_PAYLOAD_MAX };

typedef struct fixture {
    random_stage stage;
    random_record sent;
    random_record read;
} fixture;

static uint64_t stats_total(const ph_record_bits* stats)
{
    uint64_t bits = (uint64_t)stats->slot_bits + stats->mask_bits;
    for (int i = 0; i < PH_PROPERTIES_MAX; ++i) {
        bits += stats->property_bits[i];
    }
    return bits;
}

static void read_record(const ph_frame* frame, ph_bit_reader* reader, ph_record* record,
                        uint8_t kind, uint8_t class_index)
{
    record->kind = kind;
    ph_classic_read_slot(frame, reader, record);
    if (kind == PH_RECORD_LEAVE) {
        return;
    }
    record->class_index = class_index;
    if (kind == PH_RECORD_ENTER) {
        ph_classic_read_key(frame, reader, record);
    }
    ph_classic_read_body(frame, reader, record);
}

// References come back with two bits of their association.
static void assert_same_value(const ph_layout* layout, int property, const random_record* sent,
                              const random_record* read)
{
    const uint64_t bit = UINT64_C(1) << property;
    const ph_property* described = &layout->described->properties[property];
    uint32_t expected[PH_VALUE_WORDS_MAX];
    memcpy(expected, sent->words + layout->word[property],
           (size_t)described->words * sizeof expected[0]);
    if ((layout->references & bit) != 0) {
        expected[1] &= 3;
    }
    assert_memory_equal(read->words + layout->word[property], expected,
                        (size_t)described->words * sizeof expected[0]);
    if ((layout->texts & bit) != 0) {
        const ph_text a = ph_layout_text(layout, sent->texts, property);
        const ph_text b = ph_layout_text(layout, read->texts, property);
        assert_int_equal(a.length, b.length);
        // The zeros behind the content, too.
        assert_memory_equal(a.bytes, b.bytes, (size_t)described->def.max_length + 1);
    }
}

static void assert_same(const fixture* f)
{
    const ph_record* sent = &f->sent.record;
    const ph_record* read = &f->read.record;
    assert_int_equal(read->slot, sent->slot);
    assert_int_equal(read->association, sent->association & 3);
    if (sent->kind == PH_RECORD_LEAVE) {
        return;
    }
    const ph_layout* layout = &f->stage.layouts.layouts[sent->class_index];
    assert_int_equal(read->class_index, sent->class_index);
    assert_true(read->properties == sent->properties);
    assert_true(read->is_jump == sent->is_jump);
    assert_true(sent->kind != PH_RECORD_ENTER || read->key == sent->key);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if ((sent->properties >> i & 1) != 0) {
            assert_same_value(layout, i, &f->sent, &f->read);
        } else {
            // Not told, not touched.
            assert_int_equal(f->read.words[layout->word[i]], 0xABABABAB);
        }
    }
}

// By itself an update is the same bits, and its bit statistics are those of the cost, property by property.
static void assert_update_by_itself(const fixture* f, const ph_record* sent,
                                    const ph_record_bits* cost)
{
    const ph_layout* layout = &f->stage.layouts.layouts[sent->class_index];
    uint8_t bytes[PH_CLASSIC_RECORD_BYTES] = {0};
    uint8_t copied[BYTES_MAX] = {0};
    uint8_t written[BYTES_MAX] = {0};
    ph_record_bits stats;
    const int bits = ph_classic_write_update(&f->stage.frame, sent, bytes, &stats);
    assert_int_equal(bits, stats_total(cost));
    assert_true(ph_classic_least_bits(&f->stage.frame, layout, sent->properties) <= bits);
    assert_int_equal(stats.slot_bits, cost->slot_bits);
    assert_int_equal(stats.mask_bits, cost->mask_bits);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        const bool is_told = (sent->properties >> i & 1) != 0;
        assert_int_equal(is_told ? stats.property_bits[i] : 0, cost->property_bits[i]);
    }
    ph_bit_writer copy = ph_bit_writer_make(copied, sizeof copied);
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_classic_write_kept(bytes, bits, &copy);
    ph_classic_write_record(&f->stage.frame, sent, &writer);
    assert_int_equal(ph_bit_writer_finish(&copy), ph_bit_writer_finish(&writer));
    assert_memory_equal(copied, written, sizeof copied);
    assert_memory_equal(bytes, written, (size_t)(bits + 7) / 8);
}

static void check_one(void* context, test_rng* rng)
{
    fixture* f = context;
    random_record_make(&f->sent, &f->stage.frame, rng);
    const ph_record* sent = &f->sent.record;
    uint8_t bytes[BYTES_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    const int before_bits = (int)test_rng_below(rng, 8);
    ph_bits_write(&writer, 0, before_bits);
    ph_classic_write_record(&f->stage.frame, sent, &writer);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);

    ph_record_bits stats = {0};
    const int cost_bits = ph_classic_record_bits(&f->stage.frame, sent, &stats);
    assert_int_equal(ph_bit_writer_size_bits(&writer), before_bits + cost_bits);
    assert_true(stats_total(&stats) == (uint64_t)cost_bits);
    assert_int_equal(ph_classic_record_bits(&f->stage.frame, sent, NULL), cost_bits);
    if (sent->kind == PH_RECORD_UPDATE) {
        assert_update_by_itself(f, sent, &stats);
    }
    if (sent->kind == PH_RECORD_ENTER) {
        assert_true(cost_bits <= f->stage.layouts.layouts[sent->class_index].enter_bits_max);
    }

    f->read.record = (ph_record){.words = f->read.words, .texts = f->read.texts};
    memset(f->read.words, 0xAB, sizeof f->read.words);
    memset(f->read.texts, 0xAB, sizeof f->read.texts);
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    (void)ph_bits_read(&reader, before_bits);
    read_record(&f->stage.frame, &reader, &f->read.record, sent->kind, sent->class_index);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    assert_same(f);
}

static void what_is_written_costs_its_price_and_comes_back(void** state)
{
    (void)state;
    test_rng rng = {.state = 4711};
    static fixture f;
    random_stage_each(&f.stage, SCHEMAS, RECORDS, &rng, check_one, &f);
}

// Mutates a record; whatever is still accepted must be what a sender would have written.
static void check_mutated(void* context, test_rng* rng)
{
    fixture* f = context;
    random_record_make(&f->sent, &f->stage.frame, rng);
    uint8_t bytes[BYTES_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_classic_write_record(&f->stage.frame, &f->sent.record, &writer);
    const size_t size = ph_bit_writer_finish(&writer);
    const int flips = 1 + (int)test_rng_below(rng, 3);
    for (int i = 0; i < flips; ++i) {
        bytes[test_rng_below(rng, size)] ^= (uint8_t)(1u << test_rng_below(rng, 8));
    }
    const uint8_t kind = f->sent.record.kind;
    f->read.record = (ph_record){.words = f->read.words, .texts = f->read.texts};
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    read_record(&f->stage.frame, &reader, &f->read.record, kind, f->sent.record.class_index);
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t again[BYTES_MAX] = {0};
    writer = ph_bit_writer_make(again, sizeof again);
    ph_classic_write_record(&f->stage.frame, &f->read.record, &writer);
    assert_int_equal(ph_bit_writer_finish(&writer), size);
    assert_memory_equal(again, bytes, size);
}

static void what_is_accepted_is_what_a_sender_writes(void** state)
{
    (void)state;
    test_rng rng = {.state = 815};
    static fixture f;
    random_stage_each(&f.stage, SCHEMAS, 5 * RECORDS, &rng, check_mutated, &f);
}

static void a_record_that_is_cut_off_is_refused(void** state)
{
    (void)state;
    test_rng rng = {.state = 99};
    static fixture f;
    for (int i = 0; i < SCHEMAS / 4; ++i) {
        random_stage_make(&f.stage, &rng);
        random_record_make(&f.sent, &f.stage.frame, &rng);
        uint8_t bytes[BYTES_MAX] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_classic_write_record(&f.stage.frame, &f.sent.record, &writer);
        const size_t size = ph_bit_writer_finish(&writer);
        for (size_t cut = 0; cut < size; ++cut) {
            f.read.record = (ph_record){.words = f.read.words, .texts = f.read.texts};
            ph_bit_reader reader = ph_bit_reader_make(bytes, cut);
            read_record(&f.stage.frame, &reader, &f.read.record, f.sent.record.kind,
                        f.sent.record.class_index);
            assert_int_not_equal(ph_bit_reader_result(&reader), PH_OK);
        }
        random_stage_destroy(&f.stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_costs_its_price_and_comes_back),
        cmocka_unit_test(what_is_accepted_is_what_a_sender_writes),
        cmocka_unit_test(a_record_that_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
