// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The transport over NATS against real servers: order, records, servers that die or freeze, refusals. Skipped where
// there is no nats-server.

#define _POSIX_C_SOURCE 200809L

#include "support/nats_servers.h"
#include "support/test_support.h"

#include <pinhole/bus/nats.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 20000 }; // until a test gives up: far more than it takes

// ---- helpers ---------------------------------------------------------------------------------------

static nats_servers shared; // one server for all tests that do not disturb it

static int start_shared(void** state)
{
    (void)state;
    if (nats_servers_are_there()) {
        nats_servers_start(&shared, &(nats_servers_def){.count = 1});
    }
    return 0;
}

static int end_shared(void** state)
{
    (void)state;
    nats_servers_end(&shared);
    return 0;
}

static void need_servers(void)
{
    if (!nats_servers_are_there()) {
        skip();
    }
}

// What on_error was told, and where.
typedef struct complaints {
    ph_error last;
    int count;
    bool was_other_thread;
    pthread_t owner;
} complaints;

static void keep_complaint(void* context, const ph_error* error)
{
    complaints* told = context;
    told->last = *error;
    told->count += 1;
    told->was_other_thread = told->was_other_thread || !pthread_equal(pthread_self(), told->owner);
}

static ph_nats_def def_for(const char* servers, complaints* told)
{
    *told = (complaints){.owner = pthread_self()};
    ph_nats_def def = ph_nats_def_default();
    def.servers = servers;
    def.on_error = keep_complaint;
    def.on_error_context = told;
    return def;
}

typedef struct end {
    ph_nats* nats;
    ph_bus_transport t;
    complaints told;
} end;

static void open_with(end* e, ph_nats_def def)
{
    const ph_result result = ph_nats_open(&def, &e->nats);
    if (result != PH_OK) {
        fail_msg("%s", e->told.last.text);
    }
    e->t = ph_nats_transport(e->nats);
}

static void open_end(end* e, const char* servers)
{
    open_with(e, def_for(servers, &e->told));
}

static void close_end(end* e)
{
    ph_nats_close(e->nats);
    assert_false(e->told.was_other_thread);
}

static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L}, NULL);
}

// -1: nothing came.
static int next_number(end* e, int patience_ms)
{
    ph_bus_message message;
    for (int waited_ms = 0; !e->t.next(e->t.context, &message); ++waited_ms) {
        if (waited_ms >= patience_ms) {
            return -1;
        }
        wait_ms(1);
    }
    int number;
    assert_true(message.size >= sizeof number);
    memcpy(&number, message.bytes, sizeof number);
    return number;
}

static bool publish_number(end* e, const char* subject, int number)
{
    return e->t.publish(e->t.context, subject, &number, sizeof number);
}

// A subscription is under way for a while: until one of these comes.
static void await_path(end* from, end* to, const char* subject)
{
    for (int i = 0; i < WAIT_MS / 5; ++i) {
        publish_number(from, subject, -7);
        if (next_number(to, 5) == -7) {
            while (next_number(to, 50) == -7) {
            }
            return;
        }
    }
    fail_msg("nothing comes from %s", subject);
}

static ph_bus_answer await_answer(end* e)
{
    ph_bus_answer answer;
    for (int waited_ms = 0; !e->t.next_answer(e->t.context, &answer); ++waited_ms) {
        assert_true(waited_ms < WAIT_MS);
        wait_ms(1);
    }
    return answer;
}

static ph_bus_answer swap_text(end* e, const char* key, uint64_t revision, const char* text)
{
    e->t.swap(e->t.context, key, revision, text, strlen(text), 5);
    return await_answer(e);
}

static void await_connection(end* e, bool is_connected)
{
    for (int waited_ms = 0; e->t.is_connected(e->t.context) != is_connected; ++waited_ms) {
        assert_true(waited_ms < WAIT_MS);
        wait_ms(1);
    }
}

// ---- messages --------------------------------------------------------------------------------------

