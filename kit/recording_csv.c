// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reading a recording: comments, names of the columns, rows. Runs once per run of the simulator, over
// hundreds of thousands of rows: about 10 million cells a second.

#include "kit/recording_csv.h"

#include "kit/csv.h"
#include "kit/file_text.h"
#include "kit/jump_marks.h"
#include "kit/recording_replay.h"
#include "kit/recording_attitude.h"
#include "kit/rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a column of the file is for; an extra one is EXTRA plus its number.
enum {
    TICK,
    ENTITY,
    X_MM,
    Y_MM,
    Z_MM,
    HEADING_DEG,
    NEEDED_COUNT,
    TELEPORT = NEEDED_COUNT,
    EXTRA,
    LEFT_OUT = -1
};

static const char* const POSE[EXTRA] = {"tick", "entity",      "x_mm",    "y_mm",
                                        "z_mm", "heading_deg", "teleport"};

enum { FIELDS_MAX = EXTRA + PH_RECORDING_COLUMNS_MAX, TICK_MAX = 1000000000 };

typedef struct reading {
    ph_csv csv;
    const ph_recording_def* def;
    ph_fault* fault;
    double rate_hz;
    int end_tick; // the first one that is not read
    // By column of the file.
    int role[FIELDS_MAX];
    char name[FIELDS_MAX][PH_SCHEMA_NAME_MAX + 1];
    int field_count;
    // The extra ones, without values until the end.
    ph_column extra[PH_RECORDING_COLUMNS_MAX];
    int extra_count;
    ph_rows rows;
} reading;

// One line in the making.
typedef struct line_row {
    ph_row row;
    int tick_column; // of the file's line, for messages
    int entity_column;
    double cells[PH_RECORDING_COLUMNS_MAX];
} line_row;

// ---- comments and the rate

static bool read_rate(reading* in, const ph_csv_cell* cell)
{
    ph_csv_cell_number number;
    const bool is_number = ph_csv_cell_read_number(cell, &number);
    const double rate_hz = is_number ? ph_cell_number_value(number) : 0.0;
    if (!(rate_hz >= 1.0 && rate_hz <= PH_RECORDING_RATE_MAX)) {
        return ph_fault_set(in->fault, in->csv.line, cell->column,
                            "the rate must be a number from 1 to %d, such as 23.976, found '%s'",
                            PH_RECORDING_RATE_MAX, ph_csv_cell_quote(cell).text);
    }
    in->rate_hz = rate_hz;
    return true;
}

static const char* skip_blanks(const char* at, const char* end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
    return at;
}

// "# rate 16"; all other comments are for people.
static bool read_comment(reading* in)
{
    static const char RATE[] = "rate";
    const char* end = in->csv.line_end;
    while (end[-1] == ' ' || end[-1] == '\t') {
        --end;
    }
    const char* at = skip_blanks(in->csv.begin + 1, end);
    const size_t length = sizeof RATE - 1;
    if ((size_t)(end - at) < length || memcmp(at, RATE, length) != 0) {
        return true;
    }
    const char* number = skip_blanks(at + length, end);
    if (number == at + length && number < end) {
        return true; // "# rated by many"
    }
    const ph_csv_cell cell = {
        .text = number,
        .length = (int)(end - number),
        .column = (int)(number - in->csv.begin) + 1,
    };
    return read_rate(in, &cell);
}

// ---- names of the columns

static bool is_name(const ph_csv_cell* cell)
{
    for (int i = 0; i < cell->length; ++i) {
        const char byte = cell->text[i];
        const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        const bool is_digit = byte >= '0' && byte <= '9';
        if (!is_letter && byte != '_' && !(is_digit && i > 0)) {
            return false;
        }
    }
    return cell->length >= 1 && cell->length <= PH_SCHEMA_NAME_MAX;
}

static int role_of(const reading* in, const ph_csv_cell* cell)
{
    for (int r = 0; r < EXTRA; ++r) {
        if (ph_csv_cell_is(cell, POSE[r])) {
            return r;
        }
    }
    return EXTRA + in->extra_count;
}

