// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Simulation servers one behaviour at a time: who owns what, what a takeover and a release take, what those who may not
// see an entity get to hear, and what becomes of messages that no sim would write. test_bus_chaos.c has the rest.

#include "support/bus_stage.h"
#include "support/test_memory.h"

#include "bus/bus_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bus_stage stage;

static void begin(const bus_stage_def* def)
{
    bus_stage_setup(&stage, def);
    bus_stage_run_until_covered(&stage);
    assert_string_equal(stage.wrong, "");
}

static void end(void)
{
    if (stage.wrong[0] != '\0') {
        print_error("%s\n", stage.wrong);
    }
    assert_string_equal(stage.wrong, "");
    bus_stage_teardown(&stage);
}

static int owner_of(int region)
{
    for (int i = 0; i < STAGE_SIMS; ++i) {
        if (stage.sims[i].sim != NULL && ph_bus_sim_owns_region(stage.sims[i].sim, region)) {
            return i;
        }
    }
    return -1;
}

// ---- ownership

static void one_sim_owns_each_region_and_another_stands_by(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 1});
    const ph_bus_sim_stats owner = ph_bus_sim_get_stats(stage.sims[owner_of(0)].sim);
    assert_int_equal(owner.owned_regions, 1);
    assert_int_equal(owner.covered_regions, 1);
    assert_int_equal(owner.standby_regions, 0);
    const ph_bus_sim_stats standby = ph_bus_sim_get_stats(stage.sims[1 - owner_of(0)].sim);
    assert_int_equal(standby.owned_regions, 0);
    assert_int_equal(standby.standby_regions, 1);
    assert_int_equal(standby.entities, 0);
    bus_stage_settle(&stage);
    end();
}

static void a_standby_takes_over_after_suspect_ms(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 2});
    stage.is_talking = true;
    bus_stage_run(&stage, 1000);
    const int dead = owner_of(0);
    bus_stage_kill(&stage, dead);
    bus_stage_run(&stage, 650);
    assert_int_equal(owner_of(0), -1);
    bus_stage_run(&stage, 450);
    assert_int_equal(owner_of(0), 1 - dead);
    assert_int_equal(ph_bus_sim_get_stats(stage.sims[1 - dead].sim).takeovers, 1);
    bus_stage_settle(&stage);
    end();
}

static void a_release_moves_all_regions_without_a_takeover_by_silence(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 3, .layout = 1});
    stage.is_talking = true;
    bus_stage_run(&stage, 1000);
    const int giver = owner_of(0);
    ph_bus_sim_release(stage.sims[giver].sim);
    bus_stage_run(&stage, 1000);
    assert_int_equal(ph_bus_sim_region_count(stage.sims[giver].sim), 0);
    assert_int_equal(owner_of(0), 1 - giver);
    assert_int_equal(owner_of(1), 1 - giver);
    bus_stage_settle(&stage);
    end();
}

static bool is_record_of(int region, const char* name)
{
    char key[PH_BUS_SUBJECT_MAX];
    const uint8_t* bytes;
    size_t size;
    bus_ownership record;
    bus_record_key(key, "w", region);
    return memory_bus_get_record(stage.bus, key, &bytes, &size) != 0 &&
           bus_read_ownership(&record, bytes, size) && strcmp(record.sim, name) == 0;
}

// Released while its question for the record is under way, or the swap that it has led to.
static void a_sim_that_is_released_before_it_owns_anything_takes_nothing(void** state)
{
    (void)state;
    for (int ms = 50; ms <= 600; ms += 50) {
        bus_stage_setup(
            &stage, &(bus_stage_def){.seed = 17,
                                     .layout = 1,
                                     .bus = {.answer_min_us = 220000, .answer_max_us = 230000}});
        bus_stage_kill(&stage, 1);
        bus_stage_run(&stage, ms);
        const bool was_owner = ph_bus_sim_region_count(stage.sims[0].sim) > 0;
        const bool was_asking = !is_record_of(0, "sim0-0");
        ph_bus_sim_release(stage.sims[0].sim);
        for (int i = 0; i < 60; ++i) {
            bus_stage_run(&stage, 50);
            assert_true(was_owner || ph_bus_sim_region_count(stage.sims[0].sim) == 0);
        }
        assert_true(!was_asking || ms > 200 || !is_record_of(0, "sim0-0"));
        assert_true(ms > 50 || was_asking);
        if (!was_owner) {
            bus_stage_start(&stage, 1);
            bus_stage_run(&stage, 4000);
            assert_int_equal(owner_of(0), 1);
            assert_int_equal(owner_of(1), 1);
            stage.wrong[0] =
                '\0'; // a swap that had gone out counts as an owner: of epoch 2 and new
        }
        end();
    }
}

