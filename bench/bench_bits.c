// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench bits`: ns per field of the bit writer and reader next to three yardsticks (no
// checks at all; a byte at a time; memcpy), per symbol of the range coder, per number of each
// integer coding. The measured loops are what a game would write: a writer, a loop, finish.

#include "bench.h"

#include "bits_messages.h"
#include "command.h"
#include "report.h"
#include "textbook_bits.h"
#include "timer.h"
#include "unchecked_bits.h"

#include <pinhole/pinhole.h>

#include <stdio.h>
#include <string.h>

#define SEED 20240229
#define ROUNDS_DEFAULT 100

// ---- mixed fields

// What a writing loop returns of a packet: enough to prove afterwards that the right bytes were
// written, little enough to cost nothing.
static inline uint64_t digest(const uint8_t* packet, size_t size)
{
    bench_use(packet, size);
    return size + ph_bits_load64(packet) + 3 * ph_bits_load64(packet + size / 2) +
           5 * ph_bits_load64(packet + size - 8);
}

static uint64_t write_checked(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_writer writer = ph_bit_writer_make(packet, sizeof packet);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            ph_bits_write(&writer, messages->value[i], messages->width[i]);
        }
        const size_t size = ph_bit_writer_finish(&writer);
        sum += digest(packet, size);
    }
    return sum;
}

static uint64_t read_checked(const void* data)
{
    const bits_messages* messages = data;
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_reader reader = ph_bit_reader_make(messages->bytes[p], messages->size[p]);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            sum += ph_bits_read(&reader, messages->width[i]);
        }
        sum += ph_bit_reader_finish(&reader) == PH_OK ? 1 : 0;
    }
    return sum;
}

static uint64_t write_unchecked(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES + UNCHECKED_SPARE_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        unchecked_writer writer = {.next = packet};
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            unchecked_write(&writer, messages->value[i], messages->width[i]);
        }
        const size_t size = unchecked_finish(&writer, packet);
        sum += digest(packet, size);
    }
    return sum;
}

static uint64_t read_unchecked(const void* data)
{
    const bits_messages* messages = data;
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        unchecked_reader reader = {.bytes = messages->bytes[p]};
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            sum += unchecked_read(&reader, messages->width[i]);
        }
        sum += 1;
    }
    return sum;
}

static uint64_t write_textbook(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        textbook_stream stream = {.bytes = packet, .capacity_bits = 8 * PACKET_BYTES};
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            textbook_write(&stream, messages->value[i], messages->width[i]);
        }
        const size_t size = (stream.head_bits + 7) / 8;
        sum += digest(packet, size);
    }
    return sum;
}

static uint64_t read_textbook(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        memcpy(packet, messages->bytes[p], messages->size[p]); // the stream's bytes are not const
        textbook_stream stream = {.bytes = packet,
                                  .capacity_bits = 8 * (uint32_t)messages->size[p]};
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            uint32_t value = 0;
            textbook_read(&stream, &value, messages->width[i]);
            sum += value;
        }
        sum += 1;
    }
    return sum;
}

static uint64_t copy_bytes(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        memcpy(packet, messages->bytes[p], messages->size[p]);
        sum += digest(packet, messages->size[p]);
    }
    return sum;
}

// ---- symbols

static uint64_t encode_symbols(const void* data)
{
    const bits_messages* messages = data;
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, packet, sizeof packet);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            ph_entropy_write(&writer, &messages->model, (int)messages->value[i]);
        }
        const size_t size = ph_entropy_writer_finish(&writer);
        sum += digest(packet, size);
    }
    return sum;
}

static uint64_t decode_symbols(const void* data)
{
    const bits_messages* messages = data;
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, messages->bytes[p], messages->size[p]);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            sum += (uint64_t)ph_entropy_read(&reader, &messages->model);
        }
        sum += ph_entropy_reader_finish(&reader) == PH_OK ? 1 : 0;
    }
    return sum;
}

// ---- integer codings: each adapter below is inlined into a loop of its own

static inline uint64_t write_numbers(const bits_messages* messages,
                                     void (*put)(ph_bit_writer* writer, uint32_t value))
{
    uint8_t packet[PACKET_BYTES];
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_writer writer = ph_bit_writer_make(packet, sizeof packet);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            put(&writer, messages->value[i]);
        }
        const size_t size = ph_bit_writer_finish(&writer);
        sum += digest(packet, size);
    }
    return sum;
}

static inline uint64_t read_numbers(const bits_messages* messages,
                                    uint32_t (*get)(ph_bit_reader* reader))
{
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_reader reader = ph_bit_reader_make(messages->bytes[p], messages->size[p]);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            sum += get(&reader);
        }
        sum += ph_bit_reader_finish(&reader) == PH_OK ? 1 : 0;
    }
    return sum;
}

