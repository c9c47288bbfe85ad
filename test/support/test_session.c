// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The game of a session: entities that come and go, and what changes.

#include "test_session.h"

#include "tuned_schema.h"

#include "random_record.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RADIUS_MM = 60000,
    MASKS = 3, // of visibility: bits 0, 1 and 2
};

static uint64_t below(test_session* session, uint64_t limit)
{
    return test_rng_below(&session->rng, limit);
}

const char* session_label(const test_session* session)
{
    static char label[300];
    const int length = snprintf(label, sizeof label, "%s, seed %llu, schema %d, %s, tick %u",
                                session->def.profile == PH_PROFILE_PINHOLE ? "pinhole" : "classic",
                                (unsigned long long)session->def.seed, (int)session->def.schema,
                                session->def.vision == PH_VISION_GRID ? "grid" : "groups",
                                session->world != NULL ? ph_world_tick_count(session->world) : 0);
    if (session->def.is_wide) {
        const draw_viewer_limits* limits = &session->wide.viewers;
        snprintf(
            label + length, sizeof label - (size_t)length,
            ", wide: %d classes, tick of %u us, radius %d mm, side %d mm, %d entities, at most "
            "%d visible and %d slots, from %d bit/s",
            ph_schema_class_count(session->schema), (unsigned)session->tick_us,
            (int)limits->radius_max_mm, (int)session->side_mm, session->def.entity_count,
            limits->visible_max, limits->slot_count_max, limits->bits_per_second);
    }
    return label;
}

// ---- coming and going

// A world of its own, with one untouched entity of each class.
static void note_initial(test_session* session, const ph_world_def* def)
{
    ph_world* world;
    assert_int_equal(ph_world_create(def, &world), PH_OK);
    for (int c = 0; c < ph_schema_class_count(session->schema); ++c) {
        ph_entity_id id;
        const ph_spawn spawn = {.class_index = c, .key = (uint64_t)c};
        assert_int_equal(ph_world_spawn(world, &spawn, &id), PH_OK);
        for (int p = 0; p < session_property_count(session, c); ++p) {
            const ph_property_def* property = session_property(session, c, p);
            session->initial[c][p] = session_world_value(world, id, property, p);
        }
    }
    ph_world_destroy(world);
}

// ---- wide sessions

static int wide_whole(test_session* session, int64_t lo, int64_t hi)
{
    return (int)draw_whole(&session->rng, lo, hi);
}

