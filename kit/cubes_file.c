// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per program. Where there is no liblzma only plain files are read.

#include "kit/cubes_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(PH_KIT_LZMA)
#include <lzma.h>
#endif

// 12 minutes of frames: more is no recording of this form.
#define FRAMES_MAX 43200
#define BYTES_MAX ((size_t)FRAMES_MAX * PH_CUBES_FRAME_BYTES)
#define FIRST_BYTES ((size_t)1 << 20)

static const uint8_t XZ_MAGIC[] = {0xfd, '7', 'z', 'X', 'Z', 0};

// ---- records

// A number of a record and what it may be, in the order of the file.
typedef struct cube_number {
    const char* name;
    int lo;
    int hi;
} cube_number;

static const cube_number NUMBERS[] = {
    {"largest", 0, 3},
    {"a", 0, PH_CUBES_LEVELS - 1},
    {"b", 0, PH_CUBES_LEVELS - 1},
    {"c", 0, PH_CUBES_LEVELS - 1},
    {"x", -PH_CUBES_PLACE_MAX, PH_CUBES_PLACE_MAX},
    {"y", -PH_CUBES_PLACE_MAX, PH_CUBES_PLACE_MAX},
    {"z", 0, PH_CUBES_HEIGHT_MAX},
    {"interacting", 0, 1},
};

enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };

_Static_assert(NUMBER_COUNT * 4 == PH_CUBES_RECORD_BYTES, "four bytes each");

