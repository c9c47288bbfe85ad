// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Twice a second, over all players.

#include "bots_players_report.h"

#include "kit/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERRUPTED_MAX_MS = 2000 };

// ---- what was noticed

static int compare(const void* a, const void* b)
{
    const uint32_t x = *(const uint32_t*)a;
    const uint32_t y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

typedef struct summary {
    players_crew all;
    int connected;
    int equal;
    int missing;
    int phantoms;
    int wrong;
    uint64_t unequal_key;
    uint64_t unreturned;
    uint64_t false_alarms;
    uint64_t failed_moves;
    int interruptions;
    uint32_t p50_ms;
    uint32_t max_ms;
    uint32_t echo_mean_ms;
    uint32_t echo_max_ms;
    uint32_t late_ms; // that a player waited for its turn, of the last 20 s
} summary;

// Of the interruptions those since then.
static void add_crews(const players* all, uint64_t since_us, summary* sum)
{
    for (int c = 0; c < PLAYERS_CREWS; ++c) {
        const players_crew* crew = &all->crews[c];
        sum->all.joins += crew->joins;
        sum->all.ended += crew->ended;
        sum->all.discontinued += crew->discontinued;
        sum->all.moves += crew->moves;
        sum->all.chat_sent += crew->chat_sent;
        sum->all.chat_returned += crew->chat_returned;
        sum->all.chat_wrong += crew->chat_wrong;
        sum->all.inputs += crew->inputs;
        sum->all.backward_inputs += crew->backward_inputs;
        bots_echo_add(&sum->all.echoes, &crew->echoes);
        if (crew->text[0] != '\0') {
            memcpy(sum->all.text, crew->text, sizeof sum->all.text);
        }
        for (int i = 0; i < crew->interruption_count; ++i) {
            if (crew->interruptions[i].at_us >= since_us) {
                all->scratch[sum->interruptions++] = crew->interruptions[i].ms;
            }
        }
    }
    sum->unreturned = sum->all.chat_sent - sum->all.chat_returned;
}

static summary sum_up(const players* all, uint64_t since_us)
{
    summary sum = {0};
    add_crews(all, since_us, &sum);
    for (int i = 0; i < all->count; ++i) {
        const player* at = &all->all[i];
        const ph_peer_stats stats = ph_peer_get_stats(at->peer);
        const bool is_idle = ph_peer_get_state(at->peer) == PH_PEER_STATE_IDLE;
        sum.connected += player_is_joined(at);
        sum.equal += at->is_equal;
        sum.missing += at->difference.missing;
        sum.phantoms += at->difference.phantoms;
        sum.wrong += at->difference.wrong;
        sum.unequal_key = at->difference.key != 0 ? at->difference.key : sum.unequal_key;
        sum.false_alarms += at->false_alarms + (is_idle ? 0 : stats.false_alarms);
        sum.failed_moves += at->failed_moves + (is_idle ? 0 : stats.failed_moves);
    }
    for (int i = 0; i < PLAYERS_LATE_SLICES; ++i) {
        const uint32_t ms = all->lateness.worst_ms[i];
        sum.late_ms = ms > sum.late_ms ? ms : sum.late_ms;
    }
    bots_echo_sum(&sum.all.echoes, all->now_us, &sum.echo_mean_ms, &sum.echo_max_ms);
    qsort(all->scratch, (size_t)sum.interruptions, sizeof *all->scratch, compare);
    if (sum.interruptions > 0) {
        sum.p50_ms = all->scratch[sum.interruptions / 2];
        sum.max_ms = all->scratch[sum.interruptions - 1];
    }
    return sum;
}

void players_report(players* all)
{
    const uint64_t recent_us =
        all->now_us > PLAYERS_WINDOW_US ? all->now_us - PLAYERS_WINDOW_US : 0;
    const bool stands = all->stands;
    // However long the comparison behind a fault takes: that of 2,000 bots took 18 s, and the window was 20 s.
    const summary sum = sum_up(all, all->window_us != 0 ? all->window_us : recent_us);
    char subject[PH_BUS_SUBJECT_MAX];
    char line[CLUSTER_REPORT_MAX];
    const int length = snprintf(
        line, sizeof line,
        "%s kind=bots pid=%ld bots=%d connected=%d joins=%" PRIu64 " ended=%" PRIu64
        " discontinued=%" PRIu64 " moves=%" PRIu64
        " recent=%d p50=%lu max=%lu late=%lu sent=%" PRIu64 " returned=%" PRIu64 " wrong=%" PRIu64
        " inputs=%" PRIu64 " backward=%" PRIu64 " alarms=%" PRIu64 " failed=%" PRIu64
        " stands=%d tick=%" PRIu64 " equal=%d missing=%d phantoms=%d other=%d key=%" PRIu64
        " unreturned=%" PRIu64 " echo_mean=%lu echo_max=%lu nats=%s",
        all->options->bus.name, (long)getpid(), all->count, sum.connected, sum.all.joins,
        sum.all.ended, sum.all.discontinued, sum.all.moves, sum.interruptions,
        (unsigned long)sum.p50_ms, (unsigned long)sum.max_ms, (unsigned long)sum.late_ms,
        sum.all.chat_sent, sum.all.chat_returned, sum.all.chat_wrong, sum.all.inputs,
        sum.all.backward_inputs, sum.false_alarms, sum.failed_moves, stands,
        stands ? all->checked_tick : 0, stands ? sum.equal : 0, stands ? sum.missing : 0,
        stands ? sum.phantoms : 0, stands ? sum.wrong : 0, stands ? sum.unequal_key : 0,
        sum.unreturned, (unsigned long)sum.echo_mean_ms, (unsigned long)sum.echo_max_ms,
        cluster_bus_stats(all->bus).server);
    cluster_control_subject(subject, "report", all->options->bus.world);
    cluster_bus_publish(all->bus, subject, line, (size_t)length);
}

// ---- output

static void print_json(const players* all, const summary* sum)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "bots", all->count);
    ph_json_integer(&json, "connected", sum->connected);
    ph_json_integer(&json, "ended", (int64_t)sum->all.ended);
    ph_json_integer(&json, "moves", (int64_t)sum->all.moves);
    ph_json_integer(&json, "discontinued", (int64_t)sum->all.discontinued);
    ph_json_integer(&json, "interrupted_p50_ms", sum->p50_ms);
    ph_json_integer(&json, "interrupted_max_ms", sum->max_ms);
    ph_json_integer(&json, "late_ms", sum->late_ms);
    ph_json_integer(&json, "false_alarms", (int64_t)sum->false_alarms);
    ph_json_integer(&json, "failed_moves", (int64_t)sum->failed_moves);
    ph_json_integer(&json, "messages_sent", (int64_t)sum->all.chat_sent);
    ph_json_integer(&json, "messages_returned", (int64_t)sum->all.chat_returned);
    ph_json_integer(&json, "messages_wrong", (int64_t)sum->all.chat_wrong);
    ph_json_integer(&json, "inputs", (int64_t)sum->all.inputs);
    ph_json_integer(&json, "inputs_backward", (int64_t)sum->all.backward_inputs);
    ph_json_close(&json);
}

