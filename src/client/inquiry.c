// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the game asks of the entities in view. At any time, once per entity and frame or so.

#include "client/client_state.h"

#include "schema/field.h"

#include <string.h>

// ---- who is there

static ph_entity_id id_of(const ph_mirror* mirror, int slot)
{
    return (ph_entity_id){.index1 = (uint32_t)slot + 1, .generation = mirror->association[slot]};
}

int ph_client_entity_count(const ph_client* client)
{
    return client->mirror.entered_count;
}

int ph_client_slot_count(const ph_client* client)
{
    return client->mirror.slot_count;
}

ph_entity_id ph_client_entity_at(const ph_client* client, int slot)
{
    const ph_mirror* mirror = &client->mirror;
    if (slot < 0 || slot >= mirror->slot_count || !ph_bitset_test(&mirror->is_entered, slot)) {
        return (ph_entity_id){0};
    }
    return id_of(mirror, slot);
}

ph_entity_id ph_client_find(const ph_client* client, uint64_t name)
{
    const int slot = ph_mirror_find(&client->mirror, name);
    return slot >= 0 ? id_of(&client->mirror, slot) : (ph_entity_id){0};
}

bool ph_client_is_in_view(const ph_client* client, ph_entity_id entity)
{
    return ph_mirror_slot_of(&client->mirror, entity) >= 0;
}

ph_result ph_client_identify(const ph_client* client, ph_entity_id entity, uint64_t* name,
                             int* class_index)
{
    const int slot = ph_mirror_slot_of(&client->mirror, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    if (name != NULL) {
        *name = client->mirror.name[slot];
    }
    if (class_index != NULL) {
        *class_index = client->mirror.class_index[slot];
    }
    return PH_OK;
}

ph_result ph_client_set_user(ph_client* client, ph_entity_id entity, void* user)
{
    const int slot = ph_mirror_slot_of(&client->mirror, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    client->mirror.user[slot] = user;
    return PH_OK;
}

void* ph_client_user(const ph_client* client, ph_entity_id entity)
{
    const int slot = ph_mirror_slot_of(&client->mirror, entity);
    return slot >= 0 ? client->mirror.user[slot] : NULL;
}

// ---- what is known of it

// The words as the game gets them: a reference to somebody who has left names nobody.
static void load(const ph_mirror* mirror, int slot, int p, uint32_t* words)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    const ph_property* property = &layout->described->properties[p];
    memcpy(words, ph_mirror_words(mirror, slot) + layout->word[p],
           (size_t)property->words * sizeof(uint32_t));
    if (property->def.coding == PH_CODING_ENTITY) {
        const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
        if (ph_mirror_slot_of(mirror, id) < 0) {
            words[0] = 0;
            words[1] = 0;
        }
    }
}

ph_result ph_client_get(const ph_client* client, ph_entity_id entity, void* state)
{
    const ph_mirror* mirror = &client->mirror;
    const int slot = ph_mirror_slot_of(mirror, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    for (int p = 0; p < layout->described->def.property_count; ++p) {
        const ph_property* property = &layout->described->properties[p];
        if (property->def.field == PH_FIELD_NONE) {
            continue;
        }
        if (property->is_text) {
            const ph_text text = ph_layout_text(layout, ph_mirror_texts(mirror, slot), p);
            ph_property_restore_text(property, text, state);
            continue;
        }
        uint32_t words[PH_VALUE_WORDS_MAX];
        load(mirror, slot, p, words);
        ph_property_restore(property, words, state);
    }
    return PH_OK;
}

ph_result ph_client_read(const ph_client* client, ph_entity_id entity, int property, ph_field field,
                         void* value, size_t size)
{
    const ph_mirror* mirror = &client->mirror;
    const int slot = ph_mirror_slot_of(mirror, entity);
    if (slot < 0) {
        return PH_ERROR_STALE;
    }
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    if (property < 0 || property >= layout->described->def.property_count ||
        !ph_property_suits(&layout->described->properties[property], field, size)) {
        return PH_ERROR_VALUE;
    }
    const ph_property* described = &layout->described->properties[property];
    if (described->is_text) {
        const ph_text text = ph_layout_text(layout, ph_mirror_texts(mirror, slot), property);
        return ph_text_restore(text, field, value, size);
    }
    uint32_t words[PH_VALUE_WORDS_MAX];
    load(mirror, slot, property, words);
    return ph_property_restore_field(described, field, words, value);
}
