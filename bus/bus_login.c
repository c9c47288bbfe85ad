// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Wishes of a login that wait for the answer of a director: each has a number that comes back with it. Two directors
// answer both, and one that was asked again answers again: the first answer counts.
//
// A few times for each player that comes, and a pass over what waits in each ph_bus_login_next().

#include "base/allocator.h"
#include "base/check.h"
#include "bus/bus_wire.h"

#include <pinhole/bus/bus_login.h>

#include <string.h>

#define LOGIN_COOKIE UINT32_C(0x70684C31)
// A director that finds no sim that has the entity answers after 400 ms.
#define WISH_AGAIN_US UINT64_C(1000000)

// A wish that waits.
typedef struct login_wish {
    ph_bus_wish wish;
    uint32_t number;
    uint64_t since_us;
    uint64_t asked_us;
} login_wish;

struct ph_bus_login {
    ph_bus_login_def def;
    char world_name[PH_BUS_NAME_SIZE];
    char name[PH_BUS_NAME_SIZE];
    uint64_t subscription;
    login_wish* waiting;
    uint32_t number; // of the last wish
    bus_grant grant; // that was given out last
    bus_writer writer;
    ph_bus_login_stats stats;
};

// ---- life

ph_bus_login_def ph_bus_login_def_default(void)
{
    return (ph_bus_login_def){.capacity = 1024, .answer_ms = 5000, .cookie = LOGIN_COOKIE};
}

static ph_result check_def(const ph_bus_login_def* def)
{
    const ph_bus_transport* t = &def->transport;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_bus_login_create");
    ph_check_made(&check, def->cookie == LOGIN_COOKIE, "ph_bus_login_def");
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_check_that(&check,
                  t->publish != NULL && t->subscribe != NULL && t->unsubscribe != NULL &&
                      t->next != NULL,
                  "ph_bus_login_def.transport", "not whole", "one with all its functions");
    ph_check_that(&check, def->world_name != NULL && bus_is_name(def->world_name),
                  "ph_bus_login_def.world_name", "no name", "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_that(&check, def->name != NULL && bus_is_name(def->name), "ph_bus_login_def.name",
                  "no name", "1..31 of A-Z, a-z, 0-9, '-' and '_'");
    ph_check_range(&check, "ph_bus_login_def.capacity", def->capacity, 1, 65536);
    ph_check_range(&check, "ph_bus_login_def.answer_ms", def->answer_ms, 500, 600000);
    return check.result;
}

ph_result ph_bus_login_create(const ph_bus_login_def* def, ph_bus_login** login)
{
    *login = NULL;
    const ph_result result = check_def(def);
    if (result != PH_OK) {
        return result;
    }
    const ph_check call = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_bus_login* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&call);
    }
    made->def = *def;
    memcpy(made->world_name, def->world_name, strlen(def->world_name) + 1);
    memcpy(made->name, def->name, strlen(def->name) + 1);
    made->def.world_name = made->world_name;
    made->def.name = made->name;
    bus_writer_init(&made->writer, &made->def.allocator);
    made->waiting =
        ph_allocate_array(&def->allocator, (size_t)def->capacity, sizeof *made->waiting);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, made->world_name, made->name);
    made->subscription = def->transport.subscribe(def->transport.context, subject);
    if (made->waiting == NULL || made->subscription == 0) {
        ph_bus_login_destroy(made);
        return ph_fail_memory(&call);
    }
    *login = made;
    return PH_OK;
}

void ph_bus_login_destroy(ph_bus_login* login)
{
    if (login == NULL) {
        return;
    }
    const ph_allocator allocator = login->def.allocator;
    login->def.transport.unsubscribe(login->def.transport.context, login->subscription);
    bus_writer_destroy(&login->writer);
    ph_release_array(&allocator, login->waiting, (size_t)login->def.capacity,
                     sizeof *login->waiting);
    ph_release(&allocator, login, sizeof *login);
}

// ---- wishes

