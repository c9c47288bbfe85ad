// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings that no recorder writes, with the right checksums: each rule of docs/wire_recording.md that a body can break
// is broken alone, and the part is refused. A part that comes too late is passed over.

#include "support/test_support.h"

#include "journal/journal_coding.h"
#include "journal/journal_part.h"

#include <pinhole/recorder.h>

#include <string.h>

static const char SCHEMA[] =
    "class crate\n    at: position\n    level: range 0..9\n    tag: string 2\n"
    "    name: string 6\n    turn: quaternion 8\n";

enum { LEVEL_CHANNEL = 3, TURN_CHANNEL = 4, FIRST_TICK = 7, FILE_MAX = 8192 };

// What is wrong; 0 and false: nothing.
typedef struct wrongs {
    const char* tag; // NULL: "ok"
    const char* name;
    bool takes_name; // the tag is the name, from the list
    bool has_key_twice;
    int news;
    uint64_t gone;
    int64_t level_step; // 0: 3
    bool is_no_rotation;
    int ticks; // in the body, of which the header knows one
} wrongs;

typedef struct fixture {
    ph_schema* schema;
    ph_journal_state state;
    ph_journal_coder coder;
    uint32_t sequence;
    uint8_t bytes[FILE_MAX];
    size_t size;
} fixture;

static void setup(fixture* f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_journal_state_create(&f->state, f->schema, &(ph_allocator){0}), PH_OK);
    const ph_journal_head head = {
        .rate_hz = 10.0,
        .fingerprint = ph_schema_fingerprint(f->schema),
        .schema_text = SCHEMA,
        .schema_length = sizeof SCHEMA - 1,
    };
    const ph_part part = {
        .kind = PH_PART_HEAD,
        .body_size = (uint32_t)ph_journal_head_size(&head),
        .first_tick = FIRST_TICK,
        .end_tick = FIRST_TICK,
    };
    ph_journal_head_write(&head, f->bytes + PH_PART_HEADER_BYTES);
    ph_part_seal(&part, f->bytes);
    f->size = PH_PART_HEADER_BYTES + part.body_size;
    f->sequence = 1;
}

static void teardown(fixture* f)
{
    ph_journal_state_destroy(&f->state);
    ph_schema_destroy(f->schema);
}

// ---- what is told

static void tell_step(fixture* f, int channel, int64_t step)
{
    ph_adaptive* model = &f->state.classes[0].models[channel].first;
    const uint64_t size = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    ph_journal_size(&f->coder, model, size);
    if (size > 0) {
        ph_journal_bits(&f->coder, step < 0, 1);
    }
}

static void tell_new_text(fixture* f, const char* text, uint32_t known)
{
    ph_journal_uniform(&f->coder, known, known + 1);
    ph_journal_size(&f->coder, &f->state.small[PH_JOURNAL_TEXT_LENGTH], strlen(text));
    for (const char* at = text; *at != '\0'; ++at) {
        ph_journal_bits(&f->coder, (uint8_t)*at, 8);
    }
}

static void tell_turn(fixture* f, bool is_wrong)
{
    ph_journal_symbol(&f->coder, &f->state.classes[0].models[TURN_CHANNEL].first, 3);
    for (int i = 1; i < 4; ++i) {
        // The greatest level three times is longer than any rotation.
        tell_step(f, TURN_CHANNEL + i, is_wrong ? -1 : -128);
    }
}

static void tell_crate(fixture* f, const wrongs* wrong, bool is_first)
{
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_KEY_STEP,
                          is_first || !wrong->has_key_twice ? 2 : 0);
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_NEW, (uint64_t)wrong->news);
    ph_journal_entity usual = {.seen_by = UINT32_MAX};
    ph_journal_code_sight(&f->state, &f->coder, &usual);
    for (int i = 0; i < 3; ++i) {
        tell_step(f, i, 0);
    }
    if (is_first) {
        tell_step(f, LEVEL_CHANNEL, wrong->level_step != 0 ? wrong->level_step : 3);
        tell_new_text(f, wrong->tag != NULL ? wrong->tag : "ok", 0);
        tell_new_text(f, wrong->name != NULL ? wrong->name : "crate", 1);
        tell_turn(f, wrong->is_no_rotation);
    } else {
        tell_step(f, LEVEL_CHANNEL, 0);
        ph_journal_uniform(&f->coder, wrong->takes_name ? 1 : 0, 3);
        ph_journal_uniform(&f->coder, wrong->name != NULL ? 0 : 1, 3);
        ph_journal_symbol(&f->coder, &f->state.classes[0].models[TURN_CHANNEL].first, 3);
        for (int i = 1; i < 4; ++i) {
            tell_step(f, TURN_CHANNEL + i, 0);
        }
    }
}

