// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sending side: all entities and their state, and who sees them.
//
// The game spawns entities, puts its own structs, and calls ph_world_tick() at its own pace. State
// is quantised once, when it is put, into the integers that go on the wire; a change smaller than a
// step is no change. Between two ticks the game may do anything; a tick allocates nothing.
//
// Each viewer then gets datagrams, exactly within its budget, and answers with acknowledgements:
//
//     ph_world_tick(world);
//     ph_world_send_all(world, now_us, deliver, context);
//     ...
//     ph_world_acknowledge(world, viewer, now_us, bytes, size);
//
// The transport is the game's, and so is the clock: now_us counts microseconds from anywhere and
// never goes back.

#ifndef PINHOLE_WORLD_H
#define PINHOLE_WORLD_H

#include <pinhole/base.h>
#include <pinhole/ground.h>
#include <pinhole/packet.h>
#include <pinhole/schedule.h>
#include <pinhole/schema.h>
#include <pinhole/vision.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Names one viewer of one world. Opaque, passed by value; {0} is null.
typedef struct ph_viewer_id {
    uint32_t index1;
    uint32_t generation;
} ph_viewer_id;

typedef struct ph_world ph_world;

/// May answer no for reasons of the game. Called only where the masks allow it; the answer must not
/// depend on anything that this viewer may not know. Called during ph_world_tick(): it must not change
/// the world. A new "no" counts from the viewer's next turn (see
/// refresh_ticks); to hide an entity at once, change its masks.
typedef bool ph_may_see(void* context, ph_viewer_id viewer, ph_entity_id entity);

/// How to build a world. Start from ph_world_def_default() and change what you need.
typedef struct ph_world_def {
    /// Required. Must outlive the world.
    const ph_schema* schema;
    /// Live entities expected. More are accepted: storage then grows at the spawn. Default 1024.
    int entity_capacity;
    /// Viewers expected. More are accepted in the same way. Default 64.
    int viewer_capacity;
    /// Largest vision radius of any viewer, in mm. Default 250,000.
    int32_t radius_max_mm;
    ph_vision_def vision;
    /// Optional filter beside the masks.
    ph_may_see* may_see;
    void* may_see_context;
    /// How packets are written. Default PH_PROFILE_PINHOLE.
    ph_profile profile;
    /// Time from one tick to the next, in microseconds, 1,000..10,000,000. Default 100,000.
    uint32_t tick_us;
    /// Further than this within one move is a jump, which clients show as one, in mm. 0: 100 m/s
    /// for the length of a tick.
    int32_t jump_mm;
    /// What there is to stand on, the same as the clients'. Zero-initialised: nothing. For classes
    /// whose position has a ground_tolerance_mm.
    ph_ground ground;
    /// Who does the sends of ph_world_send_all(), one job for each viewer (some are of nobody), and may use
    /// many threads for them: deliver is then called for different viewers at the same time. A job takes
    /// less than 16 kB of stack. Default NULL: one after the other, by the caller.
    ph_run_jobs* run_jobs;
    void* run_jobs_context;
    /// How many sends may run at the same time, on as many threads, 1..256; each needs some 90 kB, taken
    /// at creation and when a viewer with more slots than any before is added. Default 1. Also
    /// ph_world_set_sends_at_once().
    int sends_at_once;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Set by ph_world_def_default(). Do not touch.
    uint32_t cookie;
} ph_world_def;

PH_API ph_world_def ph_world_def_default(void);

/// Creates a world. Worlds share nothing: each may live on its own thread.
/// @return PH_OK, PH_ERROR_RANGE (a def field makes no sense), or PH_ERROR_MEMORY; *world is NULL
/// unless PH_OK and nothing is leaked.
PH_API ph_result ph_world_create(const ph_world_def* def, ph_world** world);

/// Destroys a world and every id it issued. NULL is allowed.
PH_API void ph_world_destroy(ph_world* world);

