// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator: about two million rows a second.

#include "kit/recording_replay.h"

#include "base/hash.h"
#include "kit/jump_marks.h"
#include "kit/recording_attitude.h"
#include "kit/rows.h"

#include <pinhole/recorder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS_MAX = 6, TICKS_MAX = 1000000000, WORD_MAX = 63 };

#define KEY_MAX UINT64_C(2147483647)

// A property as one or more columns, or as the heading.
typedef struct bound_property {
    ph_field field;
    int column;   // the first, or one of these
    int count;    // of columns: 1, 3 or 4
    double scale; // to degrees, of the heading
} bound_property;

enum { NO_COLUMN = -1, HEADING_COLUMN = -2 };

typedef struct bound_class {
    bound_property properties[PH_PROPERTIES_MAX];
    int property_count;
} bound_class;

typedef struct present_entity {
    uint64_t key;
    int place;
} present_entity;

typedef struct converting {
    const ph_recording_def* def;
    ph_fault* fault;
    ph_replay* replay;
    bound_class* classes;
    int class_count;
    int class_column; // which says of which class an entity is; NO_COLUMN: all are of one
    int class_words
        [PH_CLASSES_MAX]; // by class: the number of its name in that column, -1: not seen yet
    ph_column columns[PH_RECORDING_COLUMNS_MAX];
    int column_count;
    uint64_t class_columns; // of the class whose properties are bound
    int left_out_count;     // properties
    present_entity* present;
    int present_capacity;
    uint32_t first_tick;
    int64_t last_tick;      // that was added; -1: none
    bool numbers_keys;      // ids are not keys
    ph_hash_map ids;        // key -> id
    ph_hash_map classes_of; // key -> class, at the last tick that had it
    ph_hash_map ticks_of;   // key -> that tick
    ph_rows rows;
} converting;

bool ph_recording_replay_suits(const void* bytes, size_t size)
{
    // The first byte is none of any text.
    return size > 0 &&
           (*(const unsigned char*)bytes == 0x89 || ph_replay_is_recording(bytes, size));
}

// ---- columns

static bool is_real(ph_coding coding)
{
    return coding == PH_CODING_FIXED || coding == PH_CODING_ANGLE || coding == PH_CODING_VEC3 ||
           coding == PH_CODING_QUATERNION;
}

static bool is_whole_at(double number, double power)
{
    const double scaled = number * power;
    return fabs(scaled - floor(scaled + 0.5)) < 1e-6;
}

int ph_recording_replay_decimals(const ph_property_def* def)
{
    if (def->coding != PH_CODING_FIXED && def->coding != PH_CODING_VEC3) {
        return DECIMALS_MAX;
    }
    double power = 1.0;
    for (int d = 0; d < DECIMALS_MAX; ++d, power *= 10.0) {
        if (is_whole_at(def->step, power) && is_whole_at(def->lo, power)) {
            return d;
        }
    }
    return DECIMALS_MAX;
}

bool ph_recording_replay_is_heading(const ph_property_def* def)
{
    return (strcmp(def->name, "heading") == 0 || strcmp(def->name, "heading_deg") == 0) &&
           (def->coding == PH_CODING_FIXED || def->coding == PH_CODING_ANGLE);
}

// Whether a class has all that tells a rotation in this form, as columns that were text once.
static bool has_form(const ph_class_def* type, ph_attitude_form form)
{
    int count;
    const char* const* names = ph_attitude_column_names(form, &count);
    int found = 0;
    for (int p = 0; p < type->property_count; ++p) {
        for (int i = 0; i < count; ++i) {
            found += strcmp(type->properties[p].name, names[i]) == 0 ? 1 : 0;
        }
    }
    return found == count;
}

