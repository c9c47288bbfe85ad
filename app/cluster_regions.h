// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The map of regions as people write it, in a file or on the command line, the same on all machines:
//
//     0: -100..-1, -100..100        # number: cells from..to along x, from..to along y
//     1: 0..100, -100..100
//
// Lines or semicolons between them.

#ifndef PH_APP_CLUSTER_REGIONS_H
#define PH_APP_CLUSTER_REGIONS_H

#include "kit/fault.h"

#include <pinhole/bus/region.h>

enum { CLUSTER_REGIONS_MAX = 1024 };

typedef struct cluster_regions {
    ph_region all[CLUSTER_REGIONS_MAX];
    int count;
} cluster_regions;

// text: a map, or the path of a file that has one. @return False with *fault filled.
bool cluster_regions_read(cluster_regions* regions, const char* text, ph_fault* fault);

// Numbers with commas: "0,1". @return False with *fault filled: one is none, or not on the map.
bool cluster_regions_read_wanted(const cluster_regions* regions, const char* text, int* wanted,
                                 int* count, ph_fault* fault);

#endif
