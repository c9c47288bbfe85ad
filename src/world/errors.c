// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One gather per slot, and some forty multiplications, in vectors. No function of the C library but the
// square root, which is exact: the same bits everywhere.

#include "world/errors.h"

#include "base/bitset.h"
#include "base/inline.h"
#include "base/wide.h"
#include "wire/baseline.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NEAREST_MM 1000.0f

// That a packet is lost whose answer is overdue: of those that are lost, and those whose answer is, as
// many are which.
#define DOUBT 0.5f

// Half a round trip: before the first was measured, and at most.
#define FIRST_WAY_S 0.05f
#define LONGEST_WAY_S 0.5f

// What parts of a record take, at about; a position of the pinhole profile grows with its surprise.
typedef struct tariff {
    float record_bits;
    float position_bits;
    float bits_per_doubling; // of the error, in steps
    float heading_bits;
    float other_bits;
    float enter_bits; // before the first was sent
} tariff;
static const tariff CLASSIC = {13.0f, 48.0f, 0.0f, 9.0f, 12.0f, 130.0f};
static const tariff CODED = {3.0f, 3.0f, 2.0f, 4.0f, 6.0f, 80.0f};

ph_error_lanes ph_error_lanes_make(float* memory, int count)
{
    const size_t length = (size_t)count;
    ph_error_lanes lanes = {.range_mm = memory};
    lanes.error_mm = lanes.range_mm + length;
    lanes.growth_mm_s = lanes.error_mm + length;
    lanes.turn_rad = lanes.growth_mm_s + length;
    lanes.age_s = lanes.turn_rad + length;
    lanes.missing = lanes.age_s + length;
    lanes.position_bits = lanes.missing + length;
    lanes.carried_mm = lanes.position_bits + length;
    lanes.kept = lanes.carried_mm + length;
    return lanes;
}

// What is the same for all slots.
typedef struct filling {
    const ph_expectation* expectation;
    const ph_outlook* outlook;
    const ph_knowledge* knowledge;
    const ph_error_lanes* lanes; // the first is of slot `first`
    int first;
    const uint64_t* touched; // at the same places
    const tariff* prices;
    int32_t eye_mm[3];
    float tick_s;
    float way_s; // half a round trip
    float loss;
    float doubt_s;
} filling;

// What is known of entities lies here and there: it is first laid side by side, so many slots at a
// time, and then worked out by loops that compilers turn into vectors.
enum { SECTION_SLOTS = 64 };

// Motions that a client goes on with, and the truth. Zeros, at the eye, are nobody's.
typedef struct motions {
    int32_t true_mm[3][SECTION_SLOTS];
    int32_t sample_mm[3][SECTION_SLOTS];
    float true_mm_s[3][SECTION_SLOTS];
    float velocity_mm_s[3][SECTION_SLOTS];
    float bend_mm_s[3][SECTION_SLOTS];
    float ticks[SECTION_SLOTS];   // since the sample
    float limit_s[SECTION_SLOTS]; // how long it is carried on
    float step_mm[SECTION_SLOTS]; // of its coding
} motions;

// What comes of them.
typedef struct misfits {
    float* error_mm;
    float* growth_mm_s;
    float* carried_mm; // beyond its sample
} misfits;

// Of whom something was sent that is not known to have come, in this section.
typedef struct doubts {
    int count;
    uint16_t places[SECTION_SLOTS];
} doubts;

// Slots of a class mostly lie beside each other.
typedef struct kind {
    int class_index;          // -1: of none yet
    uint64_t heading;         // its bit, or 0
    const uint32_t* headings; // by row; one word each
    int heading_shift;        // brings a level into the uppermost bits
    float step_mm;
    const ph_manner* manner;
} kind;

// Exponent, and the fraction taken straight: wrong by a tenth at most.
static inline float log2_about(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)(bits - INT32_C(0x3F800000)) * (1.0f / (1 << 23));
}

// ---- side by side

PH_OUT_OF_LINE static kind kind_of(const filling* f, int class_index)
{
    const ph_layout* layout = &f->outlook->world->forms.layouts.layouts[class_index];
    kind made = {
        .class_index = class_index,
        .heading = layout->heading,
        .step_mm = (float)(UINT32_C(1) << layout->coordinate.shift),
        .manner = &f->expectation->manners[class_index],
    };
    if (layout->heading != 0) {
        const ph_table* table = &f->outlook->world->tables[class_index];
        const int property = layout->heading_property;
        PH_ASSERT(table->described->properties[property].words == 1);
        made.headings = ph_table_value(table, property, 0);
        made.heading_shift = 32 - table->described->properties[property].angle.width;
    }
    return made;
}

