// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The HTTP side: one request per connection, then it is closed. A connection lives for a few seconds at most,
// and when all places are taken the oldest one goes, so that idle ones keep none from reading the metrics.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "serve_metrics.h"

#include "kit/http_request.h"
#include "serve_port.h"

#include <pinhole/net/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIFE_US UINT64_C(5000000)
enum {
    TEXT_MAX = 16384,
    ANSWER_MAX = TEXT_MAX + 512,
    CONNECTIONS_MAX = 16,
    ACCEPTS_MAX = 64, // at a time
};

typedef struct connection {
    int number; // of its socket; -1: none
    uint64_t since_us;
    bool is_answered; // what still comes is read and thrown away
    size_t in_size;
    size_t out_size;
    size_t out_done;
    char in[PH_HTTP_HEAD_MAX];
    char out[ANSWER_MAX];
} connection;

struct serve_metrics {
    int number;
    int port;
    size_t length;
    char text[TEXT_MAX];
    connection connections[CONNECTIONS_MAX];
};

// ---- opening

static void close_connection(connection* at)
{
    if (at->number >= 0) {
        close(at->number);
    }
    at->number = -1;
}

serve_metrics* serve_metrics_open(int port, ph_fault* fault)
{
    serve_metrics* metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    for (int i = 0; i < CONNECTIONS_MAX; ++i) {
        metrics->connections[i].number = -1;
    }
    metrics->number = serve_port_open(port, &metrics->port);
    if (metrics->number < 0) {
        serve_port_complain(port, "--metrics", fault);
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
    for (int i = 0; i < CONNECTIONS_MAX; ++i) {
        close_connection(&metrics->connections[i]);
    }
    if (metrics->number >= 0) {
        close(metrics->number);
    }
    free(metrics);
}

int serve_metrics_port(const serve_metrics* metrics)
{
    return metrics->port;
}

void serve_metrics_set(serve_metrics* metrics, const serve_report* now)
{
    if (metrics != NULL) {
        metrics->length = serve_metrics_print(now, metrics->text, TEXT_MAX);
    }
}

void serve_metrics_set_text(serve_metrics* metrics, const char* text)
{
    if (metrics != NULL) {
        metrics->length = 0;
        serve_metrics_add_text(metrics, text);
    }
}

void serve_metrics_add_text(serve_metrics* metrics, const char* text)
{
    const size_t size = strlen(text);
    if (metrics != NULL && metrics->length + size < TEXT_MAX) {
        memcpy(metrics->text + metrics->length, text, size + 1);
        metrics->length += size;
    }
}

// ---- connections

// A free place, or that of the oldest connection.
static connection* find_place(serve_metrics* metrics)
{
    connection* oldest = &metrics->connections[0];
    for (int i = 0; i < CONNECTIONS_MAX; ++i) {
        connection* at = &metrics->connections[i];
        if (at->number < 0) {
            return at;
        }
        oldest = at->since_us < oldest->since_us ? at : oldest;
    }
    close_connection(oldest);
    return oldest;
}

static bool let_in(serve_metrics* metrics, uint64_t now_us)
{
    const int number = serve_port_accept(metrics->number);
    if (number < 0) {
        return false;
    }
    connection* at = find_place(metrics);
    at->number = number;
    at->since_us = now_us;
    at->is_answered = false;
    at->in_size = at->out_size = at->out_done = 0;
    return true;
}

static void answer(const serve_metrics* metrics, connection* at, const ph_http_verdict* verdict)
{
    const bool is_page = verdict->status == 200;
    const char* body = is_page ? metrics->text : verdict->body;
    const size_t body_size = is_page ? metrics->length : strlen(verdict->body);
    const char* type =
        is_page ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8";
    at->out_size =
        ph_http_answer_print(verdict->status, type, body_size, at->out, sizeof at->out - TEXT_MAX);
    if (!verdict->has_no_body) {
        memcpy(at->out + at->out_size, body, body_size);
        at->out_size += body_size;
    }
    at->is_answered = true;
}

// @return False when the other side is done with it.
static bool hear(const serve_metrics* metrics, connection* at)
{
    char rest[1024];
    char* to = at->is_answered ? rest : at->in + at->in_size;
    const size_t room = at->is_answered ? sizeof rest : sizeof at->in - at->in_size;
    const ssize_t size = recv(at->number, to, room, MSG_DONTWAIT);
    if (size == 0) {
        return at->out_done < at->out_size; // it says no more, and may still read
    }
    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (!at->is_answered) {
        at->in_size += (size_t)size;
        const ph_http_verdict verdict = ph_http_request_judge(metrics->port, at->in, at->in_size);
        if (verdict.status != 0) {
            answer(metrics, at, &verdict);
        }
    }
    return true;
}

// Of an answer that is out, our half is closed; the other side closes the connection. Closing it here while
// something of the request is still unread would take the answer back.
static bool flush(connection* at)
{
    if (at->out_done == at->out_size) {
        return true;
    }
    const ssize_t size = send(at->number, at->out + at->out_done, at->out_size - at->out_done,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    at->out_done += (size_t)size;
    if (at->out_done == at->out_size) {
        shutdown(at->number, SHUT_WR);
    }
    return true;
}

void serve_metrics_serve(serve_metrics* metrics)
{
    if (metrics == NULL) {
        return;
    }
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < ACCEPTS_MAX && let_in(metrics, now_us); ++i) {
    }
    for (int i = 0; i < CONNECTIONS_MAX; ++i) {
        connection* at = &metrics->connections[i];
        if (at->number >= 0 &&
            (now_us - at->since_us > LIFE_US || !hear(metrics, at) || !flush(at))) {
            close_connection(at);
        }
    }
}
