// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sockets on loopback: datagrams arrive as they were sent, in batches, over IPv4 and IPv6; nothing
// ever blocks. Ports are the system's choice.

#include "test_support.h"

#include <pinhole/net/pool.h>
#include <pinhole/net/socket.h>

#include <errno.h>
#include <string.h>

#if defined(__linux__)
#include <netinet/in.h>
#include <sys/socket.h>
#endif

enum { WAIT_US = 2000000 };

static ph_socket* open_at(const char* text)
{
    ph_socket_def def = ph_socket_def_default();
    assert_int_equal(ph_address_parse(text, &def.local_address, NULL), PH_OK);
    ph_socket* socket = NULL;
    assert_int_equal(ph_socket_open(&def, &socket), PH_OK);
    assert_int_not_equal(ph_socket_local_address(socket).port, 0);
    return socket;
}

// Whether this machine has IPv6 at all.
static bool has_ipv6(void)
{
    ph_socket_def def = ph_socket_def_default();
    ph_address_parse("[::1]:0", &def.local_address, NULL);
    ph_socket* socket = NULL;
    const bool is_open = ph_socket_open(&def, &socket) == PH_OK;
    ph_socket_close(socket);
    return is_open;
}

static void send_text(ph_socket* from, const ph_address* to, const char* text)
{
    uint8_t bytes[64];
    const size_t size = strlen(text);
    memcpy(bytes, text, size);
    const ph_datagram datagram = {.peer = *to, .bytes = bytes, .size = size};
    assert_int_equal(ph_socket_send(from, &datagram, 1), 1);
}

static void expect_text(ph_socket* at, const char* text, ph_address* from)
{
    ph_datagram datagram;
    assert_true(ph_socket_wait(at, WAIT_US));
    assert_int_equal(ph_socket_receive(at, &datagram, 1), 1);
    assert_int_equal(datagram.size, strlen(text));
    assert_memory_equal(datagram.bytes, text, datagram.size);
    *from = datagram.peer;
}

static void answer(const char* here, const char* there)
{
    ph_socket* server = open_at(here);
    ph_socket* client = open_at(there);
    ph_address server_address = ph_socket_local_address(server);
    ph_address from;
    send_text(client, &server_address, "hello");
    expect_text(server, "hello", &from);
    const ph_address client_address = ph_socket_local_address(client);
    assert_true(ph_address_is_equal(&from, &client_address));
    send_text(server, &from, "welcome");
    expect_text(client, "welcome", &from);
    assert_true(ph_address_is_equal(&from, &server_address));
    ph_socket_close(client);
    ph_socket_close(server);
}

static void a_datagram_names_its_sender_and_is_answered(void** state)
{
    (void)state;
    answer("127.0.0.1:0", "127.0.0.1:0");
    if (has_ipv6()) {
        answer("[::1]:0", "[::1]:0");
    }
}

static void a_socket_for_all_addresses_takes_both_kinds(void** state)
{
    (void)state;
    if (!has_ipv6()) {
        skip();
    }
    ph_socket* server = open_at("[::]:0");
    ph_socket* client = open_at("127.0.0.1:0");
    const uint8_t loopback[4] = {127, 0, 0, 1};
    const ph_address to = ph_address_make_ipv4(loopback, ph_socket_local_address(server).port);
    ph_address from;
    send_text(client, &to, "old");
    expect_text(server, "old", &from);
    assert_int_equal(from.kind, PH_ADDRESS_IPV4);
    send_text(server, &from, "new");
    expect_text(client, "new", &from);
    assert_true(ph_address_is_equal(&from, &to));
    ph_socket_close(client);
    ph_socket_close(server);
}

#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)

