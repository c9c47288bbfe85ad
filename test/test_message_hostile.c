// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sections that no honest end writes: each is refused for its reason, and nothing of it was done.

#include "support/message_pair.h"

#include "message/bulk.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

#include <string.h>

static ph_message_fragment fragment_of(uint16_t number, uint8_t left, const uint8_t* bytes)
{
    return (ph_message_fragment){.sequence = number,
                                 .left = left,
                                 .size = left > 0 ? PH_MESSAGE_FRAGMENT_SIZE : 5,
                                 .bytes = bytes};
}

// Everything but the counts, as bytes.
typedef struct picture {
    uint8_t bytes[sizeof(ph_messages) +
                  2 * 64 * (sizeof(ph_message_sent) + PH_MESSAGE_FRAGMENT_SIZE) + sizeof(ph_bulk) +
                  2 * 2048];
} picture;

static void take_picture(const ph_messages* messages, picture* made)
{
    assert_true(messages->size_bytes <= sizeof made->bytes);
    memset(made->bytes, 0, sizeof made->bytes);
    memcpy(made->bytes, messages, messages->size_bytes);
    memset(made->bytes + offsetof(ph_messages, stats), 0, sizeof(ph_messages_stats));
}

static void refuse_bytes(message_pair* pair, const uint8_t* bytes, size_t size,
                         ph_messages_refusal reason)
{
    static picture before;
    static picture after;
    ph_messages* messages = pair->ends[1];
    size_t used;
    take_picture(messages, &before);
    const uint64_t count = ph_messages_get_stats(messages).refused_sections[reason];
    assert_int_equal(ph_messages_read_section(messages, pair->now_us, bytes, size, &used),
                     PH_ERROR_VALUE);
    assert_int_equal(used, 0);
    assert_int_equal(ph_messages_get_stats(messages).refused_sections[reason], count + 1);
    take_picture(messages, &after);
    assert_memory_equal(before.bytes, after.bytes, sizeof before.bytes);
}

static size_t write(const ph_message_section* section, uint8_t* bytes)
{
    return ph_message_section_write(section, bytes, PH_PAYLOAD_MAX);
}

static void refuse(message_pair* pair, const ph_message_section* section,
                   ph_messages_refusal reason)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    refuse_bytes(pair, bytes, write(section, bytes), reason);
}

static void accept(message_pair* pair, const ph_message_section* section)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t used;
    const size_t size = write(section, bytes);
    assert_int_equal(ph_messages_read_section(pair->ends[1], pair->now_us, bytes, size, &used),
                     PH_OK);
}

static void cut_off_sections_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    message_pair_post(&pair, 0, 100, 1);
    message_pair_post(&pair, 0, 10, 2);
    ph_messages_set_input(pair.ends[0], 7, "abcdef", 6);
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size = ph_messages_write_section(pair.ends[0], pair.now_us, sizeof bytes, bytes);
    for (size_t cut = 0; cut < size; ++cut) {
        refuse_bytes(&pair, bytes, cut, PH_MESSAGES_REFUSAL_MALFORMED);
    }
    size_t used;
    assert_int_equal(ph_messages_read_section(pair.ends[1], pair.now_us, bytes, size, &used),
                     PH_OK);
    message_pair_teardown(&pair);
}

static void spare_bits_are_zero(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    for (int bit = 4; bit < 8; ++bit) {
        const uint8_t byte = (uint8_t)(1u << bit);
        refuse_bytes(&pair, &byte, 1, PH_MESSAGES_REFUSAL_MALFORMED);
    }
    message_pair_teardown(&pair);
}

// Bits of hand-made sections, low ones first.
static void refuse_fields(message_pair* pair, const int (*fields)[2], int count)
{
    uint8_t bytes[100] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    for (int i = 0; i < count; ++i) {
        ph_bits_write(&writer, (uint64_t)fields[i][0], fields[i][1]);
    }
    ph_bit_writer_finish(&writer);
    refuse_bytes(pair, bytes, sizeof bytes, PH_MESSAGES_REFUSAL_MALFORMED);
}

