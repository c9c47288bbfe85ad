// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Players in a small town (kit/town.h): they run along the streets and over the gallery, meet in
// groups, stand about, change hats, fight, go indoors; a few fly. They move as hands on keys and a
// mouse make them: at full speed at once, weaving, and in a fight never still. Nothing of that can
// be foretold, so what is shown of them is only as good as it is fresh.

#include "kit/plane.h"
#include "kit/scene_play.h"
#include "kit/town.h"

#include <math.h>

enum { STANDING, WALKING, FIGHTING, FLYING, LANDING, INDOORS };

enum { HAT, CLOTHES, WEAPON, HEALTH, ACTIVITY, COLUMN_COUNT };
enum { HATS = 32, CLOTHES_COUNT = 64, WEAPONS = 16, FULL_HEALTH = 100, ACTIVITIES = 5 };

static const ph_scene_column COLUMNS[COLUMN_COUNT] = {
    [HAT] = {.name = "hat", .low = 0, .high = HATS - 1},
    [CLOTHES] = {.name = "clothes", .low = 0, .high = CLOTHES_COUNT - 1},
    [WEAPON] = {.name = "weapon", .low = 0, .high = WEAPONS - 1},
    [HEALTH] = {.name = "health", .low = 0, .high = FULL_HEALTH},
    [ACTIVITY] = {.name = "activity", .low = 0, .high = ACTIVITIES - 1},
};

// What a viewer is shown of a mode: stands, walks, runs, fights, flies.
enum { ACTIVITY_STAND, ACTIVITY_WALK, ACTIVITY_RUN, ACTIVITY_FIGHT, ACTIVITY_FLY };

// Where groups meet: three at a time, and all move on now and then.
static const int MEETING_PLACES[] = {PH_TOWN_TEMPLE, PH_TOWN_TERRACE, 18, 6, PH_TOWN_TERRACE, 8};
enum { MEETING_COUNT = sizeof MEETING_PLACES / sizeof MEETING_PLACES[0], GROUP_COUNT = 3 };
#define MEETING_S 40
#define MEETING_RADIUS_MM 4000.0

// Every so many players one can fly.
enum { FLYER_OF = 8 };
#define CLIMB_MM_S 4000.0
#define DESCENT_MM 30000.0 // before its goal
// No player walks in the middle of the street; the gallery is 8 m wide.
#define LANE_MM 2500.0
// So near to a crossing people turn off.
#define CORNER_MM 1500.0
#define RUNNING_MM_S 3000.0
#define ARM_MM 6000.0
#define HITS_PER_S 1.5
// A hand on the mouse corrects the way every second or so.
#define WEAVE_DEG 35.0
// Not on the last metres.
#define WEAVE_MM 5000.0
#define DODGE_LOW_MM_S 2500.0
#define DODGE_HIGH_MM_S 5000.0
#define NEAREST_MM 1500.0
// A fight stays where it is: a fighter that strays would set out beside the ramp instead of up it.
#define RING_MM 2500.0

typedef struct player {
    int place; // where it is, or was last
    int next_place;
    int goal_place;
    int opponent; // while it fights
    int weave_steps;
    int dodge_steps;
    double dodge_x_mm_s;
    double dodge_y_mm_s;
    double ring_x_mm; // where its fight began
    double ring_y_mm;
    int dress_steps;
    int heal_steps;
    double lane_x_mm; // how far from the middle of places it passes
    double lane_y_mm;
    double z_mm;
    double flight_mm; // altitude of the flight
} player;

static size_t stage_bytes(int count)
{
    return (size_t)count * sizeof(player);
}

static player* find_player(const ph_scene* scene, int index)
{
    return (player*)scene->actors->stage + index;
}

static int32_t whole_mm(double value_mm)
{
    return (int32_t)floor(value_mm + 0.5);
}

static double stand_mm(const ph_walker* walker, double z_mm)
{
    return ph_town_stand_mm(whole_mm(walker->x_mm), whole_mm(walker->y_mm), whole_mm(z_mm));
}

