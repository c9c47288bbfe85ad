// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The way of one slot through what its client has been told: every arrow of the drawing in
// replica.h, and which value counts as the newest.

#include "support/test_support.h"

#include "base/compiler.h"
#include "packet/classic_records.h"
#include "replication/replica.h"

#include <pinhole/schedule.h>

#include <string.h>

enum { SLOT = 3, SLOTS = 8, UNITS = 400 };
enum { POSITION, A, B, PROPERTY_COUNT };
#define BIT(property) (UINT64_C(1) << (property))

static const ph_property_def properties[PROPERTY_COUNT] = {
    [POSITION] = {.name = "position", .coding = PH_CODING_POSITION},
    [A] = {.name = "a", .coding = PH_CODING_RANGE, .hi = 255, .default_value = 7},
    [B] = {.name = "b", .coding = PH_CODING_RANGE, .hi = 255},
};

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packing;
    uint32_t units[UNITS];
    uint64_t block[200];
    ph_flight flight;
    ph_scheduler scheduler;
    ph_replicas_def def;
    ph_replicas replicas;
} fixture;

static void setup(fixture* f)
{
    memset(f, 0, sizeof *f);
    const ph_class_def described = {
        .name = "thing", .properties = properties, .property_count = PROPERTY_COUNT};
    assert_int_equal(ph_schema_create(&described, 1, NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    f->packing = ph_packing_make(&f->layouts.layouts[0]);
    ph_flight_init(&f->flight, f->units, UNITS, false);
    f->scheduler = ph_scheduler_score();
    f->def = (ph_replicas_def){
        .rules = {.layouts = &f->layouts, .packings = &f->packing, .tick_us = 100000},
        .flight = &f->flight,
        .scheduler = &f->scheduler,
        .known_stride = f->packing.stride,
        .slot_count = SLOTS,
    };
    assert_true(ph_replicas_bytes(&f->def) <= sizeof f->block);
    ph_replicas_init(&f->replicas, &f->def, f->block);
}

static void teardown(fixture* f)
{
    assert_true(ph_replicas_validate(&f->replicas));
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

// A visit then costs as many lines as a replica is long, wherever the allocator put it.
static void replicas_begin_with_a_cache_line(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (int words = 0; words < PH_CACHE_LINE / 8; ++words) {
        ph_replicas replicas;
        f.def.is_pinhole = words % 2 == 0;
        const size_t size = ph_replicas_bytes(&f.def);
        assert_true(size + 8 * (size_t)words <= sizeof f.block);
        memset(f.block, 0, sizeof f.block);
        ph_replicas_init(&replicas, &f.def, f.block + words);
        for (int slot = 0; slot < SLOTS; ++slot) {
            const uintptr_t at = (uintptr_t)ph_replicas_at(&replicas, slot);
            assert_int_equal(at % PH_CACHE_LINE, 0);
        }
        const uint8_t* end = replicas.overshoots + SLOTS;
        assert_true(end <= (const uint8_t*)(f.block + words) + size);
    }
    f.def.is_pinhole = false;
    ph_replicas_init(&f.replicas, &f.def, f.block);
    teardown(&f);
}

static void enter(fixture* f)
{
    ph_replicas_enter(&f->replicas, SLOT, 0, f->layouts.layouts[0].all);
}

// One packet with one record: properties A and B have these values, the position is 0.
static void send(fixture* f, ph_record_kind kind, uint64_t told, uint8_t a, uint8_t b)
{
    ph_flight_item item = {
        .properties = told,
        .slot = SLOT,
        .kind = (uint8_t)kind,
        .older = ph_replicas_at(&f->replicas, SLOT)->newest_item,
        .mileage_mm = 10,
        .score = f->replicas.score[SLOT],
        .jumps = 2,
        .value_bytes = (uint16_t)ph_packing_size(&f->packing, told),
    };
    assert_true(ph_flight_begin(&f->flight, &(ph_flight_stamp){0}, NULL));
    const uint16_t place = ph_flight_add(&f->flight, &item);
    const uint32_t words[] = {0, 0, 0, a, b};
    ph_packing_store_all(&f->packing, &f->layouts.layouts[0], told, words, item.values);
    ph_replicas_sent(&f->replicas, &item, place, words);
    ph_flight_commit(&f->flight);
    assert_true(ph_replicas_validate(&f->replicas));
}

// The oldest packet comes to its end. @return Whether the slot is to be freed.
static bool resolve(fixture* f, bool is_applied)
{
    const ph_flight_walk walk = ph_flight_walk_make(&f->flight, ph_flight_oldest(&f->flight));
    const ph_flight_item item = ph_flight_read(&f->flight, walk.place);
    const bool is_free = is_applied ? ph_replicas_acked(&f->replicas, &item, 0)
                                    : ph_replicas_lost(&f->replicas, &item);
    ph_flight_retire(&f->flight);
    assert_true(ph_replicas_validate(&f->replicas));
    return is_free;
}

static int newest(const fixture* f, int property)
{
    return *ph_replicas_newest(&f->replicas, SLOT, property);
}

static void become_entered(fixture* f)
{
    enter(f);
    send(f, PH_RECORD_ENTER, BIT(POSITION) | BIT(A), 50, 0);
    assert_false(resolve(f, true));
    assert_int_equal(f->replicas.state[SLOT], PH_REPLICA_ENTERED);
}

static void an_enter_makes_everything_known(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f);
    assert_int_equal(f.replicas.newcomer_count, 1);
    assert_true(f.replicas.dirty[SLOT] == 7);
    send(&f, PH_RECORD_ENTER, BIT(POSITION) | BIT(B), 0, 9);
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_ENTERING);
    assert_int_equal(f.replicas.newcomer_count, 0);
    assert_true(f.replicas.dirty[SLOT] == 0);
    assert_int_equal(newest(&f, A), 7); // absent: initial
    assert_int_equal(newest(&f, B), 9);
    assert_false(resolve(&f, true));
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_ENTERED);
    assert_true(f.replicas.are_references_stale);
    assert_int_equal(newest(&f, A), 7);
    assert_int_equal(newest(&f, B), 9);
    assert_int_equal(ph_replicas_at(&f.replicas, SLOT)->jumps, 2);
    teardown(&f);
}

