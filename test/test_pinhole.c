// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the pinhole profile, case by case: what is cheap, what is refused, how coarse a
// position may be, and bytes that never change.

#include "packet/pinhole_records.h"

#include "base/hash.h"
#include "schema/model_tables.h"

#include "support/pinhole_pair.h"

#include <string.h>

#define TICK_US 50000

static const char SCHEMA[] = "class walker\n"
                             "place: position\n"
                             "heading: angle 8\n"
                             "is_armed: bool\n"
                             "health: range 0..1000\n"
                             "kind: enum 5 arithmetic\n"
                             "class climber\n"
                             "place: position ground 500\n";

enum { PLACE, HEADING, IS_ARMED, HEALTH, KIND, CLASSES = 2, WORDS = 8, BYTES = 256 };

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packings[CLASSES];
    ph_baseline_rules rules;
    ph_ground ground;
    ph_pinhole_frame frame;
    ph_baseline baseline;
    uint8_t known[64];
    uint32_t words[WORDS];
    uint32_t read_words[WORDS];
    uint8_t bytes[BYTES];
} fixture;

// A floor at 0, and a gallery 4 m above it where x is positive.
static int layers_at(const void* context, int64_t x_mm, int64_t y_mm,
                     int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)y_mm;
    heights_mm[0] = 0;
    heights_mm[1] = 4000;
    return x_mm > 0 ? 2 : 1;
}

static void setup(fixture* f)
{
    *f = (fixture){.ground = {.layers = layers_at}};
    ph_error error;
    if (ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f->schema, &error) != PH_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    for (int i = 0; i < CLASSES; ++i) {
        f->packings[i] = ph_packing_make(&f->layouts.layouts[i]);
    }
    f->rules =
        (ph_baseline_rules){.layouts = &f->layouts, .packings = f->packings, .tick_us = TICK_US};
    f->frame =
        (ph_pinhole_frame){.frame = {.layouts = &f->layouts, .ground = &f->ground, .slot_bits = 8},
                           .packings = f->packings,
                           .tick = 1000,
                           .tick_us = TICK_US};
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

// A newcomer four ticks ago, at 10 m from the eye.
static void enter(fixture* f, uint8_t class_index)
{
    const ph_layout* layout = &f->layouts.layouts[class_index];
    ph_layout_reset(layout, f->words, NULL);
    f->words[layout->word[layout->described->position]] = 16 * 625;
    const ph_record record = {.kind = PH_RECORD_ENTER,
                              .class_index = class_index,
                              .properties = layout->position,
                              .velocity = {20, 0, 0},
                              .words = f->words};
    ph_baseline_take(&f->baseline, f->known, &f->rules, &record, f->frame.tick - 4);
}

static ph_pinhole_record update_of(fixture* f, uint64_t properties)
{
    return (ph_pinhole_record){.record = {.kind = PH_RECORD_UPDATE,
                                          .class_index = f->baseline.class_index,
                                          .properties = properties,
                                          .words = f->words},
                               .baseline = &f->baseline,
                               .known = f->known};
}

static double bits_of(const fixture* f, const ph_pinhole_record* coded)
{
    return ph_pinhole_cost256(&f->frame, coded, NULL) / (double)PH_COST_PER_BIT;
}

static size_t write_one(fixture* f, const ph_pinhole_record* coded)
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, f->bytes, sizeof f->bytes);
    ph_pinhole_write(&f->frame, &writer, coded);
    return ph_entropy_writer_finish(&writer);
}

static ph_pinhole_record read_one(fixture* f, size_t size, ph_result* result)
{
    ph_pinhole_record coded = update_of(f, 0);
    coded.record.words = f->read_words;
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, f->bytes, size);
    ph_pinhole_read(&f->frame, &reader, &coded);
    *result = ph_entropy_reader_finish(&reader);
    return coded;
}

static void predict(const fixture* f, uint32_t* words)
{
    int32_t position_mm[3];
    ph_baseline_predict(&f->baseline, f->frame.tick, TICK_US, position_mm);
    for (int i = 0; i < 3; ++i) {
        words[i] = (uint32_t)position_mm[i] >> 4 << 4;
    }
}

