// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages and inputs of an attached player, both ways, each exactly once and in order (docs/moving.md).
//
// Up: what the connection has received is numbered and kept until the sim says that it is safe; only then it is acked to
// the client. With it goes the state of the connection, so that another front goes on from there. Down: messages of the
// sim are numbered, too; the sim repeats them until the number of those that the connection has comes back with a state
// that holds them.
//
// Once a tick for each player, and for each item that comes.

#include "bus/front_state.h"

#include <string.h>

// More than a sim sends before it is answered. What is beyond that it repeats.
#define DOWN_MAX (64 * 1024)
// More than a client can send before it is acked.
#define UP_MAX (256 * 1024)

enum { FIND_TRIES = 2, ATTACH_TRIES = 6 };

// ---- messages one behind the other

static bool append(ph_bus_front* front, front_buffer* buffer, const uint8_t* bytes, size_t size)
{
    int capacity = (int)buffer->capacity;
    if (!front_grow(front, (void**)&buffer->bytes, &capacity, (int)(buffer->size + 2 + size), 1)) {
        return false;
    }
    buffer->capacity = (size_t)capacity;
    buffer->bytes[buffer->size] = (uint8_t)size;
    buffer->bytes[buffer->size + 1] = (uint8_t)(size >> 8);
    memcpy(buffer->bytes + buffer->size + 2, bytes, size);
    buffer->size += 2 + size;
    return true;
}

// Bytes of the first so many messages.
static size_t size_of_first(const front_buffer* buffer, uint64_t count)
{
    size_t at = 0;
    for (; count > 0 && at + 2 <= buffer->size; --count) {
        at += 2 + (size_t)(buffer->bytes[at] | buffer->bytes[at + 1] << 8);
    }
    return at;
}

static void remove_first(front_buffer* buffer, size_t size)
{
    if (size == 0) {
        return;
    }
    memmove(buffer->bytes, buffer->bytes + size, buffer->size - size);
    buffer->size -= size;
}

void front_session_destroy(ph_bus_front* front, front_player* player)
{
    ph_release_array(&front->allocator, player->up.bytes, player->up.capacity, 1);
    ph_release_array(&front->allocator, player->down.bytes, player->down.capacity, 1);
}

// ---- up

static void receive_messages(ph_bus_front* front, front_player* player, ph_messages* messages)
{
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    while (player->up.size < UP_MAX) {
        const size_t size = ph_messages_receive(messages, bytes);
        if (size == 0) {
            break;
        }
        if (!append(front, &player->up, bytes, size)) {
            front_player_refuse(front, player, "the server has no memory left");
            return;
        }
        player->received = ph_messages_received_count(messages);
    }
    player->input = ph_messages_newest_input(messages).number;
}

static const uint8_t* export_state(ph_bus_front* front, const ph_messages* messages, size_t* size)
{
    *size = ph_messages_export(messages, front->state, front->state_capacity);
    if (*size > front->state_capacity) {
        ph_release(&front->allocator, front->state, front->state_capacity);
        front->state_capacity = *size + *size / 2;
        front->state = ph_allocate(&front->allocator, front->state_capacity);
        if (front->state == NULL) {
            front->state_capacity = 0;
            *size = 0;
            return NULL;
        }
        *size = ph_messages_export(messages, front->state, front->state_capacity);
    }
    return front->state;
}

static uint16_t count_messages(const uint8_t* bytes, size_t size)
{
    const uint8_t* message;
    size_t message_size;
    uint16_t count = 0;
    while (bus_next_message(&bytes, &size, &message, &message_size)) {
        ++count;
    }
    return count;
}

static bool has_unanswered(const front_player* player)
{
    return player->up_sent > 0 || player->input_sent > player->input_confirmed;
}

// From this byte of the buffer on.
static void send_data(ph_bus_front* front, front_player* player, size_t from)
{
    ph_messages* messages =
        player->client >= 0 ? ph_host_messages(front->def.host, player->client) : NULL;
    const bool is_open = has_unanswered(player);
    bus_item item = {
        .kind = BUS_ITEM_DATA,
        .bytes = player->up.bytes + from,
        .size = player->up.size - from,
        .told = player->told,
    };
    item.count = count_messages(item.bytes, item.size);
    item.first = player->received - item.count + 1;
    if (messages != NULL) {
        const ph_input input = ph_messages_newest_input(messages);
        if (input.number > player->input_confirmed) {
            item.input = input.number;
            item.input_bytes = input.bytes;
            item.input_size = input.size;
        }
        item.state = export_state(front, messages, &item.state_size);
        player->input_sent = input.number;
    }
    front_player_say(front, player, &item);
    // What waits for its answer keeps its time: a player whose inputs are new each tick would never send again.
    if (!is_open) {
        player->data_us = front->now_us;
    }
    player->up_sent = player->up.size;
    player->told_is_news = false;
}

