// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: pages, what they say, callbacks of libwebsockets, time, opening and closing. Some dozens of
// frames a second and page.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "demo_web.h"

#include "demo_gate.h"
#include "demo_need.h"
#include "demo_outbox.h"
#include "demo_page_session.h"
#include "demo_web_http.h"

#include <pinhole/net/socket.h>

#include <libwebsockets.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PROTOCOL "pinhole-feed-1"
#define STATE_US UINT64_C(250000)
#define PASSWORD_US UINT64_C(5000000)
#define WRONG_PASSWORD_US UINT64_C(500000)
#define US_PER_SECOND UINT64_C(1000000)
#define LEAST_SLEEP_US UINT64_C(1000)

_Static_assert(LWS_PRE <= DEMO_OUTBOX_GAP, "a head fits before each frame");

enum {
    COMMANDS_MAX = 200,     // a second
    ACKS_MAX = 4000,        // a second
    REFUSALS_MAX = 100,     // of one page, then it is closed
    PARTS_MAX = 16,         // that one message may come in
    STALLED_TICKS_MAX = 30, // that a page may read nothing of what waits for it
    STALLED_MS_LEAST = 3000,
    CONNECTIONS_MAX = DEMO_WEB_PAGES_MAX + 64, // pages, and requests beside them
    SEND_BYTES = 1 << 18,                      // of a page, that the system keeps
    LEAVE_S = 5,                               // to take the last word
    LIFE_S = 10,                               // of a connection that says nothing

    // Why a feed ends: docs/wire_feed.md.
    CLOSE_POLICY = 1008,
    CLOSE_LONG = 1009,
    CLOSE_PASSWORD_WANTED = 4001,
    CLOSE_PASSWORD_WRONG = 4002,
    CLOSE_PASSWORD_WAIT = 4003,
    CLOSE_FULL = 4004,
};

typedef enum page_stage {
    PAGE_NONE = 0,
    PAGE_ASKED, // for a password
    PAGE_IN,
    PAGE_LEAVING, // is closed as soon as that can be written
} page_stage;

// One connection with a feed. libwebsockets keeps its memory.
typedef struct web_page {
    demo_web* web;
    struct lws* wsi;
    page_stage stage;
    bool is_owed; // the last tick
    demo_page* session;
    demo_outbox outbox;
    char message[DEMO_REQUEST_SIZE_MAX + 1]; // that is coming in
    size_t message_size;
    int message_parts;
    uint64_t second_us; // commands and acks are counted in
    int commands;
    int acks;
    int refusals;
    uint64_t deadline_us; // ASKED: the password must be there; LEAVING: not before
    uint64_t taken;       // of the outbox, when that was looked at last
    uint64_t stalled_us;  // since when nothing was taken
    int stalled_ticks;
    int close_code;
    const char* close_text;
    char from[64];
    uint64_t need_version; // of the answer that it was told
    char need_key[DEMO_NEED_KEY_MAX];
    int need_scene; // that it was told in: a page forgets with every SCENE
} web_page;

struct demo_web {
    demo_web_def def;
    demo_gate gate;
    char url[96];
    struct lws_context* context;
    struct lws_vhost* vhost;
    struct lws_protocols protocols[3];
    demo_web_http http;
    demo_web_counts counts;
    web_page* pages[DEMO_WEB_PAGES_MAX];
    int page_count;
    int owed_count;       // of these, from the front: those that may be owed the last tick
    uint64_t page_number; // of the last one that was let in
    uint64_t state_us;    // the next frames STATE are due
    bool is_disturbed;    // a page changed what the next tick depends on
    lws_sorted_usec_list_t alarm;
    demo_need* need;
    demo_web_player players[DEMO_WEB_PLAYERS_MAX];
    int player_count;
};

// ---- frames

// From the session's feed to the socket's queue. A page whose queue is over is dropped: never waited for.
static void post(web_page* page)
{
    ph_feed* feed = demo_page_feed(page->session);
    const uint8_t* frame = NULL;
    size_t size = 0;
    size_t at = 0;
    bool is_over = feed->is_failed;
    while (!is_over && ph_feed_next(feed, &at, &frame, &size)) {
        is_over = !demo_outbox_push(&page->outbox, frame, size);
    }
    ph_feed_clear(feed);
    if (is_over && page->stage != PAGE_LEAVING) {
        page->stage = PAGE_LEAVING;
        ++page->web->counts.dropped_readers;
        lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    } else if (!demo_outbox_is_empty(&page->outbox)) {
        lws_callback_on_writable(page->wsi);
    }
}

static void note(web_page* page, const char* text)
{
    ph_feed_write_note(demo_page_feed(page->session), text);
    post(page);
}