static inline void add_truth(const ph_entities* entities, ph_entity_index entity, motions* all,
                             int i)
{
    for (int k = 0; k < 3; ++k) {
        all->true_mm[k][i] = entities->whereabouts[entity].position_mm[k];
    }
}

static inline void add_motion(const ph_world* world, ph_entity_index entity,
                              const ph_expected* shown, motions* all, int i)
{
    const float* true_mm_s = world->entities.whereabouts[entity].velocity_mm_s;
    add_truth(&world->entities, entity, all, i);
    for (int k = 0; k < 3; ++k) {
        all->sample_mm[k][i] = shown->position_mm[k];
        all->true_mm_s[k][i] = true_mm_s[k];
        all->velocity_mm_s[k][i] = shown->velocity_mm_s[k];
        all->bend_mm_s[k][i] = shown->bend_mm_s[k];
    }
    all->ticks[i] = (float)(world->tick - shown->tick);
}

// Who is not shown yet is wrong nowhere.
static void add_newcomer(const filling* f, int slot, motions* all, int i)
{
    const ph_world* world = f->outlook->world;
    const ph_expected at = {.tick = ph_knowledge_at(f->knowledge, slot)->since_tick};
    add_motion(world, f->outlook->entities[slot], &at, all, i);
    for (int k = 0; k < 3; ++k) {
        all->sample_mm[k][i] = all->true_mm[k][i];
        all->true_mm_s[k][i] = 0.0f;
    }
    all->limit_s[i] = 0.0f;
    all->step_mm[i] = 1.0f;
}

static void add_nobody(const filling* f, motions* all)
{
    memset(all, 0, sizeof *all);
    for (int i = 0; i < SECTION_SLOTS; ++i) {
        for (int k = 0; k < 3; ++k) {
            all->true_mm[k][i] = f->eye_mm[k];
            all->sample_mm[k][i] = f->eye_mm[k];
        }
        all->step_mm[i] = 1.0f;
    }
}

// ---- position

static inline float sum_of_squares(float x, float y, float z)
{
    return x * x + y * y + z * z;
}

PH_WIDE static void measure_ranges(const filling* f, const motions* restrict all, int count,
                                   float* restrict range_mm)
{
    const int32_t eye_mm[3] = {f->eye_mm[0], f->eye_mm[1], f->eye_mm[2]};
    for (int i = 0; i < count; ++i) {
        const float away_mm = sqrtf(sum_of_squares(ph_expected_way(eye_mm[0], all->true_mm[0][i]),
                                                   ph_expected_way(eye_mm[1], all->true_mm[1][i]),
                                                   ph_expected_way(eye_mm[2], all->true_mm[2][i])));
        range_mm[i] = ph_greater(away_mm, NEAREST_MM);
    }
}

// Along one axis.
typedef struct misfit {
    float off_mm;
    float apart_mm_s;
    float carried_mm;
} misfit;

// How far it is carried on.
typedef struct carriage {
    float reach_s;
    float bend; // share of what the change of velocity adds
    bool goes;  // and does not stand yet
    float way_s;
} carriage;

static inline misfit along(const motions* all, int i, int axis, const carriage* ride)
{
    const float shown_mm_s = all->velocity_mm_s[axis][i] + ride->bend * all->bend_mm_s[axis][i];
    const float true_mm_s = all->true_mm_s[axis][i];
    const float carried_mm = shown_mm_s * ride->reach_s;
    return (misfit){
        .off_mm = ph_expected_way(all->sample_mm[axis][i], all->true_mm[axis][i]) +
                  (true_mm_s * ride->way_s - carried_mm),
        .apart_mm_s = true_mm_s - ph_float_if(ride->goes, shown_mm_s),
        .carried_mm = carried_mm,
    };
}

PH_WIDE static void work_out(const filling* f, const motions* restrict all, int count,
                             const misfits* fit)
{
    float* restrict error_mm = fit->error_mm;
    float* restrict growth_mm_s = fit->growth_mm_s;
    float* restrict carried_mm = fit->carried_mm;
    const float tick_s = f->tick_s;
    const float way_s = f->way_s;
    for (int i = 0; i < count; ++i) {
        const float age_s = all->ticks[i] * tick_s + way_s;
        const float reach_s = ph_carry_reach_s(age_s, all->limit_s[i]);
        const carriage ride = {
            .reach_s = reach_s,
            .bend = ph_carry_fade(reach_s, PH_BEND_FULL_AGE_S, PH_BEND_LAST_AGE_S),
            .goes = age_s < all->limit_s[i],
            .way_s = way_s,
        };
        const misfit x = along(all, i, 0, &ride);
        const misfit y = along(all, i, 1, &ride);
        const misfit z = along(all, i, 2, &ride);
        error_mm[i] = sqrtf(sum_of_squares(x.off_mm, y.off_mm, z.off_mm));
        growth_mm_s[i] = sqrtf(sum_of_squares(x.apart_mm_s, y.apart_mm_s, z.apart_mm_s));
        carried_mm[i] = sqrtf(sum_of_squares(x.carried_mm, y.carried_mm, z.carried_mm));
    }
}

