// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"
#include "net/netcode_packet.h"

#include <string.h>

static const uint8_t the_key[PH_NETCODE_KEY_SIZE] = {1, 2, 3};
static const ph_netcode_lock the_lock = {.protocol_id = 99, .key = the_key};

typedef struct sealed_packet {
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
    size_t size;
} sealed_packet;

static sealed_packet seal(ph_netcode_type type, uint64_t sequence, size_t data_size)
{
    static const uint8_t data[PH_NETCODE_PAYLOAD_MAX] = {9, 8, 7};
    sealed_packet made;
    made.size = ph_netcode_seal(&the_lock, type, sequence, data, data_size, made.bytes);
    return made;
}

static ph_net_refusal open_with(const ph_netcode_lock* lock, ph_netcode_replay* replay,
                                sealed_packet packet)
{
    ph_netcode_opened opened;
    return ph_netcode_open(lock, replay, packet.bytes, packet.size, &opened);
}

static ph_net_refusal open_packet(sealed_packet packet)
{
    return open_with(&the_lock, NULL, packet);
}

// ---- layout

static void a_sequence_takes_as_few_bytes_as_it_needs(void** state)
{
    (void)state;
    const sealed_packet thousand = seal(PH_NETCODE_PAYLOAD, 1000, 1);
    assert_int_equal(thousand.bytes[0], 0x25);
    assert_int_equal(thousand.bytes[1], 0xE8);
    assert_int_equal(thousand.bytes[2], 0x03);
    assert_int_equal(seal(PH_NETCODE_PAYLOAD, 0, 1).bytes[0], 0x15);
    for (int bytes = 1; bytes <= 8; ++bytes) {
        const uint64_t largest = UINT64_MAX >> (64 - 8 * bytes);
        assert_int_equal(seal(PH_NETCODE_PAYLOAD, largest, 1).bytes[0] >> 4, bytes);
        assert_int_equal(seal(PH_NETCODE_PAYLOAD, largest, 1).size, 1 + (size_t)bytes + 1 + 16);
        if (bytes < 8) {
            assert_int_equal(seal(PH_NETCODE_PAYLOAD, largest + 1, 1).bytes[0] >> 4, bytes + 1);
        }
    }
}

static void every_type_opens_with_the_size_that_it_has(void** state)
{
    (void)state;
    static const size_t least[] = {[PH_NETCODE_CHALLENGE] = 308,
                                   [PH_NETCODE_RESPONSE] = 308,
                                   [PH_NETCODE_KEEP_ALIVE] = 8,
                                   [PH_NETCODE_PAYLOAD] = 1,
                                   [PH_NETCODE_DISCONNECT] = 0};
    static const size_t most[] = {
        [PH_NETCODE_DENIED] = 1, // ours give a reason
        [PH_NETCODE_CHALLENGE] = 308, [PH_NETCODE_RESPONSE] = 308, [PH_NETCODE_KEEP_ALIVE] = 8,
        [PH_NETCODE_PAYLOAD] = 1200,  [PH_NETCODE_DISCONNECT] = 0};
    for (int type = PH_NETCODE_DENIED; type < PH_NETCODE_TYPE_COUNT; ++type) {
        for (size_t size = 0; size <= PH_NETCODE_PAYLOAD_MAX; ++size) {
            const bool fits = size >= least[type] && size <= most[type];
            assert_int_equal(open_packet(seal((ph_netcode_type)type, 7, size)),
                             fits ? PH_NET_REFUSAL_NONE : PH_NET_REFUSAL_DATA_SIZE);
        }
    }
}

// ---- refusals

static void the_shortest_has_18_bytes(void** state)
{
    (void)state;
    for (size_t size = 0; size <= 18; ++size) {
        uint8_t bytes[18] = {0x16};
        ph_netcode_opened opened;
        assert_int_equal(ph_netcode_open(&the_lock, NULL, bytes, size, &opened),
                         size < 18 ? PH_NET_REFUSAL_SIZE : PH_NET_REFUSAL_SEAL);
    }
    // Eight sequence bytes need 25.
    for (size_t size = 18; size <= 25; ++size) {
        uint8_t bytes[25] = {0x86};
        ph_netcode_opened opened;
        assert_int_equal(ph_netcode_open(&the_lock, NULL, bytes, size, &opened),
                         size < 25 ? PH_NET_REFUSAL_SIZE : PH_NET_REFUSAL_SEAL);
    }
}

