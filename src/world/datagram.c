// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From chosen slots to bytes. A datagram of thirty records takes a few microseconds.

#include "world/datagram.h"

#include "wire/coded_header.h"

void ph_datagram_init(ph_datagram* datagram, const ph_outlook* outlook, ph_sender* sender,
                      const int32_t eye_mm[3])
{
    const ph_world* world = outlook->world;
    PH_ASSERT(world->forms.layouts.text_bytes_max <= PH_WORDING_TEXT_BYTES);

    datagram->outlook = outlook;
    datagram->sender = sender;
    ph_wording_init(&datagram->wording, outlook);
    datagram->frame = (ph_frame){
        .layouts = &world->forms.layouts,
        .ground = &world->def.ground,
        .slot_bits = ph_classic_slot_bits(sender->knowledge.slot_count),
    };
    for (int axis = 0; axis < 3; ++axis) {
        datagram->eye_mm[axis] = eye_mm[axis];
    }
    datagram->is_open = false;
    datagram->count = 0;
    datagram->enters256 = 0;
    datagram->others256 = 0;
}

// ---- the header

static ph_hello make_hello(const ph_datagram* datagram)
{
    const ph_sender* sender = datagram->sender;
    const ph_world* world = datagram->outlook->world;
    const bool is_coded = ph_sender_is_coded(sender);
    return (ph_hello){
        .fingerprint = ph_schema_fingerprint(world->def.schema),
        .session = sender->session,
        .tick_us = world->def.tick_us,
        .slot_count = (uint16_t)sender->knowledge.slot_count,
        .version = (uint8_t)(!is_coded              ? PH_CLASSIC_VERSION
                             : sender->is_universal ? PH_UNIVERSAL_VERSION
                                                    : PH_CODED_VERSION),
        .precision = (uint16_t)sender->precision,
    };
}

// Ticks of the pinhole profile are counted from one that both ends know.
static void note_tick(const ph_datagram* datagram, ph_header* header)
{
    const ph_sender* sender = datagram->sender;
    const uint32_t tick = datagram->outlook->world->tick;
    if (!ph_sender_is_coded(sender)) {
        header->tick = (uint16_t)(tick & ((1u << PH_TICK_BITS) - 1));
        return;
    }
    const uint32_t since = tick - sender->applied_tick;
    const bool is_near =
        !header->has_hello && sender->has_applied_tick && since < PH_CODED_TICK_WHOLE;
    header->tick = (uint16_t)(is_near ? since : PH_CODED_TICK_WHOLE);
    header->whole_tick = is_near ? 0 : tick;
}

static ph_header make_header(const ph_datagram* datagram, uint32_t number)
{
    const ph_sender* sender = datagram->sender;
    const uint64_t lain = (sender->now_us - sender->answered_us) / PH_WAIT_UNIT_US;
    ph_header header = {
        .number = number,
        .horizon = sender->is_answered ? sender->horizon : sender->session,
        .wait = (uint8_t)(sender->is_answered && lain < PH_WAIT_UNKNOWN ? lain : PH_WAIT_UNKNOWN),
        .has_hello = !sender->is_answered,
    };
    if (header.has_hello) {
        header.hello = make_hello(datagram);
    }
    note_tick(datagram, &header);
    return header;
}

static int header_bits(const ph_datagram* datagram, const ph_header* header)
{
    return ph_sender_is_coded(datagram->sender) ? ph_coded_header_bits(header)
                                                : ph_header_bits(header);
}

// ---- opening

static bool is_eye_far(const ph_sender* sender, const int32_t eye_mm[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t way = (int32_t)((uint32_t)eye_mm[axis] - (uint32_t)sender->eye_mm[axis]);
        if (way > sender->eye_margin_mm || way < -(int64_t)sender->eye_margin_mm) {
            return true;
        }
    }
    return false;
}

// The pinhole profile has no window that a position could be outside of: there it is enough that a
// new eye is on its way.
static bool needs_eye(const ph_sender* sender, const int32_t eye_mm[3])
{
    const bool is_on_its_way =
        ph_sender_is_coded(sender) && (int32_t)(sender->eye_number - sender->horizon) > 0;
    return !sender->has_eye || (!is_on_its_way && is_eye_far(sender, eye_mm));
}