static void names_of_front_ends_that_there_are_not_take_no_memory(void** state)
{
    (void)state;
    test_memory memory = {0};
    begin(&(bus_stage_def){.seed = 13, .allocator = test_memory_allocator(&memory)});
    stage.is_talking = true;
    bus_stage_run(&stage, 2000);
    const stage_player* player = &stage.players[0];
    assert_true(player->is_attached);
    const ph_bus_transport transport = memory_bus_transport(stage.bus, memory_bus_add(stage.bus));
    const size_t before = memory.live_bytes;
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    for (int i = 0; i < 4000; ++i) {
        bus_items head = {.kind = BUS_UP, .region = player->region};
        const bus_item item = {.kind = BUS_ITEM_DETACH, // of an older connection: that one is told
                               .client_id = player->client_id,
                               .generation = 1,
                               .key = player->key};
        char subject[PH_BUS_SUBJECT_MAX];
        snprintf(head.name, sizeof head.name, "front-%d", i);
        bus_subject_region(subject, "in", "w", player->region);
        bus_writer_clear(&writer);
        bus_items_begin(&writer, &head);
        assert_true(bus_items_add(&writer, &item) && bus_items_end(&writer, 1));
        transport.publish(transport.context, subject, writer.bytes, writer.size);
    }
    bus_writer_destroy(&writer);
    bus_stage_run(&stage, 500);
    assert_true(memory.live_bytes < before + 1000000);
    bus_stage_settle(&stage);
    end();
    test_memory_assert_clean(&memory);
}

// ---- leases

// A standby that waits for longer than a silent one is otherwise known.
static void an_owner_that_is_cut_off_stops_before_a_patient_standby_begins(void** state)
{
    (void)state;
    begin(&(bus_stage_def){
        .seed = 9, .suspect_ms = 20000, .bus = {.notice_max_us = UINT64_C(1000000000)}});
    const int owner = owner_of(0);
    memory_bus_cut(stage.bus, stage.sims[owner].endpoint);
    bus_stage_run(&stage, 9000);
    assert_true(ph_bus_sim_owns_region(stage.sims[owner].sim, 0));
    bus_stage_run(&stage, 9000);
    assert_false(ph_bus_sim_owns_region(stage.sims[owner].sim, 0));
    bus_stage_run(&stage,
                  32000); // its last proof may have come through, and the standby waits anew
    assert_false(ph_bus_sim_owns_region(stage.sims[owner].sim, 0));
    assert_true(ph_bus_sim_owns_region(stage.sims[1 - owner].sim, 0));
    assert_string_equal(stage.wrong, "");
    bus_stage_teardown(&stage);
}

// Standbys of region 0 that do nothing but echo.
static void echo(const ph_bus_transport* transport, int count)
{
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    for (ph_bus_message message; transport->next(transport->context, &message);) {
        bus_beat beat;
        ph_bus_refusal refusal;
        if (!bus_read_beat(&beat, message.bytes, message.size, &refusal) ||
            beat.role != BUS_ROLE_OWNER) {
            continue;
        }
        for (int i = 0; i < count; ++i) {
            bus_beat answer = {.role = BUS_ROLE_STANDBY, .epoch = beat.epoch, .stamp = beat.stamp};
            snprintf(answer.sim, sizeof answer.sim, "echo%d", i);
            bus_writer_clear(&writer);
            assert_true(bus_write_beat(&writer, &answer));
            transport->publish(transport->context, "beat.w.0", writer.bytes, writer.size);
        }
    }
    bus_writer_destroy(&writer);
}

