// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One deployment while it runs, and the model beside it. soak_stage.c builds it and makes steps,
// soak_events.c and soak_entities.c do what events say, soak_player.c is the clients' side, soak_judge.c compares.
//
// The model never asks the library what it should find: it keeps what was set, which entities live, where
// they are and who may see them, and the wire's bits. What an entity was like at an earlier send is in
// short histories, because a packet is judged when it arrives.

#ifndef PINHOLE_SOAK_STAGE_H
#define PINHOLE_SOAK_STAGE_H

#include "soak/soak.h"
#include "soak/soak_memory.h"
#include "soak/soak_schema.h"
#include "net/net_tools.h"

#include <pinhole/client.h>
#include <pinhole/link.h>
#include <pinhole/net/host.h>
#include <pinhole/net/netcode_client.h>
#include <pinhole/viewer.h>

enum {
    SOAK_PUBLIC_MAX = 56,                    // entities that judged players may come to see
    SOAK_ENTITIES_MAX = 2 * SOAK_PUBLIC_MAX, // the others are secrets
    SOAK_HOST_PLAYERS = 6,                   // with secure connections
    SOAK_DIRECT_PLAYERS = 3,                 // viewers without a host
    SOAK_SECRET_PLAYERS = 2,                 // viewers that see the secrets of one twin
    SOAK_PLAYERS_MAX = SOAK_HOST_PLAYERS + SOAK_DIRECT_PLAYERS + SOAK_SECRET_PLAYERS,
    SOAK_FIRST_SECRET_PLAYER = SOAK_HOST_PLAYERS + SOAK_DIRECT_PLAYERS,
    SOAK_SLOTS_MAX = 160,
    SOAK_HISTORY = 128,   // steps that are remembered
    SOAK_DELAY_MAX = 120, // steps after which a packet is no longer judged: its client has stalled
    SOAK_MESSAGE_ROOM = 300,
    SOAK_BLOCK_MAX = 30000, // bytes that both ends accept
    SOAK_BLOCKS_MAX = 256,  // of one connection and direction
    SOAK_EFFECTS_MAX = 4096,
};

// Masks: what judged players may have, and the secret.
#define SOAK_PUBLIC_MASK 7u
#define SOAK_SECRET_MASK 8u

#define SOAK_PROTOCOL_ID UINT64_C(0x50494e484f4c45)
#define SOAK_START_UNIX_S UINT64_C(1800000000)
#define SOAK_KEY_BYTE 0x42 // of the host's private key

// What follows from the seed for the whole deployment.
typedef struct soak_params {
    ph_profile profile;
    ph_vision_def vision;
    uint32_t tick_us;
    int32_t radius_max_mm;
    int64_t origin_mm;
    int32_t side_mm;
    int public_count;
    int host_count;
    int direct_count;
    bool has_ground;
    bool is_twin;       // a second stage with secrets runs beside the first
    bool is_failing;    // allocations fail
    bool is_rate_fixed; // else the host's budgets follow the links
    bool asks_game;     // a callback decides, too
    uint64_t key_base;
    uint64_t key_stride;
} soak_params;

soak_params soak_params_of(uint64_t seed);

// ---- the model of entities

// A value of one property from a step on.
typedef struct soak_past {
    int32_t step;
    uint64_t hash;
} soak_past;

// Whether it lives and who may see it, from a step on.
typedef struct soak_life {
    int32_t step;
    int32_t class_index; // -1: it does not live
    uint32_t incarnation;
    uint32_t seen_by;
    bool is_always;
    bool is_never;
    int64_t mm[3]; // as the wire has it
} soak_life;

typedef struct soak_entity {
    ph_entity_id id;
    int class_index; // -1: it does not live
    uint32_t incarnation;
    uint64_t spawn_order;
    int64_t mm[3]; // as it was set
    uint32_t seen_by;
    bool is_always;
    bool is_never;
    bool is_disturbed; // while it was hidden, in the twin with secrets; noted in both
    bool is_touched;   // since the last note
    uint32_t blocked;  // by player: the game says no
    int32_t blocked_since[SOAK_PLAYERS_MAX];
    uint64_t once_changed; // of what is sent once: changed since the spawn
    uint64_t hashes[SOAK_PROPERTIES_MAX];
    soak_past past[SOAK_PROPERTIES_MAX][SOAK_HISTORY];
    int past_count[SOAK_PROPERTIES_MAX];
    soak_life life[SOAK_HISTORY];
    int life_count;
} soak_entity;

// ---- the model of a budget: a bucket in millionths of a bit

typedef struct soak_meter {
    int64_t rate; // bits per second; 0: no limit
    int64_t depth_parts;
    int64_t level_parts;
    uint64_t filled_us;
    bool is_begun; // full until the first datagram
} soak_meter;

// ---- players

enum { SOAK_BLOCK_CAME = 1, SOAK_BLOCK_MAY_MISS = 2 }; // too large, or cancelled

