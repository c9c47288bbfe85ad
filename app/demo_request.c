// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some dozens of acks a second and page; commands when a person moves a control.

#include "demo_request.h"

#include <stdio.h>
#include <string.h>

// What stands behind the name.
typedef enum demo_value {
    VALUE_NUMBER,
    VALUE_SCHEDULER,
    VALUE_ENTITY,
    VALUE_ENTITY_OR_NONE,
    VALUE_SWITCH,
    VALUE_NOTHING,
    VALUE_WORD,
} demo_value;

typedef struct command {
    const char* name;
    demo_value value;
    demo_request_range range;
} command;

static const command COMMANDS[DEMO_REQUEST_COUNT] = {
    [DEMO_REQUEST_KBPS] = {"kbps", VALUE_NUMBER, {2.0, 200.0, false, " kbit/s"}},
    [DEMO_REQUEST_LOSS] = {"loss", VALUE_NUMBER, {0.0, 90.0, false, " percent"}},
    [DEMO_REQUEST_RTT] = {"rtt", VALUE_NUMBER, {0.0, 1000.0, false, " ms"}},
    [DEMO_REQUEST_JITTER] = {"jitter", VALUE_NUMBER, {0.0, 500.0, false, " ms"}},
    [DEMO_REQUEST_HZ] = {"hz", VALUE_NUMBER, {0.0, 60.0, false, " a second"}},
    [DEMO_REQUEST_ENTITIES] = {"entities", VALUE_NUMBER, {2.0, 2000.0, true, ""}},
    [DEMO_REQUEST_SCHEDULER] = {"scheduler", VALUE_SCHEDULER, {0}},
    [DEMO_REQUEST_VIEWER] = {"viewer", VALUE_ENTITY, {0}},
    [DEMO_REQUEST_SELECT] = {"select", VALUE_ENTITY_OR_NONE, {0}},
    [DEMO_REQUEST_SNAPSHOT] = {"snapshot", VALUE_SWITCH, {0}},
    [DEMO_REQUEST_PAUSE] = {"pause", VALUE_SWITCH, {0}},
    [DEMO_REQUEST_STEP] = {"step", VALUE_NOTHING, {0}},
    [DEMO_REQUEST_SOURCE] = {"source", VALUE_WORD, {0}},
    [DEMO_REQUEST_PASSWORD] = {"password", VALUE_WORD, {0}},
};

const char* const demo_request_schedulers[] = {"score", "buckets", "error", NULL};

enum { ACK_KIND = 1, ACK_HEAD = 2, TIMED_ACK_KIND = 2, TIMED_ACK_HEAD = 10, DIGITS_MAX = 10 };

const char* demo_request_name(demo_request_kind kind)
{
    return COMMANDS[kind].name;
}

demo_request_range demo_request_range_of(demo_request_kind kind)
{
    return COMMANDS[kind].range;
}

// ---- values

// A part of the message; nothing is copied.
typedef struct piece {
    const char* at;
    size_t size;
} piece;

static bool is_text(piece of, const char* text)
{
    return of.size == strlen(text) && memcmp(of.at, text, of.size) == 0;
}

// Digits, at most DIGITS_MAX of them, and at most one point among them: "13", "0.5".
static bool read_number(piece of, double* number, bool* has_point)
{
    int64_t digits = 0;
    int count = 0;
    double scale = 1.0;
    *has_point = false;
    for (size_t i = 0; i < of.size; ++i) {
        const char letter = of.at[i];
        const bool is_inside = i > 0 && i + 1 < of.size;
        if (letter == '.' && is_inside && !*has_point) {
            *has_point = true;
        } else if (letter >= '0' && letter <= '9' && count < DIGITS_MAX) {
            digits = digits * 10 + (letter - '0');
            scale *= *has_point ? 10.0 : 1.0;
            ++count;
        } else {
            return false;
        }
    }
    *number = (double)digits / scale;
    return count > 0;
}

static demo_request_refusal take_number(piece of, demo_request* to)
{
    const demo_request_range range = COMMANDS[to->kind].range;
    double number = 0.0;
    bool has_point = false;
    if (!read_number(of, &number, &has_point) || (has_point && range.is_whole)) {
        return DEMO_REQUEST_VALUE;
    }
    if (number < range.low || number > range.high) {
        return DEMO_REQUEST_RANGE;
    }
    to->number = number;
    return DEMO_REQUEST_OK;
}

// The last one stands for none in frames.
static bool take_entity(piece of, demo_request* to)
{
    double number = 0.0;
    bool has_point = false;
    if (!read_number(of, &number, &has_point) || has_point || number >= UINT32_MAX) {
        return false;
    }
    to->entity = (uint32_t)number;
    to->is_on = true;
    return true;
}

static bool take_switch(piece of, demo_request* to)
{
    to->is_on = is_text(of, "1");
    return to->is_on || is_text(of, "0");
}

