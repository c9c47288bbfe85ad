// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One write of 32 bytes per connection; the rest at the start of a server.

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // flock, pwrite
#endif

#include "net/netcode_spent.h"

#include "base/allocator.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#if defined(_WIN32)
#include <io.h>
#include <sys/stat.h>
#include <windows.h>
#else
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#define MARK "PH spent"
#define NEW_SUFFIX ".new"
#define NO_FILE (-1)

// More tokens than a server hands to its clients in a month; more is no file of ours.
#define FILE_SIZE_MAX (INT64_C(1) << 30)

// ---- bytes

static uint64_t check_of(const uint8_t bytes[PH_SPENT_RECORD_SIZE])
{
    ph_hash hash = ph_hash_make(PH_SPENT_VERSION);
    ph_hash_add(&hash, bytes, PH_SPENT_RECORD_SIZE - 8);
    return ph_hash_value(&hash);
}

static void put_check(uint8_t bytes[PH_SPENT_RECORD_SIZE])
{
    ph_put_u64(bytes + PH_SPENT_RECORD_SIZE - 8, check_of(bytes));
}

static bool is_whole(const uint8_t bytes[PH_SPENT_RECORD_SIZE])
{
    return ph_number_at(bytes + PH_SPENT_RECORD_SIZE - 8, 8) == check_of(bytes);
}

void ph_spent_put_header(uint8_t bytes[PH_SPENT_RECORD_SIZE], uint64_t since_us, uint32_t dropped_s)
{
    uint8_t* at = ph_put_bytes(bytes, MARK, 8);
    at = ph_put_u32(ph_put_u32(at, PH_SPENT_VERSION), dropped_s);
    ph_put_u64(at, since_us);
    put_check(bytes);
}

void ph_spent_put_record(uint8_t bytes[PH_SPENT_RECORD_SIZE], const ph_spent_record* record)
{
    ph_put_u64(ph_put_bytes(bytes, record->tag, PH_NETCODE_TAG_SIZE), record->expire_s);
    put_check(bytes);
}

ph_spent_kind ph_spent_reader_begin(ph_spent_reader* reader, const void* bytes, size_t size)
{
    const uint8_t* header = bytes;
    *reader = (ph_spent_reader){0};
    if (size == 0) {
        return PH_SPENT_NEW;
    }
    if (memcmp(header, MARK, size < 8 ? size : 8) != 0) {
        return PH_SPENT_STRANGE;
    }
    if (size >= 12 && ph_number_at(header + 8, 4) != PH_SPENT_VERSION) {
        return PH_SPENT_LATER;
    }
    if (size < PH_SPENT_RECORD_SIZE) {
        reader->damaged_count = 1;
        return PH_SPENT_GOOD;
    }
    reader->damaged_count = is_whole(header) ? 0 : 1;
    reader->since_us = ph_number_at(header + 16, 8);
    reader->dropped_s = (uint32_t)ph_number_at(header + 12, 4);
    reader->at = header + PH_SPENT_RECORD_SIZE;
    reader->end = header + size;
    return PH_SPENT_GOOD;
}

bool ph_spent_reader_next(ph_spent_reader* reader, ph_spent_record* record)
{
    while (reader->end - reader->at >= PH_SPENT_RECORD_SIZE) {
        const uint8_t* bytes = reader->at;
        reader->at += PH_SPENT_RECORD_SIZE;
        if (is_whole(bytes)) {
            ph_take_u64(ph_take_bytes(bytes, record->tag, PH_NETCODE_TAG_SIZE), &record->expire_s);
            return true;
        }
        ++reader->damaged_count;
    }
    reader->damaged_count += reader->at != reader->end;
    reader->at = reader->end;
    return false;
}

// ---- systems

#if defined(_WIN32)

static int open_path(const char* path, bool is_new)
{
    const int flags = _O_RDWR | _O_BINARY | _O_CREAT | (is_new ? _O_EXCL : 0);
    return _open(path, flags, _S_IREAD | _S_IWRITE);
}