// Blocks and unreliable messages of one direction. The tag of a block is how many were sent before it, and one.
typedef struct soak_bulk {
    uint32_t posted;
    uint32_t newest_block; // that has come
    uint32_t sizes[SOAK_BLOCKS_MAX];
    uint8_t fates[SOAK_BLOCKS_MAX];
    int32_t talks_until; // step
    uint16_t effects;    // unreliable messages, counted from 1
    uint16_t newest_effect[4];
    bool has_come[SOAK_EFFECTS_MAX];
} soak_bulk;

// What the model has seen the client get, by slot.
typedef struct soak_known {
    int entity; // -1: none
    uint64_t hashes[SOAK_PROPERTIES_MAX];
    uint64_t differs_since_us; // 0: it does not
} soak_known;

typedef struct soak_glance {
    int32_t step;
    uint32_t sees;
    int own; // entity, or -1
    uint32_t own_incarnation;
    int64_t eye_mm[3];
    int64_t tick_eye_mm[3]; // at the tick before the send: the world's eye follows with the tick
    int64_t left_eye_mm[3]; // where it was when it last got another own entity
} soak_glance;

typedef struct soak_player {
    int index;
    bool is_direct;
    bool is_secret;
    bool is_there;    // has a client
    bool is_admitted; // has a viewer
    int generation;   // connections so far
    ph_viewer_def def;
    ph_viewer_id viewer;
    int host_client; // index at the host, or -1
    uint64_t client_id;
    ph_address address;
    double sends_per_second; // direct: 0 when it is due
    uint64_t next_send_us;

    ph_net_client* net;
    ph_messages* messages;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    ph_link_def network;
    int64_t clock_us; // its clock, against the server's
    int32_t stalled_until;
    int32_t parted_until;
    uint64_t healthy_us; // since when its links, its budget and the clock have been as they are
    bool is_liar;        // its view is its own fault
    bool is_waiting; // holds back packets that overtook others: which one an event is of is unknown
    uint8_t newest_ack[PH_ACK_SIZE];
    size_t newest_ack_size;
    int32_t last_up_step;

    int own; // entity, or -1
    uint32_t own_incarnation;
    int64_t eye_mm[3];
    int64_t tick_eye_mm[3];
    int64_t left_eye_mm[3];
    soak_glance glances[SOAK_HISTORY];
    int glance_count;
    soak_known known[SOAK_SLOTS_MAX];
    soak_meter meter;
    int reserve_each;
    int reserve_next;
    int reserve_peak;
    // Messages by direction: 0 to the client, 1 to the server.
    uint64_t messages_sent[2];
    uint64_t messages_received[2];
    soak_bulk bulk[2]; // by direction, too
    uint64_t input_sent;
    uint32_t input_seen;
    uint64_t payload_digest;
    uint64_t payload_count;
} soak_player;

// The most that there ever was at a time: memory may grow for that.
typedef struct soak_peaks {
    int entities;
    int entities_of[SOAK_CLASSES_MAX];
    int viewers;
    int slots;   // of one viewer
    int visible; // to one
    int errors;  // slots of one whose scheduler wants errors
} soak_peaks;

typedef struct soak_stage {
    const soak_scenario* scenario;
    soak_result* result;
    soak_params params;
    bool has_secrets;
    int32_t step;       // so far, those of calms included
    int32_t scene_step; // of the scenario
    uint64_t start_us;
    uint64_t now_us;
    uint64_t unix_s;
    int64_t day_offset_s; // what the time of day was set by
    ph_rng keys;          // what libsodium's randomness is made of
    bool is_calm;
    bool is_over; // a violation was found
    soak_memory server_memory;
    soak_memory client_memory;
    soak_schema schema;
    ph_world* world;
    ph_host* host;
    ph_net_simulation simulation;
    soak_entity entities[SOAK_ENTITIES_MAX];
    uint64_t spawn_count;
    int entity_count;
    soak_player players[SOAK_PLAYERS_MAX];
    // Since the last time that everything was empty: what memory may have grown for.
    soak_peaks peaks;
    soak_peaks empty_peaks;
    int resting_of
        [SOAK_CLASSES_MAX]; // despawned since the last tick: their places are not free yet
    // A call had no memory: room that was made for some of it stays, and is used later.
    bool has_partial_growth;
    int64_t empty_bytes; // then; 0: never yet
    // The server takes memory once for each block that comes.
    uint64_t up_blocks;
    uint64_t up_block_allocations;
    uint8_t arrivals[64][PH_NETCODE_DATAGRAM_MAX + 1];
} soak_stage;

// ---- soak_stage.c

// @return False when it could not be built: there is a violation then.
bool soak_stage_open(soak_stage* stage, const soak_scenario* scenario, bool has_secrets,
                     soak_result* result);
void soak_stage_close(soak_stage* stage);
// One tick of everything, with the events from first to behind last.
void soak_stage_step(soak_stage* stage, const soak_event* first, const soak_event* last);

