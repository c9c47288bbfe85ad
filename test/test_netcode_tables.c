// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The three tables behind a server: pending handshakes, used tokens, connections. Each against a
// plain list, at its limits, and without memory.

#include "netcode_stage.h"

#include "net/netcode_pending.h"
#include "net/netcode_slots.h"
#include "net/netcode_used_tokens.h"

#include <string.h>

static const ph_address_secret the_secret = {.bytes = {4, 5, 6}};

static ph_address numbered(uint32_t number)
{
    const uint8_t bytes[4] = {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};
    return ph_address_make_ipv4(bytes, (uint16_t)(number % 7));
}

// ---- pending

static void a_full_table_forgets_the_client_that_waited_longest(void** state)
{
    (void)state;
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_pending_table table;
    assert_int_equal(
        ph_pending_create(&table, &allocator, &(ph_pending_def){.capacity = 3}, &the_secret),
        PH_OK);
    for (uint32_t i = 0; i < 3; ++i) {
        const ph_address address = numbered(i);
        ph_pending_put(&table, &address, i);
    }
    const ph_address first = numbered(0);
    const ph_address second = numbered(1);
    const ph_address fourth = numbered(3);
    assert_int_equal(ph_pending_put(&table, &first, 0)->client_id, 0); // asks again: the newest now
    assert_int_equal(ph_pending_put(&table, &fourth, 0)->client_id, 0);
    assert_int_equal(table.count, 3);
    assert_null(ph_pending_find(&table, &second));
    assert_non_null(ph_pending_find(&table, &first));
    assert_non_null(ph_pending_find(&table, &fourth));
    assert_true(ph_pending_validate(&table));
    ph_pending_destroy(&table);
    test_memory_assert_clean(&memory);
}

static void entries_lapse_by_their_own_timeouts(void** state)
{
    (void)state;
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_pending_table table;
    assert_int_equal(
        ph_pending_create(&table, &allocator, &(ph_pending_def){.capacity = 8}, &the_secret),
        PH_OK);
    static const int32_t timeouts[] = {5, 1, -1, 0, 3};
    for (uint32_t i = 0; i < 5; ++i) {
        const ph_address address = numbered(i);
        ph_pending* entry = ph_pending_put(&table, &address, 0);
        entry->timeout_s = timeouts[i];
        entry->requested_us = 7000000;
    }
    static const int left[] = {4, 3, 3, 2, 2, 1, 1};
    for (int second = 0; second < 7; ++second) {
        ph_pending_lapse(&table, 7000000 + (uint64_t)second * 1000000);
        assert_int_equal(table.count, left[second]);
        assert_true(ph_pending_validate(&table));
    }
    const ph_address patient = numbered(2);
    assert_non_null(ph_pending_find(&table, &patient));
    ph_pending_clear(&table);
    assert_int_equal(table.count, 0);
    assert_true(ph_pending_validate(&table));
    ph_pending_destroy(&table);
    test_memory_assert_clean(&memory);
}

static void what_is_forgotten_is_wiped(void** state)
{
    (void)state;
    static const uint8_t zeros[PH_NETCODE_KEY_SIZE];
    const ph_allocator allocator = {0};
    ph_pending_table table;
    assert_int_equal(
        ph_pending_create(&table, &allocator, &(ph_pending_def){.capacity = 1}, &the_secret),
        PH_OK);
    const ph_address address = numbered(1);
    ph_pending* entry = ph_pending_put(&table, &address, 0);
    memset(entry->client_to_server_key, 1, PH_NETCODE_KEY_SIZE);
    memset(entry->server_to_client_key, 2, PH_NETCODE_KEY_SIZE);
    ph_pending_remove(&table, entry);
    assert_memory_equal(table.entries[0].client_to_server_key, zeros, sizeof zeros);
    assert_memory_equal(table.entries[0].server_to_client_key, zeros, sizeof zeros);
    ph_pending_destroy(&table);
}

