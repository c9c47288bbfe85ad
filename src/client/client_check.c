// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a client is sound, and a digest of it to compare by. For tests and fuzz targets.

#include "client/client_state.h"

#include "base/hash.h"
#include "base/math.h"
#include "tools/tools.h"

static bool is_session_sound(const ph_client* client)
{
    const ph_session* session = &client->session;
    if (!session->has_begun) {
        return client->entities.slot_count == 0;
    }
    return session->hello.slot_count == client->entities.slot_count &&
           !ph_sequence_is_ahead(session->horizon, session->arrivals.receipt.newest) &&
           ph_arrivals_validate(&session->arrivals) &&
           ph_reorder_validate(&client->reorder, session->arrivals.receipt.newest);
}

// Nothing of a former view is also in another one.
static bool is_former_sound(const ph_client* client)
{
    for (const ph_client* at = client->former; at != NULL; at = at->former) {
        const ph_bitset* entered = &at->entities.is_entered;
        if (!ph_client_entities_validate(&at->entities) ||
            !ph_events_validate(&at->events, &at->entities)) {
            return false;
        }
        for (int slot = ph_bitset_next(entered, 0); slot < entered->bit_count;
             slot = ph_bitset_next(entered, slot + 1)) {
            const ph_client* owner;
            if (ph_client_locate_key(client, at->entities.key[slot], &owner) != slot ||
                owner != at) {
                return false;
            }
        }
    }
    return true;
}

bool ph_client_validate(const ph_client* client)
{
    return is_session_sound(client) && ph_client_entities_validate(&client->entities) &&
           is_former_sound(client) && ph_events_validate(&client->events, &client->entities) &&
           (client->def.profile != PH_PROFILE_PINHOLE ||
            ph_client_baselines_validate(&client->baselines));
}

// ---- digest

static void add_eye(ph_hash* hash, const ph_known_eye* eye)
{
    ph_hash_add(hash, eye->mm, sizeof eye->mm);
    ph_hash_add_u64(hash, eye->is_known);
}

static void add_arrival(ph_hash* hash, const ph_arrival* arrival)
{
    ph_hash_add_u64(hash, arrival->time_us);
    ph_hash_add_u64(hash, arrival->tick);
    ph_hash_add_u64(hash, arrival->acked_us);
    ph_hash_add_u64(hash, (uint64_t)arrival->is_heard << 3 | (uint64_t)arrival->is_applied << 2 |
                              (uint64_t)arrival->is_acked << 1 | arrival->is_probed_again);
    ph_hash_add_u64(hash, arrival->is_rare);
    add_eye(hash, &arrival->eye);
}

static void add_session(ph_hash* hash, const ph_session* session)
{
    ph_hash_add_u64(hash, session->has_begun);
    ph_hash_add_u64(hash, session->hello.session);
    ph_hash_add_u64(hash, session->hello.tick_us);
    ph_hash_add_u64(hash, session->horizon);
    ph_hash_add_u64(hash, session->arrivals.receipt.newest);
    ph_hash_add_u64(hash, session->arrivals.receipt.applied);
    ph_hash_add_u64(hash, session->arrivals.sequence_count);
    ph_hash_add_u64(hash, session->arrivals.heard_us);
    for (int i = 0; i < PH_FLIGHT_MAX; ++i) {
        add_arrival(hash, &session->arrivals.ring[i]);
    }
    add_arrival(hash, &session->arrivals.last);
    add_eye(hash, &session->arrivals.older_eye);
    ph_hash_add_u64(hash, session->arrivals.older_tick);
    ph_hash_add_u64(hash, session->arrivals.has_older_tick);
}

static void add_entity(ph_hash* hash, const ph_client_entities* entities, int slot)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    ph_hash_add_u64(hash, entities->key[slot]);
    ph_hash_add_u64(hash, entities->class_index[slot]);
    ph_hash_add_u64(hash, (uintptr_t)entities->user[slot]);
    ph_hash_add(hash, ph_client_entities_words(entities, slot),
                (size_t)layout->word_count * sizeof(uint32_t));
    ph_hash_add(hash, ph_client_entities_texts(entities, slot), layout->text_bytes);
    ph_hash_add_u64(hash, (uint64_t)ph_client_entities_find(entities, entities->key[slot]));
}

