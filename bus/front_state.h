// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The inside of a front: what bus_front.c, front_cells.c, front_streams.c,
// front_regions.c, front_players.c and front_session.c share.
//
//   interests   where viewers stand; each holds the cells around it
//   cells       counted by the interests that hold them, for each channel
//   topics      what is subscribed to: a channel of a block of 4 x 4 cells, as a whole or cell by cell
//   streams     what comes: one for each region, cell and channel
//   asks        cells and streams that wait for a snapshot
//   players     connections, each with an interest

#ifndef PH_BUS_FRONT_STATE_H
#define PH_BUS_FRONT_STATE_H

#include "bus/bus_wire.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/math.h"

#include <pinhole/bus/bus_front.h>

// Keys of subscriptions: the channels but OWN, and all of these at once.
#define FRONT_KEY_ALL PH_CHANNEL_OWN
#define FRONT_KEYS PH_CHANNEL_COUNT
#define FRONT_ALL_BIT (UINT64_C(1) << FRONT_KEY_ALL)
#define FRONT_PUBLIC_BIT (UINT64_C(1) << PH_CHANNEL_PUBLIC)

// The channel of a SNAPSHOT that asks for all but OWN.
#define FRONT_ASK_ALL 255

#define FRONT_RESEND_US 300000
#define FRONT_SILENT_US 2000000
#define FRONT_ASKS_MAX 64
#define FRONT_REPORT_US 500000

// ---- cells

typedef struct front_cell {
    ph_cell cell;
    uint64_t live;      // keys that interests want
    uint64_t lingering; // keys that none wants any more and that are kept for a while
    uint64_t open;      // keys that are subscribed to
    uint32_t stream1;   // first of its streams, + 1
    uint32_t mark;      // of the last interest that was placed here
    uint32_t counts[FRONT_KEYS];
    uint32_t left_ms[FRONT_KEYS]; // when lingering began
    uint32_t asks1[FRONT_KEYS];   // place in the list of asks + 1; 0: it is known
} front_cell;

typedef struct front_linger {
    uint32_t cell;
    uint32_t left_ms;
    int key;
} front_linger;

typedef struct front_topic {
    uint64_t name; // as in the map
    ph_cell block; // its first cell
    int key;
    uint16_t cells; // that are wanted, bit x + 4 * y
    bool is_block;  // subscribed to as a whole
    bool is_used;
    uint64_t block_subscription;
    uint64_t subscriptions[16];
} front_topic;

typedef struct front_interest {
    bool has_place;
    int32_t place_mm[2]; // for which the cells were chosen
    int32_t radius_mm;
    uint32_t sees;
    uint32_t* cells;
    int cell_count;
    int cell_capacity;
} front_interest;

// ---- streams

typedef struct front_region {
    int number;
    uint32_t epoch;
    bool is_read;     // the record was read, and said so
    bool is_reading;  // an answer is to come
    int lower_reads;  // answers of an epoch lower than the one heard of
    uint64_t read_us; // when it was asked for
    char sim[PH_BUS_NAME_SIZE];
} front_region;

typedef struct front_stream {
    uint64_t name; // as in the map
    uint64_t sequence;
    uint64_t heard_us;
    uint64_t snapshot_sequence;
    uint32_t snapshot_records;
    uint32_t cell;
    uint32_t next1;         // of the same cell, + 1
    uint32_t ask1;          // place in the list of asks + 1; 0: it is known
    uint32_t region;        // place in the table
    uint16_t snapshot_part; // the next one; 0: none has begun
    uint8_t channel;
    uint8_t old_count; // messages in a row that were too old
    bool is_known;
    bool may_have; // entities
    bool is_used;
    char subject[PH_BUS_SUBJECT_MAX];
} front_stream;

typedef struct front_ask {
    uint64_t asked_us; // 0: not yet
    uint32_t place;    // of the stream, or of the cell
    bool is_stream;
    uint8_t key; // of a cell
    uint8_t tries;
} front_ask;

// ---- players

typedef enum front_player_state {
    PLAYER_NONE = 0,
    PLAYER_ATTACHING,
    PLAYER_ATTACHED,
    PLAYER_OVER,    // another front has it; the client goes by itself
    PLAYER_REFUSED, // the connection is about to end
    PLAYER_LEAVING, // its connection has ended; the sim is told
} front_player_state;

// Messages one behind the other: size 2, bytes.
typedef struct front_buffer {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
} front_buffer;