// All enters of send() were after two jumps.
static void an_entity_has_jumped_since_any_enter_in_flight(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f);
    assert_false(ph_replicas_has_jumped(&f.replicas, SLOT, 3));
    send(&f, PH_RECORD_ENTER, BIT(POSITION), 0, 0);
    send(&f, PH_RECORD_ENTER, BIT(POSITION), 0, 0);
    assert_false(ph_replicas_has_jumped(&f.replicas, SLOT, 2));
    assert_true(ph_replicas_has_jumped(&f.replicas, SLOT, 3));
    resolve(&f, false);
    assert_true(ph_replicas_has_jumped(&f.replicas, SLOT, 3));
    resolve(&f, false);
    assert_false(ph_replicas_has_jumped(&f.replicas, SLOT, 3));
    teardown(&f);
}

static void the_newest_is_the_last_that_was_sent(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    send(&f, PH_RECORD_UPDATE, BIT(A), 1, 0);
    send(&f, PH_RECORD_UPDATE, BIT(B), 0, 2);
    assert_int_equal(newest(&f, A), 1);
    assert_int_equal(newest(&f, B), 2);
    send(&f, PH_RECORD_UPDATE, BIT(A) | BIT(B), 3, 4);
    assert_int_equal(newest(&f, A), 3);
    assert_int_equal(newest(&f, B), 4);
    assert_false(resolve(&f, true));
    assert_false(resolve(&f, true));
    assert_int_equal(newest(&f, A), 3); // still in flight
    assert_false(resolve(&f, false));
    assert_int_equal(newest(&f, A), 1); // known
    assert_int_equal(newest(&f, B), 2);
    assert_true(f.replicas.dirty[SLOT] == (BIT(A) | BIT(B)));
    assert_true(ph_replicas_at(&f.replicas, SLOT)->lost == (BIT(A) | BIT(B)));
    teardown(&f);
}