// A key part of one tick with two crates.
static void add_key_part(fixture* f, uint32_t tick, const wrongs* wrong)
{
    uint8_t* body = f->bytes + f->size + PH_PART_HEADER_BYTES;
    ph_journal_state_forget(&f->state);
    ph_journal_coder_write(&f->coder, body, FILE_MAX - f->size - PH_PART_HEADER_BYTES);
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_SKIPPED, 0);
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_GONE, wrong->gone);
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_SHOWN, 0);
    ph_journal_code_small(&f->state, &f->coder, PH_JOURNAL_NEWCOMERS, 2);
    tell_crate(f, wrong, true);
    tell_crate(f, wrong, false);
    for (int t = 1; t < wrong->ticks; ++t) {
        for (int i = 0; i < 4; ++i) {
            ph_journal_code_small(&f->state, &f->coder, (ph_journal_small)i, 9);
        }
    }
    const ph_part part = {
        .kind = PH_PART_KEY,
        .body_size = (uint32_t)ph_entropy_writer_finish(&f->coder.writer),
        .sequence = f->sequence++,
        .first_tick = tick,
        .end_tick = tick + 1,
    };
    assert_true(part.body_size > 0);
    ph_part_seal(&part, f->bytes + f->size);
    f->size += PH_PART_HEADER_BYTES + part.body_size;
}

// ---- what is read

static int read_all(const fixture* f, ph_replay_damage* damage)
{
    ph_replay* replay;
    assert_int_equal(ph_replay_create(f->bytes, f->size, NULL, &replay, NULL), PH_OK);
    int count = 0;
    while (ph_replay_next(replay)) {
        uint64_t level = 0;
        char name[8];
        assert_int_equal(ph_replay_find(replay, 1), 0);
        assert_int_equal(ph_replay_find(replay, 2), 1);
        assert_int_equal(ph_replay_get_property(replay, 1, 1, PH_FIELD_I64, &level, sizeof level),
                         PH_OK);
        assert_int_equal(level, 3);
        assert_int_equal(ph_replay_get_property(replay, 1, 3, PH_FIELD_TEXT, name, sizeof name),
                         PH_OK);
        assert_string_equal(name, "crate");
        ++count;
    }
    assert_int_equal(ph_replay_result(replay), PH_OK);
    *damage = ph_replay_get_damage(replay);
    ph_replay_destroy(replay);
    return count;
}

static void a_part_without_a_wrong_is_read(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup(&f);
    add_key_part(&f, FIRST_TICK, &(wrongs){0});
    assert_int_equal(read_all(&f, &damage), 1);
    assert_int_equal(damage.damaged_places, 0);
    teardown(&f);
}

static void a_part_with_a_single_wrong_is_refused(void** state)
{
    (void)state;
    static const wrongs WRONGS[] = {
        {.has_key_twice = true},
        {.news = 4},
        {.gone = 1},
        {.level_step = 5},  // that is -5
        {.level_step = -6}, // that is 4
        {.level_step = INT64_C(1) << 62},
        {.tag = "long"},
        {.takes_name = true}, // too long for a tag
        {.name = "\xFF"},
        {.is_no_rotation = true},
        {.ticks = 2},
    };
    for (size_t i = 0; i < sizeof WRONGS / sizeof WRONGS[0]; ++i) {
        fixture f;
        ph_replay_damage damage;
        setup(&f);
        const size_t begin = f.size;
        add_key_part(&f, FIRST_TICK, &WRONGS[i]);
        const size_t end = f.size;
        add_key_part(&f, FIRST_TICK + 1, &(wrongs){0});
        const int count = read_all(&f, &damage);
        if (count != 1 || damage.damaged_places != 1) {
            fail_msg("wrong %d: %d ticks, %d damaged places", (int)i, count, damage.damaged_places);
        }
        assert_int_equal(damage.first_offset, begin);
        assert_int_equal(damage.skipped_bytes, end - begin);
        assert_int_equal(damage.missing_ticks, 1);
        teardown(&f);
    }
}

static void ticks_ascend(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup(&f);
    add_key_part(&f, FIRST_TICK, &(wrongs){0});
    add_key_part(&f, FIRST_TICK, &(wrongs){0});
    add_key_part(&f, 3, &(wrongs){0});
    add_key_part(&f, FIRST_TICK + 2, &(wrongs){0});
    assert_int_equal(read_all(&f, &damage), 2);
    assert_int_equal(damage.missing_ticks, 1);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_without_a_wrong_is_read),
        cmocka_unit_test(a_part_with_a_single_wrong_is_refused),
        cmocka_unit_test(ticks_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
