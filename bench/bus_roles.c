// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Each role runs for some seconds; its costs are taken from the processor time of its whole process.

#define _POSIX_C_SOURCE 200809L

#include "bus_roles.h"

#include "timer.h"

#include <pinhole/bus/bus_front.h>
#include <pinhole/bus/nats.h>
#include <pinhole/bus/bus_sim.h>
#include <pinhole/viewer.h>

#include <nats/nats.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SIDE_CELLS = 20, // 5 km x 5 km
    CELL_MM = 250000,
    RECORDED_TICKS = 5,
};

typedef struct walker {
    int32_t position_mm[3];
    float heading_deg;
} walker;

static const ph_property_def WALKER_PROPERTIES[] = {
    {.name = "place",
     .coding = PH_CODING_POSITION,
     .field = PH_FIELD_I32X3,
     .offset = offsetof(walker, position_mm)},
    {.name = "heading",
     .coding = PH_CODING_ANGLE,
     .bits = 8,
     .field = PH_FIELD_F32,
     .offset = offsetof(walker, heading_deg)},
};
static const ph_class_def WALKER = {
    .name = "walker",
    .properties = WALKER_PROPERTIES,
    .property_count = 2,
    .struct_size = sizeof(walker),
};

// ---- time

static uint64_t wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void sleep_until_us(uint64_t until_us)
{
    const struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                                   .tv_nsec = (long)(until_us % 1000000 * 1000)};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

// The next tick of all processes: multiples of the tick since 1970, so that they agree.
static uint64_t next_tick_us(const bus_play* play, uint64_t after_us, uint64_t offset_us)
{
    const uint64_t tick_us = 1000000 / (uint64_t)play->hz;
    return (after_us - offset_us) / tick_us * tick_us + tick_us + offset_us;
}

// ---- a world of walkers

typedef struct walkers {
    ph_schema* schema;
    ph_world* world;
    ph_entity_id* ids;
    int count;
    uint32_t step;
} walkers;

static bool walkers_make(walkers* all, const bus_play* play, bool has_entities)
{
    *all = (walkers){.count = play->entities};
    ph_schema_create(&WALKER, 1, NULL, &all->schema, NULL);
    ph_world_def def = ph_world_def_default();
    def.schema = all->schema;
    def.entity_capacity = play->entities;
    def.tick_us = 1000000 / (uint32_t)play->hz;
    def.on_error = ph_error_print;
    all->ids = calloc((size_t)play->entities, sizeof *all->ids);
    if (all->ids == NULL || ph_world_create(&def, &all->world) != PH_OK) {
        return false;
    }
    for (int i = 0; i < play->entities && has_entities; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i + 1};
        if (ph_world_spawn(all->world, &spawn, &all->ids[i]) != PH_OK) {
            return false;
        }
    }
    return true;
}

static void walkers_destroy(walkers* all)
{
    ph_world_destroy(all->world);
    ph_schema_destroy(all->schema);
    free(all->ids);
}

// Everything walks in each tick, eight steps of 0.4 m there and eight back, as people do: hardly anything changes its
// cell, and one record in eight has a new heading.
static void walkers_step(walkers* all)
{
    const uint32_t side_mm = (uint32_t)SIDE_CELLS * CELL_MM;
    ++all->step;
    for (int i = 0; i < all->count; ++i) {
        const uint32_t hash = (uint32_t)i * UINT32_C(2654435761);
        const uint32_t other = hash * UINT32_C(40503) + 977;
        const uint32_t phase = (all->step + (uint32_t)i) % 16;
        const uint32_t walked_mm = 400 * (phase < 8 ? phase : 16 - phase);
        const walker one = {
            .position_mm = {(int32_t)(((uint64_t)hash * side_mm >> 32) + walked_mm),
                            (int32_t)((uint64_t)other * side_mm >> 32), 0},
            .heading_deg = phase < 8 ? 0.0F : 180.0F,
        };
        ph_world_set_struct(all->world, all->ids[i], &one);
    }
}

// ---- what a process has used

typedef struct bus_span {
    bool is_begun;
    bool is_ended;
    double cpu_ns;     // of the process
    double outside_ns; // of that, what is not the role's
    double records;
    double messages;
    double bytes;
} bus_span;

