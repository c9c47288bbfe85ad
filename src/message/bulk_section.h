// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One bulk section, with pieces of blocks, acks of such and unreliable messages, as it stands before the section of
// messages when there is something of these. Bits, low ones first, filled up with zero bits to a whole byte;
// docs/wire_message.md is normative. Its first four bits are zero: so no section of messages begins, unless it is the
// byte 00.
//
//   0000     4
//   pieces?      1
//   block ack?   1
//   unreliable?  1
//   0            1
//   [pieces]     number 16 | cancelled? 1 | [begin? 1 | [tag 32 | size - 1 30] | run, and as long as a 1 says
//                that another one follows, run]
//   run          piece 24 | count - 1 5 | short? 1 | [size of the last one - 1 6] | bytes
//   [block ack]  number 16 | refused? 1 | [accepted 31, if refused] | [next 24 | bytes of the map 8 | map, if not]
//   [unreliable] message, and as long as a 1 says that another one follows, message
//   message      newest? 1 | channel 4 | sequence 16 | size - 1 10 | bytes
//
// Nothing allocates.

#ifndef PH_MESSAGE_BULK_SECTION_H
#define PH_MESSAGE_BULK_SECTION_H

#include <pinhole/bits.h>
#include <pinhole/message.h>

// A block is cut into pieces of so many bytes; only the last may be shorter.
#define PH_BLOCK_PIECE_SIZE 64
// Pieces that may be in flight: 64 kB. Each but the first has its bit in the map of an ack.
#define PH_BLOCK_WINDOW 1024
#define PH_BLOCK_MAP_SIZE (PH_BLOCK_WINDOW / 8)
// Pieces that one section holds; a payload has no room for more.
#define PH_BULK_PIECES_MAX 18
#define PH_BULK_UNRELIABLE_MAX 32

_Static_assert(PH_BULK_PIECES_MAX == PH_PAYLOAD_MAX / PH_BLOCK_PIECE_SIZE, "as many as fit");

// Pieces one behind the other.
typedef struct ph_block_run {
    uint32_t piece;    // the first
    uint8_t count;     // 1..PH_BULK_PIECES_MAX
    uint8_t last_size; // bytes of the last one, 1..PH_BLOCK_PIECE_SIZE
    const uint8_t* bytes;
} ph_block_run;

static inline size_t ph_block_run_size(const ph_block_run* run)
{
    return (size_t)(run->count - 1) * PH_BLOCK_PIECE_SIZE + run->last_size;
}

// Of one block.
typedef struct ph_block_pieces {
    uint16_t number;
    bool is_cancelled; // and nothing else
    bool has_begin;
    uint32_t tag;
    uint32_t size;
    int run_count;
    ph_block_run runs[PH_BULK_PIECES_MAX]; // ascending, with gaps between them
} ph_block_pieces;

typedef struct ph_block_ack {
    uint16_t number;                // the block that comes, or is expected next
    bool is_refused;                // the one before it was
    uint32_t accepted_max;          // if so
    uint32_t next;                  // the first piece that has not come
    int map_size;                   // bytes; the last is not 0
    uint8_t map[PH_BLOCK_MAP_SIZE]; // bit i: next + 1 + i has come
} ph_block_ack;

typedef struct ph_bulk_message {
    bool is_newest;
    uint8_t channel;
    uint16_t sequence;
    uint16_t size;
    const uint8_t* bytes;
} ph_bulk_message;

typedef struct ph_bulk_section {
    bool has_pieces;
    bool has_ack;
    int message_count;
    ph_block_pieces pieces;
    ph_block_ack ack;
    ph_bulk_message messages[PH_BULK_UNRELIABLE_MAX];
} ph_bulk_section;

// Where a reader puts the bytes that a section points to.
typedef struct ph_bulk_storage {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t used;
} ph_bulk_storage;

// Whether a payload begins with one: a section of messages does not.
static inline bool ph_bulk_section_is(uint8_t first_byte)
{
    return (first_byte & 0x0F) == 0 && first_byte != 0;
}

// An empty one.
static inline void ph_bulk_section_clear(ph_bulk_section* section)
{
    section->has_pieces = false;
    section->has_ack = false;
    section->message_count = 0;
}

// ---- exact costs

#define PH_BULK_FLAG_BITS 8
#define PH_BLOCK_CANCEL_BITS (16 + 1)

int ph_block_head_bits(bool has_begin); // of pieces, before the first run
int ph_block_run_bits(void);            // beside the bytes of its pieces, a shorter last one aside
int ph_block_short_bits(void);          // more for a shorter last one
int ph_block_ack_bits(const ph_block_ack* ack);
int ph_bulk_message_bits(size_t size);

// ---- both ways

// The buffer is large enough, the section not empty. @return Bytes.
size_t ph_bulk_section_write(const ph_bulk_section* section, uint8_t* bytes, size_t capacity);

// @return Bytes, 0 when no end writes such a section. It points into the storage.
size_t ph_bulk_section_read(const void* bytes, size_t size, ph_bulk_section* section,
                            ph_bulk_storage* storage);

#endif
