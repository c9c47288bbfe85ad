// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the next section says. Composing changes nothing, so that asking how much room it would take and
// writing it come to the same. What goes first: receipts and answers, as they are few bytes and the
// other end waits for them; input, as it is old with the next one; then fragments, the oldest first,
// none past one that does not fit, as long as the share pays for them.

#include "mail/mail_state.h"

#include <string.h>

#define US_PER_MS 1000
// Receipts and answers alone are hardly worth a datagram.
#define REST_PATIENCE 10

typedef struct draft {
    ph_mail_section section;
    int64_t bits;       // so far
    int64_t room_bits;  // at most
    int64_t share_bits; // that fragments may still take
    int64_t paid_bits;  // from the share
} draft;

static int64_t whole_bytes(int64_t bits)
{
    return 8 * ((bits + 7) / 8);
}

// Nothing to say, whatever the time is and however much room there is. So it is for most datagrams of
// most connections, and then there is nothing to compose.
static bool is_idle(const ph_mail* mail)
{
    return mail->receipts_owed == 0 && mail->answers_owed == 0 &&
           mail->input_processed == mail->input_number && ph_mail_outbox_count(&mail->outbox) == 0;
}

// ---- composing

static bool try_take(draft* d, int64_t bits)
{
    if (d->bits + bits > d->room_bits) {
        return false;
    }
    d->bits += bits;
    return true;
}

static void add_receipt(const ph_mail* mail, draft* d)
{
    const uint32_t mask = mail->inbox.early >> 1;
    if (mail->receipts_owed > 0 && try_take(d, ph_mail_receipt_bits(mask))) {
        d->section.has_receipt = true;
        d->section.receipt_next = mail->inbox.next;
        d->section.receipt_mask = mask;
    }
}

static void add_answer(const ph_mail* mail, draft* d)
{
    const uint32_t lag_all = mail->their_number - mail->their_processed;
    const uint32_t lag = lag_all < PH_MAIL_LAG_UNKNOWN ? lag_all : PH_MAIL_LAG_UNKNOWN;
    if (mail->answers_owed > 0 && try_take(d, ph_mail_answer_bits(lag == 0))) {
        d->section.has_answer = true;
        d->section.answer_received = (uint16_t)mail->their_number;
        d->section.answer_processed = (uint16_t)(mail->their_number - lag);
    }
}

// Until it is known to have arrived with its bytes, and until it is known to be processed as a question.
static void add_input(const ph_mail* mail, draft* d)
{
    const bool has_blob = mail->input_delivered != mail->input_number;
    if (mail->input_processed != mail->input_number &&
        try_take(d, ph_mail_input_bits(has_blob, mail->input_size))) {
        d->section.has_input = true;
        d->section.has_blob = has_blob;
        d->section.input_number = (uint16_t)mail->input_number;
        d->section.input_size = has_blob ? mail->input_size : 0;
        d->section.input_bytes = mail->input_bytes;
    }
}

// The share pays for the whole bytes by which fragments make a section longer.
static bool try_add_fragment(draft* d, const ph_mail_fragment* fragment, int64_t bare_bits)
{
    ph_mail_section* section = &d->section;
    const int count = section->fragment_count;
    const int step =
        count == 0 ? 0 : (uint16_t)(fragment->number - section->fragments[count - 1].number);
    const int64_t bits = ph_mail_fragment_bits(fragment, step);
    const int64_t paid_bits = whole_bytes(d->bits + bits) - whole_bytes(bare_bits);
    if (paid_bits > d->share_bits || !try_take(d, bits)) {
        return false;
    }
    d->paid_bits = paid_bits;
    section->fragments[section->fragment_count++] = *fragment;
    return true;
}

static void add_fragments(const ph_mail* mail, uint64_t now_us, draft* d)
{
    const int64_t bare_bits = d->bits;
    ph_mail_fragment fragment;
    uint16_t from = mail->outbox.oldest;
    while (ph_mail_outbox_try_due(&mail->outbox, from, now_us, &fragment) &&
           try_add_fragment(d, &fragment, bare_bits)) {
        from = (uint16_t)(fragment.number + 1);
    }
}

