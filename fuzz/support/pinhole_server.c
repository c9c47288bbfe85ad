// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets of the pinhole profile by a server made of bytes. It knows the baselines from the client
// itself; that these are right is for tests with a server of their own.

#include "support/fuzz_server.h"

#include "packet/header.h"
#include "packet/pinhole_records.h"

#include <string.h>

static const uint8_t* known_of(const ph_client* client, int slot)
{
    return client->baselines.known + (size_t)slot * client->baselines.stride;
}

// A tick as the header counts it, of a packet with this horizon: some ticks on, or a long time.
static uint32_t make_tick(const ph_client* client, fuzz_source* from, ph_header* header)
{
    const ph_arrivals* arrivals = &client->session.arrivals;
    uint64_t tick;
    header->tick = (uint16_t)(fuzz_take(from, 255) * 8);
    if (!header->has_hello && fuzz_take(from, 16) != 0 &&
        ph_arrivals_try_pinhole_tick(arrivals, header, &tick)) {
        return (uint32_t)tick;
    }
    header->tick = PH_PINHOLE_TICK_WHOLE;
    header->whole_tick =
        (uint32_t)arrivals->last.tick + PH_PINHOLE_TICK_WHOLE + fuzz_take(from, 256) * 64;
    return header->whole_tick;
}

static ph_pinhole_frame pinhole_frame(const ph_client* client, const ph_frame* frame,
                                      const ph_header* header, uint32_t tick)
{
    const ph_hello* hello = client->session.has_begun ? &client->session.hello : &header->hello;
    return (ph_pinhole_frame){
        .frame = *frame,
        .packings = client->baselines.packings,
        .key_base = client->baselines.key_base,
        .tick = tick,
        .tick_us = hello->tick_us,
        .density = header->density,
        .precision = hello->precision,
    };
}

// Only what the baselines are of can be written.
static void write_update(const ph_client* client, const ph_pinhole_frame* frame, int slot,
                         fuzz_source* from, ph_entropy_writer* writer)
{
    const ph_baseline* baseline = &client->baselines.slots[slot].baseline;
    fuzz_record made;
    fuzz_make_record(client, PH_RECORD_UPDATE, slot, from, &made);
    ph_pinhole_record coded = {
        .record = made.record, .baseline = baseline, .known = known_of(client, slot)};
    const int coarse = ph_pinhole_coarse(frame, baseline);
    const ph_layout* layout = &client->layouts.layouts[baseline->class_index];
    uint32_t* place = made.words + layout->word[layout->described->position];
    uint32_t rounded[3];
    memcpy(rounded, place, sizeof rounded);
    const bool is_moved = (made.record.properties & layout->position) != 0 && !made.record.is_jump;
    if (is_moved && fuzz_take(from, 2) == 0 && ph_pinhole_round(frame, layout, coarse, rounded)) {
        memcpy(place, rounded, sizeof rounded);
        coded.coarse = (uint8_t)coarse;
    }
    ph_pinhole_write(frame, writer, &coded);
}

static void write_changes(const ph_client* client, const ph_pinhole_frame* frame,
                          const fuzz_plan* plan, ph_record_kind kind, fuzz_source* from,
                          ph_entropy_writer* writer)
{
    ph_pinhole_neighbour before;
    fuzz_record records[2]; // this one, and the one that it is told from
    int count = 0;
    for (int slot = 0; slot < FUZZ_SLOTS; ++slot) {
        if (plan->kind1[slot] != kind + 1) {
            continue;
        }
        fuzz_record* made = &records[count % 2];
        fuzz_make_record(client, kind, slot, from, made);
        for (int i = 0; kind == PH_RECORD_ENTER && i < 3; ++i) {
            made->record.velocity[i] =
                (int16_t)(fuzz_take(from, 3) == 0 ? fuzz_take(from, 256) : 0);
        }
        ph_pinhole_record coded = {.record = made->record, .before = count == 0 ? NULL : &before};
        if (kind == PH_RECORD_ENTER) {
            const ph_layout* layout = &frame->frame.layouts->layouts[made->record.class_index];
            coded.coarse = (uint8_t)ph_pinhole_round_enter(
                frame, layout, made->record.words + layout->position_word);
        }
        ph_pinhole_write(frame, writer, &coded);
        before = ph_pinhole_neighbour_of(frame, &coded);
        ++count;
    }
}

// A server sends no enter of an entity that the client has; one in four does.
static void forget_needless(const ph_client* client, ph_header* header, fuzz_plan* plan,
                            fuzz_source* from)
{
    for (int slot = 0; slot < FUZZ_SLOTS; ++slot) {
        if (plan->kind1[slot] == PH_RECORD_ENTER + 1 &&
            client->baselines.slots[slot].baseline.is_entered && fuzz_take(from, 4) != 0) {
            plan->kind1[slot] = PH_RECORD_UPDATE + 1;
            --header->enter_count;
        }
    }
}

// A baseline of another class than the slot has by now is none to write against.
static bool is_writable(const ph_client* client, int slot)
{
    return ph_bitset_test(&client->entities.is_entered, slot) &&
           client->entities.class_index[slot] == client->baselines.slots[slot].baseline.class_index;
}

