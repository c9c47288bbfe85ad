// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Stands in for cluster_web.c in a program that was built without libwebsockets. Never more than the first is called.

#include "cluster_web.h"

cluster_web* cluster_web_open(int port, ph_fault* fault)
{
    (void)port;
    ph_fault_set(fault, 0, 0,
                 "this program was built without libwebsockets: install libwebsockets-dev and "
                 "build it again");
    return NULL;
}

void cluster_web_close(cluster_web* web)
{
    (void)web;
}

const char* cluster_web_url(const cluster_web* web)
{
    (void)web;
    return "";
}

int cluster_web_count(const cluster_web* web)
{
    (void)web;
    return 0;
}

void cluster_web_tell(cluster_web* web, const void* text, size_t size)
{
    (void)web;
    (void)text;
    (void)size;
}

void cluster_web_serve(cluster_web* web)
{
    (void)web;
}
