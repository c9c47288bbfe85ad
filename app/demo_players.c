// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Served some hundred times a second.

#include "demo_players.h"

#include "demo_player.h"
#include "key_file.h"
#include "net/net_simulation.h"
#include "secret.h"
#include "wall.h"

#include <pinhole/viewer.h>

#include <stdlib.h>
#include <string.h>

#define US_PER_MS 1000.0
enum { RECENT_SECONDS = 5, FIRST_CLIENT_ID = 1 };

// What hosts and viewers have counted by some moment.
typedef struct traffic {
    uint64_t wire_bytes;
    uint64_t resolved;
    uint64_t lost;
    uint64_t rtt_samples;
    uint64_t rtt_sum_us;
} traffic;

// One way: its host, and the players on it.
typedef struct side {
    demo_players* players;
    ph_way way;
    ph_sim_stage* stage; // of the scene
    ph_socket* socket;   // of the host
    ph_net_simulation network;
    ph_host* host;
    bot_terms terms;
    demo_player list[DEMO_PLAYERS_MAX];
    traffic before;        // when measuring began
    traffic second_before; // when the present second began
    demo_figures recent[RECENT_SECONDS];
    int recent_count; // seconds so far
} side;

struct demo_players {
    demo_players_def def;
    uint8_t* key; // of the hosts, in memory of its own
    int scene;    // its number
    int count;    // of each side
    int ticks;    // measured ones: from the one on at which all are connected
    bool were_changed;
    side sides[DEMO_PLAYER_WAYS];
    uint64_t over_budget; // of the scenes before
    uint64_t refused;
};

// ---- a host: real sockets, the demo's clock

static uint64_t clock_us(void* context)
{
    const side* of = context;
    return demo_stage_now_us(of->players->def.stage);
}

static uint64_t unix_s(void* context)
{
    (void)context;
    return app_wall_unix_s();
}

static int receive(void* context, ph_datagram* datagrams, int max)
{
    const side* of = context;
    return ph_socket_receive(of->socket, datagrams, max);
}

static int send(void* context, const ph_datagram* datagrams, int count)
{
    const side* of = context;
    return ph_socket_send(of->socket, datagrams, count);
}

static bool open_host(side* of, ph_fault* fault)
{
    const ph_socket_def socket = ph_socket_def_default(); // 127.0.0.1, any port
    if (ph_socket_open(&socket, &of->socket) != PH_OK) {
        return ph_fault_set(fault, 0, 0, "the system gives no UDP socket on 127.0.0.1");
    }
    of->network = (ph_net_simulation){
        .now_us = clock_us, .unix_s = unix_s, .receive = receive, .send = send, .context = of};
    ph_host_def def = ph_host_def_default();
    def.world = of->stage->world;
    def.listen_address = ph_socket_local_address(of->socket);
    def.protocol_id = APP_PROTOCOL_ID;
    def.client_capacity = DEMO_PLAYERS_MAX;
    def.is_rate_fixed = true; // the same budget for both, whatever is lost
    memcpy(def.private_key, of->players->key, sizeof def.private_key);
    const ph_result result = ph_host_open_simulated(&def, &of->network, &of->host);
    app_key_wipe(def.private_key);
    return result == PH_OK || ph_fault_set(fault, 0, 0, "no host can be opened on 127.0.0.1: %s",
                                           ph_result_text(result));
}

// ---- players come and go

static ph_link_def link_of(const demo_players_def* def)
{
    return (ph_link_def){
        .seed = def->seed,
        .delay_us = (uint32_t)(def->rtt_ms / 2.0 * US_PER_MS + 0.5),
        .jitter_us = (uint32_t)(def->jitter_ms * US_PER_MS + 0.5),
        .loss = def->loss,
    };
}

static void set_terms(side* of)
{
    of->terms = (bot_terms){
        .schema = of->stage->schema,
        .profile = of->stage->def->profile,
        .ground = of->stage->recording->ground,
        .server = ph_host_public_address(of->host),
        .link = link_of(&of->players->def),
        .has_link = true,
        .slot_capacity = ph_sim_slot_capacity(of->stage->def),
    };
    memcpy(of->terms.key, of->players->key, sizeof of->terms.key);
}

static bool open_side(demo_players* players, ph_way way, ph_fault* fault)
{
    side* of = &players->sides[way];
    *of = (side){.players = players, .way = way, .stage = players->def.stage->scene->ways[way]};
    if (!open_host(of, fault)) {
        return false;
    }
    set_terms(of);
    for (int i = 0; i < players->count; ++i) {
        const demo_player_def def = {
            .stage = of->stage,
            .entity = players->def.stage->scene->observers[i],
            .terms = &of->terms,
            .client_id = (uint64_t)(FIRST_CLIENT_ID + i),
            .now_us = demo_stage_now_us(players->def.stage),
        };
        if (!demo_player_create(&of->list[i], &def)) {
            return ph_fault_set(fault, 0, 0, "no memory or no socket for player %d", i + 1);
        }
    }
    return true;
}

