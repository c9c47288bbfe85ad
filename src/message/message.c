// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One end of a connection: its life, messages, input, figures; then what the next section says, and what
// one of the other end means. Once per datagram and end; message_section.h has the bits,
// message_state.h what is kept.

#include "base/allocator.h"
#include "base/check.h"
#include "message/message_state.h"
#include "tools/tools.h"

#include <limits.h>
#include <string.h>

#define COOKIE 0x4D41494Cu
#define FRAGMENTS_MIN 32
#define FRAGMENTS_MAX 1024
#define MESSAGE_OVERHEAD_BYTES_MAX 1000
#define MAX_WAIT_MS_MAX 60000
// Of 65,536 numbers, so that ahead and behind can be told apart.
#define INPUT_AHEAD_MAX 32767

ph_messages_def ph_messages_def_default(void)
{
    return (ph_messages_def){
        .bits_per_second = 13000,
        .share_percent = 25,
        .section_max = 384,
        .overhead_bytes = 48,
        .max_wait_ms = 100,
        .send_queue_fragments = 64,
        .receive_queue_fragments = 64,
        .cookie = COOKIE,
    };
}

// ---- life

static void check_queue(ph_check* check, const char* field, int fragments)
{
    if (check->result == PH_OK && (fragments < FRAGMENTS_MIN || fragments > FRAGMENTS_MAX ||
                                   (fragments & (fragments - 1)) != 0)) {
        char is[PH_COUNT_TEXT_SIZE];
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, field,
                    "is %s; it must be a power of two in 32..1,024", ph_count_text(fragments, is));
    }
}

static void check_messages_def(ph_check* check, const ph_messages_def* def)
{
    ph_check_range(check, "ph_messages_def.bits_per_second", def->bits_per_second, 0, PH_NO_END);
    ph_check_range(check, "ph_messages_def.share_percent", def->share_percent, 1, 100);
    ph_check_range(check, "ph_messages_def.section_max", def->section_max, PH_MESSAGES_SECTION_MIN,
                   PH_PAYLOAD_MAX);
    ph_check_range(check, "ph_messages_def.overhead_bytes", def->overhead_bytes, 0,
                   MESSAGE_OVERHEAD_BYTES_MAX);
    ph_check_range(check, "ph_messages_def.max_wait_ms", def->max_wait_ms, 0, MAX_WAIT_MS_MAX);
    check_queue(check, "ph_messages_def.send_queue_fragments", def->send_queue_fragments);
    check_queue(check, "ph_messages_def.receive_queue_fragments", def->receive_queue_fragments);
}

static ph_check messages_call(const ph_messages* messages, const char* function)
{
    return ph_check_begin(messages->def.on_error, messages->def.on_error_context, function);
}

// Rounded up, as 0 is no limit.
static int64_t share_of(const ph_messages_def* def, int bits_per_second)
{
    return ((int64_t)bits_per_second * def->share_percent + 99) / 100;
}

static int64_t share_depth(const ph_messages_def* def, int64_t share)
{
    const int64_t least_bits = 8 * (int64_t)(def->overhead_bytes + def->section_max);
    return share > least_bits ? share : least_bits;
}

static size_t bytes_of(const ph_messages_def* def)
{
    const size_t out = sizeof(ph_message_sent) + PH_MESSAGE_FRAGMENT_SIZE;
    const size_t in = sizeof(ph_message_arrived) + PH_MESSAGE_FRAGMENT_SIZE;
    return sizeof(ph_messages) + (size_t)def->send_queue_fragments * out +
           (size_t)def->receive_queue_fragments * in;
}

