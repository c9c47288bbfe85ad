// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/bus_any.h"

#include <pinhole/message.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- written and read

bool bus_any_write(bus_writer* writer, const bus_any* any)
{
    switch (any->kind) {
    case BUS_CELL:
        return bus_write_cell(writer, &any->cell);
    case BUS_SNAPSHOT:
        return bus_write_snapshot(writer, &any->snapshot);
    case BUS_BEAT:
        return bus_write_beat(writer, &any->beat);
    case BUS_OFFER:
        return bus_write_offer(writer, &any->offer);
    case BUS_ACCEPT:
        return bus_write_accept(writer, &any->accept);
    case BUS_FIND:
        return bus_write_find(writer, &any->find);
    case BUS_FOUND:
        return bus_write_found(writer, &any->found);
    case BUS_MIRRORED:
        return bus_write_mirrored(writer, &any->mirrored);
    case BUS_FRONT_REPORT:
        return bus_write_front_report(writer, &any->front_report);
    case BUS_WISH:
        return bus_write_wish(writer, &any->wish);
    case BUS_GRANT:
        return bus_write_grant(writer, &any->grant);
    default:
        break;
    }
    bus_items_begin(writer, &any->items);
    for (int i = 0; i < any->items.count; ++i) {
        if (!bus_items_add(writer, &any->item[i])) {
            return false;
        }
    }
    return bus_items_end(writer, any->items.count);
}

static bool read_items(bus_any* any, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal)
{
    if (!bus_read_items(&any->items, bytes, size, refusal)) {
        return false;
    }
    bus_items rest = any->items;
    int count = 0;
    for (bus_item item; bus_next_item(&rest, &item);) {
        assert_true(count < BUS_ANY_ITEMS);
        any->item[count++] = item;
    }
    assert_int_equal(count, any->items.count);
    return true;
}

bool bus_any_read(bus_any* any, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal)
{
    *any = (bus_any){0};
    if (!bus_read_kind(bytes, size, &any->kind, refusal)) {
        return false;
    }
    switch (any->kind) {
    case BUS_CELL:
        return bus_read_cell(&any->cell, bytes, size, refusal);
    case BUS_SNAPSHOT:
        return bus_read_snapshot(&any->snapshot, bytes, size, refusal);
    case BUS_BEAT:
        return bus_read_beat(&any->beat, bytes, size, refusal);
    case BUS_OFFER:
        return bus_read_offer(&any->offer, bytes, size, refusal);
    case BUS_ACCEPT:
        return bus_read_accept(&any->accept, bytes, size, refusal);
    case BUS_FIND:
        return bus_read_find(&any->find, bytes, size, refusal);
    case BUS_FOUND:
        return bus_read_found(&any->found, bytes, size, refusal);
    case BUS_MIRRORED:
        return bus_read_mirrored(&any->mirrored, bytes, size, refusal);
    case BUS_FRONT_REPORT:
        return bus_read_front_report(&any->front_report, bytes, size, refusal);
    case BUS_WISH:
        return bus_read_wish(&any->wish, bytes, size, refusal);
    case BUS_GRANT:
        return bus_read_grant(&any->grant, bytes, size, refusal);
    default:
        return read_items(any, bytes, size, refusal);
    }
}

// ---- as text

typedef struct text_builder {
    char* text;
    size_t size;
    size_t capacity;
} text_builder;

static void add(text_builder* to, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    to->size += (size_t)vsnprintf(to->text + to->size, to->capacity - to->size, format, arguments);
    va_end(arguments);
    assert_true(to->size < to->capacity);
}

static void add_hex(text_builder* to, const char* before, const uint8_t* bytes, size_t size)
{
    add(to, "%s%s", before, size == 0 ? "-" : "");
    assert_true(to->size + 2 * size < to->capacity);
    for (size_t i = 0; i < size; ++i) {
        to->text[to->size++] = "0123456789abcdef"[bytes[i] >> 4];
        to->text[to->size++] = "0123456789abcdef"[bytes[i] & 15];
    }
    to->text[to->size] = '\0';
}

static void add_messages(text_builder* to, const char* before, const uint8_t* bytes, size_t size)
{
    add(to, "%s%s", before, size == 0 ? "-" : "");
    const uint8_t* message;
    size_t message_size;
    for (const char* comma = ""; bus_next_message(&bytes, &size, &message, &message_size);
         comma = ",") {
        add_hex(to, comma, message, message_size);
    }
    assert_int_equal(size, 0);
}

