// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer for each connected player: what it sees, what it may be sent, its datagrams and acks.
//
//     ph_viewer_def def = ph_viewer_def_default();     // 13 kbit/s, 250 m
//     def.entity = kart;                               // the eye follows it
//     ph_viewer_id viewer;
//     ph_world_add_viewer(world, &def, &viewer);
//     for (;;) {
//         ph_world_tick(world);
//         ph_world_send_all(world, now_us, deliver, context);
//         ...
//         ph_viewer_receive_ack(world, viewer, now_us, bytes, size);
//     }
//
// Each viewer is sent datagrams exactly within its budget, and its client answers with acks. The
// transport is the game's, and so is the clock: now_us counts microseconds from anywhere, never goes
// back, and stays below 2^53 (285 years).
//
// Threads: as the world's, but between two ticks ph_viewer_send(), ph_viewer_is_send_due(),
// ph_viewer_spend(), ph_viewer_left_bits(), ph_viewer_spare_bits() and ph_viewer_receive_ack() may run for
// different viewers on different threads.

#ifndef PINHOLE_VIEWER_H
#define PINHOLE_VIEWER_H

#include <pinhole/schedule.h>
#include <pinhole/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// For sends_per_second: the sender decides when.
#define PH_SENDS_AUTO (-1.0)

/// What a viewer is. Start from ph_viewer_def_default().
typedef struct ph_viewer_def {
    /// The viewer's own entity: its eye follows it, and it is slot 0. {0}: a spectator.
    ph_entity_id entity;
    /// A spectator's eye, each within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM.
    int64_t eye_mm[3];
    /// What it may see: entities whose seen_by has a bit in common with this mask. Default all bits.
    uint32_t sees;
    /// Properties whose audience_mask has a bit in common with this are sent to it. Default 0.
    uint32_t audience;
    /// 0 to the world's radius_max_mm, in mm. Default 250,000.
    int32_t radius_mm;
    /// As many of the nearest enter, 1..PH_VISIBLE_MAX. Default 250. What has entered may stay a
    /// little beyond (see hysteresis and stay_ticks of ph_vision_def), as long as there are slots:
    /// no more than slot_count - 1 are ever visible. More than 256 need a client with a larger
    /// slot_capacity than its default, unless slot_count is given.
    int visible_max;
    /// Slots, slot 0 included; at least visible_max + 1, at most 65,535. 0 means 2 * visible_max,
    /// but with the classic profile no more than 256 as long as those suffice: a slot then costs 8
    /// bits, its least. The client's slot_capacity (ph_client_def, default 512) must be at least as
    /// large: otherwise the client refuses every packet with PH_ERROR_SCHEMA.
    int slot_count;
    /// Bits that it may be sent per second, overhead included; 0: no limit. Default 13,000. At least
    /// 1,000.
    int bits_per_second;
    /// How much may be saved up while there is nothing to send, in bits; the bucket is full at the
    /// first send. 0 means one second's worth. Never less than one datagram with the largest enter of
    /// the schema.
    int burst_bits;
    /// Bytes that each datagram costs beside its payload, 0..1,000. Default 48: 28 for IPv4 and UDP,
    /// 20 for a secure envelope.
    int overhead_bytes;
    /// How often ph_world_send_all() sends to it, 0.1..1,000; or PH_SENDS_AUTO: whenever the budget
    /// pays for everything worth sending, at most once a tick, and at the latest after a second.
    /// Default 0, as is usual for the profile: classic 5 times, pinhole PH_SENDS_AUTO.
    double sends_per_second;
    /// How wrong a position may be sent, as an angle seen from the viewer, in mrad, 0..60: the
    /// further away an entity is, the fewer bits its position needs. 0: always exact. Default 1.
    /// The classic profile ignores it.
    ///
    /// The position of an entity at rest is always exact. Without a limit to the budget, all
    /// positions are. While more newcomers wait than the budget can pay for, their first positions
    /// may be wrong by 32 times the angle, but by at most 32 mrad (or the angle itself, if it is
    /// larger). When the budget has room again, these are sent exactly.
    double precision_mrad;
    /// An entity that has had a difference for longer than this without being sent goes before those of
    /// higher priority, with up to a quarter of the bits: no entity starves. Default 10,000.
    int max_starve_ms;
    /// Names this connection: any number that the last one to the same client did not use, best a
    /// random one. Sequences of packets start behind it.
    uint32_t session;
    /// Which entities go first. {0}, as is usual for the profile: classic ph_scheduler_score(), pinhole
    /// ph_scheduler_error().
    ph_scheduler scheduler;
    /// Set by ph_viewer_def_default(). Do not touch.
    uint32_t cookie;
} ph_viewer_def;

