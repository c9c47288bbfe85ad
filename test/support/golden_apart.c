// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A packet by hand. Each step prints what was read, and the decoder as it was before.

#include "golden_apart.h"

#include "packet/baseline.h"
#include "packet/pinhole_records.h"

#include <inttypes.h>
#include <pinhole/integers.h>

typedef struct apart {
    int slot_bits;
    golden_lines* lines;
    ph_entropy_reader reader;
} apart;

static uint64_t raw(apart* it, const char* what, int bits)
{
    if (bits == 0) {
        return 0;
    }
    const size_t at = it->reader.raw.position_bits;
    const uint64_t value = ph_bits_read(&it->reader.raw, bits);
    golden_print(it->lines, "raw at=%d bits=%d value=%" PRIu64 " %s\n", (int)at, bits, value, what);
    return value;
}

static int symbol(apart* it, ph_pinhole_family family, int model)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    const ph_model table = {.cumulative =
                                ph_pinhole_cumulative + info->first + model * (info->symbols + 1),
                            .count = info->symbols};
    const uint64_t code = it->reader.code;
    const uint64_t range = it->reader.range;
    const int read = ph_entropy_read(&it->reader, &table);
    golden_print(it->lines,
                 "symbol family=%s model=%d value=%d from=%d to=%d code=0x%016" PRIx64
                 " range=0x%016" PRIx64 "\n",
                 info->name, model, read, table.cumulative[read], table.cumulative[read + 1], code,
                 range);
    return read;
}

static uint64_t below(apart* it, const char* what, int length)
{
    if (length < 2) {
        return (uint64_t)length;
    }
    return (UINT64_C(1) << (length - 1)) + raw(it, what, length - 1);
}

static int64_t residual(apart* it, ph_pinhole_family family, int size)
{
    const int whole = size <= 0 ? 0 : size / 4;
    const int scale = whole < 45 ? whole : 45;
    const int low_bits = scale <= 13 ? 0 : (scale - 12) / 2;
    const int read = symbol(it, family, scale - 2 * low_bits);
    const uint64_t high =
        read < 16 ? (uint64_t)read : below(it, "below the highest bit", read - 11);
    const uint64_t magnitude = (high << low_bits) + raw(it, "low bits", low_bits);
    const bool is_negative = magnitude != 0 && raw(it, "sign", 1) != 0;
    return is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

static void take_header(apart* it)
{
    static const char* const names[] = {"number", "horizon", "tick", "wait", "eye", "density"};
    static const int bits[] = {16, 7, 11, 5, 1, 4};
    for (int i = 0; i < 6; ++i) {
        raw(it, names[i], bits[i]);
    }
    for (int i = 0; i < 2; ++i) {
        const size_t at = it->reader.raw.position_bits;
        const uint32_t count = ph_gamma_read(&it->reader.raw);
        golden_print(it->lines, "raw at=%d bits=%d value=%" PRIu32 " %s\n", (int)at,
                     (int)(it->reader.raw.position_bits - at), count, i == 0 ? "leaves" : "enters");
    }
    raw(it, "step", 3);
}

static void take_leaves(apart* it)
{
    uint64_t floor = 0;
    for (int i = 0; i < 2; ++i) {
        const uint64_t slot = i == 0 ? raw(it, "slot", it->slot_bits)
                                     : floor + below(it, "gap", symbol(it, PH_FAMILY_SLOT, 0));
        raw(it, "association", 2);
        golden_print(it->lines, "leave slot=%" PRIu64 "\n", slot);
        floor = slot + 1;
    }
}

// A walker that rests on the ground, told its position alone.
static void take_walk(apart* it, const golden_pinhole* golden)
{
    const ph_baseline* baseline = &golden->moment.baselines[0];
    const uint64_t time_us =
        ph_baseline_time_us(baseline->tick[0], golden->frame.tick, golden->frame.tick_us);
    const int size = ph_size_stretched(baseline->plane_size, time_us, PH_GROWTH_POSITION);
    assert_int_equal(baseline->sample_count, 1);
    assert_int_equal(baseline->told_mask, PH_UPDATE_HAD_OTHERS);
    assert_int_equal(symbol(it, PH_FAMILY_MASK_ALL, 6), 0);
    const int64_t x_steps = residual(it, PH_FAMILY_X_RESTING, size);
    const uint64_t far_steps = (uint64_t)(x_steps < 0 ? -x_steps : x_steps);
    const int64_t y_steps =
        residual(it, PH_FAMILY_Y_RESTING, (3 * size + ph_size_of(far_steps)) / 4);
    assert_int_equal(symbol(it, PH_FAMILY_LAYER, 0), 0);
    golden_print(it->lines, "update slot=0 size=%d steps=%d,%d\n", size, (int)x_steps,
                 (int)y_steps);
}

void golden_print_apart(golden_lines* lines, const golden_pinhole* golden, const uint8_t* bytes,
                        size_t size)
{
    apart it = {.lines = lines, .slot_bits = golden->frame.frame.slot_bits};
    lines->length = 0;
    ph_entropy_reader_init(&it.reader, bytes, size);
    take_header(&it);
    take_leaves(&it);
    for (int slot = 0; slot < GOLDEN_SLOTS; ++slot) {
        const ph_baseline* baseline = &golden->moment.baselines[slot];
        if (!baseline->is_entered) {
            continue;
        }
        const int urgency = ph_pinhole_urgency(&golden->frame, baseline);
        const int model = PH_URGENCIES * (golden->frame.density - 1) + urgency;
        if (symbol(&it, PH_FAMILY_TOLD, model) != 0) {
            assert_int_equal(slot, 0);
            take_walk(&it, golden);
        }
    }
    assert_int_equal(ph_entropy_reader_finish(&it.reader), PH_OK);
}