void front_session_resend(ph_bus_front* front, front_player* player)
{
    ++front->stats.resent;
    send_data(front, player, 0);
    player->data_us = front->now_us;
}

// Nothing has come back: the entity may have gone elsewhere, or the sim may never have heard of the player.
static void resend_late(ph_bus_front* front, front_player* player)
{
    front_session_resend(front, player);
    ++player->data_tries;
    if (player->data_tries >= FIND_TRIES) {
        front_player_find(front, player);
    }
    if (player->data_tries % ATTACH_TRIES == 0) {
        front_player_attach(front, player);
    }
}

static void pass_on(ph_bus_front* front, front_player* player, ph_messages* messages)
{
    while (player->down_count > 0) {
        const size_t size = (size_t)(player->down.bytes[0] | player->down.bytes[1] << 8);
        if (ph_messages_send(messages, player->down.bytes + 2, size) != PH_OK) {
            return;
        }
        remove_first(&player->down, 2 + size);
        --player->down_count;
        ++player->told;
        ++front->stats.told_messages;
        player->told_is_news = true;
    }
}

void front_session_tick(ph_bus_front* front, front_player* player)
{
    ph_messages* messages = ph_host_messages(front->def.host, player->client);
    if (messages == NULL) {
        return; // its end is about to be taken
    }
    receive_messages(front, player, messages);
    if (player->down_count > 0) {
        pass_on(front, player, messages);
    }
    if (player->state != PLAYER_ATTACHED) {
        return;
    }
    if (has_unanswered(player) && front->now_us - player->data_us >= FRONT_RESEND_US) {
        resend_late(front, player);
    } else if (player->up.size > player->up_sent || player->input > player->input_sent ||
               player->told_is_news) {
        send_data(front, player, player->up_sent);
    }
}

// ---- down

static void take_confirm(ph_bus_front* front, front_player* player, const bus_item* item)
{
    ph_messages* messages = ph_host_messages(front->def.host, player->client);
    if (messages == NULL) {
        return;
    }
    if (item->received > player->received || item->input > player->input) {
        front_refuse(front, PH_BUS_REFUSAL_FIELD);
        return;
    }
    if (item->received > player->confirmed) {
        const uint64_t more = item->received - player->confirmed;
        const size_t size = size_of_first(&player->up, more);
        remove_first(&player->up, size);
        player->up_sent -= size < player->up_sent ? size : player->up_sent;
        player->confirmed = item->received;
        player->data_us = front->now_us;
        front->stats.confirmed_messages += more;
        ph_messages_confirm(messages, item->received);
        player->data_tries = 0;
    }
    if (item->input > player->input_confirmed) {
        player->input_confirmed = item->input;
        if (player->up_sent == 0) {
            player->data_us = front->now_us;
        }
        ph_messages_set_processed_input(messages, item->input);
        player->data_tries = 0;
    }
}

static void take_tell(ph_bus_front* front, front_player* player, const bus_item* item)
{
    const uint64_t next = player->told + (uint64_t)player->down_count + 1;
    if (item->first < next) {
        player->told_is_news = true; // the sim does not know it yet
        return;
    }
    if (item->first == next && player->down.size < DOWN_MAX &&
        append(front, &player->down, item->bytes, item->size)) {
        ++player->down_count;
    }
}

static void take_refused(ph_bus_front* front, front_player* player, const bus_item* item)
{
    char text[PH_REFUSAL_TEXT_MAX + 1] = {0};
    const size_t size = item->size < PH_REFUSAL_TEXT_MAX ? item->size : PH_REFUSAL_TEXT_MAX;
    if (size > 0) {
        memcpy(text, item->bytes, size);
    }
    if (item->generation < player->generation) {
        return;
    }
    if (item->generation > player->generation && player->state == PLAYER_ATTACHED) {
        player->state = PLAYER_OVER;
        player->since_us = front->now_us;
        return;
    }
    front_player_refuse(front, player, text[0] != '\0' ? text : "refused by the world");
}

// One entity, with its owner. What it says of others is not looked at.
static void take_own_batch(ph_bus_front* front, const bus_items* head, const bus_item* item)
{
    ph_import_peek peek;
    if (!ph_importer_peek(item->bytes, item->size, &peek) || peek.has_cell || peek.is_whole ||
        peek.record_count != 1 || peek.owner != PH_REGION_OWNER(head->region) ||
        ph_importer_take(front->importer, item->bytes, item->size) != PH_OK) {
        front_refuse(front, PH_BUS_REFUSAL_BATCH);
        return;
    }
    ++front->stats.batches;
    ++front->stats.records;
}

