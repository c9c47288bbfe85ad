// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Classic packets of a server made of bytes.

#include "support/fuzz_server.h"

#include <string.h>

static void write_record(const ph_client* client, const ph_frame* frame, ph_record_kind kind,
                         int slot, fuzz_source* from, ph_bit_writer* writer)
{
    fuzz_record made;
    fuzz_make_record(client, kind, slot, from, &made);
    ph_classic_write_record(frame, &made.record, writer);
}

// A careless server writes its slots in the wrong order, and one of them twice.
size_t fuzz_write_classic(const ph_client* client, fuzz_source* from, bool is_careless,
                          uint8_t bytes[PH_PAYLOAD_MAX])
{
    const int first = is_careless ? (int)fuzz_take(from, FUZZ_SLOTS) : 0;
    const int twice = is_careless ? (int)fuzz_take(from, 2 * FUZZ_SLOTS) : FUZZ_SLOTS;
    ph_header header = fuzz_make_header(client, from);
    const fuzz_plan made = fuzz_make_plan(client, &header, from);
    const ph_frame frame = fuzz_frame_of(client, &header);
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    for (int kind = 0; kind < 3; ++kind) {
        for (int i = 0; i < FUZZ_SLOTS; ++i) {
            const int slot = (first + i) % FUZZ_SLOTS;
            if (made.kind1[slot] == kind + 1) {
                write_record(client, &frame, (ph_record_kind)kind, slot, from, &writer);
            }
        }
    }
    if (twice < FUZZ_SLOTS && ph_bitset_test(&client->entities.is_entered, twice)) {
        write_record(client, &frame, PH_RECORD_UPDATE, twice, from, &writer);
    }
    return ph_bit_writer_finish(&writer);
}

// What the client has taken, written again.
void fuzz_check_classic(const ph_client* client, const ph_frame* frame, const uint8_t* bytes,
                        size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header header;
    ph_header_read(&reader, &header);
    uint8_t written[PH_PAYLOAD_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_header_write(&header, &writer);
    const ph_decoded_packet* decoded = &client->decoded;
    for (int i = 0; i < decoded->count && !header.is_probe; ++i) {
        const size_t before = ph_bit_writer_size_bits(&writer);
        ph_classic_write_record(frame, &decoded->records[i], &writer);
        fuzz_demand(ph_bit_writer_size_bits(&writer) - before ==
                    (size_t)ph_classic_record_bits(frame, &decoded->records[i], NULL));
    }
    fuzz_demand(ph_bit_writer_finish(&writer) == size && memcmp(written, bytes, size) == 0);
}
