// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per page and tick: some microseconds for each way's send, some 100 ns for each entity of the truth.

#include "demo_page_session.h"

#include "demo_page_frames.h"

#include <pinhole/link.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_MS 1000.0
#define US_PER_SECOND 1000000.0
enum { OVERHEAD_BYTES = 48, DIRECTION_DOWN = 0, DIRECTION_UP = 1 };

// ---- memory

demo_page* demo_page_create(const demo_page_def* def)
{
    demo_page* page = calloc(1, sizeof *page);
    if (page != NULL) {
        page->def = *def;
        page->controls = def->controls;
    }
    return page;
}

static void end_way(demo_page_way* way)
{
    ph_way_sender_destroy(way->sender);
    if (way->world != NULL) {
        ph_world_remove_viewer(way->world, way->viewer);
    }
    ph_link_destroy(way->down);
    ph_link_destroy(way->up);
    *way = (demo_page_way){0};
}

static void end_ways(demo_page* page)
{
    for (int i = 0; i < page->way_count; ++i) {
        end_way(&page->ways[i]);
    }
    page->way_count = 0;
    page->scene = NULL;
}

void demo_page_destroy(demo_page* page)
{
    if (page != NULL) {
        end_ways(page);
        ph_feed_destroy(&page->feed);
        free(page);
    }
}

ph_feed* demo_page_feed(demo_page* page)
{
    return &page->feed;
}

// ---- a viewer in each world

ph_budget_def demo_page_budget(const demo_page_controls* controls)
{
    return (ph_budget_def){
        .bits_per_second = (int64_t)(controls->kbps * 1000.0 + 0.5),
        .burst_s = 1.0,
        .overhead_bytes = OVERHEAD_BYTES,
    };
}

ph_scheduler demo_page_scheduler(const char* name, ph_scheduler usual)
{
    if (strcmp(name, "score") == 0) {
        return ph_scheduler_score();
    }
    if (strcmp(name, "buckets") == 0) {
        return ph_scheduler_buckets();
    }
    return strcmp(name, "error") == 0 ? ph_scheduler_error() : usual;
}

static ph_viewer_def viewer_of(const demo_page* page, const ph_sim_stage* stage)
{
    const ph_budget_def budget = demo_page_budget(&page->controls);
    const ph_source* source = stage->source;
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = source->entity_id[page->entity]; // {0} while it is absent
    def.eye_mm[0] = source->x_mm[page->entity];
    def.eye_mm[1] = source->y_mm[page->entity];
    def.eye_mm[2] = source->z_mm[page->entity];
    def.radius_mm = (int32_t)(stage->def->radius_m * 1000.0);
    def.visible_max = stage->def->slots;
    def.bits_per_second = (int)budget.bits_per_second;
    def.burst_bits = (int)ph_budget_burst_bits(&budget);
    def.overhead_bytes = OVERHEAD_BYTES;
    def.sends_per_second = PH_SENDS_AUTO; // or by the page's own hz: see is_time_to_send()
    // Never that of the connection before.
    def.session = (uint32_t)page->def.seed * 65536u + (uint32_t)page->scene_count;
    def.precision_mrad = stage->def->precision_mrad;
    def.scheduler = demo_page_scheduler(page->controls.scheduler, stage->def->scheduler);
    return def;
}

// The same seed and key for all ways: equal draws, so that only what is sent differs.
static ph_link_def link_of(const demo_page* page, unsigned direction)
{
    const demo_page_controls* controls = &page->controls;
    return (ph_link_def){
        .seed = page->def.seed,
        .key = (uint64_t)controls->viewer * 2 + direction,
        .delay_us = (uint32_t)(controls->rtt_ms / 2.0 * US_PER_MS + 0.5),
        .jitter_us = (uint32_t)(controls->jitter_ms * US_PER_MS + 0.5),
        .loss = controls->loss_percent / 100.0,
    };
}

static bool create_links(const demo_page* page, demo_page_way* way)
{
    const ph_link_def down = link_of(page, DIRECTION_DOWN);
    const ph_link_def up = link_of(page, DIRECTION_UP);
    return ph_link_create(&down, &way->down) == PH_OK && ph_link_create(&up, &way->up) == PH_OK;
}

static void take_trace(void* context, const ph_packet_trace* trace)
{
    demo_page_way* way = context;
    ph_feed_write_trace(way->feed, way->number, trace->now_us, trace);
}

