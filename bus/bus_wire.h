// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The messages of the bus as bytes (docs/distributed.md): whole bytes, the lowest first. Written into a growing buffer,
// read into structs whose pointers lead into the message. Reading checks everything that can be checked without
// knowing who is who; nothing here allocates but the buffer, or keeps anything.

#ifndef PH_BUS_BUS_WIRE_H
#define PH_BUS_BUS_WIRE_H

#include <pinhole/bus/refusal.h>
#include <pinhole/bus/region.h>

#define BUS_VERSION 1
#define BUS_MESSAGE_MAX (1 << 20)

typedef enum bus_kind {
    BUS_CELL = 1,     // sim: changes of a cell, a snapshot of it, or nothing (a heartbeat)
    BUS_SNAPSHOT,     // front or standby: a whole cell is wanted
    BUS_BEAT,         // sim: this region is owned; or stood by for; or given up
    BUS_OFFER,        // sim: take this entity
    BUS_ACCEPT,       // sim: it is taken
    BUS_FIND,         // front, director: where is this entity?
    BUS_FOUND,        // sim: here
    BUS_UP,           // front: items of players
    BUS_DOWN,         // sim: items of players
    BUS_MIRROR,       // owner: sessions that have changed, for the standby
    BUS_MIRRORED,     // standby: it has them; or: send all
    BUS_FRONT_REPORT, // front: where it is, how full, where its players are
    BUS_WISH,         // login: a token for this player
    BUS_GRANT,        // director: tokens
    BUS_KIND_COUNT
} bus_kind;

// ---- writing

// {allocator} alone is empty. is_short: there was no memory, or it would be longer than BUS_MESSAGE_MAX; nothing is
// written from then on.
typedef struct bus_writer {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
    size_t items_at;     // where the message begins whose items are being added
    uint16_t item_count; // in it
    bool is_short;
    ph_allocator allocator;
} bus_writer;

void bus_writer_init(bus_writer* writer, const ph_allocator* allocator);
void bus_writer_destroy(bus_writer* writer);
void bus_writer_clear(bus_writer* writer); // empty again, and no longer short; keeps its memory

// ---- messages with one fixed form

typedef struct bus_cell {
    int region;
    uint32_t epoch;
    ph_cell cell;
    int channel;
    bool is_snapshot;
    uint16_t part;     // of a snapshot: 0, 1, ...
    bool is_last_part; // of a snapshot
    uint64_t
        sequence; // of changes: counted from 1 for each region, epoch, cell and channel. Of a snapshot and of a
    // heartbeat: the newest that was published
    const uint8_t* batch; // docs/wire_transfer.md; NULL: a heartbeat
    size_t batch_size;
} bus_cell;

// In a SNAPSHOT with a region: every cell of it.
#define BUS_CELLS_OF_REGION ((ph_cell){INT32_MIN + 1, INT32_MIN + 1})

typedef struct bus_snapshot {
    ph_cell cell;
    int channel; // 255: all but OWN
    int region;  // PH_REGION_NONE: of all
    char reply_to[PH_BUS_NAME_SIZE];
} bus_snapshot;

typedef enum bus_role {
    BUS_ROLE_OWNER = 0,
    BUS_ROLE_STANDBY,  // has_all of it
    BUS_ROLE_RELEASED, // the owner gives it up: a standby may take it at once
} bus_role;

typedef struct bus_beat {
    int region;
    uint32_t epoch;
    bus_role role;
    bool has_all; // of a standby: it knows all cells and sessions
    uint32_t stamp;
    uint32_t entities;
    uint32_t players;
    char sim[PH_BUS_NAME_SIZE];
} bus_beat;

// A player's session as it goes from sim to sim.
typedef struct bus_session {
    uint64_t client_id;
    uint64_t generation;
    uint64_t key;
    char front[PH_BUS_NAME_SIZE]; // "" while it has none
    uint32_t sees;
    uint32_t audience;
    uint64_t received;    // messages of the player that were processed
    uint32_t input;       // number of the newest input that was processed
    uint64_t told;        // messages to the player that are in the state
    const uint8_t* state; // ph_messages_export(); NULL: none yet
    size_t state_size;
    uint16_t queue_count; // messages to the player behind those in the state, each: size 2, bytes
    const uint8_t* queue;
    size_t queue_size;
} bus_session;

