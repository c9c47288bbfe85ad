// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A message of a game's own: written in as few bits as it needs, read back by a program that trusts
// no sender.

#include <pinhole/pinhole.h>

#include <stdio.h>

int main(void)
{
    ph_fixed metres;
    ph_fixed_make(0.0, 1000.0, 0.1, &metres);
    const ph_angle heading = {.width = 8, .turn = PH_TURN_DEGREES};

    uint8_t datagram[64];
    ph_bit_writer writer = ph_bit_writer_make(datagram, sizeof datagram);
    ph_enum_write(&writer, 2, 4);             // weapon: one of four
    ph_fixed_write(&metres, &writer, 123.4);  // x
    ph_fixed_write(&metres, &writer, 987.6);  // y
    ph_angle_write(&heading, &writer, 270.0); // where it looks
    ph_two_bit_write(&writer, 180);           // damage: mostly below 256
    ph_string_write(&writer, "Aya", 3, 31);   // name: its length, then its letters
    const size_t bits = ph_bit_writer_size_bits(&writer);
    const size_t size = ph_bit_writer_finish(&writer); // 0 when something did not fit

    ph_bit_reader reader = ph_bit_reader_make(datagram, size);
    const uint32_t weapon = ph_enum_read(&reader, 4);
    const double x = ph_fixed_read(&metres, &reader);
    const double y = ph_fixed_read(&metres, &reader);
    const double degrees = ph_angle_read(&heading, &reader);
    const uint32_t damage = ph_two_bit_read(&reader);
    char name[32];
    ph_string_read(&reader, name, sizeof name, 31);
    if (ph_bit_reader_finish(&reader) != PH_OK) { // one check for the whole message
        return 1;
    }
    printf(
        "%s at %.1f m, %.1f m looks to %.0f degrees, weapon %u, damage %u: %zu bits, %zu bytes\n",
        name, x, y, degrees, (unsigned)weapon, (unsigned)damage, bits, size);
    return 0;
}