// What was sent may be lost: by that chance, the error without it counts.
static void doubt(const filling* f, int first, const motions* sent, const doubts* all,
                  float* error_mm)
{
    motions known; // only so many of them
    float chances[SECTION_SLOTS];
    int places[SECTION_SLOTS];
    int count = 0;
    for (int i = 0; i < all->count; ++i) {
        const int place = all->places[i];
        const int slot = first + place;
        const ph_expected* without = ph_expectation_without(f->expectation, slot);
        const float chance = sent->ticks[place] * f->tick_s > f->doubt_s ? DOUBT : f->loss;
        if (chance > 0.0f && without != NULL) {
            const ph_manner* manner = &f->expectation->manners[f->knowledge->class_index[slot]];
            places[count] = place;
            chances[count] = chance;
            add_motion(f->outlook->world, f->outlook->entities[slot], without, &known, count);
            known.limit_s[count++] = ph_manner_limit_s(manner, without->interval_s);
        }
    }
    float worse_mm[3][SECTION_SLOTS];
    work_out(f, &known, count, &(misfits){worse_mm[0], worse_mm[1], worse_mm[2]});
    for (int i = 0; i < count; ++i) {
        float* at_mm = &error_mm[places[i]];
        *at_mm += chances[i] * ph_greater(worse_mm[0][i] - *at_mm, 0.0f);
    }
}

PH_WIDE static void price_positions(const filling* f, const motions* restrict all, int count,
                                    const float* restrict error_mm, float* restrict position_bits)
{
    const tariff prices = *f->prices;
    for (int i = 0; i < count; ++i) {
        const float steps = error_mm[i] / all->step_mm[i];
        position_bits[i] =
            prices.position_bits + prices.bits_per_doubling * log2_about(1.0f + steps);
    }
}

// ---- heading

// With levels in the uppermost bits the shorter way round is a matter of sign.
static inline float turn_of(const filling* f, const kind* as, int slot)
{
    const ph_entity_index entity = f->outlook->entities[slot];
    const uint32_t row = f->outlook->world->entities.whereabouts[entity].row;
    const uint32_t turn = (as->headings[row] - f->expectation->heading[slot]) << as->heading_shift;
    return fabsf((float)(int32_t)turn) * ((float)PH_TURN_RADIANS * 0.5f) / 2147483648.0f;
}

// ---- all of it

static void fill_with(float* lane, int count, float value)
{
    for (int i = 0; i < count; ++i) {
        lane[i] = value;
    }
}

// Slots beside each other, at most SECTION_SLOTS.
typedef struct section {
    int first;
    int count;
    const uint16_t* shown; // of these, all that show somebody
    int shown_count;
} section;

// Few of those in view. @return Whether it is missing, as far as anybody can tell.
PH_OUT_OF_LINE static bool fill_unsure(const filling* f, const section* of, int slot, motions* sent)
{
    const bool is_newcomer = f->knowledge->told[slot] == PH_TOLD_NOTHING;
    if (!is_newcomer && !ph_sender_is_doubtful(f->outlook->sender, slot)) {
        return false;
    }
    add_newcomer(f, slot, sent, slot - of->first);
    f->lanes->missing[slot - f->first] = is_newcomer ? 1.0f : DOUBT;
    return true;
}

static void lay_side_by_side(const filling* f, const section* of, motions* restrict sent,
                             doubts* restrict open)
{
    const ph_world* world = f->outlook->world;
    const ph_entity_index* entities = f->outlook->entities;
    const ph_expected* all_sent = f->expectation->sent;
    const uint8_t* marks = f->expectation->marks;
    const uint8_t* told = f->knowledge->told;
    const uint8_t* class_index = f->knowledge->class_index;
    const uint64_t* touched = f->touched + (of->first - f->first);
    float* turn_rad = f->lanes->turn_rad + (of->first - f->first);
    kind as = {.class_index = -1};
    int open_count = 0;
    for (int i = 0; i < of->shown_count; ++i) {
        const int slot = of->shown[i];
        const int place = slot - of->first;
        if (told[slot] != PH_TOLD_ENTERED && fill_unsure(f, of, slot, sent)) {
            continue;
        }
        if (class_index[slot] != as.class_index) {
            as = kind_of(f, class_index[slot]);
        }
        const ph_expected* shown = &all_sent[slot];
        add_motion(world, entities[slot], shown, sent, place);
        sent->limit_s[place] = ph_manner_limit_s(as.manner, shown->interval_s);
        sent->step_mm[place] = as.step_mm;
        open->places[open_count] = (uint16_t)place;
        open_count += (marks[slot] & PH_EXPECTED_APART) != 0;
        if ((touched[place] & as.heading) != 0) {
            turn_rad[place] = turn_of(f, &as, slot);
        }
    }
    open->count = open_count;
}

