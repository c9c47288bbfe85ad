// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Arithmetic coding: a range coder that spends log2(1 / probability) bits on a symbol, not whole
// bits, and shares one buffer with raw bits.
//
//     byte 0                                                      last byte
//     | symbols, front to back ──▶ |  shared byte  | ◀── raw bits, back to front |
//
// Symbols fill bytes from the front, high bits first; raw bits (fields and the integer codings of
// integers.h, written to `raw`) fill them from the back, low bits first; the two may meet inside a
// byte. The size is exact at every moment, and anything written can be taken back. Both ends must
// be read in the order in which they were written; between the ends the order does not matter.

#ifndef PINHOLE_ENTROPY_H
#define PINHOLE_ENTROPY_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Probabilities are multiples of 1 / PH_MODEL_TOTAL.
#define PH_MODEL_BITS 15
#define PH_MODEL_TOTAL (1 << PH_MODEL_BITS)
#define PH_MODEL_SYMBOLS_MAX 1024

/// Costs of symbols are counted in 1/256 bit.
#define PH_COST_PER_BIT 256

/// A static model: symbol s has probability (cumulative[s + 1] - cumulative[s]) / PH_MODEL_TOTAL.
/// cumulative has count + 1 entries, strictly ascending from 0 to PH_MODEL_TOTAL.
typedef struct ph_model {
    const uint16_t* cumulative;
    uint16_t count; // symbols, 1..PH_MODEL_SYMBOLS_MAX; a model of one symbol costs nothing
} ph_model;

/// True when the table is one that the coder may use. Check tables that come from outside.
PH_API bool ph_model_is_valid(const ph_model* model);

/// Turns how often each symbol was seen into a table of count + 1 entries. Every symbol gets a
/// probability, seen or not. Integers only: the same table on every machine.
/// @return PH_OK, or PH_ERROR_WIDTH when count is not 1..PH_MODEL_SYMBOLS_MAX.
PH_API ph_result ph_model_build(const uint32_t* seen, int count, uint16_t* cumulative);

/// Cost of one symbol in 1/256 bit, rounded to nearest. Exact costs of a whole packet come from its
/// size; this is what one symbol of it is charged.
PH_API uint32_t ph_model_cost(const ph_model* model, int symbol);

/// Cost of one of count equally likely values in 1/256 bit: 256 * log2(count).
PH_API uint32_t ph_uniform_cost(uint32_t count);

/// The most symbols of a model that learns.
#define PH_ADAPTIVE_SYMBOLS_MAX 64

/// A model that learns while it is used. For streams whose every byte arrives in order (files,
/// reliable channels); never across packets that may get lost. Fields are private.
typedef struct ph_adaptive {
    uint16_t cumulative[PH_ADAPTIVE_SYMBOLS_MAX + 1];
    uint16_t count;
    uint16_t seen; // how many symbols so far, up to where the learning rate rests
} ph_adaptive;

/// Starts with equal probabilities. count is 1..PH_ADAPTIVE_SYMBOLS_MAX.
PH_API void ph_adaptive_init(ph_adaptive* model, int count);

/// Both ends call this after every symbol coded with ph_adaptive_model(). A rollback of the writer
/// does not reach it: keep a copy of the model beside the mark, and put it back.
PH_API void ph_adaptive_learn(ph_adaptive* model, int symbol);

/// The probabilities of this moment.
PH_API ph_model ph_adaptive_model(const ph_adaptive* model);

/// Writes symbols and raw bits into one buffer. Lives where it was initialised: its raw end knows
/// its address, so a copy is of no use (and asserted on).
typedef struct ph_entropy_writer {
    /// The raw end: give its address to ph_bits_write() and to the integer codings.
    ph_bit_writer raw;
    // The rest is private. Interval [low, low + range) of 2^64, behind what was already shifted
    // out.
    uint64_t low;
    uint64_t range;
    size_t front;       // bytes at the front that can no longer change
    size_t shifted;     // these and the words that are held back
    uint32_t held;      // the newest word shifted out: a carry may still add 1 to it
    uint32_t held_ones; // words of all ones behind it, that a carry would turn into zeros
    bool has_held;
    bool is_finished;
} ph_entropy_writer;

/// A moment in the writer's life.
typedef struct ph_entropy_mark {
    ph_bit_mark raw;
    uint64_t low;
    uint64_t range;
    size_t front;
    uint32_t held;
    uint32_t held_ones;
    bool has_held;
} ph_entropy_mark;

/// Reads what a ph_entropy_writer wrote.
typedef struct ph_entropy_reader {
    /// The raw end: give its address to ph_bits_read() and to the integer codings. Its result is
    /// the result of the whole reader.
    ph_bit_reader raw;
    // The rest is private.
    uint64_t code;  // what was read of the front, minus the low end of the interval
    uint64_t range; // as in the writer
    size_t next;    // offset of the next byte to shift in
} ph_entropy_reader;

/// Writes to bytes[0..capacity).
PH_API void ph_entropy_writer_init(ph_entropy_writer* writer, void* bytes, size_t capacity);

/// Writes a symbol, 0..model->count-1. Fails with PH_ERROR_END when it does not fit, with
/// PH_ERROR_VALUE when there is no such symbol.
PH_API void ph_entropy_write(ph_entropy_writer* writer, const ph_model* model, int symbol);

/// Writes one of count equally likely values in log2(count) bits. count >= 1, value < count.
PH_API void ph_entropy_write_uniform(ph_entropy_writer* writer, uint32_t value, uint32_t count);

/// What finish would make of it now: bits of both ends. The packet is this, rounded up to bytes.
PH_API size_t ph_entropy_writer_size_bits(const ph_entropy_writer* writer);

/// PH_OK, or the first failure of either end.
PH_API ph_result ph_entropy_writer_result(const ph_entropy_writer* writer);

/// Remembers this moment. Valid for this writer, until it is rolled back to an earlier one.
PH_API ph_entropy_mark ph_entropy_writer_mark(const ph_entropy_writer* writer);

/// Takes back everything since the mark, at both ends, a failure included.
PH_API void ph_entropy_writer_rollback(ph_entropy_writer* writer, const ph_entropy_mark* mark);

/// Closes the packet: joins both ends at the start of the buffer and zeroes the rest of it. Nothing
/// may be written after it.
/// @return Its size in bytes, or 0 when the writer has failed: send nothing.
PH_API size_t ph_entropy_writer_finish(ph_entropy_writer* writer);

/// Reads from bytes[0..size).
PH_API void ph_entropy_reader_init(ph_entropy_reader* reader, const void* bytes, size_t size);

/// @return The symbol; 0 after a failure.
PH_API int ph_entropy_read(ph_entropy_reader* reader, const ph_model* model);

/// @return A value below count; 0 after a failure.
PH_API uint32_t ph_entropy_read_uniform(ph_entropy_reader* reader, uint32_t count);

/// PH_OK, or the first failure of either end.
PH_API ph_result ph_entropy_reader_result(const ph_entropy_reader* reader);

/// Says that the packet ends here, and checks that it is the one packet which says what was read:
/// its size, its last bits and its spare bits.
/// @return PH_OK, or the first failure. What was read counts only when this is PH_OK.
PH_API ph_result ph_entropy_reader_finish(ph_entropy_reader* reader);

#ifdef __cplusplus
}
#endif

#endif