static bool check_name(const reading* in, const ph_csv_cell* cell)
{
    const ph_csv_cell_text quoted = ph_csv_cell_quote(cell);
    if (!is_name(cell)) {
        return ph_fault_set(in->fault, in->csv.line, cell->column,
                            "a column is named by 1..%d letters, digits and _, no digit first, "
                            "found '%s'",
                            PH_SCHEMA_NAME_MAX, quoted.text);
    }
    const bool is_place = ph_csv_cell_is(cell, "position");
    if (is_place || ph_csv_cell_is(cell, "heading")) {
        return ph_fault_set(in->fault, in->csv.line, cell->column,
                            "a column cannot be named %s: every entity has that already, from %s",
                            quoted.text, is_place ? "x_mm, y_mm and z_mm" : "heading_deg");
    }
    for (int f = 0; f < in->field_count; ++f) {
        if (ph_csv_cell_is(cell, in->name[f])) {
            return ph_fault_set(in->fault, in->csv.line, cell->column,
                                "there are two columns named %s", quoted.text);
        }
    }
    if (in->field_count == FIELDS_MAX || role_of(in, cell) == EXTRA + PH_RECORDING_COLUMNS_MAX) {
        return ph_fault_set(in->fault, in->csv.line, cell->column,
                            "there are more than %d extra columns", PH_RECORDING_COLUMNS_MAX);
    }
    return true;
}

static void add_field(reading* in, const ph_csv_cell* cell)
{
    const int field = in->field_count++;
    memcpy(in->name[field], cell->text, (size_t)cell->length);
    in->role[field] = role_of(in, cell);
    if (in->role[field] >= EXTRA) {
        memcpy(in->extra[in->extra_count++].name, in->name[field], sizeof in->name[field]);
    }
}

static bool has_role(const reading* in, int role)
{
    for (int f = 0; f < in->field_count; ++f) {
        if (in->role[f] == role) {
            return true;
        }
    }
    return false;
}

static bool check_needed(const reading* in)
{
    char missing[80] = "";
    int count = 0;
    for (int r = 0; r < NEEDED_COUNT; ++r) {
        if (!has_role(in, r)) {
            strcat(missing, count++ > 0 ? ", " : "");
            strcat(missing, POSE[r]);
        }
    }
    if (count == 0) {
        return true;
    }
    return ph_fault_set(in->fault, in->csv.line, 0, "missing column%s: %s", count > 1 ? "s" : "",
                        missing);
}

static bool is_among(const char* name, const char* const* names, int count)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

// The names of the columns of the rotation, if all of them are there.
static const char* const* names_of_rotation(const reading* in, int* count)
{
    static const ph_attitude_form FORMS[] = {PH_ATTITUDE_QUATERNION, PH_ATTITUDE_ANGLES};
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0] && !in->def->is_flat; ++i) {
        const char* const* names = ph_attitude_column_names(FORMS[i], count);
        int found = 0;
        for (int c = 0; c < in->extra_count; ++c) {
            found += is_among(in->extra[c].name, names, *count) ? 1 : 0;
        }
        if (found == *count) {
            return names;
        }
    }
    *count = 0;
    return NULL;
}

static void leave_extra_columns_out(reading* in)
{
    int count;
    const char* const* names = names_of_rotation(in, &count);
    in->extra_count = 0;
    for (int f = 0; f < in->field_count; ++f) {
        if (in->role[f] < EXTRA) {
            continue;
        }
        in->role[f] = LEFT_OUT;
        if (is_among(in->name[f], names, count) || strcmp(in->name[f], PH_RECORDING_CLASS) == 0) {
            in->role[f] = EXTRA + in->extra_count;
            memcpy(in->extra[in->extra_count++].name, in->name[f], sizeof in->name[f]);
        }
    }
}

static bool read_names(reading* in)
{
    ph_csv_cell cell;
    while (ph_csv_next_cell(&in->csv, &cell)) {
        if (!check_name(in, &cell)) {
            return false;
        }
        add_field(in, &cell);
    }
    if (in->def->is_pose_only) {
        leave_extra_columns_out(in);
    }
    return check_needed(in);
}

// ---- cells

static bool refuse_cell(const reading* in, const ph_csv_cell* cell, int field, const char* expected)
{
    return ph_fault_set(in->fault, in->csv.line, cell->column, "%s: expected %s, found '%s'",
                        in->name[field], expected, ph_csv_cell_quote(cell).text);
}

static bool read_whole(const ph_csv_cell* cell, int64_t low, int64_t high, int64_t* value)
{
    ph_csv_cell_number number;
    if (!ph_csv_cell_read_number(cell, &number) || number.decimals != 0 || number.digits < low ||
        number.digits > high) {
        return false;
    }
    *value = number.digits;
    return true;
}

