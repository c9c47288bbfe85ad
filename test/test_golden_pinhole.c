// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Three sessions of the pinhole profile whose packets are kept in test/golden/pinhole/, byte for byte,
// beside what they say as text; and the static tables as text. When the wire or the tables change on
// purpose: PINHOLE_GOLDEN_WRITE=1 ctest --test-dir build/debug -R golden, and change
// docs/wire_pinhole.md in the same commit.

#include "support/golden_apart.h"
#include "support/golden_pinhole.h"
#include "support/golden_pinhole_text.h"

#include "packet/header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int32_t EYE[3] = {40000, 50000, 1700};
static const int32_t EYE_LATER[3] = {44000, 50000, 1700};

static golden_pinhole golden;
// Of all sessions.
static ph_pinhole_counts all_counts;

static ph_header packet(uint32_t number, uint32_t horizon, int density)
{
    return (ph_header){
        .sequence = number, .horizon = horizon, .wait = 4, .density = (uint8_t)density};
}

static ph_header with_eye(ph_header header, const int32_t eye_mm[3])
{
    header.has_eye = true;
    memcpy(header.eye_mm, eye_mm, sizeof header.eye_mm);
    return header;
}

static ph_header with_hello(ph_header header)
{
    header.has_hello = true;
    header.wait = PH_WAIT_UNKNOWN;
    return header;
}

static ph_header with_counts(ph_header header, int leaves, int enters)
{
    header.leave_count = leaves;
    header.enter_count = enters;
    return header;
}

static void begin(ph_header header, uint32_t tick, const int32_t eye_mm[3])
{
    golden_pinhole_begin(&golden, &header, tick, eye_mm);
}

static void end(const char* name)
{
    golden_pinhole_end(&golden, name);
}

static void update(int slot, const char* properties)
{
    golden_update(&golden.base, slot, 1, properties, false);
}

static void jump(int slot, const char* properties)
{
    golden_update(&golden.base, slot, 1, properties, true);
}

static void place(int slot, int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    golden_place(&golden.base, slot, x_mm, y_mm, z_mm);
}

static void number(int slot, const char* property, double value)
{
    golden_number(&golden.base, slot, property, value);
}

static void newcomer(int slot, const char* class_name, int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    golden_dress(&golden.base, slot, class_name);
    place(slot, x_mm, y_mm, z_mm);
}

static void enter(int slot, uint32_t association, uint64_t name)
{
    golden_enter(&golden.base, slot, association, name);
}

static void end_session(void)
{
    golden_pinhole_shown(&golden);
    for (int i = 0; i < PH_PINHOLE_ENTRIES; ++i) {
        all_counts.seen[i] += golden.counts.seen[i];
    }
    golden_pinhole_teardown(&golden);
}

// ---- a session of 256 slots, 20 ticks a second, coarse by up to 1 mrad

// Every property away from its initial value.
static void dress_creature(int slot)
{
    golden_session* base = &golden.base;
    golden_dress(base, slot, "creature");
    number(slot, "alive", 0);
    number(slot, "is_angry", 0);
    number(slot, "kind", 4);
    number(slot, "mood", -3);
    number(slot, "health", 99);
    number(slot, "score", 999999999999.0);
    number(slot, "ammo", 5);
    number(slot, "guild", 99999);
    number(slot, "hat", 2);
    number(slot, "gold", 300);
    number(slot, "debt", -1000);
    number(slot, "arrows", 255);
    number(slot, "keys", 6);
    number(slot, "luck", -2);
    number(slot, "steps", 21);
    number(slot, "size", 1.75);
    number(slot, "charge", -9.9);
    number(slot, "lever", 1);
    number(slot, "heading", 270);
    number(slot, "roll", 2.5);
    golden_rotation(base, slot, "pose", 0.5, -0.5, 0.1, -0.7);
    golden_vector(base, slot, "speed", -10, 0.5, 9.5);
    golden_vector(base, slot, "wind", 12.3, 0.1, 20);
    golden_text(base, slot, "name", "J\xC3\xBCrgen", 7);
    number(slot, "rank", 3);
    golden_text(base, slot, "badge", "\0\xFF\x80", 3);
}

