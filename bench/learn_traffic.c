// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's traffic. Once per viewer and budget that tables are learned on.
//
//   truth ──▶ shown (as if everything arrived) ──▶ error ──▶ chosen ──▶ in flight ──▶ baseline

#include "learn_traffic.h"

#include "base/rng.h"
#include "kit/recording.h"
#include "vision/slot_table.h"
#include "vision/select.h"
#include "packet/pinhole_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 250
#define FLIGHTS 16
#define RADIUS_MM 250000.0
#define DELAY_S 0.15
#define LOSS 0.02
#define JUMP_MM_PER_S 100000.0
// Of a packet, so that newcomers do not keep out all others.
#define ENTER_SHARE 0.5
#define NEAREST_MM 1000.0
// As in replication/enter_coder.c.
#define SPREAD_WORTH 4
// 1 mrad, as worlds have it unless they are asked for something else.
#define PRECISION 1024
#define CROWD 16

typedef struct sent_record {
    ph_record record;
    uint32_t words[LEARN_WORDS_MAX];
} sent_record;

typedef struct flight {
    sent_record records[SLOTS];
    int count;
    int tick;
    bool is_open;
} flight;

typedef struct slot_state {
    int entity; // -1: free
    int enter_flights;
    uint32_t association;
    double score;
    bool is_chosen;
    uint8_t coarse;   // of an enter
    sent_record next; // what would be told now
    ph_baseline baseline;
    ph_baseline shown;
    uint8_t known[LEARN_WORDS_MAX * 4];
    uint8_t shown_known[LEARN_WORDS_MAX * 4];
} slot_state;

typedef struct traffic {
    learn_game* game;
    const ph_layout* layout;
    ph_pinhole_frame frame;
    ph_told_costs told_costs;
    ph_rng rng;
    slot_state slots[SLOTS];
    int* slot_of;  // by entity, -1: none
    int32_t* x_mm; // by entity, of those present
    int32_t* y_mm;
    ph_seen* newcomers;
    int next_slot;
    flight flights[FLIGHTS];
    int order[SLOTS];
    uint8_t bytes[1 << 16];
} traffic;

static uint32_t* position_words(const traffic* it, sent_record* sent)
{
    return sent->words + it->layout->word[it->layout->described->position];
}

static double distance_mm(const int32_t a_mm[3], const int32_t b_mm[3])
{
    const double x = (double)a_mm[0] - b_mm[0];
    const double y = (double)a_mm[1] - b_mm[1];
    const double z = (double)a_mm[2] - b_mm[2];
    return sqrt(x * x + y * y + z * z);
}

// ---- which entities are in view

static void free_slot(traffic* it, int slot)
{
    slot_state* state = &it->slots[slot];
    it->slot_of[state->entity] = -1;
    for (int f = 0; f < FLIGHTS; ++f) {
        for (int i = 0; i < it->flights[f].count; ++i) {
            if (it->flights[f].records[i].record.slot == slot) {
                it->flights[f].records[i].record.kind = PH_RECORD_LEAVE;
            }
        }
    }
    *state = (slot_state){.entity = -1, .association = state->association + 1};
}

static void take_slot(traffic* it, int entity)
{
    for (int i = 0; i < SLOTS; ++i) {
        const int slot = (it->next_slot + i) % SLOTS;
        if (it->slots[slot].entity < 0) {
            it->slots[slot].entity = entity;
            it->slot_of[entity] = slot;
            it->next_slot = slot + 1;
            return;
        }
    }
}

// Newcomers get their slots in the order in which a world gives them.
static void look_around(traffic* it, int tick)
{
    const ph_recording* recording = it->game->material.recording;
    int count = 0;
    for (int e = 0; e < recording->entity_count; ++e) {
        const int row = ph_recording_row(recording, e, tick);
        bool is_seen = row >= 0;
        double away_mm = 0.0;
        if (is_seen) {
            const int32_t place_mm[3] = {recording->x_mm[row], recording->y_mm[row],
                                         recording->z_mm[row]};
            away_mm = distance_mm(place_mm, it->frame.frame.eye_mm);
            is_seen = away_mm < RADIUS_MM;
            it->x_mm[e] = place_mm[0];
            it->y_mm[e] = place_mm[1];
        }
        if (is_seen && it->slot_of[e] < 0) {
            it->newcomers[count++] = (ph_seen){.distance2 = (uint64_t)(away_mm * away_mm),
                                               .spawn_order = (uint64_t)e,
                                               .entity = (ph_entity_index)e};
        } else if (!is_seen && it->slot_of[e] >= 0) {
            free_slot(it, it->slot_of[e]);
        }
    }
    ph_sort_nearest(it->newcomers, count);
    ph_chain_neighbours(it->newcomers, count, it->x_mm, it->y_mm);
    for (int i = 0; i < count; ++i) {
        take_slot(it, (int)it->newcomers[i].entity);
    }
}

