// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Three sessions whose packets are kept in test/golden/, byte for byte, beside what they say as text.
// When the wire changes on purpose: PINHOLE_GOLDEN_WRITE=1 build/debug/test_golden from the root of
// the tree, and change docs/wire_format.md in the same commit.

#include "support/golden_session.h"

#include "packet/header.h"

#include <stdio.h>
#include <string.h>

static const int32_t EYE[3] = {40000, 50000, 1700};
static const int32_t EYE_LATER[3] = {640000, 50000, 1700};

static golden_session golden;

static ph_header packet(uint32_t number, uint32_t horizon)
{
    return (ph_header){
        .sequence = number, .horizon = horizon, .tick = (uint16_t)(number * 2 % 2048), .wait = 4};
}

static ph_header with_eye(ph_header header, const int32_t eye_mm[3])
{
    header.has_eye = true;
    memcpy(header.eye_mm, eye_mm, sizeof header.eye_mm);
    return header;
}

static ph_header with_hello(ph_header header, uint32_t session, uint16_t slot_count)
{
    header.has_hello = true;
    header.horizon = session;
    header.wait = PH_WAIT_UNKNOWN;
    header.hello = (ph_hello){.version = PH_CLASSIC_VERSION,
                              .slot_count = slot_count,
                              .tick_us = 100000,
                              .session = session,
                              .fingerprint = ph_schema_fingerprint(golden.schema)};
    return header;
}

static ph_header with_counts(ph_header header, int leaves, int enters)
{
    header.leave_count = leaves;
    header.enter_count = enters;
    return header;
}

// Every property away from its initial value.
static void dress_creature(int slot)
{
    golden_dress(&golden, slot, "creature");
    golden_number(&golden, slot, "alive", 0);
    golden_number(&golden, slot, "is_angry", 0);
    golden_number(&golden, slot, "kind", 4);
    golden_number(&golden, slot, "mood", -3);
    golden_number(&golden, slot, "health", 99);
    golden_number(&golden, slot, "score", 999999999999.0);
    golden_number(&golden, slot, "level", 8);
    golden_number(&golden, slot, "gold", 300);
    golden_number(&golden, slot, "debt", -1000);
    golden_number(&golden, slot, "arrows", 255);
    golden_number(&golden, slot, "drift", -300);
    golden_number(&golden, slot, "keys", 6);
    golden_number(&golden, slot, "luck", -2);
    golden_number(&golden, slot, "steps", 21);
    golden_number(&golden, slot, "tilt", -9);
    golden_number(&golden, slot, "size", 1.75);
    golden_number(&golden, slot, "charge", -9.9);
    golden_number(&golden, slot, "heading", 270);
    golden_number(&golden, slot, "roll", 2.5);
    golden_rotation(&golden, slot, "pose", 0.5, -0.5, 0.1, -0.7);
    golden_vector(&golden, slot, "speed", -10, 0.5, 9.5);
    golden_vector(&golden, slot, "wind", 12.3, 0.1, 20);
    golden_text(&golden, slot, "name", "J\xC3\xBCrgen", 7);
    golden_text(&golden, slot, "badge", "\0\xFF\x80", 3);
}

// ---- slots of 8 bits

static void hello_and_enters(void)
{
    ph_header header = with_eye(with_hello(packet(1001, 0), 1000, 256), EYE);
    golden_begin(&golden, &header, EYE);
    golden_end(&golden, "narrow_01_hello");

    dress_creature(0);
    golden_place(&golden, 0, 40012, 50007, -199);
    golden_dress(&golden, 1, "walker");
    golden_number(&golden, 1, "heading", 90);
    golden_place(&golden, 1, 20000, 30000, 100); // on the floor of three layers
    golden_dress(&golden, 2, "mark");
    golden_place(&golden, 2, 41000, 49000, -1);
    golden_dress(&golden, 3, "creature");
    golden_place(&golden, 3, 45000, 50000, 4800);
    golden_dress(&golden, 7, "walker");
    golden_place(&golden, 7, -50000, -50000, 777); // nothing to stand on
    header = with_counts(with_eye(with_hello(packet(1002, 0), 1000, 256), EYE), 0, 5);
    golden_begin(&golden, &header, EYE);
    golden_enter(&golden, 0, 1, 1);
    golden_enter(&golden, 1, 1, (UINT64_C(1) << 43) - 1);
    golden_enter(&golden, 2, 1, 0);
    golden_enter(&golden, 3, 1, UINT64_C(1) << 43);
    golden_enter(&golden, 7, 1, UINT64_MAX);
    golden_end(&golden, "narrow_02_enters");

    header = with_hello(packet(1002, 0), 1000, 256);
    header.is_probe = true;
    golden_begin(&golden, &header, EYE);
    golden_end(&golden, "narrow_03_hello_probe");
}

