// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The ledger of what is in flight: what went in comes out, oldest first, round and round.

#include "support/test_support.h"

#include "packet/flight.h"

#include <string.h>

enum { UNITS = 100 };

typedef struct fixture {
    uint32_t units[UNITS];
    ph_flight flight;
} fixture;

static void setup(fixture* f, bool is_wide)
{
    memset(f->units, 0xA5, sizeof f->units);
    ph_flight_init(&f->flight, f->units, UNITS, is_wide);
}

enum { NO_PLACE = UINT16_MAX };

static uint16_t add_behind(ph_flight* flight, int slot, uint64_t properties, const char* values,
                           uint16_t older)
{
    ph_flight_item item = {
        .properties = properties,
        .score = (float)slot + 0.5f,
        .mileage_mm = 1000u + (uint32_t)slot,
        .slot = (uint16_t)slot,
        .older = older,
        .jumps = 9,
        .kind = 2,
        .is_jump = slot % 2 == 0,
        .value_bytes = (uint16_t)strlen(values),
    };
    const uint16_t place = ph_flight_add(flight, &item);
    memcpy(item.values, values, item.value_bytes);
    return place;
}

static uint16_t add(ph_flight* flight, int slot, uint64_t properties, const char* values)
{
    return add_behind(flight, slot, properties, values, NO_PLACE);
}

static void an_item_reads_back(void** state)
{
    (void)state;
    for (int is_wide = 0; is_wide <= 1; ++is_wide) {
        fixture f;
        setup(&f, is_wide != 0);
        const uint64_t properties = is_wide != 0 ? UINT64_C(0x8000000100000005) : 5;
        const ph_flight_stamp stamp = {.sent_us = 12345, .sequence = 7, .tick = UINT32_MAX};
        assert_true(ph_flight_begin(&f.flight, &stamp, NULL));
        const uint16_t place = add(&f.flight, 65534, properties, "hello");
        ph_flight_commit(&f.flight);
        const ph_flight_item item = ph_flight_read(&f.flight, place);
        assert_true(item.properties == properties);
        assert_true(item.score == 65534.5f);
        assert_int_equal(item.mileage_mm, 66534);
        assert_int_equal(item.slot, 65534);
        assert_int_equal(item.older, NO_PLACE);
        assert_int_equal(item.jumps, 9);
        assert_int_equal(item.kind, 2);
        assert_int_equal(item.value_bytes, 5);
        assert_memory_equal(item.values, "hello\0\0", 8); // no rubbish up to the next unit
        assert_true(item.is_jump);
        assert_int_equal(ph_flight_oldest(&f.flight)->stamp.sent_us, 12345);
        assert_int_equal(ph_flight_oldest(&f.flight)->stamp.sequence, 7);
        assert_int_equal(ph_flight_oldest(&f.flight)->stamp.tick, UINT32_MAX);
        assert_true(ph_flight_validate(&f.flight));
    }
}

static void a_withdrawn_item_says_nothing_and_keeps_its_place(void** state)
{
    (void)state;
    for (int is_wide = 0; is_wide <= 1; ++is_wide) {
        fixture f;
        setup(&f, is_wide != 0);
        const uint64_t properties = is_wide != 0 ? UINT64_MAX : 5;
        assert_true(ph_flight_begin(&f.flight, &(ph_flight_stamp){0}, NULL));
        const uint16_t first = add(&f.flight, 3, properties, "hello");
        const uint16_t second = add(&f.flight, 3, properties, "world!");
        ph_flight_withdraw(&f.flight, first);
        ph_flight_commit(&f.flight);
        assert_true(ph_flight_validate(&f.flight));
        assert_true(ph_flight_read(&f.flight, first).properties == 0);
        assert_memory_equal(ph_flight_read(&f.flight, first).values, "hello", 5);
        assert_true(ph_flight_read(&f.flight, second).properties == properties);
        ph_flight_walk walk = ph_flight_walk_make(&f.flight, ph_flight_oldest(&f.flight));
        assert_int_equal(walk.place, first);
        ph_flight_walk_on(&walk);
        assert_int_equal(walk.place, second);
    }
}

