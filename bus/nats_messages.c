// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages of the transport over NATS: what is published and subscribed to goes through one queue to the sender, so
// that an order among them stays one; what comes goes through the inbox. Both are two arrays each, one that is filled
// under a lock and one that is emptied without: a lock is taken once per message on one side, once per batch on the
// other.
//
//   a command in a room:  command | subject, with its zero | bytes | up to 8 bytes of nothing
//
// libnats gathers what is published for up to 1 ms and writes it in blocks of WRITE_BYTES. Its SendAsap instead writes
// each message by itself: measured with 200 bytes 2.2..4.2 us a message instead of 0.3, with 8 KiB 4.1 instead of 3.8,
// and bursts arrived later, not earlier.
//
// Beside plain libnats, medians of 7 turns on two busy cores, publishing and receiving in one process: 200 bytes 1.88 ->
// 2.25 us a message, 8 KiB 14.6 -> 16.3 us; of that the owner's publish() 0.27 -> 0.15 and 2.85 -> 1.64 us.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "bus/nats_state.h"

#include "base/allocator.h"

#include <string.h>
#include <time.h>

enum {
    // With the half second for which libnats writes when it is closed: a second in all.
    CLOSE_MS = 500,
    ROOM_BYTES = 64 * 1024,
    INBOX_COUNT = 256,
    SLOT_COUNT = 64,
    MESSAGE_OVERHEAD = 256, // of a message in libnats, and here
    BREAK_MS = 20,
    GATHER_NS = 250 * 1000,
};

typedef enum command_kind { COMMAND_PUBLISH, COMMAND_SUBSCRIBE, COMMAND_UNSUBSCRIBE } command_kind;

typedef struct command {
    command_kind kind;
    uint32_t subject_size;
    size_t size;
    ph_nats_subscription* subscription;
} command;

static const ph_allocator MEMORY = {0}; // malloc and free

// Room for more items of one size. @return False: there is no memory, and all is as it was.
static bool grow(void** items, size_t* capacity, size_t wanted, size_t item_size, size_t least)
{
    if (wanted <= *capacity) {
        return true;
    }
    size_t larger = *capacity > 0 ? *capacity : least;
    while (larger < wanted) {
        larger *= 2;
    }
    void* made = ph_allocate_array(&MEMORY, larger, item_size);
    if (made == NULL) {
        return false;
    }
    if (*capacity > 0) {
        memcpy(made, *items, *capacity * item_size);
    }
    ph_release_array(&MEMORY, *items, *capacity, item_size);
    *items = made;
    *capacity = larger;
    return true;
}

bool ph_nats_is_subject(const char* subject, bool is_pattern, size_t* size)
{
    size_t token = 0; // characters of it so far
    size_t at = 0;
    bool is_wild = false;
    for (; subject[at] != '\0'; ++at) {
        const unsigned char c = (unsigned char)subject[at];
        if (c <= ' ' || c == 127 || at + 1 == PH_BUS_SUBJECT_MAX) {
            return false;
        }
        if (c == '.') {
            if (token == 0 || (is_wild && (token > 1 || subject[at - 1] == '>'))) {
                return false;
            }
            token = 0;
            is_wild = false;
            continue;
        }
        is_wild = is_wild || c == '*' || c == '>';
        ++token;
        if (is_wild && (!is_pattern || token > 1)) {
            return false;
        }
    }
    *size = at + 1;
    return token > 0;
}

// ---- the owner's side: commands --------------------------------------------------------------------

