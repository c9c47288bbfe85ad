// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An entity that has walked into another region is handed over. A handover has steps, and each can be repeated by a sim
// that takes over from one that has died:
//
//   1  giver      the entity is frozen where it stands, in a cell of the other region
//   2             the giver's standby knows that                      (mirror, acked)
//   3             OFFER, repeated
//   4  receiver   the entity is its own, with one owner more
//   5             it is published, and the receiver's standby knows   (mirror, acked)
//   6             ACCEPT
//   7  giver      forgets it, and says that it has left
//
// Before 2 the entity is the giver's for all. From 2 on no owner of the giver's region simulates it: a standby
// that takes over finds it in a cell of the other region, and offers it. So it does not matter whether an offer
// was heard, nor how late it comes. A few times a second for each entity under way.

#include "bus/sim_state.h"

#include <string.h>

// ---- an offer begins, or is taken back

void sim_set_offered(ph_bus_sim* sim, sim_filed* filed, int to_region)
{
    filed->to_region = to_region;
    sim_mirror_filed(sim, filed);
    filed->sent_us = 0;
    ++sim->offered_count;
}

void sim_begin_offer(ph_bus_sim* sim, sim_filed* filed, int to_region)
{
    sim_region* from = &sim->regions[filed->region];
    const sim_region* to = sim_find_region(sim, to_region);
    if (to == NULL || !sim_region_speaks(to)) {
        sim_player* player = sim_player_of_key(sim, from, filed->key);
        sim_push_entity_event(sim, PH_BUS_ENTITY_LOST, filed);
        if (player != NULL && player->front[0] != '\0') {
            sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
        }
        filed->is_told_lost = true;
    }
    sim_set_offered(sim, filed, to_region);
}

// An entity that came from another region of this sim, and which no standby is known to have here: for all others it is
// still that region's, frozen. So it is again, and is offered to the new owner here, which may know it after all.
static void take_back(ph_bus_sim* sim, sim_filed* filed, sim_region* to)
{
    sim_region* from = &sim->regions[filed->region];
    sim_player* player = sim_player_of_key(sim, from, filed->key);
    const ph_ownership ownership = {.owner = PH_REGION_OWNER(to->number),
                                    .epoch = filed->count - 1};
    if (!filed->is_told_lost) {
        sim_push_entity_event(sim, PH_BUS_ENTITY_LOST, filed);
        if (player != NULL && player->front[0] != '\0') {
            sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
        }
    }
    if (player != NULL && sim_move_player(sim, player, to)) {
        player->is_dirty = true;
        player->mark_count = 0;
    }
    ph_world_set_ownership(sim->world, filed->entity, ownership);
    sim->offered_count -= filed->to_region != PH_REGION_NONE;
    sim_set_filed_region(sim, filed, to);
    --filed->count;
    filed->is_told_lost = true;
    sim_set_offered(sim, filed, from->number);
}

void sim_take_all_back(ph_bus_sim* sim, int region)
{
    for (int i = sim->ended_count - 1; i >= 0; --i) {
        const sim_ended ended = sim->ended[i];
        sim_filed* filed = ended.has_entity ? sim_find_filed(sim, ended.key) : NULL;
        sim_region* to = &sim->regions[ended.region];
        if (filed != NULL && filed->region == region && ended.region != region &&
            to->exporter != NULL && ph_world_is_alive(sim->world, filed->entity)) {
            take_back(sim, filed, to);
            sim->ended[i] = sim->ended[--sim->ended_count];
        }
    }
}

// ---- letting go

// The entity is another one's from now on; what becomes of the copy is the caller's business.
static void let_go(ph_bus_sim* sim, sim_filed* filed, int to_region, uint32_t count)
{
    sim_region* from = &sim->regions[filed->region];
    sim_player* player = sim_player_of_key(sim, from, filed->key);
    sim_gone gone = {.key = filed->key, .count = count, .region = to_region};
    if (!filed->is_told_lost) {
        sim_push_entity_event(sim, PH_BUS_ENTITY_LOST, filed);
    }
    if (player != NULL) {
        gone.client_id = player->client_id;
        if (!filed->is_told_lost && player->front[0] != '\0') {
            sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
        }
        if (to_region != PH_REGION_NONE) {
            sim_tell_moved(sim, filed->region, player, to_region);
        }
        sim_remove_player(sim, player);
    }
    sim_note_ended(sim, &(sim_ended){.client_id = gone.client_id,
                                     .key = filed->key,
                                     .has_entity = true,
                                     .region = filed->region});
    sim_remember_gone(sim, &gone);
    sim_unfile(sim, filed);
    ++sim->stats.given;
}

