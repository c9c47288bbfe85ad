// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: what the world shows, what the client will have, when it leaves, acks.

#include "kit/snapshot_sender.h"

#include "kit/snapshot_difference.h"

#include "motion/stride.h"
#include "schedule/pacing.h"

#include <stdlib.h>
#include <string.h>

// Without acks the last snapshot is sent once more, so often.
#define PROBE_US 1000000

typedef struct near_slot {
    double distance2;
    uint16_t slot;
} near_slot;

struct ph_snapshot_sender {
    ph_snapshot_sender_def def;
    ph_token_bucket bucket;
    ph_snapshot now;  // as the world has it
    ph_snapshot next; // as the client will have it
    ph_snapshot ring[PH_SNAPSHOT_RING];
    uint32_t sequence; // of the next one
    uint32_t acked;    // the newest; before the first ack the one before the first
    uint64_t acked_us; // when its ack first left the client, as well as is known
    bool has_baseline;
    ph_stride* strides; // by slot
    ph_stride_rule stride_rule;
    uint32_t* jump_tick; // by slot: since when it is where it did not come by moving; 0: never
    bool* is_vacated;    // by slot: to be freed
    near_slot* near;     // newcomers
    uint16_t* newcomers;
    // The snapshot that is being sent.
    uint8_t* bytes;
    size_t capacity;
    size_t size;
    size_t sent;
    bool is_sending;
    uint64_t sent_us;      // when its last byte left
    ph_sim_counts current; // what its bits are for
    ph_sim_counts counts;  // of all before it
    // Traces.
    ph_trace_fn* trace; // NULL: none
    void* trace_context;
    ph_snapshot_items items;   // of the snapshot that is being sent
    ph_trace_item* part_items; // of one datagram
};

// ---- memory

static const ph_snapshot_layout* layout_of(const ph_snapshot_sender* sender)
{
    return sender->def.layout;
}

static bool create_snapshots(ph_snapshot_sender* sender)
{
    bool is_done = ph_snapshot_create(&sender->now, layout_of(sender));
    is_done = ph_snapshot_create(&sender->next, layout_of(sender)) && is_done;
    for (int i = 0; i < PH_SNAPSHOT_RING; ++i) {
        is_done = ph_snapshot_create(&sender->ring[i], layout_of(sender)) && is_done;
    }
    return is_done;
}

static bool create_arrays(ph_snapshot_sender* sender)
{
    const size_t count = (size_t)layout_of(sender)->slot_count;
    const size_t bits = count * (size_t)ph_snapshot_entity_bits_max(layout_of(sender));
    sender->capacity = bits / 8 + PH_PAYLOAD_MAX;
    sender->bytes = calloc(sender->capacity, 1);
    sender->stride_rule = ph_stride_rule_make(sender->def.tick_us);
    sender->strides = calloc(count, sizeof *sender->strides);
    sender->jump_tick = calloc(count, sizeof *sender->jump_tick);
    sender->is_vacated = calloc(count, sizeof *sender->is_vacated);
    sender->near = calloc(count, sizeof *sender->near);
    sender->newcomers = calloc(count, sizeof *sender->newcomers);
    return sender->bytes != NULL && sender->strides != NULL && sender->jump_tick != NULL &&
           sender->is_vacated != NULL && sender->near != NULL && sender->newcomers != NULL;
}

ph_snapshot_sender* ph_snapshot_sender_create(const ph_snapshot_sender_def* def)
{
    ph_snapshot_sender* sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        return NULL;
    }
    sender->def = *def;
    sender->sequence = 1;
    sender->bucket = ph_token_bucket_make(def->bits_per_second, def->depth_bits, def->now_us);
    // Both, so that everything may be destroyed.
    const bool has_snapshots = create_snapshots(sender);
    const bool has_arrays = create_arrays(sender);
    if (!has_snapshots || !has_arrays) {
        ph_snapshot_sender_destroy(sender);
        return NULL;
    }
    return sender;
}

