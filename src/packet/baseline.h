// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends know the client to have of each slot, at one and the same acked packet: the values
// that differences of the pinhole profile are coded relative to. The sender moves it on when an
// ack says that a packet was applied, the client when a packet states a newer horizon;
// both by the same function, packet after packet, so both have the same to the last bit.
//
//   known      packed (layout.h): newest known value of every property
//   samples    the two newest known positions and their ticks: the motion through them is extrapolated
//   sizes      how large the last residuals were: what the models are chosen by
//
// Integers only. Once per record that was applied; nothing allocates.

#ifndef PH_PACKET_BASELINE_H
#define PH_PACKET_BASELINE_H

#include "codec/rotation.h"
#include "packet/classic_records.h"
#include "packet/layout.h"

#include <pinhole/base.h>

// ---- sizes of residuals
//
// A residual is the difference between what was predicted and what came. Its size is a logarithm in 1/8
// bit. It grows with the time that the prediction had to bridge, so sizes are kept as if that had been a
// quarter of a second, and stretched to the time at hand when they are used.

#define PH_SIZE_PER_BIT 8
#define PH_SIZE_MAX 255
// How fast residuals grow with time: to the power of a quarter of this.
#define PH_GROWTH_POSITION 7
#define PH_GROWTH_HEADING 3
#define PH_GROWTH_KEPT 4   // of an orientation, had it stayed
#define PH_GROWTH_TURNED 6 // had it kept turning
#define PH_GROWTH_UNIT 4
// Motion is extrapolated, and residuals grow, for so long; later is as then. On recordings, 1 s costs
// walkers 4 % more bits for x and y than this, 2 s 1 %.
#define PH_CARRY_US 4000000
// 8 * log2 of a quarter of a second in us.
#define PH_NORMAL_TIME_EIGHTHS 143

// How many eighths of a bit have begun between 1 and 2, by 1/256.
extern const uint8_t ph_eighths[256];

// 8 * log2(value), rounded down; 0 for 0 and 1.
int ph_log2_eighths(uint64_t value);

// Size of a difference of so many steps: 0, 12, 18, 22, 25 for 0, 1, 2, 3, 4; 8 more each time it
// doubles. Most are small.
#define PH_SIZES 256

extern const uint8_t ph_sizes[PH_SIZES];

uint8_t ph_size_of(uint64_t steps);

// What a size measured over a time would have been over a quarter of a second. Growth: PH_GROWTH_....
// Time 0 counts as 1 us. Nothing is no smaller for having been short.
uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth);

// The other displacement; may be negative.
int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth);

// Growths of positions by ticks, and normal sizes of small residuals of positions by ticks and steps.
#define PH_GROWTH_TICKS 32

typedef struct ph_normals {
    uint8_t size[PH_GROWTH_TICKS][PH_SIZES];
} ph_normals;

void ph_growths_fill(int16_t growths[PH_GROWTH_TICKS], uint32_t tick_us);

void ph_normals_fill(ph_normals* normals, uint32_t tick_us);

// ---- directions
//
// The direction of a displacement in the plane, in integers: both ends compute it and must agree to
// the last bit, which no atan2 of a C library promises. Once or twice per record that tells a
// heading.

// From the x axis towards the y axis, in 1/65536 of a turn, at most 8 of them off. 0 for no displacement.
uint16_t ph_direction_of(int32_t x, int32_t y);

// The other way round: so far in this direction, rounded to nearest. length 0..65535.
void ph_direction_go(uint16_t direction, int32_t length, int32_t displacement[2]);

// ---- a baseline

// What a record told.
#define PH_UPDATE_HAD_POSITION 1
#define PH_UPDATE_HAD_HEADING 2
#define PH_UPDATE_HAD_OTHERS 4
#define PH_UPDATE_HAD_JUMP 8 // with a position

