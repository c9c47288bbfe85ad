// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole director`: a wish comes, the sims are asked where the player's entity is, and tokens go back. Nothing is
// kept: several may run at once, and one that dies is missed by no player that is connected. Some 100 us a token.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "director_command.h"

#include "cluster_control.h"
#include "cluster_page.h"
#include "command.h"
#include "director_fronts.h"
#include "key_file.h"
#include "secret.h"
#include "serve_metrics.h"
#include "serve_writer.h"
#include "wall.h"

#include <pinhole/net/socket.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "pinhole director"
#define SECOND_US UINT64_C(1000000)
#define REPORT_US UINT64_C(500000)
#define ASK_AGAIN_US UINT64_C(100000)
#define GIVE_UP_US UINT64_C(400000)
#define SLICE_US UINT64_C(2000)
enum {
    LOG_CAPACITY = 4096,
    WISHES_MAX = 4096, // at a time; what comes beyond is asked again by those that wish
    TIMEOUT_S = 10,
    ROW_COUNT = 6 + BUS_OPTIONS_ROWS + 1,
};

// A wish whose entity the sims are asked for.
typedef struct waiting_wish {
    bus_wish wish;
    uint64_t since_us;
    uint64_t asked_us;
} waiting_wish;

typedef struct director {
    bus_options options;
    const char* key_path;
    const char* metrics_text;
    int metrics_port;
    int token_s;
    int seconds;
    bool is_quiet;
    bool is_controlled;
    uint8_t* key; // in memory for secrets
    serve_writer* log;
    serve_metrics* metrics;
    cluster_bus* bus;
    director_fronts fronts;
    waiting_wish* waiting;
    int waiting_count;
    bus_writer out;
    uint64_t generation; // of the last token
    uint64_t now_us;
    uint64_t wishes;
    uint64_t tokens;
    uint64_t unfound; // entities that no sim knew
    uint64_t refused; // wishes without a front-end
    uint64_t misread;
} director;

static volatile sig_atomic_t is_asked_to_stop;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

// ---- options

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": tokens for players, by place and load of the front-ends\n"
        "\n"
        "usage: " COMMAND " --bus nats://ADDRESS --key FILE [options]\n"
        "\n"
        "Answers wishes of logins and of front-ends (docs/distributed.md): it asks the sims where\n"
        "the player's entity is, takes the nearest front-ends that have room, and makes a token\n"
        "for the first and spares for the others. It stores nothing; several may run at once.\n"
        "Whoever may publish on the bus gets tokens for any player: a login stands before it.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --bus nats://127.0.0.1:4222 --key server.key\n");
}

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

static bool parse(director* d, int argc, char** argv, int* status)
{
    static app_option table[ROW_COUNT];
    const app_option all[] = {
        {.name = "--key",
         .summary = "key of director and front-ends, 64 hexadecimal digits",
         .text = &d->key_path,
         .value = "FILE"},
        {.name = "--token-life",
         .summary = "how long a token or spare is good, in s",
         .number = &d->token_s,
         .lo = 5,
         .hi = 86400},
        {.name = "--metrics",
         .summary = "port on 127.0.0.1 for Prometheus; 0: any that is free; without it none",
         .text = &d->metrics_text,
         .value = "PORT"},
        {.name = "--seconds",
         .summary = "ends after so long; 0: never",
         .number = &d->seconds,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--controlled",
         .summary = "by pinhole cluster: reports to it; loopback only",
         .is_set = &d->is_controlled},
        {.name = "--quiet", .summary = "no line per second", .is_set = &d->is_quiet},
    };
    const int count = (int)(sizeof all / sizeof *all);
    d->options = bus_options_default();
    d->token_s = 3600;
    memcpy(table, all, sizeof all);
    table[count + bus_options_rows(&d->options, "--bus", table + count)] = (app_option){0};
    const app_usage usage = {COMMAND, print_help};
    if (!app_options_read(&usage, table, argc, argv, status) ||
        !bus_options_check(&d->options, COMMAND, "director")) {
        return false;
    }
    if (d->key_path == NULL) {
        return complain("say the key of the front-ends, as in '--key server.key'; 'pinhole token "
                        "--make-key server.key' makes one.");
    }
    return d->metrics_text == NULL || app_option_port(d->metrics_text, &d->metrics_port) ||
           complain("--metrics takes a port from 0 to 65535, as in '--metrics 9100'.");
}

