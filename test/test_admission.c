// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Payloads of the admission: golden ones, byte for byte, written anew and compared with
// test/golden/admission/payloads.txt, which test/read_admission.py reads by the document alone; and what
// the reader refuses. With PINHOLE_GOLDEN_WRITE in the environment the file is written instead; read the
// difference.

#include "support/test_support.h"
#include "support/golden_hex.h"

#include "net/admission_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "test/golden/admission/payloads.txt";
static const char heading[] = "# Payloads of the admission, and what they say. "
                              "docs/wire_admission.md has the format; written by\n"
                              "# test/test_admission.c, read by test/read_admission.py.\n";

enum { TEXT_MAX = GOLDEN_HEX_FILE_MAX, ROOM = PH_ADMISSION_SIZE_MAX + 8 };

#define FINGERPRINT UINT64_C(0x0123456789ABCDEF)

static const char schema_text[] = "class ship\n    place: position 16 step 16\n";
static const char sentence[] =
    "class ship, property hull: server range 0..200, client range 0..100";

static const uint8_t part[PH_ADMISSION_PART_MAX] = "a part of a token";

#define BYTES_OF(text) .bytes = (const uint8_t*)(text), .size = sizeof(text) - 1

static const ph_admission payloads[] = {
    {.kind = PH_ADMISSION_JOIN,
     .version = 1,
     .slots = 65535,
     .fingerprint = FINGERPRINT,
     .wire_versions = 0xE},
    {.kind = PH_ADMISSION_JOIN,
     .version = 1,
     .has_ground = true,
     .slots = 2,
     .fingerprint = 1,
     .wire_versions = UINT32_C(0x80000002)},
    {.kind = PH_ADMISSION_WELCOME,
     .version = 1,
     .slots = 500,
     .fingerprint = FINGERPRINT,
     .wire_version = 2,
     .tick_us = 100000,
     .schema_size = 1234},
    {.kind = PH_ADMISSION_WELCOME,
     .version = 1,
     .has_ground = true,
     .slots = 65535,
     .fingerprint = UINT64_MAX,
     .wire_version = 31,
     .tick_us = 10000000,
     .schema_size = PH_ADMISSION_SCHEMA_MAX},
    {.kind = PH_ADMISSION_ASK, .offset = 1000},
    {.kind = PH_ADMISSION_ASK, .offset = PH_ADMISSION_SCHEMA_MAX - 1},
    {.kind = PH_ADMISSION_PIECE, .offset = 0, BYTES_OF(schema_text)},
    {.kind = PH_ADMISSION_PIECE, .offset = 77, BYTES_OF("c")},
    {.kind = PH_ADMISSION_REFUSAL, .code = PH_REFUSAL_SCHEMA, BYTES_OF(sentence)},
    {.kind = PH_ADMISSION_REFUSAL, .code = PH_REFUSAL_SLOTS},
    {.kind = PH_ADMISSION_REFUSAL, .code = PH_REFUSAL_GAME, BYTES_OF("full")},
    {.kind = PH_ADMISSION_REFUSAL, .code = 255, BYTES_OF("schlie\xC3\x9Ft")},
    {.kind = PH_ADMISSION_JOIN, // 12
     .version = 1,
     .has_ground = true,
     .continues = true,
     .slots = 300,
     .fingerprint = FINGERPRINT,
     .wire_versions = 0xE},
    {.kind = PH_ADMISSION_WELCOME,
     .version = 1,
     .continues = true,
     .slots = 300,
     .fingerprint = FINGERPRINT,
     .wire_version = 3,
     .tick_us = 50000,
     .schema_size = 99},
    {.kind = PH_ADMISSION_SPARE, // 14
     .number = 1,
     .spare_size = 1155,
     .offset = 1024,
     .bytes = part,
     .size = 131},
    {.kind = PH_ADMISSION_SPARE,
     .number = 255,
     .asks_move = true,
     .spare_size = 2048,
     .offset = 1792,
     .bytes = part,
     .size = 256},
    {.kind = PH_ADMISSION_SPARE, .number = 7, .spare_size = 1, .bytes = part, .size = 1},
    {.kind = PH_ADMISSION_HAVE, .number = 1, .parts = 0x1F, .held = 2}, // 17
    {.kind = PH_ADMISSION_HAVE},
    {.kind = PH_ADMISSION_PROBE},
    {.kind = PH_ADMISSION_ANSWER},
    {.kind = PH_ADMISSION_SPARE, // 21
     .number = 2,
     .renews = true,
     .spare_size = 1155,
     .offset = 1024,
     .bytes = part,
     .size = 131},
};

