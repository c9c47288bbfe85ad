// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: frames, letting in, what pages say, what they are sent, time. Some dozens of frames a second and
// page.

#include "demo_web_page.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PASSWORD_US UINT64_C(5000000)
#define WRONG_PASSWORD_US UINT64_C(500000)
#define US_PER_SECOND UINT64_C(1000000)

_Static_assert(LWS_PRE <= DEMO_OUTBOX_GAP, "a head fits before each frame");

enum {
    COMMANDS_MAX = 200,     // a second
    ACKS_MAX = 4000,        // a second
    REFUSALS_MAX = 100,     // of one page, then it is closed
    PARTS_MAX = 16,         // that one message may come in
    STALLED_TICKS_MAX = 30, // that a page may read nothing of what waits for it
    STALLED_MS_LEAST = 3000,
    LEAVE_S = 5, // to take the last word

    // Why a feed ends: docs/wire_feed.md.
    CLOSE_POLICY = 1008,
    CLOSE_LONG = 1009,
    CLOSE_PASSWORD_WANTED = 4001,
    CLOSE_PASSWORD_WRONG = 4002,
    CLOSE_PASSWORD_WAIT = 4003,
    CLOSE_FULL = 4004,
};

// ---- frames

// From the session's feed to the socket's queue. A page whose queue is over is dropped: never waited for.
void demo_web_page_post(demo_web_page* page)
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
    if (is_over && page->stage != DEMO_WEB_PAGE_LEAVING) {
        page->stage = DEMO_WEB_PAGE_LEAVING;
        ++page->web->counts.dropped_readers;
        lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    } else if (!demo_outbox_is_empty(&page->outbox)) {
        lws_callback_on_writable(page->wsi);
    }
}

static void note(demo_web_page* page, const char* text)
{
    ph_feed_write_note(demo_page_feed(page->session), text);
    demo_web_page_post(page);
}

// To all others.
static void note_others(demo_web_page* page, const char* text)
{
    demo_web* web = page->web;
    for (int i = 0; i < web->page_count; ++i) {
        if (web->pages[i] != page && web->pages[i]->stage == DEMO_WEB_PAGE_IN) {
            note(web->pages[i], text);
        }
    }
}

// Ends a feed with a code, as soon as that can be written: in the middle of a frame it would be lost. What the page
// still says is not heard any more. A page that does not even read this is cut off.
static void leave(demo_web_page* page, int code, const char* text)
{
    page->stage = DEMO_WEB_PAGE_LEAVING;
    page->close_code = code;
    page->close_text = text;
    page->deadline_us = 0;
    lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LEAVE_S);
    lws_callback_on_writable(page->wsi);
}

static void refuse_page(demo_web_page* page, uint64_t* count, int code, const char* text)
{
    ++*count;
    leave(page, code, text);
}

// ---- letting in

static void let_in(demo_web_page* page)
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
    page->stage = DEMO_WEB_PAGE_IN;
    ++web->counts.opened;
    demo_web_page_post(page);
}

