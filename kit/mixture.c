// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs when the tables of the library are made. Floating point, but only what every machine rounds alike:
// sums, products, quotients, roots.

#include "kit/mixture.h"

#include "kit/learn.h"
#include "kit/tune.h"
#include "schema/learned_models.h"
#include "schema/schema_state.h"

#include <pinhole/entropy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 3, SYMBOLS_MOST = 66, NUMBERS_PER_LINE = 13 };

typedef struct mixed_models {
    uint16_t cumulative[PH_PINHOLE_ENTRIES];
    uint16_t costs[PH_PINHOLE_ENTRIES]; // 1/256 bit, rounded up
} mixed_models;

struct ph_mixture {
    mixed_models models;
    // Which slots are told follows a curve, not counts: the odds grow with the density, and with an offset
    // for each urgency.
    double told_offsets[PH_URGENCIES];
    int game_count;
    ph_pinhole_counts counts[]; // of each game, in the last pass
};

// What a game adds to a family of models, and the curve to each model.
#define GAME_WEIGHT 1e6
#define CURVE_WEIGHT 1500.0
// Of the families with few models: what one game never does, another one does all the time.
#define CURVE_WEIGHT_FEW 80000.0
// Of the families of enters, which are seldom: a viewer's join is a few hundred of them.
#define CURVE_WEIGHT_ENTERS 4000.0
// A game that hardly used a family does not decide it alone.
#define SCALE_MAX 40.0
#define TOLD_FIRST (-6.0)
#define TOLD_STEP 0.6
// At the lowest density: the flags of a full view, 8,190 slots that are not told, must fit wherever an enter does
// (test_pinhole_limit). So likely they cost some 200 bits of 228.
#define TOLD_MOST_AT_FIRST (-4.2)

// ---- arithmetic

// e^x, by a series for a thousandth of it. exp() differs from machine to machine.
static double exponential(double x)
{
    const double part = x / 1024.0;
    double sum = 1.0;
    for (int i = 8; i > 0; --i) {
        sum = 1.0 + sum * part / i;
    }
    for (int i = 0; i < 10; ++i) {
        sum *= sum;
    }
    return sum;
}

static double power_of_2(double x)
{
    return exponential(x * 0.69314718055994531);
}

// ---- curves: what is likely when nothing is known but the meaning of a symbol

// Of a residual: small ones often, large ones not too seldom.
static double density_at(double magnitude, double spread)
{
    const double far = magnitude / spread;
    const double more = 1.0 + far * far;
    return 1.0 / (more * sqrt(more));
}

static void curve_residual(int model, double* weights)
{
    const double size_bits = (model + 0.5) / 2.0;
    const double spread = 0.45 + (power_of_2(size_bits) - 1.0) / 2.0;
    for (int i = 0; i < PH_MAGNITUDES_DIRECT; ++i) {
        weights[i] = (i == 0 ? 1.0 : 2.0) * density_at(i, spread);
    }
    for (int i = PH_MAGNITUDES_DIRECT; i < PH_MAGNITUDES; ++i) {
        const double first = ldexp(1.0, i - PH_MAGNITUDES_DIRECT + 4);
        weights[i] = 2.0 * first * density_at(1.4 * first, spread);
    }
}

static void curve_lengths(int symbols, double* weights)
{
    for (int i = 0; i < symbols; ++i) {
        weights[i] = i < 20 ? 1.0 : 1.0 / (i - 18);
    }
}

// Widths about one that is stated: half as likely with each bit below, a quarter above.
static void curve_spread(int spread, int symbols, double* weights)
{
    for (int i = 0; i < symbols; ++i) {
        weights[i] = power_of_2(i <= spread ? 0.8 * (i - spread) : 1.6 * (spread - i)) + 1e-4;
    }
}

static int spread_of(ph_pinhole_family family, int model)
{
    if (family == PH_FAMILY_BESIDE_Y) {
        return model >= PH_SIDES ? 1 + (model - PH_SIDES) / PH_SIDE_PARTS : 0;
    }
    const bool has_spread = family == PH_FAMILY_NAME_BESIDE || family == PH_FAMILY_BESIDE_X ||
                            family == PH_FAMILY_BESIDE_VELOCITY ||
                            family == PH_FAMILY_BESIDE_HEADING;
    const int plain = family == PH_FAMILY_BESIDE_VELOCITY  ? 3
                      : family == PH_FAMILY_BESIDE_HEADING ? 1
                                                           : 2;
    return has_spread && model >= plain ? model - plain + 1 : 0;
}