static void close_number(int number)
{
    _close(number);
}

static bool lock(int number)
{
    (void)number; // not known here
    return true;
}

static bool is_at_path(int number, const char* path)
{
    (void)number;
    (void)path; // an open file cannot be replaced
    return true;
}

static int64_t size_of(int number)
{
    return _filelengthi64(number);
}

static long read_some(int number, uint8_t* bytes, size_t size)
{
    return _read(number, bytes, (unsigned)size);
}

static long write_some(int number, const uint8_t* bytes, size_t size, int64_t place)
{
    return number < 0 || _lseeki64(number, place, SEEK_SET) < 0
               ? -1
               : _write(number, bytes, (unsigned)size);
}

static void remove_path(const char* path)
{
    _unlink(path);
}

static bool flush(int number)
{
    return _commit(number) == 0;
}

// An open file cannot be replaced.
static bool replace(ph_spent_file* file, const char* new_path, int number)
{
    close_number(number);
    close_number(file->number);
    const bool is_replaced = MoveFileExA(new_path, file->path, MOVEFILE_REPLACE_EXISTING) != 0;
    file->number = open_path(file->path, false);
    return is_replaced && file->number >= 0;
}

#else

static int open_path(const char* path, bool is_new)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (is_new ? O_EXCL : 0);
    return open(path, flags, S_IRUSR | S_IWUSR);
}

static void close_number(int number)
{
    close(number);
}

static bool lock(int number)
{
    return flock(number, LOCK_EX | LOCK_NB) == 0;
}

