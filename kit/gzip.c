// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where there is no zlib (the Windows build) nothing is packed.

#include "kit/gzip.h"

#if defined(PH_KIT_ZLIB)

#define ZLIB_CONST // what is packed is only read

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 9 }; // 16: with the head and the end of gzip

static bool deflate_all(z_stream* stream, const void* bytes, size_t size)
{
    if (size > UINT_MAX || stream->avail_out == 0) {
        return false;
    }
    stream->next_in = bytes;
    stream->avail_in = (uInt)size;
    return deflate(stream, Z_FINISH) == Z_STREAM_END;
}

bool ph_gzip_pack(const void* bytes, size_t size, uint8_t** packed, size_t* packed_size,
                  ph_fault* fault)
{
    z_stream stream = {0};
    *packed = NULL;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return ph_fault_set_memory(fault);
    }
    const uLong most = deflateBound(&stream, (uLong)size);
    uint8_t* made = malloc(most);
    stream.next_out = made;
    stream.avail_out = made != NULL && most <= UINT_MAX ? (uInt)most : 0;
    const bool is_done = deflate_all(&stream, bytes, size);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    if (!is_done) {
        free(made);
        return ph_fault_set_memory(fault);
    }
    *packed = made;
    return true;
}

#else

bool ph_gzip_pack(const void* bytes, size_t size, uint8_t** packed, size_t* packed_size,
                  ph_fault* fault)
{
    (void)bytes;
    (void)size;
    *packed = NULL;
    *packed_size = 0;
    return ph_fault_set(fault, 0, 0, "this program was built without zlib and cannot pack it");
}

#endif
