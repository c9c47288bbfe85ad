// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The range coder. An interval of 2^64 shrinks with every symbol to the part that belongs to it;
// when less than 2^32 is left, the top 32 bits are shifted out. The interval is wide, so that
// probabilities of 15 bits lose less than 2^-17 of their size to rounding, and shifting is rare
// (once in 32 bits of news).
//
// A sum may still carry into words that were shifted out. The newest of them is therefore held
// back, with a count of the all-ones words behind it; only what no carry can reach is stored.
// Stored bytes never change, which makes a mark a copy of a few numbers and a rollback exact.
//
// The packet ends with as few bits as pin the interval down whatever follows them, so that raw bits
// may follow in the same byte.

#include "bits/entropy_run.h"

#include "pinhole/entropy.h"
#include "pinhole/integers.h"

#define WORD_BYTES 4
#define WORD_BITS 32
// The whole interval. Only a coder that has seen no symbol has this range.
#define RANGE_FULL UINT64_MAX
#define RANGE_MIN (UINT64_C(1) << 32)

// ---- the end of the symbols

// The largest aligned block inside [low, low + range): 2^block_bits wide and `skip` above low. Its
// leading 64 - block_bits bits say everything.
typedef struct ending {
    uint64_t skip;
    int block_bits;
} ending;

static ending find_ending(uint64_t low, uint64_t range)
{
    ending end = {.block_bits = ph_width_of(range) - 1};
    uint64_t block = UINT64_C(1) << end.block_bits;
    end.skip = (0 - low) & (block - 1);
    if (end.skip > range - block) { // then half as large a block must fit
        end.block_bits -= 1;
        block >>= 1;
        end.skip = (0 - low) & (block - 1);
    }
    return end;
}

static size_t ending_bits(uint64_t low, uint64_t range)
{
    if (range == RANGE_FULL) {
        return 0;
    }
    // A broken model can leave nothing at all; the writer fails then.
    return range == 0 ? 64 : 64 - (size_t)find_ending(low, range).block_bits;
}

size_t ph_entropy_front_bits(const ph_entropy_writer* writer)
{
    return 8 * writer->shifted + ending_bits(writer->low, writer->range);
}

// ---- writing

void ph_entropy_writer_init(ph_entropy_writer* writer, void* bytes, size_t capacity)
{
    *writer = (ph_entropy_writer){
        .raw = ph_bit_writer_make(bytes, capacity),
        .range = RANGE_FULL,
    };
    writer->raw.owner = writer;
    writer->raw.fast_end = 0;
}

static void store_word(ph_entropy_writer* writer, uint32_t word)
{
    uint8_t* bytes = writer->raw.bytes + writer->front;
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
    writer->front += WORD_BYTES;
}

// Nothing can carry into the held words any more.
static void release_held(ph_entropy_writer* writer)
{
    if (writer->has_held) {
        store_word(writer, writer->held);
    }
    for (; writer->held_ones > 0; --writer->held_ones) {
        store_word(writer, UINT32_MAX);
    }
    writer->has_held = false;
}

// 1 is added to the held number: its last word that is not all ones grows, those behind it become
// 0.
static void add_carry(ph_entropy_writer* writer)
{
    PH_ASSERT(writer->has_held);
    writer->held += 1;
    if (writer->held_ones > 0) {
        store_word(writer, writer->held);
        for (; writer->held_ones > 1; --writer->held_ones) {
            store_word(writer, 0);
        }
        writer->held = 0;
        writer->held_ones = 0;
    }
}

// The newest word, that a carry may still reach.
static inline void hold(ph_entropy_writer* writer, uint32_t word)
{
    if (word == UINT32_MAX && writer->has_held) {
        writer->held_ones += 1;
    } else {
        release_held(writer);
        writer->held = word;
        writer->has_held = true;
    }
    writer->shifted += WORD_BYTES;
}

// Whether an ending for this interval fits with everything else. No ending takes more than eight bytes,
// nor the raw end's partial byte more than one.
static bool is_far_from_end(const ph_entropy_writer* writer)
{
    return writer->shifted + writer->raw.stored + 9 <= writer->raw.capacity;
}

