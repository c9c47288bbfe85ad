// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Building a deployment, and one step of it. Some hundred microseconds per step.

#include "soak/soak_stage.h"

#include "kit/random.h"
#include "tools/tools.h"

#include <sodium.h>
#include <stdarg.h>
#include <string.h>

#define START_US UINT64_C(5000000)

enum { VALIDATE_STEPS = 64, BUILD_TRIES = 200 };

// ---- violations

const char* soak_promise_name(soak_promise promise)
{
    static const char* const names[] = {
#define PROMISE_NAME(name, text) text,
        SOAK_PROMISES(PROMISE_NAME)
#undef PROMISE_NAME
    };
    return names[promise];
}

void soak_fail(soak_stage* stage, soak_promise promise, const char* format, ...)
{
    stage->is_over = true;
    soak_result* result = stage->result;
    if (result->is_violated) {
        return;
    }
    result->is_violated = true;
    result->promise = (int32_t)promise;
    result->step = stage->scene_step;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->text, sizeof result->text, format, arguments);
    va_end(arguments);
}

// ---- randomness of libsodium, which is one for the process

static ph_rng* keys_in_use;

static const char* keys_name(void)
{
    return "soak";
}

static uint32_t keys_next(void)
{
    return (uint32_t)ph_rng_next(keys_in_use);
}

static void keys_fill(void* const bytes, const size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        ((uint8_t*)bytes)[i] = (uint8_t)ph_rng_next(keys_in_use);
    }
}

static struct randombytes_implementation keys_implementation = {
    .implementation_name = keys_name, .random = keys_next, .buf = keys_fill};

void soak_use_keys(soak_stage* stage)
{
    keys_in_use = &stage->keys;
}

// ---- what the simulated host asks

static uint64_t now_us(void* context)
{
    return ((soak_stage*)context)->now_us;
}

static uint64_t unix_s(void* context)
{
    return ((soak_stage*)context)->unix_s;
}

// Two floors in some places, one in others, none beyond.
static int ground_layers(const void* context, int64_t x_mm, int64_t y_mm,
                         int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    const uint64_t cell = ((uint64_t)x_mm >> 13) * 31 + ((uint64_t)y_mm >> 13) * 17;
    const int count = (int)(cell % 4);
    for (int i = 0; i < count; ++i) {
        heights_mm[i] = 500 + 3000 * i + (int64_t)(cell % 7) * 40;
    }
    return count;
}

uint32_t soak_secret_sees(const soak_stage* stage)
{
    return stage->has_secrets ? UINT32_MAX : SOAK_PUBLIC_MASK;
}

ph_ground soak_ground(const soak_stage* stage)
{
    return (ph_ground){.layers = stage->params.has_ground ? ground_layers : NULL};
}

static bool may_see(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    const soak_stage* stage = context;
    uint64_t key;
    if (ph_world_identify(stage->world, entity, &key, NULL) != PH_OK) {
        return false;
    }
    const int index = soak_entity_of(stage, key);
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        const soak_player* player = &stage->players[i];
        if (player->is_admitted && player->viewer.index1 == viewer.index1 &&
            player->viewer.generation == viewer.generation) {
            return index >= 0 && (stage->entities[index].blocked >> i & 1) == 0;
        }
    }
    return true; // it is being added
}

uint64_t soak_key_of(const soak_stage* stage, int entity)
{
    return stage->params.key_base + stage->params.key_stride * (uint64_t)entity;
}

int soak_entity_of(const soak_stage* stage, uint64_t key)
{
    const uint64_t away = key - stage->params.key_base;
    const uint64_t index = away / stage->params.key_stride;
    return away % stage->params.key_stride == 0 && index < SOAK_ENTITIES_MAX ? (int)index : -1;
}

// ---- building

static ph_result create_world(soak_stage* stage)
{
    ph_world_def def = ph_world_def_default();
    def.schema = stage->schema.checked;
    def.entity_capacity = 4;
    def.viewer_capacity = 2;
    def.radius_max_mm = stage->params.radius_max_mm;
    def.vision = stage->params.vision;
    def.profile = stage->params.profile;
    def.tick_us = stage->params.tick_us;
    def.may_see = stage->params.asks_game ? may_see : NULL;
    def.may_see_context = stage;
    def.ground = soak_ground(stage);
    def.allocator = soak_memory_allocator(&stage->server_memory);
    return ph_world_create(&def, &stage->world);
}