static void write_updates(const ph_client* client, const ph_pinhole_frame* frame,
                          const fuzz_plan* plan, fuzz_source* from, ph_entropy_writer* writer)
{
    for (int slot = 0; slot < FUZZ_SLOTS; ++slot) {
        const ph_baseline* baseline = &client->baselines.slots[slot].baseline;
        if (baseline->is_entered) {
            // Of an entity that has left, too, now and then.
            const bool is_told = frame->density != PH_DENSITY_NONE && is_writable(client, slot) &&
                                 (plan->kind1[slot] == PH_RECORD_UPDATE + 1 ||
                                  (plan->kind1[slot] != 0 && fuzz_take(from, 16) == 1));
            ph_pinhole_write_told(frame, writer, ph_pinhole_urgency(frame, baseline), is_told);
            if (is_told) {
                write_update(client, frame, slot, from, writer);
            }
        }
    }
}

size_t fuzz_write_pinhole(ph_client* client, fuzz_source* from, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_header header = fuzz_make_header(client, from);
    header.density = (uint8_t)fuzz_take(from, PH_DENSITIES);
    header.hello.precision = (uint16_t)(client->session.has_begun ? client->session.hello.precision
                                                                  : 1024 * fuzz_take(from, 2));
    const uint32_t tick = make_tick(client, from, &header);
    fuzz_plan plan = fuzz_make_plan(client, &header, from);
    ph_client_baselines_advance(&client->baselines, header.horizon);
    forget_needless(client, &header, &plan, from);
    const ph_frame frame = fuzz_frame_of(client, &header);
    ph_pinhole_frame coded = pinhole_frame(client, &frame, &header, tick);
    if (fuzz_take(from, 2) == 1) {
        coded.spread = (ph_pinhole_spread){.place = (uint8_t)fuzz_take(from, PH_SPREADS),
                                           .velocity = (uint8_t)fuzz_take(from, PH_SPREADS),
                                           .heading = (uint8_t)fuzz_take(from, PH_SPREADS),
                                           .key = (uint8_t)fuzz_take(from, PH_KEY_SPREADS),
                                           .motion = (uint8_t)fuzz_take(from, PH_MOTIONS)};
    }
    if (coded.precision != 0) {
        coded.spread.coarse = (uint8_t)fuzz_take(from, PH_COARSE_MAX + 1);
    }
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
    ph_pinhole_header_write(&header, &writer.raw);
    ph_pinhole_write_step(&coded, &writer);
    write_changes(client, &coded, &plan, PH_RECORD_LEAVE, from, &writer);
    ph_pinhole_write_spread(&coded, &writer, header.enter_count);
    write_changes(client, &coded, &plan, PH_RECORD_ENTER, from, &writer);
    write_updates(client, &coded, &plan, from, &writer);
    ph_client_baselines_roll_back(&client->baselines);
    return ph_entropy_writer_finish(&writer);
}

// ---- written again

static void write_updates_again(const ph_client* client, const ph_pinhole_frame* frame,
                                ph_entropy_writer* writer)
{
    const ph_decoded_packet* decoded = &client->decoded;
    int next = decoded->update_first;
    for (int slot = 0; slot < FUZZ_SLOTS; ++slot) {
        const ph_baseline* baseline = &client->baselines.slots[slot].baseline;
        if (!baseline->is_entered) {
            continue;
        }
        const bool is_told = next < decoded->count && decoded->records[next].slot == slot;
        ph_pinhole_write_told(frame, writer, ph_pinhole_urgency(frame, baseline), is_told);
        if (is_told) {
            const ph_pinhole_record coded = {.record = decoded->records[next++],
                                             .baseline = baseline,
                                             .known = known_of(client, slot)};
            ph_pinhole_write(frame, writer, &coded);
        }
    }
    fuzz_demand(next == decoded->count);
}

// The client stands at the packet's horizon now. How coarse a position was is not kept: those
// packets are left out.
void fuzz_check_pinhole(const ph_client* client, const ph_frame* frame, const ph_header* header,
                        const uint8_t* bytes, size_t size)
{
    if (client->session.hello.precision != 0) {
        return;
    }
    const ph_decoded_packet* decoded = &client->decoded;
    ph_pinhole_frame coded =
        pinhole_frame(client, frame, header, (uint32_t)client->session.arrivals.last.tick);
    coded.spread = decoded->spread;
    uint8_t written[PH_PAYLOAD_MAX] = {0};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, written, sizeof written);
    ph_pinhole_header_write(header, &writer.raw);
    if (!header->is_probe) {
        ph_pinhole_write_step(&coded, &writer);
    }
    ph_pinhole_neighbour before;
    for (int i = 0; i < decoded->update_first && !header->is_probe; ++i) {
        const bool is_first = i == 0 || i == decoded->enter_first;
        const ph_pinhole_record it = {.record = decoded->records[i],
                                      .before = is_first ? NULL : &before};
        if (i == decoded->enter_first) {
            ph_pinhole_write_spread(&coded, &writer, header->enter_count);
        }
        ph_pinhole_write(&coded, &writer, &it);
        before = ph_pinhole_neighbour_of(&coded, &it);
    }
    if (!header->is_probe) {
        write_updates_again(client, &coded, &writer);
    }
    fuzz_demand(ph_entropy_writer_finish(&writer) == size && memcmp(written, bytes, size) == 0);
}