// To all others.
static void note_others(web_page* page, const char* text)
{
    demo_web* web = page->web;
    for (int i = 0; i < web->page_count; ++i) {
        if (web->pages[i] != page && web->pages[i]->stage == PAGE_IN) {
            note(web->pages[i], text);
        }
    }
}

// Ends a feed with a code, as soon as that can be written: in the middle of a frame it would be lost. What the page
// still says is not heard any more. A page that does not even read this is cut off.
static void leave(web_page* page, int code, const char* text)
{
    page->stage = PAGE_LEAVING;
    page->close_code = code;
    page->close_text = text;
    page->deadline_us = 0;
    lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LEAVE_S);
    lws_callback_on_writable(page->wsi);
}

static void refuse_page(web_page* page, uint64_t* count, int code, const char* text)
{
    ++*count;
    leave(page, code, text);
}

// ---- letting in

static void let_in(web_page* page)
{
    demo_web* web = page->web;
    const demo_page_def def = {
        .stage = web->def.stage,
        .controls = {.kbps = web->def.kbps,
                     .loss_percent = web->def.loss_percent,
                     .rtt_ms = web->def.rtt_ms,
                     .jitter_ms = web->def.jitter_ms,
                     .hz = web->def.hz,
                     .scheduler = ""},
        .seed = web->def.seed + ++web->page_number,
        .recordings = web->def.recordings,
        .recording_count = web->def.recording_count,
    };
    ph_fault fault;
    page->session = demo_page_create(&def);
    if (page->session == NULL || !demo_page_renew(page->session, &fault)) {
        leave(page, CLOSE_FULL, "there is no memory for another page");
        return;
    }
    page->stage = PAGE_IN;
    ++web->counts.opened;
    post(page);
}

