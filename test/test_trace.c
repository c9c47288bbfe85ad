// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A trace names every bit of every datagram: its items add up to the payload, to the ledger, to the bits
// by property, and to the records that were counted, in whole sessions of both profiles.

#include "support/test_memory.h"
#include "support/test_session.h"

#include <pinhole/stats.h>

#include <string.h>

enum { WIDE_ROUNDS = 25, STEPS = 100 };

// What the items of one viewer sum up to.
typedef struct tally {
    const test_session* session;
    int viewer;
    ph_viewer_id id;        // {0}: not traced yet
    ph_viewer_stats before; // when it began
    uint64_t before_properties[PH_CLASSES_MAX][PH_PROPERTIES_MAX];
    uint64_t bits256[PH_REASON_COUNT];
    uint64_t properties[PH_CLASSES_MAX][PH_PROPERTIES_MAX];
    uint64_t resent256;
    uint64_t records[PH_REASON_COUNT]; // by the reason of their first item
    uint64_t datagrams;
    uint64_t probes;
    size_t size; // of the datagram that is about to leave
    uint32_t newest_sequence;
} tally;

static tally tallies[SESSION_VIEWERS_MAX];
static uint64_t resent_count;
static uint64_t leave_count;

// ---- one datagram

// The order of the packet; updates of slots that ascend.
static int rank_of(const ph_trace_item* item)
{
    static const int RANKS[PH_REASON_COUNT] = {
        [PH_REASON_HEADER] = 0,  [PH_REASON_HELLO] = 1,    [PH_REASON_EYE] = 2,
        [PH_REASON_LEAVE] = 3,   [PH_REASON_ENTER] = 4,    [PH_REASON_SLOT] = 5,
        [PH_REASON_MASK] = 5,    [PH_REASON_PROPERTY] = 5, [PH_REASON_PADDING] = 6,
        [PH_REASON_RESERVED] = 7};
    return RANKS[item->reason];
}

static void check_item(const tally* of, const ph_trace_item* item, const ph_trace_item* before)
{
    const bool is_of_entity = item->reason >= PH_REASON_LEAVE && item->reason <= PH_REASON_PROPERTY;
    assert_true(item->reason < PH_REASON_COUNT);
    assert_true(is_of_entity || item->slot == -1);
    assert_true(before == NULL || rank_of(before) <= rank_of(item));
    if (item->slot < 0) {
        assert_true(item->key == 0 && item->property == -1 && item->class_index == -1);
        assert_false(item->is_first || item->is_resent);
        return;
    }
    const session_shown* shown = &of->session->viewers[of->viewer].shown[item->slot];
    assert_true(item->key == shown->name);
    assert_int_equal(item->class_index, shown->class_index);
    assert_true(item->property < session_property_count(of->session, item->class_index));
    assert_true((item->property >= 0) ==
                (item->reason == PH_REASON_PROPERTY ||
                 (item->reason == PH_REASON_ENTER && item->property >= 0)));
    // A record goes on where it does not begin.
    assert_true(item->is_first || (before != NULL && before->slot == item->slot));
    if (!item->is_first && item->property >= 0 && before->property >= 0) {
        assert_true(item->property > before->property);
    }
    if (item->is_first && before != NULL && before->slot >= 0 && rank_of(before) == rank_of(item)) {
        assert_true(item->slot > before->slot);
    }
}

static void take_trace(void* context, const ph_packet_trace* trace)
{
    tally* of = context;
    uint64_t sum = 0;
    assert_int_equal(trace->viewer.index1, of->id.index1);
    assert_true(trace->now_us == of->session->now_us);
    for (int i = 0; i < trace->item_count; ++i) {
        const ph_trace_item* item = &trace->items[i];
        check_item(of, item, i > 0 ? item - 1 : NULL);
        sum += item->bits256;
        of->bits256[item->reason] += item->bits256;
        of->resent256 += item->is_resent ? item->bits256 : 0;
        of->records[item->reason] += item->is_first ? 1 : 0;
        if (item->reason == PH_REASON_PROPERTY) {
            of->properties[item->class_index][item->property] += item->bits256;
        }
    }
    assert_true(sum == 2048 * (uint64_t)trace->payload_bytes);
    assert_int_equal(trace->overhead_bytes, of->session->viewers[of->viewer].def.overhead_bytes);
    assert_true(of->datagrams == 0 ||
                trace->sequence - of->newest_sequence == (trace->is_probe ? 0u : 1u));
    of->newest_sequence = trace->sequence;
    of->size = (size_t)trace->payload_bytes;
    ++of->datagrams;
    of->probes += trace->is_probe ? 1 : 0;
}

