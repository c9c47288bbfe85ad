// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "players_stage.h"

#include "bus/bus_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t KEY[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";
static const char SCHEMA[] = "class ship\n    place: position\n    hull: range 0..1000\n";
static const ph_region REGIONS[2] = {{0, {-100, -100}, {-1, 100}}, {1, {0, -100}, {100, 100}}};

enum { UNIX_S = 1700000000, MESSAGE_SIZE = 40, FIRST_KEY = 100, CROWD = 30 };

static players_stage the_stage;

// ---- time and network

static uint64_t now_of_host(void* context)
{
    return ((const cast_front*)context)->stage->now_us;
}

static uint64_t unix_of_host(void* context)
{
    return UNIX_S + ((const cast_front*)context)->stage->now_us / 1000000;
}

static void post_datagram(players_stage* s, const cast_datagram* one)
{
    if ((int)test_rng_below(&s->rng, 100) < s->loss_percent) {
        return;
    }
    assert_true(s->queue_count < CAST_QUEUE);
    s->queue[s->queue_count] = *one;
    s->queue[s->queue_count++].due_us = s->now_us + 20000 + test_rng_below(&s->rng, 10000);
}

static int take_datagrams(players_stage* s, const ph_address* to, cast_datagram* taken,
                          ph_datagram* datagrams, int max)
{
    int got = 0;
    int left = 0;
    for (int i = 0; i < s->queue_count; ++i) {
        const cast_datagram* one = &s->queue[i];
        if (got < max && one->due_us <= s->now_us && ph_address_is_equal(&one->to, to)) {
            taken[got] = *one;
            datagrams[got] = (ph_datagram){
                .peer = taken[got].from, .bytes = taken[got].bytes, .size = taken[got].size};
            ++got;
        } else if (one->due_us + 2000000 > s->now_us) {
            if (left != i) {
                s->queue[left] = *one;
            }
            ++left;
        }
    }
    s->queue_count = left;
    return got;
}

static int receive_at_host(void* context, ph_datagram* datagrams, int max)
{
    cast_front* f = context;
    return take_datagrams(f->stage, &f->address, f->taken, datagrams, max);
}

static int send_of_host(void* context, const ph_datagram* datagrams, int count)
{
    cast_front* f = context;
    for (int i = 0; i < count; ++i) {
        cast_datagram one = {
            .from = f->address, .to = datagrams[i].peer, .size = datagrams[i].size};
        memcpy(one.bytes, datagrams[i].bytes, one.size);
        post_datagram(f->stage, &one);
    }
    return count;
}

static uint64_t now_of_player(void* context)
{
    return ((const cast_player*)context)->stage->now_us;
}

static int receive_at_player(void* context, ph_datagram* datagrams, int max)
{
    cast_player* p = context;
    return take_datagrams(p->stage, &p->address, p->taken, datagrams, max);
}

static bool send_of_player(void* context, const ph_datagram* datagram)
{
    const cast_player* p = context;
    cast_datagram one = {.from = p->address, .to = datagram->peer, .size = datagram->size};
    memcpy(one.bytes, datagram->bytes, one.size);
    post_datagram(p->stage, &one);
    return true;
}

// ---- setup

static ph_world* make_world(players_stage* s)
{
    ph_world_def def = ph_world_def_default();
    def.schema = s->schema;
    def.tick_us = CAST_TICK_US;
    def.removal_capacity = 1024;
    ph_world* world;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    return world;
}

static void open_sim(players_stage* s, int i)
{
    cast_sim* it = &s->sims[i];
    it->stage = s;
    it->endpoint = memory_bus_add(s->bus);
    it->world = make_world(s);
    const int wanted[1] = {i % 2};
    char name[PH_BUS_NAME_SIZE];
    snprintf(name, sizeof name, "sim-%d", i);
    ph_bus_sim_def def = ph_bus_sim_def_default();
    def.transport = memory_bus_transport(s->bus, it->endpoint);
    def.world = it->world;
    def.world_name = "w";
    def.name = name;
    def.cell_mm = CAST_CELL_MM;
    def.regions = REGIONS;
    def.region_count = 2;
    def.wanted = wanted;
    def.wanted_count = 1;
    assert_int_equal(ph_bus_sim_create(&def, &it->sim), PH_OK);
}

