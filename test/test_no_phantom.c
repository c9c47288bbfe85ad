// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: a client never shows an entity under another's slot, and never a value that the
// entity did not have at some tick, or when a send began, since it came into this viewer's view.
//
// After every datagram, of every entity that it told of: the slot shows what the world's sight
// shows there, or showed last (a slot takes no other entity before the client has left it); the
// class is right; each property has a value that the entity has, or had since, or the initial one.
// What is not for this viewer's audience stays initial for ever. Now and then everything is looked
// through.
//
// In the pinhole profile an update may tell a position coarsely: within the stated angle, seen from
// the eye that the packet goes by, of a place where the entity was. All else is exact there, too.

#include "support/test_session.h"

#include "base/hash.h"
#include "client/client_state.h"
#include "tools/tools.h"

#include <math.h>
#include <string.h>

#define STILL_SO UINT32_MAX

enum { PLACE_BITS = 12, WIDE_ROUNDS = 50 };

// By (name, property, value): the last tick at which it was so.
static ph_hash_map history;
static uint64_t packet_count[PH_PROFILE_COUNT];
static uint64_t look_count[PH_PROFILE_COUNT];
static uint64_t coarse_count;

// Every place that any entity ever was at, as the wire has it; coarse ones are looked for here.
typedef struct place {
    uint64_t name;
    int32_t mm[3];
    int next1; // of those whose names have the same hash; plus 1
} place;
static place places[400000];
static int place_count;
static int place_heads1[1 << PLACE_BITS];

static uint64_t key_of(uint64_t name, int property, uint64_t value)
{
    return ph_hash_mix(ph_hash_mix(name + 1) ^ value) + ph_hash_mix((uint64_t)property + 1);
}

static void note(uint64_t name, int property, uint64_t value, uint32_t tick)
{
    if (history.count == history.limit) {
        assert_int_equal(ph_hash_map_reserve(&history, 2 * history.count + 1000), PH_OK);
    }
    assert_true(ph_hash_map_insert(&history, key_of(name, property, value), tick));
}

static int* place_head1(uint64_t name)
{
    return &place_heads1[ph_hash_mix(name) >> (64 - PLACE_BITS)];
}

static void note_place(const test_session* session, const session_entity* entity, int property)
{
    place* next = &places[place_count++];
    int* head1 = place_head1(entity->name);
    assert_true(place_count < (int)(sizeof places / sizeof places[0]));
    next->name = entity->name;
    next->next1 = *head1;
    *head1 = place_count;
    assert_int_equal(ph_world_get_property(session->world, entity->id, property, PH_FIELD_I32X3,
                                           next->mm, sizeof next->mm),
                     PH_OK);
}

// The same of every orientation.
typedef struct turned {
    uint64_t name;
    double rotation[4];
    int next1;
} turned;
static turned turns[400000];
static int turned_count;
static int turned_heads1[1 << PLACE_BITS];

static int* turned_head1(uint64_t name)
{
    return &turned_heads1[ph_hash_mix(name) >> (64 - PLACE_BITS)];
}

static void note_turned(const test_session* session, const session_entity* entity, int property)
{
    turned* next = &turns[turned_count++];
    int* head1 = turned_head1(entity->name);
    assert_true(turned_count < (int)(sizeof turns / sizeof turns[0]));
    next->name = entity->name;
    next->next1 = *head1;
    *head1 = turned_count;
    assert_int_equal(ph_world_get_property(session->world, entity->id, property, PH_FIELD_F64X4,
                                           next->rotation, sizeof next->rotation),
                     PH_OK);
}

// ---- what is true

// The present values by place of the world, to be closed when they change.
typedef struct present {
    ph_entity_id id;
    uint64_t values[PH_PROPERTIES_MAX];
} present;
static present presents[SESSION_PLACES_MAX];
static uint32_t present_end; // behind the last that was used

static present* present_of(ph_entity_id id)
{
    assert_true(id.index1 < sizeof presents / sizeof presents[0]);
    present_end = id.index1 >= present_end ? id.index1 + 1 : present_end;
    return &presents[id.index1];
}

