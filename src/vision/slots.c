// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per viewer and refresh, over the few hundred that are shown. Everything lies in one block:
//
//   | ph_slots | spawn_orders | entered entities | shown table free_ring enters leaves | states marks |
//                u64            u32                u16                                   u8
//
// What a refresh and a send sweep lies in a row: entities and shown; and the bytes at the end.

#include "vision/slots.h"

#include "base/allocator.h"
#include "base/bitset.h"
#include "base/compiler.h"
#include "vision/select.h"
#include "vision/slot_table.h"
#include "vision/sweep.h"

#include <string.h>

_Static_assert(PH_SLOT_COUNT_MAX <= PH_SLOT_NONE, "a slot number never looks like none");

_Static_assert(2 * PH_VISIBLE_MAX <= PH_SLOT_COUNT_MAX, "twice the visible limit fits");

// So many members are looked at together.
enum { SOME_COUNT = 256 };

// ---- memory

// Widest first, so that everything is aligned without padding.
static size_t slots_size(int slot_count)
{
    const size_t per_slot = sizeof(uint64_t) + sizeof(ph_entity_index) + sizeof(uint32_t) +
                            4 * sizeof(uint16_t) + 2 * sizeof(uint8_t);
    return sizeof(ph_slots) + (size_t)slot_count * per_slot +
           ph_slot_table_size(slot_count) * sizeof(uint16_t);
}

static void lay_out_slots(ph_slots* slots)
{
    const size_t count = (size_t)slots->slot_count;
    slots->spawn_orders = (uint64_t*)(slots + 1);
    slots->entered = (uint32_t*)(slots->spawn_orders + count);
    slots->entities = (ph_entity_index*)(slots->entered + count);
    slots->shown = (uint16_t*)(slots->entities + count);
    uint16_t* entries = slots->shown + count;
    slots->table = ph_slot_table_make(entries, slots->entities, slots->slot_count);
    slots->free_ring = entries + ph_slot_table_size(slots->slot_count);
    slots->enters = slots->free_ring + count;
    slots->leaves = slots->enters + count;
    slots->states = (uint8_t*)(slots->leaves + count);
    slots->marks = slots->states + count;
}

ph_result ph_slots_create(const ph_allocator* allocator, int slot_count, ph_slots** slots_out)
{
    PH_ASSERT(slot_count >= 2 && slot_count <= PH_SLOT_COUNT_MAX);

    *slots_out = NULL;
    const size_t size_bytes = slots_size(slot_count);
    ph_slots* slots = ph_allocate_zeroed(allocator, size_bytes);
    if (slots == NULL) {
        return PH_ERROR_MEMORY;
    }
    slots->allocator = *allocator;
    slots->size_bytes = size_bytes;
    slots->slot_count = slot_count;
    lay_out_slots(slots);
    for (int slot = 0; slot < slot_count; ++slot) {
        slots->entities[slot] = PH_ENTITY_NONE;
        slots->free_ring[slot] = (uint16_t)(slot + 1);
    }
    slots->free_count = slot_count - 1;
    *slots_out = slots;
    return PH_OK;
}

void ph_slots_destroy(ph_slots* slots)
{
    if (slots != NULL) {
        const ph_allocator allocator = slots->allocator;
        ph_release(&allocator, slots, slots->size_bytes);
    }
}

// ---- the three ways of a slot: enter, leave, free

static void enter_slot(ph_slots* slots, int slot, ph_entity_index entity, const ph_slots_step* step)
{
    ph_slot_table_insert(&slots->table, entity, slot);
    slots->entities[slot] = entity;
    slots->spawn_orders[slot] = step->arrays->spawn_order[entity];
    slots->entered[slot] = step->tick;
    slots->states[slot] = PH_SLOT_SHOWN;
    slots->shown_count += slot != 0;
    slots->enters[slots->enter_count++] = (uint16_t)slot;
}

// The list of leaves is made at the end, by slot: here only a mark.
static void vacate_slot(ph_slots* slots, int slot)
{
    ph_slot_table_remove(&slots->table, slots->entities[slot]);
    slots->entities[slot] = PH_ENTITY_NONE;
    slots->states[slot] = PH_SLOT_RESTING;
    slots->marks[slot] = MARK_LEFT;
    ++slots->leave_count;
    slots->shown_count -= slot != 0;
    slots->resting_count += slot != 0;
}

