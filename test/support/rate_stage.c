// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "rate_stage.h"

#include <string.h>

#define STEP_US 5000
#define OVERHEAD_BYTES 48
#define DATAGRAM_MAX 1200
#define ACK_BYTES 12

static void open_links(rate_stage* stage, int index)
{
    rate_client* client = &stage->clients[index];
    ph_link_def def = stage->network;
    def.seed = stage->seed;
    def.key = 2 * (uint64_t)index;
    def.bottleneck = &stage->narrow;
    client->down = test_link_create(&def);
    def.key += 1;
    def.bottleneck = NULL;
    client->up = test_link_create(&def);
}

void rate_stage_setup(rate_stage* stage, int count, int limit_bits_per_second)
{
    const rate_stage asked = *stage;
    *stage = (rate_stage){
        .count = count,
        .beats_per_second = asked.beats_per_second != 0 ? asked.beats_per_second : 10,
        .narrow = asked.narrow,
        .network = asked.network,
        .now_us = 5000000,
        .seed = asked.seed,
        .tells_all = asked.tells_all,
    };
    stage->narrow.overhead_bytes = OVERHEAD_BYTES;
    ph_rate_def def = ph_rate_def_default();
    def.limit_bits_per_second = limit_bits_per_second;
    for (int i = 0; i < count; ++i) {
        stage->clients[i].rate = ph_rate_make(&def);
        stage->clients[i].use = 1.0;
        stage->clients[i].next_us = stage->now_us + (uint64_t)i * 37000;
        open_links(stage, i);
    }
}

void rate_stage_teardown(rate_stage* stage)
{
    for (int i = 0; i < stage->count; ++i) {
        ph_link_destroy(stage->clients[i].down);
        ph_link_destroy(stage->clients[i].up);
    }
}

void rate_stage_change(rate_stage* stage)
{
    for (int i = 0; i < stage->count; ++i) {
        ph_link_def def = stage->network;
        def.bottleneck = &stage->narrow;
        ph_link_change(stage->clients[i].down, &def);
        def.bottleneck = NULL;
        ph_link_change(stage->clients[i].up, &def);
    }
}

// ---- one client

static void send_datagram(rate_stage* stage, rate_client* client)
{
    const double may_bps = client->rate.rate * client->use;
    const bool is_idle = client->wants_bps > 0.0 && client->wants_bps < may_bps;
    client->credit_bits += (is_idle ? client->wants_bps : may_bps) / stage->beats_per_second;
    const double whole = client->credit_bits / 8.0 - OVERHEAD_BYTES;
    if (whole < 20.0) {
        return;
    }
    uint8_t bytes[DATAGRAM_MAX] = {0};
    const size_t size = whole < DATAGRAM_MAX ? (size_t)whole : DATAGRAM_MAX;
    client->credit_bits -= 8.0 * (double)(size + OVERHEAD_BYTES);
    ++client->newest;
    memcpy(bytes, &client->newest, sizeof client->newest);
    client->is_applied[client->newest % RATE_PACKETS_MAX] = false;
    client->sent_us[client->newest % RATE_PACKETS_MAX] = stage->now_us;
    client->link.sent_datagrams += 1;
    client->link.sent_wire_bytes += size + OVERHEAD_BYTES;
    ph_link_send(client->down, stage->now_us, bytes, size);
}

// An answer tells the fate of every packet up to the one it names: as the world has it, those that come
// after a later one count as lost.
static void take_answer(rate_stage* stage, rate_client* client, uint32_t number)
{
    if (number <= client->resolved) {
        return;
    }
    client->link.resolved_packets += number - client->resolved;
    while (client->resolved != number) {
        ++client->resolved;
        const bool is_applied = stage->tells_all
                                    ? client->is_applied[client->resolved % RATE_PACKETS_MAX]
                                    : client->resolved == number;
        client->link.lost_packets += !is_applied;
    }
    client->link.rtt_samples += 1;
    client->link.rtt_sum_us += stage->now_us - client->sent_us[number % RATE_PACKETS_MAX];
}

static size_t carry(rate_stage* stage, rate_client* client)
{
    uint8_t bytes[DATAGRAM_MAX];
    size_t arrived = 0;
    size_t size;
    while (!client->is_stalled &&
           (size = ph_link_receive(client->down, stage->now_us, bytes, sizeof bytes)) > 0) {
        arrived += size + OVERHEAD_BYTES;
        uint32_t number;
        memcpy(&number, bytes, sizeof number);
        if (number > client->applied) {
            client->applied = number;
            client->is_applied[number % RATE_PACKETS_MAX] = true;
        }
        ph_link_send(client->up, stage->now_us, bytes, ACK_BYTES);
    }
    while (ph_link_receive(client->up, stage->now_us, bytes, sizeof bytes) > 0) {
        uint32_t number;
        memcpy(&number, bytes, sizeof number);
        take_answer(stage, client, number);
    }
    return arrived;
}

static size_t step_client(rate_stage* stage, rate_client* client)
{
    if (stage->now_us >= client->next_us) {
        client->next_us += 1000000u / (uint32_t)stage->beats_per_second;
        send_datagram(stage, client);
    }
    const size_t arrived = carry(stage, client);
    client->link.in_flight_packets = client->newest - client->resolved;
    ph_rate_update(&client->rate, stage->now_us, &client->link);
    return arrived;
}

// ---- all of them

static double fairness_of(const double* bits, int count)
{
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += bits[i];
        squares += bits[i] * bits[i];
    }
    return squares > 0.0 ? sum * sum / (count * squares) : 0.0;
}

static uint64_t count_of(const rate_stage* stage, bool is_lost)
{
    uint64_t count = 0;
    for (int i = 0; i < stage->count; ++i) {
        const ph_link_stats stats = ph_link_get_stats(stage->clients[i].down);
        count += is_lost ? stats.lost_datagrams : stats.sent_datagrams;
    }
    return count;
}

rate_figures rate_stage_run(rate_stage* stage, double seconds)
{
    rate_figures figures = {.least_bps = 1e12};
    double bits[RATE_CLIENTS_MAX] = {0};
    const int steps = (int)(seconds * 1e6 / STEP_US);
    const uint64_t sent = count_of(stage, false);
    const uint64_t lost = count_of(stage, true);
    for (int step = 0; step < steps; ++step) {
        stage->now_us += STEP_US;
        for (int i = 0; i < stage->count; ++i) {
            rate_client* client = &stage->clients[i];
            bits[i] += 8.0 * (double)step_client(stage, client);
            figures.rate_bps += client->rate.rate / steps;
            figures.least_bps =
                client->rate.rate < figures.least_bps ? client->rate.rate : figures.least_bps;
        }
        const double wait_ms = (double)ph_bottleneck_wait_us(&stage->narrow, stage->now_us) * 1e-3;
        figures.queue_ms += wait_ms / steps;
        figures.queue_worst_ms =
            wait_ms > figures.queue_worst_ms ? wait_ms : figures.queue_worst_ms;
    }
    for (int i = 0; i < stage->count; ++i) {
        figures.delivered_bps += bits[i] / seconds;
    }
    figures.fairness = fairness_of(bits, stage->count);
    figures.loss = (double)(count_of(stage, true) - lost) / (double)(count_of(stage, false) - sent);
    return figures;
}
