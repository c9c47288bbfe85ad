// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One gather per slot, and some forty multiplications. No function of the C library but the square
// root, which is exact: the same bits everywhere.

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
    const ph_error_lanes* lanes;
    const uint64_t* touched; // at the same places
    const tariff* prices;
    int32_t eye_mm[3];
    uint32_t now_ms;
    float tick_s;
    float way_s; // half a round trip
    float loss;
    float doubt_s;
} filling;

// One slot that shows somebody.
typedef struct place {
    int slot;
    int at; // in the lanes
    int class_index;
    ph_entity_index entity;
    int32_t true_mm[3];
    float true_mm_s[3];
} place;

// Exponent, and the fraction taken straight: wrong by a tenth at most.
static float log2_about(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)(bits - INT32_C(0x3F800000)) * (1.0f / (1 << 23));
}

// ---- position

typedef struct misfit {
    float error_mm;
    float growth_mm_s;
    float carried_mm; // beyond its sample
} misfit;

static misfit misfit_of(const filling* f, const place* p, const ph_expected* shown)
{
    const ph_world* world = f->outlook->world;
    const float age_s = (float)(world->tick - shown->tick) * f->tick_s + f->way_s;
    const float limit_s =
        ph_manner_limit_s(&f->expectation->manners[p->class_index], shown->interval_s);
    const float reach_s = ph_carry_reach_s(age_s, limit_s);
    const float bend = ph_carry_fade(reach_s, PH_BEND_FULL_AGE_S, PH_BEND_LAST_AGE_S);
    float off_mm[3];
    float apart_mm_s[3];
    float carried_mm[3];
    ph_expected_difference(shown->position_mm, p->true_mm, off_mm);
    for (int k = 0; k < 3; ++k) {
        const float shown_mm_s = shown->velocity_mm_s[k] + bend * shown->bend_mm_s[k];
        carried_mm[k] = shown_mm_s * reach_s;
        off_mm[k] += p->true_mm_s[k] * f->way_s - carried_mm[k];
        apart_mm_s[k] = p->true_mm_s[k] - (age_s < limit_s ? shown_mm_s : 0.0f);
    }
    return (misfit){
        .error_mm = ph_length(off_mm),
        .growth_mm_s = ph_length(apart_mm_s),
        .carried_mm = ph_length(carried_mm),
    };
}

static void fill_position(const filling* f, const place* p)
{
    const ph_expected* sent = &f->expectation->sent[p->slot];
    const ph_expected* known = &f->expectation->known[p->slot];
    misfit fit = misfit_of(f, p, sent);
    const float age_s = (float)(f->outlook->world->tick - sent->tick) * f->tick_s;
    const float chance = age_s > f->doubt_s ? DOUBT : f->loss;
    if (chance > 0.0f && known->is_there && known->tick != sent->tick) {
        const misfit without = misfit_of(f, p, known);
        fit.error_mm += chance * ph_greater(without.error_mm - fit.error_mm, 0.0f);
    }
    const ph_property* position =
        &f->outlook->world->tables[p->class_index]
             .described->properties[f->outlook->world->tables[p->class_index].described->position];
    const float steps = fit.error_mm / (float)(UINT32_C(1) << position->coordinate.shift);
    f->lanes->error_mm[p->at] = fit.error_mm;
    f->lanes->carried_mm[p->at] = fit.carried_mm;
    f->lanes->growth_mm_s[p->at] = fit.growth_mm_s;
    f->lanes->age_s[p->at] = age_s;
    f->lanes->position_bits[p->at] =
        f->prices->position_bits + f->prices->bits_per_doubling * log2_about(1.0f + steps);
}

// ---- heading and others

