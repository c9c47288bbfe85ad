// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The static models of the pinhole profile: which there are, and the tables that `pinhole tune
// --mixture` makes of them. Families of models share an alphabet; within a family the context chooses.
//
//   entries   | family TOLD: model 0, model 1 ... | family MASK ... |    symbols + 1 for each model
//
// cumulative probabilities and costs (1/256 bit, rounded up) stand at the same places; so do counts
// while tables are learned. Read for every symbol.

#ifndef PH_SCHEMA_MODEL_TABLES_H
#define PH_SCHEMA_MODEL_TABLES_H

#include <pinhole/base.h>

// What tells of slots whether they are told: how many of them are, in the header, and how much a viewer
// misses news of each.
#define PH_DENSITIES 16
#define PH_URGENCIES 16
// Sizes of residuals, half a bit apart. Beyond the last one low bits are split off.
#define PH_SCALES 14
// Magnitudes 0..15, then one symbol for each further length in bits, up to 32.
#define PH_MAGNITUDES_DIRECT 16
#define PH_MAGNITUDES (PH_MAGNITUDES_DIRECT + 28)
#define PH_LENGTHS 33      // of a number in bits, 0..32
#define PH_KEY_LENGTHS 65  // 0..64
#define PH_SLOT_LENGTHS 17 // 0..16
#define PH_SIDES 17        // lengths of x that count for y, 0..16
#define PH_SPREADS 16      // of places, velocities and headings
#define PH_SIDE_PARTS 5    // how far x goes, in quarters of what the spread says, 0..4
#define PH_KEY_SPREADS 32
#define PH_NUMBER_SYMBOLS 34 // lengths, and "absolute"
#define PH_ROTATION_COARSES 8
#define PH_CARRIED_MODELS 12
#define PH_STEPS 8         // the finest, doubled up to seven times
#define PH_SPIN_LENGTHS 17 // of a component, 0..16

