// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reading what a client knows: into the game's struct, and one property at a time.

#include "support/client_scene.h"

#include <string.h>

static const int32_t place_mm[3] = {160, -320, 480};

static int setup(void** state)
{
    static client_scene scene;
    client_scene_setup(&scene);
    client_scene_begin(&scene);
    client_packet packet = client_packet_after(&scene, 2, 1);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, place_mm[0], place_mm[1], place_mm[2]);
    client_record_health(it, &packet, 42);
    client_record_target(it, &packet, 1, 1);
    client_record_text(it, &packet, WALKER_NAME, "J\xC3\xB6rg");
    client_record_text(it, &packet, WALKER_BADGE, "abc");
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    *state = &scene;
    return 0;
}

static int teardown(void** state)
{
    client_scene_teardown(*state);
    return 0;
}

static ph_result read_own(const client_scene* scene, int property, ph_field field, void* value,
                          size_t size)
{
    const ph_entity_id own = ph_client_entity_at(scene->client, 0);
    return ph_client_get_property(scene->client, own, property, field, value, size);
}

static void a_struct_is_filled(void** state)
{
    client_scene* scene = *state;
    walker seen;
    memset(&seen, 0xEE, sizeof seen);
    const ph_entity_id own = ph_client_entity_at(scene->client, 0);
    assert_int_equal(ph_client_get_struct(scene->client, own, &seen), PH_OK);
    assert_memory_equal(seen.position_mm, place_mm, sizeof place_mm);
    assert_true(seen.heading_deg == 0.0);
    assert_int_equal(seen.health, 42);
    assert_int_equal(seen.target.index1, 2);
    assert_int_equal(seen.target.generation, 1);
    assert_string_equal(seen.name, "J\xC3\xB6rg");
    assert_int_equal(seen.badge.length, 3);
    assert_memory_equal(seen.badge.bytes, "abc\0\0\0", 6);
    assert_int_equal(seen.unbound, 0xEEEEEEEE);
}

static void a_property_is_read_as_any_field_that_holds_it(void** state)
{
    client_scene* scene = *state;
    uint64_t wide = 0;
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_U64, &wide, sizeof wide), PH_OK);
    assert_int_equal(wide, 42);
    double place[3] = {0};
    assert_int_equal(read_own(scene, WALKER_POSITION, PH_FIELD_I32X3, place, 12), PH_OK);
    assert_memory_equal(place, place_mm, sizeof place_mm);
    uint16_t secret = 7;
    assert_int_equal(read_own(scene, WALKER_SECRET, PH_FIELD_U16, &secret, sizeof secret), PH_OK);
    assert_int_equal(secret, 0);
    ph_entity_id target = {0};
    assert_int_equal(read_own(scene, WALKER_TARGET, PH_FIELD_ENTITY, &target, sizeof target),
                     PH_OK);
    assert_true(ph_client_is_in_view(scene->client, target));
}

static void texts_are_read_where_they_fit(void** state)
{
    client_scene* scene = *state;
    char name[6];
    assert_int_equal(read_own(scene, WALKER_NAME, PH_FIELD_TEXT, name, 6), PH_OK);
    assert_string_equal(name, "J\xC3\xB6rg");
    assert_int_equal(read_own(scene, WALKER_NAME, PH_FIELD_TEXT, name, 5), PH_ERROR_TOO_LONG);
    uint8_t badge[5];
    const uint16_t length = 3;
    assert_int_equal(read_own(scene, WALKER_BADGE, PH_FIELD_BYTES, badge, 5), PH_OK);
    assert_memory_equal(badge, &length, 2);
    assert_memory_equal(badge + 2, "abc", 3);
    assert_int_equal(read_own(scene, WALKER_BADGE, PH_FIELD_BYTES, badge, 4), PH_ERROR_TOO_LONG);
    assert_int_equal(read_own(scene, WALKER_BADGE, PH_FIELD_BYTES, badge, 1), PH_ERROR_ARGUMENT);
}

static void wrong_questions_are_refused(void** state)
{
    client_scene* scene = *state;
    uint8_t value[32];
    assert_int_equal(read_own(scene, -1, PH_FIELD_U8, value, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_PROPERTY_COUNT, PH_FIELD_U8, value, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_NONE, value, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_COUNT, value, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_U8, value, 2), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_TEXT, value, 32), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_HEALTH, PH_FIELD_F32X4, value, 16), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_NAME, PH_FIELD_BYTES, value, 32), PH_ERROR_ARGUMENT);
    assert_int_equal(read_own(scene, WALKER_BADGE, PH_FIELD_TEXT, value, 32), PH_ERROR_ARGUMENT);
}

static void stale_ids_name_no_entity(void** state)
{
    client_scene* scene = *state;
    const ph_entity_id ids[] = {{0, 0}, {1, 0},          {1, 2}, {3, 1}, {SCENE_SLOTS + 1, 1},
                                {0, 1}, {UINT32_MAX, 1}, {1, 5}};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; ++i) {
        walker seen;
        uint8_t health;
        uint64_t name;
        const ph_client* client = scene->client;
        assert_false(ph_client_is_in_view(client, ids[i]));
        assert_int_equal(ph_client_get_struct(client, ids[i], &seen), PH_ERROR_STALE);
        assert_int_equal(
            ph_client_get_property(client, ids[i], WALKER_HEALTH, PH_FIELD_U8, &health, 1),
            PH_ERROR_STALE);
        assert_int_equal(ph_client_identify(client, ids[i], &name, NULL), PH_ERROR_STALE);
        assert_null(ph_client_user(client, ids[i]));
    }
    assert_int_equal(ph_client_entity_at(scene->client, -1).index1, 0);
    assert_int_equal(ph_client_entity_at(scene->client, SCENE_SLOTS).index1, 0);
    assert_int_equal(ph_client_entity_at(scene->client, 5).index1, 0);
}

static void entities_in_view_are_listed(void** state)
{
    client_scene* scene = *state;
    int class_index = 7;
    const ph_entity_id other = ph_client_find(scene->client, 11);
    assert_int_equal(ph_client_identify(scene->client, other, NULL, &class_index), PH_OK);
    assert_int_equal(class_index, SCENE_WALKER);
    assert_int_equal(ph_client_identify(scene->client, other, NULL, NULL), PH_OK);
    assert_int_equal(ph_client_find(scene->client, 999).index1, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_struct_is_filled),
        TEST(a_property_is_read_as_any_field_that_holds_it),
        TEST(texts_are_read_where_they_fit),
        TEST(wrong_questions_are_refused),
        TEST(stale_ids_name_no_entity),
        TEST(entities_in_view_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
