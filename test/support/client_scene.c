// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client and packets written by hand.

#include "client_scene.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

#include <string.h>

static const ph_property_def walker_properties[WALKER_PROPERTY_COUNT] = {
    {.name = "position",
     .coding = PH_CODING_POSITION,
     .field = PH_FIELD_I32X3,
     .offset = offsetof(walker, position_mm)},
    {.name = "heading",
     .coding = PH_CODING_ANGLE,
     .field = PH_FIELD_F64,
     .offset = offsetof(walker, heading_deg)},
    {.name = "health",
     .coding = PH_CODING_RANGE,
     .hi = 100,
     .default_value = 100,
     .field = PH_FIELD_U8,
     .offset = offsetof(walker, health)},
    {.name = "target",
     .coding = PH_CODING_ENTITY,
     .field = PH_FIELD_ENTITY,
     .offset = offsetof(walker, target)},
    {.name = "name",
     .coding = PH_CODING_STRING,
     .max_length = 12,
     .field = PH_FIELD_TEXT,
     .offset = offsetof(walker, name)},
    {.name = "badge",
     .coding = PH_CODING_BYTES,
     .max_length = 6,
     .field = PH_FIELD_BYTES,
     .offset = offsetof(walker, badge)},
    {.name = "secret", .coding = PH_CODING_RANGE, .hi = 1000},
};

static const ph_property_def stone_properties[] = {
    {.name = "place", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 100},
};

static const ph_class_def classes[] = {
    {.name = "walker",
     .properties = walker_properties,
     .property_count = WALKER_PROPERTY_COUNT,
     .struct_size = sizeof(walker)},
    {.name = "stone", .properties = stone_properties, .property_count = 1},
};

ph_schema* client_scene_schema(void)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_create(classes, 2, NULL, &schema, &error) != PH_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    return schema;
}

static int layers(const void* context, int64_t x_mm, int64_t y_mm, int64_t heights_mm[])
{
    (void)context;
    int count = 0;
    if (x_mm >= 0) {
        heights_mm[count++] = 5000;
    }
    if (y_mm >= 0) {
        heights_mm[count++] = 9000;
    }
    return count;
}

// ---- the client

void client_scene_setup_profile(client_scene* scene, ph_profile profile, int slot_count,
                                int slot_capacity)
{
    *scene = (client_scene){
        .schema = client_scene_schema(), .ground = {.layers = layers}, .slot_count = slot_count};
    assert_int_equal(ph_layouts_create(&scene->layouts, scene->schema, NULL), PH_OK);
    assert_in_range(scene->layouts.word_count_max, 1, SCENE_WORDS_MAX);
    assert_in_range(scene->layouts.text_bytes_max, 1, SCENE_TEXTS_MAX);
    ph_client_def def = ph_client_def_default();
    def.schema = scene->schema;
    def.profile = profile;
    def.slot_capacity = slot_capacity;
    def.ground = scene->ground;
    def.allocator = test_memory_allocator(&scene->memory);
    assert_int_equal(ph_client_create(&def, &scene->client), PH_OK);
}

void client_scene_setup_with(client_scene* scene, int slot_count, int slot_capacity)
{
    client_scene_setup_profile(scene, PH_PROFILE_CLASSIC, slot_count, slot_capacity);
}

void client_scene_setup(client_scene* scene)
{
    client_scene_setup_with(scene, SCENE_SLOTS, SCENE_SLOTS);
}

void client_scene_teardown(client_scene* scene)
{
    ph_client_destroy(scene->client);
    test_memory_assert_clean(&scene->memory);
    ph_layouts_destroy(&scene->layouts);
    ph_schema_destroy(scene->schema);
}

// ---- packets

client_packet client_packet_after(const client_scene* scene, int number, int horizon)
{
    return (client_packet){
        .layouts = &scene->layouts,
        .ground = &scene->ground,
        .slot_bits = ph_slot_bits(scene->slot_count),
        .header = {.sequence = SCENE_SESSION + (uint32_t)number,
                   .horizon = SCENE_SESSION + (uint32_t)horizon,
                   .tick = (uint16_t)(number % (1 << PH_TICK_BITS)),
                   .wait = PH_WAIT_UNKNOWN},
    };
}

client_packet client_packet_make(const client_scene* scene, int number)
{
    client_packet packet = client_packet_after(scene, number, 0);
    packet.header.has_hello = true;
    packet.header.has_eye = true;
    packet.header.hello = (ph_hello){
        .fingerprint = ph_schema_fingerprint(scene->schema),
        .session = SCENE_SESSION,
        .tick_us = SCENE_TICK_US,
        .slot_count = (uint16_t)scene->slot_count,
        .version = PH_CLASSIC_VERSION,
    };
    return packet;
}

client_packet client_packet_probe(const client_scene* scene, int number)
{
    client_packet packet = client_packet_after(scene, number, number);
    packet.header.is_probe = true;
    return packet;
}

static client_record* add(client_packet* packet, ph_record_kind kind, int slot,
                          uint32_t association)
{
    assert_in_range(packet->count, 0, SCENE_RECORDS_MAX - 1);
    client_record* it = &packet->records[packet->count++];
    it->record =
        (ph_record){.kind = (uint8_t)kind, .slot = (uint16_t)slot, .association = association};
    return it;
}

void client_packet_leave(client_packet* packet, int slot, uint32_t association)
{
    add(packet, PH_RECORD_LEAVE, slot, association);
}

client_record* client_packet_enter(client_packet* packet, int slot, uint32_t association,
                                   int class_index, uint64_t name)
{
    client_record* it = add(packet, PH_RECORD_ENTER, slot, association);
    it->record.class_index = (uint8_t)class_index;
    it->record.key = name;
    ph_layout_reset(&packet->layouts->layouts[class_index], it->words, it->texts);
    client_record_place(it, packet, 0, 0, 0);
    return it;
}

