// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: callbacks of libwebsockets, time, opening and closing. Served some hundred times a second.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "demo_web.h"

#include "demo_web_page.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROTOCOL "pinhole-feed-1"
#define STATE_US UINT64_C(250000)
#define US_PER_SECOND UINT64_C(1000000)
#define LEAST_SLEEP_US UINT64_C(1000)
enum { CONNECTIONS_MAX = DEMO_WEB_PAGES_MAX + 64 }; // pages, and requests beside them

// ---- callbacks of libwebsockets

static demo_web* web_of(struct lws* wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static int on_feed(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    demo_web_page* page = user;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        *page = (demo_web_page){.web = web_of(wsi), .wsi = wsi};
        demo_web_page_welcome(page);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        demo_web_page_hear(page, in, size);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return demo_web_page_write(page);
    case LWS_CALLBACK_CLOSED:
        demo_web_page_forget(page);
        return 0;
    default:
        return 0;
    }
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    return demo_web_http_serve(&web_of(wsi)->http, wsi, reason, user, in, size);
}

// ---- time

static void write_players(const demo_web* web, ph_json* json)
{
    ph_json_open_list(json, "players");
    for (int i = 0; i < web->player_count; ++i) {
        const demo_web_player* player = &web->players[i];
        ph_json_open(json, NULL);
        ph_json_text(json, "way", player->way);
        ph_json_number(json, "wire_kbps", player->wire_kbps);
        ph_json_number(json, "error_mrad", player->error_mrad);
        ph_json_number(json, "error_mm", player->error_mm);
        ph_json_number(json, "missing_pct", player->missing_pct);
        ph_json_close(json);
    }
    ph_json_close(json);
}

static int pages_in(const demo_web* web)
{
    int count = 0;
    for (int i = 0; i < web->page_count; ++i) {
        count += web->pages[i]->stage == DEMO_WEB_PAGE_IN ? 1 : 0;
    }
    return count;
}

static void tell_states(demo_web* web, uint64_t now_us)
{
    for (int i = 0; i < web->page_count; ++i) {
        demo_web_page* page = web->pages[i];
        if (page->stage == DEMO_WEB_PAGE_IN) {
            demo_web_page_tell_need(page, now_us);
            write_players(web, demo_page_open_state(page->session, pages_in(web)));
            ph_feed_close(demo_page_feed(page->session));
            demo_web_page_post(page);
        }
    }
}

// What is due by now; then *next_us, in real time, is when the next thing is.
static void keep_time(demo_web* web, uint64_t now_us, uint64_t* next_us)
{
    demo_stage* stage = web->def.stage;
    const uint64_t demo_us = demo_stage_now_us(stage);
    if (now_us >= web->state_us) {
        web->state_us = now_us + STATE_US;
        tell_states(web, now_us);
    }
    *next_us = web->state_us < *next_us ? web->state_us : *next_us;
    for (int i = 0; i < web->page_count; ++i) {
        demo_web_page* page = web->pages[i];
        demo_web_page_check_deadline(page, now_us);
        if (page->stage != DEMO_WEB_PAGE_IN || page->is_owed) {
            continue;
        }
        demo_page_advance(page->session, demo_us);
        demo_web_page_post(page);
        const uint64_t wait_us = demo_stage_wait_us(stage, demo_page_next_us(page->session));
        const uint64_t left_us =
            *next_us > now_us ? *next_us - now_us : 0; // none: it is late already
        *next_us = wait_us < left_us ? now_us + wait_us : *next_us;
    }
}

// The pages' share of the last tick, until this real time; at least one page. Many pages take longer than players,
// whose datagrams come meanwhile, should wait.
static void work_off(demo_web* web, uint64_t end_us)
{
    while (web->owed_count > 0) {
        demo_web_page_pay_tick(web->pages[--web->owed_count]);
        if (ph_socket_now_us() >= end_us) {
            return;
        }
    }
}

// It ends lws_service(), where that sleeps already. Where it does not yet, it would sleep without an alarm: so there is
// another one soon.
static void wake(lws_sorted_usec_list_t* alarm)
{
    demo_web* web = lws_container_of(alarm, demo_web, alarm);
    lws_sul_schedule(web->context, 0, alarm, wake, (lws_usec_t)LEAST_SLEEP_US);
}

// libwebsockets sleeps whole milliseconds, and does not for what is left of one.
static bool sleep_and_serve(demo_web* web, uint64_t sleep_us)
{
    if (sleep_us >= LEAST_SLEEP_US) {
        lws_sul_schedule(web->context, 0, &web->alarm, wake, (lws_usec_t)sleep_us);
        return lws_service(web->context, 0) >= 0;
    }
    const struct timespec rest = {.tv_nsec = (long)sleep_us * 1000};
    const bool is_well = lws_service(web->context, -1) >= 0;
    if (sleep_us > 0) {
        nanosleep(&rest, NULL);
    }
    return is_well;
}