static bool is_open(const ph_walker* walker, double z_mm)
{
    return ph_town_is_open(whole_mm(walker->x_mm), whole_mm(walker->y_mm), whole_mm(z_mm));
}

// ---- equipment and health

static void change_clothes(ph_scene* scene, int index)
{
    ph_rng* random = &ph_scene_actor(scene, index)->random;
    static const int counts[] = {[HAT] = HATS, [CLOTHES] = CLOTHES_COUNT, [WEAPON] = WEAPONS};
    const int column = ph_random_below(random, 3);
    scene->extra[column][index] = ph_random_below(random, counts[column]);
    find_player(scene, index)->dress_steps =
        ph_scene_draw_steps(scene, ph_scene_actor(scene, index), 10.0, 50.0);
}

static void heal(ph_scene* scene, int index)
{
    player* self = find_player(scene, index);
    int32_t* health = &scene->extra[HEALTH][index];
    if (*health < FULL_HEALTH && --self->heal_steps <= 0) {
        *health = *health + 5 < FULL_HEALTH ? *health + 5 : FULL_HEALTH;
        self->heal_steps = (int)(2.0 * scene->rate_hz);
    }
}

// ---- going somewhere

static void stand(const ph_scene* scene, int index, double low_s, double high_s)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    actor->mode = STANDING;
    actor->walker.speed_mm_s = 0.0;
    actor->wait_steps = ph_scene_draw_steps(scene, actor, low_s, high_s);
    actor->angle_deg = ph_random_between(&actor->random, -180.0, 180.0);
}

static bool is_meeting_place(int place)
{
    for (int i = 0; i < MEETING_COUNT; ++i) {
        if (MEETING_PLACES[i] == place) {
            return true;
        }
    }
    return false;
}

// On the way people keep to their lane; where they stay, they take what room there is.
static void head_for(const ph_scene* scene, int index, int place)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_walker* walker = &actor->walker;
    player* self = find_player(scene, index);
    ph_town_find(place, &walker->goal_x_mm, &walker->goal_y_mm);
    if (place == self->goal_place && is_meeting_place(place)) {
        walker->goal_x_mm +=
            ph_random_between(&actor->random, -MEETING_RADIUS_MM, MEETING_RADIUS_MM);
        walker->goal_y_mm +=
            ph_random_between(&actor->random, -MEETING_RADIUS_MM, MEETING_RADIUS_MM);
    } else {
        walker->goal_x_mm += self->lane_x_mm;
        walker->goal_y_mm += self->lane_y_mm;
    }
    self->next_place = place;
}

static void choose_goal(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    const int hour = (int)(scene->steps / (uint32_t)(MEETING_S * scene->rate_hz));
    const int meeting = MEETING_PLACES[(hour + index % GROUP_COUNT) % MEETING_COUNT];
    const int elsewhere = ph_random_below(&actor->random, PH_TOWN_PLACES);
    find_player(scene, index)->goal_place =
        ph_random_below(&actor->random, 100) < 55 ? meeting : elsewhere;
}

static void set_out(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    player* self = find_player(scene, index);
    choose_goal(scene, index);
    const bool has_time = ph_random_below(&actor->random, 5) == 0;
    actor->walker.cruise_mm_s = has_time ? ph_random_between(&actor->random, 1300.0, 2800.0)
                                         : ph_random_between(&actor->random, 4500.0, 6000.0);
    actor->mode = WALKING;
    head_for(scene, index,
             ph_town_next(self->place, self->goal_place, ph_random_below(&actor->random, 4)));
}

static double way_left_mm(const ph_walker* walker)
{
    return ph_plane_length(walker->goal_x_mm - walker->x_mm, walker->goal_y_mm - walker->y_mm);
}

static void weave(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_walker* walker = &actor->walker;
    player* self = find_player(scene, index);
    if (--self->weave_steps <= 0) {
        self->weave_steps = ph_scene_draw_steps(scene, actor, 0.4, 1.6);
        walker->swerve_deg = ph_random_between(&actor->random, -WEAVE_DEG, WEAVE_DEG);
    }
    if (!is_open(walker, self->z_mm) || way_left_mm(walker) < WEAVE_MM) {
        walker->swerve_deg = 0.0;
    }
}

