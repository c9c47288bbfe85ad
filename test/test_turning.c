// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends keep of how orientations turn, which guess that leads to, and what a world tells of it.

#include "support/test_support.h"

#include "client/client_state.h"
#include "packet/pinhole_records.h"
#include "replication/sender.h"
#include "replication/shown_turn.h"
#include "world/world_state.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/world.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_US = 50000, WIDTH = 12 };

static const char SCHEMA[] = "class body radius 3\n"
                             "place: position 16 step 16\n"
                             "facing: quaternion 12 orientation\n"
                             "health: range 0..100\n";

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packing;
    ph_baseline_rules rules;
    uint8_t known[128];
} fixture;

static void setup(fixture* f)
{
    *f = (fixture){0};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    f->packing = ph_packing_make(&f->layouts.layouts[0]);
    f->rules =
        (ph_baseline_rules){.layouts = &f->layouts, .packings = &f->packing, .tick_us = TICK_US};
    assert_int_equal(f->packing.stride - f->packing.turning, PH_PACKED_TURNING);
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

// About the axis z, in degrees.
static void turned_to(double degrees, uint32_t words[2])
{
    const double half = degrees / 360 * 3.14159265358979323846;
    ph_quaternion_levels levels;
    assert_int_equal(
        ph_quaternion_encode(WIDTH, (ph_quaternion){0, 0, sin(half), cos(half)}, &levels), PH_OK);
    ph_rotation_words_of_levels(WIDTH, levels, words);
}

// From words or a rotation, in degrees about the axis z.
static double degrees_of(const ph_rotation* rotation)
{
    return 2 * atan2(rotation->part[2], rotation->part[3]) / 3.14159265358979323846 * 180;
}

static void tell(fixture* f, double degrees, bool is_jump, uint32_t tick)
{
    uint32_t words[2];
    turned_to(degrees, words);
    ph_turning_take(f->known, &f->rules, 0, words, is_jump, tick);
    ph_packing_store(&f->packing, 1, words, f->known + f->packing.offset[1]);
}

static void enter(fixture* f, double degrees, const int16_t spin[3], uint32_t tick)
{
    uint32_t words[2];
    turned_to(degrees, words);
    ph_packing_store(&f->packing, 1, words, f->known + f->packing.offset[1]);
    ph_turning_enter(f->known, &f->rules, 0, spin, tick);
}

static ph_turning_forecast forecast_at(const fixture* f, uint32_t tick)
{
    ph_turning_forecast forecast;
    ph_turning_predict(f->known, &f->rules, 0, tick, &forecast);
    return forecast;
}

static const int16_t STILL[3] = {0};

// ---- guesses

static void what_rests_is_expected_to_stay(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 30, STILL, 100);
    const ph_turning_forecast forecast = forecast_at(&f, 120);
    assert_false(forecast.is_turned);
    assert_true(fabs(degrees_of(&forecast.rotation) - 30) < 0.1);
    teardown(&f);
}

static void what_turns_is_expected_to_go_on(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0, STILL, 100);
    for (uint32_t i = 1; i <= 6; ++i) {
        tell(&f, 10 * i, false, 100 + 4 * i);
    }
    const ph_turning_forecast forecast = forecast_at(&f, 128);
    assert_true(forecast.is_turned);
    assert_true(fabs(degrees_of(&forecast.rotation) - 70) < 0.3);
    // Motion is extrapolated for four seconds: 200 degrees more.
    const ph_turning_forecast last = forecast_at(&f, 124 + 80);
    const ph_turning_forecast later = forecast_at(&f, 124 + 400);
    assert_true(last.is_turned);
    assert_true(fabs(remainder(degrees_of(&last.rotation) - (60 + 200), 360)) < 3);
    assert_int_equal(later.is_turned, last.is_turned);
    assert_memory_equal(&later.rotation, &last.rotation, sizeof last.rotation);
    teardown(&f);
}

static void what_trembles_is_expected_to_stay(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0, STILL, 100);
    for (uint32_t i = 1; i <= 12; ++i) {
        tell(&f, i % 2 == 0 ? 5 : -5, false, 100 + 4 * i);
    }
    assert_false(forecast_at(&f, 152).is_turned);
    teardown(&f);
}

// One step in one tick is mostly rounding: a spin is taken over a tenth of a second at least.
static void a_spin_is_taken_over_a_tenth_of_a_second(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0, STILL, 100);
    ph_turning_state turning;
    tell(&f, 1, false, 101);
    ph_turning_load(&f.packing, f.known, &turning);
    assert_int_equal(turning.spin.half, 0);
    assert_int_equal(turning.mark_tick, 100);
    assert_int_equal(turning.tick, 101);
    tell(&f, 2, false, 102);
    ph_turning_load(&f.packing, f.known, &turning);
    assert_int_equal(turning.mark_tick, 102);
    assert_int_equal(turning.spin.between, 2);
    assert_true(turning.spin.half > 0);
    teardown(&f);
}

