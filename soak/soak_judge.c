// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The model's account of what is true, and what it finds when it compares. Runs for every entity that
// changes, every packet that is applied, and every datagram that is sent.

#include "soak/soak_stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what is true

static void note_value(soak_entity* entity, int p, int32_t step, uint64_t hash)
{
    int* count = &entity->past_count[p];
    soak_past* newest = &entity->past[p][(*count + SOAK_HISTORY - 1) % SOAK_HISTORY];
    if (*count > 0 && newest->hash == hash) {
        return;
    }
    if (*count > 0 && newest->step == step) {
        newest->hash = hash;
        return;
    }
    entity->past[p][*count % SOAK_HISTORY] = (soak_past){step, hash};
    ++*count;
}

static void note_life(const soak_stage* stage, soak_entity* entity)
{
    soak_life now = {.step = stage->step,
                     .class_index = entity->class_index,
                     .incarnation = entity->incarnation,
                     .seen_by = entity->seen_by,
                     .is_always = entity->is_always,
                     .is_never = entity->is_never};
    if (entity->class_index >= 0) {
        ph_world_get_property(stage->world, entity->id, stage->schema.position[entity->class_index],
                              PH_FIELD_I64X3, now.mm, sizeof now.mm);
    }
    entity->life[entity->life_count % SOAK_HISTORY] = now;
    ++entity->life_count;
}

void soak_note_truth(soak_stage* stage)
{
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        soak_entity* entity = &stage->entities[i];
        if (!entity->is_touched) {
            continue;
        }
        entity->is_touched = false;
        note_life(stage, entity);
        for (int p = 0; entity->class_index >= 0 &&
                        p < soak_property_count(&stage->schema, entity->class_index);
             ++p) {
            const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
            entity->hashes[p] = soak_world_hash(stage->world, entity->id, def, p);
            note_value(entity, p, stage->step, entity->hashes[p]);
        }
    }
}

static void follow(const soak_stage* stage, soak_player* player)
{
    if (player->own >= 0 && stage->entities[player->own].incarnation == player->own_incarnation &&
        stage->entities[player->own].class_index >= 0) {
        memcpy(player->eye_mm, stage->entities[player->own].mm, sizeof player->eye_mm);
    }
}

void soak_note_eyes(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        follow(stage, player);
        memcpy(player->tick_eye_mm, player->eye_mm, sizeof player->eye_mm);
        memcpy(player->left_eye_mm, player->eye_mm, sizeof player->eye_mm);
    }
}

void soak_note_glances(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        if (!player->is_there) {
            continue;
        }
        follow(stage, player);
        soak_glance* glance = &player->glances[player->glance_count++ % SOAK_HISTORY];
        *glance = (soak_glance){.step = stage->step,
                                .sees = player->def.sees,
                                .own = player->own,
                                .own_incarnation = player->own_incarnation};
        memcpy(glance->eye_mm, player->eye_mm, sizeof glance->eye_mm);
        memcpy(glance->tick_eye_mm, player->tick_eye_mm, sizeof glance->tick_eye_mm);
        memcpy(glance->left_eye_mm, player->left_eye_mm, sizeof glance->left_eye_mm);
    }
}

static const soak_life* life_at(const soak_entity* entity, int32_t step)
{
    const int oldest = entity->life_count > SOAK_HISTORY ? entity->life_count - SOAK_HISTORY : 0;
    for (int i = entity->life_count - 1; i >= oldest; --i) {
        if (entity->life[i % SOAK_HISTORY].step <= step) {
            return &entity->life[i % SOAK_HISTORY];
        }
    }
    return NULL;
}

static const soak_past* value_at(const soak_entity* entity, int p, int32_t step)
{
    const int count = entity->past_count[p];
    const int oldest = count > SOAK_HISTORY ? count - SOAK_HISTORY : 0;
    for (int i = count - 1; i >= oldest; --i) {
        if (entity->past[p][i % SOAK_HISTORY].step <= step) {
            return &entity->past[p][i % SOAK_HISTORY];
        }
    }
    return NULL;
}

