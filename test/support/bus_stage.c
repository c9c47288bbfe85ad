// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/bus_stage.h"

#include "bus/bus_wire.h"

#include <stdio.h>
#include <string.h>

static const ph_property_def WALKER_PROPERTIES[] = {
    {.name = "position",
     .coding = PH_CODING_POSITION,
     .step = 1,
     .bits = 20,
     .field = PH_FIELD_I32X3,
     .offset = offsetof(stage_walker, position_mm)},
    {.name = "step",
     .coding = PH_CODING_VARINT,
     .hi = 1e12,
     .field = PH_FIELD_I64,
     .offset = offsetof(stage_walker, step)},
    {.name = "received",
     .coding = PH_CODING_VARINT,
     .hi = 1e12,
     .field = PH_FIELD_I64,
     .offset = offsetof(stage_walker, received)},
    {.name = "chain",
     .coding = PH_CODING_VARINT,
     .hi = 1e12,
     .field = PH_FIELD_I64,
     .offset = offsetof(stage_walker, chain)},
};

static const ph_class_def WALKER_CLASS[] = {{.name = "walker",
                                             .properties = WALKER_PROPERTIES,
                                             .property_count = 4,
                                             .struct_size = sizeof(stage_walker)}};

static const ph_region MAP[STAGE_REGIONS] = {
    {.number = 0, .from = {-8, -8}, .to = {-1, 7}},
    {.number = 1, .from = {0, -8}, .to = {7, 7}},
};

static const ph_region OTHER_MAP[STAGE_REGIONS] = {
    {.number = 0, .from = {-8, -8}, .to = {0, 7}},
    {.number = 1, .from = {1, -8}, .to = {7, 7}},
};

#define SAY(stage, ...)                                                                            \
    do {                                                                                           \
        if ((stage)->wrong[0] == '\0') {                                                           \
            snprintf((stage)->wrong, sizeof(stage)->wrong, __VA_ARGS__);                           \
        }                                                                                          \
    } while (0)

// ---- the script

// There and back over the border at x = 0, each with a speed of its own.
static void place_at(int walker, int64_t step, int32_t position_mm[3])
{
    const int64_t length = 20000 + 3000 * (walker % 9);
    const int64_t speed = 150 + 37 * (walker % 11); // mm a step
    const int64_t way = (step * speed + walker * 7919) % (4 * length);
    const int64_t there = way < 2 * length ? way : 4 * length - way;
    position_mm[0] = (int32_t)(there - length);
    position_mm[1] = (walker % 10 - 5) * 9000;
    position_mm[2] = 0;
}

static int64_t chain_with(int64_t chain, uint64_t number)
{
    return (chain * 31 + (int64_t)number) % 1000000007;
}

static int count_of_keys(const bus_stage* stage)
{
    return stage->def.has_hidden ? STAGE_KEYS : STAGE_WALKERS;
}

// Hidden ones never rest: what they do must show nowhere else.
static int64_t step_of(const bus_stage* stage, int walker)
{
    return walker < STAGE_WALKERS ? stage->step : stage->tick_count;
}

// ---- the game

static void fill_region(stage_sim* s, int region)
{
    bus_stage* stage = s->stage;
    for (int i = 0; i < count_of_keys(stage); ++i) {
        stage_walker walker = {.step = step_of(stage, i)};
        place_at(i, walker.step, walker.position_mm);
        if ((walker.position_mm[0] >= 0) != (region == 1)) {
            continue;
        }
        const ph_spawn spawn = {
            .key = STAGE_KEY(i),
            .position_mm = {walker.position_mm[0], walker.position_mm[1], 0},
            .seen_by = i < STAGE_WALKERS ? 0 : STAGE_HIDDEN_BIT,
        };
        ph_entity_id entity;
        if (ph_world_spawn(s->world, &spawn, &entity) == PH_OK) {
            ph_world_set_struct(s->world, entity, &walker);
        }
    }
}

