// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The state of one entity as it goes over the wire: a block of words and a block of texts.
//
// Words are those of src/schema/property.h, with two exceptions, because the client has no world:
//
//   POSITION   x, y, z in mm as the client will have them: rounded down to the finest step; z of a
//              class with a ground is the height of its layer
//   ENTITY     slot + 1 and association of the entity in the viewer's view, or 0 and 0
//
//   words   | x y z | heading | target target | name |     word[p] is where property p begins
//   texts   | length, bytes of name, zeros |               text[p], only STRING and BYTES
//
// The word of a text is a version in the world's blocks, and 0 in what was read from a packet.
// Made once for each class of a schema; read for every record.

#ifndef PH_PACKET_LAYOUT_H
#define PH_PACKET_LAYOUT_H

#include "base/bitset.h"
#include "schema/learned_models.h"
#include "schema/property.h"

#include <string.h>

// Without a mark the first ANGLE of a class that is not smooth is its heading, whatever its name: names are not on the
// wire. One with an orientation has none.
#define PH_HEADING_NONE 255

typedef struct ph_layout {
    const ph_class* described;
    uint16_t word[PH_PROPERTIES_MAX];
    uint32_t text[PH_PROPERTIES_MAX]; // byte offset of a uint16_t length, bytes behind it; even
    int word_count;
    uint32_t text_bytes;
    uint8_t heading_property; // or PH_HEADING_NONE
    uint8_t orientation_property;
    uint8_t orientation_bits; // for each of three components; 0: it has none
    uint8_t carrier_property;
    bool has_carrier;
    // The position, which nearly every record has.
    uint8_t position_property;
    bool has_ground;
    uint16_t position_word;
    ph_coordinate coordinate;
    // Pinhole: positions are told in steps of down to 1 << finest_shift mm, that of the coordinate halved so
    // often.
    int finest_shift;
    int finer;
    int flag_count;       // properties beside it
    int first_property;   // of the class, of all properties of the schema
    bool has_told_models; // the schema has learned how often each of the others is told
    uint64_t own_numbers; // those with a model of their own (learned_models.h)
    // Bits by property.
    uint64_t all;
    uint64_t position;    // exactly one bit
    uint64_t heading;     // or 0
    uint64_t orientation; // or 0
    uint64_t facing;      // one of these two, or 0
    uint64_t others;      // none of all these
    uint64_t references;
    uint64_t texts;
    uint64_t once;    // PH_SEND_ONCE
    uint64_t limited; // has a distance of its own
    uint64_t vivid;   // any difference of it is significant
    uint64_t smooth;  // shown at any moment (packet/smooth_parts.h)
    int smooth_parts; // of all of these
    // Written as their one word in so many bits, and legal up to a greatest one: most properties, and
    // by far the cheapest to write. The others go through property.h.
    uint64_t plain;
    uint8_t plain_bits[PH_PROPERTIES_MAX];
    uint32_t plain_top[PH_PROPERTIES_MAX];
    // The dearest enter there can be, with the widest slots: the whole record, without the header.
    int enter_bits_max;
} ph_layout;

// How heights are told where there is a ground.
const ph_altitude* ph_layout_altitude(const ph_layout* layout);

// All layouts of a schema, by class. {0} may be destroyed. The schema must outlive them.
typedef struct ph_layouts {
    ph_layout* layouts;
    int count;
    int word_count_max;
    uint32_t text_bytes_max;
    int enter_bits_max;
    bool has_carriers; // a class has
    bool has_finer;    // a class has a finest step below its step
    int smooth_parts_max;
    ph_model_set models; // of the schema
    ph_allocator allocator;
} ph_layouts;

// @return PH_OK, or PH_ERROR_MEMORY with *layouts set to {0}.
ph_result ph_layouts_create(ph_layouts* layouts, const ph_schema* schema,
                            const ph_allocator* allocator);

void ph_layouts_destroy(ph_layouts* layouts);

// Of the classic profile, which knows one step only.
void ph_layouts_forget_finest(ph_layouts* layouts);

