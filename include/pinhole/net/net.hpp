// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Secure connections over UDP for C++17, as in pinhole/pinhole.hpp: owners of a server's host, a
// client, its connection, sockets and threads. Needs libpinhole-net.
//
//     ph_host_def def = ph_host_def_default();
//     def.world = world.get();
//     auto on_messages = [&](int client, ph_messages* messages) { ... };
//     pinhole::set_callback(def.on_messages, def.on_messages_context, on_messages);
//     pinhole::host host;                                 // behind the world: it ends before the world does
//     if (host.open(def) != PH_OK) { ... }
//     for (;;) {
//         host.receive(next_tick_us);
//         host.tick();
//         for (ph_net_event event; host.next_event(event);) { ... }
//         world.tick();
//         host.send();
//     }

#ifndef PINHOLE_NET_NET_HPP
#define PINHOLE_NET_NET_HPP

#include <pinhole/pinhole.hpp>

#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/peer.h>
#include <pinhole/net/rate.h>

namespace pinhole
{

/// ph_address_resolve(): blocks until the resolver has answered. error may be nullptr. @return As there.
[[nodiscard]] inline ph_result resolve_address(std::string_view text, ph_address* addresses,
                                               int max, int& count,
                                               ph_error* error = nullptr) noexcept
{
    const detail::ended_text<PH_HOST_NAME_MAX> ended(text);
    return ph_address_resolve(ended.bytes, addresses, max, &count, error);
}

/// ph_address_parse(). error may be nullptr. @return As there.
[[nodiscard]] inline ph_result parse_address(std::string_view text, ph_address& address,
                                             ph_error* error = nullptr) noexcept
{
    const detail::ended_text<PH_ADDRESS_TEXT_MAX> ended(text);
    return ph_address_parse(ended.bytes, &address, error);
}

/// ph_key_read_file(). error may be nullptr. @return As there.
[[nodiscard]] inline ph_result read_key_file(const char* path,
                                             std::uint8_t (&key)[PH_NETCODE_KEY_SIZE],
                                             ph_error* error = nullptr) noexcept
{
    return ph_key_read_file(path, key, error);
}

template <> struct ending<ph_pool> {
    static void end(ph_pool* object) noexcept
    {
        ph_pool_destroy(object);
    }
};

/// Owns a ph_pool: threads for a host or a world, which it outlives.
class pool : public owner<ph_pool>
{
  public:
    pool() noexcept = default;

    /// 0: as many threads as there are cores. Empty when there is no memory.
    explicit pool(int thread_count) noexcept
    {
        reset(ph_pool_create(thread_count));
    }

    int thread_count() const noexcept
    {
        return ph_pool_thread_count(get());
    }

    /// ph_pool_run(). work(int index) runs for every index below count, on any of the threads.
    template <class Work> void run(int count, Work&& work) noexcept
    {
        auto&& target = detail::borrowable(work);
        const callback<ph_job_fn> bound(target);
        ph_pool_run(get(), count, bound.function, bound.context);
    }
};

template <> struct ending<ph_host> {
    static void end(ph_host* object) noexcept
    {
        ph_host_close(object);
    }
};

/// Owns a ph_host: a server in one object, net/host.h. Its end closes it; stop() first, to tell the clients.
class host : public owner<ph_host>
{
  public:
    host() noexcept = default;

    /// Closes what it held, also when it fails.
    [[nodiscard]] ph_result open(const ph_host_def& def) noexcept
    {
        return remake(ph_host_open, def);
    }

    /// ph_host_set_keys(). second_key may be nullptr.
    void set_keys(const std::uint8_t (&private_key)[PH_NETCODE_KEY_SIZE],
                  const std::uint8_t* second_key = nullptr) noexcept
    {
        ph_host_set_keys(get(), private_key, second_key);
    }

    ph_address local_address() const noexcept
    {
        return ph_host_local_address(get());
    }

    ph_address public_address() const noexcept
    {
        return ph_host_public_address(get());
    }

    void receive(std::uint64_t until_us) noexcept
    {
        ph_host_receive(get(), until_us);
    }

