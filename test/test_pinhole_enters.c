// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Enters of the pinhole profile that are told from each other: what neighbours have in common is
// cheap, crowds may be coarse within the angle, and what no sender writes is refused.

#include "packet/pinhole_records.h"
#include "packet/baseline.h"

#include "support/test_support.h"

#include <math.h>
#include <string.h>

static const char SCHEMA[] = "class walker\n"
                             "place: position\n"
                             "heading: angle 8\n"
                             "run: range 0..6\n"
                             "height: range 0..1000\n"
                             "is_armed: bool\n"
                             "name: string 9\n";

enum { PLACE, HEADING, RUN, HEIGHT, IS_ARMED, NAME, WORDS = 16, TEXTS = 64, BYTES = 512 };
static const double TURN = 6.283185307179586;

typedef struct walker {
    uint32_t words[WORDS];
    uint8_t texts[TEXTS];
    ph_pinhole_record coded;
    ph_pinhole_neighbour before;
} walker;

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    const ph_layout* layout;
    ph_packing packing;
    ph_pinhole_frame frame;
    walker told[3];
    walker read[3];
    uint8_t bytes[BYTES];
    size_t size;
} fixture;

static void setup_schema(fixture* f, const char* schema)
{
    *f = (fixture){0};
    assert_int_equal(ph_schema_parse(schema, strlen(schema), NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    f->layout = &f->layouts.layouts[0];
    f->packing = ph_packing_make(f->layout);
    f->frame = (ph_pinhole_frame){.frame = {.layouts = &f->layouts, .slot_bits = 8},
                                  .packings = &f->packing,
                                  .tick_us = 50000,
                                  .precision = 1024};
}

static void setup(fixture* f)
{
    setup_schema(f, SCHEMA);
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

// Told from the one before, if it is not the first.
static void join(fixture* f, walker* all, int index)
{
    walker* it = &all[index];
    if (index > 0) {
        it->before = ph_pinhole_neighbour_of(&f->frame, &all[index - 1].coded);
    }
    it->coded.before = index > 0 ? &it->before : NULL;
}

// The next slot, half a metre further.
static walker* stand(fixture* f, int index, uint32_t run, uint32_t height)
{
    walker* it = &f->told[index];
    ph_layout_reset(f->layout, it->words, it->texts);
    it->words[f->layout->word[PLACE]] = 16 * 625 + 16 * 31 * (uint32_t)index;
    it->words[f->layout->word[RUN]] = run;
    it->words[f->layout->word[HEIGHT]] = height;
    it->coded = (ph_pinhole_record){.record = {.kind = PH_RECORD_ENTER,
                                               .slot = (uint16_t)(7 + index),
                                               .association = 1,
                                               .key = 100 + (uint64_t)index,
                                               .words = it->words,
                                               .texts = it->texts}};
    for (int i = 0; i < f->layout->described->def.property_count; ++i) {
        const bool is_told =
            i == PLACE || !ph_layout_is_initial(f->layout, it->words, it->texts, i);
        it->coded.record.properties |= is_told ? UINT64_C(1) << i : 0;
    }
    join(f, f->told, index);
    return it;
}

static double bits_of(const fixture* f, const walker* it)
{
    return ph_pinhole_cost256(&f->frame, &it->coded, NULL) / (double)PH_COST_PER_BIT;
}

static void write_all(fixture* f, int count)
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, f->bytes, sizeof f->bytes);
    ph_pinhole_write_spread(&f->frame, &writer, count);
    for (int i = 0; i < count; ++i) {
        ph_pinhole_write(&f->frame, &writer, &f->told[i].coded);
    }
    f->size = ph_entropy_writer_finish(&writer);
}

static ph_result read_all(fixture* f, int count)
{
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, f->bytes, f->size);
    ph_pinhole_read_spread(&f->frame, &reader, count);
    for (int i = 0; i < count && ph_entropy_reader_result(&reader) == PH_OK; ++i) {
        walker* it = &f->read[i];
        it->coded = (ph_pinhole_record){
            .record = {.kind = PH_RECORD_ENTER, .words = it->words, .texts = it->texts}};
        join(f, f->read, i);
        ph_pinhole_read_identity(&f->frame, &reader, &it->coded);
        ph_pinhole_read(&f->frame, &reader, &it->coded);
    }
    return ph_entropy_reader_finish(&reader);
}

// ---- what neighbours have in common

