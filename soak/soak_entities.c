// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Entities come, go, move and change, in the world and in the model alike. A call that fails for want of memory
// must leave everything as it was; the model then does not move either.

#include "soak/soak_stage.h"

#include "kit/random.h"

#include <string.h>

static int64_t wrapped(int64_t mm)
{
    return (int32_t)(uint32_t)(uint64_t)mm;
}

void soak_draw_place(const soak_stage* stage, ph_rng* rng, int64_t mm[3])
{
    for (int i = 0; i < 2; ++i) {
        mm[i] = wrapped(stage->params.origin_mm + ph_random_below(rng, stage->params.side_mm));
    }
    mm[2] = ph_random_below(rng, 9000);
}

void soak_check(soak_stage* stage, ph_result result, uint64_t failures, const char* what)
{
    const bool is_short = stage->server_memory.failures != failures;
    if (result != PH_OK && !(is_short && result == PH_ERROR_MEMORY)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "%s fails: %s", what, ph_result_text(result));
    }
}

// Public entities refer to public ones; those with an odd number to secrets alone, by whispers.
static bool draws_reference(const soak_stage* stage, int index)
{
    return !stage->params.is_twin || index >= SOAK_PUBLIC_MAX || index % 2 == 0;
}

static ph_entity_id draw_target(const soak_stage* stage, int index, ph_rng* rng)
{
    const int target =
        ph_random_below(rng, stage->params.public_count) +
        (index >= SOAK_PUBLIC_MAX && ph_rng_below(rng, 2) == 0 ? SOAK_PUBLIC_MAX : 0);
    const bool is_none = ph_rng_below(rng, 4) == 0 || stage->entities[target].class_index < 0;
    return is_none ? (ph_entity_id){0} : stage->entities[target].id;
}

static bool is_secret_property(const ph_property_def* def)
{
    return def->audience == PH_AUDIENCE_MASK && def->audience_mask == SOAK_AUDIENCE_SECRET;
}

static void set_value(soak_stage* stage, int index, int p, soak_value* value)
{
    soak_entity* entity = &stage->entities[index];
    const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
    const uint64_t failures = stage->server_memory.failures;
    soak_check(stage, soak_value_set(stage->world, entity->id, def, p, value), failures, "a set");
    entity->is_touched = true;
    if (stage->server_memory.failures == failures &&
        !soak_value_is_kept(stage->world, entity->id, def, p, value)) {
        soak_fail(stage, SOAK_PROMISE_CALLS,
                  "entity %d: property %d (coding %d) is not what it was set to", index, p,
                  (int)def->coding);
    }
}

static void set_property(soak_stage* stage, int index, int p, ph_rng* rng)
{
    soak_entity* entity = &stage->entities[index];
    const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
    if (def->coding == PH_CODING_POSITION) {
        return;
    }
    soak_value value = soak_value_draw(def, rng);
    if (def->coding == PH_CODING_ENTITY) {
        value.target = draw_target(stage, index, rng);
    }
    const bool is_whispered = index < SOAK_PUBLIC_MAX && stage->params.is_twin &&
                              (is_secret_property(def) ||
                               (def->coding == PH_CODING_ENTITY && !draws_reference(stage, index)));
    if (is_whispered) {
        return;
    }
    set_value(stage, index, p, &value);
    if (def->when == PH_SEND_ONCE) {
        entity->once_changed |= UINT64_C(1) << p;
    }
}

static bool is_position_kept(const soak_stage* stage, const soak_entity* entity)
{
    const int p = stage->schema.position[entity->class_index];
    const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
    int64_t mm[3];
    if (ph_world_get_property(stage->world, entity->id, p, PH_FIELD_I64X3, mm, sizeof mm) !=
        PH_OK) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        const int64_t below = wrapped(entity->mm[i] - mm[i]);
        if (below < 0 || (double)below >= def->step) {
            return false;
        }
    }
    const double tolerance = def->step + def->ground_tolerance_mm;
    return (double)(entity->mm[2] - mm[2]) <= tolerance &&
           (double)(mm[2] - entity->mm[2]) <= tolerance;
}

static void move(soak_stage* stage, int index, const int64_t mm[3])
{
    soak_entity* entity = &stage->entities[index];
    const uint64_t failures = stage->server_memory.failures;
    soak_check(stage, ph_world_move(stage->world, entity->id, mm[0], mm[1], mm[2]), failures,
               "a move");
    memcpy(entity->mm, mm, sizeof entity->mm);
    entity->is_touched = true;
    if (!is_position_kept(stage, entity)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "entity %d is not where it was moved to", index);
    }
}

static uint32_t draw_mask(const soak_stage* stage, int index, ph_rng* rng)
{
    (void)stage;
    if (index >= SOAK_PUBLIC_MAX) {
        return SOAK_SECRET_MASK;
    }
    return ph_rng_below(rng, 3) > 0 ? SOAK_PUBLIC_MASK
                                    : 1 + (uint32_t)ph_rng_below(rng, SOAK_PUBLIC_MASK);
}