// X(family, models, symbols)
#define PH_PINHOLE_FAMILIES(X)                                                                     \
    X(TOLD, 240, 2)       /* (density - 1) * PH_URGENCIES + urgency */                             \
    X(MASK_PLACE, 8, 2)   /* newest record's kind * 2 + moving; only a position */                 \
    X(MASK_HEADING, 8, 5) /* position and heading */                                               \
    X(MASK_OTHERS, 8, 5)  /* position and others */                                                \
    X(MASK_ALL, 8, 11)                                                                             \
    X(OTHERS_2, 1, 2) /* how many others, of 2 */                                                  \
    X(OTHERS_3, 1, 3)                                                                              \
    X(OTHERS_MANY, 1, 4) /* the last symbol: flags */                                              \
    X(COARSE, 1, 2)      /* exact, coarse */                                                       \
    X(X_MOVING, PH_SCALES, PH_MAGNITUDES)                                                          \
    X(Y_MOVING, PH_SCALES, PH_MAGNITUDES)                                                          \
    X(X_RESTING, PH_SCALES, PH_MAGNITUDES)                                                         \
    X(Y_RESTING, PH_SCALES, PH_MAGNITUDES)                                                         \
    X(Z_MOVING, PH_SCALES, PH_MAGNITUDES)                                                          \
    X(Z_RESTING, PH_SCALES, PH_MAGNITUDES)                                                         \
    X(LAYER, 1, 3) /* the expected one, another one, none */                                       \
    X(HEADING_KEPT, PH_SCALES, PH_MAGNITUDES)                                                      \
    X(HEADING_TURNED, PH_SCALES, PH_MAGNITUDES)                                                    \
    X(SAME, 1, 2)                   /* of two values: the other one, the same */                   \
    X(NUMBER, 4, PH_NUMBER_SYMBOLS) /* by the width of its range */                                \
    X(SLOT, 4, PH_SLOT_LENGTHS)     /* leave, enter: behind the first, a gap; behind a next one */ \
    X(ASSOCIATION, 1, 2)            /* of the next slot: another one, the same */                  \
    X(NAME, 2, 2)                   /* of the first, of others: up to the base, above it */        \
    X(NAME_ABOVE, 1, PH_KEY_LENGTHS)                                                               \
    X(NAME_BESIDE, 1 + PH_KEY_SPREADS, PH_KEY_LENGTHS) /* not stated: below, above; by spread */   \
    X(ENTER_X, 1, PH_LENGTHS)                                                                      \
    X(ENTER_Y, 1, PH_LENGTHS)                                                                      \
    X(ENTER_Z, 1, PH_LENGTHS)                                                                      \
    X(BESIDE_X, 1 + PH_SPREADS, PH_LENGTHS) /* not stated: next slot, another one; by spread */    \
    X(BESIDE_Y, PH_SIDES + (PH_SPREADS - 1) * PH_SIDE_PARTS,                                       \
      PH_LENGTHS)              /* not stated: by the length of x; by spread and part of x */       \
    X(BESIDE_Z, 2, PH_LENGTHS) /* the neighbour is elsewhere; as high as the eye, or flat */       \
    X(BESIDE_COARSE, 8, 8)     /* by how coarse the neighbour is */                                \
    X(ENTER_JUMP, 1, 2)        /* it jumped since an earlier enter */                              \
    X(ENTER_MOVING, 7,                                                                             \
      2) /* of the first; not stated, spread 1, more: behind one that rests, that moves */         \
    X(ENTER_VELOCITY, 3, 16) /* x, y, z: length in bits */                                         \
    X(BESIDE_VELOCITY, 3 + PH_SPREADS,                                                             \
      18)                  /* not stated: x, y; z as that expected is 0 or not; by spread */       \
    X(ENTER_HEADING, 2, 3) /* resting, moving: initial, near the direction, anything */            \
    X(BESIDE_HEADING, PH_SPREADS, PH_LENGTHS) /* by spread */                                      \
    X(ENTER_OTHERS, 1, 2)                     /* all initial, flags follow */                      \
    X(BESIDE_OTHERS, 3, 2) /* what the one before was like; some differ, all are the same */       \
    X(BESIDE_SAME, 3, 2)   /* the same of one value: another one, the same */                      \
    X(BESIDE_NUMBER, 12, PH_NUMBER_SYMBOLS) /* by the width of its range, and the same */          \
    X(ROTATION_COARSE, PH_ROTATION_COARSES, PH_ROTATION_COARSES) /* by that of the known one */    \
    X(ROTATION_LARGEST, 4, 4)                  /* by how far the second largest is behind */       \
    X(ROTATION_KEPT, PH_SCALES, PH_MAGNITUDES) /* the first component, had it stayed */            \
    X(ROTATION_TURNED, PH_SCALES, PH_MAGNITUDES)                                                   \
    X(ROTATION_NEXT, PH_SCALES, PH_MAGNITUDES)                          /* second and third */     \
    X(ENTER_ROTATION, 2 + PH_ROTATION_COARSES, 1 + PH_ROTATION_COARSES) /* as expected, told */    \
    X(ENTER_SPINNING, 3, 2)           /* of the first; behind one that does not spin, that does */ \
    X(ENTER_SPIN, 1, PH_SPIN_LENGTHS) /* length in bits */                                         \
    X(CARRIED, PH_CARRIED_MODELS, 2) /* not known; by how much better that was in the last step */ \
    X(STEP, 2 * PH_STEPS, PH_STEPS)  /* of a position: by the one that fits; moving, resting */

typedef enum ph_pinhole_family {
#define X(family, models, symbols) PH_FAMILY_##family,
    PH_PINHOLE_FAMILIES(X)
#undef X
        PH_FAMILY_COUNT
} ph_pinhole_family;

// Where each family begins.
enum {
#define X(family, models, symbols)                                                                 \
    PH_AT_##family, PH_LAST_##family = PH_AT_##family + (models) * ((symbols) + 1) - 1,
    PH_PINHOLE_FAMILIES(X)
#undef X
        PH_PINHOLE_ENTRIES
};

typedef struct ph_pinhole_family_info {
    const char* name;
    uint16_t first; // entry
    uint16_t models;
    uint16_t symbols;
} ph_pinhole_family_info;

extern const ph_pinhole_family_info ph_pinhole_families[PH_FAMILY_COUNT];

// Made by `pinhole tune --mixture`.
extern const uint16_t ph_pinhole_cumulative[PH_PINHOLE_ENTRIES];

extern const uint16_t ph_pinhole_costs[PH_PINHOLE_ENTRIES];

// The tables that both ends of a session use: those above, or those of a schema that was learned
// (learned_models.h), which may have more of them behind.
typedef struct ph_model_set {
    const uint16_t* cumulative;
    const uint16_t* costs;
} ph_model_set;

extern const ph_model_set ph_library_models;

// How often symbols were used, at the places of their costs; and the bits beside them.
typedef struct ph_pinhole_counts {
    uint64_t seen[UINT16_MAX + 1];
    uint64_t raw_bits;
    uint64_t uniform256; // 1/256 bit
    uint64_t updates;
    int half; // 1, 2: of entities whose keys fall into this half; 0: of all. Enters always count
} ph_pinhole_counts;

#endif
