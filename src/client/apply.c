// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records take effect; they cannot fail any more. A few dozen times per packet.

#include "client/apply.h"

static void leave(ph_client* client, int slot)
{
    ph_events_leave(&client->events, &client->mirror, slot);
    ph_mirror_leave(&client->mirror, slot);
    ++client->counts.leaves;
}

static void apply_leave(ph_client* client, const ph_record* record)
{
    if (record->association != client->mirror.association[record->slot]) {
        ph_mirror_skip(&client->mirror, record->slot);
    } else if (ph_bitset_test(&client->mirror.is_entered, record->slot)) {
        leave(client, record->slot);
    }
}

static void apply_enter(ph_client* client, const ph_record* record)
{
    const int known = ph_mirror_find(&client->mirror, record->name);
    if (known >= 0 && known != record->slot) {
        leave(client, known); // surely left by the server; its leave got lost or comes later
    }
    const bool is_again = known == record->slot;
    const uint64_t properties = ph_mirror_enter(&client->mirror, record);
    if (is_again) {
        ph_events_update(&client->events, record->slot, properties);
        ++client->counts.updates;
    } else {
        ph_events_enter(&client->events, record->slot, properties);
        ph_display_enter(&client->display, record->slot);
        ++client->counts.enters;
    }
    ph_display_told(&client->display, &client->mirror, record, properties);
}

static void apply_update(ph_client* client, const ph_record* record)
{
    ph_mirror_update(&client->mirror, record);
    ph_events_update(&client->events, record->slot, record->properties);
    ph_display_told(&client->display, &client->mirror, record, record->properties);
    ++client->counts.updates;
}

// Leaves first: they make room for names.
void ph_client_apply(ph_client* client)
{
    const ph_draft* draft = &client->draft;
    for (int i = 0; i < draft->enter_first; ++i) {
        apply_leave(client, &draft->records[i]);
    }
    for (int i = draft->enter_first; i < draft->update_first; ++i) {
        apply_enter(client, &draft->records[i]);
    }
    for (int i = draft->update_first; i < draft->count; ++i) {
        apply_update(client, &draft->records[i]);
    }
}
