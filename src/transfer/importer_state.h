// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An importer, for its two chapters: import_check.c reads a batch and refuses it, import.c makes it come true.

#ifndef PH_TRANSFER_IMPORTER_STATE_H
#define PH_TRANSFER_IMPORTER_STATE_H

#include "transfer/tombstones.h"
#include "transfer/transfer_wire.h"
#include "transfer/waiting_references.h"

// What the game is to be told of.
typedef struct ph_noted_event {
    ph_import_event event;
    ph_entity_id entity;
    uint64_t key;
} ph_noted_event;

struct ph_importer {
    ph_importer_def def;
    ph_import_stats stats;
    ph_waiting_references waiting;
    ph_tombstones tombstones;
    ph_transfer_record* records; // of the batch
    int record_capacity;
    ph_noted_event* events; // only where the game wants to know
    int event_capacity;
    int event_count;
    int new_counts[PH_CLASSES_MAX]; // entities that the batch may create, by class
    int new_count;                  // of all classes
    int reference_count;            // that it may leave waiting
    bool is_steady;                 // it creates and removes nothing: records know their entities
    ph_transfer_values values;      // of the record that was read last
    ph_batch_header header;
    ph_transfer_reader reader;
};

// Whether a state may become that without being another entity.
static inline bool ph_import_is_same_state(const ph_entities* entities,
                                           const ph_transfer_record* record, ph_entity_index index)
{
    return entities->incarnation[index] == record->incarnation &&
           entities->class_index[index] == record->class_index;
}

// Reads a batch into importer->records and takes the memory that it may need; nothing changes in the world.
// @return PH_OK; PH_ERROR_VALUE: *refusal says why it is none; PH_ERROR_MEMORY.
ph_result ph_importer_prepare(ph_importer* importer, const void* bytes, size_t size,
                              ph_import_refusal* refusal);

#endif