void ph_snapshot_sender_destroy(ph_snapshot_sender* sender)
{
    if (sender == NULL) {
        return;
    }
    for (int i = 0; i < PH_SNAPSHOT_RING; ++i) {
        ph_snapshot_destroy(&sender->ring[i]);
    }
    ph_snapshot_destroy(&sender->next);
    ph_snapshot_destroy(&sender->now);
    free(sender->part_items);
    free(sender->items.items);
    free(sender->newcomers);
    free(sender->near);
    free(sender->is_vacated);
    free(sender->strides);
    free(sender->jump_tick);
    free(sender->bytes);
    free(sender);
}

// ---- the budget

void ph_snapshot_sender_set_budget(ph_snapshot_sender* sender, uint64_t now_us,
                                   int64_t bits_per_second, int64_t depth_bits)
{
    ph_token_bucket_fill(&sender->bucket, now_us);
    ph_token_bucket_change(&sender->bucket, bits_per_second, depth_bits);
    sender->def.bits_per_second = bits_per_second;
    sender->def.depth_bits = depth_bits;
}

int64_t ph_snapshot_sender_token_bits(const ph_snapshot_sender* sender)
{
    return ph_token_bucket_bits(&sender->bucket);
}

// ---- what the world shows

typedef union value {
    int64_t whole;
    double number;
    int32_t place[3];
    double rotation[4];
    char text[PH_TEXT_LENGTH_MAX + 1];
} value;

static void read_property(const ph_snapshot_sender* sender, ph_entity_id entity,
                          const ph_snapshot_property* property, uint8_t* block)
{
    value read;
    if (ph_world_get_property(sender->def.world, entity, property->property, property->field, &read,
                              ph_field_size(property->field, PH_TEXT_LENGTH_MAX)) != PH_OK) {
        return;
    }
    if (property->described->is_text) {
        const ph_text text = {.bytes = (const uint8_t*)read.text,
                              .length = (uint16_t)strlen(read.text)};
        ph_snapshot_store_text(property, text, block);
        return;
    }
    // The world gives the quantised value: it becomes the same words again.
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    if (ph_property_quantise_field(property->described, property->field, &read, words) == PH_OK) {
        ph_snapshot_store(property, words, block);
    }
}

// By the same rule as the library's worlds.
static void note_jump(ph_snapshot_sender* sender, int slot, const uint32_t was[3],
                      const uint32_t is[3], uint32_t tick)
{
    int32_t step_mm[3];
    for (int k = 0; k < 3; ++k) {
        step_mm[k] = (int32_t)(is[k] - was[k]);
    }
    if ((step_mm[0] | step_mm[1] | step_mm[2]) != 0 &&
        ph_stride_add(&sender->strides[slot], &sender->stride_rule, tick, step_mm)) {
        sender->jump_tick[slot] = tick;
    }
}

static void look_at(ph_snapshot_sender* sender, int slot, ph_entity_id entity, uint32_t tick)
{
    const ph_snapshot_layout* layout = layout_of(sender);
    ph_snapshot* now = &sender->now;
    uint8_t* block = ph_snapshot_block(now, layout, slot);
    uint64_t key = 0;
    int32_t place[3] = {0};
    ph_world_identify(sender->def.world, entity, &key, NULL);
    ph_world_get_property(sender->def.world, entity, layout->position_property, PH_FIELD_I32X3,
                          place, sizeof place);
    const uint32_t is[3] = {(uint32_t)place[0], (uint32_t)place[1], (uint32_t)place[2]};
    if (now->is_there[slot] && now->keys[slot] == key) {
        uint32_t was[3];
        ph_snapshot_load_position(block, was);
        note_jump(sender, slot, was, is, tick);
    } else {
        sender->jump_tick[slot] = 0;
        sender->strides[slot] = (ph_stride){0};
        ph_snapshot_reset_block(layout, block);
    }
    now->keys[slot] = key;
    now->is_there[slot] = true;
    ph_snapshot_store_position(is, block);
    for (int i = 0; i < layout->count; ++i) {
        read_property(sender, entity, &layout->properties[i], block);
    }
}