static void an_eye_stands_before_the_items(void** state)
{
    (void)state;
    fixture f;
    setup(&f, false);
    const int32_t eye_mm[3] = {-1, 2, INT32_MIN};
    assert_true(ph_flight_begin(&f.flight, &(ph_flight_stamp){.sent_us = 1}, eye_mm));
    const uint16_t place = add(&f.flight, 3, 1, "abc");
    ph_flight_commit(&f.flight);
    const ph_flight_packet* packet = ph_flight_oldest(&f.flight);
    int32_t read_mm[3];
    ph_flight_eye(&f.flight, packet, read_mm);
    assert_memory_equal(read_mm, eye_mm, sizeof eye_mm);
    assert_int_equal(ph_flight_walk_make(&f.flight, packet).place, place);
}

static void at_most_64_packets(void** state)
{
    (void)state;
    static uint32_t units[1000];
    ph_flight flight;
    ph_flight_init(&flight, units, 1000, false);
    for (int i = 0; i < PH_FLIGHT_MAX; ++i) {
        assert_true(ph_flight_has_place(&flight));
        assert_true(ph_flight_begin(&flight, &(ph_flight_stamp){.sent_us = (uint64_t)i}, NULL));
        add(&flight, i, 1, "");
        ph_flight_commit(&flight);
    }
    assert_false(ph_flight_has_place(&flight));
    ph_flight_retire(&flight);
    assert_true(ph_flight_has_place(&flight));
    assert_int_equal(ph_flight_oldest(&flight)->stamp.sent_us, 1);
}

static void a_cancelled_packet_leaves_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f, false);
    const int32_t eye_mm[3] = {1, 2, 3};
    assert_true(ph_flight_begin(&f.flight, &(ph_flight_stamp){.sent_us = 1}, eye_mm));
    ph_flight_cancel(&f.flight);
    assert_true(ph_flight_validate(&f.flight));
    assert_int_equal(f.flight.head, 0);
    assert_true(ph_flight_begin(&f.flight, &(ph_flight_stamp){.sent_us = 2}, NULL));
    ph_flight_cancel(&f.flight);
    assert_int_equal(f.flight.head, 0);
}

// A model: a queue of packets, each with its items; the ring may refuse, but never forget.
typedef struct model_packet {
    int count;
    uint16_t places[8];
    uint16_t older[8]; // of the items; NO_PLACE where none is left
    char values[8][12];
    bool has_eye;
    int32_t eye_mm[3];
} model_packet;

static void assert_packet(const ph_flight* flight, const ph_flight_packet* packet,
                          const model_packet* expected)
{
    assert_int_equal(packet->item_count, expected->count);
    assert_int_equal(packet->has_eye, expected->has_eye);
    if (packet->has_eye) {
        int32_t eye_mm[3];
        ph_flight_eye(flight, packet, eye_mm);
        assert_memory_equal(eye_mm, expected->eye_mm, sizeof eye_mm);
    }
    ph_flight_walk walk = ph_flight_walk_make(flight, packet);
    for (int i = 0; i < expected->count; ++i, ph_flight_walk_on(&walk)) {
        assert_int_equal(walk.place, expected->places[i]);
        const ph_flight_item item = ph_flight_read(flight, walk.place);
        assert_int_equal(item.value_bytes, strlen(expected->values[i]));
        assert_memory_equal(item.values, expected->values[i], item.value_bytes);
        assert_true(expected->older[i] == NO_PLACE || item.older == expected->older[i]);
    }
}

// older: the packet sent before, if it is still in flight. Items stand behind its first.
static bool try_send(ph_flight* flight, model_packet* sent, const model_packet* older,
                     test_rng* rng)
{
    *sent = (model_packet){.has_eye = test_rng_below(rng, 3) == 0};
    for (int axis = 0; axis < 3; ++axis) {
        sent->eye_mm[axis] = (int32_t)test_rng_next(rng);
    }
    if (!ph_flight_begin(flight, &(ph_flight_stamp){.sent_us = 0},
                         sent->has_eye ? sent->eye_mm : NULL)) {
        return false;
    }
    const int wanted = (int)test_rng_below(rng, 6);
    for (int i = 0; i < wanted; ++i) {
        char* values = sent->values[sent->count];
        const size_t length = test_rng_below(rng, 11);
        for (size_t k = 0; k < length; ++k) {
            values[k] = (char)('a' + test_rng_below(rng, 26));
        }
        values[length] = '\0';
        if (!ph_flight_has_room(flight, length)) {
            ph_flight_item refused = {.properties = 1, .value_bytes = (uint16_t)length};
            uint16_t place;
            assert_false(ph_flight_try_add(flight, &refused, &place));
            break;
        }
        sent->older[sent->count] = older == NULL ? NO_PLACE : older->places[0];
        sent->places[sent->count] = add_behind(flight, i, 1, values, sent->older[sent->count]);
        assert_true(ph_flight_is_open(flight, sent->places[sent->count]));
        assert_false(older != NULL && ph_flight_is_open(flight, older->places[0]));
        ++sent->count;
    }
    if (sent->count == 0) {
        ph_flight_cancel(flight);
        return false;
    }
    ph_flight_commit(flight);
    assert_false(ph_flight_is_open(flight, sent->places[0]));
    return true;
}

