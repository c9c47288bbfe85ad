// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The values of entities: differences by coding, a few instructions each; then rows and columns of one
// class, whose storing runs for every property of every struct that is set.

#include "entities/columns.h"

#include "base/allocator.h"

#include <math.h>
#include <string.h>

// Of several weights at once, that of the largest counts; the sum must not come round.
#define STIR_LIMIT 1048576.0

// ---- differences

static uint64_t distance_of(const uint32_t* a, const uint32_t* b)
{
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double difference = (double)(int32_t)(a[axis] - b[axis]);
        square += difference * difference;
    }
    return (uint64_t)sqrt(square);
}

static uint64_t number_difference(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    const bool is_wide = property->words > 1;
    const uint64_t x = a[0] | (is_wide ? (uint64_t)a[1] << 32 : 0);
    const uint64_t y = b[0] | (is_wide ? (uint64_t)b[1] << 32 : 0);
    const uint64_t difference = x > y ? x - y : y - x;
    if (property->def.coding != PH_CODING_ANGLE) {
        return difference;
    }
    // The difference round the other side of the circle may be shorter.
    const uint64_t circle = UINT64_C(1) << property->angle.width;
    return difference < circle - difference ? difference : circle - difference;
}

static uint64_t largest_difference(const uint32_t* a, const uint32_t* b, int count)
{
    uint32_t largest = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t difference = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        largest = difference > largest ? difference : largest;
    }
    return largest;
}

uint64_t ph_difference_steps(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    if (property->def.coding == PH_CODING_POSITION) {
        return distance_of(a, b);
    }
    if (property->is_number) {
        return number_difference(property, a, b);
    }
    if (property->def.coding == PH_CODING_VEC3) {
        return largest_difference(a, b, property->words);
    }
    return property->significant_steps;
}

uint32_t ph_difference_stir(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    double looks = 1.0;
    if (property->significant_steps > 1) {
        const double whole = PH_STIR_WHOLE * (double)property->significant_steps;
        looks = (double)ph_difference_steps(property, a, b) / whole;
        looks = looks < 1.0 ? looks : 1.0;
    }
    const double stir = PH_STIR_UNIT * looks * (double)property->weight;
    return stir < STIR_LIMIT ? 1 + (uint32_t)stir : (uint32_t)STIR_LIMIT;
}

// ---- rows and columns of one class
//
// One block, because growing is then one allocation that succeeds or fails as a whole.

// A text is kept as its length and its bytes; even, so that the next length is aligned.
static size_t text_stride(const ph_property* property)
{
    return (sizeof(uint16_t) + (size_t)property->def.max_length + 1) & ~(size_t)1;
}

static size_t row_bytes(const ph_class* described)
{
    size_t bytes = sizeof(ph_entity_index) + sizeof(uint32_t);
    bytes += described->orientation >= 0 ? sizeof(ph_table_turn) : 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property* property = &described->properties[p];
        if (p != described->position) {
            bytes += ((size_t)property->words + 1) * sizeof(uint32_t);
        }
        if (property->is_text) {
            bytes += text_stride(property);
        }
    }
    return bytes;
}

// Words first, texts after them: everything is aligned whatever the capacity.
static void lay_out_columns(ph_table* table, void* block, int capacity)
{
    const ph_class* described = table->described;
    const size_t rows = (size_t)capacity;
    uint32_t* words = block;
    table->owner = words;
    table->free_rows = words + rows;
    words += 2 * rows;
    table->turns = NULL;
    if (described->orientation >= 0) {
        table->turns = (ph_table_turn*)(void*)words;
        words += rows * sizeof(ph_table_turn) / sizeof(uint32_t);
    }
    for (int p = 0; p < described->def.property_count; ++p) {
        const bool has_column = p != described->position;
        table->columns[p] = has_column ? words : NULL;
        words += has_column ? rows * (size_t)described->properties[p].words : 0;
        table->changed[p] = has_column ? words : NULL;
        words += has_column ? rows : 0;
    }
    uint8_t* bytes = (uint8_t*)words;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property* property = &described->properties[p];
        table->texts[p] = property->is_text ? bytes : NULL;
        bytes += property->is_text ? rows * text_stride(property) : 0;
    }
    PH_ASSERT(bytes == (uint8_t*)block + rows * row_bytes(described));
    table->block = block;
    table->capacity = capacity;
}

