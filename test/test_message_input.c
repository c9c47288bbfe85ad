// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a player does, on its way up, and the number of what was processed, on its way down.

#include "support/message_pair.h"
#include "tools/tools.h"

#include <string.h>

enum { CLIENT = 0, SERVER = 1 };

static void set(message_pair* pair, uint32_t number)
{
    uint8_t bytes[20];
    message_pair_fill(bytes, sizeof bytes, number);
    assert_int_equal(ph_messages_set_input(pair->ends[CLIENT], number, bytes, sizeof bytes), PH_OK);
}

static void expect(message_pair* pair, uint32_t number)
{
    const ph_input input = ph_messages_newest_input(pair->ends[SERVER]);
    uint8_t expected[20];
    message_pair_fill(expected, sizeof expected, number);
    assert_int_equal(input.number, number);
    assert_int_equal(input.size, sizeof expected);
    assert_memory_equal(input.bytes, expected, sizeof expected);
}

static void the_newest_input_wins(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    assert_int_equal(ph_messages_newest_input(pair.ends[SERVER]).number, 0);
    set(&pair, 1);
    message_pair_carry(&pair, CLIENT, false);
    set(&pair, 2);
    set(&pair, 5);
    message_pair_carry(&pair, CLIENT, true);
    expect(&pair, 5);
    message_pair_teardown(&pair);
}

static void an_older_input_does_not_come_back(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    set(&pair, 1);
    uint8_t late[100];
    const size_t size =
        ph_messages_write_section(pair.ends[CLIENT], pair.now_us, sizeof late, late);
    set(&pair, 2);
    message_pair_carry(&pair, CLIENT, true);
    size_t used;
    assert_int_equal(ph_messages_read_section(pair.ends[SERVER], pair.now_us, late, size, &used),
                     PH_OK);
    expect(&pair, 2);
    message_pair_teardown(&pair);
}

// 4 + 16 + 1 + 8 + 160 bits with its bytes, 21 without, 4 when all is known.
static void an_input_goes_until_it_is_acknowledged_and_asks_until_it_is_processed(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    set(&pair, 1);
    assert_int_equal(message_pair_carry(&pair, CLIENT, false), 24);
    assert_int_equal(message_pair_carry(&pair, CLIENT, true), 24);
    message_pair_carry(&pair, SERVER, false);
    assert_int_equal(message_pair_carry(&pair, CLIENT, true), 24);
    message_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), 0);
    assert_int_equal(message_pair_carry(&pair, CLIENT, true), 3);
    assert_int_equal(ph_messages_set_processed_input(pair.ends[SERVER], 1), PH_OK);
    for (int i = 0; i < 4; ++i) {
        message_pair_carry(&pair, SERVER, false); // more often than it is repeated
    }
    assert_int_equal(message_pair_carry(&pair, SERVER, true), PH_MESSAGES_EMPTY_SIZE);
    assert_int_equal(message_pair_carry(&pair, CLIENT, true), 3);
    message_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), 1);
    assert_int_equal(message_pair_carry(&pair, CLIENT, true), PH_MESSAGES_EMPTY_SIZE);
    message_pair_carry(&pair, SERVER, true);
    assert_int_equal(message_pair_carry(&pair, SERVER, true), PH_MESSAGES_EMPTY_SIZE);
    message_pair_teardown(&pair);
}

static void what_is_processed_lies_behind_what_came(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    for (uint32_t i = 1; i <= 100; ++i) {
        set(&pair, i);
        message_pair_carry(&pair, CLIENT, true);
        if (i > 7) {
            assert_int_equal(ph_messages_set_processed_input(pair.ends[SERVER], i - 7), PH_OK);
        }
        message_pair_carry(&pair, SERVER, true);
        assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), i > 7 ? i - 7 : 0);
    }
    message_pair_teardown(&pair);
}

