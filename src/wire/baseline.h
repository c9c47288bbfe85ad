// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends know the client to have of each slot, at one and the same horizon: the ground that
// differences of the pinhole profile stand on. The sender moves it on when an acknowledgement says
// that a packet was applied, the client when a packet states a newer horizon; both by the same
// function, packet after packet, so both have the same to the last bit.
//
//   known      packed (packing.h): newest known value of every property
//   samples    the two newest known positions and their ticks: the motion through them is carried on
//   sizes      how large the last surprises were: what the models go by
//
// Integers only. Once per record that was applied; nothing allocates.

#ifndef PH_WIRE_BASELINE_H
#define PH_WIRE_BASELINE_H

#include "wire/classic.h"
#include "wire/packing.h"
#include "wire/surprise.h"

#include <string.h>

// What a record told.
#define PH_TOLD_POSITION 1
#define PH_TOLD_HEADING 2
#define PH_TOLD_OTHERS 4
#define PH_TOLD_JUMP 8 // with a position

// {0}: a slot that the client is not known to have.
typedef struct ph_baseline {
    int32_t position_mm[2][3]; // the newest first
    uint32_t tick[2];
    uint32_t heading_tick;
    uint8_t sample_count; // 0..2; 1 after a jump or an enter without velocity
    bool is_entered;
    bool has_ground; // of its class: its altitude is one of few
    uint8_t class_index;
    uint8_t shift;     // of its class: a step of its position is 1 << shift mm
    uint8_t told_mask; // what the newest known record told, PH_TOLD_...; 0: it entered
    // Size of the last known surprises, faded: normal sizes of surprise.h. In steps; of the heading in levels.
    uint8_t plane_size; // x and y
    uint8_t z_size;
    uint8_t heading_size; // had the heading stayed
    uint8_t turned_size;  // had it turned with the direction of motion
} ph_baseline;

// What is the same for all slots and packets of a viewer.
typedef struct ph_baseline_rules {
    const ph_layouts* layouts;
    const ph_packing* packings; // by class
    uint32_t tick_us;
    // Of ph_normals_fill(); NULL: worked out each time.
    const ph_normals* normals;
} ph_baseline_rules;

// One record that the client applied in the packet of this tick. Words and texts are read only where
// `properties` says so; known: the slot's packed values, stride of its class. LEAVE empties the slot
// (known is not touched), ENTER resets it first. A text's word goes into known as it is: versions are
// the sender's business. An UPDATE of a slot that is not entered does nothing.
void ph_baseline_take(ph_baseline* baseline, uint8_t* known, const ph_baseline_rules* rules,
                      const ph_record* record, uint32_t tick);

// The same in parts, for whoever keeps the known values by itself. Positions are packed: three words.

// An enter: of the record only class and velocity are read.
void ph_baseline_enter(ph_baseline* baseline, const ph_baseline_rules* rules,
                       const ph_record* enter, const uint8_t* position, uint32_t tick);

// An update of a slot that is entered: first its heading, if it tells one that is not told once only (of
// that nothing is known afterwards), then its position, then told_mask.
typedef struct ph_turning {
    uint32_t known_level;
    uint32_t level;
    const uint8_t* position; // where it is told with it; NULL: it is not, or it is that of a jump
} ph_turning;
void ph_baseline_turn(ph_baseline* baseline, const ph_baseline_rules* rules, const ph_turning* turn,
                      uint32_t tick);
void ph_baseline_step(ph_baseline* baseline, const ph_baseline_rules* rules,
                      const uint8_t* position, uint32_t tick);
void ph_baseline_jump(ph_baseline* baseline, const uint8_t* position, uint32_t tick);

// Several updates of the same tick that tell a position and nothing else, one after the other.
typedef struct ph_baseline_told_step {
    ph_baseline* baseline;
    const uint8_t* position;
} ph_baseline_told_step;
void ph_baseline_step_all(const ph_baseline_told_step* steps, int count,
                          const ph_baseline_rules* rules, uint32_t tick);

