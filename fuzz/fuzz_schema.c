// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads a schema as text. What is accepted must print to a text that is accepted, prints the same
// again and has the same fingerprint; what is refused must say where, inside the text.

#include "support/fuzz_source.h"

#include "pinhole/schema.h"

#include <stdlib.h>
#include <string.h>

static char* print(const ph_schema* schema, size_t* length)
{
    *length = ph_schema_print(schema, NULL, 0);
    char* text = malloc(*length + 1);
    fuzz_demand(text != NULL && ph_schema_print(schema, text, *length + 1) == *length);
    return text;
}

static void check_error(const ph_error* error, const uint8_t* data, size_t size)
{
    int line_count = 1;
    for (size_t i = 0; i < size; ++i) {
        line_count += data[i] == '\n' ? 1 : 0;
    }
    fuzz_demand(error->line >= 1 && error->line <= line_count);
    fuzz_demand(error->column >= 1 && (size_t)error->column <= size + 1);
    fuzz_demand(error->text[0] != '\0' && memchr(error->text, '\0', sizeof error->text) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_parse((const char*)data, size, NULL, &schema, &error) != PH_OK) {
        fuzz_demand(schema == NULL);
        check_error(&error, data, size);
        return 0;
    }
    size_t length = 0;
    char* text = print(schema, &length);
    ph_schema* again = NULL;
    fuzz_demand(ph_schema_parse(text, length, NULL, &again, &error) == PH_OK);
    size_t again_length = 0;
    char* again_text = print(again, &again_length);
    fuzz_demand(length == again_length && memcmp(text, again_text, length) == 0);
    fuzz_demand(ph_schema_fingerprint(schema) == ph_schema_fingerprint(again));
    free(text);
    free(again_text);
    ph_schema_destroy(schema);
    ph_schema_destroy(again);
    return 0;
}
