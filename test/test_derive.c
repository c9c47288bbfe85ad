// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The schema that a recording asks for, compared as text.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/recording_csv.h"

#include <string.h>

#define HEAD_WITH(extra) "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg," extra "\n"

static void assert_prints(ph_recording* recording, const char* expected)
{
    assert_non_null(recording);
    ph_fault fault = {0};
    ph_schema* schema = ph_derive_schema(recording, &fault);
    if (schema == NULL) {
        fail_msg("%s", fault.message);
    }
    char text[4000];
    assert_true(ph_schema_print(schema, text, sizeof text) < sizeof text);
    assert_string_equal(text, expected);
    ph_schema_destroy(schema);
    ph_recording_destroy(recording);
}

static void assert_derived(const char* csv, const char* expected)
{
    const ph_recording_def def = {0};
    ph_fault fault;
    assert_prints(ph_recording_parse(csv, strlen(csv), &def, &fault), expected);
}

#define POSE                                                                                       \
    "class thing\n"                                                                                \
    "    position: position 16 step 16\n"                                                          \
    "    heading: angle 8 turn 360 distance 50 significant 5\n"

static void every_kind_of_column_becomes_a_property(void** state)
{
    (void)state;
    const ph_recording_def def = {0};
    ph_fault fault;
    assert_prints(ph_recording_load("test/recordings/yard.csv", &def, &fault),
                  POSE "    kind: enum 2 distance 100\n"
                       "    health: range 80..100 distance 100\n"
                       "    speed: fixed -0.25..1.5 step 0.01 distance 100\n"
                       "    tilt_deg: angle 8 turn 360 distance 100\n"
                       "    level: range 3..4 distance 100\n");
}

static void a_pose_is_position_and_heading(void** state)
{
    (void)state;
    const ph_recording_def def = {.is_pose_only = true};
    ph_fault fault;
    assert_prints(ph_recording_load("test/recordings/yard.csv", &def, &fault), POSE);
}

static void an_empty_column_becomes_no_property(void** state)
{
    (void)state;
    assert_derived(HEAD_WITH("a,b") "0,1,0,0,0,0,,7\n1,1,0,0,0,0,,9\n",
                   POSE "    b: range 7..9 distance 100\n");
}

static void one_word_is_a_choice_of_two(void** state)
{
    (void)state;
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,wolf\n", POSE "    a: enum 2 distance 100\n");
}

static void a_decimal_that_never_changes_has_two_levels(void** state)
{
    (void)state;
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,0.7\n",
                   POSE "    a: fixed 0.7..0.8 step 0.1 distance 100\n");
}

static void decimals_are_dropped_when_they_are_too_fine(void** state)
{
    (void)state;
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,-12345.123456789\n1,1,0,0,0,0,3.5\n",
                   POSE "    a: fixed -12345.1235..3.5 step 0.0001 distance 100\n");
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,-12345678901234.5\n1,1,0,0,0,0,3\n",
                   POSE "    a: fixed -12345679000000..100000 step 100000 distance 100\n");
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,1.19999999999999\n",
                   POSE "    a: fixed 1.19999999..1.2 step 1e-8 distance 100\n");
    // The ends alone would allow all decimals, but doubles are not that fine out there.
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,-1000000000999.995\n",
                   POSE "    a: fixed -1000000001000..-1000000000000 step 1000 distance 100\n");
}

static void large_whole_numbers_are_a_range(void** state)
{
    (void)state;
    assert_derived(HEAD_WITH("a") "0,1,0,0,0,0,-999999999999999\n1,1,0,0,0,0,999999999999999\n",
                   POSE "    a: range -999999999999999..999999999999999 distance 100\n");
}

static void a_scene_gives_position_and_heading(void** state)
{
    (void)state;
    const ph_scene_recording_def def = {.scene = "still", .count = 2, .seconds = 1.0};
    ph_fault fault;
    assert_prints(ph_scene_recording_make(&def, &fault), POSE);
}

