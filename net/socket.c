// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Opening, addresses, counts, and the outbox; what runs for every batch is in socket_linux.c and
// socket_plain.c.

#include "net/socket_system.h"

#include "net/wall_clock.h"

#include "base/allocator.h"
#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h> // behind winsock2.h, which socket_system.h has
#else
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#endif

#define SYSTEM_TEXT_SIZE 96
#define COOKIE 0x736f636bu // "sock"
#define BUFFER_BYTES_USUAL (4 << 20)

// ---- systems

#if defined(_WIN32)

bool ph_socket_start_system(void)
{
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

void ph_socket_stop_system(void)
{
    WSACleanup();
}

static bool is_number(ph_socket_number number)
{
    return number != INVALID_SOCKET;
}

static void close_number(ph_socket_number number)
{
    closesocket(number);
}

static bool unblock(ph_socket_number number)
{
    u_long is_on = 1;
    // FIONBIO is unsigned in its header, and the parameter is not.
    return ioctlsocket(number, (long)FIONBIO, &is_on) == 0;
}

static bool is_port_taken(void)
{
    return WSAGetLastError() == WSAEADDRINUSE;
}

int ph_socket_system_error(void)
{
    return WSAGetLastError();
}

static const char* error_text(int error, char text[SYSTEM_TEXT_SIZE])
{
    snprintf(text, SYSTEM_TEXT_SIZE, "error %d of Windows sockets", error);
    return text;
}

uint64_t ph_socket_now_us(void)
{
    LARGE_INTEGER ticks;
    LARGE_INTEGER per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    const uint64_t whole = (uint64_t)(ticks.QuadPart / per_second.QuadPart);
    const uint64_t part = (uint64_t)(ticks.QuadPart % per_second.QuadPart);
    return whole * 1000000 + part * 1000000 / (uint64_t)per_second.QuadPart;
}

uint64_t ph_wall_now_us(void)
{
    const uint64_t unix_epoch = UINT64_C(116444736000000000); // in units of 100 ns since 1601
    FILETIME time;
    GetSystemTimeAsFileTime(&time);
    const uint64_t now = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    return (now - unix_epoch) / 10;
}

void ph_socket_sleep(uint64_t duration_us)
{
    Sleep((DWORD)((duration_us + 999) / 1000));
}

typedef WSAPOLLFD poll_entry;

static poll_entry poll_entry_of(const ph_socket* socket)
{
    return (poll_entry){.fd = socket->number, .events = POLLRDNORM};
}

static int wait_readable(poll_entry* entries, int count, int timeout_ms)
{
    return WSAPoll(entries, (ULONG)count, timeout_ms);
}

#else

bool ph_socket_start_system(void)
{
    return true;
}

void ph_socket_stop_system(void)
{
}

static bool is_number(ph_socket_number number)
{
    return number >= 0;
}

static void close_number(ph_socket_number number)
{
    close(number);
}

static bool unblock(ph_socket_number number)
{
    const int flags = fcntl(number, F_GETFL, 0);
    return flags >= 0 && fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(number, F_SETFD, FD_CLOEXEC) == 0;
}

static bool is_port_taken(void)
{
    return errno == EADDRINUSE;
}

int ph_socket_system_error(void)
{
    return errno;
}

static const char* error_text(int error, char text[SYSTEM_TEXT_SIZE])
{
    snprintf(text, SYSTEM_TEXT_SIZE, "%s", strerror(error));
    return text;
}

uint64_t ph_socket_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t ph_wall_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void ph_socket_sleep(uint64_t duration_us)
{
    const struct timespec duration = {
        .tv_sec = (time_t)(duration_us / 1000000),
        .tv_nsec = (long)(duration_us % 1000000) * 1000,
    };
    nanosleep(&duration, NULL);
}

typedef struct pollfd poll_entry;

static poll_entry poll_entry_of(const ph_socket* socket)
{
    return (poll_entry){.fd = socket->number, .events = POLLIN};
}

static int wait_readable(poll_entry* entries, int count, int timeout_ms)
{
    return poll(entries, (nfds_t)count, timeout_ms);
}

#endif

static void set_option(ph_socket_number number, int level, int option, int value)
{
    setsockopt(number, level, option, (const void*)&value, sizeof value);
}

// A process with the privilege gets the larger buffers; others get as much as the system allows.
static void set_buffers(ph_socket_number number, const ph_socket_def* def)
{
    set_option(number, SOL_SOCKET, SO_RCVBUF, def->receive_buffer_bytes);
    set_option(number, SOL_SOCKET, SO_SNDBUF, def->send_buffer_bytes);
#if defined(SO_RCVBUFFORCE) && defined(SO_SNDBUFFORCE)
    set_option(number, SOL_SOCKET, SO_RCVBUFFORCE, def->receive_buffer_bytes);
    set_option(number, SOL_SOCKET, SO_SNDBUFFORCE, def->send_buffer_bytes);
#endif
}

// ---- addresses

static ph_sockaddr_size put_ipv4(const ph_address* address, struct sockaddr_storage* storage)
{
    struct sockaddr_in plain = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    memcpy(&plain.sin_addr, address->bytes, 4);
    memcpy(storage, &plain, sizeof plain);
    return (ph_sockaddr_size)sizeof plain;
}

static ph_sockaddr_size put_ipv6(const uint8_t bytes[16], uint16_t port,
                                 struct sockaddr_storage* storage)
{
    struct sockaddr_in6 plain = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&plain.sin6_addr, bytes, 16);
    memcpy(storage, &plain, sizeof plain);
    return (ph_sockaddr_size)sizeof plain;
}

