// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench net`: what a datagram costs the server, from the tick of the world to the system
// call and the acknowledgement, by stage. Next to it, in the same run: a bare sendmmsg loop to the
// same sockets, and the sealing alone.

#include "bench.h"

#include "command.h"
#include "net_scene.h"
#include "net_yardsticks.h"
#include "options.h"
#include "timer.h"

#include "kit/json.h"
#include "kit/progress.h"
#include "tools/tools.h"
#include "net/net_tools.h"

#include <stdlib.h>
#include <string.h>

// Neighbours of a virtual machine disturb it for seconds: with five, one run in eight had no quiet round.
#define ROUNDS_DEFAULT 12
#define ROUND_TICKS 10
#define RATIO_LIMIT 4.0

typedef enum net_stage {
    NET_SCHEDULE = 0, // vision, knowledge, score, pick
    NET_ENCODE,
    NET_SEAL,
    NET_SEND,
    NET_RECEIVE, // opening, messages, acknowledgements
    NET_REST,    // of the tick: sessions, messages, netcode, clocks
    NET_STAGE_COUNT
} net_stage;

static const char* const STAGE_NAMES[NET_STAGE_COUNT] = {
    "schedule", "encode", "seal", "send", "receive", "rest",
};

// In ns per datagram; the best of the rounds.
typedef struct net_result {
    const char* profile;
    int clients;
    double total;
    double worst_total;
    double game; // the steps of the load scene: the game's part, in no other figure
    double bare_send;
    double seal_alone;
    double shares[NET_STAGE_COUNT]; // of the total
    double datagram_bytes;
    double datagrams_per_s;
} net_result;

static uint64_t clock_ns(void* context)
{
    (void)context;
    return (uint64_t)bench_wall_ns();
}

static void keep_least(double* least, double value)
{
    *least = *least == 0.0 || value < *least ? value : *least;
}

// ---- rounds

typedef struct net_round {
    double cpu_ns;  // processor time of the server
    double send_ns; // on the wall, of its two parts
    double receive_ns;
    double game_ns; // on the wall
    double datagrams;
    double bytes;        // on the wire
    double bare_send_ns; // of the yardsticks, for each datagram
    double seal_alone_ns;
} net_round;

static void run_part(net_scene* scene, void (*part)(net_scene*), double* cpu_ns, double* wall_ns)
{
    const double wall_start_ns = bench_wall_ns();
    const double cpu_start_ns = bench_cpu_ns();
    part(scene);
    *cpu_ns += bench_cpu_ns() - cpu_start_ns;
    *wall_ns += bench_wall_ns() - wall_start_ns;
}

// The yardsticks in between, tick by tick: a round is averaged for them as it is for the server.
static net_round run_round(net_scene* scene, net_yardsticks* yardsticks)
{
    net_round round = {0};
    const serve_counts before = serve_front_counts(scene->front);
    for (int i = 0; i < ROUND_TICKS; ++i) {
        net_scene_wait(scene);
        run_part(scene, net_scene_send, &round.cpu_ns, &round.send_ns);
        net_scene_answer(scene);
        run_part(scene, net_scene_receive, &round.cpu_ns, &round.receive_ns);
        if (yardsticks != NULL) {
            round.bare_send_ns += net_yardsticks_send(yardsticks) / ROUND_TICKS;
            round.seal_alone_ns += net_yardsticks_seal(yardsticks) / ROUND_TICKS;
            net_scene_answer(scene); // takes the bare ones away
        }
    }
    const serve_counts after = serve_front_counts(scene->front);
    round.game_ns = (double)(after.game_ns - before.game_ns);
    round.datagrams = (double)(after.host.sent_datagrams - before.host.sent_datagrams);
    round.bytes = (double)(after.host.sent_wire_bytes - before.host.sent_wire_bytes);
    return round;
}

static double payload_bytes(const net_round* round)
{
    return round->bytes / round->datagrams - PH_WIRE_HEADERS_IPV4;
}

static void measure_plain(net_scene* scene, net_yardsticks* yardsticks, net_result* result)
{
    const net_round round = run_round(scene, yardsticks);
    const double total = (round.cpu_ns - round.game_ns) / round.datagrams;
    keep_least(&result->total, total);
    keep_least(&result->game, round.game_ns / round.datagrams);
    keep_least(&result->bare_send, round.bare_send_ns);
    keep_least(&result->seal_alone, round.seal_alone_ns);
    result->worst_total = total > result->worst_total ? total : result->worst_total;
    result->datagram_bytes = payload_bytes(&round);
    result->datagrams_per_s = round.datagrams * 10.0 / ROUND_TICKS;
}

