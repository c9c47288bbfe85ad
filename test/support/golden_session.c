// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden packets: the script's slots, the packet, the files.

#include "golden_session.h"

#include "golden_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "test/golden/"

// ---- the ground: rows of ground.txt, the first that holds the place counts

typedef struct ground_row {
    int32_t x_from;
    int32_t x_to;
    int32_t y_from;
    int32_t y_to;
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
} ground_row;

static const ground_row GROUND[] = {
    {0, 100000, 0, 100000, {-200, 4800, 12000}, 3},
    {0, 100000, -100000, 0, {-200}, 1},
    {-100000, 0, 0, 100000, {0, 1500, 3000, 4500, 6000, 7500, 9000, 10500}, 8},
};

static int ground_layers(const void* context, int64_t x_mm, int64_t y_mm,
                         int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    for (size_t i = 0; i < sizeof GROUND / sizeof GROUND[0]; ++i) {
        const ground_row* row = &GROUND[i];
        if (x_mm >= row->x_from && x_mm < row->x_to && y_mm >= row->y_from && y_mm < row->y_to) {
            memcpy(heights_mm, row->heights_mm, (size_t)row->count * sizeof heights_mm[0]);
            return row->count;
        }
    }
    return 0;
}

static void compare_ground(const char* file_name)
{
    char text[1024];
    int length =
        snprintf(text, sizeof text, "# x from, to; y from, to; heights of the layers, in mm\n");
    for (size_t i = 0; i < sizeof GROUND / sizeof GROUND[0]; ++i) {
        const ground_row* row = &GROUND[i];
        length += snprintf(text + length, sizeof text - (size_t)length, "%d %d %d %d", row->x_from,
                           row->x_to, row->y_from, row->y_to);
        for (int k = 0; k < row->count; ++k) {
            length += snprintf(text + length, sizeof text - (size_t)length, " %d",
                               (int)row->heights_mm[k]);
        }
        length += snprintf(text + length, sizeof text - (size_t)length, "\n");
    }
    golden_compare(file_name, text, (size_t)length);
}

// ---- files

size_t golden_load(const char* file_name, uint8_t* bytes, size_t capacity)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s", file_name);
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s is missing; run from the root of the tree", path);
    }
    const size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

