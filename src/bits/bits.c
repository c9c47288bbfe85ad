// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bit stream, and the integer codings on top of it.
//
// Bit writer and reader: what is not inline in the header. The slow paths run for the last bytes of
// a buffer, for fields wider than PH_BITS_FAST_WIDTH, and for every field at the raw end of an
// entropy writer, which grows from the back.
//
// Integer codings: each write is one or two fields, whatever the value, so that a coding costs
// little more time than its bits.

#include "pinhole/bits.h"

#include "base/bitset.h"
#include "base/compiler.h"
#include "bits/entropy_run.h"
#include "pinhole/integers.h"

// The exported twins of the inline functions.
PH_TWIN void ph_bits_store64(uint8_t* bytes, uint64_t value);
PH_TWIN uint64_t ph_bits_load64(const uint8_t* bytes);
PH_TWIN void ph_bits_write(ph_bit_writer* writer, uint64_t value, int width);
PH_TWIN uint64_t ph_bits_read(ph_bit_reader* reader, int width);
PH_TWIN void ph_bits_write_bool(ph_bit_writer* writer, bool value);
PH_TWIN bool ph_bits_read_bool(ph_bit_reader* reader);
PH_TWIN ph_bit_writer ph_bit_writer_make(void* bytes, size_t capacity);
PH_TWIN size_t ph_bit_writer_size_bits(const ph_bit_writer* writer);
PH_TWIN ph_result ph_bit_writer_result(const ph_bit_writer* writer);
PH_TWIN void ph_bit_writer_fail(ph_bit_writer* writer, ph_result reason);
PH_TWIN ph_bit_mark ph_bit_writer_mark(const ph_bit_writer* writer);
PH_TWIN size_t ph_bit_writer_finish(ph_bit_writer* writer);
PH_TWIN ph_bit_reader ph_bit_reader_make(const void* bytes, size_t size);
PH_TWIN size_t ph_bit_reader_left_bits(const ph_bit_reader* reader);
PH_TWIN ph_result ph_bit_reader_result(const ph_bit_reader* reader);
PH_TWIN void ph_bit_reader_fail(ph_bit_reader* reader, ph_result reason);
PH_TWIN ph_result ph_bit_reader_finish(ph_bit_reader* reader);
PH_TWIN uint64_t ph_zigzag(int64_t value);
PH_TWIN int64_t ph_unzigzag(uint64_t code);

// ---- writing fields

static size_t writer_fast_end(const ph_bit_writer* writer)
{
    const bool is_slow = writer->owner != NULL || writer->result != PH_OK || writer->capacity < 8;
    return is_slow ? 0 : writer->capacity - 7;
}

// The raw end of an entropy writer counts its bytes from the back.
static uint8_t* byte_at(const ph_bit_writer* writer, size_t offset)
{
    return writer->bytes + (writer->owner != NULL ? writer->capacity - 1 - offset : offset);
}

void ph_bit_writer_rollback(ph_bit_writer* writer, ph_bit_mark mark)
{
    // The raw end alone would forget why its other end failed.
    PH_ASSERT(writer->owner == NULL);
    if (writer->owner != NULL) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    ph_bits_rollback(writer, mark);
}

void ph_bits_rollback(ph_bit_writer* writer, ph_bit_mark mark)
{
    // A mark of another writer could lie behind the end of this one's buffer.
    PH_ASSERT(mark.stored <= writer->stored);
    if (mark.stored > writer->stored) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    // One byte more than was stored: finish, or a fast store, may have put the partial one there.
    const size_t end = writer->stored < writer->capacity ? writer->stored + 1 : writer->capacity;
    for (size_t i = mark.stored; i < (writer->owner != NULL ? writer->stored : end); ++i) {
        *byte_at(writer, i) = 0;
    }
    writer->stored = mark.stored;
    writer->pending = mark.pending;
    writer->pending_bits = mark.pending_bits;
    writer->result = mark.result;
    writer->fast_end = writer_fast_end(writer);
}

static size_t room_bits(const ph_bit_writer* writer)
{
    size_t used_bits = ph_bit_writer_size_bits(writer);
    if (writer->owner != NULL) {
        used_bits += ph_entropy_front_bits(writer->owner);
    }
    return 8 * writer->capacity - used_bits;
}

bool ph_bits_require(ph_bit_writer* writer, size_t bits)
{
    if (writer->result == PH_OK && bits > room_bits(writer)) {
        ph_bit_writer_fail(writer, PH_ERROR_END);
    }
    return writer->result == PH_OK;
}