enum { PAYLOADS = sizeof payloads / sizeof payloads[0] };

// ---- as text

static int describe(const ph_admission* it, char* text)
{
    int length = 0;
    switch (it->kind) {
    case PH_ADMISSION_JOIN:
        return sprintf(text,
                       "join version %u ground %d continues %d slots %u fingerprint %016llx reads "
                       "%08x",
                       it->version, it->has_ground, it->continues, it->slots,
                       (unsigned long long)it->fingerprint, it->wire_versions);
    case PH_ADMISSION_WELCOME:
        return sprintf(
            text,
            "welcome version %u ground %d continues %d slots %u fingerprint %016llx wire %u tick "
            "%u schema %u",
            it->version, it->has_ground, it->continues, it->slots,
            (unsigned long long)it->fingerprint, it->wire_version, it->tick_us, it->schema_size);
    case PH_ADMISSION_ASK:
        return sprintf(text, "ask %u", it->offset);
    case PH_ADMISSION_PIECE:
        length = sprintf(text, "piece %u bytes ", it->offset);
        return length + golden_add_hex(text + length, it->bytes, it->size);
    case PH_ADMISSION_REFUSAL:
        length = sprintf(text, "refusal %u bytes %s", it->code, it->size == 0 ? "-" : "");
        return length + golden_add_hex(text + length, it->bytes, it->size);
    case PH_ADMISSION_SPARE:
        length = sprintf(text, "spare %u move %d renews %d size %u offset %u bytes ", it->number,
                         it->asks_move, it->renews, it->spare_size, it->offset);
        return length + golden_add_hex(text + length, it->bytes, it->size);
    case PH_ADMISSION_HAVE:
        return sprintf(text, "have %u parts %02x held %u", it->number, it->parts, it->held);
    case PH_ADMISSION_PROBE:
        return sprintf(text, "probe");
    case PH_ADMISSION_ANSWER:
        return sprintf(text, "answer");
    }
    return length;
}

static int write_text(char* text)
{
    int length = sprintf(text, "%s", heading);
    for (int i = 0; i < PAYLOADS; ++i) {
        uint8_t bytes[ROOM];
        length += golden_add_hex(text + length, bytes, ph_admission_write(&payloads[i], bytes));
        length += sprintf(text + length, " = ");
        length += describe(&payloads[i], text + length);
        length += sprintf(text + length, "\n");
    }
    return length;
}

// ---- tests

static void payloads_are_written_as_ever(void** state)
{
    (void)state;
    static char made[TEXT_MAX];
    golden_expect_file(path, made, write_text(made));
}

static void payloads_are_read_as_they_were_written(void** state)
{
    (void)state;
    for (int i = 0; i < PAYLOADS; ++i) {
        uint8_t bytes[ROOM];
        char said[TEXT_MAX / 16];
        char meant[TEXT_MAX / 16];
        ph_admission read;
        const size_t size = ph_admission_write(&payloads[i], bytes);
        assert_true(ph_admission_is(bytes, size));
        assert_true(ph_admission_read(bytes, size, &read));
        describe(&read, said);
        describe(&payloads[i], meant);
        assert_string_equal(said, meant);
    }
}