ph_sockaddr_size ph_sockaddr_put(const ph_socket* socket, const ph_address* address,
                                 struct sockaddr_storage* storage)
{
    const bool is_ipv4_socket = socket->local.kind == PH_ADDRESS_IPV4;
    if (address->kind == PH_ADDRESS_IPV4 && is_ipv4_socket) {
        return put_ipv4(address, storage);
    }
    if (address->kind == PH_ADDRESS_IPV4) {
        uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};
        memcpy(mapped + 12, address->bytes, 4);
        return put_ipv6(mapped, address->port, storage);
    }
    if (address->kind == PH_ADDRESS_IPV6 && !is_ipv4_socket) {
        return put_ipv6(address->bytes, address->port, storage);
    }
    return 0;
}

ph_address ph_sockaddr_take(const struct sockaddr_storage* storage)
{
    if (storage->ss_family == AF_INET) {
        struct sockaddr_in plain;
        memcpy(&plain, storage, sizeof plain);
        return ph_address_make_ipv4((const uint8_t*)&plain.sin_addr, ntohs(plain.sin_port));
    }
    if (storage->ss_family == AF_INET6) {
        struct sockaddr_in6 plain;
        memcpy(&plain, storage, sizeof plain);
        return ph_address_make_ipv6((const uint8_t*)&plain.sin6_addr, ntohs(plain.sin6_port));
    }
    return (ph_address){0};
}

// ---- opening and closing

ph_socket_def ph_socket_def_default(void)
{
    const uint8_t loopback[4] = {127, 0, 0, 1};
    return (ph_socket_def){
        .local_address = ph_address_make_ipv4(loopback, 0),
        .receive_buffer_bytes = BUFFER_BYTES_USUAL,
        .send_buffer_bytes = BUFFER_BYTES_USUAL,
        .cookie = COOKIE,
    };
}

// Linux gives each peer to one of the sockets that share an address; others give all to one of them,
// or refuse.
static bool share(ph_socket_number number)
{
#if defined(__linux__)
    const int is_on = 1;
    return setsockopt(number, SOL_SOCKET, SO_REUSEPORT, &is_on, sizeof is_on) == 0;
#else
    (void)number;
    return false;
#endif
}

