// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks and unreliable messages of a peer: once per tick, and once per event.

#include "net/peer_state.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

// Of a block: often enough for a bar on the screen.
enum { PROGRESS_US = 100000, COMING = 0, GOING = 1 };

void ph_peer_reset_bulk(ph_peer* peer)
{
    peer->has_unreliable = false;
    for (int way = 0; way < 2; ++way) {
        peer->told[way] = (ph_block_progress){0};
        peer->told_us[way] = 0;
    }
}

// As much as the link seems to carry: nothing else limits a client.
void ph_peer_send_bulk(ph_peer* peer)
{
    uint8_t whole[PH_PAYLOAD_MAX];
    while (ph_messages_plan_block(peer->messages, peer->now_us, INT64_MAX, 0) > 0) {
        ph_peer_say(peer, whole, ph_messages_pack(peer->messages, NULL, 0, whole));
    }
}

// ---- what is said

ph_result ph_peer_send_block(ph_peer* peer, uint32_t tag, const void* bytes, size_t size,
                             uint32_t* id)
{
    return peer->state != PH_PEER_STATE_IDLE
               ? ph_messages_send_block(peer->messages, tag, bytes, size, id)
               : ph_peer_fail_idle(peer, __func__);
}

ph_result ph_peer_cancel_block(ph_peer* peer, uint32_t id)
{
    return peer->state != PH_PEER_STATE_IDLE ? ph_messages_cancel_block(peer->messages, id)
                                             : PH_ERROR_STALE;
}

ph_result ph_peer_send_unreliable(ph_peer* peer, ph_unreliable_kind kind, int channel,
                                  const void* bytes, size_t size)
{
    if (peer->state == PH_PEER_STATE_IDLE) {
        return ph_peer_fail_idle(peer, __func__);
    }
    const ph_result result =
        ph_messages_send_unreliable(peer->messages, kind, channel, bytes, size);
    peer->has_unreliable = peer->has_unreliable || result == PH_OK;
    return result;
}

// ---- events

_Static_assert(PH_UNRELIABLE_SIZE_MAX <= PH_MESSAGE_SIZE_MAX, "one buffer for both");

static bool take_unreliable_event(ph_peer* peer, ph_peer_event* event)
{
    ph_unreliable message;
    if (!ph_messages_receive_unreliable(peer->messages, &message)) {
        return false;
    }
    event->kind = PH_PEER_UNRELIABLE;
    event->unreliable = message.kind;
    event->channel = message.channel;
    // What comes in later takes its place in the queue.
    memcpy(peer->message, message.bytes, message.size);
    event->bytes = peer->message;
    event->size = message.size;
    return true;
}

static bool take_block_event(ph_peer* peer, ph_peer_event* event)
{
    ph_block block;
    if (!ph_messages_receive_block(peer->messages, &block)) {
        return false;
    }
    event->kind = PH_PEER_BLOCK;
    event->tag = block.tag;
    event->bytes = block.bytes;
    event->size = block.size;
    return true;
}

static void explain_unsent(ph_peer* peer, const ph_block_end* end)
{
    char size[PH_COUNT_TEXT_SIZE];
    char most[PH_COUNT_TEXT_SIZE];
    ph_count_text((int64_t)end->size, size);
    ph_count_text((int64_t)end->accepted_max, most);
    const int room = (int)sizeof peer->taken_text;
    if (end->outcome == PH_BLOCK_CANCELLED) {
        snprintf(peer->taken_text, (size_t)room, "this program has cancelled the block");
    } else if (end->accepted_max == 0) {
        snprintf(peer->taken_text, (size_t)room, "the server accepts no blocks");
    } else if (end->size > end->accepted_max) {
        snprintf(peer->taken_text, (size_t)room,
                 "the block has %s bytes; the server accepts %s at most", size, most);
    } else {
        snprintf(peer->taken_text, (size_t)room, "the server has no memory for a block of %s bytes",
                 size);
    }
}

static bool take_end_event(ph_peer* peer, ph_peer_event* event)
{
    if (!ph_messages_next_block_end(peer->messages, &event->block)) {
        return false;
    }
    event->tag = event->block.tag;
    event->kind = PH_PEER_BLOCK_SENT;
    if (event->block.outcome != PH_BLOCK_SENT) {
        event->kind = PH_PEER_BLOCK_UNSENT;
        explain_unsent(peer, &event->block);
        event->text = peer->taken_text;
    }
    return true;
}

static bool take_progress_event(ph_peer* peer, int way, ph_peer_event* event)
{
    ph_block_progress now;
    const bool is_there = way == GOING ? ph_messages_sending_block(peer->messages, &now)
                                       : ph_messages_receiving_block(peer->messages, &now);
    ph_block_progress* told = &peer->told[way];
    if (!is_there || now.done == 0 ||
        (now.tag == told->tag && now.size == told->size && now.done == told->done) ||
        (peer->told_us[way] != 0 && peer->now_us < peer->told_us[way] + PROGRESS_US)) {
        return false;
    }
    *told = now;
    peer->told_us[way] = peer->now_us;
    event->kind = PH_PEER_BLOCK_PROGRESS;
    event->tag = now.tag;
    event->progress = now;
    event->is_ours = way == GOING;
    return true;
}

bool ph_peer_take_bulk_event(ph_peer* peer, ph_peer_event* event)
{
    // Not before the CONNECTED, and what was left when it ended all the same.
    return peer->view != NULL &&
           (take_unreliable_event(peer, event) || take_block_event(peer, event) ||
            take_end_event(peer, event) || take_progress_event(peer, COMING, event) ||
            take_progress_event(peer, GOING, event));
}
