// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per minute.

#include "kit/http_request.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// A part of the bytes; nothing is copied.
typedef struct piece {
    const char* at;
    size_t size;
} piece;

// What the lines of a head say, as far as it matters.
typedef struct head {
    piece method;
    piece target;
    piece version;
    piece host;
    int host_count;
    bool has_websocket;
} head;

// ---- pieces

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_text(piece of, const char* text)
{
    return of.size == strlen(text) && memcmp(of.at, text, of.size) == 0;
}

// Whatever the case of letters; text in small ones.
static bool is_word(piece of, const char* text)
{
    if (of.size != strlen(text)) {
        return false;
    }
    for (size_t i = 0; i < of.size; ++i) {
        if (small(of.at[i]) != text[i]) {
            return false;
        }
    }
    return true;
}

// Takes what is before a letter off the front, and the letter; all of it when there is none.
static piece take(piece* from, char until)
{
    const char* end = from->size > 0 ? memchr(from->at, until, from->size) : NULL;
    const piece front = {from->at, end != NULL ? (size_t)(end - from->at) : from->size};
    const size_t used = front.size + (end != NULL ? 1 : 0);
    from->at += used;
    from->size -= used;
    return front;
}

static piece trim(piece of)
{
    while (of.size > 0 && (of.at[0] == ' ' || of.at[0] == '\t')) {
        ++of.at;
        --of.size;
    }
    while (of.size > 0 && (of.at[of.size - 1] == ' ' || of.at[of.size - 1] == '\t')) {
        --of.size;
    }
    return of;
}

// Letters, digits and a few signs: names of methods and fields (RFC 9110, 5.6.2).
static bool is_token(piece of)
{
    static const char SIGNS[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < of.size; ++i) {
        const char letter = small(of.at[i]);
        const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
        if (!is_plain && (letter == '\0' || strchr(SIGNS, letter) == NULL)) {
            return false;
        }
    }
    return of.size > 0;
}

static bool has_control(piece of)
{
    for (size_t i = 0; i < of.size; ++i) {
        const unsigned char letter = (unsigned char)of.at[i];
        if ((letter < ' ' && letter != '\t') || letter == 0x7f) {
            return true;
        }
    }
    return false;
}

// ---- lines

// Up to the first CR LF, which is taken as well. @return False when there is none, or a lone CR or LF
// before it.
static bool take_line(piece* from, piece* line)
{
    *line = take(from, '\n');
    if (line->size == 0 || line->at[line->size - 1] != '\r') {
        return false;
    }
    --line->size;
    return !has_control(*line);
}

static bool read_first(head* to, piece line)
{
    to->method = take(&line, ' ');
    to->target = take(&line, ' ');
    to->version = line;
    return is_token(to->method) && to->target.size > 0 && to->version.size == strlen("HTTP/1.1") &&
           memcmp(to->version.at, "HTTP/", 5) == 0;
}

// A list of protocols: one of them is enough.
static bool names_websocket(piece list)
{
    while (list.size > 0) {
        piece one = trim(take(&list, ','));
        if (is_word(take(&one, '/'), "websocket")) {
            return true;
        }
    }
    return false;
}

static bool read_field(head* to, piece line)
{
    const size_t whole = line.size;
    const piece name = take(&line, ':');
    if (name.size == whole || !is_token(name)) {
        return false; // no colon, a space before it, or a folded line
    }
    const piece value = trim(line);
    if (is_word(name, "host")) {
        to->host = value;
        ++to->host_count;
    }
    to->has_websocket = to->has_websocket || (is_word(name, "upgrade") && names_websocket(value));
    return true;
}

// @return Whether all of it is as HTTP has it.
static bool read_head(head* to, piece bytes)
{
    piece line;
    if (!take_line(&bytes, &line) || !read_first(to, line)) {
        return false;
    }
    while (take_line(&bytes, &line)) {
        if (line.size == 0) {
            return true;
        }
        if (!read_field(to, line)) {
            return false;
        }
    }
    return false;
}