void demo_web_serve(demo_web* web, uint64_t wait_us)
{
    const uint64_t start_us = ph_socket_now_us();
    const uint64_t end_us = start_us + (wait_us < US_PER_SECOND ? wait_us : US_PER_SECOND);
    uint64_t now_us = start_us;
    bool is_well = true;
    web->is_disturbed = false;
    do {
        uint64_t next_us = end_us;
        work_off(web, end_us);
        now_us = ph_socket_now_us();
        keep_time(web, now_us, &next_us);
        is_well = sleep_and_serve(web, next_us > now_us ? next_us - now_us : 0);
        now_us = ph_socket_now_us();
    } while (is_well && now_us < end_us && !web->is_disturbed);
}

void demo_web_finish(demo_web* web)
{
    work_off(web, UINT64_MAX);
}

bool demo_web_attend(demo_web* web, ph_fault* fault)
{
    for (int i = 0; i < web->page_count; ++i) {
        demo_web_page* page = web->pages[i];
        if (page->session != NULL && !demo_page_attend(page->session, fault)) {
            return false;
        }
    }
    return true;
}

void demo_web_tick(demo_web* web)
{
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < web->page_count; ++i) {
        demo_web_page* page = web->pages[i];
        if (page->stage == DEMO_WEB_PAGE_IN) {
            demo_web_page_check_reader(page, now_us);
        }
        page->is_owed = page->stage == DEMO_WEB_PAGE_IN;
    }
    web->owed_count = web->page_count;
}

void demo_web_set_players(demo_web* web, const demo_web_player* players, int count)
{
    web->player_count = count < DEMO_WEB_PLAYERS_MAX ? count : DEMO_WEB_PLAYERS_MAX;
    memcpy(web->players, players, (size_t)web->player_count * sizeof *players);
}

// ---- opening and closing

static bool fill(demo_web* web, ph_fault* fault)
{
    web->protocols[0] = (struct lws_protocols){
        .name = "http",
        .callback = on_http,
        .per_session_data_size = sizeof(demo_web_answer),
    };
    web->protocols[1] = (struct lws_protocols){
        .name = PROTOCOL,
        .callback = on_feed,
        .per_session_data_size = sizeof(demo_web_page),
        .rx_buffer_size = 1024,
        .tx_packet_size = DEMO_WEB_SEND_BYTES,
    };
    web->need = demo_need_create(DEMO_NEED_SECONDS);
    web->http.files = demo_web_files_create();
    web->http.gate = &web->gate;
    web->http.counts = &web->counts;
    web->http.first_page = "/index.html";
    web->http.protocol = PROTOCOL;
    lws_set_log_level(0, NULL);
    const struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .user = web,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .fd_limit_per_thread = CONNECTIONS_MAX,
        .timeout_secs = DEMO_WEB_LIFE_S,
        .server_string = "pinhole",
    };
    const bool is_ready = web->need != NULL && web->http.files != NULL;
    web->context = is_ready ? lws_create_context(&info) : NULL;
    return web->context != NULL
               ? demo_web_http_listen(&web->http, web->context, web->protocols, web->def.listen,
                                      web->def.port, web->url, fault) != NULL
               : ph_fault_set_memory(fault);
}

demo_web* demo_web_open(const demo_web_def* def, ph_fault* fault)
{
    demo_web* web = calloc(1, sizeof *web);
    if (web == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    web->def = *def;
    if (!demo_gate_make(&web->gate, def->listen, def->password, fault) || !fill(web, fault)) {
        demo_web_close(web);
        return NULL;
    }
    return web;
}

void demo_web_close(demo_web* web)
{
    if (web == NULL) {
        return;
    }
    if (web->context != NULL) {
        lws_sul_cancel(&web->alarm);
        lws_context_destroy(web->context); // pages are told by LWS_CALLBACK_CLOSED
    }
    demo_web_files_destroy(web->http.files);
    demo_need_destroy(web->need);
    free(web);
}

const char* demo_web_url(const demo_web* web)
{
    return web->url;
}

const char* demo_web_warning(const demo_web* web)
{
    return web->gate.is_loopback ? NULL
                                 : "Others on the network can reach the page, and the password "
                                   "travels in clear text; "
                                   "safer: leave --listen out and use a tunnel (ssh -L).";
}

// ---- counts

demo_web_counts demo_web_get_counts(const demo_web* web)
{
    demo_web_counts counts = web->counts;
    counts.pages = pages_in(web);
    for (int i = 0; i < web->page_count; ++i) {
        const demo_page* session = web->pages[i]->session;
        counts.refused_acks += session != NULL ? demo_page_refused_acks(session) : 0;
    }
    return counts;
}