static void curve_told(int model, const double* offsets, double* weights)
{
    const int density = model / PH_URGENCIES;
    double odds = TOLD_FIRST + TOLD_STEP * density + offsets[model % PH_URGENCIES];
    odds = density == 0 && odds > TOLD_MOST_AT_FIRST ? TOLD_MOST_AT_FIRST : odds;
    weights[1] = 1.0 / (1.0 + exponential(-odds));
    weights[0] = 1.0 - weights[1];
}

// Mostly as coarse as the neighbour, or nearly.
static void curve_coarse(int model, int symbols, double* weights)
{
    for (int i = 0; i < symbols; ++i) {
        weights[i] = i == model ? 16.0 : abs(i - model) == 1 ? 3.0 : 0.5;
    }
}

static void curve_number(double* weights)
{
    for (int i = 0; i < PH_NUMBER_SYMBOLS - 1; ++i) {
        weights[i] = i == 0 ? 0.2 : 4.0 / (i + 1);
    }
    weights[PH_NUMBER_SYMBOLS - 1] = 1.0;
}

// Nearly always that of the rotation expected, unless the second is as large.
static void curve_largest(int model, double* weights)
{
    static const double FIRST[] = {5.0, 16.0, 120.0, 4000.0};
    weights[0] = FIRST[model];
    weights[1] = 4.0;
    weights[2] = 0.4;
    weights[3] = 0.1;
}

// An enter's orientation: as the neighbour's was told.
static void curve_enter_rotation(int model, int symbols, double* weights)
{
    for (int i = 0; i < symbols; ++i) {
        weights[i] = model == 0 ? (i == 0 || i == 1 ? 4.0 : 1.0) : (i == model - 1 ? 16.0 : 1.0);
    }
}

// Even where nothing is known; else by how much better it was, in bits.
static void curve_carried(int model, double* weights)
{
    weights[0] = 1.0;
    weights[1] = model == 0 ? 1.0 : power_of_2(0.9 * (model - PH_CARRIED_MODELS / 2));
}

// The step that fits, or the finest of what comes to rest: the games of the mixture say no finest steps.
static void curve_step(int model, double* weights)
{
    const int fit = model % PH_STEPS;
    const bool is_resting = model >= PH_STEPS;
    for (int i = 0; i < PH_STEPS; ++i) {
        weights[i] = 0.0005;
    }
    weights[0] += is_resting ? 0.08 : 0.004;
    weights[fit] = fit == 0 ? weights[0] + 1.0 : 1.0;
}

// The few symbols of which something can be said without looking.
static const double PLAIN_CURVES[PH_FAMILY_COUNT][11] = {
    [PH_FAMILY_MASK_PLACE] = {99, 1},
    [PH_FAMILY_MASK_HEADING] = {60, 8, 40, 1, 1},
    [PH_FAMILY_MASK_OTHERS] = {60, 20, 20, 1, 1},
    [PH_FAMILY_MASK_ALL] = {60, 8, 30, 15, 10, 2, 5, 1, 0.5, 0.5, 0.5},
    [PH_FAMILY_OTHERS_2] = {4, 1},
    [PH_FAMILY_OTHERS_3] = {8, 3, 1},
    [PH_FAMILY_OTHERS_MANY] = {12, 5, 2, 1},
    [PH_FAMILY_COARSE] = {1, 1},
    [PH_FAMILY_LAYER] = {96, 2, 2},
    [PH_FAMILY_SAME] = {30, 1},
    [PH_FAMILY_ASSOCIATION] = {1, 4},
    [PH_FAMILY_NAME] = {1, 1},
    [PH_FAMILY_ENTER_JUMP] = {99, 1},
    [PH_FAMILY_ENTER_MOVING] = {1, 2},
    [PH_FAMILY_ENTER_HEADING] = {1, 6, 6},
    [PH_FAMILY_ENTER_OTHERS] = {1, 4},
    [PH_FAMILY_BESIDE_OTHERS] = {1, 1},
    [PH_FAMILY_BESIDE_SAME] = {1, 1},
    [PH_FAMILY_ENTER_SPINNING] = {2, 1},
};