static void messages_keep_their_order_over_many_subjects(void** state)
{
    (void)state;
    need_servers();
    enum { SUBJECTS = 500, COUNT = 20000 };
    end from, to;
    open_end(&from, nats_servers_urls(&shared));
    open_end(&to, nats_servers_urls(&shared));
    char subject[PH_BUS_SUBJECT_MAX];
    for (int i = 0; i < SUBJECTS; ++i) {
        snprintf(subject, sizeof subject, i % 2 == 0 ? "order.%d.x" : "order.%d.*", i);
        assert_int_not_equal(to.t.subscribe(to.t.context, subject), 0);
    }
    snprintf(subject, sizeof subject, "order.%d.x", SUBJECTS - 1);
    await_path(&from, &to, subject);
    for (int i = 0; i < COUNT; ++i) {
        snprintf(subject, sizeof subject, "order.%d.x", i * 7 % SUBJECTS);
        assert_true(publish_number(&from, subject, i));
    }
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(next_number(&to, WAIT_MS), i);
    }
    const ph_nats_stats sent = ph_nats_get_stats(from.nats);
    const ph_nats_stats got = ph_nats_get_stats(to.nats);
    assert_int_equal(sent.unsent_messages, 0);
    assert_int_equal(got.dropped_messages, 0);
    assert_in_range(got.received_messages, COUNT + 1, sent.published_messages);
    assert_int_equal(got.subscriptions, SUBJECTS);
    assert_non_null(strstr(nats_servers_urls(&shared), got.server));
    assert_int_not_equal(got.server[0], '\0');
    assert_int_equal(to.t.lost_count(to.t.context), 0);
    close_end(&from);
    close_end(&to);
}

static void large_and_empty_messages_arrive_whole(void** state)
{
    (void)state;
    need_servers();
    static uint8_t bytes[1024 * 1024 + 1];
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (uint8_t)(i * 31 >> 3);
    }
    end from, to;
    open_end(&from, nats_servers_urls(&shared));
    open_end(&to, nats_servers_urls(&shared));
    to.t.subscribe(to.t.context, "large");
    await_path(&from, &to, "large");
    assert_true(from.t.publish(from.t.context, "large", NULL, 0));
    assert_true(from.t.publish(from.t.context, "large", bytes, sizeof bytes - 1));
    assert_false(from.t.publish(from.t.context, "large", bytes, sizeof bytes));
    assert_int_equal(from.told.last.result, PH_ERROR_TOO_LONG);
    size_t wanted[] = {0, sizeof bytes - 1};
    for (int i = 0; i < 2; ++i) {
        ph_bus_message message;
        for (int waited_ms = 0; !to.t.next(to.t.context, &message); ++waited_ms) {
            assert_true(waited_ms < WAIT_MS);
            wait_ms(1);
        }
        assert_int_equal(message.size, wanted[i]);
        assert_true(message.size == 0 || memcmp(message.bytes, bytes, message.size) == 0);
        assert_string_equal(message.subject, "large");
    }
    close_end(&from);
    close_end(&to);
}

static void a_publisher_does_not_hear_itself(void** state)
{
    (void)state;
    need_servers();
    end from, to;
    open_end(&from, nats_servers_urls(&shared));
    open_end(&to, nats_servers_urls(&shared));
    from.t.subscribe(from.t.context, "echo");
    to.t.subscribe(to.t.context, "echo");
    await_path(&to, &from, "echo");
    await_path(&from, &to, "echo");
    publish_number(&from, "echo", 1);
    assert_int_equal(next_number(&to, WAIT_MS), 1);
    assert_int_equal(next_number(&from, 50), -1);
    close_end(&from);
    close_end(&to);
}

static void nothing_comes_after_unsubscribe(void** state)
{
    (void)state;
    need_servers();
    end from, to;
    open_end(&from, nats_servers_urls(&shared));
    open_end(&to, nats_servers_urls(&shared));
    to.t.subscribe(to.t.context, "stays");
    for (int round = 0; round < 50; ++round) {
        const uint64_t gone = to.t.subscribe(to.t.context, "goes");
        assert_int_not_equal(gone, 0);
        if (round % 10 == 0) {
            await_path(&from, &to, "goes");
        }
        publish_number(&from, "goes", 1);
        wait_ms(round % 10 == 0 ? 100 : 0); // then it has come already, or it does not matter
        to.t.unsubscribe(to.t.context, gone);
        to.t.unsubscribe(to.t.context, gone); // does nothing
        assert_int_equal(next_number(&to, 0), -1);
    }
    to.t.unsubscribe(to.t.context, 0);
    assert_int_equal(ph_nats_get_stats(to.nats).subscriptions, 1);
    publish_number(&from, "goes", 1);
    publish_number(&from, "stays", 2);
    assert_int_equal(next_number(&to, WAIT_MS), 2);
    close_end(&from);
    close_end(&to);
}

