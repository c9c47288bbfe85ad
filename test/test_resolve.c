// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Names of hosts. The system's resolver is replaced by one that knows three names, so that the test needs no network
// and no name server.

#define _GNU_SOURCE // struct addrinfo
#include "test_support.h"

#include <pinhole/net/address.h>

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

// ---- a resolver of our own

enum { ENTRIES_MAX = 8 };

typedef struct entry {
    struct addrinfo info;
    struct sockaddr_storage address;
} entry;

static entry entries[ENTRIES_MAX];
static int entry_count;
static int lookup_count;
static int freed_count;

static void add_ipv4(uint8_t last)
{
    entry* made = &entries[entry_count++];
    struct sockaddr_in* in = (struct sockaddr_in*)&made->address;
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(0xC0000200u + last);
    made->info = (struct addrinfo){.ai_family = AF_INET, .ai_addrlen = sizeof *in};
}

static void add_ipv6(uint8_t last)
{
    entry* made = &entries[entry_count++];
    struct sockaddr_in6* in = (struct sockaddr_in6*)&made->address;
    in->sin6_family = AF_INET6;
    in->sin6_addr.s6_addr[0] = 0x20;
    in->sin6_addr.s6_addr[15] = last;
    made->info = (struct addrinfo){.ai_family = AF_INET6, .ai_addrlen = sizeof *in};
}

int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints,
                struct addrinfo** list)
{
    ++lookup_count;
    assert_null(service);
    assert_int_equal(hints->ai_socktype, SOCK_DGRAM);
    entry_count = 0;
    memset(entries, 0, sizeof entries);
    if (strcmp(name, "both.example.org") == 0) {
        add_ipv6(1);
        add_ipv6(2);
        add_ipv6(2); // twice
        add_ipv6(3);
        add_ipv4(1);
        add_ipv4(2);
    } else if (strcmp(name, "old.example.org") == 0) {
        add_ipv4(7);
        add_ipv4(8);
    } else if (strcmp(name, "deaf.example.org") == 0) {
        return EAI_AGAIN;
    } else {
        return EAI_NONAME;
    }
    for (int i = 0; i < entry_count; ++i) {
        entries[i].info.ai_addr = (struct sockaddr*)&entries[i].address;
        entries[i].info.ai_next = i + 1 < entry_count ? &entries[i + 1].info : NULL;
    }
    *list = &entries[0].info;
    return 0;
}

void freeaddrinfo(struct addrinfo* list)
{
    assert_ptr_equal(list, &entries[0].info);
    ++freed_count;
}

// ---- what it makes of a text

static void assert_resolves_to(const char* text, int max, const char* const* expected)
{
    ph_address addresses[8];
    int count = -1;
    ph_error error = {0};
    assert_int_equal(ph_address_resolve(text, addresses, max, &count, &error), PH_OK);
    int wanted = 0;
    for (; expected[wanted] != NULL; ++wanted) {
        char printed[PH_ADDRESS_TEXT_MAX];
        assert_true(wanted < count);
        assert_string_equal(ph_address_print(&addresses[wanted], printed), expected[wanted]);
    }
    assert_int_equal(count, wanted);
}

static void both_kinds_are_tried_in_turns(void** state)
{
    (void)state;
    assert_resolves_to("both.example.org:40000", 8,
                       (const char*[]){"[2000::1]:40000", "192.0.2.1:40000", "[2000::2]:40000",
                                       "192.0.2.2:40000", "[2000::3]:40000", NULL});
    assert_resolves_to("old.example.org:1", 8, (const char*[]){"192.0.2.7:1", "192.0.2.8:1", NULL});
    assert_int_equal(freed_count, 2);
}

static void no_more_than_there_is_room_for(void** state)
{
    (void)state;
    assert_resolves_to("both.example.org:65535", 2,
                       (const char*[]){"[2000::1]:65535", "192.0.2.1:65535", NULL});
    assert_resolves_to("both.example.org:65535", 1, (const char*[]){"[2000::1]:65535", NULL});
}

static void numbers_are_not_looked_up(void** state)
{
    (void)state;
    lookup_count = 0;
    assert_resolves_to("192.0.2.9:40000", 1, (const char*[]){"192.0.2.9:40000", NULL});
    assert_resolves_to("[::1]:40000", 1, (const char*[]){"[::1]:40000", NULL});
    assert_int_equal(lookup_count, 0);
}

static void assert_refused(const char* text, ph_result result, const char* sentence)
{
    ph_address addresses[2];
    int count = -1;
    ph_error error = {0};
    assert_int_equal(ph_address_resolve(text, addresses, 2, &count, &error), result);
    assert_int_equal(count, 0);
    assert_non_null(strstr(error.text, sentence));
    assert_int_equal(ph_address_resolve(text, addresses, 2, &count, NULL), result);
}

static void a_text_that_is_no_name_with_a_port_is_refused(void** state)
{
    (void)state;
    static const char* const TEXTS[] = {
        "",
        "both.example.org",
        "both.example.org:",
        "both.example.org:0",
        ":40000",
        "both.example.org:65536",
        "both.example.org:-1",
        "both.example.org:40000x",
        "192.0.2.1",
        "both example.org:40000",
        "both.example.org:4000000000000",
        "::1",
    };
    char longest[300];
    memset(longest, 'a', sizeof longest);
    memcpy(longest + 254, ":1", 3);
    lookup_count = 0;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; ++i) {
        assert_refused(TEXTS[i], PH_ERROR_TEXT, "play.example.org:40000");
    }
    assert_refused(longest, PH_ERROR_TEXT, "play.example.org:40000");
    assert_int_equal(lookup_count, 0);
}

static void what_is_wrong_with_it_is_named(void** state)
{
    (void)state;
    assert_refused("both.example.org", PH_ERROR_TEXT, "is \"both.example.org\", without a port;");
    assert_refused("192.0.2.1", PH_ERROR_TEXT, "is \"192.0.2.1\", without a port;");
    assert_refused("::1", PH_ERROR_TEXT, "is \"::1\", without a port;");
    assert_refused("2001:db8::1:40000", PH_ERROR_TEXT, "and an IPv6 address stands in brackets;");
    assert_refused("both.example.org:", PH_ERROR_TEXT, "and \"\" is no port;");
    assert_refused("both.example.org:65536", PH_ERROR_TEXT, "and \"65536\" is no port;");
    assert_refused("both.example.org:game", PH_ERROR_TEXT, "and \"game\" is no port;");
    assert_refused("both example.org:1", PH_ERROR_TEXT, "and \"both example.org\" is no name;");
    assert_refused(":40000", PH_ERROR_TEXT, "and \"\" is no name;");
}

static void a_name_without_an_address_says_why(void** state)
{
    (void)state;
    assert_refused("nowhere.example.org:1", PH_ERROR_SYSTEM, "there is no host of that name");
    assert_refused("deaf.example.org:1", PH_ERROR_SYSTEM, "try again later");
    ph_address address;
    int count = -1;
    ph_error error = {0};
    assert_int_equal(ph_address_resolve("old.example.org:1", &address, 0, &count, &error),
                     PH_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "1 or more"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_are_tried_in_turns),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(numbers_are_not_looked_up),
        cmocka_unit_test(a_text_that_is_no_name_with_a_port_is_refused),
        cmocka_unit_test(what_is_wrong_with_it_is_named),
        cmocka_unit_test(a_name_without_an_address_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
