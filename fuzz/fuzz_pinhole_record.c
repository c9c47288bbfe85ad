// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads packets of the pinhole profile, one behind the other: the input is a byte of length, so many
// bytes, and so on. Each is read against the baselines that the ones before it have left. What is
// accepted must be written again as the same bytes, at no more than the promised cost.

#include "support/record_schema.h"

#include "packet/pinhole_records.h"
#include "packet/header.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, KNOWN_MAX = 256 };

typedef struct client {
    ph_packing packings[FUZZ_RECORD_CLASSES];
    ph_baseline_rules rules;
    ph_pinhole_frame frame;
    ph_baseline baselines[SLOTS];
    uint8_t known[SLOTS][KNOWN_MAX];
    uint32_t newest;
} client;

// Records of one packet, to be written again.
typedef struct packet {
    ph_header header;
    ph_pinhole_record coded[SLOTS + 2 * PH_PINHOLE_COUNT_MAX];
    ph_pinhole_neighbour neighbours[SLOTS + 2 * PH_PINHOLE_COUNT_MAX];
    uint32_t words[SLOTS + 2 * PH_PINHOLE_COUNT_MAX][FUZZ_RECORD_WORDS_MAX];
    uint8_t texts[SLOTS + 2 * PH_PINHOLE_COUNT_MAX][FUZZ_RECORD_TEXTS_MAX];
    int count;
} packet;

// What takes long is made once; everything else anew for each input.
static void start(client* it)
{
    const ph_layouts* layouts = fuzz_record_layouts("angle 12");
    *it = (client){.newest = 100};
    for (int i = 0; i < FUZZ_RECORD_CLASSES; ++i) {
        it->packings[i] = ph_packing_make(&layouts->layouts[i]);
    }
    it->rules = (ph_baseline_rules){.layouts = layouts, .packings = it->packings, .tick_us = 50000};
    it->frame = (ph_pinhole_frame){
        .frame = {.layouts = layouts, .ground = &fuzz_record_ground, .slot_bits = 8},
        .packings = it->packings,
        .tick_us = 50000,
        .precision = 2048};
}

static ph_pinhole_record* add_record(const client* it, packet* read, ph_record_kind kind)
{
    ph_pinhole_record* coded = &read->coded[read->count];
    ph_pinhole_neighbour* before = &read->neighbours[read->count];
    const bool has_before = read->count > 0 && kind != PH_RECORD_UPDATE &&
                            read->coded[read->count - 1].record.kind == kind;
    if (has_before) {
        *before = ph_pinhole_neighbour_of(&it->frame, &read->coded[read->count - 1]);
    }
    *coded = (ph_pinhole_record){.record = {.kind = (uint8_t)kind,
                                            .words = read->words[read->count],
                                            .texts = read->texts[read->count]},
                                 .before = has_before ? before : NULL};
    read->count += 1;
    return coded;
}

static bool read_named(client* it, ph_entropy_reader* reader, packet* read)
{
    for (int i = 0; i < read->header.leave_count + read->header.enter_count; ++i) {
        const bool is_enter = i >= read->header.leave_count;
        if (i == read->header.leave_count) {
            ph_pinhole_read_spread(&it->frame, reader, read->header.enter_count);
        }
        ph_pinhole_record* coded =
            add_record(it, read, is_enter ? PH_RECORD_ENTER : PH_RECORD_LEAVE);
        ph_pinhole_read_identity(&it->frame, reader, coded);
        if (ph_entropy_reader_result(reader) != PH_OK || coded->record.slot >= SLOTS ||
            (is_enter && it->baselines[coded->record.slot].is_entered)) {
            return false;
        }
        if (is_enter) {
            ph_pinhole_read(&it->frame, reader, coded);
        }
    }
    return true;
}

static void read_updates(client* it, ph_entropy_reader* reader, packet* read)
{
    for (int i = 0; i < SLOTS; ++i) {
        const ph_baseline* baseline = &it->baselines[i];
        if (baseline->is_entered &&
            ph_pinhole_read_told(&it->frame, reader, ph_pinhole_urgency(&it->frame, baseline))) {
            ph_pinhole_record* coded = add_record(it, read, PH_RECORD_UPDATE);
            coded->record.slot = (uint16_t)i;
            coded->record.class_index = baseline->class_index;
            coded->baseline = baseline;
            coded->known = it->known[i];
            ph_pinhole_read(&it->frame, reader, coded);
        }
    }
}

