// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The public functions about viewers: coming and going, what they see, budgets and hints, sends, acks,
// questions, what the caller adds to datagrams. A few calls per viewer and tick; adding one allocates.

#include "replication/send.h"
#include "replication/sender.h"
#include "replication/trace.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/entropy.h>

#define HINT_MAX 1000000.0

// ---- coming and going

// What vision asks, in the words of the public contract.
static bool ask_game(void* context, uint32_t viewer, ph_entity_index entity)
{
    const ph_world* world = context;
    const ph_viewer_id viewer_id = world->viewers.viewers[viewer].id;
    return world->def.may_see(world->def.may_see_context, viewer_id,
                              ph_entities_id(&world->store.entities, entity));
}

static ph_eye eye_of(ph_world* world, const ph_viewer_def* def)
{
    const double hysteresis = world->def.vision.hysteresis;
    return (ph_eye){
        .x_mm = (int32_t)def->eye_mm[0],
        .y_mm = (int32_t)def->eye_mm[1],
        .sees = def->sees,
        .own = PH_ENTITY_NONE,
        .radius_mm = ph_wider_radius(def->radius_mm, hysteresis),
        .wanted = ph_wider_count(def->visible_max, hysteresis),
        .enter_mm = def->radius_mm,
        .callback = world->def.may_see != NULL ? ask_game : NULL,
        .context = world,
    };
}

// On PH_ERROR_MEMORY some of them may have more room than they need; nothing else has changed.
static ph_result make_room(ph_world* world, int wanted)
{
    if (ph_nearby_reserve_results(&world->nearby, wanted) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (!ph_viewers_is_full(&world->viewers)) {
        return PH_OK;
    }
    const int capacity = ph_grown_capacity(world->viewers.capacity);
    if (capacity == 0 || ph_nearby_reserve_viewers(&world->nearby, world->store.entities.capacity,
                                                   capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    return ph_viewers_reserve(&world->viewers, capacity);
}

ph_result ph_world_add_viewer(ph_world* world, const ph_viewer_def* def, ph_viewer_id* viewer)
{
    *viewer = (ph_viewer_id){0};
    ph_check check = ph_world_call(world, __func__);
    ph_viewer_def_check(&check, def, world->def.radius_max_mm);
    if (check.result != PH_OK) {
        return check.result;
    }
    if (def->entity.index1 != 0 && !ph_world_is_alive(world, def->entity)) {
        return ph_fail(&check, PH_ERROR_STALE, "ph_viewer_def.entity",
                       "names no entity that lives; it must be {0} or the id of one");
    }
    const ph_eye eye = eye_of(world, def);
    ph_viewer made = {
        .own = def->entity,
        .eye_z_mm = (int32_t)def->eye_mm[2],
        .audience = def->audience,
        .radius_mm = def->radius_mm,
        .visible_max = def->visible_max,
    };
    const ph_sender_def sender_def = {
        .store = &world->store,
        .viewer = def,
        .profile = world->def.profile,
        .slot_count = ph_slot_count_of(def, world->def.profile),
    };
    world->are_displacements_wanted =
        world->are_displacements_wanted || ph_sender_scheduler(&sender_def).wants_errors;
    if (make_room(world, eye.wanted) != PH_OK ||
        ph_send_blocks_reserve(&world->sends, 1, sender_def.slot_count) != PH_OK ||
        ph_slots_create(&world->def.allocator, sender_def.slot_count, &made.slots) != PH_OK) {
        return ph_fail_memory(&check);
    }
    if (ph_sender_create(&world->def.allocator, &sender_def, &made.sender) != PH_OK) {
        ph_slots_destroy(made.slots);
        return ph_fail_memory(&check);
    }
    made.sender->propagated_tick = world->store.tick;
    const ph_id id = ph_viewers_add(&world->viewers, &made, &eye);
    const uint32_t index = id.index1 - 1;
    ph_viewers_follow(&world->viewers, index, &world->store.entities);
    ph_nearby_add(&world->nearby, index, &world->viewers.eyes[index]);
    world->is_sorted = false;
    *viewer = (ph_viewer_id){.index1 = id.index1, .generation = id.generation};
    return PH_OK;
}

bool ph_world_try_viewer(const ph_world* world, ph_viewer_id viewer, uint32_t* index)
{
    const uint32_t at = viewer.index1 - 1; // of {0} beyond all others
    *index = at;
    return at < (uint32_t)world->viewers.ids.used_count &&
           world->viewers.viewers[at].id.index1 == viewer.index1 &&
           world->viewers.viewers[at].id.generation == viewer.generation;
}

ph_result ph_world_remove_viewer(ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_nearby_remove(&world->nearby, index);
    ph_viewers_remove(&world->viewers,
                      (ph_id){.index1 = viewer.index1, .generation = viewer.generation});
    world->is_sorted = false;
    return PH_OK;
}

// ---- changes

ph_result ph_viewer_set_eye(ph_world* world, ph_viewer_id viewer, int64_t x_mm, int64_t y_mm,
                            int64_t z_mm)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_viewer* moved = &world->viewers.viewers[index];
    ph_check check = ph_world_call(world, __func__);
    if (ph_world_is_alive(world, moved->own)) {
        return ph_fail(&check, PH_ERROR_ARGUMENT, "viewer",
                       "has an entity that its eye follows; it must be a spectator");
    }
    ph_check_position(&check, "eye", (int64_t[3]){x_mm, y_mm, z_mm});
    if (check.result != PH_OK) {
        return check.result;
    }
    moved->own = (ph_entity_id){0}; // or the next tick would look from where it died
    const int32_t eye_mm[3] = {(int32_t)x_mm, (int32_t)y_mm, (int32_t)z_mm};
    ph_viewers_look_from(&world->viewers, index, eye_mm, world->store.entities.far_mm);
    world->is_sorted = false;
    return PH_OK;
}

ph_result ph_viewer_set_entity(ph_world* world, ph_viewer_id viewer, ph_entity_id entity)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    if (entity.index1 != 0 && !ph_world_is_alive(world, entity)) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    // The eye of a spectator begins where the last own entity is now.
    ph_viewers_follow(&world->viewers, index, &world->store.entities);
    world->viewers.viewers[index].own = entity;
    world->viewers.viewers[index].sender->widened_tick = world->store.tick;
    world->viewers.viewers[index].is_urgent = true;
    world->is_sorted = false;
    return PH_OK;
}

ph_result ph_viewer_set_sees(ph_world* world, ph_viewer_id viewer, uint32_t sees)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    world->viewers.eyes[index].sees = sees;
    world->viewers.viewers[index].sender->widened_tick = world->store.tick;
    world->viewers.viewers[index].is_urgent = true;
    world->is_sorted = false;
    return PH_OK;
}

