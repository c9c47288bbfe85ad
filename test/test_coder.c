// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Symbols and residuals, by the models and by universal codes: what is read is what was written, and
// costs what was said.

#include "test_support.h"

#include "packet/symbols.h"

#include <pinhole/integers.h>

enum { ROUNDS = 300, VALUES = 40, TOKENS = 400, BYTES = 1200 };

typedef struct value {
    ph_pinhole_family family;
    int model;
    int size; // of a residual
    int64_t value;
    bool is_residual;
} value;

static value random_value(test_rng* rng)
{
    value made = {.family = (ph_pinhole_family)test_rng_below(rng, PH_FAMILY_COUNT)};
    const ph_pinhole_family_info* info = &ph_pinhole_families[made.family];
    made.model = (int)test_rng_below(rng, info->models);
    made.is_residual = info->symbols == PH_MAGNITUDES;
    if (made.is_residual) {
        made.size = (int)test_rng_below(rng, 200) - 20;
        made.value = (int64_t)(test_rng_next(rng) >> (33 + test_rng_below(rng, 30)));
        made.value = test_rng_below(rng, 2) == 0 ? made.value : -made.value;
    } else {
        made.value = (int64_t)test_rng_below(rng, info->symbols);
    }
    return made;
}

static int64_t code(ph_coder* coder, const value* it, int64_t given)
{
    return it->is_residual ? ph_coder_residual(coder, it->family, it->size, given)
                           : ph_coder_symbol(coder, it->family, it->model, (int)given);
}

static void play(bool is_universal, uint64_t seed)
{
    test_rng rng = {.state = seed};
    for (int round = 0; round < ROUNDS; ++round) {
        value values[VALUES];
        uint8_t bytes[BYTES];
        uint32_t tokens[TOKENS];
        ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, TOKENS);
        ph_coder told = ph_coder_make_buffer(&symbols, &ph_library_models, is_universal);
        ph_coder costed = {.costs = ph_pinhole_costs, .is_universal = is_universal};
        for (int i = 0; i < VALUES; ++i) {
            values[i] = random_value(&rng);
            code(&costed, &values[i], values[i].value);
            code(&told, &values[i], values[i].value);
        }
        assert_int_equal(costed.cost256, told.cost256);
        ph_coder_end_buffer(&told, &symbols);
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, sizeof bytes);
        ph_symbol_player player;
        ph_symbol_player_begin(&player, &ph_library_models, &writer);
        ph_symbol_player_play(&player, tokens, NULL);
        ph_symbol_player_end(&player);
        const size_t size = ph_entropy_writer_finish(&writer);
        assert_true(size > 0 && 8 * (size - 1) <= costed.cost256 / PH_COST_PER_BIT + 3);
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, size);
        ph_coder heard = {
            .reader = &reader, .cumulative = ph_pinhole_cumulative, .is_universal = is_universal};
        for (int i = 0; i < VALUES; ++i) {
            assert_int_equal(code(&heard, &values[i], 0), values[i].value);
        }
        assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    }
}

static void models_read_what_was_written(void** state)
{
    (void)state;
    play(false, 61);
}

static void universal_codes_read_what_was_written(void** state)
{
    (void)state;
    play(true, 62);
}

// No writer writes a symbol that does not exist.
static void a_universal_symbol_beyond_the_last_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[16];
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_gamma_write(&writer.raw, 5);
    const size_t size = ph_entropy_writer_finish(&writer);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    ph_coder coder = {.reader = &reader, .is_universal = true};
    assert_int_equal(ph_coder_symbol(&coder, PH_FAMILY_MASK_HEADING, 0, 0), 0);
    assert_int_equal(ph_entropy_reader_result(&reader), PH_ERROR_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_read_what_was_written),
        cmocka_unit_test(universal_codes_read_what_was_written),
        cmocka_unit_test(a_universal_symbol_beyond_the_last_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
