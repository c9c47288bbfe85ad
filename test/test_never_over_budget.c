// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: no datagram is ever over the budget, at any budget from 2 to 1000 kbit/s, and what is
// due is sent when there are tokens. Beside every viewer stands a token bucket of our own, exact in
// millionths of a bit, that pays for what comes over the link; it never goes below zero. And what the
// world says that it has left is what the rule of ph_viewer_set_budget() leaves it, to the bit.
//
// The same with bytes that the caller adds to datagrams, or sends beside them.
//
// And no entity waits for ever: an entity with something due is served within
//
//     max_starve_ms + a period + 4 * slots * (the dearest datagram) / rate
//
// because the one that has waited longest beyond max_starve_ms has a quarter of the bits.

#include "support/test_session.h"

#include "packet/pinhole_records.h"
#include "packet/header.h"
#include "packet/layout.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <string.h>

#define PARTS INT64_C(1000000) // of a bit

enum { WIDE_ROUNDS = 60 };

// What improbable symbols may add to an enter of the pinhole profile.
#define PINHOLE_ENTER_EXTRA_BITS (PH_PINHOLE_ENTER_BITS_MAX - PH_CLASSIC_ENTER_BITS_MAX)

typedef struct model {
    int64_t level; // in parts
    int64_t rate;  // 0: no limit
    int64_t depth_bits;
    uint64_t filled_us;
    bool is_started; // full until the first send
} model;

// What the caller adds.
typedef struct addition {
    int each_bytes; // to each datagram
    int next_bytes; // and to the next one
    int peak_bytes; // the most that both were
    uint64_t sum_bytes;
    uint64_t spent_count; // datagrams of its own
} addition;

// What the world has by its own rule, which may be less: it is told the time now and then.
typedef struct account {
    int64_t level; // in parts
    // Of the time since it was told: the least of each. A rate of 0 is no limit.
    int64_t rate;
    int64_t depth_bits;
    // From the next time on.
    int64_t next_rate;
    int64_t next_depth_bits;
    bool is_unlimited; // at some moment of that time: then nothing of it counts
    uint64_t filled_us;
    uint64_t acks_new; // that it was told the time by
} account;

typedef struct test_state {
    model models[SESSION_VIEWERS_MAX];
    account accounts[SESSION_VIEWERS_MAX];
    addition additions[SESSION_VIEWERS_MAX];
    bool is_adding;
    int enter_bits_max;
    uint64_t due_since_us[SESSION_VIEWERS_MAX][SESSION_SLOTS_MAX]; // 0: nothing is
} test_state;

static uint64_t packet_count[PH_PROFILE_COUNT];
static uint64_t
    spoken_count[PH_PROFILE_COUNT]; // times that something was due and could be paid for

// ---- the model

static int64_t dearest_bits(const test_session* session, int viewer)
{
    const test_state* state = session->context;
    const bool is_pinhole = session->def.profile == PH_PROFILE_PINHOLE;
    const int classic_bits = PH_HEADER_BITS + PH_HELLO_BITS + PH_EYE_BITS;
    const int pinhole_bits =
        PH_PINHOLE_HEADER_BITS_MAX +
        (session->world->store.class_info.layouts.has_finer ? PH_PINHOLE_STEP_BITS : 0) +
        PH_PINHOLE_SLACK_BITS + PINHOLE_ENTER_EXTRA_BITS;
    const int payload_bits = (is_pinhole ? pinhole_bits : classic_bits) + state->enter_bits_max;
    const int payload_bytes = (payload_bits + 7) / 8;
    return 8 * (int64_t)((payload_bytes < PH_PAYLOAD_MAX ? payload_bytes : PH_PAYLOAD_MAX) +
                         session->viewers[viewer].def.overhead_bytes +
                         state->additions[viewer].peak_bytes);
}

static int64_t depth_bits(const test_session* session, int viewer, int rate, int burst_bits)
{
    const int64_t wanted = burst_bits != 0 ? burst_bits : rate;
    const int64_t least = dearest_bits(session, viewer);
    return wanted > least ? wanted : least;
}