static const soak_glance* glance_at(const soak_player* player, int32_t step)
{
    const int count = player->glance_count;
    const int oldest = count > SOAK_HISTORY ? count - SOAK_HISTORY : 0;
    for (int i = count - 1; i >= oldest; --i) {
        if (player->glances[i % SOAK_HISTORY].step <= step) {
            return &player->glances[i % SOAK_HISTORY];
        }
    }
    return NULL;
}

// ---- no phantom

static bool is_own(const soak_glance* glance, int entity, const soak_life* life)
{
    return glance->own == entity && glance->own_incarnation == life->incarnation;
}

static bool may_know(const soak_stage* stage, const soak_player* player, int index,
                     const soak_life* life, const soak_glance* glance)
{
    const soak_entity* entity = &stage->entities[index];
    if (is_own(glance, index, life)) {
        return true;
    }
    // A new "no" of the game counts from the viewer's next refresh.
    const bool is_blocked =
        (entity->blocked >> player->index & 1) != 0 &&
        glance->step - entity->blocked_since[player->index] > stage->params.vision.refresh_ticks;
    return !life->is_never && (life->seen_by & glance->sees) != 0 &&
           !(stage->params.asks_game && is_blocked);
}

bool soak_is_for(const ph_property_def* def, const soak_player* player, bool is_its_own)
{
    return def->audience == PH_AUDIENCE_ALL || (def->audience == PH_AUDIENCE_OWNER && is_its_own) ||
           (def->audience == PH_AUDIENCE_MASK && (def->audience_mask & player->def.audience) != 0);
}

static double apart_mm(const int64_t a_mm[3], const int64_t b_mm[3])
{
    double square = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double way = (int32_t)((uint32_t)a_mm[i] - (uint32_t)b_mm[i]);
        square += way * way;
    }
    return sqrt(square);
}

// Pinhole: a position may be coarse by an angle, seen from the eye of a recent packet.
static bool is_coarse_right(const soak_stage* stage, const soak_player* player, ph_entity_id id,
                            int property, const soak_life* life, double step_mm)
{
    int64_t mm[3];
    if (stage->params.profile != PH_PROFILE_PINHOLE ||
        ph_client_get_property(player->client, id, property, PH_FIELD_I64X3, mm, sizeof mm) !=
            PH_OK) {
        return false;
    }
    const double told = player->def.precision_mrad;
    const double enter = fmax(told, fmin(32.0 * told, 32.0));
    double range_mm = 0.0;
    const int oldest =
        player->glance_count > SOAK_HISTORY ? player->glance_count - SOAK_HISTORY : 0;
    for (int i = oldest; i < player->glance_count; ++i) {
        range_mm = fmax(range_mm, apart_mm(player->glances[i % SOAK_HISTORY].eye_mm, life->mm));
    }
    return apart_mm(mm, life->mm) <= enter * 1e-3 * range_mm + 2.0 * step_mm;
}

static double flat_mm(const int64_t a_mm[3], const int64_t b_mm[3])
{
    const double x = (int32_t)((uint32_t)a_mm[0] - (uint32_t)b_mm[0]);
    const double y = (int32_t)((uint32_t)a_mm[1] - (uint32_t)b_mm[1]);
    return sqrt(x * x + y * y);
}

// A complete enter has what is not sent at its distance, or not to this player, as it is at first.
static bool may_be_initial(const soak_player* player, const ph_property_def* def,
                           const soak_life* life, const soak_glance* glance, bool is_its_own)
{
    const double margin_mm = 300.0; // the wire rounds positions
    const double limit_mm = def->distance_m * 1000.0 - margin_mm;
    return !soak_is_for(def, player, is_its_own) || def->coding == PH_CODING_ENTITY ||
           (def->distance_m > 0.0 && (flat_mm(glance->eye_mm, life->mm) >= limit_mm ||
                                      flat_mm(glance->tick_eye_mm, life->mm) >= limit_mm ||
                                      flat_mm(glance->left_eye_mm, life->mm) >= limit_mm));
}

