// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some 40 KB per tick for 2,000 entities.

#include "truth_wire.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_SIZE = 4, CAPACITY_FIRST = 4096 };

// ---- writing

static bool reserve(truth_bytes* out, size_t more)
{
    if (out->is_short || out->size + more <= out->capacity) {
        return !out->is_short;
    }
    size_t capacity = out->capacity > 0 ? out->capacity : CAPACITY_FIRST;
    while (capacity < out->size + more) {
        capacity *= 2;
    }
    uint8_t* bytes = realloc(out->bytes, capacity);
    if (bytes == NULL) {
        out->is_short = true;
        return false;
    }
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

void truth_bytes_destroy(truth_bytes* out)
{
    free(out->bytes);
    *out = (truth_bytes){0};
}

void truth_bytes_drop(truth_bytes* out, size_t size)
{
    PH_ASSERT(size <= out->size);
    if (size > 0) {
        memmove(out->bytes, out->bytes + size, out->size - size);
        out->size -= size;
    }
}

void truth_put_raw(truth_bytes* out, const void* bytes, size_t size)
{
    if (size > 0 && reserve(out, size)) {
        memcpy(out->bytes + out->size, bytes, size);
        out->size += size;
    }
}

static void put_at(uint8_t* at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; ++i) {
        at[i] = (uint8_t)(number >> 8 * i);
    }
}

void truth_put(truth_bytes* out, uint64_t number, int bytes)
{
    uint8_t plain[8];
    put_at(plain, number, bytes);
    truth_put_raw(out, plain, (size_t)bytes);
}

void truth_put_text(truth_bytes* out, const char* text)
{
    const size_t size = strlen(text);
    truth_put(out, size, 4);
    truth_put_raw(out, text, size);
}

size_t truth_begin(truth_bytes* out, truth_kind kind)
{
    const size_t start = out->size;
    truth_put(out, 0, HEAD_SIZE);
    truth_put(out, (uint64_t)kind, 1);
    return start;
}

void truth_end(truth_bytes* out, size_t start)
{
    if (!out->is_short) {
        put_at(out->bytes + start, out->size - start - HEAD_SIZE, HEAD_SIZE);
    }
}

// ---- reading

uint64_t truth_take(truth_reader* in, int bytes)
{
    if (in->has_failed || in->left < (size_t)bytes) {
        in->has_failed = true;
        return 0;
    }
    uint64_t number = 0;
    for (int i = bytes - 1; i >= 0; --i) {
        number = number << 8 | in->at[i];
    }
    in->at += bytes;
    in->left -= (size_t)bytes;
    return number;
}

int32_t truth_take_i32(truth_reader* in)
{
    const uint32_t bits = (uint32_t)truth_take(in, 4);
    int32_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

void truth_take_text(truth_reader* in, char* text, size_t capacity)
{
    const size_t size = (size_t)truth_take(in, 4);
    text[0] = '\0';
    if (in->has_failed || size > in->left || size >= capacity) {
        in->has_failed = true;
        return;
    }
    memcpy(text, in->at, size);
    text[size] = '\0';
    in->at += size;
    in->left -= size;
}

size_t truth_next(const truth_bytes* in, truth_kind* kind, truth_reader* body)
{
    truth_reader head = {.at = in->bytes, .left = in->size};
    const size_t size = (size_t)truth_take(&head, HEAD_SIZE);
    if (head.has_failed) {
        return 0;
    }
    if (size == 0 || size > TRUTH_MESSAGE_MAX) {
        return SIZE_MAX;
    }
    if (head.left < size) {
        return 0;
    }
    *kind = (truth_kind)truth_take(&head, 1);
    *body = (truth_reader){.at = head.at, .left = size - 1};
    return HEAD_SIZE + size;
}

// ---- values

typedef union value {
    int64_t whole;
    double numbers[4];
    int32_t place[3];
    ph_entity_id entity;
    char text[2 + PH_TEXT_LENGTH_MAX + 1];
} value;

typedef struct form {
    ph_field field;
    size_t size;
} form;

static form form_of(ph_coding coding)
{
    switch (coding) {
    case PH_CODING_FIXED:
    case PH_CODING_ANGLE:
        return (form){PH_FIELD_F64, sizeof(double)};
    case PH_CODING_VEC3:
        return (form){PH_FIELD_F64X3, 3 * sizeof(double)};
    case PH_CODING_QUATERNION:
        return (form){PH_FIELD_F64X4, 4 * sizeof(double)};
    case PH_CODING_STRING:
        return (form){PH_FIELD_TEXT, PH_TEXT_LENGTH_MAX + 1};
    case PH_CODING_BYTES:
        return (form){PH_FIELD_BYTES, 2 + PH_TEXT_LENGTH_MAX};
    case PH_CODING_ENTITY:
        return (form){PH_FIELD_ENTITY, sizeof(ph_entity_id)};
    case PH_CODING_POSITION:
        return (form){PH_FIELD_I32X3, 3 * sizeof(int32_t)};
    default:
        return (form){PH_FIELD_I64, sizeof(int64_t)};
    }
}

static uint64_t hash_of(const value* read, const form* of)
{
    size_t size = of->size;
    if (of->field == PH_FIELD_TEXT) {
        size = strlen(read->text);
    } else if (of->field == PH_FIELD_BYTES) {
        uint16_t length;
        memcpy(&length, read->text, sizeof length);
        size = sizeof length + length;
    }
    uint64_t hash = UINT64_C(14695981039346656037);
    const unsigned char* bytes = (const unsigned char*)read;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

uint64_t truth_value_of_world(const ph_world* world, ph_entity_id entity, int property,
                              const ph_property_def* def)
{
    value read = {0};
    uint64_t key = 0;
    const form of = form_of(def->coding);
    if (ph_world_get_property(world, entity, property, of.field, &read, of.size) != PH_OK) {
        return 0;
    }
    if (of.field != PH_FIELD_ENTITY) {
        return hash_of(&read, &of);
    }
    return ph_world_identify(world, read.entity, &key, NULL) == PH_OK ? key + 1 : 0;
}

uint64_t truth_value_of_client(const ph_client* client, ph_entity_id entity, int property,
                               const ph_property_def* def)
{
    value read = {0};
    uint64_t key = 0;
    const form of = form_of(def->coding);
    if (ph_client_get_property(client, entity, property, of.field, &read, of.size) != PH_OK) {
        return 0;
    }
    if (of.field != PH_FIELD_ENTITY) {
        return hash_of(&read, &of);
    }
    return ph_client_identify(client, read.entity, &key, NULL) == PH_OK ? key + 1 : 0;
}
