// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the transport over NATS: the last message of each subject of one JetStream stream, laid out as a
// key-value bucket, so that the tools for those show it. A few questions per second: one thread asks one after the
// other and waits for each answer.
//
// Both ask the leader of the stream. kvStore_Get() may ask any replica, and kvStore_Update() does not say whether the
// revision was the wrong one or nothing happened: a publish that expects a revision does.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "bus/nats_state.h"

#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

enum {
    QUESTIONS_MAX = 4096,
    TIMEOUT_MS = 2000,
    PATH_MAX_BYTES = PH_NATS_BUCKET_MAX + PH_BUS_SUBJECT_MAX + 8,
};

static const ph_allocator MEMORY = {0}; // malloc and free

static void push(ph_nats_questions* list, ph_nats_question* q)
{
    q->next = NULL;
    if (list->last != NULL) {
        list->last->next = q;
    } else {
        list->first = q;
    }
    list->last = q;
    list->count += 1;
}

static ph_nats_question* pop(ph_nats_questions* list)
{
    ph_nats_question* q = list->first;
    if (q != NULL) {
        list->first = q->next;
        list->last = q->next != NULL ? list->last : NULL;
        list->count -= 1;
    }
    return q;
}

static void release_question(ph_nats_question* q)
{
    if (q != NULL) {
        ph_release(&MEMORY, q->bytes, q->size);
        ph_release(&MEMORY, q, sizeof *q);
    }
}

// ---- the thread ------------------------------------------------------------------------------------

static bool is_connected(const ph_nats* nats)
{
    return atomic_load_explicit(&nats->is_connected, memory_order_relaxed);
}

// A bucket that is there already is taken as it is.
static bool have_bucket(ph_nats* nats)
{
    if (nats->has_bucket) {
        return true;
    }
    kvStore* store = NULL;
    natsStatus status = js_KeyValue(&store, nats->records, nats->bucket);
    if (status == NATS_NOT_FOUND) {
        kvConfig config;
        kvConfig_Init(&config);
        config.Bucket = nats->bucket;
        config.History = 1;
        config.StorageType = js_FileStorage;
        config.Replicas = nats->replicas;
        status = js_CreateKeyValue(&store, nats->records, &config);
    }
    kvStore_Destroy(store);
    if (status != NATS_OK && status != nats->bucket_status) {
        const char* reason = nats_GetLastError(NULL);
        const bool has_reason = reason != NULL && reason[0] != '\0';
        ph_nats_tell(nats, "the bucket %s with %d replicas cannot be had: %s%s%s%s", nats->bucket,
                     nats->replicas, natsStatus_GetText(status), has_reason ? ": " : "",
                     has_reason ? reason : "",
                     status == NATS_NO_RESPONDERS
                         ? "; the nats-servers must have JetStream, as with 'nats-server -js'"
                         : "");
    }
    nats->bucket_status = status;
    nats->has_bucket = status == NATS_OK;
    return nats->has_bucket;
}

static void path_of(const ph_nats* nats, const char* key, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "$KV.%s.%s", nats->bucket, key);
}

// Of its time, in ms; 0 or less: none.
static int64_t left_of(const ph_nats_question* q)
{
    return q->asked_ms + TIMEOUT_MS - ph_nats_now_ms();
}

static bool keep_bytes(ph_nats_question* q, natsMsg* message)
{
    const int size = natsMsg_GetDataLength(message);
    if (size > 0) {
        q->bytes = ph_allocate(&MEMORY, (size_t)size);
        if (q->bytes == NULL) {
            return false;
        }
        memcpy(q->bytes, natsMsg_GetData(message), (size_t)size);
        q->size = (size_t)size;
    }
    return true;
}

static void ask_read(ph_nats* nats, ph_nats_question* q, int64_t left_ms)
{
    char path[PATH_MAX_BYTES];
    char stream[PATH_MAX_BYTES];
    path_of(nats, q->key, path);
    snprintf(stream, sizeof stream, "KV_%s", nats->bucket);
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = left_ms;
    jsErrCode code = 0;
    natsMsg* message = NULL;
    const natsStatus status = js_GetLastMsg(&message, nats->records, stream, path, &options, &code);
    if (status == NATS_OK && keep_bytes(q, message)) {
        q->outcome = PH_BUS_DONE;
        q->revision = natsMsg_GetSequence(message);
    } else if (code == JSNoMessageFoundErr) {
        q->outcome = PH_BUS_DONE;
    } else if (code == JSStreamNotFoundErr) {
        nats->has_bucket = false; // it was removed: the next one makes it again
    }
    natsMsg_Destroy(message);
}