// ---- entities

/// What an entity starts with. Zero-initialised: class 0 at (0, 0, 0), seen by everybody near.
typedef struct ph_spawn {
    /// Index of the class in the schema.
    int class_index;
    /// The game's own name for it: unique in the world, the only name that goes on the wire; small
    /// numbers cost few bits.
    uint64_t name;
    int32_t position_mm[3];
    /// Who may see it: viewers whose sees mask meets this one. Here, and only here, 0 means
    /// everybody (all bits).
    uint32_t seen_by;
    /// Seen at any distance, before all others, by those who may see it.
    bool is_always_visible;
    /// Seen by nobody but its own viewer.
    bool is_never_visible;
} ph_spawn;

/// @return PH_OK, PH_ERROR_VALUE (no such class), PH_ERROR_TAKEN (the name), PH_ERROR_MEMORY with
/// the world as it was; *entity is {0} unless PH_OK.
PH_API ph_result ph_world_spawn(ph_world* world, const ph_spawn* spawn, ph_entity_id* entity);

/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_despawn(ph_world* world, ph_entity_id entity);

PH_API bool ph_world_is_alive(const ph_world* world, ph_entity_id entity);
PH_API int ph_world_entity_count(const ph_world* world);

/// The entity of this name, or {0}.
PH_API ph_entity_id ph_world_find(const ph_world* world, uint64_t name);
/// Name and class of a live entity. Either pointer may be NULL. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_identify(const ph_world* world, ph_entity_id entity, uint64_t* name,
                                   int* class_index);

/// Puts the game's struct: quantises every bound property and marks what changed. A reference to an
/// entity that is gone is kept as {0}.
/// @return PH_OK, PH_ERROR_STALE, or why a value was refused (*property, if not NULL, says which);
/// nothing is changed then.
PH_API ph_result ph_world_put(ph_world* world, ph_entity_id entity, const void* state,
                              int* property);

/// Fills the game's struct with the state as clients will see it: quantised, coordinates rounded
/// down to the step of the wire, the height that of the ground's layer where there is one, a
/// reference to an entity that is gone as {0}. Unbound bytes are left alone.
/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_get(const ph_world* world, ph_entity_id entity, void* state);

/// Sets one property from a value of the given field type; any will do that the coding can be bound
/// to. size is that of the value: for TEXT the string ends there, or before at a zero byte; BYTES
/// begin with their length, as in a struct.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_VALUE (no such property, wrong type or size), or why it
/// was refused; nothing is changed then.
PH_API ph_result ph_world_set(ph_world* world, ph_entity_id entity, int property, ph_field field,
                              const void* value, size_t size);

/// Reads one property, as ph_world_get() does, into a value of the given field type and size. TEXT
/// is ended by a zero byte, BYTES begin with their length: size must have room for it.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_VALUE (no such property, wrong type or size, or the
/// field cannot hold the value), PH_ERROR_TOO_LONG (a text does not fit).
PH_API ph_result ph_world_read(const ph_world* world, ph_entity_id entity, int property,
                               ph_field field, void* value, size_t size);

/// Moves an entity; the same as setting its position.
PH_API ph_result ph_world_move(ph_world* world, ph_entity_id entity, int32_t x_mm, int32_t y_mm,
                               int32_t z_mm);

/// Changes who may see it (see ph_spawn). A seen_by of 0 means nobody but its own viewer: a mask
/// that was worked out and came to nothing opens nothing.
PH_API ph_result ph_world_set_visibility(ph_world* world, ph_entity_id entity, uint32_t seen_by,
                                         bool is_always_visible, bool is_never_visible);

/// Bit p is set when what the wire carries of property p has changed since the last tick. A new
/// entity has no bit set; that the entity behind a reference is gone sets none. 0 for a stale id.
PH_API uint64_t ph_world_changes(const ph_world* world, ph_entity_id entity);

