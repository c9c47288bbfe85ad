// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The cases that break simpler rules of replicas, from the world to a real client: five packets in
// all orders, lost and doubled, and their acknowledgements likewise; and each case by itself.
//
// The five packets tell of three walkers, Ann, Bob and Cat:
//
//   1   Ann and Bob come; Ann's title is "a", and she looks along the x axis
//   2   her title becomes "b", and she looks along the y axis
//   3   both as before; Bob is hidden, Cat comes
//   4   Bob is seen again; all of them, and the viewer, are 3 km away at once
//   5   Ann follows Bob, and looks back
//
// Whatever comes, Ann never shows a third title or a fourth heading, no entity ever stands in a
// wrong kilometre, and at the end, when packets come through again, everything is equal.
//
// In the pinhole profile an enter is not repeated while it is in flight. So there Ann and Bob have
// come before, by a packet that was answered, and she has no title yet; and both ends agree on the
// baselines of every packet.

#include "support/sequences.h"
#include "support/test_session.h"

#include "packet/header.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <stdlib.h>
#include <string.h>

enum { PACKETS = 5, ANN = 0, BOB = 1, CAT = 2 };
enum { HEADING = 0, POSITION = 1, LEADER = 2, TITLE = 3 };
enum { AWAY_MM = 3000000 };

typedef struct parcel {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} parcel;

static test_session session;
static ph_profile profile;     // that is played
static session_viewer* viewer; // the only one
static parcel sent[250];       // all that the world has sent, in order
static int sent_count;
static uint64_t run_count;

// ---- the scene

static void capture(test_session* of, int place, const void* bytes, size_t size)
{
    (void)of;
    (void)place;
    assert_true(sent_count < (int)(sizeof sent / sizeof sent[0]));
    memcpy(sent[sent_count].bytes, bytes, size);
    sent[sent_count++].size = size;
}

static void spawn(uint64_t name, int32_t x_mm)
{
    session_spawn_as(&session, &(ph_spawn){.key = name, .position_mm = {x_mm, 0, 9000}});
}

static void set_title(const char* title)
{
    assert_int_equal(ph_world_set_property(session.world, session.ids[ANN], TITLE, PH_FIELD_TEXT,
                                           title, strlen(title)),
                     PH_OK);
}

static void turn(double heading_deg)
{
    assert_int_equal(ph_world_set_property(session.world, session.ids[ANN], HEADING, PH_FIELD_F64,
                                           &heading_deg, sizeof heading_deg),
                     PH_OK);
}

static void setup_empty(void)
{
    ++run_count;
    sent_count = 0;
    session_setup(&session, &(session_def){.schema = SESSION_WALKERS,
                                           .profile = profile,
                                           .seed = 1,
                                           .is_vision_plain = true});
    session.on_sent = capture;
    ph_viewer_def def = ph_viewer_def_default();
    def.visible_max = 3;
    def.slot_count = 5;
    def.radius_mm = 50000;
    def.bits_per_second = 0;
    viewer = &session.viewers[session_join_as(&session, &def)];
}

static void send(void)
{
    session_tick(&session);
    session_send_to(&session, 0);
}

static void move_all(int32_t x_mm)
{
    for (int i = 0; i < session.entity_count; ++i) {
        ph_world_move(session.world, session.ids[i], x_mm + 1000 * i, 0, 9000);
    }
    assert_int_equal(ph_viewer_set_eye(session.world, viewer->id, x_mm, 0, 0), PH_OK);
}

// One of the five packets.
static void play(int number)
{
    switch (number) {
    case 1:
        if (session.entity_count == 0) {
            spawn(10, 0);
            spawn(11, 1000);
        }
        set_title("a");
        break;
    case 2:
        set_title("b");
        turn(90);
        break;
    case 3:
        set_title("a");
        turn(0);
        ph_world_set_visibility(session.world, session.ids[BOB], 0, false, false);
        spawn(12, 2000);
        break;
    case 4:
        ph_world_set_visibility(session.world, session.ids[BOB], UINT32_MAX, false, false);
        move_all(AWAY_MM);
        break;
    default:
        ph_world_set_property(session.world, session.ids[ANN], LEADER, PH_FIELD_ENTITY,
                              &session.ids[BOB], sizeof(ph_entity_id));
        turn(180);
        break;
    }
    const int before = sent_count;
    send();
    assert_int_equal(sent_count, before + 1);
}

