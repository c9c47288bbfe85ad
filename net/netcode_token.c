// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

//   connect token, 2048:
//   | version 13 | protocol id 8 | create 8 | expire 8 | nonce 24 | private token 1024 |
//   | timeout 4 | count 4 | addresses | keys 32 + 32 | zeros |

#include <pinhole/net/netcode_token.h>

#include "base/check.h"
#include "net/netcode_bytes.h"
#include "net/netcode_insecure.h"
#include "net/netcode_private.h"
#include "net/net_tools.h"
#include "net/wall_clock.h"
#include "net/netcode_packet.h"

#include <sodium.h>
#include <string.h>

#define COOKIE UINT32_C(0x544F4B31)
// The year 5138; in milliseconds, 1973.
#define CREATE_S_END UINT64_C(100000000000)

_Static_assert(PH_NETCODE_VERSION_SIZE + 3 * 8 + PH_TOKEN_NONCE_SIZE + PH_TOKEN_PRIVATE_SIZE + 4 +
                       4 + PH_TOKEN_ADDRESSES_MAX * PH_NETCODE_IPV6_SIZE +
                       2 * PH_NETCODE_KEY_SIZE <=
                   PH_TOKEN_SIZE,
               "the longest token fits");

ph_token_def ph_token_def_default(void)
{
    return (ph_token_def){.lifetime_s = 30, .timeout_s = 10, .cookie = COOKIE};
}

static ph_result check_def(const ph_token_def* def)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_token_write");
    ph_check_made(&check, def->cookie == COOKIE, "ph_token_def");
    ph_check_range(&check, "ph_token_def.address_count", def->address_count, 1,
                   PH_TOKEN_ADDRESSES_MAX);
    for (int i = 0; i < def->address_count && check.result == PH_OK; ++i) {
        ph_check_range(&check, "ph_token_def.addresses.kind", def->addresses[i].kind,
                       PH_ADDRESS_IPV4, PH_ADDRESS_IPV6);
    }
    ph_check_that(&check, def->timeout_s != 0, "ph_token_def.timeout_s",
                  "0, so that every connection would end at once",
                  "1 or more seconds, or negative for never");
    ph_check_that(&check, def->create_s <= UINT64_MAX - def->lifetime_s, "ph_token_def.create_s",
                  "so late that the end of the token is after the end of time",
                  "a time in Unix seconds");
    ph_insecure_check_key(&check, "ph_token_def.private_key", def->private_key,
                          def->is_insecure_dev);
    return check.result;
}

// By the system's clock, as long as create_s is the present second or the one before (the coarse clock of time() is a
// little behind): so never later than the token is really made. Servers hold it against the time of their start.
static uint64_t made_us(const ph_token_def* def)
{
    const uint64_t now_us = ph_wall_now_us();
    const uint64_t now_s = now_us / 1000000;
    if (now_s == def->create_s || now_s == def->create_s + 1) {
        return now_us;
    }
    return def->create_s < UINT64_MAX / 1000000 ? def->create_s * 1000000 : UINT64_MAX;
}

static void seal_private(const ph_token_def* def, const ph_token_secrets* secrets, bool is_dated,
                         uint8_t sealed[PH_TOKEN_PRIVATE_SIZE])
{
    ph_token_private token = {
        .client_id = def->client_id,
        .timeout_s = def->timeout_s,
        .address_count = def->address_count,
        .is_dated = is_dated,
        .made_us = is_dated ? made_us(def) : 0,
    };
    memcpy(token.addresses, def->addresses, sizeof token.addresses);
    memcpy(token.client_to_server_key, secrets->client_to_server_key, PH_NETCODE_KEY_SIZE);
    memcpy(token.server_to_client_key, secrets->server_to_client_key, PH_NETCODE_KEY_SIZE);
    memcpy(token.user_data, def->user_data, PH_TOKEN_USER_DATA_SIZE);
    const ph_token_seal seal = {
        .protocol_id = def->protocol_id,
        .expire_s = def->create_s + def->lifetime_s,
        .nonce = secrets->nonce,
        .key = def->private_key,
    };
    ph_token_private_seal(&token, &seal, sealed);
    sodium_memzero(&token, sizeof token);
}

static ph_result write_token(const ph_token_def* def, const ph_token_secrets* secrets,
                             bool is_dated, uint8_t token[PH_TOKEN_SIZE])
{
    memset(token, 0, PH_TOKEN_SIZE);
    const ph_result result = check_def(def);
    if (result != PH_OK) {
        return result;
    }
    uint8_t* at = ph_put_version(token);
    at = ph_put_u64(at, def->protocol_id);
    at = ph_put_u64(at, def->create_s);
    at = ph_put_u64(at, def->create_s + def->lifetime_s);
    at = ph_put_bytes(at, secrets->nonce, PH_TOKEN_NONCE_SIZE);
    ph_netcode_start();
    seal_private(def, secrets, is_dated, at);
    at = ph_put_u32(at + PH_TOKEN_PRIVATE_SIZE, (uint32_t)def->timeout_s);
    at = ph_put_addresses(at, def->addresses, def->address_count);
    at = ph_put_bytes(at, secrets->client_to_server_key, PH_NETCODE_KEY_SIZE);
    ph_put_bytes(at, secrets->server_to_client_key, PH_NETCODE_KEY_SIZE);
    return PH_OK;
}