static void look(ph_snapshot_sender* sender, uint32_t tick)
{
    ph_vision vision;
    ph_viewer_get_vision(sender->def.world, sender->def.viewer, &vision);
    for (int slot = 0; slot < layout_of(sender)->slot_count; ++slot) {
        const ph_entity_index index =
            slot < vision.slot_count ? vision.entities[slot] : PH_ENTITY_NONE;
        const ph_entity_id entity = index != PH_ENTITY_NONE
                                        ? ph_world_entity_at(sender->def.world, index)
                                        : (ph_entity_id){0};
        if (entity.index1 != 0) {
            look_at(sender, slot, entity, tick);
        } else {
            sender->is_vacated[slot] |= sender->now.is_there[slot];
            sender->now.is_there[slot] = false;
        }
    }
}

void ph_snapshot_sender_free_slots(ph_snapshot_sender* sender)
{
    for (int slot = 0; slot < layout_of(sender)->slot_count; ++slot) {
        if (sender->is_vacated[slot]) {
            sender->is_vacated[slot] = false;
            ph_viewer_free_slot(sender->def.world, sender->def.viewer, slot);
        }
    }
}

// ---- what the client will have

const ph_snapshot* ph_snapshot_sender_baseline(const ph_snapshot_sender* sender)
{
    return sender->has_baseline ? &sender->ring[sender->acked % PH_SNAPSHOT_RING] : NULL;
}

const ph_snapshot* ph_snapshot_sender_sent(const ph_snapshot_sender* sender, uint32_t sequence)
{
    const ph_snapshot* snapshot = &sender->ring[sequence % PH_SNAPSHOT_RING];
    return snapshot->is_used && snapshot->sequence == sequence ? snapshot : NULL;
}

// From the viewer's own entity, in the plane; 0 while that is away.
static double distance2_to(const ph_snapshot_sender* sender, int slot)
{
    const ph_snapshot* now = &sender->now;
    uint32_t own[3];
    uint32_t other[3];
    if (!now->is_there[0]) {
        return 0.0;
    }
    ph_snapshot_load_position(ph_snapshot_block(now, layout_of(sender), 0), own);
    ph_snapshot_load_position(ph_snapshot_block(now, layout_of(sender), slot), other);
    const double x_mm = (double)(int32_t)(other[0] - own[0]);
    const double y_mm = (double)(int32_t)(other[1] - own[1]);
    return x_mm * x_mm + y_mm * y_mm;
}

static bool is_in_range(const ph_snapshot_property* property, double distance2)
{
    return property->distance_mm2 <= 0.0 || distance2 <= property->distance_mm2;
}

static void copy_value(const ph_snapshot_property* property, const uint8_t* from, uint8_t* to)
{
    memcpy(to + property->offset, from + property->offset, property->size);
}

// One that the baseline has: what differs too little waits until the entity stands.
static void keep(ph_snapshot_sender* sender, const ph_snapshot* baseline, int slot)
{
    const ph_snapshot_layout* layout = layout_of(sender);
    const uint8_t* now = ph_snapshot_block(&sender->now, layout, slot);
    const uint8_t* was = ph_snapshot_block(baseline, layout, slot);
    uint8_t* next = ph_snapshot_block(&sender->next, layout, slot);
    uint32_t here[3];
    uint32_t there[3];
    ph_snapshot_load_position(now, here);
    ph_snapshot_load_position(was, there);
    const bool is_standing = memcmp(here, there, sizeof here) == 0;
    const double distance2 = distance2_to(sender, slot);
    memcpy(next, was, (size_t)layout->stride);
    ph_snapshot_store_position(here, next);
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        const bool is_due =
            !property->is_once && is_in_range(property, distance2) &&
            (is_standing || ph_snapshot_difference(property, was, now) >= property->significant);
        if (is_due) {
            copy_value(property, now, next);
        }
    }
    const uint32_t jump_tick = sender->jump_tick[slot];
    if (jump_tick > baseline->tick) {
        const uint32_t age = sender->next.tick - jump_tick + 1;
        sender->next.jump_ages[slot] = (uint8_t)(age < UINT8_MAX ? age : UINT8_MAX);
    }
    sender->next.is_there[slot] = true;
    ++sender->next.entity_count;
}

