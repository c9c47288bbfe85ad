// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The state of a world as bytes, and back into another world: for saves, replays, and worlds on several
// machines. A whole world or area, or what has changed since a tick, in batches of a few kilobytes.
//
//     ph_export_def what = ph_export_def_default();
//     what.is_whole = true;
//     ph_world_export(world, &what, write_to_file, file);          // a save
//
//     ph_importer* importer;
//     ph_importer_create(&(ph_importer_def){.world = other}, &importer);
//     ph_importer_take(importer, batch, size);                     // for each batch
//     ph_importer_destroy(importer);
//
// What arrives is what was there, exactly: keys, classes, positions to the millimetre, visibility, and
// all values as they are quantised. References name entities by key; one to an entity that is not in the
// other world is {0} until an import brings that entity. Ids, ticks and paths are each world's own, and
// so is what it takes for a jump.
//
// A batch of a whole export says everything of a range of keys: the import also removes what the batch
// does not name. A batch of changes creates, changes and removes what it names. Batches depend on
// nothing but the schema: each may be lost or repeated, and what is lost is made good by the next whole
// export. Every entity has an owner and an epoch, and what is older than what the other world has is
// ignored. What was removed is forgotten, though: a batch from before that comes after it brings the
// entity back, until the next whole export. Keep batches in order.
//
// The bytes are in docs/wire_transfer.md. Import trusts nothing: a batch is applied whole or refused.

#ifndef PINHOLE_TRANSFER_H
#define PINHOLE_TRANSFER_H

#include <pinhole/base.h>
#include <pinhole/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- ownership

/// Which world an entity belongs to, and how many have owned it. When another one takes it over, it
/// raises the epoch: what the world before still says of the entity is then older.
typedef struct ph_ownership {
    /// 0: the world that it is in. Others are numbered by the game.
    uint32_t owner;
    uint32_t epoch;
} ph_ownership;

/// A spawned entity has {0, 0}. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_set_ownership(ph_world* world, ph_entity_id entity,
                                        ph_ownership ownership);

/// @return PH_OK, or PH_ERROR_STALE with *ownership {0, 0}.
PH_API ph_result ph_world_get_ownership(const ph_world* world, ph_entity_id entity,
                                        ph_ownership* ownership);

// ---- export

/// A batch takes no more bytes than this, and may be told to take as few as that.
#define PH_EXPORT_BATCH_BYTES_MIN 2048
#define PH_EXPORT_BATCH_BYTES_MAX 1048576

/// What is exported. Start from ph_export_def_default().
typedef struct ph_export_def {
    /// Everything, and the import removes what is not there. Default false: what has changed.
    bool is_whole;
    /// Of changes: those since this many ticks (ph_world_tick_count() when the last export was
    /// made). Values that changed in between and changed back may be among them. Default 0: since the
    /// world was created.
    uint32_t since_tick;
    /// Only entities that are in the area now, its ends included, and for changes those that were
    /// removed in it. An entity that has left the area is not told of in changes. Default false.
    bool has_area;
    int32_t from_mm[2];
    int32_t to_mm[2];
    /// Only entities of this owner. Default 0: those of the world itself.
    uint32_t owner;
    /// Under which number the other world knows that owner. Default 0: the entities become its own.
    uint32_t as_owner;
    /// PH_EXPORT_BATCH_BYTES_MIN..PH_EXPORT_BATCH_BYTES_MAX. Default 8,192.
    int batch_bytes;
    /// Set by ph_export_def_default(). Do not touch.
    uint32_t cookie;
} ph_export_def;

/// The defaults named above.
PH_API ph_export_def ph_export_def_default(void);

/// Is given one batch after the other. The bytes are valid during the call.
typedef void ph_export_fn(void* context, const void* bytes, size_t size);

/// Exports from the world as it is now; the world does not change. Changes without anything new make no
/// batch, a whole export of nothing makes one. Allocates, and gives it back.
/// @return PH_OK; PH_ERROR_ARGUMENT (a field of the def); PH_ERROR_MEMORY; PH_ERROR_STALE: an entity was
/// despawned since since_tick that the world no longer remembers (removal_capacity of ph_world_def):
/// export the whole instead. Nothing is delivered unless PH_OK.
PH_API ph_result ph_world_export(const ph_world* world, const ph_export_def* def,
                                 ph_export_fn* deliver, void* context);

// ---- import

typedef struct ph_importer ph_importer;

/// How to make an importer. Zero-initialised, but for the world, is fine.
typedef struct ph_importer_def {
    /// Required. Must outlive the importer. Its allocator is used.
    ph_world* world;
    /// Batches count whatever their tick and epoch, as when a game goes back to an earlier save.
    bool takes_older;
} ph_importer_def;

/// @return PH_OK, PH_ERROR_ARGUMENT (no world) or PH_ERROR_MEMORY; *importer is NULL unless PH_OK.
PH_API ph_result ph_importer_create(const ph_importer_def* def, ph_importer** importer);
PH_API void ph_importer_destroy(ph_importer* importer); // NULL is allowed

/// Why a batch was refused.
typedef enum ph_import_refusal {
    /// Shorter than its header, or longer than PH_EXPORT_BATCH_BYTES_MAX.
    PH_IMPORT_REFUSAL_SIZE = 0,
    /// Another version of the format, or flags that it does not have.
    PH_IMPORT_REFUSAL_FORMAT,
    /// Made with another schema.
    PH_IMPORT_REFUSAL_SCHEMA,
    /// The ends of the area or of the range of keys are the wrong way round.
    PH_IMPORT_REFUSAL_RANGE,
    /// Keys of a whole export that do not ascend, or are out of the batch's range.
    PH_IMPORT_REFUSAL_KEYS,
    /// A kind of record or a class that there is not, a removal in a whole export, a position
    /// outside of the area.
    PH_IMPORT_REFUSAL_RECORD,
    /// A value that no world has, or that no export writes so.
    PH_IMPORT_REFUSAL_VALUE,
    /// The bytes end before the records do, or go on behind them.
    PH_IMPORT_REFUSAL_END,
    PH_IMPORT_REFUSAL_COUNT
} ph_import_refusal;

/// A few words on a refusal, never NULL. Static storage.
PH_API const char* ph_import_refusal_text(ph_import_refusal refusal);

/// Applies one batch. The world shows it to viewers from the next tick, as with the game's own changes.
/// Allocates when the world grows; an import into a world with room allocates nothing.
/// @return PH_OK, also where all of it was older than what is known; PH_ERROR_SCHEMA: made with
/// another schema; PH_ERROR_VALUE: refused for another reason; PH_ERROR_MEMORY. Nothing has changed then.
/// on_error of the world is told why.
PH_API ph_result ph_importer_take(ph_importer* importer, const void* bytes, size_t size);

/// Since the importer was created.
typedef struct ph_import_stats {
    uint64_t batches; ///< that were applied
    uint64_t records; ///< in them
    uint64_t created;
    uint64_t applied; ///< records that set values, of new entities too
    uint64_t removed;
    uint64_t older;   ///< records that were ignored, as something newer is known
    uint64_t missing; ///< records about entities that are not there, or of another class: ignored
    int waiting_references;                    ///< now: to entities that are not there yet
    uint64_t refused[PH_IMPORT_REFUSAL_COUNT]; ///< batches, by reason
} ph_import_stats;

/// What an importer has done so far.
PH_API ph_import_stats ph_importer_get_stats(const ph_importer* importer);

#ifdef __cplusplus
}
#endif

#endif
