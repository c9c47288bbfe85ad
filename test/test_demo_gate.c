// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include "demo_gate.h"

#include <string.h>

#define PASSWORD "open sesame"

static demo_gate make_gate(const char* listen, const char* password)
{
    demo_gate gate;
    ph_fault fault = {0};
    assert_true(demo_gate_make(&gate, listen, password, &fault));
    demo_gate_set_port(&gate, 7777);
    return gate;
}

static void a_page_on_loopback_is_asked_for_by_loopback_names(void** state)
{
    (void)state;
    const demo_gate gate = make_gate(NULL, NULL);
    assert_true(demo_gate_takes_host(&gate, "127.0.0.1:7777"));
    assert_true(demo_gate_takes_host(&gate, "LocalHost:7777"));
    assert_true(demo_gate_takes_host(&gate, "[::1]:7777"));
    static const char* const WRONG[] = {
        "",
        "localhost",
        "localhost:777",
        "localhost:77777",
        "localhost:7777x",
        "127.0.0.1",
        "127.0.0.1:80",
        "192.168.1.2:7777",
        "evil.example:7777",
        "127.0.0.1.evil:7777",
        "localhost.evil:7777",
        "127.0.0.1:7777@evil.example",
        "localhost:7777:7777",
        " localhost:7777",
        "0.0.0.0:7777",
        "user@localhost:7777",
        "localhost.:7777",
        "0x7f.1:7777",
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        assert_false(demo_gate_takes_host(&gate, WRONG[i]));
    }
    assert_false(demo_gate_takes_host(&gate, NULL));
}

static void browsers_leave_out_the_port_of_http(void** state)
{
    (void)state;
    demo_gate gate = make_gate(NULL, NULL);
    demo_gate_set_port(&gate, 80);
    assert_true(demo_gate_takes_host(&gate, "localhost"));
    assert_true(demo_gate_takes_host(&gate, "127.0.0.1"));
    assert_false(demo_gate_takes_host(&gate, "127.0.0.1:7777"));
}

static void a_page_for_the_network_is_asked_for_by_address_never_by_name(void** state)
{
    (void)state;
    const demo_gate one = make_gate("192.168.1.2", PASSWORD);
    assert_true(demo_gate_takes_host(&one, "192.168.1.2:7777"));
    assert_false(demo_gate_takes_host(&one, "192.168.1.3:7777"));
    assert_false(demo_gate_takes_host(&one, "evil.example:7777"));
    const demo_gate all = make_gate("0.0.0.0", PASSWORD);
    assert_true(demo_gate_takes_host(&all, "192.168.1.3:7777"));
    assert_true(demo_gate_takes_host(&all, "[2001:db8::1]:7777"));
    assert_false(demo_gate_takes_host(&all, "evil.example:7777"));
}

static void only_our_own_pages_may_open_a_feed(void** state)
{
    (void)state;
    const demo_gate gate = make_gate(NULL, NULL);
    const char* host = "127.0.0.1:7777";
    assert_true(demo_gate_takes_origin(&gate, "http://127.0.0.1:7777", host));
    assert_true(demo_gate_takes_origin(&gate, "http://localhost:7777", "localhost:7777"));
    static const char* const WRONG[] = {
        "",
        "null",
        "http://evil.example",
        "http://localhost:7777",
        "https://127.0.0.1:7777",
        "http://127.0.0.1",
        "http://127.0.0.1:7778",
        "http://127.0.0.1:7777/",
        "http://127.0.0.1:77771",
        "http://127.0.0.1:7777.evil.example",
        "file://",
        "127.0.0.1:7777",
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        assert_false(demo_gate_takes_origin(&gate, WRONG[i], host));
    }
    assert_false(demo_gate_takes_origin(&gate, NULL, host));
    assert_false(demo_gate_takes_origin(&gate, "http://evil.example:7777", "evil.example:7777"));
}

