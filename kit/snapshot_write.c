// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Writing a snapshot. Twice over the entities of the baseline: once to see which properties changed and
// which size classes are the cheapest, once to write.

#include "kit/snapshot_code.h"

#include "kit/snapshot_difference.h"

#include <string.h>

// ---- size classes

// How many differences need so many bits.
typedef struct histogram {
    int counts[PH_SNAPSHOT_COORDINATE_BITS + 1];
} histogram;

// The widths with the fewest bits in all; whole is what goes beyond the last.
static ph_snapshot_classes choose_classes(const histogram* of, int whole)
{
    int upto[PH_SNAPSHOT_COORDINATE_BITS + 1];
    int sum = 0;
    int widest = 0;
    for (int w = 0; w <= PH_SNAPSHOT_COORDINATE_BITS; ++w) {
        sum += of->counts[w];
        upto[w] = sum;
        widest = of->counts[w] > 0 ? w : widest;
    }
    ph_snapshot_classes best = {{0, 0, 0}};
    int64_t best_bits = INT64_MAX;
    const int last = widest < PH_SNAPSHOT_WIDTH_MAX ? widest : PH_SNAPSHOT_WIDTH_MAX;
    for (int c = 0; c <= last; ++c) {
        for (int b = 0; b <= c; ++b) {
            for (int a = 0; a <= b; ++a) {
                const int64_t bits = (int64_t)upto[a] * a + (int64_t)(upto[b] - upto[a]) * b +
                                     (int64_t)(upto[c] - upto[b]) * c +
                                     (int64_t)(sum - upto[c]) * whole;
                if (bits < best_bits) {
                    best_bits = bits;
                    best = (ph_snapshot_classes){{(uint8_t)a, (uint8_t)b, (uint8_t)c}};
                }
            }
        }
    }
    return best;
}

static int class_for(const ph_snapshot_classes* of, int width)
{
    int found = 0;
    while (found < PH_SNAPSHOT_CLASSES && of->widths[found] < width) {
        ++found;
    }
    return found;
}

// ---- writing

typedef struct pen {
    const ph_snapshot_layout* layout;
    ph_bit_writer writer;
    size_t booked_bits;
    ph_sim_counts* counts;
    ph_snapshot_items* items; // or NULL
    // Of the record that is being written.
    int slot; // -1: none
    uint64_t key;
    bool is_begun; // something of it was booked
} pen;

enum { NO_PROPERTY = -1 };

static void begin_record(pen* with, int slot, uint64_t key)
{
    with->slot = slot;
    with->key = key;
    with->is_begun = false;
}

static void end_record(pen* with)
{
    with->slot = -1;
    with->key = 0;
}

// Bits of the same reason that belong to no entity become one item.
static void add_item(pen* with, ph_reason reason, int property, uint32_t bits256)
{
    ph_snapshot_items* items = with->items;
    if (items == NULL || bits256 == 0) {
        return;
    }
    ph_trace_item* last = items->count > 0 ? &items->items[items->count - 1] : NULL;
    const bool is_common = with->slot < 0;
    if (is_common && last != NULL && last->slot < 0 && last->reason == reason) {
        last->bits256 += bits256;
        return;
    }
    PH_ASSERT(items->count < items->capacity);
    items->items[items->count++] = (ph_trace_item){
        .key = with->key,
        .bits256 = bits256,
        .slot = with->slot,
        .class_index = (int16_t)(is_common ? -1 : 0),
        .property = (int16_t)property,
        .reason = (uint8_t)reason,
        .is_first = !is_common && !with->is_begun,
    };
    with->is_begun = true;
}

// All bits since the last booking were for this.
static void book_value(pen* with, ph_reason reason, int property)
{
    const size_t bits = ph_bit_writer_size_bits(&with->writer);
    const uint64_t bits256 = 256 * (bits - with->booked_bits);
    with->counts->ledger.bits256[reason] += bits256;
    with->booked_bits = bits;
    add_item(with, reason, property, (uint32_t)bits256);
}

static void book(pen* with, ph_reason reason)
{
    book_value(with, reason, NO_PROPERTY);
}

static void book_property(pen* with, int property)
{
    const size_t bits = ph_bit_writer_size_bits(&with->writer);
    with->counts->property_bits256[property] += 256 * (bits - with->booked_bits);
    book_value(with, PH_REASON_PROPERTY, property);
}