static int least_int(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

// How many entities, slots and steps are affordable. Memory: about this many bytes for all viewers; time:
// so many looks at a property of an entity, and so many steps until the slowest viewer knows all.
#define WIDE_BYTES 60000000
#define WIDE_LOOKS 300000
#define WIDE_SETTLE_STEPS 1000.0

static void draw_sizes(test_session* session, session_def* def)
{
    session_wide* wide = &session->wide;
    const int class_bytes = draw_schema_bytes(session->schema);
    const bool is_crowd = below(session, 4) == 0;
    def->viewer_count = def->viewer_count != 0 ? def->viewer_count
                        : is_crowd             ? 1
                                               : wide_whole(session, 1, 5);
    // The dearest datagram, in the dearest way to say it; the bucket may hold no more than that.
    const double dearest_bits = 8.0 * (class_bytes + 100.0 + 1000.0);
    // Mostly no slower than one in so many steps.
    const double slow_s = WIDE_SETTLE_STEPS * session->tick_us * 1e-6;
    const bool is_slow = def->bits_per_second == 0 && below(session, 8) == 0;
    const double sends_min = is_slow ? 0.1 : fmin(fmax(0.1, 1.0 / slow_s), 1000.0);
    const double rate_min = is_slow ? 1000.0 : fmax(1000.0, 0.25 * dearest_bits / slow_s);
    wide->viewers.sends_per_second = draw_real(&session->rng, sends_min, 1000.0);
    wide->viewers.bits_per_second =
        wide_whole(session, (int)fmax(rate_min, def->bits_per_second), 100000000);
    const double rate = fmin(wide->viewers.bits_per_second,
                             dearest_bits * fmin(wide->viewers.sends_per_second, 1.0));
    const double entity_s = dearest_bits / rate;
    const double fit = WIDE_SETTLE_STEPS * session->tick_us * 1e-6 / entity_s;
    const int crowd = is_crowd ? 4500 : 120;
    const int most = def->crowd_max != 0 ? least_int(def->crowd_max, crowd) : crowd;
    const int entities = def->is_bare ? most : wide_whole(session, 1, most);
    def->entity_count = fit >= entities || def->is_bare ? entities : fit < 2.0 ? 2 : (int)fit;
    wide->settle_s = 60.0 + 20.0 * entity_s * (1.5 * def->entity_count + 10.0);
    const int slot_bytes = 6 * class_bytes + 1000;
    wide->viewers.slot_count_max = least_int(def->slot_count_max != 0 ? def->slot_count_max : 65535,
                                             3 + WIDE_BYTES / slot_bytes / def->viewer_count);
    wide->viewers.visible_max = least_int(def->visible_max != 0 ? def->visible_max : PH_VISIBLE_MAX,
                                          wide->viewers.slot_count_max - 1);
    const int properties = class_bytes / 12;
    const int64_t step_looks =
        (int64_t)def->viewer_count * (def->entity_count * (int64_t)(8 + properties / 4) / 8 +
                                      wide->viewers.slot_count_max / 16) +
        100;
    wide->steps = 8 + least_int(112, WIDE_LOOKS / step_looks);
    wide->changes = least_int(12 + def->entity_count / 8, 200);
    if (def->is_bare) {
        def->entity_count = 0;
        def->viewer_count = 0;
    }
}

static void draw_wide(test_session* session, ph_world_def* world_def)
{
    session_def* def = &session->def;
    const bool is_many = below(session, 16) == 0;
    const draw_schema_limits limits = {.classes_max = is_many ? PH_CLASSES_MAX : 6,
                                       .properties_max = is_many ? 6 : PH_PROPERTIES_MAX};
    const ph_vision_kind vision = def->vision;
    session->schema = draw_schema(&session->rng, &limits);
    *world_def = draw_world_def(&session->rng);
    if (vision == PH_VISION_GROUPS) {
        world_def->vision.kind = vision;
    }
    def->vision = world_def->vision.kind;
    // The game's "no" counts from the viewer's next turn.
    if (def->may_see != NULL) {
        world_def->vision.refresh_ticks = 1 + world_def->vision.refresh_ticks % 3;
    }
    session->tick_us = world_def->tick_us;
    draw_sizes(session, def);
    session->wide.viewers.radius_max_mm = world_def->radius_max_mm;
    // Mostly a place that can be overlooked, anywhere in the world.
    const int64_t radius = world_def->radius_max_mm;
    const int64_t side = below(session, 4) == 0 ? draw_whole(&session->rng, 1, INT32_MAX)
                                                : radius * (1 + (int64_t)below(session, 3)) / 2;
    session->side_mm = side < 1 ? 1 : least_int(side, INT32_MAX);
    session->origin_mm = (int32_t)draw_whole(&session->rng, INT32_MIN, INT32_MAX);
    session->wide.reach_mm = wide_whole(session, 1, session->side_mm);
    // Packets may be in flight for seconds.
    def->network.delay_us = (uint32_t)draw_whole(&session->rng, 0, 2000000);
    def->network.jitter_us = (uint32_t)draw_whole(&session->rng, 0, 1000000);
    def->network.loss = draw_real(&session->rng, 0.0, 0.5);
    def->network.duplication = draw_real(&session->rng, 0.0, 1.0);
    const double trip_s = 2e-6 * (def->network.delay_us + def->network.jitter_us);
    session->wide.settle_s *= (1.0 + trip_s) / (1.0 - def->network.loss);
    session->now_us = (uint64_t)draw_whole(&session->rng, 0, INT64_C(1) << 52);
}

static void plain_world(test_session* session, const session_def* def, ph_world_def* world_def)
{
    session->schema = session_schema_make(def->schema, def->seed);
    if (def->is_tuned) {
        session->schema = tuned_schema_make(session->schema, def->seed);
    }
    *world_def = ph_world_def_default();
    world_def->entity_capacity = 16;
    world_def->viewer_capacity = 2;
    world_def->radius_max_mm = RADIUS_MM;
    world_def->tick_us = SESSION_TICK_US;
    world_def->vision.kind = def->vision;
    world_def->vision.cell_mm = 16384;
    world_def->vision.refresh_ticks = 1 + (int)below(session, 3);
    world_def->vision.stay_ticks = (int)below(session, 6);
}

void session_setup(test_session* session, const session_def* def)
{
    memset(session, 0, sizeof *session);
    session->def = *def;
    session->rng = (test_rng){.state = def->seed * 1000003 + 1};
    session->tick_us = SESSION_TICK_US;
    session->now_us = 1000 + below(session, 1000000);
    session->origin_mm = below(session, 3) == 0 ? INT32_MAX - 50000 : -70000;
    session->side_mm = 150000;
    session->next_name = 1;
    session->next_session = (uint32_t)test_rng_next(&session->rng);
    if (below(session, 4) == 0) {
        session->next_session = UINT32_MAX - 20; // numbers wrap
    }
    ph_world_def world_def;
    if (def->is_wide) {
        draw_wide(session, &world_def);
    } else {
        plain_world(session, def, &world_def);
    }
    world_def.schema = session->schema;
    world_def.profile = session->def.profile;
    world_def.ground = random_record_ground();
    world_def.may_see = def->may_see;
    world_def.may_see_context = session;
    world_def.allocator = def->allocator;
    if (def->is_vision_plain) {
        world_def.vision.refresh_ticks = 1;
        world_def.vision.stay_ticks = 0;
        world_def.vision.hysteresis = 1.0;
    }
    assert_int_equal(ph_world_create(&world_def, &session->world), PH_OK);
    note_initial(session, &world_def);
    for (int i = 0; i < session->def.entity_count; ++i) {
        session_spawn(session);
    }
    for (int i = 0; i < session->def.viewer_count; ++i) {
        session_join(session);
    }
}

void session_teardown(test_session* session)
{
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL) {
            session_leave(session, i);
        }
    }
    assert_true(ph_world_validate(session->world));
    ph_world_destroy(session->world);
    ph_schema_destroy(session->schema);
}