static void open_front(players_stage* s, int i)
{
    cast_front* f = &s->fronts[i];
    const uint8_t bytes[4] = {10, 0, 0, (uint8_t)(1 + i)};
    f->stage = s;
    f->endpoint = memory_bus_add(s->bus);
    f->address = ph_address_make_ipv4(bytes, 40000);
    f->simulation =
        (ph_net_simulation){now_of_host, unix_of_host, receive_at_host, send_of_host, f};
    f->world = make_world(s);
    ph_host_def host = ph_host_def_default();
    host.world = f->world;
    host.listen_address = f->address;
    host.client_capacity = 16;
    memcpy(host.private_key, KEY, sizeof KEY);
    assert_int_equal(ph_host_open_simulated(&host, &f->simulation, &f->host), PH_OK);
    char name[PH_BUS_NAME_SIZE];
    snprintf(name, sizeof name, "front-%d", i);
    ph_bus_front_def def = ph_bus_front_def_default();
    def.transport = memory_bus_transport(s->bus, f->endpoint);
    def.world = f->world;
    def.host = f->host;
    def.world_name = "w";
    def.name = name;
    def.cell_mm = CAST_CELL_MM;
    def.view.radius_mm = 100000;
    def.view.bits_per_second = 60000;
    def.margin_mm = 10000;
    def.keep_mm = 10000;
    def.client_capacity = 16;
    def.started_us = 1;
    def.allocator = test_memory_allocator(&s->memory);
    def.on_error = ph_error_keep;
    def.on_error_context = &f->error;
    assert_int_equal(ph_bus_front_create(&def, &f->front), PH_OK);
}

players_stage* players_stage_setup(const memory_bus_def* bus)
{
    players_stage* s = &the_stage;
    memset(s, 0, sizeof *s);
    s->rng.state = bus->seed;
    s->bus = memory_bus_create(bus);
    s->now_us = memory_bus_now_us(s->bus);
    s->queue = calloc(CAST_QUEUE, sizeof *s->queue);
    s->loss_percent = 3;
    s->grants = true;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    for (int i = 0; i < CAST_SIMS; ++i) {
        open_sim(s, i);
        players_stage_run(s, 500); // so that the first ones are the owners
    }
    for (int i = 0; i < CAST_FRONTS; ++i) {
        open_front(s, i);
    }
    s->director = memory_bus_add(s->bus);
    s->director_transport = memory_bus_transport(s->bus, s->director);
    s->director_transport.subscribe(s->director_transport.context, "wish.w");
    for (int i = 0; i < CAST_PEERS; ++i) {
        cast_player* p = &s->players[i];
        const uint8_t bytes[4] = {10, 0, 1, 2};
        p->stage = s;
        p->key = FIRST_KEY + (uint64_t)i;
        p->address = ph_address_make_ipv4(bytes, (uint16_t)(50000 + i));
        ph_peer_def def = ph_peer_def_default();
        def.schema = s->schema;
        assert_int_equal(ph_peer_open(&def, &p->peer), PH_OK);
        p->peer->seam = (ph_peer_seam){now_of_player, receive_at_player, send_of_player, p};
    }
    return s;
}

void players_stage_kill(players_stage* s, int front)
{
    cast_front* f = &s->fronts[front];
    if (f->host == NULL) {
        return;
    }
    ph_bus_front_destroy(f->front); // says nothing
    ph_host_close(f->host);
    ph_world_destroy(f->world);
    memory_bus_kill(s->bus, f->endpoint);
    f->host = NULL;
    f->front = NULL;
}

