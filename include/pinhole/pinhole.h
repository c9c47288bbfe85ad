// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Everything at once. Each header can also be included by itself; in the order in which a game meets
// them:
//
//   base.h, error.h               results, memory, ids; what was wrong with a call
//   schema.h                      what entities are made of
//   world.h, viewer.h             the server: entities and their state; players and their datagrams
//   vision.h, schedule.h          which entities a viewer sees; which of them are sent first
//   client.h                      the client: what arrives, and what is shown
//   message.h                     reliable messages and input, both ways
//   stats.h                       how all of it is doing
//   transfer.h                    the state of a world as bytes, and back: saves, replays, other machines
//   recorder.h                    a recording of a world, every entity at every tick, and reading it back
//   link.h                        a simulated network in memory, for tests and examples
//   packet.h                      profiles and sizes
//   ground.h                      what there is to stand on, for altitudes that cost almost nothing
//   bits.h, entropy.h             writing messages of your own, bit by bit
//   integers.h, fixed.h, angle.h, quaternion.h, text.h, coordinate.h    the codings
//
// Secure connections over UDP are in pinhole/net/ (host.h for servers) and in a library of their own.

#ifndef PINHOLE_PINHOLE_H
#define PINHOLE_PINHOLE_H

#include <pinhole/base.h>
#include <pinhole/error.h>

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
#include <pinhole/stats.h>
#include <pinhole/vision.h>

#include <pinhole/client.h>
#include <pinhole/link.h>
#include <pinhole/message.h>
#include <pinhole/transfer.h>
#include <pinhole/recorder.h>
#include <pinhole/viewer.h>
#include <pinhole/world.h>

#endif