static void what_was_expected_is_cheaper_than_a_residual(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0);
    predict(&f, f.words);
    const ph_pinhole_record coded = update_of(&f, 1u << PLACE);
    const double expected = bits_of(&f, &coded);
    f.words[1] += 16 * 8;
    const double near_bits = bits_of(&f, &coded);
    f.words[1] += 16 * 1000;
    const double far_bits = bits_of(&f, &coded);
    assert_true(expected < 12 && expected < near_bits && near_bits + 4 < far_bits);
    assert_true(far_bits < 48);
    teardown(&f);
}

static void a_flag_costs_next_to_nothing_once_it_is_named(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0);
    const ph_layout* layout = &f.layouts.layouts[0];
    f.words[layout->word[IS_ARMED]] = 1;
    const ph_pinhole_record coded = update_of(&f, 1u << IS_ARMED);
    ph_record_bits stats = {0};
    (void)ph_pinhole_cost256(&f.frame, &coded, &stats);
    assert_true(stats.property_bits[IS_ARMED] < PH_COST_PER_BIT / 4);
    teardown(&f);
}

// It changed and changed back while the change was in flight.
static void a_value_that_is_known_can_be_told_again(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0);
    const uint64_t properties = 1u << IS_ARMED | 1u << HEALTH | 1u << KIND | 1u << HEADING;
    const ph_pinhole_record coded = update_of(&f, properties);
    const size_t size = write_one(&f, &coded);
    ph_result result;
    const ph_pinhole_record read = read_one(&f, size, &result);
    assert_int_equal(result, PH_OK);
    assert_true(read.record.properties == properties);
    teardown(&f);
}

static void small_changes_of_numbers_are_cheaper_than_large_ones(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0);
    const ph_layout* layout = &f.layouts.layouts[0];
    const ph_pinhole_record coded = update_of(&f, 1u << HEALTH);
    f.words[layout->word[HEALTH]] = 1;
    const double small = bits_of(&f, &coded);
    f.words[layout->word[HEALTH]] = 1000;
    const double large = bits_of(&f, &coded);
    assert_true(small < 16 && small + 3 < large && large < 36);
    teardown(&f);
}

static void the_layer_that_is_expected_costs_little(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 1);
    predict(&f, f.words);
    f.words[2] = 0;
    const ph_pinhole_record coded = update_of(&f, 1u << PLACE);
    const double floor_bits = bits_of(&f, &coded);
    f.words[2] = 4000;
    const double gallery_bits = bits_of(&f, &coded);
    f.words[2] = 16 * 125;
    const double air_bits = bits_of(&f, &coded);
    assert_true(floor_bits + 2 < gallery_bits && floor_bits + 6 < air_bits);
    for (uint32_t z = 0; z < 6000; z += 2000) {
        f.words[2] = z;
        const size_t size = write_one(&f, &coded);
        ph_result result;
        (void)read_one(&f, size, &result);
        assert_int_equal(result, PH_OK);
        assert_int_equal(f.read_words[2], z);
    }
    teardown(&f);
}

// The stated angle, whatever the distance, of whatever was rounded.
static void rounding_stays_within_the_angle(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    test_rng rng = {.state = 31};
    int coarsest = 0;
    for (int i = 0; i < 3000; ++i) {
        enter(&f, 0);
        const uint32_t away = (uint32_t)test_rng_below(&rng, 1u << (6 + i % 22)) >> 4 << 4;
        f.baseline.position_mm[0][0] = (int32_t)away;
        f.baseline.position_mm[1][0] = (int32_t)away;
        f.frame.precision = 1 + (uint32_t)test_rng_below(&rng, 4096);
        f.frame.tick += (uint32_t)test_rng_below(&rng, 20);
        const int coarse = ph_pinhole_coarse(&f.frame, &f.baseline);
        uint32_t words[3] = {away + (uint32_t)test_rng_below(&rng, 512) / 16 * 16, 48, 160};
        const uint32_t exact[3] = {words[0], words[1], words[2]};
        if (!ph_pinhole_round(&f.frame, &f.layouts.layouts[0], coarse, words) || coarse == 0) {
            assert_true(coarse > 0 || memcmp(words, exact, sizeof words) == 0);
            continue;
        }
        coarsest = coarse > coarsest ? coarse : coarsest;
        double off2 = 0;
        double far2 = 0;
        for (int k = 0; k < 3; ++k) {
            const double off = (double)(int32_t)(words[k] - exact[k]);
            off2 += off * off;
            far2 += (double)words[k] * words[k];
        }
        const double angle = f.frame.precision / 1024.0 / 1000.0;
        assert_true(off2 <= angle * angle * far2);
    }
    assert_int_equal(coarsest, PH_COARSE_MAX);
    teardown(&f);
}

