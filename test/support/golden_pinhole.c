// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden packets of the pinhole profile: baselines, writing, reading, the files.

#include "golden_pinhole.h"

#include "base/hash.h"
#include "client/client_state.h"
#include "golden_pinhole_text.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "pinhole/"

void golden_pinhole_setup(golden_pinhole* golden, const char* session, const ph_hello* hello)
{
    *golden = (golden_pinhole){.session = session, .hello = *hello};
    golden_setup_in(&golden->base, FOLDER, hello->slot_count);
    golden->hello.fingerprint = ph_schema_fingerprint(golden->base.schema);
    assert_in_range(golden->base.layouts.count, 1, GOLDEN_CLASSES);
    for (int i = 0; i < golden->base.layouts.count; ++i) {
        golden->packings[i] = ph_packing_make(&golden->base.layouts.layouts[i]);
        assert_in_range(golden->packings[i].stride, 1, GOLDEN_KNOWN);
    }
    ph_client_def def = ph_client_def_default();
    def.schema = golden->base.schema;
    def.profile = PH_PROFILE_PINHOLE;
    def.slot_capacity = GOLDEN_SLOTS;
    def.ground = golden->base.ground;
    assert_int_equal(ph_client_create(&def, &golden->client), PH_OK);
}

void golden_pinhole_teardown(golden_pinhole* golden)
{
    ph_client_destroy(golden->client);
    golden_teardown(&golden->base);
}

// ---- baselines

static ph_baseline_rules rules_of(const golden_pinhole* golden)
{
    return (ph_baseline_rules){.layouts = &golden->base.layouts,
                               .packings = golden->packings,
                               .tick_us = golden->hello.tick_us};
}

void golden_pinhole_moment(const golden_pinhole* golden, const golden_past* past, uint32_t horizon,
                           golden_moment* moment)
{
    const ph_baseline_rules rules = rules_of(golden);
    *moment = (golden_moment){0};
    for (int i = 0; i < past->count; ++i) {
        const golden_content* packet = &past->packets[i];
        if (horizon - packet->header.sequence > INT32_MAX) {
            return; // it is newer, and so are all behind it
        }
        moment->tick = packet->tick;
        moment->has_tick = true;
        for (int k = 0; k < packet->count; ++k) {
            const ph_record* record = &packet->coded[k].record;
            ph_baseline_take(&moment->baselines[record->slot], moment->known[record->slot], &rules,
                             record, packet->tick);
            if (record->kind == PH_RECORD_ENTER && record->key > moment->key_base) {
                moment->key_base = record->key;
            }
        }
    }
}

static ph_pinhole_frame frame_of(golden_pinhole* golden, const golden_moment* moment,
                                 const ph_header* header, uint32_t tick)
{
    return (ph_pinhole_frame){.frame = golden->base.frame,
                              .packings = golden->packings,
                              .key_base = moment->key_base,
                              .tick = tick,
                              .tick_us = golden->hello.tick_us,
                              .density = header->density,
                              .precision = golden->hello.precision,
                              .is_universal = golden->hello.version == PH_UNIVERSAL_VERSION};
}

// ---- the script

void golden_pinhole_begin(golden_pinhole* golden, const ph_header* header, uint32_t tick,
                          const int32_t eye_mm[3])
{
    ph_header full = *header;
    if (full.has_hello) {
        full.hello = golden->hello;
        full.horizon = golden->hello.session;
    }
    golden_pinhole_moment(golden, &golden->sent, full.horizon, &golden->moment);
    if (!full.is_probe) {
        const uint32_t since = tick - golden->moment.tick;
        const bool is_near = golden->moment.has_tick && since < PH_PINHOLE_TICK_WHOLE;
        full.tick = is_near ? (uint16_t)since : PH_PINHOLE_TICK_WHOLE;
        full.whole_tick = is_near ? 0 : tick;
    }
    golden_begin(&golden->base, &full, eye_mm);
    memset(golden->coarse, 0, sizeof golden->coarse);
    memset(golden->rotation_coarse, 0, sizeof golden->rotation_coarse);
    memset(golden->is_carried, 0, sizeof golden->is_carried);
    golden->frame = frame_of(golden, &golden->moment, &full, tick);
    golden->frame.counts = &golden->counts;
}

static ph_record* last_record(golden_pinhole* golden)
{
    assert_true(golden->base.record_count > 0);
    return &golden->base.records[golden->base.record_count - 1];
}

void golden_pinhole_velocity(golden_pinhole* golden, int x, int y, int z)
{
    ph_record* record = last_record(golden);
    assert_int_equal(record->kind, PH_RECORD_ENTER);
    record->velocity[0] = (int16_t)x;
    record->velocity[1] = (int16_t)y;
    record->velocity[2] = (int16_t)z;
}