static void first_enters(void)
{
    begin(with_eye(with_hello(packet(65531, 0, 0)), EYE), 1000, EYE);
    end("01_hello");

    dress_creature(0);
    place(0, 40012, 50007, -199);
    newcomer(1, "walker", 20000, 30000, 100); // on the floor of three layers
    number(1, "heading", 90);
    newcomer(2, "mark", 41000, 49000, -1);
    newcomer(3, "fish", 60123, 70001, 3333);
    number(3, "heading", 46);
    newcomer(4, "lamp", 45000, 50000, 4800);
    number(4, "light", 700);
    newcomer(5, "crate", 42000, 51000, 0);
    newcomer(6, "chest", 42000, 52000, 0);
    newcomer(9, "creature", 43000, 50000, 0);
    begin(with_counts(with_eye(with_hello(packet(65532, 0, 0)), EYE), 0, 8), 1003, EYE);
    enter(0, 1, 100);
    enter(1, 1, 101); // moves, and looks where it goes
    golden_pinhole_velocity(&golden, -1, 20, 0);
    enter(2, 1, 0);
    enter(3, 1, 5000000000);
    golden_pinhole_velocity(&golden, 300, 310, -12);
    enter(4, 1, 104);
    enter(5, 1, 105);
    enter(6, 1, 106);
    enter(9, 1, 109);
    end("02_enters");

    ph_header header = with_hello(packet(65532, 0, 0));
    header.is_probe = true;
    begin(header, 0, EYE);
    end("03_hello_probe");

    // The sender does not know yet that they have arrived, so they are entered again.
    place(1, 20010, 30500, 100);
    number(1, "heading", 0);
    newcomer(10, "walker", 60000, 50000, -200);
    number(10, "heading", 200);                  // moves, and looks elsewhere
    newcomer(11, "walker", -50000, -50000, 777); // nothing to stand on
    newcomer(12, "walker", 10000, 50000, 4900);
    newcomer(13, "walker", 10000, 52000, 8000); // in the air between three layers
    number(11, "heading", 205);                 // as the one before looks
    number(13, "heading", 4);
    begin(with_counts(with_eye(with_hello(packet(65533, 0, 0)), EYE), 0, 5), 1006, EYE);
    golden_pinhole_spread(&golden, (ph_pinhole_spread){.coarse = 4,
                                                       .place = 11,
                                                       .velocity = 4,
                                                       .heading = 6,
                                                       .key = 3,
                                                       .motion = PH_MOTION_AHEAD});
    enter(1, 1, 101);
    golden_pinhole_velocity(&golden, 2, 22, 0);
    golden_pinhole_jump(&golden);
    enter(10, 1, 110);
    golden_pinhole_velocity(&golden, 10, 10, 0);
    enter(11, 1, 111);
    enter(12, 1, 112);
    golden_pinhole_velocity(&golden, 2, 0, 0); // too slow to have a direction
    enter(13, 1, 113);
    golden_pinhole_velocity(&golden, 20, 1, 0); // and looks where it goes
    end("04_more_enters");
}

// The first two against the same baselines, the third after a loss.
static void motion(void)
{
    begin(packet(65534, 65533, 10), 1009, EYE);
    place(1, 20040, 30810, 100);
    update(1, "place");
    place(2, 41100, 48900, 60);
    update(2, "place");
    place(3, 60500, 70380, 3320);
    number(3, "heading", 45.5);
    update(3, "place heading");
    place(10, 60100, 50050, -200);
    number(10, "heading", 201);
    update(10, "place heading");
    end("05_motion");

    begin(packet(65535, 65533, 12), 1010, EYE);
    place(1, 20050, 30900, 100);
    number(1, "heading", 85);
    update(1, "heading place");
    place(3, 60590, 70470, 3318);
    update(3, "place");
    place(10, 60110, 50060, 4800); // on the bridge all at once
    update(10, "place");
    place(11, -50010, -50010, 800);
    update(11, "place");
    place(12, 10020, 50000, 4800);
    update(12, "place");
    place(13, 10020, 52030, 8100);
    update(13, "place");
    end("06_late_horizon");

    // 65536 gets lost.
    begin(with_eye(packet(65537, 65534, 9), EYE_LATER), 1016, EYE_LATER);
    place(1, 20080, 31400, 100);
    number(1, "heading", 88);
    update(1, "heading place");
    number(3, "heading", 44);
    update(3, "heading");
    jump(4, "place");
    number(10, "heading", 205);
    update(10, "heading");
    end("07_after_loss");
}

