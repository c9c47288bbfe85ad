// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One heap of events by time: a message arrives, a record is touched, an answer arrives. Publishing looks the subject
// up in a hash table of subscriptions without wildcards and walks the list of those with.

#include "support/memory_bus.h"

#include "support/test_support.h"

#include "base/hash.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_COUNT = 4096, TIMEOUT_US = 2000000, START_US = 1000000 };

// Shared by all deliveries of one publish.
typedef struct payload {
    int users;
    char subject[PH_BUS_SUBJECT_MAX];
    size_t size;
    uint8_t bytes[];
} payload;

typedef struct subscription {
    struct subscription* next; // in its chain
    uint64_t id; // 0: it is gone; it is freed with the bus, because events point to it
    int endpoint;
    uint64_t since_us; // the moment from which it counts
    char subject[PH_BUS_SUBJECT_MAX];
    struct subscription* next_made;
} subscription;

// A read or a swap.
typedef struct question {
    int endpoint;
    bool is_swap;
    bool is_asker_dead;
    uint64_t asked_us;
    uint64_t ticket;
    uint64_t expected;
    int users; // events that point to it, and the answer that waits to be taken
    ph_bus_outcome outcome;
    uint64_t revision;
    char key[PH_BUS_SUBJECT_MAX];
    uint8_t* bytes;
    size_t size;
} question;

typedef enum event_kind { EVENT_MESSAGE, EVENT_TOUCH, EVENT_ANSWER } event_kind;

typedef struct event {
    uint64_t due_us;
    uint64_t number; // of two at one moment the older one is first
    event_kind kind;
    bool is_lost;
    int publisher;
    uint64_t subscription_id;
    subscription* subscription;
    payload* payload;
    question* question;
    uint64_t answer_due_us;
} event;

typedef struct queue {
    void** items;
    int head;
    int count;
    int capacity;
} queue;

typedef struct endpoint {
    memory_bus* bus;
    int index;
    bool is_dead;
    bool is_cut;
    bool is_frozen;
    bool has_noticed;    // that it is cut
    uint64_t notices_us; // that it is cut
    uint64_t lost_count;
    queue inbox; // payloads, and the subscription of each beside it
    queue inbox_of;
    queue answers; // questions
    payload* taken;
    question* taken_answer;
    uint64_t* last_due_us; // by publisher: the order of its messages
    int publisher_capacity;
} endpoint;

// One value that a record has had. The last one counts.
typedef struct version {
    char key[PH_BUS_SUBJECT_MAX];
    uint64_t time_us;
    uint64_t revision;
    uint8_t* bytes;
    size_t size;
} version;

struct memory_bus {
    memory_bus_def def;
    ph_rng rng;
    uint64_t now_us;
    event* events; // a heap
    int event_count;
    int event_capacity;
    uint64_t event_number;
    endpoint** endpoints;
    int endpoint_count;
    subscription* chains[CHAIN_COUNT];
    subscription* wildcards;
    subscription* made;
    uint64_t subscription_count;
    version* versions;
    int version_count;
    int version_capacity;
    uint64_t revision_count;
    bool are_records_unavailable;
    memory_bus_entry* entries;
    int entry_count;
    int entry_capacity;
    memory_bus_stats stats;
};

// ---- memory ----------------------------------------------------------------------------------------

static void* make_zeroed(size_t size)
{
    void* memory = calloc(1, size > 0 ? size : 1);
    assert_non_null(memory);
    return memory;
}

static void* copy_of(const void* bytes, size_t size)
{
    void* memory = make_zeroed(size);
    if (size > 0) {
        memcpy(memory, bytes, size);
    }
    return memory;
}

// Room for one more.
static void* grown(void* items, int count, int* capacity, size_t item_size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity > 0 ? *capacity * 2 : 16;
    items = realloc(items, (size_t)*capacity * item_size);
    assert_non_null(items);
    return items;
}

