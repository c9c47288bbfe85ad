// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a simulation server knows (pinhole/bus/bus_sim.h), shared by its chapters:
//
//   sim_life.c       life, a tick, events, messages in and out
//   sim_regions.c    who owns a region: claims, proofs, standby
//   sim_beats.c      who is heard: beats of owners, echoes of standbys
//   sim_cells.c      what an owner says of its cells, and what a standby makes of it
//   sim_filing.c     entities: which are this sim's, under which region; what is gone
//   sim_handover.c   entities: offered to another region, accepted
//   sim_players.c    sessions: attached, fed
//   sim_outbox.c     what front-ends are told: answers, confirmations, messages, own entities
//   sim_mirror.c     what an owner tells its standbys of sessions and handovers
//
// Nothing here is used by two threads. Times are us, 0 means never.

#ifndef PH_BUS_SIM_STATE_H
#define PH_BUS_SIM_STATE_H

#include "base/allocator.h"
#include "base/check.h"
#include "base/hash.h"
#include "bus/bus_wire.h"

#include <pinhole/bus/bus_sim.h>
#include <pinhole/message.h>

enum {
    SIM_BEAT_US = 100000,      // an owner beats so often
    SIM_REPEAT_US = 300000,    // what was not answered is said again
    SIM_HEARTBEAT_US = 500000, // a stream that is silent for so long says that nothing has changed
    SIM_STREAM_LINGERS_US = 10000000, // a stream without entities goes on saying so
    SIM_STANDBY_GATES_US =
        1500000, // what must be safe waits for a standby that was heard within this time
    // An owner that has heard of a standby within this time, or twice suspect_ms, needs its echo, or a proof.
    SIM_STANDBY_KNOWN_US = 10000000,
    SIM_GONE_US = 60000000,    // keys that were removed or given away are remembered
    SIM_SESSION_US = 60000000, // a session without a front-end is kept
    SIM_STAMP_STEP = 1000,     // how much further a new owner begins
    SIM_RELEASE_US = 200000,
    SIM_STANDBYS_MAX = 4,
    SIM_BEATS_KEPT = 32,
    SIM_MARKS = 8,
    SIM_TELLS_AT_ONCE = 32,
    SIM_REQUESTS_MAX = 512,
    SIM_OUTBOXES_MAX = 256,    // front-ends times regions that are answered before all is sent
    SIM_STREAMS_MAX = 1 << 18, // of one region
    SIM_GONE_MAX = 16384,
    SIM_CELL_CACHE = 1024,
    SIM_STATE_BYTES_MAX = 65536, // of a session
    SIM_PART_BYTES = 65536,      // of a message of items: then another one is begun
    SIM_CHANNEL_ALL = 255,
};

// ---- growing arrays

// Bytes that grow; {0} is empty. The allocator is the sim's.
typedef struct sim_bytes {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
} sim_bytes;

// ---- streams

// One cell on one channel of one region: as an owner says it, or as a standby has heard it.
typedef struct sim_stream {
    ph_cell cell;
    int channel;
    uint64_t sequence; // newest
    // owner
    uint64_t told_us;   // when it last said anything
    uint64_t filled_us; // when it last had entities
    // standby
    uint64_t asked_us; // for a snapshot
    bool wants_snapshot;
    uint16_t next_part;     // of the snapshot that is coming
    uint64_t part_sequence; // its sequence
    uint32_t cycle;         // of the question for everything that it was answered in
} sim_stream;

typedef struct sim_streams {
    sim_stream* all;
    int count;
    int capacity;
    ph_hash_map by_place;
} sim_streams;

// ---- regions

typedef enum sim_region_state {
    SIM_IDLE = 0, // not wanted any more
    SIM_STARTING, // its record is being read
    SIM_WATCHING, // standby
    SIM_CLAIMING, // a swap is under way that makes it the owner
    SIM_OWNER,
    SIM_VERIFYING, // owner that must prove it
    SIM_RELEASING, // owner that gives it to a standby: nothing is simulated any more
} sim_region_state;

typedef enum sim_question {
    SIM_ASKS_NOTHING = 0,
    SIM_READS, // the record, to claim it
    SIM_CLAIMS,
    SIM_PROVES,      // that it is the owner
    SIM_READS_PROOF, // after a conflict: is it its own swap that came late?
    SIM_GIVES_UP,
} sim_question;

