// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages between machines, records and tickets: any bytes are read as each kind. What is accepted is written again
// and gives the same bytes; what is refused leaves nothing behind.

#include "support/fuzz_source.h"

#include "bus/bus_wire.h"

#include <pinhole/message.h>

#include <string.h>

static void demand_same(bus_writer* writer, bool is_written, const uint8_t* data, size_t size)
{
    fuzz_demand(is_written && !writer->is_short);
    fuzz_demand(writer->size == size && memcmp(writer->bytes, data, size) == 0);
    bus_writer_destroy(writer);
}

static void demand_refused(ph_bus_refusal refusal, const void* message, size_t size)
{
    fuzz_demand(refusal <= PH_BUS_REFUSAL_END);
    const uint8_t* bytes = message;
    for (size_t i = 0; i < size; ++i) {
        fuzz_demand(bytes[i] == 0);
    }
}

// ---- messages with one fixed form

#define TRY(name)                                                                                  \
    static bool try_##name(const uint8_t* data, size_t size)                                       \
    {                                                                                              \
        bus_##name read;                                                                           \
        ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;                                             \
        if (!bus_read_##name(&read, data, size, &refusal)) {                                       \
            demand_refused(refusal, &read, sizeof read);                                           \
            return false;                                                                          \
        }                                                                                          \
        bus_writer writer;                                                                         \
        bus_writer_init(&writer, &(ph_allocator){0});                                              \
        const bool is_written = bus_write_##name(&writer, &read);                                  \
        demand_same(&writer, is_written, data, size);                                              \
        return true;                                                                               \
    }
BUS_MESSAGES(TRY)
#undef TRY

// ---- messages made of items

// Every byte that an item leads to is there.
static uint32_t sum_of(const uint8_t* bytes, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; ++i) {
        sum += bytes[i];
    }
    return sum;
}

static void check_messages(const uint8_t* rest, size_t rest_size, int count)
{
    const uint8_t* bytes;
    size_t size;
    for (int i = 0; i < count; ++i) {
        fuzz_demand(bus_next_message(&rest, &rest_size, &bytes, &size));
        fuzz_demand(size >= 1 && size <= PH_MESSAGE_SIZE_MAX);
        fuzz_demand(sum_of(bytes, size) <= 255 * size);
    }
    fuzz_demand(rest_size == 0 && !bus_next_message(&rest, &rest_size, &bytes, &size));
}

static void check_item(const bus_item* item)
{
    fuzz_demand(sum_of(item->bytes, item->size) <= 255 * item->size);
    fuzz_demand(sum_of(item->state, item->state_size) <= 255 * item->state_size);
    fuzz_demand(item->input_size <= PH_INPUT_SIZE_MAX);
    if (item->kind == BUS_ITEM_DATA) {
        check_messages(item->bytes, item->size, item->count);
    }
    check_messages(item->session.queue, item->session.queue_size, item->session.queue_count);
}

static bool try_items(const uint8_t* data, size_t size)
{
    bus_items head;
    ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
    if (!bus_read_items(&head, data, size, &refusal)) {
        demand_refused(refusal, &head, sizeof head);
        return false;
    }
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_items_begin(&writer, &head);
    uint16_t count = 0;
    for (bus_item item; bus_next_item(&head, &item); ++count) {
        check_item(&item);
        fuzz_demand(bus_items_add(&writer, &item));
    }
    fuzz_demand(count == head.count);
    const bool is_written = bus_items_end(&writer, count);
    demand_same(&writer, is_written, data, size);
    return true;
}

// ---- records and tickets

static void try_record(const uint8_t* data, size_t size)
{
    bus_ownership record;
    if (!bus_read_ownership(&record, data, size)) {
        demand_refused(PH_BUS_REFUSAL_SIZE, &record, sizeof record);
        return;
    }
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    const bool is_written = bus_write_ownership(&writer, &record);
    demand_same(&writer, is_written, data, size);
}

static void try_ticket(const uint8_t* data, size_t size)
{
    ph_ticket ticket;
    if (size != PH_TOKEN_USER_DATA_SIZE || !ph_ticket_read(&ticket, data)) {
        return;
    }
    uint8_t again[PH_TOKEN_USER_DATA_SIZE];
    ph_ticket_write(&ticket, again);
    fuzz_demand(memcmp(again, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    int accepted = try_items(data, size);
#define TRY(name) accepted += try_##name(data, size);
    BUS_MESSAGES(TRY)
#undef TRY
    bus_kind kind;
    ph_bus_refusal refusal;
    fuzz_demand(accepted <= (bus_read_kind(data, size, &kind, &refusal) ? 1 : 0));
    try_record(data, size);
    try_ticket(data, size);
    return 0;
}