static void queue_push(queue* q, void* item)
{
    if (q->head > 0 && q->head + q->count == q->capacity) {
        memmove(q->items, q->items + q->head, (size_t)q->count * sizeof *q->items);
        q->head = 0;
    }
    q->items = grown(q->items, q->head + q->count, &q->capacity, sizeof *q->items);
    q->items[q->head + q->count++] = item;
}

static void* queue_pop(queue* q)
{
    assert_true(q->count > 0);
    void* item = q->items[q->head++];
    if (--q->count == 0) {
        q->head = 0;
    }
    return item;
}

static void payload_release(payload* p)
{
    if (p != NULL && --p->users == 0) {
        free(p);
    }
}

static void question_release(question* q)
{
    if (q != NULL && --q->users == 0) {
        free(q->bytes);
        free(q);
    }
}

static uint64_t draw(memory_bus* bus, uint64_t lo, uint64_t hi)
{
    return hi > lo ? lo + ph_rng_below(&bus->rng, hi - lo + 1) : lo;
}

static bool coin(memory_bus* bus)
{
    return ph_rng_chance(&bus->rng, 0.5);
}

static void copy_subject(char to[PH_BUS_SUBJECT_MAX], const char* from)
{
    const size_t size = strlen(from) + 1;
    assert_in_range(size, 2, PH_BUS_SUBJECT_MAX);
    memcpy(to, from, size);
}

// ---- the heap --------------------------------------------------------------------------------------

static bool is_before(const event* a, const event* b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->number < b->number;
}

