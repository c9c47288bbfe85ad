// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One end of a connection: its life, messages, input, figures. What is written is in mail_write.c, what
// is read in mail_read.c.

#include "mail/mail_state.h"

#include "base/allocator.h"

#include <string.h>

#define COOKIE 0x4D41494Cu
#define FRAGMENTS_MIN 32
#define FRAGMENTS_MAX 1024
#define OVERHEAD_BYTES_MAX 1000
#define PATIENCE_MS_MAX 60000
// Of 65,536 numbers, so that ahead and behind can be told apart.
#define INPUT_AHEAD_MAX 32767

ph_mail_def ph_mail_def_default(void)
{
    return (ph_mail_def){
        .bits_per_second = 13000,
        .share_percent = 25,
        .section_max = 384,
        .overhead_bytes = 48,
        .patience_ms = 100,
        .outbox_fragments = 64,
        .inbox_fragments = 64,
        .cookie = COOKIE,
    };
}

// ---- life

static bool is_queue_sensible(int fragments)
{
    return fragments >= FRAGMENTS_MIN && fragments <= FRAGMENTS_MAX &&
           (fragments & (fragments - 1)) == 0;
}

static bool is_sensible(const ph_mail_def* def)
{
    return def->bits_per_second >= 0 && def->share_percent >= 1 && def->share_percent <= 100 &&
           def->section_max >= PH_MAIL_SECTION_MIN && def->section_max <= PH_MAIL_DATAGRAM_MAX &&
           def->overhead_bytes >= 0 && def->overhead_bytes <= OVERHEAD_BYTES_MAX &&
           def->patience_ms >= 0 && def->patience_ms <= PATIENCE_MS_MAX &&
           is_queue_sensible(def->outbox_fragments) && is_queue_sensible(def->inbox_fragments);
}

// Rounded up, as 0 is no limit.
static int64_t share_of(const ph_mail_def* def, int bits_per_second)
{
    return ((int64_t)bits_per_second * def->share_percent + 99) / 100;
}

static int64_t share_depth(const ph_mail_def* def, int64_t share)
{
    const int64_t least_bits = 8 * (int64_t)(def->overhead_bytes + def->section_max);
    return share > least_bits ? share : least_bits;
}

static size_t bytes_of(const ph_mail_def* def)
{
    const size_t out = sizeof(ph_mail_sent) + PH_MAIL_FRAGMENT_BYTES;
    const size_t in = sizeof(ph_mail_arrived) + PH_MAIL_FRAGMENT_BYTES;
    return sizeof(ph_mail) + (size_t)def->outbox_fragments * out +
           (size_t)def->inbox_fragments * in;
}

static void lay_out(ph_mail* mail)
{
    const ph_mail_def* def = &mail->def;
    mail->outbox.capacity = def->outbox_fragments;
    mail->outbox.sent = (ph_mail_sent*)(mail + 1);
    mail->inbox.capacity = def->inbox_fragments;
    mail->inbox.arrived = (ph_mail_arrived*)(mail->outbox.sent + def->outbox_fragments);
    uint8_t* bytes = (uint8_t*)(mail->inbox.arrived + def->inbox_fragments);
    mail->outbox.bytes = (uint8_t(*)[PH_MAIL_FRAGMENT_BYTES])bytes;
    mail->inbox.bytes = mail->outbox.bytes + def->outbox_fragments;
}

ph_result ph_mail_create(const ph_mail_def* def, ph_mail** mail)
{
    PH_ASSERT(def->cookie == COOKIE); // start from ph_mail_def_default()

    *mail = NULL;
    if (!is_sensible(def)) {
        return PH_ERROR_RANGE;
    }
    ph_mail* made = ph_allocate_zeroed(&def->allocator, bytes_of(def));
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->def = *def;
    made->size_bytes = bytes_of(def);
    lay_out(made);
    const int64_t share = share_of(def, def->bits_per_second);
    made->share = ph_token_bucket_make(share, share_depth(def, share), 0);
    made->promise.room = PH_MAIL_EMPTY_SIZE;
    *mail = made;
    return PH_OK;
}

