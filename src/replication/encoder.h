// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One packet at a time: records are added as long as they fit, by their exact cost, and stand in the
// packet in slot order when it is finished. What is added is in flight and in the replicas from then on:
// a packet with records is always sent, or counts as lost.
//
//   begin | leave, enter or update, as often as it fits | finish       (or cancel, without records)
//
// A profile is a table of functions. Both share the header, the limits, the list of packet records, the
// record builder and the bit statistics:
//
//   encoder.c          what both profiles do
//   classic_encoder.c  whole bits, written when they are added; an item in flight for every addition
//   pinhole_encoder.c  costs in parts of a bit, written at the end; one item in flight for every slot
//   enter_coder.c      pinhole: leaves and enters, which are coded relative to one another
//
// A packet of thirty records takes a few microseconds. Nothing allocates.

#ifndef PH_REPLICATION_ENCODER_H
#define PH_REPLICATION_ENCODER_H

#include "packet/classic_records.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"
#include "replication/diff.h"
#include "replication/sender.h"

// ---- the record builder: from a slot to the record that tells of it

// All texts of an entity; the schema sees to it that an enter fits a packet.
#define PH_RECORD_BUILDER_TEXT_BYTES 1536
#define PH_RECORD_WORDS_MAX (PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX)

// One slot, and what to tell of it.
typedef struct ph_record_request {
    int slot;
    ph_record_kind kind;
    uint64_t properties; // of an enter all that it says, of a leave 0
    bool is_significant;
    bool has_words; // updates: the builder has them already, but for texts
    int coarse;     // pinhole, updates: of the position, 0 or what ph_encoder_coarse() says
    int rotation_coarse; // pinhole: of the orientation, 0..PH_ROTATION_COARSE_MAX, whatever there is of it
} ph_record_request;

typedef struct ph_record_builder {
    const ph_send_context* context;
    ph_place at; // of the present slot; its slot is -1 before the first
    uint32_t words[PH_RECORD_WORDS_MAX];
    uint8_t texts[PH_RECORD_BUILDER_TEXT_BYTES];
} ph_record_builder;

// It is this slot's turn. The place is the builder's: it stays that of the slot while records of it are
// added.
const ph_place* ph_record_builder_move(ph_record_builder* builder, int slot);

// Its words and texts are borrowed until the next one is built.
void ph_record_builder_build(ph_record_builder* builder, const ph_record_request* request,
                             ph_record* record);

// What the flight remembers of a record of the present slot, without its values.
// has_baselines: as in ph_encoder_table.
void ph_record_builder_item(const ph_record_builder* builder, const ph_record* record,
                            bool has_baselines, ph_flight_item* item);

// ---- the packet

// No classic record but a leave takes less than 15 bits, and there are at most 63 leaves.
#define PH_ENCODER_RECORDS_MAX 768

// A record of the packet under way.
typedef struct ph_packet_record {
    uint64_t properties;
    uint64_t lost;    // of these: sent before, and lost
    uint32_t cost256; // classic: whole bits; pinhole: of an update without its flag
    uint16_t slot;
    uint16_t kept;           // where its bytes (classic) or the tokens of an update (pinhole) begin
    uint8_t kind;            // ph_record_kind
    uint8_t coarse;          // pinhole: of the position
    uint8_t rotation_coarse; // pinhole: of the orientation
    bool is_repeat;          // enters and leaves: sent before, and lost
    bool is_significant;     // updates
    bool is_carrying; // pinhole, updates: others are told from it, so nothing of it may follow
} ph_packet_record;

// The request that a packet record stands for.
ph_record_request ph_packet_record_request(const ph_packet_record* chosen);

// A slot has up to four records in a packet, one for each stage of the send queue, of which each says all
// of the one before. Each begins at a byte of its own; behind them is room for the one that is tried.
#define PH_CLASSIC_KEPT_BYTES                                                                      \
    (4 * (PH_PAYLOAD_MAX + PH_ENCODER_RECORDS_MAX) + PH_CLASSIC_RECORD_BYTES)