// ---- entities

const ph_property_def* session_property(const test_session* session, int class_index, int property)
{
    return &ph_schema_class(session->schema, class_index)->properties[property];
}

int session_property_count(const test_session* session, int class_index)
{
    return ph_schema_class(session->schema, class_index)->property_count;
}

// 2,000 km away there is nothing else.
static void draw_place(test_session* session, bool is_far, int64_t position_mm[3])
{
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t offset = (uint32_t)below(session, (uint64_t)session->side_mm);
        const uint32_t away = is_far ? UINT32_C(2000000000) : 0;
        position_mm[axis] = (int32_t)((uint32_t)session->origin_mm + offset + away);
    }
    position_mm[2] = (int32_t)below(session, 20000) - 3000;
    if (session->def.is_wide && below(session, 4) == 0) {
        position_mm[2] = (int32_t)draw_whole(&session->rng, INT32_MIN, INT32_MAX);
    }
}

static uint32_t draw_mask(test_session* session)
{
    if (session->def.is_wide && below(session, 8) == 0) {
        return (uint32_t)draw_whole(&session->rng, 1, UINT32_MAX);
    }
    return below(session, 3) > 0 ? UINT32_MAX : 1u << below(session, MASKS);
}

static uint64_t draw_name(test_session* session)
{
    if (session->dead_name != 0 && below(session, 8) == 0) {
        const uint64_t name = session->dead_name;
        session->dead_name = 0;
        return name;
    }
    const uint64_t number = session->next_name++;
    if (session->def.is_wide && below(session, 2) == 0) {
        return below(session, 2) == 0 ? UINT64_MAX - number : number << 32;
    }
    return below(session, 8) == 0 ? number << 40 | number : number;
}

int session_spawn_as(test_session* session, const ph_spawn* spawn)
{
    if (session->entity_count == SESSION_ENTITIES_MAX) {
        return -1;
    }
    const int place = session->entity_count++;
    session_entity* entity = &session->entities[place];
    *entity = (session_entity){.name = spawn->key, .class_index = spawn->class_index};
    assert_int_equal(ph_world_spawn(session->world, spawn, &entity->id), PH_OK);
    session->ids[place] = entity->id;
    assert_true(entity->id.index1 < SESSION_PLACES_MAX);
    session->places1[entity->id.index1] = place + 1;
    return place;
}

int session_spawn(test_session* session)
{
    // One after the other: the order within an initialiser is the compiler's choice.
    ph_spawn spawn = {0};
    spawn.class_index = (int)below(session, (uint64_t)ph_schema_class_count(session->schema));
    spawn.key = draw_name(session);
    spawn.seen_by = draw_mask(session);
    spawn.is_always_visible = below(session, 24) == 0;
    spawn.is_never_visible = below(session, 24) == 0;
    draw_place(session, spawn.is_always_visible && below(session, 2) == 0, spawn.position_mm);
    const int place = session_spawn_as(session, &spawn);
    if (place < 0) {
        return -1;
    }
    for (int p = 0; p < session_property_count(session, spawn.class_index); ++p) {
        if (below(session, 2) == 0) {
            session_set(session, place, p);
        }
    }
    session->entities[place].once_changed = 0;
    return place;
}