static int welcome(web_page* page)
{
    demo_web* web = page->web;
    // What a page does not read is to wait in its outbox, which is watched, and not in the system.
    const int send_bytes = SEND_BYTES;
    setsockopt(lws_get_socket_fd(page->wsi), SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
    lws_get_peer_simple(page->wsi, page->from, sizeof page->from);
    if (web->page_count == DEMO_WEB_PAGES_MAX) {
        refuse_page(page, &web->counts.refused_pages, CLOSE_FULL, "too many pages are open");
        return 0;
    }
    web->pages[web->page_count++] = page;
    if (web->gate.password == NULL) {
        let_in(page);
        return 0;
    }
    static const char WANTED[] = {PH_FEED_NOTE};
    static const char TEXT[] =
        "{\"text\": \"This demo wants a password.\", \"wants_password\": true}";
    char frame[sizeof WANTED + sizeof TEXT - 1];
    memcpy(frame, WANTED, sizeof WANTED);
    memcpy(frame + sizeof WANTED, TEXT, sizeof TEXT - 1);
    page->stage = PAGE_ASKED;
    page->deadline_us = ph_socket_now_us() + PASSWORD_US;
    demo_outbox_push(&page->outbox, frame, sizeof frame);
    lws_callback_on_writable(page->wsi);
    return 0;
}

static void hear_password(web_page* page, const demo_request* request)
{
    demo_web* web = page->web;
    uint64_t* refused = &web->counts.refused_passwords;
    const uint64_t now_us = ph_socket_now_us();
    if (request->kind != DEMO_REQUEST_PASSWORD) {
        refuse_page(page, refused, CLOSE_PASSWORD_WANTED, "a password is wanted first");
        return;
    }
    switch (demo_gate_try_password(&web->gate, request->word, page->from, now_us)) {
    case DEMO_GATE_RIGHT:
        let_in(page);
        break;
    case DEMO_GATE_WRONG:
        refuse_page(page, refused, CLOSE_PASSWORD_WRONG, "wrong password");
        page->deadline_us = now_us + WRONG_PASSWORD_US; // said a little later: guessing is slow
        break;
    case DEMO_GATE_WAIT:
        refuse_page(page, refused, CLOSE_PASSWORD_WAIT, "too many wrong passwords: wait a little");
        break;
    }
}

static void forget(web_page* page)
{
    demo_web* web = page->web;
    for (int i = 0; i < web->page_count; ++i) {
        if (web->pages[i] == page) {
            web->pages[i] = web->pages[--web->page_count];
            web->owed_count = web->page_count; // all are looked at again
        }
    }
    if (page->session != NULL) {
        web->counts.refused_acks += demo_page_refused_acks(page->session);
    }
    demo_page_destroy(page->session);
    demo_outbox_destroy(&page->outbox);
    page->session = NULL;
}

// ---- what pages say

static void change_scene(web_page* page, const char* source, int entities)
{
    demo_stage* stage = page->web->def.stage;
    ph_fault fault = {0};
    if (source != NULL && !demo_page_may_play(page->session, source)) {
        ++page->web->counts.refused_messages;
        note(page, "There is no such source here: scenes, and recordings that the demo was started "
                   "with.");
        return;
    }
    if (!demo_stage_change(stage, source, entities, &fault)) {
        char text[sizeof fault.message + 40];
        snprintf(text, sizeof text, "That cannot be played: %s.", fault.message);
        note(page, text);
        return;
    }
    if (stage->is_paused) {
        demo_stage_step(stage); // so that there is something to see
    }
    note_others(page, "Another page changed the scene.");
}

// A page is sent the last tick.
static void pay_tick(web_page* page)
{
    if (page->is_owed && page->stage == PAGE_IN) {
        demo_page_tick(page->session);
        post(page);
    }
    page->is_owed = false;
}

static void obey(web_page* page, const demo_request* request)
{
    demo_web* web = page->web;
    demo_stage* stage = web->def.stage;
    ph_fault fault = {0};
    pay_tick(page); // what changes, changes after it
    ++web->counts.commands;
    if (demo_page_apply(page->session, request)) {
        if (!demo_page_renew(page->session, &fault)) {
            ph_feed_write_note(demo_page_feed(page->session), fault.message);
        }
        post(page);
        return;
    }
    web->is_disturbed = true;
    web->state_us = 0; // all pages see at once what this one did
    switch (request->kind) {
    case DEMO_REQUEST_PAUSE:
        demo_stage_set_paused(stage, request->is_on);
        break;
    case DEMO_REQUEST_STEP:
        demo_stage_step(stage);
        break;
    case DEMO_REQUEST_SOURCE:
        change_scene(page, request->word, 0);
        break;
    case DEMO_REQUEST_ENTITIES:
        change_scene(page, NULL, (int)request->number);
        break;
    default:
        break; // a second password: it is let in already
    }
}

// A page may be mistaken, but not for ever.
static void refuse_message(web_page* page, const char* text)
{
    if (++page->refusals > REFUSALS_MAX) {
        refuse_page(page, &page->web->counts.refused_messages, CLOSE_POLICY,
                    "too many messages that are none");
        return;
    }
    ++page->web->counts.refused_messages;
    note(page, text);
}

static void hear_text(web_page* page)
{
    demo_request request;
    char text[DEMO_REQUEST_SENTENCE_MAX];
    const demo_request_refusal refusal =
        demo_request_read(page->message, page->message_size, &request);
    if (page->stage == PAGE_ASKED) {
        hear_password(page, &request);
    } else if (++page->commands > COMMANDS_MAX) {
        refuse_page(page, &page->web->counts.refused_messages, CLOSE_POLICY,
                    "too many commands a second");
    } else if (refusal != DEMO_REQUEST_OK) {
        demo_request_explain(refusal, request.kind, text);
        refuse_message(page, text);
    } else {
        obey(page, &request);
    }
}

static void hear_bytes(web_page* page)
{
    demo_request_ack ack;
    demo_web_counts* counts = &page->web->counts;
    const uint8_t* bytes = (const uint8_t*)page->message;
    if (page->stage == PAGE_ASKED) {
        refuse_page(page, &counts->refused_passwords, CLOSE_PASSWORD_WANTED,
                    "a password is wanted first");
    } else if (++page->acks > ACKS_MAX) {
        refuse_page(page, &counts->refused_messages, CLOSE_POLICY, "too many acks a second");
    } else if (!demo_request_read_ack(bytes, page->message_size, PH_WAY_COUNT, &ack)) {
        refuse_page(page, &counts->refused_messages, CLOSE_POLICY, "these bytes are no ack");
    } else {
        demo_page_take_ack(page->session,
                           &ack); // a page may still answer for a way that is off by now
    }
}

static void begin_second(web_page* page, uint64_t now_us)
{
    if (now_us - page->second_us > US_PER_SECOND) {
        page->second_us = now_us;
        page->commands = 0;
        page->acks = 0;
    }
}

// A message may come in several parts: they are put together, up to the most that a page says.
static void hear(web_page* page, const void* bytes, size_t size)
{
    if (page->stage == PAGE_LEAVING) {
        return;
    }
    if (page->message_size + size > DEMO_REQUEST_SIZE_MAX || ++page->message_parts > PARTS_MAX) {
        refuse_page(page, &page->web->counts.refused_messages, CLOSE_LONG,
                    "a message has at most 200 bytes");
        return;
    }
    memcpy(page->message + page->message_size, bytes, size);
    page->message_size += size;
    if (!lws_is_final_fragment(page->wsi)) {
        return;
    }
    begin_second(page, ph_socket_now_us());
    if (lws_frame_is_binary(page->wsi)) {
        hear_bytes(page);
    } else {
        hear_text(page);
    }
    page->message_size = 0;
    page->message_parts = 0;
}

// ---- callbacks of libwebsockets

// @return Not 0: the connection ends.
static int say_goodbye(web_page* page)
{
    if (page->close_code == 0 || ph_socket_now_us() < page->deadline_us) {
        return 0;
    }
    lws_close_reason(page->wsi, (enum lws_close_status)page->close_code,
                     (uint8_t*)(uintptr_t)page->close_text, strlen(page->close_text));
    return -1;
}

static int write_frames(web_page* page)
{
    if (page->stage == PAGE_LEAVING) {
        return say_goodbye(page);
    }
    while (!demo_outbox_is_empty(&page->outbox)) {
        size_t size = 0;
        uint8_t* frame = demo_outbox_front(&page->outbox, &size);
        if (lws_send_pipe_choked(page->wsi)) {
            lws_callback_on_writable(page->wsi);
            return 0;
        }
        if (lws_write(page->wsi, frame, size, LWS_WRITE_BINARY) < 0) {
            return -1;
        }
        demo_outbox_pop(&page->outbox);
    }
    return 0;
}

static demo_web* web_of(struct lws* wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static int on_feed(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    web_page* page = user;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        *page = (web_page){.web = web_of(wsi), .wsi = wsi};
        return welcome(page);
    case LWS_CALLBACK_RECEIVE:
        hear(page, in, size);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_frames(page);
    case LWS_CALLBACK_CLOSED:
        forget(page);
        return 0;
    default:
        return 0;
    }
}

// Before a WebSocket is opened: who asks, and what for. @return As LWS_CALLBACK_HTTP_CONFIRM_UPGRADE has it.
static int judge_upgrade(demo_web* web, struct lws* wsi, const char* wanted)
{
    char host[128];
    char origin[256];
    char protocol[64];
    ++web->counts.requests;
    if (strcmp(wanted, "websocket") != 0) {
        ++web->counts.refused_requests;
        demo_web_http_refuse(wsi, 400, "The only upgrade here is to a WebSocket.\n");
        return 1;
    }
    if (!demo_web_http_takes_host(&web->http, wsi, host)) {
        demo_web_http_refuse(wsi, 403, "This is not the host that the demo listens at.\n");
        return 1;
    }
    const int size = lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN);
    if (size <= 0 || !demo_gate_takes_origin(&web->gate, origin, host)) {
        ++web->counts.refused_origins;
        demo_web_http_refuse(wsi, 403, "Only the demo's own page may open its feed.\n");
        return 1;
    }
    if (lws_hdr_copy(wsi, protocol, sizeof protocol, WSI_TOKEN_PROTOCOL) <= 0 ||
        strcmp(protocol, PROTOCOL) != 0) {
        ++web->counts.refused_requests;
        demo_web_http_refuse(wsi, 400, "The protocol of the feed is " PROTOCOL ".\n");
        return 1;
    }
    return 0;
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return judge_upgrade(web_of(wsi), wsi, in);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; // a feed has its own protocol
    case LWS_CALLBACK_HTTP:
        return demo_web_http_answer(&web_of(wsi)->http, wsi, user);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return demo_web_http_go_on(wsi, user);
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return -1; // no request here has one
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
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
        count += web->pages[i]->stage == PAGE_IN ? 1 : 0;
    }
    return count;
}