static void a_subject_that_is_none_is_refused(void** state)
{
    (void)state;
    need_servers();
    end e;
    open_end(&e, nats_servers_urls(&shared));
    static const char* const wrong[] = {"",   ".",     "a.",   ".a", "a..b",   "a b",
                                        "a*", "a.>.b", "*a.b", ">a", "a\r\nb", "a.**"};
    const int count = sizeof wrong / sizeof *wrong;
    for (int i = 0; i < count; ++i) {
        assert_int_equal(e.t.subscribe(e.t.context, wrong[i]), 0);
        assert_false(publish_number(&e, wrong[i], 1));
    }
    assert_int_equal(e.told.count, 2 * count);
    assert_false(publish_number(&e, "a.*", 1));
    char longest[PH_BUS_SUBJECT_MAX + 1];
    memset(longest, 'x', sizeof longest);
    longest[PH_BUS_SUBJECT_MAX] = '\0';
    assert_int_equal(e.t.subscribe(e.t.context, longest), 0);
    assert_int_not_equal(e.t.subscribe(e.t.context, longest + 1), 0);
    close_end(&e);
}

// What finds no room is dropped, counted, and told by lost_count(), once until that is asked for.
static void what_is_not_taken_is_dropped_and_counts_as_lost(void** state)
{
    (void)state;
    need_servers();
    end from, to;
    open_end(&from, nats_servers_urls(&shared));
    ph_nats_def def = def_for(nats_servers_urls(&shared), &to.told);
    def.pending_bytes = 100000;
    open_with(&to, def);
    to.t.subscribe(to.t.context, "flood");
    await_path(&from, &to, "flood");
    static uint8_t bytes[1000];
    for (int i = 0; i < 1000; ++i) {
        assert_true(from.t.publish(from.t.context, "flood", bytes, sizeof bytes));
    }
    for (int waited_ms = 0; ph_nats_get_stats(to.nats).dropped_messages < 900; ++waited_ms) {
        assert_true(waited_ms < WAIT_MS);
        wait_ms(1);
    }
    assert_int_equal(to.t.lost_count(to.t.context), 1);
    assert_int_equal(to.t.lost_count(to.t.context), 1);
    int count = 0;
    while (next_number(&to, 50) >= 0) {
        ++count;
    }
    assert_int_equal((uint64_t)count + ph_nats_get_stats(to.nats).dropped_messages, 1000);
    publish_number(&from, "flood", 77);
    assert_int_equal(next_number(&to, WAIT_MS), 77);
    close_end(&from);
    close_end(&to);
}

static void closing_sends_what_waits(void** state)
{
    (void)state;
    need_servers();
    end from, to;
    open_end(&to, nats_servers_urls(&shared));
    to.t.subscribe(to.t.context, "last");
    open_end(&from, nats_servers_urls(&shared));
    await_path(&from, &to, "last");
    for (int i = 0; i < 1000; ++i) {
        publish_number(&from, "last", i);
    }
    close_end(&from);
    for (int i = 0; i < 1000; ++i) {
        assert_int_equal(next_number(&to, WAIT_MS), i);
    }
    close_end(&to);
}

// ---- records ---------------------------------------------------------------------------------------

