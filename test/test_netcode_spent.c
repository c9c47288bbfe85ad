// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The spent-tokens file: what a server knows after a restart, whatever has become of the file.

#define _GNU_SOURCE // mkdtemp, limits

#include "netcode_stage.h"

#include "net/net_tools.h"
#include "net/netcode_server_state.h"
#include "net/netcode_spent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[96];
static char new_path[104];
static ph_error last_error;

static netcode_stage* begin(void)
{
    unlink(path);
    netcode_stage* x = stage_setup(4);
    last_error = (ph_error){0};
    x->server_def.spent_tokens_path = path;
    x->server_def.on_error = ph_error_keep;
    x->server_def.on_error_context = &last_error;
    stage_remake_server(x);
    return x;
}

typedef uint8_t token_bytes[PH_TOKEN_SIZE];

// Of client 0's player, and the following ones. An undated one is as of another maker.
static void make_token(const netcode_stage* x, int player, bool is_dated, token_bytes token)
{
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + (uint64_t)player);
    def.lifetime_s = 1000;
    ph_token_secrets secrets;
    memset(&secrets, player + 1, sizeof secrets);
    assert_int_equal(
        is_dated ? ph_token_write(&def, token) : ph_token_write_with(&def, &secrets, token), PH_OK);
}

static bool gets_in(netcode_stage* x, int client, const token_bytes token)
{
    ph_net_client_connect(x->clients[client], token, PH_TOKEN_SIZE, x->now_us);
    stage_deliver(x);
    return stage_state(x, client) == PH_NET_CLIENT_CONNECTED;
}

// Killed, and started again a second later. The lock of a process goes with it.
static void restart(netcode_stage* x)
{
    x->queue_count = 0;
    ++x->unix_s;
    stage_remake_server(x);
}

static long size_of_file(void)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (long)about.st_size;
}

static void change_file(long place, int change)
{
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, place, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, place, SEEK_SET);
    fputc(byte ^ change, file);
    fclose(file);
}

// ---- what it is for

static void a_spent_token_stays_spent_after_a_restart(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    token_bytes tokens[4];
    for (int i = 0; i < 4; ++i) {
        make_token(x, i, i % 2 == 0, tokens[i]);
    }
    assert_true(gets_in(x, 0, tokens[0]));
    assert_true(gets_in(x, 1, tokens[1]));
    for (int round = 0; round < 3; ++round) {
        restart(x);
        assert_false(gets_in(x, 0, tokens[0]));
        assert_false(gets_in(x, 1, tokens[1]));
        x->ports[0].address.port += 100; // from another port, too
        x->ports[1].address.port += 100;
        assert_false(gets_in(x, 0, tokens[0]));
        assert_false(gets_in(x, 1, tokens[1]));
        assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_USED), 4);
    }
    // Those that were not spent outlive the server.
    assert_true(gets_in(x, 2, tokens[2]));
    assert_true(gets_in(x, 3, tokens[3]));
    assert_int_equal(last_error.result, PH_OK);
    stage_teardown(x);
}

// The same server: a client comes back with its token, as the standard has it, and there is one record of it.
static void a_token_used_again_is_noted_once(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    token_bytes token;
    make_token(x, 0, true, token);
    for (int round = 0; round < 3; ++round) {
        assert_true(gets_in(x, 0, token));
        ph_net_client_disconnect(x->clients[0]);
        stage_deliver(x);
    }
    assert_int_equal(size_of_file(), 2 * PH_SPENT_RECORD_SIZE);
    stage_teardown(x);
}

// It does not know what was spent before it was made.
static void a_new_file_takes_no_token_of_before(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    token_bytes token;
    make_token(x, 0, true, token);
    ph_net_server_destroy(x->server);
    x->server = NULL;
    assert_int_equal(unlink(path), 0);
    restart(x);
    assert_false(gets_in(x, 0, token));
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_OLD), 1);
    // Nor does it forget that it is new.
    restart(x);
    assert_false(gets_in(x, 0, token));
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_OLD), 1);
    stage_teardown(x);
}

static void what_has_expired_goes_at_the_start(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    stage_join(x, 0); // for 30 s
    token_bytes token;
    make_token(x, 1, true, token);
    assert_true(gets_in(x, 1, token));
    assert_int_equal(size_of_file(), 3 * PH_SPENT_RECORD_SIZE);
    x->unix_s += 100;
    restart(x);
    assert_int_equal(size_of_file(), 2 * PH_SPENT_RECORD_SIZE);
    assert_false(gets_in(x, 1, token));
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(stat(new_path, &about), -1);
    stage_teardown(x);
}