static bool add_command(ph_nats* nats, const command* added, const char* subject, const void* bytes)
{
    const size_t needed = (sizeof *added + added->subject_size + added->size + 7) / 8 * 8;
    pthread_mutex_lock(&nats->outgoing_mutex);
    ph_nats_room* room = &nats->outgoing;
    // Only messages find no room: a subscription that is not ended would cost more.
    const bool is_full = added->kind == COMMAND_PUBLISH &&
                         room->size + needed > nats->pending_bytes && room->size > 0;
    const bool is_added =
        !is_full && grow((void**)&room->bytes, &room->capacity, room->size + needed, 1, ROOM_BYTES);
    if (is_added) {
        uint8_t* to = room->bytes + room->size;
        memcpy(to, added, sizeof *added);
        if (added->subject_size > 0) {
            memcpy(to + sizeof *added, subject, added->subject_size);
        }
        if (added->size > 0) {
            memcpy(to + sizeof *added + added->subject_size, bytes, added->size);
        }
        room->size += needed;
        if (nats->is_sender_waiting) {
            pthread_cond_signal(&nats->outgoing_wake);
        }
    }
    pthread_mutex_unlock(&nats->outgoing_mutex);
    return is_added;
}

static void count_unsent(ph_nats* nats)
{
    atomic_fetch_add_explicit(&nats->unsent_messages, 1, memory_order_relaxed);
}

bool ph_nats_publish(void* context, const char* subject, const void* bytes, size_t size)
{
    ph_nats* nats = context;
    const ph_check call = ph_nats_call(nats, "publish");
    size_t subject_size;
    const int payload_max = atomic_load_explicit(&nats->payload_max, memory_order_relaxed);
    bool is_added = false;
    if (!ph_nats_is_subject(subject, false, &subject_size)) {
        ph_fail(&call, PH_ERROR_ARGUMENT, NULL, "'%.60s' is no subject to publish to", subject);
    } else if (size > (size_t)payload_max) {
        ph_fail(&call, PH_ERROR_TOO_LONG, NULL, "a message has %zu bytes; the server takes %d",
                size, payload_max);
    } else if (atomic_load_explicit(&nats->is_connected, memory_order_relaxed)) {
        const command published = {
            .kind = COMMAND_PUBLISH, .subject_size = (uint32_t)subject_size, .size = size};
        is_added = add_command(nats, &published, subject, bytes);
    }
    if (!is_added) {
        count_unsent(nats);
        return false;
    }
    nats->published_messages += 1;
    nats->published_bytes += size;
    return true;
}

static void release_subscription(ph_nats_subscription* s)
{
    if (atomic_fetch_sub_explicit(&s->users, 1, memory_order_acq_rel) == 1) {
        ph_nats* nats = s->nats;
        ph_release(&MEMORY, s, sizeof *s);
        ph_nats_release(nats);
    }
}

// Slots are never given back: there are as many as there were subscriptions at once.
static bool take_slot(ph_nats* nats, uint32_t* index)
{
    if (nats->free_slot1 != 0) {
        *index = nats->free_slot1 - 1;
        nats->free_slot1 = nats->slots[*index].next_free1;
        return true;
    }
    if (!grow((void**)&nats->slots, &nats->slot_capacity, nats->slot_count + 1, sizeof *nats->slots,
              SLOT_COUNT)) {
        return false;
    }
    *index = (uint32_t)nats->slot_count++;
    nats->slots[*index] = (ph_nats_slot){.generation = 1};
    return true;
}

static void give_slot_back(ph_nats* nats, uint32_t index)
{
    ph_nats_slot* slot = &nats->slots[index];
    slot->subscription = NULL;
    slot->generation += 1;
    slot->next_free1 = nats->free_slot1;
    nats->free_slot1 = index + 1;
}

// Users: the owner and the sender, later libnats in its place.
static ph_nats_subscription* make_subscription(ph_nats* nats, const char* subject, size_t size)
{
    ph_nats_subscription* s = ph_allocate_zeroed(&MEMORY, sizeof *s);
    if (s != NULL) {
        s->nats = nats;
        atomic_init(&s->users, 2);
        atomic_init(&s->is_gone, false);
        memcpy(s->subject, subject, size);
        atomic_fetch_add_explicit(&nats->users, 1, memory_order_relaxed);
    }
    return s;
}