enum { MODEL_CAPACITY = 40, MODEL_ADDRESSES = 100 };

// Puts and removals at random; the model is a list of numbers, oldest first.
static void pending_agrees_with_a_plain_list(void** state)
{
    (void)state;
    const ph_allocator allocator = {0};
    ph_pending_table table;
    assert_int_equal(ph_pending_create(&table, &allocator,
                                       &(ph_pending_def){.capacity = MODEL_CAPACITY}, &the_secret),
                     PH_OK);
    test_rng rng = {.state = 8};
    uint32_t model[MODEL_CAPACITY + 1];
    int count = 0;
    for (int round = 0; round < 20000; ++round) {
        const uint32_t number = (uint32_t)test_rng_below(&rng, MODEL_ADDRESSES);
        const ph_address address = numbered(number);
        int place = 0;
        while (place < count && model[place] != number) {
            ++place;
        }
        ph_pending* found = ph_pending_find(&table, &address);
        assert_int_equal(found != NULL, place < count);
        if (place < count) {
            memmove(model + place, model + place + 1, (size_t)(count - place) * sizeof *model);
            --count;
        }
        if (found != NULL && test_rng_below(&rng, 3) == 0) {
            ph_pending_remove(&table, found);
        } else {
            ph_pending_put(&table, &address, 0);
            if (count == MODEL_CAPACITY) {
                memmove(model, model + 1, (size_t)(--count) * sizeof *model);
            }
            model[count++] = number;
        }
        assert_int_equal(table.count, count);
    }
    assert_true(ph_pending_validate(&table));
    ph_pending_destroy(&table);
}

// Two entries for each of some ids, five for each of some networks; the model is a list, oldest first.
static void groups_make_room_among_themselves(void** state)
{
    (void)state;
    enum { CAPACITY = 30 };
    const ph_allocator allocator = {0};
    ph_pending_table table;
    const ph_pending_def def = {.capacity = CAPACITY, .group_max = {2, 5}};
    assert_int_equal(ph_pending_create(&table, &allocator, &def, &the_secret), PH_OK);
    test_rng rng = {.state = 9};
    ph_pending model[CAPACITY + 1];
    int count = 0;
    for (int round = 0; round < 5000; ++round) {
        const uint8_t bytes[4] = {10, 0, (uint8_t)test_rng_below(&rng, 9),
                                  (uint8_t)test_rng_below(&rng, 9)};
        const ph_pending added = {
            .address = ph_address_make_ipv4(bytes, 1),
            .client_id = test_rng_below(&rng, 30),
        };
        int same_id = 0;
        int same_network = 0;
        int out = -1; // the first, by this order of reasons, that makes room
        for (int i = count - 1; i >= 0; --i) {
            if (ph_address_is_equal(&model[i].address, &added.address)) {
                memmove(model + i, model + i + 1, (size_t)(--count - i) * sizeof *model);
            }
        }
        for (int reason = 0; reason < 3; ++reason) {
            same_id = same_network = 0;
            for (int i = count - 1; i >= 0; --i) {
                same_id += model[i].client_id == added.client_id;
                same_network += model[i].address.bytes[2] == bytes[2];
            }
            for (out = 0; out < count; ++out) {
                if ((same_id >= 2 && model[out].client_id == added.client_id) ||
                    (same_id < 2 && same_network >= 5 && model[out].address.bytes[2] == bytes[2]) ||
                    (same_id < 2 && same_network < 5 && count == CAPACITY)) {
                    memmove(model + out, model + out + 1, (size_t)(--count - out) * sizeof *model);
                    break;
                }
            }
        }
        model[count++] = added;
        assert_int_equal(ph_pending_put(&table, &added.address, added.client_id)->client_id,
                         added.client_id);
        assert_int_equal(table.count, count);
        assert_true(ph_pending_validate(&table));
        for (int i = 0; i < count; ++i) {
            assert_non_null(ph_pending_find(&table, &model[i].address));
        }
    }
    ph_pending_destroy(&table);
}

