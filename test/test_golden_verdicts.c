// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client makes of golden packets of the pinhole profile that have one bit changed: applies
// them or refuses them. The second decoder must come to the same verdicts, so the rules of refusal
// in docs/wire_pinhole.md are held against the library, too. test/golden/pinhole/verdicts.txt names
// the packets and has a digit for every fifth bit: 1 applied, 0 refused.

#include "support/golden_session.h"

#include "client/client_state.h"

#include <stdio.h>
#include <string.h>

#define FILE_NAME "pinhole/verdicts.txt"

// Every bit would take half a minute.
enum { BITS_APART = 5, PACKETS_MAX = 32, NAME_MAX = 63, TICK_US = 50000 };

typedef struct datagram {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} datagram;

// The packets of one session so far.
typedef struct story {
    char session[NAME_MAX + 1];
    datagram told[PACKETS_MAX];
    int count;
} story;

static golden_session golden;
static story past;

static ph_result give(ph_client* client, const datagram* packet)
{
    return ph_client_receive(client, (uint64_t)past.count * TICK_US, packet->bytes, packet->size);
}

// A client that has heard the story.
static ph_client* make_listener(void)
{
    ph_client_def def = ph_client_def_default();
    def.schema = golden.schema;
    def.profile = PH_PROFILE_PINHOLE;
    def.slot_capacity = GOLDEN_SLOTS;
    def.ground = golden.ground;
    ph_client* client;
    assert_int_equal(ph_client_create(&def, &client), PH_OK);
    for (int i = 0; i < past.count; ++i) {
        assert_int_equal(give(client, &past.told[i]), PH_OK);
    }
    return client;
}

// Names of packets begin with that of their session.
static void continue_story(const char* name)
{
    const size_t length = strcspn(name, "_");
    if (strncmp(past.session, name, length) != 0 || past.session[length] != '\0') {
        past = (story){0};
        memcpy(past.session, name, length);
    }
}

static void add_verdicts(const datagram* packet, char* verdicts)
{
    ph_client* client = make_listener();
    size_t count = 0;
    for (size_t bit = 0; bit < 8 * packet->size; bit += BITS_APART) {
        datagram changed = *packet;
        changed.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const uint64_t before = ph_client_digest(client);
        const bool is_applied = give(client, &changed) == PH_OK;
        verdicts[count++] = is_applied ? '1' : '0';
        if (is_applied) {
            ph_client_destroy(client);
            client = make_listener();
        } else {
            assert_true(ph_client_digest(client) == before);
        }
    }
    verdicts[count] = '\0';
    ph_client_destroy(client);
}

// The line of one packet.
static int print_verdicts(const char* name, char* line, size_t capacity)
{
    static char verdicts[8 * PH_PAYLOAD_MAX / BITS_APART + 2];
    char file_name[NAME_MAX + 20];
    snprintf(file_name, sizeof file_name, "pinhole/%s.bin", name);
    continue_story(name);
    assert_true(past.count < PACKETS_MAX);
    datagram* packet = &past.told[past.count];
    packet->size = golden_load(file_name, packet->bytes, sizeof packet->bytes);
    add_verdicts(packet, verdicts);
    past.count += 1;
    return snprintf(line, capacity, "%s %s\n", name, verdicts);
}

static void one_bit_changed(void** state)
{
    (void)state;
    static char expected[GOLDEN_FILE_MAX];
    static char found[GOLDEN_FILE_MAX];
    golden_setup_in(&golden, "pinhole/", GOLDEN_SLOTS);
    golden_load(FILE_NAME, (uint8_t*)expected, sizeof expected - 1);
    size_t length = 0;
    for (const char* line = expected; *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[NAME_MAX + 1];
        assert_int_equal(sscanf(line, "%63s", name), 1);
        length += (size_t)print_verdicts(name, found + length, sizeof found - length);
        assert_true(length < sizeof found);
        assert_non_null(strchr(line, '\n'));
    }
    golden_compare(FILE_NAME, found, length);
    golden_teardown(&golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
