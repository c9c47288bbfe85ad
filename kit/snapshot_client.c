// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: datagrams, snapshots, acks, what is shown, what is known.

#include "kit/snapshot_client.h"

#include "kit/snapshot_difference.h"

#include "motion/clock.h"
#include "motion/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// As the library's client: one that came this long after the one before is acked once more.
#define RARE_US 300000u
#define REACK_US 50000u

// Fragments of one snapshot.
typedef struct assembly {
    uint32_t sequence;
    bool is_begun;
    int count;     // fragments there are; 0: not known yet
    int got_count; // that have come
    int highest;   // of their numbers; -1: none
    bool* got;
    uint8_t* bytes;
    size_t size;       // known with the last one
    uint64_t first_us; // when the first fragment came, which left with the tick of the snapshot
} assembly;

// When the newest snapshot was acked, and when it is to be acked again.
typedef struct acking {
    uint64_t came_us;
    uint64_t acked_us;
    bool is_acked;
    bool is_asked_again; // it came once more
    bool is_rare;
    bool is_reacked;
} acking;

struct ph_snapshot_client {
    ph_snapshot_client_def def;
    ph_snapshot ring[PH_SNAPSHOT_RING];
    acking acks[PH_SNAPSHOT_RING];
    ph_snapshot decoded;
    ph_snapshot newest;
    bool has_newest;
    assembly parts;
    int fragment_capacity;
    uint32_t* generation; // by slot: counts its entities
    // By slot: what the poller knows.
    uint32_t* announced; // generation; 0: none
    uint64_t* announced_key;
    bool* is_dirty;
    int leave_cursor;
    int change_cursor;
    ph_clock clock;
    ph_motion_model motion_model;
    ph_track* tracks;
    ph_turn_track* turns; // NULL without an orientation
    uint64_t advanced_us;
    bool has_advanced;
    ph_sim_arrivals arrivals;
};

// ---- memory

static const ph_snapshot_layout* layout_of(const ph_snapshot_client* client)
{
    return client->def.layout;
}

static bool create_snapshots(ph_snapshot_client* client)
{
    bool is_done = ph_snapshot_create(&client->decoded, layout_of(client));
    is_done = ph_snapshot_create(&client->newest, layout_of(client)) && is_done;
    for (int i = 0; i < PH_SNAPSHOT_RING; ++i) {
        is_done = ph_snapshot_create(&client->ring[i], layout_of(client)) && is_done;
    }
    return is_done;
}

static bool create_arrays(ph_snapshot_client* client)
{
    const size_t count = (size_t)layout_of(client)->slot_count;
    const size_t bits = count * (size_t)ph_snapshot_entity_bits_max(layout_of(client));
    client->fragment_capacity =
        (int)((bits / 8 + PH_PAYLOAD_MAX) / ph_snapshot_fragment_bytes(layout_of(client))) + 1;
    const size_t fragments = (size_t)client->fragment_capacity;
    client->parts.bytes = calloc(fragments, ph_snapshot_fragment_bytes(layout_of(client)));
    client->parts.got = calloc(fragments, sizeof(bool));
    client->generation = calloc(count, sizeof *client->generation);
    client->announced = calloc(count, sizeof *client->announced);
    client->announced_key = calloc(count, sizeof *client->announced_key);
    client->is_dirty = calloc(count, sizeof *client->is_dirty);
    client->tracks = calloc(count, sizeof *client->tracks);
    const bool is_turned = layout_of(client)->orientation >= 0;
    client->turns = is_turned ? calloc(count, sizeof *client->turns) : NULL;
    return client->parts.bytes != NULL && client->parts.got != NULL && client->generation != NULL &&
           client->announced != NULL && client->announced_key != NULL && client->is_dirty != NULL &&
           client->tracks != NULL && (client->turns != NULL || !is_turned);
}

ph_snapshot_client* ph_snapshot_client_create(const ph_snapshot_client_def* def)
{
    ph_snapshot_client* client = calloc(1, sizeof *client);
    if (client == NULL) {
        return NULL;
    }
    client->def = *def;
    client->motion_model = ph_motion_model_make();
    client->motion_model.step_mm = (float)(UINT32_C(1) << def->layout->position->coordinate.shift);
    // Both, so that everything may be destroyed.
    const bool has_snapshots = create_snapshots(client);
    const bool has_arrays = create_arrays(client);
    if (!has_snapshots || !has_arrays) {
        ph_snapshot_client_destroy(client);
        return NULL;
    }
    return client;
}

