// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "packet/layout.h"

#include "support/random_record.h"
#include "support/random_schema.h"
#include "support/test_memory.h"

#include <string.h>

static const char declarations[] = "class creature\n"
                                   " alive: bool initial 1\n"
                                   " place: position 16 step 16\n"
                                   " heading: angle 8 distance 50\n"
                                   " name: string 31 once\n"
                                   " gold: varint\n"
                                   " target: entity\n"
                                   " key: bytes 4\n"
                                   " mood: enum 5 default 2\n"
                                   " height: fixed -1..1 step 0.5\n"
                                   "class rock\n"
                                   " place: position 12 step 64 ground 500\n";

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    const ph_layout* creature;
    const ph_layout* rock;
} fixture;

static fixture setup(void)
{
    fixture f = {0};
    assert_int_equal(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &f.schema, NULL),
                     PH_OK);
    assert_int_equal(ph_layouts_create(&f.layouts, f.schema, NULL), PH_OK);
    f.creature = &f.layouts.layouts[0];
    f.rock = &f.layouts.layouts[1];
    return f;
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

static void words_and_texts_lie_behind_each_other(void** state)
{
    (void)state;
    fixture f = setup();
    static const uint16_t words[] = {0, 1, 4, 5, 6, 8, 10, 11, 12};
    assert_memory_equal(f.creature->word, words, sizeof words);
    assert_int_equal(f.creature->word_count, 13);
    // Length, 31 bytes and a zero byte, rounded up; length, 4 bytes and a zero byte, rounded up.
    assert_int_equal(f.creature->text[3], 0);
    assert_int_equal(f.creature->text[6], 34);
    assert_int_equal(f.creature->text_bytes, 34 + 8);
    assert_int_equal(f.rock->word_count, 3);
    assert_int_equal(f.rock->text_bytes, 0);
    teardown(&f);
}

static void properties_are_sorted_by_what_they_are(void** state)
{
    (void)state;
    fixture f = setup();
    assert_true(f.creature->all == 0x1FF);
    assert_true(f.creature->position == 1 << 1);
    assert_true(f.creature->references == 1 << 5);
    assert_true(f.creature->texts == (1 << 3 | 1 << 6));
    assert_true(f.creature->once == 1 << 3);
    assert_true(f.creature->limited == 1 << 2);
    // Neither the varint, nor the one with a default bit.
    assert_true(f.creature->plain == (1 << 0 | 1 << 2 | 1 << 8));
    assert_int_equal(f.creature->plain_bits[0], 1);
    assert_int_equal(f.creature->plain_top[0], 1);
    assert_int_equal(f.creature->plain_bits[2], 8);
    assert_int_equal(f.creature->plain_top[2], 255);
    assert_int_equal(f.creature->plain_bits[8], 3);
    assert_int_equal(f.creature->plain_top[8], 4);
    assert_true(f.rock->all == 1 && f.rock->position == 1);
    teardown(&f);
}

// Slot 16, association 2, class 8, name 65, time 3, rest 1, a flag for all but the position.
static void the_dearest_enter_is_known(void** state)
{
    (void)state;
    fixture f = setup();
    const int values_bits = 1 + 3 * 28 + 8 + (5 + 248) + 64 + 19 + (3 + 32) + (1 + 3) + 3;
    assert_int_equal(f.creature->enter_bits_max, 95 + 8 + values_bits);
    assert_int_equal(f.rock->enter_bits_max, 95 + 26 + 26 + 4 + 26);
    assert_int_equal(f.layouts.count, 2);
    assert_int_equal(f.layouts.enter_bits_max, f.creature->enter_bits_max);
    assert_int_equal(f.layouts.word_count_max, 13);
    assert_int_equal(f.layouts.text_bytes_max, 42);
    teardown(&f);
}

static void a_reset_block_is_initial(void** state)
{
    (void)state;
    fixture f = setup();
    uint32_t words[13];
    uint8_t texts[42];
    memset(words, 0xAB, sizeof words);
    memset(texts, 0xAB, sizeof texts);
    ph_layout_reset(f.creature, words, texts);
    assert_int_equal(words[0], 1);  // alive
    assert_int_equal(words[11], 2); // mood
    assert_int_equal(words[12], 2); // height: level 2 is 0
    for (int i = 0; i < 9; ++i) {
        assert_true(ph_layout_is_initial(f.creature, words, texts, i));
    }
    for (size_t i = 0; i < sizeof texts; ++i) {
        assert_int_equal(texts[i], 0);
    }
    ph_layout_reset(f.rock, words, NULL);
    assert_int_equal(words[0], 0);
    teardown(&f);
}

static void any_other_word_is_not_initial(void** state)
{
    (void)state;
    fixture f = setup();
    uint32_t words[13];
    uint8_t texts[42];
    ph_layout_reset(f.creature, words, texts);
    words[7] = 1; // the high word of gold
    assert_false(ph_layout_is_initial(f.creature, words, texts, 4));
    words[5] = 99; // a version of a text says nothing of its content
    assert_true(ph_layout_is_initial(f.creature, words, texts, 3));
    ph_layout_store_text(f.creature, texts, 3, (ph_text){(const uint8_t*)"a", 1});
    assert_false(ph_layout_is_initial(f.creature, words, texts, 3));
    assert_true(ph_layout_is_initial(f.creature, words, texts, 6));
    teardown(&f);
}

