// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A scenario from beginning to end, in one stage or in two that differ in what players may not know; and
// the search for a shorter one.

#include "soak/soak_stage.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_STEPS = 8,      // between two looks whether all are equal
    CALM_STEPS_MIN = 40, // longer than what stays in view because it has just come
    EMPTY_STEPS = 4,
    EMPTY_US_MAX = 20000000,
};

typedef struct twins {
    soak_stage* stages[2]; // the second one has secrets
    int count;
} twins;

// ---- the leak

// Every payload to every judged player is the same in both.
static void compare_twins(const twins* t)
{
    soak_stage* bare = t->stages[0];
    const soak_stage* other = t->stages[1];
    for (int i = 0; t->count == 2 && i < SOAK_FIRST_SECRET_PLAYER; ++i) {
        const soak_player* a = &bare->players[i];
        const soak_player* b = &other->players[i];
        if (a->payload_digest != b->payload_digest || a->payload_count != b->payload_count) {
            soak_fail(bare, SOAK_PROMISE_LEAK,
                      "player %d gets other bytes when what it may not see is different "
                      "(%llu payloads, and %llu)",
                      i, (unsigned long long)a->payload_count,
                      (unsigned long long)b->payload_count);
            return;
        }
    }
}

static bool is_over(const twins* t)
{
    return t->stages[0]->is_over || (t->count == 2 && t->stages[1]->is_over);
}

static void step_all(twins* t, const soak_event* first, const soak_event* last)
{
    for (int i = 0; i < t->count && !is_over(t); ++i) {
        soak_stage_step(t->stages[i], first, last);
    }
    if (!is_over(t)) {
        compare_twins(t);
    }
}

// ---- a calm

static double settle_us(const soak_stage* stage, const soak_player* player)
{
    const double largest =
        8.0 * (PH_PAYLOAD_MAX - ph_viewer_reserve_max(stage->world, player->viewer) +
               player->def.overhead_bytes + player->reserve_peak + 500);
    const double rate = player->def.bits_per_second > 0 ? player->def.bits_per_second : 1000000.0;
    // Where the host follows the links, it may have come down to its least.
    const double least = stage->params.is_rate_fixed || player->is_direct ? rate : 4000.0;
    const double slowest = least < rate ? least : rate;
    // Blocks have a quarter; a round trip for each, and what is lost, is within twice of that.
    return 20e6 + player->def.max_starve_ms * 1e3 +
           2.0 * 8e6 * (double)soak_bulk_left_bytes(player) / (0.25 * slowest) +
           4e6 * player->def.slot_count * largest / (least < rate ? least : rate);
}

static double settle_steps(const soak_stage* stage)
{
    double longest_us = 0.0;
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        if (soak_is_judged(stage, &stage->players[i])) {
            const double us = settle_us(stage, &stage->players[i]);
            longest_us = us > longest_us ? us : longest_us;
        }
    }
    return longest_us / stage->params.tick_us;
}

// Messages, too: what was sent has arrived.
static bool has_messages_left(const soak_player* player)
{
    return !player->is_direct && (player->messages_received[0] != player->messages_sent[0] ||
                                  player->messages_received[1] != player->messages_sent[1]);
}

static bool is_all_equal(const soak_stage* stage, int* player, char why[200])
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        const soak_player* it = &stage->players[i];
        *player = i;
        if (it->is_there && !it->is_liar && !it->is_admitted) {
            snprintf(why, 200, "it is still connecting");
            return false;
        }
        if (!soak_is_judged(stage, it)) {
            continue;
        }
        if (!soak_is_equal(stage, it, why)) {
            return false;
        }
        if (!it->is_direct && soak_bulk_left_bytes(it) > 0) {
            snprintf(why, 200, "blocks are missing");
            return false;
        }
        if (has_messages_left(it)) {
            snprintf(why, 200, "messages are missing");
            return false;
        }
    }
    return true;
}