static void a_swap_needs_the_newest_revision(void** state)
{
    (void)state;
    need_servers();
    end a, b;
    open_end(&a, nats_servers_urls(&shared));
    open_end(&b, nats_servers_urls(&shared));
    b.t.read(b.t.context, "region.1", 4);
    ph_bus_answer answer = await_answer(&b);
    assert_int_equal(answer.ticket, 4);
    assert_int_equal(answer.outcome, PH_BUS_DONE);
    assert_int_equal(answer.revision, 0);
    assert_int_equal(answer.size, 0);
    const ph_bus_answer made = swap_text(&a, "region.1", 0, "one");
    assert_int_equal(made.ticket, 5);
    assert_int_equal(made.outcome, PH_BUS_DONE);
    assert_int_equal(swap_text(&b, "region.1", 0, "two").outcome, PH_BUS_CONFLICT);
    assert_int_equal(swap_text(&b, "region.2", 0, "other").outcome, PH_BUS_DONE);
    const ph_bus_answer changed = swap_text(&b, "region.1", made.revision, "three");
    assert_int_equal(changed.outcome, PH_BUS_DONE);
    assert_true(changed.revision > made.revision);
    assert_int_equal(swap_text(&a, "region.1", made.revision, "four").outcome, PH_BUS_CONFLICT);
    a.t.read(a.t.context, "region.1", 6);
    answer = await_answer(&a);
    assert_int_equal(answer.revision, changed.revision);
    assert_int_equal(answer.size, 5);
    assert_memory_equal(answer.bytes, "three", 5);
    assert_int_equal(a.told.count + b.told.count, 0);
    close_end(&a);
    close_end(&b);
}

static void a_key_that_is_none_is_answered_at_once(void** state)
{
    (void)state;
    need_servers();
    end e;
    open_end(&e, nats_servers_urls(&shared));
    static const char* const wrong[] = {"", "a b", "a.*", "a.", ">", "a$"};
    for (int i = 0; i < 6; ++i) {
        e.t.read(e.t.context, wrong[i], (uint64_t)i);
        ph_bus_answer answer;
        assert_true(e.t.next_answer(e.t.context, &answer));
        assert_int_equal(answer.ticket, i);
        assert_int_equal(answer.outcome, PH_BUS_UNKNOWN);
        assert_int_equal(e.told.last.result, PH_ERROR_ARGUMENT);
    }
    assert_int_equal(e.told.count, 6);
    close_end(&e);
}

static void of_all_swaps_of_one_revision_one_wins(void** state)
{
    (void)state;
    need_servers();
    enum { ENDS = 4 };
    end ends[ENDS];
    for (int i = 0; i < ENDS; ++i) {
        open_end(&ends[i], nats_servers_urls(&shared));
    }
    uint64_t revision = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < ENDS; ++i) {
            ends[i].t.swap(ends[i].t.context, "raced", revision, &i, sizeof i, 1);
        }
        int wins = 0;
        uint64_t next = 0;
        for (int i = 0; i < ENDS; ++i) {
            const ph_bus_answer answer = await_answer(&ends[i]);
            wins += answer.outcome == PH_BUS_DONE;
            next = answer.outcome == PH_BUS_DONE ? answer.revision : next;
            assert_int_not_equal(answer.outcome, PH_BUS_UNKNOWN);
        }
        assert_int_equal(wins, 1);
        revision = next;
    }
    for (int i = 0; i < ENDS; ++i) {
        close_end(&ends[i]);
    }
}

// ---- servers that fail -----------------------------------------------------------------------------

static void a_killed_server_is_found_again(void** state)
{
    (void)state;
    need_servers();
    nats_servers servers;
    nats_servers_start(&servers, &(nats_servers_def){.count = 1});
    end from, to;
    open_end(&from, nats_servers_urls(&servers));
    open_end(&to, nats_servers_urls(&servers));
    to.t.subscribe(to.t.context, "n.*");
    await_path(&from, &to, "n.1");
    const ph_bus_answer kept = swap_text(&from, "kept", 0, "kept");
    assert_int_equal(kept.outcome, PH_BUS_DONE);

    nats_servers_kill(&servers, 0);
    await_connection(&from, false);
    await_connection(&to, false);
    assert_false(publish_number(&from, "n.1", 1)); // never to be sent
    assert_int_equal(from.t.lost_count(from.t.context), 1);
    assert_int_equal(to.t.lost_count(to.t.context), 1);
    assert_string_equal(ph_nats_get_stats(to.nats).server, "");
    assert_int_equal(swap_text(&from, "kept", kept.revision, "x").outcome, PH_BUS_UNKNOWN);
    to.t.subscribe(to.t.context, "m"); // while there is no server

    nats_servers_restart(&servers, 0);
    await_connection(&from, true);
    await_connection(&to, true);
    await_path(&from, &to, "m");
    publish_number(&from, "n.2", 2);
    assert_int_equal(next_number(&to, WAIT_MS), 2);
    assert_int_equal(ph_nats_get_stats(from.nats).unsent_messages >= 1, 1);
    assert_int_equal(ph_nats_get_stats(to.nats).reconnects, 1);
    from.t.read(from.t.context, "kept", 1);
    assert_int_equal(await_answer(&from).revision, kept.revision);
    close_end(&from);
    close_end(&to);
    nats_servers_end(&servers);
}