static void walk(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_walker* walker = &actor->walker;
    player* self = find_player(scene, index);
    weave(scene, index);
    const bool is_there = ph_walker_step(walker, scene->rate_hz);
    self->z_mm = stand_mm(walker, self->z_mm);
    const double left_mm = way_left_mm(walker);
    const bool is_last = self->next_place == self->goal_place;
    if (is_there || (!is_last && left_mm < CORNER_MM)) {
        self->place = self->next_place;
        if (is_last) {
            stand(scene, index, 3.0, 15.0);
        } else {
            head_for(
                scene, index,
                ph_town_next(self->place, self->goal_place, ph_random_below(&actor->random, 4)));
        }
    }
}

// ---- flying

static void take_off(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    player* self = find_player(scene, index);
    choose_goal(scene, index);
    head_for(scene, index, self->goal_place);
    actor->mode = FLYING;
    actor->walker.cruise_mm_s = ph_random_between(&actor->random, 6000.0, 12000.0);
    self->flight_mm = self->z_mm + ph_random_between(&actor->random, 12000.0, 40000.0);
}

// Towards an altitude by one step's worth. @return True when it is there.
static bool climb(player* self, double wanted_mm, double rate_hz)
{
    const double most_mm = CLIMB_MM_S / rate_hz;
    const double left_mm = wanted_mm - self->z_mm;
    if (fabs(left_mm) <= most_mm) {
        self->z_mm = wanted_mm;
        return true;
    }
    self->z_mm += left_mm < 0.0 ? -most_mm : most_mm;
    return false;
}

static void fly(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_walker* walker = &actor->walker;
    player* self = find_player(scene, index);
    walker->swerve_deg = 0.0;
    const double left_mm = way_left_mm(walker);
    // The gallery is 6 m above the street: down to twice that before the last metres.
    const double floor_mm = stand_mm(walker, self->flight_mm) + 2.0 * PH_TOWN_RISE_MM;
    climb(self, left_mm < DESCENT_MM ? floor_mm : self->flight_mm, scene->rate_hz);
    if (ph_walker_step(walker, scene->rate_hz)) {
        self->place = self->goal_place;
        actor->mode = LANDING;
    }
}

static void land(const ph_scene* scene, int index)
{
    player* self = find_player(scene, index);
    const ph_walker* walker = &ph_scene_actor(scene, index)->walker;
    if (climb(self, stand_mm(walker, self->flight_mm), scene->rate_hz)) {
        stand(scene, index, 2.0, 8.0);
    }
}

// ---- fighting

static bool may_fight(const ph_scene* scene, int index)
{
    return ph_scene_actor(scene, index)->mode == STANDING && scene->extra[HEALTH][index] > 40;
}

// @return A player within arm's reach that stands on the same floor, or -1.
static int find_opponent(const ph_scene* scene, int index)
{
    const ph_walker* walker = &ph_scene_actor(scene, index)->walker;
    for (int i = 0; i < scene->count; ++i) {
        const ph_walker* other = &ph_scene_actor(scene, i)->walker;
        if (i != index && may_fight(scene, i) &&
            ph_plane_length(other->x_mm - walker->x_mm, other->y_mm - walker->y_mm) < ARM_MM &&
            fabs(find_player(scene, i)->z_mm - find_player(scene, index)->z_mm) < 1000.0) {
            return i;
        }
    }
    return -1;
}

static void start_fight(const ph_scene* scene, int index, int opponent)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    actor->mode = FIGHTING;
    actor->wait_steps = ph_scene_draw_steps(scene, actor, 4.0, 12.0);
    player* self = find_player(scene, index);
    self->opponent = opponent;
    self->ring_x_mm = actor->walker.x_mm;
    self->ring_y_mm = actor->walker.y_mm;
    int32_t* weapon = &scene->extra[WEAPON][index];
    *weapon = *weapon != 0 ? *weapon : 1 + ph_random_below(&actor->random, WEAPONS - 1);
}

