// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Connect tokens: what may be asked for, what is refused. Their bytes are in test_netcode_vectors.c.

#include "netcode_stage.h"

#include "net/net_tools.h"
#include "net/netcode_private.h"

#include <stdio.h>
#include <string.h>

enum {
    CREATE_AT = 21,
    PRIVATE_AT = 61,
    COUNT_AT = PRIVATE_AT + 1024 + 4,
    KIND_AT = COUNT_AT + 4,
};

static ph_token_def sound_def(void)
{
    ph_token_def def = ph_token_def_default();
    def.create_s = 1000;
    def.private_key[0] = 1;
    def.addresses[0] = stage_address("127.0.0.1:40000");
    def.addresses[1] = stage_address("[::1]:40000");
    def.address_count = 2;
    return def;
}

static void write_sound(uint8_t token[PH_TOKEN_SIZE])
{
    const ph_token_def def = sound_def();
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}

static void no_two_tokens_share_a_secret(void** state)
{
    (void)state;
    uint8_t bytes[2][PH_TOKEN_SIZE];
    ph_token tokens[2];
    for (int i = 0; i < 2; ++i) {
        write_sound(bytes[i]);
        assert_int_equal(ph_token_read(bytes[i], PH_TOKEN_SIZE, &tokens[i]), PH_TOKEN_GOOD);
    }
    const ph_token_secrets* a = &tokens[0].secrets;
    const ph_token_secrets* b = &tokens[1].secrets;
    assert_memory_not_equal(a->nonce, b->nonce, sizeof a->nonce);
    assert_memory_not_equal(a->client_to_server_key, b->client_to_server_key, 32);
    assert_memory_not_equal(a->server_to_client_key, b->server_to_client_key, 32);
    assert_memory_not_equal(a->client_to_server_key, a->server_to_client_key, 32);
    assert_memory_not_equal(tokens[0].sealed, tokens[1].sealed, 1024);
}

static void only_sound_ones_are_made(void** state)
{
    (void)state;
    static const uint8_t zeros[PH_TOKEN_SIZE];
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = sound_def();
    def.address_count = 0;
    assert_int_equal(ph_token_write(&def, token), PH_ERROR_ARGUMENT);
    assert_memory_equal(token, zeros, sizeof token);
    def.address_count = 33;
    assert_int_equal(ph_token_write(&def, token), PH_ERROR_ARGUMENT);
    def.address_count = 3; // the third is none
    assert_int_equal(ph_token_write(&def, token), PH_ERROR_ARGUMENT);
    def = sound_def();
    const ph_token_secrets secrets = {{1}, {2}, {3}};
    def.create_s = UINT64_MAX - 29;
    assert_int_equal(ph_token_write_with(&def, &secrets, token), PH_ERROR_ARGUMENT);
    def.create_s = UINT64_MAX - 30;
    assert_int_equal(ph_token_write_with(&def, &secrets, token), PH_OK);
}

static void time_that_is_none_is_refused(void** state)
{
    (void)state;
    static const struct {
        uint64_t create_s;
        uint32_t lifetime_s;
        const char* sentence;
    } cases[] = {
        {0, 30,
         "ph_token_def.create_s is 0, so that it has expired; it must be the time now, in Unix "
         "seconds, as time(NULL) gives it"},
        {UINT64_C(1790000000000), 30,
         "ph_token_def.create_s is a time in thousands of years, maybe in milliseconds; it must be "
         "the time now, in Unix seconds, as time(NULL) gives it"},
        {1790000000, 0,
         "ph_token_def.lifetime_s is 0, so that it expires at once; it must be 1 or more seconds"},
    };
    static const uint8_t zeros[PH_TOKEN_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ph_error error = {0};
        uint8_t token[PH_TOKEN_SIZE];
        ph_token_def def = sound_def();
        def.create_s = cases[i].create_s;
        def.lifetime_s = cases[i].lifetime_s;
        def.on_error = ph_error_keep;
        def.on_error_context = &error;
        assert_int_equal(ph_token_write(&def, token), PH_ERROR_ARGUMENT);
        assert_string_equal(error.text, cases[i].sentence);
        assert_memory_equal(token, zeros, sizeof token);
    }
}

static ph_token_fault fault_of(const uint8_t bytes[PH_TOKEN_SIZE], size_t size)
{
    static const ph_token zeros;
    ph_token token;
    memset(&token, 0xCC, sizeof token);
    const ph_token_fault fault = ph_token_read(bytes, size, &token);
    if (fault != PH_TOKEN_GOOD) {
        assert_memory_equal(&token, &zeros, sizeof token);
    }
    return fault;
}