static void lay_out_channel(ph_messages* messages)
{
    const ph_messages_def* def = &messages->def;
    messages->outbox.capacity = def->send_queue_fragments;
    messages->outbox.sent = (ph_message_sent*)(messages + 1);
    messages->inbox.capacity = def->receive_queue_fragments;
    messages->inbox.arrived =
        (ph_message_arrived*)(messages->outbox.sent + def->send_queue_fragments);
    uint8_t* bytes = (uint8_t*)(messages->inbox.arrived + def->receive_queue_fragments);
    messages->outbox.bytes = (uint8_t(*)[PH_MESSAGE_FRAGMENT_SIZE])bytes;
    messages->inbox.bytes = messages->outbox.bytes + def->send_queue_fragments;
}

ph_result ph_messages_create(const ph_messages_def* def, ph_messages** messages)
{
    *messages = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_made(&check, def->cookie == COOKIE, "ph_messages_def");
    check_messages_def(&check, def);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_messages* made = ph_allocate_zeroed(&def->allocator, bytes_of(def));
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    made->def = *def;
    made->size_bytes = bytes_of(def);
    lay_out_channel(made);
    const int64_t share = share_of(def, def->bits_per_second);
    made->share = ph_token_bucket_make(share, share_depth(def, share), 0);
    made->promise.room = PH_MESSAGES_EMPTY_SIZE;
    *messages = made;
    return PH_OK;
}

void ph_messages_destroy(ph_messages* messages)
{
    if (messages != NULL) {
        const ph_allocator allocator = messages->def.allocator;
        ph_release(&allocator, messages, messages->size_bytes);
    }
}

void ph_messages_set_budget(ph_messages* messages, int bits_per_second)
{
    PH_ASSERT(bits_per_second >= 0);

    bits_per_second = bits_per_second > 0 ? bits_per_second : 0;
    const int64_t share = share_of(&messages->def, bits_per_second);
    messages->def.bits_per_second = bits_per_second;
    ph_token_bucket_fill(&messages->share,
                         messages->promise.now_us); // what has passed counts as before
    ph_token_bucket_change(&messages->share, share, share_depth(&messages->def, share));
}

// ---- messages

ph_result ph_messages_send(ph_messages* messages, const void* bytes, size_t size)
{
    if (size < 1 || size > PH_MESSAGE_SIZE_MAX) {
        ph_check check = messages_call(messages, __func__);
        ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 1,
                       PH_MESSAGE_SIZE_MAX);
        return check.result;
    }
    if (!ph_message_outbox_post(&messages->outbox, bytes, size)) {
        return PH_ERROR_FULL;
    }
    ++messages->stats.sent_messages;
    return PH_OK;
}

size_t ph_messages_receive(ph_messages* messages, uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    const size_t size = ph_message_inbox_take(&messages->inbox, bytes);
    messages->stats.received_messages += size > 0;
    return size;
}

bool ph_messages_is_all_acked(const ph_messages* messages)
{
    return ph_message_outbox_count(&messages->outbox) == 0;
}

// ---- input

ph_result ph_messages_set_input(ph_messages* messages, uint32_t number, const void* bytes,
                                size_t size)
{
    const int room = messages->def.section_max - PH_MESSAGES_BESIDE_INPUT;
    ph_check check = messages_call(messages, __func__);
    ph_check_range(&check, "number", number, (int64_t)messages->input_number + 1,
                   (int64_t)messages->input_delivered + INPUT_AHEAD_MAX);
    ph_check_range(&check, "size", size > INT_MAX ? INT_MAX : (int64_t)size, 0,
                   room < PH_INPUT_SIZE_MAX ? room : PH_INPUT_SIZE_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    messages->input_number = number;
    messages->input_size = (uint8_t)size;
    if (size > 0) {
        memcpy(messages->input_bytes, bytes, size);
    }
    return PH_OK;
}

ph_input ph_messages_newest_input(const ph_messages* messages)
{
    return (ph_input){
        .number = messages->their_number,
        .size = messages->their_size,
        .bytes = messages->their_bytes,
    };
}

ph_result ph_messages_set_processed_input(ph_messages* messages, uint32_t number)
{
    if (number > messages->their_number || number < messages->their_processed) {
        ph_check check = messages_call(messages, __func__);
        ph_check_range(&check, "number", number, messages->their_processed, messages->their_number);
        return check.result;
    }
    if (number > messages->their_processed) {
        messages->their_processed = number;
        messages->input_acks_owed = PH_MESSAGE_INPUT_ACK_REPEATS;
    }
    return PH_OK;
}

uint32_t ph_messages_processed_input(const ph_messages* messages)
{
    return messages->input_processed;
}

// ---- figures

const char* ph_messages_refusal_name(ph_messages_refusal refusal)
{
    static const char* const NAMES[] = {
        [PH_MESSAGES_REFUSAL_MALFORMED] = "malformed",
        [PH_MESSAGES_REFUSAL_ACK] = "impossible_ack",
        [PH_MESSAGES_REFUSAL_WINDOW] = "beyond_window",
        [PH_MESSAGES_REFUSAL_CONTRARY] = "contrary",
    };
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == PH_MESSAGES_REFUSAL_COUNT, "a name for each");
    return (unsigned)refusal < PH_MESSAGES_REFUSAL_COUNT ? NAMES[refusal] : "unknown";
}