// Whether the path still names the open file: its owner may have put a new one there before we had the lock.
static bool is_at_path(int number, const char* path)
{
    struct stat open;
    struct stat named;
    return fstat(number, &open) == 0 && stat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

static int64_t size_of(int number)
{
    struct stat about;
    return fstat(number, &about) == 0 && S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
}

static long read_some(int number, uint8_t* bytes, size_t size)
{
    return (long)read(number, bytes, size);
}

static long write_some(int number, const uint8_t* bytes, size_t size, int64_t place)
{
    return (long)pwrite(number, bytes, size, (off_t)place);
}

static void remove_path(const char* path)
{
    unlink(path);
}

static bool flush(int number)
{
    return fsync(number) == 0;
}

// The new one is locked before it has the name; a server that has opened the old one finds out by is_at_path().
static bool replace(ph_spent_file* file, const char* new_path, int number)
{
    if (rename(new_path, file->path) != 0) {
        const int kept = errno;
        close_number(number);
        errno = kept;
        return false;
    }
    close_number(file->number);
    file->number = number;
    return true;
}

#endif

// ---- the file

// The path, then the path of the new one, in one block.
static const char* new_path_of(const ph_spent_file* file)
{
    return file->path + strlen(file->path) + 1;
}

static bool keep_path(ph_spent_file* file, const char* path)
{
    const size_t size = strlen(path) + 1;
    file->path_size = 2 * size + sizeof NEW_SUFFIX - 1;
    file->path = ph_allocate(&file->allocator, file->path_size);
    if (file->path != NULL) {
        memcpy(file->path, path, size);
        memcpy(file->path + size, path, size - 1);
        memcpy(file->path + 2 * size - 1, NEW_SUFFIX, sizeof NEW_SUFFIX);
    }
    return file->path != NULL;
}

static ph_result read_all(const ph_spent_file* file, uint8_t** bytes, size_t* size)
{
    const int64_t whole = size_of(file->number);
    if (whole < 0) {
        return PH_ERROR_SYSTEM;
    }
    if (whole > FILE_SIZE_MAX) {
        return PH_ERROR_FULL;
    }
    *size = (size_t)whole;
    *bytes = ph_allocate(&file->allocator, *size + 1); // none for an empty file would be NULL
    if (*bytes == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (size_t at = 0; at < *size;) {
        const long more = read_some(file->number, *bytes + at, *size - at);
        if (more <= 0) {
            ph_spent_file_release(file, *bytes, *size);
            errno = more == 0 ? EIO : errno;
            return PH_ERROR_SYSTEM;
        }
        at += (size_t)more;
    }
    return PH_OK;
}

ph_result ph_spent_file_open(ph_spent_file* file, const char* path, const ph_allocator* allocator,
                             uint8_t** bytes, size_t* size)
{
    *file = (ph_spent_file){.allocator = *allocator, .number = NO_FILE};
    *bytes = NULL;
    *size = 0;
    ph_result result = keep_path(file, path) ? PH_OK : PH_ERROR_MEMORY;
    if (result == PH_OK) {
        file->number = open_path(path, false);
        result = file->number >= 0 ? PH_OK : PH_ERROR_SYSTEM;
    }
    if (result == PH_OK && !(lock(file->number) && is_at_path(file->number, path))) {
        result = PH_ERROR_TAKEN;
    }
    if (result == PH_OK) {
        result = read_all(file, bytes, size);
    }
    if (result != PH_OK) {
        const int kept = errno;
        ph_spent_file_close(file);
        errno = kept;
        return result;
    }
    const size_t whole_count = *size / PH_SPENT_RECORD_SIZE;
    file->record_count = whole_count > 0 ? whole_count - 1 : 0;
    return PH_OK;
}

void ph_spent_file_release(const ph_spent_file* file, uint8_t* bytes, size_t size)
{
    ph_release(&file->allocator, bytes, size + 1);
}

void ph_spent_file_close(ph_spent_file* file)
{
    if (file->path != NULL && file->number >= 0) {
        close_number(file->number);
    }
    ph_release(&file->allocator, file->path, file->path_size);
    *file = (ph_spent_file){0};
}

static bool write_at(int number, const uint8_t bytes[PH_SPENT_RECORD_SIZE], uint64_t place)
{
    const int64_t at = (int64_t)place * PH_SPENT_RECORD_SIZE;
    const long written = write_some(number, bytes, PH_SPENT_RECORD_SIZE, at);
    if (written >= 0 && written < PH_SPENT_RECORD_SIZE) {
        errno = ENOSPC; // what there was no room for; the rest is written over later
    }
    return written == PH_SPENT_RECORD_SIZE;
}

static bool write_record(int number, const ph_spent_record* record, uint64_t place)
{
    uint8_t bytes[PH_SPENT_RECORD_SIZE];
    ph_spent_put_record(bytes, record);
    return write_at(number, bytes, 1 + place);
}

bool ph_spent_file_add(ph_spent_file* file, const ph_spent_record* record)
{
    if (!write_record(file->number, record, file->record_count)) {
        return false;
    }
    ++file->record_count;
    return true;
}

static bool write_all(int number, uint64_t since_us, uint32_t dropped_s, ph_spent_next_fn* next,
                      void* context, uint64_t* count)
{
    uint8_t header[PH_SPENT_RECORD_SIZE];
    ph_spent_put_header(header, since_us, dropped_s);
    bool is_written = lock(number) && write_at(number, header, 0);
    *count = 0;
    for (ph_spent_record record; is_written && next(context, &record); ++*count) {
        is_written = write_record(number, &record, *count);
    }
    return is_written && flush(number);
}

bool ph_spent_file_rewrite(ph_spent_file* file, uint64_t since_us, uint32_t dropped_s,
                           ph_spent_next_fn* next, void* context)
{
    const char* new_path = new_path_of(file);
    remove_path(new_path); // of a server that was killed while it wrote; we have the lock
    const int number = open_path(new_path, true);
    if (number < 0) {
        return false;
    }
    uint64_t count;
    if (!write_all(number, since_us, dropped_s, next, context, &count)) {
        const int kept = errno;
        close_number(number);
        remove_path(new_path);
        errno = kept;
        return false;
    }
    if (!replace(file, new_path, number)) {
        const int kept = errno;
        remove_path(new_path);
        errno = kept;
        return false;
    }
    file->record_count = count;
    return true;
}