static bool has_room_for_ending(const ph_entropy_writer* writer, uint64_t low, uint64_t range)
{
    const size_t raw_bits = ph_bit_writer_size_bits(&writer->raw);
    return is_far_from_end(writer) ||
           8 * writer->shifted + ending_bits(low, range) + raw_bits <= 8 * writer->raw.capacity;
}

// Narrows the interval to [offset, offset + size) of it, unless the writer has failed.
static void narrow_writer(ph_entropy_writer* writer, uint64_t offset, uint64_t size)
{
    if (writer->raw.result != PH_OK) {
        return;
    }
    const uint64_t low = writer->low + offset;
    if (!has_room_for_ending(writer, low, size)) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_END);
        return;
    }
    if (low < offset) {
        add_carry(writer);
    }
    writer->low = low;
    writer->range = size;
    if (size == 0) { // a symbol without probability: no valid model
        ph_bit_writer_fail(&writer->raw, PH_ERROR_VALUE);
    } else if (size < RANGE_MIN) {
        hold(writer, (uint32_t)(low >> WORD_BITS));
        writer->low = low << WORD_BITS;
        writer->range = size << WORD_BITS;
    }
}

// A range below this needs more than a step in registers: all of them, where the end is near.
static uint64_t least_range(const ph_entropy_writer* writer)
{
    return is_far_from_end(writer) && writer->raw.result == PH_OK ? RANGE_MIN : UINT64_MAX;
}

// What is rare takes the interval out of the registers and back. Twice in a row low cannot overflow, so
// there is at most one carry to be added.
void ph_entropy_write_entries(ph_entropy_writer* writer, const uint16_t* table,
                              const uint16_t* entries, int count)
{
    uint64_t low = writer->low;
    uint64_t range = writer->range;
    uint64_t least = least_range(writer);
    uint64_t carry = 0;
    for (int i = 0; i < count; ++i) {
        const uint16_t* entry = &table[entries[i]];
        const uint64_t part = range >> PH_MODEL_BITS;
        const uint64_t first = entry[0];
        const uint64_t offset = part * first;
        const uint64_t size = part * (entry[1] - first);
        if (PH_LIKELY(size >= least)) {
            low += offset;
            carry += low < offset ? 1 : 0;
            range = size;
            continue;
        }
        if (carry != 0) {
            add_carry(writer);
        }
        writer->low = low;
        writer->range = range;
        narrow_writer(writer, offset, size);
        low = writer->low;
        range = writer->range;
        least = least_range(writer);
        carry = 0;
    }
    if (carry != 0) {
        add_carry(writer);
    }
    writer->low = low;
    writer->range = range;
}

void ph_entropy_write(ph_entropy_writer* writer, const ph_model* model, int symbol)
{
    PH_ASSERT(writer->raw.owner == writer);
    if (PH_UNLIKELY(symbol < 0 || symbol >= model->count)) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_VALUE);
    } else if (model->count > 1) {
        const uint64_t part = writer->range >> PH_MODEL_BITS;
        const uint64_t first = model->cumulative[symbol];
        narrow_writer(writer, part * first, part * (model->cumulative[symbol + 1] - first));
    }
}

void ph_entropy_write_uniform(ph_entropy_writer* writer, uint32_t value, uint32_t count)
{
    PH_ASSERT(writer->raw.owner == writer);
    if (value >= count) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_VALUE);
    } else if (count > 1) {
        const uint64_t part = writer->range / count;
        narrow_writer(writer, part * value, part);
    }
}

size_t ph_entropy_writer_size_bits(const ph_entropy_writer* writer)
{
    return ph_entropy_front_bits(writer) + ph_bit_writer_size_bits(&writer->raw);
}

ph_result ph_entropy_writer_result(const ph_entropy_writer* writer)
{
    return writer->raw.result;
}

ph_entropy_mark ph_entropy_writer_mark(const ph_entropy_writer* writer)
{
    return (ph_entropy_mark){
        .raw = ph_bit_writer_mark(&writer->raw),
        .low = writer->low,
        .range = writer->range,
        .front = writer->front,
        .held = writer->held,
        .held_ones = writer->held_ones,
        .has_held = writer->has_held,
    };
}

