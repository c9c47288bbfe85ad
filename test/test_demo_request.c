// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include "demo_request.h"

#include <locale.h>
#include <string.h>

static demo_request_refusal read_text(const char* text, demo_request* request)
{
    return demo_request_read(text, strlen(text), request);
}

static void assert_refused(const char* text, demo_request_refusal refusal)
{
    demo_request request;
    assert_int_equal(read_text(text, &request), refusal);
    const demo_request empty = {.kind = request.kind};
    assert_memory_equal(&request, &empty, sizeof empty);
}

static double number_of(const char* text, demo_request_kind kind)
{
    demo_request request;
    assert_int_equal(read_text(text, &request), DEMO_REQUEST_OK);
    assert_int_equal(request.kind, kind);
    return request.number;
}

static void numbers_are_read_whatever_the_locale(void** state)
{
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); // where there is it, a point is no decimal point for strtod()
    assert_float_equal(number_of("kbps 13", DEMO_REQUEST_KBPS), 13.0, 0.0);
    assert_float_equal(number_of("kbps 2.5", DEMO_REQUEST_KBPS), 2.5, 0.0);
    assert_float_equal(number_of("loss 0", DEMO_REQUEST_LOSS), 0.0, 0.0);
    assert_float_equal(number_of("loss 0.25", DEMO_REQUEST_LOSS), 0.25, 0.0);
    assert_float_equal(number_of("rtt 1000", DEMO_REQUEST_RTT), 1000.0, 0.0);
    assert_float_equal(number_of("jitter 20", DEMO_REQUEST_JITTER), 20.0, 0.0);
    assert_float_equal(number_of("hz 60", DEMO_REQUEST_HZ), 60.0, 0.0);
    assert_float_equal(number_of("entities 2000", DEMO_REQUEST_ENTITIES), 2000.0, 0.0);
    setlocale(LC_ALL, "C");
}

static void what_is_no_plain_number_is_refused(void** state)
{
    (void)state;
    static const char* const WRONG[] = {
        "kbps",      "kbps ",      "kbps  13",         "kbps 13 ",  "kbps -13",
        "kbps +13",  "kbps 1e1",   "kbps 0x10",        "kbps 13,5", "kbps 13.",
        "kbps .5",   "kbps 1.2.3", "kbps 12345678901", "kbps nan",  "kbps inf",
        "kbps 13\n", "kbps\t13",   "entities 2.0",
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        demo_request request;
        assert_int_not_equal(read_text(WRONG[i], &request), DEMO_REQUEST_OK);
    }
    assert_refused("kbps -13", DEMO_REQUEST_VALUE);
    assert_refused("kbps\t13", DEMO_REQUEST_UNKNOWN);
}

static void numbers_out_of_range_are_refused_and_the_sentence_says_the_range(void** state)
{
    (void)state;
    assert_refused("kbps 1.999", DEMO_REQUEST_RANGE);
    assert_refused("kbps 200.01", DEMO_REQUEST_RANGE);
    assert_refused("loss 91", DEMO_REQUEST_RANGE);
    assert_refused("rtt 1001", DEMO_REQUEST_RANGE);
    assert_refused("jitter 501", DEMO_REQUEST_RANGE);
    assert_refused("hz 61", DEMO_REQUEST_RANGE);
    assert_refused("entities 1", DEMO_REQUEST_RANGE);
    assert_refused("entities 9999999999", DEMO_REQUEST_RANGE);
    char text[DEMO_REQUEST_SENTENCE_MAX];
    demo_request_explain(DEMO_REQUEST_RANGE, DEMO_REQUEST_KBPS, text);
    assert_string_equal(text, "kbps takes 2 to 200 kbit/s.");
}

static void entities_are_named_by_their_ids(void** state)
{
    (void)state;
    demo_request request;
    assert_int_equal(read_text("viewer 0", &request), DEMO_REQUEST_OK);
    assert_int_equal(request.entity, 0);
    assert_int_equal(read_text("select 4294967294", &request), DEMO_REQUEST_OK);
    assert_int_equal(request.entity, UINT32_MAX - 1);
    assert_true(request.is_on);
    assert_int_equal(read_text("select none", &request), DEMO_REQUEST_OK);
    assert_false(request.is_on);
    assert_refused("viewer none", DEMO_REQUEST_VALUE);
    assert_refused("select 4294967295", DEMO_REQUEST_VALUE);
    assert_refused("select 1.5", DEMO_REQUEST_VALUE);
    assert_refused("select", DEMO_REQUEST_VALUE);
}

