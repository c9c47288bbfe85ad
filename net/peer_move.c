// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client that does not notice that its server has died, or is emptied. Nothing but a comparison per tick as long as
// all is well.
//
//   silence ──▶ probes ──▶ suspicion ─┐                       the old server speaks: a false alarm
//                                     ├─▶ request ──▶ response ──▶ join ──▶ welcome: the view and messages go on there
//   the server asks us to go ─────────┘  └──▶ the next spare
//
// Until the welcome the old server's view is shown, and everything goes on with it, if it is alive. Up to the response
// the other server knows nothing of us: so a false alarm leaves no trace. From then on it has us, and we go there
// though the old one may speak again: two servers never believe to have one player for longer than that.

#include "net/peer_state.h"

#include "net/wire_meter.h"
#include "tools/tools.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
    // Five probes, of which any answer will do: with 5 % of loss either way all of them fail once in 100,000 silences.
    // The first one alone where the server is quiet: mostly that is enough. Of one that speaks more often than
    // BUSY_SHARE of the time until suspicion, a silence is news, and the others follow at once.
    PROBES = 5,
    BUSY_SHARE = 3,
    PROBE_US = 20000,
    SOON_US = 30000,   // on top of a round trip: an answer to the first one is here by then, mostly
    ANSWER_US = 60000, // the same: now the answer to the last one counts as missing
    UNKNOWN_RTT_US = 100000,
    ATTEMPT_US = 1000000,       // for a server that does not answer, when there is another spare
    ATTEMPT_ASKED_US = 2000000, // the same; the one that has sent us on serves us, and asks again
    WELCOME_US = 4000000,       // for a server that lets us in and does not welcome us
    // From its welcome to its first packet; longer while the one before goes on.
    VIEW_US = 200000,
    VIEW_ASKED_US = 1000000,
    REST_US = 2000000, // a server cannot make us go more often
    JOIN_EVERY_US = 100000,
};

// ---- the end of one that is under way

// The other server is told, if it knows of us.
static void drop_other(ph_peer* peer)
{
    ph_peer_link_close(peer->other);
    peer->move.is_under_way = false;
    peer->early_count = 0;
}

void ph_peer_move_reset(ph_peer* peer)
{
    drop_other(peer);
    ph_peer_spares_reset(peer);
    peer->move.is_link_dead = false;
    peer->move.wanted = -1;
}

static void fail(ph_peer* peer)
{
    ++peer->move.failures;
    drop_other(peer);
}

// ---- the beginning

// @return Whether one is under way.
static bool begin(ph_peer* peer, int spare, bool is_asked)
{
    uint8_t token[PH_TOKEN_SIZE];
    memcpy(token, peer->spares.all[spare].token, sizeof token);
    peer->move.order = peer->spares.all[spare].order;
    ph_peer_spares_drop(peer, spare); // each is used once, whatever comes of it
    ph_peer_move* move = &peer->move;
    move->is_under_way = true;
    move->is_asked = is_asked;
    move->begun_us = peer->now_us;
    move->joined_us = 0;
    move->joining_us = 0;
    move->welcome = (ph_admission){0};
    move->has_view = false;
    move->wanted = -1;
    const ph_result result = ph_peer_link_connect(peer, peer->other, token, 0);
    sodium_memzero(token, sizeof token);
    if (result != PH_OK) {
        fail(peer);
    }
    return result == PH_OK;
}

static bool try_next(ph_peer* peer, bool is_asked)
{
    for (int spare = ph_peer_spares_next(peer); spare >= 0; spare = ph_peer_spares_next(peer)) {
        if (begin(peer, spare, is_asked)) {
            return true;
        }
    }
    return false;
}

// ---- suspicion

static uint64_t rtt_us(const ph_peer* peer)
{
    const double rtt_ms = ph_client_get_stats(peer->view).rtt_ms;
    return rtt_ms > 0.0 ? (uint64_t)(rtt_ms * 1000.0) : UNKNOWN_RTT_US;
}