// ---- what is seen

ph_result ph_viewer_get_vision(const ph_world* world, ph_viewer_id viewer, ph_vision* vision)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        *vision = (ph_vision){0};
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    const ph_viewer* seer = &world->viewers.viewers[index];
    *vision = ph_slots_sight(seer->slots);
    if (seer->refreshed_tick != world->store.tick) {
        vision->enter_count = 0;
        vision->leave_count = 0;
    }
    return PH_OK;
}

ph_result ph_viewer_free_slot(ph_world* world, ph_viewer_id viewer, int slot)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_slots* slots = world->viewers.viewers[index].slots;
    ph_check check = ph_world_call(world, __func__);
    ph_check_range(&check, "slot", slot, 0, ph_slots_sight(slots).slot_count - 1);
    if (check.result != PH_OK) {
        return check.result;
    }
    if (ph_slots_state(slots, slot) != PH_SLOT_RESTING) {
        return ph_fail(&check, PH_ERROR_ARGUMENT, "slot", "is %d; it must be one that was left",
                       slot);
    }
    ph_replicas* replicas = &world->viewers.viewers[index].sender->replicas;
    if (!ph_replicas_is_gone(replicas, slot)) {
        return ph_fail(&check, PH_ERROR_ARGUMENT, "slot",
                       "is %d, which a send has told the client of; it becomes free by an ack",
                       slot);
    }
    ph_replicas_free(replicas, slot);
    ph_slots_free(slots, slot);
    return PH_OK;
}

// ---- what is sent

