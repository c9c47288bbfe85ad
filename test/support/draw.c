// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few dozen draws for each world; a schema of 256 classes takes some milliseconds.

#include "draw.h"

#include <pinhole/viewer.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO_32 INT64_C(4294967296)
#define WHOLE_MAX INT64_C(9007199254740992)

static uint64_t below(test_rng* rng, uint64_t limit)
{
    return test_rng_below(rng, limit);
}

static bool one_in(test_rng* rng, uint64_t count)
{
    return below(rng, count) == 0;
}

static int from_environment(const char* name, int usual)
{
    const char* text = getenv(name);
    return text != NULL && text[0] != '\0' ? atoi(text) : usual;
}

draw_rounds draw_rounds_of(int usual)
{
    const int first = from_environment("PH_TEST_FIRST", 0);
    const int count = from_environment("PH_TEST_ONLY", 0) != 0
                          ? 1
                          : usual * from_environment("PH_TEST_ROUNDS", 1);
    return (draw_rounds){.first = first, .end = first + count};
}

static int running_round = -1;

void draw_begin(int round)
{
    running_round = round;
}

void draw_end(void)
{
    running_round = -1;
}

int draw_say_round(void** state)
{
    (void)state;
    if (running_round >= 0) {
        print_error("In round %d. Alone: PH_TEST_FIRST=%d PH_TEST_ONLY=1\n", running_round,
                    running_round);
    }
    draw_end();
    return 0;
}

void draw_filter_tests(void)
{
    cmocka_set_test_filter(getenv("PH_TEST_FILTER"));
}

// ---- numbers

// 0..top, every size of number about equally often.
static uint64_t draw_size(test_rng* rng, uint64_t top)
{
    int width = 0;
    while (width < 64 && top >> width != 0) {
        ++width;
    }
    const uint64_t kept = 1 + below(rng, width > 0 ? (uint64_t)width : 1);
    const uint64_t number = test_rng_next(rng) >> (64 - kept);
    return number <= top ? number : top - (number - top - 1);
}

int64_t draw_whole(test_rng* rng, int64_t lo, int64_t hi)
{
    const uint64_t span = (uint64_t)hi - (uint64_t)lo;
    const uint64_t near = span < 1 ? span : 1;
    uint64_t above_lo;
    switch (below(rng, 8)) {
    case 0:
        above_lo = 0;
        break;
    case 1:
        above_lo = near;
        break;
    case 2:
        above_lo = span - near;
        break;
    case 3:
        above_lo = span;
        break;
    default:
        above_lo = draw_size(rng, span);
        break;
    }
    return (int64_t)((uint64_t)lo + above_lo);
}

double draw_real(test_rng* rng, double lo, double hi)
{
    const double span = hi - lo;
    switch (below(rng, 8)) {
    case 0:
        return lo;
    case 1:
        return lo + span * 0x1p-30;
    case 2:
        return hi - span * 0x1p-30;
    case 3:
        return hi;
    default:
        break;
    }
    double share = test_rng_unit(rng);
    for (uint64_t halves = below(rng, 24); halves > 0; --halves) {
        share *= 0.5;
    }
    return lo + span * share;
}

// ---- properties

// lo < hi, both within least..most.
static void draw_ends(test_rng* rng, int64_t least, int64_t most, ph_property_def* def)
{
    const int64_t middle = least < 0 ? 0 : least;
    const int64_t lo = one_in(rng, 2) ? draw_whole(rng, middle, most - 1)
                                      : -draw_whole(rng, 0, -(least < 0 ? least : 0));
    def->lo = (double)lo;
    def->hi = (double)draw_whole(rng, lo + 1, most);
}

static void draw_default(test_rng* rng, double lo, double hi, bool is_whole, ph_property_def* def)
{
    if (one_in(rng, 2)) {
        return;
    }
    def->default_value =
        is_whole ? (double)draw_whole(rng, (int64_t)lo, (int64_t)hi) : draw_real(rng, lo, hi);
    const bool is_legal = def->default_value >= lo && def->default_value <= hi;
    def->default_value = is_legal ? def->default_value : lo;
    def->has_default = one_in(rng, 2) ? 1 + (int)below(rng, 7) : 0;
}

