// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The plain front-end. Once per viewer and send.

#include "naive_front_end.h"

#include "textbook_bits.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BITS 68
#define SLOT_BITS 8
#define ASSOCIATION_BITS 2
#define COORDINATE_BITS 16
#define COORDINATE_SHIFT 4
#define VALUE_BITS 8
#define NEAR_MM 100

typedef struct ranked {
    float score;
    int slot;
} ranked;

static int compare_ranked(const void* left, const void* right)
{
    const ranked* a = left;
    const ranked* b = right;
    if (a->score != b->score) {
        return a->score < b->score ? 1 : -1;
    }
    return a->slot - b->slot;
}

static void rank(const naive_front_end* front_end, naive_viewer* viewer, ranked* order)
{
    const int32_t* eye_mm = front_end->entities[viewer->own].position_mm;
    for (int i = 0; i < viewer->pair_count; ++i) {
        naive_pair* pair = &viewer->pairs[i];
        const int32_t* position_mm = front_end->entities[pair->entity].position_mm;
        const int distance_mm =
            abs(position_mm[0] - eye_mm[0]) + abs(position_mm[1] - eye_mm[1]) + 1;
        pair->score += 10000.0f / (float)distance_mm + (distance_mm < NEAR_MM ? 100.0f : 0.0f);
        order[i] = (ranked){.score = pair->score, .slot = i};
    }
    qsort(order, (size_t)viewer->pair_count, sizeof order[0], compare_ranked);
}

// Bit p: value p differs.
static uint32_t compare(const naive_state* state, const naive_state* known)
{
    uint32_t differences = 0;
    for (int i = 0; i < NAIVE_PROPERTIES - 1; ++i) {
        if (state->values[i] != known->values[i]) {
            differences |= 1u << i;
        }
    }
    return differences;
}

static bool write_record(textbook_stream* stream, int slot, const naive_state* state,
                         bool has_moved, uint32_t differences)
{
    bool is_fine = textbook_write(stream, (uint32_t)slot, SLOT_BITS) &&
                   textbook_write(stream, 1, ASSOCIATION_BITS) && textbook_write(stream, 0, 1) &&
                   textbook_write(stream, has_moved, 1);
    for (int axis = 0; axis < 3 && has_moved; ++axis) {
        const uint32_t low = (uint32_t)(state->position_mm[axis] >> COORDINATE_SHIFT) & 0xFFFF;
        is_fine = is_fine && textbook_write(stream, low, COORDINATE_BITS);
    }
    is_fine = is_fine && textbook_write(stream, differences != 0, 1);
    for (int i = 0; i < NAIVE_PROPERTIES - 1 && differences != 0; ++i) {
        const bool has_value = (differences >> i & 1) != 0;
        is_fine = is_fine && textbook_write(stream, has_value, 1);
        if (has_value) {
            is_fine = is_fine && textbook_write(stream, state->values[i] & 0xFF, VALUE_BITS);
        }
    }
    return is_fine;
}

uint32_t naive_send(naive_front_end* front_end, int viewer_index, uint32_t limit_bits)
{
    naive_viewer* viewer = &front_end->viewers[viewer_index];
    ranked order[NAIVE_VISIBLE];
    rank(front_end, viewer, order);
    textbook_stream stream = {front_end->packet, limit_bits, 0};
    for (int bit = 0; bit < HEADER_BITS; bit += 4) {
        textbook_write(&stream, 0, 4);
    }
    for (int i = 0; i < viewer->pair_count; ++i) {
        naive_pair* pair = &viewer->pairs[order[i].slot];
        const naive_state* state = &front_end->entities[pair->entity];
        const bool has_moved =
            memcmp(state->position_mm, pair->known.position_mm, sizeof state->position_mm) != 0;
        const uint32_t differences = compare(state, &pair->known);
        if (!has_moved && differences == 0) {
            continue;
        }
        const uint32_t before_bits = stream.head_bits;
        if (!write_record(&stream, order[i].slot, state, has_moved, differences)) {
            stream.head_bits = before_bits;
            break;
        }
        pair->known = *state;
        pair->score = 0.0f;
        ++front_end->update_count;
    }
    return stream.head_bits;
}