static void a_jump_stops_the_spin(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter(&f, 0, STILL, 100);
    tell(&f, 20, false, 104);
    tell(&f, 90, true, 108);
    ph_turning_state turning;
    ph_turning_load(&f.packing, f.known, &turning);
    assert_int_equal(turning.spin.half, 0);
    assert_int_equal(turning.mark_tick, 108);
    teardown(&f);
}

static void what_enters_spinning_is_expected_to_spin(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    uint32_t words[2][2];
    int16_t spin[3];
    turned_to(40, words[0]);
    turned_to(50, words[1]);
    // 10 degrees in 4 ticks; a spin is what 125 ms make of it, 3 ticks.
    ph_turning_spin(&f.layouts.layouts[0], TICK_US, words[0], words[1], 4, spin);
    assert_int_equal(spin[0] | spin[1], 0);
    assert_true(spin[2] > 0);
    enter(&f, 50, spin, 100);
    const ph_turning_forecast forecast = forecast_at(&f, 108);
    assert_true(forecast.is_turned);
    assert_true(fabs(degrees_of(&forecast.rotation) - 70) < 0.5);
    // Half a turn in one tick says nothing.
    turned_to(230, words[1]);
    ph_turning_spin(&f.layouts.layouts[0], TICK_US, words[0], words[1], 1, spin);
    assert_int_equal(spin[0] | spin[1] | spin[2], 0);
    teardown(&f);
}

// ---- refusals

// What an enter at the eye, at rest, tells of its orientation.
typedef struct told_enter {
    int symbol; // of ENTER_ROTATION
    uint32_t words[2];
    bool is_spinning;
    int16_t spin[3];
} told_enter;

static void tell_enter(ph_coder* coder, const told_enter* told)
{
    ph_coder_raw(coder, 0, 8); // slot
    ph_coder_raw(coder, 1, 2); // association
    ph_coder_flag(coder, PH_FAMILY_NAME, 0, true);
    ph_coder_length(coder, PH_FAMILY_NAME_ABOVE, 0, 0);
    ph_coder_signed_length(coder, PH_FAMILY_ENTER_X, 0, 0);
    ph_coder_signed_length(coder, PH_FAMILY_ENTER_Y, 0, 0);
    ph_coder_signed_length(coder, PH_FAMILY_ENTER_Z, 0, 0);
    ph_coder_flag(coder, PH_FAMILY_ENTER_JUMP, 0, false);
    ph_coder_flag(coder, PH_FAMILY_ENTER_MOVING, 0, false);
    ph_coder_symbol(coder, PH_FAMILY_ENTER_ROTATION, 0, told->symbol);
    if (told->symbol != 0) {
        const uint64_t field = (uint64_t)told->words[1] << 32 | told->words[0];
        ph_coder_raw(coder, field, 3 * WIDTH + 2);
    }
    ph_coder_flag(coder, PH_FAMILY_ENTER_SPINNING, 0, told->is_spinning);
    for (int i = 0; i < 3 && told->is_spinning; ++i) {
        ph_coder_signed_length(coder, PH_FAMILY_ENTER_SPIN, 0, told->spin[i]);
    }
    ph_coder_flag(coder, PH_FAMILY_ENTER_OTHERS, 0, false);
}

static ph_result read_enter(const fixture* f, const told_enter* told)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    uint32_t tokens[200];
    const ph_model_set* models = &f->layouts.models;
    ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, 200);
    ph_coder coder = ph_coder_make_buffer(&symbols, models, false);
    tell_enter(&coder, told);
    ph_coder_end_buffer(&coder, &symbols);
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_symbol_player player;
    ph_symbol_player_begin(&player, models, &writer);
    ph_symbol_player_play(&player, tokens, NULL);
    ph_symbol_player_end(&player);
    const size_t size = ph_entropy_writer_finish(&writer);

    const ph_pinhole_frame frame = {.frame = {.layouts = &f->layouts, .slot_bits = 8},
                                    .packings = &f->packing,
                                    .tick_us = TICK_US};
    uint32_t words[16];
    ph_pinhole_record read = {.record = {.kind = PH_RECORD_ENTER, .words = words}};
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    ph_pinhole_read_identity(&frame, &reader, &read);
    ph_pinhole_read(&frame, &reader, &read);
    return ph_entropy_reader_finish(&reader);
}