static void the_network_needs_a_password_and_the_reason_is_said(void** state)
{
    (void)state;
    demo_gate gate;
    ph_fault fault = {0};
    assert_false(demo_gate_make(&gate, "0.0.0.0", NULL, &fault));
    assert_non_null(strstr(fault.message, "--password"));
    assert_non_null(strstr(fault.message, "network"));
    assert_false(demo_gate_make(&gate, "::", NULL, &fault));
    assert_false(demo_gate_make(&gate, "0.0.0.0", "short", &fault));
    assert_false(demo_gate_make(&gate, "example.org", PASSWORD, &fault));
    assert_false(demo_gate_make(&gate, "127.0.0.1:80", NULL, &fault));
    assert_true(demo_gate_make(&gate, "127.8.8.8", NULL, &fault));
    assert_true(demo_gate_make(&gate, "::1", NULL, &fault));
    assert_true(demo_gate_make(&gate, "::", PASSWORD, &fault));
}

static void a_password_is_right_or_wrong_as_a_whole(void** state)
{
    (void)state;
    static const char* const WRONG[] = {"", "open sesam", "open sesame ", "Open sesame", "x"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        demo_gate gate = make_gate(NULL, PASSWORD);
        assert_int_equal(demo_gate_try_password(&gate, WRONG[i], "a", 1), DEMO_GATE_WRONG);
        assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "a", 2), DEMO_GATE_RIGHT);
    }
    char longest[DEMO_GATE_PASSWORD_MOST + 2];
    memset(longest, 'p', sizeof longest);
    longest[DEMO_GATE_PASSWORD_MOST] = '\0';
    demo_gate gate = make_gate(NULL, longest);
    assert_int_equal(demo_gate_try_password(&gate, longest, "a", 1), DEMO_GATE_RIGHT);
    char longer[DEMO_GATE_PASSWORD_MOST + 2];
    memset(longer, 'p', sizeof longer);
    longer[DEMO_GATE_PASSWORD_MOST + 1] = '\0';
    assert_int_equal(demo_gate_try_password(&gate, longer, "a", 1), DEMO_GATE_WRONG);
}

static void guessing_is_slow_for_one_address_and_no_other(void** state)
{
    (void)state;
    demo_gate gate = make_gate("0.0.0.0", PASSWORD);
    uint64_t now_us = 1000;
    for (int i = 0; i < DEMO_GATE_TRIES; ++i) {
        assert_int_equal(demo_gate_try_password(&gate, "wrong", "a", now_us), DEMO_GATE_WRONG);
    }
    assert_int_equal(demo_gate_try_password(&gate, "wrong", "a", now_us), DEMO_GATE_WAIT);
    assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "a", now_us), DEMO_GATE_WAIT);
    assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "b", now_us), DEMO_GATE_RIGHT);
    now_us += DEMO_GATE_PAUSE_US;
    assert_int_equal(demo_gate_try_password(&gate, "wrong", "a", now_us), DEMO_GATE_WRONG);
    assert_int_equal(demo_gate_try_password(&gate, "wrong", "a", now_us), DEMO_GATE_WAIT);
    now_us += DEMO_GATE_PAUSE_US;
    assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "a", now_us), DEMO_GATE_RIGHT);
}

static void many_addresses_make_the_oldest_forgotten(void** state)
{
    (void)state;
    demo_gate gate = make_gate("0.0.0.0", PASSWORD);
    char from[2] = "a";
    for (int i = 0; i < DEMO_GATE_TRIES; ++i) {
        demo_gate_try_password(&gate, "wrong", "first", 1);
    }
    for (int i = 0; i < DEMO_GATE_ADDRESSES - 1; ++i) {
        from[0] = (char)(i + 1);
        demo_gate_try_password(&gate, "wrong", from, 2);
    }
    assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "first", 3), DEMO_GATE_WAIT);
    demo_gate_try_password(&gate, "wrong", "one more", 4);
    assert_int_equal(demo_gate_try_password(&gate, PASSWORD, "first", 5), DEMO_GATE_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_on_loopback_is_asked_for_by_loopback_names),
        cmocka_unit_test(browsers_leave_out_the_port_of_http),
        cmocka_unit_test(a_page_for_the_network_is_asked_for_by_address_never_by_name),
        cmocka_unit_test(only_our_own_pages_may_open_a_feed),
        cmocka_unit_test(the_network_needs_a_password_and_the_reason_is_said),
        cmocka_unit_test(a_password_is_right_or_wrong_as_a_whole),
        cmocka_unit_test(guessing_is_slow_for_one_address_and_no_other),
        cmocka_unit_test(many_addresses_make_the_oldest_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
