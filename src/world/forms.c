// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tables by class, made when the world is.

#include "world/forms.h"

#include "base/allocator.h"
#include "base/bitset.h"

#define NARROW_PROPERTIES 32

static void add_class(ph_forms* forms, int index)
{
    const ph_layout* layout = &forms->layouts.layouts[index];
    const ph_class* described = layout->described;
    forms->packings[index] = ph_packing_make(layout);
    forms->for_owners[index] = 0;
    forms->for_audiences[index] = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_audience audience = described->properties[p].def.audience;
        forms->for_owners[index] |= (uint64_t)(audience == PH_AUDIENCE_OWNER) << p;
        forms->for_audiences[index] |= (uint64_t)(audience == PH_AUDIENCE_MASK) << p;
    }
    forms->stirring[index] =
        layout->all & ~(layout->position | layout->references | layout->once |
                        forms->for_owners[index] | forms->for_audiences[index]);
    forms->first_property[index] = forms->property_count;
    forms->property_count += described->def.property_count;
    forms->is_wide |= described->def.property_count > NARROW_PROPERTIES;
    if (forms->packings[index].stride > forms->known_stride) {
        forms->known_stride = forms->packings[index].stride;
    }
    const ph_coordinate* coordinate = &described->properties[described->position].coordinate;
    const int half_bits = coordinate->shift + coordinate->width - 1;
    const int32_t half_mm = half_bits >= 31 ? INT32_MAX : INT32_C(1) << half_bits;
    if (half_mm < forms->half_window_mm) {
        forms->half_window_mm = half_mm;
    }
}

ph_result ph_forms_create(ph_forms* forms, const ph_schema* schema, const ph_allocator* allocator)
{
    *forms = (ph_forms){.allocator = *allocator, .half_window_mm = INT32_MAX};
    if (ph_layouts_create(&forms->layouts, schema, allocator) != PH_OK) {
        *forms = (ph_forms){0};
        return PH_ERROR_MEMORY;
    }
    const size_t count = (size_t)forms->layouts.count;
    forms->packings = ph_allocate_array(allocator, count, sizeof(ph_packing));
    forms->for_owners = ph_allocate_array(allocator, count, sizeof(uint64_t));
    forms->for_audiences = ph_allocate_array(allocator, count, sizeof(uint64_t));
    forms->stirring = ph_allocate_array(allocator, count, sizeof(uint64_t));
    forms->first_property = ph_allocate_array(allocator, count, sizeof(int));
    if (forms->packings == NULL || forms->for_owners == NULL || forms->for_audiences == NULL ||
        forms->stirring == NULL || forms->first_property == NULL) {
        ph_forms_destroy(forms);
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < forms->layouts.count; ++i) {
        add_class(forms, i);
    }
    return PH_OK;
}

void ph_forms_destroy(ph_forms* forms)
{
    const size_t count = (size_t)forms->layouts.count;
    ph_release_array(&forms->allocator, forms->packings, count, sizeof(ph_packing));
    ph_release_array(&forms->allocator, forms->for_owners, count, sizeof(uint64_t));
    ph_release_array(&forms->allocator, forms->for_audiences, count, sizeof(uint64_t));
    ph_release_array(&forms->allocator, forms->stirring, count, sizeof(uint64_t));
    ph_release_array(&forms->allocator, forms->first_property, count, sizeof(int));
    ph_layouts_destroy(&forms->layouts);
    *forms = (ph_forms){0};
}

uint64_t ph_forms_audience(const ph_forms* forms, int class_index, uint32_t audience, bool is_own)
{
    const ph_layout* layout = &forms->layouts.layouts[class_index];
    uint64_t refused = is_own ? 0 : forms->for_owners[class_index];
    for (uint64_t left = forms->for_audiences[class_index]; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const ph_property* described = &layout->described->properties[property];
        refused |= (described->def.audience_mask & audience) == 0 ? left & -left : 0;
    }
    return layout->all & ~refused;
}
