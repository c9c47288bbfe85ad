// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The messages of the bus with one fixed form, field by field (docs/distributed.md). Each has one function for writing
// and reading. CELL is read for every batch of every cell: a few dozen nanoseconds, and its batch is not looked at.

#include "bus/bus_coder.h"

#include <string.h>

enum {
    CHANNEL_ALL = 255, // in SNAPSHOT: all but OWN
    TOKENS_MAX = 4,
    EPOCH_NONE = 0,
};

const char* ph_bus_refusal_name(ph_bus_refusal refusal)
{
    static const char* const names[PH_BUS_REFUSAL_COUNT] = {
#define NAME(name, text) [PH_BUS_REFUSAL_##name] = text,
        PH_BUS_REFUSALS(NAME)
#undef NAME
    };
    return (unsigned)refusal < PH_BUS_REFUSAL_COUNT ? names[refusal] : "unknown";
}

// ---- fields that several have

static void code_cell_place(bus_coder* coder, ph_cell* cell)
{
    bus_code_i32(coder, &cell->x);
    bus_code_i32(coder, &cell->y);
}

// Counted from 1.
static void code_epoch(bus_coder* coder, uint32_t* epoch)
{
    bus_code_u32(coder, epoch);
    bus_code_rule(coder, *epoch != EPOCH_NONE);
}

// ---- state of cells

static void code_cell(bus_coder* coder, bus_cell* cell)
{
    bus_code_region(coder, &cell->region);
    code_epoch(coder, &cell->epoch);
    code_cell_place(coder, &cell->cell);
    bus_code_int(coder, &cell->channel, 1, PH_CHANNEL_COUNT - 1);
    bus_code_flags(coder, &cell->is_snapshot, &cell->is_last_part);
    bus_code_u16(coder, &cell->part);
    bus_code_u64(coder, &cell->sequence);
    bus_code_rest(coder, &cell->batch, &cell->batch_size);
    bus_code_rule(coder, cell->is_snapshot || (cell->part == 0 && !cell->is_last_part));
    // Changes are counted from 1. A stream that has said nothing yet has a heartbeat or snapshot of 0.
    bus_code_rule(coder, cell->sequence > 0 || cell->is_snapshot || cell->batch_size == 0);
}

static void code_snapshot(bus_coder* coder, bus_snapshot* snapshot)
{
    code_cell_place(coder, &snapshot->cell);
    bus_code_int(coder, &snapshot->channel, 1, CHANNEL_ALL);
    bus_code_rule(coder, snapshot->channel < PH_CHANNEL_COUNT || snapshot->channel == CHANNEL_ALL);
    bus_code_int(coder, &snapshot->region, 2, PH_REGION_NONE);
    bus_code_name(coder, snapshot->reply_to, false);
    const ph_cell every = BUS_CELLS_OF_REGION;
    bus_code_rule(coder, snapshot->cell.x != every.x || snapshot->cell.y != every.y ||
                             snapshot->region != PH_REGION_NONE);
}

// ---- ownership and handover

static void code_beat(bus_coder* coder, bus_beat* beat)
{
    int role = (int)beat->role;
    bus_code_region(coder, &beat->region);
    bus_code_u32(coder, &beat->epoch);
    bus_code_int(coder, &role, 1, BUS_ROLE_RELEASED);
    beat->role = (bus_role)role;
    bus_code_bool(coder, &beat->has_all);
    bus_code_u32(coder, &beat->stamp);
    bus_code_u32(coder, &beat->entities);
    bus_code_u32(coder, &beat->players);
    bus_code_name(coder, beat->sim, false);
    // A standby may not know the epoch yet, and only a standby can have all or not.
    bus_code_rule(coder,
                  beat->role == BUS_ROLE_STANDBY || (beat->epoch != EPOCH_NONE && !beat->has_all));
}

