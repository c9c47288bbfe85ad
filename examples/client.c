// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A game client on a real network, for example_server: connects with a token, or while developing by an
// address, walks about, says hello, and tells once a second what it sees.

#include <pinhole/net/peer.h>
#include <pinhole/pinhole.h>

#include <stdio.h>
#include <string.h>

enum { FRAME_US = 20000, FRAMES_PER_SECOND = 50, SECONDS_MAX = 60 };
static const char SCHEMA[] = "class dancer\n    place: position\n"; // as the server's

static bool connect_with(ph_peer* peer, const char* path)
{
    uint8_t token[PH_TOKEN_SIZE];
    if (strchr(path, ':') != NULL) {
        return ph_peer_connect_to(peer, path) == PH_OK;
    }
    FILE* file = fopen(path, "rb");
    const bool is_read = file != NULL && fread(token, sizeof token, 1, file) == 1;
    if (file != NULL) {
        fclose(file);
    }
    if (!is_read) {
        printf("there is no token in %s\n", path);
    }
    return is_read && ph_peer_connect(peer, token, sizeof token) == PH_OK;
}

static void show(const ph_peer* peer, int second)
{
    const ph_peer_stats stats = ph_peer_get_stats(peer);
    ph_pose pose = {0};
    ph_peer_get_pose(peer, ph_peer_find(peer, 1), &pose);
    printf("second %d: %d dancers in view, the first at %.0f, %.0f mm; %.1f kbit/s, round trip "
           "%.0f ms\n",
           second, stats.entity_count, pose.position_mm[0], pose.position_mm[1],
           stats.received_kbps, stats.rtt_ms);
}

// One frame of the game. Returns whether it goes on.
static bool play(ph_peer* peer, int frame)
{
    ph_peer_tick(peer);
    for (ph_peer_event event; ph_peer_next_event(peer, &event);) {
        if (event.kind == PH_PEER_MESSAGE) {
            printf("the server says: %.*s\n", (int)event.size, (const char*)event.bytes);
        } else if (event.text[0] != '\0') {
            puts(event.text); // refused, disconnected, cannot send: and why
        }
    }
    const uint8_t walked_m = (uint8_t)(frame / FRAMES_PER_SECOND); // one step a second
    ph_peer_set_input(peer, &walked_m, 1);
    if (frame % FRAMES_PER_SECOND == FRAMES_PER_SECOND - 1) {
        show(peer, (frame + 1) / FRAMES_PER_SECOND);
    }
    ph_peer_wait(peer, FRAME_US); // stands for drawing
    return ph_peer_get_state(peer) != PH_PEER_STATE_IDLE;
}

int main(int argc, char** argv)
{
    ph_schema* schema = NULL;
    ph_peer* peer = NULL;
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    ph_peer_def def = ph_peer_def_default();
    def.schema = schema;
    def.on_error = ph_error_print;
    if (ph_peer_open(&def, &peer) != PH_OK ||
        !connect_with(peer, argc > 1 ? argv[1] : "client.token")) {
        return 1;
    }
    ph_peer_send(peer, "hello", 5);
    int frame = 0;
    while (frame < SECONDS_MAX * FRAMES_PER_SECOND && play(peer, frame)) {
        ++frame;
    }
    const bool has_seen = ph_peer_get_stats(peer).entity_count > 0;
    printf("over after %d frames; the server has processed our input up to number %u\n", frame,
           (unsigned)ph_peer_processed_input(peer));
    ph_peer_close(peer);
    ph_schema_destroy(schema);
    return has_seen ? 0 : 1;
}
