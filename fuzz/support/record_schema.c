// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The schema and the ground of targets that read records.

#include "support/record_schema.h"

#include <stdio.h>
#include <stdlib.h>

static const char DECLARATIONS[] = "class creature\n"
                                   "a: bool initial 1\n"
                                   "b: enum 5 default 2\n"
                                   "place: position\n"
                                   "c: range -3..3 arithmetic\n"
                                   "d: range 0..9007199254740992\n"
                                   "e: varint -100..100\n"
                                   "f: two_bit\n"
                                   "g: gamma\n"
                                   "h: rice k 2 default 7\n"
                                   "i: fixed -10..10 step 0.1\n"
                                   "j: angle 8\n"
                                   "k: quaternion 8\n"
                                   "l: vec3 0..1000 step 0.1 z 0..20 default 0 yz\n"
                                   "m: string 20\n"
                                   "n: bytes 20\n"
                                   "o: entity\n"
                                   "p: %s\n"
                                   "class walker\n"
                                   "heading: angle 8\n"
                                   "place: position ground 500\n"
                                   "class mark\n"
                                   "place: position 12 step 64\n"
                                   "class body\n"
                                   "place: position finest 2\n"
                                   "turn: quaternion 9 orientation\n"
                                   "health: range 0..100\n"
                                   "class turret\n"
                                   "place: position\n"
                                   "base: angle 8\n"
                                   "gun: angle 10 heading\n";

static int floors(const void* context, int64_t x_mm, int64_t y_mm,
                  int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    const int count = (int)(((uint32_t)x_mm >> 14 ^ (uint32_t)y_mm >> 15) % 4);
    for (int i = 0; i < count; ++i) {
        heights_mm[i] = -1000 + 3000 * i;
    }
    return count;
}

const ph_ground fuzz_record_ground = {.layers = floors};

static void make(ph_layouts* layouts, const char* last)
{
    char text[sizeof DECLARATIONS + 32];
    const int length = snprintf(text, sizeof text, DECLARATIONS, last);
    ph_schema* schema;
    if (length >= (int)sizeof text ||
        ph_schema_parse(text, (size_t)length, NULL, &schema, NULL) != PH_OK ||
        ph_layouts_create(layouts, schema, NULL) != PH_OK ||
        layouts->count != FUZZ_RECORD_CLASSES || layouts->word_count_max > FUZZ_RECORD_WORDS_MAX ||
        layouts->text_bytes_max > FUZZ_RECORD_TEXTS_MAX) {
        abort();
    }
}

const ph_layouts* fuzz_record_layouts(const char* last)
{
    static ph_layouts layouts;
    if (layouts.layouts == NULL) {
        make(&layouts, last);
    }
    return &layouts;
}