// The count of the next owner is one higher: the last that can be told would have none.
static void code_offer(bus_coder* coder, bus_offer* offer)
{
    bus_code_region(coder, &offer->from_region);
    code_epoch(coder, &offer->from_epoch);
    bus_code_region(coder, &offer->to_region);
    bus_code_u64(coder, &offer->key);
    bus_code_u32(coder, &offer->count);
    bus_code_bool(coder, &offer->has_session);
    bus_code_bytes(coder, &offer->batch, &offer->batch_size, 4, BUS_MESSAGE_MAX);
    bus_code_rule(coder, offer->from_region != offer->to_region && offer->count > 0 &&
                             offer->count < UINT32_MAX && offer->batch_size > 0);
    if (offer->has_session && !coder->is_refused) {
        bus_code_session(coder, &offer->session);
        bus_code_rule(coder, offer->session.key == offer->key);
    }
}

static void code_accept(bus_coder* coder, bus_accept* accept)
{
    bus_code_region(coder, &accept->from_region);
    bus_code_region(coder, &accept->to_region);
    bus_code_u64(coder, &accept->key);
    bus_code_u32(coder, &accept->count);
    bus_code_rule(coder, accept->from_region != accept->to_region && accept->count > 0);
}

static void code_mirrored(bus_coder* coder, bus_mirrored* mirrored)
{
    bus_code_region(coder, &mirrored->region);
    bus_code_u32(coder, &mirrored->epoch);
    bus_code_u64(coder, &mirrored->sequence);
    bus_code_bool(coder, &mirrored->wants_all);
    bus_code_name(coder, mirrored->sim, false);
}

// ---- where is it?

static void code_find(bus_coder* coder, bus_find* find)
{
    bus_code_u64(coder, &find->key);
    bus_code_name(coder, find->reply_to, false);
}

static void code_found(bus_coder* coder, bus_found* found)
{
    bus_code_u64(coder, &found->key);
    bus_code_region(coder, &found->region);
    code_epoch(coder, &found->epoch);
    for (int i = 0; i < 3; ++i) {
        bus_code_i32(coder, &found->place_mm[i]);
    }
}

// ---- front-ends and their tokens

// An IPv4 address in IPv6 clothes has two forms: this one is refused, as pinhole/net/address.h never makes it.
static bool is_mapped_ipv4(const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return memcmp(bytes, mapped, sizeof mapped) == 0;
}

static void code_address(bus_coder* coder, ph_address* address)
{
    int kind = address->kind;
    bus_code_int(coder, &kind, 1, PH_ADDRESS_IPV6);
    bus_code_rule(coder, kind != PH_ADDRESS_NONE);
    const size_t size = kind == PH_ADDRESS_IPV4 ? 4 : 16;
    const uint8_t* bytes = address->bytes;
    bus_code_raw(coder, &bytes, size);
    uint16_t port = address->port;
    bus_code_u16(coder, &port);
    if (coder->is_refused) {
        return;
    }
    ph_address found = {.port = port, .kind = (uint16_t)kind};
    memcpy(found.bytes, bytes, size);
    bus_code_rule(coder, kind == PH_ADDRESS_IPV4 || !is_mapped_ipv4(found.bytes));
    *address = found;
}

static void code_front_report(bus_coder* coder, bus_front_report* report)
{
    bus_code_name(coder, report->front, false);
    code_address(coder, &report->address);
    bus_code_u32(coder, &report->clients);
    bus_code_u32(coder, &report->capacity);
    bus_code_u64(coder, &report->started_us);
    bus_code_bool(coder, &report->is_emptying);
    bus_code_i32(coder, &report->centre_mm[0]);
    bus_code_i32(coder, &report->centre_mm[1]);
    bus_code_u32(coder, &report->spread_mm);
}