void ph_entropy_writer_rollback(ph_entropy_writer* writer, const ph_entropy_mark* mark)
{
    PH_ASSERT(writer->raw.owner == writer && !writer->is_finished);
    PH_ASSERT(mark->front <= writer->front);
    if (writer->is_finished || mark->front > writer->front) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_VALUE);
        return;
    }
    ph_bits_rollback(&writer->raw, mark->raw);
    if (writer->front > mark->front) {
        memset(writer->raw.bytes + mark->front, 0, writer->front - mark->front);
    }
    writer->low = mark->low;
    writer->range = mark->range;
    writer->front = mark->front;
    writer->held = mark->held;
    writer->held_ones = mark->held_ones;
    writer->has_held = mark->has_held;
    writer->shifted =
        mark->front + WORD_BYTES * ((mark->has_held ? 1u : 0u) + (size_t)mark->held_ones);
}

// Stores the held words and the leading bits of the ending, padded with zero bits to a byte.
static void close_front(ph_entropy_writer* writer)
{
    if (writer->range == RANGE_FULL) {
        return;
    }
    const ending end = find_ending(writer->low, writer->range);
    const uint64_t last = writer->low + end.skip;
    if (last < writer->low) {
        add_carry(writer);
    }
    release_held(writer);
    for (int bit = 64; bit > end.block_bits; bit -= 8) {
        writer->raw.bytes[writer->front] = (uint8_t)(last >> (bit - 8));
        writer->front += 1;
    }
}

size_t ph_entropy_writer_finish(ph_entropy_writer* writer)
{
    PH_ASSERT(writer->raw.owner == writer);
    ph_bit_writer* raw = &writer->raw;
    const size_t size = (ph_entropy_writer_size_bits(writer) + 7) / 8;
    if (raw->result != PH_OK || size == 0 || size > raw->capacity) {
        return 0;
    }
    close_front(writer);
    // The raw end stands at the back of the buffer; its partial byte may be the front's last one.
    memmove(raw->bytes + size - raw->stored, raw->bytes + raw->capacity - raw->stored, raw->stored);
    if (raw->pending_bits > 0) {
        const size_t partial = size - raw->stored - 1;
        const uint8_t shared = partial < writer->front ? raw->bytes[partial] : 0;
        raw->bytes[partial] = (uint8_t)(shared | raw->pending);
    }
    memset(raw->bytes + size, 0, raw->capacity - size);
    // What is left is a writer that is full to its last byte: nothing fits any more.
    ph_entropy_writer_init(writer, raw->bytes, size);
    writer->front = size;
    writer->shifted = size;
    writer->is_finished = true;
    return size;
}

// ---- reading

// Up to eight bytes from offset on, high byte first; zeros behind the last byte.
static uint64_t window_at(const ph_bit_reader* raw, size_t offset, int count)
{
    const size_t size = raw->size_bits / 8;
    uint64_t window = 0;
    for (int i = 0; i < count; ++i) {
        const size_t place = offset + (size_t)i;
        window = window << 8 | (place < size ? raw->bytes[place] : 0u);
    }
    return window;
}

void ph_entropy_reader_init(ph_entropy_reader* reader, const void* bytes, size_t size)
{
    *reader = (ph_entropy_reader){.raw = ph_bit_reader_make(bytes, size), .range = RANGE_FULL};
    reader->raw.is_backward = true;
    reader->raw.fast_end = 0;
    reader->code = window_at(&reader->raw, 0, 8);
    reader->next = 8;
}

static void shift_in(ph_entropy_reader* reader)
{
    if (reader->range == 0) { // a symbol without probability: no valid model
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
        return;
    }
    reader->code = reader->code << WORD_BITS | window_at(&reader->raw, reader->next, WORD_BYTES);
    reader->range <<= WORD_BITS;
    reader->next += WORD_BYTES;
    // What was shifted out of the window is used up, and every packet ends with a bit behind it.
    if (8 * (reader->next - 8) >= reader->raw.size_bits) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_END);
    }
}

// The reader's half of narrow_writer(): takes [offset, offset + size) of the interval.
static inline void narrow_reader(ph_entropy_reader* reader, uint64_t offset, uint64_t size)
{
    reader->code -= offset;
    reader->range = size;
    if (size < RANGE_MIN) {
        shift_in(reader);
    }
}

