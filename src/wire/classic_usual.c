// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "wire/classic_usual.h"

// Behind who stand a time of 0 and the flag of the position, behind the position the flag of the rest.
#define FLAGS_BEFORE 2
#define FLAGS_BEHIND 1

ph_classic_usual ph_classic_usual_make(const ph_frame* frame, const ph_layout* layout)
{
    const ph_coordinate* coding = &layout->coordinate;
    const int position_bit = frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS + FLAGS_BEFORE;
    const int word_bits = position_bit + 3 * coding->width + FLAGS_BEHIND;
    const bool has_any =
        word_bits < 64 && !layout->has_ground && (layout->once & layout->position) == 0;
    ph_classic_usual usual = {
        .layout = layout,
        .properties = has_any ? layout->position | (layout->plain & ~layout->once) : 0,
        .window_bits = coding->shift + coding->width,
        .slot_bits = frame->slot_bits,
        .position_bit = position_bit,
        .word_bits = word_bits,
    };
    for (int axis = 0; axis < 3; ++axis) {
        usual.window[axis] = ph_classic_window(coding, frame->eye_mm[axis]);
    }
    return usual;
}

// Values that do not fit a word together.
static int write_long(const ph_classic_usual* usual, uint64_t word, uint64_t rest,
                      const uint32_t* words, uint8_t* bytes)
{
    const ph_layout* layout = usual->layout;
    const int half_bits = usual->word_bits / 2;
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_CLASSIC_RECORD_BYTES);
    ph_bits_write(&writer, word, half_bits);
    ph_bits_write(&writer, word >> half_bits, usual->word_bits - half_bits);
    ph_bits_write(&writer, ph_classic_flags_of(layout, rest), layout->flag_count);
    for (uint64_t left = rest; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_bits_write(&writer, words[layout->word[property]], layout->plain_bits[property]);
    }
    ph_bit_writer_finish(&writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    return (int)ph_bit_writer_size_bits(&writer);
}

int ph_classic_usual_write_rest(const ph_classic_usual* usual, uint64_t word, uint64_t rest,
                                const uint32_t* words, uint8_t* bytes)
{
    const ph_layout* layout = usual->layout;
    const unsigned word_bits = (unsigned)usual->word_bits;
    const uint64_t flagged = word | UINT64_C(1) << (word_bits - 1);
    uint64_t field = ph_classic_flags_of(layout, rest);
    int field_bits = layout->flag_count;
    for (uint64_t left = rest; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint32_t value = words[layout->word[property]];
        PH_ASSERT(value <= layout->plain_top[property]);
        if (field_bits + layout->plain_bits[property] > PH_BITS_FAST_WIDTH) {
            return write_long(usual, flagged, rest, words, bytes);
        }
        field |= (uint64_t)value << field_bits;
        field_bits += layout->plain_bits[property];
    }
    // From the last byte of the word on, which is not full.
    ph_bits_store64(bytes, flagged);
    ph_bits_store64(bytes + word_bits / 8, flagged >> word_bits / 8 * 8 | field << word_bits % 8);
    return usual->word_bits + field_bits;
}

void ph_classic_usual_bill(const ph_classic_usual* usual, uint64_t rest, ph_bill* bill)
{
    const ph_layout* layout = usual->layout;
    bill->slot_bits = (uint32_t)(usual->slot_bits + PH_CLASSIC_ASSOCIATION_BITS);
    bill->mask_bits = FLAGS_BEFORE + FLAGS_BEHIND + (uint32_t)(rest != 0 ? layout->flag_count : 0);
    bill->property_bits[layout->position_property] = (uint32_t)(3 * layout->coordinate.width);
    for (uint64_t left = rest; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        bill->property_bits[property] = layout->plain_bits[property];
    }
}
