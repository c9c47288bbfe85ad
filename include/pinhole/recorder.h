// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A recording of a world: every entity at every tick, as bytes for a file. One call per tick in the game,
// and another one, on any thread, that writes.
//
//     ph_recorder_def def = ph_recorder_def_default();
//     def.world = world;
//     ph_recorder* recorder;
//     ph_recorder_create(&def, &recorder);
//
//     ph_world_tick(world);                              // the game's thread, every tick
//     ph_recorder_tick(recorder);
//
//     ph_recorder_drain(recorder, write_to_file, file);  // now and then, on any one thread
//
//     ph_recorder_finish(recorder, write_to_file, file); // at the end
//     ph_recorder_destroy(recorder);
//
// ph_recorder_tick() copies what has changed into a ring of fixed size, and never waits. Guessing, coding
// and writing happen in ph_recorder_drain(). Where that is too slow the ring is full: the tick is left
// out and counted, and the next one for which there is room is taken whole.
//
// Recorded is what a schema holds, exactly: keys, classes, positions to the millimetre, values as they are
// quantised, visibility, spawns, despawns and jumps. The bytes are in docs/wire_recording.md. Every second
// ends a part with a checksum of its own, and every ten seconds everything is told again: a file that was
// cut off or damaged is read up to there, and from the next whole part on.
//
//     ph_replay* replay;
//     ph_replay_create(bytes, size, NULL, &replay, NULL);
//     while (ph_replay_next(replay)) {
//         for (int i = 0; i < ph_replay_place_count(replay); ++i) {
//             ph_replay_entity entity;
//             if (ph_replay_get(replay, i, &entity)) { ... }
//         }
//     }
//     ph_replay_destroy(replay);
//
// `pinhole sim`, `serve` and `demo` play such a file, and `pinhole convert` makes text of it
// (docs/measuring.md).

#ifndef PINHOLE_RECORDER_H
#define PINHOLE_RECORDER_H

#include <pinhole/base.h>
#include <pinhole/error.h>
#include <pinhole/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- writing

typedef struct ph_recorder ph_recorder;

/// Takes the next bytes of the recording. @return False where they could not be written: they are lost,
/// and the recording goes on with a whole state.
typedef bool ph_recorder_write_fn(void* context, const void* bytes, size_t size);

/// What is recorded. Start from ph_recorder_def_default().
typedef struct ph_recorder_def {
    /// Required. Must outlive the recorder.
    const ph_world* world;
    /// Room for ticks that are not drained yet, 65,536..1,073,741,824 bytes, rounded up to a power of two.
    /// A tick takes 16 bytes and the values for each entity that changes. Default 8,388,608.
    int buffer_bytes;
    /// Ticks per second, as readers are told, 0.001..1000. Default 0: as the world's tick_us says.
    double rate_hz;
    /// The number of the next tick of the world. Default 0.
    uint32_t first_tick;
    /// Says in the recording that jumps are not told; readers find them themselves. Default false.
    bool leaves_jumps_out;
    /// Used by ph_recorder_drain(), too: must be thread-safe where that is on another thread. Default: malloc and
    /// free.
    ph_allocator allocator;
    /// Set by ph_recorder_def_default(). Do not touch.
    uint32_t cookie;
} ph_recorder_def;

/// The defaults named above; the world is still to be set.
PH_API ph_recorder_def ph_recorder_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def) or PH_ERROR_MEMORY; *recorder is NULL unless PH_OK.
PH_API ph_result ph_recorder_create(const ph_recorder_def* def, ph_recorder** recorder);

/// What was not drained is lost. NULL is allowed.
PH_API void ph_recorder_destroy(ph_recorder* recorder);

/// Takes the world as it is now, on the world's thread, right after ph_world_tick(). Ticks for which it is not
/// called are missing in the recording; a second call for the same tick does nothing. Never waits; allocates only
/// after the world has grown.
/// @return PH_OK; PH_ERROR_FULL: there was no room, the tick is left out and counted (dropped_ticks); PH_ERROR_MEMORY
/// likewise.
PH_API ph_result ph_recorder_tick(ph_recorder* recorder);

/// Codes what was taken and writes it, in parts of about a second. At the same time as ph_recorder_tick(), if you
/// like, but on one thread at a time.
/// @return PH_OK; PH_ERROR_SYSTEM: write returned false; PH_ERROR_MEMORY. Some ticks are lost then, and the next call
/// goes on.
PH_API ph_result ph_recorder_drain(ph_recorder* recorder, ph_recorder_write_fn* write,
                                   void* context);