typedef struct sim_standby {
    char name[PH_BUS_NAME_SIZE];
    uint64_t heard_us;
    uint64_t echo_us;  // when the beat went out that it has heard
    uint32_t echo;     // the stamp of that beat
    uint64_t mirrored; // it has the mirror up to this sequence
    bool has_all;
    bool counts; // it had all once: what must be safe waits for it
} sim_standby;

typedef struct sim_beat_sent {
    uint32_t stamp;
    uint64_t sent_us;
} sim_beat_sent;

typedef struct sim_region {
    struct ph_bus_sim* sim;
    int number;
    int filed_count;
    sim_region_state state;
    uint64_t cells_subscription;
    uint64_t own_subscription;
    // the record
    sim_question question;
    uint64_t ticket; // of the question
    uint64_t asked_us;
    uint64_t retry_us; // not before this
    uint32_t epoch;    // owner: its own; else the one it claims
    uint64_t revision; // owner: of the record
    uint64_t proof_us; // the owner was the owner at this time
    uint64_t owner_us; // since when
    // owner
    ph_exporter* exporter;
    uint32_t stamp;
    uint64_t beat_us;
    sim_beat_sent beats[SIM_BEATS_KEPT];
    uint32_t beat_count;
    sim_standby standbys[SIM_STANDBYS_MAX];
    int standby_count;
    uint64_t crowded_us; // when a standby was heard that the list has no room for
    uint64_t mirror_sequence;
    uint64_t mirror_us; // when one was last sent
    bool mirror_wants_all;
    uint64_t release_us;
    uint32_t release_stamp;
    bool is_doubted;     // by what was heard: to be proven
    int doubt_count;     // reads that did not know the heard epoch
    uint64_t doubted_us; // when a higher epoch was last heard of
    // both
    sim_streams streams;
    ph_hash_map by_client; // players
    ph_hash_map by_key;
    // standby
    char owner[PH_BUS_NAME_SIZE];
    uint64_t heard_us; // the owner's last beat, or since when there was none
    uint32_t heard_epoch;
    uint32_t heard_stamp;
    uint32_t echo_stamp;
    bool has_echo; // a beat has come that is not echoed yet
    bool is_released;
    bool has_read;
    bool had_all;
    uint64_t read_us;
    uint64_t read_revision;
    uint32_t read_epoch;
    uint64_t standby_beat_us;
    uint32_t cycle; // of questions for everything
    bool has_cells;
    bool has_sessions;
    bool has_gaps; // streams wait for snapshots
    uint64_t asked_cells_us;
    uint64_t asked_sessions_us;
    uint64_t mirror_known;
    bool mirror_collects; // the list of all sessions is coming
    bool mirror_answers;
} sim_region;

// ---- entities

// An entity of an owned region.
typedef struct sim_filed {
    uint64_t key;
    ph_entity_id entity;
    int region; // index
    uint32_t count;
    int to_region;     // number that it is offered to; PH_REGION_NONE: it is not
    bool is_told_lost; // the game was told that it does not simulate it any more
    bool needs_mirror;
    bool is_watched;   // it may stand in another region
    uint64_t sequence; // of the mirror that has it
    uint64_t sent_us;  // the offer
} sim_filed;

typedef struct sim_gone {
    uint64_t key;
    uint64_t client_id;
    uint64_t until_us;
    uint32_t count;
    int region; // where it has gone; PH_REGION_NONE: removed
} sim_gone;

// An entity that was taken: the giver is told when it is safe.
typedef struct sim_acceptance {
    uint64_t key;
    uint32_t count;
    int from_region; // number
    int region;      // index, that takes it
    bool is_mirrored;
    bool is_published;
    uint64_t sequence; // of the mirror that has it
} sim_acceptance;

typedef struct sim_leaving {
    ph_entity_id entity;
    int from; // index of the region that says that it leaves
} sim_leaving;

// ---- players

// What a mirror has of a session: confirmed when the standby has it.
typedef struct sim_mark {
    uint64_t sequence;
    uint64_t received;
    uint64_t told; // number of the newest message to it
    uint32_t input;
    bool answers; // an attach
} sim_mark;