// As a client has it that takes answers from the server's address alone.
static void connect_to(const ph_socket* socket, const ph_address* to)
{
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(to->port)};
    struct sockaddr_in6 peer6 = {.sin6_family = AF_INET6, .sin6_port = htons(to->port)};
    memcpy(&peer.sin_addr, to->bytes, 4);
    memcpy(&peer6.sin6_addr, to->bytes, 16);
    const int number = (int)ph_socket_handle(socket);
    const int result = to->kind == PH_ADDRESS_IPV4
                           ? connect(number, (const struct sockaddr*)&peer, sizeof peer)
                           : connect(number, (const struct sockaddr*)&peer6, sizeof peer6);
    assert_int_equal(result, 0);
}

// The server is at all addresses, the client talks to one of them.
static void answer_from(const char* all, const char* one, const char* client_at)
{
    ph_socket* server = open_at(all);
    ph_socket* client = open_at(client_at);
    ph_address to;
    assert_int_equal(ph_address_parse(one, &to, NULL), PH_OK);
    to.port = ph_socket_local_address(server).port;
    connect_to(client, &to);
    send_text(client, &to, "hello");
    ph_datagram datagram;
    assert_true(ph_socket_wait(server, WAIT_US));
    assert_int_equal(ph_socket_receive(server, &datagram, 1), 1);
    assert_true(ph_address_is_equal(&datagram.local, &to));
    assert_int_equal(ph_socket_send(server, &datagram, 1), 1); // back, and from where it came to
    ph_address from;
    expect_text(client, "hello", &from);
    assert_true(ph_address_is_equal(&from, &to));
    ph_socket_close(client);
    ph_socket_close(server);
}

static void answers_leave_from_the_address_that_was_asked(void** state)
{
    (void)state;
    answer_from("0.0.0.0:0", "127.0.0.2:0", "127.0.0.1:0");
    answer_from("0.0.0.0:0", "127.0.0.1:0", "127.0.0.3:0");
    if (!has_ipv6()) {
        print_message("skipped for IPv6: this machine has none\n");
        return;
    }
    answer_from("[::]:0", "127.0.0.2:0", "127.0.0.1:0"); // IPv4 by a socket of IPv6
    answer_from("[::]:0", "[::1]:0", "[::1]:0");
    // Two addresses of IPv6 would need an interface with two, which a test has not.
}

#endif

// Where there is one address, nothing is told, and any answer leaves from it.
static void a_socket_with_one_address_tells_none(void** state)
{
    (void)state;
    ph_socket* server = open_at("127.0.0.1:0");
    ph_socket* client = open_at("127.0.0.1:0");
    const ph_address to = ph_socket_local_address(server);
    send_text(client, &to, "hello");
    ph_datagram datagram;
    assert_true(ph_socket_wait(server, WAIT_US));
    assert_int_equal(ph_socket_receive(server, &datagram, 1), 1);
    assert_int_equal(datagram.local.kind, PH_ADDRESS_NONE);
    ph_socket_close(client);
    ph_socket_close(server);
}

// More than one batch, by outbox: all arrive, each once, in order on loopback.
static void an_outbox_sends_all_it_was_given(void** state)
{
    (void)state;
    enum { COUNT = 3 * PH_SOCKET_BATCH_MAX + 7 };
    ph_socket* server = open_at("127.0.0.1:0");
    ph_socket* client = open_at("127.0.0.1:0");
    const ph_address to = ph_socket_local_address(server);
    static ph_socket_batch outbox;
    ph_socket_batch_begin(&outbox, client);
    for (int i = 0; i < COUNT; ++i) {
        uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
        memset(bytes, i, sizeof bytes);
        ph_socket_batch_add(&outbox, &to, bytes, 1 + (size_t)(i * 37 % PH_NETCODE_DATAGRAM_MAX));
    }
    ph_socket_batch_flush(&outbox);
    ph_socket_batch_flush(&outbox); // nothing left
    int received = 0;
    while (received < COUNT && ph_socket_wait(server, WAIT_US)) {
        ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
        const int count = ph_socket_receive(server, datagrams, PH_SOCKET_BATCH_MAX);
        for (int i = 0; i < count; ++i, ++received) {
            assert_int_equal(datagrams[i].size, 1 + received * 37 % PH_NETCODE_DATAGRAM_MAX);
            assert_int_equal(datagrams[i].bytes[datagrams[i].size - 1], (uint8_t)received);
        }
    }
    assert_int_equal(received, COUNT);
    assert_int_equal(ph_socket_get_stats(client).sent_datagrams, COUNT);
    assert_int_equal(ph_socket_get_stats(client).unsent_datagrams, 0);
    assert_int_equal(ph_socket_get_stats(server).received_datagrams, COUNT);
    ph_socket_close(client);
    ph_socket_close(server);
}