// The tick waits for what is written: one record for each connection, and no more until the next start.
static void a_long_run_adds_a_record_for_each_connection(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    x->server_def.used_token_capacity = 4;
    restart(x);
    for (int round = 0; round < 100; ++round) {
        stage_join(x, 0);
        ph_net_client_disconnect(x->clients[0]);
        stage_deliver(x);
        ph_net_event event;
        while (ph_net_server_next_event(x->server, &event)) {
        }
        x->unix_s += 15; // two or three tokens last
        stage_step(x);
        assert_int_equal(size_of_file(), (2 + round) * PH_SPENT_RECORD_SIZE);
    }
    restart(x);
    assert_in_range(size_of_file(), 1, 4 * PH_SPENT_RECORD_SIZE);
    stage_teardown(x);
}

// The clock is wrong at one start: what was dropped as expired then is not let in again.
static void a_clock_ahead_at_one_start_frees_no_spent_token(void** state)
{
    (void)state;
    for (int is_dated = 0; is_dated < 2; ++is_dated) {
        netcode_stage* x = begin();
        token_bytes token;
        make_token(x, 0, is_dated != 0, token);
        assert_true(gets_in(x, 0, token));
        x->unix_s += 86400;
        restart(x);
        assert_int_equal(size_of_file(), PH_SPENT_RECORD_SIZE);
        x->unix_s -= 86400;
        restart(x);
        assert_false(gets_in(x, 0, token));
        restart(x);
        assert_false(gets_in(x, 0, token));
        assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_OLD), 1);
        stage_teardown(x);
    }
}

// The clock is wrong when the file is made: it keeps no newcomer out once the clock is right.
static void a_file_made_by_a_clock_ahead_locks_nobody_out(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    ph_net_server_destroy(x->server);
    x->server = NULL;
    assert_int_equal(unlink(path), 0);
    x->unix_s += 86400 * 365;
    restart(x);
    x->unix_s -= 86400 * 365;
    restart(x);
    ++x->unix_s;
    stage_step(x);
    token_bytes token;
    make_token(x, 0, true, token);
    assert_true(gets_in(x, 0, token));
    stage_teardown(x);
}

// ---- what may become of it

static void damaged_records_are_left_out_and_it_is_said(void** state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        netcode_stage* x = begin();
        token_bytes tokens[4];
        for (int i = 0; i < 4; ++i) {
            make_token(x, i, i != 2, tokens[i]);
        }
        for (int i = 0; i < 3; ++i) {
            assert_true(gets_in(x, i, tokens[i]));
        }
        if (kind == 0) {
            change_file(2 * PH_SPENT_RECORD_SIZE + 3, 1); // the second record
        } else if (kind == 1) {
            assert_int_equal(truncate(path, size_of_file() - 5), 0); // the third
        } else {
            change_file(17, 1); // the header
        }
        restart(x);
        assert_int_equal(last_error.result, PH_ERROR_VALUE);
        assert_non_null(strstr(last_error.text, "1 records are damaged"));
        // Which one is lost, the file cannot say: so all dated ones of before are refused.
        for (int i = 0; i < 4; ++i) {
            assert_int_equal(gets_in(x, i, tokens[i]), kind == 1 && i == 2);
        }
        // From then on it is whole again.
        last_error = (ph_error){0};
        restart(x);
        assert_int_equal(last_error.result, PH_OK);
        assert_false(gets_in(x, 0, tokens[0]));
        stage_teardown(x);
    }
}

static ph_result try_to_create(const netcode_stage* x)
{
    ph_net_server* server;
    const ph_result result = ph_net_server_create(&x->server_def, &server);
    ph_net_server_destroy(server);
    return result;
}

static void other_files_are_refused_and_stay(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    ph_net_server_destroy(x->server);
    change_file(8, 2); // the version
    assert_int_equal(try_to_create(x), PH_ERROR_ARGUMENT);
    change_file(8, 2);
    assert_int_equal(try_to_create(x), PH_OK);
    change_file(0, 2); // what it is
    assert_int_equal(try_to_create(x), PH_ERROR_ARGUMENT);
    assert_int_equal(size_of_file(), PH_SPENT_RECORD_SIZE);
    x->server_def.spent_tokens_path = folder;
    assert_int_equal(try_to_create(x), PH_ERROR_SYSTEM);
    assert_string_equal(last_error.field, "ph_net_server_def.spent_tokens_path");
    unlink(path);
    x->server_def.spent_tokens_path = path;
    stage_remake_server((x->server = NULL, x));
    stage_teardown(x);
}