static void model_fill(model* bucket, uint64_t now_us)
{
    if (bucket->rate == 0) {
        bucket->filled_us = now_us;
        return;
    }
    const int64_t full = bucket->depth_bits * PARTS;
    // Seconds at most pass between two calls: no product is near the end of 64 bits.
    bucket->level += (int64_t)(now_us - bucket->filled_us) * bucket->rate;
    bucket->level = bucket->level < full ? bucket->level : full;
    bucket->filled_us = now_us;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void account_change(account* it, int64_t rate, int64_t depth)
{
    it->is_unlimited |= it->rate == 0 || rate == 0;
    it->rate = it->rate == 0 || rate == 0 ? it->rate + rate : least(it->rate, rate);
    it->depth_bits = least(it->depth_bits, depth);
    it->level = least(it->level, it->depth_bits * PARTS);
    it->next_rate = rate;
    it->next_depth_bits = depth;
}

// The world is told the time. Without a limit nothing is saved up.
static void account_pass(account* it, uint64_t now_us)
{
    it->level += it->is_unlimited ? 0 : (int64_t)(now_us - it->filled_us) * it->rate;
    it->level = least(it->level, it->depth_bits * PARTS);
    it->is_unlimited = false;
    it->filled_us = now_us;
    it->rate = it->next_rate;
    it->depth_bits = it->next_depth_bits;
    it->level = least(it->level, it->depth_bits * PARTS);
}

// The first send finds a full bucket of the budget of that moment.
static void account_begin(account* it, const model* bucket, uint64_t now_us)
{
    *it = (account){.level = bucket->depth_bits * PARTS,
                    .rate = bucket->rate,
                    .depth_bits = bucket->depth_bits,
                    .next_rate = bucket->rate,
                    .next_depth_bits = bucket->depth_bits,
                    .filled_us = now_us};
}

static int64_t account_bits(const account* it)
{
    return it->rate == 0 ? INT64_MAX : it->level / PARTS;
}

static void model_begin(test_session* session, int viewer)
{
    test_state* state = session->context;
    const ph_viewer_def* def = &session->viewers[viewer].def;
    state->additions[viewer] = (addition){0};
    const int64_t depth = depth_bits(session, viewer, def->bits_per_second, def->burst_bits);
    state->models[viewer] = (model){.level = depth * PARTS,
                                    .rate = def->bits_per_second,
                                    .depth_bits = depth,
                                    .filled_us = session->now_us};
    memset(state->due_since_us[viewer], 0, sizeof state->due_since_us[viewer]);
}

static void pay_for(test_session* session, int viewer, size_t size)
{
    test_state* state = session->context;
    model* bucket = &state->models[viewer];
    assert_in_range(size, 1, PH_PAYLOAD_MAX);
    if (bucket->rate == 0) {
        return;
    }
    model_fill(bucket, session->now_us);
    const size_t wire_bytes = size + (size_t)session->viewers[viewer].def.overhead_bytes;
    bucket->level -= 8 * (int64_t)wire_bytes * PARTS;
    state->accounts[viewer].level -= 8 * (int64_t)wire_bytes * PARTS;
    if (bucket->level < 0) {
        fail_msg("%s: viewer %d is %lld millionths of a bit over its budget of %lld",
                 session_label(session), viewer, (long long)-bucket->level,
                 (long long)bucket->rate);
    }
}

static void pay(test_session* session, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    addition* added = &((test_state*)session->context)->additions[viewer];
    const int bytes_added = added->each_bytes + added->next_bytes;
    added->sum_bytes += (uint64_t)bytes_added;
    added->next_bytes = 0;
    assert_true(size >= 1);
    pay_for(session, viewer, size + (size_t)bytes_added);
}

static void change_budget(test_session* session, int viewer)
{
    test_state* state = session->context;
    model* bucket = &state->models[viewer];
    const bool is_unlimited = test_rng_below(&session->rng, 8) == 0;
    int rate = 0;
    if (!is_unlimited) {
        rate = session->def.is_wide ? draw_budget(&session->rng, 1000)
                                    : (int)(2000.0 * pow(500.0, test_rng_unit(&session->rng)));
    }
    const bool is_burst = test_rng_below(&session->rng, 2) == 0;
    int burst = 0;
    if (is_burst) {
        burst = session->def.is_wide ? draw_burst(&session->rng)
                                     : (int)test_rng_below(&session->rng, 50000);
    }
    assert_int_equal(ph_viewer_set_budget(session->world, session->viewers[viewer].id, rate, burst),
                     PH_OK);
    model_fill(bucket, session->now_us);
    bucket->rate = rate;
    bucket->depth_bits = depth_bits(session, viewer, rate, burst);
    bucket->level = !bucket->is_started ? bucket->depth_bits * PARTS
                                        : least(bucket->level, bucket->depth_bits * PARTS);
    model_fill(bucket, session->now_us);
    account_change(&state->accounts[viewer], rate, bucket->depth_bits);
}

// ---- what the caller adds

// The bucket is deep enough for the dearest datagram beside the most that was ever added.
static void deepen(test_session* session, int viewer)
{
    test_state* state = session->context;
    model* bucket = &state->models[viewer];
    addition* added = &state->additions[viewer];
    const int both = added->each_bytes + added->next_bytes;
    added->peak_bytes = both > added->peak_bytes ? both : added->peak_bytes;
    const int64_t dearest = dearest_bits(session, viewer);
    if (dearest <= bucket->depth_bits) {
        return;
    }
    model_fill(bucket, session->now_us);
    bucket->depth_bits = dearest;
    bucket->level = bucket->is_started ? bucket->level : dearest * PARTS;
    account_change(&state->accounts[viewer], bucket->rate, dearest);
}

static void reserve(test_session* session, int viewer)
{
    addition* added = &((test_state*)session->context)->additions[viewer];
    const ph_viewer_id id = session->viewers[viewer].id;
    const int most = ph_viewer_reserve_max(session->world, id);
    if (test_rng_below(&session->rng, 4) == 0) {
        const int few = most < 60 ? most : 60;
        const int limit = test_rng_below(&session->rng, 4) == 0 ? most : few;
        added->each_bytes = (int)test_rng_below(&session->rng, (uint64_t)limit + 1);
    }
    const int left = most - added->each_bytes;
    added->next_bytes = (int)test_rng_below(&session->rng, (uint64_t)left + 1);
    assert_int_equal(ph_viewer_reserve(session->world, id, added->each_bytes, left + 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_reserve(session->world, id, added->each_bytes, added->next_bytes),
                     PH_OK);
    deepen(session, viewer);
}

// Paid for exactly when there is enough.
static void spend(test_session* session, int viewer)
{
    test_state* state = session->context;
    addition* added = &state->additions[viewer];
    const int bytes = 1 + (int)test_rng_below(&session->rng, PH_PAYLOAD_MAX);
    const int64_t bits = 8 * (int64_t)(bytes + session->viewers[viewer].def.overhead_bytes);
    const bool can_pay = account_bits(&state->accounts[viewer]) >= bits;
    const ph_result result =
        ph_viewer_spend(session->world, session->viewers[viewer].id, session->now_us, bytes);
    assert_int_equal(result, can_pay ? PH_OK : PH_ERROR_FULL);
    if (can_pay) {
        pay_for(session, viewer, (size_t)bytes);
        added->sum_bytes += (uint64_t)bytes;
        ++added->spent_count;
    }
}

// ---- one send

static void check_ledger(const test_session* session, int viewer, const ph_viewer_stats* stats)
{
    uint64_t sum = 0;
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        sum += stats->ledger.bits256[i];
    }
    uint64_t values = 0;
    for (int c = 0; c < ph_schema_class_count(session->schema); ++c) {
        for (int p = 0; p < session_property_count(session, c); ++p) {
            values += ph_viewer_property_bits256(session->world, session->viewers[viewer].id, c, p);
        }
    }
    assert_int_equal(sum, 2048 * stats->sent_payload_bytes);
    assert_int_equal(values, stats->ledger.bits256[PH_REASON_PROPERTY]);
    assert_true(stats->ledger.resent_bits256 <= sum);
    const addition* added = &((const test_state*)session->context)->additions[viewer];
    assert_int_equal(stats->sent_datagrams,
                     session->viewers[viewer].packet_count + added->spent_count);
    assert_int_equal(stats->ledger.bits256[PH_REASON_RESERVED], 2048 * added->sum_bytes);
    assert_int_equal(stats->sent_wire_bytes,
                     stats->sent_payload_bytes +
                         stats->sent_datagrams *
                             (uint64_t)session->viewers[viewer].def.overhead_bytes);
}

// Two things wait in the pinhole profile: news of an entity whose enter is in flight, and, unless
// half of the bucket is full and a datagram more, positions and orientations that are as fine as the
// viewer asks for.
static uint64_t may_wait(const ph_send_context* context, int slot, bool may_be_coarse)
{
    const ph_replicas* replicas = &context->sender->replicas;
    const int class_index = replicas->class_index[slot];
    if (replicas->state[slot] == PH_REPLICA_ENTERING) {
        return UINT64_MAX;
    }
    const ph_layout* layout = &context->store->class_info.layouts.layouts[class_index];
    return may_be_coarse ? layout->position | layout->orientation : 0;
}

static bool must_have_been_sent(const test_session* session, int viewer,
                                const ph_viewer_stats* stats)
{
    const ph_send_context context =
        ph_world_send_context(session->world, session->viewers[viewer].id.index1 - 1);
    const ph_sender* sender = context.sender;
    const ph_replicas* replicas = &sender->replicas;
    if (!sender->is_pinhole) {
        return true;
    }
    const bool may_be_coarse =
        sender->precision != 0 && sender->bits_per_second != 0 &&
        stats->token_bits <= sender->depth_bits / 2 + dearest_bits(session, viewer);
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        if (ph_replicas_is_leaving(replicas, slot)) {
            if (replicas->dirty[slot] != 0 && !ph_replicas_is_gone(replicas, slot)) {
                return true;
            }
            continue;
        }
        if (!ph_send_context_is_there(&context, slot)) {
            continue;
        }
        const uint64_t mask = ph_sender_mask(sender, session->world->store.class_count, slot);
        ph_place at;
        ph_diff due;
        ph_send_context_place(&context, slot, &at);
        ph_diff_compare(&context, &at, replicas->dirty[slot] & mask, NULL, &due);
        if (replicas->state[slot] == PH_REPLICA_ABSENT ||
            (due.different & ~may_wait(&context, slot, may_be_coarse)) != 0) {
            return true;
        }
    }
    return false;
}