static void compose(ph_mail* mail, uint64_t now_us, size_t room, draft* d)
{
    *d = (draft){.bits = PH_MAIL_FLAG_BITS, .room_bits = 8 * (int64_t)room};
    ph_token_bucket_fill(&mail->share, now_us);
    d->share_bits = ph_token_bucket_bits(&mail->share);
    add_receipt(mail, d);
    add_answer(mail, d);
    add_input(mail, d);
    add_fragments(mail, now_us, d);
}

// In a datagram of its own it pays for everything, so that is taken off before.
static void compose_alone(ph_mail* mail, uint64_t now_us, size_t room, draft* d)
{
    compose(mail, now_us, room, d);
    const int64_t overhead_bits = 8 * (int64_t)mail->def.overhead_bytes;
    const int64_t have_bits = d->share_bits;
    while (d->section.fragment_count > 0 && overhead_bits + whole_bytes(d->bits) > have_bits) {
        const int last = --d->section.fragment_count;
        const ph_mail_fragment* fragments = d->section.fragments;
        const int step =
            last == 0 ? 0 : (uint16_t)(fragments[last].number - fragments[last - 1].number);
        d->bits -= ph_mail_fragment_bits(&fragments[last], step);
    }
    d->paid_bits = overhead_bits + whole_bytes(d->bits);
}

static bool has_messages(const draft* d)
{
    return d->section.fragment_count > 0;
}

static bool says_nothing(const draft* d)
{
    return d->bits == PH_MAIL_FLAG_BITS;
}

static size_t size_of(const draft* d)
{
    return (size_t)(whole_bytes(d->bits) / 8);
}

// ---- what is wanted

static size_t largest(const ph_mail* mail, size_t room)
{
    const size_t most = (size_t)mail->def.section_max;
    return room < most ? room : most;
}

// From the first time that somebody asks; times begin at 1, as 0 says that nothing waits.
static void note_waiting(uint64_t* since_us, bool is_waiting, uint64_t now_us)
{
    if (!is_waiting) {
        *since_us = 0;
    } else if (*since_us == 0) {
        *since_us = now_us > 0 ? now_us : 1;
    }
}

static bool has_waited(uint64_t since_us, uint64_t now_us, int patience_ms)
{
    return since_us != 0 && now_us >= since_us &&
           now_us - since_us >= (uint64_t)patience_ms * US_PER_MS;
}

static void note_draft(ph_mail* mail, uint64_t now_us, const draft* d)
{
    ph_mail_fragment due;
    const bool is_due = ph_mail_outbox_try_due(&mail->outbox, mail->outbox.oldest, now_us, &due);
    note_waiting(&mail->messages_wait_us, is_due, now_us);
    note_waiting(&mail->rest_waits_us, !says_nothing(d), now_us);
}

static void note_idle(ph_mail* mail)
{
    mail->messages_wait_us = 0;
    mail->rest_waits_us = 0;
}

static size_t promise(ph_mail* mail, uint64_t now_us, size_t room)
{
    mail->promise = (ph_mail_promise){.room = room, .now_us = now_us};
    return room;
}

size_t ph_mail_wants(ph_mail* mail, uint64_t now_us)
{
    if (is_idle(mail)) {
        note_idle(mail);
        return promise(mail, now_us, PH_MAIL_EMPTY_SIZE);
    }
    draft d;
    compose(mail, now_us, largest(mail, PH_MAIL_DATAGRAM_MAX), &d);
    note_draft(mail, now_us, &d);
    return promise(mail, now_us, size_of(&d));
}

