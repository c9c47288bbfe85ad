// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: no bit of a packet depends on an entity that its viewer may not see. Two worlds play
// the same public story before the same viewer; what is hidden differs in everything: how many there
// are, which, when they came, where they are, what they are like, what refers to them, what other
// viewers look on. Every packet to the viewer is the same, bit by bit.
//
// Public actors disappear from time to time. While they are hidden, each world does with them what
// it likes; when they come back, the story says what they are like. The viewer's own entity changes,
// too; what is for an owner is public while the actor is the viewer's own, and a secret otherwise.
//
// test_unveiled.c has what needs a story of its own: secret references whose target becomes visible, and crowds of
// newcomers that are hidden between a tick and its sends.

#include "support/test_session.h"

#include <pinhole/viewer.h>

#include <string.h>

enum {
    ACTORS = 36,
    STEPS = 160,
    PACKETS_MAX = 40000,
    WIDE_ROUNDS = 24,
    HIDDEN_FOR_SURE = 4, // ticks: a "no" of the game counts from the viewer's next turn
};

#define AUDIENCE 1u // of the viewer
#define PUBLIC_MASK 1u
#define SECRET_MASK 2u
#define SECRET_NAMES (UINT64_C(1) << 40) // and above

typedef struct actor {
    ph_entity_id id;
    int class_index;
    int hidden_since; // step, or -1
    bool is_kept;     // comes back as it went
    bool is_reborn;   // wide: comes back as a new entity of the same name
    test_rng dress;   // dice of what it was like then
} actor;

typedef struct tale {
    test_session session; // its entities are the hidden ones; its dice are public
    test_rng hidden;      // dice of what no viewer sees
    bool has_secrets;
    bool is_spoiled; // one visible thing is different
    actor actors[ACTORS];
    int own; // the viewer's, an actor; or -1
    uint64_t next_secret;
    uint64_t packets[PACKETS_MAX];
    int packet_count;
    int secret_changes;
} tale;

static uint64_t below(test_rng* rng, uint64_t limit)
{
    return test_rng_below(rng, limit);
}

// ---- the public story

static void draw_place(tale* t, test_rng* rng, int64_t position_mm[3])
{
    for (int axis = 0; axis < 2; ++axis) {
        position_mm[axis] = (int32_t)((uint32_t)t->session.origin_mm +
                                      (uint32_t)below(rng, (uint64_t)t->session.side_mm));
    }
    position_mm[2] = (int32_t)below(rng, 10000);
}

static void set_value(tale* t, ph_entity_id id, const ph_property_def* def, int p, test_rng* rng,
                      const ph_entity_id* targets, int target_count)
{
    (t->session.def.is_wide ? session_value_set_wide : session_value_set)(
        t->session.world, id, def, p, rng, targets, target_count);
}

static const ph_property_def* property_of(const tale* t, int class_index, int p)
{
    return session_property(&t->session, class_index, p);
}

// References of odd actors belong to the secrets, and what is for others.
static bool is_public(const tale* t, int index, int p)
{
    const ph_property_def* def = property_of(t, t->actors[index].class_index, p);
    if (def->audience == PH_AUDIENCE_OWNER && index != t->own) {
        return false;
    }
    if (def->audience == PH_AUDIENCE_MASK && (def->audience_mask & AUDIENCE) == 0) {
        return false;
    }
    return index % 2 == 0 || def->coding != PH_CODING_ENTITY;
}

static void set_public(tale* t, int index, int p)
{
    const actor* it = &t->actors[index];
    // An entity that never disappears.
    const ph_entity_id target = t->actors[4 * below(&t->session.rng, ACTORS / 4)].id;
    if (is_public(t, index, p)) {
        set_value(t, it->id, property_of(t, it->class_index, p), p, &t->session.rng, &target, 1);
    }
}

static void set_all(tale* t, int index)
{
    int64_t position_mm[3];
    draw_place(t, &t->session.rng, position_mm);
    ph_world_move(t->session.world, t->actors[index].id, position_mm[0], position_mm[1],
                  position_mm[2]);
    const int count = session_property_count(&t->session, t->actors[index].class_index);
    for (int p = 0; p < count; ++p) {
        set_public(t, index, p);
    }
}