ph_result ph_token_write_with(const ph_token_def* def, const ph_token_secrets* secrets,
                              uint8_t token[PH_TOKEN_SIZE])
{
    return write_token(def, secrets, false, token);
}

// What a backend gets wrong about time, and learns by tokens that no server takes, or takes for ever. Those of tests
// and other makers may have any time.
static ph_result check_time(const ph_token_def* def)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_token_write");
    if (def->cookie != COOKIE) {
        return PH_OK; // said below
    }
    ph_check_that(&check, def->create_s != 0, "ph_token_def.create_s", "0, so that it has expired",
                  "the time now, in Unix seconds, as time(NULL) gives it");
    ph_check_that(&check, def->create_s < CREATE_S_END, "ph_token_def.create_s",
                  "a time in thousands of years, maybe in milliseconds",
                  "the time now, in Unix seconds, as time(NULL) gives it");
    ph_check_that(&check, def->lifetime_s != 0, "ph_token_def.lifetime_s",
                  "0, so that it expires at once", "1 or more seconds");
    return check.result;
}

ph_result ph_token_write(const ph_token_def* def, uint8_t token[PH_TOKEN_SIZE])
{
    if (check_time(def) != PH_OK) {
        memset(token, 0, PH_TOKEN_SIZE);
        return PH_ERROR_ARGUMENT;
    }
    ph_netcode_start();
    ph_token_secrets secrets;
    randombytes_buf(&secrets, sizeof secrets);
    const ph_result result = write_token(def, &secrets, true, token);
    sodium_memzero(&secrets, sizeof secrets);
    return result;
}

static ph_token_fault read_token(const uint8_t* at, ph_token* token)
{
    if (!ph_is_version(at)) {
        return PH_TOKEN_FAULT_VERSION;
    }
    uint32_t timeout;
    at = ph_take_u64(at + PH_NETCODE_VERSION_SIZE, &token->protocol_id);
    at = ph_take_u64(at, &token->create_s);
    at = ph_take_u64(at, &token->expire_s);
    at = ph_take_bytes(at, token->secrets.nonce, PH_TOKEN_NONCE_SIZE);
    at = ph_take_bytes(at, token->sealed, PH_TOKEN_PRIVATE_SIZE);
    at = ph_take_u32(at, &timeout);
    memcpy(&token->timeout_s, &timeout, sizeof timeout);
    if (token->create_s > token->expire_s) {
        return PH_TOKEN_FAULT_TIME;
    }
    switch (ph_take_addresses(&at, token->addresses, &token->address_count)) {
    case PH_ADDRESSES_COUNT:
        return PH_TOKEN_FAULT_ADDRESS_COUNT;
    case PH_ADDRESSES_KIND:
        return PH_TOKEN_FAULT_ADDRESS_KIND;
    case PH_ADDRESSES_GOOD:
        break;
    }
    at = ph_take_bytes(at, token->secrets.client_to_server_key, PH_NETCODE_KEY_SIZE);
    ph_take_bytes(at, token->secrets.server_to_client_key, PH_NETCODE_KEY_SIZE);
    return PH_TOKEN_GOOD;
}

ph_token_fault ph_token_read(const void* bytes, size_t size, ph_token* token)
{
    memset(token, 0, sizeof *token);
    if (size != PH_TOKEN_SIZE) {
        return PH_TOKEN_FAULT_SIZE;
    }
    const ph_token_fault fault = read_token(bytes, token);
    if (fault != PH_TOKEN_GOOD) {
        ph_token_wipe(token);
    }
    return fault;
}

static int digit_of(char letter)
{
    static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";
    const char* found = letter != '\0' ? strchr(DIGITS, letter) : NULL;
    return found != NULL ? (int)(found - DIGITS) % 16 : -1;
}

ph_result ph_key_parse(const char* text, uint8_t key[PH_NETCODE_KEY_SIZE])
{
    const size_t digits = 2 * PH_NETCODE_KEY_SIZE;
    bool is_key = text != NULL;
    for (size_t i = 0; i < digits && is_key; ++i) {
        const int digit = digit_of(text[i]);
        is_key = digit >= 0;
        key[i / 2] = (uint8_t)(i % 2 == 0 ? digit * 16 : key[i / 2] + digit);
    }
    if (!is_key || text[digits + strspn(text + digits, " \r\n")] != '\0') {
        memset(key, 0, PH_NETCODE_KEY_SIZE);
        return PH_ERROR_TEXT;
    }
    return PH_OK;
}

void ph_token_wipe(ph_token* token)
{
    sodium_memzero(token, sizeof *token);
}

const char* ph_token_fault_text(ph_token_fault fault)
{
    static const char* const texts[PH_TOKEN_FAULT_COUNT] = {
        [PH_TOKEN_GOOD] = "good",
        [PH_TOKEN_FAULT_SIZE] = "a token has 2,048 bytes, no more and no less",
        [PH_TOKEN_FAULT_VERSION] = "it is no token of netcode 1.02",
        [PH_TOKEN_FAULT_TIME] = "made later than it expires",
        [PH_TOKEN_FAULT_ADDRESS_COUNT] = "not 1 to 32 addresses",
        [PH_TOKEN_FAULT_ADDRESS_KIND] = "an address that is neither IPv4 nor IPv6",
    };
    return (unsigned)fault < PH_TOKEN_FAULT_COUNT ? texts[fault] : "unknown";
}
