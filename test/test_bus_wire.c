// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages between machines: what is written is read, whatever it is; what no machine of ours writes is refused, for
// the right reason. Subjects, names, records, tickets and the map of regions beside them.

#include "support/bus_any.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 2026 };

// Exactly as long as the message, so that a reader that goes too far is noticed.
static uint8_t* copy_of(const uint8_t* bytes, size_t size)
{
    uint8_t* copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static bus_writer write_one(const bus_any* any)
{
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_any_write(&writer, any));
    return writer;
}

// ---- round trips

static void expect_same(const bus_any* meant)
{
    bus_writer writer = write_one(meant);
    uint8_t* bytes = copy_of(writer.bytes, writer.size);
    bus_any read;
    ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
    assert_true(bus_any_read(&read, bytes, writer.size, &refusal));
    assert_int_equal(refusal, PH_BUS_REFUSAL_COUNT);
    char* meant_text = bus_any_text(meant);
    char* read_text = bus_any_text(&read);
    assert_string_equal(read_text, meant_text);
    bus_writer again = write_one(&read);
    assert_int_equal(again.size, writer.size);
    assert_memory_equal(again.bytes, writer.bytes, writer.size);
    bus_writer_destroy(&again);
    bus_writer_destroy(&writer);
    free(meant_text);
    free(read_text);
    free(bytes);
}

static void any_message_comes_back_as_it_was(void** state)
{
    (void)state;
    bus_draw draw = {.rng = {.state = SEED}, .pool = malloc(BUS_DRAW_POOL)};
    assert_non_null(draw.pool);
    for (draw.round = 0; draw.round < 60; ++draw.round) {
        for (int kind = 1; kind < BUS_KIND_COUNT; ++kind) {
            bus_any any;
            bus_any_draw(&draw, (bus_kind)kind, &any);
            expect_same(&any);
        }
    }
    free(draw.pool);
}

// The ids of a session are those of its item, and what a kind does not have is 0.
static void items_have_what_their_kind_has(void** state)
{
    (void)state;
    bus_any any = {
        .kind = BUS_MIRROR,
        .items = {.kind = BUS_MIRROR, .epoch = 1, .sequence = 1, .name = "a", .count = 1},
        .item = {{.kind = BUS_ITEM_SESSION,
                  .session = {.client_id = 1, .generation = 2, .key = 3, .told = 4}}}};
    bus_writer writer = write_one(&any);
    bus_any read;
    ph_bus_refusal refusal;
    assert_true(bus_any_read(&read, writer.bytes, writer.size, &refusal));
    assert_int_equal(read.item[0].client_id, 1);
    assert_int_equal(read.item[0].generation, 2);
    assert_int_equal(read.item[0].key, 3);
    assert_int_equal(read.item[0].told, 0);
    assert_null(read.item[0].bytes);
    assert_null(read.item[0].session.state);
    bus_writer_destroy(&writer);
}

// ---- sizes

enum { CELL_HEAD = 28 };

