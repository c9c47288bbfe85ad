// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an owner tells its standbys beside its cells: sessions of players, and entities that must not be lost or
// doubled if it dies now. Numbered for each epoch, acked by the standbys; what must be safe waits for the ack: messages
// are confirmed, told and handed over only when every standby that had all once has them.
//
//   owner      SESSION, ENTITY, ENDED ... number n          once per publish with news; attaches once per receive
//   standby    MIRRORED n                                   once per receive
//              MIRRORED wants_all                           at the beginning, and when a number is missing
//   owner      ENDED of client 0, all sessions ..., is_last

#include "bus/sim_state.h"

#include <string.h>

// ---- sessions as messages

bus_session sim_session_of(const sim_player* player)
{
    bus_session session = {
        .client_id = player->client_id,
        .generation = player->generation,
        .key = player->key,
        .sees = player->sees,
        .audience = player->audience,
        .received = player->received,
        .input = player->input,
        .told = player->told,
        .state = player->state.size > 0 ? player->state.bytes : NULL,
        .state_size = player->state.size,
        .queue_count = (uint16_t)player->queue_count,
        .queue = player->queue.size > 0 ? player->queue.bytes : NULL,
        .queue_size = player->queue.size,
    };
    memcpy(session.front, player->front, sizeof session.front);
    return session;
}

bool sim_take_session(ph_bus_sim* sim, sim_player* player, const bus_session* session)
{
    if (session->state_size > SIM_STATE_BYTES_MAX ||
        !sim_bytes_reserve(sim, &player->state, session->state_size) ||
        !sim_bytes_reserve(sim, &player->queue, session->queue_size)) {
        return false;
    }
    sim_bytes_set(sim, &player->state, session->state, session->state_size);
    sim_bytes_set(sim, &player->queue, session->queue, session->queue_size);
    player->queue_count = session->queue_count;
    player->generation = session->generation;
    player->sees = session->sees;
    player->audience = session->audience;
    player->received = session->received;
    player->input = session->input;
    player->told = session->told;
    memcpy(player->front, session->front, sizeof player->front);
    return true;
}

size_t sim_write_entity(ph_bus_sim* sim, const sim_region* region, ph_entity_id entity)
{
    return ph_exporter_entity(region->exporter, entity, region->stamp, sim->entity_bytes,
                              PH_EXPORT_BATCH_BYTES_MIN);
}

// ---- owner

typedef struct mirror_out {
    ph_bus_sim* sim;
    sim_region* region;
    bool is_all;
    bool is_early; // those that were attached alone
    bool is_open;
    uint16_t count;
} mirror_out;

static void send_mirror(ph_bus_sim* sim, sim_region* region, uint16_t count)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "mirror", sim->world_name, region->number);
    bus_items_end(&sim->writer, count);
    sim_send(sim, subject);
    region->mirror_us = sim->now_us;
}

static void open_mirror(mirror_out* out, bool is_last)
{
    bus_items head = {
        .kind = BUS_MIRROR,
        .region = out->region->number,
        .epoch = out->region->epoch,
        .sequence = ++out->region->mirror_sequence,
        .is_all = out->is_all,
        .is_last = is_last,
    };
    memcpy(head.name, out->sim->name, sizeof head.name);
    bus_writer_clear(&out->sim->writer);
    bus_items_begin(&out->sim->writer, &head);
    out->is_open = true;
    out->count = 0;
}

static void close_mirror(mirror_out* out)
{
    if (out->is_open) {
        send_mirror(out->sim, out->region, out->count);
        out->is_open = false;
    }
}

static void add_to_mirror(mirror_out* out, const bus_item* item)
{
    if (out->is_open && out->sim->writer.size > SIM_PART_BYTES) {
        close_mirror(out);
    }
    if (!out->is_open) {
        open_mirror(out, false);
    }
    out->count += bus_items_add(&out->sim->writer, item);
}

static void add_entity(mirror_out* out, ph_entity_id entity, uint64_t key)
{
    const size_t size = sim_write_entity(out->sim, out->region, entity);
    if (size > 0) {
        const bus_item item = {
            .kind = BUS_ITEM_ENTITY, .key = key, .bytes = out->sim->entity_bytes, .size = size};
        add_to_mirror(out, &item);
    }
}