// ---- tokens

static bool make_token(const director* d, const ph_token_def* common, const ph_ticket* ticket,
                       uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def* def = app_secret_create(sizeof *def);
    if (def == NULL) {
        return false;
    }
    *def = *common;
    ph_ticket_write(ticket, def->user_data);
    memcpy(def->private_key, d->key, sizeof def->private_key);
    const bool is_made = ph_token_write(def, token) == PH_OK;
    app_secret_destroy(def, sizeof *def);
    return is_made;
}

static bool make_token_for(director* d, const bus_wish* wish, const director_front* front,
                           const ph_ticket* ticket, uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def def = ph_token_def_default();
    def.protocol_id = APP_PROTOCOL_ID;
    def.client_id = wish->client_id;
    def.create_s = app_wall_unix_s();
    def.lifetime_s = (uint32_t)d->token_s;
    def.timeout_s = TIMEOUT_S;
    def.addresses[def.address_count++] = front->report.address;
    const bool is_made = make_token(d, &def, ticket, token);
    d->tokens += is_made;
    return is_made;
}

static void send(director* d, const bus_wish* wish, const bus_grant* grant)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, d->options.world, wish->reply_to);
    bus_writer_clear(&d->out);
    if (bus_write_grant(&d->out, grant)) {
        cluster_bus_publish(d->bus, subject, d->out.bytes, d->out.size);
    }
}

// found NULL: no sim has said where it is.
static void grant_tokens(director* d, const bus_wish* wish, const bus_found* found)
{
    const director_front* chosen[DIRECTOR_CHOICES_MAX];
    const director_question question = {
        .place_mm = found != NULL ? found->place_mm : NULL,
        .not_front = wish->not_front,
        .count = wish->token_count,
        .client_id = wish->client_id,
    };
    const int count = director_fronts_choose(&d->fronts, &question, chosen);
    uint8_t tokens[DIRECTOR_CHOICES_MAX * PH_TOKEN_SIZE];
    bus_grant grant = {.number = wish->number, .client_id = wish->client_id, .tokens = tokens};
    const uint64_t clock_us = cluster_control_unix_us();
    // Never one that was given before, also when the clock was set back a little.
    d->generation = clock_us > d->generation ? clock_us : d->generation + 1;
    for (int i = 0; i < count; ++i) {
        const ph_ticket ticket = {
            .generation = d->generation++,
            .key = wish->key,
            .region = found != NULL ? found->region : PH_REGION_NONE,
            .is_spare = wish->is_spare || i > 0,
        };
        if (make_token_for(d, wish, chosen[i], &ticket,
                           tokens + (size_t)grant.token_count * PH_TOKEN_SIZE)) {
            ++grant.token_count;
        }
    }
    if (grant.token_count == 0) {
        ++d->refused;
        snprintf(grant.text, sizeof grant.text, "%s",
                 d->fronts.count == 0 ? "there is no front-end now"
                                      : "no other front-end has room now");
    }
    send(d, wish, &grant);
    app_secret_wipe(tokens, sizeof tokens);
}

// ---- wishes

static void ask(director* d, waiting_wish* waits)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_find find = {.key = waits->wish.key};
    snprintf(find.reply_to, sizeof find.reply_to, "%s", d->options.name);
    bus_subject_world(subject, "find", d->options.world);
    bus_writer_clear(&d->out);
    waits->asked_us = d->now_us;
    if (bus_write_find(&d->out, &find)) {
        cluster_bus_publish(d->bus, subject, d->out.bytes, d->out.size);
    }
}

