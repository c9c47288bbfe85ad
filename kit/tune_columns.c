// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs a few times per program, over all values of a recording.

#include "kit/tune_columns.h"

#include "kit/column_bindings.h"
#include "kit/recording.h"
#include "schema/learned_models.h"
#include "schema/property.h"
#include "schema/vocabulary.h"

#include <pinhole/entropy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_PER_S = 4, RICE_KS = 32 };

const char* const ph_tune_coding_names[PH_TUNE_CODING_COUNT] = {
    "fixed", "range", "varint", "two_bit", "gamma", "rice", "arithmetic",
};

// Sums over all changes of one property, of the value or of a difference.
typedef struct bit_sums {
    uint64_t bits[PH_TUNE_CODING_COUNT];
    uint64_t rice[RICE_KS];
    uint64_t lengths[PH_TUNE_LENGTHS];
} bit_sums;

typedef struct measuring {
    const ph_property* property;
    const ph_column_binding* binding;
    const ph_recording* recording;
    int recorded_class;
    ph_tune_column* column;
    bit_sums absolute;
    bit_sums residual[PH_TUNE_PREDICTOR_COUNT];
} measuring;

// ---- one value

static int width_of(uint64_t value)
{
    int width = 0;
    for (; value != 0; value >>= 1) {
        ++width;
    }
    return width;
}

// What is out of its 32 bits is charged what the greatest takes.
static void add_value(bit_sums* sums, uint64_t value, uint64_t top)
{
    const uint32_t word = value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    sums->bits[PH_TUNE_FIXED] += (uint64_t)(8 * ((width_of(top) + 7) / 8));
    sums->bits[PH_TUNE_RANGE] += (uint64_t)width_of(top);
    sums->bits[PH_TUNE_VARINT] += (uint64_t)ph_varint_cost_bits(value);
    sums->bits[PH_TUNE_TWO_BIT] += (uint64_t)ph_two_bit_cost_bits(word);
    sums->bits[PH_TUNE_GAMMA] += (uint64_t)ph_gamma_cost_bits(word);
    for (int k = 0; k < RICE_KS; ++k) {
        sums->rice[k] += (uint64_t)ph_rice_cost_bits(word, k);
    }
}

static uint64_t zigzag(int64_t value)
{
    return value < 0 ? 2 * (uint64_t)(-(value + 1)) + 1 : 2 * (uint64_t)value;
}

// Of an angle the shorter way.
static int64_t difference_of(const ph_property* property, int64_t from, int64_t to)
{
    const int64_t way = to - from;
    if (property->def.coding != PH_CODING_ANGLE) {
        return way;
    }
    const int64_t turn = INT64_C(1) << property->angle.width;
    const int64_t up = ((way % turn) + turn) % turn;
    return up < turn / 2 ? up : up - turn;
}

static void add_difference(bit_sums* sums, int64_t difference, uint64_t top)
{
    const uint64_t magnitude = (uint64_t)(difference < 0 ? -difference : difference);
    const int length = width_of(magnitude);
    add_value(sums, zigzag(difference), 2 * top);
    ++sums->lengths[length < PH_TUNE_LENGTHS ? length : PH_TUNE_LENGTHS - 1];
}

static bool try_level(const measuring* of, int row, int64_t* level)
{
    const ph_column_binding* binding = of->binding;
    const double cell = binding->column == PH_BINDING_HEADING
                            ? (double)of->recording->heading_deg[row]
                            : of->recording->columns[binding->column].value[row];
    if (isnan(cell)) {
        return false;
    }
    const double value = cell * binding->scale;
    const int64_t whole = (int64_t)value;
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    const void* field = binding->field == PH_FIELD_I64 ? (const void*)&whole : (const void*)&value;
    if (ph_property_quantise_field(of->property, binding->field, field, words) != PH_OK) {
        return false;
    }
    *level = (int64_t)(words[0] | (of->property->words > 1 ? (uint64_t)words[1] << 32 : 0));
    return true;
}

// ---- all values

// The number that varint, two_bit, gamma and rice write; range writes the level.
static uint64_t written(const ph_property* property, int64_t level)
{
    const bool is_whole = ph_coding_is_whole(property->def.coding);
    const int64_t value = is_whole ? level + property->integer.lo : level;
    return is_whole && property->integer.lo < 0 ? zigzag(value) : (uint64_t)value;
}

static void add_change(measuring* of, const int64_t past[2], int known, int64_t level)
{
    const ph_property* property = of->property;
    const uint64_t top = ph_property_top(property, 0);
    ++of->column->changes;
    add_value(&of->absolute, written(property, level), top);
    add_difference(&of->residual[PH_TUNE_LAST], difference_of(property, past[0], level), top);
    const int64_t step = known > 1 ? difference_of(property, past[1], past[0]) : 0;
    add_difference(&of->residual[PH_TUNE_LINEAR], difference_of(property, past[0] + step, level),
                   top);
}

