// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Addresses as values and as text. Text comes from people and configuration files: once per start,
// never per datagram.

#include <pinhole/net/address.h>

#include "base/check.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS = 8 }; // of an IPv6 address, 16 bits each

_Static_assert(sizeof(ph_address) == 20, "no padding: compared and hashed as bytes");

// ---- values

ph_address ph_address_make_ipv4(const uint8_t bytes[4], uint16_t port)
{
    ph_address address = {.port = port, .kind = PH_ADDRESS_IPV4};
    memcpy(address.bytes, bytes, 4);
    return address;
}

ph_address ph_address_make_ipv6(const uint8_t bytes[16], uint16_t port)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    if (memcmp(bytes, mapped, sizeof mapped) == 0) {
        return ph_address_make_ipv4(bytes + sizeof mapped, port);
    }
    ph_address address = {.port = port, .kind = PH_ADDRESS_IPV6};
    memcpy(address.bytes, bytes, 16);
    return address;
}

bool ph_address_is_any(const ph_address* address)
{
    static const uint8_t zeros[sizeof address->bytes];
    return memcmp(address->bytes, zeros, sizeof zeros) == 0;
}

bool ph_address_is_private(const ph_address* address)
{
    static const uint8_t loopback6[16] = {[15] = 1};
    const uint8_t* at = address->bytes;
    if (address->kind == PH_ADDRESS_IPV4) {
        return at[0] == 127 || at[0] == 10 || (at[0] == 172 && (at[1] & 0xF0) == 16) ||
               (at[0] == 192 && at[1] == 168) || (at[0] == 169 && at[1] == 254);
    }
    return address->kind == PH_ADDRESS_IPV6 &&
           (memcmp(at, loopback6, sizeof loopback6) == 0 || (at[0] & 0xFE) == 0xFC ||
            (at[0] == 0xFE && (at[1] & 0xC0) == 0x80));
}

bool ph_address_is_equal(const ph_address* a, const ph_address* b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// ---- reading. Each reader returns what follows, or NULL.

// A number without sign, and without leading zeros: some read those as octal.
static const char* read_decimal(const char* text, uint32_t max, uint32_t* value)
{
    if (*text < '0' || *text > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9')) {
        return NULL;
    }
    *value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        *value = *value * 10 + (uint32_t)(*text - '0');
        if (*value > max) {
            return NULL;
        }
    }
    return text;
}

static const char* read_ipv4(const char* text, uint8_t bytes[4])
{
    for (int i = 0; i < 4; ++i) {
        if (i > 0 && *text++ != '.') {
            return NULL;
        }
        uint32_t value;
        text = read_decimal(text, 255, &value);
        if (text == NULL) {
            return NULL;
        }
        bytes[i] = (uint8_t)value;
    }
    return text;
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    if (letter >= 'a' && letter <= 'f') {
        return letter - 'a' + 10;
    }
    if (letter >= 'A' && letter <= 'F') {
        return letter - 'A' + 10;
    }
    return -1;
}

// One to four digits.
static const char* read_group(const char* text, uint8_t bytes[2])
{
    uint32_t value = 0;
    int digits = 0;
    for (; hex_digit(*text) >= 0; ++text) {
        if (++digits > 4) {
            return NULL;
        }
        value = value * 16 + (uint32_t)hex_digit(*text);
    }
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
    return digits > 0 ? text : NULL;
}

// Moves what was read behind the "::" to the end.
static void open_gap(uint8_t bytes[16], int gap, int count)
{
    const size_t behind = (size_t)(count - gap) * 2;
    uint8_t moved[16];
    memcpy(moved, bytes + gap * 2, behind);
    memset(bytes + gap * 2, 0, (size_t)(GROUPS - gap) * 2);
    memcpy(bytes + 16 - behind, moved, behind);
}

static bool ends_ipv6(char letter)
{
    return letter == '\0' || letter == ']';
}

// Whether an IPv4 address stands here, as the end of an IPv6 one: digits, then a dot.
static bool begins_ipv4(const char* text)
{
    while (*text >= '0' && *text <= '9') {
        ++text;
    }
    return *text == '.';
}

