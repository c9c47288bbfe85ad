// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A whole session in memory: a world that changes at random, viewers that come and go, for each of
// them a real client at the other end of two simulated links. Time is a number.
//
//     test_session session;
//     session_setup(&session, &(session_def){.seed = 7, .entity_count = 60, .viewer_count = 4});
//     for (...) {
//         session_stir(&session, 10);   // the game changes things
//         session_step(&session);       // tick, send, carry packets and acknowledgements
//     }
//     session_teardown(&session);
//
// A wide session draws everything from its whole documented range (draw.h): schema, world, viewers,
// values, names, network, and how many entities and steps that leaves room for.

#ifndef PINHOLE_TEST_SESSION_H
#define PINHOLE_TEST_SESSION_H

#include "draw.h"
#include "session_baselines.h"
#include "session_values.h"
#include "test_links.h"
#include "test_support.h"

#include "base/hash.h"

#include <pinhole/viewer.h>

enum {
    SESSION_ENTITIES_MAX = 6600,
    SESSION_PLACES_MAX = 4 * SESSION_ENTITIES_MAX, // of entities in the world, over its whole time
    SESSION_VIEWERS_MAX = 8,
    SESSION_SLOTS_MAX = 96, // unless it is wide
    SESSION_CLASSES_MAX = PH_CLASSES_MAX,
    SESSION_TICK_US = 100000,
};

// Zero-initialised is a session without entities.
typedef struct session_def {
    uint64_t seed;
    session_schema schema;
    ph_vision_kind vision;
    ph_profile profile;
    bool is_universal;      // pinhole profile: without its models
    bool is_tuned;          // the schema brings models along; not of a wide one
    ph_may_see_fn* may_see; // its context is the session
    int entity_count;
    int viewer_count;
    int visible_max;        // 0: random, 4..24
    int bits_per_second;    // 0: random, 2,000..1,000,000, and sometimes no limit
    bool is_viewing_steady; // stirring leaves the viewers alone
    int reorder_wait_ms;    // of the clients; 0: a packet is applied when it comes, or never
    bool is_restless;       // steps stir now and then between the tick and the sends
    bool is_vision_plain;   // no hysteresis and no time to stay: all can be seen that is near
    ph_link_def network;    // seed and keys are filled in
    ph_allocator allocator; // of the world and the clients
    bool is_wide;       // everything is drawn but seed, profile and callback; not 0: viewers, the
                        // most that is visible, the lowest budget
    int crowd_max;      // wide: entities at most; 0: as many as can be seen, and some more
    int slot_count_max; // wide: of a viewer; 0: as many as there can be
    bool is_bare;       // wide: room for so many entities and viewers, but none is there yet
} session_def;

// What a wide session has drawn for all of its viewers; each then draws from the rest.
typedef struct session_wide {
    draw_viewer_limits viewers;
    double settle_s;  // in which everything should have been told
    int steps;        // of the game that fit the time
    int changes;      // in each
    int32_t reach_mm; // of a step
} session_wide;

typedef struct session_entity {
    ph_entity_id id;
    uint64_t name;
    int class_index;
    uint64_t once_changed; // of what is sent once: changed since the spawn
} session_entity;

// The entity that a slot of the world's sight shows, or showed last.
typedef struct session_shown {
    ph_entity_id id;
    uint64_t name;
    int class_index;
    uint32_t since_tick;
} session_shown;

typedef struct session_viewer {
    ph_viewer_id id; // {0}: none
    ph_viewer_def def;
    ph_entity_id own;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    bool is_mute; // sends no acknowledgements (a test may lie in its place), and is not compared
    session_shown* shown; // by slot
    ph_hash packets;      // of all that were sent
    uint64_t packet_count;
    session_baselines baselines; // pinhole profile: compared at every packet, unless it is mute
} session_viewer;

typedef struct test_session test_session;
typedef void session_hook(test_session* session, int viewer, const void* bytes, size_t size);

struct test_session {
    session_def def;
    session_wide wide;
    uint32_t tick_us;
    test_rng rng;
    ph_schema* schema;
    ph_world* world;
    uint64_t initial[SESSION_CLASSES_MAX][PH_PROPERTIES_MAX]; // values before anything is told
    uint64_t now_us;
    int32_t origin_mm; // of x and y; near the edge of the world in some sessions
    int32_t side_mm;
    session_entity entities[SESSION_ENTITIES_MAX];
    ph_entity_id ids[SESSION_ENTITIES_MAX]; // of the same
    int32_t places1[SESSION_PLACES_MAX];    // by index1 of an id: place in entities, plus 1
    int entity_count;
    uint64_t next_name;
    uint64_t dead_name; // of an entity that is gone, or 0
    session_viewer viewers[SESSION_VIEWERS_MAX];
    uint32_t next_session;
    bool is_next_universal; // the viewer that joins next writes codes, in place of the models
    uint64_t packet_count;  // to all
    bool is_stirred;        // since the last step
    // Optional: a datagram leaves the world; a client has got one; a restless step has stirred; an
    // entity is about to go.
    session_hook* on_sent;
    session_hook* on_received;
    void (*on_stirred)(test_session* session);
    void (*on_despawn)(test_session* session, const session_entity* entity);
    void* context;
};

void session_setup(test_session* session, const session_def* def);
void session_teardown(test_session* session);

// What every failure should say.
const char* session_label(const test_session* session);

// ---- the game

const ph_property_def* session_property(const test_session* session, int class_index, int property);
int session_property_count(const test_session* session, int class_index);

// A random one. @return Its place in entities, or -1 when there is no room.
int session_spawn(test_session* session);
// Exactly this one, with nothing but a place.
int session_spawn_as(test_session* session, const ph_spawn* spawn);
void session_despawn(test_session* session, int entity);
const session_entity* session_find(const test_session* session, ph_entity_id id);
void session_set(test_session* session, int entity, int property);
void session_set_any(test_session* session, int entity);
void session_walk(test_session* session, int entity, int32_t reach_mm);
void session_teleport(test_session* session, int entity);

// A random one, or exactly this one (its session number is filled in). @return Its place, or -1.
int session_join(test_session* session);
int session_join_as(test_session* session, const ph_viewer_def* def);
ph_viewer_def session_viewer_def(test_session* session);
void session_leave(test_session* session, int viewer);

// So many random changes of anything.
void session_stir(test_session* session, int changes);

// Wide: as many as the session can afford.
void session_stir_wide(test_session* session);

// ---- time

// One tick, then its sends, then all that has arrived by now. The parts of it follow. In a
// restless session, when there was a stir since the last step, there may be another one between the
// tick and the sends.
void session_step(test_session* session);
void session_tick(test_session* session);
void session_send(test_session* session);
void session_send_to(test_session* session, int viewer);
void session_exchange(test_session* session);

void session_set_network(test_session* session, const ph_link_def* network);

// ---- judgement

// Whether a property may be told to this viewer at all, in this slot.
bool session_is_for(const ph_property_def* def, const session_viewer* viewer, int slot);

// Whether a client shows exactly what its viewer sees, as the wire carries it. If not, and why is
// not NULL, why says where.
bool session_is_equal(const test_session* session, int viewer, char why[200]);

// The same of one slot that shows an entity.
bool session_is_slot_equal(const test_session* session, int viewer, int slot);

// Steps without changes until every client is equal, and a few more; fails after so many.
// @return How many it took.
int session_settle(test_session* session, int steps_max);

// Wide: as many steps as the slowest viewer may need.
int session_settle_wide(test_session* session);

#endif