static void ask(ph_bus_login* login, login_wish* it, uint64_t now_us)
{
    const ph_bus_transport* transport = &login->def.transport;
    bus_wish message = {
        .client_id = it->wish.client_id,
        .key = it->wish.key,
        .is_spare = it->wish.is_spare,
        .token_count = 1 + it->wish.spare_count,
        .number = it->number,
    };
    memcpy(message.reply_to, login->name, sizeof message.reply_to);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "wish", login->world_name);
    bus_writer_clear(&login->writer);
    it->asked_us = now_us;
    if (bus_write_wish(&login->writer, &message)) {
        // One that is lost is repeated.
        (void)transport->publish(transport->context, subject, login->writer.bytes,
                                 login->writer.size);
    }
}

ph_result ph_bus_login_wish(ph_bus_login* login, const ph_bus_wish* wish, uint64_t now_us)
{
    const ph_check call =
        ph_check_begin(login->def.on_error, login->def.on_error_context, __func__);
    if (wish->spare_count < 0 || wish->spare_count > PH_BUS_SPARES_MAX) {
        return ph_fail(&call, PH_ERROR_ARGUMENT, "ph_bus_wish.spare_count",
                       "is %d; it must be 0..%d", wish->spare_count, PH_BUS_SPARES_MAX);
    }
    int at = 0;
    while (at < login->stats.waiting && login->waiting[at].wish.client_id != wish->client_id) {
        ++at;
    }
    if (at == login->def.capacity) {
        return PH_ERROR_FULL;
    }
    login->stats.waiting += at == login->stats.waiting;
    login->waiting[at] = (login_wish){.wish = *wish, .number = ++login->number, .since_us = now_us};
    ++login->stats.wishes;
    ask(login, &login->waiting[at], now_us);
    return PH_OK;
}

static void forget(ph_bus_login* login, int at)
{
    login->waiting[at] = login->waiting[--login->stats.waiting];
}

// ---- answers

// @return Whether it answers a wish that waits, which is forgotten then.
static bool take_grant(ph_bus_login* login, const ph_bus_message* message)
{
    bus_kind kind;
    ph_bus_refusal refusal;
    if (!bus_read_kind(message->bytes, message->size, &kind, &refusal)) {
        ++login->stats.refused[refusal];
        return false;
    }
    if (kind != BUS_GRANT) {
        ++login->stats.refused[PH_BUS_REFUSAL_KIND];
        return false;
    }
    if (!bus_read_grant(&login->grant, message->bytes, message->size, &refusal)) {
        ++login->stats.refused[refusal];
        return false;
    }
    for (int i = 0; i < login->stats.waiting; ++i) {
        const login_wish* it = &login->waiting[i];
        if (it->number == login->grant.number && it->wish.client_id == login->grant.client_id &&
            login->grant.token_count <= 1 + it->wish.spare_count) {
            forget(login, i);
            return true;
        }
    }
    ++login->stats.refused[PH_BUS_REFUSAL_UNASKED];
    return false;
}

static bool find_unanswered(ph_bus_login* login, uint64_t now_us, ph_bus_grant* grant)
{
    for (int i = login->stats.waiting - 1; i >= 0; --i) {
        login_wish* it = &login->waiting[i];
        if (now_us - it->since_us >= (uint64_t)login->def.answer_ms * 1000) {
            *grant = (ph_bus_grant){.client_id = it->wish.client_id, .text = "no director answers"};
            ++login->stats.unanswered;
            forget(login, i);
            return true;
        }
        if (now_us - it->asked_us >= WISH_AGAIN_US) {
            ask(login, it, now_us);
        }
    }
    return false;
}

bool ph_bus_login_next(ph_bus_login* login, uint64_t now_us, ph_bus_grant* grant)
{
    const ph_bus_transport* transport = &login->def.transport;
    ph_bus_message message;
    *grant = (ph_bus_grant){.text = ""};
    while (transport->next(transport->context, &message)) {
        if (take_grant(login, &message)) {
            const bus_grant* taken = &login->grant;
            *grant = (ph_bus_grant){.client_id = taken->client_id,
                                    .token_count = taken->token_count,
                                    .tokens = taken->token_count > 0 ? taken->tokens : NULL,
                                    .text = taken->token_count > 0 ? "" : taken->text};
            ++*(taken->token_count > 0 ? &login->stats.granted : &login->stats.denied);
            return true;
        }
    }
    return find_unanswered(login, now_us, grant);
}

ph_bus_login_stats ph_bus_login_get_stats(const ph_bus_login* login)
{
    return login->stats;
}