static bool is_zero(const void* memory, size_t size)
{
    const uint8_t* bytes = memory;
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

// What is cut off is refused, and nothing of it handed out. A batch goes up to the end of its CELL.
static void expect_cuts_refused(const bus_any* any)
{
    bus_writer writer = write_one(any);
    const bool is_cell = any->kind == BUS_CELL;
    const size_t end = is_cell ? CELL_HEAD : writer.size;
    const size_t step = end > 4000 ? end / 1000 : 1;
    for (size_t cut = 0; cut < end; cut += step) {
        uint8_t* bytes = copy_of(writer.bytes, cut);
        bus_any read;
        ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
        assert_false(bus_any_read(&read, bytes, cut, &refusal));
        assert_true(refusal == PH_BUS_REFUSAL_SIZE || refusal == PH_BUS_REFUSAL_END);
        read.kind = (bus_kind)0;
        assert_true(is_zero(&read, sizeof read));
        free(bytes);
    }
    if (!is_cell) {
        uint8_t* longer = calloc(writer.size + 1, 1);
        assert_non_null(longer);
        memcpy(longer, writer.bytes, writer.size);
        bus_any read;
        ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
        assert_false(bus_any_read(&read, longer, writer.size + 1, &refusal));
        assert_int_equal(refusal, PH_BUS_REFUSAL_SIZE);
        free(longer);
    }
    bus_writer_destroy(&writer);
}

static void cut_off_and_longer_messages_are_refused(void** state)
{
    (void)state;
    bus_draw draw = {.rng = {.state = SEED}, .pool = malloc(BUS_DRAW_POOL)};
    assert_non_null(draw.pool);
    for (draw.round = 0; draw.round < 12; ++draw.round) {
        for (int kind = 1; kind < BUS_KIND_COUNT; ++kind) {
            bus_any any;
            bus_any_draw(&draw, (bus_kind)kind, &any);
            expect_cuts_refused(&any);
        }
    }
    free(draw.pool);
}

static void nothing_is_longer_than_a_message_may_be(void** state)
{
    (void)state;
    uint8_t* batch = calloc(BUS_MESSAGE_MAX, 1);
    assert_non_null(batch);
    bus_any any = {.kind = BUS_CELL, .cell = {.epoch = 1, .sequence = 1, .batch = batch}};
    any.cell.batch_size = BUS_MESSAGE_MAX - CELL_HEAD;
    expect_same(&any);
    bus_writer writer = write_one(&any);
    assert_int_equal(writer.size, BUS_MESSAGE_MAX);
    bus_writer_clear(&writer);
    ++any.cell.batch_size;
    assert_false(bus_any_write(&writer, &any));
    assert_true(writer.is_short);
    assert_int_equal(writer.size, 0);
    any.cell.batch_size = 1;
    assert_false(bus_any_write(&writer, &any)); // until it is cleared
    assert_int_equal(writer.size, 0);
    bus_writer_clear(&writer);
    assert_true(bus_any_write(&writer, &any));

    uint8_t* longer = calloc(BUS_MESSAGE_MAX + 1, 1);
    assert_non_null(longer);
    memcpy(longer, writer.bytes, writer.size);
    bus_cell read;
    ph_bus_refusal refusal;
    assert_true(bus_read_cell(&read, longer, BUS_MESSAGE_MAX, &refusal));
    assert_false(bus_read_cell(&read, longer, BUS_MESSAGE_MAX + 1, &refusal));
    assert_int_equal(refusal, PH_BUS_REFUSAL_SIZE);
    bus_writer_destroy(&writer);
    free(longer);
    free(batch);
}

// ---- refusals

// Messages that are spoilt: bytes are replaced, and the message is refused for a reason, or still allowed.
enum { ALLOWED = PH_BUS_REFUSAL_COUNT };

typedef struct spoiling {
    int message;
    size_t at;
    const char* bytes;
    size_t size;
    int reason;
} spoiling;

#define SPOIL(message, at, text, reason)                                                           \
    {                                                                                              \
        message, at, text, sizeof(text) - 1, reason                                                \
    }
#define FIELD PH_BUS_REFUSAL_FIELD
#define DATA(text) .bytes = (const uint8_t*)(text), .size = sizeof(text) - 1

static const bus_any good[] = {
    {.kind = BUS_CELL,
     .cell = {.epoch = 1, .sequence = 1, .batch = (const uint8_t*)"b", .batch_size = 1}}, // 0
    {.kind = BUS_SNAPSHOT, .snapshot = {{INT32_MIN + 1, INT32_MIN + 1}, 0, 0, "ab"}},
    {.kind = BUS_BEAT, .beat = {.epoch = 1, .sim = "ab"}},
    {.kind = BUS_OFFER, // 3: batch at 27, session at 28, its front at 52
     .offer = {.from_epoch = 1,
               .to_region = 1,
               .count = 1,
               .batch = (const uint8_t*)"b",
               .batch_size = 1,
               .has_session = true,
               .session = {.told = UINT64_MAX - 1,
                           .queue_count = 1,
                           .queue = (const uint8_t*)"\x01\x00q",
                           .queue_size = 3}}},
    {.kind = BUS_ACCEPT, .accept = {0, 1, 0, 1}},
    {.kind = BUS_FIND, .find = {0, "abc"}}, // 5
    {.kind = BUS_FOUND, .found = {.epoch = 1}},
    {.kind = BUS_MIRRORED, .mirrored = {.sim = "a"}},
    {.kind = BUS_FRONT_REPORT, // 8
     .front_report = {.front = "a", .address = {.bytes = {[9] = 1, 255, 255}, .kind = 2}}},
    {.kind = BUS_WISH, .wish = {.token_count = 1, .reply_to = "a"}},
    {.kind = BUS_GRANT, .grant = {.text = "abc"}}, // 10
    {.kind = BUS_UP,                               // 11: items at 8; told at 33
     .items = {.kind = BUS_UP, .name = "a", .count = 1},
     .item = {{.kind = BUS_ITEM_DATA, .count = 1, .first = UINT64_MAX, DATA("\x01\x00m")}}},
    {.kind = BUS_UP,
     .items = {.kind = BUS_UP, .name = "a", .count = 1},
     .item = {{.kind = BUS_ITEM_ATTACH}}},
    {.kind = BUS_DOWN, // 13: items at 12; text at 37
     .items = {.kind = BUS_DOWN, .epoch = 1, .name = "a", .count = 1},
     .item = {{.kind = BUS_ITEM_REFUSED, DATA("abc")}}},
    {.kind = BUS_DOWN,
     .items = {.kind = BUS_DOWN, .epoch = 1, .name = "a", .count = 1},
     .item = {{.kind = BUS_ITEM_TELL, .first = 1, DATA("m")}}},
    {.kind = BUS_MIRROR, // 15
     .items = {.kind = BUS_MIRROR, .epoch = 1, .sequence = 1, .name = "a", .count = 1},
     .item = {{.kind = BUS_ITEM_ENDED}}},
    {.kind = BUS_DOWN, // 16
     .items = {.kind = BUS_DOWN, .epoch = 1, .name = "a", .count = 2},
     .item = {{.kind = BUS_ITEM_ATTACHED}, {.kind = BUS_ITEM_MOVED}}},
};

static const spoiling spoilings[] = {
    SPOIL(0, 0, "\x00", PH_BUS_REFUSAL_VERSION),
    SPOIL(0, 0, "\x02", PH_BUS_REFUSAL_VERSION),
    SPOIL(0, 1, "\x00", PH_BUS_REFUSAL_KIND),
    SPOIL(0, 1, "\x0F", PH_BUS_REFUSAL_KIND),
    SPOIL(0, 2, "\xFE\xFF", ALLOWED), // region
    SPOIL(0, 2, "\xFF\xFF", FIELD),
    SPOIL(0, 4, "\x00", FIELD), // epoch
    SPOIL(0, 16, "\x21", ALLOWED),
    SPOIL(0, 16, "\x22", FIELD), // channel
    SPOIL(0, 16, "\xFF", FIELD),
    SPOIL(0, 17, "\x01", ALLOWED),
    SPOIL(0, 17, "\x02", FIELD), // the last part of nothing
    SPOIL(0, 17, "\x04", FIELD),
    SPOIL(0, 17, "\x80", FIELD),
    SPOIL(0, 18, "\x01", FIELD), // a part of changes
    SPOIL(0, 17, "\x01\x01", ALLOWED),
    SPOIL(0, 20, "\x00", FIELD),                           // changes count from 1
    SPOIL(0, 17, "\x01\x00\x00\x00", ALLOWED),             // a snapshot does not
    SPOIL(1, 10, "\x21", ALLOWED),                         // channel
    SPOIL(1, 10, "\x22", FIELD),                           //
    SPOIL(1, 10, "\xFE", FIELD),                           //
    SPOIL(1, 10, "\xFF", ALLOWED),                         // all of them
    SPOIL(1, 11, "\xFF\xFF", FIELD),                       // every cell of no region
    SPOIL(1, 2, "\x02", ALLOWED),                          // of one cell
    SPOIL(1, 13, "\x00", FIELD),                           // no name
    SPOIL(1, 13, "\x20", FIELD),                           // longer than a name may be
    SPOIL(1, 13, "\x1F", PH_BUS_REFUSAL_SIZE),             // longer than the message
    SPOIL(1, 13, "\x01", PH_BUS_REFUSAL_SIZE),             // a byte is left over
    SPOIL(2, 4, "\x00", FIELD),                            // only a standby may not know the epoch
    SPOIL(2, 4, "\x00\x00\x00\x00\x01", ALLOWED),          //
    SPOIL(2, 8, "\x02", ALLOWED),                          // role
    SPOIL(2, 8, "\x03", FIELD),                            //
    SPOIL(2, 9, "\x01", FIELD),                            // only a standby has all
    SPOIL(2, 8, "\x01\x01", ALLOWED),                      //
    SPOIL(2, 8, "\x01\x02", FIELD),                        // a bool
    SPOIL(2, 2, "\xFF\xFF", FIELD),                        // region
    SPOIL(3, 2, "\x01", FIELD),                            // to itself
    SPOIL(3, 2, "\xFF\xFF", FIELD),                        //
    SPOIL(3, 4, "\x00", FIELD),                            // epoch
    SPOIL(3, 8, "\xFF\xFF", FIELD),                        //
    SPOIL(3, 10, "\x01", FIELD),                           // the session of another
    SPOIL(3, 18, "\x00", FIELD),                           // count
    SPOIL(3, 18, "\xFF\xFF\xFF\xFF", FIELD),               // no owner comes behind it
    SPOIL(3, 18, "\xFE\xFF\xFF\xFF", ALLOWED),             //
    SPOIL(3, 22, "\x02", FIELD),                           // has a session
    SPOIL(3, 22, "\x00", PH_BUS_REFUSAL_SIZE),             // the session is left over
    SPOIL(3, 23, "\x00", FIELD),                           // no batch
    SPOIL(3, 23, "\xFF\xFF\xFF\xFF", FIELD),               // longer than any message
    SPOIL(3, 23, "\x00\x00\x01\x00", PH_BUS_REFUSAL_SIZE), // longer than this one
    SPOIL(3, 52, "\x20", FIELD),                           // front
    SPOIL(3, 52 + 21, "\xFF", FIELD),                      // told: the queue's numbers wrap
    SPOIL(3, 52 + 29, "\xFF\xFF\xFF\xFF", FIELD),          // state
    SPOIL(3, 52 + 29, "\xFF", PH_BUS_REFUSAL_SIZE),        //
    SPOIL(3, 52 + 33, "\x00", PH_BUS_REFUSAL_SIZE),        // queue: left over
    SPOIL(3, 52 + 35, "\x00", FIELD),                      // an empty message
    SPOIL(3, 52 + 35, "\x01\x04", FIELD),                  // 1,025
    SPOIL(3, 52 + 35, "\x00\x04", PH_BUS_REFUSAL_SIZE),    // 1,024, but there is less
    SPOIL(4, 2, "\x01", FIELD),                            // to itself
    SPOIL(4, 2, "\xFF\xFF", FIELD),                        //
    SPOIL(4, 4, "\xFF\xFF", FIELD),                        //
    SPOIL(4, 14, "\x00", FIELD),                           // count
    SPOIL(5, 11, "a-Z", ALLOWED),                          // names
    SPOIL(5, 11, "_09", ALLOWED),                          //
    SPOIL(5, 11, "a.b", FIELD),                            //
    SPOIL(5, 11, "ab\x00", FIELD),                         //
    SPOIL(5, 11,
          "a\x00"
          "b",
          FIELD),                                             //
    SPOIL(5, 11, "\x00\x00\x00", FIELD),                      //
    SPOIL(5, 11, "a b", FIELD),                               //
    SPOIL(5, 11, "ab*", FIELD),                               //
    SPOIL(5, 11, ">bc", FIELD),                               //
    SPOIL(5, 11, "@[`", FIELD),                               //
    SPOIL(5, 11, "\xC3\x9Fs", FIELD),                         //
    SPOIL(6, 10, "\xFF\xFF", FIELD),                          // region
    SPOIL(6, 12, "\x00", FIELD),                              // epoch
    SPOIL(7, 2, "\xFF\xFF", FIELD),                           //
    SPOIL(7, 16, "\x02", FIELD),                              // wants all
    SPOIL(8, 4, "\x00", FIELD),                               // kind of an address
    SPOIL(8, 4, "\x03", FIELD),                               //
    SPOIL(8, 4, "\x01", PH_BUS_REFUSAL_SIZE),                 //
    SPOIL(8, 14, "\x00\xFF\xFF", FIELD),                      // ::ffff:0:0
    SPOIL(8, 14, "\x00\xFF\xFE", ALLOWED),                    //
    SPOIL(8, 39, "\x02", FIELD),                              // is emptying
    SPOIL(9, 22, "\x02", FIELD),                              // is spare
    SPOIL(9, 23, "\x00", FIELD),                              // tokens
    SPOIL(9, 23, "\x04", ALLOWED),                            //
    SPOIL(9, 23, "\x05", FIELD),                              //
    SPOIL(9, 24, "\x20", FIELD),                              // not front
    SPOIL(10, 14, "\x05", FIELD),                             // tokens
    SPOIL(10, 14, "\x01", PH_BUS_REFUSAL_SIZE),               //
    SPOIL(10, 15, "\x80", FIELD),                             // text
    SPOIL(10, 15, "\x7F", PH_BUS_REFUSAL_SIZE),               //
    SPOIL(10, 16, "a\n", FIELD),                              //
    SPOIL(10, 16, "a\x00", FIELD),                            //
    SPOIL(10, 16, "\xC3\x9F", ALLOWED),                       //
    SPOIL(10, 16, "\xC2\x85", FIELD),                         //
    SPOIL(10, 16, "\xC3\x28", FIELD),                         //
    SPOIL(11, 2, "\x00", PH_BUS_REFUSAL_SIZE),                // fewer items than there are
    SPOIL(11, 2, "\x02", PH_BUS_REFUSAL_END),                 // more
    SPOIL(11, 2, "\xFF\xFF", PH_BUS_REFUSAL_END),             //
    SPOIL(11, 4, "\xFF\xFF", FIELD),                          // region
    SPOIL(11, 6, "\x00", FIELD),                              // name
    SPOIL(11, 8, "\x00", PH_BUS_REFUSAL_KIND),                // items
    SPOIL(11, 8, "\x04", PH_BUS_REFUSAL_KIND),                //
    SPOIL(11, 8, "\x10", PH_BUS_REFUSAL_KIND),                // of another message
    SPOIL(11, 8, "\x20", PH_BUS_REFUSAL_KIND),                //
    SPOIL(11, 41, "\x00", PH_BUS_REFUSAL_SIZE),               // no messages: bytes are left over
    SPOIL(11, 43, "\x00\x00\x00\x00\x00\x00\x00\x00", FIELD), // the first is 1
    SPOIL(11, 41, "\x02", FIELD),                             // numbers wrap
    SPOIL(11, 51, "\x00", FIELD),                             // an empty message
    SPOIL(11, 51, "\x01\x04", FIELD),                         //
    SPOIL(11, 51, "\x00\x04", PH_BUS_REFUSAL_END),            //
    SPOIL(11, 54, "\x01", PH_BUS_REFUSAL_END),                // input: the state is cut off
    SPOIL(11, 58, "\x01", PH_BUS_REFUSAL_END),                // state
    SPOIL(11, 58, "\x01\x00\x20", FIELD),                     //
    SPOIL(12, 33, "\x02", FIELD),                             // anew
    SPOIL(12, 8, "\x03", PH_BUS_REFUSAL_SIZE),                // a detach is shorter
    SPOIL(13, 6, "\x00", FIELD),                              // epoch
    SPOIL(13, 12, "\x01", PH_BUS_REFUSAL_KIND),               //
    SPOIL(13, 12, "\x16", PH_BUS_REFUSAL_KIND),               //
    SPOIL(13, 37, "\xFF", PH_BUS_REFUSAL_END),                // text
    SPOIL(13, 38, "\x1B", FIELD),                             //
    SPOIL(13, 38, "\x7F", FIELD),                             //
    SPOIL(14, 37, "\x00", FIELD),                             // number
    SPOIL(14, 45, "\x00", FIELD),                             // an empty message
    SPOIL(14, 45, "\x01\x04", FIELD),                         //
    SPOIL(15, 6, "\x00", FIELD),                              // epoch
    SPOIL(15, 10, "\x00", FIELD),                             // sequence
    SPOIL(15, 18, "\x01", ALLOWED),                           // flags
    SPOIL(15, 18, "\x02", FIELD),                             //
    SPOIL(15, 18, "\x03", ALLOWED),                           //
    SPOIL(15, 18, "\x04", FIELD),                             //
    SPOIL(15, 21, "\x23", PH_BUS_REFUSAL_KIND),               //
    SPOIL(15, 21, "\x20", PH_BUS_REFUSAL_END),                // a session is longer
    SPOIL(16, 37, "\xFF\xFF", FIELD),                         // region of an ATTACHED
    SPOIL(16, 12 + 67 + 25, "\xFE\xFF", ALLOWED),             // of a MOVED
    SPOIL(16, 12 + 67 + 25, "\xFF\xFF", FIELD),               //
};

static void what_no_machine_writes_is_refused(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spoilings / sizeof spoilings[0]; ++i) {
        const spoiling* it = &spoilings[i];
        bus_writer writer = write_one(&good[it->message]);
        bus_any read;
        ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
        assert_true(bus_any_read(&read, writer.bytes, writer.size, &refusal));
        assert_true(it->at + it->size <= writer.size);
        memcpy(writer.bytes + it->at, it->bytes, it->size);
        const bool is_read = bus_any_read(&read, writer.bytes, writer.size, &refusal);
        if (is_read != (it->reason == ALLOWED) || (int)refusal != it->reason) {
            fail_msg("message %d at %d: %s, not %s", it->message, (int)it->at,
                     is_read ? "allowed" : ph_bus_refusal_name(refusal),
                     it->reason == ALLOWED ? "allowed"
                                           : ph_bus_refusal_name((ph_bus_refusal)it->reason));
        }
        bus_writer_destroy(&writer);
    }
}

