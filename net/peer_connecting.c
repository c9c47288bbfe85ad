// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a client's connection begins, by a token or by an address, and how it ends. Once per connection.

#include "net/peer_state.h"

#include "base/check.h"
#include "net/netcode_insecure.h"
#include "net/wire_meter.h"

#include <stdio.h>
#include <string.h>

enum {
    SECOND_US = 1000000,
    SOCKET_BYTES = 1 << 18,
    RESOLVED_MAX = 8,
    TURN_MS = 500, // for each address of a server that has several
};

// ---- beginning

void ph_peer_reset(ph_peer* peer)
{
    ph_peer_link_close(peer->link);
    ph_peer_move_reset(peer);
    peer->move = (ph_peer_move){.wanted = -1};
    ph_peer_admission_reset(peer);
    ph_client_destroy(peer->view);
    ph_messages_destroy(peer->messages);
    peer->view = NULL;
    peer->messages = NULL;
    peer->is_connected_due = false; // events of the connection that was
    peer->is_end_due = false;
    peer->is_unsent_due = false;
    peer->is_waiting_due = false;
    peer->is_moved_due = false;
    peer->state = PH_PEER_STATE_IDLE;
}

void ph_peer_link_close(ph_peer_link* link)
{
    ph_net_client_disconnect(link->net);
    ph_socket_close(link->socket);
    link->socket = NULL;
}

static bool has_kind(const ph_token* token, ph_address_kind kind)
{
    for (int i = 0; i < token->address_count; ++i) {
        if (token->addresses[i].kind == kind) {
            return true;
        }
    }
    return false;
}

// One socket for all servers of the token: that of IPv6 also reaches those of IPv4. The second one of a peer that moves
// leaves the port to the first.
static ph_result open_socket(ph_peer* peer, ph_peer_link* link, const ph_token* token)
{
    const uint8_t any[16] = {0};
    const bool needs_ipv6 = has_kind(token, PH_ADDRESS_IPV6);
    ph_socket_def def = ph_socket_def_default();
    def.receive_buffer_bytes = SOCKET_BYTES;
    def.send_buffer_bytes = SOCKET_BYTES;
    def.allocator = peer->def.allocator;
    if (peer->def.local_address.kind != PH_ADDRESS_NONE) {
        def.local_address = peer->def.local_address;
        def.local_address.port = link == peer->link ? def.local_address.port : 0;
    } else {
        def.local_address =
            needs_ipv6 ? ph_address_make_ipv6(any, 0) : ph_address_make_ipv4(any, 0);
    }
    // A machine without IPv6 still reaches what it can.
    if (needs_ipv6 && peer->def.local_address.kind == PH_ADDRESS_NONE &&
        has_kind(token, PH_ADDRESS_IPV4) && ph_socket_open(&def, &link->socket) != PH_OK) {
        def.local_address = ph_address_make_ipv4(any, 0);
    }
    if (link->socket != NULL) {
        return PH_OK;
    }
    def.on_error = peer->def.on_error;
    def.on_error_context = peer->def.on_error_context;
    return ph_socket_open(&def, &link->socket);
}

static ph_result open_link(ph_peer* peer, ph_peer_link* link, const ph_token* token)
{
    link->spoke_us = peer->now_us;
    link->heard_us = peer->now_us;
    link->talked_us = peer->now_us;
    link->pause_us = SECOND_US;
    link->timeout_us = token->timeout_s >= 0 ? (uint64_t)token->timeout_s * SECOND_US : UINT64_MAX;
    link->protocol_id = token->protocol_id;
    link->token_s = token->expire_s - token->create_s;
    link->is_token_undated = token->create_s == 0;
    return peer->seam.receive != NULL ? PH_OK : open_socket(peer, link, token);
}

ph_result ph_peer_link_connect(ph_peer* peer, ph_peer_link* link, const void* token, int turn_ms)
{
    ph_token read;
    ph_result result = PH_ERROR_ARGUMENT;
    if (ph_token_read(token, PH_TOKEN_SIZE, &read) == PH_TOKEN_GOOD) {
        result = open_link(peer, link, &read);
    }
    ph_token_wipe(&read);
    if (result == PH_OK) {
        ph_net_client_connect_in_turns(link->net, token, PH_TOKEN_SIZE, peer->now_us, turn_ms);
    }
    return result;
}

ph_result ph_peer_create_messages(const ph_peer* peer, ph_messages** made)
{
    ph_messages_def messages = ph_messages_def_default();
    messages.bits_per_second = 0; // what the server takes is enough of a limit
    messages.section_max = PH_PAYLOAD_MAX - PH_ACK_SIZE;
    messages.block_size_max = peer->def.block_size_max;
    messages.allocator = peer->def.allocator;
    messages.on_error = peer->def.on_error;
    messages.on_error_context = peer->def.on_error_context;
    return ph_messages_create(&messages, made);
}