static int64_t payable_bytes(const ph_sender* sender)
{
    const int64_t bytes = ph_token_bucket_bits(&sender->bucket) / 8 - ph_sender_overhead(sender);
    const int room_bytes = ph_sender_room(sender);
    return bytes < room_bytes ? bytes : room_bytes;
}

static void begin_page(ph_datagram* datagram)
{
    ph_sender* sender = datagram->sender;
    const ph_world* world = datagram->outlook->world;
    const ph_coded_frame frame = {
        .frame = datagram->frame,
        .packings = world->forms.packings,
        .name_base = sender->baselines.name_base,
        .tick = world->tick,
        .tick_us = world->def.tick_us,
        .growths = world->growths,
        .density = sender->density,
        .precision = sender->precision,
        .is_universal = sender->is_universal,
    };
    datagram->head_bits = (int)datagram->bits;
    ph_wording_forget(&datagram->wording);
    datagram->tape = ph_tape_make(datagram->tokens, PH_DATAGRAM_TOKENS_MAX);
    ph_coded_page_begin(&datagram->page, &frame, &world->told_costs, &sender->baselines,
                        sender->knowledge.slot_count);
    // What suited the last packet may be too dear when the budget was lowered since: then nobody is
    // told, to begin with.
    if (datagram->bits + ph_coded_page_bits(&datagram->page) >= datagram->limit_bits) {
        ph_coded_page_settle(&datagram->page);
    }
    datagram->bits += ph_coded_page_bits(&datagram->page);
}

static bool begin_flight(ph_datagram* datagram)
{
    ph_sender* sender = datagram->sender;
    const ph_flight_stamp stamp = {
        .sent_us = sender->now_us,
        .number = datagram->header.number,
        .tick = datagram->outlook->world->tick,
    };
    return ph_flight_has_place(&sender->flight) &&
           ph_flight_begin(&sender->flight, &stamp,
                           datagram->header.has_eye ? datagram->eye_mm : NULL);
}

bool ph_datagram_open(ph_datagram* datagram)
{
    ph_sender* sender = datagram->sender;
    ph_header* header = &datagram->header;
    PH_ASSERT(!datagram->is_open);

    *header = make_header(datagram, sender->newest + 1);
    header->has_eye = needs_eye(sender, datagram->eye_mm);
    for (int axis = 0; axis < 3; ++axis) {
        header->eye_mm[axis] = header->has_eye ? datagram->eye_mm[axis] : 0;
        datagram->frame.eye_mm[axis] =
            header->has_eye ? datagram->eye_mm[axis] : sender->eye_mm[axis];
    }
    datagram->limit_bits = 8 * payable_bytes(sender);
    datagram->bits = header_bits(datagram, header);
    if (datagram->bits >= datagram->limit_bits) {
        return false;
    }
    if (ph_sender_is_coded(sender)) {
        begin_page(datagram);
    }
    if (datagram->bits >= datagram->limit_bits || !begin_flight(datagram)) {
        return false;
    }
    for (int kind = 0; kind < 3; ++kind) {
        datagram->counts[kind] = 0;
    }
    datagram->count = 0;
    datagram->kept_count = 0;
    datagram->usual.layout = NULL;
    datagram->usual_count = 0;
    datagram->booking = ph_booking_make(sender);
    datagram->is_open = true;
    return true;
}

void ph_datagram_cancel(ph_datagram* datagram)
{
    PH_ASSERT(datagram->is_open && datagram->count == 0);

    ph_flight_cancel(&datagram->sender->flight);
    datagram->is_open = false;
}

// ---- adding

bool ph_datagram_has_place(const ph_datagram* datagram, ph_record_kind kind)
{
    return datagram->count < PH_DATAGRAM_RECORDS_MAX &&
           (kind == PH_RECORD_UPDATE ||
            datagram->counts[kind] <
                (ph_sender_is_coded(datagram->sender) ? PH_CODED_COUNT_MAX : PH_HEADER_COUNT_MAX));
}

static ph_chosen* find_chosen(ph_datagram* datagram, int slot)
{
    const ph_dossier* dossier = ph_wording_at(&datagram->wording, slot)->dossier;
    if (dossier->in_flight == 0 ||
        !ph_flight_is_open(&datagram->sender->flight, dossier->newest_item)) {
        return NULL;
    }
    ph_chosen* chosen = datagram->chosen;
    while (ph_chosen_slot(chosen) != slot) {
        ++chosen;
        PH_ASSERT(chosen < datagram->chosen + datagram->count);
    }
    return chosen;
}

