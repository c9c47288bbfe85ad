// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/inbox.h"

#include "support/test_support.h"

#include "packet/header.h"
#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

static const ph_sender* sender_of(const inbox* box)
{
    return box->world->viewers.viewers[box->viewer.index1 - 1].sender;
}

void inbox_setup(inbox* box, ph_world* world, const ph_schema* schema, ph_viewer_id viewer)
{
    memset(box, 0, sizeof *box);
    box->world = world;
    box->viewer = viewer;
    box->now_us = 1000000;
    box->ground = world->def.ground;
    assert_int_equal(ph_layouts_create(&box->layouts, schema, NULL), PH_OK);
    assert_true(box->layouts.word_count_max <= INBOX_WORDS_MAX);
    assert_true(box->layouts.text_bytes_max <= INBOX_TEXT_BYTES);
}

void inbox_teardown(inbox* box)
{
    ph_layouts_destroy(&box->layouts);
}

static void read_record(inbox* box, inbox_packet* packet, const ph_frame* frame,
                        ph_record_kind kind, ph_bit_reader* reader)
{
    assert_true(packet->count < INBOX_RECORDS_MAX);
    ph_record* record = &packet->records[packet->count];
    *record = (ph_record){
        .kind = (uint8_t)kind,
        .words = packet->words[packet->count],
        .texts = packet->texts[packet->count],
    };
    ph_classic_read_slot(frame, reader, record);
    assert_true(record->slot < INBOX_SLOTS_MAX);
    if (kind == PH_RECORD_ENTER) {
        ph_classic_read_key(frame, reader, record);
        box->class_of_slot[record->slot] = record->class_index;
    }
    record->class_index = box->class_of_slot[record->slot];
    if (kind != PH_RECORD_LEAVE) {
        ph_classic_read_body(frame, reader, record);
    }
    assert_int_equal(ph_bit_reader_result(reader), PH_OK);
    ++packet->count;
}

static void read_packet(inbox* box, inbox_packet* packet)
{
    ph_bit_reader reader = ph_bit_reader_make(packet->bytes, packet->size);
    ph_header_read(&reader, &packet->header);
    assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
    if (packet->header.has_eye) {
        memcpy(box->eye_mm, packet->header.eye_mm, sizeof box->eye_mm);
    }
    const ph_frame frame = {
        .layouts = &box->layouts,
        .ground = &box->ground,
        .slot_bits = ph_slot_bits(sender_of(box)->replicas.slot_count),
        .eye_mm = {box->eye_mm[0], box->eye_mm[1], box->eye_mm[2]},
    };
    for (int i = 0; i < packet->header.leave_count; ++i) {
        read_record(box, packet, &frame, PH_RECORD_LEAVE, &reader);
    }
    for (int i = 0; i < packet->header.enter_count; ++i) {
        read_record(box, packet, &frame, PH_RECORD_ENTER, &reader);
    }
    while (ph_bit_reader_left_bits(&reader) >= 8) {
        read_record(box, packet, &frame, PH_RECORD_UPDATE, &reader);
    }
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    inbox* box = context;
    assert_int_equal(viewer.index1, box->viewer.index1);
    assert_in_range(size, 1, PH_PAYLOAD_MAX);
    assert_true(box->count < INBOX_PACKETS_MAX);
    inbox_packet* packet = &box->packets[box->count++];
    packet->size = size;
    packet->count = 0;
    memcpy(packet->bytes, bytes, size);
    box->bytes += size;
    read_packet(box, packet);
}

void inbox_send(inbox* box, uint64_t elapsed_us)
{
    box->now_us += elapsed_us;
    box->count = 0;
    assert_int_equal(ph_viewer_send(box->world, box->viewer, box->now_us, deliver, box), PH_OK);
}

void inbox_step(inbox* box, uint64_t elapsed_us)
{
    ph_world_tick(box->world);
    inbox_send(box, elapsed_us);
}

ph_result inbox_ack(inbox* box, uint32_t newest, uint64_t applied)
{
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&(ph_ack){.newest = newest, .applied = applied}, bytes);
    return ph_viewer_receive_ack(box->world, box->viewer, box->now_us, bytes, sizeof bytes);
}

static uint64_t fates(const inbox* box, bool is_applied)
{
    const ph_sender* sender = sender_of(box);
    const int news = sender->flight.count;
    assert_true(news > 0);
    const uint64_t mask = news < 64 ? (UINT64_C(1) << news) - 1 : UINT64_MAX;
    const uint64_t old = news < 64 ? sender->acked << news : 0;
    return old | (is_applied ? mask : 0);
}

void inbox_ack_all(inbox* box)
{
    assert_int_equal(inbox_ack(box, inbox_newest(box), fates(box, true)), PH_OK);
}

void inbox_lose_all(inbox* box)
{
    assert_int_equal(inbox_ack(box, inbox_newest(box), fates(box, false)), PH_OK);
}

inbox_packet* inbox_only(inbox* box)
{
    assert_int_equal(box->count, 1);
    return &box->packets[0];
}

const ph_record* inbox_find(const inbox* box, int slot)
{
    for (int i = 0; i < box->count; ++i) {
        for (int k = 0; k < box->packets[i].count; ++k) {
            if (box->packets[i].records[k].slot == slot) {
                return &box->packets[i].records[k];
            }
        }
    }
    return NULL;
}

const uint32_t* inbox_value(const inbox* box, const ph_record* record, int property)
{
    assert_true((record->properties >> property & 1) != 0);
    return record->words + box->layouts.layouts[record->class_index].word[property];
}

uint32_t inbox_newest(const inbox* box)
{
    return sender_of(box)->newest;
}

ph_viewer_stats inbox_stats(const inbox* box)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(box->world, box->viewer, &stats), PH_OK);
    return stats;
}