static void prepare_newcomer(ph_snapshot_sender* sender, int slot, double distance2)
{
    const ph_snapshot_layout* layout = layout_of(sender);
    const uint8_t* now = ph_snapshot_block(&sender->now, layout, slot);
    uint8_t* next = ph_snapshot_block(&sender->next, layout, slot);
    uint32_t place[3];
    ph_snapshot_load_position(now, place);
    ph_snapshot_reset_block(layout, next);
    ph_snapshot_store_position(place, next);
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        if (property->is_once || is_in_range(property, distance2)) {
            copy_value(property, now, next);
        }
    }
}

static int compare_near(const void* a, const void* b)
{
    const near_slot* first = a;
    const near_slot* second = b;
    if (first->distance2 != second->distance2) {
        return first->distance2 < second->distance2 ? -1 : 1;
    }
    return (int)first->slot - (int)second->slot;
}

// @return How many newcomers there are, the nearest first; the viewer's own entity before all others.
static int prepare_next(ph_snapshot_sender* sender, uint32_t tick)
{
    const ph_snapshot* baseline = ph_snapshot_sender_baseline(sender);
    int count = 0;
    ph_snapshot_clear(&sender->next, layout_of(sender));
    sender->next.sequence = sender->sequence % PH_SNAPSHOT_SEQUENCES;
    sender->next.tick = tick;
    for (int slot = 0; slot < layout_of(sender)->slot_count; ++slot) {
        if (!sender->now.is_there[slot]) {
            continue;
        }
        sender->next.keys[slot] = sender->now.keys[slot];
        if (baseline != NULL && baseline->is_there[slot] &&
            baseline->keys[slot] == sender->now.keys[slot]) {
            keep(sender, baseline, slot);
        } else {
            const double distance2 = distance2_to(sender, slot);
            prepare_newcomer(sender, slot, distance2);
            sender->near[count++] = (near_slot){slot == 0 ? -1.0 : distance2, (uint16_t)slot};
        }
    }
    qsort(sender->near, (size_t)count, sizeof *sender->near, compare_near);
    for (int i = 0; i < count; ++i) {
        sender->newcomers[i] = sender->near[i].slot;
    }
    return count;
}

// ---- when it leaves

static int64_t wire_bits(const ph_snapshot_sender* sender, size_t payload_bytes)
{
    return 8 * ((int64_t)payload_bytes + sender->def.overhead_bytes);
}

// Of a whole snapshot.
static int64_t cost_bits(const ph_snapshot_sender* sender, size_t bytes)
{
    if (bytes <= ph_snapshot_alone_bytes(layout_of(sender))) {
        return wire_bits(sender, bytes + PH_SNAPSHOT_DATAGRAM_HEAD);
    }
    const size_t count = (bytes + ph_snapshot_fragment_bytes(layout_of(sender)) - 1) /
                         ph_snapshot_fragment_bytes(layout_of(sender));
    return wire_bits(sender, bytes) +
           (int64_t)(count - 1) * wire_bits(sender, PH_SNAPSHOT_FRAGMENT_HEAD) +
           8 * PH_SNAPSHOT_FRAGMENT_HEAD;
}

// The largest snapshot that so many tokens pay for.
static size_t affordable_bytes(const ph_snapshot_sender* sender, int64_t tokens_bits)
{
    const int64_t most = (int64_t)sender->capacity;
    const int64_t each = sender->def.overhead_bytes + layout_of(sender)->payload_max;
    const int64_t bytes = tokens_bits / 8 < 2 * most ? tokens_bits / 8 : 2 * most;
    if (bytes < each) {
        const int64_t left = bytes - sender->def.overhead_bytes - PH_SNAPSHOT_DATAGRAM_HEAD;
        return left > 0 ? (size_t)left : 0;
    }
    const int64_t rest = bytes % each - sender->def.overhead_bytes - PH_SNAPSHOT_FRAGMENT_HEAD;
    const size_t whole = (size_t)(bytes / each) * ph_snapshot_fragment_bytes(layout_of(sender));
    return whole + (rest > 0 ? (size_t)rest : 0);
}