static void take_player_message(stage_sim* s, const ph_bus_event* event)
{
    bus_stage* stage = s->stage;
    stage_walker walker;
    uint64_t said[2];
    if (event->size != sizeof said || !ph_bus_sim_owns(s->sim, event->entity) ||
        ph_world_get_struct(s->world, event->entity, &walker) != PH_OK) {
        SAY(stage, "a message for %d that is not owned", (int)event->key);
        return;
    }
    memcpy(said, event->bytes, sizeof said);
    if (said[0] != event->client_id || said[1] != event->number) {
        SAY(stage, "message %d of %d is another one", (int)event->number, (int)event->client_id);
    }
    if ((int64_t)event->number > walker.received + 1) {
        SAY(stage, "message %d of %d: only %d have had effects", (int)event->number,
            (int)event->client_id, (int)walker.received);
    } else if ((int64_t)event->number <= walker.received) {
        if (!stage->def.is_lossy) {
            SAY(stage, "message %d of %d came twice", (int)event->number, (int)event->client_id);
        }
    } else {
        walker.received = (int64_t)event->number;
        walker.chain = chain_with(walker.chain, event->number);
        ph_world_set_struct(s->world, event->entity, &walker);
    }
    if (ph_bus_sim_tell(s->sim, event->client_id, said, sizeof said) != PH_OK) {
        SAY(stage, "%d cannot be told", (int)event->client_id);
    }
}

static void take_event(stage_sim* s, const ph_bus_event* event)
{
    bus_stage* stage = s->stage;
    if (event->kind == PH_BUS_REGION_GAINED && event->is_new) {
        if (event->epoch != 1) {
            SAY(stage, "region %d was lost with everything, epoch %u", event->region, event->epoch);
        }
        fill_region(s, event->region);
    } else if (event->kind == PH_BUS_PLAYER_MESSAGE) {
        take_player_message(s, event);
    } else if (event->kind == PH_BUS_PLAYER_INPUT) {
        uint32_t number = 0;
        memcpy(&number, event->bytes, event->size < 4 ? event->size : 4);
        if (number != event->number) {
            SAY(stage, "input %u is another one", number);
        }
    }
}

static void play(stage_sim* s)
{
    for (int i = 0; i < count_of_keys(s->stage); ++i) {
        const ph_entity_id entity = ph_world_find(s->world, STAGE_KEY(i));
        stage_walker walker;
        if (!ph_bus_sim_owns(s->sim, entity) ||
            ph_world_get_struct(s->world, entity, &walker) != PH_OK) {
            continue;
        }
        walker.step = step_of(s->stage, i);
        place_at(i, walker.step, walker.position_mm);
        ph_world_set_struct(s->world, entity, &walker);
    }
}

// ---- players

static void send_up(bus_stage* stage, int region, const bus_item* item)
{
    const ph_bus_transport transport = memory_bus_transport(stage->bus, stage->driver);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    bus_items_begin(&writer, &(bus_items){.kind = BUS_UP, .region = region, .name = "driver"});
    assert_true(bus_items_add(&writer, item));
    assert_true(bus_items_end(&writer, 1));
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "in", "w", region);
    transport.publish(transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
}

static void send_find(bus_stage* stage, const stage_player* p)
{
    const ph_bus_transport transport = memory_bus_transport(stage->bus, stage->driver);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_find(&writer, &(bus_find){.key = p->key, .reply_to = "driver"}));
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "find", "w");
    transport.publish(transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
}

static void send_data(bus_stage* stage, stage_player* p)
{
    uint8_t bytes[16 * 18];
    bus_item item = {
        .kind = BUS_ITEM_DATA,
        .client_id = p->client_id,
        .generation = p->generation,
        .key = p->key,
        .first = p->confirmed + 1,
        .told = p->told,
        .input = ++p->input,
        .input_bytes = (const uint8_t*)&p->input,
        .input_size = sizeof p->input,
        .bytes = bytes,
        .state = (const uint8_t*)&p->told,
        .state_size = sizeof p->told,
    };
    for (uint64_t n = p->confirmed + 1; n <= p->created && item.count < 16; ++n) {
        const uint64_t said[2] = {p->client_id, n};
        uint8_t* to = bytes + item.size;
        to[0] = sizeof said;
        to[1] = 0;
        memcpy(to + 2, said, sizeof said);
        item.size += 2 + sizeof said;
        ++item.count;
    }
    send_up(stage, p->region, &item);
}