// What is in the mirror with this number is safe when that is acked.
static void mark(sim_player* player, uint64_t sequence)
{
    const sim_mark made = {
        .sequence = sequence,
        .received = player->received,
        .told = player->told + (uint64_t)player->queue_count,
        .input = player->input,
        .answers = player->answers,
    };
    if (player->mark_count == SIM_MARKS) {
        const bool answers = player->marks[SIM_MARKS - 1].answers;
        player->marks[SIM_MARKS - 1] = made;
        player->marks[SIM_MARKS - 1].answers |= answers;
    } else {
        player->marks[player->mark_count++] = made;
    }
    player->is_dirty = false;
    player->has_effects = false;
    player->has_news = false;
    player->answers = false;
}

// Whether it waits for an answer and nothing is new but that: what the game has made of messages and said goes with
// the entities, in the tick.
static bool is_only_attached(const sim_player* player)
{
    return player->answers && !player->has_effects && !player->has_news;
}

static void mirror_players(mirror_out* out)
{
    ph_bus_sim* sim = out->sim;
    const int index = sim_region_index(sim, out->region);
    const bool is_heard = out->region->standby_count > 0;
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_player* player = &sim->players[i];
        if (!player->is_used || player->region != index || (!player->is_dirty && !out->is_all) ||
            (out->is_early && !is_only_attached(player))) {
            continue;
        }
        if (is_heard) {
            // The entity first: a part that ends between the two has effects without their messages at worst.
            const sim_filed* filed = sim_find_filed(sim, player->key);
            if ((player->has_effects || out->is_all) && filed != NULL && filed->region == index &&
                ph_world_is_alive(sim->world, filed->entity)) {
                add_entity(out, filed->entity, filed->key);
            }
            const bus_item item = {.kind = BUS_ITEM_SESSION, .session = sim_session_of(player)};
            add_to_mirror(out, &item);
        }
        mark(player, is_heard ? out->region->mirror_sequence : 0);
    }
}

void sim_mirror_filed(ph_bus_sim* sim, sim_filed* filed)
{
    filed->needs_mirror = true;
    sim->has_unmirrored = true;
}

static void mirror_entities(mirror_out* out)
{
    ph_bus_sim* sim = out->sim;
    if (!out->is_all && !sim->has_unmirrored) {
        return; // nearly always, and there may be many
    }
    sim->has_unmirrored = false;
    const int index = sim_region_index(sim, out->region);
    const bool is_heard = out->region->standby_count > 0;
    for (int i = 0; i < sim->filed_count; ++i) {
        sim_filed* filed = &sim->filed[i];
        const bool is_wanted =
            filed->needs_mirror || (out->is_all && filed->to_region != PH_REGION_NONE);
        if (filed->region != index || !is_wanted) {
            sim->has_unmirrored |= filed->needs_mirror;
            continue;
        }
        if (is_heard) {
            add_entity(out, filed->entity, filed->key);
        }
        filed->needs_mirror = false;
        filed->sequence = is_heard ? out->region->mirror_sequence : 0;
        for (int a = 0; a < sim->acceptance_count; ++a) {
            sim_acceptance* due = &sim->acceptances[a];
            if (due->key == filed->key && due->region == index) {
                due->is_mirrored = true;
                due->sequence = filed->sequence;
            }
        }
    }
}

void sim_note_ended(ph_bus_sim* sim, const sim_ended* ended)
{
    if (sim_grow(sim, (void**)&sim->ended, &sim->ended_capacity, sim->ended_count,
                 sizeof *sim->ended)) {
        sim->ended[sim->ended_count++] = *ended;
    }
}

// An entity that has gone to another region of this sim is not given up before that region's standbys have it.
static bool is_safe_to_end(ph_bus_sim* sim, const sim_ended* ended)
{
    const sim_filed* filed = ended->has_entity ? sim_find_filed(sim, ended->key) : NULL;
    return filed == NULL || filed->region == ended->region ||
           (!filed->needs_mirror &&
            filed->sequence <= sim_region_mirrored(sim, &sim->regions[filed->region]));
}

