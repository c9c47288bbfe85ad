// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The keys that tokens are sealed with, and their change while a server runs.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE // chmod, unsetenv
#endif

#include "netcode_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OLD = 0x5A, NEW = 0xA5, OTHER = 0x77 };

static void fill_key(uint8_t key[PH_NETCODE_KEY_SIZE], int value)
{
    memset(key, value, PH_NETCODE_KEY_SIZE);
}

// Client begins to connect, with a token sealed with this key.
static void connect_by(netcode_stage* x, int client, int key)
{
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + (uint64_t)client);
    fill_key(def.private_key, key);
    def.is_insecure_dev = key == 0;
    stage_connect_with(x, client, &def);
}

static bool gets_in(netcode_stage* x, int client, int key)
{
    connect_by(x, client, key);
    stage_deliver(x);
    return stage_state(x, client) == PH_NET_CLIENT_CONNECTED;
}

// second 0: none.
static void set_keys(netcode_stage* x, int first, int second)
{
    uint8_t keys[2][PH_NETCODE_KEY_SIZE];
    fill_key(keys[0], first);
    fill_key(keys[1], second);
    ph_net_server_set_keys(x->server, keys[0], second != 0 ? keys[1] : NULL);
}

static void tokens_of_both_keys_are_let_in(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    fill_key(x->server_def.second_key, NEW);
    x->server_def.has_second_key = true;
    stage_remake_server(x);
    assert_true(gets_in(x, 0, OLD));
    assert_true(gets_in(x, 1, NEW));
    assert_false(gets_in(x, 2, OTHER));
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_SEAL), 1);
    stage_teardown(x);
}

// A second key that was not asked for is none, whatever its bytes are: zeros, too.
static void a_second_key_counts_only_when_it_is_said(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    fill_key(x->server_def.second_key, NEW);
    stage_remake_server(x);
    assert_false(gets_in(x, 0, NEW));
    set_keys(x, OLD, 0);
    assert_false(gets_in(x, 1, 0));
    stage_teardown(x);
}

static void a_key_is_changed_while_the_server_runs(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    assert_true(gets_in(x, 0, OLD));
    assert_false(gets_in(x, 1, NEW));
    set_keys(x, OLD, NEW);
    assert_true(gets_in(x, 2, OLD));
    assert_true(gets_in(x, 3, NEW));
    set_keys(x, NEW, 0);
    assert_false(gets_in(x, 4, OLD));
    assert_true(gets_in(x, 5, NEW));
    stage_run(x, 5000); // more than the timeout
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(stage_state(x, 2), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

// Between request and response: who came with a key that stays gets in, whichever place it has now.
static void a_handshake_lives_as_long_as_its_key(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    set_keys(x, OLD, NEW);
    connect_by(x, 0, OLD);
    connect_by(x, 1, NEW);
    const stage_datagram requests[2] = {x->queue[0], x->queue[1]};
    x->queue_count = 0;
    for (int i = 0; i < 2; ++i) {
        stage_hand_to_server(x, &requests[i].from, requests[i].bytes, requests[i].size);
    }
    set_keys(x, NEW, OTHER);
    assert_int_equal(ph_net_server_get_stats(x->server).pending_count, 1);
    set_keys(x, OTHER, NEW);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

// ---- keys in files

static const char* write_key_file(const char* text, mode_t mode)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/pinhole-test-key-%ld", (long)getpid());
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void expect_no_key(const char* path, ph_result result, const char* sentence)
{
    static const uint8_t zeros[PH_NETCODE_KEY_SIZE];
    uint8_t key[PH_NETCODE_KEY_SIZE];
    fill_key(key, 7);
    ph_error error = {0};
    assert_int_equal(ph_key_read_file(path, key, &error), result);
    if (strstr(error.text, sentence) == NULL) {
        fail_msg("%s", error.text);
    }
    assert_memory_equal(key, zeros, sizeof key);
    assert_int_equal(ph_key_read_file(path, key, NULL), result);
}

#define EIGHT "0123abCD"
#define SIXTY_FOUR EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT

static void a_key_is_read_from_a_file_of_its_owner(void** state)
{
    (void)state;
    static const uint8_t start[] = {0x01, 0x23, 0xAB, 0xCD};
    uint8_t key[PH_NETCODE_KEY_SIZE] = {0};
    const char* path = write_key_file(SIXTY_FOUR "\n", 0600);
    assert_int_equal(ph_key_read_file(path, key, NULL), PH_OK);
    for (int i = 0; i < PH_NETCODE_KEY_SIZE; ++i) {
        assert_int_equal(key[i], start[i % 4]);
    }
    unsetenv("CREDENTIALS_DIRECTORY");
    write_key_file(SIXTY_FOUR, 0640);
    expect_no_key(path, PH_ERROR_ARGUMENT, " has mode 0640, others could read or change it");
    write_key_file(SIXTY_FOUR, 0604);
    expect_no_key(path, PH_ERROR_ARGUMENT, "'chmod 600' it");
    chmod(path, 0600);
    write_key_file(SIXTY_FOUR "ab", 0600);
    expect_no_key(path, PH_ERROR_TEXT, "it must hold 64 hexadecimal digits");
    write_key_file(SIXTY_FOUR "   \n", 0600);
    expect_no_key(path, PH_ERROR_TEXT, "it must hold 64 hexadecimal digits");
    write_key_file("a key of 32 bytes for the tests", 0600);
    expect_no_key(path, PH_ERROR_TEXT, "'pinhole token --make-key FILE'");
    write_key_file("0000000000000000000000000000000000000000000000000000000000000000", 0600);
    expect_no_key(path, PH_ERROR_TEXT, "is all zeros, which everybody can guess");
    unlink(path);
    expect_no_key(path, PH_ERROR_SYSTEM, " cannot be read: No such file or directory");
    expect_no_key("/dev/null", PH_ERROR_ARGUMENT, "it must be a file or a pipe");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_both_keys_are_let_in),
        cmocka_unit_test(a_second_key_counts_only_when_it_is_said),
        cmocka_unit_test(a_key_is_changed_while_the_server_runs),
        cmocka_unit_test(a_handshake_lives_as_long_as_its_key),
        cmocka_unit_test(a_key_is_read_from_a_file_of_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