static bool is_at_another(const end* e, const char* server)
{
    const ph_nats_stats stats = ph_nats_get_stats(e->nats);
    return stats.server[0] != '\0' && strcmp(stats.server, server) != 0;
}

static void a_frozen_server_is_left_for_another(void** state)
{
    (void)state;
    need_servers();
    nats_servers servers;
    nats_servers_start(&servers, &(nats_servers_def){.count = 2});
    end from, to;
    open_end(&from, nats_servers_url(&servers, 1));
    open_end(&to, nats_servers_urls(&servers)); // the first one is preferred
    to.t.subscribe(to.t.context, "n");
    await_path(&from, &to, "n");
    char first[64];
    snprintf(first, sizeof first, "127.0.0.1:%d", servers.ports[0]);
    assert_string_equal(ph_nats_get_stats(to.nats).server, first);
    nats_servers_freeze(&servers, 0);
    // What was published before may come still: only another server's name tells that the frozen one was left.
    for (int waited_ms = 0; !is_at_another(&to, first); ++waited_ms) {
        assert_true(waited_ms < WAIT_MS);
        wait_ms(1);
    }
    await_path(&from, &to, "n");
    assert_int_equal(to.t.lost_count(to.t.context), 1);
    nats_servers_thaw(&servers, 0);
    close_end(&from);
    close_end(&to);
    nats_servers_end(&servers);
}

// A server that does not read must not make the owner wait; what does not fit is refused.
static void publishing_into_a_frozen_server_ends_in_refusal(void** state)
{
    (void)state;
    need_servers();
    nats_servers servers;
    nats_servers_start(&servers, &(nats_servers_def){.count = 1});
    end from;
    ph_nats_def def = def_for(nats_servers_urls(&servers), &from.told);
    def.pending_bytes = 1000000;
    open_with(&from, def);
    nats_servers_freeze(&servers, 0);
    static uint8_t bytes[100000];
    int accepted = 0;
    while (from.t.publish(from.t.context, "n", bytes, sizeof bytes)) {
        ++accepted;
        assert_true(accepted < 1000000);
    }
    // What may wait, as much again in the sender, and what two sockets hold.
    assert_in_range(accepted, 9, 300);
    await_connection(&from, false);
    assert_int_equal(from.t.lost_count(from.t.context), 1);
    close_end(&from);
    nats_servers_end(&servers);
}

static void without_a_server_opening_says_so_or_goes_on(void** state)
{
    (void)state;
    need_servers();
    nats_servers servers;
    nats_servers_start(&servers, &(nats_servers_def){.count = 1});
    nats_servers_kill(&servers, 0);
    end e;
    ph_nats_def def = def_for(nats_servers_urls(&servers), &e.told);
    def.wait_ms = 100;
    assert_int_equal(ph_nats_open(&def, &e.nats), PH_ERROR_SYSTEM);
    assert_null(e.nats);
    assert_non_null(strstr(e.told.last.text, "no server answers"));
    assert_non_null(strstr(e.told.last.text, "'nats-server -js' starts one"));
    assert_non_null(strstr(e.told.last.text, nats_servers_urls(&servers)));

    def.wait_ms = 0;
    open_with(&e, def);
    assert_false(e.t.is_connected(e.t.context));
    assert_int_equal(e.t.lost_count(e.t.context), 1);
    assert_false(publish_number(&e, "n", 1));
    e.t.subscribe(e.t.context, "n");
    nats_servers_restart(&servers, 0);
    await_connection(&e, true);
    end from;
    open_end(&from, nats_servers_urls(&servers));
    await_path(&from, &e, "n");
    close_end(&from);
    close_end(&e);
    nats_servers_end(&servers);
}