static const char* name_or_none(const char* name)
{
    return name[0] != '\0' ? name : "-";
}

static void add_place(text_builder* to, const int32_t place_mm[3])
{
    add(to, " place %d %d %d", place_mm[0], place_mm[1], place_mm[2]);
}

static void add_session(text_builder* to, const bus_session* it)
{
    add(to,
        "session client %" PRIu64 " generation %" PRIu64 " key %" PRIu64
        " front %s sees %08x audience %08x received %" PRIu64 " input %u told %" PRIu64,
        it->client_id, it->generation, it->key, name_or_none(it->front), it->sees, it->audience,
        it->received, it->input, it->told);
    add_hex(to, " state ", it->state, it->state_size);
    add_messages(to, " queue ", it->queue, it->queue_size);
}

static void add_item_rest(text_builder* to, const bus_item* it)
{
    switch (it->kind) {
    case BUS_ITEM_ATTACH:
        add(to, " anew %d", it->is_anew);
        break;
    case BUS_ITEM_DATA:
        add(to, " told %" PRIu64 " first %" PRIu64, it->told, it->first);
        add_messages(to, " messages ", it->bytes, it->size);
        add(to, " input %u", it->input);
        add_hex(to, " bytes ", it->input_bytes, it->input_size);
        add_hex(to, " state ", it->state, it->state_size);
        break;
    case BUS_ITEM_ATTACHED:
        add(to, " region %d sees %08x audience %08x", it->region, it->sees, it->audience);
        add_place(to, it->place_mm);
        add(to, " received %" PRIu64 " told %" PRIu64, it->received, it->told);
        add_hex(to, " state ", it->state, it->state_size);
        break;
    case BUS_ITEM_REFUSED:
        add_hex(to, " text ", it->bytes, it->size);
        break;
    case BUS_ITEM_CONFIRM:
        add(to, " received %" PRIu64 " input %u", it->received, it->input);
        break;
    case BUS_ITEM_TELL:
        add(to, " number %" PRIu64, it->first);
        add_hex(to, " message ", it->bytes, it->size);
        break;
    case BUS_ITEM_MOVED:
        add(to, " region %d", it->region);
        break;
    case BUS_ITEM_OWN:
        add_place(to, it->place_mm);
        add_hex(to, " batch ", it->bytes, it->size);
        break;
    case BUS_ITEM_ENTITY:
        add_hex(to, " batch ", it->bytes, it->size);
        break;
    case BUS_ITEM_DETACH:
    case BUS_ITEM_ENDED:
    case BUS_ITEM_SESSION:
        break;
    }
}

static void add_item(text_builder* to, const bus_item* it)
{
    static const char* const names[] = {
        [BUS_ITEM_ATTACH] = "attach",   [BUS_ITEM_DATA] = "data",
        [BUS_ITEM_DETACH] = "detach",   [BUS_ITEM_ATTACHED] = "attached",
        [BUS_ITEM_REFUSED] = "refused", [BUS_ITEM_CONFIRM] = "confirm",
        [BUS_ITEM_TELL] = "tell",       [BUS_ITEM_MOVED] = "moved",
        [BUS_ITEM_OWN] = "own",         [BUS_ITEM_ENDED] = "ended",
        [BUS_ITEM_ENTITY] = "entity",
    };
    add(to, "; ");
    if (it->kind == BUS_ITEM_SESSION) {
        add_session(to, &it->session);
        return;
    }
    add(to, "%s client %" PRIu64 " generation %" PRIu64 " key %" PRIu64, names[it->kind],
        it->client_id, it->generation, it->key);
    add_item_rest(to, it);
}

static void add_items(text_builder* to, const bus_any* any)
{
    const bus_items* it = &any->items;
    add(to, "%s region %d",
        it->kind == BUS_UP     ? "up"
        : it->kind == BUS_DOWN ? "down"
                               : "mirror",
        it->region);
    if (it->kind != BUS_UP) {
        add(to, " epoch %u", it->epoch);
    }
    if (it->kind == BUS_MIRROR) {
        add(to, " sequence %" PRIu64 " all %d last %d", it->sequence, it->is_all, it->is_last);
    }
    add(to, " name %s", it->name);
    for (int i = 0; i < it->count; ++i) {
        add_item(to, &any->item[i]);
    }
}

static void add_cell(text_builder* to, const bus_cell* it)
{
    add(to,
        "cell region %d epoch %u cell %d %d channel %d snapshot %d part %u last %d sequence "
        "%" PRIu64,
        it->region, it->epoch, it->cell.x, it->cell.y, it->channel, it->is_snapshot, it->part,
        it->is_last_part, it->sequence);
    add_hex(to, " batch ", it->batch, it->batch_size);
}