static void begin_connection(ph_peer* peer, const ph_token* token)
{
    peer->header_bytes =
        token->addresses[0].kind == PH_ADDRESS_IPV6 ? PH_WIRE_HEADERS_IPV6 : PH_WIRE_HEADERS_IPV4;
    peer->has_waited = false;
    peer->sent_us = 0;
    peer->input_number = 0;
    peer->is_answer_due = false;
    peer->has_new_input = false;
    ph_peer_reset_bulk(peer);
    peer->refused_payloads = 0;
    peer->unsent = 0;
    peer->unsent_us = 0;
    peer->net_start = ph_net_client_get_stats(peer->link->net);
    peer->rate_start = peer->net_start;
    peer->rate_us = peer->now_us;
    peer->received_kbps = 0.0;
    peer->sent_kbps = 0.0;
    peer->state = PH_PEER_STATE_CONNECTING;
}

static ph_result connect_with(ph_peer* peer, const ph_check* call, const void* token, size_t size)
{
    ph_token read;
    const ph_token_fault fault = ph_token_read(token, size, &read);
    if (fault != PH_TOKEN_GOOD) {
        return ph_fail(call, PH_ERROR_ARGUMENT, "token", "is of no use: %s",
                       ph_token_fault_text(fault));
    }
    peer->now_us = ph_peer_now(peer);
    ph_result result = ph_peer_create_messages(peer, &peer->messages);
    if (result == PH_OK) {
        result = ph_peer_link_connect(peer, peer->link, token, peer->is_by_address ? TURN_MS : 0);
    }
    if (result == PH_OK) {
        begin_connection(peer, &read);
    } else {
        ph_peer_reset(peer);
    }
    ph_token_wipe(&read);
    return result == PH_ERROR_MEMORY ? ph_fail_memory(call) : result;
}

ph_result ph_peer_connect(ph_peer* peer, const void* token, size_t size)
{
    const ph_check call = ph_check_begin(peer->def.on_error, peer->def.on_error_context, __func__);
    ph_peer_reset(peer);
    peer->is_by_address = false;
    return connect_with(peer, &call, token, size);
}

// ---- without a token

static ph_result resolve(const ph_check* call, const char* address,
                         ph_address addresses[RESOLVED_MAX], int* count)
{
    if (address == NULL) {
        return ph_fail(call, PH_ERROR_ARGUMENT, "address",
                       "is NULL; it must be like 127.0.0.1:40000 or devbox.local:40000");
    }
    ph_error error = {0};
    const ph_result result = ph_address_resolve(address, addresses, RESOLVED_MAX, count, &error);
    if (result == PH_OK) {
        return PH_OK;
    }
    const char* said = strstr(error.text, "is \"");
    return ph_fail(call, result, "address", "%s", said != NULL ? said : error.text);
}

// Servers without tokens answer on private networks alone.
static int keep_private(ph_address* addresses, int count)
{
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (ph_address_is_private(&addresses[i])) {
            addresses[kept++] = addresses[i];
        }
    }
    return kept;
}

ph_result ph_peer_connect_to(ph_peer* peer, const char* address)
{
    const ph_check call = ph_check_begin(peer->def.on_error, peer->def.on_error_context, __func__);
    ph_peer_reset(peer);
    ph_address addresses[RESOLVED_MAX];
    int count = 0;
    ph_result result = resolve(&call, address, addresses, &count);
    if (result != PH_OK) {
        return result;
    }
    const ph_address first = addresses[0];
    if (ph_address_is_any(&first)) {
        return ph_fail(
            &call, PH_ERROR_ARGUMENT, "address",
            "is \"%.60s\", all addresses of the machine, where a server listens; it must be one "
            "of them, such as 127.0.0.1",
            address);
    }
    const ph_insecure_wish wish = {
        .protocol_id = peer->def.protocol_id,
        .client_id = peer->def.client_id,
        .addresses = addresses,
        .address_count = keep_private(addresses, count),
    };
    if (wish.address_count == 0) {
        char text[PH_ADDRESS_TEXT_MAX];
        return ph_fail(&call, PH_ERROR_ARGUMENT, "address",
                       "is \"%.60s\", %s, on a public network, where no server lets clients in "
                       "without a token; take one from the backend for ph_peer_connect()",
                       address, ph_address_print(&first, text));
    }
    uint8_t token[PH_TOKEN_SIZE];
    result = ph_insecure_write_token(&wish, token);
    peer->is_by_address = true;
    return result == PH_OK ? connect_with(peer, &call, token, sizeof token) : result;
}

// ---- the end

