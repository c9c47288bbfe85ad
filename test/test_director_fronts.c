// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where the director sends logins when a front-end starts anew among full ones, played by half seconds: players come
// and go, front-ends report how many they have. Those that are connected stay where they are.

#include "director_fronts.h"

#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FRONTS = 3,
    CAPACITY = 1000,
    REPORT_US = 500000,
    COMING = 20, // players in half a second
    HALF_SECONDS = 400,
};

typedef struct play {
    director_fronts known;
    test_rng rng;
    int players[FRONTS];
    int32_t centre_x_mm[FRONTS];
    uint64_t now_us;
    uint64_t last_id;
} play;

static void report(play* p)
{
    p->now_us += REPORT_US;
    for (int i = 0; i < FRONTS; ++i) {
        bus_front_report said = {
            .clients = (uint32_t)p->players[i],
            .capacity = CAPACITY,
            .started_us = 1,
            .centre_mm = {p->centre_x_mm[i], 0},
            .spread_mm = 500000,
        };
        snprintf(said.front, sizeof said.front, "front-%d", i);
        director_fronts_take(&p->known, &said, p->now_us);
    }
    director_fronts_forget(&p->known, p->now_us);
}

// One comes in at a place, with two spares for the others. @return The front-end that it goes to.
static int come(play* p, int32_t x_mm)
{
    const int32_t place_mm[3] = {x_mm, 0, 0};
    const director_question question = {
        .place_mm = place_mm, .not_front = "", .count = FRONTS, .client_id = ++p->last_id};
    const director_front* chosen[DIRECTOR_CHOICES_MAX];
    assert_int_equal(director_fronts_choose(&p->known, &question, chosen), FRONTS);
    const int front = atoi(chosen[0]->report.front + 6);
    ++p->players[front];
    return front;
}

static int all_of(const play* p)
{
    return p->players[0] + p->players[1] + p->players[2];
}

// Each player is as likely to go as any other.
static void leave(play* p)
{
    int left = (int)test_rng_below(&p->rng, (uint64_t)all_of(p));
    int front = 0;
    while (left >= p->players[front]) {
        left -= p->players[front++];
    }
    --p->players[front];
}

static int unevenness(const play* p, int a, int b)
{
    return abs(p->players[a] - p->players[b]);
}

static void a_front_end_that_starts_anew_is_filled_until_it_is_even(void** state)
{
    (void)state;
    play p = {.rng = {.state = 1}, .players = {300, 300, 0}};
    for (int t = 0; t < HALF_SECONDS; ++t) {
        report(&p);
        // Those that it has sent there lately count twice for a moment.
        const bool is_behind = p.players[2] + 3 * COMING < p.players[0];
        for (int i = 0; i < COMING; ++i) {
            const int front = come(&p, 0);
            assert_true(!is_behind || front == 2);
            leave(&p);
        }
        // 600 players, 40 a second come and go: even after 8 s.
        assert_true(t < 30 ||
                    (unevenness(&p, 0, 1) <= 2 * COMING && unevenness(&p, 0, 2) <= 2 * COMING));
    }
    assert_int_equal(all_of(&p), 600);
}

// Two places 10 km apart, a front-end for each: the new one takes over half of the first place that it gets a player of,
// and the other place goes on as before.
static void a_front_end_that_starts_anew_is_filled_by_place(void** state)
{
    (void)state;
    play p = {.rng = {.state = 2}, .players = {300, 300, 0}, .centre_x_mm = {0, 10000000, 0}};
    for (int t = 0; t < HALF_SECONDS; ++t) {
        report(&p);
        for (int i = 0; i < COMING; ++i) {
            const bool is_far = p.last_id % 2 == 1;
            const int front = come(&p, is_far ? 10000000 : 0);
            assert_true(t == 0 || (front == 1) == is_far);
            leave(&p);
        }
    }
    assert_true(unevenness(&p, 0, 2) <= 2 * COMING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_front_end_that_starts_anew_is_filled_until_it_is_even),
        cmocka_unit_test(a_front_end_that_starts_anew_is_filled_by_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
