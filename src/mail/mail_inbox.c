// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "mail/mail_inbox.h"

#include <string.h>

// Numbers wrap: how far a is ahead of b, behind it if negative.
static int ahead(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static ph_mail_arrived* at(const ph_mail_inbox* inbox, uint16_t number)
{
    return &inbox->arrived[number & (inbox->capacity - 1)];
}

static uint8_t* bytes_at(const ph_mail_inbox* inbox, uint16_t number)
{
    return inbox->bytes[number & (inbox->capacity - 1)];
}

static bool is_here(const ph_mail_inbox* inbox, uint16_t number)
{
    const int place = ahead(number, inbox->next);
    if (place < 0) {
        return ahead(number, inbox->taken) >= 0;
    }
    return place < PH_MAIL_WINDOW && (inbox->early >> place & 1) != 0;
}

// ---- judging

static bool is_same(const ph_mail_inbox* inbox, const ph_mail_fragment* fragment)
{
    const ph_mail_arrived* arrived = at(inbox, fragment->number);
    return arrived->left == fragment->left && arrived->size == fragment->size &&
           memcmp(bytes_at(inbox, fragment->number), fragment->bytes, fragment->size) == 0;
}

// Fragments of one message count down, the last is 0; so no message is ever too long.
static bool may_follow(int left, int left_behind)
{
    return left == 0 || left_behind == left - 1;
}

static bool fits_neighbours(const ph_mail_inbox* inbox, const ph_mail_fragment* fragment)
{
    const uint16_t before = (uint16_t)(fragment->number - 1);
    const uint16_t behind = (uint16_t)(fragment->number + 1);
    return (!is_here(inbox, before) || may_follow(at(inbox, before)->left, fragment->left)) &&
           (!is_here(inbox, behind) || may_follow(fragment->left, at(inbox, behind)->left));
}

ph_mail_refusal ph_mail_inbox_judge(const ph_mail_inbox* inbox, const ph_mail_section* section)
{
    for (int i = 0; i < section->fragment_count; ++i) {
        const ph_mail_fragment* fragment = &section->fragments[i];
        if (ahead(fragment->number, inbox->next) >= PH_MAIL_WINDOW) {
            return PH_MAIL_BEYOND_WINDOW;
        }
        const bool was_here = is_here(inbox, fragment->number);
        if (was_here && !is_same(inbox, fragment)) {
            return PH_MAIL_CONTRARY;
        }
        // Those that were taken are forgotten: nothing can be said about them.
        if (!was_here && ahead(fragment->number, inbox->next) >= 0 &&
            !fits_neighbours(inbox, fragment)) {
            return PH_MAIL_CONTRARY;
        }
        if (i > 0 && fragment->number == (uint16_t)(fragment[-1].number + 1) &&
            !may_follow(fragment[-1].left, fragment->left)) {
            return PH_MAIL_CONTRARY;
        }
    }
    return PH_MAIL_REFUSAL_COUNT;
}

// ---- storing and taking

static void advance(ph_mail_inbox* inbox)
{
    while ((inbox->early & 1) != 0) {
        inbox->early >>= 1;
        ++inbox->next;
    }
}

ph_mail_storing ph_mail_inbox_store(ph_mail_inbox* inbox, const ph_mail_fragment* fragment)
{
    const int place = ahead(fragment->number, inbox->next);
    PH_ASSERT(place < PH_MAIL_WINDOW);

    if (place < 0 || is_here(inbox, fragment->number)) {
        return PH_MAIL_DOUBLED;
    }
    if ((uint16_t)(fragment->number - inbox->taken) >= inbox->capacity) {
        return PH_MAIL_WITHOUT_ROOM;
    }
    *at(inbox, fragment->number) =
        (ph_mail_arrived){.left = fragment->left, .size = fragment->size};
    memcpy(bytes_at(inbox, fragment->number), fragment->bytes, fragment->size);
    inbox->early |= UINT32_C(1) << place;
    advance(inbox);
    return PH_MAIL_STORED;
}

size_t ph_mail_inbox_take(ph_mail_inbox* inbox, uint8_t bytes[PH_MAIL_MESSAGE_MAX])
{
    if (inbox->taken == inbox->next) {
        return 0;
    }
    const int behind = at(inbox, inbox->taken)->left;
    if (ahead(inbox->next, inbox->taken) <= behind) {
        return 0;
    }
    size_t size = 0;
    for (int i = 0; i <= behind; ++i, ++inbox->taken) {
        const ph_mail_arrived* arrived = at(inbox, inbox->taken);
        memcpy(bytes + size, bytes_at(inbox, inbox->taken), arrived->size);
        size += arrived->size;
    }
    return size;
}