void players_stage_teardown(players_stage* s)
{
    for (int i = 0; i < CAST_PEERS; ++i) {
        ph_peer_close(s->players[i].peer);
    }
    for (int i = 0; i < CAST_FRONTS; ++i) {
        players_stage_kill(s, i);
    }
    for (int i = 0; i < CAST_SIMS; ++i) {
        ph_bus_sim_destroy(s->sims[i].sim);
        ph_world_destroy(s->sims[i].world);
    }
    ph_schema_destroy(s->schema);
    memory_bus_destroy(s->bus);
    free(s->queue);
    test_memory_assert_clean(&s->memory);
}

// ---- tokens, and the director that grants them

void players_stage_token(players_stage* s, int front, int player, bool is_spare,
                         uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def def = ph_token_def_default();
    def.client_id = (uint64_t)player + 1;
    def.create_s = UNIX_S + s->now_us / 1000000;
    def.lifetime_s = 3600;
    def.timeout_s = 5;
    def.addresses[def.address_count++] = s->fronts[front].address;
    memcpy(def.private_key, KEY, sizeof KEY);
    const ph_ticket ticket = {
        .generation = ++s->players[player].generation,
        .key = s->players[player].key,
        .region = player % 2 == 0 ? PH_REGION_NONE : 0,
        .is_spare = is_spare,
    };
    ph_ticket_write(&ticket, def.user_data);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}

static int other_front(const players_stage* s, const char* not_front, int from)
{
    for (int i = from; i < CAST_FRONTS; ++i) {
        char name[PH_BUS_NAME_SIZE];
        snprintf(name, sizeof name, "front-%d", i);
        if (s->fronts[i].host != NULL && strcmp(name, not_front) != 0) {
            return i;
        }
    }
    return -1;
}

static void tick_director(players_stage* s)
{
    const ph_bus_transport* t = &s->director_transport;
    for (ph_bus_message message; t->next(t->context, &message);) {
        bus_wish wish;
        ph_bus_refusal refusal;
        assert_true(bus_read_wish(&wish, message.bytes, message.size, &refusal));
        int front = other_front(s, wish.not_front, 0);
        if (!s->grants || front < 0) {
            continue;
        }
        uint8_t tokens[CAST_FRONTS * PH_TOKEN_SIZE];
        bus_grant grant = {.number = wish.number, .client_id = wish.client_id, .tokens = tokens};
        for (; front >= 0 && grant.token_count < wish.token_count;
             front = other_front(s, wish.not_front, front + 1)) {
            players_stage_token(s, front, (int)wish.client_id - 1, true,
                                tokens + (size_t)grant.token_count++ * PH_TOKEN_SIZE);
        }
        char subject[PH_BUS_SUBJECT_MAX];
        bus_subject_to(subject, "w", wish.reply_to);
        bus_writer writer;
        bus_writer_init(&writer, &(ph_allocator){0});
        assert_true(bus_write_grant(&writer, &grant));
        t->publish(t->context, subject, writer.bytes, writer.size);
        bus_writer_destroy(&writer);
    }
}

void players_stage_connect(players_stage* s, int player, int front)
{
    uint8_t token[PH_TOKEN_SIZE];
    players_stage_token(s, front, player, false, token);
    assert_int_equal(ph_peer_connect(s->players[player].peer, token, sizeof token), PH_OK);
}

// ---- the game

static void fill_message(uint32_t number, uint8_t bytes[MESSAGE_SIZE])
{
    for (int i = 0; i < MESSAGE_SIZE; ++i) {
        bytes[i] = (uint8_t)(number * 7 + (uint32_t)i);
    }
    memcpy(bytes, &number, sizeof number);
}