static void fill_section(const filling* f, const section* of)
{
    const int lane = of->first - f->first;
    const misfits fit = {
        .error_mm = f->lanes->error_mm + lane,
        .growth_mm_s = f->lanes->growth_mm_s + lane,
        .carried_mm = f->lanes->carried_mm + lane,
    };
    motions sent;
    doubts open;
    if (of->shown_count < of->count) {
        add_nobody(f, &sent);
    }
    fill_with(f->lanes->turn_rad + lane, of->count, 0.0f);
    fill_with(f->lanes->missing + lane, of->count, 0.0f);
    lay_side_by_side(f, of, &sent, &open);
    measure_ranges(f, &sent, of->count, f->lanes->range_mm + lane);
    work_out(f, &sent, of->count, &fit);
    if (open.count > 0) {
        doubt(f, of->first, &sent, &open, fit.error_mm);
    }
    price_positions(f, &sent, of->count, fit.error_mm, f->lanes->position_bits + lane);
    for (int i = 0; i < of->count; ++i) {
        f->lanes->age_s[lane + i] = sent.ticks[i] * f->tick_s;
    }
}

static void fill_all(const filling* f, const ph_error_span* span)
{
    const uint16_t* shown = span->shown.slots;
    const uint16_t* shown_end = shown + span->shown.count;
    const int end = span->first + span->count;
    for (int first = span->first; first < end; first += SECTION_SLOTS) {
        const int count = end - first < SECTION_SLOTS ? end - first : SECTION_SLOTS;
        section of = {.first = first, .count = count, .shown = shown};
        while (shown < shown_end && *shown < first + count) {
            ++shown;
        }
        of.shown_count = (int)(shown - of.shown);
        fill_section(f, &of);
    }
}

static float way_seconds(const ph_sender* sender)
{
    const float way_s = (float)sender->stats.rtt_ms * (0.5f * 1e-3f);
    return way_s == 0.0f ? FIRST_WAY_S : ph_lesser(way_s, LONGEST_WAY_S);
}

static filling make_filling(const ph_error_span* span)
{
    const ph_outlook* outlook = span->outlook;
    const ph_sender* sender = outlook->sender;
    return (filling){
        .expectation = sender->expectation,
        .outlook = outlook,
        .knowledge = &sender->knowledge,
        .lanes = span->lanes,
        .first = span->first,
        .touched = span->touched,
        .prices = ph_sender_is_coded(sender) ? &CODED : &CLASSIC,
        .eye_mm = {outlook->eye_x_mm, outlook->eye_y_mm, span->eye_z_mm},
        .tick_s = ph_world_tick_s(outlook->world),
        .way_s = way_seconds(sender),
        .loss = (float)sender->stats.loss,
        .doubt_s = sender->doubt_ms != 0 ? (float)sender->doubt_ms * 1e-3f : FLT_MAX,
    };
}

// What enters have cost so far.
static float enter_bits(const filling* f)
{
    const ph_viewer_stats* stats = &f->outlook->sender->stats;
    const double bits = (double)stats->ledger.bits256[PH_REASON_ENTER] / 256.0;
    return stats->enters == 0 ? f->prices->enter_bits : (float)(bits / (double)stats->enters);
}

ph_ranking_errors ph_errors_fill(const ph_error_span* span)
{
    const filling f = make_filling(span);
    fill_all(&f, span);
    return (ph_ranking_errors){
        .range_mm = span->lanes->range_mm,
        .error_mm = span->lanes->error_mm,
        .growth_mm_s = span->lanes->growth_mm_s,
        .turn_rad = span->lanes->turn_rad,
        .age_s = span->lanes->age_s,
        .missing = span->lanes->missing,
        .position_bits = span->lanes->position_bits,
        .record_bits = f.prices->record_bits,
        .heading_bits = f.prices->heading_bits,
        .other_bits = f.prices->other_bits,
        .enter_bits = enter_bits(&f),
        .kept = span->lanes->kept,
    };
}