/// The same, also what is not a part yet, and says that the recording ends here. Nothing is taken or drained
/// afterwards. @return As there.
PH_API ph_result ph_recorder_finish(ph_recorder* recorder, ph_recorder_write_fn* write,
                                    void* context);

/// Since the recorder was created.
typedef struct ph_recorder_stats {
    uint64_t ticks;         ///< that were taken
    uint64_t dropped_ticks; ///< for which there was no room or no memory
    uint64_t lost_ticks; ///< that were taken and could not be written, or coded for lack of memory
    uint64_t bytes;      ///< that were written
} ph_recorder_stats;

/// On the thread that drains, or when nothing else is called.
PH_API ph_recorder_stats ph_recorder_get_stats(const ph_recorder* recorder);

// ---- reading

/// Goes through a recording that is in memory, from tick to tick. Any bytes may be read: damage is passed over and
/// counted.
typedef struct ph_replay ph_replay;

/// Borrows the bytes. allocator may be NULL (malloc and free); error may be NULL.
/// @return PH_OK; PH_ERROR_VALUE: there is no recording in it, or its schema is lost; PH_ERROR_MEMORY. *replay is NULL
/// unless PH_OK.
PH_API ph_result ph_replay_create(const void* bytes, size_t size, const ph_allocator* allocator,
                                  ph_replay** replay, ph_error* error);
PH_API void ph_replay_destroy(ph_replay* replay); // NULL is allowed

/// Whether such bytes may be a recording, damaged or not: whether the mark of a part is among them.
PH_API bool ph_replay_is_recording(const void* bytes, size_t size);

/// The schema of the world that was recorded. Valid as long as the replay.
PH_API const ph_schema* ph_replay_schema(const ph_replay* replay);
/// Ticks per second.
PH_API double ph_replay_rate_hz(const ph_replay* replay);
/// False: nothing is said about which moves were jumps.
PH_API bool ph_replay_has_jumps(const ph_replay* replay);

/// Goes on to the next tick. @return False at the end, and for ever after; also when there is no memory.
PH_API bool ph_replay_next(ph_replay* replay);
/// The number of this tick. Where it is not the one after the last, those between are not in the recording.
PH_API uint32_t ph_replay_tick(const ph_replay* replay);
/// PH_OK, or PH_ERROR_MEMORY: why it has ended.
PH_API ph_result ph_replay_result(const ph_replay* replay);

/// An entity at this tick.
typedef struct ph_replay_entity {
    uint64_t key;
    int class_index;
    int32_t position_mm[3];
    uint32_t seen_by;
    bool is_always_visible;
    bool is_never_visible;
    bool is_new;     ///< was spawned since the tick before
    bool has_jumped; ///< since the tick before
} ph_replay_entity;

/// Entities have places 0..count-1, some of which are empty. Where an entity is may change.
PH_API int ph_replay_place_count(const ph_replay* replay);
/// @return False for an empty place.
PH_API bool ph_replay_get(const ph_replay* replay, int place, ph_replay_entity* entity);
/// The place of this key, or -1.
PH_API int ph_replay_find(const ph_replay* replay, uint64_t key);

/// A property of the entity at a place that is not empty, as ph_world_get_property() gives it; a position is the exact
/// one. ENTITY is given as U64: the key of another entity at this tick, which is at ph_replay_find(); where the value
/// names none the result is PH_ERROR_STALE.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT (no such property, wrong type or size), PH_ERROR_VALUE, PH_ERROR_TOO_LONG.
PH_API ph_result ph_replay_get_property(const ph_replay* replay, int place, int property,
                                        ph_field field, void* value, size_t size);

/// What was wrong with the bytes, up to this tick; all of it once ph_replay_next() has returned false.
typedef struct ph_replay_damage {
    bool is_open;           ///< the recording was not finished, or its end is missing
    int damaged_places;     ///< how often reading had to go on further behind
    size_t first_offset;    ///< of the first of them, in bytes
    size_t skipped_bytes;   ///< in all of them
    uint64_t missing_ticks; ///< that could not be read, as far as whole parts tell of them; dropped ones, too
    uint32_t dropped_ticks; ///< that the recorder itself left out
} ph_replay_damage;

/// What was wrong so far.
PH_API ph_replay_damage ph_replay_get_damage(const ph_replay* replay);

#ifdef __cplusplus
}
#endif

#endif