static uint8_t wait_of(const ph_snapshot_sender* sender, uint64_t now_us)
{
    const uint64_t waited = (now_us - sender->acked_us) / PH_SNAPSHOT_WAIT_US;
    return (uint8_t)(sender->has_baseline && waited < PH_SNAPSHOT_WAIT_UNKNOWN
                         ? waited
                         : PH_SNAPSHOT_WAIT_UNKNOWN);
}

// What a part of a snapshot that has left counts: of each kind of bits its share, and the bits that no
// share is whole enough for as header, so that they add up at any time.
static void add_share(ph_sim_counts* counts, const ph_sim_counts* current, size_t sent, size_t size)
{
    uint64_t all = 0;
    uint64_t booked = 0;
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        all += current->ledger.bits256[i];
        if (i != PH_REASON_PROPERTY) {
            const uint64_t share = current->ledger.bits256[i] * sent / size;
            counts->ledger.bits256[i] += share;
            booked += share;
        }
    }
    for (int i = 0; i < PH_PROPERTIES_MAX; ++i) {
        const uint64_t share = current->property_bits256[i] * sent / size;
        counts->property_bits256[i] += share;
        counts->ledger.bits256[PH_REASON_PROPERTY] += share;
        booked += share;
    }
    counts->ledger.bits256[PH_REASON_HEADER] += all / size * sent - booked;
    counts->ledger.resent_bits256 += current->ledger.resent_bits256 * sent / size;
    counts->enters += current->enters;
    counts->leaves += current->leaves;
    counts->updates += current->updates;
    counts->significant_updates += current->significant_updates;
}

// All that differs is known to the client, and that it came to rest as well.
static bool is_needless(const ph_snapshot_sender* sender)
{
    const ph_snapshot* baseline = ph_snapshot_sender_baseline(sender);
    return baseline != NULL ? sender->next.is_quiet && baseline->is_quiet
                            : sender->next.entity_count == 0;
}

static void commit(ph_snapshot_sender* sender, size_t size, const ph_sim_counts* counts)
{
    ph_snapshot* kept = &sender->ring[sender->sequence % PH_SNAPSHOT_RING];
    ph_snapshot_copy(kept, &sender->next, layout_of(sender));
    kept->is_used = true;
    sender->current = *counts;
    sender->sequence = (sender->sequence + 1) % PH_SNAPSHOT_SEQUENCES;
    sender->size = size;
    sender->sent = 0;
    sender->is_sending = true;
}

static void try_compose(ph_snapshot_sender* sender, uint32_t tick, uint64_t now_us)
{
    const int64_t tokens = ph_token_bucket_bits(&sender->bucket);
    if (tokens < wire_bits(sender, PH_SNAPSHOT_DATAGRAM_HEAD)) {
        return;
    }
    const int newcomer_count = prepare_next(sender, tick);
    const size_t at_hand = affordable_bytes(sender, tokens);
    size_t least = affordable_bytes(sender, sender->bucket.depth_bits);
    least = least < ph_snapshot_alone_bytes(layout_of(sender))
                ? least
                : ph_snapshot_alone_bytes(layout_of(sender));
    const ph_snapshot_writing writing = {
        .layout = layout_of(sender),
        .baseline = ph_snapshot_sender_baseline(sender),
        .wait = wait_of(sender, now_us),
        .newcomers = sender->newcomers,
        .newcomer_count = newcomer_count,
        .limit_bits = 8 * (at_hand > least ? at_hand : least),
        .bytes = sender->bytes,
        .capacity = sender->capacity,
        .items = sender->trace != NULL ? &sender->items : NULL,
    };
    ph_sim_counts counts;
    const size_t size = ph_snapshot_write(&writing, &sender->next, &counts);
    PH_ASSERT(size > 0);
    const int64_t cost = cost_bits(sender, size);
    const int64_t depth = sender->bucket.depth_bits;
    const bool is_paid =
        sender->def.bits_per_second == 0 || tokens >= (cost < depth ? cost : depth);
    if (is_paid && !is_needless(sender)) {
        commit(sender, size, &counts);
    }
}