static void draw_integer(test_rng* rng, ph_property_def* def)
{
    const bool is_short = def->coding == PH_CODING_TWO_BIT || def->coding == PH_CODING_GAMMA ||
                          def->coding == PH_CODING_RICE;
    if (def->coding == PH_CODING_RICE) {
        def->rice_k = (int)draw_whole(rng, 0, 31);
    }
    if (def->coding != PH_CODING_RANGE && one_in(rng, 4)) {
        return; // all that it holds
    }
    if (!is_short) {
        draw_ends(rng, -WHOLE_MAX, WHOLE_MAX, def);
    } else if (one_in(rng, 2)) {
        draw_ends(rng, 0, TWO_32 - 1, def);
    } else {
        draw_ends(rng, -TWO_32 / 2, TWO_32 / 2 - 1, def);
    }
    if (def->coding == PH_CODING_RANGE) {
        def->is_arithmetic = def->hi - def->lo < (double)(TWO_32 - 1) && one_in(rng, 2);
    }
    if (def->lo != 0.0 || def->hi != 0.0) {
        draw_default(rng, def->lo, def->hi, true, def);
    }
}

// Whole steps on both sides of zero, or all on one: 1..2^32-1 of them.
static void draw_ladder(test_rng* rng, ph_property_def* def)
{
    static const double STEPS[] = {0.1, 0.25, 1, 1e-9, 3e12, 1.0 / 3.0, 0.7, 0x1p-900, 0x1p900, 16};
    def->step = STEPS[below(rng, sizeof STEPS / sizeof STEPS[0])];
    const int64_t count = draw_whole(rng, 1, TWO_32 - 1);
    const int64_t first = one_in(rng, 4) ? draw_whole(rng, 0, TWO_32) : -draw_whole(rng, 0, count);
    def->lo = (double)first * def->step;
    def->hi = (double)(first + count) * def->step;
    if (def->coding == PH_CODING_VEC3 && one_in(rng, 2)) {
        const int64_t z_count = draw_whole(rng, 1, TWO_32 - 1);
        def->z_lo = (double)-draw_whole(rng, 0, z_count) * def->step;
        def->z_hi = def->z_lo + (double)z_count * def->step;
    }
    draw_default(rng, def->lo, def->hi, false, def);
    if (def->coding == PH_CODING_VEC3 && def->z_lo < def->z_hi &&
        (def->default_value < def->z_lo || def->default_value > def->z_hi)) {
        def->has_default &= PH_DEFAULT_X | PH_DEFAULT_Y;
    }
    // Of a zero that is no level of its own the schema takes the nearest end, unless it was asked for.
    if (def->has_default != 0 && def->default_value == 0.0 && (def->lo > 0.0 || def->hi < 0.0)) {
        def->has_default = 0;
    }
}

static void draw_position(test_rng* rng, ph_property_def* def)
{
    const int shift = (int)draw_whole(rng, 0, 31);
    def->step = (double)(UINT64_C(1) << shift);
    def->bits = (int)draw_whole(rng, 1, 32 - shift);
    def->ground_tolerance_mm = one_in(rng, 2) ? 0 : (int)draw_whole(rng, 1, INT_MAX);
    if (one_in(rng, 2)) {
        def->step = one_in(rng, 4) ? 0.0 : (double)(UINT64_C(1) << below(rng, 8));
        def->bits = one_in(rng, 4) ? 0 : (int)draw_whole(rng, 1, 24);
    }
    if (one_in(rng, 2)) {
        const double step = def->step == 0.0 ? 16.0 : def->step;
        def->finest = fmax(ldexp(step, -(int)draw_whole(rng, 0, 7)), 1.0);
    }
}

