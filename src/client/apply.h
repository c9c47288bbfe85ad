// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The records of a draft that was read and checked as a whole take effect: on what the client
// knows, on what it owes the game as events, on what it shows. Once per packet.

#ifndef PH_CLIENT_APPLY_H
#define PH_CLIENT_APPLY_H

#include "client/client_state.h"

void ph_client_apply(ph_client* client);

#endif