// @return Whether the span goes on. The amounts are those since the process began.
static bool span_look(bus_span* span, const bus_play* play, double records, double messages,
                      double bytes)
{
    const uint64_t now_us = wall_us();
    if (!span->is_begun && now_us >= play->start_us) {
        *span = (bus_span){.is_begun = true,
                           .cpu_ns = -bench_cpu_ns(),
                           .records = -records,
                           .messages = -messages,
                           .bytes = -bytes};
    }
    if (span->is_begun && !span->is_ended && now_us >= play->end_us) {
        span->is_ended = true;
        span->cpu_ns += bench_cpu_ns();
        span->records += records;
        span->messages += messages;
        span->bytes += bytes;
    }
    return !span->is_ended;
}

static bus_cost cost_of(const bus_span* span)
{
    return (bus_cost){.is_done = span->is_ended,
                      .cpu_ns = span->cpu_ns - span->outside_ns,
                      .records = span->records,
                      .messages = span->messages,
                      .bytes = span->bytes};
}

static bool open_nats(const bus_play* play, ph_nats** nats)
{
    ph_nats_def def = ph_nats_def_default();
    def.servers = play->url;
    def.pending_bytes = (size_t)256 << 20;
    def.on_error = ph_error_print;
    return ph_nats_open(&def, nats) == PH_OK;
}

// ---- sim

static const ph_region REGION = {.number = 0, .from = {0, 0}, .to = {SIDE_CELLS, SIDE_CELLS}};

static ph_result make_sim(const bus_play* play, const walkers* all, ph_bus_transport transport,
                          ph_bus_sim** sim)
{
    static const int wanted = 0;
    ph_bus_sim_def def = ph_bus_sim_def_default();
    def.transport = transport;
    def.world = all->world;
    def.world_name = play->world;
    def.name = "sim";
    def.cell_mm = CELL_MM;
    def.regions = &REGION;
    def.region_count = 1;
    def.wanted = &wanted;
    def.wanted_count = 1;
    def.on_error = ph_error_print;
    return ph_bus_sim_create(&def, sim);
}

// One tick of the game. @return Thread time that was not the sim's.
static double sim_tick(walkers* all, ph_bus_sim* sim, uint64_t now_us)
{
    ph_bus_sim_receive(sim, now_us);
    for (ph_bus_event event; ph_bus_sim_next_event(sim, &event);) {
    }
    const double start_ns = thread_ns();
    walkers_step(all);
    ph_world_tick(all->world);
    const double outside_ns = thread_ns() - start_ns;
    ph_bus_sim_publish(sim, now_us);
    return outside_ns;
}

bus_cost bus_role_sim(const bus_play* play)
{
    walkers all;
    ph_nats* nats = NULL;
    ph_bus_sim* sim = NULL;
    bus_span span = {0};
    double lost = 0.0;
    bool is_well = walkers_make(&all, play, true) && open_nats(play, &nats) &&
                   make_sim(play, &all, ph_nats_transport(nats), &sim) == PH_OK;
    while (is_well && !span.is_ended) {
        sleep_until_us(next_tick_us(play, wall_us(), 0));
        const ph_bus_sim_stats stats = ph_bus_sim_get_stats(sim);
        lost = (double)stats.unsent_messages;
        if (span_look(&span, play, (double)stats.published_records, (double)stats.published_batches,
                      (double)stats.published_bytes)) {
            span.outside_ns += sim_tick(&all, sim, wall_us());
        }
    }
    ph_bus_sim_destroy(sim);
    ph_nats_close(nats);
    walkers_destroy(&all);
    bus_cost cost = cost_of(&span);
    cost.lost = lost;
    return cost;
}

// ---- front-end

static ph_result make_front(const bus_play* play, const walkers* all, ph_nats* nats,
                            ph_bus_front** front)
{
    char name[32];
    snprintf(name, sizeof name, "front-%d", play->number);
    ph_bus_front_def def = ph_bus_front_def_default();
    def.transport = ph_nats_transport(nats);
    def.world = all->world;
    def.world_name = play->world;
    def.name = name;
    def.cell_mm = CELL_MM;
    def.on_error = ph_error_print;
    return ph_bus_front_create(&def, front);
}