static void values_of_the_one_before_are_cheap(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    stand(&f, 0, 3, 700);
    const double same_bits = bits_of(&f, stand(&f, 1, 3, 700));
    const double other_run_bits = bits_of(&f, stand(&f, 1, 4, 700));
    const double other_height_bits = bits_of(&f, stand(&f, 1, 3, 220));
    assert_true(same_bits + 1 < other_run_bits);
    assert_true(other_run_bits + 3 < other_height_bits);
    teardown(&f);
}

static void what_differs_every_time_costs_less_to_name(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    stand(&f, 0, 3, 700);
    stand(&f, 1, 3, 700);
    const double residual_bits = bits_of(&f, stand(&f, 2, 3, 600));
    stand(&f, 1, 3, 500);
    const double usual_bits = bits_of(&f, stand(&f, 2, 3, 600));
    assert_true(usual_bits < residual_bits);
    teardown(&f);
}

static void all_of_it_comes_back(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    stand(&f, 0, 3, 700)->coded.record.velocity[1] = -7;
    stand(&f, 1, 0, 700);
    walker* last = stand(&f, 2, 0, 0); // nothing but initial values beside another one
    ph_layout_store_text(f.layout, last->texts, NAME, (ph_text){(const uint8_t*)"Anna", 4});
    last->coded.record.properties |= 1u << NAME;
    f.frame.spread = (ph_pinhole_spread){.place = 5, .velocity = 2, .motion = PH_MOTION_AHEAD};
    write_all(&f, 3);
    assert_int_equal(read_all(&f, 3), PH_OK);
    for (int i = 0; i < 3; ++i) {
        const ph_record* told = &f.told[i].coded.record;
        const ph_record* read = &f.read[i].coded.record;
        assert_true(read->properties == told->properties && read->key == told->key);
        assert_memory_equal(read->velocity, told->velocity, sizeof told->velocity);
        for (int p = PLACE; p < NAME; ++p) {
            assert_true((told->properties >> p & 1) == 0 ||
                        read->words[f.layout->word[p]] == told->words[f.layout->word[p]]);
        }
    }
    const ph_text text = ph_layout_text(f.layout, f.read[2].texts, NAME);
    assert_true(text.length == 4 && memcmp(text.bytes, "Anna", 4) == 0);
    teardown(&f);
}

// ---- where they go

static void ahead_is_where_one_is_headed_as_fast_as_the_one_before(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    const ph_pinhole_neighbour before = {.velocity = {30, -40, 5}};
    int32_t velocity[3];
    ph_pinhole_expected_velocity(f.layout, PH_MOTION_AHEAD, &before, 64, velocity);
    assert_true(velocity[0] == 0 && velocity[1] == 50 && velocity[2] == 5);
    ph_pinhole_expected_velocity(f.layout, PH_MOTION_BESIDE, &before, 64, velocity);
    assert_true(velocity[0] == 30 && velocity[1] == -40 && velocity[2] == 5);
    ph_pinhole_expected_velocity(f.layout, PH_MOTION_RESTING, &before, 64, velocity);
    assert_true(velocity[0] == 0 && velocity[1] == 0 && velocity[2] == 0);
    teardown(&f);
}

static void a_way_in_a_direction_is_that_of_sine_and_cosine(void** state)
{
    (void)state;
    for (int direction = 0; direction < 65536; direction += 7) {
        const int32_t length = direction * 31 % 60000;
        int32_t way[2];
        ph_direction_go((uint16_t)direction, length, way);
        const double angle = direction * TURN / 65536;
        assert_true(fabs(way[0] - length * cos(angle)) < 1 + length * 4e-4);
        assert_true(fabs(way[1] - length * sin(angle)) < 1 + length * 4e-4);
    }
}

// ---- coarse

