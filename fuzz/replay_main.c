// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs a fuzz target without libFuzzer, so that every compiler can replay the kept corpus and every
// debugger can step through a finding: replay_<name> FILE-OR-FOLDER...
// The empty input always goes first. Not a tool for untrusted paths: it follows what it is given.

// For opendir and stat, which -std=c17 hides.
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static int replayed_count = 0;

static bool complain(const char* path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return false;
}

static bool replay_file(const char* path, size_t size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return complain(path);
    }
    // Exactly as large as the input: AddressSanitizer then sees a read one byte past its end.
    uint8_t* data = malloc(size > 0 ? size : 1);
    bool is_read = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    if (is_read) {
        // Named before it runs, so that a crash says which input it was.
        printf("%s (%zu bytes)\n", path, size);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
        ++replayed_count;
    } else {
        complain(path);
    }
    free(data);
    return is_read;
}

static bool replay(const char* path);

static bool replay_folder(const char* path)
{
    DIR* folder = opendir(path);
    if (folder == NULL) {
        return complain(path);
    }
    bool is_good = true;
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char child[4096];
        int length = snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof child) {
            errno = ENAMETOOLONG;
            is_good = complain(path);
            continue;
        }
        is_good = replay(child) && is_good;
    }
    closedir(folder);
    return is_good;
}

static bool replay(const char* path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return complain(path);
    }
    if (S_ISDIR(status.st_mode)) {
        return replay_folder(path);
    }
    return replay_file(path, (size_t)status.st_size);
}

int main(int count, char** arguments)
{
    const uint8_t nothing[1] = {0};
    LLVMFuzzerTestOneInput(nothing, 0);

    bool is_good = true;
    for (int i = 1; i < count; ++i) {
        is_good = replay(arguments[i]) && is_good;
    }
    printf("replayed the empty input and %d files\n", replayed_count);
    return is_good ? 0 : 1;
}
