// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The HTTP side, by libwebsockets.

#include "serve_metrics.h"

#if defined(PH_APP_METRICS)

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 16384, HEADERS_MAX = 1024, CONNECTIONS_MAX = 64 };

struct serve_metrics {
    struct lws_context* context;
    struct lws_vhost* host;
    size_t length;
    char text[TEXT_MAX];
};

// What one connection is being told: the text may be another one before it is sent.
typedef struct answer_page {
    size_t length;
    char room[LWS_PRE + TEXT_MAX]; // libwebsockets writes before what it is given
} answer_page;

static int begin_answer(struct lws* connection, answer_page* page, const char* path)
{
    const serve_metrics* metrics = lws_context_user(lws_get_context(connection));
    unsigned char headers[LWS_PRE + HEADERS_MAX];
    unsigned char* start = headers + LWS_PRE;
    unsigned char* at = start;
    unsigned char* end = headers + sizeof headers;
    if (strcmp(path, "/metrics") != 0) {
        lws_return_http_status(connection, HTTP_STATUS_NOT_FOUND, NULL);
        return -1;
    }
    page->length = metrics->length;
    memcpy(page->room + LWS_PRE, metrics->text, metrics->length);
    if (lws_add_http_common_headers(connection, HTTP_STATUS_OK,
                                    "text/plain; version=0.0.4; charset=utf-8", page->length, &at,
                                    end) != 0 ||
        lws_finalize_write_http_header(connection, start, &at, end) != 0) {
        return -1;
    }
    lws_callback_on_writable(connection);
    return 0;
}

static int finish_answer(struct lws* connection, answer_page* page)
{
    unsigned char* text = (unsigned char*)page->room + LWS_PRE;
    if (lws_write(connection, text, page->length, LWS_WRITE_HTTP_FINAL) != (int)page->length) {
        return -1;
    }
    return lws_http_transaction_completed(connection) != 0 ? -1 : 0;
}

static int answer(struct lws* connection, enum lws_callback_reasons reason, void* user, void* in,
                  size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_answer(connection, user, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return finish_answer(connection, user);
    default:
        return lws_callback_http_dummy(connection, reason, user, in, size);
    }
}

static const struct lws_protocols PROTOCOLS[] = {
    {.name = "http", .callback = answer, .per_session_data_size = sizeof(answer_page)},
    {0},
};

static bool open_host(serve_metrics* metrics, int port)
{
    struct lws_context_creation_info info = {0};
    lws_set_log_level(0, NULL);
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.fd_limit_per_thread = CONNECTIONS_MAX;
    info.user = metrics;
    info.gid = -1;
    info.uid = -1;
    metrics->context = lws_create_context(&info);
    if (metrics->context == NULL) {
        return false;
    }
    info.options = LWS_SERVER_OPTION_DISABLE_IPV6;
    info.port = port;
    info.iface = "127.0.0.1";
    info.protocols = PROTOCOLS;
    info.vhost_name = "metrics";
    metrics->host = lws_create_vhost(metrics->context, &info);
    return metrics->host != NULL && lws_get_vhost_listen_port(metrics->host) > 0;
}

serve_metrics* serve_metrics_open(int port, ph_fault* fault)
{
    serve_metrics* metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (!open_host(metrics, port)) {
        ph_fault_set(fault, 0, 0, "cannot listen on port %d of 127.0.0.1", port);
        serve_metrics_close(metrics);
        return NULL;
    }
    serve_metrics_set(metrics, &(serve_report){0});
    return metrics;
}

void serve_metrics_close(serve_metrics* metrics)
{
    if (metrics == NULL) {
        return;
    }
    if (metrics->context != NULL) {
        lws_context_destroy(metrics->context);
    }
    free(metrics);
}

int serve_metrics_port(const serve_metrics* metrics)
{
    return lws_get_vhost_listen_port(metrics->host);
}

void serve_metrics_set(serve_metrics* metrics, const serve_report* now)
{
    if (metrics != NULL) {
        metrics->length = serve_metrics_print(now, metrics->text, TEXT_MAX);
    }
}

void serve_metrics_serve(serve_metrics* metrics)
{
    if (metrics != NULL) {
        lws_service(metrics->context, -1); // below 0: does not wait
    }
}

#else

serve_metrics* serve_metrics_open(int port, ph_fault* fault)
{
    (void)port;
    ph_fault_set(fault, 0, 0, "this program was built without libwebsockets");
    return NULL;
}

void serve_metrics_close(serve_metrics* metrics)
{
    (void)metrics;
}

int serve_metrics_port(const serve_metrics* metrics)
{
    (void)metrics;
    return 0;
}

void serve_metrics_set(serve_metrics* metrics, const serve_report* now)
{
    (void)metrics;
    (void)now;
}

void serve_metrics_serve(serve_metrics* metrics)
{
    (void)metrics;
}

#endif
