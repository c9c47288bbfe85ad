// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all actors: some 50 ns for each that is not this sim's.

#include "sim_server_play.h"

#include <stdlib.h>

// A sim that has taken over may still hear of what it does not know: it waits that long before it lets things begin
// anew. A region of which nothing was heard is filled at once.
#define GRACE_US UINT64_C(1000000)

bool sim_server_play_begin(sim_server_play* play, const sim_server_play_def* def)
{
    const size_t count = (size_t)def->truth->actor_count;
    *play = (sim_server_play){.def = *def};
    play->seen_key = calloc(count, sizeof *play->seen_key);
    play->put_row = calloc(count, sizeof *play->put_row);
    play->ended = calloc(count, sizeof *play->ended);
    if (play->seen_key == NULL || play->put_row == NULL || play->ended == NULL) {
        sim_server_play_end(play);
        return false;
    }
    return true;
}

void sim_server_play_end(sim_server_play* play)
{
    free(play->seen_key);
    free(play->put_row);
    free(play->ended);
    play->seen_key = NULL;
    play->put_row = NULL;
    play->ended = NULL;
}

// ---- events

static int place_of(const cluster_regions* regions, int number)
{
    for (int i = 0; i < regions->count; ++i) {
        if (regions->all[i].number == number) {
            return i;
        }
    }
    return -1;
}

// What another sim had put is not known: everything is put anew.
static void forget_put(sim_server_play* play, uint64_t key)
{
    const int actor = cluster_truth_actor_of(play->def.truth, key);
    if (actor >= 0) {
        play->put_row[actor] = -1;
    }
}

static void echo(sim_server_play* play, const ph_bus_event* event)
{
    const ph_result result =
        ph_bus_sim_tell(play->def.sim, event->client_id, event->bytes, event->size);
    play->echoed += result == PH_OK;
    play->unechoed += result != PH_OK;
}

void sim_server_play_take(sim_server_play* play, const ph_bus_event* event, uint64_t now_us)
{
    switch (event->kind) {
    case PH_BUS_REGION_GAINED: {
        const int place = place_of(play->def.regions, event->region);
        if (place >= 0) {
            play->gained_us[place] = now_us + (event->is_new ? 0 : GRACE_US);
        }
        break;
    }
    case PH_BUS_ENTITY_GAINED:
    case PH_BUS_ENTITY_LOST:
        forget_put(play, event->key);
        break;
    case PH_BUS_PLAYER_MESSAGE:
        echo(play, event);
        break;
    case PH_BUS_PLAYER_INPUT:
        ++play->inputs;
        break;
    default:
        break;
    }
}

// ---- a tick

// Things of this sim that the truth no longer has.
static void end_old(sim_server_play* play)
{
    ph_world* world = play->def.world;
    int count = 0;
    for (int i = 0; i < ph_world_entity_count(world) && count < play->def.truth->actor_count; ++i) {
        const ph_entity_id id = ph_world_live_entity(world, i);
        uint64_t key = 0;
        if (ph_world_identify(world, id, &key, NULL) == PH_OK &&
            cluster_truth_find(play->def.truth, key) < 0 && ph_bus_sim_owns(play->def.sim, id)) {
            play->ended[count++] = id;
        }
    }
    for (int i = 0; i < count; ++i) {
        ph_world_despawn(world, play->ended[i]);
        ++play->gone;
    }
}

static bool may_begin(const sim_server_play* play, int actor, uint64_t now_us)
{
    const cluster_regions* regions = play->def.regions;
    int32_t place_mm[3];
    cluster_truth_place(play->def.truth, play->def.truth->birth_row[actor], place_mm);
    const ph_cell cell = ph_cell_at(place_mm[0], place_mm[1], play->def.cell_mm);
    const int number = ph_region_at(regions->all, regions->count, cell);
    const int place = place_of(regions, number);
    return place >= 0 && now_us >= play->gained_us[place] &&
           ph_bus_sim_owns_region(play->def.sim, number);
}

static void begin_new(sim_server_play* play, int actor)
{
    const cluster_truth* truth = play->def.truth;
    ph_entity_id id;
    // Where it begins, so that it is filed there; the next put takes it to where it is by now.
    if (ph_source_spawn_row(truth->source, play->def.world, truth->birth_row[actor],
                            truth->key[actor], &id) == PH_OK) {
        play->seen_key[actor] = truth->key[actor];
        play->put_row[actor] = truth->birth_row[actor];
        ++play->born;
    }
}

static void put(sim_server_play* play, int actor, ph_entity_id id)
{
    const cluster_truth* truth = play->def.truth;
    play->seen_key[actor] = truth->key[actor];
    if (!ph_bus_sim_owns(play->def.sim, id)) {
        play->put_row[actor] = -1;
        return;
    }
    if (play->put_row[actor] != truth->row[actor] &&
        ph_source_set_row(truth->source, play->def.world, id, truth->row[actor],
                          play->put_row[actor]) == PH_OK) {
        play->put_row[actor] = truth->row[actor];
    }
}

void sim_server_play_step(sim_server_play* play, uint64_t tick, uint64_t now_us)
{
    cluster_truth* truth = play->def.truth;
    cluster_truth_seek(truth, tick);
    end_old(play);
    for (int actor = 0; actor < truth->actor_count; ++actor) {
        if (truth->row[actor] < 0) {
            continue;
        }
        const ph_entity_id id = ph_world_find(play->def.world, truth->key[actor]);
        if (id.index1 != 0) {
            put(play, actor, id);
        } else if (play->seen_key[actor] != truth->key[actor] && may_begin(play, actor, now_us)) {
            begin_new(play, actor);
        }
    }
}
