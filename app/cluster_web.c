// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some dozen times a second.

#include "cluster_web.h"

#include "demo_web_http.h"

#include <stdlib.h>
#include <string.h>

#define PROTOCOL "pinhole-cluster-1"
enum { CONNECTIONS_MAX = 2 * DEMO_WEB_PAGES_MAX };

struct cluster_web {
    demo_gate gate;
    demo_web_counts counts;
    demo_web_http http;
    struct lws_context* context;
    struct lws_protocols protocols[3];
    char url[96];
    int page_count;
    uint8_t* bytes; // the newest, with room for a head before it
    size_t size;
    uint64_t version; // of it, from 1
};

// One that is open. libwebsockets keeps its memory.
typedef struct page {
    bool is_counted;
    uint64_t version; // that it was told
} page;

static cluster_web* web_of(struct lws* wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    return demo_web_http_serve(&web_of(wsi)->http, wsi, reason, user, in, size);
}

// What is left over of a large one, libwebsockets keeps, and asks again when it is out.
static int write_newest(cluster_web* web, struct lws* wsi, page* to)
{
    if (web->size == 0 || to->version == web->version) {
        return 0;
    }
    to->version = web->version;
    return lws_write(wsi, web->bytes + LWS_PRE, web->size, LWS_WRITE_TEXT) < 0 ? -1 : 0;
}

static int on_feed(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t size)
{
    cluster_web* web = web_of(wsi);
    page* of = user;
    (void)in;
    (void)size;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        *of = (page){0};
        if (web->page_count == DEMO_WEB_PAGES_MAX) {
            ++web->counts.refused_pages;
            return -1;
        }
        of->is_counted = true;
        ++web->page_count;
        return 0;
    case LWS_CALLBACK_RECEIVE:
        ++web->counts.refused_messages;
        return -1; // a page here has nothing to say
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_newest(web, wsi, of);
    case LWS_CALLBACK_CLOSED:
        web->page_count -= of->is_counted;
        return 0;
    default:
        return 0;
    }
}

// ---- opening and closing

static bool fill(cluster_web* web, int port, ph_fault* fault)
{
    web->protocols[0] = (struct lws_protocols){
        .name = "http",
        .callback = on_http,
        .per_session_data_size = sizeof(demo_web_answer),
    };
    web->protocols[1] = (struct lws_protocols){
        .name = PROTOCOL,
        .callback = on_feed,
        .per_session_data_size = sizeof(page),
        .rx_buffer_size = 128,
    };
    web->http = (demo_web_http){
        .files = demo_web_files_create(),
        .gate = &web->gate,
        .counts = &web->counts,
        .first_page = "/cluster.html",
        .protocol = PROTOCOL,
    };
    lws_set_log_level(0, NULL);
    const struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .user = web,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .fd_limit_per_thread = CONNECTIONS_MAX,
        .timeout_secs = DEMO_WEB_LIFE_S,
        .server_string = "pinhole",
    };
    web->context = web->http.files != NULL ? lws_create_context(&info) : NULL;
    return web->context != NULL ? demo_web_http_listen(&web->http, web->context, web->protocols,
                                                       NULL, port, web->url, fault) != NULL
                                : ph_fault_set_memory(fault);
}

cluster_web* cluster_web_open(int port, ph_fault* fault)
{
    cluster_web* web = calloc(1, sizeof *web);
    if (web == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (!demo_gate_make(&web->gate, NULL, NULL, fault) || !fill(web, port, fault)) {
        cluster_web_close(web);
        return NULL;
    }
    return web;
}

void cluster_web_close(cluster_web* web)
{
    if (web == NULL) {
        return;
    }
    if (web->context != NULL) {
        lws_context_destroy(web->context);
    }
    demo_web_files_destroy(web->http.files);
    free(web->bytes);
    free(web);
}

const char* cluster_web_url(const cluster_web* web)
{
    return web->url;
}

int cluster_web_count(const cluster_web* web)
{
    return web->page_count;
}

// ---- time

void cluster_web_tell(cluster_web* web, const void* text, size_t size)
{
    uint8_t* bytes = realloc(web->bytes, LWS_PRE + size);
    if (bytes == NULL) {
        return;
    }
    memcpy(bytes + LWS_PRE, text, size);
    web->bytes = bytes;
    web->size = size;
    ++web->version;
    lws_callback_on_writable_all_protocol(web->context, &web->protocols[1]);
}

void cluster_web_serve(cluster_web* web)
{
    lws_service(web->context, -1);
}
