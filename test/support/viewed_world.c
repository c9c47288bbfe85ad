// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/viewed_world.h"

#include "support/test_support.h"

#include <pinhole/viewer.h>

#define SEND_US 200000

static viewed_world shared;

viewed_world* viewed_setup_with(const ph_viewer_def* def)
{
    viewed_world* x = &shared;
    small_world_setup(&x->f, 64);
    assert_int_equal(ph_world_add_viewer(x->f.world, def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
    return x;
}

viewed_world* viewed_setup(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    return viewed_setup_with(&def);
}

void viewed_teardown(viewed_world* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

int viewed_slot(const viewed_world* x, ph_entity_id id)
{
    const int slot = small_world_slot(&x->f, x->viewer, id);
    assert_true(slot >= 0);
    return slot;
}

ph_entity_id viewed_person(viewed_world* x, uint64_t name, int32_t x_mm)
{
    const ph_entity_id id = small_world_spawn_at(&x->f, name, x_mm, 0);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    assert_non_null(inbox_find(&x->box, viewed_slot(x, id)));
    return id;
}

void viewed_set_health(viewed_world* x, ph_entity_id id, uint8_t health)
{
    assert_int_equal(
        ph_world_set_property(x->f.world, id, HEALTH, PH_FIELD_U8, &health, sizeof health), PH_OK);
}

uint32_t viewed_health(const viewed_world* x, const ph_record* record)
{
    return inbox_value(&x->box, record, HEALTH)[0];
}
