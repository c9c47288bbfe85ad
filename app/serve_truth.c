// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick and listener: some 20 bytes for each entity. The server waits for no listener: one that does
// not read misses ticks, is answered no further, and is closed when it has taken nothing for a while. All that
// is kept for it is bounded. One that says nothing loses its place when another one needs it.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "serve_truth.h"

#include "kit/budget.h"
#include "net/wire_meter.h"
#include "serve_port.h"
#include "truth_wire.h"

#include <pinhole/viewer.h>

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// A listener that has taken nothing for so long, of what waits for it, is closed.
#define DEAF_US UINT64_C(15000000)
// One that has asked something keeps its place for so long, however many others come.
#define SILENT_US UINT64_C(10000000)
enum {
    LISTENERS_MAX = 8,
    WAITING_MAX = 4 << 20,    // no further ticks beyond this
    ANSWERS_MAX = 256 << 10,  // no further answers beyond this; the questions wait
    QUESTIONS_MAX = 64 << 10, // nothing is read beyond this
    QUESTION_MAX = 16,        // bytes of one
    READ_MAX = 65536,
};

typedef struct listener {
    int number;        // of its socket; -1: none
    uint64_t taken_us; // when it last took something, or nothing waited for it
    uint64_t asked_us; // when it last asked something; before that, when it came
    bool has_asked;
    truth_bytes in;
    truth_bytes out;
} listener;

struct serve_truth {
    serve_truth_def def;
    int number;
    int port;
    listener listeners[LISTENERS_MAX];
};

// ---- opening

