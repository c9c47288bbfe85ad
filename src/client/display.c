// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows. Once per record, and once per entity in view and frame.

#include "client/display.h"

#include "base/allocator.h"
#include "client/client_state.h"

#include <math.h>
#include <string.h>

#define HEADING_NAME "heading"

// ---- creation

static int find_heading(const ph_class* described)
{
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property_def* def = &described->properties[p].def;
        if (def->coding == PH_CODING_ANGLE && strcmp(def->name, HEADING_NAME) == 0) {
            return p;
        }
    }
    return -1;
}

static ph_class_display make_class(const ph_class* described)
{
    const ph_coordinate* coordinate = &described->properties[described->position].coordinate;
    return (ph_class_display){
        .manner = ph_manner_make(),
        .heading = find_heading(described),
        .centre_mm = (int32_t)((UINT32_C(1) << coordinate->shift) / 2),
    };
}

ph_result ph_display_create(ph_display* display, const ph_layouts* layouts,
                            const ph_allocator* allocator, int capacity)
{
    *display = (ph_display){
        .capacity = capacity,
        .class_count = layouts->count,
        .allocator = *allocator,
    };
    const size_t class_count = (size_t)layouts->count;
    display->tracks = ph_allocate_array(allocator, (size_t)capacity, sizeof(ph_track));
    display->classes = ph_allocate_array(allocator, class_count, sizeof(ph_class_display));
    if (display->tracks == NULL || display->classes == NULL) {
        ph_display_destroy(display);
        return PH_ERROR_MEMORY;
    }
    memset(display->tracks, 0, (size_t)capacity * sizeof(ph_track));
    for (int i = 0; i < layouts->count; ++i) {
        display->classes[i] = make_class(layouts->layouts[i].described);
    }
    return PH_OK;
}

void ph_display_destroy(ph_display* display)
{
    const ph_allocator* allocator = &display->allocator;
    if (display->capacity > 0) {
        ph_release_array(allocator, display->classes, (size_t)display->class_count,
                         sizeof(ph_class_display));
        ph_release_array(allocator, display->tracks, (size_t)display->capacity, sizeof(ph_track));
    }
    *display = (ph_display){0};
}

// ---- packets

void ph_display_begin_coded(ph_display* display, int64_t velocity_us)
{
    PH_ASSERT(velocity_us > 0);

    display->velocity_us = velocity_us;
    for (int i = 0; i < display->class_count; ++i) {
        display->classes[i].manner.is_vouched = true;
    }
}

void ph_display_begin_packet(ph_display* display, uint64_t now_us, int64_t server_us, double rtt_us)
{
    display->packet_us = server_us;
    ph_clock_add(&display->clock, now_us, (double)server_us, rtt_us);
}

void ph_display_enter(ph_display* display, int slot)
{
    display->tracks[slot] = (ph_track){0};
}

static double heading_of(const ph_mirror* mirror, int slot, int heading)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    const ph_angle* angle = &layout->described->properties[heading].angle;
    const uint32_t level = ph_mirror_words(mirror, slot)[layout->word[heading]];
    return ph_angle_decode(angle, level) / angle->turn * PH_TURN_DEGREES;
}

static ph_sample sample_of(const ph_display* display, const ph_mirror* mirror,
                           const ph_record* record)
{
    const ph_layout* layout = ph_mirror_layout(mirror, record->slot);
    const uint32_t* words =
        ph_mirror_words(mirror, record->slot) + layout->word[layout->described->position];
    // Not z: what stands on the ground is there exactly more often than half a step above.
    const int32_t centre_mm = display->classes[mirror->class_index[record->slot]].centre_mm;
    return (ph_sample){
        .time_us = display->packet_us,
        .position_mm = {(int32_t)(words[0] + (uint32_t)centre_mm),
                        (int32_t)(words[1] + (uint32_t)centre_mm), (int32_t)words[2]},
        .is_jump = record->is_jump,
    };
}

