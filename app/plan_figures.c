// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per program.

#include "plan_figures.h"

#include "kit/file_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

plan_figures plan_figures_usual(void)
{
    return (plan_figures){
        .machine = "two shared cores of an AMD EPYC, busy with other work, gcc 12, 2026-11-18",
        .sim_ns = 88.0,
        .front_ns = 136.0,
        .server_ns = 29.0,
        .record_bytes = 20.2,
        .us_per_viewer_tick = {7.1, 31.0},
        .bytes_per_viewer = {65536.0 + 18200.0, 270000.0 + 18200.0},
        .net_us_per_datagram = 25.0,
    };
}

// The number behind "key": after a place; NULL: there is none.
static const char* find_number(const char* at, const char* key, double* number)
{
    char word[64];
    snprintf(word, sizeof word, "\"%s\":", key);
    const char* found = at != NULL ? strstr(at, word) : NULL;
    if (found == NULL) {
        return NULL;
    }
    char* end = NULL;
    const char* value = found + strlen(word);
    const double read = strtod(value, &end);
    if (end == value || !(read > 0.0)) {
        return NULL;
    }
    *number = read;
    return end;
}

static bool read_bus(plan_figures* figures, const char* text)
{
    double fronts = 1.0;
    double server_ns = 0.0;
    const char* at = strstr(text, "\"bench\": \"bus\"");
    const bool is_there = find_number(at, "sim_ns", &figures->sim_ns) != NULL &&
                          find_number(at, "front_ns", &figures->front_ns) != NULL;
    find_number(at, "record_bytes", &figures->record_bytes);
    if (find_number(at, "server_ns", &server_ns) != NULL) {
        find_number(at, "fronts", &fronts);
        figures->server_ns = server_ns / fronts;
    }
    return is_there;
}

// The last one of each profile: the most viewers.
static bool read_load(plan_figures* figures, const char* text)
{
    static const char* const PROFILES[] = {"\"profile\": \"classic\"", "\"profile\": \"pinhole\""};
    bool is_there = false;
    for (int profile = 0; profile < 2; ++profile) {
        for (const char* at = text; (at = strstr(at, PROFILES[profile])) != NULL; ++at) {
            is_there = find_number(at, "us_per_viewer_tick",
                                   &figures->us_per_viewer_tick[profile]) != NULL ||
                       is_there;
            find_number(at, "bytes_per_viewer", &figures->bytes_per_viewer[profile]);
        }
    }
    return is_there;
}

bool plan_figures_read(plan_figures* figures, const char* path, ph_fault* fault)
{
    ph_file_text file;
    if (!ph_file_text_load(path, &file, fault)) {
        return false;
    }
    char* text = malloc(file.length + 1);
    bool is_read = false;
    if (text != NULL) {
        memcpy(text, file.bytes, file.length);
        text[file.length] = '\0';
        is_read = read_bus(figures, text);
        is_read = read_load(figures, text) || is_read;
        figures->machine = path;
    }
    free(text);
    ph_file_text_unload(&file);
    return is_read || ph_fault_set(fault, 0, 0,
                                   "it has no figures of 'pinhole bench bus --json' nor of "
                                   "'pinhole bench load --json'");
}
