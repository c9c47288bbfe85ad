// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which packets came, and when: the last PH_FLIGHT_MAX sequences. Once per packet.

#include "client/receive.h"

#include "motion/clock.h"

#include <string.h>

#define TICK_PERIOD (UINT32_C(1) << PH_TICK_BITS)

// An ack may get lost, and the next one leaves with the next packet: where that is a second away, it
// is sent once more, after REACK_US. Packets that came sooner than RARE_US after the one before them
// are followed by others soon enough.
#define REACK_US 50000u
#define RARE_US 300000u

static ph_arrival* arrival_at(ph_arrivals* arrivals, uint32_t sequence)
{
    return &arrivals->ring[sequence % PH_FLIGHT_MAX];
}

// Neither ahead of the newest nor further back than the ring.
static bool is_in_ring(const ph_arrivals* arrivals, uint32_t sequence)
{
    return arrivals->receipt.newest - sequence < PH_FLIGHT_MAX;
}

void ph_arrivals_init(ph_arrivals* arrivals, uint32_t session)
{
    memset(arrivals, 0, sizeof *arrivals);
    arrivals->receipt = ph_receipt_make(session);
}

ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon)
{
    for (uint32_t sequence = horizon; is_in_ring(arrivals, sequence); --sequence) {
        const ph_arrival* arrival = &arrivals->ring[sequence % PH_FLIGHT_MAX];
        if (arrival->eye.is_known) {
            return arrival->eye;
        }
    }
    return arrivals->older_eye;
}

uint64_t ph_arrivals_classic_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                                  uint16_t low_bits)
{
    if (!arrivals->last.is_applied) {
        return low_bits;
    }
    const uint64_t since_us = now_us > arrivals->last.time_us ? now_us - arrivals->last.time_us : 0;
    const uint64_t passed = since_us / tick_us;
    // Half a period back and half a period on, if that is not before the last one.
    const uint64_t earliest =
        arrivals->last.tick + (passed > TICK_PERIOD / 2 ? passed - TICK_PERIOD / 2 : 0);
    return earliest + ((low_bits - earliest) & (TICK_PERIOD - 1));
}

// @return False when nothing was applied at or before the horizon.
static bool try_tick_at(const ph_arrivals* arrivals, uint32_t horizon, uint64_t* tick)
{
    for (uint32_t sequence = horizon; is_in_ring(arrivals, sequence); --sequence) {
        const ph_arrival* arrival = &arrivals->ring[sequence % PH_FLIGHT_MAX];
        if (arrival->is_applied) {
            *tick = arrival->tick;
            return true;
        }
    }
    *tick = arrivals->older_tick;
    return arrivals->has_older_tick;
}

bool ph_arrivals_try_pinhole_tick(const ph_arrivals* arrivals, const ph_header* header,
                                  uint64_t* tick)
{
    uint64_t base = 0;
    const bool has_base = try_tick_at(arrivals, header->horizon, &base);
    const bool is_whole = header->tick == PH_PINHOLE_TICK_WHOLE;
    if (!has_base && !is_whole) {
        return false;
    }
    const uint32_t low = is_whole ? header->whole_tick : (uint32_t)base + header->tick;
    const bool is_needless = has_base && is_whole && low - (uint32_t)base < PH_PINHOLE_TICK_WHOLE;
    const ph_arrival* last = &arrivals->last;
    const uint32_t passed = low - (uint32_t)last->tick;
    *tick = last->is_applied ? last->tick + passed : low;
    return !is_needless && !(last->is_applied && passed > (uint32_t)INT32_MAX);
}

void ph_arrivals_add(ph_arrivals* arrivals, uint32_t sequence, const ph_arrival* arrival)
{
    const uint32_t newest = arrivals->receipt.newest;
    PH_ASSERT(sequence - newest - 1 < PH_FLIGHT_MAX);

    for (uint32_t next = newest + 1; next != sequence + 1; ++next) {
        ph_arrival* oldest = arrival_at(arrivals, next);
        if (oldest->eye.is_known) {
            arrivals->older_eye = oldest->eye;
        }
        if (oldest->is_applied) {
            arrivals->older_tick = oldest->tick;
            arrivals->has_older_tick = true;
        }
        *oldest = (ph_arrival){0};
    }
    const bool is_first = arrivals->sequence_count == 0;
    ph_arrival* noted = arrival_at(arrivals, sequence);
    *noted = *arrival;
    noted->is_rare = is_first || arrival->time_us >= arrivals->heard_us + RARE_US;
    arrivals->heard_us = arrival->time_us;
    arrivals->sequence_count += sequence - newest;
    ph_receipt_note(&arrivals->receipt, sequence, arrival->is_applied);
    if (arrival->is_applied) {
        arrivals->last = *arrival;
    }
}

