// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Updates of the pinhole profile: which properties, then the position, then the other values; and the
// entrances for records of all kinds, which differ in the coder that they make.
//
//   ph_pinhole_buffer()   an update that may be sent, into a symbol buffer: the case that runs most
//   ph_pinhole_write()    any record, through a symbol buffer of its own, into the packet
//   ph_pinhole_cost256()  any record, only its cost
//   ph_pinhole_read()     any record, from a packet

#include "packet/pinhole_records.h"

#include "codec/places.h"
#include "base/bitset.h"
#include "packet/header.h"

// A schema promises that an enter always fits a datagram: that of its own, whatever the header has to say.
_Static_assert(PH_CLASS_BITS_MAX + PH_PINHOLE_ENTER_BITS_MAX + PH_PINHOLE_SLACK_BITS +
                       PH_PINHOLE_ENTER_HEAD_BITS_MAX <=
                   8 * PH_PAYLOAD_MAX,
               "one enter with the dearest values");

_Static_assert(PH_PINHOLE_ENTER_BITS_MAX >=
                   (PH_MODEL_BITS + 15) + 2 + 8 + (2 * PH_MODEL_BITS + 63) +
                       (3 * (PH_MODEL_BITS + 32) + PH_MODEL_BITS) + PH_MODEL_BITS +
                       (PH_MODEL_BITS + 3 * (PH_MODEL_BITS + 15)) + 2 * PH_MODEL_BITS +
                       (PH_MODEL_BITS + PH_PROPERTIES_MAX - 1) + 1,
               "the sum of its parts");

// ---- which properties

// What a class can tell beside its position decides which masks there are: a heading or an orientation is 1, others
// are 2.
typedef struct mask_set {
    uint8_t masks[11];
    ph_pinhole_family family;
} mask_set;

static const mask_set MASK_SETS[] = {
    {{1, 9}, PH_FAMILY_MASK_PLACE},
    {{1, 2, 3, 9, 11}, PH_FAMILY_MASK_HEADING},
    {{1, 4, 5, 9, 13}, PH_FAMILY_MASK_OTHERS},
    {{1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15}, PH_FAMILY_MASK_ALL},
};

_Static_assert(PH_UPDATE_HAD_POSITION == 1 && PH_UPDATE_HAD_HEADING == 2 &&
                   PH_UPDATE_HAD_OTHERS == 4 && PH_UPDATE_HAD_JUMP == 8,
               "masks are sums of these");

// The model follows from what the newest record told, and whether the slot moves.
PH_ALWAYS_INLINE int code_mask(ph_coder* coder, const ph_layout* layout,
                               const ph_baseline* baseline, ph_baseline_moves moves, int mask)
{
    // Entered; place; heading; others.
    static const uint8_t kinds[] = {0, 1, 2, 2, 3, 3, 3, 3, 1, 1, 2, 2, 3, 3, 3, 3};
    const mask_set* set = &MASK_SETS[(layout->facing != 0 ? 1 : 0) + (layout->others != 0 ? 2 : 0)];
    const bool is_moving = moves.is_level || moves.is_rising;
    const int model = 2 * kinds[baseline->told_mask] + (is_moving ? 1 : 0);
    int symbol = 0; // a position alone, whatever the class
    while (coder->reader == NULL && mask != set->masks[symbol]) {
        ++symbol;
        PH_ASSERT(symbol < ph_pinhole_families[set->family].symbols);
    }
    return set->masks[ph_coder_symbol(coder, set->family, model, symbol)];
}

// Up to three others are named one by one, more by flags.
enum { NAMED_MAX = 3 };

// Ascending, each among those that leave enough behind it. Ranks among the others of the class.
static uint64_t code_named(ph_coder* coder, int available, int count, uint64_t ranks)
{
    uint64_t told = 0;
    int first = 0;
    for (int left = count; left > 0; --left) {
        const int choices = available - first - (left - 1);
        const int given = ranks != 0 ? ph_word_lowest_bit(ranks) - first : 0;
        const int rank = first + (int)ph_coder_uniform(coder, (uint32_t)given, (uint32_t)choices);
        told |= UINT64_C(1) << rank;
        ranks &= ranks - 1;
        first = rank + 1;
    }
    return told;
}

