// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some 20 bytes per entity and tick.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "bots_truth.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_MAX = 1 << 16,
    SCHEMA_MAX = 1 << 16,
    HELLO_WAIT_MS = 5000,
    RECORD_SIZE = 20,
    HERE_TICKS = 4
};

// ---- what is said

// Clients go on with the first one: a server that comes back must have the same.
static bool take_schema(truth_hello* hello, const char* text)
{
    ph_schema* schema;
    if (ph_schema_parse(text, strlen(text), NULL, &schema, NULL) != PH_OK) {
        return false;
    }
    if (hello->schema == NULL) {
        hello->schema = schema;
        return true;
    }
    const bool is_same = ph_schema_fingerprint(schema) == ph_schema_fingerprint(hello->schema);
    ph_schema_destroy(schema);
    return is_same;
}

static bool take_hello(bots_truth* truth, truth_reader* in)
{
    truth_hello* hello = &truth->hello;
    char* text = malloc(SCHEMA_MAX);
    if (text == NULL || truth->is_greeted) {
        free(text);
        return false;
    }
    const bool is_ours = truth_take(in, 4) == TRUTH_VERSION;
    hello->profile = (ph_profile)truth_take(in, 1);
    hello->tick_us = (uint32_t)truth_take(in, 4);
    hello->bits_per_second = (int64_t)truth_take(in, 4);
    hello->depth_bits = (int64_t)truth_take(in, 8);
    truth_take_text(in, hello->source, sizeof hello->source);
    truth_take_text(in, text, SCHEMA_MAX);
    truth->is_greeted =
        is_ours && !in->has_failed && hello->profile < PH_PROFILE_COUNT && take_schema(hello, text);
    free(text);
    return truth->is_greeted;
}

static bool make_room(truth_moment* moment, int count)
{
    if (count <= moment->capacity) {
        return true;
    }
    const size_t room = (size_t)count;
    free(moment->key);
    free(moment->place_mm);
    moment->key = malloc(room * sizeof *moment->key);
    moment->place_mm = malloc(room * sizeof *moment->place_mm);
    moment->capacity = moment->key != NULL && moment->place_mm != NULL ? count : 0;
    return moment->capacity == count;
}

static bool take_tick(bots_truth* truth, truth_reader* in)
{
    const truth_moment oldest = truth->former;
    truth->former = truth->before;
    truth->before = truth->now;
    truth->now = oldest;
    truth_moment* now = &truth->now;
    truth_take(in, 4); // which tick
    now->due_us = truth_take(in, 8);
    now->is_standing = truth_take(in, 1) != 0;
    const uint64_t count = truth_take(in, 4);
    if (in->has_failed || count != in->left / RECORD_SIZE || !make_room(now, (int)count)) {
        return false;
    }
    now->count = (int)count;
    for (int i = 0; i < now->count; ++i) {
        now->key[i] = truth_take(in, 8);
        for (int axis = 0; axis < 3; ++axis) {
            now->place_mm[i][axis] = truth_take_i32(in);
        }
    }
    if (truth->tick_count++ % HERE_TICKS == 0) {
        bots_truth_ask(truth, TRUTH_HERE);
    }
    return !in->has_failed;
}

void bots_truth_forget_state(bots_truth* truth)
{
    free(truth->state_key);
    free(truth->state_class);
    free(truth->state_first);
    free(truth->state_values);
    truth->state_key = NULL;
    truth->state_class = NULL;
    truth->state_first = NULL;
    truth->state_values = NULL;
    truth->has_state = false;
}

