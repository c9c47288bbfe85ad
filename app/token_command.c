// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole token`: what a backend does for a player, by hand. Makes keys, too.

#include "token_command.h"

#include "command.h"
#include "key_file.h"
#include "options.h"
#include "output_file.h"
#include "secret.h"
#include "wall.h"
#include <pinhole/net/netcode_token.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole token"

typedef struct token_options {
    const char* make_key_path;
    const char* key_path;
    const char* servers;
    const char* client;
    const char* out_path;
    int seconds;
    int timeout_s;
} token_options;

static int complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return APP_EXIT_USAGE;
}

static void print_help(const app_option* table)
{
    printf(COMMAND
           ": a connect token, which lets one client into a server once\n"
           "\n"
           "usage: " COMMAND " --make-key FILE\n"
           "       " COMMAND " --key FILE --server ADDRESS --client N --out FILE [options]\n"
           "\n"
           "What a backend does for a player who has logged in. The token (2048 bytes) holds\n"
           "the keys of one connection: give it to its player alone, and keep its life short.\n"
           "The key belongs to backend and servers only. Make tokens while the server runs: it\n"
           "refuses those made before its start, unless it has --spent-tokens.\n"
           "\n"
           "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND
           " --key server.key --server 127.0.0.1:40000 --client 7 --out me.token\n");
}

static bool parse(token_options* o, int argc, char** argv, int* status)
{
    const app_option table[] = {
        {.name = "--make-key",
         .summary = "make a new key of 32 bytes for backend and servers",
         .text = &o->make_key_path,
         .value = "FILE"},
        {.name = "--key",
         .summary = "the servers' key, 64 hexadecimal digits",
         .text = &o->key_path,
         .value = "FILE"},
        {.name = "--server",
         .summary = "where the client finds its server: 192.0.2.1:40000 or [2001:db8::1]:40000; "
                    "several with commas",
         .text = &o->servers,
         .value = "ADDRESS"},
        {.name = "--client",
         .summary = "number of the player, 0 or more; one is let in once at a time",
         .text = &o->client,
         .value = "N"},
        {.name = "--seconds",
         .summary = "how long the client may begin to connect with it",
         .number = &o->seconds,
         .lo = 1,
         .hi = 86400},
        {.name = "--timeout",
         .summary = "the connection ends after so many seconds of silence",
         .number = &o->timeout_s,
         .lo = 5, // servers keep connections alive every 1.5 s
         .hi = 3600},
        {.name = "--out",
         .summary = "where the token goes, readable for its owner only; - for standard output",
         .text = &o->out_path,
         .value = "FILE"},
        {0},
    };
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status);
}

static int complain_of_server(const char* text, size_t length)
{
    fprintf(stderr,
            COMMAND
            ": --server: '%.*s' is no address in numbers with a port, as in '--server "
            "127.0.0.1:40000' or '--server [2001:db8::1]:40000'; names are not looked up.\n",
            (int)(length < PH_ADDRESS_TEXT_MAX ? length : PH_ADDRESS_TEXT_MAX), text);
    return APP_EXIT_USAGE;
}

static int read_servers(const char* text, ph_token_def* def)
{
    while (def->address_count < PH_TOKEN_ADDRESSES_MAX) {
        char one[PH_ADDRESS_TEXT_MAX] = {0};
        const size_t length = strcspn(text, ",");
        ph_address* address = &def->addresses[def->address_count];
        memcpy(one, text, length < sizeof one ? length : 0);
        if (ph_address_parse(one, address, NULL) != PH_OK || address->port == 0) {
            return complain_of_server(text, length);
        }
        ++def->address_count;
        if (text[length] == '\0') {
            return APP_EXIT_OK;
        }
        text += length + 1;
    }
    return complain("--server takes up to 32 addresses, with commas between them.");
}

static bool read_client(const char* text, uint64_t* client_id)
{
    char* end = NULL;
    errno = 0;
    *client_id = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static int complain_of(const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s.\n", fault->message);
    return APP_EXIT_FAILURE;
}

static int write_token(const char* path, const uint8_t token[PH_TOKEN_SIZE])
{
    ph_fault fault = {0};
    if (strcmp(path, "-") == 0) {
        return fwrite(token, PH_TOKEN_SIZE, 1, stdout) == 1 ? APP_EXIT_OK : APP_EXIT_FAILURE;
    }
    return app_secret_file_write(path, token, PH_TOKEN_SIZE, &fault) ? APP_EXIT_OK
                                                                     : complain_of(&fault);
}

// def lies in memory for secrets.
static int make_token(const token_options* options, ph_token_def* def)
{
    ph_fault fault = {0};
    *def = ph_token_def_default();
    def->protocol_id = APP_PROTOCOL_ID;
    def->create_s = app_wall_unix_s();
    def->lifetime_s = (uint32_t)options->seconds;
    def->timeout_s = options->timeout_s;
    const int status_of_servers = read_servers(options->servers, def);
    if (status_of_servers != APP_EXIT_OK) {
        return status_of_servers;
    }
    if (!read_client(options->client, &def->client_id)) {
        return complain("--client takes a whole number from 0 to 2^64 - 1, as in '--client 7'.");
    }
    if (!app_key_read(options->key_path, def->private_key, &fault)) {
        return complain_of(&fault);
    }
    uint8_t token[PH_TOKEN_SIZE];
    const ph_result result = ph_token_write(def, token);
    if (result != PH_OK) {
        fprintf(stderr, COMMAND ": no token can be made of this: %s\n", ph_result_text(result));
        return APP_EXIT_FAILURE;
    }
    const int status = write_token(options->out_path, token);
    app_secret_wipe(token, sizeof token);
    return status;
}

static int make_key(const char* path)
{
    uint8_t key[PH_NETCODE_KEY_SIZE];
    ph_fault fault = {0};
    const bool is_made = app_key_make(path, key, &fault);
    app_key_wipe(key);
    return is_made ? APP_EXIT_OK : complain_of(&fault);
}

int token_command(int argc, char** argv)
{
    token_options options = {.seconds = 30, .timeout_s = 10};
    int status;
    if (!parse(&options, argc, argv, &status)) {
        return status;
    }
    app_secret_protect_process();
    if (options.make_key_path != NULL) {
        return make_key(options.make_key_path);
    }
    if (options.key_path == NULL || options.servers == NULL || options.client == NULL ||
        options.out_path == NULL) {
        return complain("say --key, --server, --client and --out, or --make-key alone; '" COMMAND
                        " --help' has an example.");
    }
    if (app_is_same_file(options.key_path, options.out_path)) {
        return complain("--out names the key: it would be lost. Name another file for the token.");
    }
    ph_token_def* def = app_secret_create(sizeof *def);
    if (def == NULL) {
        ph_fault fault;
        ph_fault_set_memory(&fault);
        return complain_of(&fault);
    }
    status = make_token(&options, def);
    app_secret_destroy(def, sizeof *def);
    return status;
}
