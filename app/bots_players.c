// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A peer is ticked when something has come for it, and some times a second; more often while its server is silent or it
// moves, as then it goes by the clock alone. By crews, which the threads share.

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // epoll
#endif

#include "bots_players.h"

#include "bots_players_report.h"
#include "bots_players_state.h"
#include "net/peer_state.h"
#include "scene_help.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define COMMAND "pinhole bots"
#define SECOND_US UINT64_C(1000000)
#define REPORT_US UINT64_C(500000)
#define WISH_AGAIN_US UINT64_C(1500000)
#define CHECK_US UINT64_C(250000)
#define INPUT_US UINT64_C(100000)
#define SILENT_US UINT64_C(200000)
enum {
    TICK_US = 10000,        // of a peer, for up to FEW of them; with more of them in proportion
    SILENT_TICK_US = 30000, // the same, of one that goes by the clock
    FEW = 200,
    READY_MAX = 256,
    SPARES = 2,
    CHAT_BYTES = 16,
};

static volatile sig_atomic_t is_asked_to_stop;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

// ---- tokens

static void wish(players* all, player* at)
{
    const ph_bus_wish wanted = {.client_id = at->client_id, .key = at->key, .spare_count = SPARES};
    at->wished_us = all->now_us;
    at->is_waiting = ph_bus_login_wish(all->login, &wanted, all->now_us) == PH_OK;
}

static void take_grant(players* all, const ph_bus_grant* grant)
{
    const uint64_t i = grant->client_id - (uint64_t)all->options->first_id;
    if (i >= (uint64_t)all->count) {
        return;
    }
    player* at = &all->all[i];
    at->is_waiting = false;
    if (grant->token_count < 1 || ph_peer_get_state(at->peer) != PH_PEER_STATE_IDLE ||
        ph_peer_connect(at->peer, grant->tokens, PH_TOKEN_SIZE) != PH_OK) {
        return;
    }
    at->moves = 0;
    at->processed = 0;
    at->is_interrupted = false;
    for (int spare = 1; spare < grant->token_count; ++spare) {
        (void)ph_peer_add_spare(at->peer, grant->tokens + (size_t)spare * PH_TOKEN_SIZE,
                                PH_TOKEN_SIZE);
    }
}

// What is not of the demonstration is the login's.
static bool on_message(void* context, const ph_bus_message* message)
{
    players* all = context;
    const uint64_t start_us = all->control.start_us;
    if (!all->options->is_controlled || !cluster_control_take(&all->control, message)) {
        return false;
    }
    if (start_us != 0 && all->control.start_us != start_us) { // it goes on behind a comparison
        all->window_us = all->now_us;
    }
    return true;
}

static bool open_login(players* all)
{
    ph_bus_login_def def = ph_bus_login_def_default();
    def.transport = cluster_bus_transport(all->bus);
    def.world_name = all->options->bus.world;
    def.name = all->options->bus.name;
    def.capacity = all->count;
    return ph_bus_login_create(&def, &all->login) == PH_OK;
}

// ---- messages and inputs

static void put_u32(uint8_t* bytes, uint32_t number)
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
}

static void write_chat(const player* at, uint32_t number, uint8_t bytes[CHAT_BYTES])
{
    put_u32(bytes, (uint32_t)at->client_id);
    put_u32(bytes + 4, (uint32_t)(at->client_id >> 32));
    put_u32(bytes + 8, at->incarnation);
    put_u32(bytes + 12, number);
}

// What was under way is lost, and both ends count anew.
static void begin_messages_anew(player* at)
{
    at->crew->chat_sent -= at->chat_sent - at->chat_returned;
    at->chat_sent = 0;
    at->chat_returned = 0;
    ++at->incarnation;
}

static void talk(const players* all, player* at)
{
    const double chat_hz = all->options->chat_hz;
    uint8_t bytes[CHAT_BYTES];
    if (chat_hz > 0.0 && !all->stands && all->now_us >= at->chat_us) {
        at->chat_us = all->now_us + (uint64_t)(1e6 / chat_hz);
        write_chat(at, at->chat_sent + 1, bytes);
        if (ph_peer_send(at->peer, bytes, sizeof bytes) == PH_OK) {
            ++at->chat_sent;
            ++at->crew->chat_sent;
            bots_echo_send(&at->echo, at->chat_sent, all->now_us);
        }
    }
    if (all->now_us >= at->input_us) {
        at->input_us = all->now_us + INPUT_US;
        put_u32(bytes, (uint32_t)(all->now_us / 1000));
        at->crew->inputs += ph_peer_set_input(at->peer, bytes, 4) != 0;
    }
    const uint32_t processed = ph_peer_processed_input(at->peer);
    if (processed < at->processed) {
        ++at->crew->backward_inputs;
    }
    at->processed = processed;
}