static void positions(void)
{
    ph_header header = packet(1003, 1002);
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 0, 40500, 50007, -199);
    golden_update(&golden, 0, 1, "place", false);
    assert_int_equal(ph_classic_record_bits(&golden.frame, &golden.records[0], NULL), 61);
    golden_place(&golden, 1, 20000, 30000, 5200); // on the bridge
    golden_update(&golden, 1, 1, "place", false);
    golden_place(&golden, 2, 41100, 48900, 60);
    golden_update(&golden, 2, 1, "place", false);
    golden_place(&golden, 3, -484288, 50000, 4800); // the last step inside of the window
    golden_update(&golden, 3, 1, "place", false);
    golden_place(&golden, 7, 50000, -50000, -200); // on the only layer there
    golden_number(&golden, 7, "heading", 180);
    golden_update(&golden, 7, 1, "heading place", false);
    golden_end(&golden, "narrow_04_positions");

    header = packet(1004, 1002);
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 0, 60000, 50007, -199);
    golden_update(&golden, 0, 1, "place", true);  // a jump
    golden_place(&golden, 1, 20000, 30000, 8000); // in the air between three layers
    golden_update(&golden, 1, 1, "place", false);
    golden_place(&golden, 2, 300000, 48900, 60); // a small window
    golden_update(&golden, 2, 1, "place", false);
    golden_place(&golden, 3, -484289, 50000, 4800); // one step outside
    golden_number(&golden, 3, "health", 0);
    golden_update(&golden, 3, 1, "place health", true);          // a jump, in full
    golden_place(&golden, 7, -1000000, 2000000000, -2000000000); // far away, nothing to stand on
    golden_update(&golden, 7, 1, "place", false);
    golden_end(&golden, "narrow_05_far");

    header = packet(1005, 1004);
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 1, -20000, 30000, 10500); // on the last of eight layers
    golden_update(&golden, 1, 1, "place", false);
    golden_place(&golden, 7, -20000, 30000, 30000); // above them
    golden_update(&golden, 7, 1, "place", false);
    golden_end(&golden, "narrow_06_eight_layers");
}

// Values at their other ends, and back at the initial ones, which an update may say.
static void values_and_references(void)
{
    ph_header header = packet(1006, 1005);
    golden_begin(&golden, &header, EYE);
    golden_dress(&golden, 0, "creature");
    golden_number(&golden, 0, "score", 4294967296.0);
    golden_number(&golden, 0, "gold", 9007199254740992.0);
    golden_number(&golden, 0, "debt", 64);
    golden_number(&golden, 0, "arrows", 4294967295.0);
    golden_number(&golden, 0, "drift", 70000);
    golden_number(&golden, 0, "keys", 4294967295.0);
    golden_number(&golden, 0, "steps", 1000000); // an escape
    golden_number(&golden, 0, "tilt", 500);
    golden_number(&golden, 0, "size", 4.5);
    golden_target(&golden, 0, "target", 1, 1);
    golden_update(&golden, 0, 1,
                  "alive is_angry kind mood health score level gold debt arrows drift keys luck "
                  "steps tilt size charge heading roll pose speed wind name badge target",
                  false);
    golden_target(&golden, 1, "leader", 0, 1);
    golden_update(&golden, 1, 1, "leader", false);
    golden_update(&golden, 3, 1, "target", false); // none
    golden_end(&golden, "narrow_07_values");
}

static void leaves_and_eyes(void)
{
    ph_header header = with_counts(with_eye(packet(1007, 1005), EYE_LATER), 2, 0);
    golden_begin(&golden, &header, EYE_LATER);
    golden_leave(&golden, 2, 1);
    golden_leave(&golden, 9, 1); // which the client never saw
    golden_place(&golden, 0, 640500, 50007, -199);
    golden_update(&golden, 0, 1, "place", true);
    golden_end(&golden, "narrow_08_leaves_and_eye");

    header = packet(1008, 1006); // the sender does not know yet that the new eye has arrived
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 0, 640600, 50007, -199);
    golden_update(&golden, 0, 1, "place", true);
    golden_end(&golden, "narrow_09_old_eye");

    header = with_counts(packet(1009, 1007), 0, 2);
    golden_begin(&golden, &header, EYE_LATER);
    golden_dress(&golden, 2, "mark");
    golden_place(&golden, 2, 640000, 50100, 128);
    golden_enter(&golden, 2, 2, 4242);
    golden_dress(&golden, 9, "walker");
    golden_place(&golden, 9, 640000, 60000, 0);
    golden_target(&golden, 9, "leader", 0, 1);
    golden_enter(&golden, 9, 2, 4243);
    golden_place(&golden, 0, 640700, 50007, -199);
    golden_update(&golden, 0, 1, "place", false);
    golden_end(&golden, "narrow_10_new_eye");

    header = (ph_header){.sequence = 1010, .horizon = 1010, .tick = 2047, .is_probe = true};
    golden_begin(&golden, &header, EYE_LATER);
    golden_end(&golden, "narrow_11_probe");

    header = packet(1012, 1010); // 1010 was lost, 1011 came to nothing
    golden_begin(&golden, &header, EYE_LATER);
    golden_number(&golden, 9, "heading", 359.9); // rounds to a whole turn
    golden_update(&golden, 9, 2, "heading", false);
    golden_end(&golden, "narrow_12_after_loss");

    // A probe that was sent long ago; its horizon is not asked for.
    header = with_hello(packet(1013, 0), 1000, 256);
    header.is_probe = true;
    golden_begin(&golden, &header, EYE_LATER);
    golden_end(&golden, "narrow_13_late_hello_probe");

    header = packet(1014, 1009); // behind that of 1012
    golden_begin(&golden, &header, EYE_LATER);
    golden_update(&golden, 9, 2, "heading", false);
    golden_end_refused(&golden, "narrow_14_refused_horizon");
}