// ---- what has arrived

static void resolve(traffic* it, int tick)
{
    const int delay_ticks =
        (int)ceil(DELAY_S * 1e6 / it->game->rules.tick_us) + (int)ph_rng_below(&it->rng, 2);
    for (int pass = 0; pass < FLIGHTS; ++pass) {
        flight* oldest = NULL;
        for (int f = 0; f < FLIGHTS; ++f) {
            flight* each = &it->flights[f];
            if (each->is_open && (oldest == NULL || each->tick < oldest->tick)) {
                oldest = each;
            }
        }
        if (oldest == NULL || oldest->tick > tick - delay_ticks) {
            return;
        }
        const bool is_lost = ph_rng_chance(&it->rng, LOSS);
        for (int i = 0; i < oldest->count; ++i) {
            const ph_record* record = &oldest->records[i].record;
            slot_state* state = &it->slots[record->slot];
            if (record->kind == PH_RECORD_LEAVE) {
                continue; // its slot is free by now
            }
            state->enter_flights -= record->kind == PH_RECORD_ENTER ? 1 : 0;
            if (is_lost) {
                state->shown = state->baseline;
                memcpy(state->shown_known, state->known, sizeof state->known);
                continue;
            }
            ph_baseline_take(&state->baseline, state->known, &it->game->rules, record,
                             (uint32_t)oldest->tick);
            if (record->kind == PH_RECORD_ENTER && record->key > it->frame.key_base) {
                it->frame.key_base = record->key;
            }
        }
        oldest->is_open = false;
    }
}

// ---- what is worth sending

static bool is_worth(const traffic* it, const slot_state* state, int property, double away_mm)
{
    const ph_property* described = &it->layout->described->properties[property];
    const ph_packing* packing = &it->game->packing;
    if (described->distance_mm != UINT64_MAX && away_mm > (double)described->distance_mm) {
        return false;
    }
    uint32_t shown[PH_VALUE_WORDS_MAX] = {0};
    ph_packing_load(packing, property, state->shown_known + packing->offset[property], shown);
    const uint32_t* words = state->next.words + it->layout->word[property];
    if (!described->is_number || described->words > 1) {
        return memcmp(shown, words, (size_t)described->words * sizeof words[0]) != 0;
    }
    uint64_t off = words[0] > shown[0] ? words[0] - shown[0] : shown[0] - words[0];
    if (described->def.coding == PH_CODING_ANGLE) {
        const uint64_t turn = UINT64_C(1) << described->angle.width;
        off = off < turn - off ? off : turn - off;
    }
    return off >= described->significant_steps;
}

static void weigh(traffic* it, slot_state* state, int tick)
{
    const ph_recording* recording = it->game->material.recording;
    const int row = ph_recording_row(recording, state->entity, tick);
    ph_record* record = &state->next.record;
    learn_game_words(it->game, row, state->next.words);
    *record = (ph_record){.kind = PH_RECORD_UPDATE, .words = state->next.words};
    const uint32_t* words = position_words(it, &state->next);
    const int32_t place_mm[3] = {(int32_t)words[0], (int32_t)words[1], (int32_t)words[2]};
    const double away_mm = distance_mm(place_mm, it->frame.frame.eye_mm);
    int32_t shown_mm[3];
    ph_baseline_predict(&state->shown, (uint32_t)tick, it->frame.tick_us, shown_mm);
    const double off_mm = distance_mm(place_mm, shown_mm);
    const int shift =
        it->layout->described->properties[it->layout->described->position].coordinate.shift;
    if (off_mm >= (double)(1 << shift)) {
        record->properties |= it->layout->position;
        state->score = off_mm / fmax(away_mm, NEAREST_MM);
    }
    for (int i = 0; i < it->layout->described->def.property_count; ++i) {
        if ((it->layout->position >> i & 1) == 0 && is_worth(it, state, i, away_mm)) {
            record->properties |= UINT64_C(1) << i;
            state->score += 0.01;
        }
    }
    const double known_s =
        (double)((uint32_t)tick - state->baseline.tick[0]) * it->frame.tick_us * 1e-6;
    record->is_jump =
        (record->properties & it->layout->position) != 0 &&
        distance_mm(place_mm, state->baseline.position_mm[0]) > 2000.0 + JUMP_MM_PER_S * known_s;
}