static void take_chat(const players* all, player* at, const ph_peer_event* event)
{
    uint8_t expected[CHAT_BYTES];
    write_chat(at, at->chat_returned + 1, expected);
    if (event->size == sizeof expected && memcmp(event->bytes, expected, sizeof expected) == 0) {
        ++at->chat_returned;
        ++at->crew->chat_returned;
        bots_echo_return(&at->echo, &at->crew->echoes, at->chat_returned, all->now_us);
    } else {
        ++at->crew->chat_wrong;
    }
}

// ---- events

static void note_end(player* at, const char* text)
{
    const ph_peer_stats stats = ph_peer_get_stats(at->peer);
    at->false_alarms += stats.false_alarms;
    at->failed_moves += stats.failed_moves;
    if (at->was_joined) {
        ++at->crew->ended;
        snprintf(at->crew->text, sizeof at->crew->text, "%s", text);
    }
    at->was_joined = false;
    at->wished_us = 0; // again at once
    begin_messages_anew(at);
}

static void take_events(const players* all, player* at)
{
    for (ph_peer_event event; ph_peer_next_event(at->peer, &event);) {
        switch (event.kind) {
        case PH_PEER_CONNECTED:
            at->was_joined = true;
            ++at->crew->joins;
            break;
        case PH_PEER_MOVED:
            ++at->crew->moves;
            bots_echo_move(&at->echo, all->now_us);
            if (!event.is_continued) {
                ++at->crew->discontinued;
                begin_messages_anew(at);
                at->processed = 0;
            }
            break;
        case PH_PEER_MESSAGE:
            take_chat(all, at, &event);
            break;
        case PH_PEER_REFUSED:
        case PH_PEER_DISCONNECTED:
            note_end(at, event.text);
            break;
        default:
            break;
        }
    }
}

// A move is over when the new front-end shows something.
static void note_moves(const players* all, player* at)
{
    players_crew* crew = at->crew;
    const ph_peer_stats stats = ph_peer_get_stats(at->peer);
    if (stats.moves > at->moves) {
        at->moves = stats.moves;
        at->is_interrupted = true;
    }
    if (at->is_interrupted && at->peer->move.silent_us == 0) {
        at->is_interrupted = false;
        if (crew->interruption_count < PLAYERS_INTERRUPTIONS_MAX) {
            crew->interruptions[crew->interruption_count++] =
                (interruption){.at_us = all->now_us, .ms = stats.interrupted_ms};
        }
    }
}

// ---- the truth

static void begin_check(players* all, uint64_t tick)
{
    ph_fault fault;
    const int32_t radius_mm = (int32_t)(all->options->radius_m * 1000.0);
    cluster_check_end(&all->check);
    cluster_truth_seek(all->truth, tick);
    all->checked_tick =
        cluster_check_begin(&all->check, all->truth, radius_mm, &fault) ? tick : UINT64_MAX;
    for (int i = 0; i < all->count; ++i) {
        all->all[i].is_equal = false;
        all->all[i].difference = (cluster_difference){0};
        all->all[i].check_us = all->now_us + CHECK_US;
    }
}

static void check(const players* all, player* at)
{
    if (all->now_us < at->check_us) {
        return;
    }
    at->check_us = all->now_us + CHECK_US * (uint64_t)(1 + all->count / FEW);
    at->is_equal =
        cluster_check_is_equal(&all->check, ph_peer_view(at->peer), at->key, &at->difference) &&
        player_is_joined(at);
}

// ---- running

static void turn(const players* all, player* at)
{
    if (ph_peer_get_state(at->peer) == PH_PEER_STATE_IDLE) {
        if (!at->is_waiting &&
            (at->wished_us == 0 || all->now_us - at->wished_us >= WISH_AGAIN_US)) {
            at->is_wishing = true;
        }
        return;
    }
    ph_peer_tick(at->peer);
    bots_players_link_tick(at->link);
    take_events(all, at);
    note_moves(all, at);
    if (player_is_joined(at)) {
        talk(all, at);
    }
    if (all->stands) {
        check(all, at);
    }
}

