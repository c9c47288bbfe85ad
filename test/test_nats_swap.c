// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Of several swaps of one record at the same time one succeeds, on three real servers that replicate it, while another
// record changes all the time. Skipped where there is no nats-server.

#define _POSIX_C_SOURCE 200809L

#include "support/nats_servers.h"
#include "support/test_support.h"

#include <pinhole/bus/nats.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RIVALS = 4, ROUNDS = 40, SERVERS = 3, WAIT_MS = 20000 };

typedef struct end {
    ph_nats* nats;
    ph_bus_transport t;
} end;

static void open_end(end* e, const char* servers)
{
    ph_nats_def def = ph_nats_def_default();
    def.servers = servers;
    def.replicas = SERVERS;
    assert_int_equal(ph_nats_open(&def, &e->nats), PH_OK);
    e->t = ph_nats_transport(e->nats);
}

static ph_bus_answer await_answer(end* e)
{
    ph_bus_answer answer;
    for (int waited_ms = 0; !e->t.next_answer(e->t.context, &answer); ++waited_ms) {
        assert_true(waited_ms < WAIT_MS);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return answer;
}

// Until the servers have a leader and the bucket is there.
static uint64_t make_record(end* e, const char* key)
{
    for (int i = 0; i < 100; ++i) {
        e->t.swap(e->t.context, key, 0, "first", 5, 1);
        const ph_bus_answer answer = await_answer(e);
        if (answer.outcome == PH_BUS_DONE) {
            return answer.revision;
        }
        if (answer.outcome == PH_BUS_CONFLICT) { // the swap before was not answered, and is done
            e->t.read(e->t.context, key, 2);
            return await_answer(e).revision;
        }
    }
    fail_msg("the record %s cannot be made", key);
    return 0;
}

// All of them at once. @return The revision of the one that has won.
static uint64_t race(end* rivals, uint64_t revision)
{
    uint64_t won = 0;
    char text[24];
    for (int i = 0; i < RIVALS; ++i) {
        snprintf(text, sizeof text, "rival %d", i);
        rivals[i].t.swap(rivals[i].t.context, "raced", revision, text, strlen(text), 3);
    }
    for (int i = 0; i < RIVALS; ++i) {
        const ph_bus_answer answer = await_answer(&rivals[i]);
        if (answer.outcome == PH_BUS_DONE) {
            assert_int_equal(won, 0); // a second owner
            won = answer.revision;
        }
    }
    // None where a server was too slow for all of them: then the record says what is so.
    rivals[0].t.read(rivals[0].t.context, "raced", 4);
    const ph_bus_answer now = await_answer(&rivals[0]);
    assert_int_equal(now.outcome, PH_BUS_DONE);
    assert_true(won == 0 || now.revision == won);
    return now.revision;
}

static void of_swaps_at_the_same_time_one_succeeds(void** state)
{
    (void)state;
    if (!nats_servers_are_there()) {
        skip();
    }
    nats_servers servers;
    nats_servers_start(&servers, &(nats_servers_def){.count = SERVERS});
    end rivals[RIVALS];
    end other;
    for (int i = 0; i < RIVALS; ++i) {
        open_end(&rivals[i], nats_servers_url(&servers, i % SERVERS));
    }
    open_end(&other, nats_servers_url(&servers, 0));
    uint64_t revision = make_record(&rivals[0], "raced");
    uint64_t other_revision = make_record(&other, "other");
    int wins = 0;
    int changes = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        other.t.swap(other.t.context, "other", other_revision, "x", 1, 5);
        const uint64_t next = race(rivals, revision);
        wins += next != revision;
        revision = next;
        const ph_bus_answer answer = await_answer(&other);
        changes += answer.outcome == PH_BUS_DONE;
        other.t.read(other.t.context, "other", 6);
        other_revision = await_answer(&other).revision;
    }
    // What has changed beside it is no reason to fail.
    assert_in_range(wins, ROUNDS * 9 / 10, ROUNDS);
    assert_in_range(changes, ROUNDS * 9 / 10, ROUNDS);
    for (int i = 0; i < RIVALS; ++i) {
        ph_nats_close(rivals[i].nats);
    }
    ph_nats_close(other.nats);
    nats_servers_end(&servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_swaps_at_the_same_time_one_succeeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
