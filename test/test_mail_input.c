// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a player does, on its way up, and the number of what was processed, on its way down.

#include "support/mail_pair.h"

#include <string.h>

enum { CLIENT = 0, SERVER = 1 };

static void set(mail_pair* pair, uint32_t number)
{
    uint8_t bytes[20];
    mail_pair_fill(bytes, sizeof bytes, number);
    assert_int_equal(ph_mail_set_input(pair->ends[CLIENT], number, bytes, sizeof bytes), PH_OK);
}

static void expect(mail_pair* pair, uint32_t number)
{
    const ph_mail_input input = ph_mail_newest_input(pair->ends[SERVER]);
    uint8_t expected[20];
    mail_pair_fill(expected, sizeof expected, number);
    assert_int_equal(input.number, number);
    assert_int_equal(input.size, sizeof expected);
    assert_memory_equal(input.bytes, expected, sizeof expected);
}

static void the_newest_input_wins(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    assert_int_equal(ph_mail_newest_input(pair.ends[SERVER]).number, 0);
    set(&pair, 1);
    mail_pair_carry(&pair, CLIENT, false);
    set(&pair, 2);
    set(&pair, 5);
    mail_pair_carry(&pair, CLIENT, true);
    expect(&pair, 5);
    mail_pair_teardown(&pair);
}

static void an_older_input_does_not_come_back(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    set(&pair, 1);
    uint8_t late[100];
    const size_t size = ph_mail_write(pair.ends[CLIENT], pair.now_us, sizeof late, late);
    set(&pair, 2);
    mail_pair_carry(&pair, CLIENT, true);
    size_t used;
    assert_int_equal(ph_mail_read(pair.ends[SERVER], pair.now_us, late, size, &used), PH_OK);
    expect(&pair, 2);
    mail_pair_teardown(&pair);
}

// 4 + 16 + 1 + 8 + 160 bits with its bytes, 21 without, 4 when all is known.
static void an_input_goes_until_it_is_acknowledged_and_asks_until_it_is_processed(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    set(&pair, 1);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, false), 24);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, true), 24);
    mail_pair_carry(&pair, SERVER, false);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, true), 24);
    mail_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), 0);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, true), 3);
    assert_int_equal(ph_mail_set_processed(pair.ends[SERVER], 1), PH_OK);
    for (int i = 0; i < 4; ++i) {
        mail_pair_carry(&pair, SERVER, false); // more often than it is repeated
    }
    assert_int_equal(mail_pair_carry(&pair, SERVER, true), PH_MAIL_EMPTY_SIZE);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, true), 3);
    mail_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), 1);
    assert_int_equal(mail_pair_carry(&pair, CLIENT, true), PH_MAIL_EMPTY_SIZE);
    mail_pair_carry(&pair, SERVER, true);
    assert_int_equal(mail_pair_carry(&pair, SERVER, true), PH_MAIL_EMPTY_SIZE);
    mail_pair_teardown(&pair);
}

static void what_is_processed_lies_behind_what_came(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    for (uint32_t i = 1; i <= 100; ++i) {
        set(&pair, i);
        mail_pair_carry(&pair, CLIENT, true);
        if (i > 7) {
            assert_int_equal(ph_mail_set_processed(pair.ends[SERVER], i - 7), PH_OK);
        }
        mail_pair_carry(&pair, SERVER, true);
        assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), i > 7 ? i - 7 : 0);
    }
    mail_pair_teardown(&pair);
}

static void a_late_answer_takes_nothing_back(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    set(&pair, 8);
    mail_pair_carry(&pair, CLIENT, true);
    ph_mail_set_processed(pair.ends[SERVER], 3);
    uint8_t late[100];
    const size_t size = ph_mail_write(pair.ends[SERVER], pair.now_us, sizeof late, late);
    ph_mail_set_processed(pair.ends[SERVER], 5);
    mail_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), 5);
    size_t used;
    assert_int_equal(ph_mail_read(pair.ends[CLIENT], pair.now_us, late, size, &used), PH_OK);
    assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), 5);
    mail_pair_teardown(&pair);
}

