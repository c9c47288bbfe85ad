// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages of the bus that are made of items, one or more for each player (docs/distributed.md): UP, DOWN, MIRROR.
// Written item by item; read twice, once to check the whole and once to hand the items out. Each tick, for each player
// that has news.

#include "bus/bus_coder.h"

#include <pinhole/message.h>
#include <pinhole/net/admission.h>

enum {
    COUNT_AT = BUS_HEAD_SIZE, // count 2: where bus_items_end() finds it
};

// ---- the head

static void code_head(bus_coder* coder, bus_items* head)
{
    bus_code_u16(coder, &head->count);
    bus_code_region(coder, &head->region);
    if (head->kind != BUS_UP) {
        bus_code_u32(coder, &head->epoch);
        bus_code_rule(coder, head->epoch > 0);
    }
    if (head->kind == BUS_MIRROR) {
        bus_code_u64(coder, &head->sequence);
        bus_code_flags(coder, &head->is_all, &head->is_last);
        bus_code_rule(coder, head->sequence > 0 && (head->is_all || !head->is_last));
    }
    bus_code_name(coder, head->name, false);
}

// ---- items, without kind and whose they are

static void code_place(bus_coder* coder, int32_t place_mm[3])
{
    for (int i = 0; i < 3; ++i) {
        bus_code_i32(coder, &place_mm[i]);
    }
}

// Numbers are there only where they number something.
static void code_data(bus_coder* coder, bus_item* item)
{
    bus_code_u64(coder, &item->told);
    bus_code_u16(coder, &item->count);
    // Also of no messages: first + count - 1 is how many the state has taken in.
    bus_code_u64(coder, &item->first);
    bus_code_rule(coder, item->first > 0 &&
                             (item->count == 0 || item->first <= UINT64_MAX - (item->count - 1u)));
    bus_code_messages(coder, item->count, &item->bytes, &item->size);
    bus_code_u32(coder, &item->input);
    if (item->input > 0) {
        bus_code_bytes(coder, &item->input_bytes, &item->input_size, 1, PH_INPUT_SIZE_MAX);
    }
    bus_code_bytes(coder, &item->state, &item->state_size, 4, BUS_MESSAGE_MAX);
}

static void code_attached(bus_coder* coder, bus_item* item)
{
    bus_code_region(coder, &item->region);
    bus_code_u32(coder, &item->sees);
    bus_code_u32(coder, &item->audience);
    code_place(coder, item->place_mm);
    bus_code_u64(coder, &item->received);
    bus_code_u64(coder, &item->told);
    bus_code_bytes(coder, &item->state, &item->state_size, 4, BUS_MESSAGE_MAX);
}

static void code_tell(bus_coder* coder, bus_item* item)
{
    bus_code_u64(coder, &item->first);
    bus_code_rule(coder, item->first > 0);
    bus_code_bytes(coder, &item->bytes, &item->size, 2, PH_MESSAGE_SIZE_MAX);
    bus_code_rule(coder, item->size > 0);
}

static void code_fields(bus_coder* coder, bus_item* item)
{
    switch (item->kind) {
    case BUS_ITEM_ATTACH:
        bus_code_bool(coder, &item->is_anew);
        break;
    case BUS_ITEM_DATA:
        code_data(coder, item);
        break;
    case BUS_ITEM_ATTACHED:
        code_attached(coder, item);
        break;
    case BUS_ITEM_REFUSED:
        bus_code_text(coder, &item->bytes, &item->size, PH_REFUSAL_TEXT_MAX);
        break;
    case BUS_ITEM_CONFIRM:
        bus_code_u64(coder, &item->received);
        bus_code_u32(coder, &item->input);
        break;
    case BUS_ITEM_TELL:
        code_tell(coder, item);
        break;
    case BUS_ITEM_MOVED:
        bus_code_region(coder, &item->region);
        break;
    case BUS_ITEM_OWN:
        code_place(coder, item->place_mm);
        bus_code_bytes(coder, &item->bytes, &item->size, 4, BUS_MESSAGE_MAX);
        break;
    case BUS_ITEM_ENTITY:
        bus_code_bytes(coder, &item->bytes, &item->size, 4, BUS_MESSAGE_MAX);
        bus_code_rule(coder, item->size > 0);
        break;
    case BUS_ITEM_DETACH:
    case BUS_ITEM_ENDED:
    case BUS_ITEM_SESSION:
        break;
    }
}