static void fill_region(cast_sim* it, int region)
{
    const int side = region == 0 ? -1 : 1;
    for (int i = 0; i < CAST_PEERS + CROWD; ++i) {
        if (i % 2 != region) {
            continue;
        }
        const ph_spawn spawn = {.key = FIRST_KEY + (uint64_t)i,
                                .position_mm = {side * (5000 + i * 500), i * 1000, 0},
                                .is_never_visible = it->stage->is_own_only && i < CAST_PEERS};
        ph_entity_id entity;
        assert_int_equal(ph_world_spawn(it->world, &spawn, &entity), PH_OK);
    }
}

static void take_event(cast_sim* it, const ph_bus_event* event)
{
    cast_player* p = event->client_id > 0 ? &it->stage->players[event->client_id - 1] : NULL;
    uint8_t expected[MESSAGE_SIZE];
    switch (event->kind) {
    case PH_BUS_REGION_GAINED:
        if (event->is_new) {
            fill_region(it, event->region);
        }
        break;
    case PH_BUS_PLAYER_ATTACHED:
        ++p->attached;
        if (event->is_new) {
            p->processed = 0;
            p->input = 0;
        }
        break;
    case PH_BUS_PLAYER_DETACHED:
        ++p->detached;
        break;
    case PH_BUS_PLAYER_MESSAGE:
        fill_message(p->processed, expected);
        assert_int_equal(event->size, MESSAGE_SIZE);
        assert_memory_equal(event->bytes, expected, MESSAGE_SIZE);
        ++p->processed;
        break;
    case PH_BUS_PLAYER_INPUT:
        assert_true(event->number > p->input);
        p->input = (uint32_t)event->number;
        break;
    default:
        break;
    }
}

static void move_entities(cast_sim* it)
{
    for (int i = 0; i < CAST_PEERS + CROWD; ++i) {
        const ph_entity_id entity = ph_world_find(it->world, FIRST_KEY + (uint64_t)i);
        if (entity.index1 == 0 || !ph_bus_sim_owns(it->sim, entity)) {
            continue;
        }
        // To and fro, 60 m in 15 s.
        const int phase = (it->stage->step + i * 40) % 300;
        const int x = (phase < 150 ? phase : 300 - phase) * 400 - 30000;
        const int32_t hull = it->stage->step % 1000;
        if (it->stage->walks) {
            ph_world_move(it->world, entity, x + it->stage->east_mm, i * 1000, 0);
        }
        ph_world_set_property(it->world, entity, 1, PH_FIELD_I32, &hull, sizeof hull);
    }
}

static void tell_players(cast_sim* it)
{
    for (int i = 0; i < CAST_PEERS && it->stage->posts; ++i) {
        cast_player* p = &it->stage->players[i];
        uint8_t bytes[MESSAGE_SIZE];
        fill_message(p->told, bytes);
        if (it->stage->step % 3 == i % 3 &&
            ph_bus_sim_tell(it->sim, (uint64_t)i + 1, bytes, sizeof bytes) == PH_OK) {
            ++p->told;
        }
    }
}

static void receive_at_sim(cast_sim* it)
{
    ph_bus_sim_receive(it->sim, it->stage->now_us);
    for (ph_bus_event event; ph_bus_sim_next_event(it->sim, &event);) {
        take_event(it, &event);
    }
}

static void tick_sim(cast_sim* it)
{
    receive_at_sim(it);
    move_entities(it);
    tell_players(it);
    ph_world_tick(it->world);
    ph_bus_sim_publish(it->sim, it->stage->now_us);
}

static void take_host_events(cast_front* f)
{
    for (ph_net_event event; ph_host_next_event(f->host, &event);) {
        assert_true(ph_bus_front_take(f->front, &event));
    }
}

static void tick_front(cast_front* f)
{
    ph_host_tick(f->host);
    take_host_events(f);
    ph_bus_front_tick(f->front, f->stage->now_us);
    ph_world_tick(f->world);
    ph_host_send(f->host, UINT64_MAX);
}

// ---- the players

