// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The state of one entity as it goes over the wire: a block of words and a block of texts.
//
// Words are those of src/schema/property.h, with two exceptions, because the client has no world:
//
//   POSITION   x, y, z in mm as the client will have them: rounded down to the step; z of a class
//              with a ground is the height of its layer
//   ENTITY     slot + 1 and association of the entity in the viewer's view, or 0 and 0
//
//   words   | x y z | heading | target target | name |     word[p] is where property p begins
//   texts   | length, bytes of name, zeros |               text[p], only STRING and BYTES
//
// The word of a text is a version in the world's blocks, and 0 in what was read from a packet.
// Made once for each class of a schema; read for every record.

#ifndef PH_WIRE_LAYOUT_H
#define PH_WIRE_LAYOUT_H

#include "schema/property.h"

// The first ANGLE of a class is its heading, whatever its name: names are not on the wire.
#define PH_HEADING_NONE 255

typedef struct ph_layout {
    const ph_class* described;
    uint16_t word[PH_PROPERTIES_MAX];
    uint32_t text[PH_PROPERTIES_MAX]; // byte offset of a uint16_t length, bytes behind it; even
    int word_count;
    uint32_t text_bytes;
    uint8_t heading_property; // or PH_HEADING_NONE
    // The position, which nearly every record has.
    uint8_t position_property;
    bool has_ground;
    uint16_t position_word;
    ph_coordinate coordinate;
    int flag_count; // properties beside it
    // Bits by property.
    uint64_t all;
    uint64_t position; // exactly one bit
    uint64_t heading;  // or 0
    uint64_t others;   // neither of these
    uint64_t references;
    uint64_t texts;
    uint64_t once;    // PH_SEND_ONCE
    uint64_t limited; // has a distance of its own
    uint64_t vivid;   // any difference of it is significant
    // Written as their one word in so many bits, and legal up to a greatest one: most properties, and
    // by far the cheapest to write. The others go through property.h.
    uint64_t plain;
    uint8_t plain_bits[PH_PROPERTIES_MAX];
    uint32_t plain_top[PH_PROPERTIES_MAX];
    // The dearest enter there can be, with the widest slots: the whole record, without the header.
    int enter_bits_max;
} ph_layout;

// How heights are told where there is a ground.
static inline const ph_altitude* ph_layout_altitude(const ph_layout* layout)
{
    return &layout->described->properties[layout->position_property].altitude;
}

// All layouts of a schema, by class. {0} may be destroyed. The schema must outlive them.
typedef struct ph_layouts {
    ph_layout* layouts;
    int count;
    int word_count_max;
    uint32_t text_bytes_max;
    int enter_bits_max;
    ph_allocator allocator;
} ph_layouts;

// @return PH_OK, or PH_ERROR_MEMORY with *layouts set to {0}.
ph_result ph_layouts_create(ph_layouts* layouts, const ph_schema* schema,
                            const ph_allocator* allocator);
void ph_layouts_destroy(ph_layouts* layouts);

// An entity of which nothing has been told: every property at its initial value, texts empty.
// texts may be NULL when the class has none.
void ph_layout_reset(const ph_layout* layout, uint32_t* words, uint8_t* texts);

// Whether a property has the value that it has before anything is told: what an enter leaves out. A
// text is initial when it is empty, whatever its word.
bool ph_layout_is_initial(const ph_layout* layout, const uint32_t* words, const uint8_t* texts,
                          int property);

// Content of a STRING or BYTES in a text block, borrowed.
ph_text ph_layout_text(const ph_layout* layout, const uint8_t* texts, int property);
// At most max_length bytes; what is left of the room becomes zero, so that blocks compare.
void ph_layout_store_text(const ph_layout* layout, uint8_t* texts, int property, ph_text text);

// What the client will have of a position: steps, and the ground where the class has one.
void ph_layout_round_position(const ph_layout* layout, const ph_ground* ground,
                              const int32_t position_mm[3], uint32_t words[3]);

#endif
