// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Stands in for demo_web.c in a program that was built without libwebsockets: the demo runs without a page, and says
// why. Never more than this is called.

#include "demo_web.h"

demo_web* demo_web_open(const demo_web_def* def, ph_fault* fault)
{
    (void)def;
    ph_fault_set(
        fault, 0, 0,
        "this program was built without libwebsockets: install libwebsockets-dev and build "
        "it again (make demo does both)");
    return NULL;
}

void demo_web_close(demo_web* web)
{
    (void)web;
}

const char* demo_web_url(const demo_web* web)
{
    (void)web;
    return "";
}

const char* demo_web_warning(const demo_web* web)
{
    (void)web;
    return NULL;
}

void demo_web_serve(demo_web* web, uint64_t wait_us)
{
    (void)web;
    (void)wait_us;
}

bool demo_web_attend(demo_web* web, ph_fault* fault)
{
    (void)web;
    (void)fault;
    return true;
}

void demo_web_tick(demo_web* web)
{
    (void)web;
}

void demo_web_finish(demo_web* web)
{
    (void)web;
}

void demo_web_set_players(demo_web* web, const demo_web_player* players, int count)
{
    (void)web;
    (void)players;
    (void)count;
}

demo_web_counts demo_web_get_counts(const demo_web* web)
{
    (void)web;
    return (demo_web_counts){0};
}