void sim_on_import(void* context, ph_import_event event, ph_entity_id entity, uint64_t key)
{
    ph_bus_sim* sim = context;
    if (sim->expects_key && key != sim->expected_key) {
        sim->was_surprised = true;
        if (event == PH_IMPORT_CREATED) {
            ph_world_despawn(sim->world, entity);
        }
    }
    sim_filed* filed = sim_find_filed(sim, key);
    if (filed == NULL || event == PH_IMPORT_CREATED) {
        return;
    }
    ph_ownership ownership = {.epoch = filed->count + 1};
    int to_region = PH_REGION_NONE;
    if (event == PH_IMPORT_OWNER_CHANGED) {
        ph_world_get_ownership(sim->world, entity, &ownership);
        to_region = (int)(ownership.owner - 1);
    }
    let_go(sim, filed, to_region, ownership.epoch);
}

// ---- giving

// Both regions are this sim's.
static void move_inside(ph_bus_sim* sim, sim_filed* filed, sim_region* to)
{
    sim_region* from = &sim->regions[filed->region];
    sim_player* player = sim_player_of_key(sim, from, filed->key);
    const ph_ownership ownership = {.owner = PH_REGION_OWNER(to->number),
                                    .epoch = filed->count + 1};
    ph_world_set_ownership(sim->world, filed->entity, ownership);
    sim_note_ended(sim, &(sim_ended){.client_id = player != NULL ? player->client_id : 0,
                                     .key = filed->key,
                                     .has_entity = true,
                                     .region = filed->region});
    if (player != NULL) {
        if (sim_move_player(sim, player, to)) {
            sim_tell_moved(sim, filed->region, player, to->number);
            player->is_dirty = true;
            player->mark_count = 0;
        }
    }
    sim_set_filed_region(sim, filed, to);
    ++filed->count;
    filed->to_region = PH_REGION_NONE;
    sim_mirror_filed(sim, filed);
    --sim->offered_count;
    if (filed->is_told_lost) {
        filed->is_told_lost = false;
        sim_push_entity_event(sim, PH_BUS_ENTITY_GAINED, filed);
        if (player != NULL && player->front[0] != '\0') {
            sim_player_event(sim, player, PH_BUS_PLAYER_ATTACHED, false);
        }
    }
}

static void send_offer(ph_bus_sim* sim, sim_filed* filed)
{
    const sim_region* from = &sim->regions[filed->region];
    const sim_player* player = sim_player_of_key(sim, from, filed->key);
    const size_t size = sim_write_entity(sim, from, filed->entity);
    bus_offer offer = {
        .from_region = from->number,
        .from_epoch = from->epoch,
        .to_region = filed->to_region,
        .key = filed->key,
        .count = filed->count + 1,
        .batch = sim->entity_bytes,
        .batch_size = size,
        .has_session = player != NULL,
    };
    if (player != NULL) {
        offer.session = sim_session_of(player);
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "hand", sim->world_name, filed->to_region);
    bus_write_offer(&sim->writer, &offer);
    sim_send(sim, subject);
    filed->sent_us = sim->now_us;
}

static void step_offers(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->filed_count && sim->offered_count > 0; ++i) {
        sim_filed* filed = &sim->filed[i];
        const sim_region* from = &sim->regions[filed->region];
        // Behind the last count there is no owner: only a lie has brought it there, and it stands still.
        if (filed->to_region == PH_REGION_NONE || filed->needs_mirror || !sim_region_speaks(from) ||
            filed->count >= UINT32_MAX - 1 || filed->sequence > sim_region_mirrored(sim, from) ||
            !ph_world_is_alive(sim->world, filed->entity)) {
            continue;
        }
        sim_region* to = sim_find_region(sim, filed->to_region);
        if (to != NULL && to->state == SIM_OWNER) {
            move_inside(sim, filed, to);
        } else if (sim->now_us - filed->sent_us >= SIM_REPEAT_US) {
            send_offer(sim, filed);
        }
    }
}