void ph_snapshot_client_destroy(ph_snapshot_client* client)
{
    if (client == NULL) {
        return;
    }
    for (int i = 0; i < PH_SNAPSHOT_RING; ++i) {
        ph_snapshot_destroy(&client->ring[i]);
    }
    ph_snapshot_destroy(&client->newest);
    ph_snapshot_destroy(&client->decoded);
    free(client->turns);
    free(client->tracks);
    free(client->is_dirty);
    free(client->announced_key);
    free(client->announced);
    free(client->generation);
    free(client->parts.got);
    free(client->parts.bytes);
    free(client);
}

// ---- snapshots

static void orientation_of(const ph_snapshot_layout* layout, const uint8_t* block,
                           float rotation[4])
{
    const ph_snapshot_property* property = &layout->properties[layout->orientation];
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    double parts[4];
    ph_snapshot_load(property, block, words);
    ph_property_restore_field(property->described, PH_FIELD_F64X4, words, parts);
    for (int k = 0; k < 4; ++k) {
        rotation[k] = (float)parts[k];
    }
}

static void feed_track(ph_snapshot_client* client, int slot, bool has_heading)
{
    const ph_snapshot_layout* layout = layout_of(client);
    const ph_snapshot* newest = &client->newest;
    const uint8_t* block = ph_snapshot_block(newest, layout, slot);
    ph_track* track = &client->tracks[slot];
    const int64_t time_us = (int64_t)newest->tick * client->def.tick_us;
    if (has_heading) {
        const ph_snapshot_property* heading = &layout->properties[layout->heading];
        const ph_angle* angle = &heading->described->angle;
        const uint32_t level = (uint32_t)ph_snapshot_number(heading, block);
        ph_heading_track_add(&track->heading, time_us,
                             (float)(ph_angle_decode(angle, level) / angle->turn * 360.0));
    }
    if (layout->orientation >= 0) {
        float rotation[4];
        orientation_of(layout, block, rotation);
        ph_turn_track_add(&client->turns[slot], time_us, rotation, false);
    }
    uint32_t position[3];
    ph_snapshot_load_position(block, position);
    // x and y are rounded down; the middle of the step is shown.
    const uint32_t centre_mm = (UINT32_C(1) << layout->position->coordinate.shift) / 2;
    const int64_t jump_age = newest->jump_ages[slot];
    const int64_t since_ticks = (time_us - track->time_us) / client->def.tick_us;
    const ph_sample sample = {
        .time_us = time_us,
        .position_mm = {(int32_t)(position[0] + centre_mm), (int32_t)(position[1] + centre_mm),
                        (int32_t)position[2]},
        .is_jump = jump_age > 0 && track->count > 0 && jump_age <= since_ticks,
    };
    ph_track_add(track, &client->motion_model, &sample);
}

// The heading is known, or is another than it was: it is sent within its distance only.
static bool is_heading_new(const ph_snapshot_layout* layout, const uint8_t* was, const uint8_t* is)
{
    if (layout->heading < 0) {
        return false;
    }
    const ph_snapshot_property* heading = &layout->properties[layout->heading];
    return was != NULL
               ? !ph_snapshot_is_same_value(heading, was, is)
               : memcmp(is + heading->offset, heading->described->initial, heading->size) != 0;
}

static void apply_slot(ph_snapshot_client* client, int slot)
{
    const ph_snapshot_layout* layout = layout_of(client);
    const ph_snapshot* decoded = &client->decoded;
    ph_snapshot* newest = &client->newest;
    const bool was_there = client->has_newest && newest->is_there[slot];
    const bool is_same_entity =
        was_there && decoded->is_there[slot] && newest->keys[slot] == decoded->keys[slot];
    const uint8_t* is = ph_snapshot_block(decoded, layout, slot);
    uint8_t* was = ph_snapshot_block(newest, layout, slot);
    const bool has_heading = is_heading_new(layout, is_same_entity ? was : NULL, is);
    newest->is_there[slot] = decoded->is_there[slot];
    if (!decoded->is_there[slot]) {
        return;
    }
    if (!is_same_entity) {
        ++client->generation[slot];
        client->tracks[slot] = (ph_track){0};
        if (client->turns != NULL) {
            client->turns[slot] = (ph_turn_track){0};
        }
    }
    client->is_dirty[slot] |= !is_same_entity || memcmp(was, is, (size_t)layout->stride) != 0;
    newest->keys[slot] = decoded->keys[slot];
    newest->jump_ages[slot] = decoded->jump_ages[slot];
    memcpy(was, is, (size_t)layout->stride);
    feed_track(client, slot, has_heading);
}

