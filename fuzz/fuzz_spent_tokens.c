// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bytes of a spent-tokens file: every record that is read is written as it was, and every piece of the file is
// read or counted as damaged. The first byte of the input says whether the checks are put right, so that the
// reader gets behind them.

#include "net/netcode_spent.h"
#include "support/fuzz_source.h"

#include <stdlib.h>
#include <string.h>

static void put_right(uint8_t* bytes, size_t size)
{
    if (size >= PH_SPENT_RECORD_SIZE) {
        ph_spent_put_header(bytes, ph_number_at(bytes + 16, 8),
                            (uint32_t)ph_number_at(bytes + 12, 4));
    }
    for (size_t at = PH_SPENT_RECORD_SIZE; at + PH_SPENT_RECORD_SIZE <= size;
         at += PH_SPENT_RECORD_SIZE) {
        ph_spent_record record;
        ph_take_u64(ph_take_bytes(bytes + at, record.tag, PH_NETCODE_TAG_SIZE), &record.expire_s);
        if (bytes[at + PH_SPENT_RECORD_SIZE - 1] % 2 == 0) {
            ph_spent_put_record(bytes + at, &record);
        }
    }
}

static void read_file(const uint8_t* bytes, size_t size)
{
    ph_spent_reader reader;
    const ph_spent_kind kind = ph_spent_reader_begin(&reader, bytes, size);
    fuzz_demand((kind == PH_SPENT_NEW) == (size == 0));
    if (kind != PH_SPENT_GOOD) {
        return;
    }
    const int damaged_header = reader.damaged_count;
    int count = 0;
    for (ph_spent_record record; ph_spent_reader_next(&reader, &record); ++count) {
        uint8_t again[PH_SPENT_RECORD_SIZE];
        ph_spent_put_record(again, &record);
        fuzz_demand(memcmp(again, reader.at - sizeof again, sizeof again) == 0);
    }
    const size_t behind = size > PH_SPENT_RECORD_SIZE ? size - PH_SPENT_RECORD_SIZE : 0;
    const size_t pieces = (behind + PH_SPENT_RECORD_SIZE - 1) / PH_SPENT_RECORD_SIZE;
    fuzz_demand((size_t)(count + reader.damaged_count - damaged_header) == pieces);
    ph_spent_record none;
    fuzz_demand(!ph_spent_reader_next(&reader, &none));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    uint8_t* bytes =
        malloc(size); // one less is used: of its own size, so that a step too far is seen
    memcpy(bytes + 1, data + 1, size - 1);
    if (data[0] % 2 == 1) {
        put_right(bytes + 1, size - 1);
    }
    read_file(bytes + 1, size - 1);
    free(bytes);
    return 0;
}