static void copy_columns(ph_table* to, const ph_table* from)
{
    const ph_class* described = from->described;
    const size_t rows = (size_t)from->used_count;
    memcpy(to->owner, from->owner, rows * sizeof(ph_entity_index));
    memcpy(to->free_rows, from->free_rows, (size_t)from->free_count * sizeof(uint32_t));
    if (from->turns != NULL) {
        memcpy(to->turns, from->turns, rows * sizeof(ph_table_turn));
    }
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property* property = &described->properties[p];
        if (from->columns[p] != NULL) {
            memcpy(to->columns[p], from->columns[p],
                   rows * (size_t)property->words * sizeof(uint32_t));
            memcpy(to->changed[p], from->changed[p], rows * sizeof(uint32_t));
        }
        if (from->texts[p] != NULL) {
            memcpy(to->texts[p], from->texts[p], rows * text_stride(property));
        }
    }
}

ph_result ph_table_create(ph_table* table, const ph_class* described, const ph_allocator* allocator,
                          int capacity)
{
    *table = (ph_table){.described = described, .allocator = *allocator};
    const ph_result result = ph_table_reserve(table, capacity);
    if (result != PH_OK) {
        *table = (ph_table){0};
    }
    return result;
}

void ph_table_destroy(ph_table* table)
{
    if (table->block != NULL) {
        ph_release_array(&table->allocator, table->block, (size_t)table->capacity,
                         row_bytes(table->described));
    }
    *table = (ph_table){0};
}

ph_result ph_table_reserve(ph_table* table, int capacity)
{
    if (capacity <= table->capacity) {
        return PH_OK;
    }
    const size_t bytes = row_bytes(table->described);
    void* block = ph_allocate_array(&table->allocator, (size_t)capacity, bytes);
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_table grown = *table;
    lay_out_columns(&grown, block, capacity);
    if (table->block != NULL) {
        copy_columns(&grown, table);
        ph_release_array(&table->allocator, table->block, (size_t)table->capacity, bytes);
    }
    *table = grown;
    return PH_OK;
}

bool ph_table_is_full(const ph_table* table)
{
    return table->free_count == 0 && table->used_count == table->capacity;
}

static void set_text(ph_table* table, int property, uint32_t row, ph_text text)
{
    uint8_t* cell =
        table->texts[property] + (size_t)row * text_stride(&table->described->properties[property]);
    memcpy(cell, &text.length, sizeof text.length);
    if (text.length > 0) {
        memcpy(cell + sizeof text.length, text.bytes, text.length);
    }
}

uint32_t ph_table_take_row(ph_table* table, ph_entity_index owner)
{
    PH_ASSERT(!ph_table_is_full(table));

    const uint32_t row = table->free_count > 0 ? table->free_rows[--table->free_count]
                                               : (uint32_t)table->used_count++;
    table->owner[row] = owner;
    if (table->turns != NULL) {
        table->turns[row] = (ph_table_turn){0};
    }
    for (int p = 0; p < table->described->def.property_count; ++p) {
        const ph_property* property = &table->described->properties[p];
        if (table->columns[p] != NULL) {
            memcpy(ph_table_value(table, p, row), property->initial,
                   (size_t)property->words * sizeof(uint32_t));
            table->changed[p][row] = 0;
        }
        if (property->is_text) {
            set_text(table, p, row, (ph_text){0});
        }
    }
    return row;
}

void ph_table_give_back_row(ph_table* table, uint32_t row)
{
    PH_ASSERT(row < (uint32_t)table->used_count && table->owner[row] < PH_ROW_FREE);

    table->owner[row] = PH_ROW_FREE + (uint32_t)table->free_count;
    table->free_rows[table->free_count++] = row;
}

