// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per viewer and tick: some microseconds for the send, some 100 ns for each entity shown.

#include "kit/sim_session.h"

#include "kit/budget.h"
#include "kit/sim_line.h"
#include "kit/meter.h"
#include "kit/sim_capture.h"
#include "kit/sim_clock.h"
#include "kit/sim_dump.h"
#include "kit/sim_equality.h"
#include "kit/sim_screen.h"
#include "kit/sim_stay.h"
#include "kit/sim_wire.h"
#include "kit/way_client.h"
#include "kit/way_sender.h"

#include "base/hash.h"
#include "base/rng.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <pinhole/link.h>

#include <stdlib.h>

#define US_PER_MS 1000.0
// How far behind the present a client shows that is told to: the way of a packet, and the usual time
// between two records of one entity at 13 kbit/s.
#define SHOW_DELAY_MS 500
// A client's clock is off by up to so much; it is not told by how much.
#define OFFSET_MAX_US UINT64_C(100000000000)

enum { DIRECTION_DOWN = 0, DIRECTION_UP = 1 };

struct ph_sim_session {
    const ph_sim_stage* stage;
    int entity;
    int last_tick; // of the truth, at which the entity is there
    bool is_measured;
    bool is_connected;
    bool is_there; // the entity, in this tick
    bool is_over;  // nothing will be counted any more
    ph_viewer_id viewer;
    uint64_t clock_offset_us;
    int first_tick; // of the connection
    int64_t send_count;
    ph_link* down;
    ph_link* up;
    ph_sim_line line;      // which the link down leads through
    ph_way_sender* sender; // NULL before the viewer is connected
    ph_way_client* client;
    ph_sim_capture* capture; // or NULL
    ph_meter* meter;
    ph_meter* second_meter; // of the present second, when the def asks for seconds
    ph_sim_wire wire;
    ph_sim_screen screen;
    ph_sim_dump dump;
    ph_sim_stay stay;
    int64_t burst_bits;
    struct ph_pinhole_counts* counts; // of symbols; NULL: they are not counted
    ph_sim_miss* misses;              // by class of the schema
    ph_sim_traffic traffic;
    ph_sim_traffic second_traffic; // traffic when the present second began
};

// ---- memory

static ph_rng stream_of(const ph_sim_session* session)
{
    const ph_rng whole = ph_rng_make(session->stage->def->seed);
    return ph_rng_split(&whole, session->stage->recording->id[session->entity]);
}

static bool create_link(ph_sim_session* session, unsigned direction, ph_link** created)
{
    const ph_sim_def* def = session->stage->def;
    const ph_link_def link = {
        .seed = def->seed,
        .key = (uint64_t)session->stage->recording->id[session->entity] * 2 + direction,
        .delay_us = (uint32_t)(def->rtt_ms / 2.0 * US_PER_MS + 0.5),
        .jitter_us = (uint32_t)(def->jitter_ms * US_PER_MS + 0.5),
        .loss = def->loss,
        .bottleneck = direction == DIRECTION_DOWN ? &session->line.bottleneck : NULL,
    };
    return ph_link_create(&link, created) == PH_OK;
}

static bool create_parts(ph_sim_session* session)
{
    session->line = ph_sim_line_make(session->stage->def);
    if (!create_link(session, DIRECTION_DOWN, &session->down) ||
        !create_link(session, DIRECTION_UP, &session->up)) {
        return false;
    }
    return !session->is_measured ||
           (ph_sim_stage_create_meter(session->stage, session->entity, &session->meter) &&
            (session->stage->def->on_second == NULL ||
             ph_sim_stage_create_meter(session->stage, session->entity, &session->second_meter)) &&
            ph_sim_screen_create(&session->screen, session->stage, session->entity,
                                 ph_sim_slot_capacity(session->stage->def)));
}

ph_sim_session* ph_sim_session_create(const ph_sim_stage* stage, int entity, bool is_measured)
{
    ph_sim_session* session = calloc(1, sizeof *session);
    if (session == NULL) {
        return NULL;
    }
    const int last_span = stage->recording->first_span[entity + 1] - 1;
    session->stage = stage;
    session->entity = entity;
    session->last_tick = stage->recording->spans[last_span].end_tick - 1;
    session->is_measured = is_measured;
    session->dump.is_turned = stage->source->rotation != NULL;
    ph_rng rng = stream_of(session);
    session->clock_offset_us = ph_rng_below(&rng, OFFSET_MAX_US);
    if (!create_parts(session)) {
        ph_sim_session_destroy(session);
        return NULL;
    }
    return session;
}