static void far_and_coarse(void)
{
    begin(packet(65538, 65537, 14), 1036, EYE_LATER);
    place(2, 300000, 48900, 60); // a large residual
    update(2, "place");
    place(3, 90000000, -70000000, 3200); // a larger one
    number(3, "heading", 270);
    jump(3, "place heading");
    place(5, 142000, 51000, 0);
    number(5, "health", 50);
    jump(5, "place health");
    place(10, 160000, 50000, 0);
    jump(10, "place");
    place(11, -150000, -50000, 900);
    number(11, "heading", 33);
    jump(11, "place heading");
    end("08_far");

    begin(packet(65539, 65538, 13), 1066, EYE_LATER);
    place(2, 301000, 48900, 70);
    update(2, "place");
    place(3, 90000100, -70000050, 3200);
    update(3, "place"); // could be coarse, is exact
    place(5, 142500, 51007, 0);
    update(5, "place");
    golden_pinhole_coarse(&golden);
    place(11, -150100, -50040, 900);
    update(11, "place");
    golden_pinhole_coarse(&golden);
    end("09_coarse");
}

static void values(void)
{
    golden_session* base = &golden.base;
    begin(packet(65540, 65539, 10), 1067, EYE_LATER);
    number(0, "alive", 1);
    number(0, "kind", 1);
    number(0, "mood", 3);
    number(0, "score", 999999999990.0);
    number(0, "ammo", 0);
    number(0, "guild", 7);
    number(0, "hat", 1);
    number(0, "gold", 9007199254740992.0);
    number(0, "arrows", 4294967295.0);
    number(0, "keys", 7);
    number(0, "charge", 9.9);
    number(0, "lever", 0);
    number(0, "roll", 0.1);
    number(0, "rank", 9); // sent but once, so the sender would not; but it may be said
    golden_rotation(base, 0, "pose", 0.1, -0.7, 0.1, 0.7);
    golden_vector(base, 0, "speed", 1, 2, 3);
    golden_vector(base, 0, "wind", 0, 1000, 20);
    golden_text(base, 0, "name", "", 0);
    golden_text(base, 0, "badge", "12345678", 8);
    golden_target(base, 0, "target", 1, 1);
    update(0, "alive is_angry kind mood health score ammo guild hat gold debt arrows keys luck "
              "steps size charge lever roll pose speed wind name rank badge target");
    golden_target(base, 1, "leader", 0, 1);
    update(1, "leader");
    number(4, "light", 701);
    update(4, "light");
    golden_target(base, 5, "owner", 0, 1);
    number(5, "health", 49);
    update(5, "health owner");
    number(6, "is_open", 1);
    number(6, "coins", 12);
    number(6, "health", 1);
    place(6, 42100, 52000, 0);
    update(6, "place health coins is_open");
    number(9, "heading", 180);
    number(9, "kind", 2);
    number(9, "health", 10);
    update(9, "heading kind health");
    end("10_values");

    begin(packet(65541, 65540, 15), 1080, EYE_LATER);
    number(0, "keys", 4294967295.0);
    number(0, "steps", 1000000);
    number(0, "gold", 0);
    update(0, "gold keys steps");
    place(1, 20100, 31900, 100);
    golden_target(base, 1, "leader", -1, 0);
    update(1, "place leader");
    number(4, "light", 3);
    update(4, "light"); // absolute or a difference, whichever costs less
    place(4, 45100, 50000, 4800);
    golden_target(base, 5, "owner", -1, 0);
    update(5, "owner");
    number(6, "coins", 12);
    number(6, "is_open", 1);
    update(6, "coins is_open"); // what is known already may be told
    place(9, 43300, 50010, 0);
    number(9, "heading", 181);
    number(9, "kind", 3);
    update(9, "heading place kind");
    place(12, 80000, 80000, -200);
    number(12, "heading", 12);
    golden_target(base, 12, "leader", 1, 1);
    jump(12, "heading place leader");
    place(13, 80000, 82000, -200);
    golden_target(base, 13, "leader", 1, 1);
    jump(13, "place leader");
    end("11_more_values");

    begin(packet(65542, 65540, 7), 1081, EYE_LATER);
    place(2, 42048, 48896, 64);
    jump(2, "place");
    place(3, 50001, 60001, 3000);
    jump(3, "place");
    number(5, "health", 48);
    update(5, "health");
    number(6, "coins", 0);
    update(6, "coins");
    end("12_few");
}

