// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A simulation server: how it is made, what a tick does in which order, the events of the game. The chapters that do
// the work are listed in sim_state.h.
//
// receive:   own clock and connection -> answers about records -> messages -> timers -> what is safe goes out
// publish:   entities are filed -> mirrors -> cells: all that comes, then all that goes -> offers, snapshots -> beats
//
// A mirror goes out before the cells that show its effects: an owner that dies in between has told its standby of a
// message and its effects, or of neither.

#include "bus/sim_state.h"

#include <string.h>

#define SIM_COOKIE UINT32_C(0x70685331)

// ---- memory

bool sim_grow(const ph_bus_sim* sim, void** array, int* capacity, int count, size_t element_size)
{
    if (count < *capacity) {
        return true;
    }
    const int wanted = *capacity < 16 ? 16 : *capacity * 2;
    void* grown = ph_allocate_array(&sim->allocator, (size_t)wanted, element_size);
    if (grown == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(grown, *array, (size_t)count * element_size);
    }
    ph_release_array(&sim->allocator, *array, (size_t)*capacity, element_size);
    *array = grown;
    *capacity = wanted;
    return true;
}

bool sim_bytes_reserve(const ph_bus_sim* sim, sim_bytes* bytes, size_t size)
{
    if (size <= bytes->capacity) {
        return true;
    }
    size_t capacity = bytes->capacity < 256 ? 256 : bytes->capacity;
    while (capacity < size) {
        capacity *= 2;
    }
    uint8_t* grown = ph_allocate(&sim->allocator, capacity);
    if (grown == NULL) {
        return false;
    }
    if (bytes->size > 0) {
        memcpy(grown, bytes->bytes, bytes->size);
    }
    ph_release(&sim->allocator, bytes->bytes, bytes->capacity);
    bytes->bytes = grown;
    bytes->capacity = capacity;
    return true;
}

bool sim_bytes_set(const ph_bus_sim* sim, sim_bytes* bytes, const void* from, size_t size)
{
    if (!sim_bytes_reserve(sim, bytes, size)) {
        return false;
    }
    if (size > 0) {
        memcpy(bytes->bytes, from, size);
    }
    bytes->size = size;
    return true;
}

void sim_bytes_free(const ph_bus_sim* sim, sim_bytes* bytes)
{
    ph_release(&sim->allocator, bytes->bytes, bytes->capacity);
    *bytes = (sim_bytes){0};
}

bool sim_map_insert(ph_hash_map* map, uint64_t key, uint32_t value)
{
    if (ph_hash_map_insert(map, key, value)) {
        return true;
    }
    return ph_hash_map_reserve(map, map->count * 2 + 16) == PH_OK &&
           ph_hash_map_insert(map, key, value);
}

// ---- life

ph_bus_sim_def ph_bus_sim_def_default(void)
{
    return (ph_bus_sim_def){
        .cell_mm = 250000,
        .suspect_ms = 800,
        .verify_ms = 300,
        .player_capacity = 4096,
        .player_queue_messages = 256,
        .cookie = SIM_COOKIE,
    };
}

static bool is_in_map(const ph_bus_sim_def* def, int number)
{
    for (int i = 0; i < def->region_count; ++i) {
        if (def->regions[i].number == number) {
            return true;
        }
    }
    return false;
}

// Which of two regions has a cell would be a matter of their order. 65,535 regions take a second or two.
static void check_overlaps(ph_check* check, const ph_bus_sim_def* def)
{
    for (int i = 0; i < def->region_count; ++i) {
        const ph_region* a = &def->regions[i];
        for (int j = 0; j < i; ++j) {
            const ph_region* b = &def->regions[j];
            const ph_cell first = {a->from.x > b->from.x ? a->from.x : b->from.x,
                                   a->from.y > b->from.y ? a->from.y : b->from.y};
            if (first.x <= a->to.x && first.x <= b->to.x && first.y <= a->to.y &&
                first.y <= b->to.y) {
                check->result = ph_fail(check, PH_ERROR_ARGUMENT, "ph_bus_sim_def.regions",
                                        "has cell (%d, %d) in regions %d and %d; a cell must be in "
                                        "one of them at most",
                                        first.x, first.y, b->number, a->number);
                return;
            }
        }
    }
}

