// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One client as JavaScript has it: a table of calls and their state, and places for what goes out. The exports
// (client_exports.c) know no more of a client than this. The library's own client fills the table in
// client_exports.c; the demo's module adds the client for plain snapshots (demo_exports.c).

#ifndef PINHOLE_WEB_CLIENT_H
#define PINHOLE_WEB_CLIENT_H

#include <pinhole/client.h>
#include <pinhole/schema.h>
#include <pinhole/stats.h>

#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))

// One row of the list: numbers of one entity. pinhole.js knows the order.
enum {
    WEB_ROW_INDEX = 0,  // of its id
    WEB_ROW_GENERATION, // of its id
    WEB_ROW_CLASS,
    WEB_ROW_KEY_LOW, // its key, 32 bits each
    WEB_ROW_KEY_HIGH,
    WEB_ROW_X, // mm
    WEB_ROW_Y,
    WEB_ROW_Z,
    WEB_ROW_HEADING, // degrees; NaN: its class has none
    WEB_ROW_QX,      // its rotation in space; NaN: its class has no orientation
    WEB_ROW_QY,
    WEB_ROW_QZ,
    WEB_ROW_QW,
    WEB_ROW_SIZE
};

enum { WEB_TEXT_SIZE = 2048, WEB_NUMBER_COUNT = 32 };

// As the functions of pinhole/client.h with these names.
typedef struct web_calls {
    void (*destroy)(void* state);
    ph_result (*receive)(void* state, uint64_t now_us, const void* bytes, size_t size);
    size_t (*write_ack)(void* state, uint64_t now_us, uint8_t* bytes);
    uint64_t (*ack_due_us)(const void* state);
    bool (*poll)(void* state, ph_event* event);
    void (*advance)(void* state, uint64_t now_us);
    int (*slot_count)(const void* state);
    ph_entity_id (*entity_at)(const void* state, int slot);
    ph_entity_id (*find)(const void* state, uint64_t key);
    ph_result (*identify)(const void* state, ph_entity_id entity, uint64_t* key, int* class_index);
    ph_result (*get_pose)(const void* state, ph_entity_id entity, ph_pose* pose);
    ph_result (*get_property)(const void* state, ph_entity_id entity, int property, ph_field field,
                              void* value, size_t size);
    ph_result (*get_shown)(const void* state, ph_entity_id entity, int property, double* numbers);
    ph_client_stats (*get_stats)(const void* state);
} web_calls;

typedef struct web_client {
    const web_calls* calls;
    void* state; // of the calls
    ph_schema* schema;
    double* rows; // of the last list
    int row_capacity;
    double numbers[WEB_NUMBER_COUNT]; // of the last event, property or statistics
    uint8_t text[WEB_TEXT_SIZE];      // the last text, ack or datagram
} web_client;

// Why the last client could not be opened.
extern ph_error web_last_error;

uint64_t web_us_of(double ms);

// A client without calls yet, with its schema and room for rows. @return NULL with web_last_error.
web_client* web_client_open(const char* schema, size_t size, int slots);
// The calls and their state are the client's from now on. state may be NULL: then the client is closed.
// @return The client, or NULL.
web_client* web_client_finish(web_client* web, const web_calls* calls, void* state);
// The library's client. The schema of asked is not looked at. @return NULL with web_last_error.
web_client* web_client_open_profile(const char* schema, size_t size, const ph_client_def* asked);

// @return False when there is no such entity.
bool web_client_fill_row(const web_client* web, ph_entity_id entity, double* row);

#endif
