// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Words and what they stand for. Runs a few times per program.

#include "sim_parts.h"

#include <stdlib.h>
#include <string.h>

#define BEST_SCHEDULE "error"
#define HZ_MIN 0.1
#define HZ_MAX 1000.0

static bool is(const char* word, const char* other)
{
    return strcmp(word, other) == 0;
}

// ---- profiles

static const sim_parts CLASSIC = {
    .name = "classic",
    .profile = "classic",
    .schedule = "score",
    .coding = "plain",
    .precision = "fixed",
    .hz = "5",
};

static const sim_parts PINHOLE = {
    .name = "pinhole",
    .profile = "pinhole",
    .schedule = BEST_SCHEDULE,
    .coding = "model",
    .precision = "distance",
    .hz = "auto",
};

static const sim_parts SNAPSHOT = {
    .name = "snapshot",
    .profile = "snapshot",
    .schedule = "none",
    .coding = "snapshot",
    .precision = "fixed",
    .hz = "auto",
};

static const char* word_or(const char* word, const char* usual)
{
    return word != NULL ? word : usual;
}

static bool is_hz(const char* text)
{
    char* end = NULL;
    const double hz = strtod(text, &end);
    return is(text, "auto") || (end != text && *end == '\0' && hz >= HZ_MIN && hz <= HZ_MAX);
}

const char* sim_parts_complete(sim_parts* parts)
{
    parts->profile = word_or(parts->profile, PINHOLE.profile);
    if (is(parts->profile, SNAPSHOT.profile)) {
        const bool is_whole = parts->schedule == NULL && parts->coding == NULL &&
                              parts->precision == NULL && parts->hz == NULL;
        *parts = SNAPSHOT;
        return is_whole
                   ? NULL
                   : "--profile snapshot has no parts to exchange: leave --schedule, --coding, "
                     "--precision and --hz out.";
    }
    const sim_parts* usual = is(parts->profile, CLASSIC.profile) ? &CLASSIC : &PINHOLE;
    parts->name = word_or(parts->name, usual->name);
    parts->schedule = word_or(parts->schedule, usual->schedule);
    parts->coding = word_or(parts->coding, usual->coding);
    parts->hz = word_or(parts->hz, usual->hz);
    // Plain positions have one step only.
    const bool is_plain = is(parts->coding, "plain");
    parts->precision = word_or(parts->precision, is_plain ? "fixed" : usual->precision);
    if (is_plain && is(parts->precision, "distance")) {
        return "--precision distance needs --coding delta or model: plain positions have one step "
               "only.";
    }
    return is_hz(parts->hz)
               ? NULL
               : "--hz takes sends per second from 0.1 to 1000, or auto, as in '--hz 5'.";
}

// ---- what they stand for

static ph_scheduler scheduler_of(const char* name)
{
    static const struct {
        const char* name;
        ph_scheduler (*make)(void);
    } rows[] = {
        {"score", ph_scheduler_score},
        {"buckets", ph_scheduler_buckets},
        {"error", ph_scheduler_error},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (is(name, rows[i].name)) {
            return rows[i].make();
        }
    }
    return (ph_scheduler){0};
}

void sim_parts_apply(const sim_parts* parts, ph_sim_def* def)
{
    const ph_sim_def usual = ph_sim_def_default();
    def->is_snapshot = is(parts->coding, SNAPSHOT.coding);
    def->profile =
        is(parts->coding, "plain") || def->is_snapshot ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    def->is_universal = is(parts->coding, "delta");
    def->precision_mrad = is(parts->precision, "distance") ? usual.precision_mrad : 0.0;
    def->hz = is(parts->hz, "auto") ? 0.0 : strtod(parts->hz, NULL);
    def->scheduler = scheduler_of(parts->schedule);
}

// ---- one by one

const sim_parts sim_ablation[SIM_ABLATION_COUNT] = {
    {.name = "classic", .profile = "classic"},
    {.name = "+ scheduler", .profile = "classic", .schedule = BEST_SCHEDULE},
    {.name = "+ pacing", .profile = "classic", .hz = "auto"},
    {.name = "+ prediction", .profile = "classic", .coding = "delta"},
    {.name = "+ prediction, precision",
     .profile = "classic",
     .coding = "delta",
     .precision = "distance"},
    {.name = "+ prediction, models", .profile = "classic", .coding = "model"},
    {.name = "- scheduler", .profile = "pinhole", .schedule = "score"},
    {.name = "- pacing", .profile = "pinhole", .hz = "5"},
    {.name = "- prediction", .profile = "pinhole", .coding = "plain"},
    {.name = "- precision", .profile = "pinhole", .precision = "fixed"},
    {.name = "- models", .profile = "pinhole", .coding = "delta"},
    {.name = "pinhole", .profile = "pinhole"},
};
