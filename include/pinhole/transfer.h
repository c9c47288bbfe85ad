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
// ignored. An importer remembers what was removed as long as it has room (tombstone_capacity); beyond
// that a batch from before that comes after it brings the entity back, until the next whole export.
//
// Worlds on several machines tell each other of their entities by cells and channels: a cell is a square
// of the ground, a channel says which viewers may see an entity. An exporter tells what has changed of
// each, so that a world that follows one cell and one channel learns nothing of the others.
//
//     ph_exporter_def def = ph_exporter_def_default();
//     def.world = world;
//     def.as_owner = 7;                                            // as the others number this world
//     ph_exporter_create(&def, &exporter);
//     ph_world_tick(world);
//     ph_exporter_changes(exporter, stamp, publish, bus);          // after each tick
//     ph_exporter_cell(exporter, cell, PH_CHANNEL_PUBLIC, stamp, answer, request); // for newcomers
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

// ---- cells and channels

/// A square of the ground: floor(x / cell_mm), floor(y / cell_mm).
typedef struct ph_cell {
    int32_t x;
    int32_t y;
} ph_cell;

/// Where entities are filed that are seen at any distance (is_always_visible), instead of the cell of
/// their position.
#ifdef __cplusplus
#define PH_CELL_EVERYWHERE (ph_cell{INT32_MIN, INT32_MIN})
#else
#define PH_CELL_EVERYWHERE ((ph_cell){INT32_MIN, INT32_MIN})
#endif

/// Sides of a cell.
#define PH_CELL_MM_MIN 16000
#define PH_CELL_MM_MAX 16000000

/// Entities that every viewer may see (seen_by has all bits).
#define PH_CHANNEL_PUBLIC 0
/// Those of bit 0 of seen_by. An entity of several bits, but not of all, is on the channel of each.
#define PH_CHANNEL_BIT0 1
/// Those that only their own viewer sees: seen_by is 0, or is_never_visible.
#define PH_CHANNEL_OWN 33
#define PH_CHANNEL_COUNT 34

/// The cell of a position. cell_mm is PH_CELL_MM_MIN..PH_CELL_MM_MAX.
PH_API ph_cell ph_cell_at(int32_t x_mm, int32_t y_mm, int32_t cell_mm);
/// Whether both are the same cell.
PH_API bool ph_cell_is_same(ph_cell a, ph_cell b);

/// Bit c: an entity with this visibility is on channel c.
PH_API uint64_t ph_channels_of(uint32_t seen_by, bool is_never_visible);

// ---- export by cells

/// Tells what changes in a world, cell by cell and channel by channel. One per world and owner.
///
/// What is told on a channel depends on nothing but the entities that are on it, down to the order of
/// records (that of their keys) and the number of batches. A reference is told where the entity that it names
/// is public, or on all channels of the entity that has it, but OWN; else it is told as none, and told anew when
/// that changes. What the game itself derives from hidden entities is not the exporter's to hide: keys from one
/// counter for all, for example, say how many others there are.
typedef struct ph_exporter ph_exporter;

/// Is told which entity is told in another cell than before, or for the first time: within ph_exporter_changes(). It
/// must not change the world, nor call the exporter.
typedef void ph_exporter_on_cell_fn(void* context, uint64_t key, ph_cell cell);

/// How to make an exporter. Start from ph_exporter_def_default().
typedef struct ph_exporter_def {
    /// Required. Must outlive the exporter. Its allocator is used.
    ph_world* world;
    /// Side of a cell, PH_CELL_MM_MIN..PH_CELL_MM_MAX. Default 250,000.
    int32_t cell_mm;
    /// Only entities of this owner. Default 0: those of the world itself.
    uint32_t owner;
    /// Under which number the other worlds know that owner. Default 0: the entities become their own.
    uint32_t as_owner;
    /// PH_EXPORT_BATCH_BYTES_MIN..PH_EXPORT_BATCH_BYTES_MAX. Default 8,192.
    int batch_bytes;
    /// Default NULL.
    ph_exporter_on_cell_fn* on_cell;
    void* on_cell_context;
    /// Set by ph_exporter_def_default(). Do not touch.
    uint32_t cookie;
} ph_exporter_def;

/// The defaults named above; the world is still to be set.
PH_API ph_exporter_def ph_exporter_def_default(void);

/// Some records of one cell and channel.
typedef struct ph_cell_batch {
    ph_cell cell;
    int channel;
    int record_count;
    bool is_leaving;   ///< departures and removals; else arrivals and changes
    const void* bytes; ///< valid during the call
    size_t size;
} ph_cell_batch;

/// Is given one batch after the other. It must not change the world, nor call the exporter.
typedef void ph_cell_batch_fn(void* context, const ph_cell_batch* batch);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def) or PH_ERROR_MEMORY; *exporter is NULL unless PH_OK.
PH_API ph_result ph_exporter_create(const ph_exporter_def* def, ph_exporter** exporter);
PH_API void ph_exporter_destroy(ph_exporter* exporter); // NULL is allowed

