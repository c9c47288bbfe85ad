// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the project's own tools ask of the library beside the contract: tests whether a structure is
// sound, the benchmark where time goes, the simulator what the learned models are worth. Not installed
// and not exported: programs that link the static library of this tree see it. A header without
// sources: each function is defined in the room that it looks into.

#ifndef PINHOLE_TOOLS_TOOLS_H
#define PINHOLE_TOOLS_TOOLS_H

#include <pinhole/base.h>

typedef struct ph_world ph_world;
typedef struct ph_client ph_client;
typedef struct ph_messages ph_messages;

// ---- is it sound? Slow.

bool ph_world_validate(const ph_world* world);
bool ph_client_validate(const ph_client* client);

// ---- where does the time go?

// What the time of a world goes into.
typedef enum ph_stage {
    PH_STAGE_VISION = 0, // sorting the entities, refreshing visions
    PH_STAGE_REPLICAS,   // which properties may differ, where everything is
    PH_STAGE_SCORE,      // the scheduler's ranks
    PH_STAGE_PICK,       // visiting entities in that order: diff, filter, adding what fits
    PH_STAGE_ENCODE,     // writing the packets
    PH_STAGE_ACKS,
    PH_STAGE_COUNT
} ph_stage;

// Nanoseconds by ph_stage.
typedef struct ph_stage_times {
    uint64_t ns[PH_STAGE_COUNT];
} ph_stage_times;

// A clock in nanoseconds, counted from anywhere, that never goes back. Called from every thread that
// sends or takes acks.
typedef uint64_t ph_now_ns_fn(void* context);

// Lends the world a clock to measure itself by; it decides nothing else. NULL, as at the start: nothing
// is measured. Between two ticks only.
void ph_world_set_clock(ph_world* world, ph_now_ns_fn* now_ns, void* context);

// What was measured so far, of the world and of the viewers it has now. The time of ph_deliver_fn does
// not count.
ph_stage_times ph_world_stage_times(const ph_world* world);

// ---- what are the learned models worth?

// Pinhole profile: writes values as universal codes in place of the learned models; clients take both.
// Before the first send. Nothing for a stale viewer.
void ph_viewer_use_universal_codes(ph_world* world, ph_viewer_id viewer);

// ---- how often does a viewer use which symbol?

// Pinhole profile: counts from now on each symbol that is written to the viewer, and what stands beside
// them, for learning models (schema/model_tables.h). NULL: no longer. Nothing for a stale viewer.
struct ph_pinhole_counts;
void ph_viewer_count_symbols(ph_world* world, ph_viewer_id viewer,
                             struct ph_pinhole_counts* counts);

// ---- sections of messages without a datagram around them

// Writes a section of at most room bytes, 1 or more; what it takes of its share, it pays. Returns its
// size, never 0.
size_t ph_messages_write_section(ph_messages* messages, uint64_t now_us, size_t room,
                                 uint8_t* bytes);

// Reads one: *used is its size, 0 when it is refused. Returns as ph_messages_unpack().
ph_result ph_messages_read_section(ph_messages* messages, uint64_t now_us, const void* bytes,
                                   size_t size, size_t* used);

#endif