static void two_servers_cannot_have_one_file(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    assert_int_equal(try_to_create(x), PH_ERROR_TAKEN);
    stage_join(x, 0);
    assert_int_equal(try_to_create(x), PH_ERROR_TAKEN);
    stage_teardown(x);
}

// The disk is full, and then it is not.
static void without_a_record_nobody_is_let_in(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit usual;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    const struct rlimit full = {
        .rlim_cur = PH_SPENT_RECORD_SIZE + 7,
        .rlim_max = usual.rlim_max,
    };
    token_bytes token;
    make_token(x, 0, true, token);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    const bool is_in = gets_in(x, 0, token);
    const bool is_in_later = (stage_run(x, 500), stage_state(x, 0) == PH_NET_CLIENT_CONNECTED);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_false(is_in);
    assert_false(is_in_later);
    assert_int_equal(last_error.result, PH_ERROR_SYSTEM);
    assert_non_null(strstr(last_error.text, "newcomers are refused"));
    assert_in_range(stage_refused(x, PH_NET_REFUSAL_SPENT_TOKENS), 5, 6);
    assert_int_equal(size_of_file(), PH_SPENT_RECORD_SIZE + 7); // a piece of a record
    stage_run(x, 200);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    last_error = (ph_error){0};
    restart(x);
    assert_int_equal(last_error.result, PH_OK); // it was written over
    assert_false(gets_in(x, 0, token));
    stage_teardown(x);
}

// A folder in which nothing can be made: the file cannot be written anew, and a new one has no beginning yet.
static void without_a_beginning_nobody_is_let_in(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    ph_net_server_destroy(x->server);
    unlink(path);
    assert_int_equal(mkdir(new_path, 0700), 0); // in the way of the new one
    x->server = NULL;
    stage_remake_server(x);
    assert_int_equal(last_error.result, PH_ERROR_SYSTEM);
    stage_connect(x, 0);
    stage_run(x, 300);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    assert_int_equal(rmdir(new_path), 0);
    stage_run(x, 300); // tried once a second, not for every response
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    stage_run(x, 1000);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(size_of_file(), 2 * PH_SPENT_RECORD_SIZE);
    stage_teardown(x);
}

static void no_failing_allocation_keeps_the_file(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    stage_join(x, 0);
    ph_net_server_destroy(x->server);
    x->server = NULL;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        ph_net_server_def def = x->server_def;
        def.allocator = test_memory_allocator(&memory);
        ph_net_server* server;
        const ph_result result = ph_net_server_create(&def, &server);
        ph_net_server_destroy(server);
        test_memory_assert_clean(&memory);
        if (result == PH_OK) {
            assert_int_equal(n, 1 + 15);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY); // never PH_ERROR_TAKEN: it was closed
    }
    stage_remake_server(x);
    stage_teardown(x);
}

static int make_folder(void** state)
{
    (void)state;
    const char* parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/ph_spent_XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/tokens", folder);
    snprintf(new_path, sizeof new_path, "%s.new", path);
    return 0;
}

static int remove_folder(void** state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spent_token_stays_spent_after_a_restart),
        cmocka_unit_test(a_token_used_again_is_noted_once),
        cmocka_unit_test(a_new_file_takes_no_token_of_before),
        cmocka_unit_test(what_has_expired_goes_at_the_start),
        cmocka_unit_test(a_long_run_adds_a_record_for_each_connection),
        cmocka_unit_test(a_clock_ahead_at_one_start_frees_no_spent_token),
        cmocka_unit_test(a_file_made_by_a_clock_ahead_locks_nobody_out),
        cmocka_unit_test(damaged_records_are_left_out_and_it_is_said),
        cmocka_unit_test(other_files_are_refused_and_stay),
        cmocka_unit_test(two_servers_cannot_have_one_file),
        cmocka_unit_test(without_a_record_nobody_is_let_in),
        cmocka_unit_test(without_a_beginning_nobody_is_let_in),
        cmocka_unit_test(no_failing_allocation_keeps_the_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
