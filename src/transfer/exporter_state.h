// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an exporter remembers, for its two chapters: exporter.c tells what has changed, exporter_cells.c a whole cell.
//
//   told   in the order of keys:  │ key, entity, stream │ key, entity, stream │ ...      (swept)
//          beside it:             │ channels, cell ...  │ ...                            (rarely read)

#ifndef PH_TRANSFER_EXPORTER_STATE_H
#define PH_TRANSFER_EXPORTER_STATE_H

#include "transfer/streams.h"

#include <pinhole/transfer.h>

// What is swept: of one entity, alive when it was put here.
typedef struct ph_told_entity {
    uint64_t key;
    ph_entity_index index;
    uint32_t spawn_mark; // low bits of its spawn order: another one means that it is gone
    uint32_t incarnation;
    uint32_t stream; // where it was told; none for one that is on several or on no channel
} ph_told_entity;

// The rest of it: read where something else than its values has changed.
typedef struct ph_told_place {
    uint64_t channels; // where it was told, with the cell; 0: nowhere
    uint64_t was_channels;
    uint64_t named; // references that were told as naming an entity
    ph_cell cell;
    ph_cell was_cell;
    uint32_t epoch;
    uint32_t was_epoch;
} ph_told_place;

// Of the properties of a class.
typedef struct ph_exported_class {
    uint64_t all; // but for the position
    uint64_t references;
    uint32_t size_max; // of a record
    uint32_t first_words;
    const uint32_t* first_value; // the column of its first property, if it has one
} ph_exported_class;

// Who is on a stream: entities[ends[stream - 1]..ends[stream] - 1]. Made when a cell is asked for, for all cells at
// once: when a front-end starts, it asks for each of them.
typedef struct ph_stream_members {
    uint32_t* ends;
    ph_entity_index* entities;
    size_t end_count; // room
    size_t entity_count;
    bool is_current; // since the last call of changes
} ph_stream_members;

struct ph_exporter {
    ph_exporter_def def;
    ph_streams streams;
    ph_stream_members members;
    ph_exported_class* classes;
    ph_told_entity* told;
    ph_told_place* places;
    uint32_t* departing; // which of those told are no longer where they were
    int told_count;
    int departing_count;
    int capacity;
    uint64_t next_spawn_order; // what was spawned before is in `told`
    uint32_t since_tick;
    bool has_values; // some class has properties beside the position
    bool has_dead;
    bool lacks_memory; // something could not be told
};

// Gives back who is on which stream.
void ph_exporter_forget_members(ph_exporter* exporter);

#endif