static inline void put_range(ph_bit_writer* writer, uint32_t value)
{
    ph_range_write(writer, BITS_RANGE_LO + (int64_t)value, BITS_RANGE_LO, BITS_RANGE_HI);
}

static inline uint32_t get_range(ph_bit_reader* reader)
{
    return (uint32_t)(ph_range_read(reader, BITS_RANGE_LO, BITS_RANGE_HI) - BITS_RANGE_LO);
}

static inline void put_enum(ph_bit_writer* writer, uint32_t value)
{
    ph_enum_write(writer, value, BITS_ENUM_COUNT);
}

static inline uint32_t get_enum(ph_bit_reader* reader)
{
    return ph_enum_read(reader, BITS_ENUM_COUNT);
}

static inline void put_varint(ph_bit_writer* writer, uint32_t value)
{
    ph_varint_write(writer, value);
}

static inline uint32_t get_varint(ph_bit_reader* reader)
{
    return (uint32_t)ph_varint_read(reader);
}

static inline void put_rice(ph_bit_writer* writer, uint32_t value)
{
    ph_rice_write(writer, value, BITS_RICE_K);
}

static inline uint32_t get_rice(ph_bit_reader* reader)
{
    return ph_rice_read(reader, BITS_RICE_K);
}

static uint64_t write_range(const void* data)
{
    return write_numbers(data, put_range);
}

static uint64_t read_range(const void* data)
{
    return read_numbers(data, get_range);
}

static uint64_t write_enum(const void* data)
{
    return write_numbers(data, put_enum);
}

static uint64_t read_enum(const void* data)
{
    return read_numbers(data, get_enum);
}

static uint64_t write_varint(const void* data)
{
    return write_numbers(data, put_varint);
}

static uint64_t read_varint(const void* data)
{
    return read_numbers(data, get_varint);
}

static uint64_t write_two_bit(const void* data)
{
    return write_numbers(data, ph_two_bit_write);
}

static uint64_t read_two_bit(const void* data)
{
    return read_numbers(data, ph_two_bit_read);
}

static uint64_t write_gamma(const void* data)
{
    return write_numbers(data, ph_gamma_write);
}

static uint64_t read_gamma(const void* data)
{
    return read_numbers(data, ph_gamma_read);
}

static uint64_t write_rice(const void* data)
{
    return write_numbers(data, put_rice);
}

static uint64_t read_rice(const void* data)
{
    return read_numbers(data, get_rice);
}

// ---- the table of measurements

static bits_messages fields;
static bits_messages symbols_16;
static bits_messages symbols_64;
static bits_messages ranges;
static bits_messages enums;
static bits_messages varints;
static bits_messages two_bits;
static bits_messages gammas;
static bits_messages rices;

enum {
    CASE_WRITE,
    CASE_UNCHECKED_WRITE,
    CASE_TEXTBOOK_WRITE,
    CASE_READ,
    CASE_UNCHECKED_READ,
    CASE_TEXTBOOK_READ,
    CASE_MEMCPY,
    CASE_SYMBOL_ENCODE,
    CASE_SYMBOL_DECODE,
    CASE_SYMBOL_64_ENCODE,
    CASE_SYMBOL_64_DECODE,
    CASE_INTEGERS, // the first of the integer codings
    CASE_COUNT = CASE_INTEGERS + 12
};