static void on_messages(void* context, int client, ph_messages* messages)
{
    soak_stage* stage = context;
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        soak_player* player = &stage->players[i];
        if (player->is_admitted && player->host_client == client) {
            soak_messages_take(stage, player, messages, 1);
        }
    }
}

static ph_result open_host(soak_stage* stage)
{
    ph_host_def def = ph_host_def_default();
    const uint8_t address[4] = {192, 0, 2, 1};
    def.world = stage->world;
    def.tick_us = stage->params.tick_us;
    def.listen_address = ph_address_make_ipv4(address, 40000);
    def.protocol_id = SOAK_PROTOCOL_ID;
    memset(def.private_key, SOAK_KEY_BYTE, sizeof def.private_key);
    def.client_capacity = SOAK_HOST_PLAYERS + 2;
    def.is_rate_fixed = stage->params.is_rate_fixed;
    def.on_messages = on_messages;
    def.on_messages_context = stage;
    def.allocator = soak_memory_allocator(&stage->server_memory);
    stage->simulation = (ph_net_simulation){.now_us = now_us,
                                            .unix_s = unix_s,
                                            .receive = soak_socket_receive,
                                            .send = soak_socket_send,
                                            .context = stage};
    return ph_host_open_simulated(&def, &stage->simulation, &stage->host);
}

// Where allocations fail, each of the first ones does once, and nothing may be left behind.
static bool build(soak_stage* stage)
{
    const ph_allocator allocator = soak_memory_allocator(&stage->server_memory);
    for (int fail_at = stage->params.is_failing ? 1 : BUILD_TRIES; fail_at <= BUILD_TRIES;
         ++fail_at) {
        stage->server_memory.fail_in = fail_at < BUILD_TRIES ? fail_at : 0;
        if (soak_schema_make(&stage->schema, stage->scenario->seed, &allocator) &&
            create_world(stage) == PH_OK && open_host(stage) == PH_OK) {
            stage->server_memory.fail_in = 0;
            return true;
        }
        ph_world_destroy(stage->world);
        stage->world = NULL;
        soak_schema_destroy(&stage->schema);
        if (stage->server_memory.live_bytes != 0) {
            soak_fail(stage, SOAK_PROMISE_MEMORY,
                      "%lld bytes are left after allocation %d failed while it was built",
                      (long long)stage->server_memory.live_bytes, fail_at);
            return false;
        }
    }
    soak_fail(stage, SOAK_PROMISE_CALLS, "the deployment cannot be built");
    return false;
}

bool soak_stage_open(soak_stage* stage, const soak_scenario* scenario, bool has_secrets,
                     soak_result* result)
{
    memset(stage, 0, sizeof *stage);
    stage->scenario = scenario;
    stage->result = result;
    stage->params = soak_params_of(scenario->seed);
    stage->has_secrets = has_secrets;
    stage->now_us = stage->start_us = START_US;
    stage->unix_s = SOAK_START_UNIX_S;
    stage->keys = ph_random_part(scenario->seed, 3);
    soak_use_keys(stage);
    randombytes_set_implementation(&keys_implementation);
    for (int i = 0; i < SOAK_ENTITIES_MAX; ++i) {
        stage->entities[i].class_index = -1;
    }
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player* player = &stage->players[i];
        player->index = i;
        player->is_direct = i >= SOAK_HOST_PLAYERS;
        player->is_secret = i >= SOAK_FIRST_SECRET_PLAYER;
        player->host_client = -1;
        player->own = -1;
    }
    return build(stage);
}

