// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer as replication sees it, and what is yet to be sent to its client of one entity: the
// present values as they go on the wire, compared with the newest ones that were sent.

#ifndef PH_REPLICATION_DIFF_H
#define PH_REPLICATION_DIFF_H

#include "entities/store.h"
#include "replication/sender.h"
#include "vision/slots.h"

// ---- the send context

// One viewer as its world hands it over.
typedef struct ph_seer {
    ph_viewer_id id;
    ph_slots* slots;
    ph_sender* sender;
    int32_t eye_mm[3];
    uint32_t sees;
    uint32_t audience;
    ph_entity_id own;
    bool is_urgent; // it is to see others from the next refresh on
    ph_lent_clock clock;
} ph_seer;

// What replication works with: one viewer, its slots and its side of the connection, and the store of
// all entities. Made for each send, ack or question; borrowed by everything that takes part in it.
typedef struct ph_send_context {
    const ph_store* store;
    ph_viewer_id viewer;
    ph_slots* slots;
    ph_sender* sender;
    ph_lent_clock clock;
    const ph_entity_index* entities; // by slot
    ph_slot_list shown;              // slots that show an entity
    int slot_end;                    // all of those lie before: sweeps go no further
    int32_t eye_x_mm;
    int32_t eye_y_mm;
    int32_t eye_z_mm;
    uint32_t sees;
    uint32_t audience;
    uint32_t settle_ticks; // what has not changed for so long has settled
    ph_entity_index own;   // the viewer's own entity now, which slot 0 may not show any more
    // The entities that slots show may all be sent. Unless a visibility was changed or an entity despawned
    // since the last tick, or the viewer is to see others: then each slot is asked. It saves asking and
    // decides nothing else: what was hidden or despawned may be none of this viewer's.
    bool are_all_there;
} ph_send_context;

ph_send_context ph_send_context_make(const ph_store* store, const ph_seer* seer);

// Whether the slot shows an entity that may be sent now: one that lives, and was not hidden since
// the last tick; in slot 0 the viewer's own entity only. Always so when
// are_all_there.
bool ph_send_context_is_there(const ph_send_context* context, int slot);

// One slot, and where what it shows is kept. Made once per visit, for all that ask about the slot.
typedef struct ph_place {
    int slot;
    int class_index;
    ph_entity_index entity; // PH_ENTITY_NONE when it is leaving
    const ph_layout* layout;
    const ph_packing* packing;
    ph_replica* replica;
} ph_place;

void ph_send_context_place(const ph_send_context* context, int slot, ph_place* at);

// ---- differences

// What differs, as masks of properties.
typedef struct ph_diff {
    uint64_t different;   // differs from the newest sent; of a position also: the client overshoots
    uint64_t significant; // of these: by the property's policy, or because it has settled
    uint64_t large;       // of these: by the property's significant difference alone
    uint64_t settled;     // of these: unchanged for a second that the viewer saw
    uint64_t out_of_range; // differs, but is sent only to viewers that are nearer
    float wake_mm2;        // square of the largest distance among those
} ph_diff;

// Compares the properties asked for. Only ENTERING and ENTERED slots, not what is sent once. words,
// unless NULL, is the block of a record: the present values are left in it, but for texts.
void ph_diff_compare(const ph_send_context* context, const ph_place* at, uint64_t asked,
                     uint32_t* words, ph_diff* diff);

// Whether a property with a distance of its own is too far away to be sent.
bool ph_diff_is_out_of_range(const ph_send_context* context, const ph_place* at, int property);

// What has not changed for a second that the viewer saw is sent exactly. What happened before the slot took the
// entity, perhaps while it was hidden, counts for nothing.
bool ph_diff_is_settled(const ph_send_context* context, const ph_place* at, uint32_t changed_tick);

// Of the dirty mask of the slot, keeps what of `asked` was found to differ, and remembers what was
// found to be out of range.
void ph_diff_keep(ph_replicas* replicas, const ph_place* at, uint64_t asked, const ph_diff* diff);

// Everything that an enter says: the position, and what is not at its initial value. The others of
// *rest differ, but are out of range.
uint64_t ph_diff_complete(const ph_send_context* context, const ph_place* at, ph_diff* rest);

// Fills the blocks of a record (packet/layout.h) with the present values of these properties.
void ph_diff_fill(const ph_send_context* context, const ph_place* at, uint64_t properties,
                  uint32_t* words, uint8_t* texts);

#endif