void ph_sim_session_destroy(ph_sim_session* session)
{
    if (session == NULL) {
        return;
    }
    ph_sim_dump_destroy(&session->dump);
    ph_sim_wire_destroy(&session->wire);
    ph_meter_destroy(session->second_meter);
    ph_meter_destroy(session->meter);
    ph_way_client_destroy(session->client);
    ph_way_sender_destroy(session->sender);
    ph_link_destroy(session->up);
    ph_link_destroy(session->down);
    ph_sim_screen_destroy(&session->screen);
    free(session);
}

// ---- what is kept for a page

static uint64_t client_time_us(const ph_sim_session* session, uint64_t now_us)
{
    const double drifted_us = (double)now_us * session->stage->def->drift;
    return now_us + session->clock_offset_us + (uint64_t)(int64_t)drifted_us;
}

void ph_sim_session_set_capture(ph_sim_session* session, ph_sim_capture* capture)
{
    session->capture = capture;
    capture->viewer = session->stage->recording->id[session->entity];
    capture->tick_us = session->stage->tick_us;
}

static bool is_captured(const ph_sim_session* session)
{
    return session->capture != NULL && ph_sim_capture_goes_on(session->capture);
}

// The truth is told from the first tick on: what is missing or gone is judged by what was before.
static void capture_truth(const ph_sim_session* session)
{
    if (!is_captured(session) || session->capture->place != 0) {
        return;
    }
    const ph_feed_truth truth = {
        .time_us = client_time_us(session, ph_sim_stage_now_us(session->stage)),
        .tick = (uint32_t)session->stage->tick,
        .source = session->stage->source,
        .eye = session->entity,
    };
    ph_feed_write_truth(&session->capture->feed, &truth);
}

static void capture_trace(void* context, const ph_packet_trace* trace)
{
    const ph_sim_session* session = context;
    if (is_captured(session)) {
        ph_feed_write_trace(&session->capture->feed, session->capture->place,
                            client_time_us(session, trace->now_us), trace);
    }
}

static void capture_datagram(const ph_sim_session* session, uint64_t at_us, const void* bytes,
                             size_t size)
{
    if (is_captured(session)) {
        ph_feed_write_datagram(&session->capture->feed, session->capture->place,
                               client_time_us(session, at_us), bytes, size);
    }
}

static bool capture_ends(ph_sim_session* session, const ph_way_client_def* client)
{
    if (session->capture == NULL) {
        return true;
    }
    session->capture->way = client->way;
    session->capture->terms = client->terms;
    session->capture->show_delay_ms = client->show_delay_ms;
    return ph_way_sender_set_trace(session->sender, capture_trace, session) == PH_OK;
}

// ---- coming and going

static int bits_per_second(const ph_sim_def* def)
{
    return (int)(def->kbps * 1000.0 + 0.5);
}

static ph_budget_def budget_of(const ph_sim_def* def)
{
    return (ph_budget_def){
        .bits_per_second = bits_per_second(def),
        .burst_s = def->burst_s,
        .overhead_bytes = def->overhead_bytes,
    };
}

static ph_result add_viewer(ph_sim_session* session)
{
    const ph_sim_stage* stage = session->stage;
    const ph_sim_def* asked = stage->def;
    ph_rng rng = stream_of(session);
    ph_rng_below(&rng, OFFSET_MAX_US); // that was the clock
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = stage->source->entity_id[session->entity];
    def.radius_mm = (int32_t)(asked->radius_m * 1000.0);
    def.visible_max = asked->slots;
    def.bits_per_second = bits_per_second(asked);
    // 0 would stand for a second's worth; the world raises what is too little for one datagram.
    const ph_budget_def budget = budget_of(asked);
    const int64_t burst_bits = ph_budget_burst_bits(&budget);
    def.burst_bits = burst_bits > 0 ? (int)burst_bits : 1;
    def.overhead_bytes = asked->overhead_bytes;
    def.sends_per_second = asked->hz > 0.0 ? asked->hz : PH_SENDS_AUTO;
    def.precision_mrad = asked->precision_mrad;
    def.session = (uint32_t)ph_rng_next(&rng);
    def.scheduler = asked->scheduler;
    const ph_result result = ph_world_add_viewer(stage->world, &def, &session->viewer);
    if (asked->is_universal) {
        ph_viewer_use_universal_codes(stage->world, session->viewer);
    }
    return result;
}