typedef struct sim_player {
    bool is_used;
    int region; // index
    uint64_t client_id;
    uint64_t generation;
    uint64_t key;
    char front[PH_BUS_NAME_SIZE];
    uint32_t sees;
    uint32_t audience;
    uint64_t received;
    uint32_t input;
    uint64_t told;
    sim_bytes state;
    sim_bytes queue; // messages behind `told`, as on the wire
    int queue_count;
    // owner
    bool is_dirty;    // for the mirror
    bool has_effects; // messages came: its entity goes into the mirror with it
    bool has_news;    // inputs or messages of the game that no mirror has
    bool answers;
    bool confirms;
    sim_mark marks[SIM_MARKS];
    int mark_count;
    uint64_t safe_received;
    uint64_t safe_told;
    uint32_t safe_input;
    uint64_t sent_told; // newest message that was sent to the front-end
    uint64_t sent_us;
    uint64_t detached_us;
    // own entity
    uint64_t own_us;
    uint64_t own_digest;
    ph_cell own_cell;
    uint32_t list_mark; // standby: named by the list of all that is coming
} sim_player;

// A session that is no more, or an entity that was handed over, or both.
typedef struct sim_ended {
    uint64_t client_id;
    uint64_t key;
    bool has_entity;
    int region;
} sim_ended;

// Items for one front-end from one region.
typedef struct sim_outbox {
    int region;
    char front[PH_BUS_NAME_SIZE];
    bus_writer writer;
    uint16_t count;
} sim_outbox;

typedef struct sim_event {
    ph_bus_event event;
    size_t at; // of its bytes
} sim_event;

typedef struct sim_request {
    bus_snapshot asked;
} sim_request;

typedef struct sim_cached_cell {
    ph_cell cell;
    int region;
    bool is_known;
} sim_cached_cell;

// ---- all of it

struct ph_bus_sim {
    ph_bus_sim_def def;
    char world_name[PH_BUS_NAME_SIZE];
    char name[PH_BUS_NAME_SIZE];
    ph_allocator allocator;
    ph_world* world;
    ph_importer* importer;
    ph_exporter* plain; // writes single entities of any owner; tells nothing
    ph_region* map;
    sim_region* regions; // wanted
    int region_count;
    uint64_t* subscriptions; // for as long as it lives
    int subscription_count;
    uint64_t now_us;
    uint64_t ran_us; // when it was last called
    uint64_t lost_count;
    uint32_t ticket_count;
    bool is_released;
    bool has_told_namesake;
    bool has_told_map;
    uint32_t publish_count;
    sim_cached_cell* cell_cache;
    bus_writer writer; // the message that is being written
    uint8_t* entity_bytes;

    sim_filed* filed;
    int filed_count;
    int filed_capacity;
    int offered_count;
    bool has_unmirrored; // one of those needs a mirror, perhaps
    ph_hash_map filed_by_key;
    uint64_t* watched; // keys of those
    int watched_count;
    int watched_capacity;
    bool watches_all;      // there was no memory for that list
    uint64_t known_spawns; // of the world, when it was last gone through
    uint64_t known_despawns;
    bool has_unfiled; // entities of the game's that no owned region covers yet
    sim_gone* gone;   // ring
    int gone_next;
    ph_hash_map gone_by_key;
    sim_acceptance* acceptances;
    int acceptance_count;
    int acceptance_capacity;
    sim_leaving* leaving;
    int leaving_count;
    int leaving_capacity;
    uint64_t expected_key; // an import may touch this entity alone
    bool expects_key;
    bool was_surprised;

    sim_player* players;
    int player_limit; // places that were ever used
    int first_free;   // no place below it is free
    bool has_attached; // since the last mirror of such
    sim_ended* ended;
    int ended_count;
    int ended_capacity;
    sim_outbox* outboxes;
    int outbox_count; // in use
    int outbox_made;  // that have a writer
    int outbox_capacity;
    uint32_t list_count;

    sim_bytes departures; // batches that wait for the arrivals of all regions
    sim_request* requests;
    int request_count;

    sim_event* events;
    int event_count;
    int event_capacity;
    int event_next;
    sim_bytes event_bytes;

