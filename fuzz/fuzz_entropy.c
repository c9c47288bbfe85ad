// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fuzzes the range coder's reader with both of its ends: the first bytes say what to read, the rest is
// the packet. What is accepted must be written again to the same bytes.

#include <pinhole/entropy.h>
#include <pinhole/integers.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define STEPS_MAX 64
#define PACKET_MAX 1024

static const uint16_t coin_table[] = {0, 1 << 14, 1 << 15};
static const uint16_t rare_table[] = {0, 32767, 32768};
static const uint16_t skewed_table[] = {0, 20000, 28000, 31000, 32000, 32500, 32700, 32768};
static const ph_model models[] = {
    {.cumulative = coin_table, .count = 2},
    {.cumulative = rare_table, .count = 2},
    {.cumulative = skewed_table, .count = 7},
};
static const uint32_t counts[] = {1, 3, 100, 65537, UINT32_MAX};

// One byte describes one step: two bits what, the others how.
static uint64_t read_step(ph_entropy_reader* reader, ph_adaptive* adaptive, uint8_t step)
{
    const unsigned how = step >> 2;
    switch (step & 3) {
    case 0:
        return (uint64_t)ph_entropy_read(reader, &models[how % 3]);
    case 1:
        return ph_entropy_read_uniform(reader, counts[how % 5]);
    case 2:
        return how == 63 ? ph_varint_read(&reader->raw) : ph_bits_read(&reader->raw, (int)how);
    default: {
        const ph_model model = ph_adaptive_model(adaptive);
        const int symbol = ph_entropy_read(reader, &model);
        ph_adaptive_learn(adaptive, symbol);
        return (uint64_t)symbol;
    }
    }
}

static void write_step(ph_entropy_writer* writer, ph_adaptive* adaptive, uint8_t step,
                       uint64_t value)
{
    const unsigned how = step >> 2;
    switch (step & 3) {
    case 0:
        ph_entropy_write(writer, &models[how % 3], (int)value);
        return;
    case 1:
        ph_entropy_write_uniform(writer, (uint32_t)value, counts[how % 5]);
        return;
    case 2:
        if (how == 63) {
            ph_varint_write(&writer->raw, value);
        } else {
            ph_bits_write(&writer->raw, value, (int)how);
        }
        return;
    default: {
        const ph_model model = ph_adaptive_model(adaptive);
        ph_entropy_write(writer, &model, (int)value);
        ph_adaptive_learn(adaptive, (int)value);
        return;
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 1 || size > PACKET_MAX) {
        return 0;
    }
    const size_t step_count = data[0] % STEPS_MAX;
    if (size < 1 + step_count) {
        return 0;
    }
    const uint8_t* steps = data + 1;
    const uint8_t* packet = data + 1 + step_count;
    const size_t packet_size = size - 1 - step_count;

    uint64_t values[STEPS_MAX];
    ph_adaptive adaptive;
    ph_adaptive_init(&adaptive, 13);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, packet, packet_size);
    for (size_t i = 0; i < step_count; ++i) {
        values[i] = read_step(&reader, &adaptive, steps[i]);
    }
    if (ph_entropy_reader_finish(&reader) != PH_OK) {
        return 0;
    }
    uint8_t again[PACKET_MAX];
    ph_adaptive_init(&adaptive, 13);
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, again, packet_size);
    for (size_t i = 0; i < step_count; ++i) {
        write_step(&writer, &adaptive, steps[i], values[i]);
    }
    if (ph_entropy_writer_finish(&writer) != packet_size ||
        memcmp(again, packet, packet_size) != 0) {
        abort();
    }
    return 0;
}