// An entity that never disappears, or none. What only the owner is told was a secret until now.
static void change_own(tale* t)
{
    const bool is_none = below(&t->session.rng, 5) == 0;
    const int index = 4 * (int)below(&t->session.rng, ACTORS / 4);
    t->own = is_none ? -1 : index;
    const ph_entity_id id = is_none ? (ph_entity_id){0} : t->actors[index].id;
    assert_int_equal(ph_viewer_set_entity(t->session.world, t->session.viewers[0].id, id), PH_OK);
    const int count =
        is_none ? 0 : session_property_count(&t->session, t->actors[index].class_index);
    for (int p = 0; p < count; ++p) {
        if (property_of(t, t->actors[index].class_index, p)->audience == PH_AUDIENCE_OWNER) {
            set_public(t, index, p);
        }
    }
}

static void spawn_actor(tale* t, int index)
{
    const ph_spawn spawn = {.class_index = t->actors[index].class_index,
                            .key = 1 + (uint64_t)index,
                            .seen_by = PUBLIC_MASK};
    assert_int_equal(ph_world_spawn(t->session.world, &spawn, &t->actors[index].id), PH_OK);
}

static bool ask_game(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    const tale* t = (const tale*)context; // the session is its first member
    uint64_t name = 0;
    ph_world_identify(t->session.world, entity, &name, NULL);
    if (viewer.index1 != t->session.viewers[0].id.index1) {
        return true;
    }
    return name < SECRET_NAMES && t->actors[name - 1].hidden_since < 0;
}

// As it was when it was hidden; where nothing has changed since, this changes nothing.
static void restore(tale* t, int index)
{
    const test_rng dice = t->session.rng;
    t->session.rng = t->actors[index].dress;
    set_all(t, index);
    t->session.rng = dice;
}

static void hide(tale* t, int index, int step)
{
    t->actors[index].is_kept = below(&t->session.rng, 2) == 0;
    t->actors[index].dress.state = test_rng_next(&t->session.rng);
    t->actors[index].is_reborn = t->session.def.is_wide && below(&t->session.rng, 2) == 0;
    if (t->actors[index].is_kept) {
        restore(t, index);
    }
    t->actors[index].hidden_since = step;
    if (t->session.def.may_see == NULL) {
        ph_world_set_visibility(t->session.world, t->actors[index].id, SECRET_MASK, false, false);
    }
}

static void change_unseen(tale* t, int index, const ph_entity_id* targets, int target_count);

// An entity that referred in secret to a hidden one must not do so when it can be seen.
static void show(tale* t, int index)
{
    actor* it = &t->actors[index];
    for (int i = 1; t->has_secrets && i < ACTORS; i += 2) {
        change_unseen(t, i, t->session.ids, t->session.entity_count);
    }
    it->hidden_since = -1;
    if (it->is_reborn && ph_world_is_alive(t->session.world, it->id)) {
        ph_world_despawn(t->session.world, it->id);
    }
    if (!ph_world_is_alive(t->session.world, it->id)) {
        spawn_actor(t, index);
    }
    ph_world_set_visibility(t->session.world, it->id, PUBLIC_MASK, false, false);
    // A hint goes with the entity that it was about, which may be another one now.
    ph_viewer_set_hint(t->session.world, t->session.viewers[0].id, it->id, 1.0);
    // Half of them come back with what they had: that it changed meanwhile, there and back, is a secret.
    if (it->is_kept) {
        restore(t, index);
    } else {
        set_all(t, index);
    }
}

// One in four actors stays; all of these but the first one and the viewer's own stand on the very same spot, and come
// and go together: more than there is room for, so that spawn order decides which are seen.
static void move_crowd(tale* t, bool is_near)
{
    int32_t position_mm[3];
    const actor* first = &t->actors[0];
    int p = 0;
    while (property_of(t, first->class_index, p)->coding != PH_CODING_POSITION) {
        ++p;
    }
    assert_int_equal(ph_world_get_property(t->session.world, first->id, p, PH_FIELD_I32X3,
                                           position_mm, sizeof position_mm),
                     PH_OK);
    const uint32_t radius_mm = (uint32_t)t->session.wide.viewers.radius_max_mm;
    const uint32_t wide_mm = is_near ? radius_mm / 16 : radius_mm + radius_mm / 2 + 100;
    const uint32_t away_mm = t->session.def.is_wide ? wide_mm : is_near ? 3000 : 200000;
    position_mm[0] = (int32_t)((uint32_t)position_mm[0] + away_mm);
    for (int index = 4; index < ACTORS; index += 4) {
        if (index != t->own) {
            ph_world_move(t->session.world, t->actors[index].id, position_mm[0], position_mm[1],
                          position_mm[2]);
        }
    }
}