/// The defaults named above: a spectator at (0, 0, 0) that sees everything near it.
PH_API ph_viewer_def ph_viewer_def_default(void);

/// Adds a viewer. It sees nothing before the next tick.
/// @return PH_OK, PH_ERROR_STALE (its entity), PH_ERROR_ARGUMENT, PH_ERROR_MEMORY with the world as it
/// was; *viewer is {0} unless PH_OK.
PH_API ph_result ph_world_add_viewer(ph_world* world, const ph_viewer_def* def,
                                     ph_viewer_id* viewer);

/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_remove_viewer(ph_world* world, ph_viewer_id viewer);

/// How many slots it has, slot 0 included: what its client must be able to hold. 0 for a stale id.
PH_API int ph_viewer_slot_count(const ph_world* world, ph_viewer_id viewer);

// ---- what it sees

/// Moves a spectator's eye. A viewer with an entity follows it; when that is gone, the eye stays,
/// and may be moved. @return PH_OK, PH_ERROR_STALE, or PH_ERROR_ARGUMENT for a viewer whose
/// entity lives, and for a position out of range.
PH_API ph_result ph_viewer_set_eye(ph_world* world, ph_viewer_id viewer, int64_t x_mm, int64_t y_mm,
                                   int64_t z_mm);

/// Gives a viewer another entity of its own, or none ({0}): the eye then stays where it is.
/// @return PH_OK or PH_ERROR_STALE (viewer or entity).
PH_API ph_result ph_viewer_set_entity(ph_world* world, ph_viewer_id viewer, ph_entity_id entity);

/// Changes what a viewer may see, as in the def. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_viewer_set_sees(ph_world* world, ph_viewer_id viewer, uint32_t sees);

/// How much an entity matters to this viewer beside its distance ("my target", "attacks me"): 1 is
/// usual, 0 leaves it the bits that nothing else needs, or until max_starve_ms. Stays until it is set
/// again or the entity is gone, in view or not. 0..1,000,000.
/// @return PH_OK, PH_ERROR_STALE (viewer or entity), PH_ERROR_ARGUMENT, PH_ERROR_MEMORY.
PH_API ph_result ph_viewer_set_hint(ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                                    double weight);

/// What the viewer sees since the last tick. The arrays are valid until the next tick, or until a
/// viewer is added or removed; the indices name the same entities, or none, for as long.
/// @return PH_OK or PH_ERROR_STALE with an empty vision.
PH_API ph_result ph_viewer_get_vision(const ph_world* world, ph_viewer_id viewer,
                                      ph_vision* vision);

/// The entity behind an index of a vision, {0} if there is none any more.
PH_API ph_entity_id ph_world_entity_at(const ph_world* world, ph_entity_index index);

/// For games that tell their clients of vision by their own means, without ph_viewer_send(): the
/// client knows that the slot was left, it may be used again. Slots that were not left are refused,
/// and those that a send has told of: these become free by themselves.
/// @return PH_OK, PH_ERROR_STALE or PH_ERROR_ARGUMENT.
PH_API ph_result ph_viewer_free_slot(ph_world* world, ph_viewer_id viewer, int slot);

// ---- sending
//
// The order is: leaves and enters, then by the scheduler's priority, then the rest. What gets lost
// is sent again, with the value it has then.
//
// No entity waits for ever. One that has waited for max_starve_ms goes before all newcomers and
// priorities, the longest wait first. A quarter of the bits on the wire is for these entities. So
// every difference of an entity in view is sent after at most
//
//     max_starve_ms + interval + 4 * slot_count * largest / rate
//
//   interval   the time between two sends
//   largest    the bits on the wire of a datagram with the largest enter of the schema
//   rate       bits_per_second, or burst_bits per interval if that is less; what the caller adds to
//              datagrams is taken off
//
// This holds as long as acks come in time:
//
// At most PH_FLIGHT_MAX packets are in flight, or about two seconds of the budget; beyond that only
// probes go out, one a second, until one is acked. So do probes when nothing differs any more but the
// last packets are not acked.

/// Takes one datagram to a viewer's client. bytes are borrowed for the call. The send is not over: it
/// may call nothing that changes this world or this viewer (no ack, no send, no tick); keep what comes
/// back until the send has returned.
typedef void ph_deliver_fn(void* context, ph_viewer_id viewer, const void* bytes, size_t size);

/// A send to every viewer whose time has come by its sends_per_second, on as many threads as run_jobs of
/// ph_world_def has; jobs beyond sends_at_once are done at the end, by the caller. Call it after each
/// tick.
PH_API void ph_world_send_all(ph_world* world, uint64_t now_us, ph_deliver_fn* deliver,
                              void* context);