static void the_longest_has_1225_bytes(void** state)
{
    (void)state;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1] = {0x85};
    ph_netcode_opened peeked;
    assert_int_equal(ph_netcode_peek(bytes, sizeof bytes - 1, &peeked), PH_NET_REFUSAL_NONE);
    assert_int_equal(ph_netcode_peek(bytes, sizeof bytes, &peeked), PH_NET_REFUSAL_SIZE);
}

static void every_other_prefix_is_refused(void** state)
{
    (void)state;
    for (int prefix = 0; prefix < 256; ++prefix) {
        uint8_t bytes[100] = {(uint8_t)prefix};
        ph_netcode_opened peeked;
        ph_net_refusal expected = PH_NET_REFUSAL_NONE;
        if ((prefix & 15) == 0 || (prefix & 15) > 6) {
            expected = PH_NET_REFUSAL_TYPE;
        } else if (prefix >> 4 == 0 || prefix >> 4 > 8) {
            expected = PH_NET_REFUSAL_SEQUENCE_BYTES;
        }
        assert_int_equal(ph_netcode_peek(bytes, sizeof bytes, &peeked), expected);
    }
}

static void no_bit_can_be_changed(void** state)
{
    (void)state;
    static const size_t sizes[] = {0, 0, 308, 308, 8, 50, 0};
    for (int type = PH_NETCODE_DENIED; type < PH_NETCODE_TYPE_COUNT; ++type) {
        const sealed_packet whole = seal((ph_netcode_type)type, 70000, sizes[type]);
        assert_int_equal(open_packet(whole), PH_NET_REFUSAL_NONE);
        for (size_t bit = 0; bit < whole.size * 8; ++bit) {
            sealed_packet changed = whole;
            changed.bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            assert_int_not_equal(open_packet(changed), PH_NET_REFUSAL_NONE);
        }
        for (size_t size = 0; size < whole.size; ++size) {
            sealed_packet cut = whole;
            cut.size = size;
            assert_int_not_equal(open_packet(cut), PH_NET_REFUSAL_NONE);
        }
    }
}

static void another_key_or_protocol_does_not_open(void** state)
{
    (void)state;
    uint8_t key[PH_NETCODE_KEY_SIZE];
    memcpy(key, the_key, sizeof key);
    key[31] ^= 1;
    const ph_netcode_lock other_key = {.protocol_id = 99, .key = key};
    const ph_netcode_lock other_protocol = {.protocol_id = 98, .key = the_key};
    const sealed_packet packet = seal(PH_NETCODE_PAYLOAD, 3, 20);
    assert_int_equal(open_with(&other_key, NULL, packet), PH_NET_REFUSAL_SEAL);
    assert_int_equal(open_with(&other_protocol, NULL, packet), PH_NET_REFUSAL_SEAL);
}

// ---- replays

static void a_number_is_taken_once(void** state)
{
    (void)state;
    ph_netcode_replay replay = {0};
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_PAYLOAD, 0, 9)),
                     PH_NET_REFUSAL_NONE);
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_PAYLOAD, 0, 9)),
                     PH_NET_REFUSAL_REPLAYED);
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_KEEP_ALIVE, 0, 8)),
                     PH_NET_REFUSAL_REPLAYED);
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_DISCONNECT, 0, 0)),
                     PH_NET_REFUSAL_REPLAYED);
    // Those of the handshake are not counted.
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_DENIED, 0, 0)),
                     PH_NET_REFUSAL_NONE);
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_CHALLENGE, 0, 308)),
                     PH_NET_REFUSAL_NONE);
}

static void a_forged_packet_does_not_move_the_window(void** state)
{
    (void)state;
    ph_netcode_replay replay = {0};
    sealed_packet forged = seal(PH_NETCODE_PAYLOAD, 100000, 9);
    forged.bytes[forged.size - 1] ^= 1;
    assert_int_equal(open_with(&the_lock, &replay, forged), PH_NET_REFUSAL_SEAL);
    assert_int_equal(replay.newest, 0);
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_PAYLOAD, 0, 9)),
                     PH_NET_REFUSAL_NONE);
}

// As in the standard: open, advance the window, then look at the size.
static void a_genuine_packet_of_a_wrong_size_moves_it(void** state)
{
    (void)state;
    ph_netcode_replay replay = {0};
    assert_int_equal(open_with(&the_lock, &replay, seal(PH_NETCODE_KEEP_ALIVE, 5, 9)),
                     PH_NET_REFUSAL_DATA_SIZE);
    assert_int_equal(replay.newest, 5);
}

