// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// World, players and cubes of `pinhole bench cubes`.

#include "cubes_session.h"

#include "cubes_rotation.h"
#include "timer.h"

#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_US 16667
#define RADIUS_MM 250000
#define SLOTS 1024
// Datagrams in flight are few, so newcomers take several turns.
#define JOIN_ROUNDS 100

// A step of a millimetre stands for 1/512 m.
enum { PLACE, ROTATION, INTERACTING, PLAYER, SLIP };

const char* const CUBES_SCHEMA[] = {
    "class cube\n",
    "    place: position 16 step 1\n",
    "    rotation: quaternion 9 orientation\n",
    "    interacting: bool\n",
    "    player: entity carrier\n",
    "    slip: range 0..4095 default 0\n",
    NULL,
};

// ---- the world

static bool set_cube(cubes_session* session, int index, const ph_cube* cube)
{
    ph_world* world = session->world;
    const ph_entity_id id = session->ids[index];
    const cubes_rotation rotation = cubes_rotation_of(cube);
    const bool is_interacting = cube->is_interacting != 0;
    return ph_world_move(world, id, cube->place[0], cube->place[1], cube->place[2]) == PH_OK &&
           ph_world_set_property(world, id, ROTATION, PH_FIELD_F64X4, rotation.components,
                                 sizeof rotation.components) == PH_OK &&
           ph_world_set_property(world, id, INTERACTING, PH_FIELD_BOOL, &is_interacting,
                                 sizeof is_interacting) == PH_OK &&
           ph_world_set_property(world, id, SLIP, PH_FIELD_U16, &rotation.slip,
                                 sizeof rotation.slip) == PH_OK;
}

// Whatever moves may be stuck to the player's cube: that is the game.
static bool set_player(cubes_session* session, int index)
{
    const ph_entity_id player = index > 0 ? session->ids[0] : (ph_entity_id){0};
    return ph_world_set_property(session->world, session->ids[index], PLAYER, PH_FIELD_ENTITY,
                                 &player, sizeof player) == PH_OK;
}

static bool make_world(cubes_session* session, const ph_schema* schema)
{
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.entity_capacity = PH_CUBES;
    def.viewer_capacity = CUBES_PLAYERS;
    def.tick_us = FRAME_US;
    def.radius_max_mm = RADIUS_MM;
    if (ph_world_create(&def, &session->world) != PH_OK) {
        return false;
    }
    for (int i = 0; i < PH_CUBES; ++i) {
        const ph_cube* cube = &session->file->cubes[i];
        const ph_spawn spawn = {.key = (uint64_t)i + 1,
                                .position_mm = {cube->place[0], cube->place[1], cube->place[2]}};
        if (ph_world_spawn(session->world, &spawn, &session->ids[i]) != PH_OK ||
            !set_cube(session, i, cube) || !set_player(session, i)) {
            return false;
        }
    }
    return true;
}

static bool make_player(cubes_session* session, const ph_schema* schema, int i)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = session->ids[0];
    def.radius_mm = RADIUS_MM;
    def.visible_max = PH_CUBES;
    def.slot_count = SLOTS;
    def.bits_per_second = 0;
    def.overhead_bytes = 0;
    def.precision_mrad = 0.0;
    def.session = (uint32_t)i + 1;
    ph_client_def client = ph_client_def_default();
    client.schema = schema;
    client.slot_capacity = SLOTS;
    client.reorder_wait_ms = 0;
    return ph_world_add_viewer(session->world, &def, &session->players[i].viewer) == PH_OK &&
           ph_client_create(&client, &session->players[i].client) == PH_OK;
}

// ---- packets

// What a send takes: its datagrams go to the client at once, and that is another time.
typedef struct cubes_delivery {
    cubes_session* session;
    cubes_player* player;
    cubes_frame* frame;
    uint64_t now_us;
    bool is_refused;
} cubes_delivery;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    cubes_delivery* delivery = context;
    const double begin_ns = bench_cpu_ns();
    const ph_result result =
        ph_client_receive(delivery->player->client, delivery->now_us, bytes, size);
    delivery->frame->decode_ns += bench_cpu_ns() - begin_ns;
    delivery->frame->bytes += (int)size;
    ++delivery->frame->datagrams;
    delivery->is_refused = delivery->is_refused || result != PH_OK;
}

// One send and its ack.
static bool serve(cubes_session* session, cubes_player* player, cubes_frame* frame)
{
    cubes_delivery delivery = {.session = session,
                               .player = player,
                               .frame = frame,
                               .now_us = (uint64_t)session->frame * FRAME_US};
    uint8_t ack[PH_ACK_SIZE];
    const double decoded_ns = frame->decode_ns;
    const double begin_ns = bench_cpu_ns();
    const ph_result sent =
        ph_viewer_send(session->world, player->viewer, delivery.now_us, deliver, &delivery);
    frame->encode_ns += bench_cpu_ns() - begin_ns - (frame->decode_ns - decoded_ns);
    const size_t ack_size = ph_client_write_ack(player->client, delivery.now_us, ack);
    ph_event event;
    while (ph_client_poll(player->client, &event)) {
    }
    return sent == PH_OK && !delivery.is_refused &&
           (ack_size == 0 || ph_viewer_receive_ack(session->world, player->viewer, delivery.now_us,
                                                   ack, ack_size) == PH_OK);
}

