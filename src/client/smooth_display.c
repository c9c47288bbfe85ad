// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets feed the tracks, once per record with a smooth property; frames advance them, once per part.

#include "client/smooth_display.h"

#include "base/allocator.h"
#include "base/bitset.h"

#include <string.h>

ph_result ph_smooth_display_create(ph_smooth_display* display, const ph_layouts* layouts,
                                   const ph_allocator* allocator, int capacity)
{
    *display = (ph_smooth_display){0};
    if (layouts->smooth_parts_max == 0) {
        return PH_OK;
    }
    const size_t count = (size_t)capacity * (size_t)layouts->smooth_parts_max;
    display->tracks = ph_allocate_array(allocator, count, sizeof(ph_smooth_track));
    if (display->tracks == NULL) {
        return PH_ERROR_MEMORY;
    }
    memset(display->tracks, 0, count * sizeof(ph_smooth_track));
    display->parts = layouts->smooth_parts_max;
    display->capacity = capacity;
    return PH_OK;
}

void ph_smooth_display_destroy(ph_smooth_display* display, const ph_allocator* allocator)
{
    if (display->tracks != NULL) {
        ph_release_array(allocator, display->tracks,
                         (size_t)display->capacity * (size_t)display->parts,
                         sizeof(ph_smooth_track));
    }
    *display = (ph_smooth_display){0};
}

static ph_smooth_track* tracks_of(const ph_smooth_display* display, int slot)
{
    return display->tracks + (size_t)slot * (size_t)display->parts;
}

void ph_smooth_display_enter(ph_smooth_display* display, int slot)
{
    if (display->tracks != NULL) {
        memset(tracks_of(display, slot), 0, (size_t)display->parts * sizeof(ph_smooth_track));
    }
}

// ---- packets

// A rotation that lies so far off where it was expected, and twice as far as it was to turn, has jumped.
#define ROTATION_JUMP_RADIANS 0.5f

static bool is_rotation_jump(const ph_turn_track* track, const float rotation[4], int64_t time_us)
{
    if (track->count == 0) {
        return false;
    }
    const float seconds = ph_motion_seconds(time_us - track->time_us);
    float expected[4];
    ph_turn_motion_at(&track->motion, seconds, seconds, expected);
    return ph_turn_angle(expected, rotation) >
           2.0f * ph_turn_angle(track->motion.rotation, expected) + ROTATION_JUMP_RADIANS;
}

// What has jumped, or whose entity has, is shown there at once. What is known of its spin is what a sender of the
// pinhole profile takes it to be.
static void add_rotation(ph_turn_track* track, const ph_property* described, const uint32_t* words,
                         const ph_smooth_sample* sample)
{
    float rotation[4];
    ph_smooth_rotation(described, words, rotation);
    const bool is_jump = sample->is_jump || is_rotation_jump(track, rotation, sample->time_us);
    ph_turn_track_add(track, sample->time_us, rotation, false);
    if (is_jump) {
        track->has_jumped = true;
        track->jumps |= 1u;
    }
}

void ph_smooth_display_add(ph_smooth_display* display, int slot, const ph_layout* layout,
                           const ph_smooth_sample* sample)
{
    ph_smooth_track* track = tracks_of(display, slot);
    for (uint64_t left = layout->smooth; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const ph_property* described = &layout->described->properties[property];
        const uint32_t* words = sample->words + layout->word[property];
        const int parts = ph_smooth_parts(described);
        if ((sample->properties >> property & 1) == 0) {
            track += parts;
            continue;
        }
        if (ph_smooth_is_rotation(described)) {
            add_rotation(&track->turn, described, words, sample);
            ++track;
            continue;
        }
        for (int i = 0; i < parts; ++i, ++track) {
            const ph_number_scale scale = ph_smooth_scale(described, i);
            ph_number_track_add(&track->number, &scale, sample->time_us,
                                ph_smooth_number(described, words, i), sample->is_jump);
        }
    }
}