static bench_case cases[CASE_COUNT] = {
    [CASE_WRITE] = {"write_ns", "write a field", write_checked, &fields, 0, 0},
    [CASE_UNCHECKED_WRITE] = {"unchecked_write_ns", "  without any check", write_unchecked, &fields,
                              0, 0},
    [CASE_TEXTBOOK_WRITE] = {"textbook_write_ns", "  byte at a time", write_textbook, &fields, 0,
                             0},
    [CASE_READ] = {"read_ns", "read a field", read_checked, &fields, 0, 0},
    [CASE_UNCHECKED_READ] = {"unchecked_read_ns", "  without any check", read_unchecked, &fields, 0,
                             0},
    [CASE_TEXTBOOK_READ] = {"textbook_read_ns", "  byte at a time", read_textbook, &fields, 0, 0},
    [CASE_MEMCPY] = {"memcpy_ns", "memcpy of the same bytes", copy_bytes, &fields, 0, 0},
    [CASE_SYMBOL_ENCODE] = {"symbol_encode_ns", "encode one of 16 symbols", encode_symbols,
                            &symbols_16, 0, 0},
    [CASE_SYMBOL_DECODE] = {"symbol_decode_ns", "decode one of 16 symbols", decode_symbols,
                            &symbols_16, 0, 0},
    [CASE_SYMBOL_64_ENCODE] = {"symbol_64_encode_ns", "encode one of 64 symbols", encode_symbols,
                               &symbols_64, 0, 0},
    [CASE_SYMBOL_64_DECODE] = {"symbol_64_decode_ns", "decode one of 64 symbols", decode_symbols,
                               &symbols_64, 0, 0},
    [CASE_INTEGERS] = {"range_write_ns", "write range -500..500", write_range, &ranges, 0, 0},
    {"range_read_ns", "read range -500..500", read_range, &ranges, 0, 0},
    {"enum_write_ns", "write enum 12", write_enum, &enums, 0, 0},
    {"enum_read_ns", "read enum 12", read_enum, &enums, 0, 0},
    {"varint_write_ns", "write varint, 1..28 bits", write_varint, &varints, 0, 0},
    {"varint_read_ns", "read varint, 1..28 bits", read_varint, &varints, 0, 0},
    {"two_bit_write_ns", "write two_bit, 1..32 bits", write_two_bit, &two_bits, 0, 0},
    {"two_bit_read_ns", "read two_bit, 1..32 bits", read_two_bit, &two_bits, 0, 0},
    {"gamma_write_ns", "write gamma, mostly small", write_gamma, &gammas, 0, 0},
    {"gamma_read_ns", "read gamma, mostly small", read_gamma, &gammas, 0, 0},
    {"rice_write_ns", "write rice 3, mostly small", write_rice, &rices, 0, 0},
    {"rice_read_ns", "read rice 3, mostly small", read_rice, &rices, 0, 0},
};

// ---- making the packets, and proving that every loop does its work

static uint16_t table_16[16 + 1];
static uint16_t table_64[64 + 1];

// Keeps what a writing loop would write.
static void keep_numbers(bits_messages* messages,
                         void (*put)(ph_bit_writer* writer, uint32_t value))
{
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_writer writer = ph_bit_writer_make(messages->bytes[p], PACKET_BYTES);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            put(&writer, messages->value[i]);
        }
        messages->size[p] = ph_bit_writer_finish(&writer);
    }
}

static void make_numbers(bits_messages* messages,
                         uint32_t (*draw)(uint64_t next, const ph_model* model, uint32_t* cost),
                         void (*put)(ph_bit_writer* writer, uint32_t value))
{
    bits_messages_draw(messages, SEED, &(bits_source){.draw = draw});
    keep_numbers(messages, put);
}

static void make_fields(bits_messages* messages)
{
    bits_messages_draw_fields(messages, SEED);
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_bit_writer writer = ph_bit_writer_make(messages->bytes[p], PACKET_BYTES);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            ph_bits_write(&writer, messages->value[i], messages->width[i]);
        }
        messages->size[p] = ph_bit_writer_finish(&writer);
    }
}

static void make_symbols(bits_messages* messages, int count, uint16_t* table)
{
    bits_skewed_table(count, table);
    messages->model = (ph_model){.cumulative = table, .count = (uint16_t)count};
    bits_messages_draw(messages, SEED,
                       &(bits_source){.draw = bits_draw_symbol, .model = &messages->model});
    for (int p = 0; p < PACKET_COUNT; ++p) {
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, messages->bytes[p], PACKET_BYTES);
        for (int i = messages->first[p]; i < messages->first[p + 1]; ++i) {
            ph_entropy_write(&writer, &messages->model, (int)messages->value[i]);
        }
        messages->size[p] = ph_entropy_writer_finish(&writer);
    }
}

static int64_t total_bytes(const bits_messages* messages)
{
    int64_t total = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        total += (int64_t)messages->size[p];
    }
    return total;
}

static void make_all(void)
{
    make_fields(&fields);
    make_symbols(&symbols_16, 16, table_16);
    make_symbols(&symbols_64, 64, table_64);
    make_numbers(&ranges, bits_draw_range, put_range);
    make_numbers(&enums, bits_draw_enum, put_enum);
    make_numbers(&varints, bits_draw_varint, put_varint);
    make_numbers(&two_bits, bits_draw_two_bit, ph_two_bit_write);
    make_numbers(&gammas, bits_draw_gamma, ph_gamma_write);
    make_numbers(&rices, bits_draw_rice, put_rice);
    for (int i = 0; i < CASE_COUNT; ++i) {
        const bits_messages* messages = cases[i].data;
        cases[i].item_count = messages->first[PACKET_COUNT];
        cases[i].bits_each = 8.0 * (double)total_bytes(messages) / (double)cases[i].item_count;
    }
}

