// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some ten seconds a fault.

#include "cluster_chaos.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <string.h>

#define PLAY_LEAST_US UINT64_C(700000)
#define PLAY_MORE_US UINT64_C(2000000)
#define SETTLE_US UINT64_C(3500000)
// On a machine that is so busy that sims lose their lease now and then, it takes some turns.
#define EQUAL_US UINT64_C(90000000)
#define TURN_US UINT64_C(50000)

// ---- faults

static const cluster_fault FAULTS[] = {
    {"kill-sim", CLUSTER_KILL, CLUSTER_SIM, false, true, false},
    {"stop-sim", CLUSTER_STOP, CLUSTER_SIM, false, true, false},
    {"kill-standby", CLUSTER_KILL, CLUSTER_SIM, true, true, false},
    {"stop-standby", CLUSTER_STOP, CLUSTER_SIM, true, true, false},
    {"kill-nats", CLUSTER_KILL, CLUSTER_NATS, false, true, false},
    {"stop-nats", CLUSTER_STOP, CLUSTER_NATS, false, true, false},
    {"kill-front", CLUSTER_KILL, CLUSTER_FRONT, false, true, false},
    {"stop-front", CLUSTER_STOP, CLUSTER_FRONT, false, true, false},
    {"kill-director", CLUSTER_KILL, CLUSTER_DIRECTOR, false, true, false},
    {"stop-director", CLUSTER_STOP, CLUSTER_DIRECTOR, false, true, false},
    {"empty-front", CLUSTER_EMPTY, CLUSTER_FRONT, false, false, false},
    {"release-sim", CLUSTER_EMPTY, CLUSTER_SIM, false, false, false},
    {"freeze-front", CLUSTER_FREEZE, CLUSTER_FRONT, false, false, false},
    {"kill-leader", CLUSTER_KILL, CLUSTER_NATS, false, false, true},
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof *FAULTS };

const char* cluster_faults_names(void)
{
    return "kill-sim stop-sim kill-standby stop-standby kill-nats stop-nats kill-front stop-front "
           "kill-director stop-director empty-front release-sim freeze-front kill-leader";
}

static const cluster_fault* find(const char* name, size_t length)
{
    for (int i = 0; i < FAULT_COUNT; ++i) {
        if (strlen(FAULTS[i].name) == length && strncmp(FAULTS[i].name, name, length) == 0) {
            return &FAULTS[i];
        }
    }
    return NULL;
}

static int read_usual(const cluster_fault* faults[CLUSTER_FAULTS_MAX])
{
    int count = 0;
    for (int i = 0; i < FAULT_COUNT; ++i) {
        if (FAULTS[i].is_usual) {
            faults[count++] = &FAULTS[i];
        }
    }
    return count;
}

int cluster_faults_read(const char* text, const cluster_fault* faults[CLUSTER_FAULTS_MAX],
                        char wrong[64])
{
    if (text == NULL) {
        return read_usual(faults);
    }
    for (int count = 0; count < CLUSTER_FAULTS_MAX;) {
        const size_t length = strcspn(text, ",");
        faults[count] = find(text, length);
        if (faults[count++] == NULL) {
            snprintf(wrong, 64, "%.*s", (int)(length < 60 ? length : 60), text);
            return 0;
        }
        if (text[length] == '\0') {
            return count;
        }
        text += length + 1;
    }
    snprintf(wrong, 64, "more than %d", CLUSTER_FAULTS_MAX);
    return 0;
}

// ---- choosing

static uint64_t draw(uint64_t* state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15); // splitmix64
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static bool suits(const cluster_stage* stage, const cluster_part* part, const cluster_fault* fault)
{
    const bool is_busy =
        part->kind != CLUSTER_FRONT || cluster_report_number(part->report, "players") > 0.0;
    return part->kind == fault->kind && part->pid != 0 && !part->is_stopped && is_busy &&
           (part->kind != CLUSTER_SIM || cluster_stage_is_owner(part) != fault->is_standby) &&
           (!fault->is_leader || cluster_stage_leader(stage) == part);
}