typedef struct ph_classic_packet {
    int kept_count; // bytes
    uint8_t kept[PH_CLASSIC_KEPT_BYTES];
} ph_classic_packet;

// What the updates of a pinhole packet say. Seldom more than ten for each; when there is no room for
// another one the packet is full.
#define PH_PINHOLE_TOKENS_MAX 8192

_Static_assert(PH_PINHOLE_TOKENS_MAX >= PH_SYMBOL_BUFFER_RECORD_MAX,
               "any record fits an empty one");

typedef struct ph_pinhole_packet {
    ph_pinhole_frame frame;
    // The cost of the packet as it would be written now.
    int head_bits; // header and spread
    ph_told_sums flags;
    int64_t flags256; // what all of them cost, at the density of the frame
    int64_t records256;
    // What is expected of the position of a slot: one for all questions about it.
    int forecast_slot; // -1: of none
    ph_forecast forecast;
    // What carries the slot under way; and how that one goes, when the packet tells it.
    ph_pinhole_carrier carrier;
    int step_slot; // that the step is of; -1: of none
    ph_carrier_step step;
    uint32_t neighbour_words[2][PH_RECORD_WORDS_MAX]; // of the last enter, and the one before
    ph_symbol_buffer symbols;                         // of updates
    uint32_t tokens[PH_PINHOLE_TOKENS_MAX];
} ph_pinhole_packet;

// In a byte by slot.
#define PH_COARSE_OF_POSITION 15
#define PH_COARSE_ROTATION_SHIFT 4

typedef struct ph_encoder {
    const struct ph_encoder_table* table;
    const ph_send_context* context;
    ph_sender* sender;
    ph_frame frame;
    ph_header header;
    int32_t eye_mm[3]; // where the viewer is now
    bool is_open;
    int64_t limit_bits;
    int64_t bits;  // of header and records so far
    int counts[3]; // by ph_record_kind
    int count;
    ph_ledger ledger;  // what every bit of this packet was for
    int64_t enters256; // that all packets together have spent on enters
    int64_t others256; // and on all other records
    ph_record_builder builder;
    ph_packet_record chosen[PH_ENCODER_RECORDS_MAX];
    // By slot, of the packet under way; memory of the caller's.
    uint16_t* by_slot;  // 1 + place in `chosen`; 0: no record
    uint8_t* urgencies; // pinhole: of slots that the client has
    // Pinhole: of the position and of the orientation that are sent; 0: exact, or none.
    uint8_t* coarse;
    ph_classic_packet classic;
    ph_pinhole_packet pinhole;
    uint8_t bytes[PH_PAYLOAD_MAX]; // the packet, when it is finished
} ph_encoder;

// For several packets, one after the other.
void ph_encoder_init(ph_encoder* encoder, const ph_send_context* context, ph_sender* sender,
                     const int32_t eye_mm[3]);

// Begins one, within what may be spent now. @return False when nothing would fit.
bool ph_encoder_begin(ph_encoder* encoder);

// Whether no update of another slot can fit any more, whatever it says.
bool ph_encoder_is_full(const ph_encoder* encoder);

// Whether there may be another record of this kind, whatever its size.
bool ph_encoder_has_place(const ph_encoder* encoder, ph_record_kind kind);

// How coarse the position of the builder's slot may be sent; 0 after a jump. Pinhole only.
int ph_encoder_coarse(ph_encoder* encoder);

// Of how many halvings of its step it does without, where its residuals are as large as they are expected to be.
// Pinhole only.
int ph_encoder_fit(ph_encoder* encoder);

// What carries a slot and is not in the packet yet, of a lower slot; -1: nothing. Pinhole only.
int ph_encoder_carrier(const ph_encoder* encoder, int slot);

// Adds a record of the builder's slot; or, where there is an update of it already, more properties to that.
// @return False, with nothing done, when it does not fit.
bool ph_encoder_add(ph_encoder* encoder, const ph_record_request* request);