void session_despawn(test_session* session, int entity)
{
    const session_entity* going = &session->entities[entity];
    if (session->on_despawn != NULL) {
        session->on_despawn(session, going);
    }
    session->dead_name = going->name;
    assert_int_equal(ph_world_despawn(session->world, going->id), PH_OK);
    session->places1[going->id.index1] = 0;
    --session->entity_count;
    if (entity != session->entity_count) {
        session->entities[entity] = session->entities[session->entity_count];
        session->ids[entity] = session->ids[session->entity_count];
        session->places1[session->ids[entity].index1] = entity + 1;
    }
}

const session_entity* session_find(const test_session* session, ph_entity_id id)
{
    const int place = id.index1 < SESSION_PLACES_MAX ? session->places1[id.index1] - 1 : -1;
    const bool is_there = place >= 0 && session->ids[place].generation == id.generation;
    return is_there ? &session->entities[place] : NULL;
}

void session_set(test_session* session, int entity, int property)
{
    session_entity* changed = &session->entities[entity];
    const ph_property_def* def = session_property(session, changed->class_index, property);
    (session->def.is_wide ? session_value_set_wide
                          : session_value_set)(session->world, changed->id, def, property,
                                               &session->rng, session->ids, session->entity_count);
    if (def->when == PH_SEND_ONCE) {
        changed->once_changed |= UINT64_C(1) << property;
    }
}

void session_set_any(test_session* session, int entity)
{
    const int class_index = session->entities[entity].class_index;
    const int count = session_property_count(session, class_index);
    session_set(session, entity, (int)below(session, (uint64_t)count));
}

static void move_to(test_session* session, int entity, const int64_t position_mm[3])
{
    session_entity* moved = &session->entities[entity];
    const bool is_jump = session->def.is_wide && below(session, 8) == 0;
    assert_int_equal((is_jump ? ph_world_jump : ph_world_move)(
                         session->world, moved->id, position_mm[0], position_mm[1], position_mm[2]),
                     PH_OK);
    for (int p = 0; p < session_property_count(session, moved->class_index); ++p) {
        const ph_property_def* def = session_property(session, moved->class_index, p);
        if (def->coding == PH_CODING_POSITION && def->when == PH_SEND_ONCE) {
            moved->once_changed |= UINT64_C(1) << p;
        }
    }
}

static int position_of(const test_session* session, int class_index)
{
    int p = 0;
    while (session_property(session, class_index, p)->coding != PH_CODING_POSITION) {
        ++p;
    }
    return p;
}

void session_walk(test_session* session, int entity, int32_t reach_mm)
{
    const session_entity* walking = &session->entities[entity];
    int64_t position_mm[3];
    assert_int_equal(ph_world_get_property(session->world, walking->id,
                                           position_of(session, walking->class_index),
                                           PH_FIELD_I64X3, position_mm, sizeof position_mm),
                     PH_OK);
    for (int axis = 0; axis < 3; ++axis) {
        const uint32_t way = (uint32_t)below(session, 2 * (uint64_t)reach_mm + 1);
        position_mm[axis] = (int32_t)((uint32_t)position_mm[axis] + way - (uint32_t)reach_mm);
    }
    move_to(session, entity, position_mm);
}

void session_teleport(test_session* session, int entity)
{
    int64_t position_mm[3];
    draw_place(session, below(session, 4) == 0, position_mm);
    move_to(session, entity, position_mm);
}

// ---- viewers

static int draw_rate(test_session* session)
{
    if (session->def.is_wide) {
        return draw_budget(&session->rng, session->wide.viewers.bits_per_second);
    }
    if (session->def.bits_per_second != 0) {
        return session->def.bits_per_second;
    }
    if (below(session, 8) == 0) {
        return 0;
    }
    return (int)(2000.0 * pow(500.0, test_rng_unit(&session->rng)));
}