// Every one that is shorter or longer, but for texts, which end where the payload ends.
static void another_size_is_refused(void** state)
{
    (void)state;
    for (int i = 0; i < PAYLOADS; ++i) {
        uint8_t bytes[ROOM] = {0};
        ph_admission read;
        const size_t size = ph_admission_write(&payloads[i], bytes);
        const bool is_text = payloads[i].bytes != NULL || payloads[i].kind == PH_ADMISSION_REFUSAL;
        for (size_t cut = 0; cut < size - (is_text ? payloads[i].size : 0); ++cut) {
            assert_false(ph_admission_read(bytes, cut, &read));
            assert_int_equal(read.kind, 0);
        }
        assert_int_equal(ph_admission_read(bytes, size + 1, &read), false); // also: a zero byte
    }
}

// Replaces bytes of a golden payload by others.
typedef struct spoiling {
    int payload;
    size_t at;
    const char* bytes;
    size_t size;
    bool is_allowed;
} spoiling;

#define SPOIL(payload, at, text, is_allowed)                                                       \
    {                                                                                              \
        payload, at, text, sizeof(text) - 1, is_allowed                                            \
    }

static const spoiling spoilings[] = {
    SPOIL(0, 0, "\x00", false),              // the mark
    SPOIL(0, 0, "\xE0", false),              //
    SPOIL(0, 1, "\x00", false),              // the kind
    SPOIL(0, 1, "\x06", false),              //
    SPOIL(0, 1, "\x0A", false),              //
    SPOIL(0, 1, "\x02", false),              // a join is no welcome
    SPOIL(0, 2, "\x00", false),              // version
    SPOIL(0, 2, "\x02", true),               //
    SPOIL(0, 3, "\x02", true),               // flags
    SPOIL(0, 3, "\x04", false),              //
    SPOIL(0, 4, "\x01\x00", false),          // slots
    SPOIL(0, 4, "\x02\x00", true),           //
    SPOIL(0, 14, "\x00\x00\x00\x00", false), // reads nothing
    SPOIL(0, 14, "\x03\x00\x00\x00", false), // version 0
    SPOIL(2, 4, "\x00\x00", false),          // slots
    SPOIL(2, 14, "\x00", false),             // wire version
    SPOIL(2, 14, "\x20", false),             //
    SPOIL(2, 15, "\xE7\x03\x00\x00", false), // tick: 999
    SPOIL(2, 15, "\xE8\x03\x00\x00", true),  // 1,000
    SPOIL(2, 15, "\x81\x96\x98\x00", false), // 10,000,001
    SPOIL(2, 19, "\x00\x00\x00\x00", false), // schema size
    SPOIL(2, 19, "\x01\x00\x00\x01", false), // 2^24 + 1
    SPOIL(4, 2, "\x00\x00\x00\x01", false),  // offset 2^24
    SPOIL(7, 2, "\x00\x00\x00\x01", false),  //
    SPOIL(7, 6, "\x00", false),              // no text
    SPOIL(7, 6, "\t", false),                //
    SPOIL(7, 6, "\x80", false),              //
    SPOIL(7, 6, "\n", true),                 //
    SPOIL(9, 2, "\x00", false),              // code
    SPOIL(10, 3, "\n", false),               // a line of its own
    SPOIL(10, 3, "\x1B", false),             // escape
    SPOIL(10, 3, "\x7F", false),             //
    SPOIL(10, 3, "\xC2\x85", false),         // U+0085
    SPOIL(10, 3, "\xC2\xA0", true),          //
    SPOIL(10, 3, "\xC0\xAF", false),         // no UTF-8
    SPOIL(10, 6, "\xC3", false),             // cut off
    SPOIL(14, 2, "\x00", false),             // number
    SPOIL(14, 3, "\x01", true),              // flags
    SPOIL(14, 3, "\x03", true),              //
    SPOIL(14, 3, "\x04", false),             //
    SPOIL(14, 4, "\x84\x04", false),         // size of the last part
    SPOIL(14, 4, "\x82\x04", false),         //
    SPOIL(14, 6, "\x01\x04", false),         // offset
    SPOIL(14, 6, "\x00\x03", false),         // of a part that is not the last
    SPOIL(15, 4, "\x01\x08", false),         // 2,049 bytes
    SPOIL(15, 6, "\x00\x08", false),         // behind the end
    SPOIL(16, 4, "\x00\x00", false),         // nothing
    SPOIL(18, 3, "\x01", false),             // parts of none
    SPOIL(18, 4, "\x04", true),              //
};

