// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What test/first_hour*.c share: cases, each of which provokes one fault for real, and says what its user is told.

#ifndef PINHOLE_FIRST_HOUR_H
#define PINHOLE_FIRST_HOUR_H

#include "support/hour_stage.h"

typedef struct hour_case {
    const char* name;
    void (*run)(void);
} hour_case;

// Prints what somebody sees in the case that runs: who ("refused", "server", "result", ...) and the sentence.
void hour_say(const char* who, const char* sentence);

// What a call left behind: "result" with the sentence of on_error and its place in a text, or "bare result" with the text
// of its result alone.
void hour_say_result(ph_result result, const ph_error* error);

// Those of a connection, of what is said over it, and of single calls. {NULL} ends each.
extern const hour_case hour_connection_cases[];
extern const hour_case hour_message_cases[];
extern const hour_case hour_call_cases[];

#endif