// ---- used tokens

static void tag_of(uint32_t number, uint8_t tag[PH_NETCODE_TAG_SIZE])
{
    memset(tag, 0, PH_NETCODE_TAG_SIZE);
    memcpy(tag, &number, sizeof number);
}

// As a token of another maker that never expires.
static void add(ph_used_tokens* tokens, const uint8_t tag[PH_NETCODE_TAG_SIZE],
                const ph_address* address)
{
    const ph_token_age age = {.expire_s = UINT64_MAX};
    ph_used_tokens_add(tokens, tag, &age, address, 1);
}

static void the_oldest_token_is_forgotten_first(void** state)
{
    (void)state;
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_used_tokens tokens;
    assert_int_equal(ph_used_tokens_create(&tokens, &allocator, 100, 5), PH_OK);
    const ph_address address = numbered(9);
    for (uint32_t i = 0; i < 1000; ++i) {
        uint8_t tag[PH_NETCODE_TAG_SIZE];
        tag_of(i, tag);
        assert_null(ph_used_tokens_find(&tokens, tag));
        add(&tokens, tag, &address);
        ph_used_tokens_find(&tokens, tag)->is_spent = true;
        for (uint32_t back = 0; back < 102 && back <= i; ++back) {
            tag_of(i - back, tag);
            assert_int_equal(ph_used_tokens_find(&tokens, tag) != NULL, back < 100);
        }
    }
    uint8_t fresh[PH_NETCODE_TAG_SIZE];
    tag_of(5000, fresh);
    add(&tokens, fresh, &address);
    assert_false(ph_used_tokens_find(&tokens, fresh)->is_spent);
    assert_true(ph_used_tokens_validate(&tokens));
    ph_used_tokens_destroy(&tokens);
    test_memory_assert_clean(&memory);
}

// Tokens come in any order; what is forgotten before it has expired is never taken for an unknown one.
static void a_token_that_could_be_used_is_never_forgotten_silently(void** state)
{
    (void)state;
    enum { ADDED = 3000 };
    const ph_allocator allocator = {0};
    ph_used_tokens tokens;
    assert_int_equal(ph_used_tokens_create(&tokens, &allocator, 64, 5), PH_OK);
    const ph_address address = numbered(9);
    test_rng rng = {.state = 12};
    ph_token_age ages[ADDED];
    bool is_added[ADDED];
    uint64_t unix_s = 1000;
    int refused_count = 0;
    int forgotten_count = 0;
    for (uint32_t i = 0; i < ADDED; ++i) {
        unix_s += test_rng_below(&rng, 4) == 0;
        const bool is_dated = test_rng_below(&rng, 3) > 0;
        ages[i] = (ph_token_age){
            .expire_s = unix_s + 1 + test_rng_below(&rng, 60),
            .is_dated = is_dated,
            .made_us = is_dated ? unix_s * 1000000 + test_rng_below(&rng, 4) : 0,
        };
        uint8_t tag[PH_NETCODE_TAG_SIZE];
        tag_of(i, tag);
        is_added[i] = !ph_used_tokens_may_have_forgotten(&tokens, &ages[i]);
        refused_count += !is_added[i];
        if (is_added[i]) {
            ph_used_tokens_add(&tokens, tag, &ages[i], &address, unix_s);
        }
        for (uint32_t k = i < 200 ? 0 : i - 200; k <= i; ++k) {
            tag_of(k, tag);
            if (is_added[k] && ages[k].expire_s > unix_s &&
                ph_used_tokens_find(&tokens, tag) == NULL) {
                ++forgotten_count;
                assert_true(ph_used_tokens_may_have_forgotten(&tokens, &ages[k]));
            }
        }
    }
    assert_true(ph_used_tokens_validate(&tokens));
    assert_true(forgotten_count > 1000); // the table was too small indeed
    assert_in_range(refused_count, 1, ADDED - 500);
    ph_used_tokens_destroy(&tokens);
}