void ph_slots_free(ph_slots* slots, int slot)
{
    PH_ASSERT(slot >= 0 && slot < slots->slot_count);
    PH_ASSERT(slots->states[slot] == PH_SLOT_RESTING);

    slots->states[slot] = PH_SLOT_FREE;
    if (slot == 0) {
        return;
    }
    --slots->resting_count;
    const int tail = (slots->free_head + slots->free_count++) % slots->slot_count;
    slots->free_ring[tail] = (uint16_t)slot;
}

static int take_free(ph_slots* slots)
{
    const int slot = slots->free_ring[slots->free_head];
    slots->free_head = (slots->free_head + 1) % slots->slot_count;
    --slots->free_count;
    return slot;
}

// ---- one refresh, in the order of its steps

// The own entity needs no permission and no distance; all it needs is to live.
static void refresh_own(ph_slots* slots, const ph_slots_step* step)
{
    const uint64_t* spawn_order = step->arrays->spawn_order;
    ph_entity_index own = step->eye->own;
    if (own != PH_ENTITY_NONE && spawn_order[own] == UINT64_MAX) {
        own = PH_ENTITY_NONE;
    }
    if (slots->states[0] == PH_SLOT_SHOWN &&
        (slots->entities[0] != own || slots->spawn_orders[0] != spawn_order[own])) {
        vacate_slot(slots, 0);
    }
    if (own == PH_ENTITY_NONE || slots->states[0] == PH_SLOT_SHOWN) {
        return;
    }
    const int ordinary = ph_slot_table_find(&slots->table, own);
    if (ordinary > 0) {
        vacate_slot(slots, ordinary);
    }
    if (slots->states[0] == PH_SLOT_FREE) {
        enter_slot(slots, 0, own, step);
    } else {
        ++slots->waits;
    }
}

static ph_seen member_as_seen(const ph_slots* slots, const ph_slots_step* step, int slot)
{
    const ph_entity_arrays* arrays = step->arrays;
    const ph_entity_index entity = slots->entities[slot];
    ph_seen seen = {.spawn_order = slots->spawn_orders[slot], .entity = entity};
    if ((arrays->flags[entity] & PH_SEEN_ALWAYS) == 0) {
        seen.distance2 = ph_distance2(arrays->x_mm[entity], arrays->y_mm[entity], step->eye->x_mm,
                                      step->eye->y_mm);
    }
    return seen;
}

// The slots of members, the own one excepted.
static ph_slot_list list_members(const ph_slots* slots)
{
    const int own = slots->states[0] == PH_SLOT_SHOWN;
    return (ph_slot_list){slots->shown + own, slots->listed_count - own};
}

// Lists those that have to be looked at one by one: what would not enter, or has anything special about
// it. @return How many.
static int list_unusual(const ph_slots* slots, const ph_slots_step* step, uint16_t* unusual)
{
    const ph_eye* eye = step->eye;
    const int32_t eye_x = eye->x_mm;
    const int32_t eye_y = eye->y_mm;
    const uint32_t sees = eye->sees;
    const uint64_t enter2 = eye->callback == NULL ? step->view->enter.distance2 : 0;
    const ph_slot_list members = list_members(slots);
    const ph_entity_index* entities = slots->entities;
    const uint64_t* spawn_orders = slots->spawn_orders;
    const ph_entity_arrays arrays = *step->arrays;
    int count = 0;
    for (int i = 0; i < members.count; ++i) {
        const size_t slot = members.slots[i];
        const size_t entity = entities[slot];
        if (ph_distance2(arrays.x_mm[entity], arrays.y_mm[entity], eye_x, eye_y) >= enter2 ||
            arrays.spawn_order[entity] != spawn_orders[slot] ||
            (arrays.seen_by[entity] & sees) == 0 || arrays.flags[entity] != 0) {
            unusual[count++] = (uint16_t)slot;
        }
    }
    return count;
}

// Keys (sweep.h) between which a member surely would not enter, but stays.
typedef struct stay_keys {
    int32_t enter_in; // up to here it surely would enter
    int32_t enter_edge;
    int32_t wide_in;
} stay_keys;