static void raise(int* peak, int count)
{
    *peak = count > *peak ? count : *peak;
}

static bool wants_errors(const soak_stage* stage, const soak_player* player)
{
    return player->def.scheduler.rank != NULL ? player->def.scheduler.wants_errors
                                              : stage->params.profile == PH_PROFILE_PINHOLE;
}

void soak_note_peaks(soak_stage* stage)
{
    int entities_of[SOAK_CLASSES_MAX];
    int resting_count = 0;
    memcpy(entities_of, stage->resting_of, sizeof entities_of);
    for (int i = 0; i < SOAK_CLASSES_MAX; ++i) {
        resting_count += stage->resting_of[i];
    }
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        if (stage->entities[i].class_index >= 0) {
            raise(&stage->peaks.entities_of[stage->entities[i].class_index],
                  ++entities_of[stage->entities[i].class_index]);
        }
    }
    raise(&stage->peaks.entities, stage->entity_count + resting_count);
}

void soak_note_viewer(soak_stage* stage, const soak_player* player, bool is_added)
{
    if (!is_added) {
        stage->has_partial_growth = true;
        return;
    }
    raise(&stage->peaks.slots, player->def.slot_count);
    raise(&stage->peaks.visible, player->def.visible_max);
    raise(&stage->peaks.errors, wants_errors(stage, player) ? player->def.slot_count : 0);
    // Those included whose clients are dead, and will time out.
    raise(&stage->peaks.viewers, ph_world_get_stats(stage->world).viewer_count);
}

void soak_spawn(soak_stage* stage, int index, ph_rng* rng)
{
    soak_entity* entity = &stage->entities[index];
    ph_spawn spawn = {
        .class_index = ph_random_below(rng, stage->schema.class_count),
        .key = soak_key_of(stage, index),
        .seen_by = draw_mask(stage, index, rng),
        .is_always_visible = ph_rng_below(rng, 12) == 0,
        .is_never_visible = ph_rng_below(rng, 24) == 0,
    };
    soak_draw_place(stage, rng, spawn.position_mm);
    const uint64_t failures = stage->server_memory.failures;
    ph_entity_id id;
    const ph_result result = ph_world_spawn(stage->world, &spawn, &id);
    if (entity->class_index >= 0) {
        if (result != PH_ERROR_TAKEN) {
            soak_fail(stage, SOAK_PROMISE_CALLS, "a key is given twice");
        }
        return;
    }
    soak_check(stage, result, failures, "a spawn");
    const bool is_spawned = result == PH_OK;
    if (ph_world_entity_count(stage->world) != stage->entity_count + is_spawned) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "the world counts %d entities, not %d",
                  ph_world_entity_count(stage->world), stage->entity_count + is_spawned);
    }
    if (!is_spawned) {
        stage->has_partial_growth = true;
        return;
    }
    ++stage->entity_count;
    entity->id = id;
    entity->class_index = spawn.class_index;
    ++entity->incarnation;
    entity->spawn_order = stage->spawn_count++;
    memcpy(entity->mm, spawn.position_mm, sizeof entity->mm);
    entity->seen_by = spawn.seen_by;
    entity->is_always = spawn.is_always_visible;
    entity->is_never = spawn.is_never_visible;
    entity->is_touched = true;
    entity->is_disturbed = false;
    entity->once_changed = 0;
    for (int p = 0; p < soak_property_count(&stage->schema, spawn.class_index); ++p) {
        if (ph_rng_below(rng, 3) > 0) {
            set_property(stage, index, p, rng);
        }
    }
    entity->once_changed = 0; // all of that was before the first tick
    soak_note_peaks(stage);
}

void soak_despawn(soak_stage* stage, int index)
{
    soak_entity* entity = &stage->entities[index];
    // The eye of its owner stays where it was at the end.
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        if (player->own == index && player->own_incarnation == entity->incarnation) {
            memcpy(player->eye_mm, entity->mm, sizeof player->eye_mm);
        }
    }
    soak_check(stage, ph_world_despawn(stage->world, entity->id), stage->server_memory.failures,
               "a despawn");
    if (ph_world_is_alive(stage->world, entity->id) ||
        ph_world_despawn(stage->world, entity->id) != PH_ERROR_STALE) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "the id of a despawned entity is not stale");
    }
    ++stage->resting_of[entity->class_index];
    entity->class_index = -1;
    entity->is_touched = true;
    --stage->entity_count;
}

static void set_some(soak_stage* stage, int index, ph_rng* rng)
{
    const int count = soak_property_count(&stage->schema, stage->entities[index].class_index);
    const int times = 1 + ph_random_below(rng, 3);
    for (int i = 0; i < times; ++i) {
        set_property(stage, index, ph_random_below(rng, count), rng);
    }
}