// While there is room for all that last, nothing is refused; of two that never expire, the dated one is safe.
static void expired_tokens_make_room_first(void** state)
{
    (void)state;
    const ph_allocator allocator = {0};
    ph_used_tokens tokens;
    assert_int_equal(ph_used_tokens_create(&tokens, &allocator, 4, 5), PH_OK);
    const ph_address address = numbered(9);
    for (uint32_t i = 0; i < 100; ++i) {
        const ph_token_age age = {.expire_s = 4 + i};
        uint8_t tag[PH_NETCODE_TAG_SIZE];
        tag_of(i, tag);
        ph_used_tokens_add(&tokens, tag, &age, &address, i);
        assert_false(
            ph_used_tokens_may_have_forgotten(&tokens, &(ph_token_age){.expire_s = i + 1}));
    }
    const ph_token_age lasting = {.expire_s = UINT64_MAX, .is_dated = true, .made_us = 7};
    for (uint32_t i = 0; i < 8; ++i) {
        uint8_t tag[PH_NETCODE_TAG_SIZE];
        tag_of(1000 + i, tag);
        ph_used_tokens_add(&tokens, tag, &lasting, &address, 1000);
    }
    const ph_token_age newer = {.expire_s = UINT64_MAX, .is_dated = true, .made_us = 8};
    const ph_token_age undated = {.expire_s = UINT64_MAX};
    assert_true(ph_used_tokens_may_have_forgotten(&tokens, &lasting));
    assert_false(ph_used_tokens_may_have_forgotten(&tokens, &newer));
    assert_false(ph_used_tokens_may_have_forgotten(&tokens, &undated));
    ph_used_tokens_destroy(&tokens);
}

// The map knows eight bytes of a tag; all sixteen count.
static void tags_that_begin_alike_are_told_apart(void** state)
{
    (void)state;
    const ph_allocator allocator = {0};
    ph_used_tokens tokens;
    assert_int_equal(ph_used_tokens_create(&tokens, &allocator, 3, 5), PH_OK);
    const ph_address address = numbered(9);
    for (uint8_t i = 0; i < 20; ++i) {
        uint8_t tag[PH_NETCODE_TAG_SIZE] = {7};
        tag[15] = i;
        assert_null(ph_used_tokens_find(&tokens, tag));
        add(&tokens, tag, &address);
        assert_non_null(ph_used_tokens_find(&tokens, tag));
        assert_true(ph_used_tokens_validate(&tokens));
    }
    // When the one that was overtaken leaves the ring, the one that overtook it stays.
    static const uint8_t beginnings[] = {1, 2, 1, 3};
    uint8_t tag[PH_NETCODE_TAG_SIZE];
    for (uint8_t i = 0; i < 4; ++i) {
        memset(tag, i, sizeof tag);
        memset(tag, beginnings[i], 8);
        add(&tokens, tag, &address);
    }
    memset(tag, 1, 8);
    memset(tag + 8, 2, 8);
    assert_non_null(ph_used_tokens_find(&tokens, tag));
    ph_used_tokens_destroy(&tokens);
}

// ---- slots

static const uint8_t no_user_data[PH_TOKEN_USER_DATA_SIZE];

