// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The files of the page over HTTP: what is inside the program, read-only, and nothing else. For demo_web.c.

#ifndef PH_APP_DEMO_WEB_HTTP_H
#define PH_APP_DEMO_WEB_HTTP_H

#include "demo_gate.h"
#include "demo_web.h"

#include <libwebsockets.h>

// Copies of the files, packed where that is worth it.
typedef struct demo_web_files demo_web_files;

// @return NULL when there is no memory.
demo_web_files* demo_web_files_create(void);
void demo_web_files_destroy(demo_web_files* files); // NULL is allowed

// What is still to be sent of an answer; libwebsockets keeps one for each connection.
typedef struct demo_web_answer {
    const uint8_t* bytes;
    size_t size;
    bool is_last; // the connection ends with it
} demo_web_answer;

typedef struct demo_web_http {
    demo_web_files* files;
    demo_gate* gate;
    demo_web_counts* counts;
} demo_web_http;

// Whether the Host line names this server, exactly once. Counts it otherwise. host has room for 128 bytes.
bool demo_web_http_takes_host(const demo_web_http* http, struct lws* wsi, char host[128]);

// Answers a request: its head at once, its body when the socket takes it. @return As libwebsockets wants it: not 0
// ends the connection.
int demo_web_http_answer(const demo_web_http* http, struct lws* wsi, demo_web_answer* answer);
int demo_web_http_go_on(struct lws* wsi, demo_web_answer* answer);

// Refuses with a status and a sentence, and ends the connection. @return As above.
int demo_web_http_refuse(struct lws* wsi, int status, const char* sentence);

#endif
