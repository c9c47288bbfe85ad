// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include "kit/http_request.h"

#include <stdio.h>
#include <string.h>

enum { PORT = 9100 };

static ph_http_verdict judge(const char* text)
{
    return ph_http_request_judge(PORT, text, strlen(text));
}

// The status of a request with this first line and these further lines, each with its end.
static int status_of(const char* first, const char* lines)
{
    char text[2048];
    snprintf(text, sizeof text, "%s\r\n%s\r\n", first, lines);
    return judge(text).status;
}

static void the_page_is_given_to_loopback_names(void** state)
{
    (void)state;
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: 127.0.0.1:9100\r\n"), 200);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "host:LocalHost:9100\r\n"), 200);
    assert_int_equal(status_of("GET /metrics?a=b HTTP/1.0", "Host: localhost:9100 \r\n"), 200);
    const ph_http_verdict head = judge("HEAD /metrics HTTP/1.1\r\nHost: localhost:9100\r\n\r\n");
    assert_int_equal(head.status, 200);
    assert_true(head.has_no_body);
    assert_false(judge("GET /metrics HTTP/1.1\r\nHost: localhost:9100\r\n\r\n").has_no_body);
}

static void names_of_others_are_refused(void** state)
{
    (void)state;
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: evil.example:9100\r\n"), 403);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: 127.0.0.1.evil.example:9100\r\n"),
                     403);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost\r\n"), 421);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost:91000\r\n"), 421);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost:9100x\r\n"), 421);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", ""), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: \r\n"), 403);
    assert_int_equal(
        status_of("GET /metrics HTTP/1.1", "Host: localhost:9100\r\nHost: localhost:9100\r\n"),
        400);
    assert_int_equal(
        status_of("GET http://evil.example:9100/metrics HTTP/1.1", "Host: localhost:9100\r\n"),
        403);
    assert_int_equal(
        status_of("GET http://localhost:9100/metrics HTTP/1.1", "Host: evil.example\r\n"), 200);
}

static void upgrades_are_not_made(void** state)
{
    (void)state;
    const char* host = "Host: localhost:9100\r\n";
    char lines[256];
    snprintf(lines, sizeof lines, "%sConnection: Upgrade\r\nUpgrade: WebSocket\r\n", host);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", lines), 400);
    snprintf(lines, sizeof lines, "%sUpgrade: h2c, websocket/13\r\n", host);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", lines), 400);
    snprintf(lines, sizeof lines, "%sConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
             host);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", lines), 200);
    assert_int_equal(judge("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status, 505);
}

static void other_methods_and_pages_are_refused(void** state)
{
    (void)state;
    static const char* const METHODS[] = {"POST", "PUT", "DELETE", "OPTIONS", "get", "CONNECT"};
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; ++i) {
        char first[64];
        snprintf(first, sizeof first, "%s /metrics HTTP/1.1", METHODS[i]);
        assert_int_equal(status_of(first, "Host: localhost:9100\r\n"), 405);
    }
    assert_int_equal(status_of("GET /metricsx HTTP/1.1", "Host: localhost:9100\r\n"), 404);
    assert_int_equal(status_of("GET / HTTP/1.1", "Host: localhost:9100\r\n"), 404);
    assert_int_equal(status_of("GET http://localhost:9100 HTTP/1.1", "Host: localhost:9100\r\n"),
                     404);
}

static void what_is_no_http_is_refused(void** state)
{
    (void)state;
    const char* host = "Host: localhost:9100\r\n";
    assert_int_equal(status_of("GET /metrics", host), 400);
    assert_int_equal(status_of("GET  /metrics HTTP/1.1", host), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1 ", host), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.2", host), 505);
    assert_int_equal(status_of("", host), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host : localhost:9100\r\n"), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost:9100\r\n folded\r\n"),
                     400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost:9100\nX: y\r\n"), 400);
    assert_int_equal(status_of("GET /metrics HTTP/1.1", "Host: localhost:9100\r\nX: \x01\r\n"),
                     400);
}

static void a_head_is_judged_when_it_is_complete(void** state)
{
    (void)state;
    static const char TEXT[] = "GET /metrics HTTP/1.1\r\nHost: localhost:9100\r\n\r\nGET /x";
    const size_t whole = strlen(TEXT) - strlen("GET /x");
    for (size_t size = 0; size < strlen(TEXT); ++size) {
        assert_int_equal(ph_http_request_judge(PORT, TEXT, size).status, size < whole ? 0 : 200);
    }
    char large[PH_HTTP_HEAD_MAX];
    memset(large, 'x', sizeof large);
    assert_int_equal(ph_http_request_judge(PORT, large, sizeof large - 1).status, 0);
    assert_int_equal(ph_http_request_judge(PORT, large, sizeof large).status, 431);
}

static void answers_say_how_long_they_are(void** state)
{
    (void)state;
    char text[512];
    size_t size = ph_http_answer_print(405, "text/plain", 19, text, sizeof text);
    assert_int_equal(size, strlen(text));
    assert_non_null(strstr(text, "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n"));
    assert_non_null(strstr(text, "Content-Length: 19\r\n"));
    assert_string_equal(text + size - 4, "\r\n\r\n");
    assert_int_equal(ph_http_answer_print(200, "text/plain", 19, text, 40), 0);
    ph_http_answer_print(200, "text/plain", 0, text, sizeof text);
    assert_null(strstr(text, "Allow"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_given_to_loopback_names),
        cmocka_unit_test(names_of_others_are_refused),
        cmocka_unit_test(upgrades_are_not_made),
        cmocka_unit_test(other_methods_and_pages_are_refused),
        cmocka_unit_test(what_is_no_http_is_refused),
        cmocka_unit_test(a_head_is_judged_when_it_is_complete),
        cmocka_unit_test(answers_say_how_long_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