static void switches_words_and_schedulers(void** state)
{
    (void)state;
    demo_request request;
    assert_int_equal(read_text("pause 1", &request), DEMO_REQUEST_OK);
    assert_true(request.is_on);
    assert_int_equal(read_text("snapshot 0", &request), DEMO_REQUEST_OK);
    assert_false(request.is_on);
    assert_refused("pause 2", DEMO_REQUEST_VALUE);
    assert_refused("pause", DEMO_REQUEST_VALUE);
    assert_int_equal(read_text("step", &request), DEMO_REQUEST_OK);
    assert_refused("step 1", DEMO_REQUEST_VALUE);
    assert_refused("step ", DEMO_REQUEST_VALUE);
    assert_int_equal(read_text("scheduler buckets", &request), DEMO_REQUEST_OK);
    assert_string_equal(request.word, "buckets");
    assert_int_equal(read_text("scheduler", &request), DEMO_REQUEST_OK);
    assert_string_equal(request.word, "");
    assert_refused("scheduler fast", DEMO_REQUEST_VALUE);
    assert_int_equal(read_text("source scene:town", &request), DEMO_REQUEST_OK);
    assert_string_equal(request.word, "scene:town");
    assert_int_equal(read_text("password two words", &request), DEMO_REQUEST_OK);
    assert_string_equal(request.word, "two words");
    assert_refused("source ", DEMO_REQUEST_VALUE);
    assert_refused("source a\nb", DEMO_REQUEST_VALUE);
}

static void other_texts_are_refused(void** state)
{
    (void)state;
    assert_refused("", DEMO_REQUEST_UNKNOWN);
    assert_refused(" ", DEMO_REQUEST_UNKNOWN);
    assert_refused("KBPS 13", DEMO_REQUEST_UNKNOWN);
    assert_refused("kbp 13", DEMO_REQUEST_UNKNOWN);
    assert_refused("quit", DEMO_REQUEST_UNKNOWN);
    char text[DEMO_REQUEST_SIZE_MAX + 2];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "source ", 7);
    assert_refused(text, DEMO_REQUEST_LONG);
    text[DEMO_REQUEST_SIZE_MAX] = '\0';
    assert_refused(text, DEMO_REQUEST_VALUE); // room for the name of any other command
    text[strlen("source ") + DEMO_REQUEST_WORD_MAX] = '\0';
    demo_request request;
    assert_int_equal(read_text(text, &request), DEMO_REQUEST_OK);
    assert_int_equal(strlen(request.word), DEMO_REQUEST_WORD_MAX);
}

static void every_command_has_a_name_of_its_own(void** state)
{
    (void)state;
    for (int i = 0; i < DEMO_REQUEST_COUNT; ++i) {
        demo_request request;
        read_text(demo_request_name((demo_request_kind)i), &request);
        assert_int_equal(request.kind, i);
    }
}

static void acks_name_a_way_and_have_bytes(void** state)
{
    (void)state;
    uint8_t bytes[2 + PH_ACK_SIZE + 1] = {1, 2, 77};
    demo_request_ack ack;
    assert_true(demo_request_read_ack(bytes, 3, 3, &ack));
    assert_int_equal(ack.way, 2);
    assert_int_equal(ack.size, 1);
    assert_int_equal(ack.bytes[0], 77);
    assert_true(demo_request_read_ack(bytes, 2 + PH_ACK_SIZE, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 2 + PH_ACK_SIZE + 1, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 2, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 0, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 3, 2, &ack));
    assert_int_equal(ack.time_us, 0);
    bytes[0] = 3;
    assert_false(demo_request_read_ack(bytes, 3, 3, &ack));
    assert_null(ack.bytes);
}

static void an_ack_may_say_when_it_was_written(void** state)
{
    (void)state;
    uint8_t bytes[10 + PH_ACK_SIZE + 1] = {2,    1,    0x08, 0x07, 0x06, 0x05,
                                           0x04, 0x03, 0x02, 0x01, 77};
    demo_request_ack ack;
    assert_true(demo_request_read_ack(bytes, 11, 3, &ack));
    assert_int_equal(ack.way, 1);
    assert_true(ack.time_us == UINT64_C(0x0102030405060708));
    assert_int_equal(ack.size, 1);
    assert_int_equal(ack.bytes[0], 77);
    assert_true(demo_request_read_ack(bytes, 10 + PH_ACK_SIZE, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 10 + PH_ACK_SIZE + 1, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 10, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 3, 3, &ack));
    assert_false(demo_request_read_ack(bytes, 11, 1, &ack));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_whatever_the_locale),
        cmocka_unit_test(what_is_no_plain_number_is_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused_and_the_sentence_says_the_range),
        cmocka_unit_test(entities_are_named_by_their_ids),
        cmocka_unit_test(switches_words_and_schedulers),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(every_command_has_a_name_of_its_own),
        cmocka_unit_test(acks_name_a_way_and_have_bytes),
        cmocka_unit_test(an_ack_may_say_when_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