static void enters_that_no_sender_writes_are_refused(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    told_enter told = {.symbol = 1, .is_spinning = true, .spin = {1, -2, 300}};
    turned_to(30, told.words);
    assert_int_equal(read_enter(&f, &told), PH_OK);
    // A spin of nothing; one by more than a rotation that leaves w out has.
    memset(told.spin, 0, sizeof told.spin);
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    told.spin[0] = 2048;
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    told.spin[0] = 2047;
    told.spin[1] = 2047;
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    told.spin[1] = 0;
    assert_int_equal(read_enter(&f, &told), PH_OK);
    // The initial orientation, which need not be told; levels of no rotation; the unused code.
    turned_to(0, told.words);
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    ph_rotation_words_of_levels(
        WIDTH, (ph_quaternion_levels){.largest = 1, .rest = {2047, 2047, 2047}}, told.words);
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    told.words[0] = UINT32_MAX;
    told.words[1] = UINT32_MAX;
    assert_int_equal(read_enter(&f, &told), PH_ERROR_VALUE);
    told.symbol = 0;
    assert_int_equal(read_enter(&f, &told), PH_OK);
    teardown(&f);
}

// ---- worlds

typedef struct stage {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    uint64_t now_us;
} stage;

static void deliver_here(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    stage* s = context;
    (void)viewer;
    assert_int_equal(ph_client_receive(s->client, s->now_us, bytes, size), PH_OK);
}

