// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Byte for byte what a second writer makes of the standard (test/netcode_vectors.py, which has its
// own cryptography): test/netcode/vectors.txt. The other way round, `test_netcode_vectors --write
// FILE` leaves two whole sessions of ours for it to follow.

#include "netcode_stage.h"

#include "net/netcode_private.h"
#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 16, LINE_MAX_BYTES = 8192, NAME_MAX_BYTES = 32 };

// One block of the file: its kind, its name, and fields.
typedef struct vector {
    char kind[NAME_MAX_BYTES];
    char name[LINE_MAX_BYTES];
    char fields[FIELDS_MAX][NAME_MAX_BYTES];
    char values[FIELDS_MAX][LINE_MAX_BYTES];
    int field_count;
} vector;

static void split(const char* line, char word[NAME_MAX_BYTES], char rest[LINE_MAX_BYTES])
{
    const size_t length = strcspn(line, " ");
    assert_true(length < NAME_MAX_BYTES && line[length] == ' ');
    memcpy(word, line, length);
    word[length] = '\0';
    strcpy(rest, line + length + 1);
}

// @return false at the end of the file.
static bool read_vector(FILE* file, vector* it)
{
    static char line[LINE_MAX_BYTES];
    it->field_count = -1;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || (line[0] == '\0' && it->field_count < 0)) {
            continue;
        }
        if (line[0] == '\0') {
            return true;
        }
        if (it->field_count < 0) {
            split(line, it->kind, it->name);
        } else {
            assert_true(it->field_count < FIELDS_MAX);
            split(line, it->fields[it->field_count], it->values[it->field_count]);
        }
        ++it->field_count;
    }
    return false;
}

static const char* value_of(const vector* it, const char* field)
{
    for (int i = 0; i < it->field_count; ++i) {
        if (strcmp(it->fields[i], field) == 0) {
            return it->values[i];
        }
    }
    fail_msg("%s %s has no %s", it->kind, it->name, field);
    return NULL;
}

static uint64_t number_of(const vector* it, const char* field)
{
    return strtoull(value_of(it, field), NULL, 10);
}

// @return The number of bytes.
static size_t bytes_of(const vector* it, const char* field, uint8_t* bytes, size_t capacity)
{
    const char* text = value_of(it, field);
    size_t size = 0;
    for (; strcmp(text, "-") != 0 && text[size * 2] != '\0'; ++size) {
        assert_true(size < capacity);
        unsigned value;
        assert_int_equal(sscanf(text + size * 2, "%2x", &value), 1);
        bytes[size] = (uint8_t)value;
    }
    return size;
}

static void exact_bytes_of(const vector* it, const char* field, uint8_t* bytes, size_t size)
{
    assert_int_equal(bytes_of(it, field, bytes, size), size);
}

// Calls test for each vector of a kind; there must be at least so many.
static void for_each(const char* kind, int count_min, void (*test)(const vector* it))
{
    static vector it;
    FILE* file = fopen("test/netcode/vectors.txt", "r");
    assert_non_null(file);
    int count = 0;
    while (read_vector(file, &it)) {
        if (strcmp(it.kind, kind) == 0) {
            test(&it);
            ++count;
        }
    }
    fclose(file);
    assert_in_range(count, count_min, 1000);
}

// ---- tokens

static void put_addresses(const vector* it, ph_token_def* def)
{
    char texts[LINE_MAX_BYTES];
    strcpy(texts, value_of(it, "addresses"));
    for (char* text = strtok(texts, " "); text != NULL; text = strtok(NULL, " ")) {
        def->addresses[def->address_count++] = stage_address(text);
    }
}

static ph_token_def def_of(const vector* it, ph_token_secrets* secrets)
{
    ph_token_def def = ph_token_def_default();
    def.protocol_id = number_of(it, "protocol_id");
    def.client_id = number_of(it, "client_id");
    def.create_s = number_of(it, "create_s");
    def.lifetime_s = (uint32_t)(number_of(it, "expire_s") - def.create_s);
    def.timeout_s = (int32_t)strtol(value_of(it, "timeout_s"), NULL, 10);
    put_addresses(it, &def);
    exact_bytes_of(it, "private_key", def.private_key, sizeof def.private_key);
    exact_bytes_of(it, "user_data", def.user_data, sizeof def.user_data);
    exact_bytes_of(it, "nonce", secrets->nonce, sizeof secrets->nonce);
    exact_bytes_of(it, "client_to_server_key", secrets->client_to_server_key, PH_NETCODE_KEY_SIZE);
    exact_bytes_of(it, "server_to_client_key", secrets->server_to_client_key, PH_NETCODE_KEY_SIZE);
    return def;
}

static void write_token(const vector* it)
{
    ph_token_secrets secrets;
    const ph_token_def def = def_of(it, &secrets);
    uint8_t token[PH_TOKEN_SIZE];
    uint8_t expected[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write_with(&def, &secrets, token), PH_OK);
    exact_bytes_of(it, "token", expected, sizeof expected);
    assert_memory_equal(token, expected, sizeof token);
}

