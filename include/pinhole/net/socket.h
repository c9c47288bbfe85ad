// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A UDP socket that talks to any number of peers: never connected, never blocking, many datagrams
// with one call into the system where that has such a call (Linux), one at a time elsewhere.
//
//     while ((count = ph_socket_receive(socket, datagrams, PH_SOCKET_BATCH_MAX)) > 0) { ... }
//     ph_socket_batch batch;
//     ph_socket_batch_begin(&batch, socket);
//     ph_net_server_seal(server, client, bytes, size, &(ph_net_sink){ph_socket_batch_add, &batch});
//     ph_socket_batch_flush(&batch);
//
// What cannot be sent at once is lost, as a network may lose it on the way: a full buffer is not waited
// for. Nothing is allocated after the opening.

#ifndef PINHOLE_NET_SOCKET_H
#define PINHOLE_NET_SOCKET_H

#include <pinhole/error.h>
#include <pinhole/net/netcode_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The most that one receive hands out, and that a batch holds.
#define PH_SOCKET_BATCH_MAX 64

/// How to open a socket. Start from ph_socket_def_default() and change what you need.
typedef struct ph_socket_def {
    /// Where it listens; its kind decides what the socket is. Port 0: any that is free. Default
    /// 127.0.0.1:0. The IPv6 address :: also takes what comes by IPv4.
    ph_address local_address;
    /// What the system shall keep for us while we are busy, in bytes; it may keep less. Default
    /// 4 MiB: a few thousand datagrams.
    int receive_buffer_bytes;
    int send_buffer_bytes;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_socket_def_default(). Do not touch.
    uint32_t cookie;
} ph_socket_def;

typedef struct ph_socket ph_socket;

/// The defaults named above. They will do as they are.
PH_API ph_socket_def ph_socket_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_TAKEN (the port is in use),
/// PH_ERROR_MEMORY, or PH_ERROR_SYSTEM for anything else that the system says no to; *socket is
/// NULL then.
PH_API ph_result ph_socket_open(const ph_socket_def* def, ph_socket** socket);
PH_API void ph_socket_close(ph_socket* socket); // NULL is allowed

/// The most sockets that share an address, or are waited for together.
#define PH_SOCKETS_MAX 64

/// Opens up to count sockets with the same address, one for each thread: what comes from a peer to
/// one address of ours comes always to the same one of them, and any of them may send to any peer. Linux;
/// elsewhere, and where the system refuses the others, it is one. No other user can open the address
/// as well, nor can this function once more; a program of the same user that asks the system for it can,
/// and gets its share: a server wants a user of its own.
/// @return As ph_socket_open; *opened is how many, 0 unless PH_OK.
PH_API ph_result ph_socket_open_shared(const ph_socket_def* def, int count, ph_socket** sockets,
                                       int* opened);

/// Where it listens, with the port that it got.
PH_API ph_address ph_socket_local_address(const ph_socket* socket);

/// What the system knows it by (a file descriptor, or a SOCKET), for waiting on several.
PH_API intptr_t ph_socket_handle(const ph_socket* socket);

/// What time it is, by a clock of the system that never jumps and is the same in all processes of a
/// machine; counted from anywhere. What every now_us of this library may be.
PH_API uint64_t ph_socket_now_us(void);

/// Does nothing for so long, or a little longer.
PH_API void ph_socket_sleep(uint64_t duration_us);

/// Waits until something arrives, but no longer than this; less than a millisecond counts as one.
/// @return Whether something has arrived.
PH_API bool ph_socket_wait(ph_socket* socket, uint64_t timeout_us);

/// The same for several, 1..PH_SOCKETS_MAX. @return Whether something has arrived at any of them.
PH_API bool ph_socket_wait_any(ph_socket* const* sockets, int count, uint64_t timeout_us);

/// One datagram, where it comes from or goes to. Larger ones than any of netcode come as
/// PH_NETCODE_DATAGRAM_MAX + 1 bytes, which netcode refuses.
typedef struct ph_datagram {
    ph_address peer;
    /// Which of our addresses it came to, or is to leave from, so that answers come from where they are expected.
    /// Filled in by sockets that are bound to 0.0.0.0 or :: (Linux); {0} elsewhere, and for the system's choice.
    ph_address local;
    uint8_t* bytes;
    size_t size;
} ph_datagram;

/// Takes what has arrived, at most PH_SOCKET_BATCH_MAX. The bytes may be changed and are valid until the
/// next receive. One thread at a time. @return How many; 0 when there is nothing.
PH_API int ph_socket_receive(ph_socket* socket, ph_datagram* datagrams, int max);

/// Sends count datagrams, at most PH_SOCKET_BATCH_MAX. Several threads may send at the same time, also
/// while another one receives. @return How many the system took; the others are lost and counted.
PH_API int ph_socket_send(ph_socket* socket, const ph_datagram* datagrams, int count);

/// What went through a socket.
typedef struct ph_socket_stats {
    uint64_t received_datagrams;
    uint64_t sent_datagrams;
    uint64_t unsent_datagrams; ///< that the system would not take
    uint64_t receive_calls;    ///< into the system
    uint64_t send_calls;
} ph_socket_stats;

/// Since the opening; named as pinhole/stats.h says. May be asked while others send.
PH_API ph_socket_stats ph_socket_get_stats(const ph_socket* socket);

/// Room for ph_socket_unsent_reason(), the zero at the end included.
#define PH_SOCKET_REASON_SIZE 128

/// Why the system would not take the newest datagram that was not sent, in its own words ("Network is
/// unreachable"); empty when it took all. @return text.
PH_API const char* ph_socket_unsent_reason(const ph_socket* socket,
                                           char text[PH_SOCKET_REASON_SIZE]);

// ---- many datagrams with one call

/// Datagrams that wait to be sent with one call. About 24 KB: one for each thread, on its stack or
/// wherever. Plain data; belongs to one thread.
typedef struct ph_socket_batch {
    ph_socket* socket;
    int count;
    size_t used;
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    uint8_t bytes[16 * PH_NETCODE_DATAGRAM_MAX];
} ph_socket_batch;

/// Makes a batch empty, whatever it was before; the socket must outlive its use.
PH_API void ph_socket_batch_begin(ph_socket_batch* batch, ph_socket* socket);

/// Copies a datagram, and sends all when it is full. A ph_net_send_fn; the context is the batch.
PH_API void ph_socket_batch_add(void* batch, const ph_address* to, const void* bytes, size_t size);

/// The same, and it leaves from this one of our addresses, as in ph_datagram. NULL: the system's choice.
PH_API void ph_socket_batch_add_from(ph_socket_batch* batch, const ph_address* to,
                                     const ph_address* local, const void* bytes, size_t size);

/// Sends what waits.
PH_API void ph_socket_batch_flush(ph_socket_batch* batch);

#ifdef __cplusplus
}
#endif

#endif