typedef struct front_player {
    front_player_state state;
    int client;
    uint64_t client_id;
    uint64_t generation;
    uint64_t key;
    int region;
    bool is_spare;
    uint32_t sees;
    uint64_t since_us; // in this state
    uint64_t asked_us; // last ATTACH or DETACH
    uint64_t found_us; // last FIND
    int tries;

    front_buffer up;    // of messages that are not confirmed
    size_t up_sent;     // bytes of these that were sent at least once
    uint64_t confirmed; // messages
    uint64_t received;  // messages: confirmed, and those in the buffer
    uint32_t input;     // newest that came
    uint32_t input_sent;
    uint32_t input_confirmed;
    uint64_t data_us; // since then the oldest of what was sent is unanswered
    int data_tries;   // without an answer
    bool told_is_news;
    uint64_t told;     // messages that the connection has
    front_buffer down; // messages behind these
    int down_count;

    ph_entity_id entity; // {0} as long as it is not there
    bool had_entity;
    bool has_own_batch;  // it came to this front alone
    bool is_asked_again; // for an entity that is gone
    int64_t place_mm[3];
    front_interest interest;

    bool wants_spare; // those that it has may be for front-ends that are gone
    uint64_t wish_us;
    uint32_t wish_number;
    uint8_t* token; // to be given next, or when it is asked to go
} front_player;

// A message to a region's owner that is being put together.
typedef struct front_up {
    int region;
    uint16_t count;
    bus_writer writer;
} front_up;

// Another front-end, as it reports itself: a spare for it is good as long as it is the same one.
enum { FRONT_OTHERS_MAX = 256 };
typedef struct front_other {
    char name[PH_BUS_NAME_SIZE];
    uint64_t started_us;
    uint64_t heard_us;
} front_other;

struct ph_bus_front {
    ph_bus_front_def def;
    char world_name[PH_BUS_NAME_SIZE];
    char name[PH_BUS_NAME_SIZE];
    ph_messages_def messages;
    ph_allocator allocator;
    ph_importer* importer;
    uint64_t now_us;
    uint64_t lost_count;
    uint64_t own_subscription; // answers
    bool has_told_cells;       // that they are others at a sim
    bool has_told_silence;     // since a player was attached
    bus_writer writer;
    ph_bus_front_stats stats;
    int* position_property; // by class
    int class_count;

    front_cell* cells;
    int cell_count; // places that were ever used
    int cell_capacity;
    uint32_t free_cell1;
    int live_cells;
    ph_hash_map cell_map;
    uint32_t mark;
    front_linger* lingers; // a ring
    int linger_first;
    int linger_count;
    int linger_capacity;
    front_topic* topics;
    int topic_count;
    int topic_capacity;
    uint32_t free_topic1;
    ph_hash_map topic_map;
    bool has_failed_subscription;
    uint64_t retried_us;
    uint32_t* scratch_cells;
    int scratch_capacity;

    front_stream* streams;
    int stream_count;
    int stream_capacity;
    uint32_t free_stream1;
    ph_hash_map stream_map;
    int stream_sweep;
    front_region* regions;
    int region_count;
    int region_capacity;
    ph_hash_map region_map;
    uint64_t regions_us; // when records were last asked for
    front_ask* asks;
    int ask_count;
    int ask_capacity;
    int ask_cursor;

    front_interest* interests;
    bool* is_interest_used;
    int interest_count;
    int interest_capacity;
    int interest_flags_capacity;

    front_player* players;
    int player_count; // places that were ever used
    int player_capacity;
    uint32_t free_player1;  // next is in client
    ph_hash_map player_map; // by client id
    ph_hash_map key_map;    // by key of the entity
    int* player_of_client;  // place + 1
    int client_capacity;
    int player_sweep;
    uint32_t* arrived; // players whose entity was created
    int arrived_count;
    int arrived_capacity;
    front_up* ups;
    int up_count;
    int up_capacity;
    uint8_t* state; // of messages, for one at a time
    size_t state_capacity;
    uint64_t report_us;
    uint32_t wish_count;
    bool is_emptying;
    uint64_t reports_subscription; // of other front-ends; 0: none
    front_other others[FRONT_OTHERS_MAX];
    int other_count;
};

// ---- bus_front.c