/// What changed since the last call (the first: everything), in one pass over the entities. An entity that
/// has come to another cell or channel is told there with all that it has, and that it has left on the old
/// ones; one that is despawned is removed where it was told last. All that comes or changes, in all cells, is
/// delivered before anything that leaves or is removed.
///
/// The stamp is the time of what is told, for ph_importer_take() to know what is newer. It must never fall,
/// also from one world of this owner to the next one. Call this right after ph_world_tick(): what changed
/// since then is told now, and may be told again by the next call.
///
/// Allocates when there are more entities or cells than in any call before, or more entities in a cell.
/// @return PH_OK, or PH_ERROR_MEMORY: some entities were left out, the next call tells of them.
PH_API ph_result ph_exporter_changes(ph_exporter* exporter, uint32_t stamp,
                                     ph_cell_batch_fn* deliver, void* context);

/// A cell on a channel, whole: the import removes what is not named. It has those entities that the last
/// ph_exporter_changes() told there, as they are now; one that has come since is told by the next, and before the
/// first there is none. An empty cell gives one batch without records. Several batches have ascending ranges
/// of keys. Looks at the entities of that cell alone.
/// @return PH_OK, PH_ERROR_ARGUMENT (the channel), or PH_ERROR_MEMORY: nothing was delivered.
PH_API ph_result ph_exporter_cell(ph_exporter* exporter, ph_cell cell, int channel, uint32_t stamp,
                                  ph_cell_batch_fn* deliver, void* context);

/// How many entities of this cell and channel the last ph_exporter_changes() left there.
PH_API int ph_exporter_count(const ph_exporter* exporter, ph_cell cell, int channel);

/// One entity with all that it has, references too, whatever its channel and owner: to hand it over to
/// another world. PH_EXPORT_BATCH_BYTES_MIN bytes always suffice.
/// @return The size of the batch, 0 where the entity is not alive, or there is no room.
PH_API size_t ph_exporter_entity(ph_exporter* exporter, ph_entity_id entity, uint32_t stamp,
                                 void* bytes, size_t capacity);

// ---- import

typedef struct ph_importer ph_importer;

/// What an import has done to an entity.
typedef enum ph_import_event {
    PH_IMPORT_CREATED = 0,
    PH_IMPORT_REMOVED,
    /// It was there, and belongs to another world now, or to this one.
    PH_IMPORT_OWNER_CHANGED,
    PH_IMPORT_EVENT_COUNT
} ph_import_event;

/// Is told of entities after the batch has been applied whole. The id of a removed one is stale. One
/// entity may be removed and another with the same key created by one batch, in this order. It must not spawn or
/// despawn, nor call the importer.
typedef void ph_import_event_fn(void* context, ph_import_event event, ph_entity_id entity,
                                uint64_t key);

/// How to make an importer. Zero-initialised, but for the world, is fine.
typedef struct ph_importer_def {
    /// Required. Must outlive the importer. Its allocator is used.
    ph_world* world;
    /// Batches count whatever their stamp and epoch, as when a game goes back to an earlier save.
    bool takes_older;
    /// How many entities that were removed, or have left, are remembered, the newest ones, so that what comes
    /// late does not bring them back. Some 64 bytes each. Default 0.
    int tombstone_capacity;
    /// What has left a cell or channel stays: for a world that follows all cells and channels of an owner, and so is told
    /// of the entity where it has come to. Default false.
    bool keeps_left;
    /// Default NULL.
    ph_import_event_fn* on_entity;
    void* on_entity_context;
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
    /// The ends of the area or of the range of keys are the wrong way round, or there is no such cell or
    /// channel.
    PH_IMPORT_REFUSAL_RANGE,
    /// Keys of a whole export that do not ascend, or are out of the batch's range.
    PH_IMPORT_REFUSAL_KEYS,
    /// A kind of record or a class that there is not, a removal in a whole export, a position
    /// outside of the area or cell, a visibility that is not on the channel.
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

/// Removes what belongs to another world (owner is not 0) and stands in this cell and on this channel, also
/// if it is on others: for a cell that is no longer followed. Leaves no tombstones.
/// @return How many.
PH_API int ph_importer_drop(ph_importer* importer, ph_cell cell, int32_t cell_mm, int channel);

/// What a batch says of itself. Any bytes may be asked about.
typedef struct ph_import_peek {
    bool has_cell; ///< false for ph_world_export() and ph_exporter_entity()
    ph_cell cell;
    int32_t cell_mm;
    int channel;
    bool is_whole; ///< a range of keys of a cell, world or area, not changes
    uint64_t first_key;
    uint64_t last_key; ///< UINT64_MAX: the last batch of its whole
    int record_count;
    uint32_t owner;
    uint32_t stamp;
} ph_import_peek;

/// Reads the header alone. @return False where it is none.
PH_API bool ph_importer_peek(const void* bytes, size_t size, ph_import_peek* peek);

/// Since the importer was created.
typedef struct ph_import_stats {
    uint64_t batches; ///< that were applied
    uint64_t records; ///< in them
    uint64_t created;
    uint64_t applied; ///< records that set values, of new entities too
    uint64_t removed;
    uint64_t older;   ///< records that were ignored, as something newer is known
    uint64_t buried;  ///< records that were ignored, as a tombstone says that the entity is gone
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