// All slots, taken and ended at random; the model is an array.
static void slots_agree_with_a_plain_list(void** state)
{
    (void)state;
    enum { CAPACITY = 50, PLAYERS = 80 };
    const ph_allocator allocator = {0};
    ph_net_slots slots;
    assert_int_equal(ph_net_slots_create(&slots, &allocator, CAPACITY, &the_secret), PH_OK);
    test_rng rng = {.state = 21};
    int client_of[PLAYERS];
    memset(client_of, -1, sizeof client_of);
    int connected_count = 0;
    int unheard_count = 0;
    for (int round = 0; round < 20000; ++round) {
        const uint32_t player = (uint32_t)test_rng_below(&rng, PLAYERS);
        const ph_address address = numbered(player);
        assert_int_equal(ph_net_slots_find(&slots, &address), client_of[player]);
        assert_int_equal(ph_net_slots_find_client_id(&slots, player), client_of[player]);
        if (client_of[player] >= 0) {
            ph_net_slots_end(&slots, client_of[player], PH_NET_END_CLIENT);
            client_of[player] = -1;
            --connected_count;
            ++unheard_count;
        } else {
            const int client = ph_net_slots_take(&slots, &address, player, no_user_data);
            assert_int_equal(client >= 0, connected_count + unheard_count < CAPACITY);
            client_of[player] = client;
            connected_count += client >= 0;
        }
        ph_net_event event;
        if (test_rng_below(&rng, 4) > 0 && ph_net_slots_next_event(&slots, &event)) {
            unheard_count -= event.kind == PH_NET_DISCONNECTED;
        }
        assert_int_equal(slots.connected_count, connected_count);
    }
    assert_true(ph_net_slots_validate(&slots));
    ph_net_slots_destroy(&slots);
}

static void keys_are_wiped_at_the_end(void** state)
{
    (void)state;
    static const uint8_t zeros[PH_NETCODE_KEY_SIZE];
    const ph_allocator allocator = {0};
    ph_net_slots slots;
    assert_int_equal(ph_net_slots_create(&slots, &allocator, 1, &the_secret), PH_OK);
    const ph_address address = numbered(1);
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
    memset(user_data, 3, sizeof user_data);
    const int client = ph_net_slots_take(&slots, &address, 5, user_data);
    memset(slots.slots[client].send_key, 1, PH_NETCODE_KEY_SIZE);
    memset(slots.slots[client].receive_key, 2, PH_NETCODE_KEY_SIZE);
    ph_net_slots_end(&slots, client, PH_NET_END_SERVER);
    assert_memory_equal(slots.slots[client].send_key, zeros, sizeof zeros);
    assert_memory_equal(slots.slots[client].receive_key, zeros, sizeof zeros);
    ph_net_event event;
    assert_true(ph_net_slots_next_event(&slots, &event));
    assert_memory_equal(event.user_data, user_data, sizeof user_data);
    assert_true(ph_net_slots_next_event(&slots, &event));
    assert_memory_equal(event.user_data, user_data, sizeof user_data);
    assert_memory_equal(slots.user_data[client], no_user_data, sizeof user_data);
    ph_net_slots_destroy(&slots);
}

// ---- servers and clients without memory

static void every_failing_allocation_leaves_nothing(void** state)
{
    (void)state;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        ph_net_server_def def = ph_net_server_def_default();
        def.private_key[0] = 1;
        def.addresses[0] = numbered(1);
        def.address_count = 1;
        def.allocator = test_memory_allocator(&memory);
        ph_net_server* server = (ph_net_server*)&memory;
        const ph_result result = ph_net_server_create(&def, &server);
        if (result == PH_OK) {
            assert_int_equal(n, 1 + 13); // all were walked
            ph_net_server_destroy(server);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(server);
        test_memory_assert_clean(&memory);
    }
    test_memory memory = {.fail_at = 1};
    ph_net_client_def def = ph_net_client_def_default();
    def.allocator = test_memory_allocator(&memory);
    ph_net_client* client;
    assert_int_equal(ph_net_client_create(&def, &client), PH_ERROR_MEMORY);
    assert_null(client);
    ph_net_client_destroy(client);
    ph_net_server_destroy(NULL);
}