uint64_t ph_pinhole_ranks_of(uint64_t others, uint64_t properties)
{
    uint64_t ranks = 0;
    uint64_t bit = 1;
    for (uint64_t left = others; left != 0; left &= left - 1, bit <<= 1) {
        ranks |= (properties & left & (0 - left)) != 0 ? bit : 0;
    }
    return ranks;
}

uint64_t ph_pinhole_properties_of(uint64_t others, uint64_t ranks)
{
    uint64_t properties = 0;
    for (uint64_t left = others; left != 0; left &= left - 1, ranks >>= 1) {
        properties |= (ranks & 1) != 0 ? left & (0 - left) : 0;
    }
    return properties;
}

// A flag for each, by how often a schema that was learned has seen it told: before and after another one
// of the record was.
static uint64_t code_learned_others(ph_coder* coder, const ph_layout* layout,
                                    const ph_record* record)
{
    uint64_t told = 0;
    for (uint64_t left = layout->others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const int given = (int)(record->properties >> property & 1);
        const int first = ph_learned_told_entry(layout->first_property + property, told != 0);
        told |= (uint64_t)ph_coder_own_symbol(coder, first, 2, given) << property;
    }
    ph_coder_refuse_if(coder, told == 0);
    return told;
}

static uint64_t code_others(ph_coder* coder, const ph_layout* layout, const ph_record* record)
{
    if (layout->has_told_models && !coder->is_universal) {
        return code_learned_others(coder, layout, record);
    }
    static const ph_pinhole_family families[] = {PH_FAMILY_OTHERS_2, PH_FAMILY_OTHERS_3,
                                                 PH_FAMILY_OTHERS_MANY};
    const uint64_t others = layout->others;
    const int available = ph_word_count_bits(others);
    const bool is_reading = coder->reader != NULL;
    const uint64_t given = is_reading ? 0 : ph_pinhole_ranks_of(others, record->properties);
    int count = is_reading ? 1 : ph_word_count_bits(given);
    if (available > 1) {
        const int most = available <= NAMED_MAX ? available : NAMED_MAX + 1;
        count = count < most ? count : most;
        count = 1 + ph_coder_symbol(coder, families[most - 2], 0, count - 1);
    }
    uint64_t told;
    if (count <= NAMED_MAX) {
        told = code_named(coder, available, count, given);
    } else {
        told = ph_coder_raw(coder, given, available);
        ph_coder_refuse_if(coder, ph_word_count_bits(told) <= NAMED_MAX);
    }
    return ph_pinhole_properties_of(others, told);
}

// ---- one coordinate
//
// A coordinate is coded as a number of steps from the one expected. Coordinates wrap: the shorter
// way round.

// The difference, rounded up. Compilers know the shift of a negative number for the one instruction that
// it is.
PH_ALWAYS_INLINE int32_t steps_from(uint32_t expected, uint32_t word, int shift)
{
    const uint32_t less_than_half = ((UINT32_C(1) << shift) - 1) / 2;
    const int32_t difference = (int32_t)(word - expected + less_than_half);
    return difference < 0 ? ~(~difference >> shift) : difference >> shift;
}

// Sets the word when it is read; else it is there already.
PH_ALWAYS_INLINE void take_steps(ph_coder* coder, uint32_t expected, int shift, int64_t steps,
                                 uint32_t* word)
{
    const uint32_t step = UINT32_C(1) << shift;
    const uint32_t told = ((expected + step / 2) & (0 - step)) + ((uint32_t)steps << shift);
    if (coder->reader != NULL) {
        const int64_t most = INT64_C(1) << (31 - shift);
        ph_coder_refuse_if(coder, steps < -most || steps >= most);
        *word = told;
    }
    PH_ASSERT(*word == told);
}