static uint64_t verifications_of(int ms, int sim, const ph_bus_transport* echoes, int count)
{
    const uint64_t before = ph_bus_sim_get_stats(stage.sims[sim].sim).verifications;
    for (int i = 0; i < ms; i += 50) {
        bus_stage_run(&stage, 50);
        echo(echoes, count);
    }
    return ph_bus_sim_get_stats(stage.sims[sim].sim).verifications - before;
}

static void a_standby_that_the_owner_has_no_room_for_makes_it_prove_itself(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 10});
    const ph_bus_transport echoes = memory_bus_transport(stage.bus, memory_bus_add(stage.bus));
    echoes.subscribe(echoes.context, "beat.w.0");
    const int owner = owner_of(0);
    assert_int_equal(verifications_of(3000, owner, &echoes, 3), 0);
    assert_true(verifications_of(500, owner, &echoes, 4) > 0);
    assert_true(verifications_of(3000, owner, &echoes, 3) >
                4); // the fourth is silent, and may be about to take over
    assert_int_equal(owner_of(0), owner);
    assert_string_equal(stage.wrong, "");
    bus_stage_teardown(&stage);
}

// Were beats of the own name ignored, both would own the region.
static void two_sims_of_one_name_never_own_the_same_region(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 9, .layout = 1});
    bus_stage_kill(&stage, 1); // sim 0 owns both regions, alone
    bus_stage_run(&stage, 12000);
    assert_int_equal(stage.sims[0].error.result, PH_OK);
    stage.sims[2].is_namesake = true;
    stage.sims[2].wanted[0] = 0;
    stage.sims[2].wanted[1] = 1;
    stage.sims[2].wanted_count = 2;
    bus_stage_start(&stage, 2);
    bus_stage_run(&stage, 5000);
    assert_int_equal(ph_bus_sim_region_count(stage.sims[0].sim), 2);
    assert_int_equal(ph_bus_sim_region_count(stage.sims[2].sim), 0);
    assert_int_equal(stage.sims[2].error.result, PH_ERROR_TAKEN);
    assert_non_null(strstr(stage.sims[2].error.text, "another sim is named sim0-0, too"));
    bus_stage_settle(&stage);
    end();
}

// ---- without a standby

static void players_are_served_without_a_standby(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 4, .layout = 1});
    const int standby = 1 - owner_of(0);
    bus_stage_kill(&stage, standby);
    stage.is_talking = true;
    bus_stage_run(&stage, 4000);
    bus_stage_settle(&stage);
    assert_true(stage.players[0].confirmed > 20);
    end();
}

static void play_goes_on_while_the_records_are_away(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 5});
    memory_bus_set_records_available(stage.bus, false);
    stage.is_talking = true;
    for (int i = 0; i < 100; ++i) {
        bus_stage_run(&stage, 50);
        assert_int_not_equal(owner_of(0), -1);
        assert_int_not_equal(owner_of(1), -1);
    }
    bus_stage_settle(&stage);
    end();
}

// ---- secrecy

static uint64_t digest_of_run(bool has_hidden, const char* pattern)
{
    begin(&(bus_stage_def){.seed = 6, .has_hidden = has_hidden, .bus = {.has_log = true}});
    stage.is_talking = true;
    bus_stage_run(&stage, 6000);
    stage.is_moving = false; // heartbeats alone
    stage.is_talking = false;
    bus_stage_run(&stage, 4000);
    const uint64_t digest = memory_bus_log_digest(stage.bus, pattern);
    end();
    return digest;
}

static void hidden_entities_change_nothing_that_others_hear(void** state)
{
    (void)state;
    static const char* const HEARD[] = {"cell.w.*.*.*.*.pub.*", "to.w.front1", "to.w.driver"};
    for (int i = 0; i < 3; ++i) {
        assert_true(digest_of_run(true, HEARD[i]) == digest_of_run(false, HEARD[i]));
    }
    assert_true(digest_of_run(true, "cell.>") != digest_of_run(false, "cell.>"));
}

// ---- hostile