static void draw_parameters(test_rng* rng, ph_property_def* def)
{
    static const double TURNS[] = {0, 1, 360, 6.283185307179586, 65536, 0x1p-1000, 0x1p1000};
    switch (def->coding) {
    case PH_CODING_BOOL:
        draw_default(rng, 0, 1, true, def);
        break;
    case PH_CODING_ENUM:
        def->count = (int)draw_whole(rng, 2, INT_MAX);
        def->is_arithmetic = one_in(rng, 2);
        draw_default(rng, 0, def->count - 1.0, true, def);
        break;
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        draw_ladder(rng, def);
        break;
    case PH_CODING_ANGLE:
        def->bits = (int)draw_whole(rng, 0, 32);
        def->turn = TURNS[below(rng, sizeof TURNS / sizeof TURNS[0])];
        draw_default(rng, -1e6, 1e6, false, def);
        break;
    case PH_CODING_QUATERNION:
        def->bits = one_in(rng, 8) ? 0 : (int)draw_whole(rng, 8, 16);
        break;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        def->max_length = (int)draw_whole(rng, 1, PH_TEXT_LENGTH_MAX);
        break;
    case PH_CODING_POSITION:
        draw_position(rng, def);
        break;
    case PH_CODING_ENTITY:
        break;
    default:
        draw_integer(rng, def);
        break;
    }
}

static bool has_differences(ph_coding coding)
{
    return coding != PH_CODING_BOOL && coding != PH_CODING_ENUM && coding != PH_CODING_QUATERNION &&
           coding != PH_CODING_STRING && coding != PH_CODING_BYTES && coding != PH_CODING_ENTITY;
}

static void draw_policy(test_rng* rng, ph_property_def* def)
{
    def->weight = one_in(rng, 2) ? 0.0 : draw_real(rng, 1e-6, 1e6);
    def->when =
        def->coding != PH_CODING_ENTITY && one_in(rng, 4) ? PH_SEND_ONCE : PH_SEND_ON_CHANGE;
    def->finest = def->when == PH_SEND_ONCE ? 0.0 : def->finest;
    if (has_differences(def->coding) && one_in(rng, 2)) {
        def->significant = one_in(rng, 8) ? 0x1p1000 : draw_real(rng, 0, 1e6);
    }
    if (def->coding == PH_CODING_POSITION) {
        return;
    }
    // In mm, so that near ends are drawn as often as far ones.
    def->distance_m = one_in(rng, 2) ? 0.0 : 1e-3 * (double)draw_whole(rng, 1, INT64_C(5000000000));
    def->distance_m = def->distance_m > 5e6 ? 5e6 : def->distance_m;
    def->audience = one_in(rng, 2) ? PH_AUDIENCE_ALL : (ph_audience)below(rng, 3);
    if (def->audience == PH_AUDIENCE_MASK) {
        const uint32_t low = 1 + (uint32_t)below(rng, 7);
        def->audience_mask = one_in(rng, 2) ? low : (uint32_t)draw_whole(rng, 1, UINT32_MAX);
    }
}

// ---- schemas

typedef struct class_tables {
    char name[PH_SCHEMA_NAME_MAX + 1];
    char names[PH_PROPERTIES_MAX][PH_SCHEMA_NAME_MAX + 1];
    ph_property_def properties[PH_PROPERTIES_MAX];
} class_tables;

// One of them may be the orientation or the heading, whatever its name and place; the last reference is the carrier.
static void draw_motion(test_rng* rng, ph_property_def* defs, int count)
{
    for (int i = count - 1, found = 0; i >= 0 && found == 0; --i) {
        found = defs[i].coding == PH_CODING_ENTITY;
        defs[i].is_carrier = found != 0;
    }
    if (one_in(rng, 4)) {
        return;
    }
    const int first = (int)below(rng, (uint64_t)count);
    for (int i = 0; i < count; ++i) {
        ph_property_def* def = &defs[(first + i) % count];
        def->is_orientation = def->coding == PH_CODING_QUATERNION && def->when != PH_SEND_ONCE;
        def->is_heading = def->coding == PH_CODING_ANGLE;
        if (def->is_orientation || def->is_heading) {
            return;
        }
    }
}

// Half of what can be smooth.
static void draw_smooth(test_rng* rng, ph_property_def* defs, int count)
{
    for (int i = 0; i < count; ++i) {
        const bool may_be = defs[i].coding >= PH_CODING_RANGE && defs[i].coding <= PH_CODING_VEC3 &&
                            defs[i].when != PH_SEND_ONCE && !defs[i].is_orientation &&
                            !defs[i].is_heading;
        defs[i].is_smooth = may_be && one_in(rng, 2);
    }
}