// Which budget classic would need: asked for again and again, told whenever more is known.
static void tell_need(web_page* page, uint64_t now_us)
{
    demo_web* web = page->web;
    demo_need_question question;
    ph_need found;
    demo_need_question_make(&question, web->def.stage, demo_page_get_controls(page->session));
    const int scene = demo_page_scene_count(page->session);
    if (strcmp(question.key, page->need_key) != 0 || scene != page->need_scene) {
        snprintf(page->need_key, sizeof page->need_key, "%s", question.key);
        page->need_scene = scene;
        page->need_version = 0;
    }
    demo_need_ask(web->need, &question, now_us);
    if (demo_need_answer(web->need, &question, &page->need_version, &found)) {
        ph_feed* feed = demo_page_feed(page->session);
        ph_need_write(&found, ph_feed_open(feed, PH_FEED_NEED));
        ph_feed_close(feed);
    }
}

static void tell_states(demo_web* web, uint64_t now_us)
{
    for (int i = 0; i < web->page_count; ++i) {
        web_page* page = web->pages[i];
        if (page->stage == PAGE_IN) {
            tell_need(page, now_us);
            write_players(web, demo_page_open_state(page->session, pages_in(web)));
            ph_feed_close(demo_page_feed(page->session));
            post(page);
        }
    }
}