// What was said before, on the same subject or on another one, with some bytes changed; or noise.
static void throw_one(const ph_bus_transport* t, test_rng* rng)
{
    int count;
    const memory_bus_entry* log = memory_bus_log(stage.bus, &count);
    const memory_bus_entry* it = &log[test_rng_below(rng, (uint64_t)count)];
    char subject[PH_BUS_SUBJECT_MAX];
    memcpy(subject, it->subject, sizeof subject);
    if (test_rng_below(rng, 8) == 0) {
        memcpy(subject, log[test_rng_below(rng, (uint64_t)count)].subject, sizeof subject);
    }
    size_t size = it->size;
    uint8_t* bytes = malloc(size + 1);
    memcpy(bytes, it->bytes, size);
    const int changes = (int)test_rng_below(rng, 4);
    for (int i = 0; i < changes && size > 0; ++i) {
        const size_t reach = test_rng_below(rng, 2) == 0 && size > 40 ? 40 : size;
        bytes[test_rng_below(rng, reach)] = (uint8_t)test_rng_next(rng);
    }
    if (test_rng_below(rng, 16) == 0) {
        size = test_rng_below(rng, size + 1);
    }
    t->publish(t->context, subject, bytes, size);
    free(bytes);
}

static void messages_of_anybody_break_nothing(void** state)
{
    (void)state;
    uint64_t refused_count = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        begin(&(bus_stage_def){.seed = seed, .layout = (int)(seed % 3), .bus = {.has_log = true}});
        stage.is_talking = true;
        bus_stage_run(&stage, 1500);
        const int stranger = memory_bus_add(stage.bus);
        const ph_bus_transport transport = memory_bus_transport(stage.bus, stranger);
        test_rng rng = {.state = seed};
        for (int i = 0; i < 60; ++i) {
            for (int j = 0; j < 40; ++j) {
                throw_one(&transport, &rng);
            }
            bus_stage_run(&stage, 50);
        }
        for (int i = 0; i < STAGE_SIMS; ++i) {
            for (int r = 0; r < 16 && stage.sims[i].sim != NULL; ++r) {
                refused_count += ph_bus_sim_get_stats(stage.sims[i].sim).refused[r];
            }
        }
        bus_stage_teardown(&stage); // a lie that is well-formed may be believed: not judged
    }
    assert_true(refused_count > 1000);
}

static void lies_about_ownership_take_nothing_away(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 7});
    const int stranger = memory_bus_add(stage.bus);
    const ph_bus_transport transport = memory_bus_transport(stage.bus, stranger);
    const int owner = owner_of(0);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_write_beat(&writer, &(bus_beat){.epoch = 4000, .stamp = 5, .sim = "liar"});
    transport.publish(transport.context, "beat.w.0", writer.bytes, writer.size);
    bus_writer_clear(&writer);
    bus_write_accept(&writer, &(bus_accept){.from_region = 1, .key = STAGE_KEY(3), .count = 2});
    transport.publish(transport.context, "hand.w.0", writer.bytes, writer.size);
    bus_writer_destroy(&writer);
    bus_stage_run(&stage, 20000);
    assert_int_equal(owner_of(0), owner);
    bus_stage_run_until_covered(&stage);
    bus_stage_settle(&stage);
    end();
}

// What the owner of region 0 has just offered to that of region 1, as one of its 2^32nd owner.
static void an_offer_of_the_last_owner_that_can_be_counted_is_refused(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 18, .bus = {.has_log = true}});
    const ph_bus_transport stranger = memory_bus_transport(stage.bus, memory_bus_add(stage.bus));
    const int owner = owner_of(1);
    bus_offer offer;
    ph_bus_refusal refusal;
    bool is_found = false;
    for (int i = 0; i < 200 && !is_found; ++i) {
        bus_stage_run(&stage, 50);
        int count;
        const memory_bus_entry* log = memory_bus_log(stage.bus, &count);
        for (int j = 0; j < count && !is_found; ++j) {
            is_found = strcmp(log[j].subject, "hand.w.1") == 0 &&
                       bus_read_offer(&offer, log[j].bytes, log[j].size, &refusal);
        }
    }
    assert_true(is_found);
    const uint64_t before =
        ph_bus_sim_get_stats(stage.sims[owner].sim).refused[PH_BUS_REFUSAL_FIELD];
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_offer(&writer, &offer));
    memset(writer.bytes + 18, 0xFF, 4); // the count
    stranger.publish(stranger.context, "hand.w.1", writer.bytes, writer.size);
    bus_writer_destroy(&writer);
    bus_stage_run(&stage, 100);
    assert_int_equal(ph_bus_sim_get_stats(stage.sims[owner].sim).refused[PH_BUS_REFUSAL_FIELD],
                     before + 1);
    bus_stage_run(&stage, 3000);
    bus_stage_settle(&stage);
    end();
}

