// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A front's life, its tick, interests and questions. The tick takes what has come, then lets players, cells and streams
// have their turn; when warm it allocates nothing.

#include "bus/front_state.h"

#include "base/check.h"
#include "base/position.h"

#include <string.h>

#define FRONT_COOKIE 0x46524F4Eu

ph_bus_front_def ph_bus_front_def_default(void)
{
    return (ph_bus_front_def){
        .cell_mm = 250000,
        .view = ph_viewer_def_default(),
        .margin_mm = 50000,
        .keep_mm = 50000,
        .keep_ms = 3000,
        .attach_ms = 10000,
        .tombstone_capacity = 65536,
        .cookie = FRONT_COOKIE,
    };
}

// ---- memory

bool front_grow(ph_bus_front* front, void** array, int* capacity, int needed, size_t element_size)
{
    if (needed <= *capacity) {
        return true;
    }
    const int more = ph_greatest(needed, ph_greatest(16, *capacity * 2));
    void* larger = ph_allocate_array(&front->allocator, (size_t)more, element_size);
    if (larger == NULL) {
        return false;
    }
    if (*capacity > 0) {
        memcpy(larger, *array, (size_t)*capacity * element_size);
    }
    ph_release_array(&front->allocator, *array, (size_t)*capacity, element_size);
    *array = larger;
    *capacity = more;
    return true;
}

bool front_grow_map(ph_hash_map* map)
{
    return map->count < map->limit ||
           ph_hash_map_reserve(map, ph_greatest(64, map->count * 2)) == PH_OK;
}

void front_refuse(ph_bus_front* front, ph_bus_refusal refusal)
{
    ++front->stats.refused[refusal];
}

bool front_publish(ph_bus_front* front, const char* subject)
{
    const ph_bus_transport* transport = &front->def.transport;
    return !front->writer.is_short &&
           transport->publish(transport->context, subject, front->writer.bytes, front->writer.size);
}

// ---- life

static void check_transport(ph_check* check, const ph_bus_transport* t)
{
    const bool is_whole = t->publish != NULL && t->subscribe != NULL && t->unsubscribe != NULL &&
                          t->next != NULL && t->read != NULL && t->swap != NULL &&
                          t->next_answer != NULL && t->lost_count != NULL &&
                          t->is_connected != NULL;
    ph_check_that(check, is_whole, "ph_bus_front_def.transport", "not whole",
                  "one with all its functions");
}

static ph_result check_def(const ph_bus_front_def* def)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_bus_front_create");
    ph_check_made(&check, def->cookie == FRONT_COOKIE, "ph_bus_front_def");
    if (check.result != PH_OK) {
        return check.result;
    }
    check_transport(&check, &def->transport);
    ph_check_that(&check, def->world != NULL, "ph_bus_front_def.world", "NULL", "a world");
    ph_check_that(&check, def->world_name != NULL && bus_is_name(def->world_name),
                  "ph_bus_front_def.world_name", "no name", "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_that(&check, def->name != NULL && bus_is_name(def->name), "ph_bus_front_def.name",
                  "no name", "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_range(&check, "ph_bus_front_def.cell_mm", def->cell_mm, PH_CELL_MM_MIN,
                   PH_CELL_MM_MAX);
    ph_check_range(&check, "ph_bus_front_def.margin_mm", def->margin_mm, 0, 10000000);
    ph_check_range(&check, "ph_bus_front_def.keep_mm", def->keep_mm, 0, 10000000);
    ph_check_range(&check, "ph_bus_front_def.keep_ms", def->keep_ms, 0, 3600000);
    ph_check_range(&check, "ph_bus_front_def.attach_ms", def->attach_ms, 100, 3600000);
    ph_check_range(&check, "ph_bus_front_def.tombstone_capacity", def->tombstone_capacity, 0,
                   PH_NO_END);
    ph_check_range(&check, "ph_bus_front_def.client_capacity", def->client_capacity, 0,
                   PH_NET_CLIENTS_MAX);
    return check.result;
}

static void note_import(void* context, ph_import_event event, ph_entity_id entity, uint64_t key)
{
    (void)entity;
    if (event == PH_IMPORT_CREATED) {
        front_players_see(context, key);
    }
}

// Which property of each class is the position.
static bool find_positions(ph_bus_front* front)
{
    const ph_schema* schema = ph_world_get_def(front->def.world)->schema;
    front->class_count = ph_schema_class_count(schema);
    front->position_property =
        ph_allocate_array(&front->allocator, (size_t)front->class_count, sizeof(int));
    if (front->position_property == NULL) {
        return false;
    }
    for (int i = 0; i < front->class_count; ++i) {
        const ph_class_def* one = ph_schema_class(schema, i);
        int property = 0;
        while (property + 1 < one->property_count &&
               one->properties[property].coding != PH_CODING_POSITION) {
            ++property;
        }
        front->position_property[i] = property;
    }
    return true;
}

