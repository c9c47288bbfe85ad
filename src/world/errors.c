// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One gather per slot, and some forty multiplications, in vectors. No function of the C library but the
// square root, which is exact: the same bits everywhere.

#include "world/errors.h"

#include "motion/aim.h"
#include "wire/baseline.h"

#include <float.h>
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
    float* change;
    const tariff* prices;
    int32_t eye_mm[3];
    float tick_s;
    float way_s; // half a round trip
    float loss;
    float doubt_s;
} filling;

// Slots are taken in batches: what is known of each is gathered, and then worked out side by side.
enum { BATCH = 64 };

// Motions that a client goes on with, and the truth.
typedef struct motions {
    int count;
    float off_mm[3][BATCH]; // from the sample to the truth
    float velocity_mm_s[3][BATCH];
    float bend_mm_s[3][BATCH];
    float way_mm[3][BATCH]; // of the truth, in a tick
    float ticks[BATCH];     // since the sample
    float limit_s[BATCH];   // how long it is carried on
} motions;

// What comes of it.
typedef struct misfits {
    float error_mm[BATCH];
    float growth_mm_s[BATCH];
    float carried_mm[BATCH]; // beyond its sample
} misfits;

// Exponent, and the fraction taken straight: wrong by a tenth at most.
static inline float log2_about(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)(bits - INT32_C(0x3F800000)) * (1.0f / (1 << 23));
}

// ---- position

// Whose way is unknown, because it was shown to more since the last tick, is taken to stand.
static const int32_t* way_of(const ph_entities* entities, ph_entity_index entity)
{
    static const int32_t none[3] = {0};
    const int32_t* way_mm = &entities->way_mm[3 * (size_t)entity];
    return way_mm[0] != PH_NO_WAY ? way_mm : none;
}

static inline void add_motion(const filling* f, motions* all, int slot, const ph_expected* shown)
{
    const ph_world* world = f->outlook->world;
    const ph_entities* entities = &world->entities;
    const ph_entity_index entity = f->outlook->entities[slot];
    const int32_t true_mm[3] = {entities->x_mm[entity], entities->y_mm[entity],
                                entities->z_mm[entity]};
    const int32_t* way_mm = way_of(entities, entity);
    const ph_manner* manner = &f->expectation->manners[f->knowledge->class_index[slot]];
    const int i = all->count++;
    float off_mm[3];
    ph_expected_difference(shown->position_mm, true_mm, off_mm);
    for (int k = 0; k < 3; ++k) {
        all->off_mm[k][i] = off_mm[k];
        all->velocity_mm_s[k][i] = shown->velocity_mm_s[k];
        all->bend_mm_s[k][i] = shown->bend_mm_s[k];
        all->way_mm[k][i] = (float)way_mm[k];
    }
    all->ticks[i] = (float)(world->tick - shown->tick);
    all->limit_s[i] = ph_manner_limit_s(manner, shown->interval_s);
}

// How far each is carried on.
typedef struct carriage {
    float reach_s[BATCH];
    float bend[BATCH]; // share of what the change of velocity adds
    float goes[BATCH]; // 1 while it moves, then 0
} carriage;

static void carry(const filling* f, const motions* restrict all, carriage* restrict ride)
{
    const float tick_s = f->tick_s;
    const float way_s = f->way_s;
    for (int i = 0; i < all->count; ++i) {
        const float age_s = all->ticks[i] * tick_s + way_s;
        const float reach_s = ph_carry_reach_s(age_s, all->limit_s[i]);
        ride->reach_s[i] = reach_s;
        ride->bend[i] = ph_carry_fade(reach_s, PH_BEND_FULL_AGE_S, PH_BEND_LAST_AGE_S);
        ride->goes[i] = age_s < all->limit_s[i] ? 1.0f : 0.0f;
    }
}

