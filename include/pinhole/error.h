// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What was wrong with a call, in a sentence: which field or argument, its value, what is allowed.
//
//     ph_error error = {0};
//     ph_world_def def = ph_world_def_default();
//     def.tick_us = 0;
//     def.on_error = ph_error_keep;          // or ph_error_print, or a function of your own
//     def.on_error_context = &error;
//     if (ph_world_create(&def, &world) != PH_OK) {
//         puts(error.text);                  // ph_world_def.tick_us is 0; it must be 1,000..10,000,000
//     }
//
// One way for the whole library. The def of an object has on_error and on_error_context: the object
// that is made from it calls on_error, on the thread of the failing call and before that returns,
// each time that one of its functions fails because of its caller: a field of a def, an argument, a
// stale id, a value that cannot be kept, memory, the operating system. Functions without an object
// (ph_schema_parse(), ph_address_parse()) take a ph_error to fill, or NULL. There is no global
// state and nothing is allocated; without on_error nothing is formatted either.
//
// These have no on_error of their own. What is wrong with them is told elsewhere:
//
//   - ph_viewer_def and ph_vision_def: by the world;
//   - ph_rate_def: not at all; ph_rate_make() asserts that it is right;
//   - declarations of classes and properties: by the ph_error of ph_schema_create().
//
// What is no fault is not reported, only returned and, where it says so, counted:
//
//   - bytes from the network that are refused: ph_client_receive(), ph_viewer_receive_ack(),
//     ph_messages_unpack(), ph_net_server_receive() and the like;
//   - ids of a client's entities that have left its view: the server decides when;
//   - functions without a ph_result that answer "none" or 0 for a stale id (find, poll, is_alive,
//     ph_viewer_property_bits256());
//   - PH_ERROR_FULL of ph_messages_send() and ph_viewer_spend(): try again later.
//
// Bits and codings (bits.h, integers.h, fixed.h and so on) run millions of times a second and answer by
// ph_result alone.

#ifndef PINHOLE_ERROR_H
#define PINHOLE_ERROR_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room for a sentence and for the name of a field, the zero at the end included.
#define PH_ERROR_TEXT_SIZE 256
#define PH_ERROR_FIELD_SIZE 80

/// What was wrong. {0} is nothing.
typedef struct ph_error {
    /// PH_OK in a warning: nothing has failed, but the caller should know it.
    ph_result result;
    /// Place in a text that was parsed, counted from 1; 0 elsewhere.
    int line;
    int column;
    /// The function that failed ("ph_world_create"). Static storage; NULL in {0}.
    const char* function;
    /// The field ("ph_world_def.tick_us"), the argument ("weight") or the property ("kart.shells") that
    /// was wrong; empty where it is none of them.
    char field[PH_ERROR_FIELD_SIZE];
    /// One English sentence without its full stop, cut off where it is too long.
    char text[PH_ERROR_TEXT_SIZE];
} ph_error;

/// Is told of an error. Borrowed for the call: copy what you need. It must not call the object that
/// reports, and may be called from several threads at once where the object's functions are.
typedef void ph_error_fn(void* context, const ph_error* error);

/// Copies the error to where the context points, a ph_error: the newest one stays.
PH_API void ph_error_keep(void* context, const ph_error* error);

/// Prints the sentence to standard error. The context is not used.
PH_API void ph_error_print(void* context, const ph_error* error);

#ifdef __cplusplus
}
#endif

#endif