static void fill_turn(const filling* f, const place* p)
{
    const ph_table* table = &f->outlook->world->tables[p->class_index];
    const int property = f->expectation->headings[p->class_index];
    f->lanes->turn_rad[p->at] = 0.0f;
    if (property == PH_HEADING_NONE || (f->touched[p->at] >> property & 1) == 0) {
        return;
    }
    const ph_angle* angle = &table->described->properties[property].angle;
    const uint32_t level =
        *ph_table_value(table, property, f->outlook->world->entities.row[p->entity]);
    const int64_t levels = ph_angle_difference(angle, f->expectation->heading[p->slot], level);
    const float half_turn = (float)(UINT32_C(1) << (angle->width - 1));
    f->lanes->turn_rad[p->at] = fabsf((float)levels) * ((float)PH_TURN_RADIANS * 0.5f) / half_turn;
}

static bool has_others(const filling* f, const place* p)
{
    const uint64_t position = f->outlook->world->forms.layouts.layouts[p->class_index].position;
    const uint64_t heading = ph_expectation_heading(f->expectation, p->class_index);
    return (f->touched[p->at] & ~(position | heading)) != 0;
}

// ---- all of it

static void fill_nothing(const filling* f, int at)
{
    f->lanes->range_mm[at] = NEAREST_MM;
    f->lanes->error_mm[at] = 0.0f;
    f->lanes->carried_mm[at] = 0.0f;
    f->lanes->growth_mm_s[at] = 0.0f;
    f->lanes->turn_rad[at] = 0.0f;
    f->lanes->age_s[at] = 0.0f;
    f->lanes->missing[at] = 0.0f;
    f->lanes->position_bits[at] = f->prices->position_bits;
}

static void fill_newcomer(const filling* f, const place* p)
{
    const uint32_t since_ms = f->knowledge->waiting_ms[p->slot];
    f->lanes->missing[p->at] = 1.0f;
    f->lanes->age_s[p->at] = since_ms != 0 ? (float)(f->now_ms - since_ms) * 1e-3f : 0.0f;
}

static void fill_slot(const filling* f, const place* p, float* change)
{
    float off_mm[3];
    ph_expected_difference(f->eye_mm, p->true_mm, off_mm);
    f->lanes->range_mm[p->at] = ph_greater(ph_length(off_mm), NEAREST_MM);
    if (f->knowledge->told[p->slot] == PH_TOLD_NOTHING) {
        fill_newcomer(f, p);
        return;
    }
    fill_position(f, p);
    fill_turn(f, p);
    if (f->knowledge->told[p->slot] == PH_TOLD_ENTER &&
        ph_sender_is_doubtful(f->outlook->sender, p->slot)) {
        f->lanes->missing[p->at] = DOUBT;
    }
    *change = has_others(f, p) ? *change : 0.0f;
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
        .touched = span->touched,
        .prices = ph_sender_is_coded(sender) ? &CODED : &CLASSIC,
        .eye_mm = {outlook->eye_x_mm, outlook->eye_y_mm, span->eye_z_mm},
        .now_ms = (uint32_t)(sender->now_us / 1000),
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

// Whose way is unknown, because it was shown to more since the last tick, is taken to stand.
static const int32_t* way_of(const ph_entities* entities, ph_entity_index entity)
{
    static const int32_t none[3] = {0};
    const int32_t* way_mm = &entities->way_mm[3 * (size_t)entity];
    return way_mm[0] != PH_NO_WAY ? way_mm : none;
}

ph_ranking_errors ph_errors_fill(const ph_error_span* span)
{
    const filling f = make_filling(span);
    const ph_entities* entities = &span->outlook->world->entities;
    for (int at = 0; at < span->count; ++at) {
        const int slot = span->first + at;
        const ph_entity_index entity = span->outlook->entities[slot];
        fill_nothing(&f, at);
        if (entity == PH_ENTITY_NONE) {
            continue;
        }
        const int32_t* way_mm = way_of(entities, entity);
        const place p = {
            .slot = slot,
            .at = at,
            .class_index = f.knowledge->class_index[slot],
            .entity = entity,
            .true_mm = {entities->x_mm[entity], entities->y_mm[entity], entities->z_mm[entity]},
            .true_mm_s = {(float)way_mm[0] / f.tick_s, (float)way_mm[1] / f.tick_s,
                          (float)way_mm[2] / f.tick_s},
        };
        fill_slot(&f, &p, &span->change[at]);
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
