// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per record with an orientation, and once per send and slot whose class has one.

#include "replication/shown_turn.h"

#include "codec/rotation.h"
#include "replication/diff.h"
#include "replication/sender.h"
#include "replication/shown_estimate.h"

#include <math.h>
#include <string.h>

// How the truth turns is taken over so long at least: it is rounded, too.
#define WATCH_S 0.1f
// And how far that is from what the client extrapolates is smoothed over about so long.
#define SPIN_ERROR_S 1.0f
// What one look may add to that: so many times what the one before added, and so much, in rad/s. What snaps to another
// rotation once, by 15 rad/s for a tenth of a second, is told; its rotation is worth as much as before.
#define LOOK_TIMES 2.0f
#define LOOK_MORE 4.0f
// What is wrong by less than it will be again so soon after it is told is right. Cars at 13 kbit/s: without this 8.1
// degrees and 4.69 mrad, 0.09 s 8.9 and 4.55, 0.15 s 10.4 and 4.45; bodies that spin evenly hardly change.
#define AGAIN_S 0.09f
// What turns away by more until it is told again is not followed.
#define FOLLOWED_RADIANS 0.8f
#define LEAST_STEP_RADIANS 0.00436332f // 0.25 degrees
#define MOST_STEP_RADIANS 0.0698132f   // 4 degrees
// A step is at most this share of what is wrong.
#define STEP_SHARE 0.5f
// What is shown wrong by less than this share of one is right.
#define RIGHT_STEPS 0.5f
// Entities that enter with a crowd: it is told again anyway, and each takes 45 bits less (with no spin, either).
#define NEWCOMER_STEP_RADIANS 0.2f // 11 degrees

size_t ph_turn_estimates_bytes(const ph_layouts* layouts, int slot_count)
{
    for (int i = 0; i < layouts->count; ++i) {
        if (layouts->layouts[i].orientation != 0) {
            return (size_t)slot_count * (2 * sizeof(ph_turn_estimate) + sizeof(ph_turn_watch));
        }
    }
    return 0;
}

void ph_turn_of_words(const ph_layout* layout, const uint32_t words[2], float rotation[4])
{
    const int width = layout->orientation_bits;
    const ph_quaternion_levels levels = ph_rotation_levels_of_words(width, words);
    const ph_rotation fixed = ph_rotation_from_levels(width, levels);
    for (int k = 0; k < 4; ++k) {
        rotation[k] = (float)fixed.part[k] * (1.0f / (float)PH_ROTATION_ONE);
    }
}

// ---- what was sent

void ph_turn_estimate_add(ph_turn_estimate* estimate, const float rotation[4], uint32_t tick,
                          uint16_t jumps, float tick_s)
{
    const bool has_jumped = estimate->motion.is_there && jumps != estimate->jumps;
    const float seconds = (float)(int32_t)(tick - estimate->tick) * tick_s;
    ph_turn_motion_add(&estimate->motion, rotation, seconds, has_jumped);
    estimate->tick = tick;
    estimate->jumps = jumps;
}

void ph_turn_estimate_enter(ph_turn_estimate* estimate, const ph_layout* layout,
                            const int16_t spin[3], float seconds)
{
    const ph_quaternion_levels levels = {.largest = 3, .rest = {spin[0], spin[1], spin[2]}};
    const ph_quaternion turned = ph_quaternion_decode(layout->orientation_bits, levels);
    const float parts[4] = {(float)turned.x, (float)turned.y, (float)turned.z, (float)turned.w};
    ph_turn_motion_set_spin(&estimate->motion, parts, seconds);
}

// ---- the truth

static void present_rotation(const ph_send_context* context, const ph_layout* layout, int slot,
                             float rotation[4])
{
    const ph_store* store = context->store;
    const ph_entity_index entity = context->entities[slot];
    const int class_index = context->sender->replicas.class_index[slot];
    const uint32_t* words =
        ph_table_value(&store->tables[class_index], layout->orientation_property,
                       store->entities.whereabouts[entity].row);
    ph_turn_of_words(layout, words, rotation);
}