void sim_take_accept(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_accept accept;
    ph_bus_refusal refusal;
    if (!bus_read_accept(&accept, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "hand", sim->world_name, accept.to_region);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    const sim_region* from = sim_find_region(sim, accept.to_region);
    sim_filed* filed = sim_find_filed(sim, accept.key);
    if (from == NULL || !sim_region_speaks(from) || filed == NULL ||
        filed->region != sim_region_index(sim, from) || filed->to_region != accept.from_region ||
        filed->count + 1 != accept.count || filed->needs_mirror) {
        return; // it is known, or a lie
    }
    const ph_entity_id entity = filed->entity;
    const ph_ownership ownership = {.owner = PH_REGION_OWNER(accept.from_region),
                                    .epoch = accept.count};
    const sim_region* to = sim_find_region(sim, accept.from_region);
    let_go(sim, filed, accept.from_region, accept.count);
    ph_world_set_ownership(sim->world, entity, ownership);
    if ((to == NULL || to->state != SIM_WATCHING) &&
        sim_grow(sim, (void**)&sim->leaving, &sim->leaving_capacity, sim->leaving_count,
                 sizeof *sim->leaving)) {
        sim->leaving[sim->leaving_count++] =
            (sim_leaving){.entity = entity, .from = sim_region_index(sim, from)};
    }
}

// ---- taking

void sim_forget_acceptance(ph_bus_sim* sim, uint64_t key)
{
    for (int i = sim->acceptance_count - 1; i >= 0; --i) {
        if (sim->acceptances[i].key == key) {
            sim->acceptances[i] = sim->acceptances[--sim->acceptance_count];
        }
    }
}
static void send_accept(ph_bus_sim* sim, int from_region, const bus_accept* with)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_accept accept = *with;
    accept.from_region = from_region;
    bus_subject_region(subject, "hand", sim->world_name, accept.to_region);
    bus_write_accept(&sim->writer, &accept);
    sim_send(sim, subject);
}

static bool is_being_accepted(const ph_bus_sim* sim, uint64_t key)
{
    for (int i = 0; i < sim->acceptance_count; ++i) {
        if (sim->acceptances[i].key == key) {
            return true;
        }
    }
    return false;
}

// The entity has had as many owners already: this one took it, or another one after that.
static bool is_known(ph_bus_sim* sim, const bus_offer* offer)
{
    const sim_filed* filed = sim_find_filed(sim, offer->key);
    const sim_gone* gone = sim_find_gone(sim, offer->key);
    const ph_entity_id entity = ph_world_find(sim->world, offer->key);
    ph_ownership ownership;
    if ((filed != NULL && filed->count >= offer->count) ||
        (filed == NULL && gone != NULL && gone->count >= offer->count)) {
        return true;
    }
    return ph_world_is_alive(sim->world, entity) &&
           ph_world_get_ownership(sim->world, entity, &ownership) == PH_OK &&
           ownership.owner != PH_REGION_OWNER(offer->from_region) &&
           ownership.epoch >= offer->count;
}

// Brings the entity into the world, still as the giver's. @return {0}: it was refused.
static ph_entity_id import_offered(ph_bus_sim* sim, const bus_offer* offer)
{
    ph_import_peek peek;
    if (!ph_importer_peek(offer->batch, offer->batch_size, &peek) || peek.has_cell ||
        peek.is_whole || peek.record_count != 1 ||
        peek.owner != PH_REGION_OWNER(offer->from_region)) {
        return (ph_entity_id){0};
    }
    sim->expects_key = true;
    sim->expected_key = offer->key;
    sim->was_surprised = false;
    const ph_result result = ph_importer_take(sim->importer, offer->batch, offer->batch_size);
    sim->expects_key = false;
    const ph_entity_id entity = ph_world_find(sim->world, offer->key);
    ph_ownership ownership;
    if (result != PH_OK || sim->was_surprised || !ph_world_is_alive(sim->world, entity) ||
        ph_world_get_ownership(sim->world, entity, &ownership) != PH_OK ||
        ownership.owner != peek.owner || ownership.epoch != offer->count - 1) {
        return (ph_entity_id){0};
    }
    return entity;
}

static void adopt_session(ph_bus_sim* sim, sim_region* region, const bus_session* session)
{
    sim_player* player = sim_find_player(sim, region, session->client_id);
    if (player != NULL && player->generation > session->generation) {
        return;
    }
    if (player != NULL && player->key != session->key) {
        // It was here before with another entity.
        if (player->front[0] != '\0') {
            sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
        }
        sim_note_ended(sim, &(sim_ended){.client_id = player->client_id, .region = player->region});
        sim_remove_player(sim, player);
        player = NULL;
    }
    if (player == NULL) {
        player = sim_add_player(sim, region, session->client_id, session->key);
    }
    if (player == NULL || !sim_take_session(sim, player, session)) {
        return; // the player attaches anew
    }
    player->is_dirty = true;
    player->confirms = true;
    player->mark_count = 0;
    player->own_us = 0;
    player->detached_us = sim->now_us;
    player->sent_told = player->told;
    if (player->front[0] != '\0') {
        sim_player_event(sim, player, PH_BUS_PLAYER_ATTACHED, false);
        sim_tell_moved(sim, sim_region_index(sim, region), player, region->number);
    }
}

