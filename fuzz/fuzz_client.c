// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client under fire. The input is a list of things that happen: raw bytes arrive; a packet
// arrives that a server could have written to this very client, or one with a few bits flipped; a
// probe; the game polls. After each the client is sound; what was refused left no trace; what was
// accepted is written again as the same bytes.

#include "client/client_state.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 12, WORDS_MAX = 16, TEXTS_MAX = 32, STEPS_MAX = 64, SESSION = 77 };

static const char declarations[] = "class walker\n"
                                   "place: position\n"
                                   "heading: angle 8\n"
                                   "health: range 0..100 default 100\n"
                                   "target: entity\n"
                                   "label: string 8\n"
                                   "badge: bytes 4\n"
                                   "class stone\n"
                                   "weight: varint\n"
                                   "place: position ground 100\n";

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

// ---- the input

typedef struct source {
    const uint8_t* bytes;
    size_t left;
} source;

// 0 when there is nothing left.
static uint32_t take(source* from, uint32_t limit)
{
    if (from->left == 0) {
        return 0;
    }
    --from->left;
    return *from->bytes++ % limit;
}

// ---- the client

static int layers(const void* context, int32_t x_mm, int32_t y_mm, int32_t heights_mm[])
{
    (void)context;
    heights_mm[0] = 1000;
    heights_mm[1] = 4000;
    return (x_mm >= 0 ? 1 : 0) + (y_mm >= 0 ? 1 : 0);
}

static const ph_ground ground = {.layers = layers};

static ph_client* make_client(void)
{
    // Made once: it would take nearly all of the time.
    static ph_schema* schema = NULL;
    if (schema == NULL) {
        demand(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) ==
               PH_OK);
    }
    ph_client_def def = ph_client_def_default();
    def.schema = schema;
    def.slot_capacity = SLOTS;
    def.ground = ground;
    ph_client* client;
    demand(ph_client_create(&def, &client) == PH_OK);
    return client;
}

static ph_known_eye eye_of(const ph_client* client, const ph_header* header)
{
    if (!header->has_eye) {
        return ph_arrivals_eye(&client->session.arrivals, header->horizon);
    }
    return (ph_known_eye){.mm = {header->eye_mm[0], header->eye_mm[1], header->eye_mm[2]},
                          .is_known = true};
}

static ph_frame frame_of(const ph_client* client, const ph_header* header)
{
    const ph_known_eye eye = eye_of(client, header);
    return (ph_frame){.layouts = &client->layouts,
                      .ground = &ground,
                      .slot_bits = ph_classic_slot_bits(SLOTS),
                      .eye_mm = {eye.mm[0], eye.mm[1], eye.mm[2]}};
}

// ---- one datagram

// Leaves, enters, updates, each by ascending slot, and no slot twice.
static void check_order(const ph_draft* draft)
{
    uint32_t mentioned = 0;
    for (int i = 0; i < draft->count; ++i) {
        const ph_record* record = &draft->records[i];
        demand(record->slot < SLOTS && (mentioned >> record->slot & 1) == 0);
        mentioned |= UINT32_C(1) << record->slot;
        const ph_record* before = &draft->records[i > 0 ? i - 1 : 0];
        demand(i == 0 || before->kind < record->kind ||
               (before->kind == record->kind && before->slot < record->slot));
    }
}