static bool begin_way(demo_page* page, demo_page_way* way, ph_fault* fault)
{
    ph_sim_stage* stage = page->scene->ways[way->way];
    const ph_viewer_def viewer = viewer_of(page, stage);
    const ph_result result = ph_world_add_viewer(stage->world, &viewer, &way->viewer);
    if (result != PH_OK) {
        return ph_fault_set(fault, 0, 0, "the world takes no viewer for a page: %s",
                            ph_result_text(result));
    }
    way->world = stage->world;
    way->stage = stage;
    way->entity = viewer.entity;
    const ph_way_sender_def sender = {
        .way = way->way,
        .world = stage->world,
        .schema = stage->schema,
        .ground = stage->recording->ground,
        .viewer = way->viewer,
        .bits_per_second = viewer.bits_per_second,
        .overhead_bytes = OVERHEAD_BYTES,
        .tick_us = stage->tick_us,
        .now_us = demo_stage_now_us(page->def.stage),
    };
    way->sender = ph_way_sender_create(&sender);
    const bool is_made = way->sender != NULL && create_links(page, way) &&
                         ph_way_sender_set_trace(way->sender, take_trace, way) == PH_OK;
    return is_made || ph_fault_set_memory(fault);
}

// The entity that was asked for, or the scene's steadiest observer.
static void choose_entity(demo_page* page)
{
    const ph_recording* recording = page->scene->material.recording;
    page->entity =
        page->is_viewer_chosen ? ph_recording_find(recording, page->controls.viewer) : -1;
    if (page->entity < 0) {
        page->is_viewer_chosen = false;
        page->entity = page->scene->steadiest;
        page->controls.viewer = recording->id[page->entity];
    }
    if (page->has_selected && ph_recording_find(recording, page->selected) < 0) {
        page->has_selected = false;
    }
}

static bool begin_ways(demo_page* page, ph_fault* fault)
{
    static const ph_way WAYS[] = {PH_WAY_CLASSIC, PH_WAY_PINHOLE, PH_WAY_SNAPSHOT};
    // Snapshots know one class.
    page->controls.has_snapshot =
        page->controls.has_snapshot && ph_schema_class_count(page->scene->material.schema) == 1;
    const int count = page->controls.has_snapshot ? 3 : 2;
    for (int i = 0; i < count; ++i) {
        page->ways[i] = (demo_page_way){.way = WAYS[i], .number = i, .feed = &page->feed};
        ++page->way_count;
        if (!begin_way(page, &page->ways[i], fault)) {
            return false;
        }
    }
    return true;
}

bool demo_page_renew(demo_page* page, ph_fault* fault)
{
    demo_stage* stage = page->def.stage;
    if (page->scene == stage->scene && !page->is_stale) {
        return true;
    }
    end_ways(page);
    page->scene = stage->scene;
    page->is_stale = false;
    page->first_us = 0;
    page->begun_us = demo_stage_now_us(stage);
    choose_entity(page);
    if (!begin_ways(page, fault)) {
        end_ways(page); // none rather than half of them
        page->scene = stage->scene;
        return false;
    }
    ++page->scene_count;
    demo_page_write_scene(page);
    if (stage->is_begun) {
        demo_page_write_truth(page);
    }
    return true;
}

bool demo_page_attend(demo_page* page, ph_fault* fault)
{
    if (!demo_page_renew(page, fault)) {
        return false;
    }
    for (int i = 0; i < page->way_count; ++i) {
        demo_page_way* way = &page->ways[i];
        const ph_entity_id entity = way->stage->source->entity_id[page->entity];
        ph_way_sender_attend(way->sender);
        if (memcmp(&entity, &way->entity, sizeof entity) != 0) {
            ph_viewer_set_entity(way->world, way->viewer, entity);
            way->entity = entity;
        }
    }
    return true;
}

// ---- bytes

typedef struct departure {
    demo_page_way* way;
    uint64_t now_us;
} departure;

static void depart(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const departure* at = context;
    at->way->second_bytes += size + OVERHEAD_BYTES;
    ph_link_send(at->way->down, at->now_us, bytes, size);
}

// The k-th send leaves at the first tick that is not before k / hz; or by the sender's own pacing. Where the page has
// no wish, as the simulator has it for the way.
static bool is_time_to_send(const demo_page* page, const demo_page_way* way, uint64_t now_us)
{
    const double hz = page->controls.hz > 0.0 ? page->controls.hz : way->stage->def->hz;
    if (hz == 0.0) {
        return ph_way_sender_is_send_due(way->sender, now_us);
    }
    const double since_s = (double)(now_us - page->first_us) / US_PER_SECOND;
    // Ticks are whole microseconds: a rate that divides theirs must not lose every other one.
    return since_s * hz + 1e-4 >= (double)way->send_count;
}