// Carried home. It comes back at the temple.
static void die(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    player* self = find_player(scene, index);
    actor->mode = INDOORS;
    actor->wait_steps = ph_scene_draw_steps(scene, actor, 4.0, 8.0);
    scene->present[index] = false;
    self->place = PH_TOWN_TEMPLE;
    ph_town_find(self->place, &actor->walker.x_mm, &actor->walker.y_mm);
    actor->walker.x_mm += self->lane_x_mm;
    actor->walker.y_mm += self->lane_y_mm;
    self->z_mm = stand_mm(&actor->walker, self->z_mm);
    scene->extra[HEALTH][index] = FULL_HEALTH;
}

static void hit(ph_scene* scene, int opponent, ph_rng* random)
{
    int32_t* health = &scene->extra[HEALTH][opponent];
    *health -= 3 + ph_random_below(random, 10);
    if (*health <= 0) {
        die(scene, opponent);
    }
}

// Now a dash to any side, now a pause on guard.
static void choose_dodge(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    player* self = find_player(scene, index);
    const bool was_dashing = self->dodge_x_mm_s != 0.0 || self->dodge_y_mm_s != 0.0;
    const double speed_mm_s =
        was_dashing ? 0.0 : ph_random_between(&actor->random, DODGE_LOW_MM_S, DODGE_HIGH_MM_S);
    const double way_deg = ph_random_between(&actor->random, -180.0, 180.0);
    self->dodge_x_mm_s = speed_mm_s * ph_plane_cos_deg(way_deg);
    self->dodge_y_mm_s = speed_mm_s * ph_plane_sin_deg(way_deg);
    self->dodge_steps = was_dashing ? ph_scene_draw_steps(scene, actor, 0.8, 2.0)
                                    : ph_scene_draw_steps(scene, actor, 0.3, 0.9);
}

// One step of the dash, if it ends in reach of the opponent, not on its toes, and where there is room.
static void dodge(const ph_scene* scene, int index, const ph_walker* opponent)
{
    player* self = find_player(scene, index);
    ph_walker* walker = &ph_scene_actor(scene, index)->walker;
    if (--self->dodge_steps <= 0) {
        choose_dodge(scene, index);
    }
    ph_walker there = *walker;
    there.x_mm += self->dodge_x_mm_s / scene->rate_hz;
    there.y_mm += self->dodge_y_mm_s / scene->rate_hz;
    const double apart_mm =
        ph_plane_length(opponent->x_mm - there.x_mm, opponent->y_mm - there.y_mm);
    const double sideways_mm =
        ph_plane_length(self->ring_x_mm - there.x_mm, self->ring_y_mm - there.y_mm);
    if (apart_mm >= NEAREST_MM && apart_mm <= ARM_MM && sideways_mm <= RING_MM &&
        is_open(&there, stand_mm(&there, self->z_mm))) {
        *walker = there;
        self->z_mm = stand_mm(walker, self->z_mm);
    }
}

static void fight(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    const int opponent = find_player(scene, index)->opponent;
    const ph_actor* other = ph_scene_actor(scene, opponent);
    if (--actor->wait_steps <= 0 || other->mode != FIGHTING ||
        find_player(scene, opponent)->opponent != index) {
        stand(scene, index, 1.0, 3.0);
        return;
    }
    ph_walker_face(&actor->walker,
                   ph_plane_bearing_deg(other->walker.x_mm - actor->walker.x_mm,
                                        other->walker.y_mm - actor->walker.y_mm),
                   scene->rate_hz);
    dodge(scene, index, &other->walker);
    if (ph_rng_chance(&actor->random, HITS_PER_S / scene->rate_hz)) {
        hit(scene, opponent, &actor->random);
    }
}

// ---- the play