static ph_step step_of(const ph_display* display, const ph_layout* layout, const ph_record* record)
{
    const ph_property* position = &layout->described->properties[layout->described->position];
    const float step_mm = (float)(UINT32_C(1) << position->coordinate.shift);
    return (ph_step){
        .mm = {(float)record->velocity[0] * step_mm, (float)record->velocity[1] * step_mm,
               (float)record->velocity[2] * step_mm},
        .seconds = (float)display->velocity_us * 1e-6f,
    };
}

static void add_sample(ph_display* display, const ph_mirror* mirror, const ph_record* record)
{
    ph_track* track = &display->tracks[record->slot];
    const ph_sample sample = sample_of(display, mirror, record);
    if (display->velocity_us > 0 && track->count == 0) {
        const ph_step step = step_of(display, ph_mirror_layout(mirror, record->slot), record);
        ph_track_begin(track, &sample, &step);
    } else {
        ph_track_add(track, &display->classes[mirror->class_index[record->slot]].manner, &sample);
    }
}

void ph_display_told(ph_display* display, const ph_mirror* mirror, const ph_record* record,
                     uint64_t properties)
{
    const ph_class_display* type = &display->classes[mirror->class_index[record->slot]];
    if (type->heading >= 0 && (properties >> type->heading & 1u) != 0) {
        const float degrees = (float)heading_of(mirror, record->slot, type->heading);
        ph_track_add_heading(&display->tracks[record->slot], display->packet_us, degrees);
    }
    if ((properties & ph_mirror_layout(mirror, record->slot)->position) != 0) {
        add_sample(display, mirror, record);
    }
}

// ---- frames

// Far beyond every clock there is; but no conversion may overflow, whatever packets have told.
static int64_t whole_us(double us)
{
    return (int64_t)fmin(fmax(us, (double)-PH_MOMENT_US_MAX), (double)PH_MOMENT_US_MAX);
}

void ph_display_advance(ph_display* display, const ph_mirror* mirror, uint64_t now_us)
{
    const uint64_t last_us = display->has_advanced ? display->advanced_us : now_us;
    const int64_t elapsed_us = now_us > last_us ? (int64_t)(now_us - last_us) : 0;
    const int64_t server_us = whole_us(ph_clock_server_us(&display->clock, now_us));
    const ph_moment moment = ph_moment_make(server_us, elapsed_us, display->delay_us);
    const ph_bitset* entered = &mirror->is_entered;
    for (int slot = ph_bitset_next(entered, 0); slot < mirror->slot_count;
         slot = ph_bitset_next(entered, slot + 1)) {
        const ph_manner* manner = &display->classes[mirror->class_index[slot]].manner;
        ph_track_show(&display->tracks[slot], manner, &moment);
    }
    display->advanced_us = last_us + (uint64_t)elapsed_us;
    display->has_advanced = true;
}

void ph_display_pose(const ph_display* display, const ph_mirror* mirror, int slot, ph_pose* pose)
{
    const ph_track* track = &display->tracks[slot];
    const int heading = display->classes[mirror->class_index[slot]].heading;
    *pose = (ph_pose){.has_heading = heading >= 0};
    ph_track_position(track, pose->position_mm);
    if (track->bearing.is_shown) {
        pose->heading_deg = (double)track->bearing.shown;
    } else if (heading >= 0) {
        pose->heading_deg = heading_of(mirror, slot, heading);
    }
}

// ---- the public functions

void ph_client_advance(ph_client* client, uint64_t now_us)
{
    ph_display_advance(&client->display, &client->mirror, ph_client_clamp_us(now_us));
}

ph_result ph_client_show(const ph_client* client, ph_entity_id entity, ph_pose* pose)
{
    const int slot = ph_mirror_slot_of(&client->mirror, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    ph_display_pose(&client->display, &client->mirror, slot, pose);
    return PH_OK;
}

double ph_client_server_time_us(const ph_client* client, uint64_t now_us)
{
    return ph_clock_server_us(&client->display.clock, ph_client_clamp_us(now_us));
}
