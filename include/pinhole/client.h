// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The receiving side: takes datagrams, keeps what they say, answers with acks, and shows the entities
// at any moment. It lives from bytes alone; the transport is the game's, and time comes in as an
// argument.
//
//     ph_client_receive(client, now_us, datagram, size);
//     if (now_us >= ph_client_ack_due_us(client)) {      // after datagrams, and once per frame
//         send(server, ack, ph_client_write_ack(client, now_us, ack));
//     }
//     ph_event event;
//     while (ph_client_poll(client, &event)) { ... }
//
//     ph_client_advance(client, now_us);                 // once per frame
//     ph_client_get_pose(client, entity, &pose);
//
// An entity has the game's key, and an id {slot + 1, association} that becomes stale when the entity
// leaves the view. References between entities are such ids, too; they are {0} once theirs is stale.
//
// A client is one connection to one server: its session begins with the first packet and ends with
// the client. Another connection takes a new client, unless it goes on with the same game at another server:
// ph_client_move().
//
// Threads: one at a time; clients share nothing.
//
// Memory is taken at creation and at no other time. For each slot of slot_capacity it is twice the
// largest class as it goes over the wire (what is known, and the packet that is being examined) and
// some 300 bytes; 360 KB for 512 slots and a class of 25 properties. The pinhole profile also takes the
// baselines of each slot, twice (some 100 bytes and two packed classes), and a ring of what was applied
// and is not yet part of the baselines: 256 KB, less for a few dozen slots. That is 360 KB more for 512
// slots.

#ifndef PINHOLE_CLIENT_H
#define PINHOLE_CLIENT_H

#include <pinhole/base.h>
#include <pinhole/error.h>
#include <pinhole/ground.h>
#include <pinhole/packet.h>
#include <pinhole/quaternion.h>
#include <pinhole/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_client ph_client;

/// How to build a client. Start from ph_client_def_default() and change what you need.
typedef struct ph_client_def {
    /// Required; its fingerprint must be that of the server's. Must outlive the client.
    const ph_schema* schema;
    /// How packets are written: the server's world must have the same. Default PH_PROFILE_PINHOLE.
    /// With another one nothing is ever applied: the headers differ, so the hello cannot be read,
    /// and ph_client_receive() returns PH_ERROR_VALUE or PH_ERROR_STALE, not PH_ERROR_SCHEMA. Both
    /// are counted in refused_datagrams of ph_client_stats.
    ph_profile profile;
    /// Slots at most, 2..65,535. Must be at least the slots of the server's viewer (slot_count of
    /// ph_viewer_def); with less, every packet is refused with PH_ERROR_SCHEMA. Default 512.
    int slot_capacity;
    /// What there is to stand on, the same as the server's. Zero-initialised: nothing.
    ph_ground ground;
    /// What ph_client_get_pose() shows. 0: the present, by extrapolation of the motion that is known.
    /// Otherwise the past of so many milliseconds, at most 10,000, interpolated between the positions
    /// received; it should be longer than the way of a packet and the interval of updates together, and
    /// not longer than five intervals.
    int interpolation_delay_ms;
    /// How long a packet that has overtaken another one may be held back, at most, so that both are
    /// applied; 0..100. Where nothing is reordered nothing is held, and elsewhere for as long as packets
    /// come late. 0: never; a packet that comes behind a newer one is dropped then. Default 30.
    int reorder_wait_ms;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_client_def_default(). Do not touch.
    uint32_t cookie;
} ph_client_def;

/// The defaults named above; the schema is still to be set.
PH_API ph_client_def ph_client_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), or PH_ERROR_MEMORY; *client is NULL
/// unless PH_OK and nothing is leaked.
PH_API ph_result ph_client_create(const ph_client_def* def, ph_client** client);

/// NULL is allowed.
PH_API void ph_client_destroy(ph_client* client);

// ---- bytes