static int compare_scores(const void* a, const void* b)
{
    const slot_state* left = *(slot_state* const*)a;
    const slot_state* right = *(slot_state* const*)b;
    return left->score < right->score ? 1 : left->score > right->score ? -1 : 0;
}

static ph_pinhole_record pinhole_record_of(const slot_state* state, const sent_record* sent,
                                           int slot)
{
    ph_pinhole_record coded = {
        .record = sent->record, .baseline = &state->baseline, .known = state->known};
    coded.record.slot = (uint16_t)slot;
    coded.record.words = (uint32_t*)sent->words;
    return coded;
}

static void choose(traffic* it, int packet_bits, int tick)
{
    slot_state* candidates[SLOTS];
    int count = 0;
    for (int i = 0; i < SLOTS; ++i) {
        slot_state* state = &it->slots[i];
        state->score = 0.0;
        state->is_chosen = false;
        if (state->entity >= 0 && state->baseline.is_entered) {
            weigh(it, state, tick);
            if (state->score > 0.0) {
                candidates[count++] = state;
            }
        }
    }
    qsort(candidates, (size_t)count, sizeof candidates[0], compare_scores);
    double left256 = packet_bits * (double)PH_COST_PER_BIT;
    for (int i = 0; i < count && left256 > 0; ++i) {
        const int slot = (int)(candidates[i] - it->slots);
        const ph_pinhole_record coded =
            pinhole_record_of(candidates[i], &candidates[i]->next, slot);
        candidates[i]->is_chosen = true;
        left256 -= ph_pinhole_cost256(&it->frame, &coded, NULL) + 3.0 * PH_COST_PER_BIT;
    }
}

// ---- a packet

static void keep(flight* flown, const ph_pinhole_record* coded, const sent_record* sent)
{
    sent_record* kept = &flown->records[flown->count++];
    *kept = *sent;
    kept->record = coded->record;
    kept->record.words = kept->words;
}

static void fill_enter(const traffic* it, slot_state* state, int tick)
{
    const ph_recording* recording = it->game->material.recording;
    const int row = ph_recording_row(recording, state->entity, tick);
    ph_record* record = &state->next.record;
    learn_game_words(it->game, row, state->next.words);
    *record = (ph_record){.kind = PH_RECORD_ENTER,
                          .key = recording->id[state->entity],
                          .association = state->association,
                          .words = state->next.words,
                          .properties = it->layout->position};
    for (int i = 0; i < it->layout->described->def.property_count; ++i) {
        if (!ph_layout_is_initial(it->layout, state->next.words, NULL, i)) {
            record->properties |= UINT64_C(1) << i;
        }
    }
    const int back = ph_baseline_velocity_ticks(it->frame.tick_us);
    const int old = ph_recording_row(recording, state->entity, tick - back);
    if (old >= 0) {
        const int32_t way_mm[3] = {recording->x_mm[row] - recording->x_mm[old],
                                   recording->y_mm[row] - recording->y_mm[old],
                                   recording->z_mm[row] - recording->z_mm[old]};
        ph_baseline_velocity(it->layout, it->frame.tick_us, way_mm, back, record->velocity);
    }
}

// The entities that may enter now, as many as fit.
static int gather_enters(traffic* it, int packet_bits, int tick, int slots[SLOTS])
{
    double left256 = ENTER_SHARE * packet_bits * PH_COST_PER_BIT;
    int count = 0;
    for (int i = 0; i < SLOTS && left256 > 0; ++i) {
        slot_state* state = &it->slots[i];
        if (state->entity < 0 || state->baseline.is_entered || state->enter_flights > 0) {
            continue;
        }
        fill_enter(it, state, tick);
        const ph_pinhole_record coded = pinhole_record_of(state, &state->next, i);
        left256 -= ph_pinhole_cost256(&it->frame, &coded, NULL);
        slots[count++] = i;
    }
    return count;
}

