// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client from its creation to its end, what it answers, and how it goes. Memory is taken at
// creation and at no other time; it grows with slot_capacity and the largest class alone.

#include "client/client_state.h"

#include "base/allocator.h"
#include "base/bitset.h"

#define CLIENT_COOKIE UINT32_C(0x70636C69)

#define SLOT_CAPACITY_DEFAULT 512
#define SLOT_CAPACITY_MIN 2
#define SLOT_CAPACITY_MAX 65535
#define SHOW_DELAY_MAX_MS 10000

// ---- creation

ph_client_def ph_client_def_default(void)
{
    return (ph_client_def){
        .profile = PH_PROFILE_PINHOLE,
        .slot_capacity = SLOT_CAPACITY_DEFAULT,
        .cookie = CLIENT_COOKIE,
    };
}

static bool is_sensible(const ph_client_def* def)
{
    PH_ASSERT(def->cookie == CLIENT_COOKIE); // start from ph_client_def_default()

    return def->schema != NULL && def->profile >= 0 && def->profile < PH_PROFILE_COUNT &&
           def->slot_capacity >= SLOT_CAPACITY_MIN && def->slot_capacity <= SLOT_CAPACITY_MAX &&
           def->show_delay_ms >= 0 && def->show_delay_ms <= SHOW_DELAY_MAX_MS;
}

static ph_result create_parts(ph_client* client)
{
    const ph_allocator* allocator = &client->def.allocator;
    const int capacity = client->def.slot_capacity;
    ph_result result = ph_layouts_create(&client->layouts, client->def.schema, allocator);
    if (result == PH_OK) {
        result = ph_mirror_create(&client->mirror, &client->layouts, allocator, capacity);
    }
    if (result == PH_OK) {
        result = ph_events_create(&client->events, allocator, capacity);
    }
    if (result == PH_OK) {
        result = ph_draft_create(&client->draft, &client->layouts, allocator, client->def.profile,
                                 capacity);
    }
    if (result == PH_OK && client->def.profile == PH_PROFILE_PINHOLE) {
        result = ph_horizon_create(&client->horizon, &client->layouts, allocator, capacity);
    }
    if (result == PH_OK) {
        result = ph_display_create(&client->display, &client->layouts, allocator, capacity);
        client->display.delay_us = (int64_t)client->def.show_delay_ms * 1000;
    }
    return result;
}

ph_result ph_client_create(const ph_client_def* def, ph_client** client)
{
    *client = NULL;
    if (!is_sensible(def)) {
        return PH_ERROR_RANGE;
    }
    ph_client* made = ph_allocate_zeroed(&def->allocator, sizeof(ph_client));
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->def = *def;
    const ph_result result = create_parts(made);
    if (result != PH_OK) {
        ph_client_destroy(made);
        return result;
    }
    *client = made;
    return PH_OK;
}

void ph_client_destroy(ph_client* client)
{
    if (client == NULL) {
        return;
    }
    const ph_allocator allocator = client->def.allocator;
    ph_display_destroy(&client->display);
    ph_horizon_destroy(&client->horizon);
    ph_draft_destroy(&client->draft);
    ph_events_destroy(&client->events);
    ph_mirror_destroy(&client->mirror);
    ph_layouts_destroy(&client->layouts);
    ph_release(&allocator, client, sizeof(ph_client));
}

// ---- answers

size_t ph_client_ack(ph_client* client, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE])
{
    if (!client->session.has_begun) {
        return 0;
    }
    ph_arrivals* arrivals = &client->session.arrivals;
    ph_ack ack = arrivals->receipt;
    ack.lag_ms = ph_arrivals_answer(arrivals, ph_client_clamp_us(now_us));
    ph_ack_write(&ack, bytes);
    return PH_ACK_SIZE;
}

uint64_t ph_client_ack_due_us(const ph_client* client)
{
    return ph_arrivals_answer_due_us(&client->session.arrivals);
}

bool ph_client_poll(ph_client* client, ph_event* event)
{
    return ph_events_poll(&client->events, &client->mirror, event);
}

// ---- how it goes

// Of the numbers that an ack speaks of, those that were not applied.
static double loss_of(const ph_session* session)
{
    const uint64_t sent = session->arrivals.number_count;
    if (sent == 0) {
        return 0.0;
    }
    const double spoken_of = sent < PH_FLIGHT_MAX ? (double)sent : (double)PH_FLIGHT_MAX;
    return 1.0 - ph_word_count_bits(session->arrivals.receipt.applied) / spoken_of;
}

ph_client_stats ph_client_get_stats(const ph_client* client)
{
    const ph_session* session = &client->session;
    ph_client_stats stats = client->counts;
    stats.kbps = (double)client->rate.last_bytes * 8.0 / 1000.0;
    if (session->has_begun) {
        stats.loss = loss_of(session);
        stats.rtt_ms = client->display.clock.rtt_us / 1000.0;
        stats.newest_tick = (uint32_t)session->arrivals.last.tick;
        stats.tick_us = session->hello.tick_us;
    }
    return stats;
}