static bool take_scheduler(piece of, demo_request* to)
{
    if (of.size == 0) {
        return true;
    }
    for (int i = 0; demo_request_schedulers[i] != NULL; ++i) {
        if (is_text(of, demo_request_schedulers[i])) {
            memcpy(to->word, of.at, of.size);
            return true;
        }
    }
    return false;
}

// Any text, but no control characters.
static bool take_word(piece of, demo_request* to)
{
    if (of.size == 0 || of.size > DEMO_REQUEST_WORD_MAX) {
        return false;
    }
    for (size_t i = 0; i < of.size; ++i) {
        const unsigned char letter = (unsigned char)of.at[i];
        if (letter < 0x20 || letter == 0x7f) {
            return false;
        }
    }
    memcpy(to->word, of.at, of.size);
    return true;
}

// ---- commands

static demo_request_refusal take_value(piece of, demo_request* to)
{
    bool is_good = false;
    switch (COMMANDS[to->kind].value) {
    case VALUE_NUMBER:
        return take_number(of, to);
    case VALUE_SCHEDULER:
        is_good = take_scheduler(of, to);
        break;
    case VALUE_ENTITY:
        is_good = take_entity(of, to);
        break;
    case VALUE_ENTITY_OR_NONE:
        is_good = is_text(of, "none") || take_entity(of, to);
        break;
    case VALUE_SWITCH:
        is_good = take_switch(of, to);
        break;
    case VALUE_NOTHING:
        is_good = of.size == 0;
        break;
    case VALUE_WORD:
        is_good = take_word(of, to);
        break;
    }
    return is_good ? DEMO_REQUEST_OK : DEMO_REQUEST_VALUE;
}

static demo_request_kind find(piece name)
{
    int kind = 0;
    while (kind < DEMO_REQUEST_COUNT && !is_text(name, COMMANDS[kind].name)) {
        ++kind;
    }
    return (demo_request_kind)kind;
}

demo_request_refusal demo_request_read(const char* bytes, size_t size, demo_request* request)
{
    *request = (demo_request){.kind = DEMO_REQUEST_COUNT};
    if (size > DEMO_REQUEST_SIZE_MAX) {
        return DEMO_REQUEST_LONG;
    }
    const char* space = size > 0 ? memchr(bytes, ' ', size) : NULL;
    const piece name = {bytes, space != NULL ? (size_t)(space - bytes) : size};
    const size_t used = name.size + (space != NULL ? 1 : 0);
    request->kind = find(name);
    if (request->kind == DEMO_REQUEST_COUNT) {
        return DEMO_REQUEST_UNKNOWN;
    }
    const bool has_lone_space = space != NULL && used == size && request->kind == DEMO_REQUEST_STEP;
    const piece value = {bytes + used, size - used};
    const demo_request_refusal refusal =
        has_lone_space ? DEMO_REQUEST_VALUE : take_value(value, request);
    if (refusal != DEMO_REQUEST_OK) {
        *request = (demo_request){.kind = request->kind};
    }
    return refusal;
}

void demo_request_explain(demo_request_refusal refusal, demo_request_kind kind,
                          char text[DEMO_REQUEST_SENTENCE_MAX])
{
    const size_t size = DEMO_REQUEST_SENTENCE_MAX;
    if (refusal == DEMO_REQUEST_RANGE) {
        const demo_request_range range = COMMANDS[kind].range;
        snprintf(text, size, "%s takes %g to %g%s.", COMMANDS[kind].name, range.low, range.high,
                 range.unit);
    } else if (refusal == DEMO_REQUEST_VALUE) {
        snprintf(text, size, "%s does not take this value.", COMMANDS[kind].name);
    } else if (refusal == DEMO_REQUEST_LONG) {
        snprintf(text, size, "A command has at most %d bytes.", DEMO_REQUEST_SIZE_MAX);
    } else {
        snprintf(text, size, "The demo has no such command.");
    }
}

// ---- acks

static uint64_t read_time(const uint8_t* bytes)
{
    uint64_t time_us = 0;
    for (int i = 7; i >= 0; --i) {
        time_us = time_us << 8 | bytes[i];
    }
    return time_us;
}

bool demo_request_read_ack(const uint8_t* bytes, size_t size, int way_count, demo_request_ack* ack)
{
    *ack = (demo_request_ack){0};
    const bool is_timed = size > 0 && bytes[0] == TIMED_ACK_KIND;
    const size_t head = is_timed ? TIMED_ACK_HEAD : ACK_HEAD;
    if (size <= head || size > head + PH_ACK_SIZE) {
        return false;
    }
    if ((!is_timed && bytes[0] != ACK_KIND) || bytes[1] >= way_count) {
        return false;
    }
    *ack = (demo_request_ack){.way = bytes[1], .bytes = bytes + head, .size = size - head};
    ack->time_us = is_timed ? read_time(bytes + ACK_HEAD) : 0;
    return true;
}