static void begin_some(players* all)
{
    const double ramp = all->options->ramp;
    const double due =
        ramp > 0.0 ? 1.0 + ramp * (double)(all->now_us - all->start_us) / 1e6 : all->count;
    while (all->begun < all->count && all->begun < due) {
        all->all[all->begun++].has_begun = true;
    }
}

static void wait(players* all)
{
    struct epoll_event ready[READY_MAX];
    const int count = epoll_wait(all->epoll, ready, READY_MAX, 2);
    for (int i = 0; i < count; ++i) {
        player* at = ready[i].data.ptr;
        bots_players_link_note(at->link);
    }
}

// Games tick their peer with each frame. Many bots take turns that are further apart, but not where that would show: a
// probe and a request wait for such a turn.
static uint64_t pause_us(const players* all, const player* at)
{
    const ph_peer* peer = at->peer;
    const bool is_by_clock =
        player_is_joined(at) &&
        (peer->move.is_under_way || all->now_us - peer->link->heard_us >= SILENT_US);
    return is_by_clock && all->tick_us > SILENT_TICK_US ? SILENT_TICK_US : all->tick_us;
}

static void turn_crew(void* context, int crew)
{
    const players* all = context;
    for (int i = crew; i < all->begun; i += PLAYERS_CREWS) {
        player* at = &all->all[i];
        // A link delays by what it says, and not by turns: otherwise many bots have a slower network than few.
        if (bots_players_link_advance(at->link, all->now_us) || all->now_us >= at->next_us) {
            turn(all, at);
            at->next_us = all->now_us + pause_us(all, at);
        }
    }
}

static void turn_all(players* all)
{
    ph_pool_run(all->pool, PLAYERS_CREWS, turn_crew, all);
    for (int i = 0; i < all->begun; ++i) {
        player* at = &all->all[i];
        if (at->is_wishing) {
            at->is_wishing = false;
            wish(all, at);
        }
    }
}

// Each player had its turn: one for which something had come has waited so long at most.
static void note_lateness(players* all)
{
    players_lateness* late = &all->lateness;
    const uint64_t ms = late->turned_us != 0 ? (all->now_us - late->turned_us) / 1000 : 0;
    const uint64_t slice = all->now_us / PLAYERS_LATE_US;
    for (late->slice = late->slice != 0 ? late->slice : slice; late->slice < slice; ++late->slice) {
        late->worst_ms[(late->slice + 1) % PLAYERS_LATE_SLICES] = 0;
    }
    uint32_t* worst_ms = &late->worst_ms[slice % PLAYERS_LATE_SLICES];
    *worst_ms = ms > *worst_ms ? (uint32_t)ms : *worst_ms;
    late->turned_us = all->now_us;
}

static void run(players* all)
{
    const uint64_t end_us = (uint64_t)all->options->seconds * SECOND_US;
    uint64_t reported_us = 0;
    all->start_us = ph_socket_now_us();
    all->tick_us = TICK_US * (uint64_t)(1 + all->count / FEW);
    for (all->now_us = all->start_us; !is_asked_to_stop && all->now_us - all->start_us < end_us;
         all->now_us = ph_socket_now_us()) {
        note_lateness(all);
        for (ph_bus_grant grant; ph_bus_login_next(all->login, all->now_us, &grant);) {
            take_grant(all, &grant);
        }
        const uint64_t tick = cluster_control_tick(&all->control, all->truth, &all->stands);
        if (all->stands && tick != all->checked_tick) {
            begin_check(all, tick);
        }
        begin_some(all);
        wait(all);
        turn_all(all);
        if (all->options->is_controlled && all->now_us - reported_us >= REPORT_US) {
            reported_us = all->now_us;
            players_report(all);
        }
    }
}

// ---- opening

static bool fail(const char* what, const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s: %s.\n", what, fault->message);
    return false;
}