void ph_peer_end(ph_peer* peer, const ph_peer_event* event, const char* text)
{
    if (peer->state == PH_PEER_STATE_IDLE) {
        return;
    }
    peer->state = PH_PEER_STATE_IDLE;
    ph_peer_move_reset(peer);
    peer->is_end_due = true;
    peer->end = *event;
    snprintf(peer->end_text, sizeof peer->end_text, "%s", text);
}

void ph_peer_give_up(ph_peer* peer, ph_net_client_state why, const char* text)
{
    ph_net_client_disconnect(peer->link->net);
    ph_peer_end(peer, &(ph_peer_event){.kind = PH_PEER_DISCONNECTED, .end = why}, text);
}

void ph_peer_disconnect(ph_peer* peer)
{
    if (peer->state != PH_PEER_STATE_IDLE) {
        ph_peer_give_up(peer, PH_NET_CLIENT_DISCONNECTED, "this program has ended the connection");
    }
}

// Why a server has not let us in, though the token is genuine.
static void print_denial(const ph_peer* peer, ph_net_denial denial, const char* server,
                         char text[PH_ERROR_TEXT_SIZE])
{
    const size_t room = PH_ERROR_TEXT_SIZE;
    switch (denial) {
    case PH_NET_DENIAL_FULL:
        snprintf(text, room, "%s is full", server);
        break;
    case PH_NET_DENIAL_CLIENT_CONNECTED:
        snprintf(text, room,
                 "%s: this player is connected already, from another place; that connection must "
                 "end first",
                 server);
        break;
    case PH_NET_DENIAL_TOKEN_USED:
        snprintf(text, room, "%s: the token was used before; take a new token for every connection",
                 server);
        break;
    case PH_NET_DENIAL_TOKEN_OLD:
        snprintf(text, room, "%s: the token was made before the server started; take a new one",
                 server);
        break;
    case PH_NET_DENIAL_TOKEN_SERVER:
        snprintf(text, room,
                 "%s: the token is for servers with other addresses; it must name this one as the "
                 "server knows it, by public_address of ph_host_def",
                 server);
        break;
    case PH_NET_DENIAL_EXPIRED:
        snprintf(text, room,
                 "%s: the token has expired; take a new one, and connect within its %llu s%s",
                 server, (unsigned long long)peer->link->token_s,
                 peer->link->is_token_undated ? "; its create_s is 0, which is no time" : "");
        break;
    case PH_NET_DENIAL_PROTOCOL:
        snprintf(text, room,
                 "%s: the server has another protocol_id than the token: client and server are of "
                 "different versions or games",
                 server);
        break;
    default:
        snprintf(text, room,
                 "%s: the server does not let us in, for a reason that is not known "
                 "here: it is newer than this client",
                 server);
        break;
    }
}

// What is likeliest first; what this machine knows before all.
static void print_silence(const ph_peer* peer, const char* server, char text[PH_ERROR_TEXT_SIZE])
{
    const size_t room = PH_ERROR_TEXT_SIZE;
    if (peer->unsent > 0) {
        snprintf(text, room, "%s does not answer: %.160s", server, peer->unsent_text);
    } else if (peer->is_by_address) {
        snprintf(text, room,
                 "%s does not answer: no server is there, or one that wants a token; only a "
                 "host with is_insecure_dev lets clients in by their address",
                 server);
    } else {
        snprintf(text, room,
                 "%s does not answer: no server is there, a firewall is between, or the token was "
                 "made with another key than the server's, which its on_error then says",
                 server);
    }
}

void ph_peer_explain_end(ph_peer* peer)
{
    const ph_net_client_state why = ph_net_client_get_state(peer->link->net);
    const ph_net_denial denial = ph_net_client_denial(peer->link->net);
    const ph_address server = ph_net_client_server(peer->link->net);
    char address[PH_ADDRESS_TEXT_MAX];
    char text[PH_ERROR_TEXT_SIZE];
    ph_address_print(&server, address);
    if (denial != PH_NET_DENIAL_NONE) {
        print_denial(peer, denial, address, text);
    } else if (why == PH_NET_CLIENT_TOKEN_EXPIRED) {
        snprintf(text, sizeof text, "the token has expired before %s let us in", address);
    } else if (why == PH_NET_CLIENT_REQUEST_TIMED_OUT) {
        print_silence(peer, address, text);
    } else if (why == PH_NET_CLIENT_RESPONSE_TIMED_OUT) {
        snprintf(text, sizeof text, "%s does not answer any more: it did when we began to connect",
                 address);
    } else if (why == PH_NET_CLIENT_TIMED_OUT) {
        snprintf(text, sizeof text, "nothing has come from %s for %d s", address,
                 (int)(peer->link->timeout_us / SECOND_US));
    } else {
        snprintf(text, sizeof text, "%s has ended the connection", address);
    }
    const ph_peer_event event = {.kind = PH_PEER_DISCONNECTED, .end = why, .denial = denial};
    ph_peer_end(peer, &event, text);
}