static void store(const char* file_name, const void* bytes, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s", file_name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

void golden_compare(const char* file_name, const void* bytes, size_t size)
{
    if (getenv("PINHOLE_GOLDEN_WRITE") != NULL) {
        store(file_name, bytes, size);
    }
    static uint8_t kept[GOLDEN_FILE_MAX];
    const size_t kept_size = golden_load(file_name, kept, sizeof kept);
    if (kept_size != size || memcmp(kept, bytes, size) != 0) {
        fail_msg("%s%s is not what is written now", FOLDER, file_name);
    }
}

// ---- a session

void golden_setup(golden_session* golden, int slot_count)
{
    golden_setup_in(golden, "", slot_count);
}

void golden_setup_in(golden_session* golden, const char* folder, int slot_count)
{
    static uint8_t text[GOLDEN_LINES];
    char file_name[100];
    *golden = (golden_session){.ground = {.layers = ground_layers}};
    snprintf(file_name, sizeof file_name, "%sschema.txt", folder);
    const size_t length = golden_load(file_name, text, sizeof text);
    ph_error error;
    if (ph_schema_parse((const char*)text, length, NULL, &golden->schema, &error) != PH_OK) {
        fail_msg("%s:%d:%d: %s", file_name, error.line, error.column, error.text);
    }
    snprintf(file_name, sizeof file_name, "%sground.txt", folder);
    compare_ground(file_name);
    assert_int_equal(ph_layouts_create(&golden->layouts, golden->schema, NULL), PH_OK);
    assert_true(golden->layouts.word_count_max <= GOLDEN_WORDS);
    assert_true(golden->layouts.text_bytes_max <= GOLDEN_TEXTS);
    golden->frame = (ph_frame){.layouts = &golden->layouts,
                               .ground = &golden->ground,
                               .slot_bits = ph_slot_bits(slot_count)};
}

void golden_teardown(golden_session* golden)
{
    ph_layouts_destroy(&golden->layouts);
    ph_schema_destroy(golden->schema);
}

// ---- entities

static const ph_layout* layout_at(const golden_session* golden, int slot)
{
    return &golden->layouts.layouts[golden->class_of[slot]];
}

static int find(const golden_session* golden, int slot, const char* property)
{
    const int index = ph_schema_find_property(golden->schema, golden->class_of[slot], property);
    assert_true(index >= 0);
    return index;
}

static void quantise(golden_session* golden, int slot, const char* name, ph_field field,
                     const void* value)
{
    const int index = find(golden, slot, name);
    const ph_layout* layout = layout_at(golden, slot);
    assert_int_equal(ph_property_quantise_field(&layout->described->properties[index], field, value,
                                                golden->words[slot] + layout->word[index]),
                     PH_OK);
}

void golden_dress(golden_session* golden, int slot, const char* class_name)
{
    golden->class_of[slot] = (uint8_t)ph_schema_find_class(golden->schema, class_name);
    ph_layout_reset(layout_at(golden, slot), golden->words[slot], golden->texts[slot]);
}

void golden_place(golden_session* golden, int slot, int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    const ph_layout* layout = layout_at(golden, slot);
    ph_layout_round_position(layout, &golden->ground, (int32_t[]){x_mm, y_mm, z_mm},
                             golden->words[slot] + layout->word[layout->described->position]);
}

void golden_number(golden_session* golden, int slot, const char* property, double value)
{
    const ph_layout* layout = layout_at(golden, slot);
    const ph_coding coding = layout->described->properties[find(golden, slot, property)].def.coding;
    if (coding == PH_CODING_FIXED || coding == PH_CODING_ANGLE) {
        quantise(golden, slot, property, PH_FIELD_F64, &value);
    } else {
        quantise(golden, slot, property, PH_FIELD_I64, &(int64_t){(int64_t)value});
    }
}

void golden_vector(golden_session* golden, int slot, const char* property, double x, double y,
                   double z)
{
    quantise(golden, slot, property, PH_FIELD_F64X3, (double[]){x, y, z});
}

void golden_rotation(golden_session* golden, int slot, const char* property, double x, double y,
                     double z, double w)
{
    quantise(golden, slot, property, PH_FIELD_F64X4, (double[]){x, y, z, w});
}

void golden_text(golden_session* golden, int slot, const char* property, const char* bytes,
                 int length)
{
    ph_layout_store_text(layout_at(golden, slot), golden->texts[slot], find(golden, slot, property),
                         (ph_text){(const uint8_t*)bytes, (uint16_t)length});
}

void golden_target(golden_session* golden, int slot, const char* property, int target,
                   uint32_t association)
{
    uint32_t* words =
        golden->words[slot] + layout_at(golden, slot)->word[find(golden, slot, property)];
    words[0] = target < 0 ? 0 : (uint32_t)target + 1;
    words[1] = target < 0 ? 0 : association;
}

// ---- a packet

void golden_begin(golden_session* golden, const ph_header* header, const int32_t eye_mm[3])
{
    golden->header = *header;
    golden->record_count = 0;
    memcpy(golden->frame.eye_mm, eye_mm, sizeof golden->frame.eye_mm);
}

static ph_record* add(golden_session* golden, ph_record_kind kind, int slot, uint32_t association)
{
    assert_true(golden->record_count < GOLDEN_RECORDS);
    ph_record* record = &golden->records[golden->record_count++];
    *record = (ph_record){.kind = (uint8_t)kind,
                          .slot = (uint16_t)slot,
                          .association = association,
                          .class_index = golden->class_of[slot],
                          .words = golden->words[slot],
                          .texts = golden->texts[slot]};
    return record;
}

void golden_leave(golden_session* golden, int slot, uint32_t association)
{
    (void)add(golden, PH_RECORD_LEAVE, slot, association);
}

void golden_enter(golden_session* golden, int slot, uint32_t association, uint64_t name)
{
    ph_record* record = add(golden, PH_RECORD_ENTER, slot, association);
    const ph_layout* layout = layout_at(golden, slot);
    record->key = name;
    record->properties = layout->position;
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if (!ph_layout_is_initial(layout, record->words, record->texts, i)) {
            record->properties |= UINT64_C(1) << i;
        }
    }
}

void golden_enter_again(golden_session* golden, int slot, uint32_t association, uint64_t name)
{
    golden_enter(golden, slot, association, name);
    golden->records[golden->record_count - 1].is_jump = true;
}

void golden_update(golden_session* golden, int slot, uint32_t association, const char* properties,
                   bool is_jump)
{
    ph_record* record = add(golden, PH_RECORD_UPDATE, slot, association);
    record->is_jump = is_jump;
    char name[PH_SCHEMA_NAME_MAX + 1];
    int length = 0;
    for (; sscanf(properties, "%31s%n", name, &length) == 1; properties += length) {
        record->properties |= UINT64_C(1) << find(golden, slot, name);
    }
}

static void write_packet(const golden_session* golden, ph_bit_writer* writer)
{
    ph_header_write(&golden->header, writer);
    for (int i = 0; i < golden->record_count; ++i) {
        ph_classic_write_record(&golden->frame, &golden->records[i], writer);
    }
}

static size_t finish(const golden_session* golden, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    write_packet(golden, &writer);
    const size_t size = ph_bit_writer_finish(&writer);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
    return size;
}

static void compare_pair(const char* name, const uint8_t* bytes, size_t size, const char* text)
{
    char file_name[100];
    snprintf(file_name, sizeof file_name, "%s.bin", name);
    golden_compare(file_name, bytes, size);
    snprintf(file_name, sizeof file_name, "%s.txt", name);
    golden_compare(file_name, text, strlen(text));
}

void golden_end_refused(golden_session* golden, const char* name)
{
    uint8_t bytes[PH_PAYLOAD_MAX] = {0};
    const size_t size = finish(golden, bytes);
    compare_pair(name, bytes, size, "refused\n");
}

void golden_end(golden_session* golden, const char* name)
{
    uint8_t bytes[PH_PAYLOAD_MAX] = {0};
    const size_t size = finish(golden, bytes);

    static golden_lines said;
    static golden_lines heard;
    golden_print_packet(&said, golden, size);
    golden_print_bytes(&heard, golden, bytes, size);
    assert_string_equal(said.text, heard.text);
    compare_pair(name, bytes, size, said.text);
}
