// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: the buffer, frames of text, frames of numbers.

#include "kit/feed.h"

#include "kit/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE_BYTES = 4,
    FIRST_CAPACITY = 4096,
    NO_HEADING = 65535,
    HEADING_STEPS = 36000, // of a turn
    NO_PROPERTY = 255,
    NO_SLOT = 65535,
    FLAG_RESENT = 1,
    FLAG_FIRST = 2,
};
#define NO_ID UINT32_MAX

// ---- the buffer

void ph_feed_destroy(ph_feed* feed)
{
    free(feed->bytes);
    *feed = (ph_feed){0};
}

void ph_feed_clear(ph_feed* feed)
{
    feed->size = 0;
    feed->is_failed = false;
}

static bool has_room(ph_feed* feed, size_t size)
{
    if (feed->is_failed || feed->capacity - feed->size >= size) {
        return !feed->is_failed;
    }
    size_t capacity = feed->capacity > 0 ? feed->capacity : FIRST_CAPACITY;
    while (capacity - feed->size < size) {
        capacity *= 2;
    }
    uint8_t* bytes = realloc(feed->bytes, capacity);
    if (bytes == NULL) {
        feed->is_failed = true;
        return false;
    }
    feed->bytes = bytes;
    feed->capacity = capacity;
    return true;
}

static void append(ph_feed* feed, const void* bytes, size_t size)
{
    if (size > 0 && has_room(feed, size)) {
        memcpy(feed->bytes + feed->size, bytes, size);
        feed->size += size;
    }
}

// The lowest byte first.
static void append_number(ph_feed* feed, uint64_t value, size_t size)
{
    uint8_t bytes[sizeof value];
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    append(feed, bytes, size);
}

static void set_u32(ph_feed* feed, size_t at, size_t value)
{
    for (size_t i = 0; i < 4 && !feed->is_failed; ++i) {
        feed->bytes[at + i] = (uint8_t)(value >> 8 * i);
    }
}

static void begin_frame(ph_feed* feed, ph_feed_kind kind)
{
    feed->begin = feed->size;
    append_number(feed, 0, SIZE_BYTES);
    append_number(feed, kind, 1);
}

// A frame that did not fit into memory is none.
static void end_frame(ph_feed* feed)
{
    if (feed->is_failed) {
        feed->size = feed->begin;
    } else {
        set_u32(feed, feed->begin, feed->size - feed->begin - SIZE_BYTES);
    }
}

bool ph_feed_next(const ph_feed* feed, size_t* at, const uint8_t** frame, size_t* size)
{
    if (*at >= feed->size) {
        return false;
    }
    const uint8_t* head = feed->bytes + *at;
    *size = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    *frame = head + SIZE_BYTES;
    *at += SIZE_BYTES + *size;
    return true;
}

void ph_feed_append(ph_feed* feed, const uint8_t* frame, size_t size)
{
    feed->begin = feed->size;
    append_number(feed, size, SIZE_BYTES);
    append(feed, frame, size);
    end_frame(feed);
}

// ---- frames of text

static void take_text(void* context, const char* text, size_t size)
{
    append(context, text, size);
}

ph_json* ph_feed_open(ph_feed* feed, ph_feed_kind kind)
{
    begin_frame(feed, kind);
    feed->json = ph_json_make_into(take_text, feed);
    ph_json_open(&feed->json, NULL);
    return &feed->json;
}

void ph_feed_close(ph_feed* feed)
{
    ph_json_close(&feed->json);
    end_frame(feed);
}

static void write_ways(ph_json* json, const ph_feed_scene* scene)
{
    ph_json_open_list(json, "ways");
    for (int i = 0; i < scene->way_count; ++i) {
        ph_json_open(json, NULL);
        const char* name = scene->names[i];
        ph_json_text(json, "name", name != NULL ? name : ph_way_name(scene->ways[i]));
        ph_json_text(json, "profile", ph_way_name(scene->ways[i]));
        ph_json_integer(json, "slots", scene->terms[i].slot_count);
        ph_json_integer(json, "payload_max", scene->terms[i].payload_max);
        ph_json_close(json);
    }
    ph_json_close(json);
}

static int most_slots(const ph_feed_scene* scene)
{
    int most = 0;
    for (int i = 0; i < scene->way_count; ++i) {
        most = scene->terms[i].slot_count > most ? scene->terms[i].slot_count : most;
    }
    return most;
}

ph_json* ph_feed_open_scene(ph_feed* feed, const ph_feed_scene* scene)
{
    const char* ground = ph_way_ground_name(scene->ground);
    ph_json* json = ph_feed_open(feed, PH_FEED_SCENE);
    ph_json_integer(json, "version", PH_FEED_VERSION);
    ph_json_integer(json, "scene", scene->scene);
    ph_json_text(json, "source", scene->source);
    ph_json_number(json, "rate", scene->rate_hz);
    ph_json_integer(json, "tick_us", scene->tick_us);
    ph_json_text(json, "schema", scene->schema);
    ph_json_text(json, "ground", ground != NULL ? ground : "");
    ph_json_integer(json, "entities", scene->entity_count);
    ph_json_integer(json, "viewer", scene->viewer);
    ph_json_integer(json, "radius_mm", scene->radius_mm);
    ph_json_integer(json, "slots", scene->slots);
    ph_json_integer(json, "slot_capacity", most_slots(scene));
    ph_json_integer(json, "cell_mm", scene->cell_mm);
    ph_json_integer(json, "show_delay_ms", scene->show_delay_ms);
    ph_json_open_list(json, "bounds_mm");
    for (int i = 0; i < 4; ++i) {
        ph_json_integer(json, NULL, scene->bounds_mm[i]);
    }
    ph_json_close(json);
    write_ways(json, scene);
    ph_json_bool(json, "is_live", scene->is_live);
    return json;
}