// Tokens for anything, and not as many packets unresolved as there may be: then everything that is
// due goes out.
static void send_and_check(test_session* session, int viewer)
{
    model* bucket = &((test_state*)session->context)->models[viewer];
    account* said = &((test_state*)session->context)->accounts[viewer];
    const ph_viewer_id id = session->viewers[viewer].id;
    ph_viewer_stats stats;
    ph_viewer_get_stats(session->world, id, &stats);
    const bool was_due = stats.has_diff && stats.in_flight_count < PH_FLIGHT_MAX;
    const bool is_adding = ((test_state*)session->context)->is_adding;
    if (is_adding) {
        reserve(session, viewer);
    }
    if (!bucket->is_started) {
        account_begin(said, bucket, session->now_us);
    }
    bucket->is_started = true;
    account_pass(said, session->now_us);
    if (is_adding && test_rng_below(&session->rng, 2) == 0) {
        spend(session, viewer);
    }
    session_send_to(session, viewer);
    ph_viewer_get_stats(session->world, id, &stats);
    if (stats.token_bits != account_bits(said)) {
        fail_msg("%s: viewer %d has %lld bits left, by the rule %lld", session_label(session),
                 viewer, (long long)stats.token_bits, (long long)account_bits(said));
    }
    const bool can_pay = stats.token_bits >= dearest_bits(session, viewer);
    spoken_count[session->def.profile] += was_due && can_pay;
    if (stats.has_diff && stats.in_flight_count < PH_FLIGHT_MAX && can_pay &&
        must_have_been_sent(session, viewer, &stats)) {
        fail_msg("%s: a send to viewer %d left something due, %d in flight, and %lld bits for it",
                 session_label(session), viewer, stats.in_flight_count,
                 (long long)stats.token_bits);
    }
    check_ledger(session, viewer, &stats);
}