static void tick_player(cast_player* p)
{
    ph_peer_tick(p->peer);
    uint8_t bytes[MESSAGE_SIZE];
    for (ph_peer_event event; ph_peer_next_event(p->peer, &event);) {
        ++p->counts[event.kind];
        if (event.kind == PH_PEER_MESSAGE) {
            fill_message(p->received, bytes);
            assert_memory_equal(event.bytes, bytes, MESSAGE_SIZE);
            ++p->received;
        }
        if (event.kind == PH_PEER_MOVED) {
            p->was_continued = event.is_continued;
        }
        if (event.text[0] != '\0') {
            snprintf(p->text, sizeof p->text, "%s", event.text);
        }
    }
    if (ph_peer_get_state(p->peer) != PH_PEER_STATE_JOINED || !p->stage->posts) {
        return;
    }
    fill_message(p->posted, bytes);
    if (test_rng_below(&p->stage->rng, 4) == 0) {
        p->posted += ph_peer_send(p->peer, bytes, sizeof bytes) == PH_OK;
    }
    ph_peer_set_input(p->peer, bytes, 4);
}

// ---- running

static void step(players_stage* s)
{
    memory_bus_advance(s->bus, CAST_STEP_US);
    s->now_us = memory_bus_now_us(s->bus);
    for (int i = 0; i < CAST_FRONTS; ++i) {
        if (s->fronts[i].host != NULL) {
            ph_host_receive(s->fronts[i].host, 0);
            if (s->is_prompt) {
                take_host_events(&s->fronts[i]);
            }
        }
    }
    for (int i = 0; s->is_prompt && i < CAST_SIMS; ++i) {
        if (s->sims[i].sim != NULL) {
            receive_at_sim(&s->sims[i]);
        }
    }
    if (s->now_us % CAST_TICK_US == 0) {
        ++s->step;
        s->east_mm += s->wander_mm;
        for (int i = 0; i < CAST_SIMS; ++i) {
            if (s->sims[i].sim != NULL) {
                tick_sim(&s->sims[i]);
            }
        }
        for (int i = 0; i < CAST_FRONTS; ++i) {
            if (s->fronts[i].host != NULL) {
                tick_front(&s->fronts[i]);
            }
        }
        if (s->director_transport.next != NULL) {
            tick_director(s);
        }
    }
    for (int i = 0; i < CAST_PEERS; ++i) {
        const uint64_t phase_us = (uint64_t)i % 4 * CAST_STEP_US;
        if (s->players[i].peer != NULL && (s->now_us + phase_us) % CAST_FRAME_US == 0) {
            tick_player(&s->players[i]);
        }
    }
}

void players_stage_run(players_stage* s, int ms)
{
    for (int i = 0; i < ms; i += CAST_STEP_US / 1000) {
        step(s);
    }
}

void players_stage_join(players_stage* s, int front)
{
    for (int i = 0; i < CAST_PEERS; ++i) {
        players_stage_connect(s, i, front);
    }
    players_stage_run(s, 5000);
    for (int i = 0; i < CAST_PEERS; ++i) {
        assert_int_equal(ph_peer_get_state(s->players[i].peer), PH_PEER_STATE_JOINED);
    }
}

static bool is_settled(const players_stage* s)
{
    for (int i = 0; i < CAST_PEERS; ++i) {
        const cast_player* p = &s->players[i];
        if (p->received != p->told || p->processed != p->posted ||
            ph_peer_processed_input(p->peer) != p->peer->input_number) {
            return false;
        }
    }
    return true;
}

void players_stage_settle(players_stage* s)
{
    s->posts = false;
    for (int ms = 0; ms < 30000 && !is_settled(s); ms += 100) {
        players_stage_run(s, 100);
    }
    for (int i = 0; i < CAST_PEERS; ++i) {
        const cast_player* p = &s->players[i];
        assert_int_equal(p->received, p->told);
        assert_int_equal(p->processed, p->posted);
        assert_int_equal(ph_peer_processed_input(p->peer), p->peer->input_number);
    }
}