// Up to PH_BITS_FAST_WIDTH bits that are known to fit.
static void put_field(ph_bit_writer* writer, uint64_t value, int width)
{
    const uint64_t field = value & ((UINT64_C(1) << width) - 1);
    writer->pending |= field << writer->pending_bits;
    writer->pending_bits += (uint32_t)width;
    while (writer->pending_bits >= 8) {
        *byte_at(writer, writer->stored) = (uint8_t)writer->pending;
        writer->stored += 1;
        writer->pending >>= 8;
        writer->pending_bits -= 8;
    }
}

// The same at the raw end of an entropy writer that has room for eight bytes beside: those in front of
// what is written become zero.
static void put_field_back(ph_bit_writer* writer, uint64_t value, int width)
{
    const uint64_t field = value & ((UINT64_C(1) << width) - 1);
    const uint64_t pending = writer->pending | field << writer->pending_bits;
    const uint32_t bits = writer->pending_bits + (uint32_t)width;
    const uint64_t whole = pending & ((UINT64_C(1) << (bits & ~7u)) - 1);
    uint8_t* end = byte_at(writer, writer->stored);
    for (int i = 0; i < 8; ++i) {
        *(end - i) = (uint8_t)(whole >> (8 * i));
    }
    writer->stored += bits >> 3;
    writer->pending = pending >> (bits & ~7u);
    writer->pending_bits = bits & 7u;
}

// Whether any field fits there, whatever the ending takes, and the bytes beside it.
static bool is_room_behind(const ph_bit_writer* writer)
{
    enum { ENDING = 8, PARTIAL = 1, FIELD = 8 };
    return writer->owner != NULL && writer->result == PH_OK &&
           writer->owner->shifted + writer->stored + ENDING + PARTIAL + FIELD <= writer->capacity;
}

void ph_bits_write_slow(ph_bit_writer* writer, uint64_t value, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    if (width < 0 || width > 64) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    const bool is_roomy = is_room_behind(writer);
    if (!is_roomy && !ph_bits_require(writer, (size_t)width)) {
        return;
    }
    if (width > PH_BITS_FAST_WIDTH) {
        (is_roomy ? put_field_back : put_field)(writer, value, 32);
        value >>= 32;
        width -= 32;
    }
    (is_roomy ? put_field_back : put_field)(writer, value, width);
}

void ph_bits_write_bytes(ph_bit_writer* writer, const void* bytes, size_t count)
{
    if (!ph_bits_require(writer, 8 * (count <= PH_BITS_BYTES_MAX ? count : PH_BITS_BYTES_MAX))) {
        return;
    }
    const uint8_t* source = bytes;
    for (; count >= 4; count -= 4, source += 4) {
        const uint32_t word = (uint32_t)source[0] | (uint32_t)source[1] << 8 |
                              (uint32_t)source[2] << 16 | (uint32_t)source[3] << 24;
        ph_bits_write(writer, word, 32);
    }
    for (; count > 0; --count, ++source) {
        ph_bits_write(writer, *source, 8);
    }
}

// ---- reading fields

// Up to 32 bits that are known to be there.
static uint64_t take_field(ph_bit_reader* reader, int width)
{
    const size_t first = reader->position_bits / 8;
    const int skipped = (int)(reader->position_bits % 8);
    const int byte_count = (skipped + width + 7) / 8;
    const size_t size = reader->size_bits / 8;
    uint64_t word = 0;
    for (int i = 0; i < byte_count; ++i) {
        const size_t offset = first + (size_t)i;
        const uint8_t byte = reader->bytes[reader->is_backward ? size - 1 - offset : offset];
        word |= (uint64_t)byte << (8 * i);
    }
    reader->position_bits += (size_t)width;
    return word >> skipped & ((UINT64_C(1) << width) - 1);
}

uint64_t ph_bits_read_slow(ph_bit_reader* reader, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    if (width < 0 || width > 64) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    if ((size_t)width > ph_bit_reader_left_bits(reader)) {
        ph_bit_reader_fail(reader, PH_ERROR_END);
        return 0;
    }
    if (width <= 32) {
        return take_field(reader, width);
    }
    const uint64_t low = take_field(reader, 32);
    return low | take_field(reader, width - 32) << 32;
}