static stage_player* player_of(bus_stage* stage, uint64_t client_id)
{
    return client_id >= 1 && client_id <= STAGE_PLAYERS ? &stage->players[client_id - 1] : NULL;
}

static void take_told(bus_stage* stage, stage_player* p, const bus_item* item)
{
    uint64_t said[2];
    if (item->first != p->told + 1) {
        return; // a repeat, or one is missing: it comes again
    }
    memcpy(said, item->bytes, item->size < sizeof said ? item->size : sizeof said);
    if (said[0] != p->client_id || said[1] != item->first) {
        SAY(stage, "player %d is told %d as number %d", (int)p->client_id, (int)said[1],
            (int)item->first);
    }
    ++p->told;
}

static void take_down(bus_stage* stage, const ph_bus_message* message)
{
    bus_items head;
    ph_bus_refusal refusal;
    if (!bus_read_items(&head, message->bytes, message->size, &refusal)) {
        bus_found found;
        if (bus_read_found(&found, message->bytes, message->size, &refusal)) {
            for (int i = 0; i < STAGE_PLAYERS; ++i) {
                if (stage->players[i].key == found.key) {
                    stage->players[i].region = found.region;
                }
            }
        }
        return;
    }
    for (bus_item item; bus_next_item(&head, &item);) {
        stage_player* p = player_of(stage, item.client_id);
        if (p == NULL || item.generation != p->generation) {
            continue;
        }
        p->heard_us = memory_bus_now_us(stage->bus);
        if (item.kind == BUS_ITEM_ATTACHED) {
            p->is_attached = true;
            p->region = item.region;
            if (item.received < p->confirmed) {
                SAY(stage, "player %d: %d were confirmed, %d are known", (int)p->client_id,
                    (int)p->confirmed, (int)item.received);
            }
        } else if (item.kind == BUS_ITEM_MOVED) {
            p->region = item.region;
            p->sent_us = 0;
        } else if (item.kind == BUS_ITEM_CONFIRM) {
            p->confirmed = item.received > p->confirmed ? item.received : p->confirmed;
            if (p->confirmed > p->created) {
                SAY(stage, "player %d: more is confirmed than was sent", (int)p->client_id);
            }
        } else if (item.kind == BUS_ITEM_TELL) {
            take_told(stage, p, &item);
        } else if (item.kind == BUS_ITEM_REFUSED) {
            SAY(stage, "player %d was refused: %.*s", (int)p->client_id, (int)item.size,
                (const char*)item.bytes);
        }
    }
}

static void drive_player(bus_stage* stage, stage_player* p)
{
    const uint64_t now_us = memory_bus_now_us(stage->bus);
    if (stage->is_talking && p->created < p->confirmed + 16) {
        p->created += p->is_attached;
    }
    if (now_us - p->heard_us > 600000 && now_us - p->found_us > 300000) {
        p->found_us = now_us;
        send_find(stage, p);
    }
    if (now_us - p->sent_us < (p->is_attached ? 100000u : 300000u)) {
        return;
    }
    p->sent_us = now_us;
    if (p->is_attached) {
        send_data(stage, p);
        return;
    }
    const bus_item item = {.kind = BUS_ITEM_ATTACH,
                           .client_id = p->client_id,
                           .generation = p->generation,
                           .key = p->key,
                           .is_anew = true};
    send_up(stage, p->region, &item);
}

static void drive(bus_stage* stage)
{
    const ph_bus_transport transport = memory_bus_transport(stage->bus, stage->driver);
    for (ph_bus_message message; transport.next(transport.context, &message);) {
        take_down(stage, &message);
    }
    for (int i = 0; i < STAGE_PLAYERS; ++i) {
        drive_player(stage, &stage->players[i]);
    }
}