typedef struct bus_offer {
    int from_region;
    uint32_t from_epoch;
    int to_region;
    uint64_t key;
    uint32_t count;       // of owners, the new one included: the epoch of the entity's ownership
    const uint8_t* batch; // the entity, as a transfer batch of one state
    size_t batch_size;
    bool has_session;
    bus_session session;
} bus_offer;

typedef struct bus_accept {
    int from_region; // that accepts
    int to_region;   // that has offered
    uint64_t key;
    uint32_t count;
} bus_accept;

typedef struct bus_find {
    uint64_t key;
    char reply_to[PH_BUS_NAME_SIZE];
} bus_find;

typedef struct bus_found {
    uint64_t key;
    int region;
    uint32_t epoch;
    int32_t place_mm[3];
} bus_found;

typedef struct bus_mirrored {
    int region;
    uint32_t epoch;
    uint64_t sequence; // it has everything up to this one
    bool wants_all;
    char sim[PH_BUS_NAME_SIZE];
} bus_mirrored;

typedef struct bus_front_report {
    char front[PH_BUS_NAME_SIZE];
    ph_address address; // as in tokens
    uint32_t clients;
    uint32_t capacity;
    uint64_t started_us; // of the wall clock: tokens made before are refused
    bool is_emptying;
    int32_t centre_mm[2]; // of its viewers
    uint32_t spread_mm;   // mean distance from there
} bus_front_report;

typedef struct bus_wish {
    uint64_t client_id;
    uint64_t key;
    bool is_spare;                    // to go on with; else to begin anew
    int token_count;                  // 1..4: the first and spares, or spares
    char not_front[PH_BUS_NAME_SIZE]; // of spares: not there; "" for none
    char reply_to[PH_BUS_NAME_SIZE];
    uint32_t number; // the asker's, comes back
} bus_wish;

typedef struct bus_grant {
    uint32_t number;
    uint64_t client_id;
    int token_count;       // 0: none now; text says why
    const uint8_t* tokens; // PH_TOKEN_SIZE each
    char text[128];
} bus_grant;

// The kind of a message whose version is right. @return False with *refusal.
bool bus_read_kind(const uint8_t* bytes, size_t size, bus_kind* kind, ph_bus_refusal* refusal);

// For each kind: writes the whole message behind what is in the writer; reads one whole message.
// bool bus_write_X(bus_writer* writer, const bus_X* message);
// bool bus_read_X(bus_X* message, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal);
#define BUS_MESSAGES(X)                                                                            \
    X(cell)                                                                                        \
    X(snapshot)                                                                                    \
    X(beat) X(offer) X(accept) X(find) X(found) X(mirrored) X(front_report) X(wish) X(grant)
#define BUS_DECLARE(name)                                                                          \
    bool bus_write_##name(bus_writer* writer, const bus_##name* message);                          \
    bool bus_read_##name(bus_##name* message, const uint8_t* bytes, size_t size,                   \
                         ph_bus_refusal* refusal);
BUS_MESSAGES(BUS_DECLARE)
#undef BUS_DECLARE

// ---- messages made of items: UP, DOWN, MIRROR

typedef enum bus_item_kind {
    // up
    BUS_ITEM_ATTACH = 1, // a player has connected
    BUS_ITEM_DATA,       // its messages, its input, its state
    BUS_ITEM_DETACH,     // it has gone
    // down
    BUS_ITEM_ATTACHED = 16,
    BUS_ITEM_REFUSED,
    BUS_ITEM_CONFIRM, // its messages and input are safe
    BUS_ITEM_TELL,    // a message to it
    BUS_ITEM_MOVED,   // its entity is of another region now
    BUS_ITEM_OWN,     // its own entity, where that is not public; or its place
    // mirror
    BUS_ITEM_SESSION = 32,
    BUS_ITEM_ENDED, // a session that is no more (client 0: none); of generation 1 the entity has gone to another
                    // region, too; of client and generation 0: here begins the list of all
    BUS_ITEM_ENTITY, // as a transfer batch of one state: that is being handed over, or that messages have changed
} bus_item_kind;