void ph_mail_destroy(ph_mail* mail)
{
    if (mail != NULL) {
        const ph_allocator allocator = mail->def.allocator;
        ph_release(&allocator, mail, mail->size_bytes);
    }
}

void ph_mail_set_budget(ph_mail* mail, int bits_per_second)
{
    PH_ASSERT(bits_per_second >= 0);

    const int64_t share = share_of(&mail->def, bits_per_second);
    mail->def.bits_per_second = bits_per_second;
    ph_token_bucket_fill(&mail->share, mail->promise.now_us); // what has passed counts as before
    ph_token_bucket_change(&mail->share, share, share_depth(&mail->def, share));
}

// ---- messages

ph_result ph_mail_post(ph_mail* mail, const void* bytes, size_t size)
{
    if (size < 1 || size > PH_MAIL_MESSAGE_MAX) {
        return PH_ERROR_RANGE;
    }
    if (!ph_mail_outbox_post(&mail->outbox, bytes, size)) {
        return PH_ERROR_FULL;
    }
    ++mail->stats.posted;
    return PH_OK;
}

size_t ph_mail_take(ph_mail* mail, uint8_t bytes[PH_MAIL_MESSAGE_MAX])
{
    const size_t size = ph_mail_inbox_take(&mail->inbox, bytes);
    mail->stats.taken += size > 0;
    return size;
}

bool ph_mail_is_delivered(const ph_mail* mail)
{
    return ph_mail_outbox_count(&mail->outbox) == 0;
}

// ---- input

ph_result ph_mail_set_input(ph_mail* mail, uint32_t number, const void* bytes, size_t size)
{
    const size_t most = (size_t)mail->def.section_max - PH_MAIL_BESIDE_INPUT;
    if (number <= mail->input_number || number - mail->input_delivered > INPUT_AHEAD_MAX ||
        size > PH_MAIL_INPUT_MAX || size > most) {
        return PH_ERROR_RANGE;
    }
    mail->input_number = number;
    mail->input_size = (uint8_t)size;
    if (size > 0) {
        memcpy(mail->input_bytes, bytes, size);
    }
    return PH_OK;
}

ph_mail_input ph_mail_newest_input(const ph_mail* mail)
{
    return (ph_mail_input){
        .number = mail->their_number,
        .size = mail->their_size,
        .bytes = mail->their_bytes,
    };
}

ph_result ph_mail_set_processed(ph_mail* mail, uint32_t number)
{
    if (number > mail->their_number || number < mail->their_processed) {
        return PH_ERROR_RANGE;
    }
    if (number > mail->their_processed) {
        mail->their_processed = number;
        mail->answers_owed = PH_MAIL_ANSWER_REPEATS;
    }
    return PH_OK;
}

uint32_t ph_mail_processed(const ph_mail* mail)
{
    return mail->input_processed;
}

// ---- figures

const char* ph_mail_refusal_name(ph_mail_refusal refusal)
{
    static const char* const NAMES[] = {
        [PH_MAIL_MALFORMED] = "malformed",
        [PH_MAIL_IMPOSSIBLE_RECEIPT] = "impossible_receipt",
        [PH_MAIL_BEYOND_WINDOW] = "beyond_window",
        [PH_MAIL_CONTRARY] = "contrary",
    };
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == PH_MAIL_REFUSAL_COUNT, "a name for each");
    return (unsigned)refusal < PH_MAIL_REFUSAL_COUNT ? NAMES[refusal] : "unknown";
}

ph_mail_stats ph_mail_get_stats(const ph_mail* mail)
{
    ph_mail_stats stats = mail->stats;
    stats.sections_read = mail->sections_read;
    stats.outbox_fragments = ph_mail_outbox_count(&mail->outbox);
    stats.outbox_capacity = mail->outbox.capacity;
    stats.rtt_ms = mail->outbox.rtt_us / 1000.0;
    return stats;
}