static void a_message_of_another_kind_is_refused(void** state)
{
    (void)state;
    bus_writer writer = write_one(&good[5]);
    ph_bus_refusal refusal = PH_BUS_REFUSAL_COUNT;
    bus_accept accept;
    assert_false(bus_read_accept(&accept, writer.bytes, writer.size, &refusal));
    assert_int_equal(refusal, PH_BUS_REFUSAL_KIND);
    bus_items items;
    refusal = PH_BUS_REFUSAL_COUNT;
    assert_false(bus_read_items(&items, writer.bytes, writer.size, &refusal));
    assert_int_equal(refusal, PH_BUS_REFUSAL_KIND);
    const uint8_t beyond[] = {BUS_VERSION, BUS_KIND_COUNT};
    bus_kind kind;
    refusal = PH_BUS_REFUSAL_COUNT;
    assert_false(bus_read_kind(beyond, sizeof beyond, &kind, &refusal));
    assert_int_equal(refusal, PH_BUS_REFUSAL_KIND);
    bus_writer_destroy(&writer);
}

// Names are for metrics: they stay.
static void refusals_have_names(void** state)
{
    (void)state;
    static const char* const names[] = {"size", "version", "kind",  "field",
                                        "end",  "subject", "batch", "unasked"};
    assert_int_equal(PH_BUS_REFUSAL_COUNT, sizeof names / sizeof names[0]);
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        assert_string_equal(ph_bus_refusal_name((ph_bus_refusal)i), names[i]);
    }
    assert_string_equal(ph_bus_refusal_name(PH_BUS_REFUSAL_COUNT), "unknown");
}

