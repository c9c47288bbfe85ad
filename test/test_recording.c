// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings: what a file says, where it is wrong, and how rows are found.

#include "test_support.h"

#include "kit/scene_recording.h"
#include "kit/recording_csv.h"
#include "kit/scene.h"
#include "kit/truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n"
#define HEAD_WITH(extra) "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg," extra "\n"

static ph_recording* parse(const char* text)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* recording = ph_recording_parse(text, strlen(text), &def, &fault);
    if (recording == NULL) {
        fail_msg("%d:%d: %s", fault.line, fault.column, fault.message);
    }
    return recording;
}

static ph_recording* load(const char* path)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* recording = ph_recording_load(path, &def, &fault);
    if (recording == NULL) {
        fail_msg("%s: %d:%d: %s", path, fault.line, fault.column, fault.message);
    }
    return recording;
}

// The whole complaint as people read it.
static void assert_refused(const char* text, const char* expected)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    assert_null(ph_recording_parse(text, strlen(text), &def, &fault));
    char said[300];
    snprintf(said, sizeof said, "%d:%d: %s", fault.line, fault.column, fault.message);
    assert_string_equal(said, expected);
}

static void assert_not_loaded(const char* path, const char* expected)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    assert_null(ph_recording_load(path, &def, &fault));
    char said[300];
    snprintf(said, sizeof said, "%d:%d: %s", fault.line, fault.column, fault.message);
    assert_string_equal(said, expected);
}

// ---- what a file says

static void assert_is_yard(const ph_recording* yard)
{
    assert_int_equal(yard->rate_hz, 2);
    assert_int_equal(yard->first_tick, 10);
    assert_int_equal(yard->tick_count, 4);
    assert_int_equal(yard->row_count, 9);
    assert_int_equal(yard->entity_count, 3);
    assert_int_equal(yard->id[0], 7);
    assert_int_equal(yard->id[1], 9);
    assert_int_equal(yard->id[2], 12);
    const int row = ph_recording_row(yard, 0, 2);
    assert_int_equal(yard->x_mm[row], 1100);
    assert_int_equal(yard->y_mm[row], 2080);
    assert_int_equal(yard->z_mm[row], 16);
    assert_true(yard->heading_deg[row] == 359.9f);
    assert_int_equal(yard->line[row], 9);
}

static void a_plain_file_is_read(void** state)
{
    (void)state;
    ph_recording* yard = load("test/recordings/yard.csv");
    assert_is_yard(yard);
    ph_recording_destroy(yard);
}

static void a_packed_file_is_read(void** state)
{
    (void)state;
    ph_recording* yard = load("test/recordings/yard.csv.gz");
    assert_is_yard(yard);
    ph_recording_destroy(yard);
}

static void columns_know_what_they_hold(void** state)
{
    (void)state;
    ph_recording* yard = load("test/recordings/yard.csv");
    assert_int_equal(yard->column_count, 5);
    const ph_column* kind = &yard->columns[0];
    assert_string_equal(kind->name, "kind");
    assert_int_equal(kind->kind, PH_COLUMN_WORD);
    assert_int_equal(kind->lexicon.count, 2);
    assert_string_equal(kind->lexicon.words[0], "chest");
    assert_string_equal(kind->lexicon.words[1], "wolf");
    const ph_column* health = &yard->columns[1];
    assert_int_equal(health->kind, PH_COLUMN_WHOLE);
    assert_true(health->low == 80.0 && health->high == 100.0);
    const ph_column* speed = &yard->columns[2];
    assert_int_equal(speed->kind, PH_COLUMN_DECIMAL);
    assert_int_equal(speed->decimals, 2);
    assert_true(speed->low == -0.25 && speed->high == 1.5);
    ph_recording_destroy(yard);
}