bus_cost bus_role_front(const bus_play* play)
{
    walkers all;
    ph_nats* nats = NULL;
    ph_bus_front* front = NULL;
    bus_span span = {0};
    double lost = 0.0;
    bool is_well = walkers_make(&all, play, false) && open_nats(play, &nats) &&
                   make_front(play, &all, nats, &front) == PH_OK;
    const int64_t centre_mm[3] = {SIDE_CELLS * CELL_MM / 2, SIDE_CELLS * CELL_MM / 2, 0};
    is_well = is_well && ph_bus_front_add_interest(front, centre_mm, SIDE_CELLS * CELL_MM * 3 / 4,
                                                   UINT32_MAX) != 0;
    const uint64_t offset_us = 300000 / (uint64_t)play->hz; // behind the sim
    while (is_well && !span.is_ended) {
        sleep_until_us(next_tick_us(play, wall_us(), offset_us));
        const ph_bus_front_stats stats = ph_bus_front_get_stats(front);
        if (span_look(&span, play, (double)stats.records, (double)stats.batches,
                      (double)stats.bytes)) {
            lost = span.is_begun ? lost : -(double)stats.gaps;
            ph_bus_front_tick(front, wall_us());
            const double start_ns = thread_ns();
            ph_world_tick(all.world);
            span.outside_ns += thread_ns() - start_ns;
        } else {
            lost += (double)stats.gaps;
        }
    }
    ph_bus_front_destroy(front);
    ph_nats_close(nats);
    walkers_destroy(&all);
    bus_cost cost = cost_of(&span);
    cost.lost = lost;
    return cost;
}

// ---- a plain publisher of the same bytes

// What a sim publishes in some ticks, kept.
typedef struct recorded_message {
    char subject[PH_BUS_SUBJECT_MAX];
    uint8_t* bytes;
    size_t size;
    int tick;
} recorded_message;

typedef struct bus_tape {
    recorded_message* messages;
    int count;
    int capacity;
    int tick; // -1: not kept
    double records;
    double bytes;
    uint64_t swapped_ticket; // 0: none
    uint64_t read_ticket;
} bus_tape;

static bool tape_publish(void* context, const char* subject, const void* bytes, size_t size)
{
    bus_tape* tape = context;
    if (tape->tick < 0) {
        return true;
    }
    if (tape->count == tape->capacity) {
        const int capacity = tape->capacity * 2 + 1024;
        recorded_message* grown =
            realloc(tape->messages, (size_t)capacity * sizeof *tape->messages);
        if (grown == NULL) {
            return false;
        }
        tape->messages = grown;
        tape->capacity = capacity;
    }
    recorded_message* message = &tape->messages[tape->count];
    message->bytes = malloc(size + 1);
    if (message->bytes == NULL) {
        return false;
    }
    ++tape->count;
    snprintf(message->subject, sizeof message->subject, "%s", subject);
    memcpy(message->bytes, bytes, size);
    message->size = size;
    message->tick = tape->tick;
    tape->bytes += (double)size;
    return true;
}

static uint64_t tape_subscribe(void* context, const char* subject)
{
    (void)context;
    (void)subject;
    return 1;
}

static void tape_unsubscribe(void* context, uint64_t subscription)
{
    (void)context;
    (void)subscription;
}

static bool tape_next(void* context, ph_bus_message* message)
{
    (void)context;
    (void)message;
    return false;
}

static void tape_read(void* context, const char* key, uint64_t ticket)
{
    (void)key;
    ((bus_tape*)context)->read_ticket = ticket;
}

static void tape_swap(void* context, const char* key, uint64_t revision, const void* bytes,
                      size_t size, uint64_t ticket)
{
    (void)key;
    (void)revision;
    (void)bytes;
    (void)size;
    ((bus_tape*)context)->swapped_ticket = ticket;
}

static bool tape_next_answer(void* context, ph_bus_answer* answer)
{
    bus_tape* tape = context;
    uint64_t* asked = tape->read_ticket != 0 ? &tape->read_ticket : &tape->swapped_ticket;
    if (*asked == 0) {
        return false;
    }
    *answer = (ph_bus_answer){.ticket = *asked,
                              .outcome = PH_BUS_DONE,
                              .revision = asked == &tape->swapped_ticket ? 1 : 0};
    *asked = 0;
    return true;
}

static uint64_t tape_lost_count(void* context)
{
    (void)context;
    return 0;
}

static bool tape_is_connected(void* context)
{
    (void)context;
    return true;
}

