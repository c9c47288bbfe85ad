// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which cells a front wants, and what it subscribes to for that.
//
// An interest holds the cells that its circle touches: radius and margin when they are chosen, and keep_mm more as long
// as they are held. They are chosen anew when the place has moved by half of the margin, so that a viewer that stands
// or turns costs nothing. A cell counts, for each key, how many interests hold it; a key is a channel, or all
// channels at once for viewers that see everything. A cell that all have left is kept for keep_ms.
//
// What is subscribed to is a topic: a key of a block of 4 x 4 cells. From 10 cells on it is the block as a whole, below
// 7 again cell by cell: what comes of the few others is ignored, and the server has fewer subscriptions to match.

#include "bus/front_state.h"

#include <string.h>

enum { BLOCK_FROM = 10, BLOCK_BELOW = 7 };

// ---- subscriptions

static uint64_t topic_name(ph_cell cell, int key)
{
    const bool is_everywhere = ph_cell_is_same(cell, PH_CELL_EVERYWHERE);
    const uint64_t x = (uint32_t)(cell.x >> 2) & 0xFFFFFFFu;
    const uint64_t y = (uint32_t)(cell.y >> 2) & 0xFFFFFFFu;
    return (uint64_t)key | x << 6 | y << 34 | (uint64_t)is_everywhere << 63;
}

static int place_in_block(ph_cell cell)
{
    return (cell.x & 3) + 4 * (cell.y & 3);
}

static ph_cell cell_of_block(const front_topic* topic, int place)
{
    return (ph_cell){topic->block.x + place % 4, topic->block.y + place / 4};
}

static uint64_t subscribe(ph_bus_front* front, ph_cell cell, bool is_block, int key)
{
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_cell_wanted(subject, front->world_name, cell, is_block,
                            key == FRONT_KEY_ALL ? -1 : key);
    const ph_bus_transport* transport = &front->def.transport;
    const uint64_t subscription = transport->subscribe(transport->context, subject);
    front->stats.subscriptions += subscription != 0;
    front->has_failed_subscription = front->has_failed_subscription || subscription == 0;
    return subscription;
}

static void unsubscribe(ph_bus_front* front, uint64_t* subscription)
{
    if (*subscription != 0) {
        const ph_bus_transport* transport = &front->def.transport;
        transport->unsubscribe(transport->context, *subscription);
        *subscription = 0;
        --front->stats.subscriptions;
    }
}

static front_topic* find_topic(ph_bus_front* front, ph_cell cell, int key)
{
    uint32_t place;
    return ph_hash_map_try_find(&front->topic_map, topic_name(cell, key), &place)
               ? &front->topics[place]
               : NULL;
}

static front_topic* make_topic(ph_bus_front* front, ph_cell cell, int key)
{
    uint32_t place = front->free_topic1;
    if (!front_grow_map(&front->topic_map)) {
        return NULL;
    }
    if (place != 0) {
        --place;
        front->free_topic1 = (uint32_t)front->topics[place].name;
    } else if (front_grow(front, (void**)&front->topics, &front->topic_capacity,
                          front->topic_count + 1, sizeof *front->topics)) {
        place = (uint32_t)front->topic_count++;
    } else {
        return NULL;
    }
    front_topic* topic = &front->topics[place];
    *topic = (front_topic){.name = topic_name(cell, key), .key = key, .is_used = true};
    topic->block = (ph_cell){cell.x - (cell.x & 3), cell.y - (cell.y & 3)};
    ph_hash_map_insert(&front->topic_map, topic->name, place);
    return topic;
}

static void free_topic(ph_bus_front* front, front_topic* topic)
{
    ph_hash_map_remove(&front->topic_map, topic->name);
    topic->is_used = false;
    topic->name = front->free_topic1;
    front->free_topic1 = (uint32_t)(topic - front->topics) + 1;
}

