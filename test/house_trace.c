// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The scene that tools/house measures: 250 walking creatures, one of them the viewer's own, and a client
// that answers every packet a tick later, except that one in a hundred is lost; as `pinhole bench load`,
// with one viewer. tools/house builds it twice.
//
//     house_trace calls PROFILE CLASS    which functions a warm send, receive and acknowledgement enter;
//                                        needs a library built with -finstrument-functions. TRACED_SENDS
//                                        times, a line for each call: NAME DEPTH ADDRESS...
//     house_trace stack PROFILE CLASS    how many bytes of stack each of them takes at most in the whole
//                                        session, joining included. A line each: NAME BYTES
//
// PROFILE is classic or pinhole. CLASS is creature (25 properties) or position (that one alone).

#define _GNU_SOURCE // MAP_ANONYMOUS

#include "base/rng.h"
#include "kit/creature.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CREATURES = 250,
    SEED = 20070524,
    RADIUS_MM = 500000,
    TICK_US = 100000,
    TICKS_PER_SEND = 2,
    BITS_PER_SECOND = 13000,
    // Until every creature has entered; no more at once than a client takes.
    JOIN_BITS_PER_SECOND = 150000,
    JOIN_BURST_BITS = 35000,
    JOIN_TICKS = 40,
    SETTLE_TICKS = 160,
    TRACED_SENDS = 21,
    PACKET_MAX = 1200,
    STACK_BYTES = 1 << 20,
    FUNCTIONS_MAX = 4096,
};

#define PER_KM2 1500.0
#define TURN_CHANCE 0.1
#define WOUND_CHANCE 0.01
#define LOSS 0.01
#define PI 3.14159265358979323846

typedef enum call_kind { CALL_SEND, CALL_RECEIVE, CALL_ACKNOWLEDGE, CALL_COUNT } call_kind;

static const char* const CALL_NAMES[CALL_COUNT] = {"send", "receive", "acknowledge"};

typedef struct scene {
    bool has_more; // than a position
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_client* client;
    ph_rng rng;
    ph_entity_id id[CREATURES];
    double x_mm[CREATURES];
    double y_mm[CREATURES];
    double heading_deg[CREATURES];
    double step_mm[CREATURES];
    // The packet of the last send, and the answer to it.
    uint8_t packet[PACKET_MAX];
    size_t packet_size;
    uint8_t ack[PH_ACK_SIZE];
    size_t ack_size;
} scene;

// ---- what is recorded

static void* functions[FUNCTIONS_MAX]; // that were entered, each once
static int function_count;
static int depth;
static int depth_max;
static bool is_recording;

// The compiler calls these at the entry and the exit of every function of the library.
void __cyg_profile_func_enter(void* function, void* caller);
void __cyg_profile_func_exit(void* function, void* caller);

static void note(void* function)
{
    for (int i = 0; i < function_count; ++i) {
        if (functions[i] == function) {
            return;
        }
    }
    if (function_count < FUNCTIONS_MAX) {
        functions[function_count++] = function;
    }
}

void __cyg_profile_func_enter(void* function, void* caller)
{
    (void)caller;
    if (is_recording) {
        note(function);
        ++depth;
        depth_max = depth > depth_max ? depth : depth_max;
    }
}

void __cyg_profile_func_exit(void* function, void* caller)
{
    (void)function;
    (void)caller;
    depth -= is_recording;
}

static void print_functions(const char* name)
{
    if (function_count == 0 || function_count == FUNCTIONS_MAX) {
        fprintf(stderr, "house_trace: a %s enters %d functions\n", name, function_count);
        exit(1);
    }
    printf("%s %d", name, depth_max);
    for (int i = 0; i < function_count; ++i) {
        printf(" %p", functions[i]);
    }
    printf("\n");
}

// ---- how deep the stack was

enum { PAINT = 0xa5 };

static uint8_t* stack; // its lowest byte; NULL: it is not measured
static size_t deepest[CALL_COUNT];

// Everything below its own frame, but for a little that it needs itself.
__attribute__((noinline)) static void paint(void)
{
    volatile uint8_t here = 0;
    volatile uint8_t* const end = &here - 256;
    for (volatile uint8_t* at = stack; at < end; ++at) {
        *at = PAINT;
    }
}

static size_t lowest_used(void)
{
    size_t offset = 0;
    while (offset < STACK_BYTES && stack[offset] == PAINT) {
        ++offset;
    }
    return offset;
}

// ---- the three calls

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    scene* s = context;
    if (s->packet_size == 0 && size <= sizeof s->packet) {
        memcpy(s->packet, bytes, size);
        s->packet_size = size;
    }
}