void soak_stage_close(soak_stage* stage)
{
    stage->server_memory.fail_in = 0;
    stage->client_memory.fail_in = 0;
    soak_use_keys(stage);
    for (int i = 0; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player_end(stage, &stage->players[i]);
    }
    ph_host_close(stage->host);
    ph_world_destroy(stage->world);
    soak_schema_destroy(&stage->schema);
    const soak_memory* server = &stage->server_memory;
    const soak_memory* client = &stage->client_memory;
    stage->result->failed_allocations += server->failures + client->failures;
    stage->result->simulated_us += stage->now_us - stage->start_us;
    if (server->live_bytes != 0 || client->live_bytes != 0) {
        soak_fail(stage, SOAK_PROMISE_MEMORY,
                  "%lld bytes of the server and %lld of clients are left",
                  (long long)server->live_bytes, (long long)client->live_bytes);
    }
    if (server->wrong_releases + client->wrong_releases != 0) {
        soak_fail(stage, SOAK_PROMISE_MEMORY, "a block was released with another size");
    }
}

// ---- a step

static void take_events(soak_stage* stage)
{
    ph_net_event event;
    while (ph_host_next_event(stage->host, &event)) {
        if (event.kind == PH_NET_CONNECTED) {
            soak_player_admit(stage, event.client, event.client_id);
        } else {
            soak_player_gone(stage, event.client, event.client_id);
        }
    }
    // Where memory was short, it is tried again.
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        soak_player* player = &stage->players[i];
        if (player->host_client >= 0 && !player->is_admitted) {
            soak_player_admit(stage, player->host_client, player->client_id);
        }
    }
}

static void apply_events(soak_stage* stage, const soak_event* first, const soak_event* last,
                         bool is_late)
{
    for (const soak_event* event = first; event < last && !stage->is_over; ++event) {
        if (soak_event_is_late(event) != is_late) {
            continue;
        }
        soak_event_note(stage, event);
        if (stage->has_secrets || !soak_is_secret_event(event)) {
            soak_event_apply(stage, event);
        }
    }
}

// Receiving, ticks and sends are promised to allocate nothing, but for each block that begins to come.
static void check_no_allocation(soak_stage* stage, uint64_t before, const char* what)
{
    if (stage->server_memory.allocations != before) {
        soak_fail(stage, SOAK_PROMISE_MEMORY, "%s allocates", what);
    }
}

static void receive(soak_stage* stage)
{
    const uint64_t before = stage->server_memory.allocations;
    ph_host_receive(stage->host, 0);
    for (int i = SOAK_HOST_PLAYERS; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player_take_acks(stage, &stage->players[i]);
    }
    ph_host_tick(stage->host);
    stage->up_block_allocations += stage->server_memory.allocations - before;
    if (stage->up_block_allocations > stage->up_blocks) {
        soak_fail(stage, SOAK_PROMISE_MEMORY, "receiving allocates");
    }
    take_events(stage);
}

static void send(soak_stage* stage)
{
    const uint64_t before = stage->server_memory.allocations;
    ph_host_send(stage->host, UINT64_MAX);
    for (int i = SOAK_HOST_PLAYERS; i < SOAK_PLAYERS_MAX; ++i) {
        soak_player_send(stage, &stage->players[i]);
    }
    check_no_allocation(stage, before, "sending");
}

void soak_stage_step(soak_stage* stage, const soak_event* first, const soak_event* last)
{
    soak_use_keys(stage);
    stage->now_us += stage->params.tick_us;
    stage->unix_s = SOAK_START_UNIX_S + (stage->now_us - stage->start_us) / 1000000 +
                    (uint64_t)stage->day_offset_s;
    apply_events(stage, first, last, false);
    receive(stage);
    const uint64_t before = stage->server_memory.allocations;
    ph_world_tick(stage->world);
    memset(stage->resting_of, 0, sizeof stage->resting_of);
    check_no_allocation(stage, before, "a tick");
    soak_note_eyes(stage);
    apply_events(stage, first, last, true);
    soak_note_truth(stage);
    soak_note_glances(stage);
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        soak_bulk_talk(stage, &stage->players[i]);
    }
    send(stage);
    for (int i = 0; i < SOAK_PLAYERS_MAX && !stage->is_over; ++i) {
        soak_player_step(stage, &stage->players[i]);
    }
    if (!stage->is_over) {
        soak_judge_waits(stage);
    }
    if (stage->step % VALIDATE_STEPS == 0 && !ph_world_validate(stage->world)) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "ph_world_validate() says that the world is unsound");
    }
    ++stage->step;
}