// ---- the writer

typedef struct scarce {
    int left;    // allocations
    size_t held; // bytes
} scarce;

static void* scarce_allocate(void* context, size_t size)
{
    scarce* it = context;
    if (it->left == 0) {
        return NULL;
    }
    --it->left;
    it->held += size;
    return malloc(size);
}

static void scarce_release(void* context, void* memory, size_t size)
{
    ((scarce*)context)->held -= size;
    free(memory);
}

static void without_memory_nothing_is_written(void** state)
{
    (void)state;
    static uint8_t state_bytes[300000];
    bus_any any = good[12];
    any.items.count = 2;
    any.item[1] = (bus_item){
        .kind = BUS_ITEM_DATA, .first = 1, .state = state_bytes, .state_size = sizeof state_bytes};
    for (int left = 0;; ++left) {
        scarce memory = {.left = left};
        const ph_allocator allocator = {scarce_allocate, scarce_release, &memory};
        bus_writer writer;
        bus_writer_init(&writer, &allocator);
        const bool is_written = bus_any_write(&writer, &any);
        if (!is_written && left > 0) { // the first item stays, and can be sent
            bus_any read;
            ph_bus_refusal refusal;
            assert_true(bus_items_end(&writer, 1));
            assert_true(bus_any_read(&read, writer.bytes, writer.size, &refusal));
            assert_int_equal(read.items.count, 1);
        }
        assert_int_equal(writer.is_short, left == 0);
        bus_writer_destroy(&writer);
        assert_int_equal(memory.held, 0);
        if (is_written) {
            assert_true(left >= 2);
            return;
        }
    }
}

