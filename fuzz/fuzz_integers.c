// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fuzzes the bit reader and every integer coding: the first byte chooses the codings, the rest is a
// message of values written with them. What is accepted must be written again to the same bytes.

#include <pinhole/integers.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define VALUES_MAX 64
#define MESSAGE_MAX 1024

static const ph_integer codings[] = {
    {.kind = PH_INTEGER_RANGE, .lo = -5, .hi = 5},
    {.kind = PH_INTEGER_RANGE, .lo = INT64_MIN, .hi = INT64_MAX},
    {.kind = PH_INTEGER_RANGE, .lo = 10, .hi = 1000, .has_default = true, .default_value = 100},
    {.kind = PH_INTEGER_VARINT, .lo = 0, .hi = INT64_MAX},
    {.kind = PH_INTEGER_VARINT, .lo = INT64_MIN, .hi = INT64_MAX, .has_default = true},
    {.kind = PH_INTEGER_TWO_BIT, .lo = 0, .hi = UINT32_MAX},
    {.kind = PH_INTEGER_TWO_BIT, .lo = -1000, .hi = 100000, .has_default = true},
    {.kind = PH_INTEGER_GAMMA, .lo = 0, .hi = UINT32_MAX},
    {.kind = PH_INTEGER_GAMMA, .lo = INT32_MIN, .hi = INT32_MAX},
    {.kind = PH_INTEGER_RICE, .lo = 0, .hi = UINT32_MAX, .rice_k = 0},
    {.kind = PH_INTEGER_RICE, .lo = -77, .hi = 77, .rice_k = 3, .has_default = true},
    {.kind = PH_INTEGER_RICE, .lo = 0, .hi = UINT32_MAX, .rice_k = 30},
};
#define CODING_COUNT (sizeof codings / sizeof codings[0])

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 1 || size > MESSAGE_MAX) {
        return 0;
    }
    const uint8_t choice = data[0];
    const size_t message_size = size - 1;
    int64_t values[VALUES_MAX];
    const ph_integer* used[VALUES_MAX];
    int count = 0;
    ph_bit_reader reader = ph_bit_reader_make(data + 1, message_size);
    while (ph_bit_reader_left_bits(&reader) >= 8 && count < VALUES_MAX) {
        used[count] = &codings[(choice + (size_t)count * (choice >> 4)) % CODING_COUNT];
        values[count] = ph_integer_read(used[count], &reader);
        ++count;
    }
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return 0;
    }
    uint8_t again[MESSAGE_MAX];
    ph_bit_writer writer = ph_bit_writer_make(again, message_size);
    for (int i = 0; i < count; ++i) {
        ph_integer_write(used[i], &writer, values[i]);
    }
    if (ph_bit_writer_finish(&writer) != message_size ||
        memcmp(again, data + 1, message_size) != 0) {
        abort();
    }
    return 0;
}