static uint64_t refused_by(const side* of)
{
    uint64_t refused = 0;
    for (int i = 0; i < DEMO_PLAYERS_MAX && of->list[i].bot != NULL; ++i) {
        refused += bot_refused(of->list[i].bot);
    }
    return refused;
}

static uint64_t over_budget_of(const side* of)
{
    return of->host != NULL ? ph_host_get_stats(of->host).over_budget_datagrams : 0;
}

static void close_side(side* of)
{
    of->players->over_budget += over_budget_of(of);
    of->players->refused += refused_by(of);
    for (int i = 0; i < DEMO_PLAYERS_MAX; ++i) {
        demo_player_destroy(&of->list[i]);
    }
    ph_host_close(of->host);
    ph_socket_close(of->socket);
    app_key_wipe(of->terms.key);
    of->host = NULL;
    of->socket = NULL;
}

static void close_all(demo_players* players)
{
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        if (players->sides[way].players != NULL) {
            close_side(&players->sides[way]);
        }
    }
}

static bool open_all(demo_players* players, ph_fault* fault)
{
    const demo_scene* scene = players->def.stage->scene;
    players->scene = scene->number;
    players->count =
        players->def.count < scene->observer_count ? players->def.count : scene->observer_count;
    players->ticks = 0;
    players->were_changed = false;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        if (!open_side(players, (ph_way)way, fault)) {
            return false;
        }
    }
    return true;
}

demo_players* demo_players_create(const demo_players_def* def, ph_fault* fault)
{
    demo_players* players = calloc(1, sizeof *players);
    if (players == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    players->def = *def;
    players->key = app_secret_create(PH_NETCODE_KEY_SIZE);
    if (players->key == NULL) {
        ph_fault_set_memory(fault);
    } else if (!app_wall_random(players->key, PH_NETCODE_KEY_SIZE)) {
        ph_fault_set(fault, 0, 0, "the system has no random numbers for a key");
    } else if (open_all(players, fault)) {
        return players;
    }
    demo_players_destroy(players);
    return NULL;
}

void demo_players_destroy(demo_players* players)
{
    if (players == NULL) {
        return;
    }
    close_all(players);
    app_secret_destroy(players->key, PH_NETCODE_KEY_SIZE);
    free(players);
}

// ---- datagrams

void demo_players_serve(demo_players* players)
{
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        side* of = &players->sides[way];
        const uint64_t now_us = demo_stage_now_us(players->def.stage);
        for (int i = 0; i < players->count; ++i) {
            bot_receive(of->list[i].bot, now_us);
            bot_tick(of->list[i].bot, now_us);
        }
        ph_host_receive(of->host, 0);
    }
}

void demo_players_wait(const demo_players* players, uint64_t timeout_us)
{
    ph_socket* sockets[DEMO_PLAYER_WAYS * (DEMO_PLAYERS_MAX + 1)];
    int count = 0;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const side* of = &players->sides[way];
        sockets[count++] = of->socket;
        for (int i = 0; i < players->count; ++i) {
            sockets[count++] = of->list[i].bot->socket;
        }
    }
    ph_socket_wait_any(sockets, count, timeout_us);
}

uint64_t demo_players_next_us(const demo_players* players)
{
    uint64_t next_us = UINT64_MAX;
    for (int i = 0; i < DEMO_PLAYER_WAYS * players->count; ++i) {
        const bot* one = players->sides[i % DEMO_PLAYER_WAYS].list[i / DEMO_PLAYER_WAYS].bot;
        next_us = one->next_us < next_us ? one->next_us : next_us;
    }
    return next_us;
}

void demo_players_send(demo_players* players)
{
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        ph_host_send(players->sides[way].host, UINT64_MAX);
    }
    demo_players_serve(players); // it has arrived by now
}

// ---- what was counted

static traffic traffic_of(const side* of)
{
    traffic sum = {.wire_bytes = ph_host_get_stats(of->host).sent_wire_bytes};
    for (int i = 0; i < ph_host_client_count(of->host); ++i) {
        const ph_viewer_id viewer = ph_host_viewer(of->host, ph_host_client_at(of->host, i));
        ph_viewer_network_stats stats;
        ph_viewer_get_network_stats(of->stage->world, viewer, &stats);
        sum.resolved += stats.resolved_packets;
        sum.lost += stats.lost_packets;
        sum.rtt_samples += stats.rtt_samples;
        sum.rtt_sum_us += stats.rtt_sum_us;
    }
    return sum;
}