uint64_t ph_nats_subscribe(void* context, const char* subject)
{
    ph_nats* nats = context;
    const ph_check call = ph_nats_call(nats, "subscribe");
    size_t size;
    uint32_t index;
    if (!ph_nats_is_subject(subject, true, &size)) {
        ph_fail(&call, PH_ERROR_ARGUMENT, NULL, "'%.60s' is no subject to subscribe to", subject);
        return 0;
    }
    if (!take_slot(nats, &index)) {
        ph_fail_memory(&call);
        return 0;
    }
    ph_nats_subscription* s = make_subscription(nats, subject, size);
    const command asked = {.kind = COMMAND_SUBSCRIBE, .subscription = s};
    if (s == NULL || !add_command(nats, &asked, NULL, NULL)) {
        if (s != NULL) {
            release_subscription(s);
            release_subscription(s);
        }
        give_slot_back(nats, index);
        ph_fail_memory(&call);
        return 0;
    }
    nats->slots[index].subscription = s;
    nats->subscription_count += 1;
    return (uint64_t)nats->slots[index].generation << 32 | (index + 1);
}

void ph_nats_unsubscribe(void* context, uint64_t subscription)
{
    ph_nats* nats = context;
    const uint32_t index = (uint32_t)subscription - 1; // of 0 it is none
    if (index >= nats->slot_count || nats->slots[index].subscription == NULL ||
        nats->slots[index].generation != subscription >> 32) {
        return;
    }
    ph_nats_subscription* s = nats->slots[index].subscription;
    atomic_store_explicit(&s->is_gone, true, memory_order_relaxed);
    give_slot_back(nats, index);
    nats->subscription_count -= 1;
    const command asked = {.kind = COMMAND_UNSUBSCRIBE, .subscription = s};
    // The owner's use of it goes with the command. Without memory it is left over until the end.
    if (!add_command(nats, &asked, NULL, NULL)) {
        ph_nats_tell(nats, "there is no memory to end a subscription of %s", s->subject);
    }
}

// ---- the sender ------------------------------------------------------------------------------------

static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L}, NULL);
}

static void send_one(ph_nats* nats, const command* sent, const uint8_t* at)
{
    const char* subject = (const char*)at;
    if (!atomic_load_explicit(&nats->is_connected, memory_order_relaxed)) {
        count_unsent(nats); // it would be sent much later
        return;
    }
    const natsStatus status =
        natsConnection_Publish(nats->connection, subject, at + sent->subject_size, (int)sent->size);
    if (status == NATS_OK) {
        return;
    }
    count_unsent(nats);
    if (status == NATS_MAX_PAYLOAD) {
        ph_nats_tell(nats, "a message of %zu bytes is more than the server takes", sent->size);
        return;
    }
    // The connection is about to break, or libnats has noticed already. A pause, because libnats needs the lock that
    // the next try would hold.
    wait_ms(BREAK_MS);
}

static void arrive(natsConnection* connection, natsSubscription* handle, natsMsg* message,
                   void* closure);

static void end_subscription(void* closure)
{
    release_subscription(closure);
}

static void start_subscription(ph_nats* nats, ph_nats_subscription* s)
{
    natsStatus status =
        natsConnection_Subscribe(&s->handle, nats->connection, s->subject, arrive, s);
    if (status != NATS_OK) {
        ph_nats_tell(nats, "cannot subscribe to %s: %s", s->subject, natsStatus_GetText(status));
        s->handle = NULL;
        release_subscription(s);
        return;
    }
    // Messages wait in our inbox, which has its limit. Before that they wait for one thread that does nothing but move
    // them; a limit there would be one per subscription, and would not say how many it drops.
    natsSubscription_SetPendingLimits(s->handle, -1, -1);
    natsSubscription_SetOnCompleteCB(s->handle, end_subscription, s);
}

static void stop_subscription(ph_nats_subscription* s)
{
    if (s->handle != NULL) {
        natsSubscription_Unsubscribe(s->handle);
        natsSubscription_Destroy(s->handle);
        s->handle = NULL;
    }
    release_subscription(s); // the owner's
}

