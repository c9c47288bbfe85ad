// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per connection; nothing allocates but the opening.

#include "net/host_admission.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/host_state.h"

#include <stdio.h>
#include <string.h>

enum {
    SILENCE_US = 2000000,      // without getting on
    DIFFERS_MAX_US = 10000000, // however well it gets on
    REFUSALS = 3,
    REFUSAL_EVERY_US = 50000,
    SENTENCE_US = 1000000, // then the budget is too small for the sentence
};

// ---- opening

ph_result ph_host_admissions_create(ph_host_admissions* admissions, const ph_host_def* def)
{
    const ph_world_def* world = ph_world_get_def(def->world);
    const size_t schema_size = ph_schema_print_wire(world->schema, NULL, 0);
    const size_t room = (size_t)def->client_capacity;
    *admissions = (ph_host_admissions){
        .by_client = ph_allocate_zeroed(&def->allocator, room * sizeof *admissions->by_client),
        .capacity = def->client_capacity,
        .schema_text = ph_allocate_zeroed(&def->allocator, schema_size + 1),
        .schema_size = schema_size,
        .has_ground = ph_admission_uses_ground(world->schema, &world->ground),
        .allocator = def->allocator,
    };
    if (admissions->by_client == NULL || admissions->schema_text == NULL) {
        ph_host_admissions_destroy(admissions);
        return PH_ERROR_MEMORY;
    }
    ph_schema_print_wire(world->schema, admissions->schema_text, schema_size + 1);
    return PH_OK;
}

void ph_host_admissions_destroy(ph_host_admissions* admissions)
{
    const ph_allocator allocator = admissions->allocator;
    ph_release(&allocator, admissions->by_client,
               (size_t)admissions->capacity * sizeof *admissions->by_client);
    ph_release(&allocator, admissions->schema_text, admissions->schema_size + 1);
    *admissions = (ph_host_admissions){0};
}

// ---- judging

static ph_host_admission* at(const ph_host* host, int client)
{
    return &host->admissions.by_client[client];
}

static void set_state(const ph_host* host, int client, ph_host_admission_state state,
                      uint64_t now_us)
{
    ph_host_admission* it = at(host, client);
    ph_host_turn* turn = &host->sessions.turns[client];
    if (it->state != state) {
        it->state = state;
        it->since_us = now_us;
        it->newest_us = now_us;
    }
    turn->is_view_held = state > PH_HOST_ADMISSION_JOINED;
    turn->has_admission = true;
}

static void keep_reason(ph_host_admission* it, uint8_t code, const uint8_t* bytes, size_t size)
{
    it->code = code;
    memcpy(it->text, bytes, size);
    it->text[size] = '\0';
}

void ph_host_admission_refuse(const ph_host* host, int client, uint64_t now_us, ph_refusal reason,
                              const char* text)
{
    ph_host_admission* it = at(host, client);
    if (it->state == PH_HOST_ADMISSION_REFUSED) {
        return;
    }
    uint8_t bytes[PH_REFUSAL_TEXT_MAX];
    keep_reason(it, (uint8_t)reason, bytes, ph_admission_sentence(text, bytes));
    set_state(host, client, PH_HOST_ADMISSION_REFUSED, now_us);
    it->refusals_left = REFUSALS;
    it->newest_us = 0;
    it->is_welcome_due = false;
    it->is_piece_due = false;
}

size_t ph_host_admission_write_refusal(const ph_host* host, int client, const char* text,
                                       uint8_t bytes[PH_ADMISSION_SIZE_MAX])
{
    uint8_t sentence[PH_REFUSAL_TEXT_MAX];
    const ph_admission refusal = {
        .kind = PH_ADMISSION_REFUSAL,
        .code = PH_REFUSAL_GAME,
        .bytes = sentence,
        .size = ph_admission_sentence(text, sentence),
    };
    keep_reason(at(host, client), refusal.code, sentence, refusal.size);
    return ph_admission_write(&refusal, bytes);
}

static uint8_t wire_version_of(const ph_world_def* world)
{
    return world->profile == PH_PROFILE_CLASSIC ? PH_WIRE_VERSION_CLASSIC : PH_WIRE_VERSION_PINHOLE;
}

static bool is_continued(const ph_host* host, int client)
{
    return ph_messages_is_continued(host->sessions.by_client[client].messages);
}

