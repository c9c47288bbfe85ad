// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Counts become tables. Runs when tables are learned; floating point is welcome here, because what
// leaves this file is a table of integers that both ends share.

#include "learn_tables.h"

#include "packet/baseline.h"
#include "schema/learned_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX 66
#define NUMBERS_PER_LINE 13
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

// ---- curves: what is likely when nothing is known but the meaning of a symbol

// Of a residual: small ones often, large ones not too seldom.
static double density_at(double magnitude, double spread)
{
    const double far = magnitude / spread;
    return pow(1.0 + far * far, -1.5);
}

static void curve_residual(int model, double* weights)
{
    const double size = (model + 0.5) * PH_SIZE_PER_BIT / 2;
    const double spread = 0.45 + (exp2(size / PH_SIZE_PER_BIT) - 1.0) / 2.0;
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
        weights[i] = exp2(i <= spread ? 0.8 * (i - spread) : 1.6 * (spread - i)) + 1e-4;
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
    const double odds = TOLD_FIRST + TOLD_STEP * density + offsets[model % PH_URGENCIES];
    weights[1] = 1.0 / (1.0 + exp(-odds));
    weights[0] = 1.0 - weights[1];
}

// Mostly as coarse as the neighbour, or nearly.
static void curve_coarse(int model, double* weights)
{
    for (int i = 0; i <= PH_COARSE_MAX; ++i) {
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
    } else if (family == PH_FAMILY_BESIDE_COARSE) {
        curve_coarse(model, weights);
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

static void make_model(learn_tables* tables, ph_pinhole_family family, int model,
                       const double* weights)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    const int first = info->first + model * (info->symbols + 1);
    double total = 0.0;
    for (int i = 0; i < info->symbols; ++i) {
        total += weights[i];
    }
    uint32_t seen[SYMBOLS_MAX];
    for (int i = 0; i < info->symbols; ++i) {
        seen[i] = (uint32_t)(weights[i] / total * 1e9);
    }
    (void)ph_model_build(seen, info->symbols, tables->cumulative + first);
    for (int i = 0; i < info->symbols; ++i) {
        const int parts = tables->cumulative[first + i + 1] - tables->cumulative[first + i];
        const double cost = PH_COST_PER_BIT * (PH_MODEL_BITS - log2((double)parts));
        tables->costs[first + i] = (uint16_t)ceil(cost - 1e-9);
    }
    tables->costs[first + info->symbols] = 0;
}

static double weight_of_curve(ph_pinhole_family family, int model)
{
    if (ph_pinhole_families[family].symbols == PH_MAGNITUDES || spread_of(family, model) != 0) {
        return CURVE_WEIGHT;
    }
    return family >= PH_FAMILY_SLOT ? CURVE_WEIGHT_ENTERS : CURVE_WEIGHT_FEW;
}

void learn_tables_make(learn_tables* tables, const ph_pinhole_counts* const* games, int game_count,
                       const double told_offsets[PH_URGENCIES])
{
    for (int family = 0; family < PH_FAMILY_COUNT; ++family) {
        const ph_pinhole_family_info* info = &ph_pinhole_families[family];
        for (int model = 0; model < info->models; ++model) {
            double weights[SYMBOLS_MAX] = {0};
            curve_of((ph_pinhole_family)family, model, told_offsets, weights);
            const double curve_weight = weight_of_curve((ph_pinhole_family)family, model);
            double total = 0.0;
            for (int i = 0; i < info->symbols; ++i) {
                total += weights[i];
            }
            for (int i = 0; i < info->symbols; ++i) {
                weights[i] *= curve_weight / total;
            }
            for (int g = 0; g < game_count && family != PH_FAMILY_TOLD; ++g) {
                const double scale = scale_of(info, games[g]);
                const uint64_t* seen = games[g]->seen + info->first + model * (info->symbols + 1);
                for (int i = 0; i < info->symbols; ++i) {
                    weights[i] += scale * (double)seen[i];
                }
            }
            make_model(tables, (ph_pinhole_family)family, model, weights);
        }
    }
}

double learn_tables_bits(const learn_tables* tables, const ph_pinhole_counts* counts)
{
    double bits = (double)counts->raw_bits + (double)counts->uniform256 / PH_COST_PER_BIT;
    for (int i = 0; i < PH_PINHOLE_ENTRIES; ++i) {
        bits += (double)counts->seen[i] * tables->costs[i] / PH_COST_PER_BIT;
    }
    return bits;
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

void learn_tables_print(const learn_tables* tables, FILE* file)
{
    fprintf(file,
            "// SPDX-FileCopyrightText: 2026 The Pinhole authors\n"
            "// SPDX-License-Identifier: MIT\n"
            "\n"
            "// Made by `pinhole bench learn`; do not edit. The models of the pinhole profile, "
            "learned on\n"
            "// recordings and scenes of different kinds: docs/internals/learning.md. Changing a "
            "number changes\n"
            "// the wire.\n"
            "\n"
            "#include \"schema/model_tables.h\"\n"
            "\n"
            "// clang-format off\n");
    print_array("ph_pinhole_cumulative", tables->cumulative, file);
    print_array("ph_pinhole_costs", tables->costs, file);
    fprintf(file, "// clang-format on\n");
}

void learn_tables_print_schema(const learn_tables* tables, FILE* file)
{
    fprintf(file, "# Made by `pinhole bench learn`: docs/internals/learning.md.\n"
                  "class any\n    position: position\n\n");
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, 0)) {
        const uint16_t* cumulative = tables->cumulative + walk.first;
        fprintf(file, "model %s %d ", ph_pinhole_families[walk.family].name, walk.model);
        for (int i = 0; i < walk.symbols; ++i) {
            const uint64_t parts = (uint64_t)(cumulative[i + 1] - cumulative[i]);
            fputc(ph_model_code_character(ph_model_code_nearest(parts, PH_MODEL_TOTAL)), file);
        }
        fputc('\n', file);
    }
}