ph_messages_stats ph_messages_get_stats(const ph_messages* messages)
{
    ph_messages_stats stats = messages->stats;
    stats.received_sections = messages->sections_read;
    stats.queued_fragment_count = ph_message_outbox_count(&messages->outbox);
    stats.queued_fragment_capacity = messages->outbox.capacity;
    stats.rtt_ms = messages->outbox.rtt_us / 1000.0;
    return stats;
}

// ---- what the next section says
//
// Composing changes nothing, so that asking how much room it would take and
// writing it come to the same. What goes first: acks, as they are few bytes and the
// other end waits for them; input, as it is old with the next one; then fragments, the oldest first,
// none past one that does not fit, as long as the share pays for them.

#define US_PER_MS 1000
// Acks alone are hardly worth a datagram.
#define REST_WAITS 10

typedef struct composed_section {
    ph_message_section section;
    int64_t bits;       // so far
    int64_t room_bits;  // at most
    int64_t share_bits; // that fragments may still take
    int64_t paid_bits;  // from the share
} composed_section;

static int64_t whole_bytes(int64_t bits)
{
    return 8 * ((bits + 7) / 8);
}

// Nothing to say, whatever the time is and however much room there is. So it is for most datagrams of
// most connections, and then there is nothing to compose.
static bool is_idle(const ph_messages* messages)
{
    return messages->acks_owed == 0 && messages->input_acks_owed == 0 &&
           messages->input_processed == messages->input_number &&
           ph_message_outbox_count(&messages->outbox) == 0;
}

// ---- composing

static bool try_take(composed_section* d, int64_t bits)
{
    if (d->bits + bits > d->room_bits) {
        return false;
    }
    d->bits += bits;
    return true;
}

static void add_ack(const ph_messages* messages, composed_section* d)
{
    const uint32_t mask = messages->inbox.early >> 1;
    if (messages->acks_owed > 0 && try_take(d, ph_message_ack_bits(mask))) {
        d->section.has_ack = true;
        d->section.ack_next = messages->inbox.next;
        d->section.ack_mask = mask;
    }
}

static void add_input_ack(const ph_messages* messages, composed_section* d)
{
    const uint32_t lag_all = messages->their_number - messages->their_processed;
    const uint32_t lag = lag_all < PH_MESSAGE_LAG_UNKNOWN ? lag_all : PH_MESSAGE_LAG_UNKNOWN;
    if (messages->input_acks_owed > 0 && try_take(d, ph_message_input_ack_bits(lag == 0))) {
        d->section.has_input_ack = true;
        d->section.input_received = (uint16_t)messages->their_number;
        d->section.input_processed = (uint16_t)(messages->their_number - lag);
    }
}