// The item that has no room is not written, and goes into the next message.
static void items_fill_a_message(void** state)
{
    (void)state;
    static uint8_t state_bytes[400000];
    const bus_item item = {
        .kind = BUS_ITEM_DATA, .first = 1, .state = state_bytes, .state_size = sizeof state_bytes};
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_items_begin(&writer, &good[12].items);
    assert_true(bus_items_add(&writer, &item));
    assert_true(bus_items_add(&writer, &item));
    const size_t full = writer.size;
    assert_false(bus_items_add(&writer, &item));
    assert_int_equal(writer.size, full);
    assert_false(writer.is_short);
    assert_true(bus_items_add(&writer, &good[12].item[0])); // a smaller one has room
    assert_true(bus_items_end(&writer, 3));
    bus_any read;
    ph_bus_refusal refusal;
    assert_true(bus_any_read(&read, writer.bytes, writer.size, &refusal));
    assert_int_equal(read.items.count, 3);
    bus_writer_destroy(&writer);
}

// Messages may stand behind each other in a writer.
static void messages_are_written_behind_others(void** state)
{
    (void)state;
    bus_writer writer = write_one(&good[5]);
    const size_t first = writer.size;
    assert_true(bus_any_write(&writer, &good[11]));
    bus_any read;
    ph_bus_refusal refusal;
    assert_true(bus_any_read(&read, writer.bytes, first, &refusal));
    assert_int_equal(read.kind, BUS_FIND);
    assert_true(bus_any_read(&read, writer.bytes + first, writer.size - first, &refusal));
    assert_int_equal(read.items.count, 1);
    bus_writer_destroy(&writer);
}