static bool read_heading(const ph_csv_cell* cell, float* heading_deg)
{
    ph_csv_cell_number number;
    if (!ph_csv_cell_read_number(cell, &number)) {
        return false;
    }
    // Games write -180..180 and 360, too: one direction, one number.
    const double turned = fmod(ph_cell_number_value(number), 360.0);
    const float wrapped = (float)(turned < 0.0 ? turned + 360.0 : turned);
    // A float may round up to the full turn, which is none; and -0 is 0.
    *heading_deg = wrapped > 0.0f && wrapped < 360.0f ? wrapped : 0.0f;
    return true;
}

static bool read_pose_cell(const reading* in, const ph_csv_cell* cell, int field, line_row* line)
{
    int64_t value;
    switch (in->role[field]) {
    case TICK:
        if (!read_whole(cell, 0, TICK_MAX, &value)) {
            return refuse_cell(in, cell, field, "a whole number from 0 to 1000000000");
        }
        line->row.tick = (int32_t)value;
        line->tick_column = cell->column;
        return true;
    case ENTITY:
        if (!read_whole(cell, 0, INT32_MAX, &value)) {
            return refuse_cell(in, cell, field, "a whole number from 0 to 2147483647");
        }
        line->row.id = (uint32_t)value;
        line->entity_column = cell->column;
        return true;
    case TELEPORT:
        value = 0;
        if (cell->length > 0 && !read_whole(cell, 0, 1, &value)) {
            return refuse_cell(in, cell, field, "0 or 1");
        }
        line->row.is_jump = value == 1;
        return true;
    case HEADING_DEG:
        return read_heading(cell, &line->row.heading_deg) ||
               refuse_cell(in, cell, field, "a number of degrees");
    default:
        if (!read_whole(cell, INT32_MIN, INT32_MAX, &value)) {
            return refuse_cell(in, cell, field, "a whole number from -2147483648 to 2147483647");
        }
        line->row.position_mm[in->role[field] - X_MM] = (int32_t)value;
        return true;
    }
}

static bool read_extra_cell(reading* in, const ph_csv_cell* cell, int field, line_row* line)
{
    const int extra = in->role[field] - EXTRA;
    const char* expected;
    if (ph_column_take(&in->extra[extra], cell, &line->cells[extra], &expected)) {
        return true;
    }
    return expected != NULL ? refuse_cell(in, cell, field, expected)
                            : ph_fault_set_memory(in->fault);
}

// ---- rows

static bool check_order(const reading* in, const line_row* line)
{
    if (in->rows.count == 0) {
        return true;
    }
    const ph_row* last = &in->rows.row[in->rows.count - 1];
    const ph_row* row = &line->row;
    if (row->tick < last->tick) {
        return ph_fault_set(in->fault, in->csv.line, line->tick_column,
                            "tick %d stands below tick %d: rows are sorted by tick, then entity",
                            row->tick, last->tick);
    }
    if (row->tick > last->tick || row->id > last->id) {
        return true;
    }
    if (row->id == last->id) {
        return ph_fault_set(in->fault, in->csv.line, line->entity_column,
                            "entity %u has a row at tick %d already", row->id, row->tick);
    }
    return ph_fault_set(in->fault, in->csv.line, line->entity_column,
                        "entity %u stands below entity %u: rows are sorted by tick, then entity",
                        row->id, last->id);
}

static bool read_cells(reading* in, line_row* line)
{
    ph_csv_cell cell;
    for (int f = 0; f < in->field_count; ++f) {
        if (!ph_csv_next_cell(&in->csv, &cell)) {
            return ph_fault_set(in->fault, in->csv.line, ph_csv_end_column(&in->csv),
                                "the line ends before %s", in->name[f]);
        }
        const int role = in->role[f];
        if (role == LEFT_OUT) {
            continue;
        }
        const bool is_read =
            role < EXTRA ? read_pose_cell(in, &cell, f, line) : read_extra_cell(in, &cell, f, line);
        if (!is_read) {
            return false;
        }
    }
    if (ph_csv_next_cell(&in->csv, &cell)) {
        return ph_fault_set(in->fault, in->csv.line, cell.column,
                            "the line goes on behind the last column, %s",
                            in->name[in->field_count - 1]);
    }
    return true;
}