static void begin(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    player* self = find_player(scene, index);
    actor->walker.gait = PH_GAIT_PLAYER;
    self->lane_x_mm = ph_random_between(&actor->random, -LANE_MM, LANE_MM);
    self->lane_y_mm = ph_random_between(&actor->random, -LANE_MM, LANE_MM);
    self->place = ph_random_below(&actor->random, PH_TOWN_PLACES);
    ph_town_find(self->place, &actor->walker.x_mm, &actor->walker.y_mm);
    actor->walker.x_mm += self->lane_x_mm;
    actor->walker.y_mm += self->lane_y_mm;
    actor->walker.heading_deg = ph_random_between(&actor->random, -180.0, 180.0);
    self->z_mm = stand_mm(&actor->walker, 2.0 * PH_TOWN_RISE_MM);
    scene->extra[HAT][index] = ph_random_below(&actor->random, HATS);
    scene->extra[CLOTHES][index] = ph_random_below(&actor->random, CLOTHES_COUNT);
    scene->extra[HEALTH][index] = FULL_HEALTH;
    self->dress_steps = ph_scene_draw_steps(scene, actor, 0.0, 50.0);
    stand(scene, index, 0.0, 6.0);
}

static void decide(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    const int choice = ph_random_below(&actor->random, 100);
    const int opponent = choice < 20 && may_fight(scene, index) ? find_opponent(scene, index) : -1;
    if (opponent >= 0) {
        start_fight(scene, index, opponent);
        start_fight(scene, opponent, index);
    } else if (choice < 28) {
        actor->mode = INDOORS;
        actor->wait_steps = ph_scene_draw_steps(scene, actor, 5.0, 25.0);
        scene->present[index] = false;
    } else if (choice < 45) {
        stand(scene, index, 2.0, 8.0);
    } else if (index % FLYER_OF == 3 && choice < 85) {
        take_off(scene, index);
    } else {
        set_out(scene, index);
    }
}

static void wait(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    if (actor->mode == STANDING) {
        ph_walker_face(&actor->walker, actor->angle_deg, scene->rate_hz);
    }
    if (--actor->wait_steps > 0) {
        return;
    }
    if (actor->mode == INDOORS) {
        scene->present[index] = true;
        stand(scene, index, 0.0, 2.0);
    } else {
        decide(scene, index);
    }
}

static void step(ph_scene* scene, int index)
{
    if (--find_player(scene, index)->dress_steps <= 0) {
        change_clothes(scene, index);
    }
    const int mode = ph_scene_actor(scene, index)->mode;
    if (mode != FIGHTING) {
        heal(scene, index);
    }
    switch (mode) {
    case WALKING:
        walk(scene, index);
        return;
    case FIGHTING:
        fight(scene, index);
        return;
    case FLYING:
        fly(scene, index);
        return;
    case LANDING:
        land(scene, index);
        return;
    default:
        wait(scene, index);
        return;
    }
}

static int activity_of(const ph_actor* actor)
{
    switch (actor->mode) {
    case WALKING:
        return actor->walker.cruise_mm_s < RUNNING_MM_S ? ACTIVITY_WALK : ACTIVITY_RUN;
    case FIGHTING:
        return ACTIVITY_FIGHT;
    case FLYING:
    case LANDING:
        return ACTIVITY_FLY;
    default:
        return ACTIVITY_STAND;
    }
}

static void show(ph_scene* scene, int index)
{
    const ph_actor* actor = ph_scene_actor(scene, index);
    const double position_mm[3] = {actor->walker.x_mm, actor->walker.y_mm,
                                   find_player(scene, index)->z_mm};
    ph_scene_show(scene, index, position_mm, actor->walker.heading_deg);
    scene->extra[ACTIVITY][index] = activity_of(actor);
}

const ph_play ph_play_town = {
    .info = {.name = "town",
             .default_count = 80,
             .default_rate_hz = 10,
             .extras = COLUMNS,
             .extra_count = COLUMN_COUNT,
             .ground = {.layers = ph_town_layers},
             // A stair is 250 mm: a player that is rounded onto the next one still stands on it.
             .altitude = {.tolerance_mm = 300, .escape_shift = 4}},
    .begin = begin,
    .step = step,
    .stage_bytes = stage_bytes,
    .show = show,
};
