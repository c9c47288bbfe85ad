// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client from its creation to its end: acks, events, statistics, and what the game asks
// of the entities in view (at any time, once per entity and frame or so). Memory is taken at creation
// and at no other time; it grows with slot_capacity and the largest class alone. What comes in is in
// receive.c, what is shown in display.c.

#include "client/client_state.h"

#include "base/allocator.h"
#include "base/bitset.h"
#include "schema/property.h"

#include <string.h>

#define CLIENT_COOKIE UINT32_C(0x70636C69)

#define SLOT_CAPACITY_DEFAULT 512
#define SLOT_CAPACITY_MIN 2
#define SLOT_CAPACITY_MAX 65535
#define SHOW_DELAY_MAX_MS 10000
#define REORDER_WAIT_DEFAULT_MS 30
#define REORDER_WAIT_MAX_MS 100

// ---- creation

ph_client_def ph_client_def_default(void)
{
    return (ph_client_def){
        .profile = PH_PROFILE_PINHOLE,
        .slot_capacity = SLOT_CAPACITY_DEFAULT,
        .reorder_wait_ms = REORDER_WAIT_DEFAULT_MS,
        .cookie = CLIENT_COOKIE,
    };
}

static void check_client_def(ph_check* check, const ph_client_def* def)
{
    ph_check_made(check, def->cookie == CLIENT_COOKIE, "ph_client_def");
    ph_check_that(check, def->schema != NULL, "ph_client_def.schema", "NULL", "a schema");
    ph_check_range(check, "ph_client_def.profile", def->profile, 0, PH_PROFILE_COUNT - 1);
    ph_check_range(check, "ph_client_def.slot_capacity", def->slot_capacity, SLOT_CAPACITY_MIN,
                   SLOT_CAPACITY_MAX);
    ph_check_range(check, "ph_client_def.interpolation_delay_ms", def->interpolation_delay_ms, 0,
                   SHOW_DELAY_MAX_MS);
    ph_check_range(check, "ph_client_def.reorder_wait_ms", def->reorder_wait_ms, 0,
                   REORDER_WAIT_MAX_MS);
}

ph_result ph_client_create_parts(ph_client* client, const ph_layouts* layouts)
{
    const ph_allocator* allocator = &client->def.allocator;
    const int capacity = client->def.slot_capacity;
    ph_result result = ph_client_entities_create(&client->entities, layouts, allocator, capacity);
    if (result == PH_OK) {
        result = ph_events_create(&client->events, allocator, capacity);
    }
    if (result == PH_OK) {
        result = ph_decoded_packet_create(&client->decoded, layouts, allocator, client->def.profile,
                                          capacity);
    }
    if (result == PH_OK && client->def.profile == PH_PROFILE_PINHOLE) {
        result = ph_client_baselines_create(&client->baselines, layouts, allocator, capacity);
    }
    if (result == PH_OK) {
        result = ph_display_create(&client->display, layouts, allocator, capacity);
        client->display.delay_us = (int64_t)client->def.interpolation_delay_ms * 1000;
        client->reorder.most_us = (uint32_t)client->def.reorder_wait_ms * 1000;
    }
    return result;
}

ph_result ph_client_create(const ph_client_def* def, ph_client** client)
{
    *client = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    check_client_def(&check, def);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_client* made = ph_allocate_zeroed(&def->allocator, sizeof(ph_client));
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    made->def = *def;
    ph_result result = ph_layouts_create(&made->layouts, def->schema, &def->allocator);
    if (result == PH_OK) {
        result = ph_client_create_parts(made, &made->layouts);
    }
    if (result != PH_OK) {
        ph_client_destroy(made);
        return ph_fail_memory(&check); // nothing else can fail
    }
    *client = made;
    return PH_OK;
}

void ph_client_destroy_parts(ph_client* client)
{
    ph_display_destroy(&client->display);
    ph_client_baselines_destroy(&client->baselines);
    ph_decoded_packet_destroy(&client->decoded);
    ph_events_destroy(&client->events);
    ph_client_entities_destroy(&client->entities);
}

void ph_client_destroy(ph_client* client)
{
    if (client == NULL) {
        return;
    }
    const ph_allocator allocator = client->def.allocator;
    ph_client_destroy(client->former); // its layouts are ours
    ph_client_destroy_parts(client);
    ph_layouts_destroy(&client->layouts);
    ph_release(&allocator, client, sizeof(ph_client));
}

// ---- acks and events

size_t ph_client_write_ack(ph_client* client, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE])
{
    if (!client->session.has_begun) {
        return 0;
    }
    ph_client_release_held(client, ph_clock_clamp_us(now_us));
    ph_arrivals* arrivals = &client->session.arrivals;
    ph_ack ack = arrivals->receipt;
    ack.lag_ms = ph_arrivals_ack(arrivals, ph_clock_clamp_us(now_us));
    ph_ack_write(&ack, bytes);
    return PH_ACK_SIZE;
}