int ph_snapshot_items_max(const ph_snapshot_layout* layout)
{
    // Of an entity: its slot, its mask or key, its position and its values, and what lies between; and
    // the head, the ends of the lists and the padding.
    return layout->slot_count * (layout->count + 4) + 16;
}

// What changed of one entity, as a mask.
static uint64_t changes_of(const ph_snapshot_layout* layout, const uint8_t* from, const uint8_t* to)
{
    if (memcmp(from, to, (size_t)layout->stride) == 0) {
        return 0;
    }
    uint32_t was[3];
    uint32_t is[3];
    ph_snapshot_load_position(from, was);
    ph_snapshot_load_position(to, is);
    uint64_t mask = was[0] != is[0] || was[1] != is[1] ? UINT64_C(1) << PH_SNAPSHOT_PLANE : 0;
    mask |=
        ph_snapshot_expected_z(layout, was, is) != is[2] ? UINT64_C(1) << PH_SNAPSHOT_HEIGHT : 0;
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        if (!property->is_once && !ph_snapshot_is_same_value(property, from, to)) {
            mask |= UINT64_C(1) << (PH_SNAPSHOT_FIRST_PROPERTY + i);
        }
    }
    return mask;
}

static bool is_kept(const ph_snapshot* baseline, const ph_snapshot* snapshot, int slot)
{
    return baseline->is_there[slot] && snapshot->is_there[slot] &&
           baseline->keys[slot] == snapshot->keys[slot];
}

static void zigzag_plane(const ph_snapshot_layout* layout, const uint8_t* from, const uint8_t* to,
                         uint32_t bits[2])
{
    uint32_t was[3];
    uint32_t is[3];
    ph_snapshot_load_position(from, was);
    ph_snapshot_load_position(to, is);
    for (int k = 0; k < 2; ++k) {
        bits[k] =
            ph_snapshot_zigzag(ph_snapshot_steps(was[k], is[k], ph_snapshot_plane_shift(layout)));
    }
}

static uint32_t zigzag_height(const ph_snapshot_layout* layout, const uint8_t* from,
                              const uint8_t* to)
{
    uint32_t was[3];
    uint32_t is[3];
    ph_snapshot_load_position(from, was);
    ph_snapshot_load_position(to, is);
    return ph_snapshot_zigzag(ph_snapshot_steps(was[2], is[2], ph_snapshot_height_shift(layout)));
}

// As the functions of properties want it: words or a text, and the other one empty.
static ph_text load_whole(const ph_snapshot_property* property, const uint8_t* block,
                          uint32_t words[PH_VALUE_WORDS_MAX])
{
    memset(words, 0, PH_VALUE_WORDS_MAX * sizeof words[0]);
    if (property->described->is_text) {
        return ph_snapshot_text(property, block);
    }
    ph_snapshot_load(property, block, words);
    return (ph_text){0};
}

static int whole_bits(const ph_snapshot_property* property, const uint8_t* block)
{
    uint32_t words[PH_VALUE_WORDS_MAX];
    const ph_text text = load_whole(property, block, words);
    return ph_property_cost_bits(property->described, words, text);
}

// Sums over all changes of a property: how many bits each width would take.
typedef struct number_costs {
    int64_t bits[PH_SNAPSHOT_WIDTH_MAX + 1]; // 0: whole, and no flag
} number_costs;

static void add_number_costs(number_costs* costs, int width, int whole)
{
    costs->bits[0] += whole;
    for (int w = 1; w <= PH_SNAPSHOT_WIDTH_MAX; ++w) {
        costs->bits[w] += 1 + (width <= w ? w : whole);
    }
}

static uint8_t cheapest_width(const number_costs* costs)
{
    int best = 0;
    for (int w = 1; w <= PH_SNAPSHOT_WIDTH_MAX; ++w) {
        best = costs->bits[w] < costs->bits[best] ? w : best;
    }
    return (uint8_t)best;
}

static uint8_t small_width_of(const ph_snapshot_writing* writing, const ph_snapshot* snapshot,
                              const ph_snapshot_property* property)
{
    const ph_snapshot_layout* layout = writing->layout;
    number_costs costs = {{0}};
    if (!property->described->is_number) {
        return 0;
    }
    for (int slot = 0; slot < layout->slot_count; ++slot) {
        if (!is_kept(writing->baseline, snapshot, slot)) {
            continue;
        }
        const uint8_t* from = ph_snapshot_block(writing->baseline, layout, slot);
        const uint8_t* to = ph_snapshot_block(snapshot, layout, slot);
        if (!ph_snapshot_is_same_value(property, from, to)) {
            add_number_costs(&costs,
                             ph_snapshot_width(ph_snapshot_zigzag_number(
                                 ph_snapshot_number_difference(property, from, to))),
                             whole_bits(property, to));
        }
    }
    return cheapest_width(&costs);
}

