// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which entities are this sim's: filed under an owned region when they are new, when they were inherited with the region,
// or when another sim has handed them over (sim_handover.c); unfiled when they die, go, or the region is lost. What is
// gone is remembered for a while, so that what is said late of it is known to be old.
//
// A file is found by its key at any time. Once a publish the scan looks for what is new, dead, or beyond its border.

#include "bus/sim_state.h"

#include <pinhole/stats.h>

// ---- files

sim_filed* sim_find_filed(ph_bus_sim* sim, uint64_t key)
{
    uint32_t at;
    return ph_hash_map_try_find(&sim->filed_by_key, key, &at) ? &sim->filed[at] : NULL;
}

bool sim_file(ph_bus_sim* sim, ph_entity_id entity, uint64_t key, int region, uint32_t count)
{
    if (!sim_grow(sim, (void**)&sim->filed, &sim->filed_capacity, sim->filed_count,
                  sizeof *sim->filed) ||
        !sim_map_insert(&sim->filed_by_key, key, (uint32_t)sim->filed_count)) {
        return false;
    }
    ++sim->regions[region].filed_count;
    sim->filed[sim->filed_count++] = (sim_filed){
        .key = key,
        .entity = entity,
        .region = region,
        .count = count,
        .to_region = PH_REGION_NONE,
    };
    return true;
}

void sim_unfile(ph_bus_sim* sim, sim_filed* filed)
{
    sim->offered_count -= filed->to_region != PH_REGION_NONE;
    --sim->regions[filed->region].filed_count;
    ph_hash_map_remove(&sim->filed_by_key, filed->key);
    *filed = sim->filed[--sim->filed_count];
    if (filed != &sim->filed[sim->filed_count]) {
        ph_hash_map_insert(&sim->filed_by_key, filed->key, (uint32_t)(filed - sim->filed));
    }
}

void sim_set_filed_region(ph_bus_sim* sim, sim_filed* filed, const sim_region* to)
{
    --sim->regions[filed->region].filed_count;
    filed->region = sim_region_index(sim, to);
    ++sim->regions[filed->region].filed_count;
}

ph_bus_event sim_entity_event(const ph_bus_sim* sim, ph_bus_event_kind kind, const sim_filed* filed)
{
    return (ph_bus_event){
        .kind = kind,
        .region = sim->regions[filed->region].number,
        .entity = filed->entity,
        .key = filed->key,
    };
}

void sim_push_entity_event(ph_bus_sim* sim, ph_bus_event_kind kind, const sim_filed* filed)
{
    const ph_bus_event event = sim_entity_event(sim, kind, filed);
    sim_push_event(sim, &event);
}

// ---- what is gone

void sim_remember_gone(ph_bus_sim* sim, const sim_gone* gone)
{
    sim_gone* place = &sim->gone[sim->gone_next];
    uint32_t at;
    if (place->until_us != 0 && ph_hash_map_try_find(&sim->gone_by_key, place->key, &at) &&
        at == (uint32_t)sim->gone_next) {
        ph_hash_map_remove(&sim->gone_by_key, place->key);
    }
    *place = *gone;
    place->until_us = sim->now_us + SIM_GONE_US;
    if (!ph_hash_map_insert(&sim->gone_by_key, gone->key, (uint32_t)sim->gone_next)) {
        place->until_us = 0;
    }
    sim->gone_next = (sim->gone_next + 1) % SIM_GONE_MAX;
}

const sim_gone* sim_find_gone(const ph_bus_sim* sim, uint64_t key)
{
    uint32_t at;
    if (!ph_hash_map_try_find(&sim->gone_by_key, key, &at) ||
        sim->gone[at].until_us < sim->now_us) {
        return NULL;
    }
    return &sim->gone[at];
}

// ---- a region is gained or lost

// The region that an entity should be handed over to, or PH_REGION_NONE.
static int region_beyond(ph_bus_sim* sim, const sim_filed* filed)
{
    sim_place place;
    if (!sim_place_of(sim, filed->entity, &place)) {
        return PH_REGION_NONE;
    }
    const int number = sim_region_of_cell(sim, place.ground);
    return number != sim->regions[filed->region].number ? number : PH_REGION_NONE;
}

