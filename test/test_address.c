// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include <pinhole/net/address.h>

#include <string.h>

static void assert_reads_as(const char* text, const char* printed)
{
    ph_address address;
    assert_int_equal(ph_address_parse(text, &address, NULL), PH_OK);
    char again[PH_ADDRESS_TEXT_MAX];
    assert_string_equal(ph_address_print(&address, again), printed);
}

static void ipv4_is_read_and_printed(void** state)
{
    (void)state;
    ph_address address;
    assert_int_equal(ph_address_parse("192.0.2.255:40000", &address, NULL), PH_OK);
    const uint8_t bytes[4] = {192, 0, 2, 255};
    const ph_address expected = ph_address_make_ipv4(bytes, 40000);
    assert_true(ph_address_is_equal(&address, &expected));
    assert_reads_as("192.0.2.255:40000", "192.0.2.255:40000");
    assert_reads_as("0.0.0.0", "0.0.0.0:0");
    assert_reads_as("127.0.0.1:65535", "127.0.0.1:65535");
}

static void ipv6_is_read_and_printed_short(void** state)
{
    (void)state;
    ph_address address;
    assert_int_equal(ph_address_parse("[2001:db8::ff01]:7", &address, NULL), PH_OK);
    const uint8_t bytes[16] = {0x20, 0x01, 0x0d, 0xb8, [14] = 0xff, [15] = 0x01};
    const ph_address expected = ph_address_make_ipv6(bytes, 7);
    assert_true(ph_address_is_equal(&address, &expected));
    assert_reads_as("[::1]:40000", "[::1]:40000");
    assert_reads_as("::1", "[::1]:0");
    assert_reads_as("[::]", "[::]:0");
    assert_reads_as("1::", "[1::]:0");
    assert_reads_as("1:2:3:4:5:6:7:8", "[1:2:3:4:5:6:7:8]:0");
    assert_reads_as("1:2:3:4:5:6:7::", "[1:2:3:4:5:6:7:0]:0");
    assert_reads_as("::2:3:4:5:6:7:8", "[0:2:3:4:5:6:7:8]:0");
    assert_reads_as("1:0:0:4:0:0:0:8", "[1:0:0:4::8]:0");
    assert_reads_as("1:0:0:4:5:0:0:8", "[1::4:5:0:0:8]:0");
    assert_reads_as("0001:0:0:ABCD::", "[1:0:0:abcd::]:0");
    assert_reads_as("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:0");
}

static void ipv4_at_the_end_of_ipv6(void** state)
{
    (void)state;
    assert_reads_as("[64:ff9b::192.0.2.1]:5", "[64:ff9b::c000:201]:5");
    assert_reads_as("1:2:3:4:5:6:1.2.3.4", "[1:2:3:4:5:6:102:304]:0");
}

// One peer, one name.
static void a_mapped_ipv4_address_is_one(void** state)
{
    (void)state;
    assert_reads_as("[::ffff:192.0.2.1]:5", "192.0.2.1:5");
}

static void no_address_has_no_name(void** state)
{
    (void)state;
    char text[PH_ADDRESS_TEXT_MAX];
    assert_string_equal(ph_address_print(&(ph_address){0}, text), "none");
}

static void nonsense_is_refused(void** state)
{
    (void)state;
    static const char* const texts[] = {
        "",
        " ",
        "a",
        "localhost",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:080",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.-4",
        "1.2.3.4:-1",
        "1.2.3.4:+1",
        "1..3.4",
        ":",
        ":::",
        "1:2",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1::2::3",
        ":1::2",
        "1::2:",
        "12345::",
        "g::",
        "[::1",
        "::1]",
        "[::1]:",
        "[::1]40",
        "[::1]:65536",
        "[1.2.3.4]:5",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::1%1",
        "::1.2.3",
        "::1.2.3.4:5",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1.2.3.4294967297",
        "[]",
        "[]:1",
        "99999999999999999999.1.1.1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        ph_address address = {.port = 7, .kind = 9};
        if (ph_address_parse(texts[i], &address, NULL) != PH_ERROR_TEXT) {
            fail_msg("\"%s\" was read", texts[i]);
        }
        assert_true(ph_address_is_equal(&address, &(ph_address){0}));
    }
}

static void any_address_is_all_zeros(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        bool is_any;
    } CASES[] = {
        {"0.0.0.0", true},  {"0.0.0.0:40000", true}, {"[::]:7", true},
        {"0.0.0.1", false}, {"127.0.0.1:0", false},  {"::1", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        ph_address address;
        assert_int_equal(ph_address_parse(CASES[i].text, &address, NULL), PH_OK);
        assert_int_equal(ph_address_is_any(&address), CASES[i].is_any);
    }
    assert_true(ph_address_is_any(&(ph_address){0}));
}

static void every_address_is_read_as_it_was_printed(void** state)
{
    (void)state;
    test_rng rng = {.state = 31};
    for (int round = 0; round < 20000; ++round) {
        uint8_t bytes[16];
        for (int i = 0; i < 16; ++i) {
            bytes[i] = (uint8_t)(test_rng_below(&rng, 3) > 0 ? 0 : test_rng_next(&rng));
        }
        const uint16_t port = (uint16_t)test_rng_next(&rng);
        const ph_address made =
            round % 2 == 0 ? ph_address_make_ipv4(bytes, port) : ph_address_make_ipv6(bytes, port);
        char text[PH_ADDRESS_TEXT_MAX];
        ph_address read;
        assert_int_equal(ph_address_parse(ph_address_print(&made, text), &read, NULL), PH_OK);
        assert_true(ph_address_is_equal(&made, &read));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4_is_read_and_printed),
        cmocka_unit_test(ipv6_is_read_and_printed_short),
        cmocka_unit_test(ipv4_at_the_end_of_ipv6),
        cmocka_unit_test(a_mapped_ipv4_address_is_one),
        cmocka_unit_test(no_address_has_no_name),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(any_address_is_all_zeros),
        cmocka_unit_test(every_address_is_read_as_it_was_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