static void tell_public(tale* t, int step)
{
    test_rng* rng = &t->session.rng;
    for (int i = 0; i < 30; ++i) {
        const int index = (int)below(rng, ACTORS);
        const int count = session_property_count(&t->session, t->actors[index].class_index);
        const int p = (int)below(rng, (uint64_t)count);
        const uint64_t kind = below(rng, 12);
        if (t->actors[index].hidden_since >= 0) {
            if (kind < 2 && step - t->actors[index].hidden_since > 2 * HIDDEN_FOR_SURE) {
                show(t, index);
            }
        } else if (kind == 0 && index % 4 != 0) {
            hide(t, index, step);
        } else if (kind == 1 && below(rng, 3) == 0) {
            set_all(t, index);
        } else {
            set_public(t, index, p);
        }
    }
    if (step % 12 == 0) {
        move_crowd(t, step % 24 != 0);
    }
    if (below(rng, 8) == 0) {
        change_own(t);
    }
    if (t->is_spoiled && step == STEPS / 2) {
        ph_world_move(t->session.world, t->actors[t->own < 0 ? 0 : t->own].id, 1, 2, 3);
    }
}

// ---- the secrets

static int spawn_secret(tale* t)
{
    test_rng* rng = &t->hidden;
    const bool is_callback = t->session.def.may_see != NULL;
    ph_spawn spawn = {0};
    spawn.class_index = (int)below(rng, (uint64_t)ph_schema_class_count(t->session.schema));
    spawn.key = SECRET_NAMES + t->next_secret++;
    spawn.seen_by = is_callback ? UINT32_MAX : SECRET_MASK;
    spawn.is_always_visible = below(rng, 8) == 0;
    if (!is_callback && below(rng, 4) == 0) {
        spawn.seen_by = UINT32_MAX;
        spawn.is_never_visible = true;
    }
    draw_place(t, rng, spawn.position_mm);
    return session_spawn_as(&t->session, &spawn);
}

static void change_secret(tale* t, ph_entity_id id, int class_index)
{
    test_rng* rng = &t->hidden;
    const int p = (int)below(rng, (uint64_t)session_property_count(&t->session, class_index));
    int64_t position_mm[3];
    draw_place(t, rng, position_mm);
    ph_world_move(t->session.world, id, position_mm[0], position_mm[1], position_mm[2]);
    set_value(t, id, property_of(t, class_index, p), p, rng, t->session.ids,
              t->session.entity_count);
}

// What the viewer is not told of an actor, though it may see it; references go to some of these.
static void change_unseen(tale* t, int index, const ph_entity_id* targets, int target_count)
{
    const actor* it = &t->actors[index];
    const bool is_alive = ph_world_is_alive(t->session.world, it->id);
    for (int p = 0; p < session_property_count(&t->session, it->class_index); ++p) {
        if (is_alive && !is_public(t, index, p)) {
            set_value(t, it->id, property_of(t, it->class_index, p), p, &t->hidden, targets,
                      target_count);
        }
    }
}

static void abuse_hidden_actor(tale* t, int index, int step)
{
    const actor* it = &t->actors[index];
    if (it->hidden_since < 0 || step - it->hidden_since < HIDDEN_FOR_SURE ||
        !ph_world_is_alive(t->session.world, it->id)) {
        return;
    }
    // Where many are equally near, the order in which they were spawned decides, and is no secret.
    const bool may_go = it->is_reborn || !t->session.def.is_wide;
    if (may_go && below(&t->hidden, 6) == 0) {
        ph_world_despawn(t->session.world, it->id);
    } else {
        change_secret(t, it->id, it->class_index);
    }
}

