// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "output_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool app_is_same_file(const char* a, const char* b)
{
    struct stat one;
    struct stat other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool app_output_try(app_output* output, const char* command, const char* path)
{
    struct stat about;
    *output = (app_output){0};
    if (path == NULL) {
        return true;
    }
    const bool is_new = stat(path, &about) != 0 && errno == ENOENT;
    FILE* file = fopen(path, "a");
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, "%s: %s cannot be written: %s. Does its folder exist?\n", command, path,
                strerror(errno));
        return false;
    }
    *output = (app_output){.path = path, .is_new = is_new};
    return true;
}

void app_output_undo(const app_output* output)
{
    if (output->is_new) {
        remove(output->path);
    }
}