// The newest value, which lies in known by now, was sent at this step: it must have been true then.
static bool was_true(const soak_stage* stage, const soak_player* player, const soak_known* known,
                     ph_entity_id id, int p, int32_t sent_step, const soak_life* life)
{
    const soak_entity* entity = &stage->entities[known->entity];
    const ph_property_def* def = soak_property(&stage->schema, life->class_index, p);
    const soak_past* past = value_at(entity, p, sent_step);
    if (past == NULL || past->hash == known->hashes[p]) {
        return true; // or nothing is known of so long ago
    }
    if (def->coding == PH_CODING_ENTITY) {
        return known->hashes[p] == SOAK_NO_ENTITY;
    }
    return def->coding == PH_CODING_POSITION &&
           is_coarse_right(stage, player, id, p, life, def->step);
}

static void judge_values(soak_stage* stage, soak_player* player, const ph_event* event,
                         int32_t sent_step, const soak_life* life, const soak_glance* glance)
{
    soak_known* known = &player->known[event->entity.index1 - 1];
    const bool is_its_own = is_own(glance, known->entity, life);
    const int count = soak_property_count(&stage->schema, life->class_index);
    for (int p = 0; p < count; ++p) {
        const bool is_told = (event->properties >> p & 1) != 0;
        if (!is_told && event->kind != PH_EVENT_ENTER) {
            continue;
        }
        const ph_property_def* def = soak_property(&stage->schema, life->class_index, p);
        known->hashes[p] = soak_client_hash(player->client, event->entity, def, p);
        ++stage->result->judged_values;
        const bool is_initial = known->hashes[p] == stage->schema.initial[life->class_index][p];
        if (is_initial && may_be_initial(player, def, life, glance, is_its_own)) {
            continue;
        }
        if (!is_told) {
            if (!is_initial) {
                soak_fail(stage, SOAK_PROMISE_PHANTOM,
                          "player %d, slot %u, entity %d: property %d was not told, but is not "
                          "what it is at first",
                          player->index, event->entity.index1 - 1, known->entity, p);
                return;
            }
            continue;
        }
        if (!soak_is_for(def, player, is_its_own)) {
            soak_fail(stage, SOAK_PROMISE_LEAK,
                      "player %d, entity %d: property %d is not for its audience", player->index,
                      known->entity, p);
            return;
        }
        if (!was_true(stage, player, known, event->entity, p, sent_step, life)) {
            soak_fail(
                stage, SOAK_PROMISE_PHANTOM,
                "player %d, slot %u, entity %d: property %d (coding %d) was not so %d steps ago",
                player->index, event->entity.index1 - 1, known->entity, p, (int)def->coding,
                stage->step - sent_step);
            return;
        }
    }
}

static void judge_event(soak_stage* stage, soak_player* player, const ph_event* event,
                        int32_t sent_step)
{
    soak_known* known = &player->known[event->entity.index1 - 1];
    if (event->kind == PH_EVENT_LEAVE) {
        known->entity = -1;
        return;
    }
    const int index = soak_entity_of(stage, event->key);
    const soak_life* life = index >= 0 ? life_at(&stage->entities[index], sent_step) : NULL;
    const soak_glance* glance = glance_at(player, sent_step);
    if (index < 0 || glance == NULL || life == NULL || life->class_index != event->class_index) {
        soak_fail(stage, SOAK_PROMISE_PHANTOM,
                  "player %d, slot %u: key %llu, class %d was not alive %d steps ago",
                  player->index, event->entity.index1 - 1, (unsigned long long)event->key,
                  event->class_index, stage->step - sent_step);
        return;
    }
    if (event->kind == PH_EVENT_UPDATE && known->entity != index) {
        soak_fail(stage, SOAK_PROMISE_PHANTOM,
                  "player %d, slot %u: an update of %d, but %d is there", player->index,
                  event->entity.index1 - 1, index, known->entity);
        return;
    }
    if (!may_know(stage, player, index, life, glance)) {
        soak_fail(stage, SOAK_PROMISE_LEAK,
                  "player %d, slot %u: entity %d was hidden from it %d steps ago", player->index,
                  event->entity.index1 - 1, index, stage->step - sent_step);
        return;
    }
    known->entity = index;
    known->differs_since_us = 0;
    judge_values(stage, player, event, sent_step, life, glance);
}