// {0}: a slot that the client is not known to have.
typedef struct ph_baseline {
    int32_t position_mm[2][3]; // the newest first
    uint32_t tick[2];
    uint32_t heading_tick;
    uint8_t sample_count; // 0..2; 1 after a jump or an enter without velocity
    bool is_entered;
    bool has_ground; // of its class: its altitude is one of few
    uint8_t class_index;
    uint8_t shift;     // of its class: the finest step of its position is 1 << shift mm,
    uint8_t finer;     // its step halved so often
    uint8_t told_mask; // what the newest known record told, PH_UPDATE_HAD_...; 0: it entered
    // Size of the last known residuals, faded: as of a quarter of a second. In finest steps; of
    // the heading in levels.
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

// The same in parts, for an owner that keeps the known values by itself. Positions are packed: three words.

// An enter: of the record only class and velocity are read.
void ph_baseline_enter(ph_baseline* baseline, const ph_baseline_rules* rules,
                       const ph_record* enter, const uint8_t* position, uint32_t tick);

// An update of a slot that is entered: first its heading, if it tells one that is not told once only (of
// that nothing is known afterwards), then its position, then told_mask.
typedef struct ph_turning {
    uint32_t known_level;
    uint32_t level;
    const uint8_t* position; // where it is sent with it; NULL: it is not, or it is that of a jump
} ph_turning;

void ph_baseline_turn(ph_baseline* baseline, const ph_baseline_rules* rules, const ph_turning* turn,
                      uint32_t tick);

void ph_baseline_step(ph_baseline* baseline, const ph_baseline_rules* rules,
                      const uint8_t* position, uint32_t tick);

void ph_baseline_jump(ph_baseline* baseline, const uint8_t* position, uint32_t tick);

// How often the finest step was doubled for a packed position that was told, as far as that can be seen by x and y: up to
// the step of the class.
int ph_baseline_coarse_of(const ph_baseline* baseline, const uint8_t* position);

// A velocity is the displacement, in steps of the class, over so many ticks: about an eighth of a second.
int ph_baseline_velocity_ticks(uint32_t tick_us);

// From a displacement over some ticks (1 or more), rounded and clamped to what a record holds.
void ph_baseline_velocity(const ph_layout* layout, uint32_t tick_us,
                          const int32_t displacement_mm[3], int ticks, int16_t velocity[3]);

// The level of the heading's coding, if it turned into the direction of motion: of the way to
// position_words, or of the last step when they are NULL. One that stands still is not turned: its level is
// the known one.
uint32_t ph_baseline_turned(const ph_baseline* baseline, const ph_layout* layout,
                            uint32_t known_level, const uint32_t* position_words);

// ---- orientation
//
// How something turns is taken over at least a tenth of a second: from a mark, an orientation that was told, to the
// first one that is told so much later, which is the next mark. Over less, rounding would be most of it.

// Kept behind the known values of a class with an orientation (ph_packing).
typedef struct ph_turning_state {
    ph_spin spin;     // between the last two marks; in ticks
    uint32_t mark[2]; // words
    uint32_t mark_tick;
    uint32_t tick;     // when it was told last
    uint8_t kept_size; // faded sizes of its residuals, as of a quarter of a second: had it stayed,
    uint8_t turned_size; // and had it kept turning
    uint8_t zero[2];
} ph_turning_state;

_Static_assert(sizeof(ph_turning_state) == PH_PACKED_TURNING, "there is room for it");

// How something turns is taken over at least so long.
#define PH_MARK_US 100000

void ph_turning_load(const ph_packing* packing, const uint8_t* known, ph_turning_state* turning);

// An entity has entered: known has its values already. spin: as in ph_record.
void ph_turning_enter(uint8_t* known, const ph_baseline_rules* rules, int class_index,
                      const int16_t spin[3], uint32_t tick);

// An update tells its orientation, which known does not have yet. is_jump: how it turned before says nothing.
void ph_turning_take(uint8_t* known, const ph_baseline_rules* rules, int class_index,
                     const uint32_t words[2], bool is_jump, uint32_t tick);

// How large the residuals of all three components are together, from a guess.
uint8_t ph_turning_residual(int width, const ph_rotation* guess, ph_quaternion_levels levels);

// What a record holds of how something turns, from one orientation to another one so many ticks later (1 or more); none
// where it turns too fast for that.
void ph_turning_spin(const ph_layout* layout, uint32_t tick_us, const uint32_t from[2],
                     const uint32_t to[2], uint32_t ticks, int16_t spin[3]);

// What is expected of it at a tick.
typedef struct ph_turning_forecast {
    ph_quaternion_levels known; // told last
    ph_rotation rotation;       // the better of the two guesses
    bool is_turned;             // which is that it kept turning
    int size;                   // of its residuals, in levels
} ph_turning_forecast;

void ph_turning_predict(const uint8_t* known, const ph_baseline_rules* rules, int class_index,
                        uint32_t tick, ph_turning_forecast* forecast);

// PH_UPDATE_HAD_... of an update.
uint8_t ph_baseline_told(const ph_layout* layout, uint64_t properties, bool is_jump);

// ---- what is expected of it

// How its two newest samples differ.
typedef struct ph_baseline_moves {
    bool is_level; // in the plane
    bool is_rising;
} ph_baseline_moves;

ph_baseline_moves ph_baseline_moves_of(const ph_baseline* baseline);

// Time from a tick of the baseline to another one; 0 when that is not later.
uint64_t ph_baseline_time_us(uint32_t from_tick, uint32_t to_tick, uint32_t tick_us);

// The displacement over some ticks, extrapolated to others; to nearest. Exact for displacements
// below this and fewer ticks than reciprocals.
#define PH_CARRIED_MM_END (INT32_C(1) << 19)
#define PH_RECIPROCALS 64

int32_t ph_baseline_extrapolated(int32_t displacement_mm, uint32_t ticks, uint32_t ahead);

// Where the motion leads at a tick: the last step extrapolated, for a limited time. On a ground only x
// and y are: one that changes from one layer to another stays there. The slot is entered.
void ph_baseline_predict(const ph_baseline* baseline, uint32_t tick, uint32_t tick_us,
                         int32_t position_mm[3]);

// How a residual of the position has grown since the newest sample, in 1/8 bit. growths: of
// ph_growths_fill(); NULL: worked out each time.
int ph_baseline_growth(const ph_baseline* baseline, const int16_t* growths, uint32_t tick,
                       uint32_t tick_us);

// Of everything but texts; of references, the two bits that the wire has of an association. Ends
// that disagree are found at once. For tests.
uint64_t ph_baseline_digest(const ph_baseline* baseline, const uint8_t* known,
                            const ph_baseline_rules* rules);

#endif