client_record* client_packet_update(client_packet* packet, int slot, uint32_t association)
{
    return add(packet, PH_RECORD_UPDATE, slot, association);
}

static uint32_t* tell(client_record* it, const client_packet* packet, int property)
{
    it->record.properties |= UINT64_C(1) << property;
    return it->words + packet->layouts->layouts[it->record.class_index].word[property];
}

void client_record_place(client_record* it, const client_packet* packet, int32_t x_mm, int32_t y_mm,
                         int32_t z_mm)
{
    const ph_layout* layout = &packet->layouts->layouts[it->record.class_index];
    ph_layout_round_position(layout, packet->ground, (int32_t[3]){x_mm, y_mm, z_mm},
                             tell(it, packet, layout->described->position));
}

void client_record_health(client_record* it, const client_packet* packet, int health)
{
    *tell(it, packet, WALKER_HEALTH) = (uint32_t)health;
}

void client_record_target(client_record* it, const client_packet* packet, int slot,
                          uint32_t association)
{
    uint32_t* words = tell(it, packet, WALKER_TARGET);
    words[0] = (uint32_t)(slot + 1);
    words[1] = association;
}

void client_record_text(client_record* it, const client_packet* packet, int property,
                        const char* text)
{
    tell(it, packet, property);
    ph_layout_store_text(
        &packet->layouts->layouts[it->record.class_index], it->texts, property,
        (ph_text){.bytes = (const uint8_t*)text, .length = (uint16_t)strlen(text)});
}

void client_packet_write(client_packet* packet)
{
    const ph_frame frame = {
        .layouts = packet->layouts,
        .ground = packet->ground,
        .slot_bits = packet->slot_bits,
        .eye_mm = {packet->eye_mm[0], packet->eye_mm[1], packet->eye_mm[2]},
    };
    int counts[3] = {0};
    for (int i = 0; i < packet->count; ++i) {
        ++counts[packet->records[i].record.kind];
    }
    if (packet->header.leave_count == 0 && packet->header.enter_count == 0) {
        packet->header.leave_count = counts[PH_RECORD_LEAVE];
        packet->header.enter_count = counts[PH_RECORD_ENTER];
    }
    if (packet->header.has_eye) {
        memcpy(packet->header.eye_mm, packet->eye_mm, sizeof packet->eye_mm);
    }
    ph_bit_writer writer = ph_bit_writer_make(packet->bytes, sizeof packet->bytes);
    ph_header_write(&packet->header, &writer);
    for (int i = 0; i < packet->count; ++i) {
        client_record* it = &packet->records[i];
        it->record.words = it->words;
        it->record.texts = it->texts;
        ph_classic_write_record(&frame, &it->record, &writer);
    }
    packet->size = ph_bit_writer_finish(&writer);
    assert_true(packet->size > 0);
}

// ---- sending

ph_result client_scene_receive(client_scene* scene, const void* bytes, size_t size)
{
    scene->now_us += SCENE_TICK_US;
    const int allocations = scene->memory.allocate_count;
    const ph_result result = ph_client_receive(scene->client, scene->now_us, bytes, size);
    assert_int_equal(scene->memory.allocate_count, allocations);
    assert_true(ph_client_validate(scene->client));
    return result;
}

ph_result client_scene_send(client_scene* scene, client_packet* packet)
{
    client_packet_write(packet);
    return client_scene_receive(scene, packet->bytes, packet->size);
}

void client_scene_refuse(client_scene* scene, client_packet* packet, ph_client_refusal reason)
{
    static const ph_result results[PH_CLIENT_REFUSAL_COUNT] = {
        [PH_CLIENT_REFUSAL_OLD] = PH_ERROR_STALE,    [PH_CLIENT_REFUSAL_EARLY] = PH_ERROR_STALE,
        [PH_CLIENT_REFUSAL_HELLO] = PH_ERROR_SCHEMA, [PH_CLIENT_REFUSAL_SEQUENCE] = PH_ERROR_VALUE,
        [PH_CLIENT_REFUSAL_SIZE] = PH_ERROR_VALUE,   [PH_CLIENT_REFUSAL_RECORD] = PH_ERROR_VALUE,
    };
    if (packet->size == 0) {
        client_packet_write(packet);
    }
    ph_client_stats before = ph_client_get_stats(scene->client);
    const uint64_t digest = ph_client_digest(scene->client);
    assert_int_equal(client_scene_receive(scene, packet->bytes, packet->size), results[reason]);
    const ph_client_stats after = ph_client_get_stats(scene->client);
    assert_int_equal(ph_client_digest(scene->client), digest);
    for (int i = 0; i < PH_CLIENT_REFUSAL_COUNT; ++i) {
        assert_int_equal(after.refused_datagrams[i],
                         before.refused_datagrams[i] + (i == (int)reason ? 1 : 0));
    }
    assert_int_equal(after.applied_packets + after.received_probes,
                     before.applied_packets + before.received_probes);
}

void client_scene_begin(client_scene* scene)
{
    client_packet packet = client_packet_make(scene, 1);
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    client_packet_enter(&packet, 1, 1, SCENE_WALKER, 11);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    ph_event event;
    while (ph_client_poll(scene->client, &event)) {
    }
}

walker client_scene_walker(const client_scene* scene, uint64_t name)
{
    walker it = {0};
    const ph_entity_id id = ph_client_find(scene->client, name);
    assert_int_equal(ph_client_get_struct(scene->client, id, &it), PH_OK);
    return it;
}