// Until it is known to have arrived with its bytes, and until it is known to be processed as a question.
static void add_input(const ph_messages* messages, composed_section* d)
{
    const bool has_blob = messages->input_delivered != messages->input_number;
    if (messages->input_processed != messages->input_number &&
        try_take(d, ph_message_input_bits(has_blob, messages->input_size))) {
        d->section.has_input = true;
        d->section.has_blob = has_blob;
        d->section.input_number = (uint16_t)messages->input_number;
        d->section.input_size = has_blob ? messages->input_size : 0;
        d->section.input_bytes = messages->input_bytes;
    }
}

// The share pays for the whole bytes by which fragments make a section longer.
static bool try_add_fragment(composed_section* d, const ph_message_fragment* fragment,
                             int64_t bare_bits)
{
    ph_message_section* section = &d->section;
    const int count = section->fragment_count;
    const int step =
        count == 0 ? 0 : (uint16_t)(fragment->sequence - section->fragments[count - 1].sequence);
    const int64_t bits = ph_message_fragment_bits(fragment, step);
    const int64_t paid_bits = whole_bytes(d->bits + bits) - whole_bytes(bare_bits);
    if (paid_bits > d->share_bits || !try_take(d, bits)) {
        return false;
    }
    d->paid_bits = paid_bits;
    section->fragments[section->fragment_count++] = *fragment;
    return true;
}

static void add_fragments(const ph_messages* messages, uint64_t now_us, composed_section* d)
{
    const int64_t bare_bits = d->bits;
    ph_message_fragment fragment;
    uint16_t from = messages->outbox.oldest;
    while (ph_message_outbox_try_due(&messages->outbox, from, now_us, &fragment) &&
           try_add_fragment(d, &fragment, bare_bits)) {
        from = (uint16_t)(fragment.sequence + 1);
    }
}

static void compose(ph_messages* messages, uint64_t now_us, size_t room, composed_section* d)
{
    *d = (composed_section){.bits = PH_MESSAGE_FLAG_BITS, .room_bits = 8 * (int64_t)room};
    ph_token_bucket_fill(&messages->share, now_us);
    d->share_bits = ph_token_bucket_bits(&messages->share);
    add_ack(messages, d);
    add_input_ack(messages, d);
    add_input(messages, d);
    add_fragments(messages, now_us, d);
}

// In a datagram of its own it pays for everything, so that is taken off before.
static void compose_alone(ph_messages* messages, uint64_t now_us, size_t room, composed_section* d)
{
    compose(messages, now_us, room, d);
    const int64_t overhead_bits = 8 * (int64_t)messages->def.overhead_bytes;
    const int64_t have_bits = d->share_bits;
    while (d->section.fragment_count > 0 && overhead_bits + whole_bytes(d->bits) > have_bits) {
        const int last = --d->section.fragment_count;
        const ph_message_fragment* fragments = d->section.fragments;
        const int step =
            last == 0 ? 0 : (uint16_t)(fragments[last].sequence - fragments[last - 1].sequence);
        d->bits -= ph_message_fragment_bits(&fragments[last], step);
    }
    d->paid_bits = overhead_bits + whole_bytes(d->bits);
}

static bool has_messages(const composed_section* d)
{
    return d->section.fragment_count > 0;
}

static bool says_nothing(const composed_section* d)
{
    return d->bits == PH_MESSAGE_FLAG_BITS;
}

static size_t size_of(const composed_section* d)
{
    return (size_t)(whole_bytes(d->bits) / 8);
}

// ---- what is wanted

static size_t largest(const ph_messages* messages, size_t room)
{
    const size_t most = (size_t)messages->def.section_max;
    return room < most ? room : most;
}

// From the first call that asks; times begin at 1, as 0 says that nothing waits.
static void note_waiting(uint64_t* since_us, bool is_waiting, uint64_t now_us)
{
    if (!is_waiting) {
        *since_us = 0;
    } else if (*since_us == 0) {
        *since_us = now_us > 0 ? now_us : 1;
    }
}