static ph_result bind_number(ph_socket* socket, const ph_socket_def* def)
{
    struct sockaddr_storage storage = {0};
    const ph_sockaddr_size size = ph_sockaddr_put(socket, &def->local_address, &storage);
    if (def->local_address.kind == PH_ADDRESS_IPV6) {
        set_option(socket->number, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    }
    set_buffers(socket->number, def);
    if (bind(socket->number, (const struct sockaddr*)&storage, size) != 0) {
        return is_port_taken() ? PH_ERROR_TAKEN : PH_ERROR_SYSTEM;
    }
    ph_sockaddr_size bound_size = (ph_sockaddr_size)sizeof storage;
    if (getsockname(socket->number, (struct sockaddr*)&storage, &bound_size) != 0 ||
        !unblock(socket->number)) {
        return PH_ERROR_SYSTEM;
    }
    socket->local = ph_sockaddr_take(&storage);
    return PH_OK;
}

static ph_result open_number(ph_socket* opened, const ph_socket_def* def, bool is_shared)
{
    const int family = def->local_address.kind == PH_ADDRESS_IPV6 ? AF_INET6 : AF_INET;
    opened->number = socket(family, SOCK_DGRAM, IPPROTO_UDP);
    if (!is_number(opened->number)) {
        return PH_ERROR_SYSTEM;
    }
    const ph_result result =
        is_shared && !share(opened->number) ? PH_ERROR_SYSTEM : bind_number(opened, def);
    if (result != PH_OK) {
        const int kept = errno; // of what failed, not of the closing
        close_number(opened->number);
        errno = kept;
    }
    return result;
}

static ph_result fail_to_open(const ph_check* call, ph_result result, const ph_address* address)
{
    char system[SYSTEM_TEXT_SIZE];
    error_text(ph_socket_system_error(), system);
    char text[PH_ADDRESS_TEXT_MAX];
    return ph_fail(call, result, "ph_socket_def.local_address",
                   "is %s; the operating system refuses it: %s", ph_address_print(address, text),
                   system);
}

// The usual way, or no socket of the system at all.
static ph_result open_number_or_none(ph_socket* opened, const ph_socket_def* def, bool is_shared)
{
    if (opened->simulation != NULL) {
        return PH_OK;
    }
    ph_result result = ph_socket_start_system() ? PH_OK : PH_ERROR_SYSTEM;
    if (result == PH_OK) {
        result = open_number(opened, def, is_shared);
        if (result != PH_OK) {
            const int kept = errno;
            ph_socket_stop_system();
            errno = kept;
        }
    }
    return result;
}

static ph_result open_socket(const ph_socket_def* def, bool is_shared,
                             const ph_net_simulation* simulation, ph_socket** socket)
{
    *socket = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_socket_open");
    ph_check_made(&check, def->cookie == COOKIE, "ph_socket_def");
    ph_check_that(&check,
                  def->local_address.kind == PH_ADDRESS_IPV4 ||
                      def->local_address.kind == PH_ADDRESS_IPV6,
                  "ph_socket_def.local_address", "none", "an IPv4 or IPv6 address");
    ph_check_range(&check, "ph_socket_def.receive_buffer_bytes", def->receive_buffer_bytes, 0,
                   PH_NO_END);
    ph_check_range(&check, "ph_socket_def.send_buffer_bytes", def->send_buffer_bytes, 0, PH_NO_END);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_socket* opened = ph_allocate_zeroed(&def->allocator, sizeof *opened);
    if (opened == NULL) {
        return ph_fail_memory(&check);
    }
    opened->allocator = def->allocator;
    opened->local = def->local_address;
    opened->simulation = simulation;
    const ph_result result = open_number_or_none(opened, def, is_shared);
    if (result != PH_OK) {
        ph_release(&def->allocator, opened, sizeof *opened);
        return fail_to_open(&check, result, &def->local_address);
    }
    ph_socket_prepare(opened);
    *socket = opened;
    return PH_OK;
}

ph_result ph_socket_open(const ph_socket_def* def, ph_socket** socket)
{
    return open_socket(def, false, NULL, socket);
}

ph_result ph_socket_open_simulated(const ph_socket_def* def, const ph_net_simulation* simulation,
                                   ph_socket** socket)
{
    return open_socket(def, false, simulation, socket);
}

// The first one is bound before it may share, so that an address that another socket has, whether
// that would share it or not, is taken.
ph_result ph_socket_open_shared(const ph_socket_def* def, int count, ph_socket** sockets,
                                int* opened)
{
    PH_ASSERT(count > 0 && count <= PH_SOCKETS_MAX);

    *opened = 0;
    const ph_result result = open_socket(def, false, NULL, &sockets[0]);
    if (result != PH_OK) {
        return result;
    }
    *opened = 1;
    ph_socket_def same = *def;
    same.local_address = sockets[0]->local;
    same.on_error = NULL; // one is enough, that there are no more is no fault
    if (count > 1 && share(sockets[0]->number)) {
        while (*opened < count && open_socket(&same, true, NULL, &sockets[*opened]) == PH_OK) {
            ++*opened;
        }
    }
    return PH_OK;
}

void ph_socket_close(ph_socket* socket)
{
    if (socket == NULL) {
        return;
    }
    if (socket->simulation == NULL) {
        close_number(socket->number);
        ph_socket_stop_system();
    }
    const ph_allocator allocator = socket->allocator;
    ph_release(&allocator, socket, sizeof *socket);
}

ph_address ph_socket_local_address(const ph_socket* socket)
{
    return socket->local;
}

intptr_t ph_socket_handle(const ph_socket* socket)
{
    return (intptr_t)socket->number;
}

bool ph_socket_wait_any(ph_socket* const* sockets, int count, uint64_t timeout_us)
{
    PH_ASSERT(count > 0 && count <= PH_SOCKETS_MAX);

    poll_entry entries[PH_SOCKETS_MAX];
    for (int i = 0; i < count; ++i) {
        entries[i] = poll_entry_of(sockets[i]);
    }
    const uint64_t timeout_ms = timeout_us / 1000 + (timeout_us % 1000 != 0);
    return wait_readable(entries, count, timeout_ms < 1000000 ? (int)timeout_ms : 1000000) > 0;
}

bool ph_socket_wait(ph_socket* socket, uint64_t timeout_us)
{
    return ph_socket_wait_any(&socket, 1, timeout_us);
}

// ---- datagrams

static void count(atomic_uint_fast64_t* counter, int more)
{
    atomic_fetch_add_explicit(counter, (uint_fast64_t)more, memory_order_relaxed);
}

int ph_socket_receive(ph_socket* socket, ph_datagram* datagrams, int max)
{
    PH_ASSERT(max > 0);

    if (socket->simulation != NULL) {
        const int simulated =
            socket->simulation->receive(socket->simulation->context, datagrams, max);
        count(&socket->received, simulated);
        return simulated;
    }
    const int limit = max < PH_SOCKET_BATCH_MAX ? max : PH_SOCKET_BATCH_MAX;
    const int received = ph_socket_receive_batch(socket, datagrams, limit);
    for (int i = 0; i < received; ++i) {
        datagrams[i].peer = ph_sockaddr_take(&socket->from[i]);
    }
    count(&socket->received, received);
    return received;
}

int ph_socket_send(ph_socket* socket, const ph_datagram* datagrams, int datagram_count)
{
    PH_ASSERT(datagram_count >= 0 && datagram_count <= PH_SOCKET_BATCH_MAX);

    const int sent =
        socket->simulation != NULL
            ? socket->simulation->send(socket->simulation->context, datagrams, datagram_count)
            : ph_socket_send_batch(socket, datagrams, datagram_count);
    count(&socket->sent, sent);
    count(&socket->unsent, datagram_count - sent);
    return sent;
}

ph_socket_stats ph_socket_get_stats(const ph_socket* socket)
{
    return (ph_socket_stats){
        .received_datagrams = atomic_load_explicit(&socket->received, memory_order_relaxed),
        .sent_datagrams = atomic_load_explicit(&socket->sent, memory_order_relaxed),
        .unsent_datagrams = atomic_load_explicit(&socket->unsent, memory_order_relaxed),
        .receive_calls = atomic_load_explicit(&socket->receive_calls, memory_order_relaxed),
        .send_calls = atomic_load_explicit(&socket->send_calls, memory_order_relaxed),
    };
}

const char* ph_socket_unsent_reason(const ph_socket* socket, char text[PH_SOCKET_REASON_SIZE])
{
    const int error = atomic_load_explicit(&socket->unsent_error, memory_order_relaxed);
    if (error == 0) {
        text[0] = '\0';
    } else if (error == PH_SOCKET_OTHER_KIND) {
        snprintf(text, PH_SOCKET_REASON_SIZE, "The socket is for %s",
                 socket->local.kind == PH_ADDRESS_IPV4 ? "IPv4 only" : "IPv6");
    } else {
        char system[SYSTEM_TEXT_SIZE];
        snprintf(text, PH_SOCKET_REASON_SIZE, "%s", error_text(error, system));
    }
    return text;
}

// ---- the outbox

void ph_socket_batch_begin(ph_socket_batch* outbox, ph_socket* socket)
{
    outbox->socket = socket;
    outbox->count = 0;
    outbox->used = 0;
}

void ph_socket_batch_flush(ph_socket_batch* outbox)
{
    if (outbox->count > 0) {
        ph_socket_send(outbox->socket, outbox->datagrams, outbox->count);
    }
    outbox->count = 0;
    outbox->used = 0;
}

void ph_socket_batch_add(void* context, const ph_address* to, const void* bytes, size_t size)
{
    ph_socket_batch_add_from(context, to, NULL, bytes, size);
}

void ph_socket_batch_add_from(ph_socket_batch* outbox, const ph_address* to,
                              const ph_address* local, const void* bytes, size_t size)
{
    PH_ASSERT(size <= PH_NETCODE_DATAGRAM_MAX);

    if (outbox->count == PH_SOCKET_BATCH_MAX || outbox->used + size > sizeof outbox->bytes) {
        ph_socket_batch_flush(outbox);
    }
    uint8_t* copy = outbox->bytes + outbox->used;
    memcpy(copy, bytes, size);
    ph_datagram* datagram = &outbox->datagrams[outbox->count++];
    *datagram = (ph_datagram){.peer = *to, .bytes = copy, .size = size};
    if (local != NULL) {
        datagram->local = *local;
    }
    outbox->used += size;
}
