// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden messages, records and tickets between machines, byte for byte: written anew and compared with
// test/golden/bus/, which test/read_bus.py reads by docs/distributed.md alone. With PINHOLE_GOLDEN_WRITE in the
// environment the files are written instead; read the difference.

#include "support/bus_any.h"
#include "support/golden_hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_BY                                                                                    \
    "docs/distributed.md has the format; written by\n"                                             \
    "# test/test_bus_golden.c, read by test/read_bus.py.\n"

#define BYTES(text) (const uint8_t*)(text), sizeof(text) - 1
#define OF(text) .bytes = (const uint8_t*)(text), .size = sizeof(text) - 1

#define QUEUE "\x01\x00!\x05\x00hello"
#define SESSION                                                                                    \
    {                                                                                              \
        .client_id = 77, .generation = 1700000000000001, .key = 7, .front = "front-1",             \
        .sees = 0xFFFFFFFF, .audience = 4, .received = 12, .input = 340, .told = 5,                \
        .state = (const uint8_t*)"state", .state_size = 5, .queue_count = 2,                       \
        .queue = (const uint8_t*)QUEUE, .queue_size = sizeof QUEUE - 1                             \
    }
#define WHOSE .client_id = 77, .generation = 1700000000000001, .key = 7

static const uint8_t token[PH_TOKEN_SIZE] = "NETCODE 1.02";

static const bus_any messages[] = {
    {.kind = BUS_CELL,
     .cell = {3, 2, {-5, 12}, PH_CHANNEL_PUBLIC, false, 0, false, 1, BYTES("a batch")}},
    {.kind = BUS_CELL,
     .cell = {65534,
              UINT32_MAX,
              {INT32_MIN, INT32_MIN},
              PH_CHANNEL_OWN,
              true,
              65535,
              true,
              UINT64_MAX,
              BYTES("part")}},
    {.kind = BUS_CELL, .cell = {0, 1, {INT32_MAX, 0}, 32, false, 0, false, 40, NULL, 0}},
    {.kind = BUS_CELL, .cell = {0, 1, {0, -1}, 1, true, 0, true, 0, NULL, 0}},
    {.kind = BUS_SNAPSHOT, .snapshot = {{-1, 4}, 255, PH_REGION_NONE, "front-1"}},
    {.kind = BUS_SNAPSHOT,
     .snapshot = {{INT32_MIN + 1, INT32_MIN + 1}, PH_CHANNEL_OWN, 65534, "s"}},
    {.kind = BUS_BEAT, .beat = {1, 2, BUS_ROLE_OWNER, false, 300, 4000, 50, "sim_A"}},
    {.kind = BUS_BEAT, .beat = {1, 0, BUS_ROLE_STANDBY, false, 0, 0, 0, "B"}},
    {.kind = BUS_BEAT,
     .beat = {1, 9, BUS_ROLE_STANDBY, true, 7, 8, 9, "0123456789-ABCDEFGHIJKLMNOP_abc"}},
    {.kind = BUS_BEAT, .beat = {0, 1, BUS_ROLE_RELEASED, false, 1, 2, 3, "sim_A"}},
    {.kind = BUS_OFFER, .offer = {0, 5, 1, UINT64_MAX, 2, BYTES("entity"), false, {0}}},
    {.kind = BUS_OFFER, .offer = {65534, 1, 0, 7, UINT32_MAX - 1, BYTES("e"), true, SESSION}},
    {.kind = BUS_ACCEPT, .accept = {1, 0, 7, 2}},
    {.kind = BUS_FIND, .find = {7, "f"}},
    {.kind = BUS_FOUND, .found = {7, 3, 1, {-1, INT32_MIN, INT32_MAX}}},
    {.kind = BUS_MIRRORED, .mirrored = {3, 2, 99, false, "sim_B"}},
    {.kind = BUS_MIRRORED, .mirrored = {3, 0, 0, true, "sim_B"}},
    {.kind = BUS_FRONT_REPORT,
     .front_report = {"front-1",
                      {{192, 0, 2, 1}, 40000, PH_ADDRESS_IPV4},
                      900,
                      1000,
                      1700000000000000,
                      false,
                      {-250000, 250000},
                      120000}},
    {.kind = BUS_FRONT_REPORT,
     .front_report = {"front-2",
                      {{0x20, 1, 0xD, 0xB8, [15] = 1}, 1, PH_ADDRESS_IPV6},
                      0,
                      0,
                      0,
                      true,
                      {0, 0},
                      0}},
    {.kind = BUS_WISH, .wish = {77, 7, false, 2, "", "login", 1}},
    {.kind = BUS_WISH, .wish = {77, 7, true, 4, "front-1", "front-1", UINT32_MAX}},
    {.kind = BUS_GRANT, .grant = {1, 77, 0, NULL, "schlie\xC3\x9Ft"}},
    {.kind = BUS_GRANT, .grant = {2, 77, 1, token, ""}},
    {.kind = BUS_UP,
     .items = {.kind = BUS_UP, .region = 3, .name = "front-1", .count = 5},
     .item = {{.kind = BUS_ITEM_ATTACH, WHOSE, .is_anew = true},
              {.kind = BUS_ITEM_DATA, .client_id = 1, .first = 1},
              {.kind = BUS_ITEM_DATA,
               WHOSE,
               .first = 13,
               .count = 2,
               OF(QUEUE),
               .told = 5,
               .input = 341,
               .input_bytes = (const uint8_t*)"forward",
               .input_size = 7,
               .state = (const uint8_t*)"state",
               .state_size = 5},
              {.kind = BUS_ITEM_DATA, WHOSE, .first = 1, .input = 1},
              {.kind = BUS_ITEM_DETACH, WHOSE}}},
    {.kind = BUS_DOWN,
     .items = {.kind = BUS_DOWN, .region = 3, .epoch = 2, .name = "sim_A", .count = 8},
     .item = {{.kind = BUS_ITEM_ATTACHED,
               WHOSE,
               .region = 3,
               .sees = 1,
               .audience = 0x80000000,
               .place_mm = {1, -2, 3},
               .received = 12,
               .told = 5,
               .state = (const uint8_t*)"state",
               .state_size = 5},
              {.kind = BUS_ITEM_REFUSED, WHOSE, OF("taken over")},
              {.kind = BUS_ITEM_REFUSED, WHOSE},
              {.kind = BUS_ITEM_CONFIRM, WHOSE, .received = 14, .input = 341},
              {.kind = BUS_ITEM_TELL, WHOSE, .first = 6, OF("welcome")},
              {.kind = BUS_ITEM_MOVED, WHOSE, .region = 65534},
              {.kind = BUS_ITEM_OWN, WHOSE, .place_mm = {-1, 0, 1}},
              {.kind = BUS_ITEM_OWN, WHOSE, .place_mm = {0, 0, 0}, OF("own batch")}}},
    {.kind = BUS_MIRROR,
     .items = {.kind = BUS_MIRROR,
               .region = 3,
               .epoch = 2,
               .sequence = 1,
               .is_all = true,
               .is_last = true,
               .name = "sim_A",
               .count = 4},
     .item = {{.kind = BUS_ITEM_SESSION, .session = SESSION},
              {.kind = BUS_ITEM_SESSION},
              {.kind = BUS_ITEM_ENDED, WHOSE},
              {.kind = BUS_ITEM_ENTITY, .key = 7, OF("entity")}}},
    {.kind = BUS_MIRROR,
     .items = {.kind = BUS_MIRROR, .epoch = 1, .sequence = UINT64_MAX, .name = "sim_A"}},
};

