// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The text form of schemas (docs/schema.md): the options of a property and the parser, ph_schema_parse(), at its
// end. Runs when a schema is read.

#include "schema/schema_text.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/compiler.h"
#include "pinhole/schema.h"
#include "schema/learned_text.h"
#include "schema/prepare.h"
#include "schema/scanner.h"
#include "schema/schema_state.h"
#include "schema/vocabulary.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- options

static const char NUMBER_WANTED[] = "a number such as 0.5";

static const char POSITIVE_WANTED[] = "a number above 0 such as 0.5";

static const char* read_number_word(ph_scanner* scanner, ph_word* value, double* number)
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

static const char* read_step_word(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_positive(scanner, value, &def->step);
}

static const char* read_finest(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_positive(scanner, value, &def->finest);
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
    const char* wanted = read_number_word(scanner, value, &def->default_value);
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
    return read_number_word(scanner, value, &def->default_value);
}

static const char* read_distance(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_number_word(scanner, value, &def->distance_m);
}

static const char* read_significant(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    return read_number_word(scanner, value, &def->significant);
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

static const char* read_orientation(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_orientation = true;
    return NULL;
}

static const char* read_heading(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_heading = true;
    return NULL;
}

static const char* read_carrier(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_carrier = true;
    return NULL;
}

static const char* read_smooth(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_smooth = true;
    return NULL;
}

static const char* read_strict(ph_scanner* scanner, ph_word* value, ph_property_def* def)
{
    (void)scanner;
    (void)value;
    def->is_strict = true;
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
    {"step", PH_PARAMETER_STEP, read_step_word},
    {"finest", PH_PARAMETER_FINEST, read_finest},
    {"z", PH_PARAMETER_Z, read_z},
    {"turn", PH_PARAMETER_TURN, read_turn},
    {"k", PH_PARAMETER_RICE_K, read_k},
    {"arithmetic", PH_PARAMETER_ARITHMETIC, read_arithmetic},
    {"ground", PH_PARAMETER_GROUND, read_ground},
    {"orientation", PH_PARAMETER_ORIENTATION, read_orientation},
    {"heading", PH_PARAMETER_HEADING, read_heading},
    {"carrier", PH_PARAMETER_CARRIER, read_carrier},
    {"smooth", PH_PARAMETER_SMOOTH, read_smooth},
    {"strict", PH_PARAMETER_STRICT, read_strict},
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

// ---- the parser
//
// Reads the text form into tables and makes a schema of them. A property is checked as soon as its line is
// read, so that every complaint has a line and a column.

enum {
    FOUND_MAX = 24, // bytes of a strange word that a message repeats
};

typedef char name_buffer[PH_SCHEMA_NAME_MAX + 1];

typedef struct parser {
    ph_scanner scanner;
    ph_error error;
    // Tables for as many classes and properties as there are lines.
    ph_class_def* classes;
    ph_property_def* properties;
    name_buffer* names;
    int class_count;
    int property_count; // of all classes
    int name_count;
    // Of the class that is being read.
    int class_line;
    int class_column;
    bool has_position;
    bool has_motion; // an orientation or a heading is marked
    bool has_carrier;
    uint8_t* codes; // of models; NULL: none was said yet
    int property_capacity;
    const ph_allocator* allocator;
    // Of the property that is being read: where each parameter was said, 0 for not at all.
    int columns[PH_PARAMETERS_END];
} parser;

// ---- complaints; all return false

PH_PRINTF(3, 4)
static bool complain(parser* p, int column, const char* format, ...)
{
    p->error.line = p->scanner.line;
    p->error.column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error.text, sizeof p->error.text, format, arguments);
    va_end(arguments);
    return false;
}

static bool expected(parser* p, const char* what, ph_word found)
{
    if (found.length == 0) {
        return complain(p, found.column, "expected %s, found the end of the line", what);
    }
    char repeated[FOUND_MAX + 1];
    size_t length = 0;
    for (; length < found.length && length < FOUND_MAX; ++length) {
        const char c = found.start[length];
        repeated[length] = c > ' ' && c <= '~' ? c : '?';
    }
    repeated[length] = '\0';
    return complain(p, found.column, "expected %s, found '%s%s'", what, repeated,
                    found.length > FOUND_MAX ? "..." : "");
}

// ---- names

// Copies a word into the table of names. @return NULL when it is no name.
static const char* take_name(parser* p, ph_word word)
{
    char* name = p->names[p->name_count];
    if (word.length > PH_SCHEMA_NAME_MAX || memchr(word.start, '\0', word.length) != NULL) {
        return NULL;
    }
    memcpy(name, word.start, word.length);
    name[word.length] = '\0';
    if (!ph_name_is_valid(name)) {
        return NULL;
    }
    ++p->name_count;
    return name;
}

#define NAME_RULE "a name (at most 31 letters, digits and underscores, not a digit first)"
// ---- classes

// Called when the lines of a class end.
static bool end_class(parser* p)
{
    if (p->class_count == 0) {
        return true;
    }
    const ph_class_def* type = &p->classes[p->class_count - 1];
    if (p->has_position && ph_schema_check_size(type, &p->error)) {
        return true;
    }
    if (!p->has_position) {
        (void)complain(p, p->class_column, "class %s: expected a property with the coding position",
                       type->name);
    }
    p->error.line = p->class_line;
    p->error.column = p->class_column;
    return false;
}

// What may stand behind the name of a class, in any order.
static bool read_class_words(parser* p, ph_class_def* type)
{
    for (;;) {
        const ph_word word = ph_scanner_word(&p->scanner);
        if (word.length == 0) {
            return true;
        }
        const bool is_radius = ph_word_is(word, "radius") && type->radius_m == 0.0;
        const bool is_bend = ph_word_is(word, "bend") && type->bend == 0.0;
        const bool is_leg = ph_word_is(word, "leg") && type->leg_ms == 0;
        if (!is_radius && !is_bend && !is_leg) {
            return expected(p, "radius, bend, leg or the end of the line", word);
        }
        const ph_word value = ph_scanner_word(&p->scanner);
        double number = 0.0;
        if (is_leg) {
            if (!ph_word_int(value, 1, &type->leg_ms) || type->leg_ms > PH_LEG_MS_MAX) {
                return expected(p, "a whole number 1..10000", value);
            }
        } else if (is_bend) {
            if (!(ph_word_number(value, &number) && number >= 0.0 && number <= PH_BEND_MAX)) {
                return expected(p, "a number 0..2", value);
            }
            type->bend = number > 0.0 ? number : PH_BEND_NONE;
        } else if (!ph_word_number(value, &type->radius_m) || type->radius_m < PH_RADIUS_MIN_M ||
                   type->radius_m > PH_RADIUS_MAX_M) {
            return expected(p, "a radius of 0.001..100000 m such as 0.5", value);
        }
    }
}

static bool read_class(parser* p)
{
    const ph_word keyword = ph_scanner_word(&p->scanner);
    const ph_word word = ph_scanner_word(&p->scanner);
    if (!end_class(p)) {
        return false;
    }
    if (p->class_count == PH_CLASSES_MAX) {
        return complain(p, keyword.column, "expected at most %d classes", PH_CLASSES_MAX);
    }
    const char* name = take_name(p, word);
    if (name == NULL) {
        return expected(p, NAME_RULE, word);
    }
    for (int i = 0; i < p->class_count; ++i) {
        if (strcmp(p->classes[i].name, name) == 0) {
            return complain(p, word.column, "expected another name: there is a class %s already",
                            name);
        }
    }
    ph_class_def* type = &p->classes[p->class_count];
    *type = (ph_class_def){.name = name, .properties = p->properties + p->property_count};
    if (!read_class_words(p, type)) {
        return false;
    }
    ++p->class_count;
    p->class_line = p->scanner.line;
    p->class_column = keyword.column;
    p->has_position = false;
    p->has_motion = false;
    p->has_carrier = false;
    return true;
}

// ---- properties

static bool read_options(parser* p, ph_property_def* def)
{
    for (;;) {
        const ph_word word = ph_scanner_word(&p->scanner);
        if (word.length == 0) {
            break;
        }
        const ph_option* option = ph_option_find(word, def->coding);
        if (option == NULL) {
            char list[160];
            ph_option_list(def->coding, list, sizeof list);
            return expected(p, list, word);
        }
        if (p->columns[option->parameter] != 0) {
            return expected(p, "every option once, and one of its kind", word);
        }
        p->columns[option->parameter] = word.column;
        ph_word value = {0};
        const char* wanted = option->read(&p->scanner, &value, def);
        if (wanted != NULL) {
            return expected(p, wanted, value);
        }
    }
    const bool needs_step = def->coding == PH_CODING_FIXED || def->coding == PH_CODING_VEC3;
    if (needs_step && p->columns[PH_PARAMETER_STEP] == 0) {
        return expected(p, "step and a number", ph_scanner_peek(&p->scanner));
    }
    return true;
}

// The coding, what directly follows it, and the options.
static bool read_coding(parser* p, ph_property_def* def)
{
    const ph_word word = ph_scanner_word(&p->scanner);
    def->coding = ph_coding_find(word.start, word.length);
    if (def->coding == PH_CODING_AUTO) {
        return expected(p,
                        "a coding (bool, enum, range, varint, two_bit, gamma, rice, fixed, "
                        "angle, quaternion, vec3, string, bytes, entity or position)",
                        word);
    }
    p->columns[PH_PARAMETER_CODING] = word.column;
    if (def->coding == PH_CODING_POSITION && p->has_position) {
        return expected(p, "one position in a class", word);
    }
    const ph_coding_row* row = ph_coding_row_of(def->coding);
    const ph_word next = ph_scanner_peek(&p->scanner);
    if (row->subject != PH_PARAMETERS_END && (!row->is_optional || ph_word_is_numeric(next))) {
        (void)ph_scanner_word(&p->scanner);
        p->columns[row->subject] = next.column;
        const char* wanted = ph_subject_read(row->subject, next, def);
        if (wanted != NULL) {
            return expected(p, wanted, next);
        }
    }
    return read_options(p, def);
}

// Everything that the line alone does not tell: whether the parameters go together.
static bool check_schema_text(parser* p, const ph_class_def* type, const ph_property_def* def)
{
    ph_property property;
    ph_problem problem;
    bool is_good = ph_property_prepare(def, &property, &problem);
    // In a table a default of 0 may mean "none given"; here it was written down.
    const bool is_given = p->columns[PH_PARAMETER_DEFAULT] != 0;
    if (is_good && is_given && property.def.default_value != def->default_value) {
        is_good = ph_refuse(&problem, PH_PARAMETER_DEFAULT, "0 is outside of %s..%s",
                            ph_number_text(def->lo).text, ph_number_text(def->hi).text);
    }
    if (!is_good) {
        const int column = p->columns[problem.parameter];
        p->error.line = p->scanner.line;
        p->error.column = column != 0 ? column : p->columns[PH_PARAMETER_CODING];
        ph_schema_explain(&p->error, type, type->property_count, problem.message);
    }
    return is_good;
}

static bool read_property(parser* p)
{
    const ph_word word = ph_scanner_word(&p->scanner);
    const ph_word colon = ph_scanner_word(&p->scanner);
    if (!ph_word_is(colon, ":")) {
        return expected(p, p->class_count == 0 ? "class and a name" : "a colon after the name",
                        p->class_count == 0 ? word : colon);
    }
    if (p->class_count == 0) {
        return expected(p, "class and a name before the first property", word);
    }
    ph_class_def* type = &p->classes[p->class_count - 1];
    if (type->property_count == PH_PROPERTIES_MAX) {
        return complain(p, word.column, "expected at most %d properties in class %s",
                        PH_PROPERTIES_MAX, type->name);
    }
    ph_property_def* def = &p->properties[p->property_count];
    *def = (ph_property_def){.name = take_name(p, word)};
    if (def->name == NULL) {
        return expected(p, NAME_RULE, word);
    }
    for (int i = 0; i < type->property_count; ++i) {
        if (strcmp(type->properties[i].name, def->name) == 0) {
            return complain(p, word.column,
                            "expected another name: class %s has a property %s already", type->name,
                            def->name);
        }
    }
    memset(p->columns, 0, sizeof p->columns);
    p->columns[PH_PARAMETER_NAME] = word.column;
    if (!read_coding(p, def) || !check_schema_text(p, type, def)) {
        return false;
    }
    if ((def->is_orientation || def->is_heading) && p->has_motion) {
        const bool is_heading = def->is_heading;
        return complain(p, p->columns[is_heading ? PH_PARAMETER_HEADING : PH_PARAMETER_ORIENTATION],
                        "expected one orientation or heading in class %s", type->name);
    }
    p->has_motion = p->has_motion || def->is_orientation || def->is_heading;
    if (def->is_carrier && p->has_carrier) {
        return complain(p, p->columns[PH_PARAMETER_CARRIER], "expected one carrier in class %s",
                        type->name);
    }
    p->has_carrier = p->has_carrier || def->is_carrier;
    p->has_position = p->has_position || def->coding == PH_CODING_POSITION;
    ++type->property_count;
    ++p->property_count;
    return true;
}

// ---- models

// Room for the codes of all models of so many properties. @return False when there is no memory.
static bool make_codes(parser* p)
{
    const size_t size = (size_t)ph_learned_entry_count(p->property_capacity);
    if (p->codes != NULL) {
        return true;
    }
    p->codes = ph_allocate_zeroed(p->allocator, size);
    if (p->codes == NULL) {
        p->error.result = PH_ERROR_MEMORY;
        return complain(p, 1, "the allocator had no memory left");
    }
    memset(p->codes, PH_MODEL_CODE_NONE, size);
    return true;
}

static bool read_model(parser* p)
{
    (void)ph_scanner_word(&p->scanner);
    if (!make_codes(p)) {
        return false;
    }
    ph_model_reader reader = {.codes = p->codes,
                              .property_capacity = p->property_capacity,
                              .classes = p->classes,
                              .class_count = p->class_count,
                              .properties = p->properties};
    ph_word found = {0};
    const char* wanted = ph_models_read(&reader, &p->scanner, &found);
    return wanted == NULL || expected(p, wanted, found);
}

static bool check_models(parser* p)
{
    return p->codes == NULL || p->property_count <= p->property_capacity ||
           complain(p, 1, "expected at most %d properties in a schema with models, got %d",
                    p->property_capacity, p->property_count);
}

// ---- the whole text

// A word that begins a line, unless it is the name of a property.
static bool begins_with(const parser* p, const char* keyword)
{
    ph_scanner ahead = p->scanner;
    return ph_word_is(ph_scanner_word(&ahead), keyword) &&
           !ph_word_is(ph_scanner_word(&ahead), ":");
}

static bool read_line(parser* p)
{
    return begins_with(p, "class")   ? read_class(p)
           : begins_with(p, "model") ? read_model(p)
                                     : read_property(p);
}

static bool read_all(parser* p)
{
    while (ph_scanner_next_line(&p->scanner)) {
        if (!read_line(p)) {
            return false;
        }
    }
    if (p->class_count == 0) {
        return complain(p, 1, "expected class and a name, found the end of the text");
    }
    return end_class(p) && check_models(p);
}

// Lines with something on them: no more classes and properties can follow. The limits of a schema
// keep a text of a million empty properties from asking for a million rows.
static size_t count_rows(const char* text, size_t length)
{
    const size_t most = (size_t)PH_CLASSES_MAX * (1 + PH_PROPERTIES_MAX);
    ph_scanner scanner = {.text = text, .length = length};
    size_t count = 0;
    while (count < most && ph_scanner_next_line(&scanner)) {
        ++count;
    }
    // One more: the name that turns out to be too many is written before it is counted.
    return count + 1;
}

ph_result ph_schema_parse(const char* text, size_t length, const ph_allocator* allocator,
                          ph_schema** schema, ph_error* error)
{
    PH_ASSERT(schema != NULL && (text != NULL || length == 0));

    *schema = NULL;
    const ph_allocator source = allocator != NULL ? *allocator : (ph_allocator){0};
    const char* const start = length > 0 ? text : "";
    const size_t rows = count_rows(start, length);
    const size_t class_rows = rows < PH_CLASSES_MAX ? rows : PH_CLASSES_MAX;
    parser p = {.scanner = {.text = start, .length = length}, .allocator = &source};
    p.property_capacity =
        rows < PH_LEARNED_PROPERTIES_MAX ? (int)rows : (int)PH_LEARNED_PROPERTIES_MAX;
    p.classes = ph_allocate_array(&source, class_rows, sizeof(ph_class_def));
    p.properties = ph_allocate_array(&source, rows, sizeof(ph_property_def));
    p.names = ph_allocate_array(&source, rows, sizeof(name_buffer));
    ph_result result = PH_ERROR_MEMORY;
    if (p.classes == NULL || p.properties == NULL || p.names == NULL) {
        (void)ph_error_set(&p.error, result, __func__, NULL, "the allocator had no memory left");
        goto cleanup;
    }
    result = PH_ERROR_SCHEMA;
    if (read_all(&p)) {
        result = ph_schema_make(p.classes, p.class_count, p.codes, &source, schema, &p.error);
    } else if (p.error.result == PH_ERROR_MEMORY) {
        result = PH_ERROR_MEMORY;
    }
cleanup:
    if (p.codes != NULL) {
        ph_release(&source, p.codes, (size_t)ph_learned_entry_count(p.property_capacity));
    }
    if (result != PH_OK && error != NULL) {
        *error = p.error;
        error->result = result;
        error->function = __func__;
    }
    ph_release_array(&source, p.names, rows, sizeof(name_buffer));
    ph_release_array(&source, p.properties, rows, sizeof(ph_property_def));
    ph_release_array(&source, p.classes, class_rows, sizeof(ph_class_def));
    return result;
}