static void a_loss_touches_what_nothing_newer_has_told(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    send(&f, PH_RECORD_UPDATE, BIT(A) | BIT(B), 1, 1);
    send(&f, PH_RECORD_UPDATE, BIT(B), 0, 2);
    assert_false(resolve(&f, false));
    assert_true(f.replicas.dirty[SLOT] == BIT(A));
    assert_true(ph_replicas_at(&f.replicas, SLOT)->lost == BIT(A));
    teardown(&f);
}

// A second enter tells everything, also by what it leaves out.
static void a_second_enter_counts_for_all_properties(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f);
    send(&f, PH_RECORD_ENTER, BIT(POSITION) | BIT(A), 50, 0);
    send(&f, PH_RECORD_ENTER, BIT(POSITION) | BIT(B), 0, 60);
    assert_int_equal(newest(&f, A), 7);
    assert_false(resolve(&f, true));
    assert_int_equal(newest(&f, A), 7);
    assert_false(resolve(&f, false));
    assert_int_equal(newest(&f, A), 50);
    assert_true(f.replicas.dirty[SLOT] == 7);
    teardown(&f);
}

static void lost_enters_make_a_newcomer_again(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f);
    send(&f, PH_RECORD_ENTER, BIT(POSITION), 0, 0);
    send(&f, PH_RECORD_ENTER, BIT(POSITION), 0, 0);
    assert_false(resolve(&f, false));
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_ENTERING);
    assert_false(resolve(&f, false));
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_ABSENT);
    assert_int_equal(f.replicas.newcomer_count, 1);
    assert_true(f.replicas.dirty[SLOT] == 7);
    teardown(&f);
}

static void a_lost_position_gives_its_path_back(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    f.replicas.mileage_mm[SLOT] = 500;
    send(&f, PH_RECORD_UPDATE, BIT(POSITION), 0, 0);
    assert_false(resolve(&f, false));
    assert_int_equal(f.replicas.mileage_mm[SLOT], 490);
    teardown(&f);
}

// The second told of the path from the first on.
static void two_lost_positions_give_the_whole_path_back(void** state)
{
    (void)state;
    for (int is_second_lost = 0; is_second_lost < 2; ++is_second_lost) {
        fixture f;
        setup(&f);
        become_entered(&f);
        f.replicas.mileage_mm[SLOT] = 500;
        send(&f, PH_RECORD_UPDATE, BIT(POSITION), 0, 0);
        send(&f, PH_RECORD_UPDATE, BIT(POSITION), 0, 0);
        assert_false(resolve(&f, false));
        assert_int_equal(f.replicas.mileage_mm[SLOT], 500);
        assert_false(resolve(&f, is_second_lost == 0));
        assert_int_equal(f.replicas.mileage_mm[SLOT], is_second_lost != 0 ? 480 : 500);
        teardown(&f);
    }
}

// It is known to be gone with the first, but the slot rests until nothing of it is in flight.
static void a_leave_may_be_told_twice(void** state)
{
    (void)state;
    for (int is_second_applied = 0; is_second_applied <= 1; ++is_second_applied) {
        fixture f;
        setup(&f);
        become_entered(&f);
        ph_replicas_leave(&f.replicas, SLOT);
        send(&f, PH_RECORD_LEAVE, 0, 0, 0);
        send(&f, PH_RECORD_LEAVE, 0, 0, 0);
        assert_false(resolve(&f, true));
        assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_LEFT);
        assert_true(f.replicas.dirty[SLOT] == 0);
        assert_true(resolve(&f, is_second_applied));
        assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_LEFT);
        teardown(&f);
    }
}

static void a_lost_leave_waits_for_the_one_behind_it(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    ph_replicas_leave(&f.replicas, SLOT);
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    assert_false(resolve(&f, false));
    assert_true(f.replicas.dirty[SLOT] == 0);
    assert_false(resolve(&f, false));
    assert_true(f.replicas.dirty[SLOT] != 0);
    teardown(&f);
}