static bool record(const bus_play* play, bus_tape* tape)
{
    walkers all;
    ph_bus_sim* sim = NULL;
    const ph_bus_transport transport = {
        .context = tape,
        .publish = tape_publish,
        .subscribe = tape_subscribe,
        .unsubscribe = tape_unsubscribe,
        .next = tape_next,
        .read = tape_read,
        .swap = tape_swap,
        .next_answer = tape_next_answer,
        .lost_count = tape_lost_count,
        .is_connected = tape_is_connected,
    };
    bool is_well = walkers_make(&all, play, true) && make_sim(play, &all, transport, &sim) == PH_OK;
    const int first = 20; // by then the region is owned and everything was told once
    double records = 0.0;
    for (int i = 0; i < first + RECORDED_TICKS && is_well; ++i) {
        tape->tick = i - first;
        records = i == first ? (double)ph_bus_sim_get_stats(sim).published_records : records;
        sim_tick(&all, sim, (uint64_t)(i + 1) * 100000);
    }
    tape->records = is_well ? (double)ph_bus_sim_get_stats(sim).published_records - records : 0.0;
    ph_bus_sim_destroy(sim);
    walkers_destroy(&all);
    return is_well && tape->count > 0;
}

static void tape_destroy(bus_tape* tape)
{
    for (int i = 0; i < tape->count; ++i) {
        free(tape->messages[i].bytes);
    }
    free(tape->messages);
}

static void publish_plain(natsConnection* nats, const bus_tape* tape, int tick, bus_span* sum)
{
    for (int i = 0; i < tape->count; ++i) {
        const recorded_message* message = &tape->messages[i];
        if (message->tick != tick) {
            continue;
        }
        natsConnection_Publish(nats, message->subject, message->bytes, (int)message->size);
        sum->bytes += (double)message->size;
        sum->messages += 1.0;
    }
}

bus_cost bus_role_publisher(const bus_play* play)
{
    bus_tape tape = {.tick = -1};
    natsConnection* nats = NULL;
    bus_span span = {0};
    bus_span sum = {0};
    const bool is_well =
        record(play, &tape) && natsConnection_ConnectTo(&nats, play->url) == NATS_OK;
    const double record_bytes = tape.bytes / tape.records;
    for (int tick = 0; is_well && !span.is_ended; ++tick) {
        sleep_until_us(next_tick_us(play, wall_us(), 0));
        if (span_look(&span, play, sum.bytes / record_bytes, sum.messages, sum.bytes)) {
            publish_plain(nats, &tape, tick % RECORDED_TICKS, &sum);
        }
    }
    natsConnection_Destroy(nats);
    tape_destroy(&tape);
    return cost_of(&span);
}

// ---- a plain subscriber

typedef struct plain_sum {
    _Atomic uint64_t messages;
    _Atomic uint64_t bytes;
    _Atomic uint64_t check;
} plain_sum;

static void on_plain(natsConnection* nats, natsSubscription* subscription, natsMsg* message,
                     void* context)
{
    (void)nats;
    (void)subscription;
    plain_sum* sum = context;
    const int size = natsMsg_GetDataLength(message);
    sum->messages += 1;
    sum->bytes += (uint64_t)size;
    sum->check += (uint8_t)natsMsg_GetData(message)[size - 1];
    natsMsg_Destroy(message);
}

static double measure_put(const bus_play* play)
{
    walkers all;
    double best_ns = 0.0;
    if (walkers_make(&all, play, true)) {
        for (int round = 0; round < 6; ++round) {
            const double start_ns = thread_ns();
            walkers_step(&all);
            const double took_ns = (thread_ns() - start_ns) / play->entities;
            best_ns = round == 0 || took_ns < best_ns ? took_ns : best_ns;
            ph_world_tick(all.world);
        }
    }
    walkers_destroy(&all);
    return best_ns;
}

bus_cost bus_role_subscriber(const bus_play* play)
{
    plain_sum sum = {0};
    natsConnection* nats = NULL;
    natsSubscription* subscription = NULL;
    bus_span span = {0};
    char subject[PH_BUS_SUBJECT_MAX];
    snprintf(subject, sizeof subject, "cell.%s.>", play->world);
    const double put_ns = measure_put(play);
    const bool is_well =
        natsConnection_ConnectTo(&nats, play->url) == NATS_OK &&
        natsConnection_Subscribe(&subscription, nats, subject, on_plain, &sum) == NATS_OK &&
        natsSubscription_SetPendingLimits(subscription, -1, -1) == NATS_OK;
    while (is_well && span_look(&span, play, 0.0, (double)sum.messages, (double)sum.bytes)) {
        sleep_until_us(next_tick_us(play, wall_us(), 0));
    }
    natsSubscription_Destroy(subscription);
    natsConnection_Destroy(nats);
    bus_cost cost = cost_of(&span);
    cost.put_ns = put_ns;
    return cost;
}
