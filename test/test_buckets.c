// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Shelves and buckets: what makes a priority, what goes along, that no entity starves, and the same
// bits everywhere.

#include "support/ranked_slots.h"

#include <pinhole/schedule.h>

#include <math.h>
#include <string.h>

#define POSITION UINT64_C(1)
#define HAT UINT64_C(2)
#define LAST (UINT64_C(1) << 63)

// All entities stand 8 m away and have walked one metre: an eighth, the first bucket of its shelf.
static void setup(ranked_slots* f)
{
    ranked_slots_setup(f, ph_scheduler_buckets());
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        f->distance_mm[i] = 8000.0f;
        f->mileage_mm[i] = 1000;
        f->dirty[i] = POSITION;
    }
}

// ---- priorities

static void a_position_counts_by_its_path_over_the_distance(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[1] = 4000.0f;
    f.mileage_mm[2] = 4000;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.125f);
    assert_true(f.priority[1] == 0.25f);
    assert_true(f.priority[2] == 0.5f);
}

// An entity puts on a hat, without moving.
static void something_else_counts_as_half_a_metre_each(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.mileage_mm[0] = f.mileage_mm[1] = 0;
    f.dirty[0] = f.dirty[1] = HAT;
    f.change[0] = 1.0f;
    f.change[1] = 4.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.0625f);
    assert_true(f.priority[1] == 0.25f);
}

static void an_entity_stands_where_its_best_property_does(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.dirty[0] = f.dirty[1] = POSITION | HAT;
    f.change[0] = 1.0f; // less than the path
    f.change[1] = 4.0f; // more
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.125f);
    assert_true(f.priority[1] == 0.25f);
}

static void the_smallest_thing_that_is_due_has_its_turn(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.mileage_mm[0] = 0;
    f.dirty[0] = LAST;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] > 0.0f && f.priority[0] <= 0.002f);
}

static void the_weight_multiplies(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.weight[0] = 4.0f;
    f.weight[1] = 0.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.5f);
    assert_true(f.priority[1] == 0.0f);
}

static void nothing_due_and_an_empty_slot_have_no_priority(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.dirty[0] = 0;
    f.distance_mm[1] = INFINITY;
    f.score[0] = f.score[1] = 7.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.0f && f.score[0] == 0.0f);
    assert_true(f.priority[1] == 0.0f && f.score[1] == 0.0f);
}

static void only_the_slots_it_is_given_are_touched(void** state)
{
    (void)state;
    for (int slot_count = 0; slot_count < 20; ++slot_count) {
        ranked_slots f;
        setup(&f);
        f.ranking.slot_count = slot_count;
        ranked_slots_rank(&f);
        for (int i = 0; i < RANKED_SLOTS; ++i) {
            assert_true(f.score[i] == (i < slot_count ? 1.0f : 0.0f));
        }
    }
}

// ---- shelves and buckets

static void a_shelf_has_four_buckets(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    for (int i = 0; i < 8; ++i) {
        f.distance_mm[i] = 1000.0f;
        f.mileage_mm[i] = 1000 + 125 * (uint32_t)i;
    }
    ranked_slots_rank(&f);
    for (int i = 0; i < 8; ++i) {
        assert_true(f.priority[i] == 1.0f + 0.25f * (float)(i / 2));
    }
}

static void waiting_multiplies(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    for (int send = 1; send <= 4; ++send) {
        ranked_slots_rank(&f);
        assert_true(f.score[0] == (float)send);
        assert_true(f.priority[0] == 0.125f * (float)send);
    }
}

// An entity that stands 50 m away puts on a hat, among others that walk about at 20 m. One in 32 is
// served at every send.
static void no_entity_starves(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    memset(f.mileage_mm, 0, sizeof f.mileage_mm);
    for (int i = 0; i < RANKED_SLOTS - 1; ++i) {
        f.distance_mm[i] = 20000.0f;
    }
    f.distance_mm[RANKED_SLOTS - 1] = 50000.0f;
    f.dirty[RANKED_SLOTS - 1] = HAT;
    f.change[RANKED_SLOTS - 1] = 1.0f;
    int sends = 0;
    for (bool is_served = false; !is_served; ++sends) {
        assert_true(sends < 2000);
        for (int i = 0; i < RANKED_SLOTS - 1; ++i) {
            f.mileage_mm[i] += 200;
        }
        ranked_slots_rank(&f);
        for (int served = 0; served < RANKED_SLOTS / 32; ++served) {
            int best = 0;
            for (int i = 1; i < RANKED_SLOTS; ++i) {
                best = f.priority[i] > f.priority[best] ? i : best;
            }
            f.priority[best] = 0.0f;
            f.mileage_mm[best] = 0;
            f.score[best] = f.scheduler.sent(f.scheduler.context, f.score[best]);
            is_served |= best == RANKED_SLOTS - 1;
        }
    }
    assert_true(sends > 32); // not before every other entity was there once
}

static void sent_starts_anew_and_lost_adds_back(void** state)
{
    (void)state;
    const ph_scheduler scheduler = ph_scheduler_buckets();
    assert_string_equal(scheduler.name, "buckets");
    assert_true(scheduler.wants_change);
    assert_true(scheduler.sent(scheduler.context, 17.0f) == 0.0f);
    assert_true(scheduler.lost(scheduler.context, 3.0f, 17.0f) == 20.0f);
}

// ---- the filter