static bool take_state(bots_truth* truth, truth_reader* in)
{
    const size_t count = (size_t)truth_take(in, 4);
    const size_t values_max = in->left / 8 + 1;
    bots_truth_forget_state(truth);
    if (in->has_failed || count > in->left) {
        return false;
    }
    truth->state_key = malloc((count + 1) * sizeof *truth->state_key);
    truth->state_class = malloc((count + 1) * sizeof *truth->state_class);
    truth->state_first = malloc((count + 1) * sizeof *truth->state_first);
    truth->state_values = malloc(values_max * sizeof *truth->state_values);
    if (truth->state_key == NULL || truth->state_class == NULL || truth->state_first == NULL ||
        truth->state_values == NULL) {
        return false;
    }
    int used = 0;
    for (size_t i = 0; i < count && !in->has_failed; ++i) {
        truth->state_key[i] = truth_take(in, 8);
        truth->state_class[i] = (int)truth_take(in, 1);
        truth->state_first[i] = used;
        const int value_count = (int)truth_take(in, 1);
        for (int p = 0; p < value_count && !in->has_failed; ++p) {
            truth->state_values[used++] = truth_take(in, 8);
        }
    }
    truth->state_count = (int)count;
    truth->has_state = !in->has_failed;
    return truth->has_state;
}

static bool take_sight(bots_truth* truth, truth_reader* in)
{
    truth_sight sight = {.client_id = truth_take(in, 8), .is_connected = truth_take(in, 1) != 0};
    for (int axis = 0; axis < 3; ++axis) {
        sight.eye_mm[axis] = truth_take_i32(in);
    }
    sight.keys = *in;
    sight.count = (int)(in->left / 8);
    if (!in->has_failed && truth->on_sight != NULL) {
        truth->on_sight(truth->context, &sight);
    }
    return !in->has_failed;
}

static bool take_figures(bots_truth* truth, truth_reader* in)
{
    truth->figures = (truth_figures){
        .missed = truth_take(in, 8),
        .put_off = truth_take(in, 8),
        .overruns = truth_take(in, 8),
        .datagrams = truth_take(in, 8),
        .wire_bytes = truth_take(in, 8),
    };
    truth->figures.is_known = !in->has_failed;
    return !in->has_failed;
}

static bool take(bots_truth* truth, truth_kind kind, truth_reader* body)
{
    switch (kind) {
    case TRUTH_HELLO:
        return take_hello(truth, body);
    case TRUTH_TICK:
        return take_tick(truth, body);
    case TRUTH_STATE:
        return take_state(truth, body);
    case TRUTH_SIGHT:
        return take_sight(truth, body);
    case TRUTH_FIGURES:
        return take_figures(truth, body);
    default:
        return false;
    }
}

static bool take_all(bots_truth* truth)
{
    size_t used = 0;
    bool is_sense = true;
    while (is_sense) {
        truth_kind kind;
        truth_reader body;
        const truth_bytes rest = {.bytes = truth->in.bytes + used, .size = truth->in.size - used};
        const size_t size = rest.size > 0 ? truth_next(&rest, &kind, &body) : 0;
        if (size == 0) {
            break;
        }
        is_sense = size != SIZE_MAX && take(truth, kind, &body);
        used += is_sense ? size : 0;
    }
    truth_bytes_drop(&truth->in, used);
    return is_sense;
}

// ---- the connection

static bool hear(bots_truth* truth)
{
    uint8_t bytes[READ_MAX];
    for (;;) {
        const ssize_t size = recv(truth->number, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size <= 0) {
            return size != 0;
        }
        truth_put_raw(&truth->in, bytes, (size_t)size);
    }
}