// Other viewers, which may see more or less, and may not answer.
static void stir_others(tale* t)
{
    test_rng* rng = &t->hidden;
    const int place = 1 + (int)below(rng, SESSION_VIEWERS_MAX - 1);
    if (t->session.viewers[place].client != NULL) {
        session_leave(&t->session, place);
        return;
    }
    ph_viewer_def def = ph_viewer_def_default();
    if (t->session.def.is_wide) {
        def = draw_viewer_def(rng, &t->session.wide.viewers, &t->session.is_next_universal);
    } else {
        def.visible_max = 1 + (int)below(rng, 20);
        def.slot_count = 48;
        def.radius_mm = 1000 + (int32_t)below(rng, 50000);
    }
    draw_place(t, rng, def.eye_mm);
    def.sees = below(rng, 2) == 0 ? UINT32_MAX : PUBLIC_MASK;
    def.entity = below(rng, 2) == 0 ? t->actors[0].id : (ph_entity_id){0};
    const int joined = session_join_as(&t->session, &def);
    t->session.viewers[joined].is_mute = below(rng, 3) == 0;
}

static void tell_secrets(tale* t, int step)
{
    const int changes = (int)below(&t->hidden, 16);
    for (int index = 0; index < ACTORS; ++index) {
        if (below(&t->hidden, 3) == 0) {
            change_unseen(t, index, t->session.ids, t->session.entity_count);
        }
    }
    for (int i = 0; i < changes; ++i) {
        const int index = (int)below(&t->hidden, ACTORS);
        const int count = t->session.entity_count;
        const int some = count > 0 ? (int)below(&t->hidden, (uint64_t)count) : -1;
        ++t->secret_changes;
        switch (below(&t->hidden, 8)) {
        case 0:
            spawn_secret(t);
            break;
        case 1:
            if (some >= 0) {
                session_despawn(&t->session, some);
            }
            break;
        case 2:
        case 3:
            abuse_hidden_actor(t, index, step);
            break;
        case 4:
            if (below(&t->hidden, 4) == 0) {
                stir_others(t);
            }
            break;
        default:
            if (some >= 0) {
                change_secret(t, t->session.ids[some], t->session.entities[some].class_index);
            }
            break;
        }
    }
}

// ---- both together

static void note_packet(test_session* session, int viewer, const void* bytes, size_t size)
{
    tale* t = (tale*)session;
    if (viewer == 0) {
        assert_true(t->packet_count < PACKETS_MAX);
        ph_hash hash = ph_hash_make(size);
        ph_hash_add(&hash, bytes, size);
        t->packets[t->packet_count++] = ph_hash_value(&hash);
    }
}

static ph_viewer_def plain_viewer(const session_def* def)
{
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.radius_mm = 50000;
    viewer.bits_per_second = def->bits_per_second;
    viewer.sends_per_second = def->profile == PH_PROFILE_PINHOLE && def->seed % 3 == 1 ? 0 : 10;
    viewer.scheduler = def->seed % 5 < 2    ? ph_scheduler_buckets()
                       : def->seed % 5 == 2 ? ph_scheduler_error()
                                            : ph_scheduler_score();
    viewer.max_starve_ms = def->seed % 2 == 0 ? 3000 : 100;
    // Fewer than there are, so that ranks and ties matter; or more than can be served at once, so that
    // it matters which entities wait.
    viewer.visible_max = def->seed % 4 == 0 ? 6 : 20;
    viewer.slot_count = 2 * viewer.visible_max;
    return viewer;
}

static ph_viewer_def viewer_of(tale* t)
{
    ph_viewer_def viewer = t->session.def.is_wide
                               ? draw_viewer_def(&t->session.rng, &t->session.wide.viewers,
                                                 &t->session.is_next_universal)
                               : plain_viewer(&t->session.def);
    viewer.entity = t->actors[0].id;
    viewer.audience = AUDIENCE;
    viewer.sees = PUBLIC_MASK;
    return viewer;
}

static void begin(tale* t, const session_def* def, uint64_t hidden_seed)
{
    memset(t, 0, sizeof *t);
    session_setup(&t->session, def);
    t->session.on_sent = note_packet;
    t->hidden.state = hidden_seed;
    t->has_secrets = hidden_seed != 0;
    for (int i = 0; t->has_secrets && i < ACTORS; ++i) {
        spawn_secret(t);
    }
    for (int index = 0; index < ACTORS; ++index) {
        // Whose places in the world become free in any order, so that actors have others.
        if (t->has_secrets && below(&t->hidden, 3) > 0 && t->session.entity_count > 0) {
            session_despawn(&t->session, (int)below(&t->hidden, (uint64_t)t->session.entity_count));
        }
        t->actors[index].class_index = index % ph_schema_class_count(t->session.schema);
        t->actors[index].hidden_since = -1;
        spawn_actor(t, index);
    }
    for (int index = 0; index < ACTORS; ++index) {
        set_all(t, index);
    }
    move_crowd(t, true);
    const ph_viewer_def viewer = viewer_of(t);
    session_join_as(&t->session, &viewer);
    for (uint64_t i = hidden_seed; i > 1; --i) {
        session_join_as(&t->session, &viewer); // others like it, which share its group
    }
}

