// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client of the pinhole profile and packets written by hand.

#include "pinhole_scene.h"

#include "base/hash.h"
#include "client/client_state.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"

#include <pinhole/stats.h>

#include <string.h>

void pinhole_scene_setup(pinhole_scene* scene)
{
    scene->applied_count = 0;
    scene->precision = 0;
    client_scene_setup_profile(&scene->base, PH_PROFILE_PINHOLE, SCENE_SLOTS, SCENE_SLOTS);
    for (int i = 0; i < PINHOLE_CLASSES; ++i) {
        scene->packings[i] = ph_packing_make(&scene->base.layouts.layouts[i]);
        assert_in_range(scene->packings[i].stride, 1, PINHOLE_STRIDE);
    }
}

void pinhole_scene_teardown(pinhole_scene* scene)
{
    client_scene_teardown(&scene->base);
}

// ---- packets

client_packet pinhole_packet_after(const pinhole_scene* scene, int number, int horizon)
{
    client_packet packet = client_packet_after(&scene->base, number, horizon);
    packet.header.whole_tick = (uint32_t)number;
    return packet;
}

client_packet pinhole_packet_make(const pinhole_scene* scene, int number)
{
    client_packet packet = client_packet_make(&scene->base, number);
    packet.header.whole_tick = (uint32_t)number;
    packet.header.hello.version = PH_PINHOLE_VERSION;
    packet.header.hello.precision = scene->precision;
    return packet;
}

client_packet pinhole_packet_place(const pinhole_scene* scene, int number, int horizon,
                                   int32_t x_mm)
{
    client_packet packet = pinhole_packet_after(scene, number, horizon);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, x_mm, 0, 0);
    return packet;
}

client_packet pinhole_packet_probe(const pinhole_scene* scene, int number)
{
    client_packet packet = client_packet_probe(&scene->base, number);
    packet.header.tick = 0;
    return packet;
}

// ---- baselines

static ph_baseline_rules rules_of(const pinhole_scene* scene)
{
    return (ph_baseline_rules){
        .layouts = &scene->base.layouts, .packings = scene->packings, .tick_us = SCENE_TICK_US};
}

pinhole_baselines pinhole_scene_baselines(const pinhole_scene* scene, uint32_t horizon)
{
    const ph_baseline_rules rules = rules_of(scene);
    pinhole_baselines made = {0};
    for (int i = 0; i < scene->applied_count; ++i) {
        const client_packet* packet = &scene->applied[i];
        if ((int32_t)(horizon - packet->header.sequence) < 0) {
            break;
        }
        made.tick = packet->header.whole_tick;
        made.has_tick = true;
        for (int k = 0; k < packet->count; ++k) {
            ph_record record = packet->records[k].record;
            uint32_t words[SCENE_WORDS_MAX];
            memcpy(words, packet->records[k].words, sizeof words);
            record.words = words;
            ph_baseline_take(&made.slots[record.slot], made.known[record.slot], &rules, &record,
                             packet->header.whole_tick);
            if (record.kind == PH_RECORD_ENTER && record.key > made.key_base) {
                made.key_base = record.key;
            }
        }
    }
    return made;
}

uint64_t pinhole_scene_digest(const pinhole_scene* scene, uint32_t horizon)
{
    const ph_baseline_rules rules = rules_of(scene);
    const pinhole_baselines baselines = pinhole_scene_baselines(scene, horizon);
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < SCENE_SLOTS; ++i) {
        ph_hash_add_u64(&hash, ph_baseline_digest(&baselines.slots[i], baselines.known[i], &rules));
    }
    return ph_hash_value(&hash);
}

// ---- writing

ph_pinhole_frame pinhole_scene_frame(const pinhole_scene* scene, const client_packet* packet,
                                     const pinhole_baselines* baselines)
{
    return (ph_pinhole_frame){
        .frame = {.layouts = &scene->base.layouts,
                  .ground = &scene->base.ground,
                  .slot_bits = packet->slot_bits,
                  .eye_mm = {packet->eye_mm[0], packet->eye_mm[1], packet->eye_mm[2]}},
        .packings = scene->packings,
        .key_base = baselines->key_base,
        .tick = packet->header.whole_tick,
        .tick_us = SCENE_TICK_US,
        .density = packet->header.density,
        .precision = scene->precision,
    };
}

static void prepare_header(client_packet* packet, const pinhole_baselines* baselines)
{
    ph_header* header = &packet->header;
    header->leave_count = 0;
    header->enter_count = 0;
    for (int i = 0; i < packet->count; ++i) {
        header->leave_count += packet->records[i].record.kind == PH_RECORD_LEAVE;
        header->enter_count += packet->records[i].record.kind == PH_RECORD_ENTER;
        const bool is_update = packet->records[i].record.kind == PH_RECORD_UPDATE;
        if (is_update && header->density == PH_DENSITY_NONE) {
            header->density = PH_DENSITIES / 2;
        }
    }
    if (header->has_eye) {
        memcpy(header->eye_mm, packet->eye_mm, sizeof header->eye_mm);
    }
    const uint32_t since = header->whole_tick - baselines->tick;
    if (!header->is_probe) {
        header->tick = baselines->has_tick && since < PH_PINHOLE_TICK_WHOLE ? (uint16_t)since
                                                                            : PH_PINHOLE_TICK_WHOLE;
    }
}