// Acknowledgements that tell something new tell the time as well.
static void note_answers(const test_session* session)
{
    test_state* state = session->context;
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client == NULL) {
            continue;
        }
        ph_viewer_stats stats;
        ph_viewer_get_stats(session->world, session->viewers[i].id, &stats);
        if (stats.new_acks != state->accounts[i].acks_new) {
            account_pass(&state->accounts[i], session->now_us);
        }
        state->accounts[i].acks_new = stats.new_acks;
    }
}

static void setup(test_session* session, test_state* state, const session_def* def)
{
    memset(state, 0, sizeof *state);
    session_setup(session, def);
    session->context = state;
    session->on_sent = pay;
    ph_layouts layouts;
    assert_int_equal(ph_layouts_create(&layouts, session->schema, &(ph_allocator){0}), PH_OK);
    state->enter_bits_max = layouts.enter_bits_max;
    ph_layouts_destroy(&layouts);
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL) {
            model_begin(session, i);
        }
    }
}

static void teardown(test_session* session)
{
    packet_count[session->def.profile] += session->packet_count;
    session_teardown(session);
}

// ---- tests

static void come_and_go(test_session* session)
{
    const int place = (int)test_rng_below(&session->rng, SESSION_VIEWERS_MAX);
    if (session->viewers[place].client == NULL) {
        const int joined = session_join(session);
        model_begin(session, joined);
    } else if (test_rng_below(&session->rng, 4) == 0) {
        session_leave(session, place);
    }
}