// A body turns by 5 degrees a tick for a second; then a viewer comes. @return What its enter said of that.
static ph_turning_state turning_shown(const char* schema)
{
    stage s = {.now_us = 1000000};
    assert_int_equal(ph_schema_parse(schema, strlen(schema), NULL, &s.schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = s.schema;
    world_def.profile = PH_PROFILE_PINHOLE;
    world_def.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&world_def, &s.world), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = s.schema;
    client_def.profile = PH_PROFILE_PINHOLE;
    assert_int_equal(ph_client_create(&client_def, &s.client), PH_OK);
    ph_entity_id body;
    assert_int_equal(ph_world_spawn(s.world, &(ph_spawn){.key = 7}, &body), PH_OK);
    for (int tick = 0; tick < 22; ++tick, s.now_us += TICK_US) {
        const double half = 2.5 * tick / 180 * 3.14159265358979323846;
        const double facing[4] = {0, 0, sin(half), cos(half)};
        assert_int_equal(
            ph_world_set_property(s.world, body, 1, PH_FIELD_F64X4, facing, sizeof facing), PH_OK);
        if (tick == 20) {
            const ph_viewer_def viewer_def = ph_viewer_def_default();
            assert_int_equal(ph_world_add_viewer(s.world, &viewer_def, &s.viewer), PH_OK);
        }
        ph_world_tick(s.world);
        uint8_t ack[PH_ACK_SIZE];
        ph_world_send_all(s.world, s.now_us, deliver_here, &s);
        const size_t size = ph_client_write_ack(s.client, s.now_us, ack);
        if (size > 0) {
            assert_int_equal(ph_viewer_receive_ack(s.world, s.viewer, s.now_us, ack, size), PH_OK);
        }
    }
    ph_sender* sender = s.world->viewers.viewers[s.viewer.index1 - 1].sender;
    const int slot = ph_client_slot_count(s.client) > 1 ? 1 : 0;
    ph_turning_state turning = {0};
    for (int i = 0; i <= slot; ++i) {
        if (sender->replicas.baselines.slots[i].is_entered) {
            ph_turning_load(&sender->replicas.rules.packings[0],
                            ph_replicas_at(&sender->replicas, i)->known, &turning);
        }
    }
    assert_true(turning.tick != 0);
    ph_client_destroy(s.client);
    ph_world_destroy(s.world);
    ph_schema_destroy(s.schema);
    return turning;
}

static void an_enter_tells_how_its_entity_turns(void** state)
{
    (void)state;
    const ph_turning_state turning = turning_shown(SCHEMA);
    assert_true(turning.spin.half > 0);
    assert_true(turning.spin.axis[2] > PH_ROTATION_ONE - 1000);
    const double degrees = 720.0 * turning.spin.half / 4294967296.0 / turning.spin.between;
    assert_true(fabs(degrees - 5) < 0.2);
}

// A viewer that may not see it is told nothing of it.
static void an_orientation_of_the_owner_is_told_to_the_owner(void** state)
{
    (void)state;
    const ph_turning_state turning = turning_shown("class body\n"
                                                   "place: position\n"
                                                   "facing: quaternion 12 orientation owner\n");
    assert_int_equal(turning.spin.half, 0);
}

// Half of a step of 16 mm on the surface, or what a tenth of a second would undo.
static void what_is_wrong_again_at_once_is_right(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_turn_watch watches[2] = {{.spin_error = 0.0f}, {.spin_error = 2.0f}};
    const ph_turn_estimates turns = {.watches = watches};
    const ph_layout* layout = &f.layouts.layouts[0];
    assert_float_equal(ph_turn_right(&turns, layout, 0), 0.5f * 0.016f / (0.8f * 3.0f), 1e-5f);
    const float right = ph_turn_right(&turns, layout, 1);
    assert_true(right > 0.1f && right < 0.3f);
    teardown(&f);
}

// A body faces one way for two seconds, then another. @return The most its spin is taken to be wrong by in the half
// second after that.
static float spin_error_of_a_snap(bool is_jump)
{
    stage s = {.now_us = 1000000};
    assert_int_equal(ph_schema_parse(SCHEMA, strlen(SCHEMA), NULL, &s.schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = s.schema;
    world_def.profile = PH_PROFILE_PINHOLE;
    world_def.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&world_def, &s.world), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = s.schema;
    client_def.profile = PH_PROFILE_PINHOLE;
    assert_int_equal(ph_client_create(&client_def, &s.client), PH_OK);
    const ph_viewer_def viewer_def = ph_viewer_def_default();
    assert_int_equal(ph_world_add_viewer(s.world, &viewer_def, &s.viewer), PH_OK);
    ph_entity_id body;
    assert_int_equal(ph_world_spawn(s.world, &(ph_spawn){.key = 7}, &body), PH_OK);
    float most = 0.0f;
    const int snap_tick = 2000000 / TICK_US;
    for (int tick = 0; tick < snap_tick + 500000 / TICK_US; ++tick, s.now_us += TICK_US) {
        const double half = tick < snap_tick ? 0.0 : 45.0 / 180 * 3.14159265358979323846;
        const double facing[4] = {0, 0, sin(half), cos(half)};
        assert_int_equal(
            ph_world_set_property(s.world, body, 1, PH_FIELD_F64X4, facing, sizeof facing), PH_OK);
        if (tick == snap_tick && is_jump) {
            assert_int_equal(ph_world_jump(s.world, body, 500, 500, 0), PH_OK);
        }
        ph_world_tick(s.world);
        uint8_t ack[PH_ACK_SIZE];
        ph_world_send_all(s.world, s.now_us, deliver_here, &s);
        const size_t size = ph_client_write_ack(s.client, s.now_us, ack);
        if (size > 0) {
            assert_int_equal(ph_viewer_receive_ack(s.world, s.viewer, s.now_us, ack, size), PH_OK);
        }
        const ph_sender* sender = s.world->viewers.viewers[s.viewer.index1 - 1].sender;
        for (int slot = 0; slot < ph_client_slot_count(s.client); ++slot) {
            most = ph_float_max(most, sender->replicas.estimates->turns.watches[slot].spin_error);
        }
    }
    ph_client_destroy(s.client);
    ph_world_destroy(s.world);
    ph_schema_destroy(s.schema);
    return most;
}

// 90 degrees in a tenth of a second are 16 rad/s, but it does not spin: its rotation still counts.
static void what_snaps_once_does_not_spin(void** state)
{
    (void)state;
    const float snap = spin_error_of_a_snap(false);
    const float jump = spin_error_of_a_snap(true);
    print_message("after a snap the spin is taken to be wrong by %.2f rad/s, after a jump %.2f\n",
                  (double)snap, (double)jump);
    assert_true(snap < 0.8f);
    assert_true(jump < 0.05f);
}

// Whatever the width, some levels are left.
static void a_crowd_is_turned_coarsely(void** state)
{
    (void)state;
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        const ph_layout layout = {.orientation = 2, .orientation_bits = (uint8_t)width};
        const int coarse = ph_turn_newcomer_coarseness(&layout);
        assert_true(coarse == PH_ROTATION_COARSE_MAX || width - coarse <= 4);
        assert_true(coarse == 0 || width - coarse >= 4);
    }
    assert_int_equal(ph_turn_newcomer_coarseness(&(ph_layout){.orientation_bits = 11}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_is_expected_to_stay),
        cmocka_unit_test(what_turns_is_expected_to_go_on),
        cmocka_unit_test(what_trembles_is_expected_to_stay),
        cmocka_unit_test(a_spin_is_taken_over_a_tenth_of_a_second),
        cmocka_unit_test(a_jump_stops_the_spin),
        cmocka_unit_test(what_enters_spinning_is_expected_to_spin),
        cmocka_unit_test(enters_that_no_sender_writes_are_refused),
        cmocka_unit_test(an_enter_tells_how_its_entity_turns),
        cmocka_unit_test(what_is_wrong_again_at_once_is_right),
        cmocka_unit_test(what_snaps_once_does_not_spin),
        cmocka_unit_test(a_crowd_is_turned_coarsely),
        cmocka_unit_test(an_orientation_of_the_owner_is_told_to_the_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