static void mirror_ended(mirror_out* out)
{
    ph_bus_sim* sim = out->sim;
    const int index = sim_region_index(sim, out->region);
    for (int i = sim->ended_count - 1; i >= 0; --i) {
        const sim_ended* ended = &sim->ended[i];
        if (ended->region != index || !is_safe_to_end(sim, ended)) {
            continue;
        }
        const sim_filed* filed = sim_find_filed(sim, ended->key);
        const bool is_back = filed != NULL && filed->region == index;
        // The generation says that the entity is gone, too: it is another region's.
        const bus_item item = {.kind = BUS_ITEM_ENDED,
                               .client_id = ended->client_id,
                               .generation = ended->has_entity && !is_back,
                               .key = ended->key};
        if (out->region->standby_count > 0 && (item.client_id != 0 || item.generation != 0)) {
            add_to_mirror(out, &item);
        }
        sim->ended[i] = sim->ended[--sim->ended_count];
    }
}

// A lost mirror that nothing follows would go unnoticed.
static void repeat_number(ph_bus_sim* sim, sim_region* region)
{
    if (region->mirror_sequence == 0 || sim->now_us - region->mirror_us < SIM_REPEAT_US ||
        sim_region_mirrored(sim, region) >= region->mirror_sequence) {
        return;
    }
    bus_items head = {
        .kind = BUS_MIRROR,
        .region = region->number,
        .epoch = region->epoch,
        .sequence = region->mirror_sequence,
    };
    memcpy(head.name, sim->name, sizeof head.name);
    bus_writer_clear(&sim->writer);
    bus_items_begin(&sim->writer, &head);
    send_mirror(sim, region, 0);
}

void sim_publish_mirrors(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        if (!sim_region_speaks(region)) {
            continue;
        }
        mirror_out out = {.sim = sim, .region = region, .is_all = region->mirror_wants_all};
        region->mirror_wants_all = false;
        if (out.is_all) {
            const bus_item begin = {.kind = BUS_ITEM_ENDED};
            add_to_mirror(&out, &begin);
        }
        mirror_ended(&out);
        mirror_entities(&out);
        mirror_players(&out);
        close_mirror(&out);
        if (out.is_all) {
            open_mirror(&out, true);
            close_mirror(&out);
        }
        repeat_number(sim, region);
    }
}

void sim_mirror_attached(ph_bus_sim* sim)
{
    if (!sim->has_attached) {
        return;
    }
    sim->has_attached = false;
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        if (sim_region_speaks(region) && !region->mirror_wants_all) {
            mirror_out out = {.sim = sim, .region = region, .is_early = true};
            mirror_players(&out);
            close_mirror(&out);
        }
    }
}

void sim_take_mirrored(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_mirrored mirrored;
    ph_bus_refusal refusal;
    if (!bus_read_mirrored(&mirrored, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "mirrored", sim->world_name, mirrored.region);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, mirrored.region);
    if (region == NULL || !sim_region_speaks(region) || mirrored.epoch != region->epoch) {
        return;
    }
    for (int i = 0; i < region->standby_count; ++i) {
        sim_standby* standby = &region->standbys[i];
        if (strcmp(standby->name, mirrored.sim) != 0) {
            continue;
        }
        if (mirrored.sequence > region->mirror_sequence) {
            sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
            return;
        }
        if (mirrored.sequence > standby->mirrored) {
            standby->mirrored = mirrored.sequence;
        }
        region->mirror_wants_all |= mirrored.wants_all;
    }
}

// ---- standby

static void take_mirrored_session(ph_bus_sim* sim, sim_region* region, const bus_session* session)
{
    sim_player* player = sim_find_player(sim, region, session->client_id);
    if (player != NULL && player->key != session->key) {
        sim_remove_player(sim, player);
        player = NULL;
    }
    if (player == NULL) {
        player = sim_add_player(sim, region, session->client_id, session->key);
    }
    if (player == NULL) {
        return;
    }
    player->list_mark = sim->list_count;
    if (!sim_take_session(sim, player, session)) {
        sim_remove_player(sim, player);
    }
}

static void take_mirrored_entity(ph_bus_sim* sim, const sim_region* region, const bus_item* item)
{
    ph_import_peek peek;
    if (!ph_importer_peek(item->bytes, item->size, &peek) || peek.has_cell || peek.is_whole ||
        peek.record_count != 1 || peek.owner != PH_REGION_OWNER(region->number)) {
        sim_refuse(sim, PH_BUS_REFUSAL_BATCH);
        return;
    }
    sim->expects_key = true;
    sim->expected_key = item->key;
    sim->was_surprised = false;
    const ph_result result = ph_importer_take(sim->importer, item->bytes, item->size);
    sim->expects_key = false;
    if (result != PH_OK || sim->was_surprised) {
        sim_refuse(sim, PH_BUS_REFUSAL_BATCH);
    }
}

