// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What stands at the front of a pinhole packet, all of it raw bits: 46 of them when nobody enters or
// leaves.
//
//   number    16   low bits; the client knows the rest from the newest number that it has heard of,
//                  or from the session
//   horizon    7   as in classic (header.h), with its codes for probes and hellos
//   tick      11   ticks since that of the newest packet known (at the horizon) to be applied, 0..2046;
//                  2047: all of it follows. So nobody's clock has a say in how positions are read
//   wait       5
//   eye        1
//   density    4   ph_coded_best_density()
//   leaves   1-13  gamma
//   enters   1-13  gamma
//   [hello]        as in classic, version 2 (or 3: universal codes); behind it precision 16
//   [tick]         the tick itself, 32; always with the hello of a packet
//   [eye]          x, y, z 32 each
//
// Once per packet; nothing allocates.

#ifndef PH_WIRE_CODED_HEADER_H
#define PH_WIRE_CODED_HEADER_H

#include "wire/header.h"

#define PH_CODED_VERSION 2
// The same with universal codes in place of the models.
#define PH_UNIVERSAL_VERSION 3
#define PH_CODED_TICK_WHOLE 2047
#define PH_CODED_COUNT_MAX 126 // of leaves, and of enters
#define PH_CODED_HEADER_BITS_MIN 46
#define PH_CODED_HEADER_BITS_MAX (46 + 2 * 12 + PH_HELLO_BITS + 16 + 32 + PH_EYE_BITS)

static inline bool ph_coded_is_version(int version)
{
    return version == PH_CODED_VERSION || version == PH_UNIVERSAL_VERSION;
}

// Exact.
int ph_coded_header_bits(const ph_header* header);
// To the raw end of an entropy writer.
void ph_coded_header_write(const ph_header* header, ph_bit_writer* writer);

// From the raw end of an entropy reader. newest: the number that the client has heard of last; a
// hello needs none. Fails for what no sender writes, as ph_header_read() does; *header is {0} then. Of a
// hello of another version nothing is read but the version, and nothing is checked.
void ph_coded_header_read(ph_bit_reader* reader, uint32_t newest, ph_header* header);

#endif
