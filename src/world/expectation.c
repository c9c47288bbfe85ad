// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client will show. The numbers are those by which it shows, motion/carry.h. Of the
// motion there, what differs from client to client is learned here from the samples that are sent
// (how long velocities are followed); shares are taken as 1, and newcomers without a velocity as
// standing.

#include "world/expectation.h"

#include "base/allocator.h"
#include "wire/baseline.h"
#include "world/errors.h"

#include <string.h>

// Of many slots; the lanes of few lie on the stack of a send.
static size_t scratch_bytes(int slot_count)
{
    return slot_count > PH_STACK_SLOTS ? (size_t)slot_count * PH_ERROR_LANES * sizeof(float) : 0;
}

static void* carve(uint8_t** rest, size_t size)
{
    void* part = *rest;
    *rest += size;
    return part;
}

ph_result ph_expectation_create(const ph_allocator* allocator, int slot_count,
                                const ph_layouts* layouts, bool is_vouched,
                                ph_expectation** expectation)
{
    const size_t slots = (size_t)slot_count;
    const size_t classes = (size_t)layouts->count;
    const size_t size = sizeof(ph_expectation) + 2 * slots * sizeof(ph_expected) +
                        slots * sizeof(uint32_t) + classes * sizeof(ph_manner) +
                        scratch_bytes(slot_count) + 2 * slots + classes;
    ph_expectation* made = ph_allocate_zeroed(allocator, size);
    *expectation = made;
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    // Widest first: everything is aligned whatever the count.
    uint8_t* rest = (uint8_t*)(made + 1);
    made->size_bytes = size;
    made->allocator = *allocator;
    made->sent = carve(&rest, slots * sizeof(ph_expected));
    made->known = carve(&rest, slots * sizeof(ph_expected));
    made->heading = carve(&rest, slots * sizeof(uint32_t));
    made->manners = carve(&rest, classes * sizeof(ph_manner));
    void* scratch = carve(&rest, scratch_bytes(slot_count));
    made->scratch = scratch_bytes(slot_count) > 0 ? scratch : NULL;
    made->doubtful = carve(&rest, slots);
    made->astray = carve(&rest, slots);
    made->headings = carve(&rest, classes);
    for (int i = 0; i < layouts->count; ++i) {
        made->manners[i] = ph_manner_make();
        made->manners[i].is_vouched = is_vouched;
        made->headings[i] = (uint8_t)layouts->layouts[i].heading_property;
    }
    return PH_OK;
}

void ph_expectation_destroy(ph_expectation* expectation)
{
    if (expectation != NULL) {
        const ph_allocator allocator = expectation->allocator;
        ph_release(&allocator, expectation, expectation->size_bytes);
    }
}

// ---- samples

// A new position, and how the entity came there.
typedef struct sample {
    int32_t position_mm[3];
    uint32_t tick;
    uint16_t jumps;
    const uint8_t* velocity; // three numbers that an enter states, or NULL: steps in a leg
    float step_mm;
    float leg_s;
} sample;

static void state_velocity(ph_expected* expected, const uint8_t* bytes, float step_mm, float leg_s)
{
    int16_t velocity[3];
    memcpy(velocity, bytes, sizeof velocity);
    expected->leg_s = leg_s;
    expected->interval_s = leg_s;
    for (int k = 0; k < 3; ++k) {
        expected->velocity_mm_s[k] = (float)velocity[k] * step_mm / leg_s;
    }
}

// A short step is mostly rounding: the velocity is then that of the last leg and the step together.
static void add_step(ph_expected* expected, const float way_mm[3], float step_s)
{
    const float way2 = way_mm[0] * way_mm[0] + way_mm[1] * way_mm[1] + way_mm[2] * way_mm[2];
    const bool stands = way2 <= 0.0f;
    const bool is_short = !stands && step_s < PH_LEG_S && way2 < PH_LEG_MM * PH_LEG_MM;
    const float before_s = expected->leg_s;
    const float joined_s = is_short ? before_s : 0.0f;
    const float bend =
        before_s > 0.0f && !is_short && !stands ? ph_carry_bend(step_s, before_s) : 0.0f;
    for (int k = 0; k < 3; ++k) {
        const float former = expected->velocity_mm_s[k];
        const float velocity = (way_mm[k] + former * joined_s) / (step_s + joined_s);
        expected->velocity_mm_s[k] = velocity;
        expected->bend_mm_s[k] = is_short ? expected->bend_mm_s[k] : bend * (velocity - former);
    }
    expected->leg_s = step_s + joined_s;
    expected->interval_s = step_s;
}