static void find_end(reading* in, int first_tick)
{
    in->end_tick = INT_MAX;
    const double count = floor(in->def->seconds * in->rate_hz + 0.5);
    if (in->def->seconds > 0.0 && count < (double)(INT_MAX - first_tick)) {
        in->end_tick = first_tick + (count > 1.0 ? (int)count : 1);
    }
}

static bool read_rows(reading* in)
{
    line_row line = {0};
    while (ph_csv_next_line(&in->csv)) {
        if (!read_cells(in, &line) || !check_order(in, &line)) {
            return false;
        }
        if (in->rows.count == 0) {
            find_end(in, line.row.tick);
        }
        if (line.row.tick >= in->end_tick) {
            break;
        }
        line.row.line = in->csv.line;
        if (!ph_rows_add(&in->rows, &line.row, line.cells)) {
            return ph_fault_set_memory(in->fault);
        }
    }
    return in->rows.count > 0 ||
           ph_fault_set(in->fault, in->csv.line, 0, "there is no row below the column names");
}

// ---- the whole

static bool read_head(reading* in)
{
    in->rate_hz = 0;
    bool is_there = ph_csv_next_line(&in->csv);
    for (; is_there && in->csv.begin[0] == '#'; is_there = ph_csv_next_line(&in->csv)) {
        if (!read_comment(in)) {
            return false;
        }
    }
    if (!is_there) {
        return ph_fault_set(in->fault, in->csv.line, 0, "there is no line of column names");
    }
    if (!read_names(in)) {
        return false;
    }
    in->rate_hz = in->def->rate_hz != 0 ? in->def->rate_hz : in->rate_hz;
    if (in->rate_hz == 0) {
        return ph_fault_set(in->fault, 1, 0,
                            "missing rate: none was given, and there is no first line such as "
                            "'# rate 16'");
    }
    return true;
}

static bool finish_columns(reading* in, ph_recording* made)
{
    for (int c = 0; c < in->extra_count; ++c) {
        double* value = made->columns[c].value;
        made->columns[c] = in->extra[c];
        made->columns[c].value = value;
        in->extra[c].lexicon = (ph_lexicon){0};
        if (made->columns[c].kind == PH_COLUMN_WORD &&
            !ph_column_sort_words(&made->columns[c], made->row_count)) {
            return false;
        }
    }
    return true;
}

static ph_recording* finish(reading* in)
{
    ph_recording* made = ph_rows_finish(&in->rows);
    if (made == NULL || !finish_columns(in, made)) {
        ph_recording_destroy(made);
        ph_fault_set_memory(in->fault);
        return NULL;
    }
    made->rate_hz = in->rate_hz;
    made->has_marks = has_role(in, TELEPORT);
    if (!made->has_marks) {
        ph_jump_marks_find(made);
    }
    ph_recording_find_classes(made);
    const int column = ph_recording_find_column(made, PH_RECORDING_CLASS);
    if (in->def->is_pose_only && made->class_column < 0 && column >= 0) {
        made->columns[column].kind = PH_COLUMN_EMPTY; // kept for nothing
    }
    if (!in->def->is_flat) {
        ph_attitude_find(made);
    }
    return made;
}

ph_recording* ph_recording_parse(const char* text, size_t length, const ph_recording_def* def,
                                 ph_fault* fault)
{
    PH_ASSERT(def->rate_hz >= 0 && def->rate_hz <= PH_RECORDING_RATE_MAX);
    PH_ASSERT(def->seconds >= 0.0);
    reading* in = calloc(1, sizeof(reading));
    if (in == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    in->csv = ph_csv_make(text, length);
    in->def = def;
    in->fault = fault;
    ph_recording* made = NULL;
    if (read_head(in)) {
        in->rows.column_count = in->extra_count;
        made = read_rows(in) ? finish(in) : NULL;
    }
    for (int c = 0; c < in->extra_count; ++c) {
        ph_lexicon_clear(&in->extra[c].lexicon);
    }
    ph_rows_clear(&in->rows);
    free(in);
    return made;
}

ph_recording* ph_recording_load(const char* path, const ph_recording_def* def, ph_fault* fault)
{
    ph_file_text text;
    if (!ph_file_text_load(path, &text, fault)) {
        return NULL;
    }
    ph_recording* made = ph_recording_replay_suits(text.bytes, text.length)
                             ? ph_recording_replay_parse(text.bytes, text.length, def, fault)
                             : ph_recording_parse(text.bytes, text.length, def, fault);
    ph_file_text_unload(&text);
    return made;
}