    void tick() noexcept
    {
        ph_host_tick(get());
    }

    /// @return False when there is no event.
    [[nodiscard]] bool next_event(ph_net_event& event) noexcept
    {
        return ph_host_next_event(get(), &event);
    }

    [[nodiscard]] ph_result admit(int client, const ph_viewer_def& viewer) noexcept
    {
        return ph_host_admit(get(), client, &viewer, nullptr);
    }

    /// With messages, blocks and unreliable messages of its own kind.
    [[nodiscard]] ph_result admit(int client, const ph_viewer_def& viewer,
                                  const ph_messages_def& messages) noexcept
    {
        return ph_host_admit(get(), client, &viewer, &messages);
    }

    void disconnect(int client) noexcept
    {
        ph_host_disconnect(get(), client);
    }

    /// ph_host_refuse(): ends the connection with a reason.
    void refuse(int client, const char* text) noexcept
    {
        ph_host_refuse(get(), client, text);
    }

    /// ph_host_give_spare(): a token for another host.
    [[nodiscard]] ph_result give_spare(int client, const void* token, std::size_t size) noexcept
    {
        return ph_host_give_spare(get(), client, token, size);
    }

    /// ph_host_renew_spares(): the same, in place of those that it has.
    [[nodiscard]] ph_result renew_spares(int client, const void* token, std::size_t size) noexcept
    {
        return ph_host_renew_spares(get(), client, token, size);
    }

    /// ph_host_send_on(): a token for another host, where the client is to go at once.
    [[nodiscard]] ph_result send_on(int client, const void* token, std::size_t size) noexcept
    {
        return ph_host_send_on(get(), client, token, size);
    }

    bool is_giving_spare(int client) const noexcept
    {
        return ph_host_is_giving_spare(get(), client);
    }

    int spare_count(int client) const noexcept
    {
        return ph_host_spare_count(get(), client);
    }

    /// ph_host_empty(): sends all clients to another host. nullptr: no longer.
    void empty(ph_host_give_spare_fn* give, void* context = nullptr) noexcept
    {
        ph_host_empty(get(), give, context);
    }

    void send(std::uint64_t until_us = UINT64_MAX) noexcept
    {
        ph_host_send(get(), until_us);
    }

    void stop() noexcept
    {
        ph_host_stop(get());
    }

    int client_count() const noexcept
    {
        return ph_host_client_count(get());
    }

    int client_at(int i) const noexcept
    {
        return ph_host_client_at(get(), i);
    }

    /// @return False when no client has this index.
    [[nodiscard]] bool get_client(int client, ph_net_client_info& info) const noexcept
    {
        return ph_host_get_client(get(), client, &info);
    }

    viewer_id viewer(int client) const noexcept
    {
        return ph_host_viewer(get(), client);
    }

    /// The host's own: borrowed, nullptr unless the client is admitted.
    ph_messages* messages_of(int client) noexcept
    {
        return ph_host_messages(get(), client);
    }

    [[nodiscard]] ph_result set_budget(int client, int bits_per_second, int burst_bits = 0) noexcept
    {
        return ph_host_set_budget(get(), client, bits_per_second, burst_bits);
    }

    int bits_per_second(int client) const noexcept
    {
        return ph_host_bits_per_second(get(), client);
    }

    ph_host_stats stats() const noexcept
    {
        return ph_host_get_stats(get());
    }
};

template <> struct ending<ph_peer> {
    static void end(ph_peer* object) noexcept
    {
        ph_peer_close(object);
    }
};

/// Owns a ph_peer: a client in one object, net/peer.h. Its end tells the server.
class peer : public owner<ph_peer>
{
  public:
    peer() noexcept = default;

    /// Closes what it held, also when it fails.
    [[nodiscard]] ph_result open(const ph_peer_def& def) noexcept
    {
        return remake(ph_peer_open, def);
    }

    /// A peer by default, of this schema, which outlives it.
    [[nodiscard]] ph_result open(const schema& classes) noexcept
    {
        ph_peer_def def = ph_peer_def_default();
        def.schema = classes.get();
        return open(def);
    }