static const char* read_ipv6(const char* text, uint8_t bytes[16])
{
    int count = 0; // groups so far
    int gap = -1;  // of them before the "::"
    if (text[0] == ':' && text[1] == ':') {
        gap = 0;
        text += 2;
    }
    while (count < GROUPS && !(gap == count && ends_ipv6(*text))) {
        if (count <= GROUPS - 2 && begins_ipv4(text)) {
            text = read_ipv4(text, bytes + count * 2);
            count += 2;
            break;
        }
        text = read_group(text, bytes + count * 2);
        if (text == NULL) {
            return NULL;
        }
        ++count;
        if (gap < 0 && text[0] == ':' && text[1] == ':') {
            gap = count;
            text += 2;
        } else if (*text == ':' && count < GROUPS) {
            ++text;
        } else {
            break;
        }
    }
    if (text == NULL || (gap < 0 ? count != GROUPS : count >= GROUPS)) {
        return NULL;
    }
    if (gap >= 0) {
        open_gap(bytes, gap, count);
    }
    return text;
}

// Nothing, or a colon and the port.
static const char* read_port(const char* text, uint16_t* port)
{
    uint32_t value = 0;
    if (*text == ':') {
        text = read_decimal(text + 1, UINT16_MAX, &value);
    }
    *port = (uint16_t)value;
    return text;
}

static const char* read_address(const char* text, ph_address* address)
{
    uint8_t bytes[16] = {0};
    uint16_t port = 0;
    if (begins_ipv4(text)) {
        text = read_ipv4(text, bytes);
        text = text != NULL ? read_port(text, &port) : NULL;
        *address = ph_address_make_ipv4(bytes, port);
        return text;
    }
    const bool is_bracketed = *text == '[';
    text = read_ipv6(text + is_bracketed, bytes);
    if (text != NULL && is_bracketed) {
        text = *text == ']' ? read_port(text + 1, &port) : NULL;
    }
    *address = ph_address_make_ipv6(bytes, port);
    return text;
}

ph_result ph_address_parse(const char* text, ph_address* address, ph_error* error)
{
    const char* end = read_address(text, address);
    if (end == NULL || *end != '\0') {
        *address = (ph_address){0};
        return ph_error_set(error, PH_ERROR_TEXT, __func__, "text",
                            "is \"%.60s\"; it must be like 192.0.2.1:40000 or "
                            "[2001:db8::1]:40000 (ph_address_resolve() takes names)",
                            text);
    }
    return PH_OK;
}

// ---- writing

static uint32_t group_of(const ph_address* address, int group)
{
    return (uint32_t)address->bytes[group * 2] << 8 | address->bytes[group * 2 + 1];
}

// The longest run of two zero groups or more, the first of equals, as RFC 5952 has it.
static int longest_zeros(const ph_address* address, int* length)
{
    int best = -1;
    *length = 1;
    for (int first = 0; first < GROUPS; ++first) {
        int end = first;
        while (end < GROUPS && group_of(address, end) == 0) {
            ++end;
        }
        if (end - first > *length) {
            best = first;
            *length = end - first;
        }
    }
    return best;
}

static void print_ipv6(const ph_address* address, char text[PH_ADDRESS_TEXT_MAX])
{
    int zeros;
    const int gap = longest_zeros(address, &zeros);
    char* end = text;
    *end++ = '[';
    for (int group = 0; group < GROUPS; ++group) {
        if (group == gap) {
            *end++ = ':';
            *end++ = ':';
            group += zeros - 1;
            continue;
        }
        const bool needs_colon = group > 0 && end[-1] != ':';
        end += sprintf(end, "%s%x", needs_colon ? ":" : "", (unsigned)group_of(address, group));
    }
    sprintf(end, "]:%u", (unsigned)address->port);
}

const char* ph_address_print(const ph_address* address, char text[PH_ADDRESS_TEXT_MAX])
{
    const uint8_t* bytes = address->bytes;
    if (address->kind == PH_ADDRESS_IPV4) {
        sprintf(text, "%u.%u.%u.%u:%u", bytes[0], bytes[1], bytes[2], bytes[3],
                (unsigned)address->port);
    } else if (address->kind == PH_ADDRESS_IPV6) {
        print_ipv6(address, text);
    } else {
        strcpy(text, "none");
    }
    return text;
}