static void add_offer(text_builder* to, const bus_offer* it)
{
    add(to, "offer from %d epoch %u to %d key %" PRIu64 " count %u", it->from_region,
        it->from_epoch, it->to_region, it->key, it->count);
    add_hex(to, " batch ", it->batch, it->batch_size);
    if (it->has_session) {
        add(to, " ");
        add_session(to, &it->session);
    }
}

static void add_front_report(text_builder* to, const bus_front_report* it)
{
    add(to, "front %s", it->front);
    add_hex(to, " address ", it->address.bytes, it->address.kind == PH_ADDRESS_IPV4 ? 4 : 16);
    add(to,
        " port %u clients %u capacity %u started %" PRIu64 " emptying %d centre %d %d spread %u",
        it->address.port, it->clients, it->capacity, it->started_us, it->is_emptying,
        it->centre_mm[0], it->centre_mm[1], it->spread_mm);
}

static void add_grant(text_builder* to, const bus_grant* it)
{
    add(to, "grant %u client %" PRIu64 " tokens %d", it->number, it->client_id, it->token_count);
    add_hex(to, " text ", (const uint8_t*)it->text, strlen(it->text));
    add_hex(to, " bytes ", it->tokens, (size_t)it->token_count * PH_TOKEN_SIZE);
}

static void add_short(text_builder* to, const bus_any* any)
{
    switch (any->kind) {
    case BUS_SNAPSHOT:
        add(to, "snapshot cell %d %d channel %d region %d reply %s", any->snapshot.cell.x,
            any->snapshot.cell.y, any->snapshot.channel, any->snapshot.region,
            any->snapshot.reply_to);
        break;
    case BUS_BEAT:
        add(to, "beat region %d epoch %u role %d all %d stamp %u entities %u players %u sim %s",
            any->beat.region, any->beat.epoch, any->beat.role, any->beat.has_all, any->beat.stamp,
            any->beat.entities, any->beat.players, any->beat.sim);
        break;
    case BUS_ACCEPT:
        add(to, "accept from %d to %d key %" PRIu64 " count %u", any->accept.from_region,
            any->accept.to_region, any->accept.key, any->accept.count);
        break;
    case BUS_FIND:
        add(to, "find key %" PRIu64 " reply %s", any->find.key, any->find.reply_to);
        break;
    case BUS_FOUND:
        add(to, "found key %" PRIu64 " region %d epoch %u", any->found.key, any->found.region,
            any->found.epoch);
        add_place(to, any->found.place_mm);
        break;
    case BUS_MIRRORED:
        add(to, "mirrored region %d epoch %u sequence %" PRIu64 " all %d sim %s",
            any->mirrored.region, any->mirrored.epoch, any->mirrored.sequence,
            any->mirrored.wants_all, any->mirrored.sim);
        break;
    case BUS_WISH:
        add(to, "wish %u client %" PRIu64 " key %" PRIu64 " spare %d tokens %d not %s reply %s",
            any->wish.number, any->wish.client_id, any->wish.key, any->wish.is_spare,
            any->wish.token_count, name_or_none(any->wish.not_front), any->wish.reply_to);
        break;
    default:
        add_items(to, any);
        break;
    }
}

char* bus_any_text(const bus_any* any)
{
    text_builder to = {.capacity = (size_t)4 << 20};
    to.text = malloc(to.capacity);
    assert_non_null(to.text);
    switch (any->kind) {
    case BUS_CELL:
        add_cell(&to, &any->cell);
        break;
    case BUS_OFFER:
        add_offer(&to, &any->offer);
        break;
    case BUS_FRONT_REPORT:
        add_front_report(&to, &any->front_report);
        break;
    case BUS_GRANT:
        add_grant(&to, &any->grant);
        break;
    default:
        add_short(&to, any);
        break;
    }
    return to.text;
}

// ---- drawn

static uint64_t draw_number(bus_draw* draw, uint64_t low, uint64_t high)
{
    const uint64_t way = draw->round < 2 ? (uint64_t)draw->round : test_rng_below(&draw->rng, 8);
    if (way < 2) {
        return way == 0 ? low : high;
    }
    const uint64_t random = test_rng_next(&draw->rng) >> test_rng_below(&draw->rng, 64);
    return high - low == UINT64_MAX ? random : low + random % (high - low + 1);
}