static ph_pinhole_neighbour neighbour_at(const traffic* it, int slot,
                                         const ph_pinhole_neighbour* before)
{
    ph_pinhole_record coded = pinhole_record_of(&it->slots[slot], &it->slots[slot].next, slot);
    coded.before = before;
    coded.coarse = it->slots[slot].coarse;
    return ph_pinhole_neighbour_of(&it->frame, &coded);
}

// One time in three nothing is stated, so that this is learned, too.
static void choose_spread(traffic* it, const int* slots, int count)
{
    if (count < SPREAD_WORTH || ph_rng_below(&it->rng, 3) == 0) {
        return;
    }
    ph_pinhole_steps steps = {0};
    ph_pinhole_neighbour from = neighbour_at(it, slots[0], NULL);
    for (int i = 1; i < count; ++i) {
        const ph_pinhole_neighbour to = neighbour_at(it, slots[i], &from);
        ph_pinhole_steps_add(&steps, &it->frame, &from, &to);
        from = to;
    }
    const uint8_t coarse = it->frame.spread.coarse;
    it->frame.spread = ph_pinhole_steps_spread(&steps);
    it->frame.spread.coarse = coarse;
}

// Worlds of the usual precision may tell newcomers coarsely; every other time here, so that exact ones
// are learned, too.
static void round_crowd(traffic* it, const int* slots, int count)
{
    const int some = 1 + (int)ph_rng_below(&it->rng, 3);
    const int most = count >= CROWD ? PH_COARSE_MAX : some;
    it->frame.spread =
        (ph_pinhole_spread){.coarse = (uint8_t)(ph_rng_below(&it->rng, 2) == 0 ? most : 0)};
    for (int i = 0; i < count; ++i) {
        slot_state* state = &it->slots[slots[i]];
        uint32_t* words = position_words(it, &state->next);
        state->coarse = (uint8_t)ph_pinhole_round_enter(&it->frame, it->layout, words);
    }
}

static void write_enters(traffic* it, ph_entropy_writer* writer, flight* flown, int packet_bits,
                         int tick)
{
    int slots[SLOTS];
    const int count = gather_enters(it, packet_bits, tick, slots);
    it->frame.precision = PRECISION;
    round_crowd(it, slots, count);
    choose_spread(it, slots, count);
    ph_pinhole_neighbour before;
    for (int i = 0; i < count; ++i) {
        slot_state* state = &it->slots[slots[i]];
        ph_pinhole_record coded = pinhole_record_of(state, &state->next, slots[i]);
        coded.before = i > 0 ? &before : NULL;
        coded.coarse = state->coarse;
        const uint32_t cost256 = ph_pinhole_write(&it->frame, writer, &coded);
        before = ph_pinhole_neighbour_of(&it->frame, &coded);
        ph_baseline_take(&state->shown, state->shown_known, &it->game->rules, &coded.record,
                         (uint32_t)tick);
        keep(flown, &coded, &state->next);
        state->enter_flights += 1;
        it->game->figures.enters += 1;
        it->game->figures.enter256 += cost256;
    }
    it->frame.precision = 0; // updates are exact here
}

static void bill_update(traffic* it, const ph_pinhole_record* coded)
{
    ph_record_bits stats = {0};
    (void)ph_pinhole_cost256(&it->frame, coded, &stats);
    learn_figures* figures = &it->game->figures;
    const int heading = it->layout->heading_property;
    figures->updates += 1;
    figures->mask256 += stats.mask_bits;
    for (int i = 0; i < it->layout->described->def.property_count; ++i) {
        *(i == it->layout->described->position ? &figures->position256
          : i == heading                       ? &figures->heading256
                                               : &figures->others256) += stats.property_bits[i];
    }
}

static int best_density(const traffic* it, const learn_packet* packet)
{
    int entered[PH_URGENCIES];
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        entered[urgency] = packet->told[urgency] + packet->silent[urgency];
    }
    ph_told_sums sums;
    ph_told_sums_begin(&sums, &it->told_costs, entered);
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        sums.told[urgency] = packet->told[urgency];
    }
    return ph_pinhole_best_density(&sums, &it->told_costs);
}