static void leaves(void)
{
    golden_session* base = &golden.base;
    begin(with_counts(packet(65543, 65541, 5), 2, 2), 1082, EYE_LATER);
    golden_leave(base, 2, 1);
    golden_leave(base, 40, 1); // which the client never saw
    newcomer(7, "mark", 44000, 50064, 1728);
    enter(7, 1, 5000000001);
    newcomer(8, "walker", 44500, 50500, -200);
    number(8, "heading", 10);
    golden_target(base, 8, "leader", 0, 1);
    enter(8, 1, 42);
    end("13_leaves_and_enters");

    // The sender does not know yet whether slot 2 has been left: its flag is still there.
    begin(packet(65544, 65541, 5), 1083, EYE_LATER);
    place(1, 20110, 32000, 100);
    update(1, "place");
    end("14_left_but_known");

    ph_header probe = {.sequence = 65545, .horizon = 65545, .is_probe = true};
    begin(probe, 0, EYE_LATER);
    end("15_probe");

    begin(with_counts(packet(65547, 65545, 5), 0, 1), 1090, EYE_LATER);
    newcomer(2, "lamp", 44100, 50000, 3000);
    golden_enter(base, 2, 2, 43); // the second that this slot shows
    place(7, 44000, 50128, 1728);
    update(7, "place");
    number(8, "heading", 14);
    update(8, "heading");
    end("16_after_probe");
}

// The leave of slot 2 gets lost, and its entity comes into another slot. The client shows it there;
// the baselines have both until the leave is applied.
static void displaced(void)
{
    begin(with_counts(packet(65548, 65547, 5), 0, 1), 1091, EYE_LATER);
    newcomer(20, "lamp", 44200, 50000, 3000);
    enter(20, 1, 43);
    end("17_other_slot");

    begin(with_counts(packet(65549, 65548, 5), 1, 0), 1092, EYE_LATER);
    golden_leave(&golden.base, 2, 2);
    number(20, "light", 5);
    update(20, "light");
    end("18_left_late");

    // The sender does not know that yet. Slots beside each other, used once and twice.
    begin(with_counts(packet(65550, 65548, 5), 2, 0), 1093, EYE_LATER);
    golden_leave(&golden.base, 1, 1);
    golden_leave(&golden.base, 2, 2);
    number(20, "light", 6);
    update(20, "light");
    end("19_left_again");
}

// The further away the coarser, each told from the one before: what they have in common goes on.
static void crowd_of_chests(void)
{
    static const int32_t WAYS_MM[] = {500, 500, 1200, 2500, 5000, 10000, 20000, 40000, 80000};
    enum { COUNT = sizeof WAYS_MM / sizeof WAYS_MM[0] };
    for (int i = 0; i < COUNT; ++i) {
        newcomer(30 + i, "chest", 44000 - 7 * i, 50000 + WAYS_MM[i], 100);
        number(30 + i, "health", 70);
        number(30 + i, "coins", i < 4 ? 0 : 1000 * i);
        number(30 + i, "is_open", i == 6 ? 1 : 0);
        enter(30 + i, 1, 200 + 3 * (uint64_t)i);
        if (i > 1) {
            golden_pinhole_coarse(&golden);
        }
    }
}

static void crowd(void)
{
    begin(with_counts(packet(65551, 65548, 5), 0, 14), 1094, EYE_LATER);
    golden_pinhole_spread(&golden, (ph_pinhole_spread){.coarse = 7,
                                                       .place = 9,
                                                       .velocity = 3,
                                                       .heading = 12,
                                                       .key = 2,
                                                       .motion = PH_MOTION_AHEAD});
    crowd_of_chests();
    dress_creature(60);
    dress_creature(61);
    place(60, 44500, 50500, 100);
    place(61, 44500, 51000, 100);
    number(61, "kind", 2); // some of its values are others
    number(61, "is_angry", 1);
    number(61, "gold", 7);
    number(61, "hat", 0);
    golden_vector(&golden.base, 61, "speed", 1, 2, 3);
    golden_text(&golden.base, 61, "name", "", 0);
    enter(60, 1, 300);
    golden_pinhole_velocity(&golden, 0, -60, 1);
    enter(61, 1, 299);
    golden_pinhole_velocity(&golden, 5, -38, 1);
    newcomer(62, "fish", 44100, 50900, 200);
    newcomer(63, "fish", 44200, 50950, 220);
    newcomer(64, "fish", 44300, 50990, 220);
    number(62, "heading", 30);
    number(63, "heading", 120);
    enter(62, 1, 301);
    golden_pinhole_velocity(&golden, 300, 170, 0);
    enter(63, 1, 302);
    golden_pinhole_velocity(&golden, -172, 299, 0);
    enter(64, 1, 303);
    end("20_crowd");
}