static void check_regions(ph_check* check, const ph_bus_sim_def* def)
{
    ph_check_range(check, "ph_bus_sim_def.region_count", def->region_count, 1, PH_REGION_MAX + 1);
    ph_check_range(check, "ph_bus_sim_def.wanted_count", def->wanted_count, 0, def->region_count);
    ph_check_that(check, def->regions != NULL, "ph_bus_sim_def.regions", "NULL",
                  "the map of the world");
    ph_check_that(check, def->wanted != NULL || def->wanted_count == 0, "ph_bus_sim_def.wanted",
                  "NULL", "the numbers of the wanted regions");
    for (int i = 0; i < def->region_count && check->result == PH_OK; ++i) {
        const ph_region* region = &def->regions[i];
        ph_check_range(check, "ph_region.number", region->number, 0, PH_REGION_MAX);
        ph_check_that(check, region->from.x <= region->to.x && region->from.y <= region->to.y,
                      "ph_region.to", "before from", "a cell behind it, or the same");
    }
    if (check->result == PH_OK) {
        check_overlaps(check, def);
    }
    for (int i = 0; i < def->wanted_count && check->result == PH_OK; ++i) {
        ph_check_that(check, is_in_map(def, def->wanted[i]), "ph_bus_sim_def.wanted",
                      "a number that is not in the map", "one of the map's");
        for (int j = 0; j < i; ++j) {
            ph_check_that(check, def->wanted[i] != def->wanted[j], "ph_bus_sim_def.wanted",
                          "a number that is there twice", "each once");
        }
    }
}

static bool has_transport(const ph_bus_transport* transport)
{
    return transport->publish != NULL && transport->subscribe != NULL &&
           transport->unsubscribe != NULL && transport->next != NULL && transport->read != NULL &&
           transport->swap != NULL && transport->next_answer != NULL &&
           transport->lost_count != NULL && transport->is_connected != NULL;
}

static ph_result check_def(const ph_bus_sim_def* def)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_bus_sim_create");
    ph_check_made(&check, def->cookie == SIM_COOKIE, "ph_bus_sim_def");
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_check_that(&check, has_transport(&def->transport), "ph_bus_sim_def.transport",
                  "without some of its functions", "a transport with all of them");
    ph_check_that(&check, def->world != NULL, "ph_bus_sim_def.world", "NULL", "a world");
    ph_check_that(&check, bus_is_name(def->world_name), "ph_bus_sim_def.world_name", "no name",
                  "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_that(&check, bus_is_name(def->name), "ph_bus_sim_def.name", "no name",
                  "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_range(&check, "ph_bus_sim_def.cell_mm", def->cell_mm, PH_CELL_MM_MIN, PH_CELL_MM_MAX);
    ph_check_range(&check, "ph_bus_sim_def.suspect_ms", def->suspect_ms, 200, 60000);
    ph_check_range(&check, "ph_bus_sim_def.verify_ms", def->verify_ms, 1,
                   (def->suspect_ms - 1) / 2);
    ph_check_range(&check, "ph_bus_sim_def.player_capacity", def->player_capacity, 0, 1 << 20);
    ph_check_range(&check, "ph_bus_sim_def.player_queue_messages", def->player_queue_messages, 1,
                   512);
    check_regions(&check, def);
    return check.result;
}