// ---- what is judged

// @return 200, or what is wrong with the name or the port.
static int judge_host(piece host, int port)
{
    const piece name = take(&host, ':');
    if (!is_word(name, "localhost") && !is_text(name, "127.0.0.1")) {
        return 403;
    }
    char digits[16];
    snprintf(digits, sizeof digits, "%d", port);
    const bool is_usual = host.size == 0 && port == 80;
    return is_usual || is_text(host, digits) ? 200 : 421;
}

// Takes "http://authority" off the front of an absolute target. @return Whether there was one.
static bool take_authority(piece* target, piece* authority)
{
    static const char SCHEME[] = "http://";
    const size_t size = strlen(SCHEME);
    if (target->size < size || !is_word((piece){target->at, size}, SCHEME)) {
        return false;
    }
    const piece rest = {target->at + size, target->size - size};
    const char* slash = rest.size > 0 ? memchr(rest.at, '/', rest.size) : NULL;
    *authority = (piece){rest.at, slash != NULL ? (size_t)(slash - rest.at) : rest.size};
    *target = (piece){rest.at + authority->size, rest.size - authority->size};
    return true;
}

static int judge(int port, const head* of)
{
    if (!is_text(of->version, "HTTP/1.1") && !is_text(of->version, "HTTP/1.0")) {
        return 505;
    }
    piece target = of->target;
    piece authority = of->host;
    take_authority(&target, &authority);
    const int status = of->host_count == 1 ? judge_host(authority, port) : 400;
    if (status != 200) {
        return status;
    }
    if (of->has_websocket) {
        return 400;
    }
    if (!is_text(of->method, "GET") && !is_text(of->method, "HEAD")) {
        return 405;
    }
    return is_text(take(&target, '?'), "/metrics") ? 200 : 404;
}

static const char* body_of(int status)
{
    switch (status) {
    case 400:
        return "This is no request for this server: HTTP/1.1 with one Host line, no WebSocket.\n";
    case 403:
        return "Ask for localhost or 127.0.0.1: other names are refused.\n";
    case 404:
        return "There is one page: /metrics.\n";
    case 405:
        return "GET and HEAD only.\n";
    case 421:
        return "The Host line names another port than the one that was asked.\n";
    case 431:
        return "The head of this request is too long.\n";
    case 505:
        return "HTTP/1.1 only.\n";
    default:
        return "";
    }
}

// Whether the empty line at the end of the head is there.
static bool is_complete(const char* bytes, size_t size)
{
    for (size_t i = 0; i + 4 <= size; ++i) {
        if (memcmp(bytes + i, "\r\n\r\n", 4) == 0) {
            return true;
        }
    }
    return false;
}

ph_http_verdict ph_http_request_judge(int port, const char* bytes, size_t size)
{
    head of = {0};
    if (!is_complete(bytes, size < PH_HTTP_HEAD_MAX ? size : PH_HTTP_HEAD_MAX)) {
        const int status = size < PH_HTTP_HEAD_MAX ? 0 : 431;
        return (ph_http_verdict){.status = status, .body = body_of(status)};
    }
    const int status = read_head(&of, (piece){bytes, size}) ? judge(port, &of) : 400;
    return (ph_http_verdict){
        .status = status, .has_no_body = is_text(of.method, "HEAD"), .body = body_of(status)};
}

// ---- answers

static const char* reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 421:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    default:
        return "HTTP Version Not Supported";
    }
}

size_t ph_http_answer_print(int status, const char* content_type, size_t body_size, char* text,
                            size_t capacity)
{
    const int size = snprintf(text, capacity,
                              "HTTP/1.1 %d %s\r\n%sContent-Type: %s\r\nContent-Length: %zu\r\n"
                              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                              "Connection: close\r\n\r\n",
                              status, reason_of(status),
                              status == 405 ? "Allow: GET, HEAD\r\n" : "", content_type, body_size);
    return size > 0 && (size_t)size < capacity ? (size_t)size : 0;
}