void ph_arrivals_add_again(ph_arrivals* arrivals)
{
    ph_arrival* newest = arrival_at(arrivals, arrivals->receipt.newest);
    newest->is_probed_again = newest->is_acked;
    newest->is_reacked = false;
}

static uint8_t lag_of(const ph_arrival* arrival, uint64_t now_us)
{
    const uint64_t lag_us = now_us > arrival->acked_us ? now_us - arrival->acked_us : 0;
    const uint64_t lag_ms = (lag_us + 500) / 1000;
    return (uint8_t)(lag_ms < PH_ACK_LAG_UNKNOWN ? lag_ms : PH_ACK_LAG_UNKNOWN);
}

uint8_t ph_arrivals_ack(ph_arrivals* arrivals, uint64_t now_us)
{
    ph_arrival* newest = arrival_at(arrivals, arrivals->receipt.newest);
    if (!newest->is_heard) {
        return 0;
    }
    newest->is_reacked = newest->is_acked;
    if (!newest->is_acked) {
        newest->acked_us = now_us;
        newest->is_acked = true;
    }
    return lag_of(newest, now_us);
}

uint64_t ph_arrivals_ack_due_us(const ph_arrivals* arrivals)
{
    const ph_arrival* newest = &arrivals->ring[arrivals->receipt.newest % PH_FLIGHT_MAX];
    if (!newest->is_heard || newest->is_reacked) {
        return UINT64_MAX;
    }
    if (!newest->is_acked || newest->is_probed_again) {
        return newest->time_us;
    }
    return newest->is_rare ? newest->acked_us + REACK_US : UINT64_MAX;
}

double ph_arrivals_rtt_us(const ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon,
                          uint8_t wait)
{
    const ph_arrival* acked = &arrivals->ring[horizon % PH_FLIGHT_MAX];
    if (wait == PH_WAIT_UNKNOWN || !is_in_ring(arrivals, horizon) || !acked->is_acked ||
        acked->is_probed_again || now_us < acked->acked_us) {
        return PH_CLOCK_NO_RTT;
    }
    // The wait is cut to whole units: on average half of one was lost.
    const double waited_us = (wait + 0.5) * PH_WAIT_UNIT_US;
    const double rtt_us = (double)(now_us - acked->acked_us) - waited_us;
    return rtt_us > 1.0 ? rtt_us : 1.0;
}

bool ph_arrivals_is_late(const ph_arrivals* arrivals, uint32_t sequence, uint64_t now_us,
                         uint64_t* late_us)
{
    if (!is_in_ring(arrivals, sequence) || arrivals->ring[sequence % PH_FLIGHT_MAX].is_heard) {
        return false;
    }
    uint64_t first_us = now_us;
    for (uint32_t newer = sequence + 1; is_in_ring(arrivals, newer); ++newer) {
        const ph_arrival* arrival = &arrivals->ring[newer % PH_FLIGHT_MAX];
        if (arrival->is_heard && arrival->time_us < first_us) {
            first_us = arrival->time_us;
        }
    }
    *late_us = now_us - first_us;
    return true;
}

bool ph_arrivals_validate(const ph_arrivals* arrivals)
{
    for (int i = 0; i < PH_FLIGHT_MAX; ++i) {
        const ph_arrival* arrival = &arrivals->ring[i];
        if ((arrival->is_applied && !arrival->is_heard) ||
            (arrival->is_acked && !arrival->is_heard) ||
            (arrival->is_probed_again && !arrival->is_acked) ||
            (arrival->is_reacked && !arrival->is_acked) ||
            (arrival->is_rare && !arrival->is_heard) ||
            (arrival->eye.is_known && !arrival->is_applied)) {
            return false;
        }
    }
    return true;
}