static cluster_part* choose(cluster_stage* stage, const cluster_fault* fault, uint64_t* state)
{
    cluster_part* found[CLUSTER_PARTS_MAX];
    int count = 0;
    for (int i = 0; i < stage->parts.count; ++i) {
        if (suits(stage, &stage->parts.all[i], fault)) {
            found[count++] = &stage->parts.all[i];
        }
    }
    return count > 0 ? found[draw(state) % (uint64_t)count] : NULL;
}

// ---- comparing

// What the bots have counted since the start.
typedef struct counts {
    int moves;
    int ended;
    int discontinued;
    int wrong;
    int backward;
    int alarms;
} counts;

static int number_of(const cluster_stage* stage, const char* name)
{
    return (int)cluster_report_number(cluster_stage_bots(stage), name);
}

static counts count_bots(const cluster_stage* stage)
{
    return (counts){
        .moves = number_of(stage, "moves"),
        .ended = number_of(stage, "ended"),
        .discontinued = number_of(stage, "discontinued"),
        .wrong = number_of(stage, "wrong"),
        .backward = number_of(stage, "backward"),
        .alarms = number_of(stage, "alarms"),
    };
}

// Sims that run, and have to say what they own.
static int running_sims(const cluster_stage* stage)
{
    int count = 0;
    for (int i = 0; i < stage->parts.count; ++i) {
        const cluster_part* part = &stage->parts.all[i];
        count += part->kind == CLUSTER_SIM && part->pid != 0;
    }
    return count;
}

static bool is_right(const cluster_stage* stage, const cluster_outcome* outcome)
{
    const cluster_ownership* owns = &outcome->ownership;
    return outcome->equal == stage->def.bots && outcome->missing == 0 && outcome->phantoms == 0 &&
           outcome->other == 0 && outcome->messages_unreturned == 0 && owns->doubles == 0 &&
           owns->orphans == 0 && owns->strays == 0 && owns->told == running_sims(stage);
}

static void look(cluster_stage* stage, cluster_outcome* outcome)
{
    const bool is_there = number_of(stage, "stands") == 1 &&
                          (uint64_t)cluster_report_number(cluster_stage_bots(stage), "tick") ==
                              stage->control.stand_tick;
    outcome->equal = is_there ? number_of(stage, "equal") : 0;
    outcome->missing = number_of(stage, "missing");
    outcome->phantoms = number_of(stage, "phantoms");
    outcome->other = number_of(stage, "other");
    outcome->messages_unreturned = number_of(stage, "unreturned");
    outcome->interrupted_p50_ms = number_of(stage, "p50");
    outcome->interrupted_max_ms = number_of(stage, "max");
    outcome->late_ms = number_of(stage, "late");
    outcome->ownership = cluster_stage_ownership(stage);
}

// Until everything is right, twice in a row.
static bool stand_and_compare(cluster_stage* stage, cluster_outcome* outcome)
{
    cluster_stage_stand(stage);
    if (!cluster_stage_run(stage, 1000000)) {
        return false;
    }
    const uint64_t stood_us = ph_socket_now_us();
    uint64_t right_us = 0;
    while (ph_socket_now_us() - stood_us < EQUAL_US) {
        if (!cluster_stage_run(stage, TURN_US)) {
            return false;
        }
        look(stage, outcome);
        if (!is_right(stage, outcome)) {
            right_us = 0;
        } else if (right_us == 0) {
            right_us = ph_socket_now_us();
            outcome->seconds = (double)(right_us - stood_us) / 1e6;
        } else if (ph_socket_now_us() - right_us > 700000) { // another report of all parts
            break;
        }
    }
    outcome->is_good = is_right(stage, outcome);
    if (!outcome->is_good) {
        outcome->seconds = (double)(ph_socket_now_us() - stood_us) / 1e6;
    }
    cluster_stage_go(stage);
    return cluster_stage_run(stage, TURN_US);
}