void ph_bits_read_bytes(ph_bit_reader* reader, void* bytes, size_t count)
{
    if (count > ph_bit_reader_left_bits(reader) / 8) {
        ph_bit_reader_fail(reader, PH_ERROR_END);
    }
    if (count == 0) {
        return; // bytes may be NULL
    }
    if (reader->result != PH_OK) {
        memset(bytes, 0, count);
        return;
    }
    uint8_t* target = bytes;
    for (; count >= 4; count -= 4, target += 4) {
        const uint64_t word = ph_bits_read(reader, 32);
        target[0] = (uint8_t)word;
        target[1] = (uint8_t)(word >> 8);
        target[2] = (uint8_t)(word >> 16);
        target[3] = (uint8_t)(word >> 24);
    }
    for (; count > 0; --count, ++target) {
        *target = (uint8_t)ph_bits_read(reader, 8);
    }
}

// ---- integers: range and enum

int ph_width_of(uint64_t greatest)
{
    return ph_word_width(greatest);
}

static uint64_t range_width(int64_t lo, int64_t hi)
{
    return (uint64_t)hi - (uint64_t)lo;
}

// lo + offset, where the sum is known to be an int64.
static int64_t range_value(int64_t lo, uint64_t offset)
{
    const uint64_t bits = (uint64_t)lo + offset;
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)~bits - 1;
}

int ph_range_cost_bits(int64_t lo, int64_t hi)
{
    PH_ASSERT(lo <= hi);
    return ph_width_of(range_width(lo, hi));
}

void ph_range_write(ph_bit_writer* writer, int64_t value, int64_t lo, int64_t hi)
{
    if (value < lo || value > hi) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    ph_bits_write(writer, range_width(lo, value), ph_range_cost_bits(lo, hi));
}

int64_t ph_range_read(ph_bit_reader* reader, int64_t lo, int64_t hi)
{
    const uint64_t offset = ph_bits_read(reader, ph_range_cost_bits(lo, hi));
    if (offset > range_width(lo, hi)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return lo;
    }
    return range_value(lo, offset);
}

int ph_enum_cost_bits(uint32_t count)
{
    PH_ASSERT(count >= 1);
    return ph_width_of(count - 1);
}

void ph_enum_write(ph_bit_writer* writer, uint32_t value, uint32_t count)
{
    PH_ASSERT(count >= 1);
    ph_range_write(writer, value, 0, (int64_t)count - 1);
}

uint32_t ph_enum_read(ph_bit_reader* reader, uint32_t count)
{
    PH_ASSERT(count >= 1);
    return (uint32_t)ph_range_read(reader, 0, (int64_t)count - 1);
}

// ---- varint

#define VARINT_BYTES_MAX 10

static int varint_bytes(uint64_t value)
{
    const int width = ph_width_of(value | 1);
    return (width + 6) / 7;
}

int ph_varint_cost_bits(uint64_t value)
{
    return 8 * varint_bytes(value);
}

void ph_varint_write(ph_bit_writer* writer, uint64_t value)
{
    const int byte_count = varint_bytes(value);
    if (!ph_bits_require(writer, 8 * (size_t)byte_count)) {
        return;
    }
    // Eight groups make one field; only values of 57 bits and more need a second one.
    uint64_t groups[2] = {0, 0};
    for (int i = 0; i < byte_count; ++i) {
        const uint64_t more = i + 1 < byte_count ? 0x80 : 0;
        groups[i / 8] |= ((value & 0x7f) | more) << (8 * (i % 8));
        value >>= 7;
    }
    ph_bits_write(writer, groups[0], byte_count < 8 ? 8 * byte_count : 64);
    if (byte_count > 8) {
        ph_bits_write(writer, groups[1], 8 * (byte_count - 8));
    }
}

uint64_t ph_varint_read(ph_bit_reader* reader)
{
    uint64_t value = 0;
    for (int i = 0; i < VARINT_BYTES_MAX; ++i) {
        const uint64_t byte = ph_bits_read(reader, 8);
        const uint64_t group = byte & 0x7f;
        const bool is_last = byte == group;
        const bool is_overlong = is_last && group == 0 && i > 0;
        const bool is_too_large = i == VARINT_BYTES_MAX - 1 && byte > 1;
        if (is_overlong || is_too_large) {
            ph_bit_reader_fail(reader, PH_ERROR_VALUE);
            return 0;
        }
        value |= group << (7 * i);
        if (is_last) {
            break;
        }
    }
    return value;
}

// ---- two-bit length

static int two_bit_bytes(uint32_t value)
{
    return (ph_width_of(value | 1) + 7) / 8;
}

int ph_two_bit_cost_bits(uint32_t value)
{
    return 2 + 8 * two_bit_bytes(value);
}

