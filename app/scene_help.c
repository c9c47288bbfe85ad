// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "scene_help.h"

#include "suggest.h"

#include "kit/scene.h"

#include <stdio.h>
#include <string.h>

bool app_scene_moves(const char* source)
{
    return strcmp(source, APP_SCENE_PREFIX "still") != 0;
}

const char* app_source_name(const char* source)
{
    const char* slash = strrchr(source, '/');
    return slash != NULL ? slash + 1 : source;
}

bool app_scene_check(const char* command, const char* source)
{
    const size_t length = strlen(APP_SCENE_PREFIX);
    if (strncmp(source, APP_SCENE_PREFIX, length) != 0 || ph_scene_find(source + length) != NULL) {
        return true;
    }
    fprintf(stderr, "%s: there is no scene '%s'.", command, source + length);
    app_suggestion best = app_suggestion_make(source + length);
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        app_suggestion_consider(&best, ph_scene_name(i));
    }
    if (best.candidate != NULL) {
        fprintf(stderr, " Did you mean '%s'?", best.candidate);
    }
    fprintf(stderr, " There are");
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        fprintf(stderr, " %s", ph_scene_name(i));
    }
    fprintf(stderr, ".\n");
    return false;
}

void app_scene_note(const char* command, const char* source, const char* note)
{
    if (note[0] != '\0') {
        fprintf(stderr, "%s: %s%s%s.\n", command, source, note[0] == ':' ? "" : ": ", note);
    }
}
