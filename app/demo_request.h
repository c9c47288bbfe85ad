// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a page may say to the demo: commands as text, one a message, and acks of its clients as bytes. Every byte
// comes from outside. Nothing is applied here: a message is read whole, or refused with the reason.
//
//     kbps 13           loss 20        rtt 100       jitter 20     hz 0        what the page's links carry
//     scheduler error   viewer 17      snapshot 1    select none               what the page looks at, and how
//     source scene:town entities 200   pause 1       step                      what all pages see
//     password WORDS                                                           first of all, where one is wanted
//
// A number is written with digits and at most one point, whatever the locale: no sign, no exponent, no space. Where
// a whole number is wanted, it has no point.

#ifndef PH_APP_DEMO_REQUEST_H
#define PH_APP_DEMO_REQUEST_H

#include <pinhole/packet.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DEMO_REQUEST_SIZE_MAX = 200, // of a text, bytes
    DEMO_REQUEST_WORD_MAX = 187, // of what stands behind the name of a command
};

typedef enum demo_request_kind {
    DEMO_REQUEST_KBPS = 0, // these six have a range
    DEMO_REQUEST_LOSS,
    DEMO_REQUEST_RTT,
    DEMO_REQUEST_JITTER,
    DEMO_REQUEST_HZ,
    DEMO_REQUEST_ENTITIES,
    DEMO_REQUEST_RANGES, // so many have one
    DEMO_REQUEST_SCHEDULER =
        DEMO_REQUEST_RANGES, // empty, or one of those in demo_request_schedulers
    DEMO_REQUEST_VIEWER,
    DEMO_REQUEST_SELECT,
    DEMO_REQUEST_SNAPSHOT,
    DEMO_REQUEST_PAUSE,
    DEMO_REQUEST_STEP,
    DEMO_REQUEST_SOURCE,
    DEMO_REQUEST_PASSWORD,
    DEMO_REQUEST_COUNT,
} demo_request_kind;

// "kbps" and so on.
const char* demo_request_name(demo_request_kind kind);

// What a number may be, and in which unit. kind is below DEMO_REQUEST_RANGES.
typedef struct demo_request_range {
    double low;
    double high;
    bool is_whole;
    const char* unit; // " kbit/s", "" without one
} demo_request_range;

demo_request_range demo_request_range_of(demo_request_kind kind);

// Ends with NULL.
extern const char* const demo_request_schedulers[];

typedef enum demo_request_refusal {
    DEMO_REQUEST_OK = 0,
    DEMO_REQUEST_LONG,    // more than DEMO_REQUEST_SIZE_MAX bytes
    DEMO_REQUEST_UNKNOWN, // no such command
    DEMO_REQUEST_VALUE,   // what stands behind the command is nothing that it takes
    DEMO_REQUEST_RANGE,   // a number that is too low or too high
} demo_request_refusal;

// Zero where the kind has no such field.
typedef struct demo_request {
    demo_request_kind kind;
    double number;                        // of the kinds with a range
    uint32_t entity;                      // VIEWER, SELECT: its id
    bool is_on;                           // SNAPSHOT, PAUSE; SELECT: false for none
    char word[DEMO_REQUEST_WORD_MAX + 1]; // SCHEDULER, SOURCE, PASSWORD
} demo_request;

// Reads a text message; any bytes of any size will do. @return What is wrong with it; *request is then {0}, but for
// its kind, which is DEMO_REQUEST_COUNT for an unknown one.
demo_request_refusal demo_request_read(const char* bytes, size_t size, demo_request* request);

// A sentence for the person at the page. text has room for DEMO_REQUEST_SENTENCE_MAX bytes.
enum { DEMO_REQUEST_SENTENCE_MAX = 160 };
void demo_request_explain(demo_request_refusal refusal, demo_request_kind kind,
                          char text[DEMO_REQUEST_SENTENCE_MAX]);

// What a page's client says to the sender of one way.
typedef struct demo_request_ack {
    int way;
    uint64_t time_us;     // at which its client wrote it, by the clock of the feed; 0: not said
    const uint8_t* bytes; // within the message; 1..PH_ACK_SIZE of them
    size_t size;
} demo_request_ack;

// Reads a binary message: u8 1, u8 way, the bytes of the ack; or u8 2, u8 way, u64 time, the bytes. What these say is for
// the sender to judge.
// @return False when it is none for a page of so many ways.
bool demo_request_read_ack(const uint8_t* bytes, size_t size, int way_count, demo_request_ack* ack);

#endif