// An entity of region 0 as its owner would offer it, had it had almost all owners that can be counted.
static size_t write_entity_of_many_owners(uint8_t* bytes, uint64_t* key)
{
    ph_world* world = stage.sims[owner_of(0)].world;
    ph_exporter_def def = ph_exporter_def_default();
    def.world = world;
    def.cell_mm = STAGE_CELL_MM;
    def.owner = PH_REGION_OWNER(0);
    def.as_owner = def.owner;
    ph_exporter* exporter;
    assert_int_equal(ph_exporter_create(&def, &exporter), PH_OK);
    size_t size = 0;
    for (int i = STAGE_PLAYERS; i < STAGE_WALKERS && size == 0; ++i) {
        const ph_entity_id entity = ph_world_find(world, STAGE_KEY(i));
        ph_ownership before;
        if (!ph_bus_sim_owns(stage.sims[owner_of(0)].sim, entity)) {
            continue;
        }
        *key = STAGE_KEY(i);
        ph_world_get_ownership(world, entity, &before);
        ph_world_set_ownership(world, entity, (ph_ownership){before.owner, UINT32_MAX - 2});
        size = ph_exporter_entity(exporter, entity, 1, bytes, PH_EXPORT_BATCH_BYTES_MIN);
        ph_world_set_ownership(world, entity, before);
    }
    ph_exporter_destroy(exporter);
    assert_true(size > 0);
    return size;
}

// It is believed, as a lie that is well-formed may be; but there is no count to offer it again with.
static void an_entity_whose_owners_can_be_counted_no_further_stays(void** state)
{
    (void)state;
    static uint8_t bytes[PH_EXPORT_BATCH_BYTES_MIN];
    begin(&(bus_stage_def){.seed = 19});
    const ph_bus_transport stranger = memory_bus_transport(stage.bus, memory_bus_add(stage.bus));
    const ph_bus_sim* sim = stage.sims[owner_of(1)].sim;
    bus_offer offer = {.from_epoch = 1, .to_region = 1, .count = UINT32_MAX - 1, .batch = bytes};
    offer.batch_size = write_entity_of_many_owners(bytes, &offer.key);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_offer(&writer, &offer));
    const uint64_t taken = ph_bus_sim_get_stats(sim).taken;
    stranger.publish(stranger.context, "hand.w.1", writer.bytes, writer.size);
    bus_writer_destroy(&writer);
    bus_stage_run(&stage, 50);
    assert_true(ph_bus_sim_get_stats(sim).taken > taken);
    bus_stage_run(&stage, 20000);
    assert_int_equal(ph_bus_sim_get_stats(sim).offered, 1);
    bus_stage_teardown(&stage);
}

// Behind the last epoch there is none, also for a sim that is told by an old read that no record is there.
static void the_last_epoch_of_all_is_a_lie(void** state)
{
    (void)state;
    bus_stage_setup(&stage,
                    &(bus_stage_def){.seed = 14, .layout = 1, .bus = {.stale_us = 20000000}});
    const ph_bus_transport stranger = memory_bus_transport(stage.bus, memory_bus_add(stage.bus));
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_write_beat(&writer, &(bus_beat){.epoch = UINT32_MAX, .stamp = 5, .sim = "liar"});
    for (int i = 0; i < 10; ++i) {
        bus_stage_run(&stage, 500);
        stranger.publish(stranger.context, "beat.w.0", writer.bytes, writer.size);
    }
    bus_writer_destroy(&writer);
    bus_stage_run(&stage, 40000);
    bus_stage_run_until_covered(&stage);
    end();
}

// ---- without memory