static void draw_class(test_rng* rng, int number, int properties_max, class_tables* tables,
                       ph_class_def* def)
{
    const int count = (int)draw_whole(rng, 1, properties_max);
    const int position = (int)draw_whole(rng, 0, count - 1);
    snprintf(tables->name, sizeof tables->name, "class_%d", number);
    *def = (ph_class_def){
        .name = tables->name, .properties = tables->properties, .property_count = count};
    // One coding for all, or any for each.
    const int common = one_in(rng, 4) ? 1 + (int)below(rng, PH_CODING_POSITION - 1) : 0;
    for (int p = 0; p < count; ++p) {
        ph_property_def* property = &tables->properties[p];
        *property = (ph_property_def){.name = tables->names[p]};
        snprintf(tables->names[p], sizeof tables->names[p], "property_%d", p);
        const int any = 1 + (int)below(rng, PH_CODING_POSITION - 1);
        property->coding =
            p == position ? PH_CODING_POSITION : (ph_coding)(common != 0 ? common : any);
        if (property->coding == PH_CODING_ANGLE && one_in(rng, 2)) {
            snprintf(tables->names[p], sizeof tables->names[p], "heading");
            for (int before = 0; before < p; ++before) {
                if (strcmp(tables->names[before], "heading") == 0) {
                    snprintf(tables->names[p], sizeof tables->names[p], "property_%d", p);
                }
            }
        }
        draw_parameters(rng, property);
        draw_policy(rng, property);
    }
    draw_motion(rng, tables->properties, count);
    draw_smooth(rng, tables->properties, count);
    def->radius_m = one_in(rng, 2) ? 0.0 : draw_real(rng, 1e-3, 1e5);
}

// A datagram must hold an entity: texts become shorter until it does.
static void shorten(class_tables* tables, int class_count)
{
    for (int c = 0; c < class_count; ++c) {
        for (int p = 0; p < PH_PROPERTIES_MAX; ++p) {
            int* length = &tables[c].properties[p].max_length;
            *length = *length > 1 ? *length - (*length + 3) / 4 : *length;
        }
    }
}

ph_schema* draw_schema(test_rng* rng, const draw_schema_limits* limits)
{
    const int class_count = (int)draw_whole(rng, 1, limits->classes_max);
    class_tables* tables = calloc((size_t)class_count, sizeof *tables);
    ph_class_def* classes = calloc((size_t)class_count, sizeof *classes);
    assert_true(tables != NULL && classes != NULL);
    for (int c = 0; c < class_count; ++c) {
        draw_class(rng, c, limits->properties_max, &tables[c], &classes[c]);
    }
    ph_schema* schema = NULL;
    ph_error error;
    while (ph_schema_create(classes, class_count, NULL, &schema, &error) != PH_OK) {
        if (strstr(error.text, "must fit a datagram") == NULL) {
            fail_msg("a drawn schema is refused: %s", error.text);
        }
        shorten(tables, class_count);
    }
    free(classes);
    free(tables);
    return schema;
}