static bool draw_bool(bus_draw* draw)
{
    return draw_number(draw, 0, 1) == 1;
}

static uint32_t draw_u32(bus_draw* draw, uint32_t low)
{
    return (uint32_t)draw_number(draw, low, UINT32_MAX);
}

static uint64_t draw_u64(bus_draw* draw, uint64_t low)
{
    return draw_number(draw, low, UINT64_MAX);
}

static int32_t draw_i32(bus_draw* draw)
{
    return (int32_t)((int64_t)draw_number(draw, 0, UINT32_MAX) + INT32_MIN);
}

static void draw_name(bus_draw* draw, char name[PH_BUS_NAME_SIZE], bool or_none)
{
    static const char characters[] =
        "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    const uint64_t size = draw_number(draw, or_none ? 0 : 1, PH_BUS_NAME_SIZE - 1);
    memset(name, 0, PH_BUS_NAME_SIZE);
    for (uint64_t i = 0; i < size; ++i) {
        name[i] = characters[draw_number(draw, 0, sizeof characters - 2)];
    }
}

static uint8_t* draw_room(bus_draw* draw, size_t size)
{
    assert_true(size <= BUS_DRAW_POOL - draw->used);
    uint8_t* at = draw->pool + draw->used;
    draw->used += size;
    return at;
}

static void draw_bytes(bus_draw* draw, const uint8_t** bytes, size_t* size, size_t low, size_t high)
{
    *size = (size_t)draw_number(draw, low, high);
    uint8_t* at = draw_room(draw, *size);
    for (size_t i = 0; i < *size; ++i) {
        at[i] = (uint8_t)test_rng_next(&draw->rng);
    }
    *bytes = *size > 0 ? at : NULL;
}

static void draw_messages(bus_draw* draw, int count, const uint8_t** bytes, size_t* size)
{
    *bytes = count > 0 ? draw->pool + draw->used : NULL;
    *size = 0;
    for (int i = 0; i < count; ++i) {
        uint8_t* head = draw_room(draw, 2);
        const uint8_t* message;
        size_t message_size;
        draw_bytes(draw, &message, &message_size, 1, PH_MESSAGE_SIZE_MAX);
        head[0] = (uint8_t)message_size;
        head[1] = (uint8_t)(message_size >> 8);
        *size += 2 + message_size;
    }
}

static void draw_text(bus_draw* draw, char* text, size_t max)
{
    const size_t size = (size_t)draw_number(draw, 0, max);
    for (size_t i = 0; i < size; ++i) {
        text[i] = (char)draw_number(draw, ' ', '~');
    }
    text[size] = '\0';
}

static void draw_place(bus_draw* draw, int32_t place_mm[3])
{
    for (int i = 0; i < 3; ++i) {
        place_mm[i] = draw_i32(draw);
    }
}

static int draw_region(bus_draw* draw)
{
    return (int)draw_number(draw, 0, PH_REGION_MAX);
}

static void draw_session(bus_draw* draw, bus_session* it)
{
    *it = (bus_session){.client_id = draw_u64(draw, 0),
                        .generation = draw_u64(draw, 0),
                        .key = draw_u64(draw, 0),
                        .sees = draw_u32(draw, 0),
                        .audience = draw_u32(draw, 0),
                        .received = draw_u64(draw, 0),
                        .input = draw_u32(draw, 0),
                        .queue_count = (uint16_t)draw_number(draw, 0, 20)};
    it->told = draw_number(draw, 0, UINT64_MAX - it->queue_count);
    draw_name(draw, it->front, true);
    draw_bytes(draw, &it->state, &it->state_size, 0, 10000);
    draw_messages(draw, it->queue_count, &it->queue, &it->queue_size);
}