static void take_wish(director* d, const bus_wish* wish)
{
    ++d->wishes;
    if (d->waiting_count == WISHES_MAX) {
        return;
    }
    waiting_wish* waits = &d->waiting[d->waiting_count++];
    *waits = (waiting_wish){.wish = *wish, .since_us = d->now_us};
    ask(d, waits);
}

static void take_found(director* d, const bus_found* found)
{
    for (int i = d->waiting_count - 1; i >= 0; --i) {
        if (d->waiting[i].wish.key == found->key) {
            grant_tokens(d, &d->waiting[i].wish, found);
            d->waiting[i] = d->waiting[--d->waiting_count];
        }
    }
}

static void look_after_wishes(director* d)
{
    for (int i = d->waiting_count - 1; i >= 0; --i) {
        waiting_wish* waits = &d->waiting[i];
        if (d->now_us - waits->since_us >= GIVE_UP_US) {
            ++d->unfound;
            grant_tokens(d, &waits->wish, NULL);
            *waits = d->waiting[--d->waiting_count];
        } else if (d->now_us - waits->asked_us >= ASK_AGAIN_US) {
            ask(d, waits);
        }
    }
}

static bool on_message(void* context, const ph_bus_message* message)
{
    director* d = context;
    bus_kind kind = 0;
    ph_bus_refusal refusal;
    union {
        bus_front_report report;
        bus_wish wish;
        bus_found found;
    } read;
    const uint8_t* bytes = message->bytes;
    const size_t size = message->size;
    bool is_read = bus_read_kind(bytes, size, &kind, &refusal);
    if (is_read && kind == BUS_FRONT_REPORT) {
        is_read = bus_read_front_report(&read.report, bytes, size, &refusal);
        if (is_read) {
            director_fronts_take(&d->fronts, &read.report, d->now_us);
        }
    } else if (is_read && kind == BUS_WISH) {
        is_read = bus_read_wish(&read.wish, bytes, size, &refusal);
        if (is_read) {
            take_wish(d, &read.wish);
        }
    } else if (is_read && kind == BUS_FOUND) {
        is_read = bus_read_found(&read.found, bytes, size, &refusal);
        if (is_read) {
            take_found(d, &read.found);
        }
    }
    d->misread += !is_read;
    return true;
}

// ---- running

static bool subscribe(director* d)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "fronts", d->options.world);
    bool is_done = cluster_bus_subscribe(d->bus, subject);
    bus_subject_world(subject, "wish", d->options.world);
    is_done = cluster_bus_subscribe(d->bus, subject) && is_done;
    bus_subject_to(subject, d->options.world, d->options.name);
    return cluster_bus_subscribe(d->bus, subject) && is_done;
}

static bool fail(const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s.\n", fault->message);
    return false;
}

static bool open_all(director* d)
{
    ph_fault fault = {0};
    d->key = app_secret_create(PH_NETCODE_KEY_SIZE);
    d->waiting = calloc(WISHES_MAX, sizeof *d->waiting);
    d->log = serve_writer_create(STDOUT_FILENO, false, LOG_CAPACITY, "log");
    bus_writer_init(&d->out, &(ph_allocator){0});
    if (d->key == NULL || d->waiting == NULL || d->log == NULL) {
        ph_fault_set_memory(&fault);
        return fail(&fault);
    }
    if (!app_key_read(d->key_path, d->key, &fault)) {
        return fail(&fault);
    }
    if (d->metrics_text != NULL) {
        d->metrics = serve_metrics_open(d->metrics_port, &fault);
        if (d->metrics == NULL) {
            return fail(&fault);
        }
    }
    d->bus = cluster_bus_open(&d->options, &fault);
    if (d->bus == NULL) {
        fprintf(stderr, COMMAND ": %s: %s.\n", d->options.servers, fault.message);
        return false;
    }
    cluster_bus_set_tap(d->bus, on_message, d);
    return subscribe(d) || complain("NATS does not let us subscribe.");
}

