// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "bus_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORLD_USUAL "world"

bus_options bus_options_default(void)
{
    return (bus_options){.world = WORLD_USUAL, .replicas = 1};
}

int bus_options_rows(bus_options* o, const char* servers, app_option* rows)
{
    const app_option all[] = {
        {.name = servers,
         .summary = "where NATS is, several with commas; without TLS and credentials only on this "
                    "machine",
         .text = &o->servers,
         .value = "nats://ADDRESS"},
        {.name = "--world",
         .summary = "which world, 1..31 of A-Z, a-z, 0-9, '-' and '_' (default " WORLD_USUAL ")",
         .text = &o->world,
         .value = "NAME"},
        {.name = "--name",
         .summary = "of this machine, its own in the world; default: by its kind and process",
         .text = &o->name,
         .value = "NAME"},
        {.name = "--bus-user", .summary = "user at NATS", .text = &o->user, .value = "NAME"},
        {.name = "--bus-password",
         .summary = "beside --bus-user: a file with its password",
         .text = &o->password_path,
         .value = "FILE"},
        {.name = "--bus-token",
         .summary = "in place of a user: a file with a token of NATS",
         .text = &o->token_path,
         .value = "FILE"},
        {.name = "--bus-creds",
         .summary = "in place of a user: a credentials file of NATS (.creds)",
         .text = &o->credentials_path,
         .value = "FILE"},
        {.name = "--bus-ca",
         .summary = "TLS: certificates of those that have signed the servers'",
         .text = &o->ca_path,
         .value = "FILE"},
        {.name = "--bus-cert",
         .summary = "mutual TLS: the own certificate, beside --bus-key",
         .text = &o->certificate_path,
         .value = "FILE"},
        {.name = "--bus-key",
         .summary = "mutual TLS: the key of that certificate",
         .text = &o->key_path,
         .value = "FILE"},
        {.name = "--bus-replicas",
         .summary = "on how many NATS servers the records of ownership are kept: 1, 3 or 5",
         .number = &o->replicas,
         .lo = 1,
         .hi = 5},
        {.name = "--bus-open-network",
         .summary = "allows other machines without TLS and credentials: for networks of one's own",
         .is_set = &o->is_open_network},
    };
    _Static_assert(sizeof all / sizeof *all == BUS_OPTIONS_ROWS, "rows");
    memcpy(rows, all, sizeof all);
    return BUS_OPTIONS_ROWS;
}

static bool complain(const char* command, const char* sentence)
{
    fprintf(stderr, "%s: %s\n", command, sentence);
    return false;
}

static bool is_name(const char* text)
{
    const size_t length = strlen(text);
    return length >= 1 && length <= 31 &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
               length;
}

bool bus_options_check(bus_options* options, const char* command, const char* kind)
{
    if (options->servers == NULL) {
        return complain(command, "say where NATS is, as in '--bus nats://127.0.0.1:4222'.");
    }
    if (strncmp(options->servers, "nats://", 7) != 0 &&
        strncmp(options->servers, "tls://", 6) != 0) {
        return complain(command, "an address of NATS begins with nats:// or tls://, as in "
                                 "'nats://127.0.0.1:4222'.");
    }
    if (options->name == NULL) {
        snprintf(options->made_name, sizeof options->made_name, "%s-%ld", kind, (long)getpid());
        options->name = options->made_name;
    }
    if (!is_name(options->name) || !is_name(options->world)) {
        return complain(command, "--world and --name take 1 to 31 of A-Z, a-z, 0-9, '-' and '_', "
                                 "as in '--world midgard --name front-1'.");
    }
    if (options->replicas % 2 == 0) {
        return complain(command, "--bus-replicas takes 1, 3 or 5.");
    }
    if ((options->user == NULL) != (options->password_path == NULL)) {
        return complain(command, "--bus-user and --bus-password stand together, as in '--bus-user "
                                 "game --bus-password nats.password'.");
    }
    if ((options->user != NULL) + (options->token_path != NULL) +
            (options->credentials_path != NULL) >
        1) {
        return complain(command, "--bus-user, --bus-token and --bus-creds stand in place of each "
                                 "other: leave all but one out.");
    }
    if ((options->certificate_path == NULL) != (options->key_path == NULL)) {
        return complain(command, "--bus-cert and --bus-key stand together.");
    }
    return true;
}

bool bus_options_complain_missing(const char* command)
{
    fprintf(stderr,
            "%s: this program was built without libnats. Install it (Debian: apt-get install "
            "libnats-dev), build again, and worlds on several machines are there.\n",
            command);
    return false;
}
