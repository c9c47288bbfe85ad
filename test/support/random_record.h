// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random state of entities, as it goes over the wire, and random records of it: any schema, any eye.

#ifndef PINHOLE_RANDOM_RECORD_H
#define PINHOLE_RANDOM_RECORD_H

#include "random_schema.h"
#include "test_support.h"

#include "packet/classic_records.h"

enum {
    RANDOM_WORDS_MAX = PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX,
    RANDOM_TEXTS_MAX = 2048,
};

/// A record with blocks of its own. It points into itself, so it stays where it is.
typedef struct random_record {
    ph_record record;
    uint32_t words[RANDOM_WORDS_MAX];
    uint8_t texts[RANDOM_TEXTS_MAX];
} random_record;

/// A ground of floors, bridges and holes; no context.
ph_ground random_record_ground(void);

/// One legal value, texts included, often the initial one.
void random_value_make(const ph_frame* frame, const ph_layout* layout, int property, test_rng* rng,
                       uint32_t* words, uint8_t* texts);

/// A record of any kind that a sender could write.
void random_record_make(random_record* made, const ph_frame* frame, test_rng* rng);

/// Any eye, slots of any width. The layouts and the ground outlive the frame.
ph_frame random_frame_make(const ph_layouts* layouts, const ph_ground* ground, test_rng* rng);

/// Random classes, and a frame for records of theirs. It points into itself, so it stays where it is.
typedef struct random_stage {
    random_schema tables;
    ph_schema* schema;
    ph_layouts layouts;
    ph_ground ground;
    ph_frame frame;
} random_stage;

void random_stage_make(random_stage* stage, test_rng* rng);
void random_stage_destroy(random_stage* stage);

/// Checks many a frame of many a stage, one after the other in this one.
typedef void random_stage_check(void* context, test_rng* rng);
void random_stage_each(random_stage* stage, int stages, int frames, test_rng* rng,
                       random_stage_check* check, void* context);

#endif