int64_t ph_pinhole_coordinate(ph_coder* coder, ph_pinhole_axis how, int shift, uint32_t expected,
                              uint32_t* word)
{
    const int64_t given = coder->reader != NULL ? 0 : steps_from(expected, *word, shift);
    const int64_t steps = how.is_length
                              ? ph_coder_signed_length(coder, how.family, how.model, given)
                              : ph_coder_residual(coder, how.family, how.size, given);
    take_steps(coder, expected, shift, steps, word);
    return steps;
}

// ---- altitude on a ground

enum { LAYER_EXPECTED, LAYER_OTHER, LAYER_NONE };

typedef struct ground_layers {
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
    int expected; // the one nearest to the altitude expected
} ground_layers;

static ground_layers find_layers(const ph_ground* ground, const uint32_t words[3],
                                 uint32_t expected_mm)
{
    ground_layers set = {0};
    set.count = ph_ground_layers(ground, (int32_t)words[0], (int32_t)words[1], set.heights_mm);
    int64_t nearest_mm = INT64_MAX;
    for (int i = 0; i < set.count; ++i) {
        const int64_t displacement_mm = set.heights_mm[i] - (int32_t)expected_mm;
        const int64_t away_mm = displacement_mm < 0 ? -displacement_mm : displacement_mm;
        if (away_mm < nearest_mm) {
            nearest_mm = away_mm;
            set.expected = i;
        }
    }
    return set;
}

static int told_layer(const ph_pinhole_frame* frame, const ph_layout* layout,
                      const uint32_t words[3])
{
    return ph_altitude_encode(ph_layout_altitude(layout), frame->frame.ground, (int32_t)words[0],
                              (int32_t)words[1], (int32_t)words[2])
        .layer;
}

static int code_other_layer(ph_coder* coder, const ground_layers* set, int layer)
{
    ph_coder_refuse_if(coder, set->count < 2);
    const uint32_t others = set->count < 2 ? 1 : (uint32_t)set->count - 1;
    const int given = layer > set->expected ? layer - 1 : layer;
    const int other = (int)ph_coder_uniform(coder, (uint32_t)given, others);
    return other >= set->expected && set->count >= 2 ? other + 1 : other;
}

void ph_pinhole_altitude(const ph_pinhole_frame* frame, ph_coder* coder, const ph_layout* layout,
                         ph_pinhole_axis how, uint32_t expected_mm, uint32_t words[3])
{
    const ground_layers set = find_layers(frame->frame.ground, words, expected_mm);
    const bool is_reading = coder->reader != NULL;
    const int layer = is_reading ? 0 : told_layer(frame, layout, words);
    int symbol = layer < 0 ? LAYER_NONE : layer == set.expected ? LAYER_EXPECTED : LAYER_OTHER;
    symbol = set.count == 0 ? LAYER_NONE : ph_coder_symbol(coder, PH_FAMILY_LAYER, 0, symbol);
    if (symbol == LAYER_NONE) {
        ph_pinhole_coordinate(coder, how, ph_layout_altitude(layout)->escape_shift, expected_mm,
                              &words[2]);
        // An escape to where a layer would have served.
        ph_coder_refuse_if(coder, is_reading && told_layer(frame, layout, words) >= 0);
    } else {
        const int told =
            symbol == LAYER_EXPECTED ? set.expected : code_other_layer(coder, &set, layer);
        words[2] = (uint32_t)set.heights_mm[told];
    }
}

// ---- the position of an update

// Whether it is told from where its carrier takes it; then that is what is expected.
static bool code_carried(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded,
                         const ph_layout* layout, ph_forecast* forecast)
{
    ph_pinhole_carried(frame, coded, layout, &coded->carried);
    coded->is_carried =
        ph_coder_flag(coder, PH_FAMILY_CARRIED, coded->carried.model, coded->is_carried);
    if (coded->is_carried && coded->carrier->step == NULL) {
        ph_coder_refuse_if(coder, true);
        coded->is_carried = false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        forecast->position_mm[axis] = (int32_t)coded->carried.place_mm[axis];
    }
    forecast->plane_size = coded->carried.size;
    forecast->z_size = coded->carried.size;
    return coded->is_carried;
}

