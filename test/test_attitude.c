// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations of the truth: angles by hand, spins, and what a recording's columns say in both forms.

#include "kit/recording_attitude.h"
#include "kit/derive.h"
#include "kit/recording_csv.h"
#include "kit/recording_replay.h"
#include "kit/recording_write.h"

#include "support/test_support.h"

#include <math.h>
#include <string.h>

#define HALF 0.70710678118654752

static void assert_turned(const double q[4], double x, double y, double z, double w)
{
    const double expected[4] = {x, y, z, w};
    if (!(ph_attitude_between_deg(q, expected) < 1e-4)) {
        fail_msg("found %.9g %.9g %.9g %.9g", q[0], q[1], q[2], q[3]);
    }
}

// Where a direction of the body goes.
static void turn(const double q[4], const double from[3], double to[3])
{
    const double pure[4] = {from[0], from[1], from[2], 0.0};
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    double turned[4];
    ph_attitude_multiply(q, pure, turned);
    ph_attitude_multiply(turned, back, turned);
    memcpy(to, turned, 3 * sizeof(double));
}

static void assert_goes(const double q[4], double x, double y, double z, const double to[3])
{
    double found[3];
    turn(q, (const double[]){x, y, z}, found);
    for (int k = 0; k < 3; ++k) {
        assert_true(fabs(found[k] - to[k]) < 1e-9);
    }
}

static void angles_are_yaw_then_pitch_then_roll(void** state)
{
    (void)state;
    double q[4];
    ph_attitude_from_angles(90.0, 0.0, 0.0, q);
    assert_goes(q, 1, 0, 0, (const double[]){0, 1, 0}); // from +x towards +y
    ph_attitude_from_angles(0.0, 90.0, 0.0, q);
    assert_goes(q, 1, 0, 0, (const double[]){0, 0, 1}); // the nose goes up
    ph_attitude_from_angles(0.0, 0.0, 90.0, q);
    assert_goes(q, 0, 0, 1, (const double[]){0, 1, 0}); // from +z towards +y
    // The roll is about the nose, wherever yaw and pitch have brought it.
    ph_attitude_from_angles(90.0, 90.0, 90.0, q);
    assert_goes(q, 1, 0, 0, (const double[]){0, 0, 1});
    assert_goes(q, 0, 0, 1, (const double[]){-1, 0, 0});
}

static void spins_add_up(void** state)
{
    (void)state;
    double q[4] = {0, 0, 0, 1};
    for (int i = 0; i < 20; ++i) {
        ph_attitude_spin(q, (const double[]){0, 0, 90}, 0.05);
    }
    assert_true(ph_attitude_between_deg(q, (const double[]){0, 0, HALF, HALF}) < 0.05);
    assert_true(fabs(ph_attitude_heading_deg(q) - 90.0) < 0.05);
}

static void both_signs_are_the_same(void** state)
{
    (void)state;
    const double q[4] = {0.5, -0.5, 0.5, 0.5};
    const double other[4] = {-0.5, 0.5, -0.5, -0.5};
    assert_true(ph_attitude_between_deg(q, other) == 0.0);
}

// ---- recordings

#define HEAD "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,"

static ph_recording* parse(const char* text, bool is_pose_only, bool is_flat)
{
    const ph_recording_def def = {.is_pose_only = is_pose_only, .is_flat = is_flat};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(text, strlen(text), &def, &fault);
    if (made == NULL) {
        fail_msg("%s", fault.message);
    }
    return made;
}

static void assert_schema(const ph_recording* recording, const char* expected)
{
    ph_fault fault;
    char text[512];
    ph_schema* schema = ph_derive_schema(recording, &fault);
    assert_non_null(schema);
    ph_schema_print(schema, text, sizeof text);
    assert_string_equal(text, expected);
    ph_schema_destroy(schema);
}

#define TURNED                                                                                     \
    "class thing\n    position: position 16 step 16\n    orientation: quaternion 11 orientation\n"

static void quaternions_are_read(void** state)
{
    (void)state;
    ph_recording* made = parse(
        HEAD "qw,qx,qy,qz,hp\n0,1,0,0,0,12,1,0,0,0,7\n1,1,0,0,0,12,0,0,0,-1,8\n", false, false);
    double q[4];
    assert_int_equal(made->rotation_form, PH_ATTITUDE_QUATERNION);
    ph_attitude_of_row(made, 0, q);
    assert_turned(q, 0, 0, 0, 1);
    ph_attitude_of_row(made, 1, q);
    assert_turned(q, 0, 0, 1, 0);
    assert_schema(made, TURNED "    hp: range 7..8 distance 100\n");
    ph_recording_destroy(made);
}

