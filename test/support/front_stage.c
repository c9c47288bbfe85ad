// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "front_stage.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char SCHEMA[] = "class thing\n    place: position\n    hull: range 0..1000\n";
static front_stage the_stage;

enum { PLACE, HULL };

// ---- the script of a sim

static stage_stream* stream_of(stage_sim* sim, ph_cell cell, int channel)
{
    for (int i = 0; i < sim->stream_count; ++i) {
        stage_stream* stream = &sim->streams[i];
        if (ph_cell_is_same(stream->cell, cell) && stream->channel == channel) {
            return stream;
        }
    }
    assert_true(sim->stream_count < STAGE_STREAMS);
    sim->streams[sim->stream_count] = (stage_stream){.cell = cell, .channel = channel};
    return &sim->streams[sim->stream_count++];
}

static void publish_cell(stage_sim* sim, const bus_cell* head, const char* subject)
{
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_cell(&writer, head));
    sim->transport.publish(sim->transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
}

static void publish_changes(void* context, const ph_cell_batch* batch)
{
    stage_sim* sim = context;
    stage_stream* stream = stream_of(sim, batch->cell, batch->channel);
    ++stream->sequence;
    stream->said_us = sim->stage->now_us;
    if (sim->loses > 0) {
        --sim->loses;
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_cell(subject, "w", batch->cell, batch->channel, sim->region);
    const bus_cell head = {
        .region = sim->region,
        .epoch = sim->epoch,
        .cell = batch->cell,
        .channel = batch->channel,
        .sequence = stream->sequence,
        .batch = batch->bytes,
        .batch_size = batch->size,
    };
    publish_cell(sim, &head, subject);
}

static void publish_heartbeats(stage_sim* sim)
{
    for (int i = 0; i < sim->stream_count; ++i) {
        stage_stream* stream = &sim->streams[i];
        if (stream->sequence == 0 || sim->stage->now_us - stream->said_us < 500000) {
            continue;
        }
        stream->said_us = sim->stage->now_us;
        char subject[PH_BUS_SUBJECT_MAX];
        bus_subject_cell(subject, "w", stream->cell, stream->channel, sim->region);
        const bus_cell head = {
            .region = sim->region,
            .epoch = sim->epoch,
            .cell = stream->cell,
            .channel = stream->channel,
            .sequence = stream->sequence,
        };
        publish_cell(sim, &head, subject);
    }
}

typedef struct stage_answer {
    stage_sim* sim;
    const bus_snapshot* asked;
    uint16_t part;
} stage_answer;

static void publish_part(void* context, const ph_cell_batch* batch)
{
    stage_answer* answer = context;
    stage_sim* sim = answer->sim;
    ph_import_peek peek;
    assert_true(ph_importer_peek(batch->bytes, batch->size, &peek));
    const bus_cell head = {
        .region = sim->region,
        .epoch = sim->epoch,
        .cell = batch->cell,
        .channel = batch->channel,
        .is_snapshot = true,
        .part = answer->part++,
        .is_last_part = peek.last_key == UINT64_MAX,
        .sequence = stream_of(sim, batch->cell, batch->channel)->sequence,
        .batch = batch->bytes,
        .batch_size = batch->size,
    };
    ++sim->parts;
    if (sim->loses_parts > 0 && head.part > 0) {
        --sim->loses_parts;
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, "w", answer->asked->reply_to);
    publish_cell(sim, &head, subject);
}

static int region_of(ph_cell cell)
{
    return cell.x < 0 ? 0 : 1;
}

static bool has_channel(stage_sim* sim, ph_cell cell, int channel)
{
    for (int i = 0; i < sim->stream_count; ++i) {
        const stage_stream* stream = &sim->streams[i];
        if (ph_cell_is_same(stream->cell, cell) && stream->channel == channel) {
            return true;
        }
    }
    return false;
}

static void answer_snapshot(stage_sim* sim, const bus_snapshot* asked)
{
    const bool is_covered =
        region_of(asked->cell) == sim->region || ph_cell_is_same(asked->cell, PH_CELL_EVERYWHERE);
    if (asked->region != sim->region && (asked->region != PH_REGION_NONE || !is_covered)) {
        return;
    }
    ++sim->snapshots;
    for (int channel = PH_CHANNEL_OWN - 1; channel >= 0; --channel) {
        const bool is_wanted = asked->channel == channel ||
                               (asked->channel == 255 && (channel == PH_CHANNEL_PUBLIC ||
                                                          has_channel(sim, asked->cell, channel)));
        if (is_wanted) {
            stage_answer answer = {.sim = sim, .asked = asked};
            // No answer to a cell that there is not.
            ph_exporter_cell(sim->exporter, asked->cell, channel, sim->stamp, publish_part,
                             &answer);
        }
    }
}

static void tick_sim(stage_sim* sim)
{
    for (ph_bus_message message; sim->transport.next(sim->transport.context, &message);) {
        bus_snapshot asked;
        ph_bus_refusal refusal;
        if (bus_read_snapshot(&asked, message.bytes, message.size, &refusal) && !sim->is_mute &&
            bus_is_name(asked.reply_to)) {
            answer_snapshot(sim, &asked);
        }
    }
    if (!sim->is_mute) {
        assert_int_equal(ph_exporter_changes(sim->exporter, ++sim->stamp, publish_changes, sim),
                         PH_OK);
        publish_heartbeats(sim);
    }
}

static void write_record(stage_sim* sim)
{
    char key[PH_BUS_SUBJECT_MAX];
    bus_record_key(key, "w", sim->region);
    const uint8_t* bytes;
    size_t size;
    const uint64_t revision = memory_bus_get_record(sim->stage->bus, key, &bytes, &size);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_ownership record = {.epoch = sim->epoch, .sim = "sim-a"};
    record.sim[4] = (char)('a' + sim->epoch);
    assert_true(bus_write_ownership(&writer, &record));
    sim->transport.swap(sim->transport.context, key, revision, writer.bytes, writer.size, 1);
    bus_writer_destroy(&writer);
}

static void open_sim(front_stage* s, int region, uint32_t epoch, uint32_t stamp)
{
    stage_sim* sim = &s->sims[region];
    memset(sim, 0, sizeof *sim);
    *sim = (stage_sim){.stage = s, .region = region, .epoch = epoch, .stamp = stamp};
    sim->endpoint = memory_bus_add(s->bus);
    sim->transport = memory_bus_transport(s->bus, sim->endpoint);
    assert_true(sim->transport.subscribe(sim->transport.context, "snap.w") != 0);
    ph_exporter_def def = ph_exporter_def_default();
    def.world = s->truth;
    def.cell_mm = STAGE_CELL_MM;
    def.owner = PH_REGION_OWNER(region);
    def.as_owner = def.owner;
    def.batch_bytes = PH_EXPORT_BATCH_BYTES_MIN;
    assert_int_equal(ph_exporter_create(&def, &sim->exporter), PH_OK);
    write_record(sim);
}

void front_stage_take_over(front_stage* s, int region)
{
    const uint32_t epoch = s->sims[region].epoch;
    const uint32_t stamp = s->sims[region].stamp;
    ph_exporter_destroy(s->sims[region].exporter);
    open_sim(s, region, epoch + 1, stamp + 1000);
}

// ---- the spy

static bool spy_publish(void* context, const char* subject, const void* bytes, size_t size)
{
    const stage_spy* spy = context;
    return spy->inner.publish(spy->inner.context, subject, bytes, size);
}

static uint64_t spy_subscribe(void* context, const char* subject)
{
    stage_spy* spy = context;
    ++spy->subscribes;
    return spy->refuses ? 0 : spy->inner.subscribe(spy->inner.context, subject);
}

static void spy_unsubscribe(void* context, uint64_t subscription)
{
    stage_spy* spy = context;
    ++spy->unsubscribes;
    spy->inner.unsubscribe(spy->inner.context, subscription);
}

static bool spy_next(void* context, ph_bus_message* message)
{
    stage_spy* spy = context;
    if (!spy->inner.next(spy->inner.context, message)) {
        return false;
    }
    ph_hash hash = ph_hash_make(spy->digest);
    ph_hash_add(&hash, message->subject, strlen(message->subject) + 1);
    ph_hash_add(&hash, message->bytes, message->size);
    spy->digest = ph_hash_value(&hash);
    ++spy->messages;
    return true;
}

static void spy_read(void* context, const char* key, uint64_t ticket)
{
    const stage_spy* spy = context;
    spy->inner.read(spy->inner.context, key, ticket);
}

static void spy_swap(void* context, const char* key, uint64_t revision, const void* bytes,
                     size_t size, uint64_t ticket)
{
    const stage_spy* spy = context;
    spy->inner.swap(spy->inner.context, key, revision, bytes, size, ticket);
}

static bool spy_next_answer(void* context, ph_bus_answer* answer)
{
    const stage_spy* spy = context;
    return spy->inner.next_answer(spy->inner.context, answer);
}

static uint64_t spy_lost_count(void* context)
{
    const stage_spy* spy = context;
    return spy->inner.lost_count(spy->inner.context) + spy->is_lost;
}

static bool spy_is_connected(void* context)
{
    const stage_spy* spy = context;
    return spy->inner.is_connected(spy->inner.context);
}

// ---- setup

front_stage* front_stage_setup(const memory_bus_def* bus)
{
    front_stage* s = &the_stage;
    memset(s, 0, sizeof *s);
    s->rng.state = 4711;
    s->bus = memory_bus_create(bus);
    s->now_us = memory_bus_now_us(s->bus);
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = s->schema;
    world.tick_us = STAGE_TICK_US;
    world.removal_capacity = 4096;
    assert_int_equal(ph_world_create(&world, &s->truth), PH_OK);
    world.allocator = test_memory_allocator(&s->memory);
    world.entity_capacity = 4096;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    for (int i = 0; i < STAGE_REGIONS; ++i) {
        open_sim(s, i, 1, 0);
    }
    s->endpoint = memory_bus_add(s->bus);
    s->spy.inner = memory_bus_transport(s->bus, s->endpoint);
    s->def = ph_bus_front_def_default();
    s->def.transport = (ph_bus_transport){
        .context = &s->spy,
        .publish = spy_publish,
        .subscribe = spy_subscribe,
        .unsubscribe = spy_unsubscribe,
        .next = spy_next,
        .read = spy_read,
        .swap = spy_swap,
        .next_answer = spy_next_answer,
        .lost_count = spy_lost_count,
        .is_connected = spy_is_connected,
    };
    s->def.world = s->world;
    s->def.world_name = "w";
    s->def.name = "front";
    s->def.cell_mm = STAGE_CELL_MM;
    s->def.margin_mm = 20000;
    s->def.keep_mm = 20000;
    s->def.allocator = test_memory_allocator(&s->memory);
    return s;
}

void front_stage_open(front_stage* s)
{
    assert_int_equal(ph_bus_front_create(&s->def, &s->front), PH_OK);
}

void front_stage_teardown(front_stage* s)
{
    ph_bus_front_destroy(s->front);
    ph_world_destroy(s->world);
    for (int i = 0; i < STAGE_REGIONS; ++i) {
        ph_exporter_destroy(s->sims[i].exporter);
    }
    ph_world_destroy(s->truth);
    ph_schema_destroy(s->schema);
    memory_bus_destroy(s->bus);
    test_memory_assert_clean(&s->memory);
}

// ---- things

static void file_thing(front_stage* s, ph_entity_id entity)
{
    int64_t place_mm[3];
    ph_ownership ownership;
    assert_int_equal(
        ph_world_get_property(s->truth, entity, PLACE, PH_FIELD_I64X3, place_mm, sizeof place_mm),
        PH_OK);
    assert_int_equal(ph_world_get_ownership(s->truth, entity, &ownership), PH_OK);
    const uint32_t owner = PH_REGION_OWNER(
        region_of(ph_cell_at((int32_t)place_mm[0], (int32_t)place_mm[1], STAGE_CELL_MM)));
    if (ownership.owner != owner) {
        ownership.epoch += ownership.owner != 0;
        ownership.owner = owner;
        assert_int_equal(ph_world_set_ownership(s->truth, entity, ownership), PH_OK);
    }
}

ph_entity_id front_stage_spawn(front_stage* s, uint64_t key, int32_t x_mm, int32_t y_mm,
                               uint32_t seen_by)
{
    assert_true(s->thing_count < STAGE_THINGS);
    const ph_spawn spawn = {.key = key, .position_mm = {x_mm, y_mm, 0}, .seen_by = seen_by};
    ph_entity_id* entity = &s->things[s->thing_count++];
    assert_int_equal(ph_world_spawn(s->truth, &spawn, entity), PH_OK);
    file_thing(s, *entity);
    return *entity;
}

void front_stage_despawn(front_stage* s, ph_entity_id entity)
{
    for (int i = 0; i < s->thing_count; ++i) {
        if (s->things[i].index1 == entity.index1) {
            s->things[i] = s->things[--s->thing_count];
        }
    }
    assert_int_equal(ph_world_despawn(s->truth, entity), PH_OK);
}

void front_stage_scatter(front_stage* s, int count, int32_t side_mm)
{
    for (int i = 0; i < count; ++i) {
        const int32_t x = (int32_t)test_rng_below(&s->rng, (uint64_t)side_mm) - side_mm / 2;
        const int32_t y = (int32_t)test_rng_below(&s->rng, (uint64_t)side_mm) - side_mm / 2;
        front_stage_spawn(s, 1000 + (uint64_t)s->thing_count, x, y, 0);
    }
}

static void move_thing(front_stage* s, ph_entity_id entity)
{
    int64_t place_mm[3];
    ph_world_get_property(s->truth, entity, PLACE, PH_FIELD_I64X3, place_mm, sizeof place_mm);
    place_mm[0] += (int64_t)test_rng_below(&s->rng, 4001) - 2000;
    place_mm[1] += (int64_t)test_rng_below(&s->rng, 4001) - 2000;
    ph_world_move(s->truth, entity, place_mm[0], place_mm[1], 0);
    const int32_t hull = (int32_t)test_rng_below(&s->rng, 1001);
    ph_world_set_property(s->truth, entity, HULL, PH_FIELD_I32, &hull, sizeof hull);
    file_thing(s, entity);
}

// ---- running

void front_stage_tick(front_stage* s)
{
    for (int i = 0; i < s->thing_count && !s->is_still; ++i) {
        if (test_rng_below(&s->rng, 3) == 0) {
            move_thing(s, s->things[i]);
        }
    }
    ph_world_tick(s->truth);
    for (int i = 0; i < STAGE_REGIONS; ++i) {
        tick_sim(&s->sims[i]);
    }
    memory_bus_advance(s->bus, STAGE_TICK_US);
    s->now_us = memory_bus_now_us(s->bus);
    if (s->front != NULL) {
        ph_bus_front_tick(s->front, s->now_us);
        ph_world_tick(s->world);
    }
}

void front_stage_run(front_stage* s, int ms)
{
    for (int i = 0; i < ms; i += STAGE_TICK_US / 1000) {
        front_stage_tick(s);
    }
}

void front_stage_settle(front_stage* s)
{
    s->is_still = true;
    front_stage_run(s, 3000); // what is missing shows by a heartbeat
    for (int ms = 0; ms < 20000 && !ph_bus_front_is_complete(s->front); ms += 50) {
        front_stage_tick(s);
    }
    assert_true(ph_bus_front_is_complete(s->front));
    front_stage_run(s, 500);
    s->is_still = false;
}

// ---- comparing

static void expect_same(front_stage* s, ph_entity_id true_one, ph_entity_id local)
{
    int64_t places[2][3];
    int32_t hulls[2];
    ph_ownership owners[2];
    ph_world_get_property(s->truth, true_one, PLACE, PH_FIELD_I64X3, places[0], sizeof places[0]);
    ph_world_get_property(s->world, local, PLACE, PH_FIELD_I64X3, places[1], sizeof places[1]);
    ph_world_get_property(s->truth, true_one, HULL, PH_FIELD_I32, &hulls[0], sizeof hulls[0]);
    ph_world_get_property(s->world, local, HULL, PH_FIELD_I32, &hulls[1], sizeof hulls[1]);
    ph_world_get_ownership(s->truth, true_one, &owners[0]);
    ph_world_get_ownership(s->world, local, &owners[1]);
    assert_memory_equal(places[0], places[1], sizeof places[0]);
    assert_int_equal(hulls[0], hulls[1]);
    assert_int_equal(owners[0].owner, owners[1].owner);
    assert_int_equal(owners[0].epoch, owners[1].epoch);
}

static bool is_expected(front_stage* s, ph_entity_id entity, const int32_t place_mm[2],
                        int32_t radius_mm)
{
    int64_t at[3];
    ph_world_get_property(s->truth, entity, PLACE, PH_FIELD_I64X3, at, sizeof at);
    const double dx = (double)(at[0] - place_mm[0]);
    const double dy = (double)(at[1] - place_mm[1]);
    return dx * dx + dy * dy <= (double)radius_mm * radius_mm;
}

void front_stage_expect(front_stage* s, int32_t x_mm, int32_t y_mm, int32_t radius_mm,
                        uint32_t sees)
{
    for (int i = 0; i < ph_world_entity_count(s->world); ++i) {
        const ph_entity_id local = ph_world_live_entity(s->world, i);
        uint64_t key;
        assert_int_equal(ph_world_identify(s->world, local, &key, NULL), PH_OK);
        const ph_entity_id true_one = ph_world_find(s->truth, key);
        assert_true(true_one.index1 != 0);
        expect_same(s, true_one, local);
    }
    for (int i = 0; i < s->thing_count; ++i) {
        uint64_t key;
        assert_int_equal(ph_world_identify(s->truth, s->things[i], &key, NULL), PH_OK);
        if (key >= 1000 && sees != 0 &&
            is_expected(s, s->things[i], (const int32_t[2]){x_mm, y_mm}, radius_mm)) {
            assert_true(ph_world_find(s->world, key).index1 != 0);
        }
    }
}

int front_stage_interest(front_stage* s, int32_t x_mm, int32_t y_mm, int32_t radius_mm,
                         uint32_t sees)
{
    const int interest =
        ph_bus_front_add_interest(s->front, (const int64_t[3]){x_mm, y_mm, 0}, radius_mm, sees);
    assert_true(interest > 0);
    return interest;
}

uint64_t front_stage_refused(const front_stage* s)
{
    const ph_bus_front_stats stats = ph_bus_front_get_stats(s->front);
    uint64_t count = 0;
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        count += stats.refused[i];
    }
    return count;
}