static void a_token_of_another_size_is_refused(void** state)
{
    (void)state;
    uint8_t token[PH_TOKEN_SIZE];
    write_sound(token);
    assert_int_equal(fault_of(token, PH_TOKEN_SIZE), PH_TOKEN_GOOD);
    assert_int_equal(fault_of(token, PH_TOKEN_SIZE - 1), PH_TOKEN_FAULT_SIZE);
    assert_int_equal(fault_of(token, 0), PH_TOKEN_FAULT_SIZE);
}

static void a_token_of_another_version_is_refused(void** state)
{
    (void)state;
    uint8_t token[PH_TOKEN_SIZE];
    for (int i = 0; i < 13; ++i) {
        write_sound(token);
        token[i] ^= 1;
        assert_int_equal(fault_of(token, PH_TOKEN_SIZE), PH_TOKEN_FAULT_VERSION);
    }
}

static void a_token_made_later_than_it_expires_is_refused(void** state)
{
    (void)state;
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = sound_def();
    def.lifetime_s = 1;
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    ++token[CREATE_AT];
    assert_int_equal(fault_of(token, PH_TOKEN_SIZE), PH_TOKEN_GOOD);
    ++token[CREATE_AT];
    assert_int_equal(fault_of(token, PH_TOKEN_SIZE), PH_TOKEN_FAULT_TIME);
}

static void a_token_with_0_or_33_addresses_is_refused(void** state)
{
    (void)state;
    static const uint32_t counts[] = {0, 33, 256, 0x01000002, UINT32_MAX};
    uint8_t token[PH_TOKEN_SIZE];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        write_sound(token);
        for (int byte = 0; byte < 4; ++byte) {
            token[COUNT_AT + byte] = (uint8_t)(counts[i] >> (8 * byte));
        }
        assert_int_equal(fault_of(token, PH_TOKEN_SIZE), PH_TOKEN_FAULT_ADDRESS_COUNT);
    }
}

static void a_token_with_an_unknown_kind_of_address_is_refused(void** state)
{
    (void)state;
    for (int kind = 0; kind < 256; ++kind) {
        uint8_t token[PH_TOKEN_SIZE];
        write_sound(token);
        token[KIND_AT + 7] = (uint8_t)kind; // of the second, behind an IPv4 one
        assert_int_equal(fault_of(token, PH_TOKEN_SIZE),
                         kind == 1 || kind == 2 ? PH_TOKEN_GOOD : PH_TOKEN_FAULT_ADDRESS_KIND);
    }
}

static void any_bytes_are_read_without_harm(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    int good_count = 0;
    for (int round = 0; round < 20000; ++round) {
        uint8_t token[PH_TOKEN_SIZE];
        if (round % 16 == 0) {
            write_sound(token);
        }
        for (int change = 0; change < 3; ++change) {
            token[test_rng_below(&rng, 5) == 0 ? COUNT_AT : test_rng_below(&rng, PH_TOKEN_SIZE)] =
                (uint8_t)test_rng_next(&rng);
        }
        good_count += fault_of(token, PH_TOKEN_SIZE) == PH_TOKEN_GOOD;
    }
    assert_in_range(good_count, 100, 19900);
}

// ---- the private part

typedef struct private_fixture {
    uint8_t bytes[PH_TOKEN_SIZE];
    ph_token token;
    uint8_t key[PH_NETCODE_KEY_SIZE];
    ph_token_seal seal;
} private_fixture;

static void setup_private(private_fixture* f)
{
    write_sound(f->bytes);
    assert_int_equal(ph_token_read(f->bytes, PH_TOKEN_SIZE, &f->token), PH_TOKEN_GOOD);
    memset(f->key, 0, sizeof f->key);
    f->key[0] = 1;
    f->seal = (ph_token_seal){
        .protocol_id = 0,
        .expire_s = 1030,
        .nonce = f->token.secrets.nonce,
        .key = f->key,
    };
}

static ph_net_refusal open_private(const private_fixture* f)
{
    ph_token_private token;
    return ph_token_private_open(f->token.sealed, &f->seal, &token);
}

static void no_byte_of_the_private_part_can_be_changed(void** state)
{
    (void)state;
    private_fixture f;
    setup_private(&f);
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_NONE);
    for (int i = 0; i < PH_TOKEN_PRIVATE_SIZE; ++i) {
        f.token.sealed[i] ^= 0x10;
        assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_SEAL);
        f.token.sealed[i] ^= 0x10;
    }
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_NONE);
}

static void what_stands_beside_it_cannot_be_changed_either(void** state)
{
    (void)state;
    private_fixture f;
    setup_private(&f);
    ++f.seal.expire_s;
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_SEAL);
    --f.seal.expire_s;
    ++f.seal.protocol_id;
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_SEAL);
    --f.seal.protocol_id;
    for (int i = 0; i < PH_TOKEN_NONCE_SIZE; ++i) {
        f.token.secrets.nonce[i] ^= 1;
        assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_SEAL);
        f.token.secrets.nonce[i] ^= 1;
    }
    for (int i = 0; i < PH_NETCODE_KEY_SIZE; ++i) {
        f.key[i] ^= 1;
        assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_SEAL);
        f.key[i] ^= 1;
    }
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_NONE);
}