static int shown_on_average(const side* of)
{
    int shown = 0;
    for (int i = 0; i < of->players->count; ++i) {
        shown += of->list[i].screen.shown_count;
    }
    return (shown + of->players->count / 2) / of->players->count;
}

// Counts of viewers that have gone are gone as well.
static double growth(uint64_t now, uint64_t before)
{
    return now > before ? (double)(now - before) : 0.0;
}

static double share(double part, double whole, double factor)
{
    return whole > 0.0 ? factor * part / whole : 0.0;
}

// What clients showed, by all meters of one kind; and what was sent in the same time.
static demo_figures sum_up(const side* of, bool is_second, const traffic* since, double seconds)
{
    demo_figures sum = {.seconds = seconds, .shown = shown_on_average(of)};
    ph_figures figures;
    if (ph_figures_create(&figures, of->stage->recording->rate_hz, NULL) != PH_OK) {
        return (demo_figures){0};
    }
    for (int i = 0; i < of->players->count; ++i) {
        const demo_player* one = &of->list[i];
        ph_figures_merge(&figures, ph_meter_figures(is_second ? one->second_meter : one->meter));
    }
    const ph_figures_summary shown = ph_figures_summarise(&figures);
    ph_figures_destroy(&figures);
    const traffic now = traffic_of(of);
    sum.wire_kbps = share(growth(now.wire_bytes, since->wire_bytes), seconds * of->players->count,
                          8.0 / 1000.0);
    sum.lost_pct =
        share(growth(now.lost, since->lost), growth(now.resolved, since->resolved), 100.0);
    sum.rtt_ms = share(growth(now.rtt_sum_us, since->rtt_sum_us),
                       growth(now.rtt_samples, since->rtt_samples), 1.0 / US_PER_MS);
    sum.error_mm = shown.error_mm.mean;
    sum.error_mrad = shown.error_mrad.mean;
    sum.missing_pct = shown.missing_pct;
    sum.stale_ms = shown.stale_ms.mean;
    sum.jolts_per_min = shown.jolts_per_min;
    return sum;
}

static void end_second(side* of)
{
    of->recent[of->recent_count++ % RECENT_SECONDS] = sum_up(of, true, &of->second_before, 1.0);
    of->second_before = traffic_of(of);
    for (int i = 0; i < of->players->count; ++i) {
        ph_meter_clear(of->list[i].second_meter);
    }
}

// ---- a tick

static void admit(side* of, const ph_net_event* event)
{
    demo_player* one = &of->list[event->client_id - FIRST_CLIENT_ID];
    const ph_source* source = of->stage->source;
    one->eye = source->entity_id[one->entity];
    ph_viewer_def view = ph_viewer_def_default();
    view.entity = one->eye;
    view.eye_mm[0] = source->x_mm[one->entity];
    view.eye_mm[1] = source->y_mm[one->entity];
    view.eye_mm[2] = source->z_mm[one->entity];
    view.radius_mm = (int32_t)(of->stage->def->radius_m * 1000.0);
    view.visible_max = of->stage->def->slots;
    view.bits_per_second = (int)(of->players->def.kbps * 1000.0 + 0.5);
    view.precision_mrad = of->stage->def->precision_mrad;
    view.scheduler = of->stage->def->scheduler;
    view.sends_per_second = of->stage->def->hz > 0.0 ? of->stage->def->hz : PH_SENDS_AUTO;
    if (ph_host_admit(of->host, event->client, &view, NULL) != PH_OK) {
        ph_host_disconnect(of->host, event->client);
    }
}

static void take_events(side* of)
{
    for (ph_net_event event; ph_host_next_event(of->host, &event);) {
        const uint64_t index = event.client_id - FIRST_CLIENT_ID;
        if (event.kind == PH_NET_CONNECTED && index < (uint64_t)of->players->count) {
            admit(of, &event);
        }
    }
}

// Its entity may have gone indoors and come out again, which makes it another one to the world.
static void follow(side* of)
{
    for (int i = 0; i < ph_host_client_count(of->host); ++i) {
        const int client = ph_host_client_at(of->host, i);
        ph_net_client_info info;
        if (!ph_host_get_client(of->host, client, &info)) {
            continue;
        }
        demo_player* one = &of->list[info.client_id - FIRST_CLIENT_ID];
        const ph_entity_id entity = of->stage->source->entity_id[one->entity];
        if (entity.index1 != 0 &&
            (entity.index1 != one->eye.index1 || entity.generation != one->eye.generation)) {
            ph_viewer_set_entity(of->stage->world, ph_host_viewer(of->host, client), entity);
            one->eye = entity;
        }
    }
}