// Each datagram had its trace just before.
static void hear_sent(test_session* session, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    if (memcmp(&session->viewers[viewer].id, &tallies[viewer].id, sizeof(ph_viewer_id)) != 0) {
        return; // it came within this step
    }
    assert_int_equal(tallies[viewer].size, size);
    tallies[viewer].size = 0;
}

// ---- a session

static uint64_t property_bits(const tally* of, int class_index, int property)
{
    return ph_viewer_property_bits256(of->session->world, of->id, class_index, property);
}

static void begin_tally(const test_session* session, int viewer)
{
    tally* of = &tallies[viewer];
    *of = (tally){.session = session, .viewer = viewer, .id = session->viewers[viewer].id};
    assert_int_equal(ph_viewer_get_stats(session->world, of->id, &of->before), PH_OK);
    for (int c = 0; c < ph_schema_class_count(session->schema); ++c) {
        for (int p = 0; p < session_property_count(session, c); ++p) {
            of->before_properties[c][p] = property_bits(of, c, p);
        }
    }
    assert_int_equal(ph_viewer_set_trace(session->world, of->id, take_trace, of), PH_OK);
}

static void compare(const tally* of)
{
    ph_viewer_stats now;
    const ph_viewer_stats* before = &of->before;
    assert_int_equal(ph_viewer_get_stats(of->session->world, of->id, &now), PH_OK);
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        assert_true(of->bits256[reason] ==
                    now.ledger.bits256[reason] - before->ledger.bits256[reason]);
    }
    for (int c = 0; c < ph_schema_class_count(of->session->schema); ++c) {
        for (int p = 0; p < session_property_count(of->session, c); ++p) {
            assert_true(of->properties[c][p] ==
                        property_bits(of, c, p) - of->before_properties[c][p]);
        }
    }
    assert_int_equal(of->datagrams, now.sent_datagrams - before->sent_datagrams);
    assert_int_equal(of->probes, now.sent_probes - before->sent_probes);
    assert_int_equal(of->records[PH_REASON_LEAVE], now.sent_leaves - before->sent_leaves);
    assert_int_equal(of->records[PH_REASON_ENTER], now.sent_enters - before->sent_enters);
    assert_int_equal(of->records[PH_REASON_SLOT] + of->records[PH_REASON_MASK] +
                         of->records[PH_REASON_PROPERTY],
                     now.sent_updates - before->sent_updates);
    // Rounding is taken back from items of any kind, but not from what was sent again: less than a byte each.
    const uint64_t resent256 = now.ledger.resent_bits256 - before->ledger.resent_bits256;
    const bool is_exact = of->session->def.profile == PH_PROFILE_CLASSIC;
    assert_true(of->resent256 <= resent256);
    assert_true(of->resent256 + (is_exact ? 0 : 2048 * of->datagrams) >= resent256);
}

static void step(test_session* session)
{
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        const ph_viewer_id id = session->viewers[i].id;
        if (id.index1 == 0) {
            tallies[i].id = id;
        } else if (memcmp(&id, &tallies[i].id, sizeof id) != 0) {
            begin_tally(session, i);
        }
    }
    session_step(session);
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        // A restless step may have removed it.
        const bool is_there =
            memcmp(&session->viewers[i].id, &tallies[i].id, sizeof tallies[i].id) == 0;
        if (tallies[i].id.index1 != 0 && is_there) {
            compare(&tallies[i]);
            resent_count += tallies[i].resent256 > 0 ? 1 : 0;
            leave_count += tallies[i].records[PH_REASON_LEAVE];
        }
    }
}