static void do_call(scene* s, call_kind kind, uint64_t now_us)
{
    switch (kind) {
    case CALL_SEND:
        ph_viewer_send(s->world, s->viewer, now_us, deliver, s);
        break;
    case CALL_RECEIVE:
        ph_client_receive(s->client, now_us, s->packet, s->packet_size);
        break;
    default:
        ph_viewer_receive_ack(s->world, s->viewer, now_us, s->ack, s->ack_size);
        break;
    }
}

__attribute__((noinline)) static void make_call(scene* s, call_kind kind, uint64_t now_us)
{
    if (stack == NULL) {
        do_call(s, kind, now_us);
        return;
    }
    volatile uint8_t here = 0;
    paint();
    do_call(s, kind, now_us);
    const size_t used = (size_t)(&here - stack) - lowest_used();
    deepest[kind] = used > deepest[kind] ? used : deepest[kind];
}

static void trace(scene* s, call_kind kind, uint64_t now_us)
{
    function_count = 0;
    depth = 0;
    depth_max = 0;
    is_recording = true;
    do_call(s, kind, now_us);
    is_recording = false;
    print_functions(CALL_NAMES[kind]);
}

// ---- the scene

static void need(bool is_ok, const char* what)
{
    if (!is_ok) {
        fprintf(stderr, "house_trace: no %s\n", what);
        exit(1);
    }
}

static double side_mm(void)
{
    return 1e6 * sqrt(CREATURES / PER_KM2);
}

static void spawn(scene* s, int i)
{
    s->x_mm[i] = ph_rng_double(&s->rng) * side_mm();
    s->y_mm[i] = ph_rng_double(&s->rng) * side_mm();
    s->heading_deg[i] = ph_rng_double(&s->rng) * 360.0;
    s->step_mm[i] = 100.0 + ph_rng_double(&s->rng) * 500.0;
    ph_creature creature = {
        .position_mm = {(int32_t)s->x_mm[i], (int32_t)s->y_mm[i], 0},
        .heading_deg = (float)s->heading_deg[i],
        .sheet = (uint32_t)ph_rng_below(&s->rng, 4000),
        .mode = 1,
        .appearance_a = (uint32_t)ph_rng_below(&s->rng, 1u << 16),
        .appearance_b = (uint32_t)ph_rng_below(&s->rng, 1u << 16),
        .appearance_c = (uint32_t)ph_rng_below(&s->rng, 1u << 16),
        .hit_points = PH_CREATURE_BAR_TOP,
        .stamina = PH_CREATURE_BAR_TOP,
        .sap = PH_CREATURE_BAR_TOP,
        .focus = PH_CREATURE_BAR_TOP,
        .clan = (uint8_t)ph_rng_below(&s->rng, 16),
        .people = (uint8_t)ph_rng_below(&s->rng, 8),
    };
    snprintf(creature.name, sizeof creature.name, "Homin %d", i);
    const ph_spawn spawn = {
        .key = (uint64_t)i + 1,
        .position_mm = {creature.position_mm[0], creature.position_mm[1], 0},
    };
    need(ph_world_spawn(s->world, &spawn, &s->id[i]) == PH_OK &&
             ph_world_set_struct(s->world, s->id[i], &creature) == PH_OK,
         "creature");
}

static void make_scene(scene* s, ph_profile profile, bool is_position_alone)
{
    *s = (scene){.has_more = !is_position_alone, .rng = ph_rng_make(SEED)};
    ph_class_def creature = ph_creature_class();
    if (is_position_alone) {
        creature.property_count = PH_CREATURE_POSITION + 1;
    }
    need(ph_schema_create(&creature, 1, NULL, &s->schema, NULL) == PH_OK, "schema");
    ph_world_def def = ph_world_def_default();
    def.schema = s->schema;
    def.entity_capacity = CREATURES;
    def.viewer_capacity = 1;
    def.radius_max_mm = RADIUS_MM;
    def.tick_us = TICK_US;
    def.profile = profile;
    need(ph_world_create(&def, &s->world) == PH_OK, "world");
    for (int i = 0; i < CREATURES; ++i) {
        spawn(s, i);
    }
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = s->id[0];
    viewer.radius_mm = RADIUS_MM;
    viewer.visible_max = CREATURES;
    viewer.bits_per_second = BITS_PER_SECOND;
    viewer.sends_per_second = 1e6 / TICK_US / TICKS_PER_SEND;
    viewer.session = SEED;
    need(ph_world_add_viewer(s->world, &viewer, &s->viewer) == PH_OK, "viewer");
    ph_client_def client = ph_client_def_default();
    client.schema = s->schema;
    client.profile = profile;
    need(ph_client_create(&client, &s->client) == PH_OK, "client");
}

static void destroy_scene(scene* s)
{
    ph_client_destroy(s->client);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
}