// The last entry at or below the code; multiplying entries is cheaper than one division of the
// code. Each halving waits for a load and a multiplication (4 ns), while counting along the table
// multiplies side by side (0.5 ns an entry): so large tables are halved, and the last eight symbols
// counted. Tables tend to put the likely symbols first, so the last choice between two eights is a
// branch.
static inline const uint16_t* find_entry(const ph_model* model, uint64_t part, uint64_t code)
{
    const uint16_t* entry = model->cumulative;
    unsigned left = model->count;
    while (left > 16) {
        const unsigned half = left / 2;
        entry += part * entry[half] <= code ? half : 0;
        left -= half;
    }
    if (left > 8 && PH_UNLIKELY(part * entry[8] <= code)) {
        entry += 8;
        left -= 8;
    }
    const unsigned counted = left < 8 ? left : 8;
    unsigned skip = 0;
    for (unsigned i = 1; i < counted; ++i) {
        skip += part * entry[i] <= code ? 1 : 0;
    }
    return entry + skip;
}

int ph_entropy_read(ph_entropy_reader* reader, const ph_model* model)
{
    if (PH_UNLIKELY(reader->raw.result != PH_OK || model->count == 1)) {
        return 0;
    }
    const uint64_t part = reader->range >> PH_MODEL_BITS;
    if (PH_UNLIKELY(reader->code >= part << PH_MODEL_BITS)) { // the gap that rounding leaves
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
        return 0;
    }
    const uint16_t* entry = find_entry(model, part, reader->code);
    const uint64_t first = entry[0];
    narrow_reader(reader, part * first, part * (entry[1] - first));
    return (int)(entry - model->cumulative);
}

uint32_t ph_entropy_read_uniform(ph_entropy_reader* reader, uint32_t count)
{
    PH_ASSERT(count >= 1);
    if (reader->raw.result != PH_OK || count <= 1) {
        return 0;
    }
    const uint64_t part = reader->range / count;
    const uint64_t value = reader->code / part;
    if (value >= count) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
        return 0;
    }
    narrow_reader(reader, part * value, part);
    return (uint32_t)value;
}

ph_result ph_entropy_reader_result(const ph_entropy_reader* reader)
{
    return reader->raw.result;
}