static void run(const session_def* def)
{
    static test_session session;
    memset(tallies, 0, sizeof tallies);
    session_setup(&session, def);
    session.on_sent = hear_sent;
    const int steps = def->is_wide ? session.wide.steps : STEPS;
    for (int i = 0; i < steps; ++i) {
        if (def->is_wide) {
            session_stir_wide(&session);
        } else {
            session_stir(&session, 12);
        }
        step(&session);
    }
    session_teardown(&session);
}

static void run_schemas(ph_profile profile)
{
    static const session_schema SCHEMAS[] = {SESSION_CREATURES, SESSION_WALKERS, SESSION_PEBBLES,
                                             SESSION_RANDOM, SESSION_RANDOM};
    resent_count = 0;
    leave_count = 0;
    for (size_t i = 0; i < sizeof SCHEMAS / sizeof SCHEMAS[0]; ++i) {
        const session_def def = {
            .seed = 40 + i,
            .schema = SCHEMAS[i],
            .profile = profile,
            .is_universal = i == 3,
            .entity_count = 50,
            .viewer_count = 4,
            .network = {.delay_us = 40000, .jitter_us = 30000, .loss = 0.25},
        };
        run(&def);
    }
    assert_true(resent_count > 0 && leave_count > 0); // they were seen at all
}

static void every_bit_is_named_in_classic(void** state)
{
    (void)state;
    run_schemas(PH_PROFILE_CLASSIC);
}

static void every_bit_is_named_in_pinhole(void** state)
{
    (void)state;
    run_schemas(PH_PROFILE_PINHOLE);
}

static void run_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = {
            .seed = 31000 + (uint64_t)i, .is_wide = true, .is_restless = true, .profile = profile};
        run(&def);
    }
    draw_end();
}

static void every_bit_is_named_at_any_setting(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_CLASSIC);
}

static void every_bit_is_named_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_PINHOLE);
}

// ---- one entity

typedef struct small {
    test_memory memory;
    ph_world* world;
    ph_viewer_id viewer;
    ph_schema* schema;
    ph_client* client;
    uint64_t now_us;
    ph_trace_item items[64]; // of the last datagram
    int item_count;
    int payload_bytes;
    int trace_count;
} small;

static void keep_trace(void* context, const ph_packet_trace* trace)
{
    small* f = context;
    assert_true(trace->item_count <= 64);
    memcpy(f->items, trace->items, (size_t)trace->item_count * sizeof *trace->items);
    f->item_count = trace->item_count;
    f->payload_bytes = trace->payload_bytes;
    ++f->trace_count;
}

static void hand_over(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const small* f = context;
    assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void small_step(small* f)
{
    uint8_t ack[PH_ACK_SIZE];
    f->now_us += SESSION_TICK_US;
    f->item_count = 0;
    ph_world_tick(f->world);
    assert_int_equal(ph_viewer_send(f->world, f->viewer, f->now_us, hand_over, f), PH_OK);
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size);
}

static void small_setup(small* f, ph_profile profile)
{
    const ph_property_def properties[] = {
        {.name = "place", .coding = PH_CODING_POSITION},
        {.name = "health", .coding = PH_CODING_RANGE, .hi = 100},
    };
    const ph_class_def walker = {.name = "walker", .properties = properties, .property_count = 2};
    *f = (small){.now_us = 1000000};
    assert_int_equal(ph_schema_create(&walker, 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = f->schema;
    world.profile = profile;
    world.allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_world_create(&world, &f->world), PH_OK);
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.session = 3;
    viewer.overhead_bytes = 48;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer, &f->viewer), PH_OK);
    ph_client_def client = ph_client_def_default();
    client.schema = f->schema;
    client.profile = profile;
    assert_int_equal(ph_client_create(&client, &f->client), PH_OK);
}

static void small_teardown(small* f)
{
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    test_memory_assert_clean(&f->memory);
}

static const ph_trace_item* find_item(const small* f, ph_reason reason, int property)
{
    for (int i = 0; i < f->item_count; ++i) {
        if (f->items[i].reason == reason && f->items[i].slot >= 0 &&
            f->items[i].property == property) {
            return &f->items[i];
        }
    }
    return NULL;
}

