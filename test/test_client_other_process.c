// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client lives from bytes alone: one in another process, which has nothing of the world but what
// comes through a pipe, answers every datagram as the one beside the world does, has the same
// baselines and shows the same, to the last bit.

#include "support/test_session.h"

#if defined(_WIN32)

static void a_client_in_another_process_shows_the_same(void** state)
{
    (void)state;
    skip(); // no fork()
}

#else

#include "support/random_record.h"

#include "client/client_state.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// What goes there, in front of the bytes; size 0 ends it.
typedef struct envelope {
    uint64_t now_us;
    uint64_t size;
} envelope;

// What comes back.
typedef struct reply {
    uint64_t digest;
    uint64_t baseline_digest;
    uint64_t ack_size;
    uint8_t ack[PH_ACK_SIZE];
} reply;

static int to_child;
static int from_child;
static uint64_t reply_count;

static bool read_all(int file, void* bytes, size_t size)
{
    uint8_t* at = bytes;
    while (size > 0) {
        const ssize_t count = read(file, at, size);
        if (count <= 0) {
            return false;
        }
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool write_all(int file, const void* bytes, size_t size)
{
    return write(file, bytes, size) == (ssize_t)size; // less than a pipe holds
}

static reply reply_of(ph_client* client, uint64_t now_us)
{
    reply made;
    memset(&made, 0, sizeof made);
    made.digest = ph_client_digest(client);
    made.baseline_digest =
        client->def.profile == PH_PROFILE_PINHOLE ? ph_client_baseline_digest(client) : 0;
    made.ack_size = ph_client_write_ack(client, now_us, made.ack);
    return made;
}

// In the child: nothing of cmocka, and no memory of the parent.
static bool live(const session_def* def, int in, int out)
{
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = session_schema_make(def->schema, def->seed);
    client_def.slot_capacity = SESSION_SLOTS_MAX;
    client_def.profile = def->profile;
    client_def.ground = random_record_ground();
    ph_client* client;
    if (ph_client_create(&client_def, &client) != PH_OK) {
        return false;
    }
    envelope datagram;
    uint8_t bytes[PH_PAYLOAD_MAX];
    while (read_all(in, &datagram, sizeof datagram) && datagram.size > 0) {
        if (datagram.size > sizeof bytes || !read_all(in, bytes, (size_t)datagram.size)) {
            return false;
        }
        ph_client_receive(client, datagram.now_us, bytes, (size_t)datagram.size);
        const reply made = reply_of(client, datagram.now_us);
        if (!write_all(out, &made, sizeof made)) {
            return false;
        }
    }
    return true;
}

static pid_t start(const session_def* def)
{
    int there[2];
    int back[2];
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        _exit(live(def, there[0], back[1]) ? 0 : 1);
    }
    close(there[0]);
    close(back[1]);
    to_child = there[1];
    from_child = back[0];
    return child;
}

static void stop(pid_t child)
{
    const envelope last = {0};
    assert_true(write_all(to_child, &last, sizeof last));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(to_child);
    close(from_child);
}

static void compare(test_session* session, int viewer, const void* bytes, size_t size)
{
    if (viewer != 0) {
        return;
    }
    const envelope datagram = {.now_us = session->now_us, .size = size};
    assert_true(write_all(to_child, &datagram, sizeof datagram));
    assert_true(write_all(to_child, bytes, size));
    reply there;
    assert_true(read_all(from_child, &there, sizeof there));
    const reply here = reply_of(session->viewers[viewer].client, session->now_us);
    if (memcmp(&there, &here, sizeof here) != 0) {
        fail_msg("%s: the client in the other process is another one", session_label(session));
    }
    ++reply_count;
}

// The other process begins before there is a world.
static void play(ph_profile profile, uint64_t seed)
{
    static test_session session;
    const session_def def = {
        .seed = seed,
        .schema = (session_schema)(seed % SESSION_SCHEMA_COUNT),
        .profile = profile,
        .is_viewing_steady = true,
        .entity_count = 40,
        .viewer_count = 2,
        .network = {.delay_us = 30000, .jitter_us = 90000, .loss = 0.15, .duplication = 0.1},
    };
    const pid_t child = start(&def);
    session_setup(&session, &def);
    session.on_received = compare;
    for (int step = 0; step < 150; ++step) {
        session_stir(&session, 12);
        session_step(&session);
    }
    session_settle(&session, 6000); // so both equal the world
    stop(child);
    session_teardown(&session);
}

static void a_client_in_another_process_shows_the_same(void** state)
{
    (void)state;
    for (uint64_t seed = 60; seed < 68; ++seed) {
        play(PH_PROFILE_CLASSIC, seed);
        play(PH_PROFILE_PINHOLE, seed);
    }
    assert_true(reply_count > 1000);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_in_another_process_shows_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