// Sends at any time, not only after a tick; budgets that change, several times at once.
static void run_one(const session_def* def, bool is_adding)
{
    static test_session session;
    static test_state state;
    setup(&session, &state, def);
    state.is_adding = is_adding;
    const int steps = def->is_wide ? session.wide.steps : 150;
    const uint64_t pause_us = def->is_wide ? 2 * (uint64_t)session.tick_us : 150000;
    for (int step = 0; step < steps; ++step) {
        session_stir(&session, def->is_wide ? session.wide.changes : 12);
        if (test_rng_below(&session.rng, 20) == 0) {
            come_and_go(&session);
        }
        session_tick(&session);
        for (int part = 0; part < 2; ++part) {
            for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
                if (session.viewers[i].client == NULL) {
                    continue;
                }
                while (i % 2 == 0 && test_rng_below(&session.rng, 10) == 0) {
                    change_budget(&session, i);
                }
                if (test_rng_below(&session.rng, 2) == 0) {
                    send_and_check(&session, i);
                }
            }
            session_exchange(&session);
            note_answers(&session);
            session.now_us += test_rng_below(&session.rng, pause_us);
        }
    }
    teardown(&session);
}

static session_def def_of(ph_profile profile, int number, uint64_t seed, ph_vision_kind vision)
{
    return (session_def){
        .seed = seed,
        .schema = (session_schema)(number % SESSION_SCHEMA_COUNT),
        .vision = vision,
        .profile = profile,
        .is_viewing_steady = true,
        .entity_count = 60,
        .viewer_count = 4,
        .network = {.delay_us = 20000u * (uint32_t)(number % 4),
                    .jitter_us = 100000u * (uint32_t)(number % 3),
                    .loss = 0.1 * (number % 6),
                    .duplication = 0.1 * (number % 2)},
    };
}

static void run_all(ph_profile profile, ph_vision_kind vision)
{
    for (int i = 0; i < 56; ++i) {
        const uint64_t seed = (uint64_t)i + (vision == PH_VISION_GROUPS ? 5000 : 4000);
        const session_def def = def_of(profile, i, seed, vision);
        run_one(&def, false);
    }
}

// Fifteen seconds' worth, saved up at 2,325 bit/s, and losses: more in flight than the rate alone
// would ever bring there.
static void a_large_burst_is_spent(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        const session_def def = def_of((ph_profile)profile, 5, 13005005, PH_VISION_GROUPS);
        run_one(&def, false);
    }
}

static void no_datagram_is_over_the_budget_by_grid(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GRID);
}

static void no_datagram_is_over_the_budget_by_grid_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GRID);
}

static void no_datagram_is_over_the_budget_by_groups(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GROUPS);
}

static void no_datagram_is_over_the_budget_by_groups_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GROUPS);
}

// Up to all that can be added, to each or to the next one, and datagrams of any size beside them.
static void what_the_caller_adds_is_in_the_budget(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        for (int i = 0; i < 28; ++i) {
            const session_def def =
                def_of((ph_profile)profile, i, (uint64_t)i + 7000, PH_VISION_GRID);
            run_one(&def, true);
        }
    }
}

// The whole range of every def field.
static void run_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = {.seed = 30000 + (uint64_t)i,
                                 .is_wide = true,
                                 .is_viewing_steady = true,
                                 .profile = profile};
        run_one(&def, i % 3 == 0);
    }
    draw_end();
}