static void count_equal(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        stage->result->equal_clients += soak_is_judged(stage, &stage->players[i]);
    }
}

static void set_calm(soak_stage* stage, bool is_calm)
{
    stage->is_calm = is_calm;
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        if (is_calm) {
            player->parted_until = 0;
            player->stalled_until = 0;
        }
        soak_player_set_network(stage, player);
        soak_unsettle(player, stage->now_us);
    }
    if (is_calm) {
        stage->server_memory.fail_in = 0;
        stage->client_memory.fail_in = 0;
    }
}

static void calm(twins* t)
{
    for (int i = 0; i < t->count; ++i) {
        set_calm(t->stages[i], true);
    }
    char why[200] = "";
    int player = 0;
    double most_steps =
        0.0; // blocks that have come make it shorter: the time that they took counts
    for (int steps = 0; !is_over(t); ++steps) {
        step_all(t, NULL, NULL);
        if (steps < CALM_STEPS_MIN || steps % LOOK_STEPS != 0) {
            continue;
        }
        bool is_equal = true;
        for (int i = 0; i < t->count && is_equal; ++i) {
            is_equal = is_all_equal(t->stages[i], &player, why);
        }
        if (is_equal) {
            break;
        }
        const double settle = settle_steps(t->stages[0]);
        most_steps = settle > most_steps ? settle : most_steps;
        if (steps > 200 + most_steps) {
            soak_fail(t->stages[0], SOAK_PROMISE_EQUALITY,
                      "player %d is not equal after %d steps: %s", player, steps, why);
        }
    }
    for (int i = 0; i < t->count; ++i) {
        count_equal(t->stages[i]);
        set_calm(t->stages[i], false);
    }
}

// ---- memory

// Since the last time that everything was empty it may only have grown for more entities or players than
// ever before; the sizes of their slots count, too.
static void compare_memory(soak_stage* stage)
{
    const int64_t bytes = stage->server_memory.live_bytes;
    if (stage->client_memory.live_bytes != 0) {
        soak_fail(stage, SOAK_PROMISE_MEMORY, "%lld bytes of clients that are gone are left",
                  (long long)stage->client_memory.live_bytes);
    }
    const bool is_same = memcmp(&stage->peaks, &stage->empty_peaks, sizeof stage->peaks) == 0;
    if (stage->empty_bytes != 0 && is_same && !stage->has_partial_growth &&
        bytes > stage->empty_bytes) {
        soak_fail(stage, SOAK_PROMISE_MEMORY,
                  "empty, the server has %lld bytes; before it had %lld", (long long)bytes,
                  (long long)stage->empty_bytes);
    }
    stage->empty_peaks = stage->peaks;
    stage->empty_bytes = bytes;
    stage->has_partial_growth = false;
}

// Clients that died without a word are there until they time out.
static bool has_viewers(const twins* t)
{
    return ph_world_get_stats(t->stages[0]->world).viewer_count > 0 ||
           ph_world_get_stats(t->stages[t->count - 1]->world).viewer_count > 0;
}

static void empty(twins* t)
{
    for (int i = 0; i < t->count; ++i) {
        t->stages[i]->server_memory.fail_in = 0;
        soak_use_keys(t->stages[i]);
        soak_make_empty(t->stages[i]);
    }
    const double steps_max = EMPTY_US_MAX / (double)t->stages[0]->params.tick_us;
    for (int i = 0; (i < EMPTY_STEPS || has_viewers(t)) && !is_over(t); ++i) {
        step_all(t, NULL, NULL);
        if (i > steps_max) {
            soak_fail(t->stages[0], SOAK_PROMISE_CALLS, "a client that is dead does not time out");
        }
    }
    for (int i = 0; i < t->count && !is_over(t); ++i) {
        compare_memory(t->stages[i]);
    }
}

// ---- from beginning to end

