// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The text of a scenario of pinhole soak: refused with the line, or read, and then written and read again as the same.

#define _GNU_SOURCE // fmemopen
#include "soak/soak.h"
#include "support/fuzz_source.h"

#include <stdlib.h>
#include <string.h>

static bool read_text(char* text, size_t size, soak_scenario* scenario)
{
    FILE* file = fmemopen(text, size, "r");
    fuzz_demand(file != NULL);
    int line = -1;
    const bool is_read = soak_scenario_read(scenario, file, &line);
    fclose(file);
    fuzz_demand(line >= 0 && (is_read || scenario->events == NULL));
    return is_read;
}

static bool is_same(const soak_scenario* a, const soak_scenario* b)
{
    bool is_so =
        a->seed == b->seed && a->step_count == b->step_count && a->event_count == b->event_count;
    for (int i = 0; is_so && i < a->event_count; ++i) {
        const soak_event* one = &a->events[i];
        const soak_event* other = &b->events[i];
        is_so = one->step == other->step && one->kind == other->kind &&
                one->target == other->target && one->draw == other->draw;
    }
    return is_so;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char* text = malloc(size);
    fuzz_demand(text != NULL);
    memcpy(text, data, size);
    soak_scenario scenario;
    if (read_text(text, size, &scenario)) {
        char* again = NULL;
        size_t again_size = 0;
        FILE* file = open_memstream(&again, &again_size);
        fuzz_demand(file != NULL);
        soak_scenario_write(&scenario, file);
        fclose(file);
        soak_scenario repeated;
        fuzz_demand(read_text(again, again_size, &repeated) && is_same(&scenario, &repeated));
        soak_scenario_free(&repeated);
        free(again);
    }
    soak_scenario_free(&scenario);
    free(text);
    return 0;
}