static void as_many_items_as_can_be_counted(void** state)
{
    (void)state;
    const bus_item item = {.kind = BUS_ITEM_DETACH};
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_items_begin(&writer, &good[12].items);
    int count = 0;
    while (bus_items_add(&writer, &item)) {
        ++count;
    }
    assert_int_equal(count, (BUS_MESSAGE_MAX - 8) / 25);
    assert_true(bus_items_end(&writer, (uint16_t)count));
    bus_items head;
    ph_bus_refusal refusal;
    assert_true(bus_read_items(&head, writer.bytes, writer.size, &refusal));
    assert_int_equal(head.count, count);
    bus_writer_destroy(&writer);
}

// Of bytes that nobody has checked: it ends where they make no sense.
static void messages_end_where_they_make_no_sense(void** state)
{
    (void)state;
    static const char* const wrong[] = {"\x01\x00", "\x00\x00", "\x02\x00a", "\x01"};
    static const size_t sizes[] = {2, 2, 3, 1};
    for (int i = 0; i < 4; ++i) {
        uint8_t* copy = copy_of((const uint8_t*)wrong[i], sizes[i]);
        const uint8_t* rest = copy;
        const uint8_t* bytes = copy;
        size_t rest_size = sizes[i];
        size_t size = 1;
        assert_false(bus_next_message(&rest, &rest_size, &bytes, &size));
        assert_null(bytes);
        assert_int_equal(size, 0);
        free(copy);
    }
}

// ---- subjects, names, texts

