// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The growing writer, and what several messages of the bus have in common. Runs for each message.

#include "bus/bus_coder.h"

#include "base/allocator.h"

#include <pinhole/message.h>
#include <pinhole/text.h>

#include <string.h>

enum { CAPACITY_MIN = 1024 };

// ---- the writer

void bus_writer_init(bus_writer* writer, const ph_allocator* allocator)
{
    *writer = (bus_writer){.allocator = *allocator};
}

void bus_writer_destroy(bus_writer* writer)
{
    ph_release(&writer->allocator, writer->bytes, writer->capacity);
    *writer = (bus_writer){.allocator = writer->allocator};
}

void bus_writer_clear(bus_writer* writer)
{
    writer->size = 0;
    writer->items_at = 0;
    writer->item_count = 0;
    writer->is_short = false;
}

static bool grow(bus_writer* writer, size_t size)
{
    size_t capacity = writer->capacity > 0 ? writer->capacity : CAPACITY_MIN;
    while (capacity < size) {
        capacity *= 2;
    }
    uint8_t* bytes = ph_allocate(&writer->allocator, capacity);
    if (bytes == NULL) {
        return false;
    }
    if (writer->size > 0) {
        memcpy(bytes, writer->bytes, writer->size);
    }
    ph_release(&writer->allocator, writer->bytes, writer->capacity);
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

uint8_t* bus_writer_extend(bus_writer* writer, size_t size)
{
    if (writer->is_short || size > BUS_MESSAGE_MAX - writer->size ||
        (writer->size + size > writer->capacity && !grow(writer, writer->size + size))) {
        writer->is_short = true;
        return NULL;
    }
    uint8_t* at = writer->bytes + writer->size;
    writer->size += size;
    return at;
}

// ---- the coder

void bus_coder_refuse(bus_coder* coder, ph_bus_refusal refusal)
{
    PH_ASSERT(coder->writer == NULL); // a value that no reader takes
    if (!coder->is_refused) {
        coder->is_refused = true;
        coder->refusal = refusal;
        coder->left = 0;
    }
}

bus_coder bus_coder_write(bus_writer* writer, bus_kind kind)
{
    bus_coder coder = {.writer = writer};
    bus_code_number(&coder, BUS_VERSION, 1);
    bus_code_number(&coder, (uint64_t)kind, 1);
    return coder;
}

bool bus_coder_end_write(bus_coder* coder, size_t begin)
{
    if (coder->is_refused || coder->writer->is_short) {
        coder->writer->size = begin;
        return false;
    }
    return true;
}

bool bus_read_kind(const uint8_t* bytes, size_t size, bus_kind* kind, ph_bus_refusal* refusal)
{
    *kind = (bus_kind)0;
    if (size < BUS_HEAD_SIZE || size > BUS_MESSAGE_MAX) {
        *refusal = PH_BUS_REFUSAL_SIZE;
        return false;
    }
    if (bytes[0] != BUS_VERSION) {
        *refusal = PH_BUS_REFUSAL_VERSION;
        return false;
    }
    if (bytes[1] < 1 || bytes[1] >= BUS_KIND_COUNT) {
        *refusal = PH_BUS_REFUSAL_KIND;
        return false;
    }
    *kind = (bus_kind)bytes[1];
    return true;
}

bus_coder bus_coder_read(const uint8_t* bytes, size_t size, bus_kind kind)
{
    bus_coder coder = {.when_cut = PH_BUS_REFUSAL_SIZE};
    bus_kind found;
    ph_bus_refusal refusal;
    if (!bus_read_kind(bytes, size, &found, &refusal)) {
        bus_coder_refuse(&coder, refusal);
    } else if (found != kind) {
        bus_coder_refuse(&coder, PH_BUS_REFUSAL_KIND);
    } else {
        coder.at = bytes + BUS_HEAD_SIZE;
        coder.left = size - BUS_HEAD_SIZE;
    }
    return coder;
}

bool bus_coder_end_read(bus_coder* coder, void* message, size_t size, ph_bus_refusal* refusal)
{
    if (coder->left > 0) {
        bus_coder_refuse(coder, PH_BUS_REFUSAL_SIZE);
    }
    if (coder->is_refused) {
        memset(message, 0, size);
        *refusal = coder->refusal;
        return false;
    }
    return true;
}

// ---- fields

void bus_code_flags(bus_coder* coder, bool* bit0, bool* bit1)
{
    int flags = (*bit0 ? 1 : 0) | (*bit1 ? 2 : 0);
    bus_code_int(coder, &flags, 1, 3);
    *bit0 = (flags & 1) != 0;
    *bit1 = (flags & 2) != 0;
}

void bus_code_raw(bus_coder* coder, const uint8_t** bytes, size_t size)
{
    if (coder->writer == NULL) {
        *bytes = size > 0 ? bus_coder_take(coder, size) : NULL;
        return;
    }
    uint8_t* at = size > 0 ? bus_writer_extend(coder->writer, size) : NULL;
    if (at != NULL) {
        memcpy(at, *bytes, size);
    }
}

// A size that is refused is 0: nothing is taken for it.
void bus_code_bytes(bus_coder* coder, const uint8_t** bytes, size_t* size, int width, size_t max)
{
    *size = (size_t)bus_code_number(coder, *size, width);
    bus_code_rule(coder, *size <= max);
    if (coder->is_refused) {
        *size = 0;
    }
    bus_code_raw(coder, bytes, *size);
    if (coder->is_refused) {
        *size = 0;
    }
}

void bus_code_rest(bus_coder* coder, const uint8_t** bytes, size_t* size)
{
    *size = coder->writer != NULL ? *size : coder->left;
    bus_code_raw(coder, bytes, *size);
}

void bus_code_name(bus_coder* coder, char name[PH_BUS_NAME_SIZE], bool may_be_empty)
{
    const uint8_t* bytes = (const uint8_t*)name;
    size_t size = 0;
    while (coder->writer != NULL && size < PH_BUS_NAME_SIZE && name[size] != '\0') {
        ++size;
    }
    bus_code_bytes(coder, &bytes, &size, 1, PH_BUS_NAME_SIZE - 1);
    if (coder->writer == NULL) {
        memset(name, 0, PH_BUS_NAME_SIZE);
        if (size > 0) {
            memcpy(name, bytes, size);
        }
    }
    if (!coder->is_refused) { // a zero inside would make it shorter than its size
        bus_code_rule(coder, size == 0 ? may_be_empty : bus_is_name(name) && strlen(name) == size);
    }
}

void bus_code_text(bus_coder* coder, const uint8_t** bytes, size_t* size, size_t max)
{
    bus_code_bytes(coder, bytes, size, 1, max);
    bus_code_rule(coder, bus_is_text(*bytes, *size));
}

bool bus_next_message(const uint8_t** rest, size_t* rest_size, const uint8_t** bytes, size_t* size)
{
    *bytes = NULL;
    *size = 0;
    if (*rest_size < 2) {
        return false;
    }
    const size_t found = (size_t)((*rest)[0] | (*rest)[1] << 8);
    if (found < 1 || found > PH_MESSAGE_SIZE_MAX || found > *rest_size - 2) {
        return false;
    }
    *bytes = *rest + 2;
    *size = found;
    *rest += 2 + found;
    *rest_size -= 2 + found;
    return true;
}

static void skip_messages(bus_coder* reader, int count)
{
    for (int i = 0; i < count && !reader->is_refused; ++i) {
        const size_t size = (size_t)bus_code_number(reader, 0, 2);
        bus_code_rule(reader, size >= 1 && size <= PH_MESSAGE_SIZE_MAX);
        if (!reader->is_refused) {
            bus_coder_take(reader, size);
        }
    }
}

void bus_code_messages(bus_coder* coder, int count, const uint8_t** bytes, size_t* size)
{
    if (coder->writer != NULL) {
        bus_coder given = {.at = *bytes, .left = *size};
        skip_messages(&given, count);
        bus_code_rule(coder, !given.is_refused && given.left == 0); // as many as were counted
        bus_code_raw(coder, bytes, *size);
        return;
    }
    const uint8_t* begin = coder->at;
    skip_messages(coder, count);
    *size = coder->is_refused ? 0 : (size_t)(coder->at - begin);
    *bytes = *size > 0 ? begin : NULL;
}

// ---- sessions, in offers and mirrors

void bus_code_session(bus_coder* coder, bus_session* session)
{
    bus_code_u64(coder, &session->client_id);
    bus_code_u64(coder, &session->generation);
    bus_code_u64(coder, &session->key);
    bus_code_name(coder, session->front, true);
    bus_code_u32(coder, &session->sees);
    bus_code_u32(coder, &session->audience);
    bus_code_u64(coder, &session->received);
    bus_code_u32(coder, &session->input);
    bus_code_u64(coder, &session->told);
    bus_code_bytes(coder, &session->state, &session->state_size, 4, BUS_MESSAGE_MAX);
    bus_code_u16(coder, &session->queue_count);
    bus_code_rule(coder, session->told <= UINT64_MAX - session->queue_count); // they are numbered
    bus_code_messages(coder, session->queue_count, &session->queue, &session->queue_size);
}