static void a_coarse_position_comes_back_coarse_and_is_cheaper(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0);
    f.frame.tick += 20;
    f.frame.precision = 20 * 1024;
    const int coarse = ph_pinhole_coarse(&f.frame, &f.baseline);
    assert_true(coarse >= 2);
    predict(&f, f.words);
    f.words[0] += 16 * 37;
    f.words[1] += 16 * 21;
    ph_pinhole_record coded = update_of(&f, 1u << PLACE);
    const double exact_bits = bits_of(&f, &coded);
    assert_true(ph_pinhole_round(&f.frame, &f.layouts.layouts[0], coarse, f.words));
    coded.coarse = (uint8_t)coarse;
    assert_true(bits_of(&f, &coded) < exact_bits);
    const size_t size = write_one(&f, &coded);
    ph_result result;
    const ph_pinhole_record read = read_one(&f, size, &result);
    assert_int_equal(result, PH_OK);
    assert_int_equal(read.coarse, coarse);
    assert_memory_equal(f.read_words, f.words, 3 * sizeof f.words[0]);
    teardown(&f);
}

static void densities_follow_the_share_told(void** state)
{
    (void)state;
    const int slots[PH_URGENCIES] = {[3] = 50, [8] = 250};
    ph_told_costs costs;
    ph_told_costs_fill(&costs, &ph_library_models);
    ph_told_sums sums;
    ph_told_sums_begin(&sums, &costs, slots);
    int last = 0;
    for (int told = 0; told <= slots[8]; ++told) {
        const int density = ph_pinhole_best_density(&sums, &costs);
        assert_true(density >= last && density < PH_DENSITIES);
        assert_true((density == PH_DENSITY_NONE) == (told == 0));
        last = density;
        ++sums.told[8];
    }
    assert_in_range(last, PH_DENSITIES / 2, PH_DENSITIES - 1);
}

// By counting.
static int32_t flags_cost256(int density, const int told[PH_URGENCIES],
                             const int silent[PH_URGENCIES])
{
    uint32_t cost256 = 0;
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        cost256 += (uint32_t)told[urgency] *
                       ph_pinhole_flag_cost256(&ph_library_models, density, urgency, true) +
                   (uint32_t)silent[urgency] *
                       ph_pinhole_flag_cost256(&ph_library_models, density, urgency, false);
    }
    return (int32_t)cost256;
}

static void flags_are_added_up_at_every_density(void** state)
{
    (void)state;
    test_rng rng = {.state = 77};
    ph_told_costs costs;
    ph_told_costs_fill(&costs, &ph_library_models);
    int told[PH_URGENCIES] = {0};
    int silent[PH_URGENCIES];
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        silent[urgency] = (int)test_rng_below(&rng, 3) * 50;
    }
    ph_told_sums sums;
    ph_told_sums_begin(&sums, &costs, silent);
    for (int i = 0; i < 300; ++i) {
        const int urgency = (int)test_rng_below(&rng, PH_URGENCIES);
        if (told[urgency] > 0 && test_rng_below(&rng, 4) == 0) {
            --sums.told[urgency];
            --told[urgency];
            ++silent[urgency];
        } else if (silent[urgency] > 0) {
            ++sums.told[urgency];
            ++told[urgency];
            --silent[urgency];
        }
        const int best = ph_pinhole_best_density(&sums, &costs);
        const int32_t best256 = ph_told_sums_cost256(&sums, &costs, best);
        for (int density = 0; density < PH_DENSITIES; ++density) {
            const int32_t cost256 = ph_told_sums_cost256(&sums, &costs, density);
            assert_int_equal(cost256, flags_cost256(density, told, silent));
            assert_true(best == PH_DENSITY_NONE || density == PH_DENSITY_NONE ||
                        best256 <= cost256);
        }
    }
}

