// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The clock and the network of a session. A step of eight viewers with a dozen entities each takes
// some 100 microseconds.

#include "test_session.h"

#include <pinhole/viewer.h>

// Vision, as a test without a view of it would note it down.
static void note_slot(test_session* session, session_viewer* viewer, ph_entity_index entity,
                      int slot)
{
    const ph_entity_id id = ph_world_entity_at(session->world, entity);
    session_shown* shown = &viewer->shown[slot];
    if (id.index1 != shown->id.index1 || id.generation != shown->id.generation) {
        *shown = (session_shown){.id = id, .since_tick = ph_world_tick_count(session->world)};
        assert_int_equal(ph_world_identify(session->world, id, &shown->name, &shown->class_index),
                         PH_OK);
    }
}

// Of thousands of slots only those that were taken just now.
static void note_sight(test_session* session, session_viewer* viewer)
{
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(session->world, viewer->id, &sight), PH_OK);
    const bool is_large = sight.slot_count > SESSION_SLOTS_MAX;
    const int count = is_large ? sight.enter_count : sight.slot_count;
    for (int i = 0; i < count; ++i) {
        const int slot = is_large ? sight.enters[i] : i;
        if (sight.entities[slot] != PH_ENTITY_NONE) {
            note_slot(session, viewer, sight.entities[slot], slot);
        }
    }
}

void session_tick(test_session* session)
{
    session->now_us += session->tick_us;
    ph_world_tick(session->world);
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL) {
            note_sight(session, &session->viewers[i]);
        }
    }
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    test_session* session = context;
    int place = 0;
    while (session->viewers[place].id.index1 != viewer.index1) {
        ++place;
    }
    session_viewer* to = &session->viewers[place];
    ph_hash_add_u64(&to->packets, size);
    ph_hash_add(&to->packets, bytes, size);
    ++to->packet_count;
    ++session->packet_count;
    session_note_baselines(session, place);
    if (session->on_sent != NULL) {
        session->on_sent(session, place, bytes, size);
    }
    ph_link_send(to->down, session->now_us, bytes, size);
}

void session_send(test_session* session)
{
    ph_world_send_all(session->world, session->now_us, deliver, session);
}

void session_send_to(test_session* session, int viewer)
{
    assert_int_equal(ph_viewer_send(session->world, session->viewers[viewer].id, session->now_us,
                                    deliver, session),
                     PH_OK);
}

static void carry_down(test_session* session, int place)
{
    session_viewer* viewer = &session->viewers[place];
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(viewer->down, session->now_us, bytes, sizeof bytes)) > 0) {
        const ph_result result = ph_client_receive(viewer->client, session->now_us, bytes, size);
        if (result != PH_OK && result != PH_ERROR_STALE && !viewer->is_mute) {
            fail_msg("%s: viewer %d refuses an honest packet: %s", session_label(session), place,
                     ph_result_text(result));
        }
        if (!viewer->is_mute) {
            session_check_baselines(session, place);
        }
        if (session->on_received != NULL) {
            session->on_received(session, place, bytes, size);
        }
        uint8_t ack[PH_ACK_SIZE];
        const size_t ack_size = ph_client_write_ack(viewer->client, session->now_us, ack);
        if (ack_size > 0 && !viewer->is_mute) {
            ph_link_send(viewer->up, session->now_us, ack, ack_size);
        }
    }
}

static void carry_up(test_session* session, int place)
{
    session_viewer* viewer = &session->viewers[place];
    uint8_t ack[PH_ACK_SIZE];
    size_t size;
    while ((size = ph_link_receive(viewer->up, session->now_us, ack, sizeof ack)) > 0) {
        const ph_result result =
            ph_viewer_receive_ack(session->world, viewer->id, session->now_us, ack, size);
        if (result != PH_OK) {
            fail_msg("%s: an honest acknowledgement of viewer %d is refused",
                     session_label(session), place);
        }
    }
}

void session_exchange(test_session* session)
{
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL) {
            carry_down(session, i);
            carry_up(session, i);
        }
    }
}

void session_step(test_session* session)
{
    session_tick(session);
    if (session->def.is_restless && session->is_stirred && test_rng_below(&session->rng, 4) == 0) {
        session_stir(session, 1 + (int)test_rng_below(&session->rng, 4));
        if (session->on_stirred != NULL) {
            session->on_stirred(session);
        }
    }
    session->is_stirred = false;
    session_send(session);
    session_exchange(session);
}

void session_set_network(test_session* session, const ph_link_def* network)
{
    session->def.network = *network;
    for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
        if (session->viewers[i].client != NULL) {
            ph_link_change(session->viewers[i].down, network);
            ph_link_change(session->viewers[i].up, network);
        }
    }
}