static void an_oversized_datagram_is_recognised(void** state)
{
    (void)state;
    ph_socket* server = open_at("127.0.0.1:0");
    ph_socket* client = open_at("127.0.0.1:0");
    uint8_t bytes[4000] = {0};
    const ph_datagram large = {
        .peer = ph_socket_local_address(server), .bytes = bytes, .size = sizeof bytes};
    assert_int_equal(ph_socket_send(client, &large, 1), 1);
    ph_datagram datagram;
    assert_true(ph_socket_wait(server, WAIT_US));
    assert_int_equal(ph_socket_receive(server, &datagram, 1), 1);
    assert_int_equal(datagram.size, PH_NETCODE_DATAGRAM_MAX + 1);
    ph_socket_close(client);
    ph_socket_close(server);
}

static void nothing_to_receive_does_not_block(void** state)
{
    (void)state;
    ph_socket* socket = open_at("127.0.0.1:0");
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    assert_int_equal(ph_socket_receive(socket, datagrams, PH_SOCKET_BATCH_MAX), 0);
    assert_false(ph_socket_wait(socket, 0));
    const uint64_t start_us = ph_socket_now_us();
    assert_false(ph_socket_wait(socket, 2000));
    assert_true(ph_socket_now_us() - start_us >= 1000);
    ph_socket_close(socket);
}

// ---- what cannot be sent

// One byte each: 1, 2, 3.
static void fill_three(ph_datagram three[3], const ph_socket* to)
{
    static uint8_t bytes[] = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        three[i] =
            (ph_datagram){.peer = ph_socket_local_address(to), .bytes = &bytes[i], .size = 1};
    }
}

// One that goes nowhere is lost; those before and behind it are not.
// @return How often the system was called.
static uint64_t lose_alone(const char* nowhere, const char* why)
{
    ph_socket* server = open_at("127.0.0.1:0");
    ph_socket* client = open_at("127.0.0.1:0");
    ph_datagram three[3];
    fill_three(three, server);
    assert_int_equal(ph_address_parse(nowhere, &three[1].peer, NULL), PH_OK);
    char reason[PH_SOCKET_REASON_SIZE];
    assert_string_equal(ph_socket_unsent_reason(client, reason), "");
    assert_int_equal(ph_socket_send(client, three, 3), 2);
    assert_string_equal(ph_socket_unsent_reason(client, reason), why);
    const ph_socket_stats stats = ph_socket_get_stats(client);
    assert_int_equal(stats.sent_datagrams, 2);
    assert_int_equal(stats.unsent_datagrams, 1);
    ph_address from;
    expect_text(server, "\1", &from);
    expect_text(server, "\3", &from);
    ph_socket_close(client);
    ph_socket_close(server);
    return stats.send_calls;
}

static void what_has_no_way_to_its_peer_is_lost_alone(void** state)
{
    (void)state;
    lose_alone("[2001:db8::1]:9", "The socket is for IPv4 only");
}

// No socket may send to all without asking for that first. Each of the three is a call of its own:
// up to the one that is refused, that one, and the rest.
static void what_the_system_refuses_is_lost_alone(void** state)
{
    (void)state;
    assert_int_equal(lose_alone("255.255.255.255:9", strerror(EACCES)), 3);
}

// Behind one for which there is no room a batch ends; one by one, the others are tried all the same.
#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)