// @return The time since it was looked at, 0 when that is too short, or it is the first time since it came or jumped.
static float watch_slot(const ph_send_context* context, const ph_layout* layout, int slot)
{
    ph_turn_watch* watch = &context->sender->replicas.estimates->turns.watches[slot];
    const uint32_t tick = context->store->tick;
    const uint32_t since_tick = ph_replicas_at(&context->sender->replicas, slot)->since_tick;
    const uint16_t jumps = context->store->entities.whereabouts[context->entities[slot]].jumps;
    const bool is_new =
        !watch->is_there || jumps != watch->jumps || (int32_t)(watch->tick - since_tick) < 0;
    const float seconds = (float)(tick - watch->tick) * context->store->tick_s;
    if (!is_new && seconds < WATCH_S) {
        return 0.0f;
    }
    float rotation[4];
    present_rotation(context, layout, slot, rotation);
    float vector[3] = {0.0f};
    if (!is_new) {
        ph_turn_between(watch->rotation, rotation, vector);
    }
    for (int k = 0; k < 3; ++k) {
        watch->spin[k] = is_new ? 0.0f : vector[k] / seconds;
    }
    memcpy(watch->rotation, rotation, sizeof watch->rotation);
    watch->spin_error = is_new ? 0.0f : watch->spin_error;
    watch->apart = is_new ? 0.0f : watch->apart;
    watch->tick = tick;
    watch->jumps = jumps;
    watch->is_there = true;
    return is_new ? 0.0f : seconds;
}