static void a_leave_frees_the_slot_when_it_is_applied(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    f.replicas.are_references_stale = false;
    ph_replicas_leave(&f.replicas, SLOT);
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_LEAVING);
    assert_true(f.replicas.are_references_stale);
    assert_false(ph_replicas_is_gone(&f.replicas, SLOT));
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    assert_true(f.replicas.dirty[SLOT] == 0);
    assert_false(resolve(&f, false));
    assert_true(f.replicas.dirty[SLOT] != 0); // again
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    assert_true(resolve(&f, true));
    ph_replicas_free(&f.replicas, SLOT);
    assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_ABSENT);
    assert_int_equal(ph_replicas_at(&f.replicas, SLOT)->association, 2);
    assert_int_equal(f.replicas.leaving_count, 0);
    teardown(&f);
}

static void a_newcomer_that_leaves_is_gone_at_once(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f);
    ph_replicas_leave(&f.replicas, SLOT);
    assert_true(ph_replicas_is_gone(&f.replicas, SLOT));
    ph_replicas_free(&f.replicas, SLOT);
    assert_int_equal(ph_replicas_at(&f.replicas, SLOT)->association, 1);
    assert_int_equal(f.replicas.newcomer_count, 0);
    teardown(&f);
}

static void an_enter_in_flight_keeps_the_slot(void** state)
{
    (void)state;
    for (int is_applied = 0; is_applied <= 1; ++is_applied) {
        fixture f;
        setup(&f);
        enter(&f);
        send(&f, PH_RECORD_ENTER, BIT(POSITION), 0, 0);
        ph_replicas_leave(&f.replicas, SLOT);
        assert_int_equal(f.replicas.state[SLOT], PH_REPLICA_LEAVING_UNSURE);
        assert_false(ph_replicas_is_gone(&f.replicas, SLOT));
        // Applied: the client has it, and needs a leave. Lost: it has not.
        assert_int_equal(resolve(&f, is_applied != 0), is_applied == 0);
        assert_int_equal(f.replicas.state[SLOT],
                         is_applied != 0 ? PH_REPLICA_LEAVING : PH_REPLICA_LEAVING_UNSURE);
        teardown(&f);
    }
}

// As the pinhole profile does with a position that is told once more, exactly, in the same packet.
static void an_item_in_place_of_the_newest_counts_once(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    ph_flight_item item = {
        .properties = BIT(A),
        .slot = SLOT,
        .kind = PH_RECORD_UPDATE,
        .value_bytes = (uint16_t)ph_packing_size(&f.packing, BIT(A)),
    };
    assert_true(ph_flight_begin(&f.flight, &(ph_flight_stamp){0}, NULL));
    const uint16_t place = ph_flight_add(&f.flight, &item);
    const uint32_t words[] = {0, 0, 0, 0, 0};
    *item.values = 1;
    ph_replicas_sent(&f.replicas, &item, place, words);
    *item.values = 2;
    ph_replicas_sent(&f.replicas, &item, place, words);
    ph_flight_commit(&f.flight);
    assert_int_equal(ph_replicas_at(&f.replicas, SLOT)->in_flight, 1);
    assert_false(resolve(&f, true));
    assert_int_equal(newest(&f, A), 2);
    teardown(&f);
}

static float lost_score(void* context, float score, float before)
{
    (void)context;
    return score + 100.0f * before;
}

// The scheduler hears of each record that was lost, but for leaves.
static void a_loss_gives_the_scheduler_its_score_back(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.scheduler.lost = lost_score;
    become_entered(&f);
    f.replicas.score[SLOT] = 1.0f;
    send(&f, PH_RECORD_UPDATE, BIT(A), 1, 0);
    f.replicas.score[SLOT] = 0.5f;
    assert_false(resolve(&f, false));
    assert_float_equal(f.replicas.score[SLOT], 100.5f, 0.0f);
    ph_replicas_leave(&f.replicas, SLOT);
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    assert_false(resolve(&f, false));
    assert_float_equal(f.replicas.score[SLOT], 100.5f, 0.0f);
    teardown(&f);
}