static void a_late_answer_takes_nothing_back(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    set(&pair, 8);
    message_pair_carry(&pair, CLIENT, true);
    ph_messages_set_processed_input(pair.ends[SERVER], 3);
    uint8_t late[100];
    const size_t size =
        ph_messages_write_section(pair.ends[SERVER], pair.now_us, sizeof late, late);
    ph_messages_set_processed_input(pair.ends[SERVER], 5);
    message_pair_carry(&pair, SERVER, true);
    assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), 5);
    size_t used;
    assert_int_equal(ph_messages_read_section(pair.ends[CLIENT], pair.now_us, late, size, &used),
                     PH_OK);
    assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), 5);
    message_pair_teardown(&pair);
}

// Low 16 bits go over the wire; both ends know the rest.
static void numbers_of_inputs_wrap_on_the_wire_alone(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    test_rng rng = {.state = 12};
    uint32_t number = 0;
    while (number < 400000) {
        number += 1 + (uint32_t)test_rng_below(&rng, 3000);
        set(&pair, number);
        if (test_rng_below(&rng, 3) == 0) {
            message_pair_carry(&pair, CLIENT, false);
            continue;
        }
        message_pair_carry(&pair, CLIENT, true);
        expect(&pair, number);
        assert_int_equal(ph_messages_set_processed_input(pair.ends[SERVER], number), PH_OK);
        message_pair_carry(&pair, SERVER, true);
        assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), number);
    }
    message_pair_teardown(&pair);
}

static void a_server_that_never_processes_says_nothing_false(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    for (uint32_t number = 1; number < 200000; number += 1111) {
        set(&pair, number);
        message_pair_exchange(&pair, 1);
        expect(&pair, number);
        assert_int_equal(ph_messages_processed_input(pair.ends[CLIENT]), 0);
    }
    message_pair_teardown(&pair);
}

static void numbers_and_sizes_that_cannot_be_are_refused(void** state)
{
    (void)state;
    ph_messages_def def = ph_messages_def_default();
    def.section_max = PH_MESSAGES_SECTION_MIN;
    message_pair pair;
    message_pair_setup(&pair, &def);
    ph_messages* client = pair.ends[CLIENT];
    ph_messages* server = pair.ends[SERVER];
    const uint8_t bytes[PH_INPUT_SIZE_MAX] = {0};
    assert_int_equal(ph_messages_set_input(client, 0, bytes, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_set_input(client, 32768, bytes, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_set_input(client, 5, bytes, 15), PH_ERROR_ARGUMENT); // 96 - 82
    assert_int_equal(ph_messages_set_input(client, 5, bytes, 14), PH_OK);
    assert_int_equal(ph_messages_set_input(client, 5, bytes, 14), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_set_input(client, 4, bytes, 14), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_set_processed_input(server, 1), PH_ERROR_ARGUMENT);
    message_pair_carry(&pair, CLIENT, true);
    assert_int_equal(ph_messages_set_processed_input(server, 6), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_set_processed_input(server, 5), PH_OK);
    assert_int_equal(ph_messages_set_processed_input(server, 4), PH_ERROR_ARGUMENT);
    message_pair_teardown(&pair);
}

static void an_input_may_be_empty(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    assert_int_equal(ph_messages_set_input(pair.ends[CLIENT], 3, NULL, 0), PH_OK);
    message_pair_carry(&pair, CLIENT, true);
    assert_int_equal(ph_messages_newest_input(pair.ends[SERVER]).number, 3);
    assert_int_equal(ph_messages_newest_input(pair.ends[SERVER]).size, 0);
    message_pair_teardown(&pair);
}

// The largest input in every datagram, and messages beside it.
static void messages_find_room_beside_the_largest_input(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    uint8_t bytes[PH_INPUT_SIZE_MAX] = {0};
    for (uint32_t i = 0; i < 10; ++i) {
        message_pair_post(&pair, CLIENT, 200, i);
    }
    for (uint32_t i = 1; i < 100; ++i) {
        assert_int_equal(ph_messages_set_input(pair.ends[CLIENT], i, bytes, sizeof bytes), PH_OK);
        message_pair_exchange(&pair, 1);
    }
    assert_true(ph_messages_is_all_acked(pair.ends[CLIENT]));
    message_pair_teardown(&pair);
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
