// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "demo_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Below this, two figures are said to be equal.
#define RATIO_MIN 1.05
#define MISSING_MIN_PCT 1.0

// ---- the sentence

// "players" where people play; anything may move in a recording.
static const char* noun_of(const demo_scene* scene)
{
    return strcmp(scene->source, "scene:town") == 0 ? "players" : "entities";
}

static void say_ratio(char* text, size_t size, double classic, double pinhole)
{
    if (classic >= RATIO_MIN * pinhole) {
        snprintf(text, size, "%.1f times more precisely", pinhole > 0.0 ? classic / pinhole : 99.9);
    } else if (pinhole >= RATIO_MIN * classic) {
        snprintf(text, size, "%.1f times less precisely", classic > 0.0 ? pinhole / classic : 99.9);
    } else {
        snprintf(text, size, "as precisely as classic");
    }
}

// What is not shown has no error: it must be told beside it.
static void say_missing(char* text, size_t size, double classic_pct, double pinhole_pct)
{
    text[0] = '\0';
    if (fabs(classic_pct - pinhole_pct) >= MISSING_MIN_PCT) {
        snprintf(text, size, ", and misses %.0f %% instead of %.0f %%", pinhole_pct, classic_pct);
    }
}

// terms: what both had, as "At 13 kbit/s". NULL: the short one.
static void say_all(const demo_players* players, const demo_figures figures[DEMO_PLAYER_WAYS],
                    const char* terms, char sentence[DEMO_SENTENCE_MAX])
{
    const demo_players_def* def = demo_players_get_def(players);
    const demo_figures* classic = &figures[PH_WAY_CLASSIC];
    const demo_figures* pinhole = &figures[PH_WAY_PINHOLE];
    if (classic->seconds == 0.0 || pinhole->seconds == 0.0) {
        snprintf(sentence, DEMO_SENTENCE_MAX, "The players connect ...");
        return;
    }
    char ratio[60];
    char missing[60];
    say_ratio(ratio, sizeof ratio, classic->error_mrad, pinhole->error_mrad);
    say_missing(missing, sizeof missing, classic->missing_pct, pinhole->missing_pct);
    if (terms == NULL) {
        snprintf(sentence, DEMO_SENTENCE_MAX, "Same %g kbit/s: Pinhole shows it %s.", def->kbps,
                 ratio);
    } else {
        snprintf(sentence, DEMO_SENTENCE_MAX, "%s Pinhole shows the same %d %s %s%s.", terms,
                 pinhole->shown, noun_of(def->stage->scene), ratio, missing);
    }
}

void demo_summary_sentence(const demo_players* players,
                           const demo_figures figures[DEMO_PLAYER_WAYS], bool is_short,
                           char sentence[DEMO_SENTENCE_MAX])
{
    char terms[40];
    snprintf(terms, sizeof terms, "At %g kbit/s", demo_players_get_def(players)->kbps);
    say_all(players, figures, is_short ? NULL : terms, sentence);
}

// ---- the table

static void print_head(const demo_players* players, FILE* file)
{
    const demo_players_def* def = demo_players_get_def(players);
    const demo_scene* scene = def->stage->scene;
    const bool were_changed = demo_players_were_changed(players);
    fprintf(file,
            "%s: %d entities at %g ticks a second; %d players each over UDP,\n"
            "%g kbit/s each, %g %% lost%s, round trip %g ms and up to %g ms of jitter each way.\n",
            scene->source, scene->material.recording->entity_count,
            scene->material.recording->rate_hz, demo_players_count(players), def->kbps,
            100.0 * def->loss, were_changed ? " at the end" : "", def->rtt_ms, def->jitter_ms);
    fprintf(file, "%s\n",
            were_changed ? "Budget or loss were changed on the way: the figures are of all of it.\n"
                         : "");
}

static void print_row(FILE* file, const char* name, const char* unit, double classic,
                      double pinhole)
{
    const int digits = classic >= 99.5 || pinhole >= 99.5 ? 0 : classic >= 9.95 ? 1 : 2;
    fprintf(file, "%-26s %-8s %9.*f %9.*f\n", name, unit, digits, classic, digits, pinhole);
}

static void print_table(const demo_figures* classic, const demo_figures* pinhole, FILE* file)
{
    fprintf(file, "%-26s %-8s %9s %9s\n", "", "", "classic", "pinhole");
    print_row(file, "measured", "s", classic->seconds, pinhole->seconds);
    print_row(file, "sent to a player", "kbit/s", classic->wire_kbps, pinhole->wire_kbps);
    print_row(file, "position error, as seen", "mrad", classic->error_mrad, pinhole->error_mrad);
    print_row(file, "position error", "mm", classic->error_mm, pinhole->error_mm);
    print_row(file, "missing of what is near", "%", classic->missing_pct, pinhole->missing_pct);
    print_row(file, "age of wrong properties", "ms", classic->stale_ms, pinhole->stale_ms);
    print_row(file, "jolts of an entity", "1/min", classic->jolts_per_min, pinhole->jolts_per_min);
    print_row(file, "lost on the way", "%", classic->lost_pct, pinhole->lost_pct);
    print_row(file, "round trip", "ms", classic->rtt_ms, pinhole->rtt_ms);
    print_row(file, "shown on a screen", "entities", classic->shown, pinhole->shown);
}

bool demo_summary_judge(uint64_t over_budget, uint64_t refused, FILE* file)
{
    if (over_budget > 0 || refused > 0) {
        fprintf(file,
                "%" PRIu64 " datagrams were over the budget, %" PRIu64
                " were refused. This must never happen: please report it.\n",
                over_budget, refused);
        return false;
    }
    fprintf(file, "No datagram was over the budget, none was refused.\n");
    return true;
}

bool demo_summary_print(const demo_players* players, FILE* file)
{
    const demo_figures figures[DEMO_PLAYER_WAYS] = {
        demo_players_total(players, PH_WAY_CLASSIC),
        demo_players_total(players, PH_WAY_PINHOLE),
    };
    print_head(players, file);
    if (figures[PH_WAY_CLASSIC].seconds > 0.0) {
        char sentence[DEMO_SENTENCE_MAX];
        if (demo_players_were_changed(players)) {
            say_all(players, figures, "With the same budgets", sentence);
        } else {
            demo_summary_sentence(players, figures, false, sentence);
        }
        print_table(&figures[PH_WAY_CLASSIC], &figures[PH_WAY_PINHOLE], file);
        fprintf(file, "\n%s\n", sentence);
    } else {
        fprintf(file, "Nothing was measured: it ended before all players were connected.\n");
    }
    return demo_summary_judge(demo_players_over_budget(players), demo_players_refused(players),
                              file);
}