    [[nodiscard]] ph_result connect(const void* token, std::size_t size) noexcept
    {
        return ph_peer_connect(get(), token, size);
    }

    /// ph_peer_connect_to(): for development, to a host with is_insecure_dev. Blocks while a name is looked up.
    [[nodiscard]] ph_result connect_to(std::string_view address) noexcept
    {
        const detail::ended_text<PH_HOST_NAME_MAX> ended(address);
        return ph_peer_connect_to(get(), ended.bytes);
    }

    void disconnect() noexcept
    {
        ph_peer_disconnect(get());
    }

    ph_peer_state state() const noexcept
    {
        return ph_peer_get_state(get());
    }

    void tick() noexcept
    {
        ph_peer_tick(get());
    }

    bool wait(std::uint64_t timeout_us) noexcept
    {
        return ph_peer_wait(get(), timeout_us);
    }

    /// @return False when there is no event.
    [[nodiscard]] bool next_event(ph_peer_event& event) noexcept
    {
        return ph_peer_next_event(get(), &event);
    }

    /// The peer's own: borrowed, nullptr before it is connected.
    ph_client* view() noexcept
    {
        return ph_peer_view(get());
    }

    [[nodiscard]] ph_result get_pose(ph_entity_id entity, ph_pose& pose) const noexcept
    {
        return ph_peer_get_pose(get(), entity, &pose);
    }

    ph_entity_id find(std::uint64_t key) const noexcept
    {
        return ph_peer_find(get(), key);
    }

    /// The player's own entity, or null.
    entity_id own() const noexcept
    {
        return ph_peer_own(get());
    }

    /// The entity in a slot below stats().slot_count, or null; slot 0 is the player's own.
    entity_id entity_at(int slot) const noexcept
    {
        ph_client* const client = ph_peer_view(get());
        return client != nullptr ? entity_id(ph_client_entity_at(client, slot)) : entity_id();
    }

    /// The same entity if it is in view and of this class, else null.
    template <class State>
    entity<State> entity_of(class_id<State> kind, entity_id id) const noexcept
    {
        ph_client* const client = ph_peer_view(get());
        int index = -1;
        const bool is_of_kind = client != nullptr &&
                                ph_client_identify(client, id, nullptr, &index) == PH_OK &&
                                index == kind.index;
        return entity<State>(is_of_kind ? id : entity_id());
    }

    template <class State>
    [[nodiscard]] ph_result get_struct(entity<State> source,
                                       std::common_type_t<State>& state) const noexcept
    {
        return ph_peer_get_struct(get(), source, &state);
    }

    template <class State>
    [[nodiscard]] ph_result get_shown_struct(entity<State> source,
                                             std::common_type_t<State>& state) const noexcept
    {
        return ph_peer_get_shown_struct(get(), source, &state);
    }

    [[nodiscard]] ph_result send(const void* bytes, std::size_t size) noexcept
    {
        return ph_peer_send(get(), bytes, size);
    }

    [[nodiscard]] ph_result send(std::string_view text) noexcept
    {
        return ph_peer_send(get(), text.data(), text.size());
    }

    /// Copied. id may be nullptr.
    [[nodiscard]] ph_result send_block(std::uint32_t tag, const void* bytes, std::size_t size,
                                       std::uint32_t* id = nullptr) noexcept
    {
        return ph_peer_send_block(get(), tag, bytes, size, id);
    }

    [[nodiscard]] ph_result cancel_block(std::uint32_t id) noexcept
    {
        return ph_peer_cancel_block(get(), id);
    }

    [[nodiscard]] ph_result send_unreliable(ph_unreliable_kind kind, int channel, const void* bytes,
                                            std::size_t size) noexcept
    {
        return ph_peer_send_unreliable(get(), kind, channel, bytes, size);
    }

    /// @return Its number; 0 when it was not set.
    std::uint32_t set_input(const void* bytes, std::size_t size) noexcept
    {
        return ph_peer_set_input(get(), bytes, size);
    }

    std::uint32_t processed_input() const noexcept
    {
        return ph_peer_processed_input(get());
    }