/// Path length in mm since the spawn, modulo 2^32: counts every move, also there and back, also
/// below the step of the wire, each to the nearest mm. A move counts 2^20 mm (1,049 m) at most: a
/// jump is no path, and many kilometres at once could bring the sum round to where it was. 0 for a
/// stale id.
PH_API uint32_t ph_world_mileage(const ph_world* world, ph_entity_id entity);

// ---- viewers

/// Sends in a rhythm of the sender's own.
#define PH_SENDS_AUTO (-1.0)

/// What a viewer is. Start from ph_viewer_def_default().
typedef struct ph_viewer_def {
    /// The viewer's own entity: its eye follows it, and it is slot 0. {0}: a spectator.
    ph_entity_id entity;
    /// A spectator's eye.
    int32_t eye_mm[3];
    /// Whom it may see: meets seen_by of the entities. Default all bits.
    uint32_t sees;
    /// Meets audience_mask of properties. Default 0.
    uint32_t audience;
    /// Default 250,000 mm; at most the world's radius_max_mm.
    int32_t radius_mm;
    /// The so many nearest enter, 1..PH_VISIBLE_MAX. Default 250. Those that have entered may stay a
    /// little beyond (see hysteresis and stay_ticks of ph_vision_def), as long as there are slots: no
    /// more than slot_count - 1 are ever visible.
    int visible_max;
    /// Slots, slot 0 included; at least visible_max + 1, at most 65535. 0 means 2 * visible_max,
    /// but with the classic profile no more than 256 as long as those suffice: a slot then costs 8
    /// bits, its least.
    int slot_count;
    /// Bits that it may be sent per second, overhead included; 0: no limit. Default 13,000. At least
    /// 1,000.
    int bits_per_second;
    /// How much may be saved up while nothing is due, in bits; the bucket is full at the first send. 0
    /// means one second's worth. Never less than one datagram with the largest enter of the schema.
    int burst_bits;
    /// Bytes that each datagram costs beside its payload, 0..1000. Default 48: 28 for IPv4 and UDP,
    /// 20 for a secure envelope.
    int overhead_bytes;
    /// How often ph_world_send_all() sends to it, 0.1..1000; or PH_SENDS_AUTO: whenever the budget
    /// pays for everything worth telling, at most once a tick, and at the latest after a second.
    /// Default 0, as is usual for the profile: classic 5 times, pinhole PH_SENDS_AUTO.
    double sends_per_second;
    /// Positions may be coarser the further away they are, by no more than this angle seen from the
    /// viewer, in mrad, 0..60. Whoever rests is told exactly all the same, and so is everybody when
    /// there is no limit to the budget. Those who have just come into view may be off by 32 times
    /// that, but no more than 32 mrad or the angle itself if it is greater, while more of them wait
    /// than the budget can show: they are told exactly when it can. 0: always exactly. Default 1; classic knows no such thing.
    double precision_mrad;
    /// Pinhole profile: values as universal codes in place of the learned models; clients take both.
    /// To see what the models are worth. Default false.
    bool is_universal;
    /// An entity that has had something due for longer than this goes before those of higher
    /// priority, with up to a quarter of the bits; so that nobody waits for ever. Default 10,000.
    int patience_ms;
    /// Names this connection: any number that the last one to the same client did not use, best a
    /// random one. Numbers of packets start behind it.
    uint32_t session;
    /// Which entities go first. {0}, as is usual for the profile: classic ph_scheduler_score(), pinhole
    /// ph_scheduler_error().
    ph_scheduler scheduler;
    /// Set by ph_viewer_def_default(). Do not touch.
    uint32_t cookie;
} ph_viewer_def;

PH_API ph_viewer_def ph_viewer_def_default(void);