static void curve_of(ph_pinhole_family family, int model, const double* told_offsets,
                     double* weights)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    if (family == PH_FAMILY_TOLD) {
        curve_told(model, told_offsets, weights);
    } else if (info->symbols == PH_MAGNITUDES) {
        curve_residual(model, weights);
    } else if (spread_of(family, model) != 0) {
        curve_spread(spread_of(family, model), info->symbols, weights);
    } else if (family == PH_FAMILY_NUMBER || family == PH_FAMILY_BESIDE_NUMBER) {
        curve_number(weights);
    } else if (family == PH_FAMILY_ROTATION_LARGEST) {
        curve_largest(model, weights);
    } else if (family == PH_FAMILY_CARRIED) {
        curve_carried(model, weights);
    } else if (family == PH_FAMILY_STEP) {
        curve_step(model, weights);
    } else if (family == PH_FAMILY_ENTER_ROTATION) {
        curve_enter_rotation(model, info->symbols, weights);
    } else if (family == PH_FAMILY_BESIDE_COARSE || family == PH_FAMILY_ROTATION_COARSE) {
        curve_coarse(model, info->symbols, weights);
    } else if (PLAIN_CURVES[family][0] > 0) {
        memcpy(weights, PLAIN_CURVES[family], info->symbols * sizeof weights[0]);
    } else {
        curve_lengths(info->symbols, weights);
    }
}

// ---- tables

// Counts of one game, made to weigh as much as those of any other.
static double scale_of(const ph_pinhole_family_info* info, const ph_pinhole_counts* counts)
{
    double total = 0.0;
    for (int i = 0; i < info->models * (info->symbols + 1); ++i) {
        total += (double)counts->seen[info->first + i];
    }
    return total > 0.0 ? fmin(GAME_WEIGHT / total, SCALE_MAX) : 0.0;
}

static void make_model(mixed_models* models, int first, int symbols, const double* weights)
{
    double total = 0.0;
    for (int i = 0; i < symbols; ++i) {
        total += weights[i];
    }
    uint32_t seen[SYMBOLS_MOST];
    for (int i = 0; i < symbols; ++i) {
        seen[i] = (uint32_t)(weights[i] / total * 1e9);
    }
    (void)ph_model_build(seen, symbols, models->cumulative + first);
    ph_model_fill_costs(models->cumulative + first, symbols, models->costs + first);
}

static double weight_of_curve(ph_pinhole_family family, int model)
{
    if (ph_pinhole_families[family].symbols == PH_MAGNITUDES || spread_of(family, model) != 0) {
        return CURVE_WEIGHT;
    }
    const bool is_of_updates = family < PH_FAMILY_SLOT || family == PH_FAMILY_ROTATION_COARSE ||
                               family == PH_FAMILY_ROTATION_LARGEST ||
                               family == PH_FAMILY_CARRIED || family == PH_FAMILY_STEP;
    return is_of_updates ? CURVE_WEIGHT_FEW : CURVE_WEIGHT_ENTERS;
}

// From the games of the mixture for which the set has a bit; of none the curves alone.
static void make_family(const ph_mixture* mixture, uint32_t set, ph_pinhole_family family,
                        mixed_models* models)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    for (int model = 0; model < info->models; ++model) {
        const int first = info->first + model * (info->symbols + 1);
        double weights[SYMBOLS_MOST] = {0};
        curve_of(family, model, mixture->told_offsets, weights);
        double total = 0.0;
        for (int i = 0; i < info->symbols; ++i) {
            total += weights[i];
        }
        const double curve_weight = weight_of_curve(family, model);
        for (int i = 0; i < info->symbols; ++i) {
            weights[i] *= curve_weight / total;
        }
        for (int g = 0; g < mixture->game_count && family != PH_FAMILY_TOLD; ++g) {
            const bool is_in = (set >> g & 1) != 0;
            const double scale = is_in ? scale_of(info, &mixture->counts[g]) : 0.0;
            for (int i = 0; i < info->symbols && is_in; ++i) {
                weights[i] += scale * (double)mixture->counts[g].seen[first + i];
            }
        }
        make_model(models, first, info->symbols, weights);
    }
}

static void make_models(const ph_mixture* mixture, uint32_t set, mixed_models* models)
{
    for (int family = 0; family < PH_FAMILY_COUNT; ++family) {
        make_family(mixture, set, (ph_pinhole_family)family, models);
    }
}

