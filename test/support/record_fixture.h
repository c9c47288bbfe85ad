// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Three classes, two floors everywhere, an eye at zero: for tests of records, bit by bit.

#ifndef PINHOLE_RECORD_FIXTURE_H
#define PINHOLE_RECORD_FIXTURE_H

#include "test_support.h"

#include "packet/classic_records.h"

enum { KART = 0, ROCK, STAR };

/// Properties of a kart, by bit.
enum { ALIVE = 1, PLACE = 2, HEADING = 4, TARGET = 8, NAME = 16, MOOD = 32 };

enum { FIXTURE_BYTES = 64 };

typedef struct record_fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_ground ground;
    ph_frame frame;
    uint32_t words[16];
    uint8_t texts[16];
    uint8_t bytes[FIXTURE_BYTES];
} record_fixture;

/// For cmocka: *state becomes a record_fixture.
int record_fixture_setup(void** state);
int record_fixture_teardown(void** state);

/// A record of slot 0xA5, association 6, over the fixture's blocks, which are reset.
ph_record record_of(record_fixture* f, ph_record_kind kind, int class_index, uint64_t properties);

/// A row of fields, ended by a width of 0, and its bytes.
typedef struct field {
    uint64_t value;
    int width;
} field;

size_t write_fields(const field* fields, uint8_t bytes[FIXTURE_BYTES]);

// What every record of record_of() begins with, and the end of a row.
#define HEAD                                                                                       \
    {0xA5, 8},                                                                                     \
    {                                                                                              \
        2, 2                                                                                       \
    }
#define END                                                                                        \
    {                                                                                              \
        0, 0                                                                                       \
    }

#endif