static ph_admission welcome(const ph_host* host, int client)
{
    const ph_world_def* world = ph_world_get_def(host->def.world);
    const ph_viewer_id viewer = host->sessions.by_client[client].viewer;
    return (ph_admission){
        .kind = PH_ADMISSION_WELCOME,
        .version = PH_ADMISSION_VERSION,
        .has_ground = host->admissions.has_ground,
        .continues = at(host, client)->join.continues && is_continued(host, client),
        .slots = (uint16_t)ph_viewer_slot_count(host->def.world, viewer),
        .fingerprint = ph_schema_fingerprint(world->schema),
        .wire_version = wire_version_of(world),
        .tick_us = world->tick_us,
        .schema_size = (uint32_t)host->admissions.schema_size,
    };
}

static bool is_schema_other(const ph_host* host, const ph_host_admission* it)
{
    const ph_schema* schema = ph_world_get_def(host->def.world)->schema;
    return it->join.fingerprint != ph_schema_fingerprint(schema);
}

// A join is there, and a session.
static void judge(const ph_host* host, int client, uint64_t now_us)
{
    ph_host_admission* it = at(host, client);
    if (it->state >= PH_HOST_ADMISSION_LEAVING) {
        return;
    }
    char text[PH_REFUSAL_TEXT_MAX + 1];
    const ph_admission offer = welcome(host, client);
    const ph_refusal fault = ph_admission_find_misfit(&it->join, &offer, text);
    if (fault != PH_REFUSAL_NONE) {
        ph_host_admission_refuse(host, client, now_us, fault, text);
        return;
    }
    if (is_continued(host, client) && !it->join.continues) {
        ph_host_admission_refuse(host, client, now_us, PH_REFUSAL_GAME,
                                 "the server has the messages of a connection before, and the "
                                 "client begins anew: ph_messages_import() is for clients that "
                                 "come by a spare token");
        return;
    }
    set_state(host, client,
              is_schema_other(host, it) ? PH_HOST_ADMISSION_DIFFERS : PH_HOST_ADMISSION_JOINED,
              now_us);
    it->is_welcome_due = true;
}

// ---- what comes

static void take_refusal(const ph_host* host, int client, bool is_admitted,
                         const ph_admission* refusal, uint64_t now_us)
{
    ph_host_admission* it = at(host, client);
    if (it->code != PH_REFUSAL_NONE) {
        return; // the first one counts
    }
    keep_reason(it, refusal->code, refusal->bytes, refusal->size);
    if (is_admitted) {
        set_state(host, client, PH_HOST_ADMISSION_LEAVING, now_us);
    }
}

// @return False for what no client of ours sends now.
static bool take_ask(const ph_host* host, int client, uint32_t offset, uint64_t now_us)
{
    ph_host_admission* it = at(host, client);
    if (it->state == PH_HOST_ADMISSION_LEAVING || it->state == PH_HOST_ADMISSION_REFUSED) {
        return true; // sent before the client knew
    }
    if (it->state != PH_HOST_ADMISSION_DIFFERS || offset >= host->admissions.schema_size) {
        return false;
    }
    if (offset != it->asked_offset) {
        it->newest_us = now_us; // it gets on
    }
    it->asked_offset = offset;
    it->is_piece_due = true;
    host->sessions.turns[client].has_admission = true;
    return true;
}

static bool take(const ph_host* host, int client, const ph_net_payload* payload, uint64_t now_us)
{
    const bool is_admitted = ph_host_sessions_find(&host->sessions, client) != NULL;
    ph_admission admission;
    if (!ph_admission_read(payload->bytes, payload->size, &admission)) {
        return false;
    }
    switch (admission.kind) {
    case PH_ADMISSION_JOIN:
        at(host, client)->join = admission;
        if (is_admitted) {
            judge(host, client, now_us);
        }
        return true;
    case PH_ADMISSION_ASK:
        return take_ask(host, client, admission.offset, now_us);
    case PH_ADMISSION_REFUSAL:
        take_refusal(host, client, is_admitted, &admission, now_us);
        return true;
    case PH_ADMISSION_HAVE:
    case PH_ADMISSION_PROBE:
        return is_admitted && ph_host_spares_take(host, client, &admission);
    case PH_ADMISSION_WELCOME:
    case PH_ADMISSION_PIECE:
    case PH_ADMISSION_SPARE:
    case PH_ADMISSION_ANSWER:
        break;
    }
    return false; // the wrong direction
}

void ph_host_admission_take(const ph_host* host, const ph_net_payload* payload, uint64_t now_us)
{
    if (take(host, payload->client, payload, now_us)) {
        return;
    }
    ph_host_session* session = ph_host_sessions_find(&host->sessions, payload->client);
    ++*(session != NULL ? &session->strange_payloads
                        : &at(host, payload->client)->strange_payloads);
}

