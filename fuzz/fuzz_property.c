// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads values of properties in every coding. The first byte chooses the property, the second how
// many values follow. What is accepted must be written again as the same bytes at the promised
// cost, and must survive the way into a field and back.

#include "schema/property.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 8
#define TEXT_MAX 40

static const char declarations[] = "class all\n"
                                   "place: position\n"
                                   "a: bool\n"
                                   "b: bool default 1\n"
                                   "c: enum 5\n"
                                   "d: enum 300 default 7\n"
                                   "e: range -3..3\n"
                                   "f: range 0..9007199254740992 default 4294967296\n"
                                   "g: varint\n"
                                   "h: varint -100..100 default -1\n"
                                   "i: two_bit\n"
                                   "j: two_bit -1000..1000\n"
                                   "k: gamma\n"
                                   "l: gamma -7..70000 default 3\n"
                                   "m: rice k 0\n"
                                   "n: rice -100000..100000 k 5\n"
                                   "o: fixed -10..10 step 0.1\n"
                                   "p: fixed 0..20 step 0.1 default 0\n"
                                   "q: angle 8\n"
                                   "r: angle 20 turn 6.283185307179586 default 3\n"
                                   "s: quaternion 8\n"
                                   "t: quaternion 16\n"
                                   "u: vec3 -10..10 step 0.5\n"
                                   "v: vec3 0..1000 step 0.1 z 0..20 default 0 yz\n"
                                   "w: string 40\n"
                                   "x: bytes 40\n";

// Two words can name the same rotation only where two components are equally large.
static bool is_same_value(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    if (property->def.coding == PH_CODING_QUATERNION) {
        return (a[0] & 3) != (b[0] & 3) || (a[0] == b[0] && a[1] == b[1]);
    }
    return memcmp(a, b, (size_t)property->words * sizeof a[0]) == 0;
}

static void check_field(const ph_property* property, const uint32_t* words)
{
    if (property->is_text) {
        return;
    }
    double value[4];
    uint32_t again[PH_VALUE_WORDS_MAX] = {0};
    if (ph_property_restore_field(property, ph_coding_field(property->def.coding), words, value) !=
            PH_OK ||
        ph_property_quantise_field(property, ph_coding_field(property->def.coding), value, again) !=
            PH_OK ||
        !is_same_value(property, words, again)) {
        abort();
    }
}

static void check(const ph_property* property, int count, const uint8_t* data, size_t size)
{
    uint32_t words[VALUES_MAX][PH_VALUE_WORDS_MAX] = {{0}};
    uint8_t texts[VALUES_MAX][TEXT_MAX + 1];
    uint16_t lengths[VALUES_MAX] = {0};
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    for (int i = 0; i < count; ++i) {
        ph_property_read(property, &reader, words[i], texts[i], &lengths[i]);
    }
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t written[VALUES_MAX * (TEXT_MAX + 2)] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    for (int i = 0; i < count; ++i) {
        const ph_text text = {.bytes = texts[i], .length = lengths[i]};
        const size_t before = ph_bit_writer_size_bits(&writer);
        const int cost_bits = ph_property_cost_bits(property, words[i], text);
        ph_property_write(property, &writer, words[i], text);
        if (ph_bit_writer_size_bits(&writer) != before + (size_t)cost_bits ||
            cost_bits > ph_property_max_bits(property)) {
            abort();
        }
        check_field(property, words[i]);
    }
    if (ph_bit_writer_finish(&writer) != size || memcmp(written, data, size) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    // Made once: it would take nearly all of the time.
    static ph_schema* schema = NULL;
    if (schema == NULL &&
        ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) != PH_OK) {
        abort();
    }
    if (size < 2) {
        return 0;
    }
    const ph_class* type = ph_schema_class_at(schema, 0);
    const int index = 1 + data[0] % (type->def.property_count - 1);
    check(&type->properties[index], data[1] % (VALUES_MAX + 1), data + 2, size - 2);
    return 0;
}
