// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What server and client of the game share: what a creature is, and what a player does.

#ifndef GAME_H
#define GAME_H

#include <pinhole/pinhole.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { WANDERER, PLAYER };                         // the classes
enum { PLACE, HEADING, NAME, HIT_POINTS, TARGET }; // their properties
enum { WALK_MM_PER_S = 4000 };                     // of a player

typedef struct creature {
    int64_t place_mm[3];
    float heading_deg;
    char name[16];
    int32_t hit_points;
    ph_entity_id target; // {0}: none
} creature;

// Both ends move players by this.
static inline void walk(int64_t place_mm[3], double heading_deg, double far_mm)
{
    place_mm[0] += llround(far_mm * cos(heading_deg / 57.29578));
    place_mm[1] += llround(far_mm * sin(heading_deg / 57.29578));
}

static inline double distance_mm(const creature* a, const creature* b)
{
    return hypot((double)(a->place_mm[0] - b->place_mm[0]),
                 (double)(a->place_mm[1] - b->place_mm[1]));
}

// What comes over a network may be anything: letters that a terminal would obey, or none at all.
static inline void make_printable(char* text, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
    text[size] = '\0';
}

static inline ph_schema* make_schema(void)
{
    static const ph_property_def properties[] = {
        {.name = "place",
         .coding = PH_CODING_POSITION,
         .field = PH_FIELD_I64X3,
         .offset = offsetof(creature, place_mm)},
        {.name = "heading",
         .coding = PH_CODING_ANGLE,
         .field = PH_FIELD_F32,
         .offset = offsetof(creature, heading_deg)},
        {.name = "name",
         .coding = PH_CODING_STRING,
         .max_length = sizeof(((creature*)0)->name) - 1,
         .field = PH_FIELD_TEXT,
         .offset = offsetof(creature, name)},
        {.name = "hit_points",
         .coding = PH_CODING_RANGE,
         .hi = 100,
         .field = PH_FIELD_I32,
         .offset = offsetof(creature, hit_points)},
        {.name = "target",
         .coding = PH_CODING_ENTITY,
         .field = PH_FIELD_ENTITY,
         .offset = offsetof(creature, target)},
    };
    const int count = sizeof properties / sizeof properties[0];
    const ph_class_def classes[] = {
        {.name = "wanderer",
         .properties = properties,
         .property_count = count,
         .struct_size = sizeof(creature)},
        {.name = "player",
         .properties = properties,
         .property_count = count,
         .struct_size = sizeof(creature)},
    };
    static ph_schema* schema; // lives as long as the program
    ph_error error;
    if (ph_schema_create(classes, 2, NULL, &schema, &error) != PH_OK) {
        puts(error.text); // which property, and what is wrong with it
    }
    return schema;
}

#endif