static void code_wish(bus_coder* coder, bus_wish* wish)
{
    bus_code_u32(coder, &wish->number);
    bus_code_u64(coder, &wish->client_id);
    bus_code_u64(coder, &wish->key);
    bus_code_bool(coder, &wish->is_spare);
    bus_code_int(coder, &wish->token_count, 1, TOKENS_MAX);
    bus_code_rule(coder, wish->token_count >= 1);
    bus_code_name(coder, wish->not_front, true);
    bus_code_name(coder, wish->reply_to, false);
}

static void code_grant(bus_coder* coder, bus_grant* grant)
{
    bus_code_u32(coder, &grant->number);
    bus_code_u64(coder, &grant->client_id);
    bus_code_int(coder, &grant->token_count, 1, TOKENS_MAX);
    const uint8_t* text = (const uint8_t*)grant->text;
    size_t text_size = 0;
    while (coder->writer != NULL && text_size < sizeof grant->text &&
           grant->text[text_size] != '\0') {
        ++text_size;
    }
    bus_code_text(coder, &text, &text_size, sizeof grant->text - 1);
    if (coder->writer == NULL && text_size > 0) {
        memcpy(grant->text, text, text_size);
    }
    if (!coder->is_refused) {
        bus_code_raw(coder, &grant->tokens, (size_t)grant->token_count * PH_TOKEN_SIZE);
    }
}

// ---- whole messages

enum {
    KIND_cell = BUS_CELL,
    KIND_snapshot = BUS_SNAPSHOT,
    KIND_beat = BUS_BEAT,
    KIND_offer = BUS_OFFER,
    KIND_accept = BUS_ACCEPT,
    KIND_find = BUS_FIND,
    KIND_found = BUS_FOUND,
    KIND_mirrored = BUS_MIRRORED,
    KIND_front_report = BUS_FRONT_REPORT,
    KIND_wish = BUS_WISH,
    KIND_grant = BUS_GRANT,
};

#define DEFINE(name)                                                                               \
    bool bus_write_##name(bus_writer* writer, const bus_##name* message)                           \
    {                                                                                              \
        const size_t begin = writer->size;                                                         \
        bus_##name copy = *message;                                                                \
        bus_coder coder = bus_coder_write(writer, (bus_kind)KIND_##name);                          \
        code_##name(&coder, &copy);                                                                \
        return bus_coder_end_write(&coder, begin);                                                 \
    }                                                                                              \
    bool bus_read_##name(bus_##name* message, const uint8_t* bytes, size_t size,                   \
                         ph_bus_refusal* refusal)                                                  \
    {                                                                                              \
        *message = (bus_##name){0};                                                                \
        bus_coder coder = bus_coder_read(bytes, size, (bus_kind)KIND_##name);                      \
        code_##name(&coder, message);                                                              \
        return bus_coder_end_read(&coder, message, sizeof *message, refusal);                      \
    }
BUS_MESSAGES(DEFINE)
#undef DEFINE

// ---- the record of a region's ownership

static void code_ownership(bus_coder* coder, bus_ownership* record)
{
    code_epoch(coder, &record->epoch);
    bus_code_name(coder, record->sim, true);
}

bool bus_write_ownership(bus_writer* writer, const bus_ownership* record)
{
    const size_t begin = writer->size;
    bus_ownership copy = *record;
    bus_coder coder = {.writer = writer};
    bus_code_number(&coder, BUS_VERSION, 1);
    code_ownership(&coder, &copy);
    return bus_coder_end_write(&coder, begin);
}

bool bus_read_ownership(bus_ownership* record, const uint8_t* bytes, size_t size)
{
    *record = (bus_ownership){0};
    bus_coder coder = {.at = bytes, .left = size, .when_cut = PH_BUS_REFUSAL_SIZE};
    bus_code_rule(&coder, bus_code_number(&coder, 0, 1) == BUS_VERSION);
    code_ownership(&coder, record);
    ph_bus_refusal refusal;
    return bus_coder_end_read(&coder, record, sizeof *record, &refusal);
}
