// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last packet numbers and what is worked out from them. Once per packet.

#include "client/arrivals.h"

#include "wire/coded_header.h"

// As TCP smooths it: one measurement counts an eighth.
#define RTT_SHARE 0.125

#define TICK_PERIOD (UINT32_C(1) << PH_TICK_BITS)

static ph_arrival* at(ph_arrivals* arrivals, uint32_t number)
{
    return &arrivals->ring[number % PH_FLIGHT_MAX];
}

// How far a number lies behind the newest; what lies ahead, or further back than the ring, is none.
static bool is_in_ring(const ph_arrivals* arrivals, uint32_t number)
{
    return arrivals->newest - number < PH_FLIGHT_MAX;
}

ph_arrivals ph_arrivals_make(uint32_t session)
{
    return (ph_arrivals){.newest = session};
}

ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon)
{
    for (uint32_t number = horizon; is_in_ring(arrivals, number); --number) {
        const ph_arrival* arrival = &arrivals->ring[number % PH_FLIGHT_MAX];
        if (arrival->eye.is_known) {
            return arrival->eye;
        }
    }
    return arrivals->older_eye;
}

uint32_t ph_arrivals_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                          uint16_t low_bits)
{
    if (!arrivals->last.is_applied) {
        return low_bits;
    }
    const uint64_t since_us = now_us > arrivals->last.time_us ? now_us - arrivals->last.time_us : 0;
    const uint32_t expected = arrivals->last.tick + (uint32_t)(since_us / tick_us);
    // Half a period back and half a period on: ticks wrap like numbers.
    const uint32_t earliest = expected - TICK_PERIOD / 2;
    return earliest + ((low_bits - earliest) & (TICK_PERIOD - 1));
}

// @return False when nothing was applied at or before the horizon.
static bool try_tick_at(const ph_arrivals* arrivals, uint32_t horizon, uint32_t* tick)
{
    for (uint32_t number = horizon; is_in_ring(arrivals, number); --number) {
        const ph_arrival* arrival = &arrivals->ring[number % PH_FLIGHT_MAX];
        if (arrival->is_applied) {
            *tick = arrival->tick;
            return true;
        }
    }
    *tick = arrivals->older_tick;
    return arrivals->has_older_tick;
}

bool ph_arrivals_try_coded_tick(const ph_arrivals* arrivals, const ph_header* header,
                                uint32_t* tick)
{
    uint32_t base = 0;
    const bool has_base = try_tick_at(arrivals, header->horizon, &base);
    const bool is_whole = header->tick == PH_CODED_TICK_WHOLE;
    if (!has_base && !is_whole) {
        return false;
    }
    *tick = is_whole ? header->whole_tick : base + header->tick;
    const bool is_needless = has_base && is_whole && *tick - base < PH_CODED_TICK_WHOLE;
    const bool is_back =
        arrivals->last.is_applied && *tick - arrivals->last.tick > (uint32_t)INT32_MAX;
    return !is_needless && !is_back;
}

void ph_arrivals_note(ph_arrivals* arrivals, uint32_t number, const ph_arrival* arrival)
{
    PH_ASSERT(number - arrivals->newest - 1 < PH_FLIGHT_MAX);

    while (arrivals->newest != number) {
        ph_arrival* oldest = at(arrivals, ++arrivals->newest);
        if (oldest->eye.is_known) {
            arrivals->older_eye = oldest->eye;
        }
        if (oldest->is_applied) {
            arrivals->older_tick = oldest->tick;
            arrivals->has_older_tick = true;
        }
        *oldest = (ph_arrival){0};
    }
    *at(arrivals, number) = *arrival;
    if (arrival->is_applied) {
        arrivals->last = *arrival;
    }
}

double ph_arrivals_measure(ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon, uint8_t wait)
{
    const ph_arrival* acked = at(arrivals, horizon);
    if (wait == PH_WAIT_UNKNOWN || !is_in_ring(arrivals, horizon) || !acked->is_heard ||
        now_us < acked->time_us) {
        return -1.0;
    }
    // The wait is cut to whole units: on average half of one was lost.
    const double waited_us = (wait + 0.5) * PH_WAIT_UNIT_US;
    const double measured_us = (double)(now_us - acked->time_us) - waited_us;
    const double rtt_us = measured_us > 1.0 ? measured_us : 1.0;
    arrivals->rtt_us = arrivals->rtt_us > 0.0
                           ? arrivals->rtt_us + RTT_SHARE * (rtt_us - arrivals->rtt_us)
                           : rtt_us;
    return rtt_us;
}

bool ph_arrivals_validate(const ph_arrivals* arrivals)
{
    for (int i = 0; i < PH_FLIGHT_MAX; ++i) {
        const ph_arrival* arrival = &arrivals->ring[i];
        if ((arrival->is_applied && !arrival->is_heard) ||
            (arrival->eye.is_known && !arrival->is_applied)) {
            return false;
        }
    }
    return arrivals->rtt_us >= 0.0;
}