// ---- life

static ph_world* make_world(const bus_stage* stage)
{
    ph_world_def def = ph_world_def_default();
    ph_world* world;
    def.schema = stage->schema;
    def.entity_capacity = 64;
    def.viewer_capacity = 1;
    def.tick_us = STAGE_TICK_US;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    return world;
}

void bus_stage_start(bus_stage* stage, int sim)
{
    stage_sim* s = &stage->sims[sim];
    char name[PH_BUS_NAME_SIZE];
    snprintf(name, sizeof name, "sim%d-%d", sim, s->lives++);
    if (s->is_namesake) {
        snprintf(name, sizeof name, "sim0-%d", stage->sims[0].lives - 1);
    }
    s->stage = stage;
    s->endpoint = memory_bus_add(stage->bus);
    s->world = make_world(stage);
    s->is_frozen = false;
    ph_bus_sim_def def = ph_bus_sim_def_default();
    def.transport = memory_bus_transport(stage->bus, s->endpoint);
    def.world = s->world;
    def.world_name = "w";
    def.name = name;
    def.cell_mm = STAGE_CELL_MM;
    def.regions = stage->def.is_divided_otherwise && sim >= 2 ? OTHER_MAP : MAP;
    def.region_count = STAGE_REGIONS;
    def.wanted = s->wanted;
    def.wanted_count = s->wanted_count;
    def.player_capacity = 32;
    def.allocator = stage->def.allocator;
    if (stage->def.suspect_ms > 0) {
        def.suspect_ms = stage->def.suspect_ms;
    }
    def.on_error = ph_error_keep;
    def.on_error_context = &s->error;
    assert_int_equal(ph_bus_sim_create(&def, &s->sim), PH_OK);
}

static void end_sim(stage_sim* s)
{
    ph_bus_sim_destroy(s->sim);
    ph_world_destroy(s->world);
    s->sim = NULL;
    s->world = NULL;
}

void bus_stage_kill(bus_stage* stage, int sim)
{
    end_sim(&stage->sims[sim]); // publishes nothing
    memory_bus_kill(stage->bus, stage->sims[sim].endpoint);
}

void bus_stage_freeze(bus_stage* stage, int sim)
{
    memory_bus_freeze(stage->bus, stage->sims[sim].endpoint);
    stage->sims[sim].is_frozen = true;
}

void bus_stage_thaw(bus_stage* stage, int sim)
{
    memory_bus_thaw(stage->bus, stage->sims[sim].endpoint);
    stage->sims[sim].is_frozen = false;
}

static void start_front(bus_stage* stage, int front)
{
    stage_front* f = &stage->fronts[front];
    f->endpoint = memory_bus_add(stage->bus);
    f->world = make_world(stage);
    ph_bus_front_def def = ph_bus_front_def_default();
    def.transport = memory_bus_transport(stage->bus, f->endpoint);
    def.world = f->world;
    def.world_name = "w";
    def.allocator = stage->def.allocator;
    def.name = front == 0 ? "front0" : "front1";
    def.cell_mm = STAGE_CELL_MM;
    assert_int_equal(ph_bus_front_create(&def, &f->front), PH_OK);
    assert_int_not_equal(ph_bus_front_add_interest(f->front, (int64_t[3]){0, 0, 0}, 60000,
                                                   front == 0 ? UINT32_MAX : 1),
                         0);
}

// Which sim wants which region.
static void share_regions(bus_stage* stage)
{
    static const uint8_t WANTED[3][STAGE_SIMS] = {{1, 1, 2, 2}, {3, 3, 0, 0}, {1, 3, 2, 0}};
    for (int i = 0; i < STAGE_SIMS; ++i) {
        stage_sim* s = &stage->sims[i];
        for (int region = 0; region < STAGE_REGIONS; ++region) {
            if ((WANTED[stage->def.layout][i] >> region & 1) != 0) {
                s->wanted[s->wanted_count++] = region;
            }
        }
    }
}

