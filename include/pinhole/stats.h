// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Statistics: how a world, a viewer, a client and the messages between them are doing, what each bit
// of payload was for, and why an entity has the priority it has.
//
//     ph_viewer_stats stats;
//     if (ph_viewer_get_stats(world, viewer, &stats) == PH_OK) {
//         printf("%.1f kbit/s, %.0f ms, %.1f %% lost\n", stats.sent_kbps, stats.rtt_ms,
//                100.0 * stats.loss);
//     }
//
// All statistics of the library are named in the same way:
//
//   - A count says what happened and then what is counted: sent_datagrams, lost_packets,
//     refused_sections. It starts at 0 with its object and only grows.
//   - What ends in _count is how many there are now: client_count.
//   - Units come last: sent_wire_bytes, rtt_ms, sent_kbps (1,000 bits per second). Shares are 0..1.
//   - payload is what a datagram of the game carries. wire is payload and the overhead_bytes of every
//     datagram (headers of IP and UDP, the secure envelope). Where no payload is meant (sockets,
//     netcode), bytes are those of the datagram without headers of IP and UDP.
//   - An ack is new when it told something that was not known.
//
// Those of connections and sockets are beside their functions: pinhole/net/host.h, netcode_server.h,
// netcode_client.h, socket.h.

#ifndef PINHOLE_STATS_H
#define PINHOLE_STATS_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_world ph_world;
typedef struct ph_client ph_client;
typedef struct ph_messages ph_messages;

// ---- what bits were for

/// What a bit of payload was for.
typedef enum ph_reason {
    PH_REASON_HEADER = 0,
    /// Session, schema and tick length, in every packet until the first ack.
    PH_REASON_HELLO,
    /// Full coordinates of the eye that positions are decoded against.
    PH_REASON_EYE,
    PH_REASON_LEAVE,
    /// Everything about a newcomer: slot, class, key, values.
    PH_REASON_ENTER,
    /// Updates: which entity.
    PH_REASON_SLOT,
    /// Updates: which of its properties.
    PH_REASON_MASK,
    /// Updates: their values.
    PH_REASON_PROPERTY,
    PH_REASON_PADDING,
    /// What the caller adds by itself: see ph_viewer_reserve() and ph_viewer_spend().
    PH_REASON_RESERVED,
    PH_REASON_COUNT
} ph_reason;

/// A short lower-case name ("header"), never NULL. Static storage.
PH_API const char* ph_reason_name(ph_reason reason);

/// Where the payload went. In 1/256 bit, because coded symbols cost fractions of a bit.
typedef struct ph_ledger {
    /// By ph_reason; together exactly 2,048 times the payload bytes.
    uint64_t bits256[PH_REASON_COUNT];
    /// Of these: what was sent again because a packet was lost.
    uint64_t resent_bits256;
} ph_ledger;

// ---- the world

/// How the search for visible entities went.
typedef struct ph_vision_stats {
    /// Visions of one viewer that were worked out.
    uint64_t refreshes;
    uint64_t enters;
    uint64_t leaves;
    /// Newcomers that had to wait because every slot was taken or resting.
    uint64_t slot_waits;
    /// Groups only: how many there are now, and what became of them.
    int group_count;
    uint64_t split_groups;
    uint64_t merged_groups;
    /// Groups only: candidate lists made, and viewers that were served from a list made for another.
    uint64_t made_lists;
    uint64_t shared_lists;
} ph_vision_stats;

/// How a world is doing: what there is now, and counts since its creation.
typedef struct ph_world_stats {
    int entity_count;
    uint64_t spawned_entities; ///< so many there ever were
    int viewer_count;
    uint64_t ticks;
    /// Values of ph_world_set_struct() and ph_world_set_property() that were outside of their range
    /// and became the nearest inside. Less than half a step beyond an end is rounding, and not
    /// counted. And values that were refused: NaN, text that is not UTF-8 or is too long, numbers
    /// out of range of a strict property, and so on (world.h); on_error names each.
    uint64_t clamped_values;
    uint64_t refused_values;
    ph_vision_stats vision;
} ph_world_stats;

/// Between two ticks, on the world's thread. Cheap.
PH_API ph_world_stats ph_world_get_stats(const ph_world* world);

// ---- a viewer

