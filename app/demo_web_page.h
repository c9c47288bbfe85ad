// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One page that is connected: it is let in, fed, heard and sent away. And the inside of the server, which has them all.
// For demo_web.c, which has the sockets and the time.

#ifndef PH_APP_DEMO_WEB_PAGE_H
#define PH_APP_DEMO_WEB_PAGE_H

#include "demo_gate.h"
#include "demo_need.h"
#include "demo_outbox.h"
#include "demo_page_session.h"
#include "demo_web.h"
#include "demo_web_http.h"

#include <libwebsockets.h>

enum { DEMO_WEB_SEND_BYTES = 1 << 18 }; // of a page, that the system keeps

typedef enum demo_web_page_stage {
    DEMO_WEB_PAGE_NONE = 0,
    DEMO_WEB_PAGE_ASKED, // for a password
    DEMO_WEB_PAGE_IN,
    DEMO_WEB_PAGE_LEAVING, // is closed as soon as that can be written
} demo_web_page_stage;

// One connection with a feed. libwebsockets keeps its memory.
typedef struct demo_web_page {
    demo_web* web;
    struct lws* wsi;
    demo_web_page_stage stage;
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
} demo_web_page;

struct demo_web {
    demo_web_def def;
    demo_gate gate;
    char url[96];
    struct lws_context* context;
    struct lws_protocols protocols[3];
    demo_web_http http;
    demo_web_counts counts;
    demo_web_page* pages[DEMO_WEB_PAGES_MAX];
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

// Once it is connected: with a password it is asked for one, without it is let in.
void demo_web_page_welcome(demo_web_page* page);

// It is gone.
void demo_web_page_forget(demo_web_page* page);

// A part of a message came.
void demo_web_page_hear(demo_web_page* page, const void* bytes, size_t size);

// Its socket takes more. @return Not 0: the connection ends.
int demo_web_page_write(demo_web_page* page);

// What its session has written is to be sent.
void demo_web_page_post(demo_web_page* page);

// It is sent the last tick, where that is owed to it.
void demo_web_page_pay_tick(demo_web_page* page);

// Where more is known of what classic would need, it is written for it.
void demo_web_page_tell_need(demo_web_page* page, uint64_t now_us);

// Whether it has said or read what it had to, by now.
void demo_web_page_check_deadline(demo_web_page* page, uint64_t now_us);
void demo_web_page_check_reader(demo_web_page* page, uint64_t now_us);

#endif