static void subjects_are_those_of_the_document(void** state)
{
    (void)state;
    char s[PH_BUS_SUBJECT_MAX];
    const ph_cell cell = {-5, 7};
    bus_subject_cell(s, "w", cell, PH_CHANNEL_PUBLIC, 3);
    assert_string_equal(s, "cell.w.-2.1.-5.7.pub.3");
    bus_subject_cell(s, "w", cell, PH_CHANNEL_BIT0, 0);
    assert_string_equal(s, "cell.w.-2.1.-5.7.m0.0");
    bus_subject_cell(s, "w", cell, PH_CHANNEL_BIT0 + 10, 0);
    assert_string_equal(s, "cell.w.-2.1.-5.7.m10.0");
    bus_subject_cell(s, "w", cell, PH_CHANNEL_OWN - 1, 65534);
    assert_string_equal(s, "cell.w.-2.1.-5.7.m31.65534");
    bus_subject_cell(s, "w", cell, PH_CHANNEL_OWN, 3);
    assert_string_equal(s, "own.w.-2.1.-5.7.3");
    bus_subject_cell(s, "w", PH_CELL_EVERYWHERE, PH_CHANNEL_PUBLIC, 3);
    assert_string_equal(s, "cell.w.e.e.e.e.pub.3");
    bus_subject_cell_wanted(s, "w", cell, false, PH_CHANNEL_PUBLIC);
    assert_string_equal(s, "cell.w.-2.1.-5.7.pub.*");
    bus_subject_cell_wanted(s, "w", cell, true, -1);
    assert_string_equal(s, "cell.w.-2.1.*.*.*.*");
    bus_subject_cell_wanted(s, "w", cell, true, PH_CHANNEL_OWN);
    assert_string_equal(s, "own.w.-2.1.*.*.*");
    bus_subject_cell_wanted(s, "w", PH_CELL_EVERYWHERE, true, PH_CHANNEL_BIT0 + 9);
    assert_string_equal(s, "cell.w.e.e.e.e.m9.*");
    bus_subject_region_cells(s, "w", 3, false);
    assert_string_equal(s, "cell.w.*.*.*.*.*.3");
    bus_subject_region_cells(s, "w", 3, true);
    assert_string_equal(s, "own.w.*.*.*.*.3");
    bus_subject_region(s, "mirrored", "w", 3);
    assert_string_equal(s, "mirrored.w.3");
    bus_subject_world(s, "fronts", "w");
    assert_string_equal(s, "fronts.w");
    bus_subject_to(s, "w", "front-1");
    assert_string_equal(s, "to.w.front-1");
    bus_record_key(s, "w", 65534);
    assert_string_equal(s, "w.region.65534");
}

static void blocks_are_rounded_down(void** state)
{
    (void)state;
    static const int32_t cells[][2] = {{0, 0},
                                       {3, 0},
                                       {4, 1},
                                       {-1, -1},
                                       {-4, -1},
                                       {-5, -2},
                                       {INT32_MAX, 536870911},
                                       {INT32_MIN, -536870912}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; ++i) {
        char subject[PH_BUS_SUBJECT_MAX];
        char meant[PH_BUS_SUBJECT_MAX];
        bus_subject_cell_wanted(subject, "w", (ph_cell){cells[i][0], 0}, true, -1);
        snprintf(meant, sizeof meant, "cell.w.%d.0.*.*.*.*", cells[i][1]);
        assert_string_equal(subject, meant);
    }
}

static void the_longest_subject_fits(void** state)
{
    (void)state;
    static const char longest[] = "0123456789012345678901234567890";
    char* subject = malloc(PH_BUS_SUBJECT_MAX);
    assert_non_null(subject);
    bus_subject_cell(subject, longest, (ph_cell){INT32_MIN + 1, INT32_MIN}, 32, 65534);
    assert_string_equal(subject, "cell.0123456789012345678901234567890.-536870912.-536870912."
                                 "-2147483647.-2147483648.m31.65534");
    bus_subject_to(subject, longest, longest);
    assert_int_equal(strlen(subject), 3 + 31 + 1 + 31);
    free(subject);
}

static void names_are_of_few_characters(void** state)
{
    (void)state;
    assert_true(bus_is_name("a"));
    assert_true(bus_is_name("AZaz09-_"));
    assert_true(bus_is_name("0123456789012345678901234567890"));
    assert_false(bus_is_name("01234567890123456789012345678901"));
    assert_false(bus_is_name(""));
    assert_false(bus_is_name(NULL));
    for (int c = 1; c < 256; ++c) {
        const char text[] = {'a', (char)c, '\0'};
        const bool is_good = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_';
        assert_int_equal(bus_is_name(text), is_good);
    }
}

static void texts_become_fit_to_be_shown(void** state)
{
    (void)state;
    static const char* const texts[][2] = {{"server full", "server full"},
                                           {"a\nb\x1B[2J\x7F", "a?b?[2J?"},
                                           {"schlie\xC3\x9Ft", "schlie\xC3\x9Ft"},
                                           {"\xC3(", "?("},
                                           {"\xC2\x85", "??"},
                                           {"\xC3", "?"},
                                           {"\xF0\x9F\x98\x80!", "\xF0\x9F\x98\x80!"},
                                           {"0123456789abcdef", "0123456789abcde"},
                                           {"0123456789abcd\xC3\x9F", "0123456789abcd"},
                                           {NULL, ""}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        char text[16];
        const size_t size = bus_tidy_text(text, sizeof text, texts[i][0]);
        assert_string_equal(text, texts[i][1]);
        assert_int_equal(size, strlen(text));
        assert_true(bus_is_text((const uint8_t*)text, size));
    }
}