static uint32_t all_games(const ph_mixture* mixture)
{
    return (UINT32_C(1) << mixture->game_count) - 1;
}

// ---- which slots are told

// Of each urgency: how many were told, how many the curve expects, and how much one more of offset adds.
typedef struct told_sums {
    double told[PH_URGENCIES];
    double expected[PH_URGENCIES];
    double slope[PH_URGENCIES];
} told_sums;

static void add_told(told_sums* sums, const ph_pinhole_counts* counts, const double* offsets)
{
    const double weight = counts->updates > 0 ? 1e5 / (double)counts->updates : 0.0;
    for (int model = 0; model < ph_pinhole_families[PH_FAMILY_TOLD].models; ++model) {
        const uint64_t* seen = counts->seen + PH_AT_TOLD + model * 3;
        const int urgency = model % PH_URGENCIES;
        double share[2];
        curve_told(model, offsets, share);
        const double slots = weight * (double)(seen[0] + seen[1]);
        sums->told[urgency] += weight * (double)seen[1];
        sums->expected[urgency] += slots * share[1];
        sums->slope[urgency] += slots * share[1] * share[0];
    }
}

// Newton's steps towards offsets with which as many are expected as are told.
static void fit_told(ph_mixture* mixture)
{
    enum { STEPS = 25 };
    for (int step = 0; step < STEPS; ++step) {
        told_sums sums = {0};
        for (int g = 0; g < mixture->game_count; ++g) {
            add_told(&sums, &mixture->counts[g], mixture->told_offsets);
        }
        for (int u = 0; u < PH_URGENCIES; ++u) {
            const double way = (sums.told[u] - sums.expected[u]) / (sums.slope[u] + 100.0);
            mixture->told_offsets[u] += way > 0.5 ? 0.5 : way < -0.5 ? -0.5 : way;
        }
    }
}

// ---- learning

// The schema of a game with all models of the mixture.
static ph_schema* schema_with(const ph_schema* base, const mixed_models* models, ph_fault* fault)
{
    const size_t size = (size_t)ph_learned_entry_count(base->property_count);
    uint8_t* codes = malloc(size);
    if (codes == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    memset(codes, PH_MODEL_CODE_NONE, size);
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, 0)) {
        const uint16_t* cumulative = models->cumulative + walk.first;
        for (int i = 0; i < walk.symbols; ++i) {
            const uint64_t parts = (uint64_t)(cumulative[i + 1] - cumulative[i]);
            codes[walk.first + i] = (uint8_t)ph_model_code_nearest(parts, PH_MODEL_TOTAL);
        }
    }
    return ph_learn_remake(base, codes, fault);
}

typedef struct mixing {
    const ph_mixture_def* def;
    int done;
} mixing;

static void show_progress(void* context, double done)
{
    const mixing* of = context;
    if (of->def->progress != NULL) {
        of->def->progress(of->def->progress_context,
                          (of->done + done) / (PASSES * of->def->game_count));
    }
}

static bool play_game(mixing* of, ph_mixture* mixture, int game, ph_fault* fault)
{
    const ph_mixture_game* played = &of->def->games[game];
    ph_schema* schema = schema_with(played->schema, &mixture->models, fault);
    const ph_tune_def def = {.kbps = PH_TUNE_KBPS,
                             .recordings = &played->recording,
                             .recording_count = 1,
                             .base = schema,
                             .viewers = of->def->viewers,
                             .pool = of->def->pool,
                             .progress = show_progress,
                             .progress_context = of};
    const bool is_done = schema != NULL && ph_tune_count(&def, &mixture->counts[game], fault);
    ph_schema_destroy(schema);
    ++of->done;
    return is_done;
}

static bool learn_all_passes(mixing* of, ph_mixture* mixture, ph_fault* fault)
{
    make_models(mixture, 0, &mixture->models);
    for (int pass = 0; pass < PASSES; ++pass) {
        for (int g = 0; g < mixture->game_count; ++g) {
            if (!play_game(of, mixture, g, fault)) {
                return false;
            }
        }
        fit_told(mixture);
        make_models(mixture, all_games(mixture), &mixture->models);
    }
    return true;
}

