// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The second decoder, which was written from the documents alone (test/decode_packet.py), follows
// whole random sessions in both profiles: schemas, losses and entities at random. It gets every
// datagram that a client gets, takes and refuses the same ones, and shows the same at the end.

#include "support/test_session.h"

#if defined(_WIN32)

static void it_understands_random_sessions(void** state)
{
    (void)state;
    skip(); // no fork()
}

#else

#include "support/golden_pinhole_text.h"

#include "client/client_state.h"

#include <pinhole/stats.h>

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SESSIONS = 40, STEPS = 100, SCHEMA_MAX = 1 << 17 };

static int to_decoder;
static golden_lines line;
static uint64_t applied_count;
static uint64_t dropped_count;

// ---- the other process

static pid_t start(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("python3", "python3", "test/decode_packet.py", "--follow", "test/golden/pinhole",
               (char*)NULL);
        _exit(127);
    }
    close(ends[0]);
    to_decoder = ends[1];
    return child;
}

static int stop(pid_t child)
{
    close(to_decoder);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// Sends the line.
static void tell(void)
{
    for (int sent = 0; sent < line.length;) {
        const ssize_t count =
            write(to_decoder, line.text + sent, (size_t)line.length - (size_t)sent);
        assert_true(count > 0);
        sent += (int)count;
    }
    line.length = 0;
}

// ---- what it is told

static void tell_schema(const test_session* session)
{
    static char text[SCHEMA_MAX];
    assert_true(ph_schema_print(session->schema, text, sizeof text) < sizeof text);
    golden_print(&line, "profile %s\n",
                 session->def.profile == PH_PROFILE_PINHOLE ? "pinhole" : "classic");
    for (const char* at = text; *at != '\0';) {
        const int length = (int)strcspn(at, "\n");
        golden_print(&line, "schema %.*s\n", length, at);
        at += at[length] == '\n' ? length + 1 : length;
        tell();
    }
}

// The client has just got it, and its counts say whether it was taken.
static void tell_packet(test_session* session, int viewer, const void* bytes, size_t size)
{
    if (viewer != 0) {
        return;
    }
    static ph_client_stats before;
    const ph_client_stats now = ph_client_get_stats(session->viewers[0].client);
    if (now.received_datagrams == 1) {
        before = (ph_client_stats){0};
    }
    const bool is_applied =
        now.applied_packets + now.received_probes > before.applied_packets + before.received_probes;
    before = now;
    *(is_applied ? &applied_count : &dropped_count) += 1;
    golden_print(&line, "packet %d ", is_applied);
    for (size_t i = 0; i < size; ++i) {
        golden_print(&line, "%02x", ((const uint8_t*)bytes)[i]);
    }
    golden_print(&line, "\n");
    tell();
}

static void tell_shown(const ph_client* client)
{
    const ph_client_entities* entities = &client->entities;
    for (int slot = 0; slot < entities->slot_count; ++slot) {
        if (ph_bitset_test(&entities->is_entered, slot)) {
            golden_print(&line, "shown ");
            golden_print_slot(&line, entities, slot);
            tell();
        }
    }
    golden_print(&line, "end\n");
    tell();
}

static void play(int number)
{
    static test_session session;
    const session_def def = {
        .seed = 9000 + (uint64_t)number,
        .schema =
            number % 6 == 5 ? SESSION_CARRIED : (session_schema)(number % SESSION_SCHEMA_COUNT),
        .profile = number % 5 == 4 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE,
        .is_universal = number % 5 == 3,
        .is_tuned = number % 4 == 1,
        .is_viewing_steady = true,
        .is_restless = true,
        .entity_count = 40,
        .viewer_count = 1,
        .network = {.delay_us = 30000,
                    .jitter_us = 90000u * (uint32_t)(number % 3),
                    .loss = 0.1 * (number % 4),
                    .duplication = 0.1},
    };
    session_setup(&session, &def);
    tell_schema(&session);
    session.on_received = tell_packet;
    for (int step = 0; step < STEPS; ++step) {
        session_stir(&session, 12);
        session_step(&session);
    }
    tell_shown(session.viewers[0].client);
    session_teardown(&session);
}

static void it_understands_random_sessions(void** state)
{
    (void)state;
    const pid_t child = start();
    for (int i = 0; i < SESSIONS; ++i) {
        play(i);
    }
    assert_int_equal(stop(child), 0);
    assert_true(applied_count > 1500 && dropped_count > 100);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_understands_random_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