// The new subscription stands before the old ones end: what comes twice has an old sequence, what is missing would be
// a gap.
static void fit_topic(ph_bus_front* front, front_topic* topic)
{
    const int wanted = ph_word_count_bits(topic->cells);
    if (wanted >= BLOCK_FROM || (topic->is_block && wanted >= BLOCK_BELOW)) {
        if (topic->block_subscription == 0) {
            topic->block_subscription = subscribe(front, topic->block, true, topic->key);
        }
        topic->is_block = topic->block_subscription != 0;
    } else {
        topic->is_block = false;
    }
    for (int i = 0; i < 16; ++i) {
        const bool is_wanted = !topic->is_block && (topic->cells >> i & 1) != 0;
        if (is_wanted && topic->subscriptions[i] == 0) {
            topic->subscriptions[i] = subscribe(front, cell_of_block(topic, i), false, topic->key);
        } else if (!is_wanted) {
            unsubscribe(front, &topic->subscriptions[i]);
        }
    }
    if (!topic->is_block) {
        unsubscribe(front, &topic->block_subscription);
    }
}

static bool open_key(ph_bus_front* front, ph_cell cell, int key)
{
    front_topic* topic = find_topic(front, cell, key);
    if (topic == NULL) {
        topic = make_topic(front, cell, key);
    }
    if (topic == NULL) {
        front->has_failed_subscription = true;
        return false;
    }
    topic->cells = (uint16_t)(topic->cells | 1u << place_in_block(cell));
    fit_topic(front, topic);
    return true;
}

static void close_key(ph_bus_front* front, ph_cell cell, int key)
{
    front_topic* topic = find_topic(front, cell, key);
    if (topic == NULL) {
        return;
    }
    topic->cells = (uint16_t)(topic->cells & ~(1u << place_in_block(cell)));
    fit_topic(front, topic);
    if (topic->cells == 0) {
        free_topic(front, topic);
    }
}

// ---- cells

static uint64_t cell_name(ph_cell cell)
{
    return (uint64_t)(uint32_t)cell.x << 32 | (uint32_t)cell.y;
}

int front_find_cell(const ph_bus_front* front, ph_cell cell)
{
    uint32_t place;
    return ph_hash_map_try_find(&front->cell_map, cell_name(cell), &place) ? (int)place : -1;
}

static int make_cell(ph_bus_front* front, ph_cell cell)
{
    uint32_t place = front->free_cell1;
    if (!front_grow_map(&front->cell_map)) {
        return -1;
    }
    if (place != 0) {
        --place;
        front->free_cell1 = front->cells[place].stream1;
    } else if (front_grow(front, (void**)&front->cells, &front->cell_capacity,
                          front->cell_count + 1, sizeof *front->cells)) {
        place = (uint32_t)front->cell_count++;
    } else {
        return -1;
    }
    front->cells[place] = (front_cell){.cell = cell};
    ph_hash_map_insert(&front->cell_map, cell_name(cell), place);
    ++front->live_cells;
    return (int)place;
}

static void free_cell(ph_bus_front* front, uint32_t place)
{
    front_cell* cell = &front->cells[place];
    ph_hash_map_remove(&front->cell_map, cell_name(cell->cell));
    cell->stream1 = front->free_cell1;
    front->free_cell1 = place + 1;
    --front->live_cells;
}

bool front_cell_has(const front_cell* cell, int channel)
{
    return (cell->open >> channel & 1) != 0 ||
           ((cell->open & FRONT_ALL_BIT) != 0 && channel != PH_CHANNEL_OWN);
}

static uint64_t channels_of_keys(uint64_t keys)
{
    return (keys & FRONT_ALL_BIT) != 0 ? FRONT_ALL_BIT - 1 : keys;
}

static bool is_own_of_player(const ph_bus_front* front, uint64_t key)
{
    uint32_t place;
    return front->def.host != NULL && ph_hash_map_try_find(&front->key_map, key, &place) &&
           front->players[place].state != PLAYER_LEAVING;
}