typedef struct brief_server {
    int listener;
    int64_t stays_us;
} brief_server;

// A server that says hello, lets one client in, and is gone.
static void* serve_one_hello(void* argument)
{
    static const char hello[] = "INFO "
                                "{\"server_id\":\"x\",\"version\":\"2.9.10\",\"proto\":1,"
                                "\"headers\":true,\"max_payload\":1048576}\r\n";
    const brief_server* server = argument;
    const int client = accept(server->listener, NULL, NULL);
    close(server->listener);
    size_t size = 0;
    char said[4096];
    bool is_alive = send(client, hello, sizeof hello - 1, MSG_NOSIGNAL) > 0;
    while (is_alive && size < sizeof said - 1) {
        const ssize_t count = read(client, said + size, sizeof said - 1 - size);
        size += count > 0 ? (size_t)count : 0;
        said[size] = '\0';
        is_alive = count > 0 && strstr(said, "PING\r\n") == NULL;
    }
    if (send(client, "PONG\r\n", 6, MSG_NOSIGNAL) < 0) {
        size = 0; // then the client does not open, and says so
    }
    nanosleep(&(struct timespec){.tv_nsec = server->stays_us * 1000}, NULL);
    close(client);
    return NULL;
}

static int listen_anywhere(int* port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr*)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr*)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

// It is lost before, while or after opening comes back, as the threads run: libnats finds the first itself.
static void a_connection_that_is_lost_while_it_opens_is_not_there(void** state)
{
    (void)state;
    int open_count = 0;
    for (int round = 0; round < 50; ++round) {
        int port;
        brief_server brief = {.listener = listen_anywhere(&port), .stays_us = round * 2};
        pthread_t server;
        assert_int_equal(pthread_create(&server, NULL, serve_one_hello, &brief), 0);
        char url[64];
        snprintf(url, sizeof url, "nats://127.0.0.1:%d", port);
        end e;
        ph_nats_def def = def_for(url, &e.told);
        def.wait_ms = 1;
        const bool is_open = ph_nats_open(&def, &e.nats) == PH_OK;
        pthread_join(server, NULL);
        if (is_open) {
            ++open_count;
            e.t = ph_nats_transport(e.nats);
            await_connection(&e, false);
            assert_int_equal(e.t.lost_count(e.t.context), 1);
            close_end(&e);
        }
    }

    assert_in_range(open_count, 1, 50);
}

// ---- refusals --------------------------------------------------------------------------------------

static void only_the_right_credentials_are_let_in(void** state)
{
    (void)state;
    need_servers();
    nats_servers servers;
    static const char users[] = "authorization { users: [ { user: u, password: right, "
                                "permissions: { publish: \"allowed.>\" } } ] }";
    nats_servers_start(&servers, &(nats_servers_def){.settings = users});
    end e;
    ph_nats_def def = def_for(nats_servers_urls(&servers), &e.told);
    assert_int_equal(ph_nats_open(&def, &e.nats), PH_ERROR_SYSTEM);
    assert_non_null(strstr(e.told.last.text, "refused"));
    def.user = "u";
    def.password = "wrong";
    assert_int_equal(ph_nats_open(&def, &e.nats), PH_ERROR_SYSTEM);
    assert_non_null(strstr(e.told.last.text, "refused"));
    assert_null(strstr(e.told.last.text, "wrong"));
    def.password = "right";
    open_with(&e, def);
    const int told = e.told.count;
    publish_number(&e, "forbidden", 1);
    for (int i = 0; e.told.count == told; ++i) { // the server complains; it is told on this thread
        assert_true(i < WAIT_MS);
        ph_bus_message message;
        e.t.next(e.t.context, &message);
        wait_ms(1);
    }
    assert_non_null(strstr(e.told.last.text, "forbidden"));
    close_end(&e);
    nats_servers_end(&servers);
}