static void one_thing_is_said_in_one_way(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    ph_messages_set_input(pair.ends[1], 5, NULL, 0);
    const int empty_mask[][2] = {{1, 4}, {0, 16}, {1, 1}, {0, 31}};
    refuse_fields(&pair, empty_mask, 4);
    const int all_processed_at_length[][2] = {{4, 4}, {5, 16}, {0, 1}, {5, 16}};
    refuse_fields(&pair, all_processed_at_length, 4);
    // A fragment of one byte, and the next one 33 further on; or 31 twice.
    const int step[][2] = {{8, 4}, {0, 16}, {0, 4}, {0, 6}, {9, 8}, {1, 1}, {1, 1}, {31, 5}};
    refuse_fields(&pair, step, 8);
    const int steps[][2] = {{8, 4}, {0, 16}, {0, 4}, {0, 6}, {9, 8}, {1, 1},
                            {1, 1}, {28, 5}, {0, 4}, {0, 6}, {9, 8}, {1, 1},
                            {1, 1}, {0, 5},  {0, 4}, {0, 6}, {9, 8}, {0, 1}};
    refuse_fields(&pair, steps, 18);
    message_pair_teardown(&pair);
}

static void acks_for_what_was_never_sent_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    refuse(&pair, &(ph_message_section){.has_ack = true, .ack_next = 1}, PH_MESSAGES_REFUSAL_ACK);
    message_pair_post(&pair, 1, 200, 1); // four fragments, of which none was sent
    refuse(&pair, &(ph_message_section){.has_ack = true, .ack_next = 4}, PH_MESSAGES_REFUSAL_ACK);
    message_pair_carry(&pair, 1, false);
    refuse(&pair, &(ph_message_section){.has_ack = true, .ack_next = 5}, PH_MESSAGES_REFUSAL_ACK);
    refuse(&pair, &(ph_message_section){.has_ack = true, .ack_next = 1, .ack_mask = 4},
           PH_MESSAGES_REFUSAL_ACK);
    accept(&pair, &(ph_message_section){.has_ack = true, .ack_next = 1, .ack_mask = 2});
    accept(&pair, &(ph_message_section){.has_ack = true, .ack_next = 4});
    assert_true(ph_messages_is_all_acked(pair.ends[1]));
    accept(&pair, &(ph_message_section){.has_ack = true, .ack_next = 2}); // late
    message_pair_teardown(&pair);
}

static void answers_about_what_was_never_set_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    ph_message_section answer = {.has_input_ack = true};
    refuse(&pair, &answer, PH_MESSAGES_REFUSAL_ACK);
    ph_messages_set_input(pair.ends[1], 10, NULL, 0);
    answer.input_received = answer.input_processed = 11;
    refuse(&pair, &answer, PH_MESSAGES_REFUSAL_ACK);
    answer.input_received = 10;
    answer.input_processed = (uint16_t)-1; // 11 behind
    refuse(&pair, &answer, PH_MESSAGES_REFUSAL_ACK);
    answer.input_processed = 3;
    accept(&pair, &answer);
    assert_int_equal(ph_messages_processed_input(pair.ends[1]), 3);
    message_pair_teardown(&pair);
}

static void inputs_that_cannot_be_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    const uint8_t bytes[5] = {1};
    ph_message_section input = {.has_input = true, .has_blob = true, .input_bytes = bytes};
    refuse(&pair, &input, PH_MESSAGES_REFUSAL_ACK); // there is no input 0
    input.input_number = 40000;                     // nor one before
    refuse(&pair, &input, PH_MESSAGES_REFUSAL_ACK);
    input.input_number = 4;
    input.input_size = 5;
    accept(&pair, &input);
    input.has_blob = false;
    accept(&pair, &input);
    input.input_number = 5; // a question about one that has not come
    refuse(&pair, &input, PH_MESSAGES_REFUSAL_ACK);
    input.input_number = 4;
    input.has_blob = true;
    input.input_size = 4; // the same one, shorter
    refuse(&pair, &input, PH_MESSAGES_REFUSAL_CONTRARY);
    message_pair_teardown(&pair);
}

static void fragments_beyond_the_window_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    const uint8_t bytes[PH_MESSAGE_FRAGMENT_SIZE] = {0};
    ph_message_section section = {.fragment_count = 1, .fragments = {fragment_of(32, 0, bytes)}};
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_WINDOW);
    section.fragments[0].sequence = 31;
    accept(&pair, &section);
    section.fragments[0].sequence = 0;
    accept(&pair, &section);
    section.fragments[0].sequence = 33;
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_WINDOW);
    message_pair_teardown(&pair);
}