static bool has_waited(uint64_t since_us, uint64_t now_us, int max_wait_ms)
{
    return since_us != 0 && now_us >= since_us &&
           now_us - since_us >= (uint64_t)max_wait_ms * US_PER_MS;
}

static void note_composed(ph_messages* messages, uint64_t now_us, const composed_section* d)
{
    ph_message_fragment due;
    const bool is_due =
        ph_message_outbox_try_due(&messages->outbox, messages->outbox.oldest, now_us, &due);
    note_waiting(&messages->messages_wait_us, is_due, now_us);
    note_waiting(&messages->rest_waits_us, !says_nothing(d), now_us);
}

static void note_idle(ph_messages* messages)
{
    messages->messages_wait_us = 0;
    messages->rest_waits_us = 0;
}

static size_t promise(ph_messages* messages, uint64_t now_us, size_t room)
{
    messages->promise = (ph_message_promise){.room = room, .now_us = now_us};
    return room;
}

size_t ph_messages_plan(ph_messages* messages, uint64_t now_us)
{
    if (is_idle(messages)) {
        note_idle(messages);
        return promise(messages, now_us, PH_MESSAGES_EMPTY_SIZE);
    }
    composed_section d;
    compose(messages, now_us, largest(messages, PH_PAYLOAD_MAX), &d);
    note_composed(messages, now_us, &d);
    return promise(messages, now_us, size_of(&d));
}

size_t ph_messages_plan_alone(ph_messages* messages, uint64_t now_us)
{
    if (is_idle(messages)) {
        note_idle(messages);
        return 0;
    }
    composed_section d;
    compose_alone(messages, now_us, largest(messages, PH_PAYLOAD_MAX), &d);
    note_composed(messages, now_us, &d);
    const int max_wait_ms = messages->def.max_wait_ms;
    const bool is_time =
        (has_messages(&d) && has_waited(messages->messages_wait_us, now_us, max_wait_ms)) ||
        has_waited(messages->rest_waits_us, now_us, REST_WAITS * max_wait_ms);
    if (!is_time || says_nothing(&d) || d.paid_bits > d.share_bits) {
        return 0;
    }
    return promise(messages, now_us, size_of(&d));
}

// ---- writing

static void note_written(ph_messages* messages, uint64_t now_us, const composed_section* d,
                         size_t size)
{
    for (int i = 0; i < d->section.fragment_count; ++i) {
        const uint16_t sequence = d->section.fragments[i].sequence;
        const bool is_first = (int16_t)(uint16_t)(sequence - messages->outbox.unsent) >= 0;
        ++messages->stats.sent_fragments;
        messages->stats.resent_fragments += !is_first;
        ph_message_outbox_note_sent(&messages->outbox, sequence, now_us);
    }
    messages->acks_owed -= d->section.has_ack;
    messages->input_acks_owed -= d->section.has_input_ack;
    messages->rest_waits_us = says_nothing(d) ? messages->rest_waits_us : 0;
    if (d->section.fragment_count > 0) {
        messages->messages_wait_us = 0;
    }
    ++messages->stats.sent_sections;
    messages->stats.sent_bytes += size;
    const int64_t have_bits = ph_token_bucket_bits(&messages->share);
    ph_token_bucket_spend(&messages->share, d->paid_bits < have_bits ? d->paid_bits : have_bits);
}

static size_t write_composed(ph_messages* messages, uint64_t now_us, const composed_section* d,
                             uint8_t* bytes)
{
    const size_t size = ph_message_section_write(&d->section, bytes, size_of(d));
    PH_ASSERT(size == size_of(d));
    note_written(messages, now_us, d, size);
    return size;
}

size_t ph_messages_write_section(ph_messages* messages, uint64_t now_us, size_t room,
                                 uint8_t* bytes)
{
    PH_ASSERT(room >= PH_MESSAGES_EMPTY_SIZE);

    composed_section d;
    compose(messages, now_us, largest(messages, room), &d);
    return write_composed(messages, now_us, &d, bytes);
}