void golden_pinhole_spread(golden_pinhole* golden, ph_pinhole_spread spread)
{
    golden->frame.spread = spread;
}

void golden_pinhole_jump(golden_pinhole* golden)
{
    ph_record* record = last_record(golden);
    assert_int_equal(record->kind, PH_RECORD_ENTER);
    record->is_jump = true;
}

void golden_pinhole_coarse(golden_pinhole* golden)
{
    const ph_record* record = last_record(golden);
    const ph_layout* layout = &golden->base.layouts.layouts[record->class_index];
    uint32_t* words = record->words + layout->word[layout->described->position];
    int coarse;
    if (record->kind == PH_RECORD_ENTER) {
        coarse = ph_pinhole_round_enter(&golden->frame, layout, words);
    } else {
        coarse = ph_pinhole_coarse(&golden->frame, &golden->moment.baselines[record->slot]);
        assert_true(ph_pinhole_round(&golden->frame, layout, coarse, words));
    }
    assert_true(coarse > 0);
    golden->coarse[golden->base.record_count - 1] = (uint8_t)coarse;
}

void golden_pinhole_packet_step(golden_pinhole* golden, int step)
{
    golden->frame.step = step;
}

void golden_pinhole_step(golden_pinhole* golden, int coarse)
{
    const ph_record* record = last_record(golden);
    const ph_layout* layout = &golden->base.layouts.layouts[record->class_index];
    assert_in_range(coarse, 0, layout->finer);
    assert_true(
        ph_pinhole_round(&golden->frame, layout, coarse, record->words + layout->position_word));
    golden->coarse[golden->base.record_count - 1] = (uint8_t)coarse;
}

void golden_pinhole_spin(golden_pinhole* golden, int x, int y, int z)
{
    ph_record* record = last_record(golden);
    assert_int_equal(record->kind, PH_RECORD_ENTER);
    record->spin[0] = (int16_t)x;
    record->spin[1] = (int16_t)y;
    record->spin[2] = (int16_t)z;
}

void golden_pinhole_rotation_coarse(golden_pinhole* golden, int coarse)
{
    const ph_record* record = last_record(golden);
    const ph_layout* layout = &golden->base.layouts.layouts[record->class_index];
    assert_int_equal(ph_pinhole_round_orientation(layout, record, coarse), coarse);
    golden->rotation_coarse[golden->base.record_count - 1] = (uint8_t)coarse;
}

void golden_pinhole_carried(golden_pinhole* golden)
{
    assert_int_equal(last_record(golden)->kind, PH_RECORD_UPDATE);
    golden->is_carried[golden->base.record_count - 1] = true;
}

// What the script says, as the sender has it.
static void gather(const golden_pinhole* golden, golden_content* content)
{
    const golden_session* base = &golden->base;
    *content = (golden_content){
        .header = base->header,
        .tick = golden->frame.tick,
        .count = base->record_count,
        .spread = golden->frame.spread,
        .step = golden->frame.step,
    };
    for (int i = 0; i < base->record_count; ++i) {
        ph_pinhole_record* coded = &content->coded[i];
        coded->record = base->records[i];
        memcpy(content->words[i], coded->record.words, sizeof content->words[i]);
        memcpy(content->texts[i], coded->record.texts, sizeof content->texts[i]);
        coded->record.words = content->words[i];
        coded->record.texts = content->texts[i];
        coded->coarse = golden->coarse[i];
        coded->rotation_coarse = golden->rotation_coarse[i];
        coded->is_carried = golden->is_carried[i];
    }
}

// ---- writing

static const ph_pinhole_neighbour* before_of(const ph_pinhole_frame* frame, golden_content* content,
                                             int index)
{
    if (index == 0 || content->coded[index - 1].record.kind != content->coded[index].record.kind ||
        content->coded[index].record.kind == PH_RECORD_UPDATE) {
        return NULL;
    }
    content->neighbours[index] = ph_pinhole_neighbour_of(frame, &content->coded[index - 1]);
    return &content->neighbours[index];
}

// The baseline of an update, and what carries its slot.
static void set_baseline(const ph_pinhole_frame* frame, const golden_moment* moment,
                         golden_content* content, int index)
{
    ph_pinhole_record* coded = &content->coded[index];
    ph_pinhole_carrier* carrier = &content->carriers[index];
    coded->baseline = &moment->baselines[coded->record.slot];
    coded->known = moment->known[coded->record.slot];
    const int slot = ph_pinhole_carrier_slot(frame, coded->baseline, coded->known);
    if (slot < 0 || slot >= GOLDEN_SLOTS ||
        !ph_pinhole_can_carry(frame, coded->baseline, &moment->baselines[slot])) {
        return;
    }
    *carrier = (ph_pinhole_carrier){&moment->baselines[slot], moment->known[slot], NULL};
    for (int i = 0; i < index; ++i) {
        const ph_record* before = &content->coded[i].record;
        if (before->slot == slot &&
            ph_carrier_step_make(frame, carrier->known, before, &content->steps[index])) {
            carrier->step = &content->steps[index];
        }
    }
    coded->carrier = carrier;
}