static ph_way way_of(const ph_sim_def* def)
{
    if (def->is_snapshot) {
        return PH_WAY_SNAPSHOT;
    }
    return def->profile == PH_PROFILE_CLASSIC ? PH_WAY_CLASSIC : PH_WAY_PINHOLE;
}

// The world has the viewer.
static bool create_ends(ph_sim_session* session)
{
    const ph_sim_stage* stage = session->stage;
    const ph_way_sender_def sender = {
        .way = way_of(stage->def),
        .world = stage->world,
        .schema = stage->schema,
        .ground = stage->recording->ground,
        .viewer = session->viewer,
        .bits_per_second = bits_per_second(stage->def),
        .overhead_bytes = stage->def->overhead_bytes,
        .tick_us = stage->tick_us,
        .now_us = ph_sim_stage_now_us(stage),
    };
    session->sender = ph_way_sender_create(&sender);
    if (session->sender == NULL) {
        return false;
    }
    const ph_way_client_def client = {
        .way = sender.way,
        .schema = stage->schema,
        .ground = stage->recording->ground,
        .terms = ph_way_sender_terms(session->sender),
        .tick_us = stage->tick_us,
        .show_delay_ms = stage->def->is_delayed ? SHOW_DELAY_MS : 0,
    };
    session->client = ph_way_client_create(&client);
    return session->client != NULL && capture_ends(session, &client);
}

static bool connect_viewer(ph_sim_session* session, ph_fault* fault)
{
    const ph_sim_stage* stage = session->stage;
    const ph_result result = add_viewer(session);
    if (result != PH_OK) {
        return ph_fault_set(fault, 0, 0, "the world takes no such viewer: %s",
                            ph_result_text(result));
    }
    session->is_connected = true;
    session->first_tick = stage->tick;
    ph_viewer_stats stats;
    ph_viewer_get_stats(stage->world, session->viewer, &stats);
    session->burst_bits = stats.token_bits;
    if (!create_ends(session)) {
        return ph_fault_set_memory(fault);
    }
    const ph_budget_def budget = budget_of(stage->def);
    const ph_sim_wire_def wire = {
        .bits_per_second = bits_per_second(stage->def),
        .depth_bits = ph_budget_depth_bits(&budget, stage->schema),
        .overhead_bytes = stage->def->overhead_bytes,
        .rate_hz = stage->recording->rate_hz,
        .now_us = ph_sim_stage_now_us(stage),
    };
    return ph_sim_wire_create(&session->wire, &wire, &session->traffic) ||
           ph_fault_set_memory(fault);
}

static void begin_stay(ph_sim_session* session)
{
    ph_sim_stay_begin(&session->stay, session->sender);
}

static void end_stay(ph_sim_session* session)
{
    ph_sim_stay_end(&session->stay, session->sender, &session->traffic);
}

void ph_sim_session_set_counts(ph_sim_session* session, struct ph_pinhole_counts* counts)
{
    session->counts = counts;
}

static void take_miss(void* context, int32_t entity, double error_mrad)
{
    const ph_sim_session* session = context;
    const ph_sim_stage* stage = session->stage;
    const int half = stage->def->missed_half;
    if (stage->tick < stage->def->count_from_tick ||
        (half != 0 && (int)(ph_hash_mix(stage->recording->id[entity]) & 1) + 1 != half)) {
        return;
    }
    const int recorded = ph_recording_class(stage->recording, stage->source->row[entity]);
    ph_sim_miss* miss = &session->misses[stage->source->bindings[recorded].class_index];
    miss->mrad += error_mrad;
    ++miss->count;
}

void ph_sim_session_set_misses(ph_sim_session* session, ph_sim_miss* misses)
{
    session->misses = misses;
    ph_meter_set_miss(session->meter, take_miss, session);
}

static void count_symbols(const ph_sim_session* session)
{
    const ph_sim_stage* stage = session->stage;
    if (session->counts != NULL && session->is_connected &&
        stage->tick >= stage->def->count_from_tick) {
        ph_viewer_count_symbols(stage->world, session->viewer, session->counts);
    }
}