/// How one viewer is doing, since it was added.
typedef struct ph_viewer_stats {
    uint64_t sent_datagrams;
    uint64_t sent_payload_bytes;
    uint64_t sent_wire_bytes;
    /// Where the payload went.
    ph_ledger ledger;
    /// Records sent.
    uint64_t sent_enters;
    uint64_t sent_leaves;
    uint64_t sent_updates;
    /// Updates that change at least one property by its significant difference or more; not those
    /// that were sent because the value had settled.
    uint64_t sent_significant_updates;
    /// Empty packets that ask for an ack.
    uint64_t sent_probes;
    /// Packets that were acked as applied or as lost, and those of them that were lost.
    uint64_t resolved_packets;
    uint64_t lost_packets;
    /// Datagrams that would have been over the budget or PH_PAYLOAD_MAX when they were written: not
    /// sent, not paid for and in no other count, but lost as any other, so that what they said is sent
    /// again. Always 0, unless the library has a bug.
    uint64_t withheld_datagrams;
    /// Acks: new ones, those that came late or twice, those that contradict an earlier one, those that
    /// cannot be, and bytes that are no ack.
    uint64_t new_acks;
    uint64_t old_acks;
    uint64_t contrary_acks;
    uint64_t impossible_acks;
    uint64_t malformed_acks;
    /// On the wire within the last full second, as counted by sends and acks: while there are none, it
    /// stays what it was.
    double sent_kbps;
    /// Smoothed; 0 before the first ack.
    double rtt_ms;
    /// How many round trips were measured, and all of them together.
    uint64_t rtt_samples;
    uint64_t rtt_sum_us;
    /// Smoothed share of lost packets.
    double loss;
    /// Packets sent that no ack has resolved yet.
    int in_flight_count;
    /// What the token bucket has now: what may be sent.
    int64_t token_bits;
    /// The longest that an entity in view has had a difference without being sent: from the first send
    /// that found it changed to the newest time known (of a send or a new ack). A newcomer waits from
    /// the first send after it entered; what is in flight does not wait.
    double longest_wait_ms;
    /// Whether anything differs from what was last sent, in flight or acked, and may be sent at its
    /// distance; an enter or a leave included.
    bool has_diff;
} ph_viewer_stats;

/// Looks through the slots: too slow for every viewer at every tick. Changes nothing; not at the same
/// time as a send to this viewer, or an ack of it.
/// @return PH_OK, or PH_ERROR_STALE with *stats set to {0}.
PH_API ph_result ph_viewer_get_stats(const ph_world* world, ph_viewer_id viewer,
                                     ph_viewer_stats* stats);

/// The part of ph_viewer_stats that a rate controller (net/rate.h) needs.
typedef struct ph_viewer_network_stats {
    uint64_t sent_datagrams;
    uint64_t sent_wire_bytes;
    uint64_t resolved_packets;
    uint64_t lost_packets;
    uint64_t rtt_samples;
    uint64_t rtt_sum_us;
    /// Packets that were sent and are not resolved by now.
    uint64_t in_flight_packets;
} ph_viewer_network_stats;

/// Cheap enough for every viewer at every tick. Otherwise as ph_viewer_get_stats().
/// @return PH_OK, or PH_ERROR_STALE with *stats set to {0}.
PH_API ph_result ph_viewer_get_network_stats(const ph_world* world, ph_viewer_id viewer,
                                             ph_viewer_network_stats* stats);

/// Payload that went into the values of one property in updates to this viewer, in 1/256 bit; the sum
/// over all is the ledger's PH_REASON_PROPERTY. 0 for a stale viewer or no such property.
PH_API uint64_t ph_viewer_property_bits256(const ph_world* world, ph_viewer_id viewer,
                                           int class_index, int property);

// ---- what each bit of a datagram was for

/// A stretch of bits of one datagram, and what they were for. A record about an entity has several: an
/// update which entity (PH_REASON_SLOT), which properties (PH_REASON_MASK), then each value
/// (PH_REASON_PROPERTY); an enter the same, all with PH_REASON_ENTER; a leave one.
typedef struct ph_trace_item {
    /// The key of the entity; 0 where there is none, and in the leave of one whose enter was sent before
    /// the trace began and that was out of view by then.
    uint64_t key;
    /// In 1/256 bit, as in ph_ledger.
    uint32_t bits256;
    /// The slot of the entity; -1: the bits belong to none. With the pinhole profile also what it took to say
    /// that nothing is told of the slots between two records.
    int32_t slot;
    /// Of the entity's class; -1: none.
    int16_t class_index;
    /// Of that class; -1: no value of a property.
    int16_t property;
    /// A ph_reason.
    uint8_t reason;
    /// Sent before, and lost.
    bool is_resent;
    /// The first of a record.
    bool is_first;
} ph_trace_item;

