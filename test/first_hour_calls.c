// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Single calls that cannot work: wrong defs, schemas, addresses, values. Real sockets on loopback where the answer is
// the system's.

#include "first_hour.h"

#include <string.h>

// ---- schemas as text

static void parse(const char* text)
{
    ph_error error = {0};
    ph_schema* schema = NULL;
    const ph_result result = ph_schema_parse(text, strlen(text), NULL, &schema, &error);
    hour_must(schema == NULL, "a wrong schema is taken");
    hour_say_result(result, &error);
}

static void schema_unknown_coding(void)
{
    parse("class ship\n    place: position\n    hull: rnage 0..100\n");
}

static void schema_no_position(void)
{
    parse("class ship\n    hull: range 0..100\n");
}

static void schema_property_twice(void)
{
    parse("class ship\n    place: position\n    hull: range 0..100\n    hull: bool\n");
}

static void schema_empty(void)
{
    parse("");
}

static void schema_line_ends(void)
{
    static const char text[] = "class ship\r\n\tplace: position\r\n\thull: range 0..100\r\n";
    ph_error error = {0};
    ph_schema* schema = NULL;
    const ph_result result = ph_schema_parse(text, strlen(text), NULL, &schema, &error);
    if (result == PH_OK) {
        hour_say("works", "line ends of Windows and tabs");
    } else {
        hour_say_result(result, &error);
    }
    ph_schema_destroy(schema);
}

// ---- hosts

typedef struct host_try {
    ph_schema* schema;
    ph_world* world;
    ph_error error;
    ph_host_def def;
} host_try;

static void begin_host(host_try* t)
{
    *t = (host_try){.def = ph_host_def_default()};
    hour_must(ph_schema_parse(HOUR_SCHEMA, strlen(HOUR_SCHEMA), NULL, &t->schema, NULL) == PH_OK,
              "no schema");
    ph_world_def world = ph_world_def_default();
    world.schema = t->schema;
    world.on_error = ph_error_keep;
    world.on_error_context = &t->error;
    hour_must(ph_world_create(&world, &t->world) == PH_OK, "no world");
    t->def.world = t->world;
    t->def.on_error = ph_error_keep;
    t->def.on_error_context = &t->error;
    memcpy(t->def.private_key, hour_key, sizeof hour_key);
}

static void end_host(host_try* t)
{
    ph_world_destroy(t->world);
    ph_schema_destroy(t->schema);
}

// Opens it, says what came of it, and closes all.
static void open_host(host_try* t)
{
    ph_host* host = NULL;
    const ph_result result = ph_host_open(&t->def, &host);
    hour_must(host == NULL, "a host that cannot work is opened");
    hour_say_result(result, &t->error);
    end_host(t);
}

static ph_address address_of(const char* text)
{
    ph_address address;
    hour_must(ph_address_parse(text, &address, NULL) == PH_OK, "no address");
    return address;
}

static void host_no_world(void)
{
    host_try t;
    begin_host(&t);
    t.def.world = NULL;
    open_host(&t);
}

static void host_bare_def(void)
{
    host_try t;
    begin_host(&t);
    t.def.cookie = 0;
    open_host(&t);
}

static void host_other_tick(void)
{
    host_try t;
    begin_host(&t);
    t.def.tick_us = 50000;
    open_host(&t);
}

static void host_any_address(void)
{
    host_try t;
    begin_host(&t);
    t.def.listen_address = address_of("0.0.0.0:40000");
    open_host(&t);
}

static void host_foreign_address(void)
{
    host_try t;
    begin_host(&t);
    t.def.listen_address = address_of("192.0.2.1:40000"); // for documents: no machine has it
    open_host(&t);
}

static void host_port_taken(void)
{
    host_try first;
    begin_host(&first);
    ph_host* host = NULL;
    hour_must(ph_host_open(&first.def, &host) == PH_OK, "no host");
    host_try second;
    begin_host(&second);
    second.def.listen_address = ph_host_local_address(host);
    open_host(&second);
    ph_host_close(host);
    end_host(&first);
}

static void host_no_clients(void)
{
    host_try t;
    begin_host(&t);
    t.def.client_capacity = 0;
    open_host(&t);
}

static void key_zero(void)
{
    host_try t;
    begin_host(&t);
    memset(t.def.private_key, 0, sizeof t.def.private_key);
    open_host(&t);
}

static void dev_and_key(void)
{
    host_try t;
    begin_host(&t);
    t.def.is_insecure_dev = true;
    open_host(&t);
}

static void dev_public_server(void)
{
    host_try t;
    begin_host(&t);
    memset(t.def.private_key, 0, sizeof t.def.private_key);
    t.def.is_insecure_dev = true;
    t.def.listen_address = address_of("203.0.113.9:40000");
    open_host(&t);
}

static void host_ipv6(void)
{
    host_try t;
    begin_host(&t);
    t.def.listen_address = address_of("[::1]:0");
    ph_host* host = NULL;
    const ph_result result = ph_host_open(&t.def, &host);
    if (result == PH_OK) {
        hour_say("works", "a host at [::1]");
    } else {
        hour_say("skipped", "this machine has no IPv6");
    }
    ph_host_close(host);
    end_host(&t);
}