// Sessions of a region that was taken over: their front-ends go on with them.
static void adopt_players(ph_bus_sim* sim, sim_region* region)
{
    const int index = sim_region_index(sim, region);
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_player* player = &sim->players[i];
        if (!player->is_used || player->region != index) {
            continue;
        }
        const ph_entity_id entity = ph_world_find(sim->world, player->key);
        const sim_filed* filed = sim_find_filed(sim, player->key);
        if (ph_world_is_alive(sim->world, entity) && (filed == NULL || filed->region != index)) {
            sim_remove_player(sim, player); // its entity is another region's by now
            continue;
        }
        player->is_dirty = true;
        player->has_effects = true;
        player->mark_count = 0;
        player->own_us = 0;
        player->detached_us = sim->now_us;
        player->sent_told = player->told;
        if (player->front[0] != '\0' && !sim_player_is_frozen(sim, player)) {
            sim_player_event(sim, player, PH_BUS_PLAYER_ATTACHED, false);
        }
    }
}

int sim_adopt_region(ph_bus_sim* sim, sim_region* region)
{
    const int index = sim_region_index(sim, region);
    int count = 0;
    for (int i = 0; i < ph_world_entity_count(sim->world); ++i) {
        const ph_entity_id entity = ph_world_live_entity(sim->world, i);
        ph_ownership ownership;
        uint64_t key;
        ph_world_get_ownership(sim->world, entity, &ownership);
        if (ownership.owner != PH_REGION_OWNER(region->number) ||
            ph_world_identify(sim->world, entity, &key, NULL) != PH_OK ||
            !sim_file(sim, entity, key, index, ownership.epoch)) {
            continue;
        }
        sim_filed* filed = sim_find_filed(sim, key);
        const int beyond = region_beyond(sim, filed);
        if (beyond != PH_REGION_NONE) {
            sim_set_offered(sim, filed, beyond); // the owner before may have handed it over
            filed->is_told_lost = true;
            continue;
        }
        sim_push_entity_event(sim, PH_BUS_ENTITY_GAINED, filed);
        ++count;
    }
    adopt_players(sim, region);
    return count;
}

static void drop_players(ph_bus_sim* sim, int region, bool is_owner)
{
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_player* player = &sim->players[i];
        if (player->is_used && player->region == region) {
            const sim_filed* filed = sim_find_filed(sim, player->key);
            if (player->front[0] != '\0' && is_owner && (filed == NULL || !filed->is_told_lost)) {
                sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
            }
            sim_remove_player(sim, player);
        }
    }
}

void sim_drop_region(ph_bus_sim* sim, sim_region* region)
{
    const int index = sim_region_index(sim, region);
    sim_take_all_back(sim, index);
    drop_players(sim, index, region->exporter != NULL);
    for (int i = sim->filed_count - 1; i >= 0; --i) {
        sim_filed* filed = &sim->filed[i];
        if (filed->region == index) {
            if (!filed->is_told_lost) {
                sim_push_entity_event(sim, PH_BUS_ENTITY_LOST, filed);
            }
            sim_unfile(sim, filed);
        }
    }
    for (int i = sim->acceptance_count - 1; i >= 0; --i) {
        if (sim->acceptances[i].region == index) {
            sim->acceptances[i] = sim->acceptances[--sim->acceptance_count];
        }
    }
    for (int i = sim->ended_count - 1; i >= 0; --i) {
        if (sim->ended[i].region == index) {
            sim->ended[i] = sim->ended[--sim->ended_count];
        }
    }
    // What the new owner says of them comes whole. What was changed here since it took over never was.
    for (int i = ph_world_entity_count(sim->world) - 1; i >= 0; --i) {
        const ph_entity_id entity = ph_world_live_entity(sim->world, i);
        ph_ownership ownership;
        ph_world_get_ownership(sim->world, entity, &ownership);
        if (ownership.owner == PH_REGION_OWNER(region->number)) {
            ph_world_despawn(sim->world, entity);
        }
    }
}

// ---- what is new

static void file_new(ph_bus_sim* sim, ph_entity_id entity)
{
    sim_place place;
    uint64_t key;
    if (!sim_place_of(sim, entity, &place) ||
        ph_world_identify(sim->world, entity, &key, NULL) != PH_OK) {
        return;
    }
    sim_region* region = sim_find_region(sim, sim_region_of_cell(sim, place.ground));
    for (int i = 0; i < sim->region_count && (region == NULL || region->state != SIM_OWNER); ++i) {
        region = &sim->regions[i];
    }
    if (region == NULL || region->state != SIM_OWNER) {
        return; // later
    }
    const sim_gone* gone = sim_find_gone(sim, key);
    const uint32_t count = gone != NULL ? gone->count + 1 : 1;
    const ph_ownership ownership = {.owner = PH_REGION_OWNER(region->number), .epoch = count};
    if (sim_file(sim, entity, key, sim_region_index(sim, region), count)) {
        ph_world_set_ownership(sim->world, entity, ownership);
    }
}