static void add_owed(ph_hash* hash, const ph_events* events, int slot)
{
    ph_hash_add_u64(hash, events->changed[slot]);
    ph_hash_add_u64(hash, (uint64_t)ph_bitset_test(&events->is_announced, slot) << 2 |
                              (uint64_t)ph_bitset_test(&events->is_leave_owed, slot) << 1 |
                              (uint64_t)ph_bitset_test(&events->is_change_owed, slot));
    if (ph_bitset_test(&events->is_leave_owed, slot)) {
        const ph_left* left = &events->left[slot];
        ph_hash_add_u64(hash, left->key);
        ph_hash_add_u64(hash, (uintptr_t)left->user);
        ph_hash_add_u64(hash, (uint64_t)left->id.generation << 8 | left->class_index);
    }
}

static void add_heading(ph_hash* hash, const ph_heading_track* heading)
{
    ph_hash_add_u64(hash, (uint64_t)heading->time_us);
    ph_hash_add(hash, heading->degrees, sizeof heading->degrees);
    ph_hash_add(hash, heading->seconds, sizeof heading->seconds);
    ph_hash_add(hash, &heading->shown, sizeof heading->shown);
    ph_hash_add_u64(hash, (uint64_t)heading->count << 1 | heading->is_shown);
}

static void add_turn(ph_hash* hash, const ph_turn_track* turn)
{
    const ph_turn_motion* motion = &turn->motion;
    ph_hash_add_u64(hash, (uint64_t)turn->time_us);
    ph_hash_add(hash, motion->rotation, sizeof motion->rotation);
    ph_hash_add(hash, motion->spin, sizeof motion->spin);
    ph_hash_add(hash, turn->shown, sizeof turn->shown);
    ph_hash_add(hash, turn->rotations, sizeof turn->rotations);
    ph_hash_add(hash, turn->seconds, sizeof turn->seconds);
    ph_hash_add_u64(hash, (uint64_t)turn->count << 24 | (uint64_t)turn->jumps << 16 |
                              (uint64_t)motion->is_there << 3 | (uint64_t)motion->has_spin << 2 |
                              (uint64_t)turn->is_shown << 1 | turn->has_jumped);
}

static void add_number(ph_hash* hash, const ph_number_track* number)
{
    const ph_number_motion* motion = &number->motion;
    const double numbers[] = {motion->value, motion->rate, number->shown};
    const float offs[] = {motion->rated_off, motion->kept_off};
    ph_hash_add_u64(hash, (uint64_t)number->time_us);
    ph_hash_add(hash, numbers, sizeof numbers);
    ph_hash_add(hash, offs, sizeof offs);
    ph_hash_add(hash, number->values, sizeof number->values);
    ph_hash_add(hash, number->seconds, sizeof number->seconds);
    ph_hash_add_u64(hash, (uint64_t)number->count << 24 | (uint64_t)number->jumps << 16 |
                              (uint64_t)motion->is_there << 3 | (uint64_t)motion->has_jumped << 2 |
                              (uint64_t)number->is_shown << 1 | number->has_jumped);
}

// Of an entity: what a part of it is, its class says.
static void add_smooth(ph_hash* hash, const ph_smooth_display* smooth, const ph_layout* layout,
                       int slot)
{
    if (layout->smooth == 0) {
        return;
    }
    const ph_smooth_track* track = smooth->tracks + (size_t)slot * (size_t)smooth->parts;
    for (uint64_t left = layout->smooth; left != 0; left &= left - 1) {
        const ph_property* described = &layout->described->properties[ph_word_lowest_bit(left)];
        for (int i = 0; i < ph_smooth_parts(described); ++i, ++track) {
            if (ph_smooth_is_rotation(described)) {
                add_turn(hash, &track->turn);
            } else {
                add_number(hash, &track->number);
            }
        }
    }
}

static void add_track(ph_hash* hash, const ph_track* track)
{
    ph_hash_add_u64(hash, (uint64_t)track->time_us);
    ph_hash_add(hash, track->newest_mm, sizeof track->newest_mm);
    ph_hash_add(hash, track->steps, sizeof track->steps);
    ph_hash_add(hash, track->shown_mm, sizeof track->shown_mm);
    ph_hash_add_u64(hash, (uint64_t)track->count << 24 | (uint64_t)track->jumps << 16 |
                              (uint64_t)track->unseen_jumps << 8 | track->is_shown);
    ph_hash_add_u64(hash, (uint64_t)track->finer << 8 | track->former_finer);
    add_heading(hash, &track->heading);
}