/// Adds a viewer. It sees nobody before the next tick.
/// @return PH_OK, PH_ERROR_STALE (its entity), PH_ERROR_RANGE, PH_ERROR_MEMORY with the world as it
/// was; *viewer is {0} unless PH_OK.
PH_API ph_result ph_world_add_viewer(ph_world* world, const ph_viewer_def* def,
                                     ph_viewer_id* viewer);
PH_API ph_result ph_world_remove_viewer(ph_world* world, ph_viewer_id viewer);

/// Moves a spectator's eye. A viewer with an entity follows it; when that is gone, the eye stays,
/// and may be moved. @return PH_OK, PH_ERROR_STALE, or PH_ERROR_VALUE for a viewer whose entity
/// lives.
PH_API ph_result ph_world_set_eye(ph_world* world, ph_viewer_id viewer, int32_t x_mm, int32_t y_mm,
                                  int32_t z_mm);

/// Gives a viewer another entity of its own, or none ({0}): the eye then stays where it is.
/// @return PH_OK or PH_ERROR_STALE (viewer or entity).
PH_API ph_result ph_world_set_own(ph_world* world, ph_viewer_id viewer, ph_entity_id entity);

/// Changes whom a viewer may see. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_set_sees(ph_world* world, ph_viewer_id viewer, uint32_t sees);

/// What the viewer sees since the last tick. The arrays are valid until the next tick, or until a
/// viewer is added or removed; the indices name the same entities, or nobody, for as long.
/// @return PH_OK or PH_ERROR_STALE with an empty sight.
PH_API ph_result ph_world_sight(const ph_world* world, ph_viewer_id viewer, ph_sight* sight);

/// The entity behind an index of a sight, {0} if there is none any more.
PH_API ph_entity_id ph_world_entity_at(const ph_world* world, ph_entity_index index);

/// For games that tell their clients of vision by their own means, without ph_world_send(): the
/// client knows that the slot was left, it may be used again. Slots that were not left are refused,
/// and those that a send has told of: these become free by themselves.
/// @return PH_OK, PH_ERROR_STALE or PH_ERROR_VALUE.
PH_API ph_result ph_world_free_slot(ph_world* world, ph_viewer_id viewer, int slot);

// ---- sending
//
// Who is told of first: those whose leave or enter is due, then by the scheduler, then whoever is
// left. Nobody waits for ever: after patience_ms an entity goes before all newcomers and priorities,
// longest wait first, with a quarter of the bits on the wire. So everything due about an entity in
// view has been sent at the latest after
//
//     patience_ms + the time between two sends + 4 * slots * dearest / rate
//
// where slots is slot_count, dearest the bits on the wire of a datagram with the largest enter of
// the schema, and rate bits_per_second, or what the burst lets through if that is less (burst_bits
// for each send), less what the caller adds; as long as acknowledgements come before too much is
// without an answer. What gets lost is due anew.
//
// now_us counts microseconds from anywhere, and never goes back; it stays below 2^53 (285 years).
//
// At most 64 packets are without an answer, or about two seconds of the budget; beyond that only
// probes go out, one a second, until one is answered. So do probes when nothing is due any more but
// the fate of the last packets is unknown.

/// Takes one datagram to a viewer's client. bytes are borrowed for the call. The send is not over: it
/// may call nothing that changes this world or this viewer (no acknowledgement, no send, no tick);
/// keep what comes back until the send has returned.
typedef void ph_deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size);

/// One send to one viewer: as many datagrams as are due and can be paid for, often one, sometimes
/// none. Allocates nothing. Different viewers may be sent to from different threads at once, between
/// two ticks, as many as sends_at_once of ph_world_def says.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_FULL with nothing done: more sends at once than that.
PH_API ph_result ph_world_send(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                               ph_deliver* deliver, void* context);

/// Makes room for so many sends at the same time, 1..256; never less than before. Not while one runs.
/// @return PH_OK, PH_ERROR_RANGE, or PH_ERROR_MEMORY with everything as before.
PH_API ph_result ph_world_set_sends_at_once(ph_world* world, int count);

