// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bytes of a batch (docs/wire_transfer.md): a header of whole bytes, then records as a stream of
// bits. Written from a world; read into a decoded record, which touches no world. Once per entity that is
// exported or imported; nothing here allocates.

#ifndef PH_TRANSFER_TRANSFER_WIRE_H
#define PH_TRANSFER_TRANSFER_WIRE_H

#include "world/world_state.h"

#include <pinhole/bits.h>
#include <pinhole/transfer.h>

// ---- the header

#define PH_BATCH_RECORDS_MAX 65535
#define PH_BATCH_HEADER_MAX 52

typedef struct ph_batch_header {
    bool is_whole;
    bool has_area;
    int record_count;
    uint32_t owner;
    uint32_t tick;
    uint64_t fingerprint;
    uint64_t first_key; // of a whole export: the range of keys that it tells all of
    uint64_t last_key;
    int32_t from_mm[2]; // with an area
    int32_t to_mm[2];
} ph_batch_header;

size_t ph_batch_header_size(const ph_batch_header* header);
void ph_batch_header_write(const ph_batch_header* header, uint8_t* bytes);

// @return Whether it is one; else *refusal says why not. The schema is the caller's to compare.
bool ph_batch_header_read(ph_batch_header* header, const uint8_t* bytes, size_t size,
                          ph_import_refusal* refusal);

bool ph_batch_has_place(const ph_batch_header* header, const int32_t* place_mm);

// ---- records

typedef enum ph_transfer_kind {
    PH_TRANSFER_REMOVED = 0,
    PH_TRANSFER_CHANGED,
    PH_TRANSFER_STATE,
    PH_TRANSFER_KIND_COUNT
} ph_transfer_kind;

// Strings and bytes of one entity together, each with a zero byte: PH_CLASS_BITS_MAX limits them.
#define PH_TRANSFER_TEXTS_MAX (PH_CLASS_BITS_MAX / 8 + PH_PROPERTIES_MAX)

// What a reference names, in any world.
typedef struct ph_transfer_target {
    bool is_named; // false: it names nothing
    uint64_t key;
    uint32_t incarnation;
} ph_transfer_target;

// A record as it was read. Of the arrays by property, those in the mask count.
typedef struct ph_transfer_record {
    ph_transfer_kind kind;
    uint64_t key;
    uint32_t incarnation;
    uint32_t epoch;
    int class_index;
    uint32_t seen_by; // of a state
    uint8_t flags;    // of a state
    bool has_position;
    int32_t position_mm[3];
    uint64_t mask; // properties, without the position
    int reference_count;
    // By property.
    ph_transfer_target targets[PH_PROPERTIES_MAX];
    uint32_t words[PH_PROPERTIES_MAX][PH_VALUE_WORDS_MAX];
    ph_text texts[PH_PROPERTIES_MAX];
    uint8_t text_bytes[PH_TRANSFER_TEXTS_MAX];
} ph_transfer_record;

void ph_transfer_write_removed(ph_bit_writer* writer, const ph_removal* removal);

// Everything of a live entity.
void ph_transfer_write_state(ph_bit_writer* writer, const ph_store* store, ph_entity_index index);

// Some properties, and the position if it is to be there. Not nothing.
void ph_transfer_write_changed(ph_bit_writer* writer, const ph_store* store, ph_entity_index index,
                               uint64_t mask, bool has_position);

// Fails stickily: PH_ERROR_END where the bytes end, PH_ERROR_VALUE where a value is wrong.
// @return Whether there is such a record; false also when the reader has failed.
bool ph_transfer_read(ph_bit_reader* reader, const ph_schema* schema, ph_transfer_record* record);

// The properties of a class, but for the position.
uint64_t ph_transfer_mask_of(const ph_class* described);

#endif
