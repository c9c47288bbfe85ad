// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One end of a connection: its life, messages, input, figures; then what the next section says, and what
// one of the other end means. Once per datagram and end; message_section.h has the bits,
// message_state.h what is kept.

#include "base/allocator.h"
#include "message/message_state.h"

#include <string.h>

#define COOKIE 0x4D41494Cu
#define FRAGMENTS_MIN 32
#define FRAGMENTS_MAX 1024
#define MESSAGE_OVERHEAD_BYTES_MAX 1000
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

static bool is_def_sensible(const ph_mail_def* def)
{
    return def->bits_per_second >= 0 && def->share_percent >= 1 && def->share_percent <= 100 &&
           def->section_max >= PH_MAIL_SECTION_MIN && def->section_max <= PH_MAIL_DATAGRAM_MAX &&
           def->overhead_bytes >= 0 && def->overhead_bytes <= MESSAGE_OVERHEAD_BYTES_MAX &&
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

static void lay_out_channel(ph_mail* mail)
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
    if (!is_def_sensible(def)) {
        return PH_ERROR_RANGE;
    }
    ph_mail* made = ph_allocate_zeroed(&def->allocator, bytes_of(def));
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->def = *def;
    made->size_bytes = bytes_of(def);
    lay_out_channel(made);
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

// ---- what the next section says
//
// Composing changes nothing, so that asking how much room it would take and
// writing it come to the same. What goes first: receipts and answers, as they are few bytes and the
// other end waits for them; input, as it is old with the next one; then fragments, the oldest first,
// none past one that does not fit, as long as the share pays for them.

#define US_PER_MS 1000
// Receipts and answers alone are hardly worth a datagram.
#define REST_PATIENCE 10

typedef struct section_draft {
    ph_mail_section section;
    int64_t bits;       // so far
    int64_t room_bits;  // at most
    int64_t share_bits; // that fragments may still take
    int64_t paid_bits;  // from the share
} section_draft;

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

static bool try_take(section_draft* d, int64_t bits)
{
    if (d->bits + bits > d->room_bits) {
        return false;
    }
    d->bits += bits;
    return true;
}

static void add_receipt(const ph_mail* mail, section_draft* d)
{
    const uint32_t mask = mail->inbox.early >> 1;
    if (mail->receipts_owed > 0 && try_take(d, ph_mail_receipt_bits(mask))) {
        d->section.has_receipt = true;
        d->section.receipt_next = mail->inbox.next;
        d->section.receipt_mask = mask;
    }
}

static void add_answer(const ph_mail* mail, section_draft* d)
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
static void add_input(const ph_mail* mail, section_draft* d)
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
static bool try_add_fragment(section_draft* d, const ph_mail_fragment* fragment, int64_t bare_bits)
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

static void add_fragments(const ph_mail* mail, uint64_t now_us, section_draft* d)
{
    const int64_t bare_bits = d->bits;
    ph_mail_fragment fragment;
    uint16_t from = mail->outbox.oldest;
    while (ph_mail_outbox_try_due(&mail->outbox, from, now_us, &fragment) &&
           try_add_fragment(d, &fragment, bare_bits)) {
        from = (uint16_t)(fragment.number + 1);
    }
}

static void compose(ph_mail* mail, uint64_t now_us, size_t room, section_draft* d)
{
    *d = (section_draft){.bits = PH_MAIL_FLAG_BITS, .room_bits = 8 * (int64_t)room};
    ph_token_bucket_fill(&mail->share, now_us);
    d->share_bits = ph_token_bucket_bits(&mail->share);
    add_receipt(mail, d);
    add_answer(mail, d);
    add_input(mail, d);
    add_fragments(mail, now_us, d);
}

// In a datagram of its own it pays for everything, so that is taken off before.
static void compose_alone(ph_mail* mail, uint64_t now_us, size_t room, section_draft* d)
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

static bool has_messages(const section_draft* d)
{
    return d->section.fragment_count > 0;
}

static bool says_nothing(const section_draft* d)
{
    return d->bits == PH_MAIL_FLAG_BITS;
}

static size_t size_of(const section_draft* d)
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

static void note_draft(ph_mail* mail, uint64_t now_us, const section_draft* d)
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
    section_draft d;
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
    section_draft d;
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

static void note_written(ph_mail* mail, uint64_t now_us, const section_draft* d, size_t size)
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

static size_t write_draft(ph_mail* mail, uint64_t now_us, const section_draft* d, uint8_t* bytes)
{
    const size_t size = ph_mail_section_write(&d->section, bytes, size_of(d));
    PH_ASSERT(size == size_of(d));
    note_written(mail, now_us, d, size);
    return size;
}

size_t ph_mail_write(ph_mail* mail, uint64_t now_us, size_t room, uint8_t* bytes)
{
    PH_ASSERT(room >= PH_MAIL_EMPTY_SIZE);

    section_draft d;
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
    section_draft d;
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

// ---- what a section of the other end says
//
// It is read and judged as a whole before anything of it counts.

// So many sections say what has come: should all of them get lost, the other end sends it again, and
// that is answered anew.
#define RECEIPT_REPEATS 3

// ---- input

// The number with these low bits nearest to the given one.
static int64_t extend_message_number(uint16_t low, uint32_t near_number)
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
    const int64_t number = extend_message_number(section->input_number, mail->their_number);
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
    const int64_t number = extend_message_number(section->input_number, mail->their_number);
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
    const int64_t received = extend_message_number(section->answer_received, mail->input_number);
    const int64_t lag = (uint16_t)(section->answer_received - section->answer_processed);
    return received >= 1 && received <= mail->input_number &&
           (lag <= received || lag == PH_MAIL_LAG_UNKNOWN);
}

static void take_answer(ph_mail* mail, const ph_mail_section* section)
{
    const int64_t received = extend_message_number(section->answer_received, mail->input_number);
    const int64_t lag = (uint16_t)(section->answer_received - section->answer_processed);
    if (received > mail->input_delivered) {
        mail->input_delivered = (uint32_t)received;
    }
    if (lag != PH_MAIL_LAG_UNKNOWN && received - lag > mail->input_processed) {
        mail->input_processed = (uint32_t)(received - lag);
    }
}

// ---- the whole

static ph_mail_refusal judge_arrival(const ph_mail* mail, const ph_mail_section* section)
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
    const ph_mail_refusal refusal =
        section_size > 0 ? judge_arrival(mail, &section) : PH_MAIL_MALFORMED;
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