// @return Bytes; *most_bits is what they may cost.
static size_t write_again(client* it, const packet* read, uint8_t* bytes, size_t* most_bits)
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
    ph_pinhole_header_write(&read->header, &writer.raw);
    ph_pinhole_write_step(&it->frame, &writer);
    uint64_t cost256 =
        (uint64_t)(ph_pinhole_header_bits(&read->header) + ph_pinhole_step_bits(&it->frame)) *
        PH_COST_PER_BIT;
    int next = 0;
    for (; next < read->header.leave_count + read->header.enter_count; ++next) {
        if (next == read->header.leave_count) {
            ph_pinhole_write_spread(&it->frame, &writer, read->header.enter_count);
            cost256 += (uint64_t)ph_pinhole_spread_bits(&it->frame, read->header.enter_count) *
                       PH_COST_PER_BIT;
        }
        cost256 += ph_pinhole_cost256(&it->frame, &read->coded[next], NULL);
        ph_pinhole_write(&it->frame, &writer, &read->coded[next]);
    }
    for (int i = 0; i < SLOTS; ++i) {
        if (!it->baselines[i].is_entered) {
            continue;
        }
        const int urgency = ph_pinhole_urgency(&it->frame, &it->baselines[i]);
        const bool is_told = next < read->count && read->coded[next].record.slot == i;
        cost256 += ph_pinhole_flag_cost256(&ph_library_models, it->frame.density, urgency, is_told);
        ph_pinhole_write_told(&it->frame, &writer, urgency, is_told);
        if (is_told) {
            cost256 += ph_pinhole_cost256(&it->frame, &read->coded[next], NULL);
            ph_pinhole_write(&it->frame, &writer, &read->coded[next++]);
        }
    }
    *most_bits =
        (size_t)((cost256 + PH_COST_PER_BIT - 1) / PH_COST_PER_BIT) + PH_PINHOLE_SLACK_BITS;
    return ph_entropy_writer_finish(&writer);
}

static void take(client* it, const packet* read)
{
    for (int i = 0; i < read->count; ++i) {
        const ph_record* record = &read->coded[i].record;
        ph_baseline_take(&it->baselines[record->slot], it->known[record->slot], &it->rules, record,
                         it->frame.tick);
        if (record->kind == PH_RECORD_ENTER && record->key > it->frame.key_base) {
            it->frame.key_base = record->key;
        }
    }
    it->newest = read->header.sequence;
}

static void receive(client* it, const uint8_t* bytes, size_t size)
{
    static packet read;
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    read.count = 0;
    ph_pinhole_header_read(&reader.raw, it->newest, &read.header);
    if (ph_entropy_reader_result(&reader) != PH_OK || read.header.is_probe ||
        (read.header.has_hello && read.header.hello.version != PH_PINHOLE_VERSION)) {
        return;
    }
    it->frame.tick = read.header.tick == PH_PINHOLE_TICK_WHOLE ? read.header.whole_tick
                                                               : it->frame.tick + read.header.tick;
    it->frame.density = read.header.density;
    if (read.header.has_eye) {
        memcpy(it->frame.frame.eye_mm, read.header.eye_mm, sizeof read.header.eye_mm);
    }
    ph_pinhole_read_step(&it->frame, &reader);
    if (!read_named(it, &reader, &read)) {
        return;
    }
    read_updates(it, &reader, &read);
    if (ph_entropy_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t again[PH_PAYLOAD_MAX];
    size_t most_bits;
    if (write_again(it, &read, again, &most_bits) != size || memcmp(again, bytes, size) != 0 ||
        8 * size > most_bits + 7) {
        abort();
    }
    take(it, &read);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static client it;
    start(&it);
    size_t next = 0;
    while (next < size) {
        size_t length = data[next];
        next += 1;
        length = length < size - next ? length : size - next;
        receive(&it, data + next, length);
        next += length;
    }
    return 0;
}
