// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A scenario of a seed: cycles of a storm and a calm, with everything emptied at the end of some. Once per
// seed.

#include "soak/soak_stage.h"

#include "kit/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "pinhole soak scenario 1"

static const char* const kind_names[] = {
#define KIND_NAME(name, text) text,
    SOAK_KINDS(KIND_NAME)
#undef KIND_NAME
};

// ---- what follows from the seed

soak_params soak_params_of(uint64_t seed)
{
    ph_rng rng = ph_random_part(seed, 1);
    soak_params params = {
        .profile = ph_rng_below(&rng, 3) == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE,
        .vision = ph_vision_def_default(),
        .key_base = 1,
        .key_stride = 1,
    };
    static const uint32_t ticks_us[] = {100000, 100000, 50000, 33333, 200000};
    params.tick_us = ticks_us[ph_rng_below(&rng, 5)];
    params.vision.kind = ph_rng_below(&rng, 2) == 0 ? PH_VISION_GRID : PH_VISION_GROUPS;
    params.vision.refresh_ticks = 1 + ph_random_below(&rng, 4);
    params.vision.stay_ticks = ph_random_below(&rng, 12);
    params.vision.hysteresis = ph_rng_below(&rng, 2) == 0 ? 1.1 : ph_random_between(&rng, 1, 2);
    params.vision.cell_mm = 1 << (12 + ph_random_below(&rng, 7));
    params.radius_max_mm = 30000 + ph_random_below(&rng, 200000);
    static const int64_t origins_mm[] = {0, INT64_C(2147440000), INT64_C(-2147483000), 1000000000};
    params.origin_mm = origins_mm[ph_rng_below(&rng, 4)];
    params.side_mm = 20000 + ph_random_below(&rng, 180000);
    params.public_count = 8 + ph_random_below(&rng, SOAK_PUBLIC_MAX - 8);
    params.host_count = 1 + ph_random_below(&rng, SOAK_HOST_PLAYERS);
    params.direct_count = ph_random_below(&rng, SOAK_DIRECT_PLAYERS + 1);
    params.has_ground = ph_rng_below(&rng, 2) == 0;
    const uint64_t way = ph_rng_below(&rng, 10);
    params.is_twin = way < 5;
    params.is_failing = way >= 7;
    params.is_rate_fixed = ph_rng_below(&rng, 2) == 0;
    params.asks_game = ph_rng_below(&rng, 3) == 0;
    if (ph_rng_below(&rng, 4) == 0) {
        params.key_base = ph_rng_next(&rng) >> 8;
        params.key_stride = 1 + (ph_rng_next(&rng) >> ph_random_below(&rng, 40)) / 1000000;
    }
    return params;
}

// ---- making

typedef struct maker {
    soak_scenario* scenario;
    int capacity;
    ph_rng rng;
    soak_params params;
    bool has_failed;
} maker;

static void add(maker* m, int step, soak_kind kind, int target)
{
    soak_scenario* scenario = m->scenario;
    if (scenario->event_count == m->capacity) {
        const int capacity = 2 * m->capacity + 1024;
        soak_event* grown = realloc(scenario->events, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            m->has_failed = true;
            return;
        }
        scenario->events = grown;
        m->capacity = capacity;
    }
    scenario->events[scenario->event_count++] = (soak_event){
        .step = step, .kind = (int32_t)kind, .target = target, .draw = ph_rng_next(&m->rng)};
}

static int any_entity(maker* m)
{
    const int entity = ph_random_below(&m->rng, m->params.public_count);
    const bool is_secret = m->params.is_twin && ph_rng_below(&m->rng, 3) == 0;
    return is_secret ? SOAK_PUBLIC_MAX + entity : entity;
}

static int any_player(maker* m)
{
    const int count = m->params.host_count + m->params.direct_count;
    const int player = ph_random_below(&m->rng, count);
    if (m->params.is_twin && ph_rng_below(&m->rng, 6) == 0) {
        return SOAK_FIRST_SECRET_PLAYER + ph_random_below(&m->rng, SOAK_SECRET_PLAYERS);
    }
    return player < m->params.host_count ? player
                                         : SOAK_HOST_PLAYERS + player - m->params.host_count;
}

// How often each kind comes in a storm, in parts of all; those of players are rare.
typedef struct share {
    soak_kind kind;
    int parts;
    bool is_of_player;
} share;

static const share shares[] = {
    {SOAK_WALK, 600, false},  {SOAK_SET, 260, false},    {SOAK_TELEPORT, 10, false},
    {SOAK_SPAWN, 40, false},  {SOAK_DESPAWN, 16, false}, {SOAK_VISIBILITY, 24, false},
    {SOAK_BLOCK, 6, false},   {SOAK_WHISPER, 60, false}, {SOAK_JOIN, 16, true},
    {SOAK_LEAVE, 1, true},    {SOAK_KICK, 1, true},      {SOAK_VANISH, 1, true},
    {SOAK_STALL, 2, true},    {SOAK_LEAP, 1, true},      {SOAK_LIE, 1, true},
    {SOAK_FLOOD, 3, true},    {SOAK_NETWORK, 3, true},   {SOAK_PARTITION, 2, true},
    {SOAK_OWN, 4, true},      {SOAK_EYE, 6, true},       {SOAK_SEES, 3, true},
    {SOAK_HINT, 6, true},     {SOAK_BUDGET, 5, true},    {SOAK_RESERVE, 5, true},
    {SOAK_MESSAGE, 10, true}, {SOAK_JUMP, 1, false},     {SOAK_DAY, 1, false},
    {SOAK_FAIL, 16, false},
};

