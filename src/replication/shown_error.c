// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How wrong a client is shown each slot, for the scheduler. Once per send, and for a question. One
// gather per slot, and some forty multiplications, in vectors. No function of the C library but the
// square root, which is exact: the same bits everywhere.
//
// What is known of entities lies here and there: it is first laid side by side, ERROR_SLOTS slots at a
// time, and then worked out by loops that compilers turn into vectors:
//
//   estimates, entities   -> shown_motions | x x x | y y y | ...   -> ph_error_arrays

#include "replication/shown_estimate.h"

#include "base/bitset.h"
#include "base/math.h"
#include "base/compiler.h"
#include "replication/diff.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NEAREST_MM 1000.0f
// That a packet is lost whose ack is overdue: as many are lost as have a lost ack.
#define OVERDUE_LOSS 0.5f
// Half a round trip: before the first was measured, and at most.
#define FIRST_HALF_RTT_S 0.05f
#define LONGEST_HALF_RTT_S 0.5f

// What parts of a record take, at about; a position of the pinhole profile grows with its residual.
typedef struct bit_prices {
    float record_bits;
    float position_bits;
    float bits_per_doubling; // of the error, in steps
    float heading_bits;
    float other_bits;
    float enter_bits; // before the first was sent
    float rotation_bits;
} bit_prices;

static const bit_prices CLASSIC_PRICES = {13.0f, 48.0f, 0.0f, 9.0f, 12.0f, 130.0f, 33.0f};

static const bit_prices PINHOLE_PRICES = {3.0f, 3.0f, 2.0f, 4.0f, 6.0f, 80.0f, 10.0f};

ph_error_arrays ph_error_arrays_make(float* memory, int count)
{
    const size_t length = (size_t)count;
    ph_error_arrays error_arrays = {.range_mm = memory};
    error_arrays.error_mm = error_arrays.range_mm + length;
    error_arrays.growth_mm_s = error_arrays.error_mm + length;
    error_arrays.turn_rad = error_arrays.growth_mm_s + length;
    error_arrays.age_s = error_arrays.turn_rad + length;
    error_arrays.missing = error_arrays.age_s + length;
    error_arrays.position_bits = error_arrays.missing + length;
    error_arrays.extrapolated_mm = error_arrays.position_bits + length;
    error_arrays.rotation_mm = error_arrays.extrapolated_mm + length;
    error_arrays.rotation_growth_mm_s = error_arrays.rotation_mm + length;
    error_arrays.rotation_rad = error_arrays.rotation_growth_mm_s + length;
    error_arrays.spun_mm = error_arrays.rotation_rad + length;
    return error_arrays;
}

// What is the same for all slots.
typedef struct error_fill {
    const ph_shown_estimates* estimates;
    const ph_send_context* context;
    const ph_replicas* replicas;
    const ph_error_arrays* error_arrays; // the first is of slot `first`
    int first;
    const uint64_t* dirty; // at the same places
    const bit_prices* prices;
    int32_t eye_mm[3];
    float tick_s;
    float half_rtt_s; // half a round trip
    float loss;
    float ack_wait_s;
} error_fill;

enum { ERROR_SLOTS = 32 };

// Motions that a client extrapolates, and the truth. Of empty slots: zeros, at the eye.
typedef struct shown_motions {
    int32_t true_mm[3][ERROR_SLOTS];
    int32_t sample_mm[3][ERROR_SLOTS];
    float true_mm_s[3][ERROR_SLOTS];
    float velocity_mm_s[3][ERROR_SLOTS];
    float bend_mm_s[3][ERROR_SLOTS];
    float ticks[ERROR_SLOTS];   // since the sample
    float limit_s[ERROR_SLOTS]; // how long it is extrapolated
    float step_mm[ERROR_SLOTS]; // of its coding
} shown_motions;

// What comes of them.
typedef struct error_results {
    float* error_mm;
    float* growth_mm_s;
    float* extrapolated_mm; // beyond its sample
} error_results;

// Slots of a section of which something is in flight.
typedef struct open_slots {
    int count;
    uint16_t places[ERROR_SLOTS];
} open_slots;