static void run_commands(ph_nats* nats, const ph_nats_room* room, int64_t end_ms)
{
    for (size_t at = 0; at < room->size;) {
        command it;
        memcpy(&it, room->bytes + at, sizeof it);
        const uint8_t* behind = room->bytes + at + sizeof it;
        switch (it.kind) {
        case COMMAND_PUBLISH:
            if (end_ms != 0 && ph_nats_now_ms() >= end_ms) {
                count_unsent(nats);
            } else {
                send_one(nats, &it, behind);
            }
            break;
        case COMMAND_SUBSCRIBE:
            start_subscription(nats, it.subscription);
            break;
        case COMMAND_UNSUBSCRIBE:
            stop_subscription(it.subscription);
            break;
        }
        at += (sizeof it + it.subject_size + it.size + 7) / 8 * 8;
    }
}

// With the lock. The rest of a tick follows soon. Woken for each message of 3.7 KB, the owner and the sender together
// took 6.7..8.7 us a message; gathering takes 4.5..5.6, plain libnats 4.3..5.5.
static void gather(ph_nats* nats)
{
    if (!nats->is_over) {
        pthread_mutex_unlock(&nats->outgoing_mutex);
        nanosleep(&(struct timespec){.tv_nsec = GATHER_NS}, NULL);
        pthread_mutex_lock(&nats->outgoing_mutex);
    }
}

static void* run_sender(void* argument)
{
    ph_nats* nats = argument;
    int64_t end_ms = 0;
    for (;;) {
        pthread_mutex_lock(&nats->outgoing_mutex);
        while (nats->outgoing.size == 0 && !nats->is_over) {
            nats->is_sender_waiting = true;
            pthread_cond_wait(&nats->outgoing_wake, &nats->outgoing_mutex);
            nats->is_sender_waiting = false;
            gather(nats);
        }
        const ph_nats_room filled = nats->outgoing;
        nats->outgoing = nats->sending;
        nats->outgoing.size = 0;
        nats->sending = filled;
        const bool is_over = nats->is_over;
        pthread_mutex_unlock(&nats->outgoing_mutex);
        if (is_over && end_ms == 0) {
            end_ms = ph_nats_now_ms() + CLOSE_MS;
        }
        if (nats->sending.size == 0) {
            break; // only when it is over
        }
        run_commands(nats, &nats->sending, end_ms);
    }
    return NULL; // what libnats has gathered it writes when it is closed
}

bool ph_nats_start_sender(ph_nats* nats)
{
    nats->has_sender = pthread_create(&nats->sender, NULL, run_sender, nats) == 0;
    return nats->has_sender;
}

void ph_nats_stop_sender(ph_nats* nats)
{
    // Before the sender's last round: each subscription is ended by it.
    for (size_t i = 0; i < nats->slot_count; ++i) {
        if (nats->slots[i].subscription != NULL) {
            ph_nats_unsubscribe(nats, (uint64_t)nats->slots[i].generation << 32 | (i + 1));
        }
    }
    if (nats->has_sender) {
        pthread_mutex_lock(&nats->outgoing_mutex);
        nats->is_over = true;
        pthread_cond_signal(&nats->outgoing_wake);
        pthread_mutex_unlock(&nats->outgoing_mutex);
        pthread_join(nats->sender, NULL);
    }
}

// ---- the inbox -------------------------------------------------------------------------------------

void ph_nats_count_drop(ph_nats* nats, uint64_t count)
{
    pthread_mutex_lock(&nats->inbox_mutex);
    nats->dropped_messages += count;
    nats->drops_told += !nats->has_dropped;
    nats->has_dropped = true;
    pthread_mutex_unlock(&nats->inbox_mutex);
}