static ph_snapshot_change_head survey_changes(const ph_snapshot_writing* writing,
                                              const ph_snapshot* snapshot)
{
    const ph_snapshot_layout* layout = writing->layout;
    ph_snapshot_change_head head = {0};
    histogram plane = {{0}};
    histogram height = {{0}};
    for (int slot = 0; slot < layout->slot_count; ++slot) {
        if (!is_kept(writing->baseline, snapshot, slot)) {
            continue;
        }
        const uint8_t* from = ph_snapshot_block(writing->baseline, layout, slot);
        const uint8_t* to = ph_snapshot_block(snapshot, layout, slot);
        const uint64_t mask = changes_of(layout, from, to);
        head.mask |= mask;
        head.has_jumps |= mask != 0 && snapshot->jump_ages[slot] > 0;
        if ((mask >> PH_SNAPSHOT_PLANE & 1) != 0) {
            uint32_t bits[2];
            zigzag_plane(layout, from, to, bits);
            ++plane.counts[ph_snapshot_width(bits[0] | bits[1])];
        }
        if ((mask >> PH_SNAPSHOT_HEIGHT & 1) != 0) {
            ++height.counts[ph_snapshot_width(zigzag_height(layout, from, to))];
        }
    }
    // Both x and y have the width of the wider one, so what counts is the same as for one.
    head.plane =
        choose_classes(&plane, PH_SNAPSHOT_COORDINATE_BITS - ph_snapshot_plane_shift(layout));
    head.height =
        choose_classes(&height, PH_SNAPSHOT_COORDINATE_BITS - ph_snapshot_height_shift(layout));
    for (int i = 0; i < layout->count; ++i) {
        if ((head.mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0) {
            head.small_width[i] = small_width_of(writing, snapshot, &layout->properties[i]);
        }
    }
    return head;
}

static void write_classes(pen* with, const ph_snapshot_classes* of)
{
    for (int i = 0; i < PH_SNAPSHOT_CLASSES; ++i) {
        ph_bits_write(&with->writer, of->widths[i], PH_SNAPSHOT_WIDTH_BITS);
    }
}

static void write_change_head(pen* with, const ph_snapshot_change_head* head)
{
    const ph_snapshot_layout* layout = with->layout;
    ph_bits_write(&with->writer, head->mask, PH_SNAPSHOT_FIRST_PROPERTY + layout->count);
    if (head->mask == 0) {
        book(with, PH_REASON_MASK);
        return;
    }
    if ((head->mask >> PH_SNAPSHOT_PLANE & 1) != 0) {
        write_classes(with, &head->plane);
    }
    if ((head->mask >> PH_SNAPSHOT_HEIGHT & 1) != 0) {
        write_classes(with, &head->height);
    }
    for (int i = 0; i < layout->count; ++i) {
        if ((head->mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0 &&
            layout->properties[i].described->is_number) {
            ph_bits_write(&with->writer, head->small_width[i], PH_SNAPSHOT_WIDTH_BITS);
        }
    }
    ph_bits_write_bool(&with->writer, head->has_jumps);
    book(with, PH_REASON_MASK);
}

static void write_whole(pen* with, const ph_snapshot_property* property, const uint8_t* block)
{
    uint32_t words[PH_VALUE_WORDS_MAX];
    const ph_text text = load_whole(property, block, words);
    ph_property_write(property->described, &with->writer, words, text);
}

static void write_changed(pen* with, const ph_snapshot_property* property, int small_width,
                          const uint8_t* from, const uint8_t* to)
{
    if (small_width > 0) {
        const uint64_t bits =
            ph_snapshot_zigzag_number(ph_snapshot_number_difference(property, from, to));
        const bool is_small = ph_snapshot_width(bits) <= small_width;
        ph_bits_write_bool(&with->writer, is_small);
        if (is_small) {
            ph_bits_write(&with->writer, bits, small_width);
            return;
        }
    }
    write_whole(with, property, to);
}

// On a ground a bit says whether a layer follows; the rest is a difference.
static void write_height(pen* with, const ph_snapshot_classes* of, const uint8_t* from,
                         const uint8_t* to)
{
    const ph_snapshot_layout* layout = with->layout;
    if (ph_snapshot_has_ground(layout)) {
        const ph_altitude* altitude = &layout->position->altitude;
        uint32_t is[3];
        ph_snapshot_load_position(to, is);
        const ph_altitude_level level = ph_altitude_encode(
            altitude, &layout->ground, (int32_t)is[0], (int32_t)is[1], (int32_t)is[2]);
        ph_bits_write_bool(&with->writer, level.layer >= 0);
        if (level.layer >= 0) {
            ph_altitude_write(altitude, &layout->ground, (int32_t)is[0], (int32_t)is[1],
                              &with->writer, level);
            return;
        }
    }
    const uint32_t bits = zigzag_height(layout, from, to);
    const int found = class_for(of, ph_snapshot_width(bits));
    ph_bits_write(&with->writer, (uint64_t)found, PH_SNAPSHOT_CLASS_BITS);
    ph_bits_write(&with->writer, bits,
                  ph_snapshot_class_width(
                      of, found, PH_SNAPSHOT_COORDINATE_BITS - ph_snapshot_height_shift(layout)));
}

static void write_plane(pen* with, const ph_snapshot_classes* of, const uint8_t* from,
                        const uint8_t* to)
{
    uint32_t bits[2];
    zigzag_plane(with->layout, from, to, bits);
    const int found = class_for(of, ph_snapshot_width(bits[0] | bits[1]));
    const int width = ph_snapshot_class_width(
        of, found, PH_SNAPSHOT_COORDINATE_BITS - ph_snapshot_plane_shift(with->layout));
    ph_bits_write(&with->writer, (uint64_t)found, PH_SNAPSHOT_CLASS_BITS);
    ph_bits_write(&with->writer, bits[0], width);
    ph_bits_write(&with->writer, bits[1], width);
}

static void write_position(pen* with, const ph_snapshot_change_head* head, uint64_t mask,
                           uint8_t jump_age, const uint8_t* from, const uint8_t* to)
{
    if ((mask >> PH_SNAPSHOT_PLANE & 1) != 0) {
        write_plane(with, &head->plane, from, to);
    }
    if ((mask >> PH_SNAPSHOT_HEIGHT & 1) != 0) {
        write_height(with, &head->height, from, to);
    }
    if (head->has_jumps && (mask & 3) != 0) {
        ph_bits_write_bool(&with->writer, jump_age > 0);
        ph_bits_write(&with->writer, jump_age, jump_age > 0 ? PH_SNAPSHOT_AGE_BITS : 0);
    }
    book_property(with, with->layout->position_property);
}

static bool is_significant(const ph_snapshot_layout* layout, uint64_t mask, const uint8_t* from,
                           const uint8_t* to)
{
    if ((mask & 3) != 0) {
        uint32_t was[3];
        uint32_t is[3];
        ph_snapshot_load_position(from, was);
        ph_snapshot_load_position(to, is);
        double mm2 = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double mm = (double)(int32_t)(is[k] - was[k]);
            mm2 += mm * mm;
        }
        const double least = (double)layout->position->significant_steps;
        if (mm2 >= least * least) {
            return true;
        }
    }
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        if ((mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0 &&
            ph_snapshot_difference(property, from, to) >= property->significant) {
            return true;
        }
    }
    return false;
}

static void write_entity(pen* with, const ph_snapshot_change_head* head, uint8_t jump_age,
                         const uint8_t* from, const uint8_t* to)
{
    const ph_snapshot_layout* layout = with->layout;
    const uint64_t mask = changes_of(layout, from, to);
    ph_bits_write_bool(&with->writer, mask != 0);
    if (mask == 0) {
        end_record(with);
    }
    book(with, PH_REASON_SLOT);
    if (mask == 0) {
        return;
    }
    for (int i = 0; i < PH_SNAPSHOT_FIRST_PROPERTY + layout->count; ++i) {
        if ((head->mask >> i & 1) != 0) {
            ph_bits_write_bool(&with->writer, (mask >> i & 1) != 0);
        }
    }
    book(with, PH_REASON_MASK);
    write_position(with, head, mask, jump_age, from, to);
    for (int i = 0; i < layout->count; ++i) {
        if ((mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0) {
            const ph_snapshot_property* property = &layout->properties[i];
            write_changed(with, property, head->small_width[i], from, to);
            book_property(with, property->property);
        }
    }
    ++with->counts->updates;
    with->counts->significant_updates += is_significant(layout, mask, from, to) ? 1 : 0;
}

static void write_leaves(pen* with, const ph_snapshot* baseline, const ph_snapshot* snapshot)
{
    for (int slot = 0; slot < with->layout->slot_count; ++slot) {
        if (baseline->is_there[slot] && !is_kept(baseline, snapshot, slot)) {
            begin_record(with, slot, baseline->keys[slot]);
            ph_bits_write_bool(&with->writer, true);
            ph_bits_write(&with->writer, (uint64_t)slot, with->layout->slot_bits);
            book(with, PH_REASON_LEAVE);
            ++with->counts->leaves;
        }
    }
    end_record(with);
    ph_bits_write_bool(&with->writer, false);
    book(with, PH_REASON_LEAVE);
}

static void write_key(pen* with, uint64_t key)
{
    const int size_log2 = key >> 8 == 0 ? 0 : key >> 16 == 0 ? 1 : key >> 32 == 0 ? 2 : 3;
    ph_bits_write(&with->writer, (uint64_t)size_log2, PH_SNAPSHOT_KEY_SIZE_BITS);
    ph_bits_write(&with->writer, key, 8 << size_log2);
}

// A coordinate of a newcomer: near that of the viewer's own entity in the schema's bits, or whole.
static void write_coordinate(pen* with, uint32_t own, uint32_t coordinate)
{
    const ph_coordinate* coding = &with->layout->position->coordinate;
    const uint32_t bits = ph_snapshot_zigzag(ph_snapshot_steps(own, coordinate, coding->shift));
    const bool is_near = ph_snapshot_width(bits) <= coding->width;
    ph_bits_write_bool(&with->writer, is_near);
    ph_bits_write(&with->writer, bits,
                  is_near ? coding->width : PH_SNAPSHOT_COORDINATE_BITS - coding->shift);
}

static void write_newcomer(pen* with, const ph_snapshot* snapshot, int slot, const uint32_t own[3])
{
    const ph_snapshot_layout* layout = with->layout;
    const uint8_t* block = ph_snapshot_block(snapshot, layout, slot);
    uint32_t position[3];
    ph_snapshot_load_position(block, position);
    ph_bits_write_bool(&with->writer, true);
    ph_bits_write(&with->writer, (uint64_t)slot, layout->slot_bits);
    write_key(with, snapshot->keys[slot]);
    book(with, PH_REASON_ENTER);
    write_coordinate(with, own[0], position[0]);
    write_coordinate(with, own[1], position[1]);
    if (ph_snapshot_has_ground(layout)) {
        const ph_altitude* altitude = &layout->position->altitude;
        const int64_t x_mm = (int32_t)position[0];
        const int64_t y_mm = (int32_t)position[1];
        ph_altitude_write(
            altitude, &layout->ground, x_mm, y_mm, &with->writer,
            ph_altitude_encode(altitude, &layout->ground, x_mm, y_mm, (int32_t)position[2]));
    } else {
        write_coordinate(with, own[2], position[2]);
    }
    book_value(with, PH_REASON_ENTER, layout->position_property);
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        const bool is_initial = property->described->is_text
                                    ? ph_snapshot_text(property, block).length == 0
                                    : memcmp(block + property->offset, property->described->initial,
                                             property->size) == 0;
        ph_bits_write_bool(&with->writer, !is_initial);
        if (!is_initial) {
            write_whole(with, property, block);
        }
        book_value(with, PH_REASON_ENTER, property->property);
    }
}

static void load_own(const ph_snapshot_layout* layout, const ph_snapshot* snapshot, uint32_t own[3])
{
    memset(own, 0, 3 * sizeof *own);
    if (snapshot->is_there[0]) {
        ph_snapshot_load_position(ph_snapshot_block(snapshot, layout, 0), own);
    }
}

// As much as the sender allows, but beside the updates at least half a datagram: else few would join
// where the updates are about as large as what it allows.
static size_t newcomer_limit(const ph_snapshot_writing* writing, size_t update_bits)
{
    const size_t beside = update_bits + 8 * ph_snapshot_alone_bytes(writing->layout) / 2;
    return beside > writing->limit_bits ? beside : writing->limit_bits;
}

static void write_newcomers(pen* with, const ph_snapshot_writing* writing, ph_snapshot* snapshot)
{
    const size_t limit = newcomer_limit(writing, ph_bit_writer_size_bits(&with->writer));
    for (int i = 0; i < writing->newcomer_count; ++i) {
        const int slot = writing->newcomers[i];
        const ph_bit_mark mark = ph_bit_writer_mark(&with->writer);
        const size_t booked_bits = with->booked_bits;
        const uint64_t enters256 = with->counts->ledger.bits256[PH_REASON_ENTER];
        const int item_count = with->items != NULL ? with->items->count : 0;
        begin_record(with, slot, snapshot->keys[slot]);
        uint32_t own[3];
        load_own(with->layout, snapshot, own);
        write_newcomer(with, snapshot, slot, own);
        if (i > 0 && ph_bit_writer_size_bits(&with->writer) + 1 > limit) {
            ph_bit_writer_rollback(&with->writer, mark);
            with->booked_bits = booked_bits;
            with->counts->ledger.bits256[PH_REASON_ENTER] = enters256;
            if (with->items != NULL) {
                with->items->count = item_count;
            }
            break;
        }
        snapshot->is_there[slot] = true;
        ++snapshot->entity_count;
        ++with->counts->enters;
    }
    end_record(with);
    ph_bits_write_bool(&with->writer, false);
    book(with, PH_REASON_ENTER);
}

static void write_head(pen* with, const ph_snapshot_writing* writing, const ph_snapshot* snapshot)
{
    const ph_snapshot* baseline = writing->baseline;
    const int back = baseline != NULL
                         ? ph_snapshot_sequence_difference(snapshot->sequence, baseline->sequence)
                         : 0;
    PH_ASSERT(back >= 0 && back < PH_SNAPSHOT_RING);
    ph_bits_write(&with->writer, (uint64_t)back, PH_SNAPSHOT_BACK_BITS);
    ph_bits_write(&with->writer, writing->wait, PH_SNAPSHOT_WAIT_BITS);
    const uint32_t passed = baseline != NULL ? snapshot->tick - baseline->tick : UINT32_MAX;
    const bool is_whole = passed >= PH_SNAPSHOT_TICKS_MAX;
    if (baseline != NULL) {
        ph_bits_write(&with->writer, is_whole ? PH_SNAPSHOT_TICKS_MAX : passed,
                      PH_SNAPSHOT_TICK_BITS);
    }
    ph_bits_write(&with->writer, snapshot->tick, is_whole ? PH_SNAPSHOT_WHOLE_TICK_BITS : 0);
    book(with, PH_REASON_HEADER);
}

size_t ph_snapshot_write(const ph_snapshot_writing* writing, ph_snapshot* snapshot,
                         ph_sim_counts* counts)
{
    const ph_snapshot_layout* layout = writing->layout;
    *counts = (ph_sim_counts){0};
    pen with = {
        .layout = layout,
        .writer = ph_bit_writer_make(writing->bytes, writing->capacity),
        .counts = counts,
        .items = writing->items,
        .slot = -1,
    };
    if (with.items != NULL) {
        with.items->count = 0;
    }
    write_head(&with, writing, snapshot);
    if (writing->baseline != NULL) {
        write_leaves(&with, writing->baseline, snapshot);
        const ph_snapshot_change_head head = survey_changes(writing, snapshot);
        write_change_head(&with, &head);
        for (int slot = 0; head.mask != 0 && slot < layout->slot_count; ++slot) {
            if (is_kept(writing->baseline, snapshot, slot)) {
                begin_record(&with, slot, snapshot->keys[slot]);
                write_entity(&with, &head, snapshot->jump_ages[slot],
                             ph_snapshot_block(writing->baseline, layout, slot),
                             ph_snapshot_block(snapshot, layout, slot));
            }
        }
    }
    write_newcomers(&with, writing, snapshot);
    const size_t bytes = ph_bit_writer_finish(&with.writer);
    const uint64_t padding256 = 256 * (8 * bytes - with.booked_bits);
    counts->ledger.bits256[PH_REASON_PADDING] += padding256;
    add_item(&with, PH_REASON_PADDING, NO_PROPERTY, (uint32_t)padding256);
    snapshot->is_quiet = counts->updates + counts->enters + counts->leaves == 0;
    return bytes;
}