// How often the step of the class was halved for a position that was told, as far as that can be seen: 0 where
// its coordinates are whole steps, though it may have been told exactly. x and y alone count, z may be the height of a
// ground.
int ph_layout_finer_of(const ph_layout* layout, const uint32_t words[2]);

// An entity of which nothing has been sent: every property at its initial value, texts empty.
// texts may be NULL when the class has none.
void ph_layout_reset(const ph_layout* layout, uint32_t* words, uint8_t* texts);

// Whether a property has the value that it has before anything is sent: what an enter leaves out. A
// text is initial when it is empty, whatever its word.
bool ph_layout_is_initial(const ph_layout* layout, const uint32_t* words, const uint8_t* texts,
                          int property);

// Content of a STRING or BYTES in a text block, borrowed.
ph_text ph_layout_text(const ph_layout* layout, const uint8_t* texts, int property);

// At most max_length bytes; what is left of the room becomes zero, so that blocks compare.
void ph_layout_store_text(const ph_layout* layout, uint8_t* texts, int property, ph_text text);

// What the client has of a position in the end: finest steps, and the ground where the class has one.
void ph_layout_round_position(const ph_layout* layout, const ph_ground* ground,
                              const int32_t position_mm[3], uint32_t words[3]);

// The values of one entity in few bytes, for what is kept per viewer: each word of a property
// takes 1, 2 or 4 bytes, as its range needs. Words are those of the wire (above); of a text
// its version, 0 when it is empty. What is sent but once is never compared, so it takes none; but for
// a position, which baselines begin with (baseline.h).
//
//   creature   | x y z | heading | behaviour | target ... [ how it turns ]     offset[p], size[p]
//
// Made once per class; packing and the diff run for every property of every visit.

// Bytes of the largest value: four words.
#define PH_PACKED_MAX (PH_VALUE_WORDS_MAX * 4)
#define PH_PACKED_POSITION 12 // of a position, whatever its coding
#define PH_PACKED_TURNING 40

typedef struct ph_packing {
    uint16_t offset[PH_PROPERTIES_MAX];
    uint8_t size[PH_PROPERTIES_MAX];   // in bytes, 0: sent once, and no position
    uint8_t widths[PH_PROPERTIES_MAX]; // two bits a word: 0, 1, 2, 3 for 0, 1, 2, 4 bytes
    // Behind the values of a class with an orientation: how it turned (baseline.h); 0: it has none.
    uint16_t turning;
    uint16_t stride; // bytes of all of them
    // All values of an entity that is new.
    uint8_t initial[PH_PROPERTIES_MAX * PH_PACKED_MAX + PH_PACKED_TURNING];
} ph_packing;

ph_packing ph_packing_make(const ph_layout* layout);

// One value, size[property] bytes.
void ph_packing_store(const ph_packing* packing, int property, const uint32_t* words,
                      uint8_t* bytes);

void ph_packing_load(const ph_packing* packing, int property, const uint8_t* bytes,
                     uint32_t* words);

// Whether the bytes hold this value.
bool ph_packing_is_same(const ph_packing* packing, int property, const uint32_t* words,
                        const uint8_t* bytes);

// Positions are three whole words, so they need no walk.
_Static_assert(PH_PACKED_POSITION == 3 * sizeof(uint32_t), "x, y, z");

bool ph_packing_is_same_position(const uint32_t words[3], const uint8_t* bytes);

// A set of properties, packed one behind the other: how many bytes, and those bytes, from a block
// that is laid out by the class.
size_t ph_packing_size(const ph_packing* packing, uint64_t properties);

// Where the value of one of them begins; bit says which.
const uint8_t* ph_packing_within(const ph_packing* packing, uint64_t properties, uint64_t bit,
                                 const uint8_t* bytes);

// Of the words of an entity.
void ph_packing_store_all(const ph_packing* packing, const ph_layout* layout, uint64_t properties,
                          const uint32_t* words, uint8_t* bytes);

// From such bytes to where each property has its place in those of an entity.
void ph_packing_spread(const ph_packing* packing, uint64_t properties, const uint8_t* bytes,
                       uint8_t* all);

#endif