// Inline with all that makes a sample: what is written to memory in single words and fetched in pairs
// is waited for, for longer than all the rest takes.
static inline void add(ph_expected* expected, const sample* next, float tick_s)
{
    const bool is_jump = next->jumps != expected->jumps;
    if (!expected->is_there || is_jump) {
        const bool is_first = !expected->is_there;
        *expected = (ph_expected){.jumps = next->jumps, .is_there = true};
        if (is_first && next->velocity != NULL) {
            state_velocity(expected, next->velocity, next->step_mm, next->leg_s);
        }
    } else if (next->tick != expected->tick) {
        float way_mm[3];
        ph_expected_difference(expected->position_mm, next->position_mm, way_mm);
        add_step(expected, way_mm, (float)(next->tick - expected->tick) * tick_s);
    }
    expected->tick = next->tick;
    memcpy(expected->position_mm, next->position_mm, sizeof expected->position_mm);
}

// A position that an item tells, in the middle of its step as it is shown. The velocity that an enter of
// the pinhole profile states stands behind its values and its name.
static inline sample make_sample(const ph_world* world, const ph_sender* sender,
                                 const ph_layout* layout, const ph_flight_item* item, uint32_t tick,
                                 const uint32_t words[3])
{
    const uint32_t step_mm = UINT32_C(1) << layout->coordinate.shift;
    const uint32_t centre_mm = step_mm / 2;
    sample made = {
        .position_mm = {(int32_t)(words[0] + centre_mm), (int32_t)(words[1] + centre_mm),
                        (int32_t)words[2]},
        .tick = tick,
        .jumps = item->jumps,
    };
    if (item->kind == PH_RECORD_ENTER && ph_sender_is_coded(sender)) {
        made.velocity = item->values + item->value_bytes - 3 * sizeof(int16_t);
        made.step_mm = (float)step_mm;
        made.leg_s =
            (float)ph_baseline_velocity_ticks(world->def.tick_us) * ph_expected_tick_s(world);
    }
    return made;
}

static bool has_position(const ph_layout* layout, const ph_flight_item* item)
{
    return item->kind != PH_RECORD_LEAVE && (item->properties & layout->position) != 0;
}

// @return False for an item without a position.
static inline bool try_sample(const ph_world* world, const ph_sender* sender,
                              const ph_flight_item* item, uint32_t tick, sample* found)
{
    const int class_index = sender->knowledge.class_index[item->slot];
    const ph_layout* layout = &world->forms.layouts.layouts[class_index];
    if (!has_position(layout, item)) {
        return false;
    }
    const ph_packing* packing = &world->forms.packings[class_index];
    uint32_t words[3];
    ph_packing_load(
        packing, layout->position_property,
        item->values + ph_packing_size(packing, item->properties & (layout->position - 1)), words);
    *found = make_sample(world, sender, layout, item, tick, words);
    return true;
}

uint64_t ph_expectation_heading(const ph_expectation* expectation, int class_index)
{
    const int property = expectation->headings[class_index];
    return property != PH_HEADING_NONE ? UINT64_C(1) << property : 0;
}

// ---- what is sent, and what becomes of it

static void note_heading(ph_expectation* expectation, const ph_world* world,
                         const ph_sender* sender, int slot)
{
    const int class_index = sender->knowledge.class_index[slot];
    const int property = expectation->headings[class_index];
    const int told = sender->knowledge.told[slot];
    const ph_packing* packing = &world->forms.packings[class_index];
    if (property == PH_HEADING_NONE || packing->size[property] == 0 ||
        (told != PH_TOLD_ENTER && told != PH_TOLD_ENTERED)) {
        return;
    }
    ph_packing_load(
        packing, property,
        ph_knowledge_newest(&sender->knowledge, &sender->flight, packing, slot, property),
        &expectation->heading[slot]);
}