static void tokens_are_written_alike(void** state)
{
    (void)state;
    for_each("token", 4, write_token);
}

static void read_token(const vector* it)
{
    ph_token_secrets secrets;
    const ph_token_def def = def_of(it, &secrets);
    uint8_t bytes[PH_TOKEN_SIZE];
    exact_bytes_of(it, "token", bytes, sizeof bytes);
    ph_token token;
    assert_int_equal(ph_token_read(bytes, sizeof bytes, &token), PH_TOKEN_GOOD);
    assert_int_equal(token.protocol_id, def.protocol_id);
    assert_int_equal(token.create_s, def.create_s);
    assert_int_equal(token.expire_s, def.create_s + def.lifetime_s);
    assert_int_equal(token.timeout_s, def.timeout_s);
    assert_int_equal(token.address_count, def.address_count);
    assert_memory_equal(token.addresses, def.addresses, sizeof token.addresses);
    assert_memory_equal(&token.secrets, &secrets, sizeof secrets);
    assert_memory_equal(token.sealed, bytes + 61, sizeof token.sealed);
}

static void tokens_are_read_alike(void** state)
{
    (void)state;
    for_each("token", 4, read_token);
}

static void open_private(const vector* it)
{
    ph_token_secrets secrets;
    const ph_token_def def = def_of(it, &secrets);
    uint8_t bytes[PH_TOKEN_SIZE];
    exact_bytes_of(it, "token", bytes, sizeof bytes);
    const ph_token_seal seal = {
        .protocol_id = def.protocol_id,
        .expire_s = def.create_s + def.lifetime_s,
        .nonce = secrets.nonce,
        .key = def.private_key,
    };
    ph_token_private token;
    assert_int_equal(ph_token_private_open(bytes + 61, &seal, &token), PH_NET_REFUSAL_NONE);
    assert_int_equal(token.client_id, def.client_id);
    assert_int_equal(token.timeout_s, def.timeout_s);
    assert_int_equal(token.address_count, def.address_count);
    assert_memory_equal(token.addresses, def.addresses, sizeof token.addresses);
    assert_memory_equal(token.client_to_server_key, secrets.client_to_server_key, 32);
    assert_memory_equal(token.server_to_client_key, secrets.server_to_client_key, 32);
    assert_memory_equal(token.user_data, def.user_data, sizeof token.user_data);
}

static void private_tokens_open(void** state)
{
    (void)state;
    for_each("token", 4, open_private);
}

typedef struct sent_datagram {
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
    size_t size;
} sent_datagram;

static void keep_datagram(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)to;
    sent_datagram* kept = context;
    memcpy(kept->bytes, bytes, size);
    kept->size = size;
}

static void request_with(const vector* it)
{
    sent_datagram sent = {.size = 0};
    ph_net_client_def def = ph_net_client_def_default();
    def.sink.send = keep_datagram;
    def.sink.context = &sent;
    ph_net_client* client;
    assert_int_equal(ph_net_client_create(&def, &client), PH_OK);
    uint8_t token[PH_TOKEN_SIZE];
    exact_bytes_of(it, "token", token, sizeof token);
    ph_net_client_connect(client, token, sizeof token, 0);
    ph_net_client_destroy(client);
    uint8_t expected[PH_NETCODE_REQUEST_SIZE];
    exact_bytes_of(it, "request", expected, sizeof expected);
    assert_int_equal(sent.size, sizeof expected);
    assert_memory_equal(sent.bytes, expected, sizeof expected);
}

static void clients_send_these_requests(void** state)
{
    (void)state;
    for_each("token", 4, request_with);
}

// ---- challenges and packets

static void challenge(const vector* it)
{
    uint8_t key[PH_NETCODE_KEY_SIZE];
    uint8_t expected[PH_CHALLENGE_DATA_SIZE];
    uint8_t data[PH_CHALLENGE_DATA_SIZE];
    ph_challenge made = {
        .sequence = number_of(it, "sequence"),
        .client_id = number_of(it, "client_id"),
    };
    exact_bytes_of(it, "key", key, sizeof key);
    exact_bytes_of(it, "user_data", made.user_data, sizeof made.user_data);
    for (int i = 0; i < 8; ++i) {
        expected[i] = (uint8_t)(made.sequence >> (8 * i));
    }
    exact_bytes_of(it, "sealed", expected + 8, PH_CHALLENGE_SIZE);
    ph_challenge_seal(&made, key, data);
    assert_memory_equal(data, expected, sizeof data);

    ph_challenge opened;
    assert_true(ph_challenge_open(expected, key, &opened));
    assert_int_equal(opened.sequence, made.sequence);
    assert_int_equal(opened.client_id, made.client_id);
    assert_memory_equal(opened.user_data, made.user_data, sizeof made.user_data);
}