static void send_probe(ph_peer* peer)
{
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    ph_peer_say(peer, bytes,
                ph_admission_write(&(ph_admission){.kind = PH_ADMISSION_PROBE}, bytes));
    peer->move.probed_us = peer->now_us;
    ++peer->move.probes;
    ++peer->move.probes_sent;
}

// A program that ticks seldom sends several at once.
static void probe(ph_peer* peer)
{
    ph_peer_move* move = &peer->move;
    if (move->probes == 0) {
        // Behind an answer to a probe it was quiet before.
        const bool is_busy =
            peer->link->pause_us * BUSY_SHARE < (uint64_t)peer->def.suspect_ms * 1000 &&
            peer->link->talked_us == peer->link->heard_us;
        send_probe(peer);
        move->next_probe_us = peer->now_us + (is_busy ? PROBE_US : rtt_us(peer) + SOON_US);
    }
    for (; move->probes < PROBES && peer->now_us >= move->next_probe_us;
         move->next_probe_us += PROBE_US) {
        send_probe(peer);
    }
}

static bool is_suspect(ph_peer* peer)
{
    const uint64_t suspect_us = (uint64_t)peer->def.suspect_ms * 1000;
    const uint64_t silence_us = peer->now_us - peer->link->heard_us;
    if (suspect_us == 0 || silence_us < suspect_us / 2 || ph_peer_spares_next(peer) < 0) {
        peer->move.probes = 0;
        return false;
    }
    probe(peer);
    return silence_us >= suspect_us && peer->move.probes == PROBES &&
           peer->now_us >= peer->move.probed_us + rtt_us(peer) + ANSWER_US;
}

// ---- taking over

static ph_result take_view(ph_peer* peer, const ph_admission* welcome)
{
    return ph_client_move(peer->view,
                          welcome->wire_version == PH_WIRE_VERSION_CLASSIC ? PH_PROFILE_CLASSIC
                                                                           : PH_PROFILE_PINHOLE,
                          welcome->slots);
}

// fresh: NULL if those of the connection before go on.
static void take_messages(ph_peer* peer, ph_messages* fresh)
{
    if (fresh == NULL) {
        ph_messages_continue(peer->messages);
        return;
    }
    ph_messages_destroy(peer->messages);
    peer->messages = fresh;
    peer->input_number = 0;
    ph_peer_reset_bulk(peer);
}

static void tell(ph_peer* peer, const ph_address* from, const ph_address* to, bool is_continued)
{
    char old_text[PH_ADDRESS_TEXT_MAX];
    char new_text[PH_ADDRESS_TEXT_MAX];
    ph_address_print(from, old_text);
    ph_address_print(to, new_text);
    peer->is_moved_due = true;
    peer->moved = (ph_peer_event){.kind = PH_PEER_MOVED, .is_continued = is_continued};
    if (peer->move.is_asked) {
        snprintf(peer->moved_text, sizeof peer->moved_text, "%s has sent us on to %s", old_text,
                 new_text);
    } else {
        snprintf(peer->moved_text, sizeof peer->moved_text,
                 "%s has not answered for %d ms; %s goes on", old_text,
                 (int)((peer->now_us - peer->link->heard_us) / 1000), new_text);
    }
}

static void count_anew(ph_peer* peer)
{
    peer->net_start = ph_net_client_get_stats(peer->link->net);
    peer->rate_start = peer->net_start;
    peer->rate_us = peer->now_us;
    const ph_address server = ph_net_client_server(peer->link->net);
    peer->header_bytes =
        server.kind == PH_ADDRESS_IPV6 ? PH_WIRE_HEADERS_IPV6 : PH_WIRE_HEADERS_IPV4;
}

