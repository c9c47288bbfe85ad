// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From chosen slots to bytes. A datagram of thirty records takes a few microseconds.

#include "world/datagram.h"

#include "base/bitset.h"

#define LEDGER_UNITS 256u // of a bit

// The order of a chosen one.
#define KIND_SHIFT 16
#define SLOT_MASK 0xFFFFu

void ph_datagram_init(ph_datagram* datagram, const ph_outlook* outlook, ph_sender* sender,
                      const int32_t eye_mm[3])
{
    const ph_world* world = outlook->world;
    PH_ASSERT(world->forms.layouts.text_bytes_max <= PH_DATAGRAM_TEXT_BYTES);

    datagram->outlook = outlook;
    datagram->sender = sender;
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

static int64_t payable_bytes(const ph_sender* sender)
{
    const int64_t bytes = ph_token_bucket_bits(&sender->bucket) / 8 - sender->overhead_bytes;
    return bytes < PH_PAYLOAD_MAX ? bytes : PH_PAYLOAD_MAX;
}

bool ph_datagram_open(ph_datagram* datagram)
{
    ph_sender* sender = datagram->sender;
    PH_ASSERT(!datagram->is_open);

    datagram->has_eye = !sender->has_eye || is_eye_far(sender, datagram->eye_mm);
    datagram->limit_bits = 8 * payable_bytes(sender);
    datagram->bits = PH_HEADER_BITS + (sender->is_answered ? 0 : PH_HELLO_BITS) +
                     (datagram->has_eye ? PH_EYE_BITS : 0);
    const ph_flight_stamp stamp = {
        .sent_us = sender->now_us,
        .number = sender->newest + 1,
        .tick = datagram->outlook->world->tick,
    };
    if (datagram->bits >= datagram->limit_bits || !ph_flight_has_place(&sender->flight) ||
        !ph_flight_begin(&sender->flight, &stamp, datagram->has_eye ? datagram->eye_mm : NULL)) {
        return false;
    }
    const int32_t* eye_mm = datagram->has_eye ? datagram->eye_mm : sender->eye_mm;
    for (int axis = 0; axis < 3; ++axis) {
        datagram->frame.eye_mm[axis] = eye_mm[axis];
    }
    for (int kind = 0; kind < 3; ++kind) {
        datagram->counts[kind] = 0;
    }
    datagram->count = 0;
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

static ph_record make_record(ph_datagram* datagram, const ph_choice* choice)
{
    const int slot = choice->slot;
    const ph_record_kind kind = choice->kind;
    const uint64_t properties = choice->properties;
    const ph_outlook* outlook = datagram->outlook;
    const ph_knowledge* knowledge = &datagram->sender->knowledge;
    ph_record record = {
        .properties = properties,
        .association = knowledge->association[slot],
        .slot = (uint16_t)slot,
        .kind = (uint8_t)kind,
        .class_index = knowledge->class_index[slot],
        .words = datagram->words,
        .texts = datagram->texts,
    };
    if (kind == PH_RECORD_LEAVE) {
        return record;
    }
    const ph_entity_index entity = outlook->entities[slot];
    const ph_entities* entities = &outlook->world->entities;
    const ph_layout* layout = &datagram->frame.layouts->layouts[record.class_index];
    record.name = entities->name[entity];
    record.is_jump = kind == PH_RECORD_UPDATE && (properties & layout->position) != 0 &&
                     entities->jumps[entity] != knowledge->jumps[slot];
    ph_outlook_fill(outlook, slot, properties, record.words, record.texts);
    return record;
}

static ph_flight_item make_item(const ph_datagram* datagram, const ph_record* record)
{
    const ph_outlook* outlook = datagram->outlook;
    const ph_knowledge* knowledge = &datagram->sender->knowledge;
    const int slot = record->slot;
    ph_flight_item item = {
        .slot = record->slot,
        .kind = record->kind,
        .older = knowledge->newest_item[slot],
    };
    if (record->kind == PH_RECORD_LEAVE) {
        return item;
    }
    const ph_layout* layout = &datagram->frame.layouts->layouts[record->class_index];
    const ph_packing* packing = &outlook->world->forms.packings[record->class_index];
    const ph_entity_index entity = outlook->entities[slot];
    item.properties = record->properties & ~layout->once;
    item.value_bytes = (uint16_t)ph_packing_size(packing, item.properties);
    item.score = knowledge->score[slot];
    if ((item.properties & layout->position) != 0) {
        item.jumps = outlook->world->entities.jumps[entity];
        item.mileage_mm = outlook->world->entities.mileage_mm[entity] - knowledge->mileage_mm[slot];
    }
    return item;
}

static bool has_count_left(const ph_datagram* datagram, ph_record_kind kind)
{
    return datagram->count < PH_DATAGRAM_RECORDS_MAX &&
           (kind == PH_RECORD_UPDATE || datagram->counts[kind] < PH_HEADER_COUNT_MAX);
}

// A reference that the client will have may have to be taken back later.
static void note_references(ph_datagram* datagram, const ph_record* record)
{
    if (record->kind == PH_RECORD_LEAVE) {
        return;
    }
    const ph_layout* layout = &datagram->frame.layouts->layouts[record->class_index];
    for (uint64_t left = record->properties & layout->references; left != 0; left &= left - 1) {
        if (record->words[layout->word[ph_word_lowest_bit(left)]] != 0) {
            datagram->sender->knowledge.points[record->slot] = 1;
        }
    }
}

static ph_chosen* find_chosen(ph_datagram* datagram, int slot)
{
    const ph_knowledge* knowledge = &datagram->sender->knowledge;
    if (knowledge->in_flight[slot] == 0 ||
        !ph_flight_is_open(&datagram->sender->flight, knowledge->newest_item[slot])) {
        return NULL;
    }
    ph_chosen* chosen = datagram->chosen;
    while ((int)(chosen->order & SLOT_MASK) != slot) {
        ++chosen;
    }
    return chosen;
}

static int record_bits(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_record record = make_record(datagram, choice);
    return ph_classic_record_bits(&datagram->frame, &record, NULL);
}

// What the choice adds to a record that is there already, in bits.
static int joined_bits(ph_datagram* datagram, const ph_choice* choice, const ph_chosen* before)
{
    PH_ASSERT(choice->kind == PH_RECORD_UPDATE && before->order >> KIND_SHIFT == PH_RECORD_UPDATE);
    ph_choice whole = *choice;
    whole.properties = before->properties;
    const int before_bits = record_bits(datagram, &whole);
    whole.properties |= choice->properties;
    return record_bits(datagram, &whole) - before_bits;
}

static void note_chosen(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    const uint64_t repeats = datagram->sender->knowledge.repeats[choice->slot];
    if (before != NULL) {
        before->properties |= choice->properties;
        before->repeats |= repeats & choice->properties;
        before->is_significant |= choice->is_significant;
        return;
    }
    datagram->chosen[datagram->count++] = (ph_chosen){
        .properties = choice->properties,
        .repeats = repeats & choice->properties,
        .order = (uint32_t)choice->kind << KIND_SHIFT | (uint32_t)choice->slot,
        .is_repeat = repeats != 0,
        .is_significant = choice->is_significant,
    };
    ++datagram->counts[choice->kind];
}

static void pack(const ph_datagram* datagram, const ph_record* record, const ph_flight_item* item)
{
    const ph_forms* forms = &datagram->outlook->world->forms;
    ph_packing_store_all(&forms->packings[record->class_index],
                         &forms->layouts.layouts[record->class_index], item->properties,
                         record->words, item->values);
}

bool ph_datagram_add(ph_datagram* datagram, const ph_choice* choice)
{
    ph_sender* sender = datagram->sender;
    const int slot = choice->slot;
    ph_chosen* before = find_chosen(datagram, slot);
    if (before == NULL && !has_count_left(datagram, choice->kind)) {
        return false;
    }
    const int more_bits = before != NULL ? joined_bits(datagram, choice, before) : 0;
    const ph_record record = make_record(datagram, choice);
    const int bits =
        before != NULL ? more_bits : ph_classic_record_bits(&datagram->frame, &record, NULL);
    ph_flight_item item = make_item(datagram, &record);
    if (datagram->bits + bits > datagram->limit_bits ||
        !ph_flight_has_room(&sender->flight, item.value_bytes)) {
        return false;
    }
    const uint16_t place = ph_flight_add(&sender->flight, &item);
    if (choice->kind != PH_RECORD_LEAVE) {
        pack(datagram, &record, &item);
        sender->knowledge.mileage_mm[slot] += item.mileage_mm;
        note_references(datagram, &record);
    }
    note_chosen(datagram, choice, before);
    ph_knowledge_note_sent(&sender->knowledge, &item, place);
    datagram->bits += bits;
    return true;
}

// ---- the ledger

static void book(ph_sender* sender, ph_reason reason, int64_t bits)
{
    sender->stats.ledger.bits256[reason] += (uint64_t)bits * LEDGER_UNITS;
}

static void book_repeat(ph_sender* sender, int64_t bits)
{
    sender->stats.ledger.repeat_bits256 += (uint64_t)bits * LEDGER_UNITS;
}

// What was lost before and is said again counts as repeat; who and which only if nothing else is
// said.
static void book_update(ph_datagram* datagram, const ph_record* record, uint64_t repeats)
{
    ph_sender* sender = datagram->sender;
    const int first = datagram->outlook->world->forms.first_property[record->class_index];
    ph_bill bill = {0};
    ph_classic_record_bits(&datagram->frame, record, &bill);
    book(sender, PH_REASON_SLOT, bill.slot_bits);
    book(sender, PH_REASON_MASK, bill.mask_bits);
    if (repeats == record->properties) {
        book_repeat(sender, (int64_t)bill.slot_bits + bill.mask_bits);
    }
    for (uint64_t left = record->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const int64_t bits = bill.property_bits[property];
        book(sender, PH_REASON_PROPERTY, bits);
        sender->property_bits256[first + property] += (uint64_t)bits * LEDGER_UNITS;
        if ((repeats >> property & 1) != 0) {
            book_repeat(sender, bits);
        }
    }
    ++sender->stats.updates;
}

static void book_record(ph_datagram* datagram, const ph_record* record, const ph_chosen* chosen)
{
    ph_sender* sender = datagram->sender;
    if (record->kind == PH_RECORD_UPDATE) {
        book_update(datagram, record, chosen->repeats);
        sender->stats.significant_updates += chosen->is_significant;
        return;
    }
    const bool is_enter = record->kind == PH_RECORD_ENTER;
    const int bits = ph_classic_record_bits(&datagram->frame, record, NULL);
    book(sender, is_enter ? PH_REASON_ENTER : PH_REASON_LEAVE, bits);
    if (chosen->is_repeat) {
        book_repeat(sender, bits);
    }
    sender->stats.enters += is_enter;
    sender->stats.leaves += !is_enter;
}

static void book_datagram(ph_sender* sender, const ph_header* header, int64_t bits, size_t size)
{
    book(sender, PH_REASON_HEADER, PH_HEADER_BITS);
    book(sender, PH_REASON_HELLO, header->has_hello ? PH_HELLO_BITS : 0);
    book(sender, PH_REASON_EYE, header->has_eye ? PH_EYE_BITS : 0);
    book(sender, PH_REASON_PADDING, 8 * (int64_t)size - bits);
    const size_t wire_bytes = size + (size_t)sender->overhead_bytes;
    ph_token_bucket_spend(&sender->bucket, 8 * (int64_t)wire_bytes);
    ++sender->stats.datagrams;
    sender->stats.payload_bytes += size;
    sender->stats.wire_bytes += wire_bytes;
    sender->second_bytes += wire_bytes;
    sender->sent_us = sender->now_us;
}

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
static bool is_ledger_exact(const ph_sender* sender)
{
    uint64_t sum = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum += sender->stats.ledger.bits256[reason];
    }
    return sum == sender->stats.payload_bytes * 8 * LEDGER_UNITS;
}
#endif

// ---- writing

static ph_header make_header(const ph_datagram* datagram)
{
    const ph_sender* sender = datagram->sender;
    const ph_world* world = datagram->outlook->world;
    const uint64_t lain = (sender->now_us - sender->answered_us) / PH_WAIT_UNIT_US;
    ph_header header = {
        .number = sender->newest,
        .horizon = sender->is_answered ? sender->horizon : sender->session,
        .tick = (uint16_t)(world->tick & ((1u << PH_TICK_BITS) - 1)),
        .wait = (uint8_t)(sender->is_answered && lain < PH_WAIT_UNKNOWN ? lain : PH_WAIT_UNKNOWN),
        .has_hello = !sender->is_answered,
    };
    if (header.has_hello) {
        header.hello = (ph_hello){
            .fingerprint = ph_schema_fingerprint(world->def.schema),
            .session = sender->session,
            .tick_us = world->def.tick_us,
            .slot_count = (uint16_t)sender->knowledge.slot_count,
            .version = PH_CLASSIC_VERSION,
        };
    }
    return header;
}

// Shell's sort: no memory, and quick for some tens that are nearly in order by kind.
static void sort_chosen(ph_chosen* chosen, int count)
{
    static const int GAPS[] = {301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof GAPS / sizeof GAPS[0]; ++g) {
        const int gap = GAPS[g];
        for (int i = gap; i < count; ++i) {
            const ph_chosen moving = chosen[i];
            int hole = i;
            while (hole >= gap && chosen[hole - gap].order > moving.order) {
                chosen[hole] = chosen[hole - gap];
                hole -= gap;
            }
            chosen[hole] = moving;
        }
    }
}

static void write_records(ph_datagram* datagram, ph_bit_writer* writer)
{
    sort_chosen(datagram->chosen, datagram->count);
    for (int i = 0; i < datagram->count; ++i) {
        const ph_chosen* chosen = &datagram->chosen[i];
        const ph_choice choice = {
            .slot = (int)(chosen->order & SLOT_MASK),
            .kind = (ph_record_kind)(chosen->order >> KIND_SHIFT),
            .properties = chosen->properties,
        };
        const ph_record record = make_record(datagram, &choice);
        ph_classic_write_record(&datagram->frame, &record, writer);
        book_record(datagram, &record, chosen);
    }
}

size_t ph_datagram_close(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_sender* sender = datagram->sender;
    PH_ASSERT(datagram->is_open && datagram->count > 0);

    ph_flight_commit(&sender->flight);
    ++sender->newest;
    ++sender->packet_count;
    ph_header header = make_header(datagram);
    header.leave_count = datagram->counts[PH_RECORD_LEAVE];
    header.enter_count = datagram->counts[PH_RECORD_ENTER];
    header.has_eye = datagram->has_eye;
    for (int axis = 0; axis < 3 && header.has_eye; ++axis) {
        header.eye_mm[axis] = datagram->eye_mm[axis];
    }
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    write_records(datagram, &writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    PH_ASSERT((int64_t)ph_bit_writer_size_bits(&writer) == datagram->bits);
    const size_t size = ph_bit_writer_finish(&writer);
    book_datagram(sender, &header, datagram->bits, size);
    PH_ASSERT(is_ledger_exact(sender));
    datagram->is_open = false;
    return size;
}

size_t ph_datagram_probe(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_sender* sender = datagram->sender;
    ph_header header = make_header(datagram);
    header.is_probe = true;
    header.horizon = header.has_hello ? sender->session : header.number;
    const int bits = ph_header_bits(&header);
    if ((bits + 7) / 8 > payable_bytes(sender)) {
        return 0;
    }
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    const size_t size = ph_bit_writer_finish(&writer);
    book_datagram(sender, &header, bits, size);
    ++sender->stats.probes;
    PH_ASSERT(is_ledger_exact(sender));
    return size;
}
