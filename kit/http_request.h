// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The head of an HTTP/1.1 request for /metrics, the only page, on loopback, and the head of its answer. Every byte
// comes from outside. It keeps nothing: a head is read again from its start when more of it has come.

#ifndef PH_KIT_HTTP_REQUEST_H
#define PH_KIT_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum { PH_HTTP_HEAD_MAX = 8192 };

// What is to be answered.
typedef struct ph_http_verdict {
    int status;       // 200, or why not; 0: the head is not complete, read on
    bool has_no_body; // HEAD: the answer has the length of its body, and no body
    const char* body; // of any other status than 200; static
} ph_http_verdict;

// Judges the bytes of a request that have come so far, at the port that it is served at. Any bytes of any
// size will do.
//
// - Host (or the authority of an absolute target) must be localhost or 127.0.0.1 with this port, so that no
//   page of the Web gets here by a name of its own that resolves to this machine (DNS rebinding): 403 for
//   another name, 421 for another port, 400 for none or two.
// - An upgrade to WebSocket is 400. One to h2c is ignored: the answer is HTTP/1.1.
// - GET and HEAD only (405), HTTP/1.0 and 1.1 only (505), one page (404), PH_HTTP_HEAD_MAX bytes (431).
ph_http_verdict ph_http_request_judge(int port, const char* bytes, size_t size);

// The head of an answer with a body of so many bytes. @return Its length; 0 when it does not fit.
size_t ph_http_answer_print(int status, const char* content_type, size_t body_size, char* text,
                            size_t capacity);

#endif