/// Whether ph_world_send_all() would send to this viewer now: for games that send by themselves, and
/// by the rhythm of the pinhole profile. With a fixed sends_per_second always. May be asked from
/// different threads like ph_world_send(). False for a stale id.
PH_API bool ph_world_is_send_due(ph_world* world, ph_viewer_id viewer, uint64_t now_us);

/// How often the viewer is sent to, what is usual for the profile filled in: sends per second, or
/// PH_SENDS_AUTO; 0 for a stale id.
PH_API double ph_world_sends_per_second(const ph_world* world, ph_viewer_id viewer);

/// A send to every viewer whose time has come by its sends_per_second, on as many threads as run_jobs of
/// ph_world_def has; jobs beyond sends_at_once are done at the end, by the caller. Call it after each tick.
PH_API void ph_world_send_all(ph_world* world, uint64_t now_us, ph_deliver* deliver, void* context);

/// Takes an acknowledgement, or whatever came in its place. As ph_world_send(): allocates nothing,
/// and different viewers may be served from different threads.
/// @return PH_OK, PH_ERROR_STALE (the viewer), or PH_ERROR_VALUE for bytes that are no
/// acknowledgement of this session; they are counted and change nothing else.
PH_API ph_result ph_world_acknowledge(ph_world* world, ph_viewer_id viewer, uint64_t now_us,
                                      const void* bytes, size_t size);

/// Changes the budget from now on; units and zeros as in ph_viewer_def. Before the first send (or
/// ph_world_spend()) the bucket is full, whatever the burst is then. Later, what was saved up stays, up to
/// the new burst. The time is known from sends, and from acknowledgements with news: what has passed since
/// the last one counts at the lowest rate of that time, up to its smallest burst. Without a limit nothing is
/// spent or saved up: if there was none for a part of that time, none of it counts.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_RANGE, or PH_ERROR_MEMORY with everything as before.
PH_API ph_result ph_world_set_budget(ph_world* world, ph_viewer_id viewer, int bits_per_second,
                                     int burst_bits);

// Datagrams may carry more than the view: reliable messages (mail.h), or whatever the game adds. That
// is paid from the same budget, so that it is never exceeded.

/// So many bytes the caller adds to every datagram of this viewer from now on, and so many more to
/// the next one alone; both 0 at first. They are paid from the budget, count as payload (its reason is
/// PH_REASON_RESERVED) and leave the packet less room: bytes and size of ph_deliver are without them.
/// next_bytes is 0 again after the next datagram. The burst is deep enough for the largest enter beside
/// the most that was ever reserved; what it grows by is to be saved up first, unless nothing was sent yet:
/// the bucket is full at the first send. Allocates nothing; not during a send.
/// @return PH_OK, PH_ERROR_STALE, or PH_ERROR_RANGE with everything as before: less than 0, or
/// together more than ph_world_reserve_max().
PH_API ph_result ph_world_reserve(ph_world* world, ph_viewer_id viewer, int each_bytes,
                                  int next_bytes);

/// How much can be reserved so that the largest enter of the schema always fits: PH_PAYLOAD_MAX less
/// that. 0 for the largest classes there can be, and for a stale viewer.
PH_API int ph_world_reserve_max(const ph_world* world, ph_viewer_id viewer);

/// Pays for a datagram of the caller's own, which carries no packet: so many bytes of payload, and
/// overhead_bytes. 1..PH_PAYLOAD_MAX; what is reserved is not added. May be called from different
/// threads like ph_world_send().
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_RANGE, or PH_ERROR_FULL when the budget cannot pay for it
/// now: do not send it.
PH_API ph_result ph_world_spend(ph_world* world, ph_viewer_id viewer, uint64_t now_us, int bytes);