// Between a tick and its sends: an entity is hidden, the viewer gets another entity or may see
// nothing for a moment, and that counts at once. What the game does with the hidden, and what
// refers to them, is a secret already. A game's own "no" counts from the next turn: not here.
static void tell_between(tale* t, int step)
{
    test_rng* rng = &t->session.rng;
    const int index = 1 + (int)below(rng, ACTORS - 1);
    const bool is_to_hide =
        below(rng, 2) == 0 && index % 4 != 0 && t->actors[index].hidden_since < 0;
    const bool is_blind = below(rng, 12) == 0;
    const int hinted = (int)below(rng, ACTORS);
    const double weight = below(rng, 3) == 0 ? 0.0 : (double)below(rng, 50);
    ph_viewer_set_hint(t->session.world, t->session.viewers[0].id, t->actors[hinted].id,
                       t->actors[hinted].hidden_since < 0 ? weight : 1.0);
    if (is_to_hide) {
        hide(t, index, step);
    }
    const int own_before = t->own;
    if (below(rng, 8) == 0) {
        change_own(t);
    }
    if (t->has_secrets && own_before >= 0 && t->own != own_before) {
        change_unseen(t, own_before, t->session.ids, t->session.entity_count);
    }
    if (is_blind) {
        ph_viewer_set_sees(t->session.world, t->session.viewers[0].id, 0);
    }
    for (int i = 1; t->has_secrets && is_to_hide && i < ACTORS; i += 2) {
        if (i != index && below(&t->hidden, 2) != 0) {
            change_unseen(t, i, &t->actors[index].id, 1);
        }
    }
    if (t->has_secrets && is_to_hide) {
        change_secret(t, t->actors[index].id, t->actors[index].class_index);
    }
}

// The order of secrets and story within a step is a secret, too.
static void play(tale* t, const session_def* def, uint64_t hidden_seed, bool is_spoiled)
{
    begin(t, def, hidden_seed);
    t->is_spoiled = is_spoiled;
    for (int step = 0; step < STEPS; ++step) {
        const bool is_first = t->has_secrets && below(&t->hidden, 2) == 0;
        if (is_first) {
            tell_secrets(t, step);
        }
        tell_public(t, step);
        if (t->has_secrets && !is_first) {
            tell_secrets(t, step);
        }
        session_tick(&t->session);
        if (t->session.def.may_see == NULL) {
            tell_between(t, step);
        }
        session_send(&t->session);
        session_exchange(&t->session);
        ph_viewer_set_sees(t->session.world, t->session.viewers[0].id, PUBLIC_MASK);
    }
    session_teardown(&t->session);
}

static int first_difference(const tale* a, const tale* b)
{
    const int count = a->packet_count < b->packet_count ? a->packet_count : b->packet_count;
    for (int i = 0; i < count; ++i) {
        if (a->packets[i] != b->packets[i]) {
            return i;
        }
    }
    return a->packet_count != b->packet_count ? count : -1;
}

static tale bare;
static tale other;
static uint64_t wide_packets; // of drawn worlds

static session_def def_of(int number, ph_profile profile, ph_vision_kind vision,
                          ph_may_see_fn* may_see)
{
    return (session_def){
        .seed = 8000 + (uint64_t)number,
        .schema = (session_schema)(number % SESSION_SCHEMA_COUNT),
        .vision = vision,
        .profile = profile,
        .may_see = may_see,
        .bits_per_second = number % 3 == 0 ? 40000 : 2500,
        .network = {.delay_us = 30000, .jitter_us = 90000, .loss = 0.1 * (number % 4)},
    };
}