void demo_web_page_welcome(demo_web_page* page)
{
    demo_web* web = page->web;
    // What a page does not read is to wait in its outbox, which is watched, and not in the system.
    const int send_bytes = DEMO_WEB_SEND_BYTES;
    setsockopt(lws_get_socket_fd(page->wsi), SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
    lws_get_peer_simple(page->wsi, page->from, sizeof page->from);
    if (web->page_count == DEMO_WEB_PAGES_MAX) {
        refuse_page(page, &web->counts.refused_pages, CLOSE_FULL, "too many pages are open");
        return;
    }
    web->pages[web->page_count++] = page;
    if (web->gate.password == NULL) {
        let_in(page);
        return;
    }
    static const char WANTED[] = {PH_FEED_NOTE};
    static const char TEXT[] =
        "{\"text\": \"This demo wants a password.\", \"wants_password\": true}";
    char frame[sizeof WANTED + sizeof TEXT - 1];
    memcpy(frame, WANTED, sizeof WANTED);
    memcpy(frame + sizeof WANTED, TEXT, sizeof TEXT - 1);
    page->stage = DEMO_WEB_PAGE_ASKED;
    page->deadline_us = ph_socket_now_us() + PASSWORD_US;
    demo_outbox_push(&page->outbox, frame, sizeof frame);
    lws_callback_on_writable(page->wsi);
}

static void hear_password(demo_web_page* page, const demo_request* request)
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

void demo_web_page_forget(demo_web_page* page)
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

static void change_scene(demo_web_page* page, const char* name, int entities)
{
    demo_stage* stage = page->web->def.stage;
    ph_fault fault = {0};
    const char* source = name != NULL ? demo_page_find_source(page->session, name) : NULL;
    if (name != NULL && source == NULL) {
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
void demo_web_page_pay_tick(demo_web_page* page)
{
    if (page->is_owed && page->stage == DEMO_WEB_PAGE_IN) {
        demo_page_tick(page->session);
        demo_web_page_post(page);
    }
    page->is_owed = false;
}

static void obey(demo_web_page* page, const demo_request* request)
{
    demo_web* web = page->web;
    demo_stage* stage = web->def.stage;
    ph_fault fault = {0};
    demo_web_page_pay_tick(page); // what changes, changes after it
    ++web->counts.commands;
    if (demo_page_apply(page->session, request)) {
        if (!demo_page_renew(page->session, &fault)) {
            ph_feed_write_note(demo_page_feed(page->session), fault.message);
        }
        demo_web_page_post(page);
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
static void refuse_message(demo_web_page* page, const char* text)
{
    if (++page->refusals > REFUSALS_MAX) {
        refuse_page(page, &page->web->counts.refused_messages, CLOSE_POLICY,
                    "too many messages that are none");
        return;
    }
    ++page->web->counts.refused_messages;
    note(page, text);
}

static void hear_text(demo_web_page* page)
{
    demo_request request;
    char text[DEMO_REQUEST_SENTENCE_MAX];
    const demo_request_refusal refusal =
        demo_request_read(page->message, page->message_size, &request);
    if (page->stage == DEMO_WEB_PAGE_ASKED) {
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

static void hear_bytes(demo_web_page* page)
{
    demo_request_ack ack;
    demo_web_counts* counts = &page->web->counts;
    const uint8_t* bytes = (const uint8_t*)page->message;
    if (page->stage == DEMO_WEB_PAGE_ASKED) {
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

static void begin_second(demo_web_page* page, uint64_t now_us)
{
    if (now_us - page->second_us > US_PER_SECOND) {
        page->second_us = now_us;
        page->commands = 0;
        page->acks = 0;
    }
}

// A message may come in several parts: they are put together, up to the most that a page says.
void demo_web_page_hear(demo_web_page* page, const void* bytes, size_t size)
{
    if (page->stage == DEMO_WEB_PAGE_LEAVING) {
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

// ---- what pages are sent

// @return Not 0: the connection ends.
static int say_goodbye(demo_web_page* page)
{
    if (page->close_code == 0 || ph_socket_now_us() < page->deadline_us) {
        return 0;
    }
    lws_close_reason(page->wsi, (enum lws_close_status)page->close_code,
                     (uint8_t*)(uintptr_t)page->close_text, strlen(page->close_text));
    return -1;
}

int demo_web_page_write(demo_web_page* page)
{
    if (page->stage == DEMO_WEB_PAGE_LEAVING) {
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

// Which budget classic would need: asked for again and again, told whenever more is known.
void demo_web_page_tell_need(demo_web_page* page, uint64_t now_us)
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

// ---- time

void demo_web_page_check_deadline(demo_web_page* page, uint64_t now_us)
{
    if (page->deadline_us == 0 || now_us < page->deadline_us || page->stage == DEMO_WEB_PAGE_IN) {
        return;
    }
    if (page->stage == DEMO_WEB_PAGE_ASKED) {
        refuse_page(page, &page->web->counts.refused_passwords, CLOSE_PASSWORD_WANTED,
                    "the password did not come in time");
    }
    lws_callback_on_writable(page->wsi);
}

// A page that has taken nothing of what waits for it, for some seconds and ticks: ticks, too, because this process may
// have stood still itself.
void demo_web_page_check_reader(demo_web_page* page, uint64_t now_us)
{
    if (demo_outbox_is_empty(&page->outbox) || page->outbox.taken != page->taken) {
        page->taken = page->outbox.taken;
        page->stalled_us = now_us;
        page->stalled_ticks = 0;
        return;
    }
    const bool is_long = now_us - page->stalled_us > STALLED_MS_LEAST * UINT64_C(1000);
    if (++page->stalled_ticks > STALLED_TICKS_MAX && is_long) {
        page->stage = DEMO_WEB_PAGE_LEAVING;
        ++page->web->counts.dropped_readers;
        lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
}
