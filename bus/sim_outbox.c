// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a sim says to front-ends: items about players, gathered into one message for each front-end and region. What is
// confirmed or told to a player is first safe in the mirror (sim_players.c says why).
//
// Per tick: one pass over the players, a few items for each that has news.

#include "bus/sim_state.h"

#include <pinhole/net/admission.h>

#include <string.h>

// ---- items to front-ends

static void begin_outbox(ph_bus_sim* sim, sim_outbox* box)
{
    bus_items head = {
        .kind = BUS_DOWN,
        .region = sim->regions[box->region].number,
        .epoch = sim->regions[box->region].epoch,
    };
    memcpy(head.name, sim->name, sizeof head.name);
    bus_writer_clear(&box->writer);
    bus_items_begin(&box->writer, &head);
    box->count = 0;
}

static void flush_outbox(ph_bus_sim* sim, sim_outbox* box)
{
    const ph_bus_transport* transport = &sim->def.transport;
    if (box->count > 0 && bus_items_end(&box->writer, box->count)) {
        char subject[PH_BUS_SUBJECT_MAX];
        bus_subject_to(subject, sim->world_name, box->front);
        if (!transport->publish(transport->context, subject, box->writer.bytes, box->writer.size)) {
            ++sim->stats.unsent_messages;
        }
        sim->stats.published_bytes += box->writer.size;
    }
    box->count = 0;
}

static sim_outbox* find_outbox(ph_bus_sim* sim, int region, const char* front)
{
    for (int i = 0; i < sim->outbox_count; ++i) {
        sim_outbox* box = &sim->outboxes[i];
        if (box->region == region && strcmp(box->front, front) == 0) {
            return box;
        }
    }
    if (sim->outbox_count == SIM_OUTBOXES_MAX) {
        sim_flush_outboxes(sim); // names come from the bus: there may be any number of them
    }
    if (!sim_grow(sim, (void**)&sim->outboxes, &sim->outbox_capacity, sim->outbox_made,
                  sizeof *sim->outboxes)) {
        return NULL;
    }
    sim_outbox* box = &sim->outboxes[sim->outbox_count];
    if (sim->outbox_count == sim->outbox_made) {
        *box = (sim_outbox){0};
        bus_writer_init(&box->writer, &sim->allocator);
        ++sim->outbox_made;
    }
    ++sim->outbox_count;
    box->region = region;
    memcpy(box->front, front, strlen(front) + 1);
    begin_outbox(sim, box);
    return box;
}

void sim_send_item(ph_bus_sim* sim, int region, const char* front, const bus_item* item)
{
    sim_outbox* box = front[0] != '\0' ? find_outbox(sim, region, front) : NULL;
    if (box == NULL) {
        return;
    }
    if (box->writer.size > SIM_PART_BYTES) {
        flush_outbox(sim, box);
        begin_outbox(sim, box);
    }
    box->count += bus_items_add(&box->writer, item);
}

void sim_flush_outboxes(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->outbox_count; ++i) {
        flush_outbox(sim, &sim->outboxes[i]);
    }
    sim->outbox_count = 0;
}

bus_item sim_item_of(const sim_player* player, bus_item_kind kind)
{
    return (bus_item){
        .kind = kind,
        .client_id = player->client_id,
        .generation = player->generation,
        .key = player->key,
    };
}

void sim_tell_moved(ph_bus_sim* sim, int from_region, const sim_player* player, int region)
{
    bus_item item = sim_item_of(player, BUS_ITEM_MOVED);
    item.region = region;
    sim_send_item(sim, from_region, player->front, &item);
}

void sim_send_refused(ph_bus_sim* sim, int region, const char* front, const bus_item* about,
                      const char* text)
{
    char tidy[PH_REFUSAL_TEXT_MAX + 1];
    const size_t size = bus_tidy_text(tidy, sizeof tidy, text);
    const bus_item item = {
        .kind = BUS_ITEM_REFUSED,
        .client_id = about->client_id,
        .generation = about->generation,
        .key = about->key,
        .bytes = (const uint8_t*)tidy,
        .size = size,
    };
    sim_send_item(sim, region, front, &item);
}

static void send_attached(ph_bus_sim* sim, const sim_player* player)
{
    bus_item item = sim_item_of(player, BUS_ITEM_ATTACHED);
    sim_place place = {0};
    sim_place_of(sim, ph_world_find(sim->world, player->key), &place);
    item.region = sim->regions[player->region].number;
    item.sees = player->sees;
    item.audience = player->audience;
    memcpy(item.place_mm, place.mm, sizeof item.place_mm);
    item.received = player->received;
    item.told = player->told;
    item.state = player->state.size > 0 ? player->state.bytes : NULL;
    item.state_size = player->state.size;
    sim_send_item(sim, player->region, player->front, &item);
}

// ---- what is safe goes out