static void note_entity(const test_session* session, const session_entity* entity)
{
    present* now = present_of(entity->id);
    const bool is_new = memcmp(&now->id, &entity->id, sizeof now->id) != 0;
    const uint64_t changes =
        is_new ? UINT64_MAX : ph_world_changed_properties(session->world, entity->id);
    now->id = entity->id;
    for (int p = 0; p < session_property_count(session, entity->class_index); ++p) {
        if ((changes >> p & 1) == 0) {
            continue;
        }
        const ph_property_def* def = session_property(session, entity->class_index, p);
        if (!is_new) {
            note(entity->name, p, now->values[p], ph_world_tick_count(session->world));
        }
        now->values[p] = session_world_value(session->world, entity->id, def, p);
        note(entity->name, p, now->values[p], STILL_SO);
        if (def->coding == PH_CODING_POSITION) {
            note_place(session, entity, p);
        }
        if (def->is_orientation) {
            note_turned(session, entity, p);
        }
    }
}

static void note_end(test_session* session, const session_entity* entity)
{
    const present* now = present_of(entity->id);
    if (memcmp(&now->id, &entity->id, sizeof now->id) != 0) {
        return; // it never saw a tick
    }
    for (int p = 0; p < session_property_count(session, entity->class_index); ++p) {
        note(entity->name, p, now->values[p], ph_world_tick_count(session->world));
    }
}

// ---- what is shown

static double way_mm(int32_t from_mm, int32_t to_mm)
{
    return (int32_t)((uint32_t)to_mm - (uint32_t)from_mm); // across the edge of the world, too
}

static double distance_mm(const int32_t a_mm[3], const int32_t b_mm[3])
{
    const double x_mm = way_mm(a_mm[0], b_mm[0]);
    const double y_mm = way_mm(a_mm[1], b_mm[1]);
    const double z_mm = way_mm(a_mm[2], b_mm[2]);
    return sqrt(x_mm * x_mm + y_mm * y_mm + z_mm * z_mm);
}

// The eye that the packet just applied goes by: its own, or that of its horizon.
static ph_known_eye eye_of(const ph_client* client)
{
    const ph_arrivals* arrivals = &client->session.arrivals;
    return arrivals->last.eye.is_known ? arrivals->last.eye
                                       : ph_arrivals_eye(arrivals, client->session.horizon);
}

static double nearest_mm(uint64_t name, const int32_t mm[3])
{
    double nearest = INFINITY;
    for (int at1 = *place_head1(name); at1 != 0; at1 = places[at1 - 1].next1) {
        if (places[at1 - 1].name == name) {
            nearest = fmin(nearest, distance_mm(places[at1 - 1].mm, mm));
        }
    }
    return nearest;
}

// A coarse position has just been told. From now on it counts as one that the entity had.
static bool is_coarse_right(const test_session* session, const session_viewer* viewer,
                            ph_entity_id id, const session_shown* shown, int property,
                            double precision_mrad)
{
    int32_t mm[3];
    assert_int_equal(
        ph_client_get_property(viewer->client, id, property, PH_FIELD_I32X3, mm, sizeof mm), PH_OK);
    const ph_known_eye eye = eye_of(viewer->client);
    const ph_property_def* def = session_property(session, shown->class_index, property);
    // With a finest step, in each coordinate down to the step at most.
    const double rounded_mm = def->finest != 0.0 ? 1.7321 * def->step : 0.0;
    const double stated_mm = precision_mrad * 1e-3 * distance_mm(eye.mm, mm);
    if (nearest_mm(shown->name, mm) > stated_mm + rounded_mm) {
        return false;
    }
    note(shown->name, property, session_client_value(viewer->client, id, def, property),
         ph_world_tick_count(session->world));
    ++coarse_count;
    return true;
}

// A step of an orientation is at most four degrees, of each of three components.
#define COARSE_DEG 6.0

static double nearest_deg(uint64_t name, const double rotation[4])
{
    double most = 0.0;
    for (int at1 = *turned_head1(name); at1 != 0; at1 = turns[at1 - 1].next1) {
        const double* q = turns[at1 - 1].rotation;
        if (turns[at1 - 1].name == name) {
            most = fmax(most, fabs(q[0] * rotation[0] + q[1] * rotation[1] + q[2] * rotation[2] +
                                   q[3] * rotation[3]));
        }
    }
    return 2.0 * acos(fmin(most, 1.0)) * 57.29577951308232;
}