void ph_expectation_note_sent(ph_expectation* expectation, const ph_world* world,
                              const ph_sender* sender, const ph_flight_item* item,
                              const ph_record* record)
{
    const int slot = item->slot;
    const int class_index = record->class_index;
    const ph_layout* layout = &world->forms.layouts.layouts[class_index];
    ph_expected* sent = &expectation->sent[slot];
    const uint64_t heading = ph_expectation_heading(expectation, class_index);
    if (item->kind == PH_RECORD_ENTER || (item->properties & heading) != 0) {
        note_heading(expectation, world, sender, slot);
    }
    if (!has_position(layout, item)) {
        return;
    }
    const sample next = make_sample(world, sender, layout, item, world->tick,
                                    record->words + layout->position_word);
    // An enter is the first of its entity, unless others are on their way: nothing is known of it.
    if (item->kind == PH_RECORD_ENTER &&
        ph_knowledge_at(&sender->knowledge, slot)->in_flight == 1) {
        sent->is_there = false;
        expectation->known[slot].is_there = false;
    }
    const float tick_s = ph_expected_tick_s(world);
    if (sent->is_there && sent->interval_s > 0.0f && next.tick != sent->tick) {
        ph_manner_learn_pause(&expectation->manners[class_index],
                              (float)(next.tick - sent->tick) * tick_s, sent->interval_s);
    }
    sent->is_revised |= next.tick == sent->tick;
    add(sent, &next, tick_s);
}

static bool is_same_motion(const ph_expected* a, const ph_expected* b)
{
    return memcmp(a, b, offsetof(ph_expected, is_revised)) == 0;
}

// Mostly it is the newest that was sent of its slot, and whatever came before it is known: then what
// was expected when it was sent is known now.
void ph_expectation_note_applied(ph_expectation* expectation, const ph_world* world,
                                 const ph_sender* sender, const ph_flight_item* item, uint32_t tick)
{
    ph_expected* sent = &expectation->sent[item->slot];
    ph_expected* known = &expectation->known[item->slot];
    const bool is_all_known = ph_knowledge_at(&sender->knowledge, item->slot)->in_flight == 1 &&
                              !expectation->doubtful[item->slot];
    if (is_all_known && !sent->is_revised && item->kind != PH_RECORD_LEAVE) {
        *known = *sent;
        return;
    }
    sample next;
    if (try_sample(world, sender, item, tick, &next)) {
        add(known, &next, ph_expected_tick_s(world));
    }
    if (is_all_known) {
        sent->is_revised = !is_same_motion(sent, known);
    }
}

void ph_expectation_mend(ph_expectation* expectation, const ph_world* world,
                         const ph_sender* sender)
{
    if (!expectation->has_doubt) {
        return;
    }
    const ph_knowledge* knowledge = &sender->knowledge;
    const ph_flight* flight = &sender->flight;
    for (int slot = 0; slot < knowledge->slot_count; ++slot) {
        if (expectation->doubtful[slot]) {
            expectation->sent[slot] = expectation->known[slot];
            note_heading(expectation, world, sender, slot);
        }
    }
    for (int i = 0; i < flight->count; ++i) {
        const ph_flight_packet* packet = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX];
        uint16_t place = ph_flight_first_item(flight, packet);
        for (int k = 0; k < packet->item_count; ++k) {
            const ph_flight_item item = ph_flight_read(flight, place);
            sample next;
            if (expectation->doubtful[item.slot] &&
                try_sample(world, sender, &item, packet->stamp.tick, &next)) {
                add(&expectation->sent[item.slot], &next, ph_expected_tick_s(world));
            }
            place = ph_flight_next_item(flight, place);
        }
    }
    memset(expectation->doubtful, 0, (size_t)knowledge->slot_count);
    expectation->has_doubt = false;
}