void ph_two_bit_write(ph_bit_writer* writer, uint32_t value)
{
    const int byte_count = two_bit_bytes(value);
    ph_bits_write(writer, (uint64_t)value << 2 | (uint64_t)(byte_count - 1), 2 + 8 * byte_count);
}

uint32_t ph_two_bit_read(ph_bit_reader* reader)
{
    const int byte_count = (int)ph_bits_read(reader, 2) + 1;
    const uint32_t value = (uint32_t)ph_bits_read(reader, 8 * byte_count);
    if (reader->result == PH_OK && two_bit_bytes(value) != byte_count) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result == PH_OK ? value : 0;
}

// ---- Elias gamma

int ph_gamma_cost_bits(uint32_t value)
{
    return 2 * ph_width_of((uint64_t)value + 1) - 1;
}

void ph_gamma_write(ph_bit_writer* writer, uint32_t value)
{
    if (!ph_bits_require(writer, (size_t)ph_gamma_cost_bits(value))) {
        return;
    }
    const uint64_t number = (uint64_t)value + 1;
    const int low_bits = ph_width_of(number) - 1;
    ph_bits_write(writer, UINT64_C(1) << low_bits, low_bits + 1);
    ph_bits_write(writer, number, low_bits); // the highest bit is cut off: it was the one
}

uint32_t ph_gamma_read(ph_bit_reader* reader)
{
    int low_bits = 0;
    while (low_bits <= 32 && !ph_bits_read_bool(reader)) {
        if (reader->result != PH_OK) {
            return 0;
        }
        ++low_bits;
    }
    if (low_bits > 32) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    const uint64_t number = UINT64_C(1) << low_bits | ph_bits_read(reader, low_bits);
    if (reader->result == PH_OK && number - 1 > UINT32_MAX) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result == PH_OK ? (uint32_t)(number - 1) : 0;
}

// ---- Rice

int ph_rice_cost_bits(uint32_t value, int k)
{
    PH_ASSERT(0 <= k && k <= 31);
    const uint32_t quotient = value >> k;
    return quotient < PH_RICE_ESCAPE ? (int)quotient + 1 + k : PH_RICE_ESCAPE + 32;
}

void ph_rice_write(ph_bit_writer* writer, uint32_t value, int k)
{
    PH_ASSERT(0 <= k && k <= 31);
    const uint32_t quotient = value >> k;
    if (quotient >= PH_RICE_ESCAPE) {
        const uint64_t ones = (UINT64_C(1) << PH_RICE_ESCAPE) - 1;
        ph_bits_write(writer, (uint64_t)value << PH_RICE_ESCAPE | ones, PH_RICE_ESCAPE + 32);
        return;
    }
    const uint64_t ones = (UINT64_C(1) << quotient) - 1;
    const uint64_t low = value & ((UINT64_C(1) << k) - 1);
    ph_bits_write(writer, low << (quotient + 1) | ones, (int)quotient + 1 + k);
}