// Loopback gives room back before a send is over, so no number of datagrams ever fills a socket. One
// that must be cut into more pieces than there is room for does.
static void let_little_fit(const ph_socket* socket)
{
    const int number = (int)ph_socket_handle(socket);
    const int room_bytes = 1; // the system takes the least there may be
    const int piece_bytes = 1280;
    assert_int_equal(setsockopt(number, SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof(int)), 0);
    assert_int_equal(setsockopt(number, IPPROTO_IPV6, IPV6_MTU, &piece_bytes, sizeof(int)), 0);
}

static void a_full_socket_loses_the_rest_and_goes_on(void** state)
{
    (void)state;
    if (!has_ipv6()) {
        skip();
    }
    ph_socket* server = open_at("[::1]:0");
    ph_socket* client = open_at("[::1]:0");
    static uint8_t large[60000];
    ph_datagram three[3];
    fill_three(three, server);
    three[1].bytes = large;
    three[1].size = sizeof large;
    let_little_fit(client);
    assert_int_equal(ph_socket_send(client, three, 3), 1);
    assert_int_equal(ph_socket_get_stats(client).unsent_datagrams, 2);
    ph_address from;
    expect_text(server, "\1", &from);
    send_text(client, &three[0].peer, "next");
    expect_text(server, "next", &from);
    ph_socket_close(client);
    ph_socket_close(server);
}

#endif

// ---- several threads

enum { SENDERS = 4, EACH = 200 };

typedef struct crowd {
    ph_socket* server;
    ph_socket* client;
    int received[SENDERS];
} crowd;

static void count_arrivals(crowd* all)
{
    int total = 0;
    while (total < SENDERS * EACH && ph_socket_wait(all->server, WAIT_US)) {
        ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
        const int count = ph_socket_receive(all->server, datagrams, PH_SOCKET_BATCH_MAX);
        for (int i = 0; i < count; ++i, ++total) {
            ++all->received[datagrams[i].bytes[0]];
        }
    }
}

// The first one receives, all others send.
static void take_part(void* context, int index)
{
    crowd* all = context;
    if (index == 0) {
        count_arrivals(all);
        return;
    }
    const uint8_t sender = (uint8_t)(index - 1);
    const ph_address to = ph_socket_local_address(all->server);
    ph_socket_batch outbox;
    ph_socket_batch_begin(&outbox, all->client);
    for (int i = 0; i < EACH; ++i) {
        ph_socket_batch_add(&outbox, &to, &sender, 1);
    }
    ph_socket_batch_flush(&outbox);
}

static void threads_send_through_one_socket(void** state)
{
    (void)state;
    crowd all = {.server = open_at("127.0.0.1:0"), .client = open_at("127.0.0.1:0")};
    ph_pool* pool = ph_pool_create(SENDERS + 1);
    ph_pool_run(pool, SENDERS + 1, take_part, &all);
    for (int i = 0; i < SENDERS; ++i) {
        assert_int_equal(all.received[i], EACH);
    }
    assert_int_equal(ph_socket_get_stats(all.client).sent_datagrams, SENDERS * EACH);
    ph_pool_destroy(pool);
    ph_socket_close(all.client);
    ph_socket_close(all.server);
}

static void a_taken_port_is_said_to_be(void** state)
{
    (void)state;
    ph_socket* first = open_at("127.0.0.1:0");
    ph_socket_def def = ph_socket_def_default();
    def.local_address = ph_socket_local_address(first);
    ph_socket* second = first;
    assert_int_equal(ph_socket_open(&def, &second), PH_ERROR_TAKEN);
    assert_null(second);
    def.local_address = (ph_address){0};
    assert_int_equal(ph_socket_open(&def, &second), PH_ERROR_ARGUMENT);
    ph_socket_close(first);
}

// ---- several sockets with one address

enum { SHARERS = 4, PEERS = 24, LETTERS = 5 };

typedef struct shared {
    ph_socket* sockets[SHARERS];
    int count;
    ph_address address;
} shared;