static void a_server_that_cannot_be_is_refused(void** state)
{
    (void)state;
    ph_net_server_def sound = ph_net_server_def_default();
    sound.private_key[0] = 1;
    sound.addresses[0] = numbered(1);
    sound.address_count = 1;
    ph_net_server_def defs[8];
    for (int i = 0; i < 8; ++i) {
        defs[i] = sound;
    }
    defs[0].address_count = 0;
    defs[1].address_count = PH_NET_SERVER_ADDRESSES_MAX + 1;
    defs[2].address_count = 2; // the second is none
    defs[3].client_capacity = 0;
    defs[4].client_capacity = PH_NET_CLIENTS_MAX + 1;
    defs[5].keep_alive_ms = 0;
    defs[6].pending_capacity = -1;
    defs[7].requests_per_second = -1;
    for (int i = 0; i < 8; ++i) {
        ph_net_server* server;
        assert_int_equal(ph_net_server_create(&defs[i], &server), PH_ERROR_ARGUMENT);
        assert_null(server);
    }
}

// Everything that datagrams can bring about, on a counting allocator.
static void nothing_is_allocated_after_creation(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(3);
    const int before = x->memory.allocate_count;
    for (int round = 0; round < 20; ++round) {
        for (int client = 0; client < 5; ++client) { // two too many
            stage_connect(x, client);
        }
        stage_run(x, 300);
        for (int client = 0; client < 5; ++client) {
            ph_net_client_send(x->clients[client], "up", 2);
            ph_net_server_send(x->server, client, "down", 4);
        }
        stage_run(x, 300);
        ph_net_server_disconnect(x->server, round % 3);
        ph_net_client_disconnect(x->clients[round % 5]);
        stage_run(x, 100);
        ph_net_event event;
        while (ph_net_server_next_event(x->server, &event)) {
        }
    }
    assert_in_range(x->server_payloads, 30, 100);
    assert_int_equal(x->memory.allocate_count, before);
    stage_teardown(x);
}

// Sixteen thousand, each with its own keys: found by address, not by looking through all.
static void a_server_fills_to_its_last_slot(void** state)
{
    (void)state;
    const ph_allocator allocator = {0};
    ph_net_slots slots;
    assert_int_equal(ph_net_slots_create(&slots, &allocator, PH_NET_CLIENTS_MAX, &the_secret),
                     PH_OK);
    for (uint32_t i = 0; i < PH_NET_CLIENTS_MAX; ++i) {
        const ph_address address = numbered(i);
        assert_int_equal(ph_net_slots_take(&slots, &address, i, no_user_data), i);
    }
    const ph_address late = numbered(PH_NET_CLIENTS_MAX);
    assert_int_equal(ph_net_slots_take(&slots, &late, PH_NET_CLIENTS_MAX, no_user_data), -1);
    for (uint32_t i = 0; i < PH_NET_CLIENTS_MAX; ++i) {
        const ph_address address = numbered(i);
        assert_int_equal(ph_net_slots_find(&slots, &address), i);
    }
    assert_true(ph_net_slots_validate(&slots));
    ph_net_slots_destroy(&slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_table_forgets_the_client_that_waited_longest),
        cmocka_unit_test(entries_lapse_by_their_own_timeouts),
        cmocka_unit_test(what_is_forgotten_is_wiped),
        cmocka_unit_test(pending_agrees_with_a_plain_list),
        cmocka_unit_test(groups_make_room_among_themselves),
        cmocka_unit_test(the_oldest_token_is_forgotten_first),
        cmocka_unit_test(a_token_that_could_be_used_is_never_forgotten_silently),
        cmocka_unit_test(expired_tokens_make_room_first),
        cmocka_unit_test(tags_that_begin_alike_are_told_apart),
        cmocka_unit_test(slots_agree_with_a_plain_list),
        cmocka_unit_test(keys_are_wiped_at_the_end),
        cmocka_unit_test(every_failing_allocation_leaves_nothing),
        cmocka_unit_test(a_server_that_cannot_be_is_refused),
        cmocka_unit_test(nothing_is_allocated_after_creation),
        cmocka_unit_test(a_server_fills_to_its_last_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