static void take_own(ph_bus_front* front, front_player* player, const bus_items* head,
                     const bus_item* item)
{
    for (int i = 0; i < 3; ++i) {
        player->place_mm[i] = item->place_mm[i];
    }
    if (item->size > 0) {
        take_own_batch(front, head, item);
        player->has_own_batch = true;
    }
    front_player_follow(front, player);
}

static void take_moved(ph_bus_front* front, front_player* player, const bus_item* item)
{
    if (item->region == PH_REGION_NONE || item->region == player->region) {
        return;
    }
    player->region = item->region;
    if (player->state == PLAYER_ATTACHING) {
        front_player_attach(front, player);
    } else if (player->up.size > 0 || player->input > player->input_confirmed) {
        front_session_resend(front, player);
    }
}

// ---- attached

static bool import_state(ph_bus_front* front, front_player* player, const bus_item* item)
{
    ph_messages* messages = ph_host_messages(front->def.host, player->client);
    if (player->is_spare && item->state_size > 0) {
        if (ph_messages_import(messages, item->state, item->state_size) != PH_OK) {
            front_refuse(front, PH_BUS_REFUSAL_FIELD);
            return false;
        }
    } else if (item->received > 0) {
        return false; // its state is lost
    }
    player->received = ph_messages_received_count(messages);
    player->confirmed = player->received;
    player->input = ph_messages_newest_input(messages).number;
    player->input_sent = player->input;
    player->input_confirmed = 0;
    player->told = item->told;
    return true;
}

static void admit(ph_bus_front* front, front_player* player, const bus_item* item)
{
    ph_viewer_def view = front->def.view;
    view.sees = item->sees;
    view.audience = item->audience;
    view.entity = ph_world_find(front->def.world, player->key);
    for (int i = 0; i < 3; ++i) {
        player->place_mm[i] = item->place_mm[i];
        view.eye_mm[i] = item->place_mm[i];
    }
    const ph_result result =
        ph_host_admit(front->def.host, player->client, &view, &front->messages);
    if (result == PH_ERROR_STALE) {
        return; // it has left; its event is to come
    }
    if (result != PH_OK || !import_state(front, player, item)) {
        front_player_refuse(front, player, "the world cannot take this player over");
        return;
    }
    player->state = PLAYER_ATTACHED;
    player->since_us = front->now_us;
    player->entity = view.entity;
    player->had_entity = view.entity.index1 != 0;
    player->sees = item->sees;
    player->interest.sees = item->sees;
    player->interest.radius_mm = view.radius_mm;
    player->told_is_news = true; // the sim gets a state at once
    player->wants_spare = player->is_spare;
    ++front->stats.attached;
    front->has_told_silence = false;
    front_player_follow(front, player);
}

static void take_attached(ph_bus_front* front, front_player* player, const bus_item* item)
{
    player->region = item->region;
    if (player->state == PLAYER_ATTACHING) {
        admit(front, player, item);
        return;
    }
    if (item->received < player->confirmed) {
        front_player_refuse(front, player, "the world has lost this player");
        return;
    }
    if (item->sees != player->sees) {
        player->sees = item->sees;
        ph_viewer_set_sees(front->def.world, ph_host_viewer(front->def.host, player->client),
                           item->sees);
        front_interest_set_sees(front, &player->interest, item->sees);
    }
}

// ---- items

static void take_item(ph_bus_front* front, const bus_items* head, const bus_item* item)
{
    front_player* player = front_find_player(front, item->client_id);
    const bool is_served =
        player != NULL && (player->state == PLAYER_ATTACHING || player->state == PLAYER_ATTACHED);
    if (!is_served || item->key != player->key) {
        front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        return;
    }
    if (item->kind == BUS_ITEM_REFUSED) {
        take_refused(front, player, item);
        return;
    }
    if (item->generation != player->generation ||
        (player->state == PLAYER_ATTACHING && item->kind != BUS_ITEM_ATTACHED &&
         item->kind != BUS_ITEM_MOVED)) {
        return; // of a connection before, or before its turn: it is repeated
    }
    switch (item->kind) {
    case BUS_ITEM_ATTACHED:
        take_attached(front, player, item);
        break;
    case BUS_ITEM_CONFIRM:
        take_confirm(front, player, item);
        break;
    case BUS_ITEM_TELL:
        take_tell(front, player, item);
        break;
    case BUS_ITEM_MOVED:
        take_moved(front, player, item);
        break;
    default:
        take_own(front, player, head, item);
        break;
    }
}

void front_take_down(ph_bus_front* front, const ph_bus_message* message)
{
    bus_items head;
    ph_bus_refusal refusal;
    if (!bus_read_items(&head, message->bytes, message->size, &refusal)) {
        front_refuse(front, refusal);
        return;
    }
    if (!front_hear_epoch(front, head.region, head.epoch)) {
        return;
    }
    for (bus_item item; bus_next_item(&head, &item);) {
        take_item(front, &head, &item);
    }
}
