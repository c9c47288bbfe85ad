// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The options of a property in the text form. Runs when a schema is parsed.

#include "schema/option.h"

#include <stdio.h>
#include <string.h>

static const char NUMBER_WANTED[] = "a number such as 0.5";
static const char POSITIVE_WANTED[] = "a number above 0 such as 0.5";

static const char* read_number(ph_scanner* scanner, ph_word* value, double* number)
{
    *value = ph_scanner_word(scanner);
    return ph_word_number(*value, number) ? NULL : NUMBER_WANTED;
}

// Where a 0 in the table would mean something else than what was written.
static const char* read_positive(ph_scanner* scanner, ph_word* value, double* number)
{
    *value = ph_scanner_word(scanner);
    return ph_word_number(*value, number) && *number > 0.0 ? NULL : POSITIVE_WANTED;
}

static const char* read_step(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_positive(scanner, value, &def->step);
}

static const char* read_z(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    *value = ph_scanner_word(scanner);
    return ph_subject_read(PH_PARAMETER_Z, *value, def);
}

static const char* read_turn(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_positive(scanner, value, &def->turn);
}

static const char* read_k(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    *value = ph_scanner_word(scanner);
    return ph_word_int(*value, 0, &def->rice_k) ? NULL : "a whole number such as 3";
}

static const char* read_arithmetic(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_arithmetic = true;
    return NULL;
}

static const char* read_ground(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    *value = ph_scanner_word(scanner);
    return ph_word_int(*value, 1, &def->ground_tolerance_mm)
               ? NULL
               : "whole millimetres above 0 such as 500";
}

// Which components of a VEC3: some of x, y and z, in this order.
static bool read_components(ph_word word, int* components)
{
    const char* const names = "xyz";
    size_t used = 0;
    *components = 0;
    for (int i = 0; i < 3; ++i) {
        if (used < word.length && word.start[used] == names[i]) {
            *components |= 1 << i;
            ++used;
        }
    }
    return used > 0 && used == word.length;
}

static const char* read_default(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    const char* wanted = read_number(scanner, value, &def->default_value);
    if (wanted != NULL) {
        return wanted;
    }
    def->has_default = 1;
    if (def->coding != PH_CODING_VEC3) {
        return NULL;
    }
    *value = ph_scanner_word(scanner);
    return read_components(*value, &def->has_default) ? NULL : "the components, such as xyz or z";
}

static const char* read_initial(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_number(scanner, value, &def->default_value);
}

static const char* read_distance(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_number(scanner, value, &def->distance_m);
}

static const char* read_significant(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_number(scanner, value, &def->significant);
}

static const char* read_weight(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_positive(scanner, value, &def->weight);
}

static const char* read_once(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->when = PH_SEND_ONCE;
    return NULL;
}

static const char* read_owner(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->audience = PH_AUDIENCE_OWNER;
    return NULL;
}

static const char* read_audience(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    *value = ph_scanner_word(scanner);
    def->audience = PH_AUDIENCE_MASK;
    return ph_word_mask(*value, &def->audience_mask) ? NULL : "a mask such as 0x3";
}

static const ph_option OPTIONS[] = {
    {"step", PH_PARAMETER_STEP, read_step},
    {"z", PH_PARAMETER_Z, read_z},
    {"turn", PH_PARAMETER_TURN, read_turn},
    {"k", PH_PARAMETER_RICE_K, read_k},
    {"arithmetic", PH_PARAMETER_ARITHMETIC, read_arithmetic},
    {"ground", PH_PARAMETER_GROUND, read_ground},
    {"default", PH_PARAMETER_DEFAULT, read_default},
    {"initial", PH_PARAMETER_DEFAULT, read_initial},
    {"distance", PH_PARAMETER_DISTANCE, read_distance},
    {"significant", PH_PARAMETER_SIGNIFICANT, read_significant},
    {"weight", PH_PARAMETER_WEIGHT, read_weight},
    {"once", PH_PARAMETER_WHEN, read_once},
    {"owner", PH_PARAMETER_AUDIENCE, read_owner},
    {"audience", PH_PARAMETER_AUDIENCE, read_audience},
};

enum {
    OPTION_COUNT = sizeof OPTIONS / sizeof OPTIONS[0],
};

const ph_option* ph_option_find(ph_word word, ph_coding coding)
{
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if (ph_word_is(word, OPTIONS[i].word) && ph_coding_uses(coding, OPTIONS[i].parameter)) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

void ph_option_list(ph_coding coding, char* list, size_t capacity)
{
    size_t length = 0;
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if (ph_coding_uses(coding, OPTIONS[i].parameter) && length < capacity) {
            length += (size_t)snprintf(list + length, capacity - length, "%s%s",
                                       length > 0 ? ", " : "", OPTIONS[i].word);
        }
    }
    if (length < capacity) {
        snprintf(list + length, capacity - length, " or the end of the line");
    }
}

const char* ph_subject_read(ph_parameter subject, ph_word word, ph_property_def* def)
{
    switch (subject) {
    case PH_PARAMETER_RANGE:
        return ph_word_range(word, &def->lo, &def->hi) ? NULL : "a range such as 0..100";
    case PH_PARAMETER_Z:
        return ph_word_range(word, &def->z_lo, &def->z_hi) ? NULL : "a range such as 0..100";
    case PH_PARAMETER_BITS:
        return ph_word_int(word, 1, &def->bits) ? NULL : "a number of bits such as 8";
    case PH_PARAMETER_COUNT:
        return ph_word_int(word, 1, &def->count) ? NULL : "a number of alternatives such as 4";
    default:
        PH_ASSERT(subject == PH_PARAMETER_LENGTH);
        return ph_word_int(word, 1, &def->max_length) ? NULL : "a number of bytes such as 31";
    }
}

bool ph_word_is_numeric(ph_word word)
{
    if (word.length == 0) {
        return false;
    }
    const char first = word.start[0];
    return first == '-' || (first >= '0' && first <= '9');
}
