// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "tuned_schema.h"

#include "schema/schema_state.h"
#include "test_support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 19 };

typedef struct text_buffer {
    char* text;
    size_t length;
} text_buffer;

static void add(text_buffer* out, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->length +=
        (size_t)vsnprintf(out->text + out->length, TEXT_MAX - out->length, format, arguments);
    va_end(arguments);
    assert_true(out->length < TEXT_MAX);
}

static void add_codes(text_buffer* out, test_rng* rng, int symbols)
{
    add(out, " ");
    for (int i = 0; i < symbols; ++i) {
        add(out, "%c", ph_model_code_character((int)test_rng_below(rng, 24)));
    }
}

static void add_models(text_buffer* out, const ph_schema* plain, test_rng* rng)
{
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, plain->property_count)) {
        if (walk.family < PH_FAMILY_COUNT && test_rng_below(rng, 3) == 0) {
            add(out, "model %s %d", ph_pinhole_families[walk.family].name, walk.model);
            add_codes(out, rng, walk.symbols);
            add(out, "\n");
        }
    }
    for (int c = 0; c < plain->class_count; ++c) {
        const ph_class_def* type = &plain->classes[c].def;
        for (int p = 0; p < type->property_count; ++p) {
            add(out, "model %s.%s told", type->name, type->properties[p].name);
            add_codes(out, rng, 2);
            add_codes(out, rng, 2);
            add(out, "\nmodel %s.%s number", type->name, type->properties[p].name);
            add_codes(out, rng, PH_NUMBER_SYMBOLS);
            add(out, "\n");
        }
    }
}

ph_schema* tuned_schema_make(ph_schema* plain, uint64_t seed)
{
    test_rng rng = {.state = seed};
    text_buffer out = {.text = malloc(TEXT_MAX)};
    assert_non_null(out.text);
    out.length = ph_schema_print(plain, out.text, TEXT_MAX);
    add_models(&out, plain, &rng);
    ph_schema* parsed = NULL;
    ph_error error = {0};
    if (ph_schema_parse(out.text, out.length, NULL, &parsed, &error) != PH_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    ph_class_def classes[PH_CLASSES_MAX];
    for (int c = 0; c < plain->class_count; ++c) {
        classes[c] = plain->classes[c].def;
    }
    ph_schema* made = NULL;
    assert_int_equal(
        ph_schema_create_tuned(classes, plain->class_count, parsed, NULL, &made, &error), PH_OK);
    assert_true(ph_schema_fingerprint(made) == ph_schema_fingerprint(parsed));
    assert_true(ph_schema_fingerprint(made) != ph_schema_fingerprint(plain));
    ph_schema_destroy(parsed);
    ph_schema_destroy(plain);
    free(out.text);
    return made;
}