static ph_viewer_def wide_viewer_def(test_session* session)
{
    ph_viewer_def def =
        draw_viewer_def(&session->rng, &session->wide.viewers, &session->is_next_universal);
    if (session->entity_count > 0 && below(session, 4) > 0) {
        def.entity = session->ids[below(session, (uint64_t)session->entity_count)];
    }
    draw_place(session, false, def.eye_mm);
    def.sees = draw_mask(session);
    def.audience = (uint32_t)draw_whole(&session->rng, 0, UINT32_MAX);
    return def;
}

ph_viewer_def session_viewer_def(test_session* session)
{
    if (session->def.is_wide) {
        return wide_viewer_def(session);
    }
    ph_viewer_def def = ph_viewer_def_default();
    if (session->entity_count > 0 && below(session, 4) > 0) {
        def.entity = session->ids[below(session, (uint64_t)session->entity_count)];
    }
    draw_place(session, false, def.eye_mm);
    def.sees = draw_mask(session);
    def.audience = (uint32_t)below(session, 8);
    def.radius_mm = RADIUS_MM - (int32_t)below(session, RADIUS_MM / 2);
    const int visible_max =
        session->def.visible_max != 0 ? session->def.visible_max : 4 + (int)below(session, 21);
    def.visible_max = visible_max;
    def.slot_count = visible_max + 1 + (int)below(session, (uint64_t)visible_max + 1);
    def.bits_per_second = draw_rate(session);
    def.burst_bits = below(session, 2) == 0 ? 0 : (int)below(session, 40000);
    def.overhead_bytes = below(session, 2) == 0 ? 48 : (int)below(session, 100);
    def.sends_per_second = below(session, 2) == 0 ? 10.0 : 5.0;
    def.max_starve_ms = 2000 + (int)below(session, 8000);
    const uint64_t choice = below(session, 3);
    if (choice == 0) {
        def.scheduler = ph_scheduler_buckets();
    } else if (choice == 1) {
        def.scheduler = ph_scheduler_error();
    }
    if (session->def.profile == PH_PROFILE_PINHOLE) {
        static const double PRECISIONS_MRAD[] = {0.0, 1.0, 5.0, 60.0};
        def.precision_mrad = PRECISIONS_MRAD[below(session, 4)];
        def.sends_per_second = below(session, 3) == 0 ? 0.0 : def.sends_per_second;
    }
    return def;
}

static ph_link* make_link(test_session* session, uint64_t key)
{
    ph_link_def def = session->def.network;
    def.seed = session->def.seed;
    def.key = key;
    return test_link_create(&def);
}

int session_join_as(test_session* session, const ph_viewer_def* def)
{
    int place = 0;
    while (place < SESSION_VIEWERS_MAX && session->viewers[place].client != NULL) {
        ++place;
    }
    if (place == SESSION_VIEWERS_MAX) {
        return -1;
    }
    session_viewer* viewer = &session->viewers[place];
    memset(viewer, 0, sizeof *viewer);
    viewer->def = *def;
    viewer->def.session = session->next_session;
    session->next_session += 1000;
    viewer->own = def->entity;
    viewer->packets = ph_hash_make(0);
    assert_true(def->slot_count <= SESSION_SLOTS_MAX || session->def.is_wide);
    assert_int_equal(ph_world_add_viewer(session->world, &viewer->def, &viewer->id), PH_OK);
    if (session->def.is_universal || session->is_next_universal) {
        ph_viewer_use_universal_codes(session->world, viewer->id);
    }
    session->is_next_universal = false;
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(session->world, viewer->id, &sight), PH_OK);
    viewer->def.slot_count = sight.slot_count;
    viewer->shown = calloc((size_t)sight.slot_count, sizeof *viewer->shown);
    assert_non_null(viewer->shown);
    ph_client_def client_def = ph_client_def_default();
    client_def.reorder_wait_ms = session->def.reorder_wait_ms;
    client_def.schema = session->schema;
    client_def.slot_capacity = SESSION_SLOTS_MAX;
    if (session->def.is_wide) {
        // No draw of the session: others may look on, or not.
        test_rng rng = {.state = viewer->def.session};
        client_def.slot_capacity = (int)draw_whole(&rng, sight.slot_count, 65535);
        if (client_def.slot_capacity > session->wide.viewers.slot_count_max) {
            client_def.slot_capacity = sight.slot_count;
        }
        client_def.interpolation_delay_ms = (int)draw_whole(&rng, 0, 10000);
    }
    client_def.profile = session->def.profile;
    client_def.ground = random_record_ground();
    client_def.allocator = session->def.allocator;
    assert_int_equal(ph_client_create(&client_def, &viewer->client), PH_OK);
    viewer->down = make_link(session, 2 * (uint64_t)viewer->def.session);
    viewer->up = make_link(session, 2 * (uint64_t)viewer->def.session + 1);
    return place;
}

