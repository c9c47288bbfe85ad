// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One section of messages and input as it stands at the front of a datagram. Bits, low ones first, filled
// up with zero bits to a whole byte; docs/wire_message.md is normative.
//
//   ack?     1
//   input?       1
//   input ack?   1
//   fragments?   1
//   [ack]    next 16 | mask? 1 | [mask 31]     every fragment before next has come, and next + 1 + i
//                                                  where bit i of the mask is set
//   [input]      number 16 | blob? 1 | [size 8 | bytes]
//   [input ack]  received 16 | all processed? 1 | [processed 16]
//   [fragments]  sequence 16 | fragment | then, as long as a 1 says that another one follows:
//                step? 1 | [step - 2 5] | fragment
//   fragment     left 4 | [size - 1 6, if left is 0] | bytes
//
// Once per datagram and end; nothing allocates.

#ifndef PH_MESSAGE_MESSAGE_SECTION_H
#define PH_MESSAGE_MESSAGE_SECTION_H

#include <pinhole/bits.h>
#include <pinhole/message.h>

// Fragments that may be in flight without an ack, each but the first with its bit in the mask.
#define PH_MESSAGE_WINDOW 32
#define PH_MESSAGE_LEFT_MAX 15
// How far what was processed lies behind what was received; this, or more, says nothing.
#define PH_MESSAGE_LAG_UNKNOWN 65535

_Static_assert((PH_MESSAGE_LEFT_MAX + 1) * PH_MESSAGE_FRAGMENT_SIZE == PH_MESSAGE_SIZE_MAX,
               "the largest message has the most fragments");

typedef struct ph_message_fragment {
    uint16_t sequence;
    uint8_t left; // fragments of its message behind it; if any, it is a full one
    uint8_t size; // 1..PH_MESSAGE_FRAGMENT_SIZE
    const uint8_t* bytes;
} ph_message_fragment;

typedef struct ph_message_section {
    bool has_ack;
    bool has_input;
    bool has_blob;
    bool has_input_ack;
    uint16_t ack_next;
    uint32_t ack_mask; // 31 bits
    uint16_t input_number;
    uint8_t input_size;
    uint16_t input_received;
    uint16_t input_processed;
    const uint8_t* input_bytes;
    int fragment_count;
    ph_message_fragment fragments[PH_MESSAGE_WINDOW]; // ascending
} ph_message_section;

// Where a reader puts the bytes that a section points to.
typedef struct ph_message_storage {
    uint8_t input[PH_INPUT_SIZE_MAX];
    uint8_t fragments[PH_MESSAGE_WINDOW][PH_MESSAGE_FRAGMENT_SIZE];
} ph_message_storage;

// ---- exact costs

#define PH_MESSAGE_FLAG_BITS 4
#define PH_MESSAGE_FIRST_SEQUENCE_BITS 16

int ph_message_ack_bits(uint32_t mask);

int ph_message_input_bits(bool has_blob, int size);

int ph_message_input_ack_bits(bool is_all_processed);

// With the bits that name it: step is the distance to the one before it, 0 for the first one; and with
// the one that says whether another one follows.
int ph_message_fragment_bits(const ph_message_fragment* fragment, int step);

// ---- both ways

// The buffer is large enough. @return Bytes.
size_t ph_message_section_write(const ph_message_section* section, uint8_t* bytes, size_t capacity);

// @return Bytes, 0 when no end writes such a section. It points into the storage.
size_t ph_message_section_read(const void* bytes, size_t size, ph_message_section* section,
                               ph_message_storage* storage);

#endif