// The next datagram of the snapshot that is being sent. @return Its size.
static size_t write_datagram(const ph_snapshot_sender* sender, uint8_t datagram[PH_PAYLOAD_MAX])
{
    const uint32_t sequence = (sender->sequence - 1) % PH_SNAPSHOT_SEQUENCES;
    const bool is_fragment = sender->size > ph_snapshot_alone_bytes(layout_of(sender));
    const size_t most = is_fragment ? ph_snapshot_fragment_bytes(layout_of(sender))
                                    : ph_snapshot_alone_bytes(layout_of(sender));
    const size_t left = sender->size - sender->sent;
    const size_t bytes = left < most ? left : most;
    ph_bit_writer writer = ph_bit_writer_make(datagram, PH_PAYLOAD_MAX);
    ph_bits_write(&writer, sequence, 15);
    ph_bits_write_bool(&writer, is_fragment);
    if (is_fragment) {
        ph_bits_write(&writer, sender->sent / ph_snapshot_fragment_bytes(layout_of(sender)), 15);
        ph_bits_write_bool(&writer, bytes == left);
    }
    ph_bits_write_bytes(&writer, sender->bytes + sender->sent, bytes);
    return ph_bit_writer_finish(&writer);
}

// ---- traces

bool ph_snapshot_sender_set_trace(ph_snapshot_sender* sender, ph_trace_fn* trace, void* context)
{
    const int most = ph_snapshot_items_max(layout_of(sender));
    if (trace != NULL && sender->part_items == NULL) {
        free(sender->items.items);
        sender->items = (ph_snapshot_items){.capacity = most};
        sender->items.items = calloc((size_t)most, sizeof(ph_trace_item));
        sender->part_items = calloc((size_t)most + 2, sizeof(ph_trace_item));
        if (sender->items.items == NULL || sender->part_items == NULL) {
            free(sender->part_items);
            sender->part_items = NULL;
            return false;
        }
    }
    sender->trace = trace;
    sender->trace_context = context;
    return true;
}

static ph_trace_item header_item(uint64_t bytes, bool is_resent)
{
    return (ph_trace_item){
        .bits256 = (uint32_t)(256 * 8 * bytes),
        .slot = -1,
        .class_index = -1,
        .property = -1,
        .reason = PH_REASON_HEADER,
        .is_resent = is_resent,
    };
}

// What lies of each item within the bytes that a datagram carries. @return How many of them.
static int cut_items(const ph_snapshot_sender* sender, uint64_t begin256, uint64_t end256)
{
    int count = 1; // behind the head of the datagram
    uint64_t at256 = 0;
    for (int i = 0; i < sender->items.count; ++i) {
        const ph_trace_item* item = &sender->items.items[i];
        const uint64_t from256 = at256 > begin256 ? at256 : begin256;
        at256 += item->bits256;
        const uint64_t to256 = at256 < end256 ? at256 : end256;
        if (from256 < to256) {
            sender->part_items[count] = *item;
            sender->part_items[count].bits256 = (uint32_t)(to256 - from256);
            sender->part_items[count].is_first &= from256 == at256 - item->bits256;
            ++count;
        }
    }
    return count;
}

// The next datagram, with its head and so many bytes of the snapshot. One that was begun before it was
// traced, and one that is sent once more, has no items: all of it is header.
static void trace_datagram(const ph_snapshot_sender* sender, uint64_t now_us, size_t head,
                           size_t bytes)
{
    sender->part_items[0] = header_item(head, false);
    int count = cut_items(sender, 2048 * sender->sent, 2048 * (sender->sent + bytes));
    if (count == 1) {
        sender->part_items[count++] = header_item(bytes, sender->current.ledger.resent_bits256 > 0);
    }
    const ph_packet_trace trace = {
        .viewer = sender->def.viewer,
        .now_us = now_us,
        .sequence = (sender->sequence - 1) % PH_SNAPSHOT_SEQUENCES,
        .payload_bytes = (int)(head + bytes),
        .overhead_bytes = sender->def.overhead_bytes,
        .items = sender->part_items,
        .item_count = count,
    };
    sender->trace(sender->trace_context, &trace);
}