// ---- once a publish: what is new, dead, or beyond the border
//
// A border is one of cells, so the exporter's word that an entity is told in another cell is enough to look at it. Going
// through all of them would take 30 ns each.

static void watch(ph_bus_sim* sim, sim_filed* filed)
{
    if (filed == NULL || filed->is_watched) {
        return;
    }
    if (!sim_grow(sim, (void**)&sim->watched, &sim->watched_capacity, sim->watched_count,
                  sizeof *sim->watched)) {
        sim->watches_all = true;
        return;
    }
    filed->is_watched = true;
    sim->watched[sim->watched_count++] = filed->key;
}

// The cell of what is always visible says nothing of where it stands: it is watched for ever.
void sim_on_cell(void* region, uint64_t key, ph_cell cell)
{
    const sim_region* from = region;
    ph_bus_sim* sim = from->sim;
    if (ph_cell_is_same(cell, PH_CELL_EVERYWHERE) ||
        sim_region_of_cell(sim, cell) != from->number) {
        watch(sim, sim_find_filed(sim, key));
    }
}

static void offer_if_beyond(ph_bus_sim* sim, sim_filed* filed)
{
    if (filed->to_region != PH_REGION_NONE || sim->regions[filed->region].state != SIM_OWNER) {
        return;
    }
    const int beyond = region_beyond(sim, filed);
    if (beyond != PH_REGION_NONE) {
        sim_begin_offer(sim, filed, beyond);
    }
}

// Whether it is to be looked at again: it is always visible, or stands beyond the border and is not offered yet.
static bool is_still_watched(ph_bus_sim* sim, const sim_filed* filed)
{
    sim_place place;
    return sim_place_of(sim, filed->entity, &place) &&
           (ph_cell_is_same(place.cell, PH_CELL_EVERYWHERE) ||
            (filed->to_region == PH_REGION_NONE && region_beyond(sim, filed) != PH_REGION_NONE));
}

static void look_at_watched(ph_bus_sim* sim)
{
    int kept = 0;
    for (int i = 0; i < sim->watched_count; ++i) {
        sim_filed* filed = sim_find_filed(sim, sim->watched[i]);
        if (filed == NULL || !filed->is_watched) {
            continue;
        }
        offer_if_beyond(sim, filed);
        filed->is_watched = is_still_watched(sim, filed);
        sim->watched[kept] = filed->key;
        kept += filed->is_watched;
    }
    sim->watched_count = kept;
}

static void forget_dead(ph_bus_sim* sim)
{
    for (int i = sim->filed_count - 1; i >= 0; --i) {
        sim_filed* filed = &sim->filed[i];
        if (!ph_world_is_alive(sim->world, filed->entity)) {
            const sim_gone gone = {
                .key = filed->key, .count = filed->count, .region = PH_REGION_NONE};
            sim_remember_gone(sim, &gone);
            sim_forget_acceptance(sim, filed->key);
            sim_unfile(sim, filed);
        }
    }
}

static void file_newcomers(ph_bus_sim* sim)
{
    sim->has_unfiled = false;
    for (int i = 0; i < ph_world_entity_count(sim->world); ++i) {
        const ph_entity_id entity = ph_world_live_entity(sim->world, i);
        ph_ownership ownership;
        if (ph_world_get_ownership(sim->world, entity, &ownership) == PH_OK &&
            ownership.owner == 0) {
            file_new(sim, entity);
            ph_world_get_ownership(sim->world, entity, &ownership);
            sim->has_unfiled = sim->has_unfiled || ownership.owner == 0;
        }
    }
}

void sim_scan(ph_bus_sim* sim)
{
    const ph_world_stats stats = ph_world_get_stats(sim->world);
    const uint64_t despawns = stats.spawned_entities - (uint64_t)stats.entity_count;
    if (despawns != sim->known_despawns) {
        forget_dead(sim);
    }
    look_at_watched(sim);
    for (int i = 0; i < sim->filed_count && sim->watches_all; ++i) {
        offer_if_beyond(sim, &sim->filed[i]);
    }
    if (stats.spawned_entities != sim->known_spawns || sim->has_unfiled) {
        file_newcomers(sim);
    }
    sim->known_spawns = stats.spawned_entities;
    sim->known_despawns = despawns;
}