static double shown_heading(ph_entity_id id)
{
    double heading_deg;
    assert_int_equal(ph_client_get_property(viewer->client, id, HEADING, PH_FIELD_F64, &heading_deg,
                                            sizeof heading_deg),
                     PH_OK);
    return heading_deg;
}

static void check_shown(void)
{
    for (uint64_t name = 10; name <= 12; ++name) {
        const ph_entity_id id = ph_client_find(viewer->client, name);
        if (id.index1 == 0) {
            continue;
        }
        int32_t at_mm[3];
        char title[10];
        ph_client_get_property(viewer->client, id, POSITION, PH_FIELD_I32X3, at_mm, sizeof at_mm);
        ph_client_get_property(viewer->client, id, TITLE, PH_FIELD_TEXT, title, sizeof title);
        const int32_t here_mm = 1000 * (int32_t)(name - 10);
        assert_true(abs(at_mm[0] - here_mm) < 4 || abs(at_mm[0] - here_mm - AWAY_MM) < 4);
        const double heading_deg = shown_heading(id);
        assert_true(heading_deg == 0 || (name == 10 && (heading_deg == 90 || heading_deg == 180)));
        assert_true(strlen(title) <= 1 && strchr(name == 10 ? "ab" : "", title[0]) != NULL);
        assert_true(name != 10 || title[0] != '\0' || profile == PH_PROFILE_PINHOLE);
    }
    assert_true(ph_client_validate(viewer->client));
}

static ph_result receive(int number)
{
    const parcel* it = &sent[number - 1];
    const ph_result result = ph_client_receive(viewer->client, session.now_us, it->bytes, it->size);
    session_check_baselines(&session, 0);
    check_shown();
    return result;
}

static void acknowledge(const uint8_t ack[PH_ACK_SIZE])
{
    assert_int_equal(
        ph_viewer_receive_ack(session.world, viewer->id, session.now_us, ack, PH_ACK_SIZE), PH_OK);
}

static void answer(void)
{
    uint8_t ack[PH_ACK_SIZE];
    if (ph_client_write_ack(viewer->client, session.now_us, ack) > 0) {
        acknowledge(ack);
    }
}

static void setup(void)
{
    setup_empty();
    if (profile == PH_PROFILE_PINHOLE) {
        spawn(10, 0);
        spawn(11, 1000);
        send();
        assert_int_equal(receive(1), PH_OK);
        answer();
        sent_count = 0;
    }
}

// What the links still hold is lost; from now on everything comes through.
static void heal(void)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    while (ph_link_receive(viewer->down, UINT64_MAX, bytes, sizeof bytes) > 0) {
    }
    session.on_sent = NULL;
    session_settle(&session, 40);
    check_shown();
    session_teardown(&session);
}

// ---- all of them

static void deliver_sequence(const int* sequence, int length, int is_answered)
{
    setup();
    for (int i = 1; i <= PACKETS; ++i) {
        play(i);
    }
    for (int i = 0; i < length; ++i) {
        receive(sequence[i]);
        if (is_answered) {
            answer();
        }
    }
    heal();
}

static void packets_come_in_any_order_or_never_or_twice(void** state)
{
    (void)state;
    for_sequences(deliver_sequence, PACKETS, PACKETS, false);
    for_sequences(deliver_sequence, PACKETS, PACKETS - 1, true);
}

