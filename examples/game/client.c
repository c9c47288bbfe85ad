// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client of the game: a player that walks in squares, says hello, and draws a map once a second.
// docs/getting_started.md builds it step by step.
//
//     game_client ADDRESS_OR_TOKEN NAME [SECONDS]      game_client localhost:40000 Ann

#include "game.h"

#include <pinhole/net/peer.h>

#include <stdlib.h>
#include <string.h>

enum { FRAME_US = 20000, SIDE_S = 4, ROWS = 17, COLUMNS = 51, WANTED = 200 };

static ph_peer* peer;
static int64_t place_mm[3]; // where we are, ahead of what the server says
static int lines_heard;
static bool is_refused;

// While we develop by address, else with a token: a new one each time.
static void join(const char* target, const char* name)
{
    char line[64];
    uint8_t token[PH_TOKEN_SIZE];
    FILE* file = fopen(target, "rb");
    if (file == NULL) {
        ph_peer_connect_to(peer, target);
    } else {
        ph_peer_connect(peer, token, fread(token, 1, sizeof token, file));
        fclose(file);
    }
    ph_peer_send(peer, line, (size_t)snprintf(line, sizeof line, "/name %.15s", name));
    ph_peer_send(peer, "hello", 5);
}

static void on_event(const ph_peer_event* event)
{
    creature it;
    switch (event->kind) {
    case PH_PEER_ENTERED:
    case PH_PEER_UPDATED:
        if (event->entity.class_index == PLAYER && (event->entity.properties >> NAME & 1) != 0 &&
            ph_peer_get_struct(peer, event->entity.entity, &it) == PH_OK) {
            printf("%s is in view\n", it.name);
        }
        break;
    case PH_PEER_LEFT:
        if (event->entity.class_index == PLAYER) {
            puts("a player is out of view");
        }
        break;
    case PH_PEER_MESSAGE:
        printf("%.*s\n", (int)event->size, (const char*)event->bytes);
        ++lines_heard;
        break;
    default: // connected; or refused, disconnected, cannot send: the text says why
        puts(event->kind == PH_PEER_CONNECTED ? "we are in the game" : event->text);
        is_refused = event->kind == PH_PEER_REFUSED;
    }
}

// We walk at once. As long as the server has us walk as we do now, we drift to where it has us.
static void move(uint8_t heading, double seconds)
{
    static uint8_t headings[256]; // of our last inputs, by number
    headings[ph_peer_set_input(peer, &heading, sizeof heading) % 256] = heading;
    walk(place_mm, heading * 360.0 / 256.0, WALK_MM_PER_S * seconds);
    const uint8_t processed = headings[ph_peer_processed_input(peer) % 256];
    ph_pose pose;
    if (processed == heading && ph_peer_get_pose(peer, ph_peer_own(peer), &pose) == PH_OK) {
        place_mm[0] += (llround(pose.position_mm[0]) - place_mm[0]) / 10;
        place_mm[1] += (llround(pose.position_mm[1]) - place_mm[1]) / 10;
    }
}

// What is around us: a letter stands for 2 m by 4 m, and is the first of a name.
static void draw(void)
{
    char map[ROWS][COLUMNS];
    creature it = {0};
    int hunters = 0;
    memset(map, ' ', sizeof map);
    const ph_entity_id own = ph_peer_own(peer);
    const ph_peer_stats stats = ph_peer_get_stats(peer);
    for (int slot = stats.slot_count - 1; slot >= 0; --slot) { // our own is the last
        const ph_entity_id id = ph_client_entity_at(ph_peer_view(peer), slot);
        ph_pose pose;
        if (ph_peer_get_struct(peer, id, &it) != PH_OK ||
            ph_peer_get_pose(peer, id, &pose) != PH_OK) {
            continue;
        }
        const int64_t column = COLUMNS / 2 + (llround(pose.position_mm[0]) - place_mm[0]) / 2000;
        const int64_t row = ROWS / 2 - (llround(pose.position_mm[1]) - place_mm[1]) / 4000;
        if (column >= 0 && column < COLUMNS && row >= 0 && row < ROWS) {
            map[row][column] = it.name[0];
        }
        hunters += it.target.index1 == own.index1 && it.target.generation == own.generation;
    }
    for (int row = 0; row < ROWS; ++row) {
        printf("%.*s\n", COLUMNS, map[row]);
    }
    printf("%s at %d, %d m: %d hit points, %d after us, %d in view, %.1f kbit/s\n", it.name,
           (int)(place_mm[0] / 1000), (int)(place_mm[1] / 1000), it.hit_points, hunters,
           stats.entity_count, stats.received_kbps);
}

int main(int argc, char** argv)
{
    ph_peer_def def = ph_peer_def_default();
    def.schema = make_schema();
    def.on_error = ph_error_print;
    if (argc < 3 || ph_peer_open(&def, &peer) != PH_OK) {
        puts("usage: game_client ADDRESS_OR_TOKEN NAME [SECONDS]");
        return 1;
    }
    uint64_t last_us = ph_socket_now_us();
    const uint64_t end_us = last_us + 1000000 * (uint64_t)(argc > 3 ? atoi(argv[3]) : 60);
    for (uint64_t now_us = last_us; now_us < end_us && !is_refused; now_us = ph_socket_now_us()) {
        ph_peer_tick(peer);
        for (ph_peer_event event; ph_peer_next_event(peer, &event);) {
            on_event(&event);
        }
        move((uint8_t)(now_us / 1000000 / SIDE_S * 64), (double)(now_us - last_us) / 1e6);
        if (now_us / 1000000 != last_us / 1000000) {             // once a second
            if (ph_peer_get_state(peer) == PH_PEER_STATE_IDLE) { // not yet, or no longer
                join(argv[1], argv[2]);
            } else if (ph_peer_get_state(peer) == PH_PEER_STATE_JOINED) {
                draw();
            }
        }
        last_us = now_us;
        ph_peer_wait(peer, FRAME_US); // where a game draws
    }
    const bool is_well = lines_heard > 0 && ph_peer_get_stats(peer).entity_count >= WANTED;
    ph_peer_close(peer);
    return is_well ? 0 : 1;
}
