// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden packets: written from a script, kept in test/golden/ beside what they say as text. See
// test/golden/README.md.
//
//   golden_begin(&golden, header);
//   golden_enter(&golden, 3, 1, "walker", 77);
//   golden_end(&golden, "narrow_02_enters");

#ifndef PINHOLE_GOLDEN_SESSION_H
#define PINHOLE_GOLDEN_SESSION_H

#include "test_support.h"

#include "packet/classic_records.h"
#include "packet/header.h"

enum {
    GOLDEN_SLOTS = 1024,
    GOLDEN_WORDS = 64,
    GOLDEN_TEXTS = 64,
    GOLDEN_LINES = 1 << 15,
    GOLDEN_FILE_MAX = 1 << 17,
    GOLDEN_RECORDS = 64,
};

/// One packet, and the slots as the script has them. Large: one static object.
typedef struct golden_session {
    ph_schema* schema;
    ph_layouts layouts;
    ph_ground ground;
    ph_frame frame;
    uint8_t class_of[GOLDEN_SLOTS];
    uint32_t words[GOLDEN_SLOTS][GOLDEN_WORDS];
    uint8_t texts[GOLDEN_SLOTS][GOLDEN_TEXTS];
    ph_header header;
    ph_record records[GOLDEN_RECORDS];
    int record_count;
} golden_session;

/// Reads schema.txt and ground.txt. slot_count decides the width of slots.
void golden_setup(golden_session* golden, int slot_count);
/// The same with those of a folder in test/golden/, like "pinhole/".
void golden_setup_in(golden_session* golden, const char* folder, int slot_count);
void golden_teardown(golden_session* golden);

/// The eye is the one that this packet's positions are restored around.
void golden_begin(golden_session* golden, const ph_header* header, const int32_t eye_mm[3]);
void golden_leave(golden_session* golden, int slot, uint32_t association);
/// Tells what is not initial. The slot must have been dressed for a class.
void golden_enter(golden_session* golden, int slot, uint32_t association, uint64_t name);
/// The same, after a jump since an earlier enter.
void golden_enter_again(golden_session* golden, int slot, uint32_t association, uint64_t name);
/// properties: names separated by blanks.
void golden_update(golden_session* golden, int slot, uint32_t association, const char* properties,
                   bool is_jump);
/// Compares with test/golden/<name>.bin and .txt, and reads the packet back; with
/// PINHOLE_GOLDEN_WRITE in the environment, writes the two files first.
void golden_end(golden_session* golden, const char* name);

/// The same for a packet that a receiver refuses at this place; it can be written all the same.
void golden_end_refused(golden_session* golden, const char* name);

/// A file of test/golden/ as it is. @return Its size, at most capacity.
size_t golden_load(const char* file_name, uint8_t* bytes, size_t capacity);

/// Writes or compares one file by itself.
void golden_compare(const char* file_name, const void* bytes, size_t size);

// What the entity of a slot is like; nothing is sent by it.
void golden_dress(golden_session* golden, int slot, const char* class_name);
void golden_place(golden_session* golden, int slot, int32_t x_mm, int32_t y_mm, int32_t z_mm);
void golden_number(golden_session* golden, int slot, const char* property, double value);
void golden_vector(golden_session* golden, int slot, const char* property, double x, double y,
                   double z);
void golden_rotation(golden_session* golden, int slot, const char* property, double x, double y,
                     double z, double w);
void golden_text(golden_session* golden, int slot, const char* property, const char* bytes,
                 int length);
void golden_target(golden_session* golden, int slot, const char* property, int target,
                   uint32_t association);

#endif