static void measure_span(measuring* of, const ph_span* span)
{
    const int every =
        of->recording->rate_hz > SAMPLES_PER_S ? (int)(of->recording->rate_hz / SAMPLES_PER_S) : 1;
    int64_t past[2] = {0, 0};
    int known = 0;
    for (int tick = span->first_tick; tick < span->end_tick; tick += every) {
        int64_t level;
        const int row = span->first_row + tick - span->first_tick;
        if (ph_recording_class(of->recording, row) != of->recorded_class) {
            known = 0;
            continue;
        }
        if (!try_level(of, row, &level)) {
            continue;
        }
        ph_tune_column* column = of->column;
        column->low = column->samples == 0 || level < column->low ? level : column->low;
        column->high = column->samples == 0 || level > column->high ? level : column->high;
        ++column->samples;
        if (known > 0 && level != past[0]) {
            add_change(of, past, known, level);
        }
        past[1] = past[0];
        past[0] = level;
        ++known;
    }
}

// ---- what it comes to

static int best_rice(const bit_sums* sums)
{
    int best = 0;
    for (int k = 1; k < RICE_KS; ++k) {
        best = sums->rice[k] < sums->rice[best] ? k : best;
    }
    return best;
}

// Lengths by a model of their own, and the bits behind them.
static uint64_t arithmetic256(const bit_sums* sums)
{
    uint32_t seen[PH_TUNE_LENGTHS];
    uint16_t cumulative[PH_TUNE_LENGTHS + 1];
    uint64_t cost256 = 0;
    for (int i = 0; i < PH_TUNE_LENGTHS; ++i) {
        seen[i] = (uint32_t)sums->lengths[i];
    }
    (void)ph_model_build(seen, PH_TUNE_LENGTHS, cumulative);
    const ph_model model = {cumulative, PH_TUNE_LENGTHS};
    for (int i = 0; i < PH_TUNE_LENGTHS; ++i) {
        cost256 += sums->lengths[i] * (ph_model_cost(&model, i) + (uint32_t)i * PH_COST_PER_BIT);
    }
    return cost256;
}

static void take_sums(const bit_sums* sums, uint64_t* cost256, int* rice_k)
{
    *rice_k = best_rice(sums);
    for (int c = 0; c < PH_TUNE_CODING_COUNT; ++c) {
        cost256[c] = sums->bits[c] * PH_COST_PER_BIT;
    }
    cost256[PH_TUNE_RICE] = sums->rice[*rice_k] * PH_COST_PER_BIT;
}

static void finish(measuring* of)
{
    ph_tune_column* column = of->column;
    take_sums(&of->absolute, column->absolute256, &column->rice_k);
    for (int p = 0; p < PH_TUNE_PREDICTOR_COUNT; ++p) {
        const bit_sums* residual = &of->residual[p];
        int rice_k;
        take_sums(residual, column->residual256[p], &rice_k);
        column->residual256[p][PH_TUNE_ARITHMETIC] = arithmetic256(residual);
        memcpy(column->lengths[p], residual->lengths, sizeof column->lengths[p]);
    }
    column->predictor = column->residual256[PH_TUNE_LINEAR][PH_TUNE_ARITHMETIC] <
                                column->residual256[PH_TUNE_LAST][PH_TUNE_ARITHMETIC]
                            ? PH_TUNE_LINEAR
                            : PH_TUNE_LAST;
    const uint64_t top = ph_property_top(of->property, 0);
    column->absolute256[PH_TUNE_ARITHMETIC] =
        column->changes *
        (top < UINT32_MAX ? ph_uniform_cost((uint32_t)top + 1) : 64 * PH_COST_PER_BIT);
    column->best = PH_TUNE_RANGE;
    for (int c = PH_TUNE_VARINT; c <= PH_TUNE_RICE; ++c) {
        if (column->absolute256[c] < column->absolute256[column->best]) {
            column->best = (ph_tune_coding)c;
        }
    }
}

typedef struct measured_recording {
    const ph_recording* recording;
    ph_column_bindings* bindings; // by class of it
} measured_recording;

static const ph_column_binding* find_binding(const ph_column_bindings* bindings, int property)
{
    for (int b = 0; b < bindings->count; ++b) {
        if (bindings->items[b].property == property) {
            return &bindings->items[b];
        }
    }
    return NULL;
}

// Of a class of the schema, all entities that are of it.
static void measure_recording(measuring* of, const measured_recording* in, int class_index,
                              int property)
{
    of->recording = in->recording;
    const int spans = in->recording->first_span[in->recording->entity_count];
    for (int c = 0; c < ph_recording_class_count(in->recording); ++c) {
        of->recorded_class = c;
        of->binding = find_binding(&in->bindings[c], property);
        for (int s = 0;
             s < spans && in->bindings[c].class_index == class_index && of->binding != NULL; ++s) {
            measure_span(of, &in->recording->spans[s]);
        }
    }
}

