// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs when a schema that brings models along is read or written.

#include "schema/learned_text.h"

#include "base/check.h"
#include "base/compiler.h"
#include "schema/schema_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- reading

// One model: a code for each symbol, the last one for all that follow.
static const char* read_codes(ph_model_reader* reader, ph_word word, int first, int symbols)
{
    uint8_t* codes = reader->codes + first;
    if (codes[0] != PH_MODEL_CODE_NONE) {
        return "every model once";
    }
    if (word.length == 0 || word.length > (size_t)symbols) {
        snprintf(reader->wanted, sizeof reader->wanted, "a model of 1..%d letters and digits",
                 symbols);
        return reader->wanted;
    }
    int code = 0;
    for (int i = 0; i < symbols; ++i) {
        code = (size_t)i < word.length ? ph_model_code_of(word.start[i]) : code;
        if (code < 0) {
            codes[0] = PH_MODEL_CODE_NONE;
            return "a model of letters and digits";
        }
        codes[i] = (uint8_t)code;
    }
    return NULL;
}

// Models of the library's family, from the one of this number on.
static const char* read_family_models(ph_model_reader* reader, ph_scanner* scanner,
                                      const ph_pinhole_family_info* family, ph_word* found)
{
    int model;
    *found = ph_scanner_word(scanner);
    if (!ph_word_int(*found, 0, &model) || model >= family->models) {
        snprintf(reader->wanted, sizeof reader->wanted, "the number of a model, 0..%d",
                 family->models - 1);
        return reader->wanted;
    }
    *found = ph_scanner_word(scanner);
    do {
        if (model == family->models) {
            return "the end of the line behind the last model";
        }
        const int first = family->first + model * (family->symbols + 1);
        const char* wanted = read_codes(reader, *found, first, family->symbols);
        if (wanted != NULL) {
            return wanted;
        }
        ++model;
        *found = ph_scanner_word(scanner);
    } while (found->length > 0);
    return NULL;
}

// CLASS.PROPERTY, both declared above. @return Among those of all classes, or -1.
static int find_declared(const ph_model_reader* reader, ph_word word)
{
    for (int c = 0; c < reader->class_count; ++c) {
        const ph_class_def* type = &reader->classes[c];
        const size_t length = strlen(type->name);
        if (word.length <= length + 1 || memcmp(word.start, type->name, length) != 0 ||
            word.start[length] != '.') {
            continue;
        }
        const ph_word name = {.start = word.start + length + 1, .length = word.length - length - 1};
        for (int i = 0; i < type->property_count; ++i) {
            if (ph_word_is(name, type->properties[i].name)) {
                return (int)(type->properties - reader->properties) + i;
            }
        }
    }
    return -1;
}

// Models of one property: whether it is told, or how long its differences are.
static const char* read_own_models(ph_model_reader* reader, ph_scanner* scanner, ph_word* found)
{
    const int property = find_declared(reader, *found);
    if (property < 0) {
        return "a family of models or CLASS.PROPERTY, declared above";
    }
    if (property >= reader->property_capacity) {
        snprintf(reader->wanted, sizeof reader->wanted, "models of the first %d properties only",
                 reader->property_capacity);
        return reader->wanted;
    }
    *found = ph_scanner_word(scanner);
    const bool is_number = ph_word_is(*found, "number");
    if (!is_number && !ph_word_is(*found, "told")) {
        return "told or number";
    }
    *found = ph_scanner_word(scanner);
    if (is_number) {
        return read_codes(reader, *found, ph_learned_number_entry(property), PH_NUMBER_SYMBOLS);
    }
    const char* wanted = read_codes(reader, *found, ph_learned_told_entry(property, false), 2);
    if (wanted != NULL) {
        return wanted;
    }
    *found = ph_scanner_word(scanner);
    return read_codes(reader, *found, ph_learned_told_entry(property, true), 2);
}

const char* ph_models_read(ph_model_reader* reader, ph_scanner* scanner, ph_word* found)
{
    *found = ph_scanner_word(scanner);
    for (int f = 0; f < PH_FAMILY_COUNT; ++f) {
        if (ph_word_is(*found, ph_pinhole_families[f].name)) {
            return read_family_models(reader, scanner, &ph_pinhole_families[f], found);
        }
    }
    const char* wanted = read_own_models(reader, scanner, found);
    if (wanted != NULL) {
        return wanted;
    }
    *found = ph_scanner_word(scanner);
    return found->length == 0 ? NULL : "the end of the line";
}

// ---- writing

// Counts on when the text is full.
typedef struct model_printer {
    char* text;
    size_t capacity;
    size_t length;
} model_printer;

PH_PRINTF(2, 3)
static void put_models(model_printer* out, const char* format, ...)
{
    const bool has_room = out->length < out->capacity;
    va_list arguments;
    va_start(arguments, format);
    out->length += (size_t)vsnprintf(has_room ? out->text + out->length : NULL,
                                     has_room ? out->capacity - out->length : 0, format, arguments);
    va_end(arguments);
}

static void print_codes(model_printer* out, const uint8_t* codes, int symbols)
{
    const int length = ph_model_code_count(codes, symbols);
    put_models(out, " ");
    for (int i = 0; i < length; ++i) {
        put_models(out, "%c", ph_model_code_character(codes[i]));
    }
}

static void print_own_model(model_printer* out, const ph_schema* schema, const ph_model_walk* walk)
{
    int c = schema->class_count - 1;
    while (ph_schema_first_property(schema, c) > walk->property) {
        --c;
    }
    const ph_class_def* type = &schema->classes[c].def;
    const char* name = type->properties[walk->property - ph_schema_first_property(schema, c)].name;
    const uint8_t* codes = schema->codes + walk->first;
    if (walk->model == 1) {
        return; // beside the first
    }
    put_models(out, "model %s.%s %s", type->name, name, walk->model == 0 ? "told" : "number");
    print_codes(out, codes, walk->symbols);
    if (walk->model == 0) {
        print_codes(out, codes + PH_LEARNED_TOLD_ENTRIES, walk->symbols);
    }
    put_models(out, "\n");
}

// Models of one family that follow each other share a line, as far as that is not too long.
static void print_all_models(model_printer* out, const ph_schema* schema)
{
    enum { LINE_CODES = 96 };
    int line_codes = 0; // of the line that is open; 0: none is
    int next = 0;       // the entry of the model that may follow in it
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, schema->property_count)) {
        const bool has_model = schema->codes[walk.first] != PH_MODEL_CODE_NONE;
        const bool is_family = walk.family < PH_FAMILY_COUNT;
        const bool goes_on = is_family && walk.model > 0 && walk.first == next &&
                             line_codes + walk.symbols <= LINE_CODES;
        if (line_codes > 0 && !(has_model && goes_on)) {
            put_models(out, "\n");
            line_codes = 0;
        }
        if (!has_model) {
            continue;
        }
        if (!is_family) {
            print_own_model(out, schema, &walk);
            continue;
        }
        if (line_codes == 0) {
            put_models(out, "model %s %d", ph_pinhole_families[walk.family].name, walk.model);
        }
        print_codes(out, schema->codes + walk.first, walk.symbols);
        line_codes += walk.symbols + 1;
        next = walk.first + walk.symbols + 1;
    }
    if (line_codes > 0) {
        put_models(out, "\n");
    }
}

size_t ph_models_print(const ph_schema* schema, char* text, size_t capacity)
{
    PH_ASSERT(schema->codes != NULL && (text != NULL || capacity == 0));

    model_printer out = {.text = text, .capacity = capacity};
    print_all_models(&out, schema);
    return out.length;
}