    ph_bus_sim_stats stats;
};

// ---- sim_life.c

// Makes room for one more element. @return False: no memory.
bool sim_grow(const ph_bus_sim* sim, void** array, int* capacity, int count, size_t element_size);
bool sim_bytes_reserve(const ph_bus_sim* sim, sim_bytes* bytes, size_t size);
bool sim_bytes_set(const ph_bus_sim* sim, sim_bytes* bytes, const void* from, size_t size);
void sim_bytes_free(const ph_bus_sim* sim, sim_bytes* bytes);
// A map grows when it is full. @return False: no memory.
bool sim_map_insert(ph_hash_map* map, uint64_t key, uint32_t value);

// @return False: no memory, and it is not told.
bool sim_push_event(ph_bus_sim* sim, const ph_bus_event* event);
// Publishes what is in sim->writer, and empties that.
void sim_send(ph_bus_sim* sim, const char* subject);
void sim_refuse(ph_bus_sim* sim, ph_bus_refusal refusal);

// ---- sim_regions.c

sim_region* sim_find_region(ph_bus_sim* sim, int number); // wanted; or NULL
int sim_region_index(const ph_bus_sim* sim, const sim_region* region);
uint64_t sim_suspect_us(const ph_bus_sim* sim);
// Owner, and has proven it: it may say something.
bool sim_region_speaks(const sim_region* region);
void sim_regions_look(ph_bus_sim* sim); // at the own connection and clock, before anything is taken
void sim_regions_step(ph_bus_sim* sim); // timers
void sim_regions_release(ph_bus_sim* sim);
void sim_take_answer(ph_bus_sim* sim, const ph_bus_answer* answer);

// ---- sim_beats.c

// The sequence that all standbys have which count; UINT64_MAX without one.
uint64_t sim_region_mirrored(const ph_bus_sim* sim, const sim_region* region);
bool sim_region_has_standby(const ph_bus_sim* sim, const sim_region* region);
// When the owner was the owner for certain; now, if no standby is known. Without the echoes of all only proofs count.
uint64_t sim_region_proven_us(const ph_bus_sim* sim, const sim_region* region);
void sim_forget_standbys(const ph_bus_sim* sim, sim_region* region);
void sim_send_beat(ph_bus_sim* sim, const sim_region* region, const bus_beat* with);
void sim_regions_beat(ph_bus_sim* sim);
void sim_take_beat(ph_bus_sim* sim, const ph_bus_message* message);
// Something of this epoch was heard of an owner. @return False: it is old, and not to be used.
bool sim_hear_epoch(ph_bus_sim* sim, sim_region* region, uint32_t epoch);

// ---- sim_cells.c

// Where an entity stands, and on which channels it is.
typedef struct sim_place {
    int32_t mm[3];
    ph_cell ground;
    ph_cell cell; // that it is told in: of what is seen everywhere another one
    uint64_t channels;
} sim_place;

bool sim_place_of(const ph_bus_sim* sim, ph_entity_id entity, sim_place* place);
void sim_streams_free(ph_bus_sim* sim, sim_region* region);
void sim_streams_clear(sim_region* region);
void sim_watch_begin(ph_bus_sim* sim, sim_region* region); // a standby knows nothing yet
void sim_watch_step(ph_bus_sim* sim, sim_region* region);
void sim_take_cell(ph_bus_sim* sim, const ph_bus_message* message);
void sim_take_snapshot(ph_bus_sim* sim, const ph_bus_message* message);
void sim_publish_cells(ph_bus_sim* sim);
void sim_answer_snapshots(ph_bus_sim* sim);
// The region of the map that a place is in, by a cache.
int sim_region_of_cell(ph_bus_sim* sim, ph_cell cell);

// ---- sim_filing.c

sim_filed* sim_find_filed(ph_bus_sim* sim, uint64_t key);
bool sim_file(ph_bus_sim* sim, ph_entity_id entity, uint64_t key, int region, uint32_t count);
void sim_unfile(ph_bus_sim* sim, sim_filed* filed);
void sim_remember_gone(ph_bus_sim* sim, const sim_gone* gone);
const sim_gone* sim_find_gone(const ph_bus_sim* sim, uint64_t key);
int sim_adopt_region(ph_bus_sim* sim,
                     sim_region* region); // after a claim. @return How many entities