// A velocity is the way, in steps of the class, of so many ticks: about an eighth of a second.
int ph_baseline_velocity_ticks(uint32_t tick_us);
// From a way of some ticks (1 or more), rounded and clamped to what a record holds.
void ph_baseline_velocity(const ph_layout* layout, uint32_t tick_us, const int32_t way_mm[3],
                          int ticks, int16_t velocity[3]);

// The level of the heading's coding, if it turned into the direction of motion: of the way to
// position_words, or of the last step when they are NULL. Who stands still is not turned and keeps the
// level that is known.
uint32_t ph_baseline_turned(const ph_baseline* baseline, const ph_layout* layout,
                            uint32_t known_level, const uint32_t* position_words);

// PH_TOLD_... of an update.
static inline uint8_t ph_baseline_told(const ph_layout* layout, uint64_t properties, bool is_jump)
{
    return (uint8_t)(((properties & layout->position) != 0 ? PH_TOLD_POSITION : 0) |
                     ((properties & layout->heading) != 0 ? PH_TOLD_HEADING : 0) |
                     ((properties & layout->others) != 0 ? PH_TOLD_OTHERS : 0) |
                     (is_jump ? PH_TOLD_JUMP : 0));
}
static inline uint8_t ph_baseline_mask(const ph_layout* layout, const ph_record* update)
{
    return ph_baseline_told(layout, update->properties, update->is_jump);
}

// How its two newest samples differ. Without branches: who does is as good as random.
typedef struct ph_baseline_moves {
    bool is_level; // in the plane
    bool is_rising;
} ph_baseline_moves;

static inline ph_baseline_moves ph_baseline_moves_of(const ph_baseline* baseline)
{
    const bool is_known = baseline->sample_count == 2;
    const int32_t* newest_mm = baseline->position_mm[0];
    const int32_t* former_mm = baseline->position_mm[1];
    const bool is_apart = ((newest_mm[0] ^ former_mm[0]) | (newest_mm[1] ^ former_mm[1])) != 0;
    return (ph_baseline_moves){is_known & is_apart, is_known & (newest_mm[2] != former_mm[2])};
}

static inline bool ph_baseline_is_moving(ph_baseline_moves moves)
{
    return moves.is_level || moves.is_rising;
}

// Time from a tick of the baseline to another one; 0 when that is not later.
static inline uint64_t ph_baseline_time_us(uint32_t from_tick, uint32_t to_tick, uint32_t tick_us)
{
    const uint32_t ticks = to_tick - from_tick;
    return ticks <= INT32_MAX ? (uint64_t)ticks * tick_us : 0;
}

// From one coordinate to another, the shorter way round.
static inline int32_t ph_baseline_way(int32_t from_mm, int32_t to_mm)
{
    return (int32_t)((uint32_t)to_mm - (uint32_t)from_mm);
}

static inline uint32_t ph_baseline_magnitude(int32_t way)
{
    return way < 0 ? 0 - (uint32_t)way : (uint32_t)way;
}

// One over so many ticks, 2^31 times, rounded up.
#define PH_RECIPROCAL_BITS 31
#define PH_RECIPROCALS 64
extern const uint32_t ph_reciprocals[PH_RECIPROCALS];

// A way of so many ticks, carried on for others; to nearest. Exact: a division takes as long as all the
// rest of a prediction, and what is below 2^25, times a reciprocal, is too large by so little that it
// never comes to the next whole number (that takes 2^31 / ticks).
#define PH_CARRIED_MM_END (INT32_C(1) << 19) // of ways that are carried by less than PH_RECIPROCALS
_Static_assert((uint64_t)PH_CARRIED_MM_END* PH_RECIPROCALS* PH_RECIPROCALS <=
                   UINT64_C(1) << PH_RECIPROCAL_BITS,
               "the quotients are exact");
