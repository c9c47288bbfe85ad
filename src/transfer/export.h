// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What all exports share: which entities and properties are told, and an export at one go, of a world, an
// area or a cell.

#ifndef PH_TRANSFER_EXPORT_H
#define PH_TRANSFER_EXPORT_H

#include "transfer/transfer_wire.h"

// Bits of the properties, without the position, that changed since a tick.
uint64_t ph_export_changes_since(const ph_store* store, ph_entity_index index, uint32_t since_tick);

// References of an entity that name one which those who follow these channels may know of: it is public, or
// on all of them. Those that are OWN know of public ones only. So a record is the same on all channels of its
// entity.
uint64_t ph_export_named(const ph_store* store, ph_entity_index index, uint64_t channels);

typedef struct ph_export_request {
    const ph_world* world;
    ph_batch_header
        header;     // but for keys, ends of a cell and count; whole or changes, with area or cell
    uint32_t owner; // whose entities
    uint32_t since_tick; // of changes
    int batch_bytes;
    const ph_entity_index* candidates; // of a cell: who may be in it
    int candidate_count;
} ph_export_request;

// @return PH_OK, or PH_ERROR_MEMORY with nothing delivered.
ph_result ph_export_at_once(const ph_export_request* request, ph_export_fn* deliver, void* context);

#endif