static void values_follow_their_row(void** state)
{
    (void)state;
    ph_recording* yard = load("test/recordings/yard.csv");
    const int health = ph_recording_find_column(yard, "health");
    const int kind = ph_recording_find_column(yard, "kind");
    const int wolf_row = ph_recording_row(yard, 1, 3);
    const int chest_row = ph_recording_row(yard, 2, 0);
    assert_true(yard->columns[health].value[wolf_row] == 81.0);
    assert_true(yard->columns[kind].value[wolf_row] == 1.0);
    assert_true(isnan(yard->columns[health].value[chest_row]));
    assert_true(yard->columns[kind].value[chest_row] == 0.0);
    assert_int_equal(ph_recording_find_column(yard, "heading_deg"), -1);
    ph_recording_destroy(yard);
}

static void columns_may_stand_in_any_order(void** state)
{
    (void)state;
    ph_recording* made = parse("# rate 16\n"
                               "heading_deg,hat,z_mm,y_mm,x_mm,entity,tick\n"
                               "1.5,4,3,2,1,8,0\n");
    assert_int_equal(made->id[0], 8);
    assert_int_equal(made->x_mm[0], 1);
    assert_int_equal(made->y_mm[0], 2);
    assert_int_equal(made->z_mm[0], 3);
    assert_true(made->heading_deg[0] == 1.5f);
    assert_true(made->columns[0].value[0] == 4.0);
    ph_recording_destroy(made);
}

static void the_extremes_are_accepted(void** state)
{
    (void)state;
    ph_recording* made = parse(HEAD "0,0,-2147483648,2147483647,0,0.0\n"
                                    "1000000000,2147483647,0,0,0,359.99999999\n");
    assert_int_equal(made->tick_count, 1000000001);
    assert_int_equal(made->x_mm[0], INT32_MIN);
    assert_int_equal(made->y_mm[0], INT32_MAX);
    // As a float this would be a full turn.
    assert_true(made->heading_deg[1] == 0.0f);
    ph_recording_destroy(made);
}

static void a_column_of_empty_cells_holds_nothing(void** state)
{
    (void)state;
    ph_recording* made = parse(HEAD_WITH("hat") "0,1,0,0,0,0,\n1,1,0,0,0,0,\n");
    assert_int_equal(made->columns[0].kind, PH_COLUMN_EMPTY);
    assert_true(isnan(made->columns[0].value[1]));
    ph_recording_destroy(made);
}

static void words_may_look_like_numbers_behind_a_real_word(void** state)
{
    (void)state;
    ph_recording* made = parse(HEAD_WITH("team") "0,1,0,0,0,0,red\n1,1,0,0,0,0,7\n"
                                                 "2,1,0,0,0,0,red\n");
    assert_int_equal(made->columns[0].lexicon.count, 2);
    assert_string_equal(made->columns[0].lexicon.words[0], "7");
    assert_true(made->columns[0].value[0] == 1.0);
    assert_true(made->columns[0].value[1] == 0.0);
    assert_true(made->columns[0].value[2] == 1.0);
    ph_recording_destroy(made);
}

static void the_rate_that_is_given_goes_first(void** state)
{
    (void)state;
    const char text[] = HEAD "0,1,0,0,0,0\n";
    const ph_recording_def def = {.rate_hz = 30};
    ph_fault fault;
    ph_recording* made = ph_recording_parse(text, sizeof text - 1, &def, &fault);
    assert_non_null(made);
    assert_int_equal(made->rate_hz, 30);
    ph_recording_destroy(made);
}

static void only_so_many_seconds_are_read(void** state)
{
    (void)state;
    const ph_recording_def def = {.seconds = 1.0};
    ph_fault fault;
    ph_recording* yard = ph_recording_load("test/recordings/yard.csv", &def, &fault);
    assert_non_null(yard);
    assert_int_equal(yard->tick_count, 2);
    assert_int_equal(yard->row_count, 5);
    ph_recording_destroy(yard);
}

static void a_pose_has_no_other_columns(void** state)
{
    (void)state;
    const ph_recording_def def = {.is_pose_only = true};
    ph_fault fault;
    ph_recording* yard = ph_recording_load("test/recordings/yard.csv", &def, &fault);
    assert_non_null(yard);
    assert_int_equal(yard->column_count, 0);
    assert_is_yard(yard);
    ph_recording_destroy(yard);
}