ph_result ph_viewer_set_budget(ph_world* world, ph_viewer_id viewer, int bits_per_second,
                               int burst_bits)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_check check = ph_world_call(world, __func__);
    ph_budget_check(&check, "bits_per_second", bits_per_second, "burst_bits", burst_bits);
    if (check.result != PH_OK) {
        return check.result;
    }
    const ph_result result =
        ph_sender_set_budget(world->viewers.viewers[index].sender, &world->store.class_info,
                             bits_per_second, burst_bits);
    return result == PH_OK ? PH_OK : ph_fail_memory(&check);
}

ph_result ph_viewer_set_hint(ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                             double weight)
{
    uint32_t index;
    const ph_entity_index hinted = ph_entities_find(&world->store.entities, entity);
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    if (hinted == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    ph_check check = ph_world_call(world, __func__);
    ph_check_real(&check, "weight", weight, 0.0, HINT_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_viewer* seer = &world->viewers.viewers[index];
    const ph_result result = ph_hints_set(&seer->sender->hints, &world->store.entities,
                                          &world->def.allocator, entity, (float)weight);
    const int slot = ph_slots_find(seer->slots, hinted);
    if (result == PH_OK && slot >= 0) {
        seer->sender->replicas.weight[slot] = (float)weight;
    }
    return result == PH_OK ? PH_OK : ph_fail_memory(&check);
}

ph_world_stats ph_world_get_stats(const ph_world* world)
{
    ph_world_stats stats = {
        .entity_count = ph_world_entity_count(world),
        .spawned_entities = world->store.entities.next_spawn_order,
        .ticks = world->store.tick,
        .clamped_values = world->clamped_values,
        .refused_values = world->refused_values,
        .vision = world->viewers.stats,
    };
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        if (world->viewers.viewers[i].slots != NULL) {
            ++stats.viewer_count;
            stats.vision.slot_waits += ph_slots_waits(world->viewers.viewers[i].slots);
        }
    }
    if (world->nearby.groups != NULL) {
        ph_groups_stats(world->nearby.groups, &stats.vision);
    }
    return stats;
}

void ph_viewer_use_universal_codes(ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    if (ph_world_try_viewer(world, viewer, &index)) {
        world->viewers.viewers[index].sender->is_universal = true;
    }
}

void ph_viewer_count_symbols(ph_world* world, ph_viewer_id viewer, ph_pinhole_counts* counts)
{
    uint32_t index;
    if (ph_world_try_viewer(world, viewer, &index)) {
        world->viewers.viewers[index].sender->counts = counts;
    }
}

// ---- sends, to one viewer or to all whose time has come; acks; questions

ph_send_context ph_world_send_context(const ph_world* world, uint32_t index)
{
    const ph_viewer* viewer = &world->viewers.viewers[index];
    const ph_eye* eye = &world->viewers.eyes[index];
    const ph_seer seer = {
        .id = viewer->id,
        .slots = viewer->slots,
        .sender = viewer->sender,
        .eye_mm = {eye->x_mm, eye->y_mm, viewer->eye_z_mm},
        .sees = eye->sees,
        .audience = viewer->audience,
        .own = viewer->own,
        .is_urgent = viewer->is_urgent,
        .clock = world->clock,
    };
    return ph_send_context_make(&world->store, &seer);
}

ph_result ph_viewer_send(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                         ph_deliver_fn* deliver, void* context)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_sending* block = ph_send_blocks_take(&world->sends);
    if (block == NULL) {
        const ph_check call = ph_world_call(world, __func__);
        return ph_fail(&call, PH_ERROR_FULL, NULL,
                       "more sends run at once than ph_world_def.sends_at_once (%d) allows",
                       world->sends.count);
    }
    const ph_send_context sending = ph_world_send_context(world, index);
    ph_send_run(block, &sending, now_us, deliver, context);
    ph_send_blocks_give_back(&world->sends, block);
    return PH_OK;
}

static bool is_worth_sending(const ph_world* world, uint32_t index, uint64_t now_us)
{
    const ph_send_context context = ph_world_send_context(world, index);
    return ph_send_is_worth(&context, now_us);
}

bool ph_viewer_is_send_due(ph_world* world, ph_viewer_id viewer, uint64_t now_us)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index) &&
           (world->viewers.viewers[index].sender->period_parts != 0 ||
            is_worth_sending(world, index, now_us));
}