void bus_stage_setup(bus_stage* stage, const bus_stage_def* def)
{
    *stage = (bus_stage){.def = *def, .rng = {.state = def->seed}, .is_moving = true};
    stage->def.bus.seed = def->seed;
    stage->bus = memory_bus_create(&stage->def.bus);
    assert_int_equal(ph_schema_create(WALKER_CLASS, 1, NULL, &stage->schema, NULL), PH_OK);
    share_regions(stage);
    for (int i = 0; i < STAGE_SIMS; ++i) {
        if (stage->sims[i].wanted_count > 0) {
            bus_stage_start(stage, i);
        }
    }
    for (int i = 0; i < STAGE_FRONTS; ++i) {
        start_front(stage, i);
    }
    stage->driver = memory_bus_add(stage->bus);
    const ph_bus_transport transport = memory_bus_transport(stage->bus, stage->driver);
    assert_int_not_equal(transport.subscribe(transport.context, "to.w.driver"), 0);
    for (int i = 0; i < STAGE_PLAYERS; ++i) {
        stage->players[i] =
            (stage_player){.client_id = (uint64_t)i + 1, .generation = 10, .key = STAGE_KEY(i)};
    }
}

void bus_stage_teardown(bus_stage* stage)
{
    for (int i = 0; i < STAGE_SIMS; ++i) {
        if (stage->sims[i].sim != NULL) {
            end_sim(&stage->sims[i]);
        }
    }
    for (int i = 0; i < STAGE_FRONTS; ++i) {
        ph_bus_front_destroy(stage->fronts[i].front);
        ph_world_destroy(stage->fronts[i].world);
    }
    memory_bus_destroy(stage->bus);
    ph_schema_destroy(stage->schema);
}

// ---- time

static void judge_owners(bus_stage* stage)
{
    for (int i = 0; i < count_of_keys(stage); ++i) {
        int owner = -1;
        for (int s = 0; s < STAGE_SIMS; ++s) {
            const stage_sim* sim = &stage->sims[s];
            if (sim->sim == NULL || sim->is_frozen ||
                !ph_bus_sim_owns(sim->sim, ph_world_find(sim->world, STAGE_KEY(i)))) {
                continue;
            }
            if (owner >= 0) {
                SAY(stage, "%.3f s: sims %d and %d both own %d",
                    (double)memory_bus_now_us(stage->bus) / 1e6, owner, s, (int)STAGE_KEY(i));
            }
            owner = s;
        }
    }
}

static void run_sim(stage_sim* s)
{
    const uint64_t now_us = memory_bus_now_us(s->stage->bus);
    ph_bus_sim_receive(s->sim, now_us);
    for (ph_bus_event event; ph_bus_sim_next_event(s->sim, &event);) {
        take_event(s, &event);
    }
    play(s);
    ph_world_tick(s->world);
    ph_bus_sim_publish(s->sim, now_us);
}

void bus_stage_run(bus_stage* stage, int ms)
{
    for (int elapsed_ms = 0; elapsed_ms < ms; elapsed_ms += STAGE_TICK_US / 1000) {
        memory_bus_advance(stage->bus, STAGE_TICK_US);
        stage->step += stage->is_moving;
        ++stage->tick_count;
        for (int i = 0; i < STAGE_SIMS; ++i) {
            if (stage->sims[i].sim != NULL && !stage->sims[i].is_frozen) {
                run_sim(&stage->sims[i]);
            }
        }
        judge_owners(stage);
        for (int i = 0; i < STAGE_FRONTS; ++i) {
            ph_bus_front_tick(stage->fronts[i].front, memory_bus_now_us(stage->bus));
            ph_world_tick(stage->fronts[i].world);
        }
        drive(stage);
    }
}