static bool create_arrays(ph_bus_sim* sim, const ph_bus_sim_def* def)
{
    const ph_allocator* allocator = &sim->allocator;
    sim->map = ph_allocate_array(allocator, (size_t)def->region_count, sizeof *sim->map);
    sim->regions = ph_allocate_zeroed(allocator, (size_t)def->wanted_count * sizeof *sim->regions);
    sim->cell_cache = ph_allocate_zeroed(allocator, SIM_CELL_CACHE * sizeof *sim->cell_cache);
    sim->entity_bytes = ph_allocate(allocator, PH_EXPORT_BATCH_BYTES_MIN);
    sim->gone = ph_allocate_zeroed(allocator, SIM_GONE_MAX * sizeof *sim->gone);
    sim->players =
        ph_allocate_zeroed(allocator, (size_t)def->player_capacity * sizeof *sim->players);
    sim->requests = ph_allocate_array(allocator, SIM_REQUESTS_MAX, sizeof *sim->requests);
    return sim->map != NULL && sim->regions != NULL && sim->cell_cache != NULL &&
           sim->entity_bytes != NULL && sim->gone != NULL && sim->players != NULL &&
           sim->requests != NULL;
}

static bool create_parts(ph_bus_sim* sim, const ph_bus_sim_def* def)
{
    ph_exporter_def plain = ph_exporter_def_default();
    plain.world = def->world;
    plain.cell_mm = def->cell_mm;
    plain.owner = UINT32_MAX;
    plain.as_owner = UINT32_MAX;
    const ph_importer_def importer = {
        .world = def->world,
        .tombstone_capacity = 65536,
        // A lost arrival behind a departure that was heard would lose the entity with the owner's death.
        .keeps_left = true,
        .on_entity = sim_on_import,
        .on_entity_context = sim,
    };
    if (!create_arrays(sim, def) ||
        ph_hash_map_create(&sim->filed_by_key, &sim->allocator, 64, 1) != PH_OK ||
        ph_hash_map_create(&sim->gone_by_key, &sim->allocator, SIM_GONE_MAX, 2) != PH_OK ||
        ph_importer_create(&importer, &sim->importer) != PH_OK ||
        ph_exporter_create(&plain, &sim->plain) != PH_OK) {
        return false;
    }
    memcpy(sim->map, def->regions, (size_t)def->region_count * sizeof *sim->map);
    sim->def.regions = sim->map;
    sim->def.wanted = NULL;
    sim->region_count = def->wanted_count;
    for (int i = 0; i < def->wanted_count; ++i) {
        sim_region* region = &sim->regions[i];
        region->sim = sim;
        region->number = def->wanted[i];
        region->state = SIM_STARTING;
        if (ph_hash_map_create(&region->by_client, &sim->allocator, 16, 3) != PH_OK ||
            ph_hash_map_create(&region->by_key, &sim->allocator, 16, 4) != PH_OK ||
            ph_hash_map_create(&region->streams.by_place, &sim->allocator, 64, 5) != PH_OK) {
            return false;
        }
    }
    return true;
}

static const char* const WORLD_ROOTS[] = {"snap", "find"};
static const char* const REGION_ROOTS[] = {"beat", "hand", "in", "mirror", "mirrored"};

enum {
    WORLD_ROOT_COUNT = sizeof WORLD_ROOTS / sizeof WORLD_ROOTS[0],
    REGION_ROOT_COUNT = sizeof REGION_ROOTS / sizeof REGION_ROOTS[0],
};

// All that it subscribes to from its beginning to its end.
static size_t subscription_capacity(int region_count)
{
    return 1 + WORLD_ROOT_COUNT + (size_t)region_count * REGION_ROOT_COUNT;
}

static bool subscribe(ph_bus_sim* sim, const char* subject)
{
    const ph_bus_transport* transport = &sim->def.transport;
    const uint64_t subscription = transport->subscribe(transport->context, subject);
    sim->subscriptions[sim->subscription_count] = subscription;
    sim->subscription_count += subscription != 0;
    return subscription != 0;
}

static bool subscribe_to_all(ph_bus_sim* sim)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, sim->world_name, sim->name);
    bool is_done = subscribe(sim, subject);
    for (int i = 0; i < WORLD_ROOT_COUNT; ++i) {
        bus_subject_world(subject, WORLD_ROOTS[i], sim->world_name);
        is_done = subscribe(sim, subject) && is_done;
    }
    for (int r = 0; r < sim->region_count; ++r) {
        for (int i = 0; i < REGION_ROOT_COUNT; ++i) {
            bus_subject_region(subject, REGION_ROOTS[i], sim->world_name, sim->regions[r].number);
            is_done = subscribe(sim, subject) && is_done;
        }
    }
    return is_done;
}