static shared open_shared(void)
{
    shared all = {0};
    const ph_socket_def def = ph_socket_def_default();
    assert_int_equal(ph_socket_open_shared(&def, SHARERS, all.sockets, &all.count), PH_OK);
    assert_in_range(all.count, 1, SHARERS);
#if defined(__linux__)
    assert_int_equal(all.count, SHARERS);
#endif
    all.address = ph_socket_local_address(all.sockets[0]);
    for (int i = 1; i < all.count; ++i) {
        const ph_address other = ph_socket_local_address(all.sockets[i]);
        assert_true(ph_address_is_equal(&all.address, &other));
    }
    return all;
}

static void close_shared(shared* all)
{
    for (int i = 0; i < all->count; ++i) {
        ph_socket_close(all->sockets[i]);
    }
}

// Which of them has got something. Fails when none has.
static int find_arrival(const shared* all, ph_datagram* datagram)
{
    assert_true(ph_socket_wait_any(all->sockets, all->count, WAIT_US));
    for (int i = 0; i < all->count; ++i) {
        if (ph_socket_receive(all->sockets[i], datagram, 1) == 1) {
            return i;
        }
    }
    fail();
    return -1;
}

static void a_peer_always_comes_to_the_same_socket(void** state)
{
    (void)state;
    shared all = open_shared();
    int peers_of[SHARERS] = {0};
    for (int peer = 0; peer < PEERS; ++peer) {
        ph_socket* client = open_at("127.0.0.1:0");
        int first = -1;
        for (int i = 0; i < LETTERS; ++i) {
            ph_datagram datagram;
            send_text(client, &all.address, "hello");
            const int at = find_arrival(&all, &datagram);
            assert_true(first < 0 || at == first);
            first = at;
        }
        ++peers_of[first];
        ph_socket_close(client);
    }
    assert_true(all.count == 1 || peers_of[0] < PEERS); // they do share
    assert_false(ph_socket_wait_any(all.sockets, all.count, 0));
    close_shared(&all);
}

static void any_of_them_answers(void** state)
{
    (void)state;
    shared all = open_shared();
    ph_socket* client = open_at("127.0.0.1:0");
    const ph_address to = ph_socket_local_address(client);
    for (int i = 0; i < all.count; ++i) {
        ph_address from;
        send_text(all.sockets[i], &to, "welcome");
        expect_text(client, "welcome", &from);
        assert_true(ph_address_is_equal(&from, &all.address));
    }
    ph_socket_close(client);
    close_shared(&all);
}

static void an_address_is_shared_with_no_other_host(void** state)
{
    (void)state;
    shared all = open_shared();
    ph_socket_def def = ph_socket_def_default();
    def.local_address = all.address;
    ph_socket* others[SHARERS];
    int count = 1;
    assert_int_equal(ph_socket_open_shared(&def, SHARERS, others, &count), PH_ERROR_TAKEN);
    assert_int_equal(count, 0);
    assert_int_equal(ph_socket_open(&def, others), PH_ERROR_TAKEN);
    close_shared(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_names_its_sender_and_is_answered),
        cmocka_unit_test(a_socket_for_all_addresses_takes_both_kinds),
#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)
        cmocka_unit_test(answers_leave_from_the_address_that_was_asked),
#endif
        cmocka_unit_test(a_socket_with_one_address_tells_none),
        cmocka_unit_test(an_outbox_sends_all_it_was_given),
        cmocka_unit_test(an_oversized_datagram_is_recognised),
        cmocka_unit_test(nothing_to_receive_does_not_block),
        cmocka_unit_test(what_has_no_way_to_its_peer_is_lost_alone),
        cmocka_unit_test(what_the_system_refuses_is_lost_alone),
#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)
        cmocka_unit_test(a_full_socket_loses_the_rest_and_goes_on),
#endif
        cmocka_unit_test(a_taken_port_is_said_to_be),
        cmocka_unit_test(threads_send_through_one_socket),
        cmocka_unit_test(a_peer_always_comes_to_the_same_socket),
        cmocka_unit_test(any_of_them_answers),
        cmocka_unit_test(an_address_is_shared_with_no_other_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