// Writes it to `bytes` and pays for it; at least one record. @return Its size in bytes; 0 when it is not to
// be sent, because it turned out to be more than can be paid for, or than a packet holds: it counts as
// lost then.
size_t ph_encoder_finish(ph_encoder* encoder);

// Takes back one without records.
void ph_encoder_cancel(ph_encoder* encoder);

// A probe to `bytes`, if it can be paid for. @return Its size in bytes, else 0.
size_t ph_encoder_probe(ph_encoder* encoder);

// ---- the profiles; for the encoders only

typedef struct ph_encoder_table {
    int kind_count_max; // leaves of a packet, and enters
    int hello_bits;
    // Both ends keep what was applied, to tell what comes next as a difference: an item in flight of an
    // enter has more than its values, and its position even if that is sent once.
    bool has_baselines;
    int (*header_bits)(const ph_header* header);
    // The profile's part of a header: version, tick, whether it has an eye.
    void (*fill_header)(const ph_encoder* encoder, ph_header* header);
    // Behind a header that fits. What else stands in a packet without records is added to its bits.
    void (*begin)(ph_encoder* encoder);
    // Both @return False, with nothing done, when it does not fit.
    bool (*enter_or_leave)(ph_encoder* encoder, const ph_record_request* request);
    // before: what the packet says of the slot already, or NULL.
    bool (*update)(ph_encoder* encoder, const ph_record_request* request, ph_packet_record* before);
    // Header, and records unless it is a probe. @return The size in bytes.
    size_t (*finish)(ph_encoder* encoder);
    // The packet was not sent: an update goes out of the bits by property.
    void (*take_back)(ph_encoder* encoder, const ph_packet_record* chosen);
    // For traces, of a packet that is finished: what the bits of a record were for, in 1/256 bit, together
    // what it cost; of a leave all is slot_bits. And what it cost not to tell of a slot.
    void (*record_bits)(ph_encoder* encoder, const ph_packet_record* chosen, ph_record_bits* of);
    uint32_t (*untold256)(const ph_encoder* encoder, int slot);
} ph_encoder_table;

extern const ph_encoder_table ph_classic_encoder;
extern const ph_encoder_table ph_pinhole_encoder;

// Whether the viewer is so far from the eye that the client has that it needs another one.
bool ph_encoder_needs_eye(const ph_encoder* encoder);

// Where the properties of a slot's class begin in the sender's bits by property.
uint64_t* ph_encoder_property_bits256(const ph_encoder* encoder, int slot);

// A record that fits, and where it stands in the flight.
typedef struct ph_addition {
    const ph_record_request* request;
    const ph_record* record;
    ph_packet_record* before; // or NULL
    const ph_flight_item* item;
    uint16_t place;
    // As in ph_packet_record.
    uint32_t cost256;
    uint16_t kept;
    uint8_t coarse;
    uint8_t rotation_coarse;
} ph_addition;

// It is in the packet from now on, and its values are in the item; ph_replicas_sent() follows.
void ph_encoder_note(ph_encoder* encoder, const ph_addition* addition);

// ---- the enter coder, of the pinhole profile

// What a leave or an enter of the builder's slot adds to the cost of the packet goes to records256.
// @return What it costs by itself, in 1/256 bit, and the record as it is sent.
uint32_t ph_enter_coder_join(ph_encoder* encoder, const ph_record_request* request,
                             ph_pinhole_record* made);

// States another spread if that is cheaper.
void ph_enter_coder_settle(ph_encoder* encoder);

// What the bits of one of them were for, in 1/256 bit.
void ph_enter_coder_bits(ph_encoder* encoder, const ph_packet_record* chosen, ph_record_bits* of);

// All of a kind, each with what it costs.
void ph_enter_coder_write(ph_encoder* encoder, ph_record_kind kind, ph_entropy_writer* writer);

#endif
