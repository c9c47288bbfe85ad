// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a section of the other end says. It is read and judged as a whole before anything of it counts.

#include "mail/mail_state.h"

#include <string.h>

// So many sections say what has come: should all of them get lost, the other end sends it again, and
// that is answered anew.
#define RECEIPT_REPEATS 3

// ---- input

// The number with these low bits nearest to the given one.
static int64_t extend(uint16_t low, uint32_t near_number)
{
    return (int64_t)near_number + (int16_t)(uint16_t)(low - (uint16_t)near_number);
}

static bool is_same_input(const ph_mail* mail, const ph_mail_section* section)
{
    return mail->their_size == section->input_size &&
           memcmp(mail->their_bytes, section->input_bytes, section->input_size) == 0;
}

// Without its bytes it is a question about one that we have said to have.
static ph_mail_refusal judge_input(const ph_mail* mail, const ph_mail_section* section)
{
    const int64_t number = extend(section->input_number, mail->their_number);
    if (number < 1 || number > UINT32_MAX) {
        return PH_MAIL_IMPOSSIBLE_RECEIPT;
    }
    if (!section->has_blob) {
        return number > mail->their_number ? PH_MAIL_IMPOSSIBLE_RECEIPT : PH_MAIL_REFUSAL_COUNT;
    }
    return number == mail->their_number && !is_same_input(mail, section) ? PH_MAIL_CONTRARY
                                                                         : PH_MAIL_REFUSAL_COUNT;
}

static void take_input(ph_mail* mail, const ph_mail_section* section)
{
    const int64_t number = extend(section->input_number, mail->their_number);
    mail->answers_owed = PH_MAIL_ANSWER_REPEATS;
    if (number > mail->their_number) {
        mail->their_number = (uint32_t)number;
        mail->their_size = section->input_size;
        memcpy(mail->their_bytes, section->input_bytes, section->input_size);
    }
}

// ---- what the other end says of our input

static bool is_answer_possible(const ph_mail* mail, const ph_mail_section* section)
{
    const int64_t received = extend(section->answer_received, mail->input_number);
    const int64_t lag = (uint16_t)(section->answer_received - section->answer_processed);
    return received >= 1 && received <= mail->input_number &&
           (lag <= received || lag == PH_MAIL_LAG_UNKNOWN);
}

static void take_answer(ph_mail* mail, const ph_mail_section* section)
{
    const int64_t received = extend(section->answer_received, mail->input_number);
    const int64_t lag = (uint16_t)(section->answer_received - section->answer_processed);
    if (received > mail->input_delivered) {
        mail->input_delivered = (uint32_t)received;
    }
    if (lag != PH_MAIL_LAG_UNKNOWN && received - lag > mail->input_processed) {
        mail->input_processed = (uint32_t)(received - lag);
    }
}

// ---- the whole

static ph_mail_refusal judge(const ph_mail* mail, const ph_mail_section* section)
{
    if (section->has_receipt &&
        !ph_mail_outbox_is_possible(&mail->outbox, section->receipt_next, section->receipt_mask)) {
        return PH_MAIL_IMPOSSIBLE_RECEIPT;
    }
    if (section->has_answer && !is_answer_possible(mail, section)) {
        return PH_MAIL_IMPOSSIBLE_RECEIPT;
    }
    const ph_mail_refusal input =
        section->has_input ? judge_input(mail, section) : PH_MAIL_REFUSAL_COUNT;
    return input != PH_MAIL_REFUSAL_COUNT ? input : ph_mail_inbox_judge(&mail->inbox, section);
}

static void take_fragments(ph_mail* mail, const ph_mail_section* section)
{
    for (int i = 0; i < section->fragment_count; ++i) {
        const ph_mail_storing stored = ph_mail_inbox_store(&mail->inbox, &section->fragments[i]);
        mail->stats.fragments_doubled += stored == PH_MAIL_DOUBLED;
        mail->stats.fragments_without_room += stored == PH_MAIL_WITHOUT_ROOM;
    }
    mail->receipts_owed = section->fragment_count > 0 ? RECEIPT_REPEATS : mail->receipts_owed;
}

static void take_section(ph_mail* mail, uint64_t now_us, const ph_mail_section* section)
{
    if (section->has_receipt) {
        mail->stats.delivered += (uint64_t)ph_mail_outbox_take_receipt(
            &mail->outbox, now_us, section->receipt_next, section->receipt_mask);
    }
    if (section->has_answer) {
        take_answer(mail, section);
    }
    if (section->has_input) {
        take_input(mail, section);
    }
    take_fragments(mail, section);
}

static ph_result read_section(ph_mail* mail, uint64_t now_us, const void* bytes, size_t size,
                              size_t* used)
{
    ph_mail_section section;
    ph_mail_storage storage;
    *used = 0;
    const size_t section_size = ph_mail_section_read(bytes, size, &section, &storage);
    const ph_mail_refusal refusal = section_size > 0 ? judge(mail, &section) : PH_MAIL_MALFORMED;
    if (refusal != PH_MAIL_REFUSAL_COUNT) {
        ++mail->stats.sections_refused[refusal];
        return PH_ERROR_VALUE;
    }
    take_section(mail, now_us, &section);
    ++mail->sections_read;
    *used = section_size;
    return PH_OK;
}

ph_result ph_mail_read(ph_mail* mail, uint64_t now_us, const void* bytes, size_t size, size_t* used)
{
    if (size >= PH_MAIL_EMPTY_SIZE && *(const uint8_t*)bytes == 0) {
        ++mail->sections_read; // it says nothing, as most do
        *used = PH_MAIL_EMPTY_SIZE;
        return PH_OK;
    }
    return read_section(mail, now_us, bytes, size, used);
}

ph_result ph_mail_unpack(ph_mail* mail, uint64_t now_us, const void* bytes, size_t size,
                         ph_mail_rest* rest)
{
    size_t used;
    *rest = (ph_mail_rest){0};
    const ph_result result = ph_mail_read(mail, now_us, bytes, size, &used);
    if (result == PH_OK && used < size) {
        *rest = (ph_mail_rest){.bytes = (const uint8_t*)bytes + used, .size = size - used};
    }
    return result;
}
