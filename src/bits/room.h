// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who has how much room: shared by the writers of this folder.

#ifndef PH_BITS_ROOM_H
#define PH_BITS_ROOM_H

#include <pinhole/entropy.h>

// True when bits more fit; else the writer fails, if it has not before. Called ahead of values that
// are written in several fields, so that a value is written whole or not at all.
bool ph_bits_require(ph_bit_writer* writer, size_t bits);

// ph_bit_writer_rollback for both kinds of writers.
void ph_bits_rollback(ph_bit_writer* writer, ph_bit_mark mark);

// Bits that the symbol end occupies if the packet is finished now.
size_t ph_entropy_front_bits(const ph_entropy_writer* writer);

#endif