// In which steps it is told: coarse, for being far away, or as fine as the sender chose.
PH_ALWAYS_INLINE void code_step(ph_coder* coder, ph_pinhole_record* coded, const ph_layout* layout,
                                const ph_forecast* forecast, bool is_moving)
{
    const int finer = layout->finer;
    PH_ASSERT(coder->reader != NULL || coded->coarse <= finer || coded->coarse == forecast->coarse);
    int coarse = coded->coarse;
    if (forecast->coarse != 0 && ph_coder_flag(coder, PH_FAMILY_COARSE, 0, coarse > finer)) {
        coarse = forecast->coarse;
    } else if (finer != 0) {
        const int model = forecast->fit + (is_moving ? 0 : PH_STEPS);
        coarse = ph_coder_symbol(coder, PH_FAMILY_STEP, model, coarse);
        ph_coder_refuse_if(coder, coarse > finer);
        coarse = coarse < finer ? coarse : finer;
    } else {
        coarse = 0;
    }
    coded->coarse = (uint8_t)coarse;
}

// Relative to where the motion of the baseline leads; coarse as the record says. Residuals of x and y tend
// to be large together, so that of x has a part in the size expected of y.
PH_ALWAYS_INLINE void code_position(const ph_pinhole_frame* frame, ph_coder* coder,
                                    ph_pinhole_record* coded, const ph_layout* layout,
                                    ph_baseline_moves moves)
{
    uint32_t* words = coded->record.words + layout->position_word;
    ph_forecast made;
    const ph_forecast* forecast = coded->forecast;
    if (PH_UNLIKELY(forecast == NULL)) {
        ph_pinhole_forecast(frame, coded->baseline, &made);
        forecast = &made;
    }
    ph_forecast carried;
    if (PH_UNLIKELY(coded->carrier != NULL)) {
        ph_coder copy = ph_coder_copy(coder);
        carried.coarse = forecast->coarse;
        carried.fit = forecast->fit;
        forecast = code_carried(frame, &copy, coded, layout, &carried) ? &carried : forecast;
        ph_coder_take(coder, &copy);
    }
    code_step(coder, coded, layout, forecast, moves.is_level || moves.is_rising);
    const int fewer = PH_SIZE_PER_BIT * coded->coarse;
    const int shift = layout->finest_shift + coded->coarse;
    const int z_size = forecast->z_size - fewer;
    int size = forecast->plane_size - fewer;
    ph_pinhole_family family = moves.is_level ? PH_FAMILY_X_MOVING : PH_FAMILY_X_RESTING;
    const ph_pinhole_family z_family = moves.is_rising ? PH_FAMILY_Z_MOVING : PH_FAMILY_Z_RESTING;
    for (int axis = 0; axis < (layout->has_ground ? 2 : 3); ++axis) {
        const uint32_t expected = (uint32_t)forecast->position_mm[axis];
        const int64_t given = coder->reader != NULL ? 0 : steps_from(expected, words[axis], shift);
        const int64_t steps = ph_coder_residual(coder, family, size, given);
        take_steps(coder, expected, shift, steps, &words[axis]);
        size = axis == 0 ? (3 * size + ph_size_of(ph_coder_magnitude_of(steps))) / 4 : z_size;
        family = axis == 0 ? family + 1 : z_family; // y is behind x
    }
    if (layout->has_ground) {
        ph_coder copy = ph_coder_copy(coder);
        ph_pinhole_altitude(
            frame, &copy, layout,
            (ph_pinhole_axis){.family = z_family,
                              .size = forecast->z_size - PH_SIZE_PER_BIT * layout->finer},
            (uint32_t)forecast->position_mm[2], words);
        ph_coder_take(coder, &copy);
    }
    if (coder->reader != NULL && coded->coarse > layout->finer) {
        ph_coder_refuse_if(coder,
                           !ph_pinhole_is_fine_enough(frame->precision, layout->coordinate.shift,
                                                      coded->coarse - layout->finer,
                                                      ph_pinhole_distance(frame, words)));
    }
}

