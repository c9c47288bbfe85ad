// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client under fire. The input is a list of things that happen: raw bytes arrive; a packet
// arrives that a server could have written to this very client, or one with a few bits flipped; a
// probe; the game polls. After each the client is sound; what was refused left no trace; what was
// accepted is written again as the same bytes. A first byte of 255 stands for the pinhole profile.

#include "support/fuzz_server.h"

#include "packet/header.h"
#include "tools/tools.h"

enum { STEPS_MAX = 256, PINHOLE_MARK = 255 };

static const char declarations[] = "class walker\n"
                                   "place: position\n"
                                   "heading: angle 8\n"
                                   "health: range 0..100 default 100 smooth\n"
                                   "target: entity\n"
                                   "label: string 8\n"
                                   "badge: bytes 4\n"
                                   "class stone\n"
                                   "weight: varint smooth\n"
                                   "place: position ground 100\n";

static ph_client* make_client(ph_profile profile, int reorder_wait_ms)
{
    // Made once: it would take nearly all of the time.
    static ph_schema* schema = NULL;
    if (schema == NULL) {
        fuzz_demand(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) ==
                    PH_OK);
    }
    ph_client_def def = ph_client_def_default();
    def.schema = schema;
    def.profile = profile;
    def.slot_capacity = FUZZ_SLOTS;
    def.ground = fuzz_ground;
    def.reorder_wait_ms = reorder_wait_ms;
    ph_client* client;
    fuzz_demand(ph_client_create(&def, &client) == PH_OK);
    return client;
}

// ---- one datagram

// Leaves, enters, updates, each by ascending slot, and no slot twice.
static void check_order(const ph_decoded_packet* decoded)
{
    uint32_t mentioned = 0;
    for (int i = 0; i < decoded->count; ++i) {
        const ph_record* record = &decoded->records[i];
        fuzz_demand(record->slot < FUZZ_SLOTS && (mentioned >> record->slot & 1) == 0);
        mentioned |= UINT32_C(1) << record->slot;
        const ph_record* before = &decoded->records[i > 0 ? i - 1 : 0];
        fuzz_demand(i == 0 || before->kind < record->kind ||
                    (before->kind == record->kind && before->slot < record->slot));
    }
}

static ph_header read_header(const ph_client* client, const uint8_t* bytes, size_t size)
{
    ph_header header;
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, size);
        ph_pinhole_header_read(&reader.raw, client->session.arrivals.receipt.newest, &header);
    } else {
        ph_bit_reader reader = ph_bit_reader_make(bytes, size);
        ph_header_read(&reader, &header);
    }
    return header;
}

static void check_taken(const ph_client* client, const ph_frame* frame, const ph_header* header,
                        const uint8_t* bytes, size_t size)
{
    if (!header->is_probe) {
        check_order(&client->decoded);
    }
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        fuzz_check_pinhole(client, frame, header, bytes, size);
    } else {
        fuzz_check_classic(client, frame, bytes, size);
    }
}

static void receive(ph_client* client, uint64_t now_us, const uint8_t* bytes, size_t size)
{
    const ph_header header = read_header(client, bytes, size);
    const ph_frame frame = fuzz_frame_of(client, &header); // as it is before the packet
    const uint64_t before = ph_client_digest(client);
    const ph_result result = ph_client_receive(client, now_us, bytes, size);
    fuzz_demand(ph_client_validate(client));
    if (client->def.reorder_wait_ms > 0) {
        return; // it may be held back, and with it others may be taken that were
    }
    if (result == PH_OK) {
        check_taken(client, &frame, &header, bytes, size);
    } else {
        fuzz_demand(ph_client_digest(client) == before);
    }
}

static size_t write_packet(ph_client* client, fuzz_source* from, bool is_careless,
                           uint8_t bytes[PH_PAYLOAD_MAX])
{
    return client->def.profile == PH_PROFILE_PINHOLE
               ? fuzz_write_pinhole(client, from, bytes)
               : fuzz_write_classic(client, from, is_careless, bytes);
}

static void flip_bits(uint8_t* bytes, size_t size, fuzz_source* from)
{
    for (uint32_t count = 1 + fuzz_take(from, 3); count > 0; --count) {
        const size_t at = (fuzz_take(from, 256) << 8 | fuzz_take(from, 256)) % (8 * size);
        bytes[at / 8] ^= (uint8_t)(1u << (at % 8));
    }
}

// ---- what happens