// A refinement is owed to what is there alone.
static void what_leaves_is_not_refined(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    f.replicas.rounded[SLOT] = PH_ROUNDED;
    ph_replicas_leave(&f.replicas, SLOT);
    assert_int_equal(f.replicas.rounded[SLOT], 0);
    send(&f, PH_RECORD_LEAVE, 0, 0, 0);
    assert_true(resolve(&f, true));
    ph_replicas_free(&f.replicas, SLOT);
    // What never came, either.
    enter(&f);
    send(&f, PH_RECORD_ENTER, BIT(POSITION), 7, 0);
    f.replicas.rounded[SLOT] = PH_ROUNDED;
    assert_true(ph_replicas_validate(&f.replicas));
    assert_false(resolve(&f, false));
    assert_int_equal(f.replicas.rounded[SLOT], 0);
    teardown(&f);
}

static void validate_sees_damage(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    become_entered(&f);
    send(&f, PH_RECORD_UPDATE, BIT(A), 1, 0);
    const ph_replicas good = f.replicas;
#define DAMAGED(statement, repair)                                                                 \
    do {                                                                                           \
        statement;                                                                                 \
        assert_false(ph_replicas_validate(&f.replicas));                                           \
        repair;                                                                                    \
        assert_true(ph_replicas_validate(&f.replicas));                                            \
    } while (0)
    DAMAGED(++f.replicas.leaving_count, f.replicas = good);
    DAMAGED(f.replicas.state[SLOT] = 9, f.replicas.state[SLOT] = PH_REPLICA_ENTERED);
    DAMAGED(f.replicas.state[SLOT] = PH_REPLICA_ABSENT,
            f.replicas.state[SLOT] = PH_REPLICA_ENTERED);
    DAMAGED(ph_replicas_at(&f.replicas, SLOT)->in_flight = 0,
            ph_replicas_at(&f.replicas, SLOT)->in_flight = 1);
    DAMAGED(ph_replicas_at(&f.replicas, SLOT + 1)->in_flight = 1,
            ph_replicas_at(&f.replicas, SLOT + 1)->in_flight = 0);
    DAMAGED(f.replicas.rounded[SLOT + 1] = PH_ROUNDED, f.replicas.rounded[SLOT + 1] = 0);
    DAMAGED(ph_replicas_at(&f.replicas, 0)->association = 0,
            ph_replicas_at(&f.replicas, 0)->association = 1);
#undef DAMAGED
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_begin_with_a_cache_line),
        cmocka_unit_test(an_enter_makes_everything_known),
        cmocka_unit_test(an_entity_has_jumped_since_any_enter_in_flight),
        cmocka_unit_test(the_newest_is_the_last_that_was_sent),
        cmocka_unit_test(a_loss_touches_what_nothing_newer_has_told),
        cmocka_unit_test(a_second_enter_counts_for_all_properties),
        cmocka_unit_test(lost_enters_make_a_newcomer_again),
        cmocka_unit_test(a_lost_position_gives_its_path_back),
        cmocka_unit_test(two_lost_positions_give_the_whole_path_back),
        cmocka_unit_test(a_leave_may_be_told_twice),
        cmocka_unit_test(a_lost_leave_waits_for_the_one_behind_it),
        cmocka_unit_test(a_leave_frees_the_slot_when_it_is_applied),
        cmocka_unit_test(a_newcomer_that_leaves_is_gone_at_once),
        cmocka_unit_test(an_enter_in_flight_keeps_the_slot),
        cmocka_unit_test(an_item_in_place_of_the_newest_counts_once),
        cmocka_unit_test(a_loss_gives_the_scheduler_its_score_back),
        cmocka_unit_test(what_leaves_is_not_refined),
        cmocka_unit_test(validate_sees_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