uint32_t ph_rice_read(ph_bit_reader* reader, int k)
{
    PH_ASSERT(0 <= k && k <= 31);
    uint32_t quotient = 0;
    while (quotient < PH_RICE_ESCAPE && ph_bits_read_bool(reader)) {
        ++quotient;
    }
    const bool is_escaped = quotient == PH_RICE_ESCAPE;
    const uint64_t rest = ph_bits_read(reader, is_escaped ? 32 : k);
    const uint64_t value = is_escaped ? rest : (uint64_t)quotient << k | rest;
    const bool is_overlong = is_escaped && value >> k < PH_RICE_ESCAPE;
    if (reader->result == PH_OK && (is_overlong || value > UINT32_MAX)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result == PH_OK ? (uint32_t)value : 0;
}

// ---- an integer coding as data

// The unsigned number that the codings for unsigned numbers write.
static uint64_t code_of(const ph_integer* coding, int64_t value)
{
    return coding->lo < 0 ? ph_zigzag(value) : (uint64_t)value;
}

static uint64_t greatest_code(const ph_integer* coding)
{
    const uint64_t lo_code = code_of(coding, coding->lo);
    const uint64_t hi_code = code_of(coding, coding->hi);
    return lo_code > hi_code ? lo_code : hi_code;
}

static bool is_in_range(const ph_integer* coding, int64_t value)
{
    return coding->lo <= value && value <= coding->hi;
}

ph_result ph_integer_check(const ph_integer* coding)
{
    const bool is_known = coding->kind >= 0 && coding->kind < PH_INTEGER_KIND_COUNT;
    if (!is_known || coding->lo > coding->hi) {
        return PH_ERROR_RANGE;
    }
    const bool holds_all = coding->kind == PH_INTEGER_RANGE || coding->kind == PH_INTEGER_VARINT;
    if (!holds_all && greatest_code(coding) > UINT32_MAX) {
        return PH_ERROR_WIDTH;
    }
    if (coding->kind == PH_INTEGER_RICE && (coding->rice_k < 0 || coding->rice_k > 31)) {
        return PH_ERROR_WIDTH;
    }
    if (coding->has_default && !is_in_range(coding, coding->default_value)) {
        return PH_ERROR_VALUE;
    }
    return PH_OK;
}

// Cost of a code, without the default bit.
static int code_cost_bits(const ph_integer* coding, uint64_t code)
{
    switch (coding->kind) {
    case PH_INTEGER_VARINT:
        return ph_varint_cost_bits(code);
    case PH_INTEGER_TWO_BIT:
        return ph_two_bit_cost_bits((uint32_t)code);
    case PH_INTEGER_GAMMA:
        return ph_gamma_cost_bits((uint32_t)code);
    case PH_INTEGER_RICE:
        return ph_rice_cost_bits((uint32_t)code, coding->rice_k);
    case PH_INTEGER_RANGE:
    default:
        return ph_range_cost_bits(coding->lo, coding->hi);
    }
}

int ph_integer_cost_bits(const ph_integer* coding, int64_t value)
{
    PH_ASSERT(is_in_range(coding, value));
    if (coding->has_default && value == coding->default_value) {
        return 1;
    }
    return (coding->has_default ? 1 : 0) + code_cost_bits(coding, code_of(coding, value));
}

int ph_integer_max_bits(const ph_integer* coding)
{
    // Every coding costs more, or as much, for greater codes.
    return (coding->has_default ? 1 : 0) + code_cost_bits(coding, greatest_code(coding));
}

static void write_code(const ph_integer* coding, ph_bit_writer* writer, int64_t value)
{
    const uint64_t code = code_of(coding, value);
    switch (coding->kind) {
    case PH_INTEGER_VARINT:
        ph_varint_write(writer, code);
        return;
    case PH_INTEGER_TWO_BIT:
        ph_two_bit_write(writer, (uint32_t)code);
        return;
    case PH_INTEGER_GAMMA:
        ph_gamma_write(writer, (uint32_t)code);
        return;
    case PH_INTEGER_RICE:
        ph_rice_write(writer, (uint32_t)code, coding->rice_k);
        return;
    case PH_INTEGER_RANGE:
    default:
        ph_range_write(writer, value, coding->lo, coding->hi);
        return;
    }
}

void ph_integer_write(const ph_integer* coding, ph_bit_writer* writer, int64_t value)
{
    if (!is_in_range(coding, value)) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    if (!ph_bits_require(writer, (size_t)ph_integer_cost_bits(coding, value))) {
        return;
    }
    if (coding->has_default) {
        const bool is_default = value == coding->default_value;
        ph_bits_write_bool(writer, is_default);
        if (is_default) {
            return;
        }
    }
    write_code(coding, writer, value);
}

static int64_t read_code(const ph_integer* coding, ph_bit_reader* reader)
{
    uint64_t code = 0;
    switch (coding->kind) {
    case PH_INTEGER_VARINT:
        code = ph_varint_read(reader);
        break;
    case PH_INTEGER_TWO_BIT:
        code = ph_two_bit_read(reader);
        break;
    case PH_INTEGER_GAMMA:
        code = ph_gamma_read(reader);
        break;
    case PH_INTEGER_RICE:
        code = ph_rice_read(reader, coding->rice_k);
        break;
    case PH_INTEGER_RANGE:
    default:
        return ph_range_read(reader, coding->lo, coding->hi);
    }
    if (coding->lo < 0) {
        return ph_unzigzag(code);
    }
    return code <= INT64_MAX ? (int64_t)code : -1; // below lo: refused by the caller
}

int64_t ph_integer_read(const ph_integer* coding, ph_bit_reader* reader)
{
    if (coding->has_default && ph_bits_read_bool(reader)) {
        return coding->default_value;
    }
    const int64_t value = read_code(coding, reader);
    const bool is_default_spelled_out = coding->has_default && value == coding->default_value;
    if (!is_in_range(coding, value) || is_default_spelled_out) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result == PH_OK ? value : coding->lo;
}