static void acknowledge_sequence(const int* sequence, int length, int applied)
{
    setup();
    uint8_t acks[PACKETS][PH_ACK_SIZE];
    int ack_count = 0;
    for (int i = 1; i <= PACKETS; ++i) {
        play(i);
    }
    for (int i = 1; i <= PACKETS; ++i) {
        if ((applied >> i & 1) != 0) {
            assert_int_equal(receive(i), PH_OK);
            ph_client_write_ack(viewer->client, session.now_us, acks[ack_count++]);
        }
    }
    for (int i = 0; i < length; ++i) {
        acknowledge(acks[sequence[i] - 1]);
    }
    heal();
}

static void acknowledgements_come_in_any_order_or_never_or_twice(void** state)
{
    (void)state;
    for (int applied = 2; applied < 2 << PACKETS; applied += 2) {
        int count = 0;
        for (int i = 1; i <= PACKETS; ++i) {
            count += applied >> i & 1;
        }
        for_sequences(acknowledge_sequence, count, count, applied);
    }
}

// What becomes of a packet, and of the answer to it. Late is two packets later.
typedef enum fate {
    FATE_LOST,
    FATE_COMES,
    FATE_COMES_UNANSWERED,
    FATE_LATE,
    FATE_ALL_LATE,
    FATE_TWICE, // at once and late, answered both times
    FATE_COUNT
} fate;

static void meet_fates(const fate fates[PACKETS + 1])
{
    setup();
    uint8_t late[PACKETS + 1][PH_ACK_SIZE];
    bool is_late[PACKETS + 1] = {false};
    for (int now = 1; now <= PACKETS + 4; ++now) {
        if (now <= PACKETS) {
            play(now);
        }
        const int old = now - 2;
        if (old >= 1 && old <= PACKETS && fates[old] >= FATE_LATE) {
            receive(old);
            if (fates[old] != FATE_ALL_LATE) {
                answer();
            } else {
                is_late[old] = ph_client_write_ack(viewer->client, session.now_us, late[old]) > 0;
            }
        }
        if (now > 4 && is_late[now - 4]) {
            acknowledge(late[now - 4]);
        }
        if (now <= PACKETS && (fates[now] == FATE_COMES || fates[now] == FATE_TWICE ||
                               fates[now] == FATE_COMES_UNANSWERED)) {
            receive(now);
            if (fates[now] != FATE_COMES_UNANSWERED) {
                answer();
            }
        }
    }
    heal();
}

// The profiles share them: every pair of packets meets every pair of fates in both.
static void every_packet_meets_every_fate(void** state)
{
    (void)state;
    const int count = FATE_COUNT * FATE_COUNT * FATE_COUNT * FATE_COUNT * FATE_COUNT;
    for (int i = 0; i < count; ++i) {
        fate fates[PACKETS + 1] = {FATE_LOST};
        int sum = 0;
        for (int p = 1, rest = i; p <= PACKETS; ++p, rest /= FATE_COUNT) {
            fates[p] = (fate)(rest % FATE_COUNT);
            sum += (int)fates[p];
        }
        if (sum % PH_PROFILE_COUNT == (int)profile) {
            meet_fates(fates);
        }
    }
    assert_true(run_count > 12000);
}

// ---- each by itself

static const char* shown_title(void)
{
    static char title[10];
    const ph_entity_id id = ph_client_find(viewer->client, 10);
    assert_int_equal(
        ph_client_get_property(viewer->client, id, TITLE, PH_FIELD_TEXT, title, sizeof title),
        PH_OK);
    return title;
}

static void what_changed_there_and_back_is_told_while_the_change_is_in_flight(void** state)
{
    (void)state;
    setup();
    play(1);
    receive(1);
    answer();
    turn(90);
    send();
    turn(0);
    send();
    assert_int_equal(sent_count, 3); // although the client is known to look along the x axis
    receive(2);
    assert_true(shown_heading(ph_client_find(viewer->client, 10)) == 90);
    receive(3);
    assert_true(shown_heading(ph_client_find(viewer->client, 10)) == 0);
    heal();
}

