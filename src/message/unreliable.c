// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "message/unreliable.h"

#include <string.h>

enum { UNRELIABLE_SEEN_BITS = 64 };

bool ph_unreliable_push(ph_unreliable_queue* queue, const ph_bulk_message* message)
{
    const int need = ph_unreliable_need(message->size);
    if (need > queue->capacity - queue->used) {
        return false;
    }
    ph_unreliable_record* record = ph_unreliable_at(queue, queue->used);
    *record = (ph_unreliable_record){
        .size = message->size,
        .channel = message->channel,
        .is_newest = message->is_newest,
    };
    memcpy(record + 1, message->bytes, message->size);
    queue->used += need;
    return true;
}

void ph_unreliable_remove(ph_unreliable_queue* queue, int offset)
{
    const int next = ph_unreliable_next(queue, offset);
    memmove(queue->bytes + offset, queue->bytes + next, (size_t)(queue->used - next));
    queue->used -= next - offset;
}

static bool note_newest(uint16_t* behind_newest, uint16_t sequence)
{
    if ((int16_t)(uint16_t)(sequence - *behind_newest) < 0) {
        return false;
    }
    *behind_newest = (uint16_t)(sequence + 1);
    return true;
}

// Too old to be known counts as seen: at most once.
static bool note_once(ph_unreliable_seen* seen, uint16_t sequence)
{
    const int ahead = (int16_t)(uint16_t)(sequence - seen->once);
    if (ahead >= 0) {
        seen->once_mask = ahead + 1 < UNRELIABLE_SEEN_BITS ? seen->once_mask << (ahead + 1) | 1 : 1;
        seen->once = (uint16_t)(sequence + 1);
        return true;
    }
    const int place = -ahead - 1;
    if (place >= UNRELIABLE_SEEN_BITS || (seen->once_mask >> place & 1) != 0) {
        return false;
    }
    seen->once_mask |= UINT64_C(1) << place;
    return true;
}

bool ph_unreliable_note(ph_unreliable_seen* seen, const ph_bulk_message* message)
{
    return message->is_newest ? note_newest(&seen->newest[message->channel], message->sequence)
                              : note_once(seen, message->sequence);
}