static test_rng memory_rng;
static unsigned failing_percent;

static void* allocate_now_and_then(void* context, size_t size)
{
    (void)context;
    return test_rng_below(&memory_rng, 100) < failing_percent ? NULL : malloc(size);
}

static void release_as_ever(void* context, void* memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static void regions_have_owners_again_when_there_is_memory_again(void** state)
{
    (void)state;
    for (uint64_t seed = 9; seed < 13; ++seed) {
        memory_rng.state = seed;
        bus_stage_setup(
            &stage, &(bus_stage_def){.seed = seed,
                                     .layout = (int)(seed % 3),
                                     .allocator = {allocate_now_and_then, release_as_ever, NULL}});
        failing_percent = 40;
        bus_stage_run(&stage, 2000);
        bus_stage_freeze(&stage, 0);
        bus_stage_run(&stage, 2000);
        bus_stage_thaw(&stage, 0);
        bus_stage_run(&stage, 2000);
        failing_percent = 0;
        bus_stage_run_until_covered(&stage);
        end();
    }
}

static void a_creation_without_memory_leaves_nothing_behind(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 12});
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        test_memory memory = {.fail_at = n};
        ph_bus_sim_def def = ph_bus_sim_def_default();
        def.transport = memory_bus_transport(stage.bus, stage.driver);
        def.world = stage.sims[0].world;
        def.world_name = "w";
        def.name = "new";
        def.regions = &(ph_region){.to = {1, 1}};
        def.region_count = 1;
        def.wanted = &(int){0};
        def.wanted_count = 1;
        def.allocator = test_memory_allocator(&memory);
        ph_bus_sim* sim;
        result = ph_bus_sim_create(&def, &sim);
        assert_int_equal(result, memory.allocate_count < n ? PH_OK : PH_ERROR_MEMORY);
        assert_true((sim != NULL) == (result == PH_OK));
        ph_bus_sim_destroy(sim);
        test_memory_assert_clean(&memory);
    }
    end();
}

// ---- defs

static ph_bus_sim_def def_of_a_new_sim(ph_error* error)
{
    static const int WANTED[] = {0};
    ph_bus_sim_def def = ph_bus_sim_def_default();
    def.on_error = ph_error_keep;
    def.on_error_context = error;
    def.transport = memory_bus_transport(stage.bus, stage.driver);
    def.world = stage.sims[0].world;
    def.world_name = "w";
    def.name = "new";
    def.wanted = WANTED;
    def.wanted_count = 1;
    return def;
}

static void regions_that_share_a_cell_are_refused_with_both_names(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 15});
    ph_error error = {0};
    ph_bus_sim_def def = def_of_a_new_sim(&error);
    ph_region map[] = {{0, {-9, -9}, {-1, 9}}, {6, {3, 0}, {9, 9}}, {7, {0, -9}, {3, 4}}};
    def.regions = map;
    def.region_count = 3;
    ph_bus_sim* sim;
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_ERROR_ARGUMENT);
    assert_null(sim);
    assert_string_equal(error.field, "ph_bus_sim_def.regions");
    assert_non_null(strstr(error.text, "cell (3, 0)"));
    assert_non_null(strstr(error.text, "regions 6 and 7"));
    map[2].to.x = 2; // side by side
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_OK);
    ph_bus_sim_destroy(sim);
    map[2] = (ph_region){6, {0, -9}, {9, -1}}; // a region of two rectangles
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_OK);
    ph_bus_sim_destroy(sim);
    end();
}

static void sims_that_divide_the_world_otherwise_are_told_of(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 16});
    bus_stage_run(&stage, 10000);
    for (int i = 0; i < STAGE_SIMS; ++i) {
        assert_string_equal(stage.sims[i].error.text, "");
    }
    end();
    begin(&(bus_stage_def){.seed = 16, .is_divided_otherwise = true});
    bus_stage_run(&stage, 10000);
    for (int region = 0; region < STAGE_REGIONS; ++region) {
        const ph_error* error = &stage.sims[owner_of(region)].error;
        assert_int_equal(error->result, PH_ERROR_ARGUMENT);
        assert_string_equal(error->field, "ph_bus_sim_def.regions");
        assert_non_null(strstr(error->text, "cell (0, "));
    }
    end();
}