static void enter_update_and_leave_name_the_entity(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        small f;
        ph_entity_id entity;
        small_setup(&f, (ph_profile)profile);
        assert_int_equal(ph_viewer_set_trace(f.world, f.viewer, keep_trace, &f), PH_OK);
        const ph_spawn spawn = {.key = 777, .position_mm = {5000, 1000, 0}};
        assert_int_equal(ph_world_spawn(f.world, &spawn, &entity), PH_OK);
        small_step(&f);
        assert_non_null(find_item(&f, PH_REASON_ENTER, -1));
        assert_true(find_item(&f, PH_REASON_ENTER, -1)->key == 777);
        assert_true(find_item(&f, PH_REASON_ENTER, -1)->is_first);
        assert_true(find_item(&f, PH_REASON_ENTER, 0)->bits256 > 8 * 256);
        for (int i = 0; i < 10; ++i) {
            small_step(&f);
        }
        const uint8_t health = 42;
        assert_int_equal(
            ph_world_set_property(f.world, entity, 1, PH_FIELD_U8, &health, sizeof health), PH_OK);
        small_step(&f);
        assert_non_null(find_item(&f, PH_REASON_PROPERTY, 1));
        assert_true(find_item(&f, PH_REASON_PROPERTY, 1)->key == 777);
        assert_true(find_item(&f, PH_REASON_PROPERTY, 1)->bits256 > 2 * 256);
        assert_null(find_item(&f, PH_REASON_PROPERTY, 0));
        ph_world_despawn(f.world, entity);
        small_step(&f);
        assert_non_null(find_item(&f, PH_REASON_LEAVE, -1));
        assert_true(find_item(&f, PH_REASON_LEAVE, -1)->key == 777);
        small_teardown(&f);
    }
}

static void what_the_caller_adds_is_an_item(void** state)
{
    (void)state;
    small f;
    ph_entity_id entity;
    small_setup(&f, PH_PROFILE_PINHOLE);
    assert_int_equal(ph_viewer_set_trace(f.world, f.viewer, keep_trace, &f), PH_OK);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, 10, 5), PH_OK);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 1}, &entity), PH_OK);
    small_step(&f);
    const ph_trace_item* last = &f.items[f.item_count - 1];
    assert_int_equal(last->reason, PH_REASON_RESERVED);
    assert_int_equal(last->bits256, 15 * 2048);
    small_teardown(&f);
}

// From the middle of a session on, and no more; and memory is taken when it begins alone.
static void trace_begins_and_ends_when_asked(void** state)
{
    (void)state;
    small f;
    ph_entity_id entity;
    small_setup(&f, PH_PROFILE_CLASSIC);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 9}, &entity), PH_OK);
    small_step(&f);
    small_step(&f);
    assert_int_equal(f.trace_count, 0);
    assert_int_equal(ph_viewer_set_trace(f.world, f.viewer, keep_trace, &f), PH_OK);
    const int allocated = f.memory.allocate_count;
    ph_world_despawn(f.world, entity);
    small_step(&f);
    assert_int_equal(f.trace_count, 1);
    assert_true(find_item(&f, PH_REASON_LEAVE, -1)->key == 9); // its enter was not traced
    assert_int_equal(f.memory.allocate_count, allocated);
    assert_int_equal(ph_viewer_set_trace(f.world, f.viewer, NULL, NULL), PH_OK);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 10}, &entity), PH_OK);
    small_step(&f);
    assert_int_equal(f.trace_count, 1);
    assert_int_equal(ph_viewer_set_trace(f.world, (ph_viewer_id){0}, keep_trace, &f),
                     PH_ERROR_STALE);
    for (int nth = 1; nth <= 2; ++nth) {
        f.memory.fail_at = f.memory.allocate_count + nth;
        assert_int_equal(ph_viewer_set_trace(f.world, f.viewer, keep_trace, &f), PH_ERROR_MEMORY);
    }
    small_step(&f);
    assert_int_equal(f.trace_count, 1);
    small_teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_is_named_in_classic),
        cmocka_unit_test(every_bit_is_named_in_pinhole),
        draw_unit_test(every_bit_is_named_at_any_setting),
        draw_unit_test(every_bit_is_named_at_any_setting_in_pinhole),
        cmocka_unit_test(enter_update_and_leave_name_the_entity),
        cmocka_unit_test(what_the_caller_adds_is_an_item),
        cmocka_unit_test(trace_begins_and_ends_when_asked),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