// The next packet of a queue of so many.
static bool try_send_next(ph_flight* flight, model_packet* packets, int first, int count,
                          test_rng* rng)
{
    const model_packet* older = count > 0 ? &packets[(first + count - 1) % PH_FLIGHT_MAX] : NULL;
    return try_send(flight, &packets[(first + count) % PH_FLIGHT_MAX], older, rng);
}

// The oldest is gone: no code may look for it any more.
static void forget_oldest(model_packet* packets, int first)
{
    model_packet* next = &packets[(first + 1) % PH_FLIGHT_MAX];
    for (int i = 0; i < next->count; ++i) {
        next->older[i] = NO_PLACE;
    }
}

static void the_ring_keeps_what_it_took(void** state)
{
    (void)state;
    test_rng rng = {.state = 4101};
    fixture f;
    setup(&f, false);
    static model_packet packets[PH_FLIGHT_MAX];
    int first = 0;
    int count = 0;
    int sent_count = 0;
    for (int round = 0; round < 20000; ++round) {
        if (test_rng_below(&rng, 2) == 0 && ph_flight_has_place(&f.flight)) {
            const bool is_sent = try_send_next(&f.flight, packets, first, count, &rng);
            count += is_sent;
            sent_count += is_sent;
        } else if (count > 0) {
            assert_packet(&f.flight, ph_flight_oldest(&f.flight), &packets[first]);
            ph_flight_retire(&f.flight);
            forget_oldest(packets, first);
            first = (first + 1) % PH_FLIGHT_MAX;
            --count;
        }
        assert_int_equal(f.flight.count, count);
        assert_true(ph_flight_validate(&f.flight));
    }
    assert_true(sent_count > 2000);
}

static void a_larger_ring_takes_everything_along(void** state)
{
    (void)state;
    test_rng rng = {.state = 4102};
    for (int round = 0; round < 500; ++round) {
        fixture f;
        setup(&f, false);
        static model_packet packets[PH_FLIGHT_MAX];
        int first = 0;
        int count = 0;
        for (int i = 0; i < 40; ++i) {
            if (test_rng_below(&rng, 3) != 0) {
                count += try_send_next(&f.flight, packets, first, count, &rng);
            } else if (count > 0) {
                ph_flight_retire(&f.flight);
                forget_oldest(packets, first);
                first = (first + 1) % PH_FLIGHT_MAX;
                --count;
            }
        }
        const ph_flight before = f.flight;
        uint32_t larger[2 * UNITS];
        ph_flight_move(&f.flight, larger, 2 * UNITS);
        assert_true(ph_flight_validate(&f.flight));
        for (int i = 0; i < count; ++i) {
            model_packet* packet = &packets[(first + i) % PH_FLIGHT_MAX];
            for (int k = 0; k < packet->count; ++k) {
                packet->places[k] = ph_flight_moved(&before, packet->places[k]);
                if (packet->older[k] != NO_PLACE) {
                    packet->older[k] = ph_flight_moved(&before, packet->older[k]);
                }
            }
            assert_packet(&f.flight, ph_flight_oldest(&f.flight), packet);
            ph_flight_retire(&f.flight);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_reads_back),
        cmocka_unit_test(a_withdrawn_item_says_nothing_and_keeps_its_place),
        cmocka_unit_test(an_eye_stands_before_the_items),
        cmocka_unit_test(at_most_64_packets),
        cmocka_unit_test(a_cancelled_packet_leaves_nothing),
        cmocka_unit_test(the_ring_keeps_what_it_took),
        cmocka_unit_test(a_larger_ring_takes_everything_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
