// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A whole deployment in one process on simulated time, and a judge beside it: worlds, a host with secure
// connections, links that lose, clients that come, go, stall and lie. What happens is a scenario: a list of
// events, made from a seed or read from a file. After every step the promises of the library are judged by
// a model that keeps its own account of what is true. docs/soak.md says what is judged, and how.
//
//     soak_scenario scenario;
//     soak_scenario_make(&scenario, seed);
//     soak_result result;
//     soak_run(&scenario, &result);
//     if (result.is_violated) { soak_shrink(&scenario, run, context); }
//     soak_scenario_free(&scenario);

#ifndef PINHOLE_SOAK_SOAK_H
#define PINHOLE_SOAK_SOAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- what happens

// What an event does. The names are those of the scenario's text.
#define SOAK_KINDS(X)                                                                              \
    X(SPAWN, "spawn")           /* an entity, with values */                                       \
    X(DESPAWN, "despawn")       /* an entity */                                                    \
    X(SET, "set")               /* some properties of an entity */                                 \
    X(WALK, "walk")             /* an entity, a little */                                          \
    X(TELEPORT, "teleport")     /* an entity, to anywhere */                                       \
    X(VISIBILITY, "visibility") /* which viewers may see an entity */                              \
    X(BLOCK, "block")           /* the game's own "no" for an entity and a player */               \
    X(WHISPER, "whisper")       /* what no judged player may know of a public entity */            \
    X(JOIN, "join")             /* a player begins to connect */                                   \
    X(LEAVE, "leave")           /* a player disconnects */                                         \
    X(KICK, "kick")             /* the server ends a connection */                                 \
    X(VANISH, "vanish")         /* a client dies without a word */                                 \
    X(STALL, "stall")           /* a client does nothing for some steps */                         \
    X(LEAP, "leap")             /* a client's clock jumps ahead */                                 \
    X(LIE, "lie")               /* forged acks */                                                  \
    X(FLOOD, "flood")           /* bytes that are no datagram of ours */                           \
    X(NETWORK, "network")       /* another quality of a player's links */                          \
    X(PARTITION, "partition")   /* nothing passes for some steps */                                \
    X(OWN, "own")               /* a player gets another entity, or none */                        \
    X(EYE, "eye")               /* a spectator's eye moves */                                      \
    X(SEES, "sees")             /* what a player may see */                                        \
    X(HINT, "hint")             /* how much an entity matters to a player */                       \
    X(BUDGET, "budget")         /* another budget, of a player without a host */                   \
    X(RESERVE, "reserve")       /* bytes of the game in its datagrams */                           \
    X(MESSAGE, "message")       /* reliable messages, either way */                                \
    X(JUMP, "jump")             /* the server's clock jumps ahead */                               \
    X(DAY, "day")               /* the time of day is set, back or ahead */                        \
    X(FAIL, "fail")             /* an allocation that is soon to come returns NULL */              \
    X(CALM, "calm")             /* nothing changes until every client is equal */                  \
    X(EMPTY, "empty")           /* everything goes, and memory is compared */

typedef enum soak_kind {
#define SOAK_KIND_VALUE(name, text) SOAK_##name,
    SOAK_KINDS(SOAK_KIND_VALUE)
#undef SOAK_KIND_VALUE
        SOAK_KIND_COUNT
} soak_kind;

// One event. What it does in detail is drawn from `draw` alone, so that it does the same when other events
// are taken away. An event whose target is not there does nothing.
typedef struct soak_event {
    int32_t step;
    int32_t kind;   // a soak_kind
    int32_t target; // an entity or a player
    uint64_t draw;
} soak_event;

// Schema, world and players follow from the seed; what happens are the events, by step.
typedef struct soak_scenario {
    uint64_t seed;
    int step_count;
    soak_event* events;
    int event_count;
} soak_scenario;

// Makes the scenario of a seed. @return False when there is no memory.
bool soak_scenario_make(soak_scenario* scenario, uint64_t seed);
void soak_scenario_free(soak_scenario* scenario);

// The text form, one event in a line. Read: @return False when it is no scenario; *line says where.
void soak_scenario_write(const soak_scenario* scenario, FILE* file);
bool soak_scenario_read(soak_scenario* scenario, FILE* file, int* line);

// ---- what comes of it

// The promises, in the words of docs/soak.md.
#define SOAK_PROMISES(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(BUDGET, "budget")                                                                            \
    X(PHANTOM, "no phantom")                                                                       \
    X(LEAK, "no leak")                                                                             \
    X(EQUALITY, "eventual equality")                                                               \
    X(WAIT, "bounded wait")                                                                        \
    X(MEMORY, "memory")                                                                            \
    X(MESSAGES, "messages")                                                                        \
    X(CALLS, "calls")                                                                              \
    X(CRASH, "crash")

typedef enum soak_promise {
#define SOAK_PROMISE_VALUE(name, text) SOAK_PROMISE_##name,
    SOAK_PROMISES(SOAK_PROMISE_VALUE)
#undef SOAK_PROMISE_VALUE
        SOAK_PROMISE_COUNT
} soak_promise;

const char* soak_promise_name(soak_promise promise);

// Plain data: it crosses a pipe.
typedef struct soak_result {
    uint64_t seed;
    bool is_violated;
    int32_t promise; // a soak_promise
    int32_t step;
    char text[240];

    uint64_t sent_datagrams; // to players; the budget of each was judged
    uint64_t judged_packets; // that a client applied, and whose every value was compared
    uint64_t judged_values;  // of these
    uint64_t twin_payloads;  // that were the same with other secrets
    uint64_t equal_clients;  // found equal after a calm
    uint64_t failed_allocations;
    uint64_t connections;
    uint64_t sent_messages; // that arrived
    uint64_t sent_blocks;
    uint64_t sent_unreliable;
    uint64_t simulated_us;
    uint64_t digest; // of every payload: the same for the same scenario
} soak_result;

// Runs a scenario from beginning to end, or to the first violation. Nothing is written anywhere.
void soak_run(const soak_scenario* scenario, soak_result* result);

// Whether a shorter scenario still shows what the first one showed.
typedef bool soak_try_fn(void* context, const soak_scenario* scenario);

// Takes events away, and steps behind the violation, as long as it still shows; at most so many tries.
// @return How many tries it took.
int soak_shrink(soak_scenario* scenario, soak_try_fn* still_shows, void* context, int tries_max);

#endif