static void a_ground_gives_its_tolerance(void** state)
{
    (void)state;
    const char csv[] = "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,0,0,0,0\n";
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* made = ph_recording_parse(csv, sizeof csv - 1, &def, &fault);
    assert_non_null(made);
    ph_raster_def raster_def = ph_raster_def_default();
    raster_def.columns = 1;
    raster_def.rows = 1;
    ph_raster* raster;
    assert_int_equal(ph_raster_create(&raster_def, &raster), PH_OK);
    made->ground = ph_raster_ground(raster);
    made->altitude = (ph_altitude){.tolerance_mm = 250, .escape_shift = 4};
    assert_prints(made, "class thing\n"
                        "    position: position 16 step 16 ground 250\n"
                        "    heading: angle 8 turn 360 distance 50 significant 5\n");
    ph_raster_destroy(raster);
}

static void what_turns_in_space_has_an_orientation(void** state)
{
    (void)state;
    const ph_scene_recording_def def = {.scene = "spin", .count = 2, .seconds = 1.0};
    ph_fault fault;
    assert_prints(ph_scene_recording_make(&def, &fault),
                  "class thing\n"
                  "    position: position 16 step 16\n"
                  "    orientation: quaternion 11 orientation\n");
    const ph_scene_recording_def flat = {
        .scene = "spin", .count = 2, .seconds = 1.0, .is_flat = true};
    assert_prints(ph_scene_recording_make(&flat, &fault), POSE);
}

// ---- from a file

static ph_recording* read_one(const char* csv)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(csv, strlen(csv), &def, &fault);
    assert_non_null(made);
    return made;
}

static void several_recordings_give_one_schema_that_holds_all(void** state)
{
    (void)state;
    ph_recording* recordings[] = {
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,hp,mass,mood\n"
                 "0,1,0,0,0,0,3,4,calm\n1,1,0,0,0,0,9,7,calm\n"),
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,mood,mass,hp,ammo\n"
                 "0,1,0,0,0,0,a,-2.5,-8,1\n1,1,0,0,0,0,b,6,4,2\n2,1,0,0,0,0,c,6,4,2\n"),
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,hp\n0,1,0,0,0,0,low\n"),
    };
    const ph_recording* const all[] = {recordings[0], recordings[1], recordings[2]};
    ph_fault fault = {0};
    ph_schema* schema = ph_derive_schema_of(all, 2, &fault);
    assert_non_null(schema);
    char text[1024];
    assert_true(ph_schema_print(schema, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "hp: range -8..9 "));
    assert_non_null(strstr(text, "mass: fixed -2.5..7 step 0.1 "));
    assert_non_null(strstr(text, "mood: enum 3 "));
    assert_non_null(strstr(text, "ammo: range 1..2 "));
    ph_schema_destroy(schema);
    assert_null(ph_derive_schema_of(all, 3, &fault));
    assert_string_equal(fault.message,
                        "column hp has words in one recording and numbers in another");
    for (int i = 0; i < 3; ++i) {
        ph_recording_destroy(recordings[i]);
    }
}

static void each_class_has_the_columns_that_it_fills_in(void** state)
{
    (void)state;
    static const char PARK[] =
        "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,hp,qx,qy,qz,qw,mood,none\n"
        "0,1,0,0,0,90,wolf,3,,,,,calm,\n0,2,0,0,0,0,lamp,200,,,,,,\n0,3,0,0,0,5,ship,,0,0,0,1,,\n"
        "1,1,0,0,0,0,wolf,9,,,,,angry,\n1,2,0,0,0,0,lamp,250,,,,,,\n";
    assert_derived(PARK, "class lamp\n    position: position 16 step 16\n"
                         "    hp: range 200..250 distance 100\n"
                         "\nclass ship\n    position: position 16 step 16\n"
                         "    orientation: quaternion 11 orientation\n"
                         "\nclass wolf\n    position: position 16 step 16\n"
                         "    heading: angle 8 turn 360 distance 50 significant 5\n"
                         "    hp: range 3..9 distance 100\n    mood: enum 2 distance 100\n");
    const ph_recording_def pose = {.is_pose_only = true};
    ph_fault fault = {0};
    assert_prints(ph_recording_parse(PARK, sizeof PARK - 1, &pose, &fault),
                  "class lamp\n    position: position 16 step 16\n"
                  "\nclass ship\n    position: position 16 step 16\n"
                  "    orientation: quaternion 11 orientation\n"
                  "\nclass wolf\n    position: position 16 step 16\n"
                  "    heading: angle 8 turn 360 distance 50 significant 5\n");
}