void ph_host_admission_begin(ph_host* host, int client, uint64_t now_us)
{
    ph_host_admission* it = at(host, client);
    host->sessions.by_client[client].strange_payloads += it->strange_payloads;
    it->strange_payloads = 0;
    if (it->code != PH_REFUSAL_NONE) {
        set_state(host, client, PH_HOST_ADMISSION_LEAVING, now_us); // said so before
    } else if (it->join.kind == PH_ADMISSION_JOIN) {
        judge(host, client, now_us);
    }
}

// ---- what goes

static bool next_refusal(const ph_host_admission* it, uint64_t now_us, ph_admission* admission)
{
    if (it->refusals_left == 0 || now_us < it->newest_us + REFUSAL_EVERY_US) {
        return false;
    }
    const bool is_too_poor = it->refusals_left == REFUSALS && now_us > it->since_us + SENTENCE_US;
    *admission = (ph_admission){
        .kind = PH_ADMISSION_REFUSAL,
        .code = it->code,
        .bytes = (const uint8_t*)it->text,
        .size = is_too_poor ? 0 : strlen(it->text),
    };
    return true;
}

bool ph_host_admission_next(const ph_host* host, int client, uint64_t now_us, int piece_max,
                            ph_admission* admission)
{
    const ph_host_admission* it = at(host, client);
    const ph_host_admissions* all = &host->admissions;
    if (it->state == PH_HOST_ADMISSION_REFUSED) {
        return next_refusal(it, now_us, admission);
    }
    if (it->is_welcome_due) {
        *admission = welcome(host, client);
        return true;
    }
    if (it->is_piece_due) {
        const size_t left = all->schema_size - it->asked_offset;
        *admission = (ph_admission){
            .kind = PH_ADMISSION_PIECE,
            .offset = it->asked_offset,
            .bytes = (const uint8_t*)all->schema_text + it->asked_offset,
            .size = left < (size_t)piece_max ? left : (size_t)piece_max,
        };
        return true;
    }
    return false;
}

void ph_host_admission_sent(const ph_host* host, int client, uint64_t now_us,
                            ph_admission_kind kind)
{
    ph_host_admission* it = at(host, client);
    switch (kind) {
    case PH_ADMISSION_WELCOME:
        it->is_welcome_due = false;
        break;
    case PH_ADMISSION_PIECE:
        it->is_piece_due = false;
        break;
    default:
        --it->refusals_left;
        it->newest_us = now_us;
        break;
    }
    host->sessions.turns[client].has_admission =
        it->is_welcome_due || it->is_piece_due || it->refusals_left > 0;
}

// ---- time, and the end

void ph_host_admission_tick(ph_host* host, int client, uint64_t now_us)
{
    const ph_host_admission* it = at(host, client);
    const bool is_silent = now_us >= it->newest_us + SILENCE_US;
    switch (it->state) {
    case PH_HOST_ADMISSION_DIFFERS:
        if (is_silent || now_us >= it->since_us + DIFFERS_MAX_US) {
            char text[PH_REFUSAL_TEXT_MAX + 1];
            ph_admission_print_fingerprints(
                ph_schema_fingerprint(ph_world_get_def(host->def.world)->schema),
                it->join.fingerprint, text);
            ph_host_admission_refuse(host, client, now_us, PH_REFUSAL_SCHEMA, text);
        }
        break;
    case PH_HOST_ADMISSION_LEAVING:
        if (is_silent) {
            ph_net_server_disconnect(host->server, client);
        }
        break;
    case PH_HOST_ADMISSION_REFUSED:
        if (it->refusals_left == 0 || now_us >= it->since_us + SILENCE_US) {
            ph_net_server_disconnect(host->server, client);
        }
        break;
    default:
        break;
    }
}

void ph_host_admission_take_over(const ph_host* host, int client)
{
    static const char text[] = "taken over: the same client id has connected anew";
    ph_host_admission* it = at(host, client);
    if (it->code == PH_REFUSAL_NONE) {
        keep_reason(it, PH_REFUSAL_TAKEN_OVER, (const uint8_t*)text, sizeof text - 1);
    }
}

const char* ph_host_admission_end(ph_host* host, int client)
{
    ph_host_admissions* all = &host->admissions;
    ph_host_admission* it = at(host, client);
    memcpy(all->ended_text, it->text, sizeof all->ended_text);
    if (it->code != PH_REFUSAL_NONE) {
        ++all->refused[ph_admission_refusal(it->code)];
        if (it->text[0] == '\0') {
            snprintf(all->ended_text, sizeof all->ended_text, "refused: %s",
                     ph_refusal_name(ph_admission_refusal(it->code)));
        }
    }
    host->sessions.ended.refused_payloads += it->strange_payloads;
    *it = (ph_host_admission){0};
    return all->ended_text;
}