static void slots_of_eight_bits(void** state)
{
    (void)state;
    golden_setup(&golden, 256);
    hello_and_enters();
    positions();
    values_and_references();
    leaves_and_eyes();
    golden_teardown(&golden);
}

// ---- slots of 10 bits, in a session whose numbers wrap

static void wide_slots(void** state)
{
    (void)state;
    golden_setup(&golden, 1000);
    ph_header header = with_counts(with_eye(with_hello(packet(0, 0), UINT32_MAX, 1000), EYE), 0, 3);
    golden_begin(&golden, &header, EYE);
    golden_dress(&golden, 0, "walker");
    golden_place(&golden, 0, 40000, 50000, -200);
    golden_enter(&golden, 0, 1, 1);
    golden_dress(&golden, 256, "mark");
    golden_place(&golden, 256, 40000, 50000, 1700);
    golden_enter(&golden, 256, 1, 2);
    golden_dress(&golden, 999, "creature");
    golden_place(&golden, 999, 40000, 50000, 1700);
    golden_enter(&golden, 999, 1, 3);
    golden_end(&golden, "wide_01_enters");

    header = packet(1, 0);
    golden_begin(&golden, &header, EYE);
    golden_target(&golden, 0, "leader", 999, 1);
    golden_update(&golden, 0, 1, "leader", false);
    golden_place(&golden, 999, 40016, 50000, 1700);
    golden_update(&golden, 999, 1, "place", false);
    assert_int_equal(ph_classic_record_bits(&golden.frame, &golden.records[1], NULL), 63);
    golden_end(&golden, "wide_02_updates");

    header = with_counts(packet(2, 1), 2, 0);
    golden_begin(&golden, &header, EYE);
    golden_leave(&golden, 256, 1);
    golden_leave(&golden, 999, 1);
    golden_end(&golden, "wide_03_leaves");

    header = with_counts(packet(3, 2), 0, 1);
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 256, 41000, 50000, 1700);
    golden_enter(&golden, 256, 2, 4);
    golden_end(&golden, "wide_04_enter");

    header = with_counts(packet(4, 2), 0, 1); // the sender does not know yet that 3 was applied
    golden_begin(&golden, &header, EYE);
    golden_place(&golden, 256, 90000, 50000, 1700);
    golden_enter_again(&golden, 256, 2, 4);
    golden_end(&golden, "wide_05_jump");
    golden_teardown(&golden);
}

// ---- a session that begins with a probe

static void a_probe_first(void** state)
{
    (void)state;
    golden_setup(&golden, 256);
    ph_header header = with_hello(packet(2001, 0), 2000, 256);
    header.is_probe = true;
    golden_begin(&golden, &header, EYE);
    golden_end(&golden, "early_01_hello_probe");

    header = packet(2002, 1999); // behind the session's number, where the horizon begins
    golden_begin(&golden, &header, EYE);
    golden_end_refused(&golden, "early_02_refused_horizon");

    header = packet(2002, 2001);
    golden_begin(&golden, &header, EYE);
    golden_end(&golden, "early_03_packet");
    golden_teardown(&golden);
}

// ---- what the client of the first session answers at its end

static void the_answer(void** state)
{
    (void)state;
    ph_receipt receipt = ph_receipt_make(1000);
    for (uint32_t number = 1001; number <= 1009; ++number) {
        ph_receipt_note(&receipt, number, true);
    }
    ph_receipt_note(&receipt, 1010, false); // a probe
    ph_receipt_note(&receipt, 1012, true);
    ph_receipt_note(&receipt, 1013, false); // a probe
    ph_ack ack = receipt;
    ack.lag_ms = 50; // the first one got lost, perhaps
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&ack, bytes);
    golden_compare("narrow_ack.bin", bytes, sizeof bytes);
    char text[100];
    const int length =
        snprintf(text, sizeof text, "ack newest=%u applied=0x%016llx lag=%u\n",
                 (unsigned)ack.newest, (unsigned long long)ack.applied, (unsigned)ack.lag_ms);
    golden_compare("narrow_ack.txt", text, (size_t)length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_eight_bits),
        cmocka_unit_test(wide_slots),
        cmocka_unit_test(a_probe_first),
        cmocka_unit_test(the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