// Both yardsticks write the very bytes that ours does.
static bool yardsticks_agree(void)
{
    for (int p = 0; p < PACKET_COUNT; ++p) {
        uint8_t plain[PACKET_BYTES] = {0};
        uint8_t bare[PACKET_BYTES + UNCHECKED_SPARE_BYTES] = {0};
        textbook_stream stream = {.bytes = plain, .capacity_bits = 8 * PACKET_BYTES};
        unchecked_writer writer = {.next = bare};
        for (int i = fields.first[p]; i < fields.first[p + 1]; ++i) {
            textbook_write(&stream, fields.value[i], fields.width[i]);
            unchecked_write(&writer, fields.value[i], fields.width[i]);
        }
        if ((stream.head_bits + 7) / 8 != fields.size[p] ||
            unchecked_finish(&writer, bare) != fields.size[p] ||
            memcmp(plain, fields.bytes[p], fields.size[p]) != 0 ||
            memcmp(bare, fields.bytes[p], fields.size[p]) != 0) {
            return false;
        }
    }
    return true;
}

static uint64_t sum_of_values(const bits_messages* messages)
{
    uint64_t sum = 0;
    for (int i = 0; i < messages->first[PACKET_COUNT]; ++i) {
        sum += messages->value[i];
    }
    return sum;
}

static uint64_t sum_of_digests(const bits_messages* messages)
{
    uint64_t sum = 0;
    for (int p = 0; p < PACKET_COUNT; ++p) {
        sum += digest(messages->bytes[p], messages->size[p]);
    }
    return sum;
}

// Every writing loop must come to the digests of the packets, every reading loop to the sum of the
// values and one for each packet that ended as it should. NULL, or what is wrong.
static const char* find_fault(void)
{
    for (int i = 0; i < CASE_COUNT; ++i) {
        const bits_messages* messages = cases[i].data;
        const bool is_full = total_bytes(messages) > PACKET_COUNT * (PACKET_BYTES - 40);
        if (!is_full) { // a writer that has failed gives 0
            return cases[i].key;
        }
        const uint64_t sum = cases[i].run(messages);
        const bool is_write = sum == sum_of_digests(messages);
        const bool is_read = sum == sum_of_values(messages) + PACKET_COUNT;
        if (!is_write && !is_read) {
            return cases[i].key;
        }
    }
    return yardsticks_agree() ? NULL : "textbook_write_ns or unchecked_write_ns";
}

// ---- the report

static const bench_ratio ratios[] = {
    {"write_per_unchecked", "write / unchecked", CASE_WRITE, CASE_UNCHECKED_WRITE, 2.0, 1.5, false},
    {"read_per_unchecked", "read / unchecked", CASE_READ, CASE_UNCHECKED_READ, 2.0, 1.5, false},
    {"textbook_per_write", "textbook write / write", CASE_TEXTBOOK_WRITE, CASE_WRITE, 2.5, 8.0,
     true},
    {"textbook_per_read", "textbook read / read", CASE_TEXTBOOK_READ, CASE_READ, 2.5, 8.0, true},
    {"symbol_encode_per_unchecked_write", "encode / unchecked write", CASE_SYMBOL_ENCODE,
     CASE_UNCHECKED_WRITE, 6.0, 6.0, false},
    {"symbol_decode_per_unchecked_read", "decode / unchecked read", CASE_SYMBOL_DECODE,
     CASE_UNCHECKED_READ, 12.0, 12.0, false},
};

static void print_report(const bench_time* times, int rounds, bool is_json)
{
    const bench_report report = {
        .name = "bits",
        .rounds = rounds,
        .cases = cases,
        .times = times,
        .case_count = CASE_COUNT,
        .ratios = ratios,
        .ratio_count = (int)(sizeof ratios / sizeof ratios[0]),
    };
    if (is_json) {
        bench_report_print_json(&report);
        return;
    }
    printf("%d packets of %d bytes: fields of 1..32 bits, symbols, integers\n\n", PACKET_COUNT,
           PACKET_BYTES);
    bench_report_print_table(&report);
}

static void print_text(void)
{
    printf(
        "Writes and reads packets of %d bytes: fields of 1..32 bits with widths that no\n"
        "compiler can know, symbols of a skewed model, numbers for each integer coding. Next to\n"
        "them: the same fields without any check (the limit), byte at a time (the textbook),\n"
        "and memcpy of the same bytes.\n",
        PACKET_BYTES);
}

static const bench_about about = {
    .command = "pinhole bench bits",
    .summary = "ns per field, per symbol and per integer",
    .print_text = print_text,
    .example = "--json --rounds 20",
    .rounds_default = ROUNDS_DEFAULT,
};

int bench_bits(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    make_all();
    const char* fault = find_fault();
    if (fault != NULL) {
        fprintf(stderr, "pinhole bench bits: %s did not give the right bytes; no figure counts.\n",
                fault);
        return APP_EXIT_FAILURE;
    }
    bench_time times[CASE_COUNT];
    bench_measure(cases, CASE_COUNT, options.rounds, times);
    print_report(times, options.rounds, options.is_json);
    return APP_EXIT_OK;
}