double ph_viewer_sends_per_second(const ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index)
               ? ph_sender_often(world->viewers.viewers[index].sender)
               : 0.0;
}

static bool is_time(const ph_world* world, uint32_t index, uint64_t now_us)
{
    ph_sender* sender = world->viewers.viewers[index].sender;
    return sender->period_parts != 0 ? ph_sender_is_time(sender, index, now_us)
                                     : is_worth_sending(world, index, now_us);
}

typedef struct send_all {
    ph_world* world;
    uint64_t now_us;
    ph_deliver_fn* deliver;
    void* context;
} send_all;

static void send_now(const send_all* all, int index, ph_sending* block)
{
    const ph_send_context sending = ph_world_send_context(all->world, (uint32_t)index);
    ph_send_run(block, &sending, all->now_us, all->deliver, all->context);
    ph_send_blocks_give_back(&all->world->sends, block);
}

// A job: nothing of another viewer is changed. Where more run at once than there are blocks for, the
// send waits for the end of all jobs.
static void send_if_due(void* context, int index)
{
    const send_all* all = context;
    ph_viewer* viewer = &all->world->viewers.viewers[index];
    if (viewer->slots == NULL || !is_time(all->world, (uint32_t)index, all->now_us)) {
        return;
    }
    ph_sending* block = ph_send_blocks_take(&all->world->sends);
    viewer->is_send_late = block == NULL;
    if (block != NULL) {
        send_now(all, index, block);
    }
}

void ph_world_send_all(ph_world* world, uint64_t now_us, ph_deliver_fn* deliver, void* context)
{
    const int count = world->viewers.ids.used_count;
    send_all all = {world, now_us, deliver, context};
    if (world->def.run_jobs == NULL) {
        for (int i = 0; i < count; ++i) {
            send_if_due(&all, i);
        }
        return;
    }
    world->def.run_jobs(world->def.run_jobs_context, count, send_if_due, &all);
    for (int i = 0; i < count; ++i) {
        if (world->viewers.viewers[i].is_send_late) {
            world->viewers.viewers[i].is_send_late = false;
            send_now(&all, i, ph_send_blocks_take(&world->sends));
        }
    }
}

ph_result ph_world_set_sends_at_once(ph_world* world, int count)
{
    ph_check check = ph_world_call(world, __func__);
    ph_check_range(&check, "count", count, 1, PH_SENDS_AT_ONCE_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    if (ph_nearby_reserve_questions(&world->nearby, ph_world_question_count(&world->def, count)) !=
            PH_OK ||
        ph_send_blocks_reserve(&world->sends, count, 0) != PH_OK) {
        return ph_fail_memory(&check);
    }
    return PH_OK;
}

ph_result ph_viewer_receive_ack(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                                const void* bytes, size_t size)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    const ph_send_context context = ph_world_send_context(world, index);
    return ph_ack_receive(&context, now_us, bytes, size);
}

// ---- how a viewer is doing

ph_result ph_viewer_explain(const ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                            ph_explanation* explanation)
{
    *explanation = (ph_explanation){.state = PH_EXPLAIN_UNSEEN, .since_sent_ms = -1.0};
    uint32_t index;
    const ph_entity_index asked = ph_entities_find(&world->store.entities, entity);
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    if (asked == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const int slot = ph_slots_find(world->viewers.viewers[index].slots, asked);
    if (slot >= 0) {
        const ph_send_context context = ph_world_send_context(world, index);
        ph_explain(&context, slot, explanation);
    }
    return PH_OK;
}

ph_result ph_viewer_get_stats(const ph_world* world, ph_viewer_id viewer, ph_viewer_stats* stats)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        *stats = (ph_viewer_stats){0};
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    const ph_send_context context = ph_world_send_context(world, index);
    ph_viewer_stats_fill(&context, stats);
    return PH_OK;
}

uint64_t ph_viewer_property_bits256(const ph_world* world, ph_viewer_id viewer, int class_index,
                                    int property)
{
    uint32_t index;
    const ph_store* store = &world->store;
    if (!ph_world_try_viewer(world, viewer, &index) || class_index < 0 ||
        class_index >= store->class_count || property < 0 ||
        property >= store->tables[class_index].described->def.property_count) {
        return 0;
    }
    const int first = store->class_info.first_property[class_index];
    return world->viewers.viewers[index].sender->property_bits256[first + property];
}