static double rtt_of(const ph_snapshot_client* client, uint64_t now_us, uint32_t baseline,
                     uint8_t wait)
{
    const acking* acked = &client->acks[baseline % PH_SNAPSHOT_RING];
    if (wait == PH_SNAPSHOT_WAIT_UNKNOWN || !acked->is_acked || acked->is_asked_again ||
        now_us < acked->acked_us) {
        return PH_CLOCK_NO_RTT;
    }
    // The wait is cut to whole units: on average half of one was lost.
    const double rtt_us =
        (double)(now_us - acked->acked_us) - (wait + 0.5) * (double)PH_SNAPSHOT_WAIT_US;
    return rtt_us > 1.0 ? rtt_us : 1.0;
}

static const ph_snapshot* find_baseline(const ph_snapshot_client* client, uint32_t sequence)
{
    const ph_snapshot* found = &client->ring[sequence % PH_SNAPSHOT_RING];
    return found->is_used && found->sequence == sequence ? found : NULL;
}

static void apply(ph_snapshot_client* client, uint64_t now_us, uint64_t left_us,
                  const ph_snapshot_head* head)
{
    const ph_snapshot_layout* layout = layout_of(client);
    ph_snapshot* decoded = &client->decoded;
    const uint32_t sequence = decoded->sequence;
    const uint32_t base = (sequence - (uint32_t)head->back) % PH_SNAPSHOT_SEQUENCES;
    const double rtt_us =
        head->back > 0 ? rtt_of(client, left_us, base, head->wait) : PH_CLOCK_NO_RTT;
    ph_clock_add(&client->clock, left_us, (double)decoded->tick * client->def.tick_us, rtt_us);
    const acking* before = &client->acks[client->newest.sequence % PH_SNAPSHOT_RING];
    const bool is_rare = !client->has_newest || now_us >= before->came_us + RARE_US;
    client->newest.tick = decoded->tick;
    for (int slot = 0; slot < layout->slot_count; ++slot) {
        apply_slot(client, slot);
    }
    client->newest.sequence = sequence;
    client->newest.entity_count = decoded->entity_count;
    client->has_newest = true;
    ph_snapshot* kept = &client->ring[sequence % PH_SNAPSHOT_RING];
    ph_snapshot_copy(kept, decoded, layout);
    kept->is_used = true;
    client->acks[sequence % PH_SNAPSHOT_RING] = (acking){.came_us = now_us, .is_rare = is_rare};
    client->leave_cursor = 0;
    client->change_cursor = 0;
}

// Bytes of a whole snapshot. left_us: when what left with its tick came.
static ph_result take(ph_snapshot_client* client, uint64_t now_us, uint64_t left_us,
                      uint32_t sequence, const uint8_t* bytes, size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    const ph_snapshot_head head = ph_snapshot_read_head(&reader);
    const uint32_t base = (sequence - (uint32_t)head.back) % PH_SNAPSHOT_SEQUENCES;
    const ph_snapshot* baseline = head.back > 0 ? find_baseline(client, base) : NULL;
    if (ph_bit_reader_result(&reader) != PH_OK || (head.back > 0 && baseline == NULL)) {
        return PH_ERROR_VALUE;
    }
    if (ph_snapshot_read(&reader, layout_of(client), baseline, &client->decoded) != PH_OK) {
        return PH_ERROR_VALUE;
    }
    client->decoded.sequence = sequence;
    client->decoded.tick = head.tick + (head.is_whole_tick ? 0 : baseline->tick);
    if (client->has_newest && client->decoded.tick < client->newest.tick) {
        return PH_ERROR_VALUE;
    }
    apply(client, now_us, left_us, &head);
    return PH_OK;
}

// ---- datagrams

typedef struct fragment {
    uint32_t sequence;
    bool is_fragment;
    int number;
    bool is_last;
    const uint8_t* bytes;
    size_t size;
} fragment;

