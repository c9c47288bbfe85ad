// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Prints packets of the pinhole profile, from both ends, and its static tables.

#include "golden_pinhole_text.h"

#include "client/client_state.h"
#include "packet/pinhole_records.h"

#include <inttypes.h>
#include <stdio.h>

static void print_header(golden_lines* lines, const golden_content* content)
{
    const ph_header* header = &content->header;
    lines->length = 0;
    golden_print(lines,
                 "header number=%" PRIu32 " horizon=%" PRIu32 " tick=%d wait=%d probe=%d hello=%d "
                 "eye=%d density=%d leaves=%d enters=%d",
                 header->sequence, header->horizon, header->tick, header->wait, header->is_probe,
                 header->has_hello, header->has_eye, header->density, header->leave_count,
                 header->enter_count);
    if (!header->is_probe) {
        golden_print(lines, " whole=%" PRIu32, content->tick);
    }
    golden_print(lines, "\n");
    if (header->has_hello) {
        const ph_hello* hello = &header->hello;
        golden_print(lines,
                     "hello version=%d slots=%d tick_us=%" PRIu32 " session=%" PRIu32
                     " fingerprint=0x%016" PRIx64 " precision=%d\n",
                     hello->version, hello->slot_count, hello->tick_us, hello->session,
                     hello->fingerprint, hello->precision);
    }
    golden_print_eye(lines, header);
    if (!header->is_probe) {
        golden_print(lines, "step %d\n", content->step);
    }
}

static void print_turning(golden_lines* lines, const ph_packing* packing, int width,
                          const uint8_t* known)
{
    ph_turning_state it;
    ph_turning_load(packing, known, &it);
    const ph_quaternion_levels mark = ph_rotation_levels_of_words(width, it.mark);
    golden_print(lines,
                 " turning=%d,%d spin=%d,%d,%d,%" PRIu32 ",%" PRIu32 " mark=%" PRIu32
                 ",%d,%d,%d,%d turned_tick=%" PRIu32,
                 it.kept_size, it.turned_size, it.spin.axis[0], it.spin.axis[1], it.spin.axis[2],
                 it.spin.half, it.spin.between, it.mark_tick, mark.largest, mark.rest[0],
                 mark.rest[1], mark.rest[2], it.tick);
}

static void print_baseline(golden_lines* lines, const golden_pinhole* golden,
                           const ph_pinhole_frame* frame, const golden_moment* moment, int slot)
{
    const ph_baseline* it = &moment->baselines[slot];
    const uint8_t* known = moment->known[slot];
    const ph_class* described = golden->base.layouts.layouts[it->class_index].described;
    golden_print(lines, "baseline slot=%d class=%s mask=%d sizes=%d,%d,%d,%d heading_tick=%" PRIu32,
                 slot, described->def.name, it->told_mask, it->plane_size, it->z_size,
                 it->heading_size, it->turned_size, it->heading_tick);
    for (int i = 0; i < it->sample_count; ++i) {
        golden_print(lines, " sample=%" PRIu32 ",%d,%d,%d", it->tick[i], it->position_mm[i][0],
                     it->position_mm[i][1], it->position_mm[i][2]);
    }
    int32_t predicted_mm[3];
    ph_baseline_predict(it, frame->tick, frame->tick_us, predicted_mm);
    golden_print(lines, " predicted=%d,%d,%d", predicted_mm[0], predicted_mm[1], predicted_mm[2]);
    if (golden->packings[it->class_index].turning != 0) {
        print_turning(lines, &golden->packings[it->class_index],
                      golden->base.layouts.layouts[it->class_index].orientation_bits, known);
    }
    golden_print(lines, " coarse=%d urgency=%d\n", ph_pinhole_coarse(frame, it),
                 ph_pinhole_urgency(frame, it));
}

static void print_spread(golden_lines* lines, const golden_content* content)
{
    golden_print(lines, "spread coarse=%d place=%d velocity=%d heading=%d name=%d motion=%d\n",
                 content->spread.coarse, content->spread.place, content->spread.velocity,
                 content->spread.heading, content->spread.key, content->spread.motion);
}