enum { MESSAGES = sizeof messages / sizeof messages[0] };

static void messages_are_written_as_ever(void** state)
{
    (void)state;
    static char made[GOLDEN_HEX_FILE_MAX];
    int length = sprintf(made, "# Messages between machines, and what they say. " MADE_BY);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    for (int i = 0; i < MESSAGES; ++i) {
        bus_writer_clear(&writer);
        assert_true(bus_any_write(&writer, &messages[i]));
        char* text = bus_any_text(&messages[i]);
        assert_true((size_t)length + 2 * writer.size + strlen(text) + 8 < sizeof made);
        length += golden_add_hex(made + length, writer.bytes, writer.size);
        length += sprintf(made + length, " = %s\n", text);
        free(text);
    }
    bus_writer_destroy(&writer);
    golden_expect_file("test/golden/bus/messages.txt", made, length);
}

static void messages_are_read_as_they_were_written(void** state)
{
    (void)state;
    for (int i = 0; i < MESSAGES; ++i) {
        bus_writer writer;
        bus_writer_init(&writer, &(ph_allocator){0});
        assert_true(bus_any_write(&writer, &messages[i]));
        bus_any read;
        ph_bus_refusal refusal;
        assert_true(bus_any_read(&read, writer.bytes, writer.size, &refusal));
        char* meant = bus_any_text(&messages[i]);
        char* said = bus_any_text(&read);
        assert_string_equal(said, meant);
        free(meant);
        free(said);
        bus_writer_destroy(&writer);
    }
}

static const bus_ownership records[] = {
    {1, "sim_A"}, {UINT32_MAX, ""}, {2, "0123456789-ABCDEFGHIJKLMNOP_abc"}};
static const ph_ticket tickets[] = {
    {1700000000000001, 7, 3, false}, {UINT64_MAX, UINT64_MAX, PH_REGION_NONE, true}, {0}};

static void records_and_tickets_are_written_as_ever(void** state)
{
    (void)state;
    static char made[GOLDEN_HEX_FILE_MAX];
    int length = sprintf(made, "# Records of regions and tickets of players. " MADE_BY);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; ++i) {
        bus_writer writer;
        bus_writer_init(&writer, &(ph_allocator){0});
        assert_true(bus_write_ownership(&writer, &records[i]));
        length += golden_add_hex(made + length, writer.bytes, writer.size);
        length += sprintf(made + length, " = record epoch %u sim %s\n", records[i].epoch,
                          records[i].sim[0] != '\0' ? records[i].sim : "-");
        bus_writer_destroy(&writer);
    }
    for (size_t i = 0; i < sizeof tickets / sizeof tickets[0]; ++i) {
        uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
        ph_ticket_write(&tickets[i], user_data);
        length += golden_add_hex(made + length, user_data, sizeof user_data);
        length += sprintf(
            made + length, " = ticket generation %" PRIu64 " key %" PRIu64 " region %d spare %d\n",
            tickets[i].generation, tickets[i].key, tickets[i].region, tickets[i].is_spare);
    }
    golden_expect_file("test/golden/bus/records.txt", made, length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_written_as_ever),
        cmocka_unit_test(messages_are_read_as_they_were_written),
        cmocka_unit_test(records_and_tickets_are_written_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