static void play_main(const char* session, int version)
{
    const ph_hello hello = {.version = (uint8_t)version,
                            .slot_count = 256,
                            .tick_us = 50000,
                            .session = 65530,
                            .precision = 1024};
    golden_pinhole_setup(&golden, session, &hello);
    first_enters();
    motion();
    far_and_coarse();
    values();
    leaves();
    displaced();
    crowd();
    end_session();
}

static void main_session(void** state)
{
    (void)state;
    play_main("main", PH_PINHOLE_VERSION);
}

// The same without the models.
static void universal_session(void** state)
{
    (void)state;
    play_main("universal", PH_UNIVERSAL_VERSION);
}

// ---- slots of 10 bits, numbers and ticks that wrap, names of every length, nothing coarse

// The last packet, by hand: the example of docs/wire_pinhole.md.
static void take_apart(const char* file_name)
{
    static golden_lines lines;
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size = golden_load(file_name, bytes, sizeof bytes);
    golden_print_apart(&lines, &golden, bytes, size);
    golden_compare("pinhole/apart.txt", lines.text, (size_t)lines.length);
}

static void wide_session(void** state)
{
    (void)state;
    const ph_hello hello = {.version = PH_PINHOLE_VERSION,
                            .slot_count = 1000,
                            .tick_us = 100000,
                            .session = UINT32_MAX};
    golden_pinhole_setup(&golden, "wide", &hello);
    newcomer(0, "walker", 40000, 50000, -200);
    newcomer(256, "mark", 40000, 50000, 1700);
    newcomer(999, "creature", 40000, 50000, 1700);
    begin(with_counts(with_eye(with_hello(packet(0, 0, 0)), EYE), 0, 3), 4294967000u, EYE);
    enter(0, 1, 1);
    enter(256, 1, 4294967295u);
    enter(999, 1, 3);
    golden_pinhole_velocity(&golden, -32767, 1, 32767);
    end("01_enters");

    begin(with_counts(packet(1, 0, 8), 1, 1), 4294967001u, EYE);
    golden_leave(&golden.base, 300, 1);
    newcomer(301, "fish", 40001, 50001, 1701);
    enter(301, 1, 4294967295u - 1); // below the base, which needs 32 bits
    golden_target(&golden.base, 0, "leader", 999, 1);
    update(0, "leader");
    place(999, 40016, 50000, 1700);
    update(999, "place");
    end("02_updates");

    begin(with_counts(packet(2, 1, PH_DENSITY_NONE), 0, 1), 4294967290u, EYE);
    newcomer(302, "mark", 40064, 50048, 1664);
    enter(302, 1, UINT64_MAX);
    end("03_greatest_name");

    // So late that the tick is told as a whole; it has wrapped.
    begin(with_counts(packet(3, 2, 1), 0, 1), 2000, EYE);
    newcomer(303, "mark", 40128, 50048, 1664);
    enter(303, 1, UINT64_MAX - 1);
    place(999, 40032, 50000, 1700);
    update(999, "place");
    end("04_whole_tick");

    begin(with_counts(packet(4, 3, 8), 2, 0), 2000, EYE);
    golden_leave(&golden.base, 256, 1);
    golden_leave(&golden.base, 999, 1);
    place(0, 40500, 50000, -200);
    update(0, "place");
    end("05_leaves");
    take_apart("pinhole/wide_05_leaves.bin");
    end_session();
}

// ---- orientations, told at every coarseness, from every guess; a heading that is not the first angle

// Of any length.
static void tilt(int slot, double x, double y, double z, double w)
{
    const char* property = slot < 20 ? "tilt" : "spin";
    const double length = sqrt(x * x + y * y + z * z + w * w);
    golden_rotation(&golden.base, slot, property, x / length, y / length, z / length, w / length);
}