static bool read_fragment(const ph_snapshot_client* client, const uint8_t* bytes, size_t size,
                          fragment* read)
{
    if (size <= PH_SNAPSHOT_DATAGRAM_HEAD || size > (size_t)layout_of(client)->payload_max) {
        return false;
    }
    const uint32_t first = bytes[0] | (uint32_t)bytes[1] << 8;
    *read = (fragment){
        .sequence = first & 0x7FFFu,
        .is_fragment = first >> 15 != 0,
        .bytes = bytes + PH_SNAPSHOT_DATAGRAM_HEAD,
        .size = size - PH_SNAPSHOT_DATAGRAM_HEAD,
    };
    if (!read->is_fragment) {
        return true;
    }
    if (size <= PH_SNAPSHOT_FRAGMENT_HEAD) {
        return false;
    }
    const uint32_t second = bytes[2] | (uint32_t)bytes[3] << 8;
    read->number = (int)(second & 0x7FFFu);
    read->is_last = second >> 15 != 0;
    read->bytes = bytes + PH_SNAPSHOT_FRAGMENT_HEAD;
    read->size = size - PH_SNAPSHOT_FRAGMENT_HEAD;
    return read->number < client->fragment_capacity &&
           (read->is_last || read->size == ph_snapshot_fragment_bytes(layout_of(client))) &&
           !(read->is_last && read->number == 0);
}

static void begin_assembly(ph_snapshot_client* client, uint32_t sequence)
{
    assembly* parts = &client->parts;
    memset(parts->got, 0, (size_t)client->fragment_capacity * sizeof(bool));
    parts->sequence = sequence;
    parts->is_begun = true;
    parts->count = 0;
    parts->got_count = 0;
    parts->highest = -1;
    parts->size = 0;
}

// Whether the fragment goes with those that came before.
static bool is_consistent(const assembly* parts, const fragment* read)
{
    if (parts->count > 0) {
        return read->number < parts->count && read->is_last == (read->number == parts->count - 1);
    }
    return !read->is_last || read->number > parts->highest;
}

static ph_result take_fragment(ph_snapshot_client* client, uint64_t now_us, const fragment* read)
{
    assembly* parts = &client->parts;
    if (!parts->is_begun || parts->sequence != read->sequence) {
        if (parts->is_begun &&
            ph_snapshot_sequence_difference(read->sequence, parts->sequence) < 0) {
            return PH_ERROR_STALE;
        }
        begin_assembly(client, read->sequence);
    }
    if (!is_consistent(parts, read)) {
        return PH_ERROR_VALUE;
    }
    if (parts->got[read->number]) {
        return PH_ERROR_STALE;
    }
    parts->got[read->number] = true;
    ++parts->got_count;
    parts->highest = read->number > parts->highest ? read->number : parts->highest;
    memcpy(parts->bytes + (size_t)read->number * ph_snapshot_fragment_bytes(layout_of(client)),
           read->bytes, read->size);
    if (read->number == 0) {
        parts->first_us = now_us;
    }
    if (read->is_last) {
        parts->count = read->number + 1;
        parts->size =
            (size_t)read->number * ph_snapshot_fragment_bytes(layout_of(client)) + read->size;
    }
    if (parts->count == 0 || parts->got_count < parts->count) {
        return PH_OK;
    }
    parts->is_begun = false;
    return take(client, now_us, parts->first_us, read->sequence, parts->bytes, parts->size);
}

static ph_result receive(ph_snapshot_client* client, uint64_t now_us, const uint8_t* bytes,
                         size_t size)
{
    fragment read;
    if (!read_fragment(client, bytes, size, &read)) {
        return PH_ERROR_VALUE;
    }
    const int newer = client->has_newest
                          ? ph_snapshot_sequence_difference(read.sequence, client->newest.sequence)
                          : 1;
    if (newer == 0) { // the ack may have been lost
        acking* acked = &client->acks[read.sequence % PH_SNAPSHOT_RING];
        acked->is_asked_again = acked->is_acked;
        acked->is_reacked = false;
    }
    if (newer <= 0) {
        return PH_ERROR_STALE;
    }
    if (read.is_fragment) {
        return take_fragment(client, now_us, &read);
    }
    const ph_result result = take(client, now_us, now_us, read.sequence, read.bytes, read.size);
    if (result == PH_OK &&
        ph_snapshot_sequence_difference(read.sequence, client->parts.sequence) > 0) {
        client->parts.is_begun = false; // the rest of it would come too late
    }
    return result;
}