static int covered_count(const bus_stage* stage)
{
    int count = 0;
    for (int i = 0; i < STAGE_SIMS; ++i) {
        if (stage->sims[i].sim != NULL && !stage->sims[i].is_frozen) {
            count += ph_bus_sim_get_stats(stage->sims[i].sim).covered_regions;
        }
    }
    return count;
}

void bus_stage_run_until_covered(bus_stage* stage)
{
    for (int ms = 0; ms < 15000 && covered_count(stage) < STAGE_REGIONS; ms += 50) {
        bus_stage_run(stage, 50);
    }
    if (covered_count(stage) < STAGE_REGIONS) {
        SAY(stage, "%.3f s: %d regions are covered", (double)memory_bus_now_us(stage->bus) / 1e6,
            covered_count(stage));
    }
}

// ---- judgement

static void judge_walker(bus_stage* stage, ph_world* world, const char* where, int i)
{
    stage_walker expected = {.step = step_of(stage, i)};
    stage_walker walker;
    place_at(i, expected.step, expected.position_mm);
    if (ph_world_get_struct(world, ph_world_find(world, STAGE_KEY(i)), &walker) != PH_OK) {
        SAY(stage, "%.3f s: %s lacks %d", (double)memory_bus_now_us(stage->bus) / 1e6, where,
            (int)STAGE_KEY(i));
        return;
    }
    if (i < STAGE_PLAYERS) {
        expected.received = (int64_t)stage->players[i].created;
        for (uint64_t n = 1; n <= stage->players[i].created; ++n) {
            expected.chain = chain_with(expected.chain, n);
        }
    }
    if (walker.step != expected.step || walker.position_mm[0] != expected.position_mm[0] ||
        walker.received != expected.received || walker.chain != expected.chain) {
        SAY(stage, "%.3f s: %s has %d of step %d at %d with %d messages; true is %d at %d with %d",
            (double)memory_bus_now_us(stage->bus) / 1e6, where, (int)STAGE_KEY(i), (int)walker.step,
            walker.position_mm[0], (int)walker.received, (int)expected.step,
            expected.position_mm[0], (int)expected.received);
    }
}

static void judge_all(bus_stage* stage)
{
    const int count = count_of_keys(stage);
    for (int i = 0; i < count; ++i) {
        bool is_owned = false;
        for (int s = 0; s < STAGE_SIMS; ++s) {
            stage_sim* sim = &stage->sims[s];
            if (sim->sim != NULL &&
                ph_bus_sim_owns(sim->sim, ph_world_find(sim->world, STAGE_KEY(i)))) {
                is_owned = true;
                judge_walker(stage, sim->world, "its owner", i);
            }
        }
        if (!is_owned) {
            SAY(stage, "%.3f s: nothing owns %d", (double)memory_bus_now_us(stage->bus) / 1e6,
                (int)STAGE_KEY(i));
        }
    }
    for (int f = 0; f < STAGE_FRONTS; ++f) {
        ph_world* world = stage->fronts[f].world;
        const int expected = f == 0 ? count : STAGE_WALKERS;
        for (int i = 0; i < expected; ++i) {
            judge_walker(stage, world, f == 0 ? "front 0" : "front 1", i);
        }
        if (ph_world_entity_count(world) != expected) {
            SAY(stage, "front %d has %d entities", f, ph_world_entity_count(world));
        }
    }
    for (int i = 0; i < STAGE_PLAYERS; ++i) {
        const stage_player* p = &stage->players[i];
        if (p->confirmed != p->created || p->told != p->created) {
            SAY(stage, "%.3f s: player %d has sent %d, %d are confirmed, %d answered",
                (double)memory_bus_now_us(stage->bus) / 1e6, i + 1, (int)p->created,
                (int)p->confirmed, (int)p->told);
        }
    }
}

void bus_stage_settle(bus_stage* stage)
{
    const bool was_talking = stage->is_talking;
    stage->is_moving = false;
    stage->is_talking = false;
    bus_stage_run(stage, 6000);
    judge_all(stage);
    stage->is_moving = true;
    stage->is_talking = was_talking;
}