static void rotated_enters(void)
{
    begin(with_eye(with_hello(packet(1, 0, 0)), EYE), 0, EYE);
    end("01_hello");

    // Coarseness 0..7 among those that follow, and twice as the one before is.
    for (int i = 0; i < 12; ++i) {
        newcomer(i, "body", 41000 + 500 * i, 50000, 1000);
    }
    tilt(0, 0.1, 0.2, 0.3, 0.927);
    for (int i = 2; i < 10; ++i) {
        tilt(i, 0.5 - 0.08 * i, 0.3, -0.2, 0.8);
    }
    tilt(10, 0, 0.70710678, 0, 0.70710678);
    tilt(11, 0, 0.70710678, 0, 0.70710678);
    newcomer(16, "turret", 42000, 52000, 0);
    number(16, "base", 90);
    number(16, "gun", 45);
    newcomer(20, "top", 43000, 52000, 0);
    tilt(20, 0.5, 0.5, 0.5, 0.5); // no component is the largest
    begin(with_counts(with_eye(with_hello(packet(2, 0, 0)), EYE), 0, 14), 3, EYE);
    for (int i = 0; i < 12; ++i) {
        enter(i, 1, 100 + (uint64_t)i);
        if (i > 1 && i < 10) {
            golden_pinhole_rotation_coarse(&golden, i - 2);
        }
        if (i == 2 || i == 3 || i == 10) {
            golden_pinhole_spin(&golden, 3 * i, -40, 0);
        }
    }
    enter(16, 1, 116);
    enter(20, 1, 120);
    golden_pinhole_spin(&golden, 0, 0, 20000);
    end("02_enters");
}

// Each on its own grid; some turn on, some do not, some anywhere.
static void rotations(void)
{
    begin(packet(3, 2, 10), 6, EYE);
    for (int i = 0; i < 8; ++i) {
        tilt(i, 0.1 + 0.01 * i, 0.2, 0.3 - 0.02 * i, 0.92);
        update(i, i == 0 ? "tilt place" : "tilt");
        golden_pinhole_rotation_coarse(&golden, i);
    }
    tilt(10, 0.70710678, 0, 0, 0.70710678); // another component is the largest, or as large
    update(10, "tilt");
    tilt(11, 0, 0, 1, 0); // half a turn away from the second largest
    update(11, "tilt");
    number(16, "gun", 46);
    number(16, "base", 91);
    update(16, "gun base");
    tilt(20, -0.5, 0.5, 0.5, 0.5);
    update(20, "spin");
    end("03_turned");

    // Half a tenth of a second later: no mark.
    begin(packet(4, 3, 10), 7, EYE);
    tilt(0, 0.1, 0.22, 0.3, 0.92);
    update(0, "tilt");
    tilt(1, 1, 0, 0, 0);
    update(1, "tilt");
    tilt(20, -0.5, 0.5, 0.6, 0.37);
    place(20, 43100, 52000, 0);
    jump(20, "spin place");
    end("04_soon");

    begin(packet(5, 4, 12), 12, EYE);
    tilt(0, 0.1, 0.32, 0.3, 0.893);
    number(0, "health", 50);
    update(0, "tilt health");
    tilt(1, 0.99, 0.14, 0, 0);
    update(1, "tilt");
    golden_pinhole_rotation_coarse(&golden, 2);
    tilt(2, 0.12, 0.2, 0.26, 0.937); // told once more as it is known
    update(2, "tilt");
    tilt(10, 0.68, 0.05, 0, 0.73);
    update(10, "tilt");
    tilt(20, -0.5, 0.5, 0.6, 0.37);
    update(20, "spin");
    end("05_later");

    begin(packet(6, 5, 12), 200, EYE);
    tilt(0, -0.7, 0.1, 0.7, 0.1);
    update(0, "tilt");
    tilt(20, 0.1, 0.99, 0.0, 0.1);
    place(20, 43150, 52000, 0);
    update(20, "spin place");
    end("06_much_later");
}