// Adds the squares along one axis.
static void add_axis(const filling* f, const motions* restrict all, const carriage* restrict ride,
                     int axis, misfits* restrict squares)
{
    const float tick_s = f->tick_s;
    const float way_s = f->way_s;
    for (int i = 0; i < all->count; ++i) {
        const float shown_mm_s =
            all->velocity_mm_s[axis][i] + ride->bend[i] * all->bend_mm_s[axis][i];
        const float true_mm_s = all->way_mm[axis][i] / tick_s;
        const float carried_mm = shown_mm_s * ride->reach_s[i];
        const float off_mm = all->off_mm[axis][i] + (true_mm_s * way_s - carried_mm);
        const float apart_mm_s = true_mm_s - ride->goes[i] * shown_mm_s;
        squares->error_mm[i] += off_mm * off_mm;
        squares->growth_mm_s[i] += apart_mm_s * apart_mm_s;
        squares->carried_mm[i] += carried_mm * carried_mm;
    }
}

// A C library may have to say that one was of less than nothing: so the roots are not taken in vectors.
static void take_roots(float* squares, int count)
{
    for (int i = 0; i < count; ++i) {
        squares[i] = sqrtf(squares[i]);
    }
}

static void work_out(const filling* f, const motions* all, misfits* fit)
{
    if (all->count == 0) {
        return;
    }
    carriage ride;
    carry(f, all, &ride);
    memset(fit, 0, sizeof *fit);
    for (int axis = 0; axis < 3; ++axis) {
        add_axis(f, all, &ride, axis, fit);
    }
    take_roots(fit->error_mm, all->count);
    take_roots(fit->growth_mm_s, all->count);
    take_roots(fit->carried_mm, all->count);
}

// What was sent may be lost: by that chance, the error without it counts.
static void doubt(const filling* f, const int* slots, const motions* sent, misfits* fit)
{
    motions known; // only so many of them
    int places[BATCH];
    float chances[BATCH];
    known.count = 0;
    for (int i = 0; i < sent->count; ++i) {
        const float age_s = sent->ticks[i] * f->tick_s;
        const float chance = age_s > f->doubt_s ? DOUBT : f->loss;
        const ph_expected* without = ph_expectation_without(f->expectation, slots[i]);
        if (chance > 0.0f && without != NULL) {
            places[known.count] = i;
            chances[known.count] = chance;
            add_motion(f, &known, slots[i], without);
        }
    }
    misfits worse;
    work_out(f, &known, &worse);
    for (int i = 0; i < known.count; ++i) {
        float* error_mm = &fit->error_mm[places[i]];
        *error_mm += chances[i] * ph_greater(worse.error_mm[i] - *error_mm, 0.0f);
    }
}

static void fill_positions(const filling* f, const int* slots, const motions* sent)
{
    misfits fit;
    work_out(f, sent, &fit);
    doubt(f, slots, sent, &fit);
    const ph_layout* layouts = f->outlook->world->forms.layouts.layouts;
    for (int i = 0; i < sent->count; ++i) {
        const int at = slots[i] - f->first;
        const int shift = layouts[f->knowledge->class_index[slots[i]]].coordinate.shift;
        const float steps = fit.error_mm[i] / (float)(UINT32_C(1) << shift);
        f->lanes->error_mm[at] = fit.error_mm[i];
        f->lanes->carried_mm[at] = fit.carried_mm[i];
        f->lanes->growth_mm_s[at] = fit.growth_mm_s[i];
        f->lanes->age_s[at] = sent->ticks[i] * f->tick_s;
        f->lanes->position_bits[at] =
            f->prices->position_bits + f->prices->bits_per_doubling * log2_about(1.0f + steps);
    }
}

// ---- heading and others

static float turn_of(const filling* f, int slot, int class_index)
{
    const ph_world* world = f->outlook->world;
    const ph_table* table = &world->tables[class_index];
    const int property = f->expectation->headings[class_index];
    const ph_angle* angle = &table->described->properties[property].angle;
    const uint32_t row = world->entities.row[f->outlook->entities[slot]];
    const uint32_t level = *ph_table_value(table, property, row);
    const int64_t levels = ph_angle_difference(angle, f->expectation->heading[slot], level);
    const float half_turn = (float)(UINT32_C(1) << (angle->width - 1));
    return fabsf((float)levels) * ((float)PH_TURN_RADIANS * 0.5f) / half_turn;
}