// ---- peers and tokens

static void peer_no_schema(void)
{
    ph_error error = {0};
    ph_peer_def def = ph_peer_def_default();
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    ph_peer* peer = NULL;
    const ph_result result = ph_peer_open(&def, &peer);
    hour_must(peer == NULL, "a peer without a schema is opened");
    hour_say_result(result, &error);
}

static void connect_to(const char* address)
{
    host_try t;
    begin_host(&t); // for its schema
    ph_peer_def def = ph_peer_def_default();
    def.schema = t.schema;
    def.on_error = ph_error_keep;
    def.on_error_context = &t.error;
    ph_peer* peer = NULL;
    hour_must(ph_peer_open(&def, &peer) == PH_OK, "no peer");
    const ph_result result = ph_peer_connect_to(peer, address);
    hour_must(result != PH_OK, "connects where it must not");
    hour_say_result(result, &t.error);
    ph_peer_close(peer);
    end_host(&t);
}

static void dev_public_client(void)
{
    connect_to("203.0.113.9:40000");
}

static void dev_client_bad_address(void)
{
    connect_to("localhost");
}

static void write_token(void (*spoil)(ph_token_def*))
{
    ph_error error = {0};
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = hour_token_def(NULL, 1);
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    spoil(&def);
    const ph_result result = ph_token_write(&def, token);
    hour_must(result != PH_OK, "a token that is of no use is made");
    hour_say_result(result, &error);
}

static void spoil_addresses(ph_token_def* def)
{
    def->address_count = 0;
}

static void token_no_address(void)
{
    write_token(spoil_addresses);
}

static void spoil_key(ph_token_def* def)
{
    memset(def->private_key, 0, sizeof def->private_key);
}

static void token_key_zero(void)
{
    write_token(spoil_key);
}

static void spoil_create(ph_token_def* def)
{
    def->create_s = 0;
}

static void token_no_time(void)
{
    write_token(spoil_create);
}

static void spoil_unit(ph_token_def* def)
{
    def->create_s *= 1000;
}

static void token_time_in_ms(void)
{
    write_token(spoil_unit);
}

static void read_key(const char* path)
{
    ph_error error = {0};
    uint8_t key[PH_NETCODE_KEY_SIZE];
    const ph_result result = ph_key_read_file(path, key, &error);
    hour_must(result != PH_OK, "what is no key is taken for one");
    hour_say_result(result, &error);
}

static void key_file_absent(void)
{
    read_key("absent.key");
}

static void key_file_folder(void)
{
    read_key(".");
}

static void spoil_timeout(ph_token_def* def)
{
    def->timeout_s = 0;
}

static void token_no_timeout(void)
{
    write_token(spoil_timeout);
}

// ---- addresses and names

static void parse_address(const char* text)
{
    ph_error error = {0};
    ph_address address;
    const ph_result result = ph_address_parse(text, &address, &error);
    hour_must(result != PH_OK, "a wrong address is taken");
    hour_say_result(result, &error);
}

static void address_syntax(void)
{
    parse_address("192.0.2.256:40000");
}

static void address_is_name(void)
{
    parse_address("localhost:40000");
}

static void resolve(const char* text)
{
    ph_error error = {0};
    ph_address addresses[4];
    int count = 0;
    const ph_result result = ph_address_resolve(text, addresses, 4, &count, &error);
    if (result == PH_OK) {
        char printed[PH_ADDRESS_TEXT_MAX];
        hour_say("works", ph_address_print(&addresses[0], printed));
    } else {
        hour_say_result(result, &error);
    }
}

static void name_no_port(void)
{
    resolve("play.example.org");
}

static void name_wrong_port(void)
{
    resolve("play.example.org:70000");
}

static void name_unknown(void)
{
    // RFC 6761: such a name never exists, but there are name servers that know every name.
    ph_address address;
    int count = 0;
    if (ph_address_resolve("no-such-host.invalid:40000", &address, 1, &count, NULL) == PH_OK) {
        hour_say("skipped", "the name server here knows every name");
    } else {
        resolve("no-such-host.invalid:40000");
    }
}

static void name_ipv6(void)
{
    resolve("[2001:db8::1]:40000");
}

static void name_ipv6_bare(void)
{
    resolve("2001:db8::1:40000");
}

// ---- worlds

static void world_no_schema(void)
{
    ph_error error = {0};
    ph_world_def def = ph_world_def_default();
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    ph_world* world = NULL;
    const ph_result result = ph_world_create(&def, &world);
    hour_must(world == NULL, "a world without a schema is made");
    hour_say_result(result, &error);
}

