// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values in few bytes: every coding comes back as it was, in no more bytes than its range needs.

#include "support/test_support.h"

#include "kit/creature.h"
#include "packet/layout.h"

#include <string.h>

static const ph_property_def properties[] = {
    {.name = "position", .coding = PH_CODING_POSITION},
    {.name = "flag", .coding = PH_CODING_BOOL},
    {.name = "byte", .coding = PH_CODING_RANGE, .hi = 255},
    {.name = "more", .coding = PH_CODING_RANGE, .lo = -1, .hi = 255},
    {.name = "most", .coding = PH_CODING_RANGE, .hi = 4294967295.0},
    {.name = "huge",
     .coding = PH_CODING_RANGE,
     .lo = -9007199254740992.0,
     .hi = 9007199254740992.0},
    {.name = "angle", .coding = PH_CODING_ANGLE, .bits = 9},
    {.name = "fixed", .coding = PH_CODING_FIXED, .lo = 0, .hi = 1, .step = 0.5},
    {.name = "vec3", .coding = PH_CODING_VEC3, .lo = -10, .hi = 10, .step = 0.01},
    {.name = "rotation", .coding = PH_CODING_QUATERNION},
    {.name = "text", .coding = PH_CODING_STRING, .max_length = 5},
    {.name = "other", .coding = PH_CODING_ENTITY},
    {.name = "once", .coding = PH_CODING_RANGE, .hi = 9, .when = PH_SEND_ONCE},
    {.name = "eight", .coding = PH_CODING_RANGE, .hi = 7, .has_default = 1, .default_value = 5},
};

enum { COUNT = sizeof properties / sizeof properties[0] };

static const uint8_t sizes[COUNT] = {12, 1, 1, 2, 4, 8, 2, 1, 6, 8, 4, 6, 0, 1};

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packing;
} fixture;

static void setup(fixture* f)
{
    const ph_class_def described = {
        .name = "thing", .properties = properties, .property_count = COUNT};
    assert_int_equal(ph_schema_create(&described, 1, NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    f->packing = ph_packing_make(&f->layouts.layouts[0]);
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

static void a_value_takes_what_its_range_needs(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    unsigned sum = 0;
    for (int p = 0; p < COUNT; ++p) {
        assert_int_equal(f.packing.size[p], sizes[p]);
        assert_int_equal(f.packing.offset[p], sum);
        sum += sizes[p];
    }
    assert_int_equal(f.packing.stride, sum);
    teardown(&f);
}

static void values_come_back(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (int p = 0; p < COUNT; ++p) {
        if (sizes[p] == 0) {
            continue;
        }
        const int word_count = f.layouts.layouts[0].described->properties[p].words;
        uint8_t bytes[PH_PACKED_MAX + 1];
        memset(bytes, 0xEE, sizeof bytes);
        for (int high = 0; high <= 1; ++high) {
            uint32_t words[PH_VALUE_WORDS_MAX];
            // As many bits as the bytes hold, in all words alike.
            const unsigned bits = 8u * sizes[p] / (unsigned)word_count;
            for (int i = 0; i < word_count; ++i) {
                const bool is_slot = f.layouts.layouts[0].references >> p & 1 && i == 0;
                const unsigned wide = is_slot ? 16 : bits > 32 ? 32 : bits;
                words[i] = high == 0 ? (uint32_t)i + 1 : UINT32_MAX >> (32 - wide);
            }
            ph_packing_store(&f.packing, p, words, bytes);
            uint32_t back[PH_VALUE_WORDS_MAX];
            ph_packing_load(&f.packing, p, bytes, back);
            assert_memory_equal(back, words, (size_t)word_count * sizeof words[0]);
            assert_int_equal(bytes[sizes[p]], 0xEE);
        }
    }
    teardown(&f);
}

static void the_initial_block_is_that_of_a_newcomer(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    uint32_t words[64];
    uint8_t texts[64];
    ph_layout_reset(&f.layouts.layouts[0], words, texts);
    uint8_t bytes[sizeof f.packing.initial];
    ph_packing_store_all(&f.packing, &f.layouts.layouts[0], f.layouts.layouts[0].all, words, bytes);
    assert_memory_equal(bytes, f.packing.initial, f.packing.stride);
    assert_int_equal(f.packing.initial[f.packing.stride - 1], 5);
    assert_int_equal(ph_packing_size(&f.packing, f.layouts.layouts[0].all), f.packing.stride);
    assert_int_equal(ph_packing_size(&f.packing, 5), 13);
    teardown(&f);
}

static void packed_values_are_spread_to_their_places(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    test_rng rng = {.state = 77};
    for (int round = 0; round < 200; ++round) {
        uint8_t packed[sizeof f.packing.initial];
        uint8_t all[sizeof f.packing.initial];
        uint8_t expected[sizeof all];
        for (size_t i = 0; i < sizeof packed; ++i) {
            packed[i] = (uint8_t)test_rng_next(&rng);
        }
        memset(all, 0xEE, sizeof all);
        memset(expected, 0xEE, sizeof expected);
        const uint64_t told = test_rng_next(&rng) & f.layouts.layouts[0].all;
        size_t taken = 0;
        for (int p = 0; p < COUNT; ++p) {
            if ((told >> p & 1) != 0) {
                memcpy(expected + f.packing.offset[p], packed + taken, sizes[p]);
                taken += sizes[p];
            }
        }
        ph_packing_spread(&f.packing, told, packed, all);
        assert_memory_equal(all, expected, sizeof all);
        assert_int_equal(ph_packing_size(&f.packing, told), taken);
    }
    teardown(&f);
}

// What a crowd of viewers costs hangs on this number.
static void a_creature_takes_less_than_80_bytes(void** state)
{
    (void)state;
    const ph_class_def creature = ph_creature_class();
    ph_schema* schema;
    ph_layouts layouts;
    assert_int_equal(ph_schema_create(&creature, 1, NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&layouts, schema, NULL), PH_OK);
    const ph_packing packing = ph_packing_make(&layouts.layouts[0]);
    assert_in_range(packing.stride, 40, 79);
    ph_layouts_destroy(&layouts);
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_takes_what_its_range_needs),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(the_initial_block_is_that_of_a_newcomer),
        cmocka_unit_test(packed_values_are_spread_to_their_places),
        cmocka_unit_test(a_creature_takes_less_than_80_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