static void play(twins* t, const soak_scenario* scenario)
{
    const soak_event* event = scenario->events;
    const soak_event* end = event + scenario->event_count;
    for (int step = 0; step < scenario->step_count && !is_over(t); ++step) {
        const soak_event* first = event;
        while (event < end && event->step <= step) {
            ++event;
        }
        for (int i = 0; i < t->count; ++i) {
            t->stages[i]->scene_step = step;
        }
        step_all(t, first, event);
        for (const soak_event* it = first; it < event && !is_over(t); ++it) {
            if (it->kind == SOAK_CALM) {
                calm(t);
            } else if (it->kind == SOAK_EMPTY) {
                empty(t);
            }
        }
        for (int i = 0; i < t->count; ++i) {
            soak_note_peaks(t->stages[i]);
        }
    }
}

static void sum_up(const twins* t, soak_result* result)
{
    ph_hash digest = ph_hash_make(1);
    for (int i = 0; i < t->count; ++i) {
        for (int p = 0; p < SOAK_PLAYERS_MAX; ++p) {
            ph_hash_add_u64(&digest, t->stages[i]->players[p].payload_digest);
        }
    }
    for (int p = 0; t->count == 2 && p < SOAK_FIRST_SECRET_PLAYER; ++p) {
        result->twin_payloads += t->stages[1]->players[p].payload_count;
    }
    ph_hash_add_u64(&digest, result->judged_values);
    result->digest = ph_hash_value(&digest);
}

void soak_run(const soak_scenario* scenario, soak_result* result)
{
    *result = (soak_result){.seed = scenario->seed};
    twins t = {.count = soak_params_of(scenario->seed).is_twin ? 2 : 1};
    bool is_open = true;
    for (int i = 0; i < t.count; ++i) {
        t.stages[i] = malloc(sizeof *t.stages[i]);
        if (t.stages[i] == NULL) {
            abort(); // not what is being tested
        }
        is_open = soak_stage_open(t.stages[i], scenario, i == 1, result) && is_open;
    }
    if (is_open) {
        play(&t, scenario);
    }
    sum_up(&t, result);
    for (int i = 0; i < t.count; ++i) {
        soak_stage_close(t.stages[i]);
        free(t.stages[i]);
    }
}

// ---- a shorter one

// All events but those from first on, `size` of them.
static bool take_away(const soak_scenario* scenario, int first, int size, soak_scenario* shorter)
{
    const int end = first + size < scenario->event_count ? first + size : scenario->event_count;
    memcpy(shorter->events, scenario->events, (size_t)first * sizeof *shorter->events);
    memcpy(shorter->events + first, scenario->events + end,
           (size_t)(scenario->event_count - end) * sizeof *shorter->events);
    shorter->event_count = scenario->event_count - (end - first);
    return end > first;
}

static void keep(soak_scenario* scenario, const soak_scenario* shorter)
{
    memcpy(scenario->events, shorter->events,
           (size_t)shorter->event_count * sizeof *shorter->events);
    scenario->event_count = shorter->event_count;
}

int soak_shrink(soak_scenario* scenario, soak_try_fn* still_shows, void* context, int tries_max)
{
    soak_scenario shorter = *scenario;
    shorter.events = malloc(((size_t)scenario->event_count + 1) * sizeof *shorter.events);
    int tries = 0;
    int size = shorter.events != NULL ? scenario->event_count / 2 : 0;
    bool has_shrunk = false;
    while (size > 0 && tries < tries_max) {
        for (int first = 0; first < scenario->event_count && tries < tries_max;) {
            take_away(scenario, first, size, &shorter);
            ++tries;
            if (still_shows(context, &shorter)) {
                keep(scenario, &shorter);
                has_shrunk = true;
            } else {
                first += size;
            }
        }
        // With single events once more, as long as that takes something away.
        size = size > 1 ? size / 2 : has_shrunk ? 1 : 0;
        has_shrunk = false;
    }
    free(shorter.events);
    return tries;
}