int draw_schema_bytes(const ph_schema* schema)
{
    int most = 0;
    for (int c = 0; c < ph_schema_class_count(schema); ++c) {
        const ph_class_def* type = ph_schema_class(schema, c);
        int bytes = 0;
        for (int p = 0; p < type->property_count; ++p) {
            bytes += 12 + type->properties[p].max_length;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

// ---- worlds and viewers

ph_world_def draw_world_def(test_rng* rng)
{
    ph_world_def def = ph_world_def_default();
    def.entity_capacity = (int)draw_whole(rng, 0, 1000);
    def.viewer_capacity = (int)draw_whole(rng, 0, 20);
    def.radius_max_mm = (int32_t)draw_whole(rng, 1, INT32_MAX);
    def.tick_us = (uint32_t)draw_whole(rng, 1000, 10000000);
    def.jump_mm = one_in(rng, 2) ? 0 : (int32_t)draw_whole(rng, 1, INT32_MAX);
    def.vision.kind = one_in(rng, 2) ? PH_VISION_GRID : PH_VISION_GROUPS;
    def.vision.cell_mm = (int32_t)draw_whole(rng, 1, INT32_MAX);
    def.vision.group_split_mm = (int32_t)draw_whole(rng, 3, INT32_MAX);
    def.vision.group_merge_mm = (int32_t)draw_whole(rng, 1, (def.vision.group_split_mm - 1) / 2);
    def.vision.refresh_ticks = (int)draw_whole(rng, 1, one_in(rng, 4) ? INT_MAX : 8);
    def.vision.stay_ticks = (int)draw_whole(rng, 0, one_in(rng, 4) ? INT_MAX : 20);
    def.vision.hysteresis = draw_real(rng, 1.0, 16.0);
    return def;
}

int draw_budget(test_rng* rng, int least)
{
    return one_in(rng, 8) ? 0 : (int)draw_whole(rng, least, one_in(rng, 4) ? INT_MAX : 100000000);
}

int draw_burst(test_rng* rng)
{
    return one_in(rng, 2) ? 0 : (int)draw_whole(rng, 1, one_in(rng, 2) ? INT_MAX : 50000);
}

static double draw_sends(test_rng* rng, double least)
{
    switch (below(rng, 4)) {
    case 0:
        return 0.0;
    case 1:
        return PH_SENDS_AUTO;
    default:
        return draw_real(rng, least, 1000.0);
    }
}

// A game's own choice: by slot, and only a part of what is due at a time.
static void own_rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    for (int slot = 0; slot < ranking->slot_count; ++slot) {
        const bool is_idle = ranking->dirty[slot] == 0 || ranking->weight[slot] == 0.0f;
        ranking->score[slot] += 1.0f;
        ranking->priority[slot] = is_idle ? 0.0f : ranking->score[slot] + (float)(slot % 7);
    }
}

static uint64_t own_filter(void* context, const ph_visit* visit)
{
    (void)context;
    return visit->diff & (visit->diff >> 1 | visit->lost | UINT64_C(0x5555555555555555));
}

static float own_sent(void* context, float score)
{
    (void)context;
    (void)score;
    return 0.0f;
}

static float own_lost(void* context, float score, float score_then)
{
    (void)context;
    return score + score_then;
}

static ph_scheduler draw_own_scheduler(test_rng* rng)
{
    ph_scheduler own = {
        .name = "own", .rank = own_rank, .filter = own_filter, .sent = own_sent, .lost = own_lost};
    own.wants_change = one_in(rng, 2);
    own.wants_errors = one_in(rng, 2);
    own.ranks_newcomers = one_in(rng, 2);
    return own;
}

ph_viewer_def draw_viewer_def(test_rng* rng, const draw_viewer_limits* limits, bool* is_universal)
{
    ph_viewer_def def = ph_viewer_def_default();
    // Mostly far enough to see something.
    def.radius_mm =
        one_in(rng, 2) ? limits->radius_max_mm : (int32_t)draw_whole(rng, 1, limits->radius_max_mm);
    def.visible_max = (int)draw_whole(rng, 1, limits->visible_max);
    const bool is_usual = one_in(rng, 4) && 2 * def.visible_max <= limits->slot_count_max;
    def.slot_count =
        is_usual ? 0 : (int)draw_whole(rng, def.visible_max + 1, limits->slot_count_max);
    def.bits_per_second = draw_budget(rng, limits->bits_per_second);
    def.burst_bits = draw_burst(rng);
    def.overhead_bytes = (int)draw_whole(rng, 0, 1000);
    def.sends_per_second = draw_sends(rng, limits->sends_per_second);
    def.precision_mrad = draw_real(rng, 0.0, 60.0);
    *is_universal = one_in(rng, 4);
    def.max_starve_ms = (int)draw_whole(rng, 0, INT_MAX);
    switch (below(rng, 5)) {
    case 0:
        def.scheduler = ph_scheduler_score();
        break;
    case 1:
        def.scheduler = ph_scheduler_buckets();
        break;
    case 2:
        def.scheduler = ph_scheduler_error();
        break;
    case 3:
        def.scheduler = draw_own_scheduler(rng);
        break;
    default:
        break; // that of the profile
    }
    return def;
}