static void the_window_is_256_wide(void** state)
{
    (void)state;
    ph_netcode_replay replay = {0};
    ph_netcode_replay_add(&replay, 1000);
    assert_true(ph_netcode_replay_has(&replay, 1000 - 256));
    assert_false(ph_netcode_replay_has(&replay, 1000 - 255));
    assert_true(ph_netcode_replay_has(&replay, 0));
    assert_false(ph_netcode_replay_has(&replay, 1001));

    replay = (ph_netcode_replay){0};
    ph_netcode_replay_add(&replay, 255);
    assert_false(ph_netcode_replay_has(&replay, 0)); // 255 is not 256 behind
    ph_netcode_replay_add(&replay, 256);
    assert_true(ph_netcode_replay_has(&replay, 0));
    assert_false(ph_netcode_replay_has(&replay, 1));
}

static void the_window_reaches_the_last_number(void** state)
{
    (void)state;
    ph_netcode_replay replay = {0};
    ph_netcode_replay_add(&replay, UINT64_MAX - 1);
    assert_false(ph_netcode_replay_has(&replay, UINT64_MAX));
    assert_false(ph_netcode_replay_has(&replay, UINT64_MAX - 200));
    ph_netcode_replay_add(&replay, UINT64_MAX);
    assert_true(ph_netcode_replay_has(&replay, UINT64_MAX));
    assert_true(ph_netcode_replay_has(&replay, UINT64_MAX - 1));
    assert_true(ph_netcode_replay_has(&replay, UINT64_MAX - 256));
    assert_false(ph_netcode_replay_has(&replay, UINT64_MAX - 255));
    assert_true(ph_netcode_replay_has(&replay, 0));
}

// Against a list of all numbers ever taken.
static void the_window_remembers_exactly(void** state)
{
    (void)state;
    static uint8_t taken[4096];
    test_rng rng = {.state = 11};
    for (int round = 0; round < 60; ++round) {
        memset(taken, 0, sizeof taken);
        ph_netcode_replay replay = {0};
        uint64_t newest = 0;
        // Near the beginning, and where sums overflow.
        const uint64_t base = round % 2 == 0 ? 0 : UINT64_MAX - 4095;
        while (newest < 3400) {
            const uint64_t reach = test_rng_below(&rng, 10) == 0 ? 600 : 40;
            const uint64_t low = newest > 300 ? newest - 300 : 0;
            const uint64_t number = low + test_rng_below(&rng, newest - low + reach);
            const bool is_old = newest >= 256 && number <= newest - 256;
            const bool is_known = taken[number] != 0 || is_old;
            const bool has = ph_netcode_replay_has(&replay, base + number);
            if (base == 0 || newest > 0) {
                assert_int_equal(has, is_known);
            }
            if (!has) {
                ph_netcode_replay_add(&replay, base + number);
                taken[number] = 1;
                newest = number > newest ? number : newest;
            }
        }
    }
}

static void refusals_have_names(void** state)
{
    (void)state;
    for (int i = 0; i < PH_NET_REFUSAL_COUNT; ++i) {
        const char* name = ph_net_refusal_name((ph_net_refusal)i);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (int j = 0; j < i; ++j) {
            assert_string_not_equal(name, ph_net_refusal_name((ph_net_refusal)j));
        }
    }
    assert_string_equal(ph_net_refusal_name(PH_NET_REFUSAL_COUNT), "unknown");
}

int main(void)
{
    ph_netcode_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_takes_as_few_bytes_as_it_needs),
        cmocka_unit_test(every_type_opens_with_the_size_that_it_has),
        cmocka_unit_test(the_shortest_has_18_bytes),
        cmocka_unit_test(the_longest_has_1225_bytes),
        cmocka_unit_test(every_other_prefix_is_refused),
        cmocka_unit_test(no_bit_can_be_changed),
        cmocka_unit_test(another_key_or_protocol_does_not_open),
        cmocka_unit_test(a_number_is_taken_once),
        cmocka_unit_test(a_forged_packet_does_not_move_the_window),
        cmocka_unit_test(a_genuine_packet_of_a_wrong_size_moves_it),
        cmocka_unit_test(the_window_is_256_wide),
        cmocka_unit_test(the_window_reaches_the_last_number),
        cmocka_unit_test(the_window_remembers_exactly),
        cmocka_unit_test(refusals_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