// A coarse orientation has just been told, likewise.
static bool is_coarsely_turned(const test_session* session, const session_viewer* viewer,
                               ph_entity_id id, const session_shown* shown, int property)
{
    double rotation[4];
    assert_int_equal(ph_client_get_property(viewer->client, id, property, PH_FIELD_F64X4, rotation,
                                            sizeof rotation),
                     PH_OK);
    if (nearest_deg(shown->name, rotation) > COARSE_DEG) {
        return false;
    }
    const ph_property_def* def = session_property(session, shown->class_index, property);
    note(shown->name, property, session_client_value(viewer->client, id, def, property),
         ph_world_tick_count(session->world));
    return true;
}

typedef enum occasion {
    OCCASION_UPDATE,
    OCCASION_ENTER, // may be coarser
    OCCASION_LOOK,  // nothing new
} occasion;

static bool was_so(const test_session* session, const session_viewer* viewer, int slot,
                   int property, occasion why)
{
    const session_shown* shown = &viewer->shown[slot];
    const ph_property_def* def = session_property(session, shown->class_index, property);
    const ph_entity_id id = ph_client_entity_at(viewer->client, slot);
    const uint64_t value = session_client_value(viewer->client, id, def, property);
    uint32_t last_tick;
    if (ph_hash_map_try_find(&history, key_of(shown->name, property, value), &last_tick) &&
        last_tick >= shown->since_tick) {
        return true;
    }
    if (session->def.profile == PH_PROFILE_PINHOLE && def->is_orientation && why != OCCASION_LOOK &&
        viewer->def.precision_mrad != 0.0) {
        return is_coarsely_turned(session, viewer, id, shown, property);
    }
    const double told_mrad = viewer->def.precision_mrad;
    const double enter_mrad =
        fmax(told_mrad, fmin(PH_ENTER_PRECISION * told_mrad, PH_ENTER_PRECISION_MAX / 1024.0));
    const double precision_mrad = why == OCCASION_ENTER ? enter_mrad : told_mrad;
    return session->def.profile == PH_PROFILE_PINHOLE && def->coding == PH_CODING_POSITION &&
           def->when != PH_SEND_ONCE && why != OCCASION_LOOK &&
           is_coarse_right(session, viewer, id, shown, property, precision_mrad);
}

static void check_value(const test_session* session, const session_viewer* viewer, int slot,
                        int property, occasion why)
{
    const session_shown* shown = &viewer->shown[slot];
    const ph_property_def* def = session_property(session, shown->class_index, property);
    const ph_entity_id id = ph_client_entity_at(viewer->client, slot);
    const uint64_t value = session_client_value(viewer->client, id, def, property);
    ++look_count[session->def.profile];
    if ((value == session->initial[shown->class_index][property] || value == SESSION_NO_ENTITY) &&
        def->coding != PH_CODING_POSITION) {
        return;
    }
    if (!session_is_for(def, viewer, slot)) {
        fail_msg("%s: slot %d of viewer %u, name %llu: %s is not for its audience",
                 session_label(session), slot, viewer->id.index1, (unsigned long long)shown->name,
                 def->name);
    }
    if (!was_so(session, viewer, slot, property, why)) {
        fail_msg("%s: slot %d of viewer %u, name %llu: %s never was so since tick %u",
                 session_label(session), slot, viewer->id.index1, (unsigned long long)shown->name,
                 def->name, shown->since_tick);
    }
}

static void check_slot(const test_session* session, const session_viewer* viewer, int slot,
                       uint64_t properties, occasion why)
{
    const session_shown* shown = &viewer->shown[slot];
    const ph_entity_id id = ph_client_entity_at(viewer->client, slot);
    uint64_t name;
    int class_index;
    assert_int_equal(ph_client_identify(viewer->client, id, &name, &class_index), PH_OK);
    if (name != shown->name || class_index != shown->class_index || shown->id.index1 == 0) {
        fail_msg("%s: slot %d of viewer %u shows %llu, not %llu", session_label(session), slot,
                 viewer->id.index1, (unsigned long long)name, (unsigned long long)shown->name);
    }
    for (int p = 0; p < session_property_count(session, class_index); ++p) {
        if ((properties >> p & 1) != 0) {
            check_value(session, viewer, slot, p, why);
        }
    }
}

static void check_all(const test_session* session, const session_viewer* viewer)
{
    for (int slot = 0; slot < ph_client_slot_count(viewer->client); ++slot) {
        if (ph_client_entity_at(viewer->client, slot).index1 != 0) {
            check_slot(session, viewer, slot, UINT64_MAX, OCCASION_LOOK);
        }
    }
}