static void challenges_are_sealed_and_opened_alike(void** state)
{
    (void)state;
    for_each("challenge", 3, challenge);
}

static void packet(const vector* it)
{
    uint8_t key[PH_NETCODE_KEY_SIZE];
    uint8_t data[PH_NETCODE_PAYLOAD_MAX];
    uint8_t expected[PH_NETCODE_DATAGRAM_MAX];
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    exact_bytes_of(it, "key", key, sizeof key);
    const size_t data_size = bytes_of(it, "data", data, sizeof data);
    const size_t expected_size = bytes_of(it, "datagram", expected, sizeof expected);
    const ph_netcode_lock lock = {.protocol_id = number_of(it, "protocol_id"), .key = key};
    const ph_netcode_type type = (ph_netcode_type)number_of(it, "type");
    const uint64_t sequence = number_of(it, "sequence");

    const size_t size = ph_netcode_seal(&lock, type, sequence, data, data_size, datagram);
    assert_int_equal(size, expected_size);
    assert_int_equal(ph_netcode_sealed_size(sequence, data_size), expected_size);
    assert_memory_equal(datagram, expected, size);

    ph_netcode_opened opened;
    assert_int_equal(ph_netcode_open(&lock, NULL, expected, expected_size, &opened),
                     PH_NET_REFUSAL_NONE);
    assert_int_equal(opened.type, type);
    assert_int_equal(opened.sequence, sequence);
    assert_int_equal(opened.data_size, data_size);
    assert_memory_equal(opened.data, data, data_size);
}

static void packets_are_sealed_and_opened_alike(void** state)
{
    (void)state;
    for_each("packet", 35, packet);
}

// ---- sessions for the other reader

static FILE* out;

static void write_hex(const char* word, const void* bytes, size_t size)
{
    fprintf(out, "%s ", word);
    for (size_t i = 0; i < size; ++i) {
        fprintf(out, "%02x", ((const uint8_t*)bytes)[i]);
    }
    fprintf(out, "\n");
}

static bool write_down(netcode_stage* x, stage_datagram* datagram)
{
    const bool is_up = !ph_address_is_equal(&datagram->from, &x->server_port.address);
    write_hex(is_up ? "up" : "down", datagram->bytes, datagram->size);
    return true;
}

// Begins a session with a random token.
static void begin_session(netcode_stage* x, int client)
{
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + (uint64_t)client);
    def.addresses[def.address_count++] = stage_address("[2001:db8::5]:40000");
    def.timeout_s = -1;
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    write_hex("token", token, sizeof token);
    write_hex("user_data", def.user_data, sizeof def.user_data);
    fprintf(out, "client_id %llu\n", (unsigned long long)def.client_id);
    ph_net_client_connect(x->clients[client], token, sizeof token, x->now_us);
    stage_deliver(x);
}

static void write_payload(netcode_stage* x, int client, size_t size)
{
    uint8_t payload[PH_NETCODE_PAYLOAD_MAX];
    memset(payload, (int)size, size);
    write_hex("payload", payload, size);
    if (client >= 0) {
        assert_true(ph_net_client_send(x->clients[client], payload, size));
    } else {
        assert_true(ph_net_server_send(x->server, 0, payload, size));
    }
    stage_deliver(x);
}

// One that connects, speaks, is silent for 300 ms and leaves; one that finds the server full.
static void write_sessions(void)
{
    netcode_stage* x = stage_setup(1);
    x->filter = write_down;
    write_hex("private_key", x->server_def.private_key, sizeof x->server_def.private_key);
    begin_session(x, 0);
    write_payload(x, -1, 100); // not confirmed yet: a keep-alive goes before it
    write_payload(x, 0, 1);
    write_payload(x, 0, 1200);
    write_payload(x, -1, 1200);
    stage_run(x, 300);
    ph_net_client_disconnect(x->clients[0]);
    stage_deliver(x);
    fprintf(out, "keep_alive 0 1\n");
    fprintf(out, "expect up 0 3 5 5 4 4 4 6 6 6 6 6 6 6 6 6 6\n");
    fprintf(out, "expect down 2 4 4 5 5 4 4 4\n");

    ph_net_event event;
    while (ph_net_server_next_event(x->server, &event)) {
    }
    x->filter = NULL;
    stage_join(x, 1);
    x->filter = write_down;
    begin_session(x, 2);
    fprintf(out, "expect up 0 0\n"); // and then the second address of its token
    fprintf(out, "expect down 1\n");
    stage_teardown(x);
}

int main(int argc, char** argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        out = fopen(argv[2], "w");
        if (out == NULL) {
            return 1;
        }
        write_sessions();
        return fclose(out) == 0 ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_written_alike),
        cmocka_unit_test(tokens_are_read_alike),
        cmocka_unit_test(private_tokens_open),
        cmocka_unit_test(clients_send_these_requests),
        cmocka_unit_test(challenges_are_sealed_and_opened_alike),
        cmocka_unit_test(packets_are_sealed_and_opened_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