static void print(const players* all, const summary* sum)
{
    if (all->options->is_json) {
        print_json(all, sum);
        return;
    }
    printf("%d bots: %d connected, %" PRIu64 " moves, %" PRIu64
           " of them lost what was under way\n",
           all->count, sum->connected, sum->all.moves, sum->all.discontinued);
    printf("  %-12s p50 %lu ms, max %lu ms without a view\n", "interrupted",
           (unsigned long)sum->p50_ms, (unsigned long)sum->max_ms);
    printf("  %-12s %lu ms in the last 20 s, at most, for their turns here\n", "late",
           (unsigned long)sum->late_ms);
    printf("  %-12s %" PRIu64 " false, %" PRIu64 " failed\n", "alarms", sum->false_alarms,
           sum->failed_moves);
    printf("  %-12s %" PRIu64 " sent, %" PRIu64 " came back in order, %" PRIu64 " wrong\n",
           "messages", sum->all.chat_sent, sum->all.chat_returned, sum->all.chat_wrong);
    printf("  %-12s %" PRIu64 " sent, %" PRIu64 " times the processed one went back\n", "inputs",
           sum->all.inputs, sum->all.backward_inputs);
    if (sum->all.ended > 0) {
        printf("  %-12s %" PRIu64 " connections; the last: %s\n", "ended", sum->all.ended,
               sum->all.text);
    }
}

static bool judge(const players* all, const summary* sum)
{
    return sum->connected == all->count && sum->all.ended == 0 && sum->all.discontinued == 0 &&
           sum->all.chat_wrong == 0 && sum->all.backward_inputs == 0 &&
           sum->max_ms <= INTERRUPTED_MAX_MS;
}

bool players_print(const players* all)
{
    const summary sum = sum_up(all, 0);
    print(all, &sum);
    return judge(all, &sum);
}