static void send_way(demo_page* page, demo_page_way* way, uint64_t now_us)
{
    if (!is_time_to_send(page, way, now_us)) {
        return;
    }
    departure at = {.way = way, .now_us = now_us};
    ++way->send_count;
    ph_way_sender_send(way->sender, now_us, depart, &at);
}

// What was sent within the last full second.
static void count_second(demo_page_way* way, uint64_t now_us)
{
    if (way->second_us == 0) {
        way->second_us = now_us;
    }
    const double since_s = (double)(now_us - way->second_us) / US_PER_SECOND;
    if (since_s >= 1.0) {
        way->sent_kbps = (double)way->second_bytes * 8.0 / 1000.0 / since_s;
        way->second_bytes = 0;
        way->second_us = now_us;
    }
}

static void take_acks(demo_page* page, demo_page_way* way, uint64_t now_us)
{
    uint8_t ack[PH_ACK_SIZE];
    for (uint64_t at_us = ph_link_next_us(way->up); at_us <= now_us;
         at_us = ph_link_next_us(way->up)) {
        const size_t size = ph_link_receive(way->up, at_us, ack, sizeof ack);
        const ph_result result = ph_way_sender_take_ack(way->sender, at_us, ack, size);
        page->refused_acks += result == PH_ERROR_VALUE ? 1 : 0;
    }
}

// The way whose next datagram arrives first; -1: none does until now.
static int next_way(const demo_page* page, uint64_t now_us)
{
    int next = -1;
    uint64_t next_us = now_us;
    for (int i = 0; i < page->way_count; ++i) {
        const uint64_t at_us = ph_link_next_us(page->ways[i].down);
        if (at_us < next_us || (at_us == next_us && next < 0)) {
            next = i;
            next_us = at_us;
        }
    }
    return next;
}

void demo_page_advance(demo_page* page, uint64_t now_us)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    for (int i = next_way(page, now_us); i >= 0; i = next_way(page, now_us)) {
        demo_page_way* way = &page->ways[i];
        const uint64_t at_us = ph_link_next_us(way->down);
        const size_t size = ph_link_receive(way->down, at_us, bytes, sizeof bytes);
        ph_feed_write_datagram(&page->feed, i, at_us, bytes, size);
    }
    for (int i = 0; i < page->way_count; ++i) {
        take_acks(page, &page->ways[i], now_us);
    }
}

uint64_t demo_page_next_us(const demo_page* page)
{
    uint64_t next_us = UINT64_MAX;
    for (int i = 0; i < page->way_count; ++i) {
        const uint64_t down_us = ph_link_next_us(page->ways[i].down);
        const uint64_t up_us = ph_link_next_us(page->ways[i].up);
        next_us = down_us < next_us ? down_us : next_us;
        next_us = up_us < next_us ? up_us : next_us;
    }
    return next_us;
}

// ---- a tick

void demo_page_tick(demo_page* page)
{
    const uint64_t now_us = demo_stage_tick_us(page->def.stage);
    page->first_us = page->first_us > 0 ? page->first_us : now_us;
    demo_page_advance(page, now_us); // acks that came before this tick are taken before its sends
    for (int i = 0; i < page->way_count; ++i) {
        count_second(&page->ways[i], now_us);
        send_way(page, &page->ways[i], now_us);
    }
    demo_page_advance(page, now_us); // over a link without delay
    demo_page_write_truth(page);
    demo_page_write_explain(page);
}

// ---- what the page says

// When an ack entered the link. What a browser takes to hand it on is no part of the simulated line; as far as the
// delay of the link covers it, it is not felt.
static uint64_t departure_of(const demo_page* page, uint64_t said_us)
{
    const uint64_t now_us = demo_stage_now_us(page->def.stage);
    const uint64_t covered_us = (uint64_t)(page->controls.rtt_ms / 2.0 * 1000.0);
    const uint64_t earliest_us = now_us > covered_us ? now_us - covered_us : 0;
    if (said_us == 0 || said_us > now_us) {
        return now_us;
    }
    return said_us > earliest_us ? said_us : earliest_us;
}