int session_join(test_session* session)
{
    const ph_viewer_def def = session_viewer_def(session);
    return session_join_as(session, &def);
}

void session_leave(test_session* session, int viewer)
{
    session_viewer* leaving = &session->viewers[viewer];
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(session->world, leaving->id, &stats), PH_OK);
    if (stats.withheld_datagrams != 0) {
        fail_msg("%s: %llu datagrams to viewer %d would have been over", session_label(session),
                 (unsigned long long)stats.withheld_datagrams, viewer);
    }
    assert_int_equal(ph_world_remove_viewer(session->world, leaving->id), PH_OK);
    free(leaving->shown);
    ph_client_destroy(leaving->client);
    ph_link_destroy(leaving->down);
    ph_link_destroy(leaving->up);
    leaving->client = NULL;
    leaving->id = (ph_viewer_id){0};
}

// ---- stirring

static void stir_viewer(test_session* session)
{
    const int place = (int)below(session, SESSION_VIEWERS_MAX);
    session_viewer* viewer = &session->viewers[place];
    if (viewer->client == NULL) {
        if (below(session, 20) == 0) {
            session_join(session);
        }
        return;
    }
    const int some = (int)below(session, (uint64_t)session->entity_count);
    int64_t eye_mm[3];
    switch (below(session, 24)) {
    case 0:
        session_leave(session, place);
        break;
    case 1:
    case 2:
        viewer->own = below(session, 4) == 0 ? (ph_entity_id){0} : session->ids[some];
        assert_int_equal(ph_viewer_set_entity(session->world, viewer->id, viewer->own), PH_OK);
        break;
    case 3:
    case 4:
        viewer->def.sees = draw_mask(session);
        assert_int_equal(ph_viewer_set_sees(session->world, viewer->id, viewer->def.sees), PH_OK);
        break;
    case 5:
    case 6:
        viewer->def.bits_per_second = draw_rate(session);
        assert_int_equal(ph_viewer_set_budget(session->world, viewer->id,
                                              viewer->def.bits_per_second,
                                              session->def.is_wide ? draw_burst(&session->rng) : 0),
                         PH_OK);
        break;
    case 7:
    case 8:
    case 9:
        assert_int_equal(ph_viewer_set_hint(session->world, viewer->id, session->ids[some],
                                            session->def.is_wide
                                                ? draw_real(&session->rng, 0.0, 1e6)
                                                : (double)below(session, 4)),
                         PH_OK);
        break;
    default:
        draw_place(session, below(session, 16) == 0, eye_mm);
        ph_viewer_set_eye(session->world, viewer->id, eye_mm[0], eye_mm[1], eye_mm[2]);
        break;
    }
}

static void stir_visibility(test_session* session, int entity)
{
    const uint32_t mask = below(session, 6) == 0 ? 0 : draw_mask(session);
    const bool is_always = below(session, 12) == 0;
    const bool is_never = below(session, 12) == 0;
    assert_int_equal(
        ph_world_set_visibility(session->world, session->ids[entity], mask, is_always, is_never),
        PH_OK);
}

static void stir_once(test_session* session)
{
    const uint64_t kind = below(session, 100);
    if (session->entity_count < session->def.entity_count / 2 || session->entity_count == 0 ||
        kind < 2) {
        if (session->entity_count < session->def.entity_count * 3 / 2) {
            session_spawn(session);
        }
        return;
    }
    const int entity = (int)below(session, (uint64_t)session->entity_count);
    if (kind < 4) {
        session_despawn(session, entity);
    } else if (kind < 8) {
        session_teleport(session, entity);
    } else if (kind < 12) {
        stir_visibility(session, entity);
    } else if (kind < 18) {
        if (!session->def.is_viewing_steady) {
            stir_viewer(session);
        }
    } else if (kind < 60) {
        session_set_any(session, entity);
    } else {
        session_walk(session, entity, session->def.is_wide ? session->wide.reach_mm : 2500);
    }
}

void session_stir(test_session* session, int changes)
{
    session->is_stirred = true;
    for (int i = 0; i < changes; ++i) {
        stir_once(session);
    }
}

void session_stir_wide(test_session* session)
{
    session_stir(session, session->wide.changes);
}
