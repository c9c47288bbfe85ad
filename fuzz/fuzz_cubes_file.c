// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings of cubes. What is taken must have all its numbers in range; what is refused must say why. Input is short,
// so it goes into a frame of cubes that lie still: each six bytes are the place of a number and the four bytes it gets.
// The first byte says how much of the frame there is.

#include "kit/cubes_file.h"

#include "support/fuzz_source.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t REST[PH_CUBES_RECORD_BYTES] = {3, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};

static void check_cube(const ph_cube* cube)
{
    for (int i = 0; i < 3; ++i) {
        fuzz_demand(cube->rest[i] >= 0 && cube->rest[i] < PH_CUBES_LEVELS);
    }
    fuzz_demand(abs(cube->place[0]) <= PH_CUBES_PLACE_MAX &&
                abs(cube->place[1]) <= PH_CUBES_PLACE_MAX);
    fuzz_demand(cube->place[2] >= 0 && cube->place[2] <= PH_CUBES_HEIGHT_MAX);
    fuzz_demand(cube->largest <= 3 && cube->is_interacting <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const size_t beyond = size > 0 ? data[0] : 0;
    const size_t length = PH_CUBES_FRAME_BYTES + beyond / 16;
    uint8_t* bytes = calloc(1, length);
    if (bytes == NULL) {
        return 0;
    }
    for (int i = 0; i < PH_CUBES; ++i) {
        memcpy(bytes + (size_t)i * sizeof REST, REST, sizeof REST);
    }
    for (size_t at = 1; at + 6 <= size; at += 6) {
        const size_t word =
            ((size_t)data[at] | (size_t)data[at + 1] << 8) % (PH_CUBES_FRAME_BYTES / 4);
        memcpy(bytes + 4 * word, data + at + 2, 4);
    }
    ph_cubes_file file;
    ph_fault fault = {0};
    if (ph_cubes_file_parse(bytes, length, &file, &fault)) {
        fuzz_demand(file.frame_count == 1 && length == PH_CUBES_FRAME_BYTES);
        for (int i = 0; i < PH_CUBES; ++i) {
            check_cube(&file.cubes[i]);
        }
        ph_cubes_file_unload(&file);
    } else {
        fuzz_demand(fault.message[0] != '\0' && file.cubes == NULL);
    }
    free(bytes);
    return 0;
}
