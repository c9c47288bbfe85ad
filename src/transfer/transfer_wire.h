// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bytes of a batch (docs/wire_transfer.md): a header, then records, all of whole bytes; only the
// values of a record are a stream of bits. Written from a world; read without touching one. Once per entity
// that is exported or imported; nothing here allocates.

#ifndef PH_TRANSFER_TRANSFER_WIRE_H
#define PH_TRANSFER_TRANSFER_WIRE_H

#include "vision/entity_arrays.h"
#include "world/world_state.h"

#include <pinhole/bits.h>
#include <pinhole/transfer.h>

// ---- cells and channels

// Where an entity stands, for those who follow cells.
typedef struct ph_placement {
    ph_cell cell;
    uint64_t channels; // bit c: on channel c
} ph_placement;

ph_placement ph_placement_of(const ph_entities* entities, ph_entity_index index, int32_t cell_mm);

// Whether there are positions in it, or it is PH_CELL_EVERYWHERE.
bool ph_is_cell(ph_cell cell, int32_t cell_mm);

// Whether it stands in this cell and on this channel. Cheaper than the placement.
bool ph_is_in_cell(const ph_entities* entities, ph_entity_index index, ph_cell cell,
                   int32_t cell_mm);
uint64_t ph_channels_of_entity(const ph_entities* entities, ph_entity_index index);

// ---- the header

#define PH_BATCH_RECORDS_MAX 65535
#define PH_BATCH_HEADER_MAX 52

typedef struct ph_batch_header {
    bool is_whole;
    bool has_area;
    bool has_cell; // not both
    int record_count;
    uint32_t owner;
    uint32_t stamp;
    uint64_t fingerprint;
    ph_cell cell;
    int32_t cell_mm;
    int channel;
    uint64_t first_key; // of a whole export: the range of keys that it tells all of
    uint64_t last_key;
    int32_t from_mm[2]; // with an area, or of the cell; else everything
    int32_t to_mm[2];
} ph_batch_header;

size_t ph_batch_header_size(const ph_batch_header* header);
void ph_batch_header_write(const ph_batch_header* header, uint8_t* bytes);

// @return Whether it is one; else *refusal says why not. The schema is the caller's to compare.
bool ph_batch_header_read(ph_batch_header* header, const uint8_t* bytes, size_t size,
                          ph_import_refusal* refusal);

// Area and cell, or everything where there is none: the ends are those of the header.
static inline bool ph_batch_has_place(const ph_batch_header* header, const int32_t* place_mm)
{
    return header->from_mm[0] <= place_mm[0] && place_mm[0] <= header->to_mm[0] &&
           header->from_mm[1] <= place_mm[1] && place_mm[1] <= header->to_mm[1];
}

// Sets the ends: of the cell, of all positions where there is neither cell nor area.
void ph_batch_header_set_ends(ph_batch_header* header);

// ---- records

typedef enum ph_transfer_kind {
    PH_TRANSFER_REMOVED = 0,
    PH_TRANSFER_LEFT,
    PH_TRANSFER_CHANGED,
    PH_TRANSFER_STATE,
} ph_transfer_kind;

// No record is longer: head, key, incarnation, epoch, class, visibility, position, mask, and the values, where
// each reference may take 102 bits more than PH_CLASS_BITS_MAX counts for it.
#define PH_TRANSFER_REFERENCE_BITS_MAX (1 + 80 + 40)
#define PH_TRANSFER_RECORD_MAX                                                                     \
    (2 + 8 + 4 + 4 + 1 + 5 + 12 + 8 +                                                              \
     (PH_CLASS_BITS_MAX +                                                                          \
      PH_PROPERTIES_MAX * (PH_TRANSFER_REFERENCE_BITS_MAX - PH_REFERENCE_BITS_MAX) + 7) /          \
         8)
// Numbers are stored eight bytes at a time: so many behind a record are written to, too.
#define PH_TRANSFER_SLACK 8

_Static_assert(PH_BATCH_HEADER_MAX + PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK <=
                   PH_EXPORT_BATCH_BYTES_MIN,
               "every batch has room for any record");

// Strings and bytes of one entity together, each with a zero byte: PH_CLASS_BITS_MAX limits them.
#define PH_TRANSFER_TEXTS_MAX (PH_CLASS_BITS_MAX / 8 + PH_PROPERTIES_MAX)

// The properties of a class, but for the position; those of them that are references.
uint64_t ph_transfer_mask_of(const ph_class* described);
uint64_t ph_transfer_references_of(const ph_class* described);

// Of one that is gone: REMOVED or LEFT. All writers @return the size; the bytes have room for any record and
// PH_TRANSFER_SLACK.
size_t ph_transfer_write_gone(uint8_t* bytes, ph_transfer_kind kind, uint64_t key,
                              uint32_t incarnation, uint32_t epoch);

// Everything of a live entity. References outside of `named` are written as none.
size_t ph_transfer_write_state(uint8_t* bytes, const ph_store* store, ph_entity_index index,
                               uint64_t named);

// Some properties, and the position if it is to be there. Not nothing.
typedef struct ph_transfer_change {
    uint64_t key; // of the entity, as its incarnation: who writes many has them at hand
    uint32_t incarnation;
    ph_entity_index index;
    uint64_t mask;
    uint64_t named; // references that may be told
    bool has_position;
} ph_transfer_change;

size_t ph_transfer_write_changed(uint8_t* bytes, const ph_store* store,
                                 const ph_transfer_change* change);

// A record without its values, which begin at values_at.
typedef struct ph_transfer_record {
    uint64_t key;
    uint64_t mask; // properties, without the position
    uint32_t incarnation;
    uint32_t epoch;
    int32_t position_mm[3];
    uint32_t seen_by; // of a state
    uint32_t values_at;
    ph_entity_index index; // for the importer: which entity it is about, if there is one
    uint8_t kind;
    uint8_t class_index;
    uint8_t flags; // of a state
    bool has_position;
} ph_transfer_record;

_Static_assert(sizeof(ph_transfer_record) <= 56,
               "thousands of them are read before any is applied");

// What a reference names, in any world.
typedef struct ph_transfer_target {
    bool is_named; // false: it names nothing
    uint64_t key;
    uint32_t incarnation;
} ph_transfer_target;

// The values of a record. Of the arrays by property, those in its mask count.
typedef struct ph_transfer_values {
    int reference_count;
    ph_transfer_target targets[PH_PROPERTIES_MAX];
    uint32_t words[PH_PROPERTIES_MAX][PH_VALUE_WORDS_MAX];
    ph_text texts[PH_PROPERTIES_MAX];
    uint8_t text_bytes[PH_TRANSFER_TEXTS_MAX];
} ph_transfer_values;

// Bytes with records, and how far they are read.
typedef struct ph_transfer_reader {
    const uint8_t* bytes;
    size_t size;
    size_t at;
    const ph_schema* schema;
} ph_transfer_reader;

// The next record but for its values: they must be read before the next one. @return Whether there is such a
// record; else *refusal says why not.
bool ph_transfer_read(ph_transfer_reader* reader, ph_transfer_record* record,
                      ph_import_refusal* refusal);

// The values of the record, wherever the reader is; then it is behind them. Only where the mask is not 0.
bool ph_transfer_read_values(ph_transfer_reader* reader, const ph_transfer_record* record,
                             ph_transfer_values* values, ph_import_refusal* refusal);

#endif