// What came before the welcome.
static void take_early(ph_peer* peer)
{
    const int count = peer->early_count;
    peer->early_count = 0;
    for (int i = 0; i < count && peer->state == PH_PEER_STATE_JOINED; ++i) {
        ph_peer_take_payload(peer, peer->early[i].bytes, peer->early[i].size);
    }
}

static void take_over(ph_peer* peer, const ph_admission* welcome)
{
    ph_messages* fresh = NULL;
    if ((!welcome->continues && ph_peer_create_messages(peer, &fresh) != PH_OK) ||
        take_view(peer, welcome) != PH_OK) {
        ph_messages_destroy(fresh);
        fail(peer); // no memory
        return;
    }
    take_messages(peer, fresh);
    const ph_address from = ph_net_client_server(peer->link->net);
    const ph_address to = ph_net_client_server(peer->other->net);
    ph_peer_link* former = peer->link;
    tell(peer, &from, &to, welcome->continues);
    peer->move.silent_us = former->heard_us;
    peer->link = peer->other;
    peer->other = former;
    ph_peer_link_close(former);
    peer->move.is_under_way = false;
    peer->move.is_link_dead = false;
    peer->move.wanted = -1; // that was the one before
    ph_peer_spares_drop_for(peer, &to);
    peer->move.moved_us = peer->now_us;
    peer->move.probes = 0;
    ++peer->move.moves;
    peer->welcome = *welcome;
    peer->spares.coming = (ph_peer_coming){0}; // the rest of it does not come
    peer->spares.haves_due = 1 + (ph_peer_spare_count(peer) > 0 ? 2 : 0);
    peer->is_answer_due = true;
    count_anew(peer);
    take_early(peer);
}

void ph_peer_move_note_packet(ph_peer* peer)
{
    if (peer->move.silent_us != 0) {
        peer->move.interrupted_ms = (uint32_t)((peer->now_us - peer->move.silent_us) / 1000);
        peer->move.silent_us = 0;
    }
}

// ---- what the other server says

static ph_admission join_again(const ph_peer* peer)
{
    ph_admission join = ph_peer_join(peer);
    join.continues = true;
    return join;
}

static void take_admission(ph_peer* peer, const ph_admission* admission)
{
    char text[PH_ERROR_TEXT_SIZE];
    const ph_admission join = join_again(peer);
    switch (admission->kind) {
    case PH_ADMISSION_WELCOME:
        if (ph_admission_find_misfit(&join, admission, text) != PH_REFUSAL_NONE ||
            admission->fingerprint != join.fingerprint) {
            fail(peer);
        } else if (peer->move.welcome.kind == 0) {
            peer->move.welcome = *admission;
            peer->move.welcomed_us = peer->now_us;
        }
        break;
    case PH_ADMISSION_REFUSAL:
        fail(peer);
        break;
    default:
        break; // spares come again when it is the present one
    }
}

void ph_peer_move_take(ph_peer* peer, const uint8_t* bytes, size_t size)
{
    if (!peer->move.is_under_way) {
        return;
    }
    if (!ph_admission_is(bytes, size)) {
        if (peer->early_count < PH_PEER_EARLY_MAX && size <= PH_PAYLOAD_MAX) {
            ph_peer_early* early = &peer->early[peer->early_count++];
            early->now_us = peer->now_us;
            early->size = size;
            memcpy(early->bytes, bytes, size);
            const size_t section_size = ph_messages_section_size(bytes, size);
            peer->move.has_view = peer->move.has_view || (section_size > 0 && section_size < size);
        }
        return;
    }
    ph_admission admission;
    if (ph_admission_read(bytes, size, &admission)) {
        take_admission(peer, &admission);
    } else {
        ++peer->refused_payloads;
    }
}

// The view of the one before is shown until the first of the new one is here, if that does not take long.
static bool is_welcome(const ph_peer* peer)
{
    const ph_peer_move* move = &peer->move;
    const uint64_t wait_us = move->is_asked ? VIEW_ASKED_US : VIEW_US;
    return move->is_under_way && move->welcome.kind != 0 &&
           (move->has_view || peer->now_us >= move->welcomed_us + wait_us);
}

