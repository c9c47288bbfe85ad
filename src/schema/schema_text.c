// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads the text form (docs/schema.md) into tables and makes a schema of them. Runs when a tool or
// a client loads a schema. A property is checked as soon as its line is read, so that every
// complaint has a line and a column.

#include "pinhole/schema.h"

#include "base/arena.h"
#include "schema/option.h"
#include "schema/scanner.h"
#include "schema/schema_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    FOUND_MAX = 24, // bytes of a strange word that a message repeats
};

typedef char name_buffer[PH_SCHEMA_NAME_MAX + 1];

typedef struct parser {
    ph_scanner scanner;
    ph_schema_error error;
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
    // Of the property that is being read: where each parameter was said, 0 for not at all.
    int columns[PH_PARAMETERS_END];
} parser;

// ---- complaints; all return false

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
complain(parser* p, int column, const char* format, ...)
{
    p->error.line = p->scanner.line;
    p->error.column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error.message, sizeof p->error.message, format, arguments);
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
    const ph_word rest = ph_scanner_word(&p->scanner);
    if (rest.length > 0) {
        return expected(p, "the end of the line", rest);
    }
    p->classes[p->class_count++] =
        (ph_class_def){.name = name, .properties = p->properties + p->property_count};
    p->class_line = p->scanner.line;
    p->class_column = keyword.column;
    p->has_position = false;
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
static bool check(parser* p, const ph_class_def* type, const ph_property_def* def)
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
    if (!read_coding(p, def) || !check(p, type, def)) {
        return false;
    }
    p->has_position = p->has_position || def->coding == PH_CODING_POSITION;
    ++type->property_count;
    ++p->property_count;
    return true;
}

// ---- the whole text

static bool read_line(parser* p)
{
    ph_scanner ahead = p->scanner;
    const bool is_class =
        ph_word_is(ph_scanner_word(&ahead), "class") && !ph_word_is(ph_scanner_word(&ahead), ":");
    return is_class ? read_class(p) : read_property(p);
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
    return end_class(p);
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
                          ph_schema** schema, ph_schema_error* error)
{
    PH_ASSERT(schema != NULL && (text != NULL || length == 0));

    *schema = NULL;
    const ph_allocator source = allocator != NULL ? *allocator : (ph_allocator){0};
    const char* const start = length > 0 ? text : "";
    const size_t rows = count_rows(start, length);
    const size_t class_rows = rows < PH_CLASSES_MAX ? rows : PH_CLASSES_MAX;
    ph_arena arena;
    ph_result result = ph_arena_create(&arena, &source,
                                       class_rows * sizeof(ph_class_def) +
                                           rows * (sizeof(ph_property_def) + sizeof(name_buffer)) +
                                           3 * PH_ARENA_ALIGNMENT);
    if (result != PH_OK) {
        return result;
    }
    parser p = {.scanner = {.text = start, .length = length}};
    p.classes = ph_arena_allocate_array(&arena, class_rows, sizeof(ph_class_def));
    p.properties = ph_arena_allocate_array(&arena, rows, sizeof(ph_property_def));
    p.names = ph_arena_allocate_array(&arena, rows, sizeof(name_buffer));
    result = PH_ERROR_SCHEMA;
    if (read_all(&p)) {
        result = ph_schema_create(p.classes, p.class_count, &source, schema, &p.error);
    }
    if (result == PH_ERROR_SCHEMA && error != NULL) {
        *error = p.error;
    }
    ph_arena_destroy(&arena);
    return result;
}