static float spin_apart(const float a[3], const float b[3], float share)
{
    const float apart[3] = {a[0] - share * b[0], a[1] - share * b[1], a[2] - share * b[2]};
    return sqrtf(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
}

// What is not this viewer's, or no longer, counts for nothing.
static bool is_told(const ph_send_context* context, const ph_layout* layout, int slot)
{
    const uint64_t mask = ph_sender_mask(context->sender, context->store->class_count, slot);
    return (layout->orientation & mask) != 0;
}

void ph_turn_watch_all(const ph_send_context* context)
{
    const ph_replicas* replicas = &context->sender->replicas;
    const ph_layout* layouts = context->store->class_info.layouts.layouts;
    ph_turn_estimates* turns = &replicas->estimates->turns;
    float ages_s = 0.0f;
    float weights = 0.0f;
    for (int i = 0; i < context->shown.count; ++i) {
        const int slot = context->shown.slots[i];
        const ph_layout* layout = &layouts[replicas->class_index[slot]];
        if (!is_told(context, layout, slot) || !ph_send_context_is_there(context, slot)) {
            continue;
        }
        const float seconds = watch_slot(context, layout, slot);
        if (replicas->state[slot] == PH_REPLICA_ENTERED) {
            ph_turn_watch* watch = &turns->watches[slot];
            const float apart = spin_apart(watch->spin, turns->sent[slot].motion.spin,
                                           turns->sent[slot].motion.has_spin ? 1.0f : 0.0f);
            if (seconds > 0.0f) {
                watch->apart = ph_float_min(apart, LOOK_TIMES * watch->apart + LOOK_MORE);
                watch->spin_error +=
                    seconds / (seconds + SPIN_ERROR_S) * (watch->apart - watch->spin_error);
            }
            const uint32_t since = context->store->tick - replicas->estimates->sent[slot].tick;
            ages_s += apart * (float)since * context->store->tick_s;
            weights += apart;
        }
    }
    // Half of that time has passed when one looks.
    turns->between_s = weights > 0.0f ? 2.0f * ages_s / weights : 0.0f;
}

// ---- errors

static void carry_on(const float spin[3], float seconds, float rotation[4])
{
    const float vector[3] = {spin[0] * seconds, spin[1] * seconds, spin[2] * seconds};
    float turned[4];
    ph_turn_of_vector(vector, turned);
    ph_turn_multiply(turned, rotation, rotation);
}

void ph_turn_error_of(const ph_send_context* context, int slot, float half_rtt_s,
                      ph_turn_error* error)
{
    const ph_shown_estimates* estimates = context->sender->replicas.estimates;
    const ph_turn_estimate* sent = &estimates->turns.sent[slot];
    const ph_turn_watch* watch = &estimates->turns.watches[slot];
    const int class_index = context->sender->replicas.class_index[slot];
    const ph_layout* layout = &context->store->class_info.layouts.layouts[class_index];
    *error = (ph_turn_error){0};
    if (!sent->motion.is_there || !is_told(context, layout, slot)) {
        return;
    }
    const ph_motion_model* motion_model = &estimates->motion_models[class_index];
    const float age_s =
        (float)(context->store->tick - sent->tick) * context->store->tick_s + half_rtt_s;
    const float limit_s = ph_motion_model_limit_s(motion_model, 0.0f);
    float shown[4];
    float truth[4];
    ph_turn_motion_at(&sent->motion, age_s, limit_s, shown);
    present_rotation(context, layout, slot, truth);
    if (watch->is_there) {
        carry_on(watch->spin, half_rtt_s, truth);
    }
    const float surface_mm = PH_TURN_SURFACE * 1000.0f * (float)layout->described->def.radius_m;
    const float share = sent->motion.has_spin && age_s < limit_s ? 1.0f : 0.0f;
    error->radians = ph_turn_angle(shown, truth);
    // What a record removes counts as long as it lasts. What will have turned away by FOLLOWED_RADIANS from what it is
    // told, until it is told the next time, cannot be followed: its rotation is worth next to nothing.
    const float apart = spin_apart(watch->spin, sent->motion.spin, share);
    const float turned = estimates->turns.between_s * watch->spin_error / FOLLOWED_RADIANS;
    const float turned4 = turned * turned * turned * turned;
    const float lasting = 1.0f / (1.0f + turned4 * turned4);
    error->error_mm = lasting * surface_mm * ph_turn_chord(shown, truth);
    error->growth_mm_s = lasting * surface_mm * apart;
    error->spun_mm = surface_mm * ph_turn_angle(shown, sent->motion.rotation);
}

// ---- steps

// Moves the surface by as much as one of the position; in radians.
static float turn_step(const ph_layout* layout, float position_step_mm)
{
    const float surface_mm = PH_TURN_SURFACE * 1000.0f * (float)layout->described->def.radius_m;
    const float step = position_step_mm / surface_mm;
    return ph_float_min(ph_float_max(step, LEAST_STEP_RADIANS), MOST_STEP_RADIANS);
}

float ph_turn_right(const ph_turn_estimates* turns, const ph_layout* layout, int slot)
{
    const float step = turn_step(layout, (float)(UINT32_C(1) << layout->coordinate.shift));
    return ph_float_max(RIGHT_STEPS * step, AGAIN_S * turns->watches[slot].spin_error);
}

static int coarseness_of(const ph_layout* layout, float step)
{
    if (layout->orientation == 0) {
        return 0;
    }
    // The angle of one level, which is a sine: square root of 2 over the levels to a side.
    float finest = 1.41421356f / (float)((1 << (layout->orientation_bits - 1)) - 1);
    int coarse = 0;
    while (coarse < PH_ROTATION_COARSE_MAX && 2.0f * finest <= step) {
        finest *= 2.0f;
        ++coarse;
    }
    return coarse;
}

int ph_turn_coarseness(const ph_layout* layout, float position_step_mm, float radians)
{
    return coarseness_of(layout,
                         ph_float_min(turn_step(layout, position_step_mm), STEP_SHARE * radians));
}

int ph_turn_newcomer_coarseness(const ph_layout* layout)
{
    return coarseness_of(layout, NEWCOMER_STEP_RADIANS);
}
