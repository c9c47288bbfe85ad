// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Figures in the text form of Prometheus, for parts of a world on several machines. Once a second.

#ifndef PH_APP_CLUSTER_PAGE_H
#define PH_APP_CLUSTER_PAGE_H

#include <pinhole/bus/bus_front.h>
#include <pinhole/bus/nats.h>
#include <pinhole/bus/bus_sim.h>

enum { CLUSTER_PAGE_MAX = 12288 };

// {0} is empty. What does not fit is cut off.
typedef struct cluster_page {
    char text[CLUSTER_PAGE_MAX];
    size_t length;
} cluster_page;

void cluster_page_count(cluster_page* page, const char* name, const char* help, uint64_t count);
void cluster_page_gauge(cluster_page* page, const char* name, const char* help, double value);

void cluster_page_sim(cluster_page* page, const ph_bus_sim_stats* stats);
void cluster_page_front(cluster_page* page, const ph_bus_front_stats* stats);
void cluster_page_nats(cluster_page* page, const ph_nats_stats* stats);

#endif
