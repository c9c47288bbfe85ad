// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the writers of this folder share, and many symbols in a row for the range coder (entropy.c).

#ifndef PH_BITS_ENTROPY_RUN_H
#define PH_BITS_ENTROPY_RUN_H

#include <pinhole/entropy.h>

// So many symbols, each by its place in a table of valid models: its probability stands between that entry
// and the next one. The interval is in registers meanwhile, which a call for each symbol would not allow.
void ph_entropy_write_entries(ph_entropy_writer* writer, const uint16_t* table,
                              const uint16_t* entries, int count);

// Bits that the symbol end occupies if the packet is finished now.
size_t ph_entropy_front_bits(const ph_entropy_writer* writer);

// True when bits more fit; else the writer fails, if it has not before. Called ahead of values that
// are written in several fields, so that a value is written whole or not at all.
bool ph_bits_require(ph_bit_writer* writer, size_t bits);

// ph_bit_writer_rollback for both kinds of writers.
void ph_bits_rollback(ph_bit_writer* writer, ph_bit_mark mark);

#endif
