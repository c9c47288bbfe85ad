// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Files that a command writes: whether they can be written is known before the work, and a command that fails leaves
// none behind that was not there.

#ifndef PH_APP_OUTPUT_FILE_H
#define PH_APP_OUTPUT_FILE_H

#include <stdbool.h>

// Whether both name one file that is there.
bool app_is_same_file(const char* a, const char* b);

// {0} is none.
typedef struct app_output {
    const char* path;
    bool is_new;
} app_output;

// Whether the file can be written; it is there afterwards, with what it had. path may be NULL: nothing is asked for.
// Else says so on standard error, after the name of the command.
bool app_output_try(app_output* output, const char* command, const char* path);

// Removes the file where it was not there before.
void app_output_undo(const app_output* output);

#endif