// What is sent depends on what it costs, so models are learned again with the ones before, and at first
// with curves alone: what comes out does not depend on the tables of this build.
ph_mixture* ph_mixture_learn(const ph_mixture_def* def, ph_fault* fault)
{
    PH_ASSERT(1 <= def->game_count && def->game_count <= PH_MIXTURE_GAMES_MAX);

    mixing of = {.def = def};
    const size_t size = sizeof(ph_mixture) + (size_t)def->game_count * sizeof(ph_pinhole_counts);
    ph_mixture* mixture = calloc(1, size);
    if (mixture == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    mixture->game_count = def->game_count;
    if (!learn_all_passes(&of, mixture, fault)) {
        free(mixture);
        return NULL;
    }
    return mixture;
}

void ph_mixture_destroy(ph_mixture* mixture)
{
    free(mixture);
}

// ---- what it is worth

static double bits_per_update(const mixed_models* models, const ph_pinhole_counts* counts)
{
    uint64_t cost256 = counts->raw_bits * PH_COST_PER_BIT + counts->uniform256;
    for (int i = 0; i < PH_PINHOLE_ENTRIES; ++i) {
        cost256 += counts->seen[i] * models->costs[i];
    }
    return counts->updates > 0 ? (double)cost256 / PH_COST_PER_BIT / (double)counts->updates : 0.0;
}

ph_mixture_figures ph_mixture_figures_of(const ph_mixture* mixture, int game)
{
    PH_ASSERT(0 <= game && game < mixture->game_count);

    static mixed_models models;
    const ph_pinhole_counts* counts = &mixture->counts[game];
    const uint32_t own = UINT32_C(1) << game;
    ph_mixture_figures figures = {.updates = counts->updates,
                                  .mixed_bits = bits_per_update(&mixture->models, counts)};
    make_models(mixture, own, &models);
    figures.own_bits = bits_per_update(&models, counts);
    make_models(mixture, all_games(mixture) & ~own, &models);
    figures.others_bits = bits_per_update(&models, counts);
    make_models(mixture, 0, &models);
    figures.curve_bits = bits_per_update(&models, counts);
    return figures;
}

// ---- the file

static void print_array(const char* name, const uint16_t* numbers, FILE* file)
{
    fprintf(file, "\nconst uint16_t %s[PH_PINHOLE_ENTRIES] = {\n", name);
    for (int family = 0; family < PH_FAMILY_COUNT; ++family) {
        const ph_pinhole_family_info* info = &ph_pinhole_families[family];
        fprintf(file, "    // %s\n", info->name);
        const int count = info->models * (info->symbols + 1);
        for (int i = 0; i < count; ++i) {
            const bool is_last = i % NUMBERS_PER_LINE == NUMBERS_PER_LINE - 1 || i == count - 1;
            fprintf(file, "%s%u,%s", i % NUMBERS_PER_LINE == 0 ? "    " : " ",
                    numbers[info->first + i], is_last ? "\n" : "");
        }
    }
    fprintf(file, "};\n");
}

void ph_mixture_print(const ph_mixture* mixture, FILE* file)
{
    fprintf(file,
            "// SPDX-FileCopyrightText: 2026 The Pinhole authors\n"
            "// SPDX-License-Identifier: MIT\n"
            "\n"
            "// Made by `pinhole tune --mixture`; do not edit. The models of the pinhole profile, "
            "learned on\n"
            "// recordings and scenes of different kinds: docs/internals/learning.md. Changing a "
            "number changes\n"
            "// the wire.\n"
            "\n"
            "#include \"schema/model_tables.h\"\n"
            "\n"
            "// clang-format off\n");
    print_array("ph_pinhole_cumulative", mixture->models.cumulative, file);
    print_array("ph_pinhole_costs", mixture->models.costs, file);
    fprintf(file, "// clang-format on\n");
}

void ph_mixture_print_schema(const ph_mixture* mixture, FILE* file)
{
    fprintf(file, "# Made by `pinhole tune --mixture`: docs/internals/learning.md.\n"
                  "class any\n    position: position\n\n");
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, 0)) {
        const uint16_t* cumulative = mixture->models.cumulative + walk.first;
        fprintf(file, "model %s %d ", ph_pinhole_families[walk.family].name, walk.model);
        for (int i = 0; i < walk.symbols; ++i) {
            const uint64_t parts = (uint64_t)(cumulative[i + 1] - cumulative[i]);
            fputc(ph_model_code_character(ph_model_code_nearest(parts, PH_MODEL_TOTAL)), file);
        }
        fputc('\n', file);
    }
}