static void write_record(const ph_pinhole_frame* frame, ph_entropy_writer* writer,
                         golden_content* content, int index)
{
    const size_t before = ph_bit_writer_size_bits(&writer->raw);
    ph_pinhole_write(frame, writer, &content->coded[index]);
    content->raw_bits[index] = (int)(ph_bit_writer_size_bits(&writer->raw) - before);
}

static void write_records(const ph_pinhole_frame* frame, const golden_moment* moment,
                          ph_entropy_writer* writer, golden_content* content)
{
    const int named = content->header.leave_count + content->header.enter_count;
    for (int i = 0; i < named; ++i) {
        if (i == content->header.leave_count) {
            ph_pinhole_write_spread(frame, writer, content->header.enter_count);
        }
        content->coded[i].before = before_of(frame, content, i);
        write_record(frame, writer, content, i);
    }
    int next = named;
    for (int slot = 0; slot < GOLDEN_SLOTS; ++slot) {
        const ph_baseline* baseline = &moment->baselines[slot];
        if (!baseline->is_entered) {
            continue;
        }
        const bool is_told = next < content->count && content->coded[next].record.slot == slot;
        ph_pinhole_write_told(frame, writer, ph_pinhole_urgency(frame, baseline), is_told);
        if (is_told) {
            set_baseline(frame, moment, content, next);
            write_record(frame, writer, content, next++);
        }
    }
    assert_int_equal(next, content->count);
}

static size_t write_packet(const golden_pinhole* golden, golden_content* content,
                           uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
    ph_pinhole_header_write(&content->header, &writer.raw);
    if (!content->header.is_probe) {
        ph_pinhole_write_step(&golden->frame, &writer);
        write_records(&golden->frame, &golden->moment, &writer, content);
    }
    const int all_bits = (int)ph_entropy_writer_size_bits(&writer);
    const int raw_bits = (int)ph_bit_writer_size_bits(&writer.raw);
    const size_t size = ph_entropy_writer_finish(&writer);
    assert_true(size > 0);
    content->end_bits[0] = all_bits - raw_bits;
    content->end_bits[1] = raw_bits;
    content->end_bits[2] = 8 * (int)size - all_bits;
    return size;
}

// ---- reading

static ph_pinhole_record* open_record(const ph_pinhole_frame* frame, golden_content* content,
                                      ph_record_kind kind)
{
    assert_true(content->count < GOLDEN_RECORDS);
    const int index = content->count++;
    ph_pinhole_record* coded = &content->coded[index];
    *coded = (ph_pinhole_record){.record = {.kind = (uint8_t)kind,
                                            .words = content->words[index],
                                            .texts = content->texts[index]}};
    coded->before = before_of(frame, content, index);
    return coded;
}

static void read_named(const ph_pinhole_frame* frame, ph_entropy_reader* reader,
                       golden_content* content, ph_record_kind kind)
{
    const size_t before = reader->raw.position_bits;
    ph_pinhole_record* coded = open_record(frame, content, kind);
    ph_pinhole_read_identity(frame, reader, coded);
    assert_true(coded->record.slot < GOLDEN_SLOTS);
    if (kind == PH_RECORD_ENTER) {
        ph_pinhole_read(frame, reader, coded);
    }
    content->raw_bits[content->count - 1] = (int)(reader->raw.position_bits - before);
}

// The association of an update is nowhere in the packet: it is that of the newest enter.
static uint32_t association_of(const golden_past* past, int slot)
{
    uint32_t association = 0;
    for (int i = 0; i < past->count; ++i) {
        for (int k = 0; k < past->packets[i].count; ++k) {
            const ph_record* record = &past->packets[i].coded[k].record;
            if (record->kind == PH_RECORD_ENTER && record->slot == slot) {
                association = record->association;
            }
        }
    }
    return association;
}

static void read_updates(const golden_pinhole* golden, const ph_pinhole_frame* frame,
                         const golden_moment* moment, ph_entropy_reader* reader,
                         golden_content* content)
{
    for (int slot = 0; slot < GOLDEN_SLOTS; ++slot) {
        const ph_baseline* baseline = &moment->baselines[slot];
        if (!baseline->is_entered ||
            !ph_pinhole_read_told(frame, reader, ph_pinhole_urgency(frame, baseline))) {
            continue;
        }
        const size_t before = reader->raw.position_bits;
        ph_pinhole_record* coded = open_record(frame, content, PH_RECORD_UPDATE);
        coded->record.slot = (uint16_t)slot;
        coded->record.class_index = baseline->class_index;
        coded->record.association = association_of(&golden->heard, slot);
        set_baseline(frame, moment, content, content->count - 1);
        ph_pinhole_read(frame, reader, coded);
        content->raw_bits[content->count - 1] = (int)(reader->raw.position_bits - before);
    }
}