// Whether a property stays when the extra columns are left out.
static bool is_of_rotation(const ph_recording_def* def, const ph_class_def* type,
                           const ph_property_def* property)
{
    if (def->is_flat) {
        return false;
    }
    if (ph_attitude_is_orientation(property)) {
        return true;
    }
    const ph_attitude_form form =
        has_form(type, PH_ATTITUDE_QUATERNION) ? PH_ATTITUDE_QUATERNION : PH_ATTITUDE_ANGLES;
    int count;
    const char* const* names = ph_attitude_column_names(form, &count);
    for (int i = 0; i < count && has_form(type, form); ++i) {
        if (strcmp(property->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static ph_column_kind kind_of(const ph_property_def* def)
{
    if (def->coding == PH_CODING_STRING) {
        return PH_COLUMN_WORD;
    }
    return is_real(def->coding) && ph_recording_replay_decimals(def) > 0 ? PH_COLUMN_DECIMAL
                                                                         : PH_COLUMN_WHOLE;
}

// The column of this name, which may be there for another class. @return NO_COLUMN where it cannot be: another
// property of the class has it, as v_x beside a vector v.
static int add_column(converting* in, const ph_property_def* def, const char* begin,
                      const char* ending)
{
    char name[2 * PH_SCHEMA_NAME_MAX];
    const bool is_free = in->class_column < 0 && strcmp(begin, PH_RECORDING_CLASS) == 0;
    const bool is_own = ending[0] == '\0' && ph_recording_is_own_name(begin) && !is_free;
    const int length = snprintf(name, sizeof name, "%s%s", begin, is_own ? "_" : ending);
    const ph_column_kind kind = kind_of(def);
    const int decimals = kind == PH_COLUMN_DECIMAL ? ph_recording_replay_decimals(def) : 0;
    for (int c = 0; c < in->column_count; ++c) {
        if (strcmp(in->columns[c].name, name) == 0) {
            ph_column* column = &in->columns[c];
            const bool is_word = column->kind == PH_COLUMN_WORD;
            if (is_word != (kind == PH_COLUMN_WORD) || (in->class_columns >> c & 1) != 0) {
                return NO_COLUMN;
            }
            in->class_columns |= UINT64_C(1) << c;
            column->kind = decimals > 0 ? PH_COLUMN_DECIMAL : column->kind;
            column->decimals = decimals > column->decimals ? decimals : column->decimals;
            return c;
        }
    }
    if (in->column_count == PH_RECORDING_COLUMNS_MAX || length > PH_SCHEMA_NAME_MAX) {
        return NO_COLUMN;
    }
    ph_column* column = &in->columns[in->column_count];
    memcpy(column->name, name, (size_t)length + 1);
    column->kind = kind;
    column->decimals = decimals;
    in->class_columns |= UINT64_C(1) << in->column_count;
    return in->column_count++;
}

static bound_property bind_heading(const ph_property_def* def)
{
    return (bound_property){
        .field = PH_FIELD_F64,
        .column = HEADING_COLUMN,
        .count = 1,
        .scale = def->coding == PH_CODING_ANGLE ? 360.0 / def->turn : 1.0,
    };
}

static bound_property bind_property(converting* in, const ph_class_def* type,
                                    const ph_property_def* def)
{
    static const char* const ENDINGS[] = {"_x", "_y", "_z", "_w"};
    const bool is_orientation = !in->def->is_flat && ph_attitude_is_orientation(def);
    if (def->coding == PH_CODING_POSITION) {
        return (bound_property){.column = NO_COLUMN};
    }
    if (ph_recording_replay_is_heading(def)) {
        return bind_heading(def);
    }
    if (in->def->is_pose_only && !is_of_rotation(in->def, type, def)) {
        return (bound_property){.column = NO_COLUMN};
    }
    bound_property made = {.field = ph_coding_field(def->coding), .column = NO_COLUMN, .count = 1};
    if (def->coding == PH_CODING_VEC3 || def->coding == PH_CODING_QUATERNION) {
        made.count = def->coding == PH_CODING_VEC3 ? 3 : 4;
        for (int i = 0; i < made.count; ++i) {
            // One that is how the entity is turned has the names that all tools know.
            const int column = is_orientation ? add_column(in, def, "q", ENDINGS[i] + 1)
                                              : add_column(in, def, def->name, ENDINGS[i]);
            made.column = i == 0 || column == NO_COLUMN ? column : made.column;
            if (column == NO_COLUMN) {
                break;
            }
        }
    } else if (def->coding != PH_CODING_BYTES) {
        made.column = add_column(in, def, def->name, "");
    }
    made.field = def->coding == PH_CODING_ENTITY ? PH_FIELD_U64 : made.field;
    in->left_out_count += made.column == NO_COLUMN;
    return made;
}

// "thing", "thing_2" ... are what a text becomes that leaves some cells empty (kit/recording_write.c): one class.
static bool is_thing(const char* name)
{
    static const char THING[] = "thing";
    const size_t length = sizeof THING - 1;
    if (strncmp(name, THING, length) != 0) {
        return false;
    }
    const char* behind = name + length;
    return behind[0] == '\0' || (behind[0] == '_' && behind[1] != '\0' &&
                                 behind[1 + strspn(behind + 1, "0123456789")] == '\0');
}

static bool has_classes(const ph_schema* schema)
{
    const int count = ph_schema_class_count(schema);
    int things = 0;
    while (things < count && is_thing(ph_schema_class(schema, things)->name)) {
        ++things;
    }
    return count > 1 && things < count;
}

static bool bind_classes(converting* in)
{
    const ph_schema* schema = ph_replay_schema(in->replay);
    in->class_column = NO_COLUMN;
    if (has_classes(schema)) {
        in->class_column = in->column_count++;
        ph_column* column = &in->columns[in->class_column];
        memcpy(column->name, PH_RECORDING_CLASS, sizeof PH_RECORDING_CLASS);
        column->kind = PH_COLUMN_WORD;
        for (int i = 0; i < PH_CLASSES_MAX; ++i) {
            in->class_words[i] = -1;
        }
    }
    in->class_count = ph_schema_class_count(schema);
    in->classes = calloc((size_t)in->class_count, sizeof *in->classes);
    if (in->classes == NULL) {
        return ph_fault_set_memory(in->fault);
    }
    for (int i = 0; i < in->class_count; ++i) {
        const ph_class_def* def = ph_schema_class(schema, i);
        in->classes[i].property_count = def->property_count;
        in->class_columns = 0;
        for (int p = 0; p < def->property_count; ++p) {
            in->classes[i].properties[p] = bind_property(in, def, &def->properties[p]);
        }
    }
    return true;
}

// ---- cells

// To the decimals of its column, so that a number that was text once is the same number again.
static double rounded(double number, int decimals)
{
    double power = 1.0;
    for (int d = 0; d < decimals; ++d) {
        power *= 10.0;
    }
    return floor(number * power + 0.5) / power;
}

static void take_number(ph_column* column, double number, double* cell)
{
    *cell = column->kind == PH_COLUMN_DECIMAL ? rounded(number, column->decimals) : number;
}

// A word for a cell: what cannot stand in one becomes _. An empty text is an empty cell.
static bool take_text(converting* in, ph_column* column, char* text, double* cell)
{
    size_t length = strlen(text);
    length = length > WORD_MAX ? WORD_MAX : length;
    for (size_t i = 0; i < length; ++i) {
        const unsigned char byte = (unsigned char)text[i];
        text[i] = byte < ' ' || byte == '"' || byte == ',' || byte == 0x7F ? '_' : text[i];
    }
    const int number = length == 0 ? 0 : ph_lexicon_add(&column->lexicon, text, (int)length);
    if (number < 0) {
        return column->lexicon.count < PH_LEXICON_MAX
                   ? ph_fault_set_memory(in->fault)
                   : ph_fault_set(in->fault, 0, 0, "%s has more than %d different texts",
                                  column->name, PH_LEXICON_MAX);
    }
    *cell = length == 0 ? (double)NAN : number;
    return true;
}

static bool id_of(converting* in, uint64_t key, uint32_t* id);

static bool take_property(converting* in, const present_entity* entity, int property,
                          const bound_property* bound, double* cells)
{
    ph_column* column = &in->columns[bound->column];
    union {
        int64_t whole;
        uint64_t key;
        double real[4];
        char text[PH_TEXT_LENGTH_MAX + 1];
    } value;
    const size_t size =
        bound->field == PH_FIELD_TEXT ? sizeof value.text : ph_field_size(bound->field, 0);
    if (ph_replay_get_property(in->replay, entity->place, property, bound->field, &value, size) !=
        PH_OK) {
        return true; // a reference that names nothing: the cell stays empty
    }
    if (bound->field == PH_FIELD_TEXT) {
        return take_text(in, column, value.text, &cells[bound->column]);
    }
    if (bound->field == PH_FIELD_U64) {
        uint32_t id = 0;
        const bool is_found = id_of(in, value.key, &id);
        cells[bound->column] = id;
        return is_found;
    }
    if (bound->field == PH_FIELD_I64) {
        take_number(column, (double)value.whole, &cells[bound->column]);
        return true;
    }
    for (int i = 0; i < bound->count; ++i) {
        take_number(column + i, value.real[i], &cells[bound->column + i]);
    }
    return true;
}

static float heading_of(const converting* in, const present_entity* entity, int property,
                        const bound_property* bound)
{
    double value = 0.0;
    ph_replay_get_property(in->replay, entity->place, property, PH_FIELD_F64, &value, sizeof value);
    const double turned = fmod(rounded(value * bound->scale, DECIMALS_MAX), 360.0);
    const float heading = (float)(turned < 0.0 ? turned + 360.0 : turned);
    return heading > 0.0f && heading < 360.0f ? heading : 0.0f;
}

// ---- rows

static int compare_present(const void* left, const void* right)
{
    const uint64_t a = ((const present_entity*)left)->key;
    const uint64_t b = ((const present_entity*)right)->key;
    return (a > b) - (a < b);
}

static bool reserve_map(ph_hash_map* map)
{
    return map->count < map->limit ||
           ph_hash_map_reserve(map, map->count < 32 ? 64 : 2 * map->count) == PH_OK;
}

static bool id_of(converting* in, uint64_t key, uint32_t* id)
{
    if (!in->numbers_keys) {
        *id = (uint32_t)key;
        return true;
    }
    if (ph_hash_map_try_find(&in->ids, key, id)) {
        return true;
    }
    *id = (uint32_t)in->ids.count;
    return (reserve_map(&in->ids) && ph_hash_map_insert(&in->ids, key, *id)) ||
           ph_fault_set_memory(in->fault);
}

// Another entity of this class under the same key, right after the one before, has not moved there.
static bool follows_another(converting* in, const ph_replay_entity* entity, int tick)
{
    uint32_t class_index;
    uint32_t last;
    return entity->is_new && ph_hash_map_try_find(&in->classes_of, entity->key, &class_index) &&
           ph_hash_map_try_find(&in->ticks_of, entity->key, &last) && (int)last == tick - 1 &&
           (int)class_index == entity->class_index;
}

static bool take_class(converting* in, int class_index, double* cells)
{
    if (in->class_column < 0) {
        return true;
    }
    int* word = &in->class_words[class_index];
    if (*word < 0) {
        const char* name = ph_schema_class(ph_replay_schema(in->replay), class_index)->name;
        *word = ph_lexicon_add(&in->columns[in->class_column].lexicon, name, (int)strlen(name));
    }
    cells[in->class_column] = *word;
    return *word >= 0 || ph_fault_set_memory(in->fault);
}

static bool note_entity(converting* in, const ph_replay_entity* entity, int tick)
{
    return (reserve_map(&in->classes_of) && reserve_map(&in->ticks_of) &&
            ph_hash_map_insert(&in->classes_of, entity->key, (uint32_t)entity->class_index) &&
            ph_hash_map_insert(&in->ticks_of, entity->key, (uint32_t)tick)) ||
           ph_fault_set_memory(in->fault);
}

static bool add_row(converting* in, const present_entity* present, int tick)
{
    ph_replay_entity entity;
    ph_replay_get(in->replay, present->place, &entity);
    ph_row row = {.tick = tick};
    if (!id_of(in, entity.key, &row.id)) {
        return false;
    }
    row.is_jump = entity.has_jumped || follows_another(in, &entity, tick);
    memcpy(row.position_mm, entity.position_mm, sizeof row.position_mm);
    double cells[PH_RECORDING_COLUMNS_MAX];
    for (int c = 0; c < in->column_count; ++c) {
        cells[c] = (double)NAN;
    }
    if (!take_class(in, entity.class_index, cells)) {
        return false;
    }
    const bound_class* bound = &in->classes[entity.class_index];
    for (int p = 0; p < bound->property_count; ++p) {
        if (bound->properties[p].column == HEADING_COLUMN) {
            row.heading_deg = heading_of(in, present, p, &bound->properties[p]);
        } else if (bound->properties[p].column >= 0 &&
                   !take_property(in, present, p, &bound->properties[p], cells)) {
            return false;
        }
    }
    if (!ph_rows_add(&in->rows, &row, cells)) {
        return ph_fault_set_memory(in->fault);
    }
    return note_entity(in, &entity, tick);
}

// In the order of keys, which is that of ids where these are keys.
static bool collect_present(converting* in, int* count)
{
    *count = 0;
    const int places = ph_replay_place_count(in->replay);
    if (places > in->present_capacity) {
        const size_t capacity = (size_t)places + (size_t)places / 2 + 64;
        present_entity* grown = realloc(in->present, capacity * sizeof *grown);
        if (grown == NULL) {
            return ph_fault_set_memory(in->fault);
        }
        in->present = grown;
        in->present_capacity = (int)capacity;
    }
    for (int place = 0; place < places; ++place) {
        ph_replay_entity entity;
        if (!ph_replay_get(in->replay, place, &entity)) {
            continue;
        }
        uint32_t id = 0;
        if (!id_of(in, entity.key, &id)) {
            return false;
        }
        in->present[(*count)++] =
            (present_entity){.key = in->numbers_keys ? id : entity.key, .place = place};
    }
    if (*count > 0) {
        qsort(in->present, (size_t)*count, sizeof *in->present, compare_present);
    }
    return true;
}

static bool add_tick(converting* in, int tick)
{
    int count;
    if (!collect_present(in, &count)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (!add_row(in, &in->present[i], tick)) {
            return false;
        }
    }
    return true;
}

static bool has_large_key(const ph_replay* replay)
{
    for (int place = 0; place < ph_replay_place_count(replay); ++place) {
        ph_replay_entity entity;
        if (ph_replay_get(replay, place, &entity) && entity.key > KEY_MAX) {
            return true;
        }
    }
    return false;
}

// Large ticks count from the first.
static int64_t number_of(const converting* in, uint32_t tick)
{
    return in->first_tick <= TICKS_MAX ? (int64_t)tick : (int64_t)tick - in->first_tick;
}

// Begins anew with ids that are no keys, when a key turns up that is too large for one.
typedef enum passing { PASSED, PASSES_AGAIN, PASSED_WRONG } passing;

static passing add_ticks(converting* in, double rate_hz)
{
    const double wanted = floor(in->def->seconds * rate_hz + 0.5);
    bool has_first = false;
    while (ph_replay_next(in->replay)) {
        const uint32_t tick = ph_replay_tick(in->replay);
        in->first_tick = has_first ? in->first_tick : tick;
        has_first = true;
        if ((in->def->seconds > 0.0 && tick - in->first_tick >= (wanted > 1.0 ? wanted : 1.0)) ||
            number_of(in, tick) > TICKS_MAX) {
            return PASSED;
        }
        if (!in->numbers_keys && has_large_key(in->replay)) {
            return PASSES_AGAIN;
        }
        if (!add_tick(in, (int)number_of(in, tick))) {
            return PASSED_WRONG;
        }
    }
    if (ph_replay_result(in->replay) != PH_OK) {
        ph_fault_set_memory(in->fault);
        return PASSED_WRONG;
    }
    return PASSED;
}

// ---- the whole

// Low, high and kind follow from the values, as in text; lexicons go over.
static bool finish_columns(converting* in, ph_recording* made)
{
    for (int c = 0; c < made->column_count; ++c) {
        double* value = made->columns[c].value;
        ph_column* column = &made->columns[c];
        *column = in->columns[c];
        column->value = value;
        in->columns[c].lexicon = (ph_lexicon){0};
        bool is_empty = true;
        for (int row = 0; row < made->row_count && column->kind != PH_COLUMN_WORD; ++row) {
            if (!isnan(value[row])) {
                column->low = is_empty || value[row] < column->low ? value[row] : column->low;
                column->high = is_empty || value[row] > column->high ? value[row] : column->high;
                is_empty = false;
            }
        }
        if (column->kind == PH_COLUMN_WORD) {
            is_empty = column->lexicon.count == 0;
            if (!ph_column_sort_words(column, made->row_count)) {
                return false;
            }
        }
        column->kind = is_empty ? PH_COLUMN_EMPTY : column->kind;
        column->decimals = is_empty ? 0 : column->decimals;
    }
    return true;
}

static void write_note(const converting* in, ph_recording* made)
{
    const ph_replay_damage damage = ph_replay_get_damage(in->replay);
    const bool is_read_to_end = in->def->seconds <= 0.0;
    size_t used = 0;
    char* note = made->note;
    const size_t size = sizeof made->note;
    if (damage.damaged_places > 0) {
        used += (size_t)snprintf(note, size, "it is damaged in %d place%s, the first at byte %lu",
                                 damage.damaged_places, damage.damaged_places > 1 ? "s" : "",
                                 (unsigned long)damage.first_offset);
    }
    if (damage.missing_ticks > 0) {
        const bool had_no_room =
            damage.damaged_places == 0 && damage.dropped_ticks >= damage.missing_ticks;
        used += (size_t)snprintf(note + used, size - used, "%s%llu tick%s missing%s",
                                 used > 0 ? ": " : "", (unsigned long long)damage.missing_ticks,
                                 damage.missing_ticks == 1 ? " is" : "s are",
                                 had_no_room ? ", as the recorder had no room" : "");
    }
    if (damage.is_open && is_read_to_end && used < size) {
        used += (size_t)snprintf(note + used, size - used, "%sit breaks off behind tick %lu",
                                 used > 0 ? "; " : "", (unsigned long)ph_replay_tick(in->replay));
    }
    if (in->left_out_count > 0 && used < size) {
        snprintf(note + used, size - used, "%s%d propert%s no column", used > 0 ? "; " : "",
                 in->left_out_count, in->left_out_count == 1 ? "y has" : "ies have");
    }
}

static ph_recording* finish(converting* in, double rate_hz)
{
    if (in->rows.count == 0) {
        ph_fault_set(in->fault, 0, 0, "no entity is in it at any tick that can be read");
        return NULL;
    }
    ph_recording* made = ph_rows_finish(&in->rows);
    if (made == NULL || !finish_columns(in, made)) {
        ph_recording_destroy(made);
        ph_fault_set_memory(in->fault);
        return NULL;
    }
    made->rate_hz = rate_hz;
    made->has_marks = ph_replay_has_jumps(in->replay);
    if (!made->has_marks) {
        ph_jump_marks_find(made);
    }
    ph_recording_find_classes(made);
    if (!in->def->is_flat) {
        ph_attitude_find(made);
    }
    write_note(in, made);
    return made;
}

static void clear_maps(converting* in)
{
    ph_hash_map_clear(&in->ids);
    ph_hash_map_clear(&in->classes_of);
    ph_hash_map_clear(&in->ticks_of);
}

static bool open_replay(converting* in, const void* bytes, size_t size)
{
    ph_replay_destroy(in->replay);
    in->replay = NULL;
    ph_error error = {0};
    if (ph_replay_create(bytes, size, NULL, &in->replay, &error) == PH_OK) {
        return true;
    }
    const char* behind = strstr(error.text, ": "); // the function's name
    return ph_fault_set(in->fault, 0, 0, "%s", behind != NULL ? behind + 2 : error.text);
}

static ph_recording* convert(converting* in, const void* bytes, size_t size)
{
    if (!open_replay(in, bytes, size) || !bind_classes(in)) {
        return NULL;
    }
    const double rate_hz =
        in->def->rate_hz > 0.0 ? in->def->rate_hz : ph_replay_rate_hz(in->replay);
    if (rate_hz < 1.0) {
        ph_fault_set(in->fault, 0, 0, "its rate is below 1 tick per second; --rate says another");
        return NULL;
    }
    in->rows.column_count = in->column_count;
    passing done = add_ticks(in, rate_hz);
    if (done == PASSES_AGAIN) {
        in->numbers_keys = true;
        ph_rows_clear(&in->rows);
        clear_maps(in);
        done = open_replay(in, bytes, size) ? add_ticks(in, rate_hz) : PASSED_WRONG;
    }
    return done == PASSED ? finish(in, rate_hz) : NULL;
}

ph_recording* ph_recording_replay_parse(const void* bytes, size_t size, const ph_recording_def* def,
                                        ph_fault* fault)
{
    converting* in = calloc(1, sizeof *in);
    if (in == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    in->def = def;
    in->fault = fault;
    ph_recording* made = convert(in, bytes, size);
    for (int c = 0; c < in->column_count; ++c) {
        ph_lexicon_clear(&in->columns[c].lexicon);
    }
    ph_rows_clear(&in->rows);
    ph_hash_map_destroy(&in->ids);
    ph_hash_map_destroy(&in->classes_of);
    ph_hash_map_destroy(&in->ticks_of);
    ph_replay_destroy(in->replay);
    free(in->classes);
    free(in->present);
    free(in);
    return made;
}