static void tick_in_ms(void)
{
    host_try t;
    begin_host(&t);
    ph_world_def def = ph_world_def_default();
    def.schema = t.schema;
    def.tick_us = 50;
    def.on_error = ph_error_keep;
    def.on_error_context = &t.error;
    ph_world* world = NULL;
    const ph_result result = ph_world_create(&def, &world);
    hour_must(world == NULL, "a world with a tick of 50 us is made");
    hour_say_result(result, &t.error);
    end_host(&t);
}

static void class_unknown(void)
{
    host_try t;
    begin_host(&t);
    const ph_spawn spawn = {.key = 1, .class_index = 3};
    hour_say_result(ph_world_spawn(t.world, &spawn, &(ph_entity_id){0}), &t.error);
    end_host(&t);
}

static void view_too_large(void)
{
    host_try t;
    begin_host(&t);
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.visible_max = 5000;
    hour_say_result(ph_world_add_viewer(t.world, &viewer, &(ph_viewer_id){0}), &t.error);
    end_host(&t);
}

static void value_wrong_type(void)
{
    host_try t;
    begin_host(&t);
    ph_entity_id ship;
    hour_must(ph_world_spawn(t.world, &(ph_spawn){.key = 1}, &ship) == PH_OK, "no entity");
    const double value = 50.0; // of a whole number
    const ph_result result =
        ph_world_set_property(t.world, ship, 1, PH_FIELD_F64, &value, sizeof value);
    hour_say_result(result, &t.error);
    end_host(&t);
}

static void entity_dead(void)
{
    host_try t;
    begin_host(&t);
    ph_entity_id ship;
    hour_must(ph_world_spawn(t.world, &(ph_spawn){.key = 1}, &ship) == PH_OK, "no entity");
    ph_world_despawn(t.world, ship);
    hour_say_result(ph_world_move(t.world, ship, 0, 0, 0), &t.error);
    end_host(&t);
}

static void entity_too_far(void)
{
    host_try t;
    begin_host(&t);
    ph_entity_id ship;
    hour_must(ph_world_spawn(t.world, &(ph_spawn){.key = 1}, &ship) == PH_OK, "no entity");
    hour_say_result(ph_world_move(t.world, ship, INT64_C(9000000000), 0, 0), &t.error);
    end_host(&t);
}

static void key_twice(void)
{
    host_try t;
    begin_host(&t);
    ph_entity_id ship;
    hour_must(ph_world_spawn(t.world, &(ph_spawn){.key = 1}, &ship) == PH_OK, "no entity");
    hour_say_result(ph_world_spawn(t.world, &(ph_spawn){.key = 1}, &ship), &t.error);
    end_host(&t);
}

static void budget_too_small(void)
{
    host_try t;
    begin_host(&t);
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.bits_per_second = 13; // it counts bits, not kbit
    hour_say_result(ph_world_add_viewer(t.world, &viewer, &(ph_viewer_id){0}), &t.error);
    end_host(&t);
}

static void radius_too_large(void)
{
    host_try t;
    begin_host(&t);
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.radius_mm = 1000000;
    hour_say_result(ph_world_add_viewer(t.world, &viewer, &(ph_viewer_id){0}), &t.error);
    end_host(&t);
}

const hour_case hour_call_cases[] = {
    {"schema_unknown_coding", schema_unknown_coding},
    {"schema_no_position", schema_no_position},
    {"schema_property_twice", schema_property_twice},
    {"schema_empty", schema_empty},
    {"schema_line_ends", schema_line_ends},
    {"host_no_world", host_no_world},
    {"host_bare_def", host_bare_def},
    {"host_other_tick", host_other_tick},
    {"host_any_address", host_any_address},
    {"host_foreign_address", host_foreign_address},
    {"host_port_taken", host_port_taken},
    {"host_no_clients", host_no_clients},
    {"key_zero", key_zero},
    {"dev_and_key", dev_and_key},
    {"dev_public_server", dev_public_server},
    {"dev_public_client", dev_public_client},
    {"dev_client_bad_address", dev_client_bad_address},
    {"token_key_zero", token_key_zero},
    {"host_ipv6", host_ipv6},
    {"peer_no_schema", peer_no_schema},
    {"token_no_address", token_no_address},
    {"token_no_time", token_no_time},
    {"token_time_in_ms", token_time_in_ms},
    {"token_no_timeout", token_no_timeout},
    {"key_file_absent", key_file_absent},
    {"key_file_folder", key_file_folder},
    {"address_syntax", address_syntax},
    {"address_is_name", address_is_name},
    {"name_no_port", name_no_port},
    {"name_wrong_port", name_wrong_port},
    {"name_unknown", name_unknown},
    {"name_ipv6", name_ipv6},
    {"name_ipv6_bare", name_ipv6_bare},
    {"world_no_schema", world_no_schema},
    {"tick_in_ms", tick_in_ms},
    {"class_unknown", class_unknown},
    {"view_too_large", view_too_large},
    {"value_wrong_type", value_wrong_type},
    {"entity_dead", entity_dead},
    {"entity_too_far", entity_too_far},
    {"key_twice", key_twice},
    {"budget_too_small", budget_too_small},
    {"radius_too_large", radius_too_large},
    {NULL, NULL},
};
