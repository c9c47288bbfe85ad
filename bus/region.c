// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The map of regions, and the ticket in a player's token:
//
//   | "PHT" 3 | version 1 | generation 8 | key 8 | region 2 | is_spare 1 | zeros |
//
// The region of a cell is asked for when an entity changes its cell; a ticket is read when a player connects.

#include "bus/bus_coder.h"

#include <string.h>

int ph_region_at(const ph_region* map, int count, ph_cell cell)
{
    for (int i = 0; i < count; ++i) {
        const ph_region* it = &map[i];
        if (cell.x >= it->from.x && cell.x <= it->to.x && cell.y >= it->from.y &&
            cell.y <= it->to.y) {
            return it->number;
        }
    }
    return PH_REGION_NONE;
}

// ---- tickets

enum {
    MARK_SIZE = 4,
    TICKET_SIZE = MARK_SIZE + 8 + 8 + 2 + 1,
};
_Static_assert(TICKET_SIZE <= PH_TOKEN_USER_DATA_SIZE, "it fits into the user data");

static const uint8_t mark[MARK_SIZE] = {'P', 'H', 'T', 1};

static uint8_t* put_number(uint8_t* at, uint64_t value, int width)
{
    for (int i = 0; i < width; ++i) {
        *at++ = (uint8_t)(value >> (8 * i));
    }
    return at;
}

void ph_ticket_write(const ph_ticket* ticket, uint8_t user_data[PH_TOKEN_USER_DATA_SIZE])
{
    PH_ASSERT(ticket->region >= 0 && ticket->region <= PH_REGION_NONE);
    memset(user_data, 0, PH_TOKEN_USER_DATA_SIZE);
    memcpy(user_data, mark, MARK_SIZE);
    uint8_t* at = put_number(user_data + MARK_SIZE, ticket->generation, 8);
    at = put_number(at, ticket->key, 8);
    at = put_number(at, (uint64_t)ticket->region, 2);
    *at = ticket->is_spare ? 1 : 0;
}

bool ph_ticket_read(ph_ticket* ticket, const uint8_t user_data[PH_TOKEN_USER_DATA_SIZE])
{
    *ticket = (ph_ticket){.region = PH_REGION_NONE};
    bus_coder coder = {.at = user_data + MARK_SIZE, .left = TICKET_SIZE - MARK_SIZE};
    bus_code_rule(&coder, memcmp(user_data, mark, MARK_SIZE) == 0);
    for (int i = TICKET_SIZE; i < PH_TOKEN_USER_DATA_SIZE; ++i) {
        bus_code_rule(&coder, user_data[i] == 0);
    }
    bus_code_u64(&coder, &ticket->generation);
    bus_code_u64(&coder, &ticket->key);
    bus_code_int(&coder, &ticket->region, 2, PH_REGION_NONE);
    bus_code_bool(&coder, &ticket->is_spare);
    if (coder.is_refused) {
        *ticket = (ph_ticket){.region = PH_REGION_NONE};
    }
    return !coder.is_refused;
}
