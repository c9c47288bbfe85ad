// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Integer codings: how a whole number becomes bits, each with its exact cost.
//
// | coding  | for                              | cost in bits                               |
// |---------|----------------------------------|--------------------------------------------|
// | range   | lo..hi, all about equally likely | ceil(log2(hi - lo + 1))                    |
// | enum    | 0..count-1                       | ceil(log2(count))                          |
// | varint  | mostly small, rarely huge        | 8 for each 7 bits of the value, at least 8 |
// | two_bit | mostly below 256                 | 10, 18, 26 or 34                           |
// | gamma   | mostly 0, 1, 2                   | 2 * floor(log2(value + 1)) + 1             |
// | rice k  | small, spread of about 2^k       | (value >> k) + 1 + k, at most 48           |
//
// Signed numbers go through ph_zigzag(). One value has one legal encoding: readers refuse overlong
// forms and values out of range. Writers fail (PH_ERROR_VALUE) on a value that the coding cannot
// hold and write nothing. All of them work on both ends of an entropy writer, too.

#ifndef PINHOLE_INTEGERS_H
#define PINHOLE_INTEGERS_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bits needed to tell 0..greatest apart: 0 for 0, 1 for 1, 2 for 2 and 3, 64 for UINT64_MAX.
PH_API int ph_width_of(uint64_t greatest);

/// Signed to unsigned, small magnitudes first: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
PH_INLINE uint64_t ph_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

/// Unsigned back to signed: 0, 1, 2, 3, 4 become 0, -1, 1, -2, 2.
PH_INLINE int64_t ph_unzigzag(uint64_t code)
{
    const uint64_t bits = (code >> 1) ^ ((code & 1) != 0 ? UINT64_MAX : 0);
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)~bits - 1;
}

/// lo <= hi. lo == hi costs nothing.
PH_API int ph_range_cost_bits(int64_t lo, int64_t hi);
/// Writes value - lo. A value outside of lo..hi fails the writer with PH_ERROR_VALUE.
PH_API void ph_range_write(ph_bit_writer* writer, int64_t value, int64_t lo, int64_t hi);
/// @return A value in lo..hi; lo after a failure.
PH_API int64_t ph_range_read(ph_bit_reader* reader, int64_t lo, int64_t hi);

/// One of count alternatives, 0..count-1. count >= 1.
PH_API int ph_enum_cost_bits(uint32_t count);
/// Writes an alternative; one that is not below count fails the writer with PH_ERROR_VALUE.
PH_API void ph_enum_write(ph_bit_writer* writer, uint32_t value, uint32_t count);
/// @return A value below count; 0 after a failure.
PH_API uint32_t ph_enum_read(ph_bit_reader* reader, uint32_t count);

/// Base 128: seven bits a byte, low ones first, the high bit says that another byte follows.
PH_API int ph_varint_cost_bits(uint64_t value);
/// Writes any value, in 1 to 10 bytes.
PH_API void ph_varint_write(ph_bit_writer* writer, uint64_t value);
/// Refuses overlong forms and more than 64 bits. @return 0 after a failure.
PH_API uint64_t ph_varint_read(ph_bit_reader* reader);

/// Two bits say how many bytes follow (1..4).
PH_API int ph_two_bit_cost_bits(uint32_t value);
/// Writes any value, with as few bytes as hold it.
PH_API void ph_two_bit_write(ph_bit_writer* writer, uint32_t value);
/// Refuses more bytes than the value needs. @return 0 after a failure.
PH_API uint32_t ph_two_bit_read(ph_bit_reader* reader);

/// Elias gamma of value + 1: as many zeros as it has bits below its highest one, that one, those
/// bits.
PH_API int ph_gamma_cost_bits(uint32_t value);
/// Writes any value, in 1 to 65 bits.
PH_API void ph_gamma_write(ph_bit_writer* writer, uint32_t value);
/// Refuses what is beyond 32 bits. @return 0 after a failure.
PH_API uint32_t ph_gamma_read(ph_bit_reader* reader);

/// Rice: value >> k as that many ones and a zero, then the k low bits; k 0..31.
/// From a quotient of PH_RICE_ESCAPE on: that many ones, then the value in 32 bits.
#define PH_RICE_ESCAPE 16
/// Exact cost of a value: (value >> k) + 1 + k, or 48 from the escape on.
PH_API int ph_rice_cost_bits(uint32_t value, int k);
/// Writes any value. k is 0..31, and the reader must have the same.
PH_API void ph_rice_write(ph_bit_writer* writer, uint32_t value, int k);
/// Refuses an escape that was not needed, and what is beyond 32 bits. @return 0 after a failure.
PH_API uint32_t ph_rice_read(ph_bit_reader* reader, int k);

/// How one integer is written, as data: for tables, schemas and tools.
typedef enum ph_integer_kind {
    PH_INTEGER_RANGE = 0, // lo..hi; bool is 0..1, enum n is 0..n-1
    PH_INTEGER_VARINT,
    PH_INTEGER_TWO_BIT,
    PH_INTEGER_GAMMA,
    PH_INTEGER_RICE,
    PH_INTEGER_KIND_COUNT
} ph_integer_kind;

/// An integer coding. Zero-initialised it is the range 0..0, which costs nothing.
typedef struct ph_integer {
    ph_integer_kind kind;
    /// Legal values. RANGE writes value - lo. The others write the value itself, or its zigzag when
    /// lo is negative, and refuse what lies outside.
    int64_t lo;
    int64_t hi;
    /// RICE only: 0..31.
    int rice_k;
    /// Costs one bit in front of every value; the default itself then costs that bit alone.
    bool has_default;
    int64_t default_value;
} ph_integer;

/// Checks a declaration: lo <= hi, what the kind can hold, the default inside.
/// @return PH_OK, PH_ERROR_RANGE, PH_ERROR_WIDTH or PH_ERROR_VALUE (the default).
PH_API ph_result ph_integer_check(const ph_integer* coding);

/// Exact cost of a legal value.
PH_API int ph_integer_cost_bits(const ph_integer* coding, int64_t value);

/// No legal value costs more.
PH_API int ph_integer_max_bits(const ph_integer* coding);

/// Writes a value; one outside of lo..hi fails the writer with PH_ERROR_VALUE.
PH_API void ph_integer_write(const ph_integer* coding, ph_bit_writer* writer, int64_t value);

/// @return A legal value; lo after a failure. A default that is spelled out is refused.
PH_API int64_t ph_integer_read(const ph_integer* coding, ph_bit_reader* reader);

#ifdef __cplusplus
}
#endif

#endif
