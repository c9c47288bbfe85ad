// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The baselines of a client at the horizon: going on, going back, and room for what is to come.

#include "support/client_scene.h"

#include "client/client_baselines.h"

#include <string.h>

enum { SLOTS = 40, MANY_SLOTS = 4000 };

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    test_memory memory;
    ph_allocator allocator;
    ph_client_baselines baselines;
} fixture;

static void setup(fixture* f, int capacity)
{
    *f = (fixture){.schema = client_scene_schema()};
    f->allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    assert_int_equal(
        ph_client_baselines_create(&f->baselines, &f->layouts, &f->allocator, capacity), PH_OK);
    f->baselines.rules.tick_us = SCENE_TICK_US;
}

static void teardown(fixture* f)
{
    ph_client_baselines_destroy(&f->baselines);
    test_memory_assert_clean(&f->memory);
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

static ph_record record_of(const fixture* f, ph_record_kind kind, int slot, uint32_t words[])
{
    const ph_layout* layout = &f->layouts.layouts[SCENE_WALKER];
    memset(words, 0, SCENE_WORDS_MAX * sizeof(uint32_t));
    words[layout->word[WALKER_POSITION]] = 160u * (uint32_t)slot;
    words[layout->word[WALKER_HEALTH]] = 42;
    return (ph_record){.kind = (uint8_t)kind,
                       .slot = (uint16_t)slot,
                       .association = 1,
                       .key = 100u + (uint32_t)slot,
                       .class_index = SCENE_WALKER,
                       .properties = layout->all & ~layout->texts,
                       .words = words};
}

static void note(fixture* f, uint32_t number, ph_record_kind kind, int slot)
{
    uint32_t words[SCENE_WORDS_MAX];
    const ph_record record = record_of(f, kind, slot, words);
    ph_client_baselines_add(&f->baselines, number, number, &record, 1);
}

static bool is_entered(const fixture* f, int slot)
{
    return f->baselines.slots[slot].baseline.is_entered;
}

static void it_moves_on_to_a_number_and_no_further(void** state)
{
    (void)state;
    fixture f;
    setup(&f, SLOTS);
    for (int i = 0; i < 4; ++i) {
        note(&f, UINT32_MAX - 1 + (uint32_t)i, PH_RECORD_ENTER, i); // numbers wrap
    }
    assert_false(is_entered(&f, 0));
    ph_client_baselines_advance(&f.baselines, 0);
    ph_client_baselines_commit(&f.baselines);
    assert_true(is_entered(&f, 0) && is_entered(&f, 1) && is_entered(&f, 2));
    assert_false(is_entered(&f, 3));
    assert_int_equal(f.baselines.key_base, 102);
    assert_int_equal(f.baselines.flight.count, 1);
    assert_true(ph_client_baselines_validate(&f.baselines));
    teardown(&f);
}

static void it_goes_back_to_where_it_was(void** state)
{
    (void)state;
    fixture f;
    setup(&f, SLOTS);
    note(&f, 1, PH_RECORD_ENTER, 7);
    ph_client_baselines_advance(&f.baselines, 1);
    ph_client_baselines_commit(&f.baselines);
    const uint64_t before = ph_client_baselines_digest(&f.baselines, SLOTS);
    note(&f, 2, PH_RECORD_LEAVE, 7);
    note(&f, 3, PH_RECORD_ENTER, 8);
    note(&f, 4, PH_RECORD_UPDATE, 8);
    for (uint32_t number = 2; number <= 4; ++number) {
        ph_client_baselines_advance(&f.baselines, number);
        assert_int_not_equal(ph_client_baselines_digest(&f.baselines, SLOTS), before);
        ph_client_baselines_roll_back(&f.baselines);
        assert_int_equal(ph_client_baselines_digest(&f.baselines, SLOTS), before);
        assert_int_equal(f.baselines.key_base, 107);
        assert_int_equal(f.baselines.flight.count, 3);
        assert_true(ph_client_baselines_validate(&f.baselines));
    }
    teardown(&f);
}

static void no_number_of_packets_is_too_much_for_few_slots(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 2);
    uint32_t words[2][SCENE_WORDS_MAX];
    for (uint32_t number = 1; number < 1000; ++number) {
        // Moved on in steps, so that the ring is as full as it gets.
        if (number % PH_FLIGHT_MAX == 0) {
            ph_client_baselines_advance(&f.baselines, number - number % 3 - 1);
            ph_client_baselines_commit(&f.baselines);
        } else if (f.baselines.flight.count == PH_FLIGHT_MAX) {
            ph_client_baselines_advance(&f.baselines, number - 60);
            ph_client_baselines_commit(&f.baselines);
        }
        const ph_record records[] = {record_of(&f, PH_RECORD_ENTER, 0, words[0]),
                                     record_of(&f, PH_RECORD_ENTER, 1, words[1])};
        assert_true(ph_client_baselines_has_room(&f.baselines, records, 2));
        ph_client_baselines_add(&f.baselines, number, number, records, 2);
        assert_true(ph_client_baselines_validate(&f.baselines));
    }
    teardown(&f);
}

// A sender's ring is as large as ours: beyond it there is no room, and what is there stays sound.
static void a_full_ring_says_so_and_has_room_again(void** state)
{
    (void)state;
    fixture f;
    setup(&f, MANY_SLOTS);
    uint32_t words[SCENE_WORDS_MAX];
    static ph_record records[1500];
    for (int i = 0; i < 1500; ++i) {
        records[i] = record_of(&f, PH_RECORD_ENTER, i, words);
    }
    uint32_t number = 0;
    uint32_t horizon = 0;
    int full_count = 0;
    for (int round = 0; round < 200; ++round) {
        const int count = 1 + round * 137 % 1500;
        while (!ph_client_baselines_has_room(&f.baselines, records, count)) {
            ++full_count;
            const int before = f.baselines.flight.count;
            ph_client_baselines_advance(&f.baselines, ++horizon);
            const bool has_room = ph_client_baselines_has_room(&f.baselines, records, count);
            ph_client_baselines_commit(&f.baselines);
            assert_int_equal(ph_client_baselines_has_room(&f.baselines, records, count), has_room);
            assert_int_equal(f.baselines.flight.count, before - 1);
        }
        ++number;
        ph_client_baselines_add(&f.baselines, number, number, records, count);
        assert_true(ph_flight_validate(&f.baselines.flight));
    }
    assert_in_range(full_count, 50, 200);
    teardown(&f);
}

static void the_ring_is_never_larger_than_a_senders(void** state)
{
    (void)state;
    fixture f;
    setup(&f, MANY_SLOTS);
    assert_int_equal(f.baselines.unit_count, PH_FLIGHT_UNITS_MAX);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_moves_on_to_a_number_and_no_further),
        cmocka_unit_test(it_goes_back_to_where_it_was),
        cmocka_unit_test(no_number_of_packets_is_too_much_for_few_slots),
        cmocka_unit_test(a_full_ring_says_so_and_has_room_again),
        cmocka_unit_test(the_ring_is_never_larger_than_a_senders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
