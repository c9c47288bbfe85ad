// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where datagrams come from and go to: an IPv4 or IPv6 address with its port. Plain values without
// any socket; text both ways.
//
//     ph_address server;
//     if (ph_address_parse("192.0.2.1:40000", &server, NULL) != PH_OK) { ... }

#ifndef PINHOLE_NET_ADDRESS_H
#define PINHOLE_NET_ADDRESS_H

#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Numbers as in connect tokens.
typedef enum ph_address_kind {
    PH_ADDRESS_NONE = 0,
    PH_ADDRESS_IPV4 = 1,
    PH_ADDRESS_IPV6 = 2,
} ph_address_kind;

/// {0} is no address. What a kind does not use is zero, so that equal addresses have equal bytes.
/// Scope ids do not exist here: they mean nothing to the other end.
typedef struct ph_address {
    /// In network order, as in struct in_addr (the first four) and struct in6_addr.
    uint8_t bytes[16];
    /// In host order.
    uint16_t port;
    /// A ph_address_kind.
    uint16_t kind;
} ph_address;

/// Room for any address as text, the zero at the end included.
#define PH_ADDRESS_TEXT_MAX 56

/// 192.0.2.1:40000
PH_API ph_address ph_address_make_ipv4(const uint8_t bytes[4], uint16_t port);

/// [2001:db8::1]:40000. An IPv4 address in IPv6 clothes (::ffff:192.0.2.1), as sockets for both
/// kinds report them, becomes an IPv4 address: one peer, one name.
PH_API ph_address ph_address_make_ipv6(const uint8_t bytes[16], uint16_t port);

/// Reads "192.0.2.1:40000", "[2001:db8::1]:40000", "[::1]" or "::1"; without a port it is 0.
/// Numbers only, nothing is looked up; nothing may stand before or behind.
/// @return PH_OK, or PH_ERROR_TEXT with *address set to {0} and *error, which may be NULL, filled.
PH_API ph_result ph_address_parse(const char* text, ph_address* address, ph_error* error);

/// Writes what ph_address_parse reads, always with the port; IPv6 in the short lower-case form of
/// RFC 5952; "none" for {0}. @return text.
PH_API const char* ph_address_print(const ph_address* address, char text[PH_ADDRESS_TEXT_MAX]);

/// Room for the name of any host with its port, the zero at the end included.
#define PH_HOST_NAME_MAX 260

/// Looks up "play.example.org:40000" by the system's resolver: up to max addresses of both kinds, in the
/// order in which they should be tried, IPv6 and IPv4 in turns. Numbers as ph_address_parse() reads them
/// are given back without a lookup. The port must be there. **Blocks** until the resolver has answered, for
/// seconds when no name server does: call it from a thread that may wait, never from a tick.
/// @return PH_OK with *count 1 or more; PH_ERROR_TEXT (not of that form), PH_ERROR_SYSTEM (no such host, or
/// the resolver did not answer), PH_ERROR_ARGUMENT (max below 1) with *count 0 and *error, which may be
/// NULL, filled.
PH_API ph_result ph_address_resolve(const char* text, ph_address* addresses, int max, int* count,
                                    ph_error* error);

/// Whether it is 0.0.0.0 or ::, all addresses of a machine: to listen on, none to send to. So is {0}.
PH_API bool ph_address_is_any(const ph_address* address);

/// Whether it is of this machine or of a network that no router of the internet leads to: loopback (127.0.0.0/8,
/// ::1), private (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) or link-local (169.254.0.0/16,
/// fe80::/10). Neither is {0}, nor are 0.0.0.0 and ::.
PH_API bool ph_address_is_private(const ph_address* address);

/// Whether kind, address and port are all the same. {0} equals {0}.
PH_API bool ph_address_is_equal(const ph_address* a, const ph_address* b);

#ifdef __cplusplus
}
#endif

#endif