static void print_record(golden_lines* lines, const golden_pinhole* golden,
                         const golden_content* content, int index)
{
    if (index == content->header.leave_count && content->header.enter_count >= 2) {
        print_spread(lines, content);
    }
    static const char* const kinds[] = {"leave", "enter", "update"};
    const ph_pinhole_record* coded = &content->coded[index];
    const ph_record* record = &coded->record;
    golden_print(lines, "%s slot=%d association=%" PRIu32, kinds[record->kind], record->slot,
                 record->association & 3);
    if (record->kind == PH_RECORD_LEAVE) {
        golden_print(lines, " raw=%d\n", content->raw_bits[index]);
        return;
    }
    const ph_layout* layout = &golden->base.layouts.layouts[record->class_index];
    golden_print(lines, " class=%s", layout->described->def.name);
    if (record->kind == PH_RECORD_ENTER) {
        golden_print(lines, " name=%" PRIu64 " jump=%d coarse=%d velocity=%d,%d,%d", record->key,
                     record->is_jump, coded->before != NULL ? coded->coarse : 0,
                     record->velocity[0], record->velocity[1], record->velocity[2]);
        if (layout->orientation != 0) {
            const ph_pinhole_neighbour told = ph_pinhole_neighbour_of(&golden->frame, coded);
            golden_print(lines, " rotation=%d spin=%d,%d,%d", told.rotation_symbol, record->spin[0],
                         record->spin[1], record->spin[2]);
        }
    } else {
        golden_print(lines, " jump=%d coarse=%d", record->is_jump, coded->coarse);
        if ((record->properties & layout->orientation) != 0) {
            golden_print(lines, " rotation=%d", coded->rotation_coarse);
        }
        golden_print(lines, "%s", coded->is_carried ? " carried=1" : "");
    }
    golden_print(lines, " raw=%d :", content->raw_bits[index]);
    golden_print_values(lines, layout, record);
}

void golden_print_pinhole(golden_lines* lines, golden_pinhole* golden, const golden_moment* moment,
                          const golden_content* content)
{
    const ph_header* header = &content->header;
    ph_pinhole_frame frame = golden->frame;
    frame.tick = content->tick;
    frame.density = header->density;
    print_header(lines, content);
    int next = 0;
    for (; next < header->leave_count + header->enter_count; ++next) {
        print_record(lines, golden, content, next);
    }
    for (int slot = 0; slot < GOLDEN_SLOTS && !header->is_probe; ++slot) {
        if (moment->baselines[slot].is_entered) {
            print_baseline(lines, golden, &frame, moment, slot);
        }
        if (next < content->count && content->coded[next].record.slot == slot) {
            print_record(lines, golden, content, next++);
        }
    }
    golden_print(lines, "end symbols=%d raw=%d spare=%d\n", content->end_bits[0],
                 content->end_bits[1], content->end_bits[2]);
}

// ---- what a client shows

void golden_print_slot(golden_lines* lines, const ph_client_entities* entities, int slot)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    const ph_record all = {.properties = UINT64_MAX,
                           .words = ph_client_entities_words(entities, slot),
                           .texts = ph_client_entities_texts(entities, slot)};
    golden_print(lines, "slot=%d association=%" PRIu32 " class=%s name=%" PRIu64 " :", slot,
                 entities->association[slot], layout->described->def.name, entities->key[slot]);
    golden_print_values(lines, layout, &all);
}

void golden_print_shown(golden_lines* lines, const ph_client* client)
{
    lines->length = 0;
    for (int slot = 0; slot < client->entities.slot_count; ++slot) {
        if (ph_bitset_test(&client->entities.is_entered, slot)) {
            golden_print_slot(lines, &client->entities, slot);
        }
    }
}

// ---- tables

typedef struct page {
    char* text;
    size_t capacity;
    size_t length;
} page;

static void put(page* out, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->length +=
        (size_t)vsnprintf(out->text + out->length, out->capacity - out->length, format, arguments);
    va_end(arguments);
    assert_true(out->length < out->capacity);
}

static void put_row(page* out, const uint16_t* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        put(out, "%s%d", i > 0 ? " " : "    ", numbers[i]);
    }
    put(out, "\n");
}

static void put_family(page* out, const ph_pinhole_family_info* info)
{
    put(out, "family %s %d %d\n", info->name, info->models, info->symbols);
    for (int model = 0; model < info->models; ++model) {
        const uint16_t* entry = ph_pinhole_cumulative + info->first + model * (info->symbols + 1);
        uint16_t parts[PH_MODEL_SYMBOLS_MAX];
        for (int i = 0; i < info->symbols; ++i) {
            parts[i] = (uint16_t)(entry[i + 1] - entry[i]);
        }
        put_row(out, parts, info->symbols);
    }
}

static void put_costs(page* out, const ph_pinhole_family_info* info)
{
    put(out, "costs %s %d %d\n", info->name, info->models, info->symbols);
    for (int model = 0; model < info->models; ++model) {
        put_row(out, ph_pinhole_costs + info->first + model * (info->symbols + 1), info->symbols);
    }
}

size_t golden_print_tables(char* text, size_t capacity)
{
    page out = {.text = text, .capacity = capacity};
    put(&out, "# The static models of the pinhole profile, docs/wire_pinhole.md. One model a line: "
              "parts of 32768.\n");
    for (int i = 0; i < PH_FAMILY_COUNT; ++i) {
        put_family(&out, &ph_pinhole_families[i]);
    }
    put_costs(&out, &ph_pinhole_families[PH_FAMILY_NUMBER]);
    put_costs(&out, &ph_pinhole_families[PH_FAMILY_BESIDE_NUMBER]);
    return out.length;
}