ph_result ph_viewer_set_trace(ph_world* world, ph_viewer_id viewer, ph_trace_fn* trace,
                              void* context)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    const ph_send_context sending = ph_world_send_context(world, index);
    return ph_tracer_set(&sending, trace, context);
}

ph_stage_times ph_world_stage_times(const ph_world* world)
{
    ph_stage_times times = world->times;
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        const ph_viewer* viewer = &world->viewers.viewers[i];
        for (int stage = 0; stage < PH_STAGE_COUNT && viewer->slots != NULL; ++stage) {
            times.ns[stage] += viewer->sender->times.ns[stage];
        }
    }
    return times;
}

// ---- what the caller adds to a viewer's datagrams, and what that costs; what is known of the link

static ph_sender* find_sender(const ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index) ? world->viewers.viewers[index].sender : NULL;
}

int ph_viewer_slot_count(const ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index)
               ? ph_slots_sight(world->viewers.viewers[index].slots).slot_count
               : 0;
}

ph_result ph_viewer_reserve(ph_world* world, ph_viewer_id viewer, int each_bytes, int next_bytes)
{
    ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_check check = ph_world_call(world, __func__);
    const int64_t most_bytes = ph_sender_reserve_max(sender);
    ph_check_range(&check, "each_bytes", each_bytes, 0, most_bytes);
    ph_check_range(&check, "next_bytes", next_bytes, 0, most_bytes - each_bytes);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_sender_reserve(sender, each_bytes, next_bytes);
    return PH_OK;
}

int ph_viewer_reserve_max(const ph_world* world, ph_viewer_id viewer)
{
    const ph_sender* sender = find_sender(world, viewer);
    return sender != NULL ? ph_sender_reserve_max(sender) : 0;
}

ph_result ph_viewer_spend(ph_world* world, ph_viewer_id viewer, uint64_t now_us, int bytes)
{
    ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    ph_check check = ph_world_call(world, __func__);
    ph_check_range(&check, "bytes", bytes, 1, PH_PAYLOAD_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_sender_pass_time(sender, now_us);
    if (8 * (int64_t)(bytes + sender->overhead_bytes) > ph_token_bucket_bits(&sender->bucket)) {
        return PH_ERROR_FULL;
    }
    ph_sender_pay(sender, bytes);
    sender->stats.ledger.bits256[PH_REASON_RESERVED] += 8 * PH_COST_PER_BIT * (uint64_t)bytes;
    return PH_OK;
}

int64_t ph_viewer_left_bits(ph_world* world, ph_viewer_id viewer, uint64_t now_us)
{
    ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        return 0;
    }
    ph_sender_pass_time(sender, now_us);
    return ph_token_bucket_bits(&sender->bucket);
}

int64_t ph_viewer_spare_bits(ph_world* world, ph_viewer_id viewer, uint64_t now_us)
{
    const int64_t left_bits = ph_viewer_left_bits(world, viewer, now_us);
    if (left_bits == 0 || left_bits == INT64_MAX) {
        return left_bits;
    }
    const int64_t kept_bits =
        8 * (int64_t)(PH_PAYLOAD_MAX + find_sender(world, viewer)->overhead_bytes);
    return left_bits > kept_bits ? left_bits - kept_bits : 0;
}

ph_result ph_viewer_get_network_stats(const ph_world* world, ph_viewer_id viewer,
                                      ph_viewer_network_stats* link)
{
    const ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        *link = (ph_viewer_network_stats){0};
        return ph_world_fail_viewer(world, __func__, viewer);
    }
    const ph_viewer_stats* stats = &sender->stats;
    *link = (ph_viewer_network_stats){
        .sent_datagrams = stats->sent_datagrams,
        .sent_wire_bytes = stats->sent_wire_bytes,
        .resolved_packets = stats->resolved_packets,
        .lost_packets = stats->lost_packets,
        .rtt_samples = stats->rtt_samples,
        .rtt_sum_us = stats->rtt_sum_us,
        .in_flight_packets = (uint64_t)sender->flight.count,
    };
    return PH_OK;
}