static void close_all(director* d)
{
    cluster_bus_close(d->bus);
    serve_metrics_close(d->metrics);
    serve_writer_destroy(d->log);
    bus_writer_destroy(&d->out);
    free(d->waiting);
    app_secret_destroy(d->key, PH_NETCODE_KEY_SIZE);
}

static void tell_second(director* d)
{
    static cluster_page page;
    int clients = 0;
    for (int i = 0; i < d->fronts.count; ++i) {
        clients += (int)d->fronts.all[i].report.clients;
    }
    if (!d->is_quiet) {
        serve_writer_add(d->log,
                         "fronts %d clients %d  wishes %llu tokens %llu waiting %d  unfound %llu "
                         "refused %llu misread %llu",
                         d->fronts.count, clients, (unsigned long long)d->wishes,
                         (unsigned long long)d->tokens, d->waiting_count,
                         (unsigned long long)d->unfound, (unsigned long long)d->refused,
                         (unsigned long long)d->misread);
    }
    const ph_nats_stats nats = cluster_bus_stats(d->bus);
    page = (cluster_page){0};
    cluster_page_gauge(&page, "director_fronts", "Front-ends that report now.", d->fronts.count);
    cluster_page_gauge(&page, "director_clients", "Players at all of them now.", clients);
    cluster_page_count(&page, "director_wishes_total", "Wishes that came.", d->wishes);
    cluster_page_count(&page, "director_tokens_total", "Tokens and spares made.", d->tokens);
    cluster_page_count(&page, "director_unfound_total", "Entities that no sim knew.", d->unfound);
    cluster_page_count(&page, "director_refused_total", "Wishes without a front-end.", d->refused);
    cluster_page_count(&page, "director_misread_total", "Malformed messages.", d->misread);
    cluster_page_nats(&page, &nats);
    serve_metrics_set_text(d->metrics, page.text);
}

static void report(director* d)
{
    char subject[PH_BUS_SUBJECT_MAX];
    char line[CLUSTER_REPORT_MAX];
    const int length =
        snprintf(line, sizeof line,
                 "%s kind=director pid=%ld fronts=%d wishes=%llu tokens=%llu "
                 "nats=%s",
                 d->options.name, (long)getpid(), d->fronts.count, (unsigned long long)d->wishes,
                 (unsigned long long)d->tokens, cluster_bus_stats(d->bus).server);
    cluster_control_subject(subject, "report", d->options.world);
    cluster_bus_publish(d->bus, subject, line, (size_t)length);
}

static void run(director* d)
{
    const uint64_t start_us = ph_socket_now_us();
    uint64_t told_us = start_us;
    uint64_t reported_us = 0;
    const uint64_t end_us = (uint64_t)d->seconds * SECOND_US;
    for (d->now_us = start_us; !is_asked_to_stop; d->now_us = ph_socket_now_us()) {
        if (end_us > 0 && d->now_us - start_us >= end_us) {
            break;
        }
        cluster_bus_receive(d->bus);
        director_fronts_forget(&d->fronts, d->now_us);
        look_after_wishes(d);
        serve_metrics_serve(d->metrics);
        if (d->now_us - told_us >= SECOND_US) {
            told_us = d->now_us;
            tell_second(d);
        }
        if (d->is_controlled && d->now_us - reported_us >= REPORT_US) {
            reported_us = d->now_us;
            report(d);
        }
        ph_socket_sleep(SLICE_US);
    }
}

int director_command(int argc, char** argv)
{
    static director d;
    int status;
    if (!parse(&d, argc, argv, &status)) {
        return status;
    }
    app_secret_protect_process();
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    const bool is_open = open_all(&d);
    if (is_open) {
        serve_writer_add(d.log, "world %s, director %s, connected to NATS at %s", d.options.world,
                         d.options.name, cluster_bus_stats(d.bus).server);
        if (d.metrics != NULL) {
            serve_writer_add(d.log, "metrics on http://127.0.0.1:%d/metrics",
                             serve_metrics_port(d.metrics));
        }
        run(&d);
    }
    close_all(&d);
    return is_open ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
