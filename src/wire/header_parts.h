// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the headers of both profiles are made of: the code of the horizon, the hello, the eye, and
// what must be true of any header. header.h and coded_header.h have the drawings. Once per packet.

#ifndef PH_WIRE_HEADER_PARTS_H
#define PH_WIRE_HEADER_PARTS_H

#include "wire/header.h"

#define PH_HORIZON_BITS 7
#define PH_WAIT_BITS 5

void ph_header_write_horizon(const ph_header* header, ph_bit_writer* writer);
// What the code says of the packet: is_probe and has_hello. @return The code: how far the number is
// ahead of the horizon, unless there is a hello. One that stands for nothing is too far.
uint32_t ph_header_read_horizon(ph_header* header, ph_bit_reader* reader);

// A hello behind its version, which whoever reads it has to understand first.
void ph_header_write_hello(const ph_hello* hello, ph_bit_writer* writer);
void ph_header_read_hello(ph_hello* hello, ph_bit_reader* reader);

// Nothing where has_eye says so.
void ph_header_write_eye(const ph_header* header, ph_bit_writer* writer);
void ph_header_read_eye(ph_header* header, ph_bit_reader* reader);

// What both writers assert and both readers ask of a header whose version they know.
bool ph_header_is_sound(const ph_header* header);

#endif