void sim_drop_region(ph_bus_sim* sim, sim_region* region);  // it is another one's
void sim_on_cell(void* region, uint64_t key, ph_cell cell); // of the exporters
void sim_scan(ph_bus_sim* sim);                             // at each publish
void sim_set_filed_region(ph_bus_sim* sim, sim_filed* filed, const sim_region* to);
ph_bus_event sim_entity_event(const ph_bus_sim* sim, ph_bus_event_kind kind,
                              const sim_filed* filed);
void sim_push_entity_event(ph_bus_sim* sim, ph_bus_event_kind kind, const sim_filed* filed);

// ---- sim_handover.c

// It is frozen, and offered from now on. The first of them tells nobody; the second the game.
void sim_set_offered(ph_bus_sim* sim, sim_filed* filed, int to_region);
void sim_begin_offer(ph_bus_sim* sim, sim_filed* filed, int to_region);
// What came to this region from others of this sim, and is not known to have come: it is those's again.
void sim_take_all_back(ph_bus_sim* sim, int region);
void sim_forget_acceptance(ph_bus_sim* sim, uint64_t key);
void sim_handover_step(ph_bus_sim* sim);
void sim_after_cells(ph_bus_sim* sim);
void sim_take_offer(ph_bus_sim* sim, const ph_bus_message* message);
void sim_take_accept(ph_bus_sim* sim, const ph_bus_message* message);
void sim_on_import(void* context, ph_import_event event, ph_entity_id entity, uint64_t key);

// ---- sim_players.c

sim_player* sim_find_player(ph_bus_sim* sim, const sim_region* region, uint64_t client_id);
sim_player* sim_player_of_key(ph_bus_sim* sim, const sim_region* region, uint64_t key);
sim_player* sim_add_player(ph_bus_sim* sim, sim_region* region, uint64_t client_id, uint64_t key);
void sim_remove_player(ph_bus_sim* sim, sim_player* player);
bool sim_move_player(ph_bus_sim* sim, sim_player* player, sim_region* to);
void sim_player_event(ph_bus_sim* sim, const sim_player* player, ph_bus_event_kind kind,
                      bool is_new);
bool sim_player_is_frozen(ph_bus_sim* sim, const sim_player* player);
void sim_take_up(ph_bus_sim* sim, const ph_bus_message* message);
void sim_take_find(ph_bus_sim* sim, const ph_bus_message* message);

// ---- sim_outbox.c

bus_item sim_item_of(const sim_player* player, bus_item_kind kind);
void sim_send_item(ph_bus_sim* sim, int region, const char* front, const bus_item* item);
// The generation is the one that the session has now: a higher one says that the player has gone on elsewhere.
void sim_send_refused(ph_bus_sim* sim, int region, const char* front, const bus_item* about,
                      const char* text);
void sim_tell_moved(ph_bus_sim* sim, int from_region, const sim_player* player, int region);
void sim_players_step(ph_bus_sim* sim); // confirms, tells, answers what is safe by now
void sim_publish_own(ph_bus_sim* sim);
void sim_flush_outboxes(ph_bus_sim* sim);

// ---- sim_mirror.c

bus_session sim_session_of(const sim_player* player);
// @return False: no memory; the player is as before.
bool sim_take_session(ph_bus_sim* sim, sim_player* player, const bus_session* session);
size_t sim_write_entity(ph_bus_sim* sim, const sim_region* region, ph_entity_id entity);
void sim_mirror_filed(ph_bus_sim* sim, sim_filed* filed); // with the next publish
void sim_publish_mirrors(ph_bus_sim* sim);
// Sessions that were just attached, between ticks: their front-ends wait for the answer.
void sim_mirror_attached(ph_bus_sim* sim);
void sim_note_ended(ph_bus_sim* sim, const sim_ended* ended);
void sim_take_mirror(ph_bus_sim* sim, const ph_bus_message* message);
void sim_take_mirrored(ph_bus_sim* sim, const ph_bus_message* message);
void sim_answer_mirrors(ph_bus_sim* sim); // a standby's

#endif
