// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What each event does, to the deployment and to the model alike. A call that fails for want of memory must
// leave everything as it was; the model then does not move either.

#include "soak/soak_stage.h"

#include "kit/random.h"

#include <string.h>

// ---- entities

static int64_t wrapped(int64_t mm)
{
    return (int32_t)(uint32_t)(uint64_t)mm;
}

static void draw_place(const soak_stage* stage, ph_rng* rng, int64_t mm[3])
{
    for (int i = 0; i < 2; ++i) {
        mm[i] = wrapped(stage->params.origin_mm + ph_random_below(rng, stage->params.side_mm));
    }
    mm[2] = ph_random_below(rng, 9000);
}

static void check(soak_stage* stage, ph_result result, uint64_t failures, const char* what)
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
    check(stage, soak_value_set(stage->world, entity->id, def, p, value), failures, "a set");
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
    check(stage, ph_world_move(stage->world, entity->id, mm[0], mm[1], mm[2]), failures, "a move");
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

static void spawn(soak_stage* stage, int index, ph_rng* rng)
{
    soak_entity* entity = &stage->entities[index];
    ph_spawn spawn = {
        .class_index = ph_random_below(rng, stage->schema.class_count),
        .key = soak_key_of(stage, index),
        .seen_by = draw_mask(stage, index, rng),
        .is_always_visible = ph_rng_below(rng, 12) == 0,
        .is_never_visible = ph_rng_below(rng, 24) == 0,
    };
    draw_place(stage, rng, spawn.position_mm);
    const uint64_t failures = stage->server_memory.failures;
    ph_entity_id id;
    const ph_result result = ph_world_spawn(stage->world, &spawn, &id);
    if (entity->class_index >= 0) {
        if (result != PH_ERROR_TAKEN) {
            soak_fail(stage, SOAK_PROMISE_CALLS, "a key is given twice");
        }
        return;
    }
    check(stage, result, failures, "a spawn");
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
    entity->once_changed = 0;
    for (int p = 0; p < soak_property_count(&stage->schema, spawn.class_index); ++p) {
        if (ph_rng_below(rng, 3) > 0) {
            set_property(stage, index, p, rng);
        }
    }
    entity->once_changed = 0; // all of that was before the first tick
    soak_note_peaks(stage);
}

