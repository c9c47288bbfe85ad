// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once for each record of a tick.

#include "journal/captured.h"

#include "base/math.h"

uint64_t ph_captured_all(const ph_journal_class* type)
{
    return type->values | UINT64_C(1) << type->described->position;
}

uint64_t ph_captured_mask(const ph_journal_class* type, const uint32_t* change)
{
    return ph_captured_wide(change + 1) | (uint64_t)(change[3] != 0) << type->described->position;
}

static uint32_t words_at(const ph_property* property, const uint32_t* at)
{
    return property->is_text ? 1 + (at[0] + 3) / 4 : (uint32_t)property->words;
}

const uint32_t* ph_captured_behind(const ph_journal_class* type, uint64_t mask, const uint32_t* at)
{
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        at += words_at(&type->described->properties[ph_word_lowest_bit(left)], at);
    }
    return at;
}

void ph_captured_read(const ph_journal_class* type, uint64_t mask, const uint32_t* at,
                      ph_journal_change* change)
{
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &type->described->properties[p];
        if (property->is_text) {
            change->texts[p] =
                (ph_text){.bytes = (const uint8_t*)(at + 1), .length = (uint16_t)at[0]};
        } else {
            ph_journal_split(type, p, at, change->values + type->first_channel[p]);
        }
        at += words_at(property, at);
    }
}