// By a clock on the wall, as asking for processor time takes as long as a stage. So only shares are
// taken from here, and of the round that was disturbed least.
typedef struct net_shares {
    double all_ns; // per datagram; 0: none yet
    double stages_ns[NET_STAGE_COUNT];
} net_shares;

static void share_out(const net_round* round, const ph_host_times* host,
                      const double stage_ns[PH_STAGE_COUNT], net_shares* shares)
{
    double* ns = shares->stages_ns;
    ns[NET_SCHEDULE] = stage_ns[PH_STAGE_VISION] + stage_ns[PH_STAGE_REPLICAS] +
                       stage_ns[PH_STAGE_SCORE] + stage_ns[PH_STAGE_PICK];
    ns[NET_ENCODE] = stage_ns[PH_STAGE_ENCODE];
    ns[NET_SEAL] = (double)host->seal_ns;
    ns[NET_SEND] = (double)host->send_ns;
    ns[NET_RECEIVE] = round->receive_ns;
    const double rest = round->send_ns - round->game_ns - ns[NET_SCHEDULE] - ns[NET_ENCODE] -
                        ns[NET_SEAL] - ns[NET_SEND];
    ns[NET_REST] = rest > 0.0 ? rest : 0.0;
    shares->all_ns = 0.0;
    for (int i = 0; i < NET_STAGE_COUNT; ++i) {
        ns[i] /= round->datagrams;
        shares->all_ns += ns[i];
    }
}

static void measure_stages(net_scene* scene, net_shares* best)
{
    ph_world* world = scene->stage->world;
    const ph_stage_times before = ph_world_stage_times(world);
    const ph_host_times host_before = ph_host_stage_times(scene->host);
    ph_world_set_clock(world, clock_ns, NULL);
    ph_host_set_clock(scene->host, clock_ns, NULL);
    const net_round round = run_round(scene, NULL);
    ph_world_set_clock(world, NULL, NULL);
    ph_host_set_clock(scene->host, NULL, NULL);
    const ph_stage_times after = ph_world_stage_times(world);
    ph_host_times host = ph_host_stage_times(scene->host);
    host.seal_ns -= host_before.seal_ns;
    host.send_ns -= host_before.send_ns;
    double stage_ns[PH_STAGE_COUNT];
    for (int i = 0; i < PH_STAGE_COUNT; ++i) {
        stage_ns[i] = (double)(after.ns[i] - before.ns[i]);
    }
    net_shares shares;
    share_out(&round, &host, stage_ns, &shares);
    if (best->all_ns == 0.0 || shares.all_ns < best->all_ns) {
        *best = shares;
    }
}

static net_yardsticks* make_yardsticks(const net_scene* scene, size_t datagram_bytes)
{
    ph_address* peers = calloc((size_t)scene->client_count, sizeof *peers);
    if (peers == NULL) {
        return NULL;
    }
    for (int i = 0; i < scene->client_count; ++i) {
        peers[i] = ph_socket_local_address(scene->bots[i]->socket);
    }
    net_yardsticks* yardsticks = net_yardsticks_make(peers, scene->client_count, datagram_bytes);
    free(peers);
    return yardsticks;
}

static bool measure(net_scene* scene, int rounds, net_result* result)
{
    net_shares shares = {0};
    const net_round first = run_round(scene, NULL); // finds how large datagrams are
    net_yardsticks* yardsticks = make_yardsticks(scene, (size_t)(payload_bytes(&first) + 0.5));
    if (yardsticks == NULL) {
        return false;
    }
    ph_progress progress = ph_progress_make("bench net", ph_progress_is_wanted());
    const double start_ns = bench_wall_ns();
    for (int round = 0; round < rounds; ++round) {
        measure_plain(scene, yardsticks, result);
        measure_stages(scene, &shares);
        ph_progress_show(&progress, stderr, round + 1, rounds, (bench_wall_ns() - start_ns) * 1e-9);
    }
    ph_progress_end(&progress, stderr);
    net_yardsticks_destroy(yardsticks);
    for (int i = 0; i < NET_STAGE_COUNT; ++i) {
        result->shares[i] = shares.stages_ns[i] / shares.all_ns;
    }
    return true;
}

// ---- output

static double ratio_of(const net_result* result)
{
    return result->total / (result->bare_send + result->seal_alone);
}