// Marks those of a few members that may or may not enter or stay. @return How many others surely would
// not enter. Compilers make vectors of it, although places have to be fetched one by one.
PH_WIDE static uint32_t mark_undecided(const ph_slots* slots, const ph_slots_step* step,
                                       ph_slot_list some, stay_keys keys, uint32_t* restrict mark)
{
    const ph_entity_index* entities = slots->entities;
    const int32_t* x_mm = step->arrays->x_mm;
    const int32_t* y_mm = step->arrays->y_mm;
    const int32_t eye_x = step->eye->x_mm;
    const int32_t eye_y = step->eye->y_mm;
    uint32_t outside_count = 0;
    for (int i = 0; i < some.count; ++i) {
        const ph_entity_index entity = entities[some.slots[i]];
        const float dx = (float)ph_difference_mm(x_mm[entity], eye_x);
        const float dy = (float)ph_difference_mm(y_mm[entity], eye_y);
        const int32_t key = ph_key_of(dx * dx + dy * dy);
        const uint32_t is_outside =
            ph_bits_if(key > keys.enter_edge) & ~ph_bits_if(key > keys.wide_in);
        mark[i] = ph_bits_if(key > keys.enter_in) & ~is_outside;
        outside_count -= is_outside;
    }
    return outside_count;
}

// The same where no entity is special: for nearly all, their approximate distance is enough. Lists the
// others. @return How many.
static int list_undecided(const ph_slots* slots, const ph_slots_step* step, uint16_t* undecided,
                          int* outside_count)
{
    const ph_view* view = step->view;
    const stay_keys keys = {
        .enter_in = ph_key_surely_below((float)view->enter.distance2),
        .enter_edge = ph_key_maybe_below((float)view->enter.distance2),
        .wide_in = ph_key_surely_below((float)view->wide.distance2),
    };
    const ph_slot_list members = list_members(slots);
    int count = 0;
    for (int from = 0; from < members.count; from += SOME_COUNT) {
        const int left = members.count - from;
        const ph_slot_list some = {members.slots + from, ph_least(left, SOME_COUNT)};
        uint32_t mark[SOME_COUNT + PH_MARKS_STEP];
        uint32_t marked[SOME_COUNT + PH_MARKS_STEP];
        *outside_count += (int)mark_undecided(slots, step, some, keys, mark);
        const int marked_count = ph_marks_list(mark, some.count, marked);
        for (int i = 0; i < marked_count; ++i) {
            undecided[count++] = some.slots[marked[i]];
        }
    }
    return count;
}

// The callback was asked by the question already about all within reach.
static bool is_allowed(const ph_eye* eye, ph_entity_index entity)
{
    return eye->callback != NULL && eye->visibility != NULL ? eye->visibility[entity] != 0
                                                            : ph_eye_ask(eye, entity);
}

static bool is_within(const ph_slots_step* step, const ph_seen* member, const ph_reach* reach,
                      uint64_t always_end)
{
    return (step->arrays->flags[member->entity] & PH_SEEN_ALWAYS) != 0
               ? member->spawn_order < always_end
               : ph_reach_has(reach, member->distance2, member->spawn_order);
}

// Whether a member is within the wide reach, and may be seen.
static bool is_seen(const ph_slots_step* step, const ph_seen* member)
{
    const ph_entity_arrays* arrays = step->arrays;
    const ph_entity_index entity = member->entity;
    return is_within(step, member, &step->view->wide, step->view->wide_always_end) &&
           arrays->spawn_order[entity] == member->spawn_order &&
           (arrays->seen_by[entity] & step->eye->sees) != 0 &&
           (arrays->flags[entity] & PH_SEEN_NEVER) == 0 && is_allowed(step->eye, entity);
}

// Marks the members that are not within reach. @return How many would not enter, if they were not there
// yet, these included.
static int judge_members(ph_slots* slots, const ph_slots_step* step)
{
    PH_ASSERT(!step->is_calm || ph_slots_are_calm(slots, step));

    uint16_t* unusual = slots->leaves; // not filled yet
    int outside_count = 0;
    const int unusual_count = step->is_calm && step->eye->callback == NULL
                                  ? list_undecided(slots, step, unusual, &outside_count)
                                  : list_unusual(slots, step, unusual);
    for (int i = 0; i < unusual_count; ++i) {
        const int slot = unusual[i];
        const ph_seen member = member_as_seen(slots, step, slot);
        const bool is_member_seen = is_seen(step, &member);
        outside_count += !is_member_seen ||
                         !is_within(step, &member, &step->view->enter, step->view->near_always_end);
        slots->unseen_count += !is_member_seen;
        slots->marks[slot] = is_member_seen ? MARK_NONE : MARK_UNSEEN;
    }
    return outside_count;
}