static void pump(ph_snapshot_sender* sender, uint64_t now_us, ph_deliver_fn* deliver, void* context)
{
    while (sender->sent < sender->size) {
        uint8_t datagram[PH_PAYLOAD_MAX];
        const size_t size = write_datagram(sender, datagram);
        if (ph_token_bucket_bits(&sender->bucket) < wire_bits(sender, size)) {
            return;
        }
        ph_token_bucket_spend(&sender->bucket, wire_bits(sender, size));
        const size_t head = sender->size > ph_snapshot_alone_bytes(layout_of(sender))
                                ? PH_SNAPSHOT_FRAGMENT_HEAD
                                : PH_SNAPSHOT_DATAGRAM_HEAD;
        if (sender->trace != NULL) {
            trace_datagram(sender, now_us, head, size - head);
        }
        deliver(context, sender->def.viewer, datagram, size);
        sender->counts.ledger.bits256[PH_REASON_HEADER] += 256 * 8 * head;
        sender->sent += size - head;
    }
    add_share(&sender->counts, &sender->current, 1, 1);
    sender->is_sending = false;
    sender->sent_us = now_us;
}

static bool is_ring_full(const ph_snapshot_sender* sender)
{
    return ph_snapshot_sequence_difference(sender->sequence, sender->acked) >= PH_SNAPSHOT_RING;
}

void ph_snapshot_sender_send(ph_snapshot_sender* sender, uint32_t tick, uint64_t now_us,
                             ph_deliver_fn* deliver, void* context)
{
    ph_token_bucket_fill(&sender->bucket, now_us);
    look(sender, tick);
    if (!sender->is_sending) {
        if (!is_ring_full(sender)) {
            try_compose(sender, tick, now_us);
        } else if (now_us - sender->sent_us >= PROBE_US) {
            // The same bytes once more: the client acks what it has, whichever of them comes.
            sender->sent = 0;
            sender->is_sending = true;
            sender->items.count = 0;
            sender->current = (ph_sim_counts){0};
            sender->current.ledger.bits256[PH_REASON_HEADER] = 256 * 8 * sender->size;
            sender->current.ledger.resent_bits256 = 256 * 8 * sender->size;
        }
    }
    if (sender->is_sending) {
        pump(sender, now_us, deliver, context);
    }
}

bool ph_snapshot_sender_is_waiting(const ph_snapshot_sender* sender)
{
    return sender->is_sending || is_ring_full(sender);
}

// ---- acks

ph_result ph_snapshot_sender_take_ack(ph_snapshot_sender* sender, uint64_t now_us,
                                      const void* bytes, size_t size)
{
    const uint8_t* ack = bytes;
    if (size != PH_SNAPSHOT_ACK_SIZE) {
        return PH_ERROR_VALUE;
    }
    const uint32_t sequence = ack[0] | (uint32_t)ack[1] << 8;
    if (sequence >= PH_SNAPSHOT_SEQUENCES) {
        return PH_ERROR_VALUE;
    }
    const int newer = ph_snapshot_sequence_difference(sequence, sender->acked);
    const int ahead = ph_snapshot_sequence_difference(sequence, sender->sequence);
    if (newer <= 0) {
        return PH_ERROR_STALE;
    }
    if (ahead >= 0 || (ahead == -1 && sender->is_sending && sender->sent < sender->size) ||
        ph_snapshot_sender_sent(sender, sequence) == NULL) {
        return PH_ERROR_VALUE; // it was not sent, or not all of it
    }
    sender->acked = sequence;
    sender->has_baseline = true;
    const uint64_t lag_us = ack[2] * UINT64_C(1000);
    sender->acked_us = now_us > lag_us ? now_us - lag_us : 0;
    sender->counts.resolved += (uint64_t)newer;
    sender->counts.lost += (uint64_t)newer - 1;
    return PH_OK;
}

ph_sim_counts ph_snapshot_sender_counts(const ph_snapshot_sender* sender)
{
    ph_sim_counts counts = sender->counts;
    if (sender->is_sending) {
        add_share(&counts, &sender->current, sender->sent, sender->size);
    }
    return counts;
}