/// Takes one datagram, whatever it is: applies it whole or not at all. Allocates nothing. now_us
/// counts microseconds from anywhere and never goes back; here and below, what is later than 2^62 (in
/// some 146,000 years) counts as that.
///
/// One that has overtaken another is held back (reorder_wait_ms) until that one comes, or until
/// ph_client_write_ack() or ph_client_advance() finds its time to be up.
///
/// A refused datagram leaves no trace but a count; a late one also teaches how long to hold others
/// back. Its sequence does not count as received either: a forged one cannot push real ones aside
/// (whether a datagram is the server's is the transport's to know), and the next ack of a newer packet
/// says that this one was not applied. Should everything be refused, the server's probes go on counting,
/// and the session with them.
/// @return PH_OK, also for one that is held back, whatever it turns out to be; PH_ERROR_STALE for one
/// that comes too late, twice or before any hello, which is no fault; PH_ERROR_SCHEMA when the server
/// has another schema, version or session than ours, or more slots than slot_capacity; PH_ERROR_VALUE
/// for anything that no server of our profile sends. A server with the other profile gives
/// PH_ERROR_VALUE and PH_ERROR_STALE. The stats count each by its reason.
PH_API ph_result ph_client_receive(ph_client* client, uint64_t now_us, const void* bytes,
                                   size_t size);

/// Writes the ack that the server should get, when ph_client_ack_due_us() says so; send it at once. Each
/// says everything, any may be lost. The round trip, and with it the server's time, is measured from
/// here, so write none that is not sent.
/// @return PH_ACK_SIZE, or 0 before the first packet.
PH_API size_t ph_client_write_ack(ph_client* client, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE]);

/// When the next ack should be written, in our time; UINT64_MAX: not before another datagram comes.
/// For a packet that was not acked yet that is when it came, for one that is held back when its time is
/// up. One that came 300 ms or more after the
/// one before it is acked once more, 50 ms after its ack, in case that got lost: the next packet, and
/// with it the next ack, may be a second away.
PH_API uint64_t ph_client_ack_due_us(const ph_client* client);

// ---- another server

/// From now on packets come from another server of the same game and schema, with a session of its own. What the one
/// before has shown stays in view and is extrapolated. An entity that the new server shows as well, by key and class, is
/// the same one: its id stays valid, its pointer stays set, its pose goes on smoothly; the game gets an UPDATE of what
/// differs, or nothing. What the new server shows beside that ENTERs; the rest LEAVEs when no enter has come for half a
/// second, 5 s after the first packet at the latest. Until then ph_client_entity_at() has more slots: behind those of the
/// server the ones before. A reference reads {0} while the new server has not shown both of its ends.
/// Takes memory for the new view, and gives that of the old one back when all its events were polled.
/// ph_client_server_time_us() counts by the new server's clock as soon as its first packet came.
/// @param profile As in ph_client_def, of the new server.
/// @param slot_capacity The same.
/// @return PH_OK, PH_ERROR_ARGUMENT or PH_ERROR_MEMORY; unless PH_OK everything is as before.
PH_API ph_result ph_client_move(ph_client* client, ph_profile profile, int slot_capacity);

// ---- what happened

/// What an event tells: an entity came into view, got new values, or left.
typedef enum ph_event_kind {
    PH_EVENT_ENTER = 0,
    PH_EVENT_UPDATE,
    PH_EVENT_LEAVE,
} ph_event_kind;

/// Something that happened to an entity since it was last polled. Updates of one entity come
/// together; an entity that came and went in between is not mentioned. So what is kept for a game
/// that does not ask never grows.
typedef struct ph_event {
    ph_event_kind kind;
    int class_index;
    ph_entity_id entity; // LEAVE: stale already
    /// The game's own number for it.
    uint64_t key;
    /// ENTER, UPDATE: bit p says that property p was received. What an ENTER does not mention is at its
    /// initial value.
    uint64_t properties;
    /// What the game has set for it; LEAVE gives it back.
    void* user;
} ph_event;

/// The next event: all LEAVEs first, then the others, each by slot. So what changes its slot leaves
/// before it enters. @return False when there is none.
PH_API bool ph_client_poll(ph_client* client, ph_event* event);

// ---- what is known

/// Entities in view, the viewer's own included.
PH_API int ph_client_entity_count(const ph_client* client);

/// Slots there are, 0 before the first packet. Slot 0 is the viewer's own. More for some seconds after a move.
PH_API int ph_client_slot_count(const ph_client* client);
/// The entity in a slot, or {0} when it is empty. Any number will do.
PH_API ph_entity_id ph_client_entity_at(const ph_client* client, int slot);

/// The entity with this key in view, or {0}. No two have the same: one that enters in a new slot has
/// left the old one, even if that leave got lost on the way; it leaves at once then.
PH_API ph_entity_id ph_client_find(const ph_client* client, uint64_t key);