static void a_stored_text_leaves_nothing_of_the_last_one(void** state)
{
    (void)state;
    fixture f = setup();
    uint8_t texts[42];
    memset(texts, 0xAB, sizeof texts);
    const char* longest = "abcdefghijabcdefghijabcdefghija";
    ph_layout_store_text(f.creature, texts, 3, (ph_text){(const uint8_t*)longest, 31});
    ph_text text = ph_layout_text(f.creature, texts, 3);
    assert_int_equal(text.length, 31);
    assert_memory_equal(text.bytes, longest, 32);
    assert_int_equal(texts[34], 0xAB); // the neighbour is left alone

    ph_layout_store_text(f.creature, texts, 3, (ph_text){(const uint8_t*)"xy", 2});
    text = ph_layout_text(f.creature, texts, 3);
    assert_int_equal(text.length, 2);
    assert_memory_equal(text.bytes, "xy", 3);
    for (int i = 4; i < 34; ++i) {
        assert_int_equal(texts[i], 0);
    }
    ph_layout_store_text(f.creature, texts, 6, (ph_text){(const uint8_t*)"\0\1\2\3", 4});
    assert_memory_equal(ph_layout_text(f.creature, texts, 6).bytes, "\0\1\2\3\0", 5);
    ph_layout_store_text(f.creature, texts, 3, (ph_text){0});
    assert_int_equal(ph_layout_text(f.creature, texts, 3).length, 0);
    assert_int_equal(texts[2], 0);
    teardown(&f);
}

static void positions_are_rounded_down_to_the_step(void** state)
{
    (void)state;
    fixture f = setup();
    const ph_ground nothing = {0};
    uint32_t words[3];
    ph_layout_round_position(f.creature, &nothing, (int32_t[]){31, -1, INT32_MIN}, words);
    assert_int_equal(words[0], 16);
    assert_int_equal((int32_t)words[1], -16);
    assert_int_equal((int32_t)words[2], INT32_MIN);
    // An escape loses the same bits.
    ph_layout_round_position(f.rock, &nothing, (int32_t[]){127, -1, 5000}, words);
    assert_int_equal(words[0], 64);
    assert_int_equal((int32_t)words[1], -64);
    assert_int_equal(words[2], 4992);
    teardown(&f);
}

// A floor at 1,000 where x is below 100, else at 3,000.
static int steep(const void* context, int64_t x_mm, int64_t y_mm,
                 int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)y_mm;
    heights_mm[0] = x_mm < 100 ? 1000 : 3000;
    return 1;
}

static void a_ground_gives_the_height_at_the_rounded_place(void** state)
{
    (void)state;
    fixture f = setup();
    const ph_ground ground = {.layers = steep};
    uint32_t words[3];
    ph_layout_round_position(f.rock, &ground, (int32_t[]){127, 0, 1234}, words);
    assert_int_equal(words[0], 64);
    assert_int_equal(words[2], 1000);
    ph_layout_round_position(f.rock, &ground, (int32_t[]){128, 0, 3500}, words);
    assert_int_equal(words[2], 3000);
    // In the air.
    ph_layout_round_position(f.rock, &ground, (int32_t[]){128, 0, 1000}, words);
    assert_int_equal(words[2], 960);
    // A class without a ground has its own z.
    ph_layout_round_position(f.creature, &ground, (int32_t[]){63, 0, 1234}, words);
    assert_int_equal(words[2], 1232);
    teardown(&f);
}

static void what_was_rounded_rounds_to_itself(void** state)
{
    (void)state;
    test_rng rng = {.state = 11};
    random_schema tables;
    const ph_ground ground = random_record_ground();
    for (int round = 0; round < 200; ++round) {
        random_schema_fill(&tables, &rng);
        ph_schema* schema;
        ph_layouts layouts;
        assert_int_equal(ph_schema_create(tables.classes, tables.class_count, NULL, &schema, NULL),
                         PH_OK);
        assert_int_equal(ph_layouts_create(&layouts, schema, NULL), PH_OK);
        for (int i = 0; i < 50; ++i) {
            int32_t position_mm[3];
            for (int k = 0; k < 3; ++k) {
                position_mm[k] = (int32_t)test_rng_below(&rng, 100000) - 50000;
            }
            uint32_t words[3];
            uint32_t again[3];
            ph_layout_round_position(&layouts.layouts[0], &ground, position_mm, words);
            memcpy(position_mm, words, sizeof words);
            ph_layout_round_position(&layouts.layouts[0], &ground, position_mm, again);
            assert_memory_equal(again, words, sizeof words);
        }
        ph_layouts_destroy(&layouts);
        ph_schema_destroy(schema);
    }
}

static void without_memory_there_are_none(void** state)
{
    (void)state;
    fixture f = setup();
    test_memory memory = {.fail_at = 1};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_layouts layouts;
    memset(&layouts, 0xAB, sizeof layouts);
    assert_int_equal(ph_layouts_create(&layouts, f.schema, &allocator), PH_ERROR_MEMORY);
    assert_null(layouts.layouts);
    assert_int_equal(layouts.count, 0);
    ph_layouts_destroy(&layouts);

    assert_int_equal(ph_layouts_create(&layouts, f.schema, &allocator), PH_OK);
    assert_int_equal(memory.live_count, 1);
    ph_layouts_destroy(&layouts);
    ph_layouts_destroy(&layouts); // {0} now
    test_memory_assert_clean(&memory);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_texts_lie_behind_each_other),
        cmocka_unit_test(properties_are_sorted_by_what_they_are),
        cmocka_unit_test(the_dearest_enter_is_known),
        cmocka_unit_test(a_reset_block_is_initial),
        cmocka_unit_test(any_other_word_is_not_initial),
        cmocka_unit_test(a_stored_text_leaves_nothing_of_the_last_one),
        cmocka_unit_test(positions_are_rounded_down_to_the_step),
        cmocka_unit_test(a_ground_gives_the_height_at_the_rounded_place),
        cmocka_unit_test(what_was_rounded_rounds_to_itself),
        cmocka_unit_test(without_memory_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