static void check_deadline(web_page* page, uint64_t now_us)
{
    if (page->deadline_us == 0 || now_us < page->deadline_us || page->stage == PAGE_IN) {
        return;
    }
    if (page->stage == PAGE_ASKED) {
        refuse_page(page, &page->web->counts.refused_passwords, CLOSE_PASSWORD_WANTED,
                    "the password did not come in time");
    }
    lws_callback_on_writable(page->wsi);
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
        web_page* page = web->pages[i];
        check_deadline(page, now_us);
        if (page->stage != PAGE_IN || page->is_owed) {
            continue;
        }
        demo_page_advance(page->session, demo_us);
        post(page);
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
        pay_tick(web->pages[--web->owed_count]);
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
        web_page* page = web->pages[i];
        if (page->session != NULL && !demo_page_attend(page->session, fault)) {
            return false;
        }
    }
    return true;
}

// A page that has taken nothing of what waits for it, for some seconds and ticks: ticks, too, because this process may
// have stood still itself.
static void check_reader(web_page* page, uint64_t now_us)
{
    if (demo_outbox_is_empty(&page->outbox) || page->outbox.taken != page->taken) {
        page->taken = page->outbox.taken;
        page->stalled_us = now_us;
        page->stalled_ticks = 0;
        return;
    }
    const bool is_long = now_us - page->stalled_us > STALLED_MS_LEAST * UINT64_C(1000);
    if (++page->stalled_ticks > STALLED_TICKS_MAX && is_long) {
        page->stage = PAGE_LEAVING;
        ++page->web->counts.dropped_readers;
        lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
}

void demo_web_tick(demo_web* web)
{
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < web->page_count; ++i) {
        web_page* page = web->pages[i];
        if (page->stage == PAGE_IN) {
            check_reader(page, now_us);
        }
        page->is_owed = page->stage == PAGE_IN;
    }
    web->owed_count = web->page_count;
}

void demo_web_set_players(demo_web* web, const demo_web_player* players, int count)
{
    web->player_count = count < DEMO_WEB_PLAYERS_MAX ? count : DEMO_WEB_PLAYERS_MAX;
    memcpy(web->players, players, (size_t)web->player_count * sizeof *players);
}

// ---- opening and closing

static bool listen_there(demo_web* web, ph_fault* fault)
{
    const char* address = web->def.listen != NULL ? web->def.listen : "127.0.0.1";
    const bool is_six = web->gate.address.kind == PH_ADDRESS_IPV6;
    const bool is_any = ph_address_is_any(&web->gate.address);
    const struct lws_context_creation_info info = {
        .port = web->def.port,
        .iface = is_any ? NULL : address,
        .protocols = web->protocols,
        .vhost_name = "demo",
        .keepalive_timeout = LIFE_S,
        .options = (is_six ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6) |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
    };
    web->vhost = lws_create_vhost(web->context, &info);
    if (web->vhost == NULL) {
        return ph_fault_set(fault, 0, 0,
                            "%.60s, port %d, cannot be listened at: is another demo running there? "
                            "--port takes another one, 0 any that is free",
                            address, web->def.port);
    }
    const int port = lws_get_vhost_listen_port(web->vhost);
    demo_gate_set_port(&web->gate, port);
    const char* shown = !is_any  ? address
                        : is_six ? "::1"
                                 : "127.0.0.1"; // of all, one that works here
    snprintf(web->url, sizeof web->url, is_six ? "http://[%s]:%d" : "http://%s:%d", shown, port);
    return true;
}

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
        .per_session_data_size = sizeof(web_page),
        .rx_buffer_size = 1024,
        .tx_packet_size = SEND_BYTES,
    };
    web->need = demo_need_create(DEMO_NEED_SECONDS);
    web->http.files = demo_web_files_create();
    web->http.gate = &web->gate;
    web->http.counts = &web->counts;
    lws_set_log_level(0, NULL);
    const struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .user = web,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .fd_limit_per_thread = CONNECTIONS_MAX,
        .timeout_secs = LIFE_S,
        .server_string = "pinhole",
    };
    const bool is_ready = web->need != NULL && web->http.files != NULL;
    web->context = is_ready ? lws_create_context(&info) : NULL;
    return web->context != NULL ? listen_there(web, fault) : ph_fault_set_memory(fault);
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
