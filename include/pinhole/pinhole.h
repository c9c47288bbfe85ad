// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Everything at once. Each header can also be included by itself.

#ifndef PINHOLE_PINHOLE_H
#define PINHOLE_PINHOLE_H

#include <pinhole/base.h>

#include <pinhole/bits.h>
#include <pinhole/entropy.h>
#include <pinhole/integers.h>

#include <pinhole/angle.h>
#include <pinhole/coordinate.h>
#include <pinhole/fixed.h>
#include <pinhole/ground.h>
#include <pinhole/quaternion.h>
#include <pinhole/text.h>

#include <pinhole/schema.h>

#include <pinhole/packet.h>
#include <pinhole/schedule.h>
#include <pinhole/vision.h>

#include <pinhole/client.h>
#include <pinhole/link.h>
#include <pinhole/mail.h>
#include <pinhole/world.h>

#endif