static void despawn(soak_stage* stage, int index)
{
    soak_entity* entity = &stage->entities[index];
    // The eye of its owner stays where it was at the end.
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        if (player->own == index && player->own_incarnation == entity->incarnation) {
            memcpy(player->eye_mm, entity->mm, sizeof player->eye_mm);
        }
    }
    check(stage, ph_world_despawn(stage->world, entity->id), stage->server_memory.failures,
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
static void disturb(soak_stage* stage, int index, ph_rng* rng)
{
    int64_t mm[3];
    draw_place(stage, rng, mm);
    move(stage, index, mm);
    set_some(stage, index, rng);
}

static void show(soak_stage* stage, int index, ph_rng* rng)
{
    int64_t mm[3];
    draw_place(stage, rng, mm);
    move(stage, index, mm);
    for (int p = 0; p < soak_property_count(&stage->schema, stage->entities[index].class_index);
         ++p) {
        set_property(stage, index, p, rng);
    }
}

static void whisper(soak_stage* stage, int index, ph_rng* rng)
{
    const int public_index = index % SOAK_PUBLIC_MAX;
    const soak_entity* entity = &stage->entities[public_index];
    const int secret = SOAK_PUBLIC_MAX + ph_random_below(rng, stage->params.public_count);
    if (!stage->params.is_twin || entity->class_index < 0) {
        return;
    }
    if (is_hidden(entity) && !is_owned(stage, public_index)) {
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

static void apply_to_entity(soak_stage* stage, const soak_event* event, ph_rng* rng)
{
    const int index = event->target;
    soak_entity* entity = &stage->entities[index];
    int64_t mm[3];
    switch (event->kind) {
    case SOAK_DESPAWN:
        despawn(stage, index);
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
        draw_place(stage, rng, mm);
        move(stage, index, mm);
        return;
    case SOAK_VISIBILITY: {
        const bool was_hidden = is_hidden(entity);
        entity->seen_by =
            ph_rng_below(rng, 3) == 0 && index < SOAK_PUBLIC_MAX ? 0 : draw_mask(stage, index, rng);
        entity->is_always = ph_rng_below(rng, 12) == 0;
        entity->is_never = ph_rng_below(rng, 6) == 0;
        entity->is_touched = true;
        check(stage,
              ph_world_set_visibility(stage->world, entity->id, entity->seen_by, entity->is_always,
                                      entity->is_never),
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

// ---- players

static void change_own(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int index = ph_random_below(rng, stage->params.public_count);
    // The owner would know what a hidden one is like.
    const bool is_none = ph_rng_below(rng, 4) == 0 || stage->entities[index].class_index < 0 ||
                         (stage->params.is_twin && is_hidden(&stage->entities[index]));
    const ph_entity_id id = is_none ? (ph_entity_id){0} : stage->entities[index].id;
    check(stage, ph_viewer_set_entity(stage->world, player->viewer, id),
          stage->server_memory.failures, "another own entity");
    if (player->own >= 0 && stage->entities[player->own].class_index >= 0 &&
        stage->entities[player->own].incarnation == player->own_incarnation) {
        memcpy(player->eye_mm, stage->entities[player->own].mm, sizeof player->eye_mm);
    }
    memcpy(player->left_eye_mm, player->eye_mm, sizeof player->eye_mm);
    player->own = is_none ? -1 : index;
    player->own_incarnation = stage->entities[index].incarnation;
}

static void move_eye(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    int64_t mm[3];
    draw_place(stage, rng, mm);
    const bool has_own = player->own >= 0 && stage->entities[player->own].class_index >= 0 &&
                         stage->entities[player->own].incarnation == player->own_incarnation;
    const ph_result result = ph_viewer_set_eye(stage->world, player->viewer, mm[0], mm[1], mm[2]);
    if (result != (has_own ? PH_ERROR_ARGUMENT : PH_OK)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "an eye is set: %s", ph_result_text(result));
    }
    if (!has_own) {
        memcpy(player->eye_mm, mm, sizeof player->eye_mm);
    }
}

static void change_budget(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int rate = ph_rng_below(rng, 8) == 0
                         ? 0
                         : 2000 + ph_random_below(rng, ph_rng_below(rng, 2) == 0 ? 20000 : 200000);
    const int burst = ph_rng_below(rng, 2) == 0 ? 0 : ph_random_below(rng, 40000);
    const uint64_t failures = stage->server_memory.failures;
    const ph_result result = ph_viewer_set_budget(stage->world, player->viewer, rate, burst);
    check(stage, result, failures, "another budget");
    if (result == PH_OK) {
        player->def.bits_per_second = rate;
        player->def.burst_bits = burst;
        soak_unsettle(player, stage->now_us); // the bound is another one
        soak_meter_change(&player->meter, rate, soak_meter_depth(stage, player, rate, burst),
                          stage->now_us);
    }
}

static void reserve(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int most = ph_viewer_reserve_max(stage->world, player->viewer);
    const int each = ph_random_below(rng, (most < 60 ? most : 60) + 1);
    const int next = ph_random_below(rng, most - each + 1);
    const ph_result result = ph_viewer_reserve(stage->world, player->viewer, each, next);
    check(stage, result, stage->server_memory.failures, "a reserve");
    player->reserve_each = each;
    player->reserve_next = next;
    if (each + next > player->reserve_peak) {
        player->reserve_peak = each + next;
        soak_unsettle(player, stage->now_us);
        soak_meter_change(
            &player->meter, player->def.bits_per_second,
            soak_meter_depth(stage, player, player->def.bits_per_second, player->def.burst_bits),
            stage->now_us);
    }
    const int bytes = 1 + ph_random_below(rng, 300);
    if (ph_rng_below(rng, 2) == 0 &&
        ph_viewer_spend(stage->world, player->viewer, stage->now_us, bytes) == PH_OK) {
        soak_meter_pass(stage, player, (size_t)(bytes + player->def.overhead_bytes));
    }
}

static void send_message(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int direction = ph_random_below(rng, 2);
    ph_messages* messages =
        direction == 1 ? player->messages : ph_host_messages(stage->host, player->host_client);
    const int count = 1 + ph_random_below(rng, 4);
    for (int i = 0; messages != NULL && i < count; ++i) {
        uint8_t bytes[PH_MESSAGE_SIZE_MAX];
        const size_t size =
            soak_message_fill(player, direction, player->messages_sent[direction], bytes);
        if (ph_messages_send(messages, bytes, size) == PH_OK) {
            ++player->messages_sent[direction];
        }
    }
}

// Acks that are not true. What the client then sees is its own fault.
static void lie(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int count = 1 + ph_random_below(rng, 20);
    player->is_liar = true;
    for (int i = 0; i < count && player->newest_ack_size > 0; ++i) {
        uint8_t ack[PH_ACK_SIZE];
        memcpy(ack, player->newest_ack, sizeof ack);
        const int flips = 1 + ph_random_below(rng, 12);
        for (int f = 0; f < flips; ++f) {
            ack[ph_random_below(rng, PH_ACK_SIZE)] ^= (uint8_t)(1 << ph_random_below(rng, 8));
        }
        ph_viewer_receive_ack(stage->world, player->viewer, stage->now_us, ack, sizeof ack);
    }
}

// Bytes that no client of ours sends: nothing may come of them.
static void flood(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    const int count = 1 + ph_random_below(rng, 40);
    for (int i = 0; i < count; ++i) {
        uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
        size_t size = 1 + (size_t)ph_rng_below(rng, ph_rng_below(rng, 4) == 0 ? 1200 : 60);
        size += player->is_direct && size == PH_ACK_SIZE;
        for (size_t b = 0; b < size; ++b) {
            bytes[b] = (uint8_t)ph_rng_next(rng);
        }
        uint8_t room[PH_NETCODE_DATAGRAM_MAX + 4] = {0};
        memcpy(room, bytes, size);
        ph_link_send(player->up, stage->now_us, room, size + 4);
        if (!player->is_direct) {
            ph_link_send(player->down, stage->now_us, room, size + 4);
        }
    }
}

static void hint(soak_stage* stage, const soak_player* player, ph_rng* rng)
{
    const int index = ph_random_below(rng, stage->params.public_count);
    const double weight = ph_rng_below(rng, 4) == 0 ? 0.0 : ph_random_between(rng, 0, 50);
    if (stage->entities[index].class_index >= 0) {
        check(stage,
              ph_viewer_set_hint(stage->world, player->viewer, stage->entities[index].id, weight),
              stage->server_memory.failures - 1, "a hint");
    }
}

static void change_network(soak_stage* stage, soak_player* player, ph_rng* rng)
{
    player->network.delay_us = (uint32_t)ph_rng_below(rng, 200000);
    player->network.jitter_us = ph_rng_below(rng, 2) == 0 ? 0 : (uint32_t)ph_rng_below(rng, 300000);
    player->network.loss = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.6);
    player->network.duplication = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.5);
    soak_unsettle(player, stage->now_us);
    soak_player_set_network(stage, player);
}

static void apply_to_viewer(soak_stage* stage, const soak_event* event, soak_player* player,
                            ph_rng* rng)
{
    switch (event->kind) {
    case SOAK_LIE:
        lie(stage, player, rng);
        return;
    case SOAK_OWN:
        change_own(stage, player, rng);
        return;
    case SOAK_EYE:
        move_eye(stage, player, rng);
        return;
    case SOAK_SEES:
        player->def.sees = player->is_secret ? soak_secret_sees(stage)
                                             : (uint32_t)ph_rng_below(rng, SOAK_PUBLIC_MASK + 1);
        check(stage, ph_viewer_set_sees(stage->world, player->viewer, player->def.sees),
              stage->server_memory.failures, "what a viewer sees");
        return;
    case SOAK_HINT:
        hint(stage, player, rng);
        return;
    case SOAK_BUDGET:
    case SOAK_RESERVE:
        if (player->is_direct) {
            (event->kind == SOAK_BUDGET ? change_budget : reserve)(stage, player, rng);
        }
        return;
    case SOAK_MESSAGE:
        if (!player->is_direct) {
            send_message(stage, player, rng);
        }
        return;
    case SOAK_KICK:
        if (!player->is_direct) {
            ph_host_disconnect(stage->host, player->host_client);
        }
        return;
    default:
        return;
    }
}

static void apply_to_player(soak_stage* stage, const soak_event* event, ph_rng* rng)
{
    soak_player* player = &stage->players[event->target];
    if (event->kind == SOAK_JOIN) {
        soak_player_join(stage, player, event->draw);
        return;
    }
    if (!player->is_there) {
        return;
    }
    switch (event->kind) {
    case SOAK_LEAVE:
        if (player->net != NULL) {
            ph_net_client_disconnect(player->net);
        }
        soak_player_end(stage, player);
        return;
    case SOAK_VANISH:
        soak_player_end(stage, player);
        return;
    case SOAK_STALL:
        player->stalled_until = stage->step + 1 + ph_random_below(rng, 30);
        soak_unsettle(player, stage->now_us + 31 * (uint64_t)stage->params.tick_us);
        return;
    case SOAK_LEAP:
        player->clock_us += (int64_t)ph_rng_below(rng, 20000000);
        return;
    case SOAK_FLOOD:
        flood(stage, player, rng);
        return;
    case SOAK_NETWORK:
        change_network(stage, player, rng);
        return;
    case SOAK_PARTITION:
        player->parted_until = stage->step + 1 + ph_random_below(rng, 60);
        soak_player_set_network(stage, player);
        return;
    default:
        if (player->is_admitted) {
            apply_to_viewer(stage, event, player, rng);
        }
        return;
    }
}

// ---- the whole

void soak_event_apply(soak_stage* stage, const soak_event* event)
{
    ph_rng rng = ph_rng_make(event->draw);
    ph_rng_next(&rng); // the first bits say when it happens
    if (event->kind == SOAK_SPAWN) {
        spawn(stage, event->target, &rng);
    } else if (event->kind == SOAK_WHISPER) {
        whisper(stage, event->target, &rng);
    } else if (event->kind < SOAK_JOIN) {
        if (stage->entities[event->target].class_index >= 0) {
            apply_to_entity(stage, event, &rng);
        }
    } else if (event->kind <= SOAK_MESSAGE) {
        apply_to_player(stage, event, &rng);
    } else if (event->kind == SOAK_JUMP) {
        stage->now_us +=
            ph_rng_below(&rng, 4) == 0 ? ph_rng_below(&rng, 30000000) : ph_rng_below(&rng, 900000);
        for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
            soak_unsettle(&stage->players[i], stage->now_us); // there was no send in between
        }
    } else if (event->kind == SOAK_DAY) {
        stage->day_offset_s += (int64_t)ph_rng_below(&rng, 7200) - 3600;
    } else if (event->kind == SOAK_FAIL && stage->params.is_failing) {
        soak_memory* memory =
            ph_rng_below(&rng, 3) == 0 ? &stage->client_memory : &stage->server_memory;
        memory->fail_in = 1 + ph_random_below(&rng, 12);
    }
}

// The game's own "no", players' coming and going, and clocks belong before the tick.
bool soak_event_is_late(const soak_event* event)
{
    switch (event->kind) {
    case SOAK_SET:
    case SOAK_WALK:
    case SOAK_TELEPORT:
    case SOAK_DESPAWN:
    case SOAK_SPAWN:
    case SOAK_VISIBILITY:
    case SOAK_WHISPER:
    case SOAK_SEES:
    case SOAK_OWN:
    case SOAK_EYE:
        return (event->draw & 3) == 0;
    default:
        return false;
    }
}

void soak_make_empty(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        if (stage->players[i].net != NULL) {
            ph_net_client_disconnect(stage->players[i].net);
        }
        if (!stage->players[i].is_direct && stage->players[i].host_client >= 0) {
            ph_host_disconnect(stage->host, stage->players[i].host_client);
        }
        soak_player_end(stage, &stage->players[i]);
    }
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        if (stage->entities[i].class_index >= 0) {
            despawn(stage, i);
        }
    }
}