static void add_clock(ph_hash* hash, const ph_clock* clock)
{
    const double numbers[] = {clock->offset_us, clock->drift, clock->deviation_us, clock->rtt_us,
                              clock->from_us};
    ph_hash_add(hash, numbers, sizeof numbers);
    ph_hash_add(hash, clock->variance, sizeof clock->variance);
    ph_hash_add(hash, clock->excess, sizeof clock->excess);
    ph_hash_add_u64(hash, clock->since_us);
    ph_hash_add_u64(hash, (uint64_t)clock->is_measured << 32 | clock->strays);
    ph_hash_add_u64(hash, clock->has_begun);
}

static void add_display(ph_hash* hash, const ph_display* display)
{
    add_clock(hash, &display->clock);
    ph_hash_add_u64(hash, (uint64_t)display->packet_us);
    ph_hash_add_u64(hash, display->advanced_us);
    ph_hash_add_u64(hash, display->has_advanced);
    for (int i = 0; i < display->capacity; ++i) {
        add_track(hash, &display->tracks[i]);
        if (display->turns != NULL) {
            add_turn(hash, &display->turns[i]);
        }
    }
    for (int i = 0; i < display->class_count; ++i) {
        ph_hash_add(hash, &display->classes[i].motion_model, offsetof(ph_motion_model, is_vouched));
    }
}

static void add_applied(ph_hash* hash, const ph_flight* flight, int index)
{
    const ph_flight_packet* packet = &flight->packets[index];
    ph_hash_add_u64(hash, (uint64_t)packet->stamp.sequence << 32 | packet->stamp.tick);
    ph_flight_walk walk = ph_flight_walk_make(flight, packet);
    for (int i = 0; i < packet->item_count; ++i, ph_flight_walk_on(&walk)) {
        const ph_flight_item item = ph_flight_read(flight, walk.place);
        ph_hash_add_u64(hash, item.properties);
        ph_hash_add_u64(hash, (uint64_t)item.slot << 16 | (uint64_t)item.kind << 1 | item.is_jump);
        ph_hash_add(hash, item.values, item.value_bytes);
    }
}

static void add_baselines(ph_hash* hash, const ph_client_baselines* baselines)
{
    ph_hash_add_u64(hash, ph_client_baselines_digest(baselines, baselines->capacity));
    ph_hash_add_u64(hash, baselines->key_base);
    ph_hash_add(hash, baselines->known, (size_t)baselines->capacity * baselines->stride);
    for (int i = 0; i < baselines->capacity; ++i) {
        const ph_client_baseline* slot = &baselines->slots[i];
        ph_hash_add_u64(hash, slot->association);
        ph_hash_add(hash, slot->baseline.tick, sizeof slot->baseline.tick);
    }
    for (int i = 0; i < baselines->flight.count; ++i) {
        const int index = (baselines->flight.first + i) % PH_FLIGHT_MAX;
        ph_hash_add_u64(hash, baselines->greatest_keys[index]);
        add_applied(hash, &baselines->flight, index);
    }
}

uint64_t ph_client_baseline_digest(const ph_client* client)
{
    PH_ASSERT(client->def.profile == PH_PROFILE_PINHOLE);

    return ph_client_baselines_digest(&client->baselines, client->entities.slot_count);
}

uint64_t ph_client_digest(const ph_client* client)
{
    const ph_client_entities* entities = &client->entities;
    ph_hash hash = ph_hash_make(0);
    add_session(&hash, &client->session);
    ph_hash_add_u64(&hash, (uint64_t)entities->slot_count);
    ph_hash_add_u64(&hash, (uint64_t)entities->entered_count);
    ph_hash_add_u64(&hash, (uint64_t)entities->slot_of_key.count);
    for (int i = 0; i < entities->capacity; ++i) {
        ph_hash_add_u64(&hash, entities->association[i]);
        ph_hash_add_u64(&hash, ph_bitset_test(&entities->is_entered, i));
        if (ph_bitset_test(&entities->is_entered, i)) {
            const ph_layout* layout = ph_client_entities_layout(entities, i);
            add_entity(&hash, entities, i);
            add_smooth(&hash, &client->display.smooth, layout, i);
        }
        add_owed(&hash, &client->events, i);
    }
    add_display(&hash, &client->display);
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        add_baselines(&hash, &client->baselines);
    }
    return ph_hash_value(&hash);
}