static void draw_item_rest(bus_draw* draw, bus_item* it)
{
    switch (it->kind) {
    case BUS_ITEM_ATTACH:
        it->is_anew = draw_bool(draw);
        break;
    case BUS_ITEM_DATA:
        it->told = draw_u64(draw, 0);
        it->count = (uint16_t)draw_number(draw, 0, 20);
        it->first = draw_number(draw, 1, it->count > 0 ? UINT64_MAX - it->count + 1 : UINT64_MAX);
        draw_messages(draw, it->count, &it->bytes, &it->size);
        it->input = draw_u32(draw, 0);
        if (it->input > 0) {
            draw_bytes(draw, &it->input_bytes, &it->input_size, 0, PH_INPUT_SIZE_MAX);
        }
        draw_bytes(draw, &it->state, &it->state_size, 0, 10000);
        break;
    case BUS_ITEM_ATTACHED:
        it->region = draw_region(draw);
        it->sees = draw_u32(draw, 0);
        it->audience = draw_u32(draw, 0);
        draw_place(draw, it->place_mm);
        it->received = draw_u64(draw, 0);
        it->told = draw_u64(draw, 0);
        draw_bytes(draw, &it->state, &it->state_size, 0, 10000);
        break;
    case BUS_ITEM_REFUSED: {
        char* text = (char*)draw_room(draw, 256);
        draw_text(draw, text, 255);
        it->size = strlen(text);
        it->bytes = (const uint8_t*)text;
        break;
    }
    case BUS_ITEM_CONFIRM:
        it->received = draw_u64(draw, 0);
        it->input = draw_u32(draw, 0);
        break;
    case BUS_ITEM_TELL:
        it->first = draw_u64(draw, 1);
        draw_bytes(draw, &it->bytes, &it->size, 1, PH_MESSAGE_SIZE_MAX);
        break;
    case BUS_ITEM_MOVED:
        it->region = draw_region(draw);
        break;
    case BUS_ITEM_OWN:
        draw_place(draw, it->place_mm);
        draw_bytes(draw, &it->bytes, &it->size, 0, 10000);
        break;
    case BUS_ITEM_ENTITY:
        draw_bytes(draw, &it->bytes, &it->size, 1, 10000);
        break;
    default:
        break;
    }
}

static void draw_item(bus_draw* draw, bus_item_kind kind, bus_item* it)
{
    *it = (bus_item){.kind = kind};
    if (kind == BUS_ITEM_SESSION) {
        draw_session(draw, &it->session);
        return;
    }
    it->client_id = draw_u64(draw, 0);
    it->generation = draw_u64(draw, 0);
    it->key = draw_u64(draw, 0);
    draw_item_rest(draw, it);
}

static void draw_items(bus_draw* draw, bus_kind kind, bus_any* any)
{
    bus_items* it = &any->items;
    it->kind = kind;
    it->region = draw_region(draw);
    it->epoch = kind != BUS_UP ? draw_u32(draw, 1) : 0;
    if (kind == BUS_MIRROR) {
        it->sequence = draw_u64(draw, 1);
        it->is_all = draw_bool(draw);
        it->is_last = it->is_all && draw_bool(draw);
    }
    draw_name(draw, it->name, false);
    it->count = (uint16_t)draw_number(draw, 0, BUS_ANY_ITEMS);
    const int first = kind == BUS_UP     ? BUS_ITEM_ATTACH
                      : kind == BUS_DOWN ? BUS_ITEM_ATTACHED
                                         : BUS_ITEM_SESSION;
    const int kinds = kind == BUS_UP ? 3 : kind == BUS_DOWN ? 6 : 3;
    for (int i = 0; i < it->count; ++i) {
        draw_item(draw, (bus_item_kind)(first + i % kinds), &any->item[i]);
    }
}

static void draw_cell(bus_draw* draw, bus_cell* it)
{
    it->region = draw_region(draw);
    it->epoch = draw_u32(draw, 1);
    it->cell = (ph_cell){draw_i32(draw), draw_i32(draw)};
    it->channel = (int)draw_number(draw, 0, PH_CHANNEL_COUNT - 1);
    it->is_snapshot = draw_bool(draw);
    if (it->is_snapshot) {
        it->part = (uint16_t)draw_number(draw, 0, UINT16_MAX);
        it->is_last_part = draw_bool(draw);
    }
    draw_bytes(draw, &it->batch, &it->batch_size, 0, 100000);
    it->sequence = draw_u64(draw, it->is_snapshot || it->batch_size == 0 ? 0 : 1);
}

static void draw_offer(bus_draw* draw, bus_offer* it)
{
    it->from_region = draw_region(draw);
    it->from_epoch = draw_u32(draw, 1);
    it->to_region = draw_region(draw);
    it->to_region = it->to_region != it->from_region ? it->to_region : it->to_region ^ 2;
    it->count = draw_u32(draw, 1);
    it->count -= it->count == UINT32_MAX;
    draw_bytes(draw, &it->batch, &it->batch_size, 1, 100000);
    it->key = draw_u64(draw, 0);
    it->has_session = draw_bool(draw);
    if (it->has_session) {
        draw_session(draw, &it->session);
        it->session.key = it->key;
    }
}