static void without_records_there_are_no_flags(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.frame.density = PH_DENSITY_NONE;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, f.bytes, sizeof f.bytes);
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        assert_int_equal(
            ph_pinhole_flag_cost256(&ph_library_models, f.frame.density, urgency, false), 0);
        ph_pinhole_write_told(&f.frame, &writer, urgency, false);
    }
    const size_t size = ph_entropy_writer_finish(&writer);
    assert_int_equal(size, 0);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, f.bytes, size);
    assert_false(ph_pinhole_read_told(&f.frame, &reader, 7));
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    teardown(&f);
}

static void an_enter_may_say_that_it_jumped(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_layout_reset(&f.layouts.layouts[0], f.words, NULL);
    for (int i = 0; i < 2; ++i) {
        const ph_pinhole_record coded = {.record = {.kind = PH_RECORD_ENTER,
                                                    .properties = 1u << PLACE,
                                                    .is_jump = i == 1,
                                                    .words = f.words}};
        const size_t size = write_one(&f, &coded);
        ph_pinhole_record read = {.record = {.kind = PH_RECORD_ENTER, .words = f.read_words}};
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, f.bytes, size);
        ph_pinhole_read_identity(&f.frame, &reader, &read);
        ph_pinhole_read(&f.frame, &reader, &read);
        assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
        assert_int_equal(read.record.is_jump, i == 1);
    }
    teardown(&f);
}

static void every_model_is_one_that_the_coder_may_use(void** state)
{
    (void)state;
    for (int family = 0; family < PH_FAMILY_COUNT; ++family) {
        const ph_pinhole_family_info* info = &ph_pinhole_families[family];
        for (int model = 0; model < info->models; ++model) {
            const int first = info->first + model * (info->symbols + 1);
            const ph_model table = {ph_pinhole_cumulative + first, info->symbols};
            assert_true(ph_model_is_valid(&table));
            for (int i = 0; i < info->symbols; ++i) {
                const uint32_t cost256 = ph_model_cost(&table, i);
                assert_in_range(ph_pinhole_costs[first + i], cost256, cost256 + 1);
            }
        }
    }
}

// Whatever changes the wire changes this number: say so in docs/wire_format.md and CHANGELOG.md.
static void bytes_never_change(void** state)
{
    (void)state;
    static pinhole_pair pair;
    static pinhole_end end;
    static pinhole_packet packet;
    static uint8_t bytes[PINHOLE_BYTES_MAX];
    test_rng rng = {.state = 2025};
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < 20; ++i) {
        memset(&end, 0, sizeof end);
        pinhole_pair_setup(&pair, &rng);
        for (int k = 0; k < 20; ++k) {
            pinhole_pair_next(&pair, &rng);
            pinhole_pair_fill(&pair, &end, &packet, &rng);
            uint64_t cost256;
            const size_t size = pinhole_pair_write(&pair, &end, &packet, bytes, &cost256);
            ph_hash_add(&hash, bytes, size);
            pinhole_pair_take(&pair, &end, &packet);
        }
        ph_hash_add_u64(&hash, pinhole_pair_digest(&pair, &end));
        pinhole_pair_teardown(&pair);
    }
    assert_int_equal(ph_hash_value(&hash), UINT64_C(0x5D05F223D189E3C6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_expected_is_cheaper_than_a_residual),
        cmocka_unit_test(a_flag_costs_next_to_nothing_once_it_is_named),
        cmocka_unit_test(a_value_that_is_known_can_be_told_again),
        cmocka_unit_test(small_changes_of_numbers_are_cheaper_than_large_ones),
        cmocka_unit_test(the_layer_that_is_expected_costs_little),
        cmocka_unit_test(rounding_stays_within_the_angle),
        cmocka_unit_test(a_coarse_position_comes_back_coarse_and_is_cheaper),
        cmocka_unit_test(an_enter_may_say_that_it_jumped),
        cmocka_unit_test(densities_follow_the_share_told),
        cmocka_unit_test(flags_are_added_up_at_every_density),
        cmocka_unit_test(without_records_there_are_no_flags),
        cmocka_unit_test(every_model_is_one_that_the_coder_may_use),
        cmocka_unit_test(bytes_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