static void allow_sockets(int count)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)count + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool open_player(players* all, player* at, int i)
{
    const bots_options* options = all->options;
    const bool has_link =
        options->rtt_ms > 0.0 || options->jitter_ms > 0.0 || options->loss_pct > 0.0;
    const ph_link_def link = {
        .seed = (uint64_t)options->seed,
        .delay_us = (uint32_t)(options->rtt_ms * 500.0),
        .jitter_us = (uint32_t)(options->jitter_ms * 1000.0),
        .loss = options->loss_pct / 100.0,
    };
    ph_peer_def def = ph_peer_def_default();
    def.schema = all->truth->schema;
    def.ground = all->truth->ground;
    at->crew = &all->crews[i % PLAYERS_CREWS];
    at->client_id = (uint64_t)options->first_id + (uint64_t)i;
    at->key = all->truth->key[cluster_truth_resident(i % cluster_truth_resident_count(all->truth))];
    at->chat_us = (uint64_t)i * 7919 % SECOND_US; // not all at once
    if (ph_peer_open(&def, &at->peer) != PH_OK) {
        return false;
    }
    at->link = bots_players_link_create(at->peer, has_link ? &link : NULL, (uint64_t)i);
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = at};
    return at->link != NULL &&
           epoll_ctl(all->epoll, EPOLL_CTL_ADD, bots_players_link_handle(at->link), &wanted) == 0;
}

static bool open_players(players* all, ph_fault* fault)
{
    allow_sockets(all->count);
    all->epoll = epoll_create1(0);
    all->all = calloc((size_t)all->count, sizeof *all->all);
    all->pool = ph_pool_create(0);
    all->scratch = calloc(PLAYERS_CREWS * (size_t)PLAYERS_INTERRUPTIONS_MAX, sizeof *all->scratch);
    bool is_made = all->epoll >= 0 && all->all != NULL && all->pool != NULL && all->scratch != NULL;
    for (int i = 0; i < PLAYERS_CREWS; ++i) {
        players_crew* crew = &all->crews[i];
        crew->interruptions = calloc(PLAYERS_INTERRUPTIONS_MAX, sizeof *crew->interruptions);
        is_made = is_made && crew->interruptions != NULL;
    }
    if (!is_made) {
        return ph_fault_set_memory(fault);
    }
    for (int i = 0; i < all->count; ++i) {
        if (!open_player(all, &all->all[i], i)) {
            return ph_fault_set(fault, 0, 0, "there is no memory or no socket for bot %d", i + 1);
        }
    }
    return true;
}

static bool open_all(players* all)
{
    const bots_options* options = all->options;
    ph_fault fault = {0};
    char subject[PH_BUS_SUBJECT_MAX];
    const cluster_truth_def def = {
        .source = options->source,
        .rate_hz = options->rate_hz,
        .entities = options->entities,
        .loop_s = options->loop_s,
        .seed = 1,
    };
    if (!app_scene_check(COMMAND, options->source)) {
        return false;
    }
    all->truth = cluster_truth_open(&def, &fault);
    if (all->truth == NULL) {
        return fail(options->source, &fault);
    }
    all->bus = cluster_bus_open(&options->bus, &fault);
    if (all->bus == NULL) {
        return fail(options->bus.servers, &fault);
    }
    cluster_bus_set_tap(all->bus, on_message, all);
    if (!open_login(all)) {
        ph_fault_set_memory(&fault);
        return fail("bots", &fault);
    }
    if (options->is_controlled) {
        cluster_control_subject(subject, "control", options->bus.world);
        cluster_bus_subscribe(all->bus, subject);
    }
    return open_players(all, &fault) || fail("bots", &fault);
}

static void close_all(players* all)
{
    for (int i = 0; all->all != NULL && i < all->count; ++i) {
        ph_peer_close(all->all[i].peer);
        if (all->all[i].link != NULL) {
            bots_players_link_tick(all->all[i].link);
        }
        bots_players_link_destroy(all->all[i].link);
    }
    free(all->all);
    for (int i = 0; i < PLAYERS_CREWS; ++i) {
        free(all->crews[i].interruptions);
    }
    ph_pool_destroy(all->pool);
    free(all->scratch);
    if (all->epoll >= 0) {
        close(all->epoll);
    }
    cluster_check_end(&all->check);
    ph_bus_login_destroy(all->login);
    cluster_bus_close(all->bus);
    cluster_truth_close(all->truth);
}

bool bots_players_run(const bots_options* options)
{
    static players all;
    all = (players){
        .options = options, .count = options->count, .epoll = -1, .checked_tick = UINT64_MAX};
    all.control = (cluster_control){.world = options->bus.world};
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    bool is_well = open_all(&all);
    if (is_well) {
        run(&all);
        is_well = players_print(&all);
    }
    close_all(&all);
    return is_well;
}