static bool attend_side(side* of, ph_fault* fault)
{
    const demo_players* players = of->players;
    const uint64_t now_us = demo_stage_tick_us(players->def.stage);
    ph_host_tick(of->host);
    take_events(of);
    follow(of);
    for (int i = 0; i < players->count; ++i) {
        if (!demo_player_come_back(&of->list[i], now_us)) {
            return ph_fault_set_memory(fault);
        }
        demo_player_measure(&of->list[i], now_us, players->ticks > 0);
    }
    return true;
}

static void begin_measuring(demo_players* players)
{
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        side* of = &players->sides[way];
        of->before = traffic_of(of);
        of->second_before = of->before;
    }
}

static bool is_second_over(const demo_players* players)
{
    const double rate_hz = players->def.stage->scene->material.recording->rate_hz;
    const int steps = players->ticks - 1;
    return steps > 0 && (int)(steps / rate_hz) > (int)((steps - 1) / rate_hz);
}

bool demo_players_attend(demo_players* players, ph_fault* fault)
{
    if (players->scene != players->def.stage->scene->number) {
        close_all(players);
        return open_all(players, fault);
    }
    if (players->ticks > 0) {
        ++players->ticks;
    } else if (demo_players_connected(players) == DEMO_PLAYER_WAYS * players->count) {
        begin_measuring(players);
        players->ticks = 1;
    }
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        if (!attend_side(&players->sides[way], fault)) {
            return false;
        }
    }
    for (int way = 0; way < DEMO_PLAYER_WAYS && is_second_over(players); ++way) {
        end_second(&players->sides[way]);
    }
    return true;
}

// ---- controls

void demo_players_set_kbps(demo_players* players, double kbps)
{
    players->were_changed |= kbps != players->def.kbps;
    players->def.kbps = kbps;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        ph_host* host = players->sides[way].host;
        for (int i = 0; i < ph_host_client_count(host); ++i) {
            ph_host_set_budget(host, ph_host_client_at(host, i), (int)(kbps * 1000.0 + 0.5), 0);
        }
    }
}

void demo_players_set_loss(demo_players* players, double loss)
{
    players->were_changed |= loss != players->def.loss;
    players->def.loss = loss;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        side* of = &players->sides[way];
        of->terms.link = link_of(&players->def);
        for (int i = 0; i < players->count; ++i) {
            bot_change_link(of->list[i].bot, &of->terms.link);
        }
    }
}

bool demo_players_were_changed(const demo_players* players)
{
    return players->were_changed;
}

const demo_players_def* demo_players_get_def(const demo_players* players)
{
    return &players->def;
}

// ---- questions

int demo_players_count(const demo_players* players)
{
    return players->count;
}

int demo_players_connected(const demo_players* players)
{
    int connected = 0;
    for (int i = 0; i < DEMO_PLAYER_WAYS * players->count; ++i) {
        const demo_player* one = &players->sides[i % DEMO_PLAYER_WAYS].list[i / DEMO_PLAYER_WAYS];
        connected += bot_is_connected(one->bot) ? 1 : 0;
    }
    return connected;
}

demo_figures demo_players_recent(const demo_players* players, ph_way way)
{
    const side* of = &players->sides[way];
    const int count = of->recent_count < RECENT_SECONDS ? of->recent_count : RECENT_SECONDS;
    demo_figures mean = {.shown = shown_on_average(of)};
    for (int i = 0; i < count; ++i) {
        const demo_figures* second = &of->recent[i];
        mean.seconds += second->seconds;
        mean.wire_kbps += second->wire_kbps / count;
        mean.error_mm += second->error_mm / count;
        mean.error_mrad += second->error_mrad / count;
        mean.missing_pct += second->missing_pct / count;
        mean.stale_ms += second->stale_ms / count;
        mean.jolts_per_min += second->jolts_per_min / count;
        mean.rtt_ms += second->rtt_ms / count;
        mean.lost_pct += second->lost_pct / count;
    }
    return mean;
}

demo_figures demo_players_total(const demo_players* players, ph_way way)
{
    const side* of = &players->sides[way];
    const double seconds = (players->ticks - 1) / of->stage->recording->rate_hz;
    return players->ticks > 1 ? sum_up(of, false, &of->before, seconds) : (demo_figures){0};
}

uint64_t demo_players_over_budget(const demo_players* players)
{
    uint64_t sum = players->over_budget;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        sum += over_budget_of(&players->sides[way]);
    }
    return sum;
}

uint64_t demo_players_refused(const demo_players* players)
{
    uint64_t sum = players->refused;
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        sum += refused_by(&players->sides[way]);
    }
    return sum;
}

const ph_sim_screen* demo_players_screen(const demo_players* players, ph_way way, int index)
{
    return &players->sides[way].list[index].screen;
}

int demo_players_entity(const demo_players* players, int index)
{
    return players->sides[0].list[index].entity;
}
