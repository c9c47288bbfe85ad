// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Subjects of the bus, names and texts (docs/distributed.md). A subject is made for each message that goes out, so it
// is put together by hand and not by printf.

#include "bus/bus_wire.h"

#include <pinhole/text.h>

#include <string.h>

// ---- names

static bool is_name_character(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool bus_is_name(const char* text)
{
    if (text == NULL) {
        return false;
    }
    int size = 0;
    while (size < PH_BUS_NAME_SIZE && is_name_character(text[size])) {
        ++size;
    }
    return size >= 1 && size < PH_BUS_NAME_SIZE && text[size] == '\0';
}

// ---- texts

// U+0000..U+001F, U+007F, and as C2 80..C2 9F U+0080..U+009F.
static bool is_control(const uint8_t* bytes, size_t left)
{
    return bytes[0] < ' ' || bytes[0] == 0x7F ||
           (left >= 2 && bytes[0] == 0xC2 && bytes[1] >= 0x80 && bytes[1] < 0xA0);
}

bool bus_is_text(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (is_control(bytes + i, size - i)) {
            return false;
        }
    }
    return size == 0 || ph_text_is_valid((const char*)bytes, size);
}

// Bytes of the character that begins here, or 0: it is none that a text may have.
static size_t character_size(const char* text)
{
    for (size_t size = 1; size <= 4 && text[size - 1] != '\0'; ++size) {
        if (bus_is_text((const uint8_t*)text, size)) {
            return size;
        }
    }
    return 0;
}

size_t bus_tidy_text(char* text, size_t capacity, const char* any)
{
    size_t size = 0;
    for (const char* at = any != NULL ? any : ""; *at != '\0';) {
        const size_t found = character_size(at);
        const size_t taken = found > 0 ? found : 1;
        if (size + taken >= capacity) {
            break;
        }
        memcpy(text + size, found > 0 ? at : "?", taken);
        size += taken;
        at += taken;
    }
    text[size] = '\0';
    return size;
}

// ---- putting a subject together

// Token by token; a dot stands before each but the first.
typedef struct subject_builder {
    char* text; // PH_BUS_SUBJECT_MAX
    int size;
} subject_builder;

static void add_text(subject_builder* subject, const char* token)
{
    if (subject->size > 0) {
        subject->text[subject->size++] = '.';
    }
    const size_t size = strlen(token);
    PH_ASSERT((size_t)subject->size + size < PH_BUS_SUBJECT_MAX - 1);
    memcpy(subject->text + subject->size, token, size + 1);
    subject->size += (int)size;
}

static void add_number(subject_builder* subject, int32_t number)
{
    char digits[12];
    int at = (int)sizeof digits;
    digits[--at] = '\0';
    uint32_t left = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    add_text(subject, digits + at);
}

static subject_builder begin_subject(char* text, const char* root, const char* world)
{
    PH_ASSERT(bus_is_name(world));
    subject_builder subject = {.text = text};
    add_text(&subject, root);
    add_text(&subject, world);
    return subject;
}

// ---- cells

static int32_t block_of(int32_t coordinate)
{
    const int32_t rest = (int32_t)((uint32_t)coordinate & 3); // floor, of negative ones too
    return (int32_t)(((int64_t)coordinate - rest) / 4);
}

// Block and cell. The cell of what is visible everywhere is a block of its own.
static void add_cell(subject_builder* subject, ph_cell cell, bool is_block)
{
    if (cell.x == INT32_MIN && cell.y == INT32_MIN) {
        add_text(subject, "e.e.e.e");
        return;
    }
    add_number(subject, block_of(cell.x));
    add_number(subject, block_of(cell.y));
    if (is_block) {
        add_text(subject, "*.*");
        return;
    }
    add_number(subject, cell.x);
    add_number(subject, cell.y);
}

// OWN has no token: it is another root, so that a subscription to all channels does not bring it.
static void add_channel(subject_builder* subject, int channel)
{
    PH_ASSERT(channel >= -1 && channel <= PH_CHANNEL_OWN);
    if (channel == -1) {
        add_text(subject, "*");
    } else if (channel == PH_CHANNEL_PUBLIC) {
        add_text(subject, "pub");
    } else if (channel != PH_CHANNEL_OWN) {
        const int bit = channel - PH_CHANNEL_BIT0;
        const char token[] = {'m', (char)('0' + (bit >= 10 ? bit / 10 : bit)),
                              bit >= 10 ? (char)('0' + bit % 10) : '\0', '\0'};
        add_text(subject, token);
    }
}

static const char* root_of(int channel)
{
    return channel == PH_CHANNEL_OWN ? "own" : "cell";
}

void bus_subject_cell(char* subject, const char* world, ph_cell cell, int channel, int region)
{
    PH_ASSERT(channel >= 0);
    subject_builder builder = begin_subject(subject, root_of(channel), world);
    add_cell(&builder, cell, false);
    add_channel(&builder, channel);
    add_number(&builder, region);
}

void bus_subject_cell_wanted(char* subject, const char* world, ph_cell cell, bool is_block,
                             int channel)
{
    subject_builder builder = begin_subject(subject, root_of(channel), world);
    add_cell(&builder, cell, is_block);
    add_channel(&builder, channel);
    add_text(&builder, "*");
}

void bus_subject_region_cells(char* subject, const char* world, int region, bool is_own)
{
    subject_builder builder = begin_subject(subject, is_own ? "own" : "cell", world);
    add_text(&builder, is_own ? "*.*.*.*" : "*.*.*.*.*");
    add_number(&builder, region);
}

// ---- everything else

void bus_subject_region(char* subject, const char* root, const char* world, int region)
{
    subject_builder builder = begin_subject(subject, root, world);
    add_number(&builder, region);
}

void bus_subject_world(char* subject, const char* root, const char* world)
{
    begin_subject(subject, root, world);
}

void bus_subject_to(char* subject, const char* world, const char* name)
{
    PH_ASSERT(bus_is_name(name));
    subject_builder builder = begin_subject(subject, "to", world);
    add_text(&builder, name);
}

void bus_record_key(char* key, const char* world, int region)
{
    PH_ASSERT(bus_is_name(world));
    subject_builder builder = {.text = key};
    add_text(&builder, world);
    add_text(&builder, "region");
    add_number(&builder, region);
}