static void unsubscribe_from_all(ph_bus_sim* sim)
{
    const ph_bus_transport* transport = &sim->def.transport;
    for (int i = 0; i < sim->subscription_count; ++i) {
        transport->unsubscribe(transport->context, sim->subscriptions[i]);
    }
    for (int i = 0; i < sim->region_count; ++i) {
        transport->unsubscribe(transport->context, sim->regions[i].cells_subscription);
        transport->unsubscribe(transport->context, sim->regions[i].own_subscription);
    }
}

ph_result ph_bus_sim_create(const ph_bus_sim_def* def, ph_bus_sim** sim)
{
    *sim = NULL;
    const ph_result result = check_def(def);
    if (result != PH_OK) {
        return result;
    }
    const ph_check call = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_bus_sim* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&call);
    }
    made->def = *def;
    made->allocator = def->allocator;
    made->world = def->world;
    memcpy(made->world_name, def->world_name, strlen(def->world_name) + 1);
    memcpy(made->name, def->name, strlen(def->name) + 1);
    made->def.world_name = made->world_name;
    made->def.name = made->name;
    bus_writer_init(&made->writer, &made->allocator);
    made->subscriptions = ph_allocate_array(
        &made->allocator, subscription_capacity(def->wanted_count), sizeof *made->subscriptions);
    if (made->subscriptions == NULL || !create_parts(made, def) || !subscribe_to_all(made)) {
        ph_bus_sim_destroy(made);
        return ph_fail_memory(&call);
    }
    made->lost_count = def->transport.lost_count(def->transport.context);
    *sim = made;
    return PH_OK;
}

static void free_regions(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        ph_exporter_destroy(region->exporter);
        sim_streams_free(sim, region);
        ph_hash_map_destroy(&region->by_client);
        ph_hash_map_destroy(&region->by_key);
    }
}

static void free_lists(ph_bus_sim* sim)
{
    const ph_allocator* allocator = &sim->allocator;
    for (int i = 0; i < sim->player_limit; ++i) {
        sim_bytes_free(sim, &sim->players[i].state);
        sim_bytes_free(sim, &sim->players[i].queue);
    }
    for (int i = 0; i < sim->outbox_made; ++i) {
        bus_writer_destroy(&sim->outboxes[i].writer);
    }
    ph_release_array(allocator, sim->outboxes, (size_t)sim->outbox_capacity, sizeof(sim_outbox));
    ph_release_array(allocator, sim->filed, (size_t)sim->filed_capacity, sizeof(sim_filed));
    ph_release_array(allocator, sim->watched, (size_t)sim->watched_capacity, sizeof(uint64_t));
    ph_release_array(allocator, sim->acceptances, (size_t)sim->acceptance_capacity,
                     sizeof(sim_acceptance));
    ph_release_array(allocator, sim->leaving, (size_t)sim->leaving_capacity, sizeof(sim_leaving));
    ph_release_array(allocator, sim->ended, (size_t)sim->ended_capacity, sizeof(sim_ended));
    ph_release_array(allocator, sim->events, (size_t)sim->event_capacity, sizeof(sim_event));
    sim_bytes_free(sim, &sim->event_bytes);
    sim_bytes_free(sim, &sim->departures);
}