bool ph_sim_session_attend(ph_sim_session* session, ph_fault* fault)
{
    const ph_sim_stage* stage = session->stage;
    const bool was_there = session->is_there;
    if (session->is_connected) {
        ph_sim_line_control(&session->line, stage->world, session->viewer,
                            ph_sim_stage_now_us(stage));
        ph_way_sender_attend(session->sender);
    }
    if (session->is_over && session->is_connected) {
        ph_world_remove_viewer(stage->world, session->viewer);
        session->is_connected = false;
    }
    if (session->is_over || was_there == stage->source->present[session->entity]) {
        return true;
    }
    session->is_there = !was_there;
    if (!session->is_there) {
        end_stay(session);
        return true;
    }
    if (!session->is_connected) {
        if (!connect_viewer(session, fault)) {
            return false;
        }
    } else {
        ph_viewer_set_entity(stage->world, session->viewer,
                             stage->source->entity_id[session->entity]);
    }
    begin_stay(session);
    return true;
}

// ---- bytes

typedef struct departure {
    ph_sim_session* session;
    uint64_t now_us;
} departure;

static void depart(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const departure* at = context;
    ph_sim_wire_send(&at->session->wire, size);
    ph_link_send(at->session->down, at->now_us, bytes, size);
}

// The k-th send leaves at the first tick that is not before k / hz; or by the sender's own pacing.
static bool is_time_to_send(const ph_sim_session* session, uint64_t now_us)
{
    const ph_sim_stage* stage = session->stage;
    const double ticks = (double)(stage->tick - session->first_tick);
    const double hz = stage->def->hz;
    if (hz == 0.0) {
        return ph_way_sender_is_send_due(session->sender, now_us);
    }
    return ticks * hz >= (double)session->send_count * stage->recording->rate_hz;
}

static void send_now(ph_sim_session* session, uint64_t now_us)
{
    const ph_sim_stage* stage = session->stage;
    ph_sim_wire_tick(&session->wire, now_us, session->is_there && session->is_measured);
    if (!is_time_to_send(session, now_us)) {
        return;
    }
    // At most one per tick, however many were asked for.
    const double ticks = (double)(stage->tick - session->first_tick);
    session->send_count = (int64_t)(ticks * stage->def->hz / stage->recording->rate_hz) + 1;
    departure at = {.session = session, .now_us = now_us};
    const uint64_t start_ns = ph_sim_clock_ns();
    ph_way_sender_send(session->sender, now_us, depart, &at);
    const uint64_t spent_ns = ph_sim_clock_ns() - start_ns;
    session->traffic.cpu_ns += session->is_there ? spent_ns : 0;
    ph_sim_wire_end_send(&session->wire, ph_way_sender_has_diff(session->sender));
}

static void answer(ph_sim_session* session, uint64_t now_us)
{
    uint8_t ack[PH_ACK_SIZE];
    const size_t size =
        ph_way_client_write_ack(session->client, client_time_us(session, now_us), ack);
    if (size > 0) {
        ph_link_send(session->up, now_us, ack, size);
    }
}

// When the client wants to answer without having heard anything new, by the simulator's clock.
static uint64_t answer_due_us(const ph_sim_session* session)
{
    const uint64_t due_us = ph_way_client_ack_due_us(session->client);
    if (due_us == UINT64_MAX) {
        return UINT64_MAX;
    }
    const double since_us = (double)(int64_t)(due_us - session->clock_offset_us);
    uint64_t at_us = (uint64_t)(since_us / (1.0 + session->stage->def->drift));
    // Rounded up: an ack that is written before its time is still due, and would be written for ever.
    while (client_time_us(session, at_us) < due_us) {
        ++at_us;
    }
    return at_us;
}

// Each datagram is taken at the time of its arrival, and answered at once; some once more.
static void receive_until(ph_sim_session* session, uint64_t end_us)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    for (;;) {
        const uint64_t arrival_us = ph_link_next_us(session->down);
        const uint64_t due_us = answer_due_us(session);
        const uint64_t at_us = arrival_us <= due_us ? arrival_us : due_us;
        if (at_us > end_us) {
            return;
        }
        if (arrival_us <= due_us) {
            const size_t size = ph_link_receive(session->down, at_us, bytes, sizeof bytes);
            capture_datagram(session, at_us, bytes, size);
            ph_way_client_receive(session->client, client_time_us(session, at_us), bytes, size);
        }
        answer(session, at_us);
    }
}