// One that is too old to be judged.
static void take_event(const soak_stage* stage, soak_player* player, const ph_event* event)
{
    soak_known* known = &player->known[event->entity.index1 - 1];
    known->entity = event->kind == PH_EVENT_LEAVE ? -1 : soak_entity_of(stage, event->key);
    for (int p = 0;
         known->entity >= 0 && p < soak_property_count(&stage->schema, event->class_index); ++p) {
        const ph_property_def* def = soak_property(&stage->schema, event->class_index, p);
        known->hashes[p] = soak_client_hash(player->client, event->entity, def, p);
    }
}

void soak_judge_packet(soak_stage* stage, soak_player* player, int32_t sent_step)
{
    ph_event event;
    ++stage->result->judged_packets;
    while (ph_client_poll(player->client, &event)) {
        if (player->is_liar || stage->is_over) {
            continue;
        }
        if (stage->step - sent_step <= SOAK_DELAY_MAX && !player->is_waiting) {
            judge_event(stage, player, &event, sent_step);
        } else {
            take_event(stage, player, &event);
        }
    }
}

void soak_take_held(soak_stage* stage, soak_player* player)
{
    ph_event event;
    while (ph_client_poll(player->client, &event)) {
        if (!player->is_liar && !stage->is_over) {
            take_event(stage, player, &event);
        }
    }
}

// ---- eventual equality

bool soak_is_judged(const soak_stage* stage, const soak_player* player)
{
    return player->is_there && player->is_admitted && !player->is_liar &&
           stage->step >= player->stalled_until;
}

typedef struct candidate {
    int entity;
    bool is_always;
    double square_mm;
    uint64_t spawn_order;
} candidate;

static int compare_candidates(const void* left, const void* right)
{
    const candidate* a = left;
    const candidate* b = right;
    if (a->is_always != b->is_always) {
        return a->is_always ? -1 : 1;
    }
    // Those that are seen at any distance go by their age alone.
    if (!a->is_always && a->square_mm != b->square_mm) {
        return a->square_mm < b->square_mm ? -1 : 1;
    }
    return a->spawn_order < b->spawn_order ? -1 : 1;
}

static double square_mm(const int64_t a_mm[3], const int64_t b_mm[3])
{
    const double x = (int32_t)((uint32_t)a_mm[0] - (uint32_t)b_mm[0]);
    const double y = (int32_t)((uint32_t)a_mm[1] - (uint32_t)b_mm[1]);
    return x * x + y * y; // a whole number
}

bool soak_is_present_own(const soak_stage* stage, const soak_player* player, int index)
{
    return player->own == index && stage->entities[index].incarnation == player->own_incarnation &&
           stage->entities[index].class_index >= 0;
}

// Everything that the player may see, the nearest first; its own not among them.
static int list_candidates(const soak_stage* stage, const soak_player* player,
                           candidate list[SOAK_ENTITIES_MAX])
{
    int count = 0;
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        const soak_entity* entity = &stage->entities[i];
        const bool is_blocked =
            stage->params.asks_game && (entity->blocked >> player->index & 1) != 0;
        if (entity->class_index < 0 || entity->is_never || is_blocked ||
            (entity->seen_by & player->def.sees) == 0 || soak_is_present_own(stage, player, i)) {
            continue;
        }
        list[count++] = (candidate){.entity = i,
                                    .is_always = entity->is_always,
                                    .square_mm = square_mm(entity->mm, player->eye_mm),
                                    .spawn_order = entity->spawn_order};
    }
    qsort(list, (size_t)count, sizeof list[0], compare_candidates);
    return count;
}

// By entity: whether it must be in view, or may be.
typedef struct expectation {
    bool must[SOAK_ENTITIES_MAX];
    bool may[SOAK_ENTITIES_MAX];
} expectation;

