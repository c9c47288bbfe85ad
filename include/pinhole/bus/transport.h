// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What carries messages between the machines of one world: subjects that are published and subscribed to, and a few
// records that are changed by compare-and-swap. ph_nats is one, over NATS; a game may bring another, and tests have
// one in memory.
//
// A transport is used by one thread. No call waits for the network: what comes is taken by next(), and a record that
// was asked for or changed is answered later, by next_answer().
//
// What it must promise: messages of one publisher arrive at one subscriber in the order in which they were published,
// or not at all. A swap is atomic over all machines. Everything else may be lost, late, or come twice; a copy that
// comes late, by a server that was frozen, keeps no order. A publisher gets nothing of what it publishes itself, and a
// message that matches two subscriptions of one transport comes twice.

#ifndef PINHOLE_BUS_TRANSPORT_H
#define PINHOLE_BUS_TRANSPORT_H

#include <pinhole/base.h>
#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The longest subject, with the zero at its end. Tokens of a subject are separated by dots; in a subscription '*'
/// stands for one token, and '>' at the end for one or more.
#define PH_BUS_SUBJECT_MAX 128

/// A message that has come. Valid until the next call of next().
typedef struct ph_bus_message {
    const char* subject;
    const uint8_t* bytes;
    size_t size;
} ph_bus_message;

/// What became of a swap or a question about a record.
typedef enum ph_bus_outcome {
    /// Swapped; or read: revision and bytes say what is there, revision 0 and no bytes: nothing.
    PH_BUS_DONE = 1,
    PH_BUS_CONFLICT, ///< not swapped: the record has another revision by now
    PH_BUS_UNKNOWN, ///< no answer in time, or no connection: it has happened, or happens yet, or never
} ph_bus_outcome;

/// The answer to read() or swap(). Valid until the next call of next_answer(). Answers come in any order.
typedef struct ph_bus_answer {
    uint64_t ticket; ///< as it was asked
    ph_bus_outcome outcome;
    /// Of the record, when DONE; counts from 1 over all records, with gaps. Otherwise 0.
    uint64_t revision;
    const uint8_t* bytes; ///< of a read
    size_t size;
} ph_bus_answer;

/// The functions of a transport. All are required.
typedef struct ph_bus_transport {
    void* context;
    /// Sends soon, in order. @return False when it is lost for certain: there is no connection, or no room.
    bool (*publish)(void* context, const char* subject, const void* bytes, size_t size);
    /// @return Names the subscription; 0: there is no memory or the subject is none.
    uint64_t (*subscribe)(void* context, const char* subject);
    /// Nothing of it comes any more. 0 is allowed.
    void (*unsubscribe)(void* context, uint64_t subscription);
    /// The next message of any subscription, in the order in which they came. @return False when there is none.
    bool (*next)(void* context, ph_bus_message* message);
    /// Asks for a record: as of now or a little older. The answer carries the ticket.
    void (*read)(void* context, const char* key, uint64_t ticket);
    /// Changes a record if its revision is still this one; 0: if there is none yet.
    void (*swap)(void* context, const char* key, uint64_t revision, const void* bytes, size_t size,
                 uint64_t ticket);
    bool (*next_answer)(void* context, ph_bus_answer* answer);
    /// How often the connection has been lost, and messages with it. One that is not there now counts.
    uint64_t (*lost_count)(void* context);
    /// Whether there is a connection now.
    bool (*is_connected)(void* context);
} ph_bus_transport;

#ifdef __cplusplus
}
#endif

#endif