static void acknowledge_until(ph_sim_session* session, uint64_t end_us)
{
    uint8_t ack[PH_ACK_SIZE];
    const uint64_t start_ns = ph_sim_clock_ns();
    for (uint64_t at_us = ph_link_next_us(session->up); at_us <= end_us;
         at_us = ph_link_next_us(session->up)) {
        const size_t size = ph_link_receive(session->up, at_us, ack, sizeof ack);
        ph_way_sender_take_ack(session->sender, at_us, ack, size);
    }
    const uint64_t spent_ns = ph_sim_clock_ns() - start_ns;
    session->traffic.cpu_ns += session->is_there ? spent_ns : 0;
}

// ---- a frame

static void write_rows(ph_sim_session* session)
{
    const ph_recording* recording = session->stage->recording;
    const double tick = (double)recording->first_tick + session->stage->tick;
    ph_sim_row row = {
        .time_ms = 1000.0 * tick / recording->rate_hz,
        .viewer = recording->id[session->entity],
    };
    for (int i = 0; i < session->screen.shown_count; ++i) {
        const ph_shown* shown = &session->screen.shown[i];
        row.entity = recording->id[shown->entity];
        ph_sim_dump_add(&session->dump, &row, shown);
    }
}

static void measure(ph_sim_session* session, uint64_t now_us)
{
    capture_truth(session);
    ph_way_client_advance(session->client, client_time_us(session, now_us));
    ph_sim_screen_look(&session->screen, session->client);
    if (!session->is_there) {
        return;
    }
    ++session->traffic.frames;
    ph_meter_frame(session->meter, session->screen.shown, session->screen.shown_count);
    if (session->second_meter != NULL) {
        ph_meter_frame(session->second_meter, session->screen.shown, session->screen.shown_count);
    }
    if (session->stage->def->dump != NULL) {
        write_rows(session);
    }
}

// ---- a tick

void ph_sim_session_step(ph_sim_session* session)
{
    const ph_sim_stage* stage = session->stage;
    if (session->is_over) {
        return;
    }
    if (!session->is_connected) {
        capture_truth(session);
        return;
    }
    const uint64_t now_us = ph_sim_stage_now_us(stage);
    count_symbols(session);
    send_now(session, now_us);
    receive_until(session, now_us); // over a link without delay
    if (session->is_measured) {
        measure(session, now_us);
        if (stage->tick >= session->last_tick) {
            ph_sim_session_finish(session);
            return;
        }
    }
    const uint64_t next_us = ph_sim_stage_next_us(stage);
    receive_until(session, next_us);
    acknowledge_until(session, next_us);
}

void ph_sim_session_take_second(ph_sim_session* session, ph_sim_second* second)
{
    // Sums of a stay's parts are those of the stay.
    if (session->is_there && !session->is_over) {
        end_stay(session);
        begin_stay(session);
    }
    second->shown = session->screen.shown_count;
    second->traffic = ph_sim_traffic_since(&session->traffic, &session->second_traffic);
    second->traffic.worst_1s_bytes = second->traffic.wire_bytes;
    second->figures = ph_figures_summarise(ph_meter_figures(session->second_meter));
    session->second_traffic = session->traffic;
    ph_meter_clear(session->second_meter);
}

void ph_sim_session_finish(ph_sim_session* session)
{
    if (session->is_over || !session->is_connected) {
        return;
    }
    session->is_over = true;
    const ph_sim_arrivals arrivals = ph_way_client_arrivals(session->client);
    session->traffic.received += arrivals.received;
    session->traffic.late += arrivals.late;
    session->traffic.refused += arrivals.refused;
    if (session->is_there) {
        end_stay(session);
        ph_sim_wire_finish(&session->wire);
    }
}

// ---- questions

bool ph_sim_session_is_equal(const ph_sim_session* session)
{
    const ph_sim_pair pair = {
        .stage = session->stage,
        .client = session->client,
        .viewer = session->viewer,
        .entity = session->entity,
    };
    return !session->is_connected || ph_sim_is_equal(&pair);
}

bool ph_sim_session_dump(ph_sim_session* session, FILE* file)
{
    return ph_sim_dump_flush(&session->dump, file);
}

const ph_sim_traffic* ph_sim_session_traffic(const ph_sim_session* session)
{
    return &session->traffic;
}

const ph_figures* ph_sim_session_figures(const ph_sim_session* session)
{
    return ph_meter_figures(session->meter);
}

int64_t ph_sim_session_burst_bits(const ph_sim_session* session)
{
    return session->burst_bits;
}