static void expect(const soak_stage* stage, const soak_player* player, expectation* expected)
{
    candidate list[SOAK_ENTITIES_MAX];
    *expected = (expectation){0};
    const int count = list_candidates(stage, player, list);
    const double radius = player->def.radius_mm;
    const double hysteresis = stage->params.vision.hysteresis;
    const double last = player->def.visible_max * hysteresis + 1.0;
    for (int rank = 0; rank < count; ++rank) {
        const double away = sqrt(list[rank].square_mm);
        const bool is_always = list[rank].is_always;
        expected->must[list[rank].entity] =
            rank < player->def.visible_max && (is_always || away <= radius - 1.0);
        expected->may[list[rank].entity] =
            rank < last && (is_always || away <= radius * hysteresis + 1.0);
    }
    if (player->own >= 0 && soak_is_present_own(stage, player, player->own)) {
        expected->must[player->own] = expected->may[player->own] = true;
    }
}

static uint64_t wanted_hash(const soak_stage* stage, const soak_player* player,
                            const ph_property_def* def, const soak_entity* entity, int p)
{
    const uint64_t hash = entity->hashes[p];
    if (def->coding != PH_CODING_ENTITY || hash == SOAK_NO_ENTITY) {
        return hash;
    }
    // A reference to what is not in view names none.
    ph_entity_id target;
    uint64_t key;
    if (ph_world_get_property(stage->world, entity->id, p, PH_FIELD_ENTITY, &target,
                              sizeof target) != PH_OK ||
        ph_world_identify(stage->world, target, &key, NULL) != PH_OK) {
        return SOAK_NO_ENTITY;
    }
    return ph_client_find(player->client, key).index1 != 0 ? soak_key_hash(key) : SOAK_NO_ENTITY;
}

static bool is_within(const soak_player* player, const soak_entity* entity, double distance_m)
{
    return distance_m == 0.0 ||
           sqrt(square_mm(entity->mm, player->eye_mm)) <= distance_m * 1000.0 - 2.0;
}

static bool is_entity_equal(const soak_stage* stage, const soak_player* player, int index,
                            ph_entity_id shown, char why[200])
{
    const soak_entity* entity = &stage->entities[index];
    const bool is_its_own = soak_is_present_own(stage, player, index);
    for (int p = 0; p < soak_property_count(&stage->schema, entity->class_index); ++p) {
        const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
        const bool is_told = soak_is_for(def, player, is_its_own);
        const bool is_once = def->when == PH_SEND_ONCE;
        if (is_told && ((is_once && (entity->once_changed >> p & 1) != 0) ||
                        (!is_once && !is_within(player, entity, def->distance_m)))) {
            continue;
        }
        // What it was told as the owner stays, when it is the owner no more.
        if (!is_told && def->audience == PH_AUDIENCE_OWNER) {
            continue;
        }
        const uint64_t wanted = is_told ? wanted_hash(stage, player, def, entity, p)
                                        : stage->schema.initial[entity->class_index][p];
        if (soak_client_hash(player->client, shown, def, p) != wanted) {
            snprintf(why, 200, "entity %d, property %d (coding %d, distance %g m, when %d)", index,
                     p, (int)def->coding, def->distance_m, (int)def->when);
            return false;
        }
    }
    return true;
}

bool soak_is_equal(const soak_stage* stage, const soak_player* player, char why[200])
{
    expectation expected;
    expect(stage, player, &expected);
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        const uint64_t key = soak_key_of(stage, i);
        const ph_entity_id shown = ph_client_find(player->client, key);
        const bool is_shown = shown.index1 != 0;
        if (is_shown ? !expected.may[i] : expected.must[i]) {
            snprintf(why, 200, "entity %d is %s", i,
                     is_shown ? "shown, and should not" : "missing");
            return false;
        }
        int class_index = -1;
        if (is_shown && (ph_client_identify(player->client, shown, NULL, &class_index) != PH_OK ||
                         class_index != stage->entities[i].class_index)) {
            snprintf(why, 200, "entity %d has class %d, not %d", i, class_index,
                     stage->entities[i].class_index);
            return false;
        }
        if (is_shown && !is_entity_equal(stage, player, i, shown, why)) {
            return false;
        }
    }
    return true;
}