static inline int32_t ph_baseline_carried(int32_t way_mm, uint32_t ticks, uint32_t ahead)
{
    const uint32_t way_ticks = ph_baseline_magnitude(way_mm) * ahead + ticks / 2;
    const int32_t carried_mm =
        (int32_t)((uint64_t)way_ticks * ph_reciprocals[ticks] >> PH_RECIPROCAL_BITS);
    return way_mm < 0 ? -carried_mm : carried_mm;
}
// The same of any ways, three of them.
void ph_baseline_carry(int32_t way_mm[3], uint32_t ticks, uint32_t ahead);

// Where the motion leads at a tick: the last step carried on, for a limited time. On a ground only x
// and y are: whoever changes from one layer to another stays there. The slot is entered.
static inline void ph_baseline_predict(const ph_baseline* baseline, uint32_t tick, uint32_t tick_us,
                                       int32_t position_mm[3])
{
    PH_ASSERT(baseline->is_entered);

    const int32_t* newest_mm = baseline->position_mm[0];
    const int32_t* former_mm = baseline->position_mm[1];
    int32_t x_mm = ph_baseline_way(former_mm[0], newest_mm[0]);
    int32_t y_mm = ph_baseline_way(former_mm[1], newest_mm[1]);
    int32_t z_mm = ph_baseline_way(former_mm[2], newest_mm[2]) & -(int32_t)!baseline->has_ground;
    uint32_t ahead = tick - baseline->tick[0];
    if (PH_UNLIKELY((uint64_t)ahead * tick_us > PH_CARRY_US)) {
        ahead = ahead <= INT32_MAX ? PH_CARRY_US / tick_us : 0;
    }
    const uint32_t between = baseline->tick[0] - baseline->tick[1];
    if (PH_UNLIKELY(baseline->sample_count < 2 || between == 0)) {
        x_mm = y_mm = z_mm = 0;
    } else if (ahead != between) { // else it keeps its rhythm, as most do
        const uint32_t farthest_mm =
            ph_baseline_magnitude(x_mm) | ph_baseline_magnitude(y_mm) | ph_baseline_magnitude(z_mm);
        if (PH_LIKELY(farthest_mm < PH_CARRIED_MM_END && (between | ahead) < PH_RECIPROCALS)) {
            x_mm = ph_baseline_carried(x_mm, between, ahead);
            y_mm = ph_baseline_carried(y_mm, between, ahead);
            z_mm = ph_baseline_carried(z_mm, between, ahead);
        } else {
            int32_t way_mm[3] = {x_mm, y_mm, z_mm};
            ph_baseline_carry(way_mm, between, ahead);
            x_mm = way_mm[0];
            y_mm = way_mm[1];
            z_mm = way_mm[2];
        }
    }
    position_mm[0] = (int32_t)((uint32_t)newest_mm[0] + (uint32_t)x_mm);
    position_mm[1] = (int32_t)((uint32_t)newest_mm[1] + (uint32_t)y_mm);
    position_mm[2] = (int32_t)((uint32_t)newest_mm[2] + (uint32_t)z_mm);
}

// How a surprise of the position has grown since the newest sample, in 1/8 bit. growths: of
// ph_growths_fill(); NULL: worked out each time.
static inline int ph_baseline_growth(const ph_baseline* baseline, const int16_t* growths,
                                     uint32_t tick, uint32_t tick_us)
{
    const uint32_t ticks = tick - baseline->tick[0];
    if (growths != NULL && ticks < PH_GROWTH_TICKS) {
        return growths[ticks];
    }
    return ph_size_growth(ph_baseline_time_us(baseline->tick[0], tick, tick_us),
                          PH_GROWTH_POSITION);
}

// Of everything but texts; of references, the two bits that the wire has of an association. Ends
// that disagree are found at once. For tests.
uint64_t ph_baseline_digest(const ph_baseline* baseline, const uint8_t* known,
                            const ph_baseline_rules* rules);

#endif