// It stands where it stands until it is taken, so the giver divides the world otherwise. It is taken all the same, and
// offered to the region that it is in here: refused, it would stand still for ever.
static void tell_of_other_map(ph_bus_sim* sim, const bus_offer* offer, ph_entity_id entity)
{
    sim_place place;
    if (sim->has_told_map || !sim_place_of(sim, entity, &place) ||
        sim_region_of_cell(sim, place.ground) == offer->to_region) {
        return;
    }
    const ph_check call =
        ph_check_begin(sim->def.on_error, sim->def.on_error_context, "ph_bus_sim_receive");
    ph_fail(&call, PH_ERROR_ARGUMENT, "ph_bus_sim_def.regions",
            "does not have cell (%d, %d) in region %d, and the owner of region %d says that it is "
            "there; regions and cell_mm must be the same on all machines",
            place.ground.x, place.ground.y, offer->to_region, offer->from_region);
    sim->has_told_map = true;
}

static void take_entity(ph_bus_sim* sim, sim_region* region, const bus_offer* offer)
{
    const int index = sim_region_index(sim, region);
    if (!sim_grow(sim, (void**)&sim->acceptances, &sim->acceptance_capacity, sim->acceptance_count,
                  sizeof *sim->acceptances)) {
        return;
    }
    const ph_entity_id entity = import_offered(sim, offer);
    sim_filed* stale = sim_find_filed(sim, offer->key);
    if (entity.index1 == 0 || stale != NULL ||
        !sim_file(sim, entity, offer->key, index, offer->count)) {
        sim_refuse(sim, PH_BUS_REFUSAL_BATCH);
        return;
    }
    const ph_ownership ownership = {.owner = PH_REGION_OWNER(region->number),
                                    .epoch = offer->count};
    ph_world_set_ownership(sim->world, entity, ownership);
    tell_of_other_map(sim, offer, entity);
    sim_filed* filed = sim_find_filed(sim, offer->key);
    sim_mirror_filed(sim, filed);
    sim_push_entity_event(sim, PH_BUS_ENTITY_GAINED, filed);
    sim->acceptances[sim->acceptance_count++] = (sim_acceptance){
        .key = offer->key,
        .count = offer->count,
        .from_region = offer->from_region,
        .region = index,
    };
    if (offer->has_session) {
        adopt_session(sim, region, &offer->session);
    }
    ++sim->stats.taken;
}

void sim_take_offer(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_offer offer;
    ph_bus_refusal refusal;
    if (!bus_read_offer(&offer, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "hand", sim->world_name, offer.to_region);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, offer.to_region);
    if (region == NULL || region->state != SIM_OWNER) {
        return; // the owner hears it, too
    }
    if (is_known(sim, &offer)) {
        if (!is_being_accepted(sim, offer.key)) {
            const bus_accept accept = {
                .to_region = offer.from_region, .key = offer.key, .count = offer.count};
            send_accept(sim, offer.to_region, &accept);
        }
        return;
    }
    take_entity(sim, region, &offer);
}

// ---- steps

static void step_acceptances(ph_bus_sim* sim)
{
    for (int i = sim->acceptance_count - 1; i >= 0; --i) {
        const sim_acceptance* due = &sim->acceptances[i];
        const sim_region* region = &sim->regions[due->region];
        if (due->is_published && sim_region_speaks(region) &&
            due->sequence <= sim_region_mirrored(sim, region)) {
            const bus_accept accept = {
                .to_region = due->from_region, .key = due->key, .count = due->count};
            send_accept(sim, region->number, &accept);
            sim->acceptances[i] = sim->acceptances[--sim->acceptance_count];
        }
    }
}

void sim_handover_step(ph_bus_sim* sim)
{
    step_offers(sim);
    step_acceptances(sim);
}

// The cells have been published: copies of what was given can go, what was taken is known.
void sim_after_cells(ph_bus_sim* sim)
{
    for (int i = sim->leaving_count - 1; i >= 0; --i) {
        const sim_leaving* leaving = &sim->leaving[i];
        const sim_region_state state = sim->regions[leaving->from].state;
        uint64_t key;
        if (state == SIM_VERIFYING) {
            continue; // it has not been said that it leaves
        }
        if (ph_world_is_alive(sim->world, leaving->entity) &&
            ph_world_identify(sim->world, leaving->entity, &key, NULL) == PH_OK &&
            sim_find_filed(sim, key) == NULL) {
            ph_world_despawn(sim->world, leaving->entity);
        }
        sim->leaving[i] = sim->leaving[--sim->leaving_count];
    }
    for (int i = 0; i < sim->acceptance_count; ++i) {
        const sim_acceptance* due = &sim->acceptances[i];
        sim->acceptances[i].is_published =
            due->is_published ||
            (due->is_mirrored && sim_region_speaks(&sim->regions[due->region]));
    }
    step_acceptances(sim);
}
