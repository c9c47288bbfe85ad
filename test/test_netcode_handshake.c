// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a client gets in, and everybody who does not.

#include "netcode_stage.h"

#include <string.h>

static void a_token_leads_to_a_connection(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    stage_connect(x, 0);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(ph_net_client_index(x->clients[0]), 0);
    assert_int_equal(ph_net_client_max_clients(x->clients[0]), 4);

    const ph_net_event event = stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(event.client, 0);
    assert_int_equal(event.client_id, STAGE_FIRST_ID);
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    assert_memory_equal(event.user_data, def.user_data, sizeof def.user_data);
    stage_expect_no_event(x);
    ph_net_client_info info;
    assert_true(ph_net_server_client(x->server, 0, &info));
    assert_int_equal(info.client_id, STAGE_FIRST_ID);
    assert_true(ph_address_is_equal(&info.address, &x->ports[0].address));
    stage_teardown(x);
}

static void payloads_go_both_ways(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    stage_join(x, 2);
    uint8_t payload[PH_NETCODE_PAYLOAD_MAX];
    for (size_t size = 1; size <= sizeof payload; size += 109) {
        memset(payload, (int)size, size);
        assert_true(ph_net_client_send(x->clients[2], payload, size));
        stage_deliver(x);
        assert_int_equal(x->last.size, size);
        assert_int_equal(x->last.client, 0);
        assert_memory_equal(x->last.bytes, payload, size);

        memset(payload, (int)size + 1, size);
        assert_true(ph_net_server_send(x->server, 0, payload, size));
        stage_deliver(x);
        assert_int_equal(x->last.size, size);
        assert_memory_equal(x->last.bytes, payload, size);
    }
    assert_int_equal(x->server_payloads, 12);
    assert_int_equal(x->client_payloads, 12);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_leads_to_a_connection),
        cmocka_unit_test(payloads_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