static void draw_beat(bus_draw* draw, bus_beat* it)
{
    it->region = draw_region(draw);
    it->role = (bus_role)draw_number(draw, BUS_ROLE_OWNER, BUS_ROLE_RELEASED);
    const bool is_standby = it->role == BUS_ROLE_STANDBY;
    it->epoch = draw_u32(draw, is_standby ? 0 : 1);
    it->has_all = is_standby && draw_bool(draw);
    it->stamp = draw_u32(draw, 0);
    it->entities = draw_u32(draw, 0);
    it->players = draw_u32(draw, 0);
    draw_name(draw, it->sim, false);
}

static void draw_front_report(bus_draw* draw, bus_front_report* it)
{
    draw_name(draw, it->front, false);
    const bool is_ipv6 = draw_bool(draw);
    it->address.kind = is_ipv6 ? PH_ADDRESS_IPV6 : PH_ADDRESS_IPV4;
    it->address.port = (uint16_t)draw_number(draw, 0, UINT16_MAX);
    for (int i = 0; i < (is_ipv6 ? 16 : 4); ++i) {
        it->address.bytes[i] = (uint8_t)draw_number(draw, 0, 255);
    }
    it->clients = draw_u32(draw, 0);
    it->capacity = draw_u32(draw, 0);
    it->started_us = draw_u64(draw, 0);
    it->is_emptying = draw_bool(draw);
    it->centre_mm[0] = draw_i32(draw);
    it->centre_mm[1] = draw_i32(draw);
    it->spread_mm = draw_u32(draw, 0);
}

static void draw_tokens(bus_draw* draw, bus_any* any)
{
    any->wish = (bus_wish){.number = draw_u32(draw, 0),
                           .client_id = draw_u64(draw, 0),
                           .key = draw_u64(draw, 0),
                           .is_spare = draw_bool(draw),
                           .token_count = (int)draw_number(draw, 1, 4)};
    draw_name(draw, any->wish.not_front, true);
    draw_name(draw, any->wish.reply_to, false);
    any->grant = (bus_grant){.number = draw_u32(draw, 0),
                             .client_id = draw_u64(draw, 0),
                             .token_count = (int)draw_number(draw, 0, 4)};
    draw_text(draw, any->grant.text, 127);
    const size_t bytes = (size_t)any->grant.token_count * PH_TOKEN_SIZE;
    size_t size;
    draw_bytes(draw, &any->grant.tokens, &size, bytes, bytes);
}

static void draw_short(bus_draw* draw, bus_any* any)
{
    any->snapshot.cell = (ph_cell){draw_i32(draw), draw_i32(draw)};
    any->snapshot.channel = (int)draw_number(draw, 0, PH_CHANNEL_COUNT);
    any->snapshot.channel = any->snapshot.channel == PH_CHANNEL_COUNT ? 255 : any->snapshot.channel;
    any->snapshot.region = (int)draw_number(draw, 0, PH_REGION_NONE);
    draw_name(draw, any->snapshot.reply_to, false);
    any->accept = (bus_accept){
        .from_region = draw_region(draw), .key = draw_u64(draw, 0), .count = draw_u32(draw, 1)};
    any->accept.to_region = any->accept.from_region ^ 2;
    any->find.key = draw_u64(draw, 0);
    draw_name(draw, any->find.reply_to, false);
    any->found = (bus_found){
        .key = draw_u64(draw, 0), .region = draw_region(draw), .epoch = draw_u32(draw, 1)};
    draw_place(draw, any->found.place_mm);
    any->mirrored = (bus_mirrored){.region = draw_region(draw),
                                   .epoch = draw_u32(draw, 0),
                                   .sequence = draw_u64(draw, 0),
                                   .wants_all = draw_bool(draw)};
    draw_name(draw, any->mirrored.sim, false);
}

void bus_any_draw(bus_draw* draw, bus_kind kind, bus_any* any)
{
    *any = (bus_any){.kind = kind};
    draw->used = 0;
    switch (kind) {
    case BUS_CELL:
        draw_cell(draw, &any->cell);
        break;
    case BUS_BEAT:
        draw_beat(draw, &any->beat);
        break;
    case BUS_OFFER:
        draw_offer(draw, &any->offer);
        break;
    case BUS_UP:
    case BUS_DOWN:
    case BUS_MIRROR:
        draw_items(draw, kind, any);
        break;
    case BUS_FRONT_REPORT:
        draw_front_report(draw, &any->front_report);
        break;
    case BUS_WISH:
    case BUS_GRANT:
        draw_tokens(draw, any);
        break;
    default:
        draw_short(draw, any);
        break;
    }
}
