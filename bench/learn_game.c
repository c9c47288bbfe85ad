// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Opening what tables are learned on, and its values as words.

#include "learn_game.h"

#include "kit/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool learn_game_open(learn_game* game, const ph_sim_material_def* def, ph_fault* fault)
{
    *game = (learn_game){.name = def->source};
    if (!ph_sim_material_open(&game->material, def, fault)) {
        return false;
    }
    const ph_recording* recording = game->material.recording;
    if (!ph_column_bindings_make(game->material.schema, recording, &game->bindings, fault)) {
        ph_sim_material_close(&game->material);
        return false;
    }
    if (ph_layouts_create(&game->layouts, game->material.schema, NULL) != PH_OK) {
        ph_sim_material_close(&game->material);
        return ph_fault_set_memory(fault);
    }
    game->packing = ph_packing_make(&game->layouts.layouts[0]);
    game->rules = (ph_baseline_rules){.layouts = &game->layouts,
                                      .packings = &game->packing,
                                      .tick_us = (uint32_t)(1000000 / recording->rate_hz)};
    return true;
}

void learn_game_close(learn_game* game)
{
    free(game->packets);
    ph_layouts_destroy(&game->layouts);
    ph_sim_material_close(&game->material);
    *game = (learn_game){0};
}

static void bind_word(const learn_game* game, const ph_column_binding* binding, int row,
                      uint32_t* words)
{
    const ph_recording* recording = game->material.recording;
    const ph_layout* layout = &game->layouts.layouts[0];
    const ph_property* property = &layout->described->properties[binding->property];
    const double cell = binding->column == PH_BINDING_HEADING
                            ? (double)recording->heading_deg[row]
                            : recording->columns[binding->column].value[row];
    const double value = isnan(cell) ? binding->initial : cell * binding->scale;
    const int64_t whole = (int64_t)value;
    const void* field = binding->field == PH_FIELD_I64 ? (const void*)&whole : (const void*)&value;
    (void)ph_property_quantise_field(property, binding->field, field,
                                     words + layout->word[binding->property]);
}

void learn_game_words(const learn_game* game, int row, uint32_t* words)
{
    const ph_recording* recording = game->material.recording;
    const ph_layout* layout = &game->layouts.layouts[0];
    ph_layout_reset(layout, words, NULL);
    for (int i = 0; i < game->bindings.count; ++i) {
        if (game->bindings.items[i].field != PH_FIELD_TEXT) {
            bind_word(game, &game->bindings.items[i], row, words);
        }
    }
    const int32_t position_mm[3] = {recording->x_mm[row], recording->y_mm[row],
                                    recording->z_mm[row]};
    ph_layout_round_position(layout, &recording->ground, position_mm,
                             words + layout->word[layout->described->position]);
}

bool learn_game_add_packet(learn_game* game, const learn_packet* packet)
{
    if (game->packet_count == game->packet_capacity) {
        const int capacity = game->packet_capacity == 0 ? 256 : 2 * game->packet_capacity;
        learn_packet* grown = realloc(game->packets, (size_t)capacity * sizeof grown[0]);
        if (grown == NULL) {
            return false;
        }
        game->packets = grown;
        game->packet_capacity = capacity;
    }
    game->packets[game->packet_count++] = *packet;
    return true;
}