static void crowds_are_rounded_within_the_angle_and_the_limit(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    test_rng rng = {.state = 77};
    int coarsest = 0;
    for (int i = 0; i < 3000; ++i) {
        uint32_t words[3];
        for (int k = 0; k < 3; ++k) {
            words[k] = (uint32_t)test_rng_below(&rng, 1u << (6 + i % 22)) >> 4 << 4;
        }
        const uint32_t exact[3] = {words[0], words[1], words[2]};
        f.frame.precision = 1 + (uint32_t)test_rng_below(&rng, 60 * 1024);
        f.frame.spread.coarse = (uint8_t)test_rng_below(&rng, PH_COARSE_MAX + 1);
        const int coarse = ph_pinhole_round_enter(&f.frame, f.layout, words);
        assert_true(coarse <= f.frame.spread.coarse);
        coarsest = coarse > coarsest ? coarse : coarsest;
        double off2 = 0;
        double far2 = 0;
        for (int k = 0; k < 3; ++k) {
            const double off = (double)(int32_t)(words[k] - exact[k]);
            off2 += off * off;
            far2 += (double)words[k] * words[k];
        }
        const double told_mrad = f.frame.precision / 1024.0;
        const double angle = 1e-3 * fmax(told_mrad, fmin(32 * told_mrad, 32));
        assert_true(off2 <= angle * angle * far2);
    }
    assert_int_equal(coarsest, PH_COARSE_MAX);
    teardown(&f);
}

// Two entities that are 10 m away, or nearer, as coarse as is said without asking.
static void tell_coarsely(fixture* f, uint32_t x_mm, int coarse)
{
    stand(f, 0, 0, 0);
    walker* it = stand(f, 1, 0, 0);
    it->words[f->layout->word[PLACE]] = x_mm;
    it->coded.coarse = (uint8_t)coarse;
    f->frame.spread.coarse = PH_COARSE_MAX;
    join(f, f->told, 1);
    write_all(f, 2);
}

static void a_coarse_enter_comes_back_and_is_cheaper(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    tell_coarsely(&f, 80 << 7, 0);
    const double exact_bits = bits_of(&f, &f.told[1]);
    tell_coarsely(&f, 80 << 7, 3);
    assert_true(bits_of(&f, &f.told[1]) < exact_bits);
    assert_int_equal(read_all(&f, 2), PH_OK);
    assert_int_equal(f.read[1].coded.coarse, 3);
    assert_int_equal(f.read[1].words[f.layout->word[PLACE]], 80 << 7);
    teardown(&f);
}

static void an_enter_that_is_too_coarse_is_refused(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    tell_coarsely(&f, 1 << 9, 4); // half a metre away
    assert_int_equal(read_all(&f, 2), PH_ERROR_VALUE);
    teardown(&f);
}

// Coarser than steps of 2^26 mm there is little.
static void nothing_is_coarser_than_a_coordinate(void** state)
{
    (void)state;
    fixture f;
    setup_schema(&f, "class rock\n place: position 6 step 67108864\n");
    test_rng rng = {.state = 78};
    int refused = 0;
    for (int i = 0; i < 200000; ++i) {
        for (f.size = 0; f.size < 32; ++f.size) {
            f.bytes[f.size] = (uint8_t)test_rng_below(&rng, 256);
        }
        refused += read_all(&f, 2) != PH_OK;
        assert_true(f.layout->coordinate.shift + f.read[1].coded.coarse <= 31);
    }
    assert_true(refused > 0);
    teardown(&f);
}

static void the_spread_says_nothing_that_there_is_not(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    const ph_pinhole_spread wrong[] = {
        {.coarse = PH_COARSE_MAX + 1},
        {.motion = PH_MOTIONS},
    };
    for (int i = 0; i < 2; ++i) {
        f.frame.spread = wrong[i];
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, f.bytes, sizeof f.bytes);
        ph_pinhole_write_spread(&f.frame, &writer, 2);
        f.size = ph_entropy_writer_finish(&writer);
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, f.bytes, f.size);
        ph_pinhole_read_spread(&f.frame, &reader, 2);
        assert_int_equal(ph_entropy_reader_result(&reader), PH_ERROR_VALUE);
    }
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_the_one_before_are_cheap),
        cmocka_unit_test(what_differs_every_time_costs_less_to_name),
        cmocka_unit_test(all_of_it_comes_back),
        cmocka_unit_test(ahead_is_where_one_is_headed_as_fast_as_the_one_before),
        cmocka_unit_test(a_way_in_a_direction_is_that_of_sine_and_cosine),
        cmocka_unit_test(crowds_are_rounded_within_the_angle_and_the_limit),
        cmocka_unit_test(a_coarse_enter_comes_back_and_is_cheaper),
        cmocka_unit_test(an_enter_that_is_too_coarse_is_refused),
        cmocka_unit_test(nothing_is_coarser_than_a_coordinate),
        cmocka_unit_test(the_spread_says_nothing_that_there_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