ph_result ph_snapshot_client_receive(ph_snapshot_client* client, uint64_t now_us, const void* bytes,
                                     size_t size)
{
    const ph_result result = receive(client, now_us, bytes, size);
    ++client->arrivals.received;
    client->arrivals.late += result == PH_ERROR_STALE ? 1 : 0;
    client->arrivals.refused += result == PH_ERROR_VALUE ? 1 : 0;
    return result;
}

// ---- acks

size_t ph_snapshot_client_write_ack(ph_snapshot_client* client, uint64_t now_us, uint8_t* bytes)
{
    if (!client->has_newest) {
        return 0;
    }
    const uint32_t sequence = client->newest.sequence;
    acking* acked = &client->acks[sequence % PH_SNAPSHOT_RING];
    acked->is_reacked = acked->is_acked;
    if (!acked->is_acked) {
        acked->is_acked = true;
        acked->acked_us = now_us;
    }
    const uint64_t lag_ms = (now_us - acked->acked_us + 500) / 1000;
    bytes[0] = (uint8_t)sequence;
    bytes[1] = (uint8_t)(sequence >> 8);
    bytes[2] = (uint8_t)(lag_ms < PH_SNAPSHOT_LAG_UNKNOWN ? lag_ms : PH_SNAPSHOT_LAG_UNKNOWN);
    return PH_SNAPSHOT_ACK_SIZE;
}

uint64_t ph_snapshot_client_ack_due_us(const ph_snapshot_client* client)
{
    const acking* acked = &client->acks[client->newest.sequence % PH_SNAPSHOT_RING];
    if (!client->has_newest || acked->is_reacked) {
        return UINT64_MAX;
    }
    if (!acked->is_acked || acked->is_asked_again) {
        return acked->came_us;
    }
    return acked->is_rare ? acked->acked_us + REACK_US : UINT64_MAX;
}

// ---- what is shown

void ph_snapshot_client_advance(ph_snapshot_client* client, uint64_t now_us)
{
    const uint64_t last_us = client->has_advanced ? client->advanced_us : now_us;
    const int64_t elapsed_us = now_us > last_us ? (int64_t)(now_us - last_us) : 0;
    const int64_t delay_us = (int64_t)client->def.show_delay_ms * 1000;
    const double server_us = fmin(ph_clock_server_us(&client->clock, now_us), 0x1p62);
    const ph_frame_time frame = ph_frame_time_make((int64_t)server_us, elapsed_us, delay_us);
    for (int slot = 0; client->has_newest && slot < layout_of(client)->slot_count; ++slot) {
        if (client->newest.is_there[slot]) {
            ph_track_show(&client->tracks[slot], &client->motion_model, &frame);
            if (client->turns != NULL) {
                const ph_turn_track* turn = &client->turns[slot];
                ph_turn_track_show(&client->turns[slot],
                                   ph_motion_model_limit_s(&client->motion_model, turn->seconds[0]),
                                   &frame);
            }
        }
    }
    client->advanced_us = last_us + (uint64_t)elapsed_us;
    client->has_advanced = true;
}

static ph_entity_id id_at(const ph_snapshot_client* client, int slot)
{
    return (ph_entity_id){.index1 = (uint32_t)slot + 1, .generation = client->generation[slot]};
}

// The slot of an entity in view, or -1.
static int slot_of(const ph_snapshot_client* client, ph_entity_id entity)
{
    const bool is_slot = client->has_newest && entity.index1 > 0 &&
                         entity.index1 <= (uint32_t)layout_of(client)->slot_count;
    const int slot = is_slot ? (int)entity.index1 - 1 : 0;
    return is_slot && client->newest.is_there[slot] && client->generation[slot] == entity.generation
               ? slot
               : -1;
}

