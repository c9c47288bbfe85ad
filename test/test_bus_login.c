// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A login and directors that answer it, in memory: each wish gets one answer, the first; what no director answers ends
// with a sentence; what nobody asked for is refused and counted.

#include "support/memory_bus.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "bus/bus_wire.h"

#include <pinhole/bus/bus_login.h>

#include <string.h>

enum { MS = 1000, CAPACITY = 4 };

typedef struct fixture {
    memory_bus* bus;
    ph_bus_login* login;
    ph_bus_transport director;
    ph_bus_login_def def;
    ph_error error;
    uint8_t tokens[4 * PH_TOKEN_SIZE];
} fixture;

static void begin(fixture* f)
{
    *f = (fixture){.bus = memory_bus_create(&(memory_bus_def){.seed = 1})};
    f->director = memory_bus_transport(f->bus, memory_bus_add(f->bus));
    f->director.subscribe(f->director.context, "wish.w");
    f->def = ph_bus_login_def_default();
    f->def.transport = memory_bus_transport(f->bus, memory_bus_add(f->bus));
    f->def.world_name = "w";
    f->def.name = "login";
    f->def.capacity = CAPACITY;
    f->def.on_error = ph_error_keep;
    f->def.on_error_context = &f->error;
    assert_int_equal(ph_bus_login_create(&f->def, &f->login), PH_OK);
    for (size_t i = 0; i < sizeof f->tokens; ++i) {
        f->tokens[i] = (uint8_t)(i * 7 >> 3);
    }
}

static void end(fixture* f)
{
    ph_bus_login_destroy(f->login);
    memory_bus_destroy(f->bus);
}

static ph_result wish(fixture* f, uint64_t client_id, int spare_count)
{
    const ph_bus_wish wanted = {
        .client_id = client_id, .key = client_id + 1000, .spare_count = spare_count};
    return ph_bus_login_wish(f->login, &wanted, memory_bus_now_us(f->bus));
}

static bool next(fixture* f, ph_bus_grant* grant)
{
    return ph_bus_login_next(f->login, memory_bus_now_us(f->bus), grant);
}

// The wish that the director hears next.
static bool hear(fixture* f, bus_wish* heard)
{
    ph_bus_message message;
    ph_bus_refusal refusal;
    memory_bus_advance(f->bus, 10 * MS);
    if (!f->director.next(f->director.context, &message)) {
        return false;
    }
    assert_true(bus_read_wish(heard, message.bytes, message.size, &refusal));
    return true;
}

static void answer(fixture* f, const bus_wish* heard, int token_count, const char* text)
{
    bus_grant grant = {.number = heard->number,
                       .client_id = heard->client_id,
                       .token_count = token_count,
                       .tokens = f->tokens};
    memcpy(grant.text, text, strlen(text) + 1);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_grant(&writer, &grant));
    assert_true(f->director.publish(f->director.context, "to.w.login", writer.bytes, writer.size));
    bus_writer_destroy(&writer);
    memory_bus_advance(f->bus, 10 * MS);
}

static void a_wish_gets_the_tokens_of_a_director(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    bus_wish heard;
    ph_bus_grant grant;
    const ph_bus_wish wanted = {.client_id = 77, .key = 4711, .spare_count = 2, .is_spare = true};
    assert_int_equal(ph_bus_login_wish(f.login, &wanted, memory_bus_now_us(f.bus)), PH_OK);
    assert_true(hear(&f, &heard));
    assert_int_equal(heard.client_id, 77);
    assert_int_equal(heard.key, 4711);
    assert_int_equal(heard.token_count, 3);
    assert_true(heard.is_spare);
    assert_string_equal(heard.reply_to, "login");
    assert_string_equal(heard.not_front, "");
    assert_false(next(&f, &grant));
    answer(&f, &heard, 2, "");
    assert_true(next(&f, &grant));
    assert_int_equal(grant.client_id, 77);
    assert_int_equal(grant.token_count, 2);
    assert_memory_equal(grant.tokens, f.tokens, 2 * PH_TOKEN_SIZE);
    assert_string_equal(grant.text, "");
    assert_false(next(&f, &grant));
    assert_int_equal(ph_bus_login_get_stats(f.login).waiting, 0);
    assert_int_equal(ph_bus_login_get_stats(f.login).granted, 1);
    end(&f);
}

static void a_wish_that_cannot_be_granted_says_why(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    bus_wish heard;
    ph_bus_grant grant;
    wish(&f, 1, 0);
    assert_true(hear(&f, &heard));
    answer(&f, &heard, 0, "there is no front-end now");
    assert_true(next(&f, &grant));
    assert_int_equal(grant.token_count, 0);
    assert_null(grant.tokens);
    assert_string_equal(grant.text, "there is no front-end now");
    assert_int_equal(ph_bus_login_get_stats(f.login).denied, 1);
    end(&f);
}