// What differs between the twins of a public entity: references to secrets, and what is for a secret
// audience.
static bool is_hidden(const soak_entity* entity)
{
    return entity->is_never || entity->seen_by == 0;
}

static bool is_owned(const soak_stage* stage, int index)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        const soak_player* player = &stage->players[i];
        if (player->own == index && player->own_incarnation == stage->entities[index].incarnation) {
            return true;
        }
    }
    return false;
}

// What becomes of a public entity while no judged player may see it is a secret. When it is shown again, the
// event says what it is like.
void soak_event_note(soak_stage* stage, const soak_event* event)
{
    const int index = event->target % SOAK_PUBLIC_MAX;
    soak_entity* entity = &stage->entities[index];
    if (event->kind == SOAK_WHISPER && stage->params.is_twin && entity->class_index >= 0 &&
        is_hidden(entity) && !is_owned(stage, index)) {
        entity->is_disturbed = true;
    }
}

static void disturb(soak_stage* stage, int index, ph_rng* rng)
{
    int64_t mm[3];
    soak_draw_place(stage, rng, mm);
    move(stage, index, mm);
    set_some(stage, index, rng);
}

static void show(soak_stage* stage, int index, ph_rng* rng)
{
    stage->entities[index].is_disturbed = false;
    int64_t mm[3];
    soak_draw_place(stage, rng, mm);
    move(stage, index, mm);
    for (int p = 0; p < soak_property_count(&stage->schema, stage->entities[index].class_index);
         ++p) {
        set_property(stage, index, p, rng);
    }
}

void soak_whisper(soak_stage* stage, int index, ph_rng* rng)
{
    const int public_index = index % SOAK_PUBLIC_MAX;
    const soak_entity* entity = &stage->entities[public_index];
    const int secret = SOAK_PUBLIC_MAX + ph_random_below(rng, stage->params.public_count);
    if (!stage->params.is_twin || entity->class_index < 0) {
        return;
    }
    if (entity->is_disturbed && !is_owned(stage, public_index)) {
        disturb(stage, public_index, rng);
    }
    for (int p = 0; p < soak_property_count(&stage->schema, entity->class_index); ++p) {
        const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
        soak_value value = soak_value_draw(def, rng);
        if (def->coding == PH_CODING_ENTITY && !draws_reference(stage, public_index)) {
            const bool is_there = stage->entities[secret].class_index >= 0;
            value.target = is_there ? stage->entities[secret].id : (ph_entity_id){0};
            set_value(stage, public_index, p, &value);
        } else if (is_secret_property(def) && def->coding != PH_CODING_ENTITY &&
                   def->coding != PH_CODING_POSITION) {
            set_value(stage, public_index, p, &value);
            stage->entities[public_index].once_changed |=
                def->when == PH_SEND_ONCE ? UINT64_C(1) << p : 0;
        }
    }
}

void soak_apply_to_entity(soak_stage* stage, const soak_event* event, ph_rng* rng)
{
    const int index = event->target;
    soak_entity* entity = &stage->entities[index];
    int64_t mm[3];
    switch (event->kind) {
    case SOAK_DESPAWN:
        soak_despawn(stage, index);
        return;
    case SOAK_SET:
        set_some(stage, index, rng);
        return;
    case SOAK_WALK:
        memcpy(mm, entity->mm, sizeof mm);
        for (int i = 0; i < 3; ++i) {
            const int reach = i == 2 ? 200 : 1500;
            mm[i] = wrapped(mm[i] + ph_random_below(rng, 2 * reach + 1) - reach);
        }
        move(stage, index, mm);
        return;
    case SOAK_TELEPORT:
        soak_draw_place(stage, rng, mm);
        move(stage, index, mm);
        return;
    case SOAK_VISIBILITY: {
        const bool was_hidden = is_hidden(entity);
        entity->seen_by =
            ph_rng_below(rng, 3) == 0 && index < SOAK_PUBLIC_MAX ? 0 : draw_mask(stage, index, rng);
        entity->is_always = ph_rng_below(rng, 12) == 0;
        entity->is_never = ph_rng_below(rng, 6) == 0;
        entity->is_touched = true;
        soak_check(stage,
                   ph_world_set_visibility(stage->world, entity->id, entity->seen_by,
                                           entity->is_always, entity->is_never),
                   stage->server_memory.failures, "a change of visibility");
        if (was_hidden && !is_hidden(entity)) {
            show(stage, index, rng);
        }
        return;
    }
    case SOAK_BLOCK: {
        const int player = ph_random_below(rng, SOAK_PLAYERS_MAX);
        entity->blocked ^= 1u << player;
        entity->blocked_since[player] = stage->step;
        return;
    }
    default:
        return;
    }
}