// ---- whole items

static bool belongs_to(bus_kind message, int item)
{
    switch (message) {
    case BUS_UP:
        return item >= BUS_ITEM_ATTACH && item <= BUS_ITEM_DETACH;
    case BUS_DOWN:
        return item >= BUS_ITEM_ATTACHED && item <= BUS_ITEM_OWN;
    case BUS_MIRROR:
        return item >= BUS_ITEM_SESSION && item <= BUS_ITEM_ENTITY;
    default:
        return false;
    }
}

static void code_item(bus_coder* coder, bus_kind message, bus_item* item)
{
    const int kind = (int)bus_code_number(coder, (uint64_t)item->kind, 1);
    if (!coder->is_refused && !belongs_to(message, kind)) {
        bus_coder_refuse(coder, PH_BUS_REFUSAL_KIND);
    }
    if (coder->is_refused) {
        return;
    }
    item->kind = (bus_item_kind)kind;
    if (item->kind == BUS_ITEM_SESSION) { // says itself whose it is
        bus_code_session(coder, &item->session);
        item->client_id = item->session.client_id;
        item->generation = item->session.generation;
        item->key = item->session.key;
        return;
    }
    bus_code_u64(coder, &item->client_id);
    bus_code_u64(coder, &item->generation);
    bus_code_u64(coder, &item->key);
    code_fields(coder, item);
}

// ---- writing

void bus_items_begin(bus_writer* writer, const bus_items* head)
{
    PH_ASSERT(head->kind == BUS_UP || head->kind == BUS_DOWN || head->kind == BUS_MIRROR);
    const size_t begin = writer->size;
    bus_items copy = *head;
    copy.count = 0;
    bus_coder coder = bus_coder_write(writer, head->kind);
    code_head(&coder, &copy);
    writer->items_at = begin;
    writer->item_count = 0;
    if (!bus_coder_end_write(&coder, begin)) {
        writer->is_short = true; // no items without a head
    }
}

bool bus_items_add(bus_writer* writer, const bus_item* item)
{
    if (writer->is_short || writer->item_count == UINT16_MAX) {
        return false;
    }
    const size_t begin = writer->size;
    bus_item copy = *item;
    bus_coder coder = {.writer = writer};
    code_item(&coder, (bus_kind)writer->bytes[writer->items_at + 1], &copy);
    if (!bus_coder_end_write(&coder, begin)) {
        writer->is_short = false; // the items before stay, and may be sent
        return false;
    }
    ++writer->item_count;
    return true;
}

bool bus_items_end(bus_writer* writer, uint16_t count)
{
    if (writer->is_short) {
        return false;
    }
    PH_ASSERT(count == writer->item_count);
    uint8_t* at = writer->bytes + writer->items_at + COUNT_AT;
    at[0] = (uint8_t)count;
    at[1] = (uint8_t)(count >> 8);
    return true;
}

// ---- reading

bool bus_read_items(bus_items* head, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal)
{
    *head = (bus_items){0};
    bus_kind kind;
    if (!bus_read_kind(bytes, size, &kind, refusal)) {
        return false;
    }
    if (kind != BUS_UP && kind != BUS_DOWN && kind != BUS_MIRROR) {
        *refusal = PH_BUS_REFUSAL_KIND;
        return false;
    }
    bus_coder coder = bus_coder_read(bytes, size, kind);
    head->kind = kind;
    code_head(&coder, head);
    head->rest = coder.at;
    head->rest_size = coder.left;
    coder.when_cut = PH_BUS_REFUSAL_END;
    for (int i = 0; i < head->count && !coder.is_refused; ++i) {
        bus_item item = {0};
        code_item(&coder, kind, &item);
    }
    return bus_coder_end_read(&coder, head, sizeof *head, refusal);
}

bool bus_next_item(bus_items* head, bus_item* item)
{
    *item = (bus_item){0};
    if (head->rest_size == 0) {
        return false;
    }
    bus_coder coder = {.at = head->rest, .left = head->rest_size};
    code_item(&coder, head->kind, item);
    PH_ASSERT(!coder.is_refused); // bus_read_items() has read it
    head->rest = coder.at;
    head->rest_size = coder.left;
    return !coder.is_refused;
}
