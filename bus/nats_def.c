// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a def of the transport over NATS may say. Runs when a connection is opened.

#include "bus/nats_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { COOKIE = 0x9A7501, WAIT_MAX_MS = 600 * 1000 };

ph_nats_def ph_nats_def_default(void)
{
    return (ph_nats_def){.servers = "nats://127.0.0.1:4222",
                         .name = "pinhole",
                         .bucket = "pinhole",
                         .replicas = 1,
                         .pending_bytes = 64 * 1024 * 1024,
                         .wait_ms = 5000,
                         .cookie = COOKIE};
}

static void cut_servers(ph_check* check, const char* servers, ph_nats_servers* list)
{
    *list = (ph_nats_servers){0};
    ph_check_that(check, servers != NULL && strlen(servers) < sizeof list->text,
                  "ph_nats_def.servers", servers != NULL ? "too long" : "NULL",
                  "URLs with commas between them");
    if (check->result != PH_OK) {
        return;
    }
    memcpy(list->text, servers, strlen(servers) + 1);
    for (char* rest = list->text; rest != NULL;) {
        char* url = rest + strspn(rest, " ");
        rest = strchr(url, ',');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        ph_check_that(check, *url != '\0' && list->count < PH_NATS_SERVERS_MAX,
                      "ph_nats_def.servers",
                      *url == '\0' ? "a list with an empty URL" : "a longer list",
                      "1..64 URLs with commas between them, none of them empty");
        if (check->result != PH_OK) {
            return;
        }
        list->is_tls = list->is_tls || strncmp(url, "tls://", 6) == 0;
        list->urls[list->count++] = url;
    }
}

static bool is_of_this_machine(const char* url)
{
    const char* host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    const char* at = strrchr(host, '@');
    host = at != NULL ? at + 1 : host;
    const size_t size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    unsigned part[4];
    int used = 0;
    char text[64];
    if (size >= sizeof text) {
        return false;
    }
    memcpy(text, host, size);
    text[size] = '\0';
    const bool is_four =
        sscanf(text, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2], &part[3], &used) == 4 &&
        (size_t)used == size;
    return (is_four && part[0] == 127) || strcmp(text, "localhost") == 0 ||
           strcmp(text, "[::1]") == 0;
}

bool ph_nats_has_credentials(const ph_nats_def* def, const char* url)
{
    return def->user != NULL || def->token != NULL || def->credentials_path != NULL ||
           strchr(url, '@') != NULL;
}

bool ph_nats_has_tls(const ph_nats_def* def, const ph_nats_servers* list)
{
    return def->ca_path != NULL || def->certificate_path != NULL || list->is_tls;
}

static void check_network(ph_check* check, const ph_nats_def* def, const ph_nats_servers* list)
{
    for (int i = 0; i < list->count && check->result == PH_OK && !def->is_open_network; ++i) {
        const char* url = list->urls[i];
        const char* at = strrchr(url, '@');
        ph_check_that(check,
                      is_of_this_machine(url) || ph_nats_has_tls(def, list) ||
                          ph_nats_has_credentials(def, url),
                      "ph_nats_def.servers", at != NULL ? at + 1 : url,
                      "of this machine, or come with TLS (ca_path) or credentials (user, token, "
                      "credentials_path), or is_open_network must be true (options --bus-ca, "
                      "--bus-user, --bus-open-network)");
    }
}

static void check_credentials(ph_check* check, const ph_nats_def* def)
{
    const int ways = (def->user != NULL) + (def->token != NULL) + (def->credentials_path != NULL);
    ph_check_that(check, ways <= 1, "ph_nats_def.user", "given beside another way",
                  "the only one of user, token and credentials_path");
    ph_check_that(check, (def->user != NULL) == (def->password != NULL), "ph_nats_def.password",
                  def->password != NULL ? "given without user" : "NULL",
                  "given together with user, or not at all");
    ph_check_that(check, (def->key_path != NULL) == (def->certificate_path != NULL),
                  "ph_nats_def.key_path",
                  def->key_path != NULL ? "given without certificate_path" : "NULL",
                  "given together with certificate_path, or not at all");
}

ph_result ph_nats_check_def(const ph_nats_def* def, ph_nats_servers* list)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_nats_open");
    ph_check_made(&check, def->cookie == COOKIE, "ph_nats_def");
    if (check.result != PH_OK) {
        return check.result;
    }
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char* bucket = def->bucket;
    ph_check_that(&check,
                  bucket != NULL && *bucket != '\0' && strlen(bucket) < PH_NATS_BUCKET_MAX &&
                      strspn(bucket, allowed) == strlen(bucket),
                  "ph_nats_def.bucket", bucket != NULL ? bucket : "NULL",
                  "1..63 characters of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_that(&check, def->name != NULL, "ph_nats_def.name", "NULL", "a text");
    char replicas[PH_COUNT_TEXT_SIZE];
    ph_check_that(&check, def->replicas == 1 || def->replicas == 3 || def->replicas == 5,
                  "ph_nats_def.replicas", ph_count_text(def->replicas, replicas), "1, 3 or 5");
    ph_check_range(&check, "ph_nats_def.pending_bytes",
                   def->pending_bytes <= PH_NATS_PENDING_MAX ? (int64_t)def->pending_bytes
                                                             : INT64_MAX,
                   1, PH_NATS_PENDING_MAX);
    ph_check_range(&check, "ph_nats_def.wait_ms", def->wait_ms, 0, WAIT_MAX_MS);
    check_credentials(&check, def);
    cut_servers(&check, def->servers, list);
    check_network(&check, def, list);
    return check.result;
}

// ---- files

ph_result ph_nats_refuse_file(const ph_nats_def* def, const char* field, const char* path,
                              const char* reason)
{
    const ph_check call = ph_check_begin(def->on_error, def->on_error_context, "ph_nats_open");
    return ph_fail(&call, PH_ERROR_ARGUMENT, field, "is %s, which cannot be used: %s", path,
                   reason);
}

ph_result ph_nats_check_credentials_file(const ph_nats_def* def)
{
    FILE* file = fopen(def->credentials_path, "r");
    char text[256];
    bool has_claims = false;
    bool has_seed = false;
    if (file == NULL) {
        return ph_nats_refuse_file(def, "ph_nats_def.credentials_path", def->credentials_path,
                                   strerror(errno));
    }
    while (fgets(text, sizeof text, file) != NULL) {
        has_claims = has_claims || strstr(text, "BEGIN NATS USER JWT") != NULL;
        has_seed = has_seed || strstr(text, "BEGIN USER NKEY SEED") != NULL;
    }
    fclose(file);
    return has_claims && has_seed
               ? PH_OK
               : ph_nats_refuse_file(def, "ph_nats_def.credentials_path", def->credentials_path,
                                     "a user's JWT and seed do not stand in it");
}