// The newest sequence of the whole stream, by its leader. @return False when it does not answer.
static bool find_last_sequence(ph_nats* nats, int64_t left_ms, uint64_t* sequence)
{
    char stream[PATH_MAX_BYTES];
    snprintf(stream, sizeof stream, "KV_%s", nats->bucket);
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = left_ms;
    jsStreamInfo* info = NULL;
    const natsStatus status = js_GetStreamInfo(&info, nats->records, stream, &options, NULL);
    if (status == NATS_OK) {
        *sequence = info->State.LastSeq;
    }
    jsStreamInfo_Destroy(info);
    return status == NATS_OK;
}

// One try. @return Whether the server says that a sequence was the wrong one.
static bool publish_record(ph_nats* nats, ph_nats_question* q, const char* path,
                           jsPubOptions* options)
{
    jsPubAck* ack = NULL;
    jsErrCode code = 0;
    const natsStatus status =
        js_Publish(&ack, nats->records, path, q->bytes, (int)q->size, options, &code);
    if (status == NATS_OK && ack != NULL) {
        q->outcome = PH_BUS_DONE;
        q->revision = ack->Sequence;
    } else if (status == NATS_MAX_PAYLOAD) {
        ph_nats_tell(nats, "the record %s has %zu bytes, more than the server takes", q->key,
                     q->size);
    } else if (code != 0 && code != JSStreamWrongLastSequenceErr) {
        ph_nats_tell(nats, "the record %s cannot be changed: JetStream error %d", q->key,
                     (int)code);
    }
    jsPubAck_Destroy(ack);
    return code == JSStreamWrongLastSequenceErr;
}

// Whether the record has another revision than the one expected, which the same error says as a change of any other.
static bool is_conflict(ph_nats* nats, const ph_nats_question* q, int64_t left_ms)
{
    ph_nats_question now = {.expected = q->expected};
    memcpy(now.key, q->key, sizeof now.key);
    ask_read(nats, &now, left_ms);
    ph_release(&MEMORY, now.bytes, now.size);
    return now.outcome == PH_BUS_DONE && now.revision != q->expected;
}

// Servers with replicas check the revision of a subject before they replicate a message, and not again when they store
// it: of two swaps at the same time both succeed (nats-server issue 4320: 249 of 300 times with 2.9.10, and newer ones
// when the leader changes). What they do check when they store it is the newest sequence of the whole stream. So a swap
// expects that, too, and is tried again when it was only another record that had changed.
static void ask_swap(ph_nats* nats, ph_nats_question* q)
{
    char path[PATH_MAX_BYTES];
    path_of(nats, q->key, path);
    for (int64_t left_ms; (left_ms = left_of(q)) > 0;) {
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = left_ms;
        options.ExpectLastSubjectSeq = q->expected;
        options.ExpectNoMessage = q->expected == 0; // is checked when it is stored
        if (q->expected != 0 && !find_last_sequence(nats, left_ms, &options.ExpectLastSeq)) {
            return;
        }
        options.MaxWait = left_of(q);
        if (options.MaxWait <= 0 || !publish_record(nats, q, path, &options)) {
            return;
        }
        left_ms = left_of(q);
        if (left_ms > 0 && is_conflict(nats, q, left_ms)) {
            q->outcome = PH_BUS_CONFLICT;
            return;
        }
    }
}

static void ask(ph_nats* nats, ph_nats_question* q)
{
    q->outcome = PH_BUS_UNKNOWN;
    if (is_connected(nats) && have_bucket(nats)) {
        const int64_t left_ms = left_of(q);
        if (q->is_swap) {
            ask_swap(nats, q);
        } else if (left_ms > 0) {
            ask_read(nats, q, left_ms);
        }
    }
}

static void* run_records(void* argument)
{
    ph_nats* nats = argument;
    pthread_mutex_lock(&nats->records_mutex);
    for (;;) {
        ph_nats_question* q;
        while ((q = pop(&nats->questions)) == NULL && !nats->are_records_over) {
            pthread_cond_wait(&nats->records_wake, &nats->records_mutex);
        }
        if (nats->are_records_over) {
            pthread_mutex_unlock(&nats->records_mutex);
            release_question(q);
            return NULL;
        }
        pthread_mutex_unlock(&nats->records_mutex);
        ask(nats, q);
        pthread_mutex_lock(&nats->records_mutex);
        push(&nats->answers, q);
    }
}

