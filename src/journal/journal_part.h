// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The parts of a recording (docs/wire_recording.md): a header of 32 bytes with two checksums, and a body.
// A reader that meets damage looks for the next mark. About one part per second of a game.

#ifndef PH_JOURNAL_JOURNAL_PART_H
#define PH_JOURNAL_JOURNAL_PART_H

#include <pinhole/schema.h>

#define PH_PART_HEADER_BYTES 32
#define PH_PART_BODY_MAX ((size_t)1 << 30)
#define PH_PART_TICKS_MAX 65535
// Rate, flags, dropped ticks, fingerprint, length of the schema.
#define PH_HEAD_FIXED_BYTES 28
#define PH_HEAD_SCHEMA_MAX ((size_t)1 << 24)

typedef enum ph_part_kind {
    PH_PART_HEAD = 0, // rate and schema; again before every few key parts
    PH_PART_KEY,      // ticks, from an empty world
    PH_PART_NEXT,     // ticks that follow those of the part before
    PH_PART_END,      // as HEAD: the recording was closed
    PH_PART_KIND_COUNT
} ph_part_kind;

typedef struct ph_part {
    ph_part_kind kind;
    uint32_t body_size;
    uint32_t sequence;   // of the part in its recording; wraps
    uint32_t first_tick; // of KEY and NEXT; else the next tick
    uint32_t end_tick;   // behind the last one; HEAD and END: equal to first_tick
} ph_part;

// Fills in the header in front of a body, which stands behind it.
void ph_part_seal(const ph_part* part, uint8_t* bytes);

// @return Whether a whole part stands here, with the right checksums.
bool ph_part_read(ph_part* part, const uint8_t* bytes, size_t size);

// Offset of the first mark at or after `from`, or size.
size_t ph_part_find_mark(const uint8_t* bytes, size_t size, size_t from);

// What HEAD and END say.
typedef struct ph_journal_head {
    double rate_hz; // ticks per second, 0.001..1000
    bool has_jumps; // moves that were jumps are marked
    uint32_t dropped_ticks;
    uint64_t fingerprint;
    const char* schema_text; // not ended by a zero byte
    size_t schema_length;
} ph_journal_head;

size_t ph_journal_head_size(const ph_journal_head* head);
void ph_journal_head_write(const ph_journal_head* head, uint8_t* bytes);
bool ph_journal_head_read(ph_journal_head* head, const uint8_t* bytes, size_t size);

#endif
