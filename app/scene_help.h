// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is said about the source of a command: a scene, or a recording.

#ifndef PH_APP_SCENE_HELP_H
#define PH_APP_SCENE_HELP_H

#include <stdbool.h>

#define APP_SCENE_PREFIX "scene:"

// Whether the source of a command is no scene, or one that there is; else says on standard error
// which ones there are, after the name of the command.
bool app_scene_check(const char* command, const char* source);

// False for the scene in which nothing moves: no entity of it can be a viewer.
bool app_scene_moves(const char* source);

// Says on standard error what is missing in a source, if anything is.
void app_scene_note(const char* command, const char* source, const char* note);

// What others may read of a source: of a recording the name of its file, because folders are the
// business of the machine it lies on. Points into source.
const char* app_source_name(const char* source);

#endif