static void comments_are_for_people(void** state)
{
    (void)state;
    ph_recording* made = parse("#\n# rated by many\n#rate \t 25 \n# made by hand, rate 3\n"
                               "tick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,0,0,0,0");
    assert_int_equal(made->rate_hz, 25);
    ph_recording_destroy(made);
}

// ---- where a file is wrong

static void a_missing_column_is_named(void** state)
{
    (void)state;
    assert_refused("# rate 2\ntick,entity,x_mm,y_mm,z_mm\n0,1,0,0,0\n",
                   "2:0: missing column: heading_deg");
    assert_refused("x,heading_deg,x_mm,z_mm,tick\n", "1:0: missing columns: entity, y_mm");
}

static void a_missing_rate_is_named(void** state)
{
    (void)state;
    assert_refused("tick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,0,0,0,0\n",
                   "1:0: missing rate: none was given, and there is no first line such as "
                   "'# rate 16'");
}

static void a_broken_rate_is_shown(void** state)
{
    (void)state;
    assert_refused("# rate fast\n",
                   "1:8: the rate must be a number from 1 to 1000, such as 23.976, found 'fast'");
    assert_refused("# rate 0\n",
                   "1:8: the rate must be a number from 1 to 1000, such as 23.976, found '0'");
    assert_refused("#rate\n",
                   "1:6: the rate must be a number from 1 to 1000, such as 23.976, found ''");
    assert_refused("# rate 1001\n",
                   "1:8: the rate must be a number from 1 to 1000, such as 23.976, found '1001'");
}

static void a_rate_may_have_decimals(void** state)
{
    (void)state;
    ph_recording* made =
        parse("# rate 23.976\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n0,1,0,0,0,0");
    assert_float_equal(made->rate_hz, 23.976, 0.0);
    ph_recording_destroy(made);
}

static void a_file_without_rows_is_refused(void** state)
{
    (void)state;
    assert_refused("", "0:0: there is no line of column names");
    assert_refused("# rate 2\n", "1:0: there is no line of column names");
    assert_refused(HEAD, "2:0: there is no row below the column names");
}

static void names_of_columns_are_checked(void** state)
{
    (void)state;
    assert_refused(HEAD_WITH("2nd"), "2:40: a column is named by 1..31 letters, digits and _, no "
                                     "digit first, found '2nd'");
    assert_refused(HEAD_WITH(""), "2:40: a column is named by 1..31 letters, digits and _, no "
                                  "digit first, found ''");
    assert_refused(HEAD_WITH("hat,x_mm"), "2:44: there are two columns named x_mm");
    assert_refused(HEAD_WITH("heading"), "2:40: a column cannot be named heading: every "
                                         "entity has that already, from heading_deg");
}

static void more_columns_than_properties_are_refused(void** state)
{
    (void)state;
    char text[1000] = "tick,entity,x_mm,y_mm,z_mm,heading_deg";
    for (int i = 0; i <= PH_RECORDING_COLUMNS_MAX; ++i) {
        snprintf(text + strlen(text), sizeof text - strlen(text), ",c%02d", i);
    }
    assert_refused(text, "1:288: there are more than 62 extra columns");
}

static void a_broken_number_is_shown_with_its_place(void** state)
{
    (void)state;
    assert_refused(HEAD "0,1,12a,0,0,0\n",
                   "3:5: x_mm: expected a whole number from -2147483648 to 2147483647, found "
                   "'12a'");
    assert_refused(HEAD "0,1,0,,0,0\n",
                   "3:7: y_mm: expected a whole number from -2147483648 to 2147483647, found ''");
    assert_refused(HEAD "0,1,0,0,1.5,0\n",
                   "3:9: z_mm: expected a whole number from -2147483648 to 2147483647, found "
                   "'1.5'");
    assert_refused(HEAD "0,1,2147483648,0,0,0\n",
                   "3:5: x_mm: expected a whole number from -2147483648 to 2147483647, found "
                   "'2147483648'");
    assert_refused(HEAD "-1,1,0,0,0,0\n",
                   "3:1: tick: expected a whole number from 0 to 1000000000, found '-1'");
    assert_refused(HEAD "0,2147483648,0,0,0,0\n",
                   "3:3: entity: expected a whole number from 0 to 2147483647, found "
                   "'2147483648'");
}

