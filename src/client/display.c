// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows. Packets feed the clock and the tracks, once per record; frames advance what is
// shown, once per entity in view.

#include "client/display.h"

#include "base/allocator.h"
#include "client/client_state.h"
#include "packet/smooth_parts.h"

#include <math.h>
#include <string.h>

#define HEADING_NAME "heading"

// ---- creation

static int find_heading(const ph_class* described)
{
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property_def* def = &described->properties[p].def;
        if (def->coding == PH_CODING_ANGLE && !def->is_smooth &&
            strcmp(def->name, HEADING_NAME) == 0) {
            return p;
        }
    }
    return -1;
}

static ph_class_display make_class_display(const ph_class* described)
{
    const ph_coordinate* coordinate = &described->properties[described->position].coordinate;
    ph_class_display made = {
        .motion_model = ph_motion_model_make(),
        .heading = find_heading(described),
        .orientation = described->orientation,
        .centre_mm = (int32_t)((UINT32_C(1) << coordinate->shift) / 2),
    };
    made.motion_model.step_mm = (float)(UINT32_C(1) << coordinate->shift);
    made.motion_model.bend = ph_float_max((float)described->def.bend, 0.0f);
    made.motion_model.leg_s = (float)described->def.leg_ms * 1e-3f;
    return made;
}

static ph_result create_turns(ph_display* display)
{
    const size_t count = (size_t)display->capacity;
    display->turns = ph_allocate_array(&display->allocator, count, sizeof(ph_turn_track));
    if (display->turns == NULL) {
        ph_display_destroy(display);
        return PH_ERROR_MEMORY;
    }
    memset(display->turns, 0, count * sizeof(ph_turn_track));
    return PH_OK;
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
    const ph_result result =
        ph_smooth_display_create(&display->smooth, layouts, allocator, capacity);
    if (display->tracks == NULL || display->classes == NULL || result != PH_OK) {
        ph_display_destroy(display);
        return PH_ERROR_MEMORY;
    }
    memset(display->tracks, 0, (size_t)capacity * sizeof(ph_track));
    bool has_orientation = false;
    for (int i = 0; i < layouts->count; ++i) {
        display->classes[i] = make_class_display(layouts->layouts[i].described);
        has_orientation |= display->classes[i].orientation >= 0;
    }
    return has_orientation ? create_turns(display) : PH_OK;
}

void ph_display_destroy(ph_display* display)
{
    const ph_allocator* allocator = &display->allocator;
    if (display->turns != NULL) {
        ph_release_array(allocator, display->turns, (size_t)display->capacity,
                         sizeof(ph_turn_track));
    }
    ph_smooth_display_destroy(&display->smooth, allocator);
    if (display->capacity > 0) {
        ph_release_array(allocator, display->classes, (size_t)display->class_count,
                         sizeof(ph_class_display));
        ph_release_array(allocator, display->tracks, (size_t)display->capacity, sizeof(ph_track));
    }
    *display = (ph_display){0};
}

// ---- packets

void ph_display_begin_pinhole(ph_display* display, int64_t velocity_us)
{
    PH_ASSERT(velocity_us > 0);

    display->velocity_us = velocity_us;
    for (int i = 0; i < display->class_count; ++i) {
        display->classes[i].motion_model.is_vouched = true;
    }
}

void ph_display_begin_packet(ph_display* display, int64_t server_us)
{
    display->packet_us = server_us;
}

void ph_display_enter(ph_display* display, int slot)
{
    display->tracks[slot] = (ph_track){0};
    if (display->turns != NULL) {
        display->turns[slot] = (ph_turn_track){0};
    }
    ph_smooth_display_enter(&display->smooth, slot);
}

static double heading_of(const ph_client_entities* entities, int slot, int heading)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    const ph_angle* angle = &layout->described->properties[heading].angle;
    const uint32_t level = ph_client_entities_words(entities, slot)[layout->word[heading]];
    return ph_angle_decode(angle, level) / angle->turn * PH_TURN_DEGREES;
}

static void orientation_of(const ph_client_entities* entities, int slot, int orientation,
                           float rotation[4])
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    const ph_property* described = &layout->described->properties[orientation];
    const uint32_t* words = ph_client_entities_words(entities, slot) + layout->word[orientation];
    ph_smooth_rotation(described, words, rotation);
}