uint64_t ph_client_ack_due_us(const ph_client* client)
{
    const uint64_t held_us = ph_reorder_due_us(&client->reorder);
    const uint64_t ack_us = ph_arrivals_ack_due_us(&client->session.arrivals);
    return held_us < ack_us ? held_us : ack_us;
}

bool ph_client_poll(ph_client* client, ph_event* event)
{
    for (ph_client* at = client->former; at != NULL; at = at->former) {
        if (ph_events_poll(&at->events, &at->entities, event)) {
            return true; // what leaves there may enter here
        }
    }
    if (client->former != NULL) {
        ph_client_release_former(client);
    }
    return ph_events_poll(&client->events, &client->entities, event);
}

// ---- statistics

// The share of the sequences in an ack that were not applied.
static double loss_of(const ph_session* session)
{
    const uint64_t sent = session->arrivals.sequence_count;
    if (sent == 0) {
        return 0.0;
    }
    const double in_ack = sent < PH_FLIGHT_MAX ? (double)sent : (double)PH_FLIGHT_MAX;
    return 1.0 - ph_word_count_bits(session->arrivals.receipt.applied) / in_ack;
}

ph_client_stats ph_client_get_stats(const ph_client* client)
{
    const ph_session* session = &client->session;
    ph_client_stats stats = client->counts;
    stats.received_kbps = (double)client->rate.last_bytes * 8.0 / 1000.0;
    if (session->has_begun) {
        stats.loss = loss_of(session);
        stats.rtt_ms = client->display.clock.rtt_us / 1000.0;
        stats.newest_tick = (uint32_t)session->arrivals.last.tick;
        stats.tick_us = session->hello.tick_us;
    }
    return stats;
}

// ---- which entities are in view

int ph_client_entity_count(const ph_client* client)
{
    int count = 0;
    for (const ph_client* at = client; at != NULL; at = at->former) {
        count += at->entities.entered_count;
    }
    return count;
}

int ph_client_slot_count(const ph_client* client)
{
    int count = 0;
    for (const ph_client* at = client; at != NULL; at = at->former) {
        count += at->entities.slot_count;
    }
    return count;
}

static ph_entity_id entity_in_slot(const ph_client* client, int slot)
{
    const ph_client_entities* entities = &client->entities;
    return slot < entities->slot_count && ph_bitset_test(&entities->is_entered, slot)
               ? ph_client_entities_id(entities, slot)
               : (ph_entity_id){0};
}

// The viewer's own stands in slot 0 also while only a server before this one has shown it.
static ph_entity_id own_entity(const ph_client* client)
{
    ph_entity_id own = {0};
    for (const ph_client* at = client; at != NULL && own.index1 == 0; at = at->former) {
        own = entity_in_slot(at, 0);
    }
    return own;
}

ph_entity_id ph_client_entity_at(const ph_client* client, int slot)
{
    if (slot <= 0) {
        return slot == 0 ? own_entity(client) : (ph_entity_id){0};
    }
    for (const ph_client* at = client; at != NULL; at = at->former) {
        if (slot < at->entities.slot_count) {
            const ph_entity_id found = entity_in_slot(at, slot);
            const ph_entity_id own = slot == 0 ? own_entity(client) : (ph_entity_id){0};
            // It was in slot 0 already.
            return found.index1 == own.index1 && found.generation == own.generation
                       ? (ph_entity_id){0}
                       : found;
        }
        slot -= at->entities.slot_count;
    }
    return (ph_entity_id){0};
}

ph_entity_id ph_client_find(const ph_client* client, uint64_t key)
{
    const ph_client* owner;
    const int slot = ph_client_locate_key(client, key, &owner);
    return slot >= 0 ? ph_client_entities_id(&owner->entities, slot) : (ph_entity_id){0};
}

bool ph_client_is_in_view(const ph_client* client, ph_entity_id entity)
{
    const ph_client* owner;
    return ph_client_locate(client, entity, &owner) >= 0;
}

ph_result ph_client_identify(const ph_client* client, ph_entity_id entity, uint64_t* key,
                             int* class_index)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    if (key != NULL) {
        *key = owner->entities.key[slot];
    }
    if (class_index != NULL) {
        *class_index = owner->entities.class_index[slot];
    }
    return PH_OK;
}

ph_result ph_client_set_user(ph_client* client, ph_entity_id entity, void* user)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    owner->entities.user[slot] = user;
    return PH_OK;
}

void* ph_client_user(const ph_client* client, ph_entity_id entity)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    return slot >= 0 ? owner->entities.user[slot] : NULL;
}

// ---- their values

