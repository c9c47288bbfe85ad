// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a page of the demo says: what is accepted lies within its range, and means the same when it is written
// again. The first byte tells whether the rest is a text or an ack.

#include "demo_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_value(const demo_request* of, char* text, size_t size)
{
    switch (of->kind) {
    case DEMO_REQUEST_VIEWER:
    case DEMO_REQUEST_SELECT:
        snprintf(text, size, of->is_on ? " %lu" : " none", (unsigned long)of->entity);
        break;
    case DEMO_REQUEST_SNAPSHOT:
    case DEMO_REQUEST_PAUSE:
        snprintf(text, size, " %d", of->is_on ? 1 : 0);
        break;
    case DEMO_REQUEST_STEP:
        text[0] = '\0';
        break;
    default:
        snprintf(text, size, " %s", of->word);
        break;
    }
}

static void write_again(const demo_request* of)
{
    char value[DEMO_REQUEST_SIZE_MAX + 1];
    char text[2 * DEMO_REQUEST_SIZE_MAX];
    print_value(of, value, sizeof value);
    snprintf(text, sizeof text, "%s%s", demo_request_name(of->kind), value);
    demo_request again;
    if (demo_request_read(text, strlen(text), &again) != DEMO_REQUEST_OK ||
        memcmp(&again, of, sizeof again) != 0) {
        abort();
    }
}

static void check_text(const char* bytes, size_t size)
{
    demo_request request;
    const demo_request_refusal refusal = demo_request_read(bytes, size, &request);
    char sentence[DEMO_REQUEST_SENTENCE_MAX];
    if (refusal != DEMO_REQUEST_OK) {
        demo_request_explain(refusal, request.kind, sentence);
        return;
    }
    if (request.kind >= DEMO_REQUEST_RANGES) {
        write_again(&request);
        return;
    }
    const demo_request_range range = demo_request_range_of(request.kind);
    const char* value = memchr(bytes, ' ', size);
    const double same = strtod(value + 1, NULL);
    const double off = same > request.number ? same - request.number : request.number - same;
    if (!(request.number >= range.low && request.number <= range.high) || off > 1e-9) {
        abort();
    }
}

static void check_ack(const uint8_t* bytes, size_t size)
{
    demo_request_ack ack;
    if (demo_request_read_ack(bytes, size, 3, &ack) &&
        (ack.way > 2 || ack.size < 1 || ack.size > PH_ACK_SIZE ||
         ack.bytes + ack.size != bytes + size)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    // Of its own size, so that a step too far is seen; a zero behind it, for strtod() above.
    char* bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    if (data[0] == 'b') {
        check_ack((const uint8_t*)bytes, size - 1);
    } else {
        check_text(bytes, size - 1);
    }
    free(bytes);
    return 0;
}
