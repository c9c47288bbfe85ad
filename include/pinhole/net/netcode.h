// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Secure connections by the netcode 1.02 standard, both sides. Each header can also be included by
// itself.

#ifndef PINHOLE_NET_NETCODE_H
#define PINHOLE_NET_NETCODE_H

#include <pinhole/net/address.h>
#include <pinhole/net/netcode_client.h>
#include <pinhole/net/netcode_common.h>
#include <pinhole/net/netcode_server.h>
#include <pinhole/net/netcode_token.h>

#endif