// Removes what stands in a cell and on none of its channels that are still followed; a pass over all entities. A player's
// own entity stays: it may have come to the player alone.
static void drop_entities(ph_bus_front* front, const front_cell* cell)
{
    ph_world* world = front->def.world;
    const uint64_t followed = channels_of_keys(cell->open);
    const bool is_everywhere = ph_cell_is_same(cell->cell, PH_CELL_EVERYWHERE);
    for (int i = ph_world_entity_count(world) - 1; i >= 0; --i) {
        const ph_entity_id entity = ph_world_live_entity(world, i);
        ph_spawn spawn;
        ph_ownership ownership;
        if (ph_world_describe(world, entity, &spawn) != PH_OK ||
            spawn.is_always_visible != is_everywhere ||
            (!is_everywhere &&
             !ph_cell_is_same(ph_cell_at((int32_t)spawn.position_mm[0],
                                         (int32_t)spawn.position_mm[1], front->def.cell_mm),
                              cell->cell))) {
            continue;
        }
        const uint64_t channels = ph_channels_of(spawn.seen_by, spawn.is_never_visible);
        if ((channels & (followed | UINT64_C(1) << PH_CHANNEL_OWN)) == 0 &&
            ph_world_get_ownership(world, entity, &ownership) == PH_OK && ownership.owner != 0 &&
            !is_own_of_player(front, spawn.key)) {
            ph_world_despawn(world, entity);
        }
    }
}

// Opens and closes subscriptions as wanted by now.
static void fit_cell(ph_bus_front* front, uint32_t place)
{
    front_cell* cell = &front->cells[place];
    const uint64_t before = cell->open;
    uint64_t wanted = cell->live | cell->lingering;
    if ((wanted & FRONT_ALL_BIT) != 0) {
        wanted = FRONT_ALL_BIT;
    }
    const bool was_all_known = (before & FRONT_ALL_BIT) != 0 && cell->asks1[FRONT_KEY_ALL] == 0;
    for (uint64_t left = wanted & ~before; left != 0; left &= left - 1) {
        const int key = ph_word_lowest_bit(left);
        if (!open_key(front, cell->cell, key)) {
            continue;
        }
        cell->open |= UINT64_C(1) << key;
        if (!was_all_known) {
            front_ask_cell(front, place, key);
        }
    }
    for (uint64_t left = before & ~wanted; left != 0; left &= left - 1) {
        const int key = ph_word_lowest_bit(left);
        close_key(front, cell->cell, key);
        cell->open &= ~(UINT64_C(1) << key);
        front_ask_end(front, cell->asks1[key]);
    }
    const uint64_t closed = channels_of_keys(before) & ~channels_of_keys(cell->open);
    if (closed != 0 && front_remove_streams(front, place, closed)) {
        drop_entities(front, cell);
    }
    if (wanted == 0) {
        free_cell(front, place);
    }
}

// ---- holding cells

// Public entities have all bits; a viewer without any bit sees none of them.
static uint64_t keys_of(uint32_t sees)
{
    if (sees == UINT32_MAX) {
        return FRONT_ALL_BIT;
    }
    return sees == 0 ? 0 : FRONT_PUBLIC_BIT | (uint64_t)sees << PH_CHANNEL_BIT0;
}

static void hold_cell(ph_bus_front* front, uint32_t place, uint64_t keys)
{
    front_cell* cell = &front->cells[place];
    uint64_t fresh = 0;
    for (uint64_t left = keys; left != 0; left &= left - 1) {
        const int key = ph_word_lowest_bit(left);
        if (cell->counts[key]++ == 0) {
            fresh |= UINT64_C(1) << key;
        }
    }
    if (fresh != 0) {
        cell->live |= fresh;
        cell->lingering &= ~fresh;
        fit_cell(front, place);
    }
}