serve_truth* serve_truth_open(const serve_truth_def* def, ph_fault* fault)
{
    serve_truth* truth = calloc(1, sizeof *truth);
    if (truth == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    truth->def = *def;
    for (int i = 0; i < LISTENERS_MAX; ++i) {
        truth->listeners[i].number = -1;
    }
    truth->number = serve_port_open(def->port, &truth->port);
    if (truth->number < 0) {
        serve_port_complain(def->port, "--truth", fault);
        serve_truth_close(truth);
        return NULL;
    }
    return truth;
}

static void dismiss(listener* at)
{
    if (at->number >= 0) {
        close(at->number);
    }
    truth_bytes_destroy(&at->in);
    truth_bytes_destroy(&at->out);
    at->number = -1;
}

void serve_truth_close(serve_truth* truth)
{
    if (truth == NULL) {
        return;
    }
    for (int i = 0; i < LISTENERS_MAX; ++i) {
        dismiss(&truth->listeners[i]);
    }
    if (truth->number >= 0) {
        close(truth->number);
    }
    free(truth);
}

int serve_truth_port(const serve_truth* truth)
{
    return truth->port;
}

// ---- what is said

static void say_hello(const serve_truth* truth, truth_bytes* out)
{
    const serve_options* options = truth->def.options;
    const ph_schema* schema = truth->def.stage->schema;
    const ph_budget_def budget = {
        .bits_per_second = (int64_t)(options->kbps * 1000.0 + 0.5),
        .burst_s = 1.0,
        .overhead_bytes = PH_WIRE_HEADERS_IPV6 + PH_NETCODE_OVERHEAD_MAX,
    };
    const size_t size = ph_schema_print(schema, NULL, 0) + 1;
    char* text = malloc(size);
    if (text == NULL) {
        out->is_short = true;
        return;
    }
    ph_schema_print(schema, text, size);
    const size_t start = truth_begin(out, TRUTH_HELLO);
    truth_put(out, TRUTH_VERSION, 4);
    truth_put(out, (uint64_t)options->profile, 1);
    truth_put(out, truth->def.stage->tick_us, 4);
    truth_put(out, (uint64_t)budget.bits_per_second, 4);
    truth_put(out, (uint64_t)ph_budget_depth_bits(&budget, schema), 8);
    truth_put_text(out, options->source);
    truth_put_text(out, text);
    truth_end(out, start);
    free(text);
}

static void say_tick(const serve_truth* truth, truth_bytes* out, uint64_t due_us)
{
    const serve_stage* stage = truth->def.stage;
    const size_t start = truth_begin(out, TRUTH_TICK);
    truth_put(out, ph_world_tick_count(stage->world), 4);
    truth_put(out, due_us, 8);
    truth_put(out, stage->is_standing ? 1 : 0, 1);
    truth_put(out, (uint64_t)ph_world_entity_count(stage->world), 4);
    for (int i = 0; i < stage->actor_count; ++i) {
        if (serve_stage_entity(stage, i).index1 == 0) {
            continue;
        }
        int32_t place_mm[3];
        serve_stage_place(stage, i, place_mm);
        truth_put(out, serve_stage_key(stage, i), 8);
        for (int axis = 0; axis < 3; ++axis) {
            truth_put(out, (uint32_t)place_mm[axis], 4);
        }
    }
    truth_end(out, start);
}

static void say_entity(const serve_stage* stage, truth_bytes* out, int actor)
{
    const ph_entity_id entity = serve_stage_entity(stage, actor);
    uint64_t key = 0;
    int class_index = 0;
    ph_world_identify(stage->world, entity, &key, &class_index);
    const ph_class_def* kind = ph_schema_class(stage->schema, class_index);
    truth_put(out, key, 8);
    truth_put(out, (uint64_t)class_index, 1);
    truth_put(out, (uint64_t)kind->property_count, 1);
    for (int p = 0; p < kind->property_count; ++p) {
        truth_put(out, truth_value_of_world(stage->world, entity, p, &kind->properties[p]), 8);
    }
}

static void say_state(const serve_truth* truth, truth_bytes* out)
{
    const serve_stage* stage = truth->def.stage;
    const size_t start = truth_begin(out, TRUTH_STATE);
    truth_put(out, (uint64_t)ph_world_entity_count(stage->world), 4);
    for (int i = 0; i < stage->actor_count; ++i) {
        if (serve_stage_entity(stage, i).index1 != 0) {
            say_entity(stage, out, i);
        }
    }
    truth_end(out, start);
}

static void say_sight(const serve_truth* truth, truth_bytes* out, uint64_t client_id)
{
    const ph_world* world = truth->def.stage->world;
    int index = 0;
    const serve_client* client = serve_front_find(truth->def.front, client_id, &index);
    const ph_viewer_id viewer = ph_host_viewer(serve_front_host(truth->def.front), index);
    ph_vision sight = {0};
    const bool is_known = client != NULL && ph_viewer_get_vision(world, viewer, &sight) == PH_OK;
    const size_t start = truth_begin(out, TRUTH_SIGHT);
    truth_put(out, client_id, 8);
    truth_put(out, is_known ? 1 : 0, 1);
    int32_t eye_mm[3] = {0};
    if (is_known) {
        serve_client_eye(client, truth->def.stage, eye_mm);
    }
    for (int axis = 0; axis < 3; ++axis) {
        truth_put(out, (uint32_t)eye_mm[axis], 4);
    }
    for (int slot = 0; is_known && slot < sight.slot_count; ++slot) {
        uint64_t key = 0;
        const bool is_there =
            sight.entities[slot] != PH_ENTITY_NONE &&
            ph_world_identify(world, ph_world_entity_at(world, sight.entities[slot]), &key, NULL) ==
                PH_OK;
        if (is_there) {
            truth_put(out, key, 8);
        }
    }
    truth_end(out, start);
}

static void say_figures(const serve_truth* truth, truth_bytes* out)
{
    const serve_counts counts = serve_front_counts(truth->def.front);
    const size_t start = truth_begin(out, TRUTH_FIGURES);
    truth_put(out, truth->def.pace->missed, 8);
    truth_put(out, counts.host.postponed_sends, 8);
    truth_put(out, counts.host.over_budget_datagrams, 8);
    truth_put(out, counts.host.sent_datagrams, 8);
    truth_put(out, counts.host.sent_wire_bytes, 8);
    truth_end(out, start);
}

// ---- listeners

// @return False for nonsense.
static bool answer(serve_truth* truth, listener* at, truth_kind kind, truth_reader* body)
{
    switch (kind) {
    case TRUTH_STAND:
    case TRUTH_GO:
        truth->def.stage->is_standing = kind == TRUTH_STAND;
        return true;
    case TRUTH_WANT_STATE:
        say_state(truth, &at->out);
        return true;
    case TRUTH_WANT_SIGHT:
        say_sight(truth, &at->out, truth_take(body, 8));
        return !body->has_failed;
    case TRUTH_WANT_FIGURES:
        say_figures(truth, &at->out);
        return true;
    case TRUTH_HERE:
        return true;
    default:
        return false;
    }
}

static bool answer_all(serve_truth* truth, listener* at, uint64_t now_us)
{
    size_t used = 0;
    bool is_sense = true;
    while (is_sense && at->out.size < ANSWERS_MAX) {
        truth_kind kind;
        truth_reader body;
        const truth_bytes rest = {.bytes = at->in.bytes + used, .size = at->in.size - used};
        const size_t size = rest.size > 0 ? truth_next(&rest, &kind, &body) : 0;
        if (size == 0) {
            break;
        }
        is_sense = size != SIZE_MAX && answer(truth, at, kind, &body);
        used += is_sense ? size : 0;
    }
    truth_bytes_drop(&at->in, used);
    if (used > 0) {
        at->has_asked = true;
        at->asked_us = now_us;
    }
    // What is longer than any question would wait here for ever.
    return is_sense && (at->in.size < QUESTION_MAX || at->out.size >= ANSWERS_MAX);
}

// @return False when the other side has gone.
static bool hear(listener* at)
{
    uint8_t bytes[READ_MAX];
    if (at->in.size >= QUESTIONS_MAX) {
        return true;
    }
    const ssize_t size = recv(at->number, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size > 0) {
        truth_put_raw(&at->in, bytes, (size_t)size);
    }
    return size != 0 && !at->in.is_short;
}

// @return False when it is to be closed.
static bool flush(listener* at, uint64_t now_us)
{
    ssize_t size = 0;
    if (at->out.size > 0) {
        size = send(at->number, at->out.bytes, at->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
        truth_bytes_drop(&at->out, size > 0 ? (size_t)size : 0);
    }
    if (size > 0 || at->out.size == 0) {
        at->taken_us = now_us;
    }
    return !at->out.is_short && now_us - at->taken_us < DEAF_US;
}

// Whether a newcomer rather gets the place of one than that of the other.
static bool is_rather(const listener* one, const listener* other)
{
    if (one->has_asked != other->has_asked) {
        return !one->has_asked;
    }
    return one->asked_us < other->asked_us;
}

// A free place; else that of the one that has never asked anything, the oldest first; else that of one that
// has been silent for long. @return NULL when all places are in use.
static listener* find_place(serve_truth* truth, uint64_t now_us)
{
    listener* found = &truth->listeners[0];
    for (int i = 0; i < LISTENERS_MAX; ++i) {
        listener* at = &truth->listeners[i];
        if (at->number < 0) {
            return at;
        }
        found = is_rather(at, found) ? at : found;
    }
    if (found->has_asked && now_us - found->asked_us < SILENT_US) {
        return NULL;
    }
    dismiss(found);
    return found;
}

// @return Whether there was one.
static bool let_in(serve_truth* truth, uint64_t now_us)
{
    const int number = serve_port_accept(truth->number);
    if (number < 0) {
        return false;
    }
    listener* at = find_place(truth, now_us);
    if (at == NULL) {
        close(number);
        return true;
    }
    *at = (listener){.number = number, .taken_us = now_us, .asked_us = now_us};
    say_hello(truth, &at->out);
    return true;
}

void serve_truth_serve(serve_truth* truth)
{
    if (truth == NULL) {
        return;
    }
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < LISTENERS_MAX && let_in(truth, now_us); ++i) {
    }
    for (int i = 0; i < LISTENERS_MAX; ++i) {
        listener* at = &truth->listeners[i];
        if (at->number >= 0 &&
            (!hear(at) || !answer_all(truth, at, now_us) || !flush(at, now_us))) {
            dismiss(at);
        }
    }
}

void serve_truth_tell(serve_truth* truth, uint64_t due_us)
{
    if (truth == NULL) {
        return;
    }
    for (int i = 0; i < LISTENERS_MAX; ++i) {
        listener* at = &truth->listeners[i];
        if (at->number >= 0 && at->out.size < WAITING_MAX) {
            say_tick(truth, &at->out, due_us);
        }
    }
    serve_truth_serve(truth);
}
