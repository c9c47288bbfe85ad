// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per recording or schema. zlib reads plain files as they are, so one way serves both.
// Where there is no zlib (the Windows build), plain files only.

#include "kit/file_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20 };

// ---- one way to read, with zlib or without

#if defined(PH_KIT_ZLIB)

#include <zlib.h>

typedef gzFile file;

static file open_file(const char* path)
{
    file opened = gzopen(path, "rb");
    if (opened != NULL) {
        gzbuffer(opened, 1 << 17);
    }
    return opened;
}

// @return Bytes read, 0 at the end, -1 with *reason set.
static int read_some(file opened, char* bytes, const char** reason)
{
    const int count = gzread(opened, bytes, CHUNK_BYTES);
    int code = Z_OK;
    gzerror(opened, &code);
    if (code == Z_OK) {
        return count;
    }
    // The end of the file in the midst of packed data is no error to gzread(), only to gzerror().
    *reason = code == Z_BUF_ERROR   ? "the packed data break off"
              : code == Z_ERRNO     ? strerror(errno)
              : code == Z_MEM_ERROR ? "there is not enough memory"
                                    : "the packed data are damaged";
    return count > 0 && code == Z_BUF_ERROR ? count : -1;
}

static void close_file(file opened)
{
    gzclose(opened);
}

#else

typedef FILE* file;

static file open_file(const char* path)
{
    return fopen(path, "rb");
}

static int read_some(file opened, char* bytes, const char** reason)
{
    const size_t count = fread(bytes, 1, CHUNK_BYTES, opened);
    if (count == 0 && ferror(opened)) {
        *reason = strerror(errno);
        return -1;
    }
    if (count >= 2 && ftell(opened) == (long)count && memcmp(bytes, "\x1f\x8b", 2) == 0) {
        *reason = "it is packed, and this program was built without zlib: unpack it first";
        return -1;
    }
    return (int)count;
}

static void close_file(file opened)
{
    fclose(opened);
}

#endif

// ---- into memory

static bool reserve(ph_file_text* text, size_t* capacity)
{
    if (*capacity - text->length >= CHUNK_BYTES) {
        return true;
    }
    const size_t wanted = *capacity * 2 + CHUNK_BYTES;
    char* bytes = realloc(text->bytes, wanted);
    if (bytes == NULL) {
        return false;
    }
    text->bytes = bytes;
    *capacity = wanted;
    return true;
}

static int last_line(const ph_file_text* text)
{
    int line = 1;
    for (size_t i = 0; i < text->length; ++i) {
        line += text->bytes[i] == '\n' ? 1 : 0;
    }
    return line;
}

static bool read_all(file opened, ph_file_text* text, ph_fault* fault)
{
    size_t capacity = 0;
    for (;;) {
        if (!reserve(text, &capacity)) {
            return ph_fault_set_memory(fault);
        }
        const char* reason = NULL;
        const int count = read_some(opened, text->bytes + text->length, &reason);
        text->length += count > 0 ? (size_t)count : 0;
        if (reason != NULL) {
            return ph_fault_set(fault, last_line(text), 0, "cannot read on: %s", reason);
        }
        if (count == 0) {
            return true;
        }
        if (text->length > PH_FILE_TEXT_MAX) {
            return ph_fault_set(fault, 0, 0, "the file is longer than 2 GB");
        }
    }
}

bool ph_file_text_load(const char* path, ph_file_text* text, ph_fault* fault)
{
    *text = (ph_file_text){0};
    errno = 0;
    const file opened = open_file(path);
    if (opened == NULL) {
        return errno != 0 ? ph_fault_set(fault, 0, 0, "cannot open it: %s", strerror(errno))
                          : ph_fault_set_memory(fault);
    }
    const bool is_read = read_all(opened, text, fault);
    close_file(opened);
    if (!is_read) {
        ph_file_text_unload(text);
    }
    return is_read;
}

void ph_file_text_unload(ph_file_text* text)
{
    free(text->bytes);
    *text = (ph_file_text){0};
}