// An enter of an entity that is shown already is no event of its own.
static bool is_enter_record(const ph_client* client, int slot)
{
    const ph_decoded_packet* decoded = &client->decoded;
    for (int i = decoded->enter_first; i < decoded->update_first; ++i) {
        if (decoded->records[i].slot == slot) {
            return true;
        }
    }
    return false;
}

// What an enter does not mention must be initial: looked at, too.
static void check_events(test_session* session, int number, const void* bytes, size_t size)
{
    (void)bytes;
    (void)size;
    const session_viewer* viewer = &session->viewers[number];
    ph_event event;
    while (ph_client_poll(viewer->client, &event)) {
        if (event.kind != PH_EVENT_LEAVE) {
            const int slot = (int)event.entity.index1 - 1;
            check_slot(session, viewer, slot,
                       event.kind == PH_EVENT_ENTER ? UINT64_MAX : event.properties,
                       is_enter_record(viewer->client, slot) ? OCCASION_ENTER : OCCASION_UPDATE);
        }
    }
    if (session->packet_count % 4 == 0) {
        check_all(session, viewer);
        assert_true(ph_client_validate(viewer->client));
    }
}

// ---- sessions

static void note_all(test_session* session)
{
    for (int i = 0; i < session->entity_count; ++i) {
        note_entity(session, &session->entities[i]);
    }
}

static void run_one(const session_def* def)
{
    static test_session session;
    memset(presents, 0, present_end * sizeof presents[0]);
    memset(place_heads1, 0, sizeof place_heads1);
    memset(turned_heads1, 0, sizeof turned_heads1);
    turned_count = 0;
    present_end = 0;
    place_count = 0;
    assert_int_equal(ph_hash_map_create(&history, &(ph_allocator){0}, 1000, 1), PH_OK);
    session_setup(&session, def);
    session.on_received = check_events;
    session.on_stirred = note_all;
    session.on_despawn = note_end;
    const int steps = def->is_wide ? 2 * session.wide.steps : 250;
    for (int i = 0; i < steps; ++i) {
        session_stir(&session, def->is_wide ? session.wide.changes : 14);
        note_all(&session);
        session_step(&session);
    }
    packet_count[def->profile] += session.packet_count;
    session_teardown(&session);
    ph_hash_map_destroy(&history);
}

static void run_all(ph_profile profile, ph_vision_kind vision)
{
    for (int i = 0; i < 54; ++i) {
        const session_def def = {
            .seed = (uint64_t)i + (vision == PH_VISION_GROUPS ? 3000 : 2000),
            .schema = (session_schema)(i % SESSION_SCHEMA_COUNT),
            .vision = vision,
            .profile = profile,
            .is_restless = true,
            .entity_count = 40,
            .viewer_count = 4,
            .network = {.delay_us = 30000u * (uint32_t)(i % 5),
                        .jitter_us = 120000u * (uint32_t)(i % 3),
                        .loss = 0.1 * (i % 6),
                        .duplication = 0.15 * (i % 3)},
        };
        run_one(&def);
    }
}

static void nothing_untrue_is_shown_by_grid(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GRID);
}

static void nothing_untrue_is_shown_by_grid_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GRID);
}

static void nothing_untrue_is_shown_by_groups(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GROUPS);
}

static void nothing_untrue_is_shown_by_groups_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GROUPS);
}

// The whole range of every def field.
static void run_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = {.seed = 40000 + (uint64_t)i,
                                 .is_wide = true,
                                 .is_restless = true,
                                 .profile = profile,
                                 .crowd_max = 1500};
        run_one(&def);
    }
    draw_end();
}

static void nothing_untrue_is_shown_at_any_setting(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_CLASSIC);
}

static void nothing_untrue_is_shown_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_PINHOLE);
}

static void many_values_were_looked_at(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        assert_true(packet_count[profile] > 50000);
        assert_true(look_count[profile] > 500000);
    }
    assert_true(coarse_count > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_untrue_is_shown_by_grid),
        cmocka_unit_test(nothing_untrue_is_shown_by_grid_in_pinhole),
        cmocka_unit_test(nothing_untrue_is_shown_by_groups),
        cmocka_unit_test(nothing_untrue_is_shown_by_groups_in_pinhole),
        draw_unit_test(nothing_untrue_is_shown_at_any_setting),
        draw_unit_test(nothing_untrue_is_shown_at_any_setting_in_pinhole),
        cmocka_unit_test(many_values_were_looked_at),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