// All four flags of the section are zero, and so is what fills its byte.
static size_t write_empty(ph_messages* messages, uint8_t* bytes)
{
    bytes[0] = 0;
    ++messages->stats.sent_sections;
    messages->stats.sent_bytes += PH_MESSAGES_EMPTY_SIZE;
    return PH_MESSAGES_EMPTY_SIZE;
}

// The promised section. One that stands alone pays for its datagram, even when it says nothing.
static size_t write_promised(ph_messages* messages, size_t packet_size, uint8_t* bytes)
{
    if (packet_size > 0 && is_idle(messages)) {
        return write_empty(messages, bytes);
    }
    const ph_message_promise promised = messages->promise;
    const size_t room_left = PH_PAYLOAD_MAX - packet_size;
    const size_t room = promised.room < room_left ? promised.room : room_left;
    composed_section d;
    if (packet_size == 0) {
        compose_alone(messages, promised.now_us, room, &d);
    } else {
        compose(messages, promised.now_us, room, &d);
    }
    return write_composed(messages, promised.now_us, &d, bytes);
}

size_t ph_messages_pack(ph_messages* messages, const void* packet, size_t size,
                        uint8_t bytes[PH_PAYLOAD_MAX])
{
    PH_ASSERT(size < PH_PAYLOAD_MAX && (packet != NULL || size == 0));

    const size_t section_size = write_promised(messages, size, bytes);
    if (size > 0) {
        memcpy(bytes + section_size, packet, size);
    }
    messages->promise.room = PH_MESSAGES_EMPTY_SIZE;
    return section_size + size;
}

// ---- what a section of the other end says
//
// It is read and judged as a whole before anything of it counts.

// So many sections say what has come: should all of them get lost, the other end sends it again, and
// that is answered anew.
#define ACK_REPEATS 3

// ---- input

// The number with these low bits nearest to the given one.
static int64_t extend_message_number(uint16_t low, uint32_t near_number)
{
    return (int64_t)near_number + (int16_t)(uint16_t)(low - (uint16_t)near_number);
}

static bool is_same_input(const ph_messages* messages, const ph_message_section* section)
{
    return messages->their_size == section->input_size &&
           memcmp(messages->their_bytes, section->input_bytes, section->input_size) == 0;
}

// Without its bytes it is a question about one that we have said to have.
static ph_messages_refusal judge_input(const ph_messages* messages,
                                       const ph_message_section* section)
{
    const int64_t number = extend_message_number(section->input_number, messages->their_number);
    if (number < 1 || number > UINT32_MAX) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    if (!section->has_blob) {
        return number > messages->their_number ? PH_MESSAGES_REFUSAL_ACK
                                               : PH_MESSAGES_REFUSAL_COUNT;
    }
    return number == messages->their_number && !is_same_input(messages, section)
               ? PH_MESSAGES_REFUSAL_CONTRARY
               : PH_MESSAGES_REFUSAL_COUNT;
}

static void take_input(ph_messages* messages, const ph_message_section* section)
{
    const int64_t number = extend_message_number(section->input_number, messages->their_number);
    messages->input_acks_owed = PH_MESSAGE_INPUT_ACK_REPEATS;
    if (number > messages->their_number) {
        messages->their_number = (uint32_t)number;
        messages->their_size = section->input_size;
        memcpy(messages->their_bytes, section->input_bytes, section->input_size);
    }
}

// ---- what the other end says of our input

static bool is_input_ack_possible(const ph_messages* messages, const ph_message_section* section)
{
    const int64_t received = extend_message_number(section->input_received, messages->input_number);
    const int64_t lag = (uint16_t)(section->input_received - section->input_processed);
    return received >= 1 && received <= messages->input_number &&
           (lag <= received || lag == PH_MESSAGE_LAG_UNKNOWN);
}

