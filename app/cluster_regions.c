// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per program.

#include "cluster_regions.h"

#include "kit/file_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char* skip_blanks(const char* at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r') {
        ++at;
    }
    return at;
}

// A whole number with something behind it. @return NULL when it is none.
static const char* read_number(const char* at, long lo, long hi, long* number)
{
    char* end = NULL;
    at = skip_blanks(at);
    if (!isdigit((unsigned char)*at) && *at != '-') {
        return NULL;
    }
    *number = strtol(at, &end, 10);
    return end != at && *number >= lo && *number <= hi ? skip_blanks(end) : NULL;
}

static const char* expect(const char* at, const char* word)
{
    const size_t length = strlen(word);
    return at != NULL && strncmp(at, word, length) == 0 ? at + length : NULL;
}

static const char* read_range(const char* at, int32_t* from, int32_t* to)
{
    long first = 0;
    long last = 0;
    at = at != NULL ? read_number(at, -1000000, 1000000, &first) : NULL;
    at = expect(at, "..");
    at = at != NULL ? read_number(at, first, 1000000, &last) : NULL;
    *from = (int32_t)first;
    *to = (int32_t)last;
    return at;
}

static const char* read_region(const char* at, ph_region* region)
{
    long number = 0;
    at = read_number(at, 0, PH_REGION_MAX, &number);
    at = expect(at, ":");
    at = read_range(at, &region->from.x, &region->to.x);
    at = expect(at, ",");
    at = read_range(at, &region->from.y, &region->to.y);
    region->number = (int)number;
    return at;
}

static bool has_number(const cluster_regions* regions, int number)
{
    for (int i = 0; i < regions->count; ++i) {
        if (regions->all[i].number == number) {
            return true;
        }
    }
    return false;
}

// The region that has a cell of this one, too. -1: none.
static int region_beneath(const cluster_regions* regions, const ph_region* region)
{
    for (int i = 0; i < regions->count; ++i) {
        const ph_region* it = &regions->all[i];
        if (region->from.x <= it->to.x && it->from.x <= region->to.x &&
            region->from.y <= it->to.y && it->from.y <= region->to.y) {
            return it->number;
        }
    }
    return -1;
}

static bool add(cluster_regions* regions, const char** at, int line, ph_fault* fault)
{
    ph_region region = {0};
    const char* end = read_region(*at, &region);
    if (end == NULL || (*end != '\0' && *end != '\n' && *end != ';' && *end != '#')) {
        return ph_fault_set(
            fault, line, 0,
            "a region is a number and the cells that it has, as in "
            "'0: -100..-1, -100..100', numbers from 0 to %d, cells from -1000000 to "
            "1000000",
            PH_REGION_MAX);
    }
    if (regions->count == CLUSTER_REGIONS_MAX) {
        return ph_fault_set(fault, line, 0, "there are more than %d regions", CLUSTER_REGIONS_MAX);
    }
    if (has_number(regions, region.number)) {
        return ph_fault_set(fault, line, 0, "region %d is there twice", region.number);
    }
    if (region_beneath(regions, &region) >= 0) {
        return ph_fault_set(fault, line, 0, "regions %d and %d share a cell",
                            region_beneath(regions, &region), region.number);
    }
    regions->all[regions->count++] = region;
    *at = end;
    return true;
}

static bool read_text(cluster_regions* regions, const char* at, ph_fault* fault)
{
    int line = 1;
    while (*(at = skip_blanks(at)) != '\0') {
        if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (*at == '\n' || *at == ';') {
            line += *at++ == '\n';
        } else if (!add(regions, &at, line, fault)) {
            return false;
        }
    }
    return regions->count > 0 || ph_fault_set(fault, 0, 0, "it names no region");
}

static bool read_file(cluster_regions* regions, const char* path, ph_fault* fault)
{
    ph_file_text file;
    if (!ph_file_text_load(path, &file, fault)) {
        return false;
    }
    char* text = malloc(file.length + 1);
    if (text != NULL) {
        memcpy(text, file.bytes, file.length);
        text[file.length] = '\0';
    }
    ph_file_text_unload(&file);
    const bool is_read =
        text != NULL ? read_text(regions, text, fault) : ph_fault_set_memory(fault);
    free(text);
    return is_read;
}

bool cluster_regions_read(cluster_regions* regions, const char* text, ph_fault* fault)
{
    regions->count = 0;
    if (strchr(text, ':') != NULL && strstr(text, "..") != NULL) {
        return read_text(regions, text, fault);
    }
    return read_file(regions, text, fault);
}

bool cluster_regions_read_wanted(const cluster_regions* regions, const char* text, int* wanted,
                                 int* count, ph_fault* fault)
{
    *count = 0;
    for (const char* at = text;; ++at) {
        long number = 0;
        at = read_number(at, 0, PH_REGION_MAX, &number);
        if (at == NULL || (*at != ',' && *at != '\0') || *count == CLUSTER_REGIONS_MAX) {
            return ph_fault_set(fault, 0, 0, "numbers of regions with commas, as in '--want 0,1'");
        }
        if (!has_number(regions, (int)number)) {
            return ph_fault_set(fault, 0, 0, "the map has no region %ld", number);
        }
        wanted[(*count)++] = (int)number;
        if (*at == '\0') {
            return true;
        }
    }
}