// What stands on a body that tips over: with an orientation of its own and without one, carried and not, told before it
// was known to turn with it and behind that.
static void carried(void)
{
    newcomer(24, "crate", 41200, 50160, 1096);
    golden_target(&golden.base, 24, "owner", 0, 1);
    newcomer(28, "top", 41007, 50011, 1301);
    golden_target(&golden.base, 28, "on", 0, 1);
    tilt(28, 0.1, 0.1, 0.1, 0.98);
    place(0, 41000, 50000, 1000);
    begin(with_counts(packet(7, 6, 12), 0, 2), 204, EYE);
    enter(24, 1, 124);
    enter(28, 1, 128);
    update(0, "place tilt");
    end("07_cargo");

    static const double TIPS[4][4] = {
        {-0.68, 0.14, 0.7, 0.1}, {-0.66, 0.18, 0.7, 0.1}, {-0.6, 0.22, 0.72, 0.12}, {0, 0, 0, 1}};
    static const char* const NAMES[4] = {"08_taken", "09_taken_on", "10_taken_far", "11_left"};
    for (int i = 0; i < 4; ++i) {
        begin(packet((uint32_t)(8 + i), (uint32_t)(7 + i), 12), (uint32_t)(208 + 4 * i), EYE);
        place(0, 41000 + 160 * i, 50000, 1000);
        tilt(0, TIPS[i][0], TIPS[i][1], TIPS[i][2], TIPS[i][3]);
        update(0, i == 2 ? "place" : "place tilt");
        place(24, 41200 + 150 * i, 50160 - 16 * i, 1104);
        update(24, "place");
        if (i != 1) {
            golden_pinhole_carried(&golden);
        }
        place(28, 41007 + 155 * i, 50011, 1301 - i);
        tilt(28, 0.1 + 0.01 * i, 0.1, 0.1, 0.97);
        update(28, i == 3 ? "place" : "place spin");
        if (i > 0) {
            golden_pinhole_carried(&golden);
        }
        end(NAMES[i]);
    }
}

static void play_turning(const char* session, int version)
{
    const ph_hello hello = {
        .version = (uint8_t)version, .slot_count = 64, .tick_us = 50000, .precision = 1024};
    golden_pinhole_setup(&golden, session, &hello);
    rotated_enters();
    rotations();
    carried();
    end_session();
}

static void turning_session(void** state)
{
    (void)state;
    play_turning("turning", PH_PINHOLE_VERSION);
}

static void universal_turning_session(void** state)
{
    (void)state;
    play_turning("codes", PH_UNIVERSAL_VERSION);
}

// ---- positions in finer steps than that of their class

static void glide(int slot, int step)
{
    update(slot, "place");
    golden_pinhole_step(&golden, step);
}

static void finest_session(void** state)
{
    (void)state;
    const ph_hello hello = {
        .version = PH_PINHOLE_VERSION, .slot_count = 64, .tick_us = 50000, .precision = 4096};
    golden_pinhole_setup(&golden, "finest", &hello);
    for (int i = 0; i < 9; ++i) {
        newcomer(i, "glider", 41088 + 640 * i, 50048, 1024);
    }
    newcomer(9, "glider", 640000, 128000, 1024);
    newcomer(10, "lamp", 42000, 52000, 0);
    begin(with_counts(with_eye(with_hello(packet(1, 0, 0)), EYE), 0, 11), 0, EYE);
    golden_pinhole_packet_step(&golden, 7);
    for (int i = 0; i < 11; ++i) {
        enter(i, 1, 100 + (uint64_t)i);
        if (i == 1 || i == 9) {
            golden_pinhole_velocity(&golden, 3, -2, 1);
        }
    }
    end("01_enters");

    begin(packet(2, 1, 12), 2, EYE);
    for (int i = 0; i < 8; ++i) {
        place(i, 41088 + 640 * i + 77, 50048 + 333, 1024 + 5);
        glide(i, i);
    }
    place(9, 640555, 127777, 1033);
    update(9, "place");
    golden_pinhole_coarse(&golden);
    place(10, 42016, 52000, 0);
    update(10, "place");
    end("02_every_step");

    begin(packet(3, 2, 12), 5, EYE);
    golden_pinhole_packet_step(&golden, 3);
    for (int i = 0; i < 8; ++i) {
        place(i, 41088 + 640 * i + 181, 50048 + 801, 1024 + 5);
        glide(i, 7 - i);
    }
    place(8, 46208, 50048, 1024); // where it is: it stands
    glide(8, 0);
    place(9, 641111, 127401, 1031);
    glide(9, 2);
    end("03_other_steps");

    begin(packet(4, 3, 12), 9, EYE);
    golden_pinhole_packet_step(&golden, 1);
    place(0, 51200, 60160, 1152);
    jump(0, "place");
    place(1, 42001, 51003, 1029);
    glide(1, 1);
    place(2, 42647, 51111, 1030);
    glide(2, 0);
    end("04_jump");
    end_session();
}

