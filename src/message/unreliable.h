// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Unreliable messages that wait: to be sent, or to be received by the game. Records one behind the other, the oldest
// first; what is taken out is closed up. Once per message, and once per datagram while some wait.

#ifndef PH_MESSAGE_UNRELIABLE_H
#define PH_MESSAGE_UNRELIABLE_H

#include "message/bulk_section.h"

typedef struct ph_unreliable_record {
    uint64_t since_us; // that it waits; 0: the time is not known yet
    uint16_t size;
    uint8_t channel;
    bool is_newest;
} ph_unreliable_record;

_Static_assert(sizeof(ph_unreliable_record) == 16, "as message.h says");

typedef struct ph_unreliable_queue {
    uint8_t* bytes;
    int capacity;
    int used;
} ph_unreliable_queue;

// The record at this offset; offsets go from 0 to used.
static inline ph_unreliable_record* ph_unreliable_at(const ph_unreliable_queue* queue, int offset)
{
    return (ph_unreliable_record*)(void*)(queue->bytes + offset);
}

static inline const uint8_t* ph_unreliable_bytes(const ph_unreliable_record* record)
{
    return (const uint8_t*)(record + 1);
}

// Bytes that a message of this size takes.
static inline int ph_unreliable_need(int size)
{
    return (int)sizeof(ph_unreliable_record) + (size + 7) / 8 * 8;
}

// The offset behind it.
static inline int ph_unreliable_next(const ph_unreliable_queue* queue, int offset)
{
    return offset + ph_unreliable_need(ph_unreliable_at(queue, offset)->size);
}

// @return False when there is no room.
bool ph_unreliable_push(ph_unreliable_queue* queue, const ph_bulk_message* message);
void ph_unreliable_remove(ph_unreliable_queue* queue, int offset);

// Which numbers of the other end were there.
typedef struct ph_unreliable_seen {
    uint16_t newest[PH_UNRELIABLE_CHANNELS]; // behind the newest, by channel
    uint16_t once;                           // behind the newest of the others
    uint64_t once_mask;                      // bit i: once - 1 - i was there
} ph_unreliable_seen;

// Notes one that has come. @return Whether it may be handed out.
bool ph_unreliable_note(ph_unreliable_seen* seen, const ph_bulk_message* message);

#endif