// The entity that a reference names, by the slots of the server that has written it; {0} once it has left.
static ph_entity_id referred(const ph_client* client, const ph_client_entities* entities,
                             const uint32_t words[2])
{
    const uint32_t slot = words[0] - 1;
    if (words[0] == 0 || slot >= (uint32_t)entities->slot_count ||
        entities->association[slot] != words[1]) {
        return (ph_entity_id){0};
    }
    const ph_entity_id id = ph_client_entities_id(entities, (int)slot);
    return ph_client_is_in_view(client, id) ? id : (ph_entity_id){0};
}

// The words as the game gets them: a reference to an entity that has left is null.
static void load_words(const ph_client* client, const ph_client_entities* entities, int slot, int p,
                       uint32_t* words)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    const ph_property* property = &layout->described->properties[p];
    memcpy(words, ph_client_entities_words(entities, slot) + layout->word[p],
           (size_t)property->words * sizeof(uint32_t));
    if (property->def.coding == PH_CODING_ENTITY) {
        const ph_entity_id id = referred(client, entities, words);
        words[0] = id.index1;
        words[1] = id.generation;
    }
}

// The parts of a field that shown numbers belong to. Integers take the nearest, which they hold: what is shown lies
// within lo..hi. Angles stay below a full turn, as in ph_client_get_struct().
static void store_shown(const ph_property* property, const double numbers[4], int count,
                        void* state)
{
    const ph_field element = ph_field_element(property->def.field);
    uint8_t* bytes = (uint8_t*)state + property->def.offset;
    for (int i = 0; i < count; ++i) {
        if (property->def.coding == PH_CODING_ANGLE) {
            (void)ph_property_store_angle(property, element, numbers[i], bytes);
        } else {
            (void)ph_field_store_real(element, numbers[i], bytes);
        }
        bytes += ph_field_size(element, 0);
    }
}

static void fill_struct(const ph_client* client, const ph_client* owner, int slot, bool is_shown,
                        void* state)
{
    const ph_client_entities* entities = &owner->entities;
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    for (int p = 0; p < layout->described->def.property_count; ++p) {
        const ph_property* property = &layout->described->properties[p];
        if (property->def.field == PH_FIELD_NONE) {
            continue;
        }
        if (property->is_text) {
            const ph_text text =
                ph_layout_text(layout, ph_client_entities_texts(entities, slot), p);
            ph_property_restore_text(property, text, state);
            continue;
        }
        if (is_shown && property->def.is_smooth) {
            double numbers[4];
            const int count =
                ph_smooth_display_get(&owner->display.smooth, slot, layout, p,
                                      ph_client_entities_words(entities, slot), numbers);
            store_shown(property, numbers, count, state);
            continue;
        }
        uint32_t words[PH_VALUE_WORDS_MAX];
        load_words(client, entities, slot, p, words);
        ph_property_restore(property, words, state);
    }
}

ph_result ph_client_get_struct(const ph_client* client, ph_entity_id entity, void* state)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    fill_struct(client, owner, slot, false, state);
    return PH_OK;
}

ph_result ph_client_get_shown_struct(const ph_client* client, ph_entity_id entity, void* state)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    fill_struct(client, owner, slot, true, state);
    return PH_OK;
}

ph_result ph_client_get_shown(const ph_client* client, ph_entity_id entity, int property,
                              double numbers[4])
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const ph_layout* layout = ph_client_entities_layout(&owner->entities, slot);
    ph_check call = ph_check_begin(client->def.on_error, client->def.on_error_context, __func__);
    ph_check_range(&call, "property", property, 0, layout->described->def.property_count - 1);
    if (call.result == PH_OK) {
        const ph_property_def* def = &layout->described->properties[property].def;
        ph_check_that(&call, def->is_smooth, "property", def->name, "smooth (is_smooth)");
    }
    if (call.result != PH_OK) {
        return PH_ERROR_ARGUMENT;
    }
    (void)ph_smooth_display_get(&owner->display.smooth, slot, layout, property,
                                ph_client_entities_words(&owner->entities, slot), numbers);
    return PH_OK;
}

ph_result ph_client_get_property(const ph_client* client, ph_entity_id entity, int property,
                                 ph_field field, void* value, size_t size)
{
    const ph_client* owner;
    const int slot = ph_client_locate(client, entity, &owner);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const ph_client_entities* entities = &owner->entities;
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    ph_check call = ph_check_begin(client->def.on_error, client->def.on_error_context, __func__);
    if (ph_property_check_call(&call, layout->described, property, field, size) != PH_OK) {
        return PH_ERROR_ARGUMENT;
    }
    const ph_property* described = &layout->described->properties[property];
    ph_result result;
    if (described->is_text) {
        const ph_text text =
            ph_layout_text(layout, ph_client_entities_texts(entities, slot), property);
        result = ph_text_restore(text, field, value, size);
    } else {
        uint32_t words[PH_VALUE_WORDS_MAX];
        load_words(client, entities, slot, property, words);
        result = ph_property_restore_field(described, field, words, value);
    }
    return result == PH_OK
               ? PH_OK
               : ph_property_fail_out(&call, layout->described, property, result, field, size);
}