static uint64_t filter(const ph_visit* visit)
{
    const ph_scheduler scheduler = ph_scheduler_buckets();
    return scheduler.filter(scheduler.context, visit);
}

static ph_visit walker(uint32_t mileage_mm, float change)
{
    return (ph_visit){
        .distance_mm = 50000.0f,
        .weight = 1.0f,
        .mileage_mm = mileage_mm,
        .diff = POSITION | HAT | LAST,
        .significant = POSITION | HAT,
        .position = POSITION,
        .change = change,
    };
}

static void a_position_up_to_two_shelves_below_goes_along(void** state)
{
    (void)state;
    ph_visit visit = walker(1000, 1.0f);
    assert_true(filter(&visit) == (POSITION | HAT));
    visit = walker(125, 1.0f);
    assert_true(filter(&visit) == (POSITION | HAT));
}

static void a_position_further_below_waits(void** state)
{
    (void)state;
    ph_visit visit = walker(124, 1.0f);
    assert_true(filter(&visit) == HAT);
}

static void everything_else_goes_along_when_significant(void** state)
{
    (void)state;
    ph_visit visit = walker(1000000, 0.01f);
    assert_true(filter(&visit) == (POSITION | HAT));
    visit.significant = LAST;
    assert_true(filter(&visit) == (POSITION | LAST));
}

static void the_smallest_path_counts_as_a_step(void** state)
{
    (void)state;
    ph_visit visit = walker(0, 0.128f);
    assert_true(filter(&visit) == (POSITION | HAT));
    visit = walker(0, 0.129f);
    assert_true(filter(&visit) == HAT);
}

// However much has been fidgeting.
static void insignificant_differences_do_not_hold_up_a_position(void** state)
{
    (void)state;
    ph_visit visit = walker(20, 100.0f);
    visit.significant = POSITION;
    assert_true(filter(&visit) == POSITION);
}

static void what_settled_or_got_lost_goes_along_always(void** state)
{
    (void)state;
    ph_visit visit = walker(0, 10.0f);
    visit.settled = LAST;
    assert_true(filter(&visit) == (HAT | LAST));
    visit.lost = POSITION;
    assert_true(filter(&visit) == (POSITION | HAT | LAST));
}

static void nothing_goes_that_is_not_due(void** state)
{
    (void)state;
    ph_visit visit = walker(1000, 1.0f);
    visit.diff = HAT;
    visit.significant = visit.lost = visit.settled = UINT64_MAX;
    assert_true(filter(&visit) == HAT);
}

static void the_position_is_where_the_visit_says(void** state)
{
    (void)state;
    ph_visit visit = walker(20, 1.0f);
    visit.position = LAST;
    visit.significant = LAST | HAT;
    assert_true(filter(&visit) == HAT);
}

// ---- the same bits with every compiler and vector width

static void draw(ranked_slots* f, test_rng* rng)
{
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        const uint64_t shape = test_rng_below(rng, 20);
        f->distance_mm[i] = shape == 0 ? INFINITY : 1.0f + (float)test_rng_below(rng, 500000);
        f->weight[i] = shape % 3 == 0 ? 1.0f : (float)test_rng_unit(rng) * 8.0f;
        f->mileage_mm[i] = (uint32_t)test_rng_below(rng, shape == 1 ? UINT32_MAX : 5000);
        f->change[i] = shape % 2 == 0 ? 0.0f : (float)test_rng_unit(rng) * 20.0f;
        f->dirty[i] = shape % 4 == 0 ? 0 : UINT64_C(1) << test_rng_below(rng, 64);
    }
}

static void random_priorities_have_a_golden_hash(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    test_rng rng = {.state = 617};
    ph_hash hash = ph_hash_make(0);
    for (int round = 0; round < 500; ++round) {
        draw(&f, &rng);
        f.ranking.slot_count = RANKED_SLOTS - (int)test_rng_below(&rng, 9);
        ranked_slots_rank(&f);
        ranked_slots_hash(&f, &hash);
    }
    assert_true(ph_hash_value(&hash) == UINT64_C(0x98FAD295B701B9E6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_counts_by_its_path_over_the_distance),
        cmocka_unit_test(something_else_counts_as_half_a_metre_each),
        cmocka_unit_test(an_entity_stands_where_its_best_property_does),
        cmocka_unit_test(the_smallest_thing_that_is_due_has_its_turn),
        cmocka_unit_test(the_weight_multiplies),
        cmocka_unit_test(nothing_due_and_an_empty_slot_have_no_priority),
        cmocka_unit_test(only_the_slots_it_is_given_are_touched),
        cmocka_unit_test(a_shelf_has_four_buckets),
        cmocka_unit_test(waiting_multiplies),
        cmocka_unit_test(no_entity_starves),
        cmocka_unit_test(sent_starts_anew_and_lost_adds_back),
        cmocka_unit_test(a_position_up_to_two_shelves_below_goes_along),
        cmocka_unit_test(a_position_further_below_waits),
        cmocka_unit_test(everything_else_goes_along_when_significant),
        cmocka_unit_test(the_smallest_path_counts_as_a_step),
        cmocka_unit_test(insignificant_differences_do_not_hold_up_a_position),
        cmocka_unit_test(what_settled_or_got_lost_goes_along_always),
        cmocka_unit_test(nothing_goes_that_is_not_due),
        cmocka_unit_test(the_position_is_where_the_visit_says),
        cmocka_unit_test(random_priorities_have_a_golden_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