// A backend gone mad has the key, so it opens.
static void a_private_part_without_sense_is_refused(void** state)
{
    (void)state;
    static const ph_token_private zeros;
    private_fixture f;
    setup_private(&f);
    ph_token_private mad = {.address_count = 0};
    ph_token_private_seal(&mad, &f.seal, f.token.sealed);
    ph_token_private opened;
    assert_int_equal(ph_token_private_open(f.token.sealed, &f.seal, &opened),
                     PH_NET_REFUSAL_TOKEN_DATA);
    assert_memory_equal(&opened, &zeros, sizeof zeros);
    mad.address_count = 1;
    mad.addresses[0].kind = 3;
    ph_token_private_seal(&mad, &f.seal, f.token.sealed);
    assert_int_equal(open_private(&f), PH_NET_REFUSAL_TOKEN_DATA);
}

static void a_challenge_opens_under_its_key_and_number_only(void** state)
{
    (void)state;
    uint8_t key[PH_NETCODE_KEY_SIZE] = {1};
    ph_challenge challenge = {.sequence = 3, .client_id = 4};
    uint8_t data[PH_CHALLENGE_DATA_SIZE];
    ph_challenge_seal(&challenge, key, data);
    assert_true(ph_challenge_open(data, key, &challenge));
    for (int i = 0; i < PH_CHALLENGE_DATA_SIZE; ++i) {
        data[i] ^= 4;
        assert_false(ph_challenge_open(data, key, &challenge));
        data[i] ^= 4;
    }
    key[0] = 2;
    assert_false(ph_challenge_open(data, key, &challenge));
}

static void faults_have_texts(void** state)
{
    (void)state;
    for (int i = 0; i <= PH_TOKEN_FAULT_COUNT; ++i) {
        assert_true(strlen(ph_token_fault_text((ph_token_fault)i)) > 3);
    }
}

static void a_key_is_64_hexadecimal_digits(void** state)
{
    (void)state;
    static const char TEXT[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1EfF";
    static const uint8_t ZEROS[PH_NETCODE_KEY_SIZE];
    uint8_t key[PH_NETCODE_KEY_SIZE];
    char text[sizeof TEXT + 4];
    const char* const ends[] = {"", "\n", " \r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
        snprintf(text, sizeof text, "%s%s", TEXT, ends[i]);
        assert_int_equal(ph_key_parse(text, key), PH_OK);
        for (uint8_t b = 0; b < PH_NETCODE_KEY_SIZE - 1; ++b) {
            assert_int_equal(key[b], b);
        }
        assert_int_equal(key[PH_NETCODE_KEY_SIZE - 1], 255);
    }
    const char* const wrong[] = {"", "x", "0", TEXT + 1, TEXT + 2, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        memset(key, 1, sizeof key);
        assert_int_equal(ph_key_parse(wrong[i], key), PH_ERROR_TEXT);
        assert_memory_equal(key, ZEROS, sizeof key);
    }
    for (size_t at = 0; at <= sizeof TEXT - 1; ++at) { // a letter that is no digit; one too many
        snprintf(text, sizeof text, "%s", TEXT);
        text[at] = 'g';
        text[at == sizeof TEXT - 1 ? at + 1 : sizeof TEXT - 1] = '\0';
        assert_int_equal(ph_key_parse(text, key), PH_ERROR_TEXT);
        assert_memory_equal(key, ZEROS, sizeof key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_tokens_share_a_secret),
        cmocka_unit_test(only_sound_ones_are_made),
        cmocka_unit_test(time_that_is_none_is_refused),
        cmocka_unit_test(a_token_of_another_size_is_refused),
        cmocka_unit_test(a_token_of_another_version_is_refused),
        cmocka_unit_test(a_token_made_later_than_it_expires_is_refused),
        cmocka_unit_test(a_token_with_0_or_33_addresses_is_refused),
        cmocka_unit_test(a_token_with_an_unknown_kind_of_address_is_refused),
        cmocka_unit_test(any_bytes_are_read_without_harm),
        cmocka_unit_test(no_byte_of_the_private_part_can_be_changed),
        cmocka_unit_test(what_stands_beside_it_cannot_be_changed_either),
        cmocka_unit_test(a_private_part_without_sense_is_refused),
        cmocka_unit_test(a_challenge_opens_under_its_key_and_number_only),
        cmocka_unit_test(faults_have_texts),
        cmocka_unit_test(a_key_is_64_hexadecimal_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