static bool write_updates(traffic* it, ph_entropy_writer* writer, flight* flown, int tick)
{
    int urgencies[SLOTS];
    learn_packet packet = {0};
    for (int i = 0; i < SLOTS; ++i) {
        if (it->slots[i].baseline.is_entered) {
            urgencies[i] = ph_pinhole_urgency(&it->frame, &it->slots[i].baseline);
            *(it->slots[i].is_chosen ? &packet.told[urgencies[i]] : &packet.silent[urgencies[i]]) +=
                1;
        }
    }
    it->frame.density = best_density(it, &packet);
    for (int i = 0; i < SLOTS; ++i) {
        slot_state* state = &it->slots[i];
        if (!state->baseline.is_entered) {
            continue;
        }
        ph_pinhole_write_told(&it->frame, writer, urgencies[i], state->is_chosen);
        it->game->figures.told256 += ph_pinhole_flag_cost256(
            &it->game->layouts.models, it->frame.density, urgencies[i], state->is_chosen);
        if (state->is_chosen) {
            const ph_pinhole_record coded = pinhole_record_of(state, &state->next, i);
            bill_update(it, &coded);
            ph_pinhole_write(&it->frame, writer, &coded);
            ph_baseline_take(&state->shown, state->shown_known, &it->game->rules, &coded.record,
                             (uint32_t)tick);
            keep(flown, &coded, &state->next);
        }
    }
    return learn_game_add_packet(it->game, &packet);
}

static bool send_packet(traffic* it, const learn_viewer* viewer, int tick)
{
    flight* flown = NULL;
    for (int f = 0; f < FLIGHTS && flown == NULL; ++f) {
        flown = it->flights[f].is_open ? NULL : &it->flights[f];
    }
    if (flown == NULL) {
        return true;
    }
    flown->count = 0;
    flown->tick = tick;
    flown->is_open = true;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, it->bytes, sizeof it->bytes);
    it->frame.tick = (uint32_t)tick;
    choose(it, viewer->packet_bits, tick);
    write_enters(it, &writer, flown, viewer->packet_bits, tick);
    return write_updates(it, &writer, flown, tick);
}

static void start(traffic* it, learn_game* game, const learn_viewer* viewer)
{
    it->game = game;
    it->layout = &game->layouts.layouts[0];
    it->rng = ph_rng_make(viewer->seed);
    ph_told_costs_fill(&it->told_costs, &game->layouts.models);
    it->frame = (ph_pinhole_frame){.frame = {.layouts = &game->layouts,
                                             .ground = &game->material.recording->ground,
                                             .slot_bits = PH_CLASSIC_SLOT_BITS_MIN},
                                   .packings = &game->packing,
                                   .tick_us = game->rules.tick_us,
                                   .counts = &game->counts};
    for (int i = 0; i < SLOTS; ++i) {
        it->slots[i].entity = -1;
    }
    for (int e = 0; e < game->material.recording->entity_count; ++e) {
        it->slot_of[e] = -1;
    }
}

bool learn_traffic_run(learn_game* game, const learn_viewer* viewer)
{
    const ph_recording* recording = game->material.recording;
    traffic* it = calloc(1, sizeof(traffic));
    const size_t entities = (size_t)recording->entity_count;
    int* slot_of = calloc(entities, sizeof(int));
    int32_t* places_mm = calloc(2 * entities, sizeof(int32_t));
    ph_seen* newcomers = calloc(entities, sizeof(ph_seen));
    bool is_done = it != NULL && slot_of != NULL && places_mm != NULL && newcomers != NULL;
    if (is_done) {
        it->slot_of = slot_of;
        it->x_mm = places_mm;
        it->y_mm = places_mm + entities;
        it->newcomers = newcomers;
        start(it, game, viewer);
    }
    for (int tick = 0; is_done && tick < recording->tick_count; ++tick) {
        const int row = ph_recording_row(recording, viewer->entity, tick);
        if (row < 0 || tick % viewer->interval_ticks != 0) {
            continue;
        }
        it->frame.frame.eye_mm[0] = recording->x_mm[row];
        it->frame.frame.eye_mm[1] = recording->y_mm[row];
        it->frame.frame.eye_mm[2] = recording->z_mm[row];
        look_around(it, tick);
        resolve(it, tick);
        is_done = send_packet(it, viewer, tick);
    }
    free(newcomers);
    free(places_mm);
    free(slot_of);
    free(it);
    return is_done;
}