static void servers_of_other_machines_need_a_secret(void** state)
{
    (void)state;
    static const char* const strange[] = {"nats://10.0.0.1:4222",
                                          "10.0.0.1",
                                          "nats://example.org:4222",
                                          "nats://[2001:db8::1]",
                                          "nats://127.0.0.1:4222,nats://10.0.0.1:4222",
                                          "nats://127.0.0.1.example.org:4222",
                                          "nats://localhost.example.org",
                                          "nats://1270.0.0.1:4222"};
    complaints told;
    ph_nats* nats;
    for (size_t i = 0; i < sizeof strange / sizeof *strange; ++i) {
        ph_nats_def def = def_for(strange[i], &told);
        assert_int_equal(ph_nats_open(&def, &nats), PH_ERROR_ARGUMENT);
        assert_null(nats);
        assert_non_null(strstr(told.last.text, "ph_nats_def.servers"));
        assert_non_null(strstr(told.last.text, "is_open_network"));
    }
    // These are let through, and find no server.
    static const char* const known[] = {"nats://127.0.0.1:1", "localhost:1", "nats://[::1]:1",
                                        "nats://127.9.9.9:1", "nats://u:p@127.0.0.1:1"};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        ph_nats_def def = def_for(known[i], &told);
        def.wait_ms = 1;
        assert_int_equal(ph_nats_open(&def, &nats), PH_ERROR_SYSTEM);
    }
}

static void a_wrong_def_is_refused_with_the_field(void** state)
{
    (void)state;
    complaints told;
    const ph_nats_def good = def_for("nats://127.0.0.1:1", &told);
    ph_nats_def cases[13];
    for (int i = 0; i < 13; ++i) {
        cases[i] = good;
    }
    cases[0].servers = NULL;
    cases[1].servers = "nats://127.0.0.1:1,,";
    cases[2].bucket = "a.b";
    cases[3].bucket = "";
    cases[4].replicas = 2;
    cases[5].pending_bytes = 0;
    cases[6].wait_ms = -1;
    cases[7].user = "u";
    cases[8].key_path = "k";
    cases[9].token = "t";
    cases[9].credentials_path = "c";
    cases[10].ca_path = "/nowhere/ca.pem";
    cases[11].name = NULL;
    cases[12].credentials_path = "/nowhere/game.creds";
    static const char* const fields[] = {
        "servers",  "servers",  "bucket", "bucket",  "replicas", "pending_bytes",   "wait_ms",
        "password", "key_path", "user",   "ca_path", "name",     "credentials_path"};
    for (int i = 0; i < 13; ++i) {
        ph_nats* nats;
        char field[64];
        snprintf(field, sizeof field, "ph_nats_def.%s ", fields[i]);
        assert_int_equal(ph_nats_open(&cases[i], &nats), PH_ERROR_ARGUMENT);
        assert_null(nats);
        if (strstr(told.last.text, field) == NULL) {
            fail_msg("no '%s' in: %s", field, told.last.text);
        }
    }
    ph_nats* nats;
    assert_int_equal(ph_nats_open(&(ph_nats_def){0}, &nats), PH_ERROR_ARGUMENT);
    ph_nats_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_keep_their_order_over_many_subjects),
        cmocka_unit_test(large_and_empty_messages_arrive_whole),
        cmocka_unit_test(a_publisher_does_not_hear_itself),
        cmocka_unit_test(nothing_comes_after_unsubscribe),
        cmocka_unit_test(a_subject_that_is_none_is_refused),
        cmocka_unit_test(what_is_not_taken_is_dropped_and_counts_as_lost),
        cmocka_unit_test(closing_sends_what_waits),
        cmocka_unit_test(a_swap_needs_the_newest_revision),
        cmocka_unit_test(a_key_that_is_none_is_answered_at_once),
        cmocka_unit_test(of_all_swaps_of_one_revision_one_wins),
        cmocka_unit_test(a_killed_server_is_found_again),
        cmocka_unit_test(a_frozen_server_is_left_for_another),
        cmocka_unit_test(publishing_into_a_frozen_server_ends_in_refusal),
        cmocka_unit_test(without_a_server_opening_says_so_or_goes_on),
        cmocka_unit_test(a_connection_that_is_lost_while_it_opens_is_not_there),
        cmocka_unit_test(only_the_right_credentials_are_let_in),
        cmocka_unit_test(servers_of_other_machines_need_a_secret),
        cmocka_unit_test(a_wrong_def_is_refused_with_the_field),
    };
    return cmocka_run_group_tests(tests, start_shared, end_shared);
}
