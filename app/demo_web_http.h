// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The files of a page over HTTP: what is inside the program, read-only, and nothing else; and who may open its feed.
// For demo_web.c and cluster_web.c, which have the feeds.

#ifndef PH_APP_DEMO_WEB_HTTP_H
#define PH_APP_DEMO_WEB_HTTP_H

#include "demo_gate.h"
#include "demo_web.h"

#include <libwebsockets.h>

enum { DEMO_WEB_LIFE_S = 10 }; // of a connection that says nothing

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
    const char* first_page; // what "/" is: "/index.html"
    const char* protocol;   // of the feed
} demo_web_http;

// Listens; then the gate knows the port, and url has the page's address. listen NULL: 127.0.0.1; port 0: any that is
// free. @return NULL with *fault filled.
struct lws_vhost* demo_web_http_listen(const demo_web_http* http, struct lws_context* context,
                                       const struct lws_protocols* protocols, const char* listen,
                                       int port, char url[96], ph_fault* fault);

// All that libwebsockets says of the protocol "http", the upgrade to a feed included. user is a demo_web_answer.
int demo_web_http_serve(const demo_web_http* http, struct lws* wsi,
                        enum lws_callback_reasons reason, void* user, void* in, size_t size);

#endif