/// One datagram that leaves.
typedef struct ph_packet_trace {
    ph_viewer_id viewer;
    /// The time of the send.
    uint64_t now_us;
    /// Of the packet, as its client counts them; a probe has that of the newest packet.
    uint32_t sequence;
    /// What the caller adds by itself included: see ph_viewer_reserve().
    int payload_bytes;
    int overhead_bytes;
    /// Without records: it asks for an ack.
    bool is_probe;
    /// In the order of the packet: header, leaves, enters, updates, each kind by slot, padding, reserved.
    /// Together exactly 2,048 times payload_bytes. Borrowed for the call.
    const ph_trace_item* items;
    int item_count;
} ph_packet_trace;

/// Takes what each bit of one datagram was for, just before ph_deliver_fn takes the datagram, and on the same
/// thread. May call nothing of this world.
typedef void ph_trace_fn(void* context, const ph_packet_trace* trace);

/// Traces every datagram of ph_viewer_send() and ph_world_send_all() to this viewer from now on; NULL: no
/// more. All items add up to what the ledger and ph_viewer_property_bits256() count meanwhile, but for
/// what ph_viewer_spend() pays. For tools that show or explain traffic: some 240 KB for each viewer that is
/// traced, and half as much time again for its sends; the others pay nothing. Not while a send runs.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_MEMORY with everything as before.
PH_API ph_result ph_viewer_set_trace(ph_world* world, ph_viewer_id viewer, ph_trace_fn* trace,
                                     void* context);

// ---- why an entity has the priority it has

/// What a viewer's client has of an entity.
typedef enum ph_explain_state {
    /// It is not in view.
    PH_EXPLAIN_UNSEEN = 0,
    /// It is in view; its enter was not sent yet.
    PH_EXPLAIN_NEWCOMER,
    /// Its enter was sent, and is not acked.
    PH_EXPLAIN_ENTERING,
    /// The client is known to have it.
    PH_EXPLAIN_ENTERED,
} ph_explain_state;

/// What an entity's priority for a viewer is made of, as of the last tick.
typedef struct ph_explanation {
    ph_explain_state state;
    /// Everything below is 0 when it is not in view.
    int slot;
    /// Bit p: property p may differ from what was last sent.
    uint64_t dirty;
    /// |dx| + |dy|, in mm, at least 1.
    double distance_mm;
    /// As set by ph_viewer_set_hint().
    double weight;
    /// What the scheduler keeps for this slot between sends.
    double score;
    /// What the scheduler makes of it all: the highest is sent first.
    double priority;
    /// Path since its position was last sent.
    double mileage_mm;
    /// As in ph_ranking (schedule.h).
    double change;
    /// Since something of it was last sent; -1 for newcomers and what is not in view.
    double since_sent_ms;
    /// Since it has had a difference that was not sent; 0: it has none.
    double wait_ms;
    /// For schedulers that want errors, else 0: see ph_ranking_errors. error_mrad and growth_mrad_s
    /// are angles as the viewer sees them, heading_rad is the turn itself.
    double range_mm;
    double error_mm;
    double error_mrad;
    double growth_mrad_s;
    double heading_rad;
    double position_bits;
} ph_explanation;

/// Explains the priority of an entity: asks the scheduler once more about this entity alone; changes
/// nothing. Not at the same time as a send to this viewer, or an ack of it.
/// @return PH_OK, or PH_ERROR_STALE (viewer or entity) with *explanation as for one not in view.
PH_API ph_result ph_viewer_explain(const ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                                   ph_explanation* explanation);

// ---- a client

/// Why a client refused or dropped a datagram.
typedef enum ph_client_refusal {
    /// Came twice, or after a newer one. No fault.
    PH_CLIENT_REFUSAL_OLD = 0,
    /// A packet before any hello. No fault.
    PH_CLIENT_REFUSAL_EARLY,
    /// Another schema, version, session or tick length; or more slots than slot_capacity of
    /// ph_client_def. Another profile is not among them, because its hello cannot be read: that is
    /// refused as EARLY, SEQUENCE, SIZE or RECORD.
    PH_CLIENT_REFUSAL_HELLO,
    /// A sequence or horizon that this server cannot have sent.
    PH_CLIENT_REFUSAL_SEQUENCE,
    /// Ends too early, is larger than any, or goes on behind the end of a probe.
    PH_CLIENT_REFUSAL_SIZE,
    /// A value, slot or record that no server writes, or not to a client that has what we have; a
    /// header that no server writes, such as one with a reserved horizon code.
    PH_CLIENT_REFUSAL_RECORD,
    PH_CLIENT_REFUSAL_COUNT
} ph_client_refusal;