static void what_no_end_writes_is_refused(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spoilings / sizeof spoilings[0]; ++i) {
        const spoiling* it = &spoilings[i];
        uint8_t bytes[ROOM];
        ph_admission read;
        const size_t size = ph_admission_write(&payloads[it->payload], bytes);
        memcpy(bytes + it->at, it->bytes, it->size);
        if (ph_admission_read(bytes, size, &read) != it->is_allowed) {
            print_error("spoiling %d\n", (int)i);
            fail();
        }
    }
}

static void longest_texts_are_read_and_longer_ones_are_not(void** state)
{
    (void)state;
    uint8_t bytes[ROOM];
    ph_admission read;
    memset(bytes, 'a', sizeof bytes);
    memcpy(bytes, "\xF0\x04\x00\x00\x00\x00", 6);
    assert_true(ph_admission_read(bytes, 6 + PH_ADMISSION_PIECE_MAX, &read));
    assert_false(ph_admission_read(bytes, 7 + PH_ADMISSION_PIECE_MAX, &read));
    memcpy(bytes, "\xF0\x05\x01xyz", 6);
    assert_true(ph_admission_read(bytes, 3 + PH_REFUSAL_TEXT_MAX, &read));
    assert_false(ph_admission_read(bytes, 4 + PH_REFUSAL_TEXT_MAX, &read));
}

static void any_text_becomes_a_sentence(void** state)
{
    (void)state;
    uint8_t bytes[PH_REFUSAL_TEXT_MAX];
    assert_int_equal(ph_admission_sentence("full", bytes), 4);
    assert_memory_equal(bytes, "full", 4);
    assert_int_equal(ph_admission_sentence("a\nb", bytes), 3);
    assert_memory_equal(bytes, "a?b", 3);
    assert_int_equal(ph_admission_sentence("", bytes), 0);
    assert_int_equal(ph_admission_sentence("\xFF\xFF\xFF\xFF\xFF", bytes), 0);
    char long_text[2 * PH_REFUSAL_TEXT_MAX];
    for (size_t i = 0; i + 2 < sizeof long_text; i += 3) {
        memcpy(long_text + i, "\xE2\x82\xAC", 3); // 3 x 85 = 255
    }
    long_text[sizeof long_text - 1] = '\0';
    assert_int_equal(ph_admission_sentence(long_text, bytes), 255);
    assert_int_equal(ph_admission_sentence(long_text + 1, bytes), 0); // begins within a character
    long_text[0] = long_text[1] = long_text[2] = 'x';
    assert_int_equal(ph_admission_sentence(long_text + 1, bytes), 254); // 2 + 3 x 84
}

static void reasons_have_names(void** state)
{
    (void)state;
    assert_string_equal(ph_refusal_name(PH_REFUSAL_SCHEMA), "schema");
    assert_string_equal(ph_refusal_name(PH_REFUSAL_TAKEN_OVER), "taken_over");
    assert_string_equal(ph_refusal_name(PH_REFUSAL_COUNT), "unknown");
    assert_int_equal(ph_admission_refusal(PH_REFUSAL_SLOTS), PH_REFUSAL_SLOTS);
    assert_int_equal(ph_admission_refusal(200), PH_REFUSAL_GAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads_are_written_as_ever),
        cmocka_unit_test(payloads_are_read_as_they_were_written),
        cmocka_unit_test(another_size_is_refused),
        cmocka_unit_test(what_no_end_writes_is_refused),
        cmocka_unit_test(longest_texts_are_read_and_longer_ones_are_not),
        cmocka_unit_test(any_text_becomes_a_sentence),
        cmocka_unit_test(reasons_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