/// One send to one viewer: as many datagrams as there is something for and the budget pays for, often
/// one, sometimes none. Allocates nothing. Different viewers may be sent to from different threads at
/// once, between two ticks, as many as sends_at_once of ph_world_def says.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_FULL with nothing done: more sends at once than that.
PH_API ph_result ph_viewer_send(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                                ph_deliver_fn* deliver, void* context);

/// Whether ph_world_send_all() would send to this viewer now: for games that send by themselves, at the
/// pace of the pinhole profile. With a fixed sends_per_second always. False for a stale id.
PH_API bool ph_viewer_is_send_due(ph_world* world, ph_viewer_id viewer, uint64_t now_us);

/// How often the viewer is sent to, what is usual for the profile filled in: sends per second, or
/// PH_SENDS_AUTO; 0 for a stale id.
PH_API double ph_viewer_sends_per_second(const ph_world* world, ph_viewer_id viewer);

/// Makes room for so many sends at the same time, 1..256; never less than before. Not while one runs.
/// @return PH_OK, PH_ERROR_ARGUMENT, or PH_ERROR_MEMORY with everything as before.
PH_API ph_result ph_world_set_sends_at_once(ph_world* world, int count);

/// Takes an ack, or any bytes that came in its place. Allocates nothing.
/// @return PH_OK, PH_ERROR_STALE (the viewer), or PH_ERROR_VALUE for bytes that are no ack of this
/// session; they are counted and change nothing else.
PH_API ph_result ph_viewer_receive_ack(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                                       const void* bytes, size_t size);

// ---- the budget

/// Changes the budget from now on; units and zeros as in ph_viewer_def. Before the first send (or
/// ph_viewer_spend()) the bucket is full, whatever the burst is then. Later, what was saved up stays, up
/// to the new burst.
///
/// This call is not told the time; sends, ph_viewer_spend() and new acks are. So it is not known
/// when, between two of those, the budget changed. For all of that time the bucket gets the lower
/// of the old and the new rate, up to the smaller burst; after several changes, the lowest rate and
/// the smallest burst. If one of these budgets has no limit, the bucket gets nothing for that time.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT, or PH_ERROR_MEMORY with everything as before.
PH_API ph_result ph_viewer_set_budget(ph_world* world, ph_viewer_id viewer, int bits_per_second,
                                      int burst_bits);

// Datagrams may carry more than the view: reliable messages (message.h), or what the game adds. That
// is paid from the same budget, so that it is never exceeded.

/// So many bytes the caller adds to every datagram of this viewer from now on, and so many more to
/// the next one alone; both 0 at first. They are paid from the budget, count as payload (its reason is
/// PH_REASON_RESERVED) and leave the packet less room: bytes and size of ph_deliver_fn are without them.
/// next_bytes is 0 again after the next datagram. The burst is deep enough for the largest enter beside
/// the most that was ever reserved; what it grows by is to be saved up first, unless nothing was sent
/// yet: the bucket is full at the first send. Allocates nothing; not during a send.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_ARGUMENT with everything as before: less than 0, or
/// together more than ph_viewer_reserve_max().
PH_API ph_result ph_viewer_reserve(ph_world* world, ph_viewer_id viewer, int each_bytes,
                                   int next_bytes);

/// How much can be reserved so that the largest enter of the schema always fits: PH_PAYLOAD_MAX less
/// that. 0 for the largest classes there can be, and for a stale viewer.
PH_API int ph_viewer_reserve_max(const ph_world* world, ph_viewer_id viewer);

/// Pays for a datagram of the caller's own, which carries no packet: so many bytes of payload, and
/// overhead_bytes. 1..PH_PAYLOAD_MAX; what is reserved is not added.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT, or PH_ERROR_FULL when the budget cannot pay for it
/// now: do not send it.
PH_API ph_result ph_viewer_spend(ph_world* world, ph_viewer_id viewer, uint64_t now_us, int bytes);

/// Bits that the budget can pay for now, overhead included; INT64_MAX without a limit, 0 for a stale viewer.
PH_API int64_t ph_viewer_left_bits(ph_world* world, ph_viewer_id viewer, uint64_t now_us);

/// What of that the view does not need: all beyond a full datagram, for which the sender never waits. Meant for right
/// behind a send, or when no send is due: what is left then is left over. INT64_MAX without a limit, 0 for a stale
/// viewer.
PH_API int64_t ph_viewer_spare_bits(ph_world* world, ph_viewer_id viewer, uint64_t now_us);

#ifdef __cplusplus
}
#endif

#endif
