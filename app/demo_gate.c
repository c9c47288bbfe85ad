// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per request and connection.

#include "demo_gate.h"

#include <stdio.h>
#include <string.h>

enum { HTTP_PORT = 80 };

// ---- where it listens

static bool is_loopback(const ph_address* address)
{
    static const uint8_t SIX[16] = {[15] = 1};
    return address->kind == PH_ADDRESS_IPV4 ? address->bytes[0] == 127
                                            : memcmp(address->bytes, SIX, sizeof SIX) == 0;
}

static bool check_password(const demo_gate* gate, ph_fault* fault)
{
    if (gate->password == NULL) {
        return gate->is_loopback ||
               ph_fault_set(fault, 0, 0,
                            "--listen with any but a loopback address needs --password, as in "
                            "'--password \"open sesame\"': others on the network could see and "
                            "change the demo");
    }
    const size_t length = strlen(gate->password);
    return (length >= DEMO_GATE_PASSWORD_LEAST && length <= DEMO_GATE_PASSWORD_MOST) ||
           ph_fault_set(fault, 0, 0, "--password takes %d to %d bytes", DEMO_GATE_PASSWORD_LEAST,
                        DEMO_GATE_PASSWORD_MOST);
}

bool demo_gate_make(demo_gate* gate, const char* listen, const char* password, ph_fault* fault)
{
    *gate = (demo_gate){.password = password};
    const char* text = listen != NULL ? listen : "127.0.0.1";
    if (ph_address_parse(text, &gate->address, NULL) != PH_OK || gate->address.port != 0) {
        return ph_fault_set(
            fault, 0, 0, "--listen takes an IP address without a port, as 192.168.1.2, not '%.60s'",
            text);
    }
    gate->is_loopback = is_loopback(&gate->address);
    return check_password(gate, fault);
}

void demo_gate_set_port(demo_gate* gate, int port)
{
    gate->port = port;
}

// ---- hosts and origins

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_same(const char* one, const char* other)
{
    while (*one != '\0' && small(*one) == small(*other)) {
        ++one;
        ++other;
    }
    return small(*one) == small(*other);
}

// "localhost:7777". Browsers leave the port of http out.
static bool is_localhost(const demo_gate* gate, const char* host)
{
    char name[32];
    snprintf(name, sizeof name, "localhost:%d", gate->port);
    return is_same(host, name) || (gate->port == HTTP_PORT && is_same(host, "localhost"));
}

bool demo_gate_takes_host(const demo_gate* gate, const char* host)
{
    if (host == NULL) {
        return false;
    }
    if (is_localhost(gate, host)) {
        return true;
    }
    ph_address named;
    if (ph_address_parse(host, &named, NULL) != PH_OK) {
        return false;
    }
    if ((named.port != 0 ? named.port : HTTP_PORT) != gate->port) {
        return false;
    }
    named.port = 0;
    return is_loopback(&named) || ph_address_is_any(&gate->address) ||
           ph_address_is_equal(&named, &gate->address);
}

bool demo_gate_takes_origin(const demo_gate* gate, const char* origin, const char* host)
{
    static const char SCHEME[] = "http://";
    const size_t length = sizeof SCHEME - 1;
    return origin != NULL && demo_gate_takes_host(gate, host) &&
           strncmp(origin, SCHEME, length) == 0 && is_same(origin + length, host);
}

// ---- passwords

// FNV-1a; 0 stands for none.
static uint64_t hash_of(const char* text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text != '\0'; ++text) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return hash != 0 ? hash : 1;
}

// The entry of an address, or the one that was not used for the longest time.
static demo_gate_address* find_address(demo_gate* gate, const char* from)
{
    const uint64_t hash = hash_of(from);
    demo_gate_address* oldest = &gate->wrong[0];
    for (int i = 0; i < DEMO_GATE_ADDRESSES; ++i) {
        demo_gate_address* at = &gate->wrong[i];
        if (at->hash == hash) {
            return at;
        }
        oldest = at->used_us < oldest->used_us ? at : oldest;
    }
    *oldest = (demo_gate_address){.hash = hash};
    return oldest;
}

// All bytes of the longest password there can be are looked at, whatever they are.
static bool is_password(const char* password, const char* text)
{
    char right[DEMO_GATE_PASSWORD_MOST + 1] = {0};
    char given[DEMO_GATE_PASSWORD_MOST + 1] = {0};
    strncpy(right, password, sizeof right - 1);
    strncpy(given, text, sizeof given - 1);
    volatile unsigned char differing = strlen(text) > DEMO_GATE_PASSWORD_MOST ? 1 : 0;
    for (size_t i = 0; i < sizeof right; ++i) {
        differing =
            (unsigned char)(differing | ((unsigned char)right[i] ^ (unsigned char)given[i]));
    }
    return differing == 0;
}

demo_gate_verdict demo_gate_try_password(demo_gate* gate, const char* text, const char* from,
                                         uint64_t now_us)
{
    demo_gate_address* at = find_address(gate, from);
    at->used_us = now_us;
    // Each wrong one costs a pause; DEMO_GATE_TRIES of them may be owed.
    const uint64_t owed_us = at->paid_us > now_us ? at->paid_us - now_us : 0;
    if (owed_us > (DEMO_GATE_TRIES - 1) * DEMO_GATE_PAUSE_US) {
        return DEMO_GATE_WAIT;
    }
    if (gate->password != NULL && is_password(gate->password, text)) {
        return DEMO_GATE_RIGHT;
    }
    at->paid_us = now_us + owed_us + DEMO_GATE_PAUSE_US;
    return DEMO_GATE_WRONG;
}
