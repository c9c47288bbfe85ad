// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client by hand: keeps the datagrams of one viewer, reads their records, and acknowledges what
// the test wants. It trusts what it reads; the real client is in src/client.

#ifndef PINHOLE_TEST_INBOX_H
#define PINHOLE_TEST_INBOX_H

#include "pinhole/world.h"
#include "packet/classic_records.h"
#include "packet/header.h"

#include <pinhole/stats.h>

enum {
    INBOX_PACKETS_MAX = 128,
    INBOX_RECORDS_MAX = 160,
    INBOX_WORDS_MAX = 32,
    INBOX_TEXT_BYTES = 64,
    INBOX_SLOTS_MAX = 512,
};

typedef struct inbox_packet {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    ph_header header;
    ph_record records[INBOX_RECORDS_MAX]; // words and texts point into the packet
    uint32_t words[INBOX_RECORDS_MAX][INBOX_WORDS_MAX];
    uint8_t texts[INBOX_RECORDS_MAX][INBOX_TEXT_BYTES];
    int count;
} inbox_packet;

// Large: static or allocated.
typedef struct inbox {
    ph_world* world;
    ph_viewer_id viewer;
    ph_layouts layouts;
    ph_ground ground;
    int32_t eye_mm[3]; // what packets without an eye are read around: that of the last one with it
    uint8_t class_of_slot[INBOX_SLOTS_MAX];
    inbox_packet packets[INBOX_PACKETS_MAX];
    int count;    // since the last send
    size_t bytes; // of payload, since setup
    uint64_t now_us;
} inbox;

void inbox_setup(inbox* box, ph_world* world, const ph_schema* schema, ph_viewer_id viewer);
void inbox_teardown(inbox* box);

// Time passes, then a tick and a send; the packets are those of this send.
void inbox_step(inbox* box, uint64_t elapsed_us);
// The same without a tick.
void inbox_send(inbox* box, uint64_t elapsed_us);

// Acknowledges everything up to this number: bit i of applied says that newest - i was.
ph_result inbox_ack(inbox* box, uint32_t newest, uint64_t applied);
// Everything sent so far was applied, or lost.
void inbox_ack_all(inbox* box);
void inbox_lose_all(inbox* box);

// The only packet of the last send.
inbox_packet* inbox_only(inbox* box);
// What the packets of the last send say of a slot, or NULL.
const ph_record* inbox_find(const inbox* box, int slot);
// What the record says of a property. It must be in it.
const uint32_t* inbox_value(const inbox* box, const ph_record* record, int property);
uint32_t inbox_newest(const inbox* box);
ph_viewer_stats inbox_stats(const inbox* box);

#endif