// ---- records, tickets, regions

static void records_come_back_and_nothing_else_does(void** state)
{
    (void)state;
    const bus_ownership records[] = {{1, ""}, {UINT32_MAX, "sim_A"}};
    for (int i = 0; i < 2; ++i) {
        bus_writer writer;
        bus_writer_init(&writer, &(ph_allocator){0});
        assert_true(bus_write_ownership(&writer, &records[i]));
        bus_ownership read;
        assert_true(bus_read_ownership(&read, writer.bytes, writer.size));
        assert_int_equal(read.epoch, records[i].epoch);
        assert_string_equal(read.sim, records[i].sim);
        for (size_t cut = 0; cut < writer.size; ++cut) {
            uint8_t* bytes = copy_of(writer.bytes, cut);
            assert_false(bus_read_ownership(&read, bytes, cut));
            assert_true(is_zero(&read, sizeof read));
            free(bytes);
        }
        uint8_t longer[64] = {0};
        memcpy(longer, writer.bytes, writer.size);
        assert_false(bus_read_ownership(&read, longer, writer.size + 1));
        longer[0] = 2; // version
        assert_false(bus_read_ownership(&read, longer, writer.size));
        memset(longer, 0, 5);
        longer[0] = 1;
        assert_false(bus_read_ownership(&read, longer, writer.size)); // epoch
        bus_writer_destroy(&writer);
    }
    bus_ownership read;
    assert_false(bus_read_ownership(&read, NULL, 0));
}

static void tickets_come_back_and_nothing_else_does(void** state)
{
    (void)state;
    const ph_ticket meant = {UINT64_C(0x0102030405060708), UINT64_MAX - 1, 65534, true};
    uint8_t data[PH_TOKEN_USER_DATA_SIZE];
    memset(data, 0xAA, sizeof data);
    ph_ticket_write(&meant, data);
    ph_ticket read;
    assert_true(ph_ticket_read(&read, data));
    assert_int_equal(read.generation, meant.generation);
    assert_int_equal(read.key, meant.key);
    assert_int_equal(read.region, meant.region);
    assert_true(read.is_spare);
    for (int i = 0; i < PH_TOKEN_USER_DATA_SIZE; ++i) {
        if (i >= 4 && i < 22) {
            continue; // numbers may be any
        }
        data[i] ^= 0x40;
        assert_false(ph_ticket_read(&read, data));
        assert_int_equal(read.generation, 0);
        assert_int_equal(read.region, PH_REGION_NONE);
        data[i] ^= 0x40;
    }
    data[22] = 2;
    assert_false(ph_ticket_read(&read, data));
    memset(data, 0, sizeof data);
    assert_false(ph_ticket_read(&read, data));
}

static void the_first_region_that_covers_a_cell_counts(void** state)
{
    (void)state;
    const ph_region map[] = {{7, {-2, -2}, {-1, 3}},
                             {0, {-1, 3}, {5, 5}},
                             {9, {INT32_MIN, INT32_MIN}, {INT32_MIN, INT32_MAX}}};
    assert_int_equal(ph_region_at(map, 3, (ph_cell){-2, -2}), 7);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){-1, 3}), 7);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){0, 3}), 0);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){5, 5}), 0);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){6, 5}), PH_REGION_NONE);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){5, 6}), PH_REGION_NONE);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){0, 2}), PH_REGION_NONE);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){-3, 0}), PH_REGION_NONE);
    assert_int_equal(ph_region_at(map, 3, (ph_cell){INT32_MIN, INT32_MAX}), 9);
    assert_int_equal(ph_region_at(NULL, 0, (ph_cell){0, 0}), PH_REGION_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_message_comes_back_as_it_was),
        cmocka_unit_test(items_have_what_their_kind_has),
        cmocka_unit_test(cut_off_and_longer_messages_are_refused),
        cmocka_unit_test(nothing_is_longer_than_a_message_may_be),
        cmocka_unit_test(what_no_machine_writes_is_refused),
        cmocka_unit_test(a_message_of_another_kind_is_refused),
        cmocka_unit_test(refusals_have_names),
        cmocka_unit_test(without_memory_nothing_is_written),
        cmocka_unit_test(items_fill_a_message),
        cmocka_unit_test(messages_are_written_behind_others),
        cmocka_unit_test(as_many_items_as_can_be_counted),
        cmocka_unit_test(messages_end_where_they_make_no_sense),
        cmocka_unit_test(subjects_are_those_of_the_document),
        cmocka_unit_test(blocks_are_rounded_down),
        cmocka_unit_test(the_longest_subject_fits),
        cmocka_unit_test(names_are_of_few_characters),
        cmocka_unit_test(texts_become_fit_to_be_shown),
        cmocka_unit_test(records_come_back_and_nothing_else_does),
        cmocka_unit_test(tickets_come_back_and_nothing_else_does),
        cmocka_unit_test(the_first_region_that_covers_a_cell_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