// Of all kinds; fields that a kind does not have are 0.
typedef struct bus_item {
    bus_item_kind kind;
    uint64_t client_id;
    uint64_t generation;
    uint64_t key;
    bool is_anew;        // ATTACH: it begins anew
    int region;          // ATTACHED, MOVED
    uint32_t sees;       // ATTACHED
    uint32_t audience;   // ATTACHED
    int32_t place_mm[3]; // ATTACHED, OWN
    uint64_t first;      // DATA: number of the first message; TELL: its number
    uint16_t count;      // DATA: of messages, each: size 2, bytes
    uint64_t received;   // CONFIRM, ATTACHED: of its messages
    uint64_t told;       // DATA, ATTACHED: messages to it that are in the state
    uint32_t input;      // DATA: number of its newest input; CONFIRM: processed up to; 0: none
    const uint8_t* input_bytes; // DATA
    size_t input_size;
    const uint8_t*
        bytes; // DATA: messages; TELL: the message; OWN: a transfer batch, may be empty; REFUSED: text
    size_t size;
    const uint8_t* state; // DATA, ATTACHED: ph_messages_export(); may be empty
    size_t state_size;
    bus_session session; // SESSION
} bus_item;

// The head of such a message.
typedef struct bus_items {
    bus_kind kind;     // UP, DOWN or MIRROR
    int region;        // UP: that it is for; DOWN, MIRROR: that it is from
    uint32_t epoch;    // DOWN, MIRROR
    uint64_t sequence; // MIRROR: counted from 1 for each epoch
    bool
        is_all; // MIRROR: all sessions; those that it does not name are no more. Parts end with is_last
    bool is_last;
    char name[PH_BUS_NAME_SIZE]; // of the sender
    uint16_t count;
    const uint8_t* rest; // items that are not read yet
    size_t rest_size;
} bus_items;

// Begins a message; items follow. The count is put in by bus_items_end().
void bus_items_begin(bus_writer* writer, const bus_items* head);
bool bus_items_add(bus_writer* writer, const bus_item* item); // false: no room, nothing was written
bool bus_items_end(bus_writer* writer, uint16_t count);

// Checks the whole message, all its items included, before the first is handed out.
bool bus_read_items(bus_items* head, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal);
// The next item of a message that was read. @return False behind the last.
bool bus_next_item(bus_items* head, bus_item* item);

// Messages in a DATA item or a session's queue: size 2, bytes. @return False behind the last. *rest moves on.
bool bus_next_message(const uint8_t** rest, size_t* rest_size, const uint8_t** bytes, size_t* size);

// ---- subjects

// <root>.<world>.<...>; each fits into PH_BUS_SUBJECT_MAX.
void bus_subject_cell(char* subject, const char* world, ph_cell cell, int channel, int region);
// What a front subscribes to: a cell, or the block of 4 x 4 cells around it; channel -1: all but OWN.
void bus_subject_cell_wanted(char* subject, const char* world, ph_cell cell, bool is_block,
                             int channel);
// What a standby subscribes to: all cells and channels of a region; OWN is a second subject.
void bus_subject_region_cells(char* subject, const char* world, int region, bool is_own);
// <root>.<world>.<number>: "beat", "hand", "in", "mirror", "mirrored".
void bus_subject_region(char* subject, const char* root, const char* world, int region);
// <root>.<world>: "snap", "find", "fronts", "wish".
void bus_subject_world(char* subject, const char* root, const char* world);
// to.<world>.<name>: answers to one machine.
void bus_subject_to(char* subject, const char* world, const char* name);
// The record of a region's ownership, "region.<number>" behind the world: <world>.region.<number>.
void bus_record_key(char* key, const char* world, int region);

bool bus_is_name(const char* text); // 1..31 of A-Z, a-z, 0-9, '-' and '_'

// Texts that are shown to people, of REFUSED and GRANT: UTF-8 without control characters; may be empty.
bool bus_is_text(const uint8_t* bytes, size_t size);
// Makes one of any: control characters and what is not UTF-8 become '?', what is too long is cut off behind a whole
// character. NULL is "". @return Its size, below the capacity; a zero stands behind it.
size_t bus_tidy_text(char* text, size_t capacity, const char* any);

// The value of that record.
typedef struct bus_ownership {
    uint32_t epoch;
    char sim[PH_BUS_NAME_SIZE]; // "": released
} bus_ownership;
bool bus_write_ownership(bus_writer* writer, const bus_ownership* record);
bool bus_read_ownership(bus_ownership* record, const uint8_t* bytes, size_t size);

#endif