static bool make_maps(ph_bus_front* front)
{
    const ph_allocator* allocator = &front->allocator;
    return ph_hash_map_create(&front->cell_map, allocator, 64, 1) == PH_OK &&
           ph_hash_map_create(&front->topic_map, allocator, 64, 2) == PH_OK &&
           ph_hash_map_create(&front->stream_map, allocator, 64, 3) == PH_OK &&
           ph_hash_map_create(&front->region_map, allocator, 16, 4) == PH_OK;
}

static bool make_parts(ph_bus_front* front)
{
    const ph_importer_def importer = {
        .world = front->def.world,
        .tombstone_capacity = front->def.tombstone_capacity,
        .on_entity = note_import,
        .on_entity_context = front,
    };
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, front->world_name, front->name);
    const ph_bus_transport* transport = &front->def.transport;
    front->own_subscription = transport->subscribe(transport->context, subject);
    if (front->def.client_capacity > 0) {
        bus_subject_world(subject, "fronts", front->world_name);
        front->reports_subscription = transport->subscribe(transport->context, subject);
    }
    return front->own_subscription != 0 && make_maps(front) && find_positions(front) &&
           front_players_create(front) && ph_importer_create(&importer, &front->importer) == PH_OK;
}

ph_result ph_bus_front_create(const ph_bus_front_def* def, ph_bus_front** front)
{
    *front = NULL;
    const ph_result result = check_def(def);
    if (result != PH_OK) {
        return result;
    }
    const ph_check call =
        ph_check_begin(def->on_error, def->on_error_context, "ph_bus_front_create");
    ph_bus_front* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&call);
    }
    made->def = *def;
    made->allocator = def->allocator;
    memcpy(made->world_name, def->world_name, strlen(def->world_name) + 1);
    memcpy(made->name, def->name, strlen(def->name) + 1);
    made->def.world_name = made->world_name;
    made->def.name = made->name;
    made->messages = def->messages != NULL ? *def->messages : ph_messages_def_default();
    made->messages.holds_acks = true;
    made->lost_count = def->transport.lost_count(def->transport.context);
    bus_writer_init(&made->writer, &made->allocator);
    if (!make_parts(made)) {
        ph_bus_front_destroy(made);
        return ph_fail_memory(&call);
    }
    *front = made;
    return PH_OK;
}

void ph_bus_front_destroy(ph_bus_front* front)
{
    if (front == NULL) {
        return;
    }
    const ph_allocator allocator = front->allocator;
    const ph_bus_transport* transport = &front->def.transport;
    transport->unsubscribe(transport->context, front->own_subscription);
    transport->unsubscribe(transport->context, front->reports_subscription);
    front_players_destroy(front);
    for (int i = 0; i < front->interest_count; ++i) {
        front_interest_destroy(front, &front->interests[i]);
    }
    ph_release_array(&allocator, front->interests, (size_t)front->interest_capacity,
                     sizeof *front->interests);
    ph_release_array(&allocator, front->is_interest_used, (size_t)front->interest_flags_capacity,
                     sizeof *front->is_interest_used);
    front_streams_destroy(front);
    front_cells_destroy(front);
    ph_importer_destroy(front->importer);
    bus_writer_destroy(&front->writer);
    ph_release_array(&allocator, front->position_property, (size_t)front->class_count, sizeof(int));
    ph_release(&allocator, front, sizeof *front);
}

// ---- a tick

static void take_private(ph_bus_front* front, const ph_bus_message* message, bus_kind kind)
{
    switch (kind) {
    case BUS_CELL:
        front_take_cell(front, message, true);
        break;
    case BUS_DOWN:
        front_take_down(front, message);
        break;
    case BUS_FOUND:
        front_take_found(front, message);
        break;
    case BUS_GRANT:
        front_take_grant(front, message);
        break;
    default:
        front_refuse(front, PH_BUS_REFUSAL_KIND);
        break;
    }
}