ph_result ph_snapshot_client_get_pose(const ph_snapshot_client* client, ph_entity_id entity,
                                      ph_pose* pose)
{
    const ph_snapshot_layout* layout = layout_of(client);
    const int slot = slot_of(client, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const ph_track* track = &client->tracks[slot];
    *pose = (ph_pose){.has_heading = layout->heading >= 0};
    ph_track_position(track, pose->position_mm);
    if (layout->orientation >= 0) {
        const float* q = client->turns[slot].shown;
        pose->has_rotation = client->turns[slot].is_shown;
        pose->has_heading = pose->has_rotation;
        pose->rotation = (ph_quaternion){(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        pose->heading_deg = (double)ph_turn_heading(q);
        return PH_OK;
    }
    if (track->heading.is_shown) {
        pose->heading_deg = (double)track->heading.shown;
    } else if (layout->heading >= 0) {
        const ph_snapshot_property* heading = &layout->properties[layout->heading];
        const ph_angle* angle = &heading->described->angle;
        const uint8_t* block = ph_snapshot_block(&client->newest, layout, slot);
        const uint32_t level = (uint32_t)ph_snapshot_number(heading, block);
        pose->heading_deg = ph_angle_decode(angle, level) / angle->turn * 360.0;
    }
    return PH_OK;
}

// ---- what is known

// All LEAVEs first, as the library's client.
bool ph_snapshot_client_poll(ph_snapshot_client* client, ph_event* event)
{
    const int slot_count = client->has_newest ? layout_of(client)->slot_count : 0;
    for (; client->leave_cursor < slot_count; ++client->leave_cursor) {
        const int slot = client->leave_cursor;
        const uint32_t announced = client->announced[slot];
        if (announced != 0 &&
            (!client->newest.is_there[slot] || announced != client->generation[slot])) {
            client->announced[slot] = 0;
            *event = (ph_event){.kind = PH_EVENT_LEAVE,
                                .entity = {(uint32_t)slot + 1, announced},
                                .key = client->announced_key[slot]};
            return true;
        }
    }
    for (; client->change_cursor < slot_count; ++client->change_cursor) {
        const int slot = client->change_cursor;
        if (!client->newest.is_there[slot] || !client->is_dirty[slot]) {
            continue;
        }
        *event = (ph_event){
            .kind = client->announced[slot] == 0 ? PH_EVENT_ENTER : PH_EVENT_UPDATE,
            .entity = id_at(client, slot),
            .key = client->newest.keys[slot],
            .properties = UINT64_MAX,
        };
        client->is_dirty[slot] = false;
        client->announced[slot] = client->generation[slot];
        client->announced_key[slot] = client->newest.keys[slot];
        return true;
    }
    return false;
}

static ph_result restore(const ph_snapshot_property* property, const uint8_t* block, ph_field field,
                         void* value, size_t size)
{
    if (property->described->is_text) {
        return ph_text_restore(ph_snapshot_text(property, block), field, value, size);
    }
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    ph_snapshot_load(property, block, words);
    return ph_property_restore_field(property->described, field, words, value);
}

ph_result ph_snapshot_client_get_property(const ph_snapshot_client* client, ph_entity_id entity,
                                          int property, ph_field field, void* value, size_t size)
{
    const ph_snapshot_layout* layout = layout_of(client);
    const int slot = slot_of(client, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const uint8_t* block = ph_snapshot_block(&client->newest, layout, slot);
    if (property == layout->position_property) {
        uint32_t words[3];
        ph_snapshot_load_position(block, words);
        return ph_property_suits(layout->position, field, size)
                   ? ph_property_restore_field(layout->position, field, words, value)
                   : PH_ERROR_ARGUMENT;
    }
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* one = &layout->properties[i];
        if (one->property == property && ph_property_suits(one->described, field, size)) {
            return restore(one, block, field, value, size);
        }
    }
    return PH_ERROR_ARGUMENT;
}

ph_entity_id ph_snapshot_client_find(const ph_snapshot_client* client, uint64_t key)
{
    for (int slot = 0; client->has_newest && slot < layout_of(client)->slot_count; ++slot) {
        if (client->newest.is_there[slot] && client->newest.keys[slot] == key) {
            return id_at(client, slot);
        }
    }
    return (ph_entity_id){0};
}

ph_entity_id ph_snapshot_client_entity_at(const ph_snapshot_client* client, int slot)
{
    const bool is_there = client->has_newest && slot >= 0 && slot < layout_of(client)->slot_count &&
                          client->newest.is_there[slot];
    return is_there ? id_at(client, slot) : (ph_entity_id){0};
}

ph_result ph_snapshot_client_identify(const ph_snapshot_client* client, ph_entity_id entity,
                                      uint64_t* key)
{
    const int slot = slot_of(client, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    *key = client->newest.keys[slot];
    return PH_OK;
}

const ph_snapshot* ph_snapshot_client_newest(const ph_snapshot_client* client)
{
    return client->has_newest ? &client->newest : NULL;
}

ph_sim_arrivals ph_snapshot_client_arrivals(const ph_snapshot_client* client)
{
    return client->arrivals;
}
