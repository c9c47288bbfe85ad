// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From captured ticks (recorder.c) to parts. Runs where the game drains the recorder, on a thread of its own
// if it likes: nothing here touches a world. Once per tick.

#ifndef PH_JOURNAL_JOURNAL_WRITER_H
#define PH_JOURNAL_JOURNAL_WRITER_H

#include "journal/captured.h"
#include "journal/journal_part.h"

#include <pinhole/recorder.h>

typedef struct ph_journal_writer_def {
    const ph_schema* schema;
    double rate_hz;
    bool has_jumps;
    int part_ticks; // a part has so many at most
    int key_ticks;  // a key part comes after so many
    // Where captured ticks stand, one after the other and round again.
    const uint32_t* ring_begin;
    const uint32_t* ring_end;
    ph_allocator allocator;
} ph_journal_writer_def;

typedef struct ph_writer_place {
    const uint32_t* change; // its CHANGE in this tick, or NULL
    uint32_t index;         // in the world
} ph_writer_place;

typedef struct ph_journal_writer {
    ph_journal_writer_def def;
    ph_journal_state state;
    ph_journal_state spare; // a key part is made from one into the other
    ph_journal_coder coder;
    uint8_t* bytes; // the header and body of a part
    size_t bytes_capacity;
    char* schema_text;
    size_t schema_length;
    uint32_t* place1; // by index in the world: its place + 1, or 0
    int place1_capacity;
    ph_writer_place* places; // as those of the state
    int place_capacity;
    // Of this tick.
    const uint32_t** events; // GONE, STATE and SHOWN, in the order of capture
    int event_count;
    int event_capacity;
    ph_journal_change scratch;
    // Of this part.
    bool is_open;
    bool is_key;
    uint32_t first_tick;
    int part_ticks;
    // Of the recording.
    uint32_t next_tick; // behind the last one
    int ticks_since_key;
    int keys_since_head;
    bool needs_key;
    bool needs_whole; // a tick was lost: others count again from a WHOLE one
    bool has_begun;
    uint32_t sequence;
    uint32_t dropped_ticks; // as the recorder counts them
    uint64_t lost_ticks;    // coded, but not written
    uint64_t ticks;
    uint64_t bytes_written;
    ph_recorder_write_fn* write;
    void* write_context;
} ph_journal_writer;

// @return PH_OK or PH_ERROR_MEMORY with nothing held.
ph_result ph_journal_writer_create(ph_journal_writer* writer, const ph_journal_writer_def* def);
void ph_journal_writer_destroy(ph_journal_writer* writer); // {0} is allowed

// One captured tick. @return PH_OK; PH_ERROR_MEMORY, or PH_ERROR_SYSTEM: a part was not written, and what was in it is lost.
// Where needs_whole is set, ticks are lost until one is WHOLE.
ph_result ph_journal_writer_take(ph_journal_writer* writer, const uint32_t* tick);

// The part that is open, and with is_end the last part of the recording. @return PH_OK or PH_ERROR_SYSTEM.
ph_result ph_journal_writer_flush(ph_journal_writer* writer, bool is_end);

#endif
