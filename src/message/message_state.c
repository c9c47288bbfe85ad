// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fragments of messages: those that have come, until their messages are taken (inbox), and those that
// were posted, until they are known to have arrived (outbox). Once per fragment and message;
// message_state.h has the drawings.

#include "message/message_state.h"

#include <string.h>

// ---- the inbox

// Numbers wrap: how far a is ahead of b, behind it if negative.
static int sequences_ahead(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static ph_message_arrived* ring_at(const ph_message_inbox* inbox, uint16_t sequence)
{
    return &inbox->arrived[sequence & (inbox->capacity - 1)];
}

static uint8_t* bytes_at(const ph_message_inbox* inbox, uint16_t sequence)
{
    return inbox->bytes[sequence & (inbox->capacity - 1)];
}

static bool is_here(const ph_message_inbox* inbox, uint16_t sequence)
{
    const int place = sequences_ahead(sequence, inbox->next);
    if (place < 0) {
        return sequences_ahead(sequence, inbox->taken) >= 0;
    }
    return place < PH_MESSAGE_WINDOW && (inbox->early >> place & 1) != 0;
}

// ---- judging

static bool is_same(const ph_message_inbox* inbox, const ph_message_fragment* fragment)
{
    const ph_message_arrived* arrived = ring_at(inbox, fragment->sequence);
    return arrived->left == fragment->left && arrived->size == fragment->size &&
           memcmp(bytes_at(inbox, fragment->sequence), fragment->bytes, fragment->size) == 0;
}

// Fragments of one message count down, the last is 0; so no message is ever too long.
static bool may_follow(int left, int left_behind)
{
    return left == 0 || left_behind == left - 1;
}

static bool fits_neighbours(const ph_message_inbox* inbox, const ph_message_fragment* fragment)
{
    const uint16_t before = (uint16_t)(fragment->sequence - 1);
    const uint16_t behind = (uint16_t)(fragment->sequence + 1);
    return (!is_here(inbox, before) || may_follow(ring_at(inbox, before)->left, fragment->left)) &&
           (!is_here(inbox, behind) || may_follow(fragment->left, ring_at(inbox, behind)->left));
}

ph_messages_refusal ph_message_inbox_judge(const ph_message_inbox* inbox,
                                           const ph_message_section* section)
{
    for (int i = 0; i < section->fragment_count; ++i) {
        const ph_message_fragment* fragment = &section->fragments[i];
        if (sequences_ahead(fragment->sequence, inbox->next) >= PH_MESSAGE_WINDOW) {
            return PH_MESSAGES_REFUSAL_WINDOW;
        }
        const bool was_here = is_here(inbox, fragment->sequence);
        if (was_here && !is_same(inbox, fragment)) {
            return PH_MESSAGES_REFUSAL_CONTRARY;
        }
        // Those that were taken are forgotten: nothing can be said about them.
        if (!was_here && sequences_ahead(fragment->sequence, inbox->next) >= 0 &&
            !fits_neighbours(inbox, fragment)) {
            return PH_MESSAGES_REFUSAL_CONTRARY;
        }
        if (i > 0 && fragment->sequence == (uint16_t)(fragment[-1].sequence + 1) &&
            !may_follow(fragment[-1].left, fragment->left)) {
            return PH_MESSAGES_REFUSAL_CONTRARY;
        }
    }
    return PH_MESSAGES_REFUSAL_COUNT;
}

// ---- storing and taking

static void advance(ph_message_inbox* inbox)
{
    while ((inbox->early & 1) != 0) {
        inbox->early >>= 1;
        ++inbox->next;
    }
}

ph_message_storing ph_message_inbox_store(ph_message_inbox* inbox,
                                          const ph_message_fragment* fragment)
{
    const int place = sequences_ahead(fragment->sequence, inbox->next);
    PH_ASSERT(place < PH_MESSAGE_WINDOW);

    if (place < 0 || is_here(inbox, fragment->sequence)) {
        return PH_MESSAGE_DOUBLED;
    }
    if ((uint16_t)(fragment->sequence - inbox->taken) >= inbox->capacity) {
        return PH_MESSAGE_WITHOUT_ROOM;
    }
    *ring_at(inbox, fragment->sequence) =
        (ph_message_arrived){.left = fragment->left, .size = fragment->size};
    memcpy(bytes_at(inbox, fragment->sequence), fragment->bytes, fragment->size);
    inbox->early |= UINT32_C(1) << place;
    advance(inbox);
    return PH_MESSAGE_STORED;
}

void ph_message_inbox_confirm(ph_message_inbox* inbox, int count)
{
    PH_ASSERT(count <= inbox->unconfirmed_count);

    for (int i = 0; i < count; ++i) {
        inbox->confirmed = (uint16_t)(inbox->confirmed + inbox->unconfirmed[i]);
    }
    inbox->unconfirmed_count -= count;
    memmove(inbox->unconfirmed, inbox->unconfirmed + count, (size_t)inbox->unconfirmed_count);
}

size_t ph_message_inbox_take(ph_message_inbox* inbox, uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    if (inbox->taken == inbox->next) {
        return 0;
    }
    const int behind = ring_at(inbox, inbox->taken)->left;
    if (sequences_ahead(inbox->next, inbox->taken) <= behind) {
        return 0;
    }
    if (inbox->unconfirmed_count == PH_MESSAGE_WINDOW) {
        return 0; // of held acks: no end of ours sends more before they are confirmed
    }
    inbox->unconfirmed[inbox->unconfirmed_count++] = (uint8_t)(behind + 1);
    size_t size = 0;
    for (int i = 0; i <= behind; ++i, ++inbox->taken) {
        const ph_message_arrived* arrived = ring_at(inbox, inbox->taken);
        memcpy(bytes + size, bytes_at(inbox, inbox->taken), arrived->size);
        size += arrived->size;
    }
    return size;
}

// ---- the outbox

// Before anything is known, and the bounds of waiting.
#define FIRST_WAIT_US 300000.0
#define WAIT_MIN_US 50000.0
#define WAIT_MAX_US 3000000.0
// How long one that was sent later must have been in flight before the earlier one counts as lost:
// a part of the round trip, as reordering goes.
#define REORDER_SHARE 4.0
#define REORDER_MIN_US 10000.0
#define MESSAGE_RTT_SHARE 8.0
#define DEVIATION_SHARE 4.0
#define DEVIATIONS 4.0

static ph_message_sent* message_outbox_at(const ph_message_outbox* outbox, uint16_t sequence)
{
    return &outbox->sent[sequence & (outbox->capacity - 1)];
}

static uint8_t* message_outbox_bytes_at(const ph_message_outbox* outbox, uint16_t sequence)
{
    return outbox->bytes[sequence & (outbox->capacity - 1)];
}

bool ph_message_outbox_post(ph_message_outbox* outbox, const uint8_t* bytes, size_t size)
{
    const int count = (int)((size + PH_MESSAGE_FRAGMENT_SIZE - 1) / PH_MESSAGE_FRAGMENT_SIZE);
    if (ph_message_outbox_count(outbox) + count > outbox->capacity) {
        return false;
    }
    for (int left = count - 1; left >= 0; --left) {
        const size_t part = left > 0 ? PH_MESSAGE_FRAGMENT_SIZE : size;
        *message_outbox_at(outbox, outbox->end) =
            (ph_message_sent){.left = (uint8_t)left, .size = (uint8_t)part};
        memcpy(message_outbox_bytes_at(outbox, outbox->end), bytes, part);
        bytes += part;
        size -= part;
        ++outbox->end;
    }
    if (outbox->is_imported) {
        outbox->unsent = outbox->end;
    }
    return true;
}

// ---- what is due

// What was sent twice waits longer, but not much: the share limits what is sent, and a link that loses
// a third would else be silent for seconds.
static double wait_us(const ph_message_rtt* rtt, int send_count)
{
    double wait = rtt->rtt_us == 0.0 ? FIRST_WAIT_US : rtt->rtt_us + DEVIATIONS * rtt->deviation_us;
    wait = wait > WAIT_MIN_US ? wait : WAIT_MIN_US;
    wait *= send_count == 1 ? 1.0 : send_count == 2 ? 1.5 : 2.0;
    return wait < WAIT_MAX_US ? wait : WAIT_MAX_US;
}

bool ph_message_rtt_is_lost(const ph_message_rtt* rtt, uint64_t now_us, uint64_t sent_us,
                            int send_count)
{
    const double share_us = rtt->rtt_us / REORDER_SHARE;
    const double reorder_us = share_us > REORDER_MIN_US ? share_us : REORDER_MIN_US;
    if (rtt->proven_us > sent_us && (double)(rtt->proven_us - sent_us) > reorder_us) {
        return true;
    }
    return now_us > sent_us && (double)(now_us - sent_us) >= wait_us(rtt, send_count);
}

static bool is_due(const ph_message_outbox* outbox, const ph_message_sent* sent, uint64_t now_us)
{
    return !sent->is_delivered &&
           (sent->send_count == 0 ||
            ph_message_rtt_is_lost(&outbox->rtt, now_us, sent->sent_us, sent->send_count));
}

bool ph_message_outbox_try_due(const ph_message_outbox* outbox, uint16_t from, uint64_t now_us,
                               ph_message_fragment* fragment)
{
    uint16_t sequence = sequences_ahead(from, outbox->oldest) > 0 ? from : outbox->oldest;
    for (; sequences_ahead(sequence, outbox->end) < 0 &&
           sequences_ahead(sequence, outbox->oldest) < PH_MESSAGE_WINDOW;
         ++sequence) {
        const ph_message_sent* sent = message_outbox_at(outbox, sequence);
        if (is_due(outbox, sent, now_us)) {
            *fragment = (ph_message_fragment){.sequence = sequence,
                                              .left = sent->left,
                                              .size = sent->size,
                                              .bytes = message_outbox_bytes_at(outbox, sequence)};
            return true;
        }
    }
    return false;
}

void ph_message_outbox_note_sent(ph_message_outbox* outbox, uint16_t sequence, uint64_t now_us)
{
    ph_message_sent* sent = message_outbox_at(outbox, sequence);
    sent->sent_us = now_us;
    sent->send_count = (uint8_t)(sent->send_count + (sent->send_count < UINT8_MAX));
    if (sequences_ahead(sequence, outbox->unsent) >= 0) {
        outbox->unsent = (uint16_t)(sequence + 1);
    }
}

void ph_message_outbox_send_again(ph_message_outbox* outbox)
{
    for (uint16_t sequence = outbox->oldest; sequence != outbox->unsent; ++sequence) {
        message_outbox_at(outbox, sequence)->send_count = 0;
    }
    outbox->rtt.proven_us = 0;
}

// ---- acks

// What the server before this one has sent since its state was taken is not known here, and the other end may have it.
bool ph_message_outbox_is_possible(const ph_message_outbox* outbox, uint16_t next, uint32_t mask)
{
    if (outbox->is_imported) {
        return true;
    }
    if (sequences_ahead(next, outbox->unsent) > 0) {
        return false;
    }
    for (int i = 0; i < PH_MESSAGE_WINDOW - 1; ++i) {
        if ((mask >> i & 1) != 0 &&
            sequences_ahead((uint16_t)(next + 1 + i), outbox->unsent) >= 0) {
            return false;
        }
    }
    return true;
}

static void measure_rtt(ph_message_rtt* rtt, double rtt_us)
{
    if (rtt->rtt_us == 0.0) {
        rtt->rtt_us = rtt_us > 1.0 ? rtt_us : 1.0;
        rtt->deviation_us = rtt_us / 2.0;
        return;
    }
    const double off_us = rtt_us - rtt->rtt_us;
    rtt->deviation_us += ((off_us < 0.0 ? -off_us : off_us) - rtt->deviation_us) / DEVIATION_SHARE;
    rtt->rtt_us += off_us / MESSAGE_RTT_SHARE;
}

void ph_message_rtt_note(ph_message_rtt* rtt, uint64_t now_us, uint64_t sent_us)
{
    if (sent_us > 0 && now_us >= sent_us) {
        measure_rtt(rtt, (double)(now_us - sent_us));
        rtt->proven_us = sent_us > rtt->proven_us ? sent_us : rtt->proven_us;
    }
}

// Of one that went out twice it is not known which arrived.
static void note_delivered(ph_message_outbox* outbox, uint16_t sequence, uint64_t* latest_us)
{
    ph_message_sent* sent = message_outbox_at(outbox, sequence);
    if (!sent->is_delivered && sent->send_count == 1 && sent->sent_us > *latest_us) {
        *latest_us = sent->sent_us;
    }
    sent->is_delivered = true;
}

int ph_message_outbox_take_ack(ph_message_outbox* outbox, uint64_t now_us, uint16_t next,
                               uint32_t mask)
{
    PH_ASSERT(ph_message_outbox_is_possible(outbox, next, mask));

    uint64_t latest_us = 0;
    for (uint16_t sequence = outbox->oldest;
         sequences_ahead(sequence, next) < 0 && sequence != outbox->unsent; ++sequence) {
        note_delivered(outbox, sequence, &latest_us);
    }
    for (int i = 0; i < PH_MESSAGE_WINDOW - 1; ++i) {
        const uint16_t sequence = (uint16_t)(next + 1 + i);
        if ((mask >> i & 1) != 0 && sequences_ahead(sequence, outbox->oldest) >= 0 &&
            sequences_ahead(sequence, outbox->unsent) < 0) {
            note_delivered(outbox, sequence, &latest_us);
        }
    }
    ph_message_rtt_note(&outbox->rtt, now_us, latest_us);
    int message_count = 0;
    while (outbox->oldest != outbox->unsent &&
           message_outbox_at(outbox, outbox->oldest)->is_delivered) {
        message_count += message_outbox_at(outbox, outbox->oldest)->left == 0;
        ++outbox->oldest;
    }
    return message_count;
}
