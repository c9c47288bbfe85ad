// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Usual updates over random schemas, values and eyes: whatever is one is written in the very bits, and
// with the bill, of the way that all updates can go.

#include "wire/classic_usual.h"

#include "support/random_record.h"

#include <string.h>

enum { SCHEMAS = 400, RECORDS = 100 };

typedef struct fixture {
    random_stage stage;
    random_record sent;
    int alone_count;
    int rest_count; // with plain values
    int long_count; // so many that they do not fit a word
} fixture;

static void assert_as_any(fixture* f, const ph_classic_usual* usual, const ph_record* sent)
{
    const uint64_t rest = sent->properties & ~usual->layout->position;
    uint8_t expected[PH_CLASSIC_RECORD_BYTES] = {0};
    uint8_t bytes[PH_CLASSIC_RECORD_BYTES] = {0};
    ph_bill expected_bill = {0};
    ph_bill bill = {0};
    const int expected_bits =
        ph_classic_write_update(&f->stage.frame, sent, expected, &expected_bill);
    const int bits =
        ph_classic_usual_write(usual, sent->slot, sent->association, rest, sent->words, bytes);
    ph_classic_usual_bill(usual, rest, &bill);
    assert_int_equal(bits, expected_bits);
    assert_memory_equal(bytes, expected, (size_t)(bits + 7) / 8);
    assert_memory_equal(&bill, &expected_bill, sizeof bill);
    const int least_bits = ph_classic_usual_bits(usual, rest);
    assert_int_equal(least_bits,
                     ph_classic_least_bits(&f->stage.frame, usual->layout, sent->properties));
    assert_true(rest == 0 ? least_bits == bits : least_bits <= bits);
    f->alone_count += rest == 0;
    f->rest_count += rest != 0;
    f->long_count += bits - usual->word_bits > PH_BITS_FAST_WIDTH;
}

// Whether the position alone is written in short form, and so in fewer bits than in full.
static bool is_short(const fixture* f, const ph_layout* layout, const ph_record* sent)
{
    ph_record alone = *sent;
    alone.properties = layout->position;
    return ph_classic_record_bits(&f->stage.frame, &alone, NULL) ==
           ph_classic_least_bits(&f->stage.frame, layout, layout->position);
}

static void check_one(void* context, test_rng* rng)
{
    fixture* f = context;
    f->stage.frame.slot_bits = PH_CLASSIC_SLOT_BITS_MIN + (int)test_rng_below(rng, 4);
    random_record_make(&f->sent, &f->stage.frame, rng);
    ph_record* sent = &f->sent.record;
    if (sent->kind == PH_RECORD_LEAVE) {
        return;
    }
    sent->kind = PH_RECORD_UPDATE; // may say all that an enter says
    sent->is_jump = false;
    const ph_layout* layout = &f->stage.layouts.layouts[sent->class_index];
    const ph_classic_usual usual = ph_classic_usual_make(&f->stage.frame, layout);
    // Those that have everything are the rule of random records, but not of usual ones.
    if (test_rng_below(rng, 8) != 0) {
        sent->properties &= layout->position | layout->plain;
    }
    if (test_rng_below(rng, 8) == 0) {
        sent->properties &= layout->position;
    }
    if (sent->properties == 0) {
        return;
    }
    const bool is_usual = ph_classic_is_usual(&usual, sent->properties, sent->words);
    if (is_usual) {
        assert_as_any(f, &usual, sent);
    } else if (usual.properties != 0) {
        assert_true((sent->properties & layout->position) == 0 ||
                    (sent->properties & ~usual.properties) != 0 || !is_short(f, layout, sent));
    }
}

static void usual_updates_are_written_as_any(void** state)
{
    (void)state;
    test_rng rng = {.state = 61};
    static fixture f;
    random_stage_each(&f.stage, SCHEMAS, RECORDS, &rng, check_one, &f);
    assert_true(f.alone_count > 500);
    assert_true(f.rest_count > 200);
    assert_true(f.long_count > 5);
}

// The 61 bits of which everybody speaks.
static void a_position_takes_61_bits(void** state)
{
    (void)state;
    ph_layout layout = {.position = 1, .coordinate = ph_coordinate_default()};
    ph_frame frame = {.slot_bits = PH_CLASSIC_SLOT_BITS_MIN};
    assert_int_equal(ph_classic_usual_make(&frame, &layout).word_bits, 61);
    assert_true(ph_classic_usual_make(&frame, &layout).properties == 1);
    layout.has_ground = true;
    assert_true(ph_classic_usual_make(&frame, &layout).properties == 0);
    layout.has_ground = false;
    layout.once = layout.position;
    assert_true(ph_classic_usual_make(&frame, &layout).properties == 0);
    layout.once = 0;
    frame.slot_bits = PH_CLASSIC_SLOT_BITS_MAX;
    assert_true(ph_classic_usual_make(&frame, &layout).properties == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_updates_are_written_as_any),
        cmocka_unit_test(a_position_takes_61_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