static void take_ended(ph_bus_sim* sim, sim_region* region, const bus_item* item)
{
    sim_player* player = sim_find_player(sim, region, item->client_id);
    const ph_entity_id entity = ph_world_find(sim->world, item->key);
    ph_ownership ownership;
    if (item->client_id != 0 && player != NULL) {
        sim_remove_player(sim, player);
    }
    if (item->generation == 1 && ph_world_is_alive(sim->world, entity) &&
        ph_world_get_ownership(sim->world, entity, &ownership) == PH_OK &&
        ownership.owner == PH_REGION_OWNER(region->number)) {
        ph_world_despawn(sim->world, entity);
    }
}

static void take_items(ph_bus_sim* sim, sim_region* region, bus_items* head)
{
    bus_item item;
    while (bus_next_item(head, &item)) {
        if (item.kind == BUS_ITEM_SESSION) {
            take_mirrored_session(sim, region, &item.session);
        } else if (item.kind == BUS_ITEM_ENTITY) {
            take_mirrored_entity(sim, region, &item);
        } else {
            take_ended(sim, region, &item);
        }
    }
}

static void forget_unnamed(ph_bus_sim* sim, const sim_region* region)
{
    const int index = sim_region_index(sim, region);
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_player* player = &sim->players[i];
        if (player->is_used && player->region == index && player->list_mark != sim->list_count) {
            sim_remove_player(sim, player);
        }
    }
}

// The list of all: in parts with numbers one behind the other.
static void take_list(ph_bus_sim* sim, sim_region* region, bus_items* head)
{
    bus_items copy = *head;
    bus_item first;
    if (bus_next_item(&copy, &first) && first.kind == BUS_ITEM_ENDED && first.client_id == 0 &&
        first.generation == 0) {
        region->mirror_collects = true;
        ++sim->list_count;
    } else if (!region->mirror_collects || head->sequence != region->mirror_known + 1) {
        region->mirror_collects = false; // a part is missing
        return;
    }
    region->mirror_known = head->sequence;
    take_items(sim, region, head);
    if (head->is_last) {
        region->mirror_collects = false;
        region->has_sessions = true;
        forget_unnamed(sim, region);
    }
}

void sim_take_mirror(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_items head;
    ph_bus_refusal refusal;
    if (!bus_read_items(&head, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "mirror", sim->world_name, head.region);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, head.region);
    if (region == NULL || !sim_hear_epoch(sim, region, head.epoch)) {
        return;
    }
    region->mirror_answers = true;
    if (head.is_all) {
        if (head.sequence > region->mirror_known) {
            take_list(sim, region, &head);
        }
        return;
    }
    const uint64_t expected = region->mirror_known + (head.count > 0);
    if (head.sequence > expected) {
        if (region->has_sessions) {
            // It may have said that entities have gone: the cells are wanted anew, to know which.
            ++sim->stats.gaps;
            ++region->cycle;
            region->has_cells = false;
        }
        region->has_sessions = false;
        region->mirror_collects = false;
    } else if (head.sequence == region->mirror_known + 1) {
        region->mirror_known = head.sequence;
    } else {
        return; // known
    }
    take_items(sim, region, &head);
}

void sim_answer_mirrors(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        const bool wants_all =
            !region->has_sessions && sim->now_us - region->asked_sessions_us >= SIM_REPEAT_US;
        if (region->state != SIM_WATCHING || region->heard_epoch == 0 ||
            (!region->mirror_answers && !wants_all)) {
            continue;
        }
        bus_mirrored answer = {
            .region = region->number,
            .epoch = region->heard_epoch,
            .sequence = region->mirror_known,
            .wants_all = wants_all,
        };
        memcpy(answer.sim, sim->name, sizeof answer.sim);
        if (wants_all) {
            region->asked_sessions_us = sim->now_us;
        }
        region->mirror_answers = false;
        char subject[PH_BUS_SUBJECT_MAX];
        bus_subject_region(subject, "mirrored", sim->world_name, region->number);
        bus_write_mirrored(&sim->writer, &answer);
        sim_send(sim, subject);
    }
}