// The displacement that an enter of the pinhole profile has: how the entity came where it is.
static ph_step entering_step(const ph_display* display, const ph_property* position,
                             const ph_record* record)
{
    const float step_mm = (float)(UINT32_C(1) << position->coordinate.shift);
    return (ph_step){
        .mm = {(float)record->velocity[0] * step_mm, (float)record->velocity[1] * step_mm,
               (float)record->velocity[2] * step_mm},
        .seconds = (float)display->velocity_us * 1e-6f,
    };
}

// How an entity turns that enters, as the rotation of so long whose last component is left out.
static void begin_turn(const ph_display* display, const ph_layout* layout, const ph_record* record,
                       ph_turn_track* turn)
{
    const int width = layout->orientation_bits;
    const ph_quaternion_levels levels = {
        .largest = 3, .rest = {record->spin[0], record->spin[1], record->spin[2]}};
    const ph_quaternion turned = ph_quaternion_decode(width, levels);
    const float parts[4] = {(float)turned.x, (float)turned.y, (float)turned.z, (float)turned.w};
    ph_turn_motion_set_spin(&turn->motion, parts, (float)display->velocity_us * 1e-6f);
}

void ph_display_update(ph_display* display, const ph_client_entities* entities,
                       const ph_record* record, uint64_t properties)
{
    const int slot = record->slot;
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    ph_class_display* type = &display->classes[entities->class_index[slot]];
    ph_track* track = &display->tracks[slot];
    if (type->heading >= 0 && (properties >> type->heading & 1u) != 0) {
        const float degrees = (float)heading_of(entities, slot, type->heading);
        ph_heading_track_add(&track->heading, display->packet_us, degrees);
    }
    if (type->orientation >= 0 && (properties >> type->orientation & 1u) != 0) {
        float rotation[4];
        orientation_of(entities, slot, type->orientation, rotation);
        ph_turn_track_add(&display->turns[slot], display->packet_us, rotation, record->is_jump);
        if (display->velocity_us > 0 && record->kind == PH_RECORD_ENTER) {
            begin_turn(display, layout, record, &display->turns[slot]);
        }
    }
    // An enter says everything: what it leaves out is initial.
    const uint64_t told = record->kind == PH_RECORD_ENTER ? UINT64_MAX : properties;
    if ((told & layout->smooth) != 0) {
        const ph_smooth_sample sample = {.time_us = display->packet_us,
                                         .words = ph_client_entities_words(entities, slot),
                                         .properties = told,
                                         .is_jump = record->is_jump};
        ph_smooth_display_add(&display->smooth, slot, layout, &sample);
    }
    if ((properties & layout->position) == 0) {
        return;
    }
    const int p = layout->described->position;
    const uint32_t* words = ph_client_entities_words(entities, slot) + layout->word[p];
    // Not z: an entity on the ground is there exactly more often than half a step above.
    const int finer = display->velocity_us > 0 ? ph_layout_finer_of(layout, words) : 0;
    const uint32_t centre_mm = (uint32_t)type->centre_mm >> finer;
    const ph_sample sample = {
        .time_us = display->packet_us,
        .position_mm = {(int32_t)(words[0] + centre_mm), (int32_t)(words[1] + centre_mm),
                        (int32_t)words[2]},
        .is_jump = record->is_jump,
        .finer = (uint8_t)finer,
    };
    if (display->velocity_us > 0 && track->count == 0) {
        const ph_step step = entering_step(display, &layout->described->properties[p], record);
        ph_track_begin(track, &sample, &step);
    } else {
        ph_track_add(track, &type->motion_model, &sample);
    }
}

void ph_display_inherit(ph_display* display, const ph_client_entities* entities, int slot,
                        const ph_display* from, int from_slot)
{
    ph_track_go_on(&display->tracks[slot], &from->tracks[from_slot]);
    if (display->turns != NULL && from->turns != NULL && display->turns[slot].count > 0) {
        ph_turn_track_go_on(&display->turns[slot], &from->turns[from_slot]);
    }
    ph_smooth_display_inherit(&display->smooth, slot, ph_client_entities_layout(entities, slot),
                              &from->smooth, from_slot);
}

// ---- frames

// No conversion may overflow, whatever packets have said; the limits are beyond every real clock.
static int64_t whole_us(double us)
{
    return (int64_t)fmin(fmax(us, (double)-PH_TIME_US_MAX), (double)PH_TIME_US_MAX);
}