// ---- an update

// What is rarer than a position where motion led to.
static void code_rest(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded,
                      const ph_layout* layout, int mask, uint64_t others)
{
    if ((mask & PH_UPDATE_HAD_JUMP) != 0) {
        ph_pinhole_place(frame, coder, layout, coded->record.words + layout->position_word);
        ph_coder_mark(coder, layout->position_property);
    }
    if ((mask & PH_UPDATE_HAD_HEADING) != 0 && layout->orientation != 0) {
        ph_pinhole_orientation(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->orientation_property);
    } else if ((mask & PH_UPDATE_HAD_HEADING) != 0) {
        ph_pinhole_heading(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    for (uint64_t left = others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_pinhole_value(frame, coder, coded, layout, property);
        ph_coder_mark(coder, property);
    }
}

// given: what the record tells, unless that is read.
PH_ALWAYS_INLINE void code_update(const ph_pinhole_frame* frame, ph_coder* coder,
                                  ph_pinhole_record* coded, const ph_layout* layout, int given)
{
    ph_record* record = &coded->record;
    const ph_baseline_moves moves = ph_baseline_moves_of(coded->baseline);
    const int mask = code_mask(coder, layout, coded->baseline, moves, given);
    uint64_t others = 0;
    if (PH_UNLIKELY((mask & PH_UPDATE_HAD_OTHERS) != 0)) {
        ph_coder copy = ph_coder_copy(coder);
        others = code_others(&copy, layout, record);
        ph_coder_take(coder, &copy);
    }
    if (coder->reader != NULL) {
        record->is_jump = (mask & PH_UPDATE_HAD_JUMP) != 0;
        record->properties = others |
                             ((mask & PH_UPDATE_HAD_POSITION) != 0 ? layout->position : 0) |
                             ((mask & PH_UPDATE_HAD_HEADING) != 0 ? layout->facing : 0);
    }
    ph_coder_mark(coder, PH_SYMBOL_BUFFER_MASK);
    if ((mask & (PH_UPDATE_HAD_POSITION | PH_UPDATE_HAD_JUMP)) == PH_UPDATE_HAD_POSITION) {
        code_position(frame, coder, coded, layout, moves);
        ph_coder_mark(coder, layout->position_property);
    }
    if ((mask & (PH_UPDATE_HAD_JUMP | PH_UPDATE_HAD_HEADING | PH_UPDATE_HAD_OTHERS)) != 0) {
        ph_coder copy = ph_coder_copy(coder);
        code_rest(frame, &copy, coded, layout, mask, others);
        ph_coder_take(coder, &copy);
    }
}

// ---- the entrances

const ph_layout* ph_pinhole_layout(const ph_pinhole_frame* frame, const ph_record* record)
{
    PH_ASSERT(record->class_index < frame->frame.layouts->count);
    return &frame->frame.layouts->layouts[record->class_index];
}

ph_coder ph_pinhole_reading(const ph_pinhole_frame* frame, ph_entropy_reader* reader)
{
    const ph_model_set* models = ph_pinhole_models(frame);
    return (ph_coder){.reader = reader,
                      .cumulative = models->cumulative,
                      .costs = models->costs,
                      .is_universal = frame->is_universal};
}

// By any coder.
static void code_any_update(const ph_pinhole_frame* frame, ph_coder* coder,
                            ph_pinhole_record* coded)
{
    const ph_record* record = &coded->record;
    const ph_layout* layout = ph_pinhole_layout(frame, record);
    PH_ASSERT(coded->baseline->is_entered && coded->baseline->class_index == record->class_index);
    PH_ASSERT(coder->reader != NULL || record->properties != 0);
    const int mask =
        coder->reader != NULL ? 0 : ph_baseline_told(layout, record->properties, record->is_jump);
    code_update(frame, coder, coded, layout, mask);
}

static void code_record(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded)
{
    if (coded->record.kind == PH_RECORD_UPDATE) {
        code_any_update(frame, coder, coded);
        return;
    }
    PH_ASSERT(coded->record.slot >> frame->frame.slot_bits == 0);
    ph_pinhole_identity(frame, coder, coded);
    ph_coder_mark(coder, PH_SYMBOL_BUFFER_WHO);
    if (coded->record.kind == PH_RECORD_ENTER) {
        ph_pinhole_enter(frame, coder, coded);
    }
}

uint32_t ph_pinhole_cost256(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                            ph_record_bits* stats)
{
    const ph_model_set* models = ph_pinhole_models(frame);
    ph_coder coder = {.stats = stats,
                      .cumulative = models->cumulative,
                      .costs = models->costs,
                      .is_universal = frame->is_universal};
    ph_pinhole_record copy = *coded;
    code_record(frame, &coder, &copy);
    return coder.cost256;
}

static uint32_t buffer_any(const ph_pinhole_frame* frame, ph_pinhole_record* coded,
                           ph_symbol_buffer* symbols)
{
    ph_coder coder = ph_coder_make_buffer(symbols, ph_pinhole_models(frame), frame->is_universal);
    code_record(frame, &coder, coded);
    ph_coder_end_buffer(&coder, symbols);
    return coder.cost256;
}

uint32_t ph_pinhole_buffer(const ph_pinhole_frame* frame, const ph_layout* layout,
                           ph_pinhole_record* coded, ph_symbol_buffer* symbols)
{
    const ph_record* record = &coded->record;
    PH_ASSERT(record->kind == PH_RECORD_UPDATE && record->properties != 0);
    PH_ASSERT(layout == ph_pinhole_layout(frame, record));
    PH_ASSERT(coded->baseline->is_entered && coded->baseline->class_index == record->class_index);

    if (PH_UNLIKELY(frame->is_universal)) {
        return buffer_any(frame, coded, symbols);
    }
    const int mask = ph_baseline_told(layout, record->properties, record->is_jump);
    ph_coder coder = ph_coder_make_buffer(symbols, ph_pinhole_models(frame), false);
    code_update(frame, &coder, coded, layout, mask);
    ph_coder_end_buffer(&coder, symbols);
    return coder.cost256;
}

uint32_t ph_pinhole_write(const ph_pinhole_frame* frame, ph_entropy_writer* writer,
                          const ph_pinhole_record* coded)
{
    uint32_t tokens[PH_SYMBOL_BUFFER_RECORD_MAX];
    ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, PH_SYMBOL_BUFFER_RECORD_MAX);
    ph_pinhole_record copy = *coded;
    const uint32_t cost256 = buffer_any(frame, &copy, &symbols);
    PH_ASSERT(!symbols.is_full);
    ph_symbol_player player;
    ph_symbol_player_begin(&player, ph_pinhole_models(frame), writer);
    ph_symbol_player_play(&player, tokens, NULL);
    ph_symbol_player_end(&player);
    if (frame->counts != NULL) {
        ph_symbol_buffer_count(tokens, frame->counts);
    }
    return cost256;
}

void ph_pinhole_read_identity(const ph_pinhole_frame* frame, ph_entropy_reader* reader,
                              ph_pinhole_record* coded)
{
    PH_ASSERT(coded->record.kind != PH_RECORD_UPDATE);

    ph_coder coder = ph_pinhole_reading(frame, reader);
    ph_pinhole_identity(frame, &coder, coded);
}

void ph_pinhole_read(const ph_pinhole_frame* frame, ph_entropy_reader* reader,
                     ph_pinhole_record* coded)
{
    PH_ASSERT(coded->record.kind != PH_RECORD_LEAVE);

    ph_coder coder = ph_pinhole_reading(frame, reader);
    coded->record.properties = 0;
    if (coded->record.kind == PH_RECORD_UPDATE) {
        code_any_update(frame, &coder, coded);
    } else {
        ph_pinhole_enter(frame, &coder, coded);
    }
}
