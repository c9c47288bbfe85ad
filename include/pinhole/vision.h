// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Vision: which entities a viewer sees (elsewhere: interest management, relevancy). A viewer sees the N
// nearest entities within its radius that it may see, exactly, and has a small number, a slot, for
// each. Two ways lead to the same result:
//
//   grid     entities in cells; from the viewer's cell outwards until nothing nearer can follow.
//            The choice for almost every game.
//   groups   viewers that stand together share one list of candidates. For instances whose players
//            stay in tight camps: there a viewer costs a little less than with the grid, elsewhere
//            up to twice as much ('pinhole bench vision' measures both).
//
// What has entered stays until it is clearly gone (hysteresis), so nothing flickers at the edge.
// Distances are measured in the plane (x, y), across the edge of the 32-bit world too.
//
//     def.vision.kind = PH_VISION_GROUPS;             // of ph_world_def
//     ...
//     ph_vision vision;
//     ph_viewer_get_vision(world, viewer, &vision);   // after a tick
//     for (int i = 0; i < vision.enter_count; ++i) {
//         ph_entity_index newcomer = vision.entities[vision.enters[i]];
//     }

#ifndef PINHOLE_VISION_H
#define PINHOLE_VISION_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_VISIBLE_MAX 4095

/// The two ways to find what is visible, as described above.
typedef enum ph_vision_kind {
    PH_VISION_GRID = 0,
    PH_VISION_GROUPS,
} ph_vision_kind;

/// How a world finds what each viewer sees. Start from ph_vision_def_default().
typedef struct ph_vision_def {
    ph_vision_kind kind;
    /// Grid: side of a cell. Default 131072 (2^17 mm, 131 m); rounded up to a power of two.
    int32_t cell_mm;
    /// Groups: a viewer further than this from its group's centre of gravity leaves it. Default 60
    /// m.
    int32_t group_split_mm;
    /// Groups: groups whose centres are nearer than this become one, if no member would have to
    /// leave at once. Less than half of group_split_mm. Default 20 m.
    int32_t group_merge_mm;
    /// Each viewer's vision is refreshed at least every so many ticks, in turn. Default 1. What walks
    /// into view enters that much later, what walks out leaves that much later. Sudden changes are seen
    /// at once: what the game spawns within a viewer's reach, shows or moves there by a jump, and where
    /// a viewer's own entity jumps to.
    int refresh_ticks;
    /// An entity stays visible for at least so many ticks after it entered, unless it is gone, may
    /// no longer be seen, or is further away than twice the viewer's radius. Default 10.
    int stay_ticks;
    /// How far an entity must be beyond radius and rank to leave: 1.1, the default, means a
    /// tenth. 1..16.
    double hysteresis;
} ph_vision_def;

/// The defaults named above, with the grid.
PH_API ph_vision_def ph_vision_def_default(void);

/// An entity's number inside its world while it lives; what the arrays of vision name entities by.
typedef uint32_t ph_entity_index;
#define PH_ENTITY_NONE UINT32_MAX

/// What one viewer sees: its slots. Slot 0 is the viewer's own entity.
typedef struct ph_vision {
    /// By slot: the entity, or PH_ENTITY_NONE. A leaving slot keeps PH_ENTITY_NONE until it is
    /// freed.
    const ph_entity_index* entities;
    /// Slots there are: 0..slot_count-1.
    int slot_count;
    /// Entities visible now, the viewer's own not counted.
    int visible_count;
    /// Slots taken and slots vacated by the last tick; none when it was not this viewer's turn.
    /// Enters nearest first (ties by spawn order), leaves by slot; slot 0 before all others.
    const uint16_t* enters;
    int enter_count;
    const uint16_t* leaves;
    int leave_count;
} ph_vision;

#ifdef __cplusplus
}
#endif

#endif
