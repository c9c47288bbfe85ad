// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots that are carried by another one, and are told behind it in the same packet: where that one takes them. A body
// that is stuck to another one keeps its place and orientation relative to it:
//
//   before                           now, the carrier is told already
//   place  C ── u ──▶ p              C' ── R u ──▶ expected         R: how the carrier has turned from before to now
//   orientation  q                   R q
//
// Whether that is better than its own motion is told by a flag. How likely it is, and how large the residuals are,
// follows from what the same guess would have been worth in the step before, of which both ends know both samples.
//
// Once per update of a slot with a carrier. Integers only, the same at both ends.

#include "packet/pinhole_records.h"

#include <string.h>

int ph_pinhole_carrier_slot(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                            const uint8_t* known)
{
    const ph_layout* layout = &frame->frame.layouts->layouts[baseline->class_index];
    if (!layout->has_carrier) {
        return -1;
    }
    const ph_packing* packing = &frame->packings[baseline->class_index];
    const int property = layout->carrier_property;
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    ph_packing_load(packing, property, known + packing->offset[property], words);
    return words[0] > 0 && words[0] <= INT32_MAX ? (int)words[0] - 1 : -1;
}

bool ph_pinhole_can_carry(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                          const ph_baseline* carrier)
{
    if (!carrier->is_entered || carrier->tick[0] != baseline->tick[0] ||
        frame->frame.layouts->layouts[carrier->class_index].orientation == 0) {
        return false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t apart_mm = (int32_t)((uint32_t)baseline->position_mm[0][axis] -
                                           (uint32_t)carrier->position_mm[0][axis]);
        if (apart_mm <= -PH_ROTATION_VECTOR_END || apart_mm >= PH_ROTATION_VECTOR_END) {
            return false;
        }
    }
    return true;
}

// ---- how the carrier goes

static ph_rotation known_rotation(const ph_pinhole_frame* frame, int class_index,
                                  const uint8_t* known)
{
    const ph_layout* layout = &frame->frame.layouts->layouts[class_index];
    const ph_packing* packing = &frame->packings[class_index];
    const int property = layout->orientation_property;
    uint32_t words[2];
    ph_packing_load(packing, property, known + packing->offset[property], words);
    return ph_rotation_from_levels(layout->orientation_bits,
                                   ph_rotation_levels_of_words(layout->orientation_bits, words));
}

bool ph_carrier_step_make(const ph_pinhole_frame* frame, const uint8_t* known,
                          const ph_record* update, ph_carrier_step* step)
{
    const ph_layout* layout = &frame->frame.layouts->layouts[update->class_index];
    if (update->kind != PH_RECORD_UPDATE || layout->orientation == 0 ||
        (update->properties & layout->position) == 0) {
        return false;
    }
    memcpy(step->place_mm, update->words + layout->position_word, sizeof step->place_mm);
    step->turn = (ph_rotation){{0, 0, 0, PH_ROTATION_ONE}};
    if ((update->properties & layout->orientation) != 0) {
        const int width = layout->orientation_bits;
        const uint32_t* words = update->words + layout->word[layout->orientation_property];
        const ph_rotation now =
            ph_rotation_from_levels(width, ph_rotation_levels_of_words(width, words));
        const ph_rotation before = known_rotation(frame, update->class_index, known);
        const ph_rotation back = ph_rotation_inverse(&before);
        step->turn = ph_rotation_product(&now, &back);
    }
    return true;
}

// ---- where it takes what it carries

// From a place beside the carrier to the one beside where it is now.
static void take_along(const ph_rotation* turn, const int32_t from_mm[3], const uint32_t to_mm[3],
                       const int32_t place_mm[3], uint32_t taken_mm[3])
{
    int32_t beside_mm[3];
    int32_t turned_mm[3];
    for (int axis = 0; axis < 3; ++axis) {
        beside_mm[axis] = (int32_t)((uint32_t)place_mm[axis] - (uint32_t)from_mm[axis]);
    }
    ph_rotation_turn_vector(turn, beside_mm, turned_mm);
    for (int axis = 0; axis < 3; ++axis) {
        taken_mm[axis] = to_mm[axis] + (uint32_t)turned_mm[axis];
    }
}

// How far off this would have been in the step before, in finest steps, as of a quarter of a second: over all axes. Both have
// samples at the same two ticks.
static int size_before(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                       const ph_baseline* carrier, const ph_rotation* turn)
{
    uint32_t taken_mm[3];
    const uint32_t to_mm[3] = {(uint32_t)carrier->position_mm[0][0],
                               (uint32_t)carrier->position_mm[0][1],
                               (uint32_t)carrier->position_mm[0][2]};
    take_along(turn, carrier->position_mm[1], to_mm, baseline->position_mm[1], taken_mm);
    const int coarse =
        ph_baseline_coarse_of(baseline, (const uint8_t*)&baseline->position_mm[0][0]);
    const int shift = baseline->shift + coarse;
    int sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t off_mm = (int32_t)((uint32_t)baseline->position_mm[0][axis] - taken_mm[axis]);
        const uint64_t magnitude = off_mm < 0 ? 0 - (uint64_t)(int64_t)off_mm : (uint64_t)off_mm;
        sum += ph_size_of((magnitude + (UINT64_C(1) << shift) / 2) >> shift);
    }
    const uint64_t time_us =
        ph_baseline_time_us(baseline->tick[1], baseline->tick[0], frame->tick_us);
    return ph_size_normal((uint8_t)((sum + 1) / 3), time_us, PH_GROWTH_POSITION) +
           PH_SIZE_PER_BIT * coarse;
}