static bool can_add(const ph_datagram* datagram, const ph_choice* choice, const ph_chosen* before)
{
    PH_ASSERT(before == NULL ||
              (choice->kind == PH_RECORD_UPDATE && ph_chosen_kind(before) == PH_RECORD_UPDATE));
    return before != NULL || ph_datagram_has_place(datagram, choice->kind);
}

ph_choice ph_chosen_choice(const ph_chosen* chosen)
{
    return (ph_choice){
        .slot = ph_chosen_slot(chosen),
        .kind = ph_chosen_kind(chosen),
        .properties = chosen->properties,
        .coarse = chosen->coarse,
    };
}

PH_OUT_OF_LINE static bool add_classic(ph_datagram* datagram, const ph_choice* choice)
{
    ph_chosen* before = find_chosen(datagram, choice->slot);
    return can_add(datagram, choice, before) && ph_classic_add(datagram, choice, before);
}

bool ph_datagram_add(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_sender* sender = datagram->sender;
    if (!ph_sender_is_coded(sender)) {
        return add_classic(datagram, choice);
    }
    const int place = sender->baselines.chosen[choice->slot];
    ph_chosen* before = place > 0 ? &datagram->chosen[place - 1] : NULL;
    return can_add(datagram, choice, before) && ph_coded_add(datagram, choice, before);
}

// ---- closing

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
static bool is_ledger_exact(const ph_sender* sender)
{
    uint64_t sum = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum += sender->stats.ledger.bits256[reason];
    }
    return sum == sender->stats.payload_bytes * 8 * PH_COST_PER_BIT;
}
#endif

static void note_costs(ph_datagram* datagram, const ph_ledger* page)
{
    datagram->enters256 += (int64_t)page->bits256[PH_REASON_ENTER];
    datagram->others256 +=
        (int64_t)(page->bits256[PH_REASON_LEAVE] + page->bits256[PH_REASON_SLOT] +
                  page->bits256[PH_REASON_MASK] + page->bits256[PH_REASON_PROPERTY]);
}

size_t ph_datagram_close(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_sender* sender = datagram->sender;
    ph_header* header = &datagram->header;
    PH_ASSERT(datagram->is_open && datagram->count > 0);

    ph_flight_commit(&sender->flight);
    ++sender->newest;
    ++sender->packet_count;
    header->leave_count = datagram->counts[PH_RECORD_LEAVE];
    header->enter_count = datagram->counts[PH_RECORD_ENTER];
    sender->eye_number = header->has_eye ? header->number : sender->eye_number;
    ph_booking* booking = &datagram->booking;
    const size_t size = ph_sender_is_coded(sender) ? ph_coded_write_all(datagram, booking, bytes)
                                                   : ph_classic_write(datagram, bytes);
    PH_ASSERT(8 * (int64_t)size <= datagram->limit_bits);
    ph_booking_header(booking, header, header_bits(datagram, header));
    ph_booking_close(booking, size);
    note_costs(datagram, &booking->page);
    PH_ASSERT(is_ledger_exact(sender));
    datagram->is_open = false;
    return size;
}

static size_t write_probe(const ph_datagram* datagram, const ph_header* header,
                          uint8_t bytes[PH_PAYLOAD_MAX])
{
    if (ph_sender_is_coded(datagram->sender)) {
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
        ph_coded_header_write(header, &writer.raw);
        return ph_entropy_writer_finish(&writer);
    }
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(header, &writer);
    return ph_bit_writer_finish(&writer);
}

size_t ph_datagram_probe(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_sender* sender = datagram->sender;
    ph_header header = make_header(datagram, sender->newest);
    header.is_probe = true;
    header.horizon = header.has_hello ? sender->session : header.number;
    if (ph_sender_is_coded(sender)) {
        header.tick = 0;
        header.whole_tick = 0;
    }
    const int bits = header_bits(datagram, &header);
    if ((bits + 7) / 8 > payable_bytes(sender)) {
        return 0;
    }
    const size_t size = write_probe(datagram, &header, bytes);
    ph_booking booking = ph_booking_make(sender);
    ph_booking_header(&booking, &header, bits);
    ph_booking_close(&booking, size);
    ++sender->stats.probes;
    PH_ASSERT(is_ledger_exact(sender));
    return size;
}