bool bots_truth_serve(bots_truth* truth)
{
    if (truth->number < 0) {
        return false;
    }
    if (truth->out.size > 0) {
        const ssize_t size =
            send(truth->number, truth->out.bytes, truth->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
        truth_bytes_drop(&truth->out, size > 0 ? (size_t)size : 0);
    }
    const bool is_there = hear(truth);
    if (!take_all(truth) || !is_there) {
        close(truth->number);
        truth->number = -1;
        return false;
    }
    return true;
}

static bool wait_for_hello(bots_truth* truth)
{
    while (!truth->is_greeted) {
        struct pollfd one = {.fd = truth->number, .events = POLLIN};
        if (poll(&one, 1, HELLO_WAIT_MS) <= 0 || !bots_truth_serve(truth)) {
            return false;
        }
    }
    return true;
}

static bool open_connection(bots_truth* truth, int port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    truth->is_greeted = false;
    truth->number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return truth->number >= 0 &&
           connect(truth->number, (const struct sockaddr*)&address, sizeof address) == 0 &&
           wait_for_hello(truth);
}

bots_truth* bots_truth_open(int port, ph_fault* fault)
{
    bots_truth* truth = calloc(1, sizeof *truth);
    if (truth == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (!open_connection(truth, port)) {
        ph_fault_set(fault, 0, 0,
                     "no server offers its truth on port %d of 127.0.0.1; start it with --truth",
                     port);
        bots_truth_close(truth);
        return NULL;
    }
    bots_truth_ask(truth, TRUTH_HERE);
    bots_truth_serve(truth);
    return truth;
}

bool bots_truth_reopen(bots_truth* truth, int port)
{
    bots_truth_forget_state(truth);
    truth_bytes_drop(&truth->in, truth->in.size);
    truth_bytes_drop(&truth->out, truth->out.size);
    if (open_connection(truth, port)) {
        return true;
    }
    if (truth->number >= 0) {
        close(truth->number);
        truth->number = -1;
    }
    return false;
}

void bots_truth_close(bots_truth* truth)
{
    if (truth == NULL) {
        return;
    }
    if (truth->number >= 0) {
        close(truth->number);
    }
    bots_truth_forget_state(truth);
    free(truth->now.key);
    free(truth->now.place_mm);
    free(truth->before.key);
    free(truth->before.place_mm);
    free(truth->former.key);
    free(truth->former.place_mm);
    truth_bytes_destroy(&truth->in);
    truth_bytes_destroy(&truth->out);
    ph_schema_destroy(truth->hello.schema);
    free(truth);
}

void bots_truth_ask(bots_truth* truth, truth_kind kind)
{
    truth_end(&truth->out, truth_begin(&truth->out, kind));
}

void bots_truth_ask_sight(bots_truth* truth, uint64_t client_id)
{
    const size_t start = truth_begin(&truth->out, TRUTH_WANT_SIGHT);
    truth_put(&truth->out, client_id, 8);
    truth_end(&truth->out, start);
}

// ---- questions

// Ascending. Names are often numbers without a gap: then the first look finds them.
static int find(const uint64_t* keys, int count, uint64_t key)
{
    const uint64_t guess = count > 0 ? key - keys[0] : 0;
    if (guess < (uint64_t)count && keys[guess] == key) {
        return (int)guess;
    }
    int low = 0;
    int high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && keys[low] == key ? low : -1;
}

const int32_t* truth_moment_find(const truth_moment* moment, uint64_t key)
{
    const int i = find(moment->key, moment->count, key);
    return i >= 0 ? moment->place_mm[i] : NULL;
}

// A step over 100 m/s that differs from the one before it by more than half its length is a jump, which
// is no motion.
static bool is_jump(const int32_t* now, const int32_t* before, const int32_t* former,
                    uint32_t tick_us)
{
    const double fast_mm = 0.1 * tick_us;
    double square = 0.0;
    double off_square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double step_mm = (double)now[axis] - before[axis];
        const double off_mm =
            step_mm - (former != NULL ? (double)before[axis] - former[axis] : 0.0);
        square += step_mm * step_mm;
        off_square += off_mm * off_mm;
    }
    return square > fast_mm * fast_mm && 4.0 * off_square > square;
}

bool bots_truth_place(const bots_truth* truth, uint64_t key, uint64_t now_us, double place_mm[3])
{
    const int32_t* now = truth_moment_find(&truth->now, key);
    if (now == NULL) {
        return false;
    }
    const int32_t* before = truth_moment_find(&truth->before, key);
    const int32_t* former = truth_moment_find(&truth->former, key);
    const bool is_moving = before != NULL && !is_jump(now, before, former, truth->hello.tick_us);
    const uint64_t since_us = now_us > truth->now.due_us ? now_us - truth->now.due_us : 0;
    const double ticks = (double)since_us / truth->hello.tick_us;
    const double share = is_moving ? (ticks < 1.0 ? ticks : 1.0) : 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double step_mm = is_moving ? (double)now[axis] - before[axis] : 0.0;
        place_mm[axis] = now[axis] + share * step_mm;
    }
    return true;
}

int bots_truth_find_state(const bots_truth* truth, uint64_t key)
{
    return truth->has_state ? find(truth->state_key, truth->state_count, key) : -1;
}