// Nothing but cells, answers and reports is subscribed to; the first letter tells "cell", "to" and "fronts" apart.
static void take_message(ph_bus_front* front, const ph_bus_message* message)
{
    bus_kind kind;
    ph_bus_refusal refusal;
    front->stats.bytes += message->size;
    if (!bus_read_kind(message->bytes, message->size, &kind, &refusal)) {
        front_refuse(front, refusal);
    } else if (message->subject[0] == 't') {
        take_private(front, message, kind);
    } else if (message->subject[0] == 'f' && kind == BUS_FRONT_REPORT) {
        front_take_report(front, message);
    } else if (kind == BUS_CELL && message->subject[0] == 'c') {
        front_take_cell(front, message, false);
    } else {
        front_refuse(front, PH_BUS_REFUSAL_KIND);
    }
}

bool ph_bus_front_take(ph_bus_front* front, const ph_net_event* event)
{
    return front->def.host != NULL && front_players_take(front, event);
}

void ph_bus_front_tick(ph_bus_front* front, uint64_t now_us)
{
    const ph_bus_transport* transport = &front->def.transport;
    front->now_us = now_us;
    const uint64_t lost_count = transport->lost_count(transport->context);
    if (lost_count != front->lost_count) {
        front->lost_count = lost_count;
        front_doubt_all(front);
    }
    for (ph_bus_answer answer; transport->next_answer(transport->context, &answer);) {
        front_take_answer(front, &answer);
    }
    for (ph_bus_message message; transport->next(transport->context, &message);) {
        take_message(front, &message);
    }
    front_players_tick(front);
    front_spares_tick(front);
    front_cells_tick(front);
    front_streams_tick(front);
}

// ---- interests

int ph_bus_front_add_interest(ph_bus_front* front, const int64_t place_mm[3], int32_t radius_mm,
                              uint32_t sees)
{
    int i = 0;
    while (i < front->interest_count && front->is_interest_used[i]) {
        ++i;
    }
    if (!front_grow(front, (void**)&front->interests, &front->interest_capacity, i + 1,
                    sizeof *front->interests) ||
        !front_grow(front, (void**)&front->is_interest_used, &front->interest_flags_capacity, i + 1,
                    sizeof *front->is_interest_used)) {
        return 0;
    }
    if (i == front->interest_count) {
        front->interests[front->interest_count++] = (front_interest){0};
    }
    front->is_interest_used[i] = true;
    front->interests[i].radius_mm = ph_greatest(0, radius_mm);
    front->interests[i].sees = sees;
    ph_bus_front_move_interest(front, i + 1, place_mm);
    return i + 1;
}

static bool is_interest(const ph_bus_front* front, int interest)
{
    return interest >= 1 && interest <= front->interest_count &&
           front->is_interest_used[interest - 1];
}

void ph_bus_front_move_interest(ph_bus_front* front, int interest, const int64_t place_mm[3])
{
    PH_ASSERT(is_interest(front, interest));
    if (is_interest(front, interest) && ph_is_position(place_mm)) {
        front_interest_place(front, &front->interests[interest - 1], (int32_t)place_mm[0],
                             (int32_t)place_mm[1]);
    }
}

void ph_bus_front_remove_interest(ph_bus_front* front, int interest)
{
    if (is_interest(front, interest)) {
        front_interest_clear(front, &front->interests[interest - 1]);
        front->is_interest_used[interest - 1] = false;
    }
}

// ---- questions

bool ph_bus_front_is_complete(const ph_bus_front* front)
{
    return front->ask_count == 0 && !front->has_failed_subscription;
}

bool ph_bus_front_get_source(const ph_bus_front* front, ph_entity_id entity, ph_bus_source* source)
{
    *source = (ph_bus_source){.region = PH_REGION_NONE};
    ph_ownership ownership = {0};
    if (!ph_world_is_alive(front->def.world, entity) ||
        ph_world_get_ownership(front->def.world, entity, &ownership) != PH_OK) {
        return false;
    }
    if (ownership.owner == 0 || ownership.owner > PH_REGION_OWNER(PH_REGION_MAX)) {
        return true;
    }
    source->region = (int)ownership.owner - 1;
    const int place = front_find_region(front, source->region);
    if (place >= 0) {
        source->epoch = front->regions[place].epoch;
        memcpy(source->sim, front->regions[place].sim, sizeof source->sim);
    }
    return true;
}

ph_bus_front_stats ph_bus_front_get_stats(const ph_bus_front* front)
{
    ph_bus_front_stats stats = front->stats;
    stats.entities = ph_world_entity_count(front->def.world);
    stats.cells = front->live_cells;
    stats.incomplete_cells = front->ask_count;
    for (int i = 0; i < front->player_count; ++i) {
        const front_player_state state = front->players[i].state;
        stats.players += state == PLAYER_ATTACHED || state == PLAYER_OVER;
        stats.attaching += state == PLAYER_ATTACHING;
    }
    return stats;
}