static void linger(ph_bus_front* front, uint32_t place, int key)
{
    const uint32_t now_ms = (uint32_t)(front->now_us / 1000);
    front_cell* cell = &front->cells[place];
    if (front->linger_count == front->linger_capacity) {
        const int before = front->linger_capacity;
        if (!front_grow(front, (void**)&front->lingers, &front->linger_capacity, before + 1,
                        sizeof *front->lingers)) {
            return; // it goes with the next change of the cell
        }
        // What stands before the first comes behind what was the end. The capacity doubles at least.
        memcpy(front->lingers + before, front->lingers,
               (size_t)front->linger_first * sizeof *front->lingers);
    }
    cell->lingering |= UINT64_C(1) << key;
    cell->left_ms[key] = now_ms;
    const int end = (front->linger_first + front->linger_count) % front->linger_capacity;
    front->lingers[end] = (front_linger){.cell = place, .left_ms = now_ms, .key = key};
    ++front->linger_count;
}

static void release_cell(ph_bus_front* front, uint32_t place, uint64_t keys)
{
    front_cell* cell = &front->cells[place];
    for (uint64_t left = keys; left != 0; left &= left - 1) {
        const int key = ph_word_lowest_bit(left);
        if (--cell->counts[key] == 0) {
            cell->live &= ~(UINT64_C(1) << key);
            linger(front, place, key);
        }
    }
}

static void leave_lingering(ph_bus_front* front)
{
    const uint32_t now_ms = (uint32_t)(front->now_us / 1000);
    while (front->linger_count > 0) {
        const front_linger one = front->lingers[front->linger_first];
        if (now_ms - one.left_ms < (uint32_t)front->def.keep_ms) {
            return;
        }
        front->linger_first = (front->linger_first + 1) % front->linger_capacity;
        --front->linger_count;
        front_cell* cell = &front->cells[one.cell];
        const uint64_t bit = UINT64_C(1) << one.key;
        if ((cell->lingering & bit) != 0 && cell->left_ms[one.key] == one.left_ms) {
            cell->lingering &= ~bit;
            fit_cell(front, one.cell);
        }
    }
}

static void retry_subscriptions(ph_bus_front* front)
{
    if (!front->has_failed_subscription || front->now_us - front->retried_us < 1000000) {
        return;
    }
    front->retried_us = front->now_us;
    front->has_failed_subscription = false;
    for (int i = 0; i < front->cell_count; ++i) {
        const front_cell* cell = &front->cells[i];
        if (front_find_cell(front, cell->cell) == i && (cell->live | cell->lingering) != 0) {
            fit_cell(front, (uint32_t)i);
        }
    }
    for (int i = 0; i < front->topic_count; ++i) {
        if (front->topics[i].is_used) {
            fit_topic(front, &front->topics[i]);
        }
    }
}

void front_cells_tick(ph_bus_front* front)
{
    leave_lingering(front);
    retry_subscriptions(front);
}

void front_cells_destroy(ph_bus_front* front)
{
    const ph_allocator* allocator = &front->allocator;
    for (int i = 0; i < front->topic_count; ++i) {
        front_topic* topic = &front->topics[i];
        for (int k = 0; topic->is_used && k < 16; ++k) {
            unsubscribe(front, &topic->subscriptions[k]);
        }
        if (topic->is_used) {
            unsubscribe(front, &topic->block_subscription);
        }
    }
    ph_release_array(allocator, front->cells, (size_t)front->cell_capacity, sizeof *front->cells);
    ph_release_array(allocator, front->topics, (size_t)front->topic_capacity,
                     sizeof *front->topics);
    ph_release_array(allocator, front->lingers, (size_t)front->linger_capacity,
                     sizeof *front->lingers);
    ph_release_array(allocator, front->scratch_cells, (size_t)front->scratch_capacity,
                     sizeof *front->scratch_cells);
    ph_hash_map_destroy(&front->cell_map);
    ph_hash_map_destroy(&front->topic_map);
}

// ---- the cells around a place