void ph_bus_sim_destroy(ph_bus_sim* sim)
{
    if (sim == NULL) {
        return;
    }
    const ph_allocator allocator = sim->allocator;
    unsubscribe_from_all(sim);
    free_regions(sim);
    free_lists(sim);
    ph_exporter_destroy(sim->plain);
    ph_importer_destroy(sim->importer);
    ph_hash_map_destroy(&sim->filed_by_key);
    ph_hash_map_destroy(&sim->gone_by_key);
    bus_writer_destroy(&sim->writer);
    ph_release_array(&allocator, sim->map, (size_t)sim->def.region_count, sizeof *sim->map);
    ph_release_array(&allocator, sim->subscriptions, subscription_capacity(sim->def.wanted_count),
                     sizeof *sim->subscriptions);
    ph_release(&allocator, sim->regions, (size_t)sim->def.wanted_count * sizeof *sim->regions);
    ph_release(&allocator, sim->cell_cache, SIM_CELL_CACHE * sizeof *sim->cell_cache);
    ph_release(&allocator, sim->entity_bytes, PH_EXPORT_BATCH_BYTES_MIN);
    ph_release(&allocator, sim->gone, SIM_GONE_MAX * sizeof *sim->gone);
    ph_release(&allocator, sim->players, (size_t)sim->def.player_capacity * sizeof *sim->players);
    ph_release_array(&allocator, sim->requests, SIM_REQUESTS_MAX, sizeof *sim->requests);
    ph_release(&allocator, sim, sizeof *sim);
}

// ---- events

bool sim_push_event(ph_bus_sim* sim, const ph_bus_event* event)
{
    if (!sim_grow(sim, (void**)&sim->events, &sim->event_capacity, sim->event_count,
                  sizeof *sim->events) ||
        !sim_bytes_reserve(sim, &sim->event_bytes, sim->event_bytes.size + event->size)) {
        return false;
    }
    sim->events[sim->event_count++] = (sim_event){.event = *event, .at = sim->event_bytes.size};
    if (event->size > 0) {
        memcpy(sim->event_bytes.bytes + sim->event_bytes.size, event->bytes, event->size);
        sim->event_bytes.size += event->size;
    }
    return true;
}

bool ph_bus_sim_next_event(ph_bus_sim* sim, ph_bus_event* event)
{
    if (sim->event_next == sim->event_count) {
        sim->event_next = 0;
        sim->event_count = 0;
        sim->event_bytes.size = 0;
        *event = (ph_bus_event){0};
        return false;
    }
    const sim_event* next = &sim->events[sim->event_next++];
    *event = next->event;
    event->bytes = event->size > 0 ? sim->event_bytes.bytes + next->at : NULL;
    if (!ph_world_is_alive(sim->world, event->entity)) {
        event->entity = (ph_entity_id){0};
    }
    return true;
}

// ---- messages

void sim_send(ph_bus_sim* sim, const char* subject)
{
    const ph_bus_transport* transport = &sim->def.transport;
    if (!sim->writer.is_short && sim->writer.size > 0) {
        if (!transport->publish(transport->context, subject, sim->writer.bytes, sim->writer.size)) {
            ++sim->stats.unsent_messages;
        }
        sim->stats.published_bytes += sim->writer.size;
    } else {
        ++sim->stats.unsent_messages;
    }
    bus_writer_clear(&sim->writer);
}

void sim_refuse(ph_bus_sim* sim, ph_bus_refusal refusal)
{
    ++sim->stats.refused[refusal];
}

typedef void take_fn(ph_bus_sim* sim, const ph_bus_message* message);

static void take_message(ph_bus_sim* sim, const ph_bus_message* message)
{
    static take_fn* const TAKES[BUS_KIND_COUNT] = {
        [BUS_CELL] = sim_take_cell,
        [BUS_SNAPSHOT] = sim_take_snapshot,
        [BUS_BEAT] = sim_take_beat,
        [BUS_OFFER] = sim_take_offer,
        [BUS_ACCEPT] = sim_take_accept,
        [BUS_FIND] = sim_take_find,
        [BUS_UP] = sim_take_up,
        [BUS_MIRROR] = sim_take_mirror,
        [BUS_MIRRORED] = sim_take_mirrored,
    };
    bus_kind kind;
    ph_bus_refusal refusal;
    if (!bus_read_kind(message->bytes, message->size, &kind, &refusal)) {
        sim_refuse(sim, refusal);
    } else if (TAKES[kind] == NULL) {
        sim_refuse(sim, PH_BUS_REFUSAL_KIND);
    } else {
        TAKES[kind](sim, message);
    }
}

// ---- a tick