// Twice the radius. Compared by a quarter, rounded up: the square of twice the largest radius is
// 2^64.
static bool is_in_reach(uint64_t distance2, const ph_eye* eye)
{
    return (distance2 + 3) / 4 <= (uint64_t)eye->radius_mm * (uint64_t)eye->radius_mm;
}

// For a member that is not within reach. The filter comes before the stay time: what may no
// longer be seen is gone at once, and so is what a teleport left behind.
static bool may_stay(const ph_slots* slots, const ph_slots_step* step, int slot)
{
    const ph_entity_index entity = slots->entities[slot];
    return slots->spawn_orders[slot] == step->arrays->spawn_order[entity] &&
           step->tick - slots->entered[slot] < (uint32_t)step->stay_ticks &&
           is_in_reach(member_as_seen(slots, step, slot).distance2, step->eye) &&
           ph_eye_may_see(step->eye, step->arrays, entity);
}

// The next slot with this mark, from this one on: there is one.
static int find_mark(const ph_slots* slots, int slot, slot_mark mark)
{
    const size_t left = (size_t)(slots->slot_count - slot);
    const uint8_t* found = memchr(slots->marks + slot, (int)mark, left);
    PH_ASSERT(found != NULL);
    return (int)(found - slots->marks);
}

static void drop_unseen(ph_slots* slots, const ph_slots_step* step)
{
    int slot = 0;
    for (int left = slots->unseen_count; left > 0; --left) {
        slot = find_mark(slots, slot + 1, MARK_UNSEEN);
        if (!may_stay(slots, step, slot)) {
            vacate_slot(slots, slot);
        }
    }
}

// One step of a heap of slots with the furthest on top.
static void sift_slot_down(const ph_slots* slots, const ph_slots_step* step, uint16_t* heap,
                           int count, int at)
{
    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        ph_seen seen = member_as_seen(slots, step, heap[child]);
        if (child + 1 < count) {
            const ph_seen other = member_as_seen(slots, step, heap[child + 1]);
            if (ph_seen_is_nearer(&seen, &other)) {
                seen = other;
                ++child;
            }
        }
        const ph_seen parent = member_as_seen(slots, step, heap[at]);
        if (ph_seen_is_nearer(&seen, &parent)) {
            return;
        }
        const uint16_t lower = heap[at];
        heap[at] = heap[child];
        heap[child] = lower;
        at = child;
    }
}

// Lists the members past the wanted ones. @return How many.
static int list_past_wanted(const ph_slots* slots, const ph_slots_step* step, uint16_t* past)
{
    const ph_entity_arrays arrays = *step->arrays;
    const ph_view* view = step->view;
    const ph_slot_list members = list_members(slots);
    int count = 0;
    for (int i = 0; i < members.count; ++i) {
        const uint16_t slot = members.slots[i];
        if (slots->states[slot] != PH_SLOT_SHOWN) {
            continue; // since this refresh began
        }
        const ph_entity_index entity = slots->entities[slot];
        if (ph_distance2(arrays.x_mm[entity], arrays.y_mm[entity], step->eye->x_mm,
                         step->eye->y_mm) < view->near.distance2 &&
            arrays.flags[entity] == 0) {
            continue;
        }
        const ph_seen member = member_as_seen(slots, step, slot);
        past[count] = slot;
        count += !is_within(step, &member, &view->near, view->near_always_end);
    }
    return count;
}

// Makes the furthest members past the wanted ones leave. Only when the slots run out, which at twice the
// visible limit takes a teleport or a client that does not ack. So the distances are worked out again
// at every comparison instead of being kept for all.
static void evict_furthest(ph_slots* slots, const ph_slots_step* step, int evict_count)
{
    uint16_t* heap = slots->leaves; // not filled yet
    int count = list_past_wanted(slots, step, heap);
    for (int at = count / 2 - 1; at >= 0; --at) {
        sift_slot_down(slots, step, heap, count, at);
    }
    for (; evict_count > 0 && count > 0; --evict_count) {
        vacate_slot(slots, heap[0]);
        heap[0] = heap[--count];
        sift_slot_down(slots, step, heap, count, 0);
    }
}