static void angles_are_read(void** state)
{
    (void)state;
    ph_recording* made =
        parse(HEAD "pitch_deg,roll_deg\n0,1,0,0,0,90,0,0\n1,1,0,0,0,0,-90,\n", false, false);
    double q[4];
    assert_int_equal(made->rotation_form, PH_ATTITUDE_ANGLES);
    ph_attitude_of_row(made, 0, q);
    assert_turned(q, 0, 0, HALF, HALF);
    ph_attitude_of_row(made, 1, q); // an empty cell is 0
    assert_turned(q, 0, HALF, 0, HALF);
    assert_schema(made, TURNED);
    ph_recording_destroy(made);
}

// A pose has it, but none of the other columns; half of it is nothing.
static void a_pose_has_the_whole_rotation_or_none(void** state)
{
    (void)state;
    ph_recording* made =
        parse(HEAD "hp,pitch_deg,roll_deg\n0,1,0,0,0,90,5,0,0\n1,1,0,0,0,0,5,10,0\n", true, false);
    assert_int_equal(made->column_count, 2);
    assert_schema(made, TURNED);
    ph_recording_destroy(made);
    made = parse(HEAD "hp,pitch_deg,qx\n0,1,0,0,0,90,5,0,0\n1,1,0,0,0,0,5,10,0\n", true, false);
    assert_int_equal(made->column_count, 0);
    assert_int_equal(made->rotation_form, PH_ATTITUDE_NONE);
    ph_recording_destroy(made);
}

static void a_flat_one_turns_by_its_heading_alone(void** state)
{
    (void)state;
    static const char text[] = HEAD "pitch_deg,roll_deg\n0,1,0,0,0,90,45,10\n1,1,0,0,0,0,45,10\n";
    ph_recording* made = parse(text, true, true);
    double q[4];
    assert_int_equal(made->column_count, 0);
    ph_attitude_of_row(made, 0, q);
    assert_turned(q, 0, 0, HALF, HALF);
    ph_recording_destroy(made);
    made = parse(text, false, true);
    assert_int_equal(made->column_count, 2);
    assert_int_equal(made->rotation_form, PH_ATTITUDE_NONE);
    ph_recording_destroy(made);
}

// ---- files

typedef struct bytes {
    char text[1 << 16];
    size_t size;
} bytes;

static bool keep(void* context, const void* from, size_t size)
{
    bytes* to = context;
    if (to->size + size > sizeof to->text) {
        return false;
    }
    memcpy(to->text + to->size, from, size);
    to->size += size;
    return true;
}

// As a recorder writes it and back: every cell of it is the same, and the rotation is found.
static void a_recording_keeps_the_columns(void** state)
{
    (void)state;
    static bytes packed;
    static bytes again;
    static const char text[] = "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,qx,qy,qz,qw\n"
                               "0,1,0,0,0,0,0.182574,0.365148,0.547723,0.730297\n"
                               "1,1,0,0,0,0,-0.500000,0.500000,0.500000,-0.500000\n";
    const ph_recording_sink to_packed = {.write = keep, .context = &packed};
    const ph_recording_sink to_again = {.write = keep, .context = &again};
    char note[PH_RECORDING_NOTE_MAX];
    ph_fault fault;
    packed.size = again.size = 0;
    ph_recording* made = parse(text, false, false);
    assert_true(ph_recording_write(made, &to_packed, note, &fault));
    ph_recording_destroy(made);
    for (int is_pose_only = 0; is_pose_only < 2; ++is_pose_only) {
        const ph_recording_def def = {.is_pose_only = is_pose_only != 0};
        again.size = 0;
        made = ph_recording_replay_parse(packed.text, packed.size, &def, &fault);
        assert_non_null(made);
        assert_int_equal(made->rotation_form, PH_ATTITUDE_QUATERNION);
        assert_true(ph_recording_write_csv(made, &to_again, &fault));
        ph_recording_destroy(made);
        assert_int_equal(again.size, sizeof text - 1);
        assert_memory_equal(again.text, text, again.size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_yaw_then_pitch_then_roll),
        cmocka_unit_test(spins_add_up),
        cmocka_unit_test(both_signs_are_the_same),
        cmocka_unit_test(quaternions_are_read),
        cmocka_unit_test(angles_are_read),
        cmocka_unit_test(a_pose_has_the_whole_rotation_or_none),
        cmocka_unit_test(a_flat_one_turns_by_its_heading_alone),
        cmocka_unit_test(a_recording_keeps_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