static void add_any(maker* m, int step)
{
    int sum = 0;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; ++i) {
        sum += shares[i].parts;
    }
    int left = ph_random_below(&m->rng, sum);
    size_t i = 0;
    while (left >= shares[i].parts) {
        left -= shares[i++].parts;
    }
    add(m, step, shares[i].kind, shares[i].is_of_player ? any_player(m) : any_entity(m));
}

static void add_storm(maker* m, int first, int end)
{
    const int busy = 2 + ph_random_below(&m->rng, 40);
    for (int step = first; step < end; ++step) {
        const int count = ph_random_below(&m->rng, busy);
        for (int i = 0; i < count; ++i) {
            add_any(m, step);
        }
    }
}

static void add_all(maker* m, int step)
{
    for (int i = 0; i < m->params.public_count; ++i) {
        add(m, step, SOAK_SPAWN, i);
        if (m->params.is_twin && ph_rng_below(&m->rng, 2) == 0) {
            add(m, step, SOAK_SPAWN, SOAK_PUBLIC_MAX + i);
        }
    }
    for (int i = 0; i < m->params.host_count; ++i) {
        add(m, step + 1, SOAK_JOIN, i);
    }
    for (int i = 0; i < m->params.direct_count; ++i) {
        add(m, step + 1, SOAK_JOIN, SOAK_HOST_PLAYERS + i);
    }
}

bool soak_scenario_make(soak_scenario* scenario, uint64_t seed)
{
    *scenario = (soak_scenario){.seed = seed};
    maker m = {
        .scenario = scenario, .rng = ph_random_part(seed, 2), .params = soak_params_of(seed)};
    const int cycles = 2 + ph_random_below(&m.rng, 4);
    int step = 0;
    add_all(&m, step);
    for (int cycle = 0; cycle < cycles; ++cycle) {
        const int end = step + 60 + ph_random_below(&m.rng, 240);
        add_storm(&m, step + 2, end);
        add(&m, end, SOAK_CALM, 0);
        step = end + 1;
        if (ph_rng_below(&m.rng, 2) == 0) {
            add(&m, step, SOAK_EMPTY, 0);
            add_all(&m, step + 1);
        }
    }
    scenario->step_count = step + 2;
    return !m.has_failed;
}

void soak_scenario_free(soak_scenario* scenario)
{
    free(scenario->events);
    *scenario = (soak_scenario){0};
}

bool soak_is_secret_event(const soak_event* event)
{
    return event->kind == SOAK_WHISPER ||
           (event->kind < SOAK_JOIN && event->target >= SOAK_PUBLIC_MAX);
}

// ---- text

void soak_scenario_write(const soak_scenario* scenario, FILE* file)
{
    fprintf(file, FIRST_LINE "\nseed %" PRIu64 "\nsteps %d\n", scenario->seed,
            scenario->step_count);
    for (int i = 0; i < scenario->event_count; ++i) {
        const soak_event* event = &scenario->events[i];
        fprintf(file, "%d %s %d %016" PRIx64 "\n", event->step, kind_names[event->kind],
                event->target, event->draw);
    }
}

static bool read_event(const char* text, soak_event* event)
{
    char name[24];
    int end = 0;
    if (sscanf(text, "%" SCNd32 " %23s %" SCNd32 " %" SCNx64 " %n", &event->step, name,
               &event->target, &event->draw, &end) != 4 ||
        text[end] != '\0' || event->step < 0 || event->target < 0 ||
        event->target >= SOAK_ENTITIES_MAX) {
        return false;
    }
    for (int kind = 0; kind < SOAK_KIND_COUNT; ++kind) {
        if (strcmp(kind_names[kind], name) == 0) {
            event->kind = kind;
            const bool is_of_player = kind >= SOAK_JOIN && kind <= SOAK_MESSAGE;
            return !is_of_player || event->target < SOAK_PLAYERS_MAX;
        }
    }
    return false;
}

static bool keep_event(soak_scenario* scenario, const soak_event* event, int* capacity)
{
    if (scenario->event_count == *capacity) {
        *capacity = 2 * *capacity + 256;
        soak_event* grown = realloc(scenario->events, (size_t)*capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        scenario->events = grown;
    }
    const int count = scenario->event_count;
    if (count > 0 && scenario->events[count - 1].step > event->step) {
        return false;
    }
    scenario->events[scenario->event_count++] = *event;
    return true;
}

bool soak_scenario_read(soak_scenario* scenario, FILE* file, int* line)
{
    *scenario = (soak_scenario){0};
    char text[160];
    int capacity = 0;
    *line = 0;
    while (fgets(text, sizeof text, file) != NULL) {
        ++*line;
        soak_event event;
        const bool is_right =
            *line == 1   ? strcmp(text, FIRST_LINE "\n") == 0
            : *line == 2 ? sscanf(text, "seed %" SCNu64, &scenario->seed) == 1
            : *line == 3
                ? sscanf(text, "steps %d", &scenario->step_count) == 1 && scenario->step_count >= 0
                : read_event(text, &event) && keep_event(scenario, &event, &capacity);
        if (!is_right) {
            soak_scenario_free(scenario);
            return false;
        }
    }
    return *line >= 3;
}