/// How much an entity matters to this viewer beside its distance ("my target", "attacks me"): 1 is
/// usual, 0 lets it wait for bits that nobody else needs, or as long as patience allows. Stays until it is set again or the entity is
/// gone, in view or not. 0..1,000,000.
/// @return PH_OK, PH_ERROR_STALE (viewer or entity), PH_ERROR_RANGE, PH_ERROR_MEMORY.
PH_API ph_result ph_world_set_hint(ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                                   double weight);

/// How one viewer is doing. Counts are since it was added.
typedef struct ph_viewer_stats {
    uint64_t datagrams;
    uint64_t payload_bytes;
    /// payload_bytes and overhead_bytes of every datagram.
    uint64_t wire_bytes;
    /// Where the payload went.
    ph_ledger ledger;
    /// Records sent.
    uint64_t enters;
    uint64_t leaves;
    uint64_t updates;
    /// Updates that change at least one property by its significant difference or more; not those that
    /// went because the value had settled.
    uint64_t significant_updates;
    uint64_t probes;
    /// Packets whose fate is known, and those of them that never came.
    uint64_t resolved;
    uint64_t lost;
    /// Datagrams that would have been over the budget or PH_PAYLOAD_MAX when they were written: not sent,
    /// not paid for and in no other count, but lost as any other, so that what they said is told again.
    /// Always 0, unless the library has a bug.
    uint64_t withheld;
    /// Acknowledgements: those that told something new, those that came late or twice, those that
    /// contradict what was said before, those that cannot be, and bytes that are none.
    uint64_t acks_new;
    uint64_t acks_old;
    uint64_t acks_contrary;
    uint64_t acks_impossible;
    uint64_t acks_malformed;
    /// On the wire within the last full second, as counted by sends and acknowledgements: while there
    /// are none, it stays what it was.
    double kbps;
    /// Smoothed; 0 before the first acknowledgement.
    double rtt_ms;
    /// How many round trips were measured, and all of them together.
    uint64_t round_trips;
    uint64_t round_trips_us;
    /// Smoothed share of lost packets, 0..1.
    double loss;
    /// Packets without an answer yet.
    int in_flight;
    /// What may be sent now, in bits.
    int64_t tokens_bits;
    /// How long the entity in view that has waited for longest has had something due: from the first
    /// send that found it changed to the last time heard of (of a send or a new acknowledgement). A
    /// newcomer waits from the first send after it entered; what is on its way does not wait.
    double oldest_due_ms;
    /// Whether anything at all is due: something that differs from what was sent last, in flight or
    /// known, and may be sent at its distance; an enter or a leave.
    bool is_something_due;
} ph_viewer_stats;

/// Slow enough not to be called for everybody every tick: it looks through the slots. Changes nothing;
/// not at the same time as a send to this viewer, or an acknowledgement.
/// @return PH_OK, or PH_ERROR_STALE with *stats set to {0}.
PH_API ph_result ph_world_viewer_stats(const ph_world* world, ph_viewer_id viewer,
                                       ph_viewer_stats* stats);

/// The part of the figures that tells of the network; as in ph_viewer_stats.
typedef struct ph_viewer_link {
    uint64_t datagrams;
    uint64_t wire_bytes;
    uint64_t resolved;
    uint64_t lost;
    uint64_t round_trips;
    uint64_t round_trips_us;
} ph_viewer_link;

/// Cheap enough for everybody and every tick: what a rate controller (net/rate.h) wants to know.
/// @return PH_OK, or PH_ERROR_STALE with *link set to {0}.
PH_API ph_result ph_world_viewer_link(const ph_world* world, ph_viewer_id viewer,
                                      ph_viewer_link* link);

/// What a viewer's client has been told of an entity.
typedef enum ph_why_state {
    /// It is not in view.
    PH_WHY_UNSEEN = 0,
    /// It is in view, and has yet to be told of.
    PH_WHY_NEWCOMER,
    /// It was told of, but nobody knows yet whether that arrived.
    PH_WHY_ENTERING,
    /// The client is known to have it.
    PH_WHY_ENTERED,
} ph_why_state;