static int32_t load_number(const uint8_t* bytes)
{
    return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

// Whether a rotation rounds to these levels whose component left out is the largest. Levels are odd numbers here, a
// step is 2: half a step less of each leaves the most for the fourth.
static bool is_rotation(const ph_cube* cube)
{
    const int64_t top = PH_CUBES_LEVELS - 1;
    int64_t sum = 0;
    int64_t most = 0;
    for (int i = 0; i < 3; ++i) {
        const int64_t level = llabs(2 * (int64_t)cube->rest[i] - top) - 1;
        sum += level * level;
        most = level * level > most ? level * level : most;
    }
    return sum + most <= 2 * top * top;
}

static bool read_cube(const uint8_t* bytes, int at, ph_cube* cube, ph_fault* fault)
{
    int32_t numbers[NUMBER_COUNT];
    for (int i = 0; i < NUMBER_COUNT; ++i) {
        numbers[i] = load_number(bytes + 4 * i);
        if (numbers[i] < NUMBERS[i].lo || numbers[i] > NUMBERS[i].hi) {
            return ph_fault_set(fault, 0, 0,
                                "frame %d, cube %d: %s is %d; it must be %d..%d, so this is no "
                                "recording of cubes",
                                at / PH_CUBES, at % PH_CUBES, NUMBERS[i].name, (int)numbers[i],
                                NUMBERS[i].lo, NUMBERS[i].hi);
        }
    }
    *cube = (ph_cube){
        .place = {(int16_t)numbers[4], (int16_t)numbers[5], (int16_t)numbers[6]},
        .rest = {(int16_t)numbers[1], (int16_t)numbers[2], (int16_t)numbers[3]},
        .largest = (uint8_t)numbers[0],
        .is_interacting = (uint8_t)numbers[7],
    };
    if (!is_rotation(cube)) {
        return ph_fault_set(fault, 0, 0,
                            "frame %d, cube %d: a, b and c are %d, %d, %d: no rotation has so much "
                            "beside its largest component",
                            at / PH_CUBES, at % PH_CUBES, (int)numbers[1], (int)numbers[2],
                            (int)numbers[3]);
    }
    return true;
}

static bool check_size(size_t size, ph_fault* fault)
{
    const size_t frames = size / PH_CUBES_FRAME_BYTES;
    const size_t beyond = size % PH_CUBES_FRAME_BYTES;
    if (size > BYTES_MAX) {
        return ph_fault_set(fault, 0, 0, "it has more than %d frames", FRAMES_MAX);
    }
    if (frames == 0 || beyond != 0) {
        return ph_fault_set(fault, 0, 0,
                            "it has %llu whole frames of %d bytes and %d bytes more: it is cut "
                            "off, or no recording of %d cubes",
                            (unsigned long long)frames, PH_CUBES_FRAME_BYTES, (int)beyond,
                            PH_CUBES);
    }
    return true;
}

bool ph_cubes_file_parse(const uint8_t* bytes, size_t size, ph_cubes_file* file, ph_fault* fault)
{
    *file = (ph_cubes_file){0};
    if (!check_size(size, fault)) {
        return false;
    }
    const int count = (int)(size / PH_CUBES_RECORD_BYTES);
    file->cubes = malloc((size_t)count * sizeof file->cubes[0]);
    if (file->cubes == NULL) {
        return ph_fault_set_memory(fault);
    }
    file->frame_count = count / PH_CUBES;
    for (int at = 0; at < count; ++at) {
        if (!read_cube(bytes + (size_t)at * PH_CUBES_RECORD_BYTES, at, &file->cubes[at], fault)) {
            ph_cubes_file_unload(file);
            return false;
        }
    }
    return true;
}

void ph_cubes_file_unload(ph_cubes_file* file)
{
    free(file->cubes);
    *file = (ph_cubes_file){0};
}

// ---- files

// Bytes that grow as they are read.
typedef struct byte_store {
    uint8_t* bytes;
    size_t size;
    size_t capacity;
} byte_store;

static bool grow(byte_store* store, ph_fault* fault)
{
    const size_t capacity = store->capacity == 0 ? FIRST_BYTES : 2 * store->capacity;
    uint8_t* bytes = store->capacity <= BYTES_MAX ? realloc(store->bytes, capacity) : NULL;
    if (bytes == NULL) {
        return store->capacity <= BYTES_MAX ? ph_fault_set_memory(fault)
                                            : check_size(BYTES_MAX + 1, fault);
    }
    store->bytes = bytes;
    store->capacity = capacity;
    return true;
}

static bool read_whole(FILE* file, byte_store* store, ph_fault* fault)
{
    do {
        if (store->size == store->capacity && !grow(store, fault)) {
            return false;
        }
        store->size += fread(store->bytes + store->size, 1, store->capacity - store->size, file);
    } while (store->size == store->capacity);
    return !ferror(file) || ph_fault_set(fault, 0, 0, "it cannot be read");
}

#if defined(PH_KIT_LZMA)

static bool complain_of_xz(lzma_ret code, ph_fault* fault)
{
    switch (code) {
    case LZMA_MEM_ERROR:
        return ph_fault_set_memory(fault);
    case LZMA_BUF_ERROR:
        return ph_fault_set(fault, 0, 0, "it is cut off: the end of what xz packed is missing");
    default:
        return ph_fault_set(fault, 0, 0, "what xz packed is damaged");
    }
}

static bool unpack(const byte_store* packed, byte_store* store, ph_fault* fault)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret code = lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED);
    stream.next_in = packed->bytes;
    stream.avail_in = packed->size;
    bool has_room = true;
    while (code == LZMA_OK && has_room) {
        has_room = store->size < store->capacity || grow(store, fault);
        if (has_room) {
            stream.next_out = store->bytes + store->size;
            stream.avail_out = store->capacity - store->size;
            code = lzma_code(&stream, LZMA_FINISH);
            store->size = store->capacity - stream.avail_out;
        }
    }
    lzma_end(&stream);
    return has_room && (code == LZMA_STREAM_END || complain_of_xz(code, fault));
}

#else

static bool unpack(const byte_store* packed, byte_store* store, ph_fault* fault)
{
    (void)packed;
    (void)store;
    return ph_fault_set(fault, 0, 0,
                        "this program was built without liblzma: unpack the file first, as in "
                        "'xz -dk FILE'");
}

#endif

bool ph_cubes_file_load(const char* path, ph_cubes_file* file, ph_fault* fault)
{
    *file = (ph_cubes_file){0};
    FILE* source = fopen(path, "rb");
    if (source == NULL) {
        return ph_fault_set(fault, 0, 0, "it cannot be opened");
    }
    byte_store whole = {0};
    byte_store unpacked = {0};
    bool is_read = read_whole(source, &whole, fault);
    fclose(source);
    const bool is_packed = is_read && whole.size >= sizeof XZ_MAGIC &&
                           memcmp(whole.bytes, XZ_MAGIC, sizeof XZ_MAGIC) == 0;
    is_read = is_read && (!is_packed || unpack(&whole, &unpacked, fault));
    const byte_store* plain = is_packed ? &unpacked : &whole;
    is_read = is_read && ph_cubes_file_parse(plain->bytes, plain->size, file, fault);
    free(whole.bytes);
    free(unpacked.bytes);
    return is_read;
}