static void write_changes(const ph_pinhole_frame* frame, client_packet* packet, ph_record_kind kind,
                          ph_entropy_writer* writer)
{
    ph_pinhole_neighbour before;
    bool is_first = true;
    if (kind == PH_RECORD_ENTER) {
        ph_pinhole_write_spread(frame, writer, packet->header.enter_count);
    }
    for (int i = 0; i < packet->count; ++i) {
        const ph_record* record = &packet->records[i].record;
        if (record->kind != (uint8_t)kind) {
            continue;
        }
        const ph_pinhole_record coded = {.record = *record, .before = is_first ? NULL : &before};
        ph_pinhole_write(frame, writer, &coded);
        before = ph_pinhole_neighbour_of(frame, &coded);
        is_first = false;
    }
}

static const client_record* find_update(const client_packet* packet, int slot)
{
    for (int i = 0; i < packet->count; ++i) {
        const ph_record* record = &packet->records[i].record;
        if (record->kind == PH_RECORD_UPDATE && record->slot == slot) {
            return &packet->records[i];
        }
    }
    return NULL;
}

static void write_updates(const ph_pinhole_frame* frame, const client_packet* packet,
                          const pinhole_baselines* baselines, ph_entropy_writer* writer)
{
    for (int slot = 0; slot < SCENE_SLOTS; ++slot) {
        const ph_baseline* baseline = &baselines->slots[slot];
        const client_record* it = find_update(packet, slot);
        if (!baseline->is_entered) {
            assert_null(it); // cannot be written at all
            continue;
        }
        ph_pinhole_write_told(frame, writer, ph_pinhole_urgency(frame, baseline), it != NULL);
        if (it != NULL) {
            const ph_pinhole_record coded = {.record = it->record,
                                             .baseline = baseline,
                                             .known = baselines->known[slot],
                                             .coarse = it->coarse};
            ph_pinhole_write(frame, writer, &coded);
        }
    }
}

void pinhole_packet_write(const pinhole_scene* scene, client_packet* packet)
{
    const pinhole_baselines baselines = pinhole_scene_baselines(scene, packet->header.horizon);
    prepare_header(packet, &baselines);
    for (int i = 0; i < packet->count; ++i) {
        packet->records[i].record.words = packet->records[i].words;
        packet->records[i].record.texts = packet->records[i].texts;
    }
    const ph_pinhole_frame frame = pinhole_scene_frame(scene, packet, &baselines);
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, packet->bytes, sizeof packet->bytes);
    ph_pinhole_header_write(&packet->header, &writer.raw);
    if (!packet->header.is_probe) {
        ph_pinhole_write_step(&frame, &writer);
        write_changes(&frame, packet, PH_RECORD_LEAVE, &writer);
        write_changes(&frame, packet, PH_RECORD_ENTER, &writer);
        write_updates(&frame, packet, &baselines, &writer);
    }
    packet->size = ph_entropy_writer_finish(&writer);
    assert_true(packet->size > 0);
}

// ---- sending

ph_result pinhole_scene_send(pinhole_scene* scene, client_packet* packet)
{
    pinhole_packet_write(scene, packet);
    const ph_result result = client_scene_receive(&scene->base, packet->bytes, packet->size);
    if (result == PH_OK && !packet->header.is_probe) {
        assert_in_range(scene->applied_count, 0, PINHOLE_PACKETS_MAX - 1);
        scene->applied[scene->applied_count++] = *packet;
        assert_int_equal(ph_client_baseline_digest(scene->base.client),
                         pinhole_scene_digest(scene, packet->header.horizon));
    }
    return result;
}

void pinhole_scene_apply(pinhole_scene* scene, client_packet* packet)
{
    assert_int_equal(pinhole_scene_send(scene, packet), PH_OK);
}

void pinhole_scene_refuse(pinhole_scene* scene, client_packet* packet, ph_client_refusal reason)
{
    if (packet->size == 0) {
        pinhole_packet_write(scene, packet);
    }
    client_scene_refuse(&scene->base, packet, reason);
}

void pinhole_scene_setup_begun(pinhole_scene* scene)
{
    pinhole_scene_setup(scene);
    client_packet packet = pinhole_packet_make(scene, 1);
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    client_packet_enter(&packet, 1, 1, SCENE_WALKER, 11);
    assert_int_equal(pinhole_scene_send(scene, &packet), PH_OK);
    ph_event event;
    while (ph_client_poll(scene->base.client, &event)) {
    }
}

int32_t pinhole_scene_x_mm(const pinhole_scene* scene, uint64_t name)
{
    return client_scene_walker(&scene->base, name).position_mm[0];
}