// Tracks of numbers and of rotations stand at the same places in both: it is the same class.
void ph_smooth_display_inherit(ph_smooth_display* display, int slot, const ph_layout* layout,
                               const ph_smooth_display* from, int from_slot)
{
    ph_smooth_track* track = display->tracks != NULL ? tracks_of(display, slot) : NULL;
    const ph_smooth_track* former = from->tracks != NULL ? tracks_of(from, from_slot) : NULL;
    for (uint64_t left = layout->smooth; left != 0; left &= left - 1) {
        const ph_property* described = &layout->described->properties[ph_word_lowest_bit(left)];
        for (int i = 0; i < ph_smooth_parts(described); ++i, ++track, ++former) {
            if (ph_smooth_is_rotation(described)) {
                ph_turn_track_go_on(&track->turn, &former->turn);
            } else {
                ph_number_track_go_on(&track->number, &former->number);
            }
        }
    }
}

// ---- frames

// With a delay, what is newer than the newest sample is extrapolated: in the pinhole profile silence says that this is
// right, in classic its limit is short.
static void show_rotation(ph_turn_track* track, const ph_motion_model* motion_model,
                          const ph_frame_time* frame)
{
    const float limit_s =
        ph_motion_model_limit_s(motion_model, track->count > 1 ? track->seconds[0] : 0.0f);
    ph_turn_track_show(track, limit_s, frame);
    const float age_s = ph_motion_seconds(frame->time_us - track->time_us);
    if (frame->is_delayed && age_s > 0.0f) {
        ph_turn_motion_at(&track->motion, age_s, limit_s, track->shown);
    }
}

static void show_number(ph_number_track* track, const ph_number_scale* scale,
                        const ph_motion_model* motion_model, const ph_frame_time* frame)
{
    const float interval_s = track->count > 1 ? track->seconds[0] : 0.0f;
    ph_number_track_show(track, scale, ph_motion_model_limit_s(motion_model, interval_s), frame);
}

void ph_smooth_display_advance(ph_smooth_display* display, int slot, const ph_layout* layout,
                               const ph_motion_model* motion_model, const ph_frame_time* frame)
{
    ph_smooth_track* track = tracks_of(display, slot);
    for (uint64_t left = layout->smooth; left != 0; left &= left - 1) {
        const ph_property* described = &layout->described->properties[ph_word_lowest_bit(left)];
        if (ph_smooth_is_rotation(described)) {
            show_rotation(&track->turn, motion_model, frame);
            ++track;
            continue;
        }
        for (int i = 0; i < ph_smooth_parts(described); ++i, ++track) {
            const ph_number_scale scale = ph_smooth_scale(described, i);
            show_number(&track->number, &scale, motion_model, frame);
        }
    }
}

// ---- what is shown

static int get_rotation(const ph_turn_track* track, const ph_property* described,
                        const uint32_t* words, double numbers[4])
{
    float rotation[4];
    ph_smooth_rotation(described, words, rotation);
    const float* shown = track->is_shown ? track->shown : rotation;
    for (int i = 0; i < 4; ++i) {
        numbers[i] = (double)shown[i];
    }
    return 4;
}

int ph_smooth_display_get(const ph_smooth_display* display, int slot, const ph_layout* layout,
                          int property, const uint32_t* words, double numbers[4])
{
    const ph_property* described = &layout->described->properties[property];
    const ph_smooth_track* track = tracks_of(display, slot);
    for (uint64_t left = layout->smooth & ((UINT64_C(1) << property) - 1); left != 0;
         left &= left - 1) {
        track += ph_smooth_parts(&layout->described->properties[ph_word_lowest_bit(left)]);
    }
    words += layout->word[property];
    if (ph_smooth_is_rotation(described)) {
        return get_rotation(&track->turn, described, words, numbers);
    }
    const int parts = ph_smooth_parts(described);
    for (int i = 0; i < parts; ++i) {
        const double shown = track[i].number.is_shown ? track[i].number.shown
                                                      : ph_smooth_number(described, words, i);
        numbers[i] = ph_smooth_unit(described, i, shown);
    }
    return parts;
}