// How far a coordinate is from the nearest point of a row of cells, the short way round the world.
static int64_t distance_to_row(int32_t from_mm, int32_t row, int32_t cell_mm)
{
    const int64_t low = (int64_t)row * cell_mm;
    const int64_t high = low + cell_mm - 1;
    if (from_mm >= low && from_mm <= high) {
        return 0;
    }
    // A row may reach beyond the end of the world.
    const int64_t to_low = ph_difference_mm((int32_t)(low < INT32_MIN ? INT32_MIN : low), from_mm);
    const int64_t to_high =
        ph_difference_mm((int32_t)(high > INT32_MAX ? INT32_MAX : high), from_mm);
    const int64_t a = to_low < 0 ? -to_low : to_low;
    const int64_t b = to_high < 0 ? -to_high : to_high;
    return a < b ? a : b;
}

static bool touches(const int32_t place_mm[2], int64_t radius_mm, ph_cell cell, int32_t cell_mm)
{
    const int64_t dx = distance_to_row(place_mm[0], cell.x, cell_mm);
    const int64_t dy = distance_to_row(place_mm[1], cell.y, cell_mm);
    return dx <= radius_mm && dy <= radius_mm && dx * dx + dy * dy <= radius_mm * radius_mm;
}

// The rows that a range of coordinates touches; where it goes over the end of the world, it goes on at the other end.
typedef struct front_rows {
    int32_t from[2];
    int32_t to[2];
    int count;
} front_rows;

static front_rows rows_around(int32_t place_mm, int64_t radius_mm, int32_t cell_mm)
{
    const int64_t low = place_mm - radius_mm;
    const int64_t high = place_mm + radius_mm;
    const int32_t first = ph_cell_at(INT32_MIN, 0, cell_mm).x;
    const int32_t last = ph_cell_at(INT32_MAX, 0, cell_mm).x;
    if (high - low >= INT64_C(0xFFFFFFFF)) {
        return (front_rows){.from = {first}, .to = {last}, .count = 1};
    }
    const int32_t from = ph_cell_at((int32_t)(uint32_t)(uint64_t)low, 0, cell_mm).x;
    const int32_t to = ph_cell_at((int32_t)(uint32_t)(uint64_t)high, 0, cell_mm).x;
    if (low >= INT32_MIN && high <= INT32_MAX) {
        return (front_rows){.from = {from}, .to = {to}, .count = 1};
    }
    return (front_rows){.from = {from, first}, .to = {last, to}, .count = 2};
}

typedef struct front_choice {
    front_interest* interest;
    int64_t radius_mm;
    uint64_t keys;
    int count; // in the scratch
} front_choice;

static bool keep_choice(ph_bus_front* front, front_choice* choice, uint32_t place)
{
    if (!front_grow(front, (void**)&front->scratch_cells, &front->scratch_capacity,
                    choice->count + 1, sizeof *front->scratch_cells)) {
        return false;
    }
    front->scratch_cells[choice->count++] = place;
    return true;
}

static void choose_cell(ph_bus_front* front, front_choice* choice, ph_cell cell)
{
    int place = front_find_cell(front, cell);
    if (place >= 0 && front->cells[place].mark == front->mark) {
        return; // a row at the end of the world, from its other side
    }
    if (place < 0) {
        place = make_cell(front, cell);
    }
    if (place < 0 || !keep_choice(front, choice, (uint32_t)place)) {
        front->has_failed_subscription = true;
        return;
    }
    front->cells[place].mark = front->mark;
    hold_cell(front, (uint32_t)place, choice->keys);
}

static void choose_rectangle(ph_bus_front* front, front_choice* choice, const int32_t x[2],
                             const int32_t y[2])
{
    for (int32_t row = y[0]; row <= y[1]; ++row) {
        for (int32_t column = x[0]; column <= x[1]; ++column) {
            const ph_cell cell = {column, row};
            if (touches(choice->interest->place_mm, choice->radius_mm, cell, front->def.cell_mm)) {
                choose_cell(front, choice, cell);
            }
        }
    }
}