static void a_heading_is_wrapped_into_one_turn(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        float heading_deg;
    } CASES[] = {
        {HEAD "0,1,0,0,0,360.0\n", 0.0f},          {HEAD "0,1,0,0,0,-90\n", 270.0f},
        {HEAD "0,1,0,0,0,-360\n", 0.0f},           {HEAD "0,1,0,0,0,-0.0\n", 0.0f},
        {HEAD "0,1,0,0,0,-1080.5\n", 359.5f},      {HEAD "0,1,0,0,0,725\n", 5.0f},
        {HEAD "0,1,0,0,0,359.9999999999\n", 0.0f},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        ph_recording* made = parse(CASES[i].text);
        assert_float_equal(made->heading_deg[0], CASES[i].heading_deg, 0.0f);
        ph_recording_destroy(made);
    }
    assert_refused(HEAD "0,1,0,0,0,north\n",
                   "3:11: heading_deg: expected a number of degrees, found 'north'");
}

static void a_line_has_as_many_cells_as_there_are_columns(void** state)
{
    (void)state;
    assert_refused(HEAD "0,1,0,0,0,0\n1,1,0\n", "4:6: the line ends before y_mm");
    assert_refused(HEAD "0,1,0,0,0,0,5\n",
                   "3:13: the line goes on behind the last column, heading_deg");
}

static void rows_are_sorted_and_none_comes_twice(void** state)
{
    (void)state;
    assert_refused(HEAD "4,1,0,0,0,0\n3,1,0,0,0,0\n",
                   "4:1: tick 3 stands below tick 4: rows are sorted by tick, then entity");
    assert_refused(HEAD "4,9,0,0,0,0\n\n4,5,0,0,0,0\n",
                   "5:3: entity 5 stands below entity 9: rows are sorted by tick, then entity");
    assert_refused(HEAD "4,9,0,0,0,0\n4,9,0,0,0,0\n", "4:3: entity 9 has a row at tick 4 already");
}

static void extra_cells_keep_to_the_kind_of_their_column(void** state)
{
    (void)state;
    assert_refused(HEAD_WITH("hat") "0,1,0,0,0,0,3\n1,1,0,0,0,0,red\n",
                   "4:13: hat: expected a number as in the lines above, found 'red'");
    assert_refused(HEAD_WITH("hat") "0,1,0,0,0,0,1e5\n",
                   "3:13: hat: expected a number of at most 15 digits, or a word, found '1e5'");
    assert_refused(HEAD_WITH("hat") "0,1,0,0,0,0,a\"b\n",
                   "3:13: hat: expected a word of at most 63 bytes without quotes and control "
                   "characters, found 'a\"b'");
}

static void bytes_that_are_no_text_are_refused(void** state)
{
    (void)state;
    const char text[] = HEAD_WITH("hat") "0,1,0,0,0,0,a\0b\n";
    const ph_recording_def def = {0};
    ph_fault fault;
    assert_null(ph_recording_parse(text, sizeof text - 1, &def, &fault));
    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 13);
}

static void a_file_that_cannot_be_read_is_refused(void** state)
{
    (void)state;
    assert_not_loaded("test/recordings/nothing.csv",
                      "0:0: cannot open it: No such file or directory");
    assert_not_loaded("test/recordings/cut_short.csv.gz",
                      "4:0: cannot read on: the packed data break off");
    assert_not_loaded("test/recordings/damaged.csv.gz",
                      "1:0: cannot read on: the packed data are damaged");
}

// ---- finding rows

static void rows_are_found_by_entity_and_tick(void** state)
{
    (void)state;
    ph_recording* yard = load("test/recordings/yard.csv");
    assert_int_equal(ph_recording_find(yard, 9), 1);
    assert_int_equal(ph_recording_find(yard, 8), -1);
    assert_int_equal(ph_recording_find(yard, 13), -1);
    assert_int_equal(yard->x_mm[ph_recording_row(yard, 1, 0)], -1600);
    assert_int_equal(ph_recording_row(yard, 1, 1), -1);
    assert_int_equal(ph_recording_row(yard, 1, 2), -1);
    assert_int_equal(yard->x_mm[ph_recording_row(yard, 1, 3)], -3200);
    assert_int_equal(ph_recording_row(yard, 1, 4), -1);
    assert_int_equal(ph_recording_row(yard, 1, -1), -1);
    int first;
    assert_int_equal(ph_recording_rows(yard, 1, &first), 2);
    assert_int_equal(first, 4);
    ph_recording_destroy(yard);
}

