// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who sees whom: six people along a street, each sees the two nearest within 50 m.

#include <pinhole/pinhole.h>

#include <stdio.h>

int main(void)
{
    static const int metres[6] = {0, 10, 18, 55, 60, 140};
    const ph_property_def properties[] = {{.name = "position", .coding = PH_CODING_POSITION}};
    const ph_class_def person = {.name = "person", .properties = properties, .property_count = 1};
    ph_schema* schema;
    if (ph_schema_create(&person, 1, NULL, &schema, NULL) != PH_OK) {
        return 1;
    }
    ph_world_def def = ph_world_def_default();
    def.on_error = ph_error_print; // should a call be wrong
    def.schema = schema;
    def.on_error = ph_error_print; // should a call be wrong
    ph_world* world;
    if (ph_world_create(&def, &world) != PH_OK) {
        return 1;
    }
    ph_viewer_id viewers[6];
    for (int i = 0; i < 6; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i, .position_mm = {1000 * metres[i], 0, 0}};
        ph_viewer_def viewer = ph_viewer_def_default();
        viewer.radius_mm = 50000;
        viewer.visible_max = 2;
        ph_world_spawn(world, &spawn, &viewer.entity); // one's own entity is seen, too: in slot 0
        ph_world_add_viewer(world, &viewer, &viewers[i]);
    }
    ph_world_tick(world);

    puts("in which slot  who sees whom   A  B  C  D  E  F");
    for (int i = 0; i < 6; ++i) {
        char row[] = "  .  .  .  .  .  .";
        ph_vision vision;
        ph_viewer_get_vision(world, viewers[i], &vision);
        for (int slot = 0; slot < vision.slot_count; ++slot) {
            uint64_t key;
            const ph_entity_id seen = ph_world_entity_at(world, vision.entities[slot]);
            if (seen.index1 != 0 && ph_world_identify(world, seen, &key, NULL) == PH_OK) {
                row[3 * key + 2] = (char)('0' + slot); // other slots are empty
            }
        }
        printf("%c at %3d m, sees %d others:   %s\n", 'A' + i, metres[i], vision.visible_count,
               row);
    }
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return 0;
}