static void sink(memory_bus* bus, int at)
{
    event* events = bus->events;
    for (;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; ++child) {
            if (child < bus->event_count && is_before(&events[child], &events[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        const event moved = events[at];
        events[at] = events[least];
        events[least] = moved;
        at = least;
    }
}

static void add_event(memory_bus* bus, event added)
{
    added.number = bus->event_number++;
    bus->events = grown(bus->events, bus->event_count, &bus->event_capacity, sizeof *bus->events);
    int at = bus->event_count++;
    while (at > 0 && is_before(&added, &bus->events[(at - 1) / 2])) {
        bus->events[at] = bus->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    bus->events[at] = added;
}

static event pop_event(memory_bus* bus)
{
    const event first = bus->events[0];
    bus->events[0] = bus->events[--bus->event_count];
    sink(bus, 0);
    return first;
}

// ---- subjects --------------------------------------------------------------------------------------

static size_t token_size(const char* subject)
{
    return strcspn(subject, ".");
}

bool memory_bus_matches(const char* pattern, const char* subject)
{
    for (;;) {
        const size_t wanted = token_size(pattern);
        const size_t there = token_size(subject);
        if (strcmp(pattern, ">") == 0) {
            return there > 0;
        }
        const bool is_any = wanted == 1 && *pattern == '*' && there > 0;
        if (!is_any && (wanted != there || memcmp(pattern, subject, wanted) != 0)) {
            return false;
        }
        pattern += wanted;
        subject += there;
        if (*pattern == '\0' || *subject == '\0') {
            return *pattern == *subject;
        }
        ++pattern;
        ++subject;
    }
}

static bool has_wildcard(const char* subject)
{
    return strpbrk(subject, "*>") != NULL;
}

// No empty token, no space, and in a pattern a wildcard stands alone in its token, '>' in the last one.
static bool is_subject(const char* subject, bool is_pattern)
{
    if (strlen(subject) >= PH_BUS_SUBJECT_MAX || strpbrk(subject, " \t\r\n") != NULL) {
        return false;
    }
    for (const char* at = subject;; ++at) {
        const size_t size = token_size(at);
        const bool is_wild = memchr(at, '*', size) != NULL || memchr(at, '>', size) != NULL;
        if (size == 0 || (is_wild && (!is_pattern || size > 1))) {
            return false;
        }
        if (*at == '>' && at[size] != '\0') {
            return false;
        }
        at += size;
        if (*at == '\0') {
            return true;
        }
    }
}

static subscription** chain_of(memory_bus* bus, const char* subject)
{
    if (has_wildcard(subject)) {
        return &bus->wildcards;
    }
    ph_hash hash = ph_hash_make(0);
    ph_hash_add(&hash, subject, strlen(subject));
    return &bus->chains[ph_hash_value(&hash) % CHAIN_COUNT];
}

// ---- messages --------------------------------------------------------------------------------------

// Whether it knows by now that it is cut.
static bool notices(endpoint* e)
{
    if (e->is_cut && !e->has_noticed && e->bus->now_us >= e->notices_us) {
        e->has_noticed = true;
        e->lost_count += 1;
    }
    return e->is_cut && e->has_noticed;
}

static endpoint* living(void* context)
{
    endpoint* e = context;
    assert_false(e->is_dead);
    return e;
}

static uint64_t* last_due_us(endpoint* s, int publisher)
{
    if (publisher >= s->publisher_capacity) {
        const int old = s->publisher_capacity;
        s->publisher_capacity = publisher + 8;
        s->last_due_us =
            realloc(s->last_due_us, (size_t)s->publisher_capacity * sizeof *s->last_due_us);
        assert_non_null(s->last_due_us);
        memset(s->last_due_us + old, 0, (size_t)(s->publisher_capacity - old) * sizeof(uint64_t));
    }
    return &s->last_due_us[publisher];
}

static void send_to(memory_bus* bus, int publisher, subscription* s, payload* p)
{
    const bool is_lost = ph_rng_chance(&bus->rng, bus->def.loss);
    const bool is_twice = ph_rng_chance(&bus->rng, bus->def.duplication);
    uint64_t due_us = bus->now_us + draw(bus, bus->def.delay_min_us, bus->def.delay_max_us);
    uint64_t* last_us = last_due_us(bus->endpoints[s->endpoint], publisher);
    due_us = due_us > *last_us ? due_us : *last_us;
    *last_us = due_us;
    event sent = {.due_us = due_us,
                  .kind = EVENT_MESSAGE,
                  .publisher = publisher,
                  .subscription = s,
                  .subscription_id = s->id,
                  .payload = p};
    if (is_lost || bus->endpoints[s->endpoint]->is_cut) {
        bus->stats.lost += 1;
        return;
    }
    p->users += 1;
    add_event(bus, sent);
    if (is_twice) {
        sent.due_us += draw(bus, 0, 4 * (bus->def.delay_max_us + 1));
        p->users += 1;
        bus->stats.duplicated += 1;
        add_event(bus, sent);
    }
}

static void send_to_chain(memory_bus* bus, int publisher, subscription* chain, payload* p)
{
    for (subscription* s = chain; s != NULL; s = s->next) {
        if (s->endpoint != publisher && s->since_us <= bus->now_us &&
            memory_bus_matches(s->subject, p->subject)) {
            send_to(bus, publisher, s, p);
        }
    }
}

static void keep_entry(memory_bus* bus, int publisher, const payload* p)
{
    if (!bus->def.has_log) {
        return;
    }
    bus->entries =
        grown(bus->entries, bus->entry_count, &bus->entry_capacity, sizeof *bus->entries);
    memory_bus_entry* entry = &bus->entries[bus->entry_count++];
    *entry = (memory_bus_entry){.time_us = bus->now_us,
                                .endpoint = publisher,
                                .bytes = copy_of(p->bytes, p->size),
                                .size = p->size};
    copy_subject(entry->subject, p->subject);
}

static bool publish(void* context, const char* subject, const void* bytes, size_t size)
{
    endpoint* e = living(context);
    memory_bus* bus = e->bus;
    assert_true(is_subject(subject, false));
    payload* p = make_zeroed(sizeof *p + size);
    p->users = 1;
    p->size = size;
    copy_subject(p->subject, subject);
    if (size > 0) {
        memcpy(p->bytes, bytes, size);
    }
    bus->stats.published += 1;
    keep_entry(bus, e->index, p);
    if (!e->is_cut) {
        send_to_chain(bus, e->index, *chain_of(bus, subject), p);
        send_to_chain(bus, e->index, bus->wildcards, p);
    }
    payload_release(p);
    return !notices(e);
}

static uint64_t subscribe(void* context, const char* subject)
{
    endpoint* e = living(context);
    if (!is_subject(subject, true)) {
        return 0;
    }
    subscription* s = make_zeroed(sizeof *s);
    s->id = ++e->bus->subscription_count;
    s->endpoint = e->index;
    // What the endpoint publishes next cannot arrive earlier, so an answer to it finds the subscription.
    s->since_us = e->bus->now_us + e->bus->def.delay_min_us;
    copy_subject(s->subject, subject);
    // At the end, so that the order of sending is that of subscribing.
    subscription** last = chain_of(e->bus, subject);
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = s;
    s->next_made = e->bus->made;
    e->bus->made = s;
    return s->id;
}

static void forget(memory_bus* bus, subscription* s)
{
    subscription** at = chain_of(bus, s->subject);
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    s->id = 0;
}

static void unsubscribe(void* context, uint64_t id)
{
    endpoint* e = living(context);
    for (subscription* s = e->bus->made; s != NULL && id != 0; s = s->next_made) {
        if (s->id == id) {
            assert_int_equal(s->endpoint, e->index);
            forget(e->bus, s);
            return;
        }
    }
}

static bool next_message(void* context, ph_bus_message* message)
{
    endpoint* e = living(context);
    payload_release(e->taken);
    e->taken = NULL;
    while (!e->is_frozen && e->inbox.count > 0) {
        payload* p = queue_pop(&e->inbox);
        const subscription* s = queue_pop(&e->inbox_of);
        if (s->id == 0) {
            payload_release(p);
            continue;
        }
        e->taken = p;
        *message = (ph_bus_message){.subject = p->subject, .bytes = p->bytes, .size = p->size};
        return true;
    }
    return false;
}

static void message_arrives(memory_bus* bus, const event* it)
{
    endpoint* e = bus->endpoints[it->subscription->endpoint];
    const bool is_wanted = it->subscription->id == it->subscription_id;
    if (it->is_lost || e->is_dead || e->is_cut) {
        bus->stats.lost += 1;
    } else if (is_wanted) {
        bus->stats.delivered += 1;
        it->payload->users += 1;
        queue_push(&e->inbox, it->payload);
        queue_push(&e->inbox_of, it->subscription);
    }
    payload_release(it->payload);
}

// ---- records ---------------------------------------------------------------------------------------

// As of a moment.
static const version* version_at(const memory_bus* bus, const char* key, uint64_t time_us)
{
    for (int i = bus->version_count - 1; i >= 0; --i) {
        if (bus->versions[i].time_us <= time_us && strcmp(bus->versions[i].key, key) == 0) {
            return &bus->versions[i];
        }
    }
    return NULL;
}

static uint64_t timeout_us(const memory_bus* bus)
{
    return bus->def.timeout_us > 0 ? bus->def.timeout_us : TIMEOUT_US;
}

static void swap_now(memory_bus* bus, question* q)
{
    const version* old = version_at(bus, q->key, bus->now_us);
    if ((old != NULL ? old->revision : 0) != q->expected) {
        bus->stats.swaps_refused += 1;
        q->outcome = PH_BUS_CONFLICT;
        return;
    }
    bus->versions =
        grown(bus->versions, bus->version_count, &bus->version_capacity, sizeof *bus->versions);
    version* added = &bus->versions[bus->version_count++];
    // Revisions count over all records, as in NATS.
    *added = (version){.time_us = bus->now_us,
                       .revision = ++bus->revision_count,
                       .bytes = copy_of(q->bytes, q->size),
                       .size = q->size};
    copy_subject(added->key, q->key);
    bus->stats.swaps_done += 1;
    q->outcome = PH_BUS_DONE;
    q->revision = added->revision;
}

static void read_now(memory_bus* bus, question* q)
{
    const uint64_t age_us = draw(bus, 0, bus->def.stale_us);
    const version* found = version_at(bus, q->key, bus->now_us > age_us ? bus->now_us - age_us : 0);
    q->outcome = PH_BUS_DONE;
    if (found != NULL) {
        q->revision = found->revision;
        q->bytes = copy_of(found->bytes, found->size);
        q->size = found->size;
    }
}

static void add_question_event(memory_bus* bus, event_kind kind, question* q, uint64_t due_us,
                               uint64_t answer_due_us)
{
    q->users += 1;
    add_event(
        bus,
        (event){.due_us = due_us, .kind = kind, .question = q, .answer_due_us = answer_due_us});
}

// No answer will come. A swap happens nevertheless, some time, or not.
static void leave_unanswered(memory_bus* bus, question* q)
{
    q->outcome = PH_BUS_UNKNOWN;
    const uint64_t last_us = q->asked_us + timeout_us(bus);
    add_question_event(bus, EVENT_ANSWER, q, last_us > bus->now_us ? last_us : bus->now_us, 0);
    if (q->is_swap && coin(bus)) {
        const uint64_t due_us = bus->now_us + draw(bus, 0, 2 * timeout_us(bus));
        add_question_event(bus, EVENT_TOUCH, q, due_us, 0);
    }
}

static void ask(endpoint* e, question asked)
{
    memory_bus* bus = e->bus;
    question* q = make_zeroed(sizeof *q);
    *q = asked;
    q->endpoint = e->index;
    q->asked_us = bus->now_us;
    q->users = 1;
    if (e->is_cut || bus->are_records_unavailable) {
        leave_unanswered(bus, q);
    } else {
        const uint64_t delay_us = draw(bus, bus->def.answer_min_us, bus->def.answer_max_us);
        add_question_event(bus, EVENT_TOUCH, q, bus->now_us + delay_us / 2, bus->now_us + delay_us);
    }
    question_release(q);
}

static void read_record(void* context, const char* key, uint64_t ticket)
{
    question q = {.ticket = ticket};
    copy_subject(q.key, key);
    ask(living(context), q);
}

static void swap_record(void* context, const char* key, uint64_t revision, const void* bytes,
                        size_t size, uint64_t ticket)
{
    question q = {.ticket = ticket,
                  .is_swap = true,
                  .expected = revision,
                  .bytes = copy_of(bytes, size),
                  .size = size};
    copy_subject(q.key, key);
    ask(living(context), q);
}

// The question has come to the records. Without answer_due_us the asker is not told.
static void question_arrives(memory_bus* bus, const event* it)
{
    question* q = it->question;
    if (it->answer_due_us == 0) {
        const ph_bus_outcome told = q->outcome;
        swap_now(bus, q);
        q->outcome = told;
    } else if (q->is_asker_dead && coin(bus)) {
        // It was never sent.
    } else if (bus->are_records_unavailable || (bus->endpoints[q->endpoint]->is_cut && coin(bus))) {
        leave_unanswered(bus, q);
    } else {
        q->is_swap ? swap_now(bus, q) : read_now(bus, q);
        add_question_event(bus, EVENT_ANSWER, q, it->answer_due_us, 0);
    }
    question_release(q);
}

static void answer_arrives(memory_bus* bus, const event* it)
{
    question* q = it->question;
    endpoint* e = bus->endpoints[q->endpoint];
    const uint64_t last_us = q->asked_us + timeout_us(bus);
    if (e->is_dead) {
        question_release(q);
        return;
    }
    if (e->is_cut && q->outcome != PH_BUS_UNKNOWN) {
        q->outcome = PH_BUS_UNKNOWN;
        if (last_us > bus->now_us) {
            add_question_event(bus, EVENT_ANSWER, q, last_us, 0);
            question_release(q);
            return;
        }
    }
    bus->stats.unknowns += q->outcome == PH_BUS_UNKNOWN;
    queue_push(&e->answers, q); // keeps the event's use of it
}

static bool next_answer(void* context, ph_bus_answer* answer)
{
    endpoint* e = living(context);
    question_release(e->taken_answer);
    e->taken_answer = NULL;
    if (e->is_frozen || e->answers.count == 0) {
        return false;
    }
    const question* q = e->taken_answer = queue_pop(&e->answers);
    *answer = (ph_bus_answer){.ticket = q->ticket, .outcome = q->outcome};
    if (q->outcome == PH_BUS_DONE) {
        answer->revision = q->revision;
        answer->bytes = q->is_swap ? NULL : q->bytes;
        answer->size = q->is_swap ? 0 : q->size;
    }
    return true;
}

void memory_bus_set_records_available(memory_bus* bus, bool are_available)
{
    bus->are_records_unavailable = !are_available;
}

uint64_t memory_bus_get_record(const memory_bus* bus, const char* key, const uint8_t** bytes,
                               size_t* size)
{
    const version* found = version_at(bus, key, bus->now_us);
    if (bytes != NULL) {
        *bytes = found != NULL ? found->bytes : NULL;
    }
    if (size != NULL) {
        *size = found != NULL ? found->size : 0;
    }
    return found != NULL ? found->revision : 0;
}

// ---- endpoints -------------------------------------------------------------------------------------

static uint64_t lost_count(void* context)
{
    endpoint* e = living(context);
    (void)notices(e);
    return e->lost_count;
}

static bool is_connected(void* context)
{
    return !notices(living(context));
}

int memory_bus_add(memory_bus* bus)
{
    bus->endpoints =
        realloc(bus->endpoints, (size_t)(bus->endpoint_count + 1) * sizeof *bus->endpoints);
    assert_non_null(bus->endpoints);
    endpoint* e = make_zeroed(sizeof *e);
    e->bus = bus;
    e->index = bus->endpoint_count;
    bus->endpoints[bus->endpoint_count] = e;
    return bus->endpoint_count++;
}

static endpoint* endpoint_of(memory_bus* bus, int index)
{
    assert_in_range(index, 0, bus->endpoint_count - 1);
    return living(bus->endpoints[index]);
}

ph_bus_transport memory_bus_transport(memory_bus* bus, int index)
{
    return (ph_bus_transport){.context = endpoint_of(bus, index),
                              .publish = publish,
                              .subscribe = subscribe,
                              .unsubscribe = unsubscribe,
                              .next = next_message,
                              .read = read_record,
                              .swap = swap_record,
                              .next_answer = next_answer,
                              .lost_count = lost_count,
                              .is_connected = is_connected};
}

// What is under way from it is lost behind a moment, what is under way to it altogether.
static void break_connection(memory_bus* bus, int index)
{
    const uint64_t until_us = bus->now_us + draw(bus, 0, bus->def.delay_max_us);
    for (int i = 0; i < bus->event_count; ++i) {
        event* it = &bus->events[i];
        if (it->kind == EVENT_MESSAGE && (it->subscription->endpoint == index ||
                                          (it->publisher == index && it->due_us > until_us))) {
            it->is_lost = true;
        }
    }
}

void memory_bus_cut(memory_bus* bus, int index)
{
    endpoint* e = endpoint_of(bus, index);
    if (e->is_cut) {
        return;
    }
    break_connection(bus, index);
    e->is_cut = true;
    e->has_noticed = false;
    e->notices_us = bus->now_us + draw(bus, 0, bus->def.notice_max_us);
}

void memory_bus_join(memory_bus* bus, int index)
{
    endpoint* e = endpoint_of(bus, index);
    if (e->is_cut) {
        e->notices_us = bus->now_us;
        (void)notices(e);
        e->is_cut = false;
    }
}

void memory_bus_freeze(memory_bus* bus, int index)
{
    endpoint_of(bus, index)->is_frozen = true;
}

void memory_bus_thaw(memory_bus* bus, int index)
{
    endpoint_of(bus, index)->is_frozen = false;
}

static void empty_endpoint(endpoint* e)
{
    while (e->inbox.count > 0) {
        payload_release(queue_pop(&e->inbox));
        (void)queue_pop(&e->inbox_of);
    }
    while (e->answers.count > 0) {
        question_release(queue_pop(&e->answers));
    }
    payload_release(e->taken);
    question_release(e->taken_answer);
    e->taken = NULL;
    e->taken_answer = NULL;
}

void memory_bus_kill(memory_bus* bus, int index)
{
    endpoint* e = endpoint_of(bus, index);
    if (!e->is_cut) {
        break_connection(bus, index);
    }
    for (subscription* s = bus->made; s != NULL; s = s->next_made) {
        if (s->id != 0 && s->endpoint == index) {
            forget(bus, s);
        }
    }
    for (int i = 0; i < bus->event_count; ++i) {
        if (bus->events[i].question != NULL && bus->events[i].question->endpoint == index) {
            bus->events[i].question->is_asker_dead = true;
        }
    }
    empty_endpoint(e);
    e->is_dead = true;
}

// ---- the bus ---------------------------------------------------------------------------------------

memory_bus* memory_bus_create(const memory_bus_def* def)
{
    memory_bus* bus = make_zeroed(sizeof *bus);
    bus->def = *def;
    bus->rng = ph_rng_make(def->seed);
    bus->now_us = START_US;
    return bus;
}

static void destroy_endpoint(endpoint* e)
{
    empty_endpoint(e);
    free(e->inbox.items);
    free(e->inbox_of.items);
    free(e->answers.items);
    free(e->last_due_us);
    free(e);
}

void memory_bus_destroy(memory_bus* bus)
{
    if (bus == NULL) {
        return;
    }
    for (int i = 0; i < bus->event_count; ++i) {
        payload_release(bus->events[i].payload);
        question_release(bus->events[i].question);
    }
    for (int i = 0; i < bus->endpoint_count; ++i) {
        destroy_endpoint(bus->endpoints[i]);
    }
    while (bus->made != NULL) {
        subscription* s = bus->made;
        bus->made = s->next_made;
        free(s);
    }
    for (int i = 0; i < bus->version_count; ++i) {
        free(bus->versions[i].bytes);
    }
    for (int i = 0; i < bus->entry_count; ++i) {
        free(bus->entries[i].bytes);
    }
    free(bus->entries);
    free(bus->versions);
    free(bus->endpoints);
    free(bus->events);
    free(bus);
}

void memory_bus_change(memory_bus* bus, const memory_bus_def* def)
{
    bus->def = *def;
}

uint64_t memory_bus_now_us(const memory_bus* bus)
{
    return bus->now_us;
}

uint64_t memory_bus_next_us(const memory_bus* bus)
{
    return bus->event_count > 0 ? bus->events[0].due_us : UINT64_MAX;
}

void memory_bus_advance(memory_bus* bus, uint64_t elapsed_us)
{
    const uint64_t end_us = bus->now_us + elapsed_us;
    while (memory_bus_next_us(bus) <= end_us) {
        const event it = pop_event(bus);
        bus->now_us = it.due_us > bus->now_us ? it.due_us : bus->now_us;
        switch (it.kind) {
        case EVENT_MESSAGE:
            message_arrives(bus, &it);
            break;
        case EVENT_TOUCH:
            question_arrives(bus, &it);
            break;
        case EVENT_ANSWER:
            answer_arrives(bus, &it);
            break;
        }
    }
    bus->now_us = end_us;
}

const memory_bus_entry* memory_bus_log(const memory_bus* bus, int* count)
{
    *count = bus->entry_count;
    return bus->entries;
}

uint64_t memory_bus_log_digest(const memory_bus* bus, const char* pattern)
{
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < bus->entry_count; ++i) {
        const memory_bus_entry* entry = &bus->entries[i];
        if (memory_bus_matches(pattern, entry->subject)) {
            ph_hash_add_u64(&hash, entry->time_us);
            ph_hash_add_u64(&hash, (uint64_t)entry->endpoint);
            ph_hash_add(&hash, entry->subject, strlen(entry->subject) + 1);
            ph_hash_add_u64(&hash, entry->size);
            ph_hash_add(&hash, entry->bytes, entry->size);
        }
    }
    return ph_hash_value(&hash);
}

memory_bus_stats memory_bus_get_stats(const memory_bus* bus)
{
    return bus->stats;
}