bool demo_page_take_ack(demo_page* page, const demo_request_ack* ack)
{
    if (ack->way >= page->way_count) {
        return false;
    }
    // Of packets of the clients before: to these viewers it would tell of packets with the same numbers.
    if (ack->time_us != 0 && ack->time_us < page->begun_us) {
        return true;
    }
    const uint64_t left_us = departure_of(page, ack->time_us);
    ph_link_send(page->ways[ack->way].up, left_us, ack->bytes, ack->size);
    return true;
}

static int payload_max_of(double kbps)
{
    const int payable = (int)(kbps * 1000.0 / 8.0) - OVERHEAD_BYTES;
    return payable < PH_PAYLOAD_MAX ? payable : PH_PAYLOAD_MAX;
}

// The largest datagram of snapshots is fixed when their client is made: another one needs another client.
static void set_budget(demo_page* page, double kbps)
{
    const bool is_other = payload_max_of(kbps) != payload_max_of(page->controls.kbps);
    page->controls.kbps = kbps;
    page->is_stale = page->is_stale || (page->controls.has_snapshot && is_other);
    const ph_budget_def budget = demo_page_budget(&page->controls);
    for (int i = 0; i < page->way_count; ++i) {
        ph_way_sender_set_budget(page->ways[i].sender, demo_stage_now_us(page->def.stage),
                                 (int)budget.bits_per_second, (int)ph_budget_burst_bits(&budget));
    }
}

static void change_links(demo_page* page)
{
    const ph_link_def down = link_of(page, DIRECTION_DOWN);
    const ph_link_def up = link_of(page, DIRECTION_UP);
    for (int i = 0; i < page->way_count; ++i) {
        ph_link_change(page->ways[i].down, &down);
        ph_link_change(page->ways[i].up, &up);
    }
}

static void set_hz(demo_page* page, double hz)
{
    page->controls.hz = hz;
    page->first_us = 0;
    for (int i = 0; i < page->way_count; ++i) {
        page->ways[i].send_count = 0;
    }
}

static void set_viewer(demo_page* page, uint32_t id)
{
    char text[80];
    if (ph_recording_find(page->def.stage->scene->material.recording, id) < 0) {
        snprintf(text, sizeof text, "There is no entity %lu in this scene.", (unsigned long)id);
        ph_feed_write_note(&page->feed, text);
        return;
    }
    page->is_stale = page->is_stale || id != page->controls.viewer;
    page->controls.viewer = id;
    page->is_viewer_chosen = true;
}

static void set_scheduler(demo_page* page, const char* name)
{
    const char* chosen = "";
    for (int i = 0; demo_request_schedulers[i] != NULL; ++i) {
        chosen =
            strcmp(demo_request_schedulers[i], name) == 0 ? demo_request_schedulers[i] : chosen;
    }
    page->is_stale = page->is_stale || strcmp(chosen, page->controls.scheduler) != 0;
    page->controls.scheduler = chosen;
}

static void set_selected(demo_page* page, const demo_request* request)
{
    page->has_selected = request->is_on;
    page->selected = request->entity;
    demo_page_write_explain(page);
}

bool demo_page_apply(demo_page* page, const demo_request* request)
{
    demo_page_controls* controls = &page->controls;
    switch (request->kind) {
    case DEMO_REQUEST_KBPS:
        set_budget(page, request->number);
        return true;
    case DEMO_REQUEST_LOSS:
        controls->loss_percent = request->number;
        change_links(page);
        return true;
    case DEMO_REQUEST_RTT:
        controls->rtt_ms = request->number;
        change_links(page);
        return true;
    case DEMO_REQUEST_JITTER:
        controls->jitter_ms = request->number;
        change_links(page);
        return true;
    case DEMO_REQUEST_HZ:
        set_hz(page, request->number);
        return true;
    case DEMO_REQUEST_SCHEDULER:
        set_scheduler(page, request->word);
        return true;
    case DEMO_REQUEST_VIEWER:
        set_viewer(page, request->entity);
        return true;
    case DEMO_REQUEST_SNAPSHOT:
        page->is_stale = page->is_stale || request->is_on != controls->has_snapshot;
        controls->has_snapshot = request->is_on;
        return true;
    case DEMO_REQUEST_SELECT:
        set_selected(page, request);
        return true;
    default:
        return false;
    }
}

// ---- questions

int demo_page_way_count(const demo_page* page)
{
    return page->way_count;
}

int demo_page_scene_count(const demo_page* page)
{
    return page->scene_count;
}

const demo_page_controls* demo_page_get_controls(const demo_page* page)
{
    return &page->controls;
}

uint64_t demo_page_refused_acks(const demo_page* page)
{
    return page->refused_acks;
}