// ---- the end

static void a_sim_that_is_destroyed_hears_nothing_more(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 11});
    const int ends[] = {owner_of(0), 1 - owner_of(0)}; // an owner, and one that stands by
    ph_bus_transport transports[2];
    for (int i = 0; i < 2; ++i) {
        transports[i] = memory_bus_transport(stage.bus, stage.sims[ends[i]].endpoint);
        ph_bus_sim_destroy(stage.sims[ends[i]].sim);
        stage.sims[ends[i]].sim = NULL;
        for (ph_bus_message message; transports[i].next(transports[i].context, &message);) {
        }
    }
    bus_stage_run(&stage, 100); // what was under way
    for (int i = 0; i < 2; ++i) {
        for (ph_bus_message message; transports[i].next(transports[i].context, &message);) {
        }
    }
    bus_stage_run(&stage, 1000);
    for (int i = 0; i < 2; ++i) {
        ph_bus_message message;
        assert_false(transports[i].next(transports[i].context, &message));
        ph_world_destroy(stage.sims[ends[i]].world);
    }
    bus_stage_teardown(&stage);
}

static void a_wrong_def_is_refused_with_a_sentence(void** state)
{
    (void)state;
    begin(&(bus_stage_def){.seed = 8});
    ph_error error = {0};
    ph_bus_sim_def def = {.on_error = ph_error_keep, .on_error_context = &error};
    ph_bus_sim* sim;
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_ERROR_ARGUMENT);
    def = ph_bus_sim_def_default();
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    def.transport = memory_bus_transport(stage.bus, stage.driver);
    def.world = stage.sims[0].world;
    def.world_name = "w.x";
    def.name = "sim";
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_ERROR_ARGUMENT);
    assert_string_equal(error.field, "ph_bus_sim_def.world_name");
    def.world_name = "w";
    def.verify_ms = 400;
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_ERROR_ARGUMENT);
    assert_string_equal(error.field, "ph_bus_sim_def.verify_ms");
    def.verify_ms = 300;
    assert_int_equal(ph_bus_sim_create(&def, &sim), PH_ERROR_ARGUMENT);
    assert_string_equal(error.field, "ph_bus_sim_def.region_count");
    assert_null(sim);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sim_owns_each_region_and_another_stands_by),
        cmocka_unit_test(a_standby_takes_over_after_suspect_ms),
        cmocka_unit_test(a_release_moves_all_regions_without_a_takeover_by_silence),
        cmocka_unit_test(a_sim_that_is_released_before_it_owns_anything_takes_nothing),
        cmocka_unit_test(names_of_front_ends_that_there_are_not_take_no_memory),
        cmocka_unit_test(an_owner_that_is_cut_off_stops_before_a_patient_standby_begins),
        cmocka_unit_test(a_standby_that_the_owner_has_no_room_for_makes_it_prove_itself),
        cmocka_unit_test(two_sims_of_one_name_never_own_the_same_region),
        cmocka_unit_test(players_are_served_without_a_standby),
        cmocka_unit_test(play_goes_on_while_the_records_are_away),
        cmocka_unit_test(hidden_entities_change_nothing_that_others_hear),
        cmocka_unit_test(messages_of_anybody_break_nothing),
        cmocka_unit_test(lies_about_ownership_take_nothing_away),
        cmocka_unit_test(an_offer_of_the_last_owner_that_can_be_counted_is_refused),
        cmocka_unit_test(an_entity_whose_owners_can_be_counted_no_further_stays),
        cmocka_unit_test(the_last_epoch_of_all_is_a_lie),
        cmocka_unit_test(regions_have_owners_again_when_there_is_memory_again),
        cmocka_unit_test(a_creation_without_memory_leaves_nothing_behind),
        cmocka_unit_test(regions_that_share_a_cell_are_refused_with_both_names),
        cmocka_unit_test(sims_that_divide_the_world_otherwise_are_told_of),
        cmocka_unit_test(a_sim_that_is_destroyed_hears_nothing_more),
        cmocka_unit_test(a_wrong_def_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