static void send_confirm(ph_bus_sim* sim, sim_player* player)
{
    bus_item item = sim_item_of(player, BUS_ITEM_CONFIRM);
    item.received = player->safe_received;
    item.input = player->safe_input;
    sim_send_item(sim, player->region, player->front, &item);
}

// Those behind `from`, as far as they are safe.
static void send_tells(ph_bus_sim* sim, sim_player* player, uint64_t from)
{
    const uint8_t* rest = player->queue.bytes;
    size_t rest_size = player->queue.size;
    bus_item item = sim_item_of(player, BUS_ITEM_TELL);
    uint64_t number = player->told;
    int count = 0;
    while (count < SIM_TELLS_AT_ONCE &&
           bus_next_message(&rest, &rest_size, &item.bytes, &item.size)) {
        ++number;
        if (number > player->safe_told) {
            break;
        }
        if (number > from) {
            item.first = number;
            sim_send_item(sim, player->region, player->front, &item);
            player->sent_told = number > player->sent_told ? number : player->sent_told;
            player->sent_us = sim->now_us;
            ++count;
        }
    }
}

// @return Whether an attach is to be answered.
static bool take_marks(sim_player* player, uint64_t mirrored)
{
    bool answers = false;
    int done = 0;
    while (done < player->mark_count && player->marks[done].sequence <= mirrored) {
        const sim_mark* mark = &player->marks[done++];
        player->safe_received = mark->received;
        player->safe_told = mark->told;
        player->safe_input = mark->input;
        answers |= mark->answers;
    }
    if (done > 0) {
        player->mark_count -= done;
        memmove(player->marks, player->marks + done,
                (size_t)player->mark_count * sizeof player->marks[0]);
    }
    return answers;
}

static void step_player(ph_bus_sim* sim, sim_player* player, uint64_t mirrored)
{
    const int before = player->mark_count;
    const bool answers = take_marks(player, mirrored);
    if (player->front[0] == '\0') {
        if (sim->now_us - player->detached_us > SIM_SESSION_US) {
            sim_note_ended(sim,
                           &(sim_ended){.client_id = player->client_id, .region = player->region});
            sim_remove_player(sim, player);
        }
        return;
    }
    if (answers) {
        send_attached(sim, player);
        player->own_us = 0;
        player->sent_told = player->told;
    }
    if (player->confirms && player->mark_count < before) {
        send_confirm(sim, player);
        player->confirms = player->mark_count > 0 || player->is_dirty;
    }
    if (player->safe_told > player->sent_told) {
        send_tells(sim, player, player->sent_told);
    } else if (player->queue_count > 0 && sim->now_us - player->sent_us >= SIM_REPEAT_US) {
        send_tells(sim, player, player->told);
    }
}

void sim_players_step(ph_bus_sim* sim)
{
    for (int r = 0; r < sim->region_count; ++r) {
        const sim_region* region = &sim->regions[r];
        if (region->state != SIM_OWNER || region->by_client.count == 0) {
            continue;
        }
        const uint64_t mirrored = sim_region_mirrored(sim, region);
        for (int i = 0; i < sim->player_limit; ++i) {
            sim_player* player = &sim->players[i];
            if (player->is_used && player->region == r && !sim_player_is_frozen(sim, player)) {
                step_player(sim, player, mirrored);
            }
        }
    }
}

// ---- the own entity

static void publish_own(ph_bus_sim* sim, sim_player* player)
{
    const sim_region* region = &sim->regions[player->region];
    const sim_filed* filed = sim_find_filed(sim, player->key);
    sim_place place;
    if (filed == NULL || filed->region != player->region ||
        !sim_place_of(sim, filed->entity, &place)) {
        return;
    }
    bus_item item = sim_item_of(player, BUS_ITEM_OWN);
    bool is_due = player->own_us == 0 || sim->now_us - player->own_us >= 1000000 ||
                  !ph_cell_is_same(player->own_cell, place.ground);
    if ((place.channels & 1) == 0) {
        size_t size = ph_exporter_entity(region->exporter, filed->entity, 0, sim->entity_bytes,
                                         PH_EXPORT_BATCH_BYTES_MIN);
        ph_hash hash = ph_hash_make(region->epoch);
        ph_hash_add(&hash, sim->entity_bytes, size);
        is_due |= ph_hash_value(&hash) != player->own_digest;
        player->own_digest = ph_hash_value(&hash);
        if (is_due) {
            item.size = sim_write_entity(sim, region, filed->entity);
            item.bytes = item.size > 0 ? sim->entity_bytes : NULL;
        }
    }
    if (is_due) {
        player->own_us = sim->now_us;
        player->own_cell = place.ground;
        memcpy(item.place_mm, place.mm, sizeof item.place_mm);
        sim_send_item(sim, player->region, player->front, &item);
    }
}

void sim_publish_own(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_player* player = &sim->players[i];
        if (player->is_used && player->front[0] != '\0' &&
            sim->regions[player->region].state == SIM_OWNER) {
            publish_own(sim, player);
        }
    }
}
