// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Names of hosts to addresses, by the system's resolver. Blocks for as long as that takes: seconds when a
// name server does not answer. Once per connection, never per tick.

#include "net/socket_system.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

#if !defined(_WIN32)
#include <netdb.h>
#endif

// As RFC 1035 has it, the zero at the end included.
#define NAME_SIZE 254

// ---- the text

typedef struct place {
    char name[NAME_SIZE];
    uint16_t port;
} place;

static bool is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
}

// "play.example.org:40000": a name, a colon, a port of 1..65535. Also filled in part: what is wrong is the first of
// them that is missing.
static bool read_place(const char* text, place* read)
{
    *read = (place){0};
    size_t length = 0;
    while (is_name_letter(text[length])) {
        ++length;
    }
    const bool is_name =
        length > 0 && length < NAME_SIZE && (text[length] == ':' || text[length] == '\0');
    memcpy(read->name, text, is_name ? length : 0);
    if (!is_name || text[length] == '\0') {
        return false;
    }
    const char* digits = text + length + 1;
    uint32_t port = 0;
    size_t count = 0;
    for (; digits[count] >= '0' && digits[count] <= '9' && count < 6; ++count) {
        port = port * 10 + (uint32_t)(digits[count] - '0');
    }
    read->port = (uint16_t)port;
    return digits[count] == '\0' && port >= 1 && port <= UINT16_MAX;
}

// What of it is wrong.
static ph_result fail_text(ph_error* error, const char* text, const place* read)
{
    char what[80];
    const size_t colon = strcspn(text, ":");
    const bool is_number = ph_address_parse(text, &(ph_address){0}, NULL) == PH_OK;
    if (is_number || (read->name[0] != '\0' && text[colon] == '\0')) {
        snprintf(what, sizeof what, "without a port");
    } else if (text[0] != '[' && strchr(text, ':') != strrchr(text, ':')) {
        snprintf(what, sizeof what, "and an IPv6 address stands in brackets");
    } else if (read->name[0] != '\0') {
        snprintf(what, sizeof what, "and \"%.40s\" is no port", text + colon + 1);
    } else {
        snprintf(what, sizeof what, "and \"%.*s\" is no name", colon < 40 ? (int)colon : 40, text);
    }
    return ph_error_set(error, PH_ERROR_TEXT, "ph_address_resolve", "text",
                        "is \"%.50s\", %s; it must be like play.example.org:40000, 192.0.2.1:40000 "
                        "or [2001:db8::1]:40000, with a port of 1..65535",
                        text, what);
}

// ---- the resolver

static bool has_address(const ph_address* addresses, int count, const ph_address* address)
{
    for (int i = 0; i < count; ++i) {
        if (ph_address_is_equal(&addresses[i], address)) {
            return true;
        }
    }
    return false;
}

// The next address of this kind in the list, {0} when there is none. *at goes on behind it.
static ph_address next_of(const struct addrinfo** at, int family, uint16_t port)
{
    for (; *at != NULL; *at = (*at)->ai_next) {
        if ((*at)->ai_family != family || (*at)->ai_addrlen > sizeof(struct sockaddr_storage)) {
            continue;
        }
        struct sockaddr_storage storage = {0};
        memcpy(&storage, (*at)->ai_addr, (size_t)(*at)->ai_addrlen);
        ph_address address = ph_sockaddr_take(&storage);
        address.port = port;
        *at = (*at)->ai_next;
        return address;
    }
    return (ph_address){0};
}

// In turns, the kind that the system prefers first: one kind that does not work costs one try, not all.
static int take_turns(const struct addrinfo* list, uint16_t port, ph_address* addresses, int max)
{
    const int preferred = list->ai_family;
    const int other = preferred == AF_INET6 ? AF_INET : AF_INET6;
    const struct addrinfo* at[2] = {list, list};
    const int family[2] = {preferred, other};
    int count = 0;
    while (count < max && (at[0] != NULL || at[1] != NULL)) {
        for (int k = 0; k < 2 && count < max; ++k) {
            const ph_address address = next_of(&at[k], family[k], port);
            if (address.kind != PH_ADDRESS_NONE && !has_address(addresses, count, &address)) {
                addresses[count++] = address;
            }
        }
    }
    return count;
}

static const char* reason_of(int code)
{
    switch (code) {
    case EAI_NONAME:
        return "there is no host of that name";
    case EAI_AGAIN:
        return "no name server answers; try again later";
    case EAI_MEMORY:
        return "there is not enough memory";
    default:
        return "the system's resolver failed";
    }
}

ph_result ph_address_resolve(const char* text, ph_address* addresses, int max, int* count,
                             ph_error* error)
{
    *count = 0;
    if (max < 1) {
        return ph_error_set(error, PH_ERROR_ARGUMENT, __func__, "max",
                            "is %d; it must be 1 or more", max);
    }
    if (ph_address_parse(text, &addresses[0], NULL) == PH_OK && addresses[0].port != 0) {
        *count = 1;
        return PH_OK;
    }
    place wanted;
    if (!read_place(text, &wanted)) {
        return fail_text(error, text, &wanted);
    }
    if (!ph_socket_start_system()) {
        return ph_error_set(error, PH_ERROR_SYSTEM, __func__, NULL, "the system has no sockets");
    }
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    struct addrinfo* list = NULL;
    const int code = getaddrinfo(wanted.name, NULL, &hints, &list);
    if (code == 0 && list != NULL) {
        *count = take_turns(list, wanted.port, addresses, max);
        freeaddrinfo(list);
    }
    ph_socket_stop_system();
    if (*count == 0) {
        return ph_error_set(error, code == EAI_MEMORY ? PH_ERROR_MEMORY : PH_ERROR_SYSTEM, __func__,
                            "text", "is \"%.60s\": %s", text,
                            reason_of(code != 0 ? code : EAI_NONAME));
    }
    return PH_OK;
}