static void a_wish_is_repeated_and_ends_without_a_director(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    bus_wish heard;
    ph_bus_grant grant;
    wish(&f, 5, 0);
    int asked_count = 0;
    int ended_ms = 0;
    for (int ms = 0; ms < 8000 && ended_ms == 0; ms += 10) {
        asked_count += hear(&f, &heard);
        ended_ms = next(&f, &grant) ? ms : 0;
    }
    assert_in_range(asked_count, 5, 6);
    assert_in_range(ended_ms, 4950, 5050);
    assert_int_equal(grant.client_id, 5);
    assert_int_equal(grant.token_count, 0);
    assert_string_equal(grant.text, "no director answers");
    assert_int_equal(ph_bus_login_get_stats(f.login).unanswered, 1);
    answer(&f, &heard, 1, ""); // too late
    assert_false(next(&f, &grant));
    end(&f);
}

static void the_first_answer_counts_and_others_are_refused(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    bus_wish heard;
    ph_bus_grant grant;
    wish(&f, 5, 1);
    assert_true(hear(&f, &heard));
    bus_wish lie = heard;
    lie.client_id = 6;
    answer(&f, &lie, 1, "");
    lie = heard;
    lie.number += 1;
    answer(&f, &lie, 1, "");
    answer(&f, &heard, 3, ""); // more than were asked for
    f.director.publish(f.director.context, "to.w.login", "\x01\x0E\x00", 3);
    f.director.publish(f.director.context, "to.w.login", "\x01\x06", 2);
    memory_bus_advance(f.bus, 10 * MS);
    assert_false(next(&f, &grant));
    answer(&f, &heard, 2, "");
    answer(&f, &heard, 2, ""); // of a second director
    assert_true(next(&f, &grant));
    assert_int_equal(grant.token_count, 2);
    assert_false(next(&f, &grant));
    const ph_bus_login_stats stats = ph_bus_login_get_stats(f.login);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_UNASKED], 4);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_END] + stats.refused[PH_BUS_REFUSAL_SIZE], 1);
    assert_int_equal(stats.refused[PH_BUS_REFUSAL_KIND], 1);
    end(&f);
}

static void a_newer_wish_of_a_client_replaces_the_one_that_waits(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    bus_wish first, second;
    ph_bus_grant grant;
    for (uint64_t i = 0; i < CAPACITY; ++i) {
        assert_int_equal(wish(&f, i, 0), PH_OK);
    }
    assert_int_equal(wish(&f, 99, 0), PH_ERROR_FULL);
    assert_true(hear(&f, &first));
    assert_int_equal(wish(&f, first.client_id, 1), PH_OK);
    while (hear(&f, &second) && second.client_id == first.client_id + 1) {
    }
    while (second.client_id != first.client_id) {
        assert_true(hear(&f, &second));
    }
    answer(&f, &first, 1, "");
    assert_false(next(&f, &grant));
    answer(&f, &second, 2, "");
    assert_true(next(&f, &grant));
    assert_int_equal(wish(&f, 99, 0), PH_OK);
    assert_int_equal(wish(&f, 7, PH_BUS_SPARES_MAX + 1), PH_ERROR_ARGUMENT);
    assert_string_equal(f.error.field, "ph_bus_wish.spare_count");
    end(&f);
}

static void a_wrong_def_is_refused_and_memory_runs_out_without_a_leak(void** state)
{
    (void)state;
    fixture f;
    begin(&f);
    ph_bus_login* login;
    assert_int_equal(ph_bus_login_create(&(ph_bus_login_def){0}, &login), PH_ERROR_ARGUMENT);
    ph_bus_login_def def = f.def;
    def.name = "a b";
    assert_int_equal(ph_bus_login_create(&def, &login), PH_ERROR_ARGUMENT);
    assert_string_equal(f.error.field, "ph_bus_login_def.name");
    def = f.def;
    def.capacity = 0;
    assert_int_equal(ph_bus_login_create(&def, &login), PH_ERROR_ARGUMENT);
    assert_string_equal(f.error.field, "ph_bus_login_def.capacity");
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        test_memory memory = {.fail_at = n};
        def = f.def;
        def.allocator = test_memory_allocator(&memory);
        result = ph_bus_login_create(&def, &login);
        assert_true(result == PH_OK || result == PH_ERROR_MEMORY);
        assert_true((login != NULL) == (result == PH_OK));
        ph_bus_login_destroy(login);
        test_memory_assert_clean(&memory);
    }
    ph_bus_login_destroy(NULL);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wish_gets_the_tokens_of_a_director),
        cmocka_unit_test(a_wish_that_cannot_be_granted_says_why),
        cmocka_unit_test(a_wish_is_repeated_and_ends_without_a_director),
        cmocka_unit_test(the_first_answer_counts_and_others_are_refused),
        cmocka_unit_test(a_newer_wish_of_a_client_replaces_the_one_that_waits),
        cmocka_unit_test(a_wrong_def_is_refused_and_memory_runs_out_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