static void choose_circle(ph_bus_front* front, front_choice* choice)
{
    const int32_t* place_mm = choice->interest->place_mm;
    const front_rows x = rows_around(place_mm[0], choice->radius_mm, front->def.cell_mm);
    const front_rows y = rows_around(place_mm[1], choice->radius_mm, front->def.cell_mm);
    for (int i = 0; i < x.count; ++i) {
        for (int k = 0; k < y.count; ++k) {
            choose_rectangle(front, choice, (const int32_t[2]){x.from[i], x.to[i]},
                             (const int32_t[2]){y.from[k], y.to[k]});
        }
    }
    choose_cell(front, choice, PH_CELL_EVERYWHERE);
}

// Of the cells that were held, those within the larger circle stay.
static void review_held(ph_bus_front* front, front_choice* choice, uint64_t keys_before)
{
    const front_interest* interest = choice->interest;
    const int64_t keep_mm = choice->radius_mm + front->def.keep_mm;
    for (int i = 0; i < interest->cell_count; ++i) {
        const uint32_t place = interest->cells[i];
        front_cell* cell = &front->cells[place];
        const bool is_kept = cell->mark != front->mark && keys_before == choice->keys &&
                             touches(interest->place_mm, keep_mm, cell->cell, front->def.cell_mm);
        if (!is_kept || !keep_choice(front, choice, place)) {
            release_cell(front, place, keys_before);
        }
    }
}

static void choose(ph_bus_front* front, front_interest* interest, uint64_t keys_before)
{
    front_choice choice = {
        .interest = interest,
        .radius_mm = (int64_t)interest->radius_mm + front->def.margin_mm,
        .keys = keys_of(interest->sees),
    };
    ++front->mark;
    if (choice.keys != 0) {
        choose_circle(front, &choice);
    }
    review_held(front, &choice, keys_before);
    interest->cell_count = 0;
    if (!front_grow(front, (void**)&interest->cells, &interest->cell_capacity, choice.count,
                    sizeof *interest->cells)) {
        for (int i = 0; i < choice.count; ++i) {
            release_cell(front, front->scratch_cells[i], choice.keys);
        }
        interest->has_place = false; // chosen anew the next time
        return;
    }
    if (choice.count > 0) {
        memcpy(interest->cells, front->scratch_cells,
               (size_t)choice.count * sizeof *interest->cells);
    }
    interest->cell_count = choice.count;
}

void front_interest_place(ph_bus_front* front, front_interest* interest, int32_t x_mm, int32_t y_mm)
{
    const uint64_t slack = (uint64_t)(front->def.margin_mm / 2);
    if (interest->has_place &&
        ph_distance2(x_mm, y_mm, interest->place_mm[0], interest->place_mm[1]) <= slack * slack) {
        return;
    }
    interest->has_place = true;
    interest->place_mm[0] = x_mm;
    interest->place_mm[1] = y_mm;
    choose(front, interest, keys_of(interest->sees));
}

void front_interest_set_sees(ph_bus_front* front, front_interest* interest, uint32_t sees)
{
    const uint64_t before = keys_of(interest->sees);
    interest->sees = sees;
    if (interest->has_place && before != keys_of(sees)) {
        choose(front, interest, before);
    }
}

void front_interest_clear(ph_bus_front* front, front_interest* interest)
{
    for (int i = 0; i < interest->cell_count; ++i) {
        release_cell(front, interest->cells[i], keys_of(interest->sees));
    }
    interest->cell_count = 0;
    interest->has_place = false;
}

void front_interest_destroy(ph_bus_front* front, front_interest* interest)
{
    ph_release_array(&front->allocator, interest->cells, (size_t)interest->cell_capacity,
                     sizeof *interest->cells);
    *interest = (front_interest){0};
}