// True when the bits from..to of the packet, counted from the high bit of its first byte, are zero.
static bool is_spare_zero(const ph_bit_reader* raw, size_t from, size_t to)
{
    for (size_t bit = from; bit < to; ++bit) {
        if ((raw->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) {
            return false;
        }
    }
    return true;
}

ph_result ph_entropy_reader_finish(ph_entropy_reader* reader)
{
    ph_bit_reader* raw = &reader->raw;
    if (raw->result != PH_OK) {
        return raw->result;
    }
    size_t front_bits = 0;
    bool is_ending_right = true;
    if (reader->range != RANGE_FULL) {
        // The writer's low end follows from what was read and what is left of it.
        const uint64_t window = window_at(raw, reader->next - 8, 8);
        const uint64_t low = window - reader->code;
        const ending end = find_ending(low, reader->range);
        front_bits = 8 * (reader->next - 8) + 64 - (size_t)end.block_bits;
        is_ending_right = ((window ^ (low + end.skip)) >> end.block_bits) == 0;
    }
    const size_t used_bits = front_bits + raw->position_bits;
    if (used_bits > raw->size_bits) {
        ph_bit_reader_fail(raw, PH_ERROR_END);
    } else if (!is_ending_right || raw->size_bits - used_bits >= 8 ||
               !is_spare_zero(raw, front_bits, raw->size_bits - raw->position_bits)) {
        ph_bit_reader_fail(raw, PH_ERROR_VALUE);
    }
    return raw->result;
}

// ---- models
//
// Static tables made from counts, tables that learn, and what a symbol costs. Tables are made rarely;
// learning runs once per symbol of an ordered stream.

bool ph_model_is_valid(const ph_model* model)
{
    if (model->cumulative == NULL || model->count < 1 || model->count > PH_MODEL_SYMBOLS_MAX) {
        return false;
    }
    for (int i = 0; i < model->count; ++i) {
        if (model->cumulative[i] >= model->cumulative[i + 1]) {
            return false;
        }
    }
    return model->cumulative[0] == 0 && model->cumulative[model->count] == PH_MODEL_TOTAL;
}

ph_result ph_model_build(const uint32_t* seen, int count, uint16_t* cumulative)
{
    if (count < 1 || count > PH_MODEL_SYMBOLS_MAX) {
        return PH_ERROR_WIDTH;
    }
    uint64_t total = 0;
    for (int i = 0; i < count; ++i) {
        total += seen[i];
    }
    // One part for every symbol, so that none is impossible; the others in proportion, by rounding
    // the running sum: parts then add up to the total without any correction afterwards.
    const uint64_t spread = (uint64_t)(PH_MODEL_TOTAL - count);
    uint64_t sum = 0;
    cumulative[0] = 0;
    for (int i = 0; i < count; ++i) {
        sum += total != 0 ? seen[i] : 1;
        const uint64_t weight = total != 0 ? total : (uint64_t)count;
        cumulative[i + 1] = (uint16_t)((uint64_t)(i + 1) + (sum * spread + weight / 2) / weight);
    }
    return PH_OK;
}

// log2(value) in 1/256 bit, rounded to nearest; value >= 1. Squaring a number doubles its
// logarithm, so each squaring yields one more binary digit. Integers only: the ledger is the same
// everywhere.
static uint32_t log2_cost(uint32_t value)
{
    uint32_t whole = 0;
    while (value >> whole > 1) {
        ++whole;
    }
    uint64_t mantissa = (uint64_t)value << (31 - whole); // 1.0 is 2^31
    uint32_t digits = whole;
    for (int i = 0; i < 9; ++i) { // eight digits and one to round
        mantissa = (mantissa * mantissa) >> 31;
        digits <<= 1;
        if (mantissa >> 32 != 0) {
            mantissa >>= 1;
            digits |= 1;
        }
    }
    return (digits + 1) >> 1;
}

uint32_t ph_model_cost(const ph_model* model, int symbol)
{
    PH_ASSERT(0 <= symbol && symbol < model->count);
    const uint32_t parts =
        (uint32_t)model->cumulative[symbol + 1] - (uint32_t)model->cumulative[symbol];
    return PH_MODEL_BITS * PH_COST_PER_BIT - log2_cost(parts);
}

uint32_t ph_uniform_cost(uint32_t count)
{
    PH_ASSERT(count >= 1);
    return log2_cost(count);
}

// ---- learning

// Each entry moves towards where it would stand if the symbol just seen were certain, by 1/2^rate
// of the way. Both the table and its target ascend by at least 1 from entry to entry, and so does
// every mixture of them rounded this way: no symbol ever becomes impossible.
#define RATE_FIRST 3
#define RATE_LAST 7
#define SEEN_MAX 256

void ph_adaptive_init(ph_adaptive* model, int count)
{
    PH_ASSERT(1 <= count && count <= PH_ADAPTIVE_SYMBOLS_MAX);
    *model = (ph_adaptive){.count = (uint16_t)count};
    for (int i = 0; i <= count; ++i) {
        model->cumulative[i] = (uint16_t)(PH_MODEL_TOTAL * i / count);
    }
}

// Fast at first, while little is known, then slower and finer.
static int learning_rate(int seen)
{
    int rate = RATE_FIRST;
    for (int bound = 16; rate < RATE_LAST && seen >= bound; bound *= 2) {
        ++rate;
    }
    return rate;
}

void ph_adaptive_learn(ph_adaptive* model, int symbol)
{
    PH_ASSERT(0 <= symbol && symbol < model->count);
    const int rate = learning_rate(model->seen);
    for (int i = 1; i < model->count; ++i) {
        const int target = i <= symbol ? i : PH_MODEL_TOTAL - model->count + i;
        const int difference = target - model->cumulative[i];
        // A right shift that rounds down for negative numbers, too, on every compiler.
        const int step =
            difference >= 0 ? difference >> rate : -((-difference + (1 << rate) - 1) >> rate);
        model->cumulative[i] = (uint16_t)(model->cumulative[i] + step);
    }
    if (model->seen < SEEN_MAX) {
        ++model->seen;
    }
}

ph_model ph_adaptive_model(const ph_adaptive* model)
{
    return (ph_model){.cumulative = model->cumulative, .count = model->count};
}