static void several_recordings_give_all_of_their_classes(void** state)
{
    (void)state;
    ph_recording* recordings[] = {
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,hp\n"
                 "0,1,0,0,0,0,wolf,3\n0,2,0,0,0,0,tree,\n"),
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,hp\n"
                 "0,1,0,0,0,7,wolf,90\n0,2,0,0,0,0,boat,7\n"),
        read_one("# rate 1\ntick,entity,x_mm,y_mm,z_mm,heading_deg,hp\n0,1,0,0,0,0,3\n"),
    };
    const ph_recording* const all[] = {recordings[0], recordings[1], recordings[2]};
    ph_fault fault = {0};
    ph_schema* schema = ph_derive_schema_of(all, 2, &fault);
    assert_non_null(schema);
    char text[1024];
    assert_true(ph_schema_print(schema, text, sizeof text) < sizeof text);
    assert_int_equal(ph_schema_class_count(schema), 3);
    assert_non_null(strstr(text, "class wolf\n    position: position 16 step 16\n    heading: "));
    assert_non_null(strstr(text, "hp: range 3..90 "));
    assert_non_null(
        strstr(text, "class boat\n    position: position 16 step 16\n    hp: range 7..8 "));
    ph_schema_destroy(schema);
    assert_null(ph_derive_schema_of(all, 3, &fault));
    assert_string_equal(fault.message, "one recording says of which class its entities are, and "
                                       "another does not");
    for (int i = 0; i < 3; ++i) {
        ph_recording_destroy(recordings[i]);
    }
}

static void a_schema_is_loaded_from_a_file(void** state)
{
    (void)state;
    ph_fault fault;
    ph_schema* schema = ph_derive_load("test/recordings/wolf.schema", &fault);
    assert_non_null(schema);
    assert_int_equal(ph_schema_find_property(schema, 0, "mood"), 4);
    ph_schema_destroy(schema);
}

static void a_broken_schema_says_where(void** state)
{
    (void)state;
    ph_fault fault;
    assert_null(ph_derive_load("test/recordings/yard.csv", &fault));
    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 1);
    assert_null(ph_derive_load("test/recordings/nothing", &fault));
    assert_string_equal(fault.message, "cannot open it: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_column_becomes_a_property),
        cmocka_unit_test(a_pose_is_position_and_heading),
        cmocka_unit_test(an_empty_column_becomes_no_property),
        cmocka_unit_test(one_word_is_a_choice_of_two),
        cmocka_unit_test(a_decimal_that_never_changes_has_two_levels),
        cmocka_unit_test(decimals_are_dropped_when_they_are_too_fine),
        cmocka_unit_test(large_whole_numbers_are_a_range),
        cmocka_unit_test(a_scene_gives_position_and_heading),
        cmocka_unit_test(a_ground_gives_its_tolerance),
        cmocka_unit_test(several_recordings_give_one_schema_that_holds_all),
        cmocka_unit_test(what_turns_in_space_has_an_orientation),
        cmocka_unit_test(each_class_has_the_columns_that_it_fills_in),
        cmocka_unit_test(several_recordings_give_all_of_their_classes),
        cmocka_unit_test(a_schema_is_loaded_from_a_file),
        cmocka_unit_test(a_broken_schema_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