enum { RANDOM_TICKS = 60, RANDOM_ENTITIES = 20 };

// Writes a recording in which entities come and go; x tells tick and entity.
static void write_random(bool is_there[RANDOM_TICKS][RANDOM_ENTITIES], test_rng* rng, char* text)
{
    text += sprintf(text, "%s", HEAD);
    const uint64_t changes = 1 + test_rng_below(rng, 8);
    for (int t = 0; t < RANDOM_TICKS; ++t) {
        for (int e = 0; e < RANDOM_ENTITIES; ++e) {
            const bool was_there = t > 0 && is_there[t - 1][e];
            is_there[t][e] = (test_rng_below(rng, changes) == 0) != was_there;
            is_there[t][e] = is_there[t][e] || (t == 0 && e == 0);
            if (is_there[t][e]) {
                text += sprintf(text, "%d,%d,%d,0,0,0\n", t, e * 3, t * 100 + e);
            }
        }
    }
}

static void every_row_is_found_and_no_other(void** state)
{
    (void)state;
    test_rng rng = {.state = 504};
    static char text[RANDOM_TICKS * RANDOM_ENTITIES * 32];
    static bool is_there[RANDOM_TICKS][RANDOM_ENTITIES];
    for (int round = 0; round < 50; ++round) {
        write_random(is_there, &rng, text);
        ph_recording* made = parse(text);
        for (int t = 0; t < RANDOM_TICKS; ++t) {
            for (int e = 0; e < made->entity_count; ++e) {
                const int id = (int)made->id[e] / 3;
                const int row = ph_recording_row(made, e, t);
                assert_int_equal(row >= 0, is_there[t][id]);
                assert_true(row < 0 || made->x_mm[row] == t * 100 + id);
            }
        }
        ph_recording_destroy(made);
    }
}

static void the_fullest_tick_is_the_first_with_the_most(void** state)
{
    (void)state;
    test_rng rng = {.state = 505};
    static char text[RANDOM_TICKS * RANDOM_ENTITIES * 32];
    static bool is_there[RANDOM_TICKS][RANDOM_ENTITIES];
    for (int round = 0; round < 50; ++round) {
        write_random(is_there, &rng, text);
        int fullest = 0;
        int most = 0;
        for (int t = 0; t < RANDOM_TICKS; ++t) {
            int count = 0;
            for (int e = 0; e < RANDOM_ENTITIES; ++e) {
                count += is_there[t][e] ? 1 : 0;
            }
            fullest = count > most ? t : fullest;
            most = count > most ? count : most;
        }
        ph_recording* made = parse(text);
        assert_int_equal(ph_recording_fullest_tick(made), fullest);
        ph_recording_destroy(made);
    }
}

// ---- scenes

static void a_recorded_scene_shows_what_the_scene_shows(void** state)
{
    (void)state;
    const ph_truth_def def = {.source = "scene:wander", .count = 30, .rate_hz = 4, .seconds = 50.0};
    ph_fault fault;
    ph_recording* recording = ph_truth_open(&def, &fault);
    assert_non_null(recording);
    assert_int_equal(recording->rate_hz, 4);
    assert_int_equal(recording->tick_count, 200);
    ph_scene* scene = ph_scene_create("wander", 30, 4, 0);
    int absent_count = 0;
    for (int t = 0; t < 200; ++t) {
        for (int e = 0; e < recording->entity_count; ++e) {
            const int actor = (int)recording->id[e];
            const int row = ph_recording_row(recording, e, t);
            assert_int_equal(row >= 0, scene->present[actor]);
            absent_count += row < 0 ? 1 : 0;
            if (row >= 0) {
                assert_int_equal(recording->x_mm[row], scene->x_mm[actor]);
                assert_int_equal(recording->z_mm[row], scene->z_mm[actor]);
                assert_true(recording->heading_deg[row] == scene->heading_deg[actor]);
            }
        }
        ph_scene_step(scene);
    }
    assert_true(absent_count > 0);
    ph_scene_destroy(scene);
    ph_recording_destroy(recording);
}