static void fill_others(const filling* f, int slot)
{
    const int at = slot - f->first;
    const int class_index = f->knowledge->class_index[slot];
    const ph_layout* layout = &f->outlook->world->forms.layouts.layouts[class_index];
    const uint64_t touched = f->touched[at];
    if ((touched & layout->heading) != 0) {
        f->lanes->turn_rad[at] = turn_of(f, slot, class_index);
    }
    if (f->change != NULL && (touched & layout->others) == 0) {
        f->change[at] = 0.0f;
    }
    if (f->knowledge->told[slot] == PH_TOLD_ENTER &&
        ph_sender_is_doubtful(f->outlook->sender, slot)) {
        f->lanes->missing[at] = DOUBT;
    }
}

// ---- all of it

static void fill_with(float* lane, int count, float value)
{
    for (int i = 0; i < count; ++i) {
        lane[i] = value;
    }
}

static void fill_nobody(const filling* f, int count)
{
    fill_with(f->lanes->range_mm, count, NEAREST_MM);
    fill_with(f->lanes->error_mm, count, 0.0f);
    fill_with(f->lanes->carried_mm, count, 0.0f);
    fill_with(f->lanes->growth_mm_s, count, 0.0f);
    fill_with(f->lanes->turn_rad, count, 0.0f);
    fill_with(f->lanes->age_s, count, 0.0f);
    fill_with(f->lanes->missing, count, 0.0f);
    fill_with(f->lanes->position_bits, count, f->prices->position_bits);
}

static void fill_range(const filling* f, int slot)
{
    const ph_entities* entities = &f->outlook->world->entities;
    const ph_entity_index entity = f->outlook->entities[slot];
    const int32_t true_mm[3] = {entities->x_mm[entity], entities->y_mm[entity],
                                entities->z_mm[entity]};
    float off_mm[3];
    ph_expected_difference(f->eye_mm, true_mm, off_mm);
    f->lanes->range_mm[slot - f->first] = ph_greater(ph_length(off_mm), NEAREST_MM);
}

static void fill_newcomer(const filling* f, int slot)
{
    const uint32_t since_tick = ph_knowledge_at(f->knowledge, slot)->since_tick;
    const int at = slot - f->first;
    f->lanes->missing[at] = 1.0f;
    f->lanes->age_s[at] = (float)(f->outlook->world->tick - since_tick) * f->tick_s;
}

// At most BATCH of those who are shown.
static void fill_batch(const filling* f, const uint16_t* shown, int count)
{
    motions sent;     // only so many of them
    int slots[BATCH]; // of these motions
    sent.count = 0;
    for (int i = 0; i < count; ++i) {
        const int slot = shown[i];
        fill_range(f, slot);
        if (f->knowledge->told[slot] == PH_TOLD_NOTHING) {
            fill_newcomer(f, slot);
            continue;
        }
        fill_others(f, slot);
        slots[sent.count] = slot;
        add_motion(f, &sent, slot, &f->expectation->sent[slot]);
    }
    fill_positions(f, slots, &sent);
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
        .change = span->change,
        .prices = ph_sender_is_coded(sender) ? &CODED : &CLASSIC,
        .eye_mm = {outlook->eye_x_mm, outlook->eye_y_mm, span->eye_z_mm},
        .tick_s = ph_expected_tick_s(outlook->world),
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
    fill_nobody(&f, span->count);
    for (int i = 0; i < span->shown.count; i += BATCH) {
        const int left = span->shown.count - i;
        fill_batch(&f, span->shown.slots + i, left < BATCH ? left : BATCH);
    }
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
    };
}