// The first violation counts.
void soak_fail(soak_stage* stage, soak_promise promise, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

uint64_t soak_key_of(const soak_stage* stage, int entity);
int soak_entity_of(const soak_stage* stage, uint64_t key); // -1: there is none
bool soak_is_secret_event(const soak_event* event);
ph_ground soak_ground(const soak_stage* stage);
// What those players see that are no judged ones: the secrets, where there are any. They are in both twins:
// the place of a viewer among the others decides when it is refreshed, and is no secret.
uint32_t soak_secret_sees(const soak_stage* stage);
// libsodium draws from this stage from now on.
void soak_use_keys(soak_stage* stage);

// ---- soak_entities.c

// A call has failed: only for want of memory, and only if an allocation did fail since.
void soak_check(soak_stage* stage, ph_result result, uint64_t failures, const char* what);
void soak_draw_place(const soak_stage* stage, ph_rng* rng, int64_t mm[3]);
void soak_spawn(soak_stage* stage, int index, ph_rng* rng);
void soak_despawn(soak_stage* stage, int index);
void soak_whisper(soak_stage* stage, int index, ph_rng* rng);
void soak_apply_to_entity(soak_stage* stage, const soak_event* event, ph_rng* rng);
// What both twins know of a whisper.
void soak_event_note(soak_stage* stage, const soak_event* event);
void soak_note_peaks(soak_stage* stage);
void soak_note_viewer(soak_stage* stage, const soak_player* player, bool is_added);

// ---- soak_events.c

void soak_event_apply(soak_stage* stage, const soak_event* event);
bool soak_event_is_late(const soak_event* event); // between the tick and the sends
void soak_make_empty(soak_stage* stage);

// ---- soak_player.c

void soak_player_join(soak_stage* stage, soak_player* player, uint64_t draw);
void soak_player_end(soak_stage* stage, soak_player* player); // without a word
void soak_player_admit(soak_stage* stage, int host_client, uint64_t client_id);
void soak_player_gone(soak_stage* stage, int host_client, uint64_t client_id);
void soak_player_step(soak_stage* stage, soak_player* player);
void soak_player_send(soak_stage* stage, soak_player* player); // direct: a send of the world
void soak_player_take_acks(soak_stage* stage, soak_player* player);
void soak_player_set_network(soak_stage* stage, soak_player* player);
int soak_socket_receive(void* context, ph_datagram* datagrams, int max);
int soak_socket_send(void* context, const ph_datagram* datagrams, int count);
size_t soak_message_fill(const soak_player* player, int direction, uint64_t number,
                         uint8_t bytes[PH_MESSAGE_SIZE_MAX]);
void soak_messages_take(soak_stage* stage, soak_player* player, ph_messages* messages,
                        int direction);

// ---- soak_bulk.c

void soak_bulk_send(soak_stage* stage, soak_player* player, ph_rng* rng);
void soak_bulk_talk(soak_stage* stage, soak_player* player); // at each step, before the sends
// All that has come at one end; direction is that in which it came.
void soak_bulk_take(soak_stage* stage, soak_player* player, ph_messages* messages, int direction);
int64_t soak_bulk_left_bytes(const soak_player* player); // that are to come

// From this time on its links, its budget and the clock are as they should be: waits count from there.
static inline void soak_unsettle(soak_player* player, uint64_t until_us)
{
    player->healthy_us = until_us > player->healthy_us ? until_us : player->healthy_us;
}

// ---- soak_judge.c

// Before the sends of a step: what is true now.
void soak_note_truth(soak_stage* stage);
void soak_note_glances(soak_stage* stage);
void soak_note_eyes(soak_stage* stage); // after a tick
// A client has applied a packet that was sent at that step.
void soak_judge_packet(soak_stage* stage, soak_player* player, int32_t sent_step);
// It has applied what it had held back; what the values were when that was sent is not asked.
void soak_take_held(soak_stage* stage, soak_player* player);
// Whether the client has exactly what it should; why says where it does not.
bool soak_is_equal(const soak_stage* stage, const soak_player* player, char why[200]);
bool soak_is_judged(const soak_stage* stage, const soak_player* player);
// Whether a property is told to a player at all.
bool soak_is_for(const ph_property_def* def, const soak_player* player, bool is_its_own);
// Whether an entity is the player's own now.
bool soak_is_present_own(const soak_stage* stage, const soak_player* player, int index);

// ---- soak_meter.c

// After each step.
void soak_judge_waits(soak_stage* stage);
void soak_meter_begin(soak_meter* meter, int64_t rate, int64_t depth_bits, uint64_t now_us);
void soak_meter_change(soak_meter* meter, int64_t rate, int64_t depth_bits, uint64_t now_us);
void soak_meter_pass(soak_stage* stage, soak_player* player, size_t wire_bytes);
int64_t soak_meter_depth(const soak_stage* stage, const soak_player* player, int rate,
                         int burst_bits);

#endif