// Those that wait get the slots that rest now; only for the others an entity has to leave.
static void admit(ph_slots* slots, const ph_slots_step* step)
{
    const int newcomer_count = step->newcomer_count;
    ph_sort_nearest(step->newcomers, newcomer_count);
    const int admitted_count = ph_least(newcomer_count, slots->free_count);
    if (step->is_chained) {
        ph_chain_neighbours(step->newcomers, admitted_count, step->arrays->x_mm,
                            step->arrays->y_mm);
    }
    int admitted = 0;
    for (; admitted < admitted_count; ++admitted) {
        enter_slot(slots, take_free(slots), step->newcomers[admitted].entity, step);
    }
    const int waiting_count = newcomer_count - admitted;
    slots->waits += (uint64_t)waiting_count;
    if (waiting_count > slots->resting_count) {
        evict_furthest(slots, step, waiting_count - slots->resting_count);
    }
}

static void list_leaves(ph_slots* slots)
{
    int slot = -1;
    for (int i = 0; i < slots->leave_count; ++i) {
        slot = find_mark(slots, slot + 1, MARK_LEFT);
        slots->leaves[i] = (uint16_t)slot;
    }
}

static int list_some(const ph_slots* slots, int begin, int end, int listed)
{
    for (int slot = begin; slot < end; ++slot) {
        slots->shown[listed] = (uint16_t)slot;
        listed += slots->states[slot] == PH_SLOT_SHOWN;
    }
    return listed;
}

// Eight at a time: mostly all of them are shown.
static void list_shown(ph_slots* slots)
{
    const uint64_t all_shown = PH_SLOT_SHOWN * (UINT64_MAX / UINT8_MAX);
    const int end = slots->slot_count & ~7;
    int listed = 0;
    for (int slot = 0; slot < end; slot += 8) {
        uint64_t eight;
        memcpy(&eight, slots->states + slot, sizeof eight);
        if (eight != all_shown) {
            listed = list_some(slots, slot, slot + 8, listed);
            continue;
        }
        for (int k = 0; k < 8; ++k) {
            slots->shown[listed + k] = (uint16_t)(slot + k);
        }
        listed += 8;
    }
    slots->listed_count = list_some(slots, end, slots->slot_count, listed);
}

int ph_slots_judge(ph_slots* slots, const ph_slots_step* step)
{
    PH_ASSERT(step->eye->wanted >= 1 && step->eye->wanted < slots->slot_count);

    if (slots->unseen_count + slots->leave_count > 0) {
        memset(slots->marks, MARK_NONE, (size_t)slots->slot_count);
    }
    slots->unseen_count = 0;
    slots->enter_count = 0;
    slots->leave_count = 0;
    refresh_own(slots, step);
    if (slots->enter_count + slots->leave_count > 0) {
        list_shown(slots);
    }
    return step->view->enter_count - (slots->shown_count - judge_members(slots, step));
}

int ph_slots_sift(const ph_slots* slots, ph_seen* seen, int count)
{
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        const int slot = ph_slot_table_find(&slots->table, seen[i].entity);
        seen[kept] = seen[i];
        kept += slot < 0 || slots->spawn_orders[slot] != seen[i].spawn_order;
    }
    return kept;
}

void ph_slots_refresh(ph_slots* slots, const ph_slots_step* step)
{
    PH_ASSERT(step->newcomer_count >= 0 && step->stay_ticks >= 0);

    drop_unseen(slots, step);
    admit(slots, step);
    list_leaves(slots);
    if (slots->enter_count + slots->leave_count > 0) {
        list_shown(slots);
    }
}

// ---- questions

uint32_t ph_slots_entered(const ph_slots* slots, int slot)
{
    PH_ASSERT(ph_slots_state(slots, slot) == PH_SLOT_SHOWN);

    return slots->entered[slot];
}

int ph_slots_find(const ph_slots* slots, ph_entity_index entity)
{
    return ph_slot_table_find(&slots->table, entity);
}

ph_slot_list ph_slots_shown(const ph_slots* slots)
{
    return (ph_slot_list){slots->shown, slots->listed_count};
}

ph_vision ph_slots_sight(const ph_slots* slots)
{
    return (ph_vision){
        .entities = slots->entities,
        .slot_count = slots->slot_count,
        .visible_count = slots->shown_count,
        .enters = slots->enters,
        .enter_count = slots->enter_count,
        .leaves = slots->leaves,
        .leave_count = slots->leave_count,
    };
}

ph_slot_state ph_slots_state(const ph_slots* slots, int slot)
{
    PH_ASSERT(slot >= 0 && slot < slots->slot_count);

    return (ph_slot_state)slots->states[slot];
}

uint64_t ph_slots_waits(const ph_slots* slots)
{
    return slots->waits;
}