// ---- what a client has

static bool is_as_in_file(const ph_client* client, int index, const ph_cube* cube)
{
    const ph_entity_id id = ph_client_find(client, (uint64_t)index + 1);
    int64_t place[3];
    cubes_rotation rotation;
    bool is_interacting;
    ph_entity_id player;
    if (ph_client_get_property(client, id, PLACE, PH_FIELD_I64X3, place, sizeof place) != PH_OK ||
        ph_client_get_property(client, id, ROTATION, PH_FIELD_F64X4, rotation.components,
                               sizeof rotation.components) != PH_OK ||
        ph_client_get_property(client, id, INTERACTING, PH_FIELD_BOOL, &is_interacting,
                               sizeof is_interacting) != PH_OK ||
        ph_client_get_property(client, id, PLAYER, PH_FIELD_ENTITY, &player, sizeof player) !=
            PH_OK ||
        ph_client_get_property(client, id, SLIP, PH_FIELD_U16, &rotation.slip,
                               sizeof rotation.slip) != PH_OK) {
        return false;
    }
    ph_cube has = {.place = {(int16_t)place[0], (int16_t)place[1], (int16_t)place[2]},
                   .is_interacting = is_interacting ? 1 : 0};
    cubes_rotation_read(&rotation, &has);
    return memcmp(&has, cube, sizeof has) == 0 && (player.index1 != 0) == (index > 0);
}

static bool is_lossless(const cubes_session* session, const cubes_player* player,
                        const ph_cube* cubes)
{
    for (int i = 0; i < PH_CUBES; ++i) {
        if (!is_as_in_file(player->client, i, &cubes[i])) {
            return false;
        }
    }
    return ph_client_entity_count(player->client) == PH_CUBES && session->frame >= 0;
}

// ---- frames

static bool set_frame(cubes_session* session)
{
    const ph_cube* cubes = &session->file->cubes[(size_t)session->frame * PH_CUBES];
    for (int i = 0; i < PH_CUBES; ++i) {
        const bool is_same =
            session->frame > 0 && memcmp(&cubes[i], &cubes[i - PH_CUBES], sizeof cubes[i]) == 0;
        if (!is_same && !set_cube(session, i, &cubes[i])) {
            return false;
        }
    }
    ph_world_tick(session->world);
    return true;
}

bool cubes_session_play(cubes_session* session, cubes_frame* frame)
{
    *frame = (cubes_frame){0};
    cubes_player* player = &session->players[session->frame % CUBES_PLAYERS];
    const ph_cube* cubes = &session->file->cubes[(size_t)session->frame * PH_CUBES];
    if (!set_frame(session) || !serve(session, player, frame)) {
        return false;
    }
    frame->is_lossless = is_lossless(session, player, cubes);
    ++session->frame;
    return true;
}

// One more player joins: all cubes enter, which takes several datagrams and acks.
static bool join(cubes_session* session)
{
    cubes_player* player = &session->players[session->frame];
    const ph_cube* cubes = &session->file->cubes[(size_t)session->frame * PH_CUBES];
    bool is_there = false;
    if (!set_frame(session)) {
        return false;
    }
    for (int round = 0; round < JOIN_ROUNDS && !is_there; ++round) {
        cubes_frame frame = {0};
        if (!serve(session, player, &frame)) {
            return false;
        }
        is_there = is_lossless(session, player, cubes);
    }
    ++session->frame;
    return is_there;
}

bool cubes_session_make(cubes_session* session, const ph_schema* schema, const ph_cubes_file* file)
{
    *session = (cubes_session){.file = file};
    bool is_made = make_world(session, schema);
    for (int i = 0; is_made && i < CUBES_PLAYERS; ++i) {
        is_made = make_player(session, schema, i);
    }
    for (int i = 0; is_made && i < CUBES_PLAYERS; ++i) {
        is_made = join(session);
    }
    return is_made;
}

void cubes_session_destroy(cubes_session* session)
{
    for (int i = 0; i < CUBES_PLAYERS; ++i) {
        ph_client_destroy(session->players[i].client);
    }
    ph_world_destroy(session->world);
    *session = (cubes_session){0};
}

void cubes_session_count(cubes_session* session, struct ph_pinhole_counts* counts)
{
    for (int i = 0; i < CUBES_PLAYERS; ++i) {
        ph_viewer_count_symbols(session->world, session->players[i].viewer, counts);
    }
}

// ---- where bits went

double cubes_session_reason_bits(const cubes_session* session, ph_reason reason)
{
    double bits = 0.0;
    for (int i = 0; i < CUBES_PLAYERS; ++i) {
        ph_viewer_stats stats;
        if (ph_viewer_get_stats(session->world, session->players[i].viewer, &stats) == PH_OK) {
            bits += (double)stats.ledger.bits256[reason] / 256.0;
        }
    }
    return bits;
}

double cubes_session_property_bits(const cubes_session* session, int property)
{
    double bits = 0.0;
    for (int i = 0; i < CUBES_PLAYERS; ++i) {
        bits += (double)ph_viewer_property_bits256(session->world, session->players[i].viewer, 0,
                                                   property) /
                256.0;
    }
    return bits;
}