// What the client has taken, written again.
static void write_again(const ph_client* client, const ph_frame* frame, const uint8_t* bytes,
                        size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header header;
    ph_header_read(&reader, &header);
    uint8_t written[PH_PAYLOAD_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_header_write(&header, &writer);
    const ph_draft* draft = &client->draft;
    check_order(draft);
    for (int i = 0; i < draft->count && !header.is_probe; ++i) {
        const size_t before = ph_bit_writer_size_bits(&writer);
        ph_classic_write_record(frame, &draft->records[i], &writer);
        demand(ph_bit_writer_size_bits(&writer) - before ==
               (size_t)ph_classic_record_bits(frame, &draft->records[i], NULL));
    }
    demand(ph_bit_writer_finish(&writer) == size && memcmp(written, bytes, size) == 0);
}

static void receive(ph_client* client, uint64_t now_us, const uint8_t* bytes, size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header header;
    ph_header_read(&reader, &header);
    const ph_frame frame = frame_of(client, &header); // as it is before the packet
    const uint64_t before = ph_client_digest(client);
    const ph_result result = ph_client_receive(client, now_us, bytes, size);
    demand(ph_client_validate(client));
    uint8_t ack[PH_ACK_SIZE];
    demand((ph_client_ack(client, ack) > 0) == client->session.has_begun);
    if (result == PH_OK) {
        write_again(client, &frame, bytes, size);
    } else {
        demand(ph_client_digest(client) == before);
    }
}

// ---- packets as a server writes them

static ph_header make_header(const ph_client* client, source* from)
{
    const ph_session* session = &client->session;
    const uint32_t newest = session->has_begun ? session->receipt.newest : SESSION;
    const uint32_t horizon = session->has_begun ? session->horizon : SESSION;
    ph_header header = {
        .number = newest + 1 + take(from, 3),
        .horizon = horizon + take(from, newest - horizon + 1),
        .tick = (uint16_t)(take(from, 256) * 8),
        .wait = (uint8_t)take(from, PH_WAIT_UNKNOWN + 1),
        .has_hello = !session->has_begun || (horizon == SESSION && take(from, 2) == 0),
    };
    if (header.number - header.horizon > PH_FLIGHT_MAX) {
        header.horizon = newest;
    }
    if (header.has_hello) {
        header.horizon = SESSION;
        header.hello = (ph_hello){.fingerprint = ph_schema_fingerprint(client->def.schema),
                                  .session = SESSION,
                                  .tick_us = 50000,
                                  .slot_count = SLOTS,
                                  .version = PH_CLASSIC_VERSION};
        header.number = header.number - SESSION > PH_FLIGHT_MAX ? SESSION + 1 : header.number;
    }
    return header;
}

static void make_text(const ph_layout* layout, int property, uint8_t* texts, source* from)
{
    const int max_length = layout->described->properties[property].def.max_length;
    uint8_t letters[8];
    const uint16_t length = (uint16_t)take(from, (uint32_t)max_length + 1);
    for (int i = 0; i < length; ++i) {
        letters[i] = (uint8_t)('a' + take(from, 26));
    }
    ph_layout_store_text(layout, texts, property, (ph_text){.bytes = letters, .length = length});
}

static void make_value(const ph_client* client, const ph_layout* layout, int property,
                       ph_record* record, source* from)
{
    const ph_property* described = &layout->described->properties[property];
    uint32_t* words = record->words + layout->word[property];
    switch (described->def.coding) {
    case PH_CODING_POSITION: {
        const uint32_t step_mm = UINT32_C(1) << take(from, 32);
        const int32_t place_mm[3] = {(int32_t)(step_mm * take(from, 256)),
                                     (int32_t)(0u - 16u * take(from, 256)),
                                     (int32_t)(16u * take(from, 256))};
        ph_layout_round_position(layout, &ground, place_mm, words);
        break;
    }
    case PH_CODING_ENTITY: {
        const uint32_t slot = take(from, SLOTS + 2);
        words[0] = slot < SLOTS ? slot + 1 : 0;
        words[1] = slot < SLOTS ? client->mirror.association[slot] : 0;
        break;
    }
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        make_text(layout, property, record->texts, from);
        break;
    default:
        words[0] = take(from, 101);
        break;
    }
}

static void make_values(const ph_client* client, ph_record* record, source* from)
{
    const ph_layout* layout = &client->layouts.layouts[record->class_index];
    const bool is_enter = record->kind == PH_RECORD_ENTER;
    record->properties = take(from, 256) & layout->all;
    if (is_enter || record->properties == 0) {
        record->properties |= layout->position;
    }
    for (int p = 0; p < layout->described->def.property_count; ++p) {
        const uint64_t bit = UINT64_C(1) << p;
        if ((record->properties & bit) == 0) {
            continue;
        }
        make_value(client, layout, p, record, from);
        if (is_enter && bit != layout->position &&
            ph_layout_is_initial(layout, record->words, record->texts, p)) {
            record->properties &= ~bit;
        }
    }
    record->is_jump =
        !is_enter && (record->properties & layout->position) != 0 && take(from, 4) == 0;
}

// What each slot is told: nothing, or one of the kinds of records as far as it makes sense.
typedef struct plan {
    uint8_t kind1[SLOTS]; // ph_record_kind + 1
} plan;

static plan make_plan(const ph_client* client, source* from)
{
    plan made = {{0}};
    for (int slot = 0; slot < SLOTS; ++slot) {
        const bool is_entered = ph_bitset_test(&client->mirror.is_entered, slot);
        uint8_t kind1 = (uint8_t)take(from, 6);
        if (kind1 > PH_RECORD_UPDATE + 1 || (kind1 == PH_RECORD_UPDATE + 1 && !is_entered)) {
            kind1 = 0;
        }
        made.kind1[slot] = kind1;
    }
    return made;
}

static void write_record(const ph_client* client, const ph_frame* frame, ph_record_kind kind,
                         int slot, source* from, ph_bit_writer* writer)
{
    const ph_mirror* mirror = &client->mirror;
    const bool is_entered = ph_bitset_test(&mirror->is_entered, slot);
    uint32_t words[WORDS_MAX] = {0};
    uint8_t texts[TEXTS_MAX] = {0};
    ph_record record = {
        .kind = (uint8_t)kind, .slot = (uint16_t)slot, .words = words, .texts = texts};
    record.association = mirror->association[slot] + (is_entered ? 0 : 1);
    record.class_index = is_entered ? mirror->class_index[slot] : 0;
    if (kind == PH_RECORD_LEAVE) {
        // Of one that left before, too.
        record.association -= !is_entered && record.association > 1 && take(from, 2) == 0;
    } else {
        if (kind == PH_RECORD_ENTER && !is_entered) {
            record.class_index = (uint8_t)take(from, 2);
        }
        record.name = is_entered ? mirror->name[slot] : take(from, 2 * SLOTS);
        make_values(client, &record, from);
    }
    ph_classic_write_record(frame, &record, writer);
}

// A careless server writes its slots in the wrong order, and one of them twice.
static size_t write_packet(const ph_client* client, source* from, bool is_careless,
                           uint8_t bytes[PH_PAYLOAD_MAX])
{
    const int first = is_careless ? (int)take(from, SLOTS) : 0;
    const int twice = is_careless ? (int)take(from, 2 * SLOTS) : SLOTS;
    ph_header header = make_header(client, from);
    header.has_eye = !eye_of(client, &header).is_known || take(from, 4) == 0;
    header.eye_mm[0] = header.has_eye ? (int32_t)(take(from, 256) * 100000) : 0;
    const plan made = make_plan(client, from);
    for (int slot = 0; slot < SLOTS; ++slot) {
        header.leave_count += made.kind1[slot] == PH_RECORD_LEAVE + 1;
        header.enter_count += made.kind1[slot] == PH_RECORD_ENTER + 1;
    }
    const ph_frame frame = frame_of(client, &header);
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    for (int kind = 0; kind < 3; ++kind) {
        for (int i = 0; i < SLOTS; ++i) {
            const int slot = (first + i) % SLOTS;
            if (made.kind1[slot] == kind + 1) {
                write_record(client, &frame, (ph_record_kind)kind, slot, from, &writer);
            }
        }
    }
    if (twice < SLOTS && ph_bitset_test(&client->mirror.is_entered, twice)) {
        write_record(client, &frame, PH_RECORD_UPDATE, twice, from, &writer);
    }
    return ph_bit_writer_finish(&writer);
}

static size_t write_probe(const ph_client* client, source* from, uint8_t bytes[PH_PAYLOAD_MAX])
{
    const ph_header header = {.number = client->session.receipt.newest + take(from, 70),
                              .is_probe = true};
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    return ph_bit_writer_finish(&writer);
}

static void flip_bits(uint8_t* bytes, size_t size, source* from)
{
    for (uint32_t count = 1 + take(from, 3); count > 0; --count) {
        const size_t at = (take(from, 256) << 8 | take(from, 256)) % (8 * size);
        bytes[at / 8] ^= (uint8_t)(1u << (at % 8));
    }
}

// ---- what happens

// Everything that can be asked of one entity.
static void look(const ph_client* client, ph_entity_id entity)
{
    int class_index = -1;
    uint64_t name = 0;
    demand(ph_client_identify(client, entity, &name, &class_index) == PH_OK);
    demand(ph_client_find(client, name).index1 == entity.index1);
    int32_t place_mm[3];
    if (class_index == 1) {
        uint64_t weight;
        demand(ph_client_read(client, entity, 0, PH_FIELD_U64, &weight, 8) == PH_OK);
        demand(ph_client_read(client, entity, 1, PH_FIELD_I32X3, place_mm, 12) == PH_OK);
        return;
    }
    double heading_deg;
    uint8_t health;
    ph_entity_id target;
    char label[9];
    uint8_t badge[6];
    demand(ph_client_read(client, entity, 0, PH_FIELD_I32X3, place_mm, 12) == PH_OK);
    demand(ph_client_read(client, entity, 1, PH_FIELD_F64, &heading_deg, 8) == PH_OK);
    demand(ph_client_read(client, entity, 2, PH_FIELD_U8, &health, 1) == PH_OK && health <= 100);
    demand(ph_client_read(client, entity, 3, PH_FIELD_ENTITY, &target, sizeof target) == PH_OK);
    demand(target.index1 == 0 || ph_client_is_in_view(client, target));
    demand(ph_client_read(client, entity, 4, PH_FIELD_TEXT, label, sizeof label) == PH_OK);
    demand(ph_client_read(client, entity, 5, PH_FIELD_BYTES, badge, sizeof badge) == PH_OK);
}

static void poll(ph_client* client, source* from)
{
    ph_event event;
    for (uint32_t count = take(from, 16); count > 0 && ph_client_poll(client, &event); --count) {
        const bool is_leave = event.kind == PH_EVENT_LEAVE;
        demand(ph_client_is_in_view(client, event.entity) != is_leave);
        if (!is_leave) {
            look(client, event.entity);
            demand(ph_client_set_user(client, event.entity, client) == PH_OK);
        }
        demand(!is_leave || event.user == client);
    }
    demand(ph_client_validate(client));
}

static void step(ph_client* client, uint64_t now_us, source* from)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    switch (take(from, 8)) {
    case 0:
        size = take(from, 256);
        size = size < from->left ? size : from->left;
        receive(client, now_us, from->bytes, size);
        from->bytes += size;
        from->left -= size;
        return;
    case 1:
        poll(client, from);
        return;
    case 2:
        size = write_probe(client, from, bytes);
        break;
    case 3:
        size = write_packet(client, from, false, bytes);
        flip_bits(bytes, size, from);
        break;
    case 4:
        size = write_packet(client, from, true, bytes);
        break;
    default:
        size = write_packet(client, from, false, bytes);
        break;
    }
    receive(client, now_us, bytes, size);
    receive(client, now_us, bytes, size); // it came twice
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    source from = {.bytes = data, .left = size};
    ph_client* client = make_client();
    uint64_t now_us = 0;
    for (int i = 0; i < STEPS_MAX && from.left > 0; ++i) {
        now_us += (uint64_t)1000 << take(&from, 20);
        step(client, now_us, &from);
    }
    ph_client_destroy(client);
    return 0;
}