// Slots of a class mostly lie beside each other.
typedef struct error_class {
    int class_index;          // -1: of none yet
    uint64_t heading;         // its bit, or 0
    const uint32_t* headings; // by row; one word each
    int heading_shift;        // brings a level into the uppermost bits
    float step_mm;
    const ph_motion_model* motion_model;
} error_class;

// Exponent, and the fraction taken straight: wrong by a tenth at most.
static inline float log2_about(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)(bits - INT32_C(0x3F800000)) * (1.0f / (1 << 23));
}

// ---- side by side

PH_OUT_OF_LINE static error_class error_class_of(const error_fill* f, int class_index)
{
    const ph_layout* layout = &f->context->store->class_info.layouts.layouts[class_index];
    error_class made = {
        .class_index = class_index,
        .heading = layout->heading,
        .step_mm = (float)(UINT32_C(1) << layout->coordinate.shift),
        .motion_model = &f->estimates->motion_models[class_index],
    };
    if (layout->heading != 0) {
        const ph_table* table = &f->context->store->tables[class_index];
        const int property = layout->heading_property;
        PH_ASSERT(table->described->properties[property].words == 1);
        made.headings = ph_table_value(table, property, 0);
        made.heading_shift = 32 - table->described->properties[property].angle.width;
    }
    return made;
}

static inline void lay_motion(const ph_store* store, ph_entity_index entity,
                              const ph_shown_estimate* shown, shown_motions* all, int i)
{
    const ph_whereabouts* where = &store->entities.whereabouts[entity];
    for (int k = 0; k < 3; ++k) {
        all->true_mm[k][i] = where->position_mm[k];
        all->sample_mm[k][i] = shown->position_mm[k];
        all->true_mm_s[k][i] = where->velocity_mm_s[k];
        all->velocity_mm_s[k][i] = shown->velocity_mm_s[k];
        all->bend_mm_s[k][i] = shown->bend_mm_s[k];
    }
    all->ticks[i] = (float)(store->tick - shown->tick);
}

// What is not shown yet is wrong nowhere.
static void lay_newcomer(const error_fill* f, int slot, shown_motions* all, int i)
{
    const ph_store* store = f->context->store;
    const ph_shown_estimate at = {.tick = ph_replicas_at(f->replicas, slot)->since_tick};
    lay_motion(store, f->context->entities[slot], &at, all, i);
    for (int k = 0; k < 3; ++k) {
        all->sample_mm[k][i] = all->true_mm[k][i];
        all->true_mm_s[k][i] = 0.0f;
    }
    all->limit_s[i] = 0.0f;
    all->step_mm[i] = 1.0f;
}