// Everything that can be asked of one entity.
static void look(const ph_client* client, ph_entity_id entity)
{
    int class_index = -1;
    uint64_t name = 0;
    fuzz_demand(ph_client_identify(client, entity, &name, &class_index) == PH_OK);
    fuzz_demand(ph_client_find(client, name).index1 == entity.index1);
    int32_t place_mm[3];
    if (class_index == 1) {
        uint64_t weight;
        fuzz_demand(ph_client_get_property(client, entity, 0, PH_FIELD_U64, &weight, 8) == PH_OK);
        fuzz_demand(ph_client_get_property(client, entity, 1, PH_FIELD_I32X3, place_mm, 12) ==
                    PH_OK);
        return;
    }
    double heading_deg;
    uint8_t health;
    ph_entity_id target;
    char label[9];
    uint8_t badge[6];
    fuzz_demand(ph_client_get_property(client, entity, 0, PH_FIELD_I32X3, place_mm, 12) == PH_OK);
    fuzz_demand(ph_client_get_property(client, entity, 1, PH_FIELD_F64, &heading_deg, 8) == PH_OK);
    fuzz_demand(ph_client_get_property(client, entity, 2, PH_FIELD_U8, &health, 1) == PH_OK &&
                health <= 100);
    fuzz_demand(ph_client_get_property(client, entity, 3, PH_FIELD_ENTITY, &target,
                                       sizeof target) == PH_OK);
    fuzz_demand(target.index1 == 0 || ph_client_is_in_view(client, target));
    fuzz_demand(ph_client_get_property(client, entity, 4, PH_FIELD_TEXT, label, sizeof label) ==
                PH_OK);
    fuzz_demand(ph_client_get_property(client, entity, 5, PH_FIELD_BYTES, badge, sizeof badge) ==
                PH_OK);
}

static void poll(ph_client* client, fuzz_source* from)
{
    ph_event event;
    for (uint32_t count = fuzz_take(from, 16); count > 0 && ph_client_poll(client, &event);
         --count) {
        const bool is_leave = event.kind == PH_EVENT_LEAVE;
        fuzz_demand(ph_client_is_in_view(client, event.entity) != is_leave);
        if (!is_leave) {
            look(client, event.entity);
            fuzz_demand(ph_client_set_user(client, event.entity, client) == PH_OK);
        }
        fuzz_demand(!is_leave || event.user == client);
    }
    fuzz_demand(ph_client_validate(client));
}

static void answer(ph_client* client, uint64_t now_us)
{
    uint8_t ack[PH_ACK_SIZE];
    fuzz_demand((ph_client_write_ack(client, now_us, ack) > 0) == client->session.has_begun);
    fuzz_demand(ph_client_validate(client));
}

// Health, or weight: within its range.
static void show_smooth(const ph_client* client, ph_entity_id entity)
{
    int class_index;
    double numbers[4] = {-1.0};
    fuzz_demand(ph_client_identify(client, entity, NULL, &class_index) == PH_OK);
    fuzz_demand(ph_client_get_shown(client, entity, class_index == 1 ? 0 : 2, numbers) == PH_OK);
    fuzz_demand(numbers[0] >= 0.0 && numbers[0] <= (class_index == 1 ? PH_WHOLE_MAX : 100.0));
}

// A frame: whatever was sent, every entity is shown somewhere in the world.
static void show(ph_client* client, uint64_t now_us)
{
    ph_client_advance(client, now_us);
    for (int slot = 0; slot < ph_client_slot_count(client); ++slot) {
        const ph_entity_id entity = ph_client_entity_at(client, slot);
        if (entity.index1 == 0) {
            continue;
        }
        ph_pose pose;
        fuzz_demand(ph_client_get_pose(client, entity, &pose) == PH_OK);
        for (int k = 0; k < 3; ++k) {
            fuzz_demand(pose.position_mm[k] >= -0x1p31 && pose.position_mm[k] < 0x1p31);
        }
        fuzz_demand(pose.heading_deg >= 0.0 && pose.heading_deg < 360.0);
        show_smooth(client, entity);
    }
    fuzz_demand(ph_client_validate(client));
}

static void step(ph_client* client, uint64_t now_us, fuzz_source* from)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    switch (fuzz_take(from, 8)) {
    case 0:
        size = fuzz_take(from, 256);
        size = size < from->left ? size : from->left;
        receive(client, now_us, from->bytes, size);
        from->bytes += size;
        from->left -= size;
        return;
    case 1:
        poll(client, from);
        return;
    case 2:
        size = fuzz_write_probe(client, from, bytes);
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

static void play(const uint8_t* data, size_t size, int reorder_wait_ms)
{
    fuzz_source from = {.bytes = data, .left = size};
    // Inputs of the classic profile came first, and mean what they did.
    const bool is_pinhole = from.left > 0 && from.bytes[0] == PINHOLE_MARK;
    if (is_pinhole) {
        fuzz_take(&from, 256);
    }
    ph_client* client =
        make_client(is_pinhole ? PH_PROFILE_PINHOLE : PH_PROFILE_CLASSIC, reorder_wait_ms);
    uint64_t now_us = 0;
    for (int i = 0; i < STEPS_MAX && from.left > 0; ++i) {
        now_us += (uint64_t)1000 << fuzz_take(&from, 20);
        step(client, now_us, &from);
        // Takes nothing from the input, which means what it did.
        if (i % 4 != 3) {
            answer(client, now_us + (uint64_t)i * 1000);
        }
        show(client, now_us + (uint64_t)(i % 7) * 40000);
    }
    ph_client_destroy(client);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    play(data, size, 0); // each packet by itself
    play(data, size, 100);
    return 0;
}