/// Whether the id is that of an entity in view now. {0} is not.
PH_API bool ph_client_is_in_view(const ph_client* client, ph_entity_id entity);

/// Key and class of an entity in view. Either pointer may be NULL. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_client_identify(const ph_client* client, ph_entity_id entity, uint64_t* key,
                                    int* class_index);

/// Fills the game's struct with what is known. Unbound bytes are left alone. What was never
/// received is at its default. The position is the one last received, rounded to its step; to draw
/// the entity, use ph_client_get_pose(). @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_client_get_struct(const ph_client* client, ph_entity_id entity, void* state);

/// Gets one property as a value of the given field type and size, as ph_world_get_property() does.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT (no such property, wrong type or size),
/// PH_ERROR_VALUE (the field cannot hold the value), PH_ERROR_TOO_LONG (a text does not fit).
PH_API ph_result ph_client_get_property(const ph_client* client, ph_entity_id entity, int property,
                                        ph_field field, void* value, size_t size);

/// A pointer of the game's for each entity; NULL when it enters. Best set when the ENTER is polled:
/// an entity that leaves before that has no LEAVE. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_client_set_user(ph_client* client, ph_entity_id entity, void* user);
/// The pointer, or NULL for a stale id.
PH_API void* ph_client_user(const ph_client* client, ph_entity_id entity);

// ---- what is shown

/// An entity at the moment of the last ph_client_advance(); docs/motion.md says how it is found.
typedef struct ph_pose {
    /// In mm, within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM + 1; of x and y the middle of the step that
    /// the coding rounds to. A double, since motion between updates is finer than a millimetre; it counts
    /// whole millimetres up to 2^53, which is further than positions will ever go.
    double position_mm[3];
    /// 0 <= it < 360: the property of its class that is named "heading" and has the coding ANGLE.
    /// An angle of another name, or a smooth one, is not shown here: get it by ph_client_get_property() or
    /// ph_client_get_shown(). Of a class with an orientation: where +x of the entity points on the plane.
    double heading_deg;
    /// Whether the class has either of them.
    bool has_heading;
    /// Whether the class has an orientation.
    bool has_rotation;
    /// A unit quaternion: the orientation. Of a class with a heading only, that as a turn about z; of
    /// others the identity.
    ph_quaternion rotation;
} ph_pose;

/// Moves everything in view on to this moment of our time. Once per frame, after the datagrams that
/// have come; allocates nothing, some 75 ns per entity in view.
PH_API void ph_client_advance(ph_client* client, uint64_t now_us);

/// What is shown of one entity, at the moment of the last ph_client_advance(): without that nothing
/// moves. One that entered since the last frame is where its enter says.
/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_client_get_pose(const ph_client* client, ph_entity_id entity, ph_pose* pose);

/// What is shown of a smooth property (ph_property_def) at the moment of the last ph_client_advance(), in the unit of
/// its field: one number; of a VEC3 three; of a QUATERNION x, y, z, w. Also what lies between two steps of its coding:
/// of whole numbers, too. Of an angle 0 <= it < a full turn. The rest of numbers is left alone. What stands is in the
/// end exactly what ph_client_get_property() gives: in the pinhole profile because the server tells it once more when
/// the client would go on, mostly within a second or so; in classic, where silence means that it stands, as soon as its
/// motion has been followed for as long as updates of its class use to be apart.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_ARGUMENT when there is no such property or it is not smooth.
PH_API ph_result ph_client_get_shown(const ph_client* client, ph_entity_id entity, int property,
                                     double numbers[4]);

/// Fills the game's struct as ph_client_get_struct() does, but with what is shown of smooth properties, to the nearest
/// that their fields hold: within lo..hi. An angle is 0 <= it < a full turn: what rounds up to that is 0.
/// Position, heading and orientation are those last received: see ph_client_get_pose().
/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_client_get_shown_struct(const ph_client* client, ph_entity_id entity,
                                            void* state);

/// The server's time at a moment of ours, as well as packets tell: its ticks times their length,
/// counted from wherever the first packet stood. 0 before the first packet.
PH_API double ph_client_server_time_us(const ph_client* client, uint64_t now_us);

#ifdef __cplusplus
}
#endif

#endif