bool ph_nats_start_records(ph_nats* nats)
{
    nats->has_records_thread = pthread_create(&nats->records_thread, NULL, run_records, nats) == 0;
    return nats->has_records_thread;
}

void ph_nats_stop_records(ph_nats* nats)
{
    if (nats->has_records_thread) {
        pthread_mutex_lock(&nats->records_mutex);
        nats->are_records_over = true;
        pthread_cond_signal(&nats->records_wake);
        pthread_mutex_unlock(&nats->records_mutex);
        pthread_join(nats->records_thread, NULL);
    }
}

void ph_nats_destroy_records(ph_nats* nats)
{
    for (ph_nats_question* q; (q = pop(&nats->questions)) != NULL;) {
        release_question(q);
    }
    for (ph_nats_question* q; (q = pop(&nats->answers)) != NULL;) {
        release_question(q);
    }
    release_question(nats->taken_answer);
    nats->taken_answer = NULL;
}

// ---- the owner's side ------------------------------------------------------------------------------

// Tokens of letters, digits, '-', '_', '/' and '=', as in every bucket.
static bool is_key(const char* key)
{
    size_t size;
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/=.";
    return ph_nats_is_subject(key, false, &size) && strspn(key, allowed) + 1 == size;
}

static ph_nats_question* make_question(const void* bytes, size_t size)
{
    ph_nats_question* q = ph_allocate_zeroed(&MEMORY, sizeof *q);
    if (q == NULL) {
        return NULL;
    }
    if (size > 0) {
        q->bytes = ph_allocate(&MEMORY, size);
        if (q->bytes == NULL) {
            ph_release(&MEMORY, q, sizeof *q);
            return NULL;
        }
        memcpy(q->bytes, bytes, size);
        q->size = size;
    }
    q->asked_ms = ph_nats_now_ms();
    q->outcome = PH_BUS_UNKNOWN;
    return q;
}

// A question that cannot be asked, and one too many, is answered at once: its outcome is unknown.
static void hand_over(ph_nats* nats, ph_nats_question* q, const char* key, const ph_check* call)
{
    if (q == NULL) {
        ph_fail_memory(call);
        return;
    }
    const bool is_right = is_key(key);
    if (is_right) {
        memcpy(q->key, key, strlen(key) + 1);
    } else {
        ph_fail(call, PH_ERROR_ARGUMENT, NULL,
                "'%.60s' is no key; it must be tokens of A-Z, a-z, 0-9, '-', '_', '/' and '=' with "
                "dots between them",
                key);
    }
    pthread_mutex_lock(&nats->records_mutex);
    if (is_right && nats->questions.count < QUESTIONS_MAX) {
        push(&nats->questions, q);
        pthread_cond_signal(&nats->records_wake);
    } else {
        push(&nats->answers, q);
    }
    pthread_mutex_unlock(&nats->records_mutex);
}

void ph_nats_read(void* context, const char* key, uint64_t ticket)
{
    ph_nats* nats = context;
    const ph_check call = ph_nats_call(nats, "read");
    ph_nats_question* q = make_question(NULL, 0);
    if (q != NULL) {
        q->ticket = ticket;
    }
    hand_over(nats, q, key, &call);
}

void ph_nats_swap(void* context, const char* key, uint64_t revision, const void* bytes, size_t size,
                  uint64_t ticket)
{
    ph_nats* nats = context;
    const ph_check call = ph_nats_call(nats, "swap");
    ph_nats_question* q = make_question(bytes, size);
    if (q != NULL) {
        q->ticket = ticket;
        q->is_swap = true;
        q->expected = revision;
    }
    hand_over(nats, q, key, &call);
}

bool ph_nats_next_answer(void* context, ph_bus_answer* answer)
{
    ph_nats* nats = context;
    release_question(nats->taken_answer);
    ph_nats_tell_owner(nats);
    pthread_mutex_lock(&nats->records_mutex);
    const ph_nats_question* q = nats->taken_answer = pop(&nats->answers);
    pthread_mutex_unlock(&nats->records_mutex);
    if (q == NULL) {
        return false;
    }
    *answer = (ph_bus_answer){.ticket = q->ticket, .outcome = q->outcome};
    if (q->outcome == PH_BUS_DONE) {
        answer->revision = q->revision;
        answer->bytes = q->is_swap ? NULL : q->bytes;
        answer->size = q->is_swap ? 0 : q->size;
    }
    return true;
}