// ---- what the client of the first session answers at its end

static void the_answer(void** state)
{
    (void)state;
    ph_receipt receipt = ph_receipt_make(65530);
    for (uint32_t i = 65531; i <= 65551; ++i) {
        if (i != 65536 && i != 65546) {
            ph_receipt_note(&receipt, i, i != 65545);
        }
    }
    ph_ack ack = receipt;
    ack.lag_ms = 50; // the first one got lost, perhaps
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&ack, bytes);
    golden_compare("pinhole/main_ack.bin", bytes, sizeof bytes);
    char text[100];
    const int length =
        snprintf(text, sizeof text, "ack newest=%u applied=0x%016llx lag=%u\n",
                 (unsigned)ack.newest, (unsigned long long)ack.applied, (unsigned)ack.lag_ms);
    golden_compare("pinhole/main_ack.txt", text, (size_t)length);
}

// ---- the tables

static void tables_as_text(void** state)
{
    (void)state;
    static char text[GOLDEN_FILE_MAX];
    const size_t length = golden_print_tables(text, sizeof text);
    golden_compare("pinhole/tables.txt", text, length);
}

// ---- everything is shown

// Alphabets larger than this are not shown in full, but some symbol of them is.
enum { SMALL_ALPHABET = 11 };

static uint64_t seen_of(const ph_pinhole_family_info* info, int symbol)
{
    uint64_t seen = 0;
    for (int model = 0; model < info->models; ++model) {
        seen += all_counts.seen[info->first + model * (info->symbols + 1) + symbol];
    }
    return seen;
}

// @return How many symbols that should be shown are not.
static int missing_of(const ph_pinhole_family_info* info)
{
    int missing = 0;
    for (int symbol = 0; symbol < info->symbols; ++symbol) {
        if (seen_of(info, symbol) == 0) {
            ++missing;
            if (info->symbols <= SMALL_ALPHABET) {
                print_error("symbol %d of %s stands in no golden packet\n", symbol, info->name);
            }
        }
    }
    return info->symbols <= SMALL_ALPHABET ? missing : missing == info->symbols;
}

// Behind the sessions.
static void every_family_and_every_symbol_of_the_small_ones(void** state)
{
    (void)state;
    int missing = 0;
    for (int i = 0; i < PH_FAMILY_COUNT; ++i) {
        missing += missing_of(&ph_pinhole_families[i]);
    }
    assert_int_equal(missing, 0);
}

// Of the large ones: values as they are, by their length, and in place of a difference.
static void every_kind_of_symbol_of_the_large_ones(void** state)
{
    (void)state;
    uint64_t direct = 0;
    uint64_t by_length = 0;
    for (int i = 0; i < PH_FAMILY_COUNT; ++i) {
        const ph_pinhole_family_info* info = &ph_pinhole_families[i];
        for (int symbol = 0; info->symbols == PH_MAGNITUDES && symbol < PH_MAGNITUDES; ++symbol) {
            *(symbol < PH_MAGNITUDES_DIRECT ? &direct : &by_length) += seen_of(info, symbol);
        }
    }
    assert_true(direct > 0 && by_length > 0);
    const ph_pinhole_family_info* numbers = &ph_pinhole_families[PH_FAMILY_NUMBER];
    assert_true(seen_of(numbers, 0) > 0);
    assert_true(seen_of(numbers, PH_NUMBER_SYMBOLS - 1) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(main_session),
        cmocka_unit_test(universal_session),
        cmocka_unit_test(wide_session),
        cmocka_unit_test(turning_session),
        cmocka_unit_test(universal_turning_session),
        cmocka_unit_test(finest_session),
        cmocka_unit_test(the_answer),
        cmocka_unit_test(tables_as_text),
        cmocka_unit_test(every_family_and_every_symbol_of_the_small_ones),
        cmocka_unit_test(every_kind_of_symbol_of_the_large_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