static void compare_all(ph_profile profile, ph_vision_kind vision, ph_may_see_fn* may_see)
{
    for (int i = 0; i < 12; ++i) {
        const session_def def = def_of(i, profile, vision, may_see);
        play(&bare, &def, 0, false);
        assert_true(bare.packet_count > 20);
        for (uint64_t secret = 1; secret <= 3; ++secret) {
            play(&other, &def, secret, false);
            assert_true(other.secret_changes > STEPS);
            const int at = first_difference(&bare, &other);
            if (at >= 0) {
                fail_msg(
                    "profile %d, seed %llu, schema %d, secrets %llu: packet %d of %d is another",
                    (int)profile, (unsigned long long)def.seed, (int)def.schema,
                    (unsigned long long)secret, at, bare.packet_count);
            }
        }
    }
}

// The whole range of every def field, with masks or by the game's own "no".
static void compare_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = {.seed = 50000 + (uint64_t)i,
                                 .is_wide = true,
                                 .is_bare = true,
                                 .profile = profile,
                                 .viewer_count = SESSION_VIEWERS_MAX,
                                 .crowd_max = 2 * ACTORS,
                                 .slot_count_max = i % 4 == 0 ? 0 : 500,
                                 .may_see = i % 2 == 0 ? NULL : ask_game};
        play(&bare, &def, 0, false);
        for (uint64_t secret = 1; secret <= 2; ++secret) {
            play(&other, &def, secret, false);
            const int at = first_difference(&bare, &other);
            if (at >= 0) {
                fail_msg("profile %d, seed %llu, wide, secrets %llu: packet %d of %d is another",
                         (int)profile, (unsigned long long)def.seed, (unsigned long long)secret, at,
                         bare.packet_count);
            }
        }
        wide_packets += (uint64_t)bare.packet_count;
    }
    draw_end();
}

static void hidden_entities_change_no_packet_at_any_setting(void** state)
{
    (void)state;
    compare_wide(PH_PROFILE_CLASSIC);
}

static void hidden_entities_change_no_packet_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    compare_wide(PH_PROFILE_PINHOLE);
}

static void hidden_entities_change_no_packet_by_grid(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_CLASSIC, PH_VISION_GRID, NULL);
}

static void hidden_entities_change_no_packet_by_grid_in_pinhole(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_PINHOLE, PH_VISION_GRID, NULL);
}

static void hidden_entities_change_no_packet_by_groups(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_CLASSIC, PH_VISION_GROUPS, NULL);
}

static void hidden_entities_change_no_packet_by_groups_in_pinhole(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_PINHOLE, PH_VISION_GROUPS, NULL);
}

static void entities_that_the_game_hides_change_no_packet_by_grid(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_CLASSIC, PH_VISION_GRID, ask_game);
}

static void entities_that_the_game_hides_change_no_packet_by_grid_in_pinhole(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_PINHOLE, PH_VISION_GRID, ask_game);
}

static void entities_that_the_game_hides_change_no_packet_by_groups(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_CLASSIC, PH_VISION_GROUPS, ask_game);
}

static void entities_that_the_game_hides_change_no_packet_by_groups_in_pinhole(void** state)
{
    (void)state;
    compare_all(PH_PROFILE_PINHOLE, PH_VISION_GROUPS, ask_game);
}

static void many_packets_were_compared(void** state)
{
    (void)state;
    assert_true(wide_packets > 1000);
}

// The test can fail: one thing that may be seen is different.
static void a_visible_change_changes_packets(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        const session_def def = def_of(0, (ph_profile)profile, PH_VISION_GRID, NULL);
        play(&bare, &def, 0, false);
        play(&other, &def, 0, true);
        assert_true(first_difference(&bare, &other) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_entities_change_no_packet_by_grid),
        cmocka_unit_test(hidden_entities_change_no_packet_by_grid_in_pinhole),
        cmocka_unit_test(hidden_entities_change_no_packet_by_groups),
        cmocka_unit_test(hidden_entities_change_no_packet_by_groups_in_pinhole),
        cmocka_unit_test(entities_that_the_game_hides_change_no_packet_by_grid),
        cmocka_unit_test(entities_that_the_game_hides_change_no_packet_by_grid_in_pinhole),
        cmocka_unit_test(entities_that_the_game_hides_change_no_packet_by_groups),
        cmocka_unit_test(entities_that_the_game_hides_change_no_packet_by_groups_in_pinhole),
        draw_unit_test(hidden_entities_change_no_packet_at_any_setting),
        draw_unit_test(hidden_entities_change_no_packet_at_any_setting_in_pinhole),
        cmocka_unit_test(many_packets_were_compared),
        cmocka_unit_test(a_visible_change_changes_packets),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