bool ph_table_store(ph_table* table, int property, uint32_t row, const uint32_t* words)
{
    uint32_t* value = ph_table_value(table, property, row);
    uint32_t difference = 0;
    for (int i = 0; i < table->described->properties[property].words; ++i) {
        difference |= value[i] ^ words[i];
        value[i] = words[i];
    }
    return difference != 0;
}

ph_text ph_table_text(const ph_table* table, int property, uint32_t row)
{
    const uint8_t* cell =
        table->texts[property] + (size_t)row * text_stride(&table->described->properties[property]);
    ph_text text = {.bytes = cell + sizeof text.length};
    memcpy(&text.length, cell, sizeof text.length);
    return text;
}

bool ph_table_store_text(ph_table* table, int property, uint32_t row, ph_text text)
{
    PH_ASSERT(text.length <= table->described->properties[property].def.max_length);

    const ph_text kept = ph_table_text(table, property, row);
    if (kept.length == text.length &&
        (text.length == 0 || memcmp(kept.bytes, text.bytes, text.length) == 0)) {
        return false;
    }
    set_text(table, property, row, text);
    ++*ph_table_value(table, property, row);
    return true;
}

static bool is_row_sound(const ph_table* table, uint32_t row)
{
    for (int p = 0; p < table->described->def.property_count; ++p) {
        const ph_property* property = &table->described->properties[p];
        if (property->is_text && ph_table_text(table, p, row).length > property->def.max_length) {
            return false;
        }
    }
    return true;
}

bool ph_table_validate(const ph_table* table)
{
    if (table->used_count > table->capacity || table->free_count > table->used_count) {
        return false;
    }
    int free_count = 0;
    for (int row = 0; row < table->used_count; ++row) {
        if (table->owner[row] >= PH_ROW_FREE) {
            ++free_count;
        } else if (!is_row_sound(table, (uint32_t)row)) {
            return false;
        }
    }
    // Each place is named back by its row, so no row stands in two of them.
    for (int place = 0; place < table->free_count; ++place) {
        const uint32_t row = table->free_rows[place];
        if (row >= (uint32_t)table->used_count ||
            table->owner[row] != PH_ROW_FREE + (uint32_t)place) {
            return false;
        }
    }
    return free_count == table->free_count;
}

uint32_t* ph_table_value(const ph_table* table, int property, uint32_t row)
{
    return table->columns[property] +
           (size_t)row * (size_t)table->described->properties[property].words;
}

// Of an orientation, after it was stored: what is set before a tick is that of the tick.
static void note_turn(ph_table* table, uint32_t row, uint32_t now)
{
    ph_table_turn* turn = &table->turns[row];
    const uint32_t tick = now + 1;
    const uint32_t passed = tick - turn->mark_tick;
    if (turn->count != 0 && passed != 0 && passed < table->mark_ticks) {
        return;
    }
    if (turn->count != 0 && passed != 0) {
        memcpy(turn->former, turn->mark, sizeof turn->former);
        turn->former_tick = turn->mark_tick;
        turn->count = 2;
    }
    turn->count = turn->count == 0 ? 1 : turn->count;
    memcpy(turn->mark, ph_table_value(table, table->described->orientation, row),
           sizeof turn->mark);
    turn->mark_tick = tick;
}

const uint32_t* ph_table_turned_from(const ph_table* table, uint32_t row, uint32_t tick,
                                     uint32_t* from_tick)
{
    const ph_table_turn* turn = &table->turns[row];
    const uint32_t least = table->mark_ticks > 0 ? table->mark_ticks : 1;
    // One that was set since the tick is ahead of it.
    const uint32_t passed = tick - turn->mark_tick;
    if (turn->count > 0 && passed >= least && passed <= INT32_MAX) {
        *from_tick = turn->mark_tick;
        return turn->mark;
    }
    *from_tick = turn->former_tick;
    return turn->count > 1 ? turn->former : NULL;
}

void ph_table_stamp(ph_table* table, int property, uint32_t row, uint32_t tick)
{
    table->changed[property][row] = tick;
    if (property == table->described->orientation) {
        note_turn(table, row, tick);
    }
}

uint32_t ph_table_changed(const ph_table* table, int property, uint32_t row)
{
    return table->changed[property][row];
}
