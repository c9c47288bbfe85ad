// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who may talk to the demo's page server. Every text comes from outside.
//
// Other pages in the same browser must learn and change nothing. A browser lets any page of the Web open a WebSocket
// to 127.0.0.1, but says in Origin which page it is: it must be ours. And a page of the Web may have a name that is
// resolved to 127.0.0.1 (DNS rebinding), so that it is of one origin with us: but then Host has that name, and not
// ours. A name that is an IP address cannot be resolved to another one.
//
// Where the demo listens elsewhere, other people may connect: then a password is wanted, and wrong ones are counted
// by address.

#ifndef PH_APP_DEMO_GATE_H
#define PH_APP_DEMO_GATE_H

#include "kit/fault.h"

#include <pinhole/net/address.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    DEMO_GATE_PASSWORD_LEAST = 8,
    DEMO_GATE_PASSWORD_MOST = 187, // as long as a message may be
    DEMO_GATE_ADDRESSES = 64,      // that are remembered for wrong passwords
    DEMO_GATE_TRIES = 5,           // wrong ones in a row, then one in DEMO_GATE_PAUSE_US
};
#define DEMO_GATE_PAUSE_US UINT64_C(10000000)

typedef struct demo_gate_address {
    uint64_t hash; // of the address as text; 0: none
    uint64_t paid_us;
    uint64_t used_us;
} demo_gate_address;

// Plain data.
typedef struct demo_gate {
    int port;
    bool is_loopback;     // it listens where only this machine comes
    ph_address address;   // that it listens at, without the port
    const char* password; // NULL: none is wanted
    demo_gate_address wrong[DEMO_GATE_ADDRESSES];
} demo_gate;

// listen NULL: 127.0.0.1. The password is kept, not copied. @return False with *fault filled: listen is no IP
// address, or not a loopback one and there is no password, or that is too short or too long.
bool demo_gate_make(demo_gate* gate, const char* listen, const char* password, ph_fault* fault);

// Once the port is known.
void demo_gate_set_port(demo_gate* gate, int port);

// Whether a Host line names this server. NULL: there is none.
bool demo_gate_takes_host(const demo_gate* gate, const char* host);

// Whether an Origin line is that of a page which this server gave, by a Host that it takes.
bool demo_gate_takes_origin(const demo_gate* gate, const char* origin, const char* host);

typedef enum demo_gate_verdict {
    DEMO_GATE_RIGHT = 0,
    DEMO_GATE_WRONG,
    DEMO_GATE_WAIT, // too many wrong ones from this address: not even looked at
} demo_gate_verdict;

// Takes as long for any wrong password as for the right one. from is the address that it came from, as text.
demo_gate_verdict demo_gate_try_password(demo_gate* gate, const char* text, const char* from,
                                         uint64_t now_us);

#endif