static double inside(double place_mm)
{
    return place_mm < 0.0 ? 0.0 : place_mm > side_mm() ? side_mm() : place_mm;
}

static void move(scene* s, int i)
{
    const double radians = s->heading_deg[i] * PI / 180.0;
    const double x_mm = s->x_mm[i] + s->step_mm[i] * cos(radians);
    const double y_mm = s->y_mm[i] + s->step_mm[i] * sin(radians);
    s->x_mm[i] = inside(x_mm);
    s->y_mm[i] = inside(y_mm);
    const bool is_at_edge = s->x_mm[i] != x_mm || s->y_mm[i] != y_mm;
    if (is_at_edge || ph_rng_chance(&s->rng, TURN_CHANCE)) {
        s->heading_deg[i] = ph_rng_double(&s->rng) * 360.0;
    }
    ph_world_move(s->world, s->id[i], (int32_t)s->x_mm[i], (int32_t)s->y_mm[i], 0);
    if (!s->has_more) {
        return;
    }
    const float heading_deg = (float)s->heading_deg[i];
    ph_world_set_property(s->world, s->id[i], PH_CREATURE_HEADING, PH_FIELD_F32, &heading_deg,
                          sizeof heading_deg);
    if (ph_rng_chance(&s->rng, WOUND_CHANCE)) {
        const uint8_t hit_points = (uint8_t)ph_rng_below(&s->rng, PH_CREATURE_BAR_TOP);
        ph_world_set_property(s->world, s->id[i], PH_CREATURE_HIT_POINTS, PH_FIELD_U8, &hit_points,
                              sizeof hit_points);
    }
}

static void tick(scene* s)
{
    for (int i = 0; i < CREATURES; ++i) {
        move(s, i);
    }
    ph_world_tick(s->world);
}

static uint64_t now(const scene* s)
{
    return (uint64_t)ph_world_tick_count(s->world) * TICK_US;
}

// One send and its answer, which comes with the next tick. how is make_call or trace.
static void exchange(scene* s, void (*how)(scene*, call_kind, uint64_t), bool is_lost)
{
    tick(s);
    s->packet_size = 0;
    how(s, CALL_SEND, now(s));
    const bool has_arrived = s->packet_size > 0 && !is_lost;
    if (has_arrived) {
        how(s, CALL_RECEIVE, now(s));
        s->ack_size = ph_client_write_ack(s->client, now(s), s->ack);
    }
    tick(s);
    if (has_arrived) {
        how(s, CALL_ACKNOWLEDGE, now(s));
    }
}

static void run(scene* s, int ticks)
{
    for (int i = 0; i < ticks; i += TICKS_PER_SEND) {
        exchange(s, make_call, ph_rng_chance(&s->rng, LOSS));
    }
}

static void play(scene* s)
{
    ph_viewer_set_budget(s->world, s->viewer, JOIN_BITS_PER_SECOND, JOIN_BURST_BITS);
    run(s, JOIN_TICKS);
    ph_viewer_set_budget(s->world, s->viewer, BITS_PER_SECOND, 0);
    run(s, SETTLE_TICKS);
    need(ph_client_entity_count(s->client) == CREATURES, "client that knows every creature");
}

// ---- the program

static void* play_on_thread(void* context)
{
    play(context);
    return NULL;
}

static void measure_stack(scene* s)
{
    pthread_t thread;
    pthread_attr_t attributes;
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(stack != MAP_FAILED && pthread_attr_init(&attributes) == 0 &&
             pthread_attr_setstack(&attributes, stack, STACK_BYTES) == 0 &&
             pthread_create(&thread, &attributes, play_on_thread, s) == 0 &&
             pthread_join(thread, NULL) == 0,
         "thread");
    pthread_attr_destroy(&attributes);
    for (int kind = 0; kind < CALL_COUNT; ++kind) {
        printf("%s %zu\n", CALL_NAMES[kind], deepest[kind]);
    }
}

static bool is_one_of(const char* word, const char* first, const char* second)
{
    return strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

int main(int count, char** words)
{
    if (count != 4 || !is_one_of(words[1], "calls", "stack") ||
        !is_one_of(words[2], "classic", "pinhole") ||
        !is_one_of(words[3], "creature", "position")) {
        fprintf(stderr, "usage: house_trace calls|stack classic|pinhole creature|position\n");
        return 2;
    }
    static scene s;
    make_scene(&s, strcmp(words[2], "classic") == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE,
               strcmp(words[3], "position") == 0);
    if (strcmp(words[1], "stack") == 0) {
        measure_stack(&s);
    } else {
        play(&s);
        for (int i = 0; i < TRACED_SENDS; ++i) {
            exchange(&s, trace, false);
        }
    }
    destroy_scene(&s);
    return 0;
}