    /// ph_peer_add_spare(): a token for another server, to go there when this one dies.
    [[nodiscard]] ph_result add_spare(const void* token, std::size_t size) noexcept
    {
        return ph_peer_add_spare(get(), token, size);
    }

    int spare_count() const noexcept
    {
        return ph_peer_spare_count(get());
    }

    ph_address server() const noexcept
    {
        return ph_peer_server(get());
    }

    ph_peer_stats stats() const noexcept
    {
        return ph_peer_get_stats(get());
    }
};

template <> struct ending<ph_socket> {
    static void end(ph_socket* object) noexcept
    {
        ph_socket_close(object);
    }
};

/// Owns a ph_socket: net/socket.h.
class socket : public owner<ph_socket>
{
  public:
    socket() noexcept = default;

    /// Closes what it held, also when it fails.
    [[nodiscard]] ph_result open(const ph_socket_def& def) noexcept
    {
        return remake(ph_socket_open, def);
    }

    ph_address local_address() const noexcept
    {
        return ph_socket_local_address(get());
    }

    /// ph_socket_unsent_reason(). @return text.
    const char* unsent_reason(char (&text)[PH_SOCKET_REASON_SIZE]) const noexcept
    {
        return ph_socket_unsent_reason(get(), text);
    }

    bool wait(std::uint64_t timeout_us) noexcept
    {
        return ph_socket_wait(get(), timeout_us);
    }

    /// @return How many datagrams there are, 0..max.
    [[nodiscard]] int receive(ph_datagram* datagrams, int max) noexcept
    {
        return ph_socket_receive(get(), datagrams, max);
    }

    /// @return How many the system took; the others are lost and counted.
    int send(const ph_datagram* datagrams, int count) noexcept
    {
        return ph_socket_send(get(), datagrams, count);
    }

    ph_socket_stats stats() const noexcept
    {
        return ph_socket_get_stats(get());
    }
};

template <> struct ending<ph_net_client> {
    static void end(ph_net_client* object) noexcept
    {
        ph_net_client_destroy(object);
    }
};

/// Owns a ph_net_client: a client's secure connection, net/netcode_client.h. Its end sends nothing: disconnect()
/// first.
class net_client : public owner<ph_net_client>
{
  public:
    net_client() noexcept = default;

    [[nodiscard]] ph_result create(const ph_net_client_def& def) noexcept
    {
        return remake(ph_net_client_create, def);
    }

    void connect(const void* token, std::size_t size, std::uint64_t now_us) noexcept
    {
        ph_net_client_connect(get(), token, size, now_us);
    }

    /// ph_net_client_connect_in_turns(): the addresses of the token are those of one server.
    void connect_in_turns(const void* token, std::size_t size, std::uint64_t now_us,
                          int turn_ms) noexcept
    {
        ph_net_client_connect_in_turns(get(), token, size, now_us, turn_ms);
    }

    void tick(std::uint64_t now_us) noexcept
    {
        ph_net_client_tick(get(), now_us);
    }

    void advance(std::uint64_t now_us) noexcept
    {
        ph_net_client_advance(get(), now_us);
    }

    /// Opens the datagram in place. The result says why it was of no use; the payload has size 0 then.
    ph_net_refusal receive(const ph_address& from, void* bytes, std::size_t size,
                           ph_net_payload& payload) noexcept
    {
        return ph_net_client_receive(get(), &from, bytes, size, &payload);
    }

    /// @return False, with nothing sent, unless connected.
    bool send(const void* bytes, std::size_t size) noexcept
    {
        return ph_net_client_send(get(), bytes, size);
    }

    void disconnect() noexcept
    {
        ph_net_client_disconnect(get());
    }

    ph_net_client_state state() const noexcept
    {
        return ph_net_client_get_state(get());
    }

    /// Why a server has not let us in.
    ph_net_denial denial() const noexcept
    {
        return ph_net_client_denial(get());
    }

    ph_net_client_stats stats() const noexcept
    {
        return ph_net_client_get_stats(get());
    }
};

} // namespace pinhole

#endif