static void an_update_after_a_lost_enter_is_an_enter(void** state)
{
    (void)state;
    setup_empty();
    play(1);
    set_title("b");
    send();
    assert_int_equal(receive(sent_count), PH_OK);
    assert_string_equal(shown_title(), "b");
    heal();
}

static void a_slot_is_used_again_only_when_the_client_has_left_it(void** state)
{
    (void)state;
    setup();
    play(1);
    receive(1);
    answer();
    const int slot = (int)ph_client_find(viewer->client, 11).index1 - 1;
    for (int round = 0; round < 8; ++round) {
        ph_world_set_visibility(session.world, session.ids[BOB], 0, false, false);
        send(); // the leave is lost
        ph_world_set_visibility(session.world, session.ids[BOB], UINT32_MAX, false, false);
        send(); // and comes back in another slot, or waits for one
        ph_vision sight;
        ph_viewer_get_vision(session.world, viewer->id, &sight);
        assert_int_equal(sight.entities[slot], PH_ENTITY_NONE);
    }
    heal();
}

// A packet that gets lost, or comes and is answered.
static void send_and_answer(bool is_lost)
{
    const int before = sent_count;
    send();
    if (sent_count > before && !is_lost) {
        assert_int_equal(receive(sent_count), PH_OK);
        answer();
    }
}

// Bob and Cat take turns, oftener than two bits can count, in as few slots as will do; the leave
// gets lost, or the enter, or neither.
static void a_slot_shows_one_after_the_other(void** state)
{
    (void)state;
    setup();
    play(1);
    play(3);
    receive(2);
    answer();
    for (int round = 0; round < 24; ++round) {
        const int here = round % 2 == 0 ? CAT : BOB;
        const int other = BOB + CAT - here;
        ph_world_set_visibility(session.world, session.ids[here], 0, false, false);
        send_and_answer(round % 3 == 1);
        ph_world_set_visibility(session.world, session.ids[other], UINT32_MAX, false, false);
        send_and_answer(round % 3 == 2);
        for (int i = 0; i < 3; ++i) {
            turn(90 * ((round + i) % 3));
            send_and_answer(false);
        }
        assert_true(session_is_equal(&session, 0, NULL));
    }
    heal();
}

static void a_lost_teleport_never_shows_a_wrong_kilometre(void** state)
{
    (void)state;
    setup();
    play(1);
    receive(1);
    answer();
    for (int round = 0; round < 6; ++round) {
        move_all(round % 2 == 0 ? AWAY_MM : 0);
        send(); // lost
        ph_world_move(session.world, session.ids[ANN], round % 2 == 0 ? AWAY_MM : 0, 0, 9500);
        send();
        if (round != 2) {
            assert_int_equal(receive(sent_count), PH_OK); // looks at the coordinates
        }
        if (round > 3) {
            answer();
        }
    }
    heal();
}

// The flight has room for 64 packets; behind them only probes go out, one a second.
static void mute_for(int sends)
{
    for (int i = 0; i < sends; ++i) {
        set_title(i % 2 == 0 ? "b" : "a");
        send();
    }
}

static ph_viewer_stats stats(void)
{
    ph_viewer_stats is;
    assert_int_equal(ph_viewer_get_stats(session.world, viewer->id, &is), PH_OK);
    return is;
}

static void one_answer_resolves_a_hundred_sends(void** state)
{
    (void)state;
    setup();
    play(1);
    mute_for(100);
    assert_int_equal(stats().in_flight_count, PH_FLIGHT_MAX);
    assert_int_equal(sent_count, PH_FLIGHT_MAX + (int)stats().sent_probes);
    assert_in_range(stats().sent_probes, 3, 4); // 3.7 s
    assert_int_equal(receive(sent_count), PH_OK);
    answer();
    assert_int_equal(stats().in_flight_count, 0);
    assert_int_equal(stats().lost_packets, PH_FLIGHT_MAX);
    heal();
}