// ---- time

static void say_join(ph_peer* peer)
{
    if (peer->move.joined_us != 0 && peer->now_us < peer->move.joined_us + JOIN_EVERY_US) {
        return;
    }
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    const ph_admission join = join_again(peer);
    ph_net_client_send(peer->other->net, bytes, ph_admission_write(&join, bytes));
    peer->move.joined_us = peer->now_us;
}

static void go_on_connecting(ph_peer* peer, ph_net_client_state state)
{
    ph_peer_move* move = &peer->move;
    const bool is_request = state == PH_NET_CLIENT_SENDING_REQUEST;
    if (is_request && !move->is_asked && !move->is_link_dead &&
        peer->link->heard_us >= move->begun_us) {
        ++move->false_alarms;
        drop_other(peer);
    } else if (is_request && !move->is_asked && peer->now_us >= move->begun_us + ATTEMPT_US &&
               ph_peer_spares_next(peer) >= 0) {
        fail(peer);
    } else if (is_request && move->is_asked && !move->is_link_dead &&
               peer->now_us >= move->begun_us + ATTEMPT_ASKED_US) {
        fail(peer);
    }
}

static void go_on(ph_peer* peer)
{
    ph_peer_move* move = &peer->move;
    ph_net_client_tick(peer->other->net, peer->now_us);
    const ph_net_client_state state = ph_net_client_get_state(peer->other->net);
    if (state <= PH_NET_CLIENT_DISCONNECTED) {
        fail(peer);
    } else if (state != PH_NET_CLIENT_CONNECTED) {
        go_on_connecting(peer, state);
    } else {
        if (move->joining_us == 0) {
            move->joining_us = peer->now_us;
            ph_peer_spares_drop_before(peer, move->order); // it has us now, by a newer one
        }
        if (peer->now_us >= move->joining_us + WELCOME_US) {
            fail(peer);
        } else if (move->welcome.kind == 0) {
            say_join(peer);
        }
    }
}

static bool is_wanted(const ph_peer* peer)
{
    const ph_peer_move* move = &peer->move;
    return move->wanted >= 0 && peer->spares.all[move->wanted].is_there &&
           (move->moved_us == 0 || peer->now_us >= move->moved_us + REST_US);
}

void ph_peer_move_tick(ph_peer* peer)
{
    if (is_welcome(peer)) {
        const ph_admission welcome = peer->move.welcome;
        take_over(peer, &welcome);
    } else if (peer->move.is_under_way) {
        go_on(peer);
    }
    if (peer->move.is_under_way) {
        return;
    }
    if (is_wanted(peer)) {
        begin(peer, peer->move.wanted, true);
    } else if (peer->move.is_link_dead || is_suspect(peer)) {
        if (!try_next(peer, false) && peer->move.is_link_dead) {
            ph_peer_explain_end(peer);
        }
    }
}

// A server that ends the connection by itself means it, unless it has sent us on or another one has us already.
bool ph_peer_move_survives(ph_peer* peer, ph_net_client_state why)
{
    ph_peer_move* move = &peer->move;
    if (peer->state != PH_PEER_STATE_JOINED) {
        return false;
    }
    if (move->is_link_dead) {
        return true; // it was found out before
    }
    const bool is_timeout = why == PH_NET_CLIENT_TIMED_OUT;
    const bool is_let_in = move->is_under_way && ph_net_client_get_state(peer->other->net) >=
                                                     PH_NET_CLIENT_SENDING_RESPONSE;
    const bool may_go = (move->is_under_way && (move->is_asked || is_timeout)) || is_let_in ||
                        (is_timeout && ph_peer_spares_next(peer) >= 0) || is_wanted(peer);
    move->is_link_dead = may_go;
    return may_go;
}