static void a_recorded_scene_has_the_columns_and_the_ground_of_its_scene(void** state)
{
    (void)state;
    const ph_scene_recording_def def = {.scene = "town", .count = 5, .seconds = 2.0};
    ph_fault fault;
    ph_recording* recording = ph_scene_recording_make(&def, &fault);
    assert_non_null(recording);
    const ph_scene_info* info = ph_scene_find("town");
    assert_int_equal(recording->rate_hz, info->default_rate_hz);
    assert_int_equal(recording->column_count, info->extra_count);
    assert_string_equal(recording->columns[0].name, info->extras[0].name);
    assert_true(recording->columns[0].low == info->extras[0].low);
    assert_true(recording->columns[0].high == info->extras[0].high);
    assert_true(recording->ground.layers == info->ground.layers);
    assert_int_equal(recording->altitude.tolerance_mm, info->altitude.tolerance_mm);
    ph_recording_destroy(recording);
}

static void a_scene_that_does_not_exist_is_named(void** state)
{
    (void)state;
    const ph_truth_def def = {.source = "scene:moon"};
    ph_fault fault;
    assert_null(ph_truth_open(&def, &fault));
    assert_string_equal(fault.message, "there is no scene moon");
}

static void a_truth_may_be_a_file(void** state)
{
    (void)state;
    const ph_truth_def def = {.source = "test/recordings/yard.csv", .is_pose_only = true};
    ph_fault fault;
    ph_recording* yard = ph_truth_open(&def, &fault);
    assert_non_null(yard);
    assert_is_yard(yard);
    ph_recording_destroy(yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_read),
        cmocka_unit_test(a_packed_file_is_read),
        cmocka_unit_test(columns_know_what_they_hold),
        cmocka_unit_test(values_follow_their_row),
        cmocka_unit_test(columns_may_stand_in_any_order),
        cmocka_unit_test(the_extremes_are_accepted),
        cmocka_unit_test(a_column_of_empty_cells_holds_nothing),
        cmocka_unit_test(words_may_look_like_numbers_behind_a_real_word),
        cmocka_unit_test(the_rate_that_is_given_goes_first),
        cmocka_unit_test(only_so_many_seconds_are_read),
        cmocka_unit_test(a_pose_has_no_other_columns),
        cmocka_unit_test(comments_are_for_people),
        cmocka_unit_test(a_missing_column_is_named),
        cmocka_unit_test(a_missing_rate_is_named),
        cmocka_unit_test(a_broken_rate_is_shown),
        cmocka_unit_test(a_rate_may_have_decimals),
        cmocka_unit_test(a_file_without_rows_is_refused),
        cmocka_unit_test(names_of_columns_are_checked),
        cmocka_unit_test(more_columns_than_properties_are_refused),
        cmocka_unit_test(a_broken_number_is_shown_with_its_place),
        cmocka_unit_test(a_heading_is_wrapped_into_one_turn),
        cmocka_unit_test(a_line_has_as_many_cells_as_there_are_columns),
        cmocka_unit_test(rows_are_sorted_and_none_comes_twice),
        cmocka_unit_test(extra_cells_keep_to_the_kind_of_their_column),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(a_file_that_cannot_be_read_is_refused),
        cmocka_unit_test(rows_are_found_by_entity_and_tick),
        cmocka_unit_test(every_row_is_found_and_no_other),
        cmocka_unit_test(the_fullest_tick_is_the_first_with_the_most),
        cmocka_unit_test(a_recorded_scene_shows_what_the_scene_shows),
        cmocka_unit_test(a_recorded_scene_has_the_columns_and_the_ground_of_its_scene),
        cmocka_unit_test(a_scene_that_does_not_exist_is_named),
        cmocka_unit_test(a_truth_may_be_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