// Of senders that do not vouch for motion a spin is followed as long as samples usually keep coming.
static void show_turn(ph_turn_track* turn, const ph_motion_model* motion_model,
                      const ph_frame_time* frame)
{
    const float interval_s = turn->count > 1 ? turn->seconds[0] : 0.0f;
    ph_turn_track_show(turn, ph_motion_model_limit_s(motion_model, interval_s), frame);
}

void ph_display_advance(ph_display* display, const ph_client_entities* entities, uint64_t now_us)
{
    const uint64_t last_us = display->has_advanced ? display->advanced_us : now_us;
    const int64_t elapsed_us = now_us > last_us ? (int64_t)(now_us - last_us) : 0;
    const int64_t server_us = whole_us(ph_clock_server_us(&display->clock, now_us));
    const ph_frame_time frame = ph_frame_time_make(server_us, elapsed_us, display->delay_us);
    const ph_bitset* entered = &entities->is_entered;
    for (int slot = ph_bitset_next(entered, 0); slot < entities->slot_count;
         slot = ph_bitset_next(entered, slot + 1)) {
        const ph_motion_model* motion_model =
            &display->classes[entities->class_index[slot]].motion_model;
        ph_track_show(&display->tracks[slot], motion_model, &frame);
        if (display->turns != NULL && display->turns[slot].count > 0) {
            show_turn(&display->turns[slot], motion_model, &frame);
        }
        if (display->smooth.tracks != NULL) {
            ph_smooth_display_advance(&display->smooth, slot,
                                      ph_client_entities_layout(entities, slot), motion_model,
                                      &frame);
        }
    }
    display->advanced_us = last_us + (uint64_t)elapsed_us;
    display->has_advanced = true;
}

static void pose_orientation(const ph_display* display, const ph_client_entities* entities,
                             int slot, ph_pose* pose)
{
    const ph_turn_track* turn = &display->turns[slot];
    float rotation[4];
    if (turn->is_shown) {
        memcpy(rotation, turn->shown, sizeof rotation);
    } else {
        const int class_index = entities->class_index[slot];
        orientation_of(entities, slot, display->classes[class_index].orientation, rotation);
    }
    pose->has_rotation = true;
    pose->has_heading = true;
    pose->rotation = (ph_quaternion){(double)rotation[0], (double)rotation[1], (double)rotation[2],
                                     (double)rotation[3]};
    pose->heading_deg = (double)ph_turn_heading(rotation);
}

void ph_display_pose(const ph_display* display, const ph_client_entities* entities, int slot,
                     ph_pose* pose)
{
    const ph_track* track = &display->tracks[slot];
    const ph_class_display* type = &display->classes[entities->class_index[slot]];
    const int heading = type->heading;
    *pose = (ph_pose){.has_heading = heading >= 0, .rotation = {.w = 1.0}};
    ph_track_position(track, pose->position_mm);
    if (type->orientation >= 0) {
        pose_orientation(display, entities, slot, pose);
        return;
    }
    if (track->heading.is_shown) {
        pose->heading_deg = (double)track->heading.shown;
    } else if (heading >= 0) {
        pose->heading_deg = heading_of(entities, slot, heading);
    }
    if (heading >= 0) {
        const double half = pose->heading_deg * (0.5 * PH_TURN_RADIANS / PH_TURN_DEGREES);
        pose->rotation = (ph_quaternion){.z = sin(half), .w = cos(half)};
    }
}

// ---- the public functions

void ph_client_advance(ph_client* client, uint64_t now_us)
{
    const uint64_t then_us = ph_clock_clamp_us(now_us);
    ph_client_release_held(client, then_us);
    ph_client_settle(client, then_us);
    for (ph_client* at = client; at != NULL; at = at->former) {
        ph_display_advance(&at->display, &at->entities, then_us);
    }
}

ph_result ph_client_get_pose(const ph_client* client, ph_entity_id entity, ph_pose* pose)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    ph_display_pose(&owner->display, &owner->entities, slot, pose);
    return PH_OK;
}

double ph_client_server_time_us(const ph_client* client, uint64_t now_us)
{
    return ph_clock_server_us(&client->display.clock, ph_clock_clamp_us(now_us));
}