void ph_bus_sim_receive(ph_bus_sim* sim, uint64_t now_us)
{
    const ph_bus_transport* transport = &sim->def.transport;
    sim->now_us = now_us;
    sim_regions_look(sim);
    ph_bus_answer answer;
    while (transport->next_answer(transport->context, &answer)) {
        sim_take_answer(sim, &answer);
    }
    ph_bus_message message;
    while (transport->next(transport->context, &message)) {
        take_message(sim, &message);
    }
    sim_regions_step(sim);
    sim_answer_mirrors(sim);
    sim_mirror_attached(sim);
    sim_handover_step(sim);
    sim_players_step(sim);
    sim_flush_outboxes(sim);
    sim->ran_us = now_us;
}

void ph_bus_sim_publish(ph_bus_sim* sim, uint64_t now_us)
{
    sim->now_us = now_us;
    sim_regions_look(sim); // the game's step may have taken long
    sim_regions_release(sim);
    ++sim->publish_count;
    for (int i = 0; i < sim->region_count; ++i) {
        sim->regions[i].stamp += sim_region_speaks(&sim->regions[i]);
    }
    sim_scan(sim);
    sim_publish_mirrors(sim);
    sim_handover_step(sim); // at once, where nothing has to be mirrored
    sim_publish_own(sim);   // before anything says that it has left a channel
    sim_flush_outboxes(sim);
    sim_publish_cells(sim);
    sim_after_cells(sim);
    sim_players_step(sim);
    sim_answer_snapshots(sim);
    sim_flush_outboxes(sim);
    sim_regions_beat(sim);
    sim->ran_us = now_us;
}

// ---- questions

bool ph_bus_sim_owns_region(const ph_bus_sim* sim, int region)
{
    for (int i = 0; i < sim->region_count; ++i) {
        if (sim->regions[i].number == region) {
            return sim->regions[i].state == SIM_OWNER;
        }
    }
    return false;
}

bool ph_bus_sim_owns(const ph_bus_sim* sim, ph_entity_id entity)
{
    ph_ownership ownership;
    if (!ph_world_is_alive(sim->world, entity) ||
        ph_world_get_ownership(sim->world, entity, &ownership) != PH_OK) {
        return false;
    }
    if (ownership.owner == 0) {
        return ph_bus_sim_region_count(sim) > 0;
    }
    if (!ph_bus_sim_owns_region(sim, (int)(ownership.owner - 1))) {
        return false;
    }
    uint64_t key;
    uint32_t at;
    ph_world_identify(sim->world, entity, &key, NULL);
    return ph_hash_map_try_find(&sim->filed_by_key, key, &at) &&
           sim->filed[at].to_region == PH_REGION_NONE;
}

int ph_bus_sim_region_count(const ph_bus_sim* sim)
{
    int count = 0;
    for (int i = 0; i < sim->region_count; ++i) {
        const sim_region_state state = sim->regions[i].state;
        count += state == SIM_OWNER || state == SIM_VERIFYING || state == SIM_RELEASING;
    }
    return count;
}

void ph_bus_sim_release(ph_bus_sim* sim)
{
    sim->is_released = true;
}

static bool is_covered(const ph_bus_sim* sim, const sim_region* region)
{
    for (int i = 0; i < region->standby_count; ++i) {
        const sim_standby* standby = &region->standbys[i];
        if (standby->has_all && sim->now_us - standby->heard_us < SIM_STANDBY_GATES_US) {
            return true;
        }
    }
    return false;
}

ph_bus_sim_stats ph_bus_sim_get_stats(const ph_bus_sim* sim)
{
    ph_bus_sim_stats stats = sim->stats;
    for (int i = 0; i < sim->region_count; ++i) {
        const sim_region* region = &sim->regions[i];
        const bool is_owner = sim_region_speaks(region);
        stats.owned_regions += is_owner;
        stats.standby_regions +=
            region->state == SIM_WATCHING && region->has_cells && region->has_sessions;
        stats.covered_regions += is_owner && is_covered(sim, region);
        stats.players += region->state == SIM_OWNER ? region->by_client.count : 0;
    }
    stats.entities = sim->filed_count - sim->offered_count;
    stats.offered = sim->offered_count;
    return stats;
}