size_t ph_mail_wants_alone(ph_mail* mail, uint64_t now_us)
{
    if (is_idle(mail)) {
        note_idle(mail);
        return 0;
    }
    draft d;
    compose_alone(mail, now_us, largest(mail, PH_MAIL_DATAGRAM_MAX), &d);
    note_draft(mail, now_us, &d);
    const int patience_ms = mail->def.patience_ms;
    const bool is_time =
        (has_messages(&d) && has_waited(mail->messages_wait_us, now_us, patience_ms)) ||
        has_waited(mail->rest_waits_us, now_us, REST_PATIENCE * patience_ms);
    if (!is_time || says_nothing(&d) || d.paid_bits > d.share_bits) {
        return 0;
    }
    return promise(mail, now_us, size_of(&d));
}

// ---- writing

static void note_written(ph_mail* mail, uint64_t now_us, const draft* d, size_t size)
{
    for (int i = 0; i < d->section.fragment_count; ++i) {
        const uint16_t number = d->section.fragments[i].number;
        const bool is_first = (int16_t)(uint16_t)(number - mail->outbox.unsent) >= 0;
        ++mail->stats.fragments_sent;
        mail->stats.fragments_resent += !is_first;
        ph_mail_outbox_note_sent(&mail->outbox, number, now_us);
    }
    mail->receipts_owed -= d->section.has_receipt;
    mail->answers_owed -= d->section.has_answer;
    mail->rest_waits_us = says_nothing(d) ? mail->rest_waits_us : 0;
    if (d->section.fragment_count > 0) {
        mail->messages_wait_us = 0;
    }
    ++mail->stats.sections_written;
    mail->stats.bytes_written += size;
    const int64_t have_bits = ph_token_bucket_bits(&mail->share);
    ph_token_bucket_spend(&mail->share, d->paid_bits < have_bits ? d->paid_bits : have_bits);
}

static size_t write_draft(ph_mail* mail, uint64_t now_us, const draft* d, uint8_t* bytes)
{
    const size_t size = ph_mail_section_write(&d->section, bytes, size_of(d));
    PH_ASSERT(size == size_of(d));
    note_written(mail, now_us, d, size);
    return size;
}

size_t ph_mail_write(ph_mail* mail, uint64_t now_us, size_t room, uint8_t* bytes)
{
    PH_ASSERT(room >= PH_MAIL_EMPTY_SIZE);

    draft d;
    compose(mail, now_us, largest(mail, room), &d);
    return write_draft(mail, now_us, &d, bytes);
}

// All four flags of the section are zero, and so is what fills its byte.
static size_t write_empty(ph_mail* mail, uint8_t* bytes)
{
    bytes[0] = 0;
    ++mail->stats.sections_written;
    mail->stats.bytes_written += PH_MAIL_EMPTY_SIZE;
    return PH_MAIL_EMPTY_SIZE;
}

// The promised section. One that stands alone pays for its datagram, even when it says nothing.
static size_t write_promised(ph_mail* mail, size_t packet_size, uint8_t* bytes)
{
    if (packet_size > 0 && is_idle(mail)) {
        return write_empty(mail, bytes);
    }
    const ph_mail_promise promised = mail->promise;
    const size_t room_left = PH_MAIL_DATAGRAM_MAX - packet_size;
    const size_t room = promised.room < room_left ? promised.room : room_left;
    draft d;
    if (packet_size == 0) {
        compose_alone(mail, promised.now_us, room, &d);
    } else {
        compose(mail, promised.now_us, room, &d);
    }
    return write_draft(mail, promised.now_us, &d, bytes);
}

size_t ph_mail_pack(ph_mail* mail, const void* packet, size_t size,
                    uint8_t bytes[PH_MAIL_DATAGRAM_MAX])
{
    PH_ASSERT(size < PH_MAIL_DATAGRAM_MAX && (packet != NULL || size == 0));

    const size_t section_size = write_promised(mail, size, bytes);
    if (size > 0) {
        memcpy(bytes + section_size, packet, size);
    }
    mail->promise.room = PH_MAIL_EMPTY_SIZE;
    return section_size + size;
}