static void compare_counts(const counts* before, const counts* now, cluster_outcome* outcome)
{
    outcome->moved = now->moves - before->moves;
    outcome->ended = now->ended - before->ended;
    outcome->discontinued = now->discontinued - before->discontinued;
    outcome->messages_wrong = now->wrong - before->wrong;
    outcome->inputs_backward = now->backward - before->backward;
    outcome->false_alarms = now->alarms - before->alarms;
    outcome->is_good = outcome->is_good && outcome->ended == 0 && outcome->discontinued == 0 &&
                       outcome->messages_wrong == 0 && outcome->inputs_backward == 0;
}

bool cluster_chaos_compare(cluster_stage* stage, cluster_outcome* outcome)
{
    *outcome = (cluster_outcome){0};
    const counts before = {0};
    if (!stand_and_compare(stage, outcome)) {
        return false;
    }
    const counts now = count_bots(stage);
    compare_counts(&before, &now, outcome);
    return true;
}

// ---- a fault

bool cluster_chaos_do(cluster_stage* stage, const cluster_fault* fault, int seed,
                      cluster_outcome* outcome)
{
    uint64_t state = (uint64_t)seed * 1000 + (uint64_t)(fault - FAULTS);
    *outcome = (cluster_outcome){.fault = fault, .seed = seed};
    if (!cluster_stage_run(stage, PLAY_LEAST_US + draw(&state) % PLAY_MORE_US)) {
        return false;
    }
    const counts before = count_bots(stage);
    cluster_part* victim = choose(stage, fault, &state);
    if (victim == NULL) {
        snprintf(outcome->victim, sizeof outcome->victim, "none there");
        return true; // which is not good
    }
    snprintf(outcome->victim, sizeof outcome->victim, "%s", victim->name);
    outcome->players = (int)cluster_report_number(victim->report, "players");
    cluster_part_act(victim, fault->act, stage->now_us);
    const uint64_t wait_us = SETTLE_US + (fault->act == CLUSTER_STOP     ? CLUSTER_STOP_US
                                          : fault->act == CLUSTER_FREEZE ? CLUSTER_FREEZE_US
                                                                         : 0);
    outcome->echo_before_mean_ms = number_of(stage, "echo_mean");
    outcome->echo_before_max_ms = number_of(stage, "echo_max");
    if (!cluster_stage_run(stage, wait_us)) {
        return false;
    }
    outcome->echo_mean_ms = number_of(stage, "echo_mean");
    outcome->echo_max_ms = number_of(stage, "echo_max");
    if (!stand_and_compare(stage, outcome)) {
        return false;
    }
    const counts now = count_bots(stage);
    compare_counts(&before, &now, outcome);
    return true;
}

// ---- output

void cluster_outcome_print_head(void)
{
    printf("%4s  %-13s %-9s %7s %5s  %-14s %5s %5s %7s %8s %5s %7s %7s %5s %6s %6s  %s\n", "seed",
           "fault", "part", "players", "moved", "p50 / max ms", "late", "equal", "missing",
           "phantoms", "other", "doubles", "orphans", "ended", "chat", "inputs", "verdict");
}

void cluster_outcome_print(const cluster_outcome* o)
{
    char interrupted[32];
    snprintf(interrupted, sizeof interrupted, "%d / %d", o->interrupted_p50_ms,
             o->interrupted_max_ms);
    printf("%4d  %-13s %-9s %7d %5d  %-14s %5d %5d %7d %8d %5d %7d %7d %5d %6d %6d  %s, %.1f s\n",
           o->seed, o->fault != NULL ? o->fault->name : "none", o->victim, o->players, o->moved,
           o->moved > 0 ? interrupted : "-", o->late_ms, o->equal, o->missing, o->phantoms,
           o->other, o->ownership.doubles, o->ownership.orphans + o->ownership.strays,
           o->ended + o->discontinued, o->messages_wrong + o->messages_unreturned,
           o->inputs_backward, o->is_good ? "good" : "BAD", o->seconds);
    if (o->fault != NULL && (o->fault->act == CLUSTER_FREEZE || o->fault->is_leader)) {
        printf("      messages of players that stayed to their sim and back: mean %d ms, at most "
               "%d ms; before: %d, %d\n",
               o->echo_mean_ms, o->echo_max_ms, o->echo_before_mean_ms, o->echo_before_max_ms);
    }
    fflush(stdout);
}
