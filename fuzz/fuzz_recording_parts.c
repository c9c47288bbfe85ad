// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads a recording as ph_recorder writes it. A fuzzer does not guess checksums: before it is read each part gets those
// that fit what stands there. Whatever is read, every value is one that its property can have, and all of it
// can be made rows of, or is refused in words.

#include "support/fuzz_source.h"

#include "journal/journal_part.h"
#include "kit/recording_replay.h"

#include <pinhole/recorder.h>

#include <stdlib.h>
#include <string.h>

enum { TICKS_LOOKED_AT = 200, PLACES_LOOKED_AT = 300 };

// The size in a header decides what its part is, as far as there are bytes.
static void seal_all(uint8_t* bytes, size_t size)
{
    size_t at = 0;
    for (;;) {
        at = ph_part_find_mark(bytes, size, at);
        if (at >= size || size - at < PH_PART_HEADER_BYTES) {
            return;
        }
        uint32_t fields[4];
        for (int i = 0; i < 4; ++i) {
            const uint8_t* field = bytes + at + 8 + 4 * i;
            fields[i] = (uint32_t)field[0] | (uint32_t)field[1] << 8 | (uint32_t)field[2] << 16 |
                        (uint32_t)field[3] << 24;
        }
        const size_t left = size - at - PH_PART_HEADER_BYTES;
        const ph_part part = {
            .kind = (ph_part_kind)(bytes[at + 5] % PH_PART_KIND_COUNT),
            .body_size = fields[0] < left ? fields[0] : (uint32_t)left,
            .sequence = fields[1],
            .first_tick = fields[2],
            .end_tick = fields[3],
        };
        ph_part_seal(&part, bytes + at);
        at += PH_PART_HEADER_BYTES + part.body_size;
    }
}

static void look_at_value(const ph_replay* replay, int place, int property,
                          const ph_property_def* def)
{
    union {
        double real[4];
        int64_t whole[3];
        uint8_t bytes[PH_TEXT_LENGTH_MAX + 2];
    } value;
    const bool is_reference = def->coding == PH_CODING_ENTITY;
    const ph_field field = is_reference ? PH_FIELD_U64 : ph_coding_field(def->coding);
    const ph_result result = ph_replay_get_property(replay, place, property, field, &value,
                                                    ph_field_size(field, def->max_length));
    fuzz_demand(result == PH_OK || (is_reference && result == PH_ERROR_STALE));
    if (def->coding == PH_CODING_RANGE) {
        fuzz_demand((double)value.whole[0] >= def->lo && (double)value.whole[0] <= def->hi);
    }
}

static void look_at_tick(const ph_replay* replay)
{
    const int count = ph_replay_place_count(replay);
    for (int place = 0; place < count && place < PLACES_LOOKED_AT; ++place) {
        ph_replay_entity entity;
        if (!ph_replay_get(replay, place, &entity)) {
            continue;
        }
        fuzz_demand(ph_replay_find(replay, entity.key) == place);
        const ph_schema* schema = ph_replay_schema(replay);
        fuzz_demand(entity.class_index < ph_schema_class_count(schema));
        const ph_class_def* type = ph_schema_class(schema, entity.class_index);
        for (int p = 0; p < type->property_count; ++p) {
            look_at_value(replay, place, p, &type->properties[p]);
        }
    }
}

static void look_at_all(const uint8_t* bytes, size_t size)
{
    ph_replay* replay;
    ph_error error = {0};
    if (ph_replay_create(bytes, size, NULL, &replay, &error) != PH_OK) {
        fuzz_demand(replay == NULL && error.text[0] != '\0');
        return;
    }
    uint32_t last = 0;
    for (int i = 0; i < TICKS_LOOKED_AT && ph_replay_next(replay); ++i) {
        fuzz_demand(i == 0 || ph_replay_tick(replay) > last);
        last = ph_replay_tick(replay);
        look_at_tick(replay);
    }
    fuzz_demand(ph_replay_get_damage(replay).skipped_bytes <= size);
    ph_replay_destroy(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0 || size > 1 << 16) {
        return 0;
    }
    uint8_t* bytes = malloc(size);
    fuzz_demand(bytes != NULL);
    memcpy(bytes, data, size);
    look_at_all(bytes, size);
    seal_all(bytes, size);
    look_at_all(bytes, size);
    const ph_recording_def def = {.seconds = 2.0};
    ph_fault fault = {0};
    if (ph_recording_replay_suits(bytes, size)) {
        ph_recording* made = ph_recording_replay_parse(bytes, size, &def, &fault);
        fuzz_demand((made != NULL) != (fault.message[0] != '\0'));
        ph_recording_destroy(made);
    }
    free(bytes);
    return 0;
}