static void print_table(const net_result* result)
{
    printf("%s: %d clients, %.0f datagrams a second of %.0f bytes; us per datagram\n",
           result->profile, result->clients, result->datagrams_per_s, result->datagram_bytes);
    for (int i = 0; i < NET_STAGE_COUNT; ++i) {
        printf("  %-24s %8.2f us   %3.0f %%\n", STAGE_NAMES[i],
               result->shares[i] * result->total / 1000.0, 100.0 * result->shares[i]);
    }
    printf("  %-24s %8.2f us   worst round %.2f\n", "all of the server", result->total / 1000.0,
           result->worst_total / 1000.0);
    printf("  %-24s %8.2f us   not in it\n", "the game's own moving", result->game / 1000.0);
    printf("  %-24s %8.2f us\n", "bare sendmmsg", result->bare_send / 1000.0);
    printf("  %-24s %8.2f us\n", "sealing alone", result->seal_alone / 1000.0);
    printf("  %-24s %8.2f      at most %.0f for classic: %s\n\n", "all / those two together",
           ratio_of(result), RATIO_LIMIT, ratio_of(result) <= RATIO_LIMIT ? "kept" : "exceeded");
}

static void print_json(const net_result* result, int rounds)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", "net");
    ph_json_text(&json, "profile", result->profile);
    ph_json_integer(&json, "rounds", rounds);
    ph_json_integer(&json, "clients", result->clients);
    ph_json_number(&json, "datagrams_per_s", result->datagrams_per_s);
    ph_json_number(&json, "datagram_bytes", result->datagram_bytes);
    ph_json_number(&json, "us_per_datagram", result->total / 1000.0);
    ph_json_open(&json, "stage_us");
    for (int i = 0; i < NET_STAGE_COUNT; ++i) {
        ph_json_number(&json, STAGE_NAMES[i], result->shares[i] * result->total / 1000.0);
    }
    ph_json_close(&json);
    ph_json_number(&json, "game_us", result->game / 1000.0);
    ph_json_number(&json, "bare_send_us", result->bare_send / 1000.0);
    ph_json_number(&json, "seal_alone_us", result->seal_alone / 1000.0);
    ph_json_open(&json, "ratio");
    ph_json_number(&json, "net_over_send_and_seal", ratio_of(result));
    ph_json_close(&json);
    ph_json_number(&json, "spread", result->worst_total / result->total);
    ph_json_close(&json);
}

// ---- the command

static int client_count = 1000;
static const char* profile_text = "classic";

static const app_option more[] = {
    {.name = "--clients",
     .summary = "real ones, on loopback, in this process",
     .number = &client_count,
     .lo = 300,
     .hi = PH_NET_CLIENTS_MAX},
    {.name = "--profile",
     .summary = "of the wire",
     .text = &profile_text,
     .value = "WORD",
     .choices = "classic|pinhole"},
    {0},
};

static void print_text(void)
{
    printf(
        "The front-end of pinhole serve on one thread, with as many creatures of 25 properties\n"
        "as clients, 250 of them in each client's view, 13 kbit/s in five sends a second. Views\n"
        "are refreshed twice a second, as by pinhole serve. The\n"
        "clients are real, on loopback; their part is not measured. Processor time for each\n"
        "datagram, of all that the server does for it and for what comes back:\n"
        "\n"
        "  schedule   which entities are visible, what is due, which goes first\n"
        "  encode     writing packets\n"
        "  seal       netcode: ChaCha20-Poly1305\n"
        "  send       the outbox and sendmmsg\n"
        "  receive    recvmmsg, opening, messages, acknowledgements\n"
        "  rest       sessions, messages, netcode's own tick, clocks\n"
        "\n"
        "and, in the same run, the same datagrams by sendmmsg alone to the same sockets, and the\n"
        "sealing alone.\n");
}

static const bench_about about = {
    .command = "pinhole bench net",
    .summary = "what a datagram costs the server",
    .print_text = print_text,
    .example = "--clients 1000 --json",
    .rounds_default = ROUNDS_DEFAULT,
    .more = more,
};

int bench_net(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    const ph_profile profile =
        strcmp(profile_text, "classic") == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    net_scene scene;
    ph_fault fault = {0};
    net_result result = {.profile = profile_text, .clients = client_count};
    bool is_done = net_scene_make(&scene, profile, client_count, &fault);
    is_done = is_done && (measure(&scene, options.rounds, &result) || ph_fault_set_memory(&fault));
    net_scene_destroy(&scene);
    if (!is_done) {
        fprintf(stderr, "%s: %s.\n", about.command, fault.message);
        return APP_EXIT_FAILURE;
    }
    if (options.is_json) {
        print_json(&result, options.rounds);
    } else {
        print_table(&result);
        printf("Best of %d rounds. Compare ratios, not bare times.\n", options.rounds);
    }
    return APP_EXIT_OK;
}