void ph_feed_write_note(ph_feed* feed, const char* text)
{
    ph_json_text(ph_feed_open(feed, PH_FEED_NOTE), "text", text);
    ph_feed_close(feed);
}

// ---- frames of numbers

static double distance2_of(const ph_feed_truth* truth, int entity)
{
    const ph_source* source = truth->source;
    const double x_mm = ph_wrap_mm(source->x_mm[truth->eye], source->x_mm[entity]);
    const double y_mm = ph_wrap_mm(source->y_mm[truth->eye], source->y_mm[entity]);
    return x_mm * x_mm + y_mm * y_mm;
}

static int compare_doubles(const void* a, const void* b)
{
    const double first = *(const double*)a;
    const double second = *(const double*)b;
    return (first > second) - (first < second);
}

// What is nearer than this is told, and of what is exactly so far the first few.
typedef struct reach {
    double distance2;
    int at_most;
} reach;

static reach reach_of(ph_feed* feed, const ph_feed_truth* truth)
{
    const ph_source* source = truth->source;
    if (truth->most == 0 || source->present_count <= truth->most) {
        return (reach){.distance2 = HUGE_VAL};
    }
    double* distances = malloc((size_t)source->present_count * sizeof *distances);
    if (distances == NULL) {
        feed->is_failed = true;
        return (reach){0};
    }
    int count = 0;
    for (int e = 0; e < source->recording->entity_count; ++e) {
        if (source->present[e]) {
            distances[count++] = distance2_of(truth, e);
        }
    }
    qsort(distances, (size_t)count, sizeof *distances, compare_doubles);
    int nearer = truth->most - 1;
    const double last = distances[nearer];
    while (nearer > 0 && distances[nearer - 1] == last) {
        --nearer;
    }
    free(distances);
    return (reach){.distance2 = last, .at_most = truth->most - nearer};
}

static uint64_t heading_steps(double heading_deg)
{
    if (!isfinite(heading_deg)) {
        return NO_HEADING;
    }
    const double turns = heading_deg / 360.0;
    return (uint64_t)((turns - floor(turns)) * HEADING_STEPS + 0.5) % HEADING_STEPS;
}

static void append_entity(ph_feed* feed, const ph_source* source, int entity)
{
    append_number(feed, source->recording->id[entity], 4);
    append_number(feed, (uint32_t)source->x_mm[entity], 4);
    append_number(feed, (uint32_t)source->y_mm[entity], 4);
    append_number(feed, (uint32_t)source->z_mm[entity], 4);
    append_number(feed, heading_steps((double)source->heading_deg[entity]), 2);
}

// Entities of a recording are in the order of their ids.
void ph_feed_write_truth(ph_feed* feed, const ph_feed_truth* truth)
{
    const ph_source* source = truth->source;
    reach limit = reach_of(feed, truth);
    int count = 0;
    begin_frame(feed, PH_FEED_TRUTH);
    append_number(feed, truth->time_us, 8);
    append_number(feed, truth->tick, 4);
    const size_t count_at = feed->size;
    append_number(feed, 0, 4);
    for (int e = 0; e < source->recording->entity_count; ++e) {
        const double distance2 = distance2_of(truth, e);
        const bool is_last = distance2 == limit.distance2;
        if (!source->present[e] || distance2 > limit.distance2 || (is_last && limit.at_most == 0)) {
            continue;
        }
        limit.at_most -= is_last ? 1 : 0;
        append_entity(feed, source, e);
        ++count;
    }
    set_u32(feed, count_at, (size_t)count);
    end_frame(feed);
}

void ph_feed_write_datagram(ph_feed* feed, int way, uint64_t time_us, const void* bytes,
                            size_t size)
{
    begin_frame(feed, PH_FEED_DATAGRAM);
    append_number(feed, (uint64_t)way, 1);
    append_number(feed, time_us, 8);
    append(feed, bytes, size);
    end_frame(feed);
}

// Keys that are no id of a recording do not fit; there are none.
static void append_trace_item(ph_feed* feed, const ph_trace_item* item)
{
    const bool has_entity = item->slot >= 0;
    append_number(feed, item->reason, 1);
    append_number(feed, item->property >= 0 ? (uint64_t)item->property : NO_PROPERTY, 1);
    append_number(feed, has_entity ? (uint64_t)item->slot : NO_SLOT, 2);
    append_number(feed, has_entity ? (uint32_t)item->key : NO_ID, 4);
    append_number(feed, item->bits256, 4);
    append_number(feed, (item->is_resent ? FLAG_RESENT : 0u) | (item->is_first ? FLAG_FIRST : 0u),
                  1);
}

void ph_feed_write_trace(ph_feed* feed, int way, uint64_t time_us, const ph_packet_trace* trace)
{
    begin_frame(feed, PH_FEED_TRACE);
    append_number(feed, (uint64_t)way, 1);
    append_number(feed, time_us, 8);
    append_number(feed, trace->sequence, 4);
    append_number(feed, (uint64_t)trace->payload_bytes, 2);
    append_number(feed, (uint64_t)trace->overhead_bytes, 2);
    append_number(feed, (uint64_t)trace->item_count, 2);
    for (int i = 0; i < trace->item_count; ++i) {
        append_trace_item(feed, &trace->items[i]);
    }
    end_frame(feed);
}
