// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The score scheduler: how scores grow, what the filter lets through, and the same bits everywhere.

#include "support/ranked_slots.h"

#include <pinhole/schedule.h>

#include <math.h>

enum { ONE_SLOT = 5 };

#define POSITION UINT64_C(1)
#define HEADING UINT64_C(2)
#define LAST (UINT64_C(1) << 63)

// Every entity stands 10 m away and has something due.
static void setup(ranked_slots* f)
{
    ranked_slots_setup(f, ph_scheduler_score());
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        f->distance_mm[i] = 10000.0f;
        f->dirty[i] = HEADING;
    }
}

static uint64_t filter(const ranked_slots* f, const ph_visit* visit)
{
    return f->scheduler.filter(f->scheduler.context, visit);
}

// ---- scores

static void grows_by_nearness_at_every_send(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[ONE_SLOT] = 2500.0f;
    ranked_slots_rank(&f);
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 2.0f);
    assert_true(f.score[ONE_SLOT] == 8.0f);
    assert_memory_equal(f.priority, f.score, sizeof f.score);
}

static void an_entity_within_a_hand_gets_100_more(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[0] = 1.0f;
    f.distance_mm[1] = 80.0f;
    f.distance_mm[2] = 100.0f;
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 10100.0f);
    assert_true(f.score[1] == 225.0f);
    assert_true(f.score[2] == 100.0f);
}

static void the_weight_multiplies(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[0] = 80.0f;
    f.weight[0] = 4.0f;
    f.weight[1] = 0.0f;
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 900.0f);
    assert_true(f.score[1] == 0.0f && f.priority[1] == 0.0f);
}

// The hint may fall to 0 after the score has grown.
static void at_weight_0_an_old_score_gives_no_priority(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ranked_slots_rank(&f);
    f.weight[0] = 0.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 0.0f);
    f.weight[0] = 1.0f;
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 2.0f && f.priority[0] == 2.0f);
}

static void with_nothing_to_tell_the_score_grows_without_priority(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.dirty[0] = 0;
    f.dirty[1] = LAST;
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 1.0f && f.priority[0] == 0.0f);
    assert_true(f.score[1] == 1.0f && f.priority[1] == 1.0f);
    f.dirty[0] = POSITION;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] == 2.0f);
}

static void an_empty_slot_stays_at_zero(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[0] = INFINITY;
    f.distance_mm[1] = INFINITY;
    f.score[1] = 12.0f;
    ranked_slots_rank(&f);
    assert_true(f.score[0] == 0.0f && f.priority[0] == 0.0f);
    assert_true(f.score[1] == 0.0f && f.priority[1] == 0.0f);
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

static void sent_starts_anew_and_lost_adds_back(void** state)
{
    (void)state;
    const ph_scheduler scheduler = ph_scheduler_score();
    assert_string_equal(scheduler.name, "score");
    assert_true(scheduler.sent(scheduler.context, 17.5f) == 0.0f);
    assert_true(scheduler.lost(scheduler.context, 3.0f, 17.5f) == 20.5f);
}

// ---- the filter

// At 50 m: half a metre of path makes a position worth telling.
static ph_visit walker(uint32_t mileage_mm)
{
    return (ph_visit){
        .distance_mm = 50000.0f,
        .weight = 1.0f,
        .mileage_mm = mileage_mm,
        .diff = POSITION | HEADING | LAST,
        .significant = POSITION,
        .position = POSITION,
    };
}

static void a_position_goes_when_its_path_exceeds_a_hundredth(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(500);
    assert_true(filter(&f, &visit) == 0);
    visit = walker(501);
    assert_true(filter(&f, &visit) == POSITION);
    visit.significant = 0;
    assert_true(filter(&f, &visit) == POSITION);
}

static void a_position_at_rest_goes_whatever_its_path(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(3);
    visit.settled = POSITION;
    assert_true(filter(&f, &visit) == POSITION);
}

static void a_lost_position_goes_whatever_its_path(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(0);
    visit.lost = POSITION;
    assert_true(filter(&f, &visit) == POSITION);
}

static void everything_else_goes_when_significant(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(3);
    visit.significant = LAST;
    assert_true(filter(&f, &visit) == LAST);
    visit.significant = LAST | HEADING | POSITION;
    assert_true(filter(&f, &visit) == (LAST | HEADING));
}

static void nothing_goes_that_is_not_due(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(1000000);
    visit.diff = HEADING;
    visit.significant = visit.lost = visit.settled = UINT64_MAX;
    assert_true(filter(&f, &visit) == HEADING);
}

static void the_longest_path_does_not_wrap(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(UINT32_MAX);
    visit.distance_mm = 8e9f;
    assert_true(filter(&f, &visit) == POSITION);
}

// The position may be any bit, not only the first.
static void the_position_is_where_the_visit_says(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    ph_visit visit = walker(3);
    visit.position = LAST;
    visit.significant = LAST | HEADING;
    assert_true(filter(&f, &visit) == HEADING);
}

// ---- the same bits with every compiler and vector width

static void draw(ranked_slots* f, test_rng* rng)
{
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        const uint64_t shape = test_rng_below(rng, 20);
        const float far_mm = 1.0f + (float)test_rng_below(rng, 500000);
        const float near_mm = 1.0f + (float)test_rng_below(rng, 200);
        f->distance_mm[i] = shape == 0 ? INFINITY : shape < 4 ? near_mm : far_mm;
        f->weight[i] = shape % 3 == 0 ? 1.0f : (float)test_rng_unit(rng) * 8.0f;
        f->dirty[i] = shape % 4 == 0 ? 0 : UINT64_C(1) << test_rng_below(rng, 64);
    }
}

static void random_scores_have_a_golden_hash(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    test_rng rng = {.state = 616};
    ph_hash hash = ph_hash_make(0);
    for (int round = 0; round < 500; ++round) {
        draw(&f, &rng);
        f.ranking.slot_count = RANKED_SLOTS - (int)test_rng_below(&rng, 9);
        ranked_slots_rank(&f);
        const int sent = (int)test_rng_below(&rng, RANKED_SLOTS);
        f.score[sent] = f.scheduler.sent(f.scheduler.context, f.score[sent]);
        const int lost = (int)test_rng_below(&rng, RANKED_SLOTS);
        f.score[lost] = f.scheduler.lost(f.scheduler.context, f.score[lost], f.priority[sent]);
        ranked_slots_hash(&f, &hash);
    }
    assert_true(ph_hash_value(&hash) == UINT64_C(0xE195B1B05EC94C99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_nearness_at_every_send),
        cmocka_unit_test(an_entity_within_a_hand_gets_100_more),
        cmocka_unit_test(the_weight_multiplies),
        cmocka_unit_test(at_weight_0_an_old_score_gives_no_priority),
        cmocka_unit_test(with_nothing_to_tell_the_score_grows_without_priority),
        cmocka_unit_test(an_empty_slot_stays_at_zero),
        cmocka_unit_test(only_the_slots_it_is_given_are_touched),
        cmocka_unit_test(sent_starts_anew_and_lost_adds_back),
        cmocka_unit_test(a_position_goes_when_its_path_exceeds_a_hundredth),
        cmocka_unit_test(a_position_at_rest_goes_whatever_its_path),
        cmocka_unit_test(a_lost_position_goes_whatever_its_path),
        cmocka_unit_test(everything_else_goes_when_significant),
        cmocka_unit_test(nothing_goes_that_is_not_due),
        cmocka_unit_test(the_longest_path_does_not_wrap),
        cmocka_unit_test(the_position_is_where_the_visit_says),
        cmocka_unit_test(random_scores_have_a_golden_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