static void fragments_that_contradict_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    const uint8_t bytes[PH_MESSAGE_FRAGMENT_SIZE] = {1, 2, 3};
    const uint8_t others[PH_MESSAGE_FRAGMENT_SIZE] = {1, 2, 4};
    ph_message_section section = {.fragment_count = 1, .fragments = {fragment_of(5, 3, bytes)}};
    accept(&pair, &section);
    section.fragments[0].bytes = others; // the same one with other bytes
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
    section.fragments[0] = fragment_of(5, 2, bytes); // or of another message
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
    section.fragments[0] = fragment_of(6, 3, bytes); // 2 must follow 3
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
    section.fragments[0] = fragment_of(4, 3, bytes); // 4 or the end of another one stands before 3
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
    section.fragments[0] = fragment_of(4, 0, bytes);
    accept(&pair, &section);
    // Two in one section.
    section = (ph_message_section){
        .fragment_count = 2, .fragments = {fragment_of(10, 7, bytes), fragment_of(11, 7, bytes)}};
    refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
    message_pair_teardown(&pair);
}

// However many fragments a sender sends, no message ever becomes too long.
static void endless_messages_are_refused(void** state)
{
    (void)state;
    message_pair pair;
    message_pair_setup(&pair, NULL);
    const uint8_t bytes[PH_MESSAGE_FRAGMENT_SIZE] = {0};
    for (uint16_t i = 0; i < 16; ++i) {
        ph_message_section section = {.fragment_count = 1,
                                      .fragments = {fragment_of(i, (uint8_t)(15 - i), bytes)}};
        accept(&pair, &section);
        section.fragments[0].sequence = (uint16_t)(i + 1);
        section.fragments[0].left = 15;
        section.fragments[0].size = PH_MESSAGE_FRAGMENT_SIZE;
        if (i < 15) {
            refuse(&pair, &section, PH_MESSAGES_REFUSAL_CONTRARY);
        }
    }
    uint8_t taken[PH_MESSAGE_SIZE_MAX];
    assert_int_equal(ph_messages_receive(pair.ends[1], taken), 15 * PH_MESSAGE_FRAGMENT_SIZE + 5);
    message_pair_teardown(&pair);
}

// Sections of a living exchange with some bits turned, and noise: whatever is believed of it, the end
// that reads them stays sound and goes on.
static void mutations_and_noise_do_no_harm(void** state)
{
    (void)state;
    test_rng rng = {.state = 909};
    message_pair pair;
    message_pair_setup(&pair, NULL);
    for (int i = 0; i < 60000; ++i) {
        const int from = (int)test_rng_below(&rng, 2);
        message_pair_post(&pair, from, 1 + test_rng_below(&rng, 150), (uint32_t)i);
        const uint32_t input = pair.ends[from]->input_number + 1;
        ph_messages_set_input(pair.ends[from], input, "input", test_rng_below(&rng, 6));
        uint8_t bytes[PH_PAYLOAD_MAX];
        size_t size = ph_messages_write_section(pair.ends[from], pair.now_us, sizeof bytes, bytes);
        for (uint64_t turns = test_rng_below(&rng, 4); turns > 0; --turns) {
            bytes[test_rng_below(&rng, size)] ^= (uint8_t)(1u << test_rng_below(&rng, 8));
        }
        if (test_rng_below(&rng, 8) == 0) {
            size = 1 + test_rng_below(&rng, 60);
            message_pair_fill(bytes, size, (uint32_t)i);
        }
        size_t used;
        ph_messages* reader = pair.ends[1 - from];
        const ph_result result = ph_messages_read_section(reader, pair.now_us, bytes, size, &used);
        assert_true(result == PH_OK ? used >= 1 && used <= size : used == 0);
        size_t taken;
        while ((taken = ph_messages_receive(reader, bytes)) > 0) {
            assert_in_range(taken, 1, PH_MESSAGE_SIZE_MAX);
        }
        pair.now_us += test_rng_below(&rng, 100000);
    }
    const ph_messages_stats stats = ph_messages_get_stats(pair.ends[0]);
    for (int i = 0; i < PH_MESSAGES_REFUSAL_COUNT; ++i) {
        assert_true(stats.refused_sections[i] > 0);
        assert_string_not_equal(ph_messages_refusal_name((ph_messages_refusal)i), "unknown");
    }
    assert_string_equal(ph_messages_refusal_name(PH_MESSAGES_REFUSAL_COUNT), "unknown");
    message_pair_teardown(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off_sections_are_refused),
        cmocka_unit_test(spare_bits_are_zero),
        cmocka_unit_test(one_thing_is_said_in_one_way),
        cmocka_unit_test(acks_for_what_was_never_sent_are_refused),
        cmocka_unit_test(answers_about_what_was_never_set_are_refused),
        cmocka_unit_test(inputs_that_cannot_be_are_refused),
        cmocka_unit_test(fragments_beyond_the_window_are_refused),
        cmocka_unit_test(fragments_that_contradict_are_refused),
        cmocka_unit_test(endless_messages_are_refused),
        cmocka_unit_test(mutations_and_noise_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