static void a_client_that_never_answers_costs_a_probe_a_second(void** state)
{
    (void)state;
    setup();
    play(1);
    mute_for(1000);
    assert_int_equal(stats().in_flight_count, PH_FLIGHT_MAX);
    assert_in_range(stats().sent_probes, 90, 94); // 93.7 s
    assert_int_equal(sent_count, PH_FLIGHT_MAX + (int)stats().sent_probes);
    assert_true(ph_world_validate(session.world));
    heal();
}

// What came before the five packets is stated as it was: that is not where the lie is.
static void forge(uint32_t newest, uint64_t applied, size_t size)
{
    uint8_t bytes[PH_ACK_SIZE + 4] = {0};
    const uint32_t ago = newest - viewer->def.session - 1;
    const bool has_come = profile == PH_PROFILE_PINHOLE && ago <= PACKETS;
    applied |= has_come ? UINT64_C(1) << ago : 0;
    ph_ack_write(&(ph_ack){.newest = newest, .applied = applied}, bytes);
    const ph_viewer_stats before = stats();
    assert_int_equal(ph_viewer_receive_ack(session.world, viewer->id, session.now_us, bytes, size),
                     PH_ERROR_VALUE);
    const ph_viewer_stats after = stats();
    assert_int_equal(after.in_flight_count, before.in_flight_count);
    assert_int_equal(after.resolved_packets, before.resolved_packets);
    assert_int_equal(after.new_acks, before.new_acks);
    assert_int_equal(after.contrary_acks + after.impossible_acks + after.malformed_acks,
                     before.contrary_acks + before.impossible_acks + before.malformed_acks + 1);
}

static void forged_answers_change_nothing(void** state)
{
    (void)state;
    setup();
    const uint32_t first = viewer->def.session + (profile == PH_PROFILE_PINHOLE ? 2 : 1);
    forge(first, 1, PH_ACK_SIZE); // nothing was sent yet
    for (int i = 1; i <= PACKETS; ++i) {
        play(i);
    }
    receive(1);
    receive(3);
    answer();                                  // 1 and 3, not 2
    forge(first + 2, 7, PH_ACK_SIZE);          // 2 after all
    forge(first + 2, 1, PH_ACK_SIZE);          // 1 not any more
    forge(first + 4, 0x1F, PH_ACK_SIZE);       // news, and the opposite of what was said
    forge(first + 5, 1, PH_ACK_SIZE);          // not sent yet
    forge(first + 4, UINT64_MAX, PH_ACK_SIZE); // packets before the first
    forge(viewer->def.session, 0, PH_ACK_SIZE);
    forge(first + UINT32_C(0x80000000), 1, PH_ACK_SIZE);
    for (size_t size = 0; size <= PH_ACK_SIZE + 4; ++size) {
        if (size != PH_ACK_SIZE) {
            forge(first + 2, 5, size);
        }
    }
    heal();
}

static int play_profile(ph_profile played)
{
    profile = played;
    run_count = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_come_in_any_order_or_never_or_twice),
        cmocka_unit_test(acknowledgements_come_in_any_order_or_never_or_twice),
        cmocka_unit_test(every_packet_meets_every_fate),
        cmocka_unit_test(what_changed_there_and_back_is_told_while_the_change_is_in_flight),
        cmocka_unit_test(an_update_after_a_lost_enter_is_an_enter),
        cmocka_unit_test(a_slot_is_used_again_only_when_the_client_has_left_it),
        cmocka_unit_test(a_slot_shows_one_after_the_other),
        cmocka_unit_test(a_lost_teleport_never_shows_a_wrong_kilometre),
        cmocka_unit_test(one_answer_resolves_a_hundred_sends),
        cmocka_unit_test(a_client_that_never_answers_costs_a_probe_a_second),
        cmocka_unit_test(forged_answers_change_nothing),
    };
    return cmocka_run_group_tests_name(played == PH_PROFILE_PINHOLE ? "pinhole" : "classic", tests,
                                       NULL, NULL);
}

int main(void)
{
    return play_profile(PH_PROFILE_CLASSIC) + play_profile(PH_PROFILE_PINHOLE);
}