static void read_packet(golden_pinhole* golden, const golden_moment* moment, const uint8_t* bytes,
                        size_t size, golden_content* content)
{
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    *content = (golden_content){0};
    ph_header* header = &content->header;
    const uint32_t newest = golden->heard.count > 0
                                ? golden->heard.packets[golden->heard.count - 1].header.sequence
                                : golden->hello.session;
    ph_pinhole_header_read(&reader.raw, newest, header);
    content->tick =
        header->tick == PH_PINHOLE_TICK_WHOLE ? header->whole_tick : moment->tick + header->tick;
    ph_pinhole_frame frame = frame_of(golden, moment, header, content->tick);
    if (!header->is_probe) {
        ph_pinhole_read_step(&frame, &reader);
        content->step = frame.step;
    }
    for (int i = 0; i < header->leave_count + header->enter_count; ++i) {
        if (i == header->leave_count) {
            ph_pinhole_read_spread(&frame, &reader, header->enter_count);
            content->spread = frame.spread;
        }
        read_named(&frame, &reader, content,
                   i < header->leave_count ? PH_RECORD_LEAVE : PH_RECORD_ENTER);
    }
    if (!header->is_probe) {
        read_updates(golden, &frame, moment, &reader, content);
    }
    content->end_bits[1] = (int)reader.raw.position_bits;
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
}

// ---- the packet is finished

static void add(golden_past* past, const golden_content* content)
{
    assert_true(past->count < GOLDEN_PACKETS);
    golden_content* kept = &past->packets[past->count++];
    *kept = *content;
    for (int i = 0; i < kept->count; ++i) {
        kept->coded[i].before = NULL; // lies in the other content
        kept->coded[i].record.words = kept->words[i];
        kept->coded[i].record.texts = kept->texts[i];
    }
}

static void compare(const golden_pinhole* golden, const char* name, const void* bytes, size_t size)
{
    char file_name[200];
    snprintf(file_name, sizeof file_name, FOLDER "%s_%s", golden->session, name);
    golden_compare(file_name, bytes, size);
}

static void compare_both(const golden_pinhole* golden, const char* name, const uint8_t* bytes,
                         size_t size, const golden_lines* said)
{
    char file_name[100];
    snprintf(file_name, sizeof file_name, "%s.bin", name);
    compare(golden, file_name, bytes, size);
    snprintf(file_name, sizeof file_name, "%s.txt", name);
    compare(golden, file_name, said->text, (size_t)said->length);
}

void golden_pinhole_shown(golden_pinhole* golden)
{
    static golden_lines lines;
    golden_print_shown(&lines, golden->client);
    compare(golden, "shown.txt", lines.text, (size_t)lines.length);
}

static void give_to_client(golden_pinhole* golden, const golden_content* content,
                           const uint8_t* bytes, size_t size)
{
    golden->now_us += golden->hello.tick_us;
    assert_int_equal(ph_client_receive(golden->client, golden->now_us, bytes, size), PH_OK);
    if (content->header.is_probe) {
        return;
    }
    const ph_baseline_rules rules = rules_of(golden);
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < golden->hello.slot_count; ++i) {
        ph_hash_add_u64(&hash, ph_baseline_digest(&golden->moment.baselines[i],
                                                  golden->moment.known[i], &rules));
    }
    assert_true(ph_client_baseline_digest(golden->client) == ph_hash_value(&hash));
}

void golden_pinhole_end(golden_pinhole* golden, const char* name)
{
    static golden_content said;
    static golden_content heard;
    static golden_moment moment;
    static golden_lines said_lines;
    static golden_lines heard_lines;
    uint8_t bytes[PH_PAYLOAD_MAX] = {0};
    gather(golden, &said);
    const size_t size = write_packet(golden, &said, bytes);
    golden_print_pinhole(&said_lines, golden, &golden->moment, &said);

    golden_pinhole_moment(golden, &golden->heard, said.header.horizon, &moment);
    read_packet(golden, &moment, bytes, size, &heard);
    heard.end_bits[0] = said.end_bits[0];
    heard.end_bits[2] = said.end_bits[2];
    golden_print_pinhole(&heard_lines, golden, &moment, &heard);
    assert_string_equal(said_lines.text, heard_lines.text);

    give_to_client(golden, &said, bytes, size);
    if (!said.header.is_probe) {
        add(&golden->sent, &said);
        add(&golden->heard, &heard);
    }
    compare_both(golden, name, bytes, size, &said_lines);
}