static void no_datagram_is_over_the_budget_at_any_setting(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_CLASSIC);
}

static void no_datagram_is_over_the_budget_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_PINHOLE);
}

// A record of a slot came: whatever is due now has waited since then at most.
static void note_service(test_session* session, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    (void)size;
    test_state* state = session->context;
    ph_event event;
    while (ph_client_poll(session->viewers[viewer].client, &event)) {
        state->due_since_us[viewer][event.entity.index1 - 1] = 0;
    }
}

static void check_max_starve(test_session* session, int viewer)
{
    test_state* state = session->context;
    const session_viewer* seer = &session->viewers[viewer];
    const double sends_per_second = seer->def.sends_per_second;
    const double period_us = sends_per_second > 0.0 ? 1e6 / sends_per_second : 1e6;
    const double drain_us = 4.0 * seer->def.slot_count * (double)dearest_bits(session, viewer) *
                            1e6 / seer->def.bits_per_second;
    const double bound_us = 1000.0 * seer->def.max_starve_ms + period_us + drain_us;
    for (int slot = 0; slot < seer->def.slot_count; ++slot) {
        uint64_t* since_us = &state->due_since_us[viewer][slot];
        if (session_is_slot_equal(session, viewer, slot)) {
            *since_us = 0;
            continue;
        }
        *since_us = *since_us == 0 ? session->now_us : *since_us;
        if ((double)(session->now_us - *since_us) > bound_us) {
            fail_msg("%s: slot %d of viewer %d has waited for %.1f s, more than %.1f s",
                     session_label(session), slot, viewer,
                     (double)(session->now_us - *since_us) * 1e-6, bound_us * 1e-6);
        }
    }
}

// All entities move all the time; a few do not matter to the viewers at all.
static void wait_at_most(ph_profile profile)
{
    static test_session session;
    static test_state state;
    for (int i = 0; i < 12; ++i) {
        const session_def def = {
            .seed = 6000 + (uint64_t)i,
            .schema = (session_schema)(i % SESSION_SCHEMA_COUNT),
            .vision = i % 2 == 0 ? PH_VISION_GRID : PH_VISION_GROUPS,
            .profile = profile,
            .is_viewing_steady = true,
            .is_restless = true,
            .entity_count = 30,
            .viewer_count = 2,
            .visible_max = 10,
            .bits_per_second = i % 3 == 0 ? 2000 : 6000,
        };
        setup(&session, &state, &def);
        session.on_received = note_service;
        for (int step = 0; step < 900; ++step) {
            for (int e = 0; e < session.entity_count; ++e) {
                session_walk(&session, e, 500);
                ph_viewer_set_hint(session.world, session.viewers[e % 2].id, session.ids[e],
                                   e % 3 == 0 ? 0.0 : 1.0);
            }
            session_stir(&session, 2);
            session_step(&session);
            if (step % 5 == 0) {
                check_max_starve(&session, 0);
                check_max_starve(&session, 1);
            }
        }
        teardown(&session);
    }
}

static void no_entity_waits_longer_than_the_bound(void** state)
{
    (void)state;
    wait_at_most(PH_PROFILE_CLASSIC);
}

static void no_entity_waits_longer_than_the_bound_in_pinhole(void** state)
{
    (void)state;
    wait_at_most(PH_PROFILE_PINHOLE);
}

static void many_packets_were_paid_for(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        assert_true(packet_count[profile] > 50000);
        assert_true(spoken_count[profile] > 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_datagram_is_over_the_budget_by_grid),
        cmocka_unit_test(no_datagram_is_over_the_budget_by_grid_in_pinhole),
        cmocka_unit_test(no_datagram_is_over_the_budget_by_groups),
        cmocka_unit_test(no_datagram_is_over_the_budget_by_groups_in_pinhole),
        cmocka_unit_test(a_large_burst_is_spent),
        cmocka_unit_test(what_the_caller_adds_is_in_the_budget),
        draw_unit_test(no_datagram_is_over_the_budget_at_any_setting),
        draw_unit_test(no_datagram_is_over_the_budget_at_any_setting_in_pinhole),
        cmocka_unit_test(no_entity_waits_longer_than_the_bound),
        cmocka_unit_test(no_entity_waits_longer_than_the_bound_in_pinhole),
        cmocka_unit_test(many_packets_were_paid_for),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