/// How a client is doing, since its creation.
typedef struct ph_client_stats {
    /// All that came, refused ones included.
    uint64_t received_datagrams;
    uint64_t received_bytes;
    /// Of these: packets applied; probes, which only say how far the server is; and those refused, by
    /// ph_client_refusal.
    uint64_t applied_packets;
    uint64_t received_probes;
    uint64_t refused_datagrams[PH_CLIENT_REFUSAL_COUNT];
    /// Entities that came into view and left it.
    uint64_t applied_enters;
    uint64_t applied_leaves;
    /// Records of entities in view, an enter that was sent again included.
    uint64_t applied_updates;
    /// Payload of the last full second before the newest datagram.
    double received_kbps;
    /// Share of the last 64 sequences that were not applied: lost, late, refused, or known from a
    /// probe alone.
    double loss;
    /// Smoothed, from the ack that first named a packet to the arrival of the first packet that was
    /// sent after the server had that ack, less the time that the ack lay at the server. 0 before the
    /// first measurement.
    double rtt_ms;
    /// Sequence and tick of the newest applied packet. A classic packet has 11 bits of the tick; the
    /// rest is counted from the first packet by our own clock. Pinhole: the server's own tick.
    uint32_t newest_sequence;
    uint32_t newest_tick;
    /// Length of a tick of the server; 0 before the first packet.
    uint32_t tick_us;
} ph_client_stats;

/// Cheap. On the client's thread.
PH_API ph_client_stats ph_client_get_stats(const ph_client* client);

// ---- messages

/// Why a section of messages was refused.
typedef enum ph_messages_refusal {
    /// It ends before it is complete, or spare bits are not zero.
    PH_MESSAGES_REFUSAL_MALFORMED = 0,
    /// It acks what was never sent, or names an input that was never set or cannot have come.
    PH_MESSAGES_REFUSAL_ACK,
    /// A fragment, or a piece of a block, further ahead than any end may send.
    PH_MESSAGES_REFUSAL_WINDOW,
    /// A fragment that came before with other bytes, or that does not fit its neighbours; a piece of a block that came
    /// before with other bytes, or that does not fit its block.
    PH_MESSAGES_REFUSAL_CONTRARY,
    PH_MESSAGES_REFUSAL_COUNT
} ph_messages_refusal;

/// A short lower-case name ("malformed"), never NULL. Static storage.
PH_API const char* ph_messages_refusal_name(ph_messages_refusal refusal);

/// How one end of the messages is doing, since its creation.
typedef struct ph_messages_stats {
    /// Messages accepted by ph_messages_send(), those of them known to have arrived, and those that
    /// ph_messages_receive() has handed out.
    uint64_t sent_messages;
    uint64_t acked_messages;
    uint64_t received_messages;
    uint64_t sent_sections;
    uint64_t sent_bytes;
    uint64_t received_sections;
    /// By ph_messages_refusal.
    uint64_t refused_sections[PH_MESSAGES_REFUSAL_COUNT];
    /// Each time that one was sent; of these, those sent again.
    uint64_t sent_fragments;
    uint64_t resent_fragments;
    /// Came, and were there before.
    uint64_t duplicate_fragments;
    /// Came, and there was no room for them.
    uint64_t dropped_fragments;
    /// Fragments that wait to be sent or acked now, and how many may.
    int queued_fragment_count;
    int queued_fragment_capacity;
    /// Blocks accepted by ph_messages_send_block() and ph_messages_lend_block(); those of them known to have arrived,
    /// those that the other end refused, and those cancelled; and those that ph_messages_receive_block() has handed
    /// out.
    uint64_t sent_blocks;
    uint64_t acked_blocks;
    uint64_t refused_blocks;
    uint64_t cancelled_blocks;
    uint64_t received_blocks;
    /// Pieces of blocks, 64 bytes each: each time that one was sent; of these, those sent again; those that came
    /// and were there before; those that came and could not be kept.
    uint64_t sent_pieces;
    uint64_t resent_pieces;
    uint64_t duplicate_pieces;
    uint64_t dropped_pieces;
    /// Unreliable messages that were sent; those that were dropped here before that: they have waited too long, or a
    /// newer one has replaced them; and those that ph_messages_receive_unreliable() has handed out.
    uint64_t sent_unreliable;
    uint64_t dropped_unreliable;
    uint64_t received_unreliable;
    /// Came, and were not handed out: doubles and those older than others; those for which there was no room.
    uint64_t late_unreliable;
    uint64_t crowded_unreliable;
    /// Blocks that are sent or wait for that now.
    int queued_block_count;
    /// From a fragment to its ack, the time that the other end waited for a datagram included.
    /// Smoothed; 0 before the first.
    double rtt_ms;
} ph_messages_stats;

/// Cheap. On the thread of the messages.
PH_API ph_messages_stats ph_messages_get_stats(const ph_messages* messages);

#ifdef __cplusplus
}
#endif

#endif