/// What an entity's priority for a viewer is made of, as of the last tick.
typedef struct ph_why {
    ph_why_state state;
    /// Everything below is 0 when it is not in view.
    int slot;
    /// Bit p: property p may differ from what was last sent.
    uint64_t dirty;
    /// |dx| + |dy|, in mm, at least 1.
    double distance_mm;
    /// The game's hint.
    double weight;
    /// The scheduler's memory of it.
    double score;
    /// What the scheduler makes of it all: the highest goes first.
    double priority;
    /// Path since its position was last sent.
    double mileage_mm;
    /// As in ph_ranking.
    double change;
    /// Since something of it was last sent; -1 for newcomers and those not in view.
    double served_ms;
    /// Since it has had something due; 0: it has not.
    double waited_ms;
    /// For schedulers that want errors, else 0: see ph_ranking_errors. error_mrad and growth_mrad_s
    /// are angles as the viewer sees them, heading_rad is the turn itself.
    double range_mm;
    double error_mm;
    double error_mrad;
    double growth_mrad_s;
    double heading_rad;
    double position_bits;
} ph_why;

/// Why an entity is told of when it is. Asks the scheduler once more about this entity alone; changes
/// nothing. Not at the same time as a send to this viewer, or an acknowledgement.
/// @return PH_OK, or PH_ERROR_STALE (viewer or entity) with *why as for one not in view.
PH_API ph_result ph_world_why(const ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                              ph_why* why);

/// Payload that went into the values of one property in updates to this viewer, in 1/256 bit; the
/// sum over all is the ledger's PH_REASON_PROPERTY. 0 for a stale viewer or no such property.
PH_API uint64_t ph_world_property_bits256(const ph_world* world, ph_viewer_id viewer,
                                          int class_index, int property);

// ---- time

/// One tick: sorts the entities, refreshes the vision of the viewers whose turn it is (and of those
/// that are new, or show an entity that was despawned or hidden since), and then forgets which
/// properties had changed. Allocates nothing.
PH_API void ph_world_tick(ph_world* world);

/// Ticks since the world was created.
PH_API uint32_t ph_world_now(const ph_world* world);

PH_API ph_vision_stats ph_world_vision_stats(const ph_world* world);

/// What the time of a world goes into.
typedef enum ph_stage {
    /// Sorting the entities, refreshing who sees whom.
    PH_STAGE_VISION = 0,
    /// Which properties may have become due, where everybody is.
    PH_STAGE_KNOWLEDGE,
    /// The scheduler's ranks.
    PH_STAGE_SCORE,
    /// Visiting entities in that order: comparing, filtering, adding what fits.
    PH_STAGE_PICK,
    /// Writing the packets.
    PH_STAGE_ENCODE,
    /// Acknowledgements.
    PH_STAGE_ACKS,
    PH_STAGE_COUNT
} ph_stage;

/// Nanoseconds by ph_stage.
typedef struct ph_stage_times {
    uint64_t ns[PH_STAGE_COUNT];
} ph_stage_times;

/// A clock in nanoseconds, counted from anywhere, that never goes back. Called from every thread that
/// sends or acknowledges.
typedef uint64_t ph_now_ns(void* context);

/// Lends the world a clock to measure itself by; it decides nothing else. NULL, as at the start:
/// nothing is measured. Between two ticks only.
PH_API void ph_world_set_clock(ph_world* world, ph_now_ns* now_ns, void* context);

/// What was measured so far, of the world and of the viewers it has now. What a game does in
/// ph_deliver does not count.
PH_API ph_stage_times ph_world_stage_times(const ph_world* world);

/// True when every structure is sound. Slow; for tests.
PH_API bool ph_world_validate(const ph_world* world);

#ifdef __cplusplus
}
#endif

#endif