static bool measure_class(const ph_schema* schema, int class_index, const measured_recording* in,
                          int recording_count, ph_tune_column* columns, ph_fault* fault)
{
    const ph_class* type = ph_schema_class_at(schema, class_index);
    measuring* of = malloc(sizeof *of);
    if (of == NULL) {
        return ph_fault_set_memory(fault);
    }
    for (int p = 0; p < type->def.property_count; ++p) {
        *of = (measuring){.property = &type->properties[p], .column = &columns[p]};
        columns[p] = (ph_tune_column){.is_number = of->property->is_number};
        for (int r = 0; r < recording_count && columns[p].is_number; ++r) {
            measure_recording(of, &in[r], class_index, p);
        }
        if (columns[p].is_number) {
            finish(of);
        }
    }
    free(of);
    return true;
}

int ph_tune_column_count(const ph_schema* schema)
{
    return ph_schema_property_count(schema);
}

int ph_tune_first_column(const ph_schema* schema, int class_index)
{
    return ph_schema_first_property(schema, class_index);
}

bool ph_tune_columns_measure(const ph_schema* schema, const struct ph_recording* const* recordings,
                             int recording_count, ph_tune_column* columns, ph_fault* fault)
{
    measured_recording* in = calloc((size_t)recording_count, sizeof *in);
    bool is_done = in != NULL || ph_fault_set_memory(fault);
    for (int r = 0; r < recording_count && is_done; ++r) {
        in[r].recording = recordings[r];
        in[r].bindings = ph_column_bindings_make_all(schema, recordings[r], fault);
        is_done = in[r].bindings != NULL;
    }
    for (int c = 0; c < ph_schema_class_count(schema) && is_done; ++c) {
        is_done = measure_class(schema, c, in, recording_count,
                                columns + ph_schema_first_property(schema, c), fault);
    }
    for (int r = 0; r < recording_count && in != NULL; ++r) {
        free(in[r].bindings);
    }
    free(in);
    return is_done;
}

// ---- a schema

// A range twice as wide, as far down as up, but not beyond 0 when it is all on one side of it; then up to
// where the next bit begins.
static void widen(ph_property_def* def)
{
    const double span = def->hi - def->lo;
    const double more = ceil(span / 2.0);
    const double low = def->lo >= 0.0 && def->lo < more ? 0.0 : def->lo - more;
    double top = 1.0;
    while (top < def->hi + more - low) {
        top = 2.0 * top + 1.0;
    }
    def->lo = low;
    def->hi = low + top;
}

static void choose_coding(ph_property_def* def, const ph_tune_column* column)
{
    static const ph_coding CODINGS[] = {
        [PH_TUNE_VARINT] = PH_CODING_VARINT,
        [PH_TUNE_TWO_BIT] = PH_CODING_TWO_BIT,
        [PH_TUNE_GAMMA] = PH_CODING_GAMMA,
        [PH_TUNE_RICE] = PH_CODING_RICE,
    };
    const bool is_32_bits = def->lo >= 0.0 && def->hi <= (double)UINT32_MAX;
    if (column->changes == 0 || column->best == PH_TUNE_RANGE ||
        (!is_32_bits && column->best != PH_TUNE_VARINT)) {
        return;
    }
    def->coding = CODINGS[column->best];
    def->rice_k = column->best == PH_TUNE_RICE ? column->rice_k : 0;
}

ph_schema* ph_tune_columns_schema(const ph_schema* derived, const ph_tune_column* columns,
                                  const ph_schema* models, ph_fault* fault)
{
    const int class_count = ph_schema_class_count(derived);
    ph_class_def* classes = malloc((size_t)class_count * sizeof *classes);
    ph_property_def* properties =
        malloc((size_t)ph_schema_property_count(derived) * sizeof *properties);
    ph_schema* made = NULL;
    ph_error error = {0};
    if (classes == NULL || properties == NULL) {
        ph_fault_set_memory(fault);
    }
    for (int c = 0; classes != NULL && properties != NULL && c < class_count; ++c) {
        const int first = ph_schema_first_property(derived, c);
        classes[c] = *ph_schema_class(derived, c);
        for (int i = 0; i < classes[c].property_count; ++i) {
            ph_property_def* def = &properties[first + i];
            *def = classes[c].properties[i];
            if (def->coding == PH_CODING_RANGE) {
                widen(def);
                def->default_value = 0.0;
                choose_coding(def, &columns[first + i]);
            }
        }
        classes[c].properties = &properties[first];
    }
    if (classes != NULL && properties != NULL &&
        ph_schema_create_tuned(classes, class_count, models, NULL, &made, &error) != PH_OK) {
        ph_fault_set(fault, 0, 0, "no schema fits: %s", error.text);
    }
    free(classes);
    free(properties);
    return made;
}