// On the one thread of libnats that delivers.
static void arrive(natsConnection* connection, natsSubscription* handle, natsMsg* message,
                   void* closure)
{
    (void)connection;
    (void)handle;
    ph_nats_subscription* s = closure;
    ph_nats* nats = s->nats;
    if (atomic_load_explicit(&s->is_gone, memory_order_relaxed)) {
        natsMsg_Destroy(message);
        return;
    }
    const size_t bytes = (size_t)natsMsg_GetDataLength(message) + MESSAGE_OVERHEAD;
    pthread_mutex_lock(&nats->inbox_mutex);
    const size_t waiting = atomic_load_explicit(&nats->waiting_bytes, memory_order_relaxed);
    const bool is_kept = (waiting == 0 || waiting + bytes <= nats->pending_bytes) &&
                         grow((void**)&nats->inbox, &nats->inbox_capacity, nats->inbox_count + 1,
                              sizeof *nats->inbox, INBOX_COUNT);
    if (is_kept) {
        atomic_fetch_add_explicit(&s->users, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&nats->waiting_bytes, bytes, memory_order_relaxed);
        nats->inbox[nats->inbox_count++] = (ph_nats_arrival){.message = message, .subscription = s};
    }
    pthread_mutex_unlock(&nats->inbox_mutex);
    if (!is_kept) {
        natsMsg_Destroy(message);
        ph_nats_count_drop(nats, 1);
    }
}

static void release_arrival(ph_nats* nats, ph_nats_arrival* arrival)
{
    if (arrival->message != NULL) {
        atomic_fetch_sub_explicit(&nats->waiting_bytes,
                                  (size_t)natsMsg_GetDataLength(arrival->message) +
                                      MESSAGE_OVERHEAD,
                                  memory_order_relaxed);
        natsMsg_Destroy(arrival->message);
        release_subscription(arrival->subscription);
        *arrival = (ph_nats_arrival){0};
    }
}

static bool take_inbox(ph_nats* nats)
{
    pthread_mutex_lock(&nats->inbox_mutex);
    ph_nats_arrival* const filled = nats->inbox;
    const size_t capacity = nats->inbox_capacity;
    nats->taking_count = nats->inbox_count;
    nats->inbox = nats->taking;
    nats->inbox_capacity = nats->taking_capacity;
    nats->inbox_count = 0;
    pthread_mutex_unlock(&nats->inbox_mutex);
    nats->taking = filled;
    nats->taking_capacity = capacity;
    nats->taking_next = 0;
    return nats->taking_count > 0;
}

bool ph_nats_next(void* context, ph_bus_message* message)
{
    ph_nats* nats = context;
    release_arrival(nats, &nats->taken);
    ph_nats_tell_owner(nats);
    while (nats->taking_next < nats->taking_count || take_inbox(nats)) {
        ph_nats_arrival* arrival = &nats->taking[nats->taking_next++];
        if (atomic_load_explicit(&arrival->subscription->is_gone, memory_order_relaxed)) {
            release_arrival(nats, arrival);
            continue;
        }
        nats->taken = *arrival;
        *message = (ph_bus_message){.subject = natsMsg_GetSubject(nats->taken.message),
                                    .bytes = (const uint8_t*)natsMsg_GetData(nats->taken.message),
                                    .size = (size_t)natsMsg_GetDataLength(nats->taken.message)};
        nats->received_messages += 1;
        nats->received_bytes += message->size;
        return true;
    }
    return false;
}

uint64_t ph_nats_count_losses(ph_nats* nats)
{
    pthread_mutex_lock(&nats->inbox_mutex);
    nats->has_dropped = false;
    const uint64_t told = nats->drops_told;
    pthread_mutex_unlock(&nats->inbox_mutex);
    return told + atomic_load_explicit(&nats->losses, memory_order_relaxed);
}

// By the owner, when it leaves: the threads of libnats may still find the rest.
void ph_nats_destroy_messages(ph_nats* nats)
{
    release_arrival(nats, &nats->taken);
    do {
        while (nats->taking_next < nats->taking_count) {
            release_arrival(nats, &nats->taking[nats->taking_next++]);
        }
    } while (take_inbox(nats));
    ph_release_array(&MEMORY, nats->taking, nats->taking_capacity, sizeof *nats->taking);
    nats->taking = NULL;
    nats->taking_capacity = 0;
    ph_release_array(&MEMORY, nats->slots, nats->slot_capacity, sizeof *nats->slots);
    ph_release(&MEMORY, nats->outgoing.bytes, nats->outgoing.capacity);
    ph_release(&MEMORY, nats->sending.bytes, nats->sending.capacity);
}
