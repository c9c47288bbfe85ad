// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the client says it got. An acknowledgement is judged as a whole before it changes anything;
// one that tells something new then decides the fate of every packet up to its newest, for ever.
// Once per packet or so; costs some tens of nanoseconds per record.

#include "world/sender.h"
#include "world/world_state.h"

#include "base/inline.h"
#include "base/prefetch.h"
#include "wire/ack.h"
#include "world/expectation.h"
#include "world/stopwatch.h"

#define RTT_SHARE 8.0   // smoothing: an eighth of the new
#define LOSS_SHARE 16.0 // of each packet

// Items are gone over so many at a time; what the next ones change is fetched meanwhile: up to three lines
// each, and a processor drops what it is asked for beyond some twenty.
enum { AT_A_TIME = 8 };

typedef enum judgement {
    JUDGED_NEW,
    JUDGED_OLD,
    JUDGED_CONTRARY,
    JUDGED_IMPOSSIBLE,
} judgement;

static uint64_t low_bits(uint64_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

// Everything by distance, because numbers wrap: `behind` is how far the ack is behind the newest
// packet, `before` how many packets there were up to the one it names.
static judgement judge(const ph_sender* sender, const ph_ack* ack)
{
    const uint32_t behind = sender->newest - ack->newest;
    if (behind > INT32_MAX || behind >= sender->packet_count) {
        return JUDGED_IMPOSSIBLE;
    }
    const uint64_t before = sender->packet_count - behind;
    if ((ack->applied & ~low_bits(before)) != 0) {
        return JUDGED_IMPOSSIBLE;
    }
    const uint32_t in_flight = (uint32_t)sender->flight.count;
    if (behind < in_flight) {
        // Past the news stands what was told before.
        const uint32_t news = in_flight - behind;
        const uint64_t told = news < 64 ? ack->applied >> news : 0;
        const uint64_t common = news < 64 ? low_bits(64 - news) : 0;
        return ((told ^ sender->fates) & common) == 0 ? JUDGED_NEW : JUDGED_CONTRARY;
    }
    const uint32_t age = behind - in_flight;
    if (age >= 64) {
        return JUDGED_OLD; // nobody remembers
    }
    const uint64_t common = low_bits(64 - age);
    return ((ack->applied ^ sender->fates >> age) & common) == 0 ? JUDGED_OLD : JUDGED_CONTRARY;
}

// ---- the fate of one packet

static void free_slot(ph_viewer* viewer, int slot)
{
    ph_knowledge* knowledge = &viewer->sender->knowledge;
    ph_knowledge_free(knowledge, slot, knowledge->told[slot] == PH_TOLD_LEFT);
    ph_slots_free(viewer->slots, slot);
}

// Baselines move on of those who are on the way out, too: the client does not know of that yet.
PH_OUT_OF_LINE static void apply_item(const ph_world* world, ph_viewer* viewer,
                                      const ph_taking* taking, uint32_t place)
{
    ph_sender* sender = viewer->sender;
    if (sender->expectation != NULL) {
        ph_expectation_note_applied(world, sender, place, taking->tick);
    }
    if (ph_sender_is_coded(sender)) {
        ph_baselines_take(&sender->baselines, taking, place);
    }
    const ph_flight_item item = ph_flight_read(&sender->flight, place);
    const int class_index = sender->knowledge.class_index[item.slot];
    const ph_layout* layout = &world->forms.layouts.layouts[class_index];
    const ph_packing* packing = &world->forms.packings[class_index];
    if (ph_knowledge_note_applied(&sender->knowledge, layout, packing, &item)) {
        free_slot(viewer, item.slot);
    }
}

// What a step asks of its class. Looked up when another class comes.
typedef struct stepping {
    uint64_t position;   // the property's bit
    size_t known_offset; // where it lies among the known values
    const ph_packing* packing;
    int class_index;
} stepping;

static stepping stepping_of(const ph_taking* taking, int class_index)
{
    const ph_layout* layout = &taking->rules.layouts->layouts[class_index];
    const ph_packing* packing = &taking->rules.packings[class_index];
    return (stepping){.position = layout->position,
                      .known_offset = packing->offset[layout->position_property],
                      .packing = packing,
                      .class_index = class_index};
}

// Nearly all of them in the pinhole profile: a position and nothing else, of somebody whom the client
// has. The same straight on, but for its baseline's step. @return False: it is another.
static inline bool try_apply_step(const ph_world* world, const ph_sender* sender,
                                  const ph_taking* taking, stepping* last, uint32_t place,
                                  ph_baseline_told_step* step)
{
    uint32_t* unit = &sender->flight.units[place];
    const ph_flight_item item = ph_flight_read_unit(unit, taking->head_units);
    const ph_knowledge* knowledge = &sender->knowledge;
    if (knowledge->class_index[item.slot] != last->class_index) {
        *last = stepping_of(taking, knowledge->class_index[item.slot]);
    }
    if (!ph_flight_is_plain(unit, PH_RECORD_UPDATE, PH_PACKED_POSITION) ||
        item.properties != last->position || knowledge->told[item.slot] != PH_TOLD_ENTERED) {
        return false;
    }
    ph_dossier* dossier = ph_knowledge_at(knowledge, item.slot);
    *step = (ph_baseline_told_step){.baseline = &sender->baselines.slots[item.slot],
                                    .position = item.values};
    ph_expectation_note_applied(world, sender, place, taking->tick);
    --dossier->in_flight;
    dossier->jumps = item.jumps;
    memcpy(ph_dossier_known(dossier) + last->known_offset, item.values, PH_PACKED_POSITION);
    return true;
}

// Steps are taken together. Before any other item, because that may be of the same slot.
static void apply_coded_items(const ph_world* world, ph_viewer* viewer, const ph_taking* given,
                              const uint32_t* places, int count)
{
    const ph_sender* sender = viewer->sender;
    const ph_taking taking = *given;
    ph_baseline_told_step steps[AT_A_TIME];
    ph_baseline_told_step* next = steps;
    stepping last = {.class_index = -1};
    for (int i = 0; i < count; ++i) {
        if (try_apply_step(world, sender, &taking, &last, places[i], next)) {
            ++next;
            continue;
        }
        ph_baseline_step_all(steps, (int)(next - steps), &given->rules, taking.tick);
        next = steps;
        apply_item(world, viewer, given, places[i]);
    }
    ph_baseline_step_all(steps, (int)(next - steps), &given->rules, taking.tick);
}

// Whether a position is told, and beside it only what follows it property by property: then all of it
// lies among the known values as it does in the item.
static inline bool is_in_a_row(uint64_t properties, uint64_t position)
{
    return properties != 0 && (properties & (properties + position)) == 0;
}

// Nearly always a position, or a byte or two more.
static inline void copy_row(uint8_t* to, const uint8_t* from, unsigned size)
{
    memcpy(to, from, PH_PACKED_POSITION);
    for (unsigned i = PH_PACKED_POSITION; i < size; ++i) {
        to[i] = from[i];
    }
}

// Nearly all of them in the classic profile: an update of somebody whom the client has. The same
// straight on. @return False: it is another.
static inline bool try_apply_update(const ph_sender* sender, const ph_taking* taking,
                                    stepping* last, uint32_t place)
{
    const ph_flight_item item =
        ph_flight_read_unit(&sender->flight.units[place], taking->head_units);
    const ph_knowledge* knowledge = &sender->knowledge;
    if (item.kind != PH_RECORD_UPDATE || knowledge->told[item.slot] != PH_TOLD_ENTERED) {
        return false;
    }
    if (knowledge->class_index[item.slot] != last->class_index) {
        *last = stepping_of(taking, knowledge->class_index[item.slot]);
    }
    ph_dossier* dossier = ph_knowledge_at(knowledge, item.slot);
    uint8_t* known = ph_dossier_known(dossier);
    --dossier->in_flight;
    if (is_in_a_row(item.properties, last->position)) {
        PH_ASSERT(item.value_bytes == ph_packing_size(last->packing, item.properties));
        copy_row(known + last->known_offset, item.values, item.value_bytes);
        dossier->jumps = item.jumps;
        return true;
    }
    ph_packing_spread(last->packing, item.properties, item.values, known);
    if ((item.properties & last->position) != 0) {
        dossier->jumps = item.jumps;
    }
    return true;
}

static void apply_classic_items(const ph_world* world, ph_viewer* viewer, const ph_taking* given,
                                const uint32_t* places, int count)
{
    const ph_sender* sender = viewer->sender;
    const ph_taking taking = *given;
    stepping last = {.class_index = -1};
    for (int i = 0; i < count; ++i) {
        // Where errors are expected, every item has more to say.
        if (sender->expectation != NULL || !try_apply_update(sender, &taking, &last, places[i])) {
            apply_item(world, viewer, given, places[i]);
        }
    }
}

// Of one that was withdrawn, the other of its packet and slot tells everything.
static bool is_withdrawn(const ph_flight_item* item)
{
    return item->kind == PH_RECORD_UPDATE && item->properties == 0;
}

PH_OUT_OF_LINE static void lose_item(const ph_world* world, ph_viewer* viewer, uint32_t place)
{
    ph_sender* sender = viewer->sender;
    ph_knowledge* knowledge = &sender->knowledge;
    const ph_flight_item item = ph_flight_read(&sender->flight, place);
    const ph_layout* layout = &world->forms.layouts.layouts[knowledge->class_index[item.slot]];
    if (sender->expectation != NULL) {
        ph_expectation_note_lost(sender->expectation, item.slot);
    }
    const bool is_free = ph_knowledge_note_lost(knowledge, &sender->flight, layout, &item);
    if (!ph_knowledge_is_leaving(knowledge, item.slot) && !is_withdrawn(&item)) {
        float* score = &knowledge->score[item.slot];
        *score = sender->scheduler.lost(sender->scheduler.context, *score, item.score);
    }
    if (is_free) {
        free_slot(viewer, item.slot);
    }
}

// Where the next items of a packet are; and fetches what they will change, which is in no cache: of the
// known values mostly the first.
static int fetch_items(const ph_sender* sender, ph_flight_walk* walk, int left, uint32_t* places)
{
    const int count = left < AT_A_TIME ? left : AT_A_TIME;
    ph_flight_walk on = *walk;
    for (int i = 0; i < count; ++i) {
        places[i] = on.place;
        ph_sender_fetch_slot(sender, ph_flight_walk_slot(&on));
        ph_flight_walk_on(&on);
    }
    *walk = on;
    return count;
}

static void resolve_some(const ph_world* world, ph_viewer* viewer, const ph_taking* taking,
                         bool is_applied, const uint32_t* places, int count)
{
    if (is_applied && ph_sender_is_coded(viewer->sender)) {
        apply_coded_items(world, viewer, taking, places, count);
        return;
    }
    if (is_applied) {
        apply_classic_items(world, viewer, taking, places, count);
        return;
    }
    for (int i = 0; i < count; ++i) {
        lose_item(world, viewer, places[i]);
    }
}

static void resolve_items(const ph_world* world, ph_viewer* viewer, const ph_flight_packet* packet,
                          bool is_applied)
{
    const ph_sender* sender = viewer->sender;
    const ph_taking taking = {
        .rules = {.layouts = &world->forms.layouts,
                  .packings = world->forms.packings,
                  .tick_us = world->def.tick_us,
                  .normals = &world->normals},
        .flight = &sender->flight,
        .knowledge = &sender->knowledge,
        .tick = packet->stamp.tick,
        .head_units = ph_flight_head_units(sender->flight.is_wide),
    };
    ph_flight_walk walk = ph_flight_walk_make(&sender->flight, packet);
    uint32_t places[2][AT_A_TIME];
    int left = packet->item_count;
    int turn = 0;
    int count = fetch_items(sender, &walk, left, places[turn]);
    while (count > 0) {
        left -= count;
        const int next_count = fetch_items(sender, &walk, left, places[1 - turn]);
        resolve_some(world, viewer, &taking, is_applied, places[turn], count);
        turn = 1 - turn;
        count = next_count;
    }
}

static void resolve_oldest(const ph_world* world, ph_viewer* viewer, bool is_applied)
{
    ph_sender* sender = viewer->sender;
    const ph_flight* flight = &sender->flight;
    const ph_flight_packet* packet = ph_flight_oldest(flight);
    if (is_applied && packet->has_eye) {
        ph_flight_eye(flight, packet, sender->eye_mm);
        sender->has_eye = true;
    }
    if (is_applied) {
        sender->applied_tick = packet->stamp.tick;
        sender->has_applied_tick = true;
    }
    resolve_items(world, viewer, packet, is_applied);
    ph_flight_retire(&sender->flight);
    ++sender->horizon;
    sender->fates = sender->fates << 1 | (is_applied ? 1 : 0);
    ++sender->stats.resolved;
    sender->stats.lost += !is_applied;
    sender->stats.loss += ((is_applied ? 0.0 : 1.0) - sender->stats.loss) / LOSS_SHARE;
}

// ---- the whole acknowledgement

// heard_us: when the first answer that named this packet would have come.
static void measure_round_trip(ph_sender* sender, uint64_t sent_us, uint64_t heard_us)
{
    ++sender->stats.round_trips;
    sender->stats.round_trips_us += heard_us - sent_us;
    const double rtt_ms = (double)(heard_us - sent_us) / 1000.0;
    double* smooth_ms = &sender->stats.rtt_ms;
    *smooth_ms = *smooth_ms == 0.0 ? rtt_ms : *smooth_ms + (rtt_ms - *smooth_ms) / RTT_SHARE;
}

static void take_news(const ph_world* world, ph_viewer* viewer, const ph_ack* ack)
{
    ph_sender* sender = viewer->sender;
    const uint32_t news = ack->newest - sender->horizon;
    uint64_t sent_us = 0;
    for (uint32_t i = news; i-- > 0;) {
        sent_us = ph_flight_oldest(&sender->flight)->stamp.sent_us;
        resolve_oldest(world, viewer, (ack->applied >> i & 1) != 0);
    }
    if (sender->expectation != NULL) {
        ph_expectation_mend(sender->expectation, world, sender);
    }
    const uint64_t lag_us = 1000 * (uint64_t)ack->lag_ms;
    const uint64_t heard_us = sender->now_us > lag_us ? sender->now_us - lag_us : 0;
    // One that was never applied may be known from a probe alone, sent much later; and a client may
    // say that it answered before it can have heard anything.
    if ((ack->applied & 1) != 0 && ack->lag_ms != PH_ACK_LAG_UNKNOWN && heard_us >= sent_us) {
        measure_round_trip(sender, sent_us, heard_us);
    }
    sender->is_answered = true;
    sender->answered_us = heard_us;
}

ph_result ph_world_acknowledge(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                               const void* bytes, size_t size)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    ph_viewer* answering = &world->viewers.viewers[index];
    ph_viewer_stats* stats = &answering->sender->stats;
    ph_ack ack;
    if (!ph_ack_read(bytes, size, &ack)) {
        ++stats->acks_malformed;
        return PH_ERROR_VALUE;
    }
    switch (judge(answering->sender, &ack)) {
    case JUDGED_NEW: {
        ph_stopwatch watch =
            ph_stopwatch_make(world->now_ns, world->now_context, &answering->sender->times);
        ph_flight_prefetch_oldest(&answering->sender->flight);
        ph_expectation_prefetch_marks(answering->sender->expectation,
                                      answering->sender->knowledge.slot_count);
        ph_sender_pass_time(answering->sender, now_us);
        take_news(world, answering, &ack);
        ++stats->acks_new;
        ph_stopwatch_lap(&watch, PH_STAGE_ACKS);
        return PH_OK;
    }
    case JUDGED_OLD:
        ++stats->acks_old;
        return PH_OK;
    case JUDGED_CONTRARY:
        ++stats->acks_contrary;
        return PH_ERROR_VALUE;
    default:
        ++stats->acks_impossible;
        return PH_ERROR_VALUE;
    }
}