// Low 16 bits go over the wire; both ends know the rest.
static void numbers_of_inputs_wrap_on_the_wire_alone(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    test_rng rng = {.state = 12};
    uint32_t number = 0;
    while (number < 400000) {
        number += 1 + (uint32_t)test_rng_below(&rng, 3000);
        set(&pair, number);
        if (test_rng_below(&rng, 3) == 0) {
            mail_pair_carry(&pair, CLIENT, false);
            continue;
        }
        mail_pair_carry(&pair, CLIENT, true);
        expect(&pair, number);
        assert_int_equal(ph_mail_set_processed(pair.ends[SERVER], number), PH_OK);
        mail_pair_carry(&pair, SERVER, true);
        assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), number);
    }
    mail_pair_teardown(&pair);
}

static void a_server_that_never_processes_says_nothing_false(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    for (uint32_t number = 1; number < 200000; number += 1111) {
        set(&pair, number);
        mail_pair_exchange(&pair, 1);
        expect(&pair, number);
        assert_int_equal(ph_mail_processed(pair.ends[CLIENT]), 0);
    }
    mail_pair_teardown(&pair);
}

static void numbers_and_sizes_that_cannot_be_are_refused(void** state)
{
    (void)state;
    ph_mail_def def = ph_mail_def_default();
    def.section_max = PH_MAIL_SECTION_MIN;
    mail_pair pair;
    mail_pair_setup(&pair, &def);
    ph_mail* client = pair.ends[CLIENT];
    ph_mail* server = pair.ends[SERVER];
    const uint8_t bytes[PH_MAIL_INPUT_MAX] = {0};
    assert_int_equal(ph_mail_set_input(client, 0, bytes, 1), PH_ERROR_RANGE);
    assert_int_equal(ph_mail_set_input(client, 32768, bytes, 1), PH_ERROR_RANGE);
    assert_int_equal(ph_mail_set_input(client, 5, bytes, 15), PH_ERROR_RANGE); // 96 - 82
    assert_int_equal(ph_mail_set_input(client, 5, bytes, 14), PH_OK);
    assert_int_equal(ph_mail_set_input(client, 5, bytes, 14), PH_ERROR_RANGE);
    assert_int_equal(ph_mail_set_input(client, 4, bytes, 14), PH_ERROR_RANGE);
    assert_int_equal(ph_mail_set_processed(server, 1), PH_ERROR_RANGE);
    mail_pair_carry(&pair, CLIENT, true);
    assert_int_equal(ph_mail_set_processed(server, 6), PH_ERROR_RANGE);
    assert_int_equal(ph_mail_set_processed(server, 5), PH_OK);
    assert_int_equal(ph_mail_set_processed(server, 4), PH_ERROR_RANGE);
    mail_pair_teardown(&pair);
}

static void an_input_may_be_empty(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    assert_int_equal(ph_mail_set_input(pair.ends[CLIENT], 3, NULL, 0), PH_OK);
    mail_pair_carry(&pair, CLIENT, true);
    assert_int_equal(ph_mail_newest_input(pair.ends[SERVER]).number, 3);
    assert_int_equal(ph_mail_newest_input(pair.ends[SERVER]).size, 0);
    mail_pair_teardown(&pair);
}

// The largest input in every datagram, and messages beside it.
static void messages_find_room_beside_the_largest_input(void** state)
{
    (void)state;
    mail_pair pair;
    mail_pair_setup(&pair, NULL);
    uint8_t bytes[PH_MAIL_INPUT_MAX] = {0};
    for (uint32_t i = 0; i < 10; ++i) {
        mail_pair_post(&pair, CLIENT, 200, i);
    }
    for (uint32_t i = 1; i < 100; ++i) {
        assert_int_equal(ph_mail_set_input(pair.ends[CLIENT], i, bytes, sizeof bytes), PH_OK);
        mail_pair_exchange(&pair, 1);
    }
    assert_true(ph_mail_is_delivered(pair.ends[CLIENT]));
    mail_pair_teardown(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_input_wins),
        cmocka_unit_test(an_older_input_does_not_come_back),
        cmocka_unit_test(an_input_goes_until_it_is_acknowledged_and_asks_until_it_is_processed),
        cmocka_unit_test(what_is_processed_lies_behind_what_came),
        cmocka_unit_test(a_late_answer_takes_nothing_back),
        cmocka_unit_test(numbers_of_inputs_wrap_on_the_wire_alone),
        cmocka_unit_test(a_server_that_never_processes_says_nothing_false),
        cmocka_unit_test(numbers_and_sizes_that_cannot_be_are_refused),
        cmocka_unit_test(an_input_may_be_empty),
        cmocka_unit_test(messages_find_room_beside_the_largest_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