static void lay_empty(const error_fill* f, shown_motions* all)
{
    memset(all, 0, sizeof *all);
    for (int i = 0; i < ERROR_SLOTS; ++i) {
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

PH_WIDE static void measure_ranges(const error_fill* f, const shown_motions* restrict all,
                                   int count, float* restrict range_mm)
{
    const int32_t eye_mm[3] = {f->eye_mm[0], f->eye_mm[1], f->eye_mm[2]};
    for (int i = 0; i < count; ++i) {
        const float away_mm =
            sqrtf(sum_of_squares((float)ph_difference_mm(all->true_mm[0][i], eye_mm[0]),
                                 (float)ph_difference_mm(all->true_mm[1][i], eye_mm[1]),
                                 (float)ph_difference_mm(all->true_mm[2][i], eye_mm[2])));
        range_mm[i] = ph_float_max(away_mm, NEAREST_MM);
    }
}

// Along one axis.
typedef struct axis_error {
    float off_mm;
    float apart_mm_s;
    float extrapolated_mm;
} axis_error;

// How far it is extrapolated.
typedef struct error_ride {
    float reach_s;
    float bend; // share of what the change of velocity adds
    bool goes;  // and does not stand yet
    float half_rtt_s;
} error_ride;

static inline axis_error error_along(const shown_motions* all, int i, int axis,
                                     const error_ride* ride)
{
    const float shown_mm_s = all->velocity_mm_s[axis][i] + ride->bend * all->bend_mm_s[axis][i];
    const float true_mm_s = all->true_mm_s[axis][i];
    const float extrapolated_mm = shown_mm_s * ride->reach_s;
    return (axis_error){
        .off_mm = (float)ph_difference_mm(all->true_mm[axis][i], all->sample_mm[axis][i]) +
                  (true_mm_s * ride->half_rtt_s - extrapolated_mm),
        .apart_mm_s = true_mm_s - ph_float_if(ride->goes, shown_mm_s),
        .extrapolated_mm = extrapolated_mm,
    };
}

PH_WIDE static void measure_errors(const error_fill* f, const shown_motions* restrict all,
                                   int count, const error_results* fit)
{
    float* restrict error_mm = fit->error_mm;
    float* restrict growth_mm_s = fit->growth_mm_s;
    float* restrict extrapolated_mm = fit->extrapolated_mm;
    const float tick_s = f->tick_s;
    const float half_rtt_s = f->half_rtt_s;
    for (int i = 0; i < count; ++i) {
        const float age_s = all->ticks[i] * tick_s + half_rtt_s;
        const float reach_s = ph_extrapolated_s(age_s, all->limit_s[i]);
        const error_ride ride = {
            .reach_s = reach_s,
            .bend = ph_fade(reach_s, PH_BEND_FULL_AGE_S, PH_BEND_LAST_AGE_S),
            .goes = age_s < all->limit_s[i],
            .half_rtt_s = half_rtt_s,
        };
        const axis_error x = error_along(all, i, 0, &ride);
        const axis_error y = error_along(all, i, 1, &ride);
        const axis_error z = error_along(all, i, 2, &ride);
        error_mm[i] = sqrtf(sum_of_squares(x.off_mm, y.off_mm, z.off_mm));
        growth_mm_s[i] = sqrtf(sum_of_squares(x.apart_mm_s, y.apart_mm_s, z.apart_mm_s));
        extrapolated_mm[i] =
            sqrtf(sum_of_squares(x.extrapolated_mm, y.extrapolated_mm, z.extrapolated_mm));
    }
}

// What is in flight may get lost: by that chance, the error without it counts.
static void weigh_losses(const error_fill* f, int first, const shown_motions* sent,
                         const open_slots* all, float* error_mm)
{
    shown_motions known; // only so many of them
    float chances[ERROR_SLOTS];
    int places[ERROR_SLOTS];
    int count = 0;
    for (int i = 0; i < all->count; ++i) {
        const int place = all->places[i];
        const int slot = first + place;
        const ph_shown_estimate* without = &f->estimates->known[slot];
        const float chance =
            sent->ticks[place] * f->tick_s > f->ack_wait_s ? OVERDUE_LOSS : f->loss;
        if (chance > 0.0f && without->is_there && without->tick != f->estimates->sent[slot].tick) {
            const ph_motion_model* motion_model =
                &f->estimates->motion_models[f->replicas->class_index[slot]];
            places[count] = place;
            chances[count] = chance;
            lay_motion(f->context->store, f->context->entities[slot], without, &known, count);
            known.limit_s[count++] = ph_motion_model_limit_s(motion_model, without->interval_s);
        }
    }
    float worse_mm[3][ERROR_SLOTS];
    measure_errors(f, &known, count, &(error_results){worse_mm[0], worse_mm[1], worse_mm[2]});
    for (int i = 0; i < count; ++i) {
        float* at_mm = &error_mm[places[i]];
        *at_mm += chances[i] * ph_float_max(worse_mm[0][i] - *at_mm, 0.0f);
    }
}

PH_WIDE static void price_positions(const error_fill* f, const shown_motions* restrict all,
                                    int count, const float* restrict error_mm,
                                    float* restrict position_bits)
{
    const bit_prices prices = *f->prices;
    for (int i = 0; i < count; ++i) {
        const float steps = error_mm[i] / all->step_mm[i];
        position_bits[i] =
            prices.position_bits + prices.bits_per_doubling * log2_about(1.0f + steps);
    }
}

// ---- heading

// With levels in the uppermost bits the shorter way round is a matter of sign.
static inline float turn_of(const error_fill* f, const error_class* as, int slot)
{
    const ph_entity_index entity = f->context->entities[slot];
    const uint32_t row = f->context->store->entities.whereabouts[entity].row;
    const uint32_t turn = (as->headings[row] - f->estimates->heading[slot]) << as->heading_shift;
    return fabsf((float)(int32_t)turn) * ((float)PH_TURN_RADIANS * 0.5f) / 2147483648.0f;
}

// ---- orientation

// Of all slots, where any class has one.
PH_OUT_OF_LINE static void fill_rotations(const error_fill* f, const ph_error_span* span)
{
    const ph_error_arrays* error_arrays = f->error_arrays;
    const ph_layout* layouts = f->context->store->class_info.layouts.layouts;
    for (int i = 0; i < span->count; ++i) {
        error_arrays->rotation_mm[i] = 0.0f;
        error_arrays->rotation_growth_mm_s[i] = 0.0f;
        error_arrays->rotation_rad[i] = 0.0f;
        error_arrays->spun_mm[i] = 0.0f;
    }
    for (int i = 0; i < span->shown.count; ++i) {
        const int slot = span->shown.slots[i];
        if (layouts[f->replicas->class_index[slot]].orientation == 0 ||
            f->replicas->state[slot] == PH_REPLICA_ABSENT) {
            continue;
        }
        ph_turn_error error;
        ph_turn_error_of(f->context, slot, f->half_rtt_s, &error);
        error_arrays->rotation_mm[slot - f->first] = error.error_mm;
        error_arrays->rotation_growth_mm_s[slot - f->first] = error.growth_mm_s;
        error_arrays->rotation_rad[slot - f->first] = error.radians;
        error_arrays->spun_mm[slot - f->first] = error.spun_mm;
    }
}

// ---- all of it

// Slots beside each other, at most ERROR_SLOTS.
typedef struct error_section {
    int first;
    int count;
    const uint16_t* shown; // of these, all that show an entity
    int shown_count;
} error_section;

// Few of those in view. @return Whether it is missing, as far as the sender can tell.
PH_OUT_OF_LINE static bool lay_unsure(const error_fill* f, const error_section* of, int slot,
                                      shown_motions* sent)
{
    const bool is_newcomer = f->replicas->state[slot] == PH_REPLICA_ABSENT;
    if (!is_newcomer && !ph_sender_is_ack_late(f->context->sender, slot)) {
        return false;
    }
    lay_newcomer(f, slot, sent, slot - of->first);
    f->error_arrays->missing[slot - f->first] = is_newcomer ? 1.0f : OVERDUE_LOSS;
    return true;
}

static void lay_section(const error_fill* f, const error_section* of, shown_motions* restrict sent,
                        open_slots* restrict open)
{
    const ph_store* store = f->context->store;
    const ph_entity_index* entities = f->context->entities;
    const ph_shown_estimate* all_sent = f->estimates->sent;
    const uint8_t* marks = f->estimates->marks;
    const uint8_t* state = f->replicas->state;
    const uint8_t* class_index = f->replicas->class_index;
    const uint64_t* dirty = f->dirty + (of->first - f->first);
    float* turn_rad = f->error_arrays->turn_rad + (of->first - f->first);
    error_class as = {.class_index = -1};
    int open_count = 0;
    for (int i = 0; i < of->shown_count; ++i) {
        const int slot = of->shown[i];
        const int place = slot - of->first;
        if (state[slot] != PH_REPLICA_ENTERED && lay_unsure(f, of, slot, sent)) {
            continue;
        }
        if (class_index[slot] != as.class_index) {
            as = error_class_of(f, class_index[slot]);
        }
        const ph_shown_estimate* shown = &all_sent[slot];
        lay_motion(store, entities[slot], shown, sent, place);
        sent->limit_s[place] = ph_motion_model_limit_s(as.motion_model, shown->interval_s);
        sent->step_mm[place] = ph_finer_step(as.step_mm, shown->finer);
        open->places[open_count] = (uint16_t)place;
        open_count += (marks[slot] & PH_ESTIMATE_APART) != 0;
        if ((dirty[place] & as.heading) != 0) {
            turn_rad[place] = turn_of(f, &as, slot);
        }
    }
    open->count = open_count;
}

static void fill_section(const error_fill* f, const error_section* of)
{
    const int offset = of->first - f->first;
    const error_results fit = {
        .error_mm = f->error_arrays->error_mm + offset,
        .growth_mm_s = f->error_arrays->growth_mm_s + offset,
        .extrapolated_mm = f->error_arrays->extrapolated_mm + offset,
    };
    shown_motions sent;
    open_slots open;
    if (of->shown_count < of->count) {
        lay_empty(f, &sent);
    }
    memset(f->error_arrays->turn_rad + offset, 0, (size_t)of->count * sizeof(float));
    memset(f->error_arrays->missing + offset, 0, (size_t)of->count * sizeof(float));
    lay_section(f, of, &sent, &open);
    measure_ranges(f, &sent, of->count, f->error_arrays->range_mm + offset);
    measure_errors(f, &sent, of->count, &fit);
    if (open.count > 0) {
        weigh_losses(f, of->first, &sent, &open, fit.error_mm);
    }
    price_positions(f, &sent, of->count, fit.error_mm, f->error_arrays->position_bits + offset);
    for (int i = 0; i < of->count; ++i) {
        f->error_arrays->age_s[offset + i] = sent.ticks[i] * f->tick_s;
    }
}

static error_fill make_error_fill(const ph_error_span* span)
{
    const ph_send_context* context = span->context;
    const ph_sender* sender = context->sender;
    const float half_rtt_s = (float)sender->stats.rtt_ms * (0.5f * 1e-3f);
    return (error_fill){
        .estimates = sender->replicas.estimates,
        .context = context,
        .replicas = &sender->replicas,
        .error_arrays = span->error_arrays,
        .first = span->first,
        .dirty = span->dirty,
        .prices = sender->is_pinhole ? &PINHOLE_PRICES : &CLASSIC_PRICES,
        .eye_mm = {context->eye_x_mm, context->eye_y_mm, context->eye_z_mm},
        .tick_s = context->store->tick_s,
        .half_rtt_s =
            half_rtt_s == 0.0f ? FIRST_HALF_RTT_S : ph_float_min(half_rtt_s, LONGEST_HALF_RTT_S),
        .loss = (float)sender->stats.loss,
        .ack_wait_s = sender->ack_wait_ms != 0 ? (float)sender->ack_wait_ms * 1e-3f : FLT_MAX,
    };
}

ph_ranking_errors ph_shown_errors_fill(const ph_error_span* span)
{
    const error_fill f = make_error_fill(span);
    const uint16_t* shown = span->shown.slots;
    const uint16_t* shown_end = shown + span->shown.count;
    const int end = span->first + span->count;
    for (int first = span->first; first < end; first += ERROR_SLOTS) {
        const int count = end - first < ERROR_SLOTS ? end - first : ERROR_SLOTS;
        error_section of = {.first = first, .count = count, .shown = shown};
        while (shown < shown_end && *shown < first + count) {
            ++shown;
        }
        of.shown_count = (int)(shown - of.shown);
        fill_section(&f, &of);
    }
    const bool has_rotations = f.estimates->turns.sent != NULL;
    if (has_rotations) {
        fill_rotations(&f, span);
    }
    // What enters have cost so far.
    const ph_viewer_stats* stats = &span->context->sender->stats;
    const double enters_bits = (double)stats->ledger.bits256[PH_REASON_ENTER] / 256.0;
    return (ph_ranking_errors){
        .range_mm = span->error_arrays->range_mm,
        .error_mm = span->error_arrays->error_mm,
        .growth_mm_s = span->error_arrays->growth_mm_s,
        .turn_rad = span->error_arrays->turn_rad,
        .age_s = span->error_arrays->age_s,
        .missing = span->error_arrays->missing,
        .position_bits = span->error_arrays->position_bits,
        .rotation_mm = has_rotations ? span->error_arrays->rotation_mm : NULL,
        .rotation_growth_mm_s = has_rotations ? span->error_arrays->rotation_growth_mm_s : NULL,
        .rotation_bits = f.prices->rotation_bits,
        .record_bits = f.prices->record_bits,
        .heading_bits = f.prices->heading_bits,
        .other_bits = f.prices->other_bits,
        .enter_bits = stats->sent_enters == 0 ? f.prices->enter_bits
                                              : (float)(enters_bits / (double)stats->sent_enters),
    };
}