// Whether both have samples at the same two ticks, near enough to each other.
static bool have_same_samples(const ph_baseline* baseline, const ph_baseline* carrier)
{
    if (baseline->sample_count < 2 || carrier->sample_count < 2 ||
        baseline->tick[1] != carrier->tick[1]) {
        return false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t apart_mm = (int32_t)((uint32_t)baseline->position_mm[1][axis] -
                                           (uint32_t)carrier->position_mm[1][axis]);
        if (apart_mm <= -PH_ROTATION_VECTOR_END || apart_mm >= PH_ROTATION_VECTOR_END) {
            return false;
        }
    }
    return true;
}

static const ph_rotation no_turn = {{0, 0, 0, PH_ROTATION_ONE}};

// By how many bits the guess was better than the slot's own motion usually is.
static int carried_model(int own_size, int carried_size)
{
    enum { MIDDLE = PH_CARRIED_MODELS / 2 };
    const int better = own_size - carried_size;
    const int bits = (better < 0 ? better - PH_SIZE_PER_BIT / 2 : better + PH_SIZE_PER_BIT / 2) /
                     PH_SIZE_PER_BIT;
    const int model = MIDDLE + bits;
    return model < 1 ? 1 : model >= PH_CARRIED_MODELS ? PH_CARRIED_MODELS - 1 : model;
}

// Of its orientation, when both were told theirs at the same ticks: how far its own last turn was from the carrier's.
static int rotation_size(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                         const ph_turning_state* own, const ph_turning_state* of)
{
    const uint64_t time_us = ph_baseline_time_us(own->tick, frame->tick, frame->tick_us);
    int size = own->turned_size < own->kept_size ? own->turned_size : own->kept_size;
    if (own->mark_tick == of->mark_tick && own->spin.between == of->spin.between) {
        const ph_layout* layout = &frame->frame.layouts->layouts[coded->baseline->class_index];
        const int width = layout->orientation_bits;
        const ph_rotation turned = ph_rotation_turned(&no_turn, &own->spin, own->spin.between);
        const ph_rotation back = ph_rotation_inverse(&turned);
        const ph_rotation now = known_rotation(frame, coded->baseline->class_index, coded->known);
        const ph_rotation before = ph_rotation_product(&back, &now);
        const ph_rotation taken = ph_rotation_turned(&before, &of->spin, of->spin.between);
        size = ph_size_normal(
            ph_turning_residual(width, &taken, ph_rotation_levels_of_words(width, own->mark)),
            (uint64_t)own->spin.between * frame->tick_us, PH_GROWTH_TURNED);
    }
    return ph_size_stretched((uint8_t)size, time_us, PH_GROWTH_TURNED);
}

void ph_pinhole_carried(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                        const ph_layout* layout, ph_carried_forecast* forecast)
{
    const ph_baseline* baseline = coded->baseline;
    const ph_pinhole_carrier* carrier = coded->carrier;
    ph_turning_state of;
    ph_turning_load(&frame->packings[carrier->baseline->class_index], carrier->known, &of);
    int size = baseline->plane_size;
    forecast->model = 0;
    if (have_same_samples(baseline, carrier->baseline)) {
        const uint32_t ticks = baseline->tick[0] - baseline->tick[1];
        const ph_rotation turn = ph_rotation_turned(&no_turn, &of.spin, ticks);
        size = size_before(frame, baseline, carrier->baseline, &turn);
        forecast->model = carried_model(baseline->plane_size, size);
    }
    const uint64_t time_us = ph_baseline_time_us(baseline->tick[0], frame->tick, frame->tick_us);
    forecast->size = ph_size_stretched((uint8_t)size, time_us, PH_GROWTH_POSITION);
    if (carrier->step == NULL) {
        return;
    }
    take_along(&carrier->step->turn, carrier->baseline->position_mm[0], carrier->step->place_mm,
               baseline->position_mm[0], forecast->place_mm);
    if (layout->orientation != 0) {
        ph_turning_state own;
        ph_turning_load(&frame->packings[baseline->class_index], coded->known, &own);
        const ph_rotation now = known_rotation(frame, baseline->class_index, coded->known);
        forecast->rotation = ph_rotation_product(&carrier->step->turn, &now);
        forecast->rotation_size = rotation_size(frame, coded, &own, &of);
    }
}
