// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the chapters of the transport over NATS share. The owner's thread calls no function of libnats after opening:
// these wait for a lock that libnats keeps while it writes to a full socket or connects again.
//
//   owner      publish, subscribe: into outgoing      next: out of inbox      read, swap: into questions
//   sender     outgoing -> libnats                                                          (nats_messages.c)
//   records    questions -> requests that wait for their answer -> answers                  (nats_records.c)
//   libnats    delivers into inbox; says when the connection comes and goes                 (nats.c)

#ifndef PINHOLE_BUS_NATS_STATE_H
#define PINHOLE_BUS_NATS_STATE_H

#include <pinhole/bus/nats.h>

#include "base/check.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    PH_NATS_BUCKET_MAX = 64, // with the zero at its end
    PH_NATS_ERRORS_MAX = 8,  // that wait to be told; more are counted by the next one
    PH_NATS_SERVERS_MAX = 64,
    PH_NATS_SERVERS_TEXT_MAX = 4096,
    PH_NATS_PENDING_MAX = 1000 * 1000 * 1000,
};

// Room that grows and stays.
typedef struct ph_nats_room {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
} ph_nats_room;

// One subscription. It lives until the owner, libnats and the inbox have left it.
typedef struct ph_nats_subscription {
    struct ph_nats* nats;
    atomic_int users;
    atomic_bool is_gone;
    natsSubscription* handle; // of the sender
    char subject[PH_BUS_SUBJECT_MAX];
} ph_nats_subscription;

typedef struct ph_nats_slot {
    ph_nats_subscription* subscription; // NULL: free
    uint32_t generation;
    uint32_t next_free1; // of a free one
} ph_nats_slot;

// A message that waits to be taken.
typedef struct ph_nats_arrival {
    natsMsg* message;
    ph_nats_subscription* subscription;
} ph_nats_arrival;

// A read or a swap, later its answer.
typedef struct ph_nats_question {
    struct ph_nats_question* next;
    uint64_t ticket;
    uint64_t expected; // revision
    uint64_t revision;
    int64_t asked_ms;
    ph_bus_outcome outcome;
    bool is_swap;
    size_t size;
    uint8_t* bytes; // to swap, or as read
    char key[PH_BUS_SUBJECT_MAX];
} ph_nats_question;

typedef struct ph_nats_questions {
    ph_nats_question* first;
    ph_nats_question* last;
    int count;
} ph_nats_questions;

struct ph_nats {
    // Set by opening.
    natsConnection* connection;
    jsCtx* records;
    ph_error_fn* on_error;
    void* on_error_context;
    size_t pending_bytes;
    int replicas;
    char bucket[PH_NATS_BUCKET_MAX];

    atomic_int users; // the owner, the connection, each subscription
    atomic_bool is_connected;
    atomic_bool is_closing;
    atomic_uint_fast64_t losses; // of the connection
    atomic_uint_fast64_t reconnects;
    atomic_uint_fast64_t unsent_messages;
    atomic_int payload_max;

    // What threads of libnats and ours have to tell the owner.
    pthread_mutex_t news_mutex;
    atomic_bool has_news;
    char errors[PH_NATS_ERRORS_MAX][PH_ERROR_TEXT_SIZE];
    int error_count;
    int left_out_count;
    char server[64];

    // Commands to the sender.
    pthread_mutex_t outgoing_mutex;
    pthread_cond_t outgoing_wake;
    ph_nats_room outgoing;
    bool is_sender_waiting;
    bool is_over;
    bool has_sender;
    pthread_t sender;
    ph_nats_room sending; // of the sender

    // Of the owner.
    ph_nats_slot* slots;
    size_t slot_count;
    size_t slot_capacity;
    uint32_t free_slot1;
    int subscription_count;
    ph_nats_arrival* taking; // what next() takes from
    size_t taking_count;
    size_t taking_next;
    size_t taking_capacity;
    ph_nats_arrival taken;
    uint64_t published_messages;
    uint64_t published_bytes;
    uint64_t received_messages;
    uint64_t received_bytes;

    // What libnats delivers.
    pthread_mutex_t inbox_mutex;
    ph_nats_arrival* inbox;
    size_t inbox_count;
    size_t inbox_capacity;
    uint64_t dropped_messages;
    uint64_t drops_told;         // how often the owner had to be told of drops
    bool has_dropped;            // since the owner asked last
    atomic_size_t waiting_bytes; // in the inbox and in what next() takes from

    // Records.
    pthread_mutex_t records_mutex;
    pthread_cond_t records_wake;
    ph_nats_questions questions;
    ph_nats_questions answers;
    ph_nats_question* taken_answer; // of the owner
    bool has_records_thread;
    bool are_records_over;
    bool has_bucket;          // of the thread of records
    natsStatus bucket_status; // of the last try; the same again is not told
    pthread_t records_thread;
};

int64_t ph_nats_now_ms(void);
// From any thread: the owner tells it by on_error.
PH_PRINTF(2, 3)
void ph_nats_tell(ph_nats* nats, const char* format, ...);
// On the owner's thread: what has been told.
void ph_nats_tell_owner(ph_nats* nats);
ph_check ph_nats_call(const ph_nats* nats, const char* function);
void ph_nats_release(ph_nats* nats);

// ---- nats_def.c

// The list of servers, cut into texts.
typedef struct ph_nats_servers {
    char text[PH_NATS_SERVERS_TEXT_MAX];
    const char* urls[PH_NATS_SERVERS_MAX];
    int count;
    bool is_tls;
} ph_nats_servers;

// Cuts the servers into the list, too.
ph_result ph_nats_check_def(const ph_nats_def* def, ph_nats_servers* list);
bool ph_nats_has_tls(const ph_nats_def* def, const ph_nats_servers* list);
bool ph_nats_has_credentials(const ph_nats_def* def, const char* url);
// A file that cannot be used is the caller's fault.
ph_result ph_nats_refuse_file(const ph_nats_def* def, const char* field, const char* path,
                              const char* reason);
// libnats opens it for each connection, and says then that no server answers.
ph_result ph_nats_check_credentials_file(const ph_nats_def* def);

// ---- nats_messages.c

// NATS has its own rules for subjects, and a space in one would break the connection.
bool ph_nats_is_subject(const char* subject, bool is_pattern, size_t* size);
bool ph_nats_publish(void* context, const char* subject, const void* bytes, size_t size);
uint64_t ph_nats_subscribe(void* context, const char* subject);
void ph_nats_unsubscribe(void* context, uint64_t subscription);
bool ph_nats_next(void* context, ph_bus_message* message);
bool ph_nats_start_sender(ph_nats* nats);
// Sends what waits, until a time, and ends the thread.
void ph_nats_stop_sender(ph_nats* nats);
void ph_nats_count_drop(ph_nats* nats, uint64_t count);
// How often messages were dropped between two calls.
uint64_t ph_nats_count_losses(ph_nats* nats);
void ph_nats_destroy_messages(ph_nats* nats);

// ---- nats_records.c

void ph_nats_read(void* context, const char* key, uint64_t ticket);
void ph_nats_swap(void* context, const char* key, uint64_t revision, const void* bytes, size_t size,
                  uint64_t ticket);
bool ph_nats_next_answer(void* context, ph_bus_answer* answer);
bool ph_nats_start_records(ph_nats* nats);
void ph_nats_stop_records(ph_nats* nats);
void ph_nats_destroy_records(ph_nats* nats);

#endif