static void take_input_ack(ph_messages* messages, const ph_message_section* section)
{
    const int64_t received = extend_message_number(section->input_received, messages->input_number);
    const int64_t lag = (uint16_t)(section->input_received - section->input_processed);
    if (received > messages->input_delivered) {
        messages->input_delivered = (uint32_t)received;
    }
    if (lag != PH_MESSAGE_LAG_UNKNOWN && received - lag > messages->input_processed) {
        messages->input_processed = (uint32_t)(received - lag);
    }
}

// ---- the whole

static ph_messages_refusal judge_arrival(const ph_messages* messages,
                                         const ph_message_section* section)
{
    if (section->has_ack &&
        !ph_message_outbox_is_possible(&messages->outbox, section->ack_next, section->ack_mask)) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    if (section->has_input_ack && !is_input_ack_possible(messages, section)) {
        return PH_MESSAGES_REFUSAL_ACK;
    }
    const ph_messages_refusal input =
        section->has_input ? judge_input(messages, section) : PH_MESSAGES_REFUSAL_COUNT;
    return input != PH_MESSAGES_REFUSAL_COUNT ? input
                                              : ph_message_inbox_judge(&messages->inbox, section);
}

static void take_fragments(ph_messages* messages, const ph_message_section* section)
{
    for (int i = 0; i < section->fragment_count; ++i) {
        const ph_message_storing stored =
            ph_message_inbox_store(&messages->inbox, &section->fragments[i]);
        messages->stats.duplicate_fragments += stored == PH_MESSAGE_DOUBLED;
        messages->stats.dropped_fragments += stored == PH_MESSAGE_WITHOUT_ROOM;
    }
    messages->acks_owed = section->fragment_count > 0 ? ACK_REPEATS : messages->acks_owed;
}

static void take_section(ph_messages* messages, uint64_t now_us, const ph_message_section* section)
{
    if (section->has_ack) {
        messages->stats.acked_messages += (uint64_t)ph_message_outbox_take_ack(
            &messages->outbox, now_us, section->ack_next, section->ack_mask);
    }
    if (section->has_input_ack) {
        take_input_ack(messages, section);
    }
    if (section->has_input) {
        take_input(messages, section);
    }
    take_fragments(messages, section);
}

static ph_result read_section(ph_messages* messages, uint64_t now_us, const void* bytes,
                              size_t size, size_t* used)
{
    ph_message_section section;
    ph_message_storage storage;
    *used = 0;
    const size_t section_size = ph_message_section_read(bytes, size, &section, &storage);
    const ph_messages_refusal refusal =
        section_size > 0 ? judge_arrival(messages, &section) : PH_MESSAGES_REFUSAL_MALFORMED;
    if (refusal != PH_MESSAGES_REFUSAL_COUNT) {
        ++messages->stats.refused_sections[refusal];
        return PH_ERROR_VALUE;
    }
    take_section(messages, now_us, &section);
    ++messages->sections_read;
    *used = section_size;
    return PH_OK;
}

ph_result ph_messages_read_section(ph_messages* messages, uint64_t now_us, const void* bytes,
                                   size_t size, size_t* used)
{
    if (size >= PH_MESSAGES_EMPTY_SIZE && *(const uint8_t*)bytes == 0) {
        ++messages->sections_read; // it says nothing, as most do
        *used = PH_MESSAGES_EMPTY_SIZE;
        return PH_OK;
    }
    return read_section(messages, now_us, bytes, size, used);
}

ph_result ph_messages_unpack(ph_messages* messages, uint64_t now_us, const void* bytes, size_t size,
                             ph_messages_rest* rest)
{
    size_t used;
    *rest = (ph_messages_rest){0};
    const ph_result result = ph_messages_read_section(messages, now_us, bytes, size, &used);
    if (result == PH_OK && used < size) {
        *rest = (ph_messages_rest){.bytes = (const uint8_t*)bytes + used, .size = size - used};
    }
    return result;
}