// Room for one more. @return False: no memory, everything as before.
bool front_grow(ph_bus_front* front, void** array, int* capacity, int needed, size_t element_size);
// The same for a map.
bool front_grow_map(ph_hash_map* map);
void front_refuse(ph_bus_front* front, ph_bus_refusal refusal);
bool front_publish(ph_bus_front* front, const char* subject);

// ---- front_cells.c

// Chooses the cells around a place. Nothing when it is near the last one.
void front_interest_place(ph_bus_front* front, front_interest* interest, int32_t x_mm,
                          int32_t y_mm);
// Another right to see: the cells are held anew.
void front_interest_set_sees(ph_bus_front* front, front_interest* interest, uint32_t sees);
// Holds nothing any more. The memory stays.
void front_interest_clear(ph_bus_front* front, front_interest* interest);
void front_interest_destroy(ph_bus_front* front, front_interest* interest);
// The cell, as long as something of it is subscribed to; -1.
int front_find_cell(const ph_bus_front* front, ph_cell cell);
// Whether a channel of a cell is subscribed to by itself.
bool front_cell_has(const front_cell* cell, int channel);
// Leaves what was kept for long enough, and tries failed subscriptions again.
void front_cells_tick(ph_bus_front* front);
void front_cells_destroy(ph_bus_front* front);

// ---- front_streams.c

// A CELL message. is_answer: it came to this front alone.
void front_take_cell(ph_bus_front* front, const ph_bus_message* message, bool is_answer);
// A wanted cell is not known; delayed: what was asked for already may still answer it.
void front_ask_cell(ph_bus_front* front, uint32_t cell, int key);
void front_ask_end(ph_bus_front* front, uint32_t ask1);
// A stream is not known any more.
void front_ask_stream(ph_bus_front* front, front_stream* stream);
// Removes the streams of a cell that are of these channels. @return Whether they may have entities.
bool front_remove_streams(ph_bus_front* front, uint32_t cell, uint64_t channels);
// Entities of a cell were removed on the way: its streams are asked for anew.
void front_doubt_cell(ph_bus_front* front, ph_cell cell);
// Messages were lost: everything is asked for anew.
void front_doubt_all(ph_bus_front* front);
void front_streams_tick(ph_bus_front* front);
void front_streams_destroy(ph_bus_front* front);

// ---- front_regions.c

// The place of a region that was heard of; -1.
int front_find_region(const ph_bus_front* front, int number);
// The epoch that a message says a region has. @return False: it is an old one, counted.
bool front_hear_epoch(ph_bus_front* front, int region, uint32_t epoch);
// The same, by the place of a region.
bool front_compare_epoch(ph_bus_front* front, int place, uint32_t epoch);
// Records that were not read yet are.
void front_regions_tick(ph_bus_front* front);
void front_take_answer(ph_bus_front* front, const ph_bus_answer* answer);

// ---- front_players.c

bool front_players_create(ph_bus_front* front);
void front_players_destroy(ph_bus_front* front);
bool front_players_take(ph_bus_front* front, const ph_net_event* event);
void front_take_found(ph_bus_front* front, const ph_bus_message* message);
// An entity is there now.
void front_players_see(ph_bus_front* front, uint64_t key);
void front_players_tick(ph_bus_front* front);
// The viewer's entity, eye and cells follow what is known.
void front_player_follow(ph_bus_front* front, front_player* player);
front_player* front_find_player(ph_bus_front* front, uint64_t client_id);
void front_player_refuse(ph_bus_front* front, front_player* player, const char* text);
void front_player_attach(ph_bus_front* front, front_player* player);
void front_player_find(ph_bus_front* front, front_player* player);
// An item for the owner of the player's region.
void front_player_say(ph_bus_front* front, const front_player* player, const bus_item* item);
void front_ups_flush(ph_bus_front* front);

// ---- front_session.c: messages and inputs of a player

void front_take_down(ph_bus_front* front, const ph_bus_message* message);
// Messages and input of a player that has been admitted.
void front_session_tick(ph_bus_front* front, front_player* player);
// What was not confirmed, once more.
void front_session_resend(ph_bus_front* front, front_player* player);
void front_session_destroy(ph_bus_front* front, front_player* player);

// ---- front_spares.c: reports, and spare tokens from the director

void front_take_grant(ph_bus_front* front, const ph_bus_message* message);
void front_take_report(ph_bus_front* front, const ph_bus_message* message);
void front_spares_tick(ph_bus_front* front);
void front_token_release(ph_bus_front* front, front_player* player);

#endif
